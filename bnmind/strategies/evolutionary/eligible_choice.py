"""The choice among eligible codes, by the reply classes of each within them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind.mastermind.board import Board
from bnmind.strategies.kernels.reply_classes import class_sizes
from bnmind.strategies.scores.score import Score

__all__ = ["best_of"]


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
    sizes = class_sizes(board, ordered, min(n, most_guesses))
    tied = score.terms(board, n).best(sizes, turn)
    chosen = int(tied[rng.integers(len(tied))])
    return int(places[chosen]), len(tied)
