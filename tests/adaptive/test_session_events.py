"""Where the events of a session lead: the quick replay against an obvious one."""

from __future__ import annotations

import math
import pickle
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.adaptive import Design, ItemBank, Session
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.questions.event_log import Event, EventKind, LogState, extended, log_to_json, replayed

BANK = ItemBank.from_qmatrix([[1], [1], [1]], guess=0.2, slip=0.1)
DESIGN = Design(BANK)
NAMES = BANK.item_names

events = st.lists(
    st.builds(
        Event,
        st.sampled_from(EventKind),
        st.sampled_from(NAMES),
        st.sampled_from(["0", "1"]),
        set_aside=st.lists(st.sampled_from(NAMES), max_size=2).map(tuple),
    ),
    max_size=25,
)


State = tuple[tuple[str, ...], list[tuple[str, str]], tuple[str, ...], tuple[Event, ...]]
"""Items asked, responses in order, items set aside, and the events not undone."""


def obvious(steps: Sequence[Event]) -> State | None:
    """Return where events lead by going through those not undone; None if one does not fit."""
    remaining: list[Event] = []
    for step in steps:
        if step.kind is not EventKind.UNDO:
            remaining.append(step)
        elif remaining:
            remaining.pop()
        else:
            return None
        if where_they_lead(remaining) is None:
            return None
    return where_they_lead(remaining)


def where_they_lead(steps: Sequence[Event]) -> State | None:
    asked: list[str] = []
    responses: dict[str, str] = {}
    aside: list[str] = []
    for step in steps:
        fits = {
            EventKind.ANSWER: step.item not in responses,
            EventKind.SKIP: step.item not in asked,
            EventKind.CHANGE: step.item in responses,
        }
        if not fits[step.kind]:
            return None
        if step.item not in asked:
            asked.append(step.item)
        if step.kind is not EventKind.SKIP:
            responses[step.item] = step.response
        aside += [name for name in dict.fromkeys(step.set_aside) if name not in aside]
    return tuple(asked), list(responses.items()), tuple(aside), tuple(steps)


def parts_of(state: LogState) -> State:
    return state.asked, list(state.responses.items()), state.set_aside, state.events


@given(events)
def test_events_lead_where_those_not_undone_lead(steps: list[Event]) -> None:
    state = LogState()
    for number, step in enumerate(steps):
        begun = steps[: number + 1]
        wanted = obvious(begun)
        if wanted is None:
            with pytest.raises(InvalidArgumentError):
                replayed(begun, lambda event: None)
            with pytest.raises(InvalidArgumentError):
                state.after(step)
            return
        state = state.after(step)
        assert replayed(begun, lambda event: None) == state
        assert parts_of(state) == wanted
    assert pickle.loads(pickle.dumps(state)) == state


@pytest.mark.parametrize("kind", [EventKind.ANSWER, EventKind.SKIP, EventKind.CHANGE])
def test_unknown_items_and_responses_are_refused(kind: EventKind) -> None:
    with pytest.raises(UnknownNameError):
        Session.after_events(DESIGN, [Event(kind, "nothing", "1")])
    if kind is not EventKind.SKIP:
        with pytest.raises(InvalidArgumentError, match="among 0, 1"):
            Session.after_events(DESIGN, [Event(kind, NAMES[0], "2")])


@pytest.mark.parametrize("n", [200, 2000])
def test_the_work_grows_with_the_number_of_events(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Undoing once replayed all that came before: 2,000 events took seconds."""
    looked = 0
    position = ItemBank.position

    def counted(bank: ItemBank, name: str) -> int:
        nonlocal looked
        looked += 1
        return position(bank, name)

    monkeypatch.setattr(ItemBank, "position", counted)
    changes = [Event(EventKind.CHANGE, NAMES[0], str(number % 2)) for number in range(n)]
    undone = [Event(EventKind.UNDO)] * n
    first = Event(EventKind.ANSWER, NAMES[0], "1")
    state = Session.after_events(DESIGN, [first, *changes, *undone]).state
    assert parts_of(state) == (
        NAMES[:1],
        [(NAMES[0], "1")],
        (),
        (Event(EventKind.ANSWER, NAMES[0], "1"),),
    )
    assert looked <= 3 * n + 3


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions some work calls, those of Python and those in C."""
    calls = 0

    def count(_frame: object, kind: str, _argument: object) -> None:
        nonlocal calls
        calls += kind in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def changes_and_undos(n: int, path: Path | None) -> None:
    session = Session.start(BANK, path=path).answer(NAMES[0], 1)
    for number in range(n):
        session = session.change(NAMES[0], number % 2)
    for _ in range(n):
        session = session.undo()
    assert session.state.responses == {NAMES[0]: "1"}
    assert len(session.events) == 2 * n + 1


@pytest.mark.parametrize("saved", [False, True], ids=["live", "saved"])
def test_the_work_of_a_session_grows_with_the_number_of_events(saved: bool, tmp_path: Path) -> None:
    """Each undo once replayed all events before it, and each event was checked again each time."""
    sizes = (10, 40) if saved else (50, 400)
    changes_and_undos(2, None)
    few, many = (
        calls_of(partial(changes_and_undos, n, tmp_path / f"{n}.json" if saved else None))
        for n in sizes
    )
    assert math.log(many / few) / math.log(sizes[1] / sizes[0]) < 1.1


@pytest.mark.parametrize("n", [50, 400])
def test_the_work_of_loading_grows_with_the_number_of_events(n: int, tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    change, undo = Event(EventKind.CHANGE, NAMES[0], "1"), Event(EventKind.UNDO)
    answer = Event(EventKind.ANSWER, NAMES[0], "0")
    events = [answer, *[change] * n, *[undo] * n]
    path.write_text(Session.after_events(DESIGN, events).to_json())
    Session.load(path, BANK)
    few = 3000  # of the bank, whatever the events
    assert calls_of(lambda: Session.load(path, BANK)) < few + 60 * len(events)


@given(events, st.integers(0, 25))
def test_text_is_extended_as_it_would_be_written(steps: list[Event], n: int) -> None:
    head = {"seed": 3, "about": {"about": "[\n"}}
    text = log_to_json(head, steps[:n])
    for step in steps[n:]:
        text = extended(text, step)
    assert text == log_to_json(head, steps)


def test_a_session_goes_on_after_events_kept_elsewhere() -> None:
    session = Session.start(BANK).answer(NAMES[0], 1).skip(NAMES[1]).undo().change(NAMES[0], 0)
    again = Session.after_events(session.design, session.events)
    assert again.state == session.state
    assert again.posterior == session.posterior
    assert again.answer(NAMES[1], 1).next_item() == session.answer(NAMES[1], 1).next_item()
    with pytest.raises(InvalidArgumentError):
        Session.after_events(session.design, [Event(EventKind.UNDO)])
