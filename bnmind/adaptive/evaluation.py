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
c(s)           ``ProfileClasses``: profiles with the same chances of all answers
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
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Lt
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, picked
from bnmind._messages import counted, percent
from bnmind._values import Count, Sealed, Value
from bnmind.adaptive.belief_tables import ProfileSpace
from bnmind.adaptive.beliefs import MISSING, BatchBelief, Responses
from bnmind.adaptive.blueprint import Blueprint
from bnmind.adaptive.design import Design
from bnmind.adaptive.estimates import TABLE_PROFILES, has_ability
from bnmind.adaptive.item_trees import Frontier, walk
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.rules import Testlets, asked_mask
from bnmind.adaptive.scores import Selector
from bnmind.adaptive.selectors import ScoredBy
from bnmind.adaptive.stopping import (
    Ending,
    Plateau,
    StopBy,
    Stopper,
    most_items_of,
)
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas
    from scipy.sparse import csr_array


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
    curves: Mapping[str, Floats]
    """The bounds of each measure of `CURVES` by the number of items asked, ``(2, 1 + items)``; a
    test that has ended keeps its values."""
    evaluated: float
    """The probability of the tests that were followed to the end; 1 if nothing was cut."""
    n_beliefs: int
    """The number of beliefs evaluated."""
    n_merged: int
    """The number of beliefs that were merged with an equal one."""
    n_cut: int
    """The number of beliefs at which the tree was cut."""

    @property
    def is_exact(self) -> bool:
        """Whether the tree was not cut."""
        return self.n_cut == 0

    def to_dict(self) -> dict[str, Any]:
        """Return the results as a record for JSON; intervals are pairs."""
        record = {
            **picked(self, "evaluated", *_ROWS, exact="is_exact"),
            **picked(self, beliefs="n_beliefs", merged="n_merged", cut="n_cut"),
            "skill_accuracy": dict(self.skill_accuracy),
            "exposure": dict(self.exposure),
            "lengths": self.lengths.tolist(),
            "reasons": dict(self.reasons),
            "by_items_asked": {
                name: {"low": low.tolist(), "high": high.tolist()}
                for name, (low, high) in self.curves.items()
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


@checked
def evaluate_design(
    design: Design,
    *,
    min_probability: Annotated[float, Ge(0), Lt(1)] = 0.0,
    max_beliefs: Count = DEFAULT_BELIEFS,
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
    sums = _Sums(design, min_probability, max_beliefs)
    merger = _Merger(design.bank)
    can_merge = merge and merger.can_merge and _ignores_order(design)
    for _ in walk(design, follow=sums.follow, merge=merger if can_merge else None):
        if progress is not None:
            progress(sums.n_beliefs, None)
        if until is not None and until():
            sums.max_beliefs = 0  # all that waits is cut
    return sums.result(merger.n_merged)


class _Sums:
    """The sums over all tests so far.

    A row of results has the columns of `values_now`, the length, the cost, and a mask of the items
    asked.
    """

    def __init__(self, design: Design, min_probability: float, max_beliefs: int) -> None:
        self.bank = bank = design.bank
        self.min_probability, self.max_beliefs = min_probability, max_beliefs
        self.costs = np.array([item.cost for item in bank.items])
        self.limit = _most_items(design)
        self.n_responses = [len(bank.responses(name)) for name in bank.item_names]
        steps = len(bank.items) + 1
        n_results = len(CURVES) + len(bank.skills) + 2 + len(bank.items)
        self.ended = np.zeros((2, steps, n_results))
        """The least and the most, by the number of items after which tests end or are cut."""
        self.now = np.zeros((steps, len(CURVES)))
        """The results of all tests by the number of items, if they ended then."""
        self.lengths = np.zeros(steps)
        self.reasons: dict[str, float] = {}
        self.n_beliefs = self.n_cut = 0

    def follow(self, tests: Frontier, ending: Ending, n_waiting: int) -> NDArray[np.bool_]:
        """Count some tests, and return a mask of those to go on with."""
        step, chances = tests.asked.shape[1], tests.probability
        self.n_beliefs += len(chances)
        values = values_now(tests.beliefs)
        self.now[step] += chances @ values[:, : len(CURVES)]
        asked = asked_mask(self.bank, tests.asked)
        results = np.column_stack([values, np.full(len(chances), step), asked @ self.costs, asked])
        ends = ending.reasons != ""
        self.ended[:, step] += chances[ends] @ results[ends]
        self.lengths[step] += chances[ends].sum()
        for reason in np.unique(ending.reasons[ends]).tolist():
            share = float(chances[ending.reasons == reason].sum())
            self.reasons[reason] = self.reasons.get(reason, 0.0) + share
        follows: NDArray[np.bool_] = ~ends & (chances >= self.min_probability)
        # A belief is followed by at most as many as there are responses.
        room = (self.max_beliefs - self.n_beliefs - n_waiting) // max(self.n_responses)
        rows = np.flatnonzero(follows)
        if len(rows) > room:
            most_probable = rows[np.argsort(-chances[rows], kind="stable")]
            follows[most_probable[max(room, 0) :]] = False
        cut = np.flatnonzero(~ends & ~follows)
        if len(cut):
            self.n_cut += len(cut)
            bounds = self._bounds(tests.beliefs.take(cut), results[cut], ending.allowed[cut], step)
            self.ended[:, step] += [chances[cut] @ one for one in bounds]
        return follows

    def _bounds(
        self, beliefs: BatchBelief, results: Floats, allowed: NDArray[np.bool_], step: int
    ) -> tuple[Floats, Floats]:
        """Return the least and the largest results of tests that go on."""
        n_values = len(CURVES) + len(self.bank.skills)
        now, asked = results[:, :n_values], results[:, n_values + 2 :]
        most, entropy = self.limit - step, CURVES.index("entropy")
        if beliefs.table is not None:
            best = beliefs.table @ self._told
        else:
            best = np.ones_like(now)
            best[:, entropy] = 0.0
        bits = np.sort(np.log2(self.n_responses))[::-1][:most].sum()
        best[:, entropy] = np.maximum(best[:, entropy], now[:, entropy] - bits)
        least, largest = results.copy(), results.copy()
        least[:, :n_values], largest[:, :n_values] = np.minimum(now, best), np.maximum(now, best)
        least[:, n_values] += 1
        largest[:, n_values] += most
        left = np.where(asked > 0, 0.0, self.costs)
        least[:, n_values + 1] += np.where(allowed, self.costs, np.inf).min(axis=1)
        largest[:, n_values + 1] += np.sort(left, axis=1)[:, ::-1][:, :most].sum(axis=1)
        largest[:, n_values + 2 :] = 1.0
        return least, largest

    @cached_property
    def _told(self) -> Floats:
        return ProfileClasses.of(self.bank).told()

    def result(self, n_merged: int) -> DesignEvaluation:
        """Return the results of all tests."""
        n, skills = len(CURVES), self.bank.skills
        # Tests that ended earlier keep their values.
        before = np.cumsum(self.ended[:, :-1, :n], axis=1)
        curves = self.now + np.pad(before, ((0, 0), (1, 0), (0, 0)))
        each = iter([CertifiedInterval(*pair) for pair in self.ended.sum(axis=1).T.tolist()])
        pattern, attribute, entropy = islice(each, n)
        return DesignEvaluation(
            bank=self.bank,
            pattern_accuracy=pattern,
            attribute_accuracy=attribute,
            entropy=entropy,
            skill_accuracy=dict(zip(skills, islice(each, len(skills)), strict=True)),
            length=next(each),
            cost=next(each),
            exposure=dict(zip(self.bank.item_names, each, strict=True)),
            reasons=dict(sorted(self.reasons.items())),
            lengths=self.lengths,
            curves=dict(zip(CURVES, np.moveaxis(curves, 2, 0), strict=True)),
            evaluated=float(self.lengths.sum()),
            n_beliefs=self.n_beliefs,
            n_merged=n_merged,
            n_cut=self.n_cut,
        )


def values_now(beliefs: BatchBelief) -> Floats:
    """Return the results of tests that end now, ``(beliefs, 3 + skills)``.

    The columns are those of `CURVES`, then the probability of the most probable level of each
    skill.
    """
    skills = [beliefs.marginal(skill).max(axis=1) for skill in beliefs.bank.skills]
    profiles = beliefs.profile().probabilities
    return np.stack([profiles, np.mean(skills, axis=0), beliefs.entropy, *skills], axis=1)


# --- Which answers change a belief in the same way ------------------------------------------------

_DIGITS = 12
"""Columns whose logarithms agree to so many digits after the point count as proportional."""


class _Merger:
    """Merges tests with equal beliefs, by the effect of each answer: its kind, and a sign.

    Two answers about the same cause are of one kind if their columns are proportional, and of
    opposite signs if the columns are inverse.
    """

    def __init__(self, bank: ItemBank) -> None:
        self.n_merged = 0
        width = max(len(bank.responses(name)) for name in bank.item_names)
        self.kinds = np.zeros((len(bank.items), width), dtype=np.intp)
        """``(items, responses)``, the number of the kind; 0 for answers without effect."""
        self.signs = np.zeros((len(bank.items), width), dtype=np.int16)
        """``(items, responses)``: 1, or −1 where an answer cancels one of the kind."""
        known: dict[tuple[int, bytes], int] = {}
        for item, channel in enumerate(bank.item_channels):
            cause = int(bank.cause_numbers[item])
            for response, column in enumerate(channel.T):
                logs = np.log(np.maximum(column / max(column.max(), 1e-300), 1e-300))
                effect = np.round(logs - logs.min() / 2, _DIGITS) + 0.0  # no −0.0
                if not effect.any():
                    continue
                sign = 1
                if column.min() > 0 and effect[effect != 0][0] < 0:
                    sign, effect = -1, 0.0 - effect
                number = known.setdefault((cause, effect.tobytes()), len(known) + 1)
                self.kinds[item, response], self.signs[item, response] = number, sign
        self.n_kinds = len(known) + 1

    @property
    def can_merge(self) -> bool:
        """Whether two answers to different items, or to one item, can have the same effect."""
        return bool(self.n_kinds - 1 < np.count_nonzero(self.signs))

    def __call__(
        self, responses: Responses, probability: Floats
    ) -> tuple[NDArray[np.intp], Floats]:
        """Return the rows of tests of different beliefs, and the probabilities of each."""
        asked = responses != MISSING
        rows, items = np.nonzero(asked)
        given = responses[rows, items].astype(np.intp)
        effects = np.zeros((len(responses), self.n_kinds), dtype=np.int16)
        np.add.at(effects, (rows, self.kinds[items, given]), self.signs[items, given])
        keys = np.concatenate([asked.astype(np.int16), effects], axis=1)
        _, first, place = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        self.n_merged += len(keys) - len(first)
        summed = np.bincount(place.reshape(-1), probability)
        return first, np.asarray(summed, dtype=np.float64)


def _most_items(design: Design) -> int:
    """Return the largest number of items of a test; stoppers wait for rules of whole tests."""
    every = len(design.bank.items)
    if any(isinstance(rule, Blueprint) for rule in design.rules):
        return every
    most = most_items_of(design.stopper)
    return every if most is None else min(most, every)


def _ignores_order(design: Design) -> bool:
    """Return whether a design is known to ignore the order of the answers; if unsure, False."""
    by_order: tuple[type, ...] = (ScoredBy, StopBy, Plateau)
    if any(item.testlet for item in design.bank.items):
        by_order += (Testlets, Blueprint)
    parts: list[Any] = [design.selector, *design.rules]
    parts += [] if design.stopper is None else [design.stopper]
    for part in parts:  # which grows by the parts inside
        if not type(part).__module__.startswith("bnmind.") or isinstance(part, by_order):
            return False
        for field in vars(part).values():
            inside = field if isinstance(field, tuple) else (field,)
            pairs = [one if isinstance(one, tuple) else (one,) for one in inside]
            parts += [x for pair in pairs for x in pair if isinstance(x, Selector | Stopper)]
    return True


# --- The classes of profiles that no test tells apart ---------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class ProfileClasses(Sealed):
    """The classes of the profiles of a bank; made by `of`."""

    bank: ItemBank
    prior: Floats
    """``(classes,)``."""
    channels: Floats
    """``(items, classes, responses)``, padded with zeros."""
    number: NDArray[np.intp]
    """``(profiles,)``, the class of each profile of the hidden variables; 0 if impossible."""
    shares: Floats
    """``(profiles,)``, the probability of each profile within its class."""
    shape: tuple[int, ...]
    """The number of levels of each skill, then of each other hidden variable."""

    @classmethod
    def of(cls, bank: ItemBank) -> ProfileClasses:
        """Return the classes of a bank.

        Raises
        ------
        TooLargeError
            If the bank has more than 65,536 profiles.
        """
        space = ProfileSpace.table(bank, TABLE_PROFILES)
        (profiles,) = space.prior
        possible = np.flatnonzero(profiles > 0)
        every = np.ones(len(profiles))
        rows = []  # of the channel of each item, by possible profiles
        for item in range(len(bank.items)):
            view = space.item_view(item)[1]
            row = view.times(every, np.arange(view.n_cells, dtype=np.float64))
            rows.append(row[possible].astype(np.intp))
        kinds = [
            np.unique(channel, axis=0, return_inverse=True)[1].reshape(-1)[row]
            for channel, row in zip(bank.item_channels, rows, strict=True)
        ]
        _, first, of_possible = np.unique(
            np.stack(kinds, axis=1), axis=0, return_index=True, return_inverse=True
        )
        number = np.zeros(len(profiles), dtype=np.intp)
        number[possible] = of_possible.reshape(-1)
        prior = np.asarray(np.bincount(number, profiles), dtype=np.float64)
        items = np.arange(len(rows))[:, None]
        return cls(
            bank=bank,
            prior=prior,
            channels=bank.channels()[items, np.stack(rows)[:, first]],
            number=number,
            shares=profiles / prior[number],
            shape=space.shape,
        )

    def within(self) -> Floats:
        """Return the entropy of the profile within each class, in bits, ``(classes,)``."""
        logs = np.log2(np.maximum(self.shares, 1e-300))
        return np.maximum(np.bincount(self.number, -self.shares * logs), 0.0)

    def _skill_profiles(self) -> csr_array:
        """Return the share of each profile of the skills in each class."""
        from scipy.sparse import csr_array

        n_others = int(np.prod(self.shape[len(self.bank.skills) :], dtype=np.intp))
        profiles = np.flatnonzero(self.shares)
        places = (profiles // n_others, self.number[profiles])
        shape = (len(self.number) // n_others, len(self.prior))
        return csr_array((self.shares[profiles], places), shape=shape)

    def profile_gains(self) -> Floats:
        """Return the share of a profile of the skills in each class, ``(choices, classes)``.

        Of the profiles that only one class has, the most probable one is enough.
        """
        table = self._skill_profiles()
        n_classes = np.diff(table.indptr)
        best = np.diag(_largest(table[n_classes == 1]))
        return np.concatenate([best, table[n_classes > 1].toarray()])

    def told(self) -> Floats:
        """Return the results of a test that tells the class, ``(profiles, 3 + skills)``.

        The columns are those of `values_now`.
        """
        profile = _largest(self._skill_profiles())
        skills = [self.level_gains(skill).max(axis=0) for skill in range(len(self.bank.skills))]
        each = np.stack([profile, np.mean(skills, axis=0), self.within(), *skills], axis=1)
        return each[self.number]

    def level_gains(self, skill: int) -> Floats:
        """Return the share of each level of a skill in each class, ``(levels, classes)``."""
        levels = np.unravel_index(np.arange(len(self.number)), self.shape)[skill]
        gains = np.zeros((self.shape[skill], len(self.prior)))
        np.add.at(gains, (levels, self.number), self.shares)
        return gains


def _largest(table: csr_array) -> Floats:
    """Return the largest number of each column, at least 0."""
    largest = np.zeros(table.shape[1])
    np.maximum.at(largest, table.indices, table.data)
    return largest
