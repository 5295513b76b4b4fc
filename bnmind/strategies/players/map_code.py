"""Guess the most probable code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Value
from bnmind.information import tied_best
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.channel import Channel
from bnmind.strategies.base.beginnings import ModelsNoise
from bnmind.strategies.base.needs import distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo

__all__ = ["MapCode", "trust_suffices"]

_TIE = 1e-9  # probabilities closer than this, relative to the largest, are equal


@dataclass(frozen=True)
class MapCode(ModelsNoise, Value):
    """Choose the most probable code (maximum a posteriori); ties are broken at random.

    The score is the probability of the code. Probabilities within a relative difference of 1e-9
    are equal.
    """

    name: str = "map"
    """The name of the strategy at the command line and in files."""

    @property
    def deterministic(self) -> bool:
        """Ties are broken at random."""
        return False

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return one of the most probable codes."""
        p = distribution_of(belief).probabilities
        tied = tied_best(p, tolerance=_TIE * float(p.max()))
        guess = int(tied[rng.integers(len(tied))])
        return guess, GuessInfo(guess, float(p[guess]), tied=len(tied))


@checked_if_it_fails
def trust_suffices(channel: Channel) -> bool:
    """Return whether the most probable codes are those that contradict the fewest replies.

    This holds if all wrong reports are equally likely, and less likely than the right one: for
    exact and false replies, but not for independent errors of the two numbers. `MapCode` and
    `RandomCode` then play the same games.

    Parameters
    ----------
    channel
        The channel that both assume, in its `revealed` form if the game ends at the winning
        guess.
    """
    replies = channel.board.true_replies
    n_rows = len(replies) - channel.ends  # a won game has no report
    ratios: list[float] = []
    for report, column in zip(channel.reports, channel.matrix[:n_rows].T, strict=False):
        own = replies.index(report) if report in replies else n_rows
        wrong, right = np.delete(column, slice(own, own + 1)), column[own : own + 1]
        if wrong.size and wrong.max() - wrong.min() > _TIE * wrong.max():
            return False
        if wrong.size and right.size:
            ratios.append(float(wrong[0] / right[0]) if right[0] else 1.0)
    return not ratios or (max(ratios) < 1 and max(ratios) - min(ratios) <= _TIE)
