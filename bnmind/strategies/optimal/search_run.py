"""The compiled search, run in slices, so that Ctrl-C works between two slices."""

from __future__ import annotations

from collections.abc import Callable

from bnmind.strategies.optimal.search_arrays import Game, Memo, Symmetry, Task, Work
from bnmind.strategies.optimal.search_frames import RESUMED
from bnmind.strategies.optimal.search_kernel import PAUSED, search_slice

__all__ = ["SLICE", "search"]

SLICE = 50_000_000
"""Operations of one slice: at most a tenth of a second."""


def search(
    game: Game,
    symmetry: Symmetry,
    memo: Memo,
    work: Work,
    task: Task,
    *,
    paused: Callable[[], None] | None = None,
) -> int:
    """Run `search_slice` until it is done; see there for the parameters.

    ``paused`` is called after each slice but the last one.
    """
    work.counts[RESUMED] = 0
    total = PAUSED
    while total == PAUSED:
        total = search_slice(game, symmetry, memo, work, task, SLICE)
        if total == PAUSED and paused is not None:
            paused()
    return int(total)
