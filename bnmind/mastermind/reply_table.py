"""Replies to one guess, the table of all replies, and the belief masses of replies.

A reply is kept as a byte, its place in ``board.true_replies``. That suffices: a board
with more than 255 true replies has more than 2²⁹ codes.

The reply splits: the black pegs are counted position by position, and black and white
together are Σ_i min(C_i, G_i), which depends on how often each color stands in the
guess but not where. Guesses of the same colors share the second part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.errors import InvalidCodeError, InvalidProbabilityError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.board import Board, require_enumerable

__all__ = ["MAX_PAIRS", "MAX_TABLE_BYTES", "replies_to", "reply_masses", "reply_table"]

MAX_TABLE_BYTES = 2**31
"""The largest reply table that is built; 5x8 takes half of it."""

MAX_PAIRS = 2**36
"""The most pairs of guess and code that `reply_masses` evaluates without a table: minutes."""

_SMALL_TABLE_BYTES = 2**22  # a table that is built sooner than asked for twice
_BLOCK_BYTES = 2**16  # what stays in the cache while a block of the table is filled


def replies_to(board: Board, guess: Sequence[int]) -> NDArray[np.uint8]:
    """Return the true reply of every code to one guess.

    Parameters
    ----------
    board
        The board, of at most `MAX_CODES` codes.
    guess
        Colors 1..k, one a peg.

    Returns
    -------
    NDArray[np.uint8]
        ``(n_codes,)``, places in ``board.true_replies``; read-only.

    Raises
    ------
    InvalidCodeError
        If the guess is no code of the board.
    TooLargeError
        If the codes of the board are too many to be listed.

    Examples
    --------
    >>> board = Board(4, 6)
    >>> replies = replies_to(board, (1, 1, 2, 3))
    >>> board.true_replies[replies[board.index((3, 1, 1, 1))]]
    Reply(black=1, white=2)
    """
    guesses = np.asarray([board.index(guess)], dtype=np.intp)
    if board.n_codes**2 <= _SMALL_TABLE_BYTES:
        return np.asarray(reply_table(board)[guesses[0]], dtype=np.uint8)
    ((_, replies),) = _blocks(board, guesses, board.codes)
    row = np.asarray(replies[0], dtype=np.uint8)
    row.setflags(write=False)
    return row


@lru_cache(maxsize=4)
def reply_table(board: Board) -> NDArray[np.uint8]:
    """Return the true reply of every code to every guess.

    Returns
    -------
    NDArray[np.uint8]
        ``(n_codes, n_codes)``, [guess, code], places in ``board.true_replies``;
        symmetric, read-only. The tables of the four latest boards are kept.

    Raises
    ------
    TooLargeError
        If it would take more than `MAX_TABLE_BYTES`; before anything is allocated.
    """
    n_bytes = board.n_codes**2
    if n_bytes > MAX_TABLE_BYTES:
        raise TooLargeError(
            f"expected a reply table of at most {MAX_TABLE_BYTES / 1e9:.1f} GB, got the board "
            f"{board}, whose table would need {n_bytes / 1e9:,.1f} GB",
            needed=n_bytes,
            budget=MAX_TABLE_BYTES,
        )
    table = np.empty((board.n_codes, board.n_codes), dtype=np.uint8)
    for rows, replies in _blocks(board, np.arange(board.n_codes), board.codes):
        table[rows] = replies
    table.setflags(write=False)
    return table


def reply_masses(board: Board, belief: Floats, guesses: NDArray[np.intp] | None = None) -> Floats:
    """Return the belief mass of every true reply to every guess.

    Codes of belief zero cost nothing. Where the reply table of the board is not too
    large it is built once and used; elsewhere replies are computed for the codes that
    have belief.

    Parameters
    ----------
    board
        The board.
    belief
        ``(n_codes,)``, not negative; it need not sum to one.
    guesses
        Indices of codes, ``(guesses,)``; all codes of the board unless given.

    Returns
    -------
    Floats
        ``(guesses, len(board.true_replies))``; each row sums to what the belief
        sums to.

    Raises
    ------
    InvalidCodeError
        If a guess is no index of a code.
    InvalidProbabilityError
        If the belief is not over the codes of the board.
    TooLargeError
        Without a table, if the pairs of guess and code are more than `MAX_PAIRS`.

    Examples
    --------
    >>> board = Board(1, 3)
    >>> reply_masses(board, np.array([0.5, 0.25, 0.25])).tolist()
    [[0.5, 0.5], [0.75, 0.25], [0.75, 0.25]]
    """
    require_enumerable(board)
    weights = np.asarray(belief, dtype=np.float64)
    if weights.shape != (board.n_codes,):
        raise InvalidProbabilityError(
            f"expected a belief over the {board.n_codes} codes of the board {board}, got an array "
            f"of shape {weights.shape}",
            belief,
        )
    asked = np.arange(board.n_codes) if guesses is None else np.asarray(guesses, dtype=np.intp)
    if asked.size and not 0 <= asked.min() <= asked.max() < board.n_codes:
        raise InvalidCodeError(
            f"expected indices of the {board.n_codes} codes of the board {board}, got "
            f"{asked.min()} to {asked.max()}",
            guesses,
        )
    codes = np.flatnonzero(weights)
    weights = weights[codes]
    n_replies = len(board.true_replies)
    if board.n_codes**2 <= MAX_TABLE_BYTES:
        # The kernel takes guesses in fours.
        fours = np.concatenate([asked, np.repeat(asked[-1:], -len(asked) % 4)])
        unsigned = codes.astype(np.uintp)
        return _masses(reply_table(board), fours, unsigned, weights, n_replies)[: len(asked)]
    pairs = len(asked) * len(codes)
    if pairs > MAX_PAIRS:
        raise TooLargeError(
            f"expected at most {MAX_PAIRS:,} pairs of guess and code without a reply table, got "
            f"{pairs:,} on the board {board}; ask for fewer guesses",
            needed=pairs,
            budget=MAX_PAIRS,
        )
    masses = np.empty((len(asked), n_replies))
    for rows, replies in _blocks(board, asked, board.codes[codes]):
        for row, reply_row in zip(rows, replies, strict=True):
            masses[row] = np.bincount(reply_row, weights=weights, minlength=n_replies)
    return masses


def _blocks(
    board: Board, guesses: NDArray[np.intp], codes: NDArray[np.uint8]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.uint8]]]:
    """Yield places in `guesses` and the replies to those guesses, ``(places, codes)``."""
    digits = np.ascontiguousarray(codes.T)
    guess_digits = board.codes[guesses]
    lookup = _lookup(board)
    # Guesses of the same colors side by side: they have Σ_i min(C_i, G_i) in common.
    colors = np.sort(guess_digits, axis=1)
    order = np.lexsort(colors.T[::-1])
    new = np.any(colors[order[1:]] != colors[order[:-1]], axis=1)
    kind = np.min_scalar_type(len(lookup) - 1)
    at_once = max(1, _BLOCK_BYTES // max(1, digits.shape[1]))
    for group in np.split(order, np.flatnonzero(new) + 1):
        if len(group) == 0:
            continue
        # Black and white together, times n + 1, so that black can be added.
        shared = np.zeros(digits.shape[1], dtype=kind)
        present, counts = np.unique(colors[group[0]], return_counts=True)
        for color, count in zip(present, counts, strict=True):
            standing = (digits == color).sum(axis=0, dtype=np.uint8)
            shared += np.minimum(standing, count.astype(np.uint8))
        shared *= board.pegs + 1
        for start in range(0, len(group), at_once):
            rows = group[start : start + at_once]
            pairs = np.repeat(shared[None, :], len(rows), axis=0)
            for position in range(board.pegs):
                pairs += guess_digits[rows, position, None] == digits[position]
            yield rows, np.take(lookup, pairs)


def _lookup(board: Board) -> NDArray[np.uint8]:
    """Return the place of a reply by (black + white)·(n + 1) + black."""
    lookup = np.zeros((board.pegs + 1) ** 2, dtype=np.uint8)
    for place, (black, white) in enumerate(board.true_replies):
        lookup[(black + white) * (board.pegs + 1) + black] = place
    return lookup


@njit
def _masses(
    table: NDArray[np.uint8],
    guesses: NDArray[np.intp],
    codes: NDArray[np.uintp],
    weights: Floats,
    n_replies: int,
) -> Floats:
    # Four guesses side by side, since each addition waits for the one before it if both
    # meet the same reply. The sum of a guess does not depend on its neighbors.
    masses = np.zeros((guesses.size, n_replies))
    for first in range(0, guesses.size, 4):
        row_0, sums_0 = table[guesses[first]], masses[first]
        row_1, sums_1 = table[guesses[first + 1]], masses[first + 1]
        row_2, sums_2 = table[guesses[first + 2]], masses[first + 2]
        row_3, sums_3 = table[guesses[first + 3]], masses[first + 3]
        for i in range(codes.size):
            code, weight = codes[i], weights[i]
            sums_0[row_0[code]] += weight
            sums_1[row_1[code]] += weight
            sums_2[row_2[code]] += weight
            sums_3[row_3[code]] += weight
    return masses
