"""Bounds contain the exact answer after every slice, and meet it after the last one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.junction import Limits, compile_bounds, compile_plan
from bnmind.junction.approximate import BoundedConditioning, _log_priors
from bnmind.junction.slices import SlicedPlan
from bnmind.pgm import Network, TabularCPD, Variable
from tests.junction.slicing.test_sliced_plan import small_network


def bounds_on(network: Network, names: list[str], evidence: list[str]) -> BoundedConditioning:
    """Return the plan whose slices are the joint states of given variables."""
    sliced = tuple(network.variable(name) for name in names)
    targets = [[v.name] for v in network.variables if v.name not in evidence]
    plan = compile_plan(network, evidence=[*evidence, *names], targets=targets)
    logs = _log_priors(network, sliced, None, Limits())
    numbers = np.argsort(-logs, kind="stable")
    numbers = numbers[logs[numbers] > -math.inf]
    rests = np.array([np.exp(logs[numbers[i:]]).sum() for i in range(len(numbers) + 1)])
    with np.errstate(divide="ignore"):
        return BoundedConditioning(
            plan=SlicedPlan(plan, sliced), numbers=numbers, log_rests=np.log(rests)
        )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_the_bounds_contain_the_exact_answer(seed: int) -> None:
    network = small_network(seed)
    findings = {"v6": network.variable("v6").states[0]}
    exact = compile_plan(network, evidence=["v6"]).run(findings)
    plan = bounds_on(network, ["v0", "v2", "v3"], ["v6"])
    gaps = [1.0]
    for bounds in plan.steps(findings):
        low, high = bounds.log_evidence
        assert low - 1e-12 <= exact.log_evidence <= high + 1e-12
        for lower, upper, joint in zip(bounds.lower, bounds.upper, exact.joints, strict=True):
            assert np.all(lower <= joint + 1e-12)
            assert np.all(joint <= upper + 1e-12)
            assert np.all(upper - lower <= bounds.gap + 1e-12)
        gaps.append(bounds.gap)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] == 0
    for lower, joint in zip(bounds.lower, exact.joints, strict=True):
        np.testing.assert_allclose(lower, joint, rtol=0, atol=1e-12)


def grid(side: int) -> Network:
    """Return a grid of binary variables whose parents are above and to the left."""
    rng = np.random.default_rng(side)
    variables = [Variable(f"x{i}", ("0", "1")) for i in range(side * side)]
    cpds = []
    for i, v in enumerate(variables):
        above = variables[i - side : i - side + 1] if i >= side else []
        parents = (*above, *(variables[i - 1 : i] if i % side else []))
        ones = rng.uniform(0.02, 0.1, [2] * len(parents))
        cpds.append(TabularCPD(v, parents, np.stack([1 - ones, ones])))
    return Network(tuple(cpds))


def test_compiled_bounds_narrow_and_stop_at_a_gap() -> None:
    network = grid(7)
    whole = compile_plan(network, evidence=["x48"])
    exact = whole.run({"x48": "0"})
    plan = compile_bounds(network, evidence=["x48"], limits=Limits(max_bytes=whole.memory // 2))
    assert plan.plan.n_slices > 1
    first = plan.run({"x48": "0"}, max_slices=1)
    assert 0 < first.gap < 1
    assert plan.run({"x48": "0"}, max_slices=0).gap == 1
    assert "gap" in repr(first)
    some = plan.run({"x48": "0"}, gap=0.5)
    assert some.gap <= 0.5
    assert plan.run({"x48": "0"}).gap == 0
    x0 = exact.marginals["x0"]
    assert np.all((some.lower[0] <= x0) & (x0 <= some.upper[0]))
    resumed = [bounds.sums.done for bounds in plan.steps({"x48": "0"}, start=first)]
    assert resumed == list(range(2, len(plan.numbers) + 1))


def test_impossible_evidence_and_slices_that_do_not_fit_are_refused() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    equal = Network((TabularCPD(a, (), np.array([1.0, 0.0])), TabularCPD(b, (a,), np.eye(2))))
    with pytest.raises(ImpossibleEvidenceError, match="b=1"):
        compile_bounds(equal, evidence=["b"]).run({"b": "1"})
    with pytest.raises(TooLargeError):
        compile_bounds(grid(4), limits=Limits(max_bytes=8))


def test_bounds_of_another_question_and_fewer_slices_than_none_are_refused() -> None:
    network = small_network(1)
    plan = bounds_on(network, ["v0", "v2"], ["v6"])
    zero, one = network.variable("v6").states[:2]
    first = plan.run({"v6": zero}, max_slices=1)
    assert [bounds.sums.done for bounds in plan.steps({"v6": zero}, start=first)][:1] == [2]
    with pytest.raises(InvalidArgumentError, match="another question"):
        plan.steps({"v6": one}, start=first)
    with pytest.raises(InvalidArgumentError, match="another question"):
        plan.plan.steps({"v6": zero}, start=first.sums)
    with pytest.raises(InvalidArgumentError, match="max_slices to be a whole number of at least 0"):
        plan.run({"v6": zero}, max_slices=-1)


def test_too_many_slices_are_refused_by_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    import bnmind.junction.approximate as module

    monkeypatch.setattr(module, "_MOST_SLICES", 1)
    memory = compile_plan(grid(7)).memory
    with pytest.raises(TooLargeError, match="slices; allowed are 1") as caught:
        compile_bounds(grid(7), limits=Limits(max_bytes=memory // 2))
    assert caught.value.needed > caught.value.budget == 1


def test_before_the_first_possible_slice_nothing_is_known() -> None:
    # The most probable state of a is excluded by b.
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    network = Network(
        (
            TabularCPD(a, (), np.array([0.75, 0.25])),
            TabularCPD(b, (a,), np.array([[1.0, 0.2], [0.0, 0.8]])),
        )
    )
    plan = bounds_on(network, ["a"], ["b"])
    assert repr(plan) == f"BoundedConditioning(2 slices; {plan.plan!r})"
    told: list[tuple[int, int | None]] = []
    first = plan.run(
        {"b": "1"}, max_slices=1, progress=lambda done, total: told.append((done, total))
    )
    assert told == [(1, 2)]
    assert first.gap == 1
    assert first.lower[0].tolist() == [0, 0]
    assert first.upper[0].tolist() == [1, 1]
    assert first.log_evidence == pytest.approx((-math.inf, math.log(0.25)))
    last = plan.run({"b": "1"})
    assert last.gap == 0
    assert last.lower[0].tolist() == last.upper[0].tolist() == [0, 1]
    assert last.log_evidence == pytest.approx((math.log(0.2), math.log(0.2)))


def test_slices_that_take_too_long_are_refused_by_the_work_of_each() -> None:
    network = grid(5)
    memory = compile_plan(network).memory
    with pytest.raises(TooLargeError) as caught:
        compile_bounds(network, limits=Limits(max_bytes=2 * memory, max_multiplications=9))
    text = str(caught.value)
    assert text.startswith("each slice of the bounds would take ")
    assert text.endswith(
        " multiplications; allowed are max_multiplications=9. Observe more variables or raise the"
        " limit."
    )
    assert caught.value.needed > caught.value.budget == 9
