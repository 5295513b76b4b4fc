"""joblib's backend for Dask, which reports the errors of the cluster and never works alone.

joblib is told only of tasks that end. It would wait forever for one that cannot end, because it
cannot be pickled, ends every worker, or is lost with the scheduler. Imported only for clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from distributed.protocol.pickle import dumps, loads
from joblib._dask import DaskDistributedBackend

from bnmind._workers import unpicklable

__all__ = ["DaskBackend"]


_SUBMIT = "submit" if "submit" in vars(DaskDistributedBackend) else "apply_async"
"""The method that sends a batch; joblib 1.5 deprecates the second, and has only that one."""


class DaskBackend(DaskDistributedBackend):  # type: ignore[misc]
    """joblib's backend for Dask, whose generator of results raises what goes wrong."""

    def effective_n_jobs(self, n_jobs: int) -> int:
        """Return the number of tasks that run at once; at least 2.

        joblib runs the tasks in the program itself if there is only one worker.
        """
        found: int = super().effective_n_jobs(n_jobs)
        return max(2, found)

    def submit(self, func: Any, callback: Callable[[Any], None] | None = None) -> Future[Any]:
        """Submit a batch of tasks; the callback gets its results, or the error of the cluster."""
        try:
            func.items = [
                (_Pickled(dumps(task)), args, kwargs) for task, args, kwargs in func.items
            ]
        except Exception as error:
            future: Future[Any] = Future()
            future.add_done_callback(lambda done: _tell(done, callback))
            future.set_exception(unpicklable(error))
            return future
        future = getattr(super(), _SUBMIT)(func, callback)
        future.add_done_callback(lambda done: _tell(done, callback))
        return future

    def retrieve_result_callback(self, out: Any) -> Any:
        """Return the results of a batch, or raise the error."""
        if isinstance(out, BaseException):
            raise out
        return [loads(result) for result in super().retrieve_result_callback(out)]


class _Pickled:
    """A task that is pickled before joblib sends it, and pickles its result.

    Pickling fails where the error is known to joblib.
    """

    __slots__ = ("pickled",)

    def __init__(self, pickled: bytes) -> None:
        self.pickled = pickled

    def __call__(self) -> bytes:
        found: bytes = dumps(loads(self.pickled)())
        return found


def _tell(done: Future[Any], callback: Callable[[Any], None] | None) -> None:
    error = done.exception()
    if error is not None and callback is not None:
        callback(error)
