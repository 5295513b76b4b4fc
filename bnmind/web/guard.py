"""The guard in front of the pages: hosts, origins, the token, sizes, patience, response headers.

A request passes if its host is one of the server's names, it does not come from another site, it
presents the token where there is one, and its body is small. Every answer carries a policy under
which a browser runs and loads only what this server sends.

References
----------
OWASP, *Cross-Site Request Forgery Prevention Cheat Sheet* (Fetch Metadata, Origin, SameSite).
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
import math
import secrets
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

import h11
from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bnmind.web.page import AREAS, rendered

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The names by which a browser on the same machine reaches the server."""


@dataclass(frozen=True, kw_only=True)
class WebSettings:
    """The settings of the server."""

    token: str | None = field(default=None, repr=False)
    """A secret that every visitor must present; None if everyone on this machine may come in."""
    hosts: tuple[str, ...] | None = LOOPBACK
    """The host names that requests may have; None for any. With fixed names, a page elsewhere
    cannot reach the server under a name of its own (DNS rebinding)."""
    open_paths: tuple[str, ...] = ()
    """Where no token is needed: addresses, with all below them, that have a secret of their own.
    The first one is shown to visitors without a token."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses of proxies, which say from where a request comes (``X-Forwarded-For``)."""
    most_bytes: int = 1_000_000
    """The largest body of a request, in bytes."""
    body_seconds: float = 20.0
    """How long a body may take to arrive, in seconds."""
    seconds: float = 20.0
    """How long a request may wait and compute, in seconds."""
    workers: int = 2
    """How many requests are computed at the same time: of tests, quick and heavy ones each."""
    most_waiting: int = 200
    """How many more requests of each of these kinds may wait."""
    key: bytes = field(default_factory=partial(secrets.token_bytes, 32), repr=False)
    """A secret that signs the cookies of visitors; see `keep`."""
    kept_seconds: int = 30 * 24 * 3600
    """How long a browser keeps what its visitor has begun, in seconds."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server at an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# --- Connections whose requests must arrive in time, and in few parts -----------------------------

# Somebody who opens many connections and sends the heads of requests byte by byte would keep all
# others out ("slowloris"). The server closes such a connection, and earlier if there are too many:
# then one of the address that has most of those whose request is not complete. The time for a body
# is limited in `Guard`; here its parts are counted, of which each takes a moment.

MOST_PARTS = 2000
"""The parts, such as chunks, in which a body may come: a megabyte has about 700 packets."""


class _Parts(h11.Connection):
    """A connection that refuses a body in too many parts."""

    _number = 0

    def next_event(self) -> Any:
        event = super().next_event()
        self._number = self._number + 1 if isinstance(event, h11.Data) else 0
        if self._number > MOST_PARTS:
            raise h11.RemoteProtocolError("the body comes in too many parts")
        return event


class PatientProtocol(H11Protocol):
    """The protocol of uvicorn, which waits for the head of a request for a limited time."""

    patience = 20.0
    """How long the head of a request may take to arrive, in seconds."""

    _watch: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._most = self.limit_concurrency or math.inf
        if self.limit_concurrency:
            # uvicorn refuses at its limit, and counts requests of closed connections for a moment.
            self.limit_concurrency *= 4
        self.conn = _Parts(h11.SERVER)
        self.since = self.loop.time()

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._look()
        # The next round of the loop reads what came with it: who has sent a request stays.
        self.loop.call_soon(self.loop.call_soon, self._make_room, self._most)
        self._make_room(2 * self._most)

    def _make_room(self, most: float) -> None:
        """Close connections that wait until there are fewer, if possible."""
        while len(self.connections) >= most:
            if not self._close_one():
                break

    def _close_one(self) -> bool:
        """Close the oldest connection of the address with most that wait; False if none waits."""
        everybody = (one for one in self.connections if isinstance(one, PatientProtocol))
        waiting = [one for one in everybody if one.waits]
        if not waiting:
            return False
        ((address, _),) = Counter(_host(one) for one in waiting).most_common(1)
        oldest = min((one for one in waiting if _host(one) == address), key=lambda one: one.since)
        self.connections.discard(oldest)
        oldest.transport.abort()
        return True

    @property
    def waits(self) -> bool:
        """Whether the server waits for the client: for a request, or for the rest of it."""
        is_idle = self.cycle is None or self.cycle.response_complete
        return is_idle or self.conn.their_state is h11.SEND_BODY

    def send_400_response(self, msg: str) -> None:
        """Refuse a request, unless its answer has begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def data_received(self, data: bytes) -> None:
        """Wait on if the head is not complete."""
        super().data_received(data)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_watch()
        super().connection_lost(exc)

    def _look(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_watch()
        elif self._watch is None:
            self._watch = asyncio.get_running_loop().call_later(self.patience, self._give_up)

    def _give_up(self) -> None:
        # A visitor who waits for an answer sends nothing; that is not slowness.
        if self.conn.their_state is h11.IDLE and (
            self.cycle is None or self.cycle.response_complete
        ):
            self.transport.close()

    def _stop_watch(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None


def _host(connection: PatientProtocol) -> str:
    return connection.client[0] if connection.client else ""


# --- What a visitor has begun: the browser keeps it, in a cookie that the server has signed -------

# The server itself remembers nothing of anybody. What a visitor has begun is there after a restart
# of the server, as long as its key is the same; nobody else can see it, and nobody can change it.
# What the visitor must not know, such as a hidden code, follows from the key and from a number in
# the cookie.


def kept(request: Request, name: str) -> dict[str, Any] | None:
    """Return what the visitor has kept under a name, or None if there is nothing."""
    settings: WebSettings = request.app.state.settings
    try:
        value = _signer(settings, name).loads(
            request.cookies.get(f"bnmind-{name}", ""), max_age=settings.kept_seconds
        )
    except BadData:
        return None
    return value if isinstance(value, dict) else None


def keep(request: Request, response: Response, name: str, value: Mapping[str, Any]) -> None:
    """Let the browser keep a value under a name."""
    settings: WebSettings = request.app.state.settings
    response.set_cookie(
        f"bnmind-{name}",
        str(_signer(settings, name).dumps(dict(value))),
        max_age=settings.kept_seconds,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
        path="/",
    )


def hidden_number(settings: WebSettings, identity: str) -> int:
    """Return a number below 2^63 that only the server can find from an identity."""
    return (
        int.from_bytes(hmac.digest(settings.key, f"number {identity}".encode(), "sha256")[:8]) >> 1
    )


def _signer(settings: WebSettings, name: str) -> URLSafeTimedSerializer:
    # A later form of the values gets another number, so that older ones are not read.
    return URLSafeTimedSerializer(settings.key, salt=f"bnmind {name} 1")


# --- The guard ------------------------------------------------------------------------------------

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""The content security policy: nothing from elsewhere, nothing inline."""

TOKEN_COOKIE = "bnmind-token"

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_READING = ("GET", "HEAD")
_OURS = ("same-origin", "none")


class _RefusedError(Exception):
    """A request that is not let in: the status, and what the visitor reads."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Guard:
    """An ASGI application in front of another one that lets in only proper requests."""

    def __init__(self, app: ASGIApp, settings: WebSettings) -> None:
        self.app = app
        self.settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # a web socket: nobody answers
        headers = Headers(scope=scope)

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    own[name] = value
                own.setdefault("cache-control", "no-store")
            await send(message)

        try:
            self._check_host(headers)
            _check_origin(scope, headers)
            if self._is_door(scope, headers):
                await _redirect(self.settings.open_paths[0], "", dressed)
                return
            entry = self._check_token(scope, headers)
            if entry is not None:
                await _redirect(entry, self.settings.token or "", dressed)
                return
            body = await self._body(scope, headers, receive)
        except _RefusedError as refusal:
            if refusal.status == 401 and not scope["path"].startswith(("/api/", "/static/")):
                await self._outside(scope)(scope, receive, dressed)
            else:
                await _refuse(refusal, dressed)
            return
        replayed = _replayed(body, receive)
        await self.app(scope, replayed, dressed)

    def _outside(self, scope: Scope) -> Response:
        """Return the page that somebody without the token sees."""
        test = self.settings.open_paths[:1]
        areas = tuple((path, "Test") for path in test) or AREAS[:1]
        request = Request({**scope, "app": self.app})
        page = rendered("outside.html", request, title="Not open", areas=areas, test=test)
        page.status_code = 401
        return page

    def _check_host(self, headers: Headers) -> None:
        hosts = self.settings.hosts
        if hosts is not None and _name_of(headers.get("host", "")) not in hosts:
            raise _RefusedError(400, "This address does not belong to the server.")

    def _check_token(self, scope: Scope, headers: Headers) -> str | None:
        """Return where to go on if the address has the token, so that it does not stay there."""
        token = self.settings.token
        if token is None or self._is_open(scope["path"]):
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and same_token(given, token):
            return None
        if same_token(_cookie(headers, TOKEN_COOKIE), token):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] in _READING and any(
            name == "token" and same_token(value, token) for name, value in query
        ):
            rest = urlencode([(name, value) for name, value in query if name != "token"])
            # One slash: two would be the address of another server.
            path = "/" + scope["raw_path"].decode("latin-1").lstrip("/\\")
            return f"{path}?{rest}" if rest else path
        raise _RefusedError(
            401,
            "Open the address that bnmind web has printed, with its token, or send the token"
            " as Authorization: Bearer.",
        )

    def _is_open(self, path: str) -> bool:
        """Return whether a path needs no token."""
        return any(
            path == place or path.startswith(f"{place}/") for place in self.settings.open_paths
        )

    def _is_door(self, scope: Scope, headers: Headers) -> bool:
        """Return whether somebody without a token comes to the start: they may take the test."""
        return bool(
            self.settings.open_paths
            and self.settings.token
            and scope["path"] == "/"
            and not scope["query_string"]
            and not same_token(_cookie(headers, TOKEN_COOKIE), self.settings.token)
        )

    async def _body(self, scope: Scope, headers: Headers, receive: Receive) -> bytes:
        """Return the body, which is read completely before any work begins."""
        if scope["method"] in _READING:
            return b""
        most = self.settings.most_bytes
        too_large = _RefusedError(413, f"Send at most {most:,} bytes.")
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > most:
            raise too_large
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            # Forms of other sites cannot send this type.
            raise _RefusedError(415, "Send JSON, with the header Content-Type: application/json.")
        body = bytearray()
        try:
            async with asyncio.timeout(self.settings.body_seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _RefusedError(400, "The request ended too early.")
                    body += message.get("body", b"")
                    if len(body) > most:
                        raise too_large
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise _RefusedError(408, "The request took too long to arrive.") from None


def _check_origin(scope: Scope, headers: Headers) -> None:
    """Raise if the request comes from another site.

    A link on another site may lead to a page, but may neither read nor change anything.
    """
    site = headers.get("sec-fetch-site")
    navigates = headers.get("sec-fetch-mode") == "navigate" and scope["method"] in _READING
    if site is not None and site not in _OURS and not navigates:
        raise _RefusedError(403, "Requests from other sites are refused.")
    origin = headers.get("origin")
    if origin is None or scope["method"] in _READING:
        return
    if origin.partition("://")[2].lower() != headers.get("host", "").lower():
        raise _RefusedError(403, "Requests from other sites are refused.")


def _name_of(host: str) -> str:
    """Return a host without its port.

    >>> _name_of("localhost:8000"), _name_of("[::1]:8000"), _name_of("[::1]")
    ('localhost', '[::1]', '[::1]')
    """
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()


def _cookie(headers: Headers, name: str) -> str:
    try:
        cookies = SimpleCookie(headers.get("cookie", ""))
    except CookieError:
        return ""
    return cookies[name].value if name in cookies else ""


def same_token(given: str, token: str) -> bool:
    """Compare in a time that does not tell how much is right."""
    return secrets.compare_digest(given.encode(), token.encode())


def _replayed(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()  # a disconnection
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _redirect(place: str, token: str, send: Send) -> None:
    headers = [(b"location", place.encode("latin-1"))]
    if token:
        cookie = f"{TOKEN_COOKIE}={token}; HttpOnly; SameSite=Lax; Path=/"
        headers.append((b"set-cookie", cookie.encode("latin-1")))
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _refuse(refusal: _RefusedError, send: Send) -> None:
    body = json.dumps({"error": {"kind": "Refused", "message": str(refusal)}}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
