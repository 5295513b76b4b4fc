"""Bayesian networks from the text of other programs' formats, through pgmpy's readers.

The readers skip without a word what they do not understand, and assign tables by
counting; so the text is tidied before, and refused where they would misread it.
Each function takes the text and returns a pgmpy model; `ModelFileError` says what
is known to be wrong, and anything else that the readers raise is for
`bnmind.pgm.files` to put into words.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree

from bnmind.errors import ModelFileError
from bnmind.pgm.pgmpy_bridge import pgmpy_object, quiet_pgmpy

__all__ = ["from_bif", "from_net", "from_xdsl", "from_xmlbif"]


def _model(reader: str, text: str) -> Any:
    reader_type = pgmpy_object("pgmpy.readwrite", reader)
    with quiet_pgmpy():
        return reader_type(string=text).get_model()


def from_bif(text: str) -> Any:
    """Return the pgmpy model in a BIF text."""
    plain = re.sub(r'("[^"]*")|/\*.*?\*/|//[^\n]*', lambda m: m[1] or " ", text, flags=re.DOTALL)
    names = re.findall(r"^\s*variable\s+([^\s{]+)", plain, flags=re.MULTILINE)
    # The reader looks names up without regard to case, and keeps the last table of each.
    _refuse_twins(names, fold=True)
    tables = re.findall(r"^\s*probability\s*\(\s*([^\s|)]+)", plain, flags=re.MULTILINE)
    _refuse_twins(tables, fold=True)
    # It knows the end of a block by "}" followed at once by a line break.
    return _model("BIFReader", re.sub(r"\}[ \t]*(?=\n|\Z)", "}", plain) + "\n")


def from_net(text: str) -> Any:
    """Return the pgmpy model in a Hugin NET text."""
    plain = re.sub(r'("[^"]*")|%[^\n]*', lambda m: m[1] or " ", text)
    plain = re.sub(r"(?m)^\s*(discrete|chance)\s+(?=node\b)", "", plain)
    bare = re.sub(r'"[^"]*"', '""', plain)
    other = re.search(r"(?m)^\s*(continuous|utility|decision|function|class)\b", bare)
    if other:
        raise ModelFileError(f"expected discrete chance nodes only, got {other[1]!r}")
    counts = [
        len(re.findall(pattern, bare))
        for pattern in (r"(?m)^\s*node\s", r"\bstates\s*=", r"\bpotential\s*\(", r"\bdata\s*=")
    ]
    # The reader pairs nodes with states, and potentials with data, by counting.
    if len(set(counts)) != 1 or counts[0] == 0:
        raise ModelFileError(
            "expected as many lists of states, potentials and data as nodes, got"
            " {1}, {2} and {3} for {0} nodes".format(*counts)
        )
    # It wants "node name{" or "node name {", with single blanks.
    plain = re.sub(r"(?m)^\s*node\s+", "node ", plain)
    return _model("NETReader", plain)


def from_xmlbif(text: str) -> Any:
    """Return the pgmpy model in an XMLBIF text."""
    root = _xml(text)
    for variable in root.iter("VARIABLE"):
        # Properties are free text; the reader stumbles over those without "=".
        for note in variable.findall("PROPERTY"):
            variable.remove(note)
    for element in root.iter():
        element.text = (element.text or "").strip()
    _refuse_twins([e.text or "" for e in root.iterfind("NETWORK/VARIABLE/NAME")])
    _refuse_twins([e.text or "" for e in root.iterfind("NETWORK/DEFINITION/FOR")])
    return _model("XMLBIFReader", ElementTree.tostring(root, encoding="unicode"))


def from_xdsl(text: str) -> Any:
    """Return the pgmpy model in an XDSL text."""
    root = _xml(text)
    nodes = root.find("nodes")
    if nodes is None:
        raise ModelFileError("expected nodes in the XDSL text, got none")
    # The reader leaves out every node that is not a plain table.
    other = sorted({node.tag for node in nodes if node.tag != "cpt"})
    if other:
        raise ModelFileError(f"expected nodes of kind cpt only, got {', '.join(other)}")
    _refuse_twins([node.get("id", "") for node in nodes])
    for element in (*nodes.iter("parents"), *nodes.iter("probabilities")):
        element.text = " ".join((element.text or "").split())
    for entry in nodes:
        for parents in entry.findall("parents"):
            if not parents.text:
                entry.remove(parents)
    return _model("XDSLReader", ElementTree.tostring(root, encoding="unicode"))


def _xml(text: str) -> ElementTree.Element:
    try:
        # An encoding declared inside the text no longer matters once it is decoded.
        return ElementTree.fromstring(text.encode("utf-8"), ElementTree.XMLParser(encoding="utf-8"))
    except ElementTree.ParseError as fault:
        raise ModelFileError(f"expected XML, got text that is not ({fault})") from fault


def _refuse_twins(names: list[str], *, fold: bool = False) -> None:
    counts = Counter(name.lower() if fold else name for name in names)
    twins = [name for name, count in counts.items() if count > 1]
    if twins:
        how = " whatever their case" if fold else ""
        raise ModelFileError(f"expected different names{how}, got {', '.join(twins)} twice")
