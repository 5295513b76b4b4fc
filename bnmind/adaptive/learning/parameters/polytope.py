r"""Parameters under linear inequalities: the closest point, and the way to the boundary.

==================  ====================================================================
symbol              name here
==================  ====================================================================
G x ≥ h             ``rows``, ``least``
min \|x\|, G x ≥ h    least distance programming (LDP), by nonnegative least squares
==================  ====================================================================

References
----------
C. Lawson and R. Hanson, *Solving Least Squares Problems*, 1974, chapter 23 (LDP).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.information import Floats

__all__ = ["Polytope"]

_TOLERANCE = 1e-10
"""Points violate the inequalities by no more than this."""


@dataclass(frozen=True, eq=False)
class Polytope(Sealed):
    """The points x with G x ≥ h, for several h at once.

    Parameters
    ----------
    rows
        ``(inequalities, dimensions)``: G.
    least
        ``(problems, inequalities)``: h of each problem.
    """

    rows: Floats
    least: Floats

    def holds(self, points: Floats, *, tolerance: float = _TOLERANCE) -> NDArray[np.bool_]:
        """Return whether each problem's point, ``(problems, dimensions)``, is inside."""
        short = (self.least - points @ self.rows.T).max(axis=1)
        inside: NDArray[np.bool_] = np.less_equal(short, tolerance)
        return inside

    def reach(self, points: Floats, steps: Floats) -> Floats:
        """Return the share of each step, at most 1, that stays inside, ``(problems,)``."""
        along = steps @ self.rows.T
        left = np.maximum(points @ self.rows.T - self.least + _TOLERANCE, 0.0)
        ratio = np.divide(left, -along, out=np.full(left.shape, np.inf), where=along < -_TOLERANCE)
        shares: Floats = ratio.min(axis=1, initial=1.0)
        return shares

    def closest(self, problem: int, target: Floats, curvature: Floats) -> Floats | None:
        """Return the x of a problem with the least (x − t)ᵀ H (x − t); None if there is none.

        Parameters
        ----------
        problem
            The number of the problem.
        target
            t, ``(dimensions,)``.
        curvature
            H, positive definite.
        """
        from scipy.optimize import nnls

        root = np.linalg.inv(np.linalg.cholesky(curvature)).T
        # With x = t + L⁻ᵀ z: the least |z| with G L⁻ᵀ z ≥ h − G t.
        rows = self.rows @ root
        least = self.least[problem] - self.rows @ target
        size = np.sqrt((rows**2).sum(axis=1))
        rows, least = rows / size[:, None], least / size
        matrix = np.concatenate([rows.T, least[None]])
        goal = np.zeros(len(matrix))
        goal[-1] = 1.0
        try:
            weights, distance = nnls(matrix, goal)
        except RuntimeError:  # too many steps
            return None
        residual = matrix @ weights - goal
        if distance < 1e-12 or residual[-1] > -1e-14:
            return None
        z = -residual[:-1] / residual[-1]
        found: Floats = target + root @ z
        # A target far away costs digits, and a step that ends a hair outside would not be taken.
        met = weights > 0
        short = self.least[problem][met] - self.rows[met] @ found
        found += np.linalg.lstsq(self.rows[met], short)[0]
        return found
