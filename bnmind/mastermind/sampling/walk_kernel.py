"""Random walks of Metropolis and Hastings over codes, compiled.

A walk visits the codes of a board so that, in the long run, it stands on each code as often as
the target distribution says. A step proposes one of Snyder's moves, the exchange of two pegs or
another color for one peg, each with probability ½, and accepts it with probability
min(1, π(new)/π(old)), since both moves are symmetric.

=========  ==================================================================
symbol     name here
=========  ==================================================================
π          the target, known up to a constant: ln π(s) = Σ_t logs[t, B_t, S_t]
t          a turn; g_t is ``guesses[t]``
B_t, S_t   black pegs of the code for guess t; black and white pegs together
G_ti       ``standing[t, i]``, how often color i occurs in guess t
=========  ==================================================================

References
----------
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, section 4.3.2: the moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.mastermind.sampling.moves_kernel import (
    compare_codes,
    draw_color_change,
    draw_pair_swap,
    draw_uniform,
)

__all__ = ["Target", "reply_places", "walk"]


class Target(NamedTuple):
    """A distribution over codes, known up to a constant: a product of one factor a turn."""

    guesses: NDArray[np.int64]
    """``(turns, pegs)``, colors 1..k."""
    standing: NDArray[np.int64]
    """``(turns, colors + 1)``, the number of pegs of each color in the guess."""
    logs: Floats
    """``(turns, pegs + 1, pegs + 1)``, the natural logarithm of the factor, by black pegs and by
    black and white pegs together; −∞ for replies that are excluded."""
    repeats: bool
    """Whether a color may occur twice in a code."""


@njit
def reply_places(codes: NDArray[np.uint8], target: Target, places: NDArray[np.int64]) -> None:
    """Write the place of each reply into `places`, ``(codes, turns)``: (pegs + 1)·B_t + S_t."""
    counts = np.zeros(target.standing.shape[1], dtype=np.int64)
    width = target.guesses.shape[1] + 1
    for row in range(codes.shape[0]):
        for t in range(target.guesses.shape[0]):
            black, both = compare_codes(target.guesses[t], codes[row], counts)
            places[row, t] = width * black + both


@njit
def walk(codes: NDArray[np.uint8], target: Target, steps: int, state: NDArray[np.uint64]) -> int:
    """Walk from each code; the codes are overwritten by those where the walks end.

    Parameters
    ----------
    codes
        ``(walks, pegs)``, colors 1..k, of positive probability under the target.
    target
        The target distribution.
    steps
        The number of steps of each walk.
    state
        The state of the random numbers.

    Returns
    -------
    int
        The number of accepted steps that changed a code, of all walks together.
    """
    guesses, standing, logs = target.guesses, target.standing, target.logs
    (turns, pegs), colors = guesses.shape, standing.shape[1] - 1
    blacks, boths = np.zeros(turns, dtype=np.int64), np.zeros(turns, dtype=np.int64)
    new_blacks, new_boths = np.zeros(turns, dtype=np.int64), np.zeros(turns, dtype=np.int64)
    counts = np.zeros(colors + 1, dtype=np.int64)
    placed = np.zeros(colors + 1, dtype=np.int64)
    accepted = 0
    for row in range(codes.shape[0]):
        code = codes[row]
        placed[:] = 0
        for i in range(pegs):
            placed[code[i]] += 1
        now = 0.0
        for t in range(turns):
            blacks[t], boths[t] = compare_codes(guesses[t], code, counts)
            now += logs[t, blacks[t], boths[t]]
        for _ in range(steps):
            if draw_uniform(state) < 0.5:
                first, second, color, other = draw_pair_swap(code, state)
            else:
                first, second, color, other = draw_color_change(code, colors, target.repeats, state)
            old, old_other = int(np.int64(code[first])), int(np.int64(code[second]))
            if color == old:
                continue
            new = 0.0
            for t in range(turns):
                black = blacks[t] + (guesses[t, first] == color) - (guesses[t, first] == old)
                both = boths[t]
                if first != second:
                    black = (
                        black + (guesses[t, second] == other) - (guesses[t, second] == old_other)
                    )
                else:
                    # The peg of the old color counted unless there were more than in the guess.
                    both -= placed[old] <= standing[t, old]
                    both += placed[color] < standing[t, color]
                new += logs[t, black, both]
                if new == -math.inf:
                    break
                new_blacks[t], new_boths[t] = black, both
            if new < now and (new == -math.inf or math.log1p(-draw_uniform(state)) >= new - now):
                continue
            accepted += 1
            now = new
            blacks[:], boths[:] = new_blacks, new_boths
            if first == second:
                placed[old] -= 1
                placed[color] += 1
            else:
                code[second] = other
            code[first] = color
    return accepted
