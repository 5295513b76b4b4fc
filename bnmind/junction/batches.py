"""Runs of a plan, for one case or for many at once: the sums, and what their digits are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import compress, zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, listed
from bnmind._values import ReadOnlyDict, Value, sealed
from bnmind.errors import (
    CancellationError,
    InvalidArgumentError,
    InvalidModelError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.junction.compiled_query import CompiledQuery, load
from bnmind.junction.evidence import Findings, case_findings, case_likelihoods, label_of
from bnmind.junction.posteriors import Posterior
from bnmind.junction.program import reuse_freed_memory
from bnmind.junction.reduction import Answer, Source
from bnmind.junction.runs import CaseProgram, logarithms, moving_registers, run_logarithms
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

# --- Normalization of the results of a run, and the digits lost by cancellation -------------------
#
# Factors of a rank-one factorization are negative or complex, and their sums may cancel. Running
# the same program on absolute values gives the size of the terms. The ratio of this size to the sum
# tells how many digits are lost.

TINY = 1e-200
"""Runs with less probable evidence are repeated with scaled numbers."""

HUGE = 1e200
"""Runs with a larger total, by likelihoods, are repeated with scaled numbers."""

RESIDUE = 1e-13
"""A sum below this share of the size of its terms has no correct digits."""

DOUBTFUL = 1e4
"""The ratio of terms to sum above which a plan without negative numbers answers instead."""

LOST = 1e7
"""The ratio of terms to sum above which six digits are not certain."""

_ROUNDING = 1e-6
"""Negative or imaginary parts above this share of the terms are not rounding errors."""


class Found(NamedTuple):
    """The results of a run; of a run for many cases, with the cases as the last axis."""

    joints: Floats
    """The normalized joints of all targets over their reduced variables, ``(cells,)``."""
    totals: Floats
    """The sum of each target before the normalization."""
    doubt: Floats
    """The ratio of the size of the terms to the sums."""


def lost_digits(case: int | None = None) -> CancellationError:
    """Return the error of a run whose terms cancel; ``case`` is the number of its case."""
    where = "" if case is None else f" in case {case}"
    return CancellationError(
        f"fewer than six digits of the result are certain{where}: the evidence is too improbable"
        " for factors with negative numbers"
    )


def read_answers(plan: CompiledQuery, sums: Values, sizes: Floats | None = None) -> Found:
    """Return the results of a run of the program of a plan.

    Parameters
    ----------
    plan
        The plan.
    sums
        The unnormalized joints of all targets, one after the other.
    sizes
        The same for the absolute values of all terms, if terms may cancel.

    Raises
    ------
    InvalidModelError
        If a sum of the product of the factors is negative, or complex.
    """
    joints = np.real(sums)
    if sizes is not None:
        joints = cleared(joints, sizes)
    totals = _totals(plan, joints)
    doubt = np.ones(sums.shape[1:])
    if sizes is not None:
        terms = _totals(plan, sizes)
        refuse_others(_totals(plan, sums), terms, real=not plan.halved)
        doubt = doubt_of(totals, terms).max(axis=0)
        # A cell whose terms have cancelled may be possible all the same.
        cancelled = ((joints == 0) & (sizes > 0)).any(axis=0)
        doubt = np.where(cancelled, np.maximum(doubt, 2 * DOUBTFUL), doubt)
    counts = [end - start for start, end, _ in plan.parts]
    # Where there is nothing, zeros stay.
    return Found(joints / np.repeat(totals + (totals == 0), counts, axis=0), totals, doubt)


def _totals(plan: CompiledQuery, values: Values) -> Any:
    """Return the sum of each target."""
    if values.ndim == 1:
        return np.add.reduceat(values, [start for start, _, _ in plan.parts])
    return np.array([np.add.reduce(values[start:end]) for start, end, _ in plan.parts])


def doubt_of(sums: Floats, terms: Floats) -> Floats:
    """Return the ratio of the size of terms to their sums.

    The ratio is infinite if the terms cancel, so that the sum may be zero or only small. It is 1 if
    there are no terms, because the sum is then exactly zero.
    """
    doubt = np.full(np.shape(sums), np.inf)
    with np.errstate(over="ignore"):
        np.divide(terms, sums, out=doubt, where=sums > 0)
    doubt[terms == 0] = 1.0
    return doubt


def cleared(sums: Floats, sizes: Floats) -> Floats:
    """Return sums, with zero for those that are only rounding errors of terms of these sizes.

    Other negative sums stay, because auxiliary variables can have negative weights.
    """
    cleaned: Floats = np.where((sums > RESIDUE * sizes) | (sums < -_ROUNDING * sizes), sums, 0.0)
    return cleaned


def refuse_others(totals: Values, sizes: Floats, *, real: bool) -> None:
    """Raise `InvalidModelError` if totals are negative, or not ``real``, beyond rounding errors.

    ``sizes`` holds the sizes of their terms.
    """
    problems = []
    if np.any(np.real(totals) < -_ROUNDING * sizes):
        problems.append("the product of the factors sums to a negative number")
    if real and np.iscomplexobj(totals) and np.any(np.abs(np.imag(totals)) > _ROUNDING * sizes):
        problems.append("the product of the factors sums to a complex number")
    if problems:
        raise InvalidModelError(problems)


def _constant(plan: CompiledQuery, factors: Sequence[Any]) -> tuple[Any, Any]:
    """Return the product of numbers as a number of size one and a logarithm."""
    if not factors:
        return 1.0, 0.0
    numbers = np.array(factors)
    sizes = np.abs(numbers)
    log = np.log(sizes).sum(axis=0)
    if not plan.is_signed:
        return 1.0, log
    return np.divide(numbers, sizes, out=np.ones_like(numbers), where=sizes > 0).prod(axis=0), log


# --- The sums of a run of a plan for one case -----------------------------------------------------
#
# A run uses plain numbers. If these become too small or too large, it uses numbers scaled by powers
# of two. Both lose the smallest numbers of a table whose numbers are too far apart, as in the
# distribution of a sum of a thousand votes. If lost numbers may matter, the run uses logarithms.

MATTERS = 1 + 1e-13
"""The factor by which lost numbers may increase a sum before they matter."""

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called with the amount of work done, and the whole amount."""


