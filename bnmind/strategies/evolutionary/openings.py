"""First guesses of players that do not weigh all guesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.board import Board

__all__ = ["FixedOpening", "Opening", "PatternOpening", "RandomOpening"]


class Opening(Protocol):
    """A rule for the first guess."""

    def guess(self, board: Board, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the first guess.

        Parameters
        ----------
        board
            The board.
        rng
            The source of random numbers.
        """


@dataclass(frozen=True)
class FixedOpening(Value):
    """A code of one board, such as (1, 1, 2, 2) at 4x6."""

    code: Sequence[int]
    """The first guess, colors 1..k."""

    def guess(self, board: Board, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the code.

        Raises
        ------
        InvalidArgumentError
            If it is not a code of the board.
        """
        return board.checked(self.code)


@dataclass(frozen=True)
class RandomOpening(Value):
    """A random code of the board."""

    def guess(self, board: Board, rng: np.random.Generator) -> tuple[int, ...]:
        """Return a random code; all are equally probable."""
        if not board.repeats:
            colors = 1 + rng.permutation(board.colors)[: board.pegs]
        else:
            colors = rng.integers(1, board.colors + 1, size=board.pegs)
        return tuple(colors.tolist())


@dataclass(frozen=True)
class PatternOpening(Value):
    """Colors in ascending order, some of them on two pegs: 1123 at 4x6.

    1123 at 4x6 is the opening of Berghman, Goossens and Leus. On other boards the number of doubled
    colors is half the number of pegs, one less below ten pegs: 11223345 at 8x12, 1122334455 at
    10x12. On the boards from 4x6 to 12x14 these are the openings whose reply has the largest
    entropy, or within .02 bits of it. Boards with too few colors have further pegs of a color;
    boards without repeats have no doubled color.
    """

    def guess(self, board: Board, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the first guess; it does not depend on `rng`."""
        if not board.repeats:
            return tuple(range(1, board.pegs + 1))
        doubled = max(0, board.pegs // 2 - (board.pegs < 10))
        distinct = min(board.colors, board.pegs - doubled)
        standing = [board.pegs // distinct + (i < board.pegs % distinct) for i in range(distinct)]
        return tuple(color for color, n in enumerate(standing, 1) for _ in range(n))
