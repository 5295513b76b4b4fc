r"""The M-step of many curves at once: Fisher scoring within bounds.

==================  =========================================================================
symbol              name here
==================  =========================================================================
x_i                 ``x[i]``: the parameters of item i on the scale of its curve
P_r(c; x)           ``curve.tables(x)``: the chance of response r in configuration c
n_{cr}, n_c         ``counts``: expected numbers of examinees; their sum over the responses
g                   :math:`\sum_{cr} (n_{cr} / P_r) \, ∂P_r/∂x`, plus that of the prior
I                   :math:`\sum_c n_c \sum_r (∂P_r/∂x)(∂P_r/∂x)^T / P_r`, minus the expected
                    curvature of the prior
==================  =========================================================================

The step is I⁻¹ g, computed for all items together. I is the expected information, so the step
always leads up. It is Newton's step if the logarithms of the chances are linear in the
parameters up to a constant, as in the 1PL, 2PL, the partial credit and the nominal model. A
parameter at a bound that it would leave stays there, and one that is near it steps by itself, so
that no other relies on its step. A step that lowers the expected log-likelihood of an item is
halved.

References
----------
R. D. Bock and M. Aitkin, "Marginal maximum likelihood estimation of item parameters",
Psychometrika 1981 (the M-step by Fisher scoring); D. Bertsekas, "Projected Newton methods for
optimization problems with simple constraints", SIAM J. Control Optim. 1982.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bnmind.information import Floats

__all__ = ["Curve", "expected_log_likelihood", "fisher_scoring"]

_ROUNDS = 10
_HALVINGS = 12

_ENOUGH = 1e-9
"""No further round if it is expected to raise the log-likelihood of all items by less."""

_QUADRATIC = 1e-5
"""The next step of Newton's method after one that gains this little gains less than `_ENOUGH`."""

_NEAR = 1e-3
"""The distance of a parameter near a bound."""

_FLOOR = 1e-100
"""The least chance in a ratio, so that no gradient is infinite."""

_RIDGE = 1e-9
"""Added to the diagonal of I, relatively, so that it can be inverted if nothing is observed."""


class Curve(Protocol):
    """The interface of curves: the chances of items of one kind and their derivatives."""

    @property
    def bounds(self) -> Floats:
        """``(items, parameters, 2)``: the least and the largest value of each parameter."""

    def tables(self, x: Floats) -> Floats:
        """Return the chances, ``(items, configurations, responses)``."""

    def derivatives(self, x: Floats) -> Floats:
        """Return their derivatives, ``(items, parameters, configurations, responses)``."""

    def log_prior(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the log-density of the prior of each item, its slopes and curvatures.

        ``(items,)``, ``(items, parameters)`` and ``(items, parameters)``; the curvatures are
        the second derivatives with the other sign, or positive numbers in their place.
        """


def expected_log_likelihood(curve: Curve, x: Floats, counts: Floats) -> Floats:
    """Return what the M-step maximizes, for each item; −inf where x is out of order."""
    return _value_and_chances(curve, x, counts)[0]


def _value_and_chances(curve: Curve, x: Floats, counts: Floats) -> tuple[Floats, Floats]:
    chances = np.maximum(curve.tables(x), _FLOOR)
    value = np.einsum("icr,icr->i", counts, np.log(chances)) + curve.log_prior(x)[0]
    return np.where(np.isnan(value), -np.inf, value), chances


def fisher_scoring(curve: Curve, x: Floats, counts: Floats) -> Floats:
    """Return parameters that raise the expected log-likelihood of each item to its maximum.

    Parameters
    ----------
    curve
        The curves.
    x
        ``(items, parameters)``: the present parameters, within the bounds.
    counts
        ``(items, configurations, responses)``.
    """
    low, high = np.moveaxis(curve.bounds, -1, 0)
    totals = counts.sum(axis=2, keepdims=True)
    value, chances = _value_and_chances(curve, x, counts)
    n_items, n_parameters = x.shape
    diagonal = np.arange(n_parameters)
    for _ in range(_ROUNDS):
        flat = curve.derivatives(x).reshape(n_items, n_parameters, -1)
        _, prior_slope, prior_curvature = curve.log_prior(x)
        gradient = (flat @ (counts / chances).reshape(n_items, -1, 1))[..., 0] + prior_slope
        weighted = flat * np.sqrt(totals / chances).reshape(n_items, 1, -1)
        information = weighted @ weighted.transpose(0, 2, 1)
        information[:, diagonal, diagonal] += prior_curvature
        stuck = ((x <= low) & (gradient <= 0)) | ((x >= high) & (gradient >= 0))
        gradient[stuck] = 0.0
        near = ((x <= low + _NEAR) & (gradient < 0)) | ((x >= high - _NEAR) & (gradient > 0))
        alone = stuck | (near & (low < high))
        information[(alone[:, :, None] | alone[:, None, :]) & ~np.eye(n_parameters, dtype=bool)] = (
            0.0
        )
        information[:, diagonal, diagonal] *= ~stuck
        ridge = _RIDGE * (information[:, diagonal, diagonal].max(axis=1, keepdims=True) + 1e-6)
        information[:, diagonal, diagonal] += np.where(stuck, 1.0, ridge)
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        promised = float((gradient * step).sum()) / 2
        if promised < _ENOUGH:
            break
        x, value, chances = _climbed(curve, (x, value, chances), step, counts)
        if promised < _QUADRATIC:
            break
    return x


def _climbed(
    curve: Curve, place: tuple[Floats, Floats, Floats], step: Floats, counts: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the place after a step that is halved where it leads down.

    A place has the parameters, their value, and the chances.
    """
    x, value, chances = place
    low, high = np.moveaxis(curve.bounds, -1, 0)
    length = np.ones((len(x), 1))
    for _ in range(_HALVINGS):
        there = np.clip(x + length * step, low, high)
        reached, then = _value_and_chances(curve, there, counts)
        worse = ~(reached >= value)
        if not worse.any():
            break
        length[worse] /= 2
    there[worse], reached[worse], then[worse] = x[worse], value[worse], chances[worse]
    return there, reached, then