class Sums(NamedTuple):
    """The sums of a run."""

    joints: list[Values]
    """The normalized joint of each target over its reduced variables."""
    log_evidence: float
    """The logarithm of the first target's sum; minus infinity if the sum has no terms, but
    never because terms cancel."""
    doubt: float = 1.0
    """The ratio of the size of the terms to the sums; infinite if it cannot be computed, and then
    there are no joints."""


def sums_of(
    plan: CompiledQuery, registers: Sequence[Values], progress: Progress | None = None
) -> Sums:
    """Return the sums of a run, with their doubt.

    Parameters
    ----------
    plan
        The targets and the program.
    registers
        The initial registers, as returned by `bnmind.junction.compiled_query`.
    progress
        A function that is called with the share of the work that is done, in percent, and 100.
        Numbers that are scaled take another run.

    Raises
    ------
    InvalidModelError
        If a sum is negative, or complex.
    """
    reported = None if progress is None else partial(_report, plan, progress)
    for scaled in (False, True):
        try:
            found, log_scale, has_lost = run_once(plan, registers, reported, scaled=scaled)
        except FloatingPointError:
            # The sizes of terms of both signs are too far apart to be computed.
            continue
        totals, numbers = found.totals.tolist(), found.joints
        if not scaled and not (min(totals) > TINY and max(totals) < HUGE):
            continue
        if (
            not has_lost
            or plan.is_signed
            or (not scaled and _is_all(plan, registers, found.totals))
        ):
            numbers.setflags(write=False)
            joints: list[Values] = [
                numbers[start:end] if len(shape) == 1 else numbers[start:end].reshape(shape)
                for start, end, shape in plan.parts
            ]
            log_total = math.log(totals[0]) if totals[0] > 0 else -math.inf
            return Sums(joints, log_total + log_scale, float(found.doubt))
    if plan.is_signed:
        return Sums([], math.nan, math.inf)
    return sums_by_logarithms(plan, registers)


