"""Who may come in, and how much may be asked."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, cast

import pytest
from fastapi import Request
from starlette.datastructures import Address

from bnmind.web.guard import POLICY, TOKEN_COOKIE, WebSettings, is_loopback
from bnmind.web.work import BusyError, GoneError, SlowError, StoppedError, Turn, Work
from tests.web.clients import SMALL, client, refused

BROWSER = client()
PATHS = ["/", "/assist", "/play", "/api", "/nowhere", "/static/style.css", "/api/openapi.json"]


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_carries_the_policy(path: str) -> None:
    answer = BROWSER.get(path)
    assert answer.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"]


@pytest.mark.parametrize("path", PATHS[:5])
def test_pages_have_nothing_inline_and_nothing_from_elsewhere(path: str) -> None:
    page = BROWSER.get(path).text
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*src=)|javascript:", page)
    links = re.findall(r"(?:src|href)=\"([^\"]*)\"", page)
    assert links
    assert all(link.startswith(("/", "#")) and not link.startswith("//") for link in links)


def test_faults_of_the_server_carry_the_policy_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("bnmind.web.games.advice_on", broken)
    answer = BROWSER.post("/api/suggest", json=SMALL)
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert answer.headers["content-security-policy"] == POLICY


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "192.168.1.5"])
def test_other_names_of_the_server_are_refused(host: str) -> None:
    assert BROWSER.get("/", headers={"host": host}).status_code == 400


@pytest.mark.parametrize("host", ["localhost:80", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST"])
def test_its_own_names_are_not(host: str) -> None:
    assert BROWSER.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://localhost:81"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "sec-fetch-mode": "navigate"},
    ],
)
def test_requests_of_other_sites_are_refused(headers: dict[str, str]) -> None:
    answer = BROWSER.post("/api/suggest", json=SMALL, headers=headers)
    assert answer.status_code == 403


def test_own_requests_and_links_from_elsewhere_are_not() -> None:
    own = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
    assert BROWSER.post("/api/suggest", json=SMALL, headers=own).status_code == 200
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert BROWSER.get("/assist", headers=link).status_code == 200
    framed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert BROWSER.get("/api/play", headers=framed).status_code == 403


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_forms_of_other_sites_are_refused(kind: str) -> None:
    answer = BROWSER.post("/api/suggest", content=b"{}", headers={"content-type": kind})
    assert answer.status_code == 415


@pytest.mark.parametrize("body", [b'{"pegs": "\xff"}', b"[" * 200_000, b"{" + b"9" * 5000])
def test_a_body_that_is_no_json_is_told_in_plain_words(body: bytes) -> None:
    headers = {"content-type": "application/json"}
    answer = BROWSER.post("/api/suggest", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["message"] == "Expected JSON, got something else."


def test_large_bodies_are_refused_with_and_without_a_length() -> None:
    small = client(most_bytes=100)
    assert small.post("/api/suggest", json=SMALL).status_code == 200
    assert "100 bytes" in refused(small, "/api/suggest", {"x": "y" * 200}, status=413)

    def parts() -> Iterator[bytes]:
        yield from [b" " * 60] * 3

    headers = {"content-type": "application/json"}
    assert small.post("/api/suggest", content=parts(), headers=headers).status_code == 413


def test_a_token_is_needed_where_there_is_one() -> None:
    browser = client(token="right", hosts=None)
    for path in PATHS:
        assert browser.get(path).status_code == 401
    assert browser.get("/?token=wrong").status_code == 401
    assert browser.post("/api/suggest?token=right", json=SMALL).status_code == 401
    bearer = {"authorization": "Bearer right"}
    assert browser.get("/assist", headers=bearer).status_code == 200
    answer = browser.get("/assist?token=right&x=1")
    assert (answer.status_code, answer.headers["location"]) == (303, "/assist?x=1")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert browser.cookies[TOKEN_COOKIE] == "right"
    assert browser.get("/assist", headers={"host": "anything"}).status_code == 200
    assert browser.post("/api/suggest", json=SMALL).status_code == 200


def test_the_token_leads_nowhere_else() -> None:
    answer = client(token="right", hosts=None).get("http://localhost//evil.example/?token=right")
    assert answer.headers["location"] == "/evil.example/"


def test_files_of_the_machine_cannot_be_reached() -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd"):
        assert BROWSER.get(path).status_code == 404


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_only_this_machine_reaches_loopback(host: str, local: bool) -> None:
    assert is_loopback(host) == local


# --- Work -----------------------------------------------------------------------------------------


class _Visitor:
    def __init__(self, *, left: bool = False, address: str = "", session: str = "") -> None:
        self.left = left
        self.client = Address(address, 1) if address else None
        self.path_params = {"session": session} if session else {}

    async def is_disconnected(self) -> bool:
        return self.left


def _request(visitor: _Visitor) -> Request:
    return cast(Request, cast(Any, visitor))


def test_work_has_limits() -> None:
    async def scene() -> None:
        release = threading.Event()
        work = Work(WebSettings(workers=1, most_waiting=1, seconds=0.05))
        here = _request(_Visitor())
        assert await work.run(here, lambda: 3) == 3
        with pytest.raises(ZeroDivisionError):
            await work.run(here, lambda: 1 // 0)
        await asyncio.sleep(0.01)
        begun: list[str] = []
        slow = asyncio.gather(
            *(work.run(here, lambda: release.wait(5)), work.run(here, lambda: begun.append("x"))),
            return_exceptions=True,
        )
        await asyncio.sleep(0.01)
        with pytest.raises(BusyError):
            await work.run(here, lambda: 4)
        assert [type(one) for one in await slow] == [SlowError, SlowError]
        release.set()
        await asyncio.sleep(0.05)
        assert begun == []  # given up before it began
        assert await work.run(here, lambda: 5) == 5
        work.close()

    asyncio.run(scene())


def test_heavy_work_has_threads_of_its_own_so_that_a_moment_stays_a_moment() -> None:
    """Ten long computations at once, and somebody else asks for something small."""

    async def scene() -> None:
        work = Work(WebSettings(workers=2, seconds=40))
        ask = partial(work.run, _request(_Visitor()), needs=())
        running: list[int] = []
        ended: list[int] = []
        most = 0

        def heavy() -> int:
            nonlocal most
            running.append(1)
            most = max(most, len(running))
            try:
                while not ended:
                    time.sleep(0.01)
            finally:
                running.pop()
            return 7

        said = [Turn.HEAVY] * 5 + [Turn.QUICK] * 5  # half of them were not expected to be heavy
        slow = [asyncio.ensure_future(ask(heavy, turn=turn)) for turn in said]
        begun = asyncio.get_running_loop().time()
        assert await ask(lambda: 3) == 3
        assert await ask(lambda: 4, turn=Turn.TEST) == 4
        assert asyncio.get_running_loop().time() - begun < 5
        await asyncio.sleep(2)
        for _ in range(20):
            begun = asyncio.get_running_loop().time()
            assert await ask(lambda: 3) == 3
            assert asyncio.get_running_loop().time() - begun < 1
        assert most <= 4  # two of them heavy, and two that were not known to be
        ended.append(1)
        assert await asyncio.gather(*slow) == [7] * 10
        work.close()

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("who", "turn", "most"),
    [
        ({"address": "10.0.0.1"}, Turn.HEAVY, 8),
        ({"address": "10.0.0.1"}, Turn.TEST, 10),
        ({"address": "10.0.0.1", "session": "secret"}, Turn.TEST, 4),
    ],
)
def test_one_address_and_one_session_do_not_take_all_places(
    who: dict[str, Any], turn: Turn, most: int
) -> None:
    async def scene() -> None:
        release = threading.Event()
        work, greedy = Work(WebSettings(workers=2, most_waiting=18)), _request(_Visitor(**who))
        asked = [
            asyncio.ensure_future(work.run(greedy, lambda: release.wait(10), turn=turn))
            for _ in range(15)
        ]
        await asyncio.sleep(0.05)
        assert sum(one.done() for one in asked) == 15 - most
        other = _request(_Visitor(address="10.0.0.2", session="another"))
        waits = asyncio.ensure_future(work.run(other, lambda: 5, turn=turn))
        release.set()
        assert await waits == 5
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(one) for one in found].count(BusyError) == 15 - most
        assert await work.run(greedy, lambda: 6, turn=turn) == 6  # when they are done, it may again
        work.close()

    asyncio.run(scene())


def test_nothing_is_computed_for_those_who_left() -> None:
    async def scene() -> None:
        release = threading.Event()
        work = Work(WebSettings(workers=1))
        with pytest.raises(GoneError):
            await work.run(_request(_Visitor(left=True)), lambda: release.wait(5))
        release.set()
        work.close()

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("fault", "status", "words"),
    [
        (BusyError, 503, "Try again"),
        (SlowError, 503, "20 seconds"),
        (StoppedError, 503, "about to stop"),
    ],
)
def test_limits_are_told(
    monkeypatch: pytest.MonkeyPatch, fault: type[Exception], status: int, words: str
) -> None:
    async def limited(*_: object) -> None:
        raise fault

    monkeypatch.setattr(Work, "run", limited)
    assert words in refused(BROWSER, "/api/suggest", SMALL, status=status)


def test_a_server_that_still_compiles_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def limited(*_: object) -> None:
        raise SlowError

    monkeypatch.setattr(Work, "run", limited)
    assert "smaller board" in refused(BROWSER, "/api/suggest", SMALL, status=503)
    monkeypatch.setattr("bnmind.web.pages.being_compiled", lambda: ("kernel",))
    told = refused(BROWSER, "/api/suggest", SMALL, status=503)
    assert "20 seconds" in told
    assert "still compiles" in told
