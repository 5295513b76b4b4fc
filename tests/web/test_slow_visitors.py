"""Visitors who send their requests slowly keep nobody else out."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
import uvicorn

from bnmind.web.guard import PatientProtocol, WebSettings
from bnmind.web.server import create_app
from tests.command_line import ROOT
from tests.web.serving import serving

SOON = 0.3


class Impatient(PatientProtocol):
    patience = SOON


@contextmanager
def served(listener: socket.socket) -> Iterator[None]:
    app = create_app(WebSettings(body_seconds=SOON))
    config = uvicorn.Config(app, http=Impatient, log_level="error", ws="none", limit_concurrency=7)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener, served(listener):
        yield listener.getsockname()[1]


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=5)


def is_answered(port: int, address: str = "127.0.0.1") -> bool:
    visitor = http.client.HTTPConnection("127.0.0.1", port, timeout=5, source_address=(address, 0))
    try:
        visitor.request("GET", "/")
        return visitor.getresponse().status == 200
    finally:
        visitor.close()


def test_connections_without_a_whole_head_are_closed(port: int) -> None:
    slow = [connected(port) for _ in range(5)]
    for one in slow[1:]:
        one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
    until = time.monotonic() + 10
    while not is_answered(port) and time.monotonic() < until:
        time.sleep(0.05)
    assert is_answered(port)
    for one in slow:
        with one:
            assert one.recv(1) == b""


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(port: int) -> None:
    begun = time.monotonic()
    with connected(port) as slow, suppress(ConnectionError):
        while time.monotonic() - begun < 10:
            slow.sendall(b"x")
            time.sleep(SOON / 10)
    assert time.monotonic() - begun < 9


def test_a_second_request_may_come_later_but_not_slowly(port: int) -> None:
    request = b"GET /api/network/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(port) as visitor:
        visitor.sendall(request)
        assert b"asia" in _all(visitor)
        time.sleep(2 * SOON)
        visitor.sendall(request)
        assert b"asia" in _all(visitor)
        visitor.sendall(request[:-2])
        assert visitor.recv(1) == b""


def test_a_body_that_does_not_come_is_not_waited_for(port: int) -> None:
    with connected(port) as slow:
        slow.sendall(
            b"POST /api/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        assert b" 408 " in slow.recv(1000)


def _all(visitor: socket.socket) -> bytes:
    """Return a whole answer."""
    head, _, body = visitor.recv(10_000).partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += visitor.recv(10_000)
    json.loads(body)
    return body


def test_half_open_connections_of_one_client_keep_nobody_out(port: int) -> None:
    slow = [connected(port) for _ in range(30)]
    for one in slow[::2]:
        with suppress(ConnectionError):
            one.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
    body = (
        b"POST /api/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n{"
    )
    for one in slow[1::2]:
        with suppress(ConnectionError):
            one.sendall(body)
    begun = time.monotonic()
    assert is_answered(port)
    assert is_answered(port, address="127.0.0.2")
    assert time.monotonic() - begun < SOON  # before the patience is over
    for one in slow:
        one.close()


def test_requests_of_closed_connections_do_not_count(port: int) -> None:
    body = (
        b"POST /api/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n{"
    )
    for _ in range(20):
        with ExitStack() as opened:
            for _ in range(40):
                slow = opened.enter_context(connected(port))
                with suppress(ConnectionError):
                    slow.sendall(body)
            assert is_answered(port)


def test_a_visitor_who_waits_for_an_answer_stays_connected(port: int) -> None:
    """Those are closed whose requests are not complete, the oldest of the busiest address first."""
    request = b"GET /api/network/models HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), 5, ("127.0.0.2", 0)) as other:
        other.sendall(request[:-2])
        slow = [connected(port) for _ in range(12)]
        other.sendall(request[-2:])
        assert b"asia" in _all(other)
        for one in slow:
            one.close()


@pytest.mark.parametrize("others", [8, 12])
def test_a_request_that_comes_at_once_with_many_connections_is_read_first(others: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as opened:
        port = listener.getsockname()[1]
        visitor = opened.enter_context(connected(port))
        visitor.sendall(b"GET /api/network/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for _ in range(others):
            opened.enter_context(connected(port))
        with served(listener):
            assert b"asia" in _all(visitor)


@pytest.mark.parametrize("head", [b"POST /api/suggest", b"GET /api/network/models"])
def test_a_body_in_tiny_chunks_is_refused_and_nobody_waits_for_it(port: int, head: bytes) -> None:
    with connected(port) as slow:
        slow.sendall(
            head + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        begun = time.process_time()
        sender = threading.Thread(target=_send_chunks, args=(slow, 200_000))
        sender.start()
        assert is_answered(port)
        sender.join(20)
        assert not sender.is_alive()
        # Each chunk takes about 15 microseconds: 3 seconds for all of them.
        assert time.process_time() - begun < 1.5
        if head.startswith(b"POST"):
            assert b" 400 " in slow.recv(1000)


def _send_chunks(visitor: socket.socket, number: int) -> None:
    with suppress(ConnectionError):  # the server closes the connection
        for _ in range(number // 1000):
            visitor.sendall(b"1\r\n \r\n" * 1000)


def test_a_body_in_chunks_of_a_usual_size_is_read(port: int) -> None:
    visitor = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    body = json.dumps({"history": "1123 1b1w"}).encode()
    visitor.request(
        "POST",
        "/api/history",
        body=iter([b" " * 1000] * 500 + [body]),
        headers={"Content-Type": "application/json"},
        encode_chunked=True,
    )
    answer = visitor.getresponse()
    assert answer.status in (200, 422)
    visitor.close()


@pytest.mark.slow
def test_five_hundred_connections_of_one_client_do_not_stop_the_server(tmp_path: Path) -> None:
    with serving(tmp_path) as (address, _), ExitStack() as opened:
        port = int(address.rpartition(":")[2])
        for number in range(520):
            slow = opened.enter_context(connected(port))
            if number % 2:
                slow.sendall(b"GET / HTTP/1.1\r\n")
        for source in ("127.0.0.1", "127.0.0.2"):
            begun = time.monotonic()
            assert is_answered(port, source)
            assert time.monotonic() - begun < 5


@pytest.mark.slow
@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_trusted_proxy_says_from_where_a_request_comes(tmp_path: Path, is_trusted: bool) -> None:
    bank = str(ROOT / "models" / "banks" / "fractions.json")
    options = ["--bank", bank, "--responses", str(tmp_path / "a.sqlite"), "--codes"]
    options += ["--trusted-proxy", "127.0.0.1"] if is_trusted else []
    with serving(tmp_path, *options) as (address, _):

        def status(forwarded: str) -> int:
            head = {"Content-Type": "application/json", "X-Forwarded-For": forwarded}
            asked = urllib.request.Request(f"{address}/api/tests", b'{"code": "AAAA"}', head)
            with pytest.raises(urllib.error.HTTPError) as refusal, urllib.request.urlopen(asked):
                pass
            refusal.value.close()
            return refusal.value.code

        assert {status("10.0.0.1") for _ in range(30)} == {404}
        assert status("10.0.0.1") == 429
        assert status("10.0.0.2") == (404 if is_trusted else 429)
        # The client may write the first addresses itself; the last one is what the proxy has seen.
        assert status("10.0.0.3, 10.0.0.1") == 429
