"""The interface of stoppers, which end tests, and stoppers composed of others.

A stopper returns the reason to stop as a text, or an empty text to continue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._messages import shown
from bnmind._values import Value
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
    "most_items_of",
    "reasons_where",
]

Reasons: TypeAlias = NDArray[np.str_]
"""``(examinees,)`` reasons to stop; empty texts to continue."""


@dataclass(frozen=True, eq=False)
class Progress(Value):
    """The progress of a test, as input to a stopper."""

    belief: SkillBelief
    """The belief about the examinee."""
    asked: tuple[str, ...] = ()
    """The items asked, including skipped ones."""
    allowed: tuple[str, ...] = ()
    """The items that may be asked next."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.belief.bank


@dataclass(frozen=True, eq=False)
class BatchProgress(Value):
    """The progress of the tests of many examinees."""

    beliefs: BatchBelief
    """The belief about each examinee."""
    asked: NDArray[np.bool_]
    """``(examinees, items)``, a mask of the items asked."""
    allowed: NDArray[np.bool_]
    """``(examinees, items)``, a mask of the items that may be asked next."""
    sequence: NDArray[np.intp] | None = None
    """``(examinees, questions)`` positions of the items asked, in order; `MISSING` after the
    last one. Default the order of the bank."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.beliefs.bank

    @checked
    def of(self, examinee: int) -> Progress:
        """Return the progress of the test of one examinee.

        Parameters
        ----------
        examinee
            The position of the examinee, from 0.

        Raises
        ------
        InvalidArgumentError
            If there is no such examinee.
        """
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
    """The interface of stoppers."""

    def stop(self, progress: Progress) -> str:
        """Return the reason why the test is over; an empty text if it continues.

        Parameters
        ----------
        progress
            The items, responses and beliefs so far.
        """

    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons for many examinees, ``(examinees,)``; see `stop`.

        Parameters
        ----------
        progress
            The items, responses and beliefs so far.
        """


@runtime_checkable
class Limiting(Protocol):
    """A stopper with a part that ends a test even if content minima are not met."""

    def limits(self) -> Stopper | None:
        """Return that part; None if there is none."""


def limits_of(stopper: Stopper) -> Stopper | None:
    """Return the part of a stopper that does not wait for content minima; None if there is none.

    Limits such as `MaximalItems` do not wait for the minima of `ContentBalance`; other
    stoppers do. A stopper of your own waits unless it has a method ``limits``.
    """
    return stopper.limits() if isinstance(stopper, Limiting) else None


@runtime_checkable
class Bounding(Protocol):
    """A stopper that ends every test after some number of items."""

    def most_items(self) -> int | None:
        """Return that number; None if there is none."""


def most_items_of(stopper: Stopper | None) -> int | None:
    """Return the number of items after which a stopper ends every test; None if there is none."""
    return stopper.most_items() if isinstance(stopper, Bounding) else None


def reasons_where(stops: NDArray[np.bool_], reason: str) -> Reasons:
    """Return a reason where tests stop, and an empty text elsewhere."""
    return np.where(stops, reason, "")


@dataclass(frozen=True, init=False)
class _Composed(Value):
    stoppers: tuple[Stopper, ...]
    """One or more."""

    def __init__(
        self, *one_by_one: Stopper | Sequence[Stopper], stoppers: Sequence[Stopper] = ()
    ) -> None:
        if len(one_by_one) == 1 and isinstance(one_by_one[0], Sequence):
            one_by_one = tuple(one_by_one[0])
        object.__setattr__(self, "stoppers", one_by_one or stoppers)
        self._convert()
        object.__setattr__(self, "stoppers", tuple(self.stoppers))
        if not self.stoppers:
            raise InvalidArgumentError("no stoppers: at least one is needed")


