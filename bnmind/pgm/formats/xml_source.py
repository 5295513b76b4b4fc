"""A safe reader of XML, which returns a tree of elements with their places.

The reader rejects declarations of entities, so none can grow ("billion laughs"), and loads no
external ones. It ignores declared defaults of attributes. It limits the number of elements, the
number of attributes of an element, and the depth of nesting.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
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
        raise Place(line, column).fault(
            f"expected at most {_ATTRIBUTES:,} attributes of an element, got more"
        )
    parser = ParserCreate()
    parser.buffer_text = True
    # Otherwise every element would get all declared defaults.
    parser.specified_attributes = True
    # An element above the root, which gets the root as its child.
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
        place = Place(fault.lineno, fault.offset + 1)
        raise place.fault(f"expected XML, got {ErrorString(fault.code)}") from fault
    except ModelFileError:
        raise
    # Python does not know the encoding, or XML does not allow it.
    except (LookupError, ValueError) as fault:
        raise here().fault(f"expected a known encoding, got another ({fault})") from fault
    return open_elements[0].children[0]
