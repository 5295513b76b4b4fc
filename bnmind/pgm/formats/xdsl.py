"""Reader and writer of XDSL, the format of GeNIe and SMILE.

A node ``cpt`` has a row of probabilities for each configuration of the parents, and a node
``deterministic`` has a state for each; the last parent varies fastest. A node ``noisymax`` has a
distribution for each state of each parent, and a leak. Its states are ordered from the strongest to
the weakest, so it is a `NoisyMinimum` of their positions. `bnmind.dynamic.read_dynamic` reads
networks over time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np

from bnmind.information import Floats
from bnmind.pgm.cpd import CPD
from bnmind.pgm.encoded_names import ENCODING, Alphabet, decoded
from bnmind.pgm.formats.declared import (
    DeclaredTable,
    DeclaredVariable,
    NoisyNumbers,
    Numbers,
    ReadNetwork,
    Scope,
    network_from,
)
from bnmind.pgm.formats.model_format import TableFormat
from bnmind.pgm.formats.reading import PLAIN_READING, REVERSED_PARENTS, Reading
from bnmind.pgm.formats.source import number_list, shown
from bnmind.pgm.formats.table_text import rows_of, written, xml_text
from bnmind.pgm.formats.xml_source import Element, parse_xml
from bnmind.pgm.network import Network
from bnmind.pgm.noisy import NoisyMinimum

__all__ = [
    "XDSL",
    "declared_node",
    "from_xdsl",
    "node_table",
    "parents_of",
    "smile_of",
    "to_xdsl",
]

_KINDS = {
    **{"cpt": "", "noisymax": "", "deterministic": ""},
    **{"decision": "decision", "utility": "utility", "mau": "utility"},
}
_OF_A_NODE = (
    *("state", "parents", "probabilities", "resultingstates", "strengths", "parameters"),
    *("utilities", "weights", "property", "question", "cost", "observationcost", "observcost"),
    "observation_cost",
)
_KNOWN = {
    "smile": (
        *("nodes", "dynamic", "extensions"),
        *("properties", "algparams", "observationcost", "observationcosts", "cases"),
    ),
    **dict.fromkeys(_KINDS, _OF_A_NODE),
}
"""The elements of the format. Properties, parameters of algorithms, costs, cases, questions and
extensions, which hold the layout, say nothing about probabilities."""

_ATTRIBUTES = ("id", "diagtype", "ranked", "mandatory", "target", "dynamic")
"""The attributes of nodes; those of states, and of the whole, say nothing about probabilities."""

_OF_PYAGRUM = re.compile(rb"<!--[^>]*created by pyAgrum|<genie [^>]*app=\"aGrUM")


def from_xdsl(data: bytes, *, max_cells: int, reading: Reading = PLAIN_READING) -> ReadNetwork:
    """Return the network in an XDSL file; parameters and errors as for XMLBIF."""
    root, encoded = smile_of(data)
    nodes = root.one("nodes").children
    timed = [*root.each("dynamic"), *(node for node in nodes if "dynamic" in node.attributes)]
    if timed:
        raise timed[0].place.fault(
            "expected a network of one slice, got one over time: bnmind track and"
            " bnmind.dynamic.read_dynamic read it, and read_dynamic(path).unroll(5) is the network"
            " of five slices"
        )
    by_name = {node.attribute("id"): node for node in nodes}
    tables = [
        DeclaredTable(
            (node.attribute("id"), *parents_of(node)), node.place, is_dense=node.tag != "noisymax"
        )
        for node in nodes
        if node.tag != "decision"
    ]
    if _OF_PYAGRUM.search(data) and max((len(t.names) for t in tables), default=0) > 2:
        reading.on_note(REVERSED_PARENTS)
    return network_from(
        [declared_node(node) for node in nodes],
        tables,
        lambda table, scope: node_table(by_name[table.names[0]], scope),
        max_cells=max_cells,
        encoded=encoded,
        reading=reading,
    )


def smile_of(data: bytes) -> tuple[Element, bool]:
    """Return the root of an XDSL file, and whether its names are encoded.

    Raises
    ------
    ModelFileError
        If the file is not of this form, or has a part that bnmind does not know.
    """
    root = parse_xml(data)
    if root.tag != "smile":
        raise root.place.fault(f"expected <smile>, got <{root.tag[:40]}>")
    root.only(_KNOWN["smile"])
    for node in root.one("nodes").children:
        if node.tag not in _KINDS:
            raise node.place.fault(
                f"expected nodes of kind cpt, noisymax or deterministic, got <{node.tag[:40]}>"
                f" of {shown(node.attributes.get('id', ''))}; change its type in GeNIe"
            )
        node.only(_KNOWN[node.tag])
        for name in node.attributes.keys() - _ATTRIBUTES:
            raise node.place.unknown(f"the attribute {shown(name)} of <{node.tag}>")
    encoded = any(
        note.attributes.get("names") == ENCODING
        for extensions in root.each("extensions")
        for note in extensions.each("bnmind")
    )
    return root, encoded


def declared_node(node: Element) -> DeclaredVariable:
    """Return a node as it is declared."""
    states = tuple(state.attribute("id") for state in node.each("state"))
    return DeclaredVariable(node.attribute("id"), states, node.place, kind=_KINDS[node.tag])


def parents_of(node: Element) -> list[str]:
    """Return the names of the parents of a node."""
    return [name for entry in node.each("parents") for name in entry.words]


def node_table(node: Element, scope: Scope) -> Numbers | NoisyNumbers:
    """Return the numbers of a node over itself and its parents."""
    if node.tag == "cpt":
        return node.one("probabilities").table(scope)
    if node.tag == "noisymax":
        return _noisy(node, scope)
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


def _noisy(node: Element, scope: Scope) -> NoisyNumbers:
    """Return the parameters of a noisy-max node: a column for each state of each parent, the leak.

    The state without effect leaves the child in its last state.
    """
    child, *parents = scope
    entry = node.one("parameters")
    wanted = child.n_states * (1 + sum(v.n_states for v in parents))
    words = entry.words
    numbers = number_list(words)
    if isinstance(numbers, int):
        raise entry.place.fault(
            f"expected numbers for {child.name} in <parameters>, got {shown(words[numbers])}"
        )
    if len(numbers) != wanted:
        raise entry.place.fault(f"expected {wanted} parameters of {child.name}, got {len(numbers)}")
    columns = numbers.reshape(-1, child.n_states).T
    orders = _strengths(node, scope)
    links = []
    start = 0
    for parent, order in zip(parents, orders, strict=True):
        own = columns[:, start : start + parent.n_states]
        link = _by_state(own, order)
        if link is None:
            raise entry.place.fault(
                f"expected parameters of {child.name} whose order is clear; those of {parent.name}"
                " may be in the order of its states or of <strengths>; make the node a cpt in GeNIe"
            )
        links.append(link)
        start += parent.n_states
    return NoisyNumbers(scope, tuple(links), columns[:, -1], node.place)


def _by_state(columns: Floats, order: list[int]) -> Floats | None:
    """Return the columns of a parent in the order of its states; None if that is not clear.

    GeNIe lists them from the strongest state to the one without effect, and other programs in the
    order of the states. The state without effect shows which it is.
    """
    inverse = [order.index(i) for i in range(len(order))]
    if order == sorted(order):
        return columns
    none = columns[-1] == 1
    by_strength, by_state = bool(none[-1]), bool(none[order[-1]])
    if by_strength == by_state or (by_strength and order != inverse):
        return None
    return columns[:, inverse] if by_strength else columns


def _strengths(node: Element, scope: Scope) -> list[list[int]]:
    """Return the states of each parent from the strongest to the weakest; by default as listed."""
    child, *parents = scope
    listed = [word for entry in node.each("strengths") for word in entry.words]
    if not listed:
        return [list(range(v.n_states)) for v in parents]
    orders = []
    for parent in parents:
        order, listed = listed[: parent.n_states], listed[parent.n_states :]
        if sorted(order) != sorted(map(str, range(parent.n_states))):
            raise node.place.fault(
                f"expected in <strengths> of {child.name} each state of {parent.name} once, by"
                f" number from 0 to {parent.n_states - 1}, got {shown(' '.join(order))}"
            )
        orders.append(list(map(int, order)))
    if listed:
        raise node.place.fault(f"expected no more <strengths> of {child.name}, got another number")
    return orders


def _is_noisy_max(cpd: CPD) -> bool:
    """Return whether GeNIe can hold a distribution as a noisy-max node with parents as they are.

    GeNIe orders states from the strongest to the one without effect, so its maximum takes the first
    state. The last state of each parent must have no effect.
    """
    return isinstance(cpd, NoisyMinimum) and all(link[-1, -1] == 1 for link in cpd.links)


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
        is_noisy = _is_noisy_max(cpd)
        kind = "noisymax" if is_noisy else "cpt"
        entry = ElementTree.SubElement(nodes, kind, id=cpd.variable.name)
        for state in cpd.variable.states:
            ElementTree.SubElement(entry, "state", id=state)
        if cpd.parents:
            names = " ".join(v.name for v in cpd.parents)
            ElementTree.SubElement(entry, "parents").text = names
        if is_noisy:
            assert isinstance(cpd, NoisyMinimum)
            order = [str(i) for v in cpd.parents for i in range(v.n_states)]
            ElementTree.SubElement(entry, "strengths").text = " ".join(order)
            leak, *links = cpd.contributions
            columns = np.hstack([*links, leak]).T.ravel().tolist()
            ElementTree.SubElement(entry, "parameters").text = written(columns)
            continue
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
    about="GeNIe and SMILE",
    write=to_xdsl,
    parse=from_xdsl,
    alphabet=Alphabet(re.compile(r"[A-Za-z0-9_-]+"), re.compile(r"\S+")),
    keeps=_is_noisy_max,
)
"""The format with the names that it can hold."""