@dataclass(frozen=True, init=False)
class AnyOf(_Composed):
    """Stop if at least one of several stoppers does; the reason joins those that stop.

    Parameters
    ----------
    *one_by_one
        One or more stoppers, or one sequence of them.
    stoppers
        The sequence by its name, instead.

    Examples
    --------
    >>> from bnmind.adaptive import EntropyBelow, ItemBank, MaximalItems, Progress, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> stopper = AnyOf(MaximalItems(10), EntropyBelow(2.5))
    >>> stopper.stop(Progress(start_belief(bank)))
    'the entropy of the skills is at most 2.5 bits'
    """

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reasons of all stoppers that have one."""
        return " and ".join(filter(None, [stopper.stop(progress) for stopper in self.stoppers]))

    def limits(self) -> Stopper | None:
        """Return the limits of all stoppers, any of which ends a test; see `limits_of`."""
        parts = tuple(part for one in self.stoppers if (part := limits_of(one)) is not None)
        return AnyOf(parts) if parts else None

    def most_items(self) -> int | None:
        """Return the smallest number of items after which one of the stoppers ends every test."""
        known = (most_items_of(one) for one in self.stoppers)
        return min((most for most in known if most is not None), default=None)

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return for each examinee the reasons of all stoppers that have one."""
        reasons = self.stoppers[0].stop_batch(progress)
        for stopper in self.stoppers[1:]:
            more = stopper.stop_batch(progress)
            both = (reasons != "") & (more != "")
            reasons = np.where(reasons != "", reasons, more)
            if both.any():
                joined = reasons.tolist()
                for row in np.flatnonzero(both).tolist():
                    joined[row] = f"{joined[row]} and {more[row]}"
                reasons = np.array(joined, dtype=np.str_)
        return reasons


@dataclass(frozen=True, init=False)
class AllOf(_Composed):
    """Stop if all of several stoppers do; the reason joins all their reasons.

    Parameters
    ----------
    *one_by_one
        One or more stoppers, or one sequence of them.
    stoppers
        The sequence by its name, instead.
    """

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return all reasons if every stopper has one, else an empty text."""
        reasons = [stopper.stop(progress) for stopper in self.stoppers]
        return " and ".join(reasons) if all(reasons) else ""

    def limits(self) -> Stopper | None:
        """Return the limits if every stopper has one, else None; see `limits_of`."""
        parts = tuple(part for one in self.stoppers if (part := limits_of(one)) is not None)
        return AllOf(parts) if len(parts) == len(self.stoppers) else None

    def most_items(self) -> int | None:
        """Return the number of items after which all stoppers end every test, if all do."""
        known = [most_items_of(one) for one in self.stoppers]
        each = [most for most in known if most is not None]
        return max(each) if len(each) == len(known) else None

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return for each examinee all reasons, if every stopper has one."""
        each = [stopper.stop_batch(progress).tolist() for stopper in self.stoppers]
        return np.array(
            [" and ".join(reasons) if all(reasons) else "" for reasons in zip(*each, strict=True)],
            dtype=np.str_,
        )


@dataclass(frozen=True)
class StopBy(Value):
    """Stop if a function says so.

    Parameters
    ----------
    function
        A function of a `Progress` that returns the reason to stop, or an empty text; or a
        truth value.
    reason
        The reason if the function returns True.
    batch_function
        An optional function of a `BatchProgress` that returns ``(examinees,)`` reasons or
        truth values. Without it a simulation calls ``function`` for each examinee, which
        is slower.
    is_limit
        Whether the test ends even if content minima are not met, as with `MaximalItems`.
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
        """Return the reason by the function."""
        result = self.function(progress)
        return result if isinstance(result, str) else self.reason if result else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons by the batch function, or by the function for each examinee.

        Raises
        ------
        InvalidArgumentError
            If the batch function does not return one reason for each examinee.
        """
        if self.batch_function is None:
            reasons = [self.stop(progress.of(number)) for number in range(len(progress.beliefs))]
            return np.array(reasons, dtype=np.str_)
        results = np.asarray(self.batch_function(progress))
        if results.shape != (len(progress.beliefs),):
            raise InvalidArgumentError(
                f"expected {len(progress.beliefs)} reasons, got an array of shape {results.shape}",
                results.shape,
            )
        return (
            results
            if results.dtype.kind == "U"
            else reasons_where(results.astype(bool), self.reason)
        )
