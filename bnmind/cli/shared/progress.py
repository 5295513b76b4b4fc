"""The progress of long commands."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING

from bnmind._messages import counted
from bnmind.cli.shared.errors import say

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["COMPILING", "Account", "shown_progress", "speaking"]

speaking: ContextVar[bool] = ContextVar("speaking", default=False)
"""Whether a line on the error stream may say what takes so long where that is no terminal."""

_SHOWN_AFTER = 0.5
"""Seconds of work after which a terminal shows progress."""

_SAID_AFTER = 5.0
"""Seconds of work after which a line says what is done, where there is no terminal."""

_SAID_AGAIN_AFTER = 60.0
"""Seconds of work after which another line does so; each later one after twice the time."""

_JUDGED_AFTER = 4.0
"""Seconds of work after which it is said how long the rest may take."""

_COMPILING_AFTER = 1.0
"""Seconds after which compiling is mentioned; reading machine code from disk takes less."""

_ENDING = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT") if hasattr(signal, name)
]
"""Signals that end a process, on this system; Ctrl-C is an exception, which takes the bar away."""

COMPILING = "compiling, once per machine"


class Account:
    """The progress of some work, reported from any thread."""

    def __init__(self) -> None:
        self.done = 0
        self.total: int | None = None

    def report(self, done: int, total: int | None) -> None:
        """Report the amount of work done, and the total amount; None if it is unknown."""
        self.done, self.total = done, total

    def words(self, seconds: float) -> str:
        """Return the progress after some seconds, and the estimated time left.

        Examples
        --------
        >>> account = Account()
        >>> account.report(250, 1000)
        >>> account.words(40.0)
        '250/1,000, about 2 min left'
        """
        if self.total is None:
            return f"{counted(self.done, 'step')}" if self.done else ""
        words = f"{self.done:,}/{self.total:,}"
        if not 0 < self.done < self.total or seconds < _JUDGED_AFTER:
            return words
        return f"{words}, about {_duration(seconds * (self.total - self.done) / self.done)} left"


def _duration(seconds: float) -> str:
    """Return a time as one number and its unit, rounded up."""
    for unit, size, most in (("s", 1, 100), ("min", 60, 100), ("h", 3600, 100)):
        if seconds <= size * most:
            return f"{math.ceil(seconds / size)} {unit}"
    return f"{math.ceil(seconds / 86400):,} days"


@contextmanager
def shown_progress(what: str, account: Account) -> Iterator[Callable[[], None]]:
    """Show the progress of work that takes a while.

    A terminal shows a bar, which disappears at the end. Other streams get one line.

    Parameters
    ----------
    what
        What is done, as ``choosing a guess``.
    account
        The progress of the work.

    Yields
    ------
    Callable[[], None]
        To be called from time to time.
    """
    import sys

    display = _Bar(what, account) if sys.stderr.isatty() else _Line(what, account)
    try:
        yield display.update
    finally:
        display.end()


class _Patience:
    """The duration of the work, and of compiling."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.compiling_since: float | None = None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def is_compiling(self) -> bool:
        """Return whether something has been compiled for a while."""
        from bnmind._jit import being_compiled

        if not being_compiled():
            self.compiling_since = None
            return False
        now = time.monotonic()
        self.compiling_since = self.compiling_since or now
        return now - self.compiling_since > _COMPILING_AFTER


class _Line:
    """Progress without a terminal: a line after some seconds, and a few more if it takes long.

    Another line reports compiling.
    """

    def __init__(self, what: str, account: Account) -> None:
        self._what, self._account = what, account
        self._patience = _Patience()
        self._said_compiling = not speaking.get()
        self._next = _SAID_AFTER if speaking.get() else math.inf

    def update(self) -> None:
        if not self._said_compiling and self._patience.is_compiling():
            say(f"{self._what}: {COMPILING}")
            self._said_compiling = True
            self._next = max(self._next, _SAID_AGAIN_AFTER)
        seconds = self._patience.seconds
        if seconds > self._next:
            words = self._account.words(seconds)
            say(f"{self._what}{': ' if words else ''}{words} …")
            self._next = max(_SAID_AGAIN_AFTER, 2 * seconds)

    def end(self) -> None:
        """Leave what was said."""


class _Bar:
    """Progress on a terminal."""

    def __init__(self, what: str, account: Account) -> None:
        self._what, self._account = what, account
        self._patience = _Patience()
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._restored = ExitStack()

    def update(self) -> None:
        compiling = self._patience.is_compiling()
        if self._bar is None:
            if self._patience.seconds < _SHOWN_AFTER:
                return
            self._bar = _bar()
            self._restored.enter_context(_terminal_restored())
            self._bar.start()
            self._task = self._bar.add_task("", total=None, count="")
        assert self._task is not None
        self._bar.update(
            self._task,
            description=f"{self._what}: {COMPILING}" if compiling else self._what,
            completed=self._account.done,
            total=self._account.total,
            count=self._account.words(self._patience.seconds),
            refresh=True,
        )

    def end(self) -> None:
        """Take the bar away."""
        with self._restored:
            if self._bar is not None:
                self._bar.stop()


@contextmanager
def _terminal_restored() -> Iterator[None]:
    """Show the cursor, which a bar hides, if a signal ends the process in a ``with`` block.

    Handlers of others stay, and so do ignored signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, _restore_and_end)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _restore_and_end(number: int, _frame: FrameType | None) -> None:
    """Take the bar away without its help, as it may just be drawn; end by the signal."""
    with suppress(OSError):
        os.write(2, b"\r\x1b[2K\x1b[?25h")
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _bar() -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from bnmind.cli.shared.show import terminal

    return Progress(
        BarColumn(bar_width=20),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[count]}", markup=False),
        TimeElapsedColumn(),
        console=terminal(stderr=True),
        transient=True,
        auto_refresh=False,
    )
