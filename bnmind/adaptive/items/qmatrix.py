"""Q-matrices: which item needs which level of which skill, and their files.

Q-matrices in tables as people keep them: with names, bare, with numbered rows, or with crosses.

The packages CDM and GDINA of R use a bare matrix. Its rows and columns get numbers for names;
learning matches such rows with the columns of the responses by position.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import (
    MOST_FAULTS,
    close_names,
    counted,
    did_you_mean,
    each_of,
    one_line,
    shown,
)
from bnmind._values import Raw, Value
from bnmind.adaptive.formulas import ResponseModel
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.items.skill_distributions import ProfileDistribution, Saturated
from bnmind.adaptive.items.text_tables import (
    TextTable,
    are_numbered,
    frame_table,
    is_row_names,
    match_names,
    names_shown,
    number_of,
    read_table,
    rectangular,
)
from bnmind.adaptive.skill_models import made_for_skills
from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.pgm import CPD, Network, TabularCPD, Variable
from bnmind.pgm.tabular import DEFAULT_CELLS
from bnmind.pgm.variable import format_label

_CROSSES = frozenset(["x", "+", "✓", "✔", "✗", "×", "•"])
"""Marks that stand for 1."""

_EMPTY = frozenset(["", "nan", "NaN", "<NA>"])


def _parts(
    table: TextTable, expected: Sequence[str]
) -> tuple[NDArray[Any], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return the entries of the Q-matrix in a table, its items and skills, and notes.

    The names of the items are in a column ``item``, in the only one that holds expected names, or
    in the first column, if it has no name, counts the rows, or holds texts. Empty cells are 0, and
    crosses are 1.

    Raises
    ------
    InvalidModelError
        If a row has too few or too many cells.
    """
    if table.uneven:
        raise InvalidModelError([f"{fault}, in the Q-matrix" for fault in table.uneven])
    rows = [row for row in table.rows if any(_is_given(cell) for cell in row)]
    notes = list(table.notes)
    if len(rows) < len(table.rows):
        notes.append(f"{counted(len(table.rows) - len(rows), 'empty row')} left out")
    place = _item_column(table, rows, expected)
    of_rows = place is not None and table.header is not None and is_row_names(table.header[0])
    columns = [c for c in range(table.n_columns) if c != place and not (of_rows and c == 0)]
    texts = [column for column in columns if _holds_texts(rows, column)]
    if texts and table.header is not None and len(texts) < len(columns):
        columns = sorted(set(columns).difference(texts))
        names = names_shown([table.header[column] for column in texts])
        notes.append(f"columns with texts, not levels, were left out: {names}")
    if place is None:
        items = tuple(f"item_{number}" for number in range(1, len(rows) + 1))
    else:
        items = tuple(format_label(row[place]).strip() for row in rows)
    if table.header is None:
        skills = tuple(f"skill_{number}" for number in range(1, len(columns) + 1))
        notes.append("the first line has no names; the skills are named skill_1 and so on")
    else:
        skills = tuple(table.header[column] for column in columns)
    if set(items) & set(skills) and are_numbered(skills):
        notes.append(renamed_skills(skills))
        skills = tuple(f"skill_{number}" for number in range(1, len(skills) + 1))
    cells = [row[column] for row in rows for column in columns]
    n_crosses = sum(map(_is_cross, cells))
    n_empty = len(cells) - sum(map(_is_given, cells))
    if n_crosses:
        notes.append(f"{counted(n_crosses, 'marked cell')} read as 1")
    if n_empty:
        notes.append(f"{counted(n_empty, 'empty cell')} read as 0")
    needs = np.fromiter(map(_entry, cells), dtype=object, count=len(cells))
    return needs.reshape(len(rows), len(columns)), items, skills, tuple(notes)


def renamed_skills(skills: Sequence[str]) -> str:
    """Return a note about skills with numbers for names, which items have too."""
    return (
        f"the skills {names_shown(skills)} are named skill_1 and so on, because items have these"
        " names, too"
    )


