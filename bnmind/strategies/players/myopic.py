"""Myopic strategies: the guess of the best score, one guess ahead.

Every myopic strategy of the literature is a `Myopic`: a score, the guesses among which it
chooses, and what it does about ties. It takes every reply for the truth.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.mass_plan import plan_masses
from bnmind.strategies.base.strategy import GuessInfo, start_belief, trusting_channel
from bnmind.strategies.scores.score import Score

__all__ = ["Among", "Myopic", "Ties"]


class Among(Enum):
    """Which guesses are considered."""

    ALL = "all codes"
    POSSIBLE = "codes that are still possible"


class Ties(Enum):
    """Which of equally good guesses is made, possible ones going before others."""

    FIRST = "the first in lexicographic order"
    RANDOM = "any of them, by chance"


@dataclass(frozen=True)
class Myopic(Value):
    """Choose the guess of the best score.

    Whatever the channel, replies are taken for the truth, and where they contradict each
    other for as true as can be, as `Knuth` does. Of guesses of equal scores one that is still
    possible is preferred. That serves to *reveal* the code; only to *determine* it, so that
    one code is left, takes the same guesses and stops before the last one
    (`StrategyTree.lengths`): scores that are corrected for the winning class aim at the former,
    scores that are not at the latter.

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
    """How guesses are judged."""
    name: str = "myopic"
    """What it is called at the command line and in files."""
    among: Among = Among.ALL
    """Which guesses are considered."""
    ties: Ties = Ties.FIRST
    """Which of equally good guesses is made."""
    first: tuple[int, ...] | None = None
    """The first guess; chosen like any other if None."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice unless chance breaks ties."""
        return self.ties is Ties.FIRST

    def start(self, channel: Channel) -> Belief:
        """Return a belief that takes every reply for the truth."""
        if self.first is not None:
            channel.board.index(self.first)
        return start_belief(trusting_channel(channel))

    def choose(self, belief: Belief, rng: np.random.Generator) -> tuple[int, GuessInfo]:
        """Return the guess of the best score."""
        board, possible = belief.board, belief.codes.probabilities > 0
        if self.first is not None and not belief.history:
            guess = board.index(self.first)
            return guess, GuessInfo(guess)
        n = int(np.count_nonzero(possible))
        # Sums of ones are exact in floating point: ties are ties.
        counts = possible.astype(np.float64)
        plan = plan_masses(
            board, counts, history=belief.history, every_guess=not self.deterministic
        )
        classes, guesses, sizes = plan.run(counts), plan.guesses, plan.sizes
        if self.among is Among.POSSIBLE:
            kept = possible[guesses]
            classes, guesses, sizes = classes[kept], guesses[kept], sizes[kept]
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
