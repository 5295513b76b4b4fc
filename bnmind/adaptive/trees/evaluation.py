r"""Exact evaluation: the expected results of a test over all answers, without simulated examinees.

A design without luck is a tree: the belief determines the next item, and each response to it leads
to another belief. The tree is expanded from the start, many beliefs at a time.

=============  =====================================================================
symbol         name here
=============  =====================================================================
e              the responses so far, a row of a `_Block`
P(e)           ``probability``
E[v]           Σ_e P(e) v(e) over the ends e of the test
q(s)           ``BatchBelief.table``, the belief about the profiles s
c(s)           ``_Resolution.classes``: profiles with the same chances of all answers
k              ``most``, the number of items that can still be asked
=============  =====================================================================

*Equal beliefs are merged.* The likelihood of an answer is a column of the channel of its item. Two
answers with proportional columns over the same cause have the same effect, and two with inverse
columns cancel. The effect of all answers of an examinee is then given by whole numbers: for each
kind of answers, how many there are, less those that cancel. Beliefs with the same numbers are
equal. In a test without luck, two paths of different answers to the same items lead to equal
beliefs only in this way, as they differ in at least one response to the same item. Nothing is
merged if the design may depend on the order of the answers, as rules do that look at the last item,
such as testlets, and functions of a user may.

*Where the tree is too large, it is cut* at improbable beliefs, and the results are certified
intervals: each cut adds P(e) times the width of its own bounds. However many items are asked,
answers never tell two profiles of one class apart. For every test that goes on from q:

* accuracy of the profile: from max_s q(s), as more answers never lower the expected probability of
  the best decision, to Σ_c max_{s in c} q(s), that of an examiner who is told the class;
* accuracy of a skill: likewise, with the probability of its levels;
* entropy: from H(q) − min(H(c), Σ of the k largest log₂ numbers of responses) to H(q).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, picked
from bnmind._messages import counted, percent
from bnmind._values import Sealed, Value
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, Responses
from bnmind.adaptive.beliefs.estimates import has_ability, start_beliefs
from bnmind.adaptive.beliefs.tables import ProfileSpace
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.blueprint import Blueprint
from bnmind.adaptive.selection.rules import Enemies, OnlyItems, Testlets, asked_mask
from bnmind.adaptive.selection.scores import (
    DiscriminationIndex,
    KullbackLeibler,
    LossGain,
    MaximalFisher,
    MinimalEntropy,
    ModifiedPosteriorWeightedKL,
    PosteriorWeightedKL,
    SkillEntropy,
    TargetEntropy,
)
from bnmind.adaptive.selection.selectors import FixedOrder, PerCost
from bnmind.adaptive.selection.stopping import (
    AllOf,
    AnyOf,
    DeviationBelow,
    EntropyBelow,
    GainBelow,
    MaximalCost,
    MaximalItems,
    MaximalTime,
    ProfileCertain,
    Reasons,
    SkillsCertain,
    most_items_of,
)
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.trees.item_trees import NEVER, check_without_luck, next_items, outlook_of
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats, unchecked_entropy

if TYPE_CHECKING:
    import pandas


CURVES = ("pattern_accuracy", "attribute_accuracy", "entropy")
"""The measures by the number of items asked, named as in a simulation."""

_ROWS = {
    "pattern_accuracy": "profiles classified right",
    "attribute_accuracy": "skills classified right",
    "entropy": "entropy of the skills, bits",
    "length": "items asked",
    "cost": "cost of the items asked",
}
_ROWS_OF_AN_ABILITY = ("length", "cost")
"""The rows for a bank of one ability: the others would be about points of its grid."""


class CertifiedInterval(NamedTuple):
    """A number that is known to lie between two others; both are equal if it is known exactly."""

    low: float
    """The lower bound."""
    high: float
    """The upper bound."""

    @property
    def middle(self) -> float:
        """The mean of the two."""
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        """The difference of the two."""
        return self.high - self.low


@dataclass(frozen=True, eq=False, kw_only=True)
class DesignEvaluation(Result, Value):
    """The expected results of a test, over all answers that the bank expects.

    The examinees are those of the bank: profiles have the probabilities of the bank, and answers
    those of its items.
    """

    bank: ItemBank
    """The bank of the test."""
    pattern_accuracy: CertifiedInterval
    """The probability that the most probable profile at the end is the true one."""
    attribute_accuracy: CertifiedInterval
    """The expected share of skills whose most probable level at the end is the true one."""
    skill_accuracy: Mapping[str, CertifiedInterval]
    """The same for each skill."""
    entropy: CertifiedInterval
    """The expected entropy of the skills at the end, in bits."""
    length: CertifiedInterval
    """The expected number of items asked."""
    cost: CertifiedInterval
    """The expected total cost of the items asked."""
    exposure: Mapping[str, CertifiedInterval]
    """The probability that each item is asked."""
    reasons: Mapping[str, float]
    """The probability of each reason for the end of the test; they sum to ``evaluated``."""
    lengths: Floats
    """The probability of each number of items asked, among tests that were followed to the end."""
    curves: Floats
    """``(measures, 2, 1 + items)``, bounds of `CURVES` by the number of items asked; a test that
    has ended keeps its values."""
    evaluated: float
    """The probability of the tests that were followed to the end; 1 if nothing was cut."""
    n_beliefs: int
    """The number of beliefs evaluated."""
    n_ends: int
    """The number of beliefs at which a test ends."""
    n_merged: int
    """The number of beliefs that were merged with an equal one."""

    @property
    def is_exact(self) -> bool:
        """Whether the tree was not cut."""
        return self.n_cut == 0

    n_cut: int
    """The number of beliefs at which the tree was cut."""

    @checked
    def curve(self, measure: str) -> tuple[Floats, Floats]:
        """Return the bounds of a measure of `CURVES` by the number of items asked.

        Parameters
        ----------
        measure
            The name of the measure, one of `CURVES`.

        Raises
        ------
        UnknownNameError
            If there is no such measure.
        """
        if measure not in CURVES:
            raise UnknownNameError("measure", measure, CURVES)
        low, high = self.curves[CURVES.index(measure)]
        return low, high

    def to_dict(self) -> dict[str, Any]:
        """Return the results as a record for JSON; intervals are pairs."""
        curves = {name: self.curve(name) for name in CURVES}
        record = {
            **picked(self, "evaluated", *_ROWS, exact="is_exact"),
            **picked(self, beliefs="n_beliefs", merged="n_merged", cut="n_cut"),
            "skill_accuracy": dict(self.skill_accuracy),
            "exposure": dict(self.exposure),
            "lengths": self.lengths.tolist(),
            "reasons": dict(self.reasons),
            "by_items_asked": {
                name: {"low": low.tolist(), "high": high.tolist()}
                for name, (low, high) in curves.items()
            },
        }
        return dict(finite(record))

    def _shown(self) -> Iterator[str | Table]:
        beliefs, exact = counted(self.n_beliefs, "belief"), self.is_exact
        of_skills = not has_ability(self.bank)
        if exact:
            merged = f", {self.n_merged:,} merged" if self.n_merged else ""
            yield f"Exact, from {beliefs}{merged}. Expected at the end of the test:"
        else:
            yield (
                f"Cut after {beliefs}: {_percent(self.evaluated)} of all tests were followed to the"
                " end. The exact values are between:"
            )
        heads = ("", "") if exact else ("", "least", "most")
        rows: list[tuple[str, CertifiedInterval]] = []
        for name, label in _ROWS.items():
            if of_skills or name in _ROWS_OF_AN_ABILITY:
                rows.append((label, getattr(self, name)))
            if of_skills and name == "attribute_accuracy":
                rows += [(f"  {skill}", one) for skill, one in self.skill_accuracy.items()]
        n = 1 if exact else 2
        yield Table(heads, [(label, *(f"{x:.4f}" for x in one[:n])) for label, one in rows])
        yield "Items by how often they are asked:"
        ranked = sorted(self.exposure.items(), key=lambda pair: -pair[1].middle)
        asked = [pair for pair in ranked if pair[1].high > 0]
        yield Table(heads, [(item, *map(_percent, share[:n])) for item, share in asked])
        if len(asked) < len(ranked):
            yield f"Never asked: {counted(len(ranked) - len(asked), 'item')}."
        for reason, chance in self.reasons.items():
            yield f"Ends because {reason}: {_percent(chance)}"
        if not of_skills:
            yield "bnmind simulate estimates how exactly the test measures the ability."

    def to_frame(self) -> pandas.DataFrame:
        """Return the measures as a data frame with columns measure, low and high."""
        import pandas as pd

        rows = [(name, getattr(self, name)) for name in (*CURVES, "length", "cost")]
        rows += [(f"accuracy of {name}", one) for name, one in self.skill_accuracy.items()]
        rows += [(f"exposure of {name}", one) for name, one in self.exposure.items()]
        return pd.DataFrame(
            [(name, one.low, one.high) for name, one in rows], columns=["measure", "low", "high"]
        )


def _percent(share: float) -> str:
    return percent(round(share, 9))  # sums of probabilities may miss 1 by rounding


# --- The evaluation -------------------------------------------------------------------------------

DEFAULT_BELIEFS = 2**20
"""The default limit of beliefs to evaluate."""

_BLOCK_CELLS = 2**22
"""The intended size of the table of a block of beliefs: 32 MB."""

_CELLS_OF_A_TREE = 2**12
"""The cells that a belief by a junction tree is taken to have."""


@dataclass(frozen=True, eq=False)
class _Block:
    """Some beliefs after the same number of items."""

    beliefs: BatchBelief
    probability: Floats
    """``(beliefs,)``."""
    asked: NDArray[np.intp]
    """``(beliefs, questions)``, positions of items in order."""

    def take(self, rows: NDArray[np.intp]) -> _Block:
        return _Block(self.beliefs.take(rows), self.probability[rows], self.asked[rows])


class _Sums:
    """The sums over all ends so far; the last axis of arrays with two is low and high."""

    def __init__(self, n_items: int, n_skills: int) -> None:
        steps = n_items + 1
        self.skills = np.zeros((n_skills, 2))
        self.curves, self.ended = np.zeros((3, 2, steps)), np.zeros((3, 2, steps))
        self.exposure, self.lengths = np.zeros((n_items, 2)), np.zeros(steps)
        self.length, self.cost = np.zeros(2), np.zeros(2)
        self.reasons: dict[str, float] = {}
        self.evaluated = 0.0
        self.n_beliefs = self.n_ends = self.n_merged = self.n_cut = 0


@checked
def evaluate_design(
    design: Design,
    *,
    min_probability: float = 0.0,
    max_beliefs: int = DEFAULT_BELIEFS,
    merge: bool = True,
    progress: Callable[[int, int | None], None] | None = None,
    until: Callable[[], bool] | None = None,
) -> DesignEvaluation:
    """Return the expected results of a test, exactly or as certified intervals.

    Parameters
    ----------
    design
        The bank, the selector, the stopper and the rules. Selectors that draw are refused.
    min_probability
        Beliefs that are reached with a smaller probability are not followed further; in [0, 1).
    max_beliefs
        The largest number of beliefs to evaluate, at least 1. The most probable ones of each
        block are evaluated first, and the tree is cut at all others.
    merge
        Whether equal beliefs are merged if the design allows it. Results do not depend on it.
    progress
        Called from time to time with the number of beliefs evaluated, and None.
    until
        Asked from time to time; if it returns true, the tree is cut at all beliefs that follow.

    Raises
    ------
    InvalidArgumentError
        If the selector needs random numbers, or an argument is out of range.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, MaximalItems
    >>> bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)
    >>> result = evaluate_design(Design(bank, stopper=MaximalItems(2)))
    >>> result.is_exact, round(result.pattern_accuracy.low, 4), result.n_beliefs
    (True, 0.7225, 7)
    """
    if not 0 <= min_probability < 1:
        raise InvalidArgumentError(
            f"expected min_probability in [0, 1), got {min_probability}", min_probability
        )
    check_without_luck(design)
    if max_beliefs < 1:
        raise InvalidArgumentError(f"max_beliefs must be at least 1, got {max_beliefs}")
    return _Evaluation(design, min_probability, max_beliefs, merge=merge).run(progress, until)


class _Evaluation:
    """One evaluation at work."""

    def __init__(
        self, design: Design, min_probability: float, max_beliefs: int, *, merge: bool
    ) -> None:
        bank = design.bank
        self.design, self.bank = design, bank
        self.min_probability, self.max_beliefs = min_probability, max_beliefs
        self.sums = _Sums(len(bank.items), len(bank.skills))
        self.costs = np.array([item.cost for item in bank.items])
        self.limit = _most_items(design)
        kinds = _AnswerKinds.of(bank)
        self.kinds = kinds if merge and kinds.can_merge and _ignores_order(design) else None
        start = start_beliefs(bank, 1)
        self.resolution: _Resolution | None = None
        cells = _CELLS_OF_A_TREE
        if start.table is not None:
            self.resolution = _Resolution.of(bank, start.space)
            cells = start.table.shape[1]
        self.block_size = max(64, _BLOCK_CELLS // cells)
        self.n_responses = max(len(bank.responses(name)) for name in bank.item_names)
        self.n_waiting = 1
        """The number of beliefs on the stack."""
        self.start = _Block(start, np.ones(1), np.zeros((1, 0), dtype=np.intp))

    def run(
        self,
        progress: Callable[[int, int | None], None] | None,
        until: Callable[[], bool] | None,
    ) -> DesignEvaluation:
        # A stack of blocks: the deepest first, and the most probable half first.
        stack = [self.start]
        while stack:
            block = stack.pop()
            if len(block.probability) > self.block_size:
                order = np.argsort(-block.probability, kind="stable")
                half = len(order) // 2
                stack += [block.take(order[half:]), block.take(order[:half])]
                continue
            following = self._expanded(block)
            if following is not None:
                self.n_waiting += len(following.probability)
                stack.append(following)
            if progress is not None:
                progress(self.sums.n_beliefs, None)
            if until is not None and until():
                self.max_beliefs = 0  # all that waits is cut
        return self._result()

    def _expanded(self, block: _Block) -> _Block | None:
        """Return the beliefs after the next item; those at which the test ends are counted."""
        sums, step = self.sums, block.asked.shape[1]
        sums.n_beliefs += len(block.probability)
        self.n_waiting -= len(block.probability)
        values = values_now(block.beliefs)
        pattern = np.stack([values.pattern, values.skills.mean(axis=1), values.entropy])
        sums.curves[:, :, step] += (pattern @ block.probability)[:, None]
        outlook = outlook_of(self.design, block.beliefs, block.asked)
        ends = outlook.reasons != ""
        self._count_ends(block, values, outlook.reasons, np.flatnonzero(ends))
        follows = ~ends & (block.probability >= self.min_probability)
        # A belief is followed by at most as many as there are responses.
        room = (self.max_beliefs - sums.n_beliefs - self.n_waiting) // self.n_responses
        rows = np.flatnonzero(follows)
        if len(rows) > room:
            most_probable = rows[np.argsort(-block.probability[rows], kind="stable")]
            follows[most_probable[max(room, 0) :]] = False
        self._count_cuts(block, np.flatnonzero(~ends & ~follows), outlook.allowed)
        rows = np.flatnonzero(follows)
        if not len(rows):
            return None
        return self._children(block.take(rows), outlook.allowed[rows])

    def _children(self, block: _Block, allowed: NDArray[np.bool_]) -> _Block:
        items, chances = next_items(self.design, block.beliefs, allowed)
        rows, responses = np.nonzero(block.probability[:, None] * chances > NEVER)
        probability = block.probability[rows] * chances[rows, responses]
        asked = np.concatenate([block.asked[rows], items[rows, None]], axis=1)
        if self.kinds is not None:
            answers = block.beliefs.responses[rows].copy()
            answers[np.arange(len(rows)), items[rows]] = responses
            keys = self.kinds.keys(answers)
            _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
            self.sums.n_merged += len(rows) - len(first)
            summed = np.bincount(place.reshape(-1), probability, minlength=len(first))
            probability = np.asarray(summed, dtype=np.float64)
            rows, responses, asked = rows[first], responses[first], asked[first]
        beliefs = block.beliefs.take(rows).update(items[rows], responses)
        return _Block(beliefs, probability, asked)

    def _count_ends(
        self, block: _Block, values: _Values, reasons: Reasons, rows: NDArray[np.intp]
    ) -> None:
        sums, chances, step = self.sums, block.probability[rows], block.asked.shape[1]
        total = float(chances.sum())
        sums.n_ends += len(rows)
        sums.evaluated += total
        sums.lengths[step] += total
        for reason in np.unique(reasons[rows]).tolist():
            share = float(chances[reasons[rows] == reason].sum())
            sums.reasons[reason] = sums.reasons.get(reason, 0.0) + share
        ended = _Values(*(part[rows] for part in values))
        self._add(chances, ended, ended, step)
        sums.length += total * step
        mask = asked_mask(self.bank, block.asked[rows])
        sums.exposure += (chances @ mask)[:, None]
        sums.cost += chances @ (mask @ self.costs)

    def _count_cuts(
        self, block: _Block, rows: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> None:
        if not len(rows):
            return
        sums, chances, step = self.sums, block.probability[rows], block.asked.shape[1]
        total = float(chances.sum())
        sums.n_cut += len(rows)
        beliefs = block.beliefs.take(rows)
        mask = asked_mask(self.bank, block.asked[rows])
        now = values_now(beliefs)
        most = self.limit - step
        if self.resolution is not None and beliefs.table is not None:
            best = self.resolution.best(beliefs, beliefs.table)
        else:
            ones = np.ones(len(rows))
            best = _Values(ones, np.ones(now.skills.shape), np.zeros(len(rows)))
        counts = [len(self.bank.responses(name)) for name in self.bank.item_names]
        bits = np.sort(np.log2(counts))[::-1][:most].sum()
        best = best._replace(entropy=np.maximum(best.entropy, now.entropy - bits))
        self._add(chances, now, best, step)
        sums.length += total * np.array([step + 1, step + most])
        sums.exposure[:, 0] += chances @ mask
        sums.exposure[:, 1] += total
        spent = mask @ self.costs
        left = np.sort(np.where(mask, 0.0, self.costs), axis=1)[:, ::-1][:, :most].sum(axis=1)
        next_one = np.where(allowed[rows], self.costs, np.inf).min(axis=1)
        sums.cost += [chances @ (spent + next_one), chances @ (spent + left)]

    def _add(self, chances: Floats, worst: _Values, best: _Values, step: int) -> None:
        """Add the values of tests that end, or are cut, after some items."""
        sums = self.sums
        sums.skills += np.stack([chances @ worst.skills, chances @ best.skills], axis=1)
        for side, values in enumerate((worst, best)):
            sums.ended[0, side, step] += chances @ values.pattern
            sums.ended[1, side, step] += chances @ values.skills.mean(axis=1)
            # The best entropy is the lower bound.
            sums.ended[2, 1 - side, step] += chances @ values.entropy

    def _result(self) -> DesignEvaluation:
        sums = self.sums
        # Tests that ended earlier keep their values.
        before = np.concatenate(
            [np.zeros((3, 2, 1)), np.cumsum(sums.ended, axis=2)[:, :, :-1]], axis=2
        )
        curves = sums.curves + before
        ends = [CertifiedInterval(*one.tolist()) for one in sums.ended.sum(axis=2)]
        names, skills = self.bank.item_names, self.bank.skills
        return DesignEvaluation(
            bank=self.bank,
            pattern_accuracy=ends[0],
            attribute_accuracy=ends[1],
            entropy=ends[2],
            skill_accuracy={
                n: CertifiedInterval(*p.tolist()) for n, p in zip(skills, sums.skills, strict=True)
            },
            length=CertifiedInterval(*sums.length.tolist()),
            cost=CertifiedInterval(*sums.cost.tolist()),
            exposure={
                n: CertifiedInterval(*p.tolist()) for n, p in zip(names, sums.exposure, strict=True)
            },
            reasons=dict(sorted(sums.reasons.items())),
            lengths=sums.lengths,
            curves=curves,
            evaluated=sums.evaluated,
            n_beliefs=sums.n_beliefs,
            n_ends=sums.n_ends,
            n_merged=sums.n_merged,
            n_cut=sums.n_cut,
        )


# --- Which answers change a belief in the same way ------------------------------------------------

_TOLERANCE = 1e-12
"""Columns whose ratio is constant up to this relative difference count as proportional."""


@dataclass(frozen=True, eq=False)
class _AnswerKinds(Sealed):
    """The kind of each answer to each item of a bank; made by `of`."""

    numbers: NDArray[np.intp]
    """``(items, responses)``, the number of the kind; 0 for answers without effect."""
    signs: NDArray[np.int16]
    """``(items, responses)``: 1, or −1 where an answer cancels one of the kind; 0 for no effect."""
    n_kinds: int
    """The number of kinds, including kind 0."""

    @classmethod
    def of(cls, bank: ItemBank) -> _AnswerKinds:
        """Return the kinds of all answers to the items of a bank."""
        width = max(len(bank.responses(name)) for name in bank.item_names)
        numbers = np.zeros((len(bank.items), width), dtype=np.intp)
        signs = np.zeros((len(bank.items), width), dtype=np.int16)
        known: dict[int, list[tuple[int, Floats]]] = {}
        n_kinds = 1
        for item, channel in enumerate(bank.item_channels):
            of_cause = known.setdefault(int(bank.cause_numbers[item]), [])
            for response, column in enumerate(channel.T):
                scaled = column / max(column.max(), 1e-300)
                if _is_constant(scaled):
                    continue
                number, sign = _found(of_cause, scaled)
                if number == 0:
                    number, sign = n_kinds, 1
                    n_kinds += 1
                    of_cause.append((number, scaled))
                numbers[item, response], signs[item, response] = number, sign
        return cls(numbers, signs, n_kinds)

    @property
    def can_merge(self) -> bool:
        """Whether two answers to different items, or to one item, can have the same effect."""
        return self.n_kinds - 1 < int((self.signs != 0).sum())

    def keys(self, responses: Responses) -> NDArray[np.int16]:
        """Return the asked items and the effects, ``(examinees, items + kinds)``, as key rows."""
        asked = responses != MISSING
        rows, items = np.nonzero(asked)
        given = responses[rows, items].astype(np.intp)
        effects = np.zeros((len(responses), self.n_kinds), dtype=np.int16)
        np.add.at(effects, (rows, self.numbers[items, given]), self.signs[items, given])
        return np.concatenate([asked.astype(np.int16), effects], axis=1)


def _is_constant(column: Floats) -> bool:
    return bool(column.min() > 0 and np.ptp(column) <= _TOLERANCE)


def _found(known: list[tuple[int, Floats]], column: Floats) -> tuple[int, int]:
    """Return the number and the sign of the kind of a column; number 0 if it is a new one."""
    for number, other in known:
        if np.all(np.abs(column - other) <= _TOLERANCE * other):
            return number, 1
        if column.min() > 0 and other.min() > 0:
            product = column * other
            if _is_constant(product / product.max()):
                return number, -1
    return 0, 1


# --- Bounds of the results of tests that were not followed to their end --------------------------


class _Values(NamedTuple):
    """The results of tests that end at some beliefs."""

    pattern: Floats
    """``(beliefs,)``, the probability of the most probable profile."""
    skills: Floats
    """``(beliefs, skills)``, the probability of the most probable level."""
    entropy: Floats
    """``(beliefs,)``, in bits."""


def values_now(beliefs: BatchBelief) -> _Values:
    """Return the results if the tests end now."""
    skills = [beliefs.marginal(skill).max(axis=1) for skill in beliefs.bank.skills]
    return _Values(beliefs.profile().probabilities, np.stack(skills, axis=1), beliefs.entropy)


@dataclass(frozen=True, eq=False)
class _Resolution(Sealed):
    """What all items of a bank together can tell; made by `of`."""

    order: NDArray[np.intp]
    """``(profiles,)``, the profiles, those of one class side by side."""
    starts: NDArray[np.intp]
    """``(classes,)``, the place of the first profile of each class."""
    levels: NDArray[np.intp]
    """``(profiles, skills)``, the level of each skill, in the order of ``order``."""

    @classmethod
    def of(cls, bank: ItemBank, space: ProfileSpace) -> _Resolution:
        """Return the classes of the profiles of a bank."""
        states = np.indices(space.shape).reshape(len(space.shape), -1)
        number, _ = class_numbers(bank, space, states)
        order = np.argsort(number, kind="stable")
        _, starts = np.unique(number[order], return_index=True)
        return cls(order, starts, states[: len(bank.skills)].T[order])

    def best(self, beliefs: BatchBelief, table: Floats) -> _Values:
        """Return bounds of the results of beliefs with a table, however the tests go on."""
        table = table[:, self.order]
        skills = []
        for skill, levels in enumerate(self.levels.T):
            sums = [
                np.add.reduceat(np.where(levels == level, table, 0.0), self.starts, axis=1)
                for level in range(beliefs.space.shape[skill])
            ]
            skills.append(np.max(sums, axis=0).sum(axis=1))
        classes = np.add.reduceat(table, self.starts, axis=1)
        # With hidden variables beside the skills, a profile of the skills is in several cells.
        pattern = (
            np.maximum.reduceat(table, self.starts, axis=1).sum(axis=1)
            if len(beliefs.space.shape) == len(beliefs.bank.skills)
            else np.ones(len(beliefs))
        )
        left = np.maximum(beliefs.entropy - unchecked_entropy(classes), 0.0)
        return _Values(pattern, np.stack(skills, axis=1), left)


def class_numbers(
    bank: ItemBank, space: ProfileSpace, states: NDArray[np.intp]
) -> tuple[NDArray[np.intp], list[NDArray[np.intp]]]:
    """Return the classes of profiles ``(variables, profiles)`` with equal chances of all answers.

    Returns
    -------
    tuple
        The number of the class of each profile, and its row in the channel of each item.
    """
    number = np.zeros(states.shape[1], dtype=np.intp)
    rows = []
    for item, channel in enumerate(bank.item_channels):
        axes = [space.place[name] for name in bank.causes[bank.cause_numbers[item]]]
        sizes = tuple(space.shape[axis] for axis in axes)
        rows.append(np.ravel_multi_index(tuple(states[axis] for axis in axes), sizes))
        _, alike = np.unique(channel, axis=0, return_inverse=True)
        # One item after the other, so that the numbers stay small.
        number = number * len(channel) + alike.reshape(-1)[rows[-1]]
        _, number = np.unique(number, return_inverse=True)
    return number, rows


def _most_items(design: Design) -> int:
    """Return the largest number of items of a test; stoppers wait for rules of whole tests."""
    every = len(design.bank.items)
    if any(isinstance(rule, Blueprint) for rule in design.rules):
        return every
    most = most_items_of(design.stopper)
    return every if most is None else min(most, every)


# --- Whether a design depends on nothing but the belief and the set of items asked ---------------

_SELECTORS = (
    *(MinimalEntropy, TargetEntropy, SkillEntropy, DiscriminationIndex, KullbackLeibler),
    *(PosteriorWeightedKL, ModifiedPosteriorWeightedKL, MaximalFisher, LossGain, FixedOrder),
)
_STOPPERS = (
    *(MaximalItems, MaximalCost, MaximalTime, EntropyBelow, ProfileCertain, SkillsCertain),
    *(DeviationBelow,),
)


def _ignores_order(design: Design) -> bool:
    """Return whether a design is known to ignore the order of the answers; if unsure, False."""
    has_testlets = any(item.testlet for item in design.bank.items)
    rules = all(
        type(rule) in (Enemies, OnlyItems)
        or (type(rule) in (Testlets, Blueprint) and not has_testlets)
        for rule in design.rules
    )
    return (
        rules
        and _selector_ignores_order(design.selector)
        and _stopper_ignores_order(design.stopper)
    )


def _selector_ignores_order(selector: object) -> bool:
    if type(selector) is PerCost:
        return _selector_ignores_order(selector.scored)
    return type(selector) in _SELECTORS


def _stopper_ignores_order(stopper: object) -> bool:
    if stopper is None:
        return True
    if isinstance(stopper, AnyOf | AllOf):
        return all(_stopper_ignores_order(one) for one in stopper.stoppers)
    if type(stopper) is GainBelow:
        return _selector_ignores_order(stopper.scored)
    return type(stopper) in _STOPPERS
