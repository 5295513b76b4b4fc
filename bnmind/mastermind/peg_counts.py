r"""Replies without a table of all replies: one guess to all codes, and masses by brute force.

**One guess** (`split_replies`), from the two halves of each code. This takes a nanosecond for each
code, and no list of codes. Split every code of a board with repeats into its first and its second
half. With g_i pegs of color i in the guess, and h_i and l_i in the halves of the code,

.. math:: P = P_h + P_l, \qquad P + C = \sum_i \min(g_i, \min(g_i, h_i) + \min(g_i, l_i)),

so only the black pegs of a half, and its counts capped at g_i, matter: its *class*. There are few
classes, and a table over pairs of classes gives every reply. Codes in lexicographic order are all
second halves for each first half, so nothing is stored for a single code.

======  ==========================================================================
symbol  name here
======  ==========================================================================
h       ``high[i]``, the class of the first half i
l       ``low[j]``, the class of the second half j; the code is i·len(low) + j
(P, C)  ``table[h, l]``, an index into ``board.true_replies``
======  ==========================================================================

**All pairs** of a guess and a code with belief (`masses_by_pairs`). A reply is (S, P) with S = P +
C. P is a sum over the two halves of the guess, and S depends only on how often each color occurs in
the guess. Guesses therefore share most of the work. For a block of codes, each half and each
multiset of colors has one row of bytes. The replies to a guess are the sum of three rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board, digits_of

# --- The replies of all codes to one guess, from the two halves of each code ----------------------


_BLOCK = 2**16
"""Approximate number of codes in a block. The sums of the blocks are added in order, so the
result does not depend on the threads."""


@dataclass(frozen=True, eq=False)
class Halves:
    """The replies of all codes to one guess; made by `split_replies`.

    `masses` and `weighted` raise `InvalidArgumentError` if an argument does not have one entry
    for each code, or for each reply.
    """

    high: NDArray[np.uint16]
    """The class of each first half."""
    low: NDArray[np.uint16]
    """The class of each second half."""
    table: NDArray[np.uint8]
    """``(classes of first halves, classes of second halves)``, indices into ``true_replies``."""
    n_replies: int
    """Number of true replies."""

    def replies(self) -> NDArray[np.uint8]:
        """Return the true reply of each code, ``(n_codes,)``, indices into ``true_replies``."""
        return np.take(self.table[:, self.low], self.high, axis=0).reshape(-1)

    def masses(self, belief: Floats, *, threads: int = 1) -> Floats:
        """Return the belief mass of each true reply, ``(n_replies,)``.

        Parameters
        ----------
        belief
            ``(n_codes,)``.
        threads
            Number of threads. The result does not depend on it.
        """
        p = self._read_only(belief)
        rows = max(1, _BLOCK // len(self.low))
        sums = np.zeros((-(-len(self.high) // rows), self.n_replies))

        def run(start: int, stop: int) -> None:
            _add_masses(p, self.high, self.low, self.table, rows, start, stop, sums)

        _share(run, len(sums), threads)
        return np.asarray(sums.sum(axis=0), dtype=np.float64)

    def weighted(self, belief: Floats, factors: Floats, *, threads: int = 1) -> Floats:
        """Return the belief of each code times the factor of its reply, ``(n_codes,)``.

        Parameters
        ----------
        belief
            ``(n_codes,)``.
        factors
            ``(n_replies,)``.
        threads
            Number of threads.
        """
        p = self._read_only(belief)
        by_reply = np.asarray(factors, dtype=np.float64)
        if by_reply.shape != (self.n_replies,):
            raise InvalidArgumentError(
                f"expected {self.n_replies} factors, got an array of shape {by_reply.shape}",
                factors,
            )
        by_class = by_reply[self.table]
        product = np.empty(len(self.high) * len(self.low))

        def run(start: int, stop: int) -> None:
            _multiply(p, self.high, self.low, by_class, start, stop, product)

        _share(run, len(self.high), threads)
        return product

    def _read_only(self, belief: Floats) -> Floats:
        """Return a read-only view, so that kernels are compiled for one array type only."""
        n_codes = len(self.high) * len(self.low)
        view = np.ascontiguousarray(belief, dtype=np.float64).view()
        if view.shape != (n_codes,):
            raise InvalidArgumentError(
                f"expected a belief over {n_codes} codes, got an array of shape {view.shape}",
                belief,
            )
        view.setflags(write=False)
        return view


def split_replies(board: Board, guess: Sequence[int]) -> Halves:
    """Return the replies of all codes of a board with repeats to a guess.

    Parameters
    ----------
    board
        The board, with at most `MAX_CODES` codes. Memory is proportional to the square root of
        their number.
    guess
        A code of the board.

    Examples
    --------
    >>> board = Board(4, 6)
    >>> halves = split_replies(board, (1, 1, 2, 3))
    >>> board.true_replies[halves.replies()[board.index((3, 1, 1, 1))]]
    Reply(black=1, white=2)
    """
    colors = np.array(guess, dtype=np.int64)
    half = board.pegs // 2
    caps = np.bincount(colors, minlength=board.colors + 1)
    high, high_keys = _classify(board.colors, colors[:half], caps, board.pegs)
    low, low_keys = _classify(board.colors, colors[half:], caps, board.pegs)
    table = _tabulate(high_keys, low_keys, caps, board.pegs, place_of_reply(board))
    for array in (high, low, table):
        array.setflags(write=False)
    return Halves(high, low, table, len(board.true_replies))


def blocks_of(belief: Floats) -> Iterator[Floats]:
    """Yield the belief in blocks that fit the processor's cache."""
    if len(belief) <= _BLOCK:
        yield belief
        return
    for start in range(0, len(belief), _BLOCK):
        yield belief[start : start + _BLOCK]


