"""The design of an adaptive test: the bank, the selector, the stopper and the rules.

`bnmind.adaptive.design_files` reads designs from files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Natural, Sealed, Value, sealed
from bnmind.adaptive.beliefs import BatchBelief, SkillBelief
from bnmind.adaptive.blueprint import Blueprint
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.pilot import (
    PilotItems,
    drawn_places,
    open_pilots,
    pilot_faults,
    without_pilots,
)
from bnmind.adaptive.rules import Enemies, Rule, Testlets, allowed_items, item_mask
from bnmind.adaptive.scores import MinimalEntropy, Selector
from bnmind.adaptive.selectors import ItemEligibility, eligibility_luck, generator_of
from bnmind.adaptive.stopping import (
    Reasons,
    Stopper,
    ending,
    most_items_of,
    rules_for_test,
)
from bnmind.errors import InvalidArgumentError

DEFAULT_RULES: tuple[Rule, ...] = (Enemies(), Testlets())
"""The default rules: no enemies together, testlets without interruption."""


@dataclass(frozen=True)
class Outlook(Value):
    """The open items of a test, or the reason why it is over."""

    allowed: tuple[str, ...]
    """The open items, in bank order."""
    stop_reason: str
    """The reason why the test is over; an empty text if it continues."""
    is_pilot: bool = field(default=False, kw_only=True)
    """Whether the open items are pilot items; see `PilotItems`."""


@dataclass(frozen=True, eq=False)
class Opening(Sealed):
    """The open items of some tests, or the reasons why the tests are over."""

    allowed: NDArray[np.bool_]
    """``(examinees, items)``, a mask of the open items."""
    reasons: Reasons
    """``(examinees,)``, the reason why each test is over; empty if it continues."""
    is_pilot: NDArray[np.bool_]
    """``(examinees,)``, whether the open items are pilot items."""

    def take(self, rows: NDArray[np.bool_]) -> Opening:
        """Return the part about some of the tests."""
        return Opening(self.allowed[rows], self.reasons[rows], self.is_pilot[rows])


@dataclass(frozen=True, kw_only=True)
class ReportOptions(Value):
    """The parts of the report of a live test that are shown."""

    skills: tuple[str, ...] = ()
    """The skills to report; default all."""
    answers: bool = True
    """Whether to report how surprising each answer is."""
    parameters: bool = False
    """Whether to report how far the probabilities are uncertain because the parameters are."""
    during: bool = False
    """Whether the pages of ``bnmind web`` show the examinee the skills, and the reason for each
    item, while the test goes on."""
    examinee: bool = True
    """Whether these pages show the examinee the report at the end."""


@dataclass(frozen=True, eq=False)
class Design(Value):
    """The design of an adaptive test.

    Parameters
    ----------
    bank
        The item bank.
    selector
        The selector; default `MinimalEntropy`.
    stopper
        The stopper; without one the test ends when no item may be asked.
    rules
        The rules, in the order of application; default `Enemies` and `Testlets`.
    seed
        At least 0; names the random numbers of selectors that draw. With the same seed,
        the same state of a test leads to the same item. Sessions save the seed.
    eligibility
        The exposure control that draws, before the test, the items that are eligible in it. If
        too few are eligible for the length of the test or its `Blueprint`, all items are.
    pilot
        New items that are asked to learn their parameters; they are in the bank, and rules,
        selector and stopper do not see them.
    report
        The parts of the report that are shown.
    text
        The content of the file that the design was read from, as JSON; see `read_design`.
        Sessions save it.

    Raises
    ------
    InvalidArgumentError
        If no test can meet a `Blueprint` among the rules; the message says why.
    """

    bank: ItemBank
    selector: Selector = field(default_factory=MinimalEntropy)
    stopper: Stopper | None = None
    rules: tuple[Rule, ...] = DEFAULT_RULES
    seed: Natural = field(default=0, kw_only=True)
    eligibility: ItemEligibility | None = field(default=None, kw_only=True)
    pilot: PilotItems | None = field(default=None, kw_only=True)
    report: ReportOptions = field(default_factory=ReportOptions, kw_only=True)
    text: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(rules=rules_for_test(self.bank, self.rules, self.stopper))
        if self.pilot and not self._can_be_met(self.operational):
            raise InvalidArgumentError(["without the pilot items, no test can meet the minima"])

    def _faults(self) -> list[str]:
        return pilot_faults(self.pilot, self.bank) if self.pilot else []

    @property
    def _pilots(self) -> tuple[str, ...]:
        return () if self.pilot is None else self.pilot.items

    @cached_property
    def operational(self) -> NDArray[np.bool_]:
        """A mask of the items that are not pilot items, ``(items,)``."""
        return sealed(~item_mask(self.bank, self._pilots))

    @cached_property
    def is_counted(self) -> NDArray[np.bool_]:
        """A mask of the items whose answers count for the belief and the report, ``(items,)``."""
        return sealed(self.operational | (self.pilot is not None and self.pilot.count))

    @checked
    def pilots_among(self, items: Sequence[str]) -> tuple[str, ...]:
        """Return the pilot items among some items, in the same order.

        Parameters
        ----------
        items
            Names of items.
        """
        return tuple(name for name in items if name in self._pilots)

    @checked
    def counted(self, given: Mapping[str, int | str]) -> Mapping[str, int | str]:
        """Return the responses that count for the belief and the report, by item.

        Parameters
        ----------
        given
            The position or the name of each response, by item.
        """
        if self.pilot is None or self.pilot.count:
            return given
        left_out = set(self._pilots)
        return {name: response for name, response in given.items() if name not in left_out}

    @checked
    def allowed(self, asked: Sequence[str], set_aside: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the items that the rules allow to be asked next, in bank order.

        Pilot items are not among them.

        Parameters
        ----------
        asked
            The items asked, in order.
        set_aside
            The items that exposure control withholds.
        """
        available = self._available(set_aside) & self.operational
        others = without_pilots(self._positions(asked), ~self.operational)
        mask = allowed_items(self.bank, self.rules, others, available=available)
        return self._names(mask[0])

    @checked
    def outlook(
        self, belief: SkillBelief, asked: Sequence[str] = (), set_aside: Sequence[str] = ()
    ) -> Outlook:
        """Return the open items, and the reason to stop if the test is over.

        The open items are those that `allowed` returns. While the stopper waits for the
        minima of a `Blueprint`, they are the items that the minima need. At the question of a
        pilot item they are the pilot items.

        Parameters
        ----------
        belief
            The belief about the examinee.
        asked, set_aside
            As for `allowed`.
        """
        opening = openings(
            self,
            belief.batch,
            self._positions(asked),
            available=self._available(set_aside),
            places=drawn_places(self.pilot, self.seed, np.zeros(1, dtype=np.intp)),
        )
        return Outlook(
            self._names(opening.allowed[0]),
            str(opening.reasons[0]),
            is_pilot=bool(opening.is_pilot[0]),
        )

    def _positions(self, asked: Sequence[str]) -> NDArray[np.intp]:
        return np.array([[self.bank.position(name) for name in asked]], dtype=np.intp)

    def _available(self, set_aside: Sequence[str]) -> NDArray[np.bool_]:
        withheld = set(set_aside)
        available = np.array([[name not in withheld for name in self.bank.item_names]])
        return available & self._eligible

    @cached_property
    def _eligible(self) -> NDArray[np.bool_]:
        return self.eligible(0)

    @checked
    def eligible(self, examinee: int) -> NDArray[np.bool_]:
        """Return a mask of the items that are eligible in a test, ``(items,)``.

        Pilot items always are.

        Parameters
        ----------
        examinee
            The number of the examinee in a simulation; 0 for a live test.
        """
        every = np.ones(len(self.bank.items), dtype=bool)
        if self.eligibility is None:
            return every
        luck = eligibility_luck(self.seed, len(self.bank.items), examinee=examinee)
        drawn = self.eligibility.draw(luck)
        enough = drawn.sum() >= (most_items_of(self.stopper) or 1)
        return drawn | ~self.operational if enough and self._can_be_met(drawn) else every

    def _can_be_met(self, available: NDArray[np.bool_]) -> bool:
        """Return whether some test with the available items ``(items,)`` meets all rules."""
        whole = (rule for rule in self.rules if isinstance(rule, Blueprint))
        return all(rule.can_be_met(self.bank, available) for rule in whole)

    def _names(self, mask: NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(self.bank.item_names[i] for i in np.flatnonzero(mask).tolist())

    @checked
    def rng(self, step: int) -> np.random.Generator:
        """Return the generator for a question, given the number of items asked before.

        The first examinee of a simulation with the same seed has the same generators.

        Parameters
        ----------
        step
            The number of items asked before, at least 0.

        Raises
        ------
        InvalidArgumentError
            If the step is negative.
        """
        if step < 0:
            raise InvalidArgumentError(f"expected a step of at least 0, got {step}", step)
        return generator_of(self.seed, step)


def openings(
    design: Design,
    beliefs: BatchBelief,
    asked: NDArray[np.intp],
    *,
    available: NDArray[np.bool_],
    places: NDArray[np.intp],
) -> Opening:
    """Return the open items of some tests, as `Design.outlook` does of one.

    Parameters
    ----------
    design
        The design.
    beliefs
        The belief about each examinee.
    asked
        ``(examinees, questions)`` positions of the items asked, in order; `MISSING` after the
        last one.
    available
        ``(examinees, items)``, a mask of the items that may be asked at all.
    places
        As `drawn_places` returns them.
    """
    found = ending(
        design.rules,
        design.stopper,
        beliefs,
        without_pilots(asked, ~design.operational),
        available=available & design.operational,
    )
    if design.pilot is None:
        return Opening(found.allowed, found.reasons, np.zeros(len(asked), dtype=bool))
    pilots = open_pilots(
        design.pilot,
        design.bank,
        asked,
        available=available,
        allowed=found.allowed,
        ended=found.reasons != "",
        places=places,
    )
    is_pilot = np.asarray(pilots.any(axis=1))
    allowed = np.where(is_pilot[:, None], pilots, found.allowed)
    return Opening(allowed, np.where(is_pilot, "", found.reasons), is_pilot)
