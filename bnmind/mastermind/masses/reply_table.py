"""Replies to one guess, the table of all replies, and the belief masses of replies.

Replies are stored as bytes, their indices in ``board.true_replies``. A byte suffices, since a
board with more than 255 true replies has more than 2²⁹ codes.

A reply has two parts. Black pegs are counted position by position. Black and white pegs
together are Σ_i min(C_i, G_i), which depends only on how often each color occurs in the guess,
so guesses of the same colors share this part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from os import cpu_count
from sys import float_info

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked, number_array, whole_array
from bnmind._jit import njit
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.board import Board, require_believable
from bnmind.mastermind.masses.code_halves import blocks_of, place_of_reply, split_replies
from bnmind.mastermind.masses.pair_kernel import masses_by_pairs

__all__ = [
    "MAX_MASSES_BYTES",
    "MAX_PAIRS",
    "MAX_TABLE_BYTES",
    "bayes_rule",
    "guess_masses",
    "replies_of",
    "replies_to",
    "reply_masses",
    "reply_rows",
    "reply_table",
]

MAX_TABLE_BYTES = 2**31
"""The largest size of a reply table in bytes; 5x8 takes half of it."""

MAX_PAIRS = 2**36
"""The largest number of pairs that `reply_masses` evaluates without a table: a minute."""

MAX_MASSES_BYTES = 2**32
"""The largest size of a result of `reply_masses` in bytes."""

_SMALL_TABLE_BYTES = 2**22  # a table that is cached, since it is built faster than two lookups
_BLOCK_BYTES = 2**16  # a block of the table that fits the processor's cache
_MANY_CODES = 2**16  # from this number of codes on, the cost is proportional to it
_FEW_GUESSES = 4  # up to this number of guesses, NumPy is as fast as the kernel
_PARALLEL = 2**24  # from this number of codes on, two threads are faster


@checked
def replies_to(board: Board, guess: Sequence[int]) -> NDArray[np.uint8]:
    """Return the true reply of each code to one guess.

    Parameters
    ----------
    board
        The board, of at most `MAX_CODES` codes.
    guess
        Colors 1..k, one for each peg.

    Returns
    -------
    NDArray[np.uint8]
        ``(n_codes,)``, indices into ``board.true_replies``; read-only.

    Raises
    ------
    InvalidArgumentError
        If the guess is not a code of the board.
    TooLargeError
        If the board has too many codes for a belief.

    Examples
    --------
    >>> board = Board(4, 6)
    >>> replies = replies_to(board, (1, 1, 2, 3))
    >>> board.true_replies[replies[board.index((3, 1, 1, 1))]]
    Reply(black=1, white=2)
    """
    return replies_of(board, board.index(guess))


def replies_of(board: Board, index: int) -> NDArray[np.uint8]:
    """Return the true reply of each code to the guess with an index, which is not checked again.

    Parameters, result and errors are those of `replies_to`, but for the guess: it is the index of a
    code of the board.
    """
    if _is_small(board):
        return np.asarray(reply_table(board)[index], dtype=np.uint8)
    require_believable(board)
    if board.repeats:
        row = split_replies(board, board.code(index)).replies()
    else:
        ((_, replies),) = _blocks(board, np.array([index]), board.codes)
        row = np.asarray(replies[0], dtype=np.uint8)
    row.setflags(write=False)
    return row


def reply_rows(board: Board, guesses: NDArray[np.intp]) -> Iterator[NDArray[np.uint8]]:
    """Yield `replies_of` each of some guesses."""
    if _is_small(board):
        table = reply_table(board)
        yield from (table[guess] for guess in guesses)
    else:
        yield from (replies_of(board, guess) for guess in guesses.tolist())


def guess_masses(board: Board, belief: Floats, guess: Sequence[int]) -> Floats:
    """Return the belief mass of each true reply to one guess.

    Unlike `reply_masses`, the function visits every code, which takes about a nanosecond each,
    and allocates no array of that length.

    Parameters
    ----------
    board
        The board.
    belief
        ``(n_codes,)``, not negative.
    guess
        Colors 1..k, one for each peg.

    Returns
    -------
    Floats
        ``(len(board.true_replies),)``.

    Raises
    ------
    InvalidArgumentError
        If the guess is not a code of the board.
        If the belief does not have one entry for each code of the board.
    TooLargeError
        If the board has too many codes for a belief.
    """
    require_believable(board)
    belief = _over_codes(board, belief)
    if _by_code(board):
        replies = replies_to(board, guess)
        masses = np.bincount(replies, weights=belief, minlength=len(board.true_replies))
        return np.asarray(masses, dtype=np.float64)
    board.index(guess)
    return split_replies(board, guess).masses(belief, threads=_threads(board))


def bayes_rule(
    board: Board, belief: Floats, guess: Sequence[int], likelihood: Floats
) -> Floats | None:
    """Return the belief after a reply to a guess, or None if the reply is impossible.

    Parameters
    ----------
    board
        The board.
    belief
        ``(n_codes,)``, not negative; it sums to one.
    guess
        Colors 1..k, one for each peg.
    likelihood
        The probability of the report given each true reply, ``(len(board.true_replies),)``.

    Returns
    -------
    Floats | None
        ``(n_codes,)``, read-only; the only array of this size that is allocated. A probability
        below 2.2e-308 counts as zero, since it has lost digits.

    Raises
    ------
    InvalidArgumentError
        If the guess is not a code of the board.
        If the belief does not have one entry for each code, or the likelihood one for each
        true reply.
    TooLargeError
        If the board has too many codes for a belief.
    """
    require_believable(board)
    belief = _over_codes(board, belief)
    n_replies = len(board.true_replies)
    likelihood = np.asarray(likelihood, dtype=np.float64)
    if likelihood.shape != (n_replies,):
        raise InvalidArgumentError(
            f"expected a likelihood of each of the {n_replies} true replies of the board {board}, "
            f"got an array of shape {likelihood.shape}",
            likelihood,
        )
    if _by_code(board):
        after: Floats = belief * likelihood[replies_to(board, guess)]
        total = float(after.sum())
        if total < float_info.min:
            return None
        after /= total
    else:
        board.index(guess)
        halves, threads = split_replies(board, guess), _threads(board)
        total = float(halves.masses(belief, threads=threads) @ likelihood)
        if total < float_info.min:
            return None
        after = halves.weighted(belief, likelihood / total, threads=threads)
    after.setflags(write=False)
    return after


def _over_codes(board: Board, belief: Floats) -> Floats:
    """Return the belief as an array; raise unless it has one entry for each code."""
    weights = number_array(belief, "the belief")
    if weights.shape != (board.n_codes,):
        raise InvalidArgumentError(
            f"expected a belief over the {board.n_codes} codes of the board {board}, got an array "
            f"of shape {weights.shape}",
            belief,
        )
    return weights


def _is_small(board: Board) -> bool:
    """Return whether the board is small enough for a cached reply table."""
    return board.n_codes**2 <= _SMALL_TABLE_BYTES


def _by_code(board: Board) -> bool:
    """Return whether the replies to one guess are computed code by code."""
    return _is_small(board) or not board.repeats


def _threads(board: Board) -> int:
    return 2 if board.n_codes >= _PARALLEL and (cpu_count() or 1) > 1 else 1


@lru_cache(maxsize=4)
def reply_table(board: Board) -> NDArray[np.uint8]:
    """Return the table of true replies of each code to each guess.

    Parameters
    ----------
    board
        The board.

    Returns
    -------
    NDArray[np.uint8]
        ``(n_codes, n_codes)``, [guess, code], indices into ``board.true_replies``; symmetric
        and read-only. The tables of the last four boards are cached.

    Raises
    ------
    TooLargeError
        If the table would take more than `MAX_TABLE_BYTES`; nothing is allocated then.
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


