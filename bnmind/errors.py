"""The exceptions of bnmind.

All of them derive from `BnmindError`, and each is also a `ValueError` or a `LookupError`. A message
says what is wrong and how to correct it. Attributes hold the offending values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bnmind._messages import close_names, did_you_mean, listed, one_line, shown

__all__ = [
    "BnmindError",
    "CancellationError",
    "CaseTableError",
    "CertificateError",
    "ContractError",
    "DesignFileError",
    "EvidenceNamesError",
    "ExperimentFileError",
    "FileWriteError",
    "ImpossibleEvidenceError",
    "InfeasibleDesignError",
    "InvalidArgumentError",
    "InvalidModelError",
    "MissingLibraryError",
    "MissingLuckError",
    "ModelFileError",
    "NothingToAskError",
    "ResponseTableError",
    "SessionFileError",
    "StoreError",
    "TooFewSamplesError",
    "TooLargeError",
    "UnknownNameError",
    "WorkersError",
]


class BnmindError(Exception):
    """The base class of all exceptions of bnmind."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers pickle errors, and the attributes must survive.
        return (_rebuild, (type(self), self.args, dict(self.__dict__)))


def _rebuild(kind: type[BnmindError], args: tuple[Any, ...], state: dict[str, Any]) -> BnmindError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class _OffendingValueError(BnmindError, ValueError):
    """An error about one value, which is the attribute `value`."""

    def __init__(self, message: str, value: object = None) -> None:
        super().__init__(message)
        self.value = value
        """The offending value."""


class InvalidArgumentError(_OffendingValueError):
    """An argument has the wrong type or is out of range. The message lists all faults."""


class MissingLuckError(InvalidArgumentError):
    """A selector that draws was given no random numbers; `value` is None."""


class InfeasibleDesignError(InvalidArgumentError):
    """No test can meet all constraints of a design; `problems` lists the reasons."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        """Every reason found, a sentence each."""
        super().__init__(listed(self.problems), self.problems)


class EvidenceNamesError(InvalidArgumentError):
    """Findings do not match the evidence variables of a plan."""

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
            close = [(name, close_names(name, self.known)) for name in self.unknown]
            names = [
                f"{shown(name)}{f' ({did_you_mean(similar)})' if similar else ''}"
                for name, similar in close
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
        close = close_names(name, self.known)
        return f"{shown(name)} ({did_you_mean(close)})" if close else shown(name)


class ResponseTableError(InvalidArgumentError):
    """A table of responses of examinees to items is invalid. The message lists all faults."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        """Every fault found, a sentence each."""
        super().__init__(listed(self.problems), self.problems)


class CaseTableError(InvalidArgumentError):
    """A table of cases is invalid. The message lists the first faults, and their number."""

    def __init__(self, problems: Iterable[str], *, count: int | None = None) -> None:
        self.problems = tuple(problems)
        """The first faults found, a sentence each."""
        self.count = len(self.problems) if count is None else count
        """The number of all faults."""
        more = self.count - len(self.problems)
        super().__init__(
            f"{listed(self.problems)}{f'; and {more:,} more' if more > 0 else ''}", self.problems
        )


class CertificateError(BnmindError, ValueError):
    """A certificate does not prove its bound. The message names the first fault."""


class ContractError(_OffendingValueError, AssertionError):
    """A member of a family breaks a promise of the family; `value` is the member.

    It is an `AssertionError` too, so that a test that ends with it has failed.
    """

    def __init__(self, member: object, promise: str, example: str = "", *, family: str) -> None:
        shown_example = f" ({example})" if example else ""
        super().__init__(
            f"the {family} {shown(member)} breaks a promise: {promise}{shown_example}", member
        )
        self.family = family
        """The family, such as "selector"."""
        self.promise = promise
        """The promise that is broken."""
        self.example = example
        """The example that shows it; empty if no example is needed."""


class ModelFileError(_OffendingValueError):
    """A file cannot be read as a model, or cannot represent a model."""

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
        """The line of the fault in the file, from 1, or None."""
        self.column = column
        """The column of the fault in its line, from 1, or None."""


class SessionFileError(ModelFileError):
    """A file is not a session of this bank, or is damaged."""


class ExperimentFileError(ModelFileError):
    """A file is not an experiment, or a file cannot hold one. The message lists all faults."""

    def __init__(self, problems: Iterable[str], value: object = None) -> None:
        self.problems = tuple(problems)
        """Every fault found, a sentence each, with its place in the file."""
        super().__init__(listed(self.problems), value)


class DesignFileError(ModelFileError):
    """A file is not the design of a test of this bank. The message lists all faults."""

    def __init__(self, problems: Iterable[str], value: object = None) -> None:
        self.problems = tuple(problems)
        """Every fault found, a sentence each, with its place in the file."""
        super().__init__(listed(self.problems), value)


class StoreError(ModelFileError):
    """A directory of results cannot be used; `value` is its name."""


class FileWriteError(ModelFileError):
    """A file cannot be written; `value` is its name."""


class MissingLibraryError(BnmindError, LookupError):
    """An optional library is needed and is not installed; `name` names it."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name
        """The library."""


