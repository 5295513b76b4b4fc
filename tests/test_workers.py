"""Work shared among processes: the order of the results, and the end of the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from joblib.externals.loky import get_reusable_executor

from bnmind._workers import finished_of, results_of
from bnmind.errors import InvalidArgumentError, WorkersError
from bnmind.lab import Cluster
from tests.backends import Pickled
from tests.command_line import ROOT
from tests.worker_tasks import ends_once, half, remembers, waits, waits_for

PROGRAM = """
import os, sys, time
from functools import partial
from pathlib import Path
from bnmind._workers import results_of

def work(directory, number):
    (directory / str(os.getpid())).touch()
    time.sleep(600)

directory = Path(sys.argv[1])
list(results_of([partial(work, directory, number) for number in range(2)], 2))
"""


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_results_come_in_the_order_of_the_tasks(workers: int) -> None:
    tasks = [partial(pow, 2, number) for number in range(20)]
    assert list(results_of(tasks, workers)) == [2**number for number in range(20)]


def test_workers_are_checked() -> None:
    for workers in (0, -2):
        with pytest.raises(InvalidArgumentError, match="at least 1 worker, or -1"):
            list(results_of([partial(abs, 1)], workers))
    addresses = [
        "",
        "nearby",
        "local:",
        "local:0",
        "local:-1",
        "local:2 ",
        "tcp://host",
        "tcp://:1",
    ]
    for address in [*addresses, "http://host:80", "tcp://a b:1", "tcp://host:1/x", "local:٢"]:
        with pytest.raises(InvalidArgumentError, match="expected tcp://HOST:PORT or local:N"):
            Cluster(address)
    for address in ("local:12", "tcp://127.0.0.1:8786", "tls://node-1.example:1", "tcp://[::1]:1"):
        assert Cluster(address).address == address


def test_an_error_of_a_task_comes_through() -> None:
    results = results_of([partial(half, number) for number in (4, 3, 2)], 1)
    assert next(results) == 2
    with pytest.raises(InvalidArgumentError, match="3 is odd"):
        next(results)


def test_no_tasks_need_no_workers() -> None:
    assert list(results_of([], 2)) == []
    assert list(results_of([], Cluster("tcp://127.0.0.1:1"))) == []


class Broken(Executor):
    """An executor whose workers have ended."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        raise BrokenExecutor("they ended")


def test_an_executor_whose_workers_ended_is_named() -> None:
    with pytest.raises(WorkersError, match="the workers of an executor ended: they ended"):
        list(results_of([partial(abs, 1)], Broken()))


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, Pickled])
def test_any_executor_runs_tasks_and_stays_open(kind: Callable[[], Executor]) -> None:
    tasks = [partial(abs, -number) for number in range(4)]
    with kind() as executor:
        for _ in range(2):
            assert list(results_of(tasks, executor)) == [0, 1, 2, 3]


class Backwards(Executor):
    """An executor whose last task is finished first."""

    def __init__(self, n: int) -> None:
        self.n, self.sent = n, []  # type: ignore[var-annotated]

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.sent.append((future, fn))
        if len(self.sent) == self.n:
            threading.Thread(target=self.run).start()
        return future

    def run(self) -> None:
        for future, function in reversed(self.sent):
            time.sleep(0.05)
            future.set_result(function())


def test_results_wait_for_those_before_them_unless_they_need_not() -> None:
    tasks = [partial(abs, -number) for number in range(4)]
    assert list(results_of(tasks, Backwards(4))) == [0, 1, 2, 3]
    assert list(finished_of(tasks, Backwards(4))) == [(3, 3), (2, 2), (1, 1), (0, 0)]
    assert list(finished_of(tasks, 1)) == [(0, 0), (1, 1), (2, 2), (3, 3)]


