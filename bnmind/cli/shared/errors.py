"""Errors at the command line: one line on the standard error stream, exit code 2."""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from bnmind.cli.shared.printable import printable, tell
from bnmind.errors import BnmindError, InvalidModelError, TableError, UnknownNameError

__all__ = [
    "EXIT_CODE",
    "INTERRUPTED",
    "OneLineErrors",
    "naming",
    "one_line",
    "os_fault",
    "say",
    "say_interrupted",
]

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
    except (TableError, InvalidModelError) as fault:
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
