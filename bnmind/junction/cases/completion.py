"""Completions of the rows of a table: the most probable ones, and draws."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import many
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.cases.predict import CaseAnswers, Progress, answered, opened, row_chunks
from bnmind.junction.cases.solver import MOST_PLANS, CaseSolver, patterns_of
from bnmind.junction.cases.tables import CaseTable, distinct_rows, spelled
from bnmind.junction.forms import small_tables
from bnmind.junction.graphs import InteractionGraph, OrderFinder
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.sampling import MOST_STATES, SamplingPlan, compile_sampling
from bnmind.junction.search import ExplanationSearch, compile_search, searched
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.junction.walk import Explanation, ExplanationPlan, compile_explanation
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable, format_name

if TYPE_CHECKING:
    import pandas

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

Positions: TypeAlias = Mapping[str, NDArray[np.int32]]

_Table: TypeAlias = tuple[tuple[str, ...], Floats]
"""Names, and values with an axis for each of them and one of the cases."""

_LOWEST = -690.0
"""The natural logarithm of the smallest product of numbers that keeps its digits."""

_TINY = 5e-324
"""The smallest positive number."""

_WEIGHTS = 2**22
"""The number of weights that a walk back processes at a time."""


@dataclass(frozen=True)
class Completions:
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
    order_finder: OrderFinder

    @classmethod
    def of(cls, potentials: Sequence[Potential], observed: frozenset[str]) -> Buckets:
        """Return the elimination of all variables that are not observed in every case."""
        return cls(tuple(potentials), observed, RandomizedGreedy())

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
        for name in self.order_finder(graph).variables:
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


def most_probable(buckets: Buckets, states: Positions, case_of: NDArray[np.intp]) -> Completions:
    """Return the most probable states of all variables for each row.

    Parameters
    ----------
    buckets
        The elimination.
    states
        The positions of the variables that are observed in some case, ``(cases,)``, with -1 where
        they are missing.
    case_of
        The number of the case of each row.
    """
    tables = list(buckets.tables(states, logs=True))
    kept = []
    for name, others in buckets.scopes:
        product, tables = _product(buckets, tables, (name, *others), np.add)
        kept.append(product)
        tables.append((others, product.max(axis=0)))
    total: Any = np.zeros(1)
    for _, values in tables:
        total = total + values
    found = _start(buckets, states, case_of)
    for (name, others), product in zip(reversed(buckets.scopes), reversed(kept), strict=True):
        found[name] = np.empty(len(case_of), dtype=np.int32)
        for part in _parts(len(case_of), buckets.sizes[name]):
            weights = _weights(product, [found[other][part] for other in others], case_of[part])
            found[name][part] = np.argmax(weights, axis=0)
    return Completions(
        found, _of_rows(total > -np.inf, case_of), np.ones(len(case_of), dtype=np.bool_)
    )


def sampled(
    buckets: Buckets, states: Positions, case_of: NDArray[np.intp], rng: np.random.Generator
) -> Completions:
    """Return states of all variables for each row, drawn from the distribution given its case.

    The parameters are those of `most_probable`, and the random generator.
    """
    tables = list(buckets.tables(states, logs=False))
    kept = []
    exact: Any = np.ones(1, dtype=np.bool_)
    possible: Any = np.ones(1, dtype=np.bool_)
    for name, others in buckets.scopes:
        inside = [values for names, values in tables if name in names]
        exact = exact & (sum(map(_lowest, inside)) > _LOWEST)
        product, tables = _product(buckets, tables, (name, *others), np.multiply)
        sums = product.sum(axis=0)
        largest = sums.reshape(-1, sums.shape[-1]).max(axis=0)
        possible = possible & (largest > 0)
        # Only the ratios of a message matter.
        sums = np.divide(sums, largest, out=np.zeros_like(sums), where=largest > 0)
        kept.append(product)
        tables.append((others, sums))
    for _, values in tables:
        possible = possible & (values > 0)
    found = _start(buckets, states, case_of)
    for (name, others), product in zip(reversed(buckets.scopes), reversed(kept), strict=True):
        luck = rng.random(len(case_of))
        found[name] = np.empty(len(case_of), dtype=np.int32)
        for part in _parts(len(case_of), buckets.sizes[name]):
            at = [found[other][part] for other in others]
            sums = np.cumsum(_weights(product, at, case_of[part]), axis=0)
            # The sum of all weights is larger than the product unless rounding makes them equal.
            below = np.count_nonzero(sums <= luck[part] * sums[-1], axis=0)
            found[name][part] = np.minimum(below, buckets.sizes[name] - 1)
    return Completions(found, _of_rows(possible, case_of), _of_rows(exact, case_of))


def _start(
    buckets: Buckets, states: Positions, case_of: NDArray[np.intp]
) -> dict[str, NDArray[np.int32]]:
    return {name: states[name][case_of] for name in buckets.observed}


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


# Joint completions of many cases: identical cases once, and one elimination for many of them.
#
# If the buckets of one case are large, each case is completed on its own, by a plan for the
# variables that it observes.

_CELLS = 2**22
"""The number of cells of buckets at a time; they take 32 MiB."""

_MOST_CELLS = 2**18
"""The number of cells of the buckets of a case above which each case has a plan of its own."""

States = NDArray[np.int32]

CasePlan: TypeAlias = "ExplanationPlan | SamplingPlan | Searches"


class Pick(Protocol):
    """A way to choose a completion."""

    def together(
        self, buckets: Buckets, states: Mapping[str, States], case_of: NDArray[np.intp]
    ) -> Completions:
        """Return a completion for each row, whose cases are numbered by ``case_of``."""

    def plan(self, solver: CaseSolver, observed: list[str]) -> CasePlan:
        """Return a plan for single cases that observe some variables."""

    def alone(self, plan: CasePlan, findings: Mapping[str, str], n_rows: int) -> Mapping[str, Any]:
        """Return the completions of the rows of one case, as positions by name."""


@dataclass(frozen=True)
class Searches:
    """Explanations by branch and bound, one case after the other."""

    search: ExplanationSearch
    variables: tuple[Variable, ...]
    """The explained variables."""

    def run(self, findings: Mapping[str, str]) -> Explanation:
        """Return the most probable explanation of a case."""
        return searched(self.search, findings)


@dataclass(frozen=True)
class MostProbable:
    """The most probable completion."""

    def together(
        self, buckets: Buckets, states: Mapping[str, States], case_of: NDArray[np.intp]
    ) -> Completions:
        """Return a completion for each row."""
        return most_probable(buckets, states, case_of)

    def plan(self, solver: CaseSolver, observed: list[str]) -> ExplanationPlan | Searches:
        """Return a plan for single cases, or a search for each of them if a plan is too large."""
        try:
            return compile_explanation(solver.model, evidence=observed, limits=solver.limits)
        except TooLargeError:
            seen = frozenset(observed)
            hidden = tuple(v for v in solver.variables if v.name not in seen)
            return Searches(compile_search(solver.model, limits=solver.limits), hidden)

    def alone(self, plan: CasePlan, findings: Mapping[str, str], n_rows: int) -> Mapping[str, Any]:
        """Return the completions of the rows of one case."""
        assert not isinstance(plan, SamplingPlan)
        states = plan.run(findings).states
        return {v.name: v.index(states[v.name]) for v in plan.variables}


@dataclass(frozen=True)
class Drawn:
    """A draw from the joint distribution."""

    rng: np.random.Generator

    def together(
        self, buckets: Buckets, states: Mapping[str, States], case_of: NDArray[np.intp]
    ) -> Completions:
        """Return a completion for each row."""
        return sampled(buckets, states, case_of, self.rng)

    def plan(self, solver: CaseSolver, observed: list[str]) -> SamplingPlan:
        """Return a plan for single cases."""
        return compile_sampling(solver.model, evidence=observed, limits=solver.limits)

    def alone(self, plan: CasePlan, findings: Mapping[str, str], n_rows: int) -> Mapping[str, Any]:
        """Return the completions of the rows of one case."""
        assert isinstance(plan, SamplingPlan)
        samples = plan.run(findings, n_samples=n_rows, rng=self.rng)
        return {v.name: samples.positions[:, n] for n, v in enumerate(samples.variables)}


@dataclass(frozen=True)
class JointSolver:
    """A model, prepared for joint completions."""

    solver: CaseSolver
    _made: dict[frozenset[str], Buckets | None] = field(default_factory=dict)
    """The eliminations so far, by the variables that are always observed; None if too large."""

    def fill(self, states: States, draws: int, pick: Pick, found: States) -> NDArray[np.bool_]:
        """Write the completions of some cases; return whether they are possible, ``(rows,)``.

        Parameters
        ----------
        states
            The positions of the cases, ``(variables, cases)``, with -1 for missing cells.
        draws
            The number of completions of each case.
        pick
            The way to choose a completion.
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
        once = isinstance(pick, MostProbable)
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
            self._fill_group(cases[:, kinds], member[kind_of[rows]], pick, (result, possible, rows))
        seen = cases[:, kind_of]
        result = np.where(seen >= 0, seen, np.where(possible, result, -1))
        found[:] = result[:, of_row] if once else result
        return possible[of_row] if once else possible

    def _groups(self, cases: States) -> Iterator[NDArray[np.intp]]:
        """Yield the numbers of the cases that share an elimination."""
        patterns = patterns_of(cases >= 0)
        n = len(patterns.first)
        if n > MOST_PLANS and self._buckets(_always(self.solver, cases)) is not None:
            yield np.arange(cases.shape[1])
            return
        order = np.argsort(patterns.kind, kind="stable")
        yield from np.split(order, np.cumsum(np.bincount(patterns.kind, minlength=n))[:-1])

    def _fill_group(
        self,
        cases: States,
        case_of: NDArray[np.intp],
        pick: Pick,
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
                found = pick.together(buckets, given, case_of[first:last] - start)
                at = rows[first:last]
                for number, name in enumerate(names):
                    result[number, at] = found.states[name]
                possible[at] = found.possible
                doubtful[first:last] = ~found.exact
        self._fill_alone(cases, case_of, pick, doubtful, to)

    def _fill_alone(
        self,
        cases: States,
        case_of: NDArray[np.intp],
        pick: Pick,
        doubtful: NDArray[np.bool_],
        to: tuple[States, NDArray[np.bool_], NDArray[np.intp]],
    ) -> None:
        """Write the completions of doubtful rows, one case after the other."""
        result, possible, rows = to
        variables = self.solver.variables
        plans: dict[tuple[str, ...], CasePlan] = {}
        for case in np.unique(case_of[doubtful]).tolist():
            at = rows[case_of == case]
            findings = {
                v.name: v.states[state]
                for v, state in zip(variables, cases[:, case].tolist(), strict=True)
                if state >= 0
            }
            make = partial(pick.plan, self.solver, list(findings))
            plan = plans.get(tuple(findings)) or make()
            plans[tuple(findings)] = plan
            try:
                states = pick.alone(plan, findings, len(at))
            except ImpossibleEvidenceError:
                possible[at] = False
                continue
            possible[at] = True
            for number, v in enumerate(variables):
                if v.name in states:
                    result[number, at] = states[v.name]

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
        buckets = Buckets.of(tables, observed)
        limits = self.solver.limits
        most = min(_MOST_CELLS, limits.max_multiplications, limits.table_cells)
        return buckets if buckets.cells <= most else None


def _always(solver: CaseSolver, cases: States) -> frozenset[str]:
    """Return the names of the variables that every case observes."""
    known = np.flatnonzero((cases >= 0).all(axis=1))
    return frozenset(solver.variables[number].name for number in known)


# --- Joint completions of the cases of a data frame: most probable ones, and random ones ----------


@checked
def complete(
    model: Network | FactorModel,
    cases: Any,
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the cases with all missing states replaced by the most probable completion of a row.

    The states of a row are jointly the most probable ones (the most probable explanation), and may
    differ from the most probable states of single cells, which `impute` returns. The parameters and
    errors are those of `bnmind.predict`.

    Returns
    -------
    CaseAnswers
        Its `frame` has the index and all columns of the cases, and then a column for each other
        variable. Missing cells of impossible rows stay missing, and the rows are reported.

    Examples
    --------
    >>> import pandas
    >>> from bnmind.pgm import TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.6, 0.4]),
    ...                    TabularCPD(wet, (rain,), [[0.5, 0.1], [0.5, 0.9]])))
    >>> complete(network, pandas.DataFrame({"wet": [None, "no"]})).frame.to_dict("list")
    {'wet': ['yes', 'no'], 'rain': ['yes', 'no']}
    """
    return completed(*opened(model, cases, limits), progress)


@checked
def sample_missing(
    model: Network | FactorModel,
    cases: Any,
    *,
    rng: np.random.Generator,
    draws: int = 1,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the cases with all missing states drawn from their joint distribution given the row.

    Parameters
    ----------
    model, cases, limits, progress
        As for `bnmind.predict`.
    rng
        The random generator. Equal generators give equal draws.
    draws
        The number of draws of each row, as for multiple imputation.

    Returns
    -------
    CaseAnswers
        Its `frame` has the columns of `complete`. The draws of a row follow each other, with the
        same label of the index.

    Raises
    ------
    InvalidArgumentError
        If ``draws`` is less than 1.
    TooLargeError
        If there are too many states to draw, or as for `bnmind.predict`.
    TableError
        As for `bnmind.predict`.
    """
    if draws < 1:
        raise InvalidArgumentError(f"draws must be at least 1, got {draws}", draws)
    solver, table = opened(model, cases, limits)
    states = draws * len(table) * len(solver.variables)
    if states > MOST_STATES:
        raise TooLargeError(
            f"expected at most {MOST_STATES:,} states to draw at a time, got {many(states)}; draw"
            " fewer, or pass fewer rows",
            needed=states,
            budget=MOST_STATES,
        )
    return drawn(solver, table, rng, draws=draws, progress=progress)


