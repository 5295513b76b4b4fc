r"""Newton's method for response probabilities with main effects on the scale of a link.

Maximizes the expected log-likelihood of each problem over its coefficients β,

.. math:: \sum_c y_c \ln p(η_c) + w_c \ln(1 - p(η_c)), \quad η = X β, \quad G β ≥ h.

It is concave in β for all links here, so the maximum is unique up to directions in which it is
flat. A step goes to the maximum of the quadratic approximation within the inequalities, and is
halved until it does not lower the objective. All problems take the steps together; those whose
plain step would leave the polytope get a quadratic program each.

==================  ====================================================================
symbol              name here
==================  ====================================================================
X                   ``design``, ``(cells, coefficients)``
y, w                ``right``, ``wrong``, ``(problems, cells)``: expected numbers
G β ≥ h             ``polytope``
==================  ====================================================================

References
----------
P. McCullagh and J. Nelder, *Generalized Linear Models*, 1989, section 2.5; J. Nocedal and S.
Wright, *Numerical Optimization*, 2006, chapter 18.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.learning.parameters.polytope import Polytope
from bnmind.adaptive.response_models.additive.link import LinkFunction
from bnmind.information import Floats

__all__ = ["ascended"]

_STEPS = 8
_SETTLED = 1e-11
"""Steps end if the approximation gains no more than this times the number of examinees."""

_RIDGE = 1e-9
"""Added to the curvature, relative to its mean, so that flat directions stay as they are."""

_LONGEST = 1e4
"""About the longest step: where the objective is linear, a plain Newton step has no end."""

_HALVINGS = 25


def ascended(
    link: LinkFunction,
    design: Floats,
    polytope: Polytope,
    values: Floats,
    counts: tuple[Floats, Floats],
) -> Floats:
    """Return coefficients that maximize the expected log-likelihood, ``(problems, coefficients)``.

    Parameters
    ----------
    link
        The link function.
    design
        X.
    polytope
        The admissible coefficients.
    values
        The current coefficients, inside of the polytope. The objective of no problem
        decreases.
    counts
        y and w.
    """
    right, wrong = counts
    weight = (right + wrong).sum(axis=1)
    current = link.log_likelihood(values @ design.T, right, wrong).sum(axis=1)
    open_ = weight > 0
    for _ in range(_STEPS):
        slopes, curvatures = link.derivatives(values @ design.T, right, wrong)
        gradient = slopes @ design
        hessian = (design.T[None] * curvatures[:, None, :]) @ design
        mean = np.trace(hessian, axis1=1, axis2=2) / design.shape[1]
        ridge = _RIDGE * mean + np.abs(gradient).max(axis=1) / _LONGEST + 1e-30
        hessian += ridge[:, None, None] * np.eye(design.shape[1])
        plain = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        steps: Floats = np.where(open_[:, None], plain, 0.0)
        for problem in np.flatnonzero(~polytope.holds(values + steps)).tolist():
            best = polytope.closest(problem, values[problem] + steps[problem], hessian[problem])
            if best is not None:
                steps[problem] = best - values[problem]
        steps *= polytope.reach(values, steps)[:, None]
        open_ &= (gradient * steps).sum(axis=1) > _SETTLED * weight
        if not open_.any():
            break
        steps[~open_] = 0.0
        values, current = _halved(link, design, (values, steps), current, counts)
    return values


def _halved(
    link: LinkFunction,
    design: Floats,
    move: tuple[Floats, Floats],
    current: Floats,
    counts: tuple[Floats, Floats],
) -> tuple[Floats, Floats]:
    """Return values and objectives after steps, halved until no objective decreases."""
    values, steps = move
    bad: NDArray[np.bool_]
    for _ in range(_HALVINGS):
        reached = values + steps
        objective = link.log_likelihood(reached @ design.T, *counts).sum(axis=1)
        bad = objective < current
        if not bad.any():
            return reached, objective
        steps = np.where(bad[:, None], steps / 2, steps)
    steps = np.where(bad[:, None], 0.0, steps)
    return values + steps, np.where(bad, current, objective)
