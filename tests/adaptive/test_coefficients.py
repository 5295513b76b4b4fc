"""The parameters of items in the words of their models, with standard errors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from bnmind.adaptive import (
    IRT_MODELS,
    RESPONSE_MODELS,
    Bounds,
    Dina,
    Gdina,
    ItemBank,
    Learned,
    LearningOptions,
    Nida,
    Priors,
    Responses,
    Saturated,
    Sequential,
    coefficients,
    learn,
    learn_irt,
    start_belief,
)
from bnmind.adaptive.formulas import LOG, LOGIT
from bnmind.information import Floats
from tests.data_sets import data_set

Q = [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]]
PROFILES = np.array(list(product((0, 1), repeat=2)))
ONE = LearningOptions(starts=1, tolerance=1e-5)
EXACT = LearningOptions(starts=1, tolerance=1e-10)


def numbers_of_the_model(n: int, gate: type[Dina] | type[Gdina]) -> Responses:
    """Return responses whose shares are those that the model expects."""
    bank = ItemBank.from_qmatrix(Q, 0.2, 0.15, gate=gate, skills=Saturated([0.3, 0.2, 0.15, 0.35]))
    rows = np.array(list(product((0, 1), repeat=5)))
    chances = np.zeros((5, 4))
    for item, needs in enumerate(Q):
        table = bank.channel(f"item_{item + 1}")[:, 1]
        places = [
            int("".join(str(a) for a, q in zip(p, needs, strict=True) if q), 2) for p in PROFILES
        ]
        chances[item] = table[places]
    likely = np.prod(np.where(rows[..., None] == 1, chances, 1 - chances), axis=1)
    counts = np.rint(n * likely @ [0.3, 0.2, 0.15, 0.35]).astype(int)
    return Responses.of(np.repeat(rows, counts, axis=0), items=bank.item_names)


def hessian(function: Callable[[Floats], float], x: Floats, step: float = 1e-4) -> Floats:
    """Return the second derivatives by central differences."""
    n = len(x)
    found = np.zeros((n, n))
    for a in range(n):
        for b in range(n):
            for up, across in product((1, -1), repeat=2):
                moved = x.copy()
                moved[a] += up * step
                moved[b] += across * step
                found[a, b] += up * across * function(moved) / (4 * step**2)
    return found


def test_errors_are_those_of_a_numerical_hessian_of_the_marginal_likelihood() -> None:
    learned = learn(numbers_of_the_model(100_000, Gdina), Q, gate=Gdina, options=EXACT)
    found = coefficients(learned)
    rows, inverse, _ = learned.responses.patterns
    counts = np.bincount(inverse, minlength=len(rows))
    x = np.array([row.value for row in found.rows])

    def log_likelihood(numbers: Floats) -> float:
        shares = np.append(numbers[12:], 1 - numbers[12:].sum())
        chances = np.zeros((5, 4))
        end = 0
        for item, needs in enumerate(Q):
            size = 2 ** sum(needs)
            delta = numbers[end : end + size]
            end += size
            for c, profile in enumerate(PROFILES):
                has = [a for a, q in zip(profile, needs, strict=True) if q]
                terms = [1.0, *has] if len(has) == 1 else [1.0, *has, has[0] * has[1]]
                chances[item, c] = np.dot(delta, terms)
        likely = np.prod(np.where(rows[..., None] == 1, chances, 1 - chances), axis=1)
        return float(counts @ np.log(likely @ shares))

    everything = np.concatenate([x, learned.profiles.reshape(-1)[:3]])
    assert log_likelihood(everything) == pytest.approx(learned.log_likelihood)
    covariance = np.linalg.inv(-hessian(log_likelihood, everything))
    twin = np.sqrt(np.diag(covariance))[: len(x)]
    np.testing.assert_allclose([row.error for row in found.rows], twin, rtol=0.01)
    for number in (8, 11):
        row = found.rows[number]
        assert (row.item, row.name) == (
            "item_5",
            "intercept" if number == 8 else "effect of skill_1 × skill_2",
        )


def test_effects_add_up_to_the_chances_on_every_link() -> None:
    learned = learn(numbers_of_the_model(2000, Dina), Q, gate=Gdina, options=ONE)
    chance = learned.bank.channel("item_5")[:, 1]
    for link in (LOGIT, LOG):
        rows = coefficients(learned, link=link).of("item_5")
        total = sum(row.value for row in rows.values())
        assert link.chance(np.array([total]))[0] == pytest.approx(chance[-1])
        first = rows["intercept"].value + rows["effect of skill_1"].value
        assert link.chance(np.array([first]))[0] == pytest.approx(chance[2])


SMALL = Responses.drawn(ItemBank.from_qmatrix(Q, 0.2, 0.15), 300, seed=2).codes


@pytest.mark.parametrize(
    "gate", [name for name, known in RESPONSE_MODELS.items() if known.from_qmatrix]
)
def test_every_model_has_its_own_words_and_guesses_and_slips(gate: str) -> None:
    learned = learn(SMALL, Q, gate=RESPONSE_MODELS[gate].make, options=ONE)
    found = coefficients(learned)
    assert {row.item for row in found.rows} == set(learned.bank.item_names)
    assert all(np.isfinite(row.error) or row.note for row in (*found.rows, *found.chances))
    assert len(found.chances) == 10
    for known, guess, slip in zip(
        learned.items, found.chances[::2], found.chances[1::2], strict=True
    ):
        assert (guess.value, slip.value) == (known.guess, known.slip)
        assert (guess.name, slip.name) == ("guess", "slip")
    frame = found.to_frame()
    assert list(frame.columns) == ["item", "model", "parameter", "value", "error", "note"]
    assert len(frame) == len(found.rows)


def test_the_words_are_those_of_the_models() -> None:
    def names(learned: Learned, item: str = "item_5") -> list[str]:
        return list(coefficients(learned).of(item))

    dina = learn(SMALL, Q, options=ONE)
    assert names(dina) == ["guess", "slip"]
    assert {row.model for row in coefficients(dina).rows} == {"dina"}
    nida = ["guess of skill_1", "guess of skill_2", "slip of skill_1", "slip of skill_2"]
    assert names(learn(SMALL, Q, gate=Nida, options=ONE)) == nida
    assert names(learn_irt(SMALL, IRT_MODELS["2PL"])) == ["slope", "difficulty"]
    graded = np.column_stack([SMALL[:, 0] + SMALL[:, 1], SMALL[:, 1] + SMALL[:, 2], SMALL[:, 3:]])
    found = learn_irt(graded, IRT_MODELS["graded"])
    assert names(found, "item_1") == ["slope", "threshold 1", "threshold 2"]
    q = [[1, 0], [1, 1], [0, 1], [1, 1]]
    steps = names(learn(graded, q, gate=Sequential, options=ONE), "item_1")
    assert steps[0] == "step 1: intercept"
    assert len(steps) == 4


def test_a_parameter_without_an_error_says_why() -> None:
    options = LearningOptions(
        starts=1, bounds={"item_1": Bounds((0.2, 0.2))}, fixed=frozenset(["item_2"])
    )
    found = coefficients(learn(SMALL, Q, options=options))
    assert found.of("item_1")["guess"].note == "fixed"
    assert np.isnan(found.of("item_1")["guess"].error)
    assert found.of("item_1")["slip"].error > 0
    assert {row.note for row in found.of("item_2").values()} == {"fixed"}
    constant = SMALL.copy()
    constant[:, 0] = 1
    found = coefficients(learn(constant, Q, options=LearningOptions(starts=1)))
    assert found.of("item_1")["slip"].note == "at a bound"
    rasch = coefficients(learn_irt(SMALL, IRT_MODELS["rasch"]))
    assert rasch.of("item_1")["slope"].note == "fixed"
    assert rasch.of("item_1")["difficulty"].error > 0


def test_fewer_patterns_than_parameters_give_errors_item_by_item() -> None:
    q = Q * 8
    bank = ItemBank.from_qmatrix(q, 0.2, 0.15)
    few = learn(Responses.drawn(bank, 60, seed=1).codes, q, options=ONE)
    found = coefficients(few)
    assert found.item_by_item
    assert sum(np.isfinite(row.error) for row in found.rows) > 60
    row = found.of("item_1")["guess"]
    table = start_belief(few.bank).marginal("skill_1")
    # The profiles are nearly known, so the error is that of a share.
    expected = np.sqrt(row.value * (1 - row.value) / (60 * table[0]))
    assert row.error == pytest.approx(expected, rel=0.25)
    assert not coefficients(learn(SMALL, Q, options=ONE)).item_by_item


def test_priors_make_surer() -> None:
    free = LearningOptions(priors=Priors(guess=(1.001, 1.001)))
    sure = LearningOptions(priors=Priors(guess=(500, 1700)))
    errors = [
        coefficients(learn_irt(SMALL, IRT_MODELS["3PL"], options=options)).of("item_1")
        for options in (free, sure)
    ]
    mode = 499 / 2198  # the prior alone
    assert errors[1]["lower"].error == pytest.approx(np.sqrt(mode * (1 - mode) / 2198), rel=0.05)
    flat, prior = (
        coefficients(learn(SMALL, Q, options=LearningOptions(starts=1, priors=priors)))
        for priors in (Priors(), Priors(guess=(200, 800)))
    )
    assert prior.of("item_1")["guess"].error < 0.5 * flat.of("item_1")["guess"].error


def test_lsat_6_has_the_errors_of_ltm() -> None:
    """Parameters and errors by the Hessian: D. Rizopoulos, J. Stat. Softw. 2006, section 3.1."""
    responses = Responses.from_csv(data_set("lsat6") / "responses.csv")
    found = coefficients(learn_irt(responses, IRT_MODELS["2PL"]))
    published = {
        "Item_1": (-3.3597, 0.8669, 0.8254, 0.2581),
        "Item_2": (-1.3696, 0.3073, 0.7229, 0.1867),
        "Item_3": (-0.2799, 0.0997, 0.8905, 0.2326),
        "Item_4": (-1.8659, 0.4341, 0.6886, 0.1852),
        "Item_5": (-3.1236, 0.8700, 0.6575, 0.2100),
    }
    for item, (difficulty, of_difficulty, slope, of_slope) in published.items():
        rows = found.of(item)
        assert rows["difficulty"].value == pytest.approx(difficulty, abs=0.01)
        assert rows["slope"].value == pytest.approx(slope, abs=0.002)
        # Those here are by the outer product of the scores.
        assert rows["difficulty"].error == pytest.approx(of_difficulty, rel=0.05)
        assert rows["slope"].error == pytest.approx(of_slope, rel=0.05)


def test_steps_have_a_guess_and_a_slip_even_where_more_skill_lowers_the_chance() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (60, 4))
    q = [[1, 1], [1, 0], [0, 1], [1, 1]]
    once = LearningOptions(starts=1)
    found = coefficients(learn(codes, q, gate=Sequential.of(Dina), options=once))
    names = [f"step {step}: {what}" for step in (1, 2) for what in ("guess", "slip")]
    assert all(list(found.of(f"item_{n}")) == names for n in (1, 2, 3, 4))
