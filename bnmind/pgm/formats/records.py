"""JSON records of variables, functions and models, and of networks of bnlearn.

Formats of other programs expand functions to tables, and cannot hold the negative and complex
factors of a rank-one factorization. bnmind's own form holds any `Network` or `FactorModel` in full
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
``imaginary``. The scope of a distribution is the child and then its parents. Version 1, which is
still read, had only factors, without a ``kind``.

A function has the name of its class in lower case and the fields of the class::

    {"function": "addition", "terms": [[0, 1], [0, 1, 2]], "modulus": 4, "constant": 0}

The classes of registered functions (`bnmind.pgm.functions`) hold whole numbers and tuples
of them.

The file of names beside a UAI file, ``model.uai.json``, lists its variables in their order::

    {"schema": "bnmind-uai-names", "version": 1,
     "variables": [{"name": "rain", "states": ["no", "yes"]}, …]}

The R packages bnlearn and bnRep list networks as::

    {"name": "asia", "nodes": [
      {"name": "A", "states": ["no", "yes"], "parents": [], "shape": [2], "prob": [0.99, 0.01]},
      {"name": "T", "states": ["no", "yes"], "parents": ["A"], "shape": [2, 2],
       "prob": [0.99, 0.95, 0.01, 0.05]}]}

The last parent varies fastest in ``prob``, and the child slowest. R calls missing probabilities
NaN, null or "NA". `Reading.normalize` makes them uniform. Titles, sources and lists of children are
passed over.

This module imports pydantic, so it is imported when the first JSON is read or written.

References
----------
M. Scutari, "Learning Bayesian networks with the bnlearn R package", Journal of Statistical Software
35, 2010; M. Leonelli, "bnRep: A repository of Bayesian networks from the academic literature",
Neurocomputing 624, 2025.
"""

from __future__ import annotations

import functools
import json
import math
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    model_validator,
)

from bnmind._messages import listed, many
from bnmind._records import FileRecord, LargeRecord, Names, record_fault, record_from_json
from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.formats.declared import MOST_AXES, PLAIN_READING, Reading
from bnmind.pgm.formats.source import shown
from bnmind.pgm.functions import (
    FUNCTIONS,
    Function,
    Listed,
    RegisteredFunction,
    Restricted,
    name_of,
)
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

JSON_VERSION = 2
"""The version of the files that bnmind writes."""

# Sums of very many such numbers fit into 64 bits.
_MOST = 2**31
_Position = Annotated[int, Field(ge=0, le=_MOST)]
_Positions: TypeAlias = Annotated[tuple[_Position, ...], Field(fail_fast=True)]
_Number = Annotated[float, Field(allow_inf_nan=False)]
_Numbers = Annotated[list[_Number], Field(fail_fast=True)]
_Scope = Annotated[list[str], Field(max_length=MOST_AXES, fail_fast=True)]
_Family = Annotated[list[str], Field(min_length=1, fail_fast=True)]


class _Variable(LargeRecord):
    """A variable."""

    name: str
    states: Names


def _variables_of(
    records: Iterable[_Variable | _Node], place: str = "variables"
) -> dict[str, Variable]:
    """Return the variables by name.

    Raises
    ------
    InvalidModelError
        If a variable is invalid or occurs twice; the error lists all faults.
    """
    problems: list[str] = []
    variables: dict[str, Variable] = {}
    for number, entry in enumerate(records):
        if entry.name in variables:
            problems.append(
                f"at {place}.{number}: expected distinct variables, got {shown(entry.name)} twice"
            )
        try:
            variables[entry.name] = Variable(entry.name, tuple(entry.states))
        except InvalidModelError as fault:
            problems += [f"at {place}.{number}: {problem}" for problem in fault.problems]
    if problems:
        raise InvalidModelError(problems)
    return variables


