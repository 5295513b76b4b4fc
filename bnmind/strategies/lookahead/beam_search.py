"""Deeper than one guess ahead, on boards whose optimum is out of reach.

============  ================================================================
sets          what is done
============  ================================================================
large ones    the guesses that promise most are tried in turn: what they leave
              is searched the same way, down to endgames, and the least total
              counts. Symmetry leaves few first and second guesses to look at
the others    are endgames (`endgame`): first with few guesses looked at, to
              choose among large sets' guesses; in the end, for the guesses
              that were chosen, with more
============  ================================================================

References
----------
K. Koyama and T. W. Lai, An optimal Mastermind strategy, Journal of Recreational Mathematics
25 (1993) 251-256, search so with all guesses. Trying only those of the best heuristic values
is beam search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import BnmindError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import replies_to
from bnmind.strategies.kernels.estimate_kernel import UNWANTED
from bnmind.strategies.kernels.reply_arrays import board_arrays
from bnmind.strategies.lookahead.endgame import (
    Breadth,
    Endgame,
    estimate_all,
    require_positive,
    set_estimates,
)
from bnmind.strategies.optimal.search_arrays import MOST_REPLIES
from bnmind.strategies.trees.myopic_tree import MAX_TREE_CODES, is_growable, smallest_guesses
from bnmind.strategies.trees.planned_strategy import Planned, Planner
from bnmind.strategies.trees.tree import StrategyTree, TreeNode

__all__ = ["Deeper", "deeper", "deeper_still"]

Codes = NDArray[np.int32]
History = tuple[int, ...]

_ENDLESS = 1 << 40  # more than any total


@dataclass(frozen=True)
class Deeper(Planner):
    """How a strategy is looked for; called with a board, it is found.

    Examples
    --------
    >>> Deeper()(Board(4, 6)).total
    5627.0
    """

    firsts: int = 2
    """So many first guesses are tried."""
    seconds: int = 10
    """So many guesses are tried for each set after them that is no endgame."""
    choosing: Breadth = field(default_factory=lambda: Breadth(256, 6, 20_000))
    """How endgames are searched to choose among these."""
    playing: Breadth = field(default_factory=lambda: Breadth(4096, 60))
    """How the endgames are searched that are played."""
    endgame: int = 2048
    """After two guesses, sets of so many codes at most are endgames."""
    share: float = 15 / 16
    """A guess is given up when the classes not yet searched would have to take less than this
    share of what they promise; 0 gives up nothing that could be better."""

    def __post_init__(self) -> None:
        """Refuse what is not positive, and a share that is none."""
        require_positive(firsts=self.firsts, seconds=self.seconds, endgame=self.endgame)
        if not 0 <= self.share <= 1:
            raise BnmindError(f"expected a share from 0 to 1, got {self.share}")

    def __call__(
        self, board: Board, *, progress: Callable[[int, int], None] | None = None
    ) -> StrategyTree:
        """Return the strategy found.

        Parameters
        ----------
        board
            The board.
        progress
            Called now and then with the number of codes judged so far, once for each of the
            first guesses tried and once for the best, and of codes to judge.

        Raises
        ------
        TooLargeError
            If the board is too large, or an endgame takes too much work.
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
    """Return a strategy that looks deeper than one guess ahead, as a player."""
    return Planned("deeper", Deeper() if settings is None else settings)


def deeper_still() -> Planned:
    """Return such a strategy that takes several times as long to find, and is a little better.

    At the command line it is ``bnmind.strategies:deeper_still``.
    """
    choosing, playing = Breadth(1024, 12, 20_000), Breadth(16_384, 100, 1_000_000)
    return Planned("deeper still", Deeper(seconds=20, choosing=choosing, playing=playing))


@dataclass(frozen=True)
class _Plan:
    total: int
    """How many guesses it takes."""
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
        """Return how to go on with a set after some guesses."""
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
                # A guess that is given up has no classes left to judge.
                self._tell(number * n - self._judged)
            total = n + sum(plan.total for plan in below.values())
            if below and total < best.total:
                best = _Plan(total, guess, below)
        return best

    def _below(self, guesses: History, codes: Codes, limit: int) -> dict[int, _Plan]:
        """Return how to go on after each reply to the last guess; nothing if it is given up."""
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
        """Say that some more codes are judged."""
        self._judged += judged
        if self._progress is not None:
            self._progress(self._judged, self._to_judge)

    def _endgame(self, codes: Codes, breadth: Breadth) -> Endgame:
        return Endgame(self._board, codes, breadth)

    def _classes(self, guess: int, codes: Codes) -> dict[int, Codes]:
        replies = replies_to(self._board, self._board.code(guess))[codes]
        return {place: codes[replies == place] for place in np.unique(replies).tolist()}

    def node(self, plan: _Plan, codes: Codes, before: int) -> TreeNode:
        """Return a plan as a tree, its endgames searched as they are played."""
        n, guess = codes.size, plan.guess
        if n == 1:
            self._tell(1)
            return TreeNode(1.0, 0.0, 1, int(codes[0]) == before, None, ())
        if guess < 0:
            tree = self._endgame(codes, self._settings.playing).tree()
            self._tell(n)
            return tree
        children = tuple(
            (place, self.node(plan.below.get(place, plan), members, guess))
            for place, members in self._classes(guess, codes).items()
        )
        return TreeNode(float(n), math.log2(n), n, False, guess, children)
