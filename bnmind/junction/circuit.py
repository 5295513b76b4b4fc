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
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import PlainWork, run_plainly
from bnmind._messages import format_bytes
from bnmind._values import Sealed, made, remembered, sealed
from bnmind.errors import TooLargeError
from bnmind.information import Floats
from bnmind.junction.circuit_kernel import (
    TERM,
    CircuitArrays,
    CircuitWork,
    Elimination,
    Flags,
    Ints,
    answer_cases,
    eliminate,
)
from bnmind.junction.forms import choose_forms, non_negative_table
from bnmind.junction.graphs import OrderFinder, graph_of_scopes
from bnmind.junction.limits import (
    DEFAULT_LIMITS,
    USUAL,
    Limits,
    Work,
    predicted_seconds,
)
from bnmind.junction.order_finders import Portfolio
from bnmind.junction.products import AXIS, LANES, PRODUCT, ROWS, read_only
from bnmind.junction.runs import joined_terms
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network, Potential, topological_order
from bnmind.pgm.tabular import TabularCPD

# --- The terms of steps on tables with many zeros -------------------------------------------------

_WORTH_LISTS, _MOST_LISTED = 2**17, 2**22
"""The fewest and the most multiplications of a circuit for which terms are listed."""

_SPARSE = 0.7
"""The most cells of all tables, as a share, that are not zero where terms are listed."""


def _lists(
    found: Elimination, sizes: Sequence[int], tables: Sequence[Floats]
) -> list[NDArray[np.int32] | None]:
    """Return the terms ``(3, terms)`` of each step that are possible in the model.

    Steps that are quicker over all cells have None.
    """
    nothing: list[NDArray[np.int32] | None] = [None] * len(found.steps)
    if not _WORTH_LISTS <= found.multiplications <= _MOST_LISTED:
        return nothing
    possible: list[Any] = [np.flatnonzero(table) for table in tables]
    if sum(map(len, possible)) > _SPARSE * sum(map(len, tables)):
        return nothing
    starts, all_scopes = found.scope_starts.tolist(), found.scopes.tolist()
    scopes = [tuple(all_scopes[start:end]) for start, end in pairwise(starts)]
    counts = [int(n) for n in found.cells]
    n_inputs = len(scopes) - len(found.steps)
    possible += [np.arange(counts[r]) for r in range(len(tables), n_inputs)]
    steps = found.steps[:, :2].tolist()
    terms: list[Any] = []
    for register, (left, right) in enumerate(steps, n_inputs):
        operands = possible[left], possible[right]
        of_step = scopes[left], None if right < 0 else scopes[right], scopes[register]
        first, second, to = joined_terms(of_step, sizes, operands)
        at = np.zeros(counts[register], dtype=np.bool_)
        at[to] = True
        possible.append(np.flatnonzero(at))
        on_right = first if second is None else operands[1][second]
        terms.append((operands[0][first], on_right, to))
    # Terms that other tables exclude later are found in reverse.
    alive: dict[int, Any] = {len(scopes) - 1: np.ones(1, dtype=np.bool_)}
    unions = np.diff(found.union_starts)
    for number in range(len(terms) - 1, -1, -1):
        left, right = steps[number]
        kept = np.stack(terms[number])[:, alive.pop(n_inputs + number)[terms[number][2]]]
        for register, cells in ((left, kept[0]), (right, kept[1]))[: 1 if right < 0 else 2]:
            alive[register] = np.zeros(counts[register], dtype=np.bool_)
            alive[register][cells] = True
        union = found.unions[found.union_starts[number] :][: unions[number]]
        if TERM * kept.shape[1] < math.prod([sizes[v] for v in union]):
            nothing[number] = kept.astype(np.int32)
    return nothing


# --- Circuits of models ---------------------------------------------------------------------------

_MOST_TABLE = 2**22
"""The most cells of the table of a functional or noisy distribution."""

_FEW_LAYOUTS, _MANY_LAYOUTS = 16, 64
"""The layouts that are kept for each product, for single questions and for many cases: one for each
choice of what is known."""

_MANY = 100
"""The fewest cases that are many."""

_MOST_PLACES = 2**16
"""The most places of a layout."""

