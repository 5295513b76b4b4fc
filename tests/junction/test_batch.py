"""Batches against one run a case, and what they refuse."""

from __future__ import annotations

import math
import tracemalloc
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.batches as batch_memory
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.junction import Plan, compile_plan
from bnmind.junction.batches import BatchRun
from bnmind.junction.evidence import case_findings
from bnmind.junction.program import Product, Program, Step
from bnmind.junction.runs import CaseProgram
from bnmind.pgm import (
    Addition,
    Factor,
    FactorModel,
    FunctionalCPD,
    Network,
    TabularCPD,
    Variable,
)
from bnmind.rank_one import factorize
from tests.modes import examples
from tests.networks import networks

RAIN = Variable("rain", ("no", "yes"))
WET = Variable("wet", ("no", "damp", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.0], [0.1, 0.4], [0.0, 0.6]])),
    )
)


def one_by_one(
    plan: Plan, cases: dict[str, Any], n: int
) -> tuple[list[list[np.ndarray[Any, Any]]], list[float]]:
    """Return what a run for each case says; empty joints where it is impossible."""
    joints: list[list[np.ndarray[Any, Any]]] = []
    logs: list[float] = []
    for i in range(n):
        findings: dict[str, Any] = {}
        for v in (*plan.evidence, *plan.soft):
            if v.name not in cases:
                continue
            found = np.asarray(cases[v.name])[i]
            if found.ndim:
                findings[v.name] = found
            elif found >= 0:
                findings[v.name] = v.states[int(found)]
        try:
            posterior = plan.run(findings)
        except ImpossibleEvidenceError:
            joints.append([])
            logs.append(-np.inf)
            continue
        joints.append([np.asarray(joint) for joint in posterior.joints])
        logs.append(posterior.log_evidence)
    return joints, logs


@st.composite
def batches(draw: st.DrawFn) -> tuple[Plan, dict[str, Any], int]:
    """Return a plan with observed and soft variables, and cases for it."""
    network = draw(networks(max_variables=7))
    names = [v.name for v in network.variables]
    told = draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    cut = draw(st.integers(0, len(told)))
    n = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cases: dict[str, Any] = {}
    for name in told[:cut]:
        cases[name] = rng.integers(network.variable(name).n_states, size=n)
    for name in told[cut:]:
        states = network.variable(name).n_states
        kind = draw(st.sampled_from(["missing", "likelihood", "absent"]))
        if kind == "missing":
            cases[name] = rng.integers(-1, states, size=n)
        elif kind == "likelihood":
            cases[name] = rng.random((n, states)).round(1) + (rng.random((n, 1)) < 0.5)
    scopes = st.lists(st.sampled_from(names), unique=True, min_size=1, max_size=3)
    targets = draw(st.lists(scopes, min_size=1, max_size=3))
    plan = compile_plan(network, evidence=told[:cut], soft=told[cut:], targets=targets)
    if not cases:
        cases[told[0]] = rng.integers(network.variable(told[0]).n_states, size=n)
    return plan, cases, n


@settings(max_examples=examples(120))
@given(batches())
def test_a_batch_says_what_single_runs_say(drawn: tuple[Plan, dict[str, Any], int]) -> None:
    plan, cases, n = drawn
    joints, logs = one_by_one(plan, cases, n)
    found = plan.run_batch(cases, allow_impossible=True)
    wrong = found.impossible
    assert wrong.tolist() == [i for i in range(n) if not joints[i]]
    for i in range(n):
        if i in wrong:
            assert all(np.isnan(joint[i]).all() for joint in found.joints)
        for k, joint in enumerate(joints[i]):
            np.testing.assert_allclose(found.joints[k][i], joint, rtol=0, atol=1e-12)
        assert found.log_evidence[i] == pytest.approx(logs[i], abs=1e-9)
    if wrong.size:
        with pytest.raises(ImpossibleEvidenceError, match=f"in case {wrong[0]}"):
            plan.run_batch(cases)


