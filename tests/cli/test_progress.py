"""What is said while a command works, on terminals and elsewhere."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from bnmind.cli.shared import terminal
from bnmind.cli.shared.terminal import COMPILING, Account, Report, shown_progress, speaking, working
from tests.command_line import ROOT


@pytest.fixture
def _at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("_SHOWN_AFTER", "_SAID_AFTER", "_JUDGED_AFTER", "_COMPILING_AFTER"):
        monkeypatch.setattr(terminal, name, 0.0)
    token = speaking.set(True)
    yield
    speaking.reset(token)


def _work(report: Report) -> str:
    for done in range(3):
        report(done, 4)
        time.sleep(0.15)
    return "done"


def test_quick_work_is_done_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    assert working("working", lambda _: 7) == 7
    with pytest.raises(ZeroDivisionError):
        working("working", lambda _: 1 // 0)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("_at_once")
def test_without_a_terminal_progress_is_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert working("counting", _work) == "done"
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert said.err.startswith("counting: ")
    assert said.err.endswith(" …\n")


@pytest.mark.usefixtures("_at_once")
def test_without_a_terminal_long_work_is_reported_after_twice_the_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    account, now = Account(), [0.0]
    monkeypatch.setattr("bnmind.cli.shared.terminal.time.monotonic", lambda: now[0])
    with shown_progress("playing", account) as update:
        for second in range(1, 1001):
            now[0] = float(second)
            account.report(second, 1000)
            update()
    assert [int(line.split()[1].split("/")[0].replace(",", "")) for line in lines(capsys)] == [
        *(1, 61, 123, 247, 495, 991)
    ]


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_functions_of_the_commands_say_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "_SAID_AFTER", 0.0)
    assert working("counting", _work) == "done"
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("_at_once")
def test_compiling_is_reported_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bnmind._jit.being_compiled", lambda: ("kernel",))
    assert working("counting", _work) == "done"
    *_, last = capsys.readouterr().err.splitlines(keepends=True)
    assert last == f"counting: {COMPILING}\n"


@pytest.mark.usefixtures("_at_once")
def test_a_terminal_shows_a_bar_that_vanishes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert working("counting [b]", _work) == "done"
    shown = capsys.readouterr().err
    assert "counting [b]" in shown
    assert "2/4, about " in shown
    assert shown.endswith("\x1b[2K")
    assert "\x1b[?25h" in shown  # the cursor is back


ENDLESS = """
import time
from bnmind.cli.shared import terminal
from bnmind.cli.shared.terminal import working

terminal._SHOWN_AFTER = 0.0
working("waiting", lambda report: time.sleep(120))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP])
def test_a_signal_that_ends_the_process_leaves_the_terminal_with_a_cursor(
    number: signal.Signals,
) -> None:
    ours, its = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS],
        stderr=its,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "80"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    )
    os.close(its)
    try:
        shown = b""
        while b"waiting" not in shown:
            assert select.select([ours], [], [], 60)[0]
            shown += os.read(ours, 4096)
        assert b"\x1b[?25l" in shown
        process.send_signal(number)
        assert process.wait(60) == -number
        while select.select([ours], [], [], 0)[0]:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed, and all is read
                break
            shown += part
        assert shown.rfind(b"\x1b[?25h") > shown.rfind(b"\x1b[?25l")
        assert shown.endswith(b"\x1b[2K\x1b[?25h")
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.usefixtures("_at_once")
def test_only_our_own_handlers_are_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    def mine(_number: int, _frame: object) -> None: ...

    before = signal.signal(signal.SIGHUP, mine)
    try:
        handlers = working("counting", _handlers)
        assert handlers[1] is mine
        assert callable(handlers[0])
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        assert signal.getsignal(signal.SIGHUP) is mine
    finally:
        signal.signal(signal.SIGHUP, before)


def _handlers(_report: Report) -> list[object]:
    time.sleep(0.4)
    return [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)]


