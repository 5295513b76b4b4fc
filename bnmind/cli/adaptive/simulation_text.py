"""The result of ``bnmind simulate`` on the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._messages import percent

if TYPE_CHECKING:
    from rich.console import Console

    from bnmind.adaptive import SimulationResult

__all__ = ["show_simulation"]

_HEADS = {
    "accuracy": ("answers", "share of all answers that are predicted"),
    "entropy": ("bits", "entropy of the skills"),
    "pattern_accuracy": ("profiles", "share of profiles classified right"),
    "attribute_accuracy": ("skills", "share of skills classified right"),
    "ability_deviation": ("deviation", "standard deviation of the ability"),
    "ability_squared_error": ("squared error", "squared error of the estimated ability"),
}
"""The measures on the terminal: the heads of their columns, and their meaning."""

_ALWAYS = {
    "length": "mean number of items",
    "exposed": "share of tests with the item that is asked most",
    "overlap": "mean share of items that two tests have in common",
}
"""The meaning of the columns that every table has."""

_BY_STEP = {
    "accuracy": "Share of all answers predicted",
    "pattern_accuracy": "Share of profiles classified right",
}
"""The measures that are shown for several numbers of items."""

_ALL_STEPS = 10
"""The most items of a test whose every step has a column."""

_SOME_STEPS = (0, 1, 2, 3, 5, 10, 20, 40)
"""The steps of longer tests that have a column."""


def show_simulation(result: SimulationResult, out: Path, written: Sequence[Path]) -> None:
    """Print the measures of each selector at the end of the tests, and those on the way."""
    from bnmind.cli.shared.show import counted, plain_table, show_table, terminal

    console = terminal()
    shown = [m.name for m in result.measures if m.name in _HEADS]
    console.print(
        f"{counted(len(result), 'examinee')}, {counted(len(result.items), 'item')}."
        " At the end of the tests:"
    )
    table = plain_table(
        "selector", "length", *(_HEADS[name][0] for name in shown), "exposed", "overlap"
    )
    for run in result.runs:
        table.add_row(
            run.selector,
            f"{run.lengths.mean():.2f}",
            *(f"{result.mean(run.selector, name)[0][-1]:.3f}" for name in shown),
            percent(run.exposure.max()),
            "-" if math.isnan(run.overlap) else percent(run.overlap),
        )
    show_table(console, table)
    meanings = [("length", _ALWAYS["length"]), *(_HEADS[name] for name in shown)]
    meanings += [(head, _ALWAYS[head]) for head in ("exposed", "overlap")]
    width = max(len(head) for head, _ in meanings)
    for head, meaning in meanings:
        console.print(f"  {head:{width}}   {meaning}", soft_wrap=True)
    for run in result.runs:
        if run.impossible.any():
            console.print(
                f"{run.selector}: by the bank, the answers of"
                f" {counted(int(run.impossible.sum()), 'examinee')} are impossible together; each"
                " of these answers counts as an error with a probability of 2^-40.",
                soft_wrap=True,
            )
    for name, what in _BY_STEP.items():
        if any(measure.name == name for measure in result.measures):
            console.print(f"{what}, by the number of items asked{_last(result)}:", soft_wrap=True)
            _show_steps(console, result, name)
    console.print(f"Written: {counted(len(written), 'file')} in {out}", soft_wrap=True)


def _last(result: SimulationResult) -> str:
    """Return how the last column is read if tests end at different lengths."""
    differ = any(run.lengths.min() < run.lengths.max() for run in result.runs)
    return " (the last column: at the end of the tests)" if differ else ""


def _steps(n_steps: int) -> list[int]:
    """Return the numbers of items that have a column: all of a short test.

    >>> _steps(4), _steps(15)
    ([0, 1, 2, 3, 4], [0, 1, 2, 3, 5, 10, 15])
    """
    if n_steps <= _ALL_STEPS:
        return list(range(n_steps + 1))
    return [*(step for step in _SOME_STEPS if step < n_steps), n_steps]


def _show_steps(console: Console, result: SimulationResult, measure: str) -> None:
    from bnmind.cli.shared.show import plain_table, show_table

    steps = _steps(result.n_steps)
    table = plain_table("selector", *map(str, steps))
    for name in result.selectors:
        mean, _ = result.mean(name, measure)
        table.add_row(name, *(f"{mean[step]:.3f}" for step in steps))
    show_table(console, table)
