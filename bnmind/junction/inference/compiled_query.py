"""Compiled queries as plain data: tables, program, answers, and the original query.

It holds numbers, names and tables, and no functions. `bnmind.junction.inference.assembly` makes it,
and `bnmind.junction.inference.plan` is its interface for users.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from bnmind._messages import bytes_text, counted, many
from bnmind._values import Value
from bnmind.errors import TooLargeError
from bnmind.junction.causes.case_sweep import CaseSweep
from bnmind.junction.graphs.junction_tree import Clique, JunctionTree
from bnmind.junction.inference.limits import DEFAULT_PLAN_SECONDS, Limits
from bnmind.junction.inference.query import Known, Query
from bnmind.junction.program.independent_sum import IndependentSum
from bnmind.junction.program.packed import PackedStep
from bnmind.junction.program.program import Program
from bnmind.junction.program.program_inputs import Answer, Source
from bnmind.junction.program.run_time import (
    Work,
    predicted_seconds,
    seconds_text,
    work_of_steps,
)
from bnmind.junction.program.sparse import SparseProduct, SparseSum
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

__all__ = ["CompiledQuery", "Savings", "plan_line", "plan_text"]

_SURELY_QUICK = 2**26
"""The most multiplications of a run whose time is not predicted: far less than the usual limit."""

_STEPS_OF_A_RUN, _STEPS_OF_AN_ANSWER = 15, 1.5

_LARGE_POWER = 1_000
"""The power of two that the largest numbers of all tables multiply to where plain runs fail."""

_MOST_BYTES = 64
"""The most bytes of a run for each number: two complex numbers and their copies."""


@dataclass(frozen=True)
class Savings:
    """The parts of the model that a plan omits before the triangulation."""

    barren: int = 0
    """Number of barren variables, which do not influence the targets or the evidence."""
    observed: int = 0
    """Number of variables that the evidence makes certain."""
    states: int = 0
    """Number of states that the evidence makes impossible."""
    total_size_before: int | None = None
    """The total size of the plan before the restriction."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CompiledQuery(Value):
    """A query with its tables, program and answers."""

    query: Query
    """The query, from which plans for more evidence are made."""
    known: Known
    """The evidence and the inputs of the restriction."""
    trees: tuple[JunctionTree, ...]
    """One junction tree, or several if separate trees are cheaper for parts of the query."""
    evidence: tuple[Variable, ...]
    """The variables whose states each run takes."""
    inputs: Mapping[str, tuple[Variable, ...]]
    """The tables that each run takes, with their variables."""
    soft: tuple[Variable, ...]
    """The variables for which each run takes a state, a likelihood, or nothing."""
    savings: Savings
    """The omitted parts of the model."""
    sources: tuple[Source, ...]
    """The tables at the start of the program, which each run reduces to the evidence."""
    derived: tuple[FunctionalCPD, ...]
    """Variables that are functions of the evidence, parents first."""
    certain: Mapping[str, int]
    """State positions of the known evidence and of its functions."""
    program: Program
    """The contractions of a run, in order."""
    numbered: tuple[str, ...]
    """The variables of the program by name, without those of a single state."""
    answers: tuple[Answer, ...]
    """The rules for reading each target from the registers of the program."""
    halved: bool
    """Whether one of each pair of conjugate terms is omitted, so that only the real parts count."""
    table_copies: int = 1
    """The number of copies of the model's tables in a run: plain numbers, and logarithms."""
    by_case: int | None = None
    """The approximate number of cells of a common plan, if each run makes a plan for its own
    evidence instead; otherwise None."""
    summed: IndependentSum | CaseSweep | None = None
    """The sum of independent variables, or the independent causes of observed effects, that the
    query is about, if it is answered by that alone; the program is empty then."""

    def __repr__(self) -> str:
        return (
            f"CompiledQuery({counted(len(self.targets), 'target')},"
            f" {counted(self.total_size, 'cell')})"
        )

    @property
    def targets(self) -> tuple[tuple[Variable, ...], ...]:
        """The variables of each target."""
        return self.query.targets

    @property
    def limits(self) -> Limits:
        """The limits of the cost of a run."""
        return self.query.limits

    @property
    def total_size(self) -> int:
        """The sum of the clique sizes."""
        return sum([tree.total_size for tree in self.trees])

    @property
    def largest(self) -> Clique:
        """The largest clique."""
        cliques = (clique for tree in self.trees for clique in tree.cliques)
        return max(cliques, key=lambda clique: clique.size, default=Clique((), 1))

    @property
    def multiplications(self) -> int:
        """Multiplications of one run."""
        return (self.summed or self.program).multiplications

    @cached_property
    def memory(self) -> int:
        """The predicted bytes of the tables of the model and of the registers of a run."""
        complex_numbers = any(
            source.values is not None and np.iscomplexobj(source.values) for source in self.sources
        )
        tables = self.table_copies * sum(s.n_cells for s in self.sources)
        # An answer takes its register, two copies and the joint at the same time.
        reading = 4 * sum([math.prod(answer.shape) for answer in self.answers])
        running = self.program.peak_cells if self.summed is None else self.summed.peak_cells
        registers = max(running, reading)
        return (16 if complex_numbers else 8) * (tables + registers) + self.program.listed_bytes

    @cached_property
    def seconds(self) -> float:
        """The predicted time of a run on this machine, in seconds."""
        if self.summed is not None:
            return predicted_seconds(Work(1, 0, self.multiplications, self.multiplications, 0))
        steps = [sum(kind) for kind in zip(*work_of_steps(self.program), strict=True)]
        # Reading the findings and the answers takes as long as so many steps.
        others = _STEPS_OF_A_RUN + _STEPS_OF_AN_ANSWER * len(self.answers)
        work = Work(*(steps or [0] * 5))._replace(steps=len(self.program.steps) + others)
        # If numbers become too large, they are scaled in a second run.
        largest = [source.values for source in self.sources if source.values is not None]
        powers = [math.frexp(float(np.abs(values).max(initial=0.0)))[1] for values in largest]
        return predicted_seconds(work) * (2 if sum(powers) > _LARGE_POWER else 1)

    @cached_property
    def percents(self) -> tuple[int, ...]:
        """The predicted share of the time of a run after each step."""
        seconds = list(accumulate(map(predicted_seconds, work_of_steps(self.program))))
        return tuple([int(100 * done / seconds[-1]) for done in seconds])

    @cached_property
    def refusal(self) -> TooLargeError | None:
        """The error that runs raise if they would exceed the limits; otherwise None."""
        limits, times = self.limits, self.multiplications
        # Every number of a run is an entry of a table or was computed.
        most = _MOST_BYTES * (times + sum([source.n_cells for source in self.sources]))
        is_quick = times <= _SURELY_QUICK and limits.max_seconds >= DEFAULT_PLAN_SECONDS
        if is_quick and times <= limits.max_multiplications and most <= limits.max_bytes:
            return None
        return limits.refusal(times, self.memory, self.largest, seconds=self.seconds)

    @cached_property
    def is_signed(self) -> bool:
        """Whether there are negative or complex numbers, so that terms may cancel."""
        return any(source.signed for source in self.sources)

    @cached_property
    def scalars(self) -> tuple[int, ...]:
        """The registers of tables that the evidence reduces to a single number."""
        return tuple(n for n, source in enumerate(self.sources) if not source.scope)

    @cached_property
    def unchanging(self) -> tuple[Values | None, ...]:
        """The tables that are the same in every run; None for the others."""
        return tuple(
            None if source.observed or source.input is not None else source.values
            for source in self.sources
        )


