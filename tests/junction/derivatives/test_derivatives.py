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
from bnmind.junction import Gradient, Limits, compile_derivatives, compile_plan
from bnmind.junction.gradient import DerivativePlan
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
) -> tuple[Network | FactorModel, dict[str, object], list[str], str]:
    """Return a model, findings, the names of the soft ones, and a target without a state."""
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
    soft = []
    for name in rest:
        v = model.variable(name)
        kind = draw(st.sampled_from(["none", "none", "hard", "hard", "soft"]))
        if kind == "hard":
            findings[name] = draw(st.sampled_from(v.states))
        elif kind == "soft":
            soft.append(name)
            findings[name] = [draw(st.sampled_from([0.0, 0.5, 2.0])) for _ in v.states]
    assume(products(model, tables_of(model), indicators(model, findings))[0] > 1e-12)
    return model, findings, soft, target


def planned(
    model: Network | FactorModel, findings: dict[str, object], soft: list[str], target: str
) -> DerivativePlan:
    """Return the plan of a question."""
    hard = [name for name in findings if name not in soft]
    return compile_derivatives(model, target=target, evidence=hard, soft=soft)


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
    question: tuple[Network | FactorModel, dict[str, object], list[str], str],
) -> None:
    model, findings, soft, target = question
    plan = planned(model, findings, soft, target)
    total, by_entry = products(model, tables_of(model), indicators(model, findings))
    ratios = [one / total for one in by_entry]
    check(plan.log_evidence(findings), math.log(total), ratios)
    joints = plan.joints(findings)
    for state, joint in zip(model.variable(target).states, joints, strict=True):
        value, derivatives = posterior_derivatives(model, target, state, findings)
        check(plan.posterior(state, findings), value, derivatives)
        weights = indicators(model, {**findings, target: state})
        part, by_part = products(model, tables_of(model), weights)
        check(joint, part / total, [one / total for one in by_part])