@settings(max_examples=examples(30))
@given(st.integers(1, 4), st.integers(2, 3), st.integers(0, 2**32 - 1))
def test_factorized_sums_answer_the_same_in_a_batch(n: int, states: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    parents = tuple(Variable.of_integers(f"X{i}", range(states)) for i in range(n))
    total = Variable.of_integers("S", range(n * (states - 1) + 1))
    terms = (tuple(range(states)),) * n
    network = Network(
        (
            *(TabularCPD(x, (), rng.dirichlet(np.ones(states))) for x in parents),
            FunctionalCPD(total, parents, Addition(terms, total.n_states)),
        )
    )
    cases = {"S": np.arange(total.n_states)}
    truth = compile_plan(network, evidence=["S"]).run_batch(cases)
    found = compile_plan(factorize(network, "S"), evidence=["S"]).run_batch(cases)
    for name, joint in truth.marginals.items():
        np.testing.assert_allclose(found.marginals[name], joint, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.log_evidence, truth.log_evidence, atol=1e-12)


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = compile_plan(GARDEN, soft=["wet"])
    cases = {"wet": np.arange(100) % 4 - 1}
    whole = plan.run_batch(cases)
    monkeypatch.setattr(batch_memory, "_MOST", 7)
    parts = plan.run_batch(cases)
    np.testing.assert_array_equal(whole.joints[0], parts.joints[0])
    assert len(whole) == 100
    np.testing.assert_allclose(whole.marginals["rain"][0], [0.8, 0.2])
    np.testing.assert_allclose(whole.marginals["rain"][1], [1.0, 0.0])


def grid(side: int, states: int, rng: np.random.Generator) -> Network:
    """Return a network in which each variable depends on those to the left and above."""
    found: dict[tuple[int, int], TabularCPD] = {}
    for i, j in np.ndindex(side, side):
        parents = [found[at].variable for at in ((i - 1, j), (i, j - 1)) if at in found]
        variable = Variable.of_integers(f"x{i}{j}", range(states))
        table = rng.dirichlet(np.ones(states), size=(states,) * len(parents))
        found[i, j] = TabularCPD(variable, tuple(parents), np.moveaxis(table, -1, 0))
    return Network(tuple(found.values()))


@pytest.mark.parametrize(("soft", "n"), [(False, 1), (False, 90), (True, 300)])
def test_the_memory_of_a_batch_is_predicted(
    soft: bool, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = grid(5, 4, np.random.default_rng(1))
    names = ["x13", "x31", "x44", "x22"]
    plan = compile_plan(network, **{"soft" if soft else "evidence": names})  # type: ignore[arg-type]
    cases = {name: np.arange(n) % 4 for name in names}

    def peak() -> int:
        tracemalloc.start()
        plan.run_batch(cases)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    plan.run_batch({name: found[:1] for name, found in cases.items()})
    whole = peak()
    assert 0.5 * plan.batch_memory(n) < whole < 1.2 * plan.batch_memory(n)
    monkeypatch.setattr(batch_memory, "_CHUNK_BYTES", 2**16)
    if n > 1:
        assert peak() < 0.5 * whole
    needed = plan.batch_memory(n)
    plan.run_batch(cases, max_bytes=needed)
    with pytest.raises(TooLargeError, match=f"got {needed:,} for {n:,} cases"):
        plan.run_batch(cases, max_bytes=needed - 1)


def test_more_cases_take_more_memory() -> None:
    plan = compile_plan(GARDEN, evidence=["wet"])
    assert 0 < plan.batch_memory(0) < plan.batch_memory(10) < plan.batch_memory(100_000)
    with pytest.raises(
        InvalidArgumentError, match="n_cases to be a whole number of at least 0, got -1"
    ):
        plan.batch_memory(-1)


def test_improbable_cases_do_not_underflow() -> None:
    size = 400
    cause = Variable("cause", ("a", "b"))
    signs = [Variable(f"s{i}", ("no", "yes")) for i in range(size)]
    table = np.array([[0.999, 0.998], [0.001, 0.002]])
    network = Network(
        (
            TabularCPD(cause, (), np.array([0.5, 0.5])),
            *(TabularCPD(s, (cause,), table) for s in signs),
        )
    )
    cases = {s.name: np.array([1, 0, 1]) for s in signs}
    for told in ({"evidence": [s.name for s in signs]}, {"soft": [s.name for s in signs]}):
        plan = compile_plan(network, targets=[["cause"]], **told)  # type: ignore[arg-type]
        found = plan.run_batch(cases)
        expected = size * np.log(0.002) + np.log(0.5) + np.log1p(0.5**size)
        assert found.log_evidence[0] == pytest.approx(expected, rel=1e-12)
        np.testing.assert_allclose(found.marginals["cause"][0], [0.5**size, 1.0], atol=1e-12)
        single = plan.run({s.name: "yes" for s in signs})
        assert single.log_evidence == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("cases", "error", "words"),
    [
        ({"wet": [0, 1, 3]}, InvalidArgumentError, "got 3 in case 2"),
        ({"wet": [0, -2]}, InvalidArgumentError, "got -2 in case 1"),
        ({"wet": [0, -1]}, InvalidArgumentError, "no state in case 1"),
        ({"wet": [[0, 1]]}, InvalidArgumentError, "column of states or positions"),
        ({"wet": [0.0, 0.5]}, InvalidArgumentError, "got 0.5 in case 1"),
        ({"wet": [0.0, 1e300]}, InvalidArgumentError, "in case 1"),
        ({"wet": [0.0, math.nan]}, InvalidArgumentError, "no state in case 1"),
        ({"wet": ["no", "maybe"]}, UnknownNameError, "state of wet in case 1 among"),
        ({"wet": [0], "rain": [1j]}, InvalidArgumentError, "positions or a column of states"),
        ({"wet": [0], "rain": [0, 1]}, InvalidArgumentError, "got 1, 2"),
        ({"wet": [0], "rain": [[0.5, 0.25, 0.25]]}, InvalidArgumentError, r"\(cases, 2\)"),
        ({"wet": [0, 0], "rain": [[1, 1], [1, -1]]}, InvalidArgumentError, "in case 1"),
        ({"rain": [0]}, InvalidArgumentError, "missing: wet"),
        ({"wet": [0], "snow": [0]}, InvalidArgumentError, "unknown: 'snow'"),
        ({}, InvalidArgumentError, "missing: wet"),
    ],
)
def test_bad_cases(cases: dict[str, Any], error: type[Exception], words: str) -> None:
    plan = compile_plan(GARDEN, evidence=["wet"], soft=["rain"], targets=[["rain"]])
    with pytest.raises(error, match=words):
        plan.run_batch({name: np.array(found) for name, found in cases.items()})


def test_a_batch_may_be_empty() -> None:
    plan = compile_plan(GARDEN, evidence=["wet"])
    found = plan.run_batch({"wet": np.array([], dtype=int)})
    assert len(found) == 0
    assert found.marginals["rain"].shape == (0, 2)


def test_what_no_case_changes_is_not_overwritten() -> None:
    """A constant that steps of the cases read is left alone, though a later constant step could."""
    times = partial(
        Product,
        left_axes=None,
        right_axes=None,
        left_shape=(2,),
        right_shape=(2,),
        shape=(2,),
        cost=2,
        sums=False,
    )
    steps = (Step(times(), 0, 1), Step(times(), 3, 2), Step(times(overwrites=True), 3, 1))
    program = Program(n_inputs=3, steps=steps, spent=((), (), (3,)), scopes=((0,),) * 6, sizes=(2,))
    inputs = [np.array([2.0, 3.0]), np.array([5.0, 7.0]), None]
    several = CaseProgram(program, inputs)
    assert several.moving == [False, False, True, False, True, False]
    for _ in range(2):
        registers, *_ = several.run([None, None, np.ones((2, 4))], 4)
        assert registers[4].tolist() == [[10.0] * 4, [21.0] * 4]
        assert registers[5].tolist() == [50.0, 147.0]


def test_a_function_takes_the_memory_of_its_values() -> None:
    """A case holds the total of each roll of the other dice, not a table of all totals."""
    dice = [Variable.of_integers(f"die{i}", range(13)) for i in range(4)]
    for n_states in (49, 300):
        total = Variable.of_integers("total", range(n_states))
        sum_of = FunctionalCPD(total, tuple(dice), Addition((tuple(range(13)),) * 4, n_states))
        network = Network((*(TabularCPD(d, (), np.full(13, 1 / 13)) for d in dice), sum_of))
        plan = compile_plan(network, evidence=["die0"], targets=[["total"]])
        (source,) = [s for s in plan.compiled.sources if s.rows is not None]
        assert source.observed == ("die0",)
        of_case = batch_memory.batch_size(plan.compiled).of_case
        assert 8 * 13**3 < of_case < 8 * 13**3 * n_states / 4


def test_impossible_cases_have_no_logarithm() -> None:
    batch = BatchRun((np.ones((3, 2)),), np.zeros(3), np.ones(3))
    batch.put(1, None)
    assert batch.log_evidence.tolist() == [0.0, -math.inf, 0.0]


def test_a_case_has_the_findings_that_are_not_missing() -> None:
    cases = {"rain": np.array([-1, 0, 1, 0]), "wet": np.array([[0.5, 1, 0]] * 4)}
    found = [case_findings((RAIN, WET), cases, case) for case in range(3)]
    assert [each.get("rain") for each in found] == [None, "no", "yes"]
    assert all(each["wet"].tolist() == [0.5, 1, 0] for each in found)
    assert case_findings((RAIN,), {}, 0) == {}


@pytest.mark.parametrize(("constant", "weight"), [(1e-200, 1e-150), (1e200, 1e150), (1e-300, 1.0)])
def test_constants_that_take_totals_out_of_range_are_added_as_logarithms(
    constant: float, weight: float
) -> None:
    # Each is a number, and their product is none.
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    table = np.array([[1.0, 2.0], [3.0, 4.0]]) * weight
    model = FactorModel((Factor((), np.array(constant)), Factor((a, b), table)))
    plan = compile_plan(model, evidence=["b"], targets=[["a"]])
    found = plan.run_batch({"b": np.array([0, 1, 0])})
    expected = np.log([4.0, 6.0, 4.0]) + math.log(weight) + math.log(constant)
    np.testing.assert_allclose(found.log_evidence, expected, rtol=1e-14)
    np.testing.assert_allclose(found.joints[0][:, 0], [1 / 4, 2 / 6, 1 / 4], rtol=1e-14)
