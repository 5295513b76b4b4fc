"""The distributions and the joint completions of the missing cells of many cases."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import ImpossibleEvidenceError, InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.cases.tables import Distinct, distinct_rows
from bnmind.junction.circuit import Circuit
from bnmind.junction.forms import small_tables
from bnmind.junction.graphs import InteractionGraph
from bnmind.junction.inference.batches import run_each
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.sampling import SamplingPlan, compile_sampling
from bnmind.junction.search import ExplanationSearch, compile_search, searched
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.junction.walk import ExplanationPlan, compile_explanation
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

States: TypeAlias = NDArray[np.int32]
"""State positions ``(variables, cases)`` in the order of the model's variables, with -1 for missing
cells."""

Positions: TypeAlias = Mapping[str, NDArray[np.int32]]
"""The positions of some variables, ``(cases,)``, with -1 for missing cells."""

# --- The observations that a posterior can depend on ----------------------------------------------
#
# In a Bayesian network, a ball starts at the target and bounces along the arcs. An unobserved
# variable passes a ball on: to its children, and if it came from a child, also to its parents. An
# observed variable sends a ball that came from a parent back to all of its parents, and stops a
# ball that came from a child. The observed variables that the ball reaches are the requisite ones;
# given them, the target is independent of all other observations. In a product of factors, the
# ball passes through all unobserved neighbors.
#
# References
# ----------
# R. D. Shachter, "Bayes-ball: the rational pastime (for determining irrelevance and requisite
# information in belief networks and influence diagrams)", UAI 1998.


@dataclass(frozen=True)
class Links:
    """The arcs of a network, or the edges of a product of factors, by the numbers of variables."""

    parents: tuple[tuple[int, ...], ...]
    """The parents of each variable; none for a product of factors."""
    others: tuple[tuple[int, ...], ...]
    """The children of each variable, or its neighbors in a product of factors."""

    @classmethod
    def of(cls, model: Network | FactorModel) -> Links:
        """Return the links of a model, in the order of its variables."""
        at = {v.name: number for number, v in enumerate(model.variables)}
        parents: list[tuple[int, ...]] = [() for _ in at]
        others: list[set[int]] = [set() for _ in at]
        if isinstance(model, Network):
            parents = [tuple([at[v.name] for v in cpd.parents]) for cpd in model.cpds]
            for child, known in enumerate(parents):
                for parent in known:
                    others[parent].add(child)
        else:
            for potential in model.potentials:
                scope = {at[v.name] for v in potential.scope}
                for one in scope:
                    others[one] |= scope - {one}
        return cls(tuple(parents), tuple(map(tuple, others)))


def requisite(links: Links, target: int, observed: Collection[int]) -> list[int]:
    """Return the observed variables that the posterior of an unobserved one can depend on."""
    waiting, seen = [(target, True)], set()
    while waiting:
        ball = v, from_child = waiting.pop()
        if ball in seen:
            continue
        seen.add(ball)
        is_observed = v in observed
        if not is_observed:
            waiting += [(other, False) for other in links.others[v]]
        if from_child != is_observed:
            waiting += [(parent, True) for parent in links.parents[v]]
    return sorted({v for v, _ in seen if v in observed})


# --- Posteriors and likelihoods of many cases, in the cheapest known way --------------------------
#
# Identical cases are computed once. If the cases observe few different sets of variables, each set
# gets a plan. Otherwise one circuit answers all of them, or a plan in which missing cells are soft
# evidence, which needs no compiled kernel and serves small tables. If both are too large, each case
# gets a plan of its own.
#
# For few targets of cases that observe few sets of variables, and where all this is too large, a
# case keeps only the requisite observations of each target. The posterior of a variable depends on
# its neighborhood, so that this leaves a small part of a large model. But dropping observations
# must not hide that a case is impossible. A case is impossible if every completion has a zero in
# some table, so only tables with zeros matter. They form models of their own, which decide it.

MOST_PLANS = 8
"""The most sets of observed variables with a plan each."""

FEW_TARGETS = 4
"""The most targets whose requisite observations are looked for."""

_SMALL = 2**28
"""The number of multiplications of a plan, of all cases, that is not worth a circuit: .2 s."""

_CIRCUIT_BYTES = 2**29
"""The most bytes of a circuit."""


class Found(NamedTuple):
    """The answers to some cases."""

    joints: list[Floats]
    """The distribution of each target, ``(cases, states)``; NaN for impossible cases."""
    log_evidence: Floats
    """Natural logarithms, ``(cases,)``; −inf for impossible cases."""

    def put(self, cases: NDArray[np.intp], answers: Found) -> None:
        """Write the answers to some of the cases."""
        self.log_evidence[cases] = answers.log_evidence
        for joint, own in zip(self.joints, answers.joints, strict=True):
            joint[cases] = own


@dataclass(frozen=True)
class CaseSolver:
    """A model, prepared for tables of cases."""

    model: Network | FactorModel
    limits: Limits = DEFAULT_LIMITS

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the model."""
        return self.model.variables

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each variable, by name."""
        return {v.name: number for number, v in enumerate(self.variables)}

    def distributions(
        self, targets: Sequence[int], states: States
    ) -> tuple[NDArray[np.bool_], list[Floats]]:
        """Return which cases are possible, and the distributions of some variables in each case.

        The distributions ``(cases, states)`` of impossible cases are arbitrary, and so are those of
        a target in cases that observe it.
        """
        patterns = patterns_of(states >= 0)
        if len(targets) > FEW_TARGETS or len(patterns.first) > MOST_PLANS:
            names = [self.variables[target].name for target in targets]
            with suppress(TooLargeError):
                found = self._run(self._known(states), states.shape[1], names)
                return found.log_evidence > -np.inf, found.joints
        return self._possible(states), [self._marginals(v, states, patterns) for v in targets]

    def log_likelihoods(self, states: States) -> Floats:
        """Return the natural logarithm of the probability of each case, ``(cases,)``."""
        return self._run(self._known(states), states.shape[1], ()).log_evidence

    def _marginals(self, target: int, states: States, patterns: Distinct) -> Floats:
        """Return the distribution of a variable in the cases that do not observe it."""
        rows = np.flatnonzero(states[target] < 0)
        kept, kinds = np.full((len(states), len(rows)), -1, dtype=np.int32), patterns.kind[rows]
        for kind in np.unique(kinds).tolist():
            cases = np.flatnonzero(kinds == kind)
            observed = np.flatnonzero(states[:, patterns.first[kind]] >= 0).tolist()
            for v in requisite(self._links, target, set(observed)):
                kept[v, cases] = states[v, rows[cases]]
        variable = self.variables[target]
        found = np.full((states.shape[1], variable.n_states), np.nan)
        found[rows] = self._run(self._known(kept), len(rows), [variable.name]).joints[0]
        return found

    def _possible(self, states: States) -> NDArray[np.bool_]:
        """Return whether each case has a positive probability, ``(cases,)``."""
        found = np.ones(states.shape[1], dtype=np.bool_)
        known = self._known(states)
        for part in self._parts_with_zeros:
            own = {v.name: known[v.name] for v in part.variables if v.name in known}
            if own:
                found &= part._run(own, states.shape[1], ()).log_evidence > -np.inf
        return found

    def _known(self, states: States) -> Positions:
        """Return the positions of the variables that some case observes."""
        seen = np.flatnonzero((states >= 0).any(axis=1)).tolist()
        return {self.variables[number].name: states[number] for number in seen}

    @cached_property
    def _links(self) -> Links:
        return Links.of(self.model)

    @cached_property
    def _parts_with_zeros(self) -> tuple[CaseSolver, ...]:
        """The tables with zeros, in groups that share no variable."""
        groups: list[tuple[set[str], list[Potential]]] = []
        for potential in filter(_may_be_zero, self.model.potentials):
            names, tables = {v.name for v in potential.scope}, [potential]
            apart = []
            for others, theirs in groups:
                if names.isdisjoint(others):
                    apart.append((others, theirs))
                else:
                    names |= others
                    tables = [*theirs, *tables]
            groups = [*apart, (names, tables)]
        return tuple(CaseSolver(FactorModel(tuple(tables)), self.limits) for _, tables in groups)

    def _run(self, known: Positions, n_cases: int, targets: Sequence[str]) -> Found:
        """Return the answers to some cases; variables without observations are missing."""
        sizes = {v.name: v.n_states for v in self.model.variables}
        columns = [(column + 1, sizes[name] + 1) for name, column in known.items()]
        distinct = distinct_rows(columns, n_cases)
        few = {name: column[distinct.first] for name, column in known.items()}
        found = self._distinct(few, len(distinct.first), targets)
        return Found(
            [joint[distinct.kind] for joint in found.joints], found.log_evidence[distinct.kind]
        )

    def _distinct(self, known: Positions, n_cases: int, targets: Sequence[str]) -> Found:
        sizes = {v.name: v.n_states for v in self.model.variables}
        found = Found(
            [np.full((n_cases, sizes[name]), np.nan) for name in targets],
            np.full(n_cases, -np.inf),
        )
        if not n_cases:
            return found
        rest = np.arange(n_cases)
        if len(_patterns(known, rest).first) > MOST_PLANS:
            rest = self._together(known, found, targets)
        for group in _patterns(known, rest).groups() if len(rest) else ():
            cases = rest[group]
            part = {name: column[cases] for name, column in known.items() if column[cases[0]] >= 0}
            try:
                found.put(cases, _run(self._plan(part, targets), part, len(cases), targets))
            except TooLargeError:
                if not part:
                    raise
                found.put(cases, self._alone(part, targets))
        return found

    def _together(self, known: Positions, found: Found, targets: Sequence[str]) -> NDArray[np.intp]:
        """Answer cases that observe different variables; return those that have no answer."""
        n_cases = len(found.log_evidence)
        everything, nothing = np.arange(n_cases), np.arange(0)
        plan = None
        with suppress(TooLargeError):
            plan = self._plan(known, targets)
        if plan is not None and plan.multiplications * n_cases <= _SMALL:
            found.put(everything, _run(plan, known, n_cases, targets))
            return nothing
        if self._circuit is not None:
            states = np.full((n_cases, len(self.variables)), -1, dtype=np.int32)
            for name, column in known.items():
                states[:, self.numbers[name]] = column
            answers = self._circuit.answer(states, targets)
            found.put(everything, Found(answers.marginals, answers.log_evidence))
            return np.flatnonzero(answers.doubtful)
        if plan is None:
            return everything
        found.put(everything, _run(plan, known, n_cases, targets))
        return nothing

    @cached_property
    def _circuit(self) -> Circuit | None:
        """The circuit of the model; None if it is too large, or there are negative numbers."""
        most = min(self.limits.max_bytes, _CIRCUIT_BYTES)
        try:
            circuit = Circuit.of(self.model, limits=replace(self.limits, max_bytes=most))
        except (TooLargeError, InvalidModelError):
            return None
        is_small = circuit.multiplications <= self.limits.max_multiplications
        return circuit if is_small else None

    def _alone(self, known: Positions, targets: Sequence[str]) -> Found:
        """Return the answers by a plan for each case, restricted to its findings."""
        whole = self._plan(known, targets, only_restrictions=True)
        batch = run_each(
            whole.compiled, known, lambda case: whole.restrict(case).run(), max_bytes=None
        )
        return Found(list(batch.joints[: len(targets)]), batch.log_evidence)

    def _plan(
        self, known: Positions, targets: Sequence[str], *, only_restrictions: bool = False
    ) -> Plan:
        """Return one plan for all cases, with soft evidence where a cell may be missing."""
        hard = dict.fromkeys([name for name, column in known.items() if (column >= 0).all()])
        return compile_plan(
            self.model,
            evidence=hard,
            soft=[name for name in known if name not in hard],
            targets=[[name] for name in targets] or [[]],
            limits=replace(self.limits, only_restrictions=only_restrictions),
        )


def _patterns(known: Positions, cases: NDArray[np.intp]) -> Distinct:
    """Return which of the known variables each of some cases observes."""
    observed = np.array([column[cases] >= 0 for column in known.values()], dtype=np.bool_)
    return patterns_of(observed.reshape(len(known), len(cases)))


def _run(plan: Plan, known: Positions, n_cases: int, targets: Sequence[str]) -> Found:
    """Return the answers of a plan, which has a target of no variables if there are none."""
    if known:
        batch = plan.run_batch(dict(known), allow_impossible=True)
        return Found(list(batch.joints[: len(targets)]), batch.log_evidence)
    answer = plan.run()
    joints = [np.real(joint)[None] for joint in answer.joints[: len(targets)]]
    return Found(
        [np.repeat(joint, n_cases, axis=0) for joint in joints],
        np.full(n_cases, answer.log_evidence),
    )


def patterns_of(observed: NDArray[np.bool_]) -> Distinct:
    """Return the distinct columns of truth values ``(variables, cases)``."""
    packed = np.packbits(observed, axis=0)
    return distinct_rows([(row, 256) for row in packed], observed.shape[1])


def solver_of(model: Network | FactorModel, limits: Limits = DEFAULT_LIMITS) -> CaseSolver:
    """Return a model prepared for tables of cases.

    A product of one conditional distribution for each variable is treated as the network that it
    is.
    """
    if isinstance(model, FactorModel) and all(isinstance(p, CPD) for p in model.potentials):
        with suppress(InvalidModelError):
            model = Network(tuple(p for p in model.potentials if isinstance(p, CPD)))
    return CaseSolver(model, limits)


def _may_be_zero(potential: Potential) -> bool:
    """Return whether a table may have a zero."""
    if isinstance(potential, TabularCPD | Factor):
        return not bool(np.all(potential.values > 0))
    return True


# --- Elimination of all variables for many cases at once, and the walk back to their states -------
#
# The variables are eliminated one after the other. The bucket of a variable holds the tables and
# messages that contain it. Their product is kept, and its maximum or its sum over the variable is a
# message to a later bucket. In the opposite order, each bucket is then read at the states found so
# far: its largest entry continues a most probable completion, and a draw in proportion to its
# entries a sample from the joint distribution. The last axis of every array is the cases.
#
# References
# ----------
# R. Dechter, "Bucket elimination: a unifying framework for reasoning", Artificial Intelligence 113
# (1999), sections 5 and 6.

_Table: TypeAlias = tuple[tuple[str, ...], Floats]
"""Names, and values with an axis for each of them and one of the cases."""

_LOWEST = -690.0
"""The natural logarithm of the smallest product of numbers that keeps its digits."""

_TINY = 5e-324
"""The smallest positive number."""

_WEIGHTS = 2**22
"""The number of weights that a walk back processes at a time."""


class Completions(NamedTuple):
    """States of all variables for some rows."""

    states: Positions
    """The positions, ``(rows,)``, by the name of the variable; those of impossible rows are
    arbitrary."""
    possible: NDArray[np.bool_]
    """``(rows,)``."""
    exact: NDArray[np.bool_]
    """Whether no number of the row's case became too small to be trusted, ``(rows,)``."""


