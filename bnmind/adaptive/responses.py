"""The responses of examinees to items: recorded, drawn from a model, learned and replayed alike."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, positions, whole_array
from bnmind._messages import (
    MOST_FAULTS,
    counted,
    each_of,
    first_faults,
    many,
    shown,
)
from bnmind._values import Count, Natural, Value, sealed
from bnmind.adaptive.beliefs import MISSING
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.items.text_tables import (
    TextTable,
    are_numbered,
    frame_table,
    match_names,
    names_shown,
    read_table,
    rectangular,
)
from bnmind.adaptive.response_tables import (
    FEW_CELLS,
    MAX_CODE,
    TableOptions,
    answer_keys,
    answered_rows,
    cell_faults,
    format_place,
    left_out_note,
    read_responses,
    wide_table,
)
from bnmind.errors import (
    BnmindError,
    InvalidArgumentError,
    InvalidModelError,
    TableError,
    TooLargeError,
)
from bnmind.information import Floats
from bnmind.pgm import Variable
from bnmind.pgm.variable import format_label, name_fault

if TYPE_CHECKING:
    import pandas

MAX_NUMBERS = 2**27
"""The limit of random numbers drawn in advance for examinees: a gigabyte."""

Levels = NDArray[np.intp]
"""``(examinees, skills)`` positions of levels; `MISSING` where unknown."""


def _nothing() -> NDArray[np.intp]:
    return np.empty((0, 0), dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Responses(Value):
    """The response of each examinee to each item; responses may be missing.

    Parameters
    ----------
    codes
        ``(examinees, items)`` positions of the responses, 0 the worst; −1 for a missing
        response.
    items
        The names of the items, one for each column.
    examinees
        The names of the examinees, one for each row; default "1", "2", …
    groups
        The group of each examinee; empty if there are none.
    skills
        The variables of the skills whose true levels are known; may be empty.
    levels
        ``(examinees, skills)``, the true levels; `MISSING` where unknown.
    order
        ``(examinees, questions)`` columns of the items in the order asked, `MISSING` where there
        is none; no questions if the items asked did not depend on the answers.
    numbers
        ``(examinees,)`` distinct numbers of at least 0, which determine the random numbers
        of selectors that draw; default 0, 1, … `take` preserves them.
    notes
        What was guessed or left out when the responses were read, a sentence each.

    Raises
    ------
    TableError
        If a code or a level is out of range, a name is repeated, or an examinee has no response at
        all. All faults are reported at once, with rows and columns.

    Examples
    --------
    >>> Responses([[1, 0], [-1, 1]], ("easy", "hard"))
    Responses(2 examinees, 2 items, 1 missing)
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> Responses.drawn(bank, 1000, seed=1)
    Responses(1,000 examinees, 2 items, 0 missing, 2 skills known)
    """

    codes: Annotated[NDArray[np.signedinteger[Any]], Ge(MISSING), Le(MAX_CODE)]
    items: tuple[str, ...]
    examinees: tuple[str, ...] = ()
    _: KW_ONLY
    groups: tuple[str, ...] = ()
    skills: tuple[Variable, ...] = ()
    levels: Annotated[Levels, Ge(MISSING)] = field(default_factory=_nothing)
    order: Annotated[NDArray[np.intp], Ge(MISSING)] = field(default_factory=_nothing)
    numbers: Annotated[NDArray[np.intp], Ge(0)] = field(default_factory=_nothing)
    notes: tuple[str, ...] = ()

    _error = TableError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(codes=self.codes.astype(np.int16), examinees=self._names())
        nothing = np.empty((len(self), 0), dtype=np.intp)
        self._set(
            levels=self.levels if self.skills else nothing,
            order=self.order if self.order.size else nothing,
            numbers=self.numbers if self.numbers.size else np.arange(len(self)),
        )

    def _names(self) -> tuple[str, ...]:
        return self.examinees or tuple(str(row + 1) for row in range(len(self.codes)))

    def _faults(self) -> Iterator[str]:
        codes, n = self.codes, len(self.items)
        if codes.ndim != 2 or codes.shape[1] != n:
            yield f"expected whole numbers of shape (examinees, {n}), got shape {codes.shape}"
            return
        yield from first_faults(_faults(codes, self.items, self._names()))
        if self.groups and len(self.groups) != len(codes):
            yield f"expected {len(codes)} groups of examinees, got {len(self.groups)}"
        shape = len(codes), len(self.skills)
        if (self.skills or self.levels.size) and self.levels.shape != shape:
            yield f"expected levels of shape {shape}, got {self.levels.shape}"
        else:
            for skill, column in zip(self.skills, self.levels.T, strict=False):
                if (most := column.max(initial=MISSING)) >= skill.n_states:
                    yield f"expected levels of {skill.name} below {skill.n_states}, got {most}"
        order = self.order
        if order.size and (order.ndim != 2 or len(order) != len(codes) or order.max() >= n):
            got = f"got shape {order.shape}, at most {order.max()}"
            yield f"expected an order ({len(codes)}, questions) of columns below {n}, {got}"
        if self.numbers.size and self.numbers.shape != shape[:1]:
            yield f"expected {len(codes)} numbers of examinees, got shape {self.numbers.shape}"
        elif len(np.unique(self.numbers)) < self.numbers.size:
            yield "the numbers of examinees must be distinct"

    @classmethod
    @checked
    def of(
        cls,
        table: Responses | TextTable | pandas.DataFrame | ArrayLike,
        *,
        items: Sequence[str | int] | None = None,
        examinees: Sequence[object] | None = None,
        missing: Iterable[str | float] = (),
        expected: Sequence[str] | None = None,
        id_column: str | None = None,
        group_column: str | None = None,
        ignore: Iterable[str] = (),
        key: Mapping[str, Any] | pandas.DataFrame | ItemBank | str | os.PathLike[str] | None = None,
    ) -> Responses:
        """Return the responses of a table; a `TableError` lists all its faults.

        Parameters
        ----------
        table
            A row for each examinee: positions of responses, or truth values; −1, nan, an empty
            cell, or a text such as NA for a missing response. The columns of a data frame name the
            items; its index, or a column, the examinees. It may also be long: a row for each
            response, with columns for examinee, item and response. Or a file, see `from_csv`.
        items, examinees
            Names that replace those of the table; default ``item_1``, … and "1", …
        missing
            Other texts, in upper or lower case, and numbers that stand for a missing response,
            such as -9.
        expected
            The names of the items of a Q-matrix or a bank. If the table has a column for each of
            them, its other columns are left out.
        id_column, group_column
            The columns of a data frame with the names and the groups of the examinees; default
            a column with a usual name, such as ``student_id`` or ``group``.
        ignore
            Columns of a data frame that are not items.
        key
            The right answer to each item, such as ``{"q1": "B"}``, if the table holds answers: the
            right one counts as 1, and the others as 0. Or a file or a data frame with columns
            ``item`` and ``key``, or a bank whose items have choices.

        Notes
        -----
        Examinees without any response are left out. `notes` lists all that was guessed or left
        out.
        """
        if isinstance(table, Responses):
            return table
        given = None if items is None else tuple(map(format_label, items))
        options = TableOptions(
            missing=tuple(missing),
            expected=() if expected is None else tuple(expected),
            id_column=id_column,
            group_column=group_column,
            ignore=tuple(ignore),
            keys={} if key is None else answer_keys(key),
            items=given,
            examinees=None if examinees is None else tuple(map(str, examinees)),
        )
        if isinstance(table, str | os.PathLike):
            table = read_table(table)
        elif hasattr(table, "columns"):
            table = frame_table(table)
        if not isinstance(table, TextTable):
            array = _array_of(table)
            if given is not None and len(given) != array.shape[1]:
                columns, each = counted(array.shape[1], "column"), each_of(len(given), "item")
                raise TableError([f"expected a column for {each}, got {columns}"])
            # An array has no column with names of examinees, even if an item is called so.
            names = tuple(f"item_{number + 1}" for number in range(array.shape[1]))
            table = TextTable(names, tuple(map(tuple, array.tolist())))
            options = replace(options, expected=names, id_column=None, group_column=None, ignore=())
        try:
            return cls(**read_responses(table, options))
        except BnmindError as fault:
            for note in table.notes:  # such as which sheet of a workbook was read
                fault.add_note(note)
            raise

    @classmethod
    @checked
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        *,
        fixed_width: Natural | None = None,
        **options: Any,
    ) -> Responses:
        """Return the responses in a file, as R, Excel, SPSS and others write it.

        The first line names the items, and each further line holds the responses of an
        examinee. The file may also be long, see `of`. Cells are separated by commas, semicolons,
        tabs, vertical bars or blanks; or each digit of a line is a response, such as ``0110``.
        Workbooks of Excel and files of SPSS, Stata and Parquet are read with the extra ``files``.

        Parameters
        ----------
        path
            The file.
        fixed_width
            The number of characters that name the examinee at the start of each line, 0 if none;
            each further character is a response. By default this is found out if the lines hold
            the digits 0, 1 and 9 alone, after a blank.
        **options
            The other options of `of`, such as ``missing``.

        Raises
        ------
        ModelFileError
            If the file cannot be read.
        TableError
            If its content is not a table of responses.
        UnknownNameError
            If there is no column of a given name.
        InvalidArgumentError
            If ``fixed_width`` is negative.
        """
        return cls.of(read_table(path, fixed_width=fixed_width), **options)

    @classmethod
    @checked
    def drawn(
        cls, model: ItemBank | HasBank, n_examinees: Count, *, seed: Natural = 0
    ) -> Responses:
        """Return examinees with profiles and answers drawn from a model.

        Each examinee has a generator of its own, spawned from the seed, so an examinee does
        not depend on the number of examinees.

        Parameters
        ----------
        model
            The bank that determines the answers, or what `learn` returns. The bank of the test
            may differ.
        n_examinees
            The number of examinees, at least 1.
        seed
            At least 0; the same seed always draws the same examinees.

        Raises
        ------
        InvalidArgumentError
            If ``n_examinees`` is below 1, or the seed is negative.
        TooLargeError
            If they need more than `MAX_NUMBERS` random numbers.
        """
        model = bank_of(model)
        luck = _luck(model, n_examinees, seed)
        return cls._answering(model, _hidden(model, luck), luck)

    @classmethod
    @checked
    def with_profiles(cls, model: ItemBank, levels: ArrayLike, *, seed: Natural = 0) -> Responses:
        """Return examinees with given profiles, and answers drawn from a model.

        Parameters
        ----------
        model
            The bank that determines the answers; all its hidden variables must be skills.
        levels
            ``(examinees, skills)`` positions of the levels of the model's skills.
        seed
            At least 0; the same seed always draws the same answers.

        Raises
        ------
        InvalidModelError
            If a hidden variable of the model is no skill.
        InvalidArgumentError
            If the profiles are not levels of the skills, ``(examinees, skills)``.
        """
        profiles = whole_array(levels, "levels")
        skills = [model.variable(name) for name in model.skills]
        if len(model.hidden) > len(skills):
            raise InvalidModelError(
                [f"all hidden variables must be skills; {model.hidden[-1].name} is not"]
            )
        fits = profiles.ndim == 2 and profiles.shape[1] == len(skills)
        if not fits or not np.all((profiles >= 0) & (profiles < [v.n_states for v in skills])):
            raise InvalidArgumentError(
                f"expected levels of the skills, of shape (examinees, {len(skills)}),"
                f" got an array of shape {profiles.shape}",
                levels,
            )
        columns = {v.name: column for v, column in zip(skills, profiles.T, strict=True)}
        return cls._answering(model, columns, _luck(model, len(profiles), seed))

    @classmethod
    def _answering(cls, model: ItemBank, hidden: dict[str, Levels], luck: Floats) -> Responses:
        own = luck[:, len(model.hidden) :].T
        columns = []
        for name, numbers in zip(model.item_names, own, strict=True):
            rows = _configurations(model, model.cause(name), hidden)
            columns.append(_draw(model.channel(name), rows, numbers))
        return cls(
            np.stack(columns, axis=1),
            model.item_names,
            skills=tuple(model.variable(name) for name in model.skills),
            levels=np.stack([hidden[name] for name in model.skills], axis=1),
        )

    def __repr__(self) -> str:
        n, m = self.codes.shape
        known = f", {counted(len(self.skills), 'skill')} known" if self.skills else ""
        size = f"{counted(n, 'examinee')}, {counted(m, 'item')}"
        return f"Responses({size}, {self.n_missing} missing{known})"

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_missing(self) -> int:
        """The number of missing responses."""
        return int(np.sum(self.codes == MISSING))

    def require_answers(self) -> None:
        """Raise if an item has no responses, so that nothing can be learned about it.

        Raises
        ------
        TableError
            If a column is empty.
        """
        empty = np.flatnonzero(~(self.codes != MISSING).any(axis=0)).tolist()
        if empty:
            raise TableError([f"column {self.items[one]} has no responses" for one in empty])

    @cached_property
    def patterns(self) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.intp], NDArray[np.intp]]:
        """The distinct rows, the number of each examinee's row, and the count of each row."""
        # As strings of bytes from 0 on, rows sort in the same order and twenty times faster.
        texts = np.ascontiguousarray((self.codes - MISSING).astype(np.uint8))
        keys = texts.view(np.dtype((np.void, texts.shape[1])))[:, 0]
        _, first, numbers, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return sealed(self.codes[first]), sealed(numbers), sealed(counts)

    @checked
    def take(self, examinees: ArrayLike) -> Responses:
        """Return the responses of some of the `examinees`, by position or by a mask."""
        rows = positions(examinees, len(self), "examinees")
        return replace(
            self,
            codes=self.codes[rows],
            examinees=tuple(self.examinees[row] for row in rows),
            groups=tuple(self.groups[row] for row in rows) if self.groups else (),
            levels=self.levels[rows],
            order=self.order[rows],
            numbers=self.numbers[rows],
        )

    @checked
    def for_bank(self, bank: ItemBank) -> Responses:
        """Return the responses with their columns in the order of the items of a `bank`.

        Columns with names similar to the items are renamed. If one of the two only numbers the
        items, they are matched by position. Other columns are left out. `notes` say so.

        Raises
        ------
        TableError
            If the bank's items are not among the columns, or an item has no such response. All
            faults are reported at once.
        """
        found, names = self, bank.item_names
        match = match_names(self.items, names)
        if match is None:
            raise TableError(_unmatched(self.items, names))
        if self.items != names:
            codes = self.codes[:, list(match.places)]
            rows, left_out = answered_rows(codes, self.examinees)
            notes = [*self.notes, *left_out, *([match.note] if match.note else [])]
            others = [place for place in range(len(self.items)) if place not in match.places]
            if others:
                columns = [self.codes[:, place] for place in others]
                notes.append(left_out_note([self.items[place] for place in others], columns))
            some = self.take(rows) if left_out else self
            place = np.full(len(self.items) + 1, MISSING)  # the last for `MISSING`
            place[list(match.places)] = np.arange(len(names))
            found = replace(
                some, codes=codes[rows], items=names, order=place[some.order], notes=tuple(notes)
            )
        require_known(found, bank)
        return found

    @checked
    def levels_in(self, bank: ItemBank) -> Levels:
        """Return the true levels of a bank's skills, ``(examinees, skills)``.

        `MISSING` for a skill that is unknown, or has other levels than the bank's.

        Parameters
        ----------
        bank
            The item bank.
        """
        levels = np.full((len(self), len(bank.skills)), MISSING, dtype=np.intp)
        for variable, column in zip(self.skills, self.levels.T, strict=True):
            for number, name in enumerate(bank.skills):
                if name == variable.name and bank.variable(name).states == variable.states:
                    levels[:, number] = column
        return levels

    @checked
    def abilities_in(self, bank: ItemBank) -> Floats:
        """Return the true abilities, ``(examinees,)``; NaN if unknown.

        The points of the grid may differ from those of the bank.

        Parameters
        ----------
        bank
            The item bank.
        """
        for variable, column in zip(self.skills, self.levels.T, strict=True):
            if (variable.name,) == bank.skills:
                with suppress(ValueError):  # the states are no numbers
                    points = np.array([float(state) for state in variable.states])
                    return np.where(column == MISSING, np.nan, points[column])
        return np.full(len(self), np.nan)


