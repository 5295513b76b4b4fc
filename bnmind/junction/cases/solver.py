"""Posteriors and likelihoods of many cases with missing cells.

For each target, a case keeps only its requisite observations. Cases that are then identical are
computed once, and cases that observe the same variables share a plan. On large tables this leaves a
small part of the work: the posterior of a variable depends on its neighborhood.

Dropping observations must not hide that a case is impossible. A case is impossible if every
completion has a zero in some table, so only tables with zeros matter. They form a model of their
own, which decides it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.junction.cases.distinct import Distinct, distinct_rows
from bnmind.junction.cases.requisite import Links, requisite
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

__all__ = ["MOST_PLANS", "CaseSolver", "patterns_of", "solver_of"]

States = NDArray[np.int32]

MOST_PLANS = 8
"""The most patterns of observations with a plan each; more patterns share one plan."""


class _Answers(NamedTuple):
    joint: Floats
    """The normalized distribution of the target, ``(cases, states)``."""
    log_evidence: Floats
    """Natural logarithms, ``(cases,)``; −inf for impossible cases."""


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

    def marginals(self, target: int, states: States) -> Floats:
        """Return the distribution of a variable in each case, ``(cases, states)``.

        The variable's own cells are ignored. Impossible cases may have any distribution, or NaN;
        see `possible`.
        """
        observed = states >= 0
        observed[target] = False
        patterns = patterns_of(observed)
        needed = requisite(self._links, target, observed[:, patterns.first])
        numbers = np.flatnonzero(needed.any(axis=1)).tolist()
        kept = np.full((len(numbers), states.shape[1]), -1, dtype=np.int32)
        for row, number in enumerate(numbers):
            flags = needed[number][patterns.kind]
            kept[row] = np.where(flags, states[number], -1)
        return self._answers(self.model, numbers, kept, target).joint

    def log_likelihoods(self, states: States) -> Floats:
        """Return the natural logarithm of the probability of each case, ``(cases,)``."""
        numbers = np.flatnonzero((states >= 0).any(axis=1)).tolist()
        return self._answers(self.model, numbers, states[numbers], None).log_evidence

    def possible(self, states: States) -> NDArray[np.bool_]:
        """Return whether each case has a positive probability, ``(cases,)``."""
        found = np.ones(states.shape[1], dtype=np.bool_)
        for part in self._parts_with_zeros:
            numbers = [self.numbers[v.name] for v in part.variables]
            numbers = [number for number in numbers if (states[number] >= 0).any()]
            if numbers:
                answers = self._answers(part, numbers, states[numbers], None)
                found &= answers.log_evidence > -np.inf
        return found

    @cached_property
    def _links(self) -> Links:
        return Links.of(self.model)

    @cached_property
    def _parts_with_zeros(self) -> tuple[FactorModel, ...]:
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
        return tuple(FactorModel(tuple(tables)) for _, tables in groups)

    def _answers(
        self,
        model: Network | FactorModel,
        numbers: Sequence[int],
        states: States,
        target: int | None,
    ) -> _Answers:
        """Return the answers for states of some variables; identical cases are computed once."""
        sizes = [self.variables[number].n_states for number in numbers]
        columns = [(row + 1, size + 1) for row, size in zip(states, sizes, strict=True)]
        distinct = distinct_rows(columns, states.shape[1])
        small = states[:, distinct.first]
        answers = self._distinct_answers(model, numbers, small, target)
        return _Answers(answers.joint[distinct.kind], answers.log_evidence[distinct.kind])

    def _distinct_answers(
        self,
        model: Network | FactorModel,
        numbers: Sequence[int],
        states: States,
        target: int | None,
    ) -> _Answers:
        n_cases = states.shape[1]
        n_states = 1 if target is None else self.variables[target].n_states
        answers = _Answers(np.empty((n_cases, n_states)), np.empty(n_cases))
        if not n_cases:
            return answers
        patterns = patterns_of(states >= 0)
        if len(patterns.first) > MOST_PLANS:
            groups = [np.arange(n_cases)]
        else:
            groups = [np.flatnonzero(patterns.kind == kind) for kind in range(len(patterns.first))]
        for cases in groups:
            found = self._planned(model, numbers, states[:, cases], target)
            answers.joint[cases] = found.joint
            answers.log_evidence[cases] = found.log_evidence
        return answers

    def _planned(
        self,
        model: Network | FactorModel,
        numbers: Sequence[int],
        states: States,
        target: int | None,
    ) -> _Answers:
        """Return the answers by one plan, with soft evidence where a cell is missing."""
        observed = states >= 0
        known = {
            self.variables[number].name: states[row]
            for row, number in enumerate(numbers)
            if observed[row].any()
        }
        soft = [
            self.variables[number].name
            for row, number in enumerate(numbers)
            if observed[row].any() and not observed[row].all()
        ]
        plan = compile_plan(
            model,
            evidence=[name for name in known if name not in set(soft)],
            soft=soft,
            targets=[[] if target is None else [self.variables[target].name]],
            limits=self.limits,
        )
        if not known:
            answer = plan.run()
            return _Answers(
                np.repeat(answer.joints[0].reshape(1, -1), states.shape[1], axis=0),
                np.full(states.shape[1], answer.log_evidence),
            )
        batch = plan.run_batch(known, allow_impossible=True)
        return _Answers(batch.joints[0].reshape(states.shape[1], -1), batch.log_evidence)


def solver_of(model: Network | FactorModel, limits: Limits = DEFAULT_LIMITS) -> CaseSolver:
    """Return a model prepared for tables of cases.

    A product of one conditional distribution for each variable is treated as the network that it
    is.
    """
    if isinstance(model, FactorModel) and all(isinstance(p, CPD) for p in model.potentials):
        with suppress(InvalidModelError):
            model = Network(tuple(p for p in model.potentials if isinstance(p, CPD)))
    return CaseSolver(model, limits)


def patterns_of(observed: NDArray[np.bool_]) -> Distinct:
    """Return the distinct columns of truth values ``(variables, cases)``."""
    packed = np.packbits(observed, axis=0)
    return distinct_rows([(row, 256) for row in packed], observed.shape[1])


def _may_be_zero(potential: Potential) -> bool:
    """Return whether a table may have a zero."""
    if isinstance(potential, TabularCPD | Factor):
        return not bool(np.all(potential.values > 0))
    return True