@dataclass(frozen=True)
class Buckets:
    """The elimination of variables from a product of tables, where others are always observed.

    Parameters
    ----------
    potentials
        Tables of non-negative numbers.
    observed
        The names of the variables that are observed in every case. The others may be observed in
        some of them.
    """

    potentials: tuple[Potential, ...]
    observed: frozenset[str]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The number of states of each variable to eliminate."""
        return {
            v.name: v.n_states
            for potential in self.potentials
            for v in potential.scope
            if v.name not in self.observed
        }

    @cached_property
    def scopes(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Each variable in the order of elimination, with the others in its bucket."""
        scopes = [
            {v.name for v in potential.scope} - self.observed for potential in self.potentials
        ]
        graph = InteractionGraph.from_scopes(self.sizes, [sorted(scope) for scope in scopes])
        found = []
        for name in RandomizedGreedy()(graph).variables:
            together = set().union(*(scope for scope in scopes if name in scope)) - {name}
            scopes = [scope for scope in scopes if name not in scope] + [together]
            found.append((name, tuple(sorted(together))))
        return tuple(found)

    @property
    def cells(self) -> int:
        """The number of cells of all buckets, for each case."""
        return sum(
            self.sizes[name] * math.prod(self.sizes[other] for other in others)
            for name, others in self.scopes
        )

    @cached_property
    def _factors(self) -> tuple[Factor, ...]:
        return tuple(p if isinstance(p, Factor) else p.to_factor() for p in self.potentials)

    def tables(self, states: Positions, *, logs: bool) -> Iterator[_Table]:
        """Yield the tables at the observed states, with an axis of cases or of length one.

        Tables with numbers larger than 1 are divided by their maximum, unless they are logarithms.
        """
        for factor in self._factors:
            with np.errstate(divide="ignore"):
                values: Any = np.log(factor.values) if logs else _at_most_one(factor.values)
            seen = [axis for axis, v in enumerate(factor.scope) if v.name in self.observed]
            left = [axis for axis, v in enumerate(factor.scope) if v.name not in self.observed]
            values = values.transpose([*seen, *left])
            names = tuple(factor.scope[axis].name for axis in left)
            if seen:
                at = tuple(states[factor.scope[axis].name] for axis in seen)
                values = np.ascontiguousarray(np.moveaxis(values[at], 0, -1))
            else:
                values = values[..., None]
            yield names, values
        for name, size in self.sizes.items():
            if name in states:
                positions = states[name]
                allowed = (positions < 0) | (positions == np.arange(size)[:, None])
                yield (name,), np.where(allowed, 0.0, -np.inf) if logs else allowed.astype(float)


