"""Reader and writer of XDSL, the format of GeNIe and SMILE.

A node ``cpt`` has a row of probabilities for each configuration of the parents, and a node
``deterministic`` has a state for each; the last parent varies fastest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np

from bnmind.pgm.encoded_names import ENCODING, Alphabet, decoded
from bnmind.pgm.formats.declared import (
    DeclaredTable,
    DeclaredVariable,
    Numbers,
    ReadNetwork,
    Scope,
    network_of,
    scopes_of,
)
from bnmind.pgm.formats.model_format import TableFormat
from bnmind.pgm.formats.source import shown
from bnmind.pgm.formats.table_text import rows_of, written, xml_text
from bnmind.pgm.formats.xml_source import Element, parse_xml
from bnmind.pgm.network import Network

__all__ = ["XDSL", "from_xdsl", "to_xdsl"]


def from_xdsl(data: bytes, *, max_cells: int) -> ReadNetwork:
    """Return the network in an XDSL file; parameters and errors as for XMLBIF."""
    root = parse_xml(data)
    if root.tag != "smile":
        raise root.place.fault(f"expected <smile>, got <{root.tag[:40]}>")
    nodes = root.one("nodes").children
    for node in nodes:
        if node.tag not in ("cpt", "deterministic"):
            raise node.place.fault(
                f"expected nodes of kind cpt or deterministic, got <{node.tag[:40]}>"
            )
    variables = [
        DeclaredVariable(
            node.attribute("id"),
            tuple(state.attribute("id") for state in node.each("state")),
            node.place,
        )
        for node in nodes
    ]
    scopes = scopes_of(
        variables,
        [
            DeclaredTable(
                (
                    node.attribute("id"),
                    *(name for entry in node.each("parents") for name in entry.words),
                ),
                node.place,
            )
            for node in nodes
        ],
        max_cells=max_cells,
    )
    encoded = any(
        note.attributes.get("names") == ENCODING
        for extensions in root.each("extensions")
        for note in extensions.each("bnmind")
    )
    tables = (_table(node, scope) for node, scope in zip(nodes, scopes, strict=True))
    return network_of(variables, tables, encoded=encoded)


def _table(node: Element, scope: Scope) -> Numbers:
    if node.tag == "cpt":
        return node.one("probabilities").table(scope)
    entry = node.one("resultingstates")
    child, words = scope[0], entry.words
    n_rows = math.prod(v.n_states for v in scope[1:])
    if len(words) != n_rows:
        raise entry.place.fault(f"expected {n_rows} states of {child.name}, got {len(words)}")
    positions = {state: i for i, state in enumerate(child.states)}
    for word in words:
        if word not in positions:
            raise entry.place.fault(f"expected a state of {child.name}, got {shown(word)}")
    rows = np.eye(child.n_states)[[positions[word] for word in words]]
    return Numbers(scope, rows, lambda _: entry.place)


def to_xdsl(network: Network, *, encoded: bool = False) -> str:
    """Return the network as an XDSL text; GeNIe draws it in rows by depth.

    ``encoded`` says whether its names are encoded, see `bnmind.pgm.encoded_names`; GeNIe shows
    the decoded names.
    """
    root = ElementTree.Element(
        "smile", version="1.0", id="bnmind", numsamples="1000", discsamples="10000"
    )
    nodes = ElementTree.SubElement(root, "nodes")
    for cpd in network.cpds:
        entry = ElementTree.SubElement(nodes, "cpt", id=cpd.variable.name)
        for state in cpd.variable.states:
            ElementTree.SubElement(entry, "state", id=state)
        if cpd.parents:
            names = " ".join(v.name for v in cpd.parents)
            ElementTree.SubElement(entry, "parents").text = names
        ElementTree.SubElement(entry, "probabilities").text = written(rows_of(cpd).ravel().tolist())
    extensions = ElementTree.SubElement(root, "extensions")
    if encoded:
        ElementTree.SubElement(extensions, "bnmind", names=ENCODING)
    layout = ElementTree.SubElement(extensions, "genie", version="1.0", name="bnmind")
    for name, column, depth in _places(network):
        node = ElementTree.SubElement(layout, "node", id=name)
        ElementTree.SubElement(node, "name").text = decoded(name) if encoded else name
        ElementTree.SubElement(node, "interior", color="e5f6f7")
        ElementTree.SubElement(node, "outline", color="000080")
        ElementTree.SubElement(node, "font", color="000000", name="Arial", size="8")
        left, top = 96 * column, 96 * depth
        ElementTree.SubElement(node, "position").text = f"{left} {top} {left + 72} {top + 48}"
    return xml_text(root)


def _places(network: Network) -> Iterator[tuple[str, int, int]]:
    """Yield the name, column, and depth below the roots of each variable."""
    depths: dict[str, int] = {}
    columns: dict[int, int] = {}
    for cpd in network.cpds:
        depth = 1 + max((depths[v.name] for v in cpd.parents), default=-1)
        depths[cpd.variable.name] = depth
        columns[depth] = columns.get(depth, -1) + 1
        yield cpd.variable.name, columns[depth], depth


XDSL = TableFormat(
    "GeNIe and SMILE",
    to_xdsl,
    from_xdsl,
    Alphabet(re.compile(r"[A-Za-z0-9_-]+"), re.compile(r"\S+")),
)
"""The format with the names that it can hold."""
