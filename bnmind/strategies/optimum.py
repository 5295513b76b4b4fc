"""Optimal strategies under true replies, with a certificate.

===========================  ===============================================
Vomlel, section 2            name here
===========================  ===============================================
optimal strategy             `optimal_in_worst_case`, ``Goal.DETERMINING``:
                             the smallest depth, in nodes ``value + 1``
optimal in average           `optimal_on_average`; the 5625/1296 that the
                             paper quotes is for ``Goal.REVEALING``
===========================  ===============================================

This module sets up the search for a board; `bnmind.strategies.tree_search` describes the algorithm.

`SetSearch` finds the totals of a small set of codes and of its subsets, on boards of any size.
Among guesses that partition the set in the same way, one is kept; the search uses no other
symmetry.

References
----------
K. Koyama and T. W. Lai, An optimal Mastermind strategy, Journal of Recreational Mathematics
25 (1993) 251–256: 5625 at 4x6, and 5626 with at most five guesses. G. Ville, An optimal
Mastermind (4,7) strategy and more results in the expected case, arXiv:1305.1010 (2013): depth
first, with guesses of each kind and bounds by the number of replies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._display import Result, Table
from bnmind._messages import counted
from bnmind._values import Count, Natural, ReadOnlyDict, Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses import replies_of, reply_rows, reply_table
from bnmind.strategies.players import Among
from bnmind.strategies.search_arrays import (
    INFINITE,
    MOST_REPLIES,
    N_ORDER,
    N_SETS,
    N_TRIED,
    NEXT,
    Game,
    Memo,
    Symmetry,
    Task,
    Work,
    capacities,
    find,
    make_game,
    make_memo,
    make_symmetry,
    make_work,
    memo_bits,
    no_symmetry,
)
from bnmind.strategies.strategy import Goal
from bnmind.strategies.tree import Path, StrategyTree, grow_tree
from bnmind.strategies.tree_search import search

# --- Smallest totals of sets of codes, and their guesses, by branch and bound ---------------------


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
    # The search does not store small sets. A guess of the set separates all codes, or one of three
    # from the other two.
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


# --- Smallest totals of a small set of codes and of its subsets, on boards of any size ------------


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


# --- Optimal strategies under true replies, with a certificate ------------------------------------


ProgressOfSearch: TypeAlias = Callable[[int, int | None], None]
"""A function called with the amount of work done and the total amount, if that is known."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Optimum(Result, Value):
    """An optimal strategy and its certificate."""

    value: float
    """The optimal value, as documented by the function that returned the object."""
    tree: StrategyTree
    """The strategy."""
    solved: int
    """The number of different beliefs searched."""
    total: int
    """The number of guesses to reveal, or to determine, each code once."""
    tried: int
    """The number of guesses tried for these beliefs."""
    openings: Mapping[tuple[int, ...], int | None]
    """One first guess of each class of equivalent guesses, with a lower bound of its total; None
    if the search found that it takes more guesses than ``rules.max_guesses``."""
    rules: SearchRules
    """The rules of the search."""

    @property
    def bound(self) -> int:
        """The lower bound of all strategies: the smallest of ``openings``. It equals ``total``."""
        return min(total for total in self.openings.values() if total is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a record."""
        board = self.tree.board
        return {
            "bound": self.bound,
            "openings": {board.format(guess): total for guess, total in self.openings.items()},
            "sets_searched": self.solved,
            "guesses_tried": self.tried,
        }

    def _shown(self) -> Iterator[str | Table]:
        within = self.rules.max_guesses
        limit = "" if within is None else f" within {counted(within, 'guess', 'guesses')}"
        sets = counted(self.solved, "set of codes", "sets of codes")
        yield f"Proven: no strategy by these rules takes fewer{limit}."
        yield f"Searched {sets}, tried {counted(self.tried, 'guess', 'guesses')} for them."
        yield "At least, by first guess:"
        for guess, total in self.openings.items():
            shown = "impossible" if total is None else f"{total:,}"
            yield f"  {self.tree.board.format(guess)} {shown:>12}"


@checked_if_it_fails
def optimal_on_average(
    board: Board,
    goal: Goal = Goal.REVEALING,
    *,
    among: Among = Among.ALL,
    max_guesses: int | None = None,
    first: Sequence[int] | None = None,
    progress: ProgressOfSearch | None = None,
) -> Optimum:
    """Return a strategy of the smallest mean number of guesses.

    The value is this mean. All codes are equally likely.

    Parameters
    ----------
    board
        The board.
    goal
        The end of a game.
    among
        The candidate guesses.
    max_guesses
        The largest number of guesses for any code; unlimited if None.
    first
        The first guess; the best one if None. If given, ``openings`` contains only this guess.
    progress
        Called from time to time with the number of kinds of first guesses that are done and of
        all; or, if the first guess is given, with the number of guesses tried and None.

    Raises
    ------
    InvalidArgumentError
        If no strategy takes at most ``max_guesses``.
        If the first guess is not a code of the board.
    TooLargeError
        If the board has more than `MAX_SEARCHED_CODES` codes, or the search needs too much
        work.

    Examples
    --------
    >>> optimum = optimal_on_average(Board(2, 3))
    >>> round(9 * optimum.value), optimum.tree.distribution
    (21, (1.0, 4.0, 4.0))
    >>> dict(optimum.openings)
    {(1, 1): 23, (1, 2): 21}
    """
    search = BoardSearch(board, SearchRules(goal, among, max_guesses), progress=progress)
    optimum = _optimum(search, first)
    if optimum is None:
        raise _none_of(board, max_guesses)
    return optimum


@checked_if_it_fails
def optimal_in_worst_case(
    board: Board,
    goal: Goal = Goal.REVEALING,
    *,
    among: Among = Among.ALL,
    max_guesses: int | None = None,
    first: Sequence[int] | None = None,
    progress: ProgressOfSearch | None = None,
) -> Optimum:
    """Return a strategy with the smallest worst case and, among these, the smallest mean.

    The value is the largest number of guesses. For ``Goal.DETERMINING`` the depth of the tree,
    which counts nodes, is one more. ``solved`` and ``tried`` describe the search that found the
    strategy, not the searches that excluded fewer guesses.

    Parameters
    ----------
    board, goal, among, max_guesses, first, progress
        As for `optimal_on_average`.

    Raises
    ------
    InvalidArgumentError, TooLargeError
        As for `optimal_on_average`.

    Examples
    --------
    >>> optimum = optimal_in_worst_case(Board(4, 6))
    >>> optimum.value, optimum.total, [int(n) for n in optimum.tree.distribution]
    (5.0, 5626, [1, 8, 85, 656, 546])
    """
    require_searchable(board)
    room = capacities(board.n_codes, len(board.true_replies), goal)
    worst = int(np.argmax(room >= board.n_codes))
    while max_guesses is None or worst <= max_guesses:
        search = BoardSearch(board, SearchRules(goal, among, worst), progress=progress)
        optimum = _optimum(search, first, value=float(worst))
        if optimum is not None:
            return optimum
        worst += 1
    raise _none_of(board, max_guesses)


def _none_of(board: Board, max_guesses: int | None) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"no strategy by these rules takes at most {max_guesses} guesses on {board}; the search "
        "was complete",
        max_guesses,
    )


def _optimum(
    search: BoardSearch, first: Sequence[int] | None, *, value: float | None = None
) -> Optimum | None:
    """Return the optimum, or None if no strategy satisfies the limit of guesses."""
    board, rules = search.board, search.rules
    opening = None if first is None else board.index(first)
    if opening is None:
        solved = search.solve(np.arange(board.n_codes))
        shown = search.openings()
    else:
        solved = search.solve_from(opening)
        shown = {} if solved is None else {opening: solved.total}
    if solved is None:
        return None
    n_sets, n_tried = search.n_sets, search.n_tried
    tree = search.tree(opening)
    openings = {
        board.code(guess): None if total >= INFINITE else total for guess, total in shown.items()
    }
    return Optimum(
        value=solved.total / board.n_codes if value is None else value,
        tree=tree,
        solved=n_sets,
        total=solved.total,
        tried=n_tried,
        openings=ReadOnlyDict(openings),
        rules=rules,
    )


@checked_if_it_fails
def first_guesses(board: Board) -> tuple[int, ...]:
    """Return one first guess of each equivalence class, as indices of codes, ascending.

    At the start of a game two guesses are equivalent if the counts of their colors are equal, since
    positions and colors can be permuted. Each class is represented by its smallest guess, so a
    search that prefers smaller indices loses nothing.

    Parameters
    ----------
    board
        The board.

    Examples
    --------
    >>> board = Board(4, 6)
    >>> [board.format(board.code(guess)) for guess in first_guesses(board)]
    ['1111', '1112', '1122', '1123', '1234']
    """
    kinds: dict[tuple[int, ...], int] = {}
    for index, code in enumerate(board.codes.tolist()):
        kinds.setdefault(tuple(sorted(code.count(color) for color in set(code))), index)
    return tuple(sorted(kinds.values()))
