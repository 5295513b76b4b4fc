"""The E-step: the expected counts of all families, for all cases.

Families without missing cells are counted once, before the first step. Cases whose missing cells
fall into small components are completed component by component; a junction tree does the others,
and those with functions and fixed noisy nodes that are too large to be expanded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.errors import ImpossibleEvidenceError
from bnmind.fitting.cases import DistinctCases
from bnmind.fitting.components import Components, relevant_cells
from bnmind.fitting.components_kernel import ComponentArrays, complete
from bnmind.fitting.covariance_kernel import add_covariances
from bnmind.fitting.layout import Layout
from bnmind.information import Floats
from bnmind.junction.inference.compile import compile_plan, families
from bnmind.junction.inference.plan import Plan
from bnmind.pgm.cpd import CPD
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD

__all__ = ["Expectation", "Expected"]

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


# --- The E-step: the expected counts of all families, for all cases -------------------------------
#
#

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
