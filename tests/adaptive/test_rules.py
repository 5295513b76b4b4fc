"""Exposure control, rules on what may be asked, minima of content, and stopping."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bnmind.adaptive import (
    MISSING,
    Blueprint,
    Bound,
    Design,
    DeviationBelow,
    DiscriminationIndex,
    Enemies,
    EntropyBelow,
    FixedOrder,
    GainBelow,
    Item,
    ItemBank,
    ItemEligibility,
    MaximalCost,
    MaximalFisher,
    MaximalItems,
    MinimalEntropy,
    ProfileCertain,
    Progress,
    Randomesque,
    Responses,
    Rule,
    Session,
    SimulationOptions,
    SkillBelief,
    SkillsCertain,
    StopBy,
    Stopper,
    SympsonHetter,
    Testlets,
    irt_bank,
    simulate,
    start_belief,
    start_beliefs,
)
from bnmind.adaptive.rules import allowed_items
from bnmind.errors import InvalidArgumentError, UnknownNameError

ITEMS = [
    Item("a", content="sums", cost=1, time=10),
    Item("b", content="sums", cost=2, time=20, enemies=("e",)),
    Item("c", content="sums", testlet="story"),
    Item("d", content="products"),
    Item("e", content="products", testlet="story"),
    Item("f", content="forms", testlet="story"),
]
BANK = ItemBank.from_qmatrix(
    [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1]],
    guess=[0.05, 0.1, 0.15, 0.2, 0.25, 0.3],
    slip=0.1,
    items=ITEMS,
)
BELIEF = start_belief(BANK)
NAMES = BANK.item_names


def open_after(rules: list[Any], *asked: str) -> str:
    sequence = np.array([[BANK.position(name) for name in asked]], dtype=np.intp)
    # A second examinee, who was asked nothing, must not matter.
    both = np.concatenate([np.full((1, len(asked)), MISSING), sequence])
    mask = allowed_items(BANK, rules, both)[1]
    np.testing.assert_array_equal(mask, allowed_items(BANK, rules, sequence)[0])
    return "".join(NAMES[i] for i in np.flatnonzero(mask))


def test_what_was_asked_is_not_asked_again() -> None:
    assert open_after([]) == "abcdef"
    assert open_after([], "b", "d") == "acef"


def test_enemies_are_not_asked_together_whoever_names_whom() -> None:
    assert open_after([Enemies()], "b") == "acdf"
    assert open_after([Enemies()], "e") == "acdf"
    assert open_after([Enemies((("a", "d"),))], "d") == "bcef"


def test_a_testlet_is_not_interrupted() -> None:
    assert open_after([Testlets()], "a") == "bcdef"
    assert open_after([Testlets()], "a", "e") == "cf"
    assert open_after([Testlets()], "e", "c") == "f"
    assert open_after([Testlets()], "e", "c", "f") == "abd"
    assert open_after([Testlets(in_order=True)]) == "abcd"
    assert open_after([Testlets(in_order=True)], "c") == "e"
    # An enemy inside is left out, and the testlet goes on.
    assert open_after([Enemies(), Testlets()], "b", "c") == "f"
    assert open_after([Enemies(), Testlets()], "b", "c", "f") == "ad"


def test_testlets_in_order_are_those_that_are_named() -> None:
    names = {"a": "one", "b": "two", "c": "one", "d": "two", "e": "three", "f": "three"}
    items = [Item(name, testlet=testlet) for name, testlet in names.items()]
    bank = ItemBank.from_qmatrix([[1]] * 6, guess=0.2, slip=0.1, items=items)
    for ordered, first in ((("two",), "abcef"), (("one", "three"), "abde"), ((), "abcdef")):
        mask = allowed_items(bank, [Testlets(ordered=ordered)], np.zeros((1, 0), dtype=int))[0]
        assert "".join(bank.item_names[i] for i in np.flatnonzero(mask)) == first


def test_rules_wait_for_nothing_that_is_withheld() -> None:
    asked, available = [[BANK.position("e")]], [[name not in "cf" for name in NAMES]]
    mask = allowed_items(BANK, [Testlets()], asked, available=available)[0]
    assert [NAMES[i] for i in np.flatnonzero(mask)] == ["a", "b", "d"]
    design = Design(BANK, rules=(Blueprint((Bound(1, code="forms"),), length=3), Testlets()))
    assert design.allowed([]) == ("c", "e", "f")  # a story of three items
    assert design.allowed([], ["f"]) == ("a", "b", "c", "d", "e")
    # In a simulation, too: of the testlet an item is set aside, and the test goes on.
    control = SympsonHetter(FixedOrder(("c", "e", "f")), {"e": 0.0})
    people = Responses.drawn(BANK, 2)
    run = simulate(
        BANK, people, {"x": control}, options=SimulationOptions(rules=(Testlets(),))
    ).run_of("x")
    assert ["".join(NAMES[i] for i in row) for row in run.asked] == ["cfabd"] * 2


def test_content_codes_keep_their_bounds() -> None:
    codes = (Bound(1, code="products"), Bound(1, code="forms"), Bound(0, 2, code="sums"))
    bounds = Blueprint(codes, length=4)
    assert open_after([bounds]) == "acdef"  # b excludes e, of the story with the only form
    assert open_after([bounds], "a") == "cef"  # three questions are left for the story
    assert open_after([bounds], "d", "f") == "ce"
    assert open_after([Enemies(), bounds], "c", "e", "f") == "ad"
    # No later minimum depends on what comes first.
    assert open_after([Blueprint(codes[1:2])]) == "acdef"
    # What is short of items closes nothing.
    forms = Blueprint((Bound(1, code="forms"),))
    none = Blueprint((Bound(most=0, items=("c", "d", "e", "f")),))
    assert open_after([none, forms]) == "ab"
    with pytest.raises(UnknownNameError, match="content code"):
        open_after([Blueprint((Bound(1, code="verbs"),))])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Bound(-1, code="a"), "at least 0"),
        (lambda: Bound(3, 2, code="a"), "is above the largest, 2"),
        (lambda: Randomesque(MinimalEntropy(), 0), "at least 1"),
        (lambda: SympsonHetter(MinimalEntropy(), {"a": 1.5}), "rates .* a number from 0 to 1"),
        (lambda: SympsonHetter(MinimalEntropy()).adjusted({}, 0), "limit"),
        (lambda: ItemEligibility.start(BANK, 0), "limit"),
        (lambda: ItemEligibility(0.5, np.zeros(2), np.ones(2)), "more often"),
        (lambda: MaximalItems(0), "at least 1"),
        (lambda: MaximalCost(0), "above 0"),
        (lambda: MaximalCost(math.nan, "time"), "above 0"),
        (lambda: EntropyBelow(-1), "at least 0"),
        (lambda: ProfileCertain(0), "probability"),
        (lambda: SkillsCertain(1.1), "probability"),
        (lambda: DeviationBelow(0), "above 0"),
        (lambda: GainBelow(-0.1), "at least 0"),
    ],
)
def test_parameters_out_of_range_are_reported(make: Any, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        make()


def test_randomesque_draws_among_the_best_alone_and_fairly() -> None:
    selector = Randomesque(MinimalEntropy(), best=2)
    rng = np.random.default_rng(0)
    drawn = [selector.select(BELIEF, NAMES, rng=rng).item for _ in range(400)]
    assert set(drawn) == {"a", "b"}
    assert 150 < drawn.count("a") < 250
    assert selector.select(BELIEF, ["f"], rng=rng).item == "f"
    luck = rng.random((400, 6))
    batch = selector.select_batch(start_beliefs(BANK, 400), np.ones((400, 6), bool), luck=luck)
    assert set(batch.items.tolist()) == {0, 1}
    with pytest.raises(InvalidArgumentError, match="luck"):
        selector.select_batch(start_beliefs(BANK, 2), np.ones((2, 6), dtype=bool))


def test_sympson_hetter_asks_as_often_as_its_rates_say() -> None:
    selector = SympsonHetter(MinimalEntropy(), {"a": 0.25, "b": 0.5})
    n = 4000
    luck = np.random.default_rng(2).random((n, 6))
    batch = selector.select_batch(start_beliefs(BANK, n), np.ones((n, 6), bool), luck=luck)
    shares = np.bincount(batch.items, minlength=6) / n
    np.testing.assert_allclose(shares[:3], [0.25, 0.375, 0.375], atol=0.03)
    asked_c = batch.items == 2
    np.testing.assert_array_equal(batch.set_aside[asked_c, :2], True)
    assert not batch.set_aside[:, 2:].any()
    one = selector.select(BELIEF, NAMES, rng=np.random.default_rng(5))
    luck_of_one = np.random.default_rng(5).random((1, 6))
    same = selector.select_batch(start_beliefs(BANK, 1), np.ones((1, 6), bool), luck=luck_of_one)
    assert NAMES[same.items[0]] == one.item
    assert tuple(NAMES[i] for i in np.flatnonzero(same.set_aside[0])) == one.set_aside
    never = SympsonHetter(MinimalEntropy(), dict.fromkeys(NAMES, 0.0))
    assert never.select(BELIEF, NAMES, rng=np.random.default_rng(0)).item == "a"
    assert selector.adjusted({"a": 0.8, "b": 0.1}, 0.2).rates == {"a": 0.25, "b": 1.0}


def test_adjusting_rates_brings_exposure_below_the_limit() -> None:
    """Sympson and Hetter's own loop, with tests of two items."""
    bank = ItemBank.from_qmatrix([[1]] * 8, guess=np.linspace(0.05, 0.4, 8), slip=0.1)
    selector, rng, n = SympsonHetter(FixedOrder()), np.random.default_rng(7), 3000
    for _ in range(12):
        beliefs, allowed = start_beliefs(bank, n), np.ones((n, 8), dtype=bool)
        asked, selected = np.zeros((n, 8), dtype=bool), np.zeros((n, 8), dtype=bool)
        for _ in range(2):
            found = selector.select_batch(beliefs, allowed, luck=rng.random((n, 8)))
            asked[np.arange(n), found.items] = True
            selected |= found.set_aside
            allowed &= ~asked & ~found.set_aside
        selected |= asked
        exposure = asked.mean(axis=0)
        shares = dict(zip(bank.item_names, selected.mean(axis=0).tolist(), strict=True))
        selector = selector.adjusted(shares, 0.5)
    assert exposure.max() < 0.54
    assert exposure.sum() == pytest.approx(2)


