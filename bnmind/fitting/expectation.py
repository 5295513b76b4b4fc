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

A *completion* gives each cell of a component a state. Which cells of the tables it counts is the
row of a sparse matrix X, which is the same in all steps. With the logarithms of the tables, X log θ
are those of the probabilities of all completions, and the transpose of X, times their posterior
probabilities, are the expected counts.

References
----------
R. Shachter, "Bayes-ball", UAI 1998 (which variables a query needs).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import one_line
from bnmind._values import Sealed, sealed
from bnmind.errors import ImpossibleEvidenceError
from bnmind.fitting.cases import MISSING, DistinctCases
from bnmind.fitting.layout import Layout
from bnmind.information import Floats
from bnmind.junction.cases.tables import distinct_rows
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.plan import Plan
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel

_CHUNK = 2**20
"""About the most entries of a matrix of completions that are made at a time."""


class Completions(NamedTuple):
    """All completions of some components, those of one component after the other."""

    matrix: Any
    """``(completions, cells)``, a `scipy.sparse.csr_array`: how often each counts a cell."""
    sizes: NDArray[np.int64]
    """``(components,)``: the number of completions."""

    def posterior(self, logs: Floats) -> tuple[Floats, Floats]:
        """Return the log-likelihoods of the components, and the chances of their completions.

        Those of an impossible component are nan.
        """
        values = self.matrix @ logs
        starts = np.cumsum(self.sizes) - self.sizes
        highest = np.maximum.reduceat(values, starts)
        with np.errstate(invalid="ignore"):
            shares = np.exp(values - np.repeat(highest, self.sizes))
        totals = np.add.reduceat(shares, starts)
        return highest + np.log(totals), shares / np.repeat(totals, self.sizes)


