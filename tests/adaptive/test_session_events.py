"""Where the events of a session lead: the quick replay against an obvious one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.adaptive import Event, EventKind, ItemBank
from bnmind.adaptive.sessions.events import Replay, SessionState
from bnmind.errors import BnmindError, InvalidResponseError, UnknownNameError

BANK = ItemBank.from_qmatrix([[1], [1], [1]], guess=0.2, slip=0.1)
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


def obvious(steps: Sequence[Event]) -> SessionState | None:
    """Return where events lead by going through those not undone; None if one does not fit."""
    left: list[Event] = []
    for step in steps:
        if step.kind is not EventKind.UNDO:
            left.append(step)
        elif left:
            left.pop()
        else:
            return None
        if where_they_lead(left) is None:
            return None
    return where_they_lead(left)


def where_they_lead(steps: Sequence[Event]) -> SessionState | None:
    asked: list[str] = []
    responses: dict[str, int] = {}
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
            responses[step.item] = int(step.response)
        aside += [name for name in dict.fromkeys(step.set_aside) if name not in aside]
    return SessionState(tuple(asked), responses, tuple(aside), tuple(steps))


@given(events)
def test_events_lead_where_those_not_undone_lead(steps: list[Event]) -> None:
    replay, state = Replay(BANK), SessionState()
    for number, step in enumerate(steps):
        wanted = obvious(steps[: number + 1])
        if wanted is None:
            with pytest.raises(InvalidResponseError):
                replay.add(step)
            with pytest.raises(InvalidResponseError):
                state.after(BANK, step)
            return
        replay.add(step)
        state = state.after(BANK, step)
        assert replay.state() == state == wanted
        assert tuple(state.responses) == tuple(wanted.responses)


@given(events)
def test_what_does_not_fit_changes_nothing(steps: list[Event]) -> None:
    replay = Replay(BANK)
    for step in steps:
        before = replay.state()
        try:
            replay.add(step)
        except BnmindError:
            assert replay.state() == before
    before = replay.state()
    with pytest.raises(UnknownNameError):
        replay.add(Event(EventKind.ANSWER, "nothing", "1"))
    assert replay.state() == before


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
    replay = Replay(BANK)
    for step in [Event(EventKind.ANSWER, NAMES[0], "1"), *changes, *undone]:
        replay.add(step)
    assert replay.state() == SessionState(
        NAMES[:1], {NAMES[0]: 1}, (), (Event(EventKind.ANSWER, NAMES[0], "1"),)
    )
    assert looked <= 3 * n + 3
