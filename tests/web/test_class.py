"""The teacher of a class: codes, the table of sessions, reports, exports, and who may see them."""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from starlette.testclient import TestClient

from bnmind.adaptive import Design, Item, ItemBank, MaximalItems, Responses, write_bank
from bnmind.cli.app import app
from bnmind.errors import BnmindError, InvalidModelError
from bnmind.web.command import _OPEN
from bnmind.web.exports import format_csv
from bnmind.web.live import GivenTest, read_plan
from bnmind.web.server import opened
from bnmind.web.tests import OfferedTest, offered_test
from tests.web.clients import asked, refused
from tests.web.given_tests import BANK, given, offer, question_of, visiting
from tests.web.test_answers import satisfies

TABLES = ("responses", "answers", "posteriors")
PLACES = (
    *("/api/teacher/sessions", "/api/teacher/sessions/1"),
    *(f"/api/teacher/{table}.csv" for table in TABLES),
)


def _teacher(tests: OfferedTest, **settings: Any) -> TestClient:
    browser = visiting(tests, **settings)
    browser.headers["authorization"] = f"Bearer {tests.token}"
    return browser


def _table(browser: TestClient, name: str) -> list[dict[str, str]]:
    answer = browser.get(f"/api/teacher/{name}.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_a_class_is_followed_and_exported(tmp_path: Path) -> None:
    with _teacher(offer(tmp_path, needs_code=True)) as browser:
        made = asked(browser, "/api/teacher/codes", {"names": ["Ann", "=Bob"], "count": 1})["codes"]
        assert [one["name"] for one in made] == ["Ann", "=Bob", ""]
        code = made[0]["code"]
        state = asked(browser, "/api/tests", {"code": code})
        place = f"/api/tests/{state['session']}/answer"
        state = asked(browser, place, {"number": 0, "item": "sum", "choice": 2})
        second = state["question"]["item"]
        asked(browser, place, {"number": 1, "item": second, "choice": 0})

        table = browser.get("/api/teacher/sessions").json()
        assert [one["state"] for one in table["sessions"]] == ["going on", "not begun", "not begun"]
        ann = table["sessions"][0]
        assert (ann["n_answered"], ann["code"]) == (2, code)
        report = browser.get(f"/api/teacher/sessions/{ann['id']}").json()
        assert [row["choice"] for row in report["answers"]] == [
            "2/7",
            BANK.item(second).choices[0][0],
        ]
        assert [row["response"] for row in report["answers"]] == ["0", "1"]

        (row,) = _table(browser, "responses")
        assert row == {**dict.fromkeys(BANK.item_names, ""), "examinee": "Ann", "sum": "0"} | {
            second: "1"
        }
        answers = _table(browser, "answers")
        # A choice such as 2/7 would become a date.
        assert [one["choice"][1:] for one in answers] == [
            one["choice"] for one in report["answers"]
        ]
        assert float(answers[1]["seconds"]) >= 0
        shares = _table(browser, "posteriors")
        assert [one["name"] for one in shares] == ["Ann", "'=Bob", ""]
        assert float(shares[0]["addition=1"]) == pytest.approx(
            ann["posterior"]["addition"]["1"], abs=1e-6
        )
        assert shares[1]["addition=1"] == ""


def test_the_report_shows_what_the_design_says(tmp_path: Path) -> None:
    options: dict[str, Any] = {"skills": ("canceling",), "answers": False, "parameters": True}
    with _teacher(offer(tmp_path, **options)) as browser:
        state = asked(browser, "/api/tests")
        key = state["session"]
        while not state["over"]:
            sent = {"number": state["number"], "item": state["question"]["item"], "choice": 0}
            state = asked(browser, f"/api/tests/{key}/answer", sent)
        report = browser.get("/api/teacher/sessions/1").json()
        assert [row["p_value"] for row in report["answers"]] == [None] * 3
        (skill,) = report["profile"]["skills"]
        assert skill["skill"] == "canceling"
        low, high = skill["interval"]
        assert low <= skill["probability"] <= high
        assert list(browser.get(f"/api/tests/{key}/posterior").json()["posterior"]) == ["canceling"]


def test_an_export_with_umlauts_begins_with_the_mark_that_excel_needs(tmp_path: Path) -> None:
    with _teacher(offer(tmp_path, needs_code=True)) as browser:
        made = asked(browser, "/api/teacher/codes", {"names": ["Käthe"], "count": 0})["codes"]
        asked(browser, "/api/tests", {"code": made[0]["code"]})
        shares = browser.get("/api/teacher/posteriors.csv").content
        assert shares.startswith(codecs.BOM_UTF8)
        assert "Käthe" in shares.decode("utf-8-sig")
        assert browser.get("/api/teacher/responses.csv").content.isascii()


def _class_with_traps(folder: Path) -> OfferedTest:
    """Return a class whose items, choices and names are texts that spreadsheets take for others."""
    bank = replace(
        ItemBank.from_qmatrix([[1], [1]], items=["=1+1", "b"], guess=0.2, slip=0.1),
        items=(
            Item("=1+1", choices=(("3/10", "1"), ("a;=1+1", "0")), shuffle=False),
            Item("b", choices=(("@now", "1"), ("=cmd()", "0")), shuffle=False),
        ),
        title="Traps",
    )
    design = Design(bank, stopper=MaximalItems(2))
    url = f"sqlite:///{folder / 'a.sqlite'}"
    tests = offered_test(GivenTest(design=design), url, needs_code=True)
    live = tests.live()
    for sitting in live.new(3, ["Ann", "Ann", '=HYPERLINK("x")'], with_code=True):
        state = live.state(sitting.key)
        while not state.over:
            item = question_of(state).item
            state = live.answer(sitting.key, state.number, item, sitting.id % 2)
    live.new(1, ["Dan"], with_code=True)
    return tests


@pytest.mark.parametrize("separator", ["comma", "semicolon", "tab"])
@pytest.mark.parametrize("table", TABLES)
def test_no_cell_is_a_formula_a_date_or_an_access_code(
    tmp_path: Path, table: str, separator: str
) -> None:
    tests = _class_with_traps(tmp_path)
    with _teacher(tests) as browser:
        text = browser.get(f"/api/teacher/{table}.csv?separator={separator}").text
        delimiter = {"comma": ",", "semicolon": ";", "tab": "\t"}[separator]
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
        assert len({len(row) for row in rows}) == 1
        for other in (",", ";", "\t"):  # however the file is opened
            for row in csv.reader(io.StringIO(text), delimiter=other):
                assert not any(re.match(r"\s*[=+@]|\s*-\D|\d+/", cell) for cell in row)
        assert not any(
            str(one.code) in text for one in tests.live().store.sittings(tests.live().key)
        )
        assert {"Ann (session-1)", "Ann (session-2)"} <= {row[0] for row in rows}
        if table == "answers":
            assert "'3/10" in {row[4] for row in rows}
        if table != "responses":
            (place, *_) = [i for i, name in enumerate(rows[0]) if name.endswith("(UTC)")]
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", rows[1][place])
        if table == "posteriors":
            share = rows[1][-1]
            assert 0 < float(share.replace(",", ".")) < 1
            assert ("," in share) == (separator == "semicolon")
        assert browser.get(f"/api/teacher/{table}.csv?separator=dot").status_code == 404


@pytest.mark.parametrize("text", ["3/10", "(3)", "12 %", "$5", "5 €", ".5", "1e-5", "007", "3 May"])
def test_no_text_becomes_a_number(text: str) -> None:
    assert format_csv(((text, "A", "1a"), ()), ",") == f"'{text},A,1a\n"


def test_one_workbook_has_the_whole_class_with_typed_cells(tmp_path: Path) -> None:
    tests = _class_with_traps(tmp_path)
    with _teacher(tests) as browser:
        answer = browser.get("/api/teacher/class.xlsx")
        assert 'filename="class.xlsx"' in answer.headers["content-disposition"]
    book = openpyxl.load_workbook(io.BytesIO(answer.content))
    assert book.sheetnames == list(TABLES)
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} <= {"s", "inlineStr", "n", "d"}
    assert {cell.data_type for cell in cells if cell.value is None} == {"n"}  # empty, not ""
    texts = {cell.value for cell in cells if isinstance(cell.value, str)}
    assert {"Ann (session-1)", '=HYPERLINK("x")', "=1+1", "3/10", "a;=1+1"} <= texts
    assert not any(one.code in texts for one in tests.live().store.sittings(tests.live().key))
    kinds: dict[Any, type] = {}
    for sheet in book:
        names = [cell.value for cell in next(sheet.iter_rows())]
        last = [cell.value for cell in list(sheet.iter_rows())[1]]
        kinds |= {name: type(value) for name, value in zip(names, last, strict=True)}
    assert kinds["name"] is str
    assert kinds["b"] is kinds["number"] is int
    assert kinds["bits_open"] is kinds["skill_1=1"] is float
    assert kinds["at (UTC)"] is kinds["last (UTC)"] is datetime


