"""Wordings, labels and costs of items and skills, from tables beside the responses."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind._values import told
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.items.name_match import match_names, names_shown
from bnmind.adaptive.items.tables.choice_cells import AnswerKey, choices_in, texts_in
from bnmind.adaptive.items.tables.text_table import TextTable, frame_table, number_of, read_table
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.pgm.formats.declared import ModelFileWarning

if TYPE_CHECKING:
    import pandas

__all__ = ["answer_keys", "describe_bank"]

_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(["text", "wording", "question", "stem", "label", "title"], "text"),
    **dict.fromkeys(["content", "area", "domain", "topic"], "content"),
    **dict.fromkeys(["cost", "costs"], "cost"),
    **dict.fromkeys(["time", "seconds", "minutes"], "time"),
    **dict.fromkeys(["testlet", "unit"], "testlet"),
    **dict.fromkeys(["enemies", "enemy"], "enemies"),
    **dict.fromkeys(["picture", "image", "figure"], "picture"),
    **dict.fromkeys(["choices", "options", "alternatives"], "choices"),
    **dict.fromkeys(["key", "correct", "solution"], "key"),
    "shuffle": "shuffle",
}
"""The field of an item for each name of a column, in lower case."""

_CODES = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
"""The responses that choices may count as, if the item is not known yet."""

_SAID = {
    **dict.fromkeys(["yes", "true", "1", "1.0"], True),
    **dict.fromkeys(["no", "false", "0", "0.0"], False),
}

_LABELS = ("label", "name", "text", "title", "description", "long")
"""Names of columns with the labels of skills, in lower case."""


@checked
def describe_bank(
    bank: ItemBank,
    *,
    items: str | os.PathLike[str] | pandas.DataFrame | None = None,
    skills: str | os.PathLike[str] | pandas.DataFrame | None = None,
) -> ItemBank:
    """Return a bank with the wordings, costs and labels in tables.

    Parameters
    ----------
    bank
        The bank.
    items
        A file or a data frame with a row for each item: a column ``item``, or a first column,
        with their names; and any of the columns ``text`` (or ``question``), ``content``,
        ``cost``, ``time``, ``testlet``, ``enemies`` (names separated by semicolons),
        ``picture``, ``choices`` (texts separated by ``|``) with ``key``, the right one, and
        ``shuffle`` (yes or no), whether their order may vary.
        Further rows and columns are left out.
    skills
        A file or a data frame with a row for each skill: a column ``skill``, or a first column,
        with their names, and a column ``label``.

    Raises
    ------
    ModelFileError
        If a file cannot be read.
    InvalidModelError
        If no item or no skill has a row, a column is missing, or a cost is no number.

    Warns
    -----
    ModelFileWarning
        If some have no row; they keep their descriptions.

    Examples
    --------
    >>> import pandas as pd
    >>> bank = ItemBank.from_qmatrix([[1], [1]], items=["a", "b"], skill_names=["cr"])
    >>> table = pd.DataFrame({"item": ["a", "b"], "text": ["1 + 1", "2 + 2"], "cost": [1, 2.5]})
    >>> described = describe_bank(
    ...     bank, items=table, skills=pd.DataFrame({"skill": ["cr"], "label": ["common ratio"]})
    ... )
    >>> described.labels, described.item("b").text, described.item("b").cost
    (('common ratio',), '2 + 2', 2.5)
    """
    if items is not None:
        bank = replace(bank, items=_described_items(bank, _table("items", items)))
    if skills is not None:
        bank = replace(bank, labels=_labels(bank, _table("skills", skills)))
    return bank


def answer_keys(source: Any, *, is_optional: bool = False) -> dict[str, AnswerKey]:
    """Return the key of each item: from a mapping, a bank, or a file or a data frame.

    A table has a row for each item, with the right answer in a column ``key``, and perhaps a column
    ``choices``, as for `describe_bank`; or a single row with the right answer to each column. Items
    without right answers or choices have no key. The keys of a bank are optional.

    Raises
    ------
    InvalidModelError
        If the table has no right answers, or a key is none of its choices; not if the keys are
        optional.
    """
    if isinstance(source, ItemBank):
        choices = {item.name: item.choices for item in source.items if item.choices}
        return {
            name: AnswerKey.of_choices(
                [(text, source.response(name, response)) for text, response in pairs],
                is_optional=True,
            )
            for name, pairs in choices.items()
        }
    if isinstance(source, Mapping):
        return {
            str(name): right if isinstance(right, AnswerKey) else AnswerKey.of_right(right)
            for name, right in source.items()
        }
    table = _table("key", source)
    columns = _columns(table)
    if not is_optional and "key" not in columns and "choices" not in columns:
        if len(table.rows) == 1:
            cells = zip(table.header or (), table.rows[0], strict=True)
            return {name: AnswerKey.of_right(cell) for name, cell in cells if name and _text(cell)}
        raise InvalidModelError(["expected a column item and a column key, with the right answers"])
    keys, problems = {}, []
    for row, name in enumerate(_names_in(table, "item")):
        key, cell = (_text(columns[f][row]) if f in columns else "" for f in ("key", "choices"))
        texts = texts_in(cell) if cell else ()
        try:
            if key:
                keys[name] = AnswerKey.of_right(key, texts, is_optional=is_optional)
            elif texts:
                pairs = choices_in(cell, "", _CODES)
                codes = [(text, int(response)) for text, response in pairs]
                keys[name] = AnswerKey.of_choices(codes, is_optional=is_optional)
        except ValueError as fault:
            problems.append(f"the choices of item {name}: {fault}")
    if problems and not is_optional:
        raise InvalidModelError(problems)
    return keys


def _table(what: str, source: Any) -> TextTable:
    if not (hasattr(source, "columns") or isinstance(source, str | os.PathLike)):
        raise InvalidArgumentError(
            f"expected {what} to be a file or a data frame, got {told(source)}", source
        )
    table = frame_table(source) if hasattr(source, "columns") else read_table(source)
    if table.uneven:
        raise InvalidModelError(table.uneven)
    if table.header is None:
        raise InvalidModelError(["the first line must name the columns"])
    return table


def _rows(table: TextTable, kind: str, names: Sequence[str]) -> list[int | None]:
    """Return the row of each name; None, with a warning, for a name without a row."""
    texts = _names_in(table, kind)
    row_of = {name: row for row, name in enumerate(texts)}
    match = match_names(texts, names)
    if match is not None and not match.by_position:
        return list(match.places)
    absent = [name for name in names if name not in row_of]
    if len(absent) == len(names):
        raise InvalidModelError([f"no {kind} has a row in the table: {names_shown(absent)}"])
    warnings.warn(
        f"each {kind} without a row keeps its description: {names_shown(absent)}",
        ModelFileWarning,
        stacklevel=5,
    )
    return [row_of.get(name) for name in names]


def _names_in(table: TextTable, kind: str) -> list[str]:
    """Return the name in each row: in the column of the kind, or in the first one."""
    header = [name.lower() for name in table.header or ()]
    place = header.index(kind) if kind in header else 0
    return [str(cell).strip() for cell in table.column(place)]


def _columns(table: TextTable) -> dict[str, Sequence[Any]]:
    """Return the columns by the fields of items that they hold."""
    columns: dict[str, Sequence[Any]] = {}
    for place, name in enumerate(table.header or ()):
        if (field := _FIELDS.get(name.lower())) is not None and field not in columns:
            columns[field] = table.column(place)
    return columns


def _described_items(bank: ItemBank, table: TextTable) -> tuple[Item, ...]:
    rows = _rows(table, "item", bank.item_names)
    columns = _columns(table)
    if not columns:
        raise InvalidModelError(
            [
                "expected a column text, content, cost, time, testlet, enemies, picture or choices"
                " of the items"
            ]
        )
    problems: list[str] = []
    described = []
    for item, row in zip(bank.items, rows, strict=True):
        values = {
            field: _value(column[row], field, f"the {field} of item {item.name}", problems)
            for field, column in columns.items()
            if row is not None and _text(column[row])
        }
        key = values.pop("key", "")
        if "choices" in values:
            try:
                values["choices"] = choices_in(values["choices"], key, bank.responses(item.name))
            except ValueError as fault:
                del values["choices"]
                problems.append(f"the choices of item {item.name}: {fault}")
        try:
            described.append(replace(item, **values))
        except InvalidModelError as fault:
            problems += fault.problems
    if problems:
        raise InvalidModelError(problems)
    return tuple(described)


def _labels(bank: ItemBank, table: TextTable) -> tuple[str, ...]:
    header = [name.lower() for name in table.header or ()]
    rows = _rows(table, "skill", bank.skills)
    named = [header.index(name) for name in _LABELS if name in header[1:]]
    place = named[0] if named else 1
    if place >= len(header):
        raise InvalidModelError(["expected a column label of the skills"])
    texts = [None if row is None else _text(table.column(place)[row]) for row in rows]
    return tuple(text or label for text, label in zip(texts, bank.labels, strict=True))


def _text(cell: Any) -> str:
    text = "" if cell is None else " ".join(str(cell).split())
    return "" if text in ("nan", "<NA>", "NA") else text


def _value(cell: Any, field: str, what: str, problems: list[str]) -> Any:
    if field == "enemies":
        return tuple(part.strip() for part in str(cell).split(";"))
    if field == "shuffle":
        said = _SAID.get(_text(cell).lower())
        if said is None:
            problems.append(f"expected yes or no for {what}, got {shown(cell)}")
        return said is not False
    if field not in ("cost", "time"):
        return _text(cell)
    number = number_of(cell)
    if number is None:
        problems.append(f"expected a number for {what}, got {shown(cell)}")
    return 1.0 if number is None else number
