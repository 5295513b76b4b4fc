"""Slices bound to a number of sequences, which run side by side.

The sequences are the cases of a batch; see `bnmind.junction.inference.batches`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bnmind.errors import TooLargeError
from bnmind.information import Floats
from bnmind.junction.inference.batches import Chunks, batch_size
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import label_of
from bnmind.junction.inference.plan import Plan
from bnmind.pgm.factor import Values

__all__ = ["BoundSlice", "plain", "side_by_side"]


def plain(plan: Plan) -> CompiledQuery:
    """Return the compiled query of a plan, without negative numbers.

    Raises
    ------
    TooLargeError
        If the plan exceeds its limits, or there is no common plan for all findings.
    """
    if plan.is_signed and plan.unsigned is not None:
        plan = plan.unsigned
    if plan.compiled.refusal is not None:
        raise plan.compiled.refusal
    if plan.by_case is not None:
        raise TooLargeError(
            f"a plan of a slice that serves all findings would have about {plan.by_case:,} cells;"
            f" allowed are max_bytes={plan.limits.max_bytes:,}. Let fewer variables have findings,"
            " or use smaller tables",
            needed=8 * plan.by_case,
            budget=plan.limits.max_bytes,
        )
    return plan.compiled


def _moving(compiled: CompiledQuery, constant: frozenset[str]) -> frozenset[str]:
    names = {*compiled.inputs, *(label_of(v.name) for v in compiled.soft)}
    return frozenset(names - constant)


def side_by_side(plan: Plan, constant: frozenset[str] = frozenset()) -> int:
    """Return the number of sequences that best run side by side."""
    compiled = plain(plan)
    return batch_size(compiled, _moving(compiled, constant)).chunk


class BoundSlice:
    """A plan of a slice, bound to a number of sequences.

    Parameters
    ----------
    plan
        The plan.
    constant
        The inputs that are the same in all slices and sequences.
    n
        The number of sequences.
    """

    def __init__(self, plan: Plan, constant: Mapping[str, Values], n: int) -> None:
        compiled = plain(plan)
        self._n = n
        self._names = _moving(compiled, frozenset(constant))
        self._shapes = [tuple(v.n_states for v in scope) for scope in compiled.targets]
        own = {name: table for name, table in constant.items() if name in compiled.inputs}
        self._chunks = Chunks(compiled, own, self._names)

    def run(self, inputs: Mapping[str, Floats]) -> tuple[list[Floats], Floats]:
        """Return the joint of each target, and the logarithms of the sums.

        Parameters
        ----------
        inputs
            The inputs, with the sequences as the last axis, ``(*states, sequences)``; those that
            the plan does not have are ignored.

        Returns
        -------
        joints, log_sums
            The normalized joints, ``(sequences, *states)``; natural logarithms ``(sequences,)``,
            −inf where the findings are impossible.
        """
        n = self._n
        joints = [np.zeros((n, *shape)) for shape in self._shapes]
        log_sums = np.zeros(n)
        given = {name: inputs[name] for name in self._names}
        self._chunks.answer({}, given, joints, log_sums, np.ones(n))
        return joints, log_sums
