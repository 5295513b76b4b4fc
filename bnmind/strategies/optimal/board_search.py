"""Smallest totals of sets of codes, and their guesses, by branch and bound.

This module sets up the search for a board; `search_kernel` describes the algorithm.

References
----------
K. Koyama and T. W. Lai, An optimal Mastermind strategy, Journal of Recreational Mathematics
25 (1993) 251–256: 5625 at 4x6, and 5626 with at most five guesses. G. Ville, An optimal
Mastermind (4,7) strategy and more results in the expected case, arXiv:1305.1010 (2013): depth
first, with guesses of each kind and bounds by the number of replies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Count, Natural, Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import replies_of, reply_table
from bnmind.strategies.base.game_rules import Goal
from bnmind.strategies.optimal.search_arrays import (
    INFINITE,
    MOST_REPLIES,
    Game,
    Memo,
    Symmetry,
    Task,
    Work,
    make_game,
    make_memo,
    make_symmetry,
    make_work,
    memo_bits,
    no_symmetry,
)
from bnmind.strategies.optimal.search_frames import N_ORDER, N_SETS, N_TRIED, NEXT
from bnmind.strategies.optimal.search_run import search
from bnmind.strategies.optimal.transposition_table import find
from bnmind.strategies.players.myopic import Among
from bnmind.strategies.trees.tree import Path, StrategyTree, grow_tree

__all__ = [
    "MAX_SEARCHED_CODES",
    "MAX_TRIED",
    "BoardSearch",
    "SearchRules",
    "Solved",
    "best_known",
    "require_searchable",
    "require_set",
]

MAX_SEARCHED_CODES = 8192
"""The largest number of codes of a board; 5x6 has 7,776 and takes 0.4 GB."""

MAX_TRIED = 10**8
"""The largest number of guesses to try for sets of codes: some minutes to half an hour."""

_MOST_COUNTED = 2**62  # counts of the kernels are words of 64 bits
_MOST_GUESSES = 4  # after more previous guesses little symmetry is left


@dataclass(frozen=True)
class SearchRules(Value):
    """The rules of an optimal strategy."""

    goal: Goal = Goal.REVEALING
    """The end of a game."""
    among: Among = Among.ALL
    """The candidate guesses."""
    max_guesses: Natural | None = None
    """The largest number of guesses for any code; unlimited if None."""
    max_tried: Count = MAX_TRIED
    """The limit of the work: the largest number of guesses to try for sets of codes."""


@dataclass(frozen=True)
class Solved:
    """The solution of a set of codes."""

    total: int
    """The smallest number of guesses, summed over the codes."""
    guess: int
    """A guess that achieves it, an index into ``board.codes``."""


class BoardSearch:
    """A search of sets of codes of one board; the object caches solved sets.

    Parameters
    ----------
    board, rules
        The board, and the rules.
    progress
        Called from time to time while all codes are searched: with the number of classes of first
        guesses that are done and of all, or with the number of guesses tried and None if the
        first guess is given.

    Raises
    ------
    TooLargeError
        If the board has more than `MAX_SEARCHED_CODES` codes or 64 replies.
    """

    def __init__(
        self,
        board: Board,
        rules: SearchRules | None = None,
        *,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        self.board = board
        self._progress = progress
        self.rules = SearchRules() if rules is None else rules
        require_searchable(board)
        self._game, self._symmetry = _game(board, self.rules.goal, self.rules.among)
        self._memo: Memo = make_memo(memo_bits(board.n_codes))
        self._work: Work = make_work(self._game, min(self.rules.max_tried, _MOST_COUNTED))

    @property
    def n_sets(self) -> int:
        """The number of sets of codes searched so far."""
        return int(self._work.counts[N_SETS])

    @property
    def n_tried(self) -> int:
        """The number of guesses tried for them so far."""
        return int(self._work.counts[N_TRIED])

    def solve(
        self,
        codes: NDArray[np.intp],
        guesses: Sequence[int] = (),
        *,
        limit: int = INFINITE,
    ) -> Solved | None:
        """Return the solution of a set of codes, or None if its total is not below a limit.

        Parameters
        ----------
        codes
            The indices of the possible codes, ascending.
        guesses
            The previous guesses. The search uses their symmetry, so they must be the guesses
            that left these codes.
        limit
            The limit.

        Raises
        ------
        InvalidArgumentError
            If the set is empty, or its codes are not ascending.
            If a code or a guess is not the index of a code of the board.
        TooLargeError
            If the search needs more than ``rules.max_tried``, or the strategy would be too deep.
        """
        codes = require_set(self.board, codes)
        for guess in guesses:
            self.board.code(guess)  # raises for an invalid index
        guesses_left = self._guesses_left(len(guesses))
        if guesses_left < 0:
            return None
        distinct, symmetry = tuple(dict.fromkeys(guesses)), self._symmetry
        if len(distinct) > _MOST_GUESSES:
            distinct, symmetry = (), no_symmetry()
        total = self._search(
            codes, np.array(distinct, dtype=np.int64), limit, guesses_left, symmetry
        )
        if total >= limit:
            return None
        return Solved(total, best_known(self._game, self._memo, codes, guesses_left))

    def solve_from(self, first: int) -> Solved | None:
        """Return the total of all codes after a first guess, or None if no strategy exists.

        Parameters
        ----------
        first
            The index of the first guess among the codes of the board, from 0.
        """
        self.board.code(first)  # raises for an invalid index
        masks = self._work.masks
        masks[0] = 0
        masks[0, [first, -1]] = 1
        codes = np.arange(self.board.n_codes)
        marker = np.array([-1], dtype=np.int64)
        total = self._search(codes, marker, INFINITE, self._guesses_left(0), self._symmetry)
        return None if total >= INFINITE else Solved(total, first)

    def openings(self) -> dict[int, int]:
        """Return a lower bound for each class of first guesses, from the last search.

        The result is empty unless all codes were searched.
        """
        masks, bounds, by_classes = self._work.masks[0], self._work.openings, self._work.sets[0, 2]
        if not (bounds >= 0).any():
            return {}
        looked_at = np.flatnonzero(masks[:-1]) if masks[-1] else np.arange(self.board.n_codes)
        # A guess with a bad bound was not tried.
        shown = np.where(bounds >= 0, bounds, by_classes)
        return dict(zip(looked_at.tolist(), shown[looked_at].tolist(), strict=True))

    def tree(self, first: int | None = None) -> StrategyTree:
        """Return the strategy as a tree, optionally with a given first guess.

        Raises
        ------
        InvalidArgumentError
            If no strategy satisfies the limit of guesses.
        TooLargeError
            See `solve`.
        """
        board = self.board

        def choose(path: Path) -> int:
            if not path and first is not None:
                return first
            codes = np.arange(board.n_codes)
            for guess, outcome in path:
                codes = codes[replies_of(board, guess)[codes] == outcome]
            solved = self.solve(codes, [guess for guess, _ in path])
            if solved is None:
                raise InvalidArgumentError(
                    f"no strategy takes at most {self.rules.max_guesses} guesses",
                    self.rules.max_guesses,
                )
            return solved.guess

        return grow_tree(Channel.exact(board), choose)

    def _guesses_left(self, n_made: int) -> int:
        """Return the number of guesses left; `INFINITE` if the limit cannot matter.

        Each guess of an optimal strategy leaves fewer codes than before, so no set takes more
        guesses than it has codes.
        """
        if self.rules.max_guesses is None:
            return INFINITE
        n_left = self.rules.max_guesses - n_made
        return INFINITE if n_left >= self.board.n_codes else n_left

    def _report(self) -> None:
        """Report the progress of the search of all codes."""
        if self._progress is None:
            return
        frame = self._work.frames[0]
        if frame[N_ORDER] > 1:
            self._progress(max(0, int(frame[NEXT]) - 1), int(frame[N_ORDER]))
        else:
            self._progress(self.n_tried, None)

    def _search(
        self,
        codes: NDArray[np.intp],
        guesses: NDArray[np.int64],
        limit: int,
        left: int,
        symmetry: Symmetry,
    ) -> int:
        total = search(
            self._game,
            symmetry,
            self._memo,
            self._work,
            Task(np.asarray(codes, dtype=np.int64), guesses, limit, left),
            paused=self._report if len(codes) == self.board.n_codes else None,
        )
        if total < 0:
            raise TooLargeError(
                f"the search of {self.board} needs more than {self.rules.max_tried:,} guesses "
                f"tried, or a strategy of more than {len(self._work.frames) - 2} guesses",
                needed=self.rules.max_tried + 1,
                budget=self.rules.max_tried,
            )
        return int(total)


def best_known(game: Game, memo: Memo, codes: NDArray[np.int64], left: int) -> int:
    """Return the best guess for a set that was just solved, with `left` guesses left."""
    own = game.own[codes]
    if len(codes) < 3 or (len(codes) == 3 and game.last == 1 and left >= 3):
        for guess in own.tolist():
            if len(set(game.places[guess, codes].tolist())) == len(codes):
                return int(guess)
        return int(own[0])
    key, check = np.bitwise_xor.reduce(game.keys[codes], axis=0).tolist()
    if left < INFINITE:
        key ^= (left + 1) * 0x9E3779B97F4A7C15 % 2**64
    entry = find(memo, np.uint64(key), np.uint64(check))
    if entry < 0:
        raise InvalidArgumentError("expected a set that was just solved, got another one", codes)
    return int(memo.values[entry, 1])


@lru_cache(maxsize=1)
def _game(board: Board, goal: Goal, among: Among) -> tuple[Game, Symmetry]:
    game = make_game(
        np.asarray(reply_table(board)),
        np.arange(board.n_codes),
        len(board.true_replies),
        goal,
        possible_only=among is Among.POSSIBLE,
    )
    return game, make_symmetry(np.asarray(board.codes), board.colors)


def require_set(board: Board, codes: NDArray[Any]) -> NDArray[np.int64]:
    """Return a set of codes as an array for the compiled search.

    Raises
    ------
    InvalidArgumentError
        If the set is empty, or its codes are not ascending.
        If one is not the index of a code of the board.
    """
    indices = np.asarray(codes, dtype=np.int64)
    if indices.ndim != 1 or indices.size == 0:
        raise InvalidArgumentError("expected a set of at least one code, got none", codes)
    if indices.size > 1 and not (np.diff(indices) > 0).all():
        raise InvalidArgumentError("expected a set of different codes in ascending order", codes)
    if indices[0] < 0 or indices[-1] >= board.n_codes:
        raise InvalidArgumentError(
            f"expected indices of the {board.n_codes:,} codes of {board}, got {indices[0]} to "
            f"{indices[-1]}",
            codes,
        )
    return indices


def require_searchable(board: Board) -> None:
    """Raise TooLargeError if a board is too large for a complete search."""
    if board.n_codes > MAX_SEARCHED_CODES or len(board.true_replies) > MOST_REPLIES:
        raise TooLargeError(
            f"expected a board of at most {MAX_SEARCHED_CODES:,} codes and {MOST_REPLIES} replies "
            f"for a complete search, got {board} with {board.n_codes:,} codes",
            needed=board.n_codes,
            budget=MAX_SEARCHED_CODES,
        )
