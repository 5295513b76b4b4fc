"""What users do first with the result of `learn`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bnmind.adaptive import (
    IRT_MODELS,
    Gdina,
    ItemBank,
    LearningOptions,
    MaximalItems,
    MinimalEntropy,
    NoisyOr,
    Responses,
    calibrate_items,
    classify,
    coefficients,
    item_drift,
    learn,
    learn_irt,
    read_bank,
    simulate,
    start_belief,
    write_bank,
)
from bnmind.errors import InvalidArgumentError, TooLargeError

Q = [[1, 0], [0, 1], [1, 1], [1, 0]]
CODES = Responses.drawn(ItemBank.from_qmatrix(Q, 0.2, 0.1), 300, seed=1).codes
ONE = LearningOptions(starts=1, tolerance=1e-5)
DINA = learn(CODES, Q, options=ONE)


def test_what_was_learned_stands_for_its_bank(tmp_path: Path) -> None:
    bank, path = DINA.bank, tmp_path / "bank.json"
    assert classify(DINA, CODES).expected.tolist() == classify(bank, CODES).expected.tolist()
    assert start_belief(DINA).bank is bank
    people = Responses.drawn(DINA, 20, seed=2)
    assert np.array_equal(people.codes, Responses.drawn(bank, 20, seed=2).codes)
    found = simulate(DINA, people, {"entropy": MinimalEntropy()}, MaximalItems(2))
    assert found.runs[0].lengths.tolist() == [2] * 20
    assert len(Responses.of(CODES).for_bank(bank)) == 300
    assert calibrate_items(DINA, CODES, ["item_1"]).items[0].item == "item_1"
    assert len(item_drift(DINA, CODES, rng=np.random.default_rng(1))) == 4
    write_bank(DINA, path)
    assert read_bank(path).channel("item_1").tolist() == bank.channel("item_1").tolist()
    with pytest.raises(InvalidArgumentError, match=r"a HasBank such as learn\(responses, q_m"):
        classify(Q, CODES)  # type: ignore[arg-type]


def test_the_first_table_has_guess_slip_and_their_standard_errors() -> None:
    frame = DINA.to_frame().set_index("item")
    assert [*frame.columns] == ["model", "guess", "guess_error", "slip", "slip_error"]
    errors = coefficients(DINA)
    for item in DINA.items:
        row = frame.loc[item.name]
        assert (row["model"], row["guess"]) == ("dina", pytest.approx(item.guess))
        assert row["slip"] == pytest.approx(item.slip)
        assert row["slip_error"] == pytest.approx(errors.of(item.name)["slip"].error, nan_ok=True)


def test_the_table_has_the_parameters_of_each_model() -> None:
    found = learn(CODES, Q, gate=Gdina, options=ONE)
    frame = found.to_frame().set_index("item")
    known = coefficients(found).of("item_3")["effect of skill_1 × skill_2"]
    assert frame.loc["item_3", known.name] == known.value
    assert frame.loc["item_3", f"{known.name}_error"] == pytest.approx(known.error, nan_ok=True)
    assert frame[known.name].isna().tolist() == [True, True, False, True]
    assert frame["guess"].tolist() == [item.guess for item in found.items]
    noisy = learn(CODES, Q, gate=NoisyOr, options=ONE)
    own = coefficients(noisy).of("item_3")["guess"].value
    assert noisy.to_frame()["guess"][2] == own != noisy.items[2].guess
    curves = learn_irt(CODES, IRT_MODELS["2PL"], options=ONE).to_frame()
    assert [*curves.columns[2:]] == ["slope", "slope_error", "difficulty", "difficulty_error"]


def test_the_summary_shows_itself() -> None:
    lines = str(DINA.summary()).splitlines()
    assert lines[0] == "300 examinees, 4 items, 2 skills; 0 responses missing."
    assert lines[1].startswith(f"Log-likelihood {DINA.log_likelihood:.2f}, 11 parameters, AIC ")
    assert lines[3].split() == ["item", "guess", "error", "slip", "error"]
    row = DINA.to_frame().iloc[0, 2:].astype(float)
    assert lines[4].split() == ["item_1", *(f"{value:.3f}" for value in row)]
    assert any(line.split() == ["skill", "highest", "level"] for line in lines)
    assert lines[-1].startswith("  More skill may lower the chance of success")
    assert repr(DINA.summary()).splitlines()[:-1] == lines[:3]
    assert "<pre>300 examinees" in DINA.summary()._repr_html_()
    ability = str(learn_irt(CODES, IRT_MODELS["2PL"], options=ONE).summary())
    assert "ability: mean 0.000, standard deviation 1.000 (fixed)." in ability


def test_with_too_many_profiles_the_summary_has_no_standard_errors() -> None:
    found = learn(CODES, Q, options=LearningOptions(starts=1, tolerance=1e-5, max_profiles=2))
    with pytest.raises(TooLargeError):
        found.to_frame()
    lines = str(found.summary()).splitlines()
    assert lines[3].split() == ["item", "guess", "slip"]
    assert "No standard errors: expected at most 2 profiles, got 4." in lines
