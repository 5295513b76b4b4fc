"""Optimal strategies under truthful replies, with a certificate.

===========================  ===============================================
Vomlel, section 2            name here
===========================  ===============================================
optimal strategy             `optimal_in_worst_case`, ``Goal.DETERMINING``:
                             the smallest depth, in nodes ``value + 1``
optimal in average           `optimal_on_average`; the 5625/1296 that the
                             paper quotes is for ``Goal.REVEALING``
===========================  ===============================================

The search is that of `branch_and_bound_kernel`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._values import ReadOnlyDict, Value
from bnmind.errors import BnmindError
from bnmind.mastermind.board import Board
from bnmind.strategies.base.game_rules import Goal
from bnmind.strategies.optimal.board_search import BoardSearch, SearchRules, require_searchable
from bnmind.strategies.optimal.bounds import capacities
from bnmind.strategies.optimal.search_arrays import INFINITE
from bnmind.strategies.players.myopic import Among
from bnmind.strategies.trees.tree import StrategyTree

__all__ = ["Goal", "Optimum", "first_guesses", "optimal_in_worst_case", "optimal_on_average"]


@dataclass(frozen=True, eq=False)
class Optimum(Value):
    """A strategy than which none is better, and what shows it."""

    value: float
    """What it achieves; the function that searched says what that is."""
    tree: StrategyTree
    """The strategy."""
    solved: int
    """How many different beliefs were searched."""
    total: int
    """How many guesses it takes to reveal, or to determine, each code once."""
    tried: int
    """How many guesses were tried for these beliefs."""
    openings: Mapping[tuple[int, ...], int | None]
    """Of each kind of first guess one, and what total it takes at least; None if it takes more
    guesses than ``rules.max_guesses``."""
    rules: SearchRules
    """What was asked for."""

    @property
    def bound(self) -> int:
        """What every strategy takes at least: the least of ``openings``; it is ``total``."""
        return min(total for total in self.openings.values() if total is not None)


def optimal_on_average(
    board: Board,
    goal: Goal = Goal.REVEALING,
    *,
    among: Among = Among.ALL,
    max_guesses: int | None = None,
    first: Sequence[int] | None = None,
) -> Optimum:
    """Return a strategy of the smallest mean number of guesses.

    The value is that mean, all codes being equally likely.

    Parameters
    ----------
    board
        The board.
    goal
        When a game is over.
    among
        Which guesses are considered.
    max_guesses
        No code may take more; any number if None.
    first
        The first guess; the best one if None. Then ``openings`` has it alone.

    Raises
    ------
    BnmindError
        If no strategy takes at most ``max_guesses``.
    InvalidCodeError
        If the first guess is no code of the board.
    TooLargeError
        If the board has more codes than `MAX_SEARCHED_CODES`, or it takes too much work.

    Examples
    --------
    >>> optimum = optimal_on_average(Board(2, 3))
    >>> round(9 * optimum.value), optimum.tree.distribution
    (21, (1.0, 4.0, 4.0))
    >>> dict(optimum.openings)
    {(1, 1): 23, (1, 2): 21}
    """
    found = _optimum(board, SearchRules(goal, among, max_guesses), first)
    if found is None:
        raise _none_of(board, max_guesses)
    return found


def optimal_in_worst_case(
    board: Board,
    goal: Goal = Goal.REVEALING,
    *,
    among: Among = Among.ALL,
    max_guesses: int | None = None,
    first: Sequence[int] | None = None,
) -> Optimum:
    """Return a strategy of the fewest guesses in the worst case; of these, one of the least mean.

    The value is that number of guesses. For ``Goal.DETERMINING`` the depth of the tree,
    which counts nodes, is one more. ``solved`` and ``tried`` tell of the search that found
    the strategy, not of those that showed that fewer guesses do not suffice.

    Parameters
    ----------
    board
        The board.
    goal
        When a game is over.
    among
        Which guesses are considered.
    max_guesses
        The most that are of interest; any number if None.
    first
        The first guess; the best one if None. Then ``openings`` has it alone.

    Raises
    ------
    BnmindError
        If no strategy takes at most ``max_guesses``.
    InvalidCodeError
        If the first guess is no code of the board.
    TooLargeError
        If the board has more codes than `MAX_SEARCHED_CODES`, or it takes too much work.

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
        found = _optimum(board, SearchRules(goal, among, worst), first, value=float(worst))
        if found is not None:
            return found
        worst += 1
    raise _none_of(board, max_guesses)


def _none_of(board: Board, max_guesses: int | None) -> BnmindError:
    return BnmindError(
        f"expected a strategy of at most {max_guesses} guesses on {board}, got none by these "
        "rules; the search was complete"
    )


def _optimum(
    board: Board, rules: SearchRules, first: Sequence[int] | None, *, value: float | None = None
) -> Optimum | None:
    """Return the optimum, or None if there is no strategy of so few guesses."""
    opening = None if first is None else board.index(first)
    search = BoardSearch(board, rules)
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
        solved.total / board.n_codes if value is None else value,
        tree,
        n_sets,
        solved.total,
        n_tried,
        ReadOnlyDict(openings),
        rules,
    )


def first_guesses(board: Board) -> tuple[int, ...]:
    """Return one first guess of each kind, as indices of codes, ascending.

    Before anything is known two guesses are alike if their colors occur equally often:
    positions and colors can be renamed. Each kind is stood for by its first guess, so a
    search that prefers smaller indices misses nothing.

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
