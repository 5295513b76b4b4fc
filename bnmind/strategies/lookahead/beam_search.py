"""Beam search: look further ahead than one guess, where the optimum cannot be computed.

============  ================================================================
sets          search
============  ================================================================
large sets    try the guesses with the best estimates, search the sets that
              they leave in the same way, down to endgames, and keep the
              smallest total; symmetry leaves few first and second guesses
other sets    are endgames (`endgame`): search with few candidate guesses while
              guesses of large sets are chosen, and finally with more
              candidates for the guesses that were chosen
============  ================================================================

References
----------
K. Koyama and T. W. Lai, An optimal Mastermind strategy, Journal of Recreational Mathematics
25 (1993) 251-256, search in this way with all guesses. Beam search tries only the guesses with the
best heuristic values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Count, Probability, Value
from bnmind.errors import TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import replies_of
from bnmind.strategies.kernels.estimate_kernel import UNWANTED
from bnmind.strategies.kernels.reply_arrays import board_arrays
from bnmind.strategies.lookahead.endgame import (
    Breadth,
    Endgame,
    estimate_all,
    set_estimates,
)
from bnmind.strategies.optimal.search_arrays import MOST_REPLIES
from bnmind.strategies.trees.myopic_tree import MAX_TREE_CODES, is_growable, smallest_guesses
from bnmind.strategies.trees.planned_strategy import Planned, Planner
from bnmind.strategies.trees.tree import StrategyTree, TreeNode

__all__ = ["Deeper", "deeper", "deeper_still"]

Codes = NDArray[np.int32]
History = tuple[int, ...]

_ENDLESS = 1 << 40  # larger than any total


@dataclass(frozen=True)
class Deeper(Planner, Value):
    """The settings of a beam search. Call the object with a board to run the search.

    Examples
    --------
    >>> Deeper()(Board(4, 6)).total
    5627.0
    """

    firsts: Count = 2
    """The number of first guesses to try."""
    seconds: Count = 10
    """The number of guesses to try for each later set that is not an endgame."""
    choosing: Breadth = field(default_factory=lambda: Breadth(256, 6, 20_000))
    """The search of endgames while guesses are chosen."""
    playing: Breadth = field(default_factory=lambda: Breadth(4096, 60))
    """The search of the endgames of the chosen guesses."""
    endgame: Count = 2048
    """After two guesses, sets of at most this number of codes are endgames."""
    share: Probability = 15 / 16
    """A guess is abandoned if the classes not yet searched would have to take less than this
    share of their estimate; 0 abandons no guess that could be better."""

    def __call__(
        self, board: Board, *, progress: Callable[[int, int], None] | None = None
    ) -> StrategyTree:
        """Run the search and return the strategy.

        Parameters
        ----------
        board
            The board.
        progress
            Called from time to time with the number of codes evaluated so far and the total
            number. Each code counts once for each first guess, and once for the best one.

        Raises
        ------
        TooLargeError
            If the board is too large, or an endgame needs too much work.
        """
        n_replies = len(board.true_replies)
        if not is_growable(board) or n_replies > MOST_REPLIES:
            raise TooLargeError(
                f"expected a board of at most {MAX_TREE_CODES:,} codes and {MOST_REPLIES} "
                f"replies, got {board} with {board.n_codes:,} codes and {n_replies} replies",
                needed=board.n_codes,
                budget=MAX_TREE_CODES,
            )
        search = _Search(board, self, progress)
        every = np.arange(board.n_codes, dtype=np.int32)
        plan = search.plan(every, ())
        return StrategyTree(Channel.exact(board), search.node(plan, every, -1))


def deeper(settings: Deeper | None = None) -> Planned:
    """Return the strategy that plays the result of a beam search.

    Parameters
    ----------
    settings
        The settings of the search; the default ones if None.
    """
    return Planned("deeper", Deeper() if settings is None else settings)


def deeper_still() -> Planned:
    """Return a slightly better strategy than `deeper`, which takes several times as long to find.

    Its name at the command line is ``bnmind.strategies:deeper_still``.
    """
    choosing, playing = Breadth(1024, 12, 20_000), Breadth(16_384, 100, 1_000_000)
    return Planned("deeper still", Deeper(seconds=20, choosing=choosing, playing=playing))


@dataclass(frozen=True)
class _Plan:
    total: int
    """The number of guesses that it takes."""
    guess: int
    """The next guess, −1 for an endgame."""
    below: dict[int, _Plan]


class _Search:
    def __init__(
        self, board: Board, settings: Deeper, progress: Callable[[int, int], None] | None
    ) -> None:
        self._board, self._settings = board, settings
        self._progress, self._judged, self._to_judge = progress, 0, 0
        self._arrays, self._estimates = board_arrays(board), set_estimates(board)
        self._winning = len(board.true_replies) - 1

    def plan(self, codes: Codes, guesses: History) -> _Plan:
        """Return the plan for a set after some guesses."""
        settings, n = self._settings, codes.size
        if n < 3:
            return _Plan(2 * n - 1, -1, {})
        if n <= settings.endgame and len(guesses) > 1:
            return _Plan(self._endgame(codes, settings.choosing).total, -1, {})
        best = _Plan(_ENDLESS, -1, {})
        promising = self._promising(codes, guesses)
        if not guesses:
            self._to_judge = (len(promising) + 1) * n
        for number, guess in enumerate(promising, start=1):
            below = self._below((*guesses, guess), codes, best.total)
            if not guesses:
                # An abandoned guess has no classes left to evaluate.
                self._tell(number * n - self._judged)
            total = n + sum(plan.total for plan in below.values())
            if below and total < best.total:
                best = _Plan(total, guess, below)
        return best

    def _below(self, guesses: History, codes: Codes, limit: int) -> dict[int, _Plan]:
        """Return the plan after each reply to the last guess, or None if the guess is abandoned."""
        guess, promised = guesses[-1], self._estimates
        classes = self._classes(guess, codes)
        total, rest = codes.size, sum(int(promised[members.size]) for members in classes.values())
        below: dict[int, _Plan] = {}
        for place, members in sorted(classes.items(), key=lambda item: -item[1].size):
            if place == self._winning:
                continue
            if total + self._settings.share * rest / 1000 >= limit:
                return {}
            below[place] = self.plan(members, guesses)
            total += below[place].total
            rest -= int(promised[members.size])
            if len(guesses) == 1:
                self._tell(members.size)
        return below

    def _promising(self, codes: Codes, guesses: History) -> list[int]:
        """Return the guesses to try for a set, best first."""
        settings, board, arrays = self._settings, self._board, self._arrays
        candidates = np.zeros(0, dtype=np.int32)
        if len(guesses) < 2:
            candidates = smallest_guesses(board, tuple(board.code(guess) for guess in guesses))
        if not candidates.size:
            candidates = np.arange(board.n_codes, dtype=np.int32)
        used = np.bitwise_or.reduce(arrays.colors_of[list(guesses)], initial=np.uint64(0))
        free = np.uint64(arrays.all_colors & ~used)
        sums = estimate_all(arrays, codes, candidates, free=free, estimates=self._estimates)
        order = np.argsort(sums, kind="stable")[: settings.seconds if guesses else settings.firsts]
        return [int(guess) for guess in candidates[order[sums[order] < UNWANTED]]]

    def _tell(self, judged: int) -> None:
        """Report the progress."""
        self._judged += judged
        if self._progress is not None:
            self._progress(self._judged, self._to_judge)

    def _endgame(self, codes: Codes, breadth: Breadth) -> Endgame:
        return Endgame(self._board, codes, breadth)

    def _classes(self, guess: int, codes: Codes) -> dict[int, Codes]:
        replies = replies_of(self._board, guess)[codes]
        return {place: codes[replies == place] for place in np.unique(replies).tolist()}

    def node(self, plan: _Plan, codes: Codes, before: int) -> TreeNode:
        """Return a plan as a tree; endgames are searched with the setting `playing`."""
        n, guess = codes.size, plan.guess
        if n == 1:
            self._tell(1)
            return TreeNode(
                weight=1.0,
                entropy=0.0,
                possible=1,
                found=int(codes[0]) == before,
                guess=None,
                children=(),
            )
        if guess < 0:
            tree = self._endgame(codes, self._settings.playing).tree()
            self._tell(n)
            return tree
        children = tuple(
            (place, self.node(plan.below.get(place, plan), members, guess))
            for place, members in self._classes(guess, codes).items()
        )
        return TreeNode(
            weight=float(n),
            entropy=math.log2(n),
            possible=n,
            found=False,
            guess=guess,
            children=children,
        )
