"""Probability distributions over the codes of a board."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Shape, Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats, unchecked_entropy
from bnmind.mastermind.board import MAX_CODES, Board, digits_of, require_believable
from bnmind.mastermind.masses import plan_masses, reply_masses
from bnmind.mastermind.peg_counts import blocks_of

_TOLERANCE = 1e-9  # how far the probabilities may be from summing to one
_ROUNDING = 1e-12  # how far a sum of numbers that were normalized may be from one
_FEW = 2**11  # numbers that are quickly sorted
_TIE = 1e-12  # probabilities closer than this, relative to the larger, are equal


@dataclass(frozen=True, eq=False)
class CodeDistribution(Value):
    """A probability distribution over the codes of a board.

    The constructor copies the probabilities and divides them by their sum, unless the array owns
    its data, is read-only, and sums to one up to rounding; it then keeps the array. Only `joint`
    allocates another array of this size.

    Raises
    ------
    InvalidArgumentError
        If there is not one number in [0, 1] for each code, or they do not sum to one within
        1e-9.

    Examples
    --------
    >>> codes = CodeDistribution.uniform(Board(2, 4))
    >>> codes.entropy(), codes.possible_codes()
    (4.0, 16)
    """

    board: Board
    """The board."""
    probabilities: Annotated[Floats, Shape("board.n_codes")]
    """``(n_codes,)`` in the order of ``board.codes``, read-only; they sum to one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        values, least, total = self.probabilities, 0.0, 0.0
        for part in blocks_of(values):
            least = min(least, float(part.min()))
            total += float(part.sum())
        # A sum with NaN fails the comparison.
        if not (least >= 0 and abs(total - 1) <= _TOLERANCE):
            got = f"{least:g}" if least else f"a sum of {total:.12g}"
            fault = f"expected probabilities of at least 0 that sum to 1, got {got}"
            raise InvalidArgumentError(fault, values)
        if not (_is_kept(values) and abs(total - 1) <= _ROUNDING):
            self._set(probabilities=values / total)

    @classmethod
    @checked
    def uniform(cls, board: Board) -> CodeDistribution:
        """Return the uniform distribution over the codes.

        Parameters
        ----------
        board
            The board.

        Raises
        ------
        TooLargeError
            If the board has too many codes for a belief.
        """
        require_believable(board)
        probabilities = np.full(board.n_codes, 1.0 / board.n_codes)
        probabilities.setflags(write=False)
        return cls(board, probabilities)

    def probability(self, code: Sequence[int]) -> float:
        """Return the probability of a code.

        Parameters
        ----------
        code
            A code, colors 1..k.

        Raises
        ------
        InvalidArgumentError
            If it is not a code of the board.
        """
        return float(self.probabilities[self.board.index(code)])

    def possible_codes(self) -> int:
        """Return the number of codes of positive probability."""
        return sum(int(np.count_nonzero(part > 0)) for part in blocks_of(self.probabilities))

    def entropy(self) -> float:
        """Return the entropy in bits."""
        return math.fsum(float(unchecked_entropy(part)) for part in blocks_of(self.probabilities))

    def marginals(self) -> Floats:
        """Return the probability of each color at each position, ``(pegs, colors)``."""
        n, k = self.board.pegs, self.board.colors
        if not self.board.repeats:
            return np.array(
                [
                    np.bincount(column, weights=self.probabilities, minlength=k + 1)[1:]
                    for column in self.board.codes.T
                ]
            )
        half = n // 2
        halves = self.probabilities.reshape(k**half, k ** (n - half))
        marginals: list[Floats] = []
        for axis, pegs in ((1, half), (0, n - half)):
            joint = halves.sum(axis=axis).reshape((k,) * pegs)
            for peg in range(pegs):
                marginals.append(joint.sum(axis=tuple(p for p in range(pegs) if p != peg)))
        return np.array(marginals)

    def joint(self) -> Floats:
        """Return the joint distribution of the positions, ``(colors,) * pegs``, color 1 first.

        On a board without repeats, the entries of color combinations that are not codes are zero.

        Raises
        ------
        TooLargeError
            If the array would have more than `MAX_CODES` entries.
        """
        shape = (self.board.colors,) * self.board.pegs
        if self.board.repeats:
            return self.probabilities.reshape(shape).copy()
        cells = self.board.colors**self.board.pegs
        if cells > MAX_CODES:
            raise TooLargeError(
                f"expected a joint of at most {MAX_CODES:,} cells, got the board {self.board}, "
                f"whose joint would need {cells:,}",
                needed=cells,
                budget=MAX_CODES,
            )
        joint = np.zeros(shape)
        joint[tuple(self.board.codes.T.astype(np.intp) - 1)] = self.probabilities
        return joint

    @checked
    def most_probable(self, n: int = 10) -> tuple[tuple[int, float], ...]:
        """Return up to `n` codes as ``(index, probability)``, the most probable code first.

        Codes of equal probability, within a relative difference of 1e-12, are in lexicographic
        order. Codes of probability zero are omitted.
        """
        p = self.probabilities
        largest = _largest(p, n)
        # Each group of ties is all that equal its most probable code: its floor, and where
        # it ends among the largest.
        floors: list[float] = []
        ends = [0]
        while ends[-1] < len(largest):
            floors.append(float(largest[ends[-1]]) * (1 - _TIE))
            ends.append(int(np.count_nonzero(largest >= floors[-1])))
        if not floors:
            return ()
        # Of the last group, which may be large, only the first codes are needed.
        above = floors[-2] if len(floors) > 1 else math.inf
        sure = _first_between(p, above, math.inf, ends[-2])
        sure.sort(key=lambda index: sum(p[index] < floor for floor in floors))
        ranked = sure + _first_between(p, floors[-1], above, len(largest) - len(sure))
        return tuple((index, float(p[index])) for index in ranked)

    @checked
    def masses(self, guesses: NDArray[np.intp] | None = None) -> Floats:
        """Return the probability of each true reply to the given guesses, by default to all.

        See `reply_masses`. For all guesses, `plan_masses` chooses the fastest algorithm.

        Parameters
        ----------
        guesses
            ``(guesses,)``, indices of codes; all codes if None.
        """
        if guesses is None:
            everything = plan_masses(self.board, self.probabilities, every_guess=True)
            return everything.run(self.probabilities)
        return reply_masses(self.board, self.probabilities, guesses)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Return `n` codes drawn with replacement, ``(n, pegs)``, colors from 1.

        Parameters
        ----------
        n
            The number of codes, at least 0.
        rng
            The source of random numbers.

        Raises
        ------
        InvalidArgumentError
            If `n` is negative.
        """
        if n < 0:
            raise InvalidArgumentError(f"expected a number of codes from 0, got {n}", n)
        sums = np.cumsum(self.probabilities)
        # The sum of all may differ from one by rounding, and a last code may be impossible.
        indices = np.searchsorted(sums, rng.random(n) * sums[-1], side="right")
        return digits_of(self.board, indices)


def _is_kept(given: Floats) -> bool:
    """Return whether the array is read-only and owns its data."""
    return given.flags.owndata and not given.flags.writeable and given.flags.c_contiguous


def _largest(p: Floats, n: int) -> Floats:
    """Return up to `n` of the largest positive numbers, in descending order."""
    if n < 1:
        return np.zeros(0)
    falling = np.zeros(0)
    least = 0.0
    # After a few numbers, one comparison rules out most of the others.
    for part in chain([p[:_FEW]], blocks_of(p[_FEW:])):
        larger = part[part > least]
        if len(larger):
            falling = np.concatenate([falling, -larger])
            if len(falling) > n:
                falling = np.partition(falling, n - 1)[:n]
            if len(falling) == n:
                least = -float(falling.max())
    return -np.sort(falling)


def _first_between(p: Floats, least: float, above: float, n: int) -> list[int]:
    """Return the first up to `n` indices of numbers in [least, above)."""
    indices: list[int] = []
    start = 0
    for part in blocks_of(p):
        if len(indices) >= n:
            break
        places = np.flatnonzero((part >= least) & (part < above))[: n - len(indices)]
        indices += (start + places).tolist()
        start += len(part)
    return indices
