"""Tests that people take: each answer is stored, counts once, and stays with its taker."""

from __future__ import annotations

import dataclasses
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi import HTTPException

from bnmind.adaptive import Design, ItemBank, Session, write_bank
from bnmind.errors import InvalidArgumentError
from bnmind.questions.event_log import Event, EventKind
from bnmind.web.live import GivenTest, new_code, read_plan, tidy_code
from bnmind.web.reports import choices_of
from bnmind.web.store import LostError, Standing, Store, TakenError
from bnmind.web.tests import Attempts
from tests.command_line import ROOT
from tests.web.clients import asked, client, refused
from tests.web.given_tests import BANK, given, live_tests, offer, question_of, visiting

RIGHT = {"sum": 1, "form": 0, "both": 0, "mark": 0}
"""The place of the right choice."""


def _finish(browser: Any, state: dict[str, Any], key: str) -> dict[str, Any]:
    while not state["over"]:
        item = state["question"]["item"]
        sent = {"number": state["number"], "item": item, "choice": RIGHT[item]}
        state = asked(browser, f"/api/tests/{key}/answer", sent)
    return state


def test_a_test_is_taken_to_its_end_as_the_library_would(tmp_path: Path) -> None:
    with visiting(offer(tmp_path, during=True)) as browser:
        about = browser.get("/api/tests").json()
        assert (about["title"], about["needs_code"]) == ("Four items", False)
        state = asked(browser, "/api/tests", {"name": "Ann"})
        key = state["session"]
        twin = Session.start(given().design)
        while not state["over"]:
            item = twin.next_item()
            question = state["question"]
            assert question["item"] == item
            assert question["text"] == BANK.item(item).text
            twin = twin.answer(item, 1)
            sent = {"number": state["number"], "item": item, "choice": RIGHT[item]}
            state = asked(browser, f"/api/tests/{key}/answer", sent)
            assert state == browser.get(f"/api/tests/{key}").json()
            shares = {one["skill"]: one["mastery"] for one in state["profile"]["skills"]}
            assert shares == pytest.approx({s: twin.posterior[s]["1"] for s in BANK.skills})
        assert twin.stop_reason
        report = browser.get(f"/api/tests/{key}/report").json()
        assert report["n_asked"] == 3
        assert report["name"] == "Ann"
        assert "answers" not in report
        posterior = browser.get(f"/api/tests/{key}/posterior").json()["posterior"]
        assert posterior["addition"]["1"] == pytest.approx(twin.posterior["addition"]["1"])
        late = {"number": 3, "item": "mark", "choice": 0}
        assert "over" in refused(browser, f"/api/tests/{key}/answer", late, 409)


def test_choices_do_not_tell_which_is_right(tmp_path: Path) -> None:
    with visiting(offer(tmp_path)) as browser:
        state = asked(browser, "/api/tests")
        assert state["question"]["choices"] == ["3/14", "3/7", "2/7"]
        assert set(state["question"]) == {"item", "text", "picture", "choices", "marks_itself"}
        key = state["session"]
        state = asked(
            browser, f"/api/tests/{key}/answer", {"number": 0, "item": "sum", "choice": 1}
        )
        assert state["profile"] is None


def test_each_session_has_its_own_order_of_choices(tmp_path: Path) -> None:
    items = [dataclasses.replace(item, shuffle=item.name != "form") for item in BANK.items]
    write_bank(dataclasses.replace(BANK, items=tuple(items)), tmp_path / "bank.json")
    design = tmp_path / "design.toml"
    design.write_text('start = [{ask = ["sum", "form", "mark"]}]\nstop = ["items:3"]\n')
    plan = read_plan(tmp_path / "bank.json", design)
    orders = set()
    tests = live_tests(tmp_path, given=plan)
    for _ in range(30):
        begun = tests.begin("", "")
        key, choices = begun.session, question_of(begun).choices
        assert sorted(choices) == ["2/7", "3/14", "3/7"]
        orders.add(tuple(choices))
        assert question_of(tests.state(key)).choices == choices
        state = tests.answer(key, 0, "sum", choices.index("3/7"))
        assert question_of(state).choices == ["3/4", "2/4"]  # the item says no
        state = tests.answer(key, 1, "form", 0)
        assert question_of(state).choices == ["I solved it", "I did not solve it"]
    assert len(orders) > 3
    for _, events in tests.sittings_with_events():
        assert [(event.response, choice) for event, choice in events] == [
            ("1", "3/7"),
            ("1", "3/4"),
        ]
    tests.store.close()


