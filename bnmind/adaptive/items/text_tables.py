"""Tables in text and other files: reading them, and matching the names of their columns.

Tables of files as R, Excel, SPSS and other programs write them, and of data frames.

The separator is found by counting: a tab, a semicolon, a comma, a vertical bar or blanks. A first
line of numbers alone holds data, not names, unless it counts the columns. R writes names of rows
with a name too few in the first line (``write.table``) or with an empty name (``write.csv``).
Excel in German writes semicolons and decimal commas, a line ``sep=;``, and cells that are empty in
all rows. Cells are the texts of the file, or the values of the data frame.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._files import LARGE_FILE, read_bytes
from bnmind._messages import counted, first_faults
from bnmind._values import told
from bnmind.errors import InvalidArgumentError, InvalidModelError, ModelFileError
from bnmind.junction.case_files import WORKBOOK, plain_cell, read_by, read_sheet
from bnmind.pgm.variable import format_label

if TYPE_CHECKING:
    import pandas as pd

TRUTH_VALUES = {
    **dict.fromkeys(["true", "t", "wahr", "vrai", "verdadero", "vero", "waar", "pravda"], 1),
    **dict.fromkeys(["correct", "right", "richtig"], 1),
    **dict.fromkeys(["incorrect", "wrong"], 0),
    **dict.fromkeys(["false", "f", "falsch", "faux", "falso", "onwaar", "nepravda"], 0),
}
"""Truth values as R and the spreadsheets of several languages write them, and value labels of
right and wrong responses, in lower case."""

_SEPARATORS = ("\t", ";", ",", "|")
_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))
_OTHER_FILES = (
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save it as .xlsx or CSV"),
    (b"\x1f\x8b", "a packed file or one of R", "unpack it, or save it by write.csv"),
    (b"RDX", "a file of R", "save the table by write.csv"),
)
_COUNTED = 1000
"""The separator is chosen by this many lines."""

_MARKED = {"NA", "x", "X", "."}
"""Texts that may fill a first row of data."""

_SAYS_SEPARATOR = re.compile(r'\s*"?sep=(.)"?[ \t]*\n', re.IGNORECASE)
"""A first line that only names the separator of cells, as Excel writes it."""

_DIGITS = re.compile(r"\s*(?:(?P<name>[^\s,;|]+)\s+)?(?P<cells>[019]{3,})\s*")
"""A line of responses without separators, and perhaps the name of an examinee."""

_MOST_TITLES = 12
"""The names of the columns are looked for in so many first rows."""

_FEWEST_TITLED = 4
"""In fewer rows, each fault is named."""

ABOVE_NAMES = "the first line must name the columns, so delete what stands above their names"
"""What to do with a table whose title was taken for the names of its columns."""

_FEWEST_COUNTED = 3
"""Fewer columns may hold 0 and 1 by chance in an order that counts them."""


@dataclass(frozen=True)
class TextTable:
    """The cells of a table, and the names of its columns."""

    header: tuple[str, ...] | None
    """The name of each column, "" if it has none; None if there is no line of names."""
    rows: tuple[tuple[Any, ...], ...]
    """The cells: texts without surrounding blanks, or values of a data frame."""
    _: KW_ONLY
    notes: tuple[str, ...] = ()
    """How the file was read, where that may surprise."""
    uneven: tuple[str, ...] = ()
    """A fault for each row with too few or too many cells."""

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.header) if self.header is not None else max(map(len, self.rows), default=0)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each column, "" if it has none."""
        return ("",) * self.n_columns if self.header is None else self.header

    @cached_property
    def _columns(self) -> tuple[tuple[Any, ...], ...]:
        return tuple(zip(*self.rows, strict=True))

    def column(self, place: int) -> Sequence[Any]:
        """Return the cells of a column of a table whose rows are even."""
        return self._columns[place] if self.rows else ()

    def names_of(self, kind: str) -> tuple[str, ...]:
        """Return the name in each row: in the column of this name, or in the first one."""
        names = [name.lower() for name in self.names]
        return self.texts(names.index(kind) if kind in names else 0)

    def texts(self, place: int | None) -> tuple[str, ...]:
        """Return the texts in a column; none if there is no such column."""
        return () if place is None else tuple(str(cell).strip() for cell in self.column(place))