@dataclass(frozen=True, eq=False, kw_only=True)
class Components(Sealed):
    """Distinct components of missing cells, with the families that contain them."""

    layout: Layout
    members: NDArray[np.intp]
    """``(components, most members)``: the variables, parents before children; then -1. Components
    of fewer members come first."""
    owners: NDArray[np.intp]
    """For each family of each component, the component; ascending."""
    families: NDArray[np.intp]
    """For each of ``owners``, the family."""
    bases: NDArray[np.int64]
    """For each of ``owners``, the cell of the table with all members in their first state."""
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
            The most completions of a component.
        together
            The most completions of all components that have more, counted for each case. If
            there are no more, these are returned too.

        Returns
        -------
        tuple
            The components of all other cases; and ``(rows,)``, the cases with a larger component,
            or with a family that is not expanded.
        """
        relevant = relevant_cells(layout, cases.states)
        cells = _MissingCells.of(layout, cases.states, relevant)
        logs = np.log2([v.n_states for v in layout.network.variables])
        log_sizes = np.bincount(cells.labels, weights=logs[cells.variables])
        rows = np.zeros(len(log_sizes), dtype=np.intp)
        rows[cells.labels] = cells.rows
        too_large = log_sizes > np.log2(small) + 1e-9
        large: NDArray[np.bool_] = np.asarray(relevant[:, layout.large].any(axis=1))
        if np.exp2(np.minimum(log_sizes[too_large], 99.0)).sum() > together:
            large[rows[too_large]] = True
        kept = np.flatnonzero(~large[rows])
        members = _table(cells.labels, cells.variables, len(rows))[kept]
        kinds = _table(cells.labels[cells.lasts], cells.kinds, len(rows))[kept]
        n_kinds = len(cells.bases)
        distinct = distinct_rows(((column + 1, n_kinds + 1) for column in kinds.T), len(kinds))
        weights = np.bincount(distinct.kind, cases.weights[rows[kept]]).astype(np.float64)
        order = np.argsort((members[distinct.first] >= 0).sum(axis=1), kind="stable")
        first = distinct.first[order]
        owners, places = np.nonzero(kinds[first] >= 0)
        found = kinds[first][owners, places]
        return cls(
            layout=layout,
            members=members[first],
            owners=owners,
            families=cells.families[found],
            bases=cells.bases[found],
            weights=weights[order],
            rows=rows[kept][first],
        ), large

    @cached_property
    def n_completions(self) -> NDArray[np.int64]:
        """``(components,)``: the number of completions."""
        sizes = np.array([*(v.n_states for v in self.layout.network.variables), 1])
        return sealed(sizes[self.members].prod(axis=1))

    @cached_property
    def n_entries(self) -> int:
        """The number of entries of the matrix of all completions."""
        return int(self.n_completions[self.owners].sum())

    def completions(self) -> Iterator[tuple[slice, Completions]]:
        """Return the completions of some components after the other."""
        if not len(self):
            return
        entries = np.bincount(self.owners, weights=self.n_completions[self.owners])
        chunk = (np.cumsum(entries) - entries) // _CHUNK + (self.members >= 0).sum(axis=1)
        ends = np.flatnonzero(np.diff(chunk, append=np.inf)) + 1
        for start, stop in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            yield slice(start, stop), self._completions(start, stop)

    def _completions(self, start: int, stop: int) -> Completions:
        from scipy import sparse

        part = slice(*np.searchsorted(self.owners, (start, stop)).tolist())
        owners, families = self.owners[part] - start, self.families[part]
        sizes = np.array([*(v.n_states for v in self.layout.network.variables)], dtype=np.int32)
        # The cells of each family, whose number grows with each member by the factor of its states.
        cells, lengths = self.bases[part].astype(np.int32), np.ones(len(owners), dtype=np.int32)
        for members in self.members[start:stop].T:
            if members[0] < 0:
                break
            member = members[owners]
            times = np.repeat(sizes[member], lengths)
            lengths *= sizes[member]
            ends = np.cumsum(times, dtype=np.int32)
            state = np.arange(len(times) and ends[-1], dtype=np.int32) - np.repeat(
                ends - times, times
            )
            steps = np.repeat(self.layout.strides[families, member].astype(np.int32), lengths)
            cells = np.repeat(cells, times) + steps * state
        n = self.n_completions[start:stop]
        firsts = (np.cumsum(n) - n)[owners] - (np.cumsum(lengths) - lengths)
        rows = np.arange(len(cells), dtype=np.int32)
        rows += np.repeat(firsts.astype(np.int32), lengths)
        shape = (int(n.sum()), self.layout.n_cells)
        return Completions(sparse.csr_array((np.ones(len(cells)), (rows, cells)), shape), n)

    def covariances(self, logs: Floats, n: int) -> Floats:
        """Return the covariances of the counts of the first cells, over all components.

        Parameters
        ----------
        logs
            ``(cells,)``: the logarithm of each cell.
        n
            The number of cells.
        """
        from scipy import sparse

        covariances = np.zeros((n, n))
        for part, completions in self.completions():
            _, shares = completions.posterior(logs)
            counted = completions.matrix[:, :n]
            ends = np.cumsum(np.append(0, completions.sizes))
            means = sparse.csr_array((shares, np.arange(len(shares)), ends)) @ counted
            weights = self.weights[part]
            every = sparse.diags_array(shares * np.repeat(weights, completions.sizes))
            covariances += (counted.T @ every @ counted).toarray()
            covariances -= (means.T @ sparse.diags_array(weights) @ means).toarray()
        return covariances


class _MissingCells(NamedTuple):
    """The missing cells of all rows that matter, and the families that they are in."""

    rows: NDArray[np.intp]
    variables: NDArray[np.intp]
    labels: NDArray[np.intp]
    """The number of the component of each cell."""
    lasts: NDArray[np.intp]
    """For each row and family with such cells, the number of the last of them."""
    kinds: NDArray[np.intp]
    """For each of ``lasts``, what is seen of the family."""
    families: NDArray[np.intp]
    """``(kinds,)``: the family."""
    bases: NDArray[np.int64]
    """``(kinds,)``: the cell of the table with all missing cells in their first state."""

    @classmethod
    def of(
        cls, layout: Layout, states: NDArray[np.signedinteger[Any]], relevant: NDArray[np.bool_]
    ) -> _MissingCells:
        """Return those of a table of cases; families that are not expanded are left out."""
        from scipy import sparse

        rows, variables = np.nonzero((states == MISSING) & relevant)
        number = np.full(states.shape, -1)
        number[rows, variables] = np.arange(len(rows))
        lasts, kinds, edges, families, bases = [], [], [], [], []
        n_kinds = 0
        for family in np.flatnonzero(~layout.large).tolist():
            scope = list(layout.scopes[family])
            inside = number[:, scope]
            touched = np.flatnonzero(relevant[:, family] & (inside >= 0).any(axis=1))
            inside, seen = inside[touched], states[touched][:, scope].astype(np.int64)
            lasts.append(inside.max(axis=1, initial=-1))
            pairs = np.stack([inside, np.broadcast_to(lasts[-1][:, None], inside.shape)])
            edges.append(pairs[:, inside >= 0])
            sizes = [layout.network.variables[v].n_states + 1 for v in scope]
            found = distinct_rows(zip(seen.T + 1, sizes, strict=True), len(seen))
            kinds.append(found.kind + n_kinds)
            n_kinds += len(found.first)
            families.append(np.full(len(found.first), family))
            places = np.maximum(seen[found.first], 0)
            bases.append(layout.offsets[family] + places @ layout.strides[family, scope])
        ends = np.concatenate(edges, axis=1)
        graph = sparse.coo_array((np.ones(ends.shape[1]), tuple(ends)), (len(rows), len(rows)))
        labels = sparse.csgraph.connected_components(graph, directed=False)[1]
        rest = [np.concatenate(parts) for parts in (lasts, kinds, families, bases)]
        return cls(rows, variables, labels.astype(np.intp), *rest)


def _table(groups: NDArray[np.intp], values: NDArray[np.intp], n_groups: int) -> NDArray[np.intp]:
    """Return the values of each group in a row, filled up with -1."""
    order = np.argsort(groups, kind="stable")
    lengths = np.bincount(groups, minlength=n_groups)
    places = np.arange(len(groups)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    table = np.full((n_groups, int(lengths.max(initial=0))), -1)
    table[groups[order], places] = values[order]
    return table


def relevant_cells(layout: Layout, states: NDArray[np.signedinteger[Any]]) -> NDArray[np.bool_]:
    """Return which cells are observed or have observed descendants, ``(rows, variables)``."""
    relevant: NDArray[np.bool_] = np.asarray(states != MISSING)
    for child in reversed(range(states.shape[1])):
        for parent in layout.scopes[child][1:]:
            relevant[:, parent] |= relevant[:, child]
    return relevant


# --- The E-step by a junction tree, for cases with many missing cells that depend on each other ---
#
# The plan is compiled once, with the tables as inputs. Each step runs it for all cases, in batches.

_BATCH_CELLS = 2**22
"""The approximate limit of cells in the joints of a batch of cases."""


def table_input(name: str) -> str:
    """Return the name of the input that carries the table of a variable."""
    return f"the table of {name}"


def with_inputs(
    cpds: Sequence[CPD], given: Collection[str]
) -> tuple[FactorModel, dict[str, tuple[str, ...]]]:
    """Return a model with the tables of some variables as inputs of each run.

    Parameters
    ----------
    cpds
        The distributions of the model.
    given
        The variables whose tables are inputs.

    Returns
    -------
    model, inputs
        The model without these tables, and the scope of each input by its name.
    """
    rest = tuple([cpd for cpd in cpds if cpd.variable.name not in given])
    scopes = [cpd.scope for cpd in cpds if cpd.variable.name in given]
    ones = [Factor((v,), np.ones(v.n_states)) for v in dict.fromkeys(sum(scopes, ()))]
    inputs = {table_input(scope[0].name): tuple([v.name for v in scope]) for scope in scopes}
    return FactorModel((*rest, *ones)), inputs


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
        states = cases.states[rows].astype(np.intp)
        seen = np.any(states >= 0, axis=0).tolist()
        variables = layout.network.variables
        expanded = [v.name for v, large in zip(variables, layout.large, strict=True) if not large]
        model, inputs = with_inputs(layout.network.cpds, expanded)
        plan = compile_plan(
            model,
            soft=[v.name for v, some in zip(variables, seen, strict=True) if some],
            targets=[*inputs.values()],
            inputs=inputs,
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
        layout = self.layout
        variables, expanded = layout.network.variables, np.flatnonzero(~layout.large).tolist()
        inputs = {table_input(variables[f].name): layout.table(cells, f) for f in expanded}
        soft = {v.name for v in self.plan.soft}
        columns = {v.name: self.states[:, i] for i, v in enumerate(variables) if v.name in soft}
        total, step = 0.0, max(_BATCH_CELLS // len(cells), 1)
        for start in range(0, len(self.states), step):
            part = slice(start, start + step)
            batch = self.plan.run_batch(
                {name: column[part] for name, column in columns.items()},
                inputs,
                allow_impossible=True,
            )
            if len(batch.impossible):
                return total, int(self.rows[start + int(batch.impossible[0])])
            weights = self.weights[part]
            # The weight of a case is that of any cell that is not barren.
            total += float(weights.max(axis=1) @ batch.log_evidence)
            for family, joints in zip(expanded, batch.joints, strict=True):
                summed = np.tensordot(weights[:, family], joints, axes=1)
                layout.table(counts, family)[...] += summed
        return total, -1


SMALL = 2**12
"""The most completions of a component that are always listed."""

TOGETHER = 2**20
"""The most completions of all larger components together that are listed. If there are more, a
junction tree is faster."""

_FEW, _MOST = 2**20, 2**25
"""So many entries of the matrix of completions take a few milliseconds a step; and 400 MiB."""

_OF_TREE = 16
"""The entries that take as long as a junction tree takes for one case and one cell of the tables.

