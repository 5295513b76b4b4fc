"""A stopper by the change of the belief over the last answers: the plateau."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Lt
from numpy.typing import NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._values import Count, Value
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.beliefs.start import start_beliefs
from bnmind.adaptive.stopping.certainty import TOLERANCE
from bnmind.adaptive.stopping.stopper import BatchProgress, Progress, Reasons, reasons_where

__all__ = ["Plateau"]


@dataclass(frozen=True)
class Plateau(Value):
    """Stop if the last few answers have hardly changed the belief about any skill.

    The change is the total variation distance between the distributions of a skill before the
    last answers and now, which is the change of its probability if it has two levels.

    Parameters
    ----------
    change
        The largest change at which to stop, in [0, 1).
    answers
        The number of answers to look back, at least 1. Skipped items do not count.
    """

    change: Annotated[float, Ge(0), Lt(1)]
    answers: Count = 3

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        belief, bank = progress.belief, progress.bank
        given = tuple(belief.responses.items())
        if len(given) < self.answers:
            return ""
        earlier = belief
        for item, _ in given[-self.answers :]:
            earlier = earlier.without(item)
        change = max(
            float(np.abs(belief.marginal(skill) - earlier.marginal(skill)).sum()) / 2
            for skill in bank.skills
        )
        return self._reason if change <= self.change + TOLERANCE else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        beliefs, bank = progress.beliefs, progress.bank
        sequence = _sequence(progress)
        answered = (sequence != MISSING).sum(axis=1)
        rows = np.flatnonzero(answered >= self.answers)
        stops = np.zeros(len(beliefs), dtype=bool)
        if len(rows):
            now = beliefs.take(rows)
            before = start_beliefs(bank, len(rows)).with_errors(now.error_chances)
            last = (answered - self.answers)[rows]
            for question in range(int(last.max())):
                items = np.where(question < last, sequence[rows, question], MISSING)
                codes = now.responses[np.arange(len(rows)), np.maximum(items, 0)].astype(np.intp)
                before = before.update(items, np.where(items != MISSING, codes, MISSING))
            change = np.zeros(len(rows))
            for skill in bank.skills:
                moved = np.abs(now.marginal(skill) - before.marginal(skill)).sum(axis=1) / 2
                change = np.maximum(change, moved)
            stops[rows] = change <= self.change + TOLERANCE
        return reasons_where(stops, self._reason)

    @property
    def _reason(self) -> str:
        last = "last answer has" if self.answers == 1 else f"last {self.answers} answers have"
        return f"the {last} changed no skill by more than {self.change:g}"


def _sequence(progress: BatchProgress) -> NDArray[np.intp]:
    """Return the positions of the items answered, in order, ``(examinees, questions)``."""
    has_answer = progress.beliefs.responses != MISSING
    if progress.sequence is None:
        places = np.arange(has_answer.shape[1])
        order = np.argsort(np.where(has_answer, places, len(places)), axis=1, kind="stable")
        kept = np.take_along_axis(has_answer, order, axis=1)
        return np.where(kept, order, MISSING)
    sequence = progress.sequence
    answered = (sequence != MISSING) & np.take_along_axis(
        has_answer, np.maximum(sequence, 0), axis=1
    )
    order = np.argsort(~answered, axis=1, kind="stable")  # those answered first, in their order
    moved = np.take_along_axis(sequence, order, axis=1)
    return np.where(np.take_along_axis(answered, order, axis=1), moved, MISSING)