def test_eligibility_keeps_exposure_at_its_limit() -> None:
    control, rng = ItemEligibility.start(BANK, 0.5), np.random.default_rng(1)
    np.testing.assert_array_equal(control.probabilities, 1)
    counts = np.zeros(6)
    for _ in range(1500):
        eligible = control.draw(rng.random(6))
        # The best two eligible items are asked; if there are fewer, then others.
        order = [*np.flatnonzero(eligible), *np.flatnonzero(~eligible)][:2]
        asked = np.isin(np.arange(6), order)
        control = control.after(eligible, asked)
        counts += asked
    assert counts.max() / 1500 < 0.52
    assert counts.sum() == 3000
    assert control.draw(np.zeros((3, 6))).all()


@pytest.mark.parametrize(
    "mask",
    [
        np.ones((2, 3, 6), dtype=bool),
        np.ones(5, dtype=bool),
        np.ones((6, 2), dtype=bool),
        np.ones(6, dtype=int),
        np.array(True),
        [True] * 6,
    ],
)
def test_eligibility_is_counted_by_masks_of_items_or_of_examinees_and_items(mask: Any) -> None:
    control, good = ItemEligibility.start(BANK, 0.5), np.ones(6, dtype=bool)
    for masks, what in (((mask, good), "eligible"), ((good, mask), "asked")):
        with pytest.raises(
            InvalidArgumentError, match=f"expected {what} (as|to be) an array of True and"
        ):
            control.after(*masks)
    with pytest.raises(InvalidArgumentError, match="expected asked"):
        control.after(good, good[np.newaxis])


