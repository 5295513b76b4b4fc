"""Distributions of some variables in many cases with missing cells, in the cheapest known way.

Identical cases are computed once. If the cases observe few different sets of variables, each set
gets a plan. Otherwise one tree answers all of them, or a plan in which missing cells are soft
evidence, which needs no compiled kernel and serves small tables. If both are too large, each case
gets a plan of its own.
"""

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
from bnmind.junction.cases.distinct import Distinct, distinct_rows
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.propagation.propagation import PROPAGATION_LIMITS, Propagation
from bnmind.pgm.network import FactorModel, Network

__all__ = ["MOST_PLANS", "CaseRunner", "Found", "patterns_of"]

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
