"""The content of the files of item banks, and of designs of tests.

::

    {"schema": "bnmind-bank", "version": 2, "title": "…", "source": "…",
     "skills": [{"name": "borrow", "label": "borrowing"}, …],
     "items": [{"name": "item_1", "text": "5/3 - 3/4", "responses": ["0", "1"],
                "parents": ["borrow"],
                "gate": {"kind": "dina", "guess": 0.1, "slip": 0.2},
                "certainty": {"answers": 90, "counts": [[36, 5], [9, 33]], "rows": [0, 1]}}, …],
     "network": {"schema": "bnmind-model", …}}

A ``certainty`` has counts and rows (`TableCertainty`), or a covariance (`ParameterCertainty`). In
version 1 the covariance of a curve is one of difficulties or thresholds in place of intercepts.
The network holds the hidden variables, and the items without a registered response model. The
other items are restored from their response models, stored as ``gate``. Omitted fields of an
item have their defaults.

This module imports pydantic, so other modules import it when first needed.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BeforeValidator, Field

from bnmind._messages import listed, many, shown
from bnmind._records import (
    FileRecord,
    LargeRecord,
    Names,
    Record,
    Texts,
    as_list,
    fields_given,
    or_table,
    record_from_json,
    record_of,
)
from bnmind._values import Count, Natural
from bnmind.adaptive.formulas import ParametricModel, ResponseModel, parameter_vector
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import (
    Certainty,
    Item,
    ParameterCertainty,
    TableCertainty,
    table_certainty,
)
from bnmind.adaptive.items.skill_distributions import BANK_PRIOR
from bnmind.adaptive.models import FORMER_NAMES, RESPONSE_MODELS
from bnmind.adaptive.skill_models import NoisySkills, Tabulated
from bnmind.errors import (
    BnmindError,
    InvalidModelError,
    ModelFileError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.pgm import Network, Variable
from bnmind.pgm.files import FILE_CELLS
from bnmind.pgm.formats.records import model_to_json, network_from_json
from bnmind.pgm.tabular import DEFAULT_CELLS

BANK_CELLS = 2**22
"""The default limit of cells in the tables of all items: 32 MB, or one item with 21 skills."""


class _SkillRecord(LargeRecord):
    name: str
    label: str = ""


class _ItemRecord(record_of(Item, "gate", "certainty")):  # type: ignore[misc]
    responses: Names | None = None
    parents: Names | None = None
    gate: dict[str, Any] | None = None
    certainty: dict[str, Any] | None = None


class _RolesRecord(FileRecord):
    title: str = ""
    source: str = ""
    skills: list[_SkillRecord]
    items: list[_ItemRecord]


class _BankRecord(_RolesRecord):
    network: dict[str, Any]


def bank_to_json(bank: ItemBank, *, max_cells: int = FILE_CELLS) -> str:
    """Return a bank as JSON text; no table may have more than ``max_cells`` cells."""
    tables = [bank.network.cpd(v.name) for v in bank.hidden]
    if any(isinstance(item.gate, ParametricModel) for item in bank.items):
        stored = tuple(_as_stored(bank, item) for item in bank.items)
        bank = dataclasses.replace(bank, items=stored)
    restored = {item.name for item in bank.items if _model_record(item.gate) is not None}
    tables += [bank.network.cpd(name) for name in bank.item_names if name not in restored]
    items = [_item_record(bank, item, is_restored=item.name in restored) for item in bank.items]
    network = model_to_json(Network(tuple(tables)), max_cells=max_cells).strip()
    return _format("bnmind-bank", bank, items, f',\n "network": {network}')


def _as_stored(bank: ItemBank, item: Item) -> Item:
    """Return an item whose model of the user's own is replaced by its table."""
    model = item.gate
    if not isinstance(model, ParametricModel):
        return item
    sizes = [v.n_states for v in bank.network.cpd(item.name).parents]
    table = Tabulated(type(model).__name__, model.channel(sizes), model.parameters)
    certainty = item.certainty
    if certainty is not None:
        # It is that of parameters whose formula the file does not hold.
        cpd = bank.network.cpd(item.name)
        certainty = table_certainty(item, cpd)
    return dataclasses.replace(item, gate=table, certainty=certainty)


