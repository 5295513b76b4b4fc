"""How an engine reads questions, makes plans for them, and remembers these."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from bnmind._messages import one_line, shown
from bnmind.errors import InvalidArgumentError, InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.inference.compile import compile_plan, interaction_graph
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import Findings, by_name, is_missing, is_state, likelihood
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.triangulation.greedy import quick_cells
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable, format_name

if TYPE_CHECKING:
    from bnmind.junction.cases.predict import CaseAnswers, Names
    from bnmind.junction.sampling import SamplingPlan
    from bnmind.junction.search import ExplanationSearch
    from bnmind.junction.slices import SlicedPlan
    from bnmind.junction.walk import Explanation, ExplanationPlan, MarginalMapPlan

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
        A `Plan`, `SlicedPlan`, `ExplanationPlan`, `MarginalMapPlan` or `SamplingPlan`; None if it
        does not fit, which is remembered too.
    """
    if plan is None:
        return _PLAN
    if isinstance(plan, Plan):
        return _query_bytes(plan.compiled)
    return plan_bytes(plan.plan)  # all other kinds hold one


def _query_bytes(compiled: CompiledQuery) -> int:
    arrays: list[Any] = []
    for source in compiled.sources:
        arrays += [value for value in vars(source).values() if isinstance(value, np.ndarray)]
    cliques = sum([len(tree.cliques) for tree in compiled.trees])
    parts = len(compiled.targets) + len(compiled.sources) + len(compiled.evidence) + cliques
    steps = len(compiled.program.steps)
    bytes_of_lists = compiled.program.listed_bytes
    if compiled.swept is not None:
        steps += compiled.swept.steps
    causes = compiled.query.causes
    if causes is not None:
        arrays += causes.arcs
    in_arrays = bytes_of_lists + sum([int(a.nbytes) for a in arrays])
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
    title: str
    """The questions that the plan answers, in one line."""


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

    def peek(self, key: Hashable) -> Any:
        """Return the plan of a key, or None; it then counts as used."""
        with self._lock:
            found = self._plans.get(key)
            if found is None:
                return None
            self._plans.move_to_end(key)
            return found.plan

    def held(self) -> tuple[Stored, ...]:
        """Return all plans, the least recently used first."""
        with self._lock:
            return tuple(self._plans.values())

    def _put(self, key: Hashable, stored: Stored) -> None:
        """Add a plan, and drop others until all fit."""
        if stored.bytes > self.most_bytes:
            return
        with self._lock:
            before = self._plans.pop(key, None)
            self._bytes += stored.bytes - (0 if before is None else before.bytes)
            self._plans[key] = stored
            while self._bytes > self.most_bytes:
                _, dropped = self._plans.popitem(last=False)
                self._bytes -= dropped.bytes


# --- The targets and the evidence of a question, checked and converted ----------------------------

Targets: TypeAlias = "str | Iterable[str | Iterable[str]]"
"""A variable, or several; a tuple of names inside of a list is a joint."""

Scopes: TypeAlias = tuple[tuple[str, ...], ...]


class Seen(NamedTuple):
    """The evidence of a question, without missing findings."""

    positions: Mapping[str, int]
    """The state positions of the variables with hard evidence."""
    soft: Mapping[str, Floats]
    """The likelihoods of the variables with soft evidence."""
    variables: Mapping[str, Variable]
    """All variables of the model, in its order."""

    def in_order(self) -> tuple[dict[str, str], dict[str, Floats]]:
        """Return the states and the likelihoods in the order of the model.

        Equal evidence then gives equal plans.
        """
        states = {name: self.variables[name].states[i] for name, i in self.positions.items()}
        return _in_order(states, self.variables), _in_order(self.soft, self.variables)

    def joined(self, other: Seen) -> Seen | None:
        """Return both pieces of evidence as one; None if they contradict each other.

        They contradict each other if one variable is in two states.
        """
        mine = self.positions
        if any(mine.get(name, place) != place for name, place in other.positions.items()):
            return None
        positions, soft = {**mine, **other.positions}, dict(self.soft)
        for name, weights in other.soft.items():
            soft[name] = soft[name] * weights if name in soft else weights
        # A state with a likelihood is a likelihood of that state alone.
        for name in positions.keys() & soft.keys():
            alone = np.zeros(self.variables[name].n_states)
            place = positions.pop(name)
            alone[place] = soft[name][place]
            soft[name] = alone
        return Seen(positions, soft, self.variables)


