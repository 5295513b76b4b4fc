"""Plans: exact inference compiled once, run many times as a pure function of the evidence.

The clique tables are never stored: each message of the junction tree is a
contraction straight from the model's tables and the messages that arrive, and the
whole is one straight line of them (Shafer & Shenoy, *Probability propagation*, 1990).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value, made
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidModelError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.junction.graphs.junction_tree import Clique, JunctionTree
from bnmind.junction.inference.batch_memory import batch_size
from bnmind.junction.inference.batch_run import BatchPosterior, run_batch, run_each
from bnmind.junction.inference.cases import case_findings, read_cases
from bnmind.junction.inference.evidence import (
    Evidence,
    Findings,
    by_name,
    label_of,
    likelihood,
    read_findings,
)
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.minimal_conflict import impossible
from bnmind.junction.inference.normalization import held_cells, lost_digits
from bnmind.junction.inference.plan_sums import sums_of
from bnmind.junction.inference.plan_text import plan_line, plan_text
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.program.program import Program
from bnmind.junction.program.program_inputs import Answer, Source
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Values, numbers_of
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

__all__ = ["Plan", "Savings"]

_MOST_BYTES = 64
"""Bytes that a run holds at most for each number: two complex ones and their copies."""


@dataclass(frozen=True)
class Savings:
    """What a plan left out before it triangulated."""

    barren: int = 0
    """Variables that say nothing about the targets and the evidence."""
    observed: int = 0
    """Variables that the evidence makes certain."""
    states: int = 0
    """States that the evidence makes impossible."""
    cells_before: int | None = None
    """Cells of the plan that this one was restricted from."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Value):
    """A compiled query: which evidence comes in, which joints come out, and the way between.

    Made by `compile_plan`. Printing it shows the cliques, their sizes and the cost.
    """

    trees: tuple[JunctionTree, ...]
    """One junction tree, or several where parts of the query are cheaper by themselves."""
    evidence: tuple[Variable, ...]
    """The variables whose states each run is given."""
    inputs: Mapping[str, tuple[Variable, ...]]
    """The tables that each run is given, and the variables they are over."""
    soft: tuple[Variable, ...]
    """The variables on which each run may be given a state, a likelihood, or nothing."""
    targets: tuple[tuple[Variable, ...], ...]
    """The variables of each joint that a run answers."""
    savings: Savings
    limits: Limits
    """The most that a run may cost."""
    sources: tuple[Source, ...]
    derived: tuple[FunctionalCPD, ...]
    """Variables that are functions of the evidence, parents first."""
    certain: Mapping[str, int]
    """State positions of evidence that the plan was restricted to."""
    program: Program
    numbered: tuple[str, ...]
    """The program's variables by name; those of a single state are not in it."""
    answers: tuple[Answer, ...]
    narrow: Callable[[Mapping[str, str], Mapping[str, Values]], Plan]
    conflict: Callable[[Findings, Mapping[str, Values]], Findings]
    """Tells which of the findings contradict each other."""
    without_signs: Callable[[Findings, Mapping[str, Values]], Plan | None]
    """Makes a plan restricted to these findings and inputs, if any, that holds no negative or
    complex numbers; None if it is not to be had."""
    halved: bool
    """Whether one of each pair of conjugate terms is left out: only the real parts count."""
    table_copies: int = 1
    """How often a run holds the model's tables: as they are, and as logarithms."""
    by_case: int | None = None
    """The cells that one plan for any evidence would have, roughly, if there is none because what
    is observed decides how much that is: each run is then planned for its own evidence."""

    @property
    def tree(self) -> JunctionTree:
        """The junction tree; the largest one if there are several."""
        return max(self.trees, key=lambda tree: tree.total_size)

    @property
    def cells(self) -> int:
        """The sum of the clique sizes: what the paper calls the total size."""
        return sum(tree.total_size for tree in self.trees)

    @property
    def largest(self) -> Clique:
        """The largest clique."""
        cliques = (clique for tree in self.trees for clique in tree.cliques)
        return max(cliques, key=lambda clique: clique.size, default=Clique((), 1))

    @property
    def cells_before(self) -> int | None:
        """Cells of the plan that this one was restricted from."""
        return self.savings.cells_before

    @property
    def multiplications(self) -> int:
        """Multiplications of one run."""
        return self.program.multiplications

    @cached_property
    def memory(self) -> int:
        """Bytes of the model's tables and of what a run holds at the same time, predicted."""
        complex_numbers = any(
            source.values is not None and np.iscomplexobj(source.values) for source in self.sources
        )
        tables = self.table_copies * sum(s.n_cells for s in self.sources)
        held = max(self.program.peak_cells, held_cells(self.answers))
        return (16 if complex_numbers else 8) * (tables + held)

    @cached_property
    def refusal(self) -> TooLargeError | None:
        """The error that runs raise if they would cost more than the plan's limits allow."""
        limits, times = self.limits, self.multiplications
        # Every number that a run holds is a table's or has been computed.
        most = _MOST_BYTES * (times + sum([source.n_cells for source in self.sources]))
        if times <= limits.max_multiplications and most <= limits.max_bytes:
            return None
        return limits.refusal(times, self.memory, self.largest)

    def __repr__(self) -> str:
        return plan_line(self)

    def __str__(self) -> str:
        return plan_text(self)

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
        UnknownNameError, InvalidArgumentError, InvalidModelError
            If the evidence or the inputs are not those that the plan was made for.
        """
        evidence = read_findings(evidence, self.evidence, self.soft)
        if self.by_case is not None:
            return self.for_case(evidence, inputs).run()
        observed = self._observe(evidence)
        given = self._all_given(evidence, inputs)
        self._check_size()
        try:
            results, log_evidence = sums_of(self, self._registers(observed, given))
        except CancellationError:
            try:
                other, rest, left = self.without_cancelling(evidence, inputs)
            except ImpossibleEvidenceError:
                raise impossible(self.conflict(evidence, given)) from None
            return other.run(rest, left)
        if not log_evidence > -math.inf:
            raise impossible(self.conflict(evidence, given))
        joints = tuple(
            answer.lift(result, observed)
            for answer, result in zip(self.answers, results, strict=True)
        )
        return made(Posterior, scopes=self.targets, joints=joints, log_evidence=log_evidence)

    @checked
    def batch_memory(self, n_cases: int) -> int:
        """Return the bytes that a batch of so many cases holds at the same time, predicted.

        With them go the cases and their joints; that every soft variable is given is assumed.
        Cases are run in chunks that take at most 256 MiB, or one by one where that is not enough.
        """
        if n_cases < 0:
            raise InvalidModelError([f"expected at least 0 cases, got {n_cases}"])
        return batch_size(self, frozenset(label_of(v.name) for v in self.soft)).total(n_cases)

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
        InvalidArgumentError, InvalidModelError
            If positions or likelihoods are out of range; it names the case.
        TooLargeError
            If the plan is over its budget, or the batch over ``max_bytes``.
        CancellationError, UnknownNameError
            As in `run`.
        """
        given = self._given(dict(by_name(inputs, "the inputs")))
        self._check_size()
        read = read_cases(cases, self.evidence, self.soft)
        run_all = run_batch if self.by_case is None else run_each
        posterior = run_all(self, read, given, max_bytes=max_bytes)
        wrong = posterior.impossible.tolist()
        if wrong and not allow_impossible:
            findings = case_findings([*self.evidence, *self.soft], read, wrong[0])
            raise impossible(self.conflict(findings, given), wrong)
        return posterior

    def is_possible(
        self, evidence: Evidence | None = None, inputs: Mapping[str, Values] | None = None
    ) -> bool:
        """Return whether the evidence and the inputs have a positive probability.

        Raises
        ------
        CancellationError
            If that cannot be told, see `run`.
        TooLargeError, UnknownNameError, InvalidArgumentError, InvalidModelError
            As in `run`.
        """
        evidence = read_findings(evidence, self.evidence, self.soft)
        if self.by_case is not None:
            try:
                return self.for_case(evidence, inputs).is_possible()
            except ImpossibleEvidenceError:
                return False
        observed = self._observe(evidence)
        given = self._all_given(evidence, inputs)
        self._check_size()
        try:
            return sums_of(self, self._registers(observed, given))[1] > -math.inf
        except CancellationError:
            pass
        try:
            other, rest, left = self.without_cancelling(evidence, inputs)
        except ImpossibleEvidenceError:
            return False
        return other.is_possible(rest, left)

    def start(
        self, evidence: Evidence | None, inputs: Mapping[str, Values] | None = None
    ) -> list[Values]:
        """Return what the program's registers start as: tables at the evidence, then positions.

        Raises the errors of `run` but that of impossible evidence.
        """
        evidence = read_findings(evidence, self.evidence, self.soft)
        observed = self._observe(evidence)
        given = self._all_given(evidence, inputs)
        self._check_size()
        return self._registers(observed, given)

    @cached_property
    def unsigned(self) -> Plan | None:
        """A plan for the same that needs no negative numbers; None if it is not to be had."""
        return self.without_signs({}, {})

    def without_cancelling(
        self, evidence: Findings, inputs: Mapping[str, Values] | None = None
    ) -> tuple[Plan, Findings, Mapping[str, Values]]:
        """Return a plan without negative numbers for a run, and what to give to it.

        That is `unsigned`, or a plan restricted to the evidence and the inputs of the run
        if only that is small enough.

        Raises
        ------
        CancellationError
            If neither is to be had.
        ImpossibleEvidenceError
            If a single table rules the evidence out.
        """
        if self.unsigned is not None:
            return self.unsigned, evidence, inputs or {}
        known = {name: found for name, found in evidence.items() if found is not None}
        other = self.without_signs(known, self._given(dict(by_name(inputs, "the inputs"))))
        if other is None:
            raise lost_digits()
        return other, {}, {}

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
        checked = self._given(dict(by_name(inputs, "the inputs")), partial=True)
        return self.narrow(states, checked)

    def for_case(self, evidence: Findings, inputs: Mapping[str, Values] | None = None) -> Plan:
        """Return the plan restricted to all that a run is given; the errors are those of `run`."""
        known = {name: found for name, found in evidence.items() if found is not None}
        return self.narrow(known, self._given(dict(inputs or {})))

    def _check_size(self) -> None:
        if self.refusal is not None:
            raise self.refusal

    def _observe(self, evidence: Mapping[str, str]) -> dict[str, int]:
        observed = dict(self.certain)
        observed.update((v.name, v.index(evidence[v.name])) for v in self.evidence)
        for cpd in self.derived:
            observed[cpd.variable.name] = cpd.value([observed[v.name] for v in cpd.parents])
        return observed

    def _all_given(
        self, evidence: Findings, inputs: Mapping[str, Values] | None
    ) -> dict[str, Values]:
        """Return the inputs, and the likelihoods of the soft variables as inputs."""
        given = self._given(dict(by_name(inputs, "the inputs")))
        for v in self.soft:
            found = evidence.get(v.name)
            weights = np.ones(v.n_states) if found is None else likelihood(v, found)
            given[label_of(v.name)] = weights
        return given

    def _given(self, inputs: dict[str, Any], *, partial: bool = False) -> dict[str, Values]:
        problems = []
        if not set(inputs) <= set(self.inputs) or (not partial and set(inputs) != set(self.inputs)):
            problems.append(f"expected the inputs {sorted(self.inputs)}, got {sorted(inputs)}")
        for name in sorted(set(inputs) & set(self.inputs)):
            shape = tuple(v.n_states for v in self.inputs[name])
            values = numbers_of(inputs[name], f"in the input {name}", real=True).real
            if values.shape != shape:
                problems.append(f"expected the input {name} of shape {shape}, got {values.shape}")
            elif not np.all((values >= 0) & np.isfinite(values)):
                problems.append(f"expected non-negative numbers in the input {name}")
            inputs[name] = values
        if problems:
            raise InvalidModelError(problems)
        return inputs

    @cached_property
    def _unchanging(self) -> tuple[Values | None, ...]:
        """The registers that do not depend on what a run is given."""
        return tuple(
            None if source.observed or source.input is not None else source.values
            for source in self.sources
        )

    def _registers(self, observed: Mapping[str, int], given: Mapping[str, Values]) -> list[Values]:
        """Return what the program starts from: the tables cut at the evidence."""
        registers: list[Any] = list(self._unchanging)
        for number, source in enumerate(self.sources):
            if registers[number] is None:
                registers[number] = self.load(source, observed, given)
        # The positions of deterministic tables' children come after the tables.
        registers += [
            source.positions[tuple(observed[name] for name in source.observed)]
            for source in self.sources
            if source.positions is not None
        ]
        return registers

    def load(
        self, source: Source, observed: Mapping[str, int], given: Mapping[str, Values]
    ) -> Values:
        """Return a table cut at the evidence, or an input."""
        if source.input is not None:
            values = given[source.input]
            taken: Values = values if source.take is None else source.take(values)
            return taken
        if source.rows is not None:
            return source.rows.cut(observed)
        if source.values is None:
            raise TooLargeError(
                f"the table of {source.label} would have {source.n_cells:,} cells, and tables of"
                f" {self.limits.table_cells:,} cells are allowed; restrict the plan to evidence"
                " first",
                needed=source.n_cells,
                budget=self.limits.table_cells,
            )
        cut: Values = source.values[tuple(observed[name] for name in source.observed)]
        return cut

    @cached_property
    def scalars(self) -> tuple[int, ...]:
        """The registers of tables of which the evidence leaves a single number."""
        return tuple(n for n, source in enumerate(self.sources) if not source.scope)

    @cached_property
    def is_signed(self) -> bool:
        """Whether it holds negative or complex numbers, so that terms may cancel."""
        return any(source.signed for source in self.sources)