def completions(
    buckets: Buckets,
    states: Positions,
    case_of: NDArray[np.intp],
    rng: np.random.Generator | None,
) -> Completions:
    """Return the most probable states of all variables for each row, or draws.

    Parameters
    ----------
    buckets
        The elimination.
    states
        The positions of the variables that are observed in some case, ``(cases,)``, with -1 where
        they are missing.
    case_of
        The number of the case of each row.
    rng
        The random generator for draws from the distribution given the case of a row; None for the
        most probable states.
    """
    combine, nothing = (np.add, -np.inf) if rng is None else (np.multiply, 0.0)
    tables = list(buckets.tables(states, logs=rng is None))
    kept = []
    exact: Any = np.ones(1, dtype=np.bool_)
    for name, others in buckets.scopes:
        if rng is not None:
            inside = [values for names, values in tables if name in names]
            exact = exact & (sum(map(_lowest, inside)) > _LOWEST)
        product, tables = _product(buckets, tables, (name, *others), combine)
        kept.append(product)
        message = product.max(axis=0) if rng is None else product.sum(axis=0)
        if rng is not None:
            # Only the ratios of a message matter.
            largest = message.reshape(-1, message.shape[-1]).max(axis=0)
            message = np.divide(message, largest, out=np.zeros_like(message), where=largest > 0)
        tables.append((others, message))
    possible: Any = np.ones(1, dtype=np.bool_)
    for _, values in tables:
        possible = possible & (values > nothing)
    found = {name: states[name][case_of] for name in buckets.observed}
    for (name, others), product in zip(reversed(buckets.scopes), reversed(kept), strict=True):
        luck = None if rng is None else rng.random(len(case_of))
        found[name] = np.empty(len(case_of), dtype=np.int32)
        for part in _parts(len(case_of), buckets.sizes[name]):
            weights = _weights(product, [found[other][part] for other in others], case_of[part])
            if luck is None:
                found[name][part] = np.argmax(weights, axis=0)
                continue
            sums = np.cumsum(weights, axis=0)
            # The sum of all weights is larger than the product unless rounding makes them equal.
            below = np.count_nonzero(sums <= luck[part] * sums[-1], axis=0)
            found[name][part] = np.minimum(below, buckets.sizes[name] - 1)
    return Completions(found, _of_rows(possible, case_of), _of_rows(exact, case_of))