class Reader:
    """The variables of a model, and what is looked up for each question."""

    def __init__(self, model: Network | FactorModel) -> None:
        self.model = model
        self.variables = {v.name: v for v in model.variables}
        self.columns = {v.name: i for i, v in enumerate(model.variables)}
        self.alone = {v.name: (v,) for v in model.variables}
        self.places = {
            v.name: {state: i for i, state in enumerate(v.states)} for v in model.variables
        }

    @cached_property
    def network(self) -> Network | None:
        """The model as a network; None if it is not one."""
        if isinstance(self.model, Network):
            return self.model
        cpds = [p for p in self.model.potentials if not isinstance(p, Factor)]
        if len(cpds) < len(self.model.potentials):
            return None
        try:
            return Network(tuple(cpds))
        except InvalidModelError:
            return None

    def named(self, scopes: Scopes) -> tuple[tuple[Variable, ...], ...]:
        """Return the variables of targets."""
        variables = self.variables
        return tuple([tuple([variables[name] for name in scope]) for scope in scopes])

    def event(self, given: Any) -> Seen:
        """Return an event, which is read like evidence but must be given."""
        if given is None:
            raise InvalidArgumentError(
                "expected an event, such as {'rain': 'yes'}, got None; {} is the certain event"
            )
        return self.evidence(given, "the event")

    def evidence(self, given: Any, what: str = "the evidence") -> Seen:
        """Return the evidence of a question.

        Parameters
        ----------
        given
            A mapping, a `pandas.Series` or None: for each variable a state, a likelihood, or a
            missing value.
        what
            Names the argument in an error.

        Raises
        ------
        UnknownNameError
            If the model has no such variable, or the variable no such state.
        InvalidArgumentError
            If it is not a mapping, or a likelihood is not valid.
        """
        positions: dict[str, int] = {}
        soft: dict[str, Floats] = {}
        for name, finding in by_name(given, what).items():
            if type(finding) is str and name in self.places and finding in self.places[name]:
                positions[name] = self.places[name][finding]
                continue
            v = self.variables.get(name) or self.model.variable(name)
            if is_missing(finding):
                continue
            if is_state(finding):
                positions[name] = v.index(finding)
            else:
                soft[name] = likelihood(v, finding)
        return Seen(positions, soft, self.variables)

    def scopes(self, targets: Targets | None, seen: Seen) -> Scopes:
        """Return the variables of each target; None asks for all without a state.

        Raises
        ------
        UnknownNameError
            If the model has no such variable.
        InvalidArgumentError
            If the argument holds anything but names, or a target names a variable twice.
        """
        if targets is None:
            return tuple([(name,) for name in self.variables if name not in seen.positions])
        if isinstance(targets, str):
            return ((self._name(targets),),)
        if not isinstance(targets, Iterable) or isinstance(targets, bytes | Mapping):
            raise InvalidArgumentError(
                f"expected the name of a variable or a list of names, got {shown(targets)}", targets
            )
        return tuple([self._scope(target) for target in targets])

    def names(self, targets: Targets, what: str) -> tuple[str, ...]:
        """Return different variables that are asked for together; ``what`` asks for them.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            As for `scopes`, and if there are no names.
        """
        scopes = self.scopes(targets, self.evidence(None))
        names = tuple([name for scope in scopes for name in scope])
        if not names:
            raise InvalidArgumentError(f"{what} needs at least one variable", targets)
        _check_different(names)
        return names

    def _scope(self, target: Any) -> tuple[str, ...]:
        if isinstance(format_name(target), str):
            return (self._name(target),)
        if not isinstance(target, Iterable) or isinstance(target, bytes | Mapping):
            raise InvalidArgumentError(
                f"expected each target as a name or a tuple of names, got {shown(target)}", target
            )
        names = tuple([self._name(name) for name in target])
        _check_different(names)
        return names

    def _name(self, name: Any) -> str:
        text = format_name(name)
        if not isinstance(text, str):
            raise InvalidArgumentError(f"expected the name of a variable, got {shown(name)}", name)
        return text if text in self.variables else self.model.variable(text).name


def _check_different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise InvalidArgumentError(f"expected each variable once, got {', '.join(names)}", names)


def _in_order(findings: Mapping[str, Any], variables: Mapping[str, Variable]) -> dict[str, Any]:
    """Return findings in the order of the model."""
    if len(findings) < 2:
        return dict(findings)
    return {name: findings[name] for name in variables if name in findings}


