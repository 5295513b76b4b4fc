"""Factors of both signs: what a run says is right, or it is refused."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.forms as forms
from bnmind.errors import (
    BnmindError,
    CancellationError,
    ImpossibleEvidenceError,
    InvalidModelError,
)
from bnmind.information import Floats
from bnmind.junction import Plan, compile_plan
from bnmind.pgm import (
    Addition,
    Factor,
    FactorModel,
    FunctionalCPD,
    Maximum,
    Network,
    Parity,
    TabularCPD,
    Threshold,
    Variable,
)
from bnmind.rank_one import factorize
from tests.modes import examples

Answer = tuple[dict[str, Floats], float]


def exact(network: Network, weights: dict[str, Floats]) -> tuple[dict[str, Floats], float | None]:
    """Return the marginals and the logarithm of their sum, by enumeration in whole numbers."""
    variables = network.variables
    tables = [([v.name for v in c.scope], c.to_factor().values) for c in network.cpds]
    sums = {v.name: [Fraction(0)] * v.n_states for v in variables}
    total = Fraction(0)
    for states in itertools.product(*(range(v.n_states) for v in variables)):
        at = dict(zip(sums, states, strict=True))
        p = Fraction(1)
        for names, values in tables:
            p *= Fraction(float(np.real(values[tuple(at[name] for name in names)])))
        for name, likelihood in weights.items():
            p *= Fraction(float(likelihood[at[name]]))
        total += p
        for name, state in at.items():
            sums[name][state] += p
    if not total:
        return {}, None
    log = math.log(total.numerator) - math.log(total.denominator)
    return {name: np.array([float(p / total) for p in s]) for name, s in sums.items()}, log


def answers(plan: Plan, weights: dict[str, Floats]) -> list[Answer | type[BnmindError]]:
    """Return what a run and a batch of one case say, or their errors."""
    found: list[Answer | type[BnmindError]] = []
    for batch in (False, True):
        try:
            if batch:
                cases = {name: np.stack([w, w]) for name, w in weights.items()}
                both = plan.run_batch(cases)
                found.append(
                    ({k: m[1] for k, m in both.marginals.items()}, float(both.log_evidence[1]))
                )
            else:
                one = plan.run(weights)
                found.append(({k: np.real(m) for k, m in one.marginals.items()}, one.log_evidence))
        except BnmindError as fault:
            found.append(type(fault))
    return found


@st.composite
def functions(draw: st.DrawFn) -> Network:
    """Return a function of a few independent variables."""
    kind = draw(st.sampled_from(["sum", "maximum", "parity", "threshold"]))
    n = draw(st.integers(2, 4))
    states = draw(st.lists(st.integers(2, 3), min_size=n, max_size=n))
    if kind in ("parity", "threshold"):
        states = [2] * n
    xs = tuple(Variable.of_integers(f"X{i}", range(k)) for i, k in enumerate(states))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    priors = [TabularCPD(x, (), rng.dirichlet(np.full(x.n_states, 0.5))) for x in xs]
    n_results = {"sum": sum(states) - n + 1, "maximum": max(states)}.get(kind, 2)
    of: Any = {
        "sum": Addition(tuple(tuple(range(k)) for k in states), n_results),
        "maximum": Maximum(),
        "parity": Parity(),
        "threshold": Threshold(draw(st.integers(1, n))),
    }[kind]
    return Network((*priors, FunctionalCPD(Variable.of_integers("S", range(n_results)), xs, of)))


@st.composite
def weights_of(draw: st.DrawFn, network: Network) -> dict[str, Floats]:
    """Return likelihoods that may be far apart."""
    found = {}
    for v in network.variables:
        if draw(st.booleans()):
            powers = [-draw(st.sampled_from([0, 1, 5, 12, 40, 120, 200, 300])) for _ in v.states]
            found[v.name] = 10.0 ** np.array(powers, dtype=float)
    return found or {"S": np.ones(network.variable("S").n_states)}


def given_factors(network: Network) -> FactorModel:
    """Return the factors of a factorized network, and not what they stand for."""
    return FactorModel(factorize(network, "S").potentials)


@settings(max_examples=examples(120))
@given(st.data())
def test_given_factors_are_right_or_refused(data: st.DataObject) -> None:
    network = data.draw(functions())
    weights = data.draw(weights_of(network))
    expected, log = exact(network, weights)
    plan = compile_plan(
        given_factors(network), soft=list(weights), targets=[[v.name] for v in network.variables]
    )
    for found in answers(plan, weights):
        if isinstance(found, type):
            assert found is CancellationError or (log is None and found is ImpossibleEvidenceError)
            continue
        assert log is not None
        marginals, log_evidence = found
        assert log_evidence == pytest.approx(log, rel=1e-6, abs=1e-6)
        for name, marginal in expected.items():
            np.testing.assert_allclose(marginals[name], marginal, rtol=0, atol=1e-6)


@settings(max_examples=examples(60))
@given(st.data())
def test_factors_that_stand_for_a_function_are_given_up(data: st.DataObject) -> None:
    network = data.draw(functions())
    weights = data.draw(weights_of(network))
    expected, log = exact(network, weights)
    plan = compile_plan(
        factorize(network, "S"), soft=list(weights), targets=[[v.name] for v in network.variables]
    )
    assert plan.is_possible(weights) is (log is not None)
    for found in answers(plan, weights):
        if log is None:
            assert found is ImpossibleEvidenceError
            continue
        assert not isinstance(found, type)
        assert found[1] == pytest.approx(log, rel=1e-9, abs=1e-9)
        for name, marginal in expected.items():
            np.testing.assert_allclose(found[0][name], marginal, rtol=0, atol=1e-9)


@settings(max_examples=examples(60))
@given(st.data())
def test_forms_that_a_plan_chose_itself_are_given_up(data: st.DataObject) -> None:
    network = data.draw(functions())
    weights = data.draw(weights_of(network))
    expected, log = exact(network, weights)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_SIGNED_COST", "_SIGNED_LEAST", "_SMALL_TREE", "_SMALL_TABLE"):
            patch.setattr(forms, name, 0)
        plan = compile_plan(
            network, soft=list(weights), targets=[[v.name] for v in network.variables]
        )
        found = answers(plan, weights)
    for answer in found:
        if log is None:
            assert answer is ImpossibleEvidenceError
            continue
        assert not isinstance(answer, type)
        assert answer[1] == pytest.approx(log, rel=1e-9, abs=1e-9)
        for name, marginal in expected.items():
            np.testing.assert_allclose(answer[0][name], marginal, rtol=0, atol=1e-9)


def test_the_error_says_so() -> None:
    xs = tuple(Variable(f"X{i}", ("no", "yes")) for i in range(3))
    network = Network(
        (
            *(TabularCPD(x, (), np.array([0.5, 0.5])) for x in xs),
            FunctionalCPD(Variable.of_integers("S", range(4)), xs, Addition(((0, 1),) * 3, 4)),
        )
    )
    weights = {x.name: np.array([1.0, 1e-5]) for x in xs} | {"S": np.array([0.0, 0.0, 1.0, 0.0])}
    plan = compile_plan(given_factors(network), soft=list(weights))
    assert plan.unsigned is None
    with pytest.raises(
        CancellationError, match="digits of the result are certain: the evidence is too improbable"
    ):
        plan.run(weights)
    with pytest.raises(CancellationError, match="certain in case 1"):
        plan.run_batch({k: np.stack([np.ones_like(w), w]) for k, w in weights.items()})
    fine = compile_plan(network, soft=list(weights)).run(weights)
    np.testing.assert_allclose(fine.marginals["X1"], [1 / 3, 2 / 3], atol=1e-12)


def exact_sums(
    factors: list[Factor], names: list[str], shape: list[int]
) -> tuple[Fraction, Fraction, dict[str, list[Fraction]]]:
    """Return the sum of the product of factors, of the sizes of its terms, and for each state.

    Of complex terms the real parts are added up; their sizes are bounded by those of both parts.
    """
    total = terms = Fraction(0)
    sums = {name: [Fraction(0)] * n for name, n in zip(names, shape, strict=True)}
    for states in itertools.product(*map(range, shape)):
        at = dict(zip(names, states, strict=True))
        real, imaginary, size = Fraction(1), Fraction(0), Fraction(1)
        for factor in factors:
            value = complex(factor.values[tuple(at[name] for name in factor.names)])
            a, b = Fraction(value.real), Fraction(value.imag)
            real, imaginary = real * a - imaginary * b, real * b + imaginary * a
            size *= abs(a) + abs(b)
        total += real
        terms += size
        for name, state in at.items():
            sums[name][state] += real
    return total, terms, sums


@settings(max_examples=examples(80))
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_products_that_are_no_distribution_are_refused(seed: int, complex_ones: bool) -> None:
    rng = np.random.default_rng(seed)
    variables = [Variable.of_integers(f"x{i}", range(rng.integers(2, 4))) for i in range(3)]
    factors = []
    for _ in range(rng.integers(1, 5)):
        scope = tuple(variables[i] for i in rng.permutation(3)[: rng.integers(1, 4)])
        values = rng.random([v.n_states for v in scope]) * rng.choice(
            [1.0, -1.0], p=[0.9, 0.1], size=[v.n_states for v in scope]
        )
        if complex_ones and rng.random() < 0.5:
            values = values * rng.choice([1j, -1j, 1 + 1j])
        factors.append(Factor(scope, values))
    model = FactorModel(tuple(factors))
    names = [v.name for v in model.variables]
    shape = [v.n_states for v in model.variables]
    total, terms, sums = exact_sums(factors, names, shape)
    plan = compile_plan(model, soft=names[:1])
    for found in answers(plan, {names[0]: np.ones(model.variables[0].n_states)}):
        if isinstance(found, type):
            assert issubclass(found, InvalidModelError | CancellationError)
            continue
        # Each sum is wrong by a few roundings of its terms, so the digits lost are known: both the
        # sum above the line of a marginal and that below it are `doubt` times less sure than a
        # single number. A marginal of −16,341 means a doubt of that at least.
        doubt = float(terms / total)
        sure = 8 * np.finfo(np.float64).eps * doubt
        for name in names:
            expected = [float(part / total) for part in sums[name]]
            np.testing.assert_allclose(found[0][name], expected, rtol=sure, atol=sure)
