"""The marginal likelihood of item responses, maximized by L-BFGS: a twin of `learn` to compare with.

Nothing here comes from the package. An item is a function from numbers without bounds to its table
``(classes, responses)``; a class is a point of the ability, or a profile of skills. The gradient is that
of Fisher's identity, with differences of the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, softmax

__all__ = ["Maximum", "PlainItem", "free_classes", "log_likelihood", "maximized", "scaled_ability"]

Floats: TypeAlias = NDArray[np.float64]


class PlainItem(NamedTuple):
    """An item."""

    table: Callable[[Floats], Floats]
    """``(classes, responses)``."""
    start: Floats
    most: Floats | float = np.inf
    """The largest size of each number."""
    log_prior: Callable[[Floats], float] = lambda x: 0.0  # noqa: E731


class Maximum(NamedTuple):
    """Where the search ended."""

    objective: float
    log_likelihood: float
    items: tuple[Floats, ...]
    weights: Floats


def free_classes(x: Floats) -> Floats:
    """Return the chances of classes, without constraints."""
    return softmax(np.append(x, 0.0))


def scaled_ability(points: Floats) -> Callable[[Floats], Floats]:
    """Return a normal distribution on points, given the logarithm of its deviation."""
    return lambda x: softmax(-(points**2) / (2 * np.exp(2 * x[0])))


def _masses(codes: NDArray[Any], tables: Sequence[Floats], weights: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood, and the posterior of each examinee, ``(examinees, classes)``."""
    logs = np.log(np.maximum(weights, 1e-300)) + np.zeros((len(codes), 1))
    for table, column in zip(tables, codes.T, strict=True):
        given = column >= 0
        logs[given] += np.log(np.maximum(table, 1e-300)).T[column[given]]
    top = logs.max(axis=1, keepdims=True)
    joint = np.exp(logs - top)
    total = joint.sum(axis=1, keepdims=True)
    return float((np.log(total) + top).sum()), joint / total


def log_likelihood(codes: NDArray[Any], tables: Sequence[Floats], weights: Floats) -> float:
    """Return the logarithm of the chance of all responses, ``(examinees, items)``; −1 is missing."""
    return _masses(codes, tables, weights)[0]


def _slopes(function: Callable[[Floats], Any], x: Floats) -> Floats:
    steps = 1e-6 * np.eye(len(x))
    return np.array([(function(x + step) - function(x - step)) / 2e-6 for step in steps])


def maximized(
    codes: NDArray[Any],
    items: Sequence[PlainItem],
    weights: Floats | Callable[[Floats], Floats],
    start_of_weights: Floats | None = None,
) -> Maximum:
    """Return the maximum that L-BFGS finds from the starts of the items.

    Parameters
    ----------
    codes
        ``(examinees, items)``; −1 is a missing response.
    items
        The items.
    weights
        The chances of the classes, or a function from numbers without bounds to them.
    start_of_weights
        These numbers at the start, if it is a function.
    """
    own = np.zeros(0) if start_of_weights is None else start_of_weights
    ends = np.cumsum([len(own), *[len(item.start) for item in items]])
    chances = weights if callable(weights) else lambda x: weights

    def split(x: Floats) -> tuple[Floats, list[Floats]]:
        return x[: ends[0]], [x[a:b] for a, b in zip(ends, ends[1:], strict=False)]

    def minus(x: Floats) -> tuple[float, Floats]:
        first, rest = split(x)
        w = chances(first)
        tables = [item.table(part) for item, part in zip(items, rest, strict=True)]
        value, posterior = _masses(codes, tables, w)
        gradient = (
            [_slopes(chances, first) @ (posterior / np.maximum(w, 1e-300)).sum(axis=0)]
            if len(first)
            else []
        )
        for item, part, table, column in zip(items, rest, tables, codes.T, strict=True):
            counts = np.stack(
                [posterior[column == r].sum(axis=0) for r in range(table.shape[1])], axis=1
            )
            ratio = counts / np.maximum(table, 1e-300)
            value += item.log_prior(part)
            gradient.append(
                (_slopes(item.table, part) * ratio).sum(axis=(1, 2)) + _slopes(item.log_prior, part)
            )
        return -value, -np.concatenate(gradient)

    x = np.concatenate([own, *[item.start for item in items]])
    most = np.concatenate(
        [np.full(len(own), np.inf), *[item.most + 0 * item.start for item in items]]
    )
    # Again from where it ended, with a new memory.
    for _ in range(3):
        found = minimize(
            minus,
            x,
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(-most, most, strict=True)),
            options={"maxiter": 3000, "maxfun": 6000, "ftol": 1e-14, "gtol": 1e-7, "maxcor": 30},
        )
        x = found.x
    first, rest = split(x)
    w = chances(first)
    tables = [item.table(part) for item, part in zip(items, rest, strict=True)]
    return Maximum(-float(found.fun), log_likelihood(codes, tables, w), tuple(rest), w)