# --- The plans of an engine: each is made when a question first needs it, and then remembered -----
#
# A plan serves one kind of question about one choice of targets and of variables with hard and with
# soft evidence, in any states. The compilers of rare questions are imported when they are needed.

# --- The question that a plan answers, in one line, as ``P(lung | xray, smoke?)`` -----------------

_MOST = 4
"""The most names that are shown on each side."""

_LONGEST = 24
"""The most characters of a name."""


def format_question(
    kind: str,
    targets: Sequence[Sequence[str]] | None,
    hard: Sequence[str],
    soft: Sequence[str],
) -> str:
    """Return a question as text, with ``?`` after variables of soft evidence.

    Parameters
    ----------
    kind
        The name of the method that asks.
    targets
        The variables of each target; None for all variables.
    hard, soft
        The variables of the evidence.

    Examples
    --------
    >>> format_question("posterior", [["tub"], ["lung", "smoke"]], ["xray"], ["dysp"])
    'posterior  tub; lung, smoke | xray, dysp?'
    >>> format_question("mpe", None, [], [])
    'mpe  all variables'
    """
    asked = "all variables"
    if targets is not None:
        asked = _some(list(filter(None, targets)), "; ", lambda target: _some(target, ", "))
        asked = asked or "log_evidence"
    given = _some([*hard, *(f"{name}?" for name in soft)], ", ")
    return f"{kind}  {asked}{f' | {given}' if given else ''}"


def _name(name: str) -> str:
    return one_line(name, longest=_LONGEST)


def _some(parts: Sequence[Any], comma: str, text: Callable[[Any], str] = _name) -> str:
    """Return the texts of the first few parts, and the number of all."""
    more = f"{comma}… {len(parts)} in all" if len(parts) > _MOST else ""
    return comma.join(map(text, parts[:_MOST])) + more


# --- The plans of an engine: each is made when a question first needs it, and then remembered -----

_Answer = TypeVar("_Answer")

_SMALL = 1_000
"""The cells for each variable of a model below which one plan explains any evidence. A run takes a
few nanoseconds a cell, and a plan about a tenth of a millisecond a variable."""