def _unmatched(names: Sequence[str], expected: Sequence[str]) -> list[str]:
    """Return the faults of columns that are not items, and of items without a column."""
    given, known = set(names), set(expected)
    if are_numbered(expected) and not given & known:
        return [
            f"expected {counted(len(expected), 'column')}, one for each item of the Q-matrix or"
            f" bank, whose items have only numbers; got {len(names):,}: {names_shown(names)};"
            " --ignore leaves out a column that is not an item"
        ]
    problems = []
    if strange := [name for name in names if name not in known]:
        are = counted(len(strange), "column is not an item", "columns are not items")
        problems.append(f"{are} of the Q-matrix or bank: {names_shown(strange)}")
    if absent := [name for name in expected if name not in given]:
        have = counted(len(absent), "item has no column", "items have no column")
        problems.append(f"{have}: {names_shown(absent)}")
    return problems


def responses_to(bank: ItemBank, responses: Responses | pandas.DataFrame | ArrayLike) -> Responses:
    """Return responses, or a table of them; the columns of an array are the items of a bank."""
    if isinstance(responses, Responses) or hasattr(responses, "columns"):
        return Responses.of(responses, expected=bank.item_names)
    return Responses.of(responses, items=bank.item_names)


def names_in(responses: Responses | pandas.DataFrame | TextTable | Any) -> tuple[str, ...]:
    """Return the names that the items may have: of the columns, or in the rows of a long table."""
    if isinstance(responses, Responses):
        return responses.items
    table = responses if isinstance(responses, TextTable) else frame_table(responses)
    return wide_table(table, TableOptions()).header or ()


