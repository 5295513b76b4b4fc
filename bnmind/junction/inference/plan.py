"""Plans: exact inference compiled once, run many times as a pure function of the evidence.

The clique tables are never stored: each message of the junction tree is a
contraction straight from the model's tables and the messages that arrive, and the
whole is one straight line of them (Shafer & Shenoy, *Probability propagation*, 1990).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.junction.graphs.junction_tree import Clique, JunctionTree
from bnmind.junction.inference.answering import Answering
from bnmind.junction.inference.batch_memory import batch_size
from bnmind.junction.inference.batch_run import BatchPosterior
from bnmind.junction.inference.cases import case_findings, read_cases
from bnmind.junction.inference.compiled_query import CompiledQuery, Savings, plan_line, plan_text
from bnmind.junction.inference.evidence import (
    Evidence,
    Findings,
    by_name,
    label_of,
    read_findings,
)
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.minimal_conflict import impossible
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.inference.registers import (
    checked_inputs,
)
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

__all__ = ["Plan"]


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Value):
    """A compiled query: which evidence comes in, which joints come out, and the way between.

    Made by `compile_plan`. Printing it shows the cliques, their sizes and the cost.
    """

    compiled: CompiledQuery
    """The tables, the program and the answers, as plain data."""

    @property
    def trees(self) -> tuple[JunctionTree, ...]:
        """One junction tree, or several where parts of the query are cheaper by themselves."""
        return self.compiled.trees

    @property
    def tree(self) -> JunctionTree:
        """The junction tree; the largest one if there are several."""
        return max(self.trees, key=lambda tree: tree.total_size)

    @property
    def evidence(self) -> tuple[Variable, ...]:
        """The variables whose states each run is given."""
        return self.compiled.evidence

    @property
    def soft(self) -> tuple[Variable, ...]:
        """The variables on which each run may be given a state, a likelihood, or nothing."""
        return self.compiled.soft

    @property
    def inputs(self) -> Mapping[str, tuple[Variable, ...]]:
        """The tables that each run is given, and the variables they are over."""
        return self.compiled.inputs

    @property
    def targets(self) -> tuple[tuple[Variable, ...], ...]:
        """The variables of each joint that a run answers."""
        return self.compiled.targets

    @property
    def limits(self) -> Limits:
        """The most that a run may cost."""
        return self.compiled.limits

    @property
    def savings(self) -> Savings:
        """The parts of the model that were left out."""
        return self.compiled.savings

    @property
    def by_case(self) -> int | None:
        """Roughly the cells of one plan for any evidence, if each run is planned by itself instead.

        That is so where the evidence of a run decides how much it takes.
        """
        return self.compiled.by_case

    @property
    def total_size(self) -> int:
        """The sum of the clique sizes."""
        return self.compiled.total_size

    @property
    def largest(self) -> Clique:
        """The largest clique."""
        return self.compiled.largest

    @property
    def multiplications(self) -> int:
        """Multiplications of one run."""
        return self.compiled.multiplications

    @property
    def memory(self) -> int:
        """Bytes of the model's tables and of the registers of a run, predicted."""
        return self.compiled.memory

    @property
    def is_signed(self) -> bool:
        """Whether it holds negative or complex numbers, so that terms may cancel."""
        return self.compiled.is_signed

    def __repr__(self) -> str:
        return plan_line(self.compiled)

    def __str__(self) -> str:
        return plan_text(self.compiled)

    def run(
        self, evidence: Evidence | None = None, inputs: Mapping[str, Values] | None = None
    ) -> Posterior:
        """Return the targets' joints given states of the evidence variables.

        Parameters
        ----------
        evidence
            A state for each of the plan's evidence variables; for its soft ones a
            state, a likelihood ``{state: weight}``, or nothing: left out, None or NaN.
            A mapping, or a `pandas.Series`. Numbers and truth values are states too.
        inputs
            A table for each of the plan's inputs, of non-negative numbers.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero; it names findings that contradict
            each other.
        CancellationError
            If factors of both signs leave too few digits, and there is no other plan for it.
        TooLargeError
            If the plan, or that for the evidence of this run, is over its budget.
        EvidenceNamesError
            If evidence of the plan is missing, or a variable is not evidence of the plan.
        UnknownNameError, InvalidArgumentError
            If a state is unknown, or the inputs are not those of the plan.
        """
        findings = read_findings(evidence, self.compiled.evidence, self.compiled.soft)
        return self._answering.run(findings, inputs)

    @checked
    def batch_memory(self, n_cases: int) -> int:
        """Return the bytes that a batch of ``n_cases`` holds at the same time, predicted.

        That includes the cases and their joints, and assumes that every soft variable is given.
        Cases are run in chunks that take at most 256 MiB, or one by one where that is not enough.
        """
        if n_cases < 0:
            raise InvalidArgumentError(f"n_cases must be at least 0, got {n_cases}", n_cases)
        varying = frozenset(label_of(v.name) for v in self.soft)
        return batch_size(self.compiled, varying).total(n_cases)

    @checked
    def run_batch(
        self,
        cases: Mapping[str, Any] | pandas.DataFrame,
        inputs: Mapping[str, Values] | None = None,
        *,
        max_bytes: int | None = None,
        allow_impossible: bool = False,
    ) -> BatchPosterior:
        """Return the targets' joints for many cases at once.

        Parameters
        ----------
        cases
            A column for each evidence variable, ``(cases,)``: state positions, or states as
            text. For a soft one, −1, None or NaN where the value is missing; or
            ``(cases, states)`` likelihoods; or nothing at all. A mapping, or a
            `pandas.DataFrame`: columns of pandas hold states, numbers too.
        inputs
            A table for each of the plan's inputs, the same for all cases.
        max_bytes
            If given, a batch that would take more memory is refused; see `batch_memory`.
        allow_impossible
            Whether cases of probability zero are answered with NaN instead of an error;
            `BatchPosterior.impossible` lists them.

        Raises
        ------
        ImpossibleEvidenceError
            If a case has probability zero and ``allow_impossible`` is false; it names the
            case, and findings of it that contradict each other.
        InvalidArgumentError
            If positions or likelihoods are out of range; it names the case.
        TooLargeError
            If the plan is over its budget, or the batch over ``max_bytes``.
        CancellationError, UnknownNameError
            As in `run`.
        """
        given = checked_inputs(self.compiled, inputs)
        self._answering.check_size()
        read = read_cases(cases, self.evidence, self.soft)
        batch = self._answering.run_batch(read, given, max_bytes=max_bytes)
        posterior = batch.posterior(self.targets)
        wrong = posterior.impossible.tolist()
        if wrong and not allow_impossible:
            findings = case_findings([*self.evidence, *self.soft], read, wrong[0])
            raise impossible(self._answering.conflict(findings, given), wrong)
        return posterior

    def is_possible(
        self, evidence: Evidence | None = None, inputs: Mapping[str, Values] | None = None
    ) -> bool:
        """Return whether the evidence and the inputs have a positive probability.

        Raises
        ------
        CancellationError
            If that cannot be told, see `run`.
        TooLargeError, EvidenceNamesError, UnknownNameError, InvalidArgumentError
            As in `run`.
        """
        findings = read_findings(evidence, self.evidence, self.soft)
        return self._answering.is_possible(findings, inputs)

    @cached_property
    def unsigned(self) -> Plan | None:
        """A plan for the same that needs no negative numbers; None if it is not to be had."""
        other = self._answering.unsigned
        return None if other is None else Plan(other.compiled)

    def restrict(self, evidence: Evidence, inputs: Mapping[str, Values] | None = None) -> Plan:
        """Return a smaller plan for evidence and inputs that stay the same.

        States and configurations that they make impossible are removed, certain
        variables dropped, what then influences nothing left out, and the rest
        triangulated anew. What is not named here is still given with each run.

        Raises
        ------
        ImpossibleEvidenceError
            If a single table rules the evidence out.
        """
        known = {v.name: v for v in (*self.evidence, *self.soft)}
        given = by_name(evidence, "the evidence")
        unknown = set(given) - set(known)
        if unknown:
            raise UnknownNameError("evidence variable", min(unknown), known)
        states = {
            name: known[name].states[known[name].index(state)] for name, state in given.items()
        }
        given_inputs = checked_inputs(self.compiled, inputs, partial=True)
        return Plan(self._answering.narrowed(states, given_inputs).compiled)

    def for_case(self, evidence: Findings, inputs: Mapping[str, Values] | None = None) -> Plan:
        """Return the plan restricted to all that a run is given; the errors are those of `run`."""
        return Plan(self._answering.for_case(evidence, inputs).compiled)

    @cached_property
    def _answering(self) -> Answering:
        """The compiled query with its second try."""
        return Answering(self.compiled)
