"""The settings of the server: who may come in, and how much may be asked of it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

__all__ = ["LOOPBACK", "WebSettings", "is_loopback"]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""The names by which a browser on the same machine reaches the server."""


@dataclass(frozen=True, kw_only=True)
class WebSettings:
    """The settings of the server."""

    token: str | None = None
    """A secret that every visitor must present; None if everyone on this machine may come in."""
    hosts: tuple[str, ...] | None = LOOPBACK
    """The host names that requests may have; None for any. With fixed names, a page elsewhere
    cannot reach the server under a name of its own (DNS rebinding)."""
    most_bytes: int = 1_000_000
    """The largest body of a request, in bytes."""
    body_seconds: float = 20.0
    """How long a body may take to arrive, in seconds."""
    seconds: float = 20.0
    """How long a request may wait and compute, in seconds."""
    workers: int = 2
    """How many requests are computed at the same time."""
    most_waiting: int = 60
    """How many more requests may wait for a worker."""
    most_sessions: int = 2000
    """How many visitors are remembered; the one that was away for longest is forgotten first."""
    idle_seconds: float = 12 * 3600.0
    """A visitor who was away for longer is forgotten, in seconds."""


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
