"""Endgames: good strategies for sets of up to a few thousand codes, on boards of any size.

An endgame is a game of its own: the codes of the set, and the guesses with the best estimates. The
branch and bound of `bnmind.strategies.optimal` searches this game, but tries only some guesses for
each set, those with the best estimates first. With all guesses in the game, and all of them tried,
the strategy is optimal.

The estimate of a guess is the sum of the estimates of its classes (`set_estimates`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Count, Value
from bnmind.errors import TooLargeError
from bnmind.mastermind.board import Board
from bnmind.strategies.base.game_rules import Goal
from bnmind.strategies.kernels.estimate_kernel import UNWANTED, estimate_guesses, replies_of_guesses
from bnmind.strategies.kernels.reply_arrays import BoardArrays, board_arrays
from bnmind.strategies.optimal.board_search import require_set
from bnmind.strategies.optimal.bounds import capacities, lower_bounds
from bnmind.strategies.optimal.search_arrays import (
    INFINITE,
    LANE,
    MOST_REPLIES,
    Game,
    Memo,
    Task,
    Work,
    make_memo,
    make_work,
    no_symmetry,
    random_words,
)
from bnmind.strategies.optimal.search_frames import N_TRIED
from bnmind.strategies.optimal.search_run import search
from bnmind.strategies.optimal.transposition_table import BOUNDED, find
from bnmind.strategies.trees.tree import TreeNode

__all__ = ["Breadth", "Endgame", "estimate_all", "set_estimates"]

_PAIRS_AT_ONCE = 2**27  # pairs of guess and code: a tenth of a second

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Breadth(Value):
    """The numbers of guesses to evaluate in an endgame."""

    pool: Count
    """The number of guesses in the game, in addition to the codes of the set."""
    tried: Count
    """The largest number of guesses to try for each set that occurs."""
    budget: Count = 200_000
    """The largest number of guesses to try in total. If it is exceeded, the search restarts with
    half as many guesses for each set."""


@lru_cache(maxsize=8)
def set_estimates(board: Board) -> NDArray[np.int64]:
    r"""Return the estimated total of sets by size, in thousandths; used only to order guesses.

    .. math:: n \left(1.22 + \frac{7}{6} \frac{\log n}{\log r}\right)

    for n > 1, where r is the number of replies. At 5x8 this is within 3 % of the average total of
    sets of 2 to 1000 codes under the entropy strategy.

    Parameters
    ----------
    board
        The board.
    """
    sizes = np.arange(board.n_codes + 1)
    logs = np.log(np.maximum(sizes, 1)) / math.log(len(board.true_replies))
    totals = np.where(sizes > 1, sizes * (1.22 + 7 / 6 * logs), sizes)
    # Rounded to thousandths, so the last digit of a logarithm does not matter.
    estimates = np.asarray(np.rint(1000 * totals), dtype=np.int64)
    estimates.setflags(write=False)
    return estimates


class Endgame:
    """The result of the search of one set of codes.

    Parameters
    ----------
    board
        The board.
    codes
        The indices of the codes among those of the board, ascending.
    breadth
        How many guesses the search tries for each set of codes.

    Raises
    ------
    InvalidArgumentError
        If the set is empty, or its codes are not ascending.
        If one is not the index of a code of the board.
    TooLargeError
        If the search exceeds the budget even with one guess for each set, or the board has more
        than `MOST_REPLIES` replies.
    """

    def __init__(self, board: Board, codes: Codes, breadth: Breadth) -> None:
        self.board, self.breadth = board, breadth
        codes = require_set(board, codes).astype(np.int32)
        n, n_replies = codes.size, len(board.true_replies)
        if n_replies > MOST_REPLIES:
            raise TooLargeError(
                f"expected a board of at most {MOST_REPLIES} replies, got {board} with {n_replies}",
                needed=n_replies,
                budget=MOST_REPLIES,
            )
        arrays, estimates = board_arrays(board), set_estimates(board)
        self._guesses = _pool(board, codes, breadth.pool)
        n_planes = -(-n_replies // LANE)
        places, planes = replies_of_guesses(arrays, codes, self._guesses, n_planes)
        places.setflags(write=False)  # as in `make_game`
        bounds = lower_bounds(board.n_codes, n_replies, Goal.REVEALING)
        tables = np.empty((3, n + 1), dtype=np.int64)
        tables[0], tables[1], tables[2] = bounds[: n + 1], estimates[: n + 1], breadth.tried
        own = np.searchsorted(self._guesses, codes).astype(np.int64)
        room = capacities(n, n_replies, Goal.REVEALING)
        keys = random_words(board.n_codes)[:n]
        winning = n_replies - 1
        self._game = Game(places, planes, own, keys, tables, room, winning, 1, False)
        while True:
            self._memo: Memo = make_memo(max(8, min(18, n.bit_length() + 6)))
            self._work: Work = make_work(self._game, breadth.budget)
            self.total = self._search(np.arange(n))
            """The number of guesses to find each code once."""
            if self.total:
                break
            tables[2] //= 2

    def tree(self) -> TreeNode:
        """Return the strategy from this set on."""
        return self._node(np.arange(self._game.own.size), -1)

    def _node(self, codes: NDArray[np.intp], before: int) -> TreeNode:
        n = len(codes)
        if n == 1:
            return TreeNode(
                weight=1.0,
                entropy=0.0,
                possible=1,
                found=bool(self._game.own[codes[0]] == before),
                guess=None,
                children=(),
            )
        guess = self._guess(codes)
        replies = self._game.places[guess, codes]
        children = tuple(
            (place, self._node(codes[replies == place], guess))
            for place in np.unique(replies).tolist()
        )
        return TreeNode(
            weight=float(n),
            entropy=math.log2(n),
            possible=n,
            found=False,
            guess=int(self._guesses[guess]),
            children=children,
        )

    def _guess(self, codes: NDArray[np.intp]) -> int:
        """Return the guess for a set that occurs in the strategy."""
        own, places = self._game.own[codes], self._game.places
        if len(codes) < 4:
            # The search does not store such small sets. A guess of the set separates all codes, or
            # one of three from the other two.
            for guess in own.tolist():
                if len(np.unique(places[guess, codes])) == len(codes):
                    return int(guess)
            return int(own[0])
        key, check = np.bitwise_xor.reduce(self._game.keys[codes], axis=0)
        entry = find(self._memo, key, check)
        if entry < 0 or self._memo.values[entry, 1] == BOUNDED:
            self._work.counts[N_TRIED] = 0
            self._search(codes)  # the entry was overwritten
            entry = find(self._memo, key, check)
        return int(self._memo.values[entry, 1])

    def _search(self, codes: NDArray[np.intp]) -> int:
        """Return the total of a set, or 0 if the search must restart with fewer guesses."""
        unused = np.zeros(0, dtype=np.int64)
        total = search(
            self._game,
            no_symmetry(),
            self._memo,
            self._work,
            Task(np.asarray(codes, dtype=np.int64), unused, INFINITE, INFINITE),
        )
        if total > 0:
            return int(total)
        if self._game.tables[2, -1] > 1:
            return 0
        budget, deepest = self.breadth.budget, len(self._work.frames) - 2
        raise TooLargeError(
            f"an endgame of {self.board} needs more than {budget:,} guesses tried, or a strategy "
            f"of more than {deepest} guesses",
            needed=budget + 1,
            budget=budget,
        )


def estimate_all(
    board: BoardArrays,
    codes: Codes,
    candidates: Codes,
    *,
    free: np.uint64,
    estimates: NDArray[Any],
) -> NDArray[np.int64]:
    """Return the result of `estimate_guesses`, computed in parts so that Ctrl-C works.

    Parameters
    ----------
    board
        The board as arrays.
    codes
        ``(codes,)``, the indices of the possible codes.
    candidates
        ``(candidates,)``, the indices of the guesses to compare.
    free
        The bits of the colors that no guess has named.
    estimates
        The estimated total of a set, by its size.
    """
    at_once = max(1, _PAIRS_AT_ONCE // len(codes))
    parts = [
        estimate_guesses(board, codes, candidates[start : start + at_once], free, estimates)
        for start in range(0, len(candidates), at_once)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _pool(board: Board, codes: Codes, wanted: int) -> Codes:
    """Return the guesses of a game, ascending: those of the best estimates, and the set's codes."""
    # A color that is interchangeable before the next guess is not after it.
    arrays, every = board_arrays(board), np.arange(board.n_codes, dtype=np.int32)
    sums = estimate_all(arrays, codes, every, free=np.uint64(0), estimates=set_estimates(board))
    useful = np.flatnonzero(sums < UNWANTED)
    if len(useful) > wanted:
        last = np.partition(sums[useful], wanted - 1)[wanted - 1]
        # Among guesses as good as the last one, take the smallest.
        better, tied = useful[sums[useful] < last], useful[sums[useful] == last]
        useful = np.concatenate([better, tied[: wanted - len(better)]])
    is_in = np.zeros(board.n_codes, dtype=bool)
    is_in[useful] = is_in[codes] = True
    return np.flatnonzero(is_in).astype(np.int32)
