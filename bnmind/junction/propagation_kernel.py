"""The propagation through a tree in compiled code, case by case."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import PlainWork, njit, run_plainly
from bnmind.information import Floats
from bnmind.junction.propagation_layout import (
    HOST,
    INNER,
    OUTER,
    ROW,
    SEPARATOR,
    SIZE,
    START,
    VARIABLE,
    Ints,
    Places,
    Small,
    TreeArrays,
    WorkArrays,
    work_arrays,
)

# --- Compiled propagation of evidence in a tree of buckets ----------------------------------------
#
# Messages are collected towards the roots and distributed back (Jensen, Lauritzen & Olesen,
# *Bayesian updating in causal probabilistic networks by local computations*, 1990). Three
# properties of the tree save work:
#
# * The tables are P(v | S), so a bucket with no evidence in it or below sends a message of ones.
#   Such messages are neither computed nor multiplied.
# * A hard finding selects the rows and cells that agree with it; the others are not visited.
# * Impossible configurations are not in the tree.
#
# The kernels name the arrays that they use once, outside of their loops, because numba counts
# references whenever it reads an array from a tuple.

_TINY = 1e-280
"""Products that may be smaller than this may have lost digits, or have become zero."""

_NORMAL = 2.0**-1000
"""A message below this is treated as zero, and reported as doubtful unless it is."""

_SMALL = 2.0**-10
"""Messages below this are divided by their maximum."""


@njit
def _select_rows(tree: TreeArrays, work: WorkArrays, case: Places) -> None:
    """List the rows of each bucket that agree with the hard findings."""
    buckets, separators, columns = tree.buckets, tree.separators, tree.columns
    active, counts = work.active, work.counts
    for i in range(counts.size):
        first = buckets[i, ROW]
        count = -1
        for j in range(buckets[i, SEPARATOR], buckets[i + 1, SEPARATOR]):
            state = case[separators[j, 0]]
            if state < 0:
                continue
            column = separators[j, 1] - first
            kept = first
            if count < 0:
                for row in range(first, buckets[i + 1, ROW]):
                    active[kept] = row
                    kept += columns[column + row] == state
            else:
                for k in range(first, first + count):
                    row = active[k]
                    active[kept] = row
                    kept += columns[column + row] == state
            count = kept - first
        counts[i] = count


@njit
def _weighted(products: Floats, states: Small, weights: Floats, low: int, high: int) -> float:
    """Multiply the products of a row by a likelihood; return their sum."""
    total = 0.0
    for cell in range(low, high):
        products[cell] *= weights[states[cell]]
        total += products[cell]
    return total


@njit
def _least_positive(weights: Floats) -> float:
    """Return the least positive number; infinity if there is none."""
    least = math.inf
    for weight in weights:
        if 0.0 < weight < least:
            least = weight
    return least


@njit
def _collect(
    tree: TreeArrays, work: WorkArrays, case: Places, soft_starts: Ints, soft: Floats
) -> tuple[float, bool]:
    """Compute all messages; return the log of the evidence's probability, and any doubt."""
    buckets, children, maps = tree.buckets, tree.children, tree.maps
    starts, table, states = tree.starts, tree.table, tree.states
    products, sums, messages, active = work.products, work.sums, work.messages, work.active
    counts, changed, used = work.counts, work.changed, work.used
    least, scales = work.least, work.scales
    logarithm, doubtful = 0.0, False
    for i in range(changed.size):
        first, count = buckets[i, ROW], counts[i]
        state, soft_start = case[buckets[i, VARIABLE]], soft_starts[buckets[i, VARIABLE]]
        n_inner, n_used, bound = 0, 0, tree.least[i]
        for j in range(buckets[i, INNER], buckets[i + 1, INNER]):
            if changed[children[j, 0]] > 0:
                used[n_used] = children[j, 1]
                n_used += 1
                n_inner += j < buckets[i, OUTER]
                bound *= least[children[j, 0]]
        own = state >= 0 or soft_start >= 0 or n_inner > 0
        changed[i] = (1 if n_used > n_inner else 0) + (2 if own else 0)
        scales[i] = 1.0
        if changed[i] == 0:
            continue
        map_0, map_1 = used[0] if n_inner > 0 else 0, used[1] if n_inner > 1 else 0
        everywhere = count < 0
        if everywhere:
            count = buckets[i + 1, ROW] - first
        largest, smallest = 0.0, math.inf
        for k in range(first, first + count):
            row = k if everywhere else active[k]
            total = 1.0
            if own:
                total = 0.0
                low, high = starts[row], starts[row + 1]
                if state >= 0:
                    while low < high and states[low] != state:
                        low += 1
                    high = min(high, low + 1)
                if n_inner == 0:
                    for cell in range(low, high):
                        products[cell] = table[cell]
                        total += table[cell]
                elif n_inner == 1:
                    for cell in range(low, high):
                        product = table[cell] * messages[maps[map_0 + cell]]
                        products[cell] = product
                        total += product
                else:
                    for cell in range(low, high):
                        product = table[cell] * messages[maps[map_0 + cell]]
                        product *= messages[maps[map_1 + cell]]
                        for m in range(2, n_inner):
                            product *= messages[maps[used[m] + cell]]
                        products[cell] = product
                        total += product
                if soft_start >= 0:
                    total = _weighted(products, states, soft[soft_start:], low, high)
            if n_used > n_inner:
                sums[row] = total
                for m in range(n_inner, n_used):
                    total *= messages[maps[used[m] + row]]
            messages[row] = total
            largest = max(largest, total)
            if 0.0 < total < smallest:
                smallest = total
        if soft_start >= 0:
            bound *= _least_positive(soft[soft_start : soft_start + buckets[i, SIZE]])
        doubtful = doubtful or bound < _TINY
        if largest < _NORMAL:
            return -math.inf, doubtful or largest > 0.0
        if largest < _SMALL:
            scales[i] = largest
            for k in range(first, first + count):
                messages[k if everywhere else active[k]] /= largest
            logarithm += math.log(largest)
        least[i] = smallest / scales[i]
        if buckets[i, HOST] < 0:
            logarithm += math.log(messages[first])
    return logarithm, doubtful


