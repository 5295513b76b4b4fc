"""The steps on functions for many cases at once: see `bnmind.junction.program.scatter`.

Registers that depend on the case have the cases as a last axis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bnmind.junction.program.scatter import Expand, LookUp, Scatter, grids

__all__ = ["function_step"]


def function_step(
    operation: LookUp | Scatter | Expand, left: Any, right: Any, moving: tuple[bool, bool]
) -> Callable[[], Any]:
    """Return a function that computes the result of a step for every case.

    Parameters
    ----------
    operation
        The step.
    left, right
        Its registers; at least one depends on the case.
    moving
        Whether each register depends on the case.
    """
    if isinstance(operation, LookUp):
        if not moving[0]:
            return lambda: operation.take(left, right, 0.0, trailing=1)
        return lambda: _looked_up(operation, left, right, moves=moving[1])
    if isinstance(operation, Scatter):
        if not moving[0]:
            return _scattered(operation, left, right)
        return lambda: _scattered_anew(operation, left, right, moves=moving[1])
    states = np.arange(operation.n).reshape(-1, *[1] * left.ndim)
    return lambda: (states == left).astype(np.float64)


def _looked_up(operation: LookUp, positions: Any, right: Any, *, moves: bool) -> Any:
    """Return the rows at positions that depend on the case."""
    n_shared = 1 + len(operation.shared)
    rows = right.transpose((*operation.axes, len(operation.axes)) if moves else operation.axes)
    if operation.partial:
        rows = np.concatenate([rows, np.zeros((1, *rows.shape[1:]))])
    index = [positions, *(g[..., None] for g in grids(positions.shape[:-1], operation.shared))]
    if moves:
        rows = np.moveaxis(rows, -1, n_shared)
        index.append(np.arange(positions.shape[-1]))
    return np.moveaxis(rows[tuple(index)], positions.ndim - 1, -1)


def _scattered(operation: Scatter, positions: Any, right: Any) -> Callable[[], Any]:
    """Return the step for positions that are the same in every case, and so sorted once."""
    places = operation.places(positions)
    order = np.argsort(places, kind="stable")
    destinations, starts = np.unique(places[order], return_index=True)

    def run() -> Any:
        n = right.shape[-1]
        rows = operation.rows(positions.shape, right, n)
        sums = np.zeros((operation.n_places, rows.shape[1]), dtype=rows.dtype)
        sums[destinations] = np.add.reduceat(rows[order], starts, axis=0)
        return sums[1:].reshape(*operation.shape, n)

    return run


def _scattered_anew(operation: Scatter, positions: Any, right: Any, *, moves: bool) -> Any:
    """Return the sums for positions that depend on the case."""
    n = positions.shape[-1]
    shape = positions.shape[:-1]
    columns = operation.view[-1]
    if moves:
        rows = operation.rows(shape, right, n).reshape(-1, columns, n)
    else:
        rows = operation.rows(shape, right)[..., None]
    places = operation.places(positions).reshape(-1, 1, n)
    index = (places * columns + np.arange(columns)[:, None]) * n + np.arange(n)
    rows = np.broadcast_to(rows, index.shape)
    length = operation.n_places * columns * n
    sums: Any = np.bincount(index.ravel(), np.real(rows).ravel(), length)
    if np.iscomplexobj(rows):
        sums = sums + 1j * np.bincount(index.ravel(), rows.imag.ravel(), length)
    return sums[columns * n :].reshape(*operation.shape, n)
