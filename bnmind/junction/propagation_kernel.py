"""The tree for any evidence as flat arrays, and propagation in it, in compiled code."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import PlainWork, njit, run_plainly
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.junction.graphs import Elimination

# --- Bucket elimination of a model without evidence: the tables of a propagation ------------------
#
# Variables are eliminated in a given order (R. Dechter, *Bucket elimination: a unifying framework
# for reasoning*, Artificial Intelligence 113, 1999). The bucket of a variable v holds the product
# of all tables and messages that depend on v. If S are the other variables of the bucket, the
# product divided by its sum over v is the conditional probability P(v | S). The product of all
# these conditional probabilities is the model. Only configurations that are possible in the whole
# model are kept.

_LEAST = 1e-280
"""Possible cells below this, relative to the largest cell, may lose digits."""

_TINIEST = 1e-307
"""The number that stands for a possible configuration whose probability underflows."""

_SAFE_EXPONENT = 900
"""The exponents of two that are far from those of the largest and the least floats."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Bucket:
    """The conditional probability of a variable given its separator, without impossible cells."""

    variable: int
    separator: tuple[int, ...]
    """The other variables, the last eliminated one first."""
    sizes: tuple[int, ...]
    """Their numbers of states."""
    columns: NDArray[np.intp]
    """``(separator, rows)`` the state of each of them in each possible configuration (row)."""
    counts: NDArray[np.intp]
    """``(rows,)`` the number of possible states of the variable in each row."""
    states: NDArray[np.intp]
    """``(cells,)`` these states."""
    table: Floats
    """``(cells,)`` their probabilities."""
    parent: int
    """The position of the bucket of the next variable of the separator in the order; or −1."""
    is_lossy: bool
    """Whether possible cells are so improbable that their digits may be lost."""

    @property
    def n_rows(self) -> int:
        """The number of possible configurations of the separator."""
        return len(self.counts)

    def flat_rows(self, variables: Sequence[int], sizes: Sequence[int]) -> NDArray[np.intp]:
        """Return each row's flat index over some variables, to which this bucket's adds nothing.

        Variables outside of the separator count as in state 0.
        """
        flat = np.zeros(self.n_rows, dtype=np.intp)
        stride = 1
        for variable, size in zip(reversed(variables), reversed(sizes), strict=True):
            if variable in self.separator:
                flat += stride * self.columns[self.separator.index(variable)]
            stride *= size
        return flat

    def flat_cells(self, variables: Sequence[int], sizes: Sequence[int]) -> NDArray[np.intp]:
        """Return each cell's flat index over some of the bucket's variables."""
        flat = np.repeat(self.flat_rows(variables, sizes), self.counts)
        if self.variable in variables:
            place = list(variables).index(self.variable)
            flat += math.prod(sizes[place + 1 :]) * self.states
        return flat


@dataclass(frozen=True, eq=False)
class _Draft:
    """A bucket before cells that are impossible elsewhere are removed."""

    cells: NDArray[np.intp]
    """The flat indices of its positive cells, the separator's variables first, ascending."""
    table: Floats
    shape: tuple[int, ...]
    is_lossy: bool


def table_in_order(scope: Sequence[int], values: Floats, order: Sequence[int]) -> Floats:
    """Return a table with an axis for each variable of ``order``, of size 1 if it is absent."""
    place = {variable: axis for axis, variable in enumerate(scope)}
    axes = [place[variable] for variable in order if variable in place]
    shape = [values.shape[place[v]] if v in place else 1 for v in order]
    return np.transpose(values, axes).reshape(shape)


