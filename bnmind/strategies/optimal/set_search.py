"""Smallest totals of a small set of codes and of its subsets, on boards of any size.

`search_kernel` describes the search. Among guesses that partition the set in the same way, one is
kept; the search uses no other symmetry.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.masses.reply_table import reply_rows
from bnmind.strategies.optimal.board_search import SearchRules, Solved, best_known, require_set
from bnmind.strategies.optimal.search_arrays import (
    INFINITE,
    MOST_REPLIES,
    Task,
    make_game,
    make_memo,
    make_work,
    memo_bits,
    no_symmetry,
)
from bnmind.strategies.optimal.search_run import search
from bnmind.strategies.players.myopic import Among

__all__ = ["MAX_SET_CODES", "SetSearch"]

MAX_SET_CODES = 64
"""The largest number of codes of a set."""

_MAX_BOARD_CODES = 2**17  # 6x7 has 117,649


class SetSearch:
    """A search of the subsets of a set of codes; the object caches solved subsets.

    Parameters
    ----------
    board
        The board.
    codes
        The indices of the codes among those of the board, ascending.
    rules
        The rules of the search, without a limit of guesses.

    Raises
    ------
    InvalidArgumentError
        If the set is empty, its codes are not ascending, or the rules limit the number of
        guesses.
        If one is not the index of a code of the board.
    TooLargeError
        If the set has more than `MAX_SET_CODES` codes, or the board too many codes or replies.
    """

    def __init__(self, board: Board, codes: NDArray[np.intp], rules: SearchRules) -> None:
        if rules.max_guesses is not None:
            raise InvalidArgumentError(
                f"expected rules without a limit of guesses, got {rules.max_guesses}",
                rules.max_guesses,
            )
        n_replies = len(board.true_replies)
        if (
            len(codes) > MAX_SET_CODES
            or board.n_codes > _MAX_BOARD_CODES
            or n_replies > MOST_REPLIES
        ):
            raise TooLargeError(
                f"expected at most {MAX_SET_CODES} codes of a board of at most "
                f"{_MAX_BOARD_CODES:,} codes and {MOST_REPLIES} replies, got {len(codes):,} of "
                f"{board}",
                needed=len(codes),
                budget=MAX_SET_CODES,
            )
        codes = require_set(board, codes)
        self.board, self.rules, self.codes = board, rules, codes
        # Replies are symmetric in guess and code.
        replies = np.array(list(reply_rows(board, codes)))
        _, first, kind_of = np.unique(
            replies.astype(np.uint8).T, axis=0, return_index=True, return_inverse=True
        )
        self._guesses = np.sort(first)
        place_of = np.argsort(np.argsort(first))
        self._game = make_game(
            np.ascontiguousarray(replies.T[self._guesses], dtype=np.uint8),
            place_of[kind_of.reshape(-1)[codes]],
            n_replies,
            rules.goal,
            possible_only=rules.among is Among.POSSIBLE,
        )
        self._memo = make_memo(memo_bits(len(codes)))
        self._work = make_work(self._game, rules.max_tried)

    def solve(self, codes: NDArray[np.intp]) -> Solved:
        """Return the solution of a subset.

        Parameters
        ----------
        codes
            The indices of the possible codes, ascending, all in the set.

        Raises
        ------
        InvalidArgumentError
            If the subset is empty, not ascending, or not a subset of the set.
        TooLargeError
            If the search needs more than ``rules.max_tried``.
        """
        codes = require_set(self.board, codes)
        if not np.isin(codes, self.codes).all():
            raise InvalidArgumentError(
                "expected a subset of the set, got codes that are not in it", codes
            )
        part = np.searchsorted(self.codes, codes).astype(np.int64)
        nothing = np.zeros(0, dtype=np.int64)
        total = search(
            self._game,
            no_symmetry(),
            self._memo,
            self._work,
            Task(np.asarray(part, dtype=np.int64), nothing, INFINITE, INFINITE),
        )
        if total < 0:
            raise TooLargeError(
                f"the search needs more than {self.rules.max_tried:,} guesses tried",
                needed=self.rules.max_tried + 1,
                budget=self.rules.max_tried,
            )
        guess = best_known(self._game, self._memo, part, INFINITE)
        return Solved(int(total), int(self._guesses[guess]))
