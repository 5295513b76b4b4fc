"""Sequences that grow by one at the end and are never changed: each shares all but its last."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from bnmind._messages import counted

__all__ = ["History", "history_of"]

_Part = TypeVar("_Part")


class History(Generic[_Part]):
    """A sequence that cannot be changed, as a chain from its last part to its first.

    `after` and `earlier` take a time that does not depend on the length; a tuple would be
    copied. An empty history is made by ``History()``.

    Examples
    --------
    >>> answers = History().after("yes").after("no")
    >>> answers.to_tuple(), answers.earlier.to_tuple()
    (('yes', 'no'), ('yes',))
    """

    __slots__ = ("_earlier", "_last", "_length")

    def __init__(self) -> None:
        self._earlier: History[_Part] | None = None
        self._last: _Part | None = None
        self._length = 0

    def after(self, part: _Part) -> History[_Part]:
        """Return the history with one more part."""
        longer: History[_Part] = History()
        longer._earlier, longer._last, longer._length = self, part, self._length + 1
        return longer

    @property
    def last(self) -> _Part:
        """The last part; IndexError if there is none."""
        if self._earlier is None:
            raise IndexError("an empty history has no last part")
        return self._last  # type: ignore[return-value]

    @property
    def earlier(self) -> History[_Part]:
        """The history without its last part; IndexError if there is none."""
        if self._earlier is None:
            raise IndexError("an empty history has no last part")
        return self._earlier

    def __len__(self) -> int:
        return self._length

    def to_tuple(self) -> tuple[_Part, ...]:
        """Return the parts in order, in a time proportional to their number."""
        parts = []
        history = self
        while history:
            parts.append(history.last)
            history = history.earlier
        return tuple(reversed(parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, History) and self.to_tuple() == other.to_tuple()

    def __hash__(self) -> int:
        return hash(self.to_tuple())

    def __repr__(self) -> str:
        return f"History({counted(self._length, 'part')})"

    def __reduce__(self) -> tuple[object, ...]:
        # Not link by link: pickle would recurse once for each.
        return (history_of, (self.to_tuple(),))


def history_of(parts: Iterable[_Part]) -> History[_Part]:
    """Return the history of some parts, the first of them first."""
    history: History[_Part] = History()
    for part in parts:
        history = history.after(part)
    return history
