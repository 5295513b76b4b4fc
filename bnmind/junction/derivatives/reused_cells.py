"""Places in an array for parts that are needed only for a while."""

from __future__ import annotations

from bisect import bisect_left

__all__ = ["ReusedCells"]


class ReusedCells:
    """Gives parts of an array away and takes them back, so that a short array is enough.

    Examples
    --------
    >>> cells = ReusedCells()
    >>> cells.take(3), cells.take(2)
    (0, 3)
    >>> cells.give_back(0, 3)
    >>> cells.take(2), cells.take(2), cells.length
    (0, 5, 7)
    """

    def __init__(self) -> None:
        self.length = 0
        """The cells that the array must have."""
        self._starts: list[int] = []
        self._ends: list[int] = []

    def take(self, n: int) -> int:
        """Return the first of ``n`` cells, in the first gap that has so many, or at the end."""
        starts, ends = self._starts, self._ends
        for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
            if end - start >= n:
                starts[place] += n
                if starts[place] == end:
                    del starts[place], ends[place]
                return start
        start = self.length
        if ends and ends[-1] == start:  # the last gap grows
            start = starts.pop()
            ends.pop()
        self.length = start + n
        return start

    def give_back(self, start: int, n: int) -> None:
        """Take cells back, and join them with the gaps beside them."""
        starts, ends = self._starts, self._ends
        end = start + n
        place = bisect_left(starts, start)
        if place < len(starts) and starts[place] == end:
            end = ends[place]
            del starts[place], ends[place]
        if place and ends[place - 1] == start:
            ends[place - 1] = end
        else:
            starts.insert(place, start)
            ends.insert(place, end)
