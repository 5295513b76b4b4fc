r"""Cases to learn from, and the E-step: the expected counts of all families; standard errors.

Families without missing cells are counted once, before the first step. Cases whose missing cells
fall into small components are completed component by component; a circuit does the others,
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

Standard errors of learned tables come from the observed information on the free directions D,

.. math:: D^T \left(\mathrm{diag}(w / \theta^2) - \mathrm{diag}(1 / \theta)\,
    \partial w / \partial \theta\right) D,

where w(θ) is how often each parameter is expected in the completed cases. The first term is what
complete cases would tell; what the missing cells take away comes from differences of w.
For complete cases, it is zero, and the standard error of a probability is that of a multinomial
distribution, √(θ (1 − θ) / n). Pseudo-counts of the prior count as cases.

References
----------
R. Shachter, "Bayes-ball", UAI 1998 (which variables a query needs); T. Louis, "Finding the observed
information matrix when using the EM algorithm", J. R. Stat. Soc. B 1982; D. Oakes, "Direct
calculation of the information matrix via the EM algorithm", J. R. Stat. Soc. B 1999 (the formula of
standard errors).
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import format_bytes, one_line, shown, some_names
from bnmind._values import Sealed, sealed
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    TableError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.fitting.layout import Layout, check_cells
from bnmind.information import Floats
from bnmind.junction.case_files import is_text, read_frame
from bnmind.junction.case_tables import (
    MISSING,
    distinct_cases,
    frame_of,
    other_columns,
    read_table,
)
from bnmind.junction.circuit import Circuit
from bnmind.junction.evidence import is_missing
from bnmind.junction.plan import compile_plan
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable, format_label, format_name

if TYPE_CHECKING:
    import pandas

# --- Cases to learn from, and networks with the states of their columns ---------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class DistinctCases(Sealed):
    """The distinct cases, as state positions."""

    states: NDArray[np.signedinteger[Any]]
    """``(rows, variables)`` in the order of the network; -1 for missing cells."""
    weights: Floats
    """``(rows,)``: how many cases there are of each row."""
    labels: NDArray[Any]
    """``(rows,)``: the label of the first case of each row."""
    ignored: tuple[str, ...] = ()
    """The columns that are no variables of the network."""

    @classmethod
    def of(
        cls, network: Network, cases: Any, hidden: Iterable[str] = (), *, as_text: bool = False
    ) -> DistinctCases:
        """Read cases.

        Parameters
        ----------
        network
            The variables.
        cases
            A data frame, or a mapping from names to columns of states.
        hidden
            The variables that may have no column, and are missing in all cases then.
        as_text
            As for `bnmind.junction.case_tables.read_table`.

        Raises
        ------
        TableError
            If a column is missing, a state is unknown, or there are no cases. The error lists the
            faults, with row and column.
        """
        frame = frame_of(cases)
        without = frozenset(hidden)
        known = {v.name: v for v in network.variables}
        named = {format_label(label) for label in frame.columns}
        problems = [
            str(UnknownNameError("hidden variable", name, known))
            for name in sorted(without - set(known))
        ]
        if absent := [name for name in known if name not in named | without]:
            problems.append(_without_column(absent) + other_columns(frame.columns, known, absent))
        if not len(frame):
            problems.append("expected at least one case, got none")
        if problems and named.isdisjoint(known):
            raise TableError(problems)
        try:
            table = read_table(network.variables, frame, as_text=as_text)
        except TableError as fault:
            count = len(problems) + fault.count
            raise TableError([*problems, *fault.problems], count=count) from None
        if problems:
            raise TableError(problems)
        distinct = cls.of_positions(table.states(slice(None)).T)
        ignored = tuple(format_label(label) for label in table.unused)
        return replace(distinct, ignored=ignored, labels=np.asarray(frame.index)[distinct.labels])

    @classmethod
    def of_positions(cls, table: NDArray[np.signedinteger[Any]]) -> DistinctCases:
        """Return the distinct rows of a table ``(cases, variables)`` of state positions."""
        kind = np.min_scalar_type(-1 - int(table.max(initial=0)))
        distinct = distinct_cases(table.T)
        return cls(
            states=np.ascontiguousarray(table[distinct.first], dtype=kind),
            weights=np.bincount(distinct.kind).astype(np.float64),
            labels=distinct.first,
        )

    @property
    def n_cases(self) -> int:
        """The number of cases."""
        return int(self.weights.sum())

    def findings(self, network: Network, row: int) -> dict[str, str]:
        """Return the observed states of a row."""
        pairs = zip(network.variables, self.states[row].tolist(), strict=True)
        return {v.name: v.states[state] for v, state in pairs if state >= 0}

    def impossible(self, network: Network, row: int) -> ImpossibleEvidenceError:
        """Return the error of an impossible row."""
        return ImpossibleEvidenceError(
            f"the case in row {one_line(str(self.labels[row]))} is impossible under the tables that"
            " are fixed, the functions and the zeros of noisy nodes",
            self.findings(network, row),
        )


def _without_column(absent: Sequence[str]) -> str:
    """Return the fault of variables without a column."""
    which = "it as hidden if it is" if len(absent) == 1 else "as hidden those that are"
    hidden = f" (--hidden {','.join(map(one_line, absent))})" if len(absent) <= 3 else ""
    return f"{missing_columns(absent)}; name {which} never observed{hidden}"


def missing_columns(absent: Sequence[str]) -> str:
    """Return a sentence about variables without a column, with the first names.

    >>> missing_columns(["a", "b"])
    'expected a column for each variable in the cases, got none for 2 of them: a, b'
    """
    if len(absent) == 1:
        return f"expected a column {one_line(absent[0])} in the cases, got none"
    return (
        f"expected a column for each variable in the cases, got none for {len(absent):,} of them:"
        f" {some_names(absent)}"
    )


def read_cases_for(
    network: Network, path: str | os.PathLike[str], hidden: Iterable[str] = ()
) -> DistinctCases:
    """Return the cases in a file, to learn from.

    Parameters
    ----------
    network
        The variables.
    path
        A Parquet file (``.parquet``), or a text file (``.csv``, ``.csv.gz``, ``.tsv`` or ``.txt``)
        with the names of the columns in the first line, and cells that commas, semicolons or tabs
        separate. In text, empty cells are missing, and so are texts such as ``NA``
        or ``?`` unless they are states. The first sheet of an Excel workbook (``.xlsx``) is read as
        if it were saved as CSV.
    hidden
        The variables that may have no column.

    Raises
    ------
    ModelFileError
        If the file cannot be read, its name has another suffix, or rows of a CSV file have more
        cells than its first line, or openpyxl is needed for a workbook and is not installed.
    TableError
        If two columns have the same name, or the cases do not fit the network. The error names the
        rows: in a CSV file or a workbook, the header is row 1; in a Parquet file, the first case
        is row 1.
    MissingLibraryError
        If the file is Parquet and pyarrow is not installed.
    """
    return DistinctCases.of(network, read_frame(path), hidden, as_text=is_text(path))


# --- Networks whose states are those of the columns -----------------------------------------------

_MOST_FRACTIONS = 20
"""More different fractions in a column, which are more than half of its observed cells, are
measurements, and no states."""

_ADVICE = "; give hidden variables fewer states"


@checked
def network_of_structure(
    structure: Any, cases: Any, hidden: Mapping[str, int | Sequence[Any]] | None = None
) -> Network:
    """Return a network with uniform tables, whose states are those of the cases.

    Parameters
    ----------
    structure
        Pairs (parent, child), or a graph with ``nodes()`` and ``edges()``: a `networkx.DiGraph`, or
        a DAG or a network of pgmpy. Isolated nodes of a graph are kept.
    cases
        A data frame, or a mapping from names to columns of states. The states of a categorical
        column are its categories in their order; those of other columns are sorted.
    hidden
        The variables without a column, with their number of states or the names of the states.

    Raises
    ------
    InvalidModelError
        If a variable has no column and is not hidden, a column has no states, there is a cycle, or
        the structure is none. The error lists all faults.
    TooLargeError
        If the tables have too many cells.

    Examples
    --------
    >>> cases = {"rain": ["no", "yes", "no"], "wet": ["no", "yes", None]}
    >>> network_of_structure([("rain", "wet")], cases).cpd("wet").values.tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    nodes, edges = _nodes_and_edges(structure)
    frame = frame_of(cases)
    columns = {format_label(label): frame.iloc[:, at] for at, label in enumerate(frame.columns)}
    known = dict(hidden or {})
    problems = [
        f"the hidden variable {name} is not in the structure" for name in known if name not in nodes
    ]
    variables: dict[str, Variable] = {}
    absent = [name for name in nodes if name not in known and name not in columns]
    if absent:
        which = "a hidden variable" if len(absent) == 1 else "hidden variables"
        problems.append(
            f"{missing_columns(absent)}; give the states of {which} as"
            f" hidden={{{absent[0]!r}: 2}}{other_columns(columns, nodes, absent)}"
        )
    for name in (name for name in nodes if name not in absent):
        try:
            variables[name] = _variable(name, columns, known)
        except (InvalidModelError, InvalidArgumentError) as fault:
            problems.append(str(fault))
    if problems:
        raise InvalidModelError(problems)
    scopes = [
        (variable, *(variables[a] for a, b in edges if b == name))
        for name, variable in variables.items()
    ]
    shapes = [tuple(v.n_states for v in scope) for scope in scopes]
    check_cells(sum(map(math.prod, shapes)), _ADVICE)
    return Network(
        tuple(
            TabularCPD(scope[0], scope[1:], np.full(shape, 1 / shape[0]))
            for scope, shape in zip(scopes, shapes, strict=True)
        )
    )


