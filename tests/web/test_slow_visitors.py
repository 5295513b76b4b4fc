"""Visitors who send their requests slowly keep nobody else out."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
import uvicorn

from bnmind.web.app import create_app
from bnmind.web.base.patience import PatientProtocol
from bnmind.web.base.settings import WebSettings

SOON = 0.3


class Impatient(PatientProtocol):
    patience = SOON


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    app = create_app(WebSettings(body_seconds=SOON))
    config = uvicorn.Config(app, http=Impatient, log_level="error", ws="none", limit_concurrency=5)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(10)


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=5)


def is_answered(port: int) -> bool:
    visitor = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
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