def _listed(names: list[str], comma: str = ", ") -> str:
    """Return the first few names, and the number of all names."""
    shown = comma.join(names[:6])
    return f"{shown}, … {len(names)} in all" if len(names) > 6 else shown


def _separators(trees: Sequence[JunctionTree]) -> str:
    """Return all non-empty separators."""
    separators = {edge.separator for tree in trees for edge in tree.edges if edge.separator}
    return ", ".join("{" + " ".join(separator) + "}" for separator in sorted(separators))


def plan_line(plan: CompiledQuery) -> str:
    """Return a plan in one line."""
    evidence = _listed([v.name for v in plan.evidence])
    targets = _listed([", ".join(v.name for v in scope) for scope in plan.targets], "; ")
    soft = [f"{v.name}?" for v in plan.soft]
    condition = "; ".join([evidence or "nothing", *soft, *plan.inputs])
    size = f"{plan.total_size:,} cells" if plan.by_case is None else "planned for each case"
    if plan.summed is not None:
        size = plan.summed.line
    return f"Plan({targets} | {condition}; {size})"


def _sparse_lines(plan: CompiledQuery) -> list[str]:
    """Return how many steps visit only cells that may be other than zero, and their costs."""
    steps = [step.operation for step in plan.program.steps]
    listed: list[Any] = [s for s in steps if isinstance(s, SparseProduct | SparseSum | PackedStep)]
    if not listed:
        return []
    cost, whole = sum([s.cost for s in listed]), sum([s.whole_cost for s in listed])
    lines = [
        f"zeros skipped in {len(listed)} of {len(steps):,} steps, which take {cost:,}"
        f" multiplications instead of {many(whole)}"
    ]
    held = plan.program.held[plan.program.n_inputs :]
    cells = [plan.program.cells(i) for i in range(plan.program.n_inputs, len(plan.program.scopes))]
    if sum(held) < sum(cells):
        lines.append(
            f"zeros are not stored: {sum(held):,} numbers in all registers instead of"
            f" {many(sum(cells))}"
        )
    return lines