def roles_to_json(bank: ItemBank) -> str:
    """Return the roles of the variables of a bank's network as JSON text, without the network."""
    items = [_item_record(bank, item, is_restored=False) for item in bank.items]
    return _format("bnmind-roles", bank, items, "")


def bank_from_json(text: str, *, max_cells: int = BANK_CELLS) -> ItemBank:
    """Return the bank in a JSON text.

    Parameters
    ----------
    text
        The content of a file.
    max_cells
        The limit of cells in the tables of all items together.

    Raises
    ------
    ModelFileError
        If the text is not JSON of this form, has a newer version, or its parts contradict
        each other.
    TooLargeError
        If the tables would have more cells. None is allocated.
    """
    record = record_from_json(text, "bnmind-bank", {1: _BankRecord, 2: _BankRecord})
    try:
        network = network_from_json(json.dumps(record.network), max_cells=DEFAULT_CELLS)
        cpds = list(network.cpds)
        variables = {cpd.variable.name: cpd.variable for cpd in cpds}
        problems: list[str] = []
        items = [_item(entry, record.version, problems) for entry in record.items]
        # If an item is in the network too, the bank compares its distribution with its model.
        restored = [
            (entry, item.gate)
            for entry, item in zip(record.items, items, strict=True)
            if item.gate is not None and entry.name not in variables
        ]
        _refuse_large(restored, variables, max_cells)
        for entry, model in restored:
            unknown = [name for name in entry.parents or () if name not in variables]
            if unknown or not entry.parents:
                problems.append(
                    f"expected known variables as parents of {entry.name},"
                    f" got {', '.join(unknown) or 'none'}"
                )
                continue
            states = entry.responses or [str(i) for i in range(model.n_responses)]
            parents = [variables[name] for name in entry.parents]
            with _faults_of(entry.name, "a response model", entry.gate, problems):
                cpds.append(model.cpd(Variable(entry.name, tuple(states)), parents))
        if problems:
            raise InvalidModelError(problems)
        return _bank(Network(tuple(cpds)), record, items)
    except InvalidModelError as fault:
        raise ModelFileError(f"the bank is not valid: {listed(fault.problems)}") from fault


def _refuse_large(
    restored: Iterable[tuple[_ItemRecord, ResponseModel]],
    variables: Mapping[str, Variable],
    max_cells: int,
) -> None:
    """Raise `TooLargeError` if the tables of response models have too many cells together."""
    cells = {"": 0}
    for entry, model in restored:
        if not isinstance(model, NoisySkills):
            known = [variables[name].n_states for name in entry.parents or () if name in variables]
            cells[entry.name] = math.prod(known) * model.n_responses
    needed = sum(cells.values())
    if needed > max_cells:
        largest = max(cells, key=cells.__getitem__)
        raise TooLargeError(
            f"the tables of all items have {many(needed)} cells, {many(cells[largest])} of them"
            f" for item {largest}; the limit is {max_cells:,}: use a noisy-and or noisy-or for"
            " items with many skills, which need no table",
            needed=needed,
            budget=max_cells,
        )


def roles_from_json(text: str, network: Network) -> ItemBank:
    """Return the bank of a network, given the roles of its variables as JSON text.

    Raises
    ------
    ModelFileError
        If the text is not JSON of this form, or does not fit the network.
    """
    record = record_from_json(text, "bnmind-roles", {1: _RolesRecord, 2: _RolesRecord})
    try:
        problems: list[str] = []
        items = [_item(entry, record.version, problems) for entry in record.items]
        if problems:
            raise InvalidModelError(problems)
        return _bank(network, record, items)
    except InvalidModelError as fault:
        raise ModelFileError(
            f"the roles do not fit the network: {listed(fault.problems)}"
        ) from fault


def _format(schema: str, bank: ItemBank, items: Sequence[dict[str, Any]], rest: str) -> str:
    def lines(records: Sequence[dict[str, Any]]) -> str:
        return ",\n  ".join(json.dumps(record, ensure_ascii=False) for record in records)

    skills = [
        {"name": name, **({"label": label} if label != name else {})}
        for name, label in zip(bank.skills, bank.labels, strict=True)
    ]
    title, source = (json.dumps(x, ensure_ascii=False) for x in (bank.title, bank.source))
    return (
        f'{{"schema": "{schema}", "version": 2,\n "title": {title}, "source": {source},\n'
        f' "skills": [\n  {lines(skills)}\n ],\n "items": [\n  {lines(items)}\n ]{rest}}}\n'
    )


