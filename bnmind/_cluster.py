"""Dask clusters as a backend: an existing scheduler, or one that is started for the work."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from bnmind._arguments import check_fields
from bnmind._front_door import installed_version
from bnmind.errors import InvalidArgumentError, MissingLibraryError, WorkersError

__all__ = ["Cluster"]

_LOCAL = re.compile(r"local:([1-9]\d{0,3})")
_REMOTE = re.compile(r"(tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^\s/:@]+):\d{1,5}")

_SECONDS = 10
"""Seconds to wait for the scheduler, and for its first worker."""


@dataclass(frozen=True)
class Cluster:
    """A Dask cluster.

    The scheduler gives the tasks of a worker that ends to the others. Workers need the same
    version of bnmind. Start them with one thread each: ``dask worker ADDRESS --nthreads 1``.
    On Linux, two variables make tasks faster; see docs/parallel.md.

    Parameters
    ----------
    address
        The address of a scheduler, such as ``tcp://10.0.0.1:8786``; or ``local:N``, which starts
        a scheduler and N workers on this machine for the duration of the work. Programs that use
        ``local:N`` keep their main part under ``if __name__ == "__main__":``, because the workers
        import the program.

    Raises
    ------
    InvalidArgumentError
        If the address is none.

    Examples
    --------
    >>> from bnmind.lab import Cluster
    >>> Cluster("tcp://10.0.0.1:8786")
    Cluster(address='tcp://10.0.0.1:8786')
    >>> Cluster("nearby")
    Traceback (most recent call last):
    bnmind.errors.InvalidArgumentError: expected tcp://HOST:PORT or local:N as cluster, got 'nearby'
    """

    address: str

    def __post_init__(self) -> None:
        check_fields(self)
        if not (_LOCAL.fullmatch(self.address) or _REMOTE.fullmatch(self.address)):
            raise InvalidArgumentError(
                f"expected tcp://HOST:PORT or local:N as cluster, got {self.address!r}",
                self.address,
            )

    def check_installed(self) -> None:
        """Raise `MissingLibraryError` unless Dask is installed."""
        _distributed()

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Yield a `joblib.Parallel` of the cluster's workers.

        Raises
        ------
        MissingLibraryError
            If Dask is not installed.
        WorkersError
            If there is no scheduler, or it has no workers, or workers with another version of
            bnmind; if the connection is lost; or if a task ends several workers in turn.
        """
        distributed = _distributed()
        from joblib import Parallel

        from bnmind._dask_backend import DaskBackend

        with ExitStack() as stack:
            stack.enter_context(_silence())
            client = stack.enter_context(self._connected(distributed))
            self._check(client)
            try:
                yield Parallel(backend=DaskBackend(client=client), return_as="generator_unordered")
            except distributed.KilledWorker as error:
                raise WorkersError(
                    f"several workers of {self.address} ended in turn while they ran the same"
                    " task, perhaps for lack of memory",
                    self.address,
                ) from error
            except Exception as error:
                if client.status == "running":
                    raise
                raise WorkersError(
                    f"the connection to the cluster {self.address} was lost", self.address
                ) from error

    @contextmanager
    def kept(self) -> Iterator[Cluster]:
        """Yield the cluster for several calls, so that ``local:N`` starts only once.

        Raises
        ------
        MissingLibraryError, WorkersError
            As for `opened`.
        """
        if not _LOCAL.fullmatch(self.address):
            yield self
            return
        with _silence(), self._started(_distributed()) as cluster:
            yield Cluster(cluster.scheduler_address)

    @contextmanager
    def _connected(self, distributed: Any) -> Iterator[Any]:
        """Yield a client of the scheduler, which is started if it is a local one."""
        with ExitStack() as stack:
            place: Any = self.address
            if _LOCAL.fullmatch(place):
                place = stack.enter_context(self._started(distributed))
            with self._told("reach"):
                client = distributed.Client(place, timeout=_SECONDS, set_as_default=False)
            yield stack.enter_context(client)

    @contextmanager
    def _started(self, distributed: Any) -> Iterator[Any]:
        """Yield a scheduler and workers that are started on this machine."""
        local = _LOCAL.fullmatch(self.address)
        assert local is not None
        with ExitStack() as stack:
            with self._told("start"):
                stack.enter_context(_usual_memory())
                cluster = stack.enter_context(
                    distributed.LocalCluster(
                        n_workers=int(local[1]),
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address=None,
                        # Workers are not paused or ended for their memory, as processes.
                        memory_limit=0,
                        silence_logs=logging.CRITICAL,
                    )
                )
            yield cluster

    @contextmanager
    def _told(self, action: str) -> Iterator[None]:
        """Raise an error of the network as one of bnmind."""
        try:
            yield
        except (OSError, RuntimeError, ValueError) as error:
            raise WorkersError(
                f"cannot {action} the cluster {self.address}: {_first_line(error)}", self.address
            ) from error

    def _check(self, client: Any) -> None:
        """Raise `WorkersError` unless there are workers, all with this version of bnmind."""
        try:
            client.wait_for_workers(1, timeout=_SECONDS)
        except TimeoutError as error:
            raise WorkersError(
                f"the cluster {self.address} has no workers; start some with: dask worker"
                f" {self.address} --nthreads 1",
                self.address,
            ) from error
        versions: Mapping[str, object] = client.run(installed_version, on_error="return")
        for worker, version in versions.items():
            if isinstance(version, ImportError):
                version = "none that it can import"
            if version != installed_version():
                raise WorkersError(
                    f"expected bnmind {installed_version()} on all workers of {self.address}, as"
                    f" here; {worker} has {version}",
                    self.address,
                )


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise MissingLibraryError(
            'a cluster needs Dask; install it with: pip install "bnmind[distributed]"',
            "distributed",
        ) from error
    return distributed


@contextmanager
def _usual_memory() -> Iterator[None]:
    """Let the workers that are started keep freed memory for their next arrays, as processes do.

    Dask has them return it to the system at once (``MALLOC_TRIM_THRESHOLD_``), and each larger
    array then costs page faults: in games of Mastermind a quarter of the processor time of tasks.
    """
    import dask

    name = "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_"
    with dask.config.set({name: None}):
        yield


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


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__
