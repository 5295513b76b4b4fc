"""Stopping a test: what is known when it is decided, and stoppers that are made of others.

A stopper returns the reason to stop, in words, or an empty text to go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_fields, checked, checked_if_it_fails
from bnmind._messages import shown
from bnmind._values import CheckedValue
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import InvalidArgumentError

__all__ = [
    "AllOf",
    "AnyOf",
    "BatchProgress",
    "Limiting",
    "Progress",
    "Reasons",
    "StopBy",
    "Stopper",
    "limits_of",
    "reasons_where",
]

Reasons: TypeAlias = NDArray[np.str_]
"""``(examinees,)`` reasons to stop; empty text to go on."""


@dataclass(frozen=True, eq=False)
class Progress(CheckedValue):
    """How far a test has come: all that a stopper is told."""

    belief: SkillBelief
    """What is known of the examinee."""
    asked: tuple[str, ...] = ()
    """The items asked, those skipped included."""
    allowed: tuple[str, ...] = ()
    """The items that may be asked next."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.belief.bank


@dataclass(frozen=True, eq=False)
class BatchProgress(CheckedValue):
    """How far the tests of many examinees have come."""

    beliefs: BatchBelief
    """What is known of each."""
    asked: NDArray[np.bool_]
    """``(examinees, items)``, which items were asked."""
    allowed: NDArray[np.bool_]
    """``(examinees, items)``, which may be asked next."""
    sequence: NDArray[np.intp] | None = None
    """``(examinees, questions)`` positions of the items asked, in order; `MISSING` after the
    last one. As in the bank unless given."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.beliefs.bank

    @checked
    def of(self, examinee: int) -> Progress:
        """Return how far the test of one examinee has come, the belief made anew."""
        if not 0 <= examinee < len(self.asked):
            raise InvalidArgumentError(
                f"expected an examinee below {len(self.asked)}, got {shown(examinee)}", examinee
            )
        names = self.bank.item_names
        row = np.flatnonzero(self.asked[examinee])
        if self.sequence is not None:
            row = self.sequence[examinee][self.sequence[examinee] != MISSING]
        return Progress(
            self.beliefs.alone(examinee),
            tuple(names[i] for i in row.tolist()),
            tuple(names[i] for i in np.flatnonzero(self.allowed[examinee]).tolist()),
        )


class Stopper(Protocol):
    """Says when a test is over."""

    def stop(self, progress: Progress) -> str:
        """Return why the test is over, in words; an empty text if it goes on."""

    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the same for many examinees, ``(examinees,)``."""


@runtime_checkable
class Limiting(Protocol):
    """A stopper of which a part ends a test whatever is still missing in it."""

    def limits(self) -> Stopper | None:
        """Return the part that does; None if there is none."""


def limits_of(stopper: Stopper) -> Stopper | None:
    """Return the part of a stopper that waits for nothing, such as a number of items.

    The other stoppers wait for the content minima of `ContentBalance`. None if there is no
    such part; a stopper of yours is one that waits, unless it has a method ``limits``.
    """
    return stopper.limits() if isinstance(stopper, Limiting) else None


def reasons_where(stops: NDArray[np.bool_], reason: str) -> Reasons:
    """Return a reason where tests stop, and an empty text elsewhere."""
    return np.where(stops, reason, "")


@dataclass(frozen=True)
class AnyOf:
    """Stop as soon as one of some stoppers does; the reason is that of the first that does.

    Parameters
    ----------
    stoppers
        One or more stoppers.

    Examples
    --------
    >>> from bnmind.adaptive import EntropyBelow, ItemBank, MaximalItems, Progress, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> stopper = AnyOf((MaximalItems(10), EntropyBelow(2.5)))
    >>> stopper.stop(Progress(start_belief(bank)))
    'the entropy of the skills is at most 2.5 bits'
    """

    stoppers: tuple[Stopper, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "stoppers", _some(self.stoppers))

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason of the first stopper that has one."""
        # All are asked, so that one that does not fit the bank is refused at once.
        reasons = [stopper.stop(progress) for stopper in self.stoppers]
        return next(filter(None, reasons), "")

    def limits(self) -> Stopper | None:
        """Return the limits among the stoppers, any of which ends a test; see `limits_of`."""
        parts = tuple(part for one in self.stoppers if (part := limits_of(one)) is not None)
        return AnyOf(parts) if parts else None

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return for each examinee the reason of the first stopper that has one."""
        found = self.stoppers[0].stop_batch(progress)
        for stopper in self.stoppers[1:]:
            found = np.where(found != "", found, stopper.stop_batch(progress))
        return found


@dataclass(frozen=True)
class AllOf:
    """Stop as soon as all of some stoppers do; the reason is all of theirs.

    Parameters
    ----------
    stoppers
        One or more stoppers.
    """

    stoppers: tuple[Stopper, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "stoppers", _some(self.stoppers))

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return all the reasons, if every stopper has one."""
        reasons = [stopper.stop(progress) for stopper in self.stoppers]
        return " and ".join(reasons) if all(reasons) else ""

    def limits(self) -> Stopper | None:
        """Return the limits, if every one of the stoppers has some; see `limits_of`."""
        parts = tuple(part for one in self.stoppers if (part := limits_of(one)) is not None)
        return AllOf(parts) if len(parts) == len(self.stoppers) else None

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return for each examinee all the reasons, if every stopper has one."""
        each = [stopper.stop_batch(progress).tolist() for stopper in self.stoppers]
        return np.array(
            [" and ".join(reasons) if all(reasons) else "" for reasons in zip(*each, strict=True)],
            dtype=np.str_,
        )


@dataclass(frozen=True)
class StopBy(CheckedValue):
    """Stop when a function of yours says so.

    Parameters
    ----------
    function
        From a `Progress` to the reason to stop, or an empty text; or to a truth value,
        for which ``reason`` stands.
    reason
        The reason if the function gives none in words.
    batch_function
        The same for a `BatchProgress`: ``(examinees,)`` reasons or truth values. Without it
        a simulation calls ``function`` for one examinee after the other, which takes long.
    is_limit
        Whether the test ends even if content minima are not met, as by a number of items.
    """

    function: Callable[[Progress], str | bool]
    reason: str = "the test's own rule says so"
    batch_function: Callable[[BatchProgress], Sequence[str] | NDArray[np.bool_]] | None = None
    is_limit: bool = field(default=False, kw_only=True)

    def limits(self) -> Stopper | None:
        """Return the stopper itself if it is a limit; see `limits_of`."""
        return self if self.is_limit else None

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return what the function says."""
        found = self.function(progress)
        return found if isinstance(found, str) else self.reason if found else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return what the function for batches says, or the other one of each examinee."""
        if self.batch_function is None:
            said = [self.stop(progress.of(number)) for number in range(len(progress.beliefs))]
            return np.array(said, dtype=np.str_)
        found = np.asarray(self.batch_function(progress))
        if found.shape != (len(progress.beliefs),):
            raise InvalidArgumentError(
                f"expected {len(progress.beliefs)} reasons, got an array of shape {found.shape}",
                found.shape,
            )
        return found if found.dtype.kind == "U" else reasons_where(found.astype(bool), self.reason)


def _some(stoppers: Iterable[Stopper]) -> tuple[Stopper, ...]:
    found = tuple(stoppers)
    if not found:
        raise InvalidArgumentError("expected at least one stopper, got none")
    return found
