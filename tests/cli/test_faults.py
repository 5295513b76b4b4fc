"""Faults in the middle of work: a disk that fills up, a clock that jumps, two writers, Ctrl-C.

Together with `test_matrix`, `test_kills`, `test_process` and `test_places` these tests are the
table of faults in ``docs/faults.md``.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import bnmind._files
from bnmind.adaptive import ItemBank, Session, read_answers, read_bank, write_bank
from bnmind.cli import dialogues
from bnmind.lab.mastermind import read_game
from bnmind.lab.mastermind.saved_games import read_play
from bnmind.questions import read_dialogue
from tests.cli.test_kills import _whole
from tests.cli.test_matrix import (
    ASIA,
    BANK,
    COMMANDS,
    SMALL,
    Whole,
    assert_in_order,
    case_of,
    prepared,
)
from tests.command_line import ROOT, run
from tests.command_server import CommandServer, Ended

WRITE = sorted(
    {"play", "assist", "network", "compare", "strategy", "fit-weights", "fit-value", "reproduce"}
    | {"run", "query", "explain", "fit", "ask", "predict", "track", "learn", "classify"}
    | {"calibrate", "simulate", "test"}
)
"""The commands that write files, in the cases of `test_matrix`."""


class FullDisk:
    """A disk that takes some files, and then no more."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, files: int) -> None:
        self.left = files
        self._finish = bnmind._files._finish
        monkeypatch.setattr(bnmind._files, "_finish", self._or_full)

    def _or_full(self, *parts: object) -> None:
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._finish(*parts)  # type: ignore[arg-type]


DIALOGUES: dict[str, tuple[tuple[str, ...], str, str, Callable[[Path], int]]] = {
    "play": (
        ("play", *SMALL, "--seed", "1", "--noise", "exact", "--save", "saved.json"),
        *("11\n", "22\n21\nq\n"),
        lambda path: len(read_play(path).guesses),
    ),
    "assist": (
        ("assist", "--pegs", "2", "--colors", "3", "--save", "saved.json"),
        *("11\n1b0w\n", "12\n0b1w\n13\n1b0w\nq\n"),
        lambda path: len(read_game(path).turns),
    ),
    "ask": (
        ("ask", ASIA, "--about", "lung", "--session", "saved.json"),
        *("no\n", "no\nno\nq\n"),
        lambda path: len(read_dialogue(path).events),
    ),
    "test": (
        ("test", BANK, "--session", "saved.json"),
        *("1\n", "0\n1\nq\n"),
        lambda path: len(Session.load(path, read_bank(BANK)).state.asked),
    ),
}
"""Dialogues that save every answer: the command, its first answer, more of them, their number."""


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_disk_that_fills_up_during_a_dialogue(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was saved stays, the error says so at once, and the same command goes on later.

    Games end. Tests and questions about a network ask again, and so accept no answer unsaved.
    """
    monkeypatch.chdir(tmp_path)
    command, first, more, answered = DIALOGUES[name]
    saved = Path("saved.json")
    begun = run(*command, answers=f"{first}q\n")
    assert begun.exit_code == 0, begun.output
    n, before = answered(saved), saved.read_bytes()
    assert n >= 1
    with monkeypatch.context() as patch:
        FullDisk(patch, files=0)
        full = run(*command, answers=more)
    assert full.exit_code == (2 if name in ("play", "assist") else 0), full.output
    assert "cannot write saved.json (No space left on device)" in full.output
    assert full.output.count("error: ") == (full.exit_code == 2)
    assert "Traceback" not in full.output
    assert saved.read_bytes() == before
    assert [path.name for path in Path().iterdir()] == ["saved.json"]
    again = run(*command, answers=more)
    assert again.exit_code == 0, again.output
    assert answered(saved) > n


class Clock(datetime):
    """A clock that is put back by two days at each look."""

    looks = 0

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        cls.looks += 1
        return datetime(2026, 3, 29, 2, 30, tzinfo=UTC) - timedelta(days=2 * cls.looks)


def test_a_clock_that_is_put_back_during_a_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers stay in the order in which they were given, and the session is resumed."""
    monkeypatch.chdir(tmp_path)
    bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1], [1, 0]], guess=0.2, slip=0.1)
    write_bank(bank, "bank.json")
    monkeypatch.setattr(dialogues, "_now", lambda: Clock.now().isoformat(timespec="seconds"))
    command = ("test", "bank.json", "--stop", "items:4", "--session", "ann.json")
    assert run(*command, answers="1\n0\nq\n").exit_code == 0
    first = Session.load("ann.json", bank).state.asked
    assert run(*command, answers="1\nq\n").exit_code == 0
    session = Session.load("ann.json", bank)
    assert session.state.asked[:2] == first
    times = [event["at"] for event in json.loads(Path("ann.json").read_text())["events"]]
    assert len(times) == 3
    assert times == sorted(times, reverse=True)
    answers = read_answers(["ann.json"], bank).responses
    order = [answers.items[column] for column in answers.order[0] if column >= 0]
    assert tuple(order) == session.state.asked


