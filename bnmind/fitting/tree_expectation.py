"""The E-step by a junction tree, for cases with many missing cells that depend on each other.

The plan is compiled once, with the tables as inputs. Each step runs it for all cases, in batches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.fitting.cases import DistinctCases
from bnmind.fitting.components import relevant_cells
from bnmind.fitting.layout import Layout
from bnmind.information import Floats
from bnmind.junction.inference.compile import compile_plan, families
from bnmind.junction.inference.plan import Plan
from bnmind.pgm.cpd import CPD
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD

__all__ = ["TreeExpectation"]

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
