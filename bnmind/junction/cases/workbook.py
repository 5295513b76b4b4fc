"""Tables in workbooks of Excel: the cells of the first sheet.

openpyxl reads them, which the extra ``files`` installs.
"""

from __future__ import annotations

import importlib.util
import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from bnmind._messages import one_line
from bnmind.errors import ModelFileError

__all__ = ["WORKBOOK", "Sheet", "plain_cell", "read_by", "read_sheet"]

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
        raise ModelFileError(
            f"{path} is {what}; install {library}, which reads it, by pip install"
            f' "bnmind[files]", or save the table as CSV',
            os.fspath(path),
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
        raise ModelFileError(f"{path} has {size:,} bytes when it is unpacked", os.fspath(path))
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    if not book.worksheets:
        raise ModelFileError(f"{path} has no sheet with cells", os.fspath(path))
    first, *others = book.worksheets
    first.reset_dimensions()  # they may be wrong
    rows: list[list[Any]] = []
    n_cells = 0
    for row in first.iter_rows():
        # A cell far below or to the right stands after empty ones that the file does not hold.
        n_cells += 1 + len(row)
        if n_cells > _MOST_CELLS:
            raise ModelFileError(
                f"the first sheet of {path} has more than {_MOST_CELLS:,} cells, with the empty"
                " ones before its last row and column; save the table alone as CSV",
                os.fspath(path),
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
