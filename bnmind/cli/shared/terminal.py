"""What commands print, and how they work for long: errors, tables, progress and Ctrl-C.

Titles, names and states come from files, and file names from the command line. A terminal would
obey escape sequences in them, and move the cursor, clear the screen or set its title. So all text
passes through `printable`.
"""

from __future__ import annotations

import contextlib
import contextvars
import json
import math
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import typer

from bnmind._messages import counted, visible
from bnmind.errors import BnmindError, InvalidModelError, TableError, UnknownNameError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table


EXIT_CODE = 2
"""The exit code for invalid input."""

INTERRUPTED = 130
"""The exit code after Ctrl-C."""

# --- Text -----------------------------------------------------------------------------------------


def printable(text: str) -> str:
    r"""Return a printable text of any number of lines; see `visible`.

    Examples
    --------
    >>> printable("Brüche \x1b[2J\nHören")
    'Brüche \ufffd[2J\nHören'
    """
    return "\n".join(map(visible, text.split("\n")))


def tell(text: str, *, err: bool = False) -> None:
    """Print a text and the end of a line on the standard output, or on the error stream."""
    typer.echo(printable(text), err=err)


def tell_record(record: object) -> None:
    """Print a record as JSON, all in ASCII: it reads back as it is, whatever the terminal."""
    # The only ASCII control character that JSON does not escape.
    typer.echo(json.dumps(record, indent=2).replace("\x7f", r"\u007f"))


def say(message: str) -> None:
    """Write a line on the standard error stream, if it can be written at all."""
    with contextlib.suppress(OSError):
        tell(message, err=True)


def say_interrupted(message: str) -> None:
    """Report Ctrl-C on a line of its own."""
    # The cursor of a terminal is behind the ^C.
    say(f"\n{message}" if sys.stderr.isatty() else message)


def show(text: str, *, strong: bool = False) -> None:
    """Print a text; on a terminal, a line breaks between words, and strong text is bold.

    What follows a break is indented as the line is. Text of several lines, such as the content of
    a file, is never broken.
    """
    if sys.stdout.isatty() and "\n" not in text.strip("\n"):
        from rich.padding import Padding

        indent = len(text) - len(text.lstrip(" "))
        shown = Padding(text[indent:], (0, 0, 0, indent), expand=False) if indent else text
        new_console().print(shown, style="bold" if strong else None)
    else:
        tell(text)


@cache
def _consoles() -> type[Console]:
    """Return the class of consoles that do not obey escape sequences; rich is slow to import."""
    from rich.console import Console
    from rich.text import Text

    class Terminal(Console):
        """A console that prints every text and every cell by `printable`."""

        def render_str(self, text: str, **options: Any) -> Text:
            """Return a text with its style."""
            return super().render_str(printable(text), **options)

    return Terminal


def new_console(*, stderr: bool = False, **options: Any) -> Console:
    """Return the console, which shows texts and numbers unchanged, without markup."""
    return _consoles()(stderr=stderr, highlight=False, markup=False, emoji=False, **options)


def plain_table(*columns: str) -> Table:
    """Return a table without lines, its first column to the left and all others to the right."""
    from rich.table import Table

    table = Table(
        box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="", show_header=any(columns)
    )
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    return table


_WIDEST = 1000
"""The largest width of a table, in characters."""


def show_table(console: Console, table: Table) -> None:
    """Print a table, indented.

    One that is too wide for the terminal has narrower gaps or, if need be, longer lines. Otherwise
    its names and numbers would be cut.
    """
    from rich.padding import Padding

    padded = Padding(table, (0, 0, 0, 2), expand=False)
    wide = console.options.update(width=_WIDEST)
    if console.measure(padded, options=wide).maximum > console.width:
        table.padding = (0, 2, 0, 0)
    widest = console.measure(padded, options=wide).maximum
    if widest > console.width:
        console = new_console(file=console.file, width=widest)
    console.print(padded)


# --- Errors ---------------------------------------------------------------------------------------

_PLAIN = (
    (re.compile(r"Input should be greater than or equal to "), "expected at least "),
    (re.compile(r"Input should be less than or equal to "), "expected at most "),
    (re.compile(r"Input should be a valid integer\b[^;]*"), "expected a whole number"),
    (re.compile(r"Input should be a valid number\b[^;]*"), "expected a number"),
)
"""Messages about options in other words."""

