"""The sums that a run of a plan makes: its targets' joints, and the probability of the evidence.

They are made of plain numbers; where these get too small or too large, of numbers scaled by
powers of two; and where those of one table are too far apart for that, of logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bnmind.junction.logarithms import joints_by_logarithms, logarithms
from bnmind.junction.plan_answers import (
    DOUBTFUL,
    HUGE,
    LOST,
    TINY,
    Found,
    lost_digits,
    read_answers,
)
from bnmind.junction.program import near_one
from bnmind.pgm.factor import Values

if TYPE_CHECKING:
    from bnmind.junction.plan import Plan

__all__ = ["sums_by_logarithms", "sums_of", "underflow_of"]


def sums_of(plan: Plan, registers: Sequence[Values]) -> tuple[list[Values], float]:
    """Return the normalized joints, and the logarithm of what the first summed to.

    That is minus infinity where the sum has no terms, and never because terms cancel.

    Parameters
    ----------
    plan
        Whose targets are asked for.
    registers
        What its program starts from.

    Raises
    ------
    CancellationError
        If terms of both signs cancel, and too few digits of their sum are left.
    InvalidModelError
        If a sum is negative, or complex.
    """
    try:
        with np.errstate(over="ignore", invalid="ignore", under=underflow_of(plan)):
            filled = plan.program.run(registers)
            number, _ = _number(plan, registers, scaled=False)
            found = read_answers(plan, registers, filled, number)
        if min(found.totals) > TINY and max(found.totals) < HUGE:
            return _trusted(plan, found), math.log(found.totals[0])
    except FloatingPointError:
        pass
    try:
        with np.errstate(under=underflow_of(plan)):
            filled, powers = plan.program.run_scaled(registers)
        number, power = _number(plan, registers, scaled=True)
        found = read_answers(plan, registers, filled, number, powers)
    except FloatingPointError:
        if plan.is_signed:
            raise lost_digits() from None
        return sums_by_logarithms(plan, registers)
    power += 0 if (first := plan.answers[0].register) is None else powers[first]
    total = found.totals[0]
    log_total = math.log(total) if total > 0 else -math.inf
    return _trusted(plan, found), log_total + power * math.log(2.0)


def sums_by_logarithms(plan: Plan, registers: Sequence[Values]) -> tuple[list[Values], float]:
    """Return the same of a plan without signs, from logarithms of the registers."""
    logs = logarithms(registers, len(plan.sources))
    joints, total = joints_by_logarithms(plan.program, plan.answers, logs)
    return joints, total + float(sum(logs[register] for register in plan.scalars))


def underflow_of(plan: Plan) -> Literal["raise", "ignore"]:
    """Return what to do where numbers get too small; those with signs have no logarithms."""
    return "ignore" if plan.is_signed else "raise"


def _trusted(plan: Plan, found: Found) -> list[Values]:
    """Return the joints, unless too few of their digits are left."""
    if found.doubt > LOST or (found.doubt > DOUBTFUL and plan.unsigned is not None):
        raise lost_digits()
    return found.joints


def _number(plan: Plan, registers: Sequence[Values], *, scaled: bool) -> tuple[complex, int]:
    """Return the product of the single numbers, as a multiple of a power of two."""
    number: Any = 1.0
    power = 0
    for register in plan.scalars:
        if not scaled:
            number = number * registers[register]
            continue
        factor, shift = near_one(registers[register])
        number, more = near_one(np.asarray(number * factor))
        power += shift + more
    return number, power
