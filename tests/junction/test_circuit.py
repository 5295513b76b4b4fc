"""Circuits against the enumerated joint, and against plans for the same evidence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.circuit as circuit_module
from bnmind.errors import ImpossibleEvidenceError, InvalidModelError, TooLargeError
from bnmind.junction import GivenOrder, Limits, compile_model, compile_plan, posterior
from bnmind.junction.circuit import Circuit
from bnmind.junction.circuit_kernel import CircuitWork
from bnmind.pgm import (
    Factor,
    FactorModel,
    FunctionalCPD,
    Listed,
    Network,
    TabularCPD,
    Variable,
    noisy_or,
)
from tests.modes import examples
from tests.networks import enumerate_joint, factor_models, networks
from tests.wheel import ask, read_wheel, state_names

ROUNDING = 1e-12

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.1], [0.1, 0.9]])),
    )
)


@pytest.fixture(scope="module", autouse=True)
def _no_plans_first() -> Iterator[None]:
    """Let engines begin with circuits, whatever the process has loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(circuit_module, "plain_plans", SimpleNamespace(left=0))
        yield


class Found(NamedTuple):
    """Answers by the names of targets."""

    marginals: dict[str, np.ndarray]
    log_evidence: np.ndarray
    doubtful: np.ndarray


def answered(
    circuit: Circuit, cases: Any, soft: dict[str, np.ndarray] | None = None, targets: Any = None
) -> Found:
    """Return the answers about some targets, by default all variables."""
    names = [v.name for v in circuit.model.variables] if targets is None else targets
    found = circuit.answer(np.array(cases), names, soft)
    marginals = dict(zip(names, found.marginals, strict=True))
    return Found(marginals, found.log_evidence, found.doubtful)


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


