"""What a run says of its targets, and how far terms of both signs let it be trusted.

Factors of a rank-one factorization are negative or complex, and their sums may cancel. The
same program run on absolute values tells how large the terms were: what is left of a sum has
lost as many digits as it is smaller than that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, zip_longest
from typing import NamedTuple

import numpy as np

from bnmind.errors import CancellationError, InvalidModelError
from bnmind.information import Floats
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.program.underflow import Arithmetic
from bnmind.pgm.factor import Values

__all__ = [
    "DOUBTFUL",
    "HUGE",
    "LOST",
    "TINY",
    "Found",
    "cleared",
    "doubt_of",
    "lost_digits",
    "read_answers",
    "refuse_others",
]

TINY = 1e-200
"""Evidence less probable than this is computed again with scaled numbers."""

HUGE = 1e200
"""So are likelihoods that make it larger than this."""

RESIDUE = 1e-13
"""Where terms of both signs cancel to less than this share of their sizes, no digit is left."""

DOUBTFUL = 1e4
"""Where the terms are so many times as large as their sum, a plan without signs is better."""

LOST = 1e7
"""Where they are so many times as large, six digits are not sure any more."""

_ROUNDING = 1e-6
"""What is negative or imaginary by more than this share of its terms is no rounding error."""


class Found(NamedTuple):
    """The answers of a run."""

    joints: list[Values]
    """The normalized joint of each target over its reduced variables."""
    totals: list[float]
    """What each summed to."""
    doubt: float
    """How many times as large as the sums the terms were that they are made of."""
    has_cancelled: bool
    """Whether some cell is zero only because its terms cancel: it may be possible all the same."""


def lost_digits(case: int | None = None) -> CancellationError:
    """Return the error of a run whose terms cancel, and of which case it was."""
    where = "" if case is None else f" in case {case}"
    return CancellationError(
        f"expected sums that keep six digits, got fewer{where}: the evidence is too improbable for"
        " factors with negative numbers"
    )


def read_answers(
    plan: CompiledQuery,
    registers: Sequence[Values],
    filled: Sequence[Values],
    number: complex,
    powers: Sequence[int] | None = None,
) -> Found:
    """Return what a run of a plan's program says.

    Parameters
    ----------
    plan
        Whose targets are asked for.
    registers, filled
        What the program started from, and ended with.
    number
        A factor of all answers.
    powers
        Of two, that the registers were scaled by, if they were.

    Raises
    ------
    InvalidModelError
        If a sum of the product of the factors is negative, or complex.
    FloatingPointError
        If the sizes of the terms are too far apart to be told.
    """
    answers = plan.answers
    found = [answer.read(filled) for answer in answers]
    whole = np.concatenate([values.ravel() for values in found]) * number
    flat = np.real(whole)
    lengths = [math.prod(answer.shape) for answer in answers]
    starts = [0, *accumulate(lengths[:-1])]
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
        flat = flat / np.repeat(sums, lengths)
    flat.setflags(write=False)
    joints = [
        flat[start : start + length]
        if values.ndim == 1
        else flat[start : start + length].reshape(values.shape)
        for start, length, values in zip(starts, lengths, found, strict=True)
    ]
    return Found(joints, sums.tolist(), doubt, has_cancelled)


def doubt_of(sums: Floats, terms: Floats) -> Floats:
    """Return how many times as large as their sums terms of these sizes are.

    Without limit where the terms have cancelled: the sum may be zero or only small. Where
    there are no terms, it is zero for certain, and there is no doubt.
    """
    doubt = np.full(np.shape(sums), np.inf)
    with np.errstate(over="ignore"):
        np.divide(terms, sums, out=doubt, where=sums > 0)
    doubt[terms == 0] = 1.0
    return doubt


def cleared(sums: Floats, sizes: Floats) -> Floats:
    """Return sums of terms of these sizes, zero where nothing but rounding errors is left of them.

    What is negative beyond that stays: auxiliary variables have such weights.
    """
    found: Floats = np.where((sums > RESIDUE * sizes) | (sums < -_ROUNDING * sizes), sums, 0.0)
    return found


def refuse_others(totals: Values, sizes: Floats, *, real: bool) -> None:
    """Raise `InvalidModelError` if totals are negative, or not ``real``, beyond rounding errors.

    Their terms are as large as ``sizes``.
    """
    problems = []
    if np.any(np.real(totals) < -_ROUNDING * sizes):
        problems.append("expected factors whose product sums to no negative number")
    if real and np.iscomplexobj(totals) and np.any(np.abs(np.imag(totals)) > _ROUNDING * sizes):
        problems.append("expected factors whose product sums to a real number")
    if problems:
        raise InvalidModelError(problems)


def _magnitudes(
    plan: CompiledQuery, registers: Sequence[Values], powers: Sequence[int] | None
) -> Floats:
    """Return what the answers would be if no terms cancelled, end to end."""
    sizes = [
        np.abs(values) if source and source.signed else values
        for values, source in zip_longest(registers, plan.sources)
    ]
    filled, own, has_lost = plan.program.run(sizes, Arithmetic(powers is not None))
    if has_lost:
        raise FloatingPointError
    if powers is None:
        return np.concatenate([answer.read(filled).ravel() for answer in plan.answers]).real
    shifts = [0 if (r := a.register) is None else own[r] - powers[r] for a in plan.answers]
    return np.concatenate(
        [
            np.ldexp(answer.read(filled).real.ravel(), shift)
            for answer, shift in zip(plan.answers, shifts, strict=True)
        ]
    )
