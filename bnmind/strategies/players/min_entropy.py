"""Minimal expected entropy: the guess whose outcome tells most about the code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind.information import choose_question
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.mass_plan import plan_masses
from bnmind.strategies.base.strategy import GuessInfo, start_belief

__all__ = ["Entropy"]


@dataclass(frozen=True)
class Entropy:
    """Choose, among all guesses, the one of minimal expected entropy.

    Its score is the expected entropy. Guesses of equal score, to 1e-9 bits, are ranked
    by their probability of being the code, then lexicographically; so a code that is
    known is guessed, as every guess then tells nothing.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> channel = Channel.exact(Board(4, 6)).revealed()
    >>> guess, info = Entropy().choose(Entropy().start(channel), np.random.default_rng(0))
    >>> channel.board.format(channel.board.code(guess)), round(info.information, 4), info.tied
    ('1234', 3.0567, 360)

    References
    ----------
    Vomlel, *Bayesian networks in Mastermind*, section 2, the myopic strategy; Bestavros
    and Belal (1986) and Neuwirth (1982) for truthful replies. The expected entropy is
    computed as entropy less information, without conditioning on any reply.
    """

    name: str = "entropy"
    """What it is called at the command line and in files."""
    once: bool = False
    """Whether the process asks for a guess or two only, so that small boards had better do
    without compiled code, which takes most of a second to load."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice."""
        return True

    def start(self, channel: Channel) -> Belief:
        """Return the belief before the first guess; see `start_belief`."""
        return start_belief(channel)

    def choose(self, belief: Belief, rng: np.random.Generator) -> tuple[int, GuessInfo]:
        """Return the guess of minimal expected entropy; nothing is left to chance."""
        codes = belief.codes
        plan = plan_masses(codes.board, codes.probabilities, history=belief.history, once=self.once)
        choice = choose_question(
            plan.run(codes.probabilities),
            belief.channel.matrix,
            preference=codes.probabilities[plan.guesses],
        )
        guess = int(plan.guesses[choice.question])
        gained = float(choice.information[choice.question])
        left = max(0.0, codes.entropy() - gained)
        tied = int(plan.sizes[choice.tied].sum())
        return guess, GuessInfo(guess, left, gained, left, tied, plan)