_LONGEST = 2500
"""The characters of a message; its end says what to do, and is kept."""


def one_line(error: Exception) -> str:
    """Return the message of an error as one printable line that fits on a screen."""
    # Only a method of usage errors returns their full sentence.
    say = getattr(error, "format_message", None)
    text = say() if say else str(error)
    if say:
        for pattern, plain in _PLAIN:
            text = pattern.sub(plain, text)
        if text.startswith("Got unexpected extra argument"):
            text = f"{text.rstrip('.')}; put a text with blanks in quotes, and commas between names"
    text = " ".join(text.split())
    if len(text) > _LONGEST:  # an argument may be as long as a file
        text = f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 4 :]}"
    return printable(text) or type(error).__name__


@contextlib.contextmanager
def naming(path: Path, *, model: bool = True) -> Iterator[None]:
    """Name a file in the errors about its content.

    Parameters
    ----------
    path
        The file.
    model
        Whether faults of a model are faults of the file, too.
    """
    try:
        yield
    except (TableError, InvalidModelError) as fault:
        if isinstance(fault, InvalidModelError) and not model:
            raise
        first, *others = fault.problems
        raise type(fault)([f"{path}: {first}", *others]) from fault
    except UnknownNameError as fault:
        raise BnmindError(f"{path}: {fault}") from fault


def os_fault(error: OSError) -> str:
    """Return the message of an error of the operating system, with the file or stream."""
    place = "" if error.filename is None else f"{error.filename}: "
    reason = error.strerror or one_line(error)
    return f"cannot read or write {place}{reason}"


# --- Progress -------------------------------------------------------------------------------------

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
    display = _Bar(what, account) if sys.stderr.isatty() else _Line(what, account)
    try:
        yield display.update
    finally:
        display.end()


class _Display:
    """How progress is shown."""

    def __init__(self, what: str, account: Account) -> None:
        self._what, self._account = what, account
        self._started = time.monotonic()
        self._compiling_since: float | None = None

    def _seconds(self) -> float:
        return time.monotonic() - self._started

    def _is_compiling(self) -> bool:
        """Return whether something has been compiled for a while."""
        from bnmind._jit import being_compiled

        if not being_compiled():
            self._compiling_since = None
            return False
        now = time.monotonic()
        self._compiling_since = self._compiling_since or now
        return now - self._compiling_since > _COMPILING_AFTER


class _Line(_Display):
    """Progress without a terminal: a line after some seconds, and a few more if it takes long.

    Another line reports compiling.
    """

    def __init__(self, what: str, account: Account) -> None:
        super().__init__(what, account)
        self._said_compiling = not speaking.get()
        self._next = _SAID_AFTER if speaking.get() else math.inf

    def update(self) -> None:
        if not self._said_compiling and self._is_compiling():
            say(f"{self._what}: {COMPILING}")
            self._said_compiling = True
            self._next = max(self._next, _SAID_AGAIN_AFTER)
        seconds = self._seconds()
        if seconds > self._next:
            words = self._account.words(seconds)
            say(f"{self._what}{': ' if words else ''}{words} …")
            self._next = max(_SAID_AGAIN_AFTER, 2 * seconds)

    def end(self) -> None:
        """Leave what was said."""


class _Bar(_Display):
    """Progress on a terminal."""

    def __init__(self, what: str, account: Account) -> None:
        super().__init__(what, account)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._restored = ExitStack()

    def update(self) -> None:
        compiling = self._is_compiling()
        if self._bar is None:
            if self._seconds() < _SHOWN_AFTER:
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
            count=self._account.words(self._seconds()),
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

    return Progress(
        BarColumn(bar_width=20),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[count]}", markup=False),
        TimeElapsedColumn(),
        console=new_console(stderr=True),
        transient=True,
        auto_refresh=False,
    )


# --- Long work, in a thread of its own so that the main one can handle Ctrl-C ---------------------

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
        self.done: Future[_T] = Future()

    def run(self) -> None:
        try:
            self.done.set_result(self.context.run(self.function))
        except BaseException as error:
            self.done.set_exception(error)

    def begin(self) -> None:
        """Start the thread; where there can be none, do the work here and now."""
        try:
            self.start()
        except RuntimeError:
            self.run()


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
    return task.done.result()


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
    return task.done.result()


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
