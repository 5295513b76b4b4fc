"""Runs of a chunk of the cases of a batch: the program of a plan with an axis of cases.

Like a single run, a chunk uses plain numbers, scaled numbers, or logarithms; see
`bnmind.junction.inference.plan_sums`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.junction.inference.batch_memory import moving_registers
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.normalization import (
    DOUBTFUL,
    HUGE,
    TINY,
    cleared,
    doubt_of,
    refuse_others,
)
from bnmind.junction.inference.plan_sums import sums_by_logarithms
from bnmind.junction.inference.registers import load
from bnmind.junction.program.batch_program import CaseProgram
from bnmind.junction.program.program_inputs import Source
from bnmind.junction.program.underflow import MATTERS, PLAIN, Arithmetic, Underflow
from bnmind.pgm.factor import Values

__all__ = ["Chunks"]


class _Given(NamedTuple):
    """The evidence of the cases of a chunk."""

    known: Mapping[str, Any]
    """The position of each observed variable, ``(cases,)``."""
    weights: Mapping[str, Floats]
    """The likelihoods of soft variables, ``(states, cases)``, by the names of their inputs."""
    n: int
    """The number of cases."""


class _Sums(NamedTuple):
    """The result of a run for a chunk of cases."""

    joints: list[tuple[Any, Floats]]
    """For each answer, sums ``(cells, cases)`` and their normalizing factors ``(cases,)``."""
    totals: Floats
    """The totals of the first answer, as multiples of powers of two."""
    powers: Any
    doubt: Any
    """The ratio of the size of the terms to the sums, ``(cases,)``."""
    masses: list[tuple[Any, Any]]
    """For each answer, if numbers have underflowed, its total and the power of two of the total."""


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
        looked_up = [s for s in sources if s.positions is not None]
        self.moving = moving
        self.looked_up = looked_up
        self.tables = [
            _cases_last(s.values, len(s.observed))
            if s.rows is None
            else _cases_last(s.rows.positions, len(s.rows.observed))
            for s in sources
        ]
        self.tables += [_cases_last(s.positions, len(s.observed)) for s in looked_up]
        fixed: list[Any] = [
            None if moves else load(plan, source, {}, inputs)
            for source, moves in zip(sources, moving, strict=False)
        ]
        fixed += [None if s.observed else s.positions for s in looked_up]
        self.fixed = fixed
        self.signed = [i for i, s in enumerate(sources) if s.signed]
        self.bound: dict[tuple[int, Arithmetic], tuple[CaseProgram, CaseProgram | None]] = {}

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
        sums = self._sums(_Given(known, weights, n))
        if sums is None:
            self._one_by_one(at, weights, joints, log_evidence, doubt)
            return
        doubt[:] = sums.doubt
        with np.errstate(divide="ignore"):
            log_evidence[:] = np.log(sums.totals) + sums.powers * np.log(2.0)
        for joint, answer, (values, inverse) in zip(joints, plan.answers, sums.joints, strict=True):
            if answer.cells is None and not answer.observed:
                # Overflows are doubtful, and are answered anew.
                with np.errstate(invalid="ignore", over="ignore"):
                    np.multiply(values, inverse, out=joint.reshape(n, -1).T)
                continue
            hidden = [v.n_states for v in answer.variables if v.name not in answer.observed]
            flat = np.zeros((int(np.prod(hidden)), n))
            cells = np.arange(len(flat)) if answer.cells is None else answer.cells
            np.add.at(flat, cells, values * inverse)
            # An evidence variable of the target has all its mass on the observed state.
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
        """Answer the cases of a chunk one by one; one whose terms are too far apart is doubtful."""
        if len(doubt) == 1:
            doubt[:], log_evidence[:] = np.inf, np.nan
            return
        for case in range(len(doubt)):
            part = slice(case, case + 1)
            self.answer(
                {name: column[part] for name, column in at.items()},
                {label: column[:, part] for label, column in weights.items()},
                [joint[part] for joint in joints],
                log_evidence[part],
                doubt[part],
            )

    def _sums(self, given: _Given) -> _Sums | None:
        """Return the answers; None where terms of both signs are too far apart."""
        for scaled in (False, True):
            kind = Arithmetic(scaled)
            run = self._run(given, kind)
            if run is None:
                continue
            sums, has_lost = run
            if self.signed or not has_lost:
                return sums
            bound = self._run(given, Arithmetic(scaled, rounds_up=True))
            all_there = np.zeros(given.n, dtype=bool)
            if bound is not None:
                all_there = _all_there(sums.masses, bound[0].masses, given.n)
            if all_there.all() or scaled:
                # The registers hold the bounds now.
                again = self._run(given, kind)
                assert again is not None
                return self._with_logarithms(again[0], given, np.flatnonzero(~all_there))
        return None

    def _program(self, n: int, kind: Arithmetic) -> tuple[CaseProgram, CaseProgram | None]:
        """Return the program for n cases, and one for absolute values if signs cancel."""
        if (n, kind) not in self.bound:
            # Only the last chunk has another number of cases: drop the program bound before.
            self.bound = {}
            registers = list(self.fixed)
            for number, source in enumerate((*self.plan.sources, *self.looked_up)):
                if registers[number] is None:
                    shape, dtype = self._shape(number, source)
                    registers[number] = np.zeros((*shape, n), dtype=dtype)
            program = self.plan.program
            absolute = None
            if self.signed:
                # What is scaled in place must be its own.
                own = [i in self.signed or moves for i, moves in enumerate(self.moving)]
                sizes = [
                    np.abs(r) if mine and r.dtype.kind in "fc" else r
                    for r, mine in zip(registers, own, strict=False)
                ]
                absolute = CaseProgram(program, sizes, self.moving, n, kind)
            whole = CaseProgram(program, registers, self.moving, n, kind)
            self.bound = {(n, kind): (whole, absolute)}
        return self.bound[n, kind]

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
        sources = (*self.plan.sources, *self.looked_up)
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

    def _with_logarithms(self, found: _Sums, given: _Given, cases: NDArray[np.intp]) -> _Sums:
        """Return the answers, computed for some cases on logarithms, which is slow and rare."""
        if not cases.size:
            return found
        joints = [values * inverse for values, inverse in found.joints]
        totals, powers = found.totals.copy(), np.array(found.powers, dtype=np.float64)
        registers = self._program(given.n, PLAIN)[0].registers
        self._fill(registers, given)
        moving = self.moving[: len(self.fixed)]
        for case in cases.tolist():
            one = [
                r[..., case] if moves else r for r, moves in zip(registers, moving, strict=False)
            ]
            alone = sums_by_logarithms(self.plan, one)
            for joint, part in zip(joints, alone.joints, strict=True):
                joint[:, case] = part.ravel()
            log = alone.log_evidence
            totals[case] = float(log > -np.inf)
            powers[case] = (log if log > -np.inf else 0.0) / np.log(2.0)
        return found._replace(
            joints=[(joint, np.ones(given.n)) for joint in joints], totals=totals, powers=powers
        )

    def _run(self, given: _Given, kind: Arithmetic) -> tuple[_Sums, bool] | None:
        """Return the sums, and whether numbers have underflowed.

        None if plain numbers do not suffice, or terms of both signs are too far apart.
        """
        program, absolute = self._program(given.n, kind)
        self._fill(program.registers, given)
        own_powers: list[Any] = []
        if absolute is not None:
            for i, register in enumerate(program.registers[: len(self.fixed)]):
                if self.fixed[i] is None and register.dtype.kind in "fc":
                    np.copyto(absolute.registers[i], np.abs(register))
            with np.errstate(over="ignore", invalid="ignore"), Underflow() as sizes:
                own_powers = absolute.run(sizes)
            if sizes.has_lost or absolute.has_lost:
                return None
        with np.errstate(over="ignore", invalid="ignore"), Underflow() as watch:
            powers = program.run(watch)
        has_lost = watch.has_lost or program.has_lost
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            sums = self._read_all(given.n, kind, powers, own_powers, every=has_lost)
        return None if sums is None else (sums, has_lost)

    def _read_all(
        self, n: int, kind: Arithmetic, powers: Sequence[Any], own: Sequence[Any], *, every: bool
    ) -> _Sums | None:
        """Return the sums in the registers; None if plain numbers are too small or too large.

        The cells of ``every`` answer are added up if numbers have underflowed.
        """
        plan = self.plan
        program, absolute = self._program(n, kind)
        registers = program.registers
        number: Any = 1.0
        exponent: Any = np.zeros(n)
        for register in plan.scalars:
            number = number * registers[register]
            if kind.scaled:
                shift = np.frexp(np.abs(number))[1]
                number = np.ldexp(1.0, -shift) * number
                exponent = exponent + shift + powers[register]
        results: list[tuple[Any, Floats]] = []
        masses = []
        totals: Any = None
        doubt: Any = np.ones(n)
        for answer in plan.answers:
            values = self._read(answer, registers, n)
            # The factor common to all answers matters only for the totals, unless terms cancel.
            whole = values if absolute is None else values * number
            joint = np.real(whole).reshape(-1, n)
            power = 0 if answer.register is None else powers[answer.register]
            if absolute is not None:
                magnitudes = np.abs(self._read(answer, absolute.registers, n) * number)
                if kind.scaled and answer.register is not None:
                    magnitudes = np.ldexp(magnitudes, own[answer.register] - power)
                whole, magnitudes = whole.reshape(-1, n), magnitudes.reshape(-1, n)
                terms = magnitudes.sum(axis=0)
                refuse_others(whole.sum(axis=0), terms, real=not plan.halved)
                joint = cleared(joint, magnitudes)
                doubt = np.maximum(doubt, doubt_of(joint.sum(axis=0), terms))
                # A cell whose terms have cancelled may be possible all the same.
                cancelled = ((joint == 0) & (magnitudes > 0)).any(axis=0)
                doubt = np.where(cancelled, np.maximum(doubt, 2 * DOUBTFUL), doubt)
            # All answers have the same sum, except for scaling, underflow and cancellation.
            if totals is None or kind.scaled or absolute is not None or every:
                total = joint.sum(axis=0)
                inverse = np.divide(1.0, total, out=np.zeros(n), where=total > 0)
                masses.append((total, power))
            if totals is None:
                totals = total if absolute is not None else total * number
                if not kind.scaled and not _in_range(total):
                    return None
                exponent = exponent + power
            results.append((joint, inverse))
        if not kind.scaled and not _in_range(totals):
            return None
        return _Sums(results, totals, exponent, doubt, masses)

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


def _in_range(totals: Floats) -> bool:
    return bool(totals.min(initial=1.0) > TINY and totals.max(initial=1.0) < HUGE)


def _all_there(
    masses: Sequence[tuple[Any, Any]], bounds: Sequence[tuple[Any, Any]], n: int
) -> NDArray[np.bool_]:
    """Return the cases whose lost numbers do not matter, by upper bounds of the totals."""
    proven = np.ones(n, dtype=bool)
    for (total, power), (most, shift) in zip(masses, bounds, strict=True):
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            bound = np.ldexp(most, np.clip(shift - power, -1000, 1000))
        # Infinities and NaN prove nothing.
        proven &= bound <= MATTERS * total
    return proven


def _cases_last(values: Any, n_observed: int) -> Any:
    """Return a table whose last axis joins its evidence axes, from which cases are taken."""
    if values is None or not n_observed:
        return values
    flat = values.reshape(-1, *values.shape[n_observed:])
    return np.ascontiguousarray(np.moveaxis(flat, 0, -1))
