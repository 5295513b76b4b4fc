"""The distributions of the missing cells of many cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import ImpossibleEvidenceError, InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.cases.tables import Distinct, distinct_rows
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.propagation import PROPAGATION_LIMITS, Propagation
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

# Distributions of some variables in many cases with missing cells, in the cheapest known way.
#
# Identical cases are computed once. If the cases observe few different sets of variables, each set
# gets a plan. Otherwise one tree answers all of them, or a plan in which missing cells are soft
# evidence, which needs no compiled kernel and serves small tables. If both are too large, each case
# gets a plan of its own.

MOST_PLANS = 8
"""The most sets of observed variables with a plan each."""

_SMALL = 2**28
"""The number of multiplications of a plan, of all cases, that is not worth a tree: about .2 s."""

Known: TypeAlias = Mapping[str, NDArray[np.int32]]
"""The positions of some variables, ``(cases,)``, with -1 for missing cells."""


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
class CaseRunner:
    """A model that answers many cases."""

    model: Network | FactorModel
    limits: Limits

    def run(self, known: Known, n_cases: int, targets: Sequence[str]) -> Found:
        """Return the distributions of some variables in each case.

        Parameters
        ----------
        known
            The observations; other variables are missing in every case.
        n_cases
            The number of cases.
        targets
            The names of the variables of interest, without observations.

        Raises
        ------
        TooLargeError
            If a case would exceed the limits.
        """
        sizes = {v.name: v.n_states for v in self.model.variables}
        columns = [(column + 1, sizes[name] + 1) for name, column in known.items()]
        distinct = distinct_rows(columns, n_cases)
        few = {name: column[distinct.first] for name, column in known.items()}
        found = self._distinct(few, len(distinct.first), targets)
        return Found(
            [joint[distinct.kind] for joint in found.joints], found.log_evidence[distinct.kind]
        )

    def _distinct(self, known: Known, n_cases: int, targets: Sequence[str]) -> Found:
        sizes = {v.name: v.n_states for v in self.model.variables}
        found = Found(
            [np.full((n_cases, sizes[name]), np.nan) for name in targets],
            np.full(n_cases, -np.inf),
        )
        if not n_cases:
            return found
        observed = np.stack([column >= 0 for column in known.values()]) if known else None
        if observed is None:
            found.put(
                np.arange(n_cases), _run(self._plan_of(known, targets), known, n_cases, targets)
            )
            return found
        patterns = patterns_of(observed)
        n_patterns = len(patterns.first)
        if n_patterns > MOST_PLANS:
            answers = self._together(known, n_cases, targets)
            if answers is not None:
                return answers
        order = np.argsort(patterns.kind, kind="stable")
        ends = np.cumsum(np.bincount(patterns.kind, minlength=n_patterns))
        for cases in np.split(order, ends[:-1]):
            part = {name: column[cases] for name, column in known.items() if column[cases[0]] >= 0}
            try:
                found.put(cases, _run(self._plan_of(part, targets), part, len(cases), targets))
            except TooLargeError:
                found.put(cases, self._alone(part, len(cases), targets))
        return found

    def _together(self, known: Known, n_cases: int, targets: Sequence[str]) -> Found | None:
        """Return the answers to cases that observe different variables; None if too large."""
        plan = None
        with suppress(TooLargeError):
            plan = self._plan_of(known, targets)
        if plan is not None and plan.multiplications * n_cases <= _SMALL:
            return _run(plan, known, n_cases, targets)
        if self._tree is not None:
            states = np.full((n_cases, len(self.model.variables)), -1, dtype=np.int32)
            for place, v in enumerate(self._tree.variables):
                if v.name in known:
                    states[:, place] = known[v.name]
            return Found(*self._tree.marginals_of(states, targets=list(targets)))
        return None if plan is None else _run(plan, known, n_cases, targets)

    @cached_property
    def _tree(self) -> Propagation | None:
        """The tree for any evidence; None if it is too large, or there are negative numbers."""
        most = min(self.limits.max_bytes, PROPAGATION_LIMITS.max_bytes)
        try:
            tree = Propagation.of(self.model, limits=replace(self.limits, max_bytes=most))
        except (TooLargeError, InvalidModelError):
            return None
        return tree if tree.total_size <= self.limits.max_multiplications else None

    def _plan_of(self, known: Known, targets: Sequence[str]) -> Plan:
        """Return one plan for all cases, with soft evidence where a cell may be missing."""
        hard = [name for name, column in known.items() if (column >= 0).all()]
        return self._plan(hard, [name for name in known if name not in set(hard)], targets)

    def _alone(self, known: Known, n_cases: int, targets: Sequence[str]) -> Found:
        """Return the answers by a plan for each case, restricted to its findings."""
        variables = {v.name: v for v in self.model.variables}
        whole = self._plan(list(known), [], targets, only_restrictions=True)
        found = Found(
            [np.full((n_cases, variables[name].n_states), np.nan) for name in targets],
            np.full(n_cases, -np.inf),
        )
        for case in range(n_cases):
            findings = {
                name: variables[name].states[column[case]] for name, column in known.items()
            }
            try:
                answer = whole.restrict(findings).run()
            except ImpossibleEvidenceError:
                continue
            found.log_evidence[case] = answer.log_evidence
            for joint, own in zip(found.joints, answer.joints, strict=False):
                joint[case] = np.real(own)
        return found

    def _plan(
        self,
        hard: Sequence[str],
        soft: Sequence[str],
        targets: Sequence[str],
        *,
        only_restrictions: bool = False,
    ) -> Plan:
        return compile_plan(
            self.model,
            evidence=hard,
            soft=soft,
            targets=[[name] for name in targets] or [[]],
            limits=replace(self.limits, only_restrictions=only_restrictions),
        )


def _run(plan: Plan, known: Known, n_cases: int, targets: Sequence[str]) -> Found:
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


# --- Posteriors and likelihoods of many cases with missing cells ----------------------------------
#
# For each target, a case keeps only its requisite observations. Cases that are then identical are
# computed once. On large tables this leaves a small part of the work: the posterior of a variable
# depends on its neighborhood. For many targets, one tree answers all of them instead.
#
# Dropping observations must not hide that a case is impossible. A case is impossible if every
# completion has a zero in some table, so only tables with zeros matter. They form a model of their
# own, which decides it.

# --- The observations that a posterior can depend on, for many patterns of observations at once ---
#
# In a Bayesian network, a ball starts at the target and bounces along the arcs. An unobserved
# variable passes a ball on: to its children, and if it came from a child, also to its parents. An
# observed variable sends a ball that came from a parent back to all of its parents, and stops a
# ball that came from a child. The observed variables that the ball reaches are the requisite ones;
# given them, the target is independent of all other observations. In a product of factors, the
# ball passes through all unobserved neighbors.
#
# The search runs for all patterns in parallel: a variable has a truth value for each pattern.
#
# References
# ----------
# R. D. Shachter, "Bayes-ball: the rational pastime (for determining irrelevance and requisite
# information in belief networks and influence diagrams)", UAI 1998.

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Links:
    """The arcs of a network, or the edges of a product of factors, by the numbers of variables."""

    parents: tuple[tuple[int, ...], ...]
    """The parents of each variable, which have smaller numbers; empty without arcs."""
    children: tuple[tuple[int, ...], ...]
    neighbors: tuple[tuple[int, ...], ...]
    """The variables in a common factor; empty for a network."""

    @classmethod
    def of(cls, model: Network | FactorModel) -> Links:
        """Return the links of a model, in the order of its variables."""
        at = {v.name: number for number, v in enumerate(model.variables)}
        n = len(at)
        if isinstance(model, Network):
            parents = tuple(tuple(at[v.name] for v in cpd.parents) for cpd in model.cpds)
            children: list[list[int]] = [[] for _ in range(n)]
            for child, known in enumerate(parents):
                for parent in known:
                    children[parent].append(child)
            return cls(parents, tuple(map(tuple, children)), ())
        near: list[set[int]] = [set() for _ in range(n)]
        for potential in model.potentials:
            scope = [at[v.name] for v in potential.scope]
            for one in scope:
                near[one].update(scope)
        return cls((), (), tuple(tuple(sorted(found - {v})) for v, found in enumerate(near)))


def requisite(links: Links, target: int, observed: Flags) -> Flags:
    """Return the observed variables that the posterior of a variable can depend on.

    Parameters
    ----------
    links
        The arcs or edges of the model.
    target
        The number of the variable, which is not observed in any pattern.
    observed
        Whether each variable is observed, ``(variables, patterns)``.

    Returns
    -------
    NDArray
        ``(variables, patterns)``; true for the requisite ones among the observed variables.
    """
    reached = _over_arcs if links.parents else _over_edges
    return observed & reached(links, target, observed)


def _over_arcs(links: Links, target: int, observed: Flags) -> Flags:
    hidden = ~observed
    from_child, from_parent = np.zeros_like(observed), np.zeros_like(observed)
    from_child[target] = True
    reached = np.count_nonzero(from_child)
    while True:
        for v in reversed(range(len(links.parents))):
            _spread(
                (from_child[v] & hidden[v]) | (from_parent[v] & observed[v]),
                from_child,
                links.parents[v],
            )
        for v, children in enumerate(links.children):
            _spread((from_child[v] | from_parent[v]) & hidden[v], from_parent, children)
        before, reached = reached, np.count_nonzero(from_child) + np.count_nonzero(from_parent)
        if reached == before:
            return from_child | from_parent


def _over_edges(links: Links, target: int, observed: Flags) -> Flags:
    reached = np.zeros_like(observed)
    reached[target] = True
    count = np.count_nonzero(reached)
    while True:
        for v, neighbors in enumerate(links.neighbors):
            _spread(reached[v] & ~observed[v], reached, neighbors)
        before, count = count, np.count_nonzero(reached)
        if count == before:
            return reached


def _spread(ball: Flags, reached: Flags, others: Sequence[int]) -> None:
    if others and ball.any():
        for other in others:
            reached[other] |= ball


# --- Posteriors and likelihoods of many cases with missing cells ----------------------------------

States = NDArray[np.int32]

FEW_TARGETS = 4
"""The most targets whose requisite observations are looked for, if the cases observe many different
sets of variables. One run of a tree answers any number of targets."""


@dataclass(frozen=True)
class CaseSolver:
    """A model, prepared for tables of cases.

    States are positions ``(variables, cases)`` in the order of the model's variables, with -1 for
    missing cells.
    """

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

    def shared(
        self, targets: Sequence[int], states: States
    ) -> tuple[NDArray[np.bool_], list[Floats]] | None:
        """Return which cases are possible, and the distributions of all targets, from one run.

        None if the targets are better computed one after the other, by `marginals`. The
        distributions ``(cases, states)`` of impossible cases are arbitrary, and so are those of a
        target in cases that observe it.
        """
        if len(targets) <= FEW_TARGETS or len(patterns_of(states >= 0).first) <= MOST_PLANS:
            return None
        names = [self.variables[target].name for target in targets]
        found = self._whole.run(self._known(states), states.shape[1], names)
        return found.log_evidence > -np.inf, found.joints

    def marginals(self, target: int, states: States) -> Floats:
        """Return the distribution of a variable in each case, ``(cases, states)``.

        The variable's own cells are ignored. Impossible cases may have any distribution, or NaN;
        see `possible`.
        """
        observed = states >= 0
        observed[target] = False
        patterns = patterns_of(observed)
        needed = requisite(self._links, target, observed[:, patterns.first])
        kept = {
            self.variables[number].name: np.where(needed[number][patterns.kind], states[number], -1)
            for number in np.flatnonzero(needed.any(axis=1)).tolist()
        }
        return self._whole.run(kept, states.shape[1], [self.variables[target].name]).joints[0]

    def log_likelihoods(self, states: States) -> Floats:
        """Return the natural logarithm of the probability of each case, ``(cases,)``."""
        return self._whole.run(self._known(states), states.shape[1], ()).log_evidence

    def possible(self, states: States) -> NDArray[np.bool_]:
        """Return whether each case has a positive probability, ``(cases,)``."""
        found = np.ones(states.shape[1], dtype=np.bool_)
        known = self._known(states)
        for part in self._parts_with_zeros:
            own = {v.name: known[v.name] for v in part.model.variables if v.name in known}
            if own:
                found &= part.run(own, states.shape[1], ()).log_evidence > -np.inf
        return found

    def _known(self, states: States) -> dict[str, NDArray[np.int32]]:
        """Return the positions of the variables that some case observes."""
        seen = np.flatnonzero((states >= 0).any(axis=1)).tolist()
        return {self.variables[number].name: states[number] for number in seen}

    @cached_property
    def _whole(self) -> CaseRunner:
        return CaseRunner(self.model, self.limits)

    @cached_property
    def _links(self) -> Links:
        return Links.of(self.model)

    @cached_property
    def _parts_with_zeros(self) -> tuple[CaseRunner, ...]:
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
        return tuple(CaseRunner(FactorModel(tuple(tables)), self.limits) for _, tables in groups)


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