def eliminated(
    tables: Sequence[tuple[tuple[int, ...], Floats]],
    sizes: Sequence[int],
    elimination: Elimination,
) -> tuple[list[Bucket], float]:
    """Return the bucket of each variable in the order of elimination.

    Parameters
    ----------
    tables
        The scope and the values of each table, which must not be negative.
    sizes
        The number of states of each variable.
    elimination
        The order, with the variables of each bucket.

    Returns
    -------
    buckets, logarithm
        The buckets, and the natural logarithm of the sum of the model over all configurations.

    Raises
    ------
    InvalidModelError
        If the model is zero everywhere.
    """
    cliques, parents = elimination.cliques, elimination.parents
    place = {clique[0]: i for i, clique in enumerate(cliques)}
    waiting: list[list[tuple[tuple[int, ...], Floats]]] = [[] for _ in cliques]
    logarithm = 0.0
    for scope, values in tables:
        if scope:
            waiting[min(place[v] for v in scope)].append((scope, values))
        else:
            logarithm += _log(float(values))
    drafts = []
    for i, clique in enumerate(cliques):
        order = clique[::-1]
        draft, message, log_scale = _draft(order, [sizes[v] for v in order], waiting[i])
        logarithm += log_scale
        waiting[i] = []
        drafts.append(draft)
        if parents[i] >= 0:
            waiting[parents[i]].append((order[:-1], message))
    buckets: list[Bucket | None] = [None] * len(cliques)
    for i in range(len(cliques) - 1, -1, -1):
        order = cliques[i][::-1]
        parent = buckets[parents[i]] if parents[i] >= 0 else None
        buckets[i] = _bucket(drafts[i], order, parents[i], parent)
    return [bucket for bucket in buckets if bucket is not None], logarithm


def _log(number: float) -> float:
    if number <= 0:
        raise InvalidModelError(["the model is zero in every configuration"])
    return math.log(number)


def _draft(
    order: Sequence[int], shape: Sequence[int], tables: list[tuple[tuple[int, ...], Floats]]
) -> tuple[_Draft, Floats, float]:
    """Return a bucket, its message divided by its maximum, and the log of this maximum."""
    product: Floats = np.ones([1] * len(order))
    exponent, least = 0, 1.0
    for scope, values in sorted(tables, key=lambda table: table[1].size):
        # Powers of two keep all digits.
        scaled, shift = _scaled(values)
        smallest = float(scaled.min())
        least *= smallest or float(np.min(scaled, initial=1.0, where=values > 0))
        product, more = _scaled(product * table_in_order(scope, scaled, order))
        least = math.ldexp(least, -more)
        exponent += shift + more
    product = np.broadcast_to(product, shape)
    message: Floats = product.sum(axis=-1)
    scale = float(message.max())
    log_scale = (
        _log(math.ldexp(scale, exponent))
        if abs(exponent) < _SAFE_EXPONENT
        else _log(scale) + exponent * math.log(2)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        conditional = product / message[..., None]
    is_lossy = least < _LEAST
    if is_lossy:
        # Cells that underflow are improbable, not impossible.
        conditional = np.where(message[..., None] > 0, conditional, 1 / shape[-1])
        possible = np.ones(shape, dtype=np.bool_)
        for scope, values in tables:
            possible &= table_in_order(scope, values, order) > 0
        message = np.where(possible.any(axis=-1), np.maximum(message, scale * _TINIEST), 0.0)
    else:
        possible = product != 0
    cells = np.flatnonzero(possible)
    draft = _Draft(cells, conditional.ravel()[cells], tuple(shape), is_lossy)
    return draft, message / scale, log_scale


def _scaled(values: Floats) -> tuple[Floats, int]:
    """Return numbers divided by a power of two so that the largest is below one; its exponent."""
    exponent = math.frexp(float(values.max()))[1]
    return np.ldexp(values, -exponent), exponent


def _bucket(draft: _Draft, order: Sequence[int], parent: int, above: Bucket | None) -> Bucket:
    """Return a bucket without the rows that are impossible in the bucket of its parent."""
    shape, n_states = draft.shape[:-1], draft.shape[-1]
    cells, table = draft.cells, draft.table
    rows, states = np.divmod(cells, n_states)
    if above is not None:
        possible = np.zeros(math.prod(shape), dtype=np.bool_)
        possible[above.flat_cells(order[:-1], shape)] = True
        keep = possible[rows]
        if not keep.all():
            rows, states, table = rows[keep], states[keep], table[keep]
    starts = np.flatnonzero(np.concatenate([[True], rows[1:] != rows[:-1]]))
    columns = np.unravel_index(rows[starts], shape) if shape else ()
    return Bucket(
        variable=order[-1],
        separator=tuple(order[:-1]),
        sizes=shape,
        columns=np.array(columns, dtype=np.intp).reshape(len(shape), len(starts)),
        counts=np.diff(starts, append=len(rows)),
        states=states,
        table=table,
        parent=parent,
        is_lossy=draft.is_lossy,
    )


# --- The tables of a compiled tree as flat arrays, and the scratch arrays of a run ----------------
#
# A *bucket* belongs to one variable v and to the set S of variables that separate it from the rest
# of the tree. Its table is P(v | S). A *row* is a possible configuration of S, and a *cell* is a
# possible configuration of S and v; impossible configurations are not stored. The cells of a row
# are neighbors, and so are the rows of a bucket.

Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int32]
Small: TypeAlias = NDArray[np.unsignedinteger[Any]]
"""State positions."""