@njit
def _find_needed(
    tree: TreeArrays, work: WorkArrays, case: Places, wanted: Ints, everything: bool
) -> None:
    """Mark the buckets whose beliefs the wanted marginals depend on; clear these beliefs."""
    buckets, children = tree.buckets, tree.children
    needed, counts, active, beliefs = work.needed, work.counts, work.active, work.beliefs
    for i in range(needed.size):
        variable = buckets[i, VARIABLE]
        needed[i] = everything or (wanted[variable] > 0 and case[variable] < 0)
        for j in range(buckets[i, INNER], buckets[i + 1, INNER]):
            needed[i] |= needed[children[j, 0]]
        first = buckets[i, ROW]
        if needed[i] == 0:
            continue
        if counts[i] < 0:
            for row in range(first, buckets[i + 1, ROW]):
                beliefs[row] = 0.0
        else:
            for k in range(first, first + counts[i]):
                beliefs[active[k]] = 0.0
        if buckets[i, HOST] < 0:
            beliefs[first] = 1.0


@njit
def _distribute(tree: TreeArrays, work: WorkArrays, case: Places, marginals: Floats) -> None:
    """Compute the beliefs of all needed buckets from the messages, roots first."""
    buckets, children, maps = tree.buckets, tree.children, tree.maps
    starts, table, states = tree.starts, tree.table, tree.states
    products, beliefs, active = work.products, work.beliefs, work.active
    counts, changed, needed, used = work.counts, work.changed, work.needed, work.used
    for i in range(needed.size - 1, -1, -1):
        if needed[i] == 0:
            continue
        first, count = buckets[i, ROW], counts[i]
        everywhere = count < 0
        if everywhere:
            count = buckets[i + 1, ROW] - first
        for j in range(buckets[i, OUTER], buckets[i + 1, INNER]):
            if needed[children[j, 0]] > 0:
                start = children[j, 1]
                for k in range(first, first + count):
                    row = k if everywhere else active[k]
                    beliefs[maps[start + row]] += beliefs[row]
        n_used = 0
        for j in range(buckets[i, INNER], buckets[i, OUTER]):
            if needed[children[j, 0]] > 0:
                used[n_used] = children[j, 1]
                n_used += 1
        state = case[buckets[i, VARIABLE]]
        if state >= 0 and n_used == 0:
            continue
        map_0 = used[0] if n_used > 0 else 0
        # The sums of products are stored apart if messages of outer children multiply them.
        divided = changed[i] >= 2
        sums = work.sums if changed[i] == 3 else work.messages
        scale = 1.0 if changed[i] == 3 else 1.0 / work.scales[i]
        values = products if divided else table
        start = buckets[i, START]
        for m in range(start, start + buckets[i, SIZE]):
            marginals[m] = 0.0
        for k in range(first, first + count):
            row = k if everywhere else active[k]
            ratio = beliefs[row]
            if ratio == 0.0:
                continue
            if divided:
                ratio = ratio * scale / sums[row]
            low, high = starts[row], starts[row + 1]
            if state >= 0:
                while low < high and states[low] != state:
                    low += 1
                high = min(high, low + 1)
            if n_used == 0:
                for cell in range(low, high):
                    marginals[start + states[cell]] += ratio * values[cell]
            else:
                for cell in range(low, high):
                    belief = ratio * values[cell]
                    marginals[start + states[cell]] += belief
                    beliefs[maps[map_0 + cell]] += belief
                    for m in range(1, n_used):
                        beliefs[maps[used[m] + cell]] += belief
        total = 0.0
        for m in range(start, start + buckets[i, SIZE]):
            total += marginals[m]
        for m in range(start, start + buckets[i, SIZE]):
            marginals[m] /= total


