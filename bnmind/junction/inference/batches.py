"""Runs of a plan over many cases, in chunks that fit into memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, listed
from bnmind._values import ReadOnlyDict, Value, sealed
from bnmind.errors import (
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction.inference.compiled_query import CompiledQuery, load
from bnmind.junction.inference.evidence import Findings, case_findings, case_likelihoods, label_of
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.inference.sums import (
    DOUBTFUL,
    HUGE,
    TINY,
    cleared,
    doubt_of,
    refuse_others,
    sums_of,
)
from bnmind.junction.program.program import Expand, LookUp, Product, Scatter
from bnmind.junction.program.runs import CaseProgram
from bnmind.junction.reduction import Answer, Source
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

# --- Prediction of the memory of a batch of cases -------------------------------------------------
#
# The prediction follows `bnmind.junction.program.runs`. A register that depends on the case
# holds its cells for every case of a chunk, and releases its memory after its last use.

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


# --- Runs of a chunk of the cases of a batch: the program of a plan with an axis of cases ---------
#
# A chunk uses plain numbers, then numbers scaled by powers of two. Cases whose numbers still become
# too small run by themselves, see `bnmind.junction.inference.sums`.


class _Given(NamedTuple):
    """The evidence of the cases of a chunk."""

    known: Mapping[str, Any]
    """The position of each observed variable, ``(cases,)``."""
    weights: Mapping[str, Floats]
    """The likelihoods of soft variables, ``(states, cases)``, by the names of their inputs."""


class _Sums(NamedTuple):
    """The result of a run for a chunk of cases."""

    joints: list[tuple[Any, Floats]]
    """For each answer, sums ``(cells, cases)`` and their normalizing factors ``(cases,)``."""
    totals: Floats
    """The totals of the first answer."""
    log_scale: Any
    """The logarithms of the factors that the totals lack."""
    doubt: Floats
    """The ratio of the size of the terms to the sums, ``(cases,)``."""


class Chunks:
    """The common data of all chunks of a batch.

    Parameters
    ----------
    plan
        The compiled query.
    inputs
        The inputs that are the same for all cases.
    varying
        The names of the other inputs.
    """

    def __init__(
        self, plan: CompiledQuery, inputs: Mapping[str, Values], varying: frozenset[str]
    ) -> None:
        self.plan = plan
        sources = plan.sources
        moving = moving_registers(plan, varying)
        self.moving = moving
        self.tables = [
            _cases_last(s.values, len(s.observed))
            if s.rows is None
            else _cases_last(s.rows.positions, len(s.rows.observed))
            for s in sources
        ]
        self.fixed: list[Any] = [
            None if moves else load(source, {}, inputs)
            for source, moves in zip(sources, moving, strict=False)
        ]
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
        given, again = _Given(known, weights), np.ones(n, dtype=np.bool_)
        for scaled in (False, True):
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                if (found := self._sums(given, n, scaled=scaled)) is None:
                    continue
                log_evidence[:] = np.log(found.totals) + found.log_scale
                doubt[:] = found.doubt
                for joint, answer, (values, inverse) in zip(
                    joints, plan.answers, found.joints, strict=True
                ):
                    if answer.cells is None and not answer.observed:
                        np.multiply(values, inverse, out=joint.reshape(n, -1).T)
                    else:
                        self._lift(joint, answer, values * inverse, known)
                again = ~((found.totals > TINY) & (found.totals < HUGE)) & (found.totals != 0)
            if not again.any():
                return
        self._one_by_one(np.flatnonzero(again), given, joints, log_evidence, doubt)

    def _one_by_one(
        self,
        cases: NDArray[np.intp],
        given: _Given,
        joints: Sequence[Floats],
        log_evidence: Floats,
        doubt: Floats,
    ) -> None:
        """Answer some cases of a chunk by runs of their own."""
        registers = self._program(len(doubt))[0].registers
        self._fill(registers, given)
        for case in cases.tolist():
            one = [
                np.ascontiguousarray(register[..., case]) if fixed is None else fixed
                for register, fixed in zip(registers, self.fixed, strict=False)
            ]
            alone = sums_of(self.plan, one)
            doubt[case], log_evidence[case] = alone.doubt, alone.log_evidence
            at = {name: int(column[case]) for name, column in given.known.items()}
            for joint, answer, found in zip(joints, self.plan.answers, alone.joints, strict=False):
                joint[case] = np.real(answer.lift(found, at))

    def _lift(
        self, joint: Floats, answer: Answer, values: Floats, known: Mapping[str, Any]
    ) -> None:
        """Fill the joints of a target whose variables are reduced, or partly observed."""
        n = len(joint)
        hidden = [v.n_states for v in answer.variables if v.name not in answer.observed]
        flat = np.zeros((int(np.prod(hidden)), n))
        cells = np.arange(len(flat)) if answer.cells is None else answer.cells
        np.add.at(flat, cells, values)
        # An evidence variable of the target has all its mass on the observed state.
        joint[:] = 0.0
        whole = np.moveaxis(joint, 0, -1)
        case = np.arange(n)
        grids = list(np.ix_(*map(np.arange, hidden), case))
        index = [
            known[v.name] if v.name in answer.observed else grids.pop(0) for v in answer.variables
        ]
        whole[(*index, case)] = flat.reshape(*hidden, n)

    def _program(self, n: int) -> tuple[CaseProgram, CaseProgram | None]:
        """Return the program for n cases, and one for absolute values if signs cancel."""
        if n not in self.bound:
            # Only the last chunk has another number of cases: drop the program bound before.
            self.bound = {}
            registers = list(self.fixed)
            for number, source in enumerate(self.plan.sources):
                if registers[number] is None:
                    shape, dtype = self._shape(number, source)
                    registers[number] = np.zeros((*shape, n), dtype=dtype)
            program = self.plan.program
            absolute = None
            if self.signed:
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
        table = self.tables[number]
        if source.rows is not None and source.rows.child is not None:
            shape = table.shape[:-1] if source.rows.observed else table.shape
            return shape, np.dtype(np.float64)
        return table.shape[:-1], table.dtype

    def _fill(self, registers: Sequence[Any], given: _Given) -> None:
        """Fill the registers that the cases determine."""
        sources = self.plan.sources
        for register, fixed, source, values in zip(
            registers, self.fixed, sources, self.tables, strict=False
        ):
            if fixed is not None:
                continue
            if source.input is not None:
                likelihoods = given.weights[source.input]
                np.copyto(register, source.reduced(likelihoods))
                continue
            if source.rows is not None:
                source.rows.fill(register, values, given.known)
                continue
            at = tuple(given.known[name] for name in source.observed)
            sizes = source.values.shape[: len(at)]  # type: ignore[union-attr]
            flat = np.ravel_multi_index(at, sizes)
            values.take(flat, axis=-1, out=register, mode="clip")

    def _sums(self, given: _Given, n: int, *, scaled: bool) -> _Sums | None:
        """Return the sums of a run; None if numbers have underflowed."""
        plan = self.plan
        program, absolute = self._program(n)
        registers = program.registers
        self._fill(registers, given)
        own_powers: list[Any] = []
        if absolute is not None:
            for i, register in enumerate(registers[: len(self.fixed)]):
                if self.fixed[i] is None and register.dtype.kind in "fc":
                    np.copyto(absolute.registers[i], np.abs(register))
            own_powers, has_lost = absolute.run(scaled=scaled)
            if has_lost:
                return None
        powers, has_lost = program.run(scaled=scaled)
        if has_lost and absolute is None:
            return None
        numbers: list[Any] = [registers[register] for register in plan.scalars]
        number = math.prod(numbers)
        log_scale = math.log(2.0) * sum([powers[register] for register in plan.scalars])
        if absolute is None:
            log_scale = log_scale + sum(map(np.log, numbers))
        results: list[tuple[Any, Floats]] = []
        totals: Any = None
        doubt: Any = np.ones(n)
        first = 0
        for answer in plan.answers:
            power = 0 if answer.register is None else powers[answer.register]
            values = self._read(answer, registers, n)
            # The factor common to all answers does not matter, unless terms cancel.
            whole = values if absolute is None else values * number
            joint = np.real(whole).reshape(-1, n)
            if absolute is not None:
                magnitudes = np.abs(self._read(answer, absolute.registers, n) * number)
                if answer.register is not None:
                    magnitudes = np.ldexp(magnitudes, own_powers[answer.register] - power)
                whole, magnitudes = whole.reshape(-1, n), magnitudes.reshape(-1, n)
                terms = magnitudes.sum(axis=0)
                refuse_others(whole.sum(axis=0), terms, real=not plan.halved)
                joint = cleared(joint, magnitudes)
                doubt = np.maximum(doubt, doubt_of(joint.sum(axis=0), terms))
                # A cell whose terms have cancelled may be possible all the same.
                cancelled = ((joint == 0) & (magnitudes > 0)).any(axis=0)
                doubt = np.where(cancelled, np.maximum(doubt, 2 * DOUBTFUL), doubt)
            # All answers have the same sum, except for scaling and cancellation.
            if totals is None or scaled or absolute is not None:
                total = joint.sum(axis=0)
                inverse = np.divide(1.0, total, out=np.zeros(n), where=total > 0)
            if totals is None:
                totals, first = total, power
                log_scale = log_scale + math.log(2.0) * power
            own = scaled or absolute is not None or power == first
            results.append((joint, inverse if own else np.ldexp(inverse, power - first)))
        if absolute is not None and numbers:
            # A product of numbers that is zero, although none of them is.
            is_lost = (number == 0) & np.all([factor != 0 for factor in numbers], axis=0)
            totals = np.where(is_lost, np.nan, totals)
        return _Sums(results, totals, log_scale, doubt)

    def _read(self, answer: Any, registers: Sequence[Any], n: int) -> Values:
        if answer.register is None:
            return np.ones((*answer.shape, n))
        values = registers[answer.register]
        moves = self.moving[answer.register]
        if answer.axes is not None:
            values = values.transpose((*answer.axes, -1) if moves else answer.axes)
        values = values.reshape((*answer.view, n if moves else 1))
        joint: Values = np.broadcast_to(values, (*answer.shape, n))
        return joint


def _cases_last(values: Any, n_observed: int) -> Any:
    """Return a table whose last axis joins its evidence axes, from which cases are taken."""
    if values is None or not n_observed:
        return values
    flat = values.reshape(-1, *values.shape[n_observed:])
    return np.ascontiguousarray(np.moveaxis(flat, 0, -1))


# --- Runs of many cases at once: the program of a plan with an axis of cases ----------------------
#
# The cases are the last axis of every register that depends on them, so operations read contiguous
# numbers. Registers that depend on no case are computed once. A product with sums is a matrix
# product if one of its operands is the same for all cases, and otherwise a running sum of
# element-wise products. The cases run in chunks that fit into caches, see
# `bnmind.junction.inference.batches`.


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
    answer: Callable[[Findings], Posterior | None],
    *,
    max_bytes: int | None,
) -> BatchRun:
    """Return the results of all cases, with a separate run for each; equal cases run once.

    Parameters
    ----------
    plan, cases, max_bytes
        As for `run_batch`.
    answer
        Answers the findings of one case; None if they are impossible.
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
        batch.put(case, answer(case_findings([*plan.evidence, *plan.soft], cases, case)))
    return batch
