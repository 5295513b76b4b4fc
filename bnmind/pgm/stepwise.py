"""Functions of many arguments that are computed one argument at a time.

Sums, extrema and counts need only a small state for the arguments so far: their partial sum, their
maximum, or their count. The possible results of a function of thirty arguments, and the possible
positions of its arguments for a given result, therefore follow without its table. A forward pass
finds the reachable states, and a backward pass the states that lead to a given result. This is the
arc consistency of a constraint by layers (Pesant, *A regular language membership constraint for
finite sequences of variables*, 2004). Written as tables, the same steps are the chain of partial
results of `bnmind.rank_one.forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Positions", "Steps", "Stepwise"]

Positions: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of a function over its reachable states."""

    moves: tuple[Positions, ...]
    """For each argument ``(states before, positions of the argument)``: the state after.

    There is one state before the first argument. Each step numbers its states anew, and all of them
    are reachable.
    """
    results: Positions
    """The function's result for each state after the last argument."""

    @classmethod
    def follow(
        cls,
        start: int,
        step: Callable[[int, Positions, Positions], Positions],
        states: Sequence[Sequence[int]],
        finish: Callable[[Positions], Positions],
    ) -> Steps:
        """Return the steps of a function whose state is an integer.

        Parameters
        ----------
        start
            The state before any argument.
        step
            (number of the argument, states before, positions) → states after; the
            last two are broadcast.
        states
            The positions that each argument may take.
        finish
            The results of the last states.
        """
        current = np.array([start], dtype=np.intp)
        moves = []
        for number, positions in enumerate(states):
            after = step(number, current[:, None], np.asarray(positions, dtype=np.intp)[None, :])
            current, inverse = _numbered(after)
            moves.append(inverse)
        return cls(tuple(moves), np.asarray(finish(current), dtype=np.intp))

    def possible_results(self) -> tuple[int, ...]:
        """Return the results that the function can take, in increasing order."""
        return tuple(np.unique(self.results).tolist())

    def supports(self, results: Iterable[int]) -> tuple[NDArray[np.bool_], ...]:
        """Return, for each argument, which of its positions can lead to the given results."""
        good = np.isin(self.results, list(results))
        supports = []
        for move in reversed(self.moves):
            leads = good[move]
            supports.append(np.any(leads, axis=0, keepdims=True)[0])
            good = np.any(leads, axis=1, keepdims=True)[:, 0]
        return tuple(reversed(supports))


def _numbered(values: Positions) -> tuple[Positions, Positions]:
    """Return the distinct values in increasing order, and the place of each value among them."""
    least = int(values.min())
    span = int(values.max()) - least + 1
    if span > 8 * values.size:
        distinct, inverse = np.unique(values, return_inverse=True)
        return distinct, np.asarray(inverse, dtype=np.intp).reshape(values.shape)
    present = np.zeros(span, dtype=np.bool_)
    present[values - least] = True
    place = np.cumsum(present, dtype=np.intp) - 1
    return np.flatnonzero(present) + least, place[values - least]


@runtime_checkable
class Stepwise(Protocol):
    """A function that can be computed one argument at a time, with few intermediate states."""

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps, for the positions that each argument may take.

        Parameters
        ----------
        states
            For each argument, the positions of the states that it may take, from 0.
        """
        ...
