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
    "EvidenceNamesError",
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
    "MissingLibraryError",
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


class EvidenceNamesError(InvalidArgumentError):
    """Findings that do not name the variables of a plan's evidence."""

    def __init__(
        self, missing: Iterable[str], unknown: Iterable[object], known: Iterable[str]
    ) -> None:
        self.missing = tuple(missing)
        """The evidence variables of the plan without a finding."""
        self.unknown = tuple(unknown)
        """The names that are not evidence of the plan."""
        self.known = tuple(known)
        """All evidence variables of the plan."""
        faults = []
        if self.missing:
            faults.append(f"missing: {_some_names(self.missing)}")
        if self.unknown:
            close = [(name, _close(name, self.known)) for name in self.unknown]
            names = [
                f"{shown(name)}{f' ({_question(found)})' if found else ''}" for name, found in close
            ]
            faults.append(f"unknown: {_some_names(names)}")
        if self.unknown and not self.missing:
            faults.append(f"the plan's evidence is {_some_names(self.known) or 'empty'}")
        super().__init__(
            f"the findings do not match the plan's evidence; {'; '.join(faults)}",
            (*self.missing, *self.unknown),
        )

    def _asked(self, name: object) -> str:
        """Return an unknown name with the question whether a close one is meant."""
        close = _close(name, self.known)
        return f"{shown(name)} ({_question(close)})" if close else shown(name)


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


class MissingLibraryError(BnmindError, LookupError):
    """An optional library is needed and is not installed; `name` names it."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name
        """The library."""


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
        among = _some_names(self.known)
        article = "an" if kind[:1] in "aeiou" else "a"
        question = f"; {_question(self.close)}" if self.close else ""
        super().__init__(f"expected {article} {kind} among {among}; got {shown(name)}{question}")


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


def _some_names(names: tuple[str, ...] | list[str]) -> str:
    """Return the first twelve of some names, separated by commas."""
    some = [one_line(name, longest=100) for name in names[:12]]
    return ", ".join(some) + (", …" if len(names) > 12 else "")


def _question(close: tuple[str, ...]) -> str:
    """Return the question whether a close name is meant; empty if there is none."""
    if not close:
        return ""
    *others, last = (one_line(name, longest=60) for name in close)
    return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
