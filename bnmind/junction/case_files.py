"""Files of cases: text, workbooks and columnar files, read in pieces."""

from __future__ import annotations

import codecs
import csv
import gzip
import importlib.util
import io
import os
import stat
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from bnmind._files import LARGE_FILE, SMALL_FILE, read_bytes
from bnmind._messages import format_bytes, one_line, shown
from bnmind.errors import MissingLibraryError, ModelFileError, TableError
from bnmind.junction.case_tables import CaseTableWarning

if TYPE_CHECKING:
    import pandas


def _fault(path: str | os.PathLike[str], what: str) -> ModelFileError:
    return ModelFileError(f"{path} {what}", os.fspath(path))


# --- Files of text whose lines are bounded: a line alone may fill the memory ----------------------


class ShortLines(io.TextIOWrapper):
    """A text that refuses a line before it fills the memory; /dev/zero has one alone."""

    _since_line_end = 0
    _before: tuple[int, int] | None = None

    def read(self, size: int | None = -1, /) -> str:
        """Return the next characters."""
        text = super().read(size)
        last = text.rfind("\n")
        self._since_line_end = len(text) - last if last >= 0 else self._since_line_end + len(text)
        self._check(self._since_line_end)
        return text

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Return the next line."""
        line = super().readline(SMALL_FILE + 1)
        self._check(len(line))
        return line

    def require_unchanged(self) -> None:
        """Raise `ModelFileError` if another program wrote into the file since the first call."""
        found = os.fstat(self.fileno())
        if not stat.S_ISREG(found.st_mode):
            return
        now = found.st_size, found.st_mtime_ns
        if self._before is None:
            self._before = now
        elif now != self._before:
            raise ModelFileError(
                f"{self.name} was changed while it was read; try again once it is complete",
                str(self.name),
            )

    def _check(self, length: int) -> None:
        if length > SMALL_FILE:
            raise ValueError(f"a line is longer than {format_bytes(SMALL_FILE)}")


def opened(path: str | os.PathLike[str], encoding: str) -> ShortLines:
    """Open a file of text, which may be packed.

    Parameters
    ----------
    path
        The file.
    encoding
        The encoding of its text.

    Raises
    ------
    OSError
        If it cannot be opened.
    """
    packed = os.fspath(path).lower().endswith(".gz")
    file: Any = gzip.open(path) if packed else open(path, "rb")  # noqa: SIM115
    text = ShortLines(file, encoding=encoding, newline="")
    text.require_unchanged()
    return text


# --- Tables in workbooks of Excel: the cells of the first sheet -----------------------------------
#
# openpyxl reads them, which the extra ``files`` installs.

WORKBOOK = "an Excel workbook"

_UNPACKED = 2**30
"""The limit for the size of an unpacked workbook, in bytes."""

_MOST_CELLS = 5_000_000
"""The limit for the cells of a sheet up to its last row and column."""

_NOTHING: list[Any] = []

_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Sheet:
    """The cells of the first sheet of a workbook."""

    rows: list[list[Any]]
    """Texts, numbers, truth values and dates, ``""`` where there is nothing; all equally long."""
    notes: tuple[str, ...]
    """What was left out, in words."""


def read_by(
    library: str, path: str | os.PathLike[str], what: str, read: Callable[[], _Found]
) -> _Found:
    """Return what a library reads from a file; `ModelFileError` if it is missing, or cannot.

    Parameters
    ----------
    library
        The name of the library; "" if none is needed.
    path
        The file, for messages.
    what
        The kind of file, such as "an Excel workbook".
    read
        A function that reads the file.
    """
    if library and importlib.util.find_spec(library) is None:
        raise _fault(
            path,
            f"is {what}; install {library}, which reads it, by pip install"
            ' "bnmind[files]", or save the table as CSV',
        )
    try:
        return read()
    except ModelFileError:
        raise
    except Exception as fault:  # each library has errors of its own
        raise ModelFileError(
            f"cannot read {path} as {what} ({one_line(str(fault)) or type(fault).__name__})",
            os.fspath(path),
        ) from fault


def read_sheet(path: str | os.PathLike[str], data: bytes) -> Sheet:
    """Return the cells of the first sheet of a workbook.

    Parameters
    ----------
    path
        The file, for messages.
    data
        Its content.

    Raises
    ------
    ModelFileError
        If openpyxl is not installed or cannot read the file, or the sheet is too large.
    """
    return read_by("openpyxl", path, WORKBOOK, lambda: _sheet(path, data))


def _sheet(path: str | os.PathLike[str], data: bytes) -> Sheet:
    from openpyxl import load_workbook

    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        size = sum(entry.file_size for entry in packed.infolist())
    if size > _UNPACKED:
        raise _fault(path, f"has {size:,} bytes when it is unpacked")
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    if not book.worksheets:
        raise _fault(path, "has no sheet with cells")
    first, *others = book.worksheets
    first.reset_dimensions()  # they may be wrong
    rows: list[list[Any]] = []
    n_cells = 0
    for row in first.iter_rows():
        # A cell far below or to the right stands after empty ones that the file does not hold.
        n_cells += 1 + len(row)
        if n_cells > _MOST_CELLS:
            raise _fault(
                path,
                f"has a first sheet of more than {_MOST_CELLS:,} cells, with the empty ones before"
                " its last row and column; save the table alone as CSV",
            )
        if not row:
            rows.append(_NOTHING)
            continue
        cells = ["" if cell.data_type == "e" else plain_cell(cell.value) for cell in row]
        while cells and cells[-1] == "":
            del cells[-1]
        rows.append(cells)
    while rows and not rows[-1]:
        del rows[-1]
    width = max(map(len, rows), default=0)
    title = first.title
    notes = (f"the first sheet, {title}, was read; others were left out",) if others else ()
    return Sheet([row + [""] * (width - len(row)) for row in rows], notes)


def plain_cell(value: Any) -> Any:
    """Return a value as the cell of a table: whole numbers without a point, nothing as "".

    >>> plain_cell(1.0), plain_cell(float("nan")), plain_cell(" a "), plain_cell(None)
    (1, '', 'a', '')
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float):
        return "" if value != value else int(value) if value.is_integer() else value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    return value


