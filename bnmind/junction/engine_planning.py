"""How an engine reads questions, makes plans for them, and remembers these."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import WeakValueDictionary

import numpy as np

from bnmind._values import made, remembered, sealed
from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.causes import are_layered, may_be_swept
from bnmind.junction.evidence import Reader, Scopes, Seen
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.greedy_order import quick_cells
from bnmind.junction.limits import Limits
from bnmind.junction.order_finders import interaction_graph
from bnmind.junction.plan import Plan, compile_plan
from bnmind.junction.posteriors import Posterior
from bnmind.pgm.factor import Values
from bnmind.pgm.network import FactorModel, Network

if TYPE_CHECKING:
    from bnmind.junction.circuit import Circuit
    from bnmind.junction.sampling import Samples, SamplingPlan
    from bnmind.junction.search import ExplanationSearch
    from bnmind.junction.slices import SlicedPlan
    from bnmind.junction.walk import Explanation, ExplanationPlan

# --- The bytes that plans take between runs: their tables, programs and names ---------------------
#
# The tables are counted exactly, and as if no plan shared them with the model. The rest consists of
# small Python objects, a few for each step of the program; they are counted by the upper bounds
# below, since a walk through all of them would take about as long as a run.

_PLAN = 16_384
"""Bytes of a plan without steps."""

_STEP = 1_280
"""Bytes of a step of a program: an operation, register numbers and scopes."""

_TARGET = 1_536
"""Bytes of a target or a table: its scopes and the rule for reading it."""


def plan_bytes(plan: Any) -> int:
    """Return the bytes that a plan of any kind takes, from above.

    Parameters
    ----------
    plan
        A `Plan`, `SlicedPlan`, `ExplanationPlan` or `SamplingPlan`; None if it
        does not fit, which is remembered too.
    """
    if plan is None:
        return _PLAN
    if not isinstance(plan, Plan):
        return plan_bytes(plan.plan)  # all other kinds hold one
    compiled = plan.compiled
    arrays: list[Any] = []
    for source in compiled.sources:
        arrays += [value for value in vars(source).values() if isinstance(value, np.ndarray)]
    cliques = sum([len(tree.cliques) for tree in compiled.trees])
    parts = len(compiled.targets) + len(compiled.sources) + len(compiled.evidence) + cliques
    steps = len(compiled.program.steps)
    if compiled.swept is not None:
        steps += compiled.swept.steps
    causes = compiled.query.causes
    if causes is not None:
        arrays += causes.arcs
    in_arrays = sum([int(a.nbytes) for a in arrays])
    return _PLAN + in_arrays + _STEP * steps + _TARGET * parts


# --- A store of plans that stays within a number of bytes -----------------------------------------
#
# When a new plan does not fit, the store drops the plans that were used least recently. A store may
# be used by several threads at once: they never make the same plan twice at the same time.


class Stored(NamedTuple):
    """A plan in a store."""

    plan: Any
    bytes: int
    """The bytes that the plan takes, see `bnmind.junction.engine_planning`."""


class PlanStore:
    """Plans by key, the least recently used first.

    Parameters
    ----------
    most_bytes
        The most bytes of all plans together. A plan that is larger is made for each question anew.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._plans: OrderedDict[Hashable, Stored] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self._makers: WeakValueDictionary[Hashable, Lock] = WeakValueDictionary()

    def get(self, key: Hashable, make: Callable[[], Stored]) -> Any:
        """Return the plan of a key; make it if the store does not hold it.

        If ``make`` raises an error, the store stays as it is.
        """
        with self._lock:
            found = self._plans.get(key)
            if found is not None:
                self._plans.move_to_end(key)
                return found.plan
            # It is there as long as a thread makes the plan or waits for it.
            maker = self._makers.setdefault(key, Lock())
        # Only threads that ask for the same plan wait for each other.
        with maker:
            with self._lock:
                found = self._plans.get(key)
            if found is None:
                found = make()
                self._put(key, found)
            return found.plan

    def held(self) -> dict[Hashable, Stored]:
        """Return all plans by key, the least recently used first."""
        with self._lock:
            return dict(self._plans)

    def _put(self, key: Hashable, stored: Stored) -> None:
        """Add a plan, and drop others until all fit."""
        if stored.bytes > self.most_bytes:
            return
        with self._lock:
            self._plans[key] = stored
            self._bytes += stored.bytes
            while self._bytes > self.most_bytes:
                _, dropped = self._plans.popitem(last=False)
                self._bytes -= dropped.bytes


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
# All costs are predicted as those of plans, in seconds.
#
# A plan serves one kind of question about one choice of targets and of variables with hard and with
# soft evidence, in any states. The compilers of rare questions are imported when they are needed.

