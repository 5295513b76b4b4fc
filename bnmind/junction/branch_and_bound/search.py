"""Searches for proven most probable explanations and marginal MAP, in steps that can be stopped.

Branch and bound needs no table of the joint distribution, and works where the tables of an exact
elimination do not fit in memory. At any time, it knows the best configuration found so far and an
upper bound for all others. The search is complete when the two meet.

References
----------
R. Marinescu and R. Dechter, "AND/OR branch-and-bound search for combinatorial optimization in
graphical models", Artificial Intelligence 173 (2009); R. Marinescu, R. Dechter and A. Ihler,
"AND/OR search for marginal MAP", UAI (2014).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_fields, checked
from bnmind._messages import listed
from bnmind._values import Sealed, Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.branch_and_bound.bounded_explanation import BoundedExplanation
from bnmind.junction.branch_and_bound.log_tables import LogTables, log_tables
from bnmind.junction.branch_and_bound.problem import Level, SearchProblem
from bnmind.junction.branch_and_bound.progress import Evaluator, Progress
from bnmind.junction.branch_and_bound.search_kernel import SearchArrays
from bnmind.junction.branch_and_bound.search_state import copied
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.answering import Answering
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Evidence, by_name, likelihood, read_findings
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.minimal_conflict import impossible, minimal_conflict
from bnmind.junction.reduction.parent_divorcing import small_tables
from bnmind.junction.slicing.sums_file import question_digest
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

__all__ = ["ExplanationSearch", "SearchState", "compile_search"]

_STEP = 20_000
"""The nodes between two looks at the clock and at Ctrl-C: about a tenth of a second."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SearchState(Sealed):
    """The state of a search between two steps. `ExplanationSearch.start` makes the first one."""

    known: BoundedExplanation
    """The best configuration and the bound so far."""
    level: int
    """The level of memory; −1 before the first."""
    _search: str = ""
    _positions: NDArray[np.int64] | None = None
    _left: float = 0.0
    _arrays: tuple[NDArray[Any], ...] | None = None

    def __repr__(self) -> str:
        known = self.known
        return (
            f"SearchState({known.nodes:,} nodes, {known.log_probability:.6g} to"
            f" {known.upper_bound:.6g})"
        )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ExplanationSearch(Value):
    """A search for the most probable states of variables, given the evidence of one case.

    `compile_search` makes searches. `run` searches until there is a proof; `start` and `step` do
    the same in steps, from state to state.
    """

    model: Network | FactorModel
    evidence: Mapping[str, Any]
    """The findings."""
    targets: tuple[str, ...] | None = None
    """The explained variables; None for all that have no state in the evidence."""
    order: OrderFinder | None = None
    limits: Limits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fields(self)

    def __repr__(self) -> str:
        return (
            f"ExplanationSearch({len(self.variables):,} of {len(self.model.variables):,} variables"
            f" | {len(self.evidence):,} findings)"
        )

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The explained variables."""
        if self.targets is not None:
            return tuple([self.model.variable(name) for name in self.targets])
        hard = {name for name, finding in self.evidence.items() if isinstance(finding, str)}
        return tuple([v for v in self.model.variables if v.name not in hard])

    def start(self) -> SearchState:
        """Return the state before the first step."""
        return self._state(self._progress(None))

    @checked
    def step(
        self, state: SearchState, max_nodes: int = 100_000
    ) -> tuple[SearchState, BoundedExplanation]:
        """Return the state after visiting some nodes, and the best configuration it knows.

        A step may first compute tighter bounds, which takes more memory. Each step copies the cache
        of the search, up to about 100 MB, so take steps of many nodes. `run` copies nothing.

        Parameters
        ----------
        state
            A state of this search, or of one with the same question and limits. It does not change.
        max_nodes
            The number of nodes to visit.

        Raises
        ------
        ImpossibleEvidenceError
            If the search is complete, and the evidence has probability zero.
        InvalidArgumentError
            If ``max_nodes`` is less than 1, or the state is that of another search.
        """
        if max_nodes < 1:
            raise InvalidArgumentError(f"max_nodes must be at least 1, got {max_nodes}", max_nodes)
        if state._search != self._digest:
            raise InvalidArgumentError(
                "this state belongs to another search; begin with the start() of this one", state
            )
        progress = self._progress(state)
        progress.advance(max_nodes)
        after = self._state(progress)
        return after, after.known

    @checked
    def run(
        self,
        *,
        max_nodes: int | None = None,
        seconds: float | None = None,
        until: Callable[[BoundedExplanation], bool] | None = None,
    ) -> BoundedExplanation:
        """Return the best configuration at the end of the search.

        Without limits, the search ends with a proof. Ctrl-C ends it with what is known; the result
        then says that it is not proven.

        Parameters
        ----------
        max_nodes
            The most nodes to visit.
        seconds
            The time after which the search ends, at the next of its steps.
        until
            Is called with the best configuration about ten times a second, and ends the search by
            returning True.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        progress = self._progress(None)
        end = math.inf if seconds is None else time.monotonic() + seconds
        try:
            while not progress.is_done and time.monotonic() < end:
                left = _STEP if max_nodes is None else min(_STEP, max_nodes - progress.nodes)
                if left < 1:
                    break
                progress.advance(left)
                if until is not None and until(self._known(progress)):
                    break
        except KeyboardInterrupt:
            if progress.positions is None:
                raise
        return self._known(progress)

    def _progress(self, state: SearchState | None) -> Progress:
        """Return a search that continues from a state."""
        progress = Progress(self._problem, self.limits.max_bytes // 8, self._evaluate)
        if state is not None and state.level >= 0:
            progress.number = state.level
            progress.positions = state._positions
            progress.value = state.known.log_probability
            progress.bound = state.known.upper_bound
            progress.nodes = state.known.nodes
            progress.is_done = state.known.is_proven
            progress.left = state._left
            if state._arrays is not None:
                progress.arrays = copied(SearchArrays(*state._arrays))
                progress.level = self._level(state.level)
        return progress

    def _state(self, progress: Progress) -> SearchState:
        if progress.level is not None:
            self.__dict__["_last_level"] = (progress.number, progress.level)
        return SearchState(
            known=self._known(progress),
            level=progress.number,
            _search=self._digest,
            _positions=progress.positions,
            _left=progress.left,
            _arrays=None if progress.arrays is None else tuple(progress.arrays),
        )

    def _level(self, number: int) -> Level:
        """Return a level; the last one is remembered."""
        known = self.__dict__.get("_last_level")
        if known is None or known[0] != number:
            known = (number, self._problem.level(number))
        level: Level = known[1]
        return level

    def _known(self, progress: Progress) -> BoundedExplanation:
        if progress.is_done and progress.positions is None:
            raise impossible({name: self.evidence[name] for name in self._conflict()})
        states: dict[str, str] = {}
        if progress.positions is not None:
            positions, tables = progress.positions.tolist(), self._tables
            number = {v.name: i for i, v in enumerate(tables.variables)}
            for v in self.variables:
                i = number[v.name]
                states[v.name] = v.states[int(tables.states[i][positions[i]])]
        return BoundedExplanation(
            states=states,
            log_probability=progress.value,
            upper_bound=progress.bound,
            nodes=progress.nodes,
            is_proven=progress.is_done,
        )

    def _conflict(self) -> tuple[str, ...]:
        """Return findings that contradict each other; all if only the search found that out."""

        def is_possible(names: frozenset[str]) -> bool:
            part = {name: self.evidence[name] for name in names}
            return self._tables_under(part).constant > -math.inf

        names = tuple(self.evidence)
        if is_possible(frozenset(names)):
            return names
        return minimal_conflict(names, is_possible)

    @cached_property
    def _tables(self) -> LogTables:
        """The tables under the evidence."""
        return self._tables_under(self.evidence)

    def _tables_under(self, evidence: Mapping[str, Any]) -> LogTables:
        hard, soft = _split(evidence)
        most = self.limits.table_cells
        potentials = small_tables(
            self.model.potentials,
            [v.name for v in self.model.variables],
            sums_only=False,
            max_cells=most,
        )
        variables = {v.name: v for v in self.model.variables}
        variables.update({v.name: v for potential in potentials for v in potential.scope})
        return log_tables(
            potentials,
            tuple(variables.values()),
            {name: variables[name].index(state) for name, state in hard.items()},
            {name: likelihood(variables[name], finding) for name, finding in soft.items()},
        )

    @cached_property
    def _problem(self) -> SearchProblem:
        explained = {v.name for v in self.variables}
        summed = [
            self.targets is not None and v.name not in explained for v in self._tables.variables
        ]
        return SearchProblem(
            tables=self._tables,
            is_summed=tuple(summed),
            finder=self.order or RandomizedGreedy(),
            max_cells=self.limits.max_bytes // 32,
        )

    @cached_property
    def _digest(self) -> str:
        """The digest of all that the arrays of a state depend on."""
        hard, soft = _split(self.evidence)
        weights = {n: likelihood(self.model.variable(n), w).tolist() for n, w in soft.items()}
        return question_digest(
            self.model.potentials,
            {
                "variables": [(v.name, v.states) for v in self.model.variables],
                "evidence": sorted(hard.items()),
                "soft": sorted(weights.items()),
                "targets": self.targets,
                "order": [int(v) for v in self._problem.order],
                "max_bytes": self.limits.max_bytes,
            },
        )

    @cached_property
    def _evaluate(self) -> Evaluator | None:
        """Return the function that sums over the other variables, given the explained ones."""
        if self.targets is None:
            return None
        hard, soft = _split(self.evidence)
        names = [v.name for v in self.variables]
        plan = compile_plan(
            self.model,
            evidence=[*hard, *names],
            soft=[name for name in soft if name not in names],
            targets=[()],
            order=self.order,
            limits=self.limits,
        )
        answering = Answering(plan.compiled)
        tables, variables = self._tables, self.variables
        number = {v.name: i for i, v in enumerate(tables.variables)}
        weights = {v.name: likelihood(v, soft[v.name]) for v in variables if v.name in soft}
        rest = {name: finding for name, finding in soft.items() if name not in names}

        def evaluate(positions: NDArray[np.int64]) -> float:
            at = {n: int(tables.states[number[n]][positions[number[n]]]) for n in names}
            states = {v.name: v.states[at[v.name]] for v in variables}
            factors = [float(weight[at[name]]) for name, weight in weights.items()]
            if not all(factors):
                return -math.inf
            # Their product could be too small for a float.
            log_factor = math.fsum(map(math.log, factors))
            findings = {**hard, **states, **rest}
            try:
                # A search for findings that contradict each other would take long.
                posterior = plan.run(findings) if plan.by_case else answering.attempt(findings)
            except ImpossibleEvidenceError:
                posterior = None
            return -math.inf if posterior is None else posterior.log_evidence + log_factor

        return evaluate


def _split(evidence: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Floats]]:
    """Return the states of the evidence, and the likelihoods."""
    hard = {name: finding for name, finding in evidence.items() if isinstance(finding, str)}
    soft = {name: finding for name, finding in evidence.items() if name not in hard}
    return hard, soft


