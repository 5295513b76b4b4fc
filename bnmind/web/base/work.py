"""Work that takes a moment, off the event loop, with limits on the number and on the time."""

from __future__ import annotations

import asyncio
import importlib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from fastapi import Request

from bnmind.web.base.settings import WebSettings
from bnmind.web.base.stopping import Stoppable

__all__ = [
    "GAMES",
    "NETWORKS",
    "REVIEWS",
    "WATCHED",
    "BusyError",
    "GoneError",
    "SlowError",
    "Work",
    "load",
    "work_of",
]

_T = TypeVar("_T")
GAMES = (
    "bnmind.lab.mastermind.advice",
    "bnmind.lab.mastermind.explanation",
    "bnmind.lab.mastermind.hidden_game",
    "bnmind.lab.mastermind.live.words",
    "bnmind.mastermind.beliefs.sampled_belief",
    "bnmind.mastermind.beliefs.vanishing_noise",
    "bnmind.mastermind.noise_parser",
    "bnmind.mastermind.priors.registry",
    "bnmind.strategies.players.min_entropy",
    "bnmind.strategies.players.sampled_entropy",
    "bnmind.strategies.players.unknown_noise",
)
"""Modules of answers about games."""

NETWORKS = (
    "bnmind.pgm.files",
    "bnmind.junction.engine.engine",
    "bnmind.junction.propagation.propagation",
    "bnmind.junction.queries.mpe",
    "bnmind.mastermind.network",
    "bnmind.questions",
    "bnmind.views",
)
"""Modules of answers about networks, and of pictures of Vomlel's network."""

REVIEWS = (*GAMES, "bnmind.lab.mastermind.live.review", "bnmind.strategies.analysis.exact_regret")
"""Modules of a game in retrospect."""

WATCHED = ("bnmind.lab.mastermind.games", "bnmind.strategies.registry")
"""Modules of games of strategies."""

_MOMENT = 0.25
"""Seconds between two looks whether the visitor still waits."""

_SOON = 0.02
"""Seconds between two attempts to stop work."""

_LOADING = threading.Lock()
_loaded: set[str] = set()


def load(*names: str) -> None:
    """Import modules, in one thread only: imports of two threads may meet half-way."""
    if _loaded.issuperset(names):
        return
    with _LOADING:
        for name in names:
            importlib.import_module(name)
            _loaded.add(name)


class BusyError(Exception):
    """Too many requests wait already."""


class SlowError(Exception):
    """The time for a request is up."""


class GoneError(Exception):
    """The visitor does not wait for the answer any more."""


class Work:
    """A few threads that compute the answers.

    A request that takes too long, or whose visitor has left, is given up, and its work is stopped.
    """

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(settings.workers, thread_name_prefix="bnmind web")
        self._present: set[Stoppable[Any]] = set()
        self.is_warm = False
        """Whether compiled code is loaded, so that answers may use it at no cost."""

    async def loaded(self, request: Request) -> None:
        """Wait until games are imported; from then on short work may be done at once."""
        if not _loaded.issuperset(GAMES):
            await self.run(request, partial(load, *GAMES))

    async def run(
        self, request: Request, function: Callable[[], _T], *, needs: Sequence[str] = GAMES
    ) -> _T:
        """Return the result of a function that needs some modules.

        Raises
        ------
        BusyError
            If too many requests wait.
        SlowError
            If there is no result in time.
        GoneError
            If the visitor has left.
        """
        if len(self._present) >= self._settings.workers + self._settings.most_waiting:
            raise BusyError

        def loaded() -> _T:
            load(*needs)
            return function()

        work = Stoppable(loaded)
        future = self._threads.submit(work)
        self._present.add(work)
        loop = asyncio.get_running_loop()
        # What counts is the end of the work, not the patience of the visitor.
        future.add_done_callback(lambda _: _soon(loop, partial(self._present.discard, work)))
        until = loop.time() + self._settings.seconds
        waiting = asyncio.wrap_future(future)
        waiting.add_done_callback(_noted)
        try:
            while True:
                left = min(_MOMENT, until - loop.time())
                done, _ = await asyncio.wait([waiting], timeout=max(0.0, left))
                if done:
                    return waiting.result()
                if loop.time() >= until:
                    raise SlowError
                if await request.is_disconnected():
                    raise GoneError
        finally:
            if not future.cancel():
                self._stop(work, loop)

    def wait(self, seconds: float) -> None:
        """Wait until no visitor waits; at most for a time. Call it in another thread."""
        until = time.monotonic() + seconds
        while self._present and time.monotonic() < until:
            time.sleep(_SOON)

    def close(self) -> None:
        """Let go of the threads; all work is stopped."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for work in tuple(self._present):
            work.stop()

    def _stop(self, work: Stoppable[Any], loop: asyncio.AbstractEventLoop) -> None:
        """Stop work that nobody waits for, as soon as that is possible."""
        if work in self._present and not work.stop():
            loop.call_later(_SOON, self._stop, work, loop)


def _noted(future: asyncio.Future[_T]) -> None:
    """Take note of an error that nobody waits for any more; otherwise it would be logged."""
    if not future.cancelled():
        future.exception()


def _soon(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(function)


def work_of(request: Request) -> Work:
    """Return the workers of the server."""
    work: Work = request.app.state.work
    return work
