"""The tests of many examinees with one selector, question by question, in one batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief, Responses
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.response_errors import updated_batch_anyway
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.pilot.pilot_items import (
    PilotItems,
    chosen_pilots,
    drawn_places,
    open_pilots,
    pilot_mask,
    without_pilots,
)
from bnmind.adaptive.responses.examinees import Levels
from bnmind.adaptive.selection.luck import generator_of
from bnmind.adaptive.selection.rules import Rule, asked_mask
from bnmind.adaptive.selection.selector import Selector
from bnmind.adaptive.simulation.measures import Measure, Moment, Predictor
from bnmind.adaptive.stopping.ending import Ending, ending
from bnmind.adaptive.stopping.stopper import BatchProgress, Reasons, Stopper
from bnmind.information import Floats

__all__ = ["BatchOfTests", "TestProtocol", "run_batch"]


@dataclass(frozen=True, eq=False, kw_only=True)
class TestProtocol:
    """The settings that all tests of a simulation share."""

    __test__ = False  # pytest should not collect it

    prior: BatchBelief
    """The belief about one examinee who has answered nothing."""
    stopper: Stopper | None
    rules: tuple[Rule, ...]
    measures: tuple[Measure, ...]
    predictor: Predictor
    seed: int
    posteriors: bool = False
    """Whether to keep the probabilities of the skills at each step."""
    pilot: PilotItems | None = None
    """New items that are asked to learn their parameters."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.prior.bank


@dataclass(frozen=True, eq=False, kw_only=True)
class BatchOfTests:
    """The results of the tests of some examinees with one selector."""

    asked: NDArray[np.intp]
    """``(examinees, questions)`` positions of items, in order; `MISSING` after the last one."""
    reasons: Reasons
    """``(examinees,)``, the reason why each test ended."""
    set_aside: NDArray[np.bool_]
    """``(examinees, items)``, a mask of the items that exposure control withheld."""
    values: Floats
    """``(measures, examinees, 1 + questions)``; values do not change after the end of a test."""
    classified: Levels
    """``(examinees, skills)``, the most probable level of each skill at the end."""
    impossible: NDArray[np.bool_]
    """``(examinees,)``, whether no profile of the skills explains all answers."""
    profiles: Levels
    """``(examinees, skills)``, the most probable profile as a whole at the end."""
    probabilities: Floats
    """``(examinees,)``, its probability."""
    posteriors: Floats
    """``(examinees, 1 + questions, levels of all skills)``, or only those at the end."""


class _Luck:
    """The random numbers of some examinees at one step, drawn only if the selector uses them."""

    def __init__(self, seed: int, examinees: NDArray[np.intp], step: int, n_items: int) -> None:
        self.source = (seed, examinees, step, n_items)
        self.drawn: Floats | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self.drawn is None:
            seed, examinees, step, n_items = self.source
            self.drawn = np.empty((len(examinees), n_items))
            for row, number in zip(self.drawn, examinees.tolist(), strict=True):
                generator_of(seed, step, examinee=number).random(out=row)
        return np.asarray(self.drawn, dtype=dtype)


def run_batch(
    protocol: TestProtocol,
    selector: Selector[SkillBelief],
    numbers: NDArray[np.intp],
    *,
    responses: Responses,
    levels: Levels,
    abilities: Floats,
    eligible: NDArray[np.bool_],
) -> BatchOfTests:
    """Return the results of the tests of some examinees.

    Parameters
    ----------
    protocol
        The settings of all tests.
    selector
        The selector.
    numbers
        ``(examinees,)``, the numbers of the examinees, which determine their generators.
    responses, levels, abilities
        The answers, the true levels and the true abilities, a row for each examinee.
    eligible
        ``(examinees, items)``, a mask of the items that may be asked of each examinee.
    """
    bank, n = protocol.bank, len(numbers)
    beliefs = protocol.prior.take(np.zeros(n, dtype=np.intp))
    running = np.arange(n)
    asked = np.empty((n, 0), dtype=np.intp)
    aside = np.zeros(responses.shape, dtype=bool)
    reasons = np.full(n, "", dtype=object)
    classified = np.zeros(levels.shape, dtype=np.intp)
    impossible = np.zeros(n, dtype=bool)
    values: list[Floats] = []
    profiles, probabilities = np.zeros(levels.shape, dtype=np.intp), np.zeros(n)
    posteriors: list[Floats] = []
    pilots = _Pilots(protocol, numbers)
    while True:
        rows = running
        moment = Moment(
            beliefs=beliefs,
            responses=responses[rows],
            asked=asked_mask(bank, asked[rows]),
            levels=levels[rows],
            abilities=abilities[rows],
            predictor=protocol.predictor,
        )
        values.append(_measured(protocol.measures, moment, rows, values))
        if not posteriors:
            posteriors.append(moment.marginals.copy())
        elif protocol.posteriors:
            posteriors.append(posteriors[-1].copy())
            posteriors[-1][rows] = moment.marginals
        available = eligible[rows] & ~aside[rows]
        outlook = _ending(protocol, moment, pilots.without(asked[rows]), available & pilots.others)
        candidates = pilots.offered(rows, asked[rows], available, outlook)
        is_pilot = candidates.any(axis=1)
        allowed, ended = outlook.allowed, np.where(is_pilot, "", outlook.reasons)
        continues = ended == ""
        if not continues.all():
            reasons[rows[~continues]] = ended[~continues]
            ended_rows = rows[~continues]
            classified[ended_rows] = moment.classified[~continues]
            best = moment.profile
            profiles[ended_rows] = best.levels[~continues]
            probabilities[ended_rows] = best.probabilities[~continues]
            posteriors[-1][ended_rows] = moment.marginals[~continues]
            running, beliefs, allowed = rows[continues], beliefs.take(continues), allowed[continues]
            candidates = candidates[continues]
        if not len(running):
            break
        luck = _Luck(protocol.seed, numbers[running], len(values) - 1, len(bank.items))
        items, set_aside = pilots.selected(selector, beliefs, allowed, candidates, luck)
        asked = np.concatenate([asked, np.full((n, 1), MISSING)], axis=1)
        asked[running, -1] = items
        aside[running] |= set_aside
        answers = responses[running, items].astype(np.intp)
        beliefs = updated_batch_anyway(beliefs, pilots.counted(items), answers)
        impossible[running] = beliefs.error_chances > 0
    return BatchOfTests(
        asked=asked,
        reasons=reasons.astype(np.str_),
        set_aside=aside,
        values=np.stack(values, axis=2),
        classified=classified,
        impossible=impossible,
        profiles=profiles,
        probabilities=probabilities,
        posteriors=np.stack(posteriors, axis=1),
    )


