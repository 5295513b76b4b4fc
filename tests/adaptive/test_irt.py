"""Items of one ability: catsim's formulas, and posteriors by quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.adaptive import (
    AbilityGrid,
    GradedResponse,
    Logistic,
    Nominal,
    PartialCredit,
    irt_bank,
    logistic_items,
    start_belief,
)
from bnmind.adaptive.response_models.base import ability_values
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.pgm import Variable

curves = st.builds(
    Logistic, st.floats(0.1, 4), st.floats(-4, 4), st.floats(0, 0.4), st.floats(0.6, 1)
)
abilities = st.floats(-6, 6)


@given(curves, abilities)
def test_curves_are_those_of_catsim(item: Logistic, theta: float) -> None:
    # catsim.irt.icc: c + (d - c) / (1 + e^(-a(theta - b)))
    a, b, c, d = item.slope, item.difficulty, item.lower, item.upper
    p = c + (d - c) / (1 + math.exp(-a * (theta - b)))
    np.testing.assert_allclose(item.probabilities([theta]), [[1 - p, p]], rtol=0, atol=1e-14)
    # catsim.irt.inf: a²(P − c)²(d − P)² / ((d − c)²(1 − P)P)
    expected = a**2 * (p - c) ** 2 * (d - p) ** 2 / ((d - c) ** 2 * (1 - p) * p)
    assert item.fisher_information([theta])[0] == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(curves, abilities)
def test_the_information_is_the_slope_squared_over_the_variance(
    item: Logistic, theta: float
) -> None:
    h = 1e-5
    low, high = item.probabilities([theta - h, theta + h])[:, 1]
    p = item.probabilities([theta])[0, 1]
    expected = ((high - low) / (2 * h)) ** 2 / (p * (1 - p))
    assert item.fisher_information([theta])[0] == pytest.approx(expected, rel=1e-3, abs=1e-8)


@given(st.floats(0.2, 3), st.lists(st.floats(-3, 3), min_size=1, max_size=4), abilities)
def test_graded_responses_are_differences_of_curves(
    slope: float, thresholds: list[float], theta: float
) -> None:
    item = GradedResponse(slope, tuple(sorted(thresholds)))
    found = item.probabilities([theta])[0]
    for r, threshold in enumerate(sorted(thresholds), start=1):
        above = Logistic(slope, threshold).probabilities([theta])[0, 1]
        assert found[r:].sum() == pytest.approx(above, abs=1e-14)
    if len(thresholds) == 1:
        binary = Logistic(slope, thresholds[0]).fisher_information([theta])
        np.testing.assert_allclose(item.fisher_information([theta]), binary, rtol=1e-9)


thresholds = st.lists(st.floats(-3, 3), min_size=1, max_size=4)


@given(st.floats(0.2, 3), thresholds, abilities)
def test_steps_of_partial_credit_are_curves_and_it_is_a_nominal_model(
    slope: float, steps: list[float], theta: float
) -> None:
    item = PartialCredit(slope, tuple(steps))
    found = item.probabilities([theta])[0]
    for r, threshold in enumerate(steps):
        right = Logistic(slope, threshold).probabilities([theta])[0, 1]
        assert found[r + 1] / (found[r] + found[r + 1]) == pytest.approx(right, rel=1e-9)
    scores = tuple((slope * np.arange(1, len(steps) + 1)).tolist())
    same = Nominal(scores, tuple((-slope * np.cumsum(steps)).tolist()))
    np.testing.assert_allclose(same.probabilities([theta])[0], found, atol=1e-12)
    np.testing.assert_allclose(
        same.fisher_information([theta]), item.fisher_information([theta]), rtol=1e-9
    )


@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-2, 2)), min_size=1, max_size=4),
    st.floats(-4, 4),
)
def test_the_information_of_nominal_items_is_the_expected_squared_score(
    parameters: list[tuple[float, float]], theta: float
) -> None:
    item = Nominal(tuple(a for a, _ in parameters), tuple(c for _, c in parameters))
    h = 1e-5
    low, high = np.log(item.probabilities([theta - h, theta + h]))
    expected = float(item.probabilities([theta])[0] @ ((high - low) / (2 * h)) ** 2)
    assert item.fisher_information([theta])[0] == pytest.approx(expected, rel=1e-4, abs=1e-8)


def test_steps_and_nominal_curves_far_away_are_finite() -> None:
    for item in (PartialCredit(50.0, (-100.0, 100.0)), Nominal((50.0, -50.0), (100.0, 0.0))):
        far = item.probabilities([-1e6, 0.0, 1e6])
        np.testing.assert_allclose(far.sum(axis=1), 1)
        assert np.isfinite(item.fisher_information([-1e6, 0.0, 1e6])).all()


def test_far_tails_keep_their_digits() -> None:
    low, high = Logistic(1, 0).probabilities([-40.0])[0]
    assert high == pytest.approx(math.exp(-40), rel=1e-12)
    assert low == 1
    assert np.isfinite(Logistic(4, 0).fisher_information([-200.0, 200.0])).all()


def test_the_posterior_mean_is_that_of_a_fine_integral() -> None:
    rng = np.random.default_rng(5)
    table = np.column_stack(
        [rng.uniform(0.5, 2, 20), rng.normal(0, 1, 20), rng.uniform(0, 0.25, 20), np.ones(20)]
    )
    bank = irt_bank(logistic_items(table))
    belief = start_belief(bank)
    theta = np.linspace(-8, 8, 20001)
    weight = np.exp(-(theta**2) / 2)
    for name, (a, b, c, d) in zip(bank.item_names, table, strict=True):
        response = int(rng.integers(2))
        belief = belief.update(name, response)
        p = c + (d - c) / (1 + np.exp(-a * (theta - b)))
        weight = weight * (p if response else 1 - p)
    values = ability_values(bank.variable("ability"))
    mean = float(belief.marginal("ability") @ values)
    assert mean == pytest.approx(float(weight @ theta / weight.sum()), abs=1e-5)


def test_grids_hold_a_normal_distribution() -> None:
    grid = AbilityGrid.normal(1.0, 2.0)
    points, weights = np.array(grid.points), np.array(grid.weights)
    mean = float(weights @ points)
    assert mean == pytest.approx(1)
    assert float(weights @ (points - mean) ** 2) == pytest.approx(4, rel=1e-4)


def test_catsims_arrays_run_here() -> None:
    items = logistic_items([[1, 0.5, 0.2, 0.9, 0.0], [2, 0, 0, 1, 0.3]])
    assert items[0] == Logistic(1, 0.5, 0.2, 0.9)
    bank = irt_bank([*items, GradedResponse(1.0, (-1.0, 1.0))], AbilityGrid.normal(n_points=11))
    assert bank.skills == ("ability",)
    assert bank.channel("item_3").shape == (11, 3)
    assert np.argmax(start_belief(bank).information()) in range(3)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(InvalidModelError, match=r"other than 0, got 0, in row 2; .* in row 3"):
        logistic_items([[-1, 0], [0, 1], [0, 0]])
    with pytest.raises(InvalidModelError, match="2 to 5 parameters"):
        logistic_items([1.0, 2.0])
    with pytest.raises(InvalidModelError, match="increasing abilities"):
        AbilityGrid((1.0, 0.0), (0.5, 0.5))
    with pytest.raises(InvalidModelError, match="sum to one"):
        AbilityGrid((0.0, 1.0), (0.5, 0.6))
    with pytest.raises(InvalidArgumentError, match="at least 2 points"):
        AbilityGrid.normal(n_points=1)
    with pytest.raises(
        InvalidArgumentError, match=r"at most 1,000,000 \(n_points\), got .*1,000,001"
    ):
        AbilityGrid.normal(n_points=1_000_001)
    with pytest.raises(InvalidModelError, match="numbers as states"):
        ability_values(Variable("a", ("low", "high")))
    two = [Variable.of_integers(name, range(2)) for name in "abx"]
    with pytest.raises(InvalidModelError, match="one ability"):
        Logistic().cpd(two[2], two[:2])
