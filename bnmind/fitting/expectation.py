"""The E-step: the expected counts of all families, for all cases.

Families without missing cells are counted once, before the first step. Cases whose missing cells
fall into small components are completed component by component; a junction tree does the others,
and those with functions and fixed noisy nodes that are too large to be expanded.

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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.errors import ImpossibleEvidenceError
from bnmind.fitting.cases import MISSING, DistinctCases
from bnmind.fitting.kernels import ComponentArrays, add_covariances, complete
from bnmind.fitting.layout import Layout
from bnmind.information import Floats
from bnmind.junction.inference.compile import compile_plan, families
from bnmind.junction.inference.plan import Plan
from bnmind.pgm.cpd import CPD
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD

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


# --- The E-step by a junction tree, for cases with many missing cells that depend on each other ---
#
# The plan is compiled once, with the tables as inputs. Each step runs it for all cases, in batches.

_BATCH_CELLS = 2**22
"""The approximate limit of cells in the joints of a batch of cases."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeExpectation(Sealed):
    """An E-step by junction tree, for some rows of a table of cases."""

    layout: Layout
    plan: Plan
    states: NDArray[np.intp]
    """``(cases, variables)``."""
    weights: Floats
    """``(cases, variables)``: the weight of a case; zero where a cell is barren."""
    rows: NDArray[np.intp]
    """``(cases,)``: the rows of the table of cases."""

    @classmethod
    def of(cls, layout: Layout, cases: DistinctCases, rows: NDArray[np.bool_]) -> TreeExpectation:
        """Compile the plan for the rows that are marked.

        Raises
        ------
        TooLargeError
            If the junction tree is too large.
        """
        # Uniform tables, which cancel when multiplied by the inputs.
        uniform: list[CPD] = []
        for cpd, large in zip(layout.network.cpds, layout.large.tolist(), strict=True):
            if large:
                uniform.append(cpd)
                continue
            shape = tuple(v.n_states for v in cpd.scope)
            table = np.full(shape, 1 / shape[0])
            uniform.append(TabularCPD(cpd.variable, cpd.parents, table))
        network = Network(tuple(uniform))
        states = cases.states[rows].astype(np.intp)
        seen = np.any(states >= 0, axis=0).tolist()
        everything = families(layout.network)
        scopes = [everything[family] for family in np.flatnonzero(~layout.large).tolist()]
        plan = compile_plan(
            network,
            soft=[v.name for v, some in zip(layout.network.variables, seen, strict=True) if some],
            targets=scopes,
            inputs={_input(scope[0]): scope for scope in scopes},
        )
        weights = relevant_cells(layout, states) * cases.weights[rows][:, None]
        return cls(
            layout=layout, plan=plan, states=states, weights=weights, rows=np.flatnonzero(rows)
        )

    def add(self, cells: Floats, counts: Floats) -> tuple[float, int]:
        """Add expected counts to the cells.

        Returns
        -------
        tuple
            The log-likelihood of the cases; and the first row that is impossible, or -1.
        """
        network = self.layout.network
        inputs = {
            _input(v.name): self.layout.table(cells, family) * v.n_states
            for family, v in enumerate(network.variables)
            if not self.layout.large[family]
        }
        soft = {v.name for v in self.plan.soft}
        sizes = len(cells)
        step = max(_BATCH_CELLS // sizes, 1)
        total = 0.0
        for start in range(0, len(self.states), step):
            part = slice(start, start + step)
            batch = self.plan.run_batch(
                {
                    v.name: self.states[part, number]
                    for number, v in enumerate(network.variables)
                    if v.name in soft
                },
                inputs,
                allow_impossible=True,
            )
            if len(batch.impossible):
                return total, int(self.rows[start + int(batch.impossible[0])])
            weights = self.weights[part]
            # The weight of a case is that of any cell that is not barren.
            total += float(weights.max(axis=1) @ batch.log_evidence)
            for family, joints in zip(
                np.flatnonzero(~self.layout.large).tolist(), batch.joints, strict=True
            ):
                offset = int(self.layout.offsets[family])
                summed = np.tensordot(weights[:, family], joints, axes=1).reshape(-1)
                counts[offset : offset + summed.size] += summed
        return total, -1


def _input(name: str) -> str:
    return f"table of {name}"


SMALL = 2**12
"""The most joint states of a component that are always visited one by one."""

TOGETHER = 2**20
"""The most joint states of all larger components together that are visited one by one. If there
are more, a junction tree is faster."""


class Expected(NamedTuple):
    """The result of an E-step."""

    log_likelihood: float
    counts: Floats
    """``(cells,)``: the expected counts."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Expectation(Sealed):
    """An E-step, prepared for some cases."""

    layout: Layout
    cases: DistinctCases
    complete: Floats
    """``(cells,)``: the counts of families without missing cells."""
    components: Components
    tree: TreeExpectation | None
    """The E-step of cases with larger components; None if there are none."""

    @classmethod
    def of(
        cls, layout: Layout, cases: DistinctCases, *, small: int = SMALL, together: int = TOGETHER
    ) -> Expectation:
        """Prepare the E-step.

        Raises
        ------
        TooLargeError
            If the junction tree is too large.
        """
        components, large = Components.of(layout, cases, small=small, together=together)
        return cls(
            layout=layout,
            cases=cases,
            complete=_complete_counts(layout, cases, ~large),
            components=components,
            tree=TreeExpectation.of(layout, cases, large) if large.any() else None,
        )

    @property
    def is_complete(self) -> bool:
        """Whether nothing relevant is missing, so that the counts do not depend on the tables."""
        return not len(self.components) and self.tree is None

    def start_counts(self) -> Floats:
        """Return the counts of families without missing cells, of all cases, ``(cells,)``."""
        everything = np.ones(len(self.cases.states), dtype=np.bool_)
        return _complete_counts(self.layout, self.cases, everything)

    def at(self, cells: Floats) -> Expected:
        """Do the E-step with some tables.

        Raises
        ------
        ImpossibleEvidenceError
            If a case is impossible. The error names it.
        """
        with np.errstate(divide="ignore"):
            logs = np.log(cells)
        counted = self.complete > 0
        if np.isneginf(logs[counted]).any():
            raise self._impossible(self._row_with_zero(logs))
        total = float(self.complete[counted] @ logs[counted])
        counts = self.complete.copy()
        if len(self.components):
            likelihoods = np.empty(len(self.components))
            wrong = complete(logs, self._arrays, self._most_states, counts, likelihoods)
            if wrong >= 0:
                raise self._impossible(int(self.components.rows[wrong]))
            total += float(self.components.weights @ likelihoods)
        if self.tree is not None:
            likelihood, wrong = self.tree.add(cells, counts)
            if wrong >= 0:
                raise self._impossible(wrong)
            total += likelihood
        return Expected(total, counts)

    def add_covariances(self, cells: Floats, covariances: Floats) -> None:
        """Add the covariances of the counts of free cells that are due to missing cells.

        Cases that need the junction tree are left out.
        """
        if len(self.components):
            with np.errstate(divide="ignore"):
                logs = np.log(cells)
            add_covariances(logs, self._arrays, self._most_states, covariances)

    @property
    def _arrays(self) -> ComponentArrays:
        parts = self.components
        return ComponentArrays(
            parts.members,
            parts.member_starts,
            parts.families,
            parts.bases,
            parts.family_starts,
            parts.weights,
            np.array([v.n_states for v in self.layout.network.variables], dtype=np.int64),
            self.layout.strides,
        )

    @property
    def _most_states(self) -> int:
        """The joint states of the largest component."""
        parts = self.components
        sizes = np.array([v.n_states for v in self.layout.network.variables], dtype=np.float64)
        return round(
            float(np.multiply.reduceat(sizes[parts.members], parts.member_starts[:-1]).max())
        )

    def _row_with_zero(self, logs: Floats) -> int:
        """Return the first row with a family without missing cells that is impossible."""
        relevant = relevant_cells(self.layout, self.cases.states)
        found = [len(self.cases.states)]
        for family in range(len(self.layout.scopes)):
            rows, cells = _cells_of(self.layout, self.cases, relevant, family)
            found += rows[np.isneginf(logs[cells])][:1].tolist()
        return min(found)

    def _impossible(self, row: int) -> ImpossibleEvidenceError:
        number = int(self.cases.numbers[row]) + self.cases.first_row
        findings = {
            v.name: v.states[state]
            for v, state in zip(
                self.layout.network.variables, self.cases.states[row].tolist(), strict=True
            )
            if state >= 0
        }
        return ImpossibleEvidenceError(
            f"the case in row {number} is impossible under the tables that are fixed, the functions"
            " and the zeros of noisy nodes",
            findings,
        )


def _cells_of(
    layout: Layout, cases: DistinctCases, relevant: NDArray[np.bool_], family: int
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the rows in which a family has no missing cells, and its cell in each."""
    if layout.large[family]:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int64)
    scope = list(layout.scopes[family])
    states = cases.states[:, scope]
    rows = np.flatnonzero((states >= 0).all(axis=1) & relevant[:, family])
    steps = layout.strides[family, scope]
    return rows, layout.offsets[family] + states[rows].astype(np.int64) @ steps


def _complete_counts(layout: Layout, cases: DistinctCases, rows: NDArray[np.bool_]) -> Floats:
    """Return the counts of families without missing cells in some rows, ``(cells,)``."""
    relevant = np.broadcast_to(rows[:, None], cases.states.shape)
    counts = np.zeros(layout.n_cells)
    for family in range(len(layout.scopes)):
        found, cells = _cells_of(layout, cases, relevant, family)
        counts += np.bincount(cells, weights=cases.weights[found], minlength=layout.n_cells)
    return counts
