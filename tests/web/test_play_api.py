"""A game against the server: what a visitor may know, and that nobody else knows it."""

from __future__ import annotations

from itertools import product

from bnmind.web.base.sessions import SESSION_COOKIE
from tests.web.clients import SMALL, asked, client, refused

TRUE = {**SMALL, "noise": "exact"}
CODES = [f"{a}{b}" for a, b in product("123", repeat=2)]


def test_there_is_no_game_before_it_begins() -> None:
    browser = client()
    assert browser.get("/api/play").json() == {"board": None}
    assert "begin a new one" in refused(browser, "/api/play/guess", {"guess": "11"})
    assert SESSION_COOKIE not in browser.cookies


def test_a_game_is_played_to_the_end() -> None:
    browser = client()
    state = asked(browser, "/api/play", TRUE)
    assert state["board"] == {"pegs": 2, "colors": 3, "repeats": True}
    assert state["secret"] is None
    for number, code in enumerate(CODES, start=1):
        state = asked(browser, "/api/play/guess", {"guess": code})
        assert len(state["rows"]) == number
        if state["over"]:
            break
        assert state["secret"] is None
        assert all("true" not in row for row in state["rows"])
    assert state["won"]
    assert state["secret"] == state["rows"][-1]["guess"]
    assert state["rows"][-1]["reply"] == "2b0w"
    assert state["words"].startswith("You found the code in")
    assert browser.get("/api/play").json() == state
    assert "over" in refused(browser, "/api/play/guess", {"guess": "11"})
    assert "over" in refused(browser, "/api/play/hint", {})
    assert not asked(browser, "/api/play/undo")["over"]


def test_the_same_guess_gets_the_same_reply_after_an_undo() -> None:
    browser = client()
    asked(browser, "/api/play", {"noise": "false:0.9"})
    first = asked(browser, "/api/play/guess", {"guess": "AABC"})
    back = asked(browser, "/api/play/undo")
    assert back["rows"] == []
    assert back["undone"] == 1
    assert asked(browser, "/api/play/guess", {"guess": "1123"})["rows"] == first["rows"]
    asked(browser, "/api/play/undo")
    assert "no guess to undo" in refused(browser, "/api/play/undo", {})


def test_giving_up_shows_the_code_and_the_truth() -> None:
    browser = client()
    asked(browser, "/api/play", {**SMALL, "noise": "false:0.5", "most_guesses": 3})
    asked(browser, "/api/play/guess", {"guess": "11"})
    state = asked(browser, "/api/play/give-up")
    assert state["over"]
    if not state["won"]:
        assert state["rows"][0]["false"] == (state["rows"][0]["reply"] != state["rows"][0]["true"])
        assert len(state["secret"]) == 2


def test_no_guess_is_left_after_the_last() -> None:
    browser = client()
    asked(browser, "/api/play", {"most_guesses": 1})
    state = asked(browser, "/api/play/guess", {"guess": "1123"})
    assert state["over"]
    assert state["guesses_left"] == 0


def test_a_hint_is_advice_about_the_rows_and_is_counted() -> None:
    browser = client()
    asked(browser, "/api/play", TRUE)
    state = asked(browser, "/api/play/guess", {"guess": "11"})
    while state["over"]:  # the first guess may be the code
        asked(browser, "/api/play", TRUE)
        state = asked(browser, "/api/play/guess", {"guess": "11"})
    told = asked(browser, "/api/play/hint")
    rows = [{"guess": row["guess"], "reply": row["reply"]} for row in state["rows"]]
    assert told == asked(browser, "/api/suggest", {**TRUE, "turns": rows})
    assert browser.get("/api/play").json()["hints"] == 1


def test_visitors_do_not_see_each_other() -> None:
    one = client()
    asked(one, "/api/play", TRUE)
    asked(one, "/api/play/guess", {"guess": "11"})
    other = client()
    other._transport = one._transport  # the same server
    assert other.get("/api/play").json() == {"board": None}
    asked(other, "/api/play", {**TRUE, "pegs": 3})
    assert one.cookies[SESSION_COOKIE] != other.cookies[SESSION_COOKIE]
    assert one.get("/api/play").json()["board"]["pegs"] == 2


def test_an_id_that_was_not_given_is_not_taken() -> None:
    browser = client()
    browser.cookies.set(SESSION_COOKIE, "planted")
    answer = browser.post("/api/play", json=TRUE)
    cookie = answer.headers["set-cookie"]
    assert "planted" not in cookie
    assert len(cookie.partition("=")[2].partition(";")[0]) >= 40
    for flag in ("HttpOnly", "SameSite=strict", "Max-Age"):
        assert flag in cookie


def test_games_that_the_server_cannot_play_are_refused() -> None:
    browser = client()
    assert "how often" in refused(browser, "/api/play", {"noise": "unknown"})
    assert "less than" in refused(browser, "/api/play", {"most_guesses": 10**9})
    assert "expected colors" in (
        asked(browser, "/api/play", TRUE)
        and refused(browser, "/api/play/guess", {"guess": "19"}).lower()
    )
