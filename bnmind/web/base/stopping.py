"""Work in a thread that another thread can stop.

The library stops at Ctrl-C and loses nothing: everywhere it is ready for a `KeyboardInterrupt`.
Work of a visitor is stopped in the same way, by this exception in its own thread. Compiled code and
NumPy finish the call that they are in, which the library keeps to a fraction of a second.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

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

    def __call__(self) -> _T:
        """Return the result of the function.

        Raises
        ------
        StoppedError
            If the work was stopped.
        """
        with self._lock:
            if not self._is_wanted:
                raise StoppedError
            self._thread = threading.get_ident()
        try:
            try:
                return self._function()
            finally:
                self._leave()
        except KeyboardInterrupt:
            raise StoppedError from None

    def stop(self) -> bool:
        """Stop the work; return False if that is not possible now, and must be tried again."""
        with self._lock:
            if self._thread is not None:
                if not _can_be_interrupted(self._thread):
                    return False
                _interrupt(self._thread, ctypes.py_object(KeyboardInterrupt))
                self._thread = None  # once only: a second one might meet the cleaning up
            self._is_wanted = False
            return True

    def _leave(self) -> None:
        """Be out of reach, also of an interruption that is on its way."""
        with self._lock:
            self._thread = None
            _interrupt(threading.get_ident(), None)


def _interrupt(thread: int, exception: ctypes.py_object[type[BaseException]] | None) -> None:
    """Let a thread raise an exception as soon as it runs Python code; None takes it back."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), exception)


def _can_be_interrupted(thread: int) -> bool:
    """Return whether a thread imports nothing and compiles nothing just now."""
    frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_globals is not globals():
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _HOLDING:
            return False
        frame = frame.f_back
    return True
