"""How ``bnmind learn`` tells of starts and notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bnmind.adaptive import LearningNote, LearningRecord

__all__ = ["shortened", "starts_text"]

_STARTS_SHOWN = 10
_NAMES_SHOWN = 8


def starts_text(record: LearningRecord) -> str:
    """Return how the starts ended, in words."""
    n = len(record.starts)
    if n == 1:
        return " from one start"
    ends = [
        f"{end:.2f}" + (" (stopped early)" if number in record.stopped_early else "")
        for number, end in enumerate(record.starts[:_STARTS_SHOWN])
    ]
    more = f" and {n - _STARTS_SHOWN} more" if n > _STARTS_SHOWN else ""
    return (
        f", the best of {n} starts (number {record.best_start + 1}); they ended at"
        f" {', '.join(ends)}{more}"
    )


def shortened(note: LearningNote) -> str:
    """Return a note with the first of its names."""
    n = len(note.names)
    first = replace(note, names=note.names[:_NAMES_SHOWN], details=note.details[:_NAMES_SHOWN])
    return f"{first} and {n - _NAMES_SHOWN} more" if n > _NAMES_SHOWN else str(first)
