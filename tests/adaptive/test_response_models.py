"""Response models and distributions of profiles agree with their definitions."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.adaptive import (
    Dina,
    Dino,
    Gdina,
    Graded,
    GradedResponse,
    Hierarchy,
    Independent,
    Logistic,
    NoisyAnd,
    NoisyOr,
    Nominal,
    PartialCredit,
    ProfileDistribution,
    ResponseModel,
    Saturated,
    Sequential,
)
from bnmind.adaptive.response_models.base import response_channel
from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.pgm import Network, Variable
from tests.banks import response_models
from tests.networks import enumerate_joint

SKILLS = tuple(
    Variable.of_integers(name, range(size)) for name, size in [("a", 2), ("b", 3), ("c", 2)]
)


def right(gate: ResponseModel) -> dict[tuple[int, ...], float]:
    """Return the chance of a right response for each configuration."""
    rows = product(*(range(v.n_states) for v in SKILLS))
    return dict(zip(rows, response_channel(gate, SKILLS)[:, 1].tolist(), strict=True))


def has(levels: tuple[int, ...], required: tuple[int, ...] = (1, 1, 1)) -> list[bool]:
    return [level >= least for level, least in zip(levels, required, strict=True)]


def test_dina_needs_every_skill() -> None:
    for levels, chance in right(Dina(0.2, 0.1, (1, 2, 1))).items():
        assert chance == pytest.approx(0.9 if all(has(levels, (1, 2, 1))) else 0.2)


def test_dino_needs_any_skill() -> None:
    for levels, chance in right(Dino(0.2, 0.1)).items():
        assert chance == pytest.approx(0.9 if any(has(levels)) else 0.2)


def test_noisy_and_multiplies_over_the_skills() -> None:
    guess, slip = (0.2, 0.3, 0.0), (0.1, 0.05, 0.0)
    for levels, chance in right(NoisyAnd(guess, slip, 0.95)).items():
        works = [1 - s if h else g for h, g, s in zip(has(levels), guess, slip, strict=True)]
        assert chance == pytest.approx(0.95 * math.prod(works))


def test_noisy_or_multiplies_what_fails() -> None:
    for levels, chance in right(NoisyOr(0.05, (0.1, 0.2, 0.3), 0.02)).items():
        slips = zip(has(levels), (0.1, 0.2, 0.3), strict=True)
        assert chance == pytest.approx(1 - 0.98 * math.prod(s if h else 0.95 for h, s in slips))


def test_graded_is_a_logistic_curve_of_the_levels() -> None:
    channel = response_channel(Graded((1.0, 0.5, 2.0), (-1.0, 0.5, 3.0)), SKILLS)
    for row, levels in zip(channel, product(range(2), range(3), range(2)), strict=True):
        total = levels[0] + 0.5 * levels[1] + 2 * levels[2]
        for r, threshold in enumerate((-1.0, 0.5, 3.0), start=1):
            assert row[r:].sum() == pytest.approx(1 / (1 + math.exp(threshold - total)))


def test_sequential_takes_steps_in_turn() -> None:
    steps = (Dina(0.2, 0.1, (1, 0, 0)), Dino(0.3, 0.2, (1, 2, 1)))
    first, second = (response_channel(step, SKILLS)[:, 1] for step in steps)
    channel = response_channel(Sequential(steps), SKILLS)
    np.testing.assert_allclose(channel.T, [1 - first, first * (1 - second), first * second])


def test_a_gdina_model_has_the_chances_given() -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(3), 12)
    np.testing.assert_allclose(response_channel(Gdina(rows), SKILLS), rows, rtol=0, atol=1e-15)


@given(st.data())
def test_gates_make_distributions(data: st.DataObject) -> None:
    gate = data.draw(response_models(SKILLS))
    channel = response_channel(gate, SKILLS)
    assert channel.shape == (12, gate.n_responses)
    assert np.all(channel >= 0)
    np.testing.assert_allclose(channel.sum(axis=1), 1, rtol=0, atol=1e-12)


@given(st.data())
def test_more_skill_never_hurts(data: st.DataObject) -> None:
    gate = data.draw(response_models(SKILLS, steps=False))
    chances = right(gate)
    for one, other in product(chances, repeat=2):
        if all(x <= y for x, y in zip(one, other, strict=True)):
            assert chances[one] <= chances[other] + 1e-12


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Dina(-0.1, 1.2), r"guess to be a number from 0 to 1, got -0.1; expected slip"),
        (lambda: Dina(0.6, 0.6), r"guess \+ slip of at most 1"),
        (lambda: Dino(float("nan"), 0), "guess to be a number from 0 to 1, got nan"),
        (lambda: NoisyAnd((0.1, 0.2), (0.1,)), "as many guesses as slips"),
        (lambda: NoisyAnd(0.1, 0.1, 1.5), "expected ceiling"),
        (lambda: NoisyOr(0.1, 0.1, -1), "expected floor"),
        (lambda: Graded(1, (2.0, 1.0)), "increasing thresholds"),
        (lambda: Graded(-1, (2.0,)), "slopes"),
        (lambda: Sequential(()), "steps"),
        (lambda: Sequential((Graded(1, (0.0, 1.0)),)), "two responses"),
        (lambda: Gdina(np.array([0.5, 0.5])), "of probabilities in"),
        (lambda: Logistic(0), "a slope other than 0"),
        (lambda: GradedResponse(-1, (1.0, 2.0)), "decreasing thresholds with a negative slope"),
        (lambda: Logistic(1, 0, 0.5, 0.4), "asymptotes"),
        (lambda: GradedResponse(0, (1.0,)), "a slope other than 0"),
        (lambda: PartialCredit(0, (1.0,)), "a slope other than 0"),
        (lambda: PartialCredit(1.0, ()), "thresholds .* at least one"),
        (lambda: Nominal((1.0,), (1.0, 2.0)), "as many slopes as intercepts"),
        (lambda: Nominal((), ()), "at least one"),
        (lambda: response_channel(Dina(0, 0, (1, 3, 1)), SKILLS), "level from 0 to 2 of b"),
        (lambda: response_channel(Dina(0, 0, (1, 1)), SKILLS), "3 levels"),
        (lambda: response_channel(NoisyAnd((0.1, 0.1)), SKILLS), "3 guesses"),
        (lambda: response_channel(Gdina(np.full((2, 2), 0.5)), SKILLS), "12 rows"),
        (lambda: response_channel(Gdina(np.full((12, 2), 0.7)), SKILLS), "sum to one"),
        (lambda: Dina(0, 0).cpd(SKILLS[1], SKILLS[:1]), "2 responses to b, got 3"),
    ],
)
def test_bad_gates_are_refused(make: object, words: str) -> None:
    with pytest.raises(InvalidModelError, match=words):
        make()  # type: ignore[operator]


def joint(distribution: ProfileDistribution) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    network = Network(distribution.cpds(SKILLS))
    return np.real(enumerate_joint(network).sum_to([v.name for v in SKILLS]).values)


@given(st.integers(0, 2**16))
def test_a_saturated_distribution_is_any_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.random((2, 3, 2)) * (rng.random((2, 3, 2)) < 0.6)
    table[0, 1, 0] += 0.1
    table /= table.sum()
    np.testing.assert_allclose(joint(Saturated(table)), table, rtol=0, atol=1e-15)
    np.testing.assert_allclose(joint(Saturated(table.ravel())), table, rtol=0, atol=1e-15)


def test_a_saturated_distribution_is_uniform_unless_given() -> None:
    np.testing.assert_allclose(joint(Saturated()), np.full((2, 3, 2), 1 / 12))


def test_independent_skills_multiply() -> None:
    rows = ([0.3, 0.7], [0.2, 0.3, 0.5], [0.6, 0.4])
    expected = np.einsum("i,j,k->ijk", *rows)
    np.testing.assert_allclose(joint(Independent(rows)), expected)
    assert Independent(0.4).cpds(SKILLS[:1])[0].to_factor().values.tolist() == [0.6, 0.4]


def test_in_a_hierarchy_nobody_lacks_what_a_skill_builds_on() -> None:
    hierarchy = Hierarchy({"b": ("a",), "c": ("a", "b")})
    table = joint(hierarchy)
    assert table.sum() == pytest.approx(1)
    for a, b, c in product(range(2), range(3), range(2)):
        allowed = (b == 0 or a > 0) and (c == 0 or (a > 0 and b > 0))
        assert (table[a, b, c] > 0) == allowed
    assert table[1, 1:, 1].sum() / table[1, 1:].sum() == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("distribution", "words"),
    [
        (lambda: Saturated([0.5, 0.6]), "sum to one"),
        (lambda: Saturated([1.5, -0.5]), "probabilities"),
        (lambda: Saturated([0.5, 0.5]), "12 probabilities"),
        (lambda: Independent([0.5, 0.5]), "each of 3 skills, got 2"),
        (lambda: Independent(0.5), "3 levels of b"),
        (lambda: Independent([[-0.5, 1.5], [1.0, 0.0, 0.0], [0.5, 0.5]]), r"in \[0, 1\] for a"),
        (lambda: Hierarchy({"d": ("a",)}), "d in the hierarchy is not"),
        (lambda: Hierarchy({"a": ("b",), "b": ("a",)}), "cycle"),
    ],
)
def test_bad_distributions_are_refused(distribution: object, words: str) -> None:
    with pytest.raises(InvalidModelError, match=words):
        distribution().cpds(SKILLS)  # type: ignore[operator]


def test_too_many_profiles_are_refused() -> None:
    many = [Variable.of_integers(f"s{i}", range(2)) for i in range(30)]
    with pytest.raises(TooLargeError, match="of 30 skills"):
        Saturated().cpds(many)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[0.5, 0.6]], "sum to one in a G-DINA model, got 1.1 in row 1"),
        ([[0.5, 0.5], [0.5, 0.4]], "got 0.9 in row 2"),
        ([[0.0, 0.0]], "got 0 in row 1"),
        (np.zeros((0, 2)), "at least one row"),
    ],
)
def test_the_rows_of_a_gdina_model_sum_to_one(table: Any, words: str) -> None:
    with pytest.raises(InvalidModelError, match=words):
        Gdina(table)


def test_rows_that_nearly_sum_to_one_are_normalized() -> None:
    found = Gdina(np.array([[0.333333, 0.333333, 0.333333], [0.25, 0.25, 0.5]])).probabilities
    np.testing.assert_allclose(found[0], 1 / 3, rtol=1e-15)
    assert found[1].tolist() == [0.25, 0.25, 0.5]
