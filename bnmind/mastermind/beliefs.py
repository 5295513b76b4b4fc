"""Beliefs: what is known about the secret code, given a history.

===============  ==========================================================================
protocol         what a belief of this kind gives
===============  ==========================================================================
`Belief`         the board, the channel and the turns so far
`Posterior`      probabilities and entropies, exact or estimated, with their standard errors
`ExactBelief`    the probability of each code
===============  ==========================================================================

A belief holds the turns alone (`HistoryBelief`), or a table over all codes (`TableBelief`), or is
computed by the junction tree of Vomlel's transformed network (`TreeBelief`). The last follows
*Bayesian networks in Mastermind* (2004), section 4: after each guess, insert T = t, P′ and C′,
propagate, keep the joint of H_1, …, H_n, and retract the rest. The plan is compiled once for a
board and a channel. Each run takes the belief as a table over the H_j, which replaces their
priors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import MOST_ROWS, table_html
from bnmind._messages import counted
from bnmind._values import Value, made
from bnmind.errors import CancellationError, ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction import Limits, OrderFinder, Plan, compile_plan
from bnmind.mastermind.board import Board, Reply, Turn, format_history
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.distribution import CodeDistribution
from bnmind.mastermind.masses import bayes_rule, guess_masses
from bnmind.mastermind.network import REPORTS, code_variables, evidence_of_guess, vomlel_network
from bnmind.mastermind.prior import Prior, distribution_before
from bnmind.pgm import FactorModel
from bnmind.rank_one import factorize

# --- The belief protocols: what is known about the secret code, given a history -------------------


class Belief(Protocol):
    """A belief about the secret code after a history of guesses and reported replies.

    Beliefs are immutable. An update returns a new belief; to undo it, keep the old one.
    """

    @property
    def board(self) -> Board:
        """The board."""

    @property
    def channel(self) -> Channel:
        """The channel that the belief assumes."""

    @property
    def history(self) -> tuple[Turn, ...]:
        """The turns so far, oldest first."""

    def update(self, guess: Sequence[int], reply: Reply) -> Self:
        """Return the belief after another guess and its reported reply.

        Parameters
        ----------
        guess
            The guess, colors 1..k.
        reply
            The reported reply.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the channel never reports the reply.
        ImpossibleEvidenceError
            If the replies together have probability zero; the error names them. A belief that
            does not compute probabilities does not raise it.
        """


class Posterior(Belief, Protocol):
    """A belief that knows the probability distribution of the code, or samples of it.

    If it holds samples, its numbers are estimates, and `standard_errors` tells how precise
    they are.
    """

    def masses(self, guesses: NDArray[np.intp]) -> Floats:
        """Return the probability of each true reply, ``(guesses, len(board.true_replies))``.

        Parameters
        ----------
        guesses
            ``(guesses,)``, indices of codes.
        """

    def entropy(self) -> float:
        """Return the entropy of the code, in bits."""

    def most_probable(self, n: int = 10) -> tuple[tuple[int, float], ...]:
        """Return up to `n` codes as ``(index, probability)``, the most probable code first."""

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return, for each turn, the probability that its reply was misreported.

        The probability is conditional on the whole history. A reply is misreported if either
        of its two numbers is wrong.
        """

    def draw(self, n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Return `n` codes drawn from the distribution, ``(n, pegs)``, colors from 1.

        Parameters
        ----------
        n
            The number of codes, at least 0.
        rng
            The source of random numbers.
        """

    @property
    def standard_errors(self) -> StandardErrors:
        """The standard errors of the numbers; zero if they are exact."""


class StandardErrors(Protocol):
    """The standard errors of a belief's numbers, by methods of the same names."""

    def masses(self, guesses: NDArray[np.intp]) -> Floats:
        """Return the standard errors of `Posterior.masses`, in the same shape.

        Parameters
        ----------
        guesses
            ``(guesses,)``, indices of codes.
        """

    def entropy(self) -> float:
        """Return the standard error of `Posterior.entropy`, in bits."""

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return the standard errors of `Posterior.misreport_probabilities`."""


class ExactBelief(Posterior, Protocol):
    """A belief that holds the probability of each code."""

    @property
    def codes(self) -> CodeDistribution:
        """The probability of each code, given the history."""


@dataclass(frozen=True)
class NoErrors:
    """The standard errors of exact numbers: zeros."""

    board: Board
    """The board."""
    turns: int
    """The number of turns so far."""

    def masses(self, guesses: NDArray[np.intp]) -> Floats:
        """Return zeros, ``(guesses, len(board.true_replies))``."""
        return np.zeros((len(guesses), len(self.board.true_replies)))

    def entropy(self) -> float:
        """Return 0."""
        return 0.0

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return a zero for each turn."""
        return (0.0,) * self.turns


class FromCodes:
    """The methods of `ExactBelief` that follow from its ``codes``."""

    __slots__ = ()

    def __repr__(self: ExactBelief) -> str:
        channel, turns = self.channel, counted(len(self.history), "turn")
        return f"{type(self).__name__}({channel.board}, {channel.name}, {turns})"

    def _repr_html_(self: ExactBelief) -> str:
        """Return the most probable codes as an HTML table, which notebooks display."""
        likely = self.most_probable(MOST_ROWS)
        rows = [(self.board.format_index(code), f"{chance:.4g}") for code, chance in likely]
        return table_html(("most probable code", "probability"), rows, caption=repr(self))

    def masses(self: ExactBelief, guesses: NDArray[np.intp]) -> Floats:
        """Return the probability of each true reply, ``(guesses, len(board.true_replies))``."""
        return self.codes.masses(guesses)

    def entropy(self: ExactBelief) -> float:
        """Return the entropy of the code, in bits."""
        return self.codes.entropy()

    def most_probable(self: ExactBelief, n: int = 10) -> tuple[tuple[int, float], ...]:
        """Return up to `n` codes as ``(index, probability)``, the most probable code first."""
        return self.codes.most_probable(n)

    def misreport_probabilities(self: ExactBelief) -> tuple[float, ...]:
        """Return, for each turn, the probability that its reply was misreported."""
        return misreport_probabilities(self.codes, self.history)

    def draw(self: ExactBelief, n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Return `n` codes drawn from the distribution, ``(n, pegs)``, colors from 1."""
        return self.codes.draw(n, rng)

    @property
    def standard_errors(self: ExactBelief) -> NoErrors:
        """The standard errors of exact numbers: zeros."""
        return NoErrors(self.board, len(self.history))


@dataclass(frozen=True, eq=False)
class CodeBelief(FromCodes, Value):
    """The common part of the beliefs that hold a distribution of codes."""

    channel: Channel
    """The channel that the belief assumes."""
    history: tuple[Turn, ...]
    """The turns so far, oldest first."""
    codes: CodeDistribution
    """The probability of each code, given the history."""

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board


@checked
def misreport_probabilities(codes: CodeDistribution, history: Sequence[Turn]) -> tuple[float, ...]:
    """Return Σ_s q(s)·[reply(s, t_k) ≠ reported reply k] for each turn k of the history.

    Parameters
    ----------
    codes
        The belief q after the whole history.
    history
        The turns. A reported reply that is not a true reply of the board is certainly wrong.
    """
    board = codes.board
    wrong: list[float] = []
    for turn in history:
        if turn.reply not in board.true_replies:
            wrong.append(1.0)
            continue
        masses = guess_masses(board, codes.probabilities, turn.guess)
        right = board.true_replies.index(turn.reply)
        # One minus the mass of the reported reply would lose digits by cancellation. The division
        # by the sum makes certain misreports exactly one.
        others = float(masses[:right].sum() + masses[right + 1 :].sum())
        wrong.append(others / (others + float(masses[right])))
    return tuple(wrong)


@checked
def impossible_history(channel: Channel, history: Sequence[Turn]) -> ImpossibleEvidenceError:
    """Return the error for replies that no code of the board explains.

    Parameters
    ----------
    channel
        The channel of the replies.
    history
        The guesses and their reported replies, which have probability zero.
    """
    board = channel.board
    evidence: dict[str, str] = {}
    for turn in history:
        guess = board.format(turn.guess)
        # The same guess may have two different replies.
        earlier = f"{evidence[guess]}, " if guess in evidence else ""
        evidence[guess] = f"{earlier}{turn.reply}"
    return ImpossibleEvidenceError(
        f"expected replies that some code of the board {board} explains under the channel "
        f"{channel.name}, got {format_history(board, history)}",
        evidence,
    )


# --- A belief that holds the turns of a game, and computes nothing from them ----------------------


@dataclass(frozen=True, eq=False)
class HistoryBelief(Value):
    """The turns of a game, for strategies that need only the history, on boards of any size.

    Examples
    --------
    >>> belief = HistoryBelief(Channel.exact(Board(10, 12)))
    >>> after = belief.update((1, 1, 2, 2, 3, 3, 4, 4, 5, 5), Reply(2, 3))
    >>> len(belief.history), len(after.history)
    (0, 1)
    """

    channel: Channel
    """The channel that the belief assumes."""
    history: tuple[Turn, ...] = ()
    """The turns so far, oldest first."""

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    def update(self, guess: Sequence[int], reply: Reply) -> HistoryBelief:
        """Return the belief after another guess and its reported reply.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the channel never reports the reply.
        """
        self.channel.report_index(reply)
        turn = Turn(self.board.checked(guess), Reply.of(reply))
        return HistoryBelief(self.channel, (*self.history, turn))


# --- A belief as a table over all codes, updated by Bayes' rule -----------------------------------


@dataclass(frozen=True, eq=False)
class TableBelief(CodeBelief):
    """A belief that stores the probability of each code.

    A code whose probability falls below 1e-308 counts as impossible.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> belief = TableBelief.start(Channel.exact(Board(4, 6)))
    >>> belief.update((1, 1, 2, 3), Reply(1, 2)).codes.possible_codes()
    84
    """

    @classmethod
    @checked
    def start(cls, channel: Channel, prior: Prior | Floats | None = None) -> TableBelief:
        """Return the belief before the first guess.

        Parameters
        ----------
        channel
            The channel that the belief assumes.
        prior
            The distribution of the code, or an array of the probability of each code,
            ``(n_codes,)``; uniform by default.

        Raises
        ------
        InvalidArgumentError
            If an array is not a distribution over the codes of the board.
            If the prior belongs to another board.
        TooLargeError
            If the board has too many codes for a belief.
        """
        return cls(channel, (), distribution_before(channel.board, prior))

    def update(self, guess: Sequence[int], reply: Reply) -> TableBelief:
        """Return the belief after another guess and its reported reply.

        The posterior of a code s is q(s)·N[reply(s, guess), reported], normalized.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the channel never reports the reply.
        ImpossibleEvidenceError
            If the replies together have probability zero; the error names them.
        """
        likelihood = self.channel.likelihood(reply)
        turn = Turn(self.board.checked(guess), Reply.of(reply))
        history = (*self.history, turn)
        after = bayes_rule(self.board, self.codes.probabilities, turn.guess, likelihood)
        if after is None:
            raise impossible_history(self.channel, history)
        codes = CodeDistribution(self.board, after)
        return made(TableBelief, channel=self.channel, history=history, codes=codes)


# --- A belief computed by the junction tree of Vomlel's transformed network -----------------------


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
        factorize=factorized,
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
