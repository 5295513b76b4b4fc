"""Proven explanations by branch and bound, against enumeration and exact elimination."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction import Limits, compile_explanation, compile_model, compile_search
from bnmind.junction.search import BestExplanations
from bnmind.pgm import Factor, FactorModel, Network, Variable
from tests.junction.test_most_probable import probability, questions, weighed
from tests.modes import examples

SMALL = Limits(max_bytes=2**10)
"""So little memory that nearly every bucket is divided, and nothing is cached."""

Question = tuple[Network, dict[str, str], dict[str, Floats]]


@st.composite
def factor_models(draw: st.DrawFn, *, max_variables: int = 8) -> FactorModel:
    """Return dense products of factors with zeros and ties."""
    n = draw(st.integers(2, max_variables))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = rng.integers(1, 4, size=n)
    variables = [Variable.of_integers(f"X{i}", range(size)) for i, size in enumerate(sizes)]
    values = [[0.0, 1.0, 2.0, 4.0], [0.0, 1.0], list(rng.random(6)), [0.0, *rng.random(6)]]
    choice = values[draw(st.integers(0, 3))]
    factors = []
    for _ in range(draw(st.integers(n, 3 * n))):
        scope = rng.choice(n, size=rng.integers(1, min(4, n + 1)), replace=False)
        shape = tuple(int(sizes[i]) for i in scope)
        factors.append(Factor(tuple(variables[i] for i in scope), rng.choice(choice, size=shape)))
    return FactorModel(tuple(factors))


def joint_of(model: FactorModel) -> Factor:
    """Return the product of all factors."""
    joint = Factor((), np.array(1.0))
    for factor in model.potentials:
        assert isinstance(factor, Factor)
        joint = joint.product(factor)
    return joint


def product_at(model: FactorModel, states: Any) -> float:
    """Return the product of all factors at some states."""
    return math.prod(
        [
            float(f.values[tuple(int(states[v.name]) for v in f.scope)])
            for f in (p for p in model.potentials if isinstance(p, Factor))
        ]
    )


@settings(max_examples=examples(40))
@given(questions(), st.sampled_from([SMALL, Limits()]))
def test_nothing_is_more_probable_than_a_proven_explanation(
    question: Question, limits: Limits
) -> None:
    network, hard, soft = question
    joint = weighed(network, hard, soft)
    largest = float(joint.values.max())
    search = compile_search(network, {**hard, **soft}, limits=limits)
    try:
        found = search.run()
    except TooLargeError:
        assert 8 * max(cpd.n_cells for cpd in network.cpds) > limits.max_bytes
        return
    except ImpossibleEvidenceError:
        assert largest == 0
        return
    assert largest > 0
    assert found.is_proven
    assert found.gap == 0
    assert list(found.states) == [v.name for v in network.variables if v.name not in hard]
    assert probability(joint, dict(found.states) | hard) == pytest.approx(largest, rel=1e-9)
    assert found.log_probability == pytest.approx(math.log(largest), rel=1e-9, abs=1e-9)
    assert search.run() == found


@settings(max_examples=examples(60))
@given(factor_models(), st.sampled_from([SMALL, Limits(max_bytes=2**13), Limits()]))
def test_products_of_factors_with_zeros_and_ties(model: FactorModel, limits: Limits) -> None:
    largest = float(joint_of(model).values.max())
    search = compile_search(model, limits=limits)
    if largest == 0:
        with pytest.raises(ImpossibleEvidenceError):
            search.run()
        return
    found = search.run()
    assert found.is_proven
    assert product_at(model, found.states) == pytest.approx(largest, rel=1e-9)
    assert found.log_probability == pytest.approx(math.log(largest), rel=1e-9, abs=1e-9)


@settings(max_examples=examples(25))
@given(factor_models(), st.integers(1, 5))
def test_bounds_are_valid_wherever_the_search_ends(model: FactorModel, nodes: int) -> None:
    largest = float(joint_of(model).values.max())
    if largest == 0:
        return
    search = compile_search(model, limits=SMALL)
    infos: list[BestExplanations] = []
    while not infos or not infos[-1].is_proven:
        infos.append(search.run(max_nodes=nodes * (len(infos) + 1)))
    assert search.run(max_nodes=nodes) == infos[0]
    best = math.log(largest)
    for info in infos:
        assert info.upper_bound >= best - 1e-9
        assert info.log_probability <= best + 1e-9
        assert info.gap >= 0
    for earlier, later in itertools.pairwise(infos):
        assert later.upper_bound <= earlier.upper_bound
        assert later.log_probability >= earlier.log_probability
        assert later.nodes >= earlier.nodes
    assert infos[-1].log_probability == pytest.approx(best, rel=1e-9, abs=1e-9)


@settings(max_examples=examples(40))
@given(factor_models(max_variables=6), st.data())
def test_a_marginal_map_is_the_largest_cell_of_the_joint(
    model: FactorModel, data: st.DataObject
) -> None:
    names = [v.name for v in model.variables]
    targets = data.draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    limits = data.draw(st.sampled_from([Limits(max_bytes=2**13), Limits()]))
    joint = joint_of(model).sum_to(targets)
    largest = float(joint.values.max())
    search = compile_search(model, targets=targets, limits=limits)
    if largest == 0:
        with pytest.raises(ImpossibleEvidenceError):
            search.run()
        return
    found = search.run()
    assert found.is_proven
    assert list(found.states) == targets
    at = tuple(int(found.states[name]) for name in targets)
    assert float(joint.values[at]) == pytest.approx(largest, rel=1e-9)
    assert found.log_probability == pytest.approx(math.log(largest), rel=1e-9, abs=1e-9)


@settings(max_examples=examples(25))
@given(questions(), st.data())
def test_marginal_map_of_networks_is_that_of_the_exact_plan(
    question: Question, data: st.DataObject
) -> None:
    network, hard, soft = question
    rest = [v.name for v in network.variables if v.name not in hard]
    if not rest:
        return
    targets = data.draw(st.lists(st.sampled_from(rest), unique=True, min_size=1, max_size=3))
    limits = data.draw(st.sampled_from([Limits(max_bytes=2**16), Limits()]))
    search = compile_search(network, {**hard, **soft}, targets, limits=limits)
    try:
        exact = compile_model(network).map(targets, {**hard, **soft})
    except ImpossibleEvidenceError:
        with pytest.raises(ImpossibleEvidenceError):
            search.run()
        return
    found = search.run()
    assert found.is_proven
    assert found.log_probability == pytest.approx(exact.log_probability, rel=1e-9, abs=1e-9)


def grid(n: int, seed: int) -> FactorModel:
    """Return a square grid of binary variables with random couplings (a spin glass)."""
    rng = np.random.default_rng(seed)
    at = {(i, j): Variable.of_integers(f"X{i}_{j}", range(2)) for i in range(n) for j in range(n)}
    factors = [Factor((v,), np.exp(0.1 * rng.normal(size=2))) for v in at.values()]
    for (i, j), v in at.items():
        for other in ((i + 1, j), (i, j + 1)):
            if other in at:
                coupling = float(rng.normal()) * (2 * np.eye(2) - 1)
                factors.append(Factor((v, at[other]), np.exp(coupling)))
    return FactorModel(tuple(factors))


def test_a_grid_has_the_explanation_of_the_exact_plan() -> None:
    model = grid(7, 1)
    exact = compile_explanation(model).run()
    found = compile_search(model, limits=Limits(max_bytes=2**14)).run()
    assert found.is_proven
    assert dict(found.states) == dict(exact.states)
    assert found.log_probability == pytest.approx(exact.log_probability, rel=1e-12)
    assert found.proven() == (type(exact)(found.states, found.log_probability),)


def test_a_search_without_a_proof_says_so() -> None:
    search = compile_search(grid(9, 2), limits=Limits(max_bytes=2**12))
    found = search.run(max_nodes=50)
    assert not found.is_proven
    assert found.nodes == 50
    assert found.gap == found.upper_bound - found.log_probability > 0
    with pytest.raises(TooLargeError, match="50 nodes without a proof"):
        found.proven()


def test_a_search_ends_when_the_caller_says_so() -> None:
    seen: list[BestExplanations] = []

    def until(known: BestExplanations) -> bool:
        seen.append(known)
        return True

    search = compile_search(grid(12, 3), limits=Limits(max_bytes=2**12))
    assert search.run(until=until) == seen[0]
    assert search.run(seconds=0).nodes == 0


def test_ctrl_c_returns_the_best_configuration_known() -> None:
    def until(known: BestExplanations) -> bool:
        raise KeyboardInterrupt

    search = compile_search(grid(12, 3), limits=Limits(max_bytes=2**12))
    found = search.run(until=until)
    assert not found.is_proven
    assert len(found.states) == 144


def test_wrong_questions_are_refused() -> None:
    model = grid(2, 1)
    with pytest.raises(InvalidArgumentError, match="both explained and evidence"):
        compile_search(model, {"X0_0": "1"}, ["X0_0"])
    with pytest.raises(InvalidArgumentError, match="at least one variable"):
        compile_search(model, targets=[])
    with pytest.raises(InvalidArgumentError, match="expected each variable once"):
        compile_search(model, targets=["X0_0", "X0_0"])


def test_many_small_likelihoods_do_not_make_a_configuration_impossible() -> None:
    hidden = Variable("h", ("0", "1"))
    variables = [Variable(f"x{i}", ("0", "1")) for i in range(400)]
    model = FactorModel(tuple(Factor((v,), np.ones(2)) for v in (*variables, hidden)))
    seen = {v.name: np.array([0.1, 0.05]) for v in variables}
    search = compile_search(model, seen, [v.name for v in variables])
    assert search._evaluate is not None
    value = search._evaluate(np.zeros(len(search._tables.variables), dtype=np.int64))
    assert value == pytest.approx(400 * math.log(0.1) + math.log(2), rel=1e-12)
