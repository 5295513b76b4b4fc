"""Derivatives against the enumerated polynomial, finite differences and exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.junction import Gradient, Limits, compile_plan, differentiate
from bnmind.pgm import (
    Factor,
    FactorModel,
    FunctionalCPD,
    Network,
    NoisyMaximum,
    NoisyMinimum,
    TabularCPD,
    Variable,
    noisy_or,
)
from tests.junction.derivatives.twin import (
    indicators,
    posterior_derivatives,
    products,
    tables_of,
)
from tests.networks import factor_models, networks

ROUNDING = 1e-10

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
SLIP = Variable("slip", ("no", "maybe", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.0], [0.1, 1.0]])),
        TabularCPD(SLIP, (WET,), np.array([[0.9, 0.0], [0.1, 0.25], [0.0, 0.75]])),
    )
)


@st.composite
def questions(
    draw: st.DrawFn,
) -> tuple[Network | FactorModel, dict[str, object], str]:
    """Return a model, findings, and a target without a state."""
    if draw(st.booleans()):
        model: Network | FactorModel = draw(networks(max_variables=6, max_states=3))
    else:
        signed = draw(factor_models(max_variables=4, max_states=3))
        model = FactorModel(
            tuple(Factor(p.scope, np.abs(p.values)) for p in signed.potentials),  # type: ignore[union-attr]
            signed.variables,
        )
    names = draw(st.permutations([v.name for v in model.variables]))
    target, rest = names[0], names[1:]
    findings: dict[str, object] = {}
    for name in rest:
        v = model.variable(name)
        kind = draw(st.sampled_from(["none", "none", "hard", "hard", "soft"]))
        if kind == "hard":
            findings[name] = draw(st.sampled_from(v.states))
        elif kind == "soft":
            findings[name] = [draw(st.sampled_from([0.0, 0.5, 2.0])) for _ in v.states]
    assume(products(model, tables_of(model), indicators(model, findings))[0] > 1e-12)
    return model, findings, target


def assert_close(first: Any, second: Any, rtol: float = 1e-7, atol: float = 0.0) -> None:
    """Compare two arrays."""
    np.testing.assert_allclose(first, second, rtol=rtol, atol=atol)


def check(gradient: Gradient, value: float, derivatives: list[np.ndarray]) -> None:
    """Compare a gradient with its twin; a functional distribution has no parameters."""
    assert gradient.value == pytest.approx(value, rel=ROUNDING, abs=ROUNDING)
    largest = max(np.abs(one).max() for one in derivatives)
    for potential, mine, twin in zip(
        gradient.model.potentials, gradient.partials, derivatives, strict=True
    ):
        if isinstance(potential, FunctionalCPD):
            assert mine is None
        else:
            assert mine is not None
            assert_close(mine, twin, rtol=ROUNDING, atol=ROUNDING * (1 + largest))


@settings(max_examples=30, deadline=None)
@given(questions())
def test_derivatives_equal_those_of_the_enumerated_polynomial(
    question: tuple[Network | FactorModel, dict[str, object], str],
) -> None:
    model, findings, target = question
    found = differentiate(model, target, findings)
    total, by_entry = products(model, tables_of(model), indicators(model, findings))
    ratios = [one / total for one in by_entry]
    check(found.log_evidence, math.log(total), ratios)
    check(differentiate(model, evidence=findings).log_evidence, math.log(total), ratios)
    for state, joint in zip(model.variable(target).states, found.joints, strict=True):
        value, derivatives = posterior_derivatives(model, target, state, findings)
        check(found.posterior(state), value, derivatives)
        weights = indicators(model, {**findings, target: state})
        part, by_part = products(model, tables_of(model), weights)
        check(joint, part / total, [one / total for one in by_part])


@settings(max_examples=12, deadline=None)
@given(questions(), st.data())
def test_derivatives_equal_finite_differences(
    question: tuple[Network | FactorModel, dict[str, object], str], data: st.DataObject
) -> None:
    model, findings, target = question
    state = data.draw(st.sampled_from(model.variable(target).states))
    gradient = differentiate(model, target, findings).posterior(state)
    chosen = data.draw(st.sampled_from(range(len(model.potentials))))
    mine = gradient.partials[chosen]
    assume(mine is not None)
    assert mine is not None
    tables = tables_of(model)
    place: Any = np.unravel_index(data.draw(st.integers(0, mine.size - 1)), mine.shape)
    evidence = indicators(model, findings)
    step = 1e-6 if tables[chosen][place] > 1e-6 else 0.0

    def posterior(change: float) -> float:
        changed = [table.copy() for table in tables]
        changed[chosen][place] += change
        whole, _ = products(model, changed, evidence)
        part, _ = products(model, changed, evidence * indicators(model, {target: state}))
        return part / whole

    assume(abs(mine[place]) < 1e3)  # a step of 1e-6 would not be small
    slope = (posterior(1e-6) - posterior(-step)) / (1e-6 + step)
    assert mine[place] == pytest.approx(slope, rel=1e-3, abs=1e-3)


@settings(max_examples=12, deadline=None)
@given(networks(max_variables=5, max_states=3, functional=False), st.data())
def test_effects_equal_differences_of_networks_whose_rows_sum_to_one(
    network: Network, data: st.DataObject
) -> None:
    cpd = data.draw(st.sampled_from(network.cpds))
    target = data.draw(st.sampled_from(network.variables))
    assert isinstance(cpd, TabularCPD)
    place: Any = np.unravel_index(data.draw(st.integers(0, cpd.values.size - 1)), cpd.values.shape)
    entry = cpd.values[place]
    assume(0.01 < entry < 0.99)
    relevant = differentiate(network, target.name, relevant_only=True)
    whole = differentiate(network, target.name)
    for state in target.states:
        effects = [
            found.posterior(state).effect(cpd.variable.name)[place] for found in (relevant, whole)
        ]
        values = []
        for change in (-1e-5, 1e-5):
            table = cpd.values.copy()
            row: Any = (slice(None), *place[1:])
            table[row] *= (1 - entry - change) / (1 - entry)
            table[place] = entry + change
            other = TabularCPD(cpd.variable, cpd.parents, table)
            moved = Network(tuple(other if one is cpd else one for one in network.cpds))
            posterior = compile_plan(moved, targets=[[target.name]]).run()
            values.append(posterior[target.name][state])
        slope = (values[1] - values[0]) / 2e-5
        assert effects == pytest.approx([slope, slope], abs=1e-7)


def test_derivatives_of_a_small_network_are_those_of_exact_fractions() -> None:
    # ln P(slip=maybe) and P(rain=yes | slip=maybe), by hand.
    no_rain, rain = Fraction(8, 10), Fraction(2, 10)
    dry, soaked = no_rain * Fraction(9, 10), no_rain * Fraction(1, 10) + rain
    total = dry * Fraction(1, 10) + soaked * Fraction(1, 4)
    found = differentiate(GARDEN, "rain", {"slip": "maybe"})
    gradient = found.log_evidence
    assert gradient.value == pytest.approx(math.log(total), rel=1e-14)
    # The entry P(wet=no | rain=yes) is zero, and so is P(slip=yes | wet=no).
    assert gradient["wet"][0, 1] == pytest.approx(float(rain * Fraction(1, 10) / total), rel=1e-14)
    expected = [[0, 0], [float(dry / total), float(soaked / total)], [0, 0]]
    assert_close(gradient["slip"], expected, rtol=1e-14)
    part = rain * Fraction(1, 4)
    posterior = found.posterior("yes")
    assert posterior.value == pytest.approx(float(part / total), rel=1e-14)
    slope = (Fraction(1, 4) * total - part * Fraction(1, 4)) / total**2
    assert posterior["rain"][1] == pytest.approx(float(slope), rel=1e-13)


def test_derivatives_by_positive_entries_are_expected_counts_divided_by_them() -> None:
    found, seen = {"wet": "yes", "slip": "maybe"}, ["wet", "slip"]
    families = [[v.name for v in cpd.scope] for cpd in GARDEN.cpds]
    posterior = compile_plan(GARDEN, evidence=seen, targets=families).run(found)
    gradient = differentiate(GARDEN, evidence=found).log_evidence
    assert gradient.value == pytest.approx(posterior.log_evidence)
    for cpd, counts, partial in zip(GARDEN.cpds, posterior.joints, gradient.partials, strict=True):
        assert partial is not None
        assert isinstance(cpd, TabularCPD)
        positive = cpd.values > 0
        assert_close(partial[positive], (counts[positive] / cpd.values[positive]))


def test_improbable_evidence_has_derivatives() -> None:
    # 800 findings of probability .1 each: P(e) is 1e-800, and less than any float.
    rare = Variable("rare", ("no", "yes"))
    signs = [Variable(f"sign{i}", ("no", "yes")) for i in range(800)]
    network = Network(
        (
            TabularCPD(rare, (), np.array([0.75, 0.25])),
            *(TabularCPD(v, (rare,), np.array([[0.9, 0.9], [0.1, 0.1]])) for v in signs),
        )
    )
    findings = {v.name: "yes" for v in signs}
    found = differentiate(network, "rare", findings)
    gradient = found.log_evidence
    assert gradient.value == pytest.approx(800 * math.log(0.1))
    assert_close(gradient["sign7"], [[0, 0], [7.5, 2.5]])
    posterior = found.posterior("yes")
    assert posterior.value == pytest.approx(0.25)
    assert_close(posterior["sign7"], [[0, 0], [-1.875, 1.875]])


def test_impossible_states_have_derivatives_however_improbable_the_evidence_is() -> None:
    # P(never=yes) is zero, and P(e) is about 1e-800.
    rare, never = Variable("rare", ("no", "yes")), Variable("never", ("no", "yes"))
    signs = [Variable(f"sign{i}", ("no", "yes")) for i in range(800)]
    network = Network(
        (
            TabularCPD(rare, (), np.array([0.75, 0.25])),
            TabularCPD(never, (rare,), np.array([[1.0, 1.0], [0.0, 0.0]])),
            *(TabularCPD(v, (rare,), np.array([[0.9, 0.9], [0.1, 0.1]])) for v in signs),
        )
    )
    found = differentiate(network, "never", {v.name: "yes" for v in signs})
    assert [joint.value for joint in found.joints] == [1.0, 0.0]
    assert_close(found.joints[1]["never"], [[0, 0], [0.75, 0.25]])
    assert not found.joints[1]["sign7"].any()


def test_findings_that_prove_a_cause_have_derivatives() -> None:
    # Their likelihood ratio is 1e1200, more than any float.
    cause, effect = Variable("cause", ("no", "yes")), Variable("effect", ("no", "yes"))
    signs = [Variable(f"sign{i}", ("no", "yes")) for i in range(400)]
    network = Network(
        (
            TabularCPD(cause, (), np.array([0.5, 0.5])),
            TabularCPD(effect, (cause,), np.array([[0.9, 0.3], [0.1, 0.7]])),
            *(TabularCPD(v, (cause,), np.array([[0.9995, 0.5], [0.0005, 0.5]])) for v in signs),
        )
    )
    gradient = differentiate(network, "effect", {v.name: "yes" for v in signs}).posterior("yes")
    assert gradient.value == pytest.approx(0.7)
    assert_close(gradient["effect"], [[0, -0.7], [0, 0.3]], atol=1e-12)


def test_relevant_tables_leave_out_those_below() -> None:
    found = differentiate(GARDEN, "rain", {"wet": "yes"}, relevant_only=True)
    gradient = found.posterior("yes")
    assert gradient.partials[2] is None
    assert gradient.effect("slip").tolist() == [[0, 0], [0, 0], [0, 0]]
    with pytest.raises(InvalidArgumentError, match="no partial derivatives"):
        gradient["slip"]
    assert set(gradient.to_frame()["table"]) == {"rain", "wet"}


def test_a_certain_entry_gives_way_to_the_others_equally() -> None:
    gradient = differentiate(GARDEN, "slip").posterior("yes")
    partial = gradient["wet"]
    assert gradient.effect("wet")[1, 1] == pytest.approx(partial[1, 1] - partial[0, 1])
    assert gradient.effect("wet")[0, 1] == pytest.approx(partial[0, 1] - partial[1, 1])


def test_a_frame_lists_the_largest_effects_first() -> None:
    frame = differentiate(GARDEN, "rain", {"slip": "maybe"}).posterior("yes").to_frame()
    assert list(frame.columns) == ["table", "entry", "probability", "partial", "effect"]
    assert len(frame) == 2 + 4 + 6
    assert np.all(np.diff(frame["effect"].abs()) <= 0)
    assert "wet=no | rain=yes" in set(frame["entry"])


def test_large_noisy_nodes_are_written_as_smaller_tables() -> None:
    causes = tuple(Variable(f"cause{i}", ("no", "yes")) for i in range(25))
    effect = noisy_or(Variable("effect", ("no", "yes")), causes, [0.3] * 25, leak=0.1)
    priors = [TabularCPD(v, (), np.array([0.9, 0.1])) for v in causes]
    found = differentiate(Network((*priors, effect)), "cause3", {"effect": "yes"})
    gradient = found.posterior("yes")
    assert gradient.partials[-1] is None
    slope = gradient.effect("cause3")[1]
    values = []
    for p in (0.09, 0.11):
        moved = [*priors[:3], TabularCPD(causes[3], (), np.array([1 - p, p])), *priors[4:]]
        posterior = compile_plan(Network((*moved, effect)), evidence=["effect"]).run(
            {"effect": "yes"}
        )
        values.append(posterior["cause3"]["yes"])
    assert slope == pytest.approx((values[1] - values[0]) / 0.02, rel=1e-2)


@pytest.mark.parametrize("kind", [NoisyMaximum, NoisyMinimum])
def test_noisy_distributions_have_derivatives_by_their_parameters(kind: Any) -> None:
    rng = np.random.default_rng(3)
    causes = (Variable("a", ("0", "1", "2")), Variable("b", ("0", "1")))
    effect = Variable("effect", ("0", "1", "2"))
    links = [rng.dirichlet(np.ones(3), size=v.n_states).T for v in causes]
    leak = rng.dirichlet(np.ones(3))
    priors = [TabularCPD(v, (), np.full(v.n_states, 1 / v.n_states)) for v in causes]

    def value(parts: list[np.ndarray]) -> float:
        network = Network((*priors, kind(effect, causes, tuple(parts[1:]), parts[0])))
        plan = compile_plan(network, evidence=["effect"], targets=[["a"]])
        return float(plan.run({"effect": "1"})["a"]["2"])

    network = Network((*priors, kind(effect, causes, tuple(links), leak)))
    gradient = differentiate(network, "a", {"effect": "1"}).posterior("2")
    cpd = network.cpd("effect")
    assert isinstance(cpd, NoisyMaximum | NoisyMinimum)
    partials = cpd.partials(gradient["effect"])
    parts = [leak, *links]
    assert [one.shape for one in partials] == [one.shape for one in parts]
    for number in range(len(parts)):
        # A move that keeps the sum: from the last state to the first one.
        step = np.zeros(parts[number].shape)
        first: Any = (0, *[0] * (step.ndim - 1))
        last: Any = (2, *[0] * (step.ndim - 1))
        step[first], step[last] = 1.0, -1.0
        ends = [
            value([one + sign * 1e-6 * step if i == number else one for i, one in enumerate(parts)])
            for sign in (1, -1)
        ]
        slope = partials[number][first] - partials[number][last]
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-7)


def test_impossible_evidence_and_wrong_arguments_are_refused() -> None:
    found = differentiate(GARDEN, "rain", {"wet": "no"})
    with pytest.raises(ImpossibleEvidenceError, match="zero for"):
        differentiate(GARDEN, evidence={"wet": "no", "rain": "yes"})
    with pytest.raises(UnknownNameError):
        found.posterior("perhaps")
    with pytest.raises(InvalidArgumentError, match="no target"):
        differentiate(GARDEN, evidence={"wet": "no"}).posterior("yes")
    with pytest.raises(InvalidArgumentError, match="must not be evidence"):
        differentiate(GARDEN, "rain", {"rain": "yes"})
    with pytest.raises(InvalidArgumentError, match="must not be evidence"):
        differentiate(GARDEN, "rain", {"rain": [0.5, 1.0]})
    with pytest.raises(InvalidArgumentError, match="evidence"):
        differentiate(GARDEN, evidence="rain")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        differentiate(GARDEN, "rian")
    signed = FactorModel((Factor((RAIN,), np.array([1.0, -1.0])),))
    with pytest.raises(InvalidModelError, match="negative"):
        differentiate(signed)


def test_a_computation_that_does_not_fit_is_refused_with_its_prediction() -> None:
    for most in (200, 50):
        with pytest.raises(TooLargeError, match=f"would take .* max_bytes={most}") as caught:
            differentiate(GARDEN, "rain", limits=Limits(max_bytes=most))
        assert caught.value.budget == most
        assert caught.value.needed >= 8 * (2 + 4 + 6)
    with pytest.raises(TooLargeError, match="max_multiplications=10"):
        differentiate(GARDEN, "rain", limits=Limits(max_multiplications=10))


def test_derivatives_beyond_floating_point_are_refused() -> None:
    cause = Variable("cause", ("no", "yes"))
    signs = [Variable(f"sign{i}", ("no", "yes")) for i in range(150)]
    network = Network(
        (
            TabularCPD(cause, (), np.array([1.0, 0.0])),
            *(TabularCPD(v, (cause,), np.array([[0.999, 0.1], [0.001, 0.9]])) for v in signs),
        )
    )
    findings = {v.name: "yes" for v in signs}
    with pytest.raises(CancellationError, match="table of cause"):
        differentiate(network, evidence=findings)


def test_derivatives_by_a_large_table_follow_their_formula() -> None:
    rng = np.random.default_rng(1)
    states = tuple(f"s{i}" for i in range(140))
    a, b, c = Variable("a", states), Variable("b", states), Variable("c", ("0", "1"))
    first = rng.dirichlet(np.ones(140))
    second = rng.dirichlet(np.ones(140), 140).T
    third = rng.dirichlet(np.ones(2), 140).T
    network = Network(
        (TabularCPD(a, (), first), TabularCPD(b, (a,), second), TabularCPD(c, (b,), third))
    )
    gradient = differentiate(network, "a", {"c": "1"}).posterior("s3")
    weights = (np.arange(140) == 3) - gradient.value
    likely = first @ (third[1] @ second)
    expected = third[1][:, None] * (weights * first) / likely
    assert_close(gradient["b"], expected, rtol=1e-12, atol=1e-18)
