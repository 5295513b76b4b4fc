"""Every error that bnmind raises on purpose.

All derive from `BnmindError`; each is also a `ValueError` or a `LookupError`, so
that callers who know nothing of bnmind still catch it. A message says what was
expected and what was got; what it speaks of is kept as an attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bnmind._messages import listed, one_line, shown

__all__ = [
    "BnmindError",
    "CancellationError",
    "FileWriteError",
    "ImpossibleEvidenceError",
    "InvalidArgumentError",
    "InvalidBoardError",
    "InvalidChannelError",
    "InvalidCodeError",
    "InvalidHistoryError",
    "InvalidModelError",
    "InvalidProbabilityError",
    "InvalidReplyError",
    "InvalidResponseError",
    "ModelFileError",
    "NothingToAskError",
    "ResponseTableError",
    "SessionFileError",
    "TooLargeError",
    "UnknownNameError",
]


class BnmindError(Exception):
    """The root of all errors that bnmind raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers pickle errors; attributes set by our constructors must survive.
        return (_rebuild, (type(self), self.args, dict(self.__dict__)))


def _rebuild(kind: type[BnmindError], args: tuple[Any, ...], state: dict[str, Any]) -> BnmindError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class _OffendingValueError(BnmindError, ValueError):
    """An error about one value, kept as `value`."""

    def __init__(self, message: str, value: object = None) -> None:
        super().__init__(message)
        self.value = value
        """What was got."""


class InvalidArgumentError(_OffendingValueError):
    """An argument of the wrong type or out of its range; all faults are listed at once."""


class InvalidBoardError(_OffendingValueError):
    """A board that cannot be: too few pegs or colors."""


class InvalidCodeError(_OffendingValueError):
    """A code that is not of the board, or text that is no code."""


class InvalidReplyError(_OffendingValueError):
    """A reply that the board or the channel cannot give, or text that is no reply."""


class InvalidResponseError(_OffendingValueError):
    """A response that an item cannot have, or to an item that has one already."""


class ResponseTableError(InvalidResponseError):
    """A table of the responses of examinees to items is invalid; all faults are listed at once."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        """Every fault found, a sentence each."""
        super().__init__(listed(self.problems), self.problems)


class InvalidHistoryError(_OffendingValueError):
    """Text that is no history of guesses and replies."""


class InvalidProbabilityError(_OffendingValueError):
    """A number or an array that is no probability, or does not sum to one."""


class InvalidChannelError(_OffendingValueError):
    """A description of noise that is not understood or does not fit the board."""


class ModelFileError(_OffendingValueError):
    """A file that cannot be read as, or cannot hold, a model."""

    def __init__(
        self,
        message: str,
        value: object = None,
        *,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message, value)
        self.line = line
        """The line of the fault in the file, from 1, if it has one."""
        self.column = column
        """The column of the fault in its line, from 1, if it has one."""


class SessionFileError(ModelFileError):
    """A file that is no session of this bank, or not a whole one."""


class FileWriteError(ModelFileError):
    """A file that cannot be written; `value` is its name."""


class NothingToAskError(BnmindError, LookupError):
    """An item is to be selected, and there is none left that may be asked."""


class InvalidModelError(BnmindError, ValueError):
    """A network, table or order that is not valid; all faults at once, the first ones told."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        """Every fault found, a sentence each."""
        super().__init__(listed(self.problems))


class ImpossibleEvidenceError(BnmindError, ValueError):
    """Evidence of probability zero."""

    def __init__(self, message: str, evidence: Mapping[str, object]) -> None:
        super().__init__(message)
        self.evidence = dict(evidence)
        """The findings that cannot hold together, {what: finding}."""


class CancellationError(BnmindError, ValueError):
    """Terms of both signs cancel, and too few digits of their sum are left to answer."""


class TooLargeError(BnmindError, ValueError):
    """Something that would not fit; raised before anything is allocated."""

    def __init__(self, message: str, *, needed: int, budget: int) -> None:
        super().__init__(message)
        self.needed = needed
        """What it would take, in the unit that the message names."""
        self.budget = budget
        """What was allowed, in the same unit."""


class UnknownNameError(BnmindError, LookupError):
    """A name that is not known: a variable, a state, a strategy."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        self.name = name
        """The name that was got."""
        self.known = tuple(known)
        """The names that would have been understood."""
        self.close = _close(name, self.known)
        """Those of them that are spelled much like it, the closest first; at most three."""
        some = [one_line(known, longest=60) for known in self.known[:12]]
        among = ", ".join(some) + (", …" if len(self.known) > 12 else "")
        article = "an" if kind[:1] in "aeiou" else "a"
        super().__init__(
            f"expected {article} {kind} among {among}; got {shown(name)}{_question(self.close)}"
        )


def _close(name: object, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names spelled much like one that is not known, upper case as lower case."""
    if not isinstance(name, str) or not 0 < len(name) <= 60 or name in known:
        return ()
    from difflib import get_close_matches

    # Comparing takes about ten microseconds a name.
    spelled: dict[str, str] = {}
    for text in known[:2000]:
        if isinstance(text, str) and len(text) <= 60:
            spelled.setdefault(text.casefold(), text)
    return tuple([spelled[found] for found in get_close_matches(name.casefold(), spelled)])


def _question(close: tuple[str, ...]) -> str:
    """Return the end of a message that asks whether a close name is meant."""
    if not close:
        return ""
    *others, last = (one_line(name, longest=60) for name in close)
    return f"; did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