def told(stopper: Stopper, *asked: str, responses: tuple[int, ...] = ()) -> str:
    """Return the reason, having checked that a batch of two says when to stop, too."""
    belief = BELIEF
    batch = start_beliefs(BANK, 2)
    allowed = np.ones((2, 6), dtype=bool)
    sequence = np.full((2, len(asked)), MISSING)
    sequence[1] = [BANK.position(item) for item in asked]
    for item, response in zip(asked, responses or (1,) * len(asked), strict=True):
        belief = belief.update(item, response)
        batch = batch.update([MISSING, BANK.position(item)], [0, response])
        allowed[1, BANK.position(item)] = False
    left = tuple(name for name in NAMES if name not in asked)
    reason = stopper.stop(belief, asked, left)
    both = stopper.stop_batch(Progress(batch, sequence, allowed))
    assert both.shape == (2,)
    assert bool(both[1]) == bool(reason)
    assert bool(both[0]) == bool(stopper.stop(BELIEF, (), NAMES))
    return reason


def test_tests_stop_for_a_reason_in_words() -> None:
    assert told(MaximalItems(2), "a") == ""
    assert told(MaximalItems(2), "a", "b") == "2 items were asked"
    assert told(MaximalCost(3), "a") == ""
    assert told(MaximalCost(3), "a", "b") == "the items asked have cost 3 or more"
    assert told(MaximalCost(25, "time"), "a", "b") == "the items asked take 25 or longer"
    assert told(EntropyBelow(1.0)) == ""
    assert told(EntropyBelow(1.6), "a") == "the entropy of the skills is at most 1.6 bits"
    assert told(ProfileCertain(0.6), "a") == ""
    assert "probability 0.6" in told(ProfileCertain(0.6), "a", "b", "c")
    assert told(SkillsCertain(0.8), "a") == ""
    assert "skill_1 is known" in told(SkillsCertain(0.8, ("skill_1",)), "a")
    assert told(GainBelow(0.01)) == ""
    assert "score above 2 bits" in told(GainBelow(2.0))
    assert GainBelow(0.0).stop(BELIEF) != ""