def require_known(responses: Responses, bank: ItemBank) -> None:
    """Raise unless all items are of a bank, and have these responses.

    Raises
    ------
    UnknownNameError
        If the bank has no such item.
    TableError
        If an item has no such response.
    """
    for name in responses.items:
        bank.position(name)
    if problems := _too_high(responses, bank):
        raise TableError(problems)


def _too_high(found: Responses, bank: ItemBank) -> list[str]:
    """Return the faults of responses that an item does not have; many equal ones are one fault."""
    most = np.array([len(bank.responses(name)) - 1 for name in found.items])
    cells = np.argwhere(found.codes > most).tolist()
    if not cells:
        return []
    given = found.codes[found.codes != MISSING]
    if given.min() == 1 and given.max() == most.max() + 1:
        return ["no response is 0; responses count from 0, the worst, so subtract 1 (--lowest 1)"]
    places_of: dict[str, list[tuple[int, int]]] = {}
    for row, column in sorted(cells, key=lambda cell: found.codes[*cell]):
        places_of.setdefault(str(found.codes[row, column]), []).append((row, column))
    expected = [f"a response from 0 to {n}" for n in most.tolist()]
    faults = cell_faults(places_of, expected.__getitem__, found.examinees, found.items)
    problems = first_faults(faults)
    wrong = [int(text) for text in places_of]
    if most.max() == 1 and wrong == [*range(2, 2 + len(wrong))] and len(cells) > FEW_CELLS:
        if len(wrong) > 1:  # grades, rather than codes of missing responses
            row, column = cells[0]
            where = format_place(row, column, found.examinees, found.items)
            problems = [
                f"expected the responses 0 and 1, got {given.min()} to {wrong[-1]} in"
                f" {len(cells):,} cells, the first in {where}"
            ]
        problems.append(
            "if these are steps or grades, --gate sequential:dina (gate=Sequential in Python)"
            " learns them"
        )
    return problems


