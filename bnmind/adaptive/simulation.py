"""Simulations of adaptive tests of many examinees: of selectors, of designs, of real answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._values import Count, Natural, Value
from bnmind._workers import faults_of_workers, results_of
from bnmind.adaptive.beliefs import (
    MISSING,
    BatchBelief,
    updated_batch_anyway,
)
from bnmind.adaptive.design import DEFAULT_RULES, Design, openings
from bnmind.adaptive.estimates import start_beliefs
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.pilot import PilotItems, drawn_places
from bnmind.adaptive.responses import Responses, fold_numbers
from bnmind.adaptive.rules import Rule, asked_mask
from bnmind.adaptive.scores import Selector
from bnmind.adaptive.selectors import ItemEligibility, generator_of
from bnmind.adaptive.simulation_results import (
    Measure,
    Moment,
    SelectorRun,
    SimulationResult,
    default_measures,
    joined_runs,
    measure_of,
)
from bnmind.adaptive.stopping import Ending, Stopper
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas


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
    name: str,
    design: Design,
    prior: BatchBelief,
    people: Responses,
    may: NDArray[np.bool_],
    *,
    measures: Sequence[Measure],
    posteriors: bool,
) -> SelectorRun:
    """Return the results of the tests of some examinees with one design, in one batch.

    Parameters
    ----------
    name
        The name in the results.
    design
        The design.
    prior
        The belief about one examinee who has answered nothing.
    people
        The examinees.
    may
        ``(examinees, items)``, a mask of the items that may be asked of each.
    measures, posteriors
        As in `SimulationOptions`.
    """
    bank, n = design.bank, len(people)
    responses, levels = people.codes, people.levels_in(bank)
    abilities = people.abilities_in(bank)
    places = drawn_places(design.pilot, design.seed, people.numbers)
    beliefs, rows = prior.take(np.zeros(n, dtype=np.intp)), np.arange(n)
    asked, aside = np.empty((n, 0), dtype=np.intp), np.zeros(may.shape, dtype=bool)
    impossible = np.zeros(n, dtype=bool)
    at_end: dict[str, NDArray[Any]] = {}
    values: list[Floats] = []
    marginals: list[Floats] = []
    while True:
        moment = Moment(
            beliefs=beliefs,
            responses=responses[rows],
            asked=asked_mask(bank, asked[rows]),
            levels=levels[rows],
            abilities=abilities[rows],
        )
        measured = [measure.function(moment) for measure in measures]
        values.append(_changed(values, rows, np.reshape(measured, (len(measures), len(rows))).T))
        if posteriors or not marginals:
            marginals.append(_changed(marginals, rows, moment.marginals))
        opening = openings(
            design, beliefs, asked[rows], available=may[rows] & ~aside[rows], places=places[rows]
        )
        ends = opening.reasons != ""
        if ends.any():
            ended = rows[ends]
            marginals[-1][ended] = moment.marginals[ends]
            now: dict[str, NDArray[Any]] = {
                "reasons": opening.reasons.astype(object),
                "classified": moment.classified,
                "profiles": moment.profile.levels,
                "probabilities": moment.profile.probabilities,
            }
            for key, found in now.items():
                whole = at_end.setdefault(key, np.empty((n, *found.shape[1:]), dtype=found.dtype))
                whole[ended] = found[ends]
            rows, beliefs, opening = rows[~ends], beliefs.take(~ends), opening.take(~ends)
        if not len(rows):
            break
        luck = _Luck(design.seed, people.numbers[rows], len(values) - 1, len(bank.items))
        items, set_aside = _selected(design, beliefs, opening, luck)
        asked = np.concatenate([asked, np.full((n, 1), MISSING)], axis=1)
        asked[rows, -1] = items
        aside[rows] |= set_aside
        answers = responses[rows, items].astype(np.intp)
        beliefs = updated_batch_anyway(
            beliefs, np.where(design.is_counted[items], items, MISSING), answers
        )
        impossible[rows] = beliefs.error_chance > 0
    return SelectorRun(
        selector=name,
        asked=asked,
        set_aside=aside,
        values=np.stack(values, axis=2).swapaxes(0, 1),
        impossible=impossible,
        posteriors=np.stack(marginals, axis=1),
        **at_end | {"reasons": at_end["reasons"].astype(np.str_)},
    )


def _changed(before: Sequence[Floats], rows: NDArray[np.intp], now: Floats) -> Floats:
    """Return the last of some arrays with other rows; rows of finished tests do not change."""
    whole = before[-1].copy() if before else np.empty(now.shape)
    whole[rows] = now
    return whole


def _selected(
    design: Design, beliefs: BatchBelief, opening: Ending, luck: _Luck
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the next item of each examinee, and the items withheld from then on."""
    is_pilot, allowed = opening.is_pilot, opening.allowed
    if design.pilot is None or not is_pilot.any():
        selection = design.selector.select_batch(beliefs, allowed, luck=luck)
        return selection.items, selection.set_aside
    items, aside = np.empty(len(allowed), dtype=np.intp), np.zeros(allowed.shape, dtype=bool)
    drawn = np.asarray(luck)
    for rows, selector in ((is_pilot, design.pilot.rule), (~is_pilot, design.selector)):
        if rows.any():
            selection = selector.select_batch(beliefs.take(rows), allowed[rows], luck=drawn[rows])
            items[rows], aside[rows] = selection.items, selection.set_aside
    return items, aside