@pytest.mark.parametrize(
    ("done", "total", "seconds", "words"),
    [
        (0, None, 9, ""),
        (37, None, 9, "37 steps"),
        (0, 1000, 9, "0/1,000"),
        (500, 1000, 3, "500/1,000"),
        (500, 1000, 9, "500/1,000, about 9 s left"),
        (1, 1000, 9, "1/1,000, about 3 h left"),
        (1, 10**6, 9, "1/1,000,000, about 105 days left"),
        (1000, 1000, 9, "1,000/1,000"),
    ],
)
def test_words(done: int, total: int | None, seconds: float, words: str) -> None:
    account = Account()
    account.report(done, total)
    assert account.words(seconds) == words


SPAWN = """
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))
"""


def _in_a_terminal(
    arguments: tuple[str, ...], directory: Path, dialogue: Iterable[tuple[bytes, bytes]]
) -> tuple[int, str]:
    """Return how a command in a terminal exits, and all that the terminal was sent.

    The dialogue is what is awaited, and what is then typed.
    """
    with subprocess.Popen(
        [sys.executable, "-c", SPAWN, sys.executable, "-m", "bnmind", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"},
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            heard = b""
            for awaited, typed in dialogue:
                new = b""
                while awaited not in new:
                    ready, _, _ = select.select([process.stdout], [], [], 120)
                    part = os.read(process.stdout.fileno(), 2**16) if ready else b""
                    if not part:
                        process.kill()
                        pytest.fail(f"expected {awaited!r} in {heard + new!r}")
                    new += part
                heard += new
                if typed == b"\x03":
                    # Python waits on when a signal comes just before it begins to wait.
                    time.sleep(0.3)
                process.stdin.write(typed)
                process.stdin.flush()
            rest, _ = process.communicate(timeout=120)
        finally:
            process.kill()
    return process.returncode, (heard + rest).decode()


LONG = {
    "strategy": ("strategy", "random", "--pegs", "10", "--colors", "12", "--games", "100000"),
    "tree": ("strategy", "entropy", "--pegs", "5", "--colors", "7"),
    "deeper": ("strategy", "deeper", "--pegs", "6", "--colors", "7"),
    "optimal": ("strategy", "optimal", "--pegs", "4", "--colors", "9"),
    "compare": ("compare", "deeper", "--pegs", "6", "--colors", "7"),
    "fit-weights": ("fit-weights", "--out", "weights.json", "--evaluations", "1000000"),
    "simulate": ("simulate", str(ROOT / "models/banks/fractions.json"), "--examinees", "1000000"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_an_interrupt_on_a_terminal_ends_any_work(name: str, tmp_path: Path) -> None:
    words = {"strategy": b"playing", "compare": b"playing", "fit-weights": b"fitting"}
    words |= {"optimal": b"searching", "simulate": b"examinees"}
    awaited = words.get(name, b"growing the tree")
    code, heard = _in_a_terminal(LONG[name], tmp_path, [(awaited, b"\x03")])
    assert code == 130
    assert heard.endswith("\r\ninterrupted\r\n")
    assert "Traceback" not in heard
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_leaving_a_game_on_a_terminal_keeps_it_and_giving_up_prints_the_code(
    tmp_path: Path,
) -> None:
    dialogue = [(b"Guess 1: ", b"1123\n"), (b"Guess 2: ", b"\x03")]
    code, heard = _in_a_terminal(("play", "--seed", "5"), tmp_path, dialogue)
    assert code == 130
    assert "Saved in bnmind-play.json" in heard
    assert "2365" not in heard
    code, heard = _in_a_terminal(("play",), tmp_path, [(b"Guess 2: ", b"q\n")])
    assert code == 0
    assert "The code was 2365." in heard
    assert "The same game again: --seed 5" in heard


@pytest.mark.slow
def test_a_game_left_on_a_terminal_is_saved(tmp_path: Path) -> None:
    dialogue = [(b"]: ", b"\n"), (b"1234: ", b"11\n"), (b"]: ", b"\x03")]
    code, heard = _in_a_terminal(("assist",), tmp_path, dialogue)
    assert code == 130
    assert "Saved in bnmind-game.json; the same command resumes the game." in heard
    assert [path.name for path in tmp_path.glob("[!.]*")] == ["bnmind-game.json"]