@njit
def _add_cells(
    tree: TreeArrays, work: WorkArrays, case: Places, weight: float, expected: Floats
) -> None:
    """Add the weighted probability of each cell to the expected counts."""
    starts, states, buckets, beliefs = tree.starts, tree.states, tree.buckets, work.beliefs
    active, counts, changed = work.active, work.counts, work.changed
    for i in range(counts.size):
        state = case[buckets[i, VARIABLE]]
        first, count = buckets[i, ROW], counts[i]
        everywhere = count < 0
        if everywhere:
            count = buckets[i + 1, ROW] - first
        divided = changed[i] >= 2
        sums = work.sums if changed[i] == 3 else work.messages
        scale = 1.0 if changed[i] == 3 else 1.0 / work.scales[i]
        values = work.products if divided else tree.table
        for k in range(first, first + count):
            row = k if everywhere else active[k]
            ratio = weight * beliefs[row]
            if ratio == 0.0:
                continue
            if divided:
                ratio = ratio * scale / sums[row]
            for cell in range(starts[row], starts[row + 1]):
                if state < 0 or states[cell] == state:
                    expected[cell] += ratio * values[cell]


@njit
def propagate(
    tree: TreeArrays,
    work: WorkArrays,
    cases: tuple[Places, Ints, Floats, Floats],
    wanted: Ints,
    answers: tuple[Floats, Floats, Ints, Floats],
) -> None:
    """Answer cases one after the other.

    Parameters
    ----------
    tree, work
        The compiled tree, and its scratch arrays.
    cases
        The states of all variables in each case, ``(cases, variables)``, −1 where missing; the
        place of each variable's likelihood, ``(variables,)``, −1 without one; the likelihoods,
        ``(cases, numbers)``; and the weight of each case, ``(cases,)``.
    wanted
        ``(variables,)`` whether each variable's marginal is wanted.
    answers
        Arrays that the kernel fills: the marginals, ``(cases, states of all variables)``; the log
        of the evidence's probability, ``(cases,)``; whether numbers may have underflowed,
        ``(cases,)``; and the weighted sum over the cases of the probability of each cell; this
        array may be empty. Impossible and doubtful cases have no marginals and no cells.
    """
    findings, soft_starts, soft, weights = cases
    marginals, logarithms, doubts, expected = answers
    buckets, counts = tree.buckets, work.counts
    for number in range(findings.shape[0]):
        case = findings[number]
        _select_rows(tree, work, case)
        logarithm, doubtful = _collect(tree, work, case, soft_starts, soft[number])
        logarithms[number] = logarithm
        doubts[number] = doubtful
        if logarithm == -math.inf or doubtful:
            marginals[number] = math.nan
            continue
        _find_needed(tree, work, case, wanted, expected.size > 0)
        _distribute(tree, work, case, marginals[number])
        for i in range(counts.size):
            variable, start = buckets[i, VARIABLE], buckets[i, START]
            if case[variable] >= 0:
                marginals[number, start : start + buckets[i, SIZE]] = 0.0
                marginals[number, start + case[variable]] = 1.0
        if expected.size > 0:
            _add_cells(tree, work, case, weights[number], expected)


# --- Runs of the kernel on cases ------------------------------------------------------------------

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
