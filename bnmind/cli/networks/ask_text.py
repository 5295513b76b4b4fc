"""What ``bnmind ask`` prints: beliefs, reasons, doubts and the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bnmind.cli.shared.show import counted, percent, plain_table, show_table
from bnmind.cli.shared.work import interruptible, working

if TYPE_CHECKING:
    from rich.console import Console

    from bnmind.questions import Dialogue, Doubts

__all__ = ["show_belief", "show_doubts", "show_report", "show_why"]

_MOST_TARGETS = 6
"""The most targets that are shown."""

_MOST_STATES = 4
"""The most states of a target that are shown, the most probable ones."""

_OTHERS = 3
"""The most other questions that an explanation names."""

_SURPRISING = 0.1
"""A report names an answer if one at least as surprising is less probable than this."""


def show_belief(console: Console, dialogue: Dialogue) -> None:
    """Print the distribution of each target, and how much is unknown."""
    belief = interruptible(lambda: dialogue.belief)
    for name in list(belief)[:_MOST_TARGETS]:
        console.print(f"  {name}: {_states(belief[name])}", soft_wrap=True)
    if len(belief) > _MOST_TARGETS:
        console.print(f"  … and {counted(len(belief) - _MOST_TARGETS, 'more target')}")
    bits = working("choosing a question", lambda _: dialogue.entropy)
    console.print(f"  {bits:.2f} bits unknown")


def _states(chances: Mapping[str, float]) -> str:
    """Return the most probable states of a target."""
    states = list(chances)
    if len(states) > _MOST_STATES:
        states = sorted(states, key=lambda state: -chances[state])[: _MOST_STATES - 1]
    more = ", …" if len(states) < len(chances) else ""
    return ", ".join(f"{state} {percent(chances[state])}" for state in states) + more


def show_why(console: Console, dialogue: Dialogue, question: str) -> None:
    """Print what a question tells, and the belief after each answer."""
    effect = working("computing", lambda _: dialogue.why(question))
    console.print(
        f"  {question} should tell {effect.information:.3f} of {effect.entropy:.3f} bits and leave"
        f" {effect.expected_entropy:.3f}.",
        soft_wrap=True,
    )
    targets = list(dialogue.inquiry.about)[:_MOST_TARGETS]
    table = plain_table("answer", "probability", "bits left", *targets)
    for answer in effect.answers:
        cells = [_most_probable(answer.targets[name]) for name in targets]
        table.add_row(answer.answer, percent(answer.probability), f"{answer.entropy:.3f}", *cells)
    show_table(console, table)
    others = [row for row in dialogue.ranking if row.question != question][:_OTHERS]
    if others:
        listed = ", ".join(f"{row.question} {row.information:.3f}" for row in others)
        console.print(f"  Other questions: {listed}.", soft_wrap=True)


def _most_probable(chances: Mapping[str, float]) -> str:
    state = max(chances, key=lambda name: chances[name])
    return f"{state} {percent(chances[state])}"


def show_doubts(console: Console, doubts: Doubts) -> None:
    """Print how well each answer fits the others."""
    if not doubts.answers:
        console.print("  There are no answers to doubt yet.")
        return
    table = plain_table(
        *("question", "answer", "alone", "given the others", "conflict", "as surprising or more")
    )
    doubted = doubts.most_doubtful
    for doubt in doubts.answers:
        table.add_row(
            doubt.question,
            doubt.answer,
            percent(doubt.alone),
            percent(doubt.probability),
            f"{doubt.conflict:+.2f}",
            percent(doubt.p_value),
            style="bold" if doubt is doubted else None,
        )
    show_table(console, table)
    console.print(
        f"  The conflict of all answers is {doubts.conflict:+.2f} bits"
        + (", so they support each other." if doubts.conflict < 0 else "."),
        soft_wrap=True,
    )
    if doubted is None:
        console.print("  No answer is in conflict with the others.")
        return
    console.print(
        f"  In most conflict with the others: {doubted.question}={doubted.answer}. Without it:",
        soft_wrap=True,
    )
    for name in list(doubted.without)[:_MOST_TARGETS]:
        console.print(f"    {name}: {_states(doubted.without[name])}", soft_wrap=True)


def show_report(console: Console, dialogue: Dialogue) -> None:
    """Print the answers and the belief at the end."""
    state = dialogue.state
    skipped = f", {len(state.skipped)} skipped" if state.skipped else ""
    cost = f", cost {dialogue.cost:g}" if dialogue.cost else ""
    console.print(
        f"\n{counted(len(state.asked), 'question')} asked{skipped}{cost};"
        f" {dialogue.entropy:.2f} bits unknown."
    )
    doubted = interruptible(lambda: dialogue.doubts).most_doubtful
    if doubted is not None and doubted.p_value < _SURPRISING:
        console.print(
            f"Most doubtful answer: {doubted.question}={doubted.answer}, with a probability of"
            f" {percent(doubted.probability)} given the others.",
            soft_wrap=True,
        )
    table = plain_table("target", "state", "probability")
    for name in dialogue.inquiry.about:
        chances = dialogue.belief[name]
        most = max(chances, key=lambda state: chances[state])
        table.add_row(name, most, percent(chances[most]))
    show_table(console, table)