def _doubled(names: Sequence[str], what: str, where: str) -> list[str]:
    if len(set(names)) == len(names):
        return []
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place + 1)
    return [
        f"{what} must be distinct, but {name} is in {where} {', '.join(map(str, lines[:12]))}"
        for name, lines in places.items()
        if name and len(lines) > 1
    ]


def _faults(codes: NDArray[Any], items: Sequence[str], examinees: Sequence[str]) -> Iterator[str]:
    for place, name in enumerate(items, 1):
        if fault := name_fault(name):
            yield f"expected the name of an item in column {place}, got {shown(name)}: {fault}"
    yield from _doubled(items, "items", "columns")
    if not codes.size:
        n_rows, n_columns = codes.shape
        yield f"responses need examinees and items, got {n_rows} and {n_columns}"
        return
    if len(examinees) != len(codes):
        yield f"expected {counted(len(codes), 'examinee')}, got {len(examinees)}"
        return
    for row, name in enumerate(examinees, 1):
        if not name:
            yield f"the examinee in row {row} has no name"
    yield from _doubled(examinees, "examinees", "rows")
    for row in np.flatnonzero((codes == MISSING).all(axis=1))[:MOST_FAULTS].tolist():
        yield f"row {row + 1}, of examinee {examinees[row]}, has no responses"


