"""One engine, one network, one kind of evidence, in a process of its own.

    python -m benchmarks.network_worker TASK.json

is what `benchmarks.run_networks` starts. What was measured goes into files as soon as it
is known, and so does what is being done: a process deep in compiled code can only be
stopped from outside.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from benchmarks.network_engines import ENGINES, MORE_ENGINES, Engine
from bnmind.information import Floats
from bnmind.pgm import Network
from tests.wheel import Question, ask

__all__ = ["Run", "Task", "Watch", "answer_vector"]


@dataclass(frozen=True)
class Task:
    """What a process is told to do."""

    engine: str
    tables: str
    """File with the pickled network."""
    evidence: str
    draw: int
    """Which draw of the evidence, from 1."""
    out: str
    """File for a line of JSON after each query, the last of a run being the one that holds.

    The first answer goes to ``out`` + .npy, and what is being done to ``out`` + .watch.
    """
    warm: tuple[str, ...] = ()
    """Pickled networks to warm up with."""
    runs: int = 5
    cut_off: float = 120.0
    """Seconds of the processor after which a query is given up, unless in compiled code."""
    long: float = 20.0
    """Seconds of a run after which there is no other."""
    memory: float = 12.0
    """Limit in GB, of address space."""


@dataclass(frozen=True)
class Run:
    """A first query and a second one."""

    number: int
    first: float | None = None
    """Seconds of the processor, planning included; None if it did not end."""
    again: float | None = None
    """Seconds for new findings on what the first query left."""
    memory: float | None = None
    """MB at the peak of the first query above what was there before it."""
    finished: int = 0
    """Targets answered by the first query."""
    cells: int | None = None
    fault: str = ""
    """Why it did not end."""


class Watch:
    """What a process is doing, in a file that others can read meanwhile.

    Two numbers: when the query began, by the system's monotonic clock (0 if there is
    none), and how many of its targets are answered.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(16))
        with path.open("r+b") as file:
            self._numbers = memoryview(mmap.mmap(file.fileno(), 16)).cast("d")

    def begin(self) -> None:
        """Note that a query begins."""
        self._numbers[1] = 0
        self._numbers[0] = time.monotonic()

    def answered(self, finished: int) -> None:
        """Note how many targets are answered."""
        self._numbers[1] = finished

    def end(self) -> None:
        """Note that there is no query any more."""
        self._numbers[0] = 0

    @property
    def seconds(self) -> float:
        """How long the query has been going on; 0 if there is none."""
        return time.monotonic() - self._numbers[0] if self._numbers[0] else 0.0

    @property
    def finished(self) -> int:
        """How many targets are answered."""
        return int(self._numbers[1])


class _CutOffError(BaseException):
    """The time is over; no `Exception`, so that no engine catches it."""


@contextmanager
def _at_most(seconds: float, watch: Watch) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _CutOffError

    # Processor time, as what is measured, so that other work on the machine cuts nothing off.
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    watch.begin()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        watch.end()


def _settle() -> None:
    """Give back what is free, and let the peak of memory begin anew where the system can."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak() -> float:
    """Return the peak of memory in MB."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def answer_vector(marginals: list[Floats], question: Question, network: Network) -> Floats:
    """Return all marginals in a row, NaN for those that are missing."""
    states = {v.name: v.n_states for v in network.variables}
    done = [np.ravel(marginal) for marginal in marginals]
    left = sum(states[name] for name in question.targets[len(done) :])
    return np.concatenate([*done, np.full(left, np.nan)])


def _first(
    number: int, engine: Engine, question: Question, cut_off: float, watch: Watch
) -> tuple[Run, list[Floats]]:
    """Return the first query of a run, and its marginals."""
    found: list[Floats] = []
    seconds, cells, fault = None, None, ""
    _settle()
    before = _peak()
    try:
        with _at_most(cut_off, watch):
            start = time.process_time()
            for marginal in engine.first(question.findings, question.targets):
                found.append(marginal)
                watch.answered(len(found))
            seconds = time.process_time() - start
        cells = engine.sizes().get("cells")
    except _CutOffError:
        fault = "cut off"
    except Exception as error:
        fault = _words(error)
    return Run(number, seconds, None, _peak() - before, len(found), cells, fault), found


def _again(run: Run, engine: Engine, question: Question, cut_off: float, watch: Watch) -> Run:
    """Return the run with its second query."""
    try:
        with _at_most(cut_off, watch):
            start = time.process_time()
            list(engine.again(question.others, question.targets))
            return replace(run, again=time.process_time() - start)
    except NotImplementedError:
        return run
    except _CutOffError:
        return replace(run, fault="second query cut off")
    except Exception as error:
        return replace(run, fault=f"second query {_words(error)}")


def _words(fault: Exception) -> str:
    short = f"{type(fault).__name__}: {fault}"[:200]
    full = any(sign in short.lower() for sign in ("memory", "bad_alloc", "allocate"))
    return "out of memory" if full else short


def _warm_up(task: Task, make: Callable[[Network], Engine]) -> None:
    for path in task.warm:
        network: Network = pickle.loads(Path(path).read_bytes())
        for evidence in ("none", "leaves"):
            engine, question = make(network), ask(network, evidence)
            list(engine.first(question.findings, question.targets))


def main(path: str) -> None:
    raw: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    task = Task(**{**raw, "warm": tuple(raw["warm"])})
    limit = int(task.memory * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    watch = Watch(Path(f"{task.out}.watch"))
    make = (ENGINES | MORE_ENGINES)[task.engine]
    _warm_up(task, make)
    dumped = Path(task.tables).read_bytes()
    network: Network = pickle.loads(dumped)
    question = ask(network, task.evidence, seed=task.draw)

    def write(run: Run) -> None:
        with Path(task.out).open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(run)) + "\n")

    for number in range(task.runs):
        # A fresh copy, so that nothing is kept from run to run.
        engine = make(pickle.loads(dumped))
        run, found = _first(number, engine, question, task.cut_off, watch)
        write(run)
        if number == 0:
            np.save(f"{task.out}.npy", answer_vector(found, question, network))
        if not run.fault and question.findings:
            run = _again(run, engine, question, task.cut_off, watch)
            write(run)
        if run.fault or (run.first or 0) + (run.again or 0) > task.long:
            break


if __name__ == "__main__":
    main(sys.argv[1])
