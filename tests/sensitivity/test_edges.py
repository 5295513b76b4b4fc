"""Sensitivity where probabilities are zero, tiny or equal, and wrong arguments."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import CancellationError, InvalidArgumentError, TooLargeError
from bnmind.junction import Limits
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.sensitivity import (
    Absolute,
    AtLeast,
    AtMost,
    Odds,
    Parameter,
    Relative,
    analyze,
    log_likelihood_gradient,
    weight_of_evidence,
    with_row,
)
from tests.sensitivity.test_analysis import posterior_of

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
    assert both.coefficients[1] == pytest.approx([1.0, 0.0, -0.1, 0.1])


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
            (alone(s), with_row(network, prior, s)),
            (both(s, t), with_row(with_row(network, prior, s), other, t)),
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
    coin = TabularCPD(A, (), np.array([0.5, 0.5]))
    positive = Network((coin, TabularCPD(B, (A,), np.full((2, 2), 0.5))))
    with pytest.raises(TooLargeError):
        log_likelihood_gradient(
            positive,
            {"b": ["yes"]},
            limits=Limits(max_bytes=8),
        )


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
