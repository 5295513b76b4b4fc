"""Distribution of tasks over processes or over a cluster, with results in order.

`results_of` and `finished_of` are the only doors to joblib. Their ``workers`` are a number of
processes or a `Backend`, which says where joblib runs the tasks. The results are those of the
tasks, so they do not depend on the backend.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pickle import PicklingError
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from bnmind._arguments import check_fields
from bnmind._temporary_files import remove_own
from bnmind.errors import InvalidArgumentError, WorkersError

__all__ = [
    "Backend",
    "Processes",
    "WorkersEndedError",
    "faults_of_workers",
    "finished_of",
    "results_of",
    "unpicklable",
]

_Result = TypeVar("_Result")

_SECONDS = 0.5
"""Seconds between two checks whether the program still runs."""

_MOST_ENDS = 3
"""Times that workers may end without a result in between; afterwards a task is to blame."""


@runtime_checkable
class Backend(Protocol):
    """The place where tasks run, for every ``workers`` argument: `Processes` or `Cluster`."""

    def opened(self) -> AbstractContextManager[Any]:
        """Return a context whose value is a `joblib.Parallel` that returns a generator.

        It is called with joblib's tasks, and yields their results in any order:
        ``return_as="generator_unordered"`` yields each as soon as it is finished.

        Raises
        ------
        WorkersError
            If the workers cannot be reached, also later, while they are in use.
        """


class WorkersEndedError(Exception):
    """Workers ended while they ran tasks, which can run again; raised inside of a context."""


@dataclass(frozen=True)
class Processes:
    """Processes on this machine.

    Tasks of a process that ends, such as one that the system kills for its memory, run again.

    Parameters
    ----------
    workers
        The number of processes, at least 1; or −1, one for each core. A single one is the
        process of the program itself.

    Raises
    ------
    InvalidArgumentError
        If the number is out of range.

    Examples
    --------
    >>> from bnmind.lab import Processes
    >>> Processes(2)
    Processes(workers=2)
    """

    workers: int

    def __post_init__(self) -> None:
        check_fields(self)
        if problems := faults_of_workers(self.workers):
            raise InvalidArgumentError(problems[0], self.workers)

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Yield a `joblib.Parallel` of processes, which end if the program is killed."""
        from concurrent.futures.process import BrokenProcessPool

        from joblib import Parallel

        try:
            yield Parallel(
                n_jobs=self.workers,
                backend="loky",
                return_as="generator_unordered",
                initializer=_prepare,
                initargs=(os.getpid(),),
            )
        except BrokenProcessPool as error:
            raise WorkersEndedError(
                f"a worker process ended {_MOST_ENDS} times while it ran the same tasks, perhaps"
                " for lack of memory; use fewer workers"
            ) from error
        except PicklingError as error:
            raise unpicklable(error) from error


def unpicklable(error: Exception) -> InvalidArgumentError:
    """Return the error for a task that cannot be sent to a worker."""
    # The cause in a process is the text of its traceback, in quotes.
    reason = str(error.__cause__ or error).strip('\n"').rpartition("\n")[2]
    return InvalidArgumentError(
        f"workers need tasks that can be pickled, and this one cannot: {reason}; use one worker,"
        " which is the program itself",
        reason,
    )


def faults_of_workers(workers: int | Backend) -> list[str]:
    """Return what is wrong with a ``workers`` argument of the right type: at most one sentence."""
    if not isinstance(workers, int) or workers >= 1 or workers == -1:
        return []
    return [f"expected at least 1 worker, or -1 for all cores, got {workers}"]


def results_of(
    tasks: Sequence[Callable[[], _Result]], workers: int | Backend
) -> Generator[_Result]:
    """Yield the results of tasks, in their order.

    The parameters and the errors are those of `finished_of`.

    Examples
    --------
    >>> from functools import partial
    >>> list(results_of([partial(pow, 2, exponent) for exponent in range(5)], 1))
    [1, 2, 4, 8, 16]
    """
    early: dict[int, _Result] = {}
    done = 0
    with closing(finished_of(tasks, workers)) as finished:
        for number, result in finished:
            early[number] = result
            while done in early:
                yield early.pop(done)
                done += 1


def finished_of(
    tasks: Sequence[Callable[[], _Result]], workers: int | Backend
) -> Generator[tuple[int, _Result]]:
    """Yield the number and the result of each task, from 0, as soon as it is finished.

    If a worker ends, its tasks run again. If the program is killed, its processes end within a
    second.

    Parameters
    ----------
    tasks
        The tasks: functions whose results depend on nothing but themselves. They are pickled,
        except in a single process.
    workers
        The number of processes; 1 runs the tasks in this process, and −1 uses all cores. Or the
        backend.

    Raises
    ------
    WorkersError
        If the workers cannot be reached, or end again and again.
    InvalidArgumentError
        If a task cannot be pickled.
    """
    backend = Processes(workers) if isinstance(workers, int) else workers
    if isinstance(backend, Processes) and backend.workers > len(tasks):
        backend = Processes(max(1, len(tasks)))  # more would have nothing to do
    if backend == Processes(1):
        yield from ((number, task()) for number, task in enumerate(tasks))
        return
    left = dict(enumerate(tasks))
    ends = 0
    while left:
        before = len(left)
        try:
            for number, result in _finished(left, backend):
                del left[number]
                yield number, result
        except WorkersEndedError as error:
            ends = 1 if len(left) < before else ends + 1
            if ends == _MOST_ENDS:
                raise WorkersError(str(error), "processes") from error


def _finished(
    tasks: Mapping[int, Callable[[], _Result]], backend: Backend
) -> Iterator[tuple[int, _Result]]:
    calls: list[Any] = [(_Call(number, task), (), {}) for number, task in tasks.items()]
    with backend.opened() as parallel:
        results = parallel(iter(calls))
        try:
            # "yield from" would close them before the end is reached below.
            for result in results:  # noqa: UP028
                yield result
        finally:
            with warnings.catch_warnings():
                # Users may stop early, and joblib would warn that tasks are not finished.
                warnings.filterwarnings("ignore", ".*(but not used|cancelled)", UserWarning)
                results.close()


class _Call(Generic[_Result]):
    """A task as joblib should see it: without a name, content or arguments to look into.

    joblib's backend for Dask puts large arguments on a single worker, and they would be lost with
    that worker.
    """

    __slots__ = ("number", "task")

    def __init__(self, number: int, task: Callable[[], _Result]) -> None:
        self.number, self.task = number, task

    def __call__(self) -> tuple[int, _Result]:
        return self.number, self.task()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Call, (self.number, self.task)


def _prepare(program: int) -> None:
    """Let this process end soon after its parent program, and not before."""
    from joblib.externals.loky import process_executor

    # loky replaces processes that grow by 300 MB, with a warning. Ours grow as they remember what
    # they have computed, and another process would compute it again.
    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(program,), daemon=True).start()


def _end_with(program: int) -> None:
    # The parent of a process changes when the original parent ends.
    while os.getppid() == program:
        time.sleep(_SECONDS)
    remove_own()
    os._exit(1)
