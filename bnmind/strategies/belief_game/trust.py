"""Trust the replies while they are probably true, and look ahead from the belief otherwise."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_fields
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind.beliefs.belief import Belief, ExactBelief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.masses.reply_table import replies_of
from bnmind.mastermind.priors.prior import Prior
from bnmind.strategies.base.needs import Needs, distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, Strategy, start_belief
from bnmind.strategies.belief_game.lookahead2 import LookAheadTwo
from bnmind.strategies.lookahead.beam_search import Deeper
from bnmind.strategies.lookahead.endgame import Breadth, Endgame
from bnmind.strategies.trees.planned_strategy import node_after
from bnmind.strategies.trees.tree import StrategyTree

__all__ = ["TrustWhileProbable", "most_consistent"]

_ENDGAME = Breadth(256, 6, 20_000)
_LARGEST_ENDGAME = 2048


@dataclass(frozen=True)
class TrustWhileProbable(Value):
    """Play as if the replies were true while that is probable, otherwise look ahead.

    Look-ahead on a fitted value sees one or two guesses ahead, but knows the noise. The search of
    sets of codes (`Deeper`, `Endgame`) sees the end of the game, but believes in the set: the
    codes that contradict the fewest replies. If the probability of this set exceeds `trust`, the
    strategy makes the guess that finds its codes with the fewest guesses; otherwise it asks the
    strategy `doubting`.

    Raises
    ------
    InvalidArgumentError
        If `trust` is not a probability.
    """

    name: str = "trust"
    """The name of the strategy."""
    _: KW_ONLY
    trust: float = 0.5
    """The probability of the codes that contradict the fewest replies from which on they are
    taken for the only ones."""
    doubting: Strategy = field(default_factory=LookAheadTwo)
    """The strategy when this set is less probable."""

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 <= self.trust <= 1:
            raise InvalidArgumentError(
                f"expected trust to be a probability, got {self.trust}", self.trust
            )

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice, if it does so for `doubting`."""
        return self.doubting.deterministic

    @property
    def needs(self) -> Needs:
        """The probability of each code."""
        return Needs.DISTRIBUTION

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return the belief before the first guess; see `start_belief`."""
        return start_belief(channel, prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess for the most consistent codes, or the guess of `doubting`."""
        codes = distribution_of(belief)
        members = most_consistent(belief.board, codes.probabilities > 0, belief.history)
        probability = float(codes.probabilities[members].sum())
        guess = None
        if probability > self.trust:
            guess = _guess_for(belief.board, members, belief.history)
        if guess is None:
            return self.doubting.choose(belief, rng, situation)
        return guess, GuessInfo(guess, score=probability)


def most_consistent(
    board: Board, possible: NDArray[np.bool_], history: tuple[Turn, ...]
) -> NDArray[np.intp]:
    """Return the possible codes that contradict the fewest replies, ascending.

    Parameters
    ----------
    board
        The board.
    possible
        Whether each code is possible, ``(n_codes,)``.
    history
        The turns.
    """
    true = board.true_replies
    contradicted = np.zeros(board.n_codes, dtype=np.intp)
    for turn in history:
        # A report that is no true reply contradicts every code.
        reported = true.index(turn.reply) if turn.reply in true else len(true)
        contradicted += replies_of(board, board.index(turn.guess)) != reported
    contradicted[~possible] = len(history) + 1
    return np.flatnonzero(contradicted == contradicted.min())


def _guess_for(board: Board, members: NDArray[np.intp], history: tuple[Turn, ...]) -> int | None:
    """Return the guess that finds the codes of a set soonest, or None if the set is too large."""
    if len(members) <= 2:
        return int(members[0])
    try:
        if len(history) < 2:
            node = node_after(_tree(board), history)
            return None if node is None else node.guess
        if len(members) > _LARGEST_ENDGAME:
            return None
        return Endgame(board, members.astype(np.int32), _ENDGAME).tree().guess
    except TooLargeError:
        return None


@lru_cache(maxsize=4)
def _tree(board: Board) -> StrategyTree:
    return Deeper()(board)
