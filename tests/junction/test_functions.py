"""Functions kept as their values answer as their tables of zeros and ones do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import bnmind.junction.reduction as support
from bnmind.junction import compile_explanation, compile_plan, compile_sampling
from bnmind.junction.contraction import Function, ProgramBuilder
from bnmind.junction.program import Program, Scatter
from bnmind.junction.runs import CaseProgram, logarithms, run_logarithms
from tests.junction.test_batch import batches, one_by_one
from tests.junction.test_plan import Query, queries
from tests.modes import examples
from tests.networks import enumerate_joint

Contraction = tuple[Program, int, list[Any], list[tuple[int, ...]], tuple[int, ...], list[int]]


@st.composite
def contractions(draw: st.DrawFn) -> Contraction:
    """Return a program that contracts functions and tables, its inputs, and what is asked.

    The inputs are tables, and positions of functions where the child comes first in the scope.
    """
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    variables = range(len(sizes))
    subsets = st.lists(st.sampled_from(variables), unique=True, min_size=1, max_size=3)
    scopes = [tuple(scope) for scope in draw(st.lists(subsets, min_size=1, max_size=4))]
    n_functions = draw(st.integers(0, min(2, len(scopes))))
    inputs: list[Any] = []
    functions = {}
    for i, scope in enumerate(scopes):
        shape = [sizes[v] for v in scope]
        if i < n_functions:
            partial = draw(st.booleans())
            inputs.append(rng.integers(-1 if partial else 0, shape[0], size=shape[1:]))
            functions[i] = Function(scope[0], partial)
        else:
            inputs.append(rng.random(shape) * (rng.random(shape) < 0.8))
    builder = ProgramBuilder(sizes, list(scopes), functions=functions)
    keep = draw(st.lists(st.sampled_from(variables), unique=True, max_size=3))
    register = builder.contract(range(len(scopes)), frozenset(keep))
    assert register is not None
    return builder.build([register]), register, inputs, scopes, tuple(sizes), [*functions]


def expected(
    inputs: list[Any], scopes: list[tuple[int, ...]], sizes: tuple[int, ...], functions: list[int]
) -> np.ndarray[Any, Any]:
    """Return the product of all inputs over all variables, functions written out."""
    total = np.ones(sizes)
    for i, scope in enumerate(scopes):
        table = inputs[i]
        if i in functions:
            states = np.arange(sizes[scope[0]]).reshape(-1, *[1] * table.ndim)
            table = (states == table).astype(float)
        axes = [scope.index(v) for v in sorted(scope)]
        shape = [n if v in scope else 1 for v, n in enumerate(sizes)]
        total = total * table.transpose(axes).reshape(shape)
    return total


def summed(total: Any, scopes: list[tuple[int, ...]], result: tuple[int, ...], add: Any) -> Any:
    """Return what is asked for; variables that nothing holds have no part in it."""
    held = {v for scope in scopes for v in scope}
    free = tuple(v for v in range(total.ndim) if v not in held)
    total = total[tuple(0 if v in free else slice(None) for v in range(total.ndim))]
    left = sorted(held)
    gone = tuple(i for i, v in enumerate(left) if v not in result)
    kept = [v for v in left if v in result]
    found = add(total, axis=gone) if gone else total
    return found.transpose([kept.index(v) for v in result])


@settings(max_examples=examples(100))
@given(contractions())
def test_contractions_are_sums_of_products(drawn: Contraction) -> None:
    program, register, inputs, scopes, sizes, functions = drawn
    result = program.scopes[register]
    total = expected(inputs, scopes, sizes, functions)
    wanted = summed(total, scopes, result, np.sum)
    for scaled, rounds_up in ((False, False), (True, False), (False, True)):
        filled, powers, lost = program.run(inputs, scaled=scaled, rounds_up=rounds_up)
        assert not lost
        found = np.ldexp(filled[register], powers[register] if powers else 0)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    if program.steps:
        logs = logarithms(inputs, len(inputs))
        found = np.exp(run_logarithms(program, logs, np.logaddexp)[register])
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-14)
        found = np.exp(run_logarithms(program, logs, np.maximum)[register])
        most = summed(total, scopes, result, np.max)
        np.testing.assert_allclose(found, most, rtol=1e-9, atol=1e-14)


@settings(max_examples=examples(100))
@given(contractions(), st.data())
def test_contractions_of_many_cases_are_those_of_each(
    drawn: Contraction, data: st.DataObject
) -> None:
    program, register, inputs, *_ = drawn
    n = data.draw(st.integers(1, 3))
    first = [data.draw(st.booleans()) for _ in inputs]
    moving = list(first)
    for _, left, right in program.steps:
        moving.append(moving[left] or moving[right])
    if not program.steps or not moving[register]:
        return
    # In every case the last axis of a table, and of positions, is turned by one more.
    columns = [
        np.stack([np.roll(a, case, axis=-1) if a.ndim else a for case in range(n)], axis=-1)
        if moves
        else a
        for a, moves in zip(inputs, first, strict=True)
    ]
    several = CaseProgram(program, [None if m else c for c, m in zip(columns, first, strict=True)])
    assert several.moving == moving
    for scaled in (False, True):
        registers, powers, has_lost = several.run(columns, n, scaled=scaled)
        assert not has_lost
        found = np.ldexp(registers[register], powers[register])
        for case in range(n):
            one = [c[..., case] if m else c for c, m in zip(columns, first, strict=True)]
            alone = program.run(one)[0][register]
            np.testing.assert_allclose(found[..., case], alone, rtol=1e-12, atol=1e-14)


@contextmanager
def every_function_as_values() -> Iterator[None]:
    """Keep every function as its values, however small it is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(support, "_LARGE_FUNCTION", 0)
        yield


