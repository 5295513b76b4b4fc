"""Work that takes a moment, off the event loop, with limits on the number and on the time."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fastapi import Request

from bnmind.web.base.settings import WebSettings

__all__ = ["BusyError", "GoneError", "SlowError", "Work", "load", "work_of"]

_T = TypeVar("_T")
_NEEDED = (
    *("bnmind.lab.mastermind.advice", "bnmind.lab.mastermind.explanation", "bnmind.strategies"),
    *("bnmind.lab.mastermind.hidden_game", "bnmind.strategies.players.unknown_noise"),
    *("bnmind.pgm.files", "bnmind.junction", "bnmind.questions", "bnmind.views"),
)
_MOMENT = 0.25
"""Seconds between two looks whether the visitor still waits."""


_LOADING = threading.Lock()


def load() -> None:
    """Import what answers need, in one thread only: imports of two threads may meet half-way."""
    with _LOADING:
        for name in _NEEDED:
            importlib.import_module(name)


class BusyError(Exception):
    """Too many requests wait already."""


class SlowError(Exception):
    """The time for a request is up."""


class GoneError(Exception):
    """The visitor does not wait for the answer any more."""


class Work:
    """A few threads that compute the answers.

    A request that waits too long, or whose visitor has left, is given up: if it has not begun, it
    never does. One that has begun runs to its end, and keeps its thread until then.
    """

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._threads = ThreadPoolExecutor(
            settings.workers, thread_name_prefix="bnmind web", initializer=load
        )
        self._present = 0

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
        if self._present >= self._settings.workers + self._settings.most_waiting:
            raise BusyError
        future = self._threads.submit(function)
        self._present += 1
        loop = asyncio.get_running_loop()
        # What counts is the end of the work, not the patience of the visitor.
        future.add_done_callback(lambda _: _soon(loop, self._leave))
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
            future.cancel()

    def close(self) -> None:
        """Let go of the threads; work that waits is not begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _leave(self) -> None:
        self._present -= 1


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