def _holds_texts(rows: Sequence[tuple[Any, ...]], column: int) -> bool:
    """Return whether a column has texts, and no number or cross."""
    given = [row[column] for row in rows if _is_given(row[column])]
    return bool(given) and all(map(_is_text, given))


def _is_given(cell: Any) -> bool:
    return cell is not None and str(cell).strip() not in _EMPTY


def _is_cross(cell: Any) -> bool:
    return isinstance(cell, str) and cell.strip().lower() in _CROSSES


def _is_text(cell: Any) -> bool:
    return _is_given(cell) and number_of(cell) is None and not _is_cross(cell)


def _entry(cell: Any) -> Any:
    """Return the level in a cell; what is none as it is."""
    if _is_cross(cell) or not _is_given(cell):
        return int(_is_cross(cell))
    number = number_of(cell)
    return cell if number is None or number % 1 else int(number)


def _item_column(
    table: TextTable, rows: Sequence[tuple[Any, ...]], expected: Sequence[str]
) -> int | None:
    """Return the column with the names of the items; None if there is none."""
    header = table.header or ("?",) * table.n_columns
    named = [place for place, name in enumerate(header) if name.strip().lower() == "item"]
    if named or table.n_columns < 2 or not rows:
        return named[0] if named else None
    if len(holding := [c for c in range(table.n_columns) if _holds_names(rows, c, expected)]) == 1:
        return holding[0]
    first = [row[0] for row in rows]
    numbers = [number_of(cell) for cell in first]
    if not header[0] or _counts(numbers):
        return 0
    return 0 if any(map(_is_text, first)) and len(set(map(str, first))) == len(first) else None


def _holds_names(rows: Sequence[tuple[Any, ...]], column: int, expected: Sequence[str]) -> bool:
    """Return whether the cells of a column are distinct names among the expected ones."""
    names = [format_label(row[column]).strip() for row in rows]
    match = match_names(expected, names) if len(set(names)) == len(names) > 2 else None
    return match is not None and not match.by_position


def _counts(numbers: Sequence[float | None]) -> bool:
    """Return whether numbers count the rows, from 0 or 1; two rows may do so by chance."""
    return len(numbers) > 2 and any(
        list(numbers) == list(range(start, start + len(numbers))) for start in (0, 1)
    )


MAX_LEVEL = 1000
"""The highest level of a skill that an item may need."""


