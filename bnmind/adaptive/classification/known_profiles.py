"""Classifications compared with profiles that are known, as of simulated examinees.

References
----------
H. Huebner and C. Wang, "A note on comparing examinee classification methods for cognitive
diagnosis models", Educ. Psychol. Meas. 2011 (patterns and attributes, MAP and EAP).
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, text_of
from bnmind._messages import MOST_FAULTS, counted, first_faults, shown
from bnmind._values import Value, told
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.name_match import is_row_names, names_shown
from bnmind.adaptive.items.priors import level_of
from bnmind.adaptive.items.tables.text_table import TextTable, frame_table, read_table
from bnmind.adaptive.responses.columns import is_examinee_name
from bnmind.errors import InvalidArgumentError, TableError

if TYPE_CHECKING:
    import pandas

__all__ = [
    "Agreement",
    "KnownProfiles",
    "SkillAgreement",
    "agreement",
    "read_profiles",
    "share_text",
]

_ID_COLUMNS = ("examinee", "id")


@dataclass(frozen=True)
class SkillAgreement(Value):
    """How often the level of a skill is the known one."""

    skill: str
    """The name of the skill."""
    most_probable_profile: float
    """By the most probable profile (MAP)."""
    marginals: float
    """By the most probable level of the skill by itself (EAP)."""


@dataclass(frozen=True, kw_only=True)
class Agreement(Result, Value):
    """How often classifications are the known profiles."""

    n_examinees: int
    """The examinees whose whole profile is known."""
    pattern_accuracy: float
    """The share whose most probable profile (MAP) is right as a whole."""
    pattern_accuracy_marginals: float
    """The share whose most probable levels, each by itself (EAP), are all right."""
    attribute_accuracy: float
    """The share of right levels in the most probable profiles, over all skills."""
    attribute_accuracy_marginals: float
    """The share of right levels of the skills by themselves."""
    skills: tuple[SkillAgreement, ...]
    """Each skill."""

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as a record for JSON."""
        return dict(finite(asdict(self)))

    def _shown(self) -> Iterator[str | Table]:
        rows = [
            ("whole profile", self.pattern_accuracy, self.pattern_accuracy_marginals),
            ("mean of skills", self.attribute_accuracy, self.attribute_accuracy_marginals),
            *((one.skill, one.most_probable_profile, one.marginals) for one in self.skills),
        ]
        examinees = counted(self.n_examinees, "examinee")
        yield f"Shares of right classifications, for {examinees} with a known profile:"
        yield Table(("", "MAP", "EAP"), [(one, share_text(a), share_text(b)) for one, a, b in rows])

    __repr__ = text_of


def share_text(share: float) -> str:
    """Return a share with three digits, or a dash for a share of nothing."""
    return "-" if math.isnan(share) else f"{share:.3f}"


def agreement(
    skills: Sequence[str],
    profiles: NDArray[np.intp],
    marginals: NDArray[np.intp],
    known: NDArray[np.intp],
) -> Agreement:
    """Return how often classifications ``(examinees, skills)`` are the known levels.

    `MISSING` where a level is not known. Shares of nothing are NaN.
    """
    is_known = known != MISSING
    whole = is_known.all(axis=1)
    by_profile, by_marginal = profiles == known, marginals == known
    rows = [
        SkillAgreement(
            skill,
            _share(by_profile[is_known[:, k], k]),
            _share(by_marginal[is_known[:, k], k]),
        )
        for k, skill in enumerate(skills)
    ]
    return Agreement(
        n_examinees=int(whole.sum()),
        pattern_accuracy=_share(by_profile[whole].all(axis=1)),
        pattern_accuracy_marginals=_share(by_marginal[whole].all(axis=1)),
        attribute_accuracy=_share(by_profile[is_known]),
        attribute_accuracy_marginals=_share(by_marginal[is_known]),
        skills=tuple(rows),
    )


@dataclass(frozen=True, eq=False)
class KnownProfiles(Value):
    """Profiles that are known. Created by `read_profiles`."""

    levels: NDArray[np.intp]
    """``(examinees, skills)``, the positions of the levels; `MISSING` where unknown."""
    notes: tuple[str, ...] = ()
    """How the file was read, where that may surprise."""


