"""Pilot items in a test: which, how many, and at which questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import listed
from bnmind._values import Count, Value
from bnmind.adaptive.beliefs.belief import MISSING, SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.pilot.rules import LeastCalibrated, PilotRule
from bnmind.adaptive.selection.rules import asked_mask
from bnmind.adaptive.selection.selector import Selection, pilot_generator
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats

__all__ = [
    "PilotItems",
    "check_pilots",
    "chosen_pilots",
    "drawn_places",
    "open_pilots",
    "pilot_faults",
    "pilot_mask",
    "selected_pilot",
    "without_pilots",
]

_WIDTH = 5
"""By default pilot items are among the first questions, one in this many."""


@dataclass(frozen=True)
class PilotItems(Value):
    """New items that are asked in a test to learn their parameters.

    Their answers are saved with the test. They do not count for the belief, for rules and
    stoppers, or for the report, unless ``count``. So the test of the other items is the same as
    without them. They are asked in addition to the length of the test.

    Parameters
    ----------
    items
        The names of the pilot items, which are in the bank, with parameters that may be guesses.
    number
        How many of them each test has.
    places
        The questions at which they may be asked, counted from 1; each test draws as many of them
        as it has pilot items. Default the first five questions for each pilot item.
    rule
        The rule that chooses which one to ask: `LeastCalibrated`, `RandomPilot`,
        `MostInformativePilot`, or one of your own.
    count
        Whether their answers count for the belief and the report, as those of other items.
    complete
        Whether a test that would end early asks the pilot items that are left before it ends.

    Raises
    ------
    InvalidArgumentError
        If there are fewer items or places than the number.

    Examples
    --------
    >>> from bnmind.adaptive import Design, ItemBank, MaximalItems, Session
    >>> bank = ItemBank.from_qmatrix([[1]] * 5, guess=0.2, slip=0.1)
    >>> pilot = PilotItems(("item_4", "item_5"), places=(2,))
    >>> session = Session.start(Design(bank, stopper=MaximalItems(2), pilot=pilot))
    >>> while not session.stop_reason:
    ...     session = session.answer(session.next_item(), 1)
    >>> session.state.asked, list(session.belief.responses)
    (('item_1', 'item_5', 'item_2'), ['item_1', 'item_2'])
    """

    items: tuple[str, ...]
    number: Count = 1
    _: KW_ONLY
    places: tuple[Count, ...] = ()
    rule: PilotRule = field(default_factory=LeastCalibrated)
    count: bool = False
    complete: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        places = sorted(set(self.places)) or range(1, _WIDTH * self.number + 1)
        self._set(items=tuple(dict.fromkeys(self.items)), places=tuple(places))

    def _faults(self) -> Iterator[str]:
        n, items, places = self.number, len(set(self.items)), len(set(self.places))
        if items < n:
            yield f"expected at least {n} pilot items, got {items}"
        if 0 < places < n:
            yield f"expected at least {n} places for pilot items, got {places}"


def pilot_faults(pilot: PilotItems, bank: ItemBank) -> list[str]:
    """Return why pilot items do not fit a bank; empty if they do."""
    known = set(bank.item_names)
    unknown = [name for name in pilot.items if name not in known]
    problems = [str(UnknownNameError("item", name, bank.item_names)) for name in unknown]
    if not problems and len(pilot.items) == len(bank.items):
        problems.append("expected items that are not pilot items, got pilot items only")
    return problems


def check_pilots(pilot: PilotItems | None, bank: ItemBank) -> None:
    """Raise `InvalidArgumentError` if there are pilot items that do not fit a bank."""
    problems = [] if pilot is None else pilot_faults(pilot, bank)
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))


def pilot_mask(pilot: PilotItems, bank: ItemBank) -> NDArray[np.bool_]:
    """Return a mask of the pilot items of a bank, ``(items,)``."""
    names = set(pilot.items)
    return np.array([name in names for name in bank.item_names], dtype=bool)


def drawn_places(pilot: PilotItems, seed: int, examinees: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the questions of the pilot items in the tests of examinees, ``(examinees, number)``.

    Parameters
    ----------
    pilot
        The pilot items.
    seed
        The seed of the design.
    examinees
        The numbers of the examinees in a simulation; 0 for a live test.
    """
    rows = []
    for number in examinees.tolist():
        rng = pilot_generator(seed, examinee=number)
        rows.append(np.sort(rng.permutation(pilot.places)[: pilot.number]))
    return np.array(rows, dtype=np.intp).reshape(len(examinees), pilot.number)