def sums_by_logarithms(plan: CompiledQuery, registers: Sequence[Values]) -> Sums:
    """Return the sums of a plan without signs, from logarithms of the registers."""
    filled = run_logarithms(plan.program, logarithms(registers, len(plan.sources)), np.logaddexp)
    joints, log_total = joints_of_logarithms(
        [np.zeros(a.shape) if a.register is None else a.read(filled) for a in plan.answers]
    )
    with np.errstate(divide="ignore"):
        _, log_scale = _constant(plan, [registers[r] for r in plan.scalars])
    return Sums(joints, log_total + float(log_scale))


def joints_of_logarithms(logs: Sequence[Values]) -> tuple[list[Values], float]:
    """Return normalized joints from logarithms, and the logarithm of the sum of the first.

    The logarithm is minus infinity if a joint is zero everywhere.
    """
    totals = [float(np.logaddexp.reduce(values, axis=None)) for values in logs]
    joints = []
    for values, total in zip(logs, totals, strict=True):
        joint = np.exp(values - total) if total > -math.inf else np.zeros(values.shape)
        joints.append(joint / max(float(joint.sum()), 0.5))
    return joints, totals[0] if min(totals) > -math.inf else -math.inf


def _report(plan: CompiledQuery, progress: Progress, n_steps: int) -> None:
    progress(plan.percents[n_steps - 1], 100)


def run_once(
    plan: CompiledQuery,
    registers: Sequence[Values],
    progress: Callable[[int], None] | None = None,
    *,
    scaled: bool = False,
    rounds_up: bool = False,
) -> tuple[Found, float, bool]:
    """Return the results of a run, their scale, and whether numbers have underflowed.

    The scale is the logarithm of what the total of the first target is a multiple of.

    Raises
    ------
    FloatingPointError
        If numbers become too large, or the sizes of terms differ too much.
    """
    # Without scaling, the run ends at the first number that is too large.
    over: Literal["raise", "ignore"] = "ignore" if scaled or rounds_up else "raise"
    with np.errstate(over=over, invalid="ignore", under="ignore", divide="ignore"):
        filled, powers, has_lost = plan.run(registers, progress, scaled=scaled, rounds_up=rounds_up)
        number, log_scale = _constant(plan, [registers[r] for r in plan.scalars])
        if plan.is_signed:
            sizes = _magnitudes(plan, registers, powers)
            found = read_answers(plan, plan.read(filled) * number, sizes)
        else:
            found = read_answers(plan, plan.read(filled))
    first = plan.answers[0].register
    if powers and first is not None:
        log_scale += powers[first] * math.log(2.0)
    return found, float(log_scale), has_lost


def _magnitudes(plan: CompiledQuery, registers: Sequence[Values], powers: Sequence[int]) -> Floats:
    """Return the results for the absolute values of all terms, one after the other."""
    sizes = [
        np.abs(values) if source and source.signed else values
        for values, source in zip_longest(registers, plan.sources)
    ]
    filled, own, has_lost = plan.program.run(sizes, scaled=bool(powers))
    if has_lost:
        raise FloatingPointError
    found: Floats = plan.read(filled).real
    if powers:
        shifts = [0 if (r := a.register) is None else own[r] - powers[r] for a in plan.answers]
        found = np.ldexp(found, np.repeat(shifts, [end - start for start, end, _ in plan.parts]))
    return found


def _is_all(plan: CompiledQuery, registers: Sequence[Values], totals: Floats) -> bool:
    """Return whether numbers that underflowed in a run provably do not matter.

    Another run rounds them up. Because no number is negative, it gives an upper bound of every
    sum, and if this bound equals the sum, nothing is missing.
    """
    bound, _, _ = run_once(plan, registers, rounds_up=True)
    return bool(np.all(bound.totals <= MATTERS * totals))


