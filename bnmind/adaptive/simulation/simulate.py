"""Simulations of adaptive tests of many examinees, with one or more selectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._workers import Executor, results_of
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief, Responses
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.profile_space import n_profiles
from bnmind.adaptive.beliefs.start import start_beliefs
from bnmind.adaptive.beliefs.tree_batch import TreeBatch
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.pilot.pilot_items import check_pilots
from bnmind.adaptive.responses.examinees import Examinees, Levels
from bnmind.adaptive.selection.selector import Selector
from bnmind.adaptive.simulation.batch_run import TestProtocol, run_batch
from bnmind.adaptive.simulation.measures import Predictor, default_measures
from bnmind.adaptive.simulation.options import SimulationOptions
from bnmind.adaptive.simulation.results import SelectorRun, SimulationResult, joined_runs
from bnmind.adaptive.stopping.ending import rules_for_test
from bnmind.adaptive.stopping.stopper import Stopper
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["ProgressOfTests", "simulate"]

ProgressOfTests: TypeAlias = Callable[[int, int], None]
"""A function called with the number of finished tests and of all tests."""

_BATCH_CELLS = 2**23
"""The intended size of the largest array of a batch: 64 MB."""

_MOST_EXAMINEES = 500
"""The most examinees in a batch; larger batches are not faster."""


@dataclass(frozen=True, eq=False, kw_only=True)
class _Task:
    """The tests of some examinees with one selector, as one unit of work."""

    protocol: TestProtocol
    name: str
    selector: Selector[SkillBelief]
    numbers: NDArray[np.intp]
    responses: Responses
    levels: Levels
    abilities: Floats
    eligible: NDArray[np.bool_]
    batch_size: int

    def run(self) -> SelectorRun:
        parts = []
        for start in range(0, len(self.numbers), self.batch_size):
            some = slice(start, start + self.batch_size)
            batch = run_batch(
                self.protocol,
                self.selector,
                self.numbers[some],
                responses=self.responses[some],
                levels=self.levels[some],
                abilities=self.abilities[some],
                eligible=self.eligible[some],
            )
            parts.append(
                SelectorRun(
                    selector=self.name,
                    asked=batch.asked,
                    reasons=batch.reasons,
                    set_aside=batch.set_aside,
                    values=batch.values,
                    classified=batch.classified,
                    impossible=batch.impossible,
                    profiles=batch.profiles,
                    probabilities=batch.probabilities,
                    posteriors=batch.posteriors,
                )
            )
        return joined_runs(parts, np.arange(len(self.numbers)))


@checked
def simulate(
    bank: ItemBank | HasBank,
    examinees: Examinees,
    selectors: Mapping[str, Selector[SkillBelief]],
    stopper: Stopper | None = None,
    *,
    eligible: ArrayLike | None = None,
    options: SimulationOptions | None = None,
    progress: ProgressOfTests | None = None,
) -> SimulationResult:
    """Simulate adaptive tests of the same examinees with each of several selectors.

    Tests run in batches, question by question. The test of an examinee with a selector does
    not depend on other selectors and examinees. So results do not depend on the number of
    workers nor, except for rounding, on the batch size.

    A test continues after an answer that is impossible according to the bank. From then on
    each answer of this examinee counts as an error with a chance of 2**-40, as in a live
    session, and `SelectorRun.impossible` is true.

    Parameters
    ----------
    bank
        The bank that the tests use, or what `learn` returns.
    examinees
        The examinees: drawn from this bank or another one, or recorded. Items without an
        answer are not asked.
    selectors
        The selectors, by their names in the results.
    stopper
        The stopper; without one a test ends when no item may be asked.
    eligible
        ``(examinees, items)``, a mask of the items that may be asked, such as the result
        of `ItemEligibility.draw`; default all.
    options
        The rules, the measures, the seed, and the number of workers.
    progress
        Called from time to time with the number of finished tests and of all tests.

    Raises
    ------
    UnknownNameError
        If the examinees have no answers to an item of the bank.
    InvalidArgumentError
        If an item has no such response.
        If there is no selector, or ``eligible`` does not fit.
    InvalidArgumentError
        If no test can meet a `Blueprint` among the rules.
    TooLargeError
        If the bank's junction tree is too large.

    Examples
    --------
    >>> from bnmind.adaptive import MaximalItems, MinimalEntropy, RandomItem
    >>> bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)
    >>> examinees = Examinees.drawn(bank, 500, seed=1)
    >>> selectors = {"entropy": MinimalEntropy(), "random": RandomItem()}
    >>> result = simulate(bank, examinees, selectors, MaximalItems(2))
    >>> result
    SimulationResult(500 examinees, entropy, random)
    >>> more, error = result.difference("pattern_accuracy", "entropy", "random")
    >>> bool(more[2] > 2 * error[2])
    True
    """
    if not selectors:
        raise InvalidArgumentError("at least one selector is needed", selectors)
    bank = bank_of(bank)
    asked = options or SimulationOptions()
    responses, levels = examinees.responses_to(bank), examinees.levels_in(bank)
    abilities = examinees.abilities_in(bank)
    truth = bool(np.any(levels != MISSING) or np.any(~np.isnan(abilities)))
    measures = default_measures(bank, truth=truth) if asked.measures is None else asked.measures
    may = responses != MISSING
    if eligible is not None:
        mask = np.asarray(eligible)
        if mask.shape != may.shape or mask.dtype != np.bool_:
            raise InvalidArgumentError(
                f"expected truth values of shape {may.shape} as eligible, got an array of"
                f" shape {mask.shape} of {mask.dtype}",
                mask.dtype,
            )
        may = may & mask
    check_pilots(asked.pilot, bank)
    prior = start_beliefs(bank, 1)
    protocol = TestProtocol(
        prior=prior,
        stopper=stopper,
        rules=rules_for_test(bank, asked.rules, stopper),
        measures=tuple(measures),
        predictor=Predictor.of(bank),
        seed=asked.seed,
        posteriors=asked.posteriors,
        pilot=asked.pilot,
    )
    size = asked.batch_size or _batch_size(bank, prior)
    blocks = _blocks(len(examinees), size, asked.workers)
    tasks = [
        _Task(
            protocol=protocol,
            name=name,
            selector=selector,
            numbers=examinees.numbers[rows],
            responses=responses[rows],
            levels=levels[rows],
            abilities=abilities[rows],
            eligible=may[rows],
            batch_size=size,
        )
        for rows in blocks
        for name, selector in selectors.items()
    ]
    parts: list[SelectorRun] = []
    done = 0
    for part in results_of([task.run for task in tasks], asked.workers):
        parts.append(part)
        done += len(part.asked)
        if progress is not None:
            progress(done, len(examinees) * len(selectors))
        whole = len(parts) % len(selectors) == 0
        if whole and asked.until is not None and asked.until():
            break
    order = np.arange(done // len(selectors))
    runs = tuple(
        joined_runs(parts[number :: len(selectors)], order) for number in range(len(selectors))
    )
    return SimulationResult(
        items=bank.item_names,
        skills=bank.skills,
        measures=tuple(measures),
        responses=responses[order],
        levels=levels[order],
        runs=runs,
        states=tuple(bank.variable(skill).states for skill in bank.skills),
    )


def _batch_size(bank: ItemBank, prior: BatchBelief) -> int:
    """Return the number of examinees computed at once, which depends on the bank alone."""
    cells = prior.tree.total_size if isinstance(prior, TreeBatch) else n_profiles(bank)
    widest = max(math.prod(bank.channel(name).shape[:1]) for name in bank.item_names)
    cells = max(cells, widest * len(bank.items))
    most: int = _BATCH_CELLS // cells
    return max(1, min(_MOST_EXAMINEES, most))


def _blocks(n: int, size: int, workers: int | Executor) -> list[NDArray[np.intp]]:
    """Return the rows of the examinees in blocks of whole batches, for the workers.

    One worker gets a block for each batch. Several workers get few blocks, since each block
    compiles its own plan.
    """
    batches = -(-n // size)
    most = batches if workers == 1 else _most_blocks(workers)
    together = size * -(-batches // most)
    return [np.arange(start, min(n, start + together)) for start in range(0, n, together)]


def _most_blocks(workers: int | Executor) -> int:
    known = workers if isinstance(workers, int) and workers > 0 else 16
    return 4 * max(2, known)
