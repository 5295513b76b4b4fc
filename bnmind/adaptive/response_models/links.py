"""Links: how predictors, which are sums of effects, become chances of responses.

References
----------
P. McCullagh and J. Nelder, *Generalized Linear Models*, 1989.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bnmind.information import Floats


def both_tails(distances: Floats) -> tuple[Floats, Floats]:
    """Return 1 / (1 + exp(−x)) and 1 / (1 + exp(x)), both accurate; faster than `logistic`."""
    small = np.exp(-np.abs(distances))
    near = 1 / (1 + small)
    far = small * near
    up = distances >= 0
    return np.where(up, near, far), np.where(up, far, near)


def logistic(distances: ArrayLike) -> Floats:
    """Return 1 / (1 + exp(−x)) without overflow, accurate in both tails."""
    return both_tails(np.asarray(distances, dtype=np.float64))[0]


def softmax(logits: ArrayLike) -> Floats:
    """Return exp(x_r) / Σ_q exp(x_q) over the last axis, without overflow."""
    x = np.asarray(logits, dtype=np.float64)
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    result: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return result


@dataclass(frozen=True, kw_only=True)
class LinkFunction:
    """A link function: the scale on which effects add up."""

    name: str
    of: Callable[[Floats], Floats]
    """η of p."""
    chance: Callable[[Floats], Floats]
    """p of η."""
    slope: Callable[[Floats], Floats]
    """dp/dη of η."""
    bend: Callable[[Floats], Floats]
    """d²p/dη² of η."""


IDENTITY = LinkFunction(
    name="identity",
    of=lambda p: p,
    chance=lambda x: x,
    slope=lambda x: np.ones(np.shape(x)),
    bend=lambda x: np.zeros(np.shape(x)),
)
"""η = p."""

LOGIT = LinkFunction(
    name="logit",
    of=lambda p: np.log(p) - np.log1p(-p),
    chance=logistic,
    slope=lambda x: np.multiply(*both_tails(x)),
    bend=lambda x: np.multiply(*both_tails(x)) * (1 - 2 * logistic(x)),
)
"""η = ln(p / (1 − p))."""

LOG = LinkFunction(name="log", of=np.log, chance=np.exp, slope=np.exp, bend=np.exp)
"""η = ln p."""

COMPLEMENTARY = LinkFunction(
    name="complementary log",
    of=lambda p: -np.log1p(-p),
    chance=lambda x: -np.expm1(-x),
    slope=lambda x: np.exp(-x),
    bend=lambda x: -np.exp(-x),
)
"""η = −ln(1 − p)."""


class Link(NamedTuple):
    """How predictors become chances."""

    chances: Callable[[Floats], Floats]
    """The chances ``(…, responses)`` of predictors ``(…, predictors)``."""
    slopes: Callable[[Floats], Floats]
    """Their derivatives, ``(…, predictors, responses)``."""
    bends: Callable[[Floats], Floats] | None = None
    """Their second derivatives by a single predictor; None to take expected information."""


def binary(link: LinkFunction) -> Link:
    """Return the link of two responses of which the second has a chance on a scale."""

    def chances(predictors: Floats) -> Floats:
        right = np.clip(link.chance(predictors[..., 0]), 0.0, 1.0)
        return np.stack([1 - right, right], axis=-1)

    def both(of_right: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        def of_responses(predictors: Floats) -> Floats:
            right = of_right(predictors)
            return np.stack([-right, right], axis=-1)

        return of_responses

    of_logit = link is LOGIT
    return Link(_logistic_chances if of_logit else chances, both(link.slope), both(link.bend))


def _logistic_chances(predictors: Floats) -> Floats:
    right, wrong = both_tails(predictors[..., 0])
    return np.stack([wrong, right], axis=-1)


def _cumulative_chances(predictors: Floats) -> Floats:
    above, below = both_tails(predictors)
    # Subtract the smaller pair of tails, for accuracy.
    between = np.where(
        predictors[..., :-1] + predictors[..., 1:] < 0,
        above[..., :-1] - above[..., 1:],
        below[..., 1:] - below[..., :-1],
    )
    return np.concatenate([below[..., :1], np.maximum(between, 0), above[..., -1:]], axis=-1)


def _cumulative_slopes(predictors: Floats) -> Floats:
    above, below = both_tails(predictors)
    n = predictors.shape[-1]
    return (above * below)[..., None] * (np.eye(n, n + 1, 1) - np.eye(n, n + 1))


def _softmax_chances(predictors: Floats) -> Floats:
    return softmax(np.concatenate([np.zeros_like(predictors[..., :1]), predictors], axis=-1))


def _softmax_slopes(predictors: Floats) -> Floats:
    chances = _softmax_chances(predictors)
    n = predictors.shape[-1]
    return chances[..., 1:, None] * (np.eye(n, n + 1, 1) - chances[..., None, :])


def between(low: Floats | float, high: Floats | float, chances: Floats) -> Floats:
    """Return chances of two responses of which the second is between two asymptotes."""
    wrong, right = chances[..., 0], chances[..., 1]
    # Without subtractions from 1, so that both tails keep their digits.
    return np.stack([(1 - high) * right + (1 - low) * wrong, high * right + low * wrong], axis=-1)


CUMULATIVE = Link(_cumulative_chances, _cumulative_slopes)
"""Graded responses: predictor r is the logit of the chance of at least r; they decrease."""
SOFTMAX = Link(_softmax_chances, _softmax_slopes)
"""Predictor r is the logarithm of the chance of response r over that of response 0."""