class Planner:
    """Makes, remembers and runs plans for a model.

    Parameters
    ----------
    model
        The model.
    order, limits
        As for `bnmind.junction.compile_plan`.
    store
        Where the plans are remembered.
    """

    def __init__(
        self,
        model: Network | FactorModel,
        order: OrderFinder | None,
        limits: Limits,
        store: PlanStore,
    ) -> None:
        self.model = model
        self.order = order
        self.limits = limits
        self.store = store
        self._search: ExplanationSearch | None = None

    def plan(self, scopes: Scopes, seen: Seen) -> Plan:
        """Return the plan for some targets and the variables of the evidence."""
        states, soft = seen.in_order()
        return self.plan_for(scopes, tuple(states), tuple(soft))

    def remembered(self, scopes: Scopes, seen: Seen) -> Plan | None:
        """Return the plan for some targets and the variables of the evidence if there is one."""
        states, soft = seen.in_order()
        plan: Plan | None = self.store.peek(("posterior", scopes, tuple(states), tuple(soft), ()))
        return plan

    def posterior(self, scopes: Scopes, seen: Seen, plan: Plan | None = None) -> Posterior:
        """Return the joint distribution of each target given evidence, by its plan if it is given.

        If the plan exceeds the limits, it is restricted to the states of the evidence. If only its
        memory still exceeds them, it runs in slices.
        """
        states, soft = seen.in_order()
        try:
            return run_or_restrict(plan or self.plan(scopes, seen), states, soft)
        except TooLargeError as refusal:
            whole = refusal

        def compiled(model: Network | FactorModel, *, evidence: Any, **options: Any) -> SlicedPlan:
            from bnmind.junction.slices import sliced_instead

            return sliced_instead(whole, model, known=states, targets=scopes, **options)

        # Unlike other plans, this one holds the states of the evidence.
        key = ("slices", scopes, tuple(states), tuple(soft))
        slices: SlicedPlan = self._planned(key, compiled, tuple(states.values()))
        return slices.run(soft)

    def plan_for(self, scopes: Scopes, evidence: tuple[str, ...], soft: tuple[str, ...]) -> Plan:
        """Return the plan for the joint distributions of targets given evidence on variables.

        It may exceed the limits; then only its restrictions can run.
        """
        compiled = partial(_to_be_restricted, targets=scopes)
        plan: Plan = self._planned(("posterior", scopes, evidence, soft), compiled)
        return plan

    def explanation(self, seen: Seen) -> Explanation:
        """Return the most probable states of all variables without hard evidence.

        If the tables of a plan do not fit, branch and bound finds them.
        """
        return self._explained(
            seen, lambda plan, findings: _hidden(plan.run(findings), seen), self._searched
        )

    def best_explanations(self, count: int, seen: Seen) -> tuple[Explanation, ...]:
        """Return the most probable explanations, at most ``count``, in descending order.

        If the tables of a plan do not fit, branch and bound finds them.
        """
        return self._explained(
            seen,
            lambda plan, findings: tuple(_hidden(one, seen) for one in plan.best(count, findings)),
            partial(self._best_searched, count=count),
        )

    def best_maps(self, count: int, names: tuple[str, ...], seen: Seen) -> tuple[Explanation, ...]:
        """Return the most probable joint states of some variables, by branch and bound."""
        states, soft = seen.in_order()
        return self._best_searched(names, {**states, **soft}, count)

    def _searched(self, targets: tuple[str, ...] | None, findings: dict[str, Any]) -> Explanation:
        from bnmind.junction.search import searched

        return searched(self._searching(targets), findings)

    def _best_searched(
        self, targets: tuple[str, ...] | None, findings: dict[str, Any], count: int
    ) -> tuple[Explanation, ...]:
        from bnmind.junction.search import best_searched

        return best_searched(self._searching(targets), findings, count)

    def _searching(self, targets: tuple[str, ...] | None) -> ExplanationSearch:
        """Return the search for explanations of any evidence."""
        from bnmind.junction.search import compile_search

        if targets is not None:
            return compile_search(self.model, targets=targets, order=self.order, limits=self.limits)
        if self._search is None:
            self._search = compile_search(self.model, order=self.order, limits=self.limits)
        return self._search

    def _explained(
        self,
        seen: Seen,
        run: Callable[[ExplanationPlan, dict[str, Any]], _Answer],
        search: Callable[[None, dict[str, Any]], _Answer],
    ) -> _Answer:
        """Return the answer of a plan for explanations, or that of a search if it does not fit.

        A small model has one plan for any evidence. A large one has a plan for each choice of
        observed variables, whose states then make the tables smaller. The choice between the two
        depends on the model alone, so that ties are always broken in the same way.
        """
        from bnmind.junction.walk import compile_explanation

        states, soft = seen.in_order()
        hard, uncertain = tuple(states), tuple(soft)
        if self._is_small:
            hard, uncertain = (), tuple([v.name for v in self.model.variables])
        compiled = partial(_if_it_fits, compile_explanation)
        plan: ExplanationPlan | None = self._planned(("mpe", None, hard, uncertain), compiled)
        findings = {**states, **soft}
        if plan is not None:
            try:
                return run(plan, findings)
            except TooLargeError:
                # Each case has a plan of its own, and the plan of this case does not fit.
                if plan.plan.by_case is None:
                    raise
        return search(None, findings)

    @cached_property
    def _is_small(self) -> bool:
        """Whether a run with likelihoods of all variables takes less time than a plan."""
        return quick_cells(interaction_graph(self.model)) <= _SMALL * len(self.model.variables)

    def marginal_map(self, names: tuple[str, ...], seen: Seen, max_joint: int) -> Explanation:
        """Return the most probable joint state of some variables.

        If their joint distribution or a plan does not fit, branch and bound finds it.
        """
        from bnmind.junction.walk import compile_marginal_map

        states, soft = seen.in_order()
        plan: MarginalMapPlan | None = None
        if self._joint_cells(names) <= max_joint:
            compiled = partial(
                _if_it_fits, compile_marginal_map, variables=names, max_joint=max_joint
            )
            plan = self._planned(("map", (names,), tuple(states), tuple(soft)), compiled)
        findings = {**states, **soft}
        if plan is not None:
            return plan.run(findings)
        return self._searched(names, findings)

    def _joint_cells(self, names: Iterable[str]) -> int:
        return math.prod([self.model.variable(name).n_states for name in names])

    def sampling(self, seen: Seen) -> tuple[SamplingPlan, dict[str, Any]]:
        """Return a plan that draws samples, and the findings of its runs."""
        from bnmind.junction.sampling import compile_sampling

        states, soft = seen.in_order()
        key = ("sample", None, tuple(states), tuple(soft))
        plan: SamplingPlan = self._planned(key, compile_sampling)
        return plan, {**states, **soft}

    def _planned(
        self, key: _Question, compiled: Callable[..., Any], states: tuple[str, ...] = ()
    ) -> Any:
        """Return the plan of a question, from memory if possible; otherwise it is compiled.

        The states are those of the hard evidence, if the plan holds them.
        """
        _, _, hard, soft = key

        def stored() -> Stored:
            options = {"order": self.order, "limits": self.limits}
            plan = compiled(self.model, evidence=hard, soft=soft, **options)
            return Stored(plan, plan_bytes(plan), format_question(*key))

        return self.store.get((*key, states), stored)


