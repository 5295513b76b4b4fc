"""Joint completions of many cases: identical cases once, and one elimination for many of them.

If the buckets of one case are large, each case is completed on its own, by a plan for the
variables that it observes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import ImpossibleEvidenceError, TooLargeError
from bnmind.junction.branch_and_bound.search import ExplanationSearch, compile_search
from bnmind.junction.branch_and_bound.within_limits import searched
from bnmind.junction.cases.buckets import Buckets, Completions, most_probable, sampled
from bnmind.junction.cases.distinct import distinct_rows
from bnmind.junction.cases.runner import MOST_PLANS, patterns_of
from bnmind.junction.cases.solver import CaseSolver
from bnmind.junction.queries.mpe import Explanation, ExplanationPlan, compile_explanation
from bnmind.junction.queries.sampling import SamplingPlan, compile_sampling
from bnmind.junction.reduction.parent_divorcing import small_tables
from bnmind.pgm.variable import Variable

__all__ = ["Drawn", "JointSolver", "MostProbable", "Pick"]

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