def test_all_answers_satisfy_the_schema(tmp_path: Path) -> None:
    with _teacher(offer(tmp_path, during=True)) as browser:

        def check(path: str, place: str, question: Any = None) -> Any:
            answer = browser.get(path) if question is None else browser.post(path, json=question)
            satisfies(place, "get" if question is None else "post", answer.json())
            return answer.json()

        check("/api/tests", "/api/tests")
        state = check("/api/tests", "/api/tests", {})
        own = f"/api/tests/{state['session']}"
        while not state["over"]:
            for name in ("", "/why", "/rank", "/posterior"):
                check(own + name, "/api/tests/{session}" + name)
            sent = {"number": state["number"], "item": state["question"]["item"], "choice": 0}
            state = check(f"{own}/answer", "/api/tests/{session}/answer", sent)
        check(f"{own}/report", "/api/tests/{session}/report")
        check("/api/teacher/codes", "/api/teacher/codes", {"count": 2})
        check("/api/teacher/sessions", "/api/teacher/sessions")
        for number in (1, 2):
            place = "/api/teacher/sessions/{number}"
            check(f"/api/teacher/sessions/{number}", place)
            check(f"/api/teacher/sessions/{number}/delete", f"{place}/delete", {})


def test_exported_responses_are_read_by_the_library(tmp_path: Path) -> None:
    with _teacher(offer(tmp_path, length=4)) as browser:
        for choice in (0, 1):
            state = asked(browser, "/api/tests")
            place = f"/api/tests/{state['session']}/answer"
            while not state["over"]:
                item = state["question"]["item"]
                sent = {"number": state["number"], "item": item, "choice": choice}
                state = asked(browser, place, sent)
        file = tmp_path / "responses.csv"
        file.write_text(browser.get("/api/teacher/responses.csv").text)
    found = Responses.from_csv(file)
    assert found.items == BANK.item_names
    for column, item in enumerate(BANK.items[:3]):
        responses = [int(response) for _, response in item.choices[:2]]
        assert found.codes[:, column].tolist() == responses


