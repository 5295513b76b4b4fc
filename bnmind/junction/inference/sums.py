"""The sums of a run, and what their digits are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from bnmind.errors import CancellationError, InvalidModelError
from bnmind.information import Floats
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.program.program import MATTERS, PLAIN, Arithmetic, near_one
from bnmind.junction.program.runs import joints_by_logarithms, logarithms
from bnmind.junction.reduction import Registers
from bnmind.pgm.factor import Values

# --- Normalization of the results of a run, and the digits lost by cancellation -------------------
#
# Factors of a rank-one factorization are negative or complex, and their sums may cancel. Running
# the same program on absolute values gives the size of the terms. The ratio of this size to the sum
# tells how many digits are lost.

TINY = 1e-200
"""Runs with less probable evidence are repeated with scaled numbers."""

HUGE = 1e200
"""Runs with a larger total, by likelihoods, are repeated with scaled numbers."""

RESIDUE = 1e-13
"""A sum below this share of the size of its terms has no correct digits."""

DOUBTFUL = 1e4
"""The ratio of terms to sum above which a plan without negative numbers answers instead."""

LOST = 1e7
"""The ratio of terms to sum above which six digits are not certain."""

_ROUNDING = 1e-6
"""Negative or imaginary parts above this share of the terms are not rounding errors."""


class Found(NamedTuple):
    """The results of a run."""

    joints: list[Values]
    """The normalized joint of each target over its reduced variables."""
    totals: list[float]
    """The sum of each target before the normalization."""
    doubt: float
    """The ratio of the size of the terms to the sums."""
    has_cancelled: bool
    """Whether a cell is zero only because its terms cancel, so that it may be possible."""


def lost_digits(case: int | None = None) -> CancellationError:
    """Return the error of a run whose terms cancel; ``case`` is the number of its case."""
    where = "" if case is None else f" in case {case}"
    return CancellationError(
        f"fewer than six digits of the result are certain{where}: the evidence is too improbable"
        " for factors with negative numbers"
    )


def read_answers(
    plan: CompiledQuery,
    registers: Sequence[Values],
    filled: Registers,
    number: complex,
    powers: Sequence[int] | None = None,
) -> Found:
    """Return the results of a run of the program of a plan.

    Parameters
    ----------
    plan
        The plan.
    registers, filled
        The registers before and after the run.
    number
        A factor of all results.
    powers
        The powers of two by which the registers were scaled, if any.

    Raises
    ------
    InvalidModelError
        If a sum of the product of the factors is negative, or complex.
    FloatingPointError
        If the sizes of the terms differ too much to be computed.
    """
    whole = plan.read(filled) * number
    flat = np.real(whole)
    starts = [start for start, _, _ in plan.parts]
    doubt = 1.0
    has_cancelled = False
    if plan.is_signed:
        sizes = _magnitudes(plan, registers, powers) * abs(number)
        flat = cleared(flat, sizes)
        has_cancelled = bool(np.any((flat == 0) & (sizes > 0)))
    sums = np.add.reduceat(flat, starts)
    if plan.is_signed:
        terms = np.add.reduceat(sizes, starts)
        refuse_others(np.add.reduceat(whole, starts), terms, real=not plan.halved)
        doubt = float(doubt_of(sums, terms).max())
    with np.errstate(invalid="ignore", divide="ignore"):
        flat = flat / np.repeat(sums, [end - start for start, end, _ in plan.parts])
    flat.setflags(write=False)
    joints = [
        flat[start:end] if len(shape) == 1 else flat[start:end].reshape(shape)
        for start, end, shape in plan.parts
    ]
    return Found(joints, sums.tolist(), doubt, has_cancelled)


def doubt_of(sums: Floats, terms: Floats) -> Floats:
    """Return the ratio of the size of terms to their sums.

    The ratio is infinite if the terms cancel, so that the sum may be zero or only small. It is 1 if
    there are no terms, because the sum is then exactly zero.
    """
    doubt = np.full(np.shape(sums), np.inf)
    with np.errstate(over="ignore"):
        np.divide(terms, sums, out=doubt, where=sums > 0)
    doubt[terms == 0] = 1.0
    return doubt


def cleared(sums: Floats, sizes: Floats) -> Floats:
    """Return sums, with zero for those that are only rounding errors of terms of these sizes.

    Other negative sums stay, because auxiliary variables can have negative weights.
    """
    cleaned: Floats = np.where((sums > RESIDUE * sizes) | (sums < -_ROUNDING * sizes), sums, 0.0)
    return cleaned


def refuse_others(totals: Values, sizes: Floats, *, real: bool) -> None:
    """Raise `InvalidModelError` if totals are negative, or not ``real``, beyond rounding errors.

    ``sizes`` holds the sizes of their terms.
    """
    problems = []
    if np.any(np.real(totals) < -_ROUNDING * sizes):
        problems.append("the product of the factors sums to a negative number")
    if real and np.iscomplexobj(totals) and np.any(np.abs(np.imag(totals)) > _ROUNDING * sizes):
        problems.append("the product of the factors sums to a complex number")
    if problems:
        raise InvalidModelError(problems)


def _magnitudes(
    plan: CompiledQuery, registers: Sequence[Values], powers: Sequence[int] | None
) -> Floats:
    """Return the results for the absolute values of all terms, one after the other."""
    sizes = [
        np.abs(values) if source and source.signed else values
        for values, source in zip_longest(registers, plan.sources)
    ]
    filled, own, has_lost = plan.program.run(sizes, Arithmetic(powers is not None))
    if has_lost:
        raise FloatingPointError
    if powers is None:
        return plan.read(filled).real
    shifts = [0 if (r := a.register) is None else own[r] - powers[r] for a in plan.answers]
    return np.concatenate(
        [
            np.ldexp(answer.read(filled).real.ravel(), shift)
            for answer, shift in zip(plan.answers, shifts, strict=True)
        ]
    )


# The sums of a run of a plan: the joints of its targets, and the probability of the evidence.
#
# A run uses plain numbers. If these become too small or too large, it uses numbers scaled by powers
# of two, and if lost numbers may matter, logarithms. See `bnmind.junction.program.program`.

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
        The initial registers, as returned by `bnmind.junction.inference.compiled_query`.
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
        filled, powers, has_lost = plan.run(registers, kind, progress)
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
