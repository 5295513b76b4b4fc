"""A class whose test gets another design, or another bank, while its sessions go on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sql
from starlette.testclient import TestClient

from bnmind.adaptive import write_bank
from bnmind.web.live import GivenTest, read_plan
from bnmind.web.tests import OfferedTest, offered_test
from tests.web.clients import asked, refused
from tests.web.given_tests import BANK, visiting


def version(folder: Path, stop: int) -> GivenTest:
    """Return the test of the bank with so many items."""
    write_bank(BANK, folder / "bank.json")
    design = folder / "design.toml"
    design.write_text(f'stop = ["items:{stop}"]\n[report]\nduring = true\n', encoding="utf-8")
    return read_plan(folder / "bank.json", design)


def started(folder: Path, given: GivenTest) -> OfferedTest:
    return offered_test(given, f"sqlite:///{folder / 'class.sqlite'}", needs_code=True, token="t")


def answered(browser: TestClient, state: dict[str, object], number: int) -> dict[str, object]:
    """Answer so many questions."""
    key = state["session"]
    for _ in range(number):
        assert not state["over"]
        item = state["question"]["item"]  # type: ignore[index]
        answer = {"number": state["number"], "item": item, "choice": 0}
        state = asked(browser, f"/api/tests/{key}/answer", answer)
    return state


def earlier(browser: TestClient) -> dict[str, object]:
    head = {"authorization": "Bearer t"}
    found: dict[str, object] = browser.get("/api/teacher/sessions", headers=head).json()
    return found


def test_a_session_ends_with_the_design_with_which_it_began(tmp_path: Path) -> None:
    first = started(tmp_path, version(tmp_path, 3))
    ann, bob = first.live().new(2, ["Ann", "Bob"], with_code=True)
    with visiting(first) as browser:
        begun = asked(browser, "/api/tests", {"code": ann.code})
        answered(browser, begun, 1)
        assert earlier(browser)["earlier"] == ""
    second = started(tmp_path, version(tmp_path, 2))
    with visiting(second) as browser:
        table = earlier(browser)
        assert str(table["earlier"]).startswith(
            "1 access code of an earlier version, not used before, open this one"
        )
        assert "With an earlier bank or design, 1 session goes on as begun, and 0 are over:" in str(
            table
        )
        assert [one["name"] for one in table["sessions"]] == ["Bob"]  # type: ignore[attr-defined]
        new = asked(browser, "/api/tests", {"code": bob.code})
        assert answered(browser, new, 2)["over"]
        key = begun["session"]
        assert browser.get(f"/api/tests/{key}/posterior").status_code == 200
        again = asked(browser, "/api/tests", {"code": ann.code})
        assert (again["session"], again["number"]) == (key, 1)
        assert not answered(browser, again, 1)["over"]
        assert answered(browser, {**again, **browser.get(f"/api/tests/{key}").json()}, 1)["over"]
        assert browser.get(f"/api/tests/{key}/report").json()["n_answered"] == 3
        assert "0 sessions go on as begun, and 1 is over" in str(earlier(browser)["earlier"])
    third = started(tmp_path, version(tmp_path, 3))  # the earlier files again
    with visiting(third) as browser:
        table = earlier(browser)
        assert [one["state"] for one in table["sessions"]] == ["over"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE bnmind_tests SET content = '{}'", "does not know any more"),
        ("UPDATE bnmind_tests SET title = 'Spelling'", "is of another test: Spelling."),
        ("DELETE FROM bnmind_tests", "Ask your teacher"),  # the database of an earlier bnmind
    ],
)
def test_a_session_that_cannot_go_on_is_told_why(tmp_path: Path, change: str, told: str) -> None:
    first = started(tmp_path, version(tmp_path, 3))
    (ann,) = first.live().new(1, ["Ann"], with_code=True)
    with visiting(first) as browser:
        state = answered(browser, asked(browser, "/api/tests", {"code": ann.code}), 1)
    engine = sql.create_engine(f"sqlite:///{tmp_path / 'class.sqlite'}")
    with engine.begin() as connection:
        connection.execute(sql.text(change))
    engine.dispose()
    with visiting(started(tmp_path, version(tmp_path, 2))) as browser:
        assert told in refused(browser, "/api/tests", {"code": ann.code}, 410)
        refusal = browser.get(f"/api/tests/{ann.key}")
        assert refusal.status_code == 410
        assert told in refusal.json()["error"]["message"]
    assert not state["over"]


def test_versions_are_kept_as_text(tmp_path: Path) -> None:
    given = version(tmp_path, 3)
    tests = started(tmp_path, given)
    title, content = tests.live().store.kept_test(given.key)
    assert title == "Four items"
    assert json.loads(json.loads(content)["design"])["stop"] == ["items:3"]
    tests.close()
