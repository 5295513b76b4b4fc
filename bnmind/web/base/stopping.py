"""Work in a thread that another thread can stop.

The library stops at Ctrl-C and loses nothing: everywhere it is ready for a `KeyboardInterrupt`.
Work of a visitor is stopped in the same way, by this exception in its own thread. Where it would
do harm, it waits: in imports, in the compiler and in a database, which hold locks, and in kernels,
whose machine code ends with a call of Python that must not fail. The library keeps single kernels
and calls of NumPy to a fraction of a second.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar

from bnmind import _jit

__all__ = ["Stoppable", "StoppedError"]

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