def test_stoppers_combine() -> None:
    both = MaximalItems(2) & SkillsCertain(0.9, ("skill_1",))
    assert told(both, "a") == ""
    assert " and " in told(both, "a", "b")
    either = MaximalItems(3) | SkillsCertain(0.9, ("skill_1",))
    assert told(either, "a") == "skill_1 is known with probability 0.9 or more"
    certain = "skill_1 is known with probability 0.9 or more"
    assert told(either, "a", "b", "c") == f"3 items were asked and {certain}"


def test_functions_stop_too() -> None:
    stopper = StopBy(lambda belief, asked: "a" in asked, "a was asked")
    assert stopper.stop(BELIEF, ("a",)) == "a was asked"
    assert stopper.stop(BELIEF) == ""
    assert StopBy(lambda belief, asked: "enough").stop(BELIEF) == "enough"
    assert told(stopper, "a") == "a was asked"


def test_a_function_stops_simulated_tests_as_it_stops_live_ones() -> None:
    def enough(belief: SkillBelief, asked: tuple[str, ...]) -> str:
        sure = belief.marginal("skill_1").max() > 0.9
        return f"{asked[-1]} after {asked}" if asked and sure else ""

    people = Responses.drawn(BANK, 8, seed=1)
    run = simulate(BANK, people, {"x": DiscriminationIndex()}, StopBy(enough)).run_of("x")
    for row, reason, answers in zip(run.asked, run.reasons, people.codes, strict=True):
        session = Session.start(Design(BANK, DiscriminationIndex(), StopBy(enough)))
        while not session.stop_reason:
            item = session.next_item()
            session = session.answer(item, int(answers[BANK.position(item)]))
        assert [NAMES[i] for i in row if i != MISSING] == list(session.state.asked)
        assert reason == session.stop_reason


def test_an_ability_is_known_when_its_deviation_is_small() -> None:
    bank = irt_bank([[2.0, 0.0]] * 5)
    belief, batch = start_belief(bank), start_beliefs(bank, 1)
    stopper, every = DeviationBelow(0.7), np.arange(5)[None]
    assert stopper.stop(belief) == ""
    assert stopper.stop_batch(Progress(batch, every[:, :0], every >= 0)).tolist() == [""]
    for number, name in enumerate(bank.item_names):
        belief = belief.update(name, number % 2)
        batch = batch.update([number], [number % 2])
    assert "0.7" in stopper.stop(belief)
    assert "0.7" in stopper.stop_batch(Progress(batch, every, every < 0))[0]
    assert "score above 5" in GainBelow(5, MaximalFisher()).stop(belief, (), bank.item_names)


def test_stoppers_are_joined_one_by_one() -> None:
    first, second, third = MaximalItems(3), MaximalItems(5), MaximalItems(4)
    assert (first | second).most_items() == 3
    assert (first & second).most_items() == 5
    assert (first & StopBy(lambda belief, asked: True)).most_items() is None
    both = first | second | third
    assert both == first | (second | third) == pickle.loads(pickle.dumps(both))
    assert both != (first | second) & third
    wrongs: list[Any] = [[], 3, "items", MaximalItems, None]
    for wrong in wrongs:
        with pytest.raises(InvalidArgumentError, match="stopper"):
            first | wrong
        with pytest.raises(InvalidArgumentError, match="stopper"):
            first & wrong


CODES = "xxxyyyzz"
CODED_ITEMS = [Item(name, content=code) for name, code in zip("abcdefgh", CODES, strict=True)]
CODED_BANK = ItemBank.from_qmatrix(
    [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1], [1, 0], [0, 1]],
    guess=[0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.1, 0.2],
    slip=0.1,
    items=CODED_ITEMS,
)
AT_ONCE = StopBy(lambda belief, asked: True, "it is enough")


