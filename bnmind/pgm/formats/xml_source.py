"""XML as a tree of elements that know their place, without what makes XML dangerous.

No entity is declared, so none can grow ("billion laughs"); external ones are not
loaded; attributes have no values but those written at the element, whatever defaults
are declared; elements are not nested beyond any model's need, and not too many.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

from bnmind.errors import ModelFileError
from bnmind.pgm.formats.declared import Numbers, Scope
from bnmind.pgm.formats.source import Place, number_list, shown

__all__ = ["Element", "parse_xml"]

_DEPTH = 100
_ELEMENTS = 2**20
_DECLARED = 100
_ATTRIBUTES = 1000
_MANY_ATTRIBUTES = re.compile(
    rb"""<[A-Za-z_:][^<>"']*+(?:(?:"[^"<]*+"|'[^'<]*+')[^<>"']*+){%d}""" % (_ATTRIBUTES + 1)
)
"""A start tag with too many attributes: expat takes longer for each, the more there are."""

_READ = ("TYPE", "id")
"""Attributes that a reader looks at."""


@dataclass(frozen=True, slots=True)
class Element:
    """An element."""

    tag: str
    attributes: Mapping[str, str]
    place: Place
    children: tuple[Element, ...]
    content: str
    """The text directly in it."""

    @property
    def text(self) -> str:
        """The text directly in it, without blanks around."""
        return self.content.strip()

    @property
    def words(self) -> list[str]:
        """The words of its text."""
        return self.content.split()

    def each(self, tag: str) -> Iterator[Element]:
        """Yield the children with a tag."""
        return (child for child in self.children if child.tag == tag)

    def one(self, tag: str) -> Element:
        """Return the only child with a tag; a fault if there is none, or another."""
        children = list(self.each(tag))
        if not children:
            raise self.place.fault(f"expected <{tag}> in <{self.tag}>, got none")
        if len(children) > 1:
            raise children[1].place.fault(f"expected one <{tag}> in <{self.tag}>, got another")
        return children[0]

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
        n_cells = math.prod(v.n_states for v in scope)
        if len(values) != n_cells:
            raise self.place.fault(
                f"expected {n_cells} numbers for {scope[0].name} in <{self.tag}>, got {len(values)}"
            )
        rows = values.reshape(-1, scope[0].n_states)
        return Numbers(scope, rows, lambda _: self.place)


@dataclass(frozen=True, slots=True)
class _Open:
    """An element whose end has not been read yet."""

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
    """Return the root of an XML document, its tags without name spaces' prefixes resolved.

    Raises
    ------
    ModelFileError
        If it is no XML, declares entities, has too many elements or too deep ones, or an
        element has too many attributes; with the place.
    """
    if match := _MANY_ATTRIBUTES.search(data):
        line = data.count(b"\n", 0, match.start()) + 1
        column = match.start() - data.rfind(b"\n", 0, match.start())
        raise Place(line, column).fault(
            f"expected at most {_ATTRIBUTES:,} attributes of an element, got more"
        )
    parser = ParserCreate()
    parser.buffer_text = True
    # Otherwise every element would be given the defaults that are declared, however many.
    parser.specified_attributes = True
    # Below the root, so that the root is closed into something.
    open_elements = [_Open("", _NO_ATTRIBUTES, Place(1, 1))]
    declared = n_elements = 0

    def here() -> Place:
        return Place(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)

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
        # expat goes through them all at every element.
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
        place = Place(fault.lineno, fault.offset + 1)
        raise place.fault(f"expected XML, got {ErrorString(fault.code)}") from fault
    except ModelFileError:
        raise
    # An encoding that Python does not know, or not as one that XML may have.
    except (LookupError, ValueError) as fault:
        raise here().fault(f"expected a known encoding, got another ({fault})") from fault
    return open_elements[0].children[0]
