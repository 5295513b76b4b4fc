"""Work that takes a moment, off the event loop, with limits on the number and on the time."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from fastapi import Request

from bnmind.web.base.settings import WebSettings
from bnmind.web.base.stopping import Stoppable

__all__ = ["BusyError", "GoneError", "SlowError", "Work", "load", "work_of"]

_T = TypeVar("_T")
_NEEDED = (
    *("bnmind.lab.mastermind.advice", "bnmind.lab.mastermind.explanation", "bnmind.strategies"),
    *("bnmind.lab.mastermind.hidden_game", "bnmind.strategies.players.unknown_noise"),
    *("bnmind.pgm.files", "bnmind.junction", "bnmind.questions", "bnmind.views"),
)
_MOMENT = 0.25
"""Seconds between two looks whether the visitor still waits."""

_SOON = 0.02
"""Seconds between two attempts to stop work."""

_LOADING = threading.Lock()


def load(*more: str) -> None:
    """Import what answers need, in one thread only: imports of two threads may meet half-way.

    ``more`` are modules that only some answers need.
    """
    with _LOADING:
        for name in (*_NEEDED, *more):
            importlib.import_module(name)


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
        self._threads = ThreadPoolExecutor(
            settings.workers, thread_name_prefix="bnmind web", initializer=load
        )
        self._present: set[Stoppable[Any]] = set()
        self._is_loaded = False
        self.is_warm = False
        """Whether compiled code is loaded, so that answers may use it at no cost."""

    async def loaded(self, request: Request) -> None:
        """Wait until everything is imported; from then on short work may be done at once."""
        if not self._is_loaded:
            await self.run(request, load)
            self._is_loaded = True

    async def run(self, request: Request, function: Callable[[], _T]) -> _T:
        """Return the result of a function.

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
        work = Stoppable(function)
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
