"""Content minima are met in tests of variable length: stoppers wait for them, limits do not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bnmind.adaptive import (
    MISSING,
    AllOf,
    AnyOf,
    ContentBalance,
    Design,
    Enemies,
    EntropyBelow,
    Examinees,
    FixedOrder,
    GainBelow,
    Item,
    ItemBank,
    MaximalCost,
    MaximalItems,
    MaximalTime,
    MinimalEntropy,
    OnlyItems,
    ProfileCertain,
    Progress,
    Rule,
    Selector,
    Session,
    SimulationOptions,
    SkillBelief,
    SkillsCertain,
    StopBy,
    Stopper,
    SympsonHetter,
    Testlets,
    simulate,
)

CODES = "xxxyyyzz"
ITEMS = [Item(name, content=code) for name, code in zip("abcdefgh", CODES, strict=True)]
BANK = ItemBank.from_qmatrix(
    [[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1], [1, 0], [0, 1]],
    guess=[0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.1, 0.2],
    slip=0.1,
    items=ITEMS,
)
AT_ONCE = StopBy(lambda progress: True, "it is enough")


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
    people = Examinees.recorded(bank, np.ones((2, len(bank.items)), dtype=int))
    run = simulate(
        bank, people, {"order": FixedOrder()}, stopper, options=SimulationOptions(rules=rules)
    ).runs[0]
    assert np.array_equal(run.asked[0], run.asked[1])
    names = "".join(bank.item_names[i] for i in run.asked[0] if i != MISSING)
    return names, str(run.reasons[0])


@pytest.mark.parametrize("length", [None, 7])
def test_a_stopper_waits_until_the_minima_are_met(length: int | None) -> None:
    rules = (Enemies(), ContentBalance({"y": 2, "z": 1}, length=length), Testlets())
    design = Design(bank=BANK, selector=FixedOrder(), stopper=AT_ONCE, rules=rules)
    start = Session.start(design)
    assert start.stop_reason == ""
    assert start.allowed == ("d", "e", "f", "g", "h")
    assert start.progress.allowed == (start.allowed if length is None else BANK.item_names)
    session = ended(design)
    assert asked(session) == "deg"
    assert session.stop_reason == "it is enough"
    assert simulated(BANK, rules, AT_ONCE) == ("deg", "it is enough")


@pytest.mark.parametrize(
    ("stopper", "expected"),
    [
        (AnyOf((AT_ONCE, MaximalItems(2))), ("de", "2 items were asked")),
        (AnyOf((AT_ONCE, MaximalCost(2.0))), ("de", "the items asked have cost 2 or more")),
        (AnyOf((AT_ONCE, MaximalTime(1.0))), ("d", "the items asked take 1 or longer")),
        (AllOf((AT_ONCE, MaximalItems(2))), ("deg", "it is enough and 2 items were asked")),
        (AllOf((AT_ONCE, MaximalItems(4))), ("dega", "it is enough and 4 items were asked")),
        (
            AllOf((MaximalItems(2), MaximalCost(1.0))),
            ("de", "2 items were asked and the items asked have cost 1 or more"),
        ),
        (AnyOf((AllOf((AT_ONCE, MaximalItems(1))), MaximalItems(2))), ("de", "2 items were asked")),
        (StopBy(lambda progress: "enough", is_limit=True), ("", "enough")),
        (AnyOf((ProfileCertain(0.01), SkillsCertain(0.01))), ("deg", "")),
        (AnyOf((EntropyBelow(9.0), GainBelow(9.0))), ("deg", "")),
    ],
)
def test_limits_of_length_cost_and_time_end_a_test_whatever_is_missing(
    stopper: Stopper, expected: tuple[str, str]
) -> None:
    rules = (ContentBalance({"y": 2, "z": 1}),)
    session = ended(Design(bank=BANK, selector=FixedOrder(), stopper=stopper, rules=rules))
    assert asked(session) == expected[0]
    assert expected[1] in session.stop_reason
    assert simulated(BANK, rules, stopper) == (asked(session), session.stop_reason)


def test_nobody_waits_for_what_cannot_be_asked_any_more() -> None:
    balance = ContentBalance({"x": 2, "z": 2})
    only = OnlyItems(("a", "d", "h"))
    assert (
        asked(
            ended(Design(bank=BANK, selector=FixedOrder(), stopper=AT_ONCE, rules=(only, balance)))
        )
        == "ah"
    )
    assert simulated(BANK, (only, balance), AT_ONCE)[0] == "ah"
    # An item set aside is not waited for either.
    control = SympsonHetter(FixedOrder(("g",)), {"g": 0.0})
    session = ended(
        Design(bank=BANK, selector=control, stopper=AT_ONCE, rules=(ContentBalance({"z": 2}),))
    )
    assert asked(session) == "h"
    people = Examinees.recorded(BANK, np.ones((2, 8), dtype=int))
    run = simulate(
        BANK,
        people,
        {"x": control},
        AT_ONCE,
        options=SimulationOptions(rules=(ContentBalance({"z": 2}),)),
    )
    assert run.runs[0].asked.tolist() == [[7]] * 2


def test_a_testlet_is_left_for_what_the_minima_need() -> None:
    items = [Item("a", content="x", testlet="t"), Item("b", content="y", testlet="t")]
    items += [Item("c", content="x"), Item("d", content="y")]
    bank = ItemBank.from_qmatrix([[1]] * 4, guess=0.2, slip=0.1, items=items)
    rules = (ContentBalance({"x": 2}, length=4), Testlets())
    assert (
        asked(ended(Design(bank=bank, selector=FixedOrder(), stopper=AT_ONCE, rules=rules))) == "ac"
    )
    assert simulated(bank, rules, AT_ONCE)[0] == "ac"


class FewAtATime:
    """A rule of somebody's own: nothing may be asked while more than two items are open."""

    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        left: NDArray[np.bool_] = allowed & (allowed.sum(axis=1, keepdims=True) <= 2)
        return left


