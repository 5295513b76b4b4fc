r"""Standard errors of learned tables, from the observed information.

==================  ======================================================================
symbol              name here
==================  ======================================================================
n_c                 ``counts``: the expected number of cases in cell c
Cov(N_c, N_d)       ``covariances``: of the numbers of completed cases, given the observed cells
I_cd                n_c / θ_c² (if c = d) − Cov(N_c, N_d) / (θ_c θ_d)
J                   ``slopes``: of the cells by the free parameters
B                   ``curvature``: −Σ n_c ∂²θ_c / θ_c, which only noisy nodes have
(Jᵀ I J + B)⁻¹      the covariance of the free parameters
==================  ======================================================================

For complete cases, Cov is zero, and the standard error of a probability is that of a multinomial
distribution, √(θ (1 − θ) / n). Pseudo-counts of the prior count as cases.

References
----------
T. Louis, "Finding the observed information matrix when using the EM algorithm", J. R. Stat. Soc. B
1982.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import TooLargeError
from bnmind.fitting.noisy import NoisyBlock
from bnmind.information import Floats

if TYPE_CHECKING:
    from bnmind.fitting.em import EM
    from bnmind.fitting.layout import Layout

__all__ = ["MOST_CELLS", "inverse_information", "standard_errors_of"]

# --- How the expanded table of a noisy node depends on its links and its leak ---------------------
#
# ==================  ======================================================================
# symbol              name here
# ==================  ======================================================================
# θ_c                 a cell of the expanded table
# ∂θ_c/∂λ_a           ``slopes``: along each free direction of the links and the leak
# −Σ_c n_c ∂²θ_c/θ_c  ``curvature``, with the expected numbers of cases n_c
# ==================  ======================================================================
#
# A direction raises one probability of a link and lowers the largest one of the same distribution.
# The table is linear in each link, so differences over any step are derivatives, up to rounding.


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


# --- Standard errors of learned tables, from the observed information -----------------------------
#
#

MOST_CELLS = 5000
"""The most cells of learned tables whose covariances are computed."""

_FLAT = 1e-9
"""Directions with less than this share of the largest information count as having none."""

_EDGE = 1e-6
"""Probabilities this close to 0 or 1 have no standard error: they are at the bound."""

_LARGEST = 0.5
"""No probability is more uncertain than this; a larger error means that the cases tell nothing."""

_RARE = 1e-3
"""Distributions with fewer expected cases have no standard errors."""


def standard_errors_of(em: EM, parameters: Floats) -> dict[str, Floats]:
    """Return the standard errors of all tables; see `bnmind.fitting.Fit.standard_errors`.

    Parameters
    ----------
    em
        The model and the cases.
    parameters
        The learned parameters.
    """
    layout, expectation = em.layout, em.expectation
    n = layout.n_learned_cells
    if n > MOST_CELLS:
        raise TooLargeError(
            f"expected at most {MOST_CELLS:,} cells of learned tables for standard errors, got"
            f" {n:,}; name tables in fixed",
            needed=n,
            budget=MOST_CELLS,
        )
    if expectation.tree is not None:
        needed = len(expectation.tree.states)
        raise TooLargeError(
            f"standard errors are not known with too many missing cells that depend on each other,"
            f" which {needed:,} distinct cases have",
            needed=needed,
            budget=0,
        )
    cells = layout.cells(parameters)
    theta, counts = cells[:n], expectation.at(cells).counts[:n]
    counts[: layout.n_free_cells] += layout.pseudo_counts
    covariances = np.zeros((n, n))
    expectation.add_covariances(cells, covariances)
    inner = (theta > _EDGE) & (theta < 1 - _EDGE)
    slopes, curvature = _slopes(layout, parameters, theta, counts)
    inverses = np.divide(1.0, theta, out=np.zeros(n), where=inner)
    information = np.diag(counts * inverses**2) - covariances * np.outer(inverses, inverses)
    covariance = inverse_information(slopes.T @ information @ slopes + curvature)
    # nan times zero is nan: parameters that are not identified count as zero, and are marked.
    lost = np.isnan(np.diag(covariance))
    variances = np.einsum("ij,jk,ik->i", slopes, np.nan_to_num(covariance), slopes, optimize=True)
    moving = np.abs(slopes) > 0
    known = inner & moving.any(axis=1) & ~moving[:, lost].any(axis=1)
    errors = np.full(layout.n_cells, np.nan)
    errors[:n][known] = np.sqrt(np.maximum(variances[known], 0.0))
    errors[errors > _LARGEST] = np.nan
    return {
        cpd.variable.name: (
            layout.table(errors, family).copy()
            if layout.free[family]
            else np.full([v.n_states for v in cpd.scope], np.nan)
        )
        for family, cpd in enumerate(layout.network.cpds)
        if not layout.large[family]
    }


def inverse_information(information: Floats) -> Floats:
    """Return the covariance matrix of parameters, with nan for those that are not identified.

    Examples
    --------
    >>> inverse_information(np.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.25, nan], [nan, nan]]
    """
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    flat = values <= _FLAT * max(float(values.max(initial=0.0)), math.ulp(0.0))
    inverse = (vectors[:, ~flat] / values[~flat]) @ vectors[:, ~flat].T
    lost = (vectors[:, flat] ** 2).sum(axis=1) > 1e-6
    inverse[lost, :] = np.nan
    inverse[:, lost] = np.nan
    covariance: Floats = inverse / np.outer(scale, scale)
    return covariance


def _slopes(
    layout: Layout, parameters: Floats, theta: Floats, counts: Floats
) -> tuple[Floats, Floats]:
    """Return how cells depend on free parameters, ``(cells, parameters)``, and the bend of that.

    The bend is the information ``(parameters, parameters)`` that second derivatives add.
    """
    from scipy.linalg import block_diag

    n = layout.n_free_cells
    blocks = [_table_slopes(theta[:n], counts[:n], layout.columns)]
    bends = [np.zeros((blocks[0].shape[1],) * 2)]
    for block, values in layout.of_noisy(parameters):
        slopes, bend = noisy_slopes(block, values, counts[block.cells], _EDGE)
        blocks.append(slopes)
        bends.append(bend)
    return block_diag(*blocks), block_diag(*bends)


def _table_slopes(theta: Floats, counts: Floats, columns: NDArray[np.intp]) -> Floats:
    """Return how the cells of free tables depend on their parameters, ``(cells, parameters)``.

    The parameters are all cells of a distribution that are not at a bound, but the largest.
    """
    n_columns = int(columns.max()) + 1 if len(columns) else 0
    per_column = np.bincount(columns, weights=counts, minlength=n_columns)
    free = (theta > _EDGE) & (theta < 1 - _EDGE) & (per_column[columns] > _RARE)
    largest: dict[int, int] = {}
    for cell in np.flatnonzero(free).tolist():
        column = int(columns[cell])
        if column not in largest or theta[cell] > theta[largest[column]]:
            largest[column] = cell
    moved = [cell for cell in np.flatnonzero(free).tolist() if largest[int(columns[cell])] != cell]
    slopes = np.zeros((len(theta), len(moved)))
    for parameter, cell in enumerate(moved):
        slopes[cell, parameter] = 1.0
        slopes[largest[int(columns[cell])], parameter] = -1.0
    return slopes
