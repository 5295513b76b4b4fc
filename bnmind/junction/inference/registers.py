"""The initial registers of a run: the tables reduced to the evidence, and the inputs.

All functions are pure functions of a compiled query and the arguments of a run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bnmind._messages import listed
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import (
    Evidence,
    Findings,
    by_name,
    label_of,
    likelihood,
    read_findings,
    real_numbers,
)
from bnmind.junction.program.program_inputs import Source
from bnmind.pgm.factor import Values

__all__ = [
    "all_inputs",
    "checked_inputs",
    "load",
    "positions_of",
    "registers_of",
    "starting_registers",
]


def starting_registers(
    plan: CompiledQuery,
    evidence: Evidence | None = None,
    inputs: Mapping[str, Values] | None = None,
) -> list[Values]:
    """Return the initial registers of a run: tables reduced to the evidence, then positions.

    Raises
    ------
    TooLargeError
        If a run exceeds its limits.
    InvalidArgumentError, UnknownNameError
        If the evidence or the inputs are not those of the plan.
    """
    findings = read_findings(evidence, plan.evidence, plan.soft)
    tables = all_inputs(plan, findings, inputs)
    if plan.refusal is not None:
        raise plan.refusal
    return registers_of(plan, positions_of(plan, findings), tables)


def positions_of(plan: CompiledQuery, findings: Findings) -> dict[str, int]:
    """Return the state positions of all variables that the evidence makes certain."""
    observed = dict(plan.certain)
    observed.update((v.name, v.index(findings[v.name])) for v in plan.evidence)
    for cpd in plan.derived:
        observed[cpd.variable.name] = cpd.value([observed[v.name] for v in cpd.parents])
    return observed


def all_inputs(
    plan: CompiledQuery, findings: Findings, inputs: Mapping[str, Values] | None
) -> dict[str, Values]:
    """Return the inputs of a run, and the likelihoods of the soft variables as inputs."""
    tables = checked_inputs(plan, inputs)
    for v in plan.soft:
        finding = findings.get(v.name)
        weights = np.ones(v.n_states) if finding is None else likelihood(v, finding)
        tables[label_of(v.name)] = weights
    return tables


def checked_inputs(
    plan: CompiledQuery, inputs: Mapping[str, Any] | None, *, partial: bool = False
) -> dict[str, Values]:
    """Return the inputs of a run as arrays; ``partial`` inputs may be incomplete.

    Raises
    ------
    InvalidArgumentError
        If they are not the inputs of the plan, have another shape, or are negative.
    """
    tables = dict(by_name(inputs, "the inputs"))
    problems = []
    if not set(tables) <= set(plan.inputs) or (not partial and set(tables) != set(plan.inputs)):
        problems.append(f"the plan has the inputs {sorted(plan.inputs)}, got {sorted(tables)}")
    for name in sorted(set(tables) & set(plan.inputs)):
        shape = tuple(v.n_states for v in plan.inputs[name])
        values = real_numbers(tables[name], f"the input {name}")
        if values.shape != shape:
            problems.append(f"the input {name} must be of shape {shape}, got {values.shape}")
        elif not np.all((values >= 0) & np.isfinite(values)):
            problems.append(f"the numbers of the input {name} must be finite and not negative")
        tables[name] = values
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    return tables


def registers_of(
    plan: CompiledQuery, observed: Mapping[str, int], given: Mapping[str, Values]
) -> list[Values]:
    """Return the registers for positions from `positions_of` and inputs from `all_inputs`."""
    registers: list[Any] = list(plan.unchanging)
    for number, source in enumerate(plan.sources):
        if registers[number] is None:
            registers[number] = load(plan, source, observed, given)
    # The positions of deterministic tables' children come after the tables.
    registers += [
        source.positions[tuple(observed[name] for name in source.observed)]
        for source in plan.sources
        if source.positions is not None
    ]
    return registers


def load(
    plan: CompiledQuery,
    source: Source,
    observed: Mapping[str, int],
    given: Mapping[str, Values],
) -> Values:
    """Return a table reduced to the evidence, or an input.

    Raises
    ------
    TooLargeError
        If the table is too large to be expanded.
    """
    if source.input is not None:
        return source.reduced(given[source.input])
    if source.rows is not None:
        return source.rows.cut(observed)
    if source.values is None:
        allowed = plan.limits.table_cells
        raise TooLargeError(
            f"the table of {source.label} would have {source.n_cells:,} cells, and tables of"
            f" {allowed:,} cells are allowed; restrict the plan to evidence first",
            needed=source.n_cells,
            budget=allowed,
        )
    cut: Values = source.values[tuple(observed[name] for name in source.observed)]
    return cut