@pytest.mark.slow
def test_a_slow_task_does_not_keep_others_back(tmp_path: Path) -> None:
    tasks = [partial(waits_for, tmp_path / "others", number) for number in range(6)]
    numbers = []
    for number, result in finished_of(tasks, 2):
        assert result == number
        numbers.append(number)
        if len(numbers) == 5:
            (tmp_path / "others").touch()
    assert numbers[-1] == 0
    assert sorted(numbers) == list(range(6))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_a_task_that_ends_every_worker_is_given_up() -> None:
    with pytest.raises(WorkersError, match="ended 3 times while it ran the same tasks") as caught:
        list(results_of([partial(signal.raise_signal, signal.SIGKILL)] * 2, 2))
    assert caught.value.place == "processes"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
def test_a_process_that_is_killed_loses_nothing(tmp_path: Path) -> None:
    tasks = [partial(ends_once, tmp_path, number) for number in range(8)]
    assert list(results_of(tasks, 2)) == list(range(8))
    assert (tmp_path / "3").exists()


@pytest.mark.slow
def test_an_error_of_a_task_comes_through_from_a_process() -> None:
    with pytest.raises(InvalidArgumentError, match="3 is odd") as caught:
        list(results_of([partial(half, number) for number in (4, 3, 2)], 2))
    assert caught.value.value == 3


@pytest.mark.slow
def test_results_may_be_left_unread(recwarn: pytest.WarningsRecorder) -> None:
    results = results_of([partial(waits, number) for number in range(40)], 2)
    assert [next(results), next(results)] == [0, 1]
    results.close()
    assert list(recwarn) == []


@pytest.mark.slow
def test_processes_stay_though_they_remember_much(recwarn: pytest.WarningsRecorder) -> None:
    try:
        results = list(results_of([partial(remembers, 60) for _ in range(14)], 2))
    finally:
        get_reusable_executor().shutdown(wait=True)  # gives the memory back
    assert len({process for process, _ in results}) == 2
    assert max(megabytes for _, megabytes in results) >= 420
    assert list(recwarn) == []


@pytest.mark.slow
def test_a_task_that_cannot_be_pickled_is_an_error() -> None:
    tasks = [partial(print, threading.Lock())] * 2
    with pytest.raises(InvalidArgumentError, match="workers need tasks that can be pickled"):
        list(results_of(tasks, 2))


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # one that has ended, and that nobody has asked for


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGHUP])
def test_workers_end_with_the_program(number: signal.Signals, tmp_path: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    end = time.monotonic() + 60
    while len(workers := [int(path.name) for path in tmp_path.iterdir()]) < 2:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert all(map(is_running, workers))
    program.send_signal(number)
    assert program.wait(timeout=60) == -number
    end = time.monotonic() + 60
    while any(map(is_running, workers)):
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")
@pytest.mark.parametrize("workers", [("--workers", "2"), ("--cluster", "local:2")])
def test_an_interrupt_of_workers_prints_nothing_else(
    workers: tuple[str, str], tmp_path: Path
) -> None:
    bank = ROOT / "models" / "banks" / "fractions.json"
    program = subprocess.Popen(
        [
            *(sys.executable, "-m", "bnmind", "simulate", str(bank), "--examinees", "100000"),
            *(*workers, "--out", str(tmp_path / "results")),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    children = Path(f"/proc/{program.pid}/task")
    end = time.monotonic() + 60
    started: list[int] = []
    while len(started) < 3:
        texts = [(one / "children").read_text() for one in children.iterdir()]
        started = [int(word) for text in texts for word in text.split()]
        assert time.monotonic() < end
        time.sleep(0.05)
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=60)
    assert program.returncode == 130
    assert errors.splitlines()[-1].startswith("interrupted")
    # Others may say what takes so long.
    own = ("drawing examinees", "testing", "interrupted")
    assert all(line.startswith(own) for line in errors.splitlines()), errors
    end = time.monotonic() + 60
    while any(map(is_running, started)):
        assert time.monotonic() < end
        time.sleep(0.05)