def completed(
    solver: CaseSolver, table: CaseTable, progress: Progress | None = None
) -> CaseAnswers:
    """Return the answers of `complete` to cases that are read already."""
    return _completed(solver, table, MostProbable(), draws=1, progress=progress)


def drawn(
    solver: CaseSolver,
    table: CaseTable,
    rng: np.random.Generator,
    *,
    draws: int = 1,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the answers of `sample_missing` to cases that are read already."""
    return _completed(solver, table, Drawn(rng), draws=draws, progress=progress)


def _completed(
    solver: CaseSolver, table: CaseTable, pick: Pick, *, draws: int, progress: Progress | None
) -> CaseAnswers:
    joint = JointSolver(solver)
    n, n_rows = len(solver.variables), len(table) * draws
    found = np.full((n, n_rows), -1, dtype=np.int32)
    possible = np.ones(n_rows, dtype=np.bool_)
    for rows in row_chunks(solver, len(table)):
        part = slice(rows.start * draws, rows.stop * draws)
        possible[part] = joint.fill(table.states(rows), draws, pick, found[:, part])
        if progress is not None:
            progress(rows.stop, len(table))
    return answered(table, _frame(solver, table, found, draws), possible[::draws])


def _frame(
    solver: CaseSolver, table: CaseTable, found: NDArray[np.int32], draws: int
) -> pandas.DataFrame:
    """Return the columns of the cases, completed, and those of the other variables."""
    import pandas

    index = table.frame.index.repeat(draws)
    labels: list[Any] = list(table.frame.columns)
    columns: list[Any] = []
    for place, name in enumerate(map(format_name, labels)):
        if isinstance(name, str) and name in table.columns:
            number = solver.numbers[name]
            columns.append(spelled(table, solver.variables[number], found[number], index).array)
        else:
            columns.append(table.frame.iloc[:, place].repeat(draws).array)
    for number, v in enumerate(solver.variables):
        if v.name not in table.columns:
            labels.append(v.name)
            columns.append(spelled(table, v, found[number], index).array)
    # Labels may be equal, so that they are set at the end.
    frame = pandas.DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = pandas.Index(labels)
    return frame
