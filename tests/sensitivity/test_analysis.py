"""Sensitivity functions and intervals against networks with changed tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, UnknownNameError
from bnmind.pgm import Network, TabularCPD, Variable, noisy_or
from bnmind.sensitivity import (
    Absolute,
    AtLeast,
    AtMost,
    MostProbable,
    Odds,
    Parameter,
    Relative,
    SensitivityAnalysis,
    analyze,
    cd_distance,
    plot_function,
    plot_tornado,
    with_row,
)
from tests.junction.derivatives.twin import indicators, products, tables_of
from tests.networks import networks

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
SLIP = Variable("slip", ("no", "maybe", "yes"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.1], [0.1, 0.9]])),
        TabularCPD(SLIP, (WET,), np.array([[0.9, 0.2], [0.1, 0.3], [0.0, 0.5]])),
    )
)


def posterior_of(network: Network, target: str, findings: dict[str, Any]) -> np.ndarray | None:
    """Return the posterior of a target from the enumerated joint; None if there is none."""
    states = network.variable(target).states
    weights = [indicators(network, {**findings, target: state}) for state in states]
    sums = np.array([products(network, tables_of(network), one)[0] for one in weights])
    return sums / sums.sum() if sums.sum() > 1e-12 else None


@st.composite
def analyses(draw: st.DrawFn) -> tuple[SensitivityAnalysis, dict[str, Any]]:
    """Return the analysis of a small network under some evidence."""
    network = draw(networks(max_variables=5, max_states=3, functional=False))
    names = draw(st.permutations([v.name for v in network.variables]))
    findings = {
        name: draw(st.sampled_from(network.variable(name).states))
        for name in names[1:]
        if draw(st.booleans())
    }
    assume(posterior_of(network, names[0], findings) is not None)
    return analyze(network, names[0], findings), findings


@st.composite
def parameters(draw: st.DrawFn, network: Network) -> Parameter:
    """Return a parameter of a table with at least two states."""
    tables = [cpd for cpd in network.cpds if cpd.variable.n_states > 1]
    assume(tables)
    cpd = draw(st.sampled_from(tables))
    assert isinstance(cpd, TabularCPD)
    place = np.unravel_index(draw(st.integers(0, cpd.values.size - 1)), cpd.values.shape)
    return Parameter.at(cpd, tuple(int(i) for i in place))


@settings(max_examples=15, deadline=None)
@given(analyses(), st.data())
def test_functions_equal_the_posteriors_of_changed_networks(
    analyzed: tuple[SensitivityAnalysis, dict[str, Any]], data: st.DataObject
) -> None:
    analysis, findings = analyzed
    network = analysis.network
    parameter = data.draw(parameters(network))
    function = analysis.function(parameter)
    for t in (0.0, 0.3, 1.0, function.value):
        changed = with_row(network, parameter, t)
        exact = posterior_of(changed, analysis.target.name, findings)
        if exact is not None:
            assert function(t) == pytest.approx(exact, abs=1e-9)
    kept = analysis.keeping(parameter)
    best = int(np.argmax(analysis.posterior))
    assert kept.low <= function.value <= kept.high
    for t in np.linspace(0, 1, 21):
        here = function(t)
        if np.isnan(here).any():
            continue
        margin = here[best] - np.delete(here, best).max(initial=0.0)
        if kept.low + 1e-9 < t < kept.high - 1e-9:
            assert margin > -1e-9
        elif t < kept.low - 1e-6 or t > kept.high + 1e-6:
            assert margin < 1e-9


@settings(max_examples=8, deadline=None)
@given(analyses(), st.data())
def test_two_way_functions_equal_the_posteriors_of_changed_networks(
    analyzed: tuple[SensitivityAnalysis, dict[str, Any]], data: st.DataObject
) -> None:
    analysis, findings = analyzed
    network = analysis.network
    first, second = data.draw(parameters(network)), data.draw(parameters(network))
    assume((first.variable, first.given) != (second.variable, second.given))
    function = analysis.two_way(first, second)
    for s, t in ((0.0, 0.0), (0.25, 0.75), (1.0, 0.5), function.values):
        changed = with_row(with_row(network, first, s), second, t)
        exact = posterior_of(changed, analysis.target.name, findings)
        if exact is not None:
            assert function(s, t) == pytest.approx(exact, abs=1e-8)


def test_two_entries_of_a_row_leave_the_rest_to_the_others() -> None:
    analysis = analyze(GARDEN, "rain", {"slip": "maybe"})
    first, second = (Parameter("slip", s, {"wet": "yes"}) for s in ("no", "maybe"))
    function = analysis.two_way(first, second)
    for s, t in ((0.2, 0.3), (0.1, 0.6), (0.0, 1.0)):
        table = np.array([[0.9, s], [0.1, t], [0.0, 1 - s - t]])
        changed = Network((*GARDEN.cpds[:2], TabularCPD(SLIP, (WET,), table)))
        exact = posterior_of(changed, "rain", {"slip": "maybe"})
        assert exact is not None
        assert function(s, t) == pytest.approx(exact, abs=1e-12)
    with pytest.raises(InvalidArgumentError, match="in one row"):
        function(0.6, 0.6)
    rain = [Parameter("rain", state) for state in RAIN.states]
    with pytest.raises(InvalidArgumentError, match="independently"):
        analysis.two_way(*rain)


def test_a_function_of_the_prior_is_that_by_hand() -> None:
    function = analyze(GARDEN, "rain", {"wet": "yes"}).function(Parameter("rain", "yes"))
    # P(rain=yes | wet=yes)(t) = .9 t / (.9 t + .1 (1 - t))
    assert function(0.5)[1] == pytest.approx(0.9)
    c, d = function.denominator
    assert c / d == pytest.approx(0.8 / 0.1)
    assert function.derivative()[1] == pytest.approx(0.09 / 0.26**2)
    assert function.value_for("yes", 0.5) == pytest.approx(0.1)
    assert function.value_for("yes", 1.0) == pytest.approx(1.0)


def test_intervals_keep_the_properties_that_they_are_for() -> None:
    analysis = analyze(GARDEN, "rain", {"wet": "yes"})
    prior = Parameter("rain", "yes")
    assert analysis.conclusion == "yes"
    kept = analysis.keeping(prior)
    assert (kept.low, kept.high) == pytest.approx((0.1, 1.0))
    above = analysis.keeping(prior, AtLeast("yes", 0.9))
    assert above.is_empty
    assert str(above) == "empty"
    below = analysis.keeping(prior, AtMost("yes", 0.9))
    assert (below.low, below.high) == pytest.approx((0.0, 0.5))
    assert analysis.keeping(Parameter("slip", "no", {"wet": "no"})).is_everything
    frame = analysis.deviations()
    assert frame["parameter"].tolist()[0].startswith(("rain", "wet"))
    assert np.all(np.diff(frame["distance"]) >= 0)
    row = frame.set_index("parameter").loc["rain=yes"]
    assert row["distance"] == pytest.approx(cd_distance(0.2, 0.1))
    assert len(analysis.deviations(MostProbable(), n=2)) == 2
    assert len(analysis.deviations(AtLeast("yes", 0.9))) > 0


def test_a_tornado_lists_the_largest_swings_first() -> None:
    analysis = analyze(GARDEN, "rain", {"slip": "maybe"})
    frame = analysis.tornado("yes")
    assert np.all(np.diff(frame["swing"]) <= 0)
    rows: Any = frame.itertuples(index=False)
    for row in rows:
        name, _, behind = row.parameter.partition(" | ")
        variable, _, state = name.partition("=")
        given_states = dict(part.split("=", 1) for part in behind.split(", ")) if behind else {}
        function = analysis.function(Parameter(variable, state, given_states))
        assert row.low == pytest.approx(max(0.0, function.value * 0.9))
        assert row.high == pytest.approx(min(1.0, function.value * 1.1))
        ends = function(float(row.low))[1], function(float(row.high))[1]
        assert (row.at_low, row.at_high) == pytest.approx(ends, abs=1e-12)
        assert row.derivative == pytest.approx(function.derivative()[1])
    assert len(analysis.tornado(n=3)) == 3
    wide = analysis.tornado("yes", spread=Absolute(1.0))
    assert set(wide["low"]) == {0.0}
    assert set(wide["high"]) == {1.0}
    assert analysis.tornado("yes", spread=Odds(3)).equals(analysis.tornado("yes", spread=Odds(3.0)))


def test_spreads_stay_within_probabilities() -> None:
    values = np.array([0.0, 0.2, 1.0])
    assert np.allclose(Relative(0.5)(values), ([0, 0.1, 0.5], [0, 0.3, 1]))
    assert np.allclose(Absolute(0.3)(values), ([0, 0, 0.7], [0.3, 0.5, 1]))
    assert np.allclose(Odds(2)(values), ([0, 1 / 9, 1], [0, 1 / 3, 1]))
    for wrong in (lambda: Relative(-1), lambda: Absolute(-1), lambda: Odds(0.5)):
        with pytest.raises(InvalidArgumentError, match="at least"):
            wrong()


def test_the_distance_bounds_the_odds_of_every_query() -> None:
    assert cd_distance(0.5, 0.5) == 0
    assert cd_distance(0.0, 0.1) == math.inf
    analysis = analyze(GARDEN, "rain", {"slip": "maybe"})
    parameter = Parameter("wet", "yes", {"rain": "no"})
    function = analysis.function(parameter)
    for t in (0.01, 0.05, 0.3, 0.9):
        before, after = function(function.value), function(t)
        factor = (after[1] / after[0]) / (before[1] / before[0])
        assert abs(math.log(factor)) <= cd_distance(function.value, t) + 1e-12
    with pytest.raises(InvalidArgumentError, match="probability"):
        cd_distance(0.5, 1.5)


def test_soft_evidence_is_part_of_an_analysis() -> None:
    analysis = analyze(GARDEN, "rain", {"wet": {"no": 0.2, "yes": 0.8}, "slip": None})
    exact = posterior_of(GARDEN, "rain", {"wet": [0.2, 0.8]})
    assert exact is not None
    assert analysis.posterior == pytest.approx(exact)
    function = analysis.function(Parameter("rain", "yes"))
    changed = posterior_of(
        with_row(GARDEN, Parameter("rain", "yes"), 0.7), "rain", {"wet": [0.2, 0.8]}
    )
    assert changed is not None
    assert function(0.7) == pytest.approx(changed)


def test_wrong_parameters_and_questions_are_refused() -> None:
    analysis = analyze(GARDEN, "rain", {"wet": "yes"})
    with pytest.raises(UnknownNameError):
        analysis.function(Parameter("rian", "yes"))
    with pytest.raises(UnknownNameError):
        analysis.function(Parameter("rain", "perhaps"))
    with pytest.raises(InvalidArgumentError, match="each parent"):
        analysis.function(Parameter("wet", "yes"))
    with pytest.raises(InvalidArgumentError, match="probability"):
        analysis.function(Parameter("rain", "yes"))(1.5)
    with pytest.raises(InvalidArgumentError, match="must not be evidence"):
        analyze(GARDEN, "rain", {"rain": "yes"})
    with pytest.raises(ImpossibleEvidenceError):
        analyze(GARDEN, "rain", {"wet": "no", "slip": "yes"})
    noisy = Network((GARDEN.cpds[0], noisy_or(WET, (RAIN,), [0.9])))
    with pytest.raises(InvalidArgumentError, match="to_tabular"):
        analyze(noisy, "rain", {"wet": "yes"}).function(Parameter("wet", "yes", {"rain": "no"}))


def test_plots_show_every_bar_and_curve() -> None:
    analysis = analyze(GARDEN, "rain", {"slip": "maybe"})
    tornado = analysis.tornado("yes")
    figure = plot_tornado(tornado, posterior=float(analysis.posterior[1]), title="$x$")
    assert len(figure.axes[0].get_yticklabels()) == len(tornado)
    assert figure.axes[0].get_legend() is None  # it would cover bars
    assert len(figure.legends) == 1
    curves = plot_function(analysis.function(Parameter("rain", "yes")))
    assert len(curves.axes[0].get_lines()) == 3
    with pytest.raises(InvalidArgumentError, match="nothing to plot"):
        plot_tornado(tornado.head(0), posterior=0.5)
