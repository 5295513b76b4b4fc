"""Tighter bounds by moving costs between tables (block coordinate descent on a linear program).

The sum of the largest cells of all tables is an upper bound of the largest sum. Costs of a variable
may be moved between the tables that share it without changing any sum. A step makes the largest
cells of all tables of a variable equal for each of its states, which never raises the bound.

References
----------
A. Globerson and T. Jaakkola, "Fixing max-product: convergent message passing algorithms for MAP
LP-relaxations", NIPS (2007); A. Ihler, N. Flerova, R. Dechter and L. Otten, "Join-graph based
cost-shifting schemes", UAI (2012).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.junction.branch_and_bound.log_tables import LogTable

__all__ = ["shifted_tables"]

_MOST_CELLS = 400_000_000
"""The most cells that all sweeps visit: about a second."""

_ENOUGH = 1e-7
"""The relative progress of a sweep below which there are no more sweeps."""


def shifted_tables(tables: Sequence[LogTable], sizes: Sequence[int]) -> tuple[LogTable, ...]:
    """Return tables with the same sum and a bound that is at most that of the given ones.

    Every state must be possible in every table.

    Parameters
    ----------
    tables
        The tables.
    sizes
        The number of states of each variable.
    """
    if not tables:
        return ()
    cells = np.concatenate([t.values.ravel() for t in tables])
    starts = np.cumsum([0, *(t.values.size for t in tables)])
    uses: list[list[tuple[int, int, int]]] = [[] for _ in sizes]
    for number, table in enumerate(tables):
        for axis, v in enumerate(table.scope):
            after = math.prod(table.values.shape[axis + 1 :])
            uses[v].append((int(starts[number]), int(starts[number + 1]), after))
    shared = [(v, each) for v, each in enumerate(uses) if len(each) > 1]
    flat = np.array([use for _, each in shared for use in each], dtype=np.int64).reshape(-1, 3)
    first = np.cumsum([0, *(len(each) for _, each in shared)], dtype=np.int64)
    n_states = np.array([sizes[v] for v, _ in shared], dtype=np.int64)
    visited = 2 * sum(end - start for start, end, _ in flat.tolist())
    sweeps = min(300, _MOST_CELLS // max(1, visited))
    starts = starts.astype(np.int64)
    bound = _bound(cells, starts)
    largest = max(1, int(n_states.max(initial=1)))
    most_uses = int(np.diff(first).max(initial=1))
    work = np.empty((most_uses, largest))
    for sweep in range(max(1, sweeps)):
        _sweep(cells, flat, first, n_states, work)
        if sweep % 5 == 4:
            lower = _bound(cells, starts)
            if bound - lower <= _ENOUGH * max(1.0, abs(lower)):
                break
            bound = lower
    parts = np.split(cells, starts[1:-1])
    return tuple(
        LogTable(table.scope, part.reshape(table.values.shape))
        for table, part in zip(tables, parts, strict=True)
    )


def _bound(cells: Floats, starts: NDArray[np.int64]) -> float:
    return float(np.maximum.reduceat(cells, starts[:-1]).sum())


@njit
def _sweep(
    cells: Floats,
    uses: NDArray[np.int64],
    first: NDArray[np.int64],
    n_states: NDArray[np.int64],
    work: Floats,
) -> None:
    """Equalize the tables of each variable in turn.

    ``uses`` holds the first cell, the end, and the stride of a variable in each of its tables.
    """
    for v in range(n_states.size):
        size = n_states[v]
        n_uses = first[v + 1] - first[v]
        for u in range(n_uses):
            start, end, stride = uses[first[v] + u]
            for x in range(size):
                work[u, x] = -np.inf
            at = start
            while at < end:
                for x in range(size):
                    largest = work[u, x]
                    for _ in range(stride):
                        if cells[at] > largest:
                            largest = cells[at]
                        at += 1
                    work[u, x] = largest
        for x in range(size):
            mean = 0.0
            for u in range(n_uses):
                mean += work[u, x]
            mean /= n_uses
            for u in range(n_uses):
                # A state is possible in all tables; without cells left, nothing is moved.
                work[u, x] = mean - work[u, x] if mean > -np.inf else 0.0
        for u in range(n_uses):
            start, end, stride = uses[first[v] + u]
            at = start
            while at < end:
                for x in range(size):
                    for _ in range(stride):
                        cells[at] += work[u, x]
                        at += 1