def test_the_first_item_varies_among_those_with_nearly_as_much_information(tmp_path: Path) -> None:
    bank = ROOT / "models" / "banks" / "fractions.json"
    design = tmp_path / "design.toml"

    def first(text: str | None) -> set[str]:
        if text is not None:
            design.write_text(text)
        plan = read_plan(bank, None if text is None else design)
        seeds = [dataclasses.replace(plan.design, seed=seed) for seed in range(40)]
        return {Session.start(one).next_item() for one in seeds}

    rows = Session.start(read_plan(bank, None).design).rank()
    near = {row.item for row in rows if row.information >= 0.9 * rows[0].information}
    assert 2 < len(first(None)) <= len(near)
    assert first(None) <= near
    assert len(first('select = "gdi"\nstop = ["items:4"]\n')) > 1
    assert len(first('[[start]]\nask = ["add_halves"]\n')) == 1
    assert len(first('[[start]]\nnumber = 1\nselect = "entropy"\n')) == 1
    assert len(first('select = "order"\n')) == 1


def test_a_test_without_a_design_ends_by_itself(tmp_path: Path) -> None:
    bank = ItemBank.from_qmatrix([[1, 0], [0, 1]] * 100, guess=0.2, slip=0.1)
    write_bank(bank, tmp_path / "bank.json")
    (tmp_path / "design.toml").write_text("[report]\nduring = true\n")
    for design in (None, tmp_path / "design.toml"):
        plan = read_plan(tmp_path / "bank.json", design)
        assert plan.stops_by_default
        for chance in (0.0, 0.5, 0.9):
            rng = np.random.default_rng(1)
            session = Session.start(plan.design)
            while not session.stop_reason:
                session = session.answer(session.next_item(), int(rng.random() < chance))
            assert len(session.state.asked) <= 30
    tests = live_tests(tmp_path, given=plan)
    assert tests.about(is_demonstration=False).most_items == 30
    tests.store.close()


def test_items_without_choices_are_marked_by_the_examinee(tmp_path: Path) -> None:
    tests = live_tests(tmp_path)
    session = Session.start(given().design)
    assert choices_of(session, "mark") == (("I solved it", "1"), ("I did not solve it", "0"))
    tests.store.close()


def test_why_says_what_the_library_says(tmp_path: Path) -> None:
    with visiting(offer(tmp_path, during=True)) as browser:
        key = asked(browser, "/api/tests")["session"]
        why = browser.get(f"/api/tests/{key}/why").json()
        row = Session.start(given().design).rank()[0]
        assert why["item"] == row.item
        assert why["information"] == pytest.approx(row.information)
        assert {one["skill"]: one["information"] for one in why["by_skill"]} == pytest.approx(
            dict(row.by_skill)
        )
        assert "No other item" in why["words"][1]
        rows = browser.get(f"/api/tests/{key}/rank").json()["rows"]
        assert rows[0]["item"] == row.item


def test_a_design_that_shows_nothing_shows_nothing(tmp_path: Path) -> None:
    with visiting(offer(tmp_path, examinee=False)) as browser:
        state = asked(browser, "/api/tests")
        key = state["session"]
        assert state["profile"] is None
        for name in ("why", "rank", "posterior", "report"):
            assert browser.get(f"/api/tests/{key}/{name}").status_code in (403, 409)
        state = _finish(browser, state, key)
        assert state["profile"] is None
        for name in ("rank", "posterior", "report"):
            assert browser.get(f"/api/tests/{key}/{name}").status_code == 403


def test_the_same_answer_counts_once_and_another_is_refused(tmp_path: Path) -> None:
    with visiting(offer(tmp_path)) as browser:
        key = asked(browser, "/api/tests")["session"]
        place = f"/api/tests/{key}/answer"
        first = {"number": 0, "item": "sum", "choice": 1}
        state = asked(browser, place, first)
        assert state["number"] == 1
        assert asked(browser, place, first) == state
        assert "in another way" in refused(browser, place, {**first, "choice": 0}, 409)
        assert "not the question" in refused(browser, place, {**first, "number": 5}, 409)
        other = {**first, "number": 1}  # an item that is not asked now
        assert "not the question" in refused(browser, place, other, 409)
        item = state["question"]["item"]
        assert "Choice" in refused(browser, place, {"number": 1, "item": item, "choice": 9})
        assert browser.get(f"/api/tests/{key}").json() == state


