"""Engines: one object that answers any question about a model, under any evidence.

An engine makes plans when questions need them, and remembers them within a number of bytes. The
answer to a question does not depend on the questions before it, except for rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import bytes_text, counted
from bnmind._values import Natural, Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import entropy
from bnmind.junction.engine.model_entropy import model_entropy
from bnmind.junction.engine.plan_store import PlanStore
from bnmind.junction.engine.planning import Planner
from bnmind.junction.engine.reading import Reader, Scopes, Seen, Targets
from bnmind.junction.engine.routes import Routes
from bnmind.junction.engine.tables import TableQuestions
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.evidence import Evidence
from bnmind.junction.inference.limits import DEFAULT_JOINT_CELLS, DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.distribution import Distribution
from bnmind.pgm.network import FactorModel, Network

if TYPE_CHECKING:
    from bnmind.junction.queries.mpe import Explanation
    from bnmind.junction.queries.sampling import Samples

__all__ = ["DEFAULT_MEMORY", "Engine", "compile_model"]

DEFAULT_MEMORY = 2**28
"""The default limit for the bytes of all remembered plans: 256 MiB."""

_MOST_LINES = 12
"""The most plans that the text of an engine lists."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Engine(TableQuestions, Value):
    """A compiled model that answers any question under any evidence.

    `compile_model` makes engines. The evidence of a question is a mapping or a `pandas.Series`: for
    each variable a state, a likelihood ``{state: weight}``, or a missing value (None, NaN, or a
    missing value of pandas). States may be numbers or truth values.

    An engine may be used by several threads at once. Copies and pickles of an engine hold the
    model and the options, and start without plans.

    Raises
    ------
    InvalidArgumentError
        If ``memory`` is negative.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> engine = compile_model(Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                                 TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]]))))
    >>> engine.posterior("rain", {"wet": "yes"})
    Posterior(1 target, log_evidence=-1.34707)
    rain  no 0.308  yes 0.692
    >>> round(engine.probability({"rain": "yes"}, {"wet": "yes"}), 3)
    0.692
    """

    model: Network | FactorModel
    """The model."""
    memory: Natural = DEFAULT_MEMORY
    """The limit for the bytes of all remembered plans."""
    order: OrderFinder | None = None
    """The search for elimination orders; None for the default of each question."""
    limits: Limits = DEFAULT_LIMITS
    """The limits of the cost of each answer."""

    def __repr__(self) -> str:
        plans = self._store.held()
        used = sum(stored.bytes for stored in plans)
        return (
            f"Engine({counted(len(self.model.variables), 'variable')}, {_plans(len(plans))} in"
            f" {bytes_text(used)} of at most {bytes_text(self.memory)})"
        )

    def __str__(self) -> str:
        plans = self._store.held()
        used = sum(stored.bytes for stored in plans)
        states = sum(v.n_states for v in self.model.variables)
        lines = [
            f"engine for {counted(len(self.model.variables), 'variable')} with {states:,} states",
            f"remembers {_plans(len(plans))} in {bytes_text(used)} of at most"
            f" {bytes_text(self.memory)}",
        ]
        latest = plans[: -_MOST_LINES - 1 : -1]
        lines += [f"  {stored.title}  {bytes_text(stored.bytes)}" for stored in latest]
        if len(plans) > _MOST_LINES:
            lines.append(f"  … and {len(plans) - _MOST_LINES:,} more")
        lines.append(
            f"an answer may take {counted(self.limits.max_multiplications, 'multiplication')} and"
            f" {bytes_text(self.limits.max_bytes)}"
        )
        return "\n".join(lines)

    def posterior(
        self, targets: Targets | None = None, evidence: Evidence | None = None
    ) -> Posterior:
        """Return the distributions of variables given evidence.

        Parameters
        ----------
        targets
            A name or a list of names; a tuple of names inside of a list asks for a joint
            distribution. By default every variable without a state in the evidence.
        evidence
            As for all questions; see `Engine`.

        Raises
        ------
        UnknownNameError
            If the model has no such variable, or the variable no such state.
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names findings that contradict each
            other.
        TooLargeError
            If the answer would exceed the limits. The error is raised before the computation.
        InvalidArgumentError
            If the evidence or the targets are not valid.
        CancellationError
            As in `Plan.run`.
        """
        seen = self._reader.evidence(evidence)
        return self._posterior(self._reader.scopes(targets, seen), seen)

    @checked
    def joint(self, targets: Targets, evidence: Evidence | None = None) -> Distribution:
        """Return the joint distribution of variables given evidence, with axes in their order.

        The distribution of a single variable is indexed by its states, and that of several
        variables by tuples of states. The errors are those of `posterior`.

        Parameters
        ----------
        targets
            The name of a variable, or several names.
        evidence
            Observed states by name, or weights of states; none if None.
        """
        names = self._reader.names(targets, "a joint")
        seen = self._reader.evidence(evidence)
        return self._posterior((names,), seen)[names]

    @checked
    def mpe(self, evidence: Evidence | None = None) -> Explanation:
        """Return the most probable explanation: the most probable states of all other variables.

        Equal questions have equal answers, even if several explanations are equally probable.
        Where the tables of an exact elimination exceed the limits, branch and bound finds the
        explanation and proves it; see `compile_search`. The errors are those of `posterior`;
        `TooLargeError` if there is no proof within the limits.

        Parameters
        ----------
        evidence
            Observed states by name, or weights of states; none if None.
        """
        return self._planner.explanation(self._reader.evidence(evidence))

    @checked
    def best_explanations(
        self,
        count: int,
        evidence: Evidence | None = None,
        *,
        targets: Targets | None = None,
    ) -> tuple[Explanation, ...]:
        """Return the ``count`` most probable explanations, the most probable one first.

        With targets, these are their most probable joint states, with all other variables summed
        out. Where the tables of an exact elimination exceed the limits, and for targets always,
        branch and bound finds the explanations and proves them; see `ExplanationSearch.best`. The
        errors are those of `mpe`, `map` and `ExplanationPlan.best`.

        Parameters
        ----------
        count
            The number of explanations, at least 1.
        evidence
            Observed states by name, or weights of states; none if None.
        targets
            The name of a variable, or several names.
        """
        seen = self._reader.evidence(evidence)
        if targets is None:
            return self._planner.best_explanations(count, seen)
        return self._planner.best_maps(count, self._reader.names(targets, "a marginal MAP"), seen)

    @checked
    def map(
        self,
        targets: Targets,
        evidence: Evidence | None = None,
        *,
        max_joint: int = DEFAULT_JOINT_CELLS,
    ) -> Explanation:
        """Return the most probable joint state of some variables, with all others summed out.

        This is the marginal MAP. It differs from `mpe`, which explains all variables, and from the
        most probable states of the single variables.

        Parameters
        ----------
        targets
            The name or names of the variables to explain, without evidence.
        evidence
            As for all questions; see `Engine`.
        max_joint
            The most cells of the joint distribution of the targets. If it has more, or does not fit
            otherwise, branch and bound finds its largest cell; see `compile_search`.

        Raises
        ------
        TooLargeError
            If there is no proof within the limits.
        InvalidArgumentError
            If there are no targets, or a target is evidence.
        UnknownNameError, ImpossibleEvidenceError, CancellationError
            As in `posterior`.
        """
        names = self._reader.names(targets, "a marginal MAP")
        seen = self._reader.evidence(evidence)
        return self._planner.marginal_map(names, seen, max_joint)

    @checked
    def sample(
        self, n_samples: int, rng: np.random.Generator, evidence: Evidence | None = None
    ) -> Samples:
        """Return independent samples of all variables given evidence, exactly distributed.

        Parameters
        ----------
        n_samples
            The number of samples, at least 0.
        rng
            The random generator. Equal generators give equal samples.
        evidence
            As for all questions; see `Engine`.

        Raises
        ------
        TooLargeError
            If there are too many states to draw, or the answer exceeds the limits.
        InvalidArgumentError
            If ``n_samples`` is negative, or the evidence is not valid.
        UnknownNameError, ImpossibleEvidenceError
            As in `posterior`.
        """
        plan, findings = self._planner.sampling(self._reader.evidence(evidence))
        return plan.run(findings, n_samples=n_samples, rng=rng)

    @checked
    def probability(self, event: Evidence, evidence: Evidence | None = None) -> float:
        """Return the probability of an event given evidence; 0 if they contradict each other.

        Parameters
        ----------
        event
            The states of some variables at the same time, as ``{"rain": "yes", "wet": "no"}``. For
            a likelihood, the result is its expected value.
        evidence
            As for all questions; see `Engine`.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        UnknownNameError, TooLargeError, InvalidArgumentError, CancellationError
            As in `posterior`.
        """
        first, seen = self._reader.event(event), self._reader.evidence(evidence)
        if len(first.positions) == 1 and not first.soft:
            ((name, place),) = first.positions.items()
            return float(self._posterior(((name,),), seen).joints[0][place])
        return math.exp(self._log_probability(first, seen))

    @checked
    def log_probability(self, event: Evidence, evidence: Evidence | None = None) -> float:
        """Return the natural logarithm of the probability of an event given evidence.

        It is −inf if they contradict each other. The arguments and errors are those of
        `probability`.
        """
        first, seen = self._reader.event(event), self._reader.evidence(evidence)
        return self._log_probability(first, seen)

    @checked
    def entropy(self, targets: Targets | None = None, evidence: Evidence | None = None) -> float:
        """Return the entropy of the joint distribution of variables given evidence, in bits.

        Parameters
        ----------
        targets
            A name or a list of names; by default all variables. The joint distribution of all
            variables is not computed, but that of named ones is.
        evidence
            As for all questions; see `Engine`.

        Raises
        ------
        UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
            As in `posterior`.
        CancellationError
            As in `posterior`.
        """
        seen = self._reader.evidence(evidence)
        if targets is None:
            return model_entropy(self.model, seen, self._posterior)
        names = self._reader.names(targets, "an entropy")
        return float(entropy(self._posterior((names,), seen).joints[0].ravel()))

    @checked
    def plan(
        self,
        targets: Iterable[Iterable[str]],
        *,
        evidence: Iterable[str] = (),
        soft: Iterable[str] = (),
    ) -> Plan:
        """Return a plan for targets and evidence variables, from memory if possible.

        The parameters and errors are those of `compile_plan`. A plan that exceeds the limits is
        returned too: its restrictions may be smaller.

        Raises
        ------
        InvalidArgumentError
            If a list of names is a single text.
        """
        if any(isinstance(names, str) for names in (targets, evidence, soft)):
            raise InvalidArgumentError("expected lists of names, got a single string", targets)
        # A plan refuses a single name in place of a target.
        scopes: Any = tuple(t if isinstance(t, str) else tuple(t) for t in targets)
        return self._planner.plan_for(scopes, tuple(evidence), tuple(soft))

    def _log_probability(self, event: Seen, given: Seen) -> float:
        """Return ln P(event | given)."""
        both = event.joined(given)
        total = 0.0
        if given.positions or given.soft or isinstance(self.model, FactorModel):
            total = self._posterior(((),), given).log_evidence
        if both is None:
            return -math.inf
        try:
            return min(self._posterior(((),), both).log_evidence - total, _most(event))
        except ImpossibleEvidenceError:
            return -math.inf

    def _posterior(self, scopes: Scopes, seen: Seen) -> Posterior:
        """Return the joint distribution of each target given evidence."""
        return self._routes.posterior(scopes, seen)

    @cached_property
    def _routes(self) -> Routes:
        return Routes(self._reader, self._planner, self._store)

    @cached_property
    def _planner(self) -> Planner:
        return Planner(self.model, self.order, self.limits, self._store)

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.model)

    @property
    def _store(self) -> PlanStore:
        """The remembered plans; all threads get the same store."""
        store: PlanStore | None = self.__dict__.get("_plan_store")
        if store is None:
            # Of several threads that make a store at the same time, the first wins.
            store = self.__dict__.setdefault("_plan_store", PlanStore(self.memory))
        return store


