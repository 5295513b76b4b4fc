"""A position of a game on the terminal: the rows, what they tell, and what if they were others."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bnmind._messages import counted, percent
from bnmind.cli.mastermind.commands import WhatIf
from bnmind.cli.mastermind.pegs import BoardRow, pegs_text, show_board
from bnmind.cli.shared.terminal import interruptible, plain_table, show_table, terminal

if TYPE_CHECKING:
    from rich.console import Console

    from bnmind.lab.mastermind.advice import Advice, Doubt
    from bnmind.lab.mastermind.live.game_rows import GameRows
    from bnmind.mastermind import Board, Posterior, Turn

__all__ = [
    "Position",
    "advice_as_json",
    "explain_replies",
    "rows_if",
    "show_advice",
    "show_codes",
    "show_codes_left",
    "show_colors",
    "show_position",
    "show_solution",
    "show_what_if",
]

_MOST_LISTED = 40
_MOST_COLORS = 4
_DOUBTED = 0.5
"""A reply that is false with this probability is doubted in words."""


@dataclass(frozen=True)
class Position:
    """The rows of a game, the belief after those that are trusted, and advice if there is any."""

    rows: GameRows
    belief: Posterior
    advice: Advice | None


def show_position(
    console: Console, position: Position, *, explain: bool, label: str = "Next"
) -> None:
    """Print the rows with the doubt about each of them, what is known, and the next guess."""
    from rich.text import Text

    from bnmind.lab.mastermind.explanation import (
        few_codes,
        is_estimated,
        learned_noise,
        winning_probability,
    )
    from bnmind.lab.mastermind.live import words

    belief, advice = position.belief, position.advice
    show_board(console, belief.board, _rows(position))
    level = learned_noise(belief)
    if level is not None and belief.history:
        console.print(words.noise(level))
    if advice is None:
        return
    code = belief.board.parse(advice.guess)
    chance = interruptible(lambda: winning_probability(belief, code))
    few, sampled = interruptible(lambda: few_codes(belief)), is_estimated(belief)
    next_guess = Text.assemble(f"{label}: ", pegs_text(code), f" {advice.guess}")
    if not explain:
        show_in_brief(console, advice, few)
        odds = f"{percent(chance)} to be the code" if chance else words.chance(0, estimated=sampled)
        console.print(next_guess.append(f"  {odds}, {advice.information:.2f} bits"))
        return
    if not position.rows.turns:
        explain_replies(console, belief.board)
    _explain(console, position, advice, few)
    console.print(next_guess)
    tells = "" if chance else ", but its reply is the most informative"
    told = words.told(advice.information, advice.entropy)
    console.print(f"It {words.chance(chance, estimated=sampled)}{tells}. {told}")


def explain_replies(console: Console, board: Board) -> None:
    """Print the meaning of replies."""
    console.print(
        "A reply counts black and white pegs. b, black: pegs of the right color at the right place."
        " w, white: pegs of a right color at a wrong place."
    )
    if board.pegs > 1:
        console.print(f"1b{board.pegs - 2}w, for example: {_meaning(1, board.pegs - 2)}.")


def _meaning(black: int, white: int) -> str:
    from bnmind.lab.mastermind.live.words import replied

    return replied(black, white)


def _explain(
    console: Console,
    position: Position,
    advice: Advice,
    few: Sequence[tuple[str, float]] | None,
) -> None:
    """Print in words what is known, and which replies are doubtful."""
    from bnmind.lab.mastermind.explanation import true_replies
    from bnmind.lab.mastermind.live import words

    belief, rows = position.belief, position.rows
    console.print(words.knowledge(advice))
    if few:
        left = (
            "The codes left:" if len(few) == advice.possible_codes else "The most probable codes:"
        )
        console.print(left if few[0][1] < 1 else "It is this one:")
        show_codes(console, few)
    if advice.contradictions:
        wrong = words.counted(advice.contradictions, "reply is", "replies are")
        console.print(f"The replies contradict each other: at least {wrong} wrong.", style="bold")
    for row, doubt in zip(_trusted_rows(rows), advice.doubts, strict=True):
        if doubt.probability_wrong < _DOUBTED:
            continue
        turn = rows.turns[row - 1]
        replies = true_replies(belief, turn.guess)
        likely, chance = next(pair for pair in replies if pair[0] != turn.reply)
        console.print(
            f"Row {row}, {doubt.guess} {doubt.reply}, is probably false:"
            f" {words.percent(doubt.probability_wrong)}. Most likely it should be {likely}"
            f" ({words.percent(chance)}): {_meaning(*likely)}."
        )
    if advice.note:
        console.print(advice.note)


def _trusted_rows(rows: GameRows) -> list[int]:
    return [row for row in range(1, len(rows.turns) + 1) if row not in rows.ignored]


def _rows(position: Position) -> list[BoardRow]:
    """Return the rows of the board with their doubts as remarks."""
    from bnmind.lab.mastermind.advice import doubts_of

    rows, advice = position.rows, position.advice
    doubts = doubts_of(position.belief) if advice is None else advice.doubts
    wrong = {
        row: doubt.probability_wrong for row, doubt in zip(_trusted_rows(rows), doubts, strict=True)
    }
    most = max(wrong.values(), default=0.0)
    return [
        BoardRow(
            number=row,
            guess=turn.guess,
            reply=turn.reply,
            remark="ignored"
            if row not in wrong
            else f"false: {percent(wrong[row])}"
            if most
            else "",
            style="bold" if wrong.get(row, 0.0) >= min(most, _DOUBTED) > 0 else "",
        )
        for row, turn in enumerate(rows.turns, start=1)
    ]


def show_solution(
    console: Console,
    board: Board,
    turns: Sequence[Turn],
    code: Sequence[int],
    *,
    won: bool,
    noisy: bool,
) -> None:
    """Print the rows of a game that is over, which replies were false, and the code.

    Parameters
    ----------
    console
        The console.
    board
        The board.
    turns
        The guesses with the replies that were reported.
    code
        The secret code.
    won
        Whether the last guess found it.
    noisy
        Whether replies could be false; otherwise false ones are counted only if there are any.
    """
    from bnmind.mastermind import reply

    truth = [reply(turn.guess, code) for turn in turns]
    false = [turn.reply != true for turn, true in zip(turns, truth, strict=True)]
    show_board(
        console,
        board,
        [
            BoardRow(
                number=row,
                guess=turn.guess,
                reply=turn.reply,
                remark=f"false; {true} is true" if lie else "",
                style="bold" if lie else "",
            )
            for row, (turn, true, lie) in enumerate(zip(turns, truth, false, strict=True), start=1)
        ],
    )
    if won:
        guesses = counted(len(turns), "guess", "guesses")
        console.print(f"{board.format(code)} is the code, found in {guesses}.", style="bold")
    else:
        console.print(f"The code was {board.format(code)}.", style="bold")
    replies = len(turns) - won
    if replies and (noisy or any(false)):
        were = "was" if 1 in (sum(false), replies) else "were"
        console.print(f"{sum(false)} of {counted(replies, 'reply', 'replies')} {were} false.")


def show_codes_left(console: Console, belief: Posterior) -> None:
    """Print the most probable codes."""
    from bnmind.lab.mastermind.advice import most_probable

    likely = interruptible(lambda: most_probable(belief, _MOST_LISTED + 1))
    codes = [pair for pair in likely if pair[1] > 0]
    listed = codes[:_MOST_LISTED]
    if len(codes) > len(listed):
        share = percent(sum(probability for _, probability in listed))
        console.print(f"The {len(listed)} most probable codes; together they have {share}:")
    else:
        console.print(f"{counted(len(listed), 'code is', 'codes are')} left:")
    show_codes(console, listed)


def rows_if(rows: GameRows, question: WhatIf) -> GameRows:
    """Return the rows in which one has another reply, or is ignored.

    Raises
    ------
    InvalidArgumentError
        If there is no such row.
    """
    from bnmind.mastermind import Turn

    if question.reply is None:
        return rows.ignoring(question.row)
    return rows.edited(question.row, Turn(rows.turn(question.row).guess, question.reply))


def show_colors(console: Console, belief: Posterior) -> None:
    """Print the most probable colors of each place."""
    from rich.text import Text

    from bnmind.lab.mastermind.explanation import color_probabilities

    table = plain_table("", *[""] * _MOST_COLORS)
    for place, shares in enumerate(interruptible(lambda: color_probabilities(belief)), start=1):
        best = sorted(range(len(shares)), key=lambda color: -shares[color])[:_MOST_COLORS]
        cells = [
            Text.assemble(pegs_text((color + 1,)), f" {percent(shares[color])}")
            for color in best
            if shares[color] > 0
        ]
        table.add_row(f"place {place}", *cells)
    console.print("The most probable colors:")
    show_table(console, table)


def show_what_if(
    console: Console, now: Position, other: Position, question: WhatIf, *, explain: bool
) -> None:
    """Print two positions side by side: as it is, and with one row different."""
    from bnmind.lab.mastermind.live import words

    assert now.advice is not None
    assert other.advice is not None
    changed = "ignored" if question.reply is None else str(question.reply)
    table = plain_table("", "now", f"row {question.row}: {changed}")
    pairs = [_figures(one) for one in (now, other)]
    for name in pairs[0]:
        table.add_row(name, pairs[0][name], pairs[1][name])
    doubts = [_doubts(one) for one in (now, other)]
    if any(max(one.values(), default=0) for one in doubts):
        for row in range(1, len(now.rows.turns) + 1):
            cells = [percent(one[row]) if row in one else "ignored" for one in doubts]
            table.add_row(f"row {row} false", *cells)
    show_table(console, table)
    if explain:
        console.print(f"Now: {words.knowledge(now.advice)}")
        console.print(f"Then: {words.knowledge(other.advice)}")


def _doubts(position: Position) -> dict[int, float]:
    assert position.advice is not None
    doubts = zip(_trusted_rows(position.rows), position.advice.doubts, strict=True)
    return {row: doubt.probability_wrong for row, doubt in doubts}


def _figures(position: Position) -> dict[str, str]:
    """Return the figures of a position by their names."""
    from bnmind.lab.mastermind.explanation import winning_probability

    advice, belief = position.advice, position.belief
    assert advice is not None
    chance = winning_probability(belief, belief.board.parse(advice.guess))
    codes = "by samples" if advice.possible_codes is None else f"{advice.possible_codes:,}"
    likely, probability = advice.most_probable[0]
    figures = {
        "codes possible": codes,
        "bits unknown": f"{advice.entropy:.2f}",
        "next guess": advice.guess,
        "  to be the code": percent(chance),
        "  tells, in bits": f"{advice.information:.2f}",
        "most probable code": likely,
        "  its probability": percent(probability),
    }
    if advice.contradictions is not None:
        figures["replies that must be false"] = str(advice.contradictions)
    return figures


# --- Advice ---------------------------------------------------------------------------------------


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
    from rich.text import Text

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