The two do not replace each other. For 2,000 cases and 15 % missing cells, a step with the matrix
takes 1/40 of the time of one by the tree on asia, 1/70 on alarm, 1/20 on hailfinder (without the
largest components, for which it is impossible), and 1/3 with 5 latent skills and 30 items. With 8
latent skills and 40 items, the tree takes 1/3 of the time of the matrix.
"""


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
        most = min(max(_OF_TREE * layout.n_cells * len(cases.states), _FEW), _MOST)
        while components.n_entries > most and small > 1:
            small //= 64
            components, large = Components.of(layout, cases, small=small, together=0)
        return cls(
            layout=layout,
            cases=cases,
            complete=_complete_counts(layout, cases, np.where(large, 0.0, cases.weights)),
            components=components,
            tree=TreeExpectation.of(layout, cases, large) if large.any() else None,
        )

    @property
    def is_complete(self) -> bool:
        """Whether nothing relevant is missing, so that the counts do not depend on the tables."""
        return not len(self.components) and self.tree is None

    def start_counts(self) -> Floats:
        """Return the counts of families without missing cells, of all cases, ``(cells,)``."""
        return _complete_counts(self.layout, self.cases, self.cases.weights)

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
            weights = self.components.weights
            completions = self._completions
            likelihoods, shares = completions.posterior(logs)
            wrong = np.flatnonzero(np.isnan(likelihoods))
            if wrong.size:
                raise self._impossible(int(self.components.rows[wrong[0]]))
            total += float(weights @ likelihoods)
            counts += self._transposed @ (shares * np.repeat(weights, completions.sizes))
        if self.tree is not None:
            likelihood, first = self.tree.add(cells, counts)
            if first >= 0:
                raise self._impossible(first)
            total += likelihood
        return Expected(total, counts)

    @cached_property
    def _completions(self) -> Completions:
        """The completions of all components."""
        from scipy import sparse

        parts = [completions for _, completions in self.components.completions()]
        matrix = sparse.vstack([one.matrix for one in parts], format="csr")
        return Completions(matrix, np.concatenate([one.sizes for one in parts]))

    @cached_property
    def _transposed(self) -> Any:
        """The transpose of the matrix of completions."""
        return self._completions.matrix.T

    def _row_with_zero(self, logs: Floats) -> int:
        """Return the first row with a family without missing cells that is impossible."""
        found = [len(self.cases.states)]
        for rows, cells in _complete_families(self.layout, self.cases):
            found += rows[np.isneginf(logs[cells])][:1].tolist()
        return min(found)

    def _impossible(self, row: int) -> ImpossibleEvidenceError:
        label = one_line(str(self.cases.labels[row]))
        states = self.cases.states[row].tolist()
        findings = {
            v.name: v.states[state]
            for v, state in zip(self.layout.network.variables, states, strict=True)
            if state >= 0
        }
        return ImpossibleEvidenceError(
            f"the case in row {label} is impossible under the tables that are fixed, the functions"
            " and the zeros of noisy nodes",
            findings,
        )


def _complete_families(
    layout: Layout, cases: DistinctCases
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.int64]]]:
    """Return the rows in which a family has no missing cells, and its cell in each."""
    for family in np.flatnonzero(~layout.large).tolist():
        scope = list(layout.scopes[family])
        states = cases.states[:, scope]
        rows = np.flatnonzero((states >= 0).all(axis=1))
        steps = layout.strides[family, scope]
        yield rows, layout.offsets[family] + states[rows].astype(np.int64) @ steps


def _complete_counts(layout: Layout, cases: DistinctCases, weights: Floats) -> Floats:
    """Return the counts of families without missing cells, with a weight for each row."""
    counts = np.zeros(layout.n_cells)
    for rows, cells in _complete_families(layout, cases):
        counts += np.bincount(cells, weights=weights[rows], minlength=layout.n_cells)
    return counts
