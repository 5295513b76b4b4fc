"""Stoppers, which end a test, and the end of a test.

A stopper returns the reason to stop as a text, or an empty text to continue, for each examinee of a
batch. A live test is a batch of one. A threshold counts as reached within `TOLERANCE`, so that
rounding does not decide when a test ends.

Rules restrict the items that may be asked. In live tests and in simulations alike, they interact
with stoppers in one case: if a rule still needs items that can be asked, such as the minima of a
`Blueprint`, a satisfied stopper waits, and only these items are open. Limits of length, cost and
time do not wait, unless the rule outweighs them.

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
from annotated_types import Ge, Gt, Le, Lt
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind._registry import COUNT, NUMBER, Argument, Registered, Registrar, leads_to, made_by_name
from bnmind._values import Count, Finite, Must, Positive, Value, sealed
from bnmind.adaptive.beliefs import MISSING, BatchBelief, SkillBelief, batch_given
from bnmind.adaptive.blueprint import Blueprint
from bnmind.adaptive.estimates import (
    ability_deviation,
    ability_of,
    has_ability,
)
from bnmind.adaptive.formulas import ability_values
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.rules import (
    Asked,
    Enemies,
    Mask,
    Rule,
    allowed_items,
    asked_mask,
    item_mask,
)
from bnmind.adaptive.scores import CheckedMethods, MinimalEntropy, ScoringSelector
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.information import Floats

TOLERANCE = 1e-9
"""The distance from a threshold at which it counts as reached; of costs and times, relative."""

Reasons: TypeAlias = NDArray[np.str_]
"""``(examinees,)`` reasons to stop; empty texts to continue."""


@dataclass(frozen=True, eq=False)
class Progress(Value):
    """The progress of the tests of many examinees, as input to a stopper."""

    beliefs: BatchBelief
    """The belief about each examinee."""
    sequence: Asked
    """``(examinees, questions)`` positions of the items asked, in order; `MISSING` after the
    last one."""
    allowed: Mask
    """``(examinees, items)``, a mask of the items that may be asked next."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.beliefs.bank

    @cached_property
    def asked(self) -> Mask:
        """``(examinees, items)``, a mask of the items asked, including skipped ones."""
        return sealed(asked_mask(self.bank, self.sequence))


