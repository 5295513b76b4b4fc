"""Tables in files that are no text: Excel, SPSS, Stata and Parquet.

pandas reads them. It needs openpyxl for Excel, pyreadstat for SPSS and pyarrow for Parquet, which
the extra ``files`` installs. A file is known by its first bytes, whatever its name.
"""

from __future__ import annotations

import importlib.util
import io
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bnmind._messages import one_line
from bnmind.errors import ModelFileError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DataCells", "data_cells"]

_UNPACKED = 2**30
"""The limit for the size of an unpacked workbook, in bytes."""

_MOST_CELLS = 5_000_000
"""The limit for the cells of a sheet up to its last row and column."""


@dataclass(frozen=True)
class DataCells:
    """The cells of a table in a file that is no text."""

    names: tuple[str, ...] | None
    """The names of the columns; None if the first row may hold them."""
    rows: list[list[Any]]
    """Texts, numbers and truth values; "" where there is nothing."""
    notes: tuple[str, ...] = ()


_Read = Callable[[str | os.PathLike[str], bytes], DataCells]


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """A format, known by its first bytes."""

    mark: bytes
    name: str
    library: str
    """The library that reads it, apart from pandas; "" if none."""
    read: _Read
    within: int = 0
    """How many bytes may come before the mark."""

    def is_of(self, data: bytes) -> bool:
        """Return whether a content has the mark."""
        return data.find(self.mark, 0, self.within + len(self.mark)) >= 0


def data_cells(path: str | os.PathLike[str], data: bytes) -> DataCells | None:
    """Return the cells of a table that is no text; None for all other files.

    Parameters
    ----------
    path
        The file, for messages.
    data
        Its content.

    Raises
    ------
    ModelFileError
        If the library for the format is missing, or cannot read the file.
    """
    kind = next((kind for kind in _KINDS if kind.is_of(data)), None)
    if kind is None:
        return None
    if kind.library and importlib.util.find_spec(kind.library) is None:
        raise ModelFileError(
            f"{path} is {kind.name}; install {kind.library}, which reads it, by pip install"
            f" 'bnmind[files]', or save the table as CSV",
            os.fspath(path),
        )
    try:
        return kind.read(path, data)
    except ModelFileError:
        raise
    except Exception as fault:  # each library has errors of its own
        raise ModelFileError(
            f"cannot read {path} as {kind.name} ({one_line(str(fault)) or type(fault).__name__})",
            os.fspath(path),
        ) from fault


def _excel(path: str | os.PathLike[str], data: bytes) -> DataCells:
    """Return the cells of the first sheet of a workbook."""
    from openpyxl import load_workbook

    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        size = sum(entry.file_size for entry in packed.infolist())
    if size > _UNPACKED:
        raise ModelFileError(f"{path} has {size:,} bytes when it is unpacked", os.fspath(path))
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    first, *others = book.worksheets
    first.reset_dimensions()  # they may be wrong
    rows: list[list[Any]] = []
    n_cells = 0
    for row in first.iter_rows():
        cells = ["" if cell.data_type == "e" else _cell(cell.value) for cell in row]
        while cells and cells[-1] == "":
            del cells[-1]
        rows.append(cells)
        # A cell far below or to the right stands after empty ones that the file does not hold.
        n_cells += 1 + len(row)
        if n_cells > _MOST_CELLS:
            raise ModelFileError(
                f"the first sheet of {path} has more than {_MOST_CELLS:,} cells, with the empty"
                " ones before its last row and column; save the table alone as CSV",
                os.fspath(path),
            )
    while rows and not rows[-1]:
        del rows[-1]
    width = max(map(len, rows), default=0)
    rows = [row + [""] * (width - len(row)) for row in rows]
    title = first.title
    notes = (f"the first sheet, {title}, was read; others were left out",) if others else ()
    return DataCells(None, rows, notes)


def _spss(path: str | os.PathLike[str], _: bytes) -> DataCells:
    """Return the cells of an SPSS file; values that it declares as missing are empty."""
    import pyreadstat

    frame, _about = pyreadstat.read_sav(os.fspath(path))
    return _of_frame(frame)


def _spss_portable(path: str | os.PathLike[str], _: bytes) -> DataCells:
    """Return the cells of a portable SPSS file."""
    import pyreadstat

    frame, _about = pyreadstat.read_por(os.fspath(path))
    return _of_frame(frame)


def _stata(_: str | os.PathLike[str], data: bytes) -> DataCells:
    import pandas as pd

    return _of_frame(pd.read_stata(io.BytesIO(data), convert_categoricals=False))


def _parquet(_: str | os.PathLike[str], data: bytes) -> DataCells:
    import pandas as pd

    frame = pd.read_parquet(io.BytesIO(data), engine="pyarrow")
    if list(frame.index) != list(range(len(frame.index))):
        frame = frame.reset_index(names=[""] if frame.index.nlevels == 1 else None)
    return _of_frame(frame)


def _of_frame(frame: pd.DataFrame) -> DataCells:
    return DataCells(tuple(map(str, frame.columns)), _rows(frame))


def _rows(frame: pd.DataFrame) -> list[list[Any]]:
    """Return the cells of a data frame."""
    columns = [list(map(_cell, frame.iloc[:, place].tolist())) for place in range(frame.shape[1])]
    return [list(row) for row in zip(*columns, strict=True)]


def _cell(value: Any) -> Any:
    """Return a value as the cell of a table: whole numbers without a point, nothing as "".

    >>> _cell(1.0), _cell(float("nan")), _cell(" a "), _cell(None), _cell(True)
    (1, '', 'a', '', True)
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, float):
        return "" if value != value else int(value) if value.is_integer() else value
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    return value


_STATA = (
    b"<stata_dta>",
    *(bytes([release, order, 1, 0]) for release in (113, 114, 115) for order in (1, 2)),
)

_KINDS = (
    _Kind(mark=b"PK\x03\x04", name="an Excel workbook", library="openpyxl", read=_excel),
    _Kind(mark=b"$FL2", name="an SPSS file", library="pyreadstat", read=_spss),
    _Kind(mark=b"$FL3", name="an SPSS file", library="pyreadstat", read=_spss),
    # Before the mark are 456 characters, in lines of 80.
    _Kind(
        mark=b"SPSSPORT",
        name="a portable SPSS file",
        library="pyreadstat",
        read=_spss_portable,
        within=480,
    ),
    *(_Kind(mark=mark, name="a Stata file", library="", read=_stata) for mark in _STATA),
    _Kind(mark=b"PAR1", name="a Parquet file", library="pyarrow", read=_parquet),
)
