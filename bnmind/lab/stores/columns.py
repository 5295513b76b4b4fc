"""Rows as Arrow tables, with the same columns of the same types in every file."""

from __future__ import annotations

import types
import typing
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from bnmind.errors import MissingLibraryError
from bnmind.lab.experiments.experiment import Row, columns_of

__all__ = ["arrow", "parquet", "schema_of", "table_of"]


def arrow() -> Any:
    """Return the module pyarrow.

    Raises
    ------
    MissingLibraryError
        If it is not installed.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise MissingLibraryError(
            'directories of results need pyarrow; install it with: pip install "bnmind[lab]"',
            "pyarrow",
        ) from error
    return pyarrow


def parquet() -> Any:
    """Return the module pyarrow.parquet; raise `MissingLibraryError` if it is not installed."""
    arrow()
    import pyarrow.parquet

    return pyarrow.parquet


def schema_of(row_type: type[Row]) -> Any:
    """Return the Arrow schema of a dataclass of rows.

    The types do not depend on the rows, so a column without a value has the type of the others.
    """
    pa = arrow()
    hints = typing.get_type_hints(row_type)
    simple = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    columns = []
    for field in fields(row_type):
        hint = hints[field.name]
        parts = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        (kind,) = [part for part in parts if part is not type(None)]
        columns.append(pa.field(field.name, simple[kind], nullable=len(parts) > 1))
    return pa.schema(columns)


def table_of(row_type: type[Row], rows: Sequence[Row]) -> Any:
    """Return rows as an Arrow table."""
    return arrow().table(dict(columns_of(row_type, rows)), schema=schema_of(row_type))
