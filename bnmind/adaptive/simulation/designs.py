"""Simulations of whole designs: selectors, stoppers, rules and exposure control together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.adaptive.responses.examinees import Examinees
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.simulation.options import SimulationOptions
from bnmind.adaptive.simulation.results import SimulationResult, joined_runs
from bnmind.adaptive.simulation.simulate import ProgressOfTests, simulate
from bnmind.errors import InvalidArgumentError

__all__ = ["calibrated", "simulate_designs"]

_TOGETHER = 20
"""The tests after which the exposure of items is counted again."""


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
                eligible=_eligible(design, examinees),
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
    """Return a design whose exposure control has counted the simulated tests of examinees.

    The tests are simulated a few at a time, and each time the counts so far determine which
    items are eligible. Afterwards the probabilities of eligibility are those that keep the
    exposure of each item at its limit.

    Parameters
    ----------
    design
        A design with `Design.eligibility`; others are returned as they are.
    examinees
        The examinees.
    options
        As for `simulate_designs`; there is one worker.

    References
    ----------
    See `ItemEligibility`.
    """
    if design.eligibility is None:
        return design
    plain = dataclasses.replace(_of_design(options, design), measures=(), workers=1)
    for start in range(0, len(examinees), _TOGETHER):
        some = examinees.take(np.arange(start, min(start + _TOGETHER, len(examinees))))
        eligible = _eligible(design, some)
        assert eligible is not None
        run = simulate(
            design.bank,
            some,
            {"design": design.selector},
            design.stopper,
            eligible=eligible,
            options=plain,
        ).runs[0]
        counts = design.eligibility.after(eligible, run.asked_mask)
        design = dataclasses.replace(design, eligibility=counts)
        assert design.eligibility is not None
    return design


def _eligible(design: Design, examinees: Examinees) -> NDArray[np.bool_] | None:
    """Return a mask of the items eligible in each test, ``(examinees, items)``."""
    if design.eligibility is None:
        return None
    return np.array([design.eligible(number) for number in examinees.numbers.tolist()])


def _of_design(options: SimulationOptions | None, design: Design) -> SimulationOptions:
    return dataclasses.replace(
        options or SimulationOptions(), rules=design.rules, seed=design.seed, pilot=design.pilot
    )
