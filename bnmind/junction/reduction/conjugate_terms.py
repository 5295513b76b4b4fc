r"""Half of the terms of a factorization over the complex numbers.

In a factorization with roots of unity, the terms of a real table are conjugate pairs, except for
the real roots. Twice the real part of one term is the sum of its pair. Therefore ⌊m/2⌋ + 1 states
of the auxiliary variable suffice instead of m, and the result is the real part.

Only one of several auxiliary variables is halved. Suppose that the complex tables form groups, each
over its own variable B_j, whose states are conjugate in pairs in every table that contains B_j.
Given all other variables, the sum over B_j of the product of its tables is then a real number R_j.
Halving B_1 therefore preserves the result:

.. math:: \sum_{b_1} g_1(b_1)\, \prod_{j > 1} R_j
          = \Re \sum_{b_1 \text{, halved}} g_1(b_1) \prod_{j > 1} R_j

The real part of a product of several halves is not the product of their real parts, so a second
variable cannot be halved.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bnmind.junction.reduction.reduced_model import Reduction, Table
from bnmind.pgm.factor import Values

__all__ = ["without_conjugates"]

_SAME = 1e-12
"""The tolerance for equal conjugates; roots of unity have rounding errors."""


def without_conjugates(model: Reduction, protected: Iterable[str]) -> Reduction:
    """Return the model with one state of each conjugate pair of an auxiliary variable.

    If every complex table contains exactly one such variable, the function halves the one with
    the most states. Otherwise it returns the model unchanged. The real parts of the reduced
    model's sums equal the model's sums, which are real. The ``protected`` variables, those of
    the result and of the evidence, keep all their states.
    """
    scopes = [frozenset(t.scope) for t in model.tables if t.values.dtype.kind == "c"]
    if not scopes:
        return model
    remaining = set(scopes)
    candidates = set().union(*scopes) - set(protected)
    candidates -= {name for function in model.functions for name in function.scope}
    chosen: dict[str, NDArray[np.intp]] = {}
    # An auxiliary variable is in many complex tables, the variable it represents in few.
    for name in sorted(candidates, key=lambda n: (-sum(n in scope for scope in scopes), n)):
        mine = {scope for scope in remaining if name in scope}
        if not mine or any(name in scope for scope in set(scopes) - remaining):
            continue
        partner = _partners([t for t in model.tables if name in t.scope], name)
        if partner is not None:
            chosen[name] = partner
            remaining -= mine
    if remaining or not chosen:
        return model
    name = max(chosen, key=lambda n: (model.sizes[n], n))
    return _halved(model, name, chosen[name])


def _front(table: Table, name: str) -> Values:
    return np.moveaxis(table.values, table.scope.index(name), 0)


def _partners(tables: list[Table], name: str) -> NDArray[np.intp] | None:
    """Return the state conjugate to each state in every table at once, if there is one."""
    fronts = [_front(table, name) for table in tables]
    rows = np.concatenate([front.reshape(len(front), -1) for front in fronts], axis=1)
    # One number of each row finds candidates, which are then compared in full.
    key = rows @ (0.5 + math.sqrt(2) * np.arange(rows.shape[1]) % 1)
    partner = np.abs(key[:, None] - key.conj()[None, :]).argmin(axis=1)
    states = np.arange(len(rows))
    paired = np.array_equal(partner[partner], states)
    return partner if paired and np.abs(rows - rows[partner].conj()).max() <= _SAME else None


def _halved(model: Reduction, name: str, partner: NDArray[np.intp]) -> Reduction:
    states = np.arange(len(partner))
    kept_states = states[states <= partner]
    weight = np.where(partner[kept_states] == kept_states, 1.0, 2.0)
    tables, weighted = [], False
    for table in model.tables:
        if name not in table.scope:
            tables.append(table)
            continue
        axis = table.scope.index(name)
        values = table.values.take(kept_states, axis=axis)
        if not weighted:
            shape = [1] * values.ndim
            shape[axis] = -1
            values, weighted = values * weight.reshape(shape), True
        tables.append(Table(table.scope, values))
    lift = replace(model.lifts[name], positions=model.lifts[name].positions[kept_states])
    sizes = {**model.sizes, name: len(kept_states)}
    return replace(
        model,
        sizes=sizes,
        lifts={**model.lifts, name: lift},
        tables=tuple(tables),
        halved=True,
    )
