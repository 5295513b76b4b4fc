"""Distribution of work over processes, which end when the program ends, however it ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

__all__ = ["results_of"]

_Result = TypeVar("_Result")

_SECONDS = 0.5
"""Seconds between two checks whether the program still runs."""


def results_of(tasks: Sequence[Callable[[], _Result]], workers: int) -> Iterator[_Result]:
    """Yield the results of tasks, in their order.

    If the program is killed, its workers end within a second.

    Parameters
    ----------
    tasks
        The tasks. With several workers, they are pickled.
    workers
        The number of processes; 1 runs the tasks in this process, and -1 uses all cores.
    """
    # More workers than tasks would have nothing to do.
    workers = min(workers, len(tasks))
    if workers in (0, 1):
        yield from (task() for task in tasks)
        return
    from joblib import Parallel, delayed

    parallel = Parallel(
        n_jobs=workers, return_as="generator", initializer=_watch, initargs=(os.getpid(),)
    )
    yield from parallel(delayed(_result_of)(task) for task in tasks)


def _result_of(task: Callable[[], _Result]) -> _Result:
    return task()


def _watch(program: int) -> None:
    """End this process soon after its parent program has ended."""
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(program,), daemon=True).start()


def _end_with(program: int) -> None:
    # The parent of a process changes when the original parent ends.
    while os.getppid() == program:
        time.sleep(_SECONDS)
    os._exit(1)
