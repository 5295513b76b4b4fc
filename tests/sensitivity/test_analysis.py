"""Sensitivity functions, intervals and gradients against networks with changed tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    UnknownNameError,
)
from bnmind.junction import Limits
from bnmind.pgm import Network, TabularCPD, Variable, noisy_or
from bnmind.sensitivity import (
    Absolute,
    AtLeast,
    AtMost,
    MostProbable,
    Odds,
    Parameter,
    Relative,
    analyze,
    cd_distance,
    weight_of_evidence,
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
def questions(draw: st.DrawFn) -> tuple[Network, str, dict[str, Any]]:
    """Return a small network, a target and some evidence: analyses may compile for seconds."""
    network = draw(networks(max_variables=5, max_states=3, functional=False))
    names = draw(st.permutations([v.name for v in network.variables]))
    findings = {
        name: draw(st.sampled_from(network.variable(name).states))
        for name in names[1:]
        if draw(st.booleans())
    }
    assume(posterior_of(network, names[0], findings) is not None)
    return network, names[0], findings


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
@given(questions(), st.data())
def test_functions_equal_the_posteriors_of_changed_networks(
    question: tuple[Network, str, dict[str, Any]], data: st.DataObject
) -> None:
    network, _, findings = question
    analysis = analyze(*question)
    parameter = data.draw(parameters(network))
    function = analysis.function(parameter)
    for t in (0.0, 0.3, 1.0, function.value):
        changed = parameter.changed(network, t)
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
@given(questions(), st.data())
def test_two_way_functions_equal_the_posteriors_of_changed_networks(
    question: tuple[Network, str, dict[str, Any]], data: st.DataObject
) -> None:
    network, _, findings = question
    analysis = analyze(*question)
    first, second = data.draw(parameters(network)), data.draw(parameters(network))
    assume((first.variable, first.given) != (second.variable, second.given))
    function = analysis.two_way(first, second)
    for s, t in ((0.0, 0.0), (0.25, 0.75), (1.0, 0.5), function.values):
        changed = second.changed(first.changed(network, s), t)
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
    c, d = function.slopes.sum(), function.ends[0].sum()
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
    free = analysis.keeping(Parameter("slip", "no", {"wet": "no"}))
    assert (free.low, free.high) == (0, 1)
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
    with pytest.raises(InvalidArgumentError, match="from 0 to 1"):
        cd_distance(0.5, 1.5)


def test_soft_evidence_is_part_of_an_analysis() -> None:
    analysis = analyze(GARDEN, "rain", {"wet": {"no": 0.2, "yes": 0.8}, "slip": None})
    exact = posterior_of(GARDEN, "rain", {"wet": [0.2, 0.8]})
    assert exact is not None
    assert analysis.posterior == pytest.approx(exact)
    function = analysis.function(Parameter("rain", "yes"))
    other = Parameter("rain", "yes").changed(GARDEN, 0.7)
    changed = posterior_of(other, "rain", {"wet": [0.2, 0.8]})
    assert changed is not None
    assert function(0.7) == pytest.approx(changed)
    assert analysis.in_network(other).posterior == pytest.approx(changed)


def test_wrong_parameters_and_questions_are_refused() -> None:
    analysis = analyze(GARDEN, "rain", {"wet": "yes"})
    with pytest.raises(UnknownNameError):
        analysis.function(Parameter("rian", "yes"))
    with pytest.raises(UnknownNameError):
        analysis.function(Parameter("rain", "perhaps"))
    with pytest.raises(InvalidArgumentError, match="each parent"):
        analysis.function(Parameter("wet", "yes"))
    with pytest.raises(InvalidArgumentError, match="from 0 to 1"):
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
    figure = analysis.plot("yes", title="$x$")
    assert len(figure.axes[0].get_yticklabels()) == len(tornado)
    assert figure.axes[0].get_legend() is None  # it would cover bars
    assert len(figure.legends) == 1
    curves = analysis.function(Parameter("rain", "yes")).plot()
    assert len(curves.axes[0].get_lines()) == 3
    with pytest.raises(InvalidArgumentError, match="nothing to plot"):
        analysis.plot("yes", n=0)


A, B, C = (Variable(name, ("no", "yes")) for name in "abc")


def sign_of_a(p: float, q: float) -> Network:
    """Return a network where b is yes only if a is, and c depends on a."""
    return Network(
        (
            TabularCPD(A, (), np.array([1 - p, p])),
            TabularCPD(B, (A,), np.array([[1.0, 0.1], [0.0, 0.9]])),
            TabularCPD(C, (A,), np.array([[0.5, 1 - q], [0.5, q]])),
        )
    )


def test_two_parameters_matter_together_even_if_neither_does_alone() -> None:
    network = Network(
        (
            TabularCPD(A, (), np.array([1.0, 0.0])),
            TabularCPD(B, (A,), np.array([[0.9, 0.3], [0.1, 0.7]])),
        )
    )
    both = analyze(network, "b").two_way(Parameter("b", "yes", {"a": "yes"}), Parameter("a", "yes"))
    assert both(0.2, 0.8) == pytest.approx([0.82, 0.18], abs=1e-15)
    # P(b=yes)(s, t) = s t + 0.1 (1 − t)
    assert both.corners[1] == pytest.approx([0.1, 0.0, 0.1, 1.0])


@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from([0.0, 0.3, 1.0]), min_size=5, max_size=5), st.sampled_from("bc"))
def test_functions_of_tables_with_zeros_equal_changed_networks(
    entries: list[float], target: str
) -> None:
    p, *rest = entries
    rows = [np.array([[1 - x, 1 - y], [x, y]]) for x, y in (rest[:2], rest[2:])]
    network = Network(
        (
            TabularCPD(A, (), np.array([1 - p, p])),
            TabularCPD(B, (A,), rows[0]),
            TabularCPD(C, (B,), rows[1]),
        )
    )
    seen = {} if target == "c" else {"c": "yes"}
    if posterior_of(network, target, seen) is None:
        return
    analysis = analyze(network, target, seen)
    prior, other = Parameter("a", "yes"), Parameter("b", "yes", {"a": "yes"})
    alone, both = analysis.function(prior), analysis.two_way(prior, other)
    for s, t in itertools.product((0.0, 0.4, 1.0), repeat=2):
        for found, changed in (
            (alone(s), prior.changed(network, s)),
            (both(s, t), other.changed(prior.changed(network, s), t)),
        ):
            exact = posterior_of(changed, target, seen)
            assert found == pytest.approx(math.nan if exact is None else exact, nan_ok=True)


def test_impossible_evidence_has_no_posterior_whatever_the_rounding() -> None:
    rng = np.random.default_rng(0)
    rare = Parameter("a", "yes")
    for _ in range(12):
        analysis = analyze(sign_of_a(0.09 * rng.random(), rng.random()), "c", {"b": "yes"})
        assert np.isnan(analysis.function(rare)(0.0)).all()
        assert np.isnan(analysis.function(rare).derivative(0.0)).all()
        assert np.isnan(analysis.function(Parameter("b", "yes", {"a": "yes"}))(0.0)).all()
        tornado = analysis.tornado("yes", spread=Absolute(1.0)).set_index("parameter")
        # It decides whether the evidence is possible, and nothing else.
        assert "a=no" not in tornado.index
        both = analysis.two_way(rare, Parameter("b", "yes", {"a": "yes"}))
        assert np.isnan(both(0.0, 0.5)).all()


def test_a_function_returns_the_posterior_at_its_value_if_findings_are_improbable() -> None:
    network = Network(
        (
            TabularCPD(A, (), np.array([1 - 1e-14, 1e-14])),
            TabularCPD(B, (A,), np.array([[1 - 1e-14, 0.5], [1e-14, 0.5]])),
        )
    )
    analysis = analyze(network, "a", {"b": "yes"})
    function = analysis.function(Parameter("a", "no"))
    assert function(function.value) == pytest.approx([2 / 3, 1 / 3], abs=1e-14)
    # P(b=yes, a=no) = 1e-14 t and P(b=yes, a=yes) = 0.5 (1 - t)
    assert function(0.5)[0] == pytest.approx(2e-14, rel=1e-12)


def test_a_tornado_lists_only_parameters_that_change_the_posterior() -> None:
    network = Network(
        (
            TabularCPD(A, (), np.array([0.3, 0.7])),
            TabularCPD(B, (A,), np.array([[0.9, 0.37], [0.1, 0.63]])),
            TabularCPD(C, (A,), np.array([[0.6, 0.0], [0.4, 1.0]])),
        )
    )
    frame = analyze(network, "a", {"b": "yes", "c": "yes"}).tornado("yes")
    assert "c=no | a=yes" not in set(frame["parameter"])
    assert (frame["low"] < frame["high"]).all()
    assert (frame["swing"] > 1e-12).all()


def test_the_first_of_equal_states_is_the_conclusion() -> None:
    rng = np.random.default_rng(0)
    for x in rng.random(20):
        table = np.array([[x, 1 - x], [1 - x, x]])
        network = Network(
            (
                TabularCPD(A, (), np.array([0.5, 0.5])),
                TabularCPD(B, (A,), table),
                TabularCPD(C, (A,), table),
            )
        )
        seen = {"b": "yes", "c": "no"}
        analysis = analyze(network, "a", seen)
        assert analysis.conclusion == weight_of_evidence(network, "a", seen).state == "no"


def test_an_analysis_keeps_its_limits() -> None:
    analysis = analyze(sign_of_a(0.2, 0.3), "c", limits=Limits(max_bytes=10**6))
    assert analysis.limits == Limits(max_bytes=10**6)


def test_evidence_that_becomes_far_more_probable_is_refused() -> None:
    signs = [Variable(f"x{i}", A.states) for i in range(100)]
    network = Network(
        (
            TabularCPD(A, (), np.array([1.0, 0.0])),
            TabularCPD(C, (A,), np.array([[0.5, 0.5], [0.5, 0.5]])),
            *(TabularCPD(v, (A,), np.array([[1 - 1e-9, 0.5], [1e-9, 0.5]])) for v in signs),
        )
    )
    seen = {v.name: "yes" for v in signs}
    with pytest.raises(CancellationError):
        analyze(network, "c", seen).two_way(
            Parameter("a", "yes"), Parameter("c", "yes", {"a": "no"})
        )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Odds(math.inf),
        lambda: Relative(math.inf),
        lambda: Absolute(math.nan),
        lambda: AtLeast("yes", 2.0),
        lambda: AtMost("yes", math.nan),
        lambda: analyze(sign_of_a(0.2, 0.3), "c").tornado(n=-1),
        lambda: analyze(sign_of_a(0.2, 0.3), "c").deviations(n=-1),
        lambda: analyze(sign_of_a(0.2, 0.3), "c").function(Parameter("a", "no")).derivative(7.0),
        lambda: analyze(sign_of_a(0.2, 0.3), "c").function(Parameter("a", "no")).value_for("no", 2),
    ],
)
def test_numbers_out_of_range_are_refused(wrong: Callable[[], Any]) -> None:
    with pytest.raises(InvalidArgumentError):
        wrong()


def test_two_entries_of_a_row_are_so_whatever_the_type_of_their_names() -> None:
    digit = Variable("digit", ("0", "1"))
    level = Variable("level", ("low", "middle", "high"))
    table = np.array([[0.2, 0.3], [0.3, 0.3], [0.5, 0.4]])
    network = Network(
        (TabularCPD(digit, (), np.array([0.5, 0.5])), TabularCPD(level, (digit,), table))
    )
    both = analyze(network, "digit", {"level": "low"}).two_way(
        Parameter("level", "low", {"digit": "0"}), Parameter("level", "high", {"digit": 0})
    )
    with pytest.raises(InvalidArgumentError, match="in one row"):
        both(0.6, 0.6)