def _item_record(bank: ItemBank, item: Item, *, is_restored: bool) -> dict[str, Any]:
    """Return the fields that differ from the defaults; if ``is_restored``, also its structure."""
    record = fields_given(item, "gate", "certainty")
    if is_restored:
        record["responses"] = list(bank.responses(item.name))
        record["parents"] = [v.name for v in bank.network.cpd(item.name).parents]
    gate = _model_record(item.gate)
    record |= {} if gate is None else {"gate": gate}
    if item.certainty is not None and (certainty := _certainty_record(item.certainty)):
        record["certainty"] = certainty
    return record


def _certainty_record(certainty: Certainty) -> dict[str, Any]:
    """Return the fields of a certainty; empty if it is of a model that is not registered."""
    if isinstance(certainty, TableCertainty):
        counts = certainty.counts.tolist()
        return {"answers": certainty.answers, "counts": counts, "rows": list(certainty.rows)}
    record = {"answers": certainty.answers, "covariance": certainty.covariance.tolist()}
    if certainty.model is None:
        return record
    model = _model_record(certainty.model)
    return {} if model is None else {**record, "model": model}


def _of_intercepts(certainty: ParameterCertainty, model: ResponseModel | None) -> Certainty:
    """Return the certainty in a file of version 1 with intercepts in place of difficulties."""
    known: Any = certainty.model or model
    divided = getattr(known, "_per_slope", None)
    if divided is None or len(certainty.covariance) != len(parameter_vector(known)):
        return certainty
    places = np.atleast_1d(getattr(known, divided))
    slopes = np.eye(len(certainty.covariance))
    rows = np.arange(1, len(places) + 1)
    slopes[rows, 0], slopes[rows, rows] = -places, -known.slope
    covariance = slopes @ certainty.covariance @ slopes.T
    return dataclasses.replace(certainty, covariance=(covariance + covariance.T) / 2)


@contextmanager
def _faults_of(item: str, what: str, given: object, problems: list[str]) -> Iterator[None]:
    """Collect the faults of what a file says of an item."""
    try:
        yield
    except InvalidModelError as fault:
        problems += [f"{problem}, in item {item}" for problem in fault.problems]
    except TooLargeError:
        raise
    except (BnmindError, ArithmeticError, AttributeError, TypeError, ValueError, KeyError) as fault:
        problems.append(f"expected {what} for item {item}, got {shown(given)} ({fault})")


def _certainty_of(record: dict[str, Any], model: ResponseModel | None, version: int) -> Certainty:
    if "counts" in record:
        return TableCertainty(**record)
    if "model" in record:
        record = {**record, "model": _model_of(record["model"])}
    certainty = ParameterCertainty(**record)
    return certainty if version > 1 else _of_intercepts(certainty, model)


def _model_record(model: ResponseModel | None) -> dict[str, Any] | None:
    """Return the kind and the parameters of a response model; None if it is not registered."""
    kind = next((name for name, row in RESPONSE_MODELS.items() if type(model) is row.make), None)
    if kind is None or model is None:
        return None
    fields = dataclasses.fields(model)  # type: ignore[arg-type]
    values = {field.name: _plain(getattr(model, field.name)) for field in fields}
    if any(isinstance(value, list) and None in value for value in values.values()):
        return None  # a step is not registered
    return {"kind": kind} | {name: value for name, value in values.items() if value is not None}


