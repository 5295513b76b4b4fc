"""Readers and writers of XMLBIF 0.3, and of XDSL, the format of GeNIe and SMILE.

`parse_xml` is a safe reader of XML, which returns a tree of elements with their places. It rejects
declarations of entities, so none can grow ("billion laughs"), and loads no external ones. It
ignores declared defaults of attributes. It limits the number of elements, the number of attributes
of an element, and the depth of nesting.

*XMLBIF*: a table has a row for each configuration of the GIVEN variables, the last one fastest; the
row has a number for each state of the FOR variable.

*XDSL*: a node ``cpt`` has a row of probabilities for each configuration of the parents, and a node
``deterministic`` has a state for each; the last parent varies fastest. A node ``noisymax`` has a
distribution for each state of each parent, and a leak. Its states are ordered from the strongest to
the weakest, so it is a `NoisyMinimum` of their positions. `bnmind.dynamic.read_dynamic` reads
networks over time.

References
----------
F. G. Cozman, *The Interchange Format for Bayesian Networks* 0.3 in XML, 1998.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from xml.etree import ElementTree
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

import numpy as np

from bnmind.errors import ModelFileError
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD
from bnmind.pgm.encoded_names import ENCODING, Alphabet, decoded
from bnmind.pgm.formats.declared import (
    PLAIN_READING,
    REVERSED_PARENTS,
    DeclaredTable,
    DeclaredVariable,
    NoisyNumbers,
    Numbers,
    Reading,
    ReadNetwork,
    Scope,
    certain_states,
    network_from,
)
from bnmind.pgm.formats.model_format import TableFormat, format_xml, rows_of, written
from bnmind.pgm.formats.source import Place, number_list, shown
from bnmind.pgm.network import Network
from bnmind.pgm.noisy import NoisyMinimum

_DEPTH = 100
_ELEMENTS = 2**20
_DECLARED = 100
_MOST_ATTRIBUTES = 1000
_MANY_ATTRIBUTES = re.compile(
    rb"""<[A-Za-z_:][^<>"']*+(?:(?:"[^"<]*+"|'[^'<]*+')[^<>"']*+){%d}""" % (_MOST_ATTRIBUTES + 1)
)
"""A start tag with too many attributes, for which expat takes more than linear time."""

_READ = ("TYPE", "id")
"""The attributes that readers use."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an XML document."""

    tag: str
    attributes: Mapping[str, str]
    place: Place
    children: tuple[Element, ...]
    content: str
    """The text directly in the element."""

    @property
    def text(self) -> str:
        """The text directly in the element, without blanks around it."""
        return self.content.strip()

    @property
    def words(self) -> list[str]:
        """The words of the text."""
        return self.content.split()

    def each(self, tag: str) -> Iterator[Element]:
        """Yield the children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> Element:
        """Return the only child with a tag; raise `ModelFileError` unless there is exactly one."""
        children = list(self.each(tag))
        if not children:
            raise self.place.fault(f"expected <{tag}> in <{self.tag}>, got none")
        if len(children) > 1:
            raise children[1].place.fault(f"expected one <{tag}> in <{self.tag}>, got another")
        return children[0]

    def only(self, tags: Collection[str]) -> None:
        """Raise `ModelFileError` at the first child with a tag that is none of those known."""
        for child in self.children:
            if child.tag not in tags:
                raise child.place.unknown(f"<{child.tag[:40]}> in <{self.tag[:40]}>")

    def attribute(self, name: str) -> str:
        """Return an attribute; raise `ModelFileError` if it is missing."""
        if name not in self.attributes:
            raise self.place.fault(f"expected an attribute {name} of <{self.tag}>, got none")
        return self.attributes[name]

    def table(self, scope: Scope) -> Numbers:
        """Return the text as the rows of a table; raise `ModelFileError` if it is none."""
        words = self.words
        values = number_list(words)
        if isinstance(values, int):
            raise self.place.fault(
                f"expected numbers for {scope[0].name} in <{self.tag}>,"
                f" got {shown(words[values])} as number {values + 1}"
            )
        n_cells = math.prod(v.n_states for v in scope)
        if len(values) != n_cells:
            raise self.place.fault(
                f"expected {n_cells} numbers for {scope[0].name} in <{self.tag}>, got {len(values)}"
            )
        rows = values.reshape(-1, scope[0].n_states)
        return Numbers(scope, rows, lambda _: self.place)


@dataclass(frozen=True, slots=True)
class _Open:
    """An element whose end tag was not read yet."""

    tag: str
    attributes: Mapping[str, str]
    place: Place
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    def closed(self) -> Element:
        children, content = tuple(self.children), "".join(self.pieces)
        return Element(
            tag=self.tag,
            attributes=self.attributes,
            place=self.place,
            children=children,
            content=content,
        )


_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


def parse_xml(data: bytes) -> Element:
    """Return the root of an XML document; the prefixes of its tags are not resolved.

    Raises
    ------
    ModelFileError
        If the document is not XML, declares entities, or exceeds a limit; the error names the
        place.
    """
    if match := _MANY_ATTRIBUTES.search(data):
        line = data.count(b"\n", 0, match.start()) + 1
        column = match.start() - data.rfind(b"\n", 0, match.start())
        raise Place.at(line, column).fault(
            f"expected at most {_MOST_ATTRIBUTES:,} attributes of an element, got more"
        )
    parser = ParserCreate()
    parser.buffer_text = True
    # Otherwise every element would get all declared defaults.
    parser.specified_attributes = True
    # An element above the root, which gets the root as its child.
    open_elements = [_Open("", _NO_ATTRIBUTES, Place.at(1, 1))]
    declared = n_elements = 0

    def here() -> Place:
        return Place.at(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal n_elements
        n_elements += 1
        if len(open_elements) > _DEPTH:
            raise here().fault(f"expected at most {_DEPTH} nested elements, got another")
        if n_elements > _ELEMENTS:
            raise here().fault(f"expected at most {_ELEMENTS:,} elements, got another")
        open_elements.append(_Open(tag, attributes or _NO_ATTRIBUTES, here()))

    def end(_tag: str) -> None:
        element = open_elements.pop().closed()
        open_elements[-1].children.append(element)

    def text(piece: str) -> None:
        open_elements[-1].pieces.append(piece)

    def entity(name: str, *_: object) -> None:
        raise here().fault(f"expected no declarations of entities, got {shown(name)}")

    def attribute_list(_element: str, name: str, _kind: str, default: str | None, _: int) -> None:
        nonlocal declared
        declared += 1
        # expat visits all of them at every element.
        if declared > _DECLARED:
            raise here().fault(f"expected at most {_DECLARED} declared attributes, got another")
        if name in _READ and default not in (None, "nature"):
            raise here().fault(f"expected no default of the attribute {name}, got {shown(default)}")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = entity
    parser.AttlistDeclHandler = attribute_list
    try:
        parser.Parse(data, True)
    except ExpatError as fault:
        place = Place.at(fault.lineno, fault.offset + 1)
        raise place.fault(f"expected XML, got {ErrorString(fault.code)}") from fault
    except ModelFileError:
        raise
    # Python does not know the encoding, or XML does not allow it.
    except (LookupError, ValueError) as fault:
        raise here().fault(f"expected a known encoding, got another ({fault})") from fault
    return open_elements[0].children[0]


_KNOWN_IN_XMLBIF = {
    "BIF": ("NETWORK",),
    "NETWORK": ("NAME", "PROPERTY", "VARIABLE", "DEFINITION"),
    "VARIABLE": ("NAME", "OUTCOME", "PROPERTY"),
    "DEFINITION": ("FOR", "GIVEN", "TABLE", "PROPERTY"),
}
"""The elements of the format; properties are remarks."""

_TYPES = {"nature": "", "decision": "decision", "utility": "utility"}

_NOTE = f"bnmind_names = {ENCODING}"


def from_xmlbif(data: bytes, *, max_cells: int, reading: Reading = PLAIN_READING) -> ReadNetwork:
    """Return the network in an XMLBIF file, and its variables in the order of the file.

    Parameters
    ----------
    data
        The bytes of the file; XML names its own encoding.
    max_cells
        The largest number of cells of all tables together.
    reading
        How rows that do not sum to one are treated.

    Raises
    ------
    ModelFileError
        If the file is not of this form, or is no valid network; the error names the place.
    TooLargeError
        If there are more cells; nothing is allocated.
    """
    root = parse_xml(data)
    if root.tag != "BIF":
        raise root.place.fault(f"expected <BIF>, got <{root.tag[:40]}>")
    body = root.one("NETWORK")
    for entry in (root, body, *body.children):
        entry.only(_KNOWN_IN_XMLBIF.get(entry.tag, ()))
    definitions = {entry.one("FOR").text: entry for entry in body.each("DEFINITION")}
    return network_from(
        [_variable(entry) for entry in body.each("VARIABLE")],
        [
            DeclaredTable(
                (entry.one("FOR").text, *(parent.text for parent in entry.each("GIVEN"))),
                entry.place,
            )
            for entry in body.each("DEFINITION")
        ],
        lambda table, scope: definitions[table.names[0]].one("TABLE").table(scope),
        max_cells=max_cells,
        encoded=any(note.text == _NOTE for note in body.each("PROPERTY")),
        reading=reading,
    )


def _variable(entry: Element) -> DeclaredVariable:
    kind = entry.attributes.get("TYPE", "nature")
    if kind not in _TYPES:
        raise entry.place.fault(f"expected variables of type nature, got {shown(kind)}")
    states = tuple(outcome.text for outcome in entry.each("OUTCOME"))
    return DeclaredVariable(entry.one("NAME").text, states, entry.place, kind=_TYPES[kind])


def to_xmlbif(network: Network, *, encoded: bool = False) -> str:
    """Return the network in XMLBIF 0.3.

    ``encoded`` says whether its names are encoded, see `bnmind.pgm.encoded_names`.
    """
    root = ElementTree.Element("BIF", VERSION="0.3")
    body = ElementTree.SubElement(root, "NETWORK")
    ElementTree.SubElement(body, "NAME").text = "bnmind"
    if encoded:
        ElementTree.SubElement(body, "PROPERTY").text = _NOTE
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
        ElementTree.SubElement(entry, "TABLE").text = written(rows_of(cpd).ravel().tolist())
    return format_xml(root)


XMLBIF = TableFormat(
    about="XMLBIF 0.3",
    write=to_xmlbif,
    parse=from_xmlbif,
    # All other names are encoded; pgmpy, which reads many of these files, needs that too.
    alphabet=Alphabet(re.compile(r"\S+(?: \S+)*+"), re.compile(r"[A-Za-z0-9_]+")),
)
"""The format with the names that it can hold."""


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
    return certain_states(entry.words, scope, entry.place)


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
    return format_xml(root)


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
