"""Work that takes a moment: off the event loop, limited in number and time, and stoppable.

The library stops at Ctrl-C and loses nothing: everywhere it is ready for a `KeyboardInterrupt`.
Work of a visitor is stopped in the same way, by this exception in its own thread. Where it would
do harm, it waits: in imports, in the compiler and in a database, which hold locks, and in kernels,
whose machine code ends with a call of Python that must not fail. The library keeps single kernels
and calls of NumPy to a fraction of a second.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import Any, Generic, TypeVar

from fastapi import Request

from bnmind import _jit
from bnmind.web.guard import WebSettings

_T = TypeVar("_T")

_HOLDING = (
    "_frozen_importlib",
    "importlib",
    "numba",
    "llvmlite",
    "threading",
    "concurrent",
    "sqlalchemy",
)
"""Packages whose Python code holds locks, which an exception at any place might leave locked."""


class StoppedError(Exception):
    """The work was stopped before it had a result."""


class Stoppable(Generic[_T]):
    """A function without arguments, to be called once, in any thread."""

    def __init__(self, function: Callable[[], _T]) -> None:
        self._function = function
        self._lock = threading.Lock()
        self._thread: int | None = None
        self._is_wanted = True
        self._is_before_kernel = False
        self._begun = 0.0

    @property
    def seconds(self) -> float:
        """Since when the function runs; 0 before."""
        return time.monotonic() - self._begun if self._begun else 0.0

    def __call__(self) -> _T:
        """Return the result of the function.

        Raises
        ------
        StoppedError
            If the work was stopped.
        """
        try:
            self._enter()
            try:
                return self._function()
            finally:
                self._leave()
        except KeyboardInterrupt:
            raise StoppedError from None

    def stop(self) -> bool:
        """Stop the work; return False if it goes on, and has to be stopped again in a moment."""
        with self._lock:
            self._is_wanted = False
            thread = self._thread
            if thread is None:
                return True
            if self._is_before_kernel and not _jit.not_stopping(thread):
                self._thread = None  # the exception is on its way
                return True
            place = _place(thread)
            self._is_before_kernel = place is _Place.KERNEL
            if self._is_before_kernel:
                _jit.stopping(thread)
            if place is not _Place.ANYWHERE:
                return False
            _interrupt(thread, ctypes.py_object(KeyboardInterrupt))
            if _place(thread) is not _Place.ANYWHERE:  # it has run on meanwhile
                _interrupt(thread, None)
                return False
            self._thread = None  # once only: a second one might meet the cleaning up
            return True

    def _enter(self) -> None:
        with self._lock:
            if not self._is_wanted:
                raise StoppedError
            self._thread = threading.get_ident()
            self._begun = time.monotonic()

    def _leave(self) -> None:
        """Be out of reach, also of an interruption that is on its way."""
        with self._lock:
            self._thread = None
            _jit.not_stopping(threading.get_ident())
            was_stopped = not self._is_wanted
        if was_stopped:
            _settle()


class _Place(Enum):
    """Where a thread is."""

    ANYWHERE = "where it may be interrupted"
    KERNEL = "in a kernel"
    LOCKED = "in a package that holds locks"


def _interrupt(thread: int, exception: ctypes.py_object[type[BaseException]] | None) -> None:
    """Let a thread raise an exception as soon as it runs Python code; None takes it back."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), exception)


def _settle() -> None:
    """Receive an exception of one's own, in place of any that is on its way.

    One that is only taken back leaves a mark: CPython 3.11 looks for it at every step from then on,
    in all threads, and never gets on in a thread that is traced or profiled.
    """
    try:
        _interrupt(threading.get_ident(), ctypes.py_object(KeyboardInterrupt))
        for _ in range(1000):  # it arrives in the first few steps
            pass
    except KeyboardInterrupt:
        pass


def _place(thread: int) -> _Place:
    """Return where a thread is; it may run on as soon as this thread lets it."""
    frame = sys._current_frames().get(thread)
    place = _Place.ANYWHERE
    while frame is not None and frame.f_globals is not globals():
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _HOLDING:
            return _Place.LOCKED
        if frame.f_globals is vars(_jit):
            place = _Place.KERNEL
        frame = frame.f_back
    return place


GAMES = (
    "bnmind.lab.mastermind.advice",
    "bnmind.lab.mastermind.games",
    "bnmind.lab.mastermind.words",
    "bnmind.mastermind.sampled_belief",
    "bnmind.mastermind.noise_beliefs",
    "bnmind.mastermind.channel",
    "bnmind.mastermind.priors",
    "bnmind.strategies.players",
    "bnmind.strategies.sampled_players",
)
"""Modules of answers about games."""

