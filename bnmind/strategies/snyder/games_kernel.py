"""Games of the exponential scoring strategy, compiled: millions of games to learn from."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.mastermind.sampling import draw_below, draw_uniform

__all__ = ["GameRecords", "ScoringBoard", "TurnRecords", "play_scored_games"]


class ScoringBoard(NamedTuple):
    """A board for the kernel."""

    replies: NDArray[np.uint8]
    """``(codes, codes)``, the reply of each code to each guess."""
    sorted_codes: NDArray[np.int64]
    """``(codes,)``, sorted by `color_classes`."""
    ends: NDArray[np.int64]
    """``(4,)``, where the codes of each class end."""


class GameRecords(NamedTuple):
    """What the kernel writes of each game, ``(games,)`` each."""

    secrets: NDArray[np.int64]
    ends: NDArray[np.int64]
    """The number of turns of this game and all games before it."""


class TurnRecords(NamedTuple):
    """What the kernel writes of each turn, game after game."""

    guesses: NDArray[np.int64]
    n_consistent: NDArray[np.int64]
    """The number of codes consistent with the replies before the guess."""
    is_consistent: NDArray[np.bool_]
    """Whether the guess is one of them."""


@njit
def _draw_first(board: ScoringBoard, weights: Floats, state: NDArray[np.uint64]) -> int:
    """Return a first guess; `weights` are the scores of a code of each class."""
    total, start = 0.0, 0
    for c in range(weights.size):
        total += (board.ends[c] - start) * weights[c]
        start = int(board.ends[c])
    place, start, chosen = draw_uniform(state) * total, 0, -1
    for c in range(weights.size):
        size = int(board.ends[c]) - start
        if size > 0:
            chosen = c
            place -= size * weights[c]
            if place < 0:
                break
        start = int(board.ends[c])
    start = int(board.ends[chosen - 1]) if chosen > 0 else 0
    return int(board.sorted_codes[start + draw_below(state, int(board.ends[chosen]) - start)])


@njit
def play_scored_games(
    board: ScoringBoard,
    weights: Floats,
    theta: float,
    games: GameRecords,
    turns: TurnRecords,
    begin: int,
    state: NDArray[np.uint64],
) -> int:
    """Play games from game `begin` on, while there is room for their turns.

    Parameters
    ----------
    board
        The board.
    weights
        ``(4,)``, exp(θ_c) of each color class c; 1 for class 0.
    theta
        The weight of consistency, θ4.
    games, turns
        The records to write.
    begin
        The number of the first game; its turns begin at place 0 of `turns`.
    state
        The state of the random numbers.

    Returns
    -------
    end
        The number of the first game that had no room.
    """
    n, room, used = board.replies.shape[0], turns.guesses.size, 0
    codes = np.empty(n, dtype=np.int64)
    alive = np.empty(n, dtype=np.bool_)
    for game in range(begin, games.secrets.size):
        secret, left, turn = draw_below(state, n), n, used
        alive[:] = True
        while True:
            if turn == room:
                return game
            consistent = True
            if turn == used:
                guess = _draw_first(board, weights, state)
            else:
                odds = (n - left) / left * math.exp(-theta)
                consistent = draw_uniform(state) * (1.0 + odds) < 1.0
                if consistent:
                    guess = int(codes[draw_below(state, left)])
                else:
                    guess = draw_below(state, n)
                    while alive[guess]:
                        guess = draw_below(state, n)
            turns.guesses[turn] = guess
            turns.n_consistent[turn] = left
            turns.is_consistent[turn] = consistent
            turn += 1
            if guess == secret:
                break
            row, kept = board.replies[guess], 0
            for i in range(left):
                code = i if left == n else int(codes[i])
                if row[code] == row[secret]:
                    codes[kept] = code
                    kept += 1
                else:
                    alive[code] = False
            left = kept
        games.secrets[game] = secret
        used = turn
        games.ends[game] = used
    return int(games.secrets.size)
