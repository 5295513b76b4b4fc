r"""Color elimination: the belief mass of each reply to each guess, for all guesses at once.

Vomlel, *Bayesian networks in Mastermind* (2004), closes with an open question: can the guess of
minimal expected entropy be found more efficiently than by evaluating every combination? It can.
The reply to a guess is a sum over the colors c of the guess,

.. math:: (P, S) = \sum_c (|A_c ∩ B_c|, \min(|A_c|, |B_c|)),

where A_c and B_c are the positions of the color in the guess and in the code. The algorithm sums
the colors out of the belief one after another, and guesses with a common beginning share that
work. For the guesses that use exactly the colors of a set, only the code collapsed to these colors
and "other" matters.

==========  ===============================================================
symbol      name here
==========  ===============================================================
n, k        ``board.pegs``, ``board.colors``
D           a set of exactly the d colors that a guess uses; a *lane*
P, S        black pegs; black and white pegs together
==========  ===============================================================

For a fixed number of pegs, the work is linear in the number of codes: about 300, 1300 and 4750
additions for each guess at 4x6, 5x8 and 6x9, where brute force makes one addition for each code.
With two or three colors brute force is faster; `plan_masses` chooses.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.masses.color_elimination_kernel import LANES, ColorSets, eliminate
from bnmind.mastermind.masses.color_elimination_maps import Elimination, Places, elimination
from bnmind.mastermind.reply import Reply

__all__ = [
    "elimination_additions",
    "elimination_bytes",
    "least_additions",
    "map_bytes",
    "map_entries",
    "masses_by_elimination",
]

_ADDITIONS_AT_ONCE = 300_000_000  # a tenth of a second, unless one block of sets takes longer
_MAP_BYTES = 16
"""Bytes for each addition while the index maps are built."""


@dataclass(frozen=True, eq=False)
class _Sets:
    """All sets of d colors, with the contractions that they share."""

    maps: Elimination
    blocks: ColorSets

    @property
    def n_blocks(self) -> int:
        """Number of blocks of `LANES` sets."""
        return len(self.blocks.guesses)

    @property
    def blocks_at_once(self) -> int:
        """Number of blocks in one call of compiled code, during which Ctrl-C has to wait."""
        return max(1, _ADDITIONS_AT_ONCE // (LANES * max(1, self.maps.additions)))


def _numbers_of_colors(board: Board) -> range:
    most = min(board.pegs, board.colors)
    return range(1 if board.repeats else board.pegs, most + 1)


def elimination_additions(board: Board, *, padded: bool = False) -> int:
    """Return the number of additions of one elimination, which does not depend on the belief.

    Color sets are processed in blocks of `LANES`; ``padded`` also counts the unused lanes.

    Parameters
    ----------
    board
        The board.
    padded
        Whether additions in unused lanes are counted, too.
    """
    return sum(
        elimination(board.pegs, d).additions * _lanes(board, d, padded=padded)
        for d in _numbers_of_colors(board)
    )


def least_additions(board: Board) -> int:
    """Return a lower bound of the padded additions, without building the index maps.

    The bound counts only the first contraction of each set of colors: the d-th color takes one
    of the sets of at most n − d + 1 positions, and sums over all collapsed codes.

    Parameters
    ----------
    board
        The board.
    """
    return sum(
        _first_contractions(board.pegs, d) * _lanes(board, d, padded=True)
        for d in _numbers_of_colors(board)
    )


def map_entries(board: Board) -> int:
    """Return a lower bound of the entries of the index maps, within a factor of two."""
    return sum(_first_contractions(board.pegs, d) for d in _numbers_of_colors(board))


def _lanes(board: Board, d: int, *, padded: bool) -> int:
    """Return the number of sets of d colors, or the number of lanes of their blocks."""
    sets = comb(board.colors, d)
    return -(-sets // LANES) * LANES if padded else sets


def _first_contractions(n: int, d: int) -> int:
    """Return the total number of additions of all first contractions of d colors."""
    ways = 1 if d == 1 else sum(comb(n, size) for size in range(1, n - d + 2))
    return int(ways * (d + 1) ** n)


def elimination_bytes(board: Board, *, threads: int = 1) -> int:
    """Return the memory of an elimination without its index maps, in bytes.

    Parameters
    ----------
    board
        The board.
    threads
        The number of threads, each of which has tables of its own.
    """
    n, k = board.pegs, board.colors
    numbers_of_colors = _numbers_of_colors(board)
    buffers = max((d + 1) ** n for d in numbers_of_colors) * 2 * LANES
    numbers = 3 * (k + 1) ** n + threads * buffers + board.n_codes * len(board.true_replies)
    return int(8 * numbers)


def map_bytes(board: Board) -> int:
    """Return a lower bound of the memory needed to build the index maps, in bytes."""
    return _MAP_BYTES * map_entries(board)


def masses_by_elimination(board: Board, belief: Floats, *, threads: int = 1) -> Floats:
    """Return the belief mass of each true reply to each guess.

    Parameters
    ----------
    board
        The board.
    belief
        ``(n_codes,)``, not negative.
    threads
        Number of threads. The result does not depend on it.

    Returns
    -------
    Floats
        ``(n_codes, len(board.true_replies))``. The mass of an impossible reply may be a
        rounding error of at most 1e-15 of the total.
    """
    marginals = _marginals(board, np.asarray(belief, dtype=np.float64))
    masses = np.zeros((board.n_codes, len(board.true_replies)))

    def run(sets: _Sets, begin: int, end: int) -> None:
        maps = sets.maps.contractions
        eliminate(maps, sets.blocks, marginals, board.pegs, begin, end, masses)

    if threads == 1:
        for sets in _sets(board):
            blocks, at_once = sets.n_blocks, sets.blocks_at_once
            for begin in range(0, blocks, at_once):
                run(sets, begin, min(begin + at_once, blocks))
    else:
        single = [
            (sets, block, block + 1)
            for sets in reversed(_sets(board))
            for block in range(sets.n_blocks)
        ]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda part: run(*part), single))
    return masses


def _marginals(board: Board, belief: Floats) -> Floats:
    """Return the flat belief with an additional symbol "any" before the colors of each peg."""
    n, k = board.pegs, board.colors
    if board.repeats:
        joint = belief.reshape((k,) * n)
    else:
        joint = np.zeros((k,) * n)
        joint[tuple(board.codes.T.astype(np.intp) - 1)] = belief
    for axis in range(n):
        joint = np.concatenate([joint.sum(axis=axis, keepdims=True), joint], axis=axis)
    return np.ascontiguousarray(joint).ravel()


@lru_cache(maxsize=4)
def _sets(board: Board) -> tuple[_Sets, ...]:
    """Return the sets of colors that guesses use (cached: they do not depend on the belief)."""
    return tuple(_sets_of(board, d) for d in _numbers_of_colors(board))


def _sets_of(board: Board, d: int) -> _Sets:
    n, k = board.pegs, board.colors
    maps = elimination(n, d)
    known = {reply: i for i, reply in enumerate(board.true_replies)}
    replies = zip(maps.black.tolist(), (maps.both - maps.black).tolist(), strict=True)
    # Replies that are impossible on a board with few colors have no mass and no index.
    causes = np.array([known.get(Reply.of(reply), -1) for reply in replies], dtype=np.int64)
    sets = np.array(list(combinations(range(k), d)), dtype=np.int64)
    unused = -len(sets) % LANES
    lanes = np.concatenate([sets, np.repeat(sets[:1], unused, axis=0)]).reshape(-1, LANES, d)
    place = k ** np.arange(n - 1, -1, -1)
    guesses = (lanes[..., maps.places] * place).sum(axis=-1)  # (block, lane, pattern)
    if not board.repeats:
        listed = np.full(k**n, -1, dtype=np.int64)
        listed[((board.codes - 1) * place).sum(axis=1)] = np.arange(board.n_codes)
        guesses = listed[guesses]
    guesses[-1, LANES - unused :] = -1
    symbols = np.concatenate([np.zeros((*lanes.shape[:2], 1), dtype=np.int64), lanes + 1], axis=2)
    any_place = (k + 1) ** np.arange(n - 1, -1, -1)
    half = n // 2
    blocks = ColorSets(
        high=_offsets(symbols, any_place[:half]),
        low=_offsets(symbols, any_place[half:]),
        guesses=np.ascontiguousarray(guesses.transpose(0, 2, 1)),
        causes=causes,
    )
    return _Sets(maps, blocks)


def _offsets(symbols: NDArray[np.int64], place: NDArray[np.int64]) -> Places:
    """Return the index of each word of symbols in the marginals, ``(blocks, words, lanes)``."""
    one = symbols.transpose(0, 2, 1)  # (block, symbol, lane)
    words = np.zeros((len(symbols), 1, LANES), dtype=np.int64)
    for weight in place:
        words = words[:, :, None, :] + one[:, None, :, :] * weight
        words = words.reshape(len(symbols), -1, LANES)
    return words.astype(np.uint64)
