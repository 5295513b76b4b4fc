"""The bytes that plans take between runs: their tables, programs and names.

The tables are counted exactly, and as if no plan shared them with the model. The rest consists of
small Python objects, a few for each step of the program; they are counted by the upper bounds
below, since a walk through all of them would take about as long as a run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.plan import Plan
from bnmind.junction.program.sparse import lists_of

__all__ = ["plan_bytes"]

_PLAN = 16_384
"""Bytes of a plan without steps."""

_STEP = 1_280
"""Bytes of a step of a program: an operation, register numbers and scopes."""

_TARGET = 1_536
"""Bytes of a target or a table: its scopes and the rule for reading it."""


def plan_bytes(plan: Any) -> int:
    """Return the bytes that a plan of any kind takes, from above.

    Parameters
    ----------
    plan
        A `Plan`, `SlicedPlan`, `ExplanationPlan`, `MarginalMapPlan` or `SamplingPlan`; None if it
        does not fit, which is remembered too.
    """
    if plan is None:
        return _PLAN
    if isinstance(plan, Plan):
        return _query_bytes(plan.compiled)
    return plan_bytes(plan.plan)  # all other kinds hold one


def _query_bytes(compiled: CompiledQuery) -> int:
    arrays: list[Any] = []
    for source in compiled.sources:
        arrays += [value for value in vars(source).values() if isinstance(value, np.ndarray)]
    cliques = sum([len(tree.cliques) for tree in compiled.trees])
    parts = len(compiled.targets) + len(compiled.sources) + len(compiled.evidence) + cliques
    steps = len(compiled.program.steps)
    arrays += [a for step in compiled.program.steps for a in lists_of(step.operation)]
    bytes_of_lists = compiled.program.listed_bytes
    if compiled.summed is not None:
        steps += compiled.summed.steps
    causes = compiled.query.causes
    if causes is not None:
        arrays += [causes.arcs, causes.chances]
    in_arrays = bytes_of_lists + sum([int(a.nbytes) for a in arrays])
    return _PLAN + in_arrays + _STEP * steps + _TARGET * parts
