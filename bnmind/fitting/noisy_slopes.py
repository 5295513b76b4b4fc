r"""How the expanded table of a noisy node depends on its links and its leak.

==================  ======================================================================
symbol              name here
==================  ======================================================================
θ_c                 a cell of the expanded table
∂θ_c/∂λ_a           ``slopes``: along each free direction of the links and the leak
−Σ_c n_c ∂²θ_c/θ_c  ``curvature``, with the expected numbers of cases n_c
==================  ======================================================================

A direction raises one probability of a link and lowers the largest one of the same distribution.
The table is linear in each link, so differences over any step are derivatives, up to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bnmind.fitting.noisy import NoisyBlock
from bnmind.information import Floats

__all__ = ["NoisySlopes", "noisy_slopes"]


class NoisySlopes(NamedTuple):
    """The derivatives of the expanded table of a noisy node."""

    slopes: Floats
    """``(cells, directions)``."""
    curvature: Floats
    """``(directions, directions)``: the information that the bend of the table adds, and that of
    the pseudo-counts of the links."""


def noisy_slopes(block: NoisyBlock, values: Floats, counts: Floats, edge: float) -> NoisySlopes:
    """Return the derivatives of the expanded table of a noisy node.

    Parameters
    ----------
    block
        The node.
    values
        The parameters: the leak, then the links.
    counts
        ``(cells,)``: the expected counts of the expanded table.
    edge
        Probabilities this close to 0 or 1 do not move.
    """
    directions, parts = _directions(block, values, edge)
    middle = block.table(values)
    steps = directions.max(axis=1)
    moved = [block.table(values + direction) for direction in directions]
    weights = np.divide(counts, middle, out=np.zeros_like(middle), where=middle > 0)
    per_value = np.divide(
        block.pseudo_counts, values**2, out=np.zeros_like(values), where=values > 0
    )
    unit = directions / steps[:, None]
    curvature = (unit * per_value) @ unit.T
    for i, j in zip(*np.triu_indices(len(directions), k=1), strict=True):
        if parts[i] != parts[j]:
            both = block.table(values + directions[i] + directions[j])
            bend = weights @ (both - moved[i] - moved[j] + middle) / (steps[i] * steps[j])
            curvature[i, j] = curvature[j, i] = curvature[i, j] - bend
    slopes = np.array([(table - middle) / step for table, step in zip(moved, steps, strict=True)])
    return NoisySlopes(slopes.reshape(-1, len(middle)).T, curvature)


def _directions(block: NoisyBlock, values: Floats, edge: float) -> tuple[Floats, list[int]]:
    """Return steps from the largest probability of each distribution, and their links."""
    directions, parts = [], []
    numbers = block.split(np.arange(len(values), dtype=np.float64))
    for part, (probabilities, places) in enumerate(zip(block.split(values), numbers, strict=True)):
        for column, place in zip(probabilities.T, places.T.astype(np.intp), strict=True):
            largest = int(column.argmax())
            for state in np.flatnonzero((column > edge) & (column < 1 - edge)):
                if state != largest:
                    direction = np.zeros(len(values))
                    direction[place[state]] = column[largest] / 2
                    direction[place[largest]] = -column[largest] / 2
                    directions.append(direction)
                    parts.append(part)
    return np.array(directions).reshape(len(directions), len(values)), parts
