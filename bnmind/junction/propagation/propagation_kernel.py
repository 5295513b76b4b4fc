"""Compiled propagation of evidence in a tree of buckets.

Messages are collected towards the roots and distributed back (Jensen, Lauritzen & Olesen, *Bayesian
updating in causal probabilistic networks by local computations*, 1990). Three properties of the
tree save work:

* The tables are P(v | S), so a bucket with no evidence in it or below sends a message of ones.
  Such messages are neither computed nor multiplied.
* A hard finding selects the rows and cells that agree with it; the others are not visited.
* Impossible configurations are not in the tree.

The kernels name the arrays that they use once, outside of their loops, because numba counts
references whenever it reads an array from a tuple.
"""

from __future__ import annotations

import math

from bnmind._jit import njit
from bnmind.junction.propagation.arrays import (
    CELL,
    HOST,
    INNER,
    OUTER,
    ROW,
    SEPARATOR,
    SIZE,
    START,
    VARIABLE,
    Floats,
    Ints,
    Places,
    TreeArrays,
    WorkArrays,
)

__all__ = ["propagate"]

_TINY = 1e-280
"""Products that may be smaller than this may have lost digits, or have become zero."""


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
def _find_changed(tree: TreeArrays, work: WorkArrays, case: Places, soft_starts: Ints) -> None:
    """Mark the buckets whose messages the evidence changes."""
    buckets, inner, outer = tree.buckets, tree.inner, tree.outer
    changed = work.changed
    for i in range(changed.size):
        variable = buckets[i, VARIABLE]
        changed[i] = 0
        if case[variable] >= 0 or soft_starts[variable] >= 0:
            changed[i] = 2
        for j in range(buckets[i, INNER], buckets[i + 1, INNER]):
            if changed[inner[j, 0]] > 0:
                changed[i] = 2
        for j in range(buckets[i, OUTER], buckets[i + 1, OUTER]):
            if changed[outer[j, 0]] > 0:
                changed[i] = max(changed[i], 1)


@njit
def _multiply(tree: TreeArrays, work: WorkArrays, bucket: int, state: int) -> float:
    """Compute the products of a bucket and their sums; return a bound of the least product."""
    starts, table, states, maps = tree.starts, tree.table, tree.states, tree.maps
    products, sums, messages, used = work.products, work.sums, work.messages, work.used
    buckets, inner, active = tree.buckets, tree.inner, work.active
    least: float = tree.least[bucket]
    n_used = 0
    for j in range(buckets[bucket, INNER], buckets[bucket + 1, INNER]):
        child = inner[j, 0]
        if work.changed[child] > 0:
            used[n_used] = inner[j, 1] - buckets[bucket, CELL]
            n_used += 1
            least *= work.least[child]
    map_0 = used[0] if n_used > 0 else 0
    map_1 = used[1] if n_used > 1 else 0
    first, count = buckets[bucket, ROW], work.counts[bucket]
    everywhere = count < 0
    if everywhere:
        count = buckets[bucket + 1, ROW] - first
    for k in range(first, first + count):
        row = k if everywhere else active[k]
        low, high = starts[row], starts[row + 1]
        if state >= 0:
            while low < high and states[low] != state:
                low += 1
            high = min(high, low + 1)
        total = 0.0
        if n_used == 0:
            for cell in range(low, high):
                products[cell] = table[cell]
                total += table[cell]
        elif n_used == 1:
            for cell in range(low, high):
                product = table[cell] * messages[maps[map_0 + cell]]
                products[cell] = product
                total += product
        else:
            for cell in range(low, high):
                product = table[cell] * messages[maps[map_0 + cell]]
                product *= messages[maps[map_1 + cell]]
                for m in range(2, n_used):
                    product *= messages[maps[used[m] + cell]]
                products[cell] = product
                total += product
        sums[row] = total
    return least


