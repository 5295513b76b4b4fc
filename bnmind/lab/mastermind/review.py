"""A game in retrospect: each guess beside the best one.

One measure is the expected information of a guess about the code, in bits, under the noise of the
game; it serves any noise and any board. The other one is the mean number of guesses that the game
still takes, where replies are true and the optimum can be computed; elsewhere, the score of a
strategy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bnmind._display import Result, Table
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.mastermind.board import Board, Turn
from bnmind.strategies.regret import GuessRegret

if TYPE_CHECKING:
    import numpy as np

    from bnmind.mastermind import Posterior

OPTIMAL = "optimal"
"""The measure of guesses by the mean number of guesses that an optimal strategy still takes."""

_ELSE = "neuwirth"
"""The score to use where the optimum cannot be computed."""

_MOST_TRIED = 300_000
"""The largest number of guesses to try for the optimum: some seconds, 4x7 from the start."""

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


@dataclass(frozen=True, kw_only=True)
class GameReview(Result, Value):
    """The guesses of a game beside the most informative ones."""

    board: Board
    """The board."""
    noise: str
    """The name of the channel."""
    turns: tuple[Turn, ...]
    """The guesses and the reported replies."""
    guesses: tuple[GuessReview, ...]
    """What each guess could tell, and told."""

    def to_dict(self) -> dict[str, Any]:
        """Return the guesses as a record."""
        rows = [
            {
                "guess": self.board.format(one.guess),
                "reply": str(turn.reply),
                "information": one.information,
                "best": self.board.format(one.best),
                "best_information": one.best_information,
                "regret": one.regret,
                "chance": one.chance,
                "told": one.told,
            }
            for turn, one in zip(self.turns, self.guesses, strict=True)
        ]
        return {"board": str(self.board), "noise": self.noise, "guesses": rows}

    def _shown(self) -> Iterator[str | Table]:
        yield (
            "Each guess beside the most informative one, in bits. The last column is how many bits"
            " the reply really told."
        )
        rows = [
            (
                self.board.format(one.guess),
                str(turn.reply),
                f"{one.information:.2f}",
                self.board.format(one.best),
                f"{one.best_information:.2f}",
                f"{one.regret:.2f}",
                f"{one.told:.2f}",
            )
            for turn, one in zip(self.turns, self.guesses, strict=True)
        ]
        yield Table(("guess", "reply", "tells", "best", "tells", "lost", "told"), rows)
        lost = sum(one.regret for one in self.guesses)
        yield f"Lost against the most informative guesses: {lost:.2f} bits."


def review_guesses(
    start: Posterior,
    turns: Sequence[Turn],
    rng: np.random.Generator,
    *,
    won: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> GameReview:
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
    >>> [(round(one.information, 2), round(one.regret, 2)) for one in reviewed.guesses]
    [(1.04, 0.93), (1.94, 0.01)]
    """
    from bnmind.lab.mastermind.advice import advise, winning_probability
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
    return GameReview(
        board=board, noise=start.channel.name, turns=tuple(turns), guesses=tuple(reviewed)
    )


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
    if board.n_codes > _MOST_CODES:
        return None
    try:
        judged = judge_guesses(board, turns, by=OPTIMAL, most_tried=_SOON, progress=progress)
    except (TooLargeError, ImpossibleEvidenceError):
        return None
    return judged.guesses


@dataclass(frozen=True, kw_only=True)
class GameRegret(Result, Value):
    """The guesses of a game beside the best ones by some measure, under true replies."""

    board: Board
    """The board."""
    turns: tuple[Turn, ...]
    """The guesses and the replies."""
    by: tuple[str, ...]
    """The measure of each guess: ``optimal``, or the strategy whose score is the value."""
    guesses: tuple[GuessRegret, ...]
    """The value of each guess and of the best one."""

    def to_dict(self) -> dict[str, Any]:
        """Return the guesses as a record."""
        rows = [
            {
                "guess": self.board.format(one.guess),
                "reply": str(turn.reply),
                "possible_codes": one.codes,
                "is_possible": one.is_possible,
                "by": by,
                "value": one.value,
                "best": self.board.format(one.best),
                "best_value": one.best_value,
                "regret": one.regret,
            }
            for turn, by, one in zip(self.turns, self.by, self.guesses, strict=True)
        ]
        return {"board": str(self.board), "guesses": rows}

    def _shown(self) -> Iterator[str | Table]:
        rows = [
            (
                self.board.format(one.guess),
                str(turn.reply),
                f"{one.codes:,}",
                by,
                f"{one.value:.3f}",
                self.board.format(one.best),
                f"{one.best_value:.3f}",
                f"{one.regret:.3f}",
            )
            for turn, by, one in zip(self.turns, self.by, self.guesses, strict=True)
        ]
        heads = ("guess", "reply", "codes", "judged by", "value", "best", "value", "lost")
        yield Table(heads, rows)
        pairs = zip(self.by, self.guesses, strict=True)
        lost = [one.regret for by, one in pairs if by == OPTIMAL]
        if lost:
            yield f"Lost against optimal guesses: {sum(lost):.3f} guesses."


def judge_guesses(
    board: Board,
    turns: Sequence[Turn],
    *,
    by: str | None = None,
    most_tried: int = _MOST_TRIED,
    progress: Callable[[int, int], None] | None = None,
) -> GameRegret:
    """Return each guess of a game beside the best one, under true replies.

    Parameters
    ----------
    board
        The board.
    turns
        The guesses and their replies.
    by
        ``optimal``, or the name of a strategy whose score to use; by default the optimum, and a
        score where it cannot be computed.
    most_tried
        The largest number of guesses to try for the optimum.
    progress
        Called before each guess with the number of judged guesses and of all.

    Raises
    ------
    InvalidArgumentError
        If the strategy does not choose by one score.
    ImpossibleEvidenceError
        If no code agrees with all replies.
    TooLargeError
        If the optimum is asked for, and cannot be computed.
    """
    from bnmind.strategies import exact_regret, regrets, strategy_by_name
    from bnmind.strategies.greedy import myopic_rule
    from bnmind.strategies.optimum import SearchRules

    def by_score(name: str, last: int, report: Any = None) -> tuple[GuessRegret, ...]:
        rule = myopic_rule(strategy_by_name(name))
        if rule is None:
            raise InvalidArgumentError(
                f"expected optimal or a strategy of one score as the measure, got {name}"
            )
        return regrets(board, turns[:last], rule.score, progress=report)

    if by not in (None, OPTIMAL):
        names = [by] * len(turns)
        judged = list(by_score(by, len(turns), progress))
    else:
        names, judged = [], []
        rules = SearchRules(max_tried=most_tried)
        for number in range(1, len(turns) + 1):
            if progress is not None:
                progress(number - 1, len(turns))
            try:
                judged.append(exact_regret(board, turns[:number], rules=rules))
                names.append(OPTIMAL)
            except TooLargeError:
                if by is not None:
                    raise
                judged.append(by_score(_ELSE, number)[-1])
                names.append(_ELSE)
    return GameRegret(board=board, turns=tuple(turns), by=tuple(names), guesses=tuple(judged))
