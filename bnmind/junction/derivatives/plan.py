"""Plans for derivatives, which are compiled once and run for any evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Sealed, made, sealed
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
)
from bnmind.information import Floats
from bnmind.junction.derivatives.gradient import Gradient, InputTable, are_finite
from bnmind.junction.graphs import JunctionTree
from bnmind.junction.inference.evidence import Evidence, likelihood, read_findings
from bnmind.junction.program.compiled_run import (
    FlatProgram,
    FlatRecord,
    flat_program,
    has_small_steps,
    should_be_flat,
)
from bnmind.junction.program.message_passing import ReverseProgram
from bnmind.junction.program.program import Arithmetic, Program
from bnmind.junction.program.program_inputs import Registers
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

# --- Plans for derivatives, which are compiled once and run for any evidence ----------------------

_LEAST, _MOST = 1e-200, 1e200
"""Totals outside of these bounds are computed again with scaled registers."""

_FIRST_RUNS = 2
"""The first runs of a plan are in NumPy."""


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
    reverse: ReverseProgram | None
    """The contractions of the derivatives; None if there is no contraction."""

    def __repr__(self) -> str:
        about = f"P({self.target.name} | evidence)" if self.target else "P(evidence)"
        entries = sum(table.values.size for table in self.tables if table.potential is not None)
        return (
            f"DerivativePlan({about} by {entries:,} entries,"
            f" {counted(self.tree.total_size, 'cell')})"
        )

    @property
    def total_size(self) -> int:
        """The sum of the sizes of the cliques, in cells."""
        return self.tree.total_size

    @property
    def multiplications(self) -> int:
        """Multiplications of a run and a backward pass."""
        backward = 0 if self.reverse is None else self.reverse.program.multiplications
        return self.program.multiplications + backward

    @property
    def memory(self) -> int:
        """The predicted bytes of a run: all registers, and about as much for their derivatives.

        Compiled runs have tables of places, which take about as much.
        """
        cells = sum(self.program.held)
        if self.reverse is not None:
            cells += sum(self.reverse.program.held[self.reverse.program.n_inputs :])
        copies = cells if has_small_steps(self.program) else self.program.peak_cells
        entries = sum(table.values.size for table in self.tables)
        return 8 * (cells + copies + entries)

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
        InvalidArgumentError, UnknownNameError
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

        Raises
        ------
        InvalidArgumentError
            If there is not one finite score for each state of the target.
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

        Parameters
        ----------
        evidence
            The evidence, as for `posterior`; none by default.
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
    def _differentiated(self) -> tuple[int, ...]:
        """The tables whose entries have derivatives."""
        return tuple([i for i, table in enumerate(self.tables) if table.potential is not None])

    @cached_property
    def _numbers(self) -> tuple[int, ...]:
        """The tables without hidden variables."""
        return tuple([i for i, table in enumerate(self.tables) if not table.hidden])

    @cached_property
    def _runs(self) -> count[int]:
        """Counts the runs, which affects only the time of the next one."""
        return count()

    @cached_property
    def _flat(self) -> tuple[FlatProgram, FlatProgram]:
        """The program and its reverse for the compiled runs."""
        reverse = self.reverse
        assert reverse is not None
        assert self.end is not None
        tables = [None if table.observed else table.values for table in self.tables]
        forward = flat_program(self.program, tables, {*reverse.taken, self.end})
        ends = {back.register for back in reverse.adjoints.values()}
        return forward, flat_program(reverse.program, (), ends, (forward, reverse.taken))

    @cached_property
    def _ends(self) -> list[tuple[int, int, int, tuple[int, ...]]]:
        """For each input with derivatives, the place and the shape of its adjoint."""
        assert self.reverse is not None  # as the caller has seen
        flat = self._flat[1]
        ends = []
        for i, back in self.reverse.adjoints.items():
            shape, start = flat.shapes[back.register], flat.terms[back.register].first
            ends.append((i, start, start + math.prod(shape), shape))
        return ends

    def _run(self, evidence: Evidence | None) -> _Run:
        """Return the forward run."""
        findings = read_findings(evidence, self.evidence, self.soft)
        at = {v.name: v.index(findings[v.name]) for v in self.evidence}
        inputs = [table.reduced(at) for table in self.tables]
        for v in self.soft:
            finding = findings.get(v.name)
            inputs.append(np.ones(v.n_states) if finding is None else likelihood(v, finding))
        numbers = [float(inputs[i]) for i in self._numbers]
        if min(numbers, default=1.0) > 0:
            log = sum([math.log(number) for number in numbers])
            for scaled in (False, True):
                run = self._forward(inputs, at, log, scaled=scaled)
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
        self, inputs: Sequence[Floats], at: Mapping[str, int], log: float, *, scaled: bool
    ) -> _Run | None:
        """Return a forward run; None if numbers become too large or too small.

        The tables without hidden variables have a product with the logarithm ``log``.
        """
        powers: Sequence[int] = ()
        registers: Any
        if not scaled and should_be_flat(self.program, next(self._runs), _FIRST_RUNS):
            registers = self._flat[0].run(inputs)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                registers, powers, _ = self.program.run(inputs, Arithmetic(scaled))
        if self.end is None:
            ending = np.ones((self.target.n_states,) if self.target else ())
        else:
            ending = registers[self.end]
        total = float(np.add.reduce(ending, axis=None))
        if not (total > 0 if scaled else _LEAST < total < _MOST) or not math.isfinite(total):
            return None
        log_evidence = math.log(total) + log
        if self.end is not None and powers:
            log_evidence += math.log(2.0) * powers[self.end]
        # Runs are made often, and only the plan sees them.
        return made(
            _Run,
            registers=registers,
            powers=powers,
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
        for operation, left, right in self.program.steps:
            registers.append(np.minimum(operation(registers[left], registers[right]), 1.0))
        return self.end is None or bool(registers[self.end].any())

    def _gradient(self, run: _Run, weights: Floats, value: float) -> Gradient:
        """Return the gradient of Σ w(x) P(x, e) / P(e), with P(e) held fixed."""
        used = self._differentiated
        found, cells = self._adjoints(run, np.asarray(weights / run.total))
        # A table without hidden variables is a factor of every term.
        constant = float(weights.dot(run.posterior))
        for i in self._numbers:
            found[i] = np.asarray(constant / float(run.inputs[i]))
            cells.append(found[i])
        if not are_finite(cells):
            self._check_finite(found)
        partials: list[Floats | None] = [None] * len(self.model.potentials)
        for i in used:
            table = self.tables[i]
            assert table.potential is not None  # as chosen there
            partials[table.potential] = table.lifted(found.get(i), run.at)
        return made(
            Gradient,
            model=self.model,
            value=value,
            log_evidence=run.log_evidence,
            partials=tuple(partials),
        )

    def _adjoints(self, run: _Run, seed: Floats) -> tuple[dict[int, Floats], list[Floats]]:
        """Return the derivatives by the tables that steps take, and arrays that hold all of them.

        The ``seed`` are the derivatives by the last register.
        """
        reverse, end = self.reverse, self.end
        if reverse is None or end is None:
            return {}, []
        if isinstance(run.registers, FlatRecord):
            flat = self._flat[1]
            record = flat.run([None] * len(reverse.taken) + [seed], run.registers)
            cells = record.values[: flat.n_kept]
            found = {i: cells[start:stop].reshape(shape) for i, start, stop, shape in self._ends}
            for i, back in reverse.adjoints.items():
                if not back.is_plain:
                    found[i] = back(found[i])
            return found, [cells]
        inputs = [*[run.registers[register] for register in reverse.taken], seed]
        powers = [*[run.powers[r] for r in reverse.taken], -run.powers[end]] if run.powers else []
        with np.errstate(over="ignore", invalid="ignore"):
            filled, powers, _ = reverse.program.run(inputs, Arithmetic(bool(powers)), powers=powers)
            ends: dict[int, Any] = {
                back.register: filled[back.register] for back in reverse.adjoints.values()
            }
            if powers:
                ends = {r: np.ldexp(values, powers[r]) for r, values in ends.items()}
        found = {i: back(sealed(ends[back.register])) for i, back in reverse.adjoints.items()}
        return found, list(ends.values())

    def _check_finite(self, found: Mapping[int, Floats]) -> None:
        """Raise `CancellationError` if any derivative is not a number."""
        for i in self._differentiated:
            number = self.tables[i].potential
            if number is not None and i in found and not are_finite([found[i]]):
                raise CancellationError(
                    f"the derivatives by the table of {self._child(number)} are too large for"
                    " floating point: another entry makes the evidence far more probable"
                )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Run(Sealed):
    """A forward run."""

    registers: Registers
    powers: Sequence[int]
    """The powers of two that each register is a multiple of; none if these are one."""
    at: Mapping[str, int]
    inputs: tuple[Floats, ...]
    posterior: Floats
    """The distribution of the target; the number one if there is none."""
    total: float
    """The sum of the last register, as it is recorded."""
    log_evidence: float
