r"""The priors of slopes and asymptotes, as terms of the M-step.

===============================  =========================================================
prior                            log-density up to a constant
===============================  =========================================================
log-normal (m, s) of a slope a   −ln a − (ln a − m)² / 2s²
beta (α, β) of an asymptote c    (α − 1) ln c + (β − 1) ln(1 − c)
logit-normal (m, s) of it        −(logit c − m)² / 2s², the density of the logit
===============================  =========================================================

References
----------
The densities are those of R. P. Chalmers, "mirt: a multidimensional item response theory
package for the R environment", J. Stat. Softw. 2012 (``lnorm``, ``expbeta``, and ``norm`` of an
asymptote, which is on the scale of the logit there).
"""

from __future__ import annotations

import numpy as np

from bnmind.information import Floats

__all__ = ["beta_prior", "log_normal_prior", "logit_normal_prior"]

_INSIDE = 1e-12


def log_normal_prior(
    values: Floats, mean: float, deviation: float
) -> tuple[Floats, Floats, Floats]:
    """Return log-density, slope and curvature at positive values."""
    log = np.log(values)
    away = (log - mean) / deviation**2
    density = -log - (log - mean) ** 2 / (2 * deviation**2)
    return density, -(1 + away) / values, (1 / deviation**2) / values**2


def beta_prior(values: Floats, alpha: float, beta: float) -> tuple[Floats, Floats, Floats]:
    """Return log-density, slope and curvature at values in (0, 1)."""
    c = np.clip(values, _INSIDE, 1 - _INSIDE)
    a, b = alpha - 1, beta - 1
    return (
        a * np.log(c) + b * np.log1p(-c),
        a / c - b / (1 - c),
        a / c**2 + b / (1 - c) ** 2,
    )


def logit_normal_prior(
    values: Floats, mean: float, deviation: float
) -> tuple[Floats, Floats, Floats]:
    """Return log-density, slope and curvature at values in (0, 1)."""
    c = np.clip(values, _INSIDE, 1 - _INSIDE)
    away = np.log(c) - np.log1p(-c) - mean
    by_c = 1 / (c * (1 - c))
    variance = deviation**2
    return -(away**2) / (2 * variance), -away * by_c / variance, by_c**2 / variance
