"""Long work in a separate thread, so that the main thread can handle Ctrl-C."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from bnmind.cli.shared.errors import say_interrupted
from bnmind.cli.shared.progress import Account, shown_progress

__all__ = ["Report", "interruptible", "is_working", "until_interrupted", "working"]

Report: TypeAlias = Callable[[int, int | None], None]

_T = TypeVar("_T")
_NAME = "bnmind work"
_MOMENT = 0.1
"""Seconds between two updates of the progress."""
_PATIENCE = 1.0
"""Seconds after Ctrl-C until a line says that a step is still being finished."""


class _Task(threading.Thread, Generic[_T]):
    """A thread that stores the result or error of a function; the process does not wait for it."""

    def __init__(self, function: Callable[[], _T]) -> None:
        super().__init__(name=_NAME, daemon=True)
        self.function = function
        self.context = contextvars.copy_context()
        self.returned: list[_T] = []
        self.raised: BaseException | None = None

    def run(self) -> None:
        try:
            self.returned.append(self.context.run(self.function))
        except BaseException as error:
            self.raised = error

    def begin(self) -> None:
        """Start the thread; where there can be none, do the work here and now."""
        try:
            self.start()
        except RuntimeError:
            self.run()

    def result(self) -> _T:
        """Return or raise what the function did; the thread has ended."""
        if self.raised is not None:
            try:
                raise self.raised
            finally:
                # Otherwise the error would refer to itself through this frame.
                self.raised = None
        return self.returned[0]


def interruptible(work: Callable[[], _T]) -> _T:
    """Return the result of some work, or raise its error; Ctrl-C interrupts it.

    Python handles signals between two steps of the main thread, and a call of compiled code is one
    step. The work therefore runs in another thread. After Ctrl-C, this thread continues until the
    process ends, and its result is lost.

    Parameters
    ----------
    work
        A function without arguments. It must not ask questions, which belong to the main thread.

    Raises
    ------
    KeyboardInterrupt
        At once if Ctrl-C is pressed.
    """
    task = _Task(work)
    task.begin()
    if task.is_alive():
        task.join()
    return task.result()


def working(what: str, work: Callable[[Report], _T]) -> _T:
    """Return the result of some work like `interruptible`, and show progress if it takes long.

    Parameters
    ----------
    what
        A description of the work, such as ``choosing a guess``.
    work
        A function that takes a function to report the amount of work done, and the total amount or
        None.

    Raises
    ------
    KeyboardInterrupt
        At once if Ctrl-C is pressed.
    """
    account = Account()
    task = _Task(lambda: work(account.report))
    task.begin()
    with shown_progress(what, account) as update:
        while task.is_alive():
            task.join(_MOMENT)
            update()
    return task.result()


def until_interrupted(
    what: str, work: Callable[[Report, Callable[[], bool]], _T]
) -> tuple[_T, bool]:
    """Return the result of some work like `working`, and whether Ctrl-C has ended it early.

    Parameters
    ----------
    what
        A description of the work, such as ``learning``.
    work
        A function that takes the function to report progress, and a function that returns whether
        the work should end with what is done so far.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C is pressed again before the work has ended, or the work then fails.
    """
    asked, done = threading.Event(), threading.Event()
    found: list[_T] = []

    def run(report: Report) -> None:
        try:
            found.append(work(report, asked.is_set))
        finally:
            done.set()

    try:
        working(what, run)
    except KeyboardInterrupt:
        asked.set()
        if not done.wait(_PATIENCE):
            say_interrupted("interrupted; the step at hand is finished, and Ctrl-C ends at once")
            done.wait()
        if not found:
            raise
        return found[0], True
    return found[0], False


def is_working() -> bool:
    """Return whether some work continues after Ctrl-C."""
    return any(thread.name == _NAME and thread.is_alive() for thread in threading.enumerate())