def _nodes_and_edges(structure: Any) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the names of the nodes, and the distinct edges."""
    nodes: list[Any] = []
    if callable(getattr(structure, "nodes", None)) and callable(getattr(structure, "edges", None)):
        nodes, given = list(structure.nodes()), list(structure.edges())
    elif isinstance(structure, Iterable) and not isinstance(structure, str | bytes | Mapping):
        given = list(structure)
    else:
        given = [structure]
    wrong: list[Any] = [edge for edge in given if not _is_pair(edge)]
    nodes += [name for edge in given if _is_pair(edge) for name in edge]
    wrong += [name for name in nodes if not isinstance(format_name(name), str)]
    if wrong or not nodes:
        raise InvalidArgumentError(
            "expected a Network, a graph, or a structure as pairs (parent, child) of names, such as"
            f" [('rain', 'wet')]; got {shown(wrong[0] if wrong else structure)}",
            structure,
        )
    edges = [(format_name(edge[0]), format_name(edge[1])) for edge in given]
    return list(dict.fromkeys(map(format_name, nodes))), list(dict.fromkeys(edges))


def _is_pair(edge: Any) -> bool:
    return isinstance(edge, tuple | list) and len(edge) == 2


def _variable(name: str, columns: Mapping[str, Any], hidden: Mapping[str, Any]) -> Variable:
    """Return a variable with the states that it was given, or those in its column."""
    if name in hidden:
        given = hidden[name]
        is_number = isinstance(given, Integral)
        if not is_number and len(given):
            return Variable(name, given)
        if not is_number or given < 1:
            raise InvalidModelError(
                f"the hidden variable {name!r} needs states; give the number of its states, such"
                f" as hidden={{{name!r}: 2}}"
            )
        check_cells(given, _ADVICE)
        return Variable.of_integers(name, range(given))
    column = columns[name]
    states = column_states(column)
    if not states:
        raise InvalidModelError(
            f"the column {name} has no observed cell; give the states as categories, such as"
            " pandas.Categorical(column, ['no', 'yes'])"
        )
    observed = int(column.notna().sum())
    if (
        not hasattr(column, "cat")
        and any(isinstance(state, float) and not state.is_integer() for state in states)
        and len(states) > max(_MOST_FRACTIONS, observed / 2)
    ):
        raise InvalidModelError(
            f"the column {name} has {len(states):,} different values in {observed:,} cases; put"
            f" them into classes first, such as pandas.cut(cases[{name!r}], 2, labels=['low',"
            " 'high']), or make the column categorical if they are states"
        )
    return Variable(name, tuple(states))


def column_states(column: pandas.Series[Any]) -> list[Any]:
    """Return the distinct states of a column: categories in their order, other values sorted.

    >>> import pandas
    >>> column_states(pandas.Series(["yes", None, "no"])), column_states(pandas.Series([10, 9.0]))
    (['no', 'yes'], [9, 10])
    """
    if hasattr(column, "cat"):
        return list(column.cat.categories)
    values = column.tolist()
    faulty = [value for value in values if not isinstance(value, Hashable)]
    if faulty:
        raise InvalidArgumentError(f"expected states in a column, got {shown(faulty[0])}", faulty)
    found = [value for value in dict.fromkeys(values) if not is_missing(value)]
    whole = all(isinstance(value, int | float) for value in found)
    if whole:
        # A column of whole numbers with missing cells holds floating-point numbers.
        found = [int(v) if isinstance(v, float) and v.is_integer() else v for v in found]
    return sorted(found) if whole else sorted(found, key=str)


# --- The E-step -----------------------------------------------------------------------------------

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
    """``(components, most members)``: the variables, then -1. Components of fewer members come
    first."""
    rows: NDArray[np.intp]
    """``(components,)``: a row of the table of cases that contains it."""
    weights: Floats
    """``(components,)``: the number of cases with the component."""
    owners: NDArray[np.intp]
    """For each family of each component, the component; ascending."""
    families: NDArray[np.intp]
    """For each of ``owners``, the family."""
    bases: NDArray[np.int64]
    """For each of ``owners``, the cell of the table with all members in their first state."""

    def __len__(self) -> int:
        return len(self.weights)

    @classmethod
    def of(
        cls, layout: Layout, cases: DistinctCases, *, most: int, few: int = 0
    ) -> tuple[Components, NDArray[np.bool_]]:
        """Return the components of some cases.

        Parameters
        ----------
        layout
            The families.
        cases
            The cases.
        most
            The most entries of a component in the matrix of completions.
        few
            If the components of all cases together have no more entries, all are returned.

        Returns
        -------
        tuple
            The components of all other cases; and ``(rows,)``, the cases with a larger component,
            or with a family that is not expanded.
        """
        from scipy import sparse

        states, relevant = cases.states, relevant_cells(layout, cases.states)
        rows, variables = np.nonzero((states == MISSING) & relevant)
        number = np.full(states.shape, -1)
        number[rows, variables] = np.arange(len(rows))
        # For each family with missing cells in a row, the last of them, and its place in the table.
        lasts, families, bases, edges = [], [], [], []
        for family in np.flatnonzero(~layout.large).tolist():
            scope = list(layout.scopes[family])
            touched = np.flatnonzero(relevant[:, family] & (number[:, scope] >= 0).any(axis=1))
            inside = number[touched][:, scope]
            lasts.append(inside.max(axis=1, initial=-1))
            edges.append(np.stack([inside, np.broadcast_to(lasts[-1][:, None], inside.shape)]))
            edges[-1] = edges[-1][:, inside >= 0]
            families.append(np.full(len(touched), family))
            seen = np.maximum(states[touched][:, scope].astype(np.int64), 0)
            bases.append(layout.offsets[family] + seen @ layout.strides[family, scope])
        ends = np.concatenate(edges, axis=1)
        graph = sparse.coo_array((np.ones(ends.shape[1]), tuple(ends)), (len(rows), len(rows)))
        labels = sparse.csgraph.connected_components(graph, directed=False)[1]
        sizes = np.log2([v.n_states for v in layout.network.variables])
        log_sizes = np.bincount(labels, weights=sizes[variables])
        of_row = np.zeros(len(log_sizes), dtype=np.intp)
        of_row[labels] = rows
        large: NDArray[np.bool_] = np.asarray(relevant[:, layout.large].any(axis=1))
        n_families = np.bincount(labels[np.concatenate(lasts)], minlength=len(log_sizes))
        entries = n_families * np.exp2(np.minimum(log_sizes, 99.0))
        if entries.sum() > few:
            large[of_row[entries > most]] = True
        # The components that stay are numbered anew.
        order = np.argsort(np.bincount(labels), kind="stable")
        order = order[~large[of_row[order]]]
        component = np.full(len(log_sizes), -1)
        component[order] = np.arange(len(order))
        owners = component[labels[np.concatenate(lasts)]]
        tables = [
            _table(groups, values, len(order))
            for groups, values in (
                (component[labels], variables),
                (owners, np.concatenate(families)),
                (owners, np.concatenate(bases)),
            )
        ]
        distinct = distinct_cases(np.concatenate(tables, axis=1).T)
        members, of_families, of_bases = [table[distinct.first] for table in tables]
        owners, places = np.nonzero(of_families >= 0)
        weights = np.bincount(distinct.kind, cases.weights[of_row[order]])
        return cls(
            layout=layout,
            members=members,
            rows=of_row[order][distinct.first],
            weights=weights.astype(np.float64),
            owners=owners,
            families=of_families[owners, places],
            bases=of_bases[owners, places],
        ), large

    @cached_property
    def sizes(self) -> NDArray[np.int32]:
        """``(components, most members)``: the numbers of states; 1 for -1."""
        sizes = np.array([*(v.n_states for v in self.layout.network.variables), 1])
        return sealed(sizes[self.members].astype(np.int32))

    @cached_property
    def n_completions(self) -> NDArray[np.int64]:
        """``(components,)``: the number of completions."""
        return sealed(self.sizes.prod(axis=1, dtype=np.int64))

    @cached_property
    def n_entries(self) -> int:
        """The number of entries of the matrix of all completions."""
        return int(self.n_completions[self.owners].sum())

    def completions(self) -> Iterator[tuple[slice, Completions]]:
        """Return the completions of some components after the other."""
        if not len(self):
            return
        entries = np.bincount(self.owners, weights=self.n_completions[self.owners])
        chunk = (np.cumsum(entries) - entries) // _CHUNK
        ends = np.flatnonzero(np.diff(chunk, append=np.inf)) + 1
        for start, stop in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            yield slice(start, stop), self._completions(start, stop)

    def _completions(self, start: int, stop: int) -> Completions:
        from scipy import sparse

        part = slice(*np.searchsorted(self.owners, (start, stop)).tolist())
        owners, families = self.owners[part], self.families[part]
        n = self.n_completions[start:stop]
        # The cells of each family, whose number grows with each member by the factor of its states.
        cells, lengths = self.bases[part].astype(np.int32), np.ones(len(owners), dtype=np.int32)
        for members, sizes in zip(self.members.T, self.sizes.T, strict=True):
            if members[stop - 1] < 0:
                break
            times = np.repeat(sizes[owners], lengths)
            lengths *= sizes[owners]
            ends = np.cumsum(times, dtype=np.int32)
            state = np.arange(ends[-1], dtype=np.int32) - np.repeat(ends - times, times)
            steps = self.layout.strides[families, members[owners]].astype(np.int32)
            cells = np.repeat(cells, times) + np.repeat(steps, lengths) * state
        before = (np.cumsum(n) - n)[owners - start] - (np.cumsum(lengths) - lengths)
        rows = np.arange(len(cells), dtype=np.int32) + np.repeat(before.astype(np.int32), lengths)
        shape = (int(n.sum()), self.layout.n_cells)
        return Completions(sparse.csr_array((np.ones(len(cells)), (rows, cells)), shape), n)


def _table(groups: NDArray[np.intp], values: NDArray[np.intp], n_groups: int) -> NDArray[np.intp]:
    """Return the values of each group in a row, filled up with -1; the group -1 is left out."""
    groups, values = groups[groups >= 0], values[groups >= 0]
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


# --- The E-step -----------------------------------------------------------------------------------

_LEAST = 1e-250
"""Smaller probabilities count as zero in a circuit, whose numbers must not be too far apart."""

_OF_CASE = 2**13
"""So many entries of the matrix of completions take as long as a circuit takes for a case.

