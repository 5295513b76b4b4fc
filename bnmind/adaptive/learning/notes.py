r"""Notes on a learned bank: items and skills that deserve a look.

================  ===========================================================================
kind              meaning
================  ===========================================================================
``order``         whether more skill may lower the chance of success
``miskeyed``      items whose key looks wrong: able examinees succeed less often than others; and
                  what this does to the other items
``constant``      items with the same response of every examinee
``uninformative`` items whose responses tell almost nothing about the skills
``pooled``        items whose chances the order makes equal, against the responses
``boundary``      parameters at the least chance, or at another end of their range
``bounded``       parameters at a bound of `LearningOptions.bounds`
``independent``   skills that are taken as independent of each other
``unneeded``      skills about which no item tells anything
``one-sided``     skills that nearly everybody has, or lacks
``alike``         profiles that no item tells apart
``convergence``   the search ended before it converged
================  ===========================================================================

The item-rest correlation is that of an item's responses with the mean share of points in the other
items that the examinee answered (M. Henrysson, "Correction of item-total correlations in item
analysis", Psychometrika 1963).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Protocol

import numpy as np

from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.beliefs.estimates import has_ability
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import ParameterCertainty
from bnmind.adaptive.learning.em import Expectation, Parameters, ResponseLayout, TableExpectation
from bnmind.adaptive.learning.options import Bounds, LearningOptions
from bnmind.adaptive.learning.skill_families import SkillFamilies
from bnmind.adaptive.response_models.curves import GradedResponse, Logistic, PartialCredit
from bnmind.adaptive.responses.responses import Responses
from bnmind.fitting.em import LearningRecord
from bnmind.information import Floats

_AT = 1e-7
"""A parameter closer to a bound than this is at it."""

_EDGE = 0.001
"""Chances so close to 0 or 1 are at the least chance rather than pooled."""

_FLAT = 0.02
"""An item is uninformative if no chance differs by more between configurations."""

_RARE = 0.005
"""A skill is one-sided if so few have it, or lack it."""


@dataclass(frozen=True)
class LearningNote(Value):
    """A note on a learned bank."""

    kind: str
    """The kind; see `bnmind.adaptive.learning.notes`."""
    names: tuple[str, ...]
    """The items or skills, where the note is about some of them."""
    text: str
    """A sentence; the names follow it, if there are any."""
    details: tuple[str, ...] = ()
    """For each name a parameter or a figure."""

    def __str__(self) -> str:
        if not self.names:
            return self.text
        details = self.details or ("",) * len(self.names)
        listed = [
            f"{name} ({more})" if more else name
            for name, more in zip(self.names, details, strict=True)
        ]
        return f"{self.text}: {', '.join(listed)}"


class FittedModel(Protocol):
    """What notes need of a `LearningModel`."""

    @property
    def layout(self) -> ResponseLayout:
        """The layout of the response probabilities."""

    @property
    def skills(self) -> SkillFamilies:
        """The distribution of the skills."""

    @property
    def least(self) -> float:
        """The least entry of each learned table."""

    def expectation(self, responses: Responses, options: LearningOptions) -> Expectation:
        """Return the E-step for some responses."""


class Fitted(Protocol):
    """What notes need of a `Learned`."""

    @property
    def bank(self) -> ItemBank:
        """The learned bank."""

    @property
    def responses(self) -> Responses:
        """The responses."""

    @property
    def record(self) -> LearningRecord:
        """The record of the iterations."""

    @property
    def options(self) -> LearningOptions:
        """The options."""

    @property
    def model(self) -> FittedModel:
        """The model."""

    @property
    def parameters(self) -> Parameters:
        """The learned parameters."""


def learning_notes(learned: Fitted) -> tuple[LearningNote, ...]:
    """Return the notes on a learned bank, the most important first."""
    # The chances at the ends of a curve are those of very few examinees.
    found = {} if has_ability(learned.bank) else _groups(learned)
    notes = [
        *_of_convergence(learned),
        *_of_order(learned),
        *_of_items(learned, found),
        *_of_parameters(learned, found),
        *_of_skills(learned),
    ]
    return tuple(notes)


def item_rest_correlations(responses: Responses) -> Floats:
    """Return the correlation of each item with the rest of the test, ``(items,)``.

    The rest is the mean share of points in the other items that an examinee answered. NaN for
    items with equal responses of all examinees.
    """
    codes = responses.codes.astype(np.float64)
    given = responses.codes != MISSING
    most = np.maximum(codes.max(axis=0), 1.0)
    share = np.where(given, codes / most, 0.0)
    points, counts = share.sum(axis=1), given.sum(axis=1)
    correlations = np.full(codes.shape[1], np.nan)
    for item in range(codes.shape[1]):
        rows = given[:, item] & (counts > 1)
        own = share[rows, item]
        rest = (points[rows] - own) / (counts[rows] - 1)
        if len(own) > 1 and own.std() > 0 and rest.std() > 0:
            correlations[item] = np.corrcoef(own, rest)[0, 1]
    return correlations


def _of_convergence(learned: Fitted) -> Iterator[LearningNote]:
    if not learned.record.converged:
        yield LearningNote(
            "convergence",
            (),
            f"The search had not converged after {learned.record.steps} steps; allow more, or try"
            " other starts",
        )


def _of_order(learned: Fitted) -> Iterator[LearningNote]:
    slopes = _slopes(learned.bank)
    if slopes and all(slope > 0 for slope in slopes.values()):
        text = "More ability never lowers the chance of success: the curves of the items rise"
    elif slopes:
        text = "More ability lowers the chance of success in some items: their slopes are negative"
        text += " (--monotone keeps slopes positive)"
    elif learned.options.monotone:
        text = "More skill never lowers the chance of success: the order was required"
    else:
        text = "More skill may lower the chance of success: no order was required"
        text += " (--monotone requires it)"
    yield LearningNote("order", (), text)


def _slopes(bank: ItemBank) -> dict[str, float]:
    """Return the slope of each item; nothing unless all items have one."""
    kinds = Logistic | GradedResponse | PartialCredit
    curves = [item.gate for item in bank.items if isinstance(item.gate, kinds)]
    if len(curves) < len(bank.items):
        return {}
    return {name: curve.slope for name, curve in zip(bank.item_names, curves, strict=True)}


def _what_wrong_keys_do(learned: Fitted) -> str:
    """Return what items with a wrong key do to the others."""
    slopes = _slopes(learned.bank)
    if slopes and len(set(slopes.values())) == 1:
        return "all slopes are equal, so such items make the ability look narrower for all items"
    free = not learned.options.monotone
    if slopes:
        limits = [
            low
            for block in learned.model.layout.blocks
            for (_, what), (low, _) in zip(block.parameters, block.limits, strict=True)
            if what == "slope"
        ]
        free = min(limits, default=-1.0) < 0
    if free:
        return "such items count in reverse, and the others stay as they are"
    return "such items count for little or nothing, and the others stay as they are"


def _of_items(learned: Fitted, found: dict[str, _Groups]) -> Iterator[LearningNote]:
    bank, data = learned.bank, learned.responses
    correlations = item_rest_correlations(data)
    falls = _falling(found)
    miskeyed: dict[str, str] = {}
    constant, flat = [], []
    slopes = _slopes(bank)
    for number, name in enumerate(bank.item_names):
        given = data.codes[data.codes[:, number] != MISSING, number]
        if given.min() == given.max():
            constant.append(name)
            continue
        reasons = []
        if name in falls:
            reasons.append(falls[name])
        # One standard error below zero.
        if correlations[number] < -1 / np.sqrt(len(given)):
            reasons.append(f"item-rest correlation {correlations[number]:.2f}")
        sure = bank.item(name).certainty
        slope = slopes.get(name, 0.0)
        if isinstance(sure, ParameterCertainty) and slope < -float(sure.errors[0]):
            reasons.append(f"slope {slope:.2f}")
        if reasons:
            miskeyed[name] = ", ".join(reasons)
        if np.ptp(bank.channel(name), axis=0).max() < _FLAT:
            flat.append(name)
    if miskeyed:
        yield LearningNote(
            "miskeyed",
            tuple(miskeyed),
            f"Able examinees succeed less often than others ({_what_wrong_keys_do(learned)}); check"
            f" the key{'' if slopes else ' or the Q-matrix'}",
            tuple(miskeyed.values()),
        )
    if constant:
        yield LearningNote("constant", tuple(constant), "Everybody gave the same response")
    if flat:
        yield LearningNote(
            "uninformative", tuple(flat), "The responses tell almost nothing about the skills"
        )


def _falling(found: dict[str, _Groups]) -> dict[str, str]:
    """Return the items in which the ablest do worse than the least able, and how."""
    falls: dict[str, str] = {}
    for name, groups in found.items():
        low, high = groups.observed[groups.lowest], groups.observed[groups.highest]
        sizes = groups.sizes[[groups.lowest, groups.highest]]
        mean = (low + high) / 2
        error = math.sqrt(mean * (1 - mean) * float((1 / np.maximum(sizes, 1e-6)).sum()))
        if low - high > max(_FLAT, error):
            falls[name] = f"{low:.2f} right without the skills, {high:.2f} with them"
    return falls


@dataclass(frozen=True)
class _Groups:
    """The shares of points in an item by groups of configurations, as if not constrained."""

    observed: Floats
    """Those that the responses make likely; for groups without examinees, those learned."""
    learned: Floats
    """Those of the learned bank."""
    _: KW_ONLY
    sizes: Floats
    """The expected numbers of examinees."""
    lowest: int
    """The group of the lowest configuration."""
    highest: int
    """The group of the highest configuration."""


def _groups(learned: Fitted) -> dict[str, _Groups]:
    model = learned.model
    cells = model.layout.response_parameters(learned.parameters.items)
    expectation = model.expectation(learned.responses, learned.options)
    expected = expectation(cells, learned.parameters.skills).counts
    names = [name for block in model.layout.blocks for name in block.names]
    found = {}
    for name, start, shape, groups in zip(
        names, model.layout.starts, model.layout.shapes, model.layout.groups, strict=True
    ):
        place = slice(start, start + shape[0] * shape[1])
        counts, points = expected[place].reshape(shape), np.linspace(0, 1, shape[1])
        own = cells[place].reshape(shape) @ points
        sizes = counts.sum(axis=1)
        found[name] = _Groups(
            observed=np.divide(counts @ points, sizes, out=own.copy(), where=sizes > 1e-6),
            learned=own,
            sizes=sizes,
            lowest=int(groups[0]),
            highest=int(groups[-1]),
        )
    return found


def _of_parameters(learned: Fitted, found: dict[str, _Groups]) -> Iterator[LearningNote]:
    options, bank = learned.options, learned.bank
    at: dict[str, dict[str, list[str]]] = {"pooled": {}, "bounded": {}, "boundary": {}}
    for block, values in zip(learned.model.layout.blocks, learned.parameters.items, strict=True):
        for (item, what), value, (low, high) in zip(
            block.parameters, values.tolist(), block.limits.tolist(), strict=True
        ):
            if low < high and not low + _AT < value < high - _AT:
                end = low if value <= low + _AT else high
                kind = "bounded" if _is_asked(options.bounds_of(item), end) else "boundary"
                at[kind].setdefault(item, []).append(what)
    for name, groups in found.items() if options.monotone else ():
        inner = (groups.learned > _EDGE) & (groups.learned < 1 - _EDGE) & (groups.sizes > 1e-6)
        own, seen = groups.learned[inner], groups.observed[inner]
        equal = np.abs(own[:, None] - own) < _AT
        if np.any(equal & (np.abs(seen[:, None] - seen) > _AT)):
            at["pooled"][name] = []
    if learned.model.least:
        for name in bank.item_names:
            edge = bank.channel(name).min() < learned.model.least * 1.001
            if edge and name not in at["boundary"] and name not in options.fixed:
                at["boundary"][name] = ["a response in some configuration"]
    texts = {
        "pooled": "The order makes chances equal that differ in the responses",
        "bounded": "Parameters at the bounds asked for",
        "boundary": "Parameters at the end of their range"
        + (f" ({learned.model.least:g} from 0 or 1)" if learned.model.least else ""),
    }
    for kind, items in at.items():
        if items:
            details = tuple("; ".join(whats) for whats in items.values())
            yield LearningNote(kind, tuple(items), texts[kind], details)


def _is_asked(bounds: Bounds, end: float) -> bool:
    """Return whether an end of a parameter's range is one of the bounds asked for."""
    usual = Bounds()
    pairs = ((bounds.guess, usual.guess), (bounds.slip, usual.slip), (bounds.slope, usual.slope))
    own = [number for pair, other in pairs for number in pair if number not in other]
    return any(abs(number - end) < _AT or abs(1 - number - end) < _AT for number in own)


