"""The progress of an ascent from several starts."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["AllStarts"]


class AllStarts:
    """The progress of all starts together, as far as it is known.

    Parameters
    ----------
    progress
        Called with the number of steps done, and an estimate of the number of all steps.
    starts
        The number of starts.
    """

    def __init__(self, progress: Callable[[int, int], None] | None, starts: int) -> None:
        self._progress, self._starts = progress, starts
        self._steps: list[int] = []

    def during_a_start(self, steps: int, expected: int) -> None:
        """Report the steps of a start, and how many it is expected to take."""
        if self._progress is not None:
            before = sum(self._steps)
            mean = (before + expected) / (len(self._steps) + 1)
            self._progress(before + steps, round(mean * self._starts))

    def after_a_start(self, steps: int) -> None:
        """Report the steps that a start took."""
        self._steps.append(steps)
        if self._progress is not None:
            done = sum(self._steps)
            self._progress(done, round(done / len(self._steps) * self._starts))
