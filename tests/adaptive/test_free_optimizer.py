"""Curves end where a free optimizer ends, with reversed, flat and extreme items too."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from bnmind.adaptive import IRT_MODELS, AbilityGrid, Learned, Responses, learn_irt
from bnmind.information import Floats
from tests.plain_items import curve
from tests.plain_likelihood import Maximum, maximized, scaled_ability

GRID = AbilityGrid.normal(n_points=31, reach=6)
POINTS, WEIGHTS = np.array(GRID.points), np.array(GRID.weights)
MODELS = tuple(name for name in IRT_MODELS if name != "1PL")  # that is the Rasch model
BINARY = ("rasch", "2PL", "3PL", "4PL")
SETS = int(os.environ.get("BNMIND_SETS", "10"))
"""The number of random data sets of the slow test; 200 take ten minutes of processor time."""


def drawn(seed: int) -> NDArray[np.int64]:
    """Return graded responses to some items; −1 is missing."""
    rng = np.random.default_rng(seed)
    n, n_items = int(rng.integers(150, 500)), int(rng.integers(6, 12))
    ability = rng.normal(size=(n, 1))
    codes = np.empty((n, n_items), dtype=np.int64)
    for item in range(n_items):
        kind = rng.choice(["usual", "reversed", "flat", "extreme"], p=[0.55, 0.2, 0.1, 0.15])
        sign = float(rng.choice([-1, 1]))
        slope, center = {
            "usual": (rng.lognormal(0.1, 0.4), rng.normal()),
            "reversed": (-rng.lognormal(-0.2, 0.6), rng.normal()),
            "flat": (rng.normal(0, 0.05), rng.normal()),
            "extreme": (sign * rng.uniform(2.5, 5), sign * rng.uniform(1, 2)),
        }[kind]
        n_steps = int(rng.integers(1, 4))
        intercepts = np.sort(rng.normal(-slope * center, 1, n_steps))
        codes[:, item] = (rng.random((n, 1)) < expit(slope * ability + intercepts)).sum(axis=1)
    codes[rng.random(codes.shape) < rng.choice([0, 0.1])] = -1
    return codes


def tidy(codes: NDArray[np.int64], *, binary: bool) -> NDArray[np.int64]:
    """Return the responses from 0 without gaps, without items that all answer alike."""
    columns = []
    for column in codes.T:
        seen = np.unique(column[column >= 0])
        place = np.searchsorted(seen, column)
        if binary:
            place = place >= max(1, len(seen) // 2)
        if len(seen) > 1:
            columns.append(np.where(column >= 0, place, -1))
    kept = np.array(columns).T
    return kept[(kept >= 0).any(axis=1)]


def searched(name: str, codes: NDArray[np.int64], starts: list[Floats] | None = None) -> Maximum:
    """Return what the optimizer finds, from curves that fit the shares by default."""
    shares = [np.bincount(column[column >= 0]) / (column >= 0).sum() for column in codes.T]
    items = [curve(name, share, POINTS) for share in shares]
    if starts is not None:
        items = [item._replace(start=x) for item, x in zip(items, starts, strict=True)]
    if name not in ("rasch", "pcm"):
        return maximized(codes, items, WEIGHTS)
    return maximized(codes, items, scaled_ability(POINTS), np.zeros(1))


def as_starts(name: str, found: Learned) -> list[Floats]:
    """Return the learned curves in the numbers of the optimizer."""
    starts = []
    for item in found.bank.items:
        gate: Any = item.gate
        if name == "nominal":
            starts.append(np.r_[gate.slopes, gate.intercepts])
            continue
        slope: float = gate.slope
        places = getattr(gate, "thresholds", None) or (gate.difficulty,)
        x = np.r_[slope, -slope * np.array(places)]
        if name in ("rasch", "pcm"):
            x = x[1:]
        elif name in ("3PL", "4PL"):
            low, high = gate.lower, gate.upper
            odds = [low / (1 - low), (high - low) / max(1 - high, 1e-12)]
            x = np.r_[np.log(slope), x[1], np.log(odds[: 1 if name == "3PL" else 2])]
        elif name == "graded":
            x[2:] = np.log(np.maximum(x[1:-1] - x[2:], 1e-12))
        starts.append(x)
    return starts


def check(seed: int, name: str) -> None:
    """Check that what is learned is a maximum, and none that the optimizer finds is higher."""
    codes = tidy(drawn(seed), binary=name in BINARY)
    found = learn_irt(Responses.of(codes), IRT_MODELS[name], grid=GRID)
    assert found.record.converged, (seed, name)
    learned = found.record.objectives[-1]
    # A curve may become ever steeper, and then the last steps are small.
    higher = learned + 0.01
    assert searched(name, codes, as_starts(name, found)).objective < higher, (seed, name)
    # With positive slopes there is a maximum for each choice of the items that fall.
    if name not in ("3PL", "4PL"):
        assert searched(name, codes).objective < higher, (seed, name)


@pytest.mark.parametrize("name", MODELS)
def test_curves_end_where_a_free_optimizer_ends(name: str) -> None:
    check(2, name)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SETS, 5))
def test_curves_of_many_sets_end_where_a_free_optimizer_ends(first: int) -> None:
    for seed in range(first, first + 5):
        for name in MODELS:
            check(seed, name)
