"""First guesses by pattern, for boards of any size.

Papers name first guesses for 4×6 by letters. For larger boards, Merelo extends the patterns: AABB
becomes AAAAABBBBB on ten pegs, and AABC becomes AAAAABBBCC. On a board without repeats, the first
guess is ABCD….
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from bnmind._arguments import checked_if_it_fails
from bnmind.mastermind.board import Board

__all__ = ["FirstGuess", "open_aabb", "open_aabc"]

FirstGuess: TypeAlias = Callable[[Board], tuple[int, ...]]
"""A function that returns the first guess on a board."""


@checked_if_it_fails
def open_aabb(board: Board) -> tuple[int, ...]:
    """Return AABB: color 1 on the first half of the pegs, and color 2 on the others.

    Parameters
    ----------
    board
        The board.

    Examples
    --------
    >>> open_aabb(Board(4, 6)), open_aabb(Board(5, 8))
    ((1, 1, 2, 2), (1, 1, 1, 2, 2))
    """
    return _pattern(board, 2)


@checked_if_it_fails
def open_aabc(board: Board) -> tuple[int, ...]:
    """Return AABC: color 1 on half of the pegs, color 2 on half of the others, and color 3.

    Parameters
    ----------
    board
        The board.

    Examples
    --------
    >>> open_aabc(Board(4, 6)), open_aabc(Board(5, 8))
    ((1, 1, 2, 3), (1, 1, 1, 2, 3))
    """
    return _pattern(board, min(3, board.colors))


def _pattern(board: Board, colors: int) -> tuple[int, ...]:
    if not board.repeats:
        return tuple(range(1, board.pegs + 1))
    code: list[int] = []
    for color in range(1, colors):
        code += [color] * -(-(board.pegs - len(code)) // 2)
    return (*code, *[colors] * (board.pegs - len(code)))