@settings(max_examples=examples(80))
@given(queries())
def test_posteriors_equal_enumeration(query: Query) -> None:
    network, evidence, targets, known, _ = query
    positions = {n: network.variable(n).index(s) for n, s in evidence.items()}
    joint = enumerate_joint(network).select(positions)
    chance = float(joint.sum_to(()).values.real)
    assume(chance > 0)
    with every_function_as_values():
        plan = compile_plan(network, evidence=evidence, targets=targets)
        rest = {n: s for n, s in evidence.items() if n not in known}
        small = plan.restrict({n: evidence[n] for n in known})
        answers = [plan.run(evidence), small.run(rest), small.restrict(rest).run({})]
    for answer in answers:
        assert answer.log_evidence == pytest.approx(math.log(chance), abs=1e-9)
        for found, target in zip(answer.targets, targets, strict=True):
            truth = joint.sum_to(target).values / chance
            np.testing.assert_allclose(found.values, truth, rtol=0, atol=1e-12)


@settings(max_examples=examples(80))
@given(st.data())
def test_batches_say_what_single_runs_say(data: st.DataObject) -> None:
    with every_function_as_values():
        plan, cases, n = data.draw(batches())
    joints, logs = one_by_one(plan, cases, n)
    found = plan.run_batch(cases, allow_impossible=True)
    assert found.impossible.tolist() == [i for i in range(n) if not joints[i]]
    for i in range(n):
        assert found.log_evidence[i] == pytest.approx(logs[i], abs=1e-9)
        for k, joint in enumerate(joints[i]):
            np.testing.assert_allclose(found.joints[k][i], joint, rtol=0, atol=1e-12)


@settings(max_examples=examples(40))
@given(queries(), st.integers(0, 99))
def test_explanations_and_samples_of_functions_agree_with_enumeration(
    query: Query, seed: int
) -> None:
    network, evidence, *_ = query
    positions = {n: network.variable(n).index(s) for n, s in evidence.items()}
    joint = enumerate_joint(network).select(positions)
    largest = float(joint.values.real.max())
    assume(largest > 0)

    with every_function_as_values():
        best = compile_explanation(network, evidence=evidence).run(evidence)
        rng = np.random.default_rng(seed)
        samples = compile_sampling(network, evidence=evidence).run(evidence, n_samples=20, rng=rng)
    assert best.log_probability == pytest.approx(math.log(largest), abs=1e-9)
    at = tuple(v.index(best.states[v.name]) for v in joint.scope)
    assert joint.values.real[at] == pytest.approx(largest, rel=1e-9)
    total = float(joint.values.real.sum())
    assert samples.log_evidence == pytest.approx(math.log(total), abs=1e-9)
    columns = [samples.variables.index(v) for v in joint.scope]
    assert np.all(joint.values.real[tuple(samples.positions[:, columns].T)] > 0)


@pytest.mark.parametrize("keep", [{0}, {0, 1}, {0, 3}])
@pytest.mark.parametrize("moving", [(True, False), (False, True), (True, True)])
def test_complex_numbers_are_added_up_where_a_function_sends_them(
    keep: set[int], moving: tuple[bool, bool]
) -> None:
    # The states of variable 0 follow from those of 1 and 2, and the table is over 1, 2 and 3.
    sizes, n = (4, 3, 3, 2), 5
    scopes: list[tuple[int, ...]] = [(0, 1, 2), (1, 2, 3)]
    rng = np.random.default_rng(len(keep))
    functions = rng.integers(-1, 4, size=(3, 3, n))
    tables: Any = rng.normal(size=(3, 3, 2, n)) + 1j * rng.normal(size=(3, 3, 2, n))
    builder = ProgramBuilder(list(sizes), list(scopes), functions={0: Function(0, True)})
    register = builder.contract(range(2), frozenset(keep))
    assert register is not None
    program = builder.build([register])
    assert any(isinstance(step.operation, Scatter) for step in program.steps)
    columns: list[Any] = [
        values if moves else values[..., 0].copy()
        for values, moves in zip((functions, tables), moving, strict=True)
    ]
    several = CaseProgram(program, [None if m else c for c, m in zip(columns, moving, strict=True)])
    registers, *_ = several.run(columns, n)
    for case in range(n):
        one = [c[..., case] if m else c for c, m in zip(columns, moving, strict=True)]
        total = expected(one, scopes, sizes, [0])
        wanted = summed(total, scopes, program.scopes[register], np.sum)
        alone = program.run(one)[0][register]
        np.testing.assert_allclose(alone, wanted, rtol=1e-12, atol=1e-14)
        found = registers[register][..., case]
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
