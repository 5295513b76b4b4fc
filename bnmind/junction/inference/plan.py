"""Plans for exact inference, which are compiled once and run for any evidence.

A plan stores no clique tables. Each message of the junction tree is a contraction of tables of the
model and of incoming messages, and a program is a straight-line sequence of such contractions
(Shafer & Shenoy, *Probability propagation*, 1990).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bnmind._arguments import checked
from bnmind._display import text_html
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.junction.graphs.junction_tree import JunctionTree
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
    """A compiled query. `run` is a pure function of the evidence.

    `compile_plan` makes plans. Printing a plan shows its cliques, their sizes and the cost.
    """

    compiled: CompiledQuery
    """The tables, the program and the answers, as plain data."""

    def to_dict(self) -> dict[str, Any]:
        """Return the junction trees and their cost as a record for JSON."""
        saved, trees = self.savings, self.trees
        cliques = [clique for tree in trees for clique in tree.cliques]
        return {
            "total_size": self.total_size,
            "largest": max(one.size for one in cliques),
            "multiplications": self.multiplications,
            "seconds": self.seconds,
            "memory": self.memory,
            "proven": all(tree.order.proven for tree in trees),
            "left_out": {
                "barren_variables": saved.barren,
                "certain_variables": saved.observed,
                "impossible_states": saved.states,
            },
            "trees": len(trees),
            "order": [name for tree in trees for name in tree.order.variables],
            "cliques": [{"variables": list(one.variables), "size": one.size} for one in cliques],
            "separators": [list(edge.separator) for tree in trees for edge in tree.edges],
        }

    @property
    def trees(self) -> tuple[JunctionTree, ...]:
        """One junction tree, or several if separate trees are cheaper for parts of the query."""
        return self._answering.ordinary.compiled.trees

    @property
    def tree(self) -> JunctionTree:
        """The junction tree; the largest one if there are several."""
        return max(self.trees, key=lambda tree: tree.total_size)

    @property
    def evidence(self) -> tuple[Variable, ...]:
        """The variables whose states each run takes."""
        return self.compiled.evidence

    @property
    def soft(self) -> tuple[Variable, ...]:
        """The variables for which each run takes a state, a likelihood, or nothing."""
        return self.compiled.soft

    @property
    def inputs(self) -> Mapping[str, tuple[Variable, ...]]:
        """The tables that each run takes, with their variables."""
        return self.compiled.inputs

    @property
    def targets(self) -> tuple[tuple[Variable, ...], ...]:
        """The variables of each target."""
        return self.compiled.targets

    @property
    def limits(self) -> Limits:
        """The limits of the cost of a run."""
        return self.compiled.limits

    @property
    def savings(self) -> Savings:
        """The omitted parts of the model."""
        return self.compiled.savings

    @property
    def by_case(self) -> int | None:
        """The approximate number of cells of a common plan, if each run makes its own plan.

        None if the plan serves any evidence.
        """
        return self.compiled.by_case

    @property
    def total_size(self) -> int:
        """The sum of the clique sizes."""
        return self._answering.ordinary.compiled.total_size

    @property
    def multiplications(self) -> int:
        """Multiplications of one run."""
        return self.compiled.multiplications

    @property
    def seconds(self) -> float:
        """The predicted time of one run on this machine, in seconds; 0 if each case has a plan.

        It is seldom wrong by more than a factor of two, unless other programs run at the same time.
        """
        return 0.0 if self.by_case is not None else self.compiled.seconds

    @property
    def memory(self) -> int:
        """The predicted bytes of the tables of the model and of the registers of a run."""
        return self.compiled.memory

    @property
    def is_signed(self) -> bool:
        """Whether there are negative or complex numbers, so that terms may cancel."""
        return self.compiled.is_signed

    def __repr__(self) -> str:
        return plan_line(self.compiled)

    def __str__(self) -> str:
        return plan_text(self.compiled)

    def _repr_html_(self) -> str:
        """Return the plan as `str` does, for notebooks."""
        return text_html(str(self))

    def run(
        self,
        evidence: Evidence | None = None,
        inputs: Mapping[str, Values] | None = None,
        *,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> Posterior:
        """Return the joint distributions of the targets given the evidence.

        Parameters
        ----------
        evidence
            A mapping or a `pandas.Series` with a state for each evidence variable of the plan. For
            a soft variable, a state, a likelihood ``{state: weight}``, or nothing: omit it, or set
            it to None or NaN. States may be numbers or truth values.
        inputs
            A table of non-negative numbers for each input of the plan.
        progress
            A function that is called with the predicted share of the work that is done, in
            percent, and 100. If numbers become too small or too large, a second run starts from 0.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names findings that contradict each
            other.
        CancellationError
            If terms of opposite signs cancel and too few digits are left, and there is no plan
            without negative numbers.
        TooLargeError
            If the plan, or that for the evidence of this run, exceeds its limits.
        InvalidArgumentError
            If evidence of the plan is missing, or a variable is not evidence of the plan.
        UnknownNameError, InvalidArgumentError
            If a state is unknown, or the inputs are not those of the plan.
        """
        findings = read_findings(evidence, self.compiled.evidence, self.compiled.soft)
        return self._answering.run(findings, inputs, progress)

    @checked
    def batch_memory(self, n_cases: int) -> int:
        """Return the predicted bytes of a batch of ``n_cases``.

        The prediction includes the cases and their joints, and assumes findings on every soft
        variable. Cases run in chunks of at most 256 MiB, or one by one if a case needs more.

        Raises
        ------
        InvalidArgumentError
            If the number of cases is negative.
        """
        if n_cases < 0:
            raise InvalidArgumentError(f"n_cases must be at least 0, got {n_cases}", n_cases)
        varying = frozenset(label_of(v.name) for v in self.soft)
        return batch_size(self._answering.ordinary.compiled, varying).total(n_cases)

    @checked
    def run_batch(
        self,
        cases: Mapping[str, Any] | pandas.DataFrame,
        inputs: Mapping[str, Values] | None = None,
        *,
        max_bytes: int | None = None,
        allow_impossible: bool = False,
    ) -> BatchPosterior:
        """Return the joint distributions of the targets for many cases.

        Parameters
        ----------
        cases
            A mapping or a `pandas.DataFrame` with a column ``(cases,)`` for each evidence
            variable: state positions, or states as text. Columns of a data frame hold states of
            any type. In columns of soft variables, −1, None and NaN mark missing values. Such a
            column may also hold likelihoods ``(cases, states)``, or be omitted.
        inputs
            A table for each input of the plan, the same for all cases.
        max_bytes
            A limit for the memory of the batch; see `batch_memory`.
        allow_impossible
            Whether cases of probability zero give NaN instead of an error;
            `BatchPosterior.impossible` lists them.

        Raises
        ------
        ImpossibleEvidenceError
            If a case has probability zero and ``allow_impossible`` is false. The error names the
            case, and findings that contradict each other.
        InvalidArgumentError
            If positions or likelihoods are out of range. The error names the case.
        TooLargeError
            If the plan exceeds its limits, or the batch ``max_bytes``.
        CancellationError, UnknownNameError
            As in `run`.
        """
        tables = checked_inputs(self.compiled, inputs)
        self._answering.check_size()
        read = read_cases(cases, self.evidence, self.soft)
        batch = self._answering.run_batch(read, tables, max_bytes=max_bytes)
        posterior = batch.posterior(self.targets)
        wrong = posterior.impossible.tolist()
        if wrong and not allow_impossible:
            findings = case_findings([*self.evidence, *self.soft], read, wrong[0])
            raise impossible(self._answering.conflict(findings, tables), wrong)
        return posterior

    def is_possible(
        self, evidence: Evidence | None = None, inputs: Mapping[str, Values] | None = None
    ) -> bool:
        """Return whether the evidence and the inputs have a positive probability.

        Parameters
        ----------
        evidence
            Observed states by name, or weights of states.
        inputs
            Values of the inputs of the plan, by name.

        Raises
        ------
        CancellationError
            If terms cancel so that this cannot be decided; see `run`.
        TooLargeError, InvalidArgumentError, UnknownNameError
            As in `run`.
        """
        findings = read_findings(evidence, self.evidence, self.soft)
        return self._answering.is_possible(findings, inputs)

    @cached_property
    def unsigned(self) -> Plan | None:
        """An equivalent plan without negative numbers; None if there is none."""
        other = self._answering.unsigned
        return None if other is None else Plan(other.compiled)

    def restrict(self, evidence: Evidence, inputs: Mapping[str, Values] | None = None) -> Plan:
        """Return a smaller plan with some of the evidence and the inputs fixed.

        The method removes impossible states and configurations, certain variables and barren
        variables, and triangulates the rest anew. Runs of the new plan take the other evidence.

        Parameters
        ----------
        evidence
            Observed states by name, or weights of states.
        inputs
            Values of the inputs of the plan, by name.

        Raises
        ------
        ImpossibleEvidenceError
            If a single table excludes the evidence.
        UnknownNameError
            If a variable is not one of the evidence variables, or a state is unknown.
        """
        known = {v.name: v for v in (*self.evidence, *self.soft)}
        findings = by_name(evidence, "the evidence")
        unknown = set(findings) - set(known)
        if unknown:
            raise UnknownNameError("evidence variable", min(unknown), known)
        states = {
            name: known[name].states[known[name].index(state)] for name, state in findings.items()
        }
        given_inputs = checked_inputs(self.compiled, inputs, partial=True)
        return Plan(self._answering.narrowed(states, given_inputs).compiled)

    def for_case(self, evidence: Findings, inputs: Mapping[str, Values] | None = None) -> Plan:
        """Return the plan restricted to all evidence and inputs of a run.

        The errors are those of `run`.

        Parameters
        ----------
        evidence
            Observed states by name, or weights of states.
        inputs
            Values of the inputs of the plan, by name.
        """
        return Plan(self._answering.for_case(evidence, inputs).compiled)

    @cached_property
    def _answering(self) -> Answering:
        """The compiled query with its second try."""
        return Answering(self.compiled)
