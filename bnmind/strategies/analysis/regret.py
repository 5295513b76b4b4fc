"""What each guess of a game lost against the best guess at that point, by a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError
from bnmind.mastermind.board import Board, require_believable
from bnmind.mastermind.history import Turn, format_history
from bnmind.mastermind.masses.mass_plan import plan_masses
from bnmind.mastermind.masses.reply_table import replies_to
from bnmind.strategies.scores.score import Score

__all__ = ["GuessRegret", "codes_left", "regrets"]


@dataclass(frozen=True)
class GuessRegret(Value):
    """How one guess compares with the best."""

    guess: tuple[int, ...]
    """What was guessed."""
    best: tuple[int, ...]
    """A best guess; by a score a possible one if there is, then the first."""
    value: float
    """What the guess is worth: by a score as `Score.shown`, exactly the guesses still to come."""
    best_value: float
    """What the best guess is worth."""
    codes: int
    """How many codes were possible."""
    is_possible: bool
    """Whether the guess was one of them."""
    regret: float
    """What was lost, in the unit of the values; 0 for a guess as good as the best."""


def regrets(board: Board, turns: Sequence[Turn], score: Score) -> tuple[GuessRegret, ...]:
    """Return what each guess of a game lost, replies being taken for the truth.

    Parameters
    ----------
    board
        The board.
    turns
        The game.
    score
        By which guesses are judged: with `EntropyLeft` regrets are bits, with `ExpectedSize`
        codes.

    Raises
    ------
    ImpossibleEvidenceError
        If no code agrees with all replies, the last one included.
    InvalidCodeError
        If a guess is no code of the board.
    TooLargeError
        If the guesses of the board cannot all be judged.

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
    found: list[GuessRegret] = []
    for number, turn in enumerate(turns):
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
        found.append(
            GuessRegret(
                turn.guess,
                board.code(int(plan.guesses[best])),
                value,
                best_value,
                n,
                bool(possible[guess]),
                lost,
            )
        )
        possible &= replies == board.true_replies.index(turn.reply)
    return tuple(found)


def codes_left(board: Board, turns: Sequence[Turn]) -> NDArray[np.intp]:
    """Return the codes that agree with every reply, as ascending indices.

    Raises
    ------
    ImpossibleEvidenceError
        If there are none; it names the turns up to the first that leaves no code.
    InvalidCodeError
        If a guess is no code of the board.
    TooLargeError
        If the codes of the board are too many for a belief over them.
    """
    require_believable(board)
    left = np.ones(board.n_codes, dtype=np.bool_)
    for number, turn in enumerate(turns, start=1):
        replies = replies_to(board, turn.guess)
        if turn.reply in board.true_replies:
            left &= replies == board.true_replies.index(turn.reply)
        else:
            left[:] = False
        if not left.any():
            history = format_history(board, turns[:number])
            raise ImpossibleEvidenceError(
                f"expected replies that some code gives, got {history}", {"history": history}
            )
    return np.flatnonzero(left)
