"""The marginal likelihood of item responses, maximized by L-BFGS: a twin of `learn`.

Nothing here comes from the package. An item is a function from numbers without bounds to its table
``(classes, responses)``; a class is a point of the ability, or a profile of skills. The gradient is
that of Fisher's identity, with differences of the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import softmax

__all__ = ["Maximum", "PlainItem", "free_classes", "log_likelihood", "maximized", "scaled_ability"]

Floats: TypeAlias = NDArray[np.float64]

_TINY = 1e-300


def _flat(x: Floats) -> float:
    return 0.0


class PlainItem(NamedTuple):
    """An item."""

    table: Callable[[Floats], Floats]
    """``(classes, responses)``."""
    start: Floats
    most: Floats | float = 100.0
    """The largest size of each number."""
    log_prior: Callable[[Floats], float] = _flat


class Maximum(NamedTuple):
    """Where the search ended."""

    objective: float
    log_likelihood: float
    items: tuple[Floats, ...]
    weights: Floats


def free_classes(x: Floats) -> Floats:
    """Return the chances of classes, without constraints."""
    chances: Floats = softmax(np.append(x, 0.0))
    return chances


def scaled_ability(points: Floats) -> Callable[[Floats], Floats]:
    """Return a normal distribution on points, given the logarithm of its deviation."""
    return lambda x: np.asarray(softmax(-(points**2) / (2 * np.exp(2 * x[0]))))


def _masses(codes: NDArray[Any], tables: Sequence[Floats], weights: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood, and the posterior of each examinee, ``(examinees, classes)``."""
    logs = np.log(np.maximum(weights, _TINY)) + np.zeros((len(codes), 1))
    for table, column in zip(tables, codes.T, strict=True):
        given = column >= 0
        logs[given] += np.log(np.maximum(table, _TINY)).T[column[given]]
    top = logs.max(axis=1, keepdims=True)
    joint = np.exp(logs - top)
    total = joint.sum(axis=1, keepdims=True)
    return float((np.log(total) + top).sum()), joint / total


def log_likelihood(codes: NDArray[Any], tables: Sequence[Floats], weights: Floats) -> float:
    """Return the logarithm of the chance of responses, ``(examinees, items)``; −1 is missing."""
    return _masses(codes, tables, weights)[0]


def _slopes(function: Callable[[Floats], Any], x: Floats) -> Floats:
    steps = 1e-6 * np.eye(len(x))
    return np.array([(function(x + step) - function(x - step)) / 2e-6 for step in steps])


def maximized(
    codes: NDArray[Any],
    items: Sequence[PlainItem],
    weights: Floats | Callable[[Floats], Floats],
    start_of_weights: Floats | None = None,
    *,
    shared: bool = False,
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
    shared
        Whether all items have the same numbers.
    """
    own = np.zeros(0) if start_of_weights is None else start_of_weights
    starts = [item.start for item in items[: 1 if shared else None]]
    ends = np.cumsum([len(own), *map(len, starts)])
    places = [slice(a, b) for a, b in pairwise(ends)] * (len(items) if shared else 1)

    def chances(x: Floats) -> Floats:
        return weights(x) if callable(weights) else weights

    def minus(x: Floats) -> tuple[float, Floats]:
        first, gradient = x[: len(own)], np.zeros(len(x))
        w = chances(first)
        tables = [item.table(x[place]) for item, place in zip(items, places, strict=True)]
        value, posterior = _masses(codes, tables, w)
        if len(own):
            ratio = (posterior / np.maximum(w, _TINY)).sum(axis=0)
            gradient[: len(own)] = _slopes(chances, first) @ ratio
        for item, place, table, column in zip(items, places, tables, codes.T, strict=True):
            counts = [posterior[column == r].sum(axis=0) for r in range(table.shape[1])]
            ratio = np.stack(counts, axis=1) / np.maximum(table, _TINY)
            gradient[place] += (_slopes(item.table, x[place]) * ratio).sum(axis=(1, 2))
            gradient[place] += _slopes(item.log_prior, x[place])
            value += item.log_prior(x[place])
        return -value, -gradient

    x = np.concatenate([own, *starts])
    sizes = [item.most + 0 * item.start for item in items[: len(starts)]]
    most = np.concatenate([np.full(len(own), np.inf), *sizes])
    options = {"maxiter": 3000, "maxfun": 6000, "ftol": 1e-14, "gtol": 1e-7, "maxcor": 30}
    bounds = list(zip(-most, most, strict=True))
    for _ in range(3):  # again from where it ended, with a new memory
        found = minimize(  # type: ignore[call-overload]
            minus, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        x = found.x
    w = chances(x[: len(own)])
    parts = tuple(x[place] for place in places)
    tables = [item.table(part) for item, part in zip(items, parts, strict=True)]
    return Maximum(-float(found.fun), log_likelihood(codes, tables, w), parts, w)
