"""The guesses that look-ahead considers, and the replies of all codes to them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats, information
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.masses.mass_plan import plan_masses
from bnmind.mastermind.masses.reply_table import reply_rows, reply_table

__all__ = [
    "ALL_GUESSES",
    "INFORMATIVE",
    "PROBABLE",
    "Candidates",
    "candidates",
    "most_probable",
    "plausible_codes",
]

ALL_GUESSES = 2**11
"""Up to this number of codes, all guesses are candidates."""

INFORMATIVE = 150
"""On larger boards, the number of the most informative guesses that are candidates."""

PROBABLE = 20
"""The number of the most probable codes that are candidates."""


_DIGITS = 9  # of the information, in bits; the rest is rounding


class Candidates(NamedTuple):
    """Guesses, and the true replies to them."""

    guesses: NDArray[np.intp]
    """Indices of codes, ascending."""
    rows: NDArray[np.uint8]
    """The true reply of each code to each guess, ``(guesses, n_codes)``."""


def candidates(codes: CodeDistribution, channel: Channel, history: tuple[Turn, ...]) -> Candidates:
    """Return the guesses to consider.

    On boards of up to `ALL_GUESSES` codes these are all guesses. On larger boards they are the
    `INFORMATIVE` guesses with the most information, not counting equivalent ones, and the
    `PROBABLE` most probable codes.

    Parameters
    ----------
    codes
        The belief.
    channel
        The channel.
    history
        The turns so far, which tell which guesses are equivalent.
    """
    board, q = codes.board, codes.probabilities
    if board.n_codes <= ALL_GUESSES:
        return Candidates(np.arange(board.n_codes), reply_table(board))
    plan = plan_masses(board, q, history=history)
    gained = information(plan.run(q), channel.matrix)
    informative = plan.guesses[np.argsort(-np.round(gained, _DIGITS), kind="stable")[:INFORMATIVE]]
    guesses = np.union1d(informative, most_probable(q, PROBABLE))
    return Candidates(guesses, _rows_of(board, guesses))


def most_probable(q: Floats, n: int) -> NDArray[np.intp]:
    """Return the indices of the `n` most probable codes that are not impossible."""
    order = np.argsort(-q, kind="stable")[:n]
    return order[q[order] > 0]


def plausible_codes(q: Floats, *, share: float = 1e-4) -> NDArray[np.intp]:
    """Return the codes that remain when improbable codes of a total probability are left out.

    Parameters
    ----------
    q
        The belief, ``(n_codes,)``.
    share
        The total probability to leave out at most.
    """
    possible = np.flatnonzero(q)
    order = possible[np.argsort(q[possible], kind="stable")]
    return np.sort(order[np.cumsum(q[order]) > share])


def _rows_of(board: Board, guesses: NDArray[np.intp]) -> NDArray[np.uint8]:
    rows = np.empty((len(guesses), board.n_codes), dtype=np.uint8)
    for row, replies in zip(rows, reply_rows(board, guesses), strict=True):
        row[:] = replies
    return rows
