"""The order of the axes of large registers changes the time of a run, and no answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

import bnmind.junction.program as program
import bnmind.junction.runs as long_runs
from bnmind.junction import Plan, compile_plan
from bnmind.pgm import Network, TabularCPD, Variable
from tests.modes import examples
from tests.networks import networks


def grid(n: int) -> Network:
    """Return a network of n² binary variables, with the neighbors above and left as parents."""
    rng = np.random.default_rng(n)
    variables = {(i, j): Variable(f"x{i}_{j}", ("0", "1")) for i in range(n) for j in range(n)}
    cpds = []
    for (i, j), v in variables.items():
        parents = tuple(variables[p] for p in ((i - 1, j), (i, j - 1)) if p in variables)
        table = rng.uniform(0.1, 1.0, [2] * (len(parents) + 1))
        cpds.append(TabularCPD(v, parents, table / table.sum(axis=0)))
    return Network(tuple(cpds))


def both(network: Network, monkeypatch: pytest.MonkeyPatch, **options: Any) -> tuple[Plan, Plan]:
    """Return a plan without and with better orders, for registers of any size."""
    with monkeypatch.context() as patch:
        patch.setattr(long_runs, "_LARGE", 2**62)
        plain = compile_plan(network, **options)
        patch.setattr(long_runs, "_LARGE", 2)
        return plain, compile_plan(network, **options)


@given(networks(), st.data())
@settings(max_examples=examples(60))
def test_answers_stay_the_same(network: Network, data: st.DataObject) -> None:
    names = [v.name for v in network.variables]
    evidence = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    soft = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    soft = [name for name in soft if name not in evidence]
    targets: list[tuple[str, ...]] = [(n,) for n in names if n not in evidence] or [()]
    pair = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    with pytest.MonkeyPatch.context() as patch:
        plain, better = both(
            network, patch, evidence=evidence, soft=soft, targets=[*targets, tuple(pair)]
        )
    assert plain.multiplications == better.multiplications
    cases = {v.name: np.arange(3) % v.n_states for v in (*plain.evidence, *plain.soft)}
    batch = better.run_batch(cases, allow_impossible=True) if cases else None
    for case in range(3):
        states = {name: network.variable(name).states[k[case]] for name, k in cases.items()}
        if batch is not None and case in batch.impossible.tolist():
            continue
        found, expected = better.run(states), plain.run(states)
        assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-10)
        for i, joint in enumerate(expected.joints):
            np.testing.assert_allclose(found.joints[i], joint, atol=1e-12)
            if batch is not None:
                np.testing.assert_allclose(batch.joints[i][case], joint, atol=1e-12)


def test_a_grid_is_read_in_long_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large registers come second in products, and their last axes stay where they are."""
    options = {"evidence": ["x9_9"], "targets": [["x0_0"]]}
    plain, better = both(grid(10), monkeypatch, **options)
    evidence = {"x9_9": "1"}
    found, expected = better.run(evidence), plain.run(evidence)
    np.testing.assert_allclose(found.joints[0], expected.joints[0], atol=1e-14)
    steps = better.compiled.program.steps
    products = [s for s in steps if isinstance(s.operation, program.Product) and s.operation.sums]
    cells = better.compiled.program.cells
    assert len(products) > 50
    assert all(cells(s.left) <= cells(s.right) for s in products)


def test_products_that_wait_for_memory_have_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = compile_plan(grid(14), evidence=["x13_13"], targets=[["x0_0"]])
    used: set[int] = set()

    def matmul(*operands: Any) -> Any:
        used.update(f["num_threads"] for f in threadpool_info() if f["user_api"] == "blas")
        return multiplied(*operands)

    multiplied = np.matmul
    with threadpool_limits(limits=2, user_api="blas"):
        monkeypatch.setattr(np, "matmul", matmul)
        plan.run({"x13_13": "1"})
    assert 1 in used  # SciPy may have loaded a library of its own since
