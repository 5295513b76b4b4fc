"""Plans: exact inference compiled once, run many times as a pure function of the evidence.

The clique tables are never stored: each message of the junction tree is a
contraction straight from the model's tables and the messages that arrive, and the
whole is one straight line of them (Shafer & Shenoy, *Probability propagation*, 1990).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidModelError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.junction.contraction import Program, Scope
from bnmind.junction.tree import JunctionTree
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.variable import Variable

__all__ = ["Plan", "Posterior"]

_RESIDUE = 1e-13
"""Where terms of both signs cancel to less than this share of their sizes, the sum is zero."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a run of a plan says: distributions of the targets given the evidence."""

    targets: tuple[Factor, ...]
    """The normalized joint of each target, in the order of the plan's targets."""
    log_evidence: float
    """Natural logarithm of the probability of the evidence."""

    def joint(self, *names: str) -> Factor:
        """Return the joint of variables that lie together in one target."""
        for target in self.targets:
            if set(names) <= set(target.names):
                return target.sum_to(names)
        known = (", ".join(target.names) for target in self.targets)
        raise UnknownNameError("set of variables within one target", ", ".join(names), known)


@dataclass(frozen=True, eq=False)
class Source:
    """A register's content: a table of the model, still to be cut at the evidence."""

    scope: Scope
    """The variables left once the evidence is known."""
    observed: Scope
    """Evidence variables; their axes come first."""
    values: Values | None
    """None if the table is too large to be written out, or given with each run."""
    n_cells: int
    label: str
    signed: bool = False
    """Whether values are negative or complex, so that sums may cancel."""
    child: str | None = None
    """A variable whose state is certain given the others, if there is one."""
    positions: NDArray[np.intp] | None = None
    """Its positions, over ``observed`` and then ``scope`` without it."""
    input: str | None = None
    """The name of the input that fills the register at each run."""
    take: Callable[[Values], Values] | None = None
    """How a full input becomes a reduced one."""


