r"""Myopic scores: a whole number for each guess, computed from its reply classes.

A guess divides the possible codes into *reply classes*: the codes with the same reply. All myopic
scores of the literature depend only on the sizes of the classes, and add or compare a function of
these sizes:

.. math:: \text{key} = \sum_r w_r\, (f(n_r) - n_r\, s(n)) + b\,[\text{the guess is possible}]

======  ===================================================================
symbol  name here
======  ===================================================================
n, n_r  the number of possible codes, and of those in class r
f       ``ClassTerms.sizes``, for 0, 1, … codes
s       ``ClassTerms.per_code``, 0 in all scores but `WeightedEntropy`
w_r     ``ClassTerms.weights``
b       ``ClassTerms.winning``, the value of the winning class
======  ===================================================================

Keys are whole numbers, and small keys are better. Ties are therefore the same on every machine. All
keys are shifted so that f(0) = f(1) = 0. If s = 0, a guess that leaves only single codes has the
key 0, or b if it may win, and no guess has a smaller key than the better of these two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Protocol

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Value, sealed
from bnmind.mastermind.board import Board

__all__ = ["ClassTerms", "Combination", "Integers", "Score", "equal_weights"]

Integers = NDArray[np.int64]


class Combination(Enum):
    """The way to combine the terms of the classes."""

    SUM = 0
    """The sum of all terms."""
    LARGEST = 1
    """The largest term."""
    SORTED = 2
    """The largest term, then the next largest, and so on."""


@dataclass(frozen=True, eq=False)
class ClassTerms(Value):
    """A score on one board, as whole numbers.

    Raises
    ------
    InvalidArgumentError
        If f(0) or f(1) are not 0, f decreases somewhere, or a weight is negative.
    """

    sizes: Integers
    """``(largest + 1,)``, f of each class size; not decreasing, 0 for 0 and 1 codes."""
    weights: Annotated[Integers, Ge(0)]
    """``(turns, replies)``, not negative; the last row also applies to all later turns."""
    winning: int = 0
    """The term added for a possible guess."""
    combination: Combination = Combination.SUM
    """The way to combine the terms of the classes."""
    per_code: Integers | None = None
    """``(largest + 1,)``, s of each number of possible codes; None for 0. Only for sums."""

    def _faults(self) -> Iterator[str]:
        if self.weights.ndim != 2 or not self.weights.size:
            yield f"expected weights by turn and reply, got shape {self.weights.shape}"
        f = self.sizes
        if f.ndim != 1 or len(f) < 2 or f[:2].any() or bool((np.diff(f) < 0).any()):
            yield "expected terms that are 0 for 0 and 1 codes and never decrease"

    @property
    def shares(self) -> Integers:
        """Return ``per_code``, or zeros if it is None."""
        return sealed(np.zeros_like(self.sizes)) if self.per_code is None else self.per_code

    def keys(self, classes: NDArray[Any], turn: int) -> Integers:
        """Return the key of each guess; for `Combination.SORTED`, the key of the largest class.

        Parameters
        ----------
        classes
            ``(guesses, replies)``, the class sizes, whole numbers of any type; the last column
            is the class of the winning reply.
        turn
            The number of previous guesses.
        """
        weights = self.weights[min(turn, len(self.weights) - 1)]
        sizes = np.asarray(classes, dtype=np.int64)
        terms = (self.sizes[sizes] - sizes * self.shares[int(sizes[0].sum())]) * weights
        keys: Integers
        keys = terms.sum(axis=1) if self.combination is Combination.SUM else terms.max(axis=1)
        return keys + self.winning * (sizes[:, -1] > 0)

    def best(self, classes: NDArray[Any], turn: int) -> NDArray[np.intp]:
        """Return the indices of all guesses of the best score, ascending.

        A guess that leaves all codes in one class is excluded, unless all guesses do.

        Parameters
        ----------
        classes, turn
            As for `keys`.
        """
        keys = self.keys(classes, turn)
        telling = np.asarray(classes.max(axis=1) < classes[:1].sum(axis=1))
        if telling.any():
            keys[~telling] = np.iinfo(np.int64).max
        tied = np.flatnonzero(keys == keys.min())
        if self.combination is not Combination.SORTED:
            return tied
        ordered = -np.sort(-np.asarray(classes[tied], dtype=np.int64), axis=1)
        for column in range(ordered.shape[1]):
            fewest = ordered[:, column] == ordered[:, column].min()
            tied, ordered = tied[fewest], ordered[fewest]
        return tied


@checked_if_it_fails
def equal_weights(board: Board) -> Integers:
    """Return equal weights for all replies, ``(1, replies)``.

    Parameters
    ----------
    board
        The board.
    """
    return np.ones((1, len(board.true_replies)), dtype=np.int64)


class Score(Protocol):
    """The score of guesses; each score is a module of its own."""

    @property
    def minimized(self) -> bool:
        """Whether smaller `shown` values are better."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers.

        Parameters
        ----------
        board
            The board.
        largest
            The largest possible class size.
        """

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Convert a key to the unit of the score in the literature.

        Parameters
        ----------
        board
            The board.
        key
            A key.
        codes
            The number of possible codes.
        """