@checked
def compile_search(
    model: Network | FactorModel,
    evidence: Evidence | None = None,
    targets: Iterable[str] | None = None,
    *,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ExplanationSearch:
    """Return a search for a proven most probable explanation, or a proven marginal MAP.

    Use it where `compile_explanation` and `compile_marginal_map` would need too much memory.

    Parameters
    ----------
    model
        A network, or a product of non-negative factors.
    evidence
        As for `bnmind.posterior`.
    targets
        The variables to explain, with all others summed out (marginal MAP). By default all
        variables without a state in the evidence.
    order
        The search for an elimination order, as in `compile_plan`.
    limits
        The search takes at most about ``max_bytes``. ``max_multiplications`` limits the sums at
        the leaves of a marginal MAP.

    Raises
    ------
    TooLargeError
        If a table of the model does not fit, or for a marginal MAP, if the probability of the
        evidence and all targets takes too long to compute.
    UnknownNameError, InvalidArgumentError
        As in `compile_marginal_map`.

    Examples
    --------
    >>> from bnmind.pgm import Factor
    >>> a, b = Variable("a", ("no", "yes")), Variable("b", ("no", "yes"))
    >>> model = FactorModel((Factor((a, b), np.array([[1.0, 2.0], [4.0, 3.0]])),))
    >>> found = compile_search(model).run()
    >>> dict(found.states), found.is_proven, round(found.log_probability, 3)
    ({'a': 'yes', 'b': 'no'}, True, 1.386)
    """
    given = by_name(evidence, "the evidence")
    findings = read_findings(given, (), [model.variable(name) for name in given])
    names = None if targets is None else tuple(targets)
    if names is not None:
        problems = [
            f"{model.variable(name).name} cannot be both explained and evidence"
            for name in names
            if isinstance(findings.get(name), str)
        ]
        if not names:
            problems.append("there must be at least one variable to explain")
        problems += [f"{n} is explained twice" for n in dict.fromkeys(names) if names.count(n) > 1]
        if problems:
            raise InvalidArgumentError(listed(problems), tuple(problems))
    return ExplanationSearch(
        model=model, evidence=findings, targets=names, order=order, limits=limits
    )
