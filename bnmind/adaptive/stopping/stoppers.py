"""Stoppers by the number of items, their cost and time, and by the belief; the names of all.

A new stopper is a class in this file and a line in `STOPPERS`. A threshold counts as reached
within `TOLERANCE`, so that rounding, which differs between one belief and a batch, does not
decide when a test ends.

Sequential probability ratio tests (SPRT) of skills, and of an ability at a cut:

=========  ====================================================================
symbol     name here
=========  ====================================================================
α, β       ``error``: the chance of a wrong decision, the same for both sides
A, B       (1 − β) / α and β / (1 − α) = 1 / A
λ_k        P(answers | skill k) / P(answers | not skill k), averaged over the
           other skills: the posterior odds divided by the prior odds
λ(θ)       P(answers | θ_c + δ) / P(answers | θ_c − δ)
θ_c, δ     ``cut``, ``indifference``
=========  ====================================================================

A decision is made once λ ≥ A or λ ≤ B.

References
----------
C. Tatsuoka, "Data analytic methods for latent partially ordered classification models", J.
R. Stat. Soc. C 2002 (the most probable profile); C.-L. Hsu, W.-C. Wang and S.-Y. Chen,
"Variable-length computerized adaptive testing based on cognitive diagnosis models", Appl.
Psychol. Meas. 2013; A. Wald, *Sequential Analysis*, 1947; M. Reckase, "A procedure for decision
making using tailored testing", 1983; J. Spray and M. Reckase, "Comparison of SPRT and sequential
Bayes procedures for classifying examinees into two categories using a computerized test", J.
Educ. Behav. Stat. 1996.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from numpy.typing import NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._registry import COUNT, NUMBER, Argument, Registered, leads_to, made_by_name
from bnmind._values import Count, Finite, Positive, Value
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, Profile, SkillBelief
from bnmind.adaptive.beliefs.estimates import (
    ability_deviation,
    ability_of,
    has_ability,
    start_belief,
    start_beliefs,
)
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.response_models.base import ability_values
from bnmind.adaptive.selection.scores import MinimalEntropy
from bnmind.adaptive.selection.selector import ScoringSelector
from bnmind.adaptive.stopping.ending import (
    AllOf,
    AnyOf,
    BatchProgress,
    Progress,
    Reasons,
    Stopper,
    reasons_where,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.information import Floats

TOLERANCE = 1e-9
"""The distance from a threshold at which it counts as reached; of costs and times, relative."""


class _Limit(Value, ABC):
    """A stopper by the sum of what the items asked add."""

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        positions = [progress.bank.position(name) for name in progress.asked]
        used = self._shares(progress.bank)[positions].sum()
        return self._reason if used >= 1 - TOLERANCE else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        used = progress.asked @ self._shares(progress.bank)
        return reasons_where(used >= 1 - TOLERANCE, self._reason)

    @abstractmethod
    def _shares(self, bank: ItemBank) -> Floats:
        """Return the part of the limit that each item uses up, ``(items,)``."""

    @property
    @abstractmethod
    def _reason(self) -> str: ...


@dataclass(frozen=True)
class MaximalItems(_Limit):
    """Stop after a number of items, including skipped ones.

    Within `AllOf` it is the least number of items.

    Parameters
    ----------
    items
        The number, at least 1.
    """

    items: Count

    def most_items(self) -> int:
        """Return the number of items."""
        return self.items

    def _shares(self, bank: ItemBank) -> Floats:
        return np.full(len(bank.items), 1 / self.items)

    @property
    def _reason(self) -> str:
        return f"{self.items} item{'s were' if self.items > 1 else ' was'} asked"


@dataclass(frozen=True)
class MaximalCost(_Limit):
    """Stop if the total cost of the items asked reaches a limit.

    Parameters
    ----------
    cost
        In the unit of `Item.cost`, above 0.
    """

    cost: Annotated[float, Gt(0)]

    def _shares(self, bank: ItemBank) -> Floats:
        return np.array([item.cost for item in bank.items]) / self.cost

    @property
    def _reason(self) -> str:
        return f"the items asked have cost {self.cost:g} or more"


@dataclass(frozen=True)
class MaximalTime(_Limit):
    """Stop if the total time of the items asked reaches a limit.

    It adds the times stated in the bank; there is no clock.

    Parameters
    ----------
    time
        In the unit of `Item.time`, above 0.
    """

    time: Annotated[float, Gt(0)]

    def _shares(self, bank: ItemBank) -> Floats:
        return np.array([item.time for item in bank.items]) / self.time

    @property
    def _reason(self) -> str:
        return f"the items asked take {self.time:g} or longer"


class _BeliefStopper(Value, ABC):
    """A stopper by a condition that is the same for one belief and for a batch."""

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        return self._reason if self._holds(progress.belief) else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        return reasons_where(self._holds(progress.beliefs), self._reason)

    @abstractmethod
    def _holds(self, belief: SkillBelief | BatchBelief) -> NDArray[np.bool_]:
        """Return whether a test ends, ``()`` for a belief or ``(examinees,)`` for a batch."""

    @property
    @abstractmethod
    def _reason(self) -> str: ...


@dataclass(frozen=True)
class EntropyBelow(_BeliefStopper):
    """Stop if the joint entropy of all skills is small.

    Parameters
    ----------
    bits
        The entropy at which to stop, at least 0.
    """

    bits: Annotated[float, Ge(0)]

    def _holds(self, belief: SkillBelief | BatchBelief) -> NDArray[np.bool_]:
        return np.asarray(belief.entropy) <= self.bits + TOLERANCE

    @property
    def _reason(self) -> str:
        return f"the entropy of the skills is at most {self.bits:g} bits"


@dataclass(frozen=True)
class ProfileCertain(_BeliefStopper):
    """Stop if the most probable profile of all skills is probable enough.

    Parameters
    ----------
    probability
        The probability of the profile at which to stop, in (0, 1].
    """

    probability: Annotated[float, Gt(0), Le(1)]

    def _holds(self, belief: SkillBelief | BatchBelief) -> NDArray[np.bool_]:
        found = belief.profile()
        probability = found.probability if isinstance(found, Profile) else found.probabilities
        return np.asarray(probability) >= self.probability - TOLERANCE

    @property
    def _reason(self) -> str:
        return f"one profile of the skills has probability {self.probability:g} or more"


@dataclass(frozen=True)
class SkillsCertain(_BeliefStopper):
    """Stop if the most probable level of each skill is probable enough.

    Parameters
    ----------
    probability
        The probability at which to stop, in (0, 1].
    skills
        The skills to consider; default all.
    """

    probability: Annotated[float, Gt(0), Le(1)]
    skills: tuple[str, ...] = ()

    def _holds(self, belief: SkillBelief | BatchBelief) -> NDArray[np.bool_]:
        skills = self.skills or belief.bank.skills
        largest = [belief.marginal(skill).max(axis=-1) for skill in skills]
        return np.asarray(np.min(largest, axis=0) >= self.probability - TOLERANCE)

    @property
    def _reason(self) -> str:
        named = ", ".join(self.skills) or "skill"
        which = named if len(self.skills) == 1 else f"each {'of ' * bool(self.skills)}{named}"
        return f"{which} is known with probability {self.probability:g} or more"


@dataclass(frozen=True)
class DeviationBelow(_BeliefStopper):
    """Stop if the standard deviation of the ability of an IRT bank is small.

    Parameters
    ----------
    deviation
        The standard deviation of the belief at which to stop, above 0.
    """

    deviation: Annotated[float, Gt(0)]

    def _holds(self, belief: SkillBelief | BatchBelief) -> NDArray[np.bool_]:
        return np.asarray(ability_deviation(belief)) <= self.deviation + TOLERANCE

    @property
    def _reason(self) -> str:
        return f"the standard deviation of the ability is at most {self.deviation:g}"


@dataclass(frozen=True)
class GainBelow(Value):
    """Stop if no item that may be asked has a large score.

    Parameters
    ----------
    gain
        The score of the best item at which to stop, at least 0.
    scored
        The selector that scores the items; default `MinimalEntropy`, in bits.
    """

    gain: Annotated[float, Ge(0)]
    scored: ScoringSelector[SkillBelief] = field(default_factory=MinimalEntropy)

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        if not progress.allowed:
            return self._reason
        best = self.scored.scores(progress.belief, progress.allowed).max()
        return self._reason if best <= self.gain + TOLERANCE else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        best = self.scored.allowed_scores(progress.beliefs, progress.allowed).max(axis=1)
        return reasons_where(best <= self.gain + TOLERANCE, self._reason)

    @property
    def _reason(self) -> str:
        what = " bits" if isinstance(self.scored, MinimalEntropy) else ""
        return f"no item has a score above {self.gain:g}{what}"


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
            before = start_beliefs(bank, len(rows)).with_errors(now.error_chance)
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
    sequence = progress.sequence
    if sequence is None:
        sequence = np.where(has_answer, np.arange(has_answer.shape[1]), MISSING)
    answered = (sequence != MISSING) & np.take_along_axis(
        has_answer, np.maximum(sequence, 0), axis=1
    )
    order = np.argsort(~answered, axis=1, kind="stable")  # those answered first, in their order
    moved = np.take_along_axis(sequence, order, axis=1)
    return np.where(np.take_along_axis(answered, order, axis=1), moved, MISSING)


_Error = Annotated[float, Gt(0), Lt(0.5)]


@dataclass(frozen=True)
class SkillsDecided(_BeliefStopper):
    """Stop once a probability ratio test decides whether each skill is mastered.

    Unlike `SkillsCertain`, it does not use the prior odds of the skill, only the answers. A skill
    that is certain before the first answer is decided.

    Parameters
    ----------
    error
        The chance of a wrong decision about a skill, of either kind, in (0, 0.5).
    skills
        The skills to decide, each of two levels; default all.
    """

    error: _Error = 0.05
    skills: tuple[str, ...] = ()

    def _holds(self, belief: SkillBelief | BatchBelief) -> NDArray[np.bool_]:
        bank = belief.bank
        # All skills: one that cannot be decided is named even if another one is undecided.
        decided = [
            self._decides(bank, skill, belief.marginal(skill))
            for skill in self.skills or bank.skills
        ]
        return np.asarray(np.all(decided, axis=0))

    def _decides(self, bank: ItemBank, skill: str, marginal: Floats) -> NDArray[np.bool_]:
        prior = _prior(bank, skill)
        if len(prior) != 2:
            raise InvalidModelError(
                [f"expected two levels of {skill} for a decision, got {len(prior)}"]
            )
        if prior.min() <= 0:
            return np.ones(marginal.shape[:-1], dtype=bool)
        return _decided(_log(marginal) - np.log(prior), self.error)

    @property
    def _reason(self) -> str:
        named = ", ".join(self.skills) or "each skill"
        return f"{named} is decided with an error of at most {self.error:g}"


@dataclass(frozen=True)
class AbilityDecided(_BeliefStopper):
    """Stop once a probability ratio test decides whether the ability is above a cut.

    Parameters
    ----------
    cut
        The ability that divides the two classes.
    error
        The chance of a wrong decision, of either kind, in (0, 0.5).
    indifference
        Half the width of the region around the cut in which either decision is right, above
        0. The likelihood is interpolated between the points of the grid.
    """

    cut: Annotated[float, Finite]
    error: _Error = 0.05
    indifference: Positive = 0.25

    def _holds(self, belief: SkillBelief | BatchBelief) -> NDArray[np.bool_]:
        bank = belief.bank
        weights = belief.marginal(ability_of(bank))
        ability = ability_of(bank)
        points = ability_values(bank.variable(ability))
        sides = [self.cut - self.indifference, self.cut + self.indifference]
        order = np.argsort(points)
        if not points[order[0]] <= sides[0] < sides[1] <= points[order[-1]]:
            raise InvalidModelError(
                [
                    f"the region from {sides[0]:g} to {sides[1]:g} is not within the grid of the"
                    f" ability, from {points[order[0]]:g} to {points[order[-1]]:g}"
                ]
            )
        likelihood = (_log(weights) - _log(_prior(bank, ability)))[..., order]
        grid = points[order]
        right = np.clip(np.searchsorted(grid, sides, side="right"), 1, len(grid) - 1)
        share = (np.array(sides) - grid[right - 1]) / (grid[right] - grid[right - 1])
        at_sides = (1 - share) * likelihood[..., right - 1] + share * likelihood[..., right]
        return _decided(at_sides, self.error)

    @property
    def _reason(self) -> str:
        return (
            f"it is decided with an error of at most {self.error:g} whether the ability is above"
            f" {self.cut:g}"
        )


def _decided(log_likelihoods: Floats, error: float) -> NDArray[np.bool_]:
    """Return whether the ratio of two likelihoods ``(…, 2)`` decides between them."""
    ratio = np.abs(log_likelihoods[..., 1] - log_likelihoods[..., 0])
    decided: NDArray[np.bool_] = np.asarray(ratio >= math.log((1 - error) / error) - TOLERANCE)
    return decided


def _log(probabilities: Floats) -> Floats:
    """Return logarithms; impossible values count as the smallest positive number."""
    result: Floats = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
    return result


@lru_cache(maxsize=256)
def _prior(bank: ItemBank, skill: str) -> Floats:
    """Return the distribution of a skill before the first answer, ``(levels,)``."""
    return start_belief(bank).marginal(skill)


STOPPERS: Mapping[str, Registered[Stopper]] = MappingProxyType(
    {
        "items": Registered("N items were asked", None, COUNT, MaximalItems),
        "time": Registered("the items asked take this long", None, NUMBER, MaximalTime),
        "cost": Registered("the items asked cost this much", None, NUMBER, MaximalCost),
        "entropy": Registered(
            "the entropy of the skills is at most this many bits", None, NUMBER, EntropyBelow
        ),
        "profile": Registered("one profile is this probable", None, NUMBER, ProfileCertain),
        "certainty": Registered(
            "one level of each skill is this probable", None, NUMBER, SkillsCertain
        ),
        "gain": Registered(
            "no item has more expected information than this many bits", None, NUMBER, GainBelow
        ),
        "deviation": Registered(
            "the standard deviation of the ability is at most this", None, NUMBER, DeviationBelow
        ),
        "plateau": Registered(
            "the last 3 answers changed no skill by more than this", None, NUMBER, Plateau
        ),
        "sprt": Registered(
            "a probability ratio test decides each skill, with this error; default .05",
            SkillsDecided,
            Argument("NUMBER", "a chance of an error", NUMBER.read, "0.1"),
            SkillsDecided,
        ),
        "cut": Registered(
            "a probability ratio test decides if the ability is above this",
            None,
            NUMBER,
            AbilityDecided,
        ),
    }
)
"""The stopper of each name."""

_MOST_ITEMS = 30
"""About what fits into a lesson."""


def default_stop(bank: ItemBank) -> tuple[str, ...]:
    """Return the texts of the stopper of a test that is given to a person without one.

    The deviation of an ability is that of mirtCAT. Simulations and designs in Python have no
    stopper unless one is named.
    """
    known = ("deviation:0.3",) if has_ability(bank) else ("certainty:0.95", "gain:0.01")
    return (*known, f"items:{_MOST_ITEMS}")


def default_stop_words(bank: ItemBank) -> str:
    """Return when such a test ends, in words."""
    known = (
        "the standard deviation of the ability is at most 0.3"
        if has_ability(bank)
        else "each skill is known with probability 0.95, when no item should tell more than 0.01"
        " bits"
    )
    return f"The test ends when {known}, or after {_MOST_ITEMS} items"


@checked
def stopper_by_names(texts: Sequence[str]) -> Stopper | None:
    """Return the stopper of texts such as ``items:10`` or ``items:5+certainty:0.9``.

    Parameters
    ----------
    texts
        Any of them ends the test; of those joined by ``+`` in one text, all must hold.

    Returns
    -------
    Stopper or None
        None if there are no texts.

    Raises
    ------
    UnknownNameError
        If no stopper has a name.
    InvalidArgumentError
        If an argument is missing or of another kind.
    """
    any_of: list[Stopper] = []
    for text in texts:
        parts = text.split("+")
        all_of = tuple(made_by_name("stopper", STOPPERS, part, shown_in=text) for part in parts)
        any_of.append(all_of[0] if len(all_of) == 1 else AllOf(all_of))
    if not any_of:
        return None
    return any_of[0] if len(any_of) == 1 else AnyOf(tuple(any_of))


def name_stoppers(stopper: Stopper | None) -> list[str]:
    """Return the texts of which `stopper_by_names` makes a stopper.

    Raises
    ------
    InvalidArgumentError
        If there are none.
    """
    if stopper is None:
        return []
    any_of = stopper.stoppers if isinstance(stopper, AnyOf) else (stopper,)
    all_of = [one.stoppers if isinstance(one, AllOf) else (one,) for one in any_of]
    texts = ["+".join(map(_name_stopper, stoppers)) for stoppers in all_of]
    if not leads_to(stopper_by_names, texts, stopper):
        raise InvalidArgumentError("expected a stopper that a file can name", stopper)
    return texts


def _name_stopper(stopper: Stopper) -> str:
    first = next(iter(vars(stopper).values()), None)
    for text in (f"{name}:{first!r}" for name in STOPPERS):
        if leads_to(stopper_by_names, [text], stopper):
            return text
    raise InvalidArgumentError(
        f"expected a stopper that a file can name, got {type(stopper).__name__}", stopper
    )