def _variable_lines(variables: Iterable[Variable]) -> str:
    """Return the records of variables as JSON, each on a line."""
    return _lines(
        json.dumps({"name": v.name, "states": list(v.states)}, ensure_ascii=False)
        for v in variables
    )


def _lines(items: Iterable[str]) -> str:
    return ",\n  ".join(items)


class _OfNumbers(LargeRecord):
    """A record of a registered function, with the fields of its class."""

    function: str

    def make(self) -> Function:
        make: Any = FUNCTIONS[self.function].make
        return cast(Function, make(**{f.name: getattr(self, f.name) for f in fields(make)}))


def _annotation(hint: Any, least: int) -> Any:
    """Return the type of a field in a file: bounded whole numbers, or tuples of them."""
    if get_origin(hint) in (Union, UnionType):
        either = [_annotation(one, least) for one in get_args(hint)]
        return functools.reduce(operator.or_, either)
    if get_origin(hint) is tuple:
        inner = _annotation(get_args(hint)[0], least)
        return Annotated[tuple[inner, ...], Field(fail_fast=True)]  # type: ignore[valid-type]
    return Annotated[int, Field(ge=least, le=_MOST)] if hint is int else hint


def _record(name: str, row: RegisteredFunction) -> type[_OfNumbers]:
    """Return the record class of a registered function, with the fields of its class."""
    kind: Any = row.make
    hints = get_type_hints(kind)
    parts: dict[str, Any] = {"function": (Literal[name], ...)}
    for one in fields(kind):
        default = ... if one.default is MISSING else one.default
        parts[one.name] = (_annotation(hints[one.name], row.least.get(one.name, -_MOST)), default)
    return create_model(f"_{name.title()}", __base__=_OfNumbers, **parts)


class _Restricted(LargeRecord):
    function: Literal["restricted"]
    of: _FunctionRecord
    states: Annotated[tuple[Annotated[_Positions, Field(min_length=1)], ...], Field(fail_fast=True)]
    results: Annotated[_Positions, Field(min_length=1)] | None = None

    def make(self) -> Function:
        return Restricted(self.of.make(), self.states, self.results)


class _Listed(LargeRecord):
    function: Literal["listed"]
    shape: Annotated[
        tuple[Annotated[int, Field(ge=1, le=2**31)], ...], Field(min_length=1, fail_fast=True)
    ]
    results: _Positions

    @model_validator(mode="after")
    def _fits(self) -> _Listed:
        if math.prod(self.shape) != len(self.results):
            raise ValueError(
                f"expected {math.prod(self.shape)} results for the shape"
                f" {list(self.shape)}, got {len(self.results)}"
            )
        return self

    def make(self) -> Function:
        return Listed(np.array(self.results, dtype=np.intp).reshape(self.shape))


if TYPE_CHECKING:
    _AnyRecord: TypeAlias = _OfNumbers | _Listed | _Restricted
else:
    _RECORDS = [_record(name, row) for name, row in FUNCTIONS.items()]
    _AnyRecord = Annotated[
        Union[(*_RECORDS, _Listed, _Restricted)],
        Field(discriminator="function"),
    ]

_FunctionRecord: TypeAlias = _AnyRecord
"""A record of any function; the field ``function`` says which one."""

_Restricted.model_rebuild()


def function_to_record(function: Function) -> dict[str, Any] | None:
    """Return the record of a function, or None if it is not a function of bnmind.

    >>> from bnmind.pgm import Threshold
    >>> function_to_record(Threshold(2))
    {'function': 'threshold', 'least': 2, 'counted': None}
    """
    if isinstance(function, Restricted):
        inner = function_to_record(function.function)
        if inner is None:
            return None
        parts = {"of": inner, "states": function.states, "results": function.results}
        return {"function": "restricted", **parts}
    if isinstance(function, Listed):
        results = tuple(function.results.ravel().tolist())
        return {"function": "listed", "shape": function.results.shape, "results": results}
    name = name_of(function)
    if name is None:
        return None
    of: Any = function
    return {"function": name, **{one.name: getattr(of, one.name) for one in fields(of)}}


