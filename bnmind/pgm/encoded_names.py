"""Encoding of names for file formats that do not allow all characters.

A character that the format does not allow becomes ``_xHHHH_``, with its code point in four to six
hexadecimal digits, as in SQL/XML (ISO 9075-14, *identifier escaping*) and in .NET's
``XmlConvert.EncodeName``: ``item.1`` becomes ``item_x002E_1``. A file with encoded names contains
a note, and readers decode names only in files with this note. In such a file an underscore before
an ``x`` becomes ``_x005F_``, so that no plain name looks like an encoded one. The empty text
becomes ``_x_``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from bnmind._values import Value
from bnmind.pgm.cpd import CPD, FunctionalCPD
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

ENCODING = "_xHHHH_"
"""The note in files with encoded names."""

_ESCAPED = re.compile(r"_x([0-9A-F]{4}|[1-9A-F][0-9A-F]{4,5})_")
_LAST_CODE_POINT = 0x10FFFF


def decoded(text: str) -> str:
    """Return the original of an encoded name.

    >>> decoded("item_x002E_1"), decoded("_x_")
    ('item.1', '')
    """
    return "" if text == "_x_" else _ESCAPED.sub(_character, text)


def decoded_variable(variable: Variable) -> Variable:
    """Return a variable with its name and states decoded.

    Raises
    ------
    InvalidModelError
        If the decoded name is not valid, or decoded states are equal.
    """
    return Variable(decoded(variable.name), tuple(map(decoded, variable.states)))


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code <= _LAST_CODE_POINT else match[0]


def _escape(character: str) -> str:
    return f"_x{ord(character):04X}_"


@dataclass(frozen=True)
class FileNames(Value):
    """The names of a model that are encoded in its file.

    Examples
    --------
    >>> print(FileNames({"item.1": "item_x002E_1"}, {}))
    item.1 is written as item_x002E_1
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    """For each variable with an encoded name, the name in the file."""
    states: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """For each variable, the encoded states with their names in the file."""

    def __bool__(self) -> bool:
        return bool(self.variables or self.states)

    def __str__(self) -> str:
        parts = [f"{name} is written as {text}" for name, text in self.variables.items()]
        parts += [
            f"state {state!r} of {name} is written as {text}"
            for name, of in self.states.items()
            for state, text in of.items()
        ]
        return "; ".join(parts) or "no name is encoded"

    def applied_to(self, network: Network) -> Network:
        """Return the network with the names of the file."""
        if not self:
            return network
        return Network(tuple(_renamed(cpd, self._in_file) for cpd in network.cpds))

    def _in_file(self, variable: Variable) -> Variable:
        of = self.states.get(variable.name, {})
        states = tuple(of.get(state, state) for state in variable.states)
        return Variable(self.variables.get(variable.name, variable.name), states)


def _renamed(cpd: CPD, rename: Callable[[Variable], Variable]) -> CPD:
    child, *parents = map(rename, cpd.scope)
    match cpd:
        case TabularCPD():
            return TabularCPD(child, tuple(parents), cpd.values)
        case FunctionalCPD():
            return FunctionalCPD(child, tuple(parents), cpd.function)
        case _:
            return type(cpd)(child, tuple(parents), cpd.links, cpd.leak)


@dataclass(frozen=True)
class Alphabet:
    """The names that a file format allows."""

    variable: re.Pattern[str]
    """Matches the names of variables that need no encoding."""
    state: re.Pattern[str]
    """Matches the names of states that need no encoding."""
    mistaken: re.Pattern[str] | None = None
    """A part of variable names that other readers misinterpret."""
    fold: bool = False
    """Whether names that differ only in case are the same."""

    def names_of(self, variables: Sequence[Variable]) -> FileNames:
        """Return the names that need encoding; none if the format allows all names.

        >>> plain = re.compile(r"[A-Za-z0-9_]+")
        >>> Alphabet(plain, plain).names_of([Variable("Hören", ("no", "a lot"))])
        FileNames(variables={'Hören': 'H_x00F6_ren'}, states={'Hören': {'a lot': 'a_x0020_lot'}})
        """
        if self._as_they_are(variables):
            return FileNames()
        used: set[str] = set()
        names: dict[str, str] = {}
        for v in variables:
            text = next(text for text in self._forms(v.name) if self._folded(text) not in used)
            used.add(self._folded(text))
            names[v.name] = text
        states = {v.name: {s: _encoded(s, self.state) for s in v.states} for v in variables}
        changed = {name: new for name, of in states.items() if (new := _changed(of))}
        return FileNames(_changed(names), changed)

    def _as_they_are(self, variables: Sequence[Variable]) -> bool:
        return len({self._folded(v.name) for v in variables}) == len(variables) and all(
            _is_plain(v.name, self.variable)
            and not (self.mistaken and self.mistaken.search(v.name))
            and all(_is_plain(state, self.state) for state in v.states)
            for v in variables
        )

    def _folded(self, name: str) -> str:
        return name.lower() if self.fold else name

    def _forms(self, name: str) -> list[str]:
        """Return the candidate encodings of a name; the last one is unique."""
        wrong = {m.start() for m in self.mistaken.finditer(name)} if self.mistaken else set()
        forms = [] if wrong else [_encoded(name, self.variable)]
        forms.append(_encoded(name, self.variable, wrong or {0}))
        return [*forms, _encoded(name, self.variable, set(range(len(name))))]


def _is_plain(text: str, plain: re.Pattern[str]) -> bool:
    return text.isprintable() and plain.fullmatch(text) is not None


def _encoded(text: str, plain: re.Pattern[str], places: AbstractSet[int] = frozenset()) -> str:
    """Return a text with the characters at some places, and those that are not plain, escaped."""
    whole = _is_plain(text, plain)
    escaped = [
        _escape(c)
        if i in places
        or (c == "_" and text[i + 1 : i + 2] in ("x", "X"))
        or not (whole or _is_plain(c, plain))
        else c
        for i, c in enumerate(text)
    ]
    return "".join(escaped) or "_x_"


def _changed(names: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in names.items() if name != text}
