"""Runs of the kernel on cases."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import PlainWork, run_plainly
from bnmind.information import Floats
from bnmind.junction.propagation.arrays import TreeArrays, WorkArrays, work_arrays
from bnmind.junction.propagation.propagation_kernel import propagate

__all__ = ["Answers", "Cases", "Scratch", "answer", "scaled"]

_WORK_OF_A_CELL = 4
_WORK_OF_A_BUCKET = 200
"""The operations of a run in Python for each cell and for each table."""

_USUAL_EXPONENT = 16
"""Likelihoods with a maximum below two to this power stay as they are."""

_plain_work = PlainWork(propagate, tasks=3)
"""The work of runs in Python, before the kernel is compiled."""


class Scratch:
    """The scratch arrays of a tree, kept for the next run; each thread takes its own."""

    def __init__(self, tree: TreeArrays) -> None:
        self.tree = tree
        self._free: list[WorkArrays] = []

    @contextmanager
    def taken(self) -> Iterator[WorkArrays]:
        """Lend scratch arrays for a ``with`` block."""
        try:
            work = self._free.pop()
        except IndexError:
            work = work_arrays(self.tree)
        try:
            yield work
        finally:
            if not self._free:
                self._free.append(work)


class Cases(NamedTuple):
    """Findings in a form for the kernel, with a column for each variable of the tree."""

    findings: NDArray[np.int32]
    """``(cases, variables)`` states, −1 where missing."""
    soft_starts: NDArray[np.int64]
    """``(variables,)`` the column of the first number of each variable's likelihood, or −1."""
    soft: Floats
    """``(cases, numbers)`` likelihoods."""
    weights: Floats
    """``(cases,)``."""
    logarithms: Floats
    """``(cases,)`` the log of the number by which each case's likelihoods were divided."""

    def __len__(self) -> int:
        return len(self.findings)

    def part(self, which: slice) -> Cases:
        """Return some of the cases."""
        return Cases(
            self.findings[which],
            self.soft_starts,
            self.soft[which],
            self.weights[which],
            self.logarithms[which],
        )

    def likelihood(self, case: int, variable: int, n_states: int) -> Floats | None:
        """Return the likelihood of a variable in a case; None if there is none."""
        start = self.soft_starts[variable]
        return None if start < 0 else self.soft[case, start : start + n_states]

    def restricted(self, variables: Sequence[int]) -> Cases:
        """Return the cases with findings on these variables only."""
        keep = np.isin(np.arange(len(self.soft_starts)), variables)
        return Cases(
            np.where(keep, self.findings, np.int32(-1)),
            np.where(keep, self.soft_starts, -1),
            self.soft,
            self.weights,
            self.logarithms,
        )


def scaled(likelihoods: Floats) -> tuple[Floats, Floats]:
    """Return likelihoods ``(cases, states)`` whose products do not overflow, and the logs.

    A row with a very large or small maximum is divided by a power of two; the logs ``(cases,)`` are
    those of the divisors.
    """
    _, exponents = np.frexp(likelihoods.max(axis=1, initial=0.0))
    exponents = np.where(np.abs(exponents) > _USUAL_EXPONENT, exponents, 0)
    return np.ldexp(likelihoods, -exponents[:, None]), exponents * math.log(2)


class Answers(NamedTuple):
    """The results of a run, as writable arrays."""

    marginals: Floats
    """``(cases, states of all variables)``; NaN where not wanted or impossible."""
    log_evidence: Floats
    """``(cases,)``."""
    doubtful: NDArray[np.int64]
    """``(cases,)`` whether numbers may have underflowed; such a case has no marginals."""


def answer(
    scratch: Scratch,
    cases: Cases,
    wanted: NDArray[np.int64],
    expected: Floats | None = None,
) -> Answers:
    """Answer cases.

    Parameters
    ----------
    scratch
        The tree with scratch arrays.
    cases
        The cases.
    wanted
        ``(variables,)`` whether each variable's marginal is wanted.
    expected
        ``(cells,)`` sums to which the run adds the probability of each cell, for each case.
    """
    n = len(cases)
    n_states = scratch.tree.n_states
    answers = Answers(
        np.empty((n, n_states)) if wanted.all() else np.full((n, n_states), math.nan),
        np.empty(n),
        np.empty(n, dtype=np.int64),
    )
    sums = np.empty(0) if expected is None else expected
    cost = n * (
        _WORK_OF_A_CELL * len(scratch.tree.table) + _WORK_OF_A_BUCKET * scratch.tree.n_buckets
    )
    with scratch.taken() as work:
        arguments = (
            scratch.tree,
            work,
            (cases.findings, cases.soft_starts, cases.soft, cases.weights),
            wanted,
            (answers.marginals, answers.log_evidence, answers.doubtful, sums),
        )
        if cost < _plain_work.left:
            _plain_work.spend(cost)
            run_plainly(propagate, *arguments)
        else:
            propagate(*arguments)
    return answers
