"""The tables of a compiled tree as flat arrays, and the scratch arrays of a run.

A *bucket* belongs to one variable v and to the set S of variables that separate it from the rest of
the tree. Its table is P(v | S). A *row* is a possible configuration of S, and a *cell* is a
possible configuration of S and v; impossible configurations are not stored. The cells of a row are
neighbors, and so are the rows of a bucket.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CELL",
    "FIELDS",
    "HOST",
    "INNER",
    "OUTER",
    "ROW",
    "SEPARATOR",
    "SIZE",
    "START",
    "VARIABLE",
    "Floats",
    "Ints",
    "Places",
    "Small",
    "TreeArrays",
    "WorkArrays",
    "work_arrays",
]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int32]
Small: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""State positions."""

VARIABLE = 0
SIZE = 1
START = 2
HOST = 3
ROW = 4
CELL = 5
SEPARATOR = 6
INNER = 7
OUTER = 8
FIELDS = 9
"""The number of columns of `TreeArrays.buckets`, which the names above number."""


class TreeArrays(NamedTuple):
    """A compiled tree; buckets are numbered so that children come before their hosts.

    The message of a bucket goes to its host. The rows of an inner child are projections of the
    cells of its host; the rows of an outer child are projections of the rows of its host.
    """

    buckets: Ints
    """``(buckets + 1, FIELDS)``: the variable of each bucket and its number of states; their
    first place in a list of the states of all variables; the host, or −1; and the first row, cell,
    entry of `separators`, inner child and outer child. The last line has only their ends; the
    outer children of a bucket end where the inner children of the next one start."""
    separators: Ints
    """``(…, 2)`` each variable of S of each bucket, and the start of its states in `columns`."""
    children: Ints
    """``(…, 2)`` the inner and then the outer children of each bucket, and for each the start of
    its rows in `maps`, minus the first cell or row of the bucket."""
    starts: Places
    """``(rows + 1,)`` the first cell of each row."""
    table: Floats
    """``(cells,)`` the conditional probability of each cell given its row."""
    states: Small
    """``(cells,)`` the state of the bucket's variable in each cell."""
    columns: Small
    """For each entry of `separators`, its state in each row of the bucket."""
    maps: Places
    """The row of the child for each cell or row of its host."""
    least: Floats
    """``(buckets,)`` the least number of each table."""

    @property
    def n_buckets(self) -> int:
        """The number of buckets, one for each variable."""
        return len(self.least)

    @property
    def n_states(self) -> int:
        """The sum of the numbers of states of all variables."""
        return int(self.buckets[:-1, SIZE].sum())


class WorkArrays(NamedTuple):
    """The scratch arrays of a run, which every case overwrites."""

    products: Floats
    """``(cells,)`` the tables times the messages of inner children and the findings."""
    sums: Floats
    """``(rows,)`` the sums of these products over the cells of each row, if messages of outer
    children multiply them; otherwise `messages` holds them."""
    messages: Floats
    """``(rows,)`` the messages to the hosts, divided by `scales`."""
    beliefs: Floats
    """``(rows,)`` the distribution of S given all evidence."""
    active: Places
    """``(rows,)`` the rows of each bucket that agree with the evidence, if some do not."""
    counts: Ints
    """``(buckets,)`` the number of these rows; −1 where all rows agree."""
    least: Floats
    """``(buckets,)`` the least positive number of each message."""
    scales: Floats
    """``(buckets,)`` the divisor of each message."""
    changed: Ints
    """``(buckets,)`` 0 if the message of a bucket is all ones; otherwise the sum of 1 if messages
    of outer children change it, and of 2 if anything else does."""
    needed: Ints
    """``(buckets,)`` whether the targets need the beliefs of each bucket."""
    used: Ints
    """``(children,)`` the starts in `TreeArrays.maps` of the messages that are not all ones."""


def work_arrays(tree: TreeArrays) -> WorkArrays:
    """Return scratch arrays for runs of a tree, not initialized."""
    n_buckets, n_rows, n_cells = tree.n_buckets, len(tree.starts) - 1, len(tree.table)
    return WorkArrays(
        products=np.empty(n_cells),
        sums=np.empty(n_rows),
        messages=np.empty(n_rows),
        beliefs=np.empty(n_rows),
        active=np.empty(n_rows, dtype=np.int32),
        counts=np.empty(n_buckets, dtype=np.int64),
        least=np.empty(n_buckets),
        scales=np.empty(n_buckets),
        changed=np.empty(n_buckets, dtype=np.int64),
        needed=np.empty(n_buckets, dtype=np.int64),
        used=np.empty(n_buckets, dtype=np.int64),
    )
