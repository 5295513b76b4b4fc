"""Runs of many cases at once: the program of a plan with an axis of cases.

The cases are the last axis of every register that depends on them, so operations read contiguous
numbers. Registers that depend on no case are computed once. A product with sums is a matrix product
if one of its operands is the same for all cases, and otherwise a running sum of element-wise
products. The cases run in chunks that fit into caches, see `bnmind.junction.inference.batch_chunk`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, listed
from bnmind._values import ReadOnlyDict, Value, sealed
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction.inference.batch_chunk import Chunks
from bnmind.junction.inference.batch_memory import batch_size
from bnmind.junction.inference.cases import case_findings, case_likelihoods
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import Findings, label_of
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

__all__ = ["BatchPosterior", "BatchRun", "run_batch", "run_each"]


@dataclass(frozen=True, eq=False)
class BatchPosterior(Value):
    """Distributions of a plan's targets, for each of many cases."""

    scopes: tuple[tuple[Variable, ...], ...]
    """The variables of each target, in the order of the plan's targets."""
    joints: tuple[Floats, ...]
    """The normalized joint of each target, ``(cases, *states)``; NaN for impossible cases."""
    log_evidence: Floats
    """Natural logarithm of the probability of each case's evidence, ``(cases,)``; −inf if it
    is impossible."""

    def __len__(self) -> int:
        return len(self.log_evidence)

    def __repr__(self) -> str:
        return (
            f"BatchPosterior({counted(len(self), 'case')}, {counted(len(self.joints), 'target')})"
        )

    @property
    def impossible(self) -> NDArray[np.intp]:
        """The numbers of the cases of probability zero, ascending."""
        return sealed(np.flatnonzero(np.isneginf(self.log_evidence)))

    @cached_property
    def marginals(self) -> Mapping[str, Floats]:
        """The distributions of every variable that is a target by itself, ``(cases, states)``."""
        pairs = zip(self.scopes, self.joints, strict=True)
        return ReadOnlyDict({scope[0].name: joint for scope, joint in pairs if len(scope) == 1})

    @checked
    def to_frame(self, name: str) -> pandas.DataFrame:
        """Return the distributions of a variable as a `pandas.DataFrame`: cases × states.

        Parameters
        ----------
        name
            The name of the variable.

        Raises
        ------
        UnknownNameError
            If the variable is not a target by itself.
        """
        import pandas

        if name not in self.marginals:
            raise UnknownNameError("variable that is a target by itself", name, self.marginals)
        variable = next(scope[0] for scope in self.scopes if [v.name for v in scope] == [name])
        columns = pandas.Index(variable.states, name=name)
        return pandas.DataFrame(self.marginals[name].copy(), columns=columns)


class BatchRun(NamedTuple):
    """The results of a batch during the computation, as writable arrays."""

    joints: tuple[Floats, ...]
    """The normalized joint of each target, ``(cases, *states)``."""
    log_evidence: Floats
    """Natural logarithms, ``(cases,)``; −inf for impossible cases."""
    doubt: Floats
    """The ratio of the size of the terms to their sums, ``(cases,)``."""

    def put(self, which: Any, answer: Posterior | BatchRun | None) -> None:
        """Replace the answer to a case, or to several; None stands for impossible cases."""
        if answer is None:
            self.log_evidence[which] = -np.inf
            return
        self.log_evidence[which] = answer.log_evidence
        for joint, better in zip(self.joints, answer.joints, strict=True):
            joint[which] = better

    def posterior(self, scopes: tuple[tuple[Variable, ...], ...]) -> BatchPosterior:
        """Return the answers, which become read-only; those to impossible cases are NaN."""
        impossible = np.isneginf(self.log_evidence)
        for joint in self.joints:
            joint[impossible] = np.nan
            joint.setflags(write=False)
        self.log_evidence.setflags(write=False)
        return BatchPosterior(scopes, self.joints, self.log_evidence)


