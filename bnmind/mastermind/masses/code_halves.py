r"""The replies of all codes to one guess, from the two halves of each code.

This takes a nanosecond for each code, and no list of codes. Split every code of a board with
repeats into its first and its second half. With g_i pegs of color i in the guess, and h_i and l_i
in the halves of the code,

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
from bnmind.mastermind.board import Board

__all__ = ["Halves", "blocks_of", "place_of_reply", "split_replies"]

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
