"""Small item banks for checks, and tests of the same examinees, live and simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive import (
    MISSING,
    AbilityGrid,
    Design,
    Dina,
    Examinees,
    Item,
    ItemBank,
    Logistic,
    Selector,
    Sequential,
    Session,
    SimulationOptions,
    SkillBelief,
    Stopper,
    irt_bank,
    simulate,
    start_belief,
)
from bnmind.adaptive.selection.luck import generator_of

__all__ = [
    "Course",
    "answers_to",
    "live_tests",
    "simulated_tests",
    "standard_banks",
    "turned_banks",
]

_SEED = 7


@cache
def standard_banks() -> tuple[ItemBank, ...]:
    """Return banks of two skills, of one ability, of certain items, and of many responses."""
    equal = ItemBank.from_qmatrix([*_NEEDS, [1, 1]], guess=0.25, slip=0.25)
    curves = [Logistic(slope, at) for slope, at in ((1, 0), (2, -1), (0.5, 1), (1.5, 0.5))]
    ability = irt_bank(curves, AbilityGrid.normal(n_points=9))
    certain = ItemBank.from_qmatrix(_NEEDS, guess=0.0, slip=0.0)
    return _skills_in_order(0, 1), equal, ability, certain, _many_responses()


def _many_responses() -> ItemBank:
    """Return a bank of items of two, three and four responses, with a skill of three levels."""
    needs = [[2, 0], [1, 1], [0, 1], [2, 1]]
    models = []
    for row, n_steps in zip(needs, (2, 1, 3, 2), strict=True):
        levels = tuple(level for level in row if level)
        errors = ((0.05, 0.02), (0.1, 0.05), (0.2, 0.1))[:n_steps]
        models.append(Sequential(tuple(Dina(*error, required=levels) for error in errors)))
    return ItemBank.from_response_models(needs, models, levels=[3, 2])


@cache
def turned_banks() -> tuple[ItemBank, ItemBank]:
    """Return the same bank twice, with its skills in another order."""
    return _skills_in_order(0, 1), _skills_in_order(1, 0)


_NEEDS = ((1, 0), (1, 1), (0, 1), (1, 0), (0, 1))
_CHANCES = ((0.1, 0.2), (0.3, 0.1), (0.2, 0.05), (0.15, 0.15), (0.05, 0.3))


def _skills_in_order(*order: int) -> ItemBank:
    """Return a bank of two skills, in this order; costs and times differ by the item."""
    items = [
        Item(f"item_{n}", content="xyz"[n % 3], cost=0.1 * (1 + n % 2), time=0.3 + 0.1 * n)
        for n in range(1, 6)
    ]
    return ItemBank.from_qmatrix(
        [[row[skill] for skill in order] for row in _NEEDS],
        guess=[guess for guess, _ in _CHANCES],
        slip=[slip for _, slip in _CHANCES],
        items=items,
        skill_names=[f"skill_{skill + 1}" for skill in order],
    )


class Course(NamedTuple):
    """The course of a test."""

    asked: tuple[str, ...]
    """The items asked, in order."""
    reason: str
    """The reason to stop."""


@dataclass(frozen=True, eq=False)
class _DesignOfExaminee(Design):
    """A design with the luck of an examinee of a simulation."""

    number: int = 0

    def rng(self, step: int) -> np.random.Generator:
        """Return the generator of a question; a live test draws as the first examinee."""
        if self.number:
            return generator_of(self.seed, step, examinee=self.number)
        return super().rng(step)


def answers_to(bank: ItemBank, n: int, *, seed: int = 0) -> NDArray[np.intp]:
    """Return random responses to all items, ``(n, items)``; the first two rows are constant.

    Where items are certain, the others are answers of drawn examinees, since they must be possible.

    >>> answers_to(standard_banks()[0], 3).shape
    (3, 5)
    """
    widths = [len(bank.responses(name)) for name in bank.item_names]
    answers = np.random.default_rng(seed).integers(0, widths, (n, len(widths)))
    if any(not np.all(bank.channel(name) > 0) for name in bank.item_names):
        answers = np.array(Examinees.drawn(bank, n, seed=seed).responses)
    answers[:1], answers[1:2] = 0, np.array(widths) - 1
    return np.asarray(answers, dtype=np.intp)


def live_tests(
    bank: ItemBank,
    selector: Selector[SkillBelief],
    stopper: Stopper | None,
    answers: Sequence[Sequence[int]] | NDArray[np.intp],
) -> list[Course]:
    """Return the course of a live test of each examinee, question by question."""
    courses = []
    for number, row in enumerate(answers):
        design = _DesignOfExaminee(bank, selector, stopper, seed=_SEED, number=number)
        session = Session.start(design, belief=start_belief(bank))
        while not session.stop_reason:
            item = session.next_item()
            session = session.answer(item, int(row[bank.position(item)]))
        courses.append(Course(session.state.asked, session.stop_reason))
    return courses


def simulated_tests(
    bank: ItemBank,
    selector: Selector[SkillBelief],
    stopper: Stopper | None,
    answers: NDArray[np.intp],
) -> list[Course]:
    """Return the course of the test of each examinee in one simulation."""
    people = Examinees.recorded(bank, answers)
    options = SimulationOptions(rules=(), seed=_SEED)
    run = simulate(bank, people, {"x": selector}, stopper, options=options).runs[0]
    names = np.array(bank.item_names, dtype=object)
    return [
        Course(tuple(names[row[row != MISSING]]), str(reason))
        for row, reason in zip(run.asked, run.reasons, strict=True)
    ]
