"""The belief by the junction tree of Vomlel's transformed network.

*Bayesian networks in Mastermind* (2004), section 4: after each guess insert T = t,
P′ and C′, propagate, keep the joint over H_1, …, H_n, and retract the rest. The
plan is compiled once for the board and the channel; the belief goes in as a table
over the H_j in place of their priors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.errors import CancellationError, ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction import OrderFinder, Plan, compile_plan
from bnmind.mastermind.beliefs.belief import impossible_history, misreport_probabilities
from bnmind.mastermind.beliefs.distribution import CodeDistribution
from bnmind.mastermind.beliefs.table_belief import TableBelief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.network.vomlel import (
    REPORTS,
    code_variables,
    evidence_of_guess,
    vomlel_network,
)
from bnmind.mastermind.reply import Reply
from bnmind.pgm import FactorModel
from bnmind.rank_one import factorize

__all__ = ["TreeBelief", "belief_plan"]

_BELIEF = "belief"
"""The plan's input: the joint over H_1, …, H_n."""


@checked
def belief_plan(
    channel: Channel, *, factorized: bool = True, order: OrderFinder | None = None
) -> Plan:
    """Return the plan that takes a belief, a guess and its reply to the joint over the code.

    Parameters
    ----------
    channel
        What P′ and C′ come through.
    factorized
        Stage 3, with the table of C factorized; False leaves the network as it
        is, which on most boards is a plan that must be restricted before it runs.
    order
        How to look for an elimination order.

    Returns
    -------
    Plan
        Evidence ``T1``, …, ``Tn``, ``P_reported``, ``C_reported``; input
        ``belief`` over the H_j; target the joint of the H_j.
    """
    board = channel.board
    # A uniform prior for each peg: it is taken away again, and the input put in its place.
    flat = np.ones((board.pegs, board.colors))
    network = vomlel_network(board, channel=channel, prior=flat)
    model = FactorModel(network.potentials)
    if factorized:
        model = factorize(model, "C", name="B")
    code = [v.name for v in code_variables(board)]
    rest = FactorModel(
        tuple(p for p in model.potentials if p.scope[0].name not in code),
        replacements=model.replacements,
    )
    return compile_plan(
        rest,
        evidence=[*evidence_of_guess([1] * board.pegs), *REPORTS],
        targets=[code],
        inputs={_BELIEF: code},
        order=order,
        factorize=factorized,
        to_be_restricted=not factorized,
    )


@dataclass(frozen=True, eq=False)
class TreeBelief(CheckedValue):
    """A belief updated by the junction tree; the same numbers as `TableBelief`.

    Examples
    --------
    >>> belief = TreeBelief.start(Channel.exact(Board(3, 4)))
    >>> belief.update((1, 1, 2), Reply(1, 1)).codes.possible_codes()
    8
    """

    channel: Channel
    """The channel that the replies are believed to come through."""
    history: tuple[Turn, ...]
    """The turns taken in, oldest first."""
    codes: CodeDistribution
    """The probability of every code given the history."""
    plan: Plan
    """Compiled once, run for every reply."""

    @classmethod
    @checked
    def start(cls, channel: Channel, prior: Floats | None = None) -> TreeBelief:
        """Return the belief before the first guess.

        Parameters
        ----------
        channel
            The channel that the replies are believed to come through.
        prior
            ``(n_codes,)``, the probability of every code; uniform unless given.

        Raises
        ------
        InvalidProbabilityError
            If the prior is no distribution over the codes of the board.
        TooLargeError
            If the codes of the board are too many to be listed.
        """
        board = channel.board
        codes = CodeDistribution.uniform(board) if prior is None else CodeDistribution(board, prior)
        return cls(channel, (), codes, belief_plan(channel))

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    def update(self, guess: Sequence[int], reply: Reply) -> TreeBelief:
        """Return the belief after one more guess and the reply reported to it.

        Raises
        ------
        InvalidCodeError
            If the guess is not of the board.
        InvalidReplyError
            If the channel never gives the reply.
        ImpossibleEvidenceError
            If the replies together have probability zero; it names them.
        """
        self.channel.report_index(reply)
        turn = Turn(self.board.checked(guess), Reply.of(reply))
        history = (*self.history, turn)
        heard = dict(zip(REPORTS, map(str, turn.reply), strict=True))
        evidence = {**evidence_of_guess(turn.guess), **heard}
        try:
            posterior = self.plan.run(evidence, {_BELIEF: self.codes.joint()})
        except ImpossibleEvidenceError:
            raise impossible_history(self.channel, history) from None
        except CancellationError:
            # The table over all codes has no signs.
            table = TableBelief(self.channel, self.history, self.codes).update(guess, reply)
            return replace(self, history=table.history, codes=table.codes)
        joint = posterior.targets[0].values.real
        if not self.board.repeats:
            joint = joint[tuple(self.board.codes.T.astype(np.intp) - 1)]
        codes = CodeDistribution(self.board, joint.ravel())
        return TreeBelief(self.channel, history, codes, self.plan)

    def plan_for(self, guess: Sequence[int]) -> Plan:
        """Return the plan restricted to a guess and to the codes still possible.

        Its evidence is the reply alone; the cliques hold possible codes and states only.
        """
        code = self.board.code(self.board.index(guess))
        return self.plan.restrict(evidence_of_guess(code), {_BELIEF: self.codes.joint()})

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return for each turn the probability that its reply was misreported."""
        return misreport_probabilities(self.codes, self.history)
