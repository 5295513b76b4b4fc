"""Walks back through a program, to most probable explanations and to samples; marginal MAP.

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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table
from bnmind._messages import counted, many
from bnmind._values import Count, Value
from bnmind.errors import TooLargeError
from bnmind.information import Floats
from bnmind.junction.compiled_query import CompiledQuery, starting_registers
from bnmind.junction.evidence import Evidence, Findings, is_state, read_findings
from bnmind.junction.forms import small_tables, without_effects
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.plan import Plan, compile_all, conflict, impossible
from bnmind.junction.program import (
    LookUp,
    Product,
    Program,
    Scatter,
    Scope,
    Step,
    Sum,
)
from bnmind.junction.runs import logarithms, run_logarithms
from bnmind.pgm.factor import Values
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum
from bnmind.pgm.variable import Variable

States: TypeAlias = NDArray[np.intp]
"""State positions, ``(variables, rows)``; a row is an explanation or a sample."""

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
    operands = {r for _, *both in filter(_eliminates, compiled.program.steps) for r in both}
    program = keeping(compiled.program, operands)
    compiled = replace(compiled, program=program, table_copies=2)
    if compiled.refusal is not None:
        raise compiled.refusal
    return compiled


def keeping(program: Program, registers: Collection[int]) -> Program:
    """Return the program that keeps some registers after its run.

    Parameters
    ----------
    program
        The program.
    registers
        The registers that are needed afterwards.
    """
    steps = []
    for step in program.steps:
        operation = step.operation
        if step.left in registers and isinstance(operation, Product):
            step = step._replace(operation=replace(operation, overwrites=False))
        steps.append(step)
    spent = [tuple([r for r in each if r not in registers]) for each in program.spent]
    return replace(program, steps=tuple(steps), spent=tuple(spent))


def _eliminates(step: Step) -> bool:
    operation = step.operation
    if isinstance(operation, Product):
        return operation.sums
    return isinstance(operation, Sum | Scatter)


class Choice(NamedTuple):
    """The choice among the configurations of the variables that a step eliminated."""

    gone: Scope
    """The eliminated variables."""
    sizes: tuple[int, ...]
    """Their numbers of states."""
    tables: tuple[tuple[Values, Scope], ...]
    """The weights of the configurations, whose product counts, and their variables."""
    leads_to: int | None
    """If the first table holds the state of a variable that each configuration leads to, this
    variable; other configurations have no weight."""

    def weights(self, states: States, combine: np.ufunc) -> Floats:
        """Return the weights of the configurations, ``(rows, configurations)``.

        There is a single row if the weights do not depend on the other variables. Those of two
        operands are combined by `numpy.multiply`, or `numpy.add` for logarithms.
        """
        some, none = (1.0, 0.0) if combine is np.multiply else (0.0, -np.inf)
        weights: Any = None
        for values, scope in self.tables:
            rest = [v for v in scope if v not in self.gone]
            axes = [scope.index(v) for v in (*rest, *self.gone) if v in scope]
            shape = [n if v in scope else 1 for v, n in zip(self.gone, self.sizes, strict=True)]
            own = values.transpose(axes)[tuple(states[rest])].reshape(-1, *shape)
            if self.leads_to is not None and weights is None:
                led_to = states[self.leads_to].reshape(-1, *[1] * len(shape))
                own = np.where(own == led_to, some, none)
            weights = own if weights is None else combine(weights, own)
        result: Floats = weights.reshape(len(weights), -1)
        return result

    def parts(self, rows: int) -> Iterator[slice]:
        """Yield the rows whose weights are processed at a time."""
        return in_parts(rows, math.prod(self.sizes))


def in_parts(rows: int, width: int) -> Iterator[slice]:
    """Yield the rows that are processed at a time, given the number of weights of each."""
    size = max(1, CHUNK // width)
    for start in range(0, max(rows, 1), size):
        yield slice(start, min(start + size, rows))


Extend: TypeAlias = Callable[[Choice, States], tuple[Any, States]]
"""Maps a choice and the states so far to the rows that are kept, and a configuration for each."""


def walk_back(
    program: Program,
    registers: Sequence[Values],
    rows: int,
    extend: Extend,
    known: Mapping[int, int] | None = None,
) -> States:
    """Return states of all variables of a program that eliminates all of them.

    Parameters
    ----------
    program
        The program of a plan made by `compile_elimination`.
    registers
        The registers after the run.
    rows
        The number of explanations or samples to start with.
    extend
        Chooses states by their weights.
    known
        The states of the variables that the program keeps.
    """
    states = np.zeros((len(program.sizes), rows), dtype=np.intp)
    for variable, state in (known or {}).items():
        states[variable] = state
    steps = zip(program.steps, program.scopes[program.n_inputs :], strict=True)
    for step, result in reversed([*steps]):
        operation, left, right = step
        if isinstance(operation, LookUp):
            # The step looked up the state of a variable.
            child = program.scopes[right][operation.axes[0]]
            positions: Any = registers[left]
            states[child] = positions[tuple(states[list(result[: positions.ndim])])]
        if not _eliminates(step):
            continue
        gone = tuple([v for v in program.scopes[left] if v not in result])
        if not gone:
            continue
        leads_to = None
        operands = [left] if isinstance(operation, Sum) else [left, right]
        scopes = [program.scopes[r] for r in operands]
        if isinstance(operation, Scatter):
            # The left register holds destinations, not weights.
            leads_to, scopes[0] = scopes[0][0], scopes[0][1:]
        sizes = tuple([program.sizes[v] for v in gone])
        tables = tuple([(registers[r], scope) for r, scope in zip(operands, scopes, strict=True)])
        kept, chosen = extend(Choice(gone, sizes, tables, leads_to), states)
        states = states[:, kept]
        states[list(gone)] = np.stack(np.unravel_index(chosen, sizes))
    return states


def most_likely(choice: Choice, states: States) -> tuple[Any, States]:
    """Extend a row by its most probable states, in a run with maxima on logarithms."""
    return slice(None), np.argmax(choice.weights(states, np.add), axis=1)


# --- Plans that eliminate every variable, with a separate plan for each case if necessary ---------
#
# A noisy-or that is observed as false is a product of a factor for each parent; otherwise it makes
# its parents dependent (see `bnmind.junction.forms`). A plan for the explanation or
# the samples of a single case may therefore be small even if a plan for arbitrary evidence is too
# large.


class Eliminated(NamedTuple):
    """A run that eliminated all variables."""

    compiled: CompiledQuery
    """The query of the run."""
    registers: list[Values]
    """The registers after the run, as numbers or as logarithms."""
    combine: np.ufunc
    """What combines weights in them: `numpy.multiply`, or `numpy.add` for logarithms."""
    log_total: float
    """The logarithm of the largest product, or of the sum of all."""


@dataclass(frozen=True, eq=False, kw_only=True)
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
            return Plan(compile_all(self.potentials, cells=fault.needed, **self._options))

    def run(self, plan: Plan, evidence: Findings) -> Eliminated:
        """Return a run of the plan, or of the plan for this evidence if each case has its own.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names findings that contradict.
        TooLargeError
            If the plan for this evidence exceeds its limits.
        """
        compiled = plan.compiled if plan.by_case is None else self._for_case(evidence)
        registers = starting_registers(compiled, evidence)
        program, end = compiled.program, compiled.answers[0].register
        constants = [registers[register] for register in compiled.scalars]
        log_total = math.fsum(map(float, logarithms(constants, len(constants))))
        combine: np.ufunc = np.multiply
        has_lost = True
        if self.sums_only:
            filled, powers, has_lost = program.run(registers, scaled=True)
        if has_lost:
            combine = np.add
            add = np.logaddexp if self.sums_only else np.maximum
            filled = run_logarithms(program, logarithms(registers, len(compiled.sources)), add)
            log_total += 0.0 if end is None else float(filled[end])
        elif end is not None:
            total = float(filled[end])
            log_total += math.log(total) if total > 0 else -math.inf
            log_total += powers[end] * math.log(2.0)
        if not log_total > -math.inf:
            raise impossible(conflict(Plan(compiled), evidence))
        return Eliminated(compiled, filled, combine, log_total)

    def _for_case(self, evidence: Findings) -> CompiledQuery:
        """Return the query for given evidence, which its runs still take."""
        variables = {v.name: v for potential in self.potentials for v in potential.scope}
        known = {name: state for name, state in evidence.items() if is_state(state)}
        domains = {
            name: (v.index(known[name]),) if name in known else tuple(range(v.n_states))
            for name, v in variables.items()
        }
        return self._compiled(without_effects(self.potentials, domains))

    def _compiled(self, potentials: Sequence[Potential]) -> CompiledQuery:
        most = self.limits.table_cells
        tables = small_tables(potentials, self.names, sums_only=self.sums_only, max_cells=most)
        return compile_elimination(tables, **self._options)

    @property
    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("evidence", "soft", "order", "limits")}

    def _depends_on_case(self) -> bool:
        """Return whether a noisy extremum of several parents may be observed."""
        told_of = {*self.evidence, *self.soft}
        return any(
            isinstance(p, NoisyMaximum | NoisyMinimum)
            and p.variable.name in told_of
            and len(p.parents) > 1
            for p in self.potentials
        )


# --- The k most probable explanations, by one backward walk that keeps k partial ones -------------
#
# The registers of a max-product run hold the exact weight of the best completion of every partial
# configuration. The walk extends k partial configurations at a time by all configurations of the
# variables of a step, and keeps the k whose best completions weigh most. No other one can belong to
# the k best explanations, because each of those kept has a completion that weighs at least as much.
#
# References
# ----------
# D. Nilsson, "An efficient algorithm for finding the M most probable configurations in
# probabilistic expert systems", Statistics and Computing 8 (1998). Nilsson divides the rest of the
# configurations after each explanation; here, the exact weights of completions make one pass
# enough.

_TIE = 1e-10
"""The relative difference of logarithms below which explanations are equally probable."""


def walk_back_to_best(
    program: Program, registers: Sequence[Values], count: int
) -> tuple[States, Floats]:
    """Return the most probable states of all variables of a program that eliminates all of them.

    Parameters
    ----------
    program
        The program of a plan made by `compile_elimination`.
    registers
        The registers after a run with maxima on logarithms.
    count
        The largest number of explanations.

    Returns
    -------
    states, differences
        State positions ``(variables, found)``, and the logarithm of each explanation's probability
        minus that of the best one, descending. There are fewer explanations than ``count`` if there
        are fewer possible configurations.
    """
    scores: Floats = np.zeros(1)

    def extend(choice: Choice, states: States) -> tuple[Any, States]:
        nonlocal scores
        best: list[Any] = [np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0)]
        for part in choice.parts(len(scores)):
            weights = choice.weights(states[:, part], np.add)
            # A row is kept only if its best extension is possible.
            extended = scores[part, None] + (weights - weights.max(axis=1, keepdims=True))
            rows, chosen = np.nonzero(extended > -np.inf)
            found = (rows + part.start, chosen, extended[rows, chosen])
            merged = [np.concatenate(each) for each in zip(best, found, strict=True)]
            largest = np.argsort(-merged[-1], kind="stable")[:count]
            best = [each[largest] for each in merged]
        *kept, scores = best
        return tuple(kept)

    return walk_back(program, registers, 1, extend), scores


def in_order(positions: States, log_probabilities: Floats) -> list[int]:
    """Return the order of explanations: by probability, and equally probable ones by their states.

    Parameters
    ----------
    positions
        State positions ``(variables, explanations)``.
    log_probabilities
        Their logarithms, descending. Those that differ by less than 1e-10, relatively, from the
        one before are equal.
    """
    near = _TIE * np.maximum(1.0, np.abs(log_probabilities[1:]))
    groups = np.concatenate([[0], np.cumsum(-np.diff(log_probabilities) > near)])
    keys = [*positions[::-1], groups]
    order: list[int] = np.lexsort(keys).tolist()
    return order


# --- The most probable explanation: the most probable configuration given the evidence ------------
#
# The program of a junction tree runs with maxima instead of sums, on logarithms. A backward walk
# from the overall maximum then finds the states. Barren variables cannot be omitted, because the
# maximum of a conditional distribution is not one.
#
# References
# ----------
# J. Pearl, *Probabilistic Reasoning in Intelligent Systems*, 1988, chapter 5 (belief
# revision); A. P. Dawid, "Applications of a general propagation algorithm for
# probabilistic expert systems", Statistics and Computing 2 (1992).

MOST_EXPLAINED = 2**24
"""The most states that explanations may have in all; as dictionaries they take about 1 GiB."""


@dataclass(frozen=True)
class Explanation(Result, Value):
    """A configuration that explains the evidence, and its probability."""

    states: Mapping[str, str]
    """The state of every explained variable, {variable: state}."""
    log_probability: float
    """Natural logarithm of the joint probability of these states and the evidence; for a product
    of factors, of their product."""

    def to_dict(self) -> dict[str, Any]:
        """Return the states and their probability as a record for JSON."""
        return {"states": dict(self.states), "log_probability": self.log_probability}

    def _shown(self) -> Iterator[str | Table]:
        yield Table(("variable", "most probable state"), list(self.states.items()))
        yield f"log-probability of these states and the evidence {self.log_probability:.6g}"


@dataclass(frozen=True, eq=False, repr=False)
class ExplanationPlan(Value):
    """A compiled search for the most probable states of all variables that are not evidence.

    `compile_explanation` makes such plans. Printing a plan shows its cliques, their sizes and the
    cost.
    """

    variables: tuple[Variable, ...]
    """The explained variables: all variables without evidence, in the order of the model."""
    plan: Plan
    """The plan that eliminates all variables. It has no program if each case has its own plan; see
    `Plan.by_case`."""
    elimination: Elimination
    """The model and the evidence variables, from which plans for cases are made."""

    def __repr__(self) -> str:
        explained = counted(len(self.variables), "variable")
        return f"ExplanationPlan({explained} | {self.plan.compiled.line})"

    def __str__(self) -> str:
        return f"{self.plan}\nexplains  {', '.join(v.name for v in self.variables)}"

    def run(self, evidence: Evidence | None = None) -> Explanation:
        """Return the most probable configuration given the evidence.

        If several configurations are equally probable, the same plan and evidence always give the
        same one.

        Parameters
        ----------
        evidence
            As for `Plan.run`.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names findings that contradict each
            other.
        UnknownNameError, InvalidArgumentError
            If the evidence is not that of the plan.
        TooLargeError
            If each case has its own plan, and the plan for this evidence exceeds its limits.
        """
        found = self._maximized(evidence)
        states = walk_back(found.compiled.program, found.registers, 1, most_likely)
        return self._explanation(found, states[:, 0], found.log_total)

    @checked
    def best(self, count: Count, evidence: Evidence | None = None) -> tuple[Explanation, ...]:
        """Return the most probable configurations given the evidence, in descending order.

        Equally probable configurations (up to a relative difference of 1e-10 of the logarithms)
        stand in the order of the states of the variables. If some of them are beyond ``count``, the
        same plan and evidence always give the same ones.

        Parameters
        ----------
        count
            The number of configurations. The result has fewer if fewer are possible.
        evidence
            As for `Plan.run`.

        Raises
        ------
        InvalidArgumentError
            If ``count`` is less than 1, or the evidence is not that of the plan.
        TooLargeError
            If there are too many states to return, or as for `run`.
        ImpossibleEvidenceError, UnknownNameError
            As for `run`.
        """
        possible = check_count(count, self.variables)
        found = self._maximized(evidence)
        program, registers = found.compiled.program, found.registers
        states, differences = walk_back_to_best(program, registers, min(count, possible))
        rows = dict(zip(found.compiled.numbered, states, strict=True))
        own = [rows[v.name] for v in self.variables if v.name in rows]
        logs = found.log_total + differences
        order = in_order(np.array(own, dtype=np.intp).reshape(-1, len(logs)), logs)
        return tuple(self._explanation(found, states[:, i], float(logs[i])) for i in order)

    def _maximized(self, evidence: Evidence | None) -> Eliminated:
        findings = read_findings(evidence, self.plan.evidence, self.plan.soft)
        return self.elimination.run(self.plan, findings)

    def _explanation(
        self, found: Eliminated, positions: NDArray[np.intp], log_probability: float
    ) -> Explanation:
        at = dict(zip(found.compiled.numbered, positions.tolist(), strict=True))
        return Explanation(
            {v.name: v.states[at.get(v.name, 0)] for v in self.variables}, log_probability
        )


def check_count(count: int, variables: Sequence[Variable]) -> int:
    """Return the number of configurations; raise an error if ``count`` of them are too many."""
    possible = math.prod([v.n_states for v in variables])
    needed = min(count, possible) * max(1, len(variables))
    if needed > MOST_EXPLAINED:
        raise TooLargeError(
            f"expected explanations of at most {MOST_EXPLAINED:,} states in all, got"
            f" {many(needed)}; ask for fewer",
            needed=needed,
            budget=MOST_EXPLAINED,
        )
    return possible


@checked
def compile_explanation(
    model: Network | FactorModel,
    *,
    evidence: Iterable[str] = (),
    soft: Iterable[str] = (),
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ExplanationPlan:
    """Return a plan for the most probable explanation of any states of the evidence variables.

    Parameters
    ----------
    model
        A network, or a product of non-negative factors. Functions of many parents are split into
        chains.
    evidence, soft
        The evidence variables, and those with soft evidence, as in `compile_plan`. Variables with
        soft evidence are explained too.
    order, limits
        As in `compile_plan`.

    Raises
    ------
    TooLargeError
        If a run would exceed the limits, unless separate plans for
        cases are possible. The error names the largest clique, or a variable whose table is too
        large.
    UnknownNameError, InvalidArgumentError
        As in `compile_plan`.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain, sprinkler = Variable("rain", ("no", "yes")), Variable("sprinkler", ("off", "on"))
    >>> wet = Variable("wet", ("no", "yes"))
    >>> network = Network((
    ...     TabularCPD(rain, (), [0.8, 0.2]),
    ...     TabularCPD(sprinkler, (rain,), [[0.6, 0.9], [0.4, 0.1]]),
    ...     TabularCPD(wet, (rain, sprinkler), [[[1, 0.1], [0.2, 0]], [[0, 0.9], [0.8, 1]]]),
    ... ))
    >>> plan = compile_explanation(network, evidence=["wet"])
    >>> explanation = plan.run({"wet": "yes"})
    >>> dict(explanation.states), round(explanation.log_probability, 3)
    ({'rain': 'no', 'sprinkler': 'on'}, -1.245)
    """
    observed = tuple(evidence)
    search = Elimination(
        potentials=model.potentials,
        names=tuple(v.name for v in model.variables),
        sums_only=False,
        evidence=observed,
        soft=tuple(soft),
        order=order,
        limits=limits,
    )
    observed_names = frozenset(observed)
    variables = tuple(v for v in model.variables if v.name not in observed_names)
    return ExplanationPlan(variables=variables, plan=search.plan(), elimination=search)
