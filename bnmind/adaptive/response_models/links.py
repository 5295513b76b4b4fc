"""Links: how predictors, which are sums of effects, become chances of responses.

References
----------
P. McCullagh and J. Nelder, *Generalized Linear Models*, 1989.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
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
    rates: Callable[[Floats, Floats], tuple[Floats, Floats]]
    """dp/dη and d²p/dη² of 1 − p and p."""


IDENTITY = LinkFunction(
    name="identity",
    of=lambda p: p,
    chance=lambda x: x,
    slope=lambda x: np.ones(np.shape(x)),
    rates=lambda q, p: (np.ones(p.shape), np.zeros(p.shape)),
)
"""η = p."""

LOGIT = LinkFunction(
    name="logit",
    of=lambda p: np.log(p) - np.log1p(-p),
    chance=logistic,
    slope=lambda x: np.multiply(*both_tails(x)),
    rates=lambda q, p: (p * q, p * q * (q - p)),
)
"""η = ln(p / (1 − p))."""

LOG = LinkFunction(name="log", of=np.log, chance=np.exp, slope=np.exp, rates=lambda q, p: (p, p))
"""η = ln p."""

COMPLEMENTARY = LinkFunction(
    name="complementary log",
    of=lambda p: -np.log1p(-p),
    chance=lambda x: -np.expm1(-x),
    slope=lambda x: np.exp(-x),
    rates=lambda q, p: (q, -q),
)
"""η = −ln(1 − p)."""


class Link(NamedTuple):
    """How predictors become chances."""

    chances: Callable[[Floats], Floats]
    """The chances ``(…, responses)`` of predictors ``(…, predictors)``."""
    slopes: Callable[[Floats], Floats]
    """Their derivatives, ``(…, predictors, responses)``."""
    scale: LinkFunction | None = None
    """The scale of the better of two responses; None to take expected information."""


@lru_cache
def binary(link: LinkFunction) -> Link:
    """Return the link of two responses of which the second has a chance on a scale."""

    def chances(predictors: Floats) -> Floats:
        both = np.empty((*predictors.shape[:-1], 2))
        right = np.minimum(np.maximum(link.chance(predictors[..., 0]), 0.0), 1.0)
        both[..., 0], both[..., 1] = 1 - right, right
        return both

    def slopes(predictors: Floats) -> Floats:
        right = link.slope(predictors)
        return np.stack([-right, right], axis=-1)

    return Link(_logistic_chances if link is LOGIT else chances, slopes, link)


def _logistic_chances(predictors: Floats) -> Floats:
    chances = np.empty((*predictors.shape[:-1], 2))
    chances[..., 1], chances[..., 0] = both_tails(predictors[..., 0])
    return chances


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


@lru_cache
def between_asymptotes(lower: bool, upper: bool) -> Link:
    """Return the logistic link between asymptotes, which are further predictors if they are given.

    The predictors are the log-odds without asymptotes, then the lower and the upper asymptote.
    """
    if not (lower or upper):
        return binary(LOGIT)

    def parts(predictors: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        right, wrong = both_tails(predictors[..., 0])
        low = predictors[..., 1] if lower else np.zeros_like(right)
        return right, wrong, low, predictors[..., -1] if upper else np.ones_like(right)

    def chances(predictors: Floats) -> Floats:
        right, wrong, low, high = parts(predictors)
        # Without subtractions from 1, so that both tails keep their digits.
        both = (1 - high) * right + (1 - low) * wrong, high * right + low * wrong
        return np.stack(both, axis=-1)

    def slopes(predictors: Floats) -> Floats:
        right, wrong, low, high = parts(predictors)
        each = [(high - low) * right * wrong, *[wrong] * lower, *[right] * upper]
        of_right = np.stack(each, axis=-1)
        return np.stack([-of_right, of_right], axis=-1)

    return Link(chances, slopes)


@lru_cache
def sequential(links: tuple[Link, ...], sizes: tuple[int, ...]) -> Link:
    """Return the link of steps, each with a link of two responses and some of the predictors.

    Response r is given if step r is the first that is not taken.
    """
    ends = np.cumsum(sizes)[:-1].tolist()

    def steps_of(predictors: Floats) -> Floats:
        parts = np.split(predictors, ends, axis=-1)
        chances = [link.chances(part) for link, part in zip(links, parts, strict=True)]
        return np.stack(chances, axis=-2)  # (…, steps, responses)

    def chances(predictors: Floats) -> Floats:
        steps = steps_of(predictors)
        reached = np.cumprod(steps[..., 1], axis=-1)
        before = np.concatenate([np.ones_like(reached[..., :1]), reached[..., :-1]], axis=-1)
        return np.concatenate([before * steps[..., 0], reached[..., -1:]], axis=-1)

    def slopes(predictors: Floats) -> Floats:
        steps = steps_of(predictors)
        parts = np.split(predictors, ends, axis=-1)
        found = []
        for place, (link, part) in enumerate(zip(links, parts, strict=True)):
            # Before the step nothing changes; later responses are in proportion to its chance.
            taken = steps.copy()
            taken[..., place, :] = 0.0, 1.0
            reached = np.cumprod(taken[..., 1], axis=-1)
            before = np.concatenate([np.ones_like(reached[..., :1]), reached[..., :-1]], axis=-1)
            by_chance = np.concatenate([before * taken[..., 0], reached[..., -1:]], axis=-1)
            by_chance[..., :place] = 0.0
            by_chance[..., place] = -before[..., place]
            found.append(link.slopes(part)[..., 1, None] * by_chance[..., None, :])
        return np.concatenate(found, axis=-2)

    return Link(chances, slopes)


CUMULATIVE = Link(_cumulative_chances, _cumulative_slopes)
"""Graded responses: predictor r is the logit of the chance of at least r; they decrease."""
SOFTMAX = Link(_softmax_chances, _softmax_slopes)
"""Predictor r is the logarithm of the chance of response r over that of response 0."""
