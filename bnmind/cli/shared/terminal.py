"""The terminal: safe text, errors in one line, progress, work that Ctrl-C ends, and questions."""

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
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import typer
from typer.core import TyperGroup

from bnmind._messages import counted, visible
from bnmind.errors import BnmindError, InvalidModelError, ResponseTableError, UnknownNameError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

__all__ = [
    "COMPILING",
    "EXIT_CODE",
    "INTERRUPTED",
    "WORDS",
    "Account",
    "Command",
    "OneLineErrors",
    "Report",
    "ask",
    "interruptible",
    "is_working",
    "naming",
    "one_line",
    "os_fault",
    "printable",
    "say",
    "say_interrupted",
    "shown_progress",
    "speaking",
    "tell",
    "tell_json",
    "until_interrupted",
    "working",
]


# --- Text that a terminal does not obey -----------------------------------------------------------


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


def tell_json(record: object) -> None:
    """Print a record as JSON, all in ASCII: it reads back as it is, whatever the terminal."""
    # The only ASCII control character that JSON does not escape.
    typer.echo(json.dumps(record, indent=2).replace("\x7f", r"\u007f"))


# --- Errors: one line on the standard error stream, exit code 2 -----------------------------------

EXIT_CODE = 2
"""The exit code for invalid input."""

INTERRUPTED = 130
"""The exit code after Ctrl-C."""

_TWINS = {
    "--about": ("--targets", "--target"),
    "--board": ("--pegs",),
    "--given": ("--evidence",),
    "--itemtype": ("--gate",),
    "--map": ("--mpe",),
    "--model": ("--gate",),
    "--out": ("--tree",),
    "--persons": ("--examinees",),
    "--positions": ("--pegs",),
    "--rule": ("--gate",),
    "--target": ("--targets", "--about"),
    "--targets": ("--about", "--target"),
}
"""Options that have another name in other commands, or in other programs."""

_EXTRA = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", re.DOTALL)
_DASHES = ("\N{EN DASH}", "\N{EM DASH}")
_CURLED = frozenset("\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb")
"""Quotes that word processors put in place of straight ones."""

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
    except (ResponseTableError, InvalidModelError) as fault:
        if isinstance(fault, InvalidModelError) and not model:
            raise
        first, *others = fault.problems
        raise type(fault)([f"{path}: {first}", *others]) from fault
    except UnknownNameError as fault:
        raise BnmindError(f"{path}: {fault}") from fault


def say(message: str) -> None:
    """Write a line on the standard error stream, if it can be written at all."""
    with contextlib.suppress(OSError):
        tell(message, err=True)


def say_interrupted(message: str) -> None:
    """Report Ctrl-C on a line of its own."""
    # The cursor of a terminal is behind the ^C.
    say(f"\n{message}" if sys.stderr.isatty() else message)


def os_fault(error: OSError) -> str:
    """Return the message of an error of the operating system, with the file or stream."""
    place = "" if error.filename is None else f"{error.filename}: "
    reason = error.strerror or one_line(error)
    return f"cannot read or write {place}{reason}"


