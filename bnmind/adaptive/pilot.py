"""Pilot items: unscored new items in tests, and the rules that choose them.

Rules that choose which pilot item to ask.

==========================  ==============================================================
symbol                      name here
==========================  ==============================================================
q(c)                        ``masses``: the probability of each parent configuration of an
                            item, given the answers so far
L_k                         the deviations of the item's table; the covariance of its cells
                            is Σ_k L_k ⊗ L_k
P_r                         Σ_c q(c) E[θ_{c,r}], the predicted chance of response r
V_r                         Σ_k (Σ_c q(c) L_{k,c,r})², its variance by uncertain parameters
Σ_r V_r / (2 P_r ln 2)      the information of the answer about the item's parameters, in
                            bits, to second order
==========================  ==============================================================

The information is the mutual information of the answer and the parameters. An examinee whose
configuration is unknown tells less of each row, since V has the squares of q. It is the criterion
of D-optimal calibration (Jones and Jin 1994; Chang and Lu 2010) for one answer.

References
----------
D. Jones and Z. Jin, "Optimal sequential designs for on-line item estimation", Psychometrika
1994; Y.-C. I. Chang and H.-Y. Lu, "Online calibration via variable length computerized adaptive
testing", Psychometrika 2010; P. Efraimidis and P. Spirakis, "Weighted random sampling with a
reservoir", Inf. Process. Lett. 2006 (drawing by weights).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._registry import Registered
from bnmind._values import Count, Value
from bnmind.adaptive.beliefs import MISSING, BatchBelief
from bnmind.adaptive.items.bank import ItemBank, table_deviations
from bnmind.adaptive.items.item import TableCertainty
from bnmind.adaptive.rules import Mask, asked_mask, begun_testlet, enemies_of, item_mask
from bnmind.adaptive.scores import Selections, Selector, best_of
from bnmind.adaptive.selectors import RandomItem, drawn, pilot_generator
from bnmind.errors import UnknownNameError
from bnmind.information import Floats


@dataclass(frozen=True)
class LeastCalibrated(Selector):
    """Select items with few answers more often.

    The probability of an item is inversely proportional to the number of its answers so far, plus
    one. It is not always the item with the fewest: between two calibrations the bank does not
    change, and all examinees would be asked the same item.
    """

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Selections:
        """Return for each examinee an item drawn with these probabilities; ``luck`` is required."""
        known = [item.certainty for item in beliefs.bank.items]
        answers = np.array([0.0 if one is None else one.answers for one in known])
        scores = np.log(np.maximum(drawn(luck, allowed.shape), 1e-300)) * (answers + 1)
        return best_of(np.where(allowed, scores, -np.inf), allowed, 0.0)


@dataclass(frozen=True)
class MostInformativePilot(Selector):
    """Select the item whose answer is expected to tell most about its own parameters.

    The expected information depends on the belief about the examinee and on how sure the
    parameters are. Those of an item without a certainty are unknown: each row of its table has a
    flat distribution. Ties are broken at random. The scores are in bits, to second order.
    """

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Selections:
        """Return for each examinee the most informative item; ``luck`` is required."""
        bank, places = beliefs.bank, np.flatnonzero(allowed.any(axis=0))
        scores, masses = 1e-9 * drawn(luck, allowed.shape), beliefs.masses(places)
        for number, place in enumerate(places.tolist()):
            name = bank.item_names[place]
            channel, deviations = bank.channel(name), _deviations(bank, name)
            own = masses[:, number, : len(channel)]
            predicted = own @ channel
            variance = (np.einsum("nc,kcr->nkr", own, deviations) ** 2).sum(axis=1)
            ratio = np.divide(variance, predicted, out=np.zeros_like(variance), where=predicted > 0)
            scores[:, place] += ratio.sum(axis=1) / (2 * np.log(2))
        return best_of(np.where(allowed, scores, -np.inf), allowed, 0.0)


@lru_cache(maxsize=2**10)
def _deviations(bank: ItemBank, name: str) -> Floats:
    """Return the deviations of an item's channel; of a flat distribution if nothing is known."""
    if bank.item(name).certainty is not None:
        return table_deviations(bank, name)
    n_configurations, n_responses = bank.channel(name).shape
    flat = TableCertainty(np.ones((n_configurations, n_responses)), tuple(range(n_configurations)))
    items = [replace(item, certainty=flat) if item.name == name else item for item in bank.items]
    return table_deviations(replace(bank, items=tuple(items)), name)


PILOT_RULES: Mapping[str, Registered[Selector]] = MappingProxyType(
    {
        "least-calibrated": Registered(
            "at random, items with few answers more often", LeastCalibrated
        ),
        "random": Registered("at random, all alike", RandomItem),
        "informative": Registered(
            "the item whose answer tells most about its parameters", MostInformativePilot
        ),
    }
)
"""The rule of each name."""


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
        The selector of the one to ask: `LeastCalibrated`, `RandomItem`, `MostInformativePilot`, or
        any other one.
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
    rule: Selector = field(default_factory=LeastCalibrated)
    count: bool = False
    complete: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        places = sorted(set(self.places)) or range(1, _WIDTH * self.number + 1)
        self._set(items=tuple(dict.fromkeys(self.items)), places=tuple(places))

    def _faults(self) -> Iterator[str]:
        for name, given in (("", self.items), ("places for ", self.places or range(self.number))):
            if (got := len(set(given))) < self.number:
                yield f"expected at least {self.number} {name}pilot items, got {got}"


def pilot_faults(pilot: PilotItems, bank: ItemBank) -> list[str]:
    """Return why pilot items do not fit a bank; empty if they do."""
    known = set(bank.item_names)
    unknown = [name for name in pilot.items if name not in known]
    problems = [str(UnknownNameError("item", name, bank.item_names)) for name in unknown]
    if not problems and len(pilot.items) == len(bank.items):
        problems.append("expected items that are not pilot items, got pilot items only")
    return problems


def drawn_places(
    pilot: PilotItems | None, seed: int, examinees: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return the questions of the pilot items in the tests of examinees, ``(examinees, number)``.

    Parameters
    ----------
    pilot
        The pilot items, if there are any.
    seed
        The seed of the design.
    examinees
        The numbers of the examinees in a simulation; 0 for a live test.
    """
    if pilot is None:
        return np.empty((len(examinees), 0), dtype=np.intp)
    rows = []
    for number in examinees.tolist():
        rng = pilot_generator(seed, examinee=number)
        rows.append(np.sort(rng.permutation(pilot.places)[: pilot.number]))
    return np.array(rows, dtype=np.intp).reshape(len(examinees), pilot.number)


def without_pilots(asked: NDArray[np.intp], mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the items asked that are not pilot items, in order, `MISSING` at the end."""
    if not mask.any():
        return asked
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
    mask = item_mask(bank, pilot.items)
    was_asked = asked_mask(bank, asked)
    n_given = (was_asked & mask).sum(axis=1)
    n_asked = (asked != MISSING).sum(axis=1)
    next_place = np.concatenate([places, np.full((len(places), 1), np.iinfo(np.intp).max)], axis=1)
    due = n_asked + 1 >= next_place[np.arange(len(asked)), np.minimum(n_given, pilot.number)]
    begun = begun_testlet(bank, without_pilots(asked, mask))
    due &= ~ended & ~(allowed & begun).any(axis=1)
    if pilot.complete:
        due |= ended & (n_given < pilot.number)
    open_items: NDArray[np.bool_] = due[:, None] & mask & available & ~was_asked
    return open_items & ~enemies_of(bank, was_asked)
