"""Normalization of the results of a run, and the digits lost by cancellation.

Factors of a rank-one factorization are negative or complex, and their sums may cancel. Running the
same program on absolute values gives the size of the terms. The ratio of this size to the sum tells
how many digits are lost.
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
    filled: Sequence[Values],
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
    answers = plan.answers
    unscaled = [answer.read(filled) for answer in answers]
    whole = np.concatenate([values.ravel() for values in unscaled]) * number
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
        for start, length, values in zip(starts, lengths, unscaled, strict=True)
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
        return np.concatenate([answer.read(filled).ravel() for answer in plan.answers]).real
    shifts = [0 if (r := a.register) is None else own[r] - powers[r] for a in plan.answers]
    return np.concatenate(
        [
            np.ldexp(answer.read(filled).real.ravel(), shift)
            for answer, shift in zip(plan.answers, shifts, strict=True)
        ]
    )
