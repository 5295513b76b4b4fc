"""The starts of EM, and how they share the work.

The likelihood of a model with discrete skills is that of a finite mixture, and has several
maxima (Goodman 1974). Therefore several starts are the default: that of the given model, which is
the one of the R package CDM, and drawn ones. The curves of one ability have a single maximum in
practice, so one start is the default for them.

By default the drawn starts share the work as in short runs of EM (Biernacki, Celeux and Govaert
2003): each is followed until a step gains little, and only the best of them is followed to its
end, if it comes near the end of the first start or above it. If the number of starts is given,
each is followed to its end.

References
----------
L. Goodman, "Exploratory latent structure analysis using both identifiable and unidentifiable
models", Biometrika 1974; C. Biernacki, G. Celeux and G. Govaert, "Choosing starting values for
the EM algorithm for getting the highest likelihood in multivariate Gaussian mixture models",
Comput. Stat. Data Anal. 2003.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np

from bnmind._workers import results_of
from bnmind.adaptive.beliefs.estimates import has_ability
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.learning.parameters.options import LearningOptions
from bnmind.fitting.squarem import EQUAL, AllStarts, Ascent, Climb, climb

__all__ = ["MIXTURE_STARTS", "all_climbs", "usual_starts"]

MIXTURE_STARTS = 5
"""The default number of starts for models with discrete skills."""

_ROUGH = 0.01
"""A drawn start is first followed until a step gains no more than this."""

_NEAR = 2.0
"""The best drawn start is followed to its end if it comes so near the first one, or above it."""

_P = TypeVar("_P")


def usual_starts(bank: ItemBank) -> int:
    """Return the default number of starts for a bank."""
    return 1 if has_ability(bank) else MIXTURE_STARTS


def all_climbs(
    ascent: Ascent[_P],
    start: Callable[[int], _P],
    options: LearningOptions,
    usual: int,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[Climb[_P]], list[int]]:
    """Return the ascent from each start, and the numbers of those stopped early.

    Parameters
    ----------
    ascent
        The objective and its steps.
    start
        A function from the number of a start to its parameters.
    options
        The number of starts, the criterion of convergence, and the workers.
    usual
        The number of starts if the options have none.
    progress
        As for `learn`.
    """
    n = usual if options.starts is None else options.starts
    short = options.starts is None and n > 1
    rough = max(_ROUGH, options.tolerance)
    told = AllStarts(progress, n + short)

    def task(place: _P, tolerance: float, steps: int = 0) -> Callable[[], Climb[_P]]:
        return partial(
            climb,
            ascent,
            place,
            max_iterations=options.max_iterations - steps,
            tolerance=tolerance,
            accelerate=options.accelerate,
            progress=told.during_a_start if options.workers == 1 else None,
            until=options.until if options.workers == 1 else None,
        )

    tasks = [
        task(start(number), rough if short and number else options.tolerance) for number in range(n)
    ]
    climbs: list[Climb[_P]] = []
    ended = False
    for one in results_of(tasks, options.workers):
        climbs.append(one)
        told.after_a_start(one.steps)
        if ended := options.until is not None and options.until():
            break
    if ended:
        return climbs, [number for number, one in enumerate(climbs) if not one.converged]
    if not short:
        return climbs, []
    early = set(range(1, n))
    ends = [one.objectives[-1] for one in climbs]
    best = 1 + int(np.argmax(ends[1:]))
    steps = 0
    # An end that equals that of the first start is the same maximum.
    if ends[best] > ends[0] - _NEAR and abs(ends[best] - ends[0]) > EQUAL:
        way = task(climbs[best].parameters, options.tolerance, climbs[best].steps)()
        steps = way.steps
        climbs[best] = _joined(climbs[best], way)
        early.remove(best)
    told.after_a_start(steps)
    return climbs, sorted(early)


def _joined(first: Climb[_P], then: Climb[_P]) -> Climb[_P]:
    """Return an ascent and its continuation as one."""
    return Climb(
        parameters=then.parameters,
        log_likelihoods=first.log_likelihoods + then.log_likelihoods[1:],
        objectives=first.objectives + then.objectives[1:],
        steps=first.steps + then.steps,
        converged=then.converged,
    )
