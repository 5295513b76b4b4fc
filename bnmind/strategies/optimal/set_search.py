"""Least totals of a small set of codes and of its parts, on boards of any size.

The search is that of `branch_and_bound_kernel`. Of guesses that part the set alike one is kept;
symmetry is not looked for beyond that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import BnmindError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.masses.reply_table import replies_to
from bnmind.strategies.optimal.board_search import SearchRules, Solved, best_known, require_set
from bnmind.strategies.optimal.search_arrays import (
    INFINITE,
    MOST_REPLIES,
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
"""The most codes of a set."""

_MAX_BOARD_CODES = 2**17  # 6x7 has 117,649


class SetSearch:
    """The parts of a set of codes; what has been solved lives as long as this object.

    Raises
    ------
    BnmindError
        If the set is empty, its codes are not ascending, or the rules limit the number of
        guesses.
    InvalidCodeError
        If one is no index of a code of the board.
    TooLargeError
        If the set has more than `MAX_SET_CODES` codes, or the board too many codes or replies.
    """

    def __init__(self, board: Board, codes: NDArray[np.intp], rules: SearchRules) -> None:
        if rules.max_guesses is not None:
            raise BnmindError(f"expected rules without a limit, got {rules.max_guesses} guesses")
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
        # A reply is the same whichever of the two codes is the guess.
        replies = np.array([replies_to(board, board.code(int(code))) for code in codes])
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
        """Return what a part of the set takes.

        Parameters
        ----------
        codes
            The codes that are possible, ascending indices, all of them of the set.

        Raises
        ------
        BnmindError
            If the part is empty, not ascending, or no part of the set.
        TooLargeError
            If it takes more than ``rules.max_tried``.
        """
        codes = require_set(self.board, codes)
        if not np.isin(codes, self.codes).all():
            raise BnmindError("expected a part of the set, got codes that are not in it")
        part = np.searchsorted(self.codes, codes).astype(np.int64)
        nothing = np.zeros(0, dtype=np.int64)
        total = search(
            self._game,
            no_symmetry(),
            self._memo,
            self._work,
            codes=part,
            guesses=nothing,
            limit=INFINITE,
            left=INFINITE,
        )
        if total < 0:
            raise TooLargeError(
                f"expected a search within {self.rules.max_tried:,} guesses tried, got more",
                needed=self.rules.max_tried + 1,
                budget=self.rules.max_tried,
            )
        guess = best_known(self._game, self._memo, part, INFINITE)
        return Solved(int(total), int(self._guesses[guess]))
