"""A model as one arithmetic circuit, whose sizes are arguments of a run: any evidence, no plan.

==================================  ==============================================================
in the literature                   here
==================================  ==============================================================
f, the network polynomial           the root of the circuit: the probability of the evidence
θ, a parameter                      a cell of a table
λ, an evidence indicator            a cell of a *likelihood*: a register for each variable
∂f / ∂λ, a derivative               a cell of the *adjoint* of a likelihood: P(v, other evidence)
==================================  ==============================================================

A circuit is a tree of steps ``C = Σ A B``, made once for a model by the elimination of all its
variables. A run forward gives the probability of the evidence, and a run in reverse the adjoints of
the likelihoods, which are the posteriors of all variables. Nothing is planned for a question:

* The *size* of a variable whose state is known is one. It shrinks all registers, and its state
  shifts the first cell of each table.
* A register that is a product of distributions whose variables are all summed out, none of them
  with evidence, is one. It is neither computed nor multiplied.
* Variables that matter neither for the evidence nor for a target have size one.
* Steps on tables with many zeros may have a list of the terms that are possible in the model.

How to compute a product depends on the sizes of its variables. Each such *layout* is made once and
kept for the next runs.

References
----------
A. Darwiche, "A differential approach to inference in Bayesian networks", J. ACM 50, 2003.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import PlainWork, njit, run_plainly
from bnmind._messages import format_bytes
from bnmind._values import Sealed, sealed
from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.forms import choose_forms
from bnmind.junction.graphs import OrderFinder, graph_of_scopes
from bnmind.junction.inference.compile import DEFAULT_ORDER
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.program.contraction import ProgramBuilder
from bnmind.junction.program.products import (
    AXIS,
    LANES,
    PRODUCT,
    ROWS,
    arrange,
    exponents_of,
    fill_places,
    in_loops,
    in_tiles,
    read_only,
)
from bnmind.junction.program.program import Program, Sum
from bnmind.junction.program.sparse_steps import joined_terms
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.tabular import TabularCPD

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
    """``(tables,)`` the variable whose distribution a table is, parents first; −1 if it is none."""
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


class CircuitWork(NamedTuple):
    """The arrays of a run; it keeps the layouts of products for the next one."""

    cells: Floats
    """The number one, the tables, the likelihoods, and the registers and adjoints of the run."""
    known: Floats
    """The same, read-only."""
    size: Ints
    """``(variables,)`` the sizes of this run."""
    level: Ints
    """``(variables,)`` 1 if the evidence depends on a variable, 2 if only a target does, else 0."""
    at: Ints
    """``(2 * registers,)`` the first cell of each register, and then of each adjoint."""
    exponents: Ints
    """``(2 * registers, 2)`` bounds of their exponents."""
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


# --- The compiled run -----------------------------------------------------------------------------
#
# The kernels name the arrays that they use once, outside of their loops, because numba counts
# references whenever it reads an array from a tuple.

_FAR = 1000
"""Products whose exponents of two stay within it neither underflow nor overflow."""

_NEAR = 400
"""Registers whose exponents may be larger are scaled by a power of two."""

_MOST_PLACES = 2**16
"""The most places of a layout."""

_TERM = 4
"""The multiplications that take as long as a listed term."""


@njit
def _prepare(
    circuit: CircuitArrays,
    work: CircuitWork,
    case: NDArray[np.int32],
    soft_starts: Ints,
    wanted: Flags,
    listed: bool,
) -> None:
    """Set the sizes of a run, and the cells of tables and likelihoods."""
    size, level, at, quiet = work.size, work.level, work.at, work.quiet
    exponents, cells = work.exponents, work.cells
    sizes, heads, first = circuit.sizes, circuit.heads, circuit.first
    starts, scopes, is_listed = circuit.scope_starts, circuit.scopes, circuit.is_listed
    n_tables = heads.size
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
def _is_shorter_listed(circuit: CircuitArrays, case: NDArray[np.int32]) -> bool:
    """Return whether a run with listed terms takes less time in a case."""
    starts, unions, sizes = circuit.union_starts, circuit.unions, circuit.sizes
    plain, with_lists = 0.0, 0.0
    for step in range(starts.size - 1):
        shrunk, whole = 1.0, 1.0
        for i in range(starts[step], starts[step + 1]):
            v = unions[i]
            shrunk *= 1 if case[v] >= 0 else sizes[v]
            whole *= 1 if case[v] >= 0 and not circuit.is_listed[v] else sizes[v]
        n_terms = circuit.list_starts[step + 1] - circuit.list_starts[step]
        plain += shrunk
        with_lists += _TERM * n_terms if n_terms > 0 else whole
    return with_lists < plain


@njit
def _stride_axes(circuit: CircuitArrays, work: CircuitWork, register: int, column: int) -> None:
    """Enter the distances of neighbors in a register."""
    size, sizes, axes, place = work.size, circuit.sizes, work.axes, work.place
    scopes = circuit.scopes
    is_table = register < circuit.heads.size  # as a whole, of which a part is taken
    stride = 1
    for i in range(circuit.scope_starts[register + 1] - 1, circuit.scope_starts[register] - 1, -1):
        v = scopes[i]
        if size[v] > 1:
            axes[place[v], column] = stride
        stride *= sizes[v] if is_table else size[v]


@njit
def _new_layout(
    circuit: CircuitArrays,
    work: CircuitWork,
    step: int,
    terms: tuple[int, int, int],
    ones: tuple[bool, bool],
    row: Places,
) -> int:
    """Describe a product for the sizes of this run; return the number of places that it takes."""
    axes, place, size, unions = work.axes, work.place, work.size, circuit.unions
    n = 0
    for i in range(circuit.union_starts[step], circuit.union_starts[step + 1]):
        v = unions[i]
        if size[v] > 1:
            place[v] = n
            axes[n, 0] = size[v]
            axes[n, 1] = axes[n, 2] = axes[n, 3] = 0
            n += 1
    if not ones[0]:
        _stride_axes(circuit, work, terms[0], 1)
    if not ones[1]:
        _stride_axes(circuit, work, terms[1], 2)
    _stride_axes(circuit, work, terms[2], 3)
    axes[n, 0] = 0
    return arrange(axes, row, work.buffer.size // LANES - ROWS)


@njit
def _add_layout(
    circuit: CircuitArrays,
    work: CircuitWork,
    step: int,
    terms: tuple[int, int, int],
    ones: tuple[bool, bool],
    key: tuple[np.uint64, np.uint64],
    slot: np.uint64,
) -> None:
    """Make a new layout."""
    keys, rows, used, tables = work.keys, work.rows, work.used, work.tables
    row = rows[slot]
    needed = _new_layout(circuit, work, step, terms, ones, row)
    if 4 * used[0] > 3 * keys.shape[0] or used[1] + needed > tables.size:
        # Begin anew; the layouts of products that run often soon return.
        keys[:] = 0
        used[0], used[1] = 0, 0
    row[6] = used[1]
    fill_places(work.axes, row, tables)
    keys[slot, 0], keys[slot, 1] = key
    used[0] += 1
    used[1] += needed


@njit
def _by_terms(
    cells: Floats,
    known: Floats,
    starts: tuple[int, int, int],
    lists: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
) -> None:
    """Add listed terms to a result that is zero."""
    x, y, c = starts
    in_x, in_y, in_c = lists
    for term in range(in_c.size):
        number = 1.0 if x < 0 else known[x + in_x[term]]
        if y >= 0:
            number *= known[y + in_y[term]]
        cells[c + in_c[term]] += number


@njit
def _run(
    circuit: CircuitArrays, work: CircuitWork, wanted: Flags, end: int, listed: bool
) -> tuple[float, int, bool]:
    """Fill all registers, and then the adjoints that lead to wanted likelihoods.

    Parameters
    ----------
    circuit, work
        The circuit, and the arrays of a run that `_prepare` began.
    wanted
        ``(variables,)`` whether the marginal of each variable is wanted.
    end
        The first free cell.
    listed
        Whether to take the lists of terms.

    Returns
    -------
    total, power, is_sure
        The probability of the evidence, divided by two to a power, and whether nothing underflowed.
    """
    steps, closed, keeps_order = circuit.steps, circuit.closed, circuit.keeps_order
    union_starts, unions = circuit.union_starts, circuit.unions
    at, size, quiet, leads = work.at, work.size, work.quiet, work.leads
    exponents, known_bits, scopes = work.exponents, work.bits, circuit.scopes
    scope_starts, list_starts, listed_terms = (
        circuit.scope_starts,
        circuit.list_starts,
        circuit.terms,
    )
    keys, rows, tables, cells, known = work.keys, work.rows, work.tables, work.cells, work.known
    buffer, buffered, counters = work.buffer, work.buffered, work.counters
    n_inputs, n_tables, n_steps = circuit.first.size, circuit.heads.size, steps.shape[0]
    n_registers = n_inputs + n_steps
    one, every_bit = np.uint64(1), ~np.uint64(0)
    mask = np.uint64(keys.shape[0] - 1)
    power, total, own = 0, 0.0, 0
    for number in range(3 * n_steps):
        if number < n_steps:
            step, direction = number, 0
            left, right, result = steps[step, 0], steps[step, 1], n_inputs + step
            quiet[result] = quiet[left] and (right < 0 or quiet[right])
            x, y = at[left], _ONE if right < 0 else at[right]
            bits, full = np.uint64(0), np.uint64(0)
            bit = one
            for i in range(union_starts[step], union_starts[step + 1]):
                if size[unions[i]] == 1:
                    bits |= bit
                full |= bit
                bit <<= one
            if bits == full:
                bits = every_bit
            known_bits[step] = bits
            if (quiet[result] and closed[result]) or (x < 0 and y < 0):
                at[result] = _ONE
                continue
            own = left if y < 0 else right
            may_share = keeps_order[step, 0 if y < 0 else 1] and (x < 0 or y < 0)
        else:
            if number == n_steps:
                last = n_registers - 1
                total = 1.0 if at[last] < 0 else cells[at[last]]
                if total == 0.0:
                    break
                at[n_registers + last] = _ONE
                for table in range(n_tables):
                    leads[table] = False
                for v in range(size.size):
                    leads[n_tables + v] = wanted[v] and size[v] > 1
                for step in range(n_steps):
                    left, right = steps[step, 0], steps[step, 1]
                    leads[n_inputs + step] = leads[left] or (right >= 0 and leads[right])
            step, side = n_steps - 1 - (number - n_steps) // 2, (number - n_steps) % 2
            direction = 1 + side
            own = steps[step, side]
            if own < 0 or not leads[own]:
                continue
            left, right = n_registers + n_inputs + step, steps[step, 1 - side]
            result = n_registers + own
            x, y = at[left], _ONE if right < 0 else at[right]
            if x < 0 and y < 0:
                at[result] = _ONE
                continue
            bits = known_bits[step]
            may_share = y < 0 and keeps_order[step, side]
        low, high = 0, steps[step, 2]
        if x >= 0:
            low, high = exponents[left, 0], high + exponents[left, 1]
        if y >= 0:
            low, high = low + exponents[right, 0], high + exponents[right, 1]
        if may_share and (bits == every_bit or _is_same(circuit, work, own, n_inputs + step)):
            at[result] = x if y < 0 else y
            exponents[result, 0], exponents[result, 1] = low, high
            continue
        if low < -_FAR or high > _FAR:
            return 0.0, 0, False
        n: Any = 1
        first_term, last_term = list_starts[step], list_starts[step + 1]
        if listed and first_term < last_term:
            filled = result if direction == 0 else own
            for i in range(scope_starts[filled], scope_starts[filled + 1]):
                n *= size[scopes[i]]
            cells[end : end + n] = 0.0
            on_left = listed_terms[0, first_term:last_term]
            on_right = listed_terms[1, first_term:last_term]
            to = listed_terms[2, first_term:last_term]
            if direction == 0:
                _by_terms(cells, known, (x, y, end), (on_left, on_right, to))
            elif direction == 1:
                _by_terms(cells, known, (x, y, end), (to, on_right, on_left))
            else:
                _by_terms(cells, known, (x, y, end), (to, on_left, on_right))
        elif bits == every_bit:
            cells[end] = (1.0 if x < 0 else known[x]) * (1.0 if y < 0 else known[y])
        else:
            product = np.uint64(4 * step + direction + 1) << np.uint64(2)
            product |= np.uint64(x < 0) | np.uint64(y < 0) << one
            mixed = product * np.uint64(0x9E3779B97F4A7C15) ^ bits * np.uint64(0xC2B2AE3D27D4EB4F)
            slot = (mixed ^ (mixed >> np.uint64(29))) & mask
            while keys[slot, 0] != 0 and not (keys[slot, 0] == product and keys[slot, 1] == bits):
                slot = (slot + one) & mask
            if keys[slot, 0] == 0:
                terms = left, right, result
                if direction > 0:
                    terms = left - n_registers, right, result - n_registers
                _add_layout(circuit, work, step, terms, (x < 0, y < 0), (product, bits), slot)
            row = rows[slot]
            n = np.int64(row[1])
            row[4] = end
            if row[0] == one:
                row[2], row[3] = max(y, 0), max(x, 0)
            else:
                row[2], row[3] = max(x, 0), max(y, 0)
            if row[5] == one:
                in_tiles(row, tables, known, known, cells, (buffer, buffered))
            else:
                in_loops(row, tables, known, known, cells, counters)
        at[result] = end
        if low < -_NEAR or high > _NEAR:
            found = exponents_of(cells[end : end + n])
            low, high = found[0], found[1]
            if high < -_NEAR // 2 or high > _NEAR // 2:
                factor = 2.0**-high
                for i in range(end, end + n):
                    cells[i] *= factor
                if direction == 0:
                    power += high
                low, high = low - high, 0
        exponents[result, 0], exponents[result, 1] = low, high
        end += n
    return total, power, True


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
def answer_cases(
    circuit: CircuitArrays,
    work: CircuitWork,
    cases: tuple[NDArray[np.int32], Ints, Floats],
    wanted: Flags,
    answers: tuple[Floats, Floats, Flags],
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
    wanted
        ``(variables,)`` whether the marginal of each variable is wanted.
    answers
        Arrays that the kernel fills: the wanted marginals, side by side, ``(cases, states)``; the
        natural logarithm of the probability of the evidence, ``(cases,)``; and whether numbers may
        have underflowed, ``(cases,)``. Impossible and doubtful cases have no marginals.
    """
    findings, soft_starts, soft = cases
    marginals, logarithms, doubts = answers
    at, cells, first, sizes = work.at, work.cells, circuit.first, circuit.sizes
    n_tables, n_variables = circuit.heads.size, circuit.sizes.size
    end = first[first.size - 1] + sizes[n_variables - 1]
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
        listed = circuit.terms.shape[1] > 0 and _is_shorter_listed(circuit, case)
        _prepare(circuit, work, case, soft_starts, wanted, listed)
        total, power, is_sure = _run(circuit, work, wanted, end, listed)
        doubts[number] = not is_sure
        logarithms[number] = -math.inf
        if not is_sure or total == 0.0 or weight == 0.0:
            marginals[number] = math.nan
            continue
        logarithms[number] = math.log(total) + power * math.log(2.0) + math.log(weight)
        column = 0
        for v in range(n_variables):
            if not wanted[v]:
                continue
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