@checked
def reply_masses(board: Board, belief: Floats, guesses: NDArray[np.intp] | None = None) -> Floats:
    """Return the belief mass of each true reply to each guess.

    The function uses brute force. It takes about half a nanosecond for each pair of a guess and
    a code of positive belief. It uses the reply table if the table fits the processor's cache.

    Parameters
    ----------
    board
        The board.
    belief
        ``(n_codes,)``, not negative; it need not sum to one.
    guesses
        Indices of codes, ``(guesses,)``; by default all codes of the board.

    Returns
    -------
    Floats
        ``(guesses, len(board.true_replies))``; each row has the same sum as the belief.

    Raises
    ------
    InvalidArgumentError
        If a guess is not the index of a code.
        If the belief does not have one entry for each code of the board.
    TooLargeError
        If the board has too many codes for a belief, there are more than `MAX_PAIRS` pairs of
        guess and code, or the result would be larger than `MAX_MASSES_BYTES`.

    Examples
    --------
    >>> board = Board(1, 3)
    >>> reply_masses(board, np.array([0.5, 0.25, 0.25])).tolist()
    [[0.5, 0.5], [0.75, 0.25], [0.75, 0.25]]
    """
    require_believable(board)
    weights = _over_codes(board, belief)
    chosen = None if guesses is None else whole_array(guesses, "the guesses")
    if chosen is not None and chosen.ndim != 1:
        raise InvalidArgumentError(
            f"expected the guesses as a list of indices of codes, got shape {chosen.shape}", guesses
        )
    if chosen is not None and chosen.size and not 0 <= chosen.min() <= chosen.max() < board.n_codes:
        raise InvalidArgumentError(
            f"expected indices of the {board.n_codes} codes of the board {board}, got "
            f"{chosen.min()} to {chosen.max()}",
            guesses,
        )
    n_guesses, n_replies = board.n_codes if chosen is None else len(chosen), len(board.true_replies)
    if _is_small(board):
        codes = np.flatnonzero(weights)
        if chosen is None:
            chosen = np.arange(board.n_codes)
        if n_guesses <= _FEW_GUESSES:
            # The sums are those of the kernel, which would have to be loaded first.
            sums = [
                np.bincount(row[codes], weights=weights[codes], minlength=n_replies)
                for row in reply_table(board)[chosen]
            ]
            return np.array(sums, dtype=np.float64).reshape(n_guesses, n_replies)
        # The kernel processes four guesses at a time.
        fours = np.concatenate([chosen, np.repeat(chosen[-1:], -n_guesses % 4)])
        unsigned = codes.astype(np.uintp)
        return _masses(reply_table(board), fours, unsigned, weights[codes], n_replies)[:n_guesses]
    n_bytes = 8 * n_guesses * n_replies
    if n_bytes > MAX_MASSES_BYTES:
        raise TooLargeError(
            f"expected masses of at most {MAX_MASSES_BYTES / 1e9:.1f} GB, got {n_guesses:,} "
            f"guesses on the board {board}, which would need {n_bytes / 1e9:,.1f} GB; ask for "
            f"fewer guesses",
            needed=n_bytes,
            budget=MAX_MASSES_BYTES,
        )
    possible = sum(int(np.count_nonzero(part > 0)) for part in blocks_of(weights))
    pairs = n_guesses * possible
    if pairs > MAX_PAIRS:
        raise TooLargeError(
            f"expected at most {MAX_PAIRS:,} pairs of guess and code without a reply table, got "
            f"{pairs:,} on the board {board}; ask for fewer guesses",
            needed=pairs,
            budget=MAX_PAIRS,
        )
    if board.repeats and board.n_codes >= _MANY_CODES and 2 * possible > board.n_codes:
        # If most codes have belief, visiting all of them is cheaper than listing those that do.
        masses = np.empty((n_guesses, n_replies))
        for row, guess in enumerate(range(n_guesses) if chosen is None else chosen.tolist()):
            masses[row] = guess_masses(board, weights, board.code(guess))
        return masses
    codes = np.flatnonzero(weights)
    return masses_by_pairs(board, chosen, codes, weights[codes])


def _blocks(
    board: Board, guesses: NDArray[np.intp], codes: NDArray[np.uint8]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.uint8]]]:
    """Yield indices into `guesses` and the replies to those guesses, ``(indices, codes)``."""
    digits = np.ascontiguousarray(codes.T)
    guess_digits = board.codes[guesses]
    lookup = place_of_reply(board)
    # Group guesses of the same colors: they share Σ_i min(C_i, G_i).
    colors = np.sort(guess_digits, axis=1)
    order = np.lexsort(colors.T[::-1])
    new = np.any(colors[order[1:]] != colors[order[:-1]], axis=1)
    kind = np.min_scalar_type(len(lookup) - 1)
    at_once = max(1, _BLOCK_BYTES // max(1, digits.shape[1]))
    for group in np.split(order, np.flatnonzero(new) + 1):
        if len(group) == 0:
            continue
        # (Black + white) times n + 1, so that black can be added.
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


@njit
def _masses(
    table: NDArray[np.uint8],
    guesses: NDArray[np.intp],
    codes: NDArray[np.uintp],
    weights: Floats,
    n_replies: int,
) -> Floats:
    # Process four guesses at a time: an addition waits for the previous one if both add to the
    # same reply. The sum of a guess does not depend on the other three.
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
