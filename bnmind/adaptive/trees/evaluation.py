r"""Exact evaluation: the expected results of a test over all answers, without simulated examinees.

A design without luck is a tree: the belief determines the next item, and each response to it leads
to another belief. The tree is expanded from the start, many beliefs at a time.

=============  =====================================================================
symbol         name here
=============  =====================================================================
e              the responses so far, a row of a `_Block`
P(e)           ``probability``
E[v]           Σ_e P(e) v(e) over the ends e of the test
=============  =====================================================================

Equal beliefs are merged (`answer_kinds`), unless the design may depend on the order of the answers
(`order_free`). Where the tree is too large, it is cut at improbable beliefs, and the results are
certified intervals (`cut_bounds`): each cut adds P(e) times the width of its own bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.start import start_beliefs
from bnmind.adaptive.beliefs.table_batch import TableBatch
from bnmind.adaptive.selection.rules import asked_mask
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.stopping.stopper import Reasons
from bnmind.adaptive.trees.answer_kinds import AnswerKinds
from bnmind.adaptive.trees.cut_bounds import Resolution, Values, most_items, values_now
from bnmind.adaptive.trees.evaluation_results import CertifiedInterval, DesignEvaluation
from bnmind.adaptive.trees.next_items import check_without_luck, outlook_of, selected_items
from bnmind.adaptive.trees.order_free import ignores_order
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["DEFAULT_BELIEFS", "evaluate_design"]

DEFAULT_BELIEFS = 2**20
"""The default limit of beliefs to evaluate."""

_BLOCK_CELLS = 2**22
"""The intended size of the table of a block of beliefs: 32 MB."""

_CELLS_OF_A_TREE = 2**12
"""The cells that a belief by a junction tree is taken to have."""

_NEVER = 1e-280
"""Answers of smaller probability are taken as impossible, so that no belief underflows."""


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


@dataclass(eq=False)
class _Sums:
    """The sums over all ends so far; the last axis of arrays with two is low and high."""

    n_items: int
    n_skills: int
    _: KW_ONLY
    skills: Floats = field(init=False)
    curves: Floats = field(init=False)
    ended: Floats = field(init=False)
    exposure: Floats = field(init=False)
    lengths: Floats = field(init=False)
    length: Floats = field(init=False)
    cost: Floats = field(init=False)
    reasons: dict[str, float] = field(default_factory=dict)
    evaluated: float = 0.0
    n_beliefs: int = 0
    n_ends: int = 0
    n_merged: int = 0
    n_cut: int = 0

    def __post_init__(self) -> None:
        steps = self.n_items + 1
        self.skills = np.zeros((self.n_skills, 2))
        self.curves, self.ended = np.zeros((3, 2, steps)), np.zeros((3, 2, steps))
        self.exposure, self.lengths = np.zeros((self.n_items, 2)), np.zeros(steps)
        self.length, self.cost = np.zeros(2), np.zeros(2)


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
        self.limit = most_items(design)
        kinds = AnswerKinds.of(bank)
        self.kinds = kinds if merge and kinds.can_merge and ignores_order(design) else None
        start = start_beliefs(bank, 1)
        self.resolution: Resolution | None = None
        cells = _CELLS_OF_A_TREE
        if isinstance(start, TableBatch):
            self.resolution = Resolution.of(bank, start.space)
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
        items = selected_items(self.design, block.beliefs, allowed)
        chances = np.zeros((len(items), self.n_responses))
        for item in np.unique(items).tolist():
            rows = np.flatnonzero(items == item)
            predicted = block.beliefs.take(rows).predict([item])[:, 0]
            chances[rows, : predicted.shape[1]] = predicted
        rows, responses = np.nonzero(block.probability[:, None] * chances > _NEVER)
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
        self, block: _Block, values: Values, reasons: Reasons, rows: NDArray[np.intp]
    ) -> None:
        sums, chances, step = self.sums, block.probability[rows], block.asked.shape[1]
        total = float(chances.sum())
        sums.n_ends += len(rows)
        sums.evaluated += total
        sums.lengths[step] += total
        for reason in np.unique(reasons[rows]).tolist():
            share = float(chances[reasons[rows] == reason].sum())
            sums.reasons[reason] = sums.reasons.get(reason, 0.0) + share
        ended = Values(*(part[rows] for part in values))
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
        if self.resolution is not None and isinstance(beliefs, TableBatch):
            best = self.resolution.best(beliefs)
        else:
            ones = np.ones(len(rows))
            best = Values(ones, np.ones(now.skills.shape), np.zeros(len(rows)))
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

    def _add(self, chances: Floats, worst: Values, best: Values, step: int) -> None:
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
        ends = [_interval(one) for one in sums.ended.sum(axis=2)]
        names, skills = self.bank.item_names, self.bank.skills
        return DesignEvaluation(
            bank=self.bank,
            pattern_accuracy=ends[0],
            attribute_accuracy=ends[1],
            entropy=ends[2],
            skill_accuracy={n: _interval(p) for n, p in zip(skills, sums.skills, strict=True)},
            length=_interval(sums.length),
            cost=_interval(sums.cost),
            exposure={n: _interval(p) for n, p in zip(names, sums.exposure, strict=True)},
            reasons=dict(sorted(sums.reasons.items())),
            lengths=sums.lengths,
            curves=curves,
            evaluated=sums.evaluated,
            n_beliefs=sums.n_beliefs,
            n_ends=sums.n_ends,
            n_merged=sums.n_merged,
            n_cut=sums.n_cut,
        )


def _interval(pair: Floats) -> CertifiedInterval:
    low, high = pair.tolist()
    return CertifiedInterval(low, high)
