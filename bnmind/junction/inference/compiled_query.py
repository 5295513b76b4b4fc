"""A compiled query as plain data: tables, program, answers, and the query that it was made from.

It holds numbers, names and tables, and nothing to be called: `bnmind.junction.inference.assembly`
makes it, and `bnmind.junction.inference.plan` is its interface for users.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bnmind._values import Value
from bnmind.errors import TooLargeError
from bnmind.junction.graphs.junction_tree import Clique, JunctionTree
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.query import Known, Query
from bnmind.junction.program.program import Program
from bnmind.junction.program.program_inputs import Answer, Source
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

__all__ = ["CompiledQuery", "Savings"]

_MOST_BYTES = 64
"""Bytes that a run holds at most for each number: two complex ones and their copies."""


@dataclass(frozen=True)
class Savings:
    """The parts of the model that a plan left out before it triangulated."""

    barren: int = 0
    """Variables that say nothing about the targets and the evidence."""
    observed: int = 0
    """Variables that the evidence makes certain."""
    states: int = 0
    """States that the evidence makes impossible."""
    cells_before: int | None = None
    """Cells of the plan that this one was restricted from."""


@dataclass(frozen=True, eq=False, repr=False)
class CompiledQuery(Value):
    """The tables, the program and the answers of a query, and the query itself."""

    query: Query
    """The query, kept to plan again for more evidence."""
    known: Known
    """The evidence and the inputs that the query was restricted to."""
    trees: tuple[JunctionTree, ...]
    """One junction tree, or several where parts of the query are cheaper by themselves."""
    evidence: tuple[Variable, ...]
    """The variables whose states each run is given."""
    inputs: Mapping[str, tuple[Variable, ...]]
    """The tables that each run is given, and the variables they are over."""
    soft: tuple[Variable, ...]
    """The variables on which each run may be given a state, a likelihood, or nothing."""
    savings: Savings
    """The parts of the model that were left out."""
    sources: tuple[Source, ...]
    """The tables that the program starts from, to be cut at the evidence."""
    derived: tuple[FunctionalCPD, ...]
    """Variables that are functions of the evidence, parents first."""
    certain: Mapping[str, int]
    """State positions of the evidence that is known, and of its functions."""
    program: Program
    """The contractions of a run, in order."""
    numbered: tuple[str, ...]
    """The program's variables by name; those of a single state are not in it."""
    answers: tuple[Answer, ...]
    """How each target is read off the program's registers."""
    halved: bool
    """Whether one of each pair of conjugate terms is left out: only the real parts count."""
    table_copies: int = 1
    """How often a run holds the model's tables: as they are, and as logarithms."""
    by_case: int | None = None
    """The cells that one plan for any evidence would have, roughly, if there is none because the
    evidence decides how much that is: each run is then planned for its own evidence."""

    def __repr__(self) -> str:
        return f"CompiledQuery({len(self.targets)} targets, {self.total_size:,} cells)"

    @property
    def targets(self) -> tuple[tuple[Variable, ...], ...]:
        """The variables of each joint that a run answers."""
        return self.query.targets

    @property
    def limits(self) -> Limits:
        """The most that a run may cost."""
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
        return self.program.multiplications

    @cached_property
    def memory(self) -> int:
        """Bytes of the model's tables and of the registers of a run, predicted."""
        complex_numbers = any(
            source.values is not None and np.iscomplexobj(source.values) for source in self.sources
        )
        tables = self.table_copies * sum(s.n_cells for s in self.sources)
        # An answer is its register, two copies in a row, and the joint, all at the same time.
        reading = 4 * sum([math.prod(answer.shape) for answer in self.answers])
        held = max(self.program.peak_cells, reading)
        return (16 if complex_numbers else 8) * (tables + held)

    @cached_property
    def refusal(self) -> TooLargeError | None:
        """The error that runs raise if they would cost more than the limits allow."""
        limits, times = self.limits, self.multiplications
        # Every number that a run holds is a table's or has been computed.
        most = _MOST_BYTES * (times + sum([source.n_cells for source in self.sources]))
        if times <= limits.max_multiplications and most <= limits.max_bytes:
            return None
        return limits.refusal(times, self.memory, self.largest)

    @cached_property
    def is_signed(self) -> bool:
        """Whether it holds negative or complex numbers, so that terms may cancel."""
        return any(source.signed for source in self.sources)

    @cached_property
    def scalars(self) -> tuple[int, ...]:
        """The registers of tables of which the evidence leaves a single number."""
        return tuple(n for n, source in enumerate(self.sources) if not source.scope)

    @cached_property
    def unchanging(self) -> tuple[Values | None, ...]:
        """The tables that are the same in every run; None for the others."""
        return tuple(
            None if source.observed or source.input is not None else source.values
            for source in self.sources
        )