# Curves of an ability, by the names of IRT models.


def _beta(c: float, a: float, b: float) -> float:
    return float((a - 1) * np.log(c) + (b - 1) * np.log1p(-c))


def _prior(name: str, x: Floats) -> float:
    """Return the log-density of BILOG's priors: of the slope exp(x), and of the asymptotes."""
    low = float(expit(x[2]))
    density = -x[0] - x[0] ** 2 / (2 * 0.5**2) + _beta(low, 5, 17)
    return float(
        density + (_beta((1 - low) * float(expit(-x[3])), 5, 17) if name == "4PL" else 0.0)
    )


def _curve(name: str, n: int, points: Floats) -> Callable[[Floats], Floats]:
    """Return the table of an item with n + 1 responses, from slope and intercepts."""
    theta = points[:, None]

    def binary(x: Floats) -> Floats:
        slope = (
            1.0 if name in ("rasch", "1PL") else np.exp(x[0]) if name in ("3PL", "4PL") else x[0]
        )
        right = expit(slope * theta + (x[0] if name in ("rasch", "1PL") else x[1]))
        low = expit(x[2]) if name in ("3PL", "4PL") else 0.0
        high = low + (1 - low) * expit(x[3]) if name == "4PL" else 1.0
        right = low + (high - low) * right
        return np.hstack([1 - right, right])

    def graded(x: Floats) -> Floats:
        falling = x[1] - np.concatenate([[0.0], np.cumsum(np.exp(x[2:]))])
        above = expit(x[0] * theta + falling)
        edge = np.ones((len(points), 1))
        return -np.diff(np.hstack([edge, above, 0 * edge]), axis=1)

    def adjacent(x: Floats) -> Floats:
        if name == "nominal":
            return softmax(theta * np.r_[0.0, x[:n]] + np.r_[0.0, x[n:]], axis=1)
        slope, rest = (1.0, x) if name == "pcm" else (x[0], x[1:])
        return softmax(slope * theta * np.arange(n + 1) + np.r_[0.0, np.cumsum(rest)], axis=1)

    if name == "graded":
        return graded
    return binary if name in ("rasch", "1PL", "2PL", "3PL", "4PL") else adjacent


def curve(name: str, shares: Floats, points: Floats, sign: float = 1.0) -> PlainItem:
    """Return an item of an IRT model, which starts at the shares of its responses.

    Parameters
    ----------
    name
        The name of the model, as in mirt.
    shares
        The shares of the responses, none of them 0.
    points
        The abilities.
    sign
        The sign of the first slope.
    """
    n = len(shares) - 1
    above = np.cumsum(shares[::-1])[::-1][1:]
    odds = np.log(above / (1 - above))
    steps = np.log(shares[1:] / shares[:-1])
    starts = {
        "rasch": odds, "1PL": odds, "2PL": np.r_[sign, odds],
        "3PL": np.r_[0.0, odds, -1.4], "4PL": np.r_[0.0, odds, -1.4, 1.4],
        "graded": np.r_[sign, odds[0], np.log(np.maximum(-np.diff(odds), 1e-3))],
        "pcm": steps, "gpcm": np.r_[sign, steps],
        "nominal": np.r_[sign * np.arange(1, n + 1) / n, np.cumsum(steps)],
    }  # fmt: skip
    prior = (lambda x: _prior(name, x)) if name in ("3PL", "4PL") else (lambda x: 0.0)
    most = np.full(len(starts[name]), 100.0)
    if name not in ("rasch", "1PL", "pcm"):
        most[: n if name == "nominal" else 1] = np.log(50.0) if name in ("3PL", "4PL") else 50.0
    return PlainItem(_curve(name, n, points), starts[name], most, prior)
