"""Our own JSON form of a model, for tables that need not be probabilities.

Probability formats cannot hold the negative and complex factors of a rank-one
factorization; this one holds any `FactorModel`, in full precision::

    {"schema": "bnmind-model", "version": 1,
     "variables": [{"name": "B", "states": ["0", "1"]}, …],
     "potentials": [{"scope": ["B", …], "values": [1.0, -0.5, …], "imaginary": [0.0, …]}, …]}

``values`` run over the scope with its last variable fastest; ``imaginary`` is
there only for complex tables. For a distribution the scope is the child, then
its parents. pydantic is imported with this module, which `bnmind.pgm.files`
therefore imports when first needed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.pgm.cpd import TabularCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

__all__ = ["model_from_json", "model_to_json"]

_Number = Annotated[float, Field(allow_inf_nan=False)]
_SHOWN_FAULTS = 5


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _VariableRecord(_Strict):
    name: str
    states: list[str]


class _PotentialRecord(_Strict):
    scope: list[str]
    values: list[_Number]
    imaginary: list[_Number] | None = None


class _ModelRecord(_Strict):
    schema_name: Literal["bnmind-model"] = Field(alias="schema")
    version: Literal[1]
    variables: list[_VariableRecord]
    potentials: list[_PotentialRecord]


def model_to_json(model: Network | FactorModel, *, max_cells: int) -> str:
    """Return the model as JSON text; functions are expanded to tables of at most ``max_cells``."""
    variables = [
        json.dumps({"name": v.name, "states": list(v.states)}, ensure_ascii=False)
        for v in model.variables
    ]
    potentials = [json.dumps(_potential_record(p, max_cells)) for p in model.potentials]
    # One variable and one table a line: readable, and differences stay small.
    return (
        '{"schema": "bnmind-model", "version": 1,\n'
        f' "variables": [\n  {_lines(variables)}\n ],\n'
        f' "potentials": [\n  {_lines(potentials)}\n ]}}\n'
    )


def _lines(items: Iterable[str]) -> str:
    return ",\n  ".join(items)


def _potential_record(potential: Potential, max_cells: int) -> dict[str, list[str] | list[float]]:
    if isinstance(potential, Factor | TabularCPD):
        values = potential.values
    else:
        values = potential.to_factor(max_cells=max_cells).values
    record: dict[str, list[str] | list[float]] = {
        "scope": [v.name for v in potential.scope],
        "values": values.real.ravel().tolist(),
    }
    if np.iscomplexobj(values):
        record["imaginary"] = values.imag.ravel().tolist()
    return record


def model_from_json(text: str) -> FactorModel:
    """Return the model that JSON text holds.

    Raises
    ------
    ModelFileError
        If the text is not JSON of this form, or its parts contradict each other.
    """
    try:
        record = _ModelRecord.model_validate_json(text)
    except ValidationError as fault:
        faults = [
            f"{'.'.join(map(str, error['loc'])) or 'the whole'}: {error['msg']}"
            for error in fault.errors(include_url=False, include_input=False)
        ]
        more = f"; and {len(faults) - _SHOWN_FAULTS} more" if len(faults) > _SHOWN_FAULTS else ""
        raise ModelFileError(
            f"expected a model of schema bnmind-model 1, got {'; '.join(faults[:_SHOWN_FAULTS])}"
            f"{more}"
        ) from None
    try:
        return FactorModel(_potentials(record))
    except InvalidModelError as fault:
        raise ModelFileError(f"expected a valid model, got these faults: {fault}") from fault


def _potentials(record: _ModelRecord) -> tuple[Factor, ...]:
    problems: list[str] = []
    variables: dict[str, Variable] = {}
    for entry in record.variables:
        if entry.name in variables:
            problems.append(f"expected distinct variables, got {entry.name} twice")
        try:
            variables[entry.name] = Variable(entry.name, tuple(entry.states))
        except InvalidModelError as fault:
            problems += fault.problems
    if problems:
        raise InvalidModelError(problems)
    unused = set(variables)
    factors = []
    for number, potential in enumerate(record.potentials):
        where = f"potential {number} over {', '.join(potential.scope) or 'nothing'}"
        unknown = [name for name in potential.scope if name not in variables]
        if unknown:
            problems.append(f"expected declared variables in {where}, got {', '.join(unknown)}")
            continue
        scope = tuple(variables[name] for name in potential.scope)
        unused -= set(potential.scope)
        shape = tuple(v.n_states for v in scope)
        lengths = {len(potential.values), len(potential.imaginary or potential.values)}
        if lengths != {math.prod(shape)}:
            problems.append(
                f"expected {math.prod(shape)} numbers in {where},"
                f" got {' and '.join(map(str, sorted(lengths)))}"
            )
            continue
        values = np.array(potential.values)
        if potential.imaginary is not None:
            values = values + 1j * np.array(potential.imaginary)
        try:
            factors.append(Factor(scope, values.reshape(shape)))
        except InvalidModelError as fault:
            problems += fault.problems
    if unused:
        problems.append(f"expected a potential over {', '.join(sorted(unused))}, got none")
    if problems:
        raise InvalidModelError(problems)
    return tuple(factors)
