r"""What a myopic score is: a whole number for every guess, from the reply classes it makes.

A guess divides the codes that are still possible into *reply classes*: all that would draw
the same reply. All myopic scores of the literature depend on the sizes of the
classes alone, and add up, or compare, a function of them:

.. math:: \text{key} = \sum_r w_r\, (f(n_r) - n_r\, s(n)) + b\,[\text{the guess is possible}]

======  ===================================================================
symbol  name here
======  ===================================================================
n, n_r  how many codes are possible, and how many of them are in class r
f       ``ClassTerms.sizes``, from 0 and 1 codes up
s       ``ClassTerms.per_code``, 0 in all scores but `WeightedEntropy`
w_r     ``ClassTerms.weights``
b       ``ClassTerms.winning``, what the class of the winning reply is worth
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

__all__ = ["ClassTerms", "Combination", "Integers", "Score", "equal_weights"]

Integers = NDArray[np.int64]


class Combination(Enum):
    """What is made of the terms of the classes."""

    SUM = 0
    """They are added."""
    LARGEST = 1
    """The largest counts."""
    SORTED = 2
    """The largest counts, then the next one, and so on."""


@dataclass(frozen=True, eq=False)
class ClassTerms(Value):
    """A score on one board, as whole numbers.

    Raises
    ------
    BnmindError
        If f(0) or f(1) are not 0, f decreases somewhere, or a weight is negative.
    """

    sizes: Integers
    """``(largest + 1,)``, f of each size of a class; not decreasing, 0 for 0 and 1 codes."""
    weights: Integers
    """``(turns, replies)``, not negative; after the last turn its weights remain."""
    winning: int = 0
    """Added for a guess that is still possible."""
    combination: Combination = Combination.SUM
    """What is made of the terms of the classes."""
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
        return (ClassTerms, values)

    @property
    def shares(self) -> Integers:
        """Return ``per_code``, or the zeros that None stands for."""
        return sealed(np.zeros_like(self.sizes)) if self.per_code is None else self.per_code

    def keys(self, classes: NDArray[Any], turn: int) -> Integers:
        """Return the key of each guess; where classes are compared one by one, of the largest.

        Parameters
        ----------
        classes
            ``(guesses, replies)``, sizes of the classes, whole numbers of any type; the last
            column is the class of the winning reply.
        turn
            How many guesses were made before.
        """
        weights = self.weights[min(turn, len(self.weights) - 1)]
        sizes = np.asarray(classes, dtype=np.int64)
        terms = (self.sizes[sizes] - sizes * self.shares[int(sizes[0].sum())]) * weights
        keys: Integers
        keys = terms.sum(axis=1) if self.combination is Combination.SUM else terms.max(axis=1)
        return keys + self.winning * (sizes[:, -1] > 0)

    def best(self, classes: NDArray[Any], turn: int) -> NDArray[np.intp]:
        """Return the places of all guesses of the best score, ascending.

        A guess that tells nothing is none of them, unless none tells anything.

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


def equal_weights(board: Board) -> Integers:
    """Return weights by which all replies count alike, ``(1, replies)``."""
    return np.ones((1, len(board.true_replies)), dtype=np.int64)


class Score(Protocol):
    """How guesses are judged; each is a file of its own."""

    @property
    def minimized(self) -> bool:
        """Whether a small `shown` value is a good one."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers.

        Parameters
        ----------
        board
            The board.
        largest
            The size of the largest class that there can be.
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
