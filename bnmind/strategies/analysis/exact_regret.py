"""The exact regret: the loss of each guess against the best guess, in guesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.masses.reply_table import replies_to
from bnmind.strategies.analysis.regret import GuessRegret, codes_left
from bnmind.strategies.optimal.board_search import BoardSearch, SearchRules, Solved
from bnmind.strategies.optimal.set_search import MAX_SET_CODES, SetSearch

__all__ = ["exact_regret", "exact_regrets"]


@checked_if_it_fails
def exact_regrets(
    board: Board, turns: Sequence[Turn], *, rules: SearchRules | None = None
) -> tuple[GuessRegret, ...]:
    """Return the regret of each guess of a game, under true replies.

    The value of a guess is the mean number of guesses until the end of the game, including the
    guess, if all later guesses are optimal. All possible codes are equally likely.

    Parameters
    ----------
    board
        The board.
    turns
        The game.
    rules
        The rules of the game: its end and the candidate guesses. They must not limit the number
        of guesses.

    Raises
    ------
    InvalidArgumentError
        If the rules limit the number of guesses.
        If a guess is not a code of the board.
    ImpossibleEvidenceError
        If no code agrees with all replies, including the last one.
    TooLargeError
        As for `exact_regret`.

    Examples
    --------
    >>> from bnmind.mastermind import parse_history
    >>> board = Board(4, 6)
    >>> game = parse_history(board, "1122 0b1w, 3456 1b1w, 3344 0b0w")
    >>> [(round(turn.regret, 3), turn.codes) for turn in exact_regrets(board, game)]
    [(0.059, 1296), (0.207, 256), (0.133, 60)]
    """
    codes_left(board, turns)  # raises early if the replies are impossible
    return tuple(
        exact_regret(board, turns[:number], rules=rules) for number in range(1, len(turns) + 1)
    )


@checked_if_it_fails
def exact_regret(
    board: Board, turns: Sequence[Turn], *, rules: SearchRules | None = None
) -> GuessRegret:
    """Return the regret of the last guess of a game; see `exact_regrets`.

    Parameters
    ----------
    board
        The board.
    turns
        The guesses and their reported replies.
    rules
        What the search compares and how long it may take; the default if None.

    Raises
    ------
    TooLargeError
        If more than `MAX_SET_CODES` codes are possible and the board has more than
        `MAX_SEARCHED_CODES` codes, or if the search takes too much work.
    InvalidArgumentError
        If the rules limit the number of guesses.
    """
    rules = SearchRules() if rules is None else rules
    if rules.max_guesses is not None:
        raise InvalidArgumentError(
            f"expected rules without a limit of guesses, got {rules.max_guesses}", rules.max_guesses
        )
    *before, turn = turns
    guess = board.index(turn.guess)
    codes_left(board, turns)  # raises if the last reply is impossible
    possible = codes_left(board, before)
    solve = _solver(board, possible, rules)
    earlier_guesses = [board.index(earlier.guess) for earlier in before]
    replies = replies_to(board, turn.guess)[possible]
    best, n = solve(possible, earlier_guesses), len(possible)
    own = n + sum(
        solve(possible[replies == place], [*earlier_guesses, guess]).total
        for place in np.unique(replies).tolist()
        if place != len(board.true_replies) - 1
    )
    return GuessRegret(
        guess=turn.guess,
        best=turn.guess if own == best.total else board.code(best.guess),
        value=own / n,
        best_value=best.total / n,
        codes=n,
        is_possible=bool(np.isin(guess, possible)),
        regret=(own - best.total) / n,
    )


def _solver(
    board: Board, possible: NDArray[np.intp], rules: SearchRules
) -> Callable[[NDArray[np.intp], list[int]], Solved]:
    """Return the solver of the parts of a set, given the previous guesses."""
    if len(possible) <= MAX_SET_CODES:
        small = SetSearch(board, possible, rules)
        return lambda codes, guesses: small.solve(codes)
    large = BoardSearch(board, rules)

    def solve(codes: NDArray[np.intp], guesses: list[int]) -> Solved:
        solved = large.solve(codes, guesses)
        assert solved is not None  # there is no limit of guesses
        return solved

    return solve