def without_pilots(asked: NDArray[np.intp], mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the items asked that are not pilot items, in order, `MISSING` at the end."""
    kept = (asked != MISSING) & ~mask[np.maximum(asked, 0)]
    order = np.argsort(~kept, axis=1, kind="stable")
    others = np.take_along_axis(np.where(kept, asked, MISSING), order, axis=1)
    return others[:, : int(kept.sum(axis=1).max(initial=0))]


def open_pilots(
    pilot: PilotItems,
    bank: ItemBank,
    asked: NDArray[np.intp],
    *,
    available: NDArray[np.bool_],
    allowed: NDArray[np.bool_],
    ended: NDArray[np.bool_],
    places: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Return the pilot items of which one is to be asked next, ``(examinees, items)``.

    A row without any means that the next question is another item, or that the test is over. A
    testlet that has begun is not interrupted, and enemies of items asked are left out.

    Parameters
    ----------
    pilot, bank
        The pilot items and the bank.
    asked
        ``(examinees, questions)``, all items asked, in order, pilot items too.
    available
        ``(examinees, items)``, the items that may be asked at all.
    allowed
        ``(examinees, items)``, the other items that may be asked next.
    ended
        ``(examinees,)``, whether the test of the other items is over.
    places
        As `drawn_places` returns them.
    """
    mask = pilot_mask(pilot, bank)
    was_asked = asked_mask(bank, asked)
    n_given = (was_asked & mask).sum(axis=1)
    n_asked = (asked != MISSING).sum(axis=1)
    next_place = np.concatenate([places, np.full((len(places), 1), np.iinfo(np.intp).max)], axis=1)
    due = n_asked + 1 >= next_place[np.arange(len(asked)), np.minimum(n_given, pilot.number)]
    due &= ~ended & ~_inside_testlet(bank, without_pilots(asked, mask), allowed)
    if pilot.complete:
        due |= ended & (n_given < pilot.number)
    open_items: NDArray[np.bool_] = due[:, None] & mask & available & ~was_asked
    for place in np.flatnonzero(mask).tolist():
        hostile = [bank.position(name) for name in bank.enemies(bank.item_names[place])]
        if hostile:
            open_items[:, place] &= ~was_asked[:, hostile].any(axis=1)
    return open_items


def _inside_testlet(
    bank: ItemBank, others: NDArray[np.intp], allowed: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return whether the next item belongs to the testlet of the last one, ``(examinees,)``."""
    names = [item.testlet for item in bank.items]
    if not any(names) or not others.shape[1]:
        return np.zeros(len(others), dtype=bool)
    number = {name: place for place, name in enumerate(sorted({*names} - {""}))}
    of_item = np.array([number.get(name, MISSING) for name in names])
    n_others = (others != MISSING).sum(axis=1)
    last = others[np.arange(len(others)), np.maximum(n_others - 1, 0)]
    begun = np.where(n_others > 0, of_item[np.maximum(last, 0)], MISSING)
    same = (of_item == begun[:, None]) & (begun[:, None] != MISSING)
    result: NDArray[np.bool_] = (allowed & same).any(axis=1)
    return result


def chosen_pilots(
    pilot: PilotItems, bank: ItemBank, candidates: NDArray[np.bool_], masses: Floats, luck: Floats
) -> tuple[NDArray[np.intp], Floats]:
    """Return the pilot item for each examinee, and the scores of all, −inf where not open.

    Parameters
    ----------
    pilot, bank
        The pilot items and the bank.
    candidates
        ``(examinees, items)``, as `open_pilots` returns them; one at least in each row.
    masses
        ``(examinees, pilot items, configurations)``, in the order of the bank.
    luck
        ``(examinees, items)``, random numbers in [0, 1).
    """
    places = np.flatnonzero(pilot_mask(pilot, bank))
    scores = np.asarray(pilot.rule.pilot_scores(bank, places, masses, luck[:, places]))
    scores = np.where(candidates[:, places], scores, -np.inf)
    chosen: NDArray[np.intp] = places[np.argmax(scores, axis=1)]
    return chosen, scores


def selected_pilot(
    pilot: PilotItems, belief: SkillBelief, items: Sequence[str], *, rng: np.random.Generator
) -> Selection:
    """Return the pilot item to ask in a live test.

    Parameters
    ----------
    pilot
        The pilot items.
    belief
        The belief about the examinee.
    items
        The names of the open pilot items.
    rng
        One number is drawn for each item of the bank.
    """
    bank, wanted = belief.bank, set(items)
    names = [name for name in bank.item_names if name in set(pilot.items)]
    candidates = np.array([[name in wanted for name in bank.item_names]])
    luck = rng.random(len(bank.items))[None]
    chosen, scores = chosen_pilots(pilot, bank, candidates, belief.masses(names)[None], luck)
    item = bank.item_names[int(chosen[0])]
    pairs = zip(names, scores[0].tolist(), strict=True)
    of_open = {name: score for name, score in pairs if name in wanted}
    return Selection(
        item=item, items=tuple(of_open), scores=np.array([*of_open.values()]), tied=(item,)
    )
