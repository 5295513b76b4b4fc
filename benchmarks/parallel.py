"""How much faster two workers are than one: processes, and Dask on this machine.

An experiment with games of Mastermind is run by one process, by two, and by two workers of a Dask
cluster that is started for it. The rows must be the same. The command prints for each:

* the seconds that passed;
* the seconds without the time that workers waited for a core while they were ready to run. Linux
  counts this time (``/proc/self/schedstat``). On a machine with nothing else to do, both are equal;
  on a busy one, the second is what an idle one would need;
* the processor time of the tasks, and that of all processes together.

At the end it prints the two ratios, and what they should be. Run it with
``python -m benchmarks.parallel --seconds 300``, which takes some 11 minutes on two cores.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from joblib.externals.loky import get_reusable_executor

from bnmind._workers import results_of
from bnmind.lab import (
    Batch,
    Cluster,
    GameExperiment,
    GameRow,
    GameSetting,
    Player,
)
from bnmind.mastermind import Board, Channel
from bnmind.strategies import Entropy, MapCode

SECONDS_A_GAME = 0.0008
"""Of one player, roughly."""
LEAST_SPEED = 1.7
"""How many times as fast as one process two should be."""
MOST_MORE = 0.15
"""The share of time that Dask may take more than processes."""


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

    rows: str
    """A digest of the rows, without measured seconds."""
    seconds: float
    alone: float
    """Seconds without the waits."""
    tasks: float
    """The processor time of the tasks."""
    processor: float
    """The processor time of this process and of those that it has started."""
    waiting: tuple[float, ...]


def processor() -> float:
    """Return the processor time of this process and of its children that have ended."""
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def run(experiment: GameExperiment, workers: int | Executor, n_workers: int) -> Run:
    tasks = [partial(measured, batch) for batch in experiment.batches()]
    before, start = processor(), time.perf_counter()
    waits: dict[int, float] = {}
    rows, used, digest = 0, 0.0, hashlib.sha256()
    for one in results_of(tasks, workers):
        waits[one.worker] = waits.get(one.worker, 0.0) + one.waited
        used += one.processor
        rows += len(one.rows)
        for row in one.rows:
            found = (row.strategy, row.game, row.seed, row.secret, row.guesses, row.won)
            digest.update(repr(found).encode())
    seconds = time.perf_counter() - start
    if isinstance(workers, Executor):
        workers.shutdown()
    elif workers > 1:
        get_reusable_executor().shutdown(wait=True)  # so that its processor time is counted
    assert rows == experiment.n_rows
    return Run(
        rows=digest.hexdigest(),
        seconds=seconds,
        alone=seconds - sum(waits.values()) / n_workers,
        tasks=used,
        processor=processor() - before,
        waiting=tuple(waits.values()),
    )


def said(name: str, one: Run, first: Run) -> str:
    waits = ", ".join(f"{wait:.1f}" for wait in one.waiting)
    return (
        f"{name:<14} {one.seconds:8.1f} {one.alone:8.1f} {first.seconds / one.seconds:7.2f}"
        f" {one.tasks:8.1f} {one.processor:8.1f}   {waits}"
    )


def judged(runs: Sequence[Run], n: int) -> str:
    """Return the ratios, measured and without waits for a core, and what they should be."""
    one, processes, dask = runs
    speeds = one.seconds / processes.seconds, one.alone / processes.alone
    more = dask.seconds / processes.seconds - 1, dask.alone / processes.alone - 1
    return (
        f"{n} processes are {speeds[0]:.2f} times as fast as one ({speeds[1]:.2f} without waits;"
        f" aim for 2: {LEAST_SPEED})\n"
        f"Dask takes {more[0]:+.1%} of the time of processes ({more[1]:+.1%} without waits; aim:"
        f" at most {MOST_MORE:+.0%}), its tasks {dask.tasks / processes.tasks - 1:+.1%} of the"
        " processor time"
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
    for batch in replace(experiment, games=50).batches():
        batch.run()  # the kernels are compiled now, if they never were
    print(f"{experiment.n_rows:,} games in {len(experiment.batches()):,} batches")
    print(
        f"{'':<14} {'seconds':>8} {'alone':>8} {'speed':>7} {'tasks':>8} {'in all':>8}   waited for"
        " a core"
    )
    runs: list[Run] = []
    for name, workers, number in (
        ("1 process", 1, 1),
        (f"{n} processes", n, n),
        (f"Dask local:{n}", Cluster(f"local:{n}"), n),
    ):
        if options.without_one and number == 1:
            continue
        runs.append(run(experiment, workers, number))
        assert runs[-1].rows == runs[0].rows, name
        print(said(name, runs[-1], runs[0]), flush=True)
    print("the rows are the same")
    if not options.without_one:
        print(judged(runs, n))


if __name__ == "__main__":
    main()
