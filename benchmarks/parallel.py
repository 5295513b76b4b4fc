"""How much faster two workers are than one: processes, and Dask on this machine.

An experiment with games of Mastermind is run by one process, by two, and by two workers of a Dask
cluster that is started for it. The rows must be the same. The command prints for each:

* the seconds that passed;
* the seconds without the time that workers waited for a core while they were ready to run. Linux
  counts this time (``/proc/self/schedstat``). On a machine with nothing else to do, both are equal;
  on a busy one, the second is what an idle one would need;
* the processor time of the tasks and of everything else.

Run it with ``python -m benchmarks.parallel --seconds 300``.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bnmind._workers import results_of
from bnmind.lab import (
    Backend,
    Batch,
    Cluster,
    GameExperiment,
    GameRow,
    GameSetting,
    Player,
    Processes,
)
from bnmind.mastermind import Board, Channel
from bnmind.strategies import Entropy, MapCode

SECONDS_A_GAME = 0.001
"""Of one player, roughly."""


@dataclass(frozen=True)
class Done:
    """What a worker did for a batch."""

    rows: tuple[GameRow, ...]
    worker: int
    seconds: float
    waited: float
    """Seconds in which the worker was ready to run, and had no core."""
    processor: float


def waited() -> float:
    """Return the seconds that the main thread of tasks has waited for a core."""
    path = Path("/proc/thread-self/schedstat")
    return int(path.read_text().split()[1]) / 1e9 if path.exists() else 0.0


def measured(batch: Batch) -> Done:
    start, wait, processor = time.perf_counter(), waited(), time.thread_time()
    rows = batch.run().rows
    return Done(
        rows,
        os.getpid(),
        time.perf_counter() - start,
        waited() - wait,
        time.thread_time() - processor,
    )


@dataclass(frozen=True)
class Run:
    """A run of the experiment."""

    rows: tuple[GameRow, ...]
    seconds: float
    alone: float
    """Seconds without the waits."""
    tasks: float
    """The processor time of the tasks."""
    waiting: tuple[float, ...]


def run(experiment: GameExperiment, workers: int | Backend, n_workers: int) -> Run:
    start = time.perf_counter()
    found = list(results_of([partial(measured, batch) for batch in experiment.batches()], workers))
    seconds = time.perf_counter() - start
    waits: dict[int, float] = {}
    for one in found:
        waits[one.worker] = waits.get(one.worker, 0.0) + one.waited
    return Run(
        rows=tuple(row for one in found for row in one.rows),
        seconds=seconds,
        alone=seconds - sum(waits.values()) / n_workers,
        tasks=sum(one.processor for one in found),
        waiting=tuple(waits.values()),
    )


def said(name: str, one: Run, first: Run) -> str:
    waits = ", ".join(f"{wait:.1f}" for wait in one.waiting)
    return (
        f"{name:<14} {one.seconds:8.1f} {one.alone:8.1f} {first.alone / one.alone:7.2f}"
        f" {one.tasks:8.1f}   {waits}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="of one process, roughly")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--without-one", action="store_true", help="leave out the single process")
    options = parser.parse_args(arguments)
    board = Board(4, 6)
    players = (Player(Entropy()), Player(MapCode()))
    setting = GameSetting(channel=Channel.false_reply(board, 0.2), players=players)
    games = max(100, int(options.seconds / SECONDS_A_GAME / len(players)))
    experiment = GameExperiment(settings=(setting,), games=games, seed=1)
    n = options.workers
    print(f"{experiment.n_rows:,} games in {len(experiment.batches()):,} batches")
    print(f"{'':<14} {'seconds':>8} {'alone':>8} {'speed':>7} {'tasks':>8}   waited for a core")
    first: Run | None = None
    for name, workers, number in (
        ("1 process", 1, 1),
        (f"{n} processes", Processes(n), n),
        (f"Dask local:{n}", Cluster(f"local:{n}"), n),
    ):
        if options.without_one and number == 1:
            continue
        found = run(experiment, workers, number)
        first = first or found
        assert found.rows == first.rows, name
        print(said(name, found, first), flush=True)
    own = resource.getrusage(resource.RUSAGE_SELF)
    print(f"the rows are the same; {own.ru_utime + own.ru_stime:.1f} s of the program itself")


if __name__ == "__main__":
    main()
