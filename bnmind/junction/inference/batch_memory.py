"""Prediction of the memory of a batch of cases.

The prediction follows `bnmind.junction.program.batch_program`. A register that depends on the case
holds its cells for every case of a chunk, and releases its memory after its last use.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.program.program import Expand, LookUp, Product, Scatter

__all__ = ["BatchSize", "batch_size", "moving_registers"]

_CHUNK_BYTES = 2**28
"""The most bytes of the cases of a chunk, unless the chunk is a single case."""

_CHUNK_CELLS = 2**18
"""The approximate limit for the numbers of the largest register, which fits into the cache."""

_FEWEST, _MOST = 32, 1024
"""The most cases of a chunk; more do not fit into caches."""

_STEP_BYTES = 1536
"""The bytes of a step besides its numbers."""


class BatchSize(NamedTuple):
    """The number of cases in a chunk, and the memory of a batch."""

    chunk: int
    """The number of cases of a chunk."""
    fixed: int
    """Bytes that do not depend on the number of cases."""
    of_case: int
    """Bytes of each case of a chunk."""
    of_answer: int
    """Bytes of the results of a case, and of the case itself."""

    def total(self, n_cases: int) -> int:
        """Return the bytes of a batch of ``n_cases`` cases."""
        chunk = min(self.chunk, n_cases)
        return self.fixed + self.of_case * chunk + self.of_answer * n_cases


def moving_registers(plan: CompiledQuery, varying: frozenset[str]) -> list[bool]:
    """Return whether each register depends on the case, given the inputs that do."""
    moving = [bool(s.observed) or s.input in varying for s in plan.sources]
    moving += [bool(s.observed) for s in plan.sources if s.positions is not None]
    for _, left, right in plan.program.steps:
        moving.append(moving[left] or moving[right])
    return moving


def batch_size(plan: CompiledQuery, varying: frozenset[str]) -> BatchSize:
    """Return the memory of a batch in which the inputs ``varying`` depend on the case."""
    program = plan.program
    cells = list(program.held)
    for register, source in enumerate(plan.sources):
        if source.rows is not None:
            cells[register] = math.prod(program.sizes[v] for v in source.scope if v != source.child)
    moving = moving_registers(plan, varying)
    # Tables reduced to the evidence also have a copy with the cases last.
    fixed = sum(s.n_cells * (2 if s.observed else 1) for s in plan.sources)
    fixed += sum(s.positions.size for s in plan.sources if s.positions is not None)
    fixed += sum(cells[r] for r in range(program.n_inputs, len(cells)) if not moving[r])
    fixed += _turned_cells(plan, cells, moving)
    answers = [math.prod(answer.shape) for answer in plan.answers]
    # An answer is read, multiplied, and compared with its value without signs.
    of_case = _cells_of_case(plan, cells, moving) + 4 * sum(answers)
    signed = any(source.signed for source in plan.sources)
    kinds = [s.values.dtype for s in plan.sources if s.values is not None]
    number = 16 if any(kind.kind == "c" for kind in kinds) else 8
    of_case *= number * (1 + signed)
    largest = max(cells, default=1)
    chunk = min(max(_CHUNK_CELLS // largest, _FEWEST), _MOST)
    chunk = max(1, min(chunk, _CHUNK_BYTES // max(of_case, 1)))
    n_results = sum(math.prod(v.n_states for v in scope) for scope in plan.targets) + 1
    n_findings = len(plan.evidence) + sum(v.n_states for v in plan.soft)
    fixed = number * fixed + _STEP_BYTES * len(program.steps)
    return BatchSize(chunk, fixed, of_case, 8 * (n_results + n_findings))


def _turned_cells(plan: CompiledQuery, cells: Sequence[int], moving: Sequence[bool]) -> int:
    """Return the cells of registers without cases that are copied into the order of a product."""
    turned = passing = 0
    for register, (operation, left, right) in enumerate(plan.program.steps, plan.program.n_inputs):
        if not isinstance(operation, Product):
            continue
        copied = 0
        if operation.left_axes is not None and not moving[left]:
            copied += cells[left]
        if operation.right_axes is not None and not moving[right]:
            copied += cells[right]
        if not moving[register]:
            passing = max(passing, copied)
            continue
        turned += copied
        if operation.sums and moving[left] and not moving[right]:
            turned += cells[right]
    return turned + passing


def _cells_of_case(plan: CompiledQuery, cells: Sequence[int], moving: Sequence[bool]) -> int:
    """Return the cells that the registers of a case take, including copies."""
    program = plan.program
    total = sum(cells[r] for r in range(program.n_inputs) if moving[r])
    looked_up = [s for s in plan.sources if s.positions is not None and s.observed]
    total += sum(math.prod(plan.program.sizes[v] for v in s.scope) for s in looked_up)
    free: Counter[int] = Counter()
    passing = 0

    def take(n: int) -> int:
        nonlocal total
        if free[n]:
            free[n] -= 1
        else:
            total += n
        return n

    steps = enumerate(zip(program.steps, program.spent, strict=True), program.n_inputs)
    for register, ((operation, left, right), spent) in steps:
        if not moving[register]:
            continue
        n = take(cells[register])
        lent = []
        if isinstance(operation, LookUp | Expand):
            passing = max(passing, 2 * n)
        elif isinstance(operation, Scatter):
            passing = max(passing, n + 5 * operation.cost)
        elif isinstance(operation, Product):
            if moving[left] and operation.left_axes is not None:
                lent.append(take(cells[left]))
            if moving[right] and operation.right_axes is not None:
                lent.append(take(cells[right]))
            if operation.sums and moving[left] and moving[right]:
                lent.append(take(n))
        free.update(lent)
        free.update(cells[r] for r in spent if moving[r] and r >= program.n_inputs)
    return total + passing
