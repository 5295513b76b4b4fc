"""Backends for tests: work that is pickled for another process, and stays in this one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import cloudpickle  # type: ignore[import-untyped]

__all__ = ["Pickled"]


@dataclass(frozen=True)
class Pickled:
    """A backend that pickles the tasks and their results, as processes do, in little time."""

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Yield a stand-in for `joblib.Parallel`."""
        yield _parallel


def _parallel(calls: Iterator[Any]) -> Iterator[Any]:
    for task, _, _ in calls:
        result = cloudpickle.loads(cloudpickle.dumps(task))()
        yield cloudpickle.loads(cloudpickle.dumps(result))
