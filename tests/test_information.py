"""The one idea of the house, against its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.information import Floats, choose_question, entropy, information


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
