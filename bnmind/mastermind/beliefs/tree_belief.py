"""A belief computed by the junction tree of Vomlel's transformed network.

*Bayesian networks in Mastermind* (2004), section 4: after each guess, insert T = t, P′ and C′,
propagate, keep the joint of H_1, …, H_n, and retract the rest. The plan is compiled once for a
board and a channel. Each run takes the belief as a table over the H_j, which replaces their
priors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import CancellationError, ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction import Limits, OrderFinder, Plan, Simplifications, compile_plan
from bnmind.mastermind.beliefs.belief import CodeBelief, impossible_history
from bnmind.mastermind.beliefs.table_belief import TableBelief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.network.vomlel import (
    REPORTS,
    code_variables,
    evidence_of_guess,
    vomlel_network,
)
from bnmind.mastermind.priors.prior import Prior, distribution_before
from bnmind.mastermind.reply import Reply
from bnmind.pgm import FactorModel
from bnmind.rank_one import factorize

__all__ = ["TreeBelief", "belief_plan"]

_BELIEF = "belief"
"""The input of the plan: the joint of H_1, …, H_n."""


@checked
def belief_plan(
    channel: Channel, *, factorized: bool = True, order: OrderFinder | None = None
) -> Plan:
    """Return the plan that computes the next belief from a belief, a guess and its reply.

    Parameters
    ----------
    channel
        The channel that reports P′ and C′.
    factorized
        Whether to factorize the table of C, as in stage 3. Without it, the plans of most
        boards must be restricted before they run.
    order
        The method that finds an elimination order.

    Returns
    -------
    Plan
        Evidence ``T1``, …, ``Tn``, ``P_reported``, ``C_reported``; input
        ``belief`` over the H_j; target the joint of the H_j.
    """
    board = channel.board
    # A uniform prior for each peg, which the input replaces.
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
        simplifications=Simplifications(factorize=factorized),
        limits=Limits(only_restrictions=not factorized),
    )


@dataclass(frozen=True, eq=False)
class TreeBelief(CodeBelief):
    """A belief updated by the junction tree; it gives the same numbers as `TableBelief`.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> belief = TreeBelief.start(Channel.exact(Board(3, 4)))
    >>> belief.update((1, 1, 2), Reply(1, 1)).codes.possible_codes()
    8
    """

    plan: Plan
    """The plan, compiled once and run for each reply."""

    @classmethod
    @checked
    def start(cls, channel: Channel, prior: Prior | Floats | None = None) -> TreeBelief:
        """Return the belief before the first guess.

        The parameters and errors are those of `TableBelief.start`.
        """
        codes = distribution_before(channel.board, prior)
        return cls(channel, (), codes, belief_plan(channel))

    def update(self, guess: Sequence[int], reply: Reply) -> TreeBelief:
        """Return the belief after another guess and its reported reply.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the channel never reports the reply.
        ImpossibleEvidenceError
            If the replies together have probability zero; the error names them.
        """
        self.channel.report_index(reply)
        turn = Turn(self.board.checked(guess), Reply.of(reply))
        history = (*self.history, turn)
        report = dict(zip(REPORTS, map(str, turn.reply), strict=True))
        evidence = {**evidence_of_guess(turn.guess), **report}
        try:
            posterior = self.plan.run(evidence, {_BELIEF: self.codes.joint()})
        except ImpossibleEvidenceError:
            raise impossible_history(self.channel, history) from None
        except CancellationError:
            # The table over all codes has no negative entries.
            table = TableBelief(self.channel, self.history, self.codes).update(guess, reply)
            return replace(self, history=table.history, codes=table.codes)
        joint = posterior.targets[0].values.real
        if not self.board.repeats:
            joint = joint[tuple(self.board.codes.T.astype(np.intp) - 1)]
        codes = CodeDistribution(self.board, joint.ravel())
        return TreeBelief(self.channel, history, codes, self.plan)

    def plan_for(self, guess: Sequence[int]) -> Plan:
        """Return the plan restricted to a guess and to the codes still possible.

        Only the reply remains as evidence; the cliques contain only possible codes and states.

        Parameters
        ----------
        guess
            The colors of the guess, each from 1 to the number of colors.
        """
        code = self.board.code(self.board.index(guess))
        return self.plan.restrict(evidence_of_guess(code), {_BELIEF: self.codes.joint()})