def _most(event: Seen) -> float:
    """Return the logarithm of the largest expected likelihood of an event."""
    largest = [float(weights.max()) for weights in event.soft.values()]
    return math.fsum(map(math.log, largest)) if all(largest) else -math.inf


def _plans(number: int) -> str:
    return "1 plan" if number == 1 else f"{number:,} plans"


@checked
def compile_model(
    model: Network | FactorModel,
    *,
    memory: int = DEFAULT_MEMORY,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Engine:
    """Return an engine that answers any question about a model, under any evidence.

    The engine makes its plans when questions first need them.

    Parameters
    ----------
    model
        A network, or a product of factors.
    memory
        The limit for the bytes of all remembered plans. Those used least recently are dropped
        first; a plan that does not fit at all is made for each question anew.
    order
        The search for elimination orders, as in `compile_plan`.
    limits
        The limits of the cost of each answer, as in `compile_plan`.

    Raises
    ------
    InvalidArgumentError
        If ``memory`` is negative.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> coin = Variable("coin", ("heads", "tails"))
    >>> call = Variable("call", ("heads", "tails"))
    >>> engine = compile_model(Network((TabularCPD(coin, (), [0.5, 0.5]),
    ...                                 TabularCPD(call, (coin,), [[0.9, 0.1], [0.1, 0.9]]))))
    >>> engine
    Engine(2 variables, 0 plans in 0 bytes of at most 256 MiB)
    >>> engine.posterior(["coin"], {"call": "heads"})["coin"]["heads"]
    0.9
    """
    return Engine(model=model, memory=memory, order=order, limits=limits)