def test_two_windows_at_once_store_one_answer(tmp_path: Path) -> None:
    tests = live_tests(tmp_path)
    key = tests.begin("", "").session
    outcomes: list[object] = []
    gate = threading.Barrier(4)

    def window(choice: int) -> None:
        gate.wait(10)
        try:
            outcomes.append(tests.answer(key, 0, "sum", choice).number)
        except HTTPException as refusal:
            outcomes.append(refusal.status_code)

    windows = [threading.Thread(target=window, args=(i % 2,)) for i in range(4)]
    for one in windows:
        one.start()
    for one in windows:
        one.join()
    assert sorted(map(str, outcomes)) == ["1", "1", "409", "409"]
    assert tests.state(key).number == 1
    tests.store.close()


def test_a_new_server_resumes_where_the_old_one_ended(tmp_path: Path) -> None:
    first = live_tests(tmp_path)
    key = first.begin("", "").session
    state = first.answer(key, 0, "sum", 1)
    first.store.close()
    second = live_tests(tmp_path)
    assert second.state(key) == state
    # A third server answers meanwhile: the second one notices.
    third = live_tests(tmp_path)
    state = third.answer(key, 1, question_of(state).item, 0)
    assert second.state(key) == state
    second.store.close()
    third.store.close()


def test_wording_may_change_but_another_test_has_other_sessions(tmp_path: Path) -> None:
    tests = live_tests(tmp_path)
    key = tests.begin("", "").session
    test = given()
    items = tuple(dataclasses.replace(item, text="better") for item in BANK.items)
    design = dataclasses.replace(test.design, bank=dataclasses.replace(BANK, items=items))
    better = live_tests(tmp_path, given=dataclasses.replace(test, design=design))
    assert question_of(better.state(key)).text == "better"
    other = GivenTest(design=Design(ItemBank.from_qmatrix([[1], [1]], guess=0.2, slip=0.1)))
    strange = live_tests(tmp_path, given=other)
    with pytest.raises(HTTPException):
        strange.state(key)
    assert strange.table() == []
    for one in (tests, better, strange):
        one.store.close()


def test_sessions_are_secret_and_unknown_ones_are_refused(tmp_path: Path) -> None:
    with visiting(offer(tmp_path)) as browser:
        one, two = (asked(browser, "/api/tests")["session"] for _ in range(2))
        assert one != two
        assert len(one) >= 32
        asked(browser, f"/api/tests/{one}/answer", {"number": 0, "item": "sum", "choice": 1})
        assert browser.get(f"/api/tests/{two}").json()["number"] == 0
        for wrong in (one[:-1], "x", "1", one + "x", "%00", "' OR 1=1"):
            assert browser.get(f"/api/tests/{wrong}").status_code in (404, 422)
        assert browser.get(f"/api/tests/{'x' * 65}").status_code == 422


def test_a_session_that_rests_for_long_expires(tmp_path: Path) -> None:
    time = datetime(2026, 3, 1, tzinfo=UTC)
    tests = live_tests(tmp_path, days=10, clock=lambda: time)
    key = tests.begin("", "").session
    time += timedelta(days=9)
    tests.answer(key, 0, "sum", 1)
    time += timedelta(days=9)
    assert tests.state(key).number == 1
    time += timedelta(days=2)
    with pytest.raises(HTTPException) as refusal:
        tests.answer(key, 1, "form", 1)
    assert refusal.value.status_code == 410
    assert tests.table()[0].state == "expired"
    # If it was the clock that was wrong, the session goes on, even long before its answers.
    time -= timedelta(days=300)
    assert tests.table()[0].state == "going on"
    tests.answer(key, 1, question_of(tests.state(key)).item, 1)
    assert tests.state(key).number == 2
    tests.store.close()


# --- Access codes ---------------------------------------------------------------------------------


def test_a_code_begins_and_resumes_its_own_session(tmp_path: Path) -> None:
    tests = offer(tmp_path, needs_code=True)
    ann, bob = tests.live().new(2, ["Ann"], with_code=True)
    with visiting(tests) as browser:
        assert "needs an access code" in refused(browser, "/api/tests", {}, 401)
        assert "no such access code" in refused(browser, "/api/tests", {"code": "ABCD-EFGH"}, 404)
        state = asked(browser, "/api/tests", {"code": str(ann.code).lower().replace("-", " ")})
        assert state["name"] == "Ann"
        key = state["session"]
        asked(browser, f"/api/tests/{key}/answer", {"number": 0, "item": "sum", "choice": 1})
        again = asked(browser, "/api/tests", {"code": ann.code})
        assert (again["session"], again["number"]) == (key, 1)
        assert asked(browser, "/api/tests", {"code": bob.code})["number"] == 0


