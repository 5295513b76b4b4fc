"""The loss of each guess of a game against the best guess: by a score, or exactly, in guesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.mastermind.board import Board, Turn, format_history, require_believable
from bnmind.mastermind.masses import plan_masses, replies_to
from bnmind.strategies.optimum import MAX_SET_CODES, BoardSearch, SearchRules, SetSearch, Solved
from bnmind.strategies.scores import Score

# --- The regret by a score: the loss of each guess of a game against the best guess ---------------


@dataclass(frozen=True, kw_only=True)
class GuessRegret(Value):
    """The comparison of one guess with the best guess."""

    guess: tuple[int, ...]
    """The guess."""
    best: tuple[int, ...]
    """A best guess; by a score, possible codes come first, in lexicographic order."""
    value: float
    """The value of the guess: `Score.shown`, or for the exact regret the guesses still to come."""
    best_value: float
    """The value of the best guess."""
    codes: int
    """The number of possible codes."""
    is_possible: bool
    """Whether the guess was one of them."""
    regret: float
    """The loss, in the unit of the values; 0 for a best guess."""


@checked_if_it_fails
def regrets(
    board: Board,
    turns: Sequence[Turn],
    score: Score,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[GuessRegret, ...]:
    """Return the regret of each guess of a game by a score, under true replies.

    Parameters
    ----------
    board
        The board.
    turns
        The game.
    score
        The score of the guesses. Regrets have its unit: bits for `EntropyLeft`, codes for
        `ExpectedSize`.
    progress
        Called before each guess with the number of judged guesses and of all.

    Raises
    ------
    ImpossibleEvidenceError
        If no code agrees with all replies, including the last one.
    InvalidArgumentError
        If a guess is not a code of the board.
    TooLargeError
        If the board is too large to evaluate all guesses.

    Examples
    --------
    >>> from bnmind.mastermind import parse_history
    >>> from bnmind.strategies import EntropyLeft
    >>> board = Board(4, 6)
    >>> game = parse_history(board, "1111 1b0w, 1234 4b0w")
    >>> [(round(turn.regret, 3), turn.codes) for turn in regrets(board, game, EntropyLeft())]
    [(1.558, 1296), (0.0, 500)]
    """
    codes_left(board, turns)
    terms = score.terms(board, board.n_codes)
    possible = np.ones(board.n_codes, dtype=np.bool_)
    results: list[GuessRegret] = []
    for number, turn in enumerate(turns):
        if progress is not None:
            progress(number, len(turns))
        guess = board.index(turn.guess)
        n = int(np.count_nonzero(possible))
        counts = possible.astype(np.float64)
        plan = plan_masses(board, counts, history=turns[:number])
        classes = plan.run(counts)
        tied = terms.best(classes, number)
        preferred = tied[possible[plan.guesses[tied]]]
        best = int((preferred if len(preferred) else tied)[0])
        replies = replies_to(board, turn.guess)
        own = np.bincount(replies[possible], minlength=len(board.true_replies))[None, :]
        value = score.shown(board, int(terms.keys(own, number)[0]), n)
        best_value = score.shown(board, int(terms.keys(classes[[best]], number)[0]), n)
        lost = value - best_value if score.minimized else best_value - value
        results.append(
            GuessRegret(
                guess=turn.guess,
                best=board.code(int(plan.guesses[best])),
                value=value,
                best_value=best_value,
                codes=n,
                is_possible=bool(possible[guess]),
                regret=lost,
            )
        )
        possible &= replies == board.true_replies.index(turn.reply)
    return tuple(results)


@checked_if_it_fails
def codes_left(board: Board, turns: Sequence[Turn]) -> NDArray[np.intp]:
    """Return the codes that agree with every reply, as ascending indices.

    Parameters
    ----------
    board
        The board.
    turns
        The guesses and their reported replies.

    Raises
    ------
    ImpossibleEvidenceError
        If there are none; the error names the turns up to the first that leaves no code.
    InvalidArgumentError
        If a guess is not a code of the board.
    TooLargeError
        If the board has too many codes for a belief.
    """
    require_believable(board)
    possible = np.ones(board.n_codes, dtype=np.bool_)
    for number, turn in enumerate(turns, start=1):
        replies = replies_to(board, turn.guess)
        if turn.reply in board.true_replies:
            possible &= replies == board.true_replies.index(turn.reply)
        else:
            possible[:] = False
        if not possible.any():
            history = format_history(board, turns[:number])
            raise ImpossibleEvidenceError(
                f"no code agrees with all replies: {history}", {"history": history}
            )
    return np.flatnonzero(possible)


# --- The exact regret: the loss of each guess against the best guess, in guesses ------------------


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
