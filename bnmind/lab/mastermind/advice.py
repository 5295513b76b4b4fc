"""Advice for a player: the belief about the code, the next guess, and the replies to doubt.

The belief and the entropy strategy compute all of it; this module only collects it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bnmind.errors import InvalidHistoryError

if TYPE_CHECKING:
    import numpy as np

    from bnmind.mastermind import Belief, Board, Channel, Turn

__all__ = [
    "Advice",
    "Doubt",
    "advise",
    "belief_after",
    "choosing",
    "contradictions",
    "doubts_of",
    "ending",
    "found",
    "most_probable",
    "start",
    "winning_report_ends",
]


@dataclass(frozen=True)
class Doubt:
    """An earlier guess, its reported reply, and the probability that the reply is wrong."""

    guess: str
    reply: str
    probability_wrong: float


@dataclass(frozen=True, kw_only=True)
class Advice:
    """The next guess and the reasons for it; or the code, if it has been found."""

    guess: str
    information: float
    """The expected information of the guess, in bits."""
    expected_entropy: float
    """The expected entropy after the guess, in bits."""
    entropy: float
    """The entropy before the guess, in bits."""
    possible_codes: int
    most_probable: tuple[tuple[str, float], ...]
    """At most ten codes and their probabilities."""
    doubts: tuple[Doubt, ...]
    """One doubt for each turn, in the order of turns."""
    contradictions: int | None
    """The number of replies that must be wrong; None if the channel has noise."""
    found: bool = False
    """Whether the last reply won the game, so that the guess is the code."""


def start(channel: Channel) -> Belief:
    """Return the belief of a player before the first guess.

    Without noise the belief is the limit of vanishing noise: it reports contradictory replies, and
    the advice goes on.
    """
    from bnmind.mastermind import TableBelief, VanishingBelief

    if channel.is_exact:
        return VanishingBelief.start(channel.board)
    return TableBelief.start(channel.revealed())


def belief_after(belief: Belief, turns: Iterable[Turn]) -> Belief:
    """Return the belief after further turns."""
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    return belief


def winning_report_ends(channel: Channel) -> bool:
    """Return whether a report of n black pegs implies that the game is won.

    If the two numbers have independent errors, this report may occur in a game that goes on.
    """
    winning = channel.board.winning
    if winning not in channel.reports:
        return True
    return not channel.revealed().likelihood(winning).any()


def ending(channel: Channel, turns: Sequence[Turn], *, goes_on: bool) -> bool:
    """Return whether the last turn won the game.

    Raises
    ------
    InvalidHistoryError
        If a turn follows a reply that must have ended the game.
    """
    winning = channel.board.winning
    last = bool(turns) and turns[-1].reply == winning and not goes_on
    earlier = turns[:-1] if last else turns
    if winning_report_ends(channel):
        for number, turn in enumerate(earlier, start=1):
            if turn.reply == winning:
                raise InvalidHistoryError(
                    f"entry {number} of the history, {channel.board.format(turn.guess)} "
                    f"{turn.reply}, ends the game under the noise {channel.name}, but further "
                    f"entries follow",
                    turn,
                )
    return last


def most_probable(belief: Belief, n: int = 10) -> tuple[tuple[str, float], ...]:
    """Return the most probable codes and their probabilities."""
    board = belief.board
    return tuple(
        (board.code_text(index), probability)
        for index, probability in belief.codes.most_probable(n)
    )


def doubts_of(belief: Belief) -> tuple[Doubt, ...]:
    """Return, for each turn, the probability that its reply is wrong."""
    return _doubts(belief.board, belief.history, belief.misreport_probabilities())


def contradictions(belief: Belief) -> int | None:
    """Return the number of replies that must be wrong; None if the channel has noise."""
    from bnmind.mastermind import VanishingBelief

    return belief.contradictions if isinstance(belief, VanishingBelief) else None


def advise(belief: Belief, rng: np.random.Generator) -> Advice:
    """Return the next guess of the entropy strategy, and the reasons for it."""
    from bnmind.strategies import Entropy

    board = belief.board
    guess, info = Entropy(once=True).choose(belief, rng)
    return Advice(
        guess=board.code_text(guess),
        information=info.information,
        expected_entropy=info.expected_entropy,
        entropy=belief.codes.entropy(),
        possible_codes=belief.codes.possible_codes(),
        most_probable=most_probable(belief),
        doubts=doubts_of(belief),
        contradictions=contradictions(belief),
    )


def choosing(board: Board) -> str:
    """Return a description of the work of `advise`."""
    return f"choosing among {board.n_codes:,} guesses"


def found(belief: Belief, last: Turn) -> Advice:
    """Return the code found by the last turn, and the doubts about the earlier replies.

    Parameters
    ----------
    belief
        The belief before the last turn.
    last
        The winning turn.

    Raises
    ------
    ImpossibleEvidenceError
        If the channel has noise and the earlier replies rule out the code.
    """
    import numpy as np

    from bnmind.mastermind import CodeDistribution, impossible_history, misreport_probabilities

    board = belief.board
    turns = (*belief.history, last)
    trusting = contradictions(belief) is not None
    if not trusting and belief.codes.probability(last.guess) == 0:
        raise impossible_history(belief.channel, turns)
    certain = np.zeros(board.n_codes)
    certain[board.index(last.guess)] = 1.0
    wrong = misreport_probabilities(CodeDistribution(board, certain), turns)
    code = board.format(last.guess)
    return Advice(
        guess=code,
        information=0.0,
        expected_entropy=0.0,
        entropy=0.0,
        possible_codes=1,
        most_probable=((code, 1.0),),
        doubts=_doubts(board, turns, wrong),
        contradictions=round(sum(wrong)) if trusting else None,
        found=True,
    )


def _doubts(board: Board, turns: Sequence[Turn], wrong: Sequence[float]) -> tuple[Doubt, ...]:
    return tuple(
        Doubt(board.format(turn.guess), str(turn.reply), probability)
        for turn, probability in zip(turns, wrong, strict=True)
    )
