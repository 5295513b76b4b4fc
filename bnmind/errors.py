"""The exceptions of bnmind.

All of them derive from `BnmindError`, and each is also a `ValueError` or a `LookupError`. A message
says what is wrong and how to correct it. Attributes hold the faults and the offending values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bnmind._messages import close_names, did_you_mean, listed, shown, some_names

__all__ = [
    "BnmindError",
    "CancellationError",
    "ContractError",
    "ImpossibleEvidenceError",
    "InvalidArgumentError",
    "InvalidModelError",
    "MissingLibraryError",
    "ModelFileError",
    "NothingToAskError",
    "TableError",
    "TooFewSamplesError",
    "TooLargeError",
    "UnknownNameError",
    "WorkersError",
]


class BnmindError(Exception):
    """The base class of all exceptions of bnmind."""

    def __init__(self, problems: str | Iterable[str] = "", value: object = None) -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        """Every fault found, a sentence each."""
        super().__init__(problems if isinstance(problems, str) else listed(self.problems))
        self.value = value
        """The offending value."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers pickle errors, and the attributes must survive.
        return (_rebuild, (type(self), self.args, dict(self.__dict__)))


def _rebuild(kind: type[BnmindError], args: tuple[Any, ...], state: dict[str, Any]) -> BnmindError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class InvalidArgumentError(BnmindError, ValueError):
    """An argument has the wrong type or is out of range, or arguments contradict each other."""


class InvalidModelError(BnmindError, ValueError):
    """A network, a table or an order is invalid."""


class TableError(InvalidArgumentError):
    """A table of cases or of responses is invalid. The message lists the first faults."""

    def __init__(self, problems: str | Iterable[str], *, count: int | None = None) -> None:
        super().__init__(problems)
        self.count = len(self.problems) if count is None else count
        """The number of all faults."""
        if (more := self.count - len(self.problems)) > 0:
            self.args = (f"{self}; and {more:,} more",)


class ContractError(BnmindError, ValueError, AssertionError):
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


class ModelFileError(BnmindError, ValueError):
    """A file cannot be read as what it should hold, cannot hold it, or cannot be written."""

    def __init__(
        self,
        problems: str | Iterable[str],
        value: object = None,
        *,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(problems, value)
        self.line = line
        """The line of the fault in the file, from 1, or None."""
        self.column = column
        """The column of the fault in its line, from 1, or None."""


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

    @classmethod
    def check(cls, message: str, *, needed: int, budget: int) -> None:
        """Raise the error if more is needed than the limit allows.

        Parameters
        ----------
        message
            What is too large, and what to do.
        needed, budget
            The cost and its limit, in the unit of the message.
        """
        if needed > budget:
            raise cls(message, needed=needed, budget=budget)


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
        among = some_names(self.known, longest=150)
        article = "an" if kind[:1] in "aeiou" else "a"
        question = f"; {did_you_mean(self.close)}" if self.close else ""
        if isinstance(name, str) and "," in name and not meant:
            parts = [part.strip() for part in name[:1000].split(",")]
            if all(part in self.known for part in parts):
                question = "; give them one by one"
        super().__init__(f"expected {article} {kind} among {among}; got {shown(name)}{question}")
