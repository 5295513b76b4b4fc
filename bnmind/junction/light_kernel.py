"""The light path in compiled code: its order, and its sums."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.junction.triangulation.greedy_kernel import lowest_bit

# --- The plan of one query: the variables that matter, their order of elimination, and its cost ---
#
# A query matters to its targets, its evidence and their ancestors; all others are barren (Shachter
# 1986). Hard evidence removes its variables from the graph, so that its parts fall apart where
# d-separation says so (S. L. Lauritzen, *Graphical models*, 1996, section 3.2.2). Each step takes
# the variable whose clique has the fewest cells. Scores are whole numbers, so ties do not depend on
# rounding; the first variable wins.
#
# =========  ==================================================================
# name       of
# =========  ==================================================================
# number     a variable, in the order of the network
# place      a hidden variable, in the order of elimination; targets come last
# bucket     the factors that are multiplied when the variable of a place is
#            eliminated; the last bucket holds the factors of the targets
# =========  ==================================================================

Ints: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint64]
Floats: TypeAlias = NDArray[np.float64]

_GONE = 0x7FFFFFFFFFFFFFFF
"""The score of a variable that cannot be eliminated, or not any more."""


class LightArrays(NamedTuple):
    """A network as flat arrays, by the numbers of variables."""

    n_states: Ints
    logarithms: Ints
    """Binary logarithms of the numbers of states, in fixed-point numbers."""
    starts: Ints
    """``(n + 1,)`` the first entry of each variable in `parents`."""
    parents: Ints
    """The parents of each variable, in the order of the axes of its table."""
    table_starts: Ints
    """The first cell of each table in `tables`; -1 if the table is too large to be written out."""
    tables: Floats
    """All tables; the axis of the child comes first, the last axis varies fastest."""


class Case(NamedTuple):
    """The evidence and the target of one query."""

    states: Ints
    """The position of the observed state of each variable, or -1."""
    soft: Ints
    """The first cell of the likelihood of each variable among the messages, or -1."""
    targets: Ints
    """The numbers of the hidden target variables, in order."""
    whole: bool
    """Whether parts that are separated from the targets count, for the probability of the
    evidence."""


class Steps(NamedTuple):
    """The plan of one query."""

    order: Ints
    """The numbers of the hidden variables by their places."""
    places: Ints
    """The places of all variables by their numbers, or -1."""
    scope_starts: Ints
    """``(places + 1,)`` the first entry of each place in `scopes`."""
    scopes: Ints
    """The places with which each variable is connected when it is eliminated, descending."""
    bucket_starts: Ints
    """``(eliminated + 2,)`` the first entry of each bucket in `buckets`."""
    buckets: Ints
    """Factors: with n variables, below n the table of a variable, below 2n the likelihood of a
    variable, from 2n on the message of a place."""
    message_starts: Ints
    """``(eliminated + 1,)`` the first cell of each message, and the end."""
    cells: Floats
    """``(eliminated + 1,)`` the cells of the clique of each place, and of the targets."""
    missing: int
    """The number of a variable that matters, but whose table is not written out, or -1."""
    products: float
    """The multiplications of a run."""
    largest: float
    """The cells of the largest clique."""
    work: int
    """The operations of the plan; -1 if they exceed their limit, and there is no plan."""


@njit
def steps_of(net: LightArrays, case: Case, first_message: int, most_work: int) -> Steps:
    """Return the plan of a query.

    Parameters
    ----------
    net, case
        The network and the query.
    first_message
        The number of cells before the first message.
    most_work
        The limit of the operations.
    """
    n = net.n_states.size
    matters = _relevant(net, case)
    number = np.full(n, -1, np.int64)
    m = 0
    for v in range(n):
        m += matters[v] and case.states[v] < 0
    work = m * m // 4  # the choice of each next variable takes as much
    if work <= most_work:
        rows, hidden = _graph(net, case, matters, number)
        if not case.whole:
            _keep_targets_parts(net, case, matters, number, rows)
        order, scope_starts, scopes, work = _eliminated(net, case, number, rows, hidden, most_work)
    if work > most_work:
        none = np.empty(0, np.int64)
        return Steps(
            none, none, none, none, none, none, none, np.empty(0, np.float64), -1, 0.0, 0.0, -1
        )
    places = np.full(n, -1, np.int64)
    for place in range(order.size):
        places[order[place]] = place
    n_eliminated = order.size - case.targets.size
    cells = np.empty(n_eliminated + 1, np.float64)
    message_starts = np.empty(n_eliminated + 1, np.int64)
    end = float(first_message)
    for place in range(n_eliminated):
        size = 1.0
        first, last = scope_starts[place], scope_starts[place + 1]
        for i in range(first, last):
            size *= net.n_states[scopes[i]]
            _insert(scopes, first, i, places[scopes[i]])
        cells[place] = size * net.n_states[order[place]]
        # Plans that are too large are refused before a message is stored.
        message_starts[place] = int(min(end, 1e18))
        end += size
    message_starts[n_eliminated] = int(min(end, 1e18))
    size = 1.0
    for place in range(n_eliminated, order.size):
        size *= net.n_states[order[place]]
    cells[n_eliminated] = size
    factors, homes, missing = _homes(net, case, matters, places, scope_starts, scopes)
    bucket_starts = np.zeros(n_eliminated + 2, np.int64)
    for home in homes:
        bucket_starts[home + 1] += 1
    for place in range(n_eliminated + 1):
        bucket_starts[place + 1] += bucket_starts[place]
    products = 0.0
    largest = 0.0
    for place in range(n_eliminated + 1):
        products += cells[place] * (bucket_starts[place + 1] - bucket_starts[place])
        largest = max(largest, cells[place])
    filled = np.zeros(n_eliminated + 1, np.int64)
    buckets = np.empty(factors.size, np.int64)
    for i in range(factors.size):
        home = homes[i]
        buckets[bucket_starts[home] + filled[home]] = factors[i]
        filled[home] += 1
    return Steps(
        order,
        places,
        scope_starts,
        scopes,
        bucket_starts,
        buckets,
        message_starts,
        cells,
        missing,
        products,
        largest,
        work + n,
    )


@njit
def _insert(numbers: Ints, first: int, end: int, number: int) -> None:
    """Insert a number into the descending ones from ``first`` on, which end before ``end``."""
    i = end
    while i > first and numbers[i - 1] < number:
        numbers[i] = numbers[i - 1]
        i -= 1
    numbers[i] = number


@njit
def _set(words: Words, row: int, bit: int) -> None:
    words[row, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@njit
def _clear(words: Words, row: int, bit: int) -> None:
    words[row, bit >> 6] &= ~(np.uint64(1) << np.uint64(bit & 63))


@njit
def _join(words: Words, row: int, other: int) -> None:
    """Add the bits of another row to a row."""
    for w in range(words.shape[1]):
        words[row, w] |= words[other, w]


@njit
def _relevant(net: LightArrays, case: Case) -> NDArray[np.bool_]:
    """Return which variables are targets, evidence, or ancestors of these."""
    n = net.n_states.size
    matters = np.zeros(n, np.bool_)
    waiting = np.empty(n, np.int64)
    n_waiting = 0
    for v in range(n):
        if case.states[v] >= 0 or case.soft[v] >= 0:
            matters[v] = True
            waiting[n_waiting] = v
            n_waiting += 1
    for v in case.targets:
        if not matters[v]:
            matters[v] = True
            waiting[n_waiting] = v
            n_waiting += 1
    while n_waiting:
        n_waiting -= 1
        v = waiting[n_waiting]
        for i in range(net.starts[v], net.starts[v + 1]):
            u = net.parents[i]
            if not matters[u]:
                matters[u] = True
                waiting[n_waiting] = u
                n_waiting += 1
    return matters


@njit
def _graph(
    net: LightArrays, case: Case, matters: NDArray[np.bool_], number: Ints
) -> tuple[Words, Ints]:
    """Return the neighbors of the hidden variables as bits, and these variables.

    The function writes the row of each of them to ``number``.
    """
    n = matters.size
    hidden = np.empty(n, np.int64)
    m = 0
    for v in range(n):
        if matters[v] and case.states[v] < 0:
            number[v] = m
            hidden[m] = v
            m += 1
    # The last row holds the variables of one table at a time.
    rows = np.zeros((m + 1, (m + 63) >> 6), np.uint64)
    for v in range(n):
        if not matters[v]:
            continue
        first, last = net.starts[v], net.starts[v + 1]
        for i in range(first - 1, last):
            a = number[v if i < first else net.parents[i]]
            if a >= 0:
                _set(rows, m, a)
        for i in range(first - 1, last):
            a = number[v if i < first else net.parents[i]]
            if a >= 0:
                _join(rows, a, m)
        for w in range(rows.shape[1]):
            rows[m, w] = 0
    for v in case.targets:
        _set(rows, m, number[v])
    for v in case.targets:
        _join(rows, number[v], m)
    for a in range(m):
        _clear(rows, a, a)
    return rows, hidden[:m]


@njit
def _keep_targets_parts(
    net: LightArrays, case: Case, matters: NDArray[np.bool_], number: Ints, rows: Words
) -> None:
    """Keep only the variables that are connected with a target."""
    m, n_words = rows.shape[0] - 1, rows.shape[1]
    connected = np.zeros(m, np.bool_)
    waiting = np.empty(m, np.int64)
    n_waiting = 0
    for v in case.targets:
        connected[number[v]] = True
        waiting[n_waiting] = number[v]
        n_waiting += 1
    while n_waiting:
        n_waiting -= 1
        a = waiting[n_waiting]
        for w in range(n_words):
            word = rows[a, w]
            while word:
                b = (w << 6) + lowest_bit(word)
                word &= word - np.uint64(1)
                if not connected[b]:
                    connected[b] = True
                    waiting[n_waiting] = b
                    n_waiting += 1
    # A table matters if it holds a variable that is kept; all its hidden variables then are.
    for v in range(matters.size):
        if not matters[v]:
            continue
        keep = number[v] >= 0 and connected[number[v]]
        for i in range(net.starts[v], net.starts[v + 1]):
            a = number[net.parents[i]]
            keep = keep or (a >= 0 and connected[a])
        matters[v] = keep
    for v in range(number.size):
        if number[v] >= 0 and not connected[number[v]]:
            number[v] = -1


@njit
def _eliminated(
    net: LightArrays, case: Case, number: Ints, rows: Words, hidden: Ints, most_work: int
) -> tuple[Ints, Ints, Ints, int]:
    """Return the order of elimination, what each variable is then connected with, and the work.

    The function changes the rows. It stops when the work exceeds its limit.
    """
    m, n_words = hidden.size, rows.shape[1]
    logarithms, targets = net.logarithms, case.targets
    scores = np.full(m, _GONE, np.int64)
    left = 0
    for a in range(m):
        if number[hidden[a]] >= 0:
            scores[a] = _score(logarithms, rows, hidden, a)
            left += 1
    for v in targets:
        scores[number[v]] = _GONE
    left -= targets.size
    order = np.empty(left + targets.size, np.int64)
    starts = np.zeros(left + 1, np.int64)
    scopes = np.empty(max(4 * m, 16), np.int64)
    members = np.empty(m, np.int64)
    work = 4 * m
    for place in range(left):
        if work > most_work:
            break
        least = np.int64(_GONE)
        a = 0
        for b in range(m):
            if scores[b] < least:
                least = scores[b]
                a = b
        scores[a] = _GONE
        order[place] = hidden[a]
        degree = 0
        for w in range(n_words):
            word = rows[a, w]
            while word:
                members[degree] = (w << 6) + lowest_bit(word)
                word &= word - np.uint64(1)
                degree += 1
        if starts[place] + degree > scopes.size:
            longer = np.empty(2 * scopes.size + degree, np.int64)
            for i in range(starts[place]):
                longer[i] = scopes[i]
            scopes = longer
        for i in range(degree):
            b = members[i]
            scopes[starts[place] + i] = hidden[b]
            _join(rows, b, a)
            _clear(rows, b, a)
            _clear(rows, b, b)
            if scores[b] != _GONE:
                scores[b] = _score(logarithms, rows, hidden, b)
        work += m // 4 + degree * (8 + degree + 2 * n_words)
        starts[place + 1] = starts[place] + degree
    for i in range(targets.size):
        order[left + i] = targets[i]
    return order, starts, scopes[: starts[left]], work


@njit
def _score(logarithms: Ints, rows: Words, hidden: Ints, a: int) -> int:
    """Return the logarithm of the cells of the clique of a vertex."""
    score = logarithms[hidden[a]]
    for w in range(rows.shape[1]):
        word = rows[a, w]
        while word:
            score += logarithms[hidden[(w << 6) + lowest_bit(word)]]
            word &= word - np.uint64(1)
    return int(score)


@njit
def _homes(
    net: LightArrays,
    case: Case,
    matters: NDArray[np.bool_],
    places: Ints,
    scope_starts: Ints,
    scopes: Ints,
) -> tuple[Ints, Ints, int]:
    """Return the factors, the bucket of each, and a variable without a table, or -1."""
    n = matters.size
    n_eliminated = scope_starts.size - 1
    factors = np.empty(2 * n + n_eliminated, np.int64)
    homes = np.empty(2 * n + n_eliminated, np.int64)
    missing = -1
    count = 0
    for v in range(n):
        if not matters[v]:
            continue
        if net.table_starts[v] < 0:
            missing = v
        home = n_eliminated
        first, last = net.starts[v], net.starts[v + 1]
        for i in range(first - 1, last):
            place = places[v if i < first else net.parents[i]]
            if 0 <= place < home:
                home = place
        factors[count] = v
        homes[count] = home
        count += 1
        if case.soft[v] >= 0 and places[v] >= 0:
            factors[count] = n + v
            homes[count] = min(places[v], n_eliminated)
            count += 1
    for place in range(n_eliminated):
        first, last = scope_starts[place], scope_starts[place + 1]
        factors[count] = 2 * n + place
        homes[count] = min(scopes[last - 1], n_eliminated) if last > first else n_eliminated
        count += 1
    return factors[:count], homes[:count], missing


# The sums of one query: bucket after bucket, products over a clique, summed over one variable.
#
# References
# ----------
# R. Dechter, "Bucket elimination: a unifying framework for reasoning", Artificial Intelligence 113
# (1999), 41-85.
#
# Numbers far from one are multiplied by a power of two, which loses nothing, and the exponents are
# added up.

_LARGE = 2.0**64
_SMALL = 2.0**-64
"""Numbers outside of these are scaled."""

_TINY = 2.0**-1000
"""Products below it may have lost digits."""


class Work(NamedTuple):
    """The memory of a run."""

    messages: Floats
    """The likelihoods, then the messages."""
    read: Floats
    """The same memory, read-only."""
    product: Floats
    """Room for the product over the largest clique."""


@njit
def sums_of(
    net: LightArrays, case: Case, steps: Steps, work: Work, careful: bool
) -> tuple[float, int, bool]:
    """Compute the joint of the targets in the first cells of ``work.product``.

    Parameters
    ----------
    net, case, steps
        The network, the query and its plan.
    work
        The memory of the run.
    careful
        Whether to look for products that underflow.

    Returns
    -------
    total : float
        The sum of the joint.
    exponent : int
        The joint must be multiplied by two to this power.
    lost : bool
        Whether products may have underflowed; False unless ``careful``.
    """
    # Reading arrays from tuples once is much faster than passing the tuples to functions.
    n_states, states, soft, tables = net.n_states, case.states, case.soft, net.tables
    starts, parents, table_starts = net.starts, net.parents, net.table_starts
    order, places, scope_starts, scopes = steps[:4]
    bucket_starts, buckets, message_starts, all_cells = steps[4:8]
    messages, read, product = work
    n, n_eliminated = n_states.size, all_cells.size - 1
    sizes = np.empty(order.size + 1, np.int64)
    strides = np.empty(order.size + 1, np.int64)
    axes = np.empty(order.size + 1, np.int64)
    room = np.empty((3, order.size + 1), np.int64)
    exponent = 0
    lost = False
    for place in range(n_eliminated + 1):
        # The axes of the clique: its other variables, then its own; in the end the targets.
        d = 0
        if place < n_eliminated:
            for i in range(scope_starts[place], scope_starts[place + 1]):
                axes[scopes[i]] = d
                sizes[d] = n_states[order[scopes[i]]]
                d += 1
        for other in range(place, place + 1 if place < n_eliminated else order.size):
            axes[other] = d
            sizes[d] = n_states[order[other]]
            d += 1
        cells = int(all_cells[place])
        first, last = bucket_starts[place], bucket_starts[place + 1]
        if first == last:
            _fill(product, cells)
        for i in range(first, last):
            factor = buckets[i]
            for axis in range(d):
                strides[axis] = 0
            stride = 1
            if factor >= 2 * n:
                sender = factor - 2 * n
                start = message_starts[sender]
                for j in range(scope_starts[sender + 1] - 1, scope_starts[sender] - 1, -1):
                    strides[axes[scopes[j]]] = stride
                    stride *= n_states[order[scopes[j]]]
            elif factor >= n:
                start = soft[factor - n]
                strides[axes[places[factor - n]]] = 1
            else:
                start = table_starts[factor]
                for j in range(starts[factor + 1] - 1, starts[factor] - 2, -1):
                    v = factor if j < starts[factor] else parents[j]
                    if states[v] >= 0:
                        start += stride * states[v]
                    else:
                        strides[axes[places[v]]] = stride
                    stride *= n_states[v]
            values = tables if factor < n else read
            largest, has_lost = _multiply(
                product, values, start, sizes[:d], strides[:d], room, (i == first, careful)
            )
            lost = lost or has_lost
            if largest > 0 and not _SMALL < largest < _LARGE:
                exponent += _scale(product, cells, largest)
        if place < n_eliminated:
            _sum_last(product, cells, sizes[d - 1], messages, message_starts[place])
    total = 0.0
    for cell in range(int(all_cells[n_eliminated])):
        total += product[cell]
    return total, exponent, lost


@njit
def _fill(product: Floats, cells: int) -> None:
    """Set the first numbers to one."""
    for cell in range(cells):
        product[cell] = 1.0


@njit
def _sum_last(product: Floats, cells: int, size: int, messages: Floats, out: int) -> None:
    """Write the sums over the last axis, of ``size`` states, to messages from ``out`` on."""
    cell = 0
    for k in range(cells // size):
        total = 0.0
        for _ in range(size):
            total += product[cell]
            cell += 1
        messages[out + k] = total


@njit
def _multiply(
    product: Floats,
    values: Floats,
    start: int,
    sizes: Ints,
    strides: Ints,
    room: Ints,
    how: tuple[bool, bool],
) -> tuple[float, bool]:
    """Multiply a product by a factor, or set it to the factor; return the largest number.

    Parameters
    ----------
    product
        The product, with the last axis varying fastest.
    values, start
        The numbers of the factor, and its first cell.
    sizes, strides
        The size of each axis of the product, and the stride of the factor along it.
    room
        ``(3, axes + 1)`` scratch memory.
    how
        Whether the factor is the first, and whether to look for products that underflow.

    Returns
    -------
    tuple
        The largest number of the product, and whether numbers may have been lost.
    """
    is_first, careful = how
    # Neighboring axes are one axis where the factor permits it.
    counts, steps, at = room[0], room[1], room[2]
    d = 0
    counts[0] = 1
    steps[0] = 0
    at[0] = 0
    for axis in range(sizes.size):
        if sizes[axis] == 1:
            continue
        if counts[d] == 1 or steps[d] == strides[axis] * sizes[axis]:
            counts[d] *= sizes[axis]
        else:
            d += 1
            counts[d] = sizes[axis]
            at[d] = 0
        steps[d] = strides[axis]
    length, step = counts[d], steps[d]
    largest = 0.0
    lost = False
    cell = 0
    place = start
    while True:
        if is_first:
            for k in range(length):
                x = values[place + k * step]
                product[cell + k] = x
                largest = max(largest, x)
        elif careful:
            for k in range(length):
                x = product[cell + k] * values[place + k * step]
                lost = lost or (
                    x < _TINY and product[cell + k] != 0 and values[place + k * step] != 0
                )
                product[cell + k] = x
                largest = max(largest, x)
        else:
            for k in range(length):
                x = product[cell + k] * values[place + k * step]
                product[cell + k] = x
                largest = max(largest, x)
        cell += length
        axis = d - 1
        while axis >= 0:
            at[axis] += 1
            place += steps[axis]
            if at[axis] < counts[axis]:
                break
            place -= steps[axis] * counts[axis]
            at[axis] = 0
            axis -= 1
        if axis < 0:
            return largest, lost


@njit
def _scale(numbers: Floats, cells: int, largest: float) -> int:
    """Divide the first numbers by a power of two near the largest; return its exponent."""
    _, exponent = math.frexp(largest)
    # Two steps, because the power itself may be out of range.
    half = exponent // 2
    first, second = 2.0**-half, 2.0 ** (half - exponent)
    for cell in range(cells):
        numbers[cell] = numbers[cell] * first * second
    return exponent
