"""The guard in front of the pages: hosts, origins, the token, sizes, and response headers.

A request passes if its host is one of the server's names, it does not come from another site, it
presents the token where there is one, and its body is small. Every answer carries a policy under
which a browser runs and loads only what this server sends.

References
----------
OWASP, *Cross-Site Request Forgery Prevention Cheat Sheet* (Fetch Metadata, Origin, SameSite).
"""

from __future__ import annotations

import asyncio
import json
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bnmind.web.base.page import AREAS, rendered
from bnmind.web.base.settings import WebSettings

__all__ = ["POLICY", "TOKEN_COOKIE", "Guard"]

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
        if scheme.lower() == "bearer" and _same(given, token):
            return None
        if _same(_cookie(headers, TOKEN_COOKIE), token):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if scope["method"] in _READING and any(
            name == "token" and _same(value, token) for name, value in query
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
            and not _same(_cookie(headers, TOKEN_COOKIE), self.settings.token)
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


def _same(given: str, token: str) -> bool:
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
