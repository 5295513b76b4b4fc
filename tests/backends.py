"""Executors for tests: work that is pickled for another process, and stays in this one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import cloudpickle  # type: ignore[import-untyped]

__all__ = ["Pickled"]


class Pickled(Executor):
    """An executor that pickles the tasks and their results, as processes do, in little time."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run the task at once."""
        future: Future[Any] = Future()
        try:
            result = cloudpickle.loads(cloudpickle.dumps(fn))(*args, **kwargs)
            future.set_result(cloudpickle.loads(cloudpickle.dumps(result)))
        except Exception as error:
            future.set_exception(error)
        return future
