"""Items with curves: every M-step is an optimum, and learning ends where direct search ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit

from bnmind.adaptive import (
    IRT_MODELS,
    AbilityGrid,
    Bounds,
    Graded,
    GradedResponse,
    ItemBank,
    LearningOptions,
    Logistic,
    Nominal,
    PartialCredit,
    Priors,
    ResponseModel,
    Responses,
    coefficients,
    irt_bank,
    learn,
    learn_irt,
)
from bnmind.adaptive.learning.blocks import ItemBlock
from bnmind.adaptive.learning.forms import ascended, objective
from bnmind.adaptive.learning.learn import item_blocks
from bnmind.errors import InvalidArgumentError, InvalidModelError, UnknownNameError
from bnmind.information import Floats
from tests.modes import examples
from tests.newton_em import drawn_responses, newton_em

GRID = AbilityGrid.normal(n_points=21, reach=4)
POINTS, WEIGHTS = np.array(GRID.points), np.array(GRID.weights)
FIXED = LearningOptions(fixed=frozenset({"ability"}), tolerance=1e-9)

MODELS: dict[str, tuple[ResponseModel, ...]] = {
    "2PL": (Logistic(1.2, -0.5), Logistic(0.7, 0.4), Logistic(1.6, 0.9)),
    "3PL": (Logistic(1.2, -0.5, 0.2), Logistic(0.9, 0.4, 0.15), Logistic(1.6, 0.9, 0.25)),
    "4PL": (Logistic(1.2, -0.5, 0.2, 0.9), Logistic(0.9, 0.4, 0.15, 0.95)),
    "graded response": (
        GradedResponse(1.2, (-1.0, 0.2, 1.1)),
        GradedResponse(0.8, (-0.5, 0.0, 1.5)),
    ),
    "partial credit": (
        PartialCredit(1.1, (-0.8, 0.3, 0.2)),
        PartialCredit(0.7, (0.5, -0.5, 1.0)),
    ),
    "nominal": (Nominal((0.5, 1.5), (0.7, -0.2)), Nominal((-0.4, 0.9), (0.1, 0.5))),
    "graded": (Graded((1.0, 0.5), (-0.5, 1.0)), Graded((0.3, 1.2), (0.1, 0.9))),
}


def bank_of(models: tuple[ResponseModel, ...], grid: AbilityGrid = GRID) -> ItemBank:
    if isinstance(models[0], Graded):
        return ItemBank.from_response_models([[1, 1]] * len(models), models, levels=3)
    return irt_bank(models, grid)


def answers(bank: ItemBank, n: int, seed: int) -> Responses:
    return Responses(Responses.drawn(bank, n, seed=seed).codes, bank.item_names)


def block_of(name: str, priors: Priors | None = None) -> ItemBlock:
    bank = bank_of(MODELS[name])
    (block,) = item_blocks(bank, LearningOptions(priors=priors or Priors()))
    assert isinstance(block, ItemBlock)
    return block


def numeric(function: object, x: Floats) -> Floats:
    """Return central differences, one for each column of the parameters."""
    each = []
    for column in range(x.shape[1]):
        step = np.zeros(x.shape[1])
        step[column] = 1e-6
        each.append((function(x + step) - function(x - step)) / 2e-6)  # type: ignore[operator]
    return np.stack(each, axis=1)


@pytest.mark.parametrize("name", MODELS)
def test_derivatives_are_those_of_the_chances(name: str) -> None:
    block = block_of(name)
    form, x = block.form, block.rows(block.start())
    np.testing.assert_allclose(form.slopes(x), numeric(form.table, x), atol=1e-8)
    channels = np.stack([bank_of(MODELS[name]).channel(f"item_{i + 1}") for i in range(len(x))])
    np.testing.assert_allclose(form.table(x), channels, atol=1e-12)


ALL_PRIORS = Priors((2.0, 5.0), (2.0, 9.0), 1.0, (0.1, 0.4))


@pytest.mark.parametrize("name", ["2PL", "3PL", "4PL", "graded response", "partial credit"])
def test_the_slopes_of_priors_are_those_of_their_densities(name: str) -> None:
    block = block_of(name, ALL_PRIORS)
    form, x = block.form, block.rows(block.start())
    table = form.table(x)
    slopes, curvatures = form.score_with_priors(x, np.zeros_like(table), table)
    np.testing.assert_allclose(slopes, numeric(form.log_prior, x), atol=1e-6)
    assert np.all(np.diagonal(curvatures, axis1=1, axis2=2) >= 0)


def log_density(model: Logistic, priors: Priors) -> float:
    """Return the logarithm of the density of the priors, written anew."""
    c, e, a = model.lower, 1 - model.upper, model.slope
    found = 0.0
    for value, (alpha, beta) in ((c, priors.guess), (e, priors.slip)):
        found += (alpha - 1) * np.log(value) + (beta - 1) * np.log(1 - value)
    assert priors.slope is not None
    found += -np.log(a) - (np.log(a) - priors.slope[0]) ** 2 / (2 * priors.slope[1] ** 2)
    return float(found)


def test_the_objective_adds_the_densities_of_the_priors() -> None:
    bank = bank_of(MODELS["4PL"])
    options = LearningOptions(
        fixed=frozenset({"ability"}), priors=ALL_PRIORS, max_iterations=5, tolerance=0
    )
    found = learn(answers(bank, 300, 1), bank, options=options)
    gates = [item.gate for item in found.bank.items]
    density = sum(log_density(g, ALL_PRIORS) for g in gates if isinstance(g, Logistic))
    expected = found.log_likelihood + density
    assert found.record.objectives[-1] == pytest.approx(expected, abs=1e-8)
    assert np.diff(found.record.objectives).min() >= 0


@settings(max_examples=examples(25), deadline=None)
@given(st.sampled_from(sorted(MODELS)), st.integers(0, 999), st.booleans())
def test_the_m_step_is_the_optimum(name: str, seed: int, has_priors: bool) -> None:
    rng = np.random.default_rng(seed)
    # The asymptotes of a 4PL hardly show in few counts.
    block = block_of(name, ALL_PRIORS if has_priors or name == "4PL" else Priors())
    form, x = block.form, block.rows(block.draw(rng))
    truth = form.table(block.rows(block.start()))
    per_configuration = rng.uniform(5, 40, (*truth.shape[:2], 1))
    counts = truth * per_configuration * rng.uniform(0.7, 1.3, truth.shape)
    found = ascended(form, x, counts)
    assert form.polytope.holds(found, tolerance=1e-8).all()
    low, high = np.moveaxis(block.limits.reshape(*x.shape, 2), -1, 0)
    for item in range(len(x)):

        def value(at: Floats, item: int = item) -> float:
            rows = found.copy()
            rows[item] = at
            return -float(np.nan_to_num(objective(form, rows, counts)[0][item], neginf=-1e12))

        bounds = list(zip(low[item], high[item], strict=True))
        best = minimize(value, found[item], method="L-BFGS-B", bounds=bounds)
        assert -value(found[item]) >= -best.fun - 1e-4


@pytest.mark.parametrize(("n_examinees", "n_items", "seed"), [(451, 95, 1), (272, 57, 2)])
def test_the_2pl_ends_where_newton_em_ends(n_examinees: int, n_items: int, seed: int) -> None:
    drawn = drawn_responses(n_examinees, n_items, seed)
    grid = AbilityGrid.normal()
    twin = newton_em(drawn, np.array(grid.points), np.array(grid.weights))
    options = LearningOptions(fixed=frozenset({"ability"}))
    found = learn(drawn, irt_bank([Logistic()] * n_items), options=options)
    assert found.record.converged
    assert found.log_likelihood == pytest.approx(twin.log_likelihood, abs=1e-5)
    gates = [item.gate for item in found.bank.items]
    slopes = [gate.slope for gate in gates if isinstance(gate, Logistic)]
    np.testing.assert_allclose(slopes, twin.slopes, atol=1e-4)
    assert found.n_parameters == 2 * n_items


# Direct maximization of the marginal likelihood, with chances written anew.


def chances(name: str, x: Floats) -> Floats:
    """Return ``(abilities, responses)`` given a slope, or slopes, and intercepts."""
    n = len(x) // 2 if name == "nominal" else len(x) - 1
    if name == "graded response":
        above = expit(x[0] * POINTS[:, None] + np.sort(x[1:])[::-1])
        edges = np.ones((len(POINTS), 1))
        differences: Floats = -np.diff(np.hstack([edges, above, 0 * edges]), axis=1)
        return differences
    if name == "nominal":
        weights = POINTS[:, None] * np.r_[0, x[:n]] + np.r_[0, x[n:]]
    else:
        steps = x[0] * POINTS[:, None] + x[1:]
        weights = np.cumsum(np.hstack([np.zeros((len(POINTS), 1)), steps]), axis=1)
    odds = np.exp(weights)
    shares: Floats = odds / odds.sum(axis=1, keepdims=True)
    return shares


@pytest.mark.parametrize(
    ("name", "start", "n_parameters"),
    [
        ("graded response", GradedResponse(1.0, (-1.0, 0.0, 1.0)), 4),
        ("partial credit", PartialCredit(1.0, (-1.0, 0.0, 1.0)), 4),
        ("nominal", Nominal((0.5, 1.0), (0.0, 0.0)), 4),
    ],
)
def test_curves_of_many_responses_end_where_direct_search_ends(
    name: str, start: ResponseModel, n_parameters: int
) -> None:
    truth = bank_of(MODELS[name] * 2)
    responses = answers(truth, 300, 5)
    found = learn(responses, irt_bank([start] * 4, GRID), options=FIXED)
    assert found.n_parameters == 4 * n_parameters

    def value(x: Floats) -> float:
        like = np.tile(WEIGHTS, (len(responses), 1))
        for row, codes in zip(x.reshape(4, -1), responses.codes.T, strict=True):
            like *= np.maximum(chances(name, row), 1e-12).T[codes]
        return -float(np.log(like.sum(axis=1)).sum())

    x = np.concatenate(found.parameters.items)
    assert -value(x) == pytest.approx(found.log_likelihood, abs=1e-6)
    best = minimize(value, x, method="BFGS", options={"maxiter": 15})
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-3)


@pytest.mark.parametrize("name", ["graded response", "partial credit", "nominal"])
def test_curves_are_recovered(name: str) -> None:
    truth = irt_bank(MODELS[name] * 4)
    starts: dict[str, ResponseModel] = {
        "graded response": GradedResponse(1.0, (-1.0, 0.0, 1.0)),
        "partial credit": PartialCredit(1.0, (-1.0, 0.0, 1.0)),
        "nominal": Nominal((0.5, 1.0), (0.0, 0.0)),
    }
    start = irt_bank([starts[name]] * 8)
    options = LearningOptions(fixed=frozenset({"ability"}))
    found = learn(answers(truth, 4000, 3), start, options=options).bank
    for item in truth.item_names:
        inside = slice(20, 61)  # abilities from -2.5 to 2.5
        off = np.abs(found.channel(item) - truth.channel(item))[inside]
        assert off.max() < 0.08
        assert off.mean() < 0.02


def test_the_rasch_model_learns_the_deviation_of_the_ability() -> None:
    wide = AbilityGrid.normal(deviation=1.5, n_points=61, reach=4)
    truth = irt_bank([PartialCredit(1.0, (b, b + 1)) for b in (-1.0, 0.0, 1.0)] * 2, wide)
    start = irt_bank([PartialCredit(1.0, (0.0, 0.0))] * 6, AbilityGrid.normal(n_points=61, reach=6))
    responses = answers(truth, 3000, 2)
    options = LearningOptions(
        scaled=frozenset({"ability"}), bounds=Bounds(slope=(1, 1)), tolerance=1e-9
    )
    found = learn(responses, start, options=options)
    assert found.n_parameters == 6 * 2 + 1
    points = np.linspace(-6, 6, 61)
    deviation = float(np.sqrt(found.profiles @ points**2))
    assert deviation == pytest.approx(1.5, abs=0.06)
    np.testing.assert_allclose(
        found.profiles / found.profiles.max(), np.exp(-(points**2) / (2 * deviation**2)), atol=1e-3
    )
    # The same model with one free deviation less: every other deviation is less likely.
    for factor in (0.97, 1.03):
        spread = deviation * factor
        grid = AbilityGrid.normal(deviation=spread, n_points=61, reach=6 / spread)
        fixed = LearningOptions(fixed=frozenset({"ability"}), bounds=Bounds(slope=(1, 1)))
        other = learn(
            responses, irt_bank([PartialCredit(1.0, (0.0, 0.0))] * 6, grid), options=fixed
        )
        assert other.log_likelihood < found.log_likelihood - 0.1
    errors = coefficients(found)
    assert np.isfinite([p.error for p in errors.rows if p.name != "slope"]).all()


def test_items_of_several_kinds_are_learned_together() -> None:
    models = [
        m
        for name in ("2PL", "3PL", "graded response", "partial credit", "nominal")
        for m in MODELS[name]
    ]
    truth = irt_bank(models, GRID)
    found = learn(answers(truth, 800, 1), truth, options=FIXED)
    assert [type(item.gate) for item in found.bank.items] == [type(model) for model in models]
    assert found.n_parameters == 3 * 2 + 3 * 3 + 2 * 4 + 2 * 4 + 2 * 4
    assert np.diff(found.record.log_likelihoods).min() >= -1e-7


def test_a_prior_of_the_guess_keeps_the_3pl_near_it() -> None:
    drawn = drawn_responses(300, 12, 4)
    start = irt_bank([Logistic(lower=0.2)] * 12)
    options = LearningOptions(fixed=frozenset({"ability"}), priors=Priors(guess=(200, 800)))
    found = learn(drawn, start, options=options)
    gates = [item.gate for item in found.bank.items]
    lowers = [gate.lower for gate in gates if isinstance(gate, Logistic)]
    assert found.n_parameters == 36
    np.testing.assert_allclose(lowers, 199 / 998, atol=0.03)


def test_an_item_that_everybody_answers_right_has_no_standard_errors() -> None:
    codes = np.array(Responses.drawn(irt_bank([Logistic()] * 4, GRID), 200, seed=1).codes)
    codes[:, 1] = 1
    found = coefficients(learn_irt(codes, IRT_MODELS["2PL"]))
    assert all(np.isnan(row.error) for row in found.of("item_2").values())
    assert not any(np.isnan(row.error) for row in found.of("item_1").values())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Priors(slope=(0.0, 0.0)),
            "slope to be 2 values, a finite number and a finite number above 0",
        ),
        (
            lambda: LearningOptions(fixed=frozenset({"x"}), scaled=frozenset({"x"})),
            "expected x to be fixed, scaled or moved, got two of them",
        ),
    ],
)
def test_wrong_options_are_refused(make: object, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        make()  # type: ignore[operator]


def test_only_abilities_can_be_scaled() -> None:
    bank = irt_bank([Logistic()] * 2, GRID)
    with pytest.raises(UnknownNameError, match="talent"):
        learn([[0, 1], [1, 0]], bank, options=LearningOptions(scaled=frozenset({"talent"})))
    two = ItemBank.from_qmatrix([[1, 0], [1, 1]])
    with pytest.raises(InvalidModelError, match="without parents"):
        learn([[0, 1], [1, 0]], two, options=LearningOptions(scaled=frozenset({"skill_2"})))
