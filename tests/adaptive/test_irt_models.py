"""Models of one ability by their names: what is learned, how many parameters, published fits."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.adaptive import (
    IRT_MODELS,
    Bounds,
    Design,
    Examinees,
    GradedResponse,
    ItemBank,
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
    irt_options,
    irt_start,
    learn_irt,
    simulate,
)
from bnmind.adaptive.learning.irt import IRT_GRID
from bnmind.errors import InvalidModelError, ResponseTableError
from tests.data_sets import data_set
from tests.newton_em import drawn_responses, newton_em

RIGHT = drawn_responses(300, 8, 7)
STEPS = irt_bank([PartialCredit(1.0 + 0.1 * i, (i / 4 - 1, i / 4)) for i in range(6)])
GRADES = np.array(Examinees.drawn(STEPS, 400, seed=2).responses)

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
    with pytest.raises(ResponseTableError, match=r"no response is 0; .* so subtract 1 from each"):
        irt_start(GRADES + 1, IRT_MODELS["graded"])


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
    people = Examinees.drawn(bank, 20, seed=1)
    result = simulate(bank, people, {"entropy": MinimalEntropy()}, MaximalItems(3))
    assert result is not None


def test_a_model_of_right_and_wrong_refuses_grades() -> None:
    with pytest.raises(InvalidModelError, match=r"item_1 has 3 responses.*graded, pcm, gpcm"):
        irt_start(GRADES, IRT_MODELS["2PL"])


def test_options_are_kept() -> None:
    model = IRT_MODELS["3PL"]
    start = irt_start(RIGHT, model)
    assert irt_options(model, start).priors.guess == (5.0, 17.0)
    asked = LearningOptions(priors=Priors(guess=(2.0, 2.0)), bounds={"item_1": Bounds((0, 0.3))})
    assert irt_options(model, start, asked).priors == asked.priors
    equal = irt_options(IRT_MODELS["rasch"], start, asked)
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
        assert irt_options(None, bank, asked) == irt_options(IRT_MODELS[name], bank, asked)
    with pytest.raises(InvalidModelError, match="expected a bank of curves of one ability"):
        irt_options(None, ItemBank.from_qmatrix([[1]]))
