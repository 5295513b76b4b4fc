"""Simulated tests: each is what a session of its own would be, whatever runs beside it."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    MISSING,
    AbilityGrid,
    Blueprint,
    Bound,
    Design,
    DiscriminationIndex,
    Enemies,
    EntropyBelow,
    FixedOrder,
    Item,
    ItemBank,
    ItemEligibility,
    MaximalFisher,
    MaximalItems,
    Measure,
    MinimalEntropy,
    Moment,
    ProfileCertain,
    Randomesque,
    RandomItem,
    Responses,
    ScoredBy,
    Selector,
    Session,
    SimulationOptions,
    SimulationResult,
    SkillBelief,
    Stopper,
    SympsonHetter,
    Testlets,
    expected_ability,
    irt_bank,
    replay,
    simulate,
    start_belief,
    start_beliefs,
)
from bnmind.adaptive.belief_tables import n_profiles
from bnmind.errors import InvalidArgumentError, TableError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm import Network, TabularCPD, Variable
from tests.banks import banks
from tests.modes import examples

Q = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1], [1, 0, 0]]
BANK = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)
PEOPLE = Responses.drawn(BANK, 120, seed=3)
SELECTORS: dict[str, Selector] = {
    "entropy": MinimalEntropy(),
    "gdi": DiscriminationIndex(),
    "random": RandomItem(),
    "randomesque": Randomesque(MinimalEntropy(), 3),
    "exposure": SympsonHetter(MinimalEntropy(), {"item_4": 0.3, "item_7": 0.1}),
    "yours": ScoredBy(lambda belief, items: range(len(items))),
}
RESULT = simulate(BANK, PEOPLE, SELECTORS, MaximalItems(4))


def same(one: SimulationResult, other: SimulationResult, *, exactly: bool = True) -> bool:
    """Whether two results hold the same tests, and the same measures or nearly."""
    return all(
        np.array_equal(a.asked, b.asked)
        and np.array_equal(a.reasons, b.reasons)
        and np.array_equal(a.set_aside, b.set_aside)
        and np.array_equal(a.classified, b.classified)
        and np.allclose(a.values, b.values, rtol=0, atol=0 if exactly else 1e-12, equal_nan=True)
        for a, b in zip(one.runs, other.runs, strict=True)
    )


def near(found: Floats, expected: Floats, n: int) -> bool:
    """Whether shares of n draws are near enough to their probabilities, rare ones too."""
    # A certain response may sum to a little more than one.
    deviation = np.sqrt(expected * np.maximum(1 - expected, 0) / n)
    return bool(np.all(np.abs(found - expected) <= 5.5 * deviation + 4 / n))


def measured(belief: SkillBelief, examinees: Responses, row: int) -> dict[str, float]:
    """Return the measures of one examinee from a belief about one, by their definitions."""
    bank = belief.bank
    hits, squares, logs = [], [], []
    for place, name in enumerate(bank.item_names):
        given = int(examinees.codes[row, place])
        if given == MISSING:
            continue
        chances = belief.predict(name)
        best = max(chances)
        likely = [r for r, chance in enumerate(chances) if chance >= best - 1e-12]
        hits.append(likely[-1] == given)
        squares.append(sum((p - (r == given)) ** 2 for r, p in enumerate(chances)) / 2)
        with np.errstate(divide="ignore"):
            logs.append(np.log(chances[given]))
    found = {
        "accuracy": float(np.mean(hits)),
        "brier_score": float(np.mean(squares)),
        "log_score": float(np.mean(logs)),
        "entropy": belief.entropy,
    }
    if examinees.skills:
        truth = examinees.levels[row]
        levels = [int(np.argmax(belief.marginal(skill))) for skill in bank.skills]
        found["pattern_accuracy"] = float(belief.profile().levels == tuple(truth.tolist()))
        found["attribute_accuracy"] = float(np.mean(np.array(levels) == truth))
    return found


@settings(max_examples=examples(40))
@given(st.data())
def test_a_simulated_test_is_a_session(data: st.DataObject) -> None:
    bank = data.draw(banks())
    people = Responses.drawn(bank, 6, seed=data.draw(st.integers(0, 9)))
    stopper = MaximalItems(3) | (MaximalItems(2) & EntropyBelow(0.4))
    result = simulate(bank, people, {"entropy": MinimalEntropy()}, stopper)
    run = result.runs[0]
    for row in range(len(people)):
        session = Session.start(Design(bank, stopper=stopper))
        step = 0
        while True:
            for name, value in measured(session.belief, people, row).items():
                shown = result.values("entropy", name)[row, step]
                assert shown == pytest.approx(value, abs=1e-9), name
            if session.stop_reason:
                break
            place = bank.position(session.next_item())
            assert run.asked[row, step] == place
            session = session.answer(session.next_item(), int(people.codes[row, place]))
            step += 1
        assert run.lengths[row] == step
        batch_reason = str(run.reasons[row])
        assert batch_reason.split(" is ")[0] == session.stop_reason.split(" is ")[0]


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize(
    "selector",
    [
        RandomItem(),
        Randomesque(MinimalEntropy(), 3),
        SympsonHetter(MinimalEntropy(), dict.fromkeys(BANK.item_names, 0.5)),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_a_live_test_draws_as_the_first_examinee_of_a_simulation(selector: Any, seed: int) -> None:
    """`Design.rng` makes the generator of each question, of the seed and the number asked."""
    result = simulate(
        BANK, PEOPLE.take([0]), {"drawn": selector}, options=SimulationOptions(seed=seed)
    )
    session = Session.start(Design(BANK, selector, seed=seed))
    asked = []
    while not session.stop_reason:
        asked.append(BANK.position(session.next_item()))
        session = session.answer(session.next_item(), int(PEOPLE.codes[0, asked[-1]]))
    assert result.runs[0].asked[0].tolist() == asked
    assert asked != sorted(asked)


@settings(max_examples=examples(20))
@given(st.data())
def test_replay_asks_only_what_was_answered(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 99))
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(PEOPLE.codes.shape) < 0.4, MISSING, PEOPLE.codes)
    codes[np.all(codes == MISSING, axis=1), 0] = 1
    people = Responses.of(codes, items=BANK.item_names)
    result = simulate(BANK, people.take(range(8)), {"entropy": MinimalEntropy()}, MaximalItems(3))
    for row in range(8):
        gone = [n for n, c in zip(BANK.item_names, codes[row], strict=True) if c == MISSING]
        rules = (Blueprint((Bound(most=0, items=tuple(gone)),)),)
        session = Session.start(Design(BANK, stopper=MaximalItems(3), rules=rules))
        while not session.stop_reason:
            item = session.next_item()
            session = session.answer(item, int(codes[row, BANK.position(item)]))
        asked = [BANK.item_names[i] for i in result.runs[0].asked[row] if i != MISSING]
        assert asked == list(session.state.asked)
        assert result.runs[0].reasons[row] == session.stop_reason
        shown = result.values("entropy", "accuracy")[row, -1]
        assert shown == pytest.approx(measured(session.belief, people, row)["accuracy"])


@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.slow), 7, 1000])
def test_tests_do_not_depend_on_the_size_of_a_batch(size: int) -> None:
    other = simulate(
        BANK, PEOPLE, SELECTORS, MaximalItems(4), options=SimulationOptions(batch_size=size)
    )
    assert same(RESULT, other, exactly=False)


def test_tests_do_not_depend_on_the_workers() -> None:
    named = {name: one for name, one in SELECTORS.items() if name != "yours"}
    alone = simulate(BANK, PEOPLE, named, MaximalItems(4), options=SimulationOptions(batch_size=20))
    shared = simulate(
        BANK, PEOPLE, named, MaximalItems(4), options=SimulationOptions(batch_size=20, workers=2)
    )
    assert same(alone, shared)


@pytest.mark.parametrize("name", SELECTORS)
def test_tests_depend_neither_on_other_selectors_nor_on_other_examinees(name: str) -> None:
    rows = np.array([80, 3, 41])
    alone = simulate(BANK, PEOPLE.take(rows), {name: SELECTORS[name]}, MaximalItems(4))
    assert np.array_equal(alone.run_of(name).asked, RESULT.run_of(name).asked[rows])


def test_examinees_are_the_same_however_many_there_are() -> None:
    few = Responses.drawn(BANK, 5, seed=3)
    assert np.array_equal(few.codes, PEOPLE.codes[:5])
    assert np.array_equal(few.levels, PEOPLE.levels[:5])
    others = Responses.drawn(BANK, 5, seed=4)
    assert not np.array_equal(others.codes, few.codes)


def test_the_luck_of_selectors_is_another_for_each_seed_and_examinee() -> None:
    random = {"random": RandomItem()}
    one = simulate(BANK, PEOPLE, random, MaximalItems(4)).runs[0].asked
    options = SimulationOptions(seed=1)
    other = simulate(BANK, PEOPLE, random, MaximalItems(4), options=options).runs[0].asked
    assert not np.array_equal(one, other)
    assert len(np.unique(one, axis=0)) > 100
    counts = np.bincount(one.ravel(), minlength=len(Q))
    assert np.all(np.abs(counts - 60) < 4 * np.sqrt(30))


@settings(max_examples=examples(20))
@given(st.data())
def test_examinees_are_drawn_from_the_model(data: st.DataObject) -> None:
    bank = data.draw(banks(max_skills=2))
    people = Responses.drawn(bank, 600, seed=1)
    prior = start_belief(bank)
    for place, name in enumerate(bank.item_names):
        expected = prior.predict(name)
        found = np.bincount(people.codes[:, place], minlength=len(expected)) / 600
        assert near(found, expected, 600)
        assert np.all(found[expected == 0] == 0)
    for column, name in enumerate(bank.skills):
        expected = prior.marginal(name)
        found = np.bincount(people.levels[:, column], minlength=len(expected)) / 600
        assert near(found, expected, 600)


def test_given_profiles_answer_as_their_profiles_do() -> None:
    certain = ItemBank.from_qmatrix(Q, guess=0.0, slip=0.0)
    levels = np.array([[1, 1, 1], [0, 0, 0], [1, 0, 1]])
    people = Responses.with_profiles(certain, levels)
    needs = np.array(Q)
    expected = np.all(levels[:, None, :] >= needs[None], axis=2)
    assert np.array_equal(people.codes, expected)
    result = simulate(certain, people, {"entropy": MinimalEntropy()})
    assert np.all(result.values("entropy", "pattern_accuracy")[:, -1] == 1)
    with pytest.raises(InvalidArgumentError, match="expected levels"):
        Responses.with_profiles(certain, levels + 1)


def test_enemies_testlets_and_balance_are_heeded() -> None:
    items = [
        Item("a", content="x", testlet="t"),
        Item("b", content="x", enemies=("c",)),
        Item("c", content="y"),
        Item("d", content="y", testlet="t"),
        Item("e", content="y"),
    ]
    bank = ItemBank.from_qmatrix(
        [[1, 0], [0, 1], [1, 1], [1, 1], [0, 1]], guess=0.2, slip=0.1, items=items
    )
    people = Responses.drawn(bank, 50, seed=1)
    rules = (Enemies(), Blueprint((Bound(0, 2, code="y"),)), Testlets())
    run = simulate(
        bank, people, {"random": RandomItem()}, options=SimulationOptions(rules=rules)
    ).runs[0]
    mask = run.asked_mask
    assert not np.any(mask[:, 1] & mask[:, 2])
    assert np.all(mask[:, 2:].sum(axis=1) <= 2)
    assert set(run.reasons) == {"no item is left that may be asked"}
    for row in run.asked:
        order = [items[i].name for i in row if i != MISSING]
        if {"a", "d"} <= set(order):
            assert abs(order.index("a") - order.index("d")) == 1


def test_every_item_is_asked_without_a_stopper() -> None:
    run = simulate(BANK, PEOPLE.take(range(5)), {"order": FixedOrder()}).runs[0]
    assert np.array_equal(run.asked, np.tile(np.arange(len(Q)), (5, 1)))
    assert set(run.reasons) == {"every item was asked"}


def test_what_is_set_aside_counts_as_selected() -> None:
    run = RESULT.run_of("exposure")
    place = BANK.position("item_7")
    assert run.exposure[place] < run.selected[place]
    assert not np.any(run.asked_mask & run.set_aside)


def test_exposure_control_keeps_to_its_limit() -> None:
    people = Responses.drawn(BANK, 1000, seed=5)
    free = SympsonHetter(MinimalEntropy())
    limit = 0.7
    before = simulate(BANK, people, {"x": free}, MaximalItems(4)).runs[0].exposure.max()
    for _ in range(12):
        run = simulate(BANK, people, {"x": free}, MaximalItems(4)).runs[0]
        free = free.adjusted(dict(zip(BANK.item_names, run.selected.tolist(), strict=True)), limit)
    assert before > 0.95
    assert simulate(BANK, people, {"x": free}, MaximalItems(4)).runs[0].exposure.max() < 0.75


def test_ineligible_items_are_not_asked() -> None:
    counts = ItemEligibility.start(BANK, 0.6)
    rng = np.random.default_rng(0)
    for first in range(0, 120, 5):
        people = PEOPLE.take(np.arange(first, first + 5))
        eligible = counts.draw(rng.random((5, len(Q))))
        run = simulate(
            BANK, people, {"x": MinimalEntropy()}, MaximalItems(4), eligible=eligible
        ).runs[0]
        assert not np.any(run.asked_mask & ~eligible)
        counts = counts.after(eligible, run.asked_mask)
    assert np.max(counts.asked) / 120 < 0.7
    with pytest.raises(InvalidArgumentError, match="eligible"):
        simulate(BANK, PEOPLE, SELECTORS, eligible=eligible)


def test_examinees_of_another_model_are_tested_too() -> None:
    other = ItemBank.from_qmatrix(Q, guess=0.3, slip=0.3)
    people = Responses.drawn(other, 400, seed=2)
    right = simulate(other, people, {"x": MinimalEntropy()}, MaximalItems(6))
    wrong = simulate(BANK, people, {"x": MinimalEntropy()}, MaximalItems(6))
    # Who believes in better items is too sure.
    assert wrong.mean("x", "entropy")[0][-1] < right.mean("x", "entropy")[0][-1] - 0.2
    known = right.mean("x", "pattern_accuracy")[0][-1]
    assert known > 0.2
    assert wrong.mean("x", "pattern_accuracy")[0][-1] < known + 0.05
    renamed = ItemBank.from_qmatrix(Q, guess=0.3, slip=0.3, skill_names=["a", "b", "skill_3"])
    result = simulate(BANK, Responses.drawn(renamed, 10), {"x": MinimalEntropy()}, MaximalItems(2))
    assert np.all(np.isnan(result.values("x", "pattern_accuracy")))
    assert result.attributes["skill"].tolist() == ["skill_3"]


def test_banks_with_many_profiles_are_simulated_by_a_tree() -> None:
    rng = np.random.default_rng(0)
    needs = np.zeros((20, 18), dtype=int)
    for line, first in zip(needs, [*range(18), 3, 9], strict=True):
        line[[first, min(first + 1, 17)]] = 1
    bank = ItemBank.from_qmatrix(needs, skills=_chain(18), guess=0.2, slip=0.1)
    assert n_profiles(bank) > 2**16
    assert start_beliefs(bank, 1).table is None
    people = Responses.drawn(bank, 6, seed=int(rng.integers(9)))
    result = simulate(
        bank,
        people,
        {"x": MinimalEntropy()},
        MaximalItems(3),
        options=SimulationOptions(batch_size=4),
    )
    for row in range(2):
        belief = start_belief(bank)
        for number in result.runs[0].asked[row]:
            place = int(number)
            scores = MinimalEntropy().select(belief, _left(bank, belief))
            assert scores.item == bank.item_names[place]
            belief = belief.update(bank.item_names[place], int(people.codes[row, place]))
        for name, value in measured(belief, people, row).items():
            assert result.values("x", name)[row, -1] == pytest.approx(value, abs=1e-9), name


def _left(bank: ItemBank, belief: SkillBelief) -> list[str]:
    return [name for name in bank.item_names if name not in belief.responses]


def _chain(n_skills: int) -> Network:
    skills = [Variable.of_integers(f"skill_{i + 1}", range(2)) for i in range(n_skills)]
    cpds = [TabularCPD(skills[0], (), np.array([0.5, 0.5]))]
    cpds += [
        TabularCPD(child, (parent,), np.array([[0.7, 0.2], [0.3, 0.8]]))
        for parent, child in pairwise(skills)
    ]
    return Network(tuple(cpds))


def test_abilities_are_measured_in_irt_banks() -> None:
    rng = np.random.default_rng(1)
    curves = np.stack([rng.uniform(0.8, 1.6, 30), rng.normal(size=30)], axis=1)
    bank = irt_bank(curves)
    finer = irt_bank(curves, AbilityGrid.normal(n_points=301, reach=4))
    people = Responses.drawn(finer, 200, seed=1)
    result = simulate(bank, people, {"fisher": MaximalFisher()}, MaximalItems(15))
    truth = np.array(finer.variable("ability").states, dtype=float)[people.levels[:, 0]]
    belief = start_belief(bank)
    for place in result.runs[0].asked[0].tolist():
        belief = belief.update(bank.item_names[place], int(people.codes[0, place]))
    ability = result.values("fisher", "ability")
    assert ability[0, -1] == pytest.approx(float(expected_ability(belief)), abs=1e-9)
    error = result.values("fisher", "ability_error")
    assert np.allclose(error[:, -1], ability[:, -1] - truth)
    assert 0.05 < result.mean("fisher", "ability_squared_error")[0][-1] < 0.25
    assert "pattern_accuracy" not in result.summary.columns


def test_measures_of_your_own_get_everything() -> None:
    def asked(moment: Moment) -> Floats:
        counts: Floats = moment.asked.sum(axis=1).astype(np.float64)
        return counts

    measures = (Measure("asked", asked), "unasked_accuracy")
    result = simulate(
        BANK, PEOPLE, {"x": MinimalEntropy()}, options=SimulationOptions(measures=measures)
    )
    assert np.array_equal(result.mean("x", "asked")[0], np.arange(len(Q) + 1))
    assert np.all(np.isnan(result.values("x", "unasked_accuracy")[:, -1]))
    with pytest.raises(UnknownNameError, match="measure"):
        result.mean("x", "accuracy")


def test_progress_is_reported_and_nothing_printed(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int]] = []
    simulate(
        BANK,
        PEOPLE,
        {"a": MinimalEntropy(), "b": RandomItem()},
        MaximalItems(2),
        options=SimulationOptions(batch_size=50),
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(n, 240) for n in (50, 100, 150, 200, 220, 240)]
    assert capsys.readouterr() == ("", "")


def test_variable_lengths_stay_as_they_ended() -> None:
    result = simulate(BANK, PEOPLE, {"x": MinimalEntropy()}, ProfileCertain(0.8))
    run = result.runs[0]
    assert len(set(run.lengths.tolist())) > 2
    values = result.values("x", "entropy")
    for row, length in enumerate(run.lengths.tolist()):
        assert np.all(values[row, length:] == values[row, length])
        assert np.all(run.asked[row, length:] == MISSING)


def test_bad_input_is_reported() -> None:
    with pytest.raises(InvalidArgumentError, match="at least one selector"):
        simulate(BANK, PEOPLE, {})
    with pytest.raises(InvalidArgumentError, match="expected at least 1 worker"):
        simulate(BANK, PEOPLE, SELECTORS, options=SimulationOptions(workers=0))
    with pytest.raises(InvalidArgumentError, match="batch_size to be a whole number of at least 1"):
        simulate(BANK, PEOPLE, SELECTORS, options=SimulationOptions(batch_size=0))
    with pytest.raises(InvalidArgumentError, match="seed to be a whole number of at least 0"):
        simulate(BANK, PEOPLE, SELECTORS, options=SimulationOptions(seed=-1))
    with pytest.raises(
        InvalidArgumentError, match="n_examinees to be a whole number of at least 1"
    ):
        Responses.drawn(BANK, 0)
    with pytest.raises(TableError, match="row 2, column item_3, got 2"):
        Responses.of([[1] * 8, [0, 0, 2, 0, 0, 0, 0, 0]], items=BANK.item_names).for_bank(BANK)
    # Examinees without responses are left out, with a note of the responses.
    assert len(Responses.of([[1] * 8, [-1] * 8], items=BANK.item_names)) == 1
    more = ItemBank.from_qmatrix([*Q, [1, 0, 0]], guess=0.2, slip=0.1)
    with pytest.raises(TableError, match="item_9"):
        simulate(more, PEOPLE, SELECTORS)
    graded = Responses(np.full((1, 8), 2), BANK.item_names)
    with pytest.raises(TableError, match="from 0 to 1"):
        simulate(BANK, graded, SELECTORS)


def test_examinees_and_results_are_immutable_and_travel() -> None:
    for thing in (PEOPLE, PEOPLE.take([2, 1])):
        again = pickle.loads(pickle.dumps(thing))
        assert np.array_equal(again.codes, thing.codes)
        assert np.array_equal(again.numbers, thing.numbers)
        with pytest.raises(ValueError, match="read-only"):
            again.levels[0, 0] = 1
    some = simulate(BANK, PEOPLE, {"x": MinimalEntropy()}, MaximalItems(2))
    again = pickle.loads(pickle.dumps(some))
    assert same(some, again)
    with pytest.raises(ValueError, match="read-only"):
        again.runs[0].asked[0, 0] = 0


PROFILE_BANK = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]] * 3, 0.2, 0.1)
PROFILES = Responses.drawn(PROFILE_BANK, 30, seed=2)


def simulated(stopper: Stopper, **options: Any) -> SimulationResult:
    """Return simulated tests with two selectors."""
    selectors: dict[str, Selector] = {
        "entropy": MinimalEntropy(),
        "random": RandomItem(),
    }
    asked = SimulationOptions(**options)
    return simulate(PROFILE_BANK, PROFILES, selectors, stopper, options=asked)


@pytest.mark.parametrize("batch_size", [7, 30])
def test_posteriors_and_profiles_are_those_of_live_beliefs(batch_size: int) -> None:
    result = simulated(ProfileCertain(0.8), posteriors=True, batch_size=batch_size)
    frame: Any = result.posteriors.set_index(["selector", "examinee", "step", "skill", "level"])
    people: Any = result.people.set_index(["selector", "examinee"])
    for run in result.runs:
        for examinee in range(len(PROFILES)):
            belief = start_belief(PROFILE_BANK)
            for step in range(int(run.lengths[examinee]) + 1):
                if step:
                    item = int(run.asked[examinee, step - 1])
                    code = int(PROFILES.codes[examinee, item])
                    belief = belief.update(PROFILE_BANK.item_names[item], code)
                for skill in PROFILE_BANK.skills:
                    rows = frame.loc[(run.selector, examinee, step, skill), "probability"]
                    np.testing.assert_allclose(rows, belief.marginal(skill), atol=1e-9)
            row = people.loc[(run.selector, examinee)]
            profile = belief.profile()
            assert run.profiles[examinee].tolist() == list(profile.levels)
            assert row["map_probability"] == pytest.approx(profile.probability)
            assert row["eap_skill_1"] == pytest.approx(belief.marginal("skill_1")[1])
            assert row["true_skill_2"] == str(PROFILES.levels[examinee, 1])
    counts = frame.groupby(["selector", "examinee"]).size()
    lengths = result.people.set_index(["selector", "examinee"])["length"]
    assert (counts == 4 * (lengths + 1)).all()


def test_without_the_option_only_the_ends_are_kept() -> None:
    ends, all_ = simulated(MaximalItems(3)), simulated(MaximalItems(3), posteriors=True)
    assert ends.runs[0].posteriors.shape == (30, 1, 4)
    assert all_.runs[0].posteriors.shape == (30, 4, 4)
    np.testing.assert_array_equal(ends.people, all_.people)
    last = all_.posteriors[all_.posteriors["step"] == 3].reset_index(drop=True)
    np.testing.assert_array_equal(ends.posteriors, last)
    none = simulated(ProfileCertain(0.1), posteriors=True)
    assert none.runs[0].posteriors.shape == (30, 1, 4)


def test_replays_keep_the_order_of_the_examinees() -> None:
    codes = np.array(PROFILES.codes)
    options = SimulationOptions(posteriors=True)
    selectors = {"random": RandomItem()}
    stopper = MaximalItems(9)
    one = replay(lambda _: PROFILE_BANK, codes, selectors, stopper, folds=3, options=options)
    known = simulate(
        PROFILE_BANK,
        Responses.of(codes, items=PROFILE_BANK.item_names),
        selectors,
        stopper,
        options=options,
    )
    ends = [result.runs[0].posteriors[:, -1] for result in (one, known)]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)
    assert "true_skill_1" not in one.people
