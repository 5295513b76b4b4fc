"""Forward and backward passes over sequences that run side by side: the interface algorithm.

The forward pass keeps only the past of the last slice. Smoothing goes back through the slices, and
needs the past of each of them. It keeps the past at every √T-th of T slices, and computes the
others again, a segment at a time: the memory grows with √T, and the forward pass runs twice.

References
----------
K. Murphy, "Dynamic Bayesian networks: representation, inference and learning", PhD thesis, Berkeley
2002, sections 3.4 (the interface algorithm) and 3.7.1 (checkpoints, after Binder, Murphy and
Russell, "Space-efficient inference in dynamic probabilistic networks", IJCAI 1997; here with two
levels instead of a logarithmic number).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from bnmind.dynamic.bound import BoundSlice, side_by_side
from bnmind.dynamic.sequences import Group, Sequences
from bnmind.dynamic.slice_plans import FUTURE, PAST, SlicePlans, Two, table_input
from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction.inference.plan import Plan

__all__ = ["Passes", "Tables", "most_sequences", "segment_length"]

_MESSAGE_BYTES = 2**28
"""The most bytes of the pasts that a smoothing of several sequences keeps."""


class Tables:
    """The tables that are inputs of all runs, for the first slice and for later ones."""

    def __init__(
        self, first: Mapping[str, Floats] | None = None, later: Mapping[str, Floats] | None = None
    ) -> None:
        self.first = {table_input(name): table for name, table in (first or {}).items()}
        self.later = {table_input(name): table for name, table in (later or {}).items()}


def segment_length(n_slices: int) -> int:
    """Return the number of slices of a segment: the root of their number, rounded up.

    >>> segment_length(1), segment_length(10), segment_length(10_000)
    (1, 4, 100)
    """
    return max(1, math.isqrt(max(n_slices - 1, 0)) + 1) if n_slices > 1 else 1


def most_sequences(plans: SlicePlans, two: Two, n_slices: int, tables: Tables) -> int:
    """Return the number of sequences of so many slices that best run side by side."""
    most = min(
        side_by_side(two.first, frozenset(tables.first)),
        side_by_side(two.later, frozenset(tables.later)),
    )
    of_sequence = 2 * 8 * segment_length(n_slices) * math.prod(plans.shape)
    return max(1, min(most, _MESSAGE_BYTES // of_sequence))


class Passes:
    """The passes over the sequences of a group.

    Parameters
    ----------
    plans
        The plans of the slices.
    sequences
        The findings.
    group
        The sequences to run.
    tables
        The tables that are inputs of all runs.
    """

    def __init__(
        self, plans: SlicePlans, sequences: Sequences, group: Group, tables: Tables | None = None
    ) -> None:
        self._plans, self._sequences, self._group = plans, sequences, group
        self._tables = tables or Tables()
        self._bound: dict[tuple[int, bool], BoundSlice] = {}
        self._n = len(group.numbers)

    @property
    def n_slices(self) -> int:
        """The number of slices of the longest sequence."""
        return len(self._group.rows)

    def forward(
        self, two: Two, start: int = 0, stop: int | None = None, past: Floats | None = None
    ) -> Iterator[tuple[int, list[Floats], Floats]]:
        """Yield the joints and the logarithms of the sums of slices, from the first to the last.

        Parameters
        ----------
        two
            Plans whose first target is the interface.
        start, stop
            The slices.
        past
            The past before the first of them.

        Raises
        ------
        ImpossibleEvidenceError
            If a sequence is impossible. The error names its first impossible slice.
        """
        for number in range(start, self.n_slices if stop is None else stop):
            joints, logs = self._run(two, number, past=past)
            if np.isneginf(logs).any():
                raise self._impossible(number, int(np.argmin(logs)))
            past = joints[0]
            yield number, joints, logs

    def smooth(self, two: Two, use: Callable[[int, list[Floats]], None]) -> Floats:
        """Compute targets given all findings, from the last slice to the first.

        Parameters
        ----------
        two
            The plans of the targets, with the past and the future as inputs.
        use
            Called with each slice and its joints, ``(sequences, *states)``.

        Returns
        -------
        numpy.ndarray
            Natural logarithm of the probability of the findings of each slice given those of
            earlier ones, ``(slices, sequences)``.
        """
        plans, n_slices = self._plans, self.n_slices
        step = segment_length(n_slices)
        log_sums = np.zeros((n_slices, self._n))
        before: dict[int, Floats | None] = {0: None}
        for number, joints, logs in self.forward(plans.messages):
            log_sums[number] = logs
            if (number + 1) % step == 0:
                before[number + 1] = joints[0]
        future = np.ones((self._n, *plans.shape))
        for start in reversed(range(0, n_slices, step)):
            stop = min(start + step, n_slices)
            past = before.pop(start)
            pasts = [past]
            pasts += [j[0] for _, j, _ in self.forward(plans.messages, start, stop - 1, past)]
            for number in reversed(range(start, stop)):
                joints, _ = self._run(two, number, past=pasts.pop(), future=future)
                use(number, joints)
                if number and plans.network.interface:
                    (future,), _ = self._run_plan(plans.backward, number, future=future)
        return log_sums

    def _run(
        self, two: Two, number: int, past: Floats | None = None, future: Floats | None = None
    ) -> tuple[list[Floats], Floats]:
        return self._run_plan(two.later if number else two.first, number, past, future)

    def _run_plan(
        self, plan: Plan, number: int, past: Floats | None = None, future: Floats | None = None
    ) -> tuple[list[Floats], Floats]:
        key = (id(plan), number > 0)
        if key not in self._bound:
            constant = self._tables.later if number else self._tables.first
            self._bound[key] = BoundSlice(plan, constant, self._n)
        plans = self._plans
        inputs = self._sequences.evidence(plans.observed, self._group.rows[number])
        for name in plans.varying(is_first=number == 0):
            table = plans.network.cpd(name, number).to_tabular().values
            inputs[table_input(name)] = np.repeat(table[..., None], self._n, axis=-1)
        for label, message in ((PAST, past), (FUTURE, future)):
            if message is not None:
                inputs[label] = np.moveaxis(message, 0, -1)
        return self._bound[key].run(inputs)

    def _impossible(self, number: int, column: int) -> ImpossibleEvidenceError:
        name = self._sequences.names[int(self._group.numbers[column])]
        return self._sequences.impossible(name, number, int(self._group.rows[number, column]))
