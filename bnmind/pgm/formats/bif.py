"""Reader and writer of BIF, the interchange format of bnlearn's repository.

::

    network NAME { … }
    variable B { type discrete [ 2 ] { no, yes }; }
    probability ( B | A ) {
      default 0.5, 0.5;
      (low) 0.9, 0.1;
    }

Commas and the bar count as blanks, as in the first description of the format. In a ``table``
the child varies slowest and the last parent fastest. Comments are ``//`` and ``/* */``. The
reader ignores properties, and accepts quotes around names and states.

References
----------
F. G. Cozman, *The Interchange Format for Bayesian Networks* 0.15, 1996; the files of
M. Scutari's Bayesian network repository.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from bnmind.errors import ModelFileError
from bnmind.pgm.encoded_names import ENCODING, Alphabet
from bnmind.pgm.formats.declared import (
    PLAIN_READING,
    DeclaredTable,
    DeclaredVariable,
    Numbers,
    Reading,
    ReadNetwork,
    Scope,
    network_from,
)
from bnmind.pgm.formats.model_format import TableFormat, rows_of, text_reader, written
from bnmind.pgm.formats.source import Place, Source, number_list, shown
from bnmind.pgm.network import Network
from bnmind.pgm.variable import Variable

# The groups match text that stays: quoted strings, and a comment without an end. Up to Python
# 3.11.4 a possessive group with a lookahead never matches; this lazy one ends at \Z at the latest.
_COMMENTS = re.compile(r'("[^"\n]*+"?)|//[^\n]*+|/\*(?s:.*?)(?:\*/|(\Z))')
_NAME = r'(?:"[^"]*+"|[^\s,;|(){}"]++)'
_WORD = re.compile(_NAME)
_BLOCK = re.compile(r"\s*+(?:(network|variable|probability)\b|\Z)")
_HEAD = re.compile(rf"\s*+(?:{_NAME}\s*+)*+\{{")
_PROPERTIES = re.compile(r'(?:\s++|property\b(?:[^;"]++|"[^"]*+")*+;)*+\}')
_ENCODED = re.compile(rf"\bproperty\s++bnmind_names\s++{ENCODING}\s*+;")
_INSIDE = re.compile(r'(?:[^{}"]++|"[^"]*+")*+\}')
_VARIABLE = re.compile(rf"\s*+({_NAME})\s*+\{{")
_STATEMENT = re.compile(
    r'\s*+(?:(?P<end>\})|property\b(?:[^;"]++|"[^"]*+")*+;'
    rf"|type\s++discrete\s*+\[\s*+(?P<count>[0-9]++)\s*+\]\s*+\{{"
    rf"(?P<states>(?:[\s,]++|{_NAME})*+)\}}\s*+;?)"
)
_SCOPE = re.compile(rf"\s*+\((?P<names>(?:[\s,|]++|{_NAME})*+)\)\s*+\{{")
_ROW = re.compile(
    r'\s*+(?:(?P<end>\})|property\b(?:[^;"]++|"[^"]*+")*+;'
    rf"|(?:\((?P<states>(?:[\s,]++|{_NAME})*+)\)|(?P<kind>table|default)(?=[\s.])"
    r")(?P<numbers>[^;{}()]*+);)"
)


@dataclass(frozen=True)
class _Table(DeclaredTable):
    """The head of a table, and the offset where its body starts."""

    body: int


class _Row(NamedTuple):
    """The head of a row, and the offset of its numbers."""

    kind: str
    """"row", "default", or "table" for a row with all numbers."""
    configuration: int
    start: int


def from_bif(text: str, *, max_cells: int, reading: Reading = PLAIN_READING) -> ReadNetwork:
    """Return the network in a BIF text, and its variables in the order of the text.

    Parameters
    ----------
    text
        The text of the file.
    max_cells
        The largest number of cells of all tables together.
    reading
        How rows that do not sum to one are treated.

    Raises
    ------
    ModelFileError
        If the text is not of this form, or is no valid network; the error names the place.
    TooLargeError
        If there are more cells; nothing is allocated.
    """
    has_comments = "//" in text or "/*" in text
    source = Source.without(_COMMENTS, text) if has_comments else Source(text)
    variables, tables, encoded = _declarations(source)
    return network_from(
        variables,
        tables,
        partial(_table, source),
        max_cells=max_cells,
        encoded=encoded,
        reading=reading,
    )


def _names(text: str) -> list[str]:
    if '"' in text:
        return [word.strip('"') for word in _WORD.findall(text)]
    return text.replace(",", " ").replace("|", " ").split()


def _declarations(source: Source) -> tuple[list[DeclaredVariable], list[_Table], bool]:
    """Return the declared variables and tables, and whether the names are encoded."""
    variables: list[DeclaredVariable] = []
    tables: list[_Table] = []
    encoded = False
    at = 0
    while True:
        block = source.match(_BLOCK, at, expected="'network', 'variable' or 'probability'")
        at = block.end()
        match block[1]:
            case None:
                return variables, tables, encoded
            case "network":
                at = source.match(_HEAD, at, expected="a name and '{'").end()
                properties = source.match(_PROPERTIES, at, expected="properties and '}'")
                encoded = _ENCODED.search(properties[0]) is not None
                at = properties.end()
            case "variable":
                variable, at = _variable(source, at)
                variables.append(variable)
            case _:
                head = source.match(_SCOPE, at, expected="'(', names of variables, ')' and '{'")
                names = tuple(_names(head["names"]))
                if not names:
                    raise source.fault("the name of a variable", head.start("names"))
                tables.append(_Table(names, source.place(block.start(1)), head.end()))
                at = source.match(_INSIDE, head.end(), expected="rows and '}'").end()


def _variable(source: Source, at: int) -> tuple[DeclaredVariable, int]:
    head = source.match(_VARIABLE, at, expected="the name of a variable and '{'")
    name, place = head[1].strip('"'), source.place(head.start(1))
    states: tuple[str, ...] | None = None
    at = head.end()
    while True:
        part = source.match(
            _STATEMENT, at, expected="'type discrete [ number ] { states };', a property or '}'"
        )
        at = part.end()
        if part["end"]:
            break
        if part["states"] is None:
            continue
        if states is not None:
            raise source.fault(f"one type of {shown(name)}", part.start())
        states = tuple(_names(part["states"]))
        # Do not show the number: it may have thousands of digits.
        if part["count"].lstrip("0") != str(len(states)).lstrip("0"):
            raise source.place(part.start("count")).fault(
                f"expected as many states of {shown(name)} as declared,"
                f" {shown(part['count'])}, got {len(states)}"
            )
    if states is None:
        raise source.fault(f"the type of {shown(name)}", at - 1)
    return DeclaredVariable(name, states, place), at


def _table(source: Source, table: _Table, scope: Scope) -> Numbers:
    rows, tokens = _rows(source, table.body, scope)
    size, n_rows = scope[0].n_states, math.prod(v.n_states for v in scope[1:])
    whole = bool(rows) and rows[0].kind == "table"

    def place(number: int) -> Place:
        row, number = (0, number) if whole else divmod(number, size)
        return source.place_of_number(number, rows[row].start, len(source.text))

    values = number_list(tokens)
    if isinstance(values, int):
        raise place(values).fault(
            f"expected a number for {scope[0].name}, got {shown(tokens[values])}"
        )
    if whole:
        child_last = values.reshape(size, n_rows).T
        return Numbers(scope, child_last, lambda k: place(k % size * n_rows + k // size))
    default = next((i for i, row in enumerate(rows) if row.kind == "default"), None)
    row_of = {row.configuration: i for i, row in enumerate(rows) if row.kind == "row"}
    if default is None and len(row_of) < n_rows:
        raise table.place.fault(
            f"expected {n_rows} configurations of the parents of {scope[0].name}, got {len(row_of)}"
        )
    order = np.full(n_rows, default or 0, dtype=np.intp)
    order[list(row_of)] = list(row_of.values())
    return Numbers(
        scope,
        values.reshape(-1, size)[order],
        lambda k: place(int(order[k // size]) * size + k % size),
    )


def _rows(source: Source, at: int, scope: Scope) -> tuple[list[_Row], list[str]]:
    """Return the rows of a table, without duplicates, and all numbers."""
    child, *parents = scope
    shape = tuple(v.n_states for v in parents)
    offsets = [
        {state: math.prod(shape[axis + 1 :]) * i for i, state in enumerate(parent.states)}
        for axis, parent in enumerate(parents)
    ]
    seen: set[int | str] = set()
    rows: list[_Row] = []
    numbers: list[str] = []
    n_states = child.n_states
    while True:
        match = source.match(_ROW, at, expected="a row that ends in ';', or '}'")
        end, names, kind, tokens = match.groups()
        if end:
            return rows, numbers
        at = match.end()
        if tokens is None:
            continue
        tokens = tokens.replace(",", " ").split()
        key, configuration, n_expected = kind, 0, n_states
        if kind is None:
            states = _names(names)
            try:
                key = configuration = sum(map(dict.__getitem__, offsets, states))
            except KeyError:
                raise _unknown_state(source, match, parents) from None
            if len(states) != len(parents):
                raise source.place(source.skip(match.start())).fault(
                    f"expected states of the {len(parents)} parents of {child.name},"
                    f" got {len(states)}"
                )
        elif kind == "table":
            n_expected *= math.prod(shape)
        if key in seen or (rows and "table" in (kind, rows[0].kind)):
            raise source.place(source.skip(match.start())).fault(
                f"expected each configuration of {child.name} once, got another row"
            )
        if len(tokens) != n_expected:
            raise source.place(source.skip(match.start("numbers"))).fault(
                f"expected {n_expected} numbers for {child.name}, got {len(tokens)}"
            )
        seen.add(key)
        numbers += tokens
        rows.append(_Row(kind or "row", configuration, match.start("numbers")))


def _unknown_state(
    source: Source, row: re.Match[str], parents: Sequence[Variable]
) -> ModelFileError:
    words = _WORD.finditer(source.text, row.start("states"), row.end("states"))
    for word, parent in zip(words, parents, strict=False):
        state = word[0].strip('"')
        if state not in parent.states:
            return source.place(word.start()).fault(
                f"expected a state of {parent.name}, got {shown(state)}"
            )
    raise AssertionError("called for a row with an unknown state")


def to_bif(network: Network, *, encoded: bool = False) -> str:
    """Return the network as a BIF text, with a row for each configuration of the parents.

    ``encoded`` says whether its names are encoded, see `bnmind.pgm.encoded_names`.
    """
    note = f"  property bnmind_names {ENCODING} ;\n" if encoded else ""
    blocks = [f"network bnmind {{\n{note}}}\n"]
    for variable in network.variables:
        blocks.append(
            f"variable {variable.name} {{\n"
            f"  type discrete [ {variable.n_states} ] {{ {', '.join(variable.states)} }};\n}}\n"
        )
    for cpd in network.cpds:
        rows = rows_of(cpd).tolist()
        if cpd.parents:
            condition = " | " + ", ".join(v.name for v in cpd.parents)
            configurations = itertools.product(*(v.states for v in cpd.parents))
            lines = [
                f"  ({', '.join(states)}) {written(row, ', ')};\n"
                for states, row in zip(configurations, rows, strict=True)
            ]
        else:
            condition, lines = "", [f"  table {written(rows[0], ', ')};\n"]
        blocks.append(f"probability ( {cpd.variable.name}{condition} ) {{\n{''.join(lines)}}}\n")
    return "".join(blocks)


BIF = TableFormat(
    about="BIF, of bnlearn's repository",
    write=to_bif,
    parse=text_reader(from_bif),
    # All other names are encoded; pgmpy, which reads many of these files, needs that too.
    alphabet=Alphabet(
        re.compile(r"[^\s,;|(){}\"/]+"),
        re.compile(r"[^\s,;|(){}\"/]+"),
        # Readers take "table1" for the keyword and a number.
        mistaken=re.compile(r"(table|default)[-0-9eE]"),
        fold=True,
    ),
)
"""The format with the names that it can hold."""