def test_a_test_goes_on_while_items_are_open_that_the_minima_need() -> None:
    rules = (ContentBalance({"z": 1}, length=4), FewAtATime())
    session = Session.start(Design(bank=BANK, selector=FixedOrder(), stopper=AT_ONCE, rules=rules))
    assert (session.stop_reason, session.allowed) == ("", ("g", "h"))
    assert asked(ended(session.design)) == "g"
    assert simulated(BANK, rules, AT_ONCE) == ("g", "it is enough")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_minima_are_met_if_they_can_be_and_live_and_simulated_tests_agree(
    data: st.DataObject,
) -> None:
    codes = data.draw(st.lists(st.sampled_from("xyz"), min_size=5, max_size=8))
    pairs = data.draw(st.lists(st.tuples(*[st.integers(0, len(codes) - 1)] * 2), max_size=2))
    items = [
        Item(f"i{n}", content=code, testlet=data.draw(st.sampled_from(["", "", "t"])))
        for n, code in enumerate(codes)
    ]
    enemies = tuple((f"i{a}", f"i{b}") for a, b in pairs if a != b)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    needs = rng.integers(0, 2, (len(codes), 2))
    needs[~needs.any(axis=1), 0] = 1
    needs[0] = 1  # so that each skill is needed
    bank = ItemBank.from_qmatrix(
        needs, guess=rng.uniform(0.05, 0.3, len(codes)), slip=0.1, items=items
    )
    minima = data.draw(st.dictionaries(st.sampled_from(sorted(set(codes))), st.integers(1, 3)))
    total = sum(minima.values())
    length = data.draw(st.none() | st.integers(max(1, total), max(1, total) + 3))
    limit = data.draw(st.integers(max(1, total), 9)) if length is None else length
    stoppers: list[Stopper] = [AT_ONCE, SkillsCertain(0.7), EntropyBelow(1.2), GainBelow(0.1)]
    certain = data.draw(st.sampled_from(stoppers))
    stopper = AnyOf((certain, MaximalItems(limit)))
    rules = (Enemies(enemies), ContentBalance(minima, length=length), Testlets())
    selectors: list[Selector[SkillBelief]] = [MinimalEntropy(), FixedOrder()]
    selector = data.draw(st.sampled_from(selectors))
    answers = rng.integers(0, 2, (3, len(codes)))
    people = Examinees.recorded(bank, answers)
    run = simulate(
        bank, people, {"x": selector}, stopper, options=SimulationOptions(rules=rules)
    ).runs[0]
    for row in range(3):
        design = Design(bank=bank, selector=selector, stopper=stopper, rules=rules)
        session = Session.start(design)
        while not session.stop_reason:
            counts = Counter(bank.item(name).content for name in session.state.asked)
            if stopper.stop(Progress(session.belief, session.state.asked, session.allowed)):
                opened = {bank.item(name).content for name in session.allowed}
                assert all(counts[code] < minima.get(code, 0) for code in opened)
            item = session.next_item()
            session = session.answer(item, int(answers[row, bank.position(item)]))
        names = [bank.item_names[i] for i in run.asked[row] if i != MISSING]
        assert names == list(session.state.asked)
        assert run.reasons[row] == session.stop_reason
        counts = Counter(bank.item(name).content for name in names)
        hostile = {b for a, b in enemies if a in names} | {a for a, b in enemies if b in names}
        for name in set(bank.item_names) - set(names) - hostile:
            code = bank.item(name).content
            assert counts[code] >= minima.get(code, 0) or len(names) == limit