def _of_rows(flags: NDArray[np.bool_], case_of: NDArray[np.intp]) -> NDArray[np.bool_]:
    return flags[np.zeros_like(case_of) if len(flags) == 1 else case_of]


def _at_most_one(values: Any) -> Floats:
    """Return a table in proportion, so that products do not overflow; no positive number is 0."""
    largest = values.max(initial=0.0)
    if largest <= 1:
        return np.asarray(values)
    return np.asarray(np.maximum(values / largest, np.where(values > 0, _TINY, 0.0)))


def _lowest(values: Floats) -> Floats:
    """Return the logarithm of the smallest positive number of each case."""
    flat = values.reshape(-1, values.shape[-1])
    return np.asarray(np.log(np.min(flat, axis=0, initial=1.0, where=flat > 0)))


def _product(
    buckets: Buckets, tables: Sequence[_Table], scope: tuple[str, ...], combine: np.ufunc
) -> tuple[Floats, list[_Table]]:
    """Return the product of the tables with the first variable of a scope, and the other tables."""
    inside = [table for table in tables if scope[0] in table[0]]
    rest = [table for table in tables if scope[0] not in table[0]]
    # Small tables first: their products are small.
    product: Any = None
    for names, values in sorted(inside, key=lambda table: table[1].size):
        axes = [names.index(name) for name in scope if name in names]
        shape = [buckets.sizes[name] if name in names else 1 for name in scope]
        own = values.transpose([*axes, len(axes)]).reshape([*shape, values.shape[-1]])
        product = own if product is None else combine(product, own)
    full = [*(buckets.sizes[name] for name in scope), product.shape[-1]]
    return np.broadcast_to(product, full), rest


