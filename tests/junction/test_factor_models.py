"""Explanations, samples and marginal MAP of products of factors, against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidModelError
from bnmind.information import Floats
from bnmind.junction import (
    compile_explanation,
    compile_model,
    compile_plan,
    compile_sampling,
)
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from tests.junction.test_sampling import assert_drawn_from
from tests.modes import examples
from tests.networks import enumerate_joint, networks, variable_tuples

A, B = Variable("a", ("no", "yes")), Variable("b", ("low", "middle", "high"))


@st.composite
def positive_models(draw: st.DrawFn) -> FactorModel:
    """Return a product of non-negative factors, with zeros; some may be over no variable."""
    variables = draw(variable_tuples(max_size=6, max_states=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scopes: list[tuple[Variable, ...]] = [(v,) for v in variables]
    for _ in range(draw(st.integers(0, 6))):
        scopes.append(tuple(draw(st.lists(st.sampled_from(variables), unique=True, max_size=3))))
    factors = []
    for scope in scopes:
        values = 10.0 * rng.random([v.n_states for v in scope]).round(1)
        factors.append(Factor(scope, values))
    return FactorModel(tuple(factors))


@st.composite
def observed_models(draw: st.DrawFn) -> tuple[FactorModel, dict[str, str]]:
    """Return a product of factors, and states of some of its variables."""
    model = draw(positive_models() | networks(max_variables=6).map(_product))
    told = draw(st.lists(st.sampled_from(model.variables), unique=True, max_size=3))
    return model, {v.name: draw(st.sampled_from(v.states)) for v in told}


def _product(network: Network) -> FactorModel:
    return FactorModel(network.potentials)


def weights(model: FactorModel, evidence: dict[str, str]) -> Floats:
    """Return the product at the evidence, an axis for each variable in the model's order."""
    joint = enumerate_joint(model).transpose(v.name for v in model.variables)
    values = np.array(np.real(joint.values))
    for axis, v in enumerate(model.variables):
        if v.name in evidence:
            mask = np.eye(v.n_states)[v.index(evidence[v.name])]
            values *= mask.reshape([-1 if a == axis else 1 for a in range(values.ndim)])
    return values


@settings(max_examples=examples(150))
@given(observed_models())
def test_the_explanation_is_the_largest_cell(drawn: tuple[FactorModel, dict[str, str]]) -> None:
    model, evidence = drawn
    values = weights(model, evidence)
    plan = compile_explanation(model, evidence=evidence)
    if not values.max() > 0:
        with pytest.raises(ImpossibleEvidenceError):
            plan.run(evidence)
        return
    found = plan.run(evidence)
    states = {**found.states, **evidence}
    assert set(states) == {v.name for v in model.variables}
    cell = values[tuple(v.index(states[v.name]) for v in model.variables)]
    assert cell == pytest.approx(values.max(), rel=1e-9)
    assert found.log_probability == pytest.approx(math.log(values.max()), rel=1e-9, abs=1e-9)


@settings(max_examples=examples(80))
@given(observed_models(), st.integers(0, 2**32 - 1))
def test_samples_are_drawn_in_proportion_to_the_product(
    drawn: tuple[FactorModel, dict[str, str]], seed: int
) -> None:
    model, evidence = drawn
    values = weights(model, evidence)
    plan = compile_sampling(model, evidence=evidence)
    rng = np.random.default_rng(seed)
    if not values.sum() > 0:
        with pytest.raises(ImpossibleEvidenceError):
            plan.run(evidence, n_samples=3, rng=rng)
        return
    samples = plan.run(evidence, n_samples=2000, rng=rng)
    assert samples.log_evidence == pytest.approx(math.log(values.sum()), rel=1e-9, abs=1e-9)
    assert_drawn_from(samples, [v.name for v in model.variables], values / values.sum())


@settings(max_examples=examples(50))
@given(observed_models(), st.data())
def test_marginal_map_is_the_largest_cell_of_the_joint(
    drawn: tuple[FactorModel, dict[str, str]], data: st.DataObject
) -> None:
    model, evidence = drawn
    rest = [v for v in model.variables if v.name not in evidence]
    if not rest or not weights(model, evidence).sum() > 0:
        return
    wanted = data.draw(st.lists(st.sampled_from(rest), unique=True, min_size=1, max_size=2))
    found = compile_model(model).map([v.name for v in wanted], evidence)
    joint = compile_plan(model, evidence=evidence, targets=[[v.name for v in wanted]])
    values = joint.run(evidence).joints[0]
    at = tuple(v.index(found.states[v.name]) for v in wanted)
    assert values[at] == pytest.approx(values.max(), rel=1e-9)


def test_a_product_of_a_networks_distributions_is_drawn_forward() -> None:
    network = Network(
        (
            TabularCPD(A, (), np.array([0.2, 0.8])),
            TabularCPD(B, (A,), np.array([[0.5, 0.1], [0.3, 0.2], [0.2, 0.7]])),
        )
    )
    whole, product = compile_sampling(network), compile_sampling(FactorModel(network.potentials))
    assert product.plan is None
    first, second = (
        plan.run(n_samples=50, rng=np.random.default_rng(2)).columns for plan in (whole, product)
    )
    assert all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("values", [[0.5, -0.5], [0.5, 0.5j]])
def test_factors_with_signs_have_no_maxima_and_no_samples(values: list[complex]) -> None:
    model = FactorModel((Factor((A,), np.array(values)), Factor((A, B), np.ones((2, 3)))))
    for compiled in (compile_explanation, compile_sampling):
        with pytest.raises(
            InvalidModelError, match="must not be negative or complex, but the one over a"
        ):
            compiled(model)


def test_a_product_that_is_zero_everywhere_is_reported() -> None:
    model = FactorModel((Factor((A,), np.eye(2)[0]), Factor((A,), np.eye(2)[1])))
    with pytest.raises(ImpossibleEvidenceError, match="got zero without evidence"):
        compile_explanation(model).run()
    with pytest.raises(ImpossibleEvidenceError, match="got zero without evidence"):
        compile_sampling(model).run(n_samples=1, rng=np.random.default_rng(1))
