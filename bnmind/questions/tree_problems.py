"""The problem that a tree of questions solves, and what it is to minimize, with its bounds.

=========  =========================================================================
symbol     name here
=========  =========================================================================
q          a belief about the hidden state, a row of ``beliefs``
v(q)       ``values``: what a tree that ends at q costs
I_y(q)     the information of question y at q, in bits
C_y        ``capacity_bound`` of its channel
d          the number of questions that may follow
p_y        the probability that a tree asks y
=========  =========================================================================

**Entropy.** The information of a tree is, by the chain rule, the sum over its questions of
P(h) I_y(h) over the histories h at which y is asked. For each question y this sum is at most

* I_y(q), since y is asked at most once on a path: the sum is at most the information of y given
  the path up to it, and outcomes are independent given the state, so that what is known already
  never raises the information of y about the state on average;
* p_y C_y, since I_y(h) ≤ C_y for every history h.

With Σ p_y ≤ d and p_y ≤ 1, the information of d questions is at most the value of the fractional
knapsack max Σ min(I_y(q), p_y C_y), which is filled by descending C_y. (The sum of the d largest
I_y(q) is no bound: after an outcome another question may tell more than any question did before.)

**Decisions.** Let A(q) be the chance that the best decision is right. An outcome o turns q(s) into
q(s) N[s, o], so that Σ_o P(o) A(q_o) ≤ β_y A(q) with β_y = Σ_o max_s N[s, o]. So d questions raise
A at most by the product of the d largest β. And A never exceeds that of who is told the state.

**Goals.** A penalty is bounded by 0 as long as questions may follow; the costs bound the rest.

References
----------
J. Vomlel, "Building adaptive tests using Bayesian networks", Kybernetika 40, 2004 (optimal tests by
AO* with an admissible heuristic); A. Krause and C. Guestrin, "Near-optimal nonmyopic value of
information in graphical models", UAI 2005 (sums of information for fixed sets of questions).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, TypeAlias

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray

from bnmind._values import Count, Filled, Must, Shape, Value, chances, sealed
from bnmind.information import Floats, unchecked_entropy

# The most that one question can tell, whatever is believed: capacities, and gains of decisions.
#
# =======  ===================================================================
# symbol   name here
# =======  ===================================================================
# N[s, o]  ``channel``, the chance of outcome o in state s
# C        capacity: the maximum over all beliefs q of I(q), in bits
# p        the distribution of the outcomes
# β        Σ_o max_s N[s, o]
# =======  ===================================================================
#
# For every distribution p of the outcomes, C ≤ max_s D(N[s, :] ‖ p), with equality at the best p.
# The algorithm of Arimoto and Blahut finds p; the bound holds at every step, so that a capacity
# that is returned is never too small.
#
# References
# ----------
# S. Arimoto, "An algorithm for computing the capacity of arbitrary discrete memoryless channels",
# IEEE Trans. Inf. Theory 1972; R. Blahut, "Computation of channel capacity and rate-distortion
# functions", IEEE Trans. Inf. Theory 1972 (theorem 2 for the bound).

_STEPS = 400
_CLOSE = 1e-10
_TINY = 1e-300


def capacity_bound(channel: Floats) -> float:
    """Return a number of bits, at least the capacity of a channel ``(states, outcomes)``.

    Examples
    --------
    >>> round(capacity_bound(np.array([[0.9, 0.1], [0.1, 0.9]])), 6)
    0.531004
    """
    rows = np.unique(channel, axis=0)
    logs = np.log2(np.maximum(rows, _TINY))
    inputs = np.full(len(rows), 1.0 / len(rows))
    best = np.inf
    for _ in range(_STEPS):
        outcomes = inputs @ rows
        divergences = np.sum(
            np.where(rows > 0, rows * (logs - np.log2(np.maximum(outcomes, _TINY))), 0.0), axis=1
        )
        best = min(best, float(divergences.max()))
        if best - float(inputs @ divergences) < _CLOSE:
            break
        inputs = inputs * np.exp2(divergences - divergences.max())
        inputs /= inputs.sum()
    return best


_WITHOUT_ITSELF = 64
"""Up to this many questions, a bound after question y does not count y again."""

_TOLERANCE = 1e-9

Mask: TypeAlias = NDArray[np.bool_]


class TreeObjective(ABC):
    """What a tree of questions is to minimize at its ends, and lower bounds of that.

    The bounds know ``most`` of each question, a number that holds whatever is believed. Those of
    this class are 0, which is right where no end is worth less.
    """

    @abstractmethod
    def values(self, beliefs: Floats) -> Floats:
        """Return the value of an end, ``(beliefs,)``, of beliefs ``(beliefs, states)``.

        Parameters
        ----------
        beliefs
            ``(beliefs, states)``, probabilities of the targets.
        """

    @abstractmethod
    def after(self, beliefs: Floats, channels: Floats) -> Floats:
        """Return the expected value of an end after each question, ``(beliefs, questions)``.

        Parameters
        ----------
        beliefs
            ``(beliefs, states)``, rows sum to one.
        channels
            ``(questions, states, outcomes)``.
        """

    def most(self, channels: Floats) -> Floats:
        """Return what each question can do at most, ``(questions,)``, for the bounds.

        Parameters
        ----------
        channels
            The probabilities of the answers to each question in each state.
        """
        return np.zeros(len(channels))

    def adaptive(
        self, most: Floats, values: Floats, after: Floats, is_open: Mask, more: int
    ) -> Floats:
        """Return bounds for a question and ``more`` others by a tree, ``(beliefs, questions)``.

        Parameters
        ----------
        most, values, after
            As the methods return them.
        is_open
            ``(beliefs, questions)``, a mask of the questions that may be asked.
        more
            The number of questions that may follow.
        """
        return np.zeros_like(after)

    def fixed(self, most: Floats, value: float, after: Floats, is_open: Mask, more: int) -> float:
        """Return a bound for ``more`` fixed questions, given means over the outcomes so far.

        Parameters
        ----------
        most
            As the method returns it.
        value
            The expected value if no question follows.
        after
            ``(questions,)``, the expected value after each further question.
        is_open
            ``(questions,)``, a mask of the questions that may be added.
        more
            The number of questions to add.
        """
        return 0.0


@dataclass(frozen=True, eq=False)
class ExpectedEntropy(Value, TreeObjective):
    """The entropy of the hidden state, in bits.

    Parameters
    ----------
    within
        ``(states,)``, the entropy that remains if a state is known, in bits: of what the state
        stands for, such as the profiles that no question tells apart. Default 0.
    """

    within: Floats | None = None

    def values(self, beliefs: Floats) -> Floats:
        """Return the entropies, ``(beliefs,)``."""
        within = 0.0 if self.within is None else beliefs @ self.within
        return np.asarray(unchecked_entropy(beliefs) + within, dtype=np.float64)

    def after(self, beliefs: Floats, channels: Floats) -> Floats:
        """Return the expected entropies after each question, ``(beliefs, questions)``."""
        n_questions, n_states, n_outcomes = channels.shape
        flat = channels.transpose(1, 0, 2).reshape(n_states, -1)
        outcomes = (beliefs @ flat).reshape(len(beliefs), n_questions, n_outcomes)
        gained = unchecked_entropy(outcomes) - beliefs @ unchecked_entropy(channels).T
        expected: Floats = self.values(beliefs)[:, None] - np.maximum(gained, 0.0)
        return expected

    def most(self, channels: Floats) -> Floats:
        """Return the capacity of each channel, ``(questions,)``."""
        return np.array([capacity_bound(one) for one in channels])

    def adaptive(
        self, most: Floats, values: Floats, after: Floats, is_open: Mask, more: int
    ) -> Floats:
        """Return the bounds of the knapsack, ``(beliefs, questions)``."""
        order = np.argsort(-most, kind="stable")
        capacities = np.maximum(most[order], 1e-15)
        told = np.where(is_open, values[:, None] - after, 0.0)[:, order]
        share = np.clip(told / capacities, 0.0, 1.0)
        before = np.cumsum(share, axis=1) - share
        n = len(most)
        if n > _WITHOUT_ITSELF:
            filled = np.clip(more - before, 0.0, share)
            rest = np.broadcast_to((filled @ capacities)[:, None], after.shape)
        else:
            is_before = np.arange(n)[:, None] < np.arange(n)
            others = before[:, None, :] - share[:, :, None] * is_before
            filled = np.clip(more - others, 0.0, share[:, None, :])
            filled *= ~np.eye(n, dtype=bool)
            rest = np.empty_like(after)
            rest[:, order] = filled @ capacities
        # Rounding must not make a bound too large.
        result: Floats = after - rest * (1 + 1e-12)
        return result

    def fixed(self, most: Floats, value: float, after: Floats, is_open: Mask, more: int) -> float:
        """Return the value less the largest gains, as the information of sets is submodular."""
        told = np.sort(np.where(is_open, value - after, 0.0))[::-1]
        return float(value - told[:more].sum())


@dataclass(frozen=True, eq=False)
class ExpectedLoss(Value, TreeObjective):
    """The share of wrong decisions about the hidden state.

    Parameters
    ----------
    gains
        For each decision to be taken, ``(choices, states)``: what a choice is worth in a state,
        in [0, 1]. The loss is one minus the mean of the best choices.

    Examples
    --------
    Name the state:

    >>> loss = ExpectedLoss((np.eye(2),))
    >>> loss.values(np.array([[0.7, 0.3]])).round(3).tolist()
    [0.3]
    """

    gains: Sequence[Floats]

    def values(self, beliefs: Floats) -> Floats:
        """Return the expected loss of the best decisions, ``(beliefs,)``."""
        best = [(beliefs @ gain.T).max(axis=1) for gain in self.gains]
        return np.asarray(1 - np.mean(best, axis=0), dtype=np.float64)

    def after(self, beliefs: Floats, channels: Floats) -> Floats:
        """Return the expected losses after each question, ``(beliefs, questions)``."""
        total = np.zeros((len(beliefs), len(channels)))
        for gain in self.gains:
            total += _best_after(beliefs, channels, gain).sum(axis=2)
        return 1 - total / len(self.gains)

    def most(self, channels: Floats) -> Floats:
        """Return the factor by which each question can raise the right decisions."""
        factors: Floats = channels.max(axis=1).sum(axis=1)
        return factors

    def adaptive(
        self, most: Floats, values: Floats, after: Floats, is_open: Mask, more: int
    ) -> Floats:
        """Return the product bounds, ``(beliefs, questions)``."""
        return np.minimum(after, self._raised(most, 1 - after, is_open, more))

    def fixed(self, most: Floats, value: float, after: Floats, is_open: Mask, more: int) -> float:
        """Return the product bound."""
        return float(self._raised(most, np.array([1 - value]), is_open, more)[0])

    def _raised(self, most: Floats, right: Floats, is_open: Mask, more: int) -> Floats:
        """Return bounds of the loss after ``more`` further questions, given right decisions."""
        factors = np.sort(np.where(is_open, most, 1.0), axis=-1)[..., ::-1]
        raised = right * factors[..., :more].prod(axis=-1, keepdims=True)
        least: Floats = 1 - np.minimum(raised, self._told) - 1e-12
        return least

    @cached_property
    def _told(self) -> float:
        """The chance of right decisions if the state is told."""
        return float(np.mean([gain.max(axis=0) for gain in self.gains], axis=0).max())


def _best_after(beliefs: Floats, channels: Floats, gain: Floats) -> Floats:
    """Return max over choices of Σ_s q(s) N[s, o] gain(s), ``(beliefs, questions, outcomes)``."""
    rows, columns = np.nonzero(gain)
    if len(rows) == gain.shape[0] and np.array_equal(np.sort(rows), np.arange(len(gain))):
        # Each choice is worth something in one state only: no sums are needed.
        weighted = beliefs[:, columns] * gain[rows, columns]
        best = np.zeros((len(beliefs), len(channels), channels.shape[2]))
        for number, channel in enumerate(channels[:, columns]):
            best[:, number] = (weighted[:, :, None] * channel).max(axis=1)
        return best
    n_questions, n_states, n_outcomes = channels.shape
    flat = channels.transpose(1, 0, 2).reshape(n_states, -1)
    best = np.max([(beliefs * worth) @ flat for worth in gain], axis=0)
    return np.asarray(best).reshape(len(beliefs), n_questions, n_outcomes)


@dataclass(frozen=True, eq=False)
class MissedGoal(Value, TreeObjective):
    """A penalty for each end at which no choice is certain enough; use it with costs.

    A tree that minimizes costs and penalties reaches the goal cheaply where it can. The bounds are
    0: perhaps no end misses the goal, and costs alone count.

    Parameters
    ----------
    gain
        ``(choices, states)``, as for `ExpectedLoss`.
    goal
        The chance of a right choice to reach, in (0, 1].
    penalty
        What an end costs that misses the goal, above 0, in the unit of the costs.
    """

    gain: Floats
    goal: Annotated[float, Gt(0), Le(1)]
    penalty: Annotated[float, Gt(0)]

    def values(self, beliefs: Floats) -> Floats:
        """Return the penalties, ``(beliefs,)``."""
        best = (beliefs @ self.gain.T).max(axis=1)
        return np.where(best >= self.goal - _TOLERANCE, 0.0, self.penalty)

    def after(self, beliefs: Floats, channels: Floats) -> Floats:
        """Return the expected penalties after each question, ``(beliefs, questions)``."""
        best = _best_after(beliefs, channels, self.gain)
        chances = np.stack([beliefs @ channel for channel in channels], axis=1)
        missed = best < (self.goal - _TOLERANCE) * chances
        expected: Floats = self.penalty * np.sum(np.where(missed, chances, 0.0), axis=2)
        return expected


_Symmetric: TypeAlias = Annotated[
    Mask, Must(", symmetric", lambda pairs: np.array_equal(pairs, pairs.T))
]


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeProblem(Value):
    """A hidden state, questions about it, and what a tree of them is to minimize.

    A tree asks at most ``depth`` questions on a path, and each question at most once. Its value is
    the expected value of its ends by the objective, plus the expected costs of its questions.

    Parameters
    ----------
    prior
        ``(states,)``, the probability of each hidden state.
    channels
        ``(questions, states, outcomes)``, the chance of each outcome; questions with fewer
        outcomes have zeros at the end. Outcomes are independent given the state.
    objective
        What the ends of a tree cost.
    depth
        The largest number of questions on a path, at least 1.
    costs
        ``(questions,)``, at least 0, in the unit of the objective; default 0.
    excludes
        ``(questions, questions)``, whether two questions must not be on one path.

    Raises
    ------
    InvalidArgumentError
        If an argument is out of range, or the shapes do not fit. All faults are reported at once.

    Examples
    --------
    >>> from bnmind.questions import ExpectedEntropy, best_tree
    >>> sides = np.array([[[1, 0], [1, 0], [0, 1], [0, 1]], [[1, 0], [0, 1], [1, 0], [0, 1]]])
    >>> problem = TreeProblem(
    ...     prior=np.full(4, 0.25), channels=sides * 1.0, objective=ExpectedEntropy(), depth=2
    ... )
    >>> best_tree(problem).tree.value
    0.0
    """

    prior: Annotated[Floats, chances(within=1e-6), Shape("prior")]
    channels: Annotated[
        Floats,
        Filled,
        chances(each=" in each state", within=1e-6),
        Shape("channels", "prior", "n_outcomes"),
    ]
    objective: TreeObjective
    depth: Count
    costs: Annotated[Annotated[Floats, Ge(0)] | None, Shape("channels")] = None
    excludes: Annotated[_Symmetric | None, Shape("channels", "channels")] = None

    def __post_init__(self) -> None:
        super().__post_init__()
        n = self.n_questions
        if self.costs is None:
            self._set(costs=np.zeros(n))
        if self.excludes is None:
            self._set(excludes=np.zeros((n, n), dtype=bool))

    @property
    def n_questions(self) -> int:
        """The number of questions."""
        return len(self.channels)

    @property
    def n_outcomes(self) -> int:
        """The largest number of outcomes of a question."""
        return int(self.channels.shape[-1])

    @cached_property
    def price(self) -> Floats:
        """The cost of each question, ``(questions,)``."""
        assert self.costs is not None
        return self.costs

    @cached_property
    def columns(self) -> Floats:
        """The likelihood of each answer, ``(questions × outcomes, states)``."""
        n_states = len(self.prior)
        columns = self.channels.transpose(0, 2, 1).reshape(-1, n_states)
        return sealed(np.ascontiguousarray(columns))

    @cached_property
    def most(self) -> Floats:
        """What the bounds of the objective know about each question, ``(questions,)``."""
        return sealed(self.objective.most(self.channels))

    def open_after(self, answers: NDArray[np.intp]) -> Mask:
        """Return a mask of the questions that may follow answers, ``(beliefs, questions)``.

        Parameters
        ----------
        answers
            ``(beliefs, answers)``, each ``question × n_outcomes + outcome``.
        """
        assert self.excludes is not None
        is_open = np.ones((len(answers), self.n_questions), dtype=bool)
        rows = np.arange(len(answers))
        for column in answers.T:
            asked = column // self.n_outcomes
            is_open[rows, asked] = False
            is_open &= ~self.excludes[asked]
        return is_open

    def joint(self, answers: NDArray[np.intp]) -> Floats:
        """Return P(state, answers), ``(beliefs, states)``; answers as for `open_after`.

        Parameters
        ----------
        answers
            ``(beliefs, answers)``, each ``question × n_outcomes + outcome``.
        """
        table = np.repeat(self.prior[None, :], len(answers), axis=0)
        for column in answers.T:
            table *= self.columns[column]
        return table