# --- Arrays of responses, and examinees drawn from a model ----------------------------------------


def _array_of(table: Any) -> NDArray[Any]:
    """Return the array of a table, masked if it was; raise `TableError` if it is none."""
    # The tolist() of a masked array has None for masked cells.
    is_masked = isinstance(table, np.ma.MaskedArray)
    array: NDArray[Any] = table if is_masked else rectangular(table, "response", "", TableError)
    if array.ndim != 2:
        one = "; one examinee is [[1, 0, …]]" if array.ndim == 1 else ""
        raise TableError(
            [f"expected an array (examinees, items), got one of shape {array.shape}{one}"]
        )
    return array


def _luck(model: ItemBank, n_examinees: int, seed: int) -> Floats:
    """Return a random number for each hidden variable and item, ``(examinees, numbers)``."""
    width = len(model.hidden) + len(model.items)
    if n_examinees * width > MAX_NUMBERS:
        raise TooLargeError(
            f"expected at most {MAX_NUMBERS // width:,} examinees for {len(model.items)} items, got"
            f" {many(n_examinees)}: their random numbers alone would need"
            f" {many(8 * n_examinees * width)} bytes",
            needed=n_examinees * width,
            budget=MAX_NUMBERS,
        )
    luck = np.empty((n_examinees, width))
    for number in range(n_examinees):
        source = np.random.SeedSequence(seed, spawn_key=(number, 0))
        luck[number] = np.random.default_rng(source).random(width)
    return luck


