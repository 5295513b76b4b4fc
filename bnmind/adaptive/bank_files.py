"""Item banks in files: the bank, tables that describe its items, and priors of other examinees.

============================  =====================================================
file                          content
============================  =====================================================
``bank.json``                 the whole bank, see `bnmind.adaptive.records`
``bank.xdsl``, ``.bif``, …    the network, for programs that read its format; skills
                              and items, with all their properties, are in
                              ``bank.xdsl.roles.json``; without this file, those of an
                              XDSL file are GeNIe's targets and ranked observations
============================  =====================================================

In GeNIe's diagnostic networks, targets become skills. Ranked observations, or all if none is
ranked, become items, with the observation costs and the question texts. All other nodes are hidden
variables. Responses keep the order of the states in the file.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._files import LARGE_FILE, encoded, read_bytes, read_text, write_files
from bnmind._messages import counted, first_faults, listed, shown
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.items.skill_distributions import (
    BANK_PRIOR,
    MAX_PROFILES,
    UNIFORM_PRIOR,
    Independent,
    ProfileDistribution,
    Saturated,
)
from bnmind.adaptive.items.text_tables import (
    TextTable,
    clean,
    level_of,
    match_names,
    named_table,
    names_shown,
    number_of,
)
from bnmind.adaptive.response_tables import choices_in, item_columns
from bnmind.errors import InvalidModelError, ModelFileError, TooLargeError
from bnmind.pgm import Network
from bnmind.pgm.encoded_names import decoded
from bnmind.pgm.files import FILE_CELLS, NETWORK_SUFFIXES, model_contents, read_network
from bnmind.pgm.formats.declared import ModelFileWarning
from bnmind.pgm.formats.xml import Element, smile_of
from bnmind.questions.asked import read_diagnosis

if TYPE_CHECKING:
    import pandas

_SHOWN = 6
"""Names that an error shows."""


@checked
def write_bank(
    bank: ItemBank | HasBank, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> None:
    """Write a bank to a file, in the format of its suffix.

    Parameters
    ----------
    bank
        The bank, or what `learn` returns. ``.json`` files keep response models; other formats
        store tables.
    path
        Replaced if it exists, together with the file of roles beside it. If anything
        fails, all files stay as they were.
    max_cells
        The limit of cells in one table.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, the format cannot hold the network, or a file cannot be written;
        the message names the file.
    TooLargeError
        If a table has more cells.
    """
    write_files(bank_contents(bank_of(bank), path, max_cells=max_cells))


def bank_contents(
    bank: ItemBank, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> dict[Path, bytes]:
    """Return the content of each file that `write_bank` writes, in the order of writing.

    Parameters and errors are those of `write_bank`. Before long work, call it with the
    initial bank to find out whether the final bank could be written.
    """
    from bnmind.adaptive.records import bank_to_json, roles_to_json

    if Path(path).suffix.lower() == ".json":
        texts = {Path(path): bank_to_json(bank, max_cells=max_cells)}
    else:
        # The network first and the roles last: a network without roles is not read as a bank.
        texts = model_contents(bank.network, path, max_cells=max_cells)
        texts[_roles(path)] = roles_to_json(bank)
    return {place: encoded(place, text) for place, text in texts.items()}


@checked
def read_bank(path: str | os.PathLike[str], *, normalize: bool = False) -> ItemBank:
    """Return the bank in a file.

    Parameters
    ----------
    path
        A file that `write_bank` wrote, or another program that knows the format of the network.
    normalize
        As for `bnmind.pgm.files.read_network`, where the bank is the file of a network.

    Raises
    ------
    ModelFileError
        If the suffix is unknown, a file cannot be read, or its content is not a bank; the
        message names the file.
    TooLargeError
        If the tables would have too many cells. None is allocated.
    """
    from bnmind.adaptive.records import bank_from_json, roles_from_json

    suffix = Path(path).suffix.lower()
    if suffix not in NETWORK_SUFFIXES:
        raise ModelFileError(
            "expected a bank, a file whose name ends in .json (or"
            f" {', '.join(one for one in NETWORK_SUFFIXES if one != '.json')}), got"
            f" {Path(path).name!r}",
            str(path),
        )
    is_json = suffix == ".json"
    place = Path(path) if is_json else _roles(path)
    text = read_text(place, most=LARGE_FILE) if is_json or place.exists() else None
    if text is None:
        place = Path(path)
    elif not text.strip():
        raise ModelFileError(f"{place} is empty", str(place))
    network = None if is_json else read_network(path, normalize=normalize)
    try:
        if network is None:
            return bank_from_json(text or "")
        return _of_marks(path, network) if text is None else roles_from_json(text, network)
    except (ModelFileError, InvalidModelError) as fault:
        raise ModelFileError(f"{fault}, in {place}", str(place)) from fault
    except TooLargeError as fault:
        raise TooLargeError(
            f"{fault}, in {place}", needed=fault.needed, budget=fault.budget
        ) from fault


def _of_marks(path: str | os.PathLike[str], network: Network) -> ItemBank:
    """Return the bank of a network whose file itself tells the roles of the variables."""
    if Path(path).suffix.lower() == ".xdsl":
        return genie_bank(path, network)
    inner = {v.name for cpd in network.cpds for v in cpd.parents}
    items = [c.variable.name for c in network.cpds if c.parents and c.variable.name not in inner]
    skills = [v.name for v in network.variables if v.name in inner]
    line = (
        f'{{"schema": "bnmind-roles", "version": 1, "skills": {_some(skills)}, "items":'
        f" {_some(items)}}}"
    )
    raise ModelFileError(
        f"expected the skills and items of the network beside it: write a file"
        f" {_roles(path).name} with the line {line}"
    )


def _some(names: Sequence[str]) -> str:
    """Return the records of the first names as a list of JSON."""
    texts = [json.dumps({"name": name}, ensure_ascii=False) for name in names[:_SHOWN]]
    return f"[{', '.join([*texts, '…'] if len(names) > _SHOWN else texts)}]"


def _roles(path: str | os.PathLike[str]) -> Path:
    return Path(path).with_name(f"{Path(path).name}.roles.json")


_COST = ("cost", "observationcost", "observcost", "observation_cost")


def genie_bank(path: str | os.PathLike[str], network: Network) -> ItemBank:
    """Return the bank of a diagnostic network of GeNIe.

    Parameters
    ----------
    path
        The XDSL file.
    network
        The network in it.

    Raises
    ------
    ModelFileError
        If the file marks no targets, or no observations that depend on them.

    Warns
    -----
    ModelFileWarning
        If observations cannot be items, or targets cannot be skills.
    """
    marks = read_diagnosis(path)
    if not marks.targets or not marks.observations:
        raise ModelFileError(
            "expected nodes that GeNIe marks as targets and observations, or a file of roles"
            f" beside the network; got {counted(len(marks.targets), 'target')} and"
            f" {counted(len(marks.observations), 'observation')}"
        )
    observed, below = marks.ranked or marks.observations, set(network.descendants(marks.targets))
    items = [name for name in observed if name in below and not network.children(name)]
    measured = set(network.ancestors(items))
    skills = tuple(name for name in marks.targets if name in measured)
    hidden = "are hidden variables of the bank"
    others = set(observed) - set(items)
    _warn(f"observations with children, or that depend on no target, {hidden}", others)
    _warn(f"targets on which no observation depends, {hidden}", set(marks.targets) - set(skills))
    if not items:
        raise ModelFileError("expected observations that depend on targets, got none")
    root, is_encoded = smile_of(read_bytes(path, most=LARGE_FILE))
    labels: dict[str, str] = {}
    questions: dict[str, str] = {}
    costs: dict[str, float] = {}
    several = set()
    for parent, entry in _below(root):
        name, text = parent.attributes.get("id", ""), " ".join(entry.words)
        if entry.tag == "question":
            name = decoded(name) if is_encoded else name
            questions[name] = f"{questions.get(name, '')} {text}".strip()
        elif entry.tag == "name" and parent.tag == "node":
            labels.setdefault(name, text if text != name else "")
        elif entry.tag.lower() in _COST or "cost" in parent.tag.lower():
            name = entry.attributes.get("id", name)
            name = decoded(name) if is_encoded else name
            if len(entry.words) > 1:
                several.add(name)
            elif text and name not in costs:
                try:
                    costs[name] = float(text)
                except ValueError:
                    fault = entry.place.fault(f"expected the cost of {name}, got {text[:40]}")
                    raise fault from None
    _warn("costs that depend on other nodes count as 1", several)
    titles = (e.attributes.get("name", "") for _, e in _below(root) if e.tag == "genie")
    return ItemBank(
        network=network,
        skills=skills,
        items=tuple(
            Item(
                name,
                text=questions.get(name) or labels.get(name, ""),
                cost=cost if (cost := costs.get(name, 1.0)) > 0 and name not in several else 1.0,
            )
            for name in items
        ),
        title=next(filter(None, titles), ""),
        labels=tuple(labels.get(name) or name for name in skills),
    )


def _warn(what: str, names: Iterable[str]) -> None:
    """Warn of names, if there are any."""
    if some := sorted(names):
        warnings.warn(f"{what}: {', '.join(some)}", ModelFileWarning, stacklevel=5)


def _below(element: Element) -> Iterator[tuple[Element, Element]]:
    """Yield all elements below another, each with its parent."""
    for child in element.children:
        yield element, child
        yield from _below(child)


# --- Descriptions of items and skills in tables ---------------------------------------------------

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
        bank = replace(bank, items=_described_items(bank, named_table("items", items)))
    if skills is not None:
        bank = replace(bank, labels=_skill_labels(bank, named_table("skills", skills)))
    return bank


def _rows(table: TextTable, kind: str, names: Sequence[str]) -> list[int | None]:
    """Return the row of each name; None, with a warning, for a name without a row."""
    texts = table.names_of(kind)
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


def _described_items(bank: ItemBank, table: TextTable) -> tuple[Item, ...]:
    rows = _rows(table, "item", bank.item_names)
    columns = item_columns(table)
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
        given = {} if row is None else {field: cells[row] for field, cells in columns.items()}
        values = {field: _value(field, cell) for field, cell in given.items() if clean(cell)}
        key = values.pop("key", "")
        try:
            if "choices" in values:
                values["choices"] = choices_in(values["choices"], key, bank.responses(item.name))
            described.append(replace(item, **values))
        except InvalidModelError as fault:
            problems += [one.replace("Item:", f"item {item.name}:") for one in fault.problems]
        except ValueError as fault:
            problems.append(f"the choices of item {item.name}: {fault}")
    if problems:
        raise InvalidModelError(problems)
    return tuple(described)


def _skill_labels(bank: ItemBank, table: TextTable) -> tuple[str, ...]:
    header = [name.lower() for name in table.header or ()]
    rows = _rows(table, "skill", bank.skills)
    named = [header.index(name) for name in _LABELS if name in header[1:]]
    place = named[0] if named else 1
    if place >= len(header):
        raise InvalidModelError(["expected a column label of the skills"])
    texts = [None if row is None else clean(table.column(place)[row]) for row in rows]
    return tuple(text or label for text, label in zip(texts, bank.labels, strict=True))


def _value(field: str, cell: Any) -> Any:
    """Return the value of a field of an item; a cell that is none as it is."""
    if field == "enemies":
        return tuple(part.strip() for part in str(cell).split(";"))
    number = number_of(cell)
    if field == "shuffle":
        truth = {"yes": 1.0, "no": 0.0}.get(clean(cell).lower(), number)
        return bool(truth) if truth in (0, 1) else cell
    if field in ("cost", "time"):
        return cell if number is None else number
    return clean(cell)


# --- Priors: the distribution of the skills from which a test starts ------------------------------
#
# A learned bank has the distribution of the skills among the examinees it was learned from. A test
# for other people may start from a uniform distribution, as cdcatR does by default, or from one in
# a file: a table with a column for each skill and a column ``probability`` or ``count``. Each row
# is a profile, and profiles without a row are impossible.

_PRIORS = {BANK_PRIOR, UNIFORM_PRIOR, "learned"}

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
        If the file cannot be read.
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
    table = named_table("profiles", source)
    return {name: list(map(str, table.column(place))) for place, name in enumerate(table.names)}


def named_prior(name: str, directory: Path = _HERE) -> str | dict[str, list[str]]:
    """Return the name of a prior, or the columns of the file of this name.

    A name without a suffix is left for `prior_of` to check, unless there is such a file.
    """
    is_file = Path(name).suffix != "" or (directory / name).is_file()
    if name in _PRIORS or not is_file:
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
    if value not in _PRIORS:
        raise InvalidModelError(
            [f"expected {UNIFORM_PRIOR}, {BANK_PRIOR} or a file of profiles, got {shown(value)}"]
        )
    return bank


def _of_columns(columns: Mapping[str, Any], bank: ItemBank) -> Saturated:
    skills = [bank.variable(name) for name in bank.skills]
    needed = math.prod(v.n_states for v in skills)
    if needed > MAX_PROFILES:
        raise TooLargeError(
            f"expected at most {MAX_PROFILES:,} profiles of a prior in a file, got {needed:,}",
            needed=needed,
            budget=MAX_PROFILES,
        )
    weights = next((name for name in columns if name.lower() in _WEIGHTS), None)
    problems = [f"no column for the skill {name}" for name in bank.skills if name not in columns]
    if weights is None:
        problems.append(f"expected a column probability or count, got {shown(list(columns))}")
    sizes = [len(cells) if isinstance(cells, Sequence) else -1 for cells in columns.values()]
    if len(set(sizes)) > 1 or -1 in sizes:
        problems.append("expected a list of equally many cells in each column")
    if problems or weights is None:
        raise InvalidModelError(problems)
    joint = np.zeros(tuple(v.n_states for v in skills))
    seen: dict[tuple[int, ...], int] = {}
    rows = zip(columns[weights], *(columns[v.name] for v in skills), strict=True)
    for row, (cell, *profile) in enumerate(rows, start=1):
        weight = number_of(cell)
        if weight is None or not 0 <= weight < math.inf:
            problems.append(f"row {row}: expected a {weights} of at least 0, got {shown(cell)}")
            continue
        place = []
        for skill, name in zip(skills, profile, strict=True):
            if (level := level_of(name, skill.states)) is None:
                some = ", ".join(skill.states[:10])
                problems.append(
                    f"row {row}: expected a level of {skill.name} among {some}, got {shown(name)}"
                )
            else:
                place.append(level)
        if len(place) < len(skills):
            continue
        first = seen.setdefault(tuple(place), row)
        if first != row:
            problems.append(f"rows {first} and {row} have the same profile")
        joint[tuple(place)] = weight
    total = joint.sum()
    if not problems and weights.lower() == "probability" and abs(total - 1) > _ROUNDED:
        problems.append(f"the probabilities of the profiles must sum to 1, got {total:g}")
    elif not problems and not total > 0:
        problems.append("expected a profile with a count above 0")
    if problems:
        raise InvalidModelError(first_faults(problems))
    return Saturated(joint / total)
