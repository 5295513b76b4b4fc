"""XML as a tree of elements that know their place, without what makes XML dangerous.

No entity is declared, so none can grow ("billion laughs"); external ones are not
loaded; declared attributes are few; and elements are not nested beyond any model's
need.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from bnmind.errors import ModelFileError
from bnmind.pgm.declared import Numbers, Scope
from bnmind.pgm.source import Place, number_list, shown

__all__ = ["Element", "parse_xml"]

_DEPTH = 100
_DECLARED = 1000
_LONGEST_DEFAULT = 100


@dataclass(frozen=True)
class Element:
    """An element; its parts are added while it is read."""

    tag: str
    attributes: dict[str, str]
    place: Place
    children: list[Element] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly in it, without blanks around."""
        return "".join(self._pieces).strip()

    @property
    def words(self) -> list[str]:
        """The words of its text."""
        return "".join(self._pieces).split()

    def each(self, tag: str) -> Iterator[Element]:
        """Yield the children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> Element:
        """Return the only child with a tag; a fault if there is none, or another."""
        found = list(self.each(tag))
        if not found:
            raise self.place.fault(f"expected <{tag}> in <{self.tag}>, got none")
        if len(found) > 1:
            raise found[1].place.fault(f"expected one <{tag}> in <{self.tag}>, got another")
        return found[0]

    def attribute(self, name: str) -> str:
        """Return an attribute; a fault if it is missing."""
        if name not in self.attributes:
            raise self.place.fault(f"expected an attribute {name} of <{self.tag}>, got none")
        return self.attributes[name]

    def table(self, scope: Scope) -> Numbers:
        """Return its text as the rows of a table; a fault if it is anything else."""
        words = self.words
        values = number_list(words)
        if isinstance(values, int):
            raise self.place.fault(
                f"expected numbers for {scope[0].name} in <{self.tag}>,"
                f" got {shown(words[values])} as number {values + 1}"
            )
        wanted = math.prod(v.n_states for v in scope)
        if len(values) != wanted:
            raise self.place.fault(
                f"expected {wanted} numbers for {scope[0].name} in <{self.tag}>, got {len(values)}"
            )
        rows = values.reshape(-1, scope[0].n_states)
        return Numbers(scope, rows, lambda _: self.place)


def parse_xml(data: bytes) -> Element:
    """Return the root of an XML document, its tags without name spaces' prefixes resolved.

    Raises
    ------
    ModelFileError
        If it is no XML, declares entities, or is nested too deeply; with the place.
    """
    parser = ParserCreate()
    open_elements: list[Element] = []
    roots: list[Element] = []
    declared = 0

    def here() -> Place:
        return Place(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, here())
        if len(open_elements) >= _DEPTH:
            raise element.place.fault(f"expected at most {_DEPTH} nested elements, got another")
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)

    def text(piece: str) -> None:
        open_elements[-1]._pieces.append(piece)

    def entity(name: str, *_: object) -> None:
        raise here().fault(f"expected no declarations of entities, got {shown(name)}")

    def attribute_list(_element: str, _name: str, _kind: str, default: str | None, _: int) -> None:
        nonlocal declared
        declared += 1
        # Every element is given the defaults, and expat looks for each among all the others.
        if declared > _DECLARED or len(default or "") > _LONGEST_DEFAULT:
            raise here().fault(
                f"expected at most {_DECLARED} declared attributes, all short, got more"
            )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: open_elements.pop()
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = entity
    parser.AttlistDeclHandler = attribute_list
    try:
        parser.Parse(data, True)
    except ExpatError as fault:
        place = Place(fault.lineno, fault.offset + 1)
        raise place.fault(f"expected XML, got {ErrorString(fault.code)}") from fault
    except ModelFileError:
        raise
    # An encoding that Python does not know, or not as one that XML may have.
    except (LookupError, ValueError) as fault:
        raise here().fault(f"expected a known encoding, got another ({fault})") from fault
    return roots[0]
