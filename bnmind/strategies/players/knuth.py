"""Knuth's strategy: minimize the number of codes left in the worst case."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.masses.mass_plan import plan_masses
from bnmind.strategies.base.beginnings import TrustsReplies
from bnmind.strategies.base.needs import distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo
from bnmind.strategies.scores.mass_scores import worst_cases

__all__ = ["Knuth"]


@dataclass(frozen=True)
class Knuth(TrustsReplies, Value):
    """Choose, among all guesses, the one that leaves the fewest codes in the worst case.

    The strategy assumes true replies, whatever the channel is. If the replies contradict each
    other, the codes that contradict the fewest replies count as possible. The score is the
    largest number of codes that one reply leaves; smaller classes are not compared. Among
    guesses of equal score, possible codes come first, in lexicographic order.

    References
    ----------
    Knuth, *The computer as a Master Mind*, Journal of Recreational Mathematics 9 (1976).
    """

    name: str = "knuth"
    """The name of the strategy at the command line and in files."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice."""
        return True

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the smallest worst case, without using `rng`."""
        possible = distribution_of(belief).probabilities > 0
        # Sums of ones are exact in floating point, so ties are exact.
        counts = possible.astype(np.float64)
        plan = plan_masses(belief.board, counts, history=belief.history)
        worst = worst_cases(plan.run(counts))
        tied = np.flatnonzero(worst == worst.min())
        best = tied[np.argmax(possible[plan.guesses[tied]])]
        guess, among = int(plan.guesses[best]), int(plan.sizes[tied].sum())
        return guess, GuessInfo(guess, float(worst[best]), tied=among, plan=plan)
