"""Engines: one object that answers any question about a model, under any evidence.

An engine makes plans when questions need them, and remembers them within a number of bytes. The
answer to a question does not depend on the questions before it, except for rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted, format_bytes
from bnmind._values import Natural, Value, made, sealed
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    TooLargeError,
)
from bnmind.information import Floats, entropy
from bnmind.junction.causes import are_layered, may_be_swept
from bnmind.junction.engine_planning import (
    Planner,
    PlanStore,
    Reader,
    Scopes,
    Seen,
    Stored,
    TableQuestions,
    Targets,
)
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.inference.evidence import Evidence
from bnmind.junction.inference.limits import DEFAULT_JOINT_CELLS, DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.distribution import Distribution
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    from bnmind.junction.circuit import Circuit
    from bnmind.junction.sampling import Samples
    from bnmind.junction.walk import Explanation

# --- The choice among the ways to compute posteriors, by their predicted costs --------------------
#
# ========  ========================================================================================
# way       good for
# ========  ========================================================================================
# sweep     independent causes of many observed effects, such as noisy-or
# plan      the first questions of a process, which need not wait for machine code; signed factors,
#           large joint distributions, and evidence that leaves little of a large model
# circuit   all other questions: it is compiled once, and any evidence shrinks it
# ========  ========================================================================================
#
# All costs are predicted from numbers of operations. No clock is read.

_PLANNING_NS = 200_000.0
"""Nanoseconds for each variable to make a plan."""

_OPERATION_NS = 300.0
"""Nanoseconds for each operation in Python, as `PlainWork` counts them."""

_STEP_NS, _MULTIPLICATION_NS = 5_000.0, 2.0
"""Nanoseconds for each step of a plan, and for each multiplication."""

_MOST_RUNS = 64
"""The most runs of a circuit for one joint distribution, each with other states."""

_FEW = 3
"""The most joint distributions of a question to a circuit."""

_OBJECT_BYTES = 16_384
"""The bytes of a circuit besides its arrays."""


class Routes:
    """Computes posteriors in the cheapest way.

    Parameters
    ----------
    reader
        The model.
    planner
        Makes plans, with the options of the engine.
    store
        Where compiled forms of the model are remembered.
    """

    def __init__(self, reader: Reader, planner: Planner, store: PlanStore) -> None:
        self.reader = reader
        self.planner = planner
        self.store = store

    def posterior(self, scopes: Scopes, seen: Seen) -> Posterior:
        """Return the joint distribution of each target given evidence."""
        if self._may_wait() or (
            self._has_large_effects
            and are_layered(self.reader.model.potentials, seen.positions, self.reader.named(scopes))
        ):
            return self.planner.posterior(scopes, seen)
        runs = [math.prod(self._sizes(scope, seen)[:-1]) for scope in scopes if len(scope) > 1]
        circuit = self._circuit() if len(runs) <= _FEW and sum(runs) <= _MOST_RUNS else None
        if circuit is None:
            return self.planner.posterior(scopes, seen)
        limits, planning = self.planner.limits, _PLANNING_NS * len(self.reader.columns)
        most = min(limits.max_multiplications, circuit.multiplications_in(1e9 * limits.max_seconds))
        found = self._answered(
            circuit, scopes, seen, min(most, circuit.multiplications_in(planning))
        )
        plan = None
        if isinstance(found, float) and found < most:
            # As much as a plan for this evidence, which may take less.
            with suppress(TooLargeError):  # slices may fit
                plan = self.planner.plan(scopes, seen)
            if plan is not None and self._run_cost(plan) > circuit.nanoseconds(found):
                found = self._answered(circuit, scopes, seen, most)
        # Plans name what is impossible, refuse what is too large, and lose no digits.
        return found if isinstance(found, Posterior) else self.planner.posterior(scopes, seen, plan)

    def _may_wait(self) -> bool:
        """Return whether a plan answers because the machine code of circuits is not loaded yet."""
        from bnmind.junction.circuit import plain_plans

        work = _PLANNING_NS * len(self.reader.columns) / _OPERATION_NS
        if work > plain_plans.left:
            return False
        plain_plans.spend(work)
        return True

    @cached_property
    def _has_large_effects(self) -> bool:
        """Whether some question may be about independent causes of observed effects."""
        return self.planner.order is None and may_be_swept(self.reader.model.potentials)

    def _run_cost(self, plan: Plan) -> float:
        """Return the predicted nanoseconds of a run of a plan."""
        if plan.by_case is not None:
            return _PLANNING_NS * len(self.reader.columns)
        if plan.compiled.refusal is not None:
            return math.inf
        steps = len(plan.compiled.program.steps)
        return _STEP_NS * steps + _MULTIPLICATION_NS * plan.multiplications

    def _answered(
        self, circuit: Circuit, scopes: Scopes, seen: Seen, most: float
    ) -> Posterior | float | None:
        """Return the answer of the circuit; its multiplications if they are more than ``most``.

        The result is None if the answer is in doubt, or the evidence impossible.
        """
        columns, alone = self.reader.columns, self.reader.alone
        case = np.full((1, len(columns)), -1, dtype=np.int32)
        for name, place in seen.positions.items():
            case[0, columns[name]] = place
        soft = {name: weights[None] for name, weights in seen.soft.items()}
        found = circuit.answer(case, [s[0] for s in scopes if len(s) == 1], soft, most)
        if found.multiplications[0] > most:
            return float(found.multiplications[0])
        log_evidence = float(found.log_evidence[0])
        if found.doubtful[0] or log_evidence == -math.inf:
            return None
        numbers, spans = found.numbers[0], pairwise(found.ends)
        named: list[tuple[Variable, ...]] = []
        joints: list[Values] = []
        for scope in scopes:
            if len(scope) == 1:
                named.append(alone[scope[0]])
                start, end = next(spans)
                joints.append(numbers[start:end])
                continue
            joint = (
                self._joint(circuit, scope, seen, (case, soft)) if scope else sealed(np.ones(()))
            )
            if joint is None:
                return None
            named += self.reader.named((scope,))
            joints.append(joint)
        return made(Posterior, scopes=tuple(named), joints=tuple(joints), log_evidence=log_evidence)

    def _joint(
        self, circuit: Circuit, scope: Sequence[str], seen: Seen, given: tuple[Any, Any]
    ) -> Floats | None:
        """Return a joint distribution by the chain rule; None in doubt.

        The circuit runs for all states of the hidden variables but the last one.
        """
        hidden = [name for name in scope if name not in seen.positions]
        sizes = self._sizes(scope, seen)
        case, soft = given
        others = list(np.ndindex(*sizes[:-1]))
        cases = np.repeat(case, len(others), axis=0)
        cases[:, [self.reader.columns[name] for name in hidden[:-1]]] = others
        repeated = {name: np.repeat(w, len(cases), axis=0) for name, w in soft.items()}
        found = circuit.answer(cases, hidden[-1:], repeated)
        if found.doubtful.any():
            return None
        logs = found.log_evidence - found.log_evidence.max()
        masses = np.exp(logs - np.log(np.exp(logs).sum()))
        if hidden:
            masses = np.where(masses[:, None] > 0, masses[:, None] * found.numbers, 0)
        joint = np.zeros([self.reader.variables[name].n_states for name in scope])
        at = tuple([seen.positions.get(name, slice(None)) for name in scope])
        joint[at] = masses.reshape(sizes)
        return sealed(joint)

    def _sizes(self, scope: Sequence[str], seen: Seen) -> list[int]:
        """Return the numbers of states of the variables of a target without a known state."""
        variables = self.reader.variables
        return [variables[name].n_states for name in scope if name not in seen.positions]

    def _circuit(self) -> Circuit | None:
        """Return the circuit of the model; None if it is too large, or has negative factors."""
        if self.store.most_bytes < _OBJECT_BYTES:
            return None
        circuit: Circuit | None = self.store.get("any evidence", self._compiled)
        return circuit

    def _compiled(self) -> Stored:
        from bnmind.junction.circuit import Circuit

        most = min(self.planner.limits.max_bytes, self.store.most_bytes)
        try:
            circuit = Circuit.of(
                self.reader.model,
                order=self.planner.order,
                limits=replace(self.planner.limits, max_bytes=most),
            )
        except TooLargeError:
            return Stored(None, _OBJECT_BYTES, "any evidence: the circuit is too large")
        except InvalidModelError:
            return Stored(None, _OBJECT_BYTES, "any evidence: no circuit of negative factors")
        size = _OBJECT_BYTES + circuit.memory
        if size > self.store.most_bytes:
            return Stored(None, _OBJECT_BYTES, "any evidence: the circuit is too large")
        return Stored(circuit, size, f"any evidence: {circuit.multiplications:,} multiplications")


# --- The entropy of all variables of a model given evidence, from the posteriors of its tables ----
#
# Notation
# --------
# f       a table of the model, over the variables x_f
# λ       the likelihoods of the soft evidence
# Z       the probability of the evidence, Σ_x Π f(x_f) Π λ(x)
#
# The posterior is P(x) = Π f(x_f) Π λ(x) / Z, so that its entropy is
#
#     H = log Z − Σ_f Σ P(x_f) log f(x_f) − Σ_λ Σ P(x) log λ(x).
#
# Functions add nothing to the sum, since their tables hold only zeros and ones. The joint
# distribution of all variables is never needed.
#
# References
# ----------
# T. M. Cover and J. A. Thomas, *Elements of Information Theory*, 2006, chapter 2.


def model_entropy(
    model: Network | FactorModel, seen: Seen, posterior: Callable[[Scopes, Seen], Posterior]
) -> float:
    """Return the entropy of all variables of a model given evidence, in bits.

    Parameters
    ----------
    model
        The model.
    seen
        The evidence.
    posterior
        Returns the joint distributions of targets given evidence.

    Raises
    ------
    InvalidModelError
        If a factor has negative or complex numbers.
    """
    potentials = [p for p in model.potentials if p.scope and not isinstance(p, FunctionalCPD)]
    problems = [
        "the entropy needs factors without negative or complex numbers; that of"
        f" {', '.join(v.name for v in p.scope)} has some"
        for p in potentials
        if isinstance(p, Factor) and (np.iscomplexobj(p.values) or np.any(p.values < 0))
    ]
    if problems:
        raise InvalidModelError(problems)
    scopes = tuple([tuple([v.name for v in p.scope]) for p in potentials])
    answer = posterior(scopes + tuple([(name,) for name in seen.soft]) or ((),), seen)
    nats = [answer.log_evidence]
    for potential, joint in zip(potentials, answer.joints, strict=False):
        nats.append(-_expected_logarithm(joint, _numbers(potential)))
    for weights, joint in zip(seen.soft.values(), answer.joints[len(potentials) :], strict=False):
        nats.append(-_expected_logarithm(joint, weights))
    constants = [p for p in model.potentials if not p.scope]
    nats += [-math.log(float(_numbers(p))) for p in constants]
    return max(0.0, math.fsum(nats) / math.log(2.0))


def _numbers(potential: Potential) -> Floats:
    factor = potential if isinstance(potential, Factor) else potential.to_factor()
    numbers: Floats = factor.values.real
    return numbers


def _expected_logarithm(probabilities: Values, numbers: Values) -> float:
    """Return Σ p log x, where p = 0 adds nothing."""
    p = np.real(probabilities)
    positive = p > 0
    return float(np.dot(p[positive], np.log(numbers[positive])))


# --- Engines: one object that answers any question about a model, under any evidence --------------

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
            f" {format_bytes(used)} of at most {format_bytes(self.memory)})"
        )

    def __str__(self) -> str:
        plans = self._store.held()
        used = sum(stored.bytes for stored in plans)
        states = sum(v.n_states for v in self.model.variables)
        lines = [
            f"engine for {counted(len(self.model.variables), 'variable')} with {states:,} states",
            f"remembers {_plans(len(plans))} in {format_bytes(used)} of at most"
            f" {format_bytes(self.memory)}",
        ]
        latest = plans[: -_MOST_LINES - 1 : -1]
        lines += [f"  {stored.title}  {format_bytes(stored.bytes)}" for stored in latest]
        if len(plans) > _MOST_LINES:
            lines.append(f"  … and {len(plans) - _MOST_LINES:,} more")
        lines.append(
            f"an answer may take {counted(self.limits.max_multiplications, 'multiplication')} and"
            f" {format_bytes(self.limits.max_bytes)}"
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


# --- Questions in one call: each model keeps an engine, which remembers plans for the next call ---

MODEL_MEMORY = 2**26
"""The limit for the bytes of the plans that a model keeps for questions in one call: 64 MiB."""


def engine_of(model: Network | FactorModel) -> Engine:
    """Return the engine that a model keeps. Copies and pickles of the model have none."""
    engine: Engine | None = model.__dict__.get("_engine")
    if engine is None:
        # Of several threads that make one at the same time, the first wins.
        made = compile_model(model, memory=MODEL_MEMORY)
        engine = model.__dict__.setdefault("_engine", made)
    return engine


@checked
def posterior(
    model: Network | FactorModel,
    evidence: Evidence | None = None,
    targets: str | Iterable[str | Iterable[str]] | None = None,
    *,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Posterior:
    """Return the distributions of variables given evidence.

    This is one question to an engine; see `compile_model` for all other questions. Without
    ``order`` and ``limits``, the model keeps the engine, with at most 64 MiB of plans, so that
    repeated questions are faster.

    Parameters
    ----------
    model
        A network, or a product of factors.
    evidence
        A state for each observed variable, or a likelihood ``{state: weight}`` where the
        observation is uncertain. None and NaN mean that nothing was observed. A mapping or a
        `pandas.Series`.
    targets
        The variables of interest: a name or a list of names; a tuple of names inside of a list
        asks for a joint distribution. By default every variable without a state in the evidence.
    order
        The search for an elimination order; by default `Portfolio`.
    limits
        The limits of the computation, as in `compile_plan`.

    Raises
    ------
    UnknownNameError
        If the model has no such variable, or the variable no such state.
    ImpossibleEvidenceError
        If the evidence has probability zero. The error names findings that contradict each other.
    TooLargeError
        If the computation would exceed its limits. The error is raised before the computation.
    InvalidArgumentError
        If the evidence or the targets are not valid.
    CancellationError
        As in `Plan.run`.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> posterior(network, {"wet": "yes"})
    Posterior(1 target, log_evidence=-1.34707)
    rain  no 0.308  yes 0.692
    >>> round(posterior(network, targets=[("wet", "rain")])["wet", "rain"]["yes", "no"], 3)
    0.08
    """
    if order is None and limits == DEFAULT_LIMITS:
        return engine_of(model).posterior(targets, evidence)
    return Engine(model=model, order=order, limits=limits).posterior(targets, evidence)