def test_many_wrong_codes_are_slowed_down(tmp_path: Path) -> None:
    tests = offer(tmp_path, needs_code=True)
    tests.attempts = Attempts(3)
    code = tests.live().new(1, ["Ann"], with_code=True)[0].code
    with visiting(tests) as browser:
        for _ in range(3):
            refused(browser, "/api/tests", {"code": "ABCDEFGH"}, 404)
        assert "minute" in refused(browser, "/api/tests", {"code": "ABCDEFGH"}, 429)
        for _ in range(3):  # a class behind one address does not suffer from it
            assert asked(browser, "/api/tests", {"code": code})["number"] == 0


def test_no_address_fills_the_database_with_new_tests(tmp_path: Path) -> None:
    tests = offer(tmp_path)
    tests.begun = Attempts(2)
    with visiting(tests) as browser:
        for _ in range(2):
            asked(browser, "/api/tests", {"name": "Ann"})
        assert "minute" in refused(browser, "/api/tests", {"name": "Ann"}, 429)


def test_attempts_are_forgotten_in_time() -> None:
    now = 0.0
    attempts = Attempts(2, seconds=60, clock=lambda: now)
    attempts.note("a")
    attempts.note("a")
    assert not attempts.may_try("a")
    assert attempts.may_try("b")
    now = 61.0
    assert attempts.may_try("a")


def test_codes_are_long_and_can_be_typed_carelessly() -> None:
    codes = {new_code() for _ in range(100)}
    assert len(codes) == 100
    for code in codes:
        assert len(code) == 9
        assert not set(code) & set("01OIL")
        assert tidy_code(code.lower().replace("-", "")) == code


# --- The database ---------------------------------------------------------------------------------


def test_an_event_with_a_number_is_stored_once(tmp_path: Path) -> None:
    tests = live_tests(tmp_path)
    store, sitting = tests.store, tests.new(1, [], with_code=False)[0]
    event = Event(EventKind.ANSWER, "sum", "1", at="2026-03-01T10:15:02.120", set_aside=("form",))
    store.add_event(sitting.id, 0, event, choice="3/7", standing=Standing(n_asked=1))
    for number, session in ((0, sitting.id), (2, sitting.id), (0, sitting.id + 7)):
        with pytest.raises(TakenError):
            store.add_event(session, number, event, choice="3/7", standing=Standing())
    assert store.events(sitting.id) == ((event, "3/7"),)
    assert tests.table()[0].n_asked == 1
    store.delete(sitting.id)
    assert tests.table() == []
    store.close()


def test_sqlite_writes_ahead_and_to_the_disk(tmp_path: Path) -> None:
    store = live_tests(tmp_path).store
    with store._connected() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    store.close()


@pytest.mark.parametrize("url", ["", "no address", "nothing://x", "sqlite:////no/such/folder/x"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgumentError):
        Store(url)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "x.sqlite"
    place.write_text("something else, long enough to be no database " * 100)
    with pytest.raises(InvalidArgumentError, match="not a database"):
        Store(f"sqlite:///{place}")
    assert place.read_text().startswith("something else")


def test_an_answer_that_cannot_be_stored_is_not_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = offer(tmp_path)
    with visiting(tests) as browser:
        key = asked(browser, "/api/tests")["session"]

        def broken(*_: object, **__: object) -> None:
            raise LostError("the disk is full")

        place, sent = f"/api/tests/{key}/answer", {"number": 0, "item": "sum", "choice": 1}
        with monkeypatch.context() as patch:
            patch.setattr(Store, "add_event", broken)
            assert "not saved" in refused(browser, place, sent, 503)
        assert browser.get(f"/api/tests/{key}").json()["number"] == 0
        assert asked(browser, place, sent)["number"] == 1


def test_the_demonstration_needs_no_files() -> None:
    with client() as browser:
        about = browser.get("/api/tests").json()
        assert about["is_demonstration"]
        state = asked(browser, "/api/tests")
        assert state["profile"]["skills"]
        assert browser.get("/tests").status_code == 200