class _Pilots:
    """The pilot items in the tests of some examinees."""

    def __init__(self, protocol: TestProtocol, numbers: NDArray[np.intp]) -> None:
        self.bank, self.pilot = protocol.bank, protocol.pilot
        self.mask = np.zeros(len(self.bank.items), dtype=bool)
        if self.pilot is not None:
            self.mask = pilot_mask(self.pilot, self.bank)
            self.places = drawn_places(self.pilot, protocol.seed, numbers)
        self.others = ~self.mask

    def without(self, asked: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the items asked that are not pilot items, in order."""
        return asked if self.pilot is None else without_pilots(asked, self.mask)

    def offered(
        self,
        rows: NDArray[np.intp],
        asked: NDArray[np.intp],
        available: NDArray[np.bool_],
        outlook: Ending,
    ) -> NDArray[np.bool_]:
        """Return the pilot items of which one is asked next, ``(examinees, items)``."""
        if self.pilot is None:
            return np.zeros(available.shape, dtype=bool)
        return open_pilots(
            self.pilot,
            self.bank,
            asked,
            available=available,
            allowed=outlook.allowed,
            ended=outlook.reasons != "",
            places=self.places[rows],
        )

    def selected(
        self,
        selector: Selector[SkillBelief],
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        candidates: NDArray[np.bool_],
        luck: _Luck,
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the next item of each examinee, and the items withheld from then on."""
        is_pilot = candidates.any(axis=1)
        if self.pilot is None or not is_pilot.any():
            selection = selector.select_batch(beliefs, allowed, luck=luck)
            return selection.items, selection.set_aside
        items, aside = np.empty(len(allowed), dtype=np.intp), np.zeros(allowed.shape, dtype=bool)
        drawn = np.asarray(luck)
        some = beliefs.take(is_pilot)
        masses = some.masses(np.flatnonzero(self.mask))
        items[is_pilot], _ = chosen_pilots(
            self.pilot, self.bank, candidates[is_pilot], masses, drawn[is_pilot]
        )
        if not is_pilot.all():
            rest = ~is_pilot
            selection = selector.select_batch(beliefs.take(rest), allowed[rest], luck=drawn[rest])
            items[rest], aside[rest] = selection.items, selection.set_aside
        return items, aside

    def counted(self, items: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the items whose answers count for the belief; `MISSING` for pilot items."""
        if self.pilot is None or self.pilot.count:
            return items
        return np.where(self.mask[items], MISSING, items)


def _measured(
    measures: Sequence[Measure], moment: Moment, rows: NDArray[np.intp], before: Sequence[Floats]
) -> Floats:
    """Return all measures, ``(measures, examinees)``; those of finished tests do not change."""
    now = before[-1].copy() if before else np.empty((len(measures), len(rows)))
    if len(rows):
        for row, measure in zip(now, measures, strict=True):
            row[rows] = measure.function(moment)
    return now


def _ending(
    protocol: TestProtocol,
    moment: Moment,
    asked: NDArray[np.intp],
    available: NDArray[np.bool_],
) -> Ending:
    """Return the open items of each test, or the reason for its end, as `Design.outlook`."""

    def reasons_of(stopper: Stopper, allowed: NDArray[np.bool_]) -> Reasons:
        plain = protocol.pilot is None
        was_asked = moment.asked if plain else asked_mask(protocol.bank, asked)
        return stopper.stop_batch(BatchProgress(moment.beliefs, was_asked, allowed, asked))

    return ending(
        protocol.bank,
        protocol.rules,
        protocol.stopper,
        asked,
        available=available,
        reasons_of=reasons_of,
    )