def _arity_fault(function: Function, n_arguments: int) -> str | None:
    """Return a message if a function does not have ``n_arguments`` arguments, else None."""
    expected: int | None = None
    name = name_of(function)
    if isinstance(function, Restricted):
        name, expected = "restricted", sum(len(positions) > 1 for positions in function.states)
        if inner := _arity_fault(function.function, len(function.states)):
            return inner
    elif isinstance(function, Listed):
        name, expected = "listed", function.results.ndim
    elif name is not None:
        expected = FUNCTIONS[name].n_arguments(function)
    if expected is None or expected == n_arguments:
        return None
    return f"expected {expected} arguments of the function {name}, got {n_arguments}"


def _steps_work(function: Function, sizes: Sequence[int]) -> int:
    """Return a bound on the work of computing a function's steps, in cells.

    The number of partial sums may equal the number of configurations. Other functions have few
    partial results.
    """
    while isinstance(function, Restricted):
        sizes = [max(positions) + 1 for positions in function.states]
        function = function.function
    if isinstance(function, Listed):
        return function.results.size
    name = name_of(function)
    assert name is not None  # every function of a record has one
    return FUNCTIONS[name].partial_results(function, sizes) * sum(sizes)


class _Factor(LargeRecord):
    kind: Literal["factor"] = "factor"
    scope: _Scope
    values: _Numbers
    imaginary: _Numbers | None = None


class _Table(LargeRecord):
    kind: Literal["table"]
    scope: Annotated[list[str], Field(min_length=1, max_length=MOST_AXES, fail_fast=True)]
    values: _Numbers


class _Function(LargeRecord):
    kind: Literal["function"]
    scope: _Family
    function: _FunctionRecord


class _Noisy(LargeRecord):
    kind: Literal["noisy_maximum", "noisy_minimum"]
    scope: _Family
    links: Annotated[list[Annotated[list[_Numbers], Field(fail_fast=True)]], Field(fail_fast=True)]
    leak: _Numbers


_Potential = Annotated[_Factor | _Table | _Function | _Noisy, Field(discriminator="kind")]


class _Version2(FileRecord):
    variables: list[_Variable]
    potentials: tuple[_Potential, ...]


class _Version1(_Version2):
    potentials: tuple[_Factor, ...]


class DynamicRecord(FileRecord):
    """A file of a dynamic network; the models of both parts are checked later."""

    first: dict[str, Any]
    transition: dict[str, Any]


def model_to_json(model: Network | FactorModel, *, max_cells: int) -> str:
    """Return the model as JSON text.

    Functions that are not classes of bnmind are expanded to tables of at most ``max_cells``.
    """
    potentials = [json.dumps(_to_record(p, max_cells)) for p in model.potentials]
    # With one variable or table on a line, files are readable and diffs small.
    return (
        f'{{"schema": "bnmind-model", "version": {JSON_VERSION},\n'
        f' "variables": [\n  {_variable_lines(model.variables)}\n ],\n'
        f' "potentials": [\n  {_lines(potentials)}\n ]}}\n'
    )


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
    record = record_from_json(text, "bnmind-model", {1: _Version1, 2: _Version2})
    try:
        variables = _variables_of(record.variables)
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


def _values(numbers: Sequence[float | None], scope: tuple[Variable, ...]) -> Values:
    n_cells = math.prod(v.n_states for v in scope)
    if len(numbers) != n_cells:
        over = ", ".join(v.name for v in scope) or "nothing"
        raise InvalidModelError(
            [f"expected {many(n_cells)} numbers over {over}, got {len(numbers)}"]
        )
    return np.array(numbers, dtype=np.float64).reshape([v.n_states for v in scope])


def _functional(entry: _Function, scope: tuple[Variable, ...], max_cells: int) -> FunctionalCPD:
    function = entry.function.make()
    if fault := _arity_fault(function, len(scope) - 1):
        raise InvalidModelError([fault])
    work = _steps_work(function, [v.n_states for v in scope[1:]])
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