# --- Files of cases, CSV, Excel or Parquet, read in chunks of rows --------------------------------
#
# In a CSV file, the first line names the columns, and cells are text. Commas separate them, or
# semicolons or tabs if the first line has no comma. An empty cell is missing, and so are texts such
# as ``NA`` unless they are states. The text of a number matches the state of an equal number. The
# rows are numbered as in a spreadsheet: the header is row 1, and the first case row 2. The first
# sheet of an Excel workbook is read as if it were saved as CSV: a number 1.0 is the text ``1``, a
# truth value is ``TRUE`` or ``FALSE``. A Parquet file needs the library pyarrow; its rows are
# numbered from 1.
#
# A text is UTF-8, or UTF-16 with a mark, as Excel saves "Unicode text". Other bytes are read as
# Windows-1252, with a warning, as Excel saves CSV in the west of Europe.

CASE_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".txt", ".xlsx", ".parquet")
"""The suffixes of files of cases that can be read."""

_OF_MODELS = (".bif", ".xdsl", ".xmlbif", ".xml", ".net", ".dne", ".uai")
"""Suffixes of models, where cases are expected."""

_BLOCK = 2**20
_ROWS = 2**20
_MOST_COLUMNS = 2**16

_WORKBOOKS = {
    b"PK\x03\x04": "an Excel workbook, not text: name it .xlsx",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook, not text: save it as .xlsx or CSV",
}
"""What files are that begin with these bytes, whatever their names."""

_UTF8 = "utf-8-sig"
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def check_suffix(path: str | os.PathLike[str], *, read: bool) -> str:
    """Return the suffix of a file of cases; raise `ModelFileError` if it is unknown."""
    name = os.fspath(path)
    known = CASE_SUFFIXES if read else (".csv",)
    for suffix in known:
        if name.lower().endswith(suffix):
            return suffix
    is_model = read and name.lower().endswith(_OF_MODELS)
    raise ModelFileError(
        f"expected a file of {'cases' if read else 'answers'} named {', '.join(known)},"
        f" got {one_line(name)}{'; name the model first, then the cases' if is_model else ''}",
        name,
    )


