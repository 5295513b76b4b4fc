"""Detection of underflow, and the proof that lost numbers do not matter.

Products of many probabilities leave the range of floating-point numbers. Scaling by powers of two
prevents this, unless the numbers of one table are too far apart, as in the distribution of a sum of
a thousand votes. The smallest numbers are then lost, but usually do not matter for the result. A
second run rounds them up. Because no number is negative, it gives an upper bound of every sum, and
if this bound equals the sum, nothing is missing.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

__all__ = ["MATTERS", "PLAIN", "Arithmetic", "Underflow"]

MATTERS = 1 + 1e-13
"""The factor by which lost numbers may increase a sum before they matter."""

_SMALLEST = float(np.finfo(np.float64).tiny)


class Arithmetic(NamedTuple):
    """The treatment of numbers that are too small or too large."""

    scaled: bool = False
    """Whether powers of two keep every register near one."""
    rounds_up: bool = False
    """Whether lost numbers are rounded up, so that all sums are upper bounds."""


PLAIN = Arithmetic()


class Underflow:
    """A context manager that records whether NumPy operations within it underflow."""

    def __init__(self) -> None:
        self.has_lost = False
        """Whether any number has underflowed."""
        self._now = False

    def __enter__(self) -> Underflow:
        self._state = np.errstate(under="call", call=self._note)
        self._state.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._state.__exit__(kind, fault, where)

    def _note(self, kind: str, flag: int) -> None:
        self.has_lost = self._now = True

    def rounded_up(self, values: Any) -> Any:
        """Return the numbers, rounded up if any were lost since the last call."""
        if not self._now:
            return values
        self._now = False
        return np.maximum(values, _SMALLEST)

    def round_up(self, values: Any) -> None:
        """Round up numbers in place, if any were lost since the last call."""
        if self._now:
            self._now = False
            np.maximum(values, _SMALLEST, out=values)