def test_a_session_is_deleted_with_its_code(tmp_path: Path) -> None:
    with _teacher(offer(tmp_path)) as browser:
        (made,) = asked(browser, "/api/teacher/codes", {"count": 1})["codes"]
        key = asked(browser, "/api/tests", {"code": made["code"]})["session"]
        asked(browser, f"/api/tests/{key}/answer", {"number": 0, "item": "sum", "choice": 0})
        asked(browser, f"/api/teacher/sessions/{made['id']}/delete")
        assert browser.get(f"/api/tests/{key}").status_code == 404
        refused(browser, "/api/tests", {"code": made["code"]}, 404)
        assert _table(browser, "answers") == []
        refused(browser, f"/api/teacher/sessions/{made['id']}/delete", {}, 404)


@pytest.mark.parametrize("wanted", [{}, {"count": 501}, {"names": ["x" * 81]}, {"count": -1}])
def test_impossible_codes_are_refused(tmp_path: Path, wanted: dict[str, Any]) -> None:
    with _teacher(offer(tmp_path)) as browser:
        refused(browser, "/api/teacher/codes", wanted)
        refused(browser, "/api/teacher/codes", {"names": ["a\x00b"]})


def test_only_the_teacher_sees_the_class(tmp_path: Path) -> None:
    tests = offer(tmp_path)
    with visiting(tests) as browser:
        key = asked(browser, "/api/tests")["session"]
        for place in PLACES:
            assert browser.get(place).status_code == 401
            wrong = {"authorization": f"Bearer {key}"}
            assert browser.get(place, headers=wrong).status_code == 401
        refused(browser, "/api/teacher/codes", {"count": 1}, 401)
        refused(browser, "/api/teacher/sessions/1/delete", {}, 401)
        for page in ("/teacher", "/teacher?token=wrong", "/teacher/codes", "/teacher/report"):
            answer = browser.get(page)
            assert answer.status_code == 401
            assert "teacher's address" in answer.text
        assert not any(name.startswith("bnmind-teacher") for name in browser.cookies)
        answer = browser.get(f"/teacher?token={tests.token}")
        assert (answer.status_code, answer.headers["location"]) == (303, "/teacher")
        assert "HttpOnly" in answer.headers["set-cookie"]
        for page in ("/teacher", "/teacher/codes", "/teacher/report?session=1", *PLACES):
            assert browser.get(page).status_code == 200
        assert browser.get("/api/teacher/others.csv").status_code == 404


