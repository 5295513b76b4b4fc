"""Most probable explanations by branch and bound, where exact elimination is too large."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.forms import small_tables
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Evidence, by_name, likelihood, read_findings
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import Answering, Plan, impossible, minimal_conflict
from bnmind.junction.search_bounds import LogTables, log_tables
from bnmind.junction.search_progress import (
    TOLERANCE,
    Evaluator,
    Orders,
    Progress,
    SearchProblem,
)
from bnmind.junction.triangulation.annealing import TreeAnnealing
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.junction.walk import Explanation, check_count, check_explained, in_order
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

# --- The results of searches: the best configurations known, and a bound for all others -----------


@dataclass(frozen=True, kw_only=True)
class BestExplanations(Value):
    """The most probable configurations that a search knows, and an upper bound for all others."""

    explanations: tuple[Explanation, ...]
    """Different configurations in descending order. Equally probable ones stand in the order of the
    states of the variables."""
    upper_bound: float
    """No other configuration has a larger log-probability, up to a relative rounding error of
    1e-9; −inf if no other configuration is possible."""
    nodes: int
    """The number of nodes visited so far."""
    is_proven: bool
    """Whether no other configuration is more probable than these, and there are as many as asked
    for, or all that are possible."""

    @property
    def states(self) -> Mapping[str, str]:
        """The states of the most probable one known; empty if none is known."""
        return self.explanations[0].states if self.explanations else {}

    @property
    def log_probability(self) -> float:
        """Natural logarithm of the joint probability of these states and the evidence.

        For a product of factors, of the product; −inf if no configuration is known.
        """
        return self.explanations[0].log_probability if self.explanations else -math.inf

    @property
    def n_proven(self) -> int:
        """The number of the first explanations that no other configuration exceeds."""
        if self.is_proven:
            return len(self.explanations)
        least = self.upper_bound - TOLERANCE * max(1.0, abs(self.upper_bound))
        return sum(found.log_probability >= least for found in self.explanations)

    @property
    def gap(self) -> float:
        """How much the log-probability of another configuration may exceed the last of these.

        It is zero if they are proven, and infinite if none is known.
        """
        if self.is_proven:
            return 0.0
        if not self.explanations:
            return math.inf
        return max(0.0, self.upper_bound - self.explanations[-1].log_probability)

    def proven(self) -> tuple[Explanation, ...]:
        """Return the explanations if they are proven.

        Raises
        ------
        TooLargeError
            If the search ended without a proof. The error says what is known.
        """
        if self.is_proven:
            return self.explanations
        raise TooLargeError(
            f"the search visited {counted(self.nodes, 'node')} without a proof, and found"
            f" {counted(len(self.explanations), 'explanation')}, of which {self.n_proven} are"
            " proven; other configurations may have log-probabilities up to"
            f" {self.upper_bound:.6g}. Search longer, allow more memory, ask for fewer, or observe"
            " more variables.",
            needed=self.nodes + 1,
            budget=self.nodes,
        )


# --- Searches that can be stopped, and the results they know in between ---------------------------
#
# Branch and bound needs no table of the joint distribution, and works where the tables of an exact
# elimination do not fit in memory. At any time, it knows the best configuration found so far and an
# upper bound for all others. The search is complete when the two meet.
#
# References
# ----------
# R. Marinescu and R. Dechter, "AND/OR branch-and-bound search for combinatorial optimization in
# graphical models", Artificial Intelligence 173 (2009); R. Marinescu, R. Dechter and A. Ihler,
# "AND/OR search for marginal MAP", UAI (2014).

_STEP = 20_000
"""The nodes between two looks at the clock and at Ctrl-C: about a tenth of a second."""

_MOST_SHARED = 64
"""The most sets of evidence variables whose orders and plans are kept."""

_Pattern = tuple[frozenset[str], frozenset[str]]


@dataclass
class _Shared:
    """What searches with evidence on the same variables share."""

    orders: Orders = field(default_factory=dict)
    plan: Plan | None = None


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ExplanationSearch(Value):
    """A search for the most probable states of variables, given the evidence of one case.

    `compile_search` makes searches. `run` searches until there is a proof.
    """

    model: Network | FactorModel
    """The model."""
    evidence: Mapping[str, Any]
    """The findings."""
    targets: tuple[str, ...] | None = None
    """The explained variables; None for all that have no state in the evidence."""
    order: OrderFinder | None = None
    """The finder of the elimination order; the default one if None."""
    limits: Limits = DEFAULT_LIMITS
    """The limits of memory and of work."""

    def __repr__(self) -> str:
        return (
            f"ExplanationSearch({len(self.variables):,} of {len(self.model.variables):,} variables"
            f" | {counted(len(self.evidence), 'finding')})"
        )

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The explained variables."""
        if self.targets is not None:
            return tuple([self.model.variable(name) for name in self.targets])
        hard, _ = _split(self.evidence)
        return tuple([v for v in self.model.variables if v.name not in hard])

    @checked
    def run(
        self,
        *,
        max_nodes: int | None = None,
        seconds: float | None = None,
        until: Callable[[BestExplanations], bool] | None = None,
    ) -> BestExplanations:
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
        TooLargeError
            If a table of the model does not fit, or for a marginal MAP, if the probability of the
            evidence and all targets takes too long to compute.
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        return self._run_until(1, max_nodes, seconds, until)

    @checked
    def best(
        self,
        count: int,
        *,
        max_nodes: int | None = None,
        seconds: float | None = None,
        until: Callable[[BestExplanations], bool] | None = None,
    ) -> BestExplanations:
        """Return the most probable configurations at the end of a search, in descending order.

        Without limits, the search ends with a proof. Otherwise `BestExplanations.gap` says how much
        more probable another configuration may be.

        Parameters
        ----------
        count
            The number of configurations. The result has fewer if fewer are possible or known.
        max_nodes, seconds, until
            As in `run`.

        Raises
        ------
        InvalidArgumentError
            If ``count`` is less than 1.
        TooLargeError
            If there are too many states to return.
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        possible = check_count(count, self.variables)
        return self._run_until(min(count, possible), max_nodes, seconds, until)

    def _run_until(
        self,
        count: int,
        max_nodes: int | None,
        seconds: float | None,
        until: Callable[[BestExplanations], bool] | None,
    ) -> BestExplanations:
        """Return what a search knows when it is complete, at the first limit, or at Ctrl-C."""
        progress = Progress(self._problem, self.limits.max_bytes // 8, self._evaluate, count)
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
            if not progress.found():
                raise
        return self._known(progress)

    @checked
    def given(self, case: Evidence) -> ExplanationSearch:
        """Return the search under more evidence, which shares the preparation of the model.

        Searches with findings on the same variables also share the elimination order and, for a
        marginal MAP, the plan of its sums.

        Parameters
        ----------
        case
            The findings besides those of this search.

        Raises
        ------
        InvalidArgumentError
            If a finding is invalid, is about a variable of this search's evidence, or is the state
            of a target.
        UnknownNameError
            If there is no such variable or state.
        """
        findings = _findings_of(self.model, by_name(case, "a case"))
        twice = [name for name in findings if name in self.evidence]
        if twice:
            raise InvalidArgumentError(
                f"{twice[0]} is evidence of the search already, and of a case too", twice[0]
            )
        _check_targets(self.model, self.targets, findings)
        search = replace(self, evidence={**self.evidence, **findings})
        search.__dict__.update(_potentials=self._potentials, _memory=self._memory)
        return search

    def _known(self, progress: Progress) -> BestExplanations:
        """Return the best configurations so far.

        Raises
        ------
        ImpossibleEvidenceError
            If the search is complete and found none.
        """
        best = progress.found()
        if progress.is_done and not best:
            raise self._refusal()
        if best:
            rows = np.array([self._explained_at(at) for _, at in best], dtype=np.intp)
            order = in_order(rows.T, np.array([value for value, _ in best]))
            best = [best[i] for i in order]
        return BestExplanations(
            explanations=tuple([Explanation(self._states_at(at), value) for value, at in best]),
            upper_bound=progress.bound,
            nodes=progress.nodes,
            is_proven=progress.is_done,
        )

    @cached_property
    def _potentials(self) -> tuple[Potential, ...]:
        """The tables of the model; functions of many parents are split into chains."""
        potentials = small_tables(
            self.model.potentials,
            [v.name for v in self.model.variables],
            sums_only=False,
            max_cells=self.limits.table_cells,
        )
        return tuple(potentials)

    def _tables_under(self, evidence: Mapping[str, Any]) -> LogTables:
        hard, soft = _split(evidence)
        variables = {v.name: v for v in self.model.variables}
        variables.update({v.name: v for potential in self._potentials for v in potential.scope})
        return log_tables(
            self._potentials,
            tuple(variables.values()),
            {name: variables[name].index(state) for name, state in hard.items()},
            {name: likelihood(variables[name], finding) for name, finding in soft.items()},
        )

    @cached_property
    def _tables(self) -> LogTables:
        return self._tables_under(self.evidence)

    @cached_property
    def _problem(self) -> SearchProblem:
        """The tables, and which variables are summed out."""
        explained = {v.name for v in self.variables}
        summed = [
            self.targets is not None and v.name not in explained for v in self._tables.variables
        ]
        return SearchProblem(
            tables=self._tables,
            is_summed=tuple(summed),
            finder=self.order or RandomizedGreedy(),
            max_cells=self.limits.max_bytes // 32,
            thorough=TreeAnnealing() if self.order is None else None,
            orders=self._shared.orders,
        )

    @cached_property
    def _memory(self) -> Callable[[_Pattern], _Shared]:
        return lru_cache(_MOST_SHARED)(lambda pattern: _Shared())

    @cached_property
    def _shared(self) -> _Shared:
        hard, soft = _split(self.evidence)
        return self._memory((frozenset(hard), frozenset(soft)))

    def _states_at(self, positions: NDArray[np.int64]) -> dict[str, str]:
        """Return the states of the explained variables at positions of all variables."""
        at = self._explained_at(positions)
        return {v.name: v.states[state] for v, state in zip(self.variables, at, strict=True)}

    def _explained_at(self, positions: NDArray[np.int64]) -> list[int]:
        """Return the states of the explained variables, by number."""
        states, number = self._tables.states, self._numbers
        return [int(states[i][positions[i]]) for i in (number[v.name] for v in self.variables)]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {v.name: i for i, v in enumerate(self._tables.variables)}

    @cached_property
    def _evaluate(self) -> Evaluator | None:
        """The function that sums over the other variables, given the explained ones."""
        if self.targets is None:
            return None
        hard, soft = _split(self.evidence)
        plan, variables = self._plan(self.targets), self.variables
        answering = Answering(plan.compiled)
        with np.errstate(divide="ignore"):
            # Sums of logarithms, because a product could be too small for a float.
            logs = {
                v.name: np.log(likelihood(v, soft.pop(v.name))) for v in variables if v.name in soft
            }

        def evaluate(positions: NDArray[np.int64]) -> float:
            states = self._states_at(positions)
            log_factor = math.fsum(
                float(logs[v.name][v.index(states[v.name])]) for v in variables if v.name in logs
            )
            if log_factor == -math.inf:
                return -math.inf
            findings = {**hard, **states, **soft}
            try:
                # A search for findings that contradict each other would take long.
                posterior = plan.run(findings) if plan.by_case else answering.attempt(findings)
            except ImpossibleEvidenceError:
                posterior = None
            return -math.inf if posterior is None else posterior.log_evidence + log_factor

        return evaluate

    def _plan(self, targets: tuple[str, ...]) -> Plan:
        """Return the plan for the probability of the evidence and the explained states."""
        hard, soft = _split(self.evidence)
        if self._shared.plan is None:
            self._shared.plan = compile_plan(
                self.model,
                evidence=[*hard, *targets],
                soft=[name for name in soft if name not in targets],
                targets=[()],
                order=self.order,
                limits=self.limits,
            )
        return self._shared.plan

    def _refusal(self) -> ImpossibleEvidenceError:
        """Return the error for evidence of probability zero, with findings that contradict."""

        def is_possible(names: frozenset[str]) -> bool:
            part = {name: self.evidence[name] for name in names}
            return self._tables_under(part).constant > -math.inf

        names = tuple(self.evidence)
        # All are named if only the search found the contradiction.
        if not is_possible(frozenset(names)):
            names = minimal_conflict(names, is_possible)
        return impossible({name: self.evidence[name] for name in names})


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
    UnknownNameError, InvalidArgumentError
        As in `compile_marginal_map`.

    Examples
    --------
    >>> from bnmind.pgm import Factor
    >>> a, b = Variable("a", ("no", "yes")), Variable("b", ("no", "yes"))
    >>> model = FactorModel((Factor((a, b), [[1.0, 2.0], [4.0, 3.0]]),))
    >>> found = compile_search(model).run()
    >>> dict(found.states), found.is_proven, round(found.log_probability, 3)
    ({'a': 'yes', 'b': 'no'}, True, 1.386)
    """
    findings = _findings_of(model, by_name(evidence, "the evidence"))
    names = None if targets is None else tuple(targets)
    _check_targets(model, names, findings)
    return ExplanationSearch(
        model=model, evidence=findings, targets=names, order=order, limits=limits
    )


