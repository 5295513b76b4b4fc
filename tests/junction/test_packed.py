"""Plans that store no zeros, compared with plans that store all cells."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.program.sparse_steps as packing
from bnmind.errors import ImpossibleEvidenceError, TooLargeError
from bnmind.junction import Limits, Plan, compile_explanation, compile_model, compile_plan
from bnmind.junction.inference.compiled_query import starting_registers
from bnmind.junction.inference.sums import sums_by_logarithms
from bnmind.junction.program.contraction import Products
from bnmind.junction.program.program import Arithmetic, PackedStep, Program, Step, Sum
from bnmind.junction.program.sparse_steps import packed
from bnmind.junction.reduction import Source
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from tests.modes import examples


def zeros_in(rng: np.random.Generator, shape: Sequence[int]) -> Any:
    return rng.random(shape) * (rng.random(shape) < rng.choice([0.1, 0.3, 0.6]))


def source(scope: tuple[int, ...], values: Any, observed: tuple[str, ...] = ()) -> Source:
    return Source(scope=scope, observed=observed, values=values, n_cells=values.size)


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


def is_packed(plan: Plan) -> bool:
    steps = plan.compiled.program.steps
    return any(isinstance(step.operation, PackedStep) for step in steps)


ALWAYS: dict[str, Any] = {"_FEW": 0, "_PACKED_SHARE": 1, "_TIMES": 0}
"""Pack all registers."""


def ranking(n: int, comparisons: int, seed: int = 1) -> tuple[FactorModel, dict[str, str]]:
    """Return items in an unknown order, with noisy comparisons of pairs, and their results."""
    rng = np.random.default_rng(seed)
    places = tuple(map(str, range(n)))
    ranks = [Variable(f"r{i}", places) for i in range(n)]
    factors = [Factor(pair, 1 - np.eye(n)) for pair in itertools.combinations(ranks, 2)]
    better = np.where(np.arange(n)[:, None] < np.arange(n), 0.8, 0.2)
    for k in range(comparisons):
        i, j = rng.choice(n, 2, replace=False)
        result = Variable(f"c{k}", ("no", "yes"))
        factors.append(Factor((ranks[i], ranks[j], result), np.stack([1 - better, better], -1)))
    return FactorModel(tuple(factors)), {f"c{k}": "yes" for k in range(comparisons)}


def by_permutations(model: FactorModel, evidence: dict[str, str], n: int) -> tuple[Any, float]:
    """Return the marginals of the ranks and the logarithm of the sum, by enumeration."""
    orders = np.array(list(itertools.permutations(range(n))))
    weights = np.ones(len(orders))
    for factor in model.potentials:
        if len(factor.scope) == 3:
            i, j = (int(v.name[1:]) for v in factor.scope[:2])
            assert isinstance(factor, Factor)
            state = int(evidence[factor.scope[2].name] == "yes")
            weights *= factor.values[orders[:, i], orders[:, j], state]
    joints = {f"r{i}": np.bincount(orders[:, i], weights, n) / weights.sum() for i in range(n)}
    return joints, float(np.log(weights.sum()))


@given(st.integers(0, 10**6))
@settings(max_examples=examples(60), deadline=None)
def test_a_packed_step_gives_what_the_whole_step_gives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 6).tolist()
    left = tuple(rng.permutation(6)[: rng.integers(1, 6)].tolist())
    right = tuple(rng.permutation(6)[: rng.integers(1, 6)].tolist())
    both = [v for v in left if v in right]
    tables = [zeros_in(rng, [sizes[v] for v in scope]) for scope in (left, right)]
    if both and seed % 3 == 0:
        step, scope = Products(sizes).summed(left, right, both[: rng.integers(1, 4)])
    else:
        step, scope = Products(sizes).broadcast(left, right)
    axes = tuple(range(0, len(scope), 2))
    total = Sum(axes, 1)
    rest = tuple(v for i, v in enumerate(scope) if i not in axes)
    program = Program(
        n_inputs=2,
        steps=(Step(step, 0, 1), Step(total, 2, 2)),
        spent=((), (2,)),
        scopes=(left, right, scope, rest),
        sizes=tuple(sizes),
    )
    sources = [source(left, tables[0]), source(right, tables[1])]
    with patch.multiple(packing, **ALWAYS):
        found = packed(program, sources, [3], 10**6)
    assert found is not None
    assert sum(found.held) <= sum(program.held)
    for kind in (Arithmetic(), Arithmetic(scaled=True)):
        ours, powers, _ = found.run(tables, kind)
        whole, others, _ = program.run(tables, kind)
        shift = np.ldexp(1.0, powers[3] - others[3]) if powers else 1.0
        np.testing.assert_allclose(ours[3] * shift, whole[3], rtol=1e-13, atol=0)
    assert packed(program, sources, [3], 0) is None or not all(t.any() for t in tables)


@given(st.integers(0, 10**6))
@settings(max_examples=examples(25), deadline=None)
def test_packed_plans_answer_like_others(seed: int) -> None:
    network: Network = network_of(seed)
    names = [v.name for v in network.variables]
    evidence = names[:: 2 + seed % 3]
    rng = np.random.default_rng(seed)
    plan = compile_plan(network, evidence=evidence)
    program, sources = plan.compiled.program, plan.compiled.sources
    answers = [answer.register for answer in plan.compiled.answers]
    with patch.multiple(packing, **ALWAYS):
        found_program = packed(program, sources, [r for r in answers if r is not None], 10**6)
    assert found_program is not None
    other = Plan(replace(plan.compiled, program=found_program))
    for _ in range(3):
        case = {v.name: str(rng.integers(v.n_states)) for v in plan.evidence}
        try:
            expected = plan.run(case)
        except ImpossibleEvidenceError:
            assert not other.is_possible(case)
            continue
        registers = starting_registers(other.compiled, case)
        for found in (other.run(case), sums_by_logarithms(other.compiled, registers)):
            assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12, abs=1e-12)
        for name, marginal in expected.marginals.items():
            np.testing.assert_allclose(other.run(case).marginals[name], marginal, atol=1e-12)


def test_what_does_not_fit_with_its_zeros_runs_without_them() -> None:
    model, evidence = ranking(7, 12)
    whole = compile_plan(model, evidence=evidence)
    tight = Limits(2**31, whole.multiplications // 2)
    plan = compile_plan(model, evidence=evidence, limits=tight)
    assert is_packed(plan)
    assert not is_packed(whole)
    assert plan.multiplications < whole.multiplications / 2
    expected, log = by_permutations(model, evidence, 7)
    posterior = plan.run(evidence)
    assert posterior.log_evidence == pytest.approx(log, rel=1e-12)
    for name, marginal in expected.items():
        np.testing.assert_allclose(posterior.marginals[name], marginal, atol=1e-12)
    text = str(plan)
    assert "zeros are not stored" in text
    # The memory is that of all registers and lists.
    assert plan.memory > plan.compiled.program.listed_bytes > 0
    # Cases run one by one.
    batch = plan.run_batch({name: [state, "no"] for name, state in evidence.items()})
    np.testing.assert_allclose(batch.marginals["r0"][0], expected["r0"], atol=1e-12)
    engine = compile_model(model, limits=tight)
    np.testing.assert_allclose(
        engine.posterior("r0", evidence).marginals["r0"], expected["r0"], atol=1e-12
    )


def test_explanations_do_not_fit_without_zeros() -> None:
    # They read the states of all variables from whole tables.
    model, evidence = ranking(7, 12)
    whole = compile_explanation(model, evidence=evidence)
    tight = Limits(2**31, whole.plan.multiplications // 2)
    assert is_packed(compile_plan(model, evidence=evidence, limits=tight))
    with pytest.raises(TooLargeError, match="a run of this plan would take"):
        compile_explanation(model, evidence=evidence, limits=tight)


def test_long_lists_are_refused_with_the_costs_of_the_whole() -> None:
    model, evidence = ranking(6, 12)
    with pytest.raises(TooLargeError, match="multiplications"):
        compile_plan(model, evidence=evidence, limits=Limits(2**31, 2_000))


def test_zeros_far_from_each_other_are_no_reason_to_try() -> None:
    # Tables without zeros have no lists.
    model, evidence = ranking(6, 12)
    factors = [Factor(f.scope, f.values + 0.1) for f in model.potentials if isinstance(f, Factor)]
    positive = FactorModel(tuple(factors))
    whole = compile_plan(positive, evidence=evidence)
    with pytest.raises(TooLargeError):
        compile_plan(positive, evidence=evidence, limits=Limits(2**31, whole.multiplications // 2))


def test_small_numbers_do_not_underflow_in_packed_plans() -> None:
    model, evidence = ranking(5, 8)
    factors = [Factor(f.scope, f.values * 1e-40) for f in model.potentials if isinstance(f, Factor)]
    small = FactorModel(tuple(factors))
    whole = compile_plan(small, evidence=evidence)
    tight = Limits(2**31, whole.multiplications // 2)
    plan = compile_plan(small, evidence=evidence, limits=tight)
    assert is_packed(plan)
    found, expected = plan.run(evidence), whole.run(evidence)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12)
    np.testing.assert_allclose(found.marginals["r1"], expected.marginals["r1"], atol=1e-12)
