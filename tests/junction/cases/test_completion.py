"""Joint completions of tables of cases against one explanation a row, and against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

import bnmind
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.junction import compile_explanation, complete, impute, log_likelihood, sample_missing
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from tests.junction.cases.test_predict import GARDEN, RAIN, WET, tables
from tests.modes import examples

ALONE = "bnmind.junction.case_solver._MOST_CELLS"
PATTERNS = "bnmind.junction.case_solver.MOST_PLANS"


@pytest.mark.parametrize("alone", [False, True], ids=["together", "alone"])
@pytest.mark.parametrize("patterns", [0, 8])
@settings(max_examples=examples(8))
@given(made=tables())
def test_a_completion_is_as_probable_as_the_explanation_of_the_row(
    made: tuple[Network, pd.DataFrame], patterns: int, alone: bool
) -> None:
    network, frame = made
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PATTERNS, patterns)
        if alone:
            patch.setattr(ALONE, -1)
        answers = complete(network, frame)
        drawn = sample_missing(network, frame, rng=np.random.default_rng(1), draws=2)
    filled = answers.frame
    assert set(filled.columns) == {v.name for v in network.variables}
    logs = log_likelihood(network, filled.dropna()).to_series()
    assert drawn.impossible == answers.impossible
    impossible = log_likelihood(network, drawn.frame.dropna()).impossible
    assert set(impossible) <= set(drawn.impossible)
    for number, row in enumerate(frame.to_dict("records")):
        cells = {str(name): state for name, state in row.items() if pd.notna(state)}
        for given_cells in (
            filled.iloc[number],
            *(drawn.frame.iloc[2 * number + i] for i in (0, 1)),
        ):
            assert all(given_cells[name] == state for name, state in cells.items())
        try:
            best = compile_explanation(network, evidence=cells).run(cells)
        except ImpossibleEvidenceError:
            assert number in answers.impossible
            continue
        assert number not in answers.impossible
        assert logs[number] == pytest.approx(best.log_probability, abs=1e-9)


def test_single_cells_and_the_whole_row_are_filled_differently() -> None:
    first, second = (Variable(name, ("a", "b", "c")) for name in ("first", "second"))
    network = Network(
        (
            TabularCPD(first, (), np.array([0.4, 0.3, 0.3])),
            TabularCPD(
                second, (first,), np.array([[0.5, 0.0, 0.1], [0.5, 0.1, 0.0], [0, 0.9, 0.9]])
            ),
        )
    )
    cases = pd.DataFrame({"first": [None, "a"], "second": [None, "b"]}, dtype="str")
    assert impute(network, cases).frame.to_dict("list") == {
        "first": ["a", "a"],
        "second": ["c", "b"],
    }
    assert complete(network, cases).frame.to_dict("list") == {
        "first": ["b", "a"],
        "second": ["c", "b"],
    }


@pytest.mark.parametrize("alone", [False, True], ids=["together", "alone"])
def test_draws_have_the_joint_distribution_of_their_row(
    alone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if alone:
        monkeypatch.setattr(ALONE, -1)
    cases = pd.DataFrame({"wet": ["damp", None], "id": [8, 9]}, index=["x", "y"])
    n = 4000
    rng = np.random.default_rng(3)
    found = sample_missing(GARDEN, cases, rng=rng, draws=n).frame
    assert list(found.columns) == ["wet", "id", "rain"]
    assert found["id"].tolist() == [8] * n + [9] * n
    assert found.index.tolist() == ["x"] * n + ["y"] * n
    assert found.loc["x"]["wet"].unique().tolist() == ["damp"]
    for label, findings in (("x", {"wet": "damp"}), ("y", {})):
        joint = bnmind.posterior(GARDEN, findings, [("rain", "wet")] if not findings else ["rain"])
        rows = found.loc[label]
        p = joint["rain"]["yes"]
        seen = float((rows["rain"] == "yes").mean())
        assert abs(seen - p) < 5 * math.sqrt(p * (1 - p) / n)
    y = found.loc["y"]
    p = 0.2 * 0.6
    seen = float(((y["rain"] == "yes") & (y["wet"] == "yes")).mean())
    assert abs(seen - p) < 5 * math.sqrt(p * (1 - p) / n)
    assert not ((y["rain"] == "yes") & (y["wet"] == "no")).any()


def test_equal_generators_give_equal_draws() -> None:
    cases = pd.DataFrame({"wet": ["damp", None, "no"]})
    first, second = (
        sample_missing(GARDEN, cases, rng=np.random.default_rng(5), draws=9).frame for _ in range(2)
    )
    assert first.equals(second)
    with pytest.raises(InvalidArgumentError, match="at least 1"):
        sample_missing(GARDEN, cases, rng=np.random.default_rng(5), draws=0)


def test_tiny_probabilities_are_drawn_exactly() -> None:
    # The product of a row underflows, and the ratio of the two states must survive.
    cause = Variable("cause", ("no", "yes"))
    signs = [Variable(f"sign{i}", ("no", "yes")) for i in range(4)]
    tiny = 1e-120
    network = Network(
        (
            TabularCPD(cause, (), np.array([0.5, 0.5])),
            *(
                TabularCPD(sign, (cause,), np.array([[1 - tiny, 1 - tiny], [tiny, tiny]]))
                for sign in signs
            ),
        )
    )
    cases = pd.DataFrame({sign.name: ["yes"] for sign in signs})
    drawn = sample_missing(network, cases, rng=np.random.default_rng(2), draws=400)
    assert drawn.impossible == ()
    assert 140 < (drawn.frame["cause"] == "yes").sum() < 260


def test_impossible_rows_keep_their_missing_cells() -> None:
    cases = pd.DataFrame({"rain": ["yes", None], "wet": ["no", "yes"], "other": [1, 2]})
    for answers in (
        complete(GARDEN, cases),
        sample_missing(GARDEN, cases, rng=np.random.default_rng(1)),
    ):
        assert answers.impossible == (0,)
        assert answers.frame["rain"].tolist() == ["yes", "yes"]
        assert answers.frame["other"].tolist() == [1, 2]
    empty = cases.iloc[:0]
    assert len(complete(GARDEN, empty).frame) == 0


def test_other_columns_with_equal_labels_are_kept() -> None:
    cases = pd.DataFrame([[1, "yes", 2], [3, "no", 4]], columns=["note", "rain", "note"])
    for answers in (
        complete(GARDEN, cases),
        sample_missing(GARDEN, cases, rng=np.random.default_rng(1)),
    ):
        assert answers.frame.columns.tolist() == ["note", "rain", "note", "wet"]
        assert answers.frame.iloc[:, [0, 2]].to_numpy().tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("small", [1.0, 1e-200])
def test_large_numbers_of_factors_do_not_overflow(small: float) -> None:
    a, b = Variable("a", ("no", "yes")), Variable("b", ("no", "yes"))
    huge = Factor((a, b), np.array([[1e200, small], [1.0, 1e200]]))
    model = FactorModel((huge, Factor((a,), np.array([1e200, 1e200]))))
    cases = pd.DataFrame({"b": ["no", "yes"]})
    drawn = sample_missing(model, cases, rng=np.random.default_rng(1))
    assert drawn.impossible == ()
    assert drawn.frame["a"].tolist() == ["no", "yes"]


@pytest.mark.parametrize("weights", [1, 5])
def test_rows_are_filled_in_parts_without_a_trace(
    weights: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = pd.DataFrame({"wet": ["damp", None, "no", None, None], "rain": [None] * 5})
    filled = complete(GARDEN, cases).frame
    drawn = sample_missing(GARDEN, cases, rng=np.random.default_rng(5), draws=7).frame
    monkeypatch.setattr("bnmind.junction.walk.CHUNK", weights)
    assert complete(GARDEN, cases).frame.equals(filled)
    monkeypatch.setattr(PATTERNS, 0)
    assert complete(GARDEN, cases).frame.equals(filled)
    monkeypatch.undo()
    monkeypatch.setattr("bnmind.junction.walk.CHUNK", weights)
    again = sample_missing(GARDEN, cases, rng=np.random.default_rng(5), draws=7).frame
    assert again.equals(drawn)


def test_more_states_than_fit_are_refused_before_any_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bnmind.junction.case_answers.MOST_STATES", 12)
    frame = pd.DataFrame({"rain": ["no", "yes", None]})
    rng = np.random.default_rng(0)
    assert len(sample_missing(GARDEN, frame, rng=rng, draws=2).frame) == 6
    with pytest.raises(TooLargeError) as caught:
        sample_missing(GARDEN, frame, rng=rng, draws=3)
    assert str(caught.value) == (
        "expected at most 12 states to draw at a time, got 18; draw fewer, or pass fewer rows"
    )
    assert (caught.value.needed, caught.value.budget) == (18, 12)


def test_progress_counts_the_rows_that_are_completed() -> None:
    told: list[tuple[int, int | None]] = []
    frame = pd.DataFrame({"rain": ["no", "yes", None]})
    complete(GARDEN, frame, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)


def test_categories_are_extended_by_the_states_that_are_filled_in() -> None:
    kind = pd.CategoricalDtype(["yes", "odd", "no"], ordered=True)
    damp = pd.Series(["yes", None, "no"], dtype=kind)
    frame = pd.DataFrame({"rain": ["yes", "yes", "no"], "wet": damp})
    # In rain, damp is less probable than yes; without it, no is the most probable.
    filled = complete(GARDEN, frame).frame["wet"]
    assert filled.tolist() == ["yes", "yes", "no"]
    assert filled.dtype == kind
    sure = TabularCPD(WET, (RAIN,), np.array([[0.9, 0.0], [0.1, 1.0], [0.0, 0.0]]))
    damp[0] = None
    filled = complete(Network((GARDEN.cpds[0], sure)), frame.assign(wet=damp)).frame["wet"]
    assert filled.tolist() == ["damp", "damp", "no"]
    assert filled.dtype == pd.CategoricalDtype(["yes", "odd", "no", "damp"], ordered=True)
