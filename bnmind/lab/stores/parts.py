"""Parts: Parquet files with the rows of one batch each, which are there whole or not at all."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bnmind._files import move, write_file
from bnmind._messages import one_line
from bnmind.errors import ModelFileError
from bnmind.lab.experiments.experiment import Row
from bnmind.lab.stores.columns import arrow, parquet, schema_of, table_of

__all__ = [
    "damage_of",
    "damaged_files",
    "is_part_name",
    "part_name",
    "set_aside",
    "strange_files",
    "write_part",
]

_DAMAGED = ".damaged"
_KEY = b"bnmind"
_NAME = re.compile(r"part-[0-9]{6,}\.parquet")


def part_name(number: int) -> str:
    """Return the name of the file of a batch.

    >>> part_name(123)
    'part-000123.parquet'
    """
    return f"part-{number:06d}.parquet"


def is_part_name(name: str) -> bool:
    """Return whether the name of a file is that of a batch."""
    return _NAME.fullmatch(name) is not None


def write_part(
    path: Path, row_type: type[Row], rows: Sequence[Row], *, digest: str, number: int
) -> None:
    """Write the rows of a batch.

    Parameters
    ----------
    path
        The file.
    row_type
        The dataclass of the rows.
    rows
        The rows.
    digest, number
        The digest of the experiment and the number of the batch, by which the file is recognized.

    Raises
    ------
    FileWriteError
        If the file cannot be written.
    """
    table = table_of(row_type, rows).replace_schema_metadata({_KEY: _mark(digest, number)})
    content = io.BytesIO()
    parquet().write_table(table, content, write_page_checksum=True)
    write_file(path, content.getvalue())


def damage_of(
    path: Path, row_type: type[Row], n_rows: int | None, *, digest: str, number: int
) -> str | None:
    """Return what is wrong with the file of a batch; None if it is in order.

    All of it is read, and the checksums of its pages are compared.

    Parameters
    ----------
    path, row_type, digest, number
        As for `write_part`.
    n_rows
        The number of rows that it must have, if that is known.

    Raises
    ------
    ModelFileError
        If the file may not be read.
    """
    try:
        with path.open("rb") as file:
            table = parquet().ParquetFile(file, page_checksum_verification=True).read()
    except PermissionError as error:
        raise ModelFileError(f"cannot read {path} ({error.strerror})", str(path)) from error
    except (arrow().ArrowException, OSError, ValueError) as error:
        return one_line(str(error), longest=100) or type(error).__name__
    if (table.schema.metadata or {}).get(_KEY) != _mark(digest, number):
        return "it belongs to another experiment or batch"
    if not table.schema.equals(schema_of(row_type)):
        return "its columns are other ones"
    if n_rows is not None and table.num_rows != n_rows:
        return f"it has {table.num_rows:,} rows instead of {n_rows:,}"
    return None


def set_aside(path: Path) -> Path:
    """Rename a damaged file, so that it is kept but not read; return its new name.

    Raises
    ------
    FileWriteError
        If it cannot be renamed.
    """
    new, number = path.with_name(path.name + _DAMAGED), 1
    while new.exists():
        number += 1
        new = path.with_name(f"{path.name}{_DAMAGED}-{number}")
    move(path, new)
    return new


def damaged_files(directory: Path) -> tuple[Path, ...]:
    """Return the files that were set aside in a directory and its folders."""
    return tuple(sorted(directory.rglob(f"*{_DAMAGED}*")))


def strange_files(directory: Path, known: set[str]) -> Iterator[Path]:
    """Yield the Parquet files of a directory whose names are not known."""
    for path in sorted(directory.glob("*.parquet")):
        if path.name not in known:
            yield path


def _mark(digest: str, number: int) -> bytes:
    content: dict[str, Any] = {"experiment": digest, "batch": number}
    return json.dumps(content).encode()
