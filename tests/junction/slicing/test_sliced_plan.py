"""Sliced plans against plans that run as a whole."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.slices as sliced_plan_module
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    TooLargeError,
)
from bnmind.junction import (
    Limits,
    Posterior,
    compile_model,
    compile_plan,
    compile_sliced,
    posterior,
)
from bnmind.junction.slices import SlicedPlan, possible_slices, sliced_instead
from bnmind.pgm import (
    Factor,
    FactorModel,
    Network,
    TabularCPD,
    Variable,
)
from tests.networks import enumerate_joint


def grid(side: int, seed: int, *, zeros: float = 0.0) -> FactorModel:
    """Return a grid of binary variables with random factors."""
    rng = np.random.default_rng(seed)
    variables = [Variable(f"x{i}", ("0", "1")) for i in range(side * side)]
    pairs = [(i, i + 1) for i in range(side * side) if (i + 1) % side]
    pairs += [(i, i + side) for i in range(side * (side - 1))]
    factors = []
    for i, j in pairs:
        table = rng.uniform(0.1, 1.0, (2, 2))
        table[rng.random((2, 2)) < zeros] = 0.0
        table[0, 0] = 0.5
        factors.append(Factor((variables[i], variables[j]), table))
    return FactorModel(tuple(factors))


def small_network(seed: int) -> Network:
    """Return a network of random tables in which every variable has up to two parents."""
    rng = np.random.default_rng(seed)
    variables: list[Variable] = []
    cpds = []
    for i in range(7):
        v = Variable(f"v{i}", tuple("abc"[: rng.integers(2, 4)]))
        chosen = rng.permutation(len(variables))[: rng.integers(0, 3)].tolist()
        parents = tuple(variables[p] for p in chosen)
        table = rng.random((v.n_states, *[p.n_states for p in parents]))
        table[rng.random(table.shape) < 0.3] = 0.0
        table[0] += 1e-3
        cpds.append(TabularCPD(v, parents, table / table.sum(axis=0)))
        variables.append(v)
    return Network(tuple(cpds))


def sliced_on(model: Network | FactorModel, names: Sequence[str], **options: object) -> SlicedPlan:
    """Return a plan that is sliced on given variables."""
    evidence = list(options.pop("evidence", ()))  # type: ignore[call-overload]
    targets = [[v.name] for v in model.variables if v.name not in evidence]
    plan = compile_plan(model, evidence=[*evidence, *names], targets=targets, **options)  # type: ignore[arg-type]
    return SlicedPlan(plan, tuple(model.variable(name) for name in names))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.data())
def test_the_sum_over_any_slices_is_the_whole(seed: int, data: st.DataObject) -> None:
    network = small_network(seed)
    names = [f"v{i}" for i in range(6)]
    chosen = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
    whole = compile_plan(network, evidence=["v6"], targets=[[name] for name in names])
    findings = {"v6": network.variable("v6").states[0]}
    expected = whole.run(findings)
    sliced = sliced_on(network, chosen, evidence=["v6"])
    for answer in (sliced.run(findings), _one_by_one(sliced, findings)):
        assert answer.log_evidence == pytest.approx(expected.log_evidence, abs=1e-12)
        for name in names:
            np.testing.assert_allclose(
                answer.marginals[name], expected.marginals[name], rtol=0, atol=1e-12
            )


def _one_by_one(sliced: SlicedPlan, findings: dict[str, str]) -> Posterior:
    """Return the answer of all slices by separate runs of the plan: the slow twin."""
    total, joints = 0.0, dict[str, np.ndarray]()
    for states in itertools.product(*[v.states for v in sliced.sliced]):
        fixed = {v.name: state for v, state in zip(sliced.sliced, states, strict=True)}
        try:
            answer = sliced.plan.run({**findings, **fixed})
        except ImpossibleEvidenceError:
            continue
        weight = np.exp(answer.log_evidence)
        total += weight
        for name, joint in answer.marginals.items():
            joints[name] = joints.get(name, 0.0) + weight * joint
    scopes = sliced.targets
    return Posterior(scopes, tuple(joints[s[0].name] / total for s in scopes), float(np.log(total)))


@pytest.mark.parametrize("zeros", [0.0, 0.2])
def test_a_plan_that_does_not_fit_is_sliced_until_it_does(zeros: float) -> None:
    model = grid(9, seed=1, zeros=zeros)
    whole = compile_plan(model)
    expected = whole.run({})
    limits = Limits(max_bytes=whole.memory // 3)
    plan = compile_sliced(model, limits=limits)
    assert plan.n_slices > 1
    assert plan.memory <= limits.max_bytes
    answer = plan.run()
    assert answer.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12)
    for name, joint in expected.marginals.items():
        np.testing.assert_allclose(answer.marginals[name], joint, rtol=0, atol=1e-12)
    assert f"{plan.n_slices:,} slices" in repr(plan)
    assert "multiplications in all slices" in str(plan)


def test_known_and_soft_evidence_and_joint_targets() -> None:
    model = grid(4, seed=2)
    targets = [["x5", "x6"], ["x15"]]
    whole = compile_plan(model, evidence=["x0", "x3"], soft=["x10"], targets=targets)
    expected = whole.run({"x0": "1", "x3": "0", "x10": {"0": 0.2, "1": 0.7}})
    limits = Limits(max_bytes=compile_plan(model, targets=targets).memory * 3 // 4)
    plan = compile_sliced(
        model, known={"x0": "1"}, evidence=["x3"], soft=["x10"], targets=targets, limits=limits
    )
    answer = plan.run({"x3": "0", "x10": {"0": 0.2, "1": 0.7}})
    assert [v.name for v in plan.evidence] == ["x3"]
    assert answer.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12)
    np.testing.assert_allclose(answer.joints[0], expected.joints[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(answer.joints[1], expected.joints[1], rtol=0, atol=1e-12)


def test_probabilities_too_small_for_a_float_are_summed() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    tiny = Factor((a, b), np.array([[1e-200, 3e-200], [1e-200, 5e-200]]))
    model = FactorModel((tiny, Factor((a,), np.full(2, 1e-250)), Factor((b,), np.full(2, 1e-3))))
    answer = sliced_on(model, ["a"]).run()
    np.testing.assert_allclose(answer.marginals["a"], [0.4, 0.6], rtol=1e-12)
    np.testing.assert_allclose(answer.log_evidence, np.log(10) - 453 * np.log(10), rtol=1e-12)


def test_impossible_slices_do_not_run_and_impossible_evidence_is_refused() -> None:
    variables = tuple(Variable(name, ("0", "1")) for name in "abc")
    equal = np.eye(2)
    model = FactorModel(
        (
            Factor(variables[:2], equal),
            Factor(variables[1:], equal),
            Factor(variables[::2], np.array([[1.0, 0.0], [1.0, 1.0]])),
        )
    )
    domains = {v.name: (0, 1) for v in variables}
    found = list(possible_slices(model.potentials, domains, variables[::2]))
    assert found == [(0, (0, 0)), (3, (1, 1))]
    plan = sliced_on(model, ["a", "c"])
    steps = list(plan.steps())
    assert steps[-1].possible == 2
    assert steps[-1].done == 4
    with pytest.raises(ImpossibleEvidenceError, match="a=0"):
        sliced_on(model, ["b"], evidence=["a", "c"]).run({"a": "0", "c": "1"})


@given(st.integers(0, 10**6), st.integers(0, 30))
@settings(max_examples=25, deadline=None)
def test_possible_slices_are_those_without_an_excluding_table(seed: int, start: int) -> None:
    network = small_network(seed)
    chosen = network.variables[1:4]
    domains = {v.name: tuple(range(v.n_states)) for v in network.variables}
    found = dict(possible_slices(network.potentials, domains, chosen, start=start))
    joint = compile_plan(network, targets=[[v.name for v in chosen]]).run().joints[0]
    numbers = {number for number in np.flatnonzero(joint.ravel() > 0).tolist() if number >= start}
    assert numbers <= set(found)
    assert list(found) == sorted(found)
    assert all(found[n] == np.unravel_index(n, joint.shape) for n in found)


def test_a_run_goes_on_from_saved_sums() -> None:
    plan = sliced_on(grid(5, seed=3), ["x6", "x12", "x18"])
    sums = list(plan.steps())
    again = list(plan.steps(start=sums[2]))
    assert [state.done for state in sums] == list(range(1, 9))
    for one, other in zip(again, sums[3:], strict=True):
        # Later runs of a plan may be compiled, which adds in another order.
        np.testing.assert_allclose(one.joints[0], other.joints[0], rtol=1e-12)
    plan, saved = pickle.loads(pickle.dumps((plan, sums[2])))
    assert [state.done for state in plan.steps(start=saved)] == list(range(4, 9))


def test_less_memory_takes_more_slices_and_little_more_work() -> None:
    model = grid(12, seed=4)
    whole = compile_plan(model)
    before = compile_sliced(model)
    assert (before.n_slices, before.multiplications) == (1, whole.multiplications)
    for part in (2, 4, 8):
        limits = Limits(max_bytes=whole.memory // part)
        plan = compile_sliced(model, limits=limits)
        assert plan.memory <= limits.max_bytes
        assert 1 < plan.n_slices >= before.n_slices
        assert plan.multiplications < 4 * whole.multiplications
        before = plan


def test_a_refusal_predicts_both_costs() -> None:
    model = grid(6, seed=5)
    plan = compile_plan(model)
    limits = Limits(max_bytes=plan.memory // 2, max_multiplications=plan.multiplications // 2)
    with pytest.raises(TooLargeError, match=r"slices it would take about .* multiplications"):
        compile_sliced(model, limits=limits)


def test_no_slices_are_sought_for_a_trillion_times_too_much_memory() -> None:
    x = Variable("x", ("0", "1"))
    model, limits = FactorModel((Factor((x,), np.full(2, 0.5)),)), Limits()
    too_large = TooLargeError("no", needed=2**41 * limits.max_bytes, budget=limits.max_bytes)
    with pytest.raises(TooLargeError) as refused:
        sliced_instead(too_large, model, known={}, targets=[["x"]], order=None, limits=limits)
    assert refused.value is too_large


def test_negative_factors_are_refused() -> None:
    a = Variable("a", ("0", "1"))
    with pytest.raises(InvalidModelError, match="not negative"):
        compile_sliced(FactorModel((Factor((a,), np.array([2.0, -1.0])),)))


def test_an_engine_slices_only_what_does_not_fit_its_memory() -> None:
    model = grid(7, seed=6)
    plan = compile_plan(model, evidence=["x0"])
    expected = plan.run({"x0": "1"})
    smaller = Limits(max_bytes=plan.restrict({"x0": "1"}).memory // 2)
    answer = posterior(model, {"x0": "1"}, limits=smaller)
    assert answer.log_evidence == pytest.approx(expected.log_evidence, rel=1e-12)
    for name, joint in expected.marginals.items():
        np.testing.assert_allclose(answer.marginals[name], joint, rtol=0, atol=1e-12)
    few = Limits(smaller.max_bytes, plan.multiplications // 2)
    with pytest.raises(TooLargeError, match=r"multiplications and .*B"):
        posterior(model, {"x0": "1"}, limits=few)


def test_sums_of_another_question_are_refused() -> None:
    plan = sliced_on(grid(3, seed=3), ["x4"], evidence=["x0"])
    sums = list(plan.steps({"x0": "0"}))
    assert list(plan.steps({"x0": "0"}, start=sums[-1])) == []
    with pytest.raises(InvalidArgumentError, match="another plan or other evidence"):
        plan.steps({"x0": "1"}, start=sums[-1])
    with pytest.raises(InvalidArgumentError, match="another plan or other evidence"):
        sliced_on(grid(3, seed=4), ["x4"], evidence=["x0"]).steps({"x0": "0"}, start=sums[-1])


def test_a_refusal_after_all_rounds_quotes_costs_that_do_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import bnmind.junction.slices as module

    monkeypatch.setattr(module, "_MOST_ROUNDS", 1)
    model = grid(5, seed=5)
    memory = compile_plan(model).memory
    with pytest.raises(TooLargeError) as caught:
        compile_sliced(model, limits=Limits(max_bytes=memory * 3 // 4))
    assert (caught.value.needed, caught.value.budget) == (memory, memory * 3 // 4)
    with pytest.raises(TooLargeError, match="no choice of variables to slice") as caught:
        compile_sliced(model, limits=Limits(max_bytes=8))
    assert caught.value.needed > caught.value.budget
    assert " 1 slices" not in str(caught.value)


@pytest.mark.parametrize(("value", "kind"), [(-1.0, "negative"), (1j, "complex")])
def test_a_refusal_of_factors_says_why(value: complex, kind: str) -> None:
    a = Variable("a", ("0", "1"))
    model = FactorModel((Factor((a,), np.array([2.0, value])),))
    with pytest.raises(InvalidModelError, match=f"the factor over a has {kind} values"):
        compile_sliced(model)


def test_an_engine_remembers_sliced_plans_and_predicts_their_costs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import bnmind.junction.slices as module

    calls: list[int] = []

    def counted(*given: Any, **options: Any) -> SlicedPlan:
        calls.append(1)
        return compile_sliced(*given, **options)

    monkeypatch.setattr(module, "compile_sliced", counted)
    model = grid(5, seed=6)
    whole = compile_plan(model, evidence=["x0"])
    most = whole.restrict({"x0": "1"}).memory * 4 // 5
    engine = compile_model(model, limits=Limits(max_bytes=most))
    for state in ("1", "0", "1", "0"):
        expected = whole.run({"x0": state}).log_evidence
        found = engine.posterior(None, {"x0": state}).log_evidence
        assert found == pytest.approx(expected, rel=1e-12)
    assert len(calls) == 2
    few = compile_model(model, limits=Limits(most, whole.multiplications))
    with pytest.raises(TooLargeError, match=r"run of this plan .* in .* slices it would take"):
        few.posterior(None, {"x0": "1"})


def test_slices_of_soft_evidence_and_joint_targets_sum_to_the_enumeration() -> None:
    network = small_network(3)
    names = [v.name for v in network.variables]
    plan = compile_plan(network, evidence=["v0", "v2"], soft=["v6"], targets=[["v1"], ["v4", "v5"]])
    sliced = SlicedPlan(plan, tuple(map(network.variable, ("v0", "v2"))))
    v6 = network.variable("v6")
    all_findings: list[dict[str, Any]] = [
        {},
        {"v6": v6.states[1]},
        {"v6": np.arange(1.0, 1.0 + v6.n_states)},
    ]
    for findings in all_findings:
        joint = enumerate_joint(network)
        weights: Any = findings.get("v6", np.ones(v6.n_states))
        if isinstance(weights, str):
            weights = np.arange(v6.n_states) == v6.index(weights)
        axes = list(range(len(names)))
        exact: Any = joint.values * weights.reshape([-1 if n == "v6" else 1 for n in names])
        steps = list(sliced.steps(findings))
        assert len(steps) >= steps[-1].possible
        answer = sliced.run(findings)
        assert answer.log_evidence == pytest.approx(math.log(exact.sum()), abs=1e-12)
        for scope, found in zip(answer.scopes, answer.joints, strict=True):
            wanted = np.einsum(exact, axes, [names.index(v.name) for v in scope])
            np.testing.assert_allclose(found, wanted / exact.sum(), rtol=0, atol=1e-12)


def test_an_impossible_slice_only_counts_as_done() -> None:
    # The sums after it are those before it.
    a, b, c = (Variable(name, ("0", "1")) for name in "abc")
    odd = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    model = FactorModel((Factor((a, b, c), odd), Factor((c,), np.array([2.0, 0.0]))))
    plan = sliced_on(model, ["a", "b"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sliced_plan_module, "possible_slices", all_slices)
        states = list(plan.steps())
    assert [sums.done for sums in states] == [1, 2, 3, 4]
    assert [sums.possible for sums in states] == [1, 1, 1, 2]
    assert [math.exp(sums.log_evidence) for sums in states] == pytest.approx([2, 2, 2, 4])
    assert states[0].joints[0].tolist() == states[2].joints[0].tolist()


def all_slices(
    _potentials: object, _domains: object, sliced: Sequence[Variable], *, start: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Return all joint states, whether a table excludes them or not."""
    yield from list(enumerate(itertools.product(*[range(v.n_states) for v in sliced])))[start:]
