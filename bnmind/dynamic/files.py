"""Dynamic networks and sequences in files.

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
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._files import write_files
from bnmind.dynamic.network import PREVIOUS, DynamicNetwork, of_two_slices
from bnmind.dynamic.passes import Sequences, read_sequences
from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.junction.cases.case_files import is_text, read_frame
from bnmind.pgm.cpd import CPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.files import FILE_CELLS, reading_of, suffix_of
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
from bnmind.pgm.formats.source import shown as shown_text
from bnmind.pgm.formats.source import text_of
from bnmind.pgm.formats.xml import Element, declared_node, node_table, parents_of, smile_of
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.tabular import DEFAULT_CELLS, TabularCPD

if TYPE_CHECKING:
    import pandas


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
    frame = read_frame(path)
    found = read_sequences(
        network, network.variables, frame, sequence=sequence, as_text=is_text(path)
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
    declared = [declared_node(node) for node in nodes.values()]
    before = [replace(v, name=v.name + PREVIOUS) for v in declared]

    heads, sources = list[DeclaredTable](), dict[str, Element]()
    for name, node in nodes.items():
        inside, is_dense = parents_of(node), node.tag != "noisymax"
        scope = tuple(p + PREVIOUS for p in (name, *inside))
        heads.append(DeclaredTable(scope, node.place, is_dense=is_dense))
        sources[scope[0]] = node
        if kinds[name] != _PLATE:
            heads.append(DeclaredTable((name, name + PREVIOUS), node.place))
            continue
        entry = later.get(name)
        own = [p for p in inside if kinds.get(p) != _ANCHOR]
        past = [p + PREVIOUS for p in parents_of(entry)] if entry is not None else []
        source = sources[name] = node if entry is None else entry
        is_dense = is_dense or entry is not None
        heads.append(DeclaredTable((name, *own, *past), source.place, is_dense=is_dense))

    def numbers(table: DeclaredTable, scope: Scope) -> Numbers | NoisyNumbers:
        if table.names[0] in sources:
            return node_table(sources[table.names[0]], scope)
        return Numbers(scope, np.eye(scope[0].n_states), lambda _: table.place)

    two = network_from(
        [*declared, *before], heads, numbers, max_cells=max_cells, encoded=encoded, reading=reading
    )
    try:
        return of_two_slices(two.network)
    except InvalidModelError as fault:
        raise root.place.fault(f"expected a valid dynamic network: {fault}") from fault


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
    suffix_of(path, (".json",), "a dynamic network")
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
    suffix = suffix_of(path, (".json", ".xdsl"), "a dynamic network", packed=True)
    reading = reading_of(normalize, False, on_normalized)

    def parsed(data: bytes) -> DynamicNetwork:
        if suffix == ".xdsl":
            return dynamic_from_xdsl(data, max_cells=max_cells, reading=reading)
        return dynamic_from_json(text_of(data), max_cells=max_cells, reading=reading)

    return read_from(path, parsed)


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
    from bnmind.pgm.formats.records import DynamicRecord, model_from_json

    record = record_from_json(text, SCHEMA, {VERSION: DynamicRecord})

    def cpds(part: dict[str, Any], name: str) -> tuple[CPD, ...]:
        """Return the distributions of a part of the file; errors say which part."""
        try:
            model = model_from_json(
                json.dumps(part), max_cells=max_cells, reading=reading, is_part=True
            )
        except ModelFileError as fault:
            # The line of the part is not that of the file.
            raise ModelFileError(f"in the part {name}: {fault}") from fault
        except ValueError as fault:  # a whole number of thousands of digits
            raise ModelFileError(f"expected numbers at potentials of {name}: {fault}") from fault
        factors = [p for p in model.potentials if isinstance(p, Factor)]
        if factors:
            raise ModelFileError(
                f"expected distributions at potentials of {name}, got a factor over"
                f" {', '.join(factors[0].names) or 'nothing'}"
            )
        return tuple(p for p in model.potentials if not isinstance(p, Factor))

    first, later = cpds(record.first, "first"), cpds(record.transition, "transition")
    try:
        return DynamicNetwork(Network(first), later)
    except InvalidModelError as fault:
        raise ModelFileError(
            f"expected a valid dynamic network, got at potentials of first or transition: {fault}"
        ) from fault