class OneLineErrors(TyperGroup):
    """A group of commands that reports what is wrong with the input on one line."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; Ctrl-C ends it with a word and with the exit code `INTERRUPTED`.

        Warnings of the library, such as those about files, are notes of one line.
        """
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _as_note(warnings.showwarning)
                return super().invoke(ctx)
        except KeyboardInterrupt:
            say_interrupted("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            # An option that lacks its value is reported without the command that it belongs to.
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            if command is not None and getattr(error, "ctx", error) is None:
                error.ctx = typer.Context(command, parent=ctx, info_name=ctx.invoked_subcommand)  # type: ignore[attr-defined]
            raise

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command, and exit."""
        try:
            code = super().main(
                args=_asked_for_help(sys.argv[1:] if args is None else args),
                prog_name=prog_name,
                complete_var=complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
        except BnmindError as error:
            for note in _notes(error):
                say(f"note: {printable(note)}")
            _fail(one_line(error))
        except (typer.Abort, KeyboardInterrupt) as error:
            if isinstance(error, KeyboardInterrupt) or isinstance(
                error.__cause__, KeyboardInterrupt
            ):
                sys.exit(INTERRUPTED)
            _fail("the input ends too early")
        except OSError as error:
            _fail(os_fault(error))
        except MemoryError as error:
            _fail(f"out of memory: {one_line(error)}")
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise  # a fault of the program, not of the input
            _suggest_the_twin(error)
            _explain_extra(error)
            _fail(f"{one_line(error).rstrip('.')}; see {_help_of(error, prog_name)}")
        sys.exit(code if isinstance(code, int) else 0)


def _notes(error: BaseException | None) -> Sequence[str]:
    """Return what was noted about an error, or about the one behind it."""
    while error is not None and not getattr(error, "__notes__", ()):
        error = error.__cause__
    return getattr(error, "__notes__", ())


def _asked_for_help(args: Sequence[str]) -> list[str]:
    """Return arguments in which ``help learn``, ``-h`` and ``learn -h`` ask for help, too.

    >>> _asked_for_help(["help", "learn"]), _asked_for_help(["learn", "-h"])
    (['learn', '--help'], ['learn', '--help'])
    """
    if args and args[0] == "help":
        return [*args[1:2], "--help"]
    return ["--help" if arg == "-h" and place < 2 else arg for place, arg in enumerate(args)]


def _as_note(others: Callable[..., None]) -> Callable[..., None]:
    """Return a function that writes warnings of bnmind as notes, and passes on all others."""

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if category.__module__.partition(".")[0] == "bnmind":
            say(f"note: {printable(str(message))}")
        else:
            others(message, category, *place, **more)

    return show


def _suggest_the_twin(error: Any) -> None:
    """Suggest ``--evidence`` for an unknown option ``--given``, and the like, if there is one."""
    twins = _TWINS.get(getattr(error, "option_name", ""), ())
    command = getattr(getattr(error, "ctx", None), "command", None)
    options = [name for one in getattr(command, "params", ()) for name in one.opts]
    if twin := next((name for name in twins if name in options), ""):
        error.possibilities = []
        error.message = f"{error.message.rstrip('.')}; did you mean {twin}?"


def _explain_extra(error: Any) -> None:
    """Say what is wrong with an argument too many: dashes, quotes, or a game without its option."""
    command = getattr(getattr(error, "ctx", None), "command", None)
    options = [name for one in getattr(command, "params", ()) for name in one.opts]
    found = _EXTRA.match(getattr(error, "message", ""))
    if not found:
        return
    extra = found[1]
    if extra[:1] in _DASHES:
        error.message = (
            f"an option begins with two hyphens, --; got the dash {extra[:1]} in {extra}"
        )
    elif _CURLED & {*extra}:
        error.message = f'put a text with blanks in straight quotes, "; got {extra}'
    elif "--history" in options:
        error.message = f'a game is given by --history "{extra}"'


def _help_of(error: Exception, prog_name: str | None) -> str:
    """Return the command line that explains the command at fault."""
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else prog_name or 'bnmind'} --help"


def _fail(message: str) -> None:
    say(f"error: {message}")
    sys.exit(EXIT_CODE)


# --- The progress of long work --------------------------------------------------------------------

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
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        BarColumn(bar_width=20),
        TextColumn("{task.description}", markup=False),
        TextColumn("{task.fields[count]}", markup=False),
        TimeElapsedColumn(),
        console=Console(stderr=True, highlight=False, markup=False, emoji=False),
        transient=True,
        auto_refresh=False,
    )


# --- Long work in a thread, so that the main thread can handle Ctrl-C -----------------------------

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


# --- Questions to the user ------------------------------------------------------------------------

WORDS = {
    **{"undo": "u", "why": "?", "hint": "?", "doubt": "d", "doubts": "d"},
    **{"help": "h", "quit": "q", "exit": "q"},
}
"""The letters of commands, by the words that mean the same."""


class Command(Enum):
    """A command that the user may enter instead of an answer."""

    UNDO = "u"
    HINT = "?"
    DOUBT = "d"
    HELP = "h"
    QUIT = "q"
    LEAVE = ""


def ask(
    console: Console,
    question: str,
    read: Callable[[str], _T],
    *,
    commands: Mapping[str, Command],
    end: Command = Command.QUIT,
) -> _T | Command:
    """Return the answer of the user, asking again until it is valid.

    Parameters
    ----------
    console
        The console for messages about invalid answers.
    question
        The prompt.
    read
        Converts the text to the answer, or raises `BnmindError`.
    commands
        The commands by their letters. Their `WORDS` mean the same where they are no answers.
    end
        The command that the end of the input means.
    """
    while True:
        try:
            text = input(printable(question)).strip()
        except EOFError:
            console.print()
            return end
        except UnicodeDecodeError:
            text = "�"
        except OSError as error:
            error.filename = error.filename or "standard input"
            raise
        if text.lower() in commands:
            return commands[text.lower()]
        try:
            return read(text)
        except BnmindError as error:
            if (letter := WORDS.get(text.lower(), "")) in commands:
                return commands[letter]
            console.print(f"  {one_line(error)}", soft_wrap=True)
