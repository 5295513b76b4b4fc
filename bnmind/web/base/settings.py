"""The settings of the server: who may come in, and how much may be asked of it."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field
from functools import partial

__all__ = ["LOOPBACK", "WebSettings", "is_loopback"]

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
    """A secret that signs the cookies of visitors; see `bnmind.web.base.sealed`."""
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
