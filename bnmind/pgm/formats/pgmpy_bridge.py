"""Conversion from and to pgmpy.

pgmpy takes seconds to import, and it warns and logs. This is the only module that imports it, when
it is first needed, and without its warnings.

pgmpy accepts tables whose columns do not sum to one (its own check passes 1.009), and it identifies
variables by strings that every table repeats. This module therefore checks all models from pgmpy.
"""

from __future__ import annotations

import importlib
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from bnmind._arguments import checked
from bnmind.errors import InvalidModelError, MissingLibraryError
from bnmind.pgm.formats.declared import Reading
from bnmind.pgm.formats.model_format import check_tables_fit
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import DEFAULT_CELLS, TabularCPD
from bnmind.pgm.variable import Variable


@contextmanager
def quiet_pgmpy() -> Iterator[None]:
    """Silence pgmpy's warnings and its logger within a ``with`` block."""
    logger = logging.getLogger("pgmpy")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def pgmpy_object(module: str, name: str) -> Any:
    """Return an object of pgmpy, imported without warnings.

    Parameters
    ----------
    module
        The module, such as ``pgmpy.models``.
    name
        The name of the object in it.

    Raises
    ------
    MissingLibraryError
        If pgmpy is missing, broken, or a version without the object.

    Examples
    --------
    >>> pgmpy_object("pgmpy.readwrite", "BIFReader").__name__
    'BIFReader'
    """
    try:
        with quiet_pgmpy():
            return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as fault:
        raise MissingLibraryError(
            f"pgmpy 1.1.2 or later must be installed, with {module}.{name}: {fault}", "pgmpy"
        ) from fault


@checked
def to_pgmpy(network: Network, *, max_cells: int = DEFAULT_CELLS) -> Any:
    """Return the network as a pgmpy ``DiscreteBayesianNetwork``.

    Parameters
    ----------
    network
        Functions in it are expanded to tables.
    max_cells
        Cells that the largest table may have.

    Raises
    ------
    TooLargeError
        If the largest table has more cells; it is named, and nothing is allocated.
    """
    check_tables_fit(network.cpds, max_cells=max_cells)
    model_type = pgmpy_object("pgmpy.models", "DiscreteBayesianNetwork")
    with quiet_pgmpy():
        model = model_type()
        model.add_nodes_from([v.name for v in network.variables])
        model.add_edges_from([(p.name, c.variable.name) for c in network.cpds for p in c.parents])
        for cpd in network.cpds:
            model.add_cpds(pgmpy_table(cpd.to_tabular(max_cells=max_cells)))
    return model


def pgmpy_table(table: TabularCPD, node: Callable[[str], Any] = str) -> Any:
    """Return a table as one of pgmpy, with a node of pgmpy for each name."""
    cpd_type = pgmpy_object("pgmpy.factors.discrete", "TabularCPD")
    return cpd_type(
        node(table.variable.name),
        table.variable.n_states,
        table.values.reshape(table.variable.n_states, -1),
        evidence=[node(v.name) for v in table.parents],
        evidence_card=[v.n_states for v in table.parents],
        state_names={node(v.name): list(v.states) for v in table.scope},
    )


@checked
def from_pgmpy(model: Any, *, normalize: bool = False) -> Network:
    """Return the network of a pgmpy ``DiscreteBayesianNetwork``.

    States become strings (pgmpy's may be integers, or true and false); tables within
    1e-6 of summing to one are normalized.

    Parameters
    ----------
    model
        The network.
    normalize
        Whether rows that miss one by no more than rounding are normalized too; see
        `bnmind.pgm.files.read_with_report`.

    Raises
    ------
    InvalidModelError
        If it is not such a network; a table is missing, contradicts the graph, or is no
        distribution; a name is not valid; or two states of a variable are equal as strings. The
        error lists all faults.
    """
    if not isinstance(model, pgmpy_object("pgmpy.models", "DiscreteBayesianNetwork")):
        raise InvalidModelError(
            [f"expected a pgmpy DiscreteBayesianNetwork, got {type(model).__name__}"]
        )
    problems: list[str] = []
    cpds = []
    tables = {table.variable: table for table in model.get_cpds()}
    for name in model.nodes():
        if name not in tables:
            children = [f"; {name} is a parent of {child}" for child in model.get_children(name)]
            problems.append(f"expected a table of {name}, got none{''.join(children[:1])}")
            continue
        table = tables[name]
        parents = sorted(map(str, model.get_parents(name)))
        if sorted(map(str, table.variables[1:])) != parents:
            problems.append(
                f"expected the table of {name} to be given its parents {parents},"
                f" got {sorted(map(str, table.variables[1:]))}"
            )
        try:
            cpds.append(_from_table(table, Reading(normalize=normalize)))
        except InvalidModelError as fault:
            problems += [problem for problem in fault.problems if problem not in problems]
    if not problems:
        try:
            return Network(tuple(cpds))
        except InvalidModelError as fault:
            problems += fault.problems
    raise InvalidModelError(problems)


def states_from_pgmpy(table: Any, name: Any) -> tuple[str, ...]:
    """Return the states of a variable of a pgmpy factor as text.

    Raises
    ------
    InvalidModelError
        If there are none, or two of them are equal when written.
    """
    states = (table.state_names or {}).get(name)
    if states is None:
        over = getattr(table, "variable", None) or ", ".join(map(str, table.variables))
        raise InvalidModelError([f"expected states of {name} in the table of {over}, got none"])
    named = tuple(str(state) for state in states)
    if len(set(named)) < len(named):
        raise InvalidModelError(
            [f"expected states of {name} that differ when written, got {str(list(states))[:80]}"]
        )
    return named


def _from_table(table: Any, reading: Reading) -> TabularCPD:
    problems: list[str] = []
    scope = []
    for name in table.variables:
        try:
            scope.append(Variable(name, states_from_pgmpy(table, name)))
        except InvalidModelError as fault:
            problems += fault.problems
    if problems:
        raise InvalidModelError(problems)
    child, *parents = scope
    return TabularCPD(child, tuple(parents), reading.corrected(scope, table.values))
