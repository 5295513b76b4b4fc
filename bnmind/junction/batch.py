"""Thousands of cases in one run: a plan's program with an axis of cases.

The cases are the last axis of every register that depends on them, so that each
operation goes over contiguous numbers; what depends on no case is worked out once. A
product that sums is a matrix product where one of its operands is the same for all
cases, and a running sum of element-wise products where both differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._values import ReadOnlyDict, Value, sealed
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidModelError,
    TooLargeError,
)
from bnmind.information import Floats
from bnmind.junction.batch_memory import batch_size, moving_registers
from bnmind.junction.case_program import CaseProgram
from bnmind.junction.cases import case_findings, case_likelihoods
from bnmind.junction.findings import label_of
from bnmind.junction.plan_answers import (
    DOUBTFUL,
    HUGE,
    LOST,
    TINY,
    cleared,
    doubt_of,
    lost_digits,
    refuse_others,
)
from bnmind.junction.plan_sums import sums_by_logarithms, underflow_of
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    from bnmind.junction.plan import Plan
    from bnmind.junction.posterior import Posterior
    from bnmind.junction.sources import Source

__all__ = ["BatchPosterior", "run_batch"]


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
    positions = {v.name: cases[v.name] for v in plan.evidence}
    soft = {v: case_likelihoods(v, cases[v.name]) for v in plan.soft if v.name in cases}
    lengths = {len(p) for p in positions.values()} | {w.shape[1] for w in soft.values()}
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
    n = lengths.pop()
    varying = frozenset(label_of(v.name) for v in soft)
    size = batch_size(plan, varying)
    needed = size.total(n)
    if max_bytes is not None and needed > max_bytes:
        raise TooLargeError(
            f"expected a batch of at most {max_bytes:,} bytes, got {needed:,} for {n:,} cases",
            needed=needed,
            budget=max_bytes,
        )
    # As equal as can be: a program is bound anew for another number of cases.
    chunk = max(1, math.ceil(n / max(1, math.ceil(n / size.chunk))))
    whole = {**inputs, **{label_of(v.name): np.ones(v.n_states) for v in plan.soft}}
    for v in soft:
        del whole[label_of(v.name)]
    state = _Batch(plan, whole, varying)
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


class _Sums(NamedTuple):
    """What a run for a chunk of cases found."""

    joints: list[tuple[Any, Floats]]
    """For each answer, ``(cells, cases)`` sums and what makes them one, ``(cases,)``."""
    totals: Floats
    """Of the first answer, as multiples of powers of two."""
    powers: Any
    doubt: Any = 1.0
    """How many times as large as the sums the terms were, ``(cases,)``."""


class _Batch:
    """What all chunks of one batch share."""

    def __init__(self, plan: Plan, inputs: Mapping[str, Values], varying: frozenset[str]) -> None:
        self.plan = plan
        self.inputs = inputs
        sources = plan.sources
        moving = moving_registers(plan, varying)
        looked_up = [s for s in sources if s.positions is not None]
        self.moving = moving
        self.tables = [_cases_last(s.values, len(s.observed)) for s in sources]
        self.indices = [_cases_last(s.positions, len(s.observed)) for s in looked_up]
        self.looked_up = looked_up
        fixed: list[Any] = [
            None if moves else plan.load(source, {}, inputs)
            for source, moves in zip(sources, moving, strict=False)
        ]
        fixed += [None if s.observed else s.positions for s in looked_up]
        self.fixed = fixed
        self.signed = [i for i, s in enumerate(sources) if s.signed]
        self.bound: dict[int, tuple[CaseProgram, CaseProgram | None]] = {}

    def answer(
        self,
        at: Mapping[str, NDArray[np.intp]],
        weights: Mapping[str, Floats],
        joints: Sequence[Floats],
        log_evidence: Floats,
        doubt: Floats,
    ) -> None:
        """Fill the joints, log-probabilities and doubts of a chunk of cases."""
        plan = self.plan
        n = len(log_evidence)
        known: dict[str, Any] = {name: np.full(n, p) for name, p in plan.certain.items()}
        known.update(at)
        for cpd in plan.derived:
            known[cpd.variable.name] = np.broadcast_to(
                cpd.function(*[known[v.name] for v in cpd.parents]), (n,)
            )
        self._fill(known, weights, n)
        found = self._plain(n)
        if found is None:
            try:
                with np.errstate(under=underflow_of(plan)):
                    found = self._results(n, scaled=True)
            except FloatingPointError:
                if self.signed:
                    self._one_by_one(at, weights, joints, log_evidence, doubt)
                    return
                # The numbers it starts from may be scaled already.
                self._fill(known, weights, n)
                found = self._by_logarithms(n)
        doubt[:] = found.doubt
        with np.errstate(divide="ignore"):
            log_evidence[:] = np.log(found.totals) + found.powers * np.log(2.0)
        for joint, answer, (values, inverse) in zip(
            joints, plan.answers, found.joints, strict=True
        ):
            if answer.cells is None and not answer.observed:
                np.multiply(values, inverse, out=joint.reshape(n, -1).T)
                continue
            hidden = [v.n_states for v in answer.variables if v.name not in answer.observed]
            flat = np.zeros((int(np.prod(hidden)), n))
            cells = np.arange(len(flat)) if answer.cells is None else answer.cells
            np.add.at(flat, cells, values * inverse)
            # An evidence variable of the target has its whole mass on the state seen.
            whole = np.moveaxis(joint, 0, -1)
            case = np.arange(n)
            grids = list(np.ix_(*map(np.arange, hidden), case))
            index = [
                known[v.name] if v.name in answer.observed else grids.pop(0)
                for v in answer.variables
            ]
            whole[(*index, case)] = flat.reshape(*hidden, n)

    def _one_by_one(
        self,
        at: Mapping[str, NDArray[np.intp]],
        weights: Mapping[str, Floats],
        joints: Sequence[Floats],
        log_evidence: Floats,
        doubt: Floats,
    ) -> None:
        """Answer a chunk in one case of which terms are too far apart; that is in doubt."""
        if len(doubt) == 1:
            doubt[:], log_evidence[:] = np.inf, np.nan
            return
        for case in range(len(doubt)):
            part = slice(case, case + 1)
            self.answer(
                {name: found[part] for name, found in at.items()},
                {label: found[:, part] for label, found in weights.items()},
                [joint[part] for joint in joints],
                log_evidence[part],
                doubt[part],
            )

    def _programs(self, n: int) -> tuple[CaseProgram, CaseProgram | None]:
        """Return the program for so many cases, and one for absolute values if signs cancel."""
        if n not in self.bound:
            # Only the last chunk has another number of cases: what was bound before may go.
            self.bound = {}
            registers = list(self.fixed)
            for number, source in enumerate((*self.plan.sources, *self.looked_up)):
                if registers[number] is None:
                    shape, kind = self._shape(number, source)
                    registers[number] = np.zeros((*shape, n), dtype=kind)
            program = self.plan.program
            absolute = None
            if self.signed:
                # What is scaled in place must be its own.
                own = [i in self.signed or moves for i, moves in enumerate(self.moving)]
                sizes = [
                    np.abs(r) if mine and r.dtype.kind in "fc" else r
                    for r, mine in zip(registers, own, strict=False)
                ]
                absolute = CaseProgram(program, sizes, self.moving, n)
            self.bound = {n: (CaseProgram(program, registers, self.moving, n), absolute)}
        return self.bound[n]

    def _shape(self, number: int, source: Source) -> tuple[tuple[int, ...], Any]:
        if source.input is not None:
            sizes = self.plan.program.sizes
            return tuple(sizes[v] for v in source.scope), np.dtype(np.float64)
        table = (*self.tables, *self.indices)[number]
        return table.shape[:-1], table.dtype

    def _fill(
        self, known: Mapping[str, NDArray[np.intp]], weights: Mapping[str, Floats], n: int
    ) -> None:
        """Fill the registers that the cases determine."""
        registers = self._programs(n)[0].registers
        sources: list[tuple[Source, Any]] = list(zip(self.plan.sources, self.tables, strict=True))
        sources += list(zip(self.looked_up, self.indices, strict=True))
        for register, fixed, (source, values) in zip(registers, self.fixed, sources, strict=False):
            if fixed is not None:
                continue
            if source.input is not None:
                found = weights[source.input]
                np.copyto(register, found if source.take is None else source.take(found))
                continue
            n_observed = len(source.observed)
            at = tuple(known[name] for name in source.observed)
            sizes = source.values.shape[:n_observed]  # type: ignore[union-attr]
            flat = np.ravel_multi_index(at, sizes)
            values.take(flat, axis=-1, out=register, mode="clip")

    def _plain(self, n: int) -> _Sums | None:
        """Return the answers on plain numbers, unless these get too small or too large."""
        try:
            with np.errstate(over="ignore", invalid="ignore", under=underflow_of(self.plan)):
                found = self._results(n, scaled=False)
        except FloatingPointError:
            return None
        there = found.totals.min(initial=1.0) > TINY and found.totals.max(initial=1.0) < HUGE
        return found if there else None

    def _by_logarithms(self, n: int) -> _Sums:
        """Return the answers on logarithms, case by case: slow, and seldom needed."""
        registers = self._programs(n)[0].registers[: len(self.fixed)]
        moving = self.moving[: len(self.fixed)]
        cases = [
            sums_by_logarithms(
                self.plan,
                [r[..., case] if moves else r for r, moves in zip(registers, moving, strict=True)],
            )
            for case in range(n)
        ]
        joints = [
            np.stack([j.ravel() for j in same], axis=-1)
            for same in zip(*(c[0] for c in cases), strict=True)
        ]
        logs = np.array([total for _, total in cases])
        possible = logs > -np.inf
        powers = np.where(possible, logs, 0.0) / np.log(2.0)
        return _Sums([(joint, np.ones(n)) for joint in joints], possible.astype(np.float64), powers)

    def _results(self, n: int, *, scaled: bool) -> _Sums:
        """Run the program, and read its answers."""
        plan = self.plan
        program, absolute = self._programs(n)
        filled = registers = program.registers
        own: list[Any] = []
        if absolute is not None:
            for i, register in enumerate(registers[: len(self.fixed)]):
                if self.fixed[i] is None and register.dtype.kind in "fc":
                    np.copyto(absolute.registers[i], np.abs(register))
            with np.errstate(under="raise"):
                own = absolute.run_scaled() if scaled else absolute.run()
        powers = program.run_scaled() if scaled else program.run()
        number: Any = 1.0
        exponent: Any = np.zeros(n)
        for register in plan.scalars:
            number = number * registers[register]
            if scaled:
                shift = np.frexp(np.abs(number))[1]
                number = np.ldexp(1.0, -shift) * number
                exponent = exponent + shift + powers[register]
        results = []
        totals: Any = None
        doubt: Any = np.ones(n)
        for answer in plan.answers:
            values = self._read(answer, filled, n)
            # What multiplies every answer matters for the totals only, unless terms cancel.
            whole = values if absolute is None else values * number
            joint = np.real(whole)
            if absolute is not None:
                there = np.abs(self._read(answer, absolute.registers, n) * number)
                if scaled and answer.register is not None:
                    there = np.ldexp(there, own[answer.register] - powers[answer.register])
                whole, there = whole.reshape(-1, n), there.reshape(-1, n)
                terms = there.sum(axis=0)
                refuse_others(whole.sum(axis=0), terms, real=not plan.halved)
                joint = cleared(joint.reshape(-1, n), there)
            joint = joint.reshape(-1, n)
            if absolute is not None:
                doubt = np.maximum(doubt, doubt_of(joint.sum(axis=0), terms))
            # All answers sum to the same, but for what is scaled or cancels.
            if totals is None or scaled or absolute is not None:
                total = joint.sum(axis=0)
                inverse = np.divide(1.0, total, out=np.zeros(n), where=total > 0)
            if totals is None:
                totals = total if absolute is not None else total * number
                if not scaled and not (
                    total.min(initial=1.0) > TINY and total.max(initial=1.0) < HUGE
                ):
                    raise FloatingPointError
                if scaled and answer.register is not None:
                    exponent = exponent + powers[answer.register]
            results.append((joint, inverse))
        return _Sums(results, totals, exponent, doubt)

    def _read(self, answer: Any, registers: Sequence[Any], n: int) -> Values:
        if answer.register is None:
            return np.ones((*answer.shape, n))
        values = registers[answer.register]
        moves = self.moving[answer.register]
        if answer.axes is not None:
            values = values.transpose((*answer.axes, -1) if moves else answer.axes)
        values = values.reshape((*answer.view, n if moves else 1))
        found: Values = np.broadcast_to(values, (*answer.shape, n))
        return found


def _cases_last(values: Any, n_observed: int) -> Any:
    """Return a table with its evidence axes joined into one, the last, to take cases from."""
    if values is None or not n_observed:
        return values
    flat = values.reshape(-1, *values.shape[n_observed:])
    return np.ascontiguousarray(np.moveaxis(flat, 0, -1))
