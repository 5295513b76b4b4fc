"""One engine, one network, one kind of evidence, in a process of its own.

    python -m benchmarks.network_worker TASK.json

is what `benchmarks.run_networks` starts. It writes a line of JSON for each run to the
file that the task names, so that what was measured survives a process that is killed.
"""

from __future__ import annotations

import ctypes
import gc
import json
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from benchmarks.network_engines import ENGINES, MORE_ENGINES, Engine
from bnmind.information import Floats
from bnmind.pgm import Network
from tests.wheel import Question, ask

__all__ = ["Run", "Task", "answer_vector"]


@dataclass(frozen=True)
class Task:
    """What a process is told to do."""

    engine: str
    tables: str
    """File with the pickled network."""
    evidence: str
    out: str
    """File for a line of JSON after each run; the first answer goes to ``out`` + .npy."""
    warm: tuple[str, ...] = ()
    """Pickled networks to warm up with."""
    runs: int = 5
    cut_off: float = 120.0
    """Seconds after which a query is given up, unless it is deep in compiled code."""
    long: float = 20.0
    """Seconds of a query after which there is no second run."""
    memory: float = 12.0
    """Limit in GB, of address space."""


@dataclass(frozen=True)
class Run:
    """A first query and a second one."""

    first: float | None = None
    """Seconds, planning included; None if it did not end."""
    again: float | None = None
    """Seconds for new findings on what the first query left."""
    memory: float | None = None
    """MB at the peak of the first query above what was there before it."""
    finished: int = 0
    """Targets answered by the first query."""
    cells: int | None = None
    fault: str = ""
    """Why it did not end."""


class _CutOffError(BaseException):
    """The time is over; no `Exception`, so that no engine catches it."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _CutOffError

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


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


def _measure(engine: Engine, question: Question, cut_off: float) -> tuple[Run, list[Floats]]:
    """Return one run, and the marginals of its first query."""
    found: list[Floats] = []
    _settle()
    before = _peak()
    start = time.perf_counter()
    try:
        with _at_most(cut_off):
            for marginal in engine.first(question.findings, question.targets):
                found.append(marginal)
            first = time.perf_counter() - start
    except _CutOffError:
        return Run(memory=_peak() - before, finished=len(found), fault="cut off"), found
    memory, again, fault = _peak() - before, None, ""
    if question.findings:
        start = time.perf_counter()
        try:
            with _at_most(cut_off):
                list(engine.again(question.others, question.targets))
                again = time.perf_counter() - start
        except NotImplementedError:
            pass
        except _CutOffError:
            fault = "second query cut off"
    return Run(first, again, memory, len(found), engine.sizes().get("cells"), fault), found


def _guarded(step: Callable[[], tuple[Run, list[Floats]]]) -> tuple[Run, list[Floats]]:
    try:
        return step()
    except MemoryError:
        return Run(fault="out of memory"), []
    except Exception as fault:
        short = f"{type(fault).__name__}: {fault}"[:200]
        full = any(sign in short.lower() for sign in ("memory", "bad_alloc", "allocate"))
        return Run(fault="out of memory" if full else short), []


def main(path: str) -> None:
    raw: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    task = Task(**{**raw, "warm": tuple(raw["warm"])})
    limit = int(task.memory * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    make = (ENGINES | MORE_ENGINES)[task.engine]
    for warm in task.warm:
        other: Network = pickle.loads(Path(warm).read_bytes())
        for evidence in ("none", "leaves"):
            _guarded(lambda e=evidence, n=other: _measure(make(n), ask(n, e), task.cut_off))  # type: ignore[misc]
    dumped = Path(task.tables).read_bytes()
    network: Network = pickle.loads(dumped)
    question = ask(network, task.evidence)
    for number in range(task.runs):
        # A fresh copy, so that nothing is kept from run to run.
        run, found = _guarded(lambda: _measure(make(pickle.loads(dumped)), question, task.cut_off))
        if number == 0:
            np.save(f"{task.out}.npy", answer_vector(found, question, network))
        with Path(task.out).open("a", encoding="utf-8") as out:
            out.write(json.dumps(asdict(run)) + "\n")
        if run.fault or (run.first or 0) > task.long or (run.again or 0) > task.long:
            break


if __name__ == "__main__":
    main(sys.argv[1])
