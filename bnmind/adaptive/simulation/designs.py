"""Simulations of whole designs: selectors, stoppers, rules and exposure control together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.adaptive.responses.examinees import Examinees
from bnmind.adaptive.selection.item_eligibility import ItemEligibility
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.simulation.options import SimulationOptions
from bnmind.adaptive.simulation.results import SimulationResult, joined_runs
from bnmind.adaptive.simulation.simulate import ProgressOfTests, simulate
from bnmind.errors import InvalidArgumentError

__all__ = ["calibrated", "simulate_designs"]

_TOGETHER = 20
"""The tests after which the exposure of items is counted again."""

_ROUNDS = 20
"""The most rounds of all tests that find the probabilities of eligibility."""


@checked
def simulate_designs(
    designs: Mapping[str, Design],
    examinees: Examinees,
    *,
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
    options
        The measures and the number of workers. The rules, the pilot items and
        the seed are those of the designs.
    progress
        Called from time to time with the number of finished tests and of all tests.

    Raises
    ------
    InvalidArgumentError
        If there is no design, or the banks have different items or skills.
    """
    if not designs:
        raise InvalidArgumentError("at least one design is needed", designs)
    first = next(iter(designs.values())).bank
    for name, design in designs.items():
        if (design.bank.item_names, design.bank.skills) != (first.item_names, first.skills):
            raise InvalidArgumentError(f"the bank of {name} has other items or skills", name)
    results = []
    for number, (name, design) in enumerate(designs.items()):

        def report(done: int, total: int, before: int = number) -> None:
            if progress is not None:
                progress(before * total + done, len(designs) * total)

        results.append(
            simulate(
                design.bank,
                examinees,
                {name: design.selector},
                design.stopper,
                eligible=[design.eligible(number) for number in examinees.numbers.tolist()],
                options=_of_design(options, design),
                progress=report,
            )
        )
    # All have the same examinees, unless the options ended a simulation.
    first_of_all = np.arange(min(map(len, results)))
    runs = tuple(joined_runs([result.runs[0]], first_of_all) for result in results)
    return dataclasses.replace(
        results[0],
        runs=runs,
        responses=results[0].responses[first_of_all],
        levels=results[0].levels[first_of_all],
    )


@checked
def calibrated(
    design: Design, examinees: Examinees, *, options: SimulationOptions | None = None
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
    options = dataclasses.replace(options or SimulationOptions(), measures=(), until=None)
    alone = dataclasses.replace(options, workers=1)
    limit, n = design.eligibility.limit, len(examinees)
    for start in range(0, n, _TOGETHER):
        some = examinees.take(np.arange(start, min(start + _TOGETHER, n)))
        counts = design.eligibility.after(*_tested(design, some, alone))
        design = dataclasses.replace(design, eligibility=counts)
    nothing, found, least = ItemEligibility.start(design.bank, limit), design, math.inf
    for _ in range(_ROUNDS):
        eligible, asked = _tested(design, examinees, options)
        largest = float(asked.mean(axis=0).max())
        if largest < least:
            found, least = design, largest
        elif least <= limit + 2 * math.sqrt(limit * (1 - limit) / n):
            break
        design = dataclasses.replace(design, eligibility=nothing.after(eligible, asked))
    return found


def _tested(
    design: Design, examinees: Examinees, options: SimulationOptions
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which items were eligible, and which were asked, ``(examinees, items)``."""
    eligible = np.array([design.eligible(number) for number in examinees.numbers.tolist()])
    run = simulate_designs({"design": design}, examinees, options=options).runs[0]
    return eligible, run.asked_mask


def _of_design(options: SimulationOptions | None, design: Design) -> SimulationOptions:
    return dataclasses.replace(
        options or SimulationOptions(), rules=design.rules, seed=design.seed, pilot=design.pilot
    )