_Question: TypeAlias = tuple[str, Scopes | None, tuple[str, ...], tuple[str, ...]]
"""The kind of a question, its targets, and the variables of hard and of soft evidence."""


def _to_be_restricted(model: Network | FactorModel, *, limits: Limits, **options: Any) -> Plan:
    """Return a plan that may exceed the limits if its restrictions do not."""
    return compile_plan(model, limits=replace(limits, only_restrictions=True), **options)


def _if_it_fits(compiled: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return a plan, or None if it exceeds the limits."""
    try:
        return compiled(*args, **options)
    except TooLargeError:
        return None


def _hidden(found: Explanation, seen: Seen) -> Explanation:
    """Return an explanation without the states of the evidence."""
    hidden = {name: state for name, state in found.states.items() if name not in seen.positions}
    return replace(found, states=hidden)


def run_or_restrict(plan: Plan, states: Findings, soft: Findings) -> Posterior:
    """Return the run of a plan. If the plan is too large, it is restricted to the states first."""
    try:
        return plan.run({**states, **soft})
    except TooLargeError:
        if not states:
            raise
    # The plan for these states may be much smaller.
    return plan.restrict(states).run(soft)


# --- Questions about tables of cases, for engines. Their room is imported by the first of them ----


class TableQuestions:
    """The methods of an engine that answer all rows of a data frame.

    The cases are a `pandas.DataFrame` whose columns are matched with variables by name; None and
    NaN mark missing cells. See the functions of the same names, which also take a function that
    reports progress. Each call makes plans of its own for the variables that the cases observe; the
    engine does not remember them.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def model(self) -> Network | FactorModel:
            """The model."""

        @property
        def limits(self) -> Limits:
            """The limits of the cost of an answer."""

    def predict(self, cases: Any, targets: Names | None = None) -> CaseAnswers:
        """Return the most probable state of each target in each case.

        The arguments and errors are those of `bnmind.junction.predict`.
        """
        from bnmind.junction.cases.predict import predict

        return predict(self.model, cases, targets, limits=self.limits)

    def predict_proba(self, cases: Any, targets: Names | None = None) -> CaseAnswers:
        """Return the distribution of each target in each case.

        The arguments and errors are those of `bnmind.junction.predict_proba`.
        """
        from bnmind.junction.cases.predict import predict_proba

        return predict_proba(self.model, cases, targets, limits=self.limits)

    def log_likelihood(self, cases: Any) -> CaseAnswers:
        """Return the log-probability of the observed cells of each case, natural logarithms.

        The arguments and errors are those of `bnmind.junction.log_likelihood`.
        """
        from bnmind.junction.cases.predict import log_likelihood

        return log_likelihood(self.model, cases, limits=self.limits)

    def impute(self, cases: Any) -> CaseAnswers:
        """Return the cases with each missing cell filled by its own most probable state.

        The arguments and errors are those of `bnmind.junction.impute`.
        """
        from bnmind.junction.cases.predict import impute

        return impute(self.model, cases, limits=self.limits)

    def complete(self, cases: Any) -> CaseAnswers:
        """Return the cases filled by the most probable completion of each row.

        The arguments and errors are those of `bnmind.junction.complete`.
        """
        from bnmind.junction.cases.predict import complete

        return complete(self.model, cases, limits=self.limits)

    def sample_missing(self, cases: Any, rng: np.random.Generator, draws: int = 1) -> CaseAnswers:
        """Return the cases filled by draws from the joint distribution given each row.

        The arguments and errors are those of `bnmind.junction.sample_missing`.
        """
        from bnmind.junction.cases.predict import sample_missing

        return sample_missing(self.model, cases, rng=rng, draws=draws, limits=self.limits)
