"""Searches against independent programs: toulbar2, and exact elimination of real networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bnmind.junction import Limits, compile_model, compile_search
from bnmind.pgm import Factor, FactorModel
from tests.junction.branch_and_bound.test_search import grid
from tests.wheel import read_wheel


def least_cost(model: FactorModel) -> float:
    """Return the smallest sum of the negative logarithms of the factors, by toulbar2."""
    toulbar2 = pytest.importorskip("pytoulbar2")
    problem: Any = toulbar2.CFN(10_000.0, resolution=6)
    for v in model.variables:
        problem.AddVariable(v.name, list(v.states))
    least = 0.0
    for factor in model.potentials:
        assert isinstance(factor, Factor)
        with np.errstate(divide="ignore"):
            costs = -np.log(factor.values.real)
        base = float(costs.min())
        least += base
        problem.AddFunction(list(factor.names), np.minimum(costs - base, 9_999).ravel().tolist())
    solution = problem.Solve()
    assert solution is not None
    return float(solution[1]) + least


@pytest.mark.parametrize("seed", range(2))
def test_toulbar2_finds_the_same_value(seed: int) -> None:
    model = grid(8, seed)
    found = compile_search(model, limits=Limits(max_bytes=2**14)).run()
    assert found.is_proven
    # toulbar2 rounds each cost to a millionth.
    assert found.log_probability == pytest.approx(-least_cost(model), abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alarm", "insurance", "water", "mildew", "win95pts"])
def test_real_networks_have_the_explanations_of_exact_elimination(name: str) -> None:
    network = read_wheel(name)
    engine = compile_model(network)
    rng = np.random.default_rng(1)
    case = engine.sample(1, rng).columns
    names = [v.name for v in network.variables]
    chosen = rng.choice(names, size=len(names) // 10, replace=False).tolist()
    seen = {name: str(case[name][0]) for name in chosen}
    targets = [name for name in names if name not in seen and len(name) % 2][:5]
    assert math.prod(network.variable(t).n_states for t in targets) < 2**20
    found = compile_search(network, seen).run()
    assert found.is_proven
    assert found.log_probability == pytest.approx(engine.mpe(seen).log_probability, rel=1e-9)
    found = compile_search(network, seen, targets).run()
    exact = engine.map(targets, seen)
    assert found.is_proven
    assert found.log_probability == pytest.approx(exact.log_probability, rel=1e-9)
