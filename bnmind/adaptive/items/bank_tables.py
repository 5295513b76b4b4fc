"""Tables beside a bank: descriptions of items and skills, and priors of groups of examinees.

The distribution of the skills from which a test starts: that of the bank, or another one.

A learned bank has the distribution of the skills among the examinees it was learned from. A test
for other people may start from a uniform distribution, as cdcatR does by default, or from one in a
file. The file is a table with a column for each skill and a column ``probability`` or ``count``;
each row is a profile, and profiles without a row are impossible.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import first_faults, listed, shown
from bnmind._values import told
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.items.skill_distributions import (
    MAX_PROFILES,
    Independent,
    ProfileDistribution,
    Saturated,
)
from bnmind.adaptive.items.text_tables import (
    AnswerKey,
    TextTable,
    choices_in,
    frame_table,
    match_names,
    names_shown,
    number_of,
    read_table,
    texts_in,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError, ModelFileError, TooLargeError
from bnmind.pgm import Network, Variable
from bnmind.pgm.formats.declared import ModelFileWarning

if TYPE_CHECKING:
    import pandas

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
            return {name: AnswerKey.of_right(cell) for name, cell in cells if name and _clean(cell)}
        raise InvalidModelError(["expected a column item and a column key, with the right answers"])
    keys, problems = {}, []
    for row, name in enumerate(_names_in(table, "item")):
        key, cell = (_clean(columns[f][row]) if f in columns else "" for f in ("key", "choices"))
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
            if row is not None and _clean(column[row])
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
    texts = [None if row is None else _clean(table.column(place)[row]) for row in rows]
    return tuple(text or label for text, label in zip(texts, bank.labels, strict=True))


def _clean(cell: Any) -> str:
    text = "" if cell is None else " ".join(str(cell).split())
    return "" if text in ("nan", "<NA>", "NA") else text


def _value(cell: Any, field: str, what: str, problems: list[str]) -> Any:
    if field == "enemies":
        return tuple(part.strip() for part in str(cell).split(";"))
    if field == "shuffle":
        said = _SAID.get(_clean(cell).lower())
        if said is None:
            problems.append(f"expected yes or no for {what}, got {shown(cell)}")
        return said is not False
    if field not in ("cost", "time"):
        return _clean(cell)
    number = number_of(cell)
    if number is None:
        problems.append(f"expected a number for {what}, got {shown(cell)}")
    return 1.0 if number is None else number


BANK_PRIOR = "bank"
"""The name of the distribution in the bank."""

UNIFORM_PRIOR = "uniform"
"""The name of the uniform distribution."""

_NAMES = {BANK_PRIOR, UNIFORM_PRIOR, "learned"}

_HERE = Path()

_ROUNDED = 0.01
"""Rounded probabilities may miss the sum of 1 by so much."""

_WEIGHTS = ("probability", "count")


@checked
def with_prior(bank: ItemBank, prior: ProfileDistribution | Network | None = None) -> ItemBank:
    """Return a bank with another distribution of the skills.

    Parameters
    ----------
    bank
        The bank. Its items stay as they are.
    prior
        The distribution of the skills, or a network with a variable for each skill; default
        uniform: all profiles are equally probable.

    Raises
    ------
    InvalidModelError
        If the distribution does not fit the skills, or an item depends on a hidden variable that
        is no skill.

    Examples
    --------
    >>> from bnmind.adaptive import start_belief
    >>> bank = ItemBank.from_qmatrix([[1]], guess=0.2, slip=0.1, skills=Independent(0.8))
    >>> [start_belief(b).marginal("skill_1").round(2).tolist() for b in (bank, with_prior(bank))]
    [[0.2, 0.8], [0.5, 0.5]]
    """
    skills = [bank.variable(name) for name in bank.skills]
    items = [bank.network.cpd(name) for name in bank.item_names]
    others = {v.name for v in bank.hidden} - set(bank.skills)
    if needed := sorted({v.name for cpd in items for v in cpd.parents} & others):
        raise InvalidModelError(
            [
                "another prior needs items that depend on skills alone; items of this bank depend"
                f" on {listed(needed)}"
            ]
        )
    if prior is None:
        prior = Independent()
    cpds = prior.cpds if isinstance(prior, Network) else prior.cpds(skills)
    try:
        return replace(bank, network=Network((*cpds, *items)))
    except InvalidModelError as fault:
        raise InvalidModelError(
            [f"the prior does not fit the bank: {problem}" for problem in fault.problems]
        ) from fault


@checked
def read_prior(
    path: str | os.PathLike[str] | pandas.DataFrame, bank: ItemBank
) -> ProfileDistribution:
    r"""Return the distribution of the skills in a text file or a data frame.

    Parameters
    ----------
    path
        A file or a data frame with a column for each skill, by its name, and a column
        ``probability`` or ``count``. Each row is a profile; those without a row have the
        probability 0.
    bank
        The bank that names the skills and their levels.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or has no column of probabilities or counts.
    InvalidModelError
        If it is no distribution of the skills of the bank. The error lists all faults.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "prior.csv"
    >>> _ = path.write_text("add,carry,probability\n0,0,.3\n1,0,.5\n1,1,.2\n")
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], skill_names=["add", "carry"])
    >>> read_prior(path, bank).probabilities.tolist()
    [[0.3, 0.0], [0.5, 0.2]]
    """
    return _of_columns(profile_columns(path), bank)


def profile_columns(source: str | os.PathLike[str] | pandas.DataFrame) -> dict[str, list[str]]:
    """Return the cells of a table of profiles by the names of its columns."""
    if hasattr(source, "columns"):
        table, path = frame_table(source), "the data frame"
    elif isinstance(source, str | os.PathLike):
        table, path = read_table(source), os.fspath(source)
    else:
        raise InvalidArgumentError(
            f"expected profiles in a file or a data frame, got {told(source)}", source
        )
    header = table.header or ()
    if table.uneven:
        raise ModelFileError(f"{path}: {table.uneven[0]}", path)
    if not any(name.lower() in _WEIGHTS for name in header):
        raise ModelFileError(
            f"expected a column for each skill and a column probability or count in {path}, got"
            f" {'no names of columns' if not header else f'the columns {shown(list(header))}'}",
            path,
        )
    return {name: list(map(str, table.column(place))) for place, name in enumerate(header)}


def named_prior(name: str, directory: Path = _HERE) -> str | dict[str, list[str]]:
    """Return the name of a prior, or the columns of the file of this name.

    A name without a suffix is left for `prior_of` to check, unless there is such a file.
    """
    is_file = Path(name).suffix != "" or (directory / name).is_file()
    if name in _NAMES or not is_file:
        return name
    return profile_columns(directory / name)


def prior_of(value: object, bank: ItemBank) -> ItemBank:
    """Return a bank with the prior of a design.

    Parameters
    ----------
    value
        ``"bank"`` or ``"learned"``, ``"uniform"``, or the cells of a table of profiles by the
        names of its columns.
    bank
        The bank.

    Raises
    ------
    InvalidModelError
        If it is none of these, or does not fit the bank.
    """
    if value == UNIFORM_PRIOR:
        return with_prior(bank)
    if isinstance(value, Mapping):
        return with_prior(bank, _of_columns(value, bank))
    if value not in _NAMES:
        raise InvalidModelError(
            [f"expected {UNIFORM_PRIOR}, {BANK_PRIOR} or a file of profiles, got {shown(value)}"]
        )
    return bank


def level_of(cell: object, states: Sequence[str]) -> int | None:
    """Return the level in a cell, by its name or its position; None if there is no such level.

    >>> level_of("high", ("low", "high")), level_of(" 1 ", ("low", "high")), level_of(2, ("0", "1"))
    (1, 1, None)
    """
    text = str(cell).strip()
    if text in states:
        return states.index(text)
    number = number_of(cell)
    if number is None or number % 1 or not 0 <= number < len(states):
        return None
    return int(number)


def _of_columns(columns: Mapping[str, Any], bank: ItemBank) -> Saturated:
    skills = [bank.variable(name) for name in bank.skills]
    weights = next((name for name in columns if name.lower() in _WEIGHTS), None)
    problems = [f"no column for the skill {name}" for name in bank.skills if name not in columns]
    if weights is None:
        problems.append("no column probability or count")
    bad = [name for name, cells in columns.items() if not isinstance(cells, Sequence)]
    problems += [f"expected a list of cells in the column {name}" for name in bad]
    if not bad and len({len(cells) for cells in columns.values()}) > 1:
        problems.append("the columns have different lengths")
    needed = math.prod(v.n_states for v in skills)
    if needed > MAX_PROFILES:
        raise TooLargeError(
            f"expected at most {MAX_PROFILES:,} profiles of a prior in a file, got {needed:,}",
            needed=needed,
            budget=MAX_PROFILES,
        )
    if problems or weights is None:
        raise InvalidModelError(problems)
    joint = _joint(columns, weights, skills)
    total = joint.sum()
    if weights.lower() == "probability" and abs(total - 1) > _ROUNDED:
        problems.append(f"the probabilities of the profiles must sum to 1, got {total:g}")
    elif not total > 0:
        problems.append("expected a profile with a count above 0")
    if problems:
        raise InvalidModelError(problems)
    return Saturated(joint / total)


def _joint(columns: Mapping[str, Any], weights: str, skills: Sequence[Variable]) -> Any:
    """Return the weight of each profile, with an axis for each skill."""
    joint = np.zeros(tuple(v.n_states for v in skills))
    problems: list[str] = []
    seen: dict[tuple[int, ...], int] = {}
    for row, cell in enumerate(columns[weights], start=1):
        weight = number_of(cell)
        if weight is None or not 0 <= weight < math.inf:
            problems.append(f"row {row}: expected a {weights} of at least 0, got {shown(cell)}")
            continue
        levels = [level_of(columns[v.name][row - 1], v.states) for v in skills]
        for skill, level in zip(skills, levels, strict=True):
            if level is None:
                problems.append(
                    f"row {row}: expected a level of {skill.name} among"
                    f" {', '.join(skill.states[:10])}, got {shown(columns[skill.name][row - 1])}"
                )
        place = tuple(level for level in levels if level is not None)
        if len(place) < len(skills):
            continue
        if place in seen:
            problems.append(f"rows {seen[place]} and {row} have the same profile")
        seen[place] = row
        joint[place] = weight
    if problems:
        raise InvalidModelError(first_faults(problems))
    return joint