class WorkersError(BnmindError, LookupError):
    """Workers cannot be reached, or end again and again; `place` says where they are."""

    def __init__(self, message: str, place: str) -> None:
        super().__init__(message)
        self.place = place
        """The address of the cluster, or ``processes``."""


class NothingToAskError(BnmindError, LookupError):
    """No item is left that may be asked."""


class InvalidModelError(BnmindError, ValueError):
    """A network, a table or an order is invalid; `problems` lists all faults."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        """Every fault found, a sentence each."""
        super().__init__(listed(self.problems))


class ImpossibleEvidenceError(BnmindError, ValueError):
    """The evidence has probability zero."""

    def __init__(self, message: str, evidence: Mapping[str, object]) -> None:
        super().__init__(message)
        self.evidence = dict(evidence)
        """The findings that contradict each other, {variable: finding}."""


class CancellationError(BnmindError, ValueError):
    """A sum has too few correct digits: terms of opposite signs cancel, or are too small."""


class TooLargeError(BnmindError, ValueError):
    """A computation would exceed a limit; raised before anything is allocated."""

    def __init__(self, message: str, *, needed: int, budget: int) -> None:
        super().__init__(message)
        self.needed = needed
        """The cost, in the unit of the message."""
        self.budget = budget
        """The limit, in the same unit."""


class TooFewSamplesError(BnmindError, ValueError):
    """Random samples are worth too few for an estimate: draw more, or compute exactly."""

    def __init__(self, message: str, *, n_samples: int, effective_samples: float) -> None:
        super().__init__(message)
        self.n_samples = n_samples
        """The number of samples drawn."""
        self.effective_samples = effective_samples
        """The number of equally weighted samples that would be as good."""


class UnknownNameError(BnmindError, LookupError):
    """A name is unknown, such as that of a variable, a state or a strategy."""

    def __init__(self, kind: str, name: object, known: Iterable[str], *, meant: str = "") -> None:
        self.name = name
        """The unknown name."""
        self.known = tuple(known)
        """The known names."""
        self.close = (meant,) if meant else close_names(name, self.known)
        """At most three known names with a similar spelling, the closest first.

        If another program has its own word for a known name, only that name.
        """
        among = _some_names(self.known, longest=_ON_TWO_LINES)
        article = "an" if kind[:1] in "aeiou" else "a"
        question = f"; {did_you_mean(self.close)}" if self.close else ""
        if isinstance(name, str) and "," in name and not meant:
            parts = [part.strip() for part in name[:1000].split(",")]
            if all(part in self.known for part in parts):
                question = "; give them one by one"
        super().__init__(f"expected {article} {kind} among {among}; got {shown(name)}{question}")


_ON_TWO_LINES = 150
"""The characters of a list of names that is shown whole."""


def _some_names(names: tuple[str, ...] | list[str], *, longest: int = 0) -> str:
    """Return the first twelve of some names, separated by commas; all if they are short."""
    if 12 < len(names) <= longest // 3:
        text = ", ".join(one_line(name, longest=100) for name in names)
        if len(text) <= longest:
            return text
    some = [one_line(name, longest=100) for name in names[:12]]
    return ", ".join(some) + (", …" if len(names) > 12 else "")
