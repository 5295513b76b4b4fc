"""A game in retrospect: how much each guess could tell, and how much the best one could.

The measure is the expected information of a guess about the code, in bits, under the noise of the
game. It serves any noise and any board; `bnmind.strategies.exact_regret` counts guesses instead,
where replies are true and the optimum can be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bnmind._values import Value

if TYPE_CHECKING:
    import numpy as np

    from bnmind.mastermind import Board, Posterior, Turn
    from bnmind.strategies import GuessRegret

__all__ = ["GuessReview", "review_guesses", "review_in_guesses"]

_SOON = 30_000
_MOST_CODES = 1_500
"""How many guesses are tried for the optimum after a game, on boards of how many codes; it takes
about a second.
"""


@dataclass(frozen=True, kw_only=True)
class GuessReview(Value):
    """A guess of a game in retrospect."""

    guess: tuple[int, ...]
    """The guess."""
    best: tuple[int, ...]
    """The guess of most expected information; the guess itself if no other has more."""
    information: float
    """The expected information of the guess, in bits."""
    best_information: float
    """The expected information of the best guess, in bits."""
    regret: float
    """The expected information that was lost, in bits; 0 for a best guess."""
    chance: float
    """The probability that the guess was the code, before its reply."""
    told: float
    """How many bits the reply told in fact; negative if it raised the doubt."""


def review_guesses(
    start: Posterior,
    turns: Sequence[Turn],
    rng: np.random.Generator,
    *,
    won: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[GuessReview, ...]:
    """Return each guess of a game beside the most informative one.

    Parameters
    ----------
    start
        The belief before the first guess.
    turns
        The guesses and the reported replies.
    rng
        The random generator for boards too large to evaluate all guesses.
    won
        Whether the last guess was the code.
    progress
        Called before each guess with the number of reviewed guesses and of all.

    Raises
    ------
    ImpossibleEvidenceError
        If the replies are impossible under the noise of the belief.

    Examples
    --------
    >>> import numpy as np
    >>> from bnmind.mastermind import Board, Channel, TableBelief, parse_history
    >>> board = Board(4, 6)
    >>> belief = TableBelief.start(Channel.false_reply(board, 0.2).revealed())
    >>> game = parse_history(board, "1111 1b0w, 1234 1b1w")
    >>> reviewed = review_guesses(belief, game, np.random.default_rng(0))
    >>> [(round(one.information, 2), round(one.regret, 2)) for one in reviewed]
    [(1.04, 0.93), (1.94, 0.01)]
    """
    from bnmind.lab.mastermind.advice import advise
    from bnmind.lab.mastermind.explanation import winning_probability
    from bnmind.strategies import describe_guess

    belief, reviewed = start, []
    board = start.board
    for number, turn in enumerate(turns, start=1):
        if progress is not None:
            progress(number - 1, len(turns))
        own = describe_guess(belief, turn.guess).information
        advice = advise(belief, rng)
        lost = max(0.0, advice.information - own)
        last = won and number == len(turns)
        after = None if last else belief.update(turn.guess, turn.reply)
        reviewed.append(
            GuessReview(
                guess=board.checked(turn.guess),
                best=board.parse(advice.guess) if lost > _EQUAL else board.checked(turn.guess),
                information=own,
                best_information=max(own, advice.information),
                regret=lost if lost > _EQUAL else 0.0,
                chance=winning_probability(belief, turn.guess),
                told=belief.entropy() - (0.0 if after is None else after.entropy()),
            )
        )
        belief = belief if after is None else after
    return tuple(reviewed)


_EQUAL = 1e-9  # a loss of so few bits is rounding


def review_in_guesses(
    board: Board,
    turns: Sequence[Turn],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[GuessRegret, ...] | None:
    """Return the regret of each guess in guesses; None if the optimum is not soon computed.

    Parameters
    ----------
    board
        The board; all codes are equally probable before the game.
    turns
        The guesses and their replies, which are true.
    progress
        Called before each guess with the number of judged guesses and of all.

    Examples
    --------
    >>> from bnmind.mastermind import Board, parse_history
    >>> board = Board(2, 3)
    >>> judged = review_in_guesses(board, parse_history(board, "11 0b0w, 11 0b0w, 22 1b0w"))
    >>> [round(one.regret, 2) for one in judged or ()]
    [0.33, 1.0, 0.0]
    """
    from bnmind.errors import ImpossibleEvidenceError, TooLargeError
    from bnmind.strategies import exact_regret
    from bnmind.strategies.optimal.board_search import SearchRules

    if board.n_codes > _MOST_CODES:
        return None
    judged = []
    try:
        for number in range(1, len(turns) + 1):
            if progress is not None:
                progress(number - 1, len(turns))
            rules = SearchRules(max_tried=_SOON)
            judged.append(exact_regret(board, tuple(turns[:number]), rules=rules))
    except (TooLargeError, ImpossibleEvidenceError):
        return None
    return tuple(judged)