class Stopper(CheckedMethods, Value, ABC):
    """The interface of stoppers. A stopper of your own states `stop_batch`.

    Examples
    --------
    A test ends when any of several stoppers ends it, or when all of them do:

    >>> from bnmind.adaptive import EntropyBelow, MaximalItems, ProfileCertain, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> stopper = MaximalItems(10) & ProfileCertain(0.9) | EntropyBelow(2.5)
    >>> stopper.stop(start_belief(bank))
    'the entropy of the skills is at most 2.5 bits'
    """

    _checked = ("stop_batch",)

    @abstractmethod
    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons why tests are over, ``(examinees,)``; empty texts if they continue.

        Parameters
        ----------
        progress
            The items, responses and beliefs so far.
        """

    @checked
    def stop(
        self, belief: SkillBelief, asked: Sequence[str] = (), allowed: Sequence[str] = ()
    ) -> str:
        """Return the reason why the test of one examinee is over; an empty text if it continues.

        Parameters
        ----------
        belief
            The belief about the examinee.
        asked
            The items asked, in order, including skipped ones.
        allowed
            The items that may be asked next.
        """
        places = np.array([[belief.bank.position(name) for name in asked]], dtype=np.intp)
        progress = Progress(belief.batch, places, item_mask(belief.bank, allowed)[None])
        return str(self.stop_batch(progress)[0])

    def most_items(self) -> int | None:
        """Return the number of items after which every test ends; None if there is none."""
        return None

    def __or__(self, other: Stopper) -> Stopper:
        """Return the stopper that ends a test if at least one of two does."""
        return _joined([self, other], is_any=True)

    def __and__(self, other: Stopper) -> Stopper:
        """Return the stopper that ends a test if both of two do."""
        return _joined([self, other], is_any=False)


def most_items_of(stopper: Stopper | None) -> int | None:
    """Return the number of items after which a stopper ends every test; None if there is none."""
    return None if stopper is None else stopper.most_items()


@dataclass(frozen=True)
class _Joined(Stopper):
    """Stop if any of several stoppers does, or if all do; the reason joins those that stop."""

    stoppers: tuple[Stopper, ...]
    is_any: bool

    def stop_batch(self, progress: Progress) -> Reasons:
        each = [stopper.stop_batch(progress).tolist() for stopper in self.stoppers]
        return np.array(
            [
                " and ".join(filter(None, reasons)) if self.is_any or all(reasons) else ""
                for reasons in zip(*each, strict=True)
            ],
            dtype=np.str_,
        )

    def most_items(self) -> int | None:
        most = [one.most_items() for one in self.stoppers]
        known = [one for one in most if one is not None]
        if self.is_any:
            return min(known, default=None)
        return max(known) if len(known) == len(most) else None


def _parts(stopper: Stopper, *, is_any: bool) -> tuple[Stopper, ...]:
    """Return the stoppers that one joins so."""
    if isinstance(stopper, _Joined) and stopper.is_any == is_any:
        return stopper.stoppers
    return (stopper,)


def _joined(stoppers: Sequence[Stopper], *, is_any: bool) -> Stopper:
    for one in stoppers:
        if not isinstance(one, Stopper):
            raise InvalidArgumentError(f"expected a stopper, got {shown(one)}", one)
    parts = tuple(part for one in stoppers for part in _parts(one, is_any=is_any))
    return parts[0] if len(parts) == 1 else _Joined(parts, is_any)


@dataclass(frozen=True)
class StopBy(Stopper):
    """Stop if a function says so.

    A simulation calls the function for each examinee. A stopper of your own that states
    `Stopper.stop_batch` is quicker.

    Parameters
    ----------
    function
        A function of the belief about an examinee and the names of the items asked, in order, which
        returns the reason to stop, or an empty text; or a truth value.
    reason
        The reason if the function returns True.
    """

    function: Callable[[SkillBelief, tuple[str, ...]], str | bool]
    reason: str = "the test's own rule says so"

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons by the function for each examinee."""
        words = []
        for row, asked in enumerate(progress.sequence):
            names = [progress.bank.item_names[i] for i in asked[asked != MISSING].tolist()]
            told = self.function(progress.beliefs.alone(row), tuple(names))
            words.append(told if isinstance(told, str) else self.reason if told else "")
        return np.array(words, dtype=np.str_)


stopper: Registrar[Stopper] = Registrar()
"""Registers a stopper: `@stopper("items", "N items were asked", COUNT)`."""


@stopper("items", "N items were asked", COUNT)
@dataclass(frozen=True)
class MaximalItems(Stopper):
    """Stop after a number of items, including skipped ones.

    Joined by ``&`` with others it is the least number of items.

    Parameters
    ----------
    items
        The number, at least 1.
    """

    items: Count

    def most_items(self) -> int:
        """Return the number of items."""
        return self.items

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        reason = f"{self.items} item{'s were' if self.items > 1 else ' was'} asked"
        return np.where(progress.asked.sum(axis=1) >= self.items, reason, "")


@stopper(
    "time",
    "the items asked take this long",
    NUMBER,
    given=lambda most: MaximalCost(most, "time"),
)
@stopper("cost", "the items asked cost this much", NUMBER)
@dataclass(frozen=True)
class MaximalCost(Stopper):
    """Stop if the total cost, or the total time, of the items asked reaches a limit.

    It adds what the bank states; there is no clock.

    Parameters
    ----------
    most
        In the unit of `Item.cost` or `Item.time`, above 0.
    of
        ``"cost"`` or ``"time"``.
    """

    most: Annotated[float, Gt(0)]
    of: Annotated[str, Must(": cost or time", {"cost", "time"}.__contains__)] = "cost"

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        used = progress.asked @ np.array([getattr(item, self.of) for item in progress.bank.items])
        words = f"have cost {self.most:g} or more"
        reason = words if self.of == "cost" else f"take {self.most:g} or longer"
        return np.where(used >= self.most * (1 - TOLERANCE), f"the items asked {reason}", "")