# --- The terms of steps on tables with many zeros -------------------------------------------------

_WORTH_LISTS = 2**17
"""The fewest multiplications of a circuit for which terms are listed."""

_MOST_TERMS = 2**22
"""The most terms of all steps of a circuit, before those are left out that later tables exclude."""

_SPARSE = 0.7
"""The most cells of all tables, as a share, that are not zero where terms are listed."""


def _lists(program: Program, tables: Sequence[Floats]) -> list[NDArray[np.int32] | None]:
    """Return the terms ``(3, terms)`` of each step that are possible in the model.

    Steps that are quicker over all cells have None.
    """
    nothing: list[NDArray[np.int32] | None] = [None] * len(program.steps)
    possible: list[Any] = [np.flatnonzero(table) for table in tables]
    n_cells = sum([table.size for table in tables])
    if program.multiplications < _WORTH_LISTS or sum(map(len, possible)) > _SPARSE * n_cells:
        return nothing
    possible += [np.arange(program.cells(r)) for r in range(len(tables), program.n_inputs)]
    terms: list[Any] = []
    left_terms = _MOST_TERMS
    for register, (operation, left, right) in enumerate(program.steps, program.n_inputs):
        operands = possible[left], possible[right]
        joined = joined_terms(program, register, operands, left_terms)
        if joined is None or program.cells(register) > _MOST_TERMS:
            return nothing
        first, second, to = joined
        left_terms -= len(first)
        at = np.zeros(program.cells(register), dtype=np.bool_)
        at[to] = True
        possible.append(np.flatnonzero(at))
        on_right = first if isinstance(operation, Sum) else operands[1][second]
        terms.append((operands[0][first], on_right, to))
    # Terms that other tables exclude later are found in reverse.
    found = nothing
    alive: dict[int, Any] = {len(program.scopes) - 1: np.ones(1, dtype=np.bool_)}
    for number in range(len(terms) - 1, -1, -1):
        operation, left, right = program.steps[number]
        kept = np.stack(terms[number])[:, alive.pop(program.n_inputs + number)[terms[number][2]]]
        for register, cells in ((left, kept[0]), (right, kept[1])):
            if register not in alive:
                alive[register] = np.zeros(program.cells(register), dtype=np.bool_)
            alive[register][cells] = True
        if _TERM * kept.shape[1] < operation.cost:
            found[number] = kept.astype(np.int32)
    return found