@pytest.fixture(params=["plain", "listed"])
def _with_lists(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    new_work = Circuit._new_work

    def of_nothing(circuit: Circuit, n: int) -> CircuitWork:
        work = new_work(circuit, n)
        work.cells[circuit.cells.size :] = np.nan  # no run may read what it has not written
        return work

    monkeypatch.setattr(Circuit, "_new_work", of_nothing)
    if request.param == "listed":
        monkeypatch.setattr(circuit_module, "_WORTH_LISTS", 0)
        monkeypatch.setattr(circuit_module, "_SPARSE", 1.0)
        monkeypatch.setattr(circuit_module, "TERM", 0)


@pytest.mark.usefixtures("_with_lists")
@given(questions())
@settings(max_examples=examples(100))
def test_every_case_is_answered_as_by_enumeration(
    question: tuple[Network | FactorModel, np.ndarray, dict[int, np.ndarray]],
) -> None:
    model, cases, soft = question
    joint = enumerate_joint(model).values
    names = [v.name for v in model.variables]
    likelihoods = {names[axis]: weights for axis, weights in soft.items()}
    found = answered(Circuit.of(model), cases, likelihoods)
    assert not found.doubtful.any()
    for number, case in enumerate(cases):
        own = {axis: weights[number] for axis, weights in soft.items()}
        exact = with_findings(joint, case, own)
        if exact.sum() == 0:
            assert found.log_evidence[number] == -np.inf
            assert all(np.isnan(found.marginals[name][number]).all() for name in names)
            continue
        expected = np.log(exact.sum())
        assert np.isclose(found.log_evidence[number], expected, rtol=ROUNDING, atol=ROUNDING)
        for axis, name in enumerate(names):
            others = tuple(a for a in range(joint.ndim) if a != axis)
            marginal = exact.sum(axis=others) / exact.sum()
            np.testing.assert_allclose(found.marginals[name][number], marginal, atol=ROUNDING)


def test_all_pairs_of_variables_may_have_children() -> None:
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
    # Many cases, so that most layouts of products are used again.
    cases = np.full((300, 12), -1)
    cases[:, 4:] = rng.integers(-1, 2, size=(300, 8))
    name = network.variables[8].name
    weights = rng.random((300, 2))
    found = answered(Circuit.of(network), cases, {name: weights})
    for number, case in enumerate(cases):
        exact = with_findings(joint, case, {8: weights[number]})
        assert found.log_evidence[number] == pytest.approx(np.log(exact.sum()), abs=1e-12)
        for axis, v in enumerate(network.variables):
            others = tuple(a for a in range(joint.ndim) if a != axis)
            expected = exact.sum(axis=others) / exact.sum()
            np.testing.assert_allclose(found.marginals[v.name][number], expected, atol=1e-12)


def test_more_variables_of_one_state_than_a_number_has_bits() -> None:
    """So many meet in one bucket before the last variable, whose state may be known."""
    sure = [Variable(f"sure{i}", ("yes",)) for i in range(70)]
    hub, last = (Variable(name, ("no", "yes")) for name in ("hub", "last"))
    other = Variable("other", ("a", "b", "c"))
    rng = np.random.default_rng(1)
    a, b = rng.random((2, 3)), rng.random((2, 2))
    factors = (
        Factor((*sure[:35], hub, other), a.reshape(*[1] * 35, 2, 3)),
        Factor((*sure[35:], hub, last), b.reshape(*[1] * 35, 2, 2)),
    )
    order = GivenOrder(("hub", "other", "last", *(v.name for v in sure)))
    circuit = Circuit.of(FactorModel(factors), order=order)
    columns = [circuit.columns[name] for name in ("hub", "last")]
    cases = np.full((9, len(circuit.columns)), -1)
    cases[:, columns] = np.array(list(np.ndindex(3, 3))) - 1
    found = answered(circuit, cases)
    for number, case in enumerate(cases[:, columns]):
        exact = with_findings(a.sum(axis=1)[:, None] * b, case, {})
        assert found.log_evidence[number] == pytest.approx(np.log(exact.sum()), abs=1e-12)
        for axis, name in enumerate(("hub", "last")):
            expected = exact.sum(axis=1 - axis) / exact.sum()
            np.testing.assert_allclose(found.marginals[name][number], expected, atol=1e-12)


def test_layouts_that_do_not_fit_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    network = read_wheel("alarm")
    rng = np.random.default_rng(1)
    sizes = [v.n_states for v in network.variables]
    cases = np.where(rng.random((200, len(sizes))) < 0.7, 0, -1)
    expected = answered(Circuit.of(network), cases)
    monkeypatch.setattr(circuit_module, "_MOST_LAYOUTS", 16)
    found = answered(Circuit.of(network), cases)
    np.testing.assert_array_equal(found.log_evidence, expected.log_evidence)
    for name, marginal in expected.marginals.items():
        np.testing.assert_array_equal(found.marginals[name], marginal)


@given(networks(max_variables=7), st.integers(0, 2**32 - 1))
def test_answers_do_not_depend_on_the_order(network: Network, seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = [int(rng.integers(v.n_states)) if rng.random() < 0.3 else -1 for v in network.variables]
    order = tuple(rng.permutation([v.name for v in network.variables]).tolist())
    first = answered(Circuit.of(network), [case])
    second = answered(Circuit.of(network, order=GivenOrder(order)), [case])
    np.testing.assert_allclose(
        first.log_evidence, second.log_evidence, rtol=ROUNDING, atol=ROUNDING
    )
    for name, marginal in first.marginals.items():
        np.testing.assert_allclose(marginal, second.marginals[name], rtol=0, atol=ROUNDING)


@settings(max_examples=20)
@given(networks(max_variables=6), st.integers(0, 2**32 - 1))
def test_targets_are_the_same_as_among_all(network: Network, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [v.n_states for v in network.variables]
    cases = np.array([[rng.integers(s) if rng.random() < 0.2 else -1 for s in sizes]] * 2)
    circuit = Circuit.of(network)
    everything = answered(circuit, cases)
    names = [network.variables[i].name for i in rng.permutation(len(sizes))[:2]]
    some = answered(circuit, cases, targets=names)
    nothing = answered(circuit, cases, targets=())
    for other in (some, nothing):
        np.testing.assert_allclose(other.log_evidence, everything.log_evidence, atol=ROUNDING)
    assert list(some.marginals) == names
    for name in names:
        np.testing.assert_allclose(some.marginals[name], everything.marginals[name], atol=ROUNDING)


def many_causes(n: int) -> Network:
    """Return a noisy-or and a sum of so many causes."""
    causes = tuple(Variable(f"cause{i}", ("no", "yes")) for i in range(n))
    effect = noisy_or(Variable("effect", ("no", "yes")), causes, [0.1] * n)
    total = FunctionalCPD.sum_of("total", causes)
    return Network((*(TabularCPD(c, (), np.array([0.7, 0.3])) for c in causes), effect, total))


def test_large_functional_and_noisy_nodes_take_small_forms() -> None:
    network = many_causes(24)
    circuit = Circuit.of(network)
    assert circuit.multiplications < 60_000
    found = answered(circuit, [[-1] * 24 + [1, 9]])
    plan = compile_plan(network, evidence=["effect", "total"])
    expected = plan.run({"effect": "yes", "total": "9"})
    assert np.isclose(found.log_evidence[0], expected.log_evidence, rtol=1e-10)
    np.testing.assert_allclose(
        found.marginals["cause3"][0], expected.marginals["cause3"], atol=1e-10
    )


def test_numbers_too_small_for_floats_are_computed_by_a_plan() -> None:
    hidden = Variable("hidden", ("a", "b"))
    signs = tuple(Variable(f"sign{i}", ("no", "yes")) for i in range(60))
    values = np.array([[1 - 1e-9, 1 - 2e-9], [1e-9, 2e-9]])
    tables = [TabularCPD(s, (hidden,), values) for s in signs]
    last = Variable("last", ("no", "yes"))
    rare = TabularCPD(hidden, (), np.array([1 - 1e-300, 1e-300]))
    network = Network((rare, *tables, TabularCPD(last, (hidden,), np.eye(2))))
    findings = {s.name: "yes" for s in signs}
    engine = compile_model(network)
    engine.posterior("hidden")
    found = engine.posterior("hidden", findings)
    plan = compile_plan(network, evidence=list(findings))
    assert np.isclose(found.log_evidence, plan.run(findings).log_evidence, rtol=1e-13)
    found = engine.posterior("hidden", {**findings, "last": "yes"})
    assert np.isclose(found.log_evidence, 60 * np.log(2e-9) + np.log(1e-300), rtol=1e-13)
    assert found["hidden"].to_dict() == {"a": 0.0, "b": 1.0}


def test_a_thousand_findings_do_not_underflow() -> None:
    kind = Variable("kind", ("a", "b"))
    signs = [Variable(f"sign{i}", ("no", "yes")) for i in range(1_000)]
    rows = np.array([[0.999, 0.998], [0.001, 0.002]])
    network = Network(
        (TabularCPD(kind, (), np.array([0.7, 0.3])), *(TabularCPD(v, (kind,), rows) for v in signs))
    )
    case = [-1, *(i % 2 for i in range(1_000))]
    found = answered(Circuit.of(network), [case], targets=["kind"])
    logs = [
        math.log(0.7) + 500 * math.log(0.999e-3),
        math.log(0.3) + 500 * math.log(0.998 * 0.002),
    ]
    assert not found.doubtful.any()
    expected = float(np.logaddexp(logs[0], logs[1]))
    assert found.log_evidence[0] == pytest.approx(expected, rel=1e-13)
    assert found.marginals["kind"][0, 0] == pytest.approx(math.exp(logs[0] - logs[1]), rel=1e-10)
    extreme: dict[str, Any] = {v.name: "yes" if i % 2 else "no" for i, v in enumerate(signs)}
    extreme |= {"sign0": {"no": 1e-300, "yes": 2e-300}, "sign1": {"no": 1e300, "yes": 1e299}}
    engine = compile_model(network)
    plan, mine = (engine.posterior(["kind"], extreme) for _ in range(2))
    assert mine.log_evidence == pytest.approx(plan.log_evidence, rel=1e-13)
    np.testing.assert_allclose(mine.joints[0], plan.joints[0], rtol=1e-10)


def test_numbers_may_be_far_apart() -> None:
    kind = Variable("kind", ("a", "b", "c"))
    signs = [Variable(f"sign{i}", ("no", "yes")) for i in range(6)]
    tiny = 1e-200
    rows = np.array([[1.0, 1 - tiny, 1.0], [tiny, 0.5, 1.0]])
    rows[0] = 1 - rows[1]
    other = rows[:, [2, 1, 0]]
    network = Network(
        (
            TabularCPD(kind, (), np.array([0.5, 0.0, 0.5])),
            *(TabularCPD(v, (kind,), rows if i % 2 else other) for i, v in enumerate(signs)),
        )
    )
    seen = {v.name: "yes" for v in signs}
    engine = compile_model(network)
    for _ in range(2):
        found = engine.posterior(["kind"], seen)
        assert found["kind"].to_dict() == pytest.approx({"a": 0.5, "b": 0.0, "c": 0.5})
        assert found.log_evidence == pytest.approx(3 * math.log(tiny), rel=1e-12)


@given(networks(max_variables=6, max_states=3), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(50))
def test_other_tables_are_those_of_another_network(network: Network, seed: int) -> None:
    rng = np.random.default_rng(seed)
    others = [
        TabularCPD(
            cpd.variable,
            cpd.parents,
            np.moveaxis(rng.dirichlet(np.ones(cpd.variable.n_states), cpd.values.shape[1:]), -1, 0),
        )
        if isinstance(cpd, TabularCPD)
        else cpd
        for cpd in network.cpds
    ]
    sizes = [v.n_states for v in network.variables]
    cases = rng.integers(-1, sizes, (3, len(sizes)))
    circuit = Circuit.of(network)
    before = answered(circuit, cases)
    tables = [cpd.values if isinstance(cpd, TabularCPD) else None for cpd in others]
    changed = answered(circuit.with_tables(tables), cases)
    expected = answered(Circuit.of(Network(tuple(others))), cases)
    for found, known in ((changed, expected), (answered(circuit, cases), before)):
        np.testing.assert_allclose(found.log_evidence, known.log_evidence, rtol=ROUNDING)
        for name, marginal in known.marginals.items():
            np.testing.assert_allclose(found.marginals[name], marginal, atol=ROUNDING)


def test_no_cases_have_no_answers() -> None:
    found = answered(Circuit.of(GARDEN), np.empty((0, 2), dtype=int))
    assert found.log_evidence.shape == (0,)
    assert found.marginals["rain"].shape == (0, 2)


def test_models_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TooLargeError, match="max_bytes=50"):
        Circuit.of(GARDEN, limits=Limits(max_bytes=50))
    with pytest.raises(InvalidModelError, match="negative or complex"):
        Circuit.of(FactorModel((Factor((RAIN,), np.array([1.0, -1.0])),)))
    wheel = tuple(Variable.of_integers(f"wheel{i}", range(10)) for i in range(7))
    table = np.random.default_rng(1).integers(2, size=(10,) * 7)
    lock = FunctionalCPD(Variable("open", ("no", "yes")), wheel, Listed(table))
    turns = [TabularCPD(v, (), np.full(10, 0.1)) for v in wheel]
    with pytest.raises(TooLargeError, match="the circuit for any evidence would take"):
        Circuit.of(Network((*turns, lock)))


def test_improbable_configurations_are_not_impossible() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    network = Network(
        (
            TabularCPD(a, (), np.array([1, 1e-200])),
            TabularCPD(b, (a,), np.array([[0.5, 1], [0.5, 1e-200]])),
        )
    )
    engine = compile_model(network)
    for _ in range(2):
        found = engine.posterior(None, {"a": "1", "b": "1"})
        assert found.log_evidence == pytest.approx(2 * np.log(1e-200))


def test_large_factors_do_not_overflow() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    large = Factor((a,), np.array([1e200, 1.0]))
    model = FactorModel((large, large, Factor((a, b), np.full((2, 2), 0.5))))
    engine = compile_model(model)
    for _ in range(2):
        found = engine.posterior("a", {"b": "0"})
        np.testing.assert_allclose(found.joints[0], [1, 0], atol=1e-15)
        assert found.log_evidence == pytest.approx(2 * np.log(1e200) + np.log(0.5))


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
    engine = compile_model(network)
    for _ in range(2):
        found = engine.posterior("a", soft)
        np.testing.assert_allclose(found.joints[0], [0.3, 0.7])
        assert found.log_evidence == pytest.approx(5 * np.log(1e200))


@st.composite
def engine_questions(draw: st.DrawFn) -> tuple[Network, list[tuple[str, ...]], dict[str, Any]]:
    """Return a network, targets, and evidence: states and likelihoods."""
    network = draw(networks())
    names = [v.name for v in network.variables]
    evidence: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(names), unique=True)):
        states = network.variable(name).states
        finding = st.sampled_from([0.0, 0.25, 1.0, 3.0])
        evidence[name] = draw(
            st.sampled_from(states)
            | st.lists(finding, min_size=len(states), max_size=len(states))
            | st.none()
        )
    target = st.lists(st.sampled_from(names), unique=True, max_size=3).map(tuple)
    return network, draw(st.lists(target, min_size=1, max_size=3)), evidence


