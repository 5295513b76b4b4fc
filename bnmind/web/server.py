"""The server: an address, a token where one is needed, and the application behind them."""

from __future__ import annotations

import base64
import hmac
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from bnmind.errors import InvalidArgumentError
from bnmind.web.app import create_app
from bnmind.web.base.patience import PatientProtocol
from bnmind.web.base.remembered import key_of, port_of, remember_port
from bnmind.web.base.settings import LOOPBACK, WebSettings, is_loopback
from bnmind.web.testing.offered import OfferedTest

__all__ = ["Opened", "opened", "serve"]


@dataclass(frozen=True)
class Opened:
    """An open address that nobody serves yet."""

    listener: socket.socket = field(repr=False)
    """The listening socket."""
    address: str
    """What to open in a browser, with the token if there is one."""
    settings: WebSettings

    def others(self, path: str) -> str:
        """Return the address of a path for other machines, without the token."""
        return f"{_opening(self.listener.getsockname()[0], self.listener)}{path}"


def opened(
    host: str,
    port: int,
    *,
    folder: Path | None = None,
    open_paths: tuple[str, ...] = (),
    trusted_proxies: tuple[str, ...] = (),
) -> Opened:
    """Open an address.

    Parameters
    ----------
    host
        The address to listen at. If other machines can reach it, visitors need a token.
    port
        The port; 0 for that of the last time if it is free, otherwise for any that is.
    folder
        Where the server remembers its key and its port; None if it is to remember nothing.
    open_paths, trusted_proxies
        See `WebSettings`; with a proxy, other machines can reach every address.

    Raises
    ------
    InvalidArgumentError
        If the address cannot be opened.
    """
    last = port_of(folder) if folder is not None and port == 0 else 0
    try:
        listener = _listener(host, last or port)
    except InvalidArgumentError:
        if not last:
            raise
        listener = _listener(host, port)
    key = secrets.token_bytes(32)
    if folder is not None:
        key = key_of(folder)
        remember_port(folder, listener.getsockname()[1])
    if is_loopback(host) and not trusted_proxies:
        token = None
        hosts: tuple[str, ...] | None = LOOPBACK
    else:
        token = base64.urlsafe_b64encode(hmac.digest(key, b"token", "sha256")[:24]).decode()
        hosts = None
    query = "" if token is None else f"?token={token}"
    address = f"{_opening(host, listener)}/{query}"
    settings = WebSettings(
        token=token, hosts=hosts, key=key, open_paths=open_paths, trusted_proxies=trusted_proxies
    )
    return Opened(listener, address, settings)


def _listener(host: str, port: int) -> socket.socket:
    try:
        family, kind, _, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(128)
        except OSError:
            listener.close()
            raise
    except (OSError, OverflowError, UnicodeError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        raise InvalidArgumentError(
            f"cannot listen at {host}, port {port}: {reason}; choose another --host or --port",
            (host, port),
        ) from fault
    return listener


def _opening(host: str, listener: socket.socket) -> str:
    """Return how a browser reaches a server; no other machine can open that of all addresses."""
    if host in ("0.0.0.0", "::", ""):
        host = _own_address(listener.family)
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def _own_address(family: int) -> str:
    """Return this machine's address in its network; localhost if it has none."""
    outside = "192.0.2.1" if family == socket.AF_INET else "2001:db8::1"  # nobody has these
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((outside, 9))  # sends nothing
            return str(probe.getsockname()[0])
        except OSError:
            return "localhost"


def serve(
    place: Opened,
    *,
    ready: Callable[[], None] = lambda: None,
    tests: OfferedTest | None = None,
) -> None:
    """Serve the pages at an open address, until the process is interrupted.

    ``ready`` is called once the address answers; ``tests`` is the test that people take.
    """
    config = uvicorn.Config(
        create_app(place.settings, warm=True, tests=tests),
        http=PatientProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(place.settings.trusted_proxies),
        forwarded_allow_ips=list(place.settings.trusted_proxies),
        ws="none",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
        limit_concurrency=500,
    )
    _Server(config, ready).run(sockets=[place.listener])


class _Server(uvicorn.Server):
    """A server that tells when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._ready()
