r"""The expected value of the belief after each guess, compiled.

The features of a belief follow from three sums over its codes: Σ w, Σ w ln w and Σ w², where the
weights w need not sum to one. After the outcome o of a guess the weight of a code s is
q(s)·N[c, o], c its true reply to the guess. So the sums after every outcome follow from the three
sums over the codes of each true reply, taken before the outcome is known:

    Σ w = Σ_c N[c, o] A_c
    Σ w ln w = Σ_c N[c, o] B_c + N[c, o] ln N[c, o] A_c
    Σ w² = Σ_c N[c, o]² D_c

with A, B and D the sums of q, q ln q and q² over the codes of cell c. One pass over the codes thus
gives the value of all outcomes of a guess. Two guesses need the sums over the codes of each pair of
true replies.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.mastermind.channel import Channel

__all__ = [
    "NEGLIGIBLE",
    "ChannelPowers",
    "after_one_guess",
    "belief_value",
    "channel_powers",
    "code_terms",
    "through_channel",
]

NEGLIGIBLE = 1e-13
"""The probability of an outcome that is rounding error."""

_LN2 = math.log(2)


class ChannelPowers(NamedTuple):
    """Functions of the entries of a channel, ``(true replies that do not win, reports)``."""

    plain: Floats
    """N."""
    logarithms: Floats
    """N ln N."""
    squares: Floats
    """N²."""


def channel_powers(channel: Channel) -> ChannelPowers:
    """Return the functions of a channel's entries, without the win, which ends the game."""
    revealed = channel if channel.ends else channel.revealed()
    plain = np.ascontiguousarray(revealed.matrix[:-1, :-1])
    logs = np.log(np.where(plain > 0, plain, 1.0))
    return ChannelPowers(plain, plain * logs, plain * plain)


@njit
def code_terms(q: Floats, codes: NDArray[np.intp]) -> Floats:
    """Return q, q ln q and q² of some codes, ``(codes, 4)``; the fourth number is unused."""
    terms = np.zeros((codes.size, 4))
    for j in range(codes.size):
        p = q[codes[j]]
        terms[j, 0], terms[j, 1], terms[j, 2] = p, p * math.log(p), p * p
    return terms


@njit
def belief_value(total: float, logs: float, squares: float, coefficients: Floats) -> float:
    """Return the value of the belief whose weights have these sums."""
    log_total = math.log(total)
    h = max(0.0, (log_total - logs / total) / _LN2)
    c = max(0.0, (2.0 * log_total - math.log(squares)) / _LN2)
    doubt = max(0.0, 1.0 - math.sqrt(squares) / total)
    value = (
        1.0
        + coefficients[0] * h
        + coefficients[1] * c
        + coefficients[2] * h * h
        + coefficients[3] * c * c
        + coefficients[4] * h * c
        + coefficients[5] * doubt
    )
    return float(max(1.0, value))


@njit
def through_channel(
    cells: Floats, channel: ChannelPowers, coefficients: Floats, sums: Floats
) -> float:
    """Return Σ_o P(o)·value after o, from the sums over each cell; `sums` is scratch."""
    plain, logarithms, squares = channel
    sums[:] = 0.0
    for c in range(plain.shape[0]):
        a, b, d = cells[c, 0], cells[c, 1], cells[c, 2]
        if a > 0.0:
            for o in range(plain.shape[1]):
                sums[o, 0] += a * plain[c, o]
                sums[o, 1] += b * plain[c, o] + a * logarithms[c, o]
                sums[o, 2] += d * squares[c, o]
    expected = 0.0
    for o in range(plain.shape[1]):
        if sums[o, 0] > NEGLIGIBLE:
            expected += sums[o, 0] * belief_value(sums[o, 0], sums[o, 1], sums[o, 2], coefficients)
    return expected


@njit
def after_one_guess(
    rows: NDArray[np.uint8],
    q: Floats,
    codes: NDArray[np.intp],
    channel: ChannelPowers,
    coefficients: Floats,
) -> Floats:
    """Return one plus the expected value of the belief after each guess; a win counts nothing.

    Parameters
    ----------
    rows
        The true reply of each code to each guess, ``(guesses, n_codes)``; the last reply wins.
    q
        The belief, ``(n_codes,)``.
    codes
        The codes to sum over, of positive belief.
    channel
        The channel.
    coefficients
        The coefficients of the value.

    Returns
    -------
    Floats
        ``(guesses,)``.
    """
    n_replies = channel.plain.shape[0] + 1
    terms = code_terms(q, codes)
    cells = np.zeros((n_replies, 4))
    sums = np.zeros((channel.plain.shape[1], 4))
    values = np.empty(rows.shape[0])
    for g in range(rows.shape[0]):
        cells[:] = 0.0
        for j in range(codes.size):
            c = rows[g, codes[j]]
            for k in range(4):
                cells[c, k] += terms[j, k]
        values[g] = 1.0 + through_channel(cells, channel, coefficients, sums)
    return values
