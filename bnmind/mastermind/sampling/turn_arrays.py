"""The turns of a game as arrays, for compiled searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn

__all__ = ["TurnArrays", "turn_arrays"]


class TurnArrays(NamedTuple):
    """The turns of a game."""

    guesses: NDArray[np.int64]
    """``(turns, pegs)``, colors 1..k."""
    black: NDArray[np.int64]
    """``(turns,)``, the black pegs of the replies."""
    both: NDArray[np.int64]
    """``(turns,)``, the black and white pegs of the replies together."""
    standing: NDArray[np.int64]
    """``(turns, k + 1)``, how often each color occurs in the guess."""


def turn_arrays(board: Board, turns: Sequence[Turn]) -> TurnArrays:
    """Return the turns of a game as arrays.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
    """
    rows = [board.checked(turn.guess) for turn in turns]
    guesses = np.array(rows, dtype=np.int64).reshape(-1, board.pegs)
    standing = np.zeros((len(guesses), board.colors + 1), dtype=np.int64)
    for row, guess in zip(standing, guesses, strict=True):
        row += np.bincount(guess, minlength=board.colors + 1)
    return TurnArrays(
        guesses,
        np.array([turn.reply.black for turn in turns], dtype=np.int64),
        np.array([sum(turn.reply) for turn in turns], dtype=np.int64),
        standing,
    )
