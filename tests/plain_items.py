"""The items of every model, written anew for `tests.plain_likelihood`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import expit, softmax

from tests.plain_likelihood import Floats, PlainItem

__all__ = ["COGNITIVE", "cognitive", "curve"]


def _beta(c: float, a: float, b: float) -> float:
    return float((a - 1) * np.log(c) + (b - 1) * np.log1p(-c))


def _prior(name: str, x: Floats) -> float:
    """Return the log-density of BILOG's priors: of the slope exp(x), and of the asymptotes."""
    low = float(expit(x[2]))
    density = -x[0] - x[0] ** 2 / (2 * 0.5**2) + _beta(low, 5, 17)
    high = _beta((1 - low) * float(expit(-x[3])), 5, 17) if name == "4PL" else 0.0
    return float(density + high)


def _curve(name: str, n: int, points: Floats) -> Callable[[Floats], Floats]:
    """Return the table of an item with n + 1 responses, from slope and intercepts."""
    theta = points[:, None]

    def binary(x: Floats) -> Floats:
        slope = {"rasch": 1.0, "2PL": x[0]}.get(name, np.exp(x[0]))
        low = expit(x[2]) if name in ("3PL", "4PL") else 0.0
        high = low + (1 - low) * expit(x[3]) if name == "4PL" else 1.0
        right = low + (high - low) * expit(slope * theta + x[0 if name == "rasch" else 1])
        return np.hstack([1 - right, right])

    def graded(x: Floats) -> Floats:
        falling = x[1] - np.concatenate([[0.0], np.cumsum(np.exp(x[2:]))])
        edge = np.ones((len(points), 1))
        table: Floats = -np.diff(np.hstack([edge, expit(x[0] * theta + falling), 0 * edge]), axis=1)
        return table

    def adjacent(x: Floats) -> Floats:
        if name == "nominal":
            weights = theta * np.r_[0.0, x[:n]] + np.r_[0.0, x[n:]]
        else:
            slope, steps = (1.0, x) if name == "pcm" else (x[0], x[1:])
            weights = slope * theta * np.arange(n + 1) + np.r_[0.0, np.cumsum(steps)]
        table: Floats = softmax(weights, axis=1)
        return table

    if name == "graded":
        return graded
    return binary if name in ("rasch", "2PL", "3PL", "4PL") else adjacent


def curve(name: str, shares: Floats, points: Floats) -> PlainItem:
    """Return an item of an IRT model, which starts at the shares of its responses.

    Parameters
    ----------
    name
        The name of the model, as in mirt.
    shares
        The shares of the responses, none of them 0.
    points
        The abilities.
    """
    n = len(shares) - 1
    above = np.cumsum(shares[::-1])[::-1][1:]
    odds = np.log(above / (1 - above))
    steps = np.log(shares[1:] / shares[:-1])
    start = {
        "rasch": odds,
        "2PL": np.r_[1.0, odds],
        "3PL": np.r_[0.0, odds, -1.4],
        "4PL": np.r_[0.0, odds, -1.4, 1.4],
        "graded": np.r_[1.0, odds[0], np.log(np.maximum(-np.diff(odds), 1e-3))],
        "pcm": steps,
        "gpcm": np.r_[1.0, steps],
        "nominal": np.r_[np.arange(1, n + 1) / n, np.cumsum(steps)],
    }[name]
    most = np.full(len(start), 100.0)
    if name not in ("rasch", "pcm"):
        most[: n if name == "nominal" else 1] = np.log(50.0) if name in ("3PL", "4PL") else 50.0

    def log_prior(x: Floats) -> float:
        return _prior(name, x) if name in ("3PL", "4PL") else 0.0

    return PlainItem(_curve(name, n, points), start, most, log_prior)


# Items of skills: ``has`` is (profiles, skills that the item needs), of 0 and 1.


def _two(right: Floats) -> Floats:
    return np.stack([1 - right, right], axis=1)


def _cells(has: Floats) -> tuple[Floats, int]:
    """Return the number of each profile's cell, and the number of cells."""
    n = has.shape[1]
    return (has @ 2 ** np.arange(n)[::-1]).astype(int), 2**n


def _sequential(has: Floats, x: Floats) -> Floats:
    cell, n = _cells(has)
    first, second = expit(x[:n])[cell], expit(x[n:])[cell]
    return np.stack([1 - first, first * (1 - second), first * second], axis=1)


def _graded(has: Floats, x: Floats) -> Floats:
    above = expit((has @ x[:-2])[:, None] - np.array([x[-2], x[-2] + np.exp(x[-1])]))
    edge = np.ones((len(has), 1))
    table: Floats = -np.diff(np.hstack([edge, above, 0 * edge]), axis=1)
    return table


COGNITIVE: dict[str, Callable[[Floats, Floats], Floats]] = {
    "dina": lambda has, x: _two(expit(np.where(has.all(axis=1), x[1], x[0]))),
    "dino": lambda has, x: _two(expit(np.where(has.any(axis=1), x[1], x[0]))),
    "gdina": lambda has, x: _two(expit(x)[_cells(has)[0]]),
    "acdm": lambda has, x: _two(np.clip(x[0] + has @ x[1:], 1e-6, 1 - 1e-6)),
    "llm": lambda has, x: _two(expit(x[0] + has @ x[1:])),
    "rrum": lambda has, x: _two(np.exp(np.minimum(x[0] + has @ x[1:], -1e-6))),
    "leaky-or": lambda has, x: _two(1 - np.exp(np.minimum(x[0] + has @ x[1:], -1e-6))),
    "noisy-and": lambda has, x: _two(expit(np.where(has, x[1], x[0])).prod(axis=1)),
    "noisy-or": lambda has, x: _two(1 - expit(-np.where(has, x[1], x[0])).prod(axis=1)),
    "nida": lambda has, x: _two(
        expit(np.where(has, x[has.shape[1] :], x[: has.shape[1]])).prod(axis=1)
    ),
    "nido": lambda has, x: _two(expit((x[: has.shape[1]] + has * x[has.shape[1] :]).sum(axis=1))),
    "sequential": _sequential,
    "graded": _graded,
}
"""The table of an item by the name of its response model."""


def cognitive(
    name: str, has: Floats, start: Floats, places: Sequence[int] | None = None
) -> PlainItem:
    """Return an item of a response model.

    Parameters
    ----------
    name
        The name of the response model.
    has
        Whether each profile has the skills that the item needs.
    start
        The first numbers.
    places
        The numbers of the item among those of all items, where they share them.
    """
    table = COGNITIVE[name]
    own = list(range(len(start)) if places is None else places)
    return PlainItem(lambda x: table(has, x[own]), start)
