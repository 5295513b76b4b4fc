"""Small simulated responses for every model that is learned, with what a plain search finds.

`tests/small_sets` holds the responses, and the largest objective that `tests.plain_likelihood`
finds: the log-likelihood, with the log-density of the priors of the 3PL and the 4PL. So a stranger
without data sets can test what is learned. ``python -m tests.plain_sets`` writes them anew.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.plain_items import COGNITIVE, cognitive, curve
from tests.plain_likelihood import (
    Floats,
    Maximum,
    PlainItem,
    free_classes,
    maximized,
    scaled_ability,
)

__all__ = ["CURVES", "FOLDER", "Q", "known_objectives", "plain_search", "read_codes"]

FOLDER = Path(__file__).with_name("small_sets")

CURVES = ("rasch", "2PL", "3PL", "4PL", "graded", "pcm", "gpcm", "nominal")
"""The models of one ability; in file names after ``ability-``."""

Q = np.array([[1, 0], [0, 1], [1, 1]] * 3)
_PROFILES = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
_POINTS = np.linspace(-6, 6, 61)
_SHARED = ("nida", "nido")
_N = 400


def read_codes(name: str) -> NDArray[np.int64]:
    """Return the responses for a model."""
    codes: NDArray[np.int64] = np.loadtxt(
        FOLDER / f"{name}.csv", delimiter=",", skiprows=1, dtype=np.int64
    )
    return codes


def known_objectives() -> dict[str, float]:
    """Return the objective that the search found for each model."""
    found: dict[str, float] = json.loads((FOLDER / "objectives.json").read_text("utf-8"))
    return found


def _logit(chance: float) -> float:
    return float(np.log(chance / (1 - chance)))


def _truth(name: str, n: int, rng: np.random.Generator) -> Floats:
    """Return likely numbers of an item that needs n skills."""
    low, high = rng.uniform(0.1, 0.25), rng.uniform(0.75, 0.9)
    shares = rng.dirichlet(np.full(n, 8.0))
    between = rng.uniform(0.35, 0.65, 2**n - 2)
    ends = {
        "acdm": (low, high),
        "llm": (_logit(low), _logit(high)),
        "rrum": (np.log(low), np.log(high)),
        "leaky-or": (np.log(1 - low), np.log(1 - high)),
    }
    if name in ends:
        first, last = ends[name]
        return np.array([first, *((last - first) * shares)])
    cells = np.array([_logit(low), *map(_logit, between), _logit(high)])
    numbers: dict[str, Floats] = {
        "gdina": cells,
        "sequential": np.tile(cells, 2),
        "graded": np.array([*rng.uniform(1.5, 2.5, n), n * rng.uniform(0.3, 0.6), 0.2]),
    }
    return numbers.get(name, cells[[0, -1]])


def _items(name: str, rng: np.random.Generator | None = None) -> list[PlainItem]:
    """Return the items of a response model, at likely numbers, or where a search starts."""
    rng = rng or np.random.default_rng(99)
    if name in _SHARED:
        low = [-0.9, -1.3] if name == "nida" else [-0.8, -1.1]
        both = np.r_[low, [1.6, 2.0] if name == "nida" else [2.4, 2.0]]
        places = [[*np.flatnonzero(row), *(2 + np.flatnonzero(row))] for row in Q]
        return [
            cognitive(name, _PROFILES[:, row > 0], both, place)
            for row, place in zip(Q, places, strict=True)
        ]
    return [
        cognitive(name, _PROFILES[:, row > 0].astype(float), _truth(name, row.sum(), rng))
        for row in Q
    ]


def _curves(name: str, codes: NDArray[np.int64]) -> list[PlainItem]:
    return [curve(name, np.bincount(column) / len(column), _POINTS) for column in codes.T]


def plain_search(name: str, codes: NDArray[np.int64]) -> Maximum:
    """Return the maximum that the search finds for the responses of a model."""
    model = name.removeprefix("ability-")
    if model != name:
        normal = np.exp(-(_POINTS**2) / 2)
        if model in ("rasch", "pcm"):
            return maximized(codes, _curves(model, codes), scaled_ability(_POINTS), np.zeros(1))
        return maximized(codes, _curves(model, codes), normal / normal.sum())
    return maximized(codes, _items(name), free_classes, np.zeros(3), shared=name in _SHARED)


def _drawn(name: str, seed: int) -> NDArray[np.int64]:
    """Return simulated responses; one item of an ability is reversed."""
    rng = np.random.default_rng([seed, sum(name.encode())])
    model = name.removeprefix("ability-")
    if model == name:
        items = _items(name, rng)
        classes = rng.choice(4, _N, p=rng.dirichlet(np.full(4, 30.0)))
        tables = [item.table(item.start) for item in items]
    else:
        ability = rng.normal(size=_N)
        slopes = rng.lognormal(0.1, 0.3, 7)
        slopes[-1] *= -0.6
        places, classes, tables = rng.normal(0, 0.8, 7), np.arange(_N), []
        for slope, place in zip(slopes, places, strict=True):
            steps = np.array([-0.6, 0.7]) if model in ("graded", "pcm", "gpcm", "nominal") else 0.0
            x = np.r_[slope, np.sort(np.atleast_1d(-slope * (place + steps)))[::-1]]
            kind = "graded" if x.size > 2 else "2PL"
            if x.size > 2:
                x[2:] = np.log(x[1:-1] - x[2:])
            tables.append(curve(kind, np.full(x.size, 1 / x.size), ability).table(x))
            if model in ("3PL", "4PL"):
                tables[-1] = 0.2 + 0.75 * tables[-1]
                tables[-1][:, 0] = 1 - tables[-1][:, 1]
    columns = [
        (rng.random((_N, 1)) > np.cumsum(table[classes], axis=1)[:, :-1]).sum(axis=1)
        for table in tables
    ]
    return np.array(columns).T


def main() -> None:
    """Write the responses and the objectives."""
    FOLDER.mkdir(exist_ok=True)
    objectives = {}
    for name in (*COGNITIVE, *(f"ability-{model}" for model in CURVES)):
        codes = _drawn(name, 1)
        header = ",".join(f"item_{number}" for number in range(1, codes.shape[1] + 1))
        path = FOLDER / f"{name}.csv"
        np.savetxt(path, codes, fmt="%d", delimiter=",", header=header, comments="")
        found = plain_search(name, codes)
        objectives[name] = round(found.objective, 4)
    text = json.dumps(objectives, indent=1) + "\n"
    (FOLDER / "objectives.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
