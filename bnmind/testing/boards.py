"""Boards and games for checks: small, of many shapes, and the same every time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bnmind.mastermind import Board, reply

__all__ = ["LARGE", "MANY", "PLAYED", "SMALL", "Game", "games", "relabeled"]

Game = tuple[tuple[int, ...], ...]
"""The guesses of a game, then the secret code."""

SMALL = (
    *(Board(1, 2), Board(1, 5), Board(2, 2), Board(3, 2), Board(2, 4), Board(3, 3)),
    *(Board(2, 2, repeats=False), Board(3, 4, repeats=False), Board(1, 4, repeats=False)),
)
"""Boards of up to 27 codes."""

MANY = (
    *(Board(4, 2), Board(5, 2), Board(3, 4), Board(2, 7), Board(4, 3), Board(6, 2)),
    *(Board(2, 5, repeats=False), Board(4, 4, repeats=False), Board(3, 6, repeats=False)),
)
"""Boards of up to 120 codes."""

PLAYED = (
    *(Board(4, 6), Board(5, 3), Board(3, 9), Board(4, 7), Board(4, 8)),
    *(Board(4, 6, repeats=False), Board(4, 10, repeats=False)),
)
"""Boards that people play, of up to 5040 codes."""

LARGE = (
    *(Board(4, 5, repeats=False), Board(7, 2), Board(5, 5), Board(5, 6, repeats=False)),
    *(Board(2, 15), Board(1, 30), Board(5, 6), Board(5, 8)),
)
"""Other boards, of up to 32,768 codes."""


def games(board: Board, n: int, *, turns: int, seed: int = 0) -> Iterator[Game]:
    """Yield games of random codes.

    Parameters
    ----------
    board
        The board.
    n
        The number of games.
    turns
        The number of guesses in each.
    seed
        The seed of the random codes.

    Examples
    --------
    >>> [len(game) for game in games(Board(3, 3), 2, turns=2)]
    [3, 3]
    """
    rng = np.random.default_rng([seed, board.pegs, board.colors, board.repeats])
    for _ in range(n):
        codes = [board.code(int(i)) for i in rng.integers(board.n_codes, size=turns + 1)]
        # A guess that wins ends the game.
        yield (*(code for code in codes[:-1] if reply(code, codes[-1]) != board.winning), codes[-1])


def relabeled(game: Sequence[Sequence[int]], board: Board, *, seed: int) -> Game:
    """Return a game with its colors and its positions in another order.

    >>> relabeled([(1, 1, 2)], Board(3, 4), seed=1)
    ((2, 1, 1),)
    """
    rng = np.random.default_rng(seed)
    colors = [0, *(rng.permutation(board.colors) + 1).tolist()]
    places = rng.permutation(board.pegs).tolist()
    return tuple(tuple(colors[code[place]] for place in places) for code in game)
