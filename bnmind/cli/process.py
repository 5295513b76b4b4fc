"""The command line as a process: its streams, its signals and its exit code."""

from __future__ import annotations

import atexit
import contextlib
import errno
import io
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, cast

from bnmind._files import remove_own
from bnmind.cli.app import app
from bnmind.cli.shared.errors import EXIT_CODE, INTERRUPTED, os_fault, say
from bnmind.cli.shared.progress import speaking
from bnmind.cli.shared.work import is_working

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["BROKEN_PIPE", "run"]

BROKEN_PIPE = 141
"""The exit code if nobody reads the output any more, as of a process that SIGPIPE ends."""


def run() -> NoReturn:
    """Run the command line on the arguments of the process, and exit.

    SIGTERM and SIGHUP end a command as Ctrl-C does, and then the process by the same signal.

    A closed standard input is an empty one; a closed standard output is refused.
    """
    _open_streams()
    # After an interrupt, joblib's tracker removes what workers have left, and should not report it.
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
    interrupts = _Interrupts()
    interrupts.listen()
    speaking.set(True)
    try:
        app(prog_name="bnmind")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
        if _is_of_broken_pipe(end):
            code = BROKEN_PIPE
    except BaseException:
        if not interrupts.heard:
            raise
        code = INTERRUPTED
    _leave(128 + interrupts.heard if interrupts.heard else code)


_ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_SIGNALS = (signal.SIGINT, *_ENDING)
"""The signals that end a command in order, on this system."""


class _Interrupts:
    """Whether Ctrl-C was pressed, or another signal has come.

    The handler raises `KeyboardInterrupt`, as usual. Foreign code may replace it by another
    exception, or lose it where no exception can be raised. In the first case the exit code is
    still that of an interrupt; in the second the process ends immediately.
    """

    def __init__(self) -> None:
        self.heard = 0
        """The number of the signal; 0 if there was none."""

    def listen(self) -> None:
        """Hear the signals from now on, unless the process is to ignore them."""
        heard = _handle(self._hear)
        if heard:
            sys.unraisablehook = self._lost
        if signal.SIGINT in heard:
            # The last thing before Python, while it ends, would let the signal end the process.
            atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.heard = number
        raise KeyboardInterrupt

    def _lost(self, lost: UnraisableHookArgs) -> None:
        if issubclass(lost.exc_type, KeyboardInterrupt):
            _end(128 + self.heard)
        sys.__unraisablehook__(lost)


def _handle(handler: Callable[[int, FrameType | None], object]) -> list[signal.Signals]:
    """Set the handler of the signals that are not ignored, and return these."""
    heard = [one for one in _SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]
    for one in heard:
        signal.signal(one, handler)
    return heard


def _end(code: int) -> NoReturn:
    """End the process at once, by a signal if the code is that of it; leave no temporary files."""
    remove_own()
    if code - 128 in _ENDING:
        signal.signal(code - 128, signal.SIG_DFL)
        os.kill(os.getpid(), code - 128)
    os._exit(code)


def _open_streams() -> None:
    """Make sure that all three standard streams exist and can write any text."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # Otherwise the next open file would become a standard stream.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stdout is None:
        say("error: expected an open standard output, got a closed one")
        sys.exit(EXIT_CODE)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character shows "?" for it.
            stream.reconfigure(errors="replace")
    if os.name == "posix" and isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.fileno() == 1:
        sys.stdout = _named(sys.stdout)


class _StandardOutput(io.FileIO):
    """The standard output, whose errors name it."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = "standard output"
            raise


def _named(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    """Return the standard output with errors that name it."""
    raw = _StandardOutput(1, "w", closefd=False)
    unbuffered = isinstance(stream.buffer, io.RawIOBase)
    return io.TextIOWrapper(
        cast(io.BufferedWriter, raw) if unbuffered else io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _is_of_broken_pipe(end: BaseException) -> bool:
    """Return whether a library has exited because nobody reads the output."""
    cause: BaseException | None = end
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno == errno.EPIPE:
            return True
        cause = cause.__context__
    return False


def _leave(code: int) -> NoReturn:
    """Flush the output and exit; another signal ends the process immediately."""
    _handle(lambda number, _: _end(128 + number))
    fault = _flush(sys.stdout)
    if fault is not None and code == 0:
        code = BROKEN_PIPE if fault.errno == errno.EPIPE else EXIT_CODE
        if code == EXIT_CODE:
            say(f"error: {os_fault(fault)}")
    _flush(sys.stderr)
    if code - 128 in _SIGNALS or is_working():
        # Python would end itself by the signal if the interrupt came while it compiled a text,
        # and free the memory of compiled code that still runs in a thread.
        _end(code)
    sys.exit(code)


def _flush(stream: TextIO) -> OSError | None:
    """Flush the output; if that fails, drop the rest and return the error."""
    try:
        stream.flush()
    except OSError as fault:
        with contextlib.suppress(OSError):
            # Otherwise Python would flush again at its end, and report an error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return fault
    return None
