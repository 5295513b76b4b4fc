"""Programs walked backward: from the sum or the maximum of everything to states of all variables.

A program that ends in one number has, on its way there, eliminated every variable
in some step. Walked from its end, each step finds the variables of its result already
decided, and the slices of its operands at those states weigh the states of the
variables that it eliminated: the largest weight continues a most probable
explanation, and a draw in proportion to the weights continues a sample of the joint
distribution. For the former the program is run with maxima for sums, on logarithms,
which neither underflow nor need scaling.

References
----------
A. P. Dawid, "Applications of a general propagation algorithm for probabilistic expert
systems", Statistics and Computing 2 (1992): maximization and sampling in junction trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.compile import compile_all
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.program.program import (
    LookUp,
    Operation,
    Product,
    Program,
    Scatter,
    Scope,
    Step,
    Sum,
)
from bnmind.pgm.factor import Values
from bnmind.pgm.network import Potential

__all__ = [
    "Pick",
    "compile_elimination",
    "told",
    "walk_back",
]

Pick: TypeAlias = Callable[[Floats, slice], NDArray[np.intp]]
"""From weights ``(rows, choices)`` of these rows to a choice for each; one row stands for all."""

_CHUNK = 2**20
"""Weights that are looked at at a time."""


def compile_elimination(
    tables: Sequence[Potential],
    *,
    evidence: Sequence[str],
    soft: Sequence[str],
    order: OrderFinder | None,
    limits: Limits,
) -> CompiledQuery:
    """Return the compiled query that eliminates every variable of non-negative tables.

    Its program ends in one number and keeps what `walk_back` reads. No variable is left
    out as barren: each is to be decided.

    Raises
    ------
    TooLargeError
        If the plan is over its limits; it names the largest clique.
    """
    compiled = compile_all(tables, evidence=evidence, soft=soft, order=order, limits=limits)
    program = _keeping_operands(compiled.program)
    compiled = replace(compiled, program=program, table_copies=2)
    if compiled.refusal is not None:
        raise compiled.refusal
    return compiled


def told(plan: Plan) -> str:
    """Return what a plan is given and its size, for a line about it."""
    size = f"{plan.total_size:,} cells" if plan.by_case is None else "planned for each case"
    given = [*(v.name for v in plan.evidence), *(f"{v.name}?" for v in plan.soft)]
    shown = ", ".join(given[:6]) + (f", … {len(given)} in all" if len(given) > 6 else "")
    return f" | {shown or 'nothing'}; {size}"


def _keeping_operands(program: Program) -> Program:
    """Return the program that keeps what walking backward reads: what variables are summed from."""
    needed = {
        register
        for step in program.steps
        if _eliminates(step.operation)
        for register in (step.left, step.right)
    }
    return replace(
        program,
        steps=tuple(_without_overwriting(s) if s.left in needed else s for s in program.steps),
        spent=tuple(tuple(r for r in spent if r not in needed) for spent in program.spent),
    )


def _eliminates(operation: Operation) -> bool:
    if isinstance(operation, Product):
        return operation.sums
    return isinstance(operation, Sum | Scatter)


def _without_overwriting(step: Step) -> Step:
    operation = step.operation
    if isinstance(operation, Product) and operation.overwrites:
        return step._replace(operation=replace(operation, overwrites=False))
    return step


def walk_back(
    program: Program, registers: Sequence[Values], rows: int, combine: np.ufunc, pick: Pick
) -> NDArray[np.intp]:
    """Return states of all variables of a program that has eliminated them all.

    Parameters
    ----------
    program
        Of a plan by `compile_elimination`.
    registers
        As they are after the run.
    rows
        How many times to choose.
    combine
        How the weights of two operands make one: `numpy.multiply`, or `numpy.add` for
        logarithms.
    pick
        Chooses among weights.

    Returns
    -------
    NDArray
        ``(variables, rows)`` state positions.
    """
    states = np.zeros((len(program.sizes), rows), dtype=np.intp)
    for number in reversed(range(len(program.steps))):
        operation, left, right = program.steps[number]
        result = program.scopes[program.n_inputs + number]
        if isinstance(operation, LookUp):
            child = program.scopes[right][operation.axes[0]]
            positions: Any = registers[left]
            states[child] = positions[tuple(states[list(result[: positions.ndim])])]
        elif _eliminates(operation):
            gone = tuple(v for v in program.scopes[left] if v not in result)
            if not gone:
                continue
            sizes = [program.sizes[v] for v in gone]
            operands = (left,) if isinstance(operation, Sum) else (left, right)
            child, scopes = None, [program.scopes[r] for r in operands]
            if isinstance(operation, Scatter):
                # The left register holds where its rows lead, not what they weigh.
                child, scopes[0] = scopes[0][0], scopes[0][1:]
            tables = [
                _gone_last(registers[r], scope, gone, sizes)
                for r, scope in zip(operands, scopes, strict=True)
            ]
            _choose(states, gone, sizes, tables, (combine, pick), leads_to=child)
    return states


_Table: TypeAlias = tuple[Values, Scope]
"""Values whose last axis is the choices, and the variables of the others."""


def _gone_last(values: Values, scope: Scope, gone: Scope, sizes: Sequence[int]) -> _Table:
    """Return values for every choice of what is gone, also of what they do not depend on."""
    rest = tuple(v for v in scope if v not in gone)
    there = [v for v in gone if v in scope]
    ordered = values.transpose([scope.index(v) for v in (*rest, *there)])
    shape = ordered.shape[: len(rest)]
    if len(there) < len(gone):
        view = [n if v in scope else 1 for v, n in zip(gone, sizes, strict=True)]
        ordered = np.broadcast_to(ordered.reshape(*shape, *view), (*shape, *sizes))
    return ordered.reshape((*shape, -1)), rest


def _choose(
    states: NDArray[np.intp],
    gone: Scope,
    sizes: Sequence[int],
    tables: Sequence[_Table],
    how: tuple[np.ufunc, Pick],
    *,
    leads_to: int | None,
) -> None:
    """Fill in the states of the variables that a step eliminated.

    If the first table holds what state of a variable each choice ``leads_to``, only choices
    that lead to its state have a weight.
    """
    combine, pick = how
    some, none = (1.0, 0.0) if combine is np.multiply else (0.0, -np.inf)
    choices = math.prod(sizes)
    rows = states.shape[1]
    chunk = max(1, _CHUNK // choices)
    if leads_to is None and not any(rest for _, rest in tables):
        chunk = rows
    for start in range(0, rows, chunk):
        part = slice(start, min(start + chunk, rows))
        weights: Any = None
        for values, rest in tables:
            # A table of the choices alone weighs them the same in every row.
            own = values[tuple(states[list(rest), part])] if rest else values[None, :]
            if leads_to is not None and weights is None:
                own = np.where(own == states[leads_to, part, None], some, none)
            weights = own if weights is None else combine(weights, own)
        chosen = pick(weights, part)
        states[list(gone), part] = np.stack(np.unravel_index(chosen, sizes))
