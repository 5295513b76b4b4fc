"""Plans for derivatives, which are compiled once and run for any evidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import bytes_text, listed
from bnmind._values import Sealed, made, sealed
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
)
from bnmind.information import Floats
from bnmind.junction.derivatives.backward import Record, recorded, with_all_registers
from bnmind.junction.derivatives.contractions import program_of
from bnmind.junction.derivatives.flat import (
    FlatProgram,
    FlatRecord,
    flat_program,
    should_be_flat,
)
from bnmind.junction.derivatives.gradient import Gradient
from bnmind.junction.derivatives.tables import InputTable, input_tables, is_finite
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.graphs.interaction_graph import graph_of_scopes
from bnmind.junction.graphs.junction_tree import JunctionTree
from bnmind.junction.inference.evidence import Evidence, likelihood, read_findings
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.program.program import Program, Step
from bnmind.junction.reduction.barren_variables import without_barren
from bnmind.junction.reduction.cpd_forms import choose_forms
from bnmind.junction.triangulation.portfolio.portfolio import Portfolio
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

__all__ = ["DerivativePlan", "compile_derivatives"]

_LEAST, _MOST = 1e-200, 1e200
"""Totals outside of these bounds are computed again with scaled registers."""

_PASSES = 3
"""The multiplications of a run with its backward pass, in runs."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DerivativePlan(Sealed):
    """A compiled program that computes a probability and its derivatives by all table entries.

    `compile_derivatives` makes these plans. Each method runs the program forward, and then backward
    once for each gradient.
    """

    model: Network | FactorModel
    """The model."""
    evidence: tuple[Variable, ...]
    """The variables whose states each run takes."""
    soft: tuple[Variable, ...]
    """The variables for which each run takes a state, a likelihood, or nothing."""
    target: Variable | None
    """The variable whose posterior is differentiated; None if only that of the evidence is."""
    relevant_only: bool
    """Whether tables that cannot matter are left out."""
    tree: JunctionTree
    """The junction tree."""
    tables: tuple[InputTable, ...]
    """The tables of the model; the tables of soft evidence follow them in the program."""
    program: Program
    """The contractions of a run."""
    end: int | None
    """The register of the target's joint with the evidence; None if there is no contraction."""

    def __repr__(self) -> str:
        about = f"P({self.target.name} | evidence)" if self.target else "P(evidence)"
        entries = sum(table.values.size for table in self.tables if table.potential is not None)
        return f"DerivativePlan({about} by {entries:,} entries, {self.tree.total_size:,} cells)"

    @property
    def total_size(self) -> int:
        """The sum of the sizes of the cliques, in cells."""
        return self.tree.total_size

    @property
    def multiplications(self) -> int:
        """Multiplications of a run and a backward pass, roughly."""
        return _PASSES * self.program.multiplications

    @property
    def memory(self) -> int:
        """The predicted bytes of a run: all registers, and about as much for their derivatives."""
        registers = sum(self.program.cells(r) for r in range(len(self.program.scopes)))
        return 8 * (2 * registers + 2 * sum(table.values.size for table in self.tables))

    @checked
    def probabilities(self, evidence: Evidence | None = None) -> tuple[Floats, float]:
        """Return the posterior of the target ``(states,)``, and ln P(evidence).

        There is no backward pass. The parameters and errors are those of `log_evidence`.
        """
        run = self._run(evidence)
        return np.array(run.posterior), run.log_evidence

    @checked
    def log_evidence(self, evidence: Evidence | None = None) -> Gradient:
        """Return ln P(evidence) and its derivative by each entry.

        Parameters
        ----------
        evidence
            A state for each evidence variable of the plan. For a soft variable, a state, a
            likelihood ``{state: weight}``, or nothing.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        CancellationError
            If numbers of the run, or the derivatives, exceed the range of floating point.
        EvidenceNamesError, UnknownNameError, InvalidArgumentError
            If the evidence is not that of the plan.
        """
        run = self._run(evidence)
        return self._gradient(run, np.ones(run.posterior.shape), run.log_evidence)

    @checked
    def posterior(self, state: Any, evidence: Evidence | None = None) -> Gradient:
        """Return P(target = state | evidence) and its derivative by each entry.

        The parameters and errors are those of `log_evidence`; ``state`` is a state of the target.
        One backward pass differentiates the ratio P(state, evidence) / P(evidence).
        """
        place = self._target.index(state)
        run = self._run(evidence)
        value = float(run.posterior[place])
        weights = np.full(run.posterior.shape, -value)
        weights[place] += 1.0
        return self._gradient(run, weights, value)

    @checked
    def expectation(self, scores: Any, evidence: Evidence | None = None) -> Gradient:
        """Return the expected score of the target given the evidence, and its derivatives.

        Parameters
        ----------
        scores
            ``(states,)`` a number for each state of the target.
        evidence
            As for `log_evidence`.
        """
        given = np.asarray(scores, dtype=np.float64)
        if given.shape != (self._target.n_states,) or not np.all(np.isfinite(given)):
            raise InvalidArgumentError(
                f"expected {self._target.n_states} finite scores, one for each state of"
                f" {self._target.name}, got {scores!r}",
                scores,
            )
        run = self._run(evidence)
        value = float(given @ run.posterior)
        return self._gradient(run, given - value, value)

    @checked
    def joints(self, evidence: Evidence | None = None) -> tuple[Gradient, ...]:
        """Return P(target, evidence) / P(evidence) for each state, with P(evidence) held fixed.

        The values are the posterior. The derivatives are those of P(state, evidence) alone, divided
        by P(evidence); their sum over the states is the gradient of `log_evidence`. Sensitivity
        functions are made of them. There is one backward pass for each state.
        """
        n_states = self._target.n_states
        run = self._run(evidence)
        return tuple(
            [
                self._gradient(run, np.eye(n_states)[state], float(run.posterior[state]))
                for state in range(n_states)
            ]
        )

    @property
    def _target(self) -> Variable:
        if self.target is None:
            raise InvalidArgumentError(
                "this plan has no target; pass target=... to compile_derivatives"
            )
        return self.target

    def _child(self, number: int) -> str:
        """Return the name of a table."""
        potential = self.model.potentials[number]
        names = [v.name for v in potential.scope]
        return ", ".join(names if isinstance(potential, Factor) else names[:1])

    @cached_property
    def _steps(self) -> tuple[Step, ...]:
        return with_all_registers(self.program)

    @cached_property
    def _flat(self) -> FlatProgram:
        return flat_program(self.program)

    def _run(self, evidence: Evidence | None) -> _Run:
        """Return the forward run."""
        findings = read_findings(evidence, self.evidence, self.soft)
        at = {v.name: v.index(findings[v.name]) for v in self.evidence}
        inputs = [table.reduced(at) for table in self.tables]
        for v in self.soft:
            finding = findings.get(v.name)
            inputs.append(np.ones(v.n_states) if finding is None else likelihood(v, finding))
        numbers = [float(table) for table in inputs if not table.ndim]
        if min(numbers, default=1.0) > 0:
            for scaled in (False, True):
                run = self._forward(inputs, at, scaled=scaled)
                if run is not None:
                    return run
        shown = ", ".join(f"{name}={finding}" for name, finding in findings.items())
        if min(numbers, default=1.0) > 0 and self._is_possible(inputs):
            raise CancellationError(
                "the probabilities in a run are too far apart for floating point, so that their"
                f" derivatives have no correct digits; the evidence is {shown}"
            )
        raise ImpossibleEvidenceError(
            f"expected evidence of positive probability, got zero for {shown or 'the model'}",
            findings,
        )

    def _forward(
        self, inputs: Sequence[Floats], at: Mapping[str, int], *, scaled: bool
    ) -> _Run | None:
        """Return a forward run; None if numbers become too large or too small."""
        record: Record | FlatRecord
        if not scaled and should_be_flat(self.program):
            record = self._flat.run(inputs)
        else:
            record = recorded(self._steps, inputs, scaled=scaled)
        shape = (self.target.n_states,) if self.target else ()
        ending = np.ones(shape) if self.end is None else record.register(self.end)
        total = float(ending.sum())
        if not (total > 0 if scaled else _LEAST < total < _MOST) or not math.isfinite(total):
            return None
        log_evidence = math.log(total) + sum(math.log(float(t)) for t in inputs if not t.ndim)
        if isinstance(record, Record) and scaled and self.end is not None:
            log_evidence += math.log(2.0) * record.exponent(self.end)
        # Runs are made often, and only the plan sees them.
        return made(
            _Run,
            record=record,
            at=at,
            inputs=tuple(inputs),
            posterior=ending / total,
            total=total,
            log_evidence=log_evidence,
        )

    def _is_possible(self, inputs: Sequence[Floats]) -> bool:
        """Return whether the support of the tables allows the evidence, without their sizes."""
        # Zero or one in place of each number; sums are cut back to one.
        registers: list[Any] = [(table > 0).astype(np.float64) for table in inputs]
        for operation, left, right in self._steps:
            registers.append(np.minimum(operation(registers[left], registers[right]), 1.0))
        return self.end is None or bool(registers[self.end].any())

    def _gradient(self, run: _Run, weights: Floats, value: float) -> Gradient:
        """Return the gradient of Σ w(x) P(x, e) / P(e), with P(e) held fixed."""
        found: dict[int, Floats] = {}
        used = [i for i, table in enumerate(self.tables) if table.potential is not None]
        if self.end is not None:
            seed = np.asarray(weights / run.total)
            found = run.record.adjoints(self.end, seed, used)
        constant = float(np.sum(weights * run.posterior))
        partials: list[Floats | None] = [None] * len(self.model.potentials)
        for i in used:
            table = self.tables[i]
            if not table.hidden:
                # A factor of every term.
                found[i] = np.asarray(constant / float(run.inputs[i]))
            assert table.potential is not None  # as chosen above
            lifted = table.lifted(found.get(i), run.at)
            if lifted is not None and not is_finite(lifted):
                raise CancellationError(
                    f"the derivatives by the table of {self._child(table.potential)} are too large"
                    " for floating point: another entry makes the evidence far more probable"
                )
            partials[table.potential] = None if lifted is None else sealed(lifted)
        return made(
            Gradient,
            model=self.model,
            value=value,
            log_evidence=run.log_evidence,
            partials=tuple(partials),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Run(Sealed):
    """A forward run."""

    record: Record | FlatRecord
    at: Mapping[str, int]
    inputs: tuple[Floats, ...]
    posterior: Floats
    """The distribution of the target; the number one if there is none."""
    total: float
    """The sum of the last register, as it is recorded."""
    log_evidence: float


@checked
def compile_derivatives(
    model: Network | FactorModel,
    *,
    target: str | None = None,
    evidence: Iterable[str] = (),
    soft: Iterable[str] = (),
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
    relevant_only: bool = False,
) -> DerivativePlan:
    """Compile a plan for the derivatives of a probability by all entries of a model's tables.

    Parameters
    ----------
    model
        A network, or a product of factors that are not negative.
    target
        The variable whose posterior is differentiated; not needed for the derivatives of the
        probability of the evidence.
    evidence
        The evidence variables. Each run takes a state of each of them.
    soft
        Variables with uncertain or missing evidence. For each of them, a run takes a state, a
        likelihood, or nothing.
    order
        The search for an elimination order; by default `Portfolio`.
    limits
        The limits of the memory and the multiplications of a run with its backward pass.
    relevant_only
        Whether to leave out the tables of a network on which neither the target nor the evidence
        depends as long as their rows sum to one. This is faster. They then have no partial
        derivatives, and their entries have the effect zero; see `Gradient`.

    Raises
    ------
    UnknownNameError
        If a variable is not in the model.
    InvalidArgumentError
        If a variable is named twice, or the target is evidence.
    InvalidModelError
        If a factor is negative or complex.
    TooLargeError
        If a run would exceed the limits; raised before anything large is allocated.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> plan = compile_derivatives(network, target="rain", evidence=["wet"])
    >>> plan
    DerivativePlan(P(rain | evidence) by 6 entries, 2 cells)
    >>> gradient = plan.posterior("yes", {"wet": "yes"})
    >>> round(gradient.value, 3), gradient["rain"].round(3).tolist()
    (0.692, [-0.266, 1.065])
    """
    observed, uncertain, wanted = _named(model, evidence, soft, target)
    potentials = model.potentials
    names = [v.name for v in observed]
    if relevant_only:
        needed = [*names, *[v.name for v in uncertain], *([target] if target else [])]
        potentials = without_barren(potentials, needed)
    domains = {v.name: tuple(range(v.n_states)) for v in model.variables}
    formed = choose_forms(
        potentials,
        domains,
        observed=names,
        joints=[[target]] if target else [],
        signed=False,
        max_cells=min(limits.table_cells, 2**22),
    )
    cells = sum(math.prod([v.n_states for v in p.scope]) for p in formed)
    if cells > limits.table_cells:
        raise TooLargeError(
            f"the tables of the model would take {bytes_text(8 * cells)}; allowed are"
            f" max_bytes={limits.max_bytes:,}",
            needed=8 * cells,
            budget=limits.max_bytes,
        )
    sizes = {v.name: v.n_states for v in model.variables}
    sizes |= {v.name: v.n_states for p in formed for v in p.scope}
    present = {v.name for p in formed for v in p.scope} | {v.name for v in uncertain}
    present |= {target} if target else set()
    hidden = {n: s for n, s in sizes.items() if n in present and n not in set(names)}
    scopes = [[v.name for v in p.scope if v.name in hidden] for p in formed]
    graph = graph_of_scopes(hidden, [*scopes, *[[v.name] for v in uncertain]])
    tree = JunctionTree.from_order(graph, (order or Portfolio())(graph))
    if refusal := limits.refusal_of_trees([tree], hidden):
        raise refusal
    scopes += [[v.name] for v in uncertain]
    program, end = program_of(tree, hidden, scopes, target)
    tables = input_tables(model.potentials, formed, frozenset(names), limits)
    plan = DerivativePlan(
        model=model,
        evidence=observed,
        soft=uncertain,
        target=wanted,
        relevant_only=relevant_only,
        tree=tree,
        tables=tables,
        program=program,
        end=end,
    )
    largest = max(tree.cliques, key=lambda clique: clique.size, default=None)
    if refusal := limits.refusal(plan.multiplications, plan.memory, largest):
        raise refusal
    return plan


def _named(
    model: Network | FactorModel, evidence: Iterable[str], soft: Iterable[str], target: str | None
) -> tuple[tuple[Variable, ...], tuple[Variable, ...], Variable | None]:
    """Return the variables of the evidence, of the soft evidence, and the target."""
    observed = tuple([model.variable(name) for name in evidence])
    uncertain = tuple([model.variable(name) for name in soft])
    wanted = None if target is None else model.variable(target)
    names = [v.name for v in (*observed, *uncertain)]
    problems = [
        f"{name} is named twice" for name in sorted({n for n in names if names.count(n) > 1})
    ]
    if wanted is not None and wanted in observed:
        problems.append(f"the target {wanted.name} must not be evidence")
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    return observed, uncertain, wanted
