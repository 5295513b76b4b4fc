"""What queries leave out, and which findings contradict each other."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.assembly as parts
from bnmind.errors import ImpossibleEvidenceError
from bnmind.junction import compile_plan
from bnmind.junction.assembly import ancestral_groups, closure, closures
from bnmind.junction.plan import minimal_conflict
from bnmind.junction.reduction import without_barren
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from tests.modes import examples
from tests.networks import enumerate_joint, networks


@settings(max_examples=examples(100))
@given(networks(), st.data())
def test_what_is_barren_sums_to_one(network: Network, data: st.DataObject) -> None:
    names = [v.name for v in network.variables]
    needed = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    kept = without_barren(network.potentials, needed)
    rest = Network(tuple(kept))  # type: ignore[arg-type]
    truth = enumerate_joint(network).sum_to(needed)
    assert enumerate_joint(rest).sum_to(needed).isclose(truth)
    # Nothing that is left could be left out too.
    parents = {v.name for cpd in rest.cpds for v in cpd.parents}
    assert {v.name for v in rest.variables} <= parents | set(needed)


@settings(max_examples=examples(80))
@given(networks(max_variables=10), st.data())
def test_divided_queries_answer_the_same(network: Network, data: st.DataObject) -> None:
    names = [v.name for v in network.variables]
    observed = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    evidence = {n: data.draw(st.sampled_from(network.variable(n).states)) for n in observed}
    whole = compile_plan(network, evidence=observed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "_WORTH_DIVIDING", 0)
        patch.setattr(parts, "_worth", lambda cells, n: math.inf)
        divided = compile_plan(network, evidence=observed)
    try:
        truth = whole.run(evidence)
    except ImpossibleEvidenceError:
        with pytest.raises(ImpossibleEvidenceError):
            divided.run(evidence)
        return
    found = divided.run(evidence)
    assert found.log_evidence == pytest.approx(truth.log_evidence, abs=1e-9)
    for name, joint in truth.marginals.items():
        np.testing.assert_allclose(found.marginals[name], joint, rtol=0, atol=1e-12)


def test_a_marriage_that_nobody_asks_about_together_is_left_out() -> None:
    states = tuple("abcdefgh")
    roots = [Variable(f"r{i}", states) for i in range(8)]
    rng = np.random.default_rng(0)
    cpds = [TabularCPD(r, (), rng.dirichlet(np.ones(8))) for r in roots]
    for i, j in combinations(range(8), 2):
        table = np.moveaxis(rng.dirichlet(np.ones(8), size=(8, 8)), -1, 0)
        cpds.append(TabularCPD(Variable(f"c{i}{j}", states), (roots[i], roots[j]), table))
    network = Network(tuple(cpds))
    plan = compile_plan(network)
    assert len(plan.trees) == 28
    assert plan.total_size == 28 * 8**3
    found = plan.run({}).marginals["c01"]
    expected = np.einsum("cab,a,b->c", cpds[8].values, cpds[0].values, cpds[1].values)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    # So it is if the joint distribution of each child and its first parent is asked for.
    pairs = [(cpd.variable.name, cpd.parents[0].name) for cpd in cpds[8:]]
    joint_plan = compile_plan(network, targets=pairs)
    assert len(joint_plan.trees) == 28
    assert joint_plan.total_size == 28 * 8**3
    for (child, parent), joint in list(zip(pairs, joint_plan.run({}).joints, strict=True))[::9]:
        cpd, other = network.cpd(child), network.cpd(network.cpd(child).parents[1].name)
        assert isinstance(cpd, TabularCPD)
        assert isinstance(other, TabularCPD)
        one = network.cpd(parent).to_factor().values
        expected = np.einsum("cab,a,b->ca", cpd.values, one, other.values)
        np.testing.assert_allclose(joint, expected, atol=1e-12)


def _random_cpd(*names: str) -> TabularCPD:
    rng = np.random.default_rng([ord(letter) for letter in "".join(names)])
    child, *parents = (Variable(name, ("0", "1")) for name in names)
    table = rng.random((2,) * len(names)) + 0.05
    return TabularCPD(child, tuple(parents), table / table.sum(0))


@pytest.mark.parametrize("families", ["a ba cda dc", "a b ca cb da eb", "a b ca cb da eb cab"])
def test_distributions_that_are_no_network_are_not_divided(families: str) -> None:
    """Such as two of one variable: they say something about its parents, asked for or not."""
    cpds = tuple(_random_cpd(*family) for family in families.split())
    model = FactorModel(cpds)
    subscripts = ",".join(families.split()) + "->ab"
    truth = np.einsum(subscripts, *[np.asarray(cpd.values) for cpd in cpds])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "_WORTH_DIVIDING", 0)
        patch.setattr(parts, "_worth", lambda cells, n: math.inf)
        plan = compile_plan(model, targets=[["a"], ["b"]])
    found = plan.run().marginals
    np.testing.assert_allclose(found["a"], truth.sum(1) / truth.sum(), atol=1e-12)
    np.testing.assert_allclose(found["b"], truth.sum(0) / truth.sum(), atol=1e-12)


def test_groups_are_closed_and_answer_every_target_once() -> None:
    parents: dict[str, list[str]] = {"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["c"]}
    targets = [["d"], ["a"], ["e"], ["b"], []]
    closed = closures(parents, [], targets)
    assert closed is not None
    groups = ancestral_groups(closed, [], targets, [len(names) for names in closed])
    assert [(sorted(closed[place]), answered) for place, answered in groups.items()] == [
        (["a", "b", "c", "d"], [0, 3]),
        (["a", "c", "e"], [1, 2, 4]),
    ]


@settings(max_examples=examples(50))
@given(networks(), st.data())
def test_closures_are_those_of_a_walk_upward(network: Network, data: st.DataObject) -> None:
    parents = {c.variable.name: [v.name for v in c.parents] for c in network.cpds}
    some = st.lists(st.sampled_from([*parents, "known"]), unique=True, max_size=3)
    evidence, targets = data.draw(some), data.draw(st.lists(some, max_size=5))
    sets = [closure(parents, [*evidence, *target]) for target in targets]
    largest = {s for s in sets if not any(s < other for other in sets)}
    found = closures(parents, evidence, targets)
    assert found is not None
    assert len(found) == len(largest)
    assert set(found) == largest
    assert [len(s) for s in found] == sorted(map(len, found), reverse=True)
    size = sum(map(len, largest))
    assert closures(parents, evidence, targets, most=size) == found
    if size:
        assert closures(parents, evidence, targets, most=size - 1) is None
    cost = data.draw(st.permutations(range(len(found))))
    answered: dict[int, int] = {}
    for place, numbers in ancestral_groups(found, evidence, targets, cost).items():
        answered |= dict.fromkeys(numbers, place)
    assert answered == {
        number: min((i for i, s in enumerate(found) if own <= s), key=lambda i: cost[i])
        for number, own in enumerate(sets)
    }


@given(st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1), min_size=1, max_size=4))
def test_conflicts_are_minimal(conflicts: list[set[str]]) -> None:
    def possible(given: frozenset[str]) -> bool:
        return not any(conflict <= given for conflict in conflicts)

    found = minimal_conflict("abcdefgh", possible)
    assert not possible(frozenset(found))
    for name in found:
        assert possible(frozenset(found) - {name})


def test_impossible_evidence_names_the_findings_that_contradict() -> None:
    rain = Variable("rain", ("no", "yes"))
    wet = Variable("wet", ("no", "yes"))
    others = [Variable(f"x{i}", ("no", "yes")) for i in range(5)]
    network = Network(
        (
            TabularCPD(rain, (), np.array([0.5, 0.5])),
            TabularCPD(wet, (rain,), np.eye(2)),
            *(TabularCPD(x, (rain,), np.array([[0.5, 0.4], [0.5, 0.6]])) for x in others),
        )
    )
    told = {"wet": "yes", "rain": "no", **{x.name: "no" for x in others}}
    plan = compile_plan(network, evidence=told, targets=[])
    with pytest.raises(ImpossibleEvidenceError, match=r"zero for wet=yes, rain=no$") as caught:
        plan.run(told)
    assert caught.value.evidence == {"wet": "yes", "rain": "no"}
    with pytest.raises(ImpossibleEvidenceError, match=r"zero for wet=yes, rain=no$"):
        plan.restrict(told)
    with pytest.raises(ImpossibleEvidenceError, match="zero for wet=yes, rain=no in case 1 and 1"):
        plan.run_batch(
            {"wet": np.array([0, 1, 1]), "rain": np.zeros(3, dtype=int)}
            | {x.name: np.zeros(3, dtype=int) for x in others}
        )


def test_a_factor_that_sums_out_to_a_constant_is_a_number() -> None:
    a, b, c, d = (Variable(name, ("0", "1")) for name in "abcd")
    model = FactorModel(
        (
            Factor((a, b), np.array([[1.0, 3.0], [2.5, 1.5]])),
            Factor((b, c), np.array([[0.5, 0.25], [0.25, 0.5]])),
            Factor((a, d), np.array([[1.0, 7.0], [2.0, 5.0]])),
        )
    )
    plan = compile_plan(model, evidence=["d"], targets=[["a"]]).restrict({"d": "0"})
    assert plan.total_size == 2
    found = plan.run()
    assert found.marginals["a"].tolist() == pytest.approx([1 / 3, 2 / 3])
    assert found.log_evidence == pytest.approx(math.log(3 * 4 * 0.75))