def number_of(cell: Any) -> float | None:
    """Return the number or truth value in a cell; None if it is neither.

    Examples
    --------
    >>> number_of("1,0"), number_of(" 2 "), number_of("WAHR"), number_of("x"), number_of(True)
    (1.0, 2.0, 1.0, None, 1.0)
    """
    if isinstance(cell, str):
        text = cell.strip()
        if (truth := TRUTH_VALUES.get(text.lower())) is not None:
            return float(truth)
        cell = text if "," not in text else text.replace(",", ".", 1)
        if "_" in text or not text.isascii():
            return None
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return None


def clean(cell: Any) -> str:
    """Return the text in a cell without double blanks; "" for a missing one."""
    text = "" if cell is None else " ".join(str(cell).split())
    return "" if text in ("nan", "<NA>", "NA") else text


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


def read_table(path: str | os.PathLike[str], *, fixed_width: int | None = None) -> TextTable:
    """Return the table in a text file, or in one of Excel, SPSS, Stata or Parquet.

    Parameters
    ----------
    path
        The file.
    fixed_width
        The number of characters at the start of each line that name the row, 0 if none; each
        further character is a cell. By default cells are separated, unless all lines end in
        equally many digits 0, 1 and 9.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is empty, or is no table; the message names it.
    """
    data = read_bytes(path, most=LARGE_FILE)
    for name, library, is_of, read in _FORMATS:
        if is_of(data):
            table = read_by(library, path, name, partial(read, path, data))
            if not table.rows:
                raise ModelFileError(f"{path} is empty", str(path))
            return table
    text, notes = _decode(path, data)
    lines = [line for line in text.split("\n") if line.strip()]
    if fixed_width is not None:
        pairs = [(line[:fixed_width].strip(), line[fixed_width:].rstrip()) for line in lines]
        if not any(cells for _, cells in pairs):
            raise ModelFileError(
                f"expected cells after the first {fixed_width} characters of the lines of {path},"
                " got no line that is longer",
                str(path),
            )
        return _of_characters(pairs, named=fixed_width > 0)
    if pairs := _digits(lines):
        name, cells = pairs[0]
        what = f"{'the name of an examinee and ' if name else ''}{len(cells)} digits"
        note = f"each line was read as {what}, one for each item, without names"
        return _of_characters(pairs, named=name != "", notes=(*notes, note))
    if said := _SAYS_SEPARATOR.match(text):
        separator, text = said[1], text[said.end() :]
    else:
        separator = _separator(lines)
    if separator == " ":
        text = "\n".join(line.strip() for line in lines)
    reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=separator == " ")
    try:
        return _trimmed([[cell.strip() for cell in row] for row in reader if row], notes)
    except csv.Error as fault:
        what = "comma-separated values" if separator == "," else "a table of values"
        raise ModelFileError(
            f"expected {what} in {path}, got line {reader.line_num} ({fault})", str(path)
        ) from fault


def _of_characters(
    pairs: Sequence[tuple[str, str]], *, named: bool, notes: tuple[str, ...] = ()
) -> TextTable:
    """Return the table of rows, each a name and a text whose characters are the cells."""
    width = max(len(cells) for _, cells in pairs)
    rows = [(name, *(cell.strip() for cell in cells.ljust(width))) for name, cells in pairs]
    header, first = ("id", *(f"item_{number + 1}" for number in range(width))), 0 if named else 1
    return TextTable(header[first:], tuple(row[first:] for row in rows), notes=notes)


