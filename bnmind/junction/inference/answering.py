"""Runs of a compiled query, with a second try if terms of opposite signs cancel.

A compiled query may contain negative numbers (see `bnmind.junction.inference.normalization`). If a
run loses too many digits to them, a query without negative numbers repeats the run, either for any
evidence or for the evidence of the run. If the evidence is impossible, the same queries search for
findings that contradict each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value, made
from bnmind.errors import CancellationError, ImpossibleEvidenceError, TooLargeError
from bnmind.junction.inference.assembly import build, in_chosen_forms
from bnmind.junction.inference.batch_run import BatchRun, run_batch, run_each
from bnmind.junction.inference.cases import case_findings
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import Findings, label_of, likelihood
from bnmind.junction.inference.minimal_conflict import impossible, minimal_conflict
from bnmind.junction.inference.normalization import DOUBTFUL, LOST, lost_digits
from bnmind.junction.inference.parts import shared_search
from bnmind.junction.inference.plan_sums import Progress, sums_of
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.inference.query import opened, with_more
from bnmind.junction.inference.registers import (
    all_inputs,
    checked_inputs,
    positions_of,
    registers_of,
)
from bnmind.junction.reduction.possible_states import n_numbers
from bnmind.pgm.factor import Factor, Values

__all__ = ["Answering"]

# --- Compiled queries derived from others: for more evidence, or without negative numbers ---------
#
# All functions are pure: they take a compiled query and return another.

_UNSIGNED_CELLS = 2**24
"""The most cells of a plan without signs that serves any evidence, for runs whose signs cost
digits. For larger plans, each such run has its own plan without signs."""

_CONFLICT_CELLS = 2**24
"""The most cells of a plan that searches for contradictions; larger plans name all findings."""


def narrowed(
    compiled: CompiledQuery, findings: Findings, inputs: Mapping[str, Values]
) -> CompiledQuery:
    """Return the compiled query restricted to valid findings and inputs.

    Raises
    ------
    ImpossibleEvidenceError
        If a single table excludes the findings. The error does not name them.
    TooLargeError
        If the restricted plan exceeds its limits.
    """
    known = with_more(compiled.query, compiled.known, findings, inputs)
    before = compiled.known.total_size_before
    if before is None and compiled.by_case is None:
        before = compiled.total_size
    return build(compiled.query, replace(known, total_size_before=before))


def with_program(compiled: CompiledQuery) -> CompiledQuery:
    """Return a compiled query with a program, for a sum that is answered without one."""
    return build(replace(compiled.query, direct=False), compiled.known)


def without_signs(
    compiled: CompiledQuery, findings: Findings, inputs: Mapping[str, Values]
) -> CompiledQuery | None:
    """Return an equivalent compiled query without negative or complex numbers.

    Parameters
    ----------
    compiled
        The query.
    findings, inputs
        Findings and inputs of the restriction, if any.

    Returns
    -------
    CompiledQuery or None
        None if it would be too large, or if the model itself has such numbers.

    Raises
    ------
    ImpossibleEvidenceError
        If a single table rules the findings out; it does not name them.
    """
    query = compiled.query
    known = with_more(query, compiled.known, findings, inputs)
    plain = replace(query.with_originals(), signed=False, factorize=True)
    request, potentials, domains = opened(plain, known)
    factors = [p.values for p in potentials if isinstance(p, Factor)]
    if not query.signed or any(np.iscomplexobj(a) or np.any(a < 0) for a in factors):
        return None
    # A plan for a single run may have more cells than a plan for any evidence.
    most = query.limits.most_cells if findings or inputs else _UNSIGNED_CELLS
    # If a distribution has no form but a table that is too large, there is no need for a search.
    potentials, states = in_chosen_forms(request, potentials, domains, shared_search(request.query))
    if any(n_numbers(p, states) > most for p in potentials):
        return None
    try:
        plain_plan = build(replace(plain, most_cells=most, to_be_restricted=False), known)
    except TooLargeError:
        return None
    return None if plain_plan.is_signed else plain_plan


def with_evidence_as_inputs(compiled: CompiledQuery) -> CompiledQuery:
    """Return a compiled query that decides whether any subset of the findings is possible.

    Its inputs are those of the original query, and the likelihoods of all evidence variables of the
    original query, named by `label_of`. Omitted findings have the likelihood one.

    Raises
    ------
    TooLargeError
        If the query would be too large.
    """
    query = compiled.query
    scopes = {label_of(v.name): (v,) for v in (*query.evidence, *query.soft)}
    soft = replace(query, evidence=(), targets=((),), inputs={**query.inputs, **scopes}, soft=())
    return build(replace(soft, most_cells=_CONFLICT_CELLS, to_be_restricted=False))


# --- Runs of a compiled query, with a second try if terms of opposite signs cancel ----------------
#
#


@dataclass(frozen=True, eq=False)
class Answering(Value):
    """A compiled query, and an equivalent query without negative numbers, compiled on demand.

    All methods take findings as returned by `read_findings`.
    """

    compiled: CompiledQuery
    """The query that is tried first."""

    @cached_property
    def ordinary(self) -> Answering:
        """The query with a program, if this is a sum that is answered without one."""
        if self.compiled.summed is None:
            return self
        return Answering(with_program(self.compiled))

    @cached_property
    def unsigned(self) -> Answering | None:
        """The equivalent query without negative numbers for any evidence; None if there is none."""
        other = without_signs(self.ordinary.compiled, {}, {})
        return None if other is None else Answering(other)

    def run(
        self,
        findings: Findings,
        inputs: Mapping[str, Values] | None = None,
        progress: Progress | None = None,
    ) -> Posterior:
        """Return the posterior; raise the errors of `Plan.run`."""
        if self.compiled.by_case is not None:
            return self.for_case(findings, inputs).run({}, None, progress)
        posterior = self.attempt(findings, inputs, progress)
        if posterior is None:
            tables = all_inputs(self.compiled, findings, inputs)
            raise impossible(self.conflict(findings, tables))
        return posterior

    def attempt(
        self,
        findings: Findings,
        inputs: Mapping[str, Values] | None = None,
        progress: Progress | None = None,
    ) -> Posterior | None:
        """Return the posterior, or None instead of searching for findings that contradict.

        The query must not be planned for each case. The errors are those of `Plan.run`; only where
        a query without negative numbers decides, impossible evidence still raises one.
        """
        compiled = self.compiled
        observed = positions_of(compiled, findings)
        tables = all_inputs(compiled, findings, inputs)
        self.check_size()
        if compiled.summed is not None:
            return self._of_sum(observed) or self.ordinary.run(findings, inputs, progress)
        sums = sums_of(compiled, registers_of(compiled, observed, tables), progress)
        if self._is_doubtful(sums.doubt):
            try:
                other, rest, open_inputs = self._second_try(findings, inputs)
            except ImpossibleEvidenceError:
                return None
            return other.run(rest, open_inputs, progress)
        if not sums.log_evidence > -math.inf:
            return None
        joints = tuple(
            [
                answer.lift(result, observed)
                for answer, result in zip(compiled.answers, sums.joints, strict=True)
            ]
        )
        return made(
            Posterior, scopes=compiled.targets, joints=joints, log_evidence=sums.log_evidence
        )

    def _of_sum(self, at: Mapping[str, int]) -> Posterior | None:
        """Return the posterior of a sum that has no program; None if it needs one."""
        compiled = self.compiled
        assert compiled.summed is not None  # as the caller has seen
        registers = registers_of(compiled, at, {})
        numbers = [float(np.real(registers[register])) for register in compiled.scalars]
        if not min(numbers, default=1.0) > 0:
            return None
        summed = compiled.summed.run(registers, at)
        if summed is None:
            return None
        joints = []
        for answer in compiled.answers:
            if answer.register is None:
                joints.append(answer.lift(np.ones(answer.shape), at))
            else:
                belief = summed.beliefs[answer.register]
                joints.append(answer.lift(belief[: math.prod(answer.shape)], at))
        log_evidence = summed.log_evidence + sum(map(math.log, numbers))
        return made(
            Posterior, scopes=compiled.targets, joints=tuple(joints), log_evidence=log_evidence
        )

    def is_possible(self, findings: Findings, inputs: Mapping[str, Values] | None = None) -> bool:
        """Return whether the probability is positive; raise the errors of `Plan.is_possible`."""
        compiled = self.compiled
        if compiled.by_case is not None:
            try:
                return self.for_case(findings, inputs).is_possible({})
            except ImpossibleEvidenceError:
                return False
        observed = positions_of(compiled, findings)
        tables = all_inputs(compiled, findings, inputs)
        self.check_size()
        if compiled.summed is not None:
            posterior = self._of_sum(observed)
            return posterior is not None or self.ordinary.is_possible(findings, inputs)
        sums = sums_of(compiled, registers_of(compiled, observed, tables))
        if not self._is_doubtful(sums.doubt):
            return sums.log_evidence > -math.inf
        try:
            other, rest, open_inputs = self._second_try(findings, inputs)
        except ImpossibleEvidenceError:
            return False
        return other.is_possible(rest, open_inputs)

    def run_batch(
        self,
        cases: Mapping[str, NDArray[Any]],
        inputs: Mapping[str, Values],
        *,
        max_bytes: int | None = None,
    ) -> BatchRun:
        """Return the answers to cases as returned by `read_cases`.

        A query without negative numbers answers doubtful cases.
        """

        def alone(findings: Findings) -> Posterior:
            return self.for_case(findings, inputs).run({})

        if self.compiled.summed is not None:
            return self.ordinary.run_batch(cases, inputs, max_bytes=max_bytes)
        if self.compiled.by_case is not None:
            return run_each(self.compiled, cases, alone, max_bytes=max_bytes)
        if self.compiled.program.listed_bytes:

            def packed(findings: Findings) -> Posterior:
                return self.run(findings, inputs)

            return run_each(self.compiled, cases, packed, max_bytes=max_bytes)
        batch = run_batch(self.compiled, cases, inputs, max_bytes=max_bytes)
        if not (batch.doubt > DOUBTFUL).any():
            return batch
        if self.unsigned is not None:
            again = np.flatnonzero(batch.doubt > DOUBTFUL)
            some = {name: column[again] for name, column in cases.items()}
            batch.put(again, self.unsigned.run_batch(some, inputs))
            return batch
        for case in np.flatnonzero(batch.doubt > LOST).tolist():
            findings = case_findings([*self.compiled.evidence, *self.compiled.soft], cases, case)
            try:
                other, rest, open_inputs = self._second_try(findings, inputs)
                batch.put(case, other.run(rest, open_inputs))
            except CancellationError:
                raise lost_digits(case) from None
            except ImpossibleEvidenceError:
                batch.put(case, None)
        return batch

    def conflict(
        self, findings: Findings, inputs: Mapping[str, Values] | None = None
    ) -> dict[str, Any]:
        """Return a minimal set of findings that are impossible together.

        Parameters
        ----------
        findings
            Findings that are impossible with the inputs and the evidence of the restriction.
        inputs
            The inputs of the plan. A missing input counts as one everywhere.

        Returns
        -------
        Mapping
            Some of the findings, or all of them if the search costs too much.
        """
        query, known = self.compiled.query, self.compiled.known
        findings = {**known.fixed, **findings}
        observed = {
            v.name: v for v in (*query.evidence, *query.soft) if findings.get(v.name) is not None
        }
        try:
            other = Answering(with_evidence_as_inputs(self.compiled))
        except TooLargeError:
            return dict(findings)
        weights = {name: likelihood(v, findings[name]) for name, v in observed.items()}
        tables = {**known.given, **(inputs or {})}
        labels = {label_of(v.name) for v in (*query.evidence, *query.soft)}
        anything = {
            name: np.ones([v.n_states for v in scope])
            if name in labels or name not in tables
            else tables[name]
            for name, scope in other.compiled.inputs.items()
        }

        def possible(names: frozenset[str]) -> bool:
            chosen = {label_of(name): weights[name] for name in names}
            try:
                return other.is_possible({}, {**anything, **chosen})
            except (CancellationError, TooLargeError):
                return True

        names = minimal_conflict(list(observed), possible)
        return {name: findings[name] for name in observed if name in names}

    def for_case(self, findings: Findings, inputs: Mapping[str, Values] | None = None) -> Answering:
        """Return the query restricted to all evidence and inputs of a run."""
        known = {name: finding for name, finding in findings.items() if finding is not None}
        return self.narrowed(known, checked_inputs(self.compiled, inputs))

    def narrowed(self, findings: Findings, inputs: Mapping[str, Values]) -> Answering:
        """Return the query restricted to some findings, and to checked inputs."""
        try:
            return Answering(narrowed(self.ordinary.compiled, findings, inputs))
        except ImpossibleEvidenceError:
            raise impossible(self.conflict(findings, inputs)) from None

    def check_size(self) -> None:
        """Raise `TooLargeError` if a run exceeds its limits."""
        if self.compiled.refusal is not None:
            raise self.compiled.refusal

    def _is_doubtful(self, doubt: float) -> bool:
        """Return whether a query without negative numbers should answer instead of this one."""
        return doubt > DOUBTFUL and (doubt > LOST or self.unsigned is not None)

    def _second_try(
        self, findings: Findings, inputs: Mapping[str, Values] | None
    ) -> tuple[Answering, Findings, Mapping[str, Values]]:
        """Return a query without negative numbers for a run, with its findings and inputs.

        This is `unsigned`, or a query restricted to the evidence and the inputs of the run if only
        that is small enough.

        Raises
        ------
        CancellationError
            If there is neither.
        ImpossibleEvidenceError
            If a single table excludes the evidence.
        """
        if self.unsigned is not None:
            return self.unsigned, findings, inputs or {}
        known = {name: finding for name, finding in findings.items() if finding is not None}
        other = without_signs(self.compiled, known, checked_inputs(self.compiled, inputs))
        if other is None:
            raise lost_digits()
        return Answering(other), {}, {}
