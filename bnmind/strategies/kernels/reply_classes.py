"""The sizes of reply classes within a list of codes, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.mastermind.board import Board

__all__ = ["class_sizes", "reply_classes"]


def class_sizes(
    board: Board, codes: NDArray[np.uint8], n_guesses: int | None = None
) -> NDArray[np.int64]:
    """Return the sizes of the reply classes within some codes, for the first of them as guesses.

    Parameters
    ----------
    board
        The board.
    codes
        ``(codes, pegs)``.
    n_guesses
        The number of codes to try as guesses; all by default.

    Returns
    -------
    NDArray[np.int64]
        ``(n_guesses, replies)``.
    """
    classes = reply_classes(codes, len(codes) if n_guesses is None else n_guesses, board.colors)
    return classes[:, [(b + w) * (board.pegs + 1) + b for b, w in board.true_replies]]


@njit
def reply_classes(codes: NDArray[np.uint8], n_guesses: int, colors: int) -> NDArray[np.int64]:
    """Return the sizes of the reply classes of the first codes of a set as guesses.

    Parameters
    ----------
    codes
        ``(codes, pegs)``, colors 1..k.
    n_guesses
        The number of codes to try as guesses.
    colors
        The number of colors, k.

    Returns
    -------
    array
        ``(n_guesses, (pegs + 1)²)``; column S·(pegs + 1) + P counts the codes with the reply of P
        black pegs and S black and white pegs together.
    """
    n, pegs = codes.shape
    standing = np.zeros((n, colors + 1), dtype=np.uint8)
    for i in range(n):
        for j in range(pegs):
            standing[i, codes[i, j]] += 1
    classes = np.zeros((n_guesses, (pegs + 1) * (pegs + 1)), dtype=np.int64)
    for guess in range(n_guesses):
        for i in range(n):
            black, both = 0, 0
            for j in range(pegs):
                black += codes[guess, j] == codes[i, j]
            for color in range(1, colors + 1):
                both += min(standing[guess, color], standing[i, color])
            classes[guess, both * (pegs + 1) + black] += 1
    return classes