# --- Circuits of models ---------------------------------------------------------------------------

_MOST_TABLE = 2**22
"""The most cells of the table of a functional or noisy distribution."""

_FEW_LAYOUTS, _MANY_LAYOUTS = 4, 64
"""The layouts that are kept for each product, for single questions and for many cases: one for each
choice of what is known."""

_MANY = 100
"""The fewest cases that are many."""

_MOST_LAYOUTS, _PLACES_OF_A_LAYOUT = 2**16, 16

_PRODUCT_NS, _MULTIPLICATION_NS = 60.0, 1.2
"""Nanoseconds for each product of a run, and for each multiplication."""

_AT_ONCE = 2**28
"""The multiplications of a call of the kernel, roughly; Ctrl-C is heard between calls."""

_plain_work = PlainWork(answer_cases, tasks=3)
"""The work of runs in Python, before the kernel is compiled."""

_WORK_OF_A_PRODUCT, _WORK_OF_A_MULTIPLICATION = 200, 4
"""The operations of a run in Python."""


class Answers(NamedTuple):
    """The answers to some cases."""

    marginals: dict[str, Floats]
    """``(cases, states)`` the distribution of each wanted variable; NaN where impossible."""
    log_evidence: Floats
    """``(cases,)`` natural logarithms; −inf where impossible."""
    doubtful: Flags
    """``(cases,)`` whether numbers may have underflowed; such a case has no answer."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Circuit(Sealed):
    """A model compiled to one circuit, which answers any evidence without further planning.

    Its methods take valid arguments.
    """

    model: Network | FactorModel
    arrays: CircuitArrays
    cells: Floats
    """The cells before those of a run: the number one, the tables, and the likelihoods."""
    multiplications: int
    """The multiplications of a run forward without evidence."""
    n_run: int
    """The most cells of the registers and adjoints of a run."""

    @classmethod
    def of(
        cls,
        model: Network | FactorModel,
        *,
        order: OrderFinder | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> Circuit:
        """Return the circuit of a model.

        Parameters
        ----------
        model
            A network, or a product of factors that are not negative.
        order
            The search for an elimination order; by default `Portfolio`.
        limits
            The limits of the memory, ``max_bytes``.

        Raises
        ------
        TooLargeError
            If the circuit would exceed the limits. Plan for the evidence variables instead, as
            with `compile_plan`.
        InvalidModelError
            If a factor is negative or complex.
        """
        most = min(limits.table_cells, _MOST_TABLE)
        domains = {v.name: tuple(range(v.n_states)) for v in model.variables}
        potentials = _parents_first(
            choose_forms(model.potentials, domains, signed=False, max_cells=most)
        )
        sizes = {v.name: v.n_states for p in (model, *potentials) for v in _variables(p)}
        names = [[v.name for v in p.scope] for p in potentials]
        found = (order or DEFAULT_ORDER)(graph_of_scopes(sizes, names))
        _check_bytes(found.total_size, limits)  # at least one in eight cells is held
        program = _elimination(names, sizes, found.variables)
        n_run = 2 * sum(program.held[program.n_inputs :]) + sum(sizes.values())
        _check_bytes(8 * (sum(program.held) + n_run), limits)
        tables = [_positive(p, most).ravel() for p in potentials]
        return cls(
            model=model,
            arrays=_arrays(potentials, list(sizes), tables, program),
            cells=sealed(np.concatenate([np.ones(1), *tables, np.ones(sum(sizes.values()))])),
            multiplications=program.multiplications,
            n_run=n_run,
        )

    @property
    def memory(self) -> int:
        """The bytes of the circuit and of the arrays of a run, which are kept for the next one."""
        layouts = self._n_layouts(1) * (PRODUCT + 2 + _PLACES_OF_A_LAYOUT)
        buffers = (LANES + 2) * self._most_places + ROWS * LANES
        cells = 2 * self.cells.size + self.n_run + 16 * len(self.arrays.closed)
        return sum([a.nbytes for a in self.arrays]) + 8 * (cells + layouts + buffers)

    def nanoseconds(self, states: Mapping[str, int] | None = None) -> float:
        """Return the predicted time of a run for all variables; without states, the longest."""
        products = 3 * len(self.arrays.steps)
        if states is None:
            return _PRODUCT_NS * products + 3 * _MULTIPLICATION_NS * self.multiplications
        logarithms = np.log(self.arrays.sizes)
        logarithms[[self.columns[name] for name in states]] = 0.0
        sums = np.concatenate([[0.0], np.cumsum(logarithms[self.arrays.unions])])
        work = float(np.exp(np.diff(sums[self.arrays.union_starts])).sum())
        return _PRODUCT_NS * products + 3 * _MULTIPLICATION_NS * work

    def answer(
        self,
        states: NDArray[np.integer[Any]],
        targets: Sequence[str],
        likelihoods: Mapping[str, Floats] | None = None,
    ) -> Answers:
        """Return the distributions of variables in many cases, each with its own findings.

        Parameters
        ----------
        states
            ``(cases, variables)`` the position of each variable's state, −1 where missing.
        targets
            The names of the variables of interest.
        likelihoods
            Virtual evidence: for some variables by name, numbers ``(cases, states)``.
        """
        n_cases, n_variables = states.shape
        sizes = self.arrays.sizes
        findings = np.full((n_cases, len(sizes)), -1, dtype=np.int32)
        findings[:, :n_variables] = states
        wanted = np.zeros(len(sizes), dtype=np.bool_)
        wanted[[self.columns[name] for name in targets]] = True
        soft_starts = np.full(len(sizes), -1, dtype=np.int64)
        soft = [np.empty((n_cases, 0))]
        filled = 0
        for name, numbers in (likelihoods or {}).items():
            soft_starts[self.columns[name]] = filled
            soft.append(numbers)
            filled += numbers.shape[1]
        given = findings, soft_starts, np.ascontiguousarray(np.concatenate(soft, axis=1))
        marginals = np.empty((n_cases, int(sizes[wanted].sum())))
        found = marginals, np.empty(n_cases), np.empty(n_cases, dtype=np.bool_)
        with self._work(n_cases) as work:
            step = max(1, _AT_ONCE // (3 * self.multiplications + 1))
            for start in range(0, n_cases, step):
                part = slice(start, start + step)
                cases = given[0][part], given[1], given[2][part]
                answers = found[0][part], found[1][part], found[2][part]
                cost = len(cases[0]) * self._plain_cost
                if cost <= _plain_work.left:
                    _plain_work.spend(cost)
                    run_plainly(answer_cases, self.arrays, work, cases, wanted, answers)
                else:
                    answer_cases(self.arrays, work, cases, wanted, answers)
        ends = np.cumsum(np.where(wanted, sizes, 0))
        marginals.setflags(write=False)
        parts = {
            name: marginals[:, ends[v] - sizes[v] : ends[v]]
            for name in targets
            if (v := self.columns[name]) >= 0
        }
        return Answers(parts, *found[1:])

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each variable of the model."""
        return {v.name: i for i, v in enumerate(self.model.variables)}

    @cached_property
    def _plain_cost(self) -> int:
        products = 3 * len(self.arrays.steps)
        return _WORK_OF_A_PRODUCT * products + _WORK_OF_A_MULTIPLICATION * self.multiplications

    @cached_property
    def _most_places(self) -> int:
        """The most places of a layout."""
        sums = np.concatenate([[0.0], np.cumsum(np.log2(self.arrays.sizes[self.arrays.unions]))])
        largest = float(np.diff(sums[self.arrays.union_starts]).max(initial=0.0))
        return int(min(16 * 2.0**largest, _MOST_PLACES))

    def _n_layouts(self, n_cases: int) -> int:
        of_product = _FEW_LAYOUTS if n_cases < _MANY else _MANY_LAYOUTS
        return min(1 << (3 * of_product * len(self.arrays.steps)).bit_length(), _MOST_LAYOUTS)

    @cached_property
    def _free(self) -> list[CircuitWork]:
        """Arrays of runs that no thread uses."""
        return []

    @contextmanager
    def _work(self, n_cases: int) -> Iterator[CircuitWork]:
        """Lend the arrays of a run for a ``with`` block."""
        try:
            work = self._free.pop()
        except IndexError:
            work = None
        n_layouts = self._n_layouts(n_cases)
        if work is None or len(work.keys) < n_layouts:
            work = self._new_work(n_layouts)
        try:
            yield work
        finally:
            if not self._free:
                self._free.append(work)

    def _new_work(self, n: int) -> CircuitWork:
        arrays = self.arrays
        n_variables, n_registers = len(arrays.sizes), len(arrays.closed)
        cells = np.empty(self.cells.size + self.n_run)
        cells[: self.cells.size] = self.cells
        buffer = np.empty((ROWS + self._most_places) * LANES)
        return CircuitWork(
            cells=cells,
            known=read_only(cells),
            size=np.empty(n_variables, dtype=np.int64),
            level=np.empty(n_variables, dtype=np.int64),
            at=np.empty(2 * n_registers, dtype=np.int64),
            exponents=np.empty((2 * n_registers, 2), dtype=np.int64),
            quiet=np.empty(n_registers, dtype=np.bool_),
            leads=np.empty(n_registers, dtype=np.bool_),
            bits=np.empty(len(arrays.steps), dtype=np.uint64),
            keys=np.zeros((n, 2), dtype=np.uint64),
            rows=np.empty((n, PRODUCT), dtype=np.uint64),
            tables=np.empty(_PLACES_OF_A_LAYOUT * n + 2 * self._most_places, dtype=np.uint64),
            used=np.zeros(2, dtype=np.int64),
            place=np.empty(n_variables, dtype=np.int64),
            axes=np.zeros((65, AXIS), dtype=np.int64),
            counters=np.zeros(64, dtype=np.uint64),
            buffer=buffer,
            buffered=read_only(buffer),
        )


