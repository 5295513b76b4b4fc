"""Reader of networks over time in XDSL, the format of GeNIe and SMILE.

::

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

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bnmind.dynamic.network import PREVIOUS, DynamicNetwork
from bnmind.errors import InvalidModelError
from bnmind.pgm.formats.declared import (
    DeclaredTable,
    NoisyNumbers,
    Numbers,
    Reading,
    Scope,
    network_from,
)
from bnmind.pgm.formats.source import shown
from bnmind.pgm.formats.xml import Element, declared_node, node_table, parents_of, smile_of

__all__ = ["dynamic_from_xdsl"]

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
        raise node.place.fault(f"expected chance nodes over time, got the {node.tag} {shown(name)}")
    if kind == "terminal":
        raise node.place.fault(
            f"expected variables of every slice, got {shown(name)}, a terminal node, which only"
            " the last slice has; delete it in GeNIe"
        )
    if kind not in (_PLATE, _ANCHOR, _CONSTANT):
        raise node.place.unknown(f"the temporal type {shown(kind)} of {shown(name)}")
    inside = [p for p in parents_of(node) if kinds.get(p) == _PLATE]
    if kind != _PLATE and inside:
        raise node.place.fault(
            f"expected no parent on the plate of {shown(name)}, which is outside of it, got"
            f" {shown(inside[0])}"
        )


def _later(root: Element, kinds: Mapping[str, str]) -> dict[str, Element]:
    """Return the tables of later slices by the names of their nodes."""
    found: dict[str, Element] = {}
    for entry in (entry for part in root.each("dynamic") for entry in part.children):
        name, order = entry.attribute("id"), entry.attribute("order")
        if entry.tag not in ("cpt", "deterministic"):
            raise entry.place.fault(
                f"expected tables of later slices as <cpt>, got <{entry.tag[:40]}> of"
                f" {shown(name)}; make the node a cpt in GeNIe"
            )
        entry.only(_KNOWN)
        if order != "1":
            raise entry.place.fault(
                f"expected temporal arcs of order 1, got order {shown(order)} of {shown(name)};"
                " bnmind cannot be sure of the order of its parents"
            )
        if kinds.get(name) != _PLATE or name in found:
            raise entry.place.fault(
                f"expected one table for each node of the plate, got {shown(name)}"
            )
        found[name] = entry
    return found
