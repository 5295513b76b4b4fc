"""The command line as a process: closed and full streams, Ctrl-C, exit codes."""

from __future__ import annotations

import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
from _thread import interrupt_main
from pathlib import Path

import pytest

from bnmind.cli.app import BROKEN_PIPE
from bnmind.cli.shared.terminal import interruptible, is_working, working
from tests.command_line import ROOT

TINY = ("--pegs", "1", "--colors", "2")
COMMANDS = {
    "play": ("play", *TINY, "--seed", "1"),
    "suggest": ("suggest", *TINY),
    "test": ("test", str(ROOT / "models/banks/fractions.json")),
    "help": ("--help",),
}
"""Real processes, which take seconds; `test_matrix` tries every command in forks of one."""

FULL = Path("/dev/full")


def _shell(
    arguments: tuple[str, ...], redirections: str, directory: Path, *, unbuffered: bool = False
) -> subprocess.CompletedProcess[str]:
    """Return what a command does whose streams a shell has redirected."""
    program = (sys.executable, "-m", "bnmind", *arguments)
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; "$@" {redirections}', "bash", *program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1" * unbuffered},
        check=False,
    )


def test_a_closed_standard_input_is_an_empty_one(tmp_path: Path) -> None:
    closed = _shell(COMMANDS["play"], "<&-", tmp_path)
    assert (closed.returncode, closed.stderr) == (0, "")
    assert closed.stdout


def test_a_standard_input_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    result = _shell(COMMANDS["play"], f"0>{tmp_path / 'written'}", tmp_path)
    assert result.returncode == 2
    assert "read or write standard input: " in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_closed_standard_output_is_refused(tmp_path: Path) -> None:
    result = _shell(COMMANDS["play"], ">&-", tmp_path)
    assert result.returncode == 2
    assert result.stderr == "error: expected an open standard output, got a closed one\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("redirections", ["2>&-", "2>/dev/full"])
def test_a_standard_error_that_cannot_be_written_changes_nothing(
    redirections: str, tmp_path: Path
) -> None:
    usual = _shell(COMMANDS["help"], redirections, tmp_path)
    assert (usual.returncode, usual.stdout != "") == (0, True)
    wrong = _shell(("suggest", "--pegs", "0"), redirections, tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("unbuffered", [False, True])
def test_a_full_standard_output_is_named(unbuffered: bool, tmp_path: Path) -> None:
    result = _shell(COMMANDS["play"], f">{FULL}", tmp_path, unbuffered=unbuffered)
    assert result.returncode == 2
    assert "read or write standard output: No space left" in result.stderr
    assert result.stderr.count("\n") == 1


def test_output_that_nobody_reads_ends_the_process_in_silence(tmp_path: Path) -> None:
    result = _shell(COMMANDS["play"], "| true", tmp_path)
    assert (result.returncode, result.stderr) == (BROKEN_PIPE, "")


INTERRUPTED_WHILE_IMPORTING = """
import itertools, os, signal, sys

count = itertools.count()

def hook(event, arguments):
    if event == "import" and next(count) == {number}:
        os.kill(os.getpid(), signal.SIGINT)

from bnmind.cli import main
sys.addaudithook(hook)
sys.argv = ["bnmind", *{arguments!r}]
main()
"""


def _interrupted(number: int, arguments: tuple[str, ...], directory: Path) -> int:
    """Return the exit code of a command that Ctrl-C reaches at an import; 0 if it has fewer."""
    program = INTERRUPTED_WHILE_IMPORTING.format(number=number, arguments=arguments)
    result = subprocess.run(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert "Traceback" not in result.stderr
    assert "ignored" not in result.stderr
    assert result.stderr in ("", "interrupted\n")
    return result.returncode


@pytest.mark.parametrize("number", [1, 300])
def test_an_interrupt_during_imports_ends_the_process_in_silence(
    number: int, tmp_path: Path
) -> None:
    assert _interrupted(number, COMMANDS["suggest"], tmp_path) == 130


@pytest.mark.slow
@pytest.mark.parametrize("name", ["suggest", "test"])
def test_an_interrupt_at_any_import_ends_the_process_in_silence(name: str, tmp_path: Path) -> None:
    number = 2
    while (code := _interrupted(number, COMMANDS[name], tmp_path)) == 130:
        number *= 2
    assert code == 0
    assert number > 100


ENDLESS = """
kind = "games"
games = 100000
board = "3x4"
noise = "false:0.2"
strategies = "knuth"
batch_games = 2
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_ended_leaves_no_locks_and_no_temporary_files(
    number: signal.Signals, tmp_path: Path
) -> None:
    (tmp_path / "endless.toml").write_text(ENDLESS)
    with subprocess.Popen(
        [sys.executable, "-m", "bnmind", "run", "endless.toml", "--out", "rows"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    ) as program:
        end = time.monotonic() + 120
        while not list(tmp_path.glob("rows/part-*")):
            assert time.monotonic() < end
            time.sleep(0.01)
        assert list(tmp_path.glob("rows/.bnmind-*.lock"))
        program.send_signal(number)
        told = program.communicate(timeout=120)[1]
    assert program.returncode == (130 if number == signal.SIGINT else -number)
    assert "the same command goes on from there" in told
    assert list(tmp_path.rglob(".bnmind-*")) == []


def test_work_is_done_in_the_surroundings_of_the_caller() -> None:
    before = set(threading.enumerate())  # work that another test interrupted may still go on
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    assert interruptible(variable.get) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)
    assert set(threading.enumerate()) <= before


def test_work_is_done_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    assert interruptible(lambda: 7) == 7
    assert working("working", lambda _: 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)


def test_long_work_can_be_interrupted() -> None:
    end = threading.Event()

    def work() -> None:
        interrupt_main()
        end.wait()

    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    assert is_working()
    end.set()
