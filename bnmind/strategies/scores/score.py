r"""What a myopic score is: a whole number for every guess, from the cells that it makes.

A guess parts the codes that are still possible into cells, one a reply. All myopic scores
of the literature depend on the sizes of the cells alone, and add up, or compare, a function
of them:

.. math:: \text{key} = \sum_r w_r\, (f(n_r) - n_r\, s(n)) + b\,[\text{the guess is possible}]

======  ===================================================================
symbol  name here
======  ===================================================================
n, n_r  how many codes are possible, and how many of them are in cell r
f       ``CellTerms.sizes``, from 0 and 1 codes up
s       ``CellTerms.per_code``, 0 in all scores but `WeightedEntropy`
w_r     ``CellTerms.weights``
b       ``CellTerms.winning``, what the cell of the winning reply is worth
======  ===================================================================

Keys are whole numbers and small ones are good, so that ties are ties on every machine. All
keys are shifted so that f(0) = f(1) = 0: where s = 0, a guess that leaves single codes only
has the key 0, or b if it may win, and no guess has a smaller one than the better of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value, sealed
from bnmind.errors import BnmindError
from bnmind.mastermind.board import Board

__all__ = ["CellTerms", "Combination", "Integers", "Score", "equal_weights"]

Integers = NDArray[np.int64]


class Combination(Enum):
    """What is made of the terms of the cells."""

    SUM = 0
    """They are added."""
    LARGEST = 1
    """The largest counts."""
    SORTED = 2
    """The largest counts, then the next one, and so on."""


@dataclass(frozen=True, eq=False)
class CellTerms(Value):
    """A score on one board, as whole numbers.

    Raises
    ------
    BnmindError
        If f(0) or f(1) are not 0, f decreases somewhere, or a weight is negative.
    """

    sizes: Integers
    """``(largest + 1,)``, f of each size of a cell; not decreasing, 0 for 0 and 1 codes."""
    weights: Integers
    """``(turns, replies)``, not negative; after the last turn its weights remain."""
    winning: int = 0
    """Added for a guess that is still possible."""
    combination: Combination = Combination.SUM
    """What is made of the terms of the cells."""
    per_code: Integers | None = None
    """``(largest + 1,)``, s of how many codes are possible; 0 if None. Only where terms add up."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("sizes", "weights", "per_code"):
            if getattr(self, name) is not None:
                array = np.array(getattr(self, name), dtype=np.int64)
                array.setflags(write=False)
                object.__setattr__(self, name, array)
        problems: list[str] = []
        if self.weights.ndim != 2 or not self.weights.size:
            problems.append(f"expected weights by turn and reply, got shape {self.weights.shape}")
        if len(self.sizes) < 2 or self.sizes[:2].any() or bool((np.diff(self.sizes) < 0).any()):
            problems.append("expected terms that are 0 for 0 and 1 codes and never decrease")
        if (self.weights < 0).any():
            problems.append(f"expected weights from 0, got {int(self.weights.min())}")
        if problems:
            raise BnmindError("; ".join(problems))

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self.sizes, self.weights, self.winning, self.combination, self.per_code)
        return (CellTerms, values)

    @property
    def shares(self) -> Integers:
        """Return ``per_code``, or the zeros that None stands for."""
        return sealed(np.zeros_like(self.sizes)) if self.per_code is None else self.per_code

    def keys(self, cells: NDArray[Any], turn: int) -> Integers:
        """Return the key of each guess; where cells are compared one by one, of the largest.

        Parameters
        ----------
        cells
            ``(guesses, replies)``, sizes of the cells, whole numbers of any type; the last
            column is the cell of the winning reply.
        turn
            How many guesses were made before.
        """
        weights = self.weights[min(turn, len(self.weights) - 1)]
        sizes = np.asarray(cells, dtype=np.int64)
        terms = (self.sizes[sizes] - sizes * self.shares[int(sizes[0].sum())]) * weights
        keys: Integers
        keys = terms.sum(axis=1) if self.combination is Combination.SUM else terms.max(axis=1)
        return keys + self.winning * (sizes[:, -1] > 0)

    def best(self, cells: NDArray[Any], turn: int) -> NDArray[np.intp]:
        """Return the places of all guesses of the best score, ascending.

        A guess that tells nothing is none of them, unless none tells anything.

        Parameters
        ----------
        cells, turn
            As for `keys`.
        """
        keys = self.keys(cells, turn)
        telling = np.asarray(cells.max(axis=1) < cells[:1].sum(axis=1))
        if telling.any():
            keys[~telling] = np.iinfo(np.int64).max
        tied = np.flatnonzero(keys == keys.min())
        if self.combination is not Combination.SORTED:
            return tied
        ordered = -np.sort(-np.asarray(cells[tied], dtype=np.int64), axis=1)
        for column in range(ordered.shape[1]):
            fewest = ordered[:, column] == ordered[:, column].min()
            tied, ordered = tied[fewest], ordered[fewest]
        return tied


def equal_weights(board: Board) -> Integers:
    """Return weights by which all replies count alike, ``(1, replies)``."""
    return np.ones((1, len(board.true_replies)), dtype=np.int64)


class Score(Protocol):
    """How guesses are judged; each is a file of its own."""

    @property
    def minimized(self) -> bool:
        """Whether a small `shown` value is a good one."""

    def terms(self, board: Board, largest: int) -> CellTerms:
        """Return the score as whole numbers.

        Parameters
        ----------
        board
            The board.
        largest
            The size of the largest cell that there can be.
        """

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return a key in the unit in which the literature states the score.

        Parameters
        ----------
        board
            The board.
        key
            A key.
        codes
            How many codes are still possible.
        """