A step with the matrix takes 1/10 of the time of one by a circuit for 2,000 cases of alarm with 20 %
missing cells, and 1/75 for one latent class with 100 items. With 8 latent skills and 40 items, the
two take the same.
"""

_FEW, _MOST = 2**22, 2**25
"""So many entries take 8 milliseconds a step; and 400 MiB."""


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
    circuit: Circuit | None
    """The network as a circuit, for cases with larger components; None if there are none."""
    others: NDArray[np.intp]
    """The rows of these cases."""

    @classmethod
    def of(cls, layout: Layout, cases: DistinctCases) -> Expectation:
        """Prepare the E-step.

        Raises
        ------
        TooLargeError
            If a circuit for the cases with larger components is too large.
        """
        most = _OF_CASE
        components, large = Components.of(layout, cases, most=most, few=_FEW)
        while components.n_entries > _MOST and most:
            most //= 16
            components, large = Components.of(layout, cases, most=most)
        return cls(
            layout=layout,
            cases=cases,
            complete=_complete_counts(layout, cases, np.where(large, 0.0, cases.weights)),
            components=components,
            circuit=_circuit_of(layout) if large.any() else None,
            others=np.flatnonzero(large),
        )

    @property
    def is_complete(self) -> bool:
        """Whether nothing relevant is missing, so that the counts do not depend on the tables."""
        return not len(self.components) and self.circuit is None

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
        network, components = self.layout.network, self.components
        with np.errstate(divide="ignore"):
            logs = np.log(cells)
        counted = self.complete > 0
        if np.isneginf(logs[counted]).any():
            raise self.cases.impossible(network, self._row_with_zero(logs))
        total = float(self.complete[counted] @ logs[counted])
        counts = self.complete.copy()
        for part, completions in self._completions:
            weights, (likelihoods, shares) = components.weights[part], completions.posterior(logs)
            wrong = np.flatnonzero(np.isnan(likelihoods))
            if wrong.size:
                raise self.cases.impossible(network, int(components.rows[part][wrong[0]]))
            total += float((weights * likelihoods).sum())
            counts += completions.matrix.T @ (shares * np.repeat(weights, completions.sizes))
        if self.circuit is not None:
            total += self._add_others(self.circuit, cells, counts)
        return Expected(total, counts)

    @cached_property
    def _completions(self) -> list[tuple[slice, Completions]]:
        return list(self.components.completions())

    def _add_others(self, circuit: Circuit, cells: Floats, counts: Floats) -> float:
        """Add the expected counts of cases by a circuit; return their log-likelihood."""
        layout, weights = self.layout, self.cases.weights[self.others]
        kept = np.where(cells < _LEAST, 0.0, cells)
        tables = [
            None if is_large else layout.table(kept, family)
            for family, is_large in enumerate(layout.large.tolist())
        ]
        states = self.cases.states[self.others]
        partials, answers = circuit.with_tables(tables).gradient(states, weights, barren=False)
        for family, (table, partial) in enumerate(zip(tables, partials, strict=True)):
            if table is not None and partial is not None:
                layout.table(counts, family)[...] += table * partial
        logs = answers.log_evidence
        for place in np.flatnonzero(np.isneginf(logs)).tolist():
            logs[place] = self._add_case(layout.expanded(cells), int(self.others[place]), counts)
        return float(weights @ logs)

    def _add_case(self, network: Network, row: int, counts: Floats) -> float:
        """Add the expected counts of a case by a plan; return its log-likelihood."""
        layout, cases = self.layout, self.cases
        relevant = relevant_cells(layout, cases.states[row : row + 1])[0]
        families = np.flatnonzero(relevant & ~layout.large).tolist()
        findings = cases.findings(network, row)
        scopes = [[v.name for v in network.cpds[family].scope] for family in families]
        try:
            posterior = compile_plan(network, evidence=[*findings], targets=scopes).run(findings)
        except ImpossibleEvidenceError:
            raise cases.impossible(network, row) from None
        for family, joint in zip(families, posterior.joints, strict=True):
            layout.table(counts, family)[...] += cases.weights[row] * np.real(joint)
        return posterior.log_evidence

    def _row_with_zero(self, logs: Floats) -> int:
        """Return the first row with a family without missing cells that is impossible."""
        found = [len(self.cases.states)]
        for rows, cells in _complete_families(self.layout, self.cases):
            found += rows[np.isneginf(logs[cells])][:1].tolist()
        return min(found)


def _circuit_of(layout: Layout) -> Circuit:
    try:
        return Circuit.of(layout.expanded(layout.cells(layout.uniform)))
    except TooLargeError as fault:
        raise TooLargeError(
            "too many missing cells depend on each other: a circuit that completes them would take"
            f" about {format_bytes(fault.needed)}, allowed are {format_bytes(fault.budget)}",
            needed=fault.needed,
            budget=fault.budget,
        ) from fault


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


# --- Standard errors of learned tables, from the observed information -----------------------------
#
# A direction raises one parameter, and lowers the largest one of the same distribution. The table
# of a noisy node is linear in each link, so differences over any step are derivatives, up to
# rounding.

MOST_CELLS = 5000
"""The most cells of learned tables whose covariances are computed."""

_STEP = 3e-4
"""The step of differences of expected counts, relative to the parameters that it changes: a smaller
one loses digits to rounding, and a larger one to curvature."""

_FLAT = 1e-9
"""Directions with less than this share of the largest information count as having none."""

_EDGE = 1e-6
"""Probabilities this close to 0 or 1 have no standard error: they are at the bound."""

_LARGEST = 0.5
"""No probability is more uncertain than this; a larger error means that the cases tell nothing."""

_RARE = 1e-3
"""Distributions with fewer expected cases have no standard errors."""


def standard_errors(expectation: Expectation, parameters: Floats) -> dict[str, Floats]:
    """Return the standard errors of learned tables; see `bnmind.fitting.Fit.standard_errors`."""
    layout = expectation.layout
    n = layout.n_free_cells + sum(block.cpd.n_cells for block in layout.noisy)
    TooLargeError.check(
        f"expected at most {MOST_CELLS:,} cells of learned tables for standard errors, got {n:,};"
        " name tables in fixed",
        needed=n,
        budget=MOST_CELLS,
    )
    cells = layout.cells(parameters)
    theta, expected = cells[:n], layout.expected(parameters, expectation.at(cells).counts)
    directions = _directions(layout, parameters, expected)
    slopes, changes = np.zeros((n, len(directions))), np.zeros_like(directions)
    for number, direction in enumerate(directions):
        step = parameters[direction < 0][0] / 2
        slopes[:, number] = (layout.cells(parameters + step * direction)[:n] - theta) / step
        step = _STEP * parameters[direction != 0].min()
        for side in (step, -step):  # from both sides, so that the error is of second order
            near = parameters + side * direction
            counts = expectation.at(layout.cells(near)).counts
            changes[number] += layout.expected(near, counts) / (2 * side)
    moved = (directions != 0).any(axis=0)  # the others may be too small to be squared
    inverses = np.divide(1.0, parameters, out=np.zeros_like(parameters), where=moved)
    information = directions * expected * inverses**2 - changes * inverses
    covariance = inverse_information(information @ directions.T)
    # nan times zero is nan: parameters that are not identified count as zero, and are marked.
    lost = np.isnan(np.diag(covariance))
    variances = np.einsum("ij,jk,ik->i", slopes, np.nan_to_num(covariance), slopes, optimize=True)
    moving, inner = np.abs(slopes) > 0, (theta > _EDGE) & (theta < 1 - _EDGE)
    known = inner & moving.any(axis=1) & ~moving[:, lost].any(axis=1)
    errors = np.full(layout.n_cells, np.nan)
    errors[:n][known] = np.sqrt(np.maximum(variances[known], 0.0))
    errors[errors > _LARGEST] = np.nan
    return {
        cpd.variable.name: (
            layout.table(errors, family).copy()
            if layout.free[family]
            else np.full([v.n_states for v in cpd.scope], np.nan)
        )
        for family, cpd in enumerate(layout.network.cpds)
        if not layout.large[family]
    }


def inverse_information(information: Floats) -> Floats:
    """Return the covariance matrix of parameters, with nan for those that are not identified.

    Examples
    --------
    >>> inverse_information(np.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.25, nan], [nan, nan]]
    """
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    kept = values > _FLAT * max(float(values.max(initial=0.0)), math.ulp(0.0))
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T
    lost = (vectors[:, ~kept] ** 2).sum(axis=1) > 1e-6
    inverse[lost, :] = np.nan
    inverse[:, lost] = np.nan
    covariance: Floats = inverse / np.outer(scale, scale)
    return covariance


def _directions(layout: Layout, parameters: Floats, expected: Floats) -> Floats:
    """Return the free directions, ``(directions, parameters)``."""
    columns = layout.columns
    free = (parameters > _EDGE) & (parameters < 1 - _EDGE)
    free &= np.bincount(columns, weights=expected)[columns] > _RARE
    order = np.flatnonzero(free)
    order = order[np.lexsort((-parameters[order], columns[order]))]
    is_largest = np.diff(columns[order], prepend=-1) > 0
    raised = order[~is_largest]
    directions = np.zeros((len(raised), len(parameters)))
    numbers = np.arange(len(raised))
    directions[numbers, raised] = 1.0
    directions[numbers, order[is_largest][np.cumsum(is_largest) - 1][~is_largest]] = -1.0
    return directions
