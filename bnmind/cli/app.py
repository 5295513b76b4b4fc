"""The commands, put together, and the process that runs them: its errors, signals and exit code."""

from __future__ import annotations

import atexit
import contextlib
import errno
import io
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO, cast

import typer
from typer.core import TyperGroup

from bnmind._files import remove_own
from bnmind._front_door import installed_version
from bnmind.cli.shared import command, terminal
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from sys import UnraisableHookArgs


_HELP = """Adaptive testing with Bayesian networks: test people, query a network, or play
Mastermind with false replies.

\b
Examples:
  bnmind examples --copy .
  bnmind learn models/fractions-class/responses.csv --qmatrix models/fractions-class/qmatrix.csv
  bnmind test models/banks/fractions.json
  bnmind query models/diagnosis/asia.xdsl --evidence smoke=yes --targets lung
  bnmind ask models/diagnosis/asia.xdsl --about lung
  bnmind suggest --history "1123 1b1w, 2345 0b2w" --noise false:0.2
  bnmind web --open
"""

_MASTERMIND = """Codes are digits (1123; of ten colors, 0 is the tenth), letters (AABC) or, with
more colors, separated numbers (1 1 12 3). The reply 1b2w has one black peg (right color, right
position) and two white ones (right color, wrong position).

Noise describes how replies are falsified. exact: every reply is true. false:P: with probability P,
a random reply replaces the true one; a win is always reported, and never reported falsely.
independent:P: each of the two numbers is wrong with probability P. file:PATH: a CSV file with the
columns true, reported, and count or probability.
"""

GROUPS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Test people": {
        "learn": ("cli.people", "Learn an item bank from responses."),
        "judge": ("cli.people", "Judge a model of responses and its Q-matrix."),
        "classify": ("cli.people", "Classify examinees by their responses."),
        "simulate": ("cli.tests", "Compare selectors on the same examinees."),
        "evaluate": ("cli.tests", "Compute the results of a test exactly."),
        "tree": ("cli.tests", "Find the best test, and write it on paper."),
        "test": ("cli.dialogues:run_test", "Run an adaptive test of one examinee."),
        "calibrate": ("cli.people", "Calibrate new items, and notice drift."),
    },
    "Query a network": {
        "query": ("cli.networks", "Query a Bayesian network in a file."),
        "ask": ("cli.dialogues", "Ask for the most informative observations."),
        "explain": ("cli.networks", "Explain a conclusion of a network in a file."),
        "predict": ("cli.cases", "Predict all cases of a file by a Bayesian network."),
        "fit": ("cli.networks", "Learn the tables of a network from cases."),
        "track": ("cli.cases", "Track a network over time through a file of slices."),
    },
    "Play and study Mastermind": {
        "play": ("cli.mastermind.play", "Guess a code that the computer hides."),
        "assist": ("cli.mastermind.play", "Get help, turn by turn, against your code-maker."),
        "suggest": ("cli.mastermind.study", "Recommend a guess, and show the doubtful replies."),
        "regret": ("cli.mastermind.study", "Show the loss of each guess of a game."),
        "compare": ("cli.experiments", "Compare strategies on the same games."),
        "strategy": ("cli.mastermind.study", "Count the guesses of a strategy, exactly."),
        "network": ("cli.mastermind.study", "Show Vomlel's Bayesian network of a board."),
        "fit-weights": ("cli.mastermind.study", "Fit the weights of weighted-entropy."),
        "fit-value": ("cli.mastermind.study", "Fit the value of a belief for look-ahead."),
    },
    "For everybody": {
        "web": ("web.command", "Serve pages to play and to get help, and a JSON API."),
        "examples": ("cli.examples", "List and copy the files that come with bnmind."),
        "warm-up": ("cli.warm_up", "Compile ahead, once per machine."),
        "run": ("cli.experiments", "Run an experiment that a file describes."),
        "reproduce": ("cli.experiments", "Compute published figures again."),
    },
}
"""The commands by whom they are for: the module of each, with the name of
its function if that is another one, and a line about it."""


