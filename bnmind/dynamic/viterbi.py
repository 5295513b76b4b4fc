"""The most probable path: Viterbi's algorithm over the interface.

========  ==================================================================================
symbol    meaning
========  ==================================================================================
δ_t       for each configuration of the interface of slice t, the logarithm of the probability
          of the most probable path to it, together with the findings up to slice t
========  ==================================================================================

The forward pass computes δ with maxima instead of sums, on logarithms, and subtracts the largest
one of each slice. The backward pass knows the interface of a slice, and finds the most probable
states of the slice's other variables and of the interface before. It needs δ of the slice before,
which is kept at every √T-th of T slices and computed again in between, as in smoothing.

References
----------
A. Viterbi, "Error bounds for convolutional codes and an asymptotically optimum decoding
algorithm", IEEE Trans. Inf. Theory 1967; for the interface K. Murphy, "Dynamic Bayesian networks",
PhD thesis, Berkeley 2002, section 3.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._values import ReadOnlyDict, Sealed, sealed
from bnmind.dynamic.network import previous
from bnmind.dynamic.passes import check_messages, segment_length
from bnmind.dynamic.results import MostProbablePath
from bnmind.dynamic.sequences import Sequences
from bnmind.dynamic.slice_plans import PAST, SlicePlans, table_input
from bnmind.information import Floats
from bnmind.junction.inference.compile import compile_all
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.registers import starting_registers
from bnmind.junction.program.log_space import logarithms, run_logarithms
from bnmind.junction.queries.backward_walk import compile_elimination, walk_back
from bnmind.pgm.factor import Values

__all__ = ["PathPlans"]


class _Two(NamedTuple):
    """The queries of the first slice and of later ones."""

    first: CompiledQuery
    later: CompiledQuery


@dataclass(frozen=True, eq=False)
class PathPlans(Sealed):
    """The compiled queries of Viterbi's algorithm."""

    plans: SlicePlans

    @cached_property
    def _forward(self) -> _Two:
        """The queries of δ_t, given δ_{t−1}."""
        return _Two(*[self._compiled(is_first=is_first, walks=False) for is_first in (True, False)])

    @cached_property
    def _backward(self) -> _Two:
        """The queries of the states of a slice, given the next slice's choice and δ_{t−1}."""
        return _Two(*[self._compiled(is_first=is_first, walks=True) for is_first in (True, False)])

    def _compiled(self, *, is_first: bool, walks: bool) -> CompiledQuery:
        plans = self.plans
        model, tables = plans.slice_model(is_first=is_first)
        interface = plans.network.interface
        inputs = dict(tables)
        if interface and not is_first:
            inputs[PAST] = tuple(previous(v).name for v in interface)
        soft = [v.name for v in plans.observed]
        if walks:
            soft = list(dict.fromkeys([*soft, *(v.name for v in interface)]))
            return compile_elimination(
                model.potentials,
                evidence=(),
                soft=soft,
                order=None,
                limits=plans.limits,
                inputs=inputs,
            )
        compiled = compile_all(
            model.potentials,
            evidence=(),
            soft=soft,
            order=None,
            limits=plans.limits,
            targets=[[v.name for v in interface]],
            inputs=inputs,
        )
        if compiled.refusal is not None:
            raise compiled.refusal
        return compiled

    def paths(self, found: Sequences) -> MostProbablePath:
        """Return the most probable path of each sequence.

        Raises
        ------
        ImpossibleEvidenceError
            If a sequence is impossible. The error names its first impossible slice.
        TooLargeError
            If the messages would exceed the limits.
        """
        check_messages(self.plans, int(found.lengths.max()))
        variables = self.plans.network.variables
        positions = {v.name: np.zeros(found.n_rows, dtype=np.intp) for v in variables}
        logs = {}
        for number, name in enumerate(found.names):
            rows = found.order[found.starts[number] : found.starts[number + 1]]
            logs[name] = self._path(found, name, rows, positions)
        return MostProbablePath(
            variables=variables,
            positions=ReadOnlyDict({name: sealed(array) for name, array in positions.items()}),
            log_probabilities=ReadOnlyDict(logs),
            labels=found.labels,
        )

    def _path(
        self,
        found: Sequences,
        name: Any,
        rows: NDArray[np.intp],
        positions: Mapping[str, NDArray[np.intp]],
    ) -> float:
        """Fill in the states of one sequence; return the logarithm of their probability."""
        step = segment_length(len(rows))
        before: dict[int, Floats | None] = {0: None}
        total = 0.0
        for number, best, log in self._deltas(found, rows, 0, len(rows), None):
            if not log > -math.inf:
                raise found.impossible(name, number, int(rows[number]))
            total += log
            if (number + 1) % step == 0:
                before[number + 1] = best
        known: dict[str, str] = {}
        for start in reversed(range(0, len(rows), step)):
            stop = min(start + step, len(rows))
            past = before.pop(start)
            pasts = [past, *(b for _, b, _ in self._deltas(found, rows, start, stop - 1, past))]
            for number in reversed(range(start, stop)):
                row = int(rows[number])
                states = self._states(number, {**found.found(row), **known}, pasts.pop())
                for variable, column in positions.items():
                    column[row] = states.get(variable, 0)
                known = {
                    v.name: v.states[states.get(previous(v).name, 0)]
                    for v in self.plans.network.interface
                }
        return total

    def _deltas(
        self,
        found: Sequences,
        rows: NDArray[np.intp],
        start: int,
        stop: int,
        past: Floats | None,
    ) -> Iterator[tuple[int, Floats, float]]:
        """Yield δ of slices, less its largest number, and this number."""
        for number in range(start, stop):
            compiled = self._forward.later if number else self._forward.first
            logs = self._logs(compiled, number, found.found(int(rows[number])), past)
            filled = run_logarithms(compiled.program, logs, np.maximum)
            scalar = float(sum(logs[register] for register in compiled.scalars))
            answer = compiled.answers[0]
            joint = np.zeros(answer.shape) if answer.register is None else answer.read(filled)
            # Nothing is known before the run, so that no state is left out.
            best = np.asarray(joint, dtype=np.float64).reshape(answer.full)
            largest = float(best.max())
            # The next slice reads it from logarithms.
            past = best - largest if largest > -math.inf else best
            yield number, past, largest + scalar

    def _logs(
        self,
        compiled: CompiledQuery,
        number: int,
        findings: Mapping[str, Any],
        past: Floats | None,
    ) -> list[Values]:
        """Return the logarithms of the initial registers of a slice."""
        plans = self.plans
        inputs: dict[str, Values] = {
            table_input(name): plans.network.cpd(name, number).to_tabular().values
            for name in plans.varying(is_first=number == 0)
        }
        if PAST in compiled.inputs:
            inputs[PAST] = np.ones(plans.shape)
        registers = starting_registers(compiled, findings, inputs)
        logs = logarithms(registers, len(compiled.sources))
        if past is not None:
            for register, source in enumerate(compiled.sources):
                if source.input == PAST:
                    logs[register] = source.reduced(past)
        return logs

    def _states(
        self, number: int, findings: Mapping[str, Any], past: Floats | None
    ) -> dict[str, int]:
        """Return the most probable states of a slice and of the interface before it.

        These are positions by name. Variables of a single state are not among them.
        """
        compiled = self._backward.later if number else self._backward.first
        logs = self._logs(compiled, number, findings, past)
        filled = run_logarithms(compiled.program, logs, np.maximum)
        states = walk_back(compiled.program, filled, 1, np.add, _most_likely)
        return dict(zip(compiled.numbered, states[:, 0].tolist(), strict=True))


def _most_likely(weights: Floats, rows: slice) -> NDArray[np.intp]:
    return np.asarray(np.argmax(weights, axis=1), dtype=np.intp)
