"""A game against the server: what a visitor may know, and that nobody else knows it."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
from starlette.testclient import TestClient

from bnmind.mastermind import Board, Channel, Reply, TableBelief, Turn
from bnmind.strategies import Entropy, describe_guess, exact_regret
from bnmind.web.guard import WebSettings, hidden_number
from tests.web.clients import SMALL, asked, client, refused

COOKIE = "bnmind-play"
TRUE = {**SMALL, "noise": "exact"}
CODES = [f"{a}{b}" for a, b in product("123", repeat=2)]


def test_there_is_no_game_before_it_begins() -> None:
    browser = client()
    assert browser.get("/api/play").json() == {"board": None}
    assert "begin a new one" in refused(browser, "/api/play/guess", {"guess": "11"})
    assert COOKIE not in browser.cookies


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


def test_the_guesses_of_a_game_that_is_over_are_judged() -> None:
    browser = client()
    asked(browser, "/api/play", TRUE)
    while asked(browser, "/api/play/guess", {"guess": "11"})["won"]:
        asked(browser, "/api/play", TRUE)
    assert "not over yet" in browser.get("/api/play/review").json()["error"]["message"]
    asked(browser, "/api/play/give-up")
    got = browser.get("/api/play/review").json()
    board = Board(2, 3)
    belief = TableBelief.start(Channel.exact(board).revealed())
    best = float(Entropy().choose(belief, np.random.default_rng(0))[1].information)
    own = describe_guess(belief, (1, 1)).information
    (row,) = got["rows"]
    assert (row["guess"], row["best"], row["chance"]) == ("11", "12", pytest.approx(1 / 9))
    assert (row["information"], row["best_information"]) == pytest.approx((own, best))
    assert got["regret"] == row["regret"] == pytest.approx(best - own)
    assert got["guesses"] == exact_regret(board, (_turn(browser),)).regret
    assert got["words"].startswith("Of your 1 guess, none was the most informative.")
    asked(browser, "/api/play", {**SMALL, "noise": "false:0.2"})
    asked(browser, "/api/play/give-up")
    nothing = browser.get("/api/play/review").json()
    assert (nothing["rows"], nothing["regret"], nothing["guesses"]) == ([], 0, None)


def _turn(browser: TestClient) -> Turn:
    (row,) = browser.get("/api/play").json()["rows"]
    return Turn((1, 1), Reply.parse(row["reply"], pegs=2))


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
    assert one.cookies[COOKIE] != other.cookies[COOKIE]
    assert one.get("/api/play").json()["board"]["pegs"] == 2


def test_a_game_goes_on_after_a_restart_of_the_server_with_the_same_key() -> None:
    key = b"k" * 32
    before = client(key=key)
    asked(before, "/api/play", {**TRUE, "prior": "only-once", "most_guesses": 9})
    asked(before, "/api/play/guess", {"guess": "11"})
    asked(before, "/api/play/hint")
    asked(before, "/api/play/undo")
    state = asked(before, "/api/play/guess", {"guess": "22"})
    after = client(key=key)
    after.cookies = before.cookies
    assert after.get("/api/play").json() == before.get("/api/play").json() == {**state, "hints": 1}
    code = asked(before, "/api/play/give-up")["secret"]
    assert asked(after, "/api/play/guess", {"guess": code})["won"]
    other = client(key=b"l" * 32)
    other.cookies = before.cookies
    assert other.get("/api/play").json() == {"board": None}


def test_the_longest_game_fits_a_cookie() -> None:
    browser = client()
    setting = {"pegs": 12, "colors": 10, "noise": "independent:0.123456789", "prior": "two-color"}
    asked(browser, "/api/play", setting)
    for number in range(39):
        guess = " ".join(str((number * k * k + k) % 10 + 1) for k in range(12))
        state = asked(browser, "/api/play/guess", {"guess": guess})
    assert len(state["rows"]) == 39
    assert len(browser.cookies[COOKIE]) < 3000  # browsers keep 4096 bytes


def test_a_game_is_kept_out_of_reach_and_nobody_else_can_write_it() -> None:
    browser = client()
    cookie = browser.post("/api/play", json=TRUE).headers["set-cookie"]
    for flag in ("HttpOnly", "SameSite=strict", "Max-Age"):
        assert flag in cookie
    good = browser.cookies[COOKIE]
    for bad in ("planted", good[:-1], "x" + good, good[:5] + "A" + good[6:], "", "." * 3):
        browser.cookies.clear()
        browser.cookies.set(COOKIE, bad)
        assert browser.get("/api/play").json() == {"board": None}, bad


def test_hints_do_not_take_back_what_was_guessed_meanwhile() -> None:
    browser = client()
    state = asked(browser, "/api/play", {"noise": "false:0.2"})
    before = browser.cookies[COOKIE]
    asked(browser, "/api/play/hint")
    assert browser.cookies[COOKIE] == before
    assert browser.get("/api/play").json() == {**state, "hints": 1}
    assert asked(browser, "/api/play", {"noise": "false:0.2"})["hints"] == 0  # another game


def test_a_game_is_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    browser = client(kept_seconds=60)
    asked(browser, "/api/play", TRUE)
    assert browser.get("/api/play").json()["board"] is not None
    now = time.time()
    monkeypatch.setattr("itsdangerous.timed.time.time", lambda: now + 62)
    assert browser.get("/api/play").json() == {"board": None}


def test_the_hidden_number_needs_the_key() -> None:
    first, second = WebSettings(), WebSettings()
    assert first.key != second.key
    assert len(first.key) >= 32
    assert repr(first.key) not in repr(first)
    numbers = {hidden_number(s, name) for s in (first, second) for name in ("a", "b")}
    assert len(numbers) == 4
    assert all(0 <= number < 2**63 for number in numbers)


def test_games_that_the_server_cannot_play_are_refused() -> None:
    browser = client()
    assert "how often" in refused(browser, "/api/play", {"noise": "unknown"})
    assert "less than" in refused(browser, "/api/play", {"most_guesses": 10**9})
    assert "expected colors" in (
        asked(browser, "/api/play", TRUE)
        and refused(browser, "/api/play/guess", {"guess": "19"}).lower()
    )
