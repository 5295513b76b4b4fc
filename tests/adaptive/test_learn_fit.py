"""Standard errors and fit against obvious twins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bnmind.adaptive import (
    Bounds,
    Gdina,
    Independent,
    ItemBank,
    LearningOptions,
    Responses,
    Saturated,
    coefficients,
    cross_validate,
    item_fit,
    learn,
    predictive_check,
)
from bnmind.adaptive.learning.item_tests import Classes
from bnmind.adaptive.learning.skill_families import SkillFamilies
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
TRUTH = ItemBank.from_qmatrix(Q, 0.2, 0.15, skills=Saturated([0.3, 0.2, 0.1, 0.4]))


def drawn(n: int, seed: int, bank: ItemBank = TRUTH) -> Responses:
    return Responses.drawn(bank, n, seed=seed)


@pytest.mark.parametrize("skills", [Saturated(), Independent()])
def test_scores_are_gradients_and_vanish_together(skills: Saturated | Independent) -> None:
    found = learn(drawn(300, 1), Q, skills=skills, options=LearningOptions(tolerance=1e-11))
    classes = Classes.of(found)
    gradient = classes.weights @ classes.scores
    free = np.concatenate([item.places[item.free] for item in classes.items])
    np.testing.assert_allclose(gradient[free], 0, atol=0.05)
    of_skills = classes.weights @ classes.skill_scores(classes.posterior)
    np.testing.assert_allclose(of_skills, 0, atol=0.05)
    values = found.parameters.items[0]
    model, expectation = found.model, classes.expectation
    for place in range(classes.n_parameters):
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved[place] += sign * 1e-4
            response_parameters = model.layout.response_parameters((moved,))
            ends.append(expectation(response_parameters, found.parameters.skills).log_likelihood)
        assert gradient[place] == pytest.approx((ends[0] - ends[1]) / 2e-4, abs=0.05)


def test_the_counts_of_the_skills_are_computed_once_per_pattern(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = learn(drawn(60, 1), Q, skills=Independent(), options=LearningOptions(starts=1))
    classes = Classes.of(found)
    calls, counts = [], SkillFamilies.counts

    def counted(self: SkillFamilies, profiles: Floats) -> tuple[Floats, ...]:
        calls.append(profiles)
        return counts(self, profiles)

    monkeypatch.setattr(SkillFamilies, "counts", counted)
    scores = classes.skill_scores(np.eye(4))
    assert scores.shape == (4, 2)
    assert len(calls) == 4 + 1  # and once for the prior distribution


@pytest.mark.slow
def test_standard_errors_tell_how_far_estimates_scatter() -> None:
    estimates, errors = [], []
    for seed in range(40):
        found = learn(drawn(800, seed), Q)
        estimates.append([(i.guess, i.slip) for i in found.items])
        said = coefficients(found)
        errors.append(
            [tuple(row.error for row in said.of(name).values()) for name in TRUTH.item_names]
        )
    scatter = np.std(estimates, axis=0)
    np.testing.assert_allclose(np.nanmean(errors, axis=0), scatter, rtol=0.4)
    assert np.nanmean(errors) == pytest.approx(scatter.mean(), rel=0.12)


def test_there_is_no_standard_error_at_a_bound() -> None:
    options = LearningOptions(bounds=Bounds((0.05, 0.05)))
    said = coefficients(learn(drawn(300, 1), Q, options=options))
    assert all(np.isnan(p.error) == (p.name == "guess") for p in said.rows)
    assert said.covariance.shape == (16, 16)


def test_there_is_no_standard_error_where_the_order_holds_a_chance() -> None:
    codes = np.array(drawn(500, 1).codes)
    codes[:, 0] = np.random.default_rng(2).permutation(codes[:, 3] == 0)  # nothing but chance
    learned = learn(codes, Q, options=LearningOptions(monotone=True))
    assert learned.items[0].guess + learned.items[0].slip == pytest.approx(1)
    said = coefficients(learned)
    assert all(np.isnan(row.error) for row in said.of("item_1").values())
    assert all(np.isfinite(row.error) for row in said.of("item_4").values())


def test_a_fixed_parameter_takes_no_degree_of_freedom() -> None:
    responses = drawn(600, 1)
    free = item_fit(learn(responses, Q))
    options = LearningOptions(bounds=Bounds(guess=(0.2, 0.2)))
    fixed = item_fit(learn(responses, Q, options=options))
    assert [a.degrees + 1 for a in free] == [b.degrees for b in fixed]


def test_items_of_the_model_fit_and_others_do_not() -> None:
    right = item_fit(learn(drawn(3000, 2), Q))
    assert min(fit.p_value for fit in right) > 0.001
    assert max(fit.rmsd for fit in right) < 0.06
    for fit in right:
        assert fit.observed == pytest.approx(fit.expected, abs=1e-3)
    wrong = [list(row) for row in Q]
    wrong[0] = [0, 1]
    misfit = item_fit(learn(drawn(3000, 2), wrong))
    assert misfit[0].p_value < 1e-6
    assert misfit[0].rmsd > max(fit.rmsd for fit in right)


def test_s_x2_is_of_those_who_answered_all_items() -> None:
    codes = np.array(drawn(300, 3).codes)
    codes[::7, 2] = -1
    learned = learn(codes, Q)
    fits = item_fit(learned)
    complete = replace(learned, responses=learned.responses.take((codes != -1).all(axis=1)))
    assert [fit.s_x2 for fit in fits] == [fit.s_x2 for fit in item_fit(complete)]
    assert {fit.n_complete for fit in fits} == {300 - 43}
    assert all(np.isfinite([fit.rmsd, fit.s_x2]).all() for fit in fits)
    codes[np.arange(300), np.arange(300) % codes.shape[1]] = -1
    none = item_fit(learn(codes, Q))
    assert all(np.isnan(fit.s_x2) and fit.n_complete == 0 for fit in none)
    assert all(np.isfinite(fit.rmsd) for fit in none)


def test_pairs_of_items_look_like_the_model_if_it_is_right() -> None:
    responses = drawn(600, 4)
    right = predictive_check(learn(responses, Q), n_drawn=40, seed=1)
    assert right.correlations.root_mean_square < 0.05
    assert right.correlations.share_extreme < 0.3
    again = predictive_check(learn(responses, Q), n_drawn=40, seed=1)
    np.testing.assert_array_equal(again.log_odds.p_values, right.log_odds.p_values)
    wrong = [list(row) for row in Q]
    wrong[0] = [0, 1]
    misfit = predictive_check(learn(responses, wrong), n_drawn=40, seed=1)
    assert misfit.log_odds.share_extreme > right.log_odds.share_extreme
    assert "item_1" in misfit.worst_pairs[0]
    with pytest.raises(InvalidArgumentError, match="data sets"):
        predictive_check(learn(drawn(50, 4), Q), n_drawn=1)


def test_the_observed_pair_statistics_are_numpys() -> None:
    responses = drawn(200, 5)
    check = predictive_check(learn(responses, Q), n_drawn=2)
    for (a, b), found in zip(check.pairs, check.correlations.observed, strict=True):
        x, y = responses.codes[:, a], responses.codes[:, b]
        assert found == pytest.approx(np.corrcoef(x, y)[0, 1])
        table = np.array([[np.sum((x == i) & (y == j)) for j in (0, 1)] for i in (0, 1)]) + 0.5
        odds = np.log(table[1, 1] * table[0, 0] / table[1, 0] / table[0, 1])
        at = np.flatnonzero((check.pairs == (a, b)).all(axis=1))[0]
        assert check.log_odds.observed[at] == pytest.approx(odds)


def test_folds_are_held_out_and_banks_learned_from_the_others() -> None:
    responses = drawn(200, 6)
    found = cross_validate(responses, Q, folds=4)
    numbers = np.random.default_rng(1).permutation(200) % 4
    np.testing.assert_array_equal(found.folds, numbers)
    for fold, learned in enumerate(found.learned):
        others = learn(responses.take(numbers != fold), Q)
        assert learned.log_likelihood == pytest.approx(others.log_likelihood)
    whole = learn(responses, Q)
    assert found.log_likelihood < whole.log_likelihood
    saturated = cross_validate(responses, Q, gate=Gdina, folds=4)
    assert np.isfinite(saturated.log_likelihood)
    assert len(found.learned) == 4


def test_what_needs_a_table_says_so() -> None:
    found = learn(drawn(50, 1), Q, options=LearningOptions(max_profiles=0))
    for ask in (coefficients, item_fit):
        with pytest.raises(TooLargeError, match="profiles"):
            ask(found)