def _of_skills(learned: Fitted) -> Iterator[LearningNote]:
    bank, model = learned.bank, learned.model
    if has_ability(bank):
        return
    if len(bank.skills) > 1 and all(len(scope) == 1 for scope in model.skills.scopes):
        yield LearningNote("independent", bank.skills, "The skills are taken as independent")
    informed = {
        skill
        for name in bank.item_names
        if np.ptp(bank.channel(name), axis=0).max() >= _FLAT
        for skill in bank.cause(name)
    }
    if unneeded := tuple(skill for skill in bank.skills if skill not in informed):
        yield LearningNote("unneeded", unneeded, "No item tells anything about the skill")
    rare = {}
    for skill, levels in mastery(learned).items():
        if levels[-1] < _RARE or levels[0] < _RARE:
            rare[skill] = f"{levels[-1]:.1%} have the highest level"
    if rare:
        yield LearningNote(
            "one-sided",
            tuple(rare),
            "Nearly everybody has the skill, or lacks it",
            tuple(rare.values()),
        )
    expectation = model.expectation(learned.responses, learned.options)
    if isinstance(expectation, TableExpectation):
        possible = expectation.classes[model.skills.prior(learned.parameters.skills) > 0]
        n, n_classes = len(possible), len(np.unique(possible))
        if n_classes < n:
            yield LearningNote(
                "alike",
                (),
                f"The items tell {n_classes} classes of the {n} profiles apart; within a class the"
                " distribution stays that of the start; if one skill needs another, learn them as a"
                " hierarchy",
            )


def mastery(learned: Fitted) -> dict[str, Floats]:
    """Return how probable each level of each skill is."""
    from bnmind.adaptive.beliefs.estimates import start_belief

    belief = start_belief(learned.bank)
    return {name: belief.marginal(name) for name in learned.bank.skills}
