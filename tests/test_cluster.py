"""A cluster as an executor: a real scheduler and two worker processes on this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from bnmind._workers import results_of
from bnmind.errors import InvalidArgumentError, MissingLibraryError, WorkersError
from bnmind.lab import Cluster
from tests.command_line import ROOT
from tests.worker_tasks import refuse, square

SECONDS = 120
"""Seconds after which the tests give up; only a fault takes as long."""


@dataclass(frozen=True)
class Started:
    """Processes of a cluster."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: tuple[subprocess.Popen[bytes], ...]


def dask(place: Path, *arguments: str) -> subprocess.Popen[bytes]:
    with (place / f"{arguments[0]}.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--no-dashboard"],
            env={**os.environ, "PYTHONPATH": str(ROOT), "DASK_TEMPORARY_DIRECTORY": str(place)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
        )


def started(place: Path, n_workers: int) -> Started:
    """Start a cluster whose workers end with their scheduler."""
    file = place / "scheduler.json"
    scheduler = dask(
        place, "scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)
    )
    end = time.monotonic() + SECONDS
    while not file.exists():
        assert scheduler.poll() is None, (place / "scheduler.log").read_text()
        assert time.monotonic() < end
        time.sleep(0.05)
    address = json.loads(file.read_text())["address"]
    alone = ("--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--death-timeout", "60")
    return Started(
        address,
        scheduler,
        tuple(dask(place, "worker", address, *alone) for _ in range(n_workers)),
    )


@pytest.fixture
def two_workers(tmp_path: Path) -> Iterator[Started]:
    found = started(tmp_path, 2)
    try:
        yield found
    finally:
        processes = (*found.workers, found.scheduler)
        for process in processes:
            process.kill()
        for process in processes:
            process.wait(timeout=SECONDS)


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_nothing(two_workers: Started, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    seen.mkdir()
    # Both workers must be there, as a task of the first one may be over before the other starts.
    both = [partial(square, seen, number) for number in range(4)]
    with Cluster(two_workers.address) as cluster:
        end = time.monotonic() + SECONDS
        while len(list(seen.iterdir())) < 2:
            assert list(results_of(both, cluster)) == [0, 1, 4, 9]
            assert time.monotonic() < end
        tasks = [partial(square, seen, number) for number in range(60)]
        found = []
        for result in results_of(tasks, cluster):
            found.append(result)
            if len(found) == 5:
                two_workers.workers[0].send_signal(signal.SIGKILL)
        assert str(os.getpid()) not in {path.name for path in seen.iterdir()}
        assert found == [number * number for number in range(60)]
        assert two_workers.workers[0].wait(timeout=SECONDS) == -signal.SIGKILL
        assert two_workers.workers[1].poll() is None
        # The other worker has time for more, and errors come from there as they are.
        with pytest.raises(InvalidArgumentError, match="7 is refused") as caught:
            list(results_of([partial(refuse, 7)] * 3, cluster))
        assert caught.value.value == 7
        # Tasks and results that cannot be sent are errors too.
        with pytest.raises(InvalidArgumentError, match="workers need tasks that can be pickled"):
            list(results_of([partial(abs, threading.Lock())] * 3, cluster))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="cannot pickle"):
            list(results_of([threading.Lock] * 3, cluster))
        # Without a scheduler, the results end with an error, and do not wait for ever.
        results = results_of([partial(square, seen, number) for number in range(500)], cluster)
        assert next(results) == 0
        two_workers.scheduler.kill()
        with pytest.raises(WorkersError, match=r"connection to the cluster .* was lost") as lost:
            list(results)
        assert lost.value.place == two_workers.address


@pytest.mark.slow
def test_a_cluster_is_started_on_this_machine(tmp_path: Path) -> None:
    tasks: list[Callable[[], object]] = [partial(square, tmp_path, n) for n in range(6)]
    # Dask has its workers return freed memory at once, which slows their tasks by a quarter.
    usual = os.getenv("MALLOC_TRIM_THRESHOLD_")
    tasks.append(partial(os.getenv, "MALLOC_TRIM_THRESHOLD_"))
    with Cluster("local:2") as cluster:
        assert list(results_of(tasks, cluster)) == [0, 1, 4, 9, 16, 25, usual]
        first = set(tmp_path.iterdir())
        assert list(results_of(tasks, cluster)) == [0, 1, 4, 9, 16, 25, usual]
        assert len(first | set(tmp_path.iterdir())) <= 2
    pids = {int(path.name) for path in tmp_path.iterdir()}
    assert os.getpid() not in pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.slow
def test_two_programs_have_a_cluster_each_on_this_machine() -> None:
    with Cluster("local:1") as one, Cluster("local:1") as other:
        for cluster in (one, other):
            assert list(results_of([partial(pow, 2, 3)], cluster)) == [8]


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingLibraryError, match=r"pip install .bnmind\[distributed\].") as caught:
        Cluster("local:2")
    assert caught.value.name == "distributed"
