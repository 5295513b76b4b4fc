"""The distribution of every variable of Vomlel's network, from the probability of each code.

Given the guess, all variables are functions of the code, so no junction tree is needed: this holds
for any belief about the code, also for one after replies, in which the pegs depend on each other.

Jiří Vomlel, *Bayesian networks in Mastermind* (2004), equations (1) to (6).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked, number_array
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.network.vomlel import REPORTS

__all__ = ["node_beliefs"]


@checked
def node_beliefs(
    channel: Channel,
    guess: Sequence[int],
    *,
    codes: NDArray[np.uint8],
    weights: Floats,
) -> dict[str, Floats]:
    """Return the distribution of each variable before the reply to a guess, by name.

    Parameters
    ----------
    channel
        The channel that will report the reply; P′ and C′ follow from it.
    guess
        Colors 1..k, one for each peg.
    codes
        ``(codes, pegs)``: all codes of the board, or a sample of them.
    weights
        ``(codes,)``: the probability of each code, up to a constant factor.

    Returns
    -------
    dict[str, Floats]
        H, T, P_j, C_i, G_i, M_i, P, C, and P′ and C′, named as in `vomlel_network`. The auxiliary
        variable B has no distribution.

    Raises
    ------
    InvalidArgumentError
        If the guess is not a code of the board.
        If the weights are not one non-negative number for each code, with a positive sum.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> board = Board(2, 3)
    >>> found = node_beliefs(
    ...     Channel.exact(board), (1, 2), codes=board.codes, weights=np.ones(9)
    ... )
    >>> found["C1"].round(3).tolist(), found["P"].round(3).tolist()
    ([0.444, 0.444, 0.111], [0.444, 0.444, 0.111])
    """
    board = channel.board
    guessed = board.code(board.index(guess))
    n, k = board.pegs, board.colors
    shares = np.asarray(number_array(weights, "the weights"), dtype=np.float64)
    if shares.shape != (len(codes),) or not shares.sum() > 0 or shares.min() < 0:
        raise InvalidArgumentError(
            "expected one non-negative weight for each code, and a positive sum", weights
        )
    shares = shares / shares.sum()

    def share(values: NDArray[np.intp], states: int) -> Floats:
        return np.asarray(np.bincount(values, weights=shares, minlength=states), dtype=np.float64)

    found: dict[str, Floats] = {}
    matched = np.zeros(len(codes), dtype=np.intp)
    for j, color in enumerate(guessed, 1):
        found[f"H{j}"] = share(codes[:, j - 1].astype(np.intp) - 1, k)
        found[f"T{j}"] = np.eye(k)[color - 1]
        hit = found[f"H{j}"][color - 1]
        found[f"P{j}"] = np.array([max(0.0, 1.0 - hit), hit])
    for i in range(1, k + 1):
        in_code = np.count_nonzero(codes == i, axis=1)
        in_guess = guessed.count(i)
        both = np.minimum(in_code, in_guess)
        matched += both
        found[f"C{i}"] = share(in_code, n + 1)
        found[f"G{i}"] = np.eye(n + 1)[in_guess]
        found[f"M{i}"] = share(both, n + 1)
    black = np.count_nonzero(codes == np.array(guessed), axis=1)
    white = matched - black
    found["P"], found["C"] = share(black, n + 1), share(white, n + 1)
    joint = share(black * (n + 1) + white, (n + 1) ** 2).reshape(n + 1, n + 1)
    return found | _reports(channel, joint)


def _reports(channel: Channel, joint: Floats) -> dict[str, Floats]:
    """Return the distributions of P′ and C′; the last state of a channel that ends is WON."""
    masses = np.array([joint[true] for true in channel.board.true_replies]) @ channel.matrix
    size = channel.board.pegs + 1
    found = {}
    for name, number in zip(REPORTS, (0, 1), strict=True):
        shares = np.zeros(size + channel.ends)
        for report, mass in zip(channel.reports, masses, strict=False):
            shares[report[number]] += mass
        if channel.ends:
            shares[-1] = masses[-1]
        found[name] = shares
    return found
