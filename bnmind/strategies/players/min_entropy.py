"""Minimal expected entropy: the guess with the most informative reply."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Value
from bnmind.information import choose_by_information, choose_question
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.beliefs.unknown_noise import UnknownNoiseBelief
from bnmind.mastermind.masses.mass_plan import plan_masses
from bnmind.strategies.base.beginnings import ModelsNoise
from bnmind.strategies.base.needs import distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo

__all__ = ["Entropy"]


@dataclass(frozen=True)
class Entropy(ModelsNoise, Value):
    """Choose, among all guesses, the guess of minimal expected entropy.

    The score is the expected entropy. Guesses whose scores differ by at most 1e-9 bits are
    ordered by their probability of being the code, then lexicographically. If the code is known,
    no guess is informative, and the strategy guesses the code.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> channel = Channel.exact(Board(4, 6)).revealed()
    >>> guess, info = Entropy().choose(Entropy().start(channel), np.random.default_rng(0))
    >>> channel.board.format(channel.board.code(guess)), round(info.information, 4), info.tied
    ('1234', 3.0567, 360)

    References
    ----------
    Vomlel, *Bayesian networks in Mastermind*, section 2, the myopic strategy; Bestavros and Belal
    (1986) and Neuwirth (1982) for truthful replies. The expected entropy is computed as entropy
    minus information, without conditioning on any reply.
    """

    name: str = "entropy"
    """The name of the strategy at the command line and in files."""
    once: bool = False
    """Whether the process needs only one or two guesses. Small boards then avoid compiled code,
    which takes most of a second to load."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice."""
        return True

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of minimal expected entropy, without using `rng`."""
        if isinstance(belief, UnknownNoiseBelief) and len(belief.products) > 1:
            return _under_unknown_noise(belief)
        codes = distribution_of(belief)
        plan = plan_masses(codes.board, codes.probabilities, history=belief.history, once=self.once)
        choice = choose_question(
            plan.run(codes.probabilities),
            belief.channel.matrix,
            preference=codes.probabilities[plan.guesses],
        )
        guess = int(plan.guesses[choice.question])
        gained = float(choice.information[choice.question])
        expected_entropy = max(0.0, codes.entropy() - gained)
        tied = int(plan.sizes[choice.tied].sum())
        return guess, GuessInfo(
            guess=guess,
            score=expected_entropy,
            information=gained,
            expected_entropy=expected_entropy,
            tied=tied,
            plan=plan,
        )


def _under_unknown_noise(belief: UnknownNoiseBelief) -> tuple[int, GuessInfo]:
    """Return the guess whose reply tells most about the code, whatever it tells of the noise."""
    codes = belief.codes
    choice = choose_by_information(belief.information(), preference=codes.probabilities)
    gained = float(choice.information[choice.question])
    expected_entropy = max(0.0, codes.entropy() - gained)
    return int(choice.question), GuessInfo(
        guess=int(choice.question),
        score=expected_entropy,
        information=gained,
        expected_entropy=expected_entropy,
        tied=len(choice.tied),
    )
