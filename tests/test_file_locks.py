"""Several programs with one file: whoever was told that something is saved finds it there."""

from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from bnmind._files import OvertakenError, locked, write_file
from bnmind.adaptive import ItemBank, Session
from bnmind.errors import BnmindError, ModelFileError
from bnmind.lab.mastermind import SavedGame, content_of, read_game, write_game
from bnmind.mastermind import Board, Reply, Turn
from tests.command_line import ROOT

BANK = ItemBank.from_qmatrix([[1], [1]], guess=0.2, slip=0.1)
ROUNDS = 20
PROCESSES = 2

Work = Callable[[Path, int], list[str]]


class Team:
    """Processes that begin the same work at the same moment."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.barrier = context.Barrier(PROCESSES)
        self.told: Queue[list[str]] = context.Queue()
        self.orders: list[Queue[tuple[Work, Path] | None]] = []
        self.processes = []
        for number in range(PROCESSES):
            orders: Queue[tuple[Work, Path] | None] = context.Queue()
            process = context.Process(
                target=_member, args=(number, orders, self.barrier, self.told)
            )
            process.start()
            self.orders.append(orders)
            self.processes.append(process)

    def do(self, work: Work, directory: Path) -> list[str]:
        """Return all that the processes acknowledged."""
        for orders in self.orders:
            orders.put((work, directory))
        return [line for _ in self.processes for line in self.told.get(timeout=120)]

    def end(self) -> None:
        for orders in self.orders:
            orders.put(None)
        for process in self.processes:
            process.join(timeout=60)
            assert process.exitcode == 0


def _member(
    number: int,
    orders: Queue[tuple[Work, Path] | None],
    barrier: Barrier,
    told: Queue[list[str]],
) -> None:
    while (order := orders.get()) is not None:
        work, directory = order
        barrier.wait(timeout=60)
        told.put(work(directory, number))


@pytest.fixture(scope="module")
def team() -> Iterator[Team]:
    members = Team()
    yield members
    members.end()


def add_lines(directory: Path, number: int) -> list[str]:
    place = directory / "lines"
    lines = [f"{number} {line}" for line in range(ROUNDS)]
    for line in lines:
        with locked(place, patience=60):
            before = place.read_text() if place.exists() else ""
            write_file(place, f"{before}{line}\n")
    return lines


def test_nothing_is_lost_between_reading_and_writing(tmp_path: Path, team: Team) -> None:
    lines = team.do(add_lines, tmp_path)
    assert sorted((tmp_path / "lines").read_text().splitlines()) == sorted(lines)
    assert [path.name for path in tmp_path.iterdir()] == ["lines"]


def answer(directory: Path, number: int) -> list[str]:
    """Change one answer again and again; a change that was refused is tried with the file anew."""
    place = directory / "session.json"
    session = Session.load(place, BANK)
    acknowledged: list[str] = []
    while len(acknowledged) < ROUNDS:
        at = f"{number} {len(acknowledged)}"
        try:
            session = session.change("item_1", 1, at=at)
            acknowledged.append(at)
        except OvertakenError:
            session = Session.load(place, BANK)
    return acknowledged


def test_no_answer_of_a_session_is_lost(tmp_path: Path, team: Team) -> None:
    place = tmp_path / "session.json"
    Session.start(BANK, path=place).answer("item_1", 0)
    told = team.do(answer, tmp_path)
    there = [event.at for event in Session.load(place, BANK).events[1:]]
    assert len(told) == ROUNDS * PROCESSES
    assert sorted(there) == sorted(told)
    assert [path.name for path in tmp_path.iterdir()] == [place.name]


def start(directory: Path, number: int) -> list[str]:
    """Start sessions in files that all others start too."""
    begun = []
    for count in range(ROUNDS):
        place = directory / f"{count}.json"
        # Meet again before each, as well as that can be without a barrier.
        (directory / f"{count} {number}").touch()
        while not all((directory / f"{count} {n}").exists() for n in range(PROCESSES)):
            time.sleep(0)
        try:
            Session.start(BANK, path=place, about={"by": str(number)})
            begun.append(f"{count}.json {number}")
        except ModelFileError:
            continue
    return begun


def test_one_session_starts_in_a_file(tmp_path: Path, team: Team) -> None:
    told = [entry.split() for entry in team.do(start, tmp_path)]
    assert len(told) == ROUNDS
    for name, number in told:
        assert Session.load(tmp_path / name, BANK).about == {"by": number}


def play(directory: Path, number: int) -> list[str]:
    """Add turns to a saved game; when refused, go on with the game that is there."""
    place = directory / "game.json"
    acknowledged: list[str] = []
    content, game = content_of(place), read_game(place)
    while len(acknowledged) < ROUNDS:
        guess = (number + 1, len(acknowledged) + 1)
        turn = Turn(guess, Reply(0, 0))
        try:
            game = replace(game, turns=(*game.turns, turn))
            content = write_game(place, game, before=content)
            acknowledged.append(game.board.format(guess))
        except BnmindError:
            content, game = content_of(place), read_game(place)
    return acknowledged


def test_no_reply_of_a_game_is_lost(tmp_path: Path, team: Team) -> None:
    place = tmp_path / "game.json"
    board = Board(2, 40)
    write_game(place, SavedGame(board=board, noise="exact", turns=()), before=None)
    told = team.do(play, tmp_path)
    there = [board.format(turn.guess) for turn in read_game(place).turns]
    assert sorted(there) == sorted(told)
    assert [path.name for path in tmp_path.iterdir()] == [place.name]


def test_a_killed_holder_blocks_nobody(tmp_path: Path) -> None:
    place = tmp_path / "a"
    code = (
        "import os, signal, sys\n"
        "from bnmind._files import locked\n"
        "with locked(sys.argv[1]):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(place)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.suffix == ".lock"
    with locked(place, patience=0):
        pass
    assert list(tmp_path.iterdir()) == []


def test_who_waits_too_long_is_reported(tmp_path: Path) -> None:
    place = tmp_path / "a"
    with locked(place):
        for spelling in (place, tmp_path / "A", tmp_path / "link"):
            if spelling.name == "link":
                spelling.symlink_to("a")
            told = pytest.raises(ModelFileError, match="another program has been writing")
            with told, locked(spelling, patience=0.02):
                raise AssertionError("locked twice")
        with locked(tmp_path / "b", patience=0):
            pass
    with locked(place, patience=0):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_who_waits_gets_its_turn(tmp_path: Path) -> None:
    place = tmp_path / "a"
    entered = []

    def enter() -> None:
        with locked(place):
            entered.append("second")

    with locked(place):
        thread = threading.Thread(target=enter)
        thread.start()
        time.sleep(0.05)
        entered.append("first")
    thread.join()
    assert entered == ["first", "second"]


def test_the_lock_is_released_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), locked(tmp_path / "a"):
        raise KeyError
    with locked(tmp_path / "a", patience=0):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOTSUP, errno.EINVAL])
def test_where_there_are_no_locks_nothing_is_locked(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(handle: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path / "a"), locked(tmp_path / "a", patience=0):
        pass
    assert list(tmp_path.iterdir()) == []


def test_other_errors_name_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelFileError, match="missing/a"), locked(tmp_path / "missing" / "a"):
        pass

    def refuse(handle: int, operation: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(ModelFileError, match=r"/a \(broken\)"), locked(tmp_path / "a"):
        pass


@pytest.mark.slow
def test_a_lock_file_is_open_to_whoever_may_write_the_file(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        with locked(tmp_path / "a"):
            (lock,) = tmp_path.iterdir()
            assert lock.stat().st_mode & 0o777 == 0o666
    finally:
        os.umask(before)


@pytest.mark.slow
def test_two_assistants_do_not_overwrite_each_other(tmp_path: Path) -> None:
    def begin() -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-u", "-m", "bnmind", "assist", "--pegs", "2", "--colors", "3"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        seen = ""
        assert process.stdout is not None
        while not seen.endswith("Guess ["):  # it has looked at the file by now
            piece = process.stdout.read(1)
            assert piece, seen
            seen += piece
        return process

    first, second = begin(), begin()
    first.communicate("12\n1b0w\nq\n", timeout=60)
    assert first.returncode == 0
    _, fault = second.communicate("33\n0b0w\nq\n", timeout=60)
    assert second.returncode == 2
    assert "another program has written to" in fault
    assert fault.count("\n") == 1
    saved: Any = json.loads((tmp_path / "bnmind-game.json").read_text())
    assert [turn["guess"] for turn in saved["turns"]] == ["12"]