@stopper("entropy", "the entropy of the skills is at most this many bits", NUMBER)
@dataclass(frozen=True)
class EntropyBelow(Stopper):
    """Stop if the joint entropy of all skills is small.

    Parameters
    ----------
    bits
        The entropy at which to stop, at least 0.
    """

    bits: Annotated[float, Ge(0)]

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        reason = f"the entropy of the skills is at most {self.bits:g} bits"
        return np.where(progress.beliefs.entropy <= self.bits + TOLERANCE, reason, "")


@stopper("profile", "one profile is this probable", NUMBER)
@dataclass(frozen=True)
class ProfileCertain(Stopper):
    """Stop if the most probable profile of all skills is probable enough.

    Parameters
    ----------
    probability
        The probability of the profile at which to stop, in (0, 1].
    """

    probability: Annotated[float, Gt(0), Le(1)]

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        reason = f"one profile of the skills has probability {self.probability:g} or more"
        largest = progress.beliefs.profile().probabilities
        return np.where(largest >= self.probability - TOLERANCE, reason, "")


@stopper("certainty", "one level of each skill is this probable", NUMBER)
@dataclass(frozen=True)
class SkillsCertain(Stopper):
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

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        skills = self.skills or progress.bank.skills
        largest = [progress.beliefs.marginal(skill).max(axis=1) for skill in skills]
        named = ", ".join(self.skills) or "skill"
        which = named if len(self.skills) == 1 else f"each {'of ' * bool(self.skills)}{named}"
        reason = f"{which} is known with probability {self.probability:g} or more"
        return np.where(np.min(largest, axis=0) >= self.probability - TOLERANCE, reason, "")


@stopper("gain", "no item has more expected information than this many bits", NUMBER)
@dataclass(frozen=True)
class GainBelow(Stopper):
    """Stop if no item that may be asked has a large score.

    Parameters
    ----------
    gain
        The score of the best item at which to stop, at least 0.
    scored
        The selector that scores the items; default `MinimalEntropy`, in bits.
    """

    gain: Annotated[float, Ge(0)]
    scored: ScoringSelector = field(default_factory=MinimalEntropy)

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        scores = self.scored._open_scores(progress.beliefs, progress.allowed)
        what = " bits" if isinstance(self.scored, MinimalEntropy) else ""
        reason = f"no item has a score above {self.gain:g}{what}"
        return np.where(scores.max(axis=1) <= self.gain + TOLERANCE, reason, "")


@stopper("deviation", "the standard deviation of the ability is at most this", NUMBER)
@dataclass(frozen=True)
class DeviationBelow(Stopper):
    """Stop if the standard deviation of the ability of an IRT bank is small.

    Parameters
    ----------
    deviation
        The standard deviation of the belief at which to stop, above 0.
    """

    deviation: Annotated[float, Gt(0)]

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        reason = f"the standard deviation of the ability is at most {self.deviation:g}"
        deviations = ability_deviation(progress.beliefs)
        return np.where(deviations <= self.deviation + TOLERANCE, reason, "")


@stopper("plateau", "the last 3 answers changed no skill by more than this", NUMBER)
@dataclass(frozen=True)
class Plateau(Stopper):
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

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        beliefs, sequence = progress.beliefs, progress.sequence
        answered = np.take_along_axis(beliefs.codes, np.maximum(sequence, 0), axis=1) != MISSING
        answered &= sequence != MISSING
        n_answers = answered.sum(axis=1, keepdims=True)
        late = answered & (np.cumsum(answered, axis=1) > n_answers - self.answers)
        codes, rows = beliefs.codes.copy(), np.nonzero(late)[0]
        codes[rows, sequence[late]] = MISSING
        before = batch_given(beliefs.space, codes, error_chance=beliefs.error_chance)
        changes = [
            np.abs(beliefs.marginal(skill) - before.marginal(skill)).sum(axis=1) / 2
            for skill in progress.bank.skills
        ]
        stops = np.max(changes, axis=0) <= self.change + TOLERANCE
        stops &= n_answers[:, 0] >= self.answers
        last = "last answer has" if self.answers == 1 else f"last {self.answers} answers have"
        reason = f"the {last} changed no skill by more than {self.change:g}"
        return np.where(stops, reason, "")


