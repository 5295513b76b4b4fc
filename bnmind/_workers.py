"""Tasks on processes, on a Dask cluster, or on any executor of the standard library.

`results_of` and `finished_of` distribute tasks. Their ``workers`` are a number of processes on this
machine, or an `Executor`, of which `Cluster` is one. The results are those of the tasks, so they do
not depend on where the tasks run. `one_blas_thread` keeps the products of a task on its own core.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pickle import PicklingError
from typing import Any, TypeVar

from bnmind._files import remove_own
from bnmind._front_door import installed_version
from bnmind.errors import InvalidArgumentError, MissingLibraryError, WorkersError

_Result = TypeVar("_Result")

_CHECK = 0.5
"""Seconds between two checks whether the program still runs."""

_IDLE = 300
"""Seconds after which processes without a task end."""

_CONNECT = 10
"""Seconds to wait for the scheduler of a cluster, and for its first worker."""

_MOST_ENDS = 3
"""Times that processes may end without a result in between; then a task is to blame."""

_LOCAL = re.compile(r"local:([1-9]\d{0,3})", re.ASCII)
_REMOTE = re.compile(r"(tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^\s/:@]+):\d{1,5}", re.ASCII)


def faults_of_workers(workers: int | Executor) -> list[str]:
    """Return what is wrong with a ``workers`` argument of the right type: at most one sentence."""
    if not isinstance(workers, int) or workers >= 1 or workers == -1:
        return []
    return [f"expected at least 1 worker, or -1 for all cores, got {workers}"]


def results_of(
    tasks: Sequence[Callable[[], _Result]], workers: int | Executor
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
    tasks: Sequence[Callable[[], _Result]], workers: int | Executor
) -> Generator[tuple[int, _Result]]:
    """Yield the number and the result of each task, from 0, as soon as it is finished.

    If a process or a worker of a cluster ends, its tasks run again. If the program is killed, its
    processes end within a second.

    Parameters
    ----------
    tasks
        The tasks: functions whose results depend on nothing but themselves. They are pickled,
        except in a single process.
    workers
        The number of processes; 1 runs the tasks in this process, and −1 uses all cores. Or an
        executor, which stays open.

    Raises
    ------
    WorkersError
        If the workers cannot be reached, or end again and again.
    InvalidArgumentError
        If the number is out of range, or a task cannot be pickled.
    """
    if faults := faults_of_workers(workers):
        raise InvalidArgumentError(faults[0], workers)
    if isinstance(workers, int):
        yield from _in_processes(tasks, workers)
        return
    left = dict(enumerate(tasks))
    try:
        yield from _run(left, workers)
    except BrokenExecutor as error:
        raise WorkersError(f"the workers of an executor ended: {error}", repr(workers)) from error


def _in_processes(
    tasks: Sequence[Callable[[], _Result]], workers: int
) -> Iterator[tuple[int, _Result]]:
    from joblib import cpu_count

    n_workers = min(len(tasks), workers if workers > 0 else cpu_count())
    if n_workers <= 1:
        yield from ((number, task()) for number, task in enumerate(tasks))
        return
    left, ends = dict(enumerate(tasks)), 0
    while left:
        before = len(left)
        processes = _processes(n_workers)
        try:
            # No more than loky passes on at once: its thread fails with a traceback if it is ended
            # while it holds tasks.
            yield from _run(left, processes, 2 * n_workers)
        except BrokenExecutor as error:
            ends = 1 if len(left) < before else ends + 1
            if ends == _MOST_ENDS:
                raise WorkersError(
                    f"a worker process ended {_MOST_ENDS} times while it ran the same tasks,"
                    " perhaps for lack of memory; use fewer workers",
                    "processes",
                ) from error
        finally:
            if left:  # those that still run are of no use
                processes.shutdown(kill_workers=True)


def _processes(n: int) -> Any:
    """Return the executor of this program's processes, which wait for the next tasks for a while.

    Together, they use as many threads for products of matrices as there are cores.
    """
    from joblib import cpu_count
    from joblib.externals.loky import get_reusable_executor

    threads = str(max(1, cpu_count() // n))
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    return get_reusable_executor(
        max_workers=n,
        timeout=_IDLE,
        initializer=_prepare,
        initargs=(os.getpid(),),
        env={name: os.environ.get(name, threads) for name in names},
    )


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
        time.sleep(_CHECK)
    remove_own()
    os._exit(1)


def _run(
    left: dict[int, Callable[[], _Result]], executor: Executor, at_once: int | None = None
) -> Iterator[tuple[int, _Result]]:
    """Yield the number and the result of each task; those that are not yielded stay in ``left``.

    At most ``at_once`` tasks are submitted at a time. Without such a limit, tasks that nobody waits
    for any more are canceled; with it, the executor is our own and is ended.
    """
    numbers: dict[Future[_Result], int] = {}
    tasks = iter(list(left.items()))
    try:
        numbers.update((executor.submit(task), n) for n, task in islice(tasks, at_once))
        while numbers:
            for future in wait(numbers, return_when=FIRST_COMPLETED).done:
                number = numbers.pop(future)
                result = future.result()
                del left[number], future
                yield number, result
                numbers.update((executor.submit(task), n) for n, task in islice(tasks, 1))
    except PicklingError as error:
        left.clear()  # hardly any of them runs, and the processes may stay
        at_once = None
        # The cause in a process is the text of its traceback, in quotes.
        reason = str(error.__cause__ or error).strip('\n"').rpartition("\n")[2]
        raise InvalidArgumentError(
            f"workers need tasks that can be pickled, and this one cannot: {reason}; use one"
            " worker, which is the program itself",
            reason,
        ) from error
    finally:
        if at_once is None:
            for future in numbers:
                future.cancel()


class Cluster(Executor):
    """A Dask cluster.

    It is an executor, which connects for its first task and disconnects at the end of a ``with``
    block. The scheduler gives the tasks of a worker that ends to the others. Workers need the same
    version of bnmind. Start them with one thread each: ``dask worker ADDRESS --nthreads 1``.
    On Linux, two variables make tasks faster; see docs/parallel.md.

    Parameters
    ----------
    address
        The address of a scheduler, such as ``tcp://10.0.0.1:8786``; or ``local:N``, which starts
        a scheduler and N workers on this machine. Programs that use ``local:N`` keep their main
        part under ``if __name__ == "__main__":``, because the workers import the program.

    Raises
    ------
    InvalidArgumentError
        If the address is none.
    MissingLibraryError
        If Dask is not installed.

    Examples
    --------
    >>> from bnmind.lab import Cluster
    >>> Cluster("nearby")
    Traceback (most recent call last):
    bnmind.errors.InvalidArgumentError: expected tcp://HOST:PORT or local:N as cluster, got 'nearby'
    """

    def __init__(self, address: str) -> None:
        if not isinstance(address, str) or not (
            _LOCAL.fullmatch(address) or _REMOTE.fullmatch(address)
        ):
            raise InvalidArgumentError(
                f"expected tcp://HOST:PORT or local:N as cluster, got {address!r}", address
            )
        if find_spec("distributed") is None:
            raise MissingLibraryError(
                'a cluster needs Dask; install it with: pip install "bnmind[distributed]"',
                "distributed",
            )
        self._address, self._open = address, ExitStack()
        self._client: Any = None

    @property
    def address(self) -> str:
        """The address."""
        return self._address

    def __repr__(self) -> str:
        return f"Cluster({self._address!r})"

    def submit(self, fn: Callable[..., _Result], /, *args: Any, **kwargs: Any) -> Future[_Result]:
        """Send a task to the scheduler; return its future.

        Parameters
        ----------
        fn, args, kwargs
            The function and its arguments.

        Raises
        ------
        WorkersError
            If there is no scheduler, or it has no workers, or workers with another version of
            bnmind. The future has one, too, if the connection is lost or a task ends several
            workers in turn.
        """
        from distributed.protocol.pickle import dumps

        if self._client is None:
            self._client = self._connected()
        try:
            # Dask would look into a task that is not pickled, and lose its large arrays with the
            # worker that it puts them on.
            task = dumps((fn, args, kwargs))
        except Exception as error:
            raise PicklingError(str(error)) from error
        found: Future[_Result] = Future()
        sent = self._client.submit(_call, task, pure=False)
        sent.add_done_callback(lambda one: self._tell(one, found))
        # The scheduler forgets a task whose future is.
        found.add_done_callback(lambda one: sent.cancel() if one.cancelled() else None)
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Disconnect; a local cluster ends.

        Parameters
        ----------
        wait, cancel_futures
            As for `concurrent.futures.Executor`; tasks that still run are always lost.
        """
        self._client = None
        self._open.close()

    def _tell(self, done: Any, found: Future[Any]) -> None:
        """Pass on the result of a task, or its error as one that says what to do."""
        from distributed import KilledWorker
        from distributed.comm import CommClosedError
        from distributed.protocol.pickle import loads

        if not found.set_running_or_notify_cancel():
            return
        try:
            found.set_result(loads(done.result()))
        except KilledWorker:
            found.set_exception(
                WorkersError(
                    f"several workers of {self._address} ended in turn while they ran the same"
                    " task, perhaps for lack of memory",
                    self._address,
                )
            )
        except BaseException as error:
            is_lost = isinstance(error, CancelledError | CommClosedError) or self._client is None
            if is_lost or self._client.status != "running":
                error = WorkersError(
                    f"the connection to the cluster {self._address} was lost", self._address
                )
            found.set_exception(error)

    def _connected(self) -> Any:
        """Return a client of the scheduler, which is started if it is a local one."""
        import dask
        import distributed

        local = _LOCAL.fullmatch(self._address)
        place: Any = self._address
        with ExitStack() as stack:
            stack.enter_context(_silence())
            if local is not None:
                # Dask has workers return freed memory to the system at once, and each larger
                # array then costs page faults: a quarter of the processor time of games.
                trim = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
                with self._told("start"), dask.config.set({trim: None}):
                    place = stack.enter_context(
                        distributed.LocalCluster(
                            n_workers=int(local[1]),
                            threads_per_worker=1,
                            processes=True,
                            dashboard_address=None,
                            # It has a port all the same, which another cluster may have taken.
                            scheduler_kwargs={"dashboard_address": ":0"},
                            # Workers are not paused or ended for their memory, as processes.
                            memory_limit=0,
                            silence_logs=logging.CRITICAL,
                        )
                    )
            with self._told("reach"):
                client = distributed.Client(place, timeout=_CONNECT, set_as_default=False)
            stack.enter_context(client)
            self._check(client)
            self._open = stack.pop_all()
        return client

    @contextmanager
    def _told(self, action: str) -> Iterator[None]:
        """Raise an error of the network as one of bnmind."""
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            reason = next(iter(str(error).splitlines()), "") or type(error).__name__
            raise WorkersError(
                f"cannot {action} the cluster {self._address}: {reason}", self._address
            ) from error

    def _check(self, client: Any) -> None:
        """Raise `WorkersError` unless there are workers, all with this version of bnmind."""
        try:
            client.wait_for_workers(1, timeout=_CONNECT)
        except TimeoutError as error:
            raise WorkersError(
                f"the cluster {self._address} has no workers; start some with: dask worker"
                f" {self._address} --nthreads 1",
                self._address,
            ) from error
        versions: Mapping[str, object] = client.run(installed_version, on_error="return")
        for worker, version in versions.items():
            if isinstance(version, ImportError):
                version = "none that it can import"
            if version != installed_version():
                raise WorkersError(
                    f"expected bnmind {installed_version()} on all workers of {self._address}, as"
                    f" here; {worker} has {version}",
                    self._address,
                )


def _call(task: bytes) -> bytes:
    """Run a task that was pickled, and pickle its result."""
    from distributed.protocol.pickle import dumps, loads

    function, args, kwargs = loads(task)
    found: bytes = dumps(function(*args, **kwargs))
    return found


@contextmanager
def _silence() -> Iterator[None]:
    """Keep Dask from writing to the error stream that workers ended; errors are raised."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread inside a ``with`` block, and as many as before after it.

    The products of learning take less than a millisecond each, and those of a plan with a small
    table wait for memory. BLAS shares such a product among all cores, and its threads wait for each
    other in busy loops. On a machine that does other work too, this takes many times longer than
    one thread, and it wastes the time of the other cores.
    """
    with _libraries().limit(limits=1):
        yield


@cache
def _libraries() -> Any:
    """Return the BLAS libraries that are loaded, at least that of NumPy."""
    import numpy  # noqa: F401 - loads it
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")
