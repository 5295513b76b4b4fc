"""The distributions and the joint completions of the missing cells of many cases."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import ImpossibleEvidenceError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.batches import BatchPosterior, BatchRun, run_each
from bnmind.junction.case_tables import Distinct, distinct_cases, patterns_of
from bnmind.junction.engine_planning import Planner, PlanStore, Stored
from bnmind.junction.evidence import Findings, Seen
from bnmind.junction.forms import small_tables
from bnmind.junction.graphs import InteractionGraph, elimination, graph_of_scopes, vertices_in_order
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.plan import Plan, attempt
from bnmind.junction.posteriors import Posterior
from bnmind.junction.randomized_order import RandomizedGreedy
from bnmind.junction.reduction import without_barren
from bnmind.junction.sampling import pick
from bnmind.junction.walk import in_parts
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

States: TypeAlias = NDArray[np.int32]
"""State positions ``(variables, cases)`` in the order of the model's variables, with -1 for missing
cells."""

Positions: TypeAlias = Mapping[str, NDArray[np.int32]]
"""The positions of some variables, ``(cases,)``, with -1 for missing cells."""

# --- Elimination of all variables for many cases at once, and the walk back to their states -------
#
# The variables are eliminated one after the other. The bucket of a variable holds the tables and
# messages that contain it. Their product is kept, and its maximum or its sum over the variable is a
# message to a later bucket. In the opposite order, each bucket is then read at the states found so
# far: its largest entry continues a most probable completion, and a draw in proportion to its
# entries a sample from the joint distribution. The last axis of every array is the cases. Numbers
# are logarithms for maxima, and for sums if plain ones underflow or overflow.
#
# References
# ----------
# R. Dechter, "Bucket elimination: a unifying framework for reasoning", Artificial Intelligence 113
# (1999), sections 5 and 6.

_Table: TypeAlias = tuple[tuple[str, ...], Floats]
"""Names, and values with an axis for each of them and one of the cases."""

_LEAST = -1e300
"""A logarithm that is smaller than those of all numbers but 0."""


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
        scopes = [[v.name for v in p.scope if v.name in self.sizes] for p in self.potentials]
        graph = graph_of_scopes(self.sizes, scopes)
        order = vertices_in_order(graph, RandomizedGreedy()(graph).variables)
        cliques, names = elimination(graph, order).cliques, graph.names
        return tuple(
            (names[v], tuple(names[other] for other in clique if other != v))
            for v, clique in zip(order, cliques, strict=True)
        )

    @property
    def cells(self) -> int:
        """The number of cells of all buckets, for each case."""
        return sum(math.prod([self.sizes[v] for v in (name, *more)]) for name, more in self.scopes)

    @cached_property
    def _tables(self) -> list[tuple[list[str], tuple[str, ...], Floats]]:
        """The observed variables of each table, the others, and the values in this order."""
        found = []
        for potential in self.potentials:
            factor = potential if isinstance(potential, Factor) else potential.to_factor()
            axes = sorted(range(len(factor.names)), key=lambda a: factor.names[a] in self.sizes)
            names = [factor.names[axis] for axis in axes]
            seen = [name for name in names if name in self.observed]
            found.append((seen, tuple(names[len(seen) :]), np.real(factor.values).transpose(axes)))
        return found

    def tables(self, states: Positions, *, logs: bool) -> Iterator[_Table]:
        """Yield the tables at the observed states, with an axis of cases or of length one."""
        for seen, names, values in self._tables:
            with np.errstate(divide="ignore"):
                own: Any = np.log(values) if logs else values
            if seen:
                at = tuple([states[name] for name in seen])
                yield names, np.ascontiguousarray(np.moveaxis(own[at], 0, -1))
            else:
                yield names, own[..., None]
        for name, size in self.sizes.items():
            if name in states:
                allowed = (states[name] < 0) | (states[name] == np.arange(size)[:, None])
                yield (name,), np.where(allowed, 0.0, -np.inf) if logs else allowed.astype(float)

    def completions(
        self, states: Positions, case_of: NDArray[np.intp], rng: np.random.Generator | None
    ) -> tuple[Positions, NDArray[np.bool_]]:
        """Return the most probable states of all variables for each row, or draws.

        Parameters
        ----------
        states
            The positions of the variables that are observed in some case, ``(cases,)``, with -1
            where they are missing.
        case_of
            The number of the case of each row.
        rng
            The random generator for draws from the distribution given the case of a row; None for
            the most probable states.

        Returns
        -------
        positions, possible
            The positions, ``(rows,)``, by the name of the variable, and whether a row is possible.
            The positions of other rows are arbitrary.
        """
        kept: list[Floats] | None = None
        if rng is not None:
            with suppress(FloatingPointError), np.errstate(under="raise", over="raise"):
                kept, possible = self._eliminated(states, logs=False, sums=True)
        if kept is None:
            kept, possible = self._eliminated(states, logs=True, sums=rng is not None)
        found = {name: states[name][case_of] for name in self.observed}
        for (name, others), product in zip(reversed(self.scopes), reversed(kept), strict=True):
            luck = np.empty(0) if rng is None else rng.random(len(case_of))
            found[name] = np.empty(len(case_of), dtype=np.int32)
            for part in in_parts(len(case_of), self.sizes[name]):
                at = [found[other][part] for other in others]
                place: Any = (slice(None), *at, _at(product, case_of[part]))
                rows = product[place].T
                chosen = rows.argmax(axis=1) if rng is None else pick(rows, luck[part])
                # In an impossible case, no weight is larger than the product.
                found[name][part] = np.minimum(chosen, self.sizes[name] - 1)
        return found, possible[_at(possible, case_of)]

    def _eliminated(
        self, states: Positions, *, logs: bool, sums: bool
    ) -> tuple[list[Floats], NDArray[np.bool_]]:
        """Return the weights in each bucket, and whether the cases are possible."""
        combine, nothing = (np.add, -np.inf) if logs else (np.multiply, 0.0)
        tables, kept = list(self.tables(states, logs=logs)), []
        for name, others in self.scopes:
            product, tables = self._product(tables, (name, *others), combine)
            if not sums:
                message = product.max(axis=0)
            elif logs:
                largest = np.maximum(product.max(axis=0), _LEAST)
                product = np.exp(product - largest)
                with np.errstate(divide="ignore"):
                    message = largest + np.log(product.sum(axis=0))
            else:
                # Only the ratios of a message matter.
                message = product.sum(axis=0)
                largest = message.reshape(-1, message.shape[-1]).max(axis=0)
                message = np.divide(message, largest, np.zeros_like(message), where=largest > 0)
            kept.append(product)
            tables.append((others, message))
        possible = np.ones(1, dtype=np.bool_)
        for _, values in tables:
            possible = possible & (values > nothing)
        return kept, possible

    def _product(
        self, tables: Sequence[_Table], scope: tuple[str, ...], combine: np.ufunc
    ) -> tuple[Floats, list[_Table]]:
        """Return the product of the tables with the first variable of a scope; the other tables."""
        inside = [table for table in tables if scope[0] in table[0]]
        rest = [table for table in tables if scope[0] not in table[0]]
        # Small tables first: their products are small.
        product: Any = None
        for names, values in sorted(inside, key=lambda table: table[1].size):
            axes = [names.index(name) for name in scope if name in names]
            shape = [self.sizes[name] if name in names else 1 for name in scope]
            own = values.transpose([*axes, len(axes)]).reshape([*shape, values.shape[-1]])
            product = own if product is None else combine(product, own)
        full = [*(self.sizes[name] for name in scope), product.shape[-1]]
        return np.broadcast_to(product, full), rest


def _at(array: NDArray[Any], cases: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the places of cases on the last axis, which has length one where all are equal."""
    return cases if array.shape[-1] > 1 else np.zeros_like(cases)


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
#
# Joint completions share one elimination among many cases. If the buckets of one case are large,
# each case is completed on its own, by a plan for the variables that it observes.

