"""Content minima are met in tests of variable length: all stoppers wait for them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bnmind.adaptive import (
    MISSING,
    AllOf,
    AnyOf,
    Blueprint,
    CodeBound,
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
    OnlyItems,
    ProfileCertain,
    Rule,
    Session,
    SimulationOptions,
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
    rules = (Enemies(), Blueprint((CodeBound("y", 2), CodeBound("z", 1)), length), Testlets())
    design = Design(bank=BANK, selector=FixedOrder(), stopper=AT_ONCE, rules=rules)
    start = Session.start(design)
    assert start.stop_reason == ""
    assert start.allowed == ("d", "e", "f", "g", "h")
    assert start.progress.allowed == BANK.item_names
    session = ended(design)
    assert asked(session) == "deg"
    assert session.stop_reason == "it is enough"
    assert simulated(BANK, rules, AT_ONCE) == ("deg", "it is enough")


@pytest.mark.parametrize(
    ("stopper", "expected"),
    [
        (AnyOf((AT_ONCE, MaximalCost(2.0))), "deg"),
        (AnyOf((AT_ONCE, MaximalTime(1.0))), "deg"),
        (AllOf((AT_ONCE, MaximalItems(4))), "abcdeg"),
        (AnyOf((ProfileCertain(0.01), SkillsCertain(0.01))), "deg"),
        (AnyOf((EntropyBelow(9.0), GainBelow(9.0))), "deg"),
    ],
)
def test_limits_wait_as_other_stoppers_do(stopper: Stopper, expected: str) -> None:
    rules = (Blueprint((CodeBound("y", 2), CodeBound("z", 1))),)
    session = ended(Design(bank=BANK, selector=FixedOrder(), stopper=stopper, rules=rules))
    assert asked(session) == expected
    assert simulated(BANK, rules, stopper) == (asked(session), session.stop_reason)


def test_nobody_waits_for_what_cannot_be_asked_any_more() -> None:
    balance = Blueprint((CodeBound("x", 2), CodeBound("z", 2)))
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
        Design(
            bank=BANK, selector=control, stopper=AT_ONCE, rules=(Blueprint((CodeBound("z", 2),)),)
        )
    )
    assert asked(session) == "h"
    people = Examinees.recorded(BANK, np.ones((2, 8), dtype=int))
    run = simulate(
        BANK,
        people,
        {"x": control},
        AT_ONCE,
        options=SimulationOptions(rules=(Blueprint((CodeBound("z", 2),)),)),
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
    rules = (Blueprint((CodeBound("z", 1),), length=4), FewAtATime())
    session = Session.start(Design(bank=BANK, selector=FixedOrder(), stopper=AT_ONCE, rules=rules))
    assert (session.stop_reason, session.allowed) == ("", ("g", "h"))
    assert asked(ended(session.design)) == "g"
    assert simulated(BANK, rules, AT_ONCE) == ("g", "it is enough")