_Error = Annotated[float, Gt(0), Lt(0.5)]


@stopper(
    "sprt",
    "a probability ratio test decides each skill, with this error; default .05",
    Argument("NUMBER", "a chance of an error", NUMBER.read, "0.1"),
    plain=lambda: SkillsDecided(),
)
@dataclass(frozen=True)
class SkillsDecided(Stopper):
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

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``.

        Raises
        ------
        InvalidModelError
            If a skill has more than two levels.
        """
        stops = np.ones(len(progress.beliefs), dtype=bool)
        for skill in self.skills or progress.bank.skills:
            marginal, prior = _now_and_before(progress.beliefs, skill)
            if len(prior) != 2:
                words = f"expected two levels of {skill} for a decision, got {len(prior)}"
                raise InvalidModelError([words])
            if prior.min() > 0:
                stops &= _decided(_log(marginal) - np.log(prior), self.error)
        named = ", ".join(self.skills) or "each skill"
        reason = f"{named} is decided with an error of at most {self.error:g}"
        return np.where(stops, reason, "")


@stopper("cut", "a probability ratio test decides if the ability is above this", NUMBER)
@dataclass(frozen=True)
class AbilityDecided(Stopper):
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

    def stop_batch(self, progress: Progress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``.

        Raises
        ------
        InvalidModelError
            If the region around the cut is not within the grid of the ability.
        """
        bank = progress.bank
        ability = ability_of(bank)
        weights, prior = _now_and_before(progress.beliefs, ability)
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
        likelihood = (_log(weights) - _log(prior))[..., order]
        grid = points[order]
        right = np.clip(np.searchsorted(grid, sides, side="right"), 1, len(grid) - 1)
        share = (np.array(sides) - grid[right - 1]) / (grid[right] - grid[right - 1])
        at_sides = (1 - share) * likelihood[..., right - 1] + share * likelihood[..., right]
        reason = (
            f"it is decided with an error of at most {self.error:g} whether the ability is above"
            f" {self.cut:g}"
        )
        return np.where(_decided(at_sides, self.error), reason, "")


def _decided(log_likelihoods: Floats, error: float) -> Mask:
    """Return whether the ratio of two likelihoods ``(…, 2)`` decides between them."""
    ratio = np.abs(log_likelihoods[..., 1] - log_likelihoods[..., 0])
    decided: Mask = np.asarray(ratio >= math.log((1 - error) / error) - TOLERANCE)
    return decided


def _log(probabilities: Floats) -> Floats:
    """Return logarithms; impossible values count as the smallest positive number."""
    result: Floats = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
    return result


def _now_and_before(beliefs: BatchBelief, skill: str) -> tuple[Floats, Floats]:
    """Return the distributions of a skill now, and that before the first answer, ``(levels,)``."""
    return beliefs.marginal(skill), beliefs.space.marginal(beliefs.space.prior, skill)


STOPPERS: Mapping[str, Registered[Stopper]] = MappingProxyType(stopper)
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
    any_of = []
    for text in texts:
        parts = text.split("+")
        all_of = [made_by_name("stopper", STOPPERS, part, shown_in=text) for part in parts]
        any_of.append(_joined(all_of, is_any=False))
    return _joined(any_of, is_any=True) if any_of else None


def name_stoppers(stopper: Stopper | None) -> list[str]:
    """Return the texts of which `stopper_by_names` makes a stopper.

    Raises
    ------
    InvalidArgumentError
        If there are none.
    """
    if stopper is None:
        return []
    texts = [
        "+".join(map(_name_stopper, _parts(one, is_any=False)))
        for one in _parts(stopper, is_any=True)
    ]
    if not leads_to(stopper_by_names, texts, stopper):
        raise InvalidArgumentError(
            f"expected a stopper that a file can name, got {type(stopper).__name__}", stopper
        )
    return texts