MOST_PLANS = 8
"""The most sets of observed variables with a plan each."""

FEW_TARGETS = 4
"""The most targets whose requisite observations are looked for."""

_SMALL = 2**28
"""The number of multiplications of a plan, of all cases, that is not worth a circuit: .2 s."""

_PLAN_BYTES = 2**29
"""The most bytes of the plans and of the circuit."""

_CELLS = 2**22
"""The number of cells of buckets at a time; they take 32 MiB."""

_MOST_CELLS = 2**18
"""The number of cells of the buckets of a case above which each case has a plan of its own."""


def requisite(
    potentials: Sequence[Potential], target: str, observed: Collection[str]
) -> tuple[str, ...]:
    """Return the observed variables that the posterior of an unobserved one can depend on.

    They are around the part of the graph that the observed variables leave of the target, without
    the barren variables of a network.
    """
    graph = _graph(without_barren(potentials, [target, *observed]))
    known, at = graph.mask(set(observed) & set(graph.names)), graph.mask([target])
    own = next(part for part in graph.components(graph.vertices & ~known) if part & at)
    return graph.members(graph.neighborhood(own))


def _graph(potentials: Sequence[Potential]) -> InteractionGraph:
    sizes = {v.name: v.n_states for potential in potentials for v in potential.scope}
    return graph_of_scopes(sizes, [[v.name for v in potential.scope] for potential in potentials])