def run_batch(
    plan: CompiledQuery,
    cases: Mapping[str, NDArray[Any]],
    inputs: Mapping[str, Values],
    *,
    max_bytes: int | None,
) -> BatchRun:
    """Return the results of all cases, with their doubt.

    Parameters
    ----------
    plan
        The compiled query.
    cases
        Positions or likelihoods, by `read_cases`.
    inputs
        The plan's inputs, checked; the same for all cases.
    max_bytes
        As for `Plan.run_batch`.

    Raises
    ------
    InvalidArgumentError
        If a case lacks a state, or the columns are of different lengths.
    TooLargeError
        If the batch would take more than ``max_bytes``.
    """
    n = _number_of(plan, cases)
    positions = {v.name: cases[v.name] for v in plan.evidence}
    soft = {v: case_likelihoods(v, cases[v.name]) for v in plan.soft if v.name in cases}
    varying = frozenset(label_of(v.name) for v in soft)
    size = batch_size(plan, varying)
    _refuse_large(size.total(n), n, max_bytes)
    # Chunks are as equal as possible, because each number of cases needs a new bound program.
    chunk = max(1, math.ceil(n / max(1, math.ceil(n / size.chunk))))
    whole = {**inputs, **{label_of(v.name): np.ones(v.n_states) for v in plan.soft}}
    for v in soft:
        del whole[label_of(v.name)]
    state = Chunks(plan, whole, varying)
    joints = tuple(
        np.zeros((n, *(v.n_states for v in scope)), dtype=np.float64) for scope in plan.targets
    )
    batch = BatchRun(joints, np.zeros(n), np.ones(n))
    for start in range(0, n, chunk):
        part = slice(start, min(start + chunk, n))
        at = {name: column[part] for name, column in positions.items()}
        weights = {label_of(v.name): column[:, part] for v, column in soft.items()}
        state.answer(
            at,
            weights,
            [joint[part] for joint in joints],
            batch.log_evidence[part],
            batch.doubt[part],
        )
    return batch


def _number_of(plan: CompiledQuery, cases: Mapping[str, NDArray[Any]]) -> int:
    """Return the number of cases; raise an error if evidence is missing in a case."""
    lengths = {len(column) for column in cases.values()}
    positions = {v.name: cases[v.name] for v in plan.evidence}
    problems = [
        f"{name} has no state in case {int(column.argmin())}; evidence that may be missing must be"
        " soft"
        for name, column in positions.items()
        if column.size and column.min() < 0
    ]
    if len(lengths) != 1:
        shown = ", ".join(map(str, sorted(lengths))) or "no evidence"
        problems.append(f"the columns must have the same number of cases, got {shown}")
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    return lengths.pop()


def _refuse_large(needed: int, n: int, max_bytes: int | None) -> None:
    if max_bytes is not None and needed > max_bytes:
        raise TooLargeError(
            f"expected a batch of at most {max_bytes:,} bytes, got {needed:,} for {n:,} cases",
            needed=needed,
            budget=max_bytes,
        )


def run_each(
    plan: CompiledQuery,
    cases: Mapping[str, NDArray[Any]],
    answer: Callable[[Findings], Posterior],
    *,
    max_bytes: int | None,
) -> BatchRun:
    """Return the results of all cases, with a separate run for each; equal cases run once.

    Parameters
    ----------
    plan, cases, max_bytes
        As for `run_batch`.
    answer
        Answers the findings of one case; it raises `ImpossibleEvidenceError` if they are
        impossible.
    """
    n = _number_of(plan, cases)
    varying = frozenset(label_of(v.name) for v in plan.soft)
    _refuse_large(batch_size(plan, varying).total(n), n, max_bytes)
    joints = tuple(np.full((n, *(v.n_states for v in scope)), np.nan) for scope in plan.targets)
    batch = BatchRun(joints, np.full(n, -np.inf), np.ones(n))
    known: dict[bytes, int] = {}
    for case in range(n):
        key = b"".join(column[case].tobytes() for column in cases.values())
        first = known.setdefault(key, case)
        if first < case:
            batch.log_evidence[case] = batch.log_evidence[first]
            for joint in joints:
                joint[case] = joint[first]
            continue
        try:
            batch.put(case, answer(case_findings([*plan.evidence, *plan.soft], cases, case)))
        except ImpossibleEvidenceError:
            continue
    return batch