VARIABLE = 0
SIZE = 1
START = 2
HOST = 3
ROW = 4
CELL = 5
SEPARATOR = 6
INNER = 7
OUTER = 8
FIELDS = 9
"""The number of columns of `TreeArrays.buckets`, which the names above number."""


class TreeArrays(NamedTuple):
    """A compiled tree; buckets are numbered so that children come before their hosts.

    The message of a bucket goes to its host. The rows of an inner child are projections of the
    cells of its host; the rows of an outer child are projections of the rows of its host.
    """

    buckets: Ints
    """``(buckets + 1, FIELDS)``: the variable of each bucket and its number of states; their
    first place in a list of the states of all variables; the host, or −1; and the first row, cell,
    entry of `separators`, inner child and outer child. The last line has only their ends; the
    outer children of a bucket end where the inner children of the next one start."""
    separators: Ints
    """``(…, 2)`` each variable of S of each bucket, and the start of its states in `columns`."""
    children: Ints
    """``(…, 2)`` the inner and then the outer children of each bucket, and for each the start of
    its rows in `maps`, minus the first cell or row of the bucket."""
    starts: Places
    """``(rows + 1,)`` the first cell of each row."""
    table: Floats
    """``(cells,)`` the conditional probability of each cell given its row."""
    states: Small
    """``(cells,)`` the state of the bucket's variable in each cell."""
    columns: Small
    """For each entry of `separators`, its state in each row of the bucket."""
    maps: Places
    """The row of the child for each cell or row of its host."""
    least: Floats
    """``(buckets,)`` the least number of each table."""

    @property
    def n_buckets(self) -> int:
        """The number of buckets, one for each variable."""
        return len(self.least)

    @property
    def n_states(self) -> int:
        """The sum of the numbers of states of all variables."""
        return int(self.buckets[:-1, SIZE].sum())


class WorkArrays(NamedTuple):
    """The scratch arrays of a run, which every case overwrites."""

    products: Floats
    """``(cells,)`` the tables times the messages of inner children and the findings."""
    sums: Floats
    """``(rows,)`` the sums of these products over the cells of each row, if messages of outer
    children multiply them; otherwise `messages` holds them."""
    messages: Floats
    """``(rows,)`` the messages to the hosts, divided by `scales`."""
    beliefs: Floats
    """``(rows,)`` the distribution of S given all evidence."""
    active: Places
    """``(rows,)`` the rows of each bucket that agree with the evidence, if some do not."""
    counts: Ints
    """``(buckets,)`` the number of these rows; −1 where all rows agree."""
    least: Floats
    """``(buckets,)`` the least positive number of each message."""
    scales: Floats
    """``(buckets,)`` the divisor of each message."""
    changed: Ints
    """``(buckets,)`` 0 if the message of a bucket is all ones; otherwise the sum of 1 if messages
    of outer children change it, and of 2 if anything else does."""
    needed: Ints
    """``(buckets,)`` whether the targets need the beliefs of each bucket."""
    used: Ints
    """``(children,)`` the starts in `TreeArrays.maps` of the messages that are not all ones."""


def work_arrays(tree: TreeArrays) -> WorkArrays:
    """Return scratch arrays for runs of a tree, not initialized."""
    n_buckets, n_rows, n_cells = tree.n_buckets, len(tree.starts) - 1, len(tree.table)
    return WorkArrays(
        products=np.empty(n_cells),
        sums=np.empty(n_rows),
        messages=np.empty(n_rows),
        beliefs=np.empty(n_rows),
        active=np.empty(n_rows, dtype=np.int32),
        counts=np.empty(n_buckets, dtype=np.int64),
        least=np.empty(n_buckets),
        scales=np.empty(n_buckets),
        changed=np.empty(n_buckets, dtype=np.int64),
        needed=np.empty(n_buckets, dtype=np.int64),
        used=np.empty(n_buckets, dtype=np.int64),
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