@dataclass(frozen=True, eq=False)
class QMatrix(Value):
    """The level of each skill that each item needs, with names.

    Parameters
    ----------
    needs
        ``(items, skills)``, 0 where a skill is not needed.
    items
        The items, one for each row.
    skills
        The names of the skills, one for each column.
    notes
        What was guessed or left out when the Q-matrix was read, a sentence each.

    Raises
    ------
    InvalidModelError
        If an item needs no skill, no item needs a skill, an entry is not a whole number of
        at least 0, or names are repeated or missing. All faults are reported at once, with
        rows and columns counted from 1.
    """

    needs: Annotated[NDArray[np.intp], Raw]
    items: tuple[Item, ...]
    skills: tuple[str, ...]
    notes: tuple[str, ...] = ()

    _error = InvalidModelError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(needs=_cells(self.needs).astype(np.float64).astype(np.intp))

    def _faults(self) -> Iterator[str]:
        names = self.item_names
        yield from _name_faults("item", "row", names)
        yield from _name_faults("skill", "column", self.skills)
        for name in sorted(set(names) & set(self.skills)):
            yield f"{name} cannot be both a skill and an item of the Q-matrix; give one a new name"
        entries = _cells(self.needs)
        if entries.shape == (len(names), len(self.skills)) and entries.size:
            yield from _entry_faults(entries, names, self.skills)
        else:
            sizes = f"{counted(len(names), 'item')} and {counted(len(self.skills), 'skill')}"
            got = f"an array of shape {entries.shape} for {sizes}"
            yield f"expected a row for each item and a column for each skill, got {got}"

    @property
    def item_names(self) -> tuple[str, ...]:
        """The names of the items, in the order of the rows."""
        return tuple(item.name for item in self.items)

    @classmethod
    @checked
    def of(
        cls,
        table: Any,
        *,
        items: Sequence[Item | str | int] | None = None,
        skills: Sequence[str | int] | None = None,
        expected: Sequence[str] = (),
    ) -> QMatrix:
        """Return the Q-matrix of an array or a data frame.

        Parameters
        ----------
        table
            ``(items, skills)``. The columns of a data frame name the skills. Its column
            ``item``, its index, or a first column of texts or row numbers names the items.
            Truth values count as 0 and 1, empty cells as 0, and crosses as 1.
        items, skills
            Names that replace those of the table; default ``item_1``, ``skill_1``, …
            Whole numbers are stored as text. An item and a skill must not have the same
            name.
        expected
            The names of the items in the responses. The only column of the table that holds such
            names has those of the items.
        """
        notes: tuple[str, ...] = ()
        if isinstance(table, QMatrix):
            return table
        if hasattr(table, "columns"):
            table = frame_table(table)
        if isinstance(table, TextTable):
            table, own_items, own_skills, notes = _parts(table, expected)
            items = own_items if items is None else items
            skills = own_skills if skills is None else skills
        needs = _cells(table)
        n_rows, n_columns = needs.shape if needs.ndim == 2 else (0, 0)
        if items is None:
            items = [f"item_{number + 1}" for number in range(n_rows)]
        if skills is None:
            skills = [f"skill_{number + 1}" for number in range(n_columns)]
        named_items = tuple(
            item if isinstance(item, Item) else Item(format_label(item)) for item in items
        )
        return cls(needs, named_items, tuple(map(format_label, skills)), notes)

    @checked
    def with_item_names(self, names: Sequence[str]) -> QMatrix:
        """Return this Q-matrix with other names of its items, in the order of the rows.

        Parameters
        ----------
        names
            The names, in the order of the rows.

        Raises
        ------
        InvalidModelError
            If there is not one name for each row.
        """
        if len(names) != len(self.items):
            raise InvalidModelError([f"expected {len(self.items)} items, got {len(names)}"])
        new = {item.name: name for item, name in zip(self.items, names, strict=True)}
        items = (
            replace(
                item,
                name=new[item.name],
                enemies=tuple(new.get(enemy, enemy) for enemy in item.enemies),
            )
            for item in self.items
        )
        return replace(self, items=tuple(items))


def _cells(table: Any) -> NDArray[Any]:
    """Return the entries of a Q-matrix as an array; raises `InvalidModelError` if ragged."""
    if isinstance(table, str | os.PathLike):
        raise InvalidModelError(
            [f"expected a Q-matrix as a table, got the path {shown(table)}; use pandas.read_csv"]
        )
    entries = rectangular(table, "cell", " of the Q-matrix", InvalidModelError)
    return entries.astype(object) if entries.dtype.kind not in "biuf" else entries


def _entry_faults(
    entries: NDArray[Any], names: Sequence[str], skills: Sequence[str]
) -> Iterator[str]:
    """Yield the wrong entries of a Q-matrix, then empty rows and columns."""
    cells = entries.tolist()
    levels = [[_level(cell) for cell in row] for row in cells]
    wrong = [(r, c) for r, row in enumerate(levels) for c, level in enumerate(row) if level is None]
    for row, column in wrong[:MOST_FAULTS]:
        yield (
            f"expected a whole number from 0 to {MAX_LEVEL} in row {row + 1} (item"
            f" {one_line(names[row], longest=60)}), column {skills[column]} of the Q-matrix,"
            f" got {shown(cells[row][column])}"
        )
    whole = np.array(levels) != 0  # a wrong entry is not also missing
    for row in np.flatnonzero(~np.any(whole, axis=1))[:MOST_FAULTS].tolist():
        name = one_line(names[row], longest=60)
        yield f"item {name} needs no skill, in row {row + 1} of the Q-matrix"
    for column in np.flatnonzero(~np.any(whole, axis=0))[:MOST_FAULTS].tolist():
        yield f"no item needs skill {skills[column]}, in column {column + 1} of the Q-matrix"


