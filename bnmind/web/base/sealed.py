"""What a visitor has begun: the browser keeps it, in a cookie that the server has signed.

The server itself remembers nothing of anybody. What a visitor has begun is there after a restart of
the server, as long as its key is the same; nobody else can see it, and nobody can change it. What
the visitor must not know, such as a hidden code, follows from the key and from a number in the
cookie.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

from fastapi import Request, Response
from itsdangerous import BadData, URLSafeTimedSerializer

from bnmind.web.base.settings import WebSettings

__all__ = ["hidden_number", "keep", "kept"]


def kept(request: Request, name: str) -> dict[str, Any] | None:
    """Return what the visitor has kept under a name, or None if there is nothing."""
    settings: WebSettings = request.app.state.settings
    try:
        value = _signer(settings, name).loads(
            request.cookies.get(_cookie(name), ""), max_age=settings.kept_seconds
        )
    except BadData:
        return None
    return value if isinstance(value, dict) else None


def keep(request: Request, response: Response, name: str, value: Mapping[str, Any]) -> None:
    """Let the browser keep a value under a name."""
    settings: WebSettings = request.app.state.settings
    response.set_cookie(
        _cookie(name),
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


def _cookie(name: str) -> str:
    return f"bnmind-{name}"
