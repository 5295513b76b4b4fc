r"""A climb by steps that never lead down, accelerated where that leads up (SQUAREM).

A step of EM maps parameters θ to M(θ). SQUAREM extrapolates from two steps in the
direction in which they went:

==================  =====================================================
symbol              name here
==================  =====================================================
r                   M(θ) − θ
v                   M(M(θ)) − M(θ) − r
α                   −|r| / |v|: the length of the extrapolation
θ'                  θ − 2αr + α²v
==================  =====================================================

θ' is kept only if the objective is at least that of M(θ); if it is not, the climb goes on
from M(M(θ)). So the objectives recorded never fall.

One *step* is one M-step, extrapolated or not, and the E-step that evaluates its outcome. An
extrapolation that is not kept counts as a step too, as it costs one.

References
----------
R. Varadhan and C. Roland, "Simple and globally convergent methods for accelerating the
convergence of any EM algorithm", Scand. J. Stat. 2008 (scheme S3). Deviations: α is at
least −1000 and at most −1, and the objective is compared with that of M(θ).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats

__all__ = ["Ascent", "Climb", "Place", "climb", "extrapolation"]

_LONGEST = 1000.0
"""The longest extrapolation, in steps."""

_P = TypeVar("_P")


class Place(NamedTuple, Generic[_P]):
    """Some parameters, and what the E-step says of them."""

    parameters: _P
    log_likelihood: float
    objective: float
    """The log-likelihood, and the logarithm of the density of the priors."""
    improved: Callable[[], _P]
    """Does the M-step, and returns the parameters that it finds."""


class Ascent(Protocol[_P]):
    """What can be climbed."""

    def at(self, parameters: _P) -> Place[_P]:
        """Do the E-step.

        Raises
        ------
        ImpossibleEvidenceError
            If the parameters make the data impossible.
        """

    def numbers(self, parameters: _P) -> Floats:
        """Return all the parameters as one row of numbers."""

    def within(self, numbers: Floats, known: _P) -> _P:
        """Return parameters from a row of numbers that may break bounds.

        Parameters
        ----------
        numbers
            As `numbers` returns them.
        known
            Parameters that break none, to replace those that cannot be mended.
        """


@dataclass(frozen=True)
class Climb(Generic[_P]):
    """The way from one start to its end."""

    parameters: _P
    """Where it ends: those of the last log-likelihood."""
    log_likelihoods: tuple[float, ...]
    """At the start, and after each step that was kept."""
    objectives: tuple[float, ...]
    """The same with the logarithm of the priors; never falling."""
    steps: int
    """How many steps were taken, at most as many as asked for."""
    converged: bool
    """Whether a step raised the objective by no more than the tolerance."""


def climb(
    ascent: Ascent[_P],
    start: _P,
    *,
    max_iterations: int,
    tolerance: float,
    accelerate: bool,
    progress: Callable[[int], None] | None = None,
) -> Climb[_P]:
    """Return the way up from a start, until a step raises the objective by no more than a little.

    Parameters
    ----------
    ascent
        What to climb.
    start
        Where to begin.
    max_iterations
        The most steps: M-steps with the E-step that evaluates each. One more E-step
        evaluates the start.
    tolerance
        What an M-step must raise the objective by to go on.
    accelerate
        Whether to extrapolate.
    progress
        Called now and then with the number of steps so far.

    Raises
    ------
    ImpossibleEvidenceError
        If the start makes the data impossible.
    """
    here = ascent.at(start)
    way = [here]
    steps, converged = 0, False
    while steps < max_iterations and not converged:
        if progress is not None:
            progress(steps)
        one = ascent.at(here.improved())
        steps += 1
        converged = _arrived(way, one, tolerance)
        # An extrapolation may fail, so that it needs two steps.
        if converged or not accelerate or max_iterations - steps < 2:
            here = one
            continue
        two = one.improved()
        far = _extrapolated(ascent, (here.parameters, one.parameters, two))
        steps += 1
        if far is not None and far.objective >= one.objective:
            here = far
            way.append(far)
            continue
        here = ascent.at(two)
        steps += 1
        converged = _arrived(way, here, tolerance)
    return Climb(
        parameters=way[-1].parameters,
        log_likelihoods=tuple(place.log_likelihood for place in way),
        objectives=tuple(place.objective for place in way),
        steps=steps,
        converged=converged,
    )


def _arrived(way: list[Place[_P]], place: Place[_P], tolerance: float) -> bool:
    """Keep a place unless it is lower, and return whether the step to it raised too little."""
    gain = place.objective - way[-1].objective
    if gain >= 0:
        way.append(place)
    return gain <= tolerance


def _extrapolated(ascent: Ascent[_P], three: tuple[_P, _P, _P]) -> Place[_P] | None:
    """Return where two steps lead; None if that makes the data impossible."""
    first, second, third = (ascent.numbers(parameters) for parameters in three)
    try:
        return ascent.at(ascent.within(extrapolation(first, second, third), three[2]))
    except ImpossibleEvidenceError:
        return None


def extrapolation(first: Floats, second: Floats, third: Floats) -> Floats:
    """Return θ' for θ, M(θ) and M(M(θ)); never less than M(M(θ)) itself goes.

    Examples
    --------
    >>> import numpy as np
    >>> extrapolation(np.array([8.0]), np.array([4.0]), np.array([2.0])).tolist()
    [0.0]
    """
    r, v = second - first, third - second - (second - first)
    size = float(np.sqrt(v @ v))
    if size == 0:
        return third
    alpha = -min(max(float(np.sqrt(r @ r)) / size, 1.0), _LONGEST)
    far: Floats = first - 2 * alpha * r + alpha**2 * v
    return far
