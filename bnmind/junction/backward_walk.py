"""The backward walk through a program, which finds states of all variables.

A program that ends in a single number eliminates every variable in some step. The backward walk
visits the steps in reverse order. At each step, the states of the variables of the result are
known. The slices of the operands at these states are weights of the states of the eliminated
variables. The largest weight continues a most probable explanation, and a draw in proportion to the
weights continues a sample of the joint distribution. For an explanation, the program runs with
maxima instead of sums, on logarithms, which do not underflow and need no scaling.

References
----------
A. P. Dawid, "Applications of a general propagation algorithm for probabilistic expert
systems", Statistics and Computing 2 (1992): maximization and sampling in junction trees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.errors import TooLargeError
from bnmind.information import Floats
from bnmind.junction.forms import small_tables, without_effects
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.inference.compile import compile_all, compile_by_case
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import Findings, is_state
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
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum

Pick: TypeAlias = Callable[[Floats, slice], NDArray[np.intp]]
"""Maps weights ``(rows, choices)`` of some rows to a choice for each; one row may stand for all."""

CHUNK = 2**20
"""The number of weights processed at a time."""


def compile_elimination(
    tables: Sequence[Potential],
    *,
    evidence: Sequence[str],
    soft: Sequence[str],
    order: OrderFinder | None,
    limits: Limits,
    inputs: Mapping[str, Sequence[str]] | None = None,
    kept: Sequence[str] = (),
) -> CompiledQuery:
    """Return the compiled query that eliminates every variable of non-negative tables.

    Its program ends in a single number, or in a table over variables that are ``kept``. It keeps
    the registers that `walk_back` reads. Barren variables are not omitted, because each variable
    needs a state.

    Raises
    ------
    TooLargeError
        If the plan exceeds its limits. The error names the largest clique.
    """
    compiled = compile_all(
        tables,
        evidence=evidence,
        soft=soft,
        order=order,
        limits=limits,
        targets=[kept],
        inputs=inputs,
    )
    program = _keeping_operands(compiled.program)
    compiled = replace(compiled, program=program, table_copies=2)
    if compiled.refusal is not None:
        raise compiled.refusal
    return compiled


def told(plan: Plan) -> str:
    """Return the evidence and the size of a plan as text for its ``repr``."""
    size = f"{plan.total_size:,} cells" if plan.by_case is None else "planned for each case"
    evidence = [*(v.name for v in plan.evidence), *(f"{v.name}?" for v in plan.soft)]
    shown = ", ".join(evidence[:6]) + (f", … {len(evidence)} in all" if len(evidence) > 6 else "")
    return f" | {shown or 'nothing'}; {size}"


def _keeping_operands(program: Program) -> Program:
    """Return the program that keeps the operands of eliminations, which the backward walk reads."""
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
    program: Program,
    registers: Sequence[Values],
    rows: int,
    combine: np.ufunc,
    pick: Pick,
    known: Mapping[int, int] | None = None,
) -> NDArray[np.intp]:
    """Return states of all variables of a program that eliminates all of them.

    Parameters
    ----------
    program
        The program of a plan made by `compile_elimination`.
    registers
        The registers after the run.
    rows
        The number of explanations or samples.
    combine
        Combines the weights of two operands: `numpy.multiply`, or `numpy.add` for logarithms.
    pick
        Chooses a state by its weights.
    known
        The states of the variables that the program keeps.

    Returns
    -------
    NDArray
        ``(variables, rows)`` state positions.
    """
    states = np.zeros((len(program.sizes), rows), dtype=np.intp)
    for variable, state in (known or {}).items():
        states[variable] = state
    for number in reversed(range(len(program.steps))):
        look_up(program, registers, number, states)
        choice = choice_of(program, registers, number)
        if choice is not None:
            _choose(states, choice, combine, pick)
    return states


def most_likely(weights: Floats, rows: slice) -> NDArray[np.intp]:
    """Return the choices with the largest weights; see `Pick`."""
    return np.asarray(np.argmax(weights, axis=1), dtype=np.intp)


_Table: TypeAlias = tuple[Values, Scope]
"""Values whose last axis is the choices, and the variables of the others."""


class Choice(NamedTuple):
    """The choice among the configurations of the variables that a step eliminated."""

    gone: Scope
    """The eliminated variables."""
    sizes: tuple[int, ...]
    """Their numbers of states."""
    tables: tuple[_Table, ...]
    """The weights of the configurations, whose product counts."""
    leads_to: int | None
    """If the first table holds the state of a variable that each configuration leads to, this
    variable; other configurations have no weight."""


def look_up(
    program: Program, registers: Sequence[Values], number: int, states: NDArray[np.intp]
) -> None:
    """Fill in the states of the variable that a step looked up, if it is such a step.

    ``states`` has the shape ``(variables, rows)``.
    """
    operation, left, right = program.steps[number]
    if isinstance(operation, LookUp):
        result = program.scopes[program.n_inputs + number]
        child = program.scopes[right][operation.axes[0]]
        positions: Any = registers[left]
        states[child] = positions[tuple(states[list(result[: positions.ndim])])]


def choice_of(program: Program, registers: Sequence[Values], number: int) -> Choice | None:
    """Return the choice at a step; None if the step eliminates no variable."""
    operation, left, right = program.steps[number]
    result = program.scopes[program.n_inputs + number]
    if not _eliminates(operation):
        return None
    gone = tuple(v for v in program.scopes[left] if v not in result)
    if not gone:
        return None
    sizes = tuple(program.sizes[v] for v in gone)
    operands = (left,) if isinstance(operation, Sum) else (left, right)
    child, scopes = None, [program.scopes[r] for r in operands]
    if isinstance(operation, Scatter):
        # The left register holds destinations, not weights.
        child, scopes[0] = scopes[0][0], scopes[0][1:]
    tables = tuple(
        _gone_last(registers[r], scope, gone, sizes)
        for r, scope in zip(operands, scopes, strict=True)
    )
    return Choice(gone, sizes, tables, child)


def _gone_last(values: Values, scope: Scope, gone: Scope, sizes: Sequence[int]) -> _Table:
    """Return values for every configuration of the eliminated variables, as the last axis."""
    rest = tuple(v for v in scope if v not in gone)
    summed = [v for v in gone if v in scope]
    ordered = values.transpose([scope.index(v) for v in (*rest, *summed)])
    shape = ordered.shape[: len(rest)]
    if len(summed) < len(gone):
        view = [n if v in scope else 1 for v, n in zip(gone, sizes, strict=True)]
        ordered = np.broadcast_to(ordered.reshape(*shape, *view), (*shape, *sizes))
    return ordered.reshape((*shape, -1)), rest


def weights_of(choice: Choice, states: NDArray[np.intp], rows: slice, combine: np.ufunc) -> Floats:
    """Return the weights of the configurations, ``(rows, configurations)``.

    There is a single row if the weights do not depend on the other variables.
    """
    some, none = (1.0, 0.0) if combine is np.multiply else (0.0, -np.inf)
    weights: Any = None
    for values, rest in choice.tables:
        # Weights that depend only on the choices are the same in every row.
        own = values[tuple(states[list(rest), rows])] if rest else values[None, :]
        if choice.leads_to is not None and weights is None:
            own = np.where(own == states[choice.leads_to, rows, None], some, none)
        weights = own if weights is None else combine(weights, own)
    result: Floats = weights
    return result


def _choose(states: NDArray[np.intp], choice: Choice, combine: np.ufunc, pick: Pick) -> None:
    """Fill in the states of the variables that a step eliminated."""
    rows = states.shape[1]
    chunk = max(1, CHUNK // math.prod(choice.sizes))
    if choice.leads_to is None and not any(rest for _, rest in choice.tables):
        chunk = rows
    for start in range(0, rows, chunk):
        part = slice(start, min(start + chunk, rows))
        chosen = pick(weights_of(choice, states, part, combine), part)
        states[list(choice.gone), part] = np.stack(np.unravel_index(chosen, choice.sizes))


# --- Plans that eliminate every variable, with a separate plan for each case if necessary ---------
#
# A noisy-or that is observed as false is a product of a factor for each parent; otherwise it makes
# its parents dependent (see `bnmind.junction.forms`). A plan for the explanation or
# the samples of a single case may therefore be small even if a plan for arbitrary evidence is too
# large.


@dataclass(frozen=True, eq=False)
class Elimination(Value):
    """A query that eliminates all variables of a model, and its evidence variables."""

    potentials: tuple[Potential, ...]
    """The tables of the model."""
    names: tuple[str, ...]
    """Names that are not available for auxiliary variables."""
    sums_only: bool
    """Whether variables are summed out instead of maximized."""
    evidence: tuple[str, ...]
    soft: tuple[str, ...]
    order: OrderFinder | None
    """As in `compile_plan`, as are the evidence and the limits."""
    limits: Limits

    def plan(self) -> Plan:
        """Return a plan for any evidence, or one that makes a plan for each case.

        Raises
        ------
        TooLargeError
            If the plan exceeds its limits, and a plan for a single case would not be smaller.
        """
        try:
            return Plan(self._compiled(self.potentials))
        except TooLargeError as fault:
            if not self._depends_on_case():
                raise
            compiled = compile_by_case(
                self.potentials,
                evidence=self.evidence,
                soft=self.soft,
                order=self.order,
                limits=self.limits,
                cells=fault.needed,
            )
            return Plan(compiled)

    def for_case(self, plan: Plan, evidence: Findings) -> Plan:
        """Return the plan for given evidence, which its runs still take.

        This is ``plan`` itself, if it serves any evidence.
        """
        if plan.by_case is None:
            return plan
        variables = {v.name: v for potential in self.potentials for v in potential.scope}
        known = {name: state for name, state in evidence.items() if is_state(state)}
        domains = {
            name: (v.index(known[name]),) if name in known else tuple(range(v.n_states))
            for name, v in variables.items()
        }
        return Plan(self._compiled(without_effects(self.potentials, domains)))

    def _compiled(self, potentials: Sequence[Potential]) -> CompiledQuery:
        most = self.limits.table_cells
        return compile_elimination(
            small_tables(potentials, self.names, sums_only=self.sums_only, max_cells=most),
            evidence=self.evidence,
            soft=self.soft,
            order=self.order,
            limits=self.limits,
        )

    def _depends_on_case(self) -> bool:
        """Return whether a noisy extremum of several parents may be observed."""
        told_of = {*self.evidence, *self.soft}
        return any(
            isinstance(p, NoisyMaximum | NoisyMinimum)
            and p.variable.name in told_of
            and len(p.parents) > 1
            for p in self.potentials
        )
