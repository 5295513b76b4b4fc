"""Work shared out among processes that end when the program ends, however it ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

__all__ = ["results_of"]

_Result = TypeVar("_Result")

_SECONDS = 0.5
"""Between two looks at whether the program still runs."""


def results_of(tasks: Sequence[Callable[[], _Result]], workers: int) -> Iterator[_Result]:
    """Yield the results of tasks, in their order.

    A worker whose program was killed, and could not tell it to end, ends within a second.

    Parameters
    ----------
    tasks
        The work; with several workers the tasks are pickled.
    workers
        How many processes share the work; 1 does it in this one, -1 takes all cores.
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
    """Let this process end soon after the program that it works for has ended."""
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(program,), daemon=True).start()


def _end_with(program: int) -> None:
    # A process whose parent has ended is given another one.
    while os.getppid() == program:
        time.sleep(_SECONDS)
    os._exit(1)
