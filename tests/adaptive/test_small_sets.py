"""Every model is learned where a plain search ends, from responses that come with the tests."""

from __future__ import annotations

import pytest

from bnmind.adaptive import (
    IRT_MODELS,
    RESPONSE_MODELS,
    Graded,
    ItemBank,
    Learned,
    Responses,
    learn,
    learn_irt,
)
from tests.plain_sets import FOLDER, Q, known_objectives, plain_search, read_codes

OBJECTIVES = known_objectives()


def learned(name: str) -> Learned:
    """Return what is learned from the responses for a model."""
    responses = Responses.from_csv(FOLDER / f"{name}.csv")
    model = name.removeprefix("ability-")
    if model != name:
        return learn_irt(responses, IRT_MODELS[model])
    if name == "graded":
        start = [Graded((1.0,) * row.sum(), (0.5, 1.5)) for row in Q]
        return learn(responses, ItemBank.from_response_models(Q, start))
    return learn(responses, Q, gate=RESPONSE_MODELS[name].make)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_learning_ends_where_a_plain_search_ends(name: str) -> None:
    found = learned(name)
    assert found.record.converged
    assert found.record.objectives[-1] == pytest.approx(OBJECTIVES[name], abs=2e-3)


def test_every_model_that_is_learned_has_its_responses() -> None:
    from_qmatrix = {name for name, model in RESPONSE_MODELS.items() if model.from_qmatrix}
    # 1PL is another name of the Rasch model.
    curves = {f"ability-{name}" for name in IRT_MODELS if name != "1PL"}
    assert set(OBJECTIVES) == from_qmatrix | {"graded"} | curves
    assert {path.stem for path in FOLDER.glob("*.csv")} == set(OBJECTIVES)


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_search_still_ends_there(name: str) -> None:
    found = plain_search(name, read_codes(name)).objective
    assert found == pytest.approx(OBJECTIVES[name], abs=1e-3)