@settings(max_examples=12, deadline=None)
@given(questions(), st.data())
def test_derivatives_equal_finite_differences(
    question: tuple[Network | FactorModel, dict[str, object], list[str], str], data: st.DataObject
) -> None:
    model, findings, soft, target = question
    state = data.draw(st.sampled_from(model.variable(target).states))
    gradient = planned(model, findings, soft, target).posterior(state, findings)
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
    relevant = compile_derivatives(network, target=target.name, relevant_only=True)
    whole = compile_derivatives(network, target=target.name)
    for state in target.states:
        effects = [
            plan.posterior(state).effect(cpd.variable.name)[place] for plan in (relevant, whole)
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
    plan = compile_derivatives(GARDEN, target="rain", evidence=["slip"])
    gradient = plan.log_evidence({"slip": "maybe"})
    assert gradient.value == pytest.approx(math.log(total), rel=1e-14)
    # The entry P(wet=no | rain=yes) is zero, and so is P(slip=yes | wet=no).
    assert gradient["wet"][0, 1] == pytest.approx(float(rain * Fraction(1, 10) / total), rel=1e-14)
    expected = [[0, 0], [float(dry / total), float(soaked / total)], [0, 0]]
    assert_close(gradient["slip"], expected, rtol=1e-14)
    part = rain * Fraction(1, 4)
    posterior = plan.posterior("yes", {"slip": "maybe"})
    assert posterior.value == pytest.approx(float(part / total), rel=1e-14)
    slope = (Fraction(1, 4) * total - part * Fraction(1, 4)) / total**2
    assert posterior["rain"][1] == pytest.approx(float(slope), rel=1e-13)


def test_derivatives_by_positive_entries_are_expected_counts_divided_by_them() -> None:
    found, seen = {"wet": "yes", "slip": "maybe"}, ["wet", "slip"]
    families = [[v.name for v in cpd.scope] for cpd in GARDEN.cpds]
    posterior = compile_plan(GARDEN, evidence=seen, targets=families).run(found)
    gradient = compile_derivatives(GARDEN, evidence=seen).log_evidence(found)
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
    plan = compile_derivatives(network, target="rare", evidence=list(findings))
    gradient = plan.log_evidence(findings)
    assert gradient.value == pytest.approx(800 * math.log(0.1))
    assert_close(gradient["sign7"], [[0, 0], [7.5, 2.5]])
    posterior = plan.posterior("yes", findings)
    assert posterior.value == pytest.approx(0.25)
    assert_close(posterior["sign7"], [[0, 0], [-1.875, 1.875]])


def test_the_expectation_is_the_sum_of_posteriors_times_scores() -> None:
    plan = compile_derivatives(GARDEN, target="slip", evidence=["rain"])
    scores = np.array([0.0, 1.0, 4.0])
    expectation = plan.expectation(scores, {"rain": "no"})
    each = [plan.posterior(state, {"rain": "no"}) for state in SLIP.states]
    assert expectation.value == pytest.approx(
        sum(s * g.value for s, g in zip(scores, each, strict=True))
    )
    weighted = sum(s * g["wet"] for s, g in zip(scores, each, strict=True))
    assert_close(expectation["wet"], weighted, atol=1e-14)


def test_a_plan_of_relevant_tables_leaves_out_those_below() -> None:
    plan = compile_derivatives(GARDEN, target="rain", evidence=["wet"], relevant_only=True)
    gradient = plan.posterior("yes", {"wet": "yes"})
    assert gradient.partials[2] is None
    assert gradient.effect("slip").tolist() == [[0, 0], [0, 0], [0, 0]]
    with pytest.raises(InvalidArgumentError, match="no partial derivatives"):
        gradient["slip"]
    assert set(gradient.to_frame()["table"]) == {"rain", "wet"}


def test_a_certain_entry_gives_way_to_the_others_equally() -> None:
    gradient = compile_derivatives(GARDEN, target="slip").posterior("yes")
    partial = gradient["wet"]
    assert gradient.effect("wet")[1, 1] == pytest.approx(partial[1, 1] - partial[0, 1])
    assert gradient.effect("wet")[0, 1] == pytest.approx(partial[0, 1] - partial[1, 1])


def test_a_frame_lists_the_largest_effects_first() -> None:
    plan = compile_derivatives(GARDEN, target="rain", evidence=["slip"])
    frame = plan.posterior("yes", {"slip": "maybe"}).to_frame()
    assert list(frame.columns) == ["table", "entry", "probability", "partial", "effect"]
    assert len(frame) == 2 + 4 + 6
    assert np.all(np.diff(frame["effect"].abs()) <= 0)
    assert "wet=no | rain=yes" in set(frame["entry"])


def test_large_noisy_nodes_are_written_as_smaller_tables() -> None:
    causes = tuple(Variable(f"cause{i}", ("no", "yes")) for i in range(25))
    effect = noisy_or(Variable("effect", ("no", "yes")), causes, [0.3] * 25, leak=0.1)
    priors = [TabularCPD(v, (), np.array([0.9, 0.1])) for v in causes]
    plan = compile_derivatives(Network((*priors, effect)), target="cause3", evidence=["effect"])
    gradient = plan.posterior("yes", {"effect": "yes"})
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
    plan = compile_derivatives(network, target="a", evidence=["effect"])
    gradient = plan.posterior("2", {"effect": "1"})
    partials = gradient.contributions("effect")
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
    with pytest.raises(InvalidArgumentError, match="not a noisy"):
        gradient.contributions("a")


def test_impossible_evidence_and_wrong_arguments_are_refused() -> None:
    plan = compile_derivatives(GARDEN, target="rain", evidence=["wet"])
    impossible = compile_derivatives(GARDEN, evidence=["wet", "rain"])
    with pytest.raises(ImpossibleEvidenceError, match="zero for"):
        impossible.log_evidence({"wet": "no", "rain": "yes"})
    with pytest.raises(InvalidArgumentError):
        plan.log_evidence({})
    with pytest.raises(UnknownNameError):
        plan.posterior("perhaps", {"wet": "no"})
    with pytest.raises(InvalidArgumentError, match="no target"):
        impossible.posterior("yes", {"wet": "no", "rain": "no"})
    with pytest.raises(InvalidArgumentError, match="2 finite scores"):
        plan.expectation([1, 2, 3], {"wet": "no"})
    with pytest.raises(InvalidArgumentError, match="must not be evidence"):
        compile_derivatives(GARDEN, target="rain", evidence=["rain"])
    with pytest.raises(InvalidArgumentError, match="twice"):
        compile_derivatives(GARDEN, evidence=["rain"], soft=["rain"])
    with pytest.raises(InvalidArgumentError, match="sequence"):
        compile_derivatives(GARDEN, evidence="rain")
    with pytest.raises(UnknownNameError):
        compile_derivatives(GARDEN, target="rian")
    signed = FactorModel((Factor((RAIN,), np.array([1.0, -1.0])),))
    with pytest.raises(InvalidModelError, match="negative"):
        compile_derivatives(signed)


def test_a_plan_that_does_not_fit_is_refused_with_its_prediction() -> None:
    with pytest.raises(TooLargeError, match="max_bytes"):
        compile_derivatives(GARDEN, target="rain", limits=Limits(max_bytes=200))
    with pytest.raises(TooLargeError, match=r"would take 96 bytes.* max_bytes=50") as caught:
        compile_derivatives(GARDEN, target="rain", limits=Limits(max_bytes=50))
    assert (caught.value.needed, caught.value.budget) == (8 * (2 + 4 + 6), 50)


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
    plan = compile_derivatives(network, evidence=list(findings))
    with pytest.raises(CancellationError, match="table of cause"):
        plan.log_evidence(findings)
