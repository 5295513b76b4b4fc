"""Steps that skip zeros, compared with the steps that visit all cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.program.sparse_steps as sparse
from bnmind.errors import ImpossibleEvidenceError
from bnmind.junction import Plan, compile_plan
from bnmind.junction.program.contraction import Products
from bnmind.junction.program.program import Program, Step, Sum
from bnmind.junction.program.program_inputs import Source
from bnmind.junction.program.sparse_steps import SparseProduct, SparseSum, with_sparse_steps
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from tests.modes import examples
from tests.wheel import read_wheel

ALWAYS: dict[str, Any] = {
    "_LEAST": 1,
    "_SHARE": 10**9,
    "_FEWER": 1,
    "_COST_OF_A_STEP": 1e-3,
    "_MOST_CELLS": 10**6,
    "_MOST_MISSES": 99,
}
"""Lists wherever they take fewer multiplications, however few."""


@pytest.fixture(autouse=True, scope="module")
def _always() -> Iterator[None]:
    with patch.multiple(sparse, **ALWAYS):
        yield


def zeros_in(rng: np.random.Generator, shape: Sequence[int]) -> Any:
    return rng.random(shape) * (rng.random(shape) < rng.choice([0.1, 0.3, 0.6]))


def source(scope: tuple[int, ...], values: Any, observed: tuple[str, ...] = ()) -> Source:
    return Source(
        scope=scope, observed=observed, values=values, n_cells=values.size, label="a table"
    )


def listed(program: Program) -> list[SparseProduct | SparseSum]:
    operations = [step.operation for step in program.steps]
    return [o for o in operations if isinstance(o, SparseProduct | SparseSum)]


@given(st.integers(0, 10**6))
@settings(max_examples=examples(80))
def test_a_step_on_lists_gives_what_the_whole_step_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 6).tolist()
    left = tuple(rng.permutation(6)[: rng.integers(1, 6)].tolist())
    right = tuple(rng.permutation(6)[: rng.integers(1, 6)].tolist())
    both = [v for v in left if v in right]
    tables = [zeros_in(rng, [sizes[v] for v in scope]) for scope in (left, right)]
    if seed % 5 == 0:
        tables[0] = tables[0] * 1j
    if both and seed % 2:
        operation, scope = Products(sizes).summed(left, right, both[: rng.integers(1, 4)])
        step = Step(operation, 0, 1)
    else:
        axes = tuple(sorted(rng.permutation(len(left))[: rng.integers(1, 6)].tolist()))
        scope = tuple(v for i, v in enumerate(left) if i not in axes)
        step = Step(Sum(axes, tables[0].size), 0, 0)
    program = Program(
        n_inputs=2,
        steps=(step,),
        spent=((),),
        scopes=(left, right, scope),
        sizes=tuple(sizes),
    )
    # Evidence selects one of the tables of the left register.
    more = np.array([tables[0], zeros_in(rng, tables[0].shape)])
    found = with_sparse_steps(program, [source(left, more, ("x",)), source(right, tables[1])])
    for chosen in more:
        registers, _, _ = found.run([chosen, tables[1]])
        whole, _, _ = program.run([chosen, tables[1]])
        np.testing.assert_allclose(registers[-1], whole[-1], rtol=1e-14, atol=0)
    for one in listed(found):
        assert one.cost <= one.whole_cost == step.operation.cost
    assert found.peak_cells >= program.peak_cells


def network_of(seed: int) -> Network:
    """Return a network whose tables have many zeros."""
    rng = np.random.default_rng(seed)
    variables = [Variable(f"v{i}", tuple(map(str, range(rng.integers(1, 5))))) for i in range(7)]
    cpds = []
    for i, variable in enumerate(variables):
        parents = [variables[p] for p in rng.permutation(i)[: rng.integers(0, 4)]]
        shape = (variable.n_states, *(p.n_states for p in parents))
        values = zeros_in(rng, shape)
        possible = rng.integers(0, shape[0], shape[1:])
        np.put_along_axis(values, possible[None], 0.5, axis=0)
        cpds.append(TabularCPD(variable, tuple(parents), values / values.sum(axis=0)))
    return Network(tuple(cpds))


def whole_plan(network: Network, evidence: Sequence[str]) -> Plan:
    with patch.object(sparse, "_LEAST", math.inf):
        plan = compile_plan(network, evidence=evidence)
    assert not listed(plan.compiled.program)
    return plan


@given(st.integers(0, 10**6))
@settings(max_examples=examples(40))
def test_plans_that_skip_zeros_answer_like_others(seed: int) -> None:
    network = network_of(seed)
    rng = np.random.default_rng(seed)
    names = [v.name for v in network.variables]
    seen = rng.permutation(names)[: rng.integers(0, 3)].tolist()
    plan, whole = compile_plan(network, evidence=seen), whole_plan(network, seen)
    assert plan.multiplications <= whole.multiplications
    cases = {name: rng.choice(network.variable(name).states, 4).tolist() for name in seen}
    for number in range(4 if seen else 1):
        case = {name: states[number] for name, states in cases.items()}
        try:
            expected = whole.run(case)
        except ImpossibleEvidenceError:
            with pytest.raises(ImpossibleEvidenceError):
                plan.run(case)
            continue
        found = plan.run(case)
        assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12, abs=1e-12)
        for first, second in zip(found.joints, expected.joints, strict=True):
            np.testing.assert_allclose(first, second, rtol=1e-11, atol=1e-13)
    if seen:
        runs = [one.run_batch(cases, allow_impossible=True) for one in (plan, whole)]
        np.testing.assert_allclose(runs[0].log_evidence, runs[1].log_evidence, 1e-12, 1e-12)


def test_some_of_these_plans_skip_zeros() -> None:
    numbers = [len(listed(compile_plan(network_of(seed)).compiled.program)) for seed in range(20)]
    assert sum(n > 0 for n in numbers) > 10


def test_the_plan_says_which_zeros_it_skips() -> None:
    network = network_of(3)
    plan = compile_plan(network)
    steps = listed(plan.compiled.program)
    assert f"zeros skipped in {len(steps)} of {len(plan.compiled.program.steps)} steps" in str(plan)
    assert "zeros skipped" not in str(whole_plan(network, []))


def test_zeros_are_followed_within_a_limit_of_work() -> None:
    network = network_of(3)
    with patch.object(sparse, "_MOST_STEPS", 0):
        assert not listed(compile_plan(network).compiled.program)


def test_tables_without_zeros_are_not_listed() -> None:
    a, b, c = (Variable(name, ("0", "1", "2", "3")) for name in "abc")
    ones = np.ones((4, 4))
    plan = compile_plan(FactorModel((Factor((a, b), ones), Factor((b, c), ones))))
    assert not listed(plan.compiled.program)


def test_water_takes_three_times_fewer_multiplications() -> None:
    water = read_wheel("water")
    with patch.multiple(sparse, **DEFAULTS):
        plan = compile_plan(water)
    whole = whole_plan(water, [])
    assert 3 * plan.multiplications < whole.multiplications
    found, expected = plan.run(), whole.run()
    for name, marginal in expected.marginals.items():
        np.testing.assert_allclose(found.marginals[name], marginal, rtol=1e-12, atol=1e-14)


DEFAULTS = {name: getattr(sparse, name) for name in ALWAYS}