@dataclass(frozen=True, eq=False)
class Answer:
    """How a joint is read off the registers."""

    variables: tuple[Variable, ...]
    view: tuple[int, ...]
    """The register's shape, with an axis of one for what it does not depend on."""
    shape: tuple[int, ...]
    """The shape over the reduced variables."""
    register: int | None
    cells: NDArray[np.intp] | None
    """The flat place of each reduced cell in the full table; None where they are the same."""

    def read(self, registers: list[Values]) -> Values:
        """Return the unnormalized joint over the reduced variables."""
        if self.register is None:
            return np.ones(self.shape)
        return np.broadcast_to(registers[self.register].reshape(self.view), self.shape)

    def lift(self, values: Values) -> Factor:
        """Return values over the reduced variables as a factor over the original ones."""
        full = tuple(v.n_states for v in self.variables)
        if self.cells is None:
            return Factor(self.variables, values.reshape(full))
        flat = np.zeros(math.prod(full))
        np.add.at(flat, self.cells, values.ravel())
        return Factor(self.variables, flat.reshape(full))


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """A compiled query: which evidence comes in, which joints come out, and the way between.

    Made by `compile_plan`. Printing it shows the cliques, their sizes and the cost.
    """

    tree: JunctionTree
    evidence: tuple[Variable, ...]
    """The variables whose states each run is given."""
    inputs: Mapping[str, tuple[Variable, ...]]
    """The tables that each run is given, and the variables they are over."""
    targets: tuple[tuple[Variable, ...], ...]
    """The variables of each joint that a run answers."""
    cells_before: int | None
    """Cells of the plan that this one was restricted from."""
    max_cells: int
    sources: tuple[Source, ...]
    derived: tuple[FunctionalCPD, ...]
    """Variables that are functions of the evidence, parents first."""
    certain: Mapping[str, int]
    """State positions of evidence that the plan was restricted to."""
    program: Program
    answers: tuple[Answer, ...]
    narrow: Callable[[Mapping[str, str], Mapping[str, Values]], Plan]

    @property
    def cells(self) -> int:
        """The sum of the clique sizes: what the paper calls the total size."""
        return self.tree.total_size

    @property
    def multiplications(self) -> int:
        """Multiplications of one run."""
        return self.program.multiplications

    def __repr__(self) -> str:
        evidence = ", ".join(v.name for v in self.evidence)
        targets = "; ".join(", ".join(v.name for v in scope) for scope in self.targets)
        given = "; ".join([evidence or "nothing", *self.inputs])
        return f"Plan({targets} | {given}; {self.cells:,} cells)"

    def __str__(self) -> str:
        lines = [str(self.tree)]
        if self.cells_before is not None:
            lines.append(f"cells before restriction  {self.cells_before:,}, after  {self.cells:,}")
        lines.append(f"multiplications in a run  {self.multiplications:,}")
        lines.append("evidence  " + (", ".join(v.name for v in self.evidence) or "none"))
        lines += [
            f"input     {name}({', '.join(v.name for v in scope)})"
            for name, scope in self.inputs.items()
        ]
        lines += [f"target    {', '.join(v.name for v in scope)}" for scope in self.targets]
        return "\n".join(lines)

    def run(
        self, evidence: Mapping[str, str], inputs: Mapping[str, Values] | None = None
    ) -> Posterior:
        """Return the targets' joints given states of the evidence variables.

        Parameters
        ----------
        evidence
            A state for each of the plan's evidence variables.
        inputs
            A table for each of the plan's inputs, of non-negative numbers.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        TooLargeError
            If the plan is over its budget; restricting it may help.
        UnknownNameError, InvalidModelError
            If the evidence or the inputs are not those that the plan was made for.
        """
        observed = self._observe(evidence)
        given = self._given(dict(inputs or {}))
        if self.cells > self.max_cells:
            largest = max(self.tree.cliques, key=lambda clique: clique.size)
            raise TooLargeError(
                f"expected a plan of at most {self.max_cells:,} cells, got {self.cells:,};"
                f" the largest clique is {{{', '.join(largest.variables)}}}"
                f" with {largest.size:,}",
                needed=self.cells,
                budget=self.max_cells,
            )
        registers = [self._load(source, observed, given) for source in self.sources]
        registers += self._look_ups(observed)
        results = self._results(registers)
        if any(source.signed for source in self.sources):
            sizes = self._results(
                [
                    np.abs(r) if s and s.signed else r
                    for r, s in zip_longest(registers, self.sources)
                ]
            )
            results = [
                np.where(result > _RESIDUE * size, result, 0.0)
                for result, size in zip(results, sizes, strict=True)
            ]
        total = float(results[0].sum())
        if not total > 0:
            shown = ", ".join(f"{name}={state}" for name, state in evidence.items())
            raise ImpossibleEvidenceError(
                f"expected evidence of positive probability, got zero for {shown or 'the inputs'}",
                evidence,
            )
        joints = (
            answer.lift(result / result.sum())
            for answer, result in zip(self.answers, results, strict=True)
        )
        return Posterior(tuple(joints), math.log(total))

    def restrict(
        self, evidence: Mapping[str, str], inputs: Mapping[str, Values] | None = None
    ) -> Plan:
        """Return a smaller plan for evidence and inputs that stay the same.

        States and configurations that they make impossible are removed, certain
        variables dropped, what then influences nothing left out, and the rest
        triangulated anew. What is not named here is still given with each run.

        Raises
        ------
        ImpossibleEvidenceError
            If a single table rules the evidence out.
        """
        unknown = set(evidence) - {v.name for v in self.evidence}
        if unknown:
            raise UnknownNameError(
                "evidence variable", min(unknown), (v.name for v in self.evidence)
            )
        for variable in self.evidence:
            if variable.name in evidence:
                variable.index(evidence[variable.name])
        checked = self._given(dict(inputs or {}), partial=True)
        return self.narrow(evidence, checked)

    def _observe(self, evidence: Mapping[str, str]) -> dict[str, int]:
        names = {v.name for v in self.evidence}
        if set(evidence) != names:
            wrong = sorted(set(evidence) ^ names)
            raise UnknownNameError("state for exactly the evidence variables", wrong[0], names)
        observed = dict(self.certain)
        observed.update((v.name, v.index(evidence[v.name])) for v in self.evidence)
        for cpd in self.derived:
            observed[cpd.variable.name] = cpd.value([observed[v.name] for v in cpd.parents])
        return observed

    def _given(self, inputs: dict[str, Any], *, partial: bool = False) -> dict[str, Values]:
        problems = []
        if not set(inputs) <= set(self.inputs) or (not partial and set(inputs) != set(self.inputs)):
            problems.append(f"expected the inputs {sorted(self.inputs)}, got {sorted(inputs)}")
        for name in sorted(set(inputs) & set(self.inputs)):
            shape = tuple(v.n_states for v in self.inputs[name])
            values = np.asarray(inputs[name], dtype=np.float64)
            if values.shape != shape:
                problems.append(f"expected the input {name} of shape {shape}, got {values.shape}")
            elif not np.all((values >= 0) & np.isfinite(values)):
                problems.append(f"expected non-negative numbers in the input {name}")
            inputs[name] = values
        if problems:
            raise InvalidModelError(problems)
        return inputs

    def _load(
        self, source: Source, observed: Mapping[str, int], given: Mapping[str, Values]
    ) -> Values:
        if source.input is not None:
            values = given[source.input]
            taken: Values = values if source.take is None else source.take(values)
            return taken
        if source.values is None:
            raise TooLargeError(
                f"expected tables of at most {self.max_cells:,} cells, got {source.n_cells:,}"
                f" in that of {source.label}; restrict the plan to evidence first",
                needed=source.n_cells,
                budget=self.max_cells,
            )
        cut: Values = source.values[tuple(observed[name] for name in source.observed)]
        return cut

    def _look_ups(self, observed: Mapping[str, int]) -> list[Any]:
        """Return the positions of deterministic tables' children, registers after the sources."""
        return [
            source.positions[tuple(observed[name] for name in source.observed)]
            for source in self.sources
            if source.positions is not None
        ]

    def _results(self, registers: list[Values]) -> list[Values]:
        """Return the unnormalized joint of each target over its reduced variables."""
        number: Any = 1.0
        for source, values in zip(self.sources, registers, strict=False):
            if not source.scope:
                number = number * values
        filled = self.program.run(registers)
        return [np.real(number * answer.read(filled)) for answer in self.answers]
