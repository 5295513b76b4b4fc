"""Conversion from and to the dynamic networks of pgmpy.

A node of pgmpy is a pair of a name and a slice, 0 or 1. pgmpy has the same arcs inside of both
slices, and may leave out the tables of slice 1 that equal those of slice 0. It repeats the names of
states in every table; tables made by its ``initialize_initial_state`` have numbers instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import listed, shown
from bnmind.dynamic.network import DynamicNetwork, previous
from bnmind.errors import InvalidModelError
from bnmind.pgm.cpd import CPD, DEFAULT_CELLS, TabularCPD
from bnmind.pgm.formats.declared import Reading
from bnmind.pgm.formats.model_format import check_tables_fit
from bnmind.pgm.formats.pgmpy_bridge import (
    pgmpy_object,
    quiet_pgmpy,
    states_from_pgmpy,
)
from bnmind.pgm.network import Network
from bnmind.pgm.variable import Variable

__all__ = ["dynamic_from_pgmpy", "dynamic_to_pgmpy"]


def dynamic_from_pgmpy(model: Any, *, normalize: bool = False) -> DynamicNetwork:
    """Return the network of a pgmpy ``DynamicBayesianNetwork``.

    States become strings. A variable without a table in slice 1, and without parents in slice 0,
    has its table of slice 0.

    Parameters
    ----------
    model
        The network.
    normalize
        Whether rows that miss one by no more than rounding are normalized; see
        `bnmind.pgm.files.read_with_report`.

    Raises
    ------
    InvalidModelError
        If it is not such a network; a table is missing, contradicts the graph or is no
        distribution; or two tables disagree on the states of a variable. The error lists all
        faults.
    """
    if not isinstance(model, pgmpy_object("pgmpy.models", "DynamicBayesianNetwork")):
        raise InvalidModelError(
            [f"expected a pgmpy DynamicBayesianNetwork, got {type(model).__name__}"]
        )
    tables = {(node[0], node[1]): table for table in model.cpds if (node := table.variable)}
    nodes = [(node[0], node[1]) for node in model.nodes()]
    names = list(dict.fromkeys(name for name, _ in nodes))
    parents = {
        (n[0], n[1]): sorted((str(p[0]), p[1] - n[1]) for p in model.get_parents(n))
        for n in model.nodes()
    }
    problems: list[str] = []
    variables: dict[Any, Variable] = {}
    for name in names:
        own = tables.get((name, 0), tables.get((name, 1)))
        if own is None:
            problems.append(f"expected a table of {shown((name, 0))}, got none")
            continue
        try:
            variables[name] = Variable(str(name), states_from_pgmpy(own, own.variable))
        except InvalidModelError as fault:
            problems += fault.problems
    cpds: dict[int, list[CPD]] = {0: [], 1: []}
    for name, number in [(name, number) for number in (0, 1) for name in names]:
        table = tables.get((name, number))
        known = parents.get((name, number), [])
        if table is None and number == 1 and all(at == 0 for _, at in known):
            table = tables.get((name, 0))
        if table is None:
            if name in variables:
                problems.append(f"expected a table of {shown((name, number))}, got none")
            continue
        try:
            cpds[number].append(_from_table(table, known, variables, Reading(normalize=normalize)))
        except InvalidModelError as fault:
            problems += [problem for problem in fault.problems if problem not in problems]
    if not problems:
        try:
            return DynamicNetwork(Network(tuple(cpds[0])), tuple(cpds[1]))
        except InvalidModelError as fault:
            problems += fault.problems
    raise InvalidModelError(problems)


def _from_table(
    table: Any,
    parents: list[tuple[str, int]],
    variables: dict[Any, Variable],
    reading: Reading,
) -> TabularCPD:
    """Return a table with the names of our slices.

    The parents are given by name and by their slice less that of the child, in ascending order.
    """
    nodes = [(node[0], node[1]) for node in table.variables]
    child, number = nodes[0]
    own = sorted((str(name), at - number) for name, at in nodes[1:])
    if own != parents:
        raise InvalidModelError(
            [
                f"expected the table of {shown((child, number))} to be given its parents"
                f" {_told(parents)}, got {_told(own)}"
            ]
        )
    scope = []
    problems = []
    for position, (name, at) in enumerate(nodes):
        variable = variables.get(name)
        if variable is None:
            problems.append(f"expected a table of {shown((name, 0))}, got none")
            continue
        states = states_from_pgmpy(table, table.variables[position])
        numbered = tuple(map(str, range(len(states))))
        if states != variable.states and not (
            states == numbered and len(states) == variable.n_states
        ):
            problems.append(
                f"expected the states {variable.states} of {variable.name} in the table of"
                f" {shown((child, number))}, got {states}"
            )
        scope.append(variable if at == number else previous(variable))
    if problems:
        raise InvalidModelError(problems)
    values = reading.corrected(scope, table.values)
    return TabularCPD(scope[0], tuple(scope[1:]), np.asarray(values))


def _told(parents: list[tuple[str, int]]) -> str:
    names = [name if at == 0 else f"{name} of the slice before" for name, at in parents]
    return ", ".join(names) or "nothing"


@checked
def dynamic_to_pgmpy(network: DynamicNetwork, *, max_cells: int = DEFAULT_CELLS) -> Any:
    """Return the network as a pgmpy ``DynamicBayesianNetwork``.

    Parameters
    ----------
    network
        Functions in it are expanded to tables.
    max_cells
        Cells that the largest table may have.

    Raises
    ------
    InvalidModelError
        If the arcs inside of the first slice differ from those inside of later slices, or tables
        vary: pgmpy cannot express that.
    TooLargeError
        If the largest table has more cells; it is named, and nothing is allocated.
    """
    inside = {v.name for v in network.variables}

    def arcs(cpds: tuple[CPD, ...]) -> set[tuple[str, str]]:
        return {(p.name, c.variable.name) for c in cpds for p in c.parents if p.name in inside}

    problems = [
        f"pgmpy has the same arcs inside of all slices, and {parent} → {child} is"
        f" {'only in the first one' if is_first else 'not in the first one'}"
        for is_first, some in (
            (True, arcs(network.first.cpds) - arcs(network.transition)),
            (False, arcs(network.transition) - arcs(network.first.cpds)),
        )
        for parent, child in sorted(some)
    ]
    if network.varying:
        problems.append(f"pgmpy has no tables that vary, as of {listed(list(network.varying))}")
    if problems:
        raise InvalidModelError(problems)
    check_tables_fit((*network.first.cpds, *network.transition), max_cells=max_cells)
    model_type = pgmpy_object("pgmpy.models", "DynamicBayesianNetwork")
    cpd_type = pgmpy_object("pgmpy.factors.discrete", "TabularCPD")
    before = {previous(v).name: (v.name, 0) for v in network.variables}
    with quiet_pgmpy():
        model = model_type()
        model.add_nodes_from([v.name for v in network.variables])
        for number, cpds in enumerate((network.first.cpds, network.transition)):
            nodes = before | {name: (name, number) for name in inside}
            for cpd in cpds:
                model.add_edges_from(
                    [(nodes[p.name], nodes[cpd.variable.name]) for p in cpd.parents]
                )
        known = set(model.nodes())
        for number, cpds in enumerate((network.first.cpds, network.transition)):
            nodes = before | {name: (name, number) for name in inside}
            for cpd in cpds:
                table = cpd.to_tabular(max_cells=max_cells)
                node = nodes[cpd.variable.name]
                if node not in known:
                    # pgmpy has no slice 1 of a variable without arcs.
                    _check_same(network, table)
                    continue
                model.add_cpds(
                    cpd_type(
                        node,
                        table.variable.n_states,
                        table.values.reshape(table.variable.n_states, -1),
                        evidence=[nodes[v.name] for v in table.parents],
                        evidence_card=[v.n_states for v in table.parents],
                        state_names={nodes[v.name]: list(v.states) for v in table.scope},
                    )
                )
    return model


def _check_same(network: DynamicNetwork, table: TabularCPD) -> None:
    first = network.first.cpd(table.variable.name).to_tabular()
    if not np.array_equal(first.values, table.values):
        raise InvalidModelError(
            [
                "pgmpy has one table of a variable without arcs, and those of"
                f" {table.variable.name} differ in the first slice and in later ones"
            ]
        )
