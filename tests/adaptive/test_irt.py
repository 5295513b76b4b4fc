"""Items of one ability: catsim's formulas, and posteriors by quadrature."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bnmind.adaptive import (
    IRT_MODELS,
    AbilityGrid,
    Bounds,
    Design,
    GradedResponse,
    ItemBank,
    Learned,
    LearningOptions,
    Logistic,
    MaximalFisher,
    MaximalItems,
    MinimalEntropy,
    Nominal,
    PartialCredit,
    Priors,
    Responses,
    Session,
    irt_bank,
    learn,
    learn_irt,
    simulate,
    start_belief,
)
from bnmind.adaptive.formulas import ability_values
from bnmind.adaptive.learning.irt import IRT_GRID, IrtModel
from bnmind.errors import InvalidArgumentError, InvalidModelError, TableError
from bnmind.pgm import Variable
from tests.data_sets import data_set
from tests.newton_em import drawn_responses, newton_em

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
    bank = irt_bank(table)
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
    items: list[Any] = [[1, 0.5, 0.2, 0.9, 0.0], [2, 0, 0, 1, 0.3]]
    bank = irt_bank([*items, GradedResponse(1.0, (-1.0, 1.0))], AbilityGrid.normal(n_points=11))
    assert bank.items[0].gate == Logistic(1, 0.5, 0.2, 0.9)
    assert bank.skills == ("ability",)
    assert bank.channel("item_3").shape == (11, 3)
    assert np.argmax(start_belief(bank).information()) in range(3)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(InvalidModelError, match=r"slope .* other than 0, got 0\.0, in row 2"):
        irt_bank([[-1, 0], [0, 1], [0, 0]])
    with pytest.raises(InvalidModelError, match=r"curves, or rows of 2 to 5 numbers, got 1\.0"):
        irt_bank([1.0, 2.0])
    with pytest.raises(InvalidModelError, match="increasing abilities"):
        AbilityGrid((1.0, 0.0), (0.5, 0.5))
    with pytest.raises(InvalidModelError, match="sum to one"):
        AbilityGrid((0.0, 1.0), (0.5, 0.6))
    with pytest.raises(InvalidArgumentError, match="n_points to be a whole number from 2"):
        AbilityGrid.normal(n_points=1)
    with pytest.raises(InvalidArgumentError, match=r"n_points .* to 1,000,000, got 1000001"):
        AbilityGrid.normal(n_points=1_000_001)
    with pytest.raises(InvalidModelError, match="numbers as states"):
        ability_values(Variable("a", ("low", "high")))
    two = [Variable.of_integers(name, range(2)) for name in "abx"]
    with pytest.raises(InvalidModelError, match="one ability"):
        Logistic().cpd(two[2], two[:2])


RIGHT = drawn_responses(300, 8, 7)
STEPS = irt_bank([PartialCredit(1.0 + 0.1 * i, (i / 4 - 1, i / 4)) for i in range(6)])
GRADES = np.array(Responses.drawn(STEPS, 400, seed=2).codes)

COUNTS = {
    **{"rasch": 8 + 1, "1PL": 8 + 1, "2PL": 16, "3PL": 24, "4PL": 32},
    **{"graded": 6 * 3, "gpcm": 6 * 3, "pcm": 6 * 2 + 1, "nominal": 6 * 4},
}
KINDS = {
    **dict.fromkeys(("rasch", "1PL", "2PL", "3PL", "4PL"), Logistic),
    **{"graded": GradedResponse, "gpcm": PartialCredit, "pcm": PartialCredit, "nominal": Nominal},
}


def test_the_registry_is_fixed_and_says_what_its_models_are() -> None:
    assert not hasattr(IRT_MODELS, "__setitem__")
    assert all(0 < len(model.about) <= 80 for model in IRT_MODELS.values())


def test_a_scale_that_starts_at_one_is_refused() -> None:
    with pytest.raises(TableError, match=r"no response is 0; .* so subtract 1 from each"):
        IRT_MODELS["graded"].start(GRADES + 1)


@pytest.mark.parametrize("name", IRT_MODELS)
def test_every_model_is_learned_with_its_parameters(name: str) -> None:
    model = IRT_MODELS[name]
    found = learn_irt(RIGHT if model.most_responses == 2 else GRADES, model)
    assert found.record.converged
    assert found.n_parameters == COUNTS[name]
    assert {type(item.gate) for item in found.bank.items} == {KINDS[name]}
    assert np.diff(found.record.objectives).min() >= -1e-7


@pytest.mark.parametrize("name", ["graded", "gpcm", "pcm", "nominal"])
def test_learned_banks_are_tested_with_and_simulated(name: str) -> None:
    bank = learn_irt(GRADES, IRT_MODELS[name]).bank
    for selector in (MinimalEntropy(), MaximalFisher()):
        session = Session.start(Design(bank, selector, MaximalItems(3)))
        while not session.stop_reason:
            session = session.answer(session.next_item(), 2)
        assert session.belief.marginal("ability") @ np.linspace(-6, 6, 61) > 0.3
    people = Responses.drawn(bank, 20, seed=1)
    result = simulate(bank, people, {"entropy": MinimalEntropy()}, MaximalItems(3))
    assert result is not None


def slopes_of(found: Learned) -> list[float]:
    """Return the slope of each item."""
    gates: list[Any] = [item.gate for item in found.bank.items]
    return [gate.slope for gate in gates]


def reversed_too(n_reversed: int, n: int = 1000) -> NDArray[np.int64]:
    """Return responses to ten items of slope 1.5, and to some that fall with the slope −0.5."""
    rng = np.random.default_rng(1)
    slopes = np.r_[[1.5] * 10, [-0.5] * n_reversed]
    places = np.r_[np.linspace(-1.5, 1.5, 10), [2.0] * n_reversed]
    chances = 1 / (1 + np.exp(-slopes * (rng.normal(size=(n, 1)) - places)))
    codes: NDArray[np.int64] = (rng.random(chances.shape) < chances).astype(np.int64)
    return codes


@pytest.mark.parametrize("name", ["2PL", "gpcm", "graded"])
@pytest.mark.parametrize("n_reversed", [1, 8])
def test_reversed_items_have_negative_slopes_and_leave_the_others(
    name: str, n_reversed: int
) -> None:
    codes = reversed_too(n_reversed)
    found = learn_irt(codes, IRT_MODELS[name])
    twin = newton_em(codes, np.array(IRT_GRID.points), np.array(IRT_GRID.weights))
    assert found.record.converged
    assert found.log_likelihood == pytest.approx(twin.log_likelihood, abs=1e-4)
    slopes = np.array(slopes_of(found))
    assert slopes[:10].min() > 1.2
    assert slopes[10:].max() < -0.2
    (note,) = (note for note in found.notes if note.kind == "miskeyed")
    assert note.names == found.bank.item_names[10:]
    assert "count in reverse, and the others stay as they are" in note.text
    assert "slope -0." in str(note)
    (order,) = (note for note in found.notes if note.kind == "order")
    assert "lowers the chance of success in some items" in order.text


@pytest.mark.parametrize(
    "options", [LearningOptions(bounds=Bounds(slope=(0, np.inf))), LearningOptions(monotone=True)]
)
def test_a_bound_keeps_the_slopes_positive(options: LearningOptions) -> None:
    codes = reversed_too(1)
    found = learn_irt(codes, IRT_MODELS["2PL"], options=options)
    without = learn_irt(codes[:, :10], IRT_MODELS["2PL"])
    slopes = slopes_of(found)
    assert found.record.converged
    assert 0 < slopes[-1] < 1e-4
    expected = slopes_of(without)
    np.testing.assert_allclose(slopes[:-1], expected, atol=0.01)
    # Nothing is lost but the item: its share is met.
    share = codes[:, -1].mean()
    alone = len(codes) * (share * np.log(share) + (1 - share) * np.log(1 - share))
    assert found.log_likelihood == pytest.approx(without.log_likelihood + alone, abs=0.01)
    (note,) = (note for note in found.notes if note.kind == "miskeyed")
    assert "count for little or nothing, and the others stay as they are" in note.text


def test_the_note_on_wrong_keys_says_what_they_do_to_equal_slopes() -> None:
    found = learn_irt(reversed_too(1), IRT_MODELS["rasch"])
    (note,) = (note for note in found.notes if note.kind == "miskeyed")
    assert "the ability look narrower for all items" in note.text


def test_the_ability_rises_with_the_sum_of_the_slopes() -> None:
    codes = reversed_too(0)
    usual = learn_irt(codes, IRT_MODELS["2PL"])
    options = IRT_MODELS["2PL"].options(usual.bank)
    mirrored = learn(codes, irt_bank([Logistic(-1.0)] * 10, IRT_GRID), options=options)
    assert mirrored.log_likelihood == pytest.approx(usual.log_likelihood, abs=1e-4)
    np.testing.assert_allclose(slopes_of(mirrored), slopes_of(usual), atol=1e-3)
    fixed = dataclasses.replace(options, fixed={"ability", "item_1"})
    kept = learn(codes, irt_bank([Logistic(-1.0)] * 10, IRT_GRID), options=fixed)
    assert max(slopes_of(kept)) < 0  # the fixed item says what is high


def test_a_model_of_right_and_wrong_refuses_grades() -> None:
    with pytest.raises(InvalidModelError, match=r"item_1 has 3 responses.*graded, pcm, gpcm"):
        IRT_MODELS["2PL"].start(GRADES)


def test_options_are_kept() -> None:
    model = IRT_MODELS["3PL"]
    start = model.start(RIGHT)
    assert model.options(start).priors.guess == (5.0, 17.0)
    asked = LearningOptions(priors=Priors(guess=(2.0, 2.0)), bounds={"item_1": Bounds((0, 0.3))})
    assert model.options(start, asked).priors == asked.priors
    equal = IRT_MODELS["rasch"].options(start, asked)
    assert equal.bounds_of("item_1") == Bounds((0, 0.3), slope=(1, 1))
    assert equal.bounds_of("item_2") == Bounds(slope=(1, 1))


@pytest.mark.parametrize(
    ("name", "log_likelihood", "n_parameters"), [("2PL", -2466.653, 10), ("rasch", -2466.938, 6)]
)
def test_lsat6_has_the_fits_of_mirt_and_ltm(
    name: str, log_likelihood: float, n_parameters: int
) -> None:
    """The data of R. D. Bock and M. Lieberman, Psychometrika 1970.

    D. Rizopoulos, "ltm", J. Stat. Softw. 2006, section 3.1: −2466.65 and −2466.938, the common
    slope 0.7551; with three decimals in the tests of R. P. Chalmers's mirt.
    """
    responses = Responses.from_csv(data_set("lsat6") / "responses.csv")
    found = learn_irt(responses, IRT_MODELS[name])
    assert found.log_likelihood == pytest.approx(log_likelihood, abs=6e-4)
    assert found.n_parameters == n_parameters
    if name == "rasch":
        deviation = float(np.sqrt(found.profiles @ np.linspace(-6, 6, 61) ** 2))
        assert deviation == pytest.approx(0.7551, abs=1e-3)
        gates = [item.gate for item in found.bank.items]
        scaled = [g.difficulty / deviation for g in gates if isinstance(g, Logistic)]
        # The difficulties of the paper, for an ability with deviation 1.
        np.testing.assert_allclose(
            scaled, [-3.6153, -1.3224, -0.3176, -1.7301, -2.7802], atol=0.005
        )


@pytest.mark.parametrize("name", ["school_fractions", "lsat6", "fraction_subtraction"])
def test_the_2pl_of_real_responses_ends_where_newton_em_ends(name: str) -> None:
    responses = Responses.from_csv(data_set(name) / "responses.csv")
    twin = newton_em(responses.codes, np.array(IRT_GRID.points), np.array(IRT_GRID.weights))
    found = learn_irt(responses, IRT_MODELS["2PL"])
    assert found.log_likelihood == pytest.approx(twin.log_likelihood, abs=1e-5)


def test_the_model_of_a_learned_bank_is_that_of_its_curves() -> None:
    for curve, name in (
        (Logistic(2.0), "2PL"),
        (Logistic(2.0, 0.0, 0.2), "3PL"),
        (Logistic(2.0, 0.0, 0.2, 0.9), "4PL"),
        (Logistic(1.0, 0.5), "rasch"),
    ):
        bank = irt_bank([curve] * 3)
        asked = LearningOptions(seed=3)
        assert IrtModel.of(bank).options(bank, asked) == IRT_MODELS[name].options(bank, asked)
    with pytest.raises(InvalidModelError, match="expected a bank of curves of one ability"):
        IrtModel.of(ItemBank.from_qmatrix([[1]]))


def test_a_prior_without_slopes_frees_those_of_a_3pl() -> None:
    codes = reversed_too(1)
    default = learn_irt(codes, IRT_MODELS["3PL"])
    assert min(slopes_of(default)) > 0
    free = LearningOptions(priors=Priors(guess=(5, 17)))
    found = learn_irt(codes, IRT_MODELS["3PL"], options=free)
    assert found.record.converged
    assert slopes_of(found)[-1] < 0 < min(slopes_of(found)[:-1])