def plan_text(plan: CompiledQuery) -> str:
    """Return a full description of a plan: its cliques, omitted parts, and cost."""
    saved = plan.savings
    lines = [str(tree) for tree in plan.trees]
    if len(plan.trees) > 1:
        lines.append(f"total size of {len(plan.trees)} trees  {plan.total_size:,}")
    if plan.by_case is not None:
        lines.append(
            "planned for each case, since the size depends on what is observed: for any evidence"
            f" it would have about {many(plan.by_case)} cells"
        )
    elif plan.summed is not None:
        lines.append(f"no tree: {plan.summed.line}")
    else:
        lines.append("separators  " + (_separators(plan.trees) or "none"))
    if saved.total_size_before is not None:
        lines.append(
            f"total size before restriction  {saved.total_size_before:,},"
            f" after  {plan.total_size:,}"
        )
    lines.append(
        f"left out  {saved.barren} barren and {saved.observed} certain variables,"
        f" {saved.states} impossible states"
    )
    if plan.by_case is None:
        lines += _sparse_lines(plan)
        lines += [
            f"multiplications in a run  {plan.multiplications:,}"
            f" of at most {plan.limits.max_multiplications:,}",
            f"time of a run  {seconds_text(plan.seconds)} of at most {plan.limits.max_seconds:g} s",
            f"memory in a run  {bytes_text(plan.memory)}"
            f" of at most {bytes_text(plan.limits.max_bytes)}",
        ]
    lines.append("evidence  " + (", ".join(v.name for v in plan.evidence) or "none"))
    if plan.soft:
        lines.append("soft      " + ", ".join(v.name for v in plan.soft))
    lines += [
        f"input     {name}({', '.join(v.name for v in scope)})"
        for name, scope in plan.inputs.items()
    ]
    lines += [f"target    {', '.join(v.name for v in scope)}" for scope in plan.targets if scope]
    return "\n".join(lines)
