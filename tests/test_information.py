"""The one idea of the house, against its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.information import (
    _BLOCK,
    Floats,
    choose_by_information,
    choose_question,
    entropy,
    information,
    tied_best,
)


def literal_expected_entropy(belief: Floats, causes: list[int], channel: Floats) -> float:
    """Return Σ_o P(o)·H(belief given o), forming every posterior."""
    expected = 0.0
    for outcome in range(channel.shape[1]):
        joint = belief * channel[causes, outcome]
        chance = joint.sum()
        if chance > 0:
            expected -= sum(p * math.log2(p / chance) for p in joint if p > 0)
    return float(expected)


@given(st.integers(1, 8), st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_information_is_what_the_entropy_falls_by(
    states: int, causes: int, outcomes: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    belief = rng.dirichlet(np.ones(states))
    cause = rng.integers(causes, size=states).tolist()
    channel = rng.dirichlet(np.full(outcomes, 0.5), size=causes)
    masses = np.bincount(cause, weights=belief, minlength=causes)
    expected = literal_expected_entropy(belief, cause, channel)
    assert entropy(belief) - information(masses, channel) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9).filter(lambda w: sum(w) > 0))
def test_entropy_lies_between_certainty_and_uniform(weights: list[float]) -> None:
    p = np.array(weights) / sum(weights)
    assert -1e-12 <= entropy(p) <= math.log2(len(p)) + 1e-12


def test_any_axes_in_front_are_kept() -> None:
    rng = np.random.default_rng(3)
    masses, channel = rng.dirichlet(np.ones(3), size=(2, 4)), rng.dirichlet(np.ones(2), size=3)
    found = information(masses, channel)
    expected = [[information(row, channel) for row in block] for block in masses]
    np.testing.assert_allclose(found, np.array(expected), atol=1e-15)
    assert information(np.empty((0, 3)), channel).shape == (0,)


def test_questions_may_have_channels_of_their_own() -> None:
    channels = np.array([[[1, 0], [0, 1]], [[0.5, 0.5], [0.5, 0.5]]])
    assert information([[0.5, 0.5], [0.5, 0.5]], channels).tolist() == [1.0, 0.0]


def test_padding_with_causes_of_mass_zero_changes_nothing() -> None:
    channel = np.array([[0.9, 0.1], [0.2, 0.8]])
    padded = np.vstack([channel, [[0.0, 0.0]]])
    assert information([0.3, 0.7, 0.0], padded) == information([0.3, 0.7], channel)


def test_ties_go_to_the_larger_preference_then_to_the_smaller_index() -> None:
    masses = [[0.9, 0.1], [0.5, 0.5], [0.5 + 1e-14, 0.5 - 1e-14], [0.5, 0.5]]
    channel = np.eye(2)
    assert choose_question(masses, channel).question == 1
    assert choose_question(masses, channel).tied.tolist() == [1, 2, 3]
    assert choose_question(masses, channel, preference=[9.0, 0.0, 1.0, 1.0 + 1e-13]).question == 2
    assert choose_question(masses, channel, preference=[0.0] * 4).question == 1


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_entropies_along_any_axis(axis: int) -> None:
    table = np.random.default_rng(4).dirichlet(np.ones(24)).reshape(2, 3, 4)
    found = entropy(table, axis=axis)
    rest = np.delete(table.shape, axis)
    assert found.shape == tuple(rest)
    for index in np.ndindex(*rest.tolist()):
        column = np.moveaxis(table, axis, -1)[index]
        expected = -sum(p * math.log2(p) for p in column.tolist())
        assert found[index] == pytest.approx(expected, abs=1e-12)
    assert entropy([0.25] * 4, axis=0) == 2.0


@pytest.mark.parametrize("axis", [3, -4])
def test_an_axis_that_an_array_has_not_is_refused(axis: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"got {axis}"):
        entropy(np.full((2, 2, 2), 0.5), axis=axis)


@pytest.mark.parametrize("wrong", [[-0.5, 1.5], [3, 1], [float("nan"), 0.5], [float("inf")]])
def test_no_probabilities_have_no_entropy(wrong: list[float]) -> None:
    with pytest.raises(InvalidArgumentError, match="expected probabilities from 0 to 1, got"):
        entropy(wrong)
    assert entropy([1 + 1e-12, -1e-12]) == pytest.approx(0, abs=1e-8)


def test_zeros_and_tiny_numbers_have_no_entropy() -> None:
    assert entropy([1.0, 0.0, 1e-320]) == pytest.approx(0.0, abs=1e-300)


def test_many_questions_have_the_information_of_each() -> None:
    rng = np.random.default_rng(5)
    masses, channel = rng.dirichlet(np.ones(3), size=2 * _BLOCK + 3), np.eye(3)
    np.testing.assert_allclose(information(masses, channel), entropy(masses), atol=1e-13)


def test_further_axes_may_have_channels_of_their_own() -> None:
    rng = np.random.default_rng(6)
    masses = rng.dirichlet(np.ones(3), size=(2, 4))
    channels = rng.dirichlet(np.ones(2), size=(4, 3))
    found = information(masses, channels)
    expected = [[information(m, n) for m, n in zip(r, channels, strict=True)] for r in masses]
    np.testing.assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize(
    ("masses", "channel"),
    [
        ((), (1, 2)),
        ((3,), (3,)),
        ((3,), (2, 2)),
        ((2, 3), (2, 2)),
        ((2, 3), (4, 2, 3)),
        ((2, 3), (4, 3, 2)),
        ((4, 2, 3), (2, 4, 3, 2)),
        ((3,), (1, 3, 2)),
    ],
)
def test_shapes_that_do_not_belong_together_are_refused(
    masses: tuple[int, ...], channel: tuple[int, ...]
) -> None:
    with pytest.raises(InvalidArgumentError, match=r"expected .* got"):
        information(np.full(masses, 0.5), np.full(channel, 0.5))


def test_a_noise_is_that_of_the_channel() -> None:
    masses, channel = [[0.3, 0.7], [0.5, 0.5]], np.array([[0.9, 0.1], [0.2, 0.8]])
    assert (
        information(masses, channel, noise=entropy(channel)) == information(masses, channel)
    ).all()
    with pytest.raises(InvalidArgumentError, match=r"noise of shape \(2,\), got \(3,\)"):
        information(masses, channel, noise=[0.1, 0.2, 0.3])


def test_scores_tie_within_the_tolerance_and_not_beyond() -> None:
    assert tied_best([1.0, 0.75, 0.5], tolerance=0.25).tolist() == [0, 1]
    assert tied_best([[0.5, 1.0], [1.0, 0.5]], tolerance=0).tolist() == [1, 2]
    for tolerance in (-1.0, math.inf, math.nan):
        with pytest.raises(InvalidArgumentError, match="tolerance must be at least 0"):
            tied_best([1.0], tolerance=tolerance)
    with pytest.raises(InvalidArgumentError, match="at least one score"):
        tied_best([], tolerance=0)


def test_by_default_scores_tie_within_a_billionth_of_a_bit() -> None:
    scores = [1.0, 1.0 + 0.5e-9, 1.0 - 2e-9]
    assert choose_by_information(scores).tied.tolist() == [0, 1]
    assert choose_question([[0.5, 0.5], [0.51, 0.49]], np.eye(2)).tied.tolist() == [0]
    assert choose_by_information(scores, tolerance=1e-8).tied.tolist() == [0, 1, 2]


def test_preferences_tie_relative_to_the_largest() -> None:
    assert choose_by_information([1, 1], preference=[1e6, 1e6 + 1e-4]).question == 0
    assert choose_by_information([1, 1], preference=[1e-6, 1.1e-6]).question == 1
    assert choose_by_information([1, 1], preference=[-2e6, -2e6 + 1e-4]).question == 0
    with pytest.raises(InvalidArgumentError, match="a preference for each question"):
        choose_by_information([1, 1], preference=[1.0])
