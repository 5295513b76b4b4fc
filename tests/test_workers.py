"""Work shared among processes: the order of the results, and the end of the workers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from bnmind._workers import results_of
from tests.command_line import ROOT

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
def test_an_interrupt_of_workers_prints_nothing_else(tmp_path: Path) -> None:
    bank = ROOT / "models" / "banks" / "fractions.json"
    program = subprocess.Popen(
        [
            *(sys.executable, "-m", "bnmind", "simulate", str(bank), "--examinees", "100000"),
            *("--workers", "2", "--out", str(tmp_path / "results")),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    children = Path(f"/proc/{program.pid}/task")
    end = time.monotonic() + 60
    while sum(len((c / "children").read_text().split()) for c in children.iterdir()) < 3:
        assert time.monotonic() < end
        time.sleep(0.05)
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=60)
    assert program.returncode == 130
    assert errors.splitlines()[-1] == "interrupted"
    assert "Warning" not in errors