@given(engine_questions())
@settings(max_examples=examples(60))
def test_joint_targets_are_those_of_enumeration(
    question: tuple[Network, list[tuple[str, ...]], dict[str, Any]],
) -> None:
    network, targets, evidence = question
    joint = enumerate_joint(network)
    values = joint.values.copy()
    for axis, v in enumerate(joint.scope):
        finding = evidence.get(v.name)
        if finding is not None:
            weights = finding if isinstance(finding, list) else np.eye(v.n_states)[v.index(finding)]
            values *= np.reshape(weights, [-1 if a == axis else 1 for a in range(values.ndim)])
    engine = compile_model(network)
    engine.posterior(network.variables[0].name)
    if not values.sum() > 0:
        with pytest.raises(ImpossibleEvidenceError):
            engine.posterior(targets, evidence)
        return
    found = engine.posterior(targets, evidence)
    assert found.log_evidence == pytest.approx(math.log(values.sum()), abs=1e-12)
    for target, scope, got in zip(targets, found.scopes, found.joints, strict=True):
        assert tuple(v.name for v in scope) == target
        axes = [joint.names.index(name) for name in target]
        rest = tuple(a for a in range(values.ndim) if a not in axes)
        expected = np.transpose(values.sum(axis=rest), np.argsort(np.argsort(axes)))
        assert not got.flags.writeable
        np.testing.assert_allclose(got, expected / expected.sum(), atol=1e-12, strict=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["alarm", "win95pts", "andes", "pathfinder", "munin2", "water"])
def test_answers_are_those_of_plans(name: str) -> None:
    network = read_wheel(name)
    circuit = Circuit.of(network)
    columns = circuit.columns
    for seed in range(2):
        question = ask(network, "random", seed=seed)
        seen = state_names(network, question.findings)
        targets = question.targets[seed::50][:3]
        case = np.full(len(columns), -1)
        for v, state in seen.items():
            case[columns[v]] = network.variable(v).index(state)
        found = answered(circuit, [case], targets=targets)
        plan = posterior(network, seen, targets)
        assert found.log_evidence[0] == pytest.approx(plan.log_evidence, abs=1e-11)
        for target, theirs in zip(targets, plan.joints, strict=True):
            np.testing.assert_allclose(found.marginals[target][0], theirs, atol=1e-12)