def is_text(path: str | os.PathLike[str]) -> bool:
    """Return whether all cells of a file of cases are text, or are read as text."""
    return check_suffix(path, read=True) != ".parquet"


def file_rows(path: str | os.PathLike[str]) -> int | None:
    """Return the number of rows of a file, for progress; None if it is not quickly known.

    For a CSV file, it is the number of line ends, which cells may contain too.
    """
    suffix = check_suffix(path, read=True)
    if suffix == ".parquet":
        with _reading(path):
            return int(_parquet().ParquetFile(path).metadata.num_rows)
    if suffix in (".csv.gz", ".xlsx") or not os.path.isfile(path):
        return None
    with _reading(path), open(path, "rb") as file:
        return max(0, sum(block.count(b"\n") for block in iter(lambda: file.read(_BLOCK), b"")) - 1)


def read_frames(path: str | os.PathLike[str], rows: int) -> Iterator[pandas.DataFrame]:
    """Yield the rows of a file of cases in chunks; their index is the number of the row.

    Parameters
    ----------
    path
        The file.
    rows
        The number of rows of a chunk.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or is not a table, or openpyxl is needed and not installed.
    TableError
        If two columns have the same name.
    MissingLibraryError
        If it is a Parquet file, and pyarrow is not installed.
    """
    import pandas

    suffix = check_suffix(path, read=True)
    frames = {".parquet": _parquet_frames, ".xlsx": _excel_frames}.get(suffix, _csv_frames)
    first = 2 if is_text(path) else 1
    with _reading(path):
        for frame in frames(path, rows):
            if not frame.columns.is_unique:
                name = frame.columns[frame.columns.duplicated()][0]
                raise TableError([f"two columns of {path} are named {one_line(str(name))!r}"])
            frame.index = pandas.RangeIndex(first, first + len(frame))
            first += len(frame)
            yield frame


def read_frame(path: str | os.PathLike[str]) -> pandas.DataFrame:
    """Return all rows of a file of cases, as by `read_frames`."""
    import pandas

    return pandas.concat(read_frames(path, _ROWS))


def _csv_frames(path: str | os.PathLike[str], rows: int) -> Iterator[pandas.DataFrame]:
    import pandas

    encoding = _encoding_of(path)
    with opened(path, encoding) as file:
        separator = _separator(file.readline())
        file.seek(0)
        lines = csv.reader(iter(file.readline, ""), delimiter=separator)
        header, first = next(lines, []), next(lines, [])
    if len(header) > _MOST_COLUMNS:
        raise _fault(path, f"has {len(header):,} columns; at most {_MOST_COLUMNS:,} are read")
    if len(first) > len(header) > 0:  # pandas would make an index of the others, slowly
        raise _fault(path, "has rows with more cells than its first line")
    if not header:
        raise _fault(path, "has no columns; the first line must name them")
    # A data frame is written with an unnamed column for its index.
    names = pandas.Index([name or f"Unnamed: {place}" for place, name in enumerate(header)])
    with opened(path, encoding) as file:
        reader = pandas.read_csv(
            file,
            sep=separator,
            names=range(len(header)),
            header=0,
            dtype=str,
            keep_default_na=False,
            na_values=[""],
            skip_blank_lines=False,
            chunksize=rows,
        )
        for frame in reader:
            if not isinstance(frame.index, pandas.RangeIndex):
                raise _fault(path, "has rows with more cells than its first line")
            frame.columns = names
            yield frame
        file.require_unchanged()


