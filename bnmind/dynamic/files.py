"""Dynamic networks and sequences in files, and in pgmpy.

bnmind's own files are JSON that holds the two kinds of slices as models::

    {"schema": "bnmind-dynamic", "version": 1,
     "first": {"schema": "bnmind-model", …},
     "transition": {"schema": "bnmind-model", …}}

Both parts are models as `bnmind.pgm.formats.records` writes them. The second one holds the
distributions of the later slices; a variable of the previous slice has a name that ends in
``[t-1]``, and no distribution.

Networks over time in XDSL, the format of GeNIe and SMILE, are read::

    <nodes>
      <cpt id="Place"> … </cpt>
      <cpt id="Rain" dynamic="plate"> … <parents>Place</parents> … </cpt>
    </nodes>
    <dynamic numslices="5">
      <cpt id="Rain" order="1"><parents>Rain</parents> … </cpt>
    </dynamic>

A node of the plate is a variable of every slice. The parents in ``<dynamic>`` are variables of the
slice before. In its table, which holds from slice 1 on, the parents of the node come first, then
these. A node outside of the plate is the same at all times, so it becomes a variable that keeps its
state. An anchor is such a node that is a parent in the first slice only.

A node of the dynamic networks of pgmpy is a pair of a name and a slice, 0 or 1. pgmpy has the same
arcs inside of both slices, and may leave out the tables of slice 1 that equal those of slice 0. It
repeats the names of states in every table; tables made by its ``initialize_initial_state`` have
numbers instead.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._files import write_files
from bnmind._messages import listed, shown
from bnmind.dynamic.network import PREVIOUS, DynamicNetwork, previous
from bnmind.dynamic.passes import Sequences, read_sequences
from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.junction.cases.case_files import is_text, read_frames
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.files import FILE_CELLS
from bnmind.pgm.formats.declared import (
    PLAIN_READING,
    DeclaredTable,
    NoisyNumbers,
    NormalizedTable,
    Numbers,
    Reading,
    Scope,
    network_from,
)
from bnmind.pgm.formats.model_format import check_tables_fit, read_from
from bnmind.pgm.formats.pgmpy_bridge import pgmpy_object, quiet_pgmpy, states_from_pgmpy
from bnmind.pgm.formats.source import shown as shown_text
from bnmind.pgm.formats.source import text_of
from bnmind.pgm.formats.xml import Element, declared_node, node_table, parents_of, smile_of
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.tabular import DEFAULT_CELLS, TabularCPD
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

_ROWS = 2**20
"""The rows that are read at a time."""


def read_sequences_for(
    network: DynamicNetwork, path: str | os.PathLike[str], *, sequence: str | None = None
) -> tuple[Sequences, pandas.DataFrame]:
    """Return the sequences in a file, and the file as a data frame.

    Parameters
    ----------
    network
        The variables.
    path
        A Parquet file (``.parquet``), or a text file (``.csv``, ``.csv.gz``, ``.tsv`` or ``.txt``)
        with the names of the columns in the first line. In text, empty cells are missing, and so
        are texts such as ``NA`` or ``?`` unless they are states. The first sheet of an Excel
        workbook (``.xlsx``) is read as if it were saved as CSV.
    sequence
        The column that tells to which sequence a row belongs.

    Raises
    ------
    ModelFileError
        If the file cannot be read, its name has another suffix, or openpyxl is needed for a
        workbook and is not installed.
    TableError
        If the rows do not fit the network. The error names the rows: in a CSV file or a workbook,
        the header is row 1; in a Parquet file, the first slice is row 1.
    """
    import pandas

    frames = list(read_frames(path, _ROWS))
    frame = frames[0] if len(frames) == 1 else pandas.concat(frames)
    text = is_text(path)
    found = read_sequences(
        network,
        network.variables,
        frame,
        sequence=sequence,
        as_text=text,
        first_row=2 if text else 1,
    )
    return found, frame.reset_index(drop=True)


_PLATE, _ANCHOR, _CONSTANT = "plate", "anchor", "contemporal"
_KNOWN = ("parents", "probabilities", "resultingstates")


def dynamic_from_xdsl(data: bytes, *, max_cells: int, reading: Reading) -> DynamicNetwork:
    """Return the dynamic network in an XDSL file; see `bnmind.dynamic.read_dynamic`."""
    root, encoded = smile_of(data)
    nodes = {node.attribute("id"): node for node in root.one("nodes").children}
    kinds = {name: node.attributes.get("dynamic", _CONSTANT) for name, node in nodes.items()}
    if _PLATE not in kinds.values():
        raise root.place.fault(
            "expected a network over time (bnmind.read and bnmind query read others), got one"
            " without a temporal plate"
        )
    later = _later(root, kinds)
    for name, node in nodes.items():
        _check_node(name, node, kinds)
        if kinds[name] == _PLATE and name not in later:
            anchors = [p for p in parents_of(node) if kinds.get(p) == _ANCHOR]
            if anchors:
                raise node.place.fault(
                    f"expected a table of {name} for later slices, where its parent {anchors[0]},"
                    " an anchor, is none, got no table in <dynamic>"
                )
    declared = [declared_node(node) for node in root.one("nodes").children]
    first = network_from(
        declared,
        [
            DeclaredTable((v.name, *parents_of(node)), node.place, is_dense=_is_dense(node))
            for v, node in zip(declared, root.one("nodes").children, strict=True)
        ],
        lambda table, scope: node_table(nodes[table.names[0]], scope),
        max_cells=max_cells,
        encoded=encoded,
        reading=reading,
    )
    before = [replace(v, name=v.name + PREVIOUS) for v in declared]

    def table_of(name: str) -> DeclaredTable:
        node, entry = nodes[name], later.get(name)
        if kinds[name] != _PLATE:
            return DeclaredTable((name, name + PREVIOUS), node.place)
        own = [p for p in parents_of(node) if kinds[p] != _ANCHOR]
        past = [p + PREVIOUS for p in parents_of(entry)] if entry else []
        place, dense = (entry.place, True) if entry else (node.place, _is_dense(node))
        return DeclaredTable((name, *own, *past), place, is_dense=dense)

    def numbers(table: DeclaredTable, scope: Scope) -> Numbers | NoisyNumbers:
        name = table.names[0]
        if kinds[name] != _PLATE:
            return Numbers(scope, np.eye(scope[0].n_states), lambda _: table.place)
        return node_table(later.get(name, nodes[name]), scope)

    second = network_from(
        [*declared, *before],
        [
            *(table_of(v.name) for v in declared),
            *(DeclaredTable((v.name,), v.place, is_uniform=True) for v in before),
        ],
        numbers,
        max_cells=max_cells,
        encoded=encoded,
        reading=reading,
    )
    try:
        return DynamicNetwork.from_networks(first.network, second.network)
    except InvalidModelError as fault:
        raise root.place.fault(f"expected a valid dynamic network: {fault}") from fault


def _is_dense(node: Element) -> bool:
    return node.tag != "noisymax"


def _check_node(name: str, node: Element, kinds: Mapping[str, str]) -> None:
    """Raise `ModelFileError` for a node that a dynamic network cannot have."""
    kind = kinds[name]
    if node.tag in ("decision", "utility", "mau"):
        raise node.place.fault(
            f"expected chance nodes over time, got the {node.tag} {shown_text(name)}"
        )
    if kind == "terminal":
        raise node.place.fault(
            f"expected variables of every slice, got {shown_text(name)}, a terminal node, which"
            " only the last slice has; delete it in GeNIe"
        )
    if kind not in (_PLATE, _ANCHOR, _CONSTANT):
        raise node.place.unknown(f"the temporal type {shown_text(kind)} of {shown_text(name)}")
    inside = [p for p in parents_of(node) if kinds.get(p) == _PLATE]
    if kind != _PLATE and inside:
        raise node.place.fault(
            f"expected no parent on the plate of {shown_text(name)}, which is outside of it, got"
            f" {shown_text(inside[0])}"
        )


def _later(root: Element, kinds: Mapping[str, str]) -> dict[str, Element]:
    """Return the tables of later slices by the names of their nodes."""
    found: dict[str, Element] = {}
    for entry in (entry for part in root.each("dynamic") for entry in part.children):
        name, order = entry.attribute("id"), entry.attribute("order")
        if entry.tag not in ("cpt", "deterministic"):
            raise entry.place.fault(
                f"expected tables of later slices as <cpt>, got <{entry.tag[:40]}> of"
                f" {shown_text(name)}; make the node a cpt in GeNIe"
            )
        entry.only(_KNOWN)
        if order != "1":
            raise entry.place.fault(
                f"expected temporal arcs of order 1, got order {shown_text(order)} of"
                f" {shown_text(name)}; bnmind cannot be sure of the order of its parents"
            )
        if kinds.get(name) != _PLATE or name in found:
            raise entry.place.fault(
                f"expected one table for each node of the plate, got {shown_text(name)}"
            )
        found[name] = entry
    return found


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


SCHEMA = "bnmind-dynamic"
VERSION = 1


@checked
def write_dynamic(
    network: DynamicNetwork, path: str | os.PathLike[str], *, max_cells: int = FILE_CELLS
) -> None:
    """Write a dynamic network to a ``.json`` file.

    Parameters
    ----------
    network
        The network. Functions stay functions.
    path
        An existing file is replaced, or left untouched if anything fails.
    max_cells
        Most cells of the largest table.

    Raises
    ------
    ModelFileError
        If the suffix is another one, tables vary from slice to slice, or the file cannot be
        written.
    TooLargeError
        If the largest table has more than ``max_cells`` cells.
    """
    _suffix(path, (".json",), packed=False)
    write_files({Path(path): dynamic_to_json(network, max_cells=max_cells)})


@checked
def read_dynamic(
    path: str | os.PathLike[str],
    *,
    max_cells: int = DEFAULT_CELLS,
    normalize: bool = False,
    on_normalized: Callable[[NormalizedTable], None] | None = None,
) -> DynamicNetwork:
    """Return the dynamic network in a file; its name may end in ``.gz``, packed by gzip.

    Parameters
    ----------
    path
        A ``.json`` file of the form that `write_dynamic` writes, or a ``.xdsl`` file of GeNIe
        with a temporal plate. There, the parents of a variable are in its own slice or in the one
        before. A node outside of the plate becomes a variable that keeps its state.
    max_cells
        The largest number of cells of all its tables together.
    normalize
        Whether rows of probabilities that miss one by no more than rounding are normalized; see
        `bnmind.pgm.files.read_with_report`.
    on_normalized
        Called with each table that has rows that were normalized.

    Raises
    ------
    ModelFileError
        If the file cannot be read or does not hold a valid dynamic network. The error names all
        faults with their place.
    """
    suffix = _suffix(path, (".json", ".xdsl"), packed=True)
    reading = Reading(normalize=normalize)
    if on_normalized is not None:
        reading = replace(reading, on_table=on_normalized)

    def parsed(data: bytes) -> DynamicNetwork:
        if suffix == ".xdsl":
            return dynamic_from_xdsl(data, max_cells=max_cells, reading=reading)
        return dynamic_from_json(text_of(data), max_cells=max_cells, reading=reading)

    return read_from(path, parsed)


def _suffix(path: str | os.PathLike[str], allowed: tuple[str, ...], *, packed: bool) -> str:
    name = Path(path).name
    suffix = Path(name.removesuffix(".gz") if packed else name).suffix.lower()
    if suffix not in allowed:
        raise ModelFileError(
            f"expected a file name ending in {' or '.join(allowed)} for a dynamic network, got"
            f" {name!r}",
            str(path),
        )
    return suffix


def dynamic_to_json(network: DynamicNetwork, *, max_cells: int = FILE_CELLS) -> str:
    """Return a dynamic network as JSON text; see `write_dynamic`."""
    from bnmind.pgm.formats.records import model_to_json

    if network.varying:
        raise ModelFileError(
            "a file cannot hold tables that vary from slice to slice, as of"
            f" {', '.join(network.varying)}"
        )
    cpds = (*network.first.cpds, *network.transition)
    check_tables_fit([c for c in cpds if isinstance(c, TabularCPD)], max_cells=max_cells)
    first = model_to_json(network.first, max_cells=max_cells)
    later = model_to_json(FactorModel(network.transition), max_cells=max_cells)
    return (
        f'{{"schema": "{SCHEMA}", "version": {VERSION},\n'
        f'"first": {first.rstrip()},\n"transition": {later.rstrip()}}}\n'
    )


def dynamic_from_json(
    text: str, *, max_cells: int = DEFAULT_CELLS, reading: Reading = PLAIN_READING
) -> DynamicNetwork:
    """Return the dynamic network in a JSON text; see `read_dynamic`."""
    from bnmind._records import record_from_json
    from bnmind.pgm.formats.records import DynamicRecord, model_from_json, network_from_json

    record = record_from_json(text, SCHEMA, {VERSION: DynamicRecord})
    how: dict[str, Any] = {"max_cells": max_cells, "reading": reading}
    network = _part(record.first, "first", partial(network_from_json, **how))
    later = _part(record.transition, "transition", partial(model_from_json, is_part=True, **how))
    factors = [p for p in later.potentials if isinstance(p, Factor)]
    if factors:
        over = ", ".join(factors[0].names) or "nothing"
        raise ModelFileError(
            f"expected distributions at potentials of transition, got a factor over {over}"
        )
    cpds = tuple(p for p in later.potentials if not isinstance(p, Factor))
    try:
        return DynamicNetwork(network, cpds)
    except InvalidModelError as fault:
        raise ModelFileError(
            f"expected a valid dynamic network, got at potentials of first or transition: {fault}"
        ) from fault


def _part(record: dict[str, Any], name: str, read: Any) -> Any:
    """Return a part of the file; its errors say which part."""
    try:
        text = json.dumps(record)
    except ValueError as fault:  # a whole number of thousands of digits
        raise ModelFileError(f"expected numbers at potentials of {name}: {fault}") from fault
    try:
        return read(text)
    except ModelFileError as fault:
        # The line of the part is not that of the file.
        raise ModelFileError(f"in the part {name}: {fault}") from fault