def _weights(product: Floats, at: Sequence[NDArray[np.int32]], cases: NDArray[np.intp]) -> Floats:
    """Return the entries of a bucket at states of its other variables, ``(states, rows)``."""
    if product.shape[-1] == 1:
        cases = np.zeros_like(cases)
    place: Any = (slice(None), *at, cases)
    weights: Floats = product[place]
    return weights


def _parts(n_rows: int, n_states: int) -> Iterator[slice]:
    size = max(1, _WEIGHTS // n_states)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


# --- Joint completions of many cases: identical cases once, and one elimination for many of them --
#
# If the buckets of one case are large, each case is completed on its own, by a plan for the
# variables that it observes.

_CELLS = 2**22
"""The number of cells of buckets at a time; they take 32 MiB."""

_MOST_CELLS = 2**18
"""The number of cells of the buckets of a case above which each case has a plan of its own."""

_CasePlan: TypeAlias = ExplanationPlan | SamplingPlan | ExplanationSearch


@dataclass(frozen=True)
class JointSolver:
    """A model, prepared for joint completions."""

    solver: CaseSolver
    rng: np.random.Generator | None
    """The random generator for draws; None for the most probable completions."""
    _made: dict[frozenset[str], Buckets | None] = field(default_factory=dict)
    """The eliminations so far, by the variables that are always observed; None if too large."""

    def fill(self, states: States, draws: int, found: States) -> NDArray[np.bool_]:
        """Write the completions of some cases; return whether they are possible, ``(rows,)``.

        Parameters
        ----------
        states
            The positions of the cases, ``(variables, cases)``, with -1 for missing cells.
        draws
            The number of completions of each case.
        found
            Where to write the positions, ``(variables, cases * draws)``; -1 where an impossible
            case misses a cell.
        """
        variables = self.solver.variables
        distinct = distinct_rows(
            [(row + 1, v.n_states + 1) for row, v in zip(states, variables, strict=True)],
            states.shape[1],
        )
        # A most probable completion is needed once for each kind of case, a draw for each row.
        once = self.rng is None
        of_row = np.repeat(distinct.kind, draws)
        kind_of = np.arange(len(distinct.first)) if once else of_row
        cases = states[:, distinct.first]
        result = np.full((len(variables), len(kind_of)), -1, dtype=np.int32)
        possible = np.ones(len(kind_of), dtype=np.bool_)
        for kinds in self._groups(cases):
            # The rows of these cases, ordered by case.
            member = np.full(cases.shape[1], -1, dtype=np.intp)
            member[kinds] = np.arange(len(kinds))
            rows = np.flatnonzero(member[kind_of] >= 0)
            rows = rows[np.argsort(member[kind_of[rows]], kind="stable")]
            self._fill_group(cases[:, kinds], member[kind_of[rows]], (result, possible, rows))
        seen = cases[:, kind_of]
        result = np.where(seen >= 0, seen, np.where(possible, result, -1))
        found[:] = result[:, of_row] if once else result
        return possible[of_row] if once else possible

    def _groups(self, cases: States) -> list[NDArray[np.intp]]:
        """Return the numbers of the cases that share an elimination."""
        patterns = patterns_of(cases >= 0)
        is_many = len(patterns.first) > MOST_PLANS
        if is_many and self._buckets(_always(self.solver, cases)) is not None:
            return [np.arange(cases.shape[1])]
        return patterns.groups()

    def _fill_group(
        self,
        cases: States,
        case_of: NDArray[np.intp],
        to: tuple[States, NDArray[np.bool_], NDArray[np.intp]],
    ) -> None:
        """Write the completions of the rows of a group; ``case_of`` is ascending."""
        result, possible, rows = to
        if not len(rows):
            return
        buckets = self._buckets(_always(self.solver, cases))
        doubtful = np.ones(len(rows), dtype=np.bool_)
        if buckets is not None:
            names = [v.name for v in self.solver.variables]
            size = max(1, _CELLS // max(1, buckets.cells))
            for start in range(0, cases.shape[1], size):
                first, last = np.searchsorted(case_of, [start, start + size])
                part = cases[:, start : start + size]
                given = {
                    name: row for name, row in zip(names, part, strict=True) if (row >= 0).any()
                }
                found = completions(buckets, given, case_of[first:last] - start, self.rng)
                at = rows[first:last]
                for number, name in enumerate(names):
                    result[number, at] = found.states[name]
                possible[at] = found.possible
                doubtful[first:last] = ~found.exact
        self._fill_alone(cases, case_of, doubtful, to)

    def _fill_alone(
        self,
        cases: States,
        case_of: NDArray[np.intp],
        doubtful: NDArray[np.bool_],
        to: tuple[States, NDArray[np.bool_], NDArray[np.intp]],
    ) -> None:
        """Write the completions of doubtful rows, one case after the other."""
        result, possible, rows = to
        variables = self.solver.variables
        plans: dict[tuple[str, ...], _CasePlan] = {}
        for case in np.unique(case_of[doubtful]).tolist():
            at = rows[case_of == case]
            findings = {
                v.name: v.states[state]
                for v, state in zip(variables, cases[:, case].tolist(), strict=True)
                if state >= 0
            }
            observed = tuple(findings)
            if observed not in plans:
                plans[observed] = self._plan(observed)
            try:
                states = self._alone(plans[observed], findings, len(at))
            except ImpossibleEvidenceError:
                possible[at] = False
                continue
            possible[at] = True
            for number, v in enumerate(variables):
                if v.name in states:
                    result[number, at] = states[v.name]

    def _plan(self, observed: Sequence[str]) -> _CasePlan:
        """Return a plan for single cases, or a search for each of them if a plan is too large."""
        model, limits = self.solver.model, self.solver.limits
        if self.rng is not None:
            return compile_sampling(model, evidence=observed, limits=limits)
        try:
            return compile_explanation(model, evidence=observed, limits=limits)
        except TooLargeError:
            return compile_search(model, limits=limits)

    def _alone(
        self, plan: _CasePlan, findings: Mapping[str, str], n_rows: int
    ) -> Mapping[str, Any]:
        """Return the completions of the rows of one case, as positions by name."""
        if isinstance(plan, SamplingPlan):
            assert self.rng is not None
            samples = plan.run(findings, n_samples=n_rows, rng=self.rng)
            return {v.name: samples.positions[:, n] for n, v in enumerate(samples.variables)}
        if isinstance(plan, ExplanationSearch):
            found = searched(plan, findings)
        else:
            found = plan.run(findings)
        return {name: self.solver.model.variable(name).index(s) for name, s in found.states.items()}

    def _buckets(self, observed: frozenset[str]) -> Buckets | None:
        """Return the elimination for cases that observe some variables; None if it is large."""
        if observed not in self._made:
            self._made[observed] = self._new_buckets(observed)
        return self._made[observed]

    def _new_buckets(self, observed: frozenset[str]) -> Buckets | None:
        try:
            tables = small_tables(
                self.solver.model.potentials,
                [v.name for v in self.solver.variables],
                sums_only=False,
                max_cells=_MOST_CELLS,
            )
        except TooLargeError:
            return None
        buckets = Buckets(tuple(tables), observed)
        limits = self.solver.limits
        most = min(_MOST_CELLS, limits.max_multiplications, limits.table_cells)
        return buckets if buckets.cells <= most else None


def _always(solver: CaseSolver, cases: States) -> frozenset[str]:
    """Return the names of the variables that every case observes."""
    known = np.flatnonzero((cases >= 0).all(axis=1))
    return frozenset(solver.variables[number].name for number in known)
