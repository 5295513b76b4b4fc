"""Reader and writer of XMLBIF 0.3.

A table has a row for each configuration of the GIVEN variables, the last one fastest; the row has
a number for each state of the FOR variable.

References
----------
F. G. Cozman, *The Interchange Format for Bayesian Networks* 0.3 in XML, 1998.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from bnmind.pgm.encoded_names import ENCODING, Alphabet
from bnmind.pgm.formats.declared import (
    DeclaredTable,
    DeclaredVariable,
    ReadNetwork,
    network_from,
)
from bnmind.pgm.formats.model_format import TableFormat
from bnmind.pgm.formats.reading import PLAIN_READING, Reading
from bnmind.pgm.formats.source import shown
from bnmind.pgm.formats.table_text import rows_of, written, xml_text
from bnmind.pgm.formats.xml_source import Element, parse_xml
from bnmind.pgm.network import Network

__all__ = ["XMLBIF", "from_xmlbif", "to_xmlbif"]

_KNOWN = {
    "BIF": ("NETWORK",),
    "NETWORK": ("NAME", "PROPERTY", "VARIABLE", "DEFINITION"),
    "VARIABLE": ("NAME", "OUTCOME", "PROPERTY"),
    "DEFINITION": ("FOR", "GIVEN", "TABLE", "PROPERTY"),
}
"""The elements of the format; properties are remarks."""

_KINDS = {"nature": "", "decision": "decision", "utility": "utility"}

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
        entry.only(_KNOWN.get(entry.tag, ()))
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
    if kind not in _KINDS:
        raise entry.place.fault(f"expected variables of type nature, got {shown(kind)}")
    states = tuple(outcome.text for outcome in entry.each("OUTCOME"))
    return DeclaredVariable(entry.one("NAME").text, states, entry.place, kind=_KINDS[kind])


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
    return xml_text(root)


XMLBIF = TableFormat(
    about="XMLBIF 0.3",
    write=to_xmlbif,
    parse=from_xmlbif,
    # All other names are encoded; pgmpy, which reads many of these files, needs that too.
    alphabet=Alphabet(re.compile(r"\S+(?: \S+)*+"), re.compile(r"[A-Za-z0-9_]+")),
)
"""The format with the names that it can hold."""
