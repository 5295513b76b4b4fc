"""An ascent by monotone steps, accelerated by extrapolation (SQUAREM), and the record of several.

A step of EM maps parameters θ to M(θ). SQUAREM extrapolates from two steps:

==================  =====================================================
symbol              name here
==================  =====================================================
r                   M(θ) − θ
v                   M(M(θ)) − M(θ) − r
α                   −|r| / |v|: the length of the extrapolation
θ'                  θ − 2αr + α²v
==================  =====================================================

θ' is accepted only if its objective is at least that of M(θ). Otherwise the ascent continues
from M(M(θ)). So the recorded objectives never decrease.

An M-step never lowers the objective. One that does all the same is halved until it raises it; if no
half of it does, the ascent ends where it is, and has not converged.

One *step* is one M-step, extrapolated, halved or not, and the E-step that evaluates its result. A
rejected extrapolation counts as a step too.

References
----------
R. Varadhan and C. Roland, "Simple and globally convergent methods for accelerating the
convergence of any EM algorithm", Scand. J. Stat. 2008 (scheme S3). Deviations: α is at
least −1000 and at most −1, and the objective is compared with that of M(θ).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats

_LONGEST = 1000.0
"""The longest extrapolation, in steps."""

_ROUNDING = 1e-12
"""A fall of the objective by no more than this, relative to it, is an error of rounding."""

_HALVINGS = 20
"""A step that lowers the objective is halved so many times."""

_P = TypeVar("_P")


class Place(NamedTuple, Generic[_P]):
    """Some parameters, with the results of their E-step."""

    parameters: _P
    log_likelihood: float
    objective: float
    """The log-likelihood plus the logarithm of the prior density."""
    improved: Callable[[], _P]
    """Do the M-step, and return its parameters."""


class Ascent(Protocol[_P]):
    """The interface of objectives that can be maximized by monotone steps."""

    def at(self, parameters: _P) -> Place[_P]:
        """Do the E-step.

        Raises
        ------
        ImpossibleEvidenceError
            If the parameters make the data impossible.
        """

    def numbers(self, parameters: _P) -> Floats:
        """Return all parameters in one array."""

    def within(self, numbers: Floats, known: _P) -> _P:
        """Return valid parameters from an array that may violate bounds.

        Parameters
        ----------
        numbers
            An array as returned by `numbers`.
        known
            Valid parameters, which replace those that cannot be corrected.
        """


@dataclass(frozen=True)
class Climb(Generic[_P]):
    """The ascent from one start."""

    parameters: _P
    """The parameters at the end, with the last log-likelihood."""
    log_likelihoods: tuple[float, ...]
    """The log-likelihood at the start, and after each accepted step."""
    objectives: tuple[float, ...]
    """The objective at the same points; it never decreases."""
    steps: int
    """The number of steps, at most ``max_iterations``."""
    converged: bool
    """Whether an M-step raised the objective by at most the tolerance, and did not lower it."""


def climb(
    ascent: Ascent[_P],
    start: _P,
    *,
    max_iterations: int,
    tolerance: float,
    accelerate: bool,
    progress: Callable[[int, int], None] | None = None,
    until: Callable[[], bool] | None = None,
) -> Climb[_P]:
    """Return the ascent from a start, until a step raises the objective by at most a tolerance.

    Parameters
    ----------
    ascent
        The objective and its steps.
    start
        The parameters to start from.
    max_iterations
        The largest number of steps: M-steps with the E-step that evaluates each. One more
        E-step evaluates the start.
    tolerance
        The ascent ends if an M-step raises the objective by no more than this.
    accelerate
        Whether to extrapolate.
    progress
        Called from time to time with the number of steps so far, and the number that
        `expected_steps` estimates.
    until
        Asked before each step; if it returns true, the ascent ends where it is.

    Raises
    ------
    ImpossibleEvidenceError
        If the start makes the data impossible.
    """
    path = [ascent.at(start)]
    steps, ended, converged = 0, False, False
    gains: list[float] = []

    def go(there: _P) -> None:
        """Go to the parameters of an M-step; half-way or nearer if they are lower."""
        nonlocal steps, ended, converged
        place, known = ascent.at(there), path[-1]
        steps += 1
        gain = place.objective - known.objective
        gains.append(gain)
        if gain >= 0:
            path.append(place)
        if gain >= -_ROUNDING * (1 + abs(known.objective)):
            ended = converged = gain <= tolerance
            return
        first = ascent.numbers(known.parameters)
        way = ascent.numbers(there) - first
        for halving in range(1, min(_HALVINGS, max_iterations - steps) + 1):
            place = ascent.at(ascent.within(first + way / 2**halving, known.parameters))
            steps += 1
            if place.objective > known.objective:
                path.append(place)
                return
        ended = True

    while steps < max_iterations and not ended and not (until is not None and until()):
        if progress is not None:
            progress(steps, expected_steps(gains, steps, tolerance, max_iterations))
        before = path[-1]
        go(before.improved())
        # An extrapolation may be rejected, so two steps must remain.
        if ended or not accelerate or max_iterations - steps < 2:
            continue
        one = path[-1]
        two = one.improved()
        far = _extrapolated(ascent, (before.parameters, one.parameters, two))
        steps += 1
        if far is not None and far.objective >= one.objective:
            path.append(far)
        else:
            go(two)
    return Climb(
        parameters=path[-1].parameters,
        log_likelihoods=tuple(place.log_likelihood for place in path),
        objectives=tuple(place.objective for place in path),
        steps=steps,
        converged=converged,
    )


def expected_steps(gains: Sequence[float], steps: int, tolerance: float, most: int) -> int:
    """Return an estimate of the number of steps until convergence.

    Far from the start, the gains of EM's steps decrease by a constant factor. So the logarithm of
    the smallest gain so far tells the share of the steps after the first one that are done.

    Parameters
    ----------
    gains
        The gains of the M-steps so far.
    steps
        The number of steps so far.
    tolerance
        The gain of the last step.
    most
        The largest number of steps, which is also the estimate as long as nothing is known.

    Examples
    --------
    >>> expected_steps([64.0, 8.0], 6, 2.0**-9, 100)
    26
    """
    if len(gains) < 2 or not 0 < min(gains) < gains[0] or not 0 < tolerance < min(gains):
        return most
    share = math.log(gains[0] / min(gains)) / math.log(gains[0] / tolerance)
    return min(most, max(steps + 1, 1 + round((steps - 1) / share)))


def _extrapolated(ascent: Ascent[_P], three: tuple[_P, _P, _P]) -> Place[_P] | None:
    """Return the place that extrapolates two steps; None if the data are impossible there."""
    first, second, third = (ascent.numbers(parameters) for parameters in three)
    try:
        return ascent.at(ascent.within(extrapolation(first, second, third), three[2]))
    except ImpossibleEvidenceError:
        return None


def extrapolation(first: Floats, second: Floats, third: Floats) -> Floats:
    """Return θ' for θ, M(θ) and M(M(θ)); at least as far as M(M(θ)).

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