def _plain(value: Any) -> Any:
    """Return a parameter for JSON."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return [_model_record(one) if isinstance(one, ResponseModel) else one for one in value]
    return value


def _model_of(record: Mapping[str, Any]) -> ResponseModel:
    kind = record.get("kind")
    name = FORMER_NAMES.get(kind, kind) if isinstance(kind, str) else ""
    if name not in RESPONSE_MODELS:
        raise InvalidModelError([str(UnknownNameError("response model", kind, RESPONSE_MODELS))])
    parameters = {name: _parameter(value) for name, value in record.items() if name != "kind"}
    return RESPONSE_MODELS[name].make(**parameters)


def _parameter(value: Any) -> Any:
    """Return a parameter for a response model: records become models, lists become tuples."""
    if not isinstance(value, list) or any(isinstance(part, list) for part in value):
        return value
    return tuple(_model_of(part) if isinstance(part, dict) else part for part in value)


def _item(entry: _ItemRecord, version: int, problems: list[str]) -> Item:
    model = certainty = None
    if entry.gate is not None:
        with _faults_of(entry.name, "a response model", entry.gate, problems):
            model = _model_of(entry.gate)
    if entry.certainty is not None:
        with _faults_of(entry.name, "a certainty", entry.certainty, problems):
            certainty = _certainty_of(entry.certainty, model, version)
    own = Item.__dataclass_fields__.keys() - {"gate", "certainty"}
    try:
        return Item(**{n: getattr(entry, n) for n in own}, gate=model, certainty=certainty)
    except InvalidModelError as fault:
        problems += fault.problems
        return Item(entry.name, gate=model)


def _bank(network: Network, record: _RolesRecord, items: Sequence[Item]) -> ItemBank:
    return ItemBank(
        network=network,
        skills=tuple(skill.name for skill in record.skills),
        items=tuple(items),
        title=record.title,
        source=record.source,
        labels=tuple(skill.label or skill.name for skill in record.skills),
    )


# --- Designs --------------------------------------------------------------------------------------

_SomeTexts: TypeAlias = Annotated[Texts, Field(min_length=2)]
_ListOf = BeforeValidator(as_list)


class DesignStart(Record):
    """A stage at the start of a test."""

    ask: Texts | None = None
    number: Count | None = None
    select: str | None = None
    within: float | None = None
    items: Texts | None = None
    codes: Texts | None = None
    skills: Texts | None = None


class _Select(Record):
    by: str = "entropy"
    shadow: bool = False


class DesignExposure(Record):
    """A method of exposure control."""

    method: Literal["progressive", "randomesque", "sympson-hetter", "eligibility"]
    b: float = 0.0
    best: Count = 5
    rates: dict[str, float] = Field(default={})
    r_max: float | None = None
    counts: str | dict[str, list[int]] | None = None


class DesignRange(Record):
    """The least and the largest number of items of a group; a number means exactly this many."""

    min: Natural = 0
    max: Natural | None = None


class _Group(DesignRange):
    items: Texts
    name: str = ""


def _as_range(value: Any) -> Any:
    return {"min": value, "max": value} if type(value) is int else value


_Ranges: TypeAlias = dict[str, Annotated[DesignRange, BeforeValidator(_as_range)]]


class _Content(Record):
    codes: _Ranges = Field(default={})
    skills: _Ranges = Field(default={})
    groups: list[_Group] = Field(default=[])


class _Order(Record):
    codes: Texts | None = None
    skills: Texts | None = None
    items: Texts | None = None


class _Enemies(Record):
    items: _SomeTexts


class DesignTestlet(_Enemies):
    """Items that stay together."""

    name: str = ""
    in_order: bool = False


class _Stop(Record):
    any: Texts


class _Pilot(Record):
    items: Texts
    number: Count = 1
    places: list[Count] = Field(default=[])
    by: str = "least-calibrated"
    count: bool = False
    complete: bool = True


class _Report(Record):
    skills: list[str] = Field(default=[])
    answers: bool = True
    parameters: bool = False
    during: bool = False
    examinee: bool = True


class DesignFile(Record):
    """The design of a test, as a file holds it."""

    title: str = ""
    seed: Natural = 0
    prior: Any = BANK_PRIOR
    parameters: Literal["learned", "averaged"] = "learned"
    start: Annotated[list[DesignStart], _ListOf] = Field(default=[])
    select: Annotated[_Select, or_table("by")] = _Select()
    exposure: Annotated[list[DesignExposure], _ListOf] = Field(default=[])
    content: _Content = _Content()
    order: _Order = _Order()
    testlet: Annotated[list[DesignTestlet], _ListOf] = Field(default=[])
    enemies: Annotated[list[_Enemies], _ListOf] = Field(default=[])
    stop: Annotated[_Stop, or_table("any")] | None = None
    pilot: _Pilot | None = None
    report: _Report = _Report()