def _level(cell: Any) -> int | None:
    """Return the level in a cell of a Q-matrix; None if the cell is not a valid level."""
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return int(number) if 0 <= number <= MAX_LEVEL and number % 1 == 0 else None


def _name_faults(kind: str, line: str, names: Sequence[Any]) -> list[str]:
    """Return faults of the names of items or skills, with their rows or columns."""
    places: dict[Any, list[str]] = {}
    for place, name in enumerate(names, 1):
        places.setdefault(name, []).append(str(place))
    problems = [
        f"{kind} {name} occurs more than once in the Q-matrix, in {line}s {', '.join(lines[:12])}"
        for name, lines in places.items()
        if name and len(lines) > 1
    ]
    for name, lines in places.items():
        try:
            Variable(name, ("0",))
        except InvalidModelError as fault:
            problems += [f"{p}, in {line} {lines[0]} of the Q-matrix" for p in fault.problems]
    return problems


def bank_parts(
    q: QMatrix,
    response_models: Sequence[ResponseModel],
    skills: Sequence[CPD],
) -> tuple[Network, tuple[str, ...], tuple[Item, ...]]:
    """Return the network, skills and items of the bank of a Q-matrix and response models."""
    problems: list[str] = []
    if len(response_models) != len(q.items):
        raise InvalidModelError(
            [
                f"expected {len(q.items)} response models, one for each item,"
                f" got {len(response_models)}"
            ]
        )
    cpds = list(skills)
    by_name = {cpd.variable.name: cpd.variable for cpd in cpds}
    items = []
    cells = 0
    for item, needs, model in zip(q.items, q.needs, response_models, strict=True):
        parents = [by_name[q.skills[column]] for column in np.flatnonzero(needs)]
        problems += [
            f"expected a level of {parent.name} below {parent.n_states} in the Q-matrix at item"
            f" {item.name}, got {level}"
            for parent, level in zip(parents, needs[needs > 0].tolist(), strict=True)
            if level >= parent.n_states
        ]
        if problems:
            continue
        try:
            variable = Variable.of_integers(item.name, range(model.n_responses))
            cpd = model.cpd(variable, parents)
            cells += cpd.n_cells if isinstance(cpd, TabularCPD) else 0
            if cells > DEFAULT_CELLS:
                raise TooLargeError(
                    f"the tables of the items up to {item.name} have {cells:,} cells; the limit"
                    f" is {DEFAULT_CELLS:,}: use a noisy-and or noisy-or for items with many"
                    " skills, which need no table",
                    needed=cells,
                    budget=DEFAULT_CELLS,
                )
            cpds.append(cpd)
            items.append(replace(item, gate=model))
        except InvalidModelError as fault:
            problems += fault.problems
    if problems:
        raise InvalidModelError(problems)
    return Network(tuple(cpds)), q.skills, tuple(items)


