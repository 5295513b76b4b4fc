"""The distribution of the skills from which a test starts: that of the bank, or another one.

A learned bank has the distribution of the skills among the examinees it was learned from. A test
for other people may start from a uniform distribution, as cdcatR does by default, or from one in a
file. The file is a table with a column for each skill and a column ``probability`` or ``count``;
each row is a profile, and profiles without a row are impossible.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import first_faults, listed, shown
from bnmind._values import told
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.skill_distributions import (
    MAX_PROFILES,
    Independent,
    ProfileDistribution,
    Saturated,
)
from bnmind.adaptive.items.tables.text_table import frame_table, number_of, read_table
from bnmind.errors import InvalidArgumentError, InvalidModelError, ModelFileError, TooLargeError
from bnmind.pgm import Network, Variable

if TYPE_CHECKING:
    import pandas

__all__ = [
    "BANK_PRIOR",
    "UNIFORM_PRIOR",
    "level_of",
    "named_prior",
    "prior_of",
    "profile_columns",
    "read_prior",
    "with_prior",
]

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
