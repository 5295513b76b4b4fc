"""New items calibrated from finished tests, and drift noticed."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from bnmind.adaptive import (
    Design,
    ItemBank,
    LearningOptions,
    Logistic,
    MaximalItems,
    ParameterCertainty,
    PilotItems,
    RandomItem,
    Responses,
    Session,
    SimulationOptions,
    TableCertainty,
    beliefs_given,
    calibrate_items,
    calibrate_online,
    irt_bank,
    item_drift,
    learn,
    read_answers,
    simulate_designs,
)
from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError

Q = [[1, 0], [0, 1], [1, 1]] * 5
TRUTH = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)
NEW = TRUTH.item_names[-3:]
GUESSED = ItemBank.from_qmatrix(Q, guess=[0.2] * 12 + [0.4] * 3, slip=[0.1] * 12 + [0.3] * 3)


@pytest.fixture(scope="module")
def data() -> Responses:
    return Responses.drawn(TRUTH, 1200, seed=1)


def test_many_cycles_are_maximum_likelihood_with_fixed_items(data: Responses) -> None:
    fixed = {*TRUTH.item_names[:-3], *TRUTH.skills}
    options = LearningOptions(fixed=fixed, starts=1, tolerance=1e-9)
    slow = learn(data, GUESSED, options=options).bank
    fast = calibrate_items(GUESSED, data, NEW)
    assert fast.n_cycles > 1
    assert_allclose(fast.bank.channels(), slow.channels(), atol=1e-3)
    assert all(row.is_ready and row.answers == 1200 for row in fast.items)
    one = calibrate_items(GUESSED, data, NEW, max_cycles=1)
    assert one.n_cycles == 1
    assert_allclose(one.bank.channels(), TRUTH.channels(), atol=0.08)
    for place in range(12):
        assert np.array_equal(fast.bank.item_channels[place], GUESSED.item_channels[place])


def test_one_cycle_does_not_depend_on_the_guesses(data: Responses) -> None:
    one = calibrate_items(GUESSED, data, NEW, max_cycles=1)
    other = calibrate_items(TRUTH, data, NEW, max_cycles=1)
    assert_allclose(one.bank.channels(), other.bank.channels(), atol=1e-9)


def test_halves_after_each_other_agree_with_the_whole(data: Responses) -> None:
    whole = calibrate_items(GUESSED, data, NEW)
    first = calibrate_items(GUESSED, data.take(np.arange(600)), NEW)
    both = calibrate_items(first.bank, data.take(np.arange(600, 1200)), NEW)
    assert_allclose(both.bank.channels(), whole.bank.channels(), atol=0.03)
    certainty = both.bank.item(NEW[0]).certainty
    assert certainty is not None
    assert certainty.answers == 1200
    anew = calibrate_items(first.bank, data.take(np.arange(600, 1200)), NEW, anew=True)
    again = anew.bank.item(NEW[0]).certainty
    assert again is not None
    assert again.answers == 600


def test_one_examinee_at_a_time_agrees_with_the_batch(data: Responses) -> None:
    flat = {name: TableCertainty(np.ones((2, 2)), (0, 1)) for name in NEW[:2]}
    flat[NEW[0]] = TableCertainty(np.array([[1.4, 1.0], [1.0, 1.4]]), (0, 1))
    flat[NEW[1]] = flat[NEW[0]]
    bank = GUESSED.with_certainties(flat)
    operational = np.array(data.codes)
    operational[:, -3:] = -1
    beliefs = beliefs_given(GUESSED, operational)
    for row in range(400):
        belief = beliefs.alone(row)
        for name in NEW[:2]:
            bank = calibrate_online(bank, belief, name, int(data.codes[row, TRUTH.position(name)]))
            certainty: Any = bank.item(name).certainty
            assert certainty.answers == row + 1
            assert certainty.counts.sum() == pytest.approx(row + 1 + flat[name].counts.sum())
    batch = calibrate_items(GUESSED, data.take(np.arange(400)), NEW[:2])
    for name in NEW[:2]:
        assert_allclose(bank.channel(name), batch.bank.channel(name), atol=0.05)
    with pytest.raises(InvalidArgumentError, match="TableCertainty"):
        calibrate_online(bank, beliefs.alone(0), "item_1", 1)


def test_curves_are_calibrated() -> None:
    slopes = np.c_[np.linspace(0.8, 1.6, 12), np.linspace(-1.5, 1.5, 12)]
    truth = irt_bank(slopes)
    people = Responses.drawn(truth, 800, seed=2)
    slopes[5] = (1.0, 1.0)
    guessed = irt_bank(slopes)
    found = calibrate_items(guessed, people, ["item_6"])
    gate: Any = found.bank.item("item_6").gate
    true: Any = truth.item("item_6").gate
    certainty: Any = found.bank.item("item_6").certainty
    assert abs(gate.slope - true.slope) < 4 * certainty.errors[0]
    assert abs(gate.difficulty - true.difficulty) < 4 * certainty.errors[1]
    assert found.items[0].is_ready


def test_halves_of_the_answers_to_a_curve_agree_with_the_whole() -> None:
    known = [Logistic(1.5, b) for b in np.linspace(-2, 2, 10).tolist()]
    truth, guessed = (irt_bank([*known, new]) for new in (Logistic(1.4, 0.6), Logistic()))
    codes = np.array(Responses.drawn(truth, 600, seed=2).codes)
    first, second, whole = (
        Responses(part, truth.item_names) for part in (codes[:400], codes[400:], codes)
    )
    bank = calibrate_items(guessed, first, ["item_11"]).bank
    both = calibrate_items(bank, second, ["item_11"]).bank
    once = calibrate_items(guessed, whole, ["item_11"]).bank
    assert_allclose(both.channel("item_11"), once.channel("item_11"), atol=0.02)
    one, other = (each.item("item_11").certainty for each in (both, once))
    assert isinstance(one, ParameterCertainty)
    assert isinstance(other, ParameterCertainty)
    assert_allclose(one.errors, other.errors, rtol=0.15)
    assert (one.answers, other.answers) == (600, 600)
    anew = calibrate_items(bank, second, ["item_11"], anew=True).bank
    assert np.abs(anew.channel("item_11") - once.channel("item_11")).max() > 0.02


def test_data_frames_are_calibrated_and_watched_as_responses(data: Responses) -> None:
    frame = pd.DataFrame(data.codes, columns=list(data.items))
    found = calibrate_items(GUESSED, frame, NEW)
    assert_allclose(
        found.bank.channel(NEW[0]), calibrate_items(GUESSED, data, NEW).bank.channel(NEW[0])
    )
    charts = [
        item_drift(GUESSED, table, rng=np.random.default_rng(1))
        for table in (frame.iloc[:50], data.take(range(50)))
    ]
    assert charts[0] == charts[1]


def test_from_live_tests_to_a_calibrated_bank(tmp_path: pathlib.Path) -> None:
    toml = f'stop = "items:4"\n[pilot]\nitems = {list(NEW)}\nby = "random"\n'.replace("'", '"')
    (tmp_path / "t.toml").write_text(toml)
    from bnmind.adaptive import read_design

    rng = np.random.default_rng(1)
    paths = []
    for number in range(6):
        design = read_design(tmp_path / "t.toml", GUESSED, seed=number)
        session = Session.start(design, path=tmp_path / f"{number}.json")
        while not session.stop_reason:
            at = f"2026-01-{20 - number:02}"
            session = session.answer(session.next_item(), int(rng.integers(2)), at=at)
        paths.append(tmp_path / f"{number}.json")
    tests = read_answers(paths, GUESSED)
    assert set(tests.pilot) == set(NEW)
    assert next(who.split(": ")[1] for who in tests.responses.examinees) == "5.json"
    assert (tests.responses.order >= 0).sum() == 30 == (tests.responses.codes >= 0).sum()
    found = calibrate_items(GUESSED, tests.responses, tests.pilot)
    assert sum(row.answers for row in found.items) == 6
    assert not any(row.is_ready for row in found.items)
    drift = item_drift(GUESSED, tests.responses, rng=rng, pilot=tests.pilot)
    assert not {row.item for row in drift} & set(NEW)
    with pytest.raises(ModelFileError, match="skills, items or probabilities"):
        read_answers(paths, TRUTH)


def adaptive_tests(codes: Any) -> Responses:
    """Return the answers of adaptive tests of recorded examinees, with their order."""
    people = Responses.of(codes, items=TRUTH.item_names)
    run = simulate_designs(
        {"x": Design(TRUTH, stopper=MaximalItems(6))},
        people,
        options=SimulationOptions(measures=()),
    ).runs[0]
    seen = np.where(run.asked_mask, codes, -1)
    return Responses(seen, TRUTH.item_names, order=run.asked)


def test_drift_in_adaptive_tests_is_noticed_and_nothing_else() -> None:
    codes = np.array(Responses.drawn(TRUTH, 1500, seed=3).codes)
    responses = adaptive_tests(codes)
    rng = np.random.default_rng(1)
    plain = item_drift(TRUTH, responses, rng=rng)
    assert max(abs(row.z) for row in plain) < 4
    assert sum(row.is_noticed for row in plain) <= 1
    item = max(plain, key=lambda row: row.answers).item
    place = TRUTH.position(item)
    changed = codes.copy()
    changed[700:, place] = np.random.default_rng(2).random(800) < 0.5
    responses = adaptive_tests(changed)
    found = {r.item: r for r in item_drift(TRUTH, responses, rng=rng)}
    charts = [chart for chart in (found[item].easier, found[item].harder) if chart.noticed]
    assert charts
    assert all(chart.noticed is not None and chart.noticed > 600 for chart in charts)


def test_the_rate_of_false_alarms() -> None:
    codes = np.array(Responses.drawn(TRUTH, 300, seed=4).codes)
    rng = np.random.default_rng(1)
    alarms = n = 0
    for seed in range(4):
        codes = np.array(Responses.drawn(TRUTH, 300, seed=seed).codes)
        for row in item_drift(TRUTH, Responses.of(codes), rng=rng, false_alarm=0.1):
            alarms += (row.easier.noticed is not None) + (row.harder.noticed is not None)
            n += 2
    assert alarms / n < 0.1 + 4 * np.sqrt(0.09 / n)
    assert alarms / n > 0.02


def test_wrong_arguments(data: Responses) -> None:
    rng = np.random.default_rng(1)
    wrong: list[Any] = [
        lambda: calibrate_items(TRUTH, data, []),
        lambda: calibrate_items(TRUTH, data, ["item_99"]),
        lambda: calibrate_items(TRUTH, data, NEW, max_cycles=0),
        lambda: item_drift(TRUTH, data, rng=rng, shift=0.0),
        lambda: replace(data, order=np.array([[1]])),
        lambda: item_drift(TRUTH, Responses.of([[3] * 15]), rng=rng),
        lambda: calibrate_items(TRUTH, Responses.of([[3] * 15]), NEW),
    ]
    for call in wrong:
        with pytest.raises(BnmindError):
            call()


def test_pilots_in_simulated_tests_are_recovered() -> None:
    pilot = PilotItems(NEW, 2, rule=RandomItem())
    people = Responses.drawn(TRUTH, 900, seed=5)
    design = Design(GUESSED, stopper=MaximalItems(8), pilot=pilot)
    run = simulate_designs({"x": design}, people, options=SimulationOptions(measures=())).runs[0]
    seen = np.where(run.asked_mask, people.codes, -1)
    some = (seen >= 0).any(axis=0)
    names = tuple(np.array(TRUTH.item_names)[some])
    found = calibrate_items(GUESSED, Responses(seen[:, some], names), NEW)
    for row in found.items:
        assert np.all(np.abs(row.after - TRUTH.channel(row.item)) < 4.5 * row.errors + 1e-9)