def _hidden(model: ItemBank, luck: Floats) -> dict[str, Levels]:
    """Return the states of all hidden variables, drawn parents first."""
    order = {v.name: number for number, v in enumerate(model.hidden)}
    states: dict[str, Levels] = {}
    for cpd in model.hidden_network().cpds:
        name, parents = cpd.variable.name, tuple(v.name for v in cpd.parents)
        table = np.real(cpd.to_factor().sum_to((*parents, name)).values)
        rows = _configurations(model, parents, states) if parents else np.zeros(len(luck), np.intp)
        states[name] = _draw(table.reshape(-1, table.shape[-1]), rows, luck[:, order[name]])
    return states


def _configurations(
    model: ItemBank, names: Sequence[str], states: dict[str, Levels]
) -> NDArray[np.intp]:
    sizes = [model.network.variable(name).n_states for name in names]
    return np.ravel_multi_index([states[name] for name in names], sizes)


def _draw(table: Floats, rows: NDArray[np.intp], luck: Floats) -> Levels:
    """Return a state for each examinee, drawn from that examinee's row of a table."""
    sums = np.cumsum(table, axis=1)
    sums /= sums[:, -1:]  # so that rounding makes no impossible state possible
    drawn: Levels = (luck[:, None] >= sums[rows, :-1]).sum(axis=1)
    return drawn


@checked
def fold_numbers(
    n_examinees: Annotated[int, Le(MAX_NUMBERS)],
    *,
    folds: Annotated[int, Ge(2)] = 10,
    seed: Natural = 1,
) -> NDArray[np.intp]:
    """Return the fold of each examinee: ``default_rng(seed).permutation(n) % folds``.

    Parameters
    ----------
    n_examinees
        The number of examinees.
    folds
        The number of folds, from 2 to the number of examinees.
    seed
        At least 0; names the division into folds, so that others can repeat it.

    Raises
    ------
    InvalidArgumentError
        If there are fewer than 2 folds or more than examinees, too many examinees, or a
        negative seed.

    Examples
    --------
    >>> fold_numbers(6, folds=2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    if folds > n_examinees:
        raise InvalidArgumentError(f"expected 2 to {n_examinees} folds, got {folds}", folds)
    return np.random.default_rng(seed).permutation(n_examinees) % folds
