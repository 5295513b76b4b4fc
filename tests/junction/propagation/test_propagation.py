"""Propagation against the enumerated joint, and against plans for the same evidence."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidModelError,
    TooLargeError,
)
from bnmind.junction import GivenOrder, Limits, MinFill, compile_plan
from bnmind.junction.propagation import Propagation
from bnmind.pgm import Factor, FactorModel, FunctionalCPD, Network, TabularCPD, Variable, noisy_or
from tests.networks import enumerate_joint, factor_models, networks

ROUNDING = 1e-12

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.1], [0.1, 0.9]])),
    )
)


def with_findings(joint: np.ndarray, case: np.ndarray, soft: dict[int, np.ndarray]) -> np.ndarray:
    """Return an enumerated joint times the findings of a case."""
    result = joint.copy()
    for axis, state in enumerate(case):
        weights = np.ones(joint.shape[axis])
        if state >= 0:
            weights = np.arange(joint.shape[axis]) == state
        weights = weights * soft.get(axis, 1.0)
        result *= weights.reshape([-1 if a == axis else 1 for a in range(joint.ndim)])
    return result


@st.composite
def questions(draw: st.DrawFn) -> tuple[Network | FactorModel, np.ndarray, dict[int, np.ndarray]]:
    """Return a model, some cases and likelihoods, ``(cases, states)`` by column."""
    if draw(st.booleans()):
        model: Network | FactorModel = draw(networks(max_variables=6, max_states=3))
    else:
        signed = draw(factor_models(max_variables=4, max_states=3))
        tables = tuple(
            Factor(p.scope, np.abs(p.to_factor().values if not isinstance(p, Factor) else p.values))
            for p in signed.potentials
        )
        model = FactorModel(tables, signed.variables)
    sizes = [v.n_states for v in model.variables]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_cases = draw(st.integers(1, 3))
    cases = np.array([[rng.integers(size) for size in sizes] for _ in range(n_cases)])
    cases[rng.random(cases.shape) < draw(st.sampled_from([0.2, 0.7, 1.0]))] = -1
    soft = {}
    for axis in draw(st.lists(st.integers(0, len(sizes) - 1), unique=True, max_size=2)):
        soft[axis] = rng.random((n_cases, sizes[axis])) * (rng.random(sizes[axis]) < 0.8)
    return model, cases, soft


@given(questions())
def test_every_case_is_answered_as_by_enumeration(
    question: tuple[Network | FactorModel, np.ndarray, dict[int, np.ndarray]],
) -> None:
    model, cases, soft = question
    joint = enumerate_joint(model).values
    names = [v.name for v in model.variables]
    if joint.sum() == 0:
        with pytest.raises(InvalidModelError, match="zero in every configuration"):
            Propagation.of(model)
        return
    propagation = Propagation.of(model)
    likelihoods = {names[axis]: weights for axis, weights in soft.items()}
    marginals, log_evidence = propagation.marginals_of(cases, likelihoods=likelihoods)
    sums, logs_again = propagation.family_sums(np.where(cases[:1] >= 0, cases[:1], -1))
    for number, case in enumerate(cases):
        own = {axis: weights[number] for axis, weights in soft.items()}
        exact = with_findings(joint, case, own)
        single = {names[axis]: weights for axis, weights in own.items()}
        if exact.sum() == 0:
            assert log_evidence[number] == -np.inf
            assert all(np.isnan(marginal[number]).all() for marginal in marginals)
            with pytest.raises(ImpossibleEvidenceError) as caught:
                propagation.marginals(case, single)
            part = [axis for axis, name in enumerate(names) if name in caught.value.evidence]
            only = np.array([s if a in part else -1 for a, s in enumerate(case)])
            assert with_findings(joint, only, {a: own[a] for a in part if a in own}).sum() == 0
            continue
        alone, log_alone = propagation.marginals(case, single)
        assert np.isclose(log_evidence[number], np.log(exact.sum()), rtol=ROUNDING, atol=ROUNDING)
        assert log_alone == log_evidence[number]
        for axis, marginal in enumerate(marginals):
            others = tuple(a for a in range(joint.ndim) if a != axis)
            expected = exact.sum(axis=others) / exact.sum()
            np.testing.assert_allclose(marginal[number], expected, rtol=0, atol=ROUNDING)
            np.testing.assert_array_equal(alone[axis], marginal[number])
    exact = with_findings(joint, cases[0], {})
    if exact.sum() > 0:
        assert np.isclose(logs_again[0], np.log(exact.sum()), rtol=ROUNDING, atol=ROUNDING)
    for potential, table in zip(model.potentials, sums, strict=True):
        if table is not None:
            axes = [names.index(v.name) for v in potential.scope]
            summed = np.einsum(exact, list(range(joint.ndim)), axes)
            total = exact.sum()
            np.testing.assert_allclose(table, summed / total if total else 0 * summed, atol=1e-12)


def test_all_messages_to_a_bucket_are_taken_into_account() -> None:
    # A leaf below each pair of hubs sends a message, and none of these lies in another one.
    rng = np.random.default_rng(4)
    hubs = [Variable.of_integers(f"h{i}", range(3 if i == 1 else 2)) for i in range(4)]
    above = [*combinations(hubs, 2), hubs[:1], hubs[1:2]]
    leaves = [Variable.of_integers(f"x{i}", range(2)) for i in range(len(above))]
    tables = [TabularCPD(v, (), rng.dirichlet(np.ones(v.n_states))) for v in hubs]
    for v, parents in zip(leaves, above, strict=True):
        shape = [parent.n_states for parent in parents]
        values = np.moveaxis(rng.dirichlet(np.ones(2), shape), -1, 0)
        tables.append(TabularCPD(v, tuple(parents), values))
    network = Network(tuple(tables))
    joint = enumerate_joint(network).values
    cases = np.full((6, 12), -1)
    cases[:, 4:] = rng.integers(-1, 2, size=(6, 8))
    cases[0, 4:] = [0, 1, 0, 1, 0, 1, 1, 1]
    name = network.variables[8].name
    soft = {8: rng.random((6, 2))}
    propagation = Propagation.of(network)
    marginals, logs = propagation.marginals_of(cases, likelihoods={name: soft[8]})
    for number, case in enumerate(cases):
        exact = with_findings(joint, case, {axis: w[number] for axis, w in soft.items()})
        assert logs[number] == pytest.approx(np.log(exact.sum()), abs=1e-12)
        for axis, marginal in enumerate(marginals):
            others = tuple(a for a in range(joint.ndim) if a != axis)
            expected = exact.sum(axis=others) / exact.sum()
            np.testing.assert_allclose(marginal[number], expected, rtol=0, atol=1e-12)
    sums, _ = propagation.family_sums(cases)
    parts = [with_findings(joint, case, {}) for case in cases]
    exact = sum(part / part.sum() for part in parts)
    for cpd, table in zip(network.cpds, sums, strict=True):
        axes = [network.variables.index(v) for v in cpd.scope]
        expected = np.einsum(exact, list(range(joint.ndim)), axes)
        assert table is not None
        np.testing.assert_allclose(table, expected, rtol=0, atol=1e-12)


@given(networks(max_variables=7), st.integers(0, 2**32 - 1))
def test_answers_do_not_depend_on_the_order(network: Network, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = [int(rng.integers(v.n_states)) if rng.random() < 0.3 else -1 for v in network.variables]
    some = Propagation.of(network)
    order = tuple(rng.permutation(some.order.variables).tolist())
    other = Propagation.of(network, order=GivenOrder(order))
    assert other.order.variables == order
    first, log_first = some.marginals_of([case])
    second, log_second = other.marginals_of([case])
    np.testing.assert_allclose(log_first, log_second, rtol=ROUNDING, atol=ROUNDING)
    for a, b in zip(first, second, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=ROUNDING)


@settings(max_examples=20)
@given(networks(max_variables=6), st.integers(0, 2**32 - 1))
def test_targets_are_the_same_as_among_all(network: Network, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [v.n_states for v in network.variables]
    cases = np.array([[rng.integers(s) if rng.random() < 0.2 else -1 for s in sizes]] * 2)
    propagation = Propagation.of(network)
    everything, log_evidence = propagation.marginals_of(cases)
    chosen = rng.permutation(len(sizes))[:2].tolist()
    names = [network.variables[i].name for i in chosen]
    some, log_again = propagation.marginals_of(cases, targets=names)
    np.testing.assert_array_equal(log_evidence, log_again)
    np.testing.assert_array_equal(log_evidence, propagation.marginals_of(cases, targets=())[1])
    for i, marginal in zip(chosen, some, strict=True):
        np.testing.assert_array_equal(marginal, everything[i])


def many_causes(n: int) -> Network:
    """Return a noisy-or and a sum of so many causes."""
    causes = tuple(Variable(f"cause{i}", ("no", "yes")) for i in range(n))
    effect = noisy_or(Variable("effect", ("no", "yes")), causes, [0.1] * n)
    total = FunctionalCPD.sum_of("total", causes)
    return Network((*(TabularCPD(c, (), np.array([0.7, 0.3])) for c in causes), effect, total))


def test_large_functional_and_noisy_nodes_take_small_forms() -> None:
    network = many_causes(24)
    propagation = Propagation.of(network)
    assert propagation.total_size < 20_000
    marginals, log_evidence = propagation.marginals([-1] * 24 + [1, 9])
    plan = compile_plan(network, evidence=["effect", "total"])
    expected = plan.run({"effect": "yes", "total": "9"})
    assert np.isclose(log_evidence, expected.log_evidence, rtol=1e-10)
    np.testing.assert_allclose(marginals[3], expected.marginals["cause3"], atol=1e-10)
    sums, _ = propagation.family_sums([[-1] * 24 + [1, 9]])
    assert sums[0] is not None
    assert sums[-1] is None


def test_numbers_too_small_for_floats_are_computed_again() -> None:
    hidden = Variable("hidden", ("a", "b"))
    signs = tuple(Variable(f"sign{i}", ("no", "yes")) for i in range(60))
    values = np.array([[1 - 1e-9, 1 - 2e-9], [1e-9, 2e-9]])
    tables = [TabularCPD(s, (hidden,), values) for s in signs]
    last = Variable("last", ("no", "yes"))
    network = Network(
        (
            TabularCPD(hidden, (), np.array([1 - 1e-300, 1e-300])),
            *tables,
            TabularCPD(last, (hidden,), np.eye(2)),
        )
    )
    propagation = Propagation.of(network)
    case = [1 if v.name.startswith("sign") else -1 for v in network.variables]
    marginals, log_evidence = propagation.marginals(case)
    findings = {s.name: "yes" for s in signs}
    plan = compile_plan(network, evidence=list(findings))
    assert np.isclose(log_evidence, plan.run(findings).log_evidence, rtol=1e-13)
    case[[v.name for v in network.variables].index("last")] = 1
    marginals, log_evidence = propagation.marginals(case)
    assert np.isclose(log_evidence, 60 * np.log(2e-9) + np.log(1e-300), rtol=1e-13)
    assert marginals[0].tolist() == [0.0, 1.0]
    # The improbable case counts as much as others.
    sums, logs = propagation.family_sums([case, [-1] * 62], [3.0, 1.0])
    assert logs.tolist() == pytest.approx([log_evidence, 0.0], rel=1e-13, abs=1e-9)
    assert sums[0] is not None
    np.testing.assert_allclose(sums[0], [1.0, 3.0], rtol=1e-9)
    sign = sums[[cpd.variable.name for cpd in network.cpds].index("sign7")]
    assert sign is not None
    np.testing.assert_allclose(sign, [[1 - 1e-9, 0], [1e-9, 3]], rtol=1e-9, atol=1e-290)
    # So it does with the likelihood of an observed variable, and of a hidden one.
    likelihoods = {"sign3": np.array([[0.25, 0.5]]), "hidden": np.array([[1.0, 0.125]])}
    marginals, logs = propagation.marginals_of([case], likelihoods=likelihoods)
    assert logs[0] == pytest.approx(log_evidence + np.log(0.5) + np.log(0.125), rel=1e-13)
    assert marginals[0].tolist() == [[0.0, 1.0]]
    for name, weights in (("sign3", [1.0, 0.0]), ("hidden", [1.0, 0.0])):
        _, logs = propagation.marginals_of([case], likelihoods={name: np.array([weights])})
        assert logs[0] == -np.inf


def test_states_that_are_impossible_elsewhere_have_no_cells() -> None:
    always = TabularCPD(RAIN, (), np.array([0.0, 1.0]))
    network = Network((always, *GARDEN.cpds[1:]))
    # It always rains, so that the table of wet keeps one row of two cells.
    propagation = Propagation.of(network, order=GivenOrder(("wet", "rain")))
    assert propagation.total_size == 1 + 2
    assert propagation.marginals([-1, -1])[0][1].tolist() == pytest.approx([0.1, 0.9])
    # The row of each state of rain is kept where both are possible.
    assert Propagation.of(GARDEN, order=GivenOrder(("wet", "rain"))).total_size == 2 + 4


def test_the_prediction_counts_the_cells_that_agree() -> None:
    propagation = Propagation.of(GARDEN)
    assert propagation.predicted_cells([-1, -1]) == 6
    assert propagation.predicted_cells([1, 0]) == 2


def test_no_cases_have_no_answers() -> None:
    marginals, log_evidence = Propagation.of(GARDEN).marginals_of(np.empty((0, 2), dtype=int))
    assert log_evidence.shape == (0,)
    assert marginals[0].shape == (0, 2)


def test_weights_multiply_expected_counts() -> None:
    sums, _ = Propagation.of(GARDEN).family_sums([[1, 1], [-1, -1]], [3.0, 2.0])
    rain, wet = sums
    assert rain is not None
    assert wet is not None
    np.testing.assert_allclose(rain, np.array([1.6, 3.4]))
    np.testing.assert_allclose(wet, np.array([[1.44, 0.04], [0.16, 3.36]]))


def test_models_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TooLargeError, match="max_bytes=50"):
        Propagation.of(GARDEN, limits=Limits(max_bytes=50), order=MinFill())
    with pytest.raises(InvalidModelError, match="negative or complex"):
        Propagation.of(FactorModel((Factor((RAIN,), np.array([1.0, -1.0])),)))


def test_improbable_configurations_are_not_impossible() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    network = Network(
        (
            TabularCPD(a, (), np.array([1, 1e-200])),
            TabularCPD(b, (a,), np.array([[0.5, 1], [0.5, 1e-200]])),
        )
    )
    for names in (("a", "b"), ("b", "a")):
        propagation = Propagation.of(network, order=GivenOrder(names))
        marginals, log_evidence = propagation.marginals([1, 1])
        assert log_evidence == pytest.approx(2 * np.log(1e-200))
        np.testing.assert_allclose(marginals[0], [0, 1])


def test_improbable_cases_keep_the_limits() -> None:
    a, b, c = (Variable(name, ("0", "1")) for name in "abc")
    rows = np.array([[1, 1], [1e-200, 3e-200]])
    network = Network(
        (
            TabularCPD(a, (), np.array([0.5, 0.5])),
            TabularCPD(b, (a,), rows),
            TabularCPD(c, (a,), rows),
        )
    )
    order = GivenOrder(("a", "b", "c"))
    assert Propagation.of(network, order=order).marginals([-1, 1, 1])[0][0][1] == pytest.approx(0.9)
    small = Propagation.of(network, order=order, limits=Limits(max_multiplications=1))
    with pytest.raises(TooLargeError, match="max_multiplications=1"):
        small.marginals([-1, 1, 1])


def test_large_factors_do_not_overflow() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    large = Factor((a,), np.array([1e200, 1.0]))
    model = FactorModel((large, large, Factor((a, b), np.full((2, 2), 0.5))))
    marginals, log_evidence = Propagation.of(model).marginals([-1, 0])
    np.testing.assert_allclose(marginals, [[1, 0], [1, 0]], atol=1e-15)
    assert log_evidence == pytest.approx(2 * np.log(1e200) + np.log(0.5))


def test_large_likelihoods_do_not_overflow() -> None:
    variables = [Variable(name, ("0", "1")) for name in "abcdef"]
    first, *rest = variables
    network = Network(
        (
            TabularCPD(first, (), np.array([0.3, 0.7])),
            *(TabularCPD(v, (first,), np.array([[0.2, 0.6], [0.8, 0.4]])) for v in rest),
        )
    )
    soft = {v.name: np.array([1e200, 1e200]) for v in rest}
    marginals, log_evidence = Propagation.of(network).marginals([-1] * 6, soft)
    np.testing.assert_allclose(marginals[0], [0.3, 0.7])
    assert log_evidence == pytest.approx(5 * np.log(1e200))
