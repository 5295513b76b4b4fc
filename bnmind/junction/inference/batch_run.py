"""Thousands of cases in one run: a plan's program with an axis of cases.

The cases are the last axis of every register that depends on them, so that each
operation goes over contiguous numbers; what depends on no case is worked out once. A
product that sums is a matrix product where one of its operands is the same for all
cases, and a running sum of element-wise products where both differ. They are taken in
chunks that fit into caches, see `bnmind.junction.inference.batch_chunk`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import ReadOnlyDict, Value, sealed
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidModelError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction.inference.batch_chunk import Chunks
from bnmind.junction.inference.batch_memory import batch_size
from bnmind.junction.inference.cases import case_findings, case_likelihoods
from bnmind.junction.inference.evidence import label_of
from bnmind.junction.inference.normalization import (
    DOUBTFUL,
    LOST,
    lost_digits,
)
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

    from bnmind.junction.inference.plan import Plan
    from bnmind.junction.inference.posterior import Posterior

__all__ = ["BatchPosterior", "run_batch", "run_each"]


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
        return f"BatchPosterior({len(self)} cases, {len(self.joints)} targets)"

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


def run_batch(
    plan: Plan,
    cases: Mapping[str, NDArray[Any]],
    inputs: Mapping[str, Values],
    *,
    max_bytes: int | None,
) -> BatchPosterior:
    """Return the posteriors of all cases; those of impossible cases are NaN.

    Parameters
    ----------
    plan
        What to answer.
    cases
        Positions or likelihoods, by `read_cases`.
    inputs
        The plan's inputs, checked; the same for all cases.
    max_bytes
        As for `Plan.run_batch`.
    """
    n = _number_of(plan, cases)
    positions = {v.name: cases[v.name] for v in plan.evidence}
    soft = {v: case_likelihoods(v, cases[v.name]) for v in plan.soft if v.name in cases}
    varying = frozenset(label_of(v.name) for v in soft)
    size = batch_size(plan, varying)
    _refuse_large(size.total(n), n, max_bytes)
    # As equal as can be: a program is bound anew for another number of cases.
    chunk = max(1, math.ceil(n / max(1, math.ceil(n / size.chunk))))
    whole = {**inputs, **{label_of(v.name): np.ones(v.n_states) for v in plan.soft}}
    for v in soft:
        del whole[label_of(v.name)]
    state = Chunks(plan, whole, varying)
    joints = tuple(
        np.zeros((n, *(v.n_states for v in scope)), dtype=np.float64) for scope in plan.targets
    )
    log_evidence = np.zeros(n)
    doubt = np.ones(n)
    for start in range(0, n, chunk):
        part = slice(start, min(start + chunk, n))
        at = {name: found[part] for name, found in positions.items()}
        weights = {label_of(v.name): found[:, part] for v, found in soft.items()}
        state.answer(
            at, weights, [joint[part] for joint in joints], log_evidence[part], doubt[part]
        )
    _without_doubt(plan, cases, inputs, (*joints, log_evidence), doubt)
    impossible = np.isneginf(log_evidence)
    for joint in joints:
        joint[impossible] = np.nan
        joint.setflags(write=False)
    log_evidence.setflags(write=False)
    return BatchPosterior(plan.targets, joints, log_evidence)


def _number_of(plan: Plan, cases: Mapping[str, NDArray[Any]]) -> int:
    """Return how many cases there are, if all say enough."""
    lengths = {len(found) for found in cases.values()}
    positions = {v.name: cases[v.name] for v in plan.evidence}
    problems = [
        f"expected a state of {name} in every case, got none in case {int(found.argmin())};"
        " a variable that may be missing is a soft one"
        for name, found in positions.items()
        if found.size and found.min() < 0
    ]
    if len(lengths) != 1:
        shown = ", ".join(map(str, sorted(lengths))) or "no evidence"
        problems.append(f"expected as many cases of every variable, got {shown}")
    if problems:
        raise InvalidModelError(problems)
    return lengths.pop()


def _refuse_large(needed: int, n: int, max_bytes: int | None) -> None:
    if max_bytes is not None and needed > max_bytes:
        raise TooLargeError(
            f"expected a batch of at most {max_bytes:,} bytes, got {needed:,} for {n:,} cases",
            needed=needed,
            budget=max_bytes,
        )


def run_each(
    plan: Plan,
    cases: Mapping[str, NDArray[Any]],
    inputs: Mapping[str, Values],
    *,
    max_bytes: int | None,
) -> BatchPosterior:
    """Return the same, each case planned by itself; equal cases are answered once."""
    n = _number_of(plan, cases)
    _refuse_large(plan.batch_memory(n), n, max_bytes)
    joints = tuple(np.full((n, *(v.n_states for v in scope)), np.nan) for scope in plan.targets)
    log_evidence = np.full(n, -np.inf)
    known: dict[bytes, int] = {}
    for case in range(n):
        key = b"".join(found[case].tobytes() for found in cases.values())
        first = known.setdefault(key, case)
        if first < case:
            log_evidence[case] = log_evidence[first]
            for joint in joints:
                joint[case] = joint[first]
            continue
        findings = case_findings([*plan.evidence, *plan.soft], cases, case)
        try:
            alone = plan.for_case(findings, inputs).run()
        except ImpossibleEvidenceError:
            continue
        log_evidence[case] = alone.log_evidence
        for joint, found in zip(joints, alone.joints, strict=True):
            joint[case] = found
    for values in (*joints, log_evidence):
        values.setflags(write=False)
    return BatchPosterior(plan.targets, joints, log_evidence)


def _without_doubt(
    plan: Plan,
    cases: Mapping[str, NDArray[Any]],
    inputs: Mapping[str, Values],
    answers: Sequence[Floats],
    doubt: Floats,
) -> None:
    """Answer cases again that have lost too many digits, by a plan without signs."""
    if not (doubt > DOUBTFUL).any():
        return
    *joints, log_evidence = answers
    other = plan.unsigned
    if other is None:
        for case in np.flatnonzero(doubt > LOST).tolist():
            try:
                alone = _by_itself(plan, cases, inputs, case)
            except ImpossibleEvidenceError:
                log_evidence[case] = -np.inf
                continue
            log_evidence[case] = alone.log_evidence
            for joint, better in zip(joints, alone.joints, strict=True):
                joint[case] = better
        return
    again = np.flatnonzero(doubt > DOUBTFUL)
    some = {name: found[again] for name, found in cases.items()}
    found = run_batch(other, some, inputs, max_bytes=None)
    for joint, better in zip(joints, found.joints, strict=True):
        joint[again] = better
    log_evidence[again] = found.log_evidence


def _by_itself(
    plan: Plan, cases: Mapping[str, Any], inputs: Mapping[str, Values], case: int
) -> Posterior:
    """Return what a plan without signs says of one case."""
    findings = case_findings([*plan.evidence, *plan.soft], cases, case)
    try:
        other, rest, left = plan.without_cancelling(findings, inputs)
    except CancellationError:
        raise lost_digits(case) from None
    return other.run(rest, left)
