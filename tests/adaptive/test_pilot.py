"""Pilot items: places, rules, live tests, simulations, designs in files."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bnmind.adaptive import (
    PILOT_RULES,
    Blueprint,
    Bound,
    Design,
    Enemies,
    Independent,
    Item,
    ItemBank,
    ItemEligibility,
    LeastCalibrated,
    MaximalItems,
    MinimalEntropy,
    MostInformativePilot,
    PilotItems,
    RandomItem,
    Responses,
    Session,
    SkillsCertain,
    TableCertainty,
    Testlets,
    read_design,
    simulate_designs,
    start_beliefs,
    with_prior,
    write_bank,
)
from bnmind.adaptive.pilot import drawn_places, open_pilots
from bnmind.adaptive.rules import item_mask
from bnmind.adaptive.scores import Selections
from bnmind.errors import InvalidArgumentError, ModelFileError
from tests.registries import check_value, examples_of, registry_faults

Q = [[1, 0], [0, 1], [1, 1]] * 3
NEW = ("new_1", "new_2", "new_3")


def bank_with(*, testlet: str = "", enemies: tuple[str, ...] = ()) -> ItemBank:
    """Return a bank whose last three items are new."""
    names = [f"item_{n}" for n in range(1, 7)]
    items = [Item(name, testlet=testlet if n < 3 else "") for n, name in enumerate(names)]
    new = [Item(NEW[0], enemies=enemies), Item(NEW[1]), Item(NEW[2])]
    return ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1, items=[*items, *new])


BANK = bank_with()


def run_live(design: Design, answers: dict[str, int]) -> Session:
    session = Session.start(design)
    while not session.stop_reason:
        item = session.next_item()
        session = session.answer(item, answers[item])
    return session


def test_exposure_control_withholds_no_pilot_item() -> None:
    """It withheld them in simulations, where tests asked other items than live ones."""
    often, never = np.full(9, 20.0), np.zeros(9)
    control = ItemEligibility(0.2, often, np.where(item_mask(BANK, NEW), often, never))
    design = Design(
        BANK, stopper=MaximalItems(2), eligibility=control, pilot=PilotItems(NEW, 3), seed=1
    )
    assert control.probabilities.min() < 1
    session = run_live(design, dict.fromkeys(BANK.item_names, 1))
    run = simulate_designs({"test": design}, Responses.of([[1] * 9], items=BANK.item_names)).runs[0]
    assert run.lengths[0] == 5
    assert tuple(BANK.item_names[place] for place in run.asked[0]) == session.state.asked


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_a_live_test_is_a_simulated_one_and_the_rest_as_without_pilots(data: Any) -> None:
    number = data.draw(st.integers(1, 3))
    places = data.draw(st.lists(st.integers(1, 8), min_size=number, unique=True))
    rules = [LeastCalibrated(), RandomItem(), MostInformativePilot(), MinimalEntropy()]
    pilot = PilotItems(
        NEW,
        number,
        places=tuple(places),
        rule=data.draw(st.sampled_from(rules)),
        complete=data.draw(st.booleans()),
    )
    stopper = data.draw(st.sampled_from([MaximalItems(4), SkillsCertain(0.9), None]))
    testlet = data.draw(st.sampled_from(["", "together"]))
    seed = data.draw(st.integers(0, 5))
    design = Design(bank_with(testlet=testlet), stopper=stopper, seed=seed, pilot=pilot)
    row = data.draw(st.lists(st.integers(0, 1), min_size=9, max_size=9))
    session = run_live(design, dict(zip(design.bank.item_names, row, strict=True)))
    people = Responses.of([row], items=design.bank.item_names)
    run = simulate_designs({"test": design}, people).runs[0]
    asked = [design.bank.item_names[place] for place in run.asked[0] if place >= 0]
    assert tuple(asked) == session.state.asked
    assert run.reasons[0] == session.stop_reason
    assert_allclose(
        run.posteriors[0, -1].reshape(2, 2)[:, 1],
        [session.posterior[skill]["1"] for skill in design.bank.skills],
    )
    # Without the pilot items, the rest is the same test.
    without = tuple(name for name in session.state.asked if name not in NEW)
    plain = ItemBank.from_qmatrix(Q[:6], guess=0.2, slip=0.1, items=design.bank.items[:6])
    answers = dict(zip(plain.item_names, row, strict=False))
    assert run_live(Design(plain, stopper=stopper, seed=seed), answers).state.asked == without
    asked_new = [name for name in session.state.asked if name in NEW]
    if pilot.complete:
        assert len(asked_new) == number
    questions = drawn_places(pilot, seed, np.zeros(1, dtype=np.intp))[0]
    for question, name in zip(questions, asked_new, strict=False):
        at = session.state.asked.index(name) + 1
        # Later behind a testlet; earlier only when the test would end.
        rest = set(session.state.asked[at:]) - set(NEW)
        assert at == question or (testlet and at > question) or not rest


def test_pilots_do_not_count_unless_they_shall() -> None:
    pilot = PilotItems(NEW, 2, places=(1, 2))
    answers = dict.fromkeys(BANK.item_names, 1)
    session = run_live(Design(BANK, stopper=MaximalItems(3), pilot=pilot), answers)
    assert len(session.state.asked) == 5
    assert set(session.state.responses) - set(session.belief.responses) == set(
        session.report().to_dict()["pilot"]
    )
    assert {fit.item for fit in session.report().answers} == set(session.belief.responses)
    counting = dataclasses.replace(pilot, count=True)
    session = run_live(Design(BANK, stopper=MaximalItems(3), pilot=counting), answers)
    assert len(session.state.asked) == 5
    assert set(session.state.responses) == set(session.belief.responses)


def test_a_session_with_pilots_can_be_resumed_undone_and_changed(tmp_path: pathlib.Path) -> None:
    toml = tmp_path / "design.toml"
    toml.write_text(
        'stop = "items:3"\n[pilot]\nitems = ["new_1", "new_2", "new_3"]\nnumber = 2\n'
        'places = [2, 3]\nby = "random"\n'
    )
    path = tmp_path / "ann.json"
    session = Session.start(read_design(toml, BANK), path=path)
    while not session.stop_reason:
        again = Session.load(path, BANK)
        assert again.next_item() == session.next_item()
        session = session.answer(session.next_item(), 1)
    assert [name in NEW for name in session.state.asked] == [False, True, True, False, False]
    first = session.state.asked[1]
    changed = Session.load(path, BANK).change(first, 0)
    assert changed.posterior == session.posterior
    back = changed.undo().undo()
    assert back.state.asked == session.state.asked[:-1]
    assert back.stop_reason == ""
    skipped = Session.start(read_design(toml, BANK)).answer("item_3", 1)
    skipped = skipped.skip(skipped.next_item())
    assert skipped.next_item() in NEW


def test_enemies_and_blueprints() -> None:
    bank = bank_with(enemies=("item_1", "item_2", "item_3", "item_4", "item_5", "item_6"))
    pilot = PilotItems(("new_1", "new_2"), 2, places=(2, 3))
    session = run_live(
        Design(bank, stopper=MaximalItems(2), pilot=pilot), dict.fromkeys(bank.item_names, 1)
    )
    assert session.report().to_dict()["pilot"] == ("new_2",)
    coded = [Item(f"item_{n}", content="x" if n > 4 else "y") for n in range(1, 10)]
    bank = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1, items=coded)
    rules = (Enemies(), Blueprint((Bound(code="x", least=3),)), Testlets())
    with pytest.raises(InvalidArgumentError, match="without the pilot items"):
        Design(
            bank,
            stopper=MaximalItems(5),
            rules=rules,
            pilot=PilotItems(("item_5", "item_6", "item_7")),
        )


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        (lambda: PilotItems(("a",), 2), "at least 2 pilot items"),
        (lambda: PilotItems(("a",), 0), "number to be a whole number of at least 1"),
        (lambda: PilotItems(("a",), places=(0, 1)), "places to be .* of at least 1"),
        (lambda: PilotItems(("a", "b"), 2, places=(3,)), "2 places"),
        (lambda: Design(BANK, pilot=PilotItems(("nwe_1",))), "did you mean new_1"),
        (lambda: Design(BANK, pilot=PilotItems(BANK.item_names)), "pilot items only"),
    ],
)
def test_wrong_pilot_items_are_refused(wrong: Any, what: str) -> None:
    with pytest.raises(InvalidArgumentError, match=what):
        wrong()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[pilot]\nitems = ["nwe_1"]', "pilot.items: .*did you mean new_1"),
        ('[pilot]\nitems = ["new_1"]\nby = "rnadom"', "pilot.by: .*did you mean random"),
        ('[pilot]\nitems = ["new_1"]\nnumber = 2', "pilot: expected at least 2"),
        ('[pilot]\nitems = ["new_1"]\nplace = [1]', "pilot.*did you mean places"),
        ('parameters = "mean"', "parameters: "),
    ],
)
def test_a_design_file_with_wrong_pilots_is_refused(
    tmp_path: pathlib.Path, text: str, what: str
) -> None:
    (tmp_path / "t.toml").write_text(text)
    with pytest.raises(ModelFileError, match=what):
        read_design(tmp_path / "t.toml", BANK)


def test_averaged_parameters_in_a_design_file(tmp_path: pathlib.Path) -> None:
    bank = BANK.with_certainties({"item_1": TableCertainty(np.ones((2, 2)), (0, 1))})
    (tmp_path / "t.toml").write_text('parameters = "averaged"\nstop = "items:2"\n')
    design = read_design(tmp_path / "t.toml", bank)
    assert design.bank.channel("item_1").tolist() == [[0.5, 0.5], [0.5, 0.5]]
    session = Session.start(design, path=tmp_path / "s.json").answer("item_1", 1)
    again = Session.load(tmp_path / "s.json", bank)
    assert again.posterior == session.posterior
    write_bank(bank, tmp_path / "bank.json")


@pytest.mark.parametrize("name", PILOT_RULES)
def test_the_contract_of_registered_rules(name: str) -> None:
    for rule in examples_of("rule", PILOT_RULES, name):
        check_value(rule)
        luck = np.random.default_rng(1).random((3, 9))
        allowed = np.tile(item_mask(BANK, ["new_1", "new_3"]), (3, 1))
        beliefs = start_beliefs(BANK, 3)
        found = rule.select_batch(beliefs, allowed, luck=luck)
        assert set(found.items.tolist()) <= {6, 8}
        assert np.array_equal(np.isfinite(found.scores), allowed)
        assert np.array_equal(found.scores, rule.select_batch(beliefs, allowed, luck=luck).scores)


def test_the_registry_of_rules() -> None:
    assert registry_faults(PILOT_RULES) == []


def test_items_with_few_answers_are_asked_more_often() -> None:
    counts = np.ones((2, 2))
    bank = BANK.with_certainties(
        {
            "new_1": TableCertainty(counts, (0, 1), 1),
            "new_2": TableCertainty(counts, (0, 1), 4),
        }
    )
    design = Design(bank, stopper=MaximalItems(1), pilot=PilotItems(NEW[:2]))
    people = Responses.drawn(bank, 2000, seed=1)
    asked = simulate_designs({"x": design}, people).runs[0].asked_mask
    share = asked[:, 6].mean()
    assert abs(share - (1 / 2) / (1 / 2 + 1 / 5)) < 5 * np.sqrt(0.2 / 2000)


def informative(bank: ItemBank, luck: list[list[float]] | None = None) -> Selections:
    """Return the choice between the first two new items, by the luck of each examinee."""
    numbers = np.zeros((len(luck or [0]), 9))
    numbers[:, 6:8] = luck or 0
    allowed = np.tile(item_mask(bank, NEW[:2]), (len(numbers), 1))
    beliefs = start_beliefs(bank, len(numbers))
    return MostInformativePilot().select_batch(beliefs, allowed, luck=numbers)


def test_the_information_about_the_parameters() -> None:
    """The second-order information agrees with the exact one for well-known parameters."""
    rng = np.random.default_rng(5)
    counts = np.array([[30.0, 12.0], [9.0, 25.0]])
    bank = BANK.with_certainties({"new_1": TableCertainty(counts, (0, 1), 70)})
    bank = with_prior(bank.averaged(), Independent(0.7))
    score = informative(bank).scores[0, 6]
    drawn = rng.beta(counts[:, 1], counts[:, 0], (200_000, 2)) @ [0.3, 0.7]

    def entropy_of(p: Any) -> Any:
        return -(p * np.log2(p) + (1 - p) * np.log2(1 - p))

    exact = entropy_of(drawn.mean()) - entropy_of(drawn).mean()
    assert_allclose(score, exact, rtol=0.05)
    # Nothing is known of items without a certainty, so they tell most.
    assert informative(bank).scores[0, 7] > score


def test_selectors_that_draw_and_pilots() -> None:
    design = Design(BANK, RandomItem(), MaximalItems(3), seed=3, pilot=PilotItems(NEW, 2))
    answers = dict.fromkeys(BANK.item_names, 0)
    session = run_live(design, answers)
    people = Responses.of([[0] * 9], items=BANK.item_names)
    run = simulate_designs({"test": design}, people).runs[0]
    assert [BANK.item_names[p] for p in run.asked[0]] == list(session.state.asked)


def test_by_default_pilot_items_are_among_the_first_five_questions_for_each() -> None:
    assert PilotItems(NEW).places == (1, 2, 3, 4, 5)
    assert PilotItems(NEW, 2).places == tuple(range(1, 11))


def test_the_most_informative_item_is_asked_whatever_the_luck() -> None:
    counts = np.array([[30.0, 12.0], [9.0, 25.0]])
    bank = BANK.with_certainties({"new_1": TableCertainty(counts, (0, 1), 70)})
    for luck in ([[0.9, 0.1], [0.1, 0.9]], [[0.1, 0.9], [0.9, 0.1]]):
        assert informative(bank, luck).items.tolist() == [7, 7]
    # Luck breaks ties.
    assert informative(BANK, [[0.9, 0.1], [0.1, 0.9]]).items.tolist() == [6, 7]


def test_a_pilot_item_interrupts_no_testlet_and_waits_for_nothing_else() -> None:
    bank = bank_with(testlet="text")
    mask = np.array([name in NEW for name in bank.item_names])
    common: dict[str, object] = {
        "available": np.ones((3, 9), dtype=bool),
        "allowed": np.tile(~mask, (3, 1)),
        "ended": np.zeros(3, dtype=bool),
        "places": np.full((3, 1), 2),
    }
    # After an item of a testlet, after one without, and before all.
    asked = np.array([[0], [5], [-1]])
    found = open_pilots(PilotItems(NEW), bank, asked, **common)  # type: ignore[arg-type]
    assert found.any(axis=1).tolist() == [False, True, False]
    assert not found[:, ~mask].any()