@checked
def read_profiles(
    path: str | os.PathLike[str] | pandas.DataFrame, bank: ItemBank, examinees: Sequence[str]
) -> KnownProfiles:
    """Return the profiles in a text file or a data frame.

    Parameters
    ----------
    path
        The file or the data frame: a column for each skill with the names or positions of
        levels, empty or NA where a level is not known. A column such as ``examinee`` or ``id``,
        or a first column of row names as R writes it, names the examinees; other columns are
        ignored. If no column has the name of a skill, and there are as many columns as skills,
        they are matched by position.
    bank
        The bank that names the skills and their levels.
    examinees
        The names of the examinees. Rows are matched with them by name if all names are in
        the file. Otherwise examinees 1, 2, … are the rows with these numbers, and others are
        matched by position.

    Raises
    ------
    ModelFileError
        If the file cannot be read.
    TableError
        If a skill has no column, a level is unknown, rows and examinees do not match, or
        several rows have the name of one examinee.
    """
    table = _headed(_table(path), bank, len(examinees))
    columns, ids = _columns(table, bank.skills)
    problems = [*table.uneven]
    if absent := [skill for skill in bank.skills if skill not in columns]:
        what = "skill" if len(absent) == 1 else "skills"
        problems.append(f"there is no column for the {what} {names_shown(absent)}")
    if problems:
        raise TableError(first_faults(problems))
    body, by_position = _in_order(table.rows, ids, examinees)
    levels = np.full((len(body), len(bank.skills)), MISSING, dtype=np.intp)
    for k, skill in enumerate(bank.skills):
        states = bank.variable(skill).states
        for place, row in enumerate(body):
            cell = row[columns[skill]]
            level = _level(cell, states)
            if level is None and len(problems) < MOST_FAULTS:
                problems.append(
                    f"expected a level of {skill} among {', '.join(states[:10])} for examinee"
                    f" {examinees[place]}, got {shown(cell)}"
                )
            levels[place, k] = MISSING if level is None else level
    if problems:
        raise TableError(problems)
    notes = [*table.notes]
    if by_position and ids is not None:
        notes.append(
            "the file of profiles names other examinees than the responses, so its rows are matched"
            " with them by position"
        )
    if by_position and ids is None and not all(name.isdecimal() for name in examinees):
        notes.append(
            "the file of profiles has no names of examinees, so its rows are matched with the"
            " responses by position"
        )
    return KnownProfiles(levels, tuple(notes))


def _table(source: Any) -> TextTable:
    """Return the table in a file, or of a data frame."""
    if hasattr(source, "columns"):
        return frame_table(source)
    if not isinstance(source, str | os.PathLike):
        raise InvalidArgumentError(
            f"expected profiles in a file or a data frame, got {told(source)}", source
        )
    return read_table(source)


def _headed(table: TextTable, bank: ItemBank, n_examinees: int) -> TextTable:
    """Return a table whose first row is the header, if it names the skills.

    Names such as 1 and 2 look like levels to a reader who does not know the skills.
    """
    if table.header is not None or not table.rows:
        return table
    first = tuple(str(cell).strip() for cell in table.rows[0])
    states = [bank.variable(skill).states for skill in bank.skills]
    strange = [
        name for name in first if name and all(level_of(name, own) is None for own in states)
    ]
    is_one_more = len(table.rows) == n_examinees + 1
    if set(bank.skills) <= set(first):
        names_columns = is_one_more or not {*bank.skills}.isdisjoint(strange)
    else:
        names_columns = is_one_more and bool(strange) and table.n_columns == len(bank.skills)
    return replace(table, header=first, rows=table.rows[1:]) if names_columns else table


def _columns(table: TextTable, skills: Sequence[str]) -> tuple[dict[str, int], int | None]:
    """Return the column of each skill that has one, and that with the names of examinees."""
    header = table.header or ("",) * table.n_columns
    ids = [place for place, name in enumerate(header) if name.lower() in _ID_COLUMNS]
    ids += [place for place, name in enumerate(header) if is_examinee_name(name)]
    if table.header and is_row_names(header[0]) and len(header) > len(skills):
        ids.append(0)
    ids = [place for place in ids if header[place] not in skills][:1]
    found = {skill: header.index(skill) for skill in skills if skill in header}
    rest = [place for place in range(len(header)) if place not in ids]
    if not found and len(rest) == len(skills):
        found = dict(zip(skills, rest, strict=True))
    return found, ids[0] if ids else None


def _in_order(
    rows: Sequence[tuple[Any, ...]], ids: int | None, examinees: Sequence[str]
) -> tuple[Sequence[tuple[Any, ...]], bool]:
    """Return the row of each examinee, and whether rows are matched by position."""
    if ids is not None:
        by_name = {str(row[ids]): row for row in rows}
        if all(name in by_name for name in examinees):
            rows_of = Counter(str(row[ids]) for row in rows)
            repeated = [
                f"expected one row for examinee {shown(name)}, got {rows_of[name]}"
                for name in dict.fromkeys(examinees)
                if rows_of[name] > 1
            ]
            if repeated:
                raise TableError(first_faults(repeated))
            return [by_name[name] for name in examinees], False
    numbers = [int(name) for name in examinees if name.isdecimal()]
    if len(numbers) == len(examinees) and 1 <= min(numbers) <= max(numbers) <= len(rows):
        return [rows[number - 1] for number in numbers], True
    if len(rows) != len(examinees):
        n = len(examinees)
        whom = "the examinee" if n == 1 else f"each of the {n} examinees"
        raise TableError(
            [
                f"expected a row for {whom}, or a column examinee"
                f" with their names; got {counted(len(rows), 'row')} without these names"
            ]
        )
    return rows, True


def _level(cell: Any, states: Sequence[str]) -> int | None:
    """Return the level in a cell: `MISSING` if it is empty, None if there is no such level."""
    text = str(cell).strip()
    if text in ("", "NA", "nan"):
        return MISSING
    return level_of(cell, states)


def _share(hits: NDArray[np.bool_]) -> float:
    return float(hits.mean()) if hits.size else float("nan")