@dataclass(frozen=True, kw_only=True)
class SimulationOptions(Value):
    """How simulated tests are run, measured and computed.

    Parameters
    ----------
    rules
        The rules, in the order of application.
    measures
        The measures taken after every answer: names of `MEASURES`, or measures of your own. By
        default some of answers and of skills; if the truth is known, some of errors, too.
    seed
        At least 0, for selectors that draw at random; the same seed gives the same tests.
        Each examinee has a separate generator for each question, equal for all selectors.
    batch_size
        The number of examinees computed at once; default chosen for the bank.
    posteriors
        Whether to keep the probability of each level of each skill after every answer, and not
        only at the end; see `SimulationResult.posteriors`.
    workers
        The number of processes; −1 for one process for each core. Or an executor, such as
        `bnmind.lab.Cluster`.
    until
        Asked after each batch of examinees; if it returns true, the simulation ends with the
        first examinees, whose tests are finished. `replay` asks it after each fold.
    pilot
        New items that are asked in each test to learn their parameters.

    Raises
    ------
    InvalidArgumentError
        If a number is out of range.
    """

    rules: Sequence[Rule] = DEFAULT_RULES
    measures: Sequence[str | Measure] | None = None
    seed: Natural = 0
    batch_size: Count | None = None
    posteriors: bool = False
    workers: int | Executor = 1
    until: Callable[[], bool] | None = None
    pilot: PilotItems | None = None

    def _faults(self) -> list[str]:
        return faults_of_workers(self.workers)


ProgressOfTests: TypeAlias = Callable[[int, int], None]
"""A function called with the number of finished tests and of all tests."""

_BATCH_CELLS = 2**23
"""The intended size of the largest array of a batch: 64 MB."""

_MOST_EXAMINEES = 500
"""The most examinees in a batch; larger batches are not faster."""


