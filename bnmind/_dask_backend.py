"""joblib's backend for Dask, which reports the errors of the cluster and never works alone.

joblib is told only of tasks that end. It would wait forever for one that cannot end, because it
cannot be unpickled, ends every worker, or is lost with the scheduler. Imported only for clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from joblib._dask import DaskDistributedBackend

__all__ = ["DaskBackend"]


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
        future: Future[Any] = super().submit(func, callback)
        if callback is not None:
            future.add_done_callback(lambda done: _tell(done, callback))
        return future

    def retrieve_result_callback(self, out: Any) -> Any:
        """Return the results of a batch, or raise the error."""
        if isinstance(out, BaseException):
            raise out
        return super().retrieve_result_callback(out)


def _tell(done: Future[Any], callback: Callable[[Any], None]) -> None:
    error = done.exception()
    if error is not None:
        callback(error)