def _split(evidence: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Floats]]:
    """Return the states of the evidence, and the likelihoods."""
    hard = {name: finding for name, finding in evidence.items() if isinstance(finding, str)}
    soft = {name: finding for name, finding in evidence.items() if name not in hard}
    return hard, soft


def _findings_of(model: Network | FactorModel, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the states and likelihoods of evidence; raise an error if they are not valid."""
    return read_findings(evidence, (), [model.variable(name) for name in evidence])


def _check_targets(
    model: Network | FactorModel, targets: tuple[str, ...] | None, findings: Mapping[str, Any]
) -> None:
    """Raise an error if the targets are not valid beside some findings."""
    if targets is not None:
        hard, _ = _split(findings)
        check_explained([model.variable(name).name for name in targets], hard)


# --- Searches whose effort is limited like that of a plan -----------------------------------------

_MULTIPLICATIONS_OF_NODE = 2**11
"""The multiplications of a plan that take about as long as a node of a search."""


def searched(search: ExplanationSearch, findings: Mapping[str, Any]) -> Explanation:
    """Return the most probable explanation or marginal MAP by a search within its limits.

    Parameters
    ----------
    search
        A search for any evidence. Calls with findings on the same variables share preparations.
    findings
        The evidence.

    Raises
    ------
    TooLargeError
        If there is no proof within the limits.
    ImpossibleEvidenceError
        If the evidence has probability zero.
    """
    return best_searched(search, findings, 1)[0]


def best_searched(
    search: ExplanationSearch, findings: Mapping[str, Any], count: int
) -> tuple[Explanation, ...]:
    """Return the most probable explanations, at most ``count``, in descending order.

    The other parameters and the errors are those of `searched`.
    """
    return search.given(findings).best(count, max_nodes=_most_nodes(search.limits)).proven()


def _most_nodes(limits: Limits) -> int:
    """Return the number of nodes that limits allow."""
    most = limits.max_multiplications // _MULTIPLICATIONS_OF_NODE
    if not most:
        raise TooLargeError(
            f"a search takes as long as {_MULTIPLICATIONS_OF_NODE:,} multiplications or more;"
            f" allowed are max_multiplications={limits.max_multiplications:,}",
            needed=_MULTIPLICATIONS_OF_NODE,
            budget=limits.max_multiplications,
        )
    return most
