"""Myopic strategies: the guess of the best score, one guess ahead.

Each myopic strategy of the literature is a `Myopic`: a score, a set of candidate guesses, and a
rule for ties. It assumes true replies.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from enum import Enum

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief, ExactBelief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.mass_plan import plan_masses
from bnmind.mastermind.priors.prior import Prior
from bnmind.strategies.base.needs import Needs, distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, start_belief, trusting_channel
from bnmind.strategies.players.openings import FirstGuess
from bnmind.strategies.scores.score import Score

__all__ = ["Among", "Myopic", "Ties"]


class Among(Enum):
    """The candidate guesses."""

    ALL = "all codes"
    POSSIBLE = "codes that are still possible"


class Ties(Enum):
    """The rule for guesses of equal score; possible codes always come first."""

    FIRST = "the first in lexicographic order"
    RANDOM = "a random one"


@dataclass(frozen=True)
class Myopic(Value):
    """Choose the guess of the best score.

    The strategy assumes true replies, whatever the channel is. If the replies contradict each
    other, the codes that contradict the fewest replies count as possible, as in `Knuth`. Among
    guesses of equal score, possible codes are preferred. This *reveals* the code. To *determine*
    the code, so that one is left, the strategy makes the same guesses and stops before the last
    one (`StrategyTree.lengths`). Scores with a correction for the winning class are designed to
    reveal the code, scores without it to determine the code.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> from bnmind.strategies import ExpectedSize, build_tree
    >>> irving = Myopic(ExpectedSize(), name="irving")
    >>> tree = build_tree(irving, Channel.exact(Board(4, 6)))
    >>> tree.total, [int(found) for found in tree.distribution]
    (5696.0, [1, 10, 54, 645, 583, 3])
    """

    score: Score
    """The score of guesses."""
    _: KW_ONLY
    name: str = "myopic"
    """The name of the strategy at the command line and in files."""
    among: Among = Among.ALL
    """The candidate guesses."""
    ties: Ties = Ties.FIRST
    """The rule for guesses of equal score."""
    first: tuple[int, ...] | FirstGuess | None = None
    """The first guess, or the first guess on each board; chosen by score if None."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice, unless ties are broken at random."""
        return self.ties is Ties.FIRST

    @property
    def needs(self) -> Needs:
        """The probability of each code."""
        return Needs.DISTRIBUTION

    def first_guess(self, board: Board) -> tuple[int, ...] | None:
        """Return the given first guess on a board, which may not fit it; None if it is chosen.

        Parameters
        ----------
        board
            The board.
        """
        return self.first(board) if callable(self.first) else self.first

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return a belief that assumes true replies."""
        first = self.first_guess(channel.board)
        if first is not None:
            channel.board.index(first)
        return start_belief(trusting_channel(channel), prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the best score."""
        board, possible = belief.board, distribution_of(belief).probabilities > 0
        first = None if belief.history else self.first_guess(board)
        if first is not None:
            guess = board.index(first)
            return guess, GuessInfo(guess)
        n = int(np.count_nonzero(possible))
        # Sums of ones are exact in floating point, so ties are exact.
        counts = possible.astype(np.float64)
        plan = plan_masses(
            board, counts, history=belief.history, every_guess=not self.deterministic
        )
        classes, guesses, sizes = plan.run(counts), plan.guesses, plan.sizes
        if self.among is Among.POSSIBLE:
            mask = possible[guesses]
            classes, guesses, sizes = classes[mask], guesses[mask], sizes[mask]
        terms = self.score.terms(board, n)
        turn = len(belief.history)
        tied = terms.best(classes, turn)
        key = int(terms.keys(classes[tied[:1]], turn)[0])
        preferred = tied[possible[guesses[tied]]]
        if not len(preferred):
            preferred = tied
        drawn = 0 if self.deterministic else int(rng.integers(len(preferred)))
        guess = int(guesses[preferred[drawn]])
        shown = self.score.shown(board, key, n)
        return guess, GuessInfo(guess, shown, tied=int(sizes[tied].sum()), plan=plan)
