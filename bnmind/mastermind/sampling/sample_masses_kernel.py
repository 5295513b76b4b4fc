"""The replies of sampled codes to many guesses, compiled.

The codes stand in columns, so that one instruction compares the same peg of many codes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.mastermind.board import Board

__all__ = ["masses_of_samples", "places_of_replies"]

_PAIRS = 2**27  # pairs of a guess and a code in one call of compiled code, a fraction of a second


def masses_of_samples(
    board: Board, guesses: NDArray[np.uint8], codes: NDArray[np.uint8], weights: Floats
) -> Floats:
    """Return the weight of each true reply to each guess, ``(guesses, true replies)``.

    Parameters
    ----------
    board
        The board, of any size.
    guesses
        ``(guesses, pegs)``, colors 1..k.
    codes
        ``(codes, pegs)``, colors 1..k.
    weights
        ``(codes,)``; ones for counts, which are exact.
    """
    masses = np.zeros((len(guesses), (board.pegs + 1) ** 2))
    columns = np.ascontiguousarray(codes.T)
    counts = np.stack([(columns == color).sum(axis=0) for color in range(board.colors + 1)])
    at_once = max(1, _PAIRS // max(1, len(codes)))
    for start in range(0, len(guesses), at_once):
        some = slice(start, start + at_once)
        _add_masses(guesses[some], columns, counts.astype(np.uint8), weights, masses[some])
    return masses[:, places_of_replies(board)]


def places_of_replies(board: Board) -> NDArray[np.intp]:
    """Return the place (pegs + 1)·P + S of each true reply, with S = P + C."""
    black, white = np.array(board.true_replies, dtype=np.intp).T
    places: NDArray[np.intp] = black * (board.pegs + 1) + black + white
    return places


@njit
def _add_masses(
    guesses: NDArray[np.uint8],
    columns: NDArray[np.uint8],
    counts: NDArray[np.uint8],
    weights: Floats,
    masses: Floats,
) -> None:
    """Add the weights of the codes to `masses`, ``(guesses, places)``.

    `columns` has a row for each position, and `counts` one for each color.
    """
    pegs, n_codes = columns.shape
    blacks = np.zeros(n_codes, dtype=np.uint8)
    boths = np.zeros(n_codes, dtype=np.uint8)
    standing = np.zeros(counts.shape[0], dtype=np.uint8)
    for g in range(guesses.shape[0]):
        blacks[:] = 0
        boths[:] = 0
        standing[:] = 0
        for i in range(pegs):
            color = guesses[g, i]
            standing[color] += 1
            column = columns[i]
            for m in range(n_codes):
                blacks[m] += column[m] == color
        for color in range(1, counts.shape[0]):
            most = standing[color]
            if most:
                count = counts[color]
                for m in range(n_codes):
                    boths[m] += min(count[m], most)
        row = masses[g]
        for m in range(n_codes):
            row[np.int64(blacks[m]) * (pegs + 1) + boths[m]] += weights[m]