def ended(design: Design, responses: list[int] | None = None) -> Session:
    session = Session.start(design)
    while not session.stop_reason:
        item = session.next_item()
        given = 1 if responses is None else responses[design.bank.position(item)]
        session = session.answer(item, given)
    return session


def asked(session: Session) -> str:
    return "".join(session.state.asked)


def simulated(bank: ItemBank, rules: tuple[Rule, ...], stopper: Stopper) -> tuple[str, str]:
    people = Responses.of(np.ones((2, len(bank.items)), dtype=int), items=bank.item_names)
    run = simulate(
        bank, people, {"order": FixedOrder()}, stopper, options=SimulationOptions(rules=rules)
    ).runs[0]
    assert np.array_equal(run.asked[0], run.asked[1])
    names = "".join(bank.item_names[i] for i in run.asked[0] if i != MISSING)
    return names, str(run.reasons[0])


@pytest.mark.parametrize("length", [None, 7])
def test_a_stopper_waits_until_the_minima_are_met(length: int | None) -> None:
    rules = (Enemies(), Blueprint((Bound(2, code="y"), Bound(1, code="z")), length), Testlets())
    design = Design(bank=CODED_BANK, selector=FixedOrder(), stopper=AT_ONCE, rules=rules)
    start = Session.start(design)
    assert start.stop_reason == ""
    assert start.allowed == ("d", "e", "f", "g", "h")
    assert design.allowed(()) == CODED_BANK.item_names
    session = ended(design)
    assert asked(session) == "deg"
    assert session.stop_reason == "it is enough"
    assert simulated(CODED_BANK, rules, AT_ONCE) == ("deg", "it is enough")


@pytest.mark.parametrize(
    ("stopper", "expected"),
    [
        (AT_ONCE | MaximalCost(2.0), "deg"),
        (AT_ONCE | MaximalCost(1.0, "time"), "deg"),
        (AT_ONCE & MaximalItems(4), "abcdeg"),
        (ProfileCertain(0.01) | SkillsCertain(0.01), "deg"),
        (EntropyBelow(9.0) | GainBelow(9.0), "deg"),
    ],
)
def test_limits_wait_as_other_stoppers_do(stopper: Stopper, expected: str) -> None:
    rules = (Blueprint((Bound(2, code="y"), Bound(1, code="z"))),)
    session = ended(Design(bank=CODED_BANK, selector=FixedOrder(), stopper=stopper, rules=rules))
    assert asked(session) == expected
    assert simulated(CODED_BANK, rules, stopper) == (asked(session), session.stop_reason)


def test_nobody_waits_for_what_cannot_be_asked_any_more() -> None:
    balance = Blueprint((Bound(2, code="x"), Bound(2, code="z")))
    only = Blueprint((Bound(most=0, items=("b", "c", "e", "f", "g")),))
    assert (
        asked(
            ended(
                Design(
                    bank=CODED_BANK, selector=FixedOrder(), stopper=AT_ONCE, rules=(only, balance)
                )
            )
        )
        == "ah"
    )
    assert simulated(CODED_BANK, (only, balance), AT_ONCE)[0] == "ah"
    # An item set aside is not waited for either.
    control = SympsonHetter(FixedOrder(("g",)), {"g": 0.0})
    session = ended(
        Design(
            bank=CODED_BANK,
            selector=control,
            stopper=AT_ONCE,
            rules=(Blueprint((Bound(2, code="z"),)),),
        )
    )
    assert asked(session) == "h"
    people = Responses.of(np.ones((2, 8), dtype=int), items=CODED_BANK.item_names)
    run = simulate(
        CODED_BANK,
        people,
        {"x": control},
        AT_ONCE,
        options=SimulationOptions(rules=(Blueprint((Bound(2, code="z"),)),)),
    )
    assert run.runs[0].asked.tolist() == [[7]] * 2


class FewAtATime:
    """A rule of somebody's own: nothing may be asked while more than two items are open."""

    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        left: NDArray[np.bool_] = allowed & (allowed.sum(axis=1, keepdims=True) <= 2)
        return left


def test_a_test_goes_on_while_items_are_open_that_the_minima_need() -> None:
    rules = (Blueprint((Bound(1, code="z"),), length=4), FewAtATime())
    session = Session.start(
        Design(bank=CODED_BANK, selector=FixedOrder(), stopper=AT_ONCE, rules=rules)
    )
    assert (session.stop_reason, session.allowed) == ("", ("g", "h"))
    assert asked(ended(session.design)) == "g"
    assert simulated(CODED_BANK, rules, AT_ONCE) == ("g", "it is enough")
