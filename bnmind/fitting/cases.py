"""Cases to learn from, of data frames and files, and networks with the states of their columns."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import one_line, shown, some_names
from bnmind._values import Sealed
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    TableError,
    UnknownNameError,
)
from bnmind.fitting.layout import check_cells
from bnmind.information import Floats
from bnmind.junction.cases.case_files import is_text, read_frame
from bnmind.junction.cases.tables import distinct_cases, frame_of, other_columns, read_table
from bnmind.junction.inference.evidence import is_missing
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable, format_label, format_name

if TYPE_CHECKING:
    import pandas


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
            As for `bnmind.junction.cases.tables.read_table`.

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