@checked
def simulate(
    bank: ItemBank | HasBank,
    examinees: Responses,
    selectors: Mapping[str, Selector],
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
    >>> examinees = Responses.drawn(bank, 500, seed=1)
    >>> selectors = {"entropy": MinimalEntropy(), "random": RandomItem()}
    >>> result = simulate(bank, examinees, selectors, MaximalItems(2))
    >>> result
    SimulationResult(500 examinees, entropy, random)
    >>> more, error = result.difference("pattern_accuracy", "entropy", "random")
    >>> bool(more[2] > 2 * error[2])
    True
    """
    bank, asked = bank_of(bank), options or SimulationOptions()
    designs = {
        name: Design(
            bank, one, stopper, rules=tuple(asked.rules), seed=asked.seed, pilot=asked.pilot
        )
        for name, one in selectors.items()
    }
    return simulate_designs(designs, examinees, eligible=eligible, options=asked, progress=progress)


def _batch_size(bank: ItemBank, prior: BatchBelief) -> int:
    """Return the number of examinees computed at once, which depends on the bank alone."""
    widest = max(math.prod(bank.channel(name).shape[:1]) for name in bank.item_names)
    cells = max(prior.space.n_cells, widest * len(bank.items))
    most: int = _BATCH_CELLS // cells
    return max(1, min(_MOST_EXAMINEES, most))


_TOGETHER = 20
"""The tests after which the exposure of items is counted again."""

_ROUNDS = 20
"""The most rounds of all tests that find the probabilities of eligibility."""


@checked
def simulate_designs(
    designs: Mapping[str, Design],
    examinees: Responses,
    *,
    eligible: ArrayLike | None = None,
    options: SimulationOptions | None = None,
    progress: ProgressOfTests | None = None,
) -> SimulationResult:
    """Simulate adaptive tests of the same examinees with each of several designs.

    A simulated test asks the same items and stops at the same question as a live test of the
    same design with the same answers; selectors that draw do so for the first examinee.

    Parameters
    ----------
    designs
        The designs, by their names in the results. Their banks have the same items and skills.
    examinees
        The examinees; see `simulate`.
    eligible
        As for `simulate`; what the exposure control of a design sets aside is not asked either.
    options
        The measures and the number of workers. The rules, the pilot items and
        the seed are those of the designs.
    progress
        Called from time to time with the number of finished tests and of all tests.

    Raises
    ------
    InvalidArgumentError
        If there is no design, the banks have different items or skills, or ``eligible`` does not
        fit.
    """
    if not designs:
        raise InvalidArgumentError("at least one selector or design is needed", designs)
    bank, names = next(iter(designs.values())).bank, list(designs)
    for name, design in designs.items():
        if (design.bank.item_names, design.bank.skills) != (bank.item_names, bank.skills):
            raise InvalidArgumentError(f"the bank of {name} has other items or skills", name)
    shape = (len(examinees), len(bank.items))
    mask = np.ones(shape, dtype=bool) if eligible is None else np.asarray(eligible)
    if mask.shape != shape or mask.dtype != np.bool_:
        raise InvalidArgumentError(
            f"expected truth values of shape {shape} as eligible, got an array of"
            f" shape {mask.shape} of {mask.dtype}",
            mask.dtype,
        )
    options = options or SimulationOptions()
    may = {name: mask & _eligible(design, examinees) for name, design in designs.items()}
    examinees = examinees.for_bank(bank)
    responses, levels = examinees.codes, examinees.levels_in(bank)
    truth = np.any(levels != MISSING) or not np.isnan(examinees.abilities_in(bank)).all()
    asked = default_measures(bank, truth=bool(truth))
    measures = tuple(map(measure_of, asked if options.measures is None else options.measures))
    priors = {name: start_beliefs(design.bank, 1) for name, design in designs.items()}
    size = options.batch_size or _batch_size(bank, priors[names[0]])
    tasks = []
    for start in range(0, len(examinees), size):
        rows = np.arange(start, min(start + size, len(examinees)))
        people = examinees.take(rows)
        tasks += [
            partial(
                run_batch,
                name,
                design,
                priors[name],
                people,
                may[name][rows] & (responses[rows] != MISSING),
                measures=measures,
                posteriors=options.posteriors,
            )
            for name, design in designs.items()
        ]
    parts: list[SelectorRun] = []
    done = 0
    for part in results_of(tasks, options.workers):
        parts.append(part)
        done += len(part.asked)
        if progress is not None:
            progress(done, len(examinees) * len(designs))
        whole = len(parts) % len(designs) == 0
        if whole and options.until is not None and options.until():
            break
    order = np.arange(done // len(designs))
    return SimulationResult(
        items=bank.item_names,
        skills=bank.skills,
        measures=measures,
        responses=responses[order],
        levels=levels[order],
        runs=tuple(joined_runs(parts[n :: len(designs)], order) for n in range(len(designs))),
        states=tuple(bank.variable(skill).states for skill in bank.skills),
    )


def _eligible(design: Design, examinees: Responses) -> NDArray[np.bool_]:
    """Return a mask of the items that are eligible in each test, ``(examinees, items)``."""
    return np.array([design.eligible(number) for number in examinees.numbers.tolist()])


@checked
def calibrated(
    design: Design, examinees: Responses, *, options: SimulationOptions | None = None
) -> Design:
    """Return a design whose exposure control keeps the exposure of each item at its limit.

    First the tests are simulated a few at a time, and each time the counts so far determine which
    items are eligible. Then all tests are simulated in rounds, each with the counts of the round
    before. An item is asked more often when better ones are not eligible, so counts from before
    they were restricted would let it exceed the limit.

    The counts are those of the round with the smallest largest exposure. The rounds end when this
    is at most the limit and two standard errors of a proportion, and the last round was no better;
    or after 20 rounds, if a test needs more items than the limit allows. A simulation of the same
    examinees asks the same items as the best round. Tests of other examinees are near the limit,
    with an error that falls with the number of simulated examinees.

    Parameters
    ----------
    design
        A design with `Design.eligibility`; others are returned as they are.
    examinees
        The examinees.
    options
        As for `simulate_designs`. The result does not depend on the number of workers.

    References
    ----------
    See `ItemEligibility`.
    """
    if design.eligibility is None:
        return design
    options = replace(options or SimulationOptions(), measures=(), until=None)
    alone = replace(options, workers=1)
    limit, n = design.eligibility.limit, len(examinees)
    for start in range(0, n, _TOGETHER):
        some = examinees.take(np.arange(start, min(start + _TOGETHER, n)))
        counts = design.eligibility.after(*_tested(design, some, alone))
        design = replace(design, eligibility=counts)
    nothing, found, least = ItemEligibility.start(design.bank, limit), design, math.inf
    for _ in range(_ROUNDS):
        eligible, asked = _tested(design, examinees, options)
        largest = float(asked.mean(axis=0).max())
        if largest < least:
            found, least = design, largest
        elif least <= limit + 2 * math.sqrt(limit * (1 - limit) / n):
            break
        design = replace(design, eligibility=nothing.after(eligible, asked))
    return found


def _tested(
    design: Design, examinees: Responses, options: SimulationOptions
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which items were eligible, and which were asked, ``(examinees, items)``."""
    run = simulate_designs({"design": design}, examinees, options=options).runs[0]
    return _eligible(design, examinees), run.asked_mask


def _fold(
    learn: Callable[[Responses], ItemBank],
    responses: Responses,
    selectors: Mapping[str, Selector],
    stopper: Stopper | None,
    options: SimulationOptions,
    is_member: NDArray[np.bool_],
) -> SimulationResult:
    """Return the tests of the members of a fold."""
    bank = learn(responses.take(~is_member))
    members = responses.take(is_member)
    return simulate(bank, members, selectors, stopper, options=options)


@checked
def replay(
    learn: Callable[[Responses], ItemBank],
    responses: Responses | pandas.DataFrame | ArrayLike,
    selectors: Mapping[str, Selector],
    stopper: Stopper | None = None,
    *,
    folds: int = 10,
    fold_seed: int = 1,
    options: SimulationOptions | None = None,
    progress: ProgressOfTests | None = None,
) -> SimulationResult:
    """Simulate adaptive tests of recorded examinees with cross-validated banks.

    For each fold a bank is learned from the answers of all other examinees, and the
    examinees of the fold are tested with it. The answers to selected items are the recorded
    ones.

    Parameters
    ----------
    learn
        A function of the responses of some examinees that returns a bank, always with the
        same items and skills, such as ``lambda others: learn(others, q_matrix).bank``.
    responses
        The responses of all examinees.
    selectors, stopper, options
        As for `simulate`; the workers of the options get a fold each. After a fold, ``until`` may
        end the replay with the examinees of the folds done.
    folds, fold_seed
        As for `fold_numbers`.
    progress
        Called after every fold with the number of finished tests and of all tests.

    Raises
    ------
    InvalidArgumentError
        If there are more folds than examinees, or the banks have different items or skills.
    TableError
        If the responses are not valid, or nobody outside a fold answered an item.
    """
    table = Responses.of(responses)
    numbers = fold_numbers(len(table), folds=folds, seed=fold_seed)
    asked = options or SimulationOptions()
    # A fold is one task, so its tests are not distributed once more.
    alone = replace(asked, workers=1, until=None)
    tested = partial(_fold, learn, table, selectors, stopper, alone)
    tasks = [partial(tested, numbers == fold) for fold in range(folds)]
    results: list[SimulationResult] = []
    done = 0
    for result in results_of(tasks, asked.workers):
        results.append(result)
        if (result.items, result.skills) != (results[0].items, results[0].skills):
            fold = len(results) - 1
            raise InvalidArgumentError(
                f"the bank of fold {fold} has other items or skills than the bank of fold 0", fold
            )
        done += len(result)
        if progress is not None:
            progress(done * len(selectors), len(table) * len(selectors))
        if asked.until is not None and asked.until():
            break
    rows = np.concatenate([np.flatnonzero(numbers == fold) for fold in range(len(results))])
    order = np.argsort(rows)
    runs = tuple(
        joined_runs(parts, order) for parts in zip(*(r.runs for r in results), strict=True)
    )
    return replace(
        results[0],
        responses=np.concatenate([result.responses for result in results])[order],
        levels=np.concatenate([result.levels for result in results])[order],
        runs=runs,
        examinees=tuple(table.examinees[row] for row in rows[order].tolist()),
    )
