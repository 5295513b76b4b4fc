"""Runs of an arithmetic circuit, in compiled code; see `bnmind.junction.circuit`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.junction.products import (
    LANES,
    ROWS,
    arrange,
    exponents_of,
    fill_places,
    in_loops,
    in_tiles,
)

# --- The arrays of a circuit, and those of a run --------------------------------------------------

Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.uint64]
Flags: TypeAlias = NDArray[np.bool_]

_ONE = -1
"""The place of a register that is one everywhere."""


class CircuitArrays(NamedTuple):
    """A circuit. Its registers are the tables, the likelihoods, and the results of the steps."""

    sizes: Ints
    """``(variables,)`` the number of states of each variable."""
    first: Ints
    """``(tables + variables,)`` the first cell of each table and of each likelihood."""
    heads: Ints
    """``(tables,)`` the variable whose distribution a table is, parents first; −2 if it is none."""
    steps: Ints
    """``(steps, 3)`` the left register, the right one (−1 for a sum), and a bound of the binary
    logarithm of how many terms are summed."""
    scope_starts: Ints
    scopes: Ints
    """The variables of each register, in the order of its axes."""
    union_starts: Ints
    unions: Ints
    """The variables of the operands of each step."""
    closed: Flags
    """``(registers,)`` whether a register is one unless there is evidence below."""
    keeps_order: Flags
    """``(steps, 2)`` whether the result has its variables in the order of the left operand, and of
    the right one."""
    exponents: Ints
    """``(tables, 2)`` bounds of the exponents of two of each table."""
    list_starts: Ints
    """``(steps + 1,)`` the first listed term of each step; none is listed where they are equal."""
    terms: NDArray[np.int32]
    """``(3, terms)`` the cells of each term in the left operand, the right one, and the result."""
    is_listed: Flags
    """``(variables,)`` whether a listed step has a variable."""
    is_inner: Flags
    """``(registers,)`` whether a register is the result of a listed step, and an operand of one, so
    that cells of no term are never read."""


class CircuitWork(NamedTuple):
    """The arrays of a run; it keeps the layouts of products for the next one."""

    cells: Floats
    """The number one, the tables, the likelihoods, and the registers and adjoints of the run."""
    known: Floats
    """The same, read-only."""
    size: Ints
    """``(variables,)`` the sizes of this run."""
    wanted: Flags
    """``(variables,)`` whether a variable is a target."""
    level: Ints
    """``(variables,)`` 1 if the evidence depends on a variable, 2 if only a target does, else 0."""
    at: Ints
    """``(2 * registers,)`` the first cell of each register, and then of each adjoint."""
    exponents: Ints
    """``(2 * registers, 2)`` bounds of their exponents."""
    powers: Ints
    """``(2 * registers,)`` the powers of two that they are multiples of."""
    quiet: Flags
    """``(registers,)`` whether no evidence is below."""
    leads: Flags
    """``(registers,)`` whether the likelihood of a target is below."""
    bits: Places
    """``(steps,)`` which variables of a step have size one; all bits if all have."""
    keys: Places
    """``(layouts, 2)`` the product and the bits of each layout; zero if it is free."""
    rows: Places
    """``(layouts, PRODUCT)`` the layouts, see `arrange`."""
    tables: Places
    """Their places."""
    used: Ints
    """``(2,)`` the number of layouts, and of places."""
    place: Ints
    """``(variables,)`` the axis of a variable in a new layout."""
    axes: Ints
    """The axes of a new layout."""
    counters: Places
    buffer: Floats
    buffered: Floats
    """The buffer, read-only."""


# --- The elimination of all variables, as steps ---------------------------------------------------
#
# The bucket of a variable holds the registers that have it. Its two smallest registers are
# multiplied until two are left, whose product is summed over the variable.


class Elimination(NamedTuple):
    """The steps that eliminate all variables; the fields are as in `CircuitArrays`."""

    steps: Ints
    scope_starts: Ints
    scopes: Ints
    union_starts: Ints
    unions: Ints
    closed: Flags
    keeps_order: Flags
    cells: Floats
    """``(registers,)``; as floating-point numbers, since there may be very many."""
    multiplications: float


_MANY_IN_BUCKET = 64
"""The most registers of a bucket that are compared."""


class _Draft(NamedTuple):
    """The steps so far, in arrays with more room."""

    sizes: Ints
    steps: Ints
    scope_starts: Ints
    scopes: Ints
    union_starts: Ints
    unions: Ints
    keeps_order: Flags
    cells: Floats
    is_alive: Flags
    """Whether a register is no operand yet."""
    n_open: Ints
    """How many heads below a register are in its scope; large if another table is below."""
    has_head: Flags
    """Whether a variable has a distribution."""
    first_entry: Ints
    """The last place in ``scopes`` of each variable."""
    next_entry: Ints
    """The place of the same variable before, for each place in ``scopes``."""
    holder: Ints
    """The register of each place in ``scopes``."""
    mark: Ints
    """The number of the last search that met each variable; and the number of searches."""
    costs: Floats
    """The cells of the bucket of each variable; −1 if they are not known."""


@njit
def _begun(sizes: Ints, heads: Ints, starts: Ints, scopes: Ints) -> _Draft:
    n_variables, n_inputs = sizes.size, starts.size - 1
    most = 2 * n_inputs + n_variables + 1
    scope_starts = np.zeros(most + 1, dtype=np.int64)
    scope_starts[: n_inputs + 1] = starts
    cells, n_open = np.ones(most), np.zeros(most, dtype=np.int64)
    has_head = np.zeros(n_variables, dtype=np.bool_)
    first_entry, next_entry = np.full(n_variables, -1), np.empty(scopes.size, dtype=np.int64)
    holder = np.empty(scopes.size, dtype=np.int64)
    for register in range(n_inputs):
        head = heads[register]
        n_open[register] = 1 if head >= 0 else 0 if head == -1 else most
        if head >= 0:
            has_head[head] = True
        for i in range(starts[register], starts[register + 1]):
            v = scopes[i]
            cells[register] *= sizes[v]
            next_entry[i], first_entry[v], holder[i] = first_entry[v], i, register
    return _Draft(
        sizes,
        np.empty((most, 3), dtype=np.int64),
        scope_starts,
        scopes,
        np.zeros(most + 1, dtype=np.int64),
        np.empty(scopes.size, dtype=np.int64),
        np.zeros((most, 2), dtype=np.bool_),
        cells,
        np.ones(most, dtype=np.bool_),
        n_open,
        has_head,
        first_entry,
        next_entry,
        holder,
        np.zeros(n_variables + 1, dtype=np.int64),
        np.full(n_variables, -1.0),
    )


@njit
def _grown(array: Ints, n: int) -> Ints:
    """Return an array with room for ``n`` more numbers than it has."""
    more = np.empty(2 * array.size + n, dtype=np.int64)
    more[: array.size] = array
    return more


@njit
def _with_room(draft: _Draft, end: int, union_end: int) -> _Draft:
    """Return a draft with room for the variables of another step."""
    n = draft.sizes.size
    scopes, next_entry, holder = draft.scopes, draft.next_entry, draft.holder
    if end + n > scopes.size:
        scopes, next_entry = _grown(scopes, n), _grown(next_entry, n)
        holder = _grown(holder, n)
    unions = draft.unions
    if union_end + n > unions.size:
        unions = _grown(unions, n)
    return _Draft(
        draft.sizes,
        draft.steps,
        draft.scope_starts,
        scopes,
        draft.union_starts,
        unions,
        draft.keeps_order,
        draft.cells,
        draft.is_alive,
        draft.n_open,
        draft.has_head,
        draft.first_entry,
        next_entry,
        holder,
        draft.mark,
        draft.costs,
    )


@njit
def _smallest_bucket(draft: _Draft, is_left: Flags) -> int:
    """Return the variable with the smallest bucket."""
    scope_starts, scopes, mark, costs = draft.scope_starts, draft.scopes, draft.mark, draft.costs
    best = -1
    for u in range(is_left.size):
        if not is_left[u]:
            continue
        if costs[u] < 0:
            mark[-1] += 1
            costs[u] = 1.0
            entry = draft.first_entry[u]
            while entry >= 0:
                register = draft.holder[entry]
                if draft.is_alive[register]:
                    for i in range(scope_starts[register], scope_starts[register + 1]):
                        if mark[scopes[i]] != mark[-1]:
                            mark[scopes[i]] = mark[-1]
                            costs[u] *= draft.sizes[scopes[i]]
                entry = draft.next_entry[entry]
        if best < 0 or costs[u] < costs[best]:
            best = u
    return best


@njit
def _smallest_last(cells: Floats, bucket: Ints, n: int) -> tuple[int, int]:
    """Bring the two smallest registers of a bucket to its end; return them, the larger one first.

    If there are very many, they stay where they are.
    """
    for k in range(n - 1, max(n - 3, -1) if n <= _MANY_IN_BUCKET else n - 1, -1):
        least = k
        for i in range(k):
            if cells[bucket[i]] < cells[bucket[least]]:
                least = i
        bucket[least], bucket[k] = bucket[k], bucket[least]
    if n == 1:
        return bucket[0], -1
    left, right = bucket[n - 1], bucket[n - 2]
    return (right, left) if cells[left] < cells[right] else (left, right)


@njit
def _add_step(
    draft: _Draft, made: int, n_steps: int, operands: tuple[int, int], summed: int
) -> float:
    """Add the product of two registers, summed over a variable; return its multiplications."""
    sizes, mark, scopes, unions = draft.sizes, draft.mark, draft.scopes, draft.unions
    scope_starts, cells, n_open = draft.scope_starts, draft.cells, draft.n_open
    left, right = operands
    start, union_end = scope_starts[made], draft.union_starts[n_steps]
    end, work = start, 1.0
    mark[-1] += 1
    for register in operands:
        last = scope_starts[register + 1] if register >= 0 else 0
        for i in range(scope_starts[register], last):
            u = scopes[i]
            draft.costs[u] = -1.0
            if mark[u] == mark[-1]:
                continue
            mark[u] = mark[-1]
            unions[union_end] = u
            union_end += 1
            work *= sizes[u]
            if u != summed:
                scopes[end], draft.holder[end] = u, made
                draft.next_entry[end], draft.first_entry[u] = draft.first_entry[u], end
                cells[made] *= sizes[u]
                end += 1
    scope_starts[made + 1], draft.union_starts[n_steps + 1] = end, union_end
    for side in range(2):
        register, j = operands[side], start
        last = scope_starts[register + 1] if register >= 0 else 0
        for i in range(scope_starts[register], last):
            if j < end and scopes[i] == scopes[j]:
                j += 1
        draft.keeps_order[n_steps, side] = register >= 0 and j == end
    n_open[made] = n_open[left] + (n_open[right] if right >= 0 else 0)
    if summed >= 0 and draft.has_head[summed]:
        n_open[made] -= 1
    n_open[made] = min(n_open[made], n_open.size)
    bits, n_terms = 1, sizes[summed] if summed >= 0 else 1
    while n_terms > 1:
        n_terms //= 2
        bits += 1
    draft.steps[n_steps, 0], draft.steps[n_steps, 1], draft.steps[n_steps, 2] = left, right, bits
    draft.is_alive[left] = False
    if right >= 0:
        draft.is_alive[right] = False
    return work


@njit
def eliminate(
    sizes: Ints, heads: Ints, starts: Ints, scopes: Ints, order: Ints, greedy: bool
) -> Elimination:
    """Return the steps that eliminate all variables.

    Parameters
    ----------
    sizes
        ``(variables,)`` the number of states of each variable.
    heads
        ``(registers,)`` the variable whose distribution a register is; −1 for a likelihood, and −2
        for another table.
    starts, scopes
        The variables of each register.
    order
        ``(variables,)`` the order of elimination.
    greedy
        Whether to find an order instead: the variable with the smallest bucket comes next.
    """
    n_variables, n_inputs = sizes.size, starts.size - 1
    draft = _begun(sizes, heads, starts, scopes)
    is_left = np.ones(n_variables, dtype=np.bool_)
    bucket = np.empty(draft.cells.size, dtype=np.int64)
    n_steps, multiplications = 0, 0.0
    for place in range(n_variables + 1):
        v, n = -1, 0
        if place < n_variables:
            v = _smallest_bucket(draft, is_left) if greedy else order[place]
            is_left[v] = False
            entry = draft.first_entry[v]
            while entry >= 0:
                if draft.is_alive[draft.holder[entry]]:
                    bucket[n] = draft.holder[entry]
                    n += 1
                entry = draft.next_entry[entry]
        else:  # at the end, all numbers are multiplied
            for register in range(n_inputs + n_steps):
                if draft.is_alive[register]:
                    bucket[n] = register
                    n += 1
        while n > 1 or (n == 1 and v >= 0):
            made = n_inputs + n_steps
            draft = _with_room(draft, draft.scope_starts[made], draft.union_starts[n_steps])
            operands = _smallest_last(draft.cells, bucket, n)
            summed = v if n <= 2 else -1
            multiplications += _add_step(draft, made, n_steps, operands, summed)
            n_steps += 1
            n -= 1 if summed < 0 else 2
            if n > 0:
                bucket[n - 1] = made
    n_registers = n_inputs + n_steps
    return Elimination(
        draft.steps[:n_steps].copy(),
        draft.scope_starts[: n_registers + 1].copy(),
        draft.scopes[: draft.scope_starts[n_registers]].copy(),
        draft.union_starts[: n_steps + 1].copy(),
        draft.unions[: draft.union_starts[n_steps]].copy(),
        draft.n_open[:n_registers] == 0,
        draft.keeps_order[:n_steps].copy(),
        draft.cells[:n_registers].copy(),
        multiplications,
    )


# --- The compiled run -----------------------------------------------------------------------------
#
# The kernels name the arrays that they use once, outside of their loops, because numba counts
# references whenever it reads an array from a tuple.

_FAR = 1000
"""Products whose exponents of two stay within it neither underflow nor overflow."""

_NEAR = 400
"""Registers whose exponents may be larger are scaled by a power of two."""

TERM = 4
"""The multiplications that take as long as a listed term."""


@njit
def _prepare(
    circuit: CircuitArrays,
    work: CircuitWork,
    case: NDArray[np.int32],
    soft_starts: Ints,
    listed: bool,
) -> None:
    """Set the sizes of a run, and the cells of tables and likelihoods."""
    size, level, at, quiet = work.size, work.level, work.at, work.quiet
    exponents, cells, wanted = work.exponents, work.cells, work.wanted
    sizes, heads, first = circuit.sizes, circuit.heads, circuit.first
    starts, scopes, is_listed = circuit.scope_starts, circuit.scopes, circuit.is_listed
    n_tables = heads.size
    work.powers[:] = 0
    for v in range(sizes.size):
        is_whole = listed and is_listed[v]
        is_known = case[v] >= 0
        size[v] = 1 if is_known and not is_whole else sizes[v]
        level[v] = 1 if is_known or soft_starts[v] >= 0 else 2 if wanted[v] or is_whole else 0
    for table in range(n_tables - 1, -1, -1):
        own = 1 if heads[table] < 0 else level[heads[table]]
        if own > 0:
            for i in range(starts[table], starts[table + 1]):
                v = scopes[i]
                if own == 1 or level[v] == 0:
                    level[v] = own
    for table in range(n_tables):
        own = 1 if heads[table] < 0 else level[heads[table]]
        quiet[table] = own != 1
        shift, stride = 0, 1
        for i in range(starts[table + 1] - 1, starts[table] - 1, -1):
            v = scopes[i]
            if case[v] > 0 and size[v] < sizes[v]:
                shift += stride * case[v]
            stride *= sizes[v]
        at[table] = first[table] + shift if own > 0 else _ONE
        exponents[table, 0] = circuit.exponents[table, 0]
        exponents[table, 1] = circuit.exponents[table, 1]
    for v in range(sizes.size):
        if level[v] == 0:
            size[v] = 1
        register = n_tables + v
        quiet[register] = True
        at[register] = _ONE
        start, end = first[register], first[register] + sizes[v]
        if case[v] >= 0 and size[v] > 1:
            cells[start:end] = 0.0
            cells[start + case[v]] = 1.0
            quiet[register] = False
            at[register] = start
            exponents[register, 0], exponents[register, 1] = 0, 1
        elif case[v] < 0 and soft_starts[v] >= 0:
            quiet[register] = False
            at[register] = start
            found = exponents_of(cells[start:end])
            exponents[register, 0], exponents[register, 1] = found[0], found[1]


@njit
def _costs(circuit: CircuitArrays, work: CircuitWork) -> tuple[float, float]:
    """Return the multiplications of the run forward that is prepared, and with listed terms."""
    starts, unions, sizes, size = circuit.union_starts, circuit.unions, circuit.sizes, work.size
    plain, with_lists = 0.0, 0.0
    for step in range(starts.size - 1):
        shrunk, whole = 1.0, 1.0
        for i in range(starts[step], starts[step + 1]):
            v = unions[i]
            shrunk *= size[v]
            whole *= sizes[v] if circuit.is_listed[v] else size[v]
        n_terms = circuit.list_starts[step + 1] - circuit.list_starts[step]
        plain += shrunk
        with_lists += TERM * n_terms if n_terms > 0 else whole
    return plain, with_lists


@njit
def _key(step: int, direction: int, x: int, y: int) -> np.uint64:
    """Return a number for a product of registers, some of which are one."""
    number = np.uint64(4 * step + direction + 1) << np.uint64(2)
    return number | np.uint64(x < 0) | np.uint64(y < 0) << np.uint64(1)


@njit
def _slot(keys: Places, key: tuple[np.uint64, np.uint64]) -> np.uint64:
    """Return the place of a layout; it is free if there is none yet."""
    product, bits = key
    one, mask = np.uint64(1), np.uint64(keys.shape[0] - 1)
    mixed = product * np.uint64(0x9E3779B97F4A7C15) ^ bits * np.uint64(0xC2B2AE3D27D4EB4F)
    slot = (mixed ^ (mixed >> np.uint64(29))) & mask
    while keys[slot, 0] != 0 and not (keys[slot, 0] == product and keys[slot, 1] == bits):
        slot = (slot + one) & mask
    return slot


@njit
def _add_layout(
    circuit: CircuitArrays,
    work: CircuitWork,
    step: int,
    direction: int,
    terms: tuple[int, int, int],
    key: tuple[np.uint64, np.uint64],
    slot: np.uint64,
) -> None:
    """Choose how to compute a product of registers for the sizes of this run, and keep that."""
    axes, place, size, sizes = work.axes, work.place, work.size, circuit.sizes
    unions, starts, scopes = circuit.unions, circuit.scope_starts, circuit.scopes
    keys, used, tables, row = work.keys, work.used, work.tables, work.rows[slot]
    n = 0
    for i in range(circuit.union_starts[step], circuit.union_starts[step + 1]):
        v = unions[i]
        if size[v] > 1:
            place[v] = n
            axes[n, 0] = size[v]
            axes[n, 1] = axes[n, 2] = axes[n, 3] = 0
            n += 1
    axes[n, 0] = 0
    n_registers = work.quiet.size
    for term in range(3):
        if term < 2 and key[0] >> np.uint64(term) & np.uint64(1):
            continue  # it is one
        is_adjoint = direction > 0 and term != 1
        register = terms[term] - n_registers if is_adjoint else terms[term]
        is_table = register < circuit.heads.size and term < 2  # of which a part is taken
        stride = 1
        for i in range(starts[register + 1] - 1, starts[register] - 1, -1):
            v = scopes[i]
            if size[v] > 1:
                axes[place[v], term + 1] = stride
            stride *= sizes[v] if is_table else size[v]
    needed = arrange(axes, row, work.buffer.size // LANES - ROWS)
    if 4 * used[0] > 3 * keys.shape[0] or used[1] + needed > tables.size:
        # Begin anew; the layouts of products that run often soon return.
        keys[:] = 0
        used[0], used[1] = 0, 0
    row[6] = used[1]
    fill_places(axes, row, tables)
    keys[slot, 0], keys[slot, 1] = key
    used[0] += 1
    used[1] += needed


@njit
def _add_terms(
    circuit: CircuitArrays,
    work: CircuitWork,
    step: int,
    direction: int,
    starts: tuple[int, int, int],
    is_far: bool,
) -> Any:
    """Fill the result of a listed step or an adjoint of its operands; return its cells.

    If it ``is_far``, all its cells will be read.
    """
    cells, known, terms = work.cells, work.known, circuit.terms
    x, y, c = starts
    # The lists of the operands and the result, or of its adjoint, the other operand, and the own.
    in_x = 0 if direction == 0 else 2
    in_y, in_c = (0, 1) if direction == 2 else (1, 2 if direction == 0 else 0)
    filled = circuit.steps[step, direction - 1] if direction > 0 else circuit.first.size + step
    n = 1
    for i in range(circuit.scope_starts[filled], circuit.scope_starts[filled + 1]):
        n *= work.size[circuit.scopes[i]]
    first, last = circuit.list_starts[step], circuit.list_starts[step + 1]
    if is_far or not circuit.is_inner[filled]:
        cells[c : c + n] = 0.0
    else:
        for term in range(first, last):
            cells[c + terms[in_c, term]] = 0.0
    for term in range(first, last):
        number = 1.0 if x < 0 else known[x + terms[in_x, term]]
        if y >= 0:
            number *= known[y + terms[in_y, term]]
        cells[c + terms[in_c, term]] += number
    return n


@njit
def _note_sizes(circuit: CircuitArrays, work: CircuitWork) -> None:
    """Note which variables of each step have size one."""
    size, sizes, known_bits = work.size, circuit.sizes, work.bits
    starts, unions, one = circuit.union_starts, circuit.unions, np.uint64(1)
    for step in range(known_bits.size):
        bits, bit, is_number = np.uint64(0), one, True
        for i in range(starts[step], starts[step + 1]):
            if sizes[unions[i]] == 1:
                continue  # in every run; of the others, 64 would be too many to hold
            if size[unions[i]] == 1:
                bits |= bit
            else:
                is_number = False
            bit <<= one
        known_bits[step] = ~np.uint64(0) if is_number else bits


@njit
def _run(
    circuit: CircuitArrays, work: CircuitWork, end: int, flags: tuple[bool, bool, bool]
) -> tuple[float, int, bool]:
    """Fill all registers, and then the adjoints that lead to wanted likelihoods.

    Parameters
    ----------
    circuit, work
        The circuit, and the arrays of a run that `_prepare` began.
    end
        The first free cell.
    flags
        Whether to take the lists of terms; to fill the adjoints of tables, too; and to go on if
        numbers underflow, or the evidence is impossible.

    Returns
    -------
    total, power, is_sure
        The probability of the evidence, divided by two to a power, and whether nothing underflowed.
        It is NaN if the run stopped.
    """
    listed, with_tables, goes_on = flags
    steps, closed, keeps_order = circuit.steps, circuit.closed, circuit.keeps_order
    at, quiet, leads, exponents = work.at, work.quiet, work.leads, work.exponents
    powers, known_bits, list_starts = work.powers, work.bits, circuit.list_starts
    keys, rows, tables, cells, known = work.keys, work.rows, work.tables, work.cells, work.known
    n_inputs, n_steps, counters = circuit.first.size, steps.shape[0], work.counters
    n_registers = n_inputs + n_steps
    one, every_bit = np.uint64(1), ~np.uint64(0)
    total, own, least = 0.0, 0, 0
    for number in range(3 * n_steps):
        if number < n_steps:
            step, direction = number, 0
            left, right, result = steps[step, 0], steps[step, 1], n_inputs + step
            quiet[result] = quiet[left] and (right < 0 or quiet[right])
            x, y = at[left], _ONE if right < 0 else at[right]
            if quiet[result] and closed[result]:
                x = y = _ONE
            own = left if y < 0 else right
            may_share = keeps_order[step, 0 if y < 0 else 1] and (x < 0 or y < 0)
        else:
            if number == n_steps:
                total = 1.0 if at[n_registers - 1] < 0 else cells[at[n_registers - 1]]
                if total == 0.0 and not goes_on:
                    break
                at[-1] = _ONE
                _mark_leads(circuit, work, with_tables)
            step, side = n_steps - 1 - (number - n_steps) // 2, (number - n_steps) % 2
            direction, own = 1 + side, steps[step, side]
            if own < 0 or not leads[own]:
                continue
            left, right = n_registers + n_inputs + step, steps[step, 1 - side]
            result = n_registers + own
            x, y = at[left], _ONE if right < 0 else at[right]
            may_share = y < 0 and keeps_order[step, side]
        if x < 0 and y < 0:
            at[result] = _ONE
            continue
        bits, low, high = known_bits[step], 0, steps[step, 2]
        if x >= 0:
            low, high = exponents[left, 0], high + exponents[left, 1]
        if y >= 0:
            low, high = low + exponents[right, 0], high + exponents[right, 1]
        powers[result] = powers[left] + (powers[right] if right >= 0 else 0)
        in_list = listed and list_starts[step] < list_starts[step + 1]
        may_share &= not in_list  # cells of no term may hold anything in an operand
        if may_share and (bits == every_bit or _is_same(circuit, work, own, n_inputs + step)):
            at[result] = x if y < 0 else y
            exponents[result, 0], exponents[result, 1] = low, high
            continue
        least = min(least, low)
        if high > _FAR or (low < -_FAR and not goes_on):
            return math.nan, 0, False
        is_far = low < -_NEAR or high > _NEAR
        n: Any = 1
        if in_list:
            n = _add_terms(circuit, work, step, direction, (x, y, end), is_far)
        elif bits == every_bit:
            cells[end] = (1.0 if x < 0 else known[x]) * (1.0 if y < 0 else known[y])
        else:
            key = _key(step, direction, x, y), bits
            slot = _slot(keys, key)
            if keys[slot, 0] == 0:
                _add_layout(circuit, work, step, direction, (left, right, result), key, slot)
            row = rows[slot]
            n, swap, row[4] = np.int64(row[1]), np.int64(row[0]), end
            row[2 + swap], row[3 - swap] = max(x, 0), max(y, 0)
            if row[5] == one:
                in_tiles(row, tables, known, known, cells, (work.buffer, work.buffered))
            else:
                in_loops(row, tables, known, known, cells, counters)
        at[result] = end
        if is_far:
            low, high, taken = _scaled(cells, end, end + n)
            powers[result] += taken
        exponents[result, 0], exponents[result, 1] = low, high
        end += n
    return total, powers[n_registers - 1], least >= -_FAR


@njit
def _mark_leads(circuit: CircuitArrays, work: CircuitWork, with_tables: bool) -> None:
    """Mark the registers that have the likelihood of a target below, or a table."""
    leads, steps, size, wanted = work.leads, circuit.steps, work.size, work.wanted
    n_tables, n_inputs = circuit.heads.size, circuit.first.size
    leads[:n_tables] = with_tables
    for v in range(size.size):
        leads[n_tables + v] = wanted[v] and size[v] > 1
    for step in range(steps.shape[0]):
        left, right = steps[step, 0], steps[step, 1]
        leads[n_inputs + step] = leads[left] or (right >= 0 and leads[right])


@njit
def _scaled(cells: Floats, start: int, end: int) -> tuple[int, int, int]:
    """Bring numbers near one by a power of two; return bounds of their exponents, and the power."""
    low, high = exponents_of(cells[start:end])
    if -_NEAR // 2 <= high <= _NEAR // 2:
        return low, high, 0
    factor = 2.0**-high
    for i in range(start, end):
        cells[i] *= factor
    return low - high, 0, high


@njit
def _is_same(circuit: CircuitArrays, work: CircuitWork, source: int, result: int) -> bool:
    """Return whether a result that multiplies an operand by one has the same numbers."""
    size, starts, scopes = work.size, circuit.scope_starts, circuit.scopes
    j, end = starts[result], starts[result + 1]
    is_table = source < circuit.heads.size
    for i in range(starts[source], starts[source + 1]):
        v = scopes[i]
        if j < end and scopes[j] == v:
            j += 1
            if is_table and size[v] < circuit.sizes[v]:
                # Neighbors of a table are as far as in the whole table.
                return False
        elif size[v] > 1 or is_table:
            return False
    return True


@njit
def _add_gradient(
    circuit: CircuitArrays,
    work: CircuitWork,
    case: NDArray[np.int32],
    weight: float,
    power: int,
    gradient: Floats,
) -> None:
    """Add the weighted derivatives of P(evidence) by all cells of tables, divided by 2**power."""
    at, size, cells, sizes = work.at, work.size, work.cells, circuit.sizes
    starts, scopes, first = circuit.scope_starts, circuit.scopes, circuit.first
    n_registers = work.quiet.size
    for table in range(circuit.heads.size):
        if at[table] < 0:
            continue  # it does not matter
        n = 1
        for i in range(starts[table], starts[table + 1]):
            n *= size[scopes[i]]
        adjoint = at[n_registers + table]
        # Both factors are finite, where their product may not be.
        own = min(max(work.powers[n_registers + table] - power, -4000), 2000)
        first_factor, second_factor = 2.0 ** (own // 2), 2.0 ** (own - own // 2)
        for number in range(n):
            derivative = weight * (1.0 if adjoint < 0 else cells[adjoint + number])
            place, left, stride = first[table] - 1, number, 1
            for i in range(starts[table + 1] - 1, starts[table] - 1, -1):
                v = scopes[i]
                place += stride * (case[v] if case[v] >= 0 else left % size[v])
                left //= size[v]
                stride *= sizes[v]
            gradient[place] += derivative * first_factor * second_factor


@njit
def answer_cases(
    circuit: CircuitArrays,
    work: CircuitWork,
    cases: tuple[NDArray[np.int32], Ints, Floats],
    targets: Ints,
    answers: tuple[Floats, Floats, Flags, Floats],
    most: float,
    gradient: tuple[Floats, Floats, float],
) -> None:
    """Answer cases one after the other.

    Parameters
    ----------
    circuit, work
        The circuit, and the arrays of a run.
    cases
        The states of all variables in each case, ``(cases, variables)``, −1 where missing; the
        first column of each variable's likelihood, ``(variables,)``, −1 without one; and the
        likelihoods, ``(cases, columns)``.
    targets
        ``(targets,)`` the variables whose distributions are wanted.
    answers
        Arrays that the kernel fills: these distributions, side by side, ``(cases, states)``; the
        natural logarithm of the probability of the evidence, ``(cases,)``; whether there is no
        answer, because numbers may have underflowed, ``(cases,)``; and the multiplications,
        roughly, ``(cases,)``. Impossible cases have NaN.
    most
        The most multiplications of a case that is answered.
    gradient
        The weight of each case, ``(cases,)``; an array to which the weighted derivatives of the
        logarithms by the cells of all tables are added, in a row for each case or in one for all,
        and which is empty if they are not wanted; and NaN. Instead of NaN, the logarithm of a
        number for derivatives of probabilities divided by it: then impossible cases have
        derivatives, too, and numbers may underflow.
    """
    weights, derivatives, scale = gradient
    findings, soft_starts, soft = cases
    marginals, logarithms, doubts, costs = answers
    at, cells, first, sizes = work.at, work.cells, circuit.first, circuit.sizes
    n_tables, n_variables = circuit.heads.size, circuit.sizes.size
    end = first[first.size - 1] + sizes[n_variables - 1]
    work.wanted[:] = False
    for v in targets:
        work.wanted[v] = True
    for number in range(findings.shape[0]):
        case = findings[number]
        weight = 1.0
        for v in range(n_variables):
            if soft_starts[v] >= 0:
                start = first[n_tables + v]
                for state in range(sizes[v]):
                    cells[start + state] = soft[number, soft_starts[v] + state]
                if case[v] >= 0:
                    weight *= cells[start + case[v]]
        _prepare(circuit, work, case, soft_starts, False)
        plain, with_lists = _costs(circuit, work)
        listed = with_lists < plain and derivatives.size == 0  # derivatives at zeros matter
        costs[number] = (2.0 if targets.size == 1 else 3.0) * min(plain, with_lists)
        if costs[number] > most:
            doubts[number] = True
            continue
        if listed:
            _prepare(circuit, work, case, soft_starts, True)
        _note_sizes(circuit, work)
        with_tables, goes_on = derivatives.size > 0, not math.isnan(scale)
        total, power, is_sure = _run(circuit, work, end, (listed, with_tables, goes_on))
        doubts[number] = not is_sure
        logarithms[number] = -math.inf
        is_known = total > 0.0 and weight > 0.0
        if with_tables and (is_known or (goes_on and total == 0.0)):
            divisor, by_two = total, power
            if goes_on:
                by_two = math.floor(scale / math.log(2.0))
                divisor = math.exp(scale - by_two * math.log(2.0))
            row = derivatives[number % derivatives.shape[0]]
            _add_gradient(circuit, work, case, weights[number] / divisor, by_two, row)
        if not is_known:
            marginals[number] = math.nan
            continue
        logarithms[number] = math.log(total) + power * math.log(2.0) + math.log(weight)
        column = 0
        for v in targets:
            marginal = marginals[number, column : column + sizes[v]]
            column += sizes[v]
            if case[v] >= 0 or sizes[v] == 1:
                marginal[:] = 0.0
                marginal[max(case[v], 0)] = 1.0
                continue
            x, y = at[at.size // 2 + n_tables + v], at[n_tables + v]
            mass = 0.0
            for state in range(sizes[v]):
                marginal[state] = 1.0 if x < 0 else cells[x + state]
                if y >= 0:
                    marginal[state] *= cells[y + state]
                mass += marginal[state]
            for state in range(sizes[v]):
                marginal[state] /= mass
