r"""Standard errors of learned tables, from the observed information.

==================  ======================================================================
symbol              name here
==================  ======================================================================
n_c                 ``counts``: the expected number of cases in cell c
Cov(N_c, N_d)       ``covariances``: of the numbers of completed cases, given the observed cells
I_cd                n_c / θ_c² (if c = d) − Cov(N_c, N_d) / (θ_c θ_d)
J                   ``slopes``: each distribution sums to one
(Jᵀ I J)⁻¹          the covariance of the free parameters
==================  ======================================================================

For complete cases, Cov is zero, and the standard error of a probability is that of a multinomial
distribution, √(θ (1 − θ) / n). Pseudo-counts of the prior count as cases.

References
----------
T. Louis, "Finding the observed information matrix when using the EM algorithm", J. R. Stat. Soc. B
1982.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import TooLargeError
from bnmind.fitting.information_matrix import inverse_information
from bnmind.information import Floats

if TYPE_CHECKING:
    from bnmind.fitting.em import EM

__all__ = ["MOST_FREE_CELLS", "standard_errors_of"]

MOST_FREE_CELLS = 5000
"""The most cells of free tables whose covariances are computed."""

_EDGE = 1e-6
"""Probabilities this close to 0 or 1 have no standard error: they are at the bound."""

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
    n = layout.n_free_cells
    if n > MOST_FREE_CELLS:
        raise TooLargeError(
            f"expected at most {MOST_FREE_CELLS:,} cells of free tables for standard errors, got"
            f" {n:,}; name tables in fixed",
            needed=n,
            budget=MOST_FREE_CELLS,
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
    counts = expectation.at(cells).counts[:n] + layout.pseudo_counts
    covariances = np.zeros((n, n))
    expectation.add_covariances(cells, covariances)
    theta = cells[:n]
    slopes, free = _slopes(theta, counts, layout.columns)
    inverses = np.divide(1.0, theta, out=np.zeros(n), where=free)
    information = np.diag(counts * inverses**2) - covariances * np.outer(inverses, inverses)
    covariance = inverse_information(slopes.T @ information @ slopes)
    # nan times zero is nan: parameters that are not identified count as zero, and are marked.
    lost = np.isnan(np.diag(covariance))
    variances = np.einsum("ij,jk,ik->i", slopes, np.nan_to_num(covariance), slopes, optimize=True)
    known = free & ~(np.abs(slopes) @ lost.astype(np.float64) > 0)
    errors = np.full(layout.n_cells, np.nan)
    errors[:n][known] = np.sqrt(np.maximum(variances[known], 0.0))
    noisy = {block.family for block in layout.noisy}
    return {
        cpd.variable.name: (
            layout.table(errors, family).copy()
            if layout.free[family] and family not in noisy
            else np.full([v.n_states for v in cpd.scope], np.nan)
        )
        for family, cpd in enumerate(layout.network.cpds)
        if not layout.large[family]
    }


def _slopes(
    theta: Floats, counts: Floats, columns: NDArray[np.intp]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return how cells depend on free parameters, ``(cells, parameters)``, and which cells vary.

    The parameters are all cells of a distribution that are not at a bound, but the largest.
    """
    n_columns = int(columns.max()) + 1 if len(columns) else 0
    per_column = np.bincount(columns, weights=counts, minlength=n_columns)
    free: NDArray[np.bool_] = (theta > _EDGE) & (theta < 1 - _EDGE) & (per_column[columns] > _RARE)
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
    return slopes, free
