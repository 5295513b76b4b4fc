"""Output of advice on a terminal and as JSON."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bnmind._messages import percent
from bnmind.cli.shared.printable import printable

if TYPE_CHECKING:
    from bnmind.lab.mastermind.advice import Advice, Doubt

__all__ = [
    "advice_as_json",
    "counted",
    "plain_table",
    "show_advice",
    "show_codes",
    "show_doubts",
    "show_in_brief",
    "show_table",
    "terminal",
]


_WIDEST = 1000
"""The largest width of a table, in characters."""


class _Terminal(Console):
    """A console that does not obey escape sequences in texts."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text with its style, as every text printed and every cell gets it."""
        return super().render_str(printable(text), **options)


def terminal(*, stderr: bool = False) -> Console:
    """Return the console, which shows texts and numbers unchanged, without markup."""
    return _Terminal(stderr=stderr, highlight=False, markup=False, emoji=False)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return ``1 code``, ``1,296 codes``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def plain_table(*columns: str) -> Table:
    """Return a table without lines, its first column to the left and all others to the right."""
    table = Table(
        box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="", show_header=any(columns)
    )
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    return table


def show_table(console: Console, table: Table) -> None:
    """Print a table, indented.

    One that is too wide for the terminal has narrower gaps or, if need be, longer lines. Otherwise
    its names and numbers would be cut.
    """
    padded = Padding(table, (0, 0, 0, 2), expand=False)
    wide = console.options.update(width=_WIDEST)
    if console.measure(padded, options=wide).maximum > console.width:
        table.padding = (0, 2, 0, 0)
    widest = console.measure(padded, options=wide).maximum
    if widest > console.width:
        console = _Terminal(
            file=console.file, width=widest, highlight=False, markup=False, emoji=False
        )
    console.print(padded)


def advice_as_json(advice: Advice) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    return {
        "guess": advice.guess,
        "information": advice.information,
        "expected_entropy": advice.expected_entropy,
        "entropy": advice.entropy,
        "entropy_error": None if math.isnan(advice.entropy_error) else advice.entropy_error,
        "possible_codes": advice.possible_codes,
        "most_probable": [
            {"code": code, "probability": probability} for code, probability in advice.most_probable
        ],
        "doubts": [
            {
                "guess": doubt.guess,
                "reply": doubt.reply,
                "probability_wrong": doubt.probability_wrong,
            }
            for doubt in advice.doubts
        ],
        "contradictions": advice.contradictions,
        "found": advice.found,
        "note": advice.note,
    }


def show_advice(advice: Advice) -> None:
    """Print advice on the terminal."""
    console = terminal()
    if advice.found:
        guesses = counted(len(advice.doubts), "guess", "guesses")
        text = ("The code is ", (advice.guess, "bold"), f", found in {guesses}.")
        console.print(Text.assemble(*text))
        _show_contradictions(console, advice.contradictions)
        show_doubts(console, advice.doubts)
        return
    console.print(_knowledge(advice))
    _show_contradictions(console, advice.contradictions)
    if advice.contradictions:
        console.print(
            "bnmind assumes as few false replies as possible; --noise false:0.1 weighs them.",
            soft_wrap=True,
        )
    show_doubts(console, advice.doubts)
    console.print("Most probable:")
    show_codes(console, advice.most_probable)
    console.print(
        Text.assemble(
            "Guess ",
            (advice.guess, "bold"),
            f": it should tell {advice.information:.2f} bits and leave "
            f"{advice.expected_entropy:.2f}.",
        )
    )
    if advice.note:
        console.print(advice.note)


def show_codes(console: Console, codes: Sequence[tuple[str, float]]) -> None:
    """Print codes and their probabilities, equally probable ones side by side."""
    table = plain_table("", "")
    table.columns[1].justify = "left"
    for probability, alike in _by_percentage(codes).items():
        first, *more = _lines(alike, min(64, console.width - 14))
        table.add_row(probability, first)
        for line in more:
            table.add_row("", line)
    show_table(console, table)


def _knowledge(advice: Advice) -> str:
    """Return how much is known about the code, in one line."""
    if advice.possible_codes is None:
        bits = f"{advice.entropy:.2f} ± {advice.entropy_error:.2f}"
        return f"About {bits} bits unknown, estimated from samples."
    return f"{counted(advice.possible_codes, 'code')} possible, {advice.entropy:.2f} bits unknown."


def _lines(codes: Sequence[str], width: int) -> list[str]:
    """Return codes in lines that break only between codes; a code may contain spaces."""
    joined = "  ".join(code.replace(" ", "\u00a0") for code in codes)
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(joined, max(8, width))]


def show_in_brief(
    console: Console, advice: Advice, few: Sequence[tuple[str, float]] | None = None
) -> None:
    """Print a summary of the belief in a few lines, as between two turns of a game.

    Parameters
    ----------
    console
        The console.
    advice
        The advice.
    few
        The codes that are almost sure to have the secret among them, if they are few; otherwise the
        most probable ones are shown.
    """
    console.print(_knowledge(advice))
    spaced = any(" " in code for code, _ in advice.most_probable)
    groups = _by_percentage(few or advice.most_probable[: 2 if spaced else 5]).items()
    shown = "; ".join(f"{', '.join(alike)} ({probability})" for probability, alike in groups)
    all_listed = few is not None and len(few) == advice.possible_codes
    console.print(f"{'Codes left' if all_listed else 'Most probable'}: {shown}")
    _show_contradictions(console, advice.contradictions)
    if advice.note:
        console.print(advice.note)


def show_doubts(console: Console, doubts: Sequence[Doubt]) -> None:
    """Print the probability that each reply is wrong, if any can be wrong."""
    most = max((doubt.probability_wrong for doubt in doubts), default=0.0)
    if not most:
        return
    table = plain_table("guess", "reply", "probably wrong")
    for doubt in doubts:
        table.add_row(
            doubt.guess,
            doubt.reply,
            percent(doubt.probability_wrong),
            style="bold" if doubt.probability_wrong >= min(most, 0.5) else None,
        )
    show_table(console, table)


def _by_percentage(codes: Sequence[tuple[str, float]]) -> dict[str, list[str]]:
    """Return the codes that look equally probable side by side."""
    groups: dict[str, list[str]] = {}
    for code, probability in codes:
        groups.setdefault(percent(probability), []).append(code)
    return groups


def _show_contradictions(console: Console, number: int | None) -> None:
    if number:
        wrong = "one reply is" if number == 1 else f"{number} replies are"
        console.print(f"The replies contradict each other: at least {wrong} wrong.", style="bold")