def _encoding_of(path: str | os.PathLike[str]) -> str:
    """Return the encoding of a text: UTF-16 by its mark, or UTF-8; others are Windows-1252.

    A file with bytes that no text has counts as UTF-8, and is refused.
    """
    if not os.path.isfile(path) or os.fspath(path).lower().endswith(".gz"):
        return _UTF8
    with open(path, "rb") as file:
        mark = file.read(4)
    if mark[:2] in _MARKS:
        return "utf-16"
    if mark in _WORKBOOKS:
        raise _fault(path, f"is {_WORKBOOKS[mark]}")
    if _is_text_in(path, _UTF8) or not _is_text_in(path, "cp1252"):
        return _UTF8
    text = "the text is not UTF-8 and was read as Windows-1252 (Western European)"
    warnings.warn(f"{path}: {text}", CaseTableWarning, stacklevel=2)
    return "cp1252"


def _is_text_in(path: str | os.PathLike[str], encoding: str) -> bool:
    """Return whether all bytes of a file are characters of an encoding, and none is zero."""
    try:
        with open(path, encoding=encoding, newline="") as file:
            return all("\0" not in block for block in iter(lambda: file.read(_BLOCK), ""))
    except UnicodeDecodeError:
        return False


def _excel_frames(path: str | os.PathLike[str], rows: int) -> Iterator[pandas.DataFrame]:
    import pandas

    sheet = read_sheet(path, read_bytes(path, most=LARGE_FILE))
    for note in sheet.notes:
        warnings.warn(f"{path}: {note}", CaseTableWarning, stacklevel=2)
    header, *cells = [[_format_cell(cell) for cell in row] for row in sheet.rows] or [[]]
    # A column without a name and cells keeps others apart.
    used = [place for place, name in enumerate(header) if name or any(row[place] for row in cells)]
    if not any(header):
        raise _fault(path, "has no columns; the first row must name them")
    names = [header[place] or f"Unnamed: {place}" for place in used]
    for first in range(0, max(len(cells), 1), rows):
        chunk = [[row[place] for place in used] for row in cells[first : first + rows]]
        yield pandas.DataFrame(chunk, columns=names, dtype="str")


def _format_cell(cell: Any) -> str | None:
    """Return the text of a cell as in a CSV file; None for nothing.

    >>> _format_cell(1), _format_cell(0.5), _format_cell(True), _format_cell("a"), _format_cell("")
    ('1', '0.5', 'TRUE', 'a', None)
    """
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    return str(cell).removesuffix(" 00:00:00") or None


def _separator(line: str) -> str:
    """Return the separator of the columns that a line names: a comma, unless it has none.

    >>> _separator("rain;wet"), _separator("rain,a;b"), _separator('"a;b"')
    (';', ',', ',')
    """
    widths = {sign: len(next(csv.reader([line], delimiter=sign), [])) for sign in ",;\t"}
    return "," if widths[","] > 1 else max(widths, key=widths.__getitem__)


def _parquet_frames(path: str | os.PathLike[str], rows: int) -> Iterator[pandas.DataFrame]:
    with _parquet().ParquetFile(path) as file:
        if file.metadata.num_rows == 0:
            yield file.read().to_pandas(ignore_metadata=True)
            return
        for batch in file.iter_batches(batch_size=rows):
            frame = batch.to_pandas()
            yield frame if all(name is None for name in frame.index.names) else frame.reset_index()


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Convert errors of reading to a `ModelFileError` that names the file.

    A generator may yield inside: errors of its caller do not reach it.
    """
    try:
        yield
    except (ModelFileError, TableError, MissingLibraryError):
        raise
    except OSError as fault:
        reason = fault.strerror or one_line(str(fault))
        name = os.fspath(path)
        text = name if name.isprintable() and len(name) < 1000 else shown(name)
        raise ModelFileError(f"cannot read {text} ({reason})", name) from fault
    except (ValueError, TypeError, LookupError, EOFError, csv.Error, zlib.error) as fault:
        # Of pandas, pyarrow and encodings; damaged metadata may lead to any of them.
        raise _fault(path, f"is not a table of cases: {one_line(str(fault))}") from fault


def _parquet() -> Any:
    """Return the module pyarrow.parquet."""
    try:
        import pyarrow.parquet
    except ImportError as fault:
        raise MissingLibraryError(
            'Parquet files need pyarrow; install it with: pip install "bnmind[lab]"', "pyarrow"
        ) from fault
    return pyarrow.parquet