class _Names(FileRecord):
    variables: list[_Variable]


def names_from_json(text: str) -> tuple[Variable, ...]:
    """Return the variables in the order of the UAI file.

    Raises
    ------
    ModelFileError
        If the text is not of this form; the error lists all faults with their paths.
    """
    record = record_from_json(text, "bnmind-uai-names", {1: _Names})
    try:
        return tuple(_variables_of(record.variables).values())
    except InvalidModelError as fault:
        raise ModelFileError(f"expected valid names, got {listed(fault.problems)}") from fault


def names_to_json(variables: Iterable[Variable]) -> str:
    """Return the names as JSON text, with one variable on each line."""
    lines = _variable_lines(variables)
    return f'{{"schema": "bnmind-uai-names", "version": 1,\n "variables": [\n  {lines}\n ]}}\n'


def _not_available(numbers: Any) -> Any:
    """Return numbers with None for the text that R's jsonlite writes for a missing one."""
    if not isinstance(numbers, list) or "NA" not in numbers:
        return numbers
    return [None if number == "NA" else number for number in numbers]


class _Node(LargeRecord):
    model_config = ConfigDict(strict=False)

    name: str
    states: Names
    parents: Annotated[list[str], Field(max_length=MOST_AXES - 1, fail_fast=True)]
    prob: Annotated[list[float | None], Field(fail_fast=True), BeforeValidator(_not_available)]
    shape: Annotated[list[int], Field(fail_fast=True)] | None = None
    title: Any = None
    label: Any = None
    children: Any = None
    mb: Any = None


class _File(LargeRecord):
    model_config = ConfigDict(strict=False)

    name: Any = None
    title: Any = None
    description: Any = None
    source: Any = None
    reference: Any = None
    license: Any = None
    layout: Any = None
    nodes: Annotated[list[_Node], Field(min_length=1, fail_fast=True)]


def network_from_bnlearn_json(text: str, *, reading: Reading = PLAIN_READING) -> Network:
    """Return the network in a JSON text of this form. Tables are never larger than the text.

    Raises
    ------
    ModelFileError
        If the text is not of this form, or no valid network. The error lists all faults, each with
        its path.
    """
    try:
        nodes = _File.model_validate_json(text).nodes
    except ValidationError as fault:
        raise record_fault(fault, "a network of bnlearn") from fault
    try:
        variables = _variables_of(nodes, "nodes")
    except InvalidModelError as fault:
        raise _invalid(fault) from fault
    problems: list[str] = []
    cpds = []
    for number, node in enumerate(nodes):
        try:
            scope = _scope(node, variables)
            table = reading.corrected(scope, _table(node, scope))
            cpds.append(TabularCPD(scope[0], scope[1:], table))
        except InvalidModelError as fault:
            problems += [f"at nodes.{number}: {problem}" for problem in fault.problems]
    try:
        if problems:
            raise InvalidModelError(problems)
        return Network(tuple(cpds))
    except InvalidModelError as fault:
        raise _invalid(fault) from fault


def _scope(node: _Node, variables: dict[str, Variable]) -> tuple[Variable, ...]:
    unknown = [shown(name) for name in node.parents if name not in variables]
    if unknown:
        raise InvalidModelError(
            [f"expected parents of {node.name} among the nodes, got {', '.join(unknown)}"]
        )
    return tuple(variables[name] for name in (node.name, *node.parents))


def _table(node: _Node, scope: tuple[Variable, ...]) -> Floats:
    shape = tuple(v.n_states for v in scope)
    if node.shape is not None and tuple(node.shape) != shape:
        raise InvalidModelError(
            [f"expected the shape {list(shape)} of {node.name}, got {node.shape[:MOST_AXES]}"]
        )
    return np.real(_values(node.prob, scope))
