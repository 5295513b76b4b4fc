"""A response is looked up once for each answer, and no more often after many answers."""

from __future__ import annotations

from collections import Counter

import pytest

from bnmind.adaptive import ItemBank, Session

BANK = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]] * 10, guess=0.2, slip=0.1)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often a bank is asked for the place of an item, and of a response by name."""
    counted: Counter[str] = Counter()
    position, response = ItemBank.position, ItemBank.response

    def count_position(self: ItemBank, item: str) -> int:
        counted["position"] += 1
        return position(self, item)

    def count_response(self: ItemBank, item: str, given: int | str) -> int:
        counted["name" if isinstance(given, str) else "number"] += 1
        return response(self, item, given)

    monkeypatch.setattr(ItemBank, "position", count_position)
    monkeypatch.setattr(ItemBank, "response", count_response)
    return counted


@pytest.mark.parametrize("before", [0, 1, 12])
def test_an_answer_is_looked_up_once(calls: Counter[str], before: int) -> None:
    session = Session.start(BANK)
    for _ in range(before):
        session = session.answer(session.next_item(), "1")
    item = session.next_item()
    calls.clear()
    session.answer(item, "1")
    assert calls["name"] == 1
    assert calls["position"] <= 4


def test_a_selection_looks_for_each_item_twice_at_most(calls: Counter[str]) -> None:
    session = Session.start(BANK)
    session = session.answer(session.next_item(), "1")
    calls.clear()
    session.next_item()
    assert calls["position"] <= 2 * len(BANK.items)
    assert calls["name"] == calls["number"] == 0


def test_a_change_is_looked_up_once(calls: Counter[str]) -> None:
    session = Session.start(BANK).answer("item_1", "1")
    calls.clear()
    changed = session.change("item_1", "0")
    assert calls["name"] == 1
    assert changed.state.responses == {"item_1": "0"}