@dataclass(frozen=True)
class CaseSolver:
    """A model, prepared for tables of cases."""

    planner: Planner

    @classmethod
    def of(cls, model: Network | FactorModel, limits: Limits = DEFAULT_LIMITS) -> CaseSolver:
        """Return a model, prepared for tables of cases."""
        return cls(Planner(model, None, limits, PlanStore(_PLAN_BYTES)))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the model."""
        return self.planner.model.variables

    @property
    def numbers(self) -> Mapping[str, int]:
        """The number of each variable, by name."""
        return self.planner.reader.columns

    def distributions(
        self, targets: Sequence[int], states: States
    ) -> tuple[NDArray[np.bool_], Sequence[Floats]]:
        """Return which cases are possible, and the distributions of some variables in each case.

        The distributions ``(cases, states)`` of impossible cases are arbitrary, and so are those of
        a target in cases that observe it.
        """
        patterns = patterns_of(states)
        if len(targets) > FEW_TARGETS or len(patterns.first) > MOST_PLANS:
            with suppress(TooLargeError):
                found = self._run(states, [self.variables[target] for target in targets])
                return found.log_evidence > -np.inf, found.joints
        return self._possible(states), [self._marginals(v, states, patterns) for v in targets]

    def log_likelihoods(self, states: States) -> Floats:
        """Return the natural logarithm of the probability of each case, ``(cases,)``."""
        return self._run(states, ()).log_evidence

    def _marginals(self, target: int, states: States, patterns: Distinct) -> Floats:
        """Return the distribution of a variable in the cases that do not observe it."""
        rows = np.flatnonzero(states[target] < 0)
        kept, kinds = np.full((len(states), len(rows)), -1, dtype=np.int32), patterns.kind[rows]
        variable, potentials = self.variables[target], self.planner.model.potentials
        for kind in np.unique(kinds).tolist():
            cases = np.flatnonzero(kinds == kind)
            observed = _observed(self.variables, states[:, patterns.first[[kind]]])
            for name in requisite(potentials, variable.name, observed):
                number = self.numbers[name]
                kept[number, cases] = states[number, rows[cases]]
        found = np.full((states.shape[1], variable.n_states), np.nan)
        found[rows] = self._run(kept, [variable]).joints[0]
        return found

    def _possible(self, states: States) -> NDArray[np.bool_]:
        """Return whether each case has a positive probability, ``(cases,)``."""
        found = np.ones(states.shape[1], dtype=np.bool_)
        for part in self._parts_with_zeros:
            own = states[[self.numbers[v.name] for v in part.variables]]
            if np.any(own >= 0):
                found &= part.log_likelihoods(own) > -np.inf
        return found

    @cached_property
    def _parts_with_zeros(self) -> tuple[CaseSolver, ...]:
        """The tables with zeros, in groups that share no variable."""
        tables = [
            p
            for p in self.planner.model.potentials
            if p.scope and not (isinstance(p, TabularCPD | Factor) and np.all(p.values > 0))
        ]
        graph = _graph(tables)
        parts = [set(graph.members(part)) for part in graph.components(graph.vertices)]
        groups = [tuple(p for p in tables if p.scope[0].name in part) for part in parts]
        return tuple(CaseSolver.of(FactorModel(group), self.planner.limits) for group in groups)

    def _run(self, states: States, targets: Sequence[Variable]) -> BatchRun:
        """Return the answers to some cases."""
        distinct = distinct_cases(states)
        states, n_cases = states[:, distinct.first], len(distinct.first)
        found, rest = BatchRun.of([(v,) for v in targets], n_cases), np.arange(n_cases)
        if len(patterns_of(states).first) > MOST_PLANS:
            rest = self._together(states, found, targets)
        for group in patterns_of(states[:, rest]).groups():
            cases = rest[group]
            plan, known = self._plan(states[:, cases], targets)
            found.put(cases, _answers(plan, known))
        kind = distinct.kind
        return BatchRun(
            tuple([joint[kind] for joint in found.joints]),
            found.log_evidence[kind],
            found.doubt[kind],
        )

    def _together(
        self, states: States, found: BatchRun, targets: Sequence[Variable]
    ) -> NDArray[np.intp]:
        """Answer cases that observe different variables; return those that have no answer."""
        everything, fits = np.arange(states.shape[1]), False
        with suppress(TooLargeError):
            plan, known = self._plan(states, targets)
            fits = plan.compiled.refusal is None
        if not fits or plan.multiplications * len(everything) > _SMALL:
            circuit, most = self.planner.circuit(), self.planner.limits.max_multiplications
            if circuit is not None and circuit.multiplications <= most:
                answers = circuit.answer(states.T, [v.name for v in targets])
                found.put(
                    everything,
                    BatchRun(tuple(answers.marginals), answers.log_evidence, found.doubt),
                )
                return np.flatnonzero(answers.doubtful)
        if not fits:
            return everything
        found.put(everything, _answers(plan, known))
        return everything[:0]

    def _plan(self, states: States, targets: Sequence[Variable]) -> tuple[Plan, Positions]:
        """Return one plan for all cases, and their findings.

        Cells that are missing in some cases are soft evidence. The plan may exceed the limits.
        """
        known = _observed(self.variables, states)
        hard = {name: None for name, column in known.items() if (column >= 0).all()}
        soft = tuple([name for name in known if name not in hard])
        scopes = tuple([(v.name,) for v in targets]) or ((),)
        return self.planner.plan_for(scopes, tuple(hard), soft), known

    def complete(
        self, states: States, found: States, rng: np.random.Generator | None, draws: int
    ) -> NDArray[np.bool_]:
        """Write the completions of some cases; return whether they are possible, ``(rows,)``.

        Parameters
        ----------
        states
            The positions of the cases, ``(variables, cases)``, with -1 for missing cells.
        found
            Where to write the positions, ``(variables, cases * draws)``; -1 where an impossible
            case misses a cell.
        rng
            The random generator for draws; None for the most probable completions.
        draws
            The number of completions of each case.
        """
        distinct = distinct_cases(states)
        # A most probable completion is needed once for each kind of case, a draw for each row.
        once = rng is None
        of_row = np.repeat(distinct.kind, draws)
        kind_of = np.arange(len(distinct.first)) if once else of_row
        cases = states[:, distinct.first]
        result = np.full((len(states), len(kind_of)), -1, dtype=np.int32)
        possible = np.ones(len(kind_of), dtype=np.bool_)
        for kinds in self._groups(cases):
            # The rows of these cases, ordered by case.
            rows = np.flatnonzero(np.isin(kind_of, kinds))
            rows = rows[np.argsort(kind_of[rows], kind="stable")]
            of_case = np.searchsorted(kinds, kind_of[rows])
            result[:, rows], possible[rows] = self._completed(cases[:, kinds], of_case, rng)
        seen = cases[:, kind_of]
        result = np.where(seen >= 0, seen, np.where(possible, result, -1))
        found[:] = result[:, of_row] if once else result
        return possible[of_row] if once else possible

    def _groups(self, cases: States) -> list[NDArray[np.intp]]:
        """Return the numbers of the cases that share an elimination."""
        patterns = patterns_of(cases)
        if len(patterns.first) > MOST_PLANS and self._buckets(cases) is not None:
            return [np.arange(cases.shape[1])]
        return patterns.groups()

    def _completed(
        self, cases: States, case_of: NDArray[np.intp], rng: np.random.Generator | None
    ) -> tuple[States, NDArray[np.bool_]]:
        """Return the completions of the rows of a group; ``case_of`` is ascending."""
        result = np.full((len(cases), len(case_of)), -1, dtype=np.int32)
        possible = np.ones(len(case_of), dtype=np.bool_)
        buckets = self._buckets(cases)
        size = 1 if buckets is None else max(1, _CELLS // max(1, buckets.cells))
        for start in range(0, cases.shape[1], size):
            at = slice(*np.searchsorted(case_of, [start, start + size]))
            part = _observed(self.variables, cases[:, start : start + size])
            if buckets is None:
                states, possible[at] = self._alone(part, at.stop - at.start, rng)
            else:
                states, possible[at] = buckets.completions(part, case_of[at] - start, rng)
            for number, v in enumerate(self.variables):
                if v.name in states:
                    result[number, at] = states[v.name]
        return result, possible

    def _alone(
        self, known: Positions, n_rows: int, rng: np.random.Generator | None
    ) -> tuple[Mapping[str, Any], bool]:
        """Return the completions of the rows of one case, and whether it is possible."""
        variables = self.planner.reader.variables
        seen = Seen({name: int(column[0]) for name, column in known.items()}, {}, variables)
        try:
            if rng is None:
                (best,) = self.planner.explanations(1, seen)
                return {name: variables[name].index(s) for name, s in best.states.items()}, True
            samples = self.planner.sample(n_rows, rng, seen)
            return dict(zip(variables, samples.positions.T, strict=True)), True
        except ImpossibleEvidenceError:
            return {}, False

    def _buckets(self, cases: States) -> Buckets | None:
        """Return the elimination for some cases; None if it is large."""
        always = np.flatnonzero((cases >= 0).all(axis=1)).tolist()
        observed = frozenset([self.variables[number].name for number in always])
        buckets: Buckets | None = self.planner.store.get(
            observed, lambda: Stored(self._new_buckets(observed), 0)
        )
        return buckets

    def _new_buckets(self, observed: frozenset[str]) -> Buckets | None:
        model, limits = self.planner.model, self.planner.limits
        names, most = self.planner.reader.variables, min(_MOST_CELLS, limits.max_multiplications)
        with suppress(TooLargeError):
            tables = small_tables(model.potentials, names, sums_only=False, max_cells=_MOST_CELLS)
            buckets = Buckets(tables, observed)
            if buckets.cells <= min(most, limits.table_cells):
                return buckets
        return None


def _answers(plan: Plan, known: Positions) -> Posterior | BatchPosterior | BatchRun:
    """Return the answers of a plan; if it is too large, those of its restriction to each case."""
    if not known:
        return plan.run()
    if plan.compiled.refusal is None:
        return plan.run_batch(known, allow_impossible=True)

    def alone(case: Findings) -> Posterior | None:
        with suppress(ImpossibleEvidenceError):
            return attempt(plan.restrict(case), {})
        return None

    return run_each(plan.compiled, known, alone, max_bytes=None)


def _observed(variables: Sequence[Variable], states: States) -> dict[str, NDArray[np.int32]]:
    """Return the positions of the variables that some case observes."""
    seen = np.flatnonzero((states >= 0).any(axis=1)).tolist()
    return {variables[number].name: states[number] for number in seen}
