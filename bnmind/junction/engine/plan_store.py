"""A store of plans that stays within a number of bytes.

When a new plan does not fit, the store drops the plans that were used least recently. A store may
be used by several threads at once: they never make the same plan twice at the same time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

__all__ = ["PlanStore", "Stored"]


class Stored(NamedTuple):
    """A plan in a store."""

    plan: Any
    bytes: int
    """The bytes that the plan takes, see `bnmind.junction.engine.plan_bytes`."""
    title: str
    """The questions that the plan answers, in one line."""


@dataclass
class _Maker:
    """The threads that make a plan or wait for it."""

    lock: Lock = field(default_factory=Lock)
    threads: int = 0


class PlanStore:
    """Plans by key, the least recently used first.

    Parameters
    ----------
    most_bytes
        The most bytes of all plans together. A plan that is larger is made for each question anew.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._plans: OrderedDict[Hashable, Stored] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()
        self._makers: dict[Hashable, _Maker] = {}

    def get(self, key: Hashable, make: Callable[[], Stored]) -> Any:
        """Return the plan of a key; make it if the store does not hold it.

        If ``make`` raises an error, the store stays as it is.
        """
        with self._lock:
            found = self._plans.get(key)
            if found is not None:
                self._plans.move_to_end(key)
                return found.plan
            maker = self._makers.setdefault(key, _Maker())
            maker.threads += 1
        try:
            # Only threads that ask for the same plan wait for each other.
            with maker.lock:
                with self._lock:
                    found = self._plans.get(key)
                if found is None:
                    found = make()
                    self._put(key, found)
                return found.plan
        finally:
            with self._lock:
                maker.threads -= 1
                if not maker.threads:
                    del self._makers[key]

    def peek(self, key: Hashable) -> Any:
        """Return the plan of a key, or None; it then counts as used."""
        with self._lock:
            found = self._plans.get(key)
            if found is None:
                return None
            self._plans.move_to_end(key)
            return found.plan

    def held(self) -> tuple[Stored, ...]:
        """Return all plans, the least recently used first."""
        with self._lock:
            return tuple(self._plans.values())

    def _put(self, key: Hashable, stored: Stored) -> None:
        """Add a plan, and drop others until all fit."""
        if stored.bytes > self.most_bytes:
            return
        with self._lock:
            before = self._plans.pop(key, None)
            self._bytes += stored.bytes - (0 if before is None else before.bytes)
            self._plans[key] = stored
            while self._bytes > self.most_bytes:
                _, dropped = self._plans.popitem(last=False)
                self._bytes -= dropped.bytes