_MOST_LAYOUTS, _PLACES_OF_A_LAYOUT = 2**16, 32

_STEPS_OF_A_RUN, _NUMBERS_OF_A_PRODUCT = 4, 60
"""The steps of a plan that take as long as a run without products, and the numbers that take as
long as a product without multiplications. A multiplication takes as long as a number."""

_AT_ONCE = 2**28
"""The multiplications of a call of the kernel, roughly; Ctrl-C is heard between calls."""

_NO_GRADIENT = (np.empty(0), np.empty((0, 0)))

_MOST_GREEDY, _WORTH_SEARCHING = 256, 2**14
"""The most variables that are eliminated greedily at first; and the most multiplications of such a
circuit that is not worth a search for an order."""

_WORK_OF_A_VARIABLE = 20
"""The operations of a greedy elimination in Python for each pair of variables, roughly."""

_plain_elimination = PlainWork(eliminate, if_cached=150_000, tasks=3)
"""The work of eliminations in Python, before the kernel is compiled."""

_plain_work = PlainWork(answer_cases, if_cached=500_000, tasks=8)
"""The work of runs in Python, before the kernel is compiled."""

plain_plans = PlainWork(answer_cases, if_cached=500_000)
"""The plans instead of circuits, before the kernel is compiled or loaded, which takes as long."""

_WORK_OF_A_PRODUCT, _WORK_OF_A_MULTIPLICATION = 200, 4
"""The operations of a run in Python."""


class Answers(NamedTuple):
    """The answers to some cases."""

    numbers: Floats
    """``(cases, states)`` the distributions of all targets; NaN where impossible. Read-only."""
    ends: list[int]
    """The columns where those of each target begin, and the end."""
    log_evidence: Floats
    """``(cases,)`` natural logarithms; −inf where impossible."""
    doubtful: Flags
    """``(cases,)`` whether a case has no answer, because numbers may have underflowed."""
    multiplications: Floats
    """``(cases,)`` the multiplications of each case, roughly."""

    @property
    def marginals(self) -> list[Floats]:
        """``(cases, states)`` the distribution of each target."""
        return [self.numbers[:, start:end] for start, end in pairwise(self.ends)]


