"""The choice among eligible codes: the reply classes of each among a set of codes, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.mastermind.board import Board
from bnmind.strategies.scores.score import Score

__all__ = ["best_of", "reply_classes"]


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


def best_of(
    board: Board,
    codes: NDArray[np.uint8],
    score: Score,
    *,
    turn: int,
    most_guesses: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Return the place of a code of the best score among codes, and the number of ties.

    Parameters
    ----------
    board
        The board.
    codes
        ``(codes, pegs)``, eligible codes; each is taken for the secret once.
    score
        The score of the reply classes. `ExpectedSize` is the similarity of Berghman, Goossens and
        Leus: the mean number of these codes that stay eligible.
    turn
        The number of guesses made.
    most_guesses
        The largest number of codes to try as guesses; beyond that, random ones are tried.
    rng
        Draws these, and breaks ties.
    """
    n = len(codes)
    ordered, places = codes, np.arange(n)
    if n > most_guesses:
        places = rng.permutation(n)
        ordered = np.ascontiguousarray(codes[places])
    sizes = reply_classes(ordered, min(n, most_guesses), board.colors)
    columns = [(b + w) * (board.pegs + 1) + b for b, w in board.true_replies]
    tied = score.terms(board, n).best(sizes[:, columns], turn)
    chosen = int(tied[rng.integers(len(tied))])
    return int(places[chosen]), len(tied)
