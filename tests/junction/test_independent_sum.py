"""Sums of many independent variables."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from bnmind.errors import ImpossibleEvidenceError
from bnmind.junction import compile_plan
from bnmind.pgm import CPD, FunctionalCPD, Network, TabularCPD, Variable
from bnmind.pgm.functions import Addition
from tests.modes import examples
from tests.wheel import sample

YES = ("no", "yes")


def votes(n: int, p: float) -> Network:
    parents = tuple(Variable(f"X{i}", YES) for i in range(n))
    cpds = [TabularCPD(v, (), np.array([1 - p, p])) for v in parents]
    return Network((*cpds, FunctionalCPD.sum_of("S", parents)))


@st.composite
def elections(draw: st.DrawFn) -> tuple[Network, list[str], list[list[str]]]:
    """Summands of any sizes, signs and tables, some observed, some with observed neighbors."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(3, 5))

    def table(child: Variable, *parents: Variable) -> TabularCPD:
        shape = (child.n_states, *(v.n_states for v in parents))
        weights = rng.integers(0, 9, shape).astype(float)
        weights[0] += weights.sum(axis=0) == 0
        return TabularCPD(child, parents, weights / weights.sum(axis=0))

    parents = [
        Variable(f"X{i}", tuple("abc"[: draw(st.sampled_from([1, 2, 2, 3]))])) for i in range(n)
    ]
    source, evidence = Variable("Z", YES), list[str]()
    cpds: list[CPD] = []
    if draw(st.booleans()):
        evidence.append("Z")
    for v in parents:
        cpds.append(table(v, *([source] if evidence[:1] == ["Z"] and draw(st.booleans()) else [])))
        if draw(st.booleans()):
            cpds.append(table(Variable(f"Y_{v.name}", YES), v))
            evidence.append(f"Y_{v.name}")
        if draw(st.integers(0, 4)) == 0:
            evidence.append(v.name)
    if evidence[:1] == ["Z"]:
        cpds.append(table(source))
    sizes = [v.n_states for v in parents]
    if draw(st.booleans()):
        signs = [draw(st.sampled_from([-2, -1, 1, 1, 2])) for _ in parents]
        function = Addition.of(sizes, signs=signs)
    else:
        counted = [draw(st.lists(st.integers(0, size - 1), unique=True)) for size in sizes]
        function = Addition.counting(sizes, counted)
    total = Variable.of_integers("S", range(function.modulus))
    cpds.append(FunctionalCPD(total, tuple(parents), function))
    if draw(st.booleans()):
        evidence.append("S")
    elif draw(st.booleans()):
        cpds.append(table(Variable("Y_S", YES), total))
        evidence.append("Y_S")
    targets = [[v.name] for v in [*parents, total]]
    if draw(st.booleans()):
        targets.append([parents[0].name, *evidence[:1]])
    network = Network(tuple(cpds))
    distinct = [list(dict.fromkeys(target)) for target in targets]
    return network, evidence, distinct


def exact(network: Network, findings: dict[str, int]) -> dict[tuple[int, ...], Fraction]:
    """Return the weight of every configuration of the network's variables that fits, exactly."""
    names = [v.name for v in network.variables]
    cpds: list[tuple[Any, list[int]]] = [
        (np.asarray(cpd.to_factor().values, dtype=float), [names.index(v.name) for v in cpd.scope])
        for cpd in network.cpds
    ]
    ranges = [
        [findings[v.name]] if v.name in findings else range(v.n_states) for v in network.variables
    ]
    weights: dict[tuple[int, ...], Fraction] = {}
    for values in product(*ranges):
        weight = Fraction(1)
        for entries, places in cpds:
            weight *= Fraction(float(entries[tuple(values[i] for i in places)]))
        weights[values] = weight
    return weights


@settings(max_examples=examples(60), deadline=None)
@given(elections(), st.data())
def test_small_sums_are_those_over_all_configurations(
    election: tuple[Network, list[str], list[list[str]]], data: st.DataObject
) -> None:
    network, evidence, targets = election
    plan = compile_plan(network, evidence=evidence, targets=targets)
    by_name = {v.name: v for v in network.variables}
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    case = sample(network, {name: rng.random(1) for name in by_name})
    findings = {name: int(case[name][0]) for name in evidence}
    if evidence and data.draw(st.integers(0, 3)) == 0:
        findings[evidence[-1]] = int(rng.integers(by_name[evidence[-1]].n_states))
    weights = exact(network, findings)
    total = sum(weights.values(), Fraction(0))
    given_states = {name: by_name[name].states[at] for name, at in findings.items()}
    assert plan.is_possible(given_states) == (total > 0)
    if not total:
        with pytest.raises(ImpossibleEvidenceError):
            plan.run(given_states)
        return
    found = plan.run(given_states)
    assert found.log_evidence == pytest.approx(math.log(total), abs=1e-12)
    names = list(by_name)
    for target, joint in zip(targets, found.joints, strict=True):
        expected = np.zeros([by_name[name].n_states for name in target])
        for values, weight in weights.items():
            place = tuple(values[names.index(name)] for name in target)
            expected[place] += float(weight / total)
        np.testing.assert_allclose(joint, expected, rtol=1e-11, atol=0)
        assert not joint.flags.writeable