@dataclass(frozen=True, eq=False, kw_only=True)
class Circuit(Sealed):
    """A model compiled to one circuit, which answers any evidence without further planning.

    Its methods take valid arguments.
    """

    model: Network | FactorModel
    places: tuple[int, ...]
    """The number of the model's table that each table is; −1 if it is part of another form."""
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
            The search for an elimination order; by default `Portfolio` with twice its
            usual effort.
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
        number = {name: i for i, name in enumerate(sizes)}
        names = [[v.name for v in p.scope] for p in potentials]
        scopes = [[number[name] for name in scope] for scope in names]
        heads = [-2 if isinstance(p, Factor) else number[p.scope[0].name] for p in potentials]
        found = _elimination(names, sizes, scopes, heads, (order, limits))
        # Registers, their adjoints, and those of tables and likelihoods.
        n_inputs = len(scopes) + len(sizes)
        n_run = 2 * found.cells[n_inputs:].sum() + found.cells[:n_inputs].sum()
        _check_bytes(8 * (found.cells.sum() + n_run), limits)
        tables = [non_negative_table(p, most).ravel() for p in potentials]
        place = {
            id(potential): i
            for i, potential in enumerate(model.potentials)
            if isinstance(potential, TabularCPD | Factor)
        }
        return made(
            cls,
            model=model,
            places=tuple([place.get(id(potential), -1) for potential in potentials]),
            arrays=_arrays(found, heads, list(sizes.values()), tables),
            cells=sealed(np.concatenate([np.ones(1), *tables, np.ones(sum(sizes.values()))])),
            multiplications=int(found.multiplications),
            n_run=int(n_run),
        )

    def with_tables(self, tables: Sequence[Floats | None]) -> Circuit:
        """Return the circuit with other numbers in its tables.

        It shares the steps, and the arrays of runs. Cells that are zero in the model stay zero.

        Parameters
        ----------
        tables
            For each potential of the model, an array over its scope, or None to keep it.
        """
        cells, first = self.cells.copy(), self.arrays.first[: len(self.places) + 1]
        parts = np.split(cells[1 : first[-1]], first[1:-1] - 1)
        for part, place in zip(parts, self.places, strict=True):
            if place >= 0 and (given := tables[place]) is not None:
                part[:] = given.ravel()
        arrays = self.arrays._replace(exponents=_exponents(parts))
        changed = replace(self, arrays=arrays, cells=cells)
        changed.__dict__["_free"] = self._free
        return changed

    @property
    def memory(self) -> int:
        """The bytes of the circuit and of the arrays of a run, which are kept for the next one."""
        layouts = self._n_layouts(1) * (PRODUCT + 2 + _PLACES_OF_A_LAYOUT)
        buffers = (LANES + 2) * self._most_places + ROWS * LANES
        cells = 2 * self.cells.size + self.n_run + 16 * len(self.arrays.closed)
        return sum([a.nbytes for a in self.arrays]) + 8 * (cells + layouts + buffers)

    def seconds(self, multiplications: float) -> float:
        """Return the predicted time of a run with so many multiplications, in seconds."""
        numbers = _NUMBERS_OF_A_PRODUCT * 3 * len(self.arrays.steps)
        return predicted_seconds(Work(_STEPS_OF_A_RUN, numbers=numbers + multiplications))

    def multiplications_in(self, seconds: float) -> float:
        """Return the multiplications of a run of this time by usual rates; 0 if there are none."""
        least = remembered(self, "_least_seconds", lambda: self.seconds(0))
        return max(0.0, seconds - least) / USUAL.numbers

    def answer(
        self,
        states: NDArray[np.integer[Any]],
        targets: Sequence[str],
        likelihoods: Mapping[str, Floats] | None = None,
        most: float = math.inf,
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
        most
            The most multiplications of a case that is answered.
        """
        columns = [self.columns[name] for name in targets]
        nothing = (*_NO_GRADIENT, math.nan)
        return self._answer(states, columns, likelihoods or {}, most, nothing)

    def gradient(
        self, states: NDArray[np.integer[Any]], weights: Floats, *, barren: bool = True
    ) -> tuple[list[Floats | None], Answers]:
        """Return the derivatives of the weighted sum of ln P(case) by the entries of all tables.

        An entry times its derivative is its expected count. Cases without an answer and impossible
        ones add nothing.

        Parameters
        ----------
        states
            As for `answer`.
        weights
            ``(cases,)`` the weight of each case.
        barren
            Whether a case adds to the derivatives by distributions without evidence below, which
            sum to one whatever they are.

        Returns
        -------
        partials, answers
            An array over the scope of each potential of the model, None for a functional or
            noisy distribution; and the answers about all variables, or about none of them without
            barren distributions.
        """
        targets = list(range(len(self._sizes))) if barren else []
        sums = np.zeros((1, self._n_table_cells))
        answers = self._answer(states, targets, {}, math.inf, (weights, sums, math.nan))
        return self._by_table(sums[0]), answers

    def joint_gradients(
        self, states: NDArray[np.integer[Any]], likelihoods: Mapping[str, Floats]
    ) -> tuple[Answers, list[list[Floats | None]]]:
        """Return cases, and the derivatives of P(case) / Σ P(case) with the sum held fixed.

        Impossible cases have derivatives, too. Numbers that are too far apart for floating point
        may be lost, where the answers are doubtful. There is no derivative if all cases are
        impossible.

        Parameters
        ----------
        states, likelihoods
            As for `answer`.

        Returns
        -------
        answers, partials
            The answers about no variable; and for each case the derivatives by the entries of all
            tables, as for `gradient`.
        """
        answers = self._answer(states, [], likelihoods, math.inf, (*_NO_GRADIENT, 0.0))
        total = float(np.logaddexp.reduce(answers.log_evidence))
        if total == -math.inf:
            return answers, []
        rows = np.zeros((len(states), self._n_table_cells))
        gradient = np.ones(len(states)), rows, total
        self._answer(states, [], likelihoods, math.inf, gradient)
        return answers, [self._by_table(row) for row in rows]

    @property
    def _n_table_cells(self) -> int:
        return int(self.arrays.first[len(self.places)]) - 1

    def _by_table(self, derivatives: Floats) -> list[Floats | None]:
        """Return the derivatives by the cells of all tables as arrays for the potentials."""
        partials: list[Floats | None] = [None] * len(self.model.potentials)
        first = self.arrays.first[: len(self.places)] - 1
        for part, place in zip(np.split(derivatives, first[1:]), self.places, strict=True):
            if place >= 0:
                scope = self.model.potentials[place].scope
                partials[place] = part.reshape([v.n_states for v in scope])
        return partials

    def _answer(
        self,
        states: NDArray[np.integer[Any]],
        columns: list[int],
        likelihoods: Mapping[str, Floats],
        most: float,
        gradient: tuple[Floats, Floats, float],
    ) -> Answers:
        n_cases, n_all = len(states), len(self._sizes)
        findings = np.full((n_cases, n_all), -1, dtype=np.int32)
        findings[:, : states.shape[1]] = states
        ends = [0, *accumulate([self._sizes[v] for v in columns])]
        wanted = np.array(columns, dtype=np.int64)
        numbers, log_evidence = np.empty((n_cases, ends[-1])), np.empty(n_cases)
        doubtful, work_of = np.empty(n_cases, dtype=np.bool_), np.empty(n_cases)
        soft_starts = np.full(n_all, -1, dtype=np.int64)
        soft = np.empty((n_cases, 0))
        for name, weights in likelihoods.items():
            soft_starts[self.columns[name]] = soft.shape[1]
            soft = np.concatenate([soft, weights], axis=1)
        at_once = max(1, _AT_ONCE // (3 * self.multiplications + 1))
        plain_cost = _WORK_OF_A_PRODUCT * 3 * len(self.arrays.steps)
        plain_cost += _WORK_OF_A_MULTIPLICATION * self.multiplications
        with self._work(n_cases) as work:
            for start in range(0, n_cases, at_once):
                part = slice(start, start + at_once)
                cases = findings[part], soft_starts, soft[part]
                answers = numbers[part], log_evidence[part], doubtful[part], work_of[part]
                weights, rows, scale = gradient
                derivatives = weights[part], rows[part] if len(rows) > 1 else rows, scale
                arguments = self.arrays, work, cases, wanted, answers, most, derivatives
                cost = len(cases[0]) * plain_cost
                if cost <= _plain_work.left:
                    _plain_work.spend(cost)
                    run_plainly(answer_cases, *arguments)
                else:
                    answer_cases(*arguments)
        numbers.setflags(write=False)
        return Answers(numbers, ends, log_evidence, doubtful, work_of)

    @cached_property
    def _sizes(self) -> list[int]:
        sizes: list[int] = self.arrays.sizes.tolist()
        return sizes

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each variable of the model."""
        return {v.name: i for i, v in enumerate(self.model.variables)}

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
    def _free(self) -> list[tuple[Floats, CircuitWork]]:
        """Arrays of runs that no thread uses, and the cells that they hold."""
        return []

    @contextmanager
    def _work(self, n_cases: int) -> Iterator[CircuitWork]:
        """Lend the arrays of a run for a ``with`` block."""
        try:
            held, work = self._free.pop()
        except IndexError:
            held, work = self.cells, None
        n_layouts = self._n_layouts(n_cases)
        if work is None or len(work.keys) < n_layouts:
            work = self._new_work(n_layouts)
        elif held is not self.cells:
            work.cells[: self.cells.size] = self.cells
        try:
            yield work
        finally:
            if not self._free:
                self._free.append((self.cells, work))

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
            wanted=np.empty(n_variables, dtype=np.bool_),
            level=np.empty(n_variables, dtype=np.int64),
            at=np.empty(2 * n_registers, dtype=np.int64),
            exponents=np.empty((2 * n_registers, 2), dtype=np.int64),
            powers=np.empty(2 * n_registers, dtype=np.int64),
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


def _check_bytes(predicted: float, limits: Limits) -> None:
    needed = int(min(predicted, 2.0**62))
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
    ordered = [cpds[name] for name in topological_order(parents)]
    return ordered + [p for p in potentials if isinstance(p, Factor)]


def _elimination(
    names: Sequence[Sequence[str]],
    sizes: Mapping[str, int],
    scopes: Sequence[Sequence[int]],
    heads: Sequence[int],
    options: tuple[OrderFinder | None, Limits],
) -> Elimination:
    """Return the steps that eliminate all variables from the tables and likelihoods."""
    order, limits = options
    n = len(sizes)
    every = [*scopes, *[[v] for v in range(n)]]
    arguments = (
        np.array([*sizes.values()], dtype=np.int64),
        np.array([*heads, *[-1] * n], dtype=np.int64),
        _starts(every),
        _joined(every),
    )
    quick = None
    if order is None and n <= _MOST_GREEDY:
        nothing = np.empty(n, dtype=np.int64)
        quick = _eliminated(*arguments, nothing, True)
        if quick.multiplications <= _WORTH_SEARCHING:
            return quick
    best = (order or Portfolio(effort=2.0))(graph_of_scopes(sizes, names))
    _check_bytes(best.total_size, limits)  # at least one in eight cells is held
    number = {name: i for i, name in enumerate(sizes)}
    given = np.array([number[name] for name in best.variables], dtype=np.int64)
    found = _eliminated(*arguments, given, False)
    better = quick is not None and quick.multiplications < found.multiplications
    return quick if quick is not None and better else found


def _eliminated(*arguments: Any) -> Elimination:
    work = _WORK_OF_A_VARIABLE * len(arguments[0]) ** 2
    if work <= _plain_elimination.left:
        _plain_elimination.spend(work)
        return run_plainly(eliminate, *arguments)
    return eliminate(*arguments)


def _arrays(
    found: Elimination, heads: Sequence[int], sizes: Sequence[int], tables: Sequence[Floats]
) -> CircuitArrays:
    """Return the arrays of a circuit."""
    counts = [*map(len, tables), *sizes]
    n_registers, n_inputs = len(found.closed), len(counts)
    lists = _lists(found, sizes, tables)
    listed = [np.empty((3, 0), dtype=np.int32) if terms is None else terms for terms in lists]
    is_listed = np.zeros(len(sizes), dtype=np.bool_)
    is_inner = np.zeros(n_registers, dtype=np.bool_)
    for number, terms in enumerate(lists):
        if terms is None:
            continue
        is_listed[found.unions[slice(*found.union_starts[number : number + 2])]] = True
        for register in found.steps[number, :2].tolist():
            if register >= n_inputs:
                is_inner[register] = lists[register - n_inputs] is not None
    return CircuitArrays(
        sizes=np.array(sizes, dtype=np.int64),
        first=1 + np.cumsum([0, *counts[:-1]], dtype=np.int64),
        heads=np.array(heads, dtype=np.int64),
        steps=found.steps,
        scope_starts=found.scope_starts,
        scopes=found.scopes,
        union_starts=found.union_starts,
        unions=found.unions,
        closed=found.closed,
        keeps_order=found.keeps_order,
        exponents=_exponents(tables),
        list_starts=np.cumsum([0, *[terms.shape[1] for terms in listed]], dtype=np.int64),
        terms=np.concatenate([np.empty((3, 0), dtype=np.int32), *listed], axis=1),
        is_listed=is_listed,
        is_inner=is_inner,
    )


def _exponents(tables: Sequence[Floats]) -> Ints:
    """Return the bounds of `exponents_of` for each table, without the compiler."""
    numbers = np.concatenate(tables)
    starts = np.cumsum([0, *map(len, tables[:-1])])
    largest = np.maximum.reduceat(numbers, starts)
    least = np.minimum.reduceat(np.where(numbers > 0, numbers, np.inf), starts)
    low = np.frexp(np.where(largest > 0, least, 1.0))[1] - 1
    return np.stack([low, np.frexp(largest)[1]], axis=1).astype(np.int64)


def _starts(parts: Sequence[Sequence[int]]) -> Ints:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _joined(parts: Sequence[Sequence[int]]) -> Ints:
    return np.array([v for part in parts for v in part], dtype=np.int64)
