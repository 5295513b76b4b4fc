"""Networks with uniform tables, from a structure and the states in the cases."""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import many, shown
from bnmind.errors import InvalidArgumentError, InvalidModelError, TooLargeError
from bnmind.fitting.cases import missing_columns, other_columns
from bnmind.fitting.layout import MOST_CELLS
from bnmind.junction.cases.tables import frame_of
from bnmind.junction.inference.evidence import is_missing
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable, label_text, name_text

__all__ = ["column_states", "network_of_structure", "state_number"]

_MOST_FRACTIONS = 20
"""More different fractions in a column are hardly states, if most cells have their own value."""


@checked
def network_of_structure(
    structure: Any,
    cases: Any,
    hidden: Mapping[str, int | Sequence[Any]] | None = None,
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
    columns = {label_text(label): frame.iloc[:, at] for at, label in enumerate(frame.columns)}
    known = dict(hidden or {})
    problems = [
        f"the hidden variable {name} is not in the structure" for name in known if name not in nodes
    ]
    variables: dict[str, Variable] = {}
    absent = [name for name in nodes if name not in known and name not in columns]
    if len(absent) > 1:
        problems.append(
            f"{missing_columns(absent)}; give the states of hidden variables as"
            f" hidden={{{absent[0]!r}: 2}}{other_columns(columns, nodes, absent)}"
        )
    told = set(absent) if len(absent) > 1 else set()
    for name in (name for name in nodes if name not in told):
        try:
            variables[name] = _variable(name, columns, known, nodes)
        except (InvalidModelError, InvalidArgumentError) as fault:
            problems.append(str(fault))
    if problems:
        raise InvalidModelError(problems)
    scopes = [
        (variable, *(variables[a] for a, b in edges if b == name))
        for name, variable in variables.items()
    ]
    shapes = [tuple(v.n_states for v in scope) for scope in scopes]
    _check_cells(sum(map(math.prod, shapes)))
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
    wrong += [name for name in nodes if not isinstance(name_text(name), str)]
    if wrong or not nodes:
        raise InvalidArgumentError(
            "expected a Network, a graph, or a structure as pairs (parent, child) of names, such as"
            f" [('rain', 'wet')]; got {shown(wrong[0] if wrong else structure)}",
            structure,
        )
    edges = [(name_text(edge[0]), name_text(edge[1])) for edge in given]
    return list(dict.fromkeys(map(name_text, nodes))), list(dict.fromkeys(edges))


def _is_pair(edge: Any) -> bool:
    return isinstance(edge, tuple | list) and len(edge) == 2


def _variable(
    name: str, columns: Mapping[str, Any], hidden: Mapping[str, Any], nodes: Sequence[str]
) -> Variable:
    """Return a variable with the states that it was given, or those in its column."""
    if name in hidden:
        given: Any = hidden[name]
        number = state_number(given)
        is_empty = isinstance(given, Sequence) and not given
        if number is None and not is_empty:
            return Variable(name, given)
        if number is None or number < 1:
            raise InvalidModelError(
                [
                    f"the hidden variable {name!r} needs states; give the number of its states,"
                    f" such as hidden={{{name!r}: 2}}"
                ]
            )
        _check_cells(number)
        return Variable.of_integers(name, range(number))
    if name not in columns:
        problem = (
            f"expected a column {name} in the cases, got none; give the states of a hidden variable"
            f" as hidden={{{name!r}: 2}}{other_columns(columns, nodes, [name])}"
        )
        raise InvalidModelError([problem])
    states = column_states(columns[name])
    if not states:
        raise InvalidModelError(
            [
                f"the column {name} has no observed cell; give the states as categories, such as"
                " pandas.Categorical(column, ['no', 'yes'])"
            ]
        )
    if fault := _fault_of_measurements(name, states, columns[name]):
        raise InvalidModelError([fault])
    return Variable(name, tuple(states))


def _fault_of_measurements(name: str, states: Sequence[Any], column: Any) -> str:
    """Return the fault of a column that holds measurements, not states; empty if there is none.

    Such a column has fractions, and more than `_MOST_FRACTIONS` different values, which are more
    than half of its observed cells.
    """
    if hasattr(column, "cat") or len(states) <= _MOST_FRACTIONS:
        return ""
    if not any(isinstance(state, float) and not state.is_integer() for state in states):
        return ""
    observed = int(column.notna().sum())
    if 2 * len(states) <= observed:
        return ""
    return (
        f"the column {name} has {len(states):,} different values in {observed:,} cases; put them"
        f" into classes first, such as pandas.cut(cases[{name!r}], 2, labels=['low', 'high']), or"
        " make the column categorical if they are states"
    )


def state_number(states: Any) -> int | None:
    """Return a number of states as an integer; None if the states are given otherwise.

    >>> state_number(np.int64(2)), state_number(("no", "yes")), state_number(True)
    (2, None, None)
    """
    if isinstance(states, bool | np.bool_):
        return None
    try:
        return operator.index(states)
    except TypeError:
        return None


def _check_cells(cells: int) -> None:
    if cells > MOST_CELLS:
        raise TooLargeError(
            f"expected tables of at most {MOST_CELLS:,} cells together, got {many(cells)}; give"
            " hidden variables fewer states",
            needed=cells,
            budget=MOST_CELLS,
        )


def column_states(column: Any) -> list[Any]:
    """Return the distinct states of a column: categories in their order, other values sorted.

    >>> column_states(["yes", None, "no", "yes"]), column_states([10, 9, float("nan")])
    (['no', 'yes'], [9, 10])
    """
    categories = getattr(getattr(column, "cat", None), "categories", None)
    if categories is not None:
        return list(categories)
    values = column.tolist() if hasattr(column, "tolist") else list(column)
    faulty = [value for value in values if not isinstance(value, Hashable)]
    if faulty:
        raise InvalidArgumentError(f"expected states in a column, got {shown(faulty[0])}", faulty)
    found = [value for value in dict.fromkeys(values) if not is_missing(value)]
    whole = all(isinstance(value, int | float) for value in found)
    if whole:
        # A column of whole numbers with missing cells holds floating-point numbers.
        found = [int(v) if isinstance(v, float) and v.is_integer() else v for v in found]
    return sorted(found) if whole else sorted(found, key=str)
