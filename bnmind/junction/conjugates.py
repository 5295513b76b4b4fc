"""Half of the terms of a factorization over the complex numbers.

Factorized with roots of unity, the terms of a real table come in conjugate pairs
(but for the real roots), and the real part of one term twice is the pair. So
⌊m/2⌋ + 1 states of the auxiliary variable do instead of m, if the real part of the
result is taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bnmind.junction.reduction import Reduction, Table
from bnmind.pgm.factor import Values

__all__ = ["without_conjugates"]

_SAME = 1e-12
"""Roots of unity are computed to rounding error; conjugates agree to this."""


def without_conjugates(model: Reduction, protected: Iterable[str]) -> Reduction:
    """Return the model with one state of each conjugate pair of its auxiliary variable.

    That is the only variable that all complex tables share; if there is none, or its
    states are not conjugate in pairs, the model is returned as it is. The real part of
    the reduced model's sums equals the model's sums, which are real. Variables that are
    ``protected``, because the result or the evidence is about them, stay whole.
    """
    scopes = [set(t.scope) for t in model.tables if np.iscomplexobj(t.values)]
    shared = set.intersection(*scopes) if scopes else set()
    for name in sorted(shared - set(protected)):
        holders = [t for t in model.tables if name in t.scope]
        partner = _partners(holders, name)
        if partner is not None:
            return _halved(model, name, partner)
    return model


def _front(table: Table, name: str) -> Values:
    return np.moveaxis(table.values, table.scope.index(name), 0)


def _partners(tables: list[Table], name: str) -> NDArray[np.intp] | None:
    """Return the state conjugate to each state in every table at once, if there is one."""
    fronts = [_front(table, name) for table in tables]
    rows = np.concatenate([front.reshape(len(front), -1) for front in fronts], axis=1)
    distance = np.abs(rows[:, None, :] - rows.conj()[None, :, :]).max(axis=2)
    partner = distance.argmin(axis=1)
    states = np.arange(len(rows))
    paired = np.array_equal(partner[partner], states)
    return partner if paired and distance[states, partner].max() <= _SAME else None


def _halved(model: Reduction, name: str, partner: NDArray[np.intp]) -> Reduction:
    states = np.arange(len(partner))
    kept = states[states <= partner]
    weight = np.where(partner[kept] == kept, 1.0, 2.0)
    tables, weighted = [], False
    for table in model.tables:
        if name not in table.scope:
            tables.append(table)
            continue
        axis = table.scope.index(name)
        values = table.values.take(kept, axis=axis)
        if not weighted:
            shape = [1] * values.ndim
            shape[axis] = -1
            values, weighted = values * weight.reshape(shape), True
        tables.append(Table(table.scope, values))
    lift = replace(model.lifts[name], positions=model.lifts[name].positions[kept])
    return Reduction({**model.sizes, name: len(kept)}, {**model.lifts, name: lift}, tuple(tables))
