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

Most entries in a column of a channel are equal to the least one: a false reply has the same
probability after every true reply. The sums over all cells serve these entries; only the larger
entries are added cell by cell.
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
_SAME = 1e-12  # entries closer than this, relative to the smaller, are equal


class ChannelPowers(NamedTuple):
    """Functions of the entries of a channel, ``(true replies that do not win, reports)``."""

    plain: Floats
    """N."""
    logarithms: Floats
    """N ln N."""
    squares: Floats
    """N²."""
    least: Floats
    """``(reports, 3)``, the least entry of each column, and its logarithm and square as above."""
    larger: NDArray[np.intp]
    """``(entries, 2)``, the true replies and reports of the other entries."""
    excess: Floats
    """``(entries, 3)``, N, N ln N and N² of these entries minus those of the least one."""


def channel_powers(channel: Channel) -> ChannelPowers:
    """Return the functions of a channel's entries, without the win, which ends the game."""
    revealed = channel if channel.ends else channel.revealed()
    plain = np.ascontiguousarray(revealed.matrix[:-1, :-1])
    logarithms = plain * np.log(np.where(plain > 0, plain, 1.0))
    squares = plain * plain
    powers = np.stack([plain, logarithms, squares], axis=-1)
    lowest = plain.argmin(axis=0)
    least = np.ascontiguousarray(powers[lowest, np.arange(plain.shape[1])])
    larger = np.argwhere(plain > least[:, 0] * (1 + _SAME))
    excess = powers[larger[:, 0], larger[:, 1]] - least[larger[:, 1]]
    return ChannelPowers(plain, logarithms, squares, least, larger, excess)


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
    n_cells, n_outcomes = channel.plain.shape
    a = b = d = 0.0
    for c in range(n_cells):
        a += cells[c, 0]
        b += cells[c, 1]
        d += cells[c, 2]
    least, larger, excess = channel.least, channel.larger, channel.excess
    for o in range(n_outcomes):
        sums[o, 0] = least[o, 0] * a
        sums[o, 1] = least[o, 0] * b + least[o, 1] * a
        sums[o, 2] = least[o, 2] * d
    for e in range(larger.shape[0]):
        c, o = larger[e, 0], larger[e, 1]
        a = cells[c, 0]
        if a > 0.0:
            sums[o, 0] += excess[e, 0] * a
            sums[o, 1] += excess[e, 0] * cells[c, 1] + excess[e, 1] * a
            sums[o, 2] += excess[e, 2] * cells[c, 2]
    expected = 0.0
    for o in range(n_outcomes):
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
