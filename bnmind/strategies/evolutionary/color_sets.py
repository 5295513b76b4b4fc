"""The colors that a search tries: known facts about colors, and guesses of a single color.

A true reply can exclude colors for good:

* 0 black and 0 white: no color of the guess occurs in the code.
* 0 black: no position has the color that it has in the guess.
* All pegs black or white: the code has only colors of the guess.

On boards without repeats, only colors that are excluded everywhere are removed.

On large boards the first guesses can each have a single color. After them the number of pegs of
each color is known, at a price of almost one guess a color.

References
----------
*Using an updated genetic algorithm to solve the Mastermind puzzle*, sections "Eliminating known
wrong colors" and "Rapid monochromatic guesses".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Count, Value
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn

__all__ = ["ColorRemoval", "MonochromeProbing", "allowed_colors", "next_probe"]


@dataclass(frozen=True)
class ColorRemoval(Value):
    """The facts that a search uses to exclude colors."""

    absent: bool = True
    """Whether to remove the colors of a guess with no peg right."""
    positions: bool = True
    """Whether to remove, in each position, the color of a guess with no black peg."""
    complete: bool = False
    """Whether to remove all other colors after a guess whose pegs are all black or white."""


@dataclass(frozen=True)
class MonochromeProbing(Value):
    """Guess the colors one by one on large boards.

    Raises
    ------
    InvalidArgumentError
        If a number is below 1.
    """

    pegs: Count = 15
    """The fewest pegs of a board that counts as large."""
    colors: Count = 20
    """The fewest colors of a board that counts as large."""

    def applies_to(self, board: Board) -> bool:
        """Return whether a board is large; boards without repeats have no guess of one color.

        Parameters
        ----------
        board
            The board.
        """
        return board.repeats and board.pegs >= self.pegs and board.colors >= self.colors


def allowed_colors(
    board: Board, history: Sequence[Turn], removal: ColorRemoval
) -> NDArray[np.bool_]:
    """Return the colors that each position may have if all replies are true.

    Returns
    -------
    array
        ``(pegs, k + 1)``; column 0 is False. If the replies leave no code, they contradict each
        other, and all colors are allowed.
    """
    every = np.ones((board.pegs, board.colors + 1), dtype=np.bool_)
    every[:, 0] = False
    allowed = every.copy()
    for turn in history:
        black, white = turn.reply
        guess = list(turn.guess)
        if removal.absent and black == white == 0:
            allowed[:, guess] = False
        elif removal.positions and black == 0 and board.repeats:
            allowed[np.arange(board.pegs), guess] = False
        if removal.complete and black + white == board.pegs:
            others = np.setdiff1d(np.arange(1, board.colors + 1), guess)
            allowed[:, others] = False
    enough = allowed.any(axis=1).all() if board.repeats else allowed[0].sum() >= board.pegs
    return allowed if enough else every


def next_probe(board: Board, history: Sequence[Turn]) -> tuple[int, ...] | None:
    """Return the guess of the next color, or None once the number of pegs of each color is known.

    The last color needs no guess, and neither do colors after those that fill the code.
    """
    pegs_of = {turn.guess[0]: turn.reply.black for turn in history if len(set(turn.guess)) == 1}
    unknown = [color for color in range(1, board.colors + 1) if color not in pegs_of]
    if len(unknown) <= 1 or sum(pegs_of.values()) >= board.pegs:
        return None
    return (unknown[0],) * board.pegs
