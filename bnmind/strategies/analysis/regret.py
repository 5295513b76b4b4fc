"""The regret by a score: the loss of each guess of a game against the best guess."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError
from bnmind.mastermind.board import Board, require_believable
from bnmind.mastermind.history import Turn, format_history
from bnmind.mastermind.masses.mass_plan import plan_masses
from bnmind.mastermind.masses.reply_table import replies_to
from bnmind.strategies.scores.score import Score

__all__ = ["GuessRegret", "codes_left", "regrets"]


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
