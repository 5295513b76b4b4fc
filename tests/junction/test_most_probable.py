"""Most probable explanations and marginal MAP, against enumeration and pgmpy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.forms as small_tables
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction import (
    Explanation,
    GivenOrder,
    Limits,
    compile_explanation,
    compile_model,
    compile_plan,
)
from bnmind.pgm import (
    Addition,
    Factor,
    FunctionalCPD,
    Network,
    TabularCPD,
    Threshold,
    Variable,
    noisy_or,
)
from bnmind.pgm.formats import pgmpy_object, quiet_pgmpy, to_pgmpy
from tests.modes import examples
from tests.networks import (
    enumerate_joint,
    functional_cpds,
    networks,
    noisy_cpds,
    variable_tuples,
)
from tests.wheel import ask, read_wheel, state_names


@st.composite
def questions(draw: st.DrawFn) -> tuple[Network, dict[str, str], dict[str, Floats]]:
    """Return a network, findings on some variables, likelihoods of others."""
    network = draw(networks())
    names = [v.name for v in network.variables]
    told = draw(st.lists(st.sampled_from(names), unique=True, max_size=4))
    cut = draw(st.integers(0, len(told)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    hard = {}
    for name in told[:cut]:
        states = network.variable(name).states
        hard[name] = states[rng.integers(len(states))]
    # A likelihood may be zero for some states, or for all.
    soft = {
        name: rng.random(network.variable(name).n_states).round(1) * (rng.random() < 0.9)
        for name in told[cut:]
    }
    return network, hard, soft


def weighed(network: Network, hard: dict[str, str], soft: dict[str, Floats]) -> Factor:
    """Return the joint of all variables and the evidence, cell by cell."""
    joint = enumerate_joint(network)
    values = np.array(joint.values)
    for axis, v in enumerate(joint.scope):
        weights = np.asarray(soft.get(v.name, np.ones(v.n_states)), dtype=float)
        if v.name in hard:
            weights = np.eye(v.n_states)[v.index(hard[v.name])]
        values *= weights.reshape([-1 if a == axis else 1 for a in range(values.ndim)])
    return Factor(joint.scope, values)


def probability(joint: Factor, states: dict[str, str]) -> float:
    """Return the mass of the cells at these states."""
    at = {v.name: v.index(states[v.name]) for v in joint.scope if v.name in states}
    return float(np.sum(joint.select(at).values))


@settings(max_examples=examples(200))
@given(questions())
def test_nothing_is_more_probable_than_the_explanation(
    question: tuple[Network, dict[str, str], dict[str, Floats]],
) -> None:
    network, hard, soft = question
    joint = weighed(network, hard, soft)
    plan = compile_explanation(network, evidence=hard, soft=soft)
    largest = float(joint.values.max())
    if largest == 0:
        with pytest.raises(ImpossibleEvidenceError):
            plan.run({**hard, **soft})
        return
    found = plan.run({**hard, **soft})
    assert set(found.states) == {v.name for v in network.variables} - set(hard)
    reached = probability(joint, {**found.states, **hard})
    assert reached == pytest.approx(largest, rel=1e-12)
    assert found.log_probability == pytest.approx(math.log(largest), rel=1e-12, abs=1e-12)
    assert plan.run({**hard, **soft}) == found


@settings(max_examples=examples(100))
@given(questions(), st.data())
def test_marginal_map_is_the_largest_cell_of_the_joint(
    question: tuple[Network, dict[str, str], dict[str, Floats]], data: st.DataObject
) -> None:
    network, hard, soft = question
    rest = [v.name for v in network.variables if v.name not in hard]
    if not rest:
        return
    names = data.draw(st.lists(st.sampled_from(rest), unique=True, min_size=1, max_size=3))
    joint = weighed(network, hard, soft)
    engine = compile_model(network)
    if not np.any(joint.values):
        with pytest.raises(ImpossibleEvidenceError):
            engine.map(names, {**hard, **soft})
        return
    found = engine.map(names, {**hard, **soft})
    largest = float(joint.sum_to(names).values.max())
    assert tuple(found.states) == tuple(names)
    assert probability(joint, dict(found.states)) == pytest.approx(largest, rel=1e-9)
    assert found.log_probability == pytest.approx(math.log(largest), rel=1e-9, abs=1e-12)


def coin(variable: Variable, chance: float) -> TabularCPD:
    """Return the distribution of a binary variable without parents."""
    return TabularCPD(variable, (), np.array([1 - chance, chance]))


def chain(n: int, states: Sequence[str] = ("a", "b", "c")) -> Network:
    """Return a random Markov chain of n variables and a report of each."""
    rng = np.random.default_rng(3)
    cpds: list[Any] = []
    before: tuple[Variable, ...] = ()
    for i in range(n):
        hidden, seen = Variable(f"H{i}", tuple(states)), Variable(f"O{i}", tuple(states))
        for variable, parents in ((hidden, before), (seen, (hidden,))):
            values = rng.random((3,) * (len(parents) + 1)) ** 4
            cpds.append(TabularCPD(variable, parents, values / values.sum(axis=0)))
        before = (hidden,)
    return Network(tuple(cpds))


def viterbi(network: Network, n: int, seen: dict[str, str]) -> float:
    """Return the logarithm of the largest probability of a path (Viterbi, 1967)."""
    best: Any = 0.0
    for i in range(n):
        step = np.log(np.real(network.cpd(f"H{i}").to_factor().values))
        reports = network.variable(f"O{i}")
        report = np.log(np.real(network.cpd(f"O{i}").to_factor().values))
        best = (step if i == 0 else (step + best).max(axis=1)) + report[
            reports.index(seen[reports.name])
        ]
    return float(best.max())


def test_a_chain_of_1500_reports_is_explained_as_by_viterbi() -> None:
    n = 1500
    network = chain(n)
    rng = np.random.default_rng(4)
    seen = {f"O{i}": str(rng.choice(["a", "b", "c"])) for i in range(n)}
    found = compile_explanation(network, evidence=seen).run(seen)
    assert found.log_probability == pytest.approx(viterbi(network, n, seen), rel=1e-12)
    assert found.log_probability < -2000  # e to that is no floating-point number
    whole = {**found.states, **seen}
    logs = [
        np.log(cpd.to_factor().values[tuple(v.index(whole[v.name]) for v in cpd.scope)])
        for cpd in network.cpds
    ]
    assert math.fsum(logs) == pytest.approx(found.log_probability, rel=1e-12)


@pytest.mark.parametrize("function", [Addition.of([2] * 30), Threshold(12)])
def test_a_function_of_thirty_parents_is_maximized_through_its_steps(function: Any) -> None:
    rng = np.random.default_rng(8)
    chances = rng.random(30).round(3)
    bits = [Variable.of_integers(f"B{i}", range(2)) for i in range(30)]
    total = Variable.of_integers("S", range(31 if isinstance(function, Addition) else 2))
    network = Network(
        (
            *(coin(v, p) for v, p in zip(bits, chances, strict=True)),
            FunctionalCPD(total, tuple(bits), function),
        )
    )
    plan = compile_explanation(network, evidence=["S"])
    assert plan.plan.total_size < 20_000
    state = total.states[12 if isinstance(function, Addition) else 1]
    found = plan.run({"S": state})
    # The best choice turns on whatever is gained most by it, as often as it must.
    gain = np.sort(np.log(chances) - np.log1p(-chances))[::-1]
    on = 12 if isinstance(function, Addition) else max(12, int((gain > 0).sum()))
    expected = np.log1p(-chances).sum() + gain[:on].sum()
    assert found.log_probability == pytest.approx(expected, rel=1e-12)
    assert sum(found.states[v.name] == "1" for v in bits) == on


@settings(max_examples=examples(200))
@given(st.data())
def test_distributions_broken_into_steps_multiply_to_their_tables(data: st.DataObject) -> None:
    *parents, child = data.draw(variable_tuples(min_size=2, max_size=6))
    arguments = tuple(parents)
    names_taken = [v.name for v in parents] + [f"{child.name}--_2", "Y--_1"]
    cpd: Any
    noisy = data.draw(st.booleans())
    if noisy:
        cpd = data.draw(noisy_cpds(child, arguments))
    else:
        cpd = data.draw(functional_cpds(arguments))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small_tables, "_UNDIVIDED_CELLS", 0)
        steps = small_tables.small_tables(
            [cpd], [*names_taken, cpd.variable.name], sums_only=noisy, max_cells=10**6
        )
    active = [v for v in parents if v.n_states > 1]
    assert len(steps) == max(1, len(active) - 1)
    product = Factor((), np.asarray(1.0))
    for step in steps:
        factor = step if isinstance(step, Factor) else step.to_factor()
        values = np.asarray(factor.values)
        assert np.all(values >= 0) if noisy else set(np.unique(values)) <= {0, 1}
        product = product.product(factor)
    assert {v.name for v in product.scope}.isdisjoint(names_taken[len(parents) :])
    names = [v.name for v in product.scope]
    assert len(names) == len(set(names))
    kept = [v.name for v in cpd.scope if v in product.scope]
    found, table = product.sum_to(kept).values, cpd.to_factor().values
    np.testing.assert_allclose(found.reshape(table.shape), table, rtol=0, atol=1e-12)


def test_a_noisy_or_that_does_not_fit_is_named() -> None:
    causes = [Variable(f"C{i}", ("no", "yes")) for i in range(30)]
    effect = Variable("fever", ("no", "yes"))
    network = Network(
        (
            *(coin(v, 0.1) for v in causes),
            noisy_or(effect, causes, [0.5] * 30),
        )
    )
    # No fever says of each cause by itself how probable it is; fever needs the whole table.
    plan = compile_explanation(network, evidence=["fever"])
    assert set(plan.run({"fever": "no"}).states.values()) == {"no"}
    for refused in (
        lambda: plan.run({"fever": "yes"}),
        lambda: compile_explanation(network),
    ):
        with pytest.raises(TooLargeError, match=r"2,147,483,648 in the table of fever") as caught:
            refused()
        assert caught.value.needed == 2**31


def test_a_plan_over_its_budget_names_the_largest_clique() -> None:
    network = chain(5)
    order = GivenOrder(tuple(f"H{i}" for i in range(5)))
    with pytest.raises(TooLargeError, match=r"The largest clique is \{H"):
        compile_explanation(
            network,
            evidence=[f"O{i}" for i in range(5)],
            order=order,
            limits=Limits(max_multiplications=9),
        )
    with pytest.raises(TooLargeError, match="max_multiplications=9"):
        compile_model(network, limits=Limits(max_multiplications=9)).map(["H0", "H4"])


def test_impossible_evidence_names_the_findings_that_conflict() -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    c = Variable("c", ("0", "1"))
    network = Network(
        (
            coin(a, 0.5),
            TabularCPD(b, (a,), np.eye(2)),
            coin(c, 0.5),
        )
    )
    for evidence, soft in ((["a", "b", "c"], []), (["a", "c"], ["b"])):
        plan = compile_explanation(network, evidence=evidence, soft=soft)
        with pytest.raises(ImpossibleEvidenceError) as caught:
            plan.run({"a": "0", "b": "1", "c": "1"})
        assert set(caught.value.evidence) == {"a", "b"}
    plan = compile_explanation(network, soft=["a", "b", "c"])
    with pytest.raises(ImpossibleEvidenceError) as caught:
        plan.run({"a": "0", "b": [0.0, 0.3], "c": None})
    assert set(caught.value.evidence) == {"a", "b"}


def test_wrong_questions_are_refused() -> None:
    network = chain(2)
    with pytest.raises(UnknownNameError):
        compile_explanation(network, evidence=["H9"])
    with pytest.raises(UnknownNameError):
        compile_model(network).map(["H9"])
    with pytest.raises(InvalidArgumentError):
        compile_model(network).map([])
    with pytest.raises(InvalidArgumentError):
        compile_model(network).map(["H0", "H0"])
    with pytest.raises(InvalidArgumentError):
        compile_model(network).map(["H0"], {"H0": "a"})
    plan = compile_explanation(network, evidence=["O0"])
    for wrong in ({}, {"O0": "a", "O1": "a"}, {"O0": "z"}):
        with pytest.raises((UnknownNameError, InvalidArgumentError)):
            plan.run(wrong)


def test_plans_print_what_they_explain() -> None:
    network = chain(2)
    plan = compile_explanation(network, evidence=["O0"], soft=["O1"])
    assert repr(plan) == f"ExplanationPlan(3 variables | O0, O1?; {plan.plan.total_size} cells)"
    assert "explains  H0, H1, O1" in str(plan)
    assert str(plan.plan) in str(plan)


@pytest.mark.parametrize("name", ["asia", "survey", "sachs"])
@pytest.mark.parametrize("evidence", ["leaves", "random"])
def test_pgmpy_finds_nothing_more_probable(name: str, evidence: str) -> None:
    """It writes out the joint of all that is asked for: larger networks do not fit."""
    network = read_wheel(name)
    findings = state_names(network, ask(network, evidence).findings)
    found = compile_explanation(network, evidence=findings).run(findings)
    with quiet_pgmpy():
        engine = pgmpy_object("pgmpy.inference", "VariableElimination")
        theirs = engine(to_pgmpy(network)).map_query(
            [v.name for v in network.variables if v.name not in findings],
            evidence=findings,
            show_progress=False,
        )
    best = _log_probability(network, {**findings, **{k: str(s) for k, s in theirs.items()}})
    assert found.log_probability == pytest.approx(best, abs=1e-9)
    assert _log_probability(network, {**findings, **found.states}) == pytest.approx(best, abs=1e-9)


def largest_by_buckets(network: Network, findings: dict[str, str]) -> float:
    """Return the largest probability, one variable after the other maximized out of all tables.

    (R. Dechter, "Bucket elimination", 1996; each time the variable whose table is smallest.)
    """
    at = {name: network.variable(name).index(state) for name, state in findings.items()}
    tables = [cpd.to_factor().select(at) for cpd in network.cpds]

    def joined(variable: Variable) -> tuple[Variable, ...]:
        return tuple({v for table in tables if variable in table.scope for v in table.scope})

    left = [v for v in network.variables if v.name not in findings]
    while left:
        best = min(left, key=lambda v: math.prod(u.n_states for u in joined(v)))
        left.remove(best)
        product = Factor((), np.asarray(1.0))
        for table in (t for t in tables if best in t.scope):
            product = product.product(table)
        rest = tuple(v for v in product.scope if v != best)
        largest = Factor(rest, product.values.max(axis=product.axis(best.name)))
        tables = [*(t for t in tables if best not in t.scope), largest]
    return math.prod(float(table.values) for table in tables)


@pytest.mark.parametrize("name", ["alarm", "insurance", "win95pts", "hailfinder"])
@pytest.mark.parametrize("evidence", ["none", "leaves", "random"])
def test_buckets_find_nothing_more_probable(name: str, evidence: str) -> None:
    """For pgmpy these are too large, and pyAgrum 3.3.1 fails with an empty tensor."""
    network = read_wheel(name)
    findings = state_names(network, ask(network, evidence).findings)
    found = compile_explanation(network, evidence=findings).run(findings)
    best = math.log(largest_by_buckets(network, findings))
    assert found.log_probability == pytest.approx(best, abs=1e-9)
    assert _log_probability(network, {**findings, **found.states}) == pytest.approx(best, abs=1e-9)


def _log_probability(network: Network, states: dict[str, str]) -> float:
    return math.fsum(
        math.log(cpd.table_on([(v.index(states[v.name]),) for v in cpd.scope]).item())
        for cpd in network.cpds
    )


@pytest.mark.parametrize("name", ["link", "munin1", "pigs"])
def test_large_explanations_are_local_optima_and_have_the_probability_they_claim(
    name: str,
) -> None:
    network = read_wheel(name)
    findings = state_names(network, ask(network, "random").findings)
    found = compile_explanation(network, evidence=findings).run(findings)
    whole = {**findings, **found.states}
    best = _log_probability(network, whole)
    assert found.log_probability == pytest.approx(best, rel=1e-12)
    for v in network.variables:
        if v.name in findings:
            continue
        near = [cpd for cpd in network.cpds if v.name in {u.name for u in cpd.scope}]
        here = _mass(near, whole)
        assert all(_mass(near, {**whole, v.name: s}) <= here * (1 + 1e-12) for s in v.states)


def _mass(cpds: Sequence[Any], states: dict[str, str]) -> float:
    tables = (cpd.table_on([(v.index(states[v.name]),) for v in cpd.scope]) for cpd in cpds)
    return math.prod(float(table.item()) for table in tables)


def test_an_explanation_is_at_most_as_probable_as_the_evidence() -> None:
    network = chain(6)
    seen = {f"O{i}": "b" for i in range(6)}
    found: Explanation = compile_explanation(network, evidence=seen).run(seen)
    assert found.log_probability <= compile_plan(network, evidence=seen).run(seen).log_evidence
