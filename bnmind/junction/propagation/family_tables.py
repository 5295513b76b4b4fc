"""Joint tables of families, read from the cells of a tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.junction.propagation.arrays import CELL, ROW, SEPARATOR, VARIABLE, TreeArrays

__all__ = ["family_tables"]


def family_tables(
    tree: TreeArrays,
    values: Floats,
    scopes: Sequence[Sequence[int]],
    shapes: Sequence[Sequence[int]],
) -> list[Floats | None]:
    """Return the sums of a value of each cell, for each configuration of some variables.

    Parameters
    ----------
    tree
        The tree.
    values
        ``(cells,)``.
    scopes, shapes
        The variables of each table, and their numbers of states.

    Returns
    -------
    list
        A table for each scope; None if no bucket contains all its variables.
    """
    bucket_of = {v: i for i, v in enumerate(tree.buckets[:-1, VARIABLE].tolist())}
    separators = [
        tree.separators[start:stop, 0].tolist()
        for start, stop in pairwise(tree.buckets[:, SEPARATOR].tolist())
    ]
    tables: list[Floats | None] = []
    for scope, shape in zip(scopes, shapes, strict=True):
        members = set(scope)
        # A bucket with all members is that of the member eliminated first.
        found = [bucket_of[v] for v in scope if members <= {v, *separators[bucket_of[v]]}]
        if not scope or not found:
            tables.append(None)
            continue
        bucket = found[0]
        cells = slice(*tree.buckets[bucket : bucket + 2, CELL].tolist())
        places = _places(tree, bucket, separators[bucket], scope, shape)
        sums = np.zeros(math.prod(shape))
        sums += np.bincount(places, weights=values[cells], minlength=len(sums))
        tables.append(sums.reshape(tuple(shape)))
    return tables


def _places(
    tree: TreeArrays,
    bucket: int,
    separator: Sequence[int],
    scope: Sequence[int],
    shape: Sequence[int],
) -> NDArray[np.intp]:
    """Return, for each cell of a bucket, its flat index in a table over some of its variables."""
    first, last = tree.buckets[bucket : bucket + 2, ROW].tolist()
    cells = slice(*tree.buckets[bucket : bucket + 2, CELL].tolist())
    of_rows = np.zeros(last - first, dtype=np.intp)
    of_state = 0
    stride = 1
    for variable, size in zip(reversed(scope), reversed(shape), strict=True):
        if variable in separator:
            entry = int(tree.buckets[bucket, SEPARATOR]) + separator.index(variable)
            start = int(tree.separators[entry, 1])
            column = tree.columns[start : start + last - first]
            of_rows += stride * column.astype(np.intp)
        else:
            of_state = stride
        stride *= size
    counts = np.diff(tree.starts[first : last + 1])
    places: NDArray[np.intp] = np.repeat(of_rows, counts)
    return places + of_state * tree.states[cells].astype(np.intp)
