"""Tests that people take, kept in PostgreSQL; skipped where its programs or its driver are missing.

The database is one of its own, in a temporary folder, reached by a socket in this folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi import HTTPException

from bnmind.errors import InvalidArgumentError
from bnmind.web.exports import EXPORTS, format_csv
from bnmind.web.live import LiveTests
from bnmind.web.reports import State
from bnmind.web.store import LostError, Store
from tests.web.given_tests import given, live_tests, question_of


def _programs() -> Path | None:
    """Return the folder of PostgreSQL's programs; Debian keeps them off the path."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


PROGRAMS = _programs()

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgresql,
    pytest.mark.skipif(PROGRAMS is None, reason="there is no PostgreSQL"),
]


@dataclass(frozen=True)
class _Server:
    folder: Path

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def run(self, *arguments: str) -> None:
        assert PROGRAMS is not None
        program, *rest = arguments
        command = [str(PROGRAMS / program), *rest]
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, timeout=120)

    def start(self) -> None:
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder}"
        data, log = str(self.folder / "data"), str(self.folder / "log")
        self.run("pg_ctl", "-D", data, "-l", log, "-o", options, "-w", "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")


@pytest.fixture(scope="module")
def server() -> Iterator[_Server]:
    pytest.importorskip("psycopg")
    # A short path: that of a socket has at most a hundred characters.
    with tempfile.TemporaryDirectory(prefix="bnmind-pg-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        one = _Server(folder)
        one.run("initdb", "-D", str(folder / "data"), "-U", "postgres", "-A", "trust", "-N")
        one.start()
        yield one
        one.stop()


def test_a_class_is_kept_in_postgresql(server: _Server, tmp_path: Path) -> None:
    twin = live_tests(tmp_path)
    tests = LiveTests(given(), Store(server.url), needs_code=True)
    other = LiveTests(given(), Store(server.url), needs_code=True)  # a second server
    ann, bob = tests.new(2, ["Ann", "Bob"], with_code=True)
    state: State = tests.begin(ann.code or "", "")
    same: State = twin.begin("", "")
    while not state.over:
        assert state.question == same.question
        sent = (state.number, question_of(state).item, 0)
        # The two servers take turns.
        state = (other if state.number % 2 else tests).answer(ann.key, *sent)
        same = twin.answer(twin.store.sittings(twin.key)[0].key, *sent)
    assert tests.state(ann.key) == state == other.state(ann.key)
    assert [row.state for row in other.table()] == ["over", "not begun"]
    for export in EXPORTS.values():
        assert ann.name in format_csv(export(tests), ",")
        assert export(tests) == export(other)
    expected = [row[1:] for row in EXPORTS["responses"](twin)[1]]
    assert [row[1:] for row in EXPORTS["responses"](tests)[1]] == expected
    tests.delete(bob.id)
    assert len(other.table()) == 1
    for one in (twin, tests, other):
        one.store.close()


def test_windows_at_two_servers_store_one_answer(server: _Server) -> None:
    servers = [LiveTests(given(), Store(server.url), needs_code=False) for _ in range(2)]
    for _ in range(5):
        key = servers[0].begin("", "").session
        gate = threading.Barrier(6)
        outcomes: list[int] = []

        def window(number: int, gate: threading.Barrier, key: str, outcomes: list[int]) -> None:
            gate.wait(10)
            try:
                servers[number % 2].answer(key, 0, "sum", number % 3)
                outcomes.append(200)
            except HTTPException as refusal:
                outcomes.append(refusal.status_code)

        windows = [threading.Thread(target=window, args=(n, gate, key, outcomes)) for n in range(6)]
        for one in windows:
            one.start()
        for one in windows:
            one.join()
        assert sorted(outcomes) == [200, 200, 409, 409, 409, 409]
        assert servers[1].state(key).number == 1
    for tests in servers:
        tests.store.close()


def test_an_answer_waits_for_a_database_that_was_killed(server: _Server) -> None:
    tests = LiveTests(given(), Store(server.url), needs_code=False)
    key = tests.begin("", "").session
    state = tests.answer(key, 0, "sum", 1)
    server.stop()
    with pytest.raises(LostError):
        tests.answer(key, 1, question_of(state).item, 0)
    with pytest.raises(InvalidArgumentError, match="cannot open the database"):
        Store(server.url)
    server.start()
    assert tests.state(key) == state
    assert tests.answer(key, 1, question_of(state).item, 0).number == 2
    tests.store.close()
