"""Models with interchangeable variables: answers by counts equal those of plans."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.exchangeable.lifted_posterior as symmetric_model
from bnmind.errors import ImpossibleEvidenceError, TooLargeError
from bnmind.junction import Limits, MinFill, compile_model, compile_plan
from bnmind.junction.exchangeable.counts import counts_of, power_table, weights_of_counts
from bnmind.junction.exchangeable.degeneracy import degeneracy
from bnmind.junction.exchangeable.lifted_posterior import lifted_posterior
from bnmind.junction.exchangeable.lifted_posterior import symmetric_model as symmetries_of
from bnmind.pgm import Factor, FactorModel, Variable
from tests.modes import examples


def table(draw: st.DrawFn, *shape: int) -> np.ndarray:
    """Return a table of simple numbers, some of them zero."""
    numbers = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5, 3.0])
    n = math.prod(shape)
    return np.array(draw(st.lists(numbers, min_size=n, max_size=n))).reshape(shape)


@st.composite
def relational_models(draw: st.DrawFn) -> FactorModel:
    """Return a few people with equal tables, other variables, and leaves between them."""
    n_states, n_people = draw(st.integers(2, 3)), draw(st.integers(2, 4))
    states = [str(i) for i in range(n_states)]
    people = [Variable(f"p{i}", tuple(states)) for i in range(n_people)]
    others = [Variable(f"y{j}", ("0", "1")) for j in range(draw(st.integers(1, 3)))]
    own = table(draw, n_states) + 0.1
    factors = [Factor((person,), own) for person in people]
    has_leaves = draw(st.booleans())
    for other in others:
        factors.append(Factor((other,), table(draw, 2) + 0.1))
        shared = table(draw, n_states, 2, 2)
        for person in people:
            leaf = Variable(f"r{person.name}{other.name}", ("0", "1"))
            scope = (person, other, leaf) if has_leaves else (person, other)
            factors.append(Factor(scope, shared if has_leaves else shared[..., 0]))
    if len(others) > 1:
        factors.append(Factor((others[0], others[1]), table(draw, 2, 2) + 0.1))
    return FactorModel(tuple(factors))


@settings(max_examples=examples(40))
@given(relational_models(), st.data())
def test_counts_answer_like_a_plan(model: FactorModel, data: st.DataObject) -> None:
    seen = data.draw(st.lists(st.sampled_from(model.variables), unique=True, max_size=2))
    evidence = {v.name: data.draw(st.sampled_from(v.states)) for v in seen}
    positions = {v.name: v.index(evidence[v.name]) for v in seen}
    hidden = [v for v in model.variables if v.name not in evidence]
    soft: dict[str, np.ndarray] = {}
    if data.draw(st.booleans()):
        soft = {hidden[0].name: np.linspace(0.5, 2.0, hidden[0].n_states)}
    names = tuple(v.name for v in hidden)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symmetric_model, "_SMALLEST_GROUP", 2)
        try:
            found = lifted_posterior(model, names, (positions, soft), Limits())
        except ImpossibleEvidenceError:
            found = None
    plan = compile_plan(model, evidence=evidence, soft=soft)
    likelihoods: Mapping[str, object] = {
        name: dict(zip(model.variable(name).states, weights.tolist(), strict=True))
        for name, weights in soft.items()
    }
    try:
        expected = plan.run({**evidence, **likelihoods})
    except ImpossibleEvidenceError:
        assert found is None
        return
    if found is None:
        return  # no two variables are equal, or all tables of a leaf are zero
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-9)
    for name in names:
        difference = found.marginals[name] - expected.marginals[name]
        assert np.abs(difference).max() < 1e-10


def complete_bipartite(n: int, weight: float) -> FactorModel:
    """Return n times n equal factors between two sides; a pair of different states weighs more."""
    left = [Variable(f"x{i}", ("0", "1")) for i in range(n)]
    right = [Variable(f"y{i}", ("0", "1")) for i in range(n)]
    pair = np.array([[1.0, weight], [weight, 1.0]])
    own = np.array([1.0, 0.5])
    edges = [Factor((x, y), pair) for x in left for y in right]
    return FactorModel((*edges, *(Factor((x,), own) for x in left)))


@pytest.mark.slow
def test_an_engine_counts_when_no_plan_fits() -> None:
    """The treewidth is 60; there are 61 times 61 counts."""
    n, weight = 60, 1.02
    model = complete_bipartite(n, weight)
    engine = compile_model(model, order=MinFill())
    with pytest.raises(TooLargeError):
        compile_plan(model, order=MinFill())
    seen = {"x0": "1", "y0": "0"}
    found = engine.posterior(["x1", "y1"], seen)
    weights = np.array(
        [
            [
                comb(n - 1, a)
                * comb(n - 1, b)
                * 0.5 ** (a + 1)
                # Of a + 1 and b ones, (a + 1)(n − b) + (n − a − 1) b pairs differ.
                * weight ** ((a + 1) * (n - b) + (n - a - 1) * b)
                for b in range(n)
            ]
            for a in range(n)
        ]
    )
    total = weights.sum()
    assert found.log_evidence == pytest.approx(math.log(total), abs=1e-9)
    ones = np.arange(n) / (n - 1)
    assert found["x1"]["1"] == pytest.approx((weights.sum(axis=1) @ ones) / total, abs=1e-12)
    assert found["y1"]["1"] == pytest.approx((weights.sum(axis=0) @ ones) / total, abs=1e-12)
    assert engine.log_probability({"y0": "0"}, {"x0": "1"}) < 0
    with pytest.raises(TooLargeError):
        engine.joint(["x1", "x2"], seen)


@pytest.mark.parametrize("n", [3, 1074, 1200, 2000])
def test_thousands_of_observed_neighbors_do_not_underflow(n: int) -> None:
    """The neighbors of h say nothing about it, except for the first."""
    h, k, *others = (
        Variable(name, ("0", "1")) for name in ["h", "k", *map("g{}".format, range(8))]
    )
    seen = [Variable(f"s{i}", ("0", "1")) for i in range(n)]
    tables = [np.array([[0.7, 1.0], [0.5, 1.0]]), *[np.array([[0.5, 1.0], [0.5, 1.0]])] * (n - 1)]
    pair = np.array([[1.0, 0.25], [0.5, 1.0]])
    factors = [Factor((h, s), values) for s, values in zip(seen, tables, strict=True)]
    factors += [Factor((hub, other), pair) for hub in (h, k) for other in others]
    # Tables without any other variable, and without variables after the evidence.
    factors += [Factor((s,), np.array([0.25, 1.0])) for s in seen]
    model = FactorModel(tuple(factors))
    names = tuple(v.name for v in (h, k, *others))
    found = lifted_posterior(model, names, ({s.name: 0 for s in seen}, {}), Limits())
    assert found is not None
    rest = FactorModel((Factor((h,), np.array([0.7, 0.5])), *factors[n : n + 16]))
    expected = compile_plan(rest).run({})
    log_evidence = expected.log_evidence + (n - 1) * math.log(0.5) + n * math.log(0.25)
    assert found.log_evidence == pytest.approx(log_evidence, rel=1e-12)
    for name in names:
        np.testing.assert_allclose(found.marginals[name], expected.marginals[name], rtol=1e-12)


def test_numbers_too_far_apart_for_a_table_are_left_to_plans() -> None:
    people = [Variable(f"p{i}", ("0", "1")) for i in range(8)]
    hub, other = Variable("h", ("0", "1")), Variable("k", ("0", "1"))
    pair = np.array([[1.0, 0.5], [0.5, 1.0]])
    pairs = [Factor((one, person), pair) for person in people for one in (hub, other)]
    far = [Factor((hub,), np.array([1.0, 1e-200]))]
    assert symmetries_of(FactorModel((*pairs, *far)), {}, {}) is not None
    assert symmetries_of(FactorModel((*pairs, *far, *far)), {}, {}) is None
    back = [Factor((hub,), np.array([1e-200, 1.0]))]
    model = symmetries_of(FactorModel((*pairs, *far, *far, *back, *back)), {}, {})
    assert model is not None
    np.testing.assert_allclose(model.singles["h"], model.singles["h"][0], rtol=1e-12)


def test_models_without_equal_variables_are_left_to_plans() -> None:
    x = [Variable(f"x{i}", ("0", "1")) for i in range(20)]
    rng = np.random.default_rng(1)
    chain = FactorModel(tuple(Factor(pair, rng.random((2, 2))) for pair in pairwise(x)))
    assert symmetries_of(chain, {}, {}) is None
    signed = FactorModel((Factor((x[0], x[1]), np.array([[1.0, -1.0], [0.5, 2.0]])),))
    assert symmetries_of(signed, {}, {}) is None


def test_counts_and_their_weights() -> None:
    counts = counts_of(3, 3)
    assert counts is not None
    assert len(counts) == 10
    assert set(counts.sum(axis=1).tolist()) == {3}
    own = np.array([0.5, 0.0, 2.0])
    found = weights_of_counts(counts, own)
    assert found is not None
    expected = [
        math.factorial(3) / math.prod(map(math.factorial, c)) * math.prod(own**c)
        for c in counts.tolist()
    ]
    np.testing.assert_allclose(found[0] * math.exp(found[1]), expected, atol=1e-12)
    assert counts_of(10**4, 2) is None
    assert power_table(counts, np.zeros((3, 2))) is None
    far = np.array([[1e-150], [1.0], [1e150]])
    assert power_table(counts, far) is None


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_the_degeneracy_of_a_complete_graph_is_the_number_of_others(n: int) -> None:
    assert degeneracy([*combinations(range(n), 2), (0,)]) == n - 1


@settings(max_examples=examples(50))
@given(st.lists(st.frozensets(st.integers(0, 7), max_size=3), max_size=12))
def test_the_degeneracy_is_that_of_the_densest_subgraph(scopes: list[frozenset[int]]) -> None:
    edges = {pair for scope in scopes for pair in combinations(sorted(scope), 2)}
    best = 0
    for size in range(1, 9):
        for inside in combinations(range(8), size):
            degrees = [sum(v in e and {*e} <= {*inside} for e in edges) for v in inside]
            best = max(best, min(degrees))
    assert degeneracy([tuple(scope) for scope in scopes]) == best


@pytest.mark.parametrize("step", [1, -1])
def test_leaves_are_summed_out_wherever_they_stand(step: int) -> None:
    people = [Variable(f"p{i}", ("0", "1")) for i in range(12)]
    ring = [Variable(name, ("0", "1")) for name in ("sign", "topic", "mood")]
    shared = np.arange(1.0, 9.0).reshape(2, 2, 2)
    factors = [Factor(pair, np.array([[1.0, 2.0], [3.0, 1.0]])) for pair in combinations(ring, 2)]
    for person in people:
        leaf = Variable(f"leaf of {person.name}", ("0", "1"))
        factors += [
            Factor((person,), np.array([0.5, 1.5])),
            Factor((person, ring[0], leaf), shared),
        ]
    found = symmetries_of(FactorModel(tuple(factors[::step])), {}, {})
    assert found is not None
    assert [len(group) for group in found.groups] == [len(people)]
    assert len(found.leaves) == len(people)


def test_a_group_has_a_name_that_no_variable_has() -> None:
    model = complete_bipartite(6, 0.8)
    # The counts of the group of x0 would have the names of its second and third variable.
    names = {"x1": "counts of x0", "x2": "counts of x0'"}
    variables = {v.name: Variable(names.get(v.name, v.name), v.states) for v in model.variables}
    factors = [p for p in model.potentials if isinstance(p, Factor)]
    renamed = FactorModel(
        tuple([Factor(tuple([variables[name] for name in f.names]), f.values) for f in factors])
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symmetric_model, "_SMALLEST_GROUP", 2)
        found = lifted_posterior(renamed, ("x0", "counts of x0", "y2"), ({}, {}), Limits())
    assert found is not None
    expected = compile_plan(model).run({})
    for name, old in (("x0", "x0"), ("counts of x0", "x1"), ("y2", "y2")):
        np.testing.assert_allclose(found.marginals[name], expected.marginals[old], atol=1e-12)
