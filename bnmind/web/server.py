"""The server: an address, a token where one is needed, and the application behind them."""

from __future__ import annotations

import base64
import hmac
import secrets
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from bnmind._files import create_file, write_file
from bnmind._front_door import installed_version
from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.web import games, networks, pages, pictures, play, watch
from bnmind.web import tests as offers
from bnmind.web.forms import REFUSALS
from bnmind.web.games import GameQuestion, advice_on
from bnmind.web.guard import LOOPBACK, Guard, PatientProtocol, WebSettings, is_loopback
from bnmind.web.page import STATIC
from bnmind.web.tests import OfferedTest, offered_demonstration
from bnmind.web.work import GAMES, NETWORKS, WATCHED, Work, load


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


# --- What the server remembers from one start to the next -----------------------------------------

# With the same key, cookies of visitors and the token go on to be valid. At the same port, a
# browser finds again what pages have stored.

_BYTES = 32


def key_of(folder: Path) -> bytes:
    """Return the key in a folder, a new one at the first time.

    If the folder cannot be read or written, the key is a new one.
    """
    key, file = secrets.token_bytes(_BYTES), folder / "key"
    with suppress(OSError, ModelFileError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # nobody else may read the key
        create_file(file, key)  # the first of two servers that start at once does
        found = file.read_bytes()
        return found if len(found) == _BYTES else key
    return key


def port_of(folder: Path) -> int:
    """Return the port of the last time, 0 if there was none."""
    with suppress(OSError, ValueError):
        port = int((folder / "port").read_text(encoding="ascii"))
        return port if 0 < port < 2**16 else 0
    return 0


def remember_port(folder: Path, port: int) -> None:
    """Remember a port for the next time."""
    with suppress(OSError, ModelFileError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(folder / "port", str(port))


_ABOUT = (
    "Questions about Mastermind with false replies and about Bayesian networks, answered exactly."
)


def create_app(
    settings: WebSettings | None = None, *, warm: bool = False, tests: OfferedTest | None = None
) -> Guard:
    """Return the application, for any server that speaks ASGI.

    Parameters
    ----------
    settings
        The settings; those of a server for this machine only by default.
    warm
        Load in the background what the first visitor would wait for.
    tests
        The test that people take; default a demonstration.
    """
    chosen = settings or WebSettings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if warm:
            parts = (app.state.work, app.state.tests)
            threading.Thread(target=_warm, args=parts, daemon=True).start()
        yield
        app.state.work.close()
        app.state.tests.close()

    app = FastAPI(
        title="bnmind",
        description=_ABOUT,
        version=installed_version(),
        docs_url=None,  # these pages would load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.settings = chosen
    app.state.work = Work(chosen)
    app.state.tests = tests or offered_demonstration()
    pages.add_faults(app)
    of_parts = [part.router for part in (pages, games, pictures, play, watch, networks)]
    for router in (*of_parts, offers.router, offers.teacher_router):
        app.include_router(router, responses=REFUSALS)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    return Guard(app, chosen)


_NOISES = ("exact", "false:0.1", "unknown")
_PATIENCE = 3.0
"""How long the preparation waits for visitors before each step, in seconds."""


def _warm(work: Work, tests: OfferedTest) -> None:
    """Load what the first visitors would wait for, the most urgent first.

    Compiled code comes last: until it is loaded, answers are computed without it. If there is none
    on this machine, the compiler takes a minute, in which questions about large networks wait.
    """
    load(*GAMES)
    if not tests.is_demonstration:
        tests.live().prepare()
    for noise in _NOISES:
        advice_on(GameQuestion.model_validate({"noise": noise}), once=True)
    for needed in (("numba",), NETWORKS, WATCHED):
        work.wait(_PATIENCE)
        load(*needed)
    for noise in _NOISES:
        work.wait(_PATIENCE)
        advice_on(GameQuestion.model_validate({"noise": noise}), once=False)
    work.is_warm = True
    for question in networks.first_questions():
        work.wait(_PATIENCE)
        networks.posterior(question)
