"""The distinct rows of a table of whole numbers, so that identical cases are computed once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Distinct", "distinct_rows"]

_MOST_KEYS = 2**62


class Distinct(NamedTuple):
    """The distinct rows of a table."""

    first: NDArray[np.intp]
    """The number of the first row of each kind, ``(kinds,)``, ascending."""
    kind: NDArray[np.intp]
    """The kind of each row, ``(rows,)``."""


def distinct_rows(columns: Iterable[tuple[NDArray[Any], int]], n_rows: int) -> Distinct:
    """Return the distinct rows of a table.

    A row is read as the digits of one number. Where that number would exceed 62 bits, the prefixes
    of the rows so far are numbered anew, so that the result is exact.

    Parameters
    ----------
    columns
        The whole numbers of each column, ``(rows,)``, from 0, and an upper bound of them.
    n_rows
        The number of rows.

    Examples
    --------
    >>> distinct = distinct_rows([(np.array([1, 0, 1]), 2), (np.array([2, 2, 2]), 3)], 3)
    >>> distinct.first.tolist(), distinct.kind.tolist()
    ([0, 1], [0, 1, 0])
    """
    import pandas

    keys = np.zeros(n_rows, dtype=np.int64)
    most = 1
    for digits, size in columns:
        if most * size >= _MOST_KEYS:
            keys, known = pandas.factorize(keys)
            most = max(1, len(known))
        keys = keys * size + digits
        most *= size
    kind, known = pandas.factorize(keys)
    first = np.empty(len(known), dtype=np.intp)
    first[kind[::-1]] = np.arange(n_rows)[::-1]  # of equal indices, the last assignment counts
    return Distinct(first, np.asarray(kind, dtype=np.intp))
