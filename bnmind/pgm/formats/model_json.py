"""bnmind's own JSON form of a model, which keeps functions as functions.

Formats of other programs expand functions to tables, and cannot hold the negative and complex
factors of a rank-one factorization. This one holds any `Network` or `FactorModel` in full
precision::

    {"schema": "bnmind-model", "version": 2,
     "variables": [{"name": "B", "states": ["0", "1"]}, …],
     "potentials": [
       {"kind": "factor", "scope": ["B", …], "values": [1.0, -0.5, …], "imaginary": [0.0, …]},
       {"kind": "table", "scope": ["B", "A"], "values": [0.9, 0.2, 0.1, 0.8]},
       {"kind": "function", "scope": ["C", "A", "B"], "function": {"function": "minimum"}},
       {"kind": "noisy_maximum", "scope": ["D", "A"],
        "links": [[[1.0, 0.2], [0.0, 0.8]]], "leak": [1.0, 0.0]}, …]}

The last variable of the scope varies fastest in ``values``. Only complex tables have
``imaginary``. The scope of a distribution is the child and then its parents. Functions are those of
`bnmind.pgm.formats.function_json`. Version 1, which is still read, had only factors, without a
``kind``. This module imports pydantic, so `bnmind.pgm.files` imports it when first needed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from bnmind._messages import many
from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.pgm.cpd import CPD, FunctionalCPD, TabularCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.formats.declared import MOST_AXES
from bnmind.pgm.formats.function_json import (
    FunctionRecord,
    arity_fault,
    function_to_record,
    steps_work,
)
from bnmind.pgm.formats.json_records import (
    LONG_TEXT,
    Strict,
    VariableRecord,
    listed,
    validated,
    variables_of,
)
from bnmind.pgm.formats.reading import PLAIN_READING, Reading
from bnmind.pgm.formats.source import shown
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum
from bnmind.pgm.variable import Variable

__all__ = [
    "JSON_VERSION",
    "model_from_json",
    "model_to_json",
    "network_from_json",
    "network_or_model_from_json",
]

JSON_VERSION = 2
"""The version of the files that bnmind writes."""

_Number = Annotated[float, Field(allow_inf_nan=False)]
_Numbers = Annotated[list[_Number], Field(fail_fast=True)]
_Scope = Annotated[list[str], Field(max_length=MOST_AXES, fail_fast=True)]
_Family = Annotated[list[str], Field(min_length=1, fail_fast=True)]


class _Factor(Strict):
    kind: Literal["factor"] = "factor"
    scope: _Scope
    values: _Numbers
    imaginary: _Numbers | None = None


class _Table(Strict):
    kind: Literal["table"]
    scope: Annotated[list[str], Field(min_length=1, max_length=MOST_AXES, fail_fast=True)]
    values: _Numbers


class _Function(Strict):
    kind: Literal["function"]
    scope: _Family
    function: FunctionRecord


class _Noisy(Strict):
    kind: Literal["noisy_maximum", "noisy_minimum"]
    scope: _Family
    links: Annotated[list[Annotated[list[_Numbers], Field(fail_fast=True)]], Field(fail_fast=True)]
    leak: _Numbers


_Potential = Annotated[_Factor | _Table | _Function | _Noisy, Field(discriminator="kind")]


class _Version2(Strict):
    schema_name: str = Field(alias="schema")
    version: int
    variables: list[VariableRecord]
    potentials: Sequence[_Potential]


class _Version1(_Version2):
    potentials: Sequence[_Factor]


class _LongVersion2(_Version2):
    variables: Annotated[list[VariableRecord], Field(fail_fast=True)]
    potentials: Annotated[tuple[_Potential, ...], Field(fail_fast=True)]


class _LongVersion1(_Version1):
    variables: Annotated[list[VariableRecord], Field(fail_fast=True)]
    potentials: Annotated[tuple[_Factor, ...], Field(fail_fast=True)]


_VERSIONS = {1: _Version1, 2: _Version2}
_LONG_VERSIONS = {1: _LongVersion1, 2: _LongVersion2}


def model_to_json(model: Network | FactorModel, *, max_cells: int) -> str:
    """Return the model as JSON text.

    Functions that are not classes of bnmind are expanded to tables of at most ``max_cells``.
    """
    variables = [
        json.dumps({"name": v.name, "states": list(v.states)}, ensure_ascii=False)
        for v in model.variables
    ]
    potentials = [json.dumps(_to_record(p, max_cells)) for p in model.potentials]
    # With one variable or table on a line, files are readable and diffs small.
    return (
        f'{{"schema": "bnmind-model", "version": {JSON_VERSION},\n'
        f' "variables": [\n  {_lines(variables)}\n ],\n'
        f' "potentials": [\n  {_lines(potentials)}\n ]}}\n'
    )


def _lines(items: Iterable[str]) -> str:
    return ",\n  ".join(items)


def _to_record(potential: Potential, max_cells: int) -> dict[str, Any]:
    scope = [v.name for v in potential.scope]
    match potential:
        case Factor():
            record = {"kind": "factor", "scope": scope}
            record["values"] = potential.values.real.ravel().tolist()
            if np.iscomplexobj(potential.values):
                record["imaginary"] = potential.values.imag.ravel().tolist()
            return record
        case NoisyMaximum() | NoisyMinimum():
            kind = "noisy_maximum" if isinstance(potential, NoisyMaximum) else "noisy_minimum"
            leak, *links = (c.tolist() for c in potential.contributions)
            return {
                "kind": kind,
                "scope": scope,
                "links": links,
                "leak": [number for (number,) in leak],
            }
        case FunctionalCPD() if (function := function_to_record(potential.function)) is not None:
            return {"kind": "function", "scope": scope, "function": function}
        case _:
            table = potential.to_tabular(max_cells=max_cells)
            return {"kind": "table", "scope": scope, "values": table.values.ravel().tolist()}


def model_from_json(
    text: str, *, max_cells: int, reading: Reading = PLAIN_READING, is_part: bool = False
) -> FactorModel:
    """Return the model in a JSON text, as the product of its potentials.

    Parameters
    ----------
    text
        The file's.
    max_cells
        The largest number of cells for the check of a function. Tables are never larger than the
        text.
    reading
        How rows that do not sum to one are treated.
    is_part
        Whether parents may be without a distribution, as in the later slices of a dynamic network.

    Raises
    ------
    ModelFileError
        If the text is not JSON of this form, or its parts contradict each other. The error lists
        all faults, each with its path.
    """
    potentials, variables = _potentials(text, max_cells, reading)
    if not is_part:
        _check_parents(potentials, variables)
    try:
        return FactorModel(potentials, variables)
    except InvalidModelError as fault:
        raise _invalid(fault) from fault


def network_from_json(text: str, *, max_cells: int, reading: Reading = PLAIN_READING) -> Network:
    """Return the network in a JSON text; see `model_from_json`."""
    potentials, _ = _potentials(text, max_cells, reading)
    factors = [
        f"at potentials.{i}: a factor over {', '.join(p.names) or 'nothing'}, no distribution"
        for i, p in enumerate(potentials)
        if isinstance(p, Factor)
    ]
    if factors:
        raise ModelFileError(f"expected a network, got {listed(factors)}")
    return _network([p for p in potentials if not isinstance(p, Factor)])


def network_or_model_from_json(
    text: str, *, max_cells: int, reading: Reading = PLAIN_READING
) -> Network | FactorModel:
    """Return a network if there is one distribution for each variable, else the product."""
    potentials, variables = _potentials(text, max_cells, reading)
    _check_parents(potentials, variables)
    cpds = [p for p in potentials if not isinstance(p, Factor)]
    if len(cpds) == len(potentials) and Counter(p.variable for p in cpds) == Counter(variables):
        return _network(cpds)
    try:
        return FactorModel(potentials, variables)
    except InvalidModelError as fault:
        raise _invalid(fault) from fault


def _check_parents(potentials: Sequence[Potential], variables: Sequence[Variable]) -> None:
    """Raise `ModelFileError` if there are only distributions, and a parent has none."""
    cpds = [p for p in potentials if not isinstance(p, Factor)]
    if len(cpds) == len(potentials) and not {p.variable for p in cpds}.issuperset(variables):
        _network(cpds)


def _network(cpds: Sequence[CPD]) -> Network:
    try:
        return Network(tuple(cpds))
    except InvalidModelError as fault:
        problems = [f"at potentials: {problem}" for problem in fault.problems]
        raise _invalid(InvalidModelError(problems)) from fault


def _invalid(fault: InvalidModelError) -> ModelFileError:
    return ModelFileError(f"expected a valid model, got these faults: {listed(fault.problems)}")


def _potentials(
    text: str, max_cells: int, reading: Reading
) -> tuple[tuple[Potential, ...], tuple[Variable, ...]]:
    """Return the potentials, and the variables in the order of the text."""
    record = validated(text, "bnmind-model", _VERSIONS if len(text) < LONG_TEXT else _LONG_VERSIONS)
    try:
        variables = variables_of(record.variables)
    except InvalidModelError as fault:
        raise _invalid(fault) from fault
    problems: list[str] = []
    potentials: list[Potential] = []
    used: set[str] = set()
    for number, entry in enumerate(record.potentials):
        used.update(entry.scope)
        try:
            unknown = [shown(name) for name in entry.scope if name not in variables]
            if unknown:
                raise InvalidModelError([f"expected declared variables, got {', '.join(unknown)}"])
            potentials.append(
                _from_record(
                    entry, tuple(variables[name] for name in entry.scope), max_cells, reading
                )
            )
        except InvalidModelError as fault:
            problems += [f"at potentials.{number}: {problem}" for problem in fault.problems]
    problems += [
        f"at variables.{number}: expected a potential over {name}, got none"
        for number, name in enumerate(variables)
        if name not in used
    ]
    if not potentials and not problems:
        problems.append("at potentials: expected at least one, got none")
    if problems:
        raise _invalid(InvalidModelError(problems))
    return tuple(potentials), tuple(variables.values())


def _from_record(
    entry: _Factor | _Table | _Function | _Noisy,
    scope: tuple[Variable, ...],
    max_cells: int,
    reading: Reading,
) -> Potential:
    match entry:
        case _Factor():
            values = _values(entry.values, scope)
            if entry.imaginary is not None:
                values = values + 1j * _values(entry.imaginary, scope)
            return Factor(scope, values)
        case _Table():
            table = reading.corrected(scope, np.real(_values(entry.values, scope)))
            return TabularCPD(scope[0], scope[1:], table)
        case _Function():
            return _functional(entry, scope, max_cells)
        case _Noisy():
            make = NoisyMaximum if entry.kind == "noisy_maximum" else NoisyMinimum
            # The constructor reports lists of different lengths, which are no arrays.
            links: tuple[Any, ...] = tuple(entry.links)
            leak: Any = entry.leak
            return make(scope[0], scope[1:], links, leak)


def _values(numbers: list[float], scope: tuple[Variable, ...]) -> Values:
    n_cells = math.prod(v.n_states for v in scope)
    if len(numbers) != n_cells:
        over = ", ".join(v.name for v in scope) or "nothing"
        raise InvalidModelError(
            [f"expected {many(n_cells)} numbers over {over}, got {len(numbers)}"]
        )
    return np.array(numbers).reshape([v.n_states for v in scope])


def _functional(entry: _Function, scope: tuple[Variable, ...], max_cells: int) -> FunctionalCPD:
    function = entry.function.make()
    if fault := arity_fault(function, len(scope) - 1):
        raise InvalidModelError([fault])
    work = steps_work(function, [v.n_states for v in scope[1:]])
    if work > max_cells:
        raise InvalidModelError(
            [f"expected a function checked within {max_cells:,} cells, got {many(work)}"]
        )
    try:
        return FunctionalCPD(scope[0], scope[1:], function)
    except InvalidModelError:
        raise
    # The function may use positions that an argument does not have.
    except (LookupError, TypeError, ValueError) as error:
        raise InvalidModelError(
            [f"expected a function of {', '.join(v.name for v in scope[1:])}: {error}"]
        ) from error