def _check_bytes(needed: int, limits: Limits) -> None:
    if needed > limits.max_bytes:
        raise TooLargeError(
            f"the circuit for any evidence would take about {format_bytes(needed)}, allowed are"
            f" max_bytes={limits.max_bytes:,}. Compile a plan for the evidence variables instead,"
            " or raise the limit.",
            needed=needed,
            budget=limits.max_bytes,
        )


def _variables(part: Any) -> Any:
    return part.scope if isinstance(part, Potential) else part.variables


def _parents_first(potentials: Sequence[Potential]) -> list[Potential]:
    """Return distributions, those of parents first, and then the other factors."""
    cpds = {p.scope[0].name: p for p in potentials if not isinstance(p, Factor)}
    parents = {name: [v.name for v in p.scope[1:] if v.name in cpds] for name, p in cpds.items()}
    ordered = [cpds[name] for name in TopologicalSorter(parents).static_order()]
    return ordered + [p for p in potentials if isinstance(p, Factor)]


def _positive(potential: Potential, max_cells: int) -> Floats:
    """Return the table of a potential."""
    if isinstance(potential, TabularCPD):
        return potential.values
    factor = (
        potential if isinstance(potential, Factor) else potential.to_factor(max_cells=max_cells)
    )
    values = factor.values
    if np.iscomplexobj(values) or np.any(values < 0):
        over = ", ".join(factor.names) or "no variable"
        raise InvalidModelError(
            [f"the factors must not be negative or complex, but the one over {over} is"]
        )
    return np.real(values)