class AllStarts:
    """The progress of all starts together, as far as it is known.

    Parameters
    ----------
    progress
        Called with the number of steps done, and an estimate of the number of all steps.
    starts
        The number of starts.
    """

    def __init__(self, progress: Callable[[int, int], None] | None, starts: int) -> None:
        self._progress, self._starts = progress, starts
        self._steps: list[int] = []

    def during_a_start(self, steps: int, expected: int) -> None:
        """Report the steps of a start, and how many it is expected to take."""
        if self._progress is not None:
            before = sum(self._steps)
            mean = (before + expected) / (len(self._steps) + 1)
            self._progress(before + steps, round(mean * self._starts))

    def after_a_start(self, steps: int) -> None:
        """Report the steps that a start took."""
        self._steps.append(steps)
        if self._progress is not None:
            done = sum(self._steps)
            self._progress(done, round(done / len(self._steps) * self._starts))


EQUAL = 1e-4
"""Starts whose ends differ by less have reached the same maximum, or its mirror image."""


@dataclass(frozen=True, kw_only=True)
class LearningRecord(Value):
    """The record of the EM iterations."""

    log_likelihoods: tuple[float, ...]
    """Natural logarithm of the likelihood at the best start, and after each accepted step from it.
    It never decreases without priors."""
    objectives: tuple[float, ...]
    """The log-likelihoods plus the logarithm of the prior density, but for a constant; they never
    decrease."""
    converged: bool
    """Whether an M-step raised the objective by no more than the tolerance."""
    steps: int
    """The number of EM steps from the best start, at most ``max_iterations``, including rejected
    extrapolations. The start needs one more E-step."""
    starts: tuple[float, ...]
    """The objective at the end of each start."""
    best_start: int
    """The number of the best start, from 0."""
    seed: int
    """The seed of the random starts."""
    stopped_early: tuple[int, ...] = ()
    """The numbers of the starts that were left before they converged, as others led higher."""

    @classmethod
    def of(
        cls, climbs: Sequence[Climb[Any]], seed: int, *, stopped_early: Collection[int] = ()
    ) -> LearningRecord:
        """Return the record of the ascents from all starts; of equal ones, the first is best.

        Parameters
        ----------
        climbs
            The ascent from each start, at least one.
        seed
            The seed of the random starts.
        stopped_early
            The numbers of the starts whose ascent ended before it converged.
        """
        ends = tuple(way.objectives[-1] for way in climbs)
        best = int(np.argmax(np.array(ends) >= max(ends) - EQUAL))
        return cls(
            log_likelihoods=climbs[best].log_likelihoods,
            objectives=climbs[best].objectives,
            converged=climbs[best].converged,
            steps=climbs[best].steps,
            starts=ends,
            best_start=best,
            seed=seed,
            stopped_early=tuple(sorted(stopped_early)),
        )