def test_a_clock_that_jumps_loses_no_file_that_is_being_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bnmind._files.writing(tmp_path / "long.csv") as file:
        file.write(b"half ")
        for jump in (-3e8, 3e8):
            now = time.time() + jump
            monkeypatch.setattr(time, "time", lambda now=now: now)
            bnmind._files.write_file(tmp_path / "other.csv", "whole")
        file.write(b"and half")
    assert (tmp_path / "long.csv").read_text() == "half and half"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["long.csv", "other.csv"]


@pytest.mark.slow
def test_ctrl_c_at_any_moment(
    server: CommandServer, wholes: Mapping[str, Whole], tmp_path: Path
) -> None:
    """Exit code 130, or 0 if it came too late, and whole files."""
    for number, name in enumerate(WRITE[1::3]):
        here = prepared(tmp_path / name)
        after = wholes[name].ended.seconds * (1 + number % 5) / 6
        ended = server.run(case_of(name, {"killed_after": after, "by": signal.SIGINT}), here)
        assert_in_order(ended, 130, 0)
        assert _whole(here) <= _whole(wholes[name].directory)
        assert not list(here.rglob(".*.tmp")), name


TOGETHER = ("learn", "run", "assist", "ask")


@pytest.mark.slow
def test_two_programs_that_write_the_same_file(server: CommandServer, tmp_path: Path) -> None:
    """At least one succeeds; another one says who was faster, and the files are whole."""
    with CommandServer() as other:
        for name in TOGETHER:
            here = prepared(tmp_path / name)
            ended: list[Ended] = []

            def go(by: CommandServer, name: str = name, here: Path = here) -> None:
                ended.append(by.run(case_of(name, {}), here))  # noqa: B023

            threads = [threading.Thread(target=go, args=(one,)) for one in (server, other)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert min(one.code for one in ended) == 0, ended
            for one in ended:
                assert_in_order(one, 0, 2)
                if one.code:
                    assert re.search(r"another (program|run)|exists", one.complained), one
            assert _whole(here)
            assert not [path for path in here.rglob(".*") if path.is_file()], name


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_disk_that_is_really_full(server: CommandServer, tmp_path: Path) -> None:
    """A file system of 64 kB in memory, on which nothing is left."""
    here = tmp_path / "disk"
    here.mkdir()
    for name in WRITE[::4]:
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(here)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            pytest.skip("no file system can be mounted here")
        try:
            prepared(here)
            left = os.statvfs(here)
            (here / "filler.csv").write_bytes(b"," * (left.f_bavail * left.f_bsize))
            ended = server.run(case_of(name, {}), here)
            assert_in_order(ended, 2)
            assert "No space left on device" in ended.complained
            (here / "filler.csv").unlink()
            assert _whole(here) == set()
            assert not [path for path in here.rglob(".*") if path.is_file()], name
        finally:
            subprocess.run(["umount", str(here)], check=True)


POOR = {
    **{"TERM": "dumb", "COLUMNS": "20"},
    **{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    **dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), "/nonexistent/x"),
}
"""A narrow terminal without colors, no letters but those of ASCII, and no home."""


@pytest.mark.slow
def test_poor_surroundings(tmp_path: Path) -> None:
    """In a process of its own, as Python chooses the encoding when it starts."""
    arguments, typed = COMMANDS["assist"]
    done = subprocess.run(
        [sys.executable, "-m", "bnmind", *arguments],
        input=typed.encode(),
        capture_output=True,
        cwd=prepared(tmp_path / "here"),
        env={**os.environ, "PYTHONPATH": str(ROOT), **POOR},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert done.stdout.isascii()


@pytest.mark.slow
def test_who_reads_only_the_first_line(tmp_path: Path) -> None:
    """``bnmind … | head -1``: no complaint; 141 says that the output was not read."""
    arguments, _ = COMMANDS["judge"]
    program = [sys.executable, "-u", "-m", "bnmind", *arguments]
    done = subprocess.run(
        ["bash", "-c", '"$@" | head -1; exit ${PIPESTATUS[0]}', "bash", *program],
        capture_output=True,
        text=True,
        cwd=prepared(tmp_path / "here"),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 141)
    assert (done.stderr, done.stdout.count("\n")) == ("", 1)
