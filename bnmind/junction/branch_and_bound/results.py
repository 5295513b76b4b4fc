"""Runs of searches until a limit, and the results they know in between."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from bnmind.junction.branch_and_bound.best_progress import BestProgress
from bnmind.junction.branch_and_bound.bounded_explanation import (
    BestExplanations,
    BoundedExplanation,
)
from bnmind.junction.branch_and_bound.progress import Progress
from bnmind.junction.branch_and_bound.question import SearchQuestion
from bnmind.junction.queries.best_walk import in_order
from bnmind.junction.queries.mpe import Explanation

__all__ = ["best_known", "known", "run_until"]

_STEP = 20_000
"""The nodes between two looks at the clock and at Ctrl-C: about a tenth of a second."""


class _Progress(Protocol):
    @property
    def is_done(self) -> bool: ...
    @property
    def has_found(self) -> bool: ...
    @property
    def nodes(self) -> int: ...
    def advance(self, max_nodes: int) -> None: ...


_Kind = TypeVar("_Kind", bound=_Progress)
_Known = TypeVar("_Known")


def run_until(
    progress: _Kind,
    result: Callable[[_Kind], _Known],
    max_nodes: int | None,
    seconds: float | None,
    until: Callable[[_Known], bool] | None,
) -> _Known:
    """Return what a search knows when it is complete, at the first of the limits, or at Ctrl-C."""
    end = math.inf if seconds is None else time.monotonic() + seconds
    try:
        while not progress.is_done and time.monotonic() < end:
            left = _STEP if max_nodes is None else min(_STEP, max_nodes - progress.nodes)
            if left < 1:
                break
            progress.advance(left)
            if until is not None and until(result(progress)):
                break
    except KeyboardInterrupt:
        if not progress.has_found:
            raise
    return result(progress)


def known(question: SearchQuestion, progress: Progress) -> BoundedExplanation:
    """Return the best configuration so far.

    Raises
    ------
    ImpossibleEvidenceError
        If the search is complete and found none.
    """
    positions = progress.positions
    if progress.is_done and positions is None:
        raise question.refusal()
    return BoundedExplanation(
        states={} if positions is None else question.states_at(positions),
        log_probability=progress.value,
        upper_bound=progress.bound,
        nodes=progress.nodes,
        is_proven=progress.is_done,
    )


def best_known(question: SearchQuestion, progress: BestProgress) -> BestExplanations:
    """Return the best configurations so far; raise errors as `known` does."""
    best = progress.found()
    if progress.is_done and not best:
        raise question.refusal()
    if best:
        rows = np.array([question.explained_at(at) for _, at in best], dtype=np.intp)
        order = in_order(rows.T, np.array([value for value, _ in best]))
        best = [best[i] for i in order]
    explanations = [Explanation(question.states_at(at), value) for value, at in best]
    return BestExplanations(
        explanations=tuple(explanations),
        upper_bound=progress.bound,
        nodes=progress.nodes,
        is_proven=progress.is_done,
    )
