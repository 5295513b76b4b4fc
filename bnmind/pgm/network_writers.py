"""The text of a Bayesian network in the formats that other programs read.

Numbers are written with all their digits, variables with parents before
children, and the same network always gives the same text. pgmpy's writers are not
used: its NET has eight digits, its XDSL a random layout (and it draws from the
global random generator), its XMLBIF renames states, and importing it costs
seconds. Its readers read what is written here.

In all the formats a row of numbers is one configuration of the parents, the last
parent fastest, and runs over the states of the child.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from xml.etree import ElementTree

import numpy as np

from bnmind.information import Floats
from bnmind.pgm.cpd import CPD
from bnmind.pgm.network import Network

__all__ = ["to_bif", "to_net", "to_xdsl", "to_xmlbif"]


def _rows(cpd: CPD) -> Floats:
    """Return the distributions of the child, ``(configurations of the parents, states)``."""
    table = cpd.to_tabular(max_cells=cpd.n_cells)
    return np.moveaxis(table.values, 0, -1).reshape(-1, cpd.variable.n_states)


def _numbers(row: Iterable[float], separator: str = " ") -> str:
    return separator.join(map(repr, row))


def to_bif(network: Network) -> str:
    """Return the network in the interchange format BIF of bnlearn's repository."""
    blocks = ["network bnmind {\n}\n"]
    for variable in network.variables:
        blocks.append(
            f"variable {variable.name} {{\n"
            f"  type discrete [ {variable.n_states} ] {{ {', '.join(variable.states)} }};\n}}\n"
        )
    for cpd in network.cpds:
        rows = _rows(cpd).tolist()
        if cpd.parents:
            given = " | " + ", ".join(v.name for v in cpd.parents)
            configurations = itertools.product(*(v.states for v in cpd.parents))
            lines = [
                f"  ({', '.join(states)}) {_numbers(row, ', ')};\n"
                for states, row in zip(configurations, rows, strict=True)
            ]
        else:
            given, lines = "", [f"  table {_numbers(rows[0], ', ')};\n"]
        blocks.append(f"probability ( {cpd.variable.name}{given} ) {{\n{''.join(lines)}}}\n")
    return "".join(blocks)


def to_net(network: Network) -> str:
    """Return the network in Hugin's format NET."""
    blocks = ["net\n{\n}\n"]
    for variable in network.variables:
        states = " ".join(f'"{state}"' for state in variable.states)
        blocks.append(f"node {variable.name}\n{{\n  states = ({states});\n}}\n")
    for cpd in network.cpds:
        given = " | " + " ".join(v.name for v in cpd.parents) if cpd.parents else ""
        shape = tuple(v.n_states for v in cpd.parents)
        groups = [f"({_numbers(row)})" for row in _rows(cpd).tolist()]
        # Hugin nests a pair of brackets for each parent.
        for size in reversed(shape):
            groups = [f"({''.join(part)})" for part in _chunks(groups, size)]
        blocks.append(f"potential ({cpd.variable.name}{given})\n{{\n  data = {groups[0]};\n}}\n")
    return "".join(blocks)


def _chunks(items: list[str], size: int) -> Iterator[list[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def to_xmlbif(network: Network) -> str:
    """Return the network in XMLBIF 0.3."""
    root = ElementTree.Element("BIF", VERSION="0.3")
    body = ElementTree.SubElement(root, "NETWORK")
    ElementTree.SubElement(body, "NAME").text = "bnmind"
    for variable in network.variables:
        entry = ElementTree.SubElement(body, "VARIABLE", TYPE="nature")
        ElementTree.SubElement(entry, "NAME").text = variable.name
        for state in variable.states:
            ElementTree.SubElement(entry, "OUTCOME").text = state
    for cpd in network.cpds:
        entry = ElementTree.SubElement(body, "DEFINITION")
        ElementTree.SubElement(entry, "FOR").text = cpd.variable.name
        for parent in cpd.parents:
            ElementTree.SubElement(entry, "GIVEN").text = parent.name
        ElementTree.SubElement(entry, "TABLE").text = _numbers(_rows(cpd).ravel().tolist())
    return _xml_text(root)


def to_xdsl(network: Network) -> str:
    """Return the network in the format XDSL of GeNIe and SMILE, laid out in rows by depth."""
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
        ElementTree.SubElement(entry, "probabilities").text = _numbers(_rows(cpd).ravel().tolist())
    extensions = ElementTree.SubElement(root, "extensions")
    layout = ElementTree.SubElement(extensions, "genie", version="1.0", name="bnmind")
    for name, column, depth in _places(network):
        node = ElementTree.SubElement(layout, "node", id=name)
        ElementTree.SubElement(node, "name").text = name
        ElementTree.SubElement(node, "interior", color="e5f6f7")
        ElementTree.SubElement(node, "outline", color="000080")
        ElementTree.SubElement(node, "font", color="000000", name="Arial", size="8")
        left, top = 96 * column, 96 * depth
        ElementTree.SubElement(node, "position").text = f"{left} {top} {left + 72} {top + 48}"
    return _xml_text(root)


def _places(network: Network) -> Iterator[tuple[str, int, int]]:
    """Yield each variable's name, column, and depth below the roots."""
    depths: dict[str, int] = {}
    columns: dict[int, int] = {}
    for cpd in network.cpds:
        depth = 1 + max((depths[v.name] for v in cpd.parents), default=-1)
        depths[cpd.variable.name] = depth
        columns[depth] = columns.get(depth, -1) + 1
        yield cpd.variable.name, columns[depth], depth


def _xml_text(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    body = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'
