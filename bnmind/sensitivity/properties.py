"""Properties of a posterior that a parameter may change without breaking, and their intervals.

All properties here are inequalities that are linear in the numerators P(x, e), which are linear in
the parameter. Each inequality therefore holds on one interval around the parameter's value, and
their intersection is exact. The distance to its ends is the admissible deviation (L. C. van der
Gaag and S. Renooij, "Analysing sensitivity data from probabilistic networks", UAI 2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bnmind._values import Probability, Value
from bnmind.information import Floats
from bnmind.pgm.variable import Variable
from bnmind.sensitivity.ends import first_largest
from bnmind.sensitivity.functions import SensitivityFunction

__all__ = ["AtLeast", "AtMost", "Interval", "MostProbable", "Property", "interval", "intervals"]

_SLACK = 1e-12
"""An inequality that misses by this is one that holds, up to rounding."""


class Property(Protocol):
    """A property of a posterior: inequalities that are linear in the P(x, e)."""

    def inequalities(self, target: Variable, posterior: Floats) -> Sequence[Floats]:
        """Return vectors w, one for each inequality Σ w(x) P(x, e) ≥ 0.

        Parameters
        ----------
        target
            The variable of the posterior.
        posterior
            ``(states,)`` the posterior in the network.
        """


@dataclass(frozen=True)
class MostProbable(Value):
    """The most probable state stays the most probable one; the first one if several are."""

    def inequalities(self, target: Variable, posterior: Floats) -> Sequence[Floats]:
        """Return the inequalities; see `Property`."""
        best = first_largest(posterior)
        unit = np.eye(target.n_states)
        return [unit[best] - unit[i] for i in range(target.n_states) if i != best]


@dataclass(frozen=True)
class AtLeast(Value):
    """The posterior probability of a state is at least a number."""

    state: Any
    """The state of the target."""
    probability: Probability
    """The least probability, 0 to 1."""

    def inequalities(self, target: Variable, posterior: Floats) -> Sequence[Floats]:
        """Return the inequalities; see `Property`."""
        return [np.eye(target.n_states)[target.index(self.state)] - self.probability]


@dataclass(frozen=True)
class AtMost(Value):
    """The posterior probability of a state is at most a number."""

    state: Any
    """The state of the target."""
    probability: Probability
    """The largest probability, 0 to 1."""

    def inequalities(self, target: Variable, posterior: Floats) -> Sequence[Floats]:
        """Return the inequalities; see `Property`."""
        return [self.probability - np.eye(target.n_states)[target.index(self.state)]]


@dataclass(frozen=True)
class Interval(Value):
    """The values of a parameter that keep a property; empty if the network itself breaks it."""

    low: float
    """The smallest value, 0 to 1."""
    high: float
    """The largest value, 0 to 1."""
    value: float
    """The value of the parameter in the network."""

    @property
    def is_empty(self) -> bool:
        """Whether the network itself does not have the property."""
        return not self.low <= self.high

    @property
    def is_everything(self) -> bool:
        """Whether no value from 0 to 1 breaks the property."""
        return self.low == 0 and self.high == 1

    def __str__(self) -> str:
        return "empty" if self.is_empty else f"{self.low:.4g} to {self.high:.4g}"


def interval(function: SensitivityFunction, wanted: Property) -> Interval:
    """Return the values of a parameter that keep a property of the posterior.

    The interval is exact, and contains the value of the parameter, unless it is empty.
    """
    posterior = function(function.value)
    inequalities = wanted.inequalities(function.target, posterior)
    value = np.array(function.value)
    low, high = intervals(function.slopes, posterior, value, inequalities)
    return Interval(float(low), float(high), function.value)


def intervals(
    effects: Floats, posterior: Floats, values: Floats, inequalities: Sequence[Floats]
) -> tuple[Floats, Floats]:
    """Return the least and largest values of many parameters that keep some inequalities.

    Parameters
    ----------
    effects
        ``(states, …)`` the slopes of P(state, evidence) / P(evidence) by each parameter.
    posterior
        ``(states,)`` the posterior in the network.
    values
        ``(…)`` the values of the parameters.
    inequalities
        Vectors w, one for each inequality Σ w(x) P(x, e) ≥ 0.

    Returns
    -------
    low, high
        ``(…)`` each; 1 and 0 if the network itself breaks an inequality.
    """
    low, high = np.zeros(values.shape), np.ones(values.shape)
    for weights in inequalities:
        now = float(weights @ posterior)
        if now < -_SLACK:
            return np.ones(values.shape), np.zeros(values.shape)
        slope = np.tensordot(weights, effects, axes=1)
        terms = np.tensordot(np.abs(weights), np.abs(effects), axes=1)
        matters = np.abs(slope) > _SLACK * np.maximum(abs(now) + _SLACK, terms)
        step = np.divide(-max(now, 0.0), slope, out=np.zeros(values.shape), where=matters)
        low = np.where(matters & (slope > 0), np.maximum(low, values + step), low)
        high = np.where(matters & (slope < 0), np.minimum(high, values + step), high)
    return low, high