def test_takers_need_no_token_of_the_server_but_see_only_the_test(tmp_path: Path) -> None:
    tests = offer(tmp_path, needs_code=True)
    with visiting(tests, token="right", hosts=None, open_paths=_OPEN) as browser:
        answer = browser.get("/")
        assert (answer.status_code, answer.headers["location"]) == (303, "/tests")
        page = browser.get("/tests")
        assert page.status_code == 200
        assert "/assist" not in page.text
        assert browser.get("/static/tests.css").status_code == 200
        for place in ("/assist", "/testsuite", "/api", "/api/play"):
            assert browser.get(place).status_code == 401
        page = browser.get("/play")
        assert page.headers["content-type"].startswith("text/html")
        assert '<a href="/tests">To the test.</a>' in page.text
        assert page.headers["content-security-policy"]
        refused(browser, "/api/suggest", {}, 401)
        refused(browser, "/api/tests", {}, 401)  # no access code
        evil = {"origin": "http://evil.example"}
        assert browser.post("/api/tests", json={}, headers=evil).status_code == 403
        assert browser.get("/?token=right").status_code == 303
        assert browser.get("/").status_code == 200


# --- The command ----------------------------------------------------------------------------------


def test_the_command_prints_both_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def served(place: Any, *, ready: Any, tests: OfferedTest) -> None:
        ready()
        place.listener.close()
        tests.close()

    monkeypatch.setattr("bnmind.web.server.serve", served)
    monkeypatch.setattr("typer.get_app_dir", lambda name: str(tmp_path / name))
    bank = Path(__file__).parents[2] / "models" / "banks" / "fractions.json"
    file = tmp_path / "class.sqlite"
    tokens = set()
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            app(["web", "--bank", str(bank), "--responses", str(file)], prog_name="bnmind")
        said = capsys.readouterr().out
        assert not ended.value.code, said
        tokens.add(said.partition("token=")[2].partition("\n")[0])
    assert len(tokens) == 1  # the same after a restart
    assert "The test ends when each skill is known with probability 0.95" in said
    assert re.search(r"The test is at http://127\.0\.0\.1:\d+/tests\.\n", said)
    assert re.search(r"http://127\.0\.0\.1:\d+/teacher\?token=[\w-]{32}\n", said)
    assert f"Answers are saved in {file}.\n" in said
    assert file.exists()