def test_a_thousand_votes_given_their_sum_have_equal_chances() -> None:
    plan = compile_plan(votes(1000, 0.1), evidence=["S"])
    copy = pickle.loads(pickle.dumps(plan))
    for total in (0, 1, 100, 400, 999, 1000):
        found = copy.run({"S": str(total)})
        expected = float(binom.logpmf(total, 1000, 0.1))
        assert found.log_evidence == pytest.approx(expected, rel=1e-12)
        chances = np.array([found.marginals[f"X{i}"] for i in range(1000)])
        # A chain of a thousand partial sums rounds a thousand times.
        np.testing.assert_allclose(chances[:, 1], total / 1000, rtol=1e-11, atol=0)
        np.testing.assert_allclose(chances[:, 0], 1 - total / 1000, rtol=1e-11, atol=0)


def test_votes_of_very_different_chances() -> None:
    """The twin adds one vote after the other, in fractions."""
    rng = np.random.default_rng(3)
    chances = np.concatenate([10.0 ** -rng.uniform(0, 12, 35), 1 - 10.0 ** -rng.uniform(0, 12, 35)])
    parents = tuple(Variable(f"X{i}", YES) for i in range(len(chances)))
    cpds = [TabularCPD(v, (), np.array([1 - p, p])) for v, p in zip(parents, chances, strict=True)]
    plan = compile_plan(Network((*cpds, FunctionalCPD.sum_of("S", parents))), evidence=["S"])
    pairs = [(Fraction(float(1 - p)), Fraction(float(p))) for p in chances]
    zero = Fraction(0)

    def sums(of: list[tuple[Fraction, Fraction]]) -> list[Fraction]:
        row = [Fraction(1)]
        for no, yes in of:
            row = [a * no + b * yes for a, b in zip([*row, zero], [zero, *row], strict=True)]
        return row

    for total in (0, 7, 66, 70):
        found = plan.run({"S": str(total)})
        whole = sums(pairs)[total]
        assert found.log_evidence == pytest.approx(math.log(whole), rel=1e-12)
        for i in (17, 69):
            rest = sums(pairs[:i] + pairs[i + 1 :])
            expected = float(pairs[i][1] * rest[total - 1] / whole) if total else 0.0
            assert found.marginals[f"X{i}"][1] == pytest.approx(expected, rel=1e-11, abs=0)


def test_a_hidden_sum_has_all_its_states() -> None:
    plan = compile_plan(votes(300, 0.2), targets=[["S"], ["X7"]])
    found = plan.run()
    np.testing.assert_allclose(
        found.marginals["S"], binom.pmf(np.arange(301), 300, 0.2), rtol=1e-10
    )
    assert found.marginals["X7"][1] == pytest.approx(0.2, rel=1e-12)
    assert found.log_evidence == pytest.approx(0.0, abs=1e-12)


def test_batches_and_restrictions_of_a_sum_are_right() -> None:
    plan = compile_plan(votes(80, 0.1), evidence=["S"])
    batch = plan.run_batch({"S": np.array([3, 40, 3])})
    for case, total in enumerate((3, 40, 3)):
        np.testing.assert_allclose(batch.joints[5][case], [1 - total / 80, total / 80], rtol=1e-11)
    assert plan.batch_memory(10) > 0
    assert plan.total_size == sum(clique.size for clique in plan.tree.cliques)
    restricted = plan.restrict({"S": "40"}).run()
    np.testing.assert_allclose(restricted.marginals["X0"], [0.5, 0.5], rtol=1e-11)
    assert plan.unsigned is not None
    assert not plan.is_signed


def test_impossible_totals_are_reported_with_what_contradicts_them() -> None:
    parents = tuple(Variable(f"X{i}", YES) for i in range(70))
    tables = [np.array([0.0, 1.0] if i < 5 else [0.5, 0.5]) for i in range(70)]
    cpds = [TabularCPD(v, (), table) for v, table in zip(parents, tables, strict=True)]
    plan = compile_plan(Network((*cpds, FunctionalCPD.sum_of("S", parents))), evidence=["S"])
    assert plan.is_possible({"S": "5"})
    assert not plan.is_possible({"S": "4"})
    with pytest.raises(ImpossibleEvidenceError) as caught:
        plan.run({"S": "4"})
    assert caught.value.evidence == {"S": "4"}


def test_evidence_on_an_improbable_hidden_sum_loses_no_digits() -> None:
    network = votes(150, 0.01)
    total = next(cpd.variable for cpd in network.cpds if cpd.variable.name == "S")
    table = np.zeros((2, 151))
    table[0, :150], table[1, 150] = 1.0, 1.0
    alarm = TabularCPD(Variable("alarm", YES), (total,), table)
    plan = compile_plan(Network((*network.cpds, alarm)), evidence=["alarm"], targets=[["X3"]])
    found = plan.run({"alarm": "yes"})
    assert found.log_evidence == pytest.approx(150 * math.log(0.01), rel=1e-12)
    np.testing.assert_array_equal(found.marginals["X3"], [0.0, 1.0])