class _Commands(Mapping[str, Any]):
    """All commands by their names, each imported when it is first looked up."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return (name for members in GROUPS.values() for name in members)

    def __len__(self) -> int:
        return sum(map(len, GROUPS.values()))


@cache
def _command(name: str) -> Any:
    for group, members in GROUPS.items():
        if name in members:
            place, about = members[name]
            usual = f":{name.replace('-', '_')}"
            function = command.imported(f"bnmind.{place}{'' if ':' in place else usual}")
            return command.made(function, name, short=about, group=group)
    raise KeyError(name)


# --- Errors: one line on the standard error stream -----------------------------------------------

_EXTRA = re.compile(r"Got unexpected extra argument(?:s|\(s\))? \((.*)\)", re.DOTALL)
_DASHES = ("\N{EN DASH}", "\N{EM DASH}")
_CURLED = frozenset("\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb")
"""Quotes that word processors put in place of straight ones."""


class _AllCommands(TyperGroup):
    """The commands, of which only the one that runs is imported.

    What is wrong with the input is reported on one line, with the exit code 2.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in groups, in the order of the table."""
        widest = max(map(len, self.commands))
        for title, members in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(widest), text) for name, (_, text) in members.items()]
                )

    def invoke(self, ctx: Any) -> Any:
        """Run a command; Ctrl-C ends it with a word and with the exit code `INTERRUPTED`.

        Warnings of the library, such as those about files, are notes of one line.
        """
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _as_note(warnings.showwarning)
                return super().invoke(ctx)
        except KeyboardInterrupt:
            terminal.say_interrupted("interrupted")
            raise typer.Exit(terminal.INTERRUPTED) from None
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
        *others: Any,
        **settings: Any,
    ) -> Any:
        """Run a command, and exit."""
        asked = _asked_for_help(sys.argv[1:] if args is None else args)
        settings["standalone_mode"] = False
        try:
            code = super().main(asked, prog_name, *others, **settings)
        except BnmindError as error:
            for note in _notes(error):
                terminal.say(f"note: {terminal.printable(note)}")
            _fail(terminal.one_line(error))
        except (typer.Abort, KeyboardInterrupt) as error:
            if KeyboardInterrupt in (type(error), type(error.__cause__)):
                sys.exit(terminal.INTERRUPTED)
            _fail("the input ends too early")
        except OSError as error:
            _fail(terminal.os_fault(error))
        except MemoryError as error:
            _fail(f"out of memory: {terminal.one_line(error)}")
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise  # a fault of the program, not of the input
            _explain(error)
            _fail(f"{terminal.one_line(error).rstrip('.')}; see {_help_of(error, prog_name)}")
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
            terminal.say(f"note: {terminal.printable(str(message))}")
        else:
            others(message, category, *place, **more)

    return show


def _explain(error: Any) -> None:
    """Say what is wrong with an argument too many.

    An argument may begin with a dash or with curled quotes, or be a game without its option.
    """
    found = _EXTRA.match(getattr(error, "message", ""))
    if not found:
        return
    extra, options = found[1], [name for one in error.ctx.command.params for name in one.opts]
    if extra[:1] in _DASHES:
        dash = f"got the dash {extra[:1]} in {extra}"
        error.message = f"an option begins with two hyphens, --; {dash}"
    elif _CURLED & {*extra}:
        error.message = f'put a text with blanks in straight quotes, "; got {extra}'
    elif "--history" in options:
        error.message = f'a game is given by --history "{extra}"'


def _help_of(error: Exception, prog_name: str | None) -> str:
    """Return the command line that explains the command at fault."""
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else prog_name or 'bnmind'} --help"


def _fail(message: str) -> None:
    terminal.say(f"error: {message}")
    sys.exit(terminal.EXIT_CODE)


app = typer.Typer(
    cls=_AllCommands,
    help=_HELP,
    epilog=_MASTERMIND,
    add_completion=True,
    # Plain help is short, reads the same without color, and starts in half the time.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version, and exit.")
    ] = False,
) -> None:
    if version:
        terminal.tell(f"bnmind {installed_version()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        terminal.tell(context.get_help())


# --- The process: its streams, its signals and its exit code --------------------------------------

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
    terminal.speaking.set(True)
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
        code = terminal.INTERRUPTED
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
        terminal.say("error: expected an open standard output, got a closed one")
        sys.exit(terminal.EXIT_CODE)
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
        code = BROKEN_PIPE if fault.errno == errno.EPIPE else terminal.EXIT_CODE
        if code == terminal.EXIT_CODE:
            terminal.say(f"error: {terminal.os_fault(fault)}")
    _flush(sys.stderr)
    if code - 128 in _SIGNALS or terminal.is_working():
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
