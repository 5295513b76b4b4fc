"""Published and reference figures on real responses; skipped where the data are not.

Where they are looked for, `tests.data_sets` says. The log-likelihoods to reach are those of an
independent EM for DINA with a saturated profile distribution, guess and slip at most 0.6, from
one start, guess and slip 0.2.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bnmind.adaptive import (
    Acdm,
    Bounds,
    Dina,
    DiscriminationIndex,
    Gdina,
    KullbackLeibler,
    LeakyOr,
    LearningOptions,
    Llm,
    Logistic,
    MaximalItems,
    MinimalEntropy,
    Nida,
    Nido,
    ResponseModel,
    Responses,
    Rrum,
    Selector,
    beliefs_given,
    irt_bank,
    learn,
    read_bank,
    read_qmatrix,
    simulate,
)
from tests.data_sets import data_set as data

ROOT = Path(__file__).parents[2]
BOUNDED = LearningOptions(bounds=Bounds((0.0, 0.6), (0.0, 0.6)))


@pytest.mark.parametrize(
    ("name", "reached", "n_parameters"),
    [
        ("fraction_subtraction", -4402.30, 255 + 40),
        pytest.param("aced", -7127.21, 1023 + 126, marks=pytest.mark.slow),
    ],
)
def test_the_reference_log_likelihood_is_reached(
    name: str, reached: float, n_parameters: int
) -> None:
    place = data(name)
    responses = Responses.from_csv(place / "responses.csv")
    q = read_qmatrix(place / "qmatrix.csv")
    bounded = learn(responses, q, options=BOUNDED)
    assert bounded.record.converged
    assert bounded.log_likelihood >= reached - 0.005  # the price of no cell below 0.0001
    assert bounded.n_parameters == n_parameters
    assert learn(responses, q).log_likelihood >= bounded.log_likelihood - 1e-6


@pytest.mark.parametrize(
    ("name", "gate", "bounded", "free"),
    [
        ("fraction_subtraction", Dina, -4402.303, -4402.288),
        pytest.param("fraction_subtraction", Gdina, -4155.028, None, marks=pytest.mark.slow),
        pytest.param("aced", Dina, -7086.288, -7086.200, marks=pytest.mark.slow),
        ("cdcatr_sim180dina", Dina, -29938.139, -29937.982),
        ("probability", Dina, -2478.890, -2478.888),
        ("dtmr", Gdina, -14988.773, -14988.773),
    ],
)
def test_chances_kept_off_zero_cost_little_likelihood(
    name: str, gate: type[ResponseModel], bounded: float, free: float | None
) -> None:
    """Found here. Without the bound the G-DINA models of the first set climb another peak."""
    place = data(name)
    responses = Responses.from_csv(place / "responses.csv")
    q = read_qmatrix(place / "qmatrix.csv")
    found = learn(responses, q, gate=gate, options=LearningOptions(starts=1))
    assert found.log_likelihood == pytest.approx(bounded, abs=2e-3)
    assert min(found.bank.channel(item).min() for item in found.bank.item_names) >= 1e-4 - 1e-15
    if free is not None:
        options = LearningOptions(starts=1, least_chance=0.0)
        unbounded = learn(responses, q, gate=gate, options=options)
        assert unbounded.log_likelihood == pytest.approx(free, abs=2e-3)


@pytest.mark.parametrize("least_chance", [1e-4, 0.0])
def test_the_accuracies_of_cdcatr_are_reached_though_parameters_tend_to_zero(
    least_chance: float,
) -> None:
    """Pattern accuracy after 1, 3, 5 and 10 of 180 items, five skills, all profiles alike.

    The bank and the answers are those of cdcatR (Sorrel, Nájera and Abad 2021). Learned without
    a least chance, some parameters are zero; with infinite divergences MPWKL then has .500 after
    five items instead of .806.
    """
    place = data("cdcatr_sim180dina")
    responses = Responses.from_csv(place / "responses.csv")
    q = read_qmatrix(place / "qmatrix.csv")
    levels = pd.read_csv(place / "true_profiles.csv").to_numpy()
    known: dict[str, tuple[Selector, list[float]]] = {
        "jsd": (MinimalEntropy(), [0.064, 0.244, 0.916, 0.994]),
        "gdi": (DiscriminationIndex(), [0.064, 0.244, 0.916, 0.994]),
        "mpwkl": (KullbackLeibler("mpwkl"), [0.064, 0.236, 0.806, 0.986]),
        "pwkl": (KullbackLeibler("pwkl"), [0.048, 0.212, 0.770, 0.978]),
    }
    options = LearningOptions(fixed=frozenset(q.skills), least_chance=least_chance)
    bank = learn(responses, q, options=options).bank
    least = min(bank.channel(name).min() for name in bank.item_names)
    assert (least < 1e-5) == (least_chance == 0)
    skills = tuple(bank.variable(name) for name in bank.skills)
    people = replace(responses, skills=skills, levels=levels)
    selectors = {name: selector for name, (selector, _) in known.items()}
    result = simulate(bank, people, selectors, MaximalItems(10))
    for name, (_, accuracies) in known.items():
        found = result.mean(name, "pattern_accuracy")[0][[1, 3, 5, 10]]
        assert found == pytest.approx(accuracies, abs=0.0021), name


def test_every_row_of_aced_counts_though_answers_are_missing() -> None:
    responses = Responses.from_csv(data("aced") / "responses.csv")
    assert (len(responses), responses.n_missing) == (232, 784)


@pytest.mark.slow
def test_skills_learned_agree_with_the_authors_of_aced_and_with_the_post_test() -> None:
    place = data("aced")
    responses = Responses.from_csv(place / "responses.csv")
    options = replace(BOUNDED, starts=1)
    found = learn(responses, read_qmatrix(place / "qmatrix.csv"), options=options)
    beliefs = beliefs_given(found.bank, found.responses.codes)
    skills = np.stack([beliefs.marginal(name)[:, 1] for name in found.bank.skills], axis=1)
    who = pd.read_csv(place / "respondents.csv").SubjID
    published = pd.read_csv(place / "bn_scores_published.csv").set_index("SubjID").reindex(who)
    post = pd.read_csv(place / "prepost.csv").groupby("SubjID").post_scaled.first().reindex(who)
    total = pd.Series(skills.sum(axis=1), index=who)
    assert total.corr(published["EAP.sgp"]) == pytest.approx(0.88, abs=0.01)
    assert total.corr(published["EAP.sgp"], method="spearman") == pytest.approx(0.90, abs=0.01)
    short = pd.read_csv(place / "skills.csv").set_index("long").short
    short["distinguishTypes"] = "dt"  # which the authors also call determineTypes
    each = [
        pd.Series(skills[:, column], index=who).corr(published[f"EAP.{short[name]}"])
        for column, name in enumerate(found.bank.skills)
    ]
    assert np.mean(each) == pytest.approx(0.75, abs=0.01)
    assert total.corr(post) == pytest.approx(0.66, abs=0.01)
    assert total.corr(post) > published["EAP.sgp"].corr(post) - 0.05


def test_parameters_of_dtmr_are_recovered() -> None:
    place = data("dtmr")
    responses = Responses.from_csv(place / "responses.csv")
    truth = pd.read_csv(place / "true_items.csv", index_col="item").fillna(0.0)
    guess = 1 / (1 + np.exp(-truth.intercept.to_numpy()))
    slip = 1 / (1 + np.exp(truth.sum(axis=1).to_numpy()))
    found = learn(responses, read_qmatrix(place / "qmatrix.csv"), gate=Gdina)
    assert np.abs([i.guess for i in found.items] - guess).mean() < 0.025
    assert np.abs([i.slip for i in found.items] - slip).mean() < 0.025
    classes = pd.read_csv(place / "true_structural.csv")
    for *levels, probability in classes.to_numpy():
        learned = found.profiles[tuple(int(level) for level in levels)]
        assert learned == pytest.approx(probability, abs=0.03)


def test_lsat6_gets_the_published_estimates() -> None:
    """2PL: log-likelihood −2466.65; the estimates are those of R's ltm and mirt.

    D. Rizopoulos, "ltm: an R package for latent variable modeling and item response theory
    analyses", J. Stat. Softw. 2006, section 3.1 (LSAT): difficulties −3.36, −1.37, −0.28,
    −1.87, −3.12 and discriminations 0.83, 0.72, 0.89, 0.69, 0.66.
    """
    responses = Responses.from_csv(data("lsat6") / "responses.csv")
    start = irt_bank([Logistic()] * 5, items=list(responses.items))
    found = learn(responses, start, options=LearningOptions(fixed=frozenset({"ability"})))
    assert found.log_likelihood == pytest.approx(-2466.65, abs=0.01)
    gates = [item.gate for item in found.bank.items]
    slopes = [gate.slope for gate in gates if isinstance(gate, Logistic)]
    difficulties = [gate.difficulty for gate in gates if isinstance(gate, Logistic)]
    np.testing.assert_allclose(slopes, [0.83, 0.72, 0.89, 0.69, 0.66], atol=0.006)
    np.testing.assert_allclose(difficulties, [-3.36, -1.37, -0.28, -1.87, -3.12], atol=0.006)


@pytest.mark.parametrize(("slope", "log_likelihood"), [(1.0, -2473.054), (0.7551, -2466.938)])
def test_lsat6_gets_the_published_log_likelihood_of_rasch(
    slope: float, log_likelihood: float
) -> None:
    """Discriminations of 1 and of 0.755, as in the paper on ltm, section 3.1."""
    responses = Responses.from_csv(data("lsat6") / "responses.csv")
    start = irt_bank([Logistic()] * 5, items=list(responses.items))
    options = LearningOptions(fixed=frozenset({"ability"}), bounds=Bounds(slope=(slope, slope)))
    found = learn(responses, start, options=options)
    assert found.log_likelihood == pytest.approx(log_likelihood, abs=0.002)
    assert found.n_parameters == 5


def test_the_bank_in_models_is_what_is_learned() -> None:
    place = data("fraction_subtraction")
    shipped = read_bank(ROOT / "models" / "banks" / "fraction-subtraction.json")
    # The file's bank was learned when only the tables of items were kept off 0 and 1, not profiles.
    bounds = Bounds((1e-4, 1 - 1e-4), (1e-4, 1 - 1e-4))
    found = learn(
        Responses.from_csv(place / "responses.csv"),
        read_qmatrix(place / "qmatrix.csv"),
        options=LearningOptions(least_chance=0.0, bounds=bounds),
    )
    assert shipped.skills == found.bank.skills
    for name in found.bank.item_names:
        np.testing.assert_allclose(shipped.channel(name), found.bank.channel(name), atol=1e-4)
    beliefs = beliefs_given(shipped, found.responses.codes)
    assert beliefs.log_evidence.sum() == pytest.approx(found.log_likelihood, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "gate", "log_likelihood", "n_parameters"),
    [
        ("fraction_subtraction", Acdm, -4283.562, 255 + 76),
        ("fraction_subtraction", Nida, -4614.185, 255 + 16),
        ("probability", Llm, -2437.704, 15 + 34),
        ("probability", Rrum, -2442.479, 15 + 34),
        ("probability", LeakyOr, -2439.372, 15 + 34),
        ("dtmr", Acdm, -15011.765, 15 + 62),
        ("dtmr", Nido, -16552.888, 15 + 8),
    ],
)
def test_models_with_main_effects_reach_their_log_likelihoods(
    name: str, gate: type[ResponseModel], log_likelihood: float, n_parameters: int
) -> None:
    """Found here, from one start; as documented in ``docs/learning.md``."""
    place = data(name)
    responses = Responses.from_csv(place / "responses.csv")
    options = LearningOptions(starts=1, monotone=True)
    found = learn(responses, read_qmatrix(place / "qmatrix.csv"), gate=gate, options=options)
    assert found.record.converged
    assert found.log_likelihood == pytest.approx(log_likelihood, abs=0.01)
    assert found.n_parameters == n_parameters
