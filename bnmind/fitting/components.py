"""The missing cells of cases, cut into parts that can be completed one by one.

Given the observed cells of a case, two missing cells depend on each other only if a path of
families joins them whose other missing cells are in between. A *component* is such a set of
missing cells. Its distribution depends only on the states of the variables that share a family
with it, so that equal components of different cases need to be computed once.

A missing cell without observed descendants is *barren*: it does not influence the likelihood, and
is not part of the complete data of EM.

References
----------
R. Shachter, "Bayes-ball", UAI 1998 (which variables a query needs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.fitting.cases import MISSING, DistinctCases
from bnmind.fitting.layout import Layout
from bnmind.information import Floats

__all__ = ["Components", "relevant_cells"]

ELSEWHERE = -2
"""The mark of a variable that has nothing to do with a component."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Components(Sealed):
    """Distinct components of missing cells, with the families that contain them.

    Component number i has the variables ``members[member_starts[i] : member_starts[i + 1]]``,
    parents before children, and likewise its families.
    """

    members: NDArray[np.int64]
    member_starts: NDArray[np.int64]
    families: NDArray[np.int64]
    bases: NDArray[np.int64]
    """For each of ``families``, the cell of the table with all members in their first state."""
    family_starts: NDArray[np.int64]
    weights: Floats
    """``(components,)``: the number of cases with the component."""
    rows: NDArray[np.intp]
    """``(components,)``: a row of the table of cases that contains it."""

    def __len__(self) -> int:
        return len(self.weights)

    @classmethod
    def of(
        cls, layout: Layout, cases: DistinctCases, *, small: int, together: int
    ) -> tuple[Components, NDArray[np.bool_]]:
        """Return the components of some cases.

        Parameters
        ----------
        layout
            The families.
        cases
            The cases.
        small
            The most joint states of a component.
        together
            The most joint states of all components that are larger, counted for each case. If
            there are no more, these are returned too.

        Returns
        -------
        tuple
            The components of all other cases; and ``(rows,)``, the cases with a larger component,
            or with a family that is not expanded.
        """
        relevant = relevant_cells(layout, cases.states)
        labels = _labels(layout, cases.states, relevant)
        n = labels.shape[1]
        logs = np.log2([v.n_states for v in layout.network.variables])
        large = np.zeros(len(labels), dtype=np.bool_)
        by_root = []
        of_large = 0.0
        for root in range(n):
            rows = np.flatnonzero(labels[:, root] == root)
            inside = labels[rows] == root
            log_states = inside @ logs
            too_large = log_states > np.log2(small) + 1e-9
            large[rows[too_large]] = True
            of_large += float(np.exp2(np.minimum(log_states[too_large], 99.0)).sum())
            by_root.append(rows)
        if of_large <= together:
            large[:] = False
        large |= relevant[:, layout.large].any(axis=1)
        parts = []
        for root, rows in enumerate(by_root):
            kept = rows[~large[rows]]
            if kept.size:
                parts.append(_distinct(layout, cases, relevant, (kept, labels[kept] == root)))
        return _joined(parts), large


def relevant_cells(layout: Layout, states: NDArray[np.signedinteger[Any]]) -> NDArray[np.bool_]:
    """Return which cells are observed or have observed descendants, ``(rows, variables)``."""
    relevant: NDArray[np.bool_] = np.asarray(states != MISSING)
    for child in reversed(range(states.shape[1])):
        for parent in layout.scopes[child][1:]:
            relevant[:, parent] |= relevant[:, child]
    return relevant


def _labels(
    layout: Layout, states: NDArray[np.signedinteger[Any]], relevant: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """Return the smallest variable of the component of each cell, ``(rows, variables)``.

    Cells that are not in a component have the number of variables.
    """
    n = states.shape[1]
    labels = np.where((states == MISSING) & relevant, np.arange(n, dtype=np.int32), n).astype(
        np.int32
    )
    # Rows in which a family has two missing cells or more, which it joins.
    joins = []
    for child, scope in enumerate(layout.scopes):
        if len(scope) > 1:
            missing = labels[:, scope] < n
            rows = np.flatnonzero(relevant[:, child] & (missing.sum(axis=1) > 1))
            if rows.size:
                joins.append((np.ix_(rows, np.array(scope)), missing[rows]))
    changed = True
    while changed:
        changed = False
        for at, missing in (*joins, *reversed(joins)):
            before = labels[at]
            after = np.where(missing, before.min(axis=1, keepdims=True), n)
            if not np.array_equal(before, after):
                labels[at] = after
                changed = True
    return labels


def _distinct(
    layout: Layout,
    cases: DistinctCases,
    relevant: NDArray[np.bool_],
    found: tuple[NDArray[np.intp], NDArray[np.bool_]],
) -> Components:
    """Return the distinct components among those of one root."""
    rows, inside = found
    in_scope = layout.strides > 0
    # The families that have to do with the components, and their variables; in large networks few.
    around = np.flatnonzero(in_scope[:, inside.any(axis=0)].any(axis=1))
    nearby = np.flatnonzero(in_scope[around].any(axis=0))
    in_scope = in_scope[np.ix_(around, nearby)]
    strides = layout.strides[np.ix_(around, nearby)]
    inside, states = inside[:, nearby], cases.states[np.ix_(rows, nearby)]
    touched = inside.astype(np.float32) @ in_scope.T.astype(np.float32) > 0
    touched &= relevant[np.ix_(rows, around)]
    near = touched.astype(np.float32) @ in_scope.astype(np.float32) > 0
    key = np.where(near, states, ELSEWHERE).astype(cases.states.dtype)
    key = np.ascontiguousarray(np.where(inside, MISSING, key).astype(cases.states.dtype))
    _, first, which = np.unique(
        key.view(np.dtype((np.void, key.shape[1] * key.dtype.itemsize))).reshape(-1),
        return_index=True,
        return_inverse=True,
    )
    weights: Floats = np.bincount(which, weights=cases.weights[rows]).astype(np.float64)
    member_row, members = np.nonzero(inside[first])
    family_row, families = np.nonzero(touched[first])
    places = np.maximum(np.where(inside[first], 0, states[first]), 0)
    bases = layout.offsets[around[families]] + np.einsum(
        "ij,ij->i", strides[families], places[family_row].astype(np.int64)
    )
    return Components(
        members=nearby[members].astype(np.int64),
        member_starts=_starts(member_row, len(first)),
        families=around[families].astype(np.int64),
        bases=bases.astype(np.int64),
        family_starts=_starts(family_row, len(first)),
        weights=weights,
        rows=rows[first],
    )


def _starts(row: NDArray[np.intp], n: int) -> NDArray[np.int64]:
    counts = np.bincount(row, minlength=n)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _joined(parts: list[Components]) -> Components:
    """Return the components of all parts together."""
    no = np.zeros(0, dtype=np.int64)

    def starts(each: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        sizes = [np.diff(one) for one in each]
        return np.concatenate([[0], np.cumsum(np.concatenate([no, *sizes]))]).astype(np.int64)

    return Components(
        members=np.concatenate([no, *(part.members for part in parts)]),
        member_starts=starts([part.member_starts for part in parts]),
        families=np.concatenate([no, *(part.families for part in parts)]),
        bases=np.concatenate([no, *(part.bases for part in parts)]),
        family_starts=starts([part.family_starts for part in parts]),
        weights=np.concatenate([np.zeros(0), *(part.weights for part in parts)]),
        rows=np.concatenate([np.zeros(0, dtype=np.intp), *(part.rows for part in parts)]),
    )
