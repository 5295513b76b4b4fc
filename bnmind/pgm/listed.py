"""A deterministic function given by a list of its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.pgm.stepwise import Positions, Steps

__all__ = ["Listed"]


@dataclass(frozen=True, eq=False)
class Listed(Value):
    """A function given by the position of its result for every configuration of the arguments.

    The list is smaller than the table of zeros and ones by a factor of the number of results.

    Parameters
    ----------
    results
        An array of integers of at least 0, with an axis for each argument.

    Raises
    ------
    InvalidModelError
        If they are not.

    Examples
    --------
    >>> carry = Listed([[0, 0], [0, 1]])
    >>> int(carry(1, 1)), int(carry(1, 0))
    (1, 0)
    """

    results: Annotated[Positions, Ge(0)]

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        if not self.results.size:
            shape = self.results.shape
            yield f"Listed: expected at least one result, got an array of shape {shape}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Listed) and np.array_equal(self.results, other.results)

    def __hash__(self) -> int:
        return hash((self.results.shape, self.results.tobytes()))

    def __repr__(self) -> str:
        return f"Listed({' by '.join(map(str, self.results.shape))} results)"

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the results' positions."""
        if len(arguments) != self.results.ndim:
            raise InvalidArgumentError(
                f"expected {self.results.ndim} arguments, got {len(arguments)}", arguments
            )
        return np.asarray(self.results[tuple(arguments)], dtype=np.intp)

    def restrict(self, states: Sequence[Sequence[int]]) -> Listed:
        """Return the function on fewer states."""
        if not states:
            return self
        rest = self.results[np.ix_(*[list(positions) for positions in states])]
        axes = tuple(axis for axis, positions in enumerate(states) if len(positions) == 1)
        return Listed(rest.squeeze(axis=axes))

    def steps(self, states: Sequence[Sequence[int]]) -> Steps:
        """Return the steps: the state is the configuration of the arguments so far."""
        if not states:
            return Steps((), np.asarray(self.results, dtype=np.intp).ravel())
        rest = self.results[np.ix_(*[list(positions) for positions in states])]
        moves: list[Positions] = []
        before = 1
        for positions in states[:-1]:
            moves.append(np.arange(before * len(positions), dtype=np.intp).reshape(before, -1))
            before *= len(positions)
        distinct, last = np.unique(rest, return_inverse=True)
        moves.append(np.asarray(last, dtype=np.intp).reshape(before, -1))
        return Steps(tuple(moves), np.asarray(distinct, dtype=np.intp))
