"""The sums of a run of a plan: the joints of its targets, and the probability of the evidence.

A run uses plain numbers. If these become too small or too large, it uses numbers scaled by powers
of two, and if lost numbers may matter, logarithms. See `bnmind.junction.program.underflow`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.normalization import (
    DOUBTFUL,
    HUGE,
    TINY,
    Found,
    read_answers,
)
from bnmind.junction.program.log_space import joints_by_logarithms, logarithms
from bnmind.junction.program.program import near_one
from bnmind.junction.program.underflow import MATTERS, PLAIN, Arithmetic
from bnmind.pgm.factor import Values

__all__ = ["Progress", "Sums", "sums_by_logarithms", "sums_of"]

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the amount of work done, and the whole amount."""


class Sums(NamedTuple):
    """The sums of a run."""

    joints: list[Values]
    """The normalized joint of each target over its reduced variables."""
    log_evidence: float
    """The logarithm of the first target's sum; minus infinity if the sum has no terms, but
    never because terms cancel."""
    doubt: float = 1.0
    """The ratio of the size of the terms to the sums; infinite if it cannot be computed, and then
    there are no joints."""


class _Run(NamedTuple):
    """The result of a run of the program."""

    found: Found
    """The answers, their totals as multiples of powers of two."""
    powers: list[int]
    """These powers."""
    has_lost: bool
    """Whether numbers have underflowed."""

    @property
    def log_evidence(self) -> float:
        """The logarithm of the first total."""
        total = self.found.totals[0]
        log_total = math.log(total) if total > 0 else -math.inf
        return log_total + self.powers[0] * math.log(2.0)


def sums_of(
    plan: CompiledQuery, registers: Sequence[Values], progress: Progress | None = None
) -> Sums:
    """Return the sums of a run, with their doubt.

    Parameters
    ----------
    plan
        The targets and the program.
    registers
        The initial registers, as returned by `bnmind.junction.inference.registers`.
    progress
        A function that is called with the share of the work that is done, in percent, and 100.
        Numbers that are scaled take another run.

    Raises
    ------
    InvalidModelError
        If a sum is negative, or complex.
    """
    reported = None if progress is None else partial(_report, plan, progress)
    for scaled in (False, True):
        try:
            run = _run(plan, registers, Arithmetic(scaled), reported)
        except FloatingPointError:
            # The sizes of terms of both signs are too far apart to be computed.
            continue
        totals = run.found.totals
        if not scaled and not (min(totals) > TINY and max(totals) < HUGE):
            continue
        if plan.is_signed or not run.has_lost or _is_all(plan, registers, run, scaled=scaled):
            return Sums(run.found.joints, run.log_evidence, _doubt(run.found))
    if plan.is_signed:
        return Sums([], math.nan, math.inf)
    return sums_by_logarithms(plan, registers)


def sums_by_logarithms(plan: CompiledQuery, registers: Sequence[Values]) -> Sums:
    """Return the sums of a plan without signs, from logarithms of the registers."""
    logs = logarithms(registers, len(plan.sources))
    joints, total = joints_by_logarithms(plan.program, plan.answers, logs)
    return Sums(joints, total + float(sum(logs[register] for register in plan.scalars)))


def _report(plan: CompiledQuery, progress: Progress, n_steps: int) -> None:
    progress(plan.percents[n_steps - 1], 100)


def _run(
    plan: CompiledQuery,
    registers: Sequence[Values],
    kind: Arithmetic,
    progress: Callable[[int], None] | None = None,
) -> _Run:
    # Without scaling, the run ends at the first number that is too large.
    over: Literal["raise", "ignore"] = "raise" if kind == PLAIN else "ignore"
    with np.errstate(over=over, invalid="ignore", under="ignore"):
        filled, powers, has_lost = plan.program.run(registers, kind, progress)
        number, power = _number(plan, registers, scaled=kind.scaled)
        results = read_answers(plan, registers, filled, number, powers if kind.scaled else None)
    if not powers:
        return _Run(results, [0] * len(plan.answers), has_lost)
    ends = [answer.register for answer in plan.answers]
    return _Run(results, [power + (0 if r is None else powers[r]) for r in ends], has_lost)


def _is_all(plan: CompiledQuery, registers: Sequence[Values], run: _Run, *, scaled: bool) -> bool:
    """Return whether numbers that underflowed in a run provably do not matter."""
    bound = _run(plan, registers, Arithmetic(scaled, rounds_up=True))
    for total, power, most, shift in zip(
        run.found.totals, run.powers, bound.found.totals, bound.powers, strict=True
    ):
        if not math.isfinite(most) or abs(shift - power) > 1000:
            return False
        if math.ldexp(most, shift - power) > MATTERS * total:
            return False
    return True


def _doubt(found: Found) -> float:
    """Return the doubt in a run; a cell whose terms cancel may be possible all the same."""
    return max(found.doubt, 2 * DOUBTFUL) if found.has_cancelled else found.doubt


def _number(
    plan: CompiledQuery, registers: Sequence[Values], *, scaled: bool
) -> tuple[complex, int]:
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
