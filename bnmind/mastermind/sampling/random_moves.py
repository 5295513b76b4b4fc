"""Codes changed by random moves, as candidates for guesses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.mastermind.board import Board
from bnmind.mastermind.sampling.moves_kernel import (
    draw_color_change,
    draw_pair_swap,
    draw_uniform,
    seeded_state,
)

__all__ = ["changed_codes"]


def changed_codes(
    board: Board, codes: NDArray[np.uint8], moves: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Return codes after some random moves, each a change of a color or an exchange of two pegs.

    Parameters
    ----------
    board
        The board.
    codes
        ``(codes, pegs)``, colors 1..k.
    moves
        The number of moves of each code.
    rng
        The random generator.
    """
    changed = np.array(codes, dtype=np.uint8)
    _move(changed, board.colors, board.repeats, moves, seeded_state(rng))
    return changed


@njit
def _move(
    codes: NDArray[np.uint8], colors: int, repeats: bool, moves: int, state: NDArray[np.uint64]
) -> None:
    """Change each code by random moves."""
    for row in range(codes.shape[0]):
        code = codes[row]
        for _ in range(moves):
            if draw_uniform(state) < 0.5:
                first, second, color, other = draw_pair_swap(code, state)
            else:
                first, second, color, other = draw_color_change(code, colors, repeats, state)
            code[first] = color
            code[second] = other