def _digits(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return the name and the digits of lines that end in equally many digits 0, 1 and 9.

    One line of titles may come before; [] for other lines.
    """
    found = list(map(_DIGITS.fullmatch, lines))
    if found[0] is None and len(lines) > 2 and len(lines[0].split()) <= 2:
        found = found[1:]
    rows = [(match["name"] or "", match["cells"]) for match in found if match is not None]
    alike = {(bool(name), len(cells)) for name, cells in rows}
    return rows if len(rows) == max(2, len(found)) and len(alike) == 1 else []


def table_of(rows: Sequence[Sequence[Any]]) -> TextTable:
    """Return the table of some rows; the first may hold the names of the columns."""
    if not rows:
        return TextTable((), ())
    if n_titles := _n_titles(rows):
        table = table_of(rows[n_titles:])
        lines = [" ".join(str(cell) for cell in row if cell != "") for row in rows[:n_titles]]
        titles = list(filter(None, lines))
        what = "line was" if len(titles) == 1 else f"{len(titles)} lines were"
        told = "; ".join(titles)
        note = f"the first {what} left out, because the columns are named below: {told}"
        return replace(table, notes=(note, *table.notes))
    has_names = _names_columns(rows[0], rows[1:])
    header = list(map(str, rows[0])) if has_names else None
    body = [list(row) for row in (rows[1:] if has_names else rows)]
    width = len(header) if header is not None else len(rows[0])
    one_more = len(body) > 1 and all(len(row) == width + 1 for row in body)
    if header is not None and one_more and any(row[-1] != "" for row in body):
        header = ["", *header]  # R names the rows, but not their column
        width += 1
    while header and body and header[-1] == "" and all(len(row) < width for row in body):
        header.pop()
        width -= 1
    for row in body:
        while len(row) > width and row[-1] == "":
            row.pop()
    return TextTable(
        None if header is None else tuple(header),
        tuple(map(tuple, body)),
        uneven=tuple(_uneven(body, width)),
    )


def _uneven(rows: Sequence[Sequence[Any]], width: int) -> list[str]:
    """Return a fault for each row with another number of cells; one in all below a title."""
    first = next((place for place, row in enumerate(rows) if len(row) > width), len(rows))
    longer = rows[first:]
    if len(longer) >= _FEWEST_TITLED and all(len(row) > width for row in longer):
        cells = f"the first line has {counted(width, 'cell')}, and {len(longer):,} rows have more"
        return [f"{cells}; {ABOVE_NAMES}"]
    return first_faults(
        f"expected {counted(width, 'cell')} in row {number}, got {len(row)}"
        for number, row in enumerate(rows, 1)
        if len(row) != width
    )


def _n_titles(rows: Sequence[Sequence[Any]]) -> int:
    """Return the number of first rows that hold a title, not the names of the columns below.

    Titles, such as a label and its value, fill at most half of the columns.
    """
    given = [[cell for cell in row if cell != ""] for row in rows[: _MOST_TITLES + 1]]
    width = max(map(len, rows[: _MOST_TITLES + 1]))
    n = next((n for n, row in enumerate(given) if 2 * len(row) > width), 0)
    names = given[n]
    are_names = len(names) > 2 and len(set(map(str, names))) == len(names) == len(rows[n])
    are_texts = are_names and all(number_of(cell) is None for cell in names)
    return n if are_texts and _names_columns(rows[n], rows[n + 1 :]) else 0


def frame_table(frame: Any) -> TextTable:
    """Return the table of a data frame; an index that does not count is a column without a name."""
    header = [format_label(name) for name in frame.columns]
    rows = [tuple(row) for row in frame.itertuples(index=False, name=None)]
    if list(frame.index) != list(range(len(frame.index))):
        header = ["", *header]
        rows = [(format_label(name), *row) for name, row in zip(frame.index, rows, strict=True)]
    return TextTable(tuple(header), tuple(rows))


def table_given(what: str, source: Any) -> TextTable:
    """Return the table in a file, or of a data frame; ``what`` names it in an error.

    Raises
    ------
    ModelFileError
        If the file cannot be read.
    InvalidArgumentError
        If the source is something else.
    """
    if hasattr(source, "columns"):
        return frame_table(source)
    if isinstance(source, str | os.PathLike):
        return read_table(source)
    raise InvalidArgumentError(
        f"expected {what} to be a file or a data frame, got {told(source)}", source
    )


def named_table(what: str, source: Any) -> TextTable:
    """Return the table in a file, or of a data frame, whose columns have names.

    Raises
    ------
    InvalidModelError
        If rows have too few or too many cells, or the columns have no names.
    """
    table = table_given(what, source)
    if table.uneven or table.header is None:
        raise InvalidModelError(table.uneven or ["the first line must name the columns"])
    return table


def rectangular(
    table: Any, cell: str, where: str, error: type[InvalidArgumentError | InvalidModelError]
) -> NDArray[Any]:
    """Return an array of rows; raises an error that names rows of other lengths."""
    try:
        return np.asarray(table)
    except ValueError:
        sizes = [np.size(row) for row in table]
    faults = [
        f"expected {counted(sizes[0], cell)} in row {number}{where}, got {size}"
        for number, size in enumerate(sizes, 1)
        if size != sizes[0]
    ]
    raise error(
        faults or [f"expected {where} as rows of {cell}s, got {counted(len(sizes), 'row')}"]
    )


def _decode(path: str | os.PathLike[str], data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file, and a note if its encoding had to be guessed."""
    for mark, what, remedy in _OTHER_FILES:
        if data.startswith(mark):
            raise ModelFileError(f"{path} is {what}, not text: {remedy}", str(path))
    if data.lstrip()[:1] == b"{":
        raise ModelFileError(f"{path} is JSON, such as a bank, not a table", str(path))
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    notes: tuple[str, ...] = ()
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as fault:
        if encoding != "utf-8" or b"\0" in data:
            raise ModelFileError(
                f"{path} is not text in {encoding.upper()}: {fault.reason} at byte {fault.start:,}",
                str(path),
            ) from fault
        # Five bytes have no meaning in this encoding; none of them is a letter.
        text = data.decode("cp1252", errors="replace")
        notes = ("the text is not UTF-8 and was read as Windows-1252 (Western European)",)
    if not text.strip():
        raise ModelFileError(f"{path} is empty", str(path))
    return text.replace("\r\n", "\n").replace("\r", "\n"), notes


def _separator(lines: Sequence[str]) -> str:
    """Return the separator of cells."""
    some = lines[:_COUNTED]
    for separator in _SEPARATORS:
        number, share = _usual_count(some, separator)
        if number > 1 and share > 0.5:
            return separator
    blanks = [line.strip() for line in some]
    number, share = _usual_count(blanks[1:] or blanks, " ")
    # Names may contain blanks, so all lines must agree.
    is_blank = number > 1 and share == 1 and _count(blanks[0], " ") in (number, number - 1)
    return " " if is_blank else ","


def _usual_count(lines: Sequence[str], separator: str) -> tuple[int, float]:
    """Return the most frequent number of cells of a line, and the share of such lines."""
    counts = Counter(_count(line, separator) for line in lines)
    number, lines_with_it = counts.most_common(1)[0]
    return number, lines_with_it / len(lines)


def _count(line: str, separator: str) -> int:
    try:
        return len(next(csv.reader([line], delimiter=separator, skipinitialspace=True)))
    except (csv.Error, StopIteration):
        return 1


def _names_columns(first: Sequence[Any], others: Sequence[Sequence[Any]]) -> bool:
    """Return whether the cells of a first row name the columns.

    They do if several are texts; or if the numbers count the columns, or are none of the values
    below. One text alone may be the name of an examinee or an item.
    """
    numbers = [number_of(cell) for cell in first]
    texts = {cell for cell, n in zip(first, numbers, strict=True) if n is None and cell != ""}
    below = {cell for row in others[:_COUNTED] for cell in row}
    if texts and texts <= _MARKED:
        return not texts & below
    given = [n for n in numbers if n is not None and n == n]
    if len(texts) > 1 or (texts and (numbers[0] is not None or not given)):
        return True
    if not given or len(set(given)) < len(given):
        return False
    counts = given[0] in (0, 1) and given == [given[0] + k for k in range(len(given))]
    names_rows = first[0] == "" and all(row[0] != "" for row in others[:_COUNTED] if row)
    if counts and (len(given) >= _FEWEST_COUNTED or (bool(others) and names_rows)):
        return True
    return bool(below) and not set(given) & {number_of(cell) for cell in below}


def _trimmed(cells: Sequence[Sequence[Any]], notes: Sequence[str]) -> TextTable:
    """Return the table of some rows without empty ones at the end and empty, unnamed columns."""
    table = table_of(cells)
    table = replace(table, notes=(*notes, *table.notes))
    if table.uneven:
        return table
    n_rows = len(table.rows)
    while n_rows and not any(cell != "" for cell in table.rows[n_rows - 1]):
        n_rows -= 1
    rows = table.rows[:n_rows]
    kept = [
        place
        for place, name in enumerate(table.names)
        if name or not rows or any(row[place] != "" for row in rows)
    ]
    left_out = (
        (len(table.rows) - n_rows, "empty row", "at the end"),
        (table.n_columns - len(kept), "empty column", "without a name"),
    )
    more = [f"{counted(n, what)} {where} left out" for n, what, where in left_out if n]
    return replace(
        table,
        header=None if table.header is None else tuple(table.header[place] for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in rows) if more else rows,
        notes=(*table.notes, *more),
    )


# --- Tables in files that are no text: Excel, SPSS, Stata and Parquet -----------------------------
#
# pandas reads them. It needs openpyxl for Excel, pyreadstat for SPSS and pyarrow for Parquet, which
# the extra ``files`` installs. A file is known by its first bytes, whatever its name.

_PACKED_SPSS = b"$FL3"
_MOST_PACKED = 1100
"""The most bytes that zlib makes of one."""

_MOST_ROWS = 20_000_000


def _excel(path: str | os.PathLike[str], data: bytes) -> TextTable:
    sheet = read_sheet(path, data)
    return _trimmed(sheet.rows, sheet.notes)


def _spss(path: str | os.PathLike[str], data: bytes) -> TextTable:
    """Return the table in an SPSS file; values that it declares as missing are empty."""
    import pyreadstat

    # The library would set memory aside for all rows that a damaged file claims to have.
    _frame, claimed = pyreadstat.read_sav(os.fspath(path), metadataonly=True)
    packed = data.startswith(_PACKED_SPSS)
    if (claimed.number_rows or 0) > min(_MOST_ROWS, len(data) * (_MOST_PACKED if packed else 1)):
        raise ModelFileError(
            f"{path} claims to have {claimed.number_rows:,} rows, too many for its"
            f" {len(data):,} bytes; it may be damaged",
            os.fspath(path),
        )
    return _of_columns(pyreadstat.read_sav(os.fspath(path))[0])


def _spss_portable(path: str | os.PathLike[str], _: bytes) -> TextTable:
    import pyreadstat

    return _of_columns(pyreadstat.read_por(os.fspath(path))[0])


def _stata(_: str | os.PathLike[str], data: bytes) -> TextTable:
    import pandas as pd

    return _of_columns(pd.read_stata(io.BytesIO(data), convert_categoricals=False))


def _parquet(_: str | os.PathLike[str], data: bytes) -> TextTable:
    import pandas as pd

    frame = pd.read_parquet(io.BytesIO(data), engine="pyarrow")
    if list(frame.index) != list(range(len(frame.index))):
        frame = frame.reset_index(names=[""] if frame.index.nlevels == 1 else None)
    return _of_columns(frame)


def _of_columns(frame: pd.DataFrame) -> TextTable:
    columns = (frame.iloc[:, place].tolist() for place in range(frame.shape[1]))
    rows = zip(*(list(map(plain_cell, column)) for column in columns), strict=True)
    return TextTable(tuple(map(str, frame.columns)), tuple(rows))


_STATA = (
    b"<stata_dta>",
    *(bytes([release, order, 1, 0]) for release in (113, 114, 115) for order in (1, 2)),
)

_Format: TypeAlias = tuple[
    str, str, Callable[[bytes], bool], Callable[[str | os.PathLike[str], bytes], TextTable]
]
_FORMATS: tuple[_Format, ...] = (
    (WORKBOOK, "openpyxl", lambda data: data.startswith(b"PK\x03\x04"), _excel),
    ("an SPSS file", "pyreadstat", lambda data: data.startswith((b"$FL2", _PACKED_SPSS)), _spss),
    # Before the mark are 456 characters, in lines of 80.
    ("a portable SPSS file", "pyreadstat", lambda data: b"SPSSPORT" in data[:488], _spss_portable),
    ("a Stata file", "", lambda data: data.startswith(_STATA), _stata),
    ("a Parquet file", "pyarrow", lambda data: data.startswith(b"PAR1"), _parquet),
)
"""The name of each format, the library that reads it beside pandas, its mark, and its reader."""


# --- Names ----------------------------------------------------------------------------------------

_NUMBERED = re.compile(r"(.*?)[ ._-]*0*(\d+)")
_NUMBERED_WORDS = frozenset(
    ["", "item", "items", "i", "v", "x", "q", "var", "col", "column", "row", "question", "task"]
)

_OF_ROWS = re.compile(r"|\.\.\.1|unnamed: 0|row[ ._]?names?", re.IGNORECASE)
"""Names that R and pandas give a first column with the names of the rows."""

_SHOWN = 8


@dataclass(frozen=True)
class NameMatch:
    """The place of each expected item in a list of names."""

    places: tuple[int, ...]
    by_position: bool
    note: str
    """How the names were matched, if they are not equal."""


def are_numbered(names: Sequence[str]) -> bool:
    """Return whether names only count, like item_1, item_2 or V1, V2, from 0 or 1.

    >>> are_numbered(["V1", "V2"]), are_numbered(["1", "2"]), are_numbered(["1", "8a"])
    (True, True, False)
    """
    found = [_NUMBERED.fullmatch(name) for name in names]
    pairs = [(one[1], int(one[2])) for one in found if one is not None]
    word, first = pairs[0] if pairs else ("?", 0)
    counted_on = [(word, first + place) for place in range(len(names))]
    return word.lower() in _NUMBERED_WORDS and first in (0, 1) and pairs == counted_on


def is_row_names(name: str) -> bool:
    """Return whether a first column of this name has the names of the rows, as R writes them."""
    return _OF_ROWS.fullmatch(name.strip()) is not None


def names_shown(names: Sequence[str]) -> str:
    """Return the first names as text, and the number of the others.

    >>> names_shown(["a", "b"]), names_shown([str(k) for k in range(10)])
    ('a, b', '0, 1, 2, 3, 4, 5, 6, 7 and 2 more')
    """
    more = len(names) - _SHOWN
    first = ", ".join(name or "(no name)" for name in names[:_SHOWN])
    return f"{first} and {more:,} more" if more > 0 else first


def match_names(names: Sequence[str], expected: Sequence[str]) -> NameMatch | None:
    """Return the places of expected items; None if they cannot be told.

    Equal names match. So do names that are equal apart from the case of letters, blanks, dots and
    other signs, as R changes them. As many names match by position if one of the two lists only
    counts, see `are_numbered`.

    Examples
    --------
    >>> match_names(["Item.2", "Item.1", "age"], ["Item 1", "Item 2"]).places
    (1, 0)
    >>> match_names(["add", "carry"], ["item_1", "item_2"]).note
    'the columns were matched with the items by position: add is item_1, carry is item_2'
    """
    place_of = {name: place for place, name in enumerate(names)}
    if all(name in place_of for name in expected):
        return NameMatch(tuple(place_of[name] for name in expected), False, "")
    plain = [_letters_of(name) for name in names]
    wanted = [_letters_of(name) for name in expected]
    once = {text for text, count in Counter(plain).items() if text and count == 1}
    by_position = len(set(wanted)) < len(wanted) or not once.issuperset(wanted)
    if not by_position:
        place_of = {text: place for place, text in enumerate(plain)}
        places, what = [place_of[text] for text in wanted], "similar names were matched"
    elif len(names) == len(expected) and (are_numbered(names) or are_numbered(expected)):
        places = list(range(len(names)))
        what = "the columns were matched with the items by position"
    else:
        return None
    pairs = zip([names[place] for place in places], expected, strict=True)
    said = [f"{name} is {item}" for name, item in pairs if by_position or name != item]
    some = ", ".join(said) if len(said) < 3 else f"{said[0]}, …, {said[-1]}"
    return NameMatch(tuple(places), by_position, f"{what}: {some}")


def _letters_of(name: str) -> str:
    """Return a name without its signs, in lower case, and without the X that R puts before it."""
    letters = "".join(letter for letter in name.lower() if letter.isalnum())
    return letters[1:] if re.match(r"x\d", letters) else letters