# --- The memory of a batch of cases ---------------------------------------------------------------

_CHUNK_BYTES = 2**28
"""The most bytes of the cases of a chunk, unless the chunk is a single case."""

_CHUNK_CELLS = 250_000
"""The approximate limit for the numbers of the largest register, which fits into the cache."""

_FEWEST, _MOST = 32, 1000
"""The most cases of a chunk; more do not fit into caches, and of powers of two, all rows of a
register would be in the same places of a cache."""

_STEP_BYTES = 256
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


def batch_size(plan: CompiledQuery) -> BatchSize:
    """Return the memory of a batch, as if each register depended on the case."""
    program, sources = plan.program, plan.sources
    number = (16 if plan.has_complex_numbers else 8) * (1 + plan.is_signed)
    moves = [bool(s.observed or s.input) for s in sources]
    # The child of a function that is stored by its values takes no cells.
    scopes = [[v for v in s.scope if v != s.child] for s in compress(sources, moves)]
    inputs = [math.prod([program.sizes[v] for v in scope]) for scope in scopes]
    answers = sum([math.prod(answer.shape) for answer in plan.answers])
    # The answers are read, divided by their sums, and compared with their sizes.
    of_case = number * (program.peak_cells + sum(inputs) + 4 * answers)
    largest = max([*inputs, *program.held[program.n_inputs :]], default=1)
    chunk = min(max(_CHUNK_CELLS // largest, _FEWEST), _MOST)
    chunk = max(1, min(chunk, _CHUNK_BYTES // max(of_case, 1)))
    n_results = sum(math.prod(v.n_states for v in scope) for scope in plan.targets) + 1
    n_findings = len(plan.evidence) + sum(v.n_states for v in plan.soft)
    # Tables reduced to the evidence also have a copy with the cases last.
    fixed = number * sum(s.n_cells * (2 if s.observed else 1) for s in sources)
    moving = moving_registers(program, moves)
    results = range(program.n_inputs, len(moving))
    fixed += number * sum([program.held[r] for r in results if not moving[r]])
    fixed += _STEP_BYTES * len(program.steps)
    return BatchSize(chunk, fixed, of_case, 8 * (n_results + n_findings))


# --- Runs of a plan for many cases at once, with the cases as the last axis -----------------------
#
# A chunk of the cases, which fits into caches, uses plain numbers, then numbers scaled by powers of
# two. Cases whose numbers still become too small run by themselves.


class Chunks:
    """The common data of all chunks of a batch.

    Parameters
    ----------
    plan
        The compiled query.
    inputs
        The inputs that are the same for all cases; the others are among the weights of a chunk.
    """

    def __init__(self, plan: CompiledQuery, inputs: Mapping[str, Values]) -> None:
        reuse_freed_memory()
        self._plan = plan
        self._tables = list(map(_cases_last, plan.sources))
        self._fixed = [
            None
            if source.observed or (source.input is not None and source.input not in inputs)
            else load(source, {}, inputs)
            for source in plan.sources
        ]
        self._program = CaseProgram(plan.program, self._fixed)
        self._of_sizes = self._program
        if plan.is_signed:
            self._of_sizes = CaseProgram(plan.program, list(map(_size, self._fixed)))

    def answer(
        self, at: Mapping[str, NDArray[np.intp]], weights: Mapping[str, Floats], n: int
    ) -> BatchRun:
        """Return the results of a chunk of ``n`` cases.

        Parameters
        ----------
        at
            The position of each observed variable, ``(cases,)``.
        weights
            The inputs that differ between cases, ``(*states, cases)``.
        """
        plan = self._plan
        known: dict[str, Any] = {name: np.full(n, p) for name, p in plan.certain.items()}
        known.update(at)
        for cpd in plan.derived:
            known[cpd.variable.name] = np.broadcast_to(
                cpd.function(*[known[v.name] for v in cpd.parents]), (n,)
            )
        tables = [
            self._table(number, known, weights) if table is None else table
            for number, table in enumerate(self._fixed)
        ]
        batch, again = BatchRun.of(plan.targets, n), np.ones(n, dtype=np.bool_)
        for scaled in (False, True):
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                if (found := self._run(tables, n, scaled=scaled)) is None:
                    continue
                results, log_scale = found
                batch.log_evidence[:] = np.log(results.totals[0]) + log_scale
            batch.doubt[:] = results.doubt
            for joint, answer, (start, end, _) in zip(
                batch.joints, plan.answers, plan.parts, strict=True
            ):
                joint[:] = _lifted(answer, results.joints[start:end], known)
            total = results.totals[0]
            again = ~((total > TINY) & (total < HUGE) | (total == 0))
            if not again.any():
                return batch
        for case in np.flatnonzero(again).tolist():
            alone = sums_of(
                plan,
                [
                    np.ascontiguousarray(table[..., case]) if fixed is None else fixed
                    for table, fixed in zip(tables, self._fixed, strict=True)
                ],
            )
            batch.doubt[case], batch.log_evidence[case] = alone.doubt, alone.log_evidence
            seen = {name: int(column[case]) for name, column in known.items()}
            for joint, answer, values in zip(
                batch.joints, plan.answers, alone.joints, strict=False
            ):
                joint[case] = answer.lift(values, seen)
        return batch

    def _table(self, number: int, known: Mapping[str, Any], weights: Mapping[str, Floats]) -> Any:
        """Return a table of the model for each case, or an input."""
        source = self._plan.sources[number]
        if source.input is not None:
            return source.reduced(weights[source.input])
        values, observed, sizes = self._tables[number]
        if observed:
            at = [known[name] for name in observed]
            values = values.take(np.ravel_multi_index(at, sizes), axis=-1)
        if source.rows is None or source.rows.child is None:
            return values
        rows = values if observed else values[..., None]
        return (rows == known[source.rows.child]).astype(np.float64)

    def _run(self, tables: Sequence[Any], n: int, *, scaled: bool) -> tuple[Found, Any] | None:
        """Return the results of a run, and their scale; None if numbers have underflowed."""
        plan = self._plan
        registers, powers, has_lost = self._program.run(tables, n, scaled=scaled)
        factors = [np.broadcast_to(tables[register], n) for register in plan.scalars]
        number, log_scale = _constant(plan, factors)
        sums, sizes = self._read(registers, n), None
        if plan.is_signed:
            filled, own, has_lost = self._of_sizes.run(list(map(_size, tables)), n, scaled=scaled)
            shifts = [
                np.broadcast_to(0 if (r := a.register) is None else own[r] - powers[r], n)
                for a in plan.answers
            ]
            counts = [end - start for start, end, _ in plan.parts]
            sizes = np.ldexp(self._read(filled, n).real, np.repeat(shifts, counts, axis=0))
            sums = sums * number
        if has_lost:
            return None
        first = plan.answers[0].register
        if first is not None:
            log_scale = log_scale + math.log(2.0) * powers[first]
        return read_answers(plan, sums, sizes), log_scale

    def _read(self, registers: Sequence[Any], n: int) -> Values:
        """Return the unnormalized joints of all targets, ``(cells, cases)``."""
        joints = []
        for answer in self._plan.answers:
            values = np.ones(())
            if answer.register is not None:
                values = registers[answer.register]
                if not self._program.moving[answer.register]:
                    values = values[..., None]
                if answer.axes is not None:
                    values = values.transpose((*answer.axes, -1))
                values = values.reshape((*answer.view, values.shape[-1]))
            joints.append(np.broadcast_to(values, (*answer.shape, n)).reshape(-1, n))
        return np.concatenate(joints)


def _size(values: Any) -> Any:
    """Return the absolute values of a table; positions and None stay."""
    return values if values is None or values.dtype.kind in "iu" else np.abs(values)


def _cases_last(source: Source) -> tuple[Any, tuple[str, ...], tuple[int, ...]]:
    """Return a table, or positions, whose last axis joins its evidence axes, and these axes."""
    values: Any = source.values
    observed = source.observed
    if source.rows is not None:
        values, observed = source.rows.positions, source.rows.observed
    if not observed:
        return values, (), ()
    flat = values.reshape(-1, *values.shape[len(observed) :])
    return np.ascontiguousarray(np.moveaxis(flat, 0, -1)), observed, values.shape[: len(observed)]


def _lifted(answer: Answer, values: Floats, known: Mapping[str, Any]) -> Floats:
    """Return joints over reduced variables, ``(cells, cases)``, as ``(cases, *states)``."""
    n = values.shape[-1]
    hidden = [v.n_states for v in answer.variables if v.name not in answer.observed]
    if answer.cells is not None:
        flat = np.zeros((math.prod(hidden), n))
        np.add.at(flat, answer.cells, values)
        values = flat
    joint: Floats = values.T.reshape(n, *hidden)
    for axis, v in enumerate(answer.variables, 1):
        if v.name in answer.observed:
            # An evidence variable of the target has all its mass on the observed state.
            seen = known[v.name][:, None] == np.arange(v.n_states)
            others = range(1, joint.ndim + 1)
            seen = np.expand_dims(seen, tuple([other for other in others if other != axis]))
            joint = np.expand_dims(joint, axis) * seen
    return joint


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

    @classmethod
    def of(cls, scopes: Sequence[Sequence[Variable]], n: int) -> BatchRun:
        """Return the results of impossible cases."""
        joints = [np.full((n, *[v.n_states for v in scope]), np.nan) for scope in scopes]
        return cls(tuple(joints), np.full(n, -np.inf), np.ones(n))

    def put(self, which: Any, answer: Posterior | BatchPosterior | BatchRun | None) -> None:
        """Replace the answer to a case, or to several; None stands for impossible cases.

        The answer may have further targets.
        """
        if answer is None:
            self.log_evidence[which] = -np.inf
            return
        if isinstance(answer, BatchRun):
            self.doubt[which] = answer.doubt
        self.log_evidence[which] = answer.log_evidence
        for joint, better in zip(self.joints, answer.joints, strict=False):
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
    n, size = _checked_size(plan, cases, max_bytes)
    soft = {v: case_likelihoods(v, cases[v.name]) for v in plan.soft if v.name in cases}
    same = {label_of(v.name): np.ones(v.n_states) for v in plan.soft if v not in soft}
    chunks, batch = Chunks(plan, {**inputs, **same}), BatchRun.of(plan.targets, n)
    for start in range(0, n, size.chunk):
        part = slice(start, min(start + size.chunk, n))
        at = {v.name: cases[v.name][part] for v in plan.evidence}
        weights = {label_of(v.name): column[:, part] for v, column in soft.items()}
        batch.put(part, chunks.answer(at, weights, part.stop - part.start))
    return batch


def _checked_size(
    plan: CompiledQuery, cases: Mapping[str, NDArray[Any]], max_bytes: int | None
) -> tuple[int, BatchSize]:
    """Return the number of cases and their memory; raise an error if evidence is missing."""
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
    (n,), size = lengths, batch_size(plan)
    if max_bytes is not None and (needed := size.total(n)) > max_bytes:
        raise TooLargeError(
            f"expected a batch of at most {max_bytes:,} bytes, got {needed:,} for {n:,} cases",
            needed=needed,
            budget=max_bytes,
        )
    return n, size


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
    n, _ = _checked_size(plan, cases, max_bytes)
    batch = BatchRun.of(plan.targets, n)
    known: dict[bytes, int] = {}
    for case in range(n):
        key = b"".join(column[case].tobytes() for column in cases.values())
        first = known.setdefault(key, case)
        if first < case:
            batch.put(
                case,
                BatchRun(
                    tuple([joint[first] for joint in batch.joints]),
                    batch.log_evidence[first],
                    batch.doubt[first],
                ),
            )
            continue
        batch.put(case, answer(case_findings([*plan.evidence, *plan.soft], cases, case)))
    return batch