NETWORKS = (
    "bnmind.pgm.files",
    "bnmind.junction.engine",
    "bnmind.junction.circuit",
    "bnmind.junction.walk",
    "bnmind.mastermind.network",
    "bnmind.questions",
    "bnmind.views",
)
"""Modules of answers about networks, and of pictures of Vomlel's network."""

REVIEWS = (*GAMES, "bnmind.lab.mastermind.review", "bnmind.strategies.regret")
"""Modules of a game in retrospect."""

WATCHED = ("bnmind.lab.mastermind.games", "bnmind.strategies.registry")
"""Modules of games of strategies."""

_MOMENT = 0.25
"""Seconds between two looks whether the visitor still waits."""

_SOON = 0.02
"""Seconds between two attempts to stop work."""

_QUICK = 0.5
"""Seconds after which work is heavy if others wait."""

_MOST_HEAVY, _MOST_OF_SESSION = 8, 4
"""How much heavy work of an address, and how many requests of a session of a test may wait."""

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


class _HeavyError(Exception):
    """The work takes longer than a moment."""


class SlowError(Exception):
    """The time for a request is up."""


class GoneError(Exception):
    """The visitor does not wait for the answer any more."""


class Turn(Enum):
    """Whom work waits for: each of these has threads of its own."""

    QUICK = "quick"
    """Work that takes a moment. If it takes longer while others wait, it is stopped, and begins
    again as heavy."""
    HEAVY = "heavy"
    TEST = "test"
    """Questions and answers of tests, which are never begun twice."""


class Work:
    """A few threads that compute the answers.

    A request that takes too long, or whose visitor has left, is given up, and its work is stopped.
    """

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._threads = {
            turn: ThreadPoolExecutor(
                settings.workers, thread_name_prefix=f"bnmind web {turn.value}"
            )
            for turn in Turn
        }
        self._present: set[Stoppable[Any]] = set()
        self._waiting: Counter[tuple[Turn, str]] = Counter()
        self.is_warm = False
        """Whether compiled code is loaded, so that answers may use it at no cost."""

    async def loaded(self, request: Request) -> None:
        """Wait until games are imported; from then on short work may be done at once."""
        if not _loaded.issuperset(GAMES):
            await self.run(request, partial(load, *GAMES))

    async def run(
        self,
        request: Request,
        function: Callable[[], _T],
        *,
        needs: Sequence[str] = GAMES,
        turn: Turn = Turn.QUICK,
    ) -> _T:
        """Return the result of a function that needs some modules.

        Raises
        ------
        BusyError
            If too many requests wait, or too many of this address or session.
        SlowError
            If there is no result in time.
        GoneError
            If the visitor has left.
        """

        def loaded() -> _T:
            load(*needs)
            return function()

        until = asyncio.get_running_loop().time() + self._settings.seconds
        if turn is Turn.QUICK:
            with suppress(_HeavyError):
                return await self._result(request, loaded, turn, until)
            turn = Turn.HEAVY
        return await self._result(request, loaded, turn, until)

    async def _result(
        self, request: Request, function: Callable[[], _T], turn: Turn, until: float
    ) -> _T:
        places = self._counted(request, turn)
        loop = asyncio.get_running_loop()
        work = Stoppable(function)
        future = self._threads[turn].submit(work)
        self._present.add(work)

        def ended(_: object) -> None:
            # What counts is the end of the work, not the patience of the visitor.
            self._present.discard(work)
            self._waiting -= Counter(places)

        future.add_done_callback(lambda _: _soon(loop, partial(ended, None)))
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
                somebody_waits = self._waiting[turn, ""] > self._settings.workers
                if turn is Turn.QUICK and somebody_waits and work.seconds > _QUICK:
                    raise _HeavyError
        finally:
            if not future.cancel():
                self._stop(work, loop)

    def _counted(self, request: Request, turn: Turn) -> list[tuple[Turn, str]]:
        """Note that a request waits; return where. All, an address and a session have limits."""
        most = self._settings.workers + self._settings.most_waiting
        limits = {"": most}
        if request.client is not None:
            limits[request.client.host] = _MOST_HEAVY if turn is Turn.HEAVY else max(1, most // 2)
        if "session" in request.path_params:
            limits[f"session {request.path_params['session']}"] = _MOST_OF_SESSION
        if any(self._waiting[turn, name] >= limit for name, limit in limits.items()):
            raise BusyError
        places = [(turn, name) for name in limits]
        self._waiting.update(places)
        return places

    def wait(self, seconds: float) -> None:
        """Wait until no visitor waits; at most for a time. Call it in another thread."""
        until = time.monotonic() + seconds
        while self._present and time.monotonic() < until:
            time.sleep(_SOON)

    def close(self) -> None:
        """Let go of the threads; all work is stopped."""
        for threads in self._threads.values():
            threads.shutdown(wait=False, cancel_futures=True)
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
