"""The interface of stoppers, stoppers composed of others, and the end of a test.

A stopper returns the reason to stop as a text, or an empty text to continue. Rules restrict the
items that may be asked. In live tests and in simulations alike, they interact in one case: if a
rule still needs items that can be asked, such as the minima of a `Blueprint`, a satisfied stopper
waits, and only these items are open. Limits of length, cost and time do not wait, unless the
rule outweighs them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._messages import shown
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import Enemies, Rule, allowed_items, asked_mask
from bnmind.errors import InvalidArgumentError

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
class _Composed(Value, ABC):
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

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        return self._joined([stopper.stop(progress) for stopper in self.stoppers])

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        each = [stopper.stop_batch(progress).tolist() for stopper in self.stoppers]
        return np.array([self._joined(reasons) for reasons in zip(*each, strict=True)], dtype=str)

    @abstractmethod
    def _joined(self, reasons: Sequence[str]) -> str:
        """Return the reason of a test, given that of each stopper; empty to continue."""


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

    def _joined(self, reasons: Sequence[str]) -> str:
        return " and ".join(filter(None, reasons))

    def most_items(self) -> int | None:
        """Return the smallest number of items after which one of the stoppers ends every test."""
        known = (most_items_of(one) for one in self.stoppers)
        return min((most for most in known if most is not None), default=None)


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

    def _joined(self, reasons: Sequence[str]) -> str:
        return " and ".join(reasons) if all(reasons) else ""

    def most_items(self) -> int | None:
        """Return the number of items after which all stoppers end every test, if all do."""
        known = [most_items_of(one) for one in self.stoppers]
        each = [most for most in known if most is not None]
        return max(each) if len(each) == len(known) else None


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
    """

    function: Callable[[Progress], str | bool]
    reason: str = "the test's own rule says so"
    batch_function: Callable[[BatchProgress], Sequence[str] | NDArray[np.bool_]] | None = None

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
        if results.dtype.kind == "U":
            return results
        return reasons_where(results.astype(bool), self.reason)


NOTHING_LEFT = "no item is left that may be asked"
"""The reason of a test that ends because no item may be asked."""

EVERYTHING_ASKED = "every item was asked"
"""The reason of a test that ends because all items were asked."""


@runtime_checkable
class RuleOfWholeTest(Protocol):
    """A rule about the test as a whole, such as a `Blueprint`.

    It is checked before the test, and stoppers wait for the items that it needs.
    """

    def needed(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return a mask of the allowed items that the rule still needs, ``(examinees, items)``.

        Parameters
        ----------
        bank, asked, allowed
            As for `Rule.restrict`.
        """

    def for_test(
        self, bank: ItemBank, most_items: int | None, enemies: tuple[tuple[str, str], ...]
    ) -> Rule:
        """Return the rule for tests of at most a number of items; raises if no test meets it.

        Parameters
        ----------
        bank
            The item bank.
        most_items
            The number of items after which the test ends in any case; None if it may not.
        enemies
            Pairs of items that other rules do not allow together, beside those of the bank.
        """

    def can_be_met(self, bank: ItemBank, available: NDArray[np.bool_]) -> bool:
        """Return whether some test with the available items ``(items,)`` meets the rule."""


def rules_for_test(
    bank: ItemBank, rules: Sequence[Rule], stopper: Stopper | None
) -> tuple[Rule, ...]:
    """Return rules that know how long the test may be; see `RuleOfWholeTest.for_test`.

    Raises
    ------
    InvalidArgumentError
        If no test can meet a rule.
    """
    most = most_items_of(stopper)
    enemies = tuple(pair for rule in rules if isinstance(rule, Enemies) for pair in rule.pairs)
    return tuple(
        rule.for_test(bank, most, enemies) if isinstance(rule, RuleOfWholeTest) else rule
        for rule in rules
    )


@dataclass(frozen=True, eq=False)
class Ending(Value):
    """The open items of some tests, or the reasons why the tests are over."""

    allowed: NDArray[np.bool_]
    """``(examinees, items)``, a mask of the open items."""
    reasons: Reasons
    """``(examinees,)``, the reason why each test is over; empty if it continues."""


def ending(
    bank: ItemBank,
    rules: Sequence[Rule],
    stopper: Stopper | None,
    asked: NDArray[np.intp],
    *,
    available: ArrayLike,
    reasons_of: Callable[[Stopper, NDArray[np.bool_]], Reasons],
) -> Ending:
    """Return the open items of some tests, or the reasons why the tests are over.

    Parameters
    ----------
    bank
        The item bank.
    rules
        The rules, in the order of application.
    stopper
        The stopper; None to end a test only when no item may be asked.
    asked
        ``(examinees, questions)`` positions of the items asked, in order; `MISSING` after
        the last one.
    available
        ``(examinees, items)``, a mask of the items that may be asked at all.
    reasons_of
        A function of a stopper and a mask of the allowed items that returns the reasons.
    """
    allowed = allowed_items(bank, rules, asked, available=available)
    is_complete = asked_mask(bank, asked).all(axis=1)
    reasons = np.where(
        is_complete, EVERYTHING_ASKED, np.where(allowed.any(axis=1), "", NOTHING_LEFT)
    )
    if stopper is None or not len(asked):
        return Ending(allowed, reasons)
    stops = reasons_of(stopper, allowed)
    if (stops != "").any():
        needed = _needed(bank, rules, asked, available)
        waits = (stops != "") & needed.any(axis=1)
        stops = np.where(waits, "", stops)
        reasons = np.where(waits, "", reasons)
        allowed = np.where(waits[:, None], needed, allowed)
    return Ending(allowed, np.where(stops != "", stops, reasons))


def batch_ending(
    rules: Sequence[Rule],
    stopper: Stopper | None,
    beliefs: BatchBelief,
    asked: NDArray[np.intp],
    *,
    available: NDArray[np.bool_],
) -> Ending:
    """Return the same as `ending` by the beliefs about the examinees."""

    def reasons_of(stopper: Stopper, allowed: NDArray[np.bool_]) -> Reasons:
        was_asked = asked_mask(beliefs.bank, asked)
        return stopper.stop_batch(BatchProgress(beliefs, was_asked, allowed, asked))

    return ending(beliefs.bank, rules, stopper, asked, available=available, reasons_of=reasons_of)


def _needed(
    bank: ItemBank, rules: Sequence[Rule], asked: NDArray[np.intp], available: ArrayLike
) -> NDArray[np.bool_]:
    """Return a mask of the allowed items that rules still need, ``(examinees, items)``."""
    allowed = ~asked_mask(bank, asked) & np.asarray(available)
    waits = np.zeros((len(asked), 1), dtype=bool)
    for rule in rules:
        allowed = rule.restrict(bank, asked, allowed) & allowed
        if isinstance(rule, RuleOfWholeTest):
            needed = rule.needed(bank, asked, allowed) & allowed
            lacks = needed.any(axis=1, keepdims=True)
            allowed = np.where(lacks, needed, allowed)
            waits |= lacks
    result: NDArray[np.bool_] = allowed & waits
    return result