@lru_cache(maxsize=8)
def place_of_reply(board: Board) -> NDArray[np.uint8]:
    """Return the index of each true reply, at position (black + white)·(n + 1) + black."""
    places = np.zeros((board.pegs + 1) ** 2, dtype=np.uint8)
    for place, (black, white) in enumerate(board.true_replies):
        places[(black + white) * (board.pegs + 1) + black] = place
    places.setflags(write=False)
    return places


def _share(run: Callable[[int, int], None], parts: int, threads: int) -> None:
    """Run parts 0..parts-1; each thread gets consecutive parts."""
    if threads == 1 or parts <= threads:
        run(0, parts)
        return
    run(0, 1)  # compile once, before the threads start
    bounds = [1 + (parts - 1) * thread // threads for thread in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, bounds[:-1], bounds[1:]))


@njit
def _classify(
    colors: int, guess: NDArray[np.int64], caps: NDArray[np.int64], pegs: int
) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """Return the class of each half code for this half of the guess, and the key of each class.

    The digits of the key are the number of black pegs and, for each color of the guess, its
    capped count in the half code.
    """
    weights = np.zeros(colors + 1, dtype=np.int64)
    n_keys = pegs + 1
    for color in range(colors + 1):
        if caps[color] > 0:
            weights[color] = n_keys
            n_keys *= caps[color] + 1
    n_words = colors**guess.size
    key_of = np.empty(n_words, dtype=np.int64)
    place = np.full(n_keys, -1, dtype=np.int64)
    word = np.ones(guess.size, dtype=np.int64)
    standing = np.zeros(colors + 1, dtype=np.int64)
    for index in range(n_words):
        key = 0
        for position in range(guess.size):
            color = word[position]
            if color == guess[position]:
                key += 1
            if standing[color] < caps[color]:
                standing[color] += 1
                key += weights[color]
        for position in range(guess.size):
            standing[word[position]] = 0
        key_of[index] = key
        place[key] = 0
        # The next word in lexicographic order.
        position = guess.size - 1
        while position >= 0 and word[position] == colors:
            word[position] = 1
            position -= 1
        if position >= 0:
            word[position] += 1
    keys = np.flatnonzero(place == 0)
    place[keys] = np.arange(keys.size)
    classes = np.empty(n_words, dtype=np.uint16)
    for index in range(n_words):
        classes[index] = place[key_of[index]]
    return classes, keys


@njit
def _tabulate(
    high_keys: NDArray[np.int64],
    low_keys: NDArray[np.int64],
    caps: NDArray[np.int64],
    pegs: int,
    places: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Return the reply of each pair of classes."""
    used = np.flatnonzero(caps)
    high = np.empty((high_keys.size, used.size + 1), dtype=np.int64)
    low = np.empty((low_keys.size, used.size + 1), dtype=np.int64)
    for keys, digits in ((high_keys, high), (low_keys, low)):
        for i in range(keys.size):
            rest = keys[i]
            digits[i, used.size] = rest % (pegs + 1)
            rest //= pegs + 1
            for j in range(used.size):
                radix = caps[used[j]] + 1
                digits[i, j] = rest % radix
                rest //= radix
    table = np.empty((high_keys.size, low_keys.size), dtype=np.uint8)
    for h in range(high_keys.size):
        for l in range(low_keys.size):  # noqa: E741
            both = 0
            for j in range(used.size):
                both += min(caps[used[j]], high[h, j] + low[l, j])
            black = high[h, used.size] + low[l, used.size]
            table[h, l] = places[both * (pegs + 1) + black]
    return table


@njit
def _add_masses(
    belief: Floats,
    high: NDArray[np.uint16],
    low: NDArray[np.uint16],
    table: NDArray[np.uint8],
    rows: int,
    start: int,
    stop: int,
    sums: Floats,
) -> None:
    # Four partial sums for each reply: an addition waits for the previous one if both add to
    # the same sum.
    width, n_replies = low.size, sums.shape[1]
    even = width - width % 4
    for block in range(start, stop):
        lanes = np.zeros((4, n_replies))
        lane_0, lane_1, lane_2, lane_3 = lanes[0], lanes[1], lanes[2], lanes[3]
        for i in range(block * rows, min((block + 1) * rows, high.size)):
            replies, p = table[high[i]], belief[i * width : (i + 1) * width]
            for j in range(0, even, 4):
                lane_0[replies[low[j]]] += p[j]
                lane_1[replies[low[j + 1]]] += p[j + 1]
                lane_2[replies[low[j + 2]]] += p[j + 2]
                lane_3[replies[low[j + 3]]] += p[j + 3]
            for j in range(even, width):
                lane_0[replies[low[j]]] += p[j]
        for reply in range(n_replies):
            sums[block, reply] = (lane_0[reply] + lane_1[reply]) + (lane_2[reply] + lane_3[reply])


@njit
def _multiply(
    belief: Floats,
    high: NDArray[np.uint16],
    low: NDArray[np.uint16],
    by_class: Floats,
    start: int,
    stop: int,
    product: Floats,
) -> None:
    width = low.size
    for i in range(start, stop):
        factors, p = by_class[high[i]], belief[i * width : (i + 1) * width]
        q = product[i * width : (i + 1) * width]
        for j in range(width):
            q[j] = p[j] * factors[low[j]]


# --- Brute force without a table of replies, over all pairs of a guess and a code with belief -----


_CODES = 512
"""Number of codes in a block: the rows of all halves and kinds then stay in the cache."""

_FEW_GUESSES = 2**11
"""With fewer guesses than this, a block has more codes."""

_PAIRS_AT_ONCE = 2**28
"""Pairs in one call of compiled code, a fifth of a second, during which Ctrl-C has to wait."""

_KEPT_GUESSES = 2**21
"""Up to this number of guesses, the parts of all guesses of a board are cached: 25 MB."""


def masses_by_pairs(
    board: Board, guesses: NDArray[np.intp] | None, codes: NDArray[np.intp], weights: Floats
) -> Floats:
    """Return the mass of each true reply to each guess, ``(guesses, replies)``.

    Parameters
    ----------
    board
        The board.
    guesses
        Indices of codes, ``(guesses,)``; None for all codes of the board.
    codes, weights
        The codes of positive belief, and their belief, ``(codes,)``. The sums are in this
        order, whatever the other guesses are.
    """
    n_guesses = board.n_codes if guesses is None else len(guesses)
    masses = np.zeros((n_guesses, len(board.true_replies)))
    if n_guesses == 0:
        return masses
    parts = _parts_of_all(board) if guesses is None else _parts(board, guesses)
    pair_of = np.array([(b + w) * (board.pegs + 1) + b for b, w in board.true_replies])
    half = board.pegs // 2
    at_once = _CODES * max(1, _FEW_GUESSES // n_guesses)
    at_once = max(1, min(at_once, _PAIRS_AT_ONCE // n_guesses))
    for start in range(0, len(codes), at_once):
        some = slice(start, start + at_once)
        pegs = np.ascontiguousarray(digits_of(board, codes[some]).T)
        _add_pairs(
            _matches(parts.firsts, pegs[:half]),
            _matches(parts.seconds, pegs[half:]),
            _shared(parts.kinds, pegs, board.colors),
            parts.places,
            weights[some],
            pair_of,
            masses,
        )
    return masses


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts of some guesses."""

    firsts: NDArray[np.uint8]
    """The distinct first halves."""
    seconds: NDArray[np.uint8]
    """The distinct second halves."""
    kinds: NDArray[np.uint8]
    """The distinct guesses after sorting their pegs."""
    places: NDArray[np.int32]
    """``(3, guesses)``, the indices of the first half, second half and kind of each guess."""


def _parts(board: Board, guesses: NDArray[np.intp]) -> _Parts:
    digits = digits_of(board, guesses)
    half = board.pegs // 2
    first, firsts = distinct_words(digits[:, :half], board.colors)
    second, seconds = distinct_words(digits[:, half:], board.colors)
    kind, kinds = distinct_words(np.sort(digits, axis=1), board.colors)
    return _Parts(firsts, seconds, kinds, np.stack([first, second, kind]).astype(np.int32))


def _parts_of_all(board: Board) -> _Parts:
    if board.n_codes <= _KEPT_GUESSES:
        return _kept_parts(board)
    return _parts(board, np.arange(board.n_codes))


@lru_cache(maxsize=4)
def _kept_parts(board: Board) -> _Parts:
    return _parts(board, np.arange(board.n_codes))


def distinct_words(
    words: NDArray[np.uint8], colors: int
) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Return the index of each word among the distinct words, and the distinct words."""
    radix = (colors + 1) ** np.arange(words.shape[1] - 1, -1, -1)
    _, example, place = np.unique(words @ radix, return_index=True, return_inverse=True)
    return place, np.ascontiguousarray(words[example])


@njit
def _matches(words: NDArray[np.uint8], pegs: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the number of pegs that each word and each code have in common, ``(words, codes)``."""
    counts = np.zeros((words.shape[0], pegs.shape[1]), dtype=np.uint16)
    for i in range(words.shape[0]):
        row = counts[i]
        for position in range(words.shape[1]):
            color, standing = words[i, position], pegs[position]
            for c in range(row.size):
                row[c] += standing[c] == color
    return counts


@njit
def _shared(kinds: NDArray[np.uint8], pegs: NDArray[np.uint8], colors: int) -> NDArray[np.uint16]:
    """Return (n + 1)·Σ_i min(C_i, G_i) of each sorted guess and each code."""
    n, n_codes = pegs.shape
    standing = np.zeros((colors + 1, n_codes), dtype=np.uint16)
    for position in range(n):
        for c in range(n_codes):
            standing[pegs[position, c], c] += np.uint16(1)
    shared = np.zeros((kinds.shape[0], n_codes), dtype=np.uint16)
    for i in range(kinds.shape[0]):
        row = shared[i]
        position = 0
        while position < n:
            color, count = kinds[i, position], 0
            while position < n and kinds[i, position] == color:
                position += 1
                count += 1
            cap, in_codes = np.uint16(count), standing[color]
            for c in range(n_codes):
                row[c] += min(cap, in_codes[c]) * np.uint16(n + 1)
    return shared


@njit
def _add_pairs(
    matches_first: NDArray[np.uint16],
    matches_second: NDArray[np.uint16],
    shared: NDArray[np.uint16],
    places: NDArray[np.int32],
    weights: Floats,
    pair_of: NDArray[np.int64],
    masses: Floats,
) -> None:
    # Process four guesses at a time: an addition waits for the previous one if both add to the
    # same reply.
    n_codes, n_guesses, n_replies = weights.size, masses.shape[0], pair_of.size
    pairs = np.empty((4, n_codes), dtype=np.uint16)
    pairs_0, pairs_1, pairs_2, pairs_3 = pairs[0], pairs[1], pairs[2], pairs[3]
    sums = np.empty((4, pair_of.max() + 1))
    sums_0, sums_1, sums_2, sums_3 = sums[0], sums[1], sums[2], sums[3]
    for start in range(0, n_guesses, 4):
        for lane in range(4):
            # If the last group has fewer than four guesses, repeat the last one.
            guess, row = min(start + lane, n_guesses - 1), pairs[lane]
            first = matches_first[places[0, guess]]
            second = matches_second[places[1, guess]]
            kind = shared[places[2, guess]]
            for c in range(n_codes):
                row[c] = first[c] + second[c] + kind[c]
            for reply in range(n_replies):
                sums[lane, pair_of[reply]] = masses[guess, reply]
        for c in range(n_codes):
            weight = weights[c]
            sums_0[pairs_0[c]] += weight
            sums_1[pairs_1[c]] += weight
            sums_2[pairs_2[c]] += weight
            sums_3[pairs_3[c]] += weight
        for lane in range(4):
            guess = min(start + lane, n_guesses - 1)
            for reply in range(n_replies):
                masses[guess, reply] = sums[lane, pair_of[reply]]