@njit
def _weigh(tree: TreeArrays, work: WorkArrays, bucket: int, state: int, weights: Floats) -> float:
    """Multiply the products of a bucket by a likelihood; return its least positive number."""
    starts, states = tree.starts, tree.states
    products, sums, active = work.products, work.sums, work.active
    first, count = tree.buckets[bucket, ROW], work.counts[bucket]
    everywhere = count < 0
    if everywhere:
        count = tree.buckets[bucket + 1, ROW] - first
    for k in range(first, first + count):
        row = k if everywhere else active[k]
        total = 0.0
        for cell in range(starts[row], starts[row + 1]):
            if state < 0 or states[cell] == state:
                products[cell] *= weights[states[cell]]
                total += products[cell]
        sums[row] = total
    least = math.inf
    for k in range(weights.size):
        if 0.0 < weights[k] < least:
            least = weights[k]
    return least


@njit
def _send(tree: TreeArrays, work: WorkArrays, bucket: int) -> tuple[float, float]:
    """Compute the message of a bucket; return its scale and a bound of its least product."""
    buckets, outer, maps, active = tree.buckets, tree.outer, tree.maps, work.active
    sums, messages = work.sums, work.messages
    first, count = buckets[bucket, ROW], work.counts[bucket]
    everywhere = count < 0
    if everywhere:
        count = buckets[bucket + 1, ROW] - first
    has_sums = work.changed[bucket] == 2
    for k in range(first, first + count):
        row = k if everywhere else active[k]
        messages[row] = sums[row] if has_sums else 1.0
    least = 1.0
    for j in range(buckets[bucket, OUTER], buckets[bucket + 1, OUTER]):
        child = outer[j, 0]
        if work.changed[child] > 0:
            least *= work.least[child]
            start = outer[j, 1] - first
            for k in range(first, first + count):
                row = k if everywhere else active[k]
                messages[row] *= messages[maps[start + row]]
    largest, smallest = 0.0, math.inf
    for k in range(first, first + count):
        value = messages[k if everywhere else active[k]]
        largest = max(largest, value)
        if 0.0 < value < smallest:
            smallest = value
    scale = 1.0 / largest if largest > 0.0 else math.inf
    if math.isinf(scale):
        return 0.0, least
    for k in range(first, first + count):
        messages[k if everywhere else active[k]] *= scale
    work.least[bucket] = smallest * scale
    return largest, least


@njit
def _collect(
    tree: TreeArrays, work: WorkArrays, case: Places, soft_starts: Ints, soft: Floats
) -> tuple[float, bool]:
    """Compute all messages; return the log of the evidence's probability, and any doubt."""
    buckets, changed = tree.buckets, work.changed
    logarithm, doubtful = 0.0, False
    for i in range(changed.size):
        if changed[i] == 0:
            continue
        least = 1.0
        if changed[i] == 2:
            variable = buckets[i, VARIABLE]
            least = _multiply(tree, work, i, case[variable])
            start = soft_starts[variable]
            if start >= 0:
                weights = soft[start : start + buckets[i, SIZE]]
                least *= _weigh(tree, work, i, case[variable], weights)
        scale, factor = _send(tree, work, i)
        doubtful = doubtful or least * factor < _TINY
        if scale == 0.0:
            return -math.inf, doubtful
        logarithm += math.log(scale)
    return logarithm, doubtful


@njit
def _find_needed(
    tree: TreeArrays, work: WorkArrays, case: Places, wanted: Ints, everything: bool
) -> None:
    """Mark the buckets whose beliefs the wanted marginals depend on; clear these beliefs."""
    buckets, inner, outer = tree.buckets, tree.inner, tree.outer
    needed, counts, active, beliefs = work.needed, work.counts, work.active, work.beliefs
    for i in range(needed.size):
        variable = buckets[i, VARIABLE]
        needed[i] = everything or (wanted[variable] > 0 and case[variable] < 0)
        for j in range(buckets[i, INNER], buckets[i + 1, INNER]):
            needed[i] |= needed[inner[j, 0]]
        for j in range(buckets[i, OUTER], buckets[i + 1, OUTER]):
            needed[i] |= needed[outer[j, 0]]
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
def _share_rows(tree: TreeArrays, work: WorkArrays, bucket: int) -> None:
    """Send the beliefs of a bucket to its outer children."""
    buckets, outer, maps = tree.buckets, tree.outer, tree.maps
    active, beliefs = work.active, work.beliefs
    first, count = buckets[bucket, ROW], work.counts[bucket]
    for j in range(buckets[bucket, OUTER], buckets[bucket + 1, OUTER]):
        if work.needed[outer[j, 0]] == 0:
            continue
        start = outer[j, 1] - first
        if count < 0:
            for row in range(first, buckets[bucket + 1, ROW]):
                beliefs[maps[start + row]] += beliefs[row]
        else:
            for k in range(first, first + count):
                row = active[k]
                beliefs[maps[start + row]] += beliefs[row]


