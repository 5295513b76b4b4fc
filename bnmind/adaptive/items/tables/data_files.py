"""Tables in files that are no text: Excel, SPSS, Stata and Parquet.

pandas reads them. It needs openpyxl for Excel, pyreadstat for SPSS and pyarrow for Parquet, which
the extra ``files`` installs. A file is known by its first bytes, whatever its name.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bnmind.errors import ModelFileError
from bnmind.junction.cases.workbook import WORKBOOK, plain_cell, read_by, read_sheet

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DataCells", "data_cells"]


_PACKED_SPSS = b"$FL3"
_MOST_PACKED = 1100
"""The most bytes that zlib makes of one."""

_MOST_ROWS = 20_000_000


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
    return read_by(kind.library, path, kind.name, lambda: kind.read(path, data))


def _excel(path: str | os.PathLike[str], data: bytes) -> DataCells:
    sheet = read_sheet(path, data)
    return DataCells(None, sheet.rows, sheet.notes)


def _spss(path: str | os.PathLike[str], data: bytes) -> DataCells:
    """Return the cells of an SPSS file; values that it declares as missing are empty."""
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
    columns = [
        list(map(plain_cell, frame.iloc[:, place].tolist())) for place in range(frame.shape[1])
    ]
    return [list(row) for row in zip(*columns, strict=True)]


_STATA = (
    b"<stata_dta>",
    *(bytes([release, order, 1, 0]) for release in (113, 114, 115) for order in (1, 2)),
)

_KINDS = (
    _Kind(mark=b"PK\x03\x04", name=WORKBOOK, library="openpyxl", read=_excel),
    _Kind(mark=b"$FL2", name="an SPSS file", library="pyreadstat", read=_spss),
    _Kind(mark=_PACKED_SPSS, name="an SPSS file", library="pyreadstat", read=_spss),
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