def models_for(
    q: QMatrix,
    skills: Sequence[CPD],
    make: Callable[..., ResponseModel],
    *,
    guess: ArrayLike,
    slip: ArrayLike,
) -> list[ResponseModel]:
    """Return a response model for each item that requires the levels in a Q-matrix.

    Parameters
    ----------
    q, skills
        The Q-matrix, and the distributions of all skills.
    make
        A function of a guess and a slip, or a class with the method ``for_skills``.
    guess, slip
        A number, or one for each item.

    Raises
    ------
    InvalidModelError
        If a parameter is out of range; the message names the item.
    """
    problems, columns = [], []
    for what, parameter in (("guesses", guess), ("slips", slip)):
        values = np.asarray(parameter, dtype=np.float64)
        if values.shape in ((), (len(q.items),)):
            columns.append(np.broadcast_to(values, (len(q.items),)).tolist())
        else:
            got = f"an array of shape {values.shape}"
            problems.append(f"expected a number or {len(q.items)} {what}, got {got}")
    if problems:
        raise InvalidModelError(problems)
    known = {cpd.variable.name: cpd.variable.n_states for cpd in skills}
    sizes, models = np.array([known[name] for name in q.skills]), list[ResponseModel]()
    for item, needs, g, s in zip(q.items, q.needs, *columns, strict=True):
        required, n_levels = needs[needs > 0].tolist(), sizes[needs > 0].tolist()
        try:
            models.append(made_for_skills(make, required, n_levels, guess=g, slip=s))
        except InvalidModelError as fault:
            problems += [f"{problem}, in item {item.name}" for problem in fault.problems]
    if problems:
        raise InvalidModelError(problems)
    return models


def skill_cpds(
    q: QMatrix, skills: ProfileDistribution | Network | None, levels: int | Sequence[int]
) -> list[CPD]:
    """Return the distributions of the skills and of other hidden variables.

    A network of the skills determines the numbers of levels itself.
    """
    if isinstance(skills, Network):
        known = {v.name for v in skills.variables}
        if unknown := [name for name in q.skills if name not in known]:
            close = {name: did_you_mean(close_names(name, known)) for name in unknown}
            raise InvalidModelError(
                f"the network of the skills has no variable for skill {name}"
                + (f"; {question}" if question else "")
                for name, question in close.items()
            )
        # Variables on which no skill depends, such as items, tell nothing about the skills.
        needed = {*q.skills, *skills.ancestors(q.skills)}
        return [cpd for cpd in skills.cpds if cpd.variable.name in needed]
    each = np.asarray(levels)
    fits = each.ndim == 0 or each.shape == (len(q.skills),)
    if not fits or each.dtype.kind not in "iu" or np.any((each < 2) | (each > MAX_LEVEL + 1)):
        raise InvalidModelError(
            [
                f"expected 2 to {MAX_LEVEL + 1} levels, for all or for"
                f" {each_of(len(q.skills), 'skill')}, got {levels}"
            ]
        )
    variables = [
        Variable.of_integers(name, range(int(n)))
        for name, n in zip(q.skills, np.broadcast_to(each, (len(q.skills),)), strict=True)
    ]
    return list((skills or Saturated()).cpds(variables))


@checked
def read_qmatrix(path: str | os.PathLike[str], *, expected: Sequence[str] = ()) -> QMatrix:
    """Return the Q-matrix in a text file.

    The first line names the skills. Each further line holds the name of an item and the
    level that it needs of each skill, 0 for a skill that is not needed. A column ``item``
    names the items, or the only one with expected names, or a first column that has no name,
    counts the rows, or holds texts.
    Without names the items are ``item_1``, ``item_2``, … and the skills ``skill_1``, …

    Cells are separated by commas, semicolons, tabs, vertical bars or blanks. Truth values
    count as 0 and 1, empty cells as 0, and crosses as 1. `QMatrix.notes` lists all that was
    guessed.

    Parameters
    ----------
    path
        The file: text with a line for each item.
    expected
        The names of the items in the responses, as for `QMatrix.of`.

    Raises
    ------
    ModelFileError
        If the file cannot be read.
    InvalidModelError
        If a line has too few or too many cells, a cell is not a whole number of at least
        0, an item needs no skill, or no item needs a skill. All faults are reported at
        once, with rows and columns.
    """
    return QMatrix.of(read_table(path), expected=expected)
