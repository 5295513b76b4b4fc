"""What simulations showed: data frames that say what the arrays hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bnmind.adaptive import (
    MISSING,
    ItemBank,
    MaximalItems,
    MinimalEntropy,
    ProfileCertain,
    RandomItem,
    Responses,
    Selector,
    SimulationOptions,
    replay,
    simulate,
)
from bnmind.adaptive.responses import fold_numbers
from bnmind.errors import InvalidArgumentError, TableError, UnknownNameError

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
BANK = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)
PEOPLE = Responses.drawn(BANK, 80, seed=3)
RESULT = simulate(
    BANK,
    PEOPLE,
    {"entropy": MinimalEntropy(), "random": RandomItem()},
    MaximalItems(4) | ProfileCertain(0.85),
)

Selectors = dict[str, Selector]


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a data frame by the names of its columns."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def test_steps_are_what_happened() -> None:
    steps = RESULT.steps
    names = ["selector", "examinee", "step", "item", "response"]
    assert list(steps.columns) == [*names, *(m.name for m in RESULT.measures)]
    assert len(steps) == sum(int((run.lengths + 1).sum()) for run in RESULT.runs)
    for row in rows_of(steps):
        run, examinee, step = RESULT.run_of(row["selector"]), row["examinee"], row["step"]
        assert row["entropy"] == RESULT.values(row["selector"], "entropy")[examinee, step]
        if step == 0:
            assert row["item"] == ""
            assert pd.isna(row["response"])
            continue
        place = run.asked[examinee, step - 1]
        assert row["item"] == BANK.item_names[place]
        assert row["response"] == PEOPLE.codes[examinee, place]


def test_curves_are_means_with_their_bands() -> None:
    curves = {(row["selector"], row["measure"], row["step"]): row for row in rows_of(RESULT.curves)}
    for name in RESULT.selectors:
        for measure in RESULT.measures:
            values = RESULT.values(name, measure.name)
            for step in range(5):
                row = curves[name, measure.name, step]
                error = values[:, step].std(ddof=1) / np.sqrt(80)
                assert row["mean"] == pytest.approx(values[:, step].mean())
                assert row["standard_error"] == pytest.approx(error)
                if not measure.is_share:
                    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * error, rel=1e-4)
                for end in (row["low"], row["high"]) * measure.is_share:
                    # The error under the share at the end of the interval, as Wilson has it.
                    mean = row["mean"]
                    there = error**2 * 79 / 80 * end * (1 - end) / (mean * (1 - mean))
                    assert abs(mean - end) == pytest.approx(1.96 * there**0.5, rel=1e-4)
                assert row["testing"] == np.sum(RESULT.run_of(name).lengths >= step)


def test_means_over_answers_count_each_answer_once() -> None:
    codes = PEOPLE.codes.copy()
    codes[:40, 2:] = MISSING
    measures = "accuracy", "brier_score", "log_score", "entropy"
    result = simulate(
        BANK,
        Responses.of(codes, items=BANK.item_names),
        {"x": MinimalEntropy()},
        options=SimulationOptions(measures=measures),
    )
    counts = np.sum(codes != MISSING, axis=1)
    for measure in measures[:3]:
        values = result.values("x", measure)
        pooled = np.sum(values * counts[:, None], axis=0) / counts.sum()
        assert np.allclose(result.mean("x", measure)[0], pooled)
        assert not np.allclose(pooled, values.mean(axis=0))
    assert np.allclose(result.mean("x", "entropy")[0], result.values("x", "entropy").mean(axis=0))


def test_differences_are_paired() -> None:
    mean, error = RESULT.difference("entropy", "entropy", "random")
    values = RESULT.values("entropy", "entropy") - RESULT.values("random", "entropy")
    assert np.allclose(mean, values.mean(axis=0))
    assert np.allclose(error, values.std(axis=0, ddof=1) / np.sqrt(80))
    _, first = RESULT.mean("entropy", "entropy")
    _, second = RESULT.mean("random", "entropy")
    assert mean[0] == error[0] == 0
    assert error[2] < np.hypot(first[2], second[2])


def test_exposure_and_overlap_are_counted() -> None:
    frame = {(row["selector"], row["item"]): row for row in rows_of(RESULT.exposure)}
    for run in RESULT.runs:
        mask = run.asked_mask
        in_common = (mask.astype(int) @ mask.T.astype(int))[np.triu_indices(80, 1)]
        assert run.overlap == pytest.approx(in_common.mean() / run.lengths.mean())
        for place, name in enumerate(BANK.item_names):
            row = frame[run.selector, name]
            column = mask[:, place]
            both = np.logical_and.outer(column, column)[np.triu_indices(80, 1)]
            assert row["asked"] == column.sum()
            assert row["exposure"] == row["selected"] == column.mean()
            assert row["overlap"] == pytest.approx(both.mean())


def test_lengths_attributes_and_summary() -> None:
    lengths = RESULT.lengths
    assert len(lengths) == 160
    reasons = {"4 items were asked", "one profile of the skills has probability 0.85 or more"}
    both = "4 items were asked and one profile of the skills has probability 0.85 or more"
    assert set(lengths["reason"]) == {*reasons, both}
    summary = {row["selector"]: row for row in rows_of(RESULT.summary)}
    attributes = RESULT.attributes
    for run in RESULT.runs:
        own = lengths[lengths["selector"] == run.selector]["length"]
        assert summary[run.selector]["mean_length"] == own.mean()
        share = attributes[attributes["selector"] == run.selector]["accuracy"].mean()
        assert summary[run.selector]["attribute_accuracy"] == pytest.approx(share)
        assert summary[run.selector]["largest_exposure"] == run.exposure.max()


def test_bands_of_shares_are_those_of_wilson() -> None:
    values = RESULT.runs[0].values.copy()
    row = [measure.name for measure in RESULT.measures].index("pattern_accuracy")
    n = values.shape[1]
    values[row] = 0.0
    values[row, :, 1] = 1.0
    values[row, : n // 4, 2] = 1.0
    result = replace(RESULT, runs=(replace(RESULT.runs[0], values=values),))
    low, high = result.band("entropy", "pattern_accuracy")
    z = 1.959963984540054
    assert high[0] == pytest.approx(z**2 / (n + z**2))
    assert low[0] == 0
    assert (low[1], high[1]) == (pytest.approx(n / (n + z**2)), 1)
    for end in (low[2], high[2]):  # the score test is just significant there
        assert abs(0.25 - end) == pytest.approx(z * (end * (1 - end) / n) ** 0.5)
    # A share of skills is no 0 or 1: its standard error counts.
    mean, error = RESULT.mean("entropy", "attribute_accuracy")
    low, high = RESULT.band("entropy", "attribute_accuracy")
    assert high - low == pytest.approx(2 * z * error, rel=0.05)
    assert np.all((low >= 0) & (low < mean) & (mean < high) & (high <= 1))
    curves = result.curves
    own = curves[curves["measure"] == "pattern_accuracy"]
    assert own["low"].between(0, 1).all()
    assert own["high"].between(0, 1).all()


def test_intervals_of_skills_have_a_width_and_end_at_one() -> None:
    levels = np.zeros_like(RESULT.levels)
    runs = tuple(replace(run, classified=levels) for run in RESULT.runs)
    frame = replace(RESULT, levels=levels, runs=runs).attributes
    assert (frame["accuracy"] == 1).all()
    assert (frame["high"] == 1).all()
    assert frame["low"].to_numpy() == pytest.approx(80 / (80 + 1.959963984540054**2))


def test_unknown_names_are_reported() -> None:
    with pytest.raises(UnknownNameError, match="selector"):
        RESULT.run_of("gdi")
    with pytest.raises(UnknownNameError, match="measure"):
        RESULT.values("entropy", "truth")
    with pytest.raises(UnknownNameError, match="did you mean accuracy"):
        simulate(BANK, PEOPLE, {"x": RandomItem()}, options=SimulationOptions(measures=["acuracy"]))


def test_one_examinee_has_no_errors_to_speak_of() -> None:
    result = simulate(BANK, PEOPLE.take([0]), {"x": MinimalEntropy()}, MaximalItems(2))
    assert np.all(np.isnan(result.mean("x", "entropy")[1]))
    assert np.isnan(result.runs[0].overlap)
    assert len(result.summary) == 1


def test_replay_learns_from_the_others_alone() -> None:
    answers = Responses(PEOPLE.codes.astype(np.int8), BANK.item_names)
    seen: list[Responses] = []

    def learn(others: Responses) -> ItemBank:
        seen.append(others)
        rates = (others.codes == 1).mean(axis=0)
        return ItemBank.from_qmatrix(Q, guess=0.2 * rates, slip=0.1)

    selectors: Selectors = {"entropy": MinimalEntropy(), "random": RandomItem()}
    result = replay(learn, answers, selectors, MaximalItems(3), folds=4)
    numbers = fold_numbers(80, folds=4)
    assert numbers.tolist() == (np.random.default_rng(1).permutation(80) % 4).tolist()
    assert np.array_equal(result.responses, PEOPLE.codes)
    everyone = Responses.of(answers, items=BANK.item_names)
    for fold in range(4):
        others = seen[fold]
        assert others.examinees == tuple(str(n + 1) for n in np.flatnonzero(numbers != fold))
        rows = np.flatnonzero(numbers == fold)
        bank = learn(answers.take(numbers != fold))
        alone = simulate(bank, everyone.take(rows), selectors, MaximalItems(3))
        for name in selectors:
            assert np.array_equal(result.run_of(name).asked[rows], alone.run_of(name).asked)
            values = result.values(name, "log_score")[rows]
            assert np.allclose(values, alone.values(name, "log_score"), atol=1e-12)


def test_a_replay_that_is_ended_has_the_folds_done() -> None:
    answers = Responses(PEOPLE.codes.astype(np.int8), BANK.item_names)
    selectors: Selectors = {"entropy": MinimalEntropy()}
    folds = []

    def ended() -> bool:
        folds.append(1)
        return len(folds) == 2

    whole = replay(lambda others: BANK, answers, selectors, MaximalItems(3), folds=4)
    options = SimulationOptions(until=ended)
    part = replay(
        lambda others: BANK, answers, selectors, MaximalItems(3), folds=4, options=options
    )
    rows = np.flatnonzero(fold_numbers(80, folds=4) < 2)
    assert part.examinees == tuple(str(row + 1) for row in rows)
    for frame in ("people", "steps", "lengths", "posteriors"):
        expected = getattr(whole, frame)
        expected = expected[expected["examinee"].isin(part.examinees)].reset_index(drop=True)
        pd.testing.assert_frame_equal(getattr(part, frame), expected)


def test_replay_tells_bad_input() -> None:
    answers = Responses(PEOPLE.codes.astype(np.int8), BANK.item_names)
    selectors: Selectors = {"entropy": MinimalEntropy()}
    with pytest.raises(InvalidArgumentError, match="2 to 80 folds"):
        replay(lambda others: BANK, answers, selectors, folds=81)
    other = ItemBank.from_qmatrix([*Q, Q[0]], guess=0.2, slip=0.1)
    with pytest.raises(TableError, match=f"item_{len(Q) + 1}"):
        replay(lambda others: other, answers, selectors)
    renamed = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1, skill_names=["a", "b"])
    banks = iter([BANK, renamed])
    with pytest.raises(InvalidArgumentError, match="bank of fold 1 has other items"):
        replay(lambda others: next(banks), answers, selectors)
