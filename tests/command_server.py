"""A process that runs commands in forks of itself: each as a command of its own, without imports.

``python -m tests.command_server`` reads a `Case` as a line of JSON and answers with how it ended.
The libraries that commands use are imported once, so that a case takes a tenth of a second.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Self, TextIO

import bnmind
from tests.command_line import ROOT

__all__ = ["Case", "CommandServer", "Ended"]

SECONDS = 300
"""How long a command may take, also on a machine that does much else."""

LIBRARIES = ("numba", "numpy", "pandas", "matplotlib.pyplot", "rich.progress", "typer")


@dataclass(frozen=True)
class Case:
    """A command and what is broken around it."""

    arguments: tuple[str, ...]
    typed: str = ""
    closed: tuple[int, ...] = ()
    """The standard streams that are closed."""
    full: int | None = None
    """The standard stream that is a full device."""
    unread: bool = False
    """Whether nobody reads the output."""
    file_bytes: int | None = None
    """How long a file may become."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beside those of the server."""
    killed_after: float | None = None
    """Seconds after which a signal is sent."""
    by: int = signal.SIGKILL


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    said: str
    complained: str
    """What it wrote to the error stream."""
    seconds: float
    files: tuple[str, ...] = ()
    """The new files in its directory."""


class CommandServer:
    """Runs commands; a context manager.

    Parameters
    ----------
    package
        The directory that `bnmind` is imported from.
    environment
        Variables of the environment, beside those of the tests.
    prepare
        Called in the new process before anything else.
    """

    def __init__(
        self,
        package: Path = ROOT,
        *,
        environment: Mapping[str, str] | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.command_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=package,
            env={
                **os.environ,
                "PYTHONPATH": f"{package}{os.pathsep}{ROOT}",
                "PYTHONUTF8": "1",
                "MPLBACKEND": "Agg",
                **(environment or {}),
            },
            preexec_fn=prepare,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=SECONDS)

    def run(self, case: Case, directory: Path) -> Ended:
        """Return how a command ends in a directory."""
        before = {path.name for path in directory.iterdir()}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**asdict(case), "directory": str(directory)}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the server has ended"
        after = {path.name for path in directory.iterdir()}
        return Ended(**json.loads(line), files=tuple(sorted(after - before)))


def _serve() -> None:
    """Answer cases until there are no more; return in the fork that is to run a command."""
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    for name in LIBRARIES:
        import_module(name)
    for module in pkgutil.walk_packages(bnmind.__path__, "bnmind."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    gc.freeze()
    for line in requests:
        asked: dict[str, Any] = json.loads(line)
        directory = asked.pop("directory")
        case = Case(**asked)
        typed, output, complaints = os.pipe(), os.pipe(), os.pipe()
        os.write(typed[1], case.typed.encode())
        if case.killed_after is None:
            os.close(typed[1])  # else whoever is to be killed waits for more
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            requests.close()
            answers.close()
            _surround(case, directory, (typed[0], output[1], complaints[1]))
            return
        for descriptor in (typed[0], output[1], complaints[1]):
            os.close(descriptor)
        if case.killed_after is not None:
            time.sleep(case.killed_after)
            os.kill(child, case.by)
            os.close(typed[1])
        _, status = os.waitpid(child, 0)
        answer = {
            "code": os.waitstatus_to_exitcode(status),
            "said": _rest(output[0]),
            "complained": _rest(complaints[0]),
            "seconds": time.monotonic() - started,
        }
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    sys.exit()


def _rest(pipe: int) -> str:
    """Return what is in a pipe, which holds more than any of the commands writes."""
    os.set_blocking(pipe, False)
    parts = []
    while True:
        try:
            part = os.read(pipe, 2**16)
        except BlockingIOError:
            break
        if not part:
            break
        parts.append(part)
    os.close(pipe)
    return b"".join(parts).decode()


def _surround(case: Case, directory: str, streams: tuple[int, int, int]) -> None:
    """Make this process one that a shell has just started for a command."""
    signal.alarm(SECONDS)
    atexit._clear()  # what libraries have planned for the end of the server
    os.chdir(directory)
    os.environ.update(case.environment)
    tempfile.tempdir = None
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    if case.full is not None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), case.full)
    if case.unread:
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, 1)
    os.closerange(3, 100)
    for number in case.closed:
        os.close(number)
    for place, name in enumerate(("stdin", "stdout", "stderr")):
        opened = None if place in case.closed else _opened(place)
        setattr(sys, name, opened)
        setattr(sys, f"__{name}__", opened)
    if case.file_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (case.file_bytes, case.file_bytes))
    sys.argv = ["bnmind", *case.arguments]


def _opened(number: int) -> TextIO:
    """Return a standard stream as Python opens it; the last one for errors."""
    if number == 0:
        return open(0, closefd=False)
    if number == 1:
        return open(1, "w", closefd=False)
    return open(2, "w", closefd=False, errors="backslashreplace", buffering=1)


def _code() -> int:
    """Return the exit code of the command."""
    from bnmind.cli import main

    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _end_with(code: int) -> None:
    """End as Python does, without taking the libraries down, which takes longest of all."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is None or stream.closed:
            continue
        try:
            stream.flush()
        except OSError:
            code = 120
    os._exit(code)


if __name__ == "__main__":
    _serve()
    _end_with(_code())