def _name_stopper(stopper: Stopper) -> str:
    first, *others = vars(stopper).values() or ("",)
    kinds = {name: member.given for name, member in STOPPERS.items()}
    named = [name for name, given in kinds.items() if given is type(stopper)]
    return f"{others[0] if 'time' in others else next(iter(named), '')}:{first!r}"


NOTHING_LEFT = "no item is left that may be asked"
"""The reason of a test that ends because no item may be asked."""

EVERYTHING_ASKED = "every item was asked"
"""The reason of a test that ends because all items were asked."""


def rules_for_test(
    bank: ItemBank, rules: Sequence[Rule], stopper: Stopper | None
) -> tuple[Rule, ...]:
    """Return rules that know how long the test may be; see `Blueprint.for_test`.

    Raises
    ------
    InvalidArgumentError
        If no test can meet a rule.
    """
    most = most_items_of(stopper)
    enemies = tuple(pair for rule in rules if isinstance(rule, Enemies) for pair in rule.pairs)
    return tuple(
        rule.for_test(bank, most, enemies) if isinstance(rule, Blueprint) else rule
        for rule in rules
    )


class Ending(NamedTuple):
    """The open items of some tests, or the reasons why the tests are over."""

    allowed: Mask
    """``(examinees, items)``, a mask of the open items."""
    reasons: Reasons
    """``(examinees,)``, the reason why each test is over; empty if it continues."""
    is_pilot: NDArray[np.bool_]
    """``(examinees,)``, whether the open items are pilot items."""

    def take(self, rows: NDArray[np.bool_]) -> Ending:
        """Return the part about some of the tests."""
        return Ending(self.allowed[rows], self.reasons[rows], self.is_pilot[rows])


def ending(
    rules: Sequence[Rule],
    stopper: Stopper | None,
    beliefs: BatchBelief,
    asked: Asked,
    *,
    available: Mask,
) -> Ending:
    """Return the open items of some tests, or the reasons why the tests are over.

    Parameters
    ----------
    rules
        The rules, in the order of application.
    stopper
        The stopper; None to end a test only when no item may be asked.
    beliefs
        The belief about each examinee; about one in a live test.
    asked
        ``(examinees, questions)`` positions of the items asked, in order; `MISSING` after
        the last one.
    available
        ``(examinees, items)``, a mask of the items that may be asked at all.
    """
    bank = beliefs.bank
    allowed = allowed_items(bank, rules, asked, available=available)
    nothing_left = np.where(allowed.any(axis=1), "", NOTHING_LEFT)
    reasons = np.where(asked_mask(bank, asked).all(axis=1), EVERYTHING_ASKED, nothing_left)
    no_pilots = np.zeros(len(asked), dtype=bool)
    if stopper is None or not len(asked):
        return Ending(allowed, reasons, no_pilots)
    stops = stopper.stop_batch(Progress(beliefs, asked, allowed))
    if (stops != "").any():
        needed = _needed(bank, rules, asked, available)
        waits = (stops != "") & needed.any(axis=1)
        stops = np.where(waits, "", stops)
        reasons = np.where(waits, "", reasons)
        allowed = np.where(waits[:, None], needed, allowed)
    return Ending(allowed, np.where(stops != "", stops, reasons), no_pilots)


def _needed(bank: ItemBank, rules: Sequence[Rule], asked: Asked, available: Mask) -> Mask:
    """Return a mask of the allowed items that rules still need, ``(examinees, items)``."""
    allowed = ~asked_mask(bank, asked) & available
    waits = np.zeros((len(asked), 1), dtype=bool)
    for rule in rules:
        allowed = rule.restrict(bank, asked, allowed) & allowed
        if isinstance(rule, Blueprint):
            needed = rule.needed(bank, asked, allowed) & allowed
            lacks = needed.any(axis=1, keepdims=True)
            allowed = np.where(lacks, needed, allowed)
            waits |= lacks
    result: Mask = allowed & waits
    return result
