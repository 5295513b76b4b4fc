"""Optimal strategies under true replies, with a certificate.

===========================  ===============================================
Vomlel, section 2            name here
===========================  ===============================================
optimal strategy             `optimal_in_worst_case`, ``Goal.DETERMINING``:
                             the smallest depth, in nodes ``value + 1``
optimal in average           `optimal_on_average`; the 5625/1296 that the
                             paper quotes is for ``Goal.REVEALING``
===========================  ===============================================

`search_kernel` describes the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._display import Result, Table
from bnmind._messages import counted
from bnmind._values import ReadOnlyDict, Value
from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.board import Board
from bnmind.strategies.base.game_rules import Goal
from bnmind.strategies.optimal.board_search import BoardSearch, SearchRules, require_searchable
from bnmind.strategies.optimal.bounds import capacities
from bnmind.strategies.optimal.search_arrays import INFINITE
from bnmind.strategies.players.myopic import Among
from bnmind.strategies.trees.tree import StrategyTree

__all__ = [
    "Goal",
    "Optimum",
    "ProgressOfSearch",
    "first_guesses",
    "optimal_in_worst_case",
    "optimal_on_average",
]

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