@njit
def _share_cells(
    tree: TreeArrays, work: WorkArrays, bucket: int, state: int, marginal: Floats
) -> None:
    """Send beliefs to the inner children of a bucket, and add up the marginal of its variable."""
    starts, table, states, maps = tree.starts, tree.table, tree.states, tree.maps
    sums, beliefs, used = work.sums, work.beliefs, work.used
    buckets, inner, active = tree.buckets, tree.inner, work.active
    n_used = 0
    for j in range(buckets[bucket, INNER], buckets[bucket + 1, INNER]):
        if work.needed[inner[j, 0]] > 0:
            used[n_used] = inner[j, 1] - buckets[bucket, CELL]
            n_used += 1
    map_0 = used[0] if n_used > 0 else 0
    first, count = buckets[bucket, ROW], work.counts[bucket]
    everywhere = count < 0
    if everywhere:
        count = buckets[bucket + 1, ROW] - first
    changed = work.changed[bucket] == 2
    values = work.products if changed else table
    for k in range(first, first + count):
        row = k if everywhere else active[k]
        ratio = beliefs[row]
        if ratio == 0.0:
            continue
        if changed:
            ratio /= sums[row]
        low, high = starts[row], starts[row + 1]
        if state >= 0:
            while low < high and states[low] != state:
                low += 1
            high = min(high, low + 1)
        if n_used == 0:
            for cell in range(low, high):
                marginal[states[cell]] += ratio * values[cell]
        else:
            for cell in range(low, high):
                belief = ratio * values[cell]
                marginal[states[cell]] += belief
                beliefs[maps[map_0 + cell]] += belief
                for m in range(1, n_used):
                    beliefs[maps[used[m] + cell]] += belief


@njit
def _add_cells(
    tree: TreeArrays, work: WorkArrays, case: Places, weight: float, expected: Floats
) -> None:
    """Add the weighted probability of each cell to the expected counts."""
    starts, states, table, buckets = tree.starts, tree.states, tree.table, tree.buckets
    for i in range(work.counts.size):
        state = case[buckets[i, VARIABLE]]
        first, count = buckets[i, ROW], work.counts[i]
        everywhere = count < 0
        if everywhere:
            count = buckets[i + 1, ROW] - first
        changed = work.changed[i] == 2
        values = work.products if changed else table
        for k in range(first, first + count):
            row = k if everywhere else work.active[k]
            ratio = weight * work.beliefs[row]
            if ratio == 0.0:
                continue
            if changed:
                ratio /= work.sums[row]
            for cell in range(starts[row], starts[row + 1]):
                if state < 0 or states[cell] == state:
                    expected[cell] += ratio * values[cell]


@njit
def _distribute(tree: TreeArrays, work: WorkArrays, case: Places, marginals: Floats) -> None:
    """Compute the beliefs of all needed buckets from the messages, roots first."""
    buckets, needed = tree.buckets, work.needed
    for i in range(needed.size - 1, -1, -1):
        if needed[i] == 0:
            continue
        if buckets[i, OUTER] < buckets[i + 1, OUTER]:
            _share_rows(tree, work, i)
        state = case[buckets[i, VARIABLE]]
        if state >= 0 and buckets[i, INNER] == buckets[i + 1, INNER]:
            continue
        marginal = marginals[buckets[i, START] : buckets[i, START] + buckets[i, SIZE]]
        marginal[:] = 0.0
        _share_cells(tree, work, i, state, marginal)
        total = 0.0
        for k in range(marginal.size):
            total += marginal[k]
        for k in range(marginal.size):
            marginal[k] /= total


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
        _find_changed(tree, work, case, soft_starts)
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