_SECONDS_OF_PLANNING = 2e-4
"""The seconds for each variable to make a plan."""

_SECONDS_OF_AN_OPERATION = 3e-7
"""The seconds for each operation in Python, as `PlainWork` counts them."""

_MOST_RUNS = 64
"""The most runs of a circuit for one joint distribution, each with other states."""

_FEW = 3
"""The most joint distributions of a question to a circuit."""

_SMALL = 1_000
"""The cells for each variable of a model below which one plan explains any evidence. A run takes a
few nanoseconds a cell, and a plan about a tenth of a millisecond a variable."""

_ONE = sealed(np.ones(()))

_OBJECT_BYTES = 16_384
"""The bytes of a circuit besides its arrays."""


@dataclass(frozen=True, eq=False)
class Planner:
    """Answers questions about a model in the cheapest way; makes and remembers what they need."""

    model: Network | FactorModel
    order: OrderFinder | None
    """As for `bnmind.junction.compile_plan`, like the limits."""
    limits: Limits
    store: PlanStore
    """Where the plans and the circuit are remembered."""

    @cached_property
    def reader(self) -> Reader:
        """What reads questions."""
        return Reader(self.model)

    def posterior(self, scopes: Scopes, seen: Seen) -> Posterior:
        """Return the joint distribution of each target given evidence."""
        if self._may_wait() or (
            self._has_large_effects
            and are_layered(self.model.potentials, seen.positions, self.reader.named(scopes))
        ):
            return self.planned(scopes, seen)
        runs = [math.prod(self._sizes(scope, seen)[:-1]) for scope in scopes if len(scope) > 1]
        circuit = self.circuit() if len(runs) <= _FEW and sum(runs) <= _MOST_RUNS else None
        if circuit is None:
            return self.planned(scopes, seen)
        limits, planning = self.limits, _SECONDS_OF_PLANNING * len(self.reader.columns)
        most = min(limits.max_multiplications, circuit.multiplications_in(limits.max_seconds))
        found = self._answered(
            circuit, scopes, seen, min(most, circuit.multiplications_in(planning))
        )
        plan = None
        if isinstance(found, float) and found < most:
            # As much as a plan for this evidence, which may take less.
            with suppress(TooLargeError):  # slices may fit
                plan = self.plan(scopes, seen)
            if plan is not None and (
                plan.compiled.refusal is not None or plan.seconds > circuit.seconds(found)
            ):
                found = self._answered(circuit, scopes, seen, most)
        # Plans name what is impossible, refuse what is too large, and lose no digits.
        return found if isinstance(found, Posterior) else self.planned(scopes, seen, plan)

    def _may_wait(self) -> bool:
        """Return whether a plan answers because the machine code of circuits is not loaded yet."""
        from bnmind.junction.circuit import plain_plans

        work = _SECONDS_OF_PLANNING * len(self.reader.columns) / _SECONDS_OF_AN_OPERATION
        if work > plain_plans.left:
            return False
        plain_plans.spend(work)
        return True

    @cached_property
    def _has_large_effects(self) -> bool:
        """Whether some question may be about independent causes of observed effects."""
        return self.order is None and may_be_swept(self.model.potentials)

    def _answered(
        self, circuit: Circuit, scopes: Scopes, seen: Seen, most: float
    ) -> Posterior | float | None:
        """Return the answer of the circuit; its multiplications if they are more than ``most``.

        The result is None if the answer is in doubt, or the evidence impossible.
        """
        columns = self.reader.columns
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
        joints: list[Values] = []
        for scope in scopes:
            if len(scope) == 1:
                start, end = next(spans)
                joints.append(numbers[start:end])
                continue
            joint = self._joint(circuit, scope, seen, (case, soft))
            if joint is None:
                return None
            joints.append(joint)
        named = self.reader.named(scopes)
        return made(Posterior, scopes=named, joints=tuple(joints), log_evidence=log_evidence)

    def _joint(
        self, circuit: Circuit, scope: Sequence[str], seen: Seen, given: tuple[Any, Any]
    ) -> Floats | None:
        """Return a joint distribution by the chain rule; None in doubt.

        The circuit runs for all states of the hidden variables but the last one.
        """
        if not scope:
            return _ONE
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

    def circuit(self) -> Circuit | None:
        """Return the circuit of the model; None if it is too large, or has negative factors."""
        if self.store.most_bytes < _OBJECT_BYTES:
            return None
        circuit: Circuit | None = self.store.get("any evidence", self._compiled)
        return circuit

    def _compiled(self) -> Stored:
        from bnmind.junction.circuit import Circuit

        most = self.store.most_bytes
        limits = replace(self.limits, max_bytes=min(self.limits.max_bytes, most))
        with suppress(TooLargeError, InvalidModelError):
            circuit = Circuit.of(self.model, order=self.order, limits=limits)
            size = _OBJECT_BYTES + circuit.memory
            if size <= most:
                return Stored(circuit, size)
        return Stored(None, _OBJECT_BYTES)

    def plan(self, scopes: Scopes, seen: Seen) -> Plan:
        """Return the plan for some targets and the variables of the evidence."""
        states, soft = seen.in_order()
        return self.plan_for(scopes, tuple(states), tuple(soft))

    def planned(self, scopes: Scopes, seen: Seen, plan: Plan | None = None) -> Posterior:
        """Return the joint distribution of each target given evidence, by its plan if it is given.

        If the plan exceeds the limits, it is restricted to the states of the evidence. If only its
        memory still exceeds them, it runs in slices.
        """
        states, soft = seen.in_order()
        try:
            plan = plan or self.plan(scopes, seen)
            with suppress(TooLargeError):
                return plan.run({**states, **soft})
            # The plan for these states may be much smaller.
            return plan.restrict(states).run(soft)
        except TooLargeError as refusal:
            whole = refusal

        def compiled(model: Network | FactorModel, *, evidence: Any, **options: Any) -> SlicedPlan:
            from bnmind.junction.slices import sliced_instead

            return sliced_instead(whole, model, known=states, targets=scopes, **options)

        # Unlike other plans, this one holds the states of the evidence.
        key = ("slices", scopes, tuple(states), tuple(soft))
        slices: SlicedPlan = self._made(key, compiled, tuple(states.values()))
        return slices.run(soft)

    def plan_for(self, scopes: Scopes, evidence: tuple[str, ...], soft: tuple[str, ...]) -> Plan:
        """Return the plan for the joint distributions of targets given evidence on variables.

        It may exceed the limits; then only its restrictions can run.
        """

        def compiled(model: Network | FactorModel, *, limits: Limits, **options: Any) -> Plan:
            limits = replace(limits, only_restrictions=True)
            return compile_plan(model, targets=scopes, limits=limits, **options)

        plan: Plan = self._made(("posterior", scopes, evidence, soft), compiled)
        return plan

    def explanations(
        self, count: int, seen: Seen, names: tuple[str, ...] | None = None
    ) -> tuple[Explanation, ...]:
        """Return the most probable explanations, at most ``count``, in descending order.

        With names, they are the most probable joint states of these variables. Branch and bound
        finds those, and explanations of all variables if the tables of a plan do not fit.
        """
        from bnmind.junction.search import best_searched
        from bnmind.junction.walk import compile_explanation

        states, soft = seen.in_order()
        findings = {**states, **soft}
        plan: ExplanationPlan | None = None
        if names is None:
            # A small model has one plan for any evidence. A large one has a plan for each choice of
            # observed variables, whose states then make the tables smaller. The choice depends on
            # the model alone, so that ties are always broken in the same way.
            hard, uncertain = tuple(states), tuple(soft)
            if self._is_small:
                hard, uncertain = (), tuple(self.reader.variables)
            plan = self._made(("mpe", None, hard, uncertain), compile_explanation)
        if plan is not None:
            try:
                found = (plan.run(findings),) if count == 1 else plan.best(count, findings)
            except TooLargeError:
                # Each case has a plan of its own, and the plan of this case does not fit.
                if plan.plan.by_case is None:
                    raise
            else:
                # Without the states of the evidence.
                hidden = [
                    {name: state for name, state in one.states.items() if name not in states}
                    for one in found
                ]
                return tuple([replace(one, states=h) for one, h in zip(found, hidden, strict=True)])
        return best_searched(self._search(names), findings, count)

    def _search(self, names: tuple[str, ...] | None) -> ExplanationSearch:
        """Return a search for explanations of any evidence; that for all variables is kept."""
        from bnmind.junction.search import compile_search

        make = partial(
            compile_search, self.model, targets=names, order=self.order, limits=self.limits
        )
        return remembered(self, "_whole_search", make) if names is None else make()

    @cached_property
    def _is_small(self) -> bool:
        """Whether a run with likelihoods of all variables takes less time than a plan."""
        return quick_cells(interaction_graph(self.model)) <= _SMALL * len(self.model.variables)

    def marginal_map(self, names: tuple[str, ...], seen: Seen, max_joint: int) -> Explanation:
        """Return the most probable joint state of some variables.

        If their joint distribution or a plan does not fit, branch and bound finds it.
        """
        from bnmind.junction.walk import Explanation

        states, soft = seen.in_order()
        plan: Plan | None = None
        if math.prod([self.reader.variables[name].n_states for name in names]) <= max_joint:
            key = ("map", (names,), tuple(states), tuple(soft))
            plan = self._made(key, partial(compile_plan, targets=[names]))
        if plan is not None:
            posterior = plan.run({**states, **soft})
            joint = posterior.joints[0]
            best = np.unravel_index(int(joint.argmax()), joint.shape)
            log_probability = posterior.log_evidence + math.log(joint[best])
            found = {v.name: v.states[i] for v, i in zip(plan.targets[0], best, strict=True)}
            return Explanation(found, log_probability)
        return self.explanations(1, seen, names)[0]

    def sample(self, n_samples: int, rng: np.random.Generator, seen: Seen) -> Samples:
        """Return samples of all variables."""
        from bnmind.junction.sampling import compile_sampling

        states, soft = seen.in_order()
        key = ("sample", None, tuple(states), tuple(soft))
        plan: SamplingPlan = self._made(key, compile_sampling)
        return plan.run({**states, **soft}, n_samples=n_samples, rng=rng)

    def _made(
        self, key: _Question, compiled: Callable[..., Any], states: tuple[str, ...] = ()
    ) -> Any:
        """Return the plan of a question, from memory if possible; otherwise it is compiled.

        It is None for an explanation that does not fit, which branch and bound finds. The states
        are those of the hard evidence, if the plan holds them.
        """
        kind, _, hard, soft = key

        def stored() -> Stored:
            plan = None
            try:
                plan = compiled(
                    self.model, evidence=hard, soft=soft, order=self.order, limits=self.limits
                )
            except TooLargeError:
                if kind not in ("mpe", "map"):
                    raise
            return Stored(plan, plan_bytes(plan))

        return self.store.get((*key, states), stored)


_Question: TypeAlias = tuple[str, Scopes | None, tuple[str, ...], tuple[str, ...]]
"""The kind of a question, its targets, and the variables of hard and of soft evidence."""
