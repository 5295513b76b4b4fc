"""How far a code is from agreeing with all replies: the cost that the searches minimize.

=========  =================================================================
symbol     name here
=========  =================================================================
i          the number of the guess to come; i − 1 guesses have been made
X_k, Y_k   ``black[k]`` and ``white[k]``, the reply to guess k
X'_k, Y'_k the reply to guess k if the code c were the secret
P          pegs
=========  =================================================================

The cost of a code c is Σ |X'_k − X_k| + Σ |Y'_k − Y_k|, that of the source with a = 1. A code of
cost 0 is *eligible*: it agrees with all replies. The fitness of Berghman, Goossens and Leus adds
b·P·(i − 1), which is the same for all codes of a population; see `Selection` for its part.

References
----------
Berghman, Goossens and Leus, *Efficient solutions for Mastermind using genetic algorithms*,
Computers & Operations Research 36 (2009) 1880-1885, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.sampling.turn_arrays import turn_arrays

__all__ = ["PLAYED", "Replies", "code_cost", "code_costs", "replies_of"]

PLAYED = 2**40
"""Added to the cost of a code that was guessed in vain; no other cost is as large."""

_Code = NDArray[np.uint8]


class Replies(NamedTuple):
    """The replies of a game as arrays."""

    guesses: NDArray[np.uint8]
    """``(turns, pegs)``, colors 1..k."""
    black: NDArray[np.int64]
    """``(turns,)`` black pegs."""
    white: NDArray[np.int64]
    """``(turns,)`` white pegs."""
    standing: NDArray[np.uint8]
    """``(turns, k + 1)``, how often each color occurs in the guess."""
    ends: bool
    """Whether the winning guess ends the game; the codes guessed so far are then wrong."""


def replies_of(board: Board, history: Sequence[Turn], *, ends: bool = True) -> Replies:
    """Return the replies of a game as arrays.

    Parameters
    ----------
    board
        The board.
    history
        The guesses and their reported replies.
    ends
        Whether the winning guess ends the game.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
    """
    turns = turn_arrays(board, history)
    guesses, standing = turns.guesses.astype(np.uint8), turns.standing.astype(np.uint8)
    return Replies(guesses, turns.black, turns.both - turns.black, standing, bool(ends))


@njit
def code_cost(code: _Code, replies: Replies, counts: NDArray[np.uint8]) -> int:
    """Return the cost of a code, plus `PLAYED` if it was guessed in a game that went on.

    Parameters
    ----------
    code
        ``(pegs,)``, colors 1..k.
    replies
        The replies of the game.
    counts
        ``(k + 1,)``, zeros before and after the call.
    """
    turns, pegs = replies.guesses.shape
    for i in range(pegs):
        counts[code[i]] += 1
    cost, was_played = 0, False
    for t in range(turns):
        black = 0
        for i in range(pegs):
            black += replies.guesses[t, i] == code[i]
        both = 0
        for color in range(counts.size):
            both += min(replies.standing[t, color], counts[color])
        cost += abs(black - replies.black[t])
        cost += abs(both - black - replies.white[t])
        was_played |= black == pegs and replies.ends
    for i in range(pegs):
        counts[code[i]] = 0
    return cost + PLAYED if was_played else cost


@njit
def code_costs(codes: NDArray[np.uint8], replies: Replies) -> NDArray[np.int64]:
    """Return the costs of codes, ``(codes, pegs)``, as `code_cost` does."""
    counts = np.zeros(replies.standing.shape[1], dtype=np.uint8)
    costs = np.zeros(codes.shape[0], dtype=np.int64)
    for i in range(codes.shape[0]):
        costs[i] = code_cost(codes[i], replies, counts)
    return costs
