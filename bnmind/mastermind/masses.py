"""Replies to one guess, the table of all replies, and the belief masses of replies to all guesses.

Replies are stored as bytes, their indices in ``board.true_replies``. A byte suffices, since a
board with more than 255 true replies has more than 2²⁹ codes.

A reply has two parts. Black pegs are counted position by position. Black and white pegs
together are Σ_i min(C_i, G_i), which depends only on how often each color occurs in the guess,
so guesses of the same colors share this part.

`plan_masses` chooses the cheapest of three algorithms, which give the same numbers. Brute force
sums over the codes of positive belief, one guess at a time; it is best when few codes are left.
Representatives apply brute force to one guess of each equivalence class; this pays at the first and
the second guess, where symmetry is large. Color elimination has the same cost whatever the belief.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from os import cpu_count
from sys import float_info

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked, number_array, whole_array
from bnmind._jit import njit
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.board import Board, Turn, require_believable
from bnmind.mastermind.color_elimination import (
    elimination_additions,
    elimination_bytes,
    least_additions,
    map_bytes,
    map_entries,
    masses_by_elimination,
)
from bnmind.mastermind.peg_counts import blocks_of, masses_by_pairs, place_of_reply, split_replies
from bnmind.mastermind.symmetry import GuessClasses, guess_classes

# --- Replies to one guess, the table of all replies, and the belief masses of replies -------------


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
_PARALLEL_CODES = 2**24  # from this number of codes on, two threads are faster


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
    return 2 if board.n_codes >= _PARALLEL_CODES and (cpu_count() or 1) > 1 else 1


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


# --- Plans for the reply masses of all guesses: the cheapest of three algorithms ------------------


MAX_BYTES = 2**32
"""The largest memory of an elimination, in bytes."""

_SECONDS = {
    "table": 0.6e-9,
    "no table": 0.65e-9,
    "no table guess": 5e-8,
    "map entry": 2.5e-7,
    "elimination": 0.18e-9,
    "plain": 3e-9,
    "plain guess": 3e-5,
}
"""Approximate seconds for one operation, or for one guess without compiled code."""

_START = 1e-4
"""Minimal seconds of an elimination."""

_LOADING = 0.8
"""Seconds for a new process to load compiled code."""

_MOST_OPERATIONS = 2**34
"""The largest number of operations, a minute or two, unless the caller forces a method."""

_TABLE_CODES = 2**11
"""Up to this number of codes, a table of all replies is used."""

_PARALLEL_OPERATIONS = 10**8
"""From this number of additions on, an elimination uses two threads."""


class Method(Enum):
    """An algorithm for the masses."""

    BRUTE_FORCE = "brute force over the codes that have belief"
    REPRESENTATIVES = "brute force for one guess of each kind"
    ELIMINATION = "color elimination"


@dataclass(frozen=True)
class Way:
    """A method that the planner considered, and its cost."""

    method: Method
    compiled: bool
    """Whether the method uses compiled code."""
    operations: int
    """Number of additions."""
    seconds: float
    """Approximate duration."""

    def __str__(self) -> str:
        plain = "" if self.compiled else ", not compiled"
        return (
            f"{self.method.value}{plain}: {counted(self.operations, 'operation')}, about"
            f" {1e3 * self.seconds:.2g} ms"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class MassPlan(Value):
    """The method for the masses and its cost; made by `plan_masses`."""

    board: Board
    """The board."""
    way: Way
    """The method chosen."""
    guesses: NDArray[np.intp]
    """The guesses whose masses are computed, indices of codes, ascending."""
    sizes: NDArray[np.intp]
    """The number of guesses that each of them represents."""
    survivors: int
    """Number of codes of positive belief."""
    considered: tuple[Way, ...]
    """All methods that the planner considered."""

    def __str__(self) -> str:
        lines = [f"{len(self.guesses):,} guesses, {counted(self.survivors, 'code')} with belief"]
        return "\n".join(lines + [f"{'*' if w == self.way else ' '} {w}" for w in self.considered])

    @property
    def method(self) -> Method:
        """The method chosen."""
        return self.way.method

    @property
    def operations(self) -> int:
        """The planned number of additions."""
        return self.way.operations

    @property
    def actual_operations(self) -> int:
        """The actual number of additions: an elimination also fills unused lanes."""
        if self.method is Method.ELIMINATION:
            return elimination_additions(self.board, padded=True)
        return self.operations

    def run(self, belief: Floats) -> Floats:
        """Return the belief mass of each true reply to each guess of the plan.

        Parameters
        ----------
        belief
            ``(n_codes,)``, not negative; the belief that the plan was made for.
        """
        if not self.way.compiled:
            return _plain_masses(self.board, belief, self.guesses)
        if self.method is not Method.ELIMINATION:
            return reply_masses(self.board, belief, self.guesses)
        threads = 2 if self.operations >= _PARALLEL_OPERATIONS and (os.cpu_count() or 1) > 1 else 1
        return masses_by_elimination(self.board, belief, threads=threads)


@checked
def plan_masses(
    board: Board,
    belief: Floats,
    *,
    history: Sequence[Turn] = (),
    method: Method | None = None,
    once: bool = False,
    every_guess: bool = False,
) -> MassPlan:
    """Return the cheapest way to compute the masses of all guesses.

    Parameters
    ----------
    board
        The board.
    belief
        ``(n_codes,)``, not negative.
    history
        The turns so far. Representatives are possible for at most one turn, and only if the
        belief depends on nothing but its reply. The function checks this, so any prior is safe.
    method
        Force this method.
    once
        Whether the process has no other use for compiled code and index maps. The cost then
        includes the time to load and to build them, and small tasks avoid them.
    every_guess
        Whether to return all guesses rather than representatives of equivalent guesses.

    Raises
    ------
    TooLargeError
        If no method fits the limits, or the forced one does not; the error says what would be
        needed.

    Examples
    --------
    >>> uniform = np.full(1296, 1 / 1296)
    >>> plan = plan_masses(Board(4, 6), uniform)
    >>> plan.method.name, plan.guesses.tolist(), plan.sizes.tolist()
    ('REPRESENTATIVES', [0, 1, 7, 8, 51], [6, 120, 90, 720, 360])
    """
    belief = number_array(belief, "the belief")
    survivors = int(np.count_nonzero(belief))
    classes = None if every_guess else _classes(board, belief, history)
    ways = _brute_force(board, Method.BRUTE_FORCE, board.n_codes, survivors, once)
    if classes is not None:
        n_guesses = len(classes.representatives)
        ways += _brute_force(board, Method.REPRESENTATIVES, n_guesses, survivors, once)
    needed = elimination_bytes(board, threads=2) + map_bytes(board)
    # Index maps are not built where brute force is known to be faster without them.
    is_worthwhile = method is Method.ELIMINATION or (
        min(way.seconds for way in ways)
        > _elimination_seconds(board, least_additions(board), once=once)
    )
    # The exact number of additions needs the index maps, which take half a minute at seven pegs.
    least = least_additions(board) * (board.pegs if board.repeats else 1)
    fits = method is Method.ELIMINATION or least <= _MOST_OPERATIONS
    if needed <= MAX_BYTES and is_worthwhile and fits:
        padded = elimination_additions(board, padded=True)
        seconds = _elimination_seconds(board, padded, once=once)
        ways.append(Way(Method.ELIMINATION, True, elimination_additions(board), seconds))
    possible = [
        way
        for way in ways
        if way.method is method or (method is None and way.operations <= _MOST_OPERATIONS)
    ]
    if not possible:
        raise _too_large(board, needed, board.n_codes * survivors)
    way = min(possible, key=lambda one: one.seconds)
    if way.method is Method.REPRESENTATIVES and classes is not None:
        guesses, sizes = classes.representatives, classes.sizes
    else:
        guesses, sizes = np.arange(board.n_codes), np.ones(board.n_codes, dtype=np.intp)
    return MassPlan(
        board=board,
        way=way,
        guesses=guesses,
        sizes=sizes,
        survivors=survivors,
        considered=tuple(ways),
    )


def _too_large(board: Board, needed: int, pairs: int) -> TooLargeError:
    """Return the error for a board whose guesses no method can evaluate."""
    is_memory = needed > MAX_BYTES
    elimination = (
        f"{needed / 1e9:,.1f} GB of at most {MAX_BYTES / 1e9:.1f} GB"
        if is_memory
        else f"more than {_MOST_OPERATIONS:,} additions"
    )
    return TooLargeError(
        f"the board {board} is too large to evaluate all guesses: color elimination would need"
        f" {elimination}, and brute force {pairs:,} of at most {_MOST_OPERATIONS:,} pairs of guess"
        " and code; use a strategy with samples, such as entropy-sampled, or evaluate guesses when"
        " fewer codes are left",
        needed=needed if is_memory else pairs,
        budget=MAX_BYTES if is_memory else _MOST_OPERATIONS,
    )


def _elimination_seconds(board: Board, padded_additions: int, *, once: bool) -> float:
    """Return the approximate seconds of an elimination; unused lanes cost as much as used ones.

    With `once`, they include the time to build the index maps.
    """
    before = _LOADING + map_entries(board) * _SECONDS["map entry"] if once else 0.0
    return padded_additions * _SECONDS["elimination"] + _START + before


def _brute_force(
    board: Board, method: Method, n_guesses: int, survivors: int, once: bool
) -> list[Way]:
    operations = n_guesses * survivors
    if board.n_codes <= _TABLE_CODES:
        seconds = operations * _SECONDS["table"]
    else:
        seconds = operations * _SECONDS["no table"] + n_guesses * _SECONDS["no table guess"]
    ways = [Way(method, True, operations, seconds + once * _LOADING)]
    if once:
        plain = seconds + n_guesses * _SECONDS["plain guess"] + operations * _SECONDS["plain"]
        ways.append(Way(method, False, operations, plain))
    return ways


def _plain_masses(board: Board, belief: Floats, guesses: NDArray[np.intp]) -> Floats:
    """Return the masses of some guesses, computed with NumPy only."""
    n_replies = len(board.true_replies)
    codes = np.flatnonzero(belief)
    weights = belief[codes]
    masses = np.empty((len(guesses), n_replies))
    for row, replies in zip(masses, reply_rows(board, guesses), strict=True):
        row[:] = np.bincount(replies[codes], weights=weights, minlength=n_replies)
    return masses


def _classes(board: Board, belief: Floats, history: Sequence[Turn]) -> GuessClasses | None:
    """Return the classes of equivalent guesses, or None if the belief is not symmetric."""
    if len(history) > 1:
        return None
    guesses = [turn.guess for turn in history]
    kinds = replies_to(board, guesses[0]) if guesses else np.zeros(board.n_codes, dtype=np.uint8)
    # Permutations that fix the previous guess also fix each code's reply to it. A belief that
    # depends only on this reply is therefore invariant. (The guessed code, which may be excluded,
    # is the only code of its reply.)
    for kind in range(int(kinds.max()) + 1):
        cell = belief[kinds == kind]
        if len(cell) and cell.min() != cell.max():
            return None
    return _guess_classes(board, tuple(guesses))


@lru_cache(maxsize=16)
def _guess_classes(board: Board, guesses: tuple[tuple[int, ...], ...]) -> GuessClasses | None:
    """Return the classes of equivalent guesses (cached), or None if the search takes too long."""
    try:
        return guess_classes(board, guesses)
    except TooLargeError:
        return None