def test_each_test_has_a_token_of_its_own_which_can_be_renewed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    other = GivenTest(design=Design(BANK.with_title("Another test")))
    better = GivenTest(design=Design(BANK, stopper=MaximalItems(2)))

    def token(given: GivenTest, url: str = url, **options: Any) -> str:
        tests = offered_test(given, url, needs_code=False, **options)
        tests.close()
        return tests.token

    first = token(given())
    assert len(first) >= 32
    assert token(given()) == token(better) == first  # after a restart, and with a mended design
    elsewhere = f"sqlite:///{tmp_path / 'b.sqlite'}"
    assert len({first, token(other), token(given(), elsewhere)}) == 3
    renewed = token(given(), new_token=True)
    assert renewed != first
    assert token(given()) == renewed


def test_options_of_a_test_need_a_bank(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises((SystemExit, BnmindError)):
        app(["web", "--no-codes"], prog_name="bnmind")
    assert "need --bank" in " ".join(capsys.readouterr().err.split())
    with pytest.raises((SystemExit, BnmindError)):
        app(["web", "--trusted-proxy", "proxy"], prog_name="bnmind")
    assert "expected an IP address" in " ".join(capsys.readouterr().err.split())


def test_other_machines_get_an_address_that_they_can_open() -> None:
    place = opened("0.0.0.0", 0, open_paths=_OPEN)
    with place.listener:
        assert re.fullmatch(r"http://[\d.]+:\d+/tests", place.others("/tests"))
        for address in (place.others("/tests"), place.address):
            assert "0.0.0.0" not in address
        assert place.address.startswith(place.others("/?token="))
        assert "token" not in place.others("/tests")
        assert place.settings.open_paths == _OPEN


# --- Pictures -------------------------------------------------------------------------------------

PNG = "data:image/png;base64,iVBORw0KGgo="


def _bank_file(folder: Path, picture: str) -> Path:
    items = (replace(BANK.items[0], picture=picture), *BANK.items[1:])
    file = folder / "bank.json"
    write_bank(replace(BANK, items=items), file)
    return file


def test_pictures_of_the_bank_are_shown(tmp_path: Path) -> None:
    (tmp_path / "figure.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    plan = read_plan(_bank_file(tmp_path, "figure.svg"), None)
    assert plan.pictures["sum"].kind == "image/svg+xml"
    design = tmp_path / "design.toml"
    design.write_text('[[start]]\nask = ["sum"]\n')
    plan = read_plan(_bank_file(tmp_path, PNG), design)
    tests = offered_test(plan, f"sqlite:///{tmp_path / 'a.sqlite'}", needs_code=False)
    with visiting(tests) as browser:
        state = asked(browser, "/api/tests")
        picture = state["question"]["picture"]
        answer = browser.get(picture)
        assert answer.headers["content-type"] == "image/png"
        assert answer.content.startswith(b"\x89PNG")
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        # Only with the secret of a session, and only that of its question.
        for place in ("pictures/0", "x/picture/0", f"{state['session']}/picture/1"):
            assert browser.get(f"/api/tests/{place}").status_code == 404
        sent = {"number": 0, "item": "sum", "choice": 1}
        asked(browser, f"/api/tests/{state['session']}/answer", sent)
        assert browser.get(picture).status_code == 404


@pytest.mark.parametrize(
    ("picture", "words"),
    [
        ("missing.png", "No such file"),
        ("../secret.png", "beside the bank"),
        ("/etc/passwd", "beside the bank"),
        ("page.html", "ending in"),
        ("data:text/html;base64,AAAA", "data address"),
        ("data:image/png;base64,!!", "picture of item sum"),
    ],
)
def test_pictures_that_are_none_are_refused(tmp_path: Path, picture: str, words: str) -> None:
    with pytest.raises(InvalidModelError, match=words):
        read_plan(_bank_file(tmp_path, picture), None)