def _elimination(
    names: Sequence[Sequence[str]], sizes: Mapping[str, int], order: Sequence[str]
) -> Program:
    """Return the steps that eliminate all variables from the tables and likelihoods."""
    number = {name: i for i, name in enumerate(sizes)}
    scopes = [tuple([number[name] for name in scope]) for scope in names]
    scopes += [(v,) for v in range(len(sizes))]
    builder = ProgramBuilder(tuple(sizes.values()), list(scopes))
    holders: list[set[int]] = [set() for _ in sizes]
    for register, scope in enumerate(scopes):
        for v in scope:
            holders[v].add(register)
    ends = [register for register, scope in enumerate(scopes) if not scope]
    for name in order:
        operands = sorted(holders[number[name]])
        keep = frozenset().union(*[builder.variables(r) for r in operands]) - {number[name]}
        result = builder.contract(operands, keep)
        assert result is not None  # without heads
        for register in operands:
            for v in builder.variables(register):
                holders[v].discard(register)
        for v in keep:
            holders[v].add(result)
        if not keep:
            ends.append(result)
    builder.contract(ends, frozenset())
    return builder.build([])


def _arrays(
    potentials: Sequence[Potential], names: list[str], tables: Sequence[Floats], program: Program
) -> CircuitArrays:
    """Return the arrays of a circuit."""
    number = {name: i for i, name in enumerate(names)}
    heads = [-1 if isinstance(p, Factor) else number[p.scope[0].name] for p in potentials]
    counts = program.held[: program.n_inputs]
    own = [{head} for head in heads] + [set[int]() for _ in names]
    closed = [False] * program.n_inputs
    steps, unions, keeps_order = [], [], []
    scopes = program.scopes
    for register, (operation, left, right) in enumerate(program.steps, program.n_inputs):
        is_sum, scope = isinstance(operation, Sum), scopes[register]
        union = tuple(dict.fromkeys((*scopes[left], *scopes[right])))
        n_terms = math.prod([program.sizes[v] for v in union if v not in scope])
        steps.append((left, -1 if is_sum else right, n_terms.bit_length()))
        unions.append(union)
        keeps_order.append([_has_in_order(scopes[r], scope) for r in (left, right)])
        own.append(own[left] | own[right])
        closed.append(-1 not in own[register] and own[register].isdisjoint(scope))
        own[left] = own[right] = set()
    lists = _lists(program, tables)
    listed = [np.empty((3, 0), dtype=np.int32) if terms is None else terms for terms in lists]
    is_listed = np.zeros(len(names), dtype=np.bool_)
    for union, terms in zip(unions, lists, strict=True):
        is_listed[list(union)] |= terms is not None
    return CircuitArrays(
        sizes=np.array(program.sizes, dtype=np.int64),
        first=1 + np.cumsum([0, *counts[:-1]], dtype=np.int64),
        heads=np.array(heads, dtype=np.int64),
        steps=np.array(steps, dtype=np.int64).reshape(-1, 3),
        scope_starts=_starts(scopes),
        scopes=_joined(scopes),
        union_starts=_starts(unions),
        unions=_joined(unions),
        closed=np.array(closed, dtype=np.bool_),
        keeps_order=np.array(keeps_order, dtype=np.bool_).reshape(-1, 2),
        exponents=np.array([_exponents(table) for table in tables], dtype=np.int64).reshape(-1, 2),
        list_starts=np.cumsum([0, *[terms.shape[1] for terms in listed]], dtype=np.int64),
        terms=np.concatenate([np.empty((3, 0), dtype=np.int32), *listed], axis=1),
        is_listed=is_listed,
    )


def _exponents(table: Floats) -> tuple[int, int]:
    """Return the bounds of `exponents_of`, without the compiler."""
    positive = table[table > 0]
    if not positive.size:
        return 0, 0
    return math.frexp(positive.min())[1] - 1, math.frexp(positive.max())[1]


def _has_in_order(scope: Sequence[int], wanted: Sequence[int]) -> bool:
    """Return whether a scope has all these variables, in their order."""
    rest = iter(scope)
    return all(v in rest for v in wanted)


def _starts(parts: Sequence[Sequence[int]]) -> Ints:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _joined(parts: Sequence[Sequence[int]]) -> Ints:
    return np.array([v for part in parts for v in part], dtype=np.int64)
