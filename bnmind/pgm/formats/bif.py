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
from dataclasses import dataclass
from functools import partial

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

# The groups match text that stays: quoted strings, and a comment without an end. Up to Python
# 3.11.4 a possessive group with a lookahead never matches; this lazy one ends at \Z at the latest.
_COMMENTS = re.compile(r'("[^"\n]*+"?)|//[^\n]*+|/\*(?s:.*?)(?:\*/|(\Z))')
_NAME = r'(?:"[^"]*+"|[^\s,;|(){}"]++)'
_WORD = re.compile(_NAME)
_HEAD = re.compile(rf"\s*+(?:{_NAME}\s*+)*+\{{")
_PROPERTY = r'property\b(?:[^;"]++|"[^"]*+")*+;'
_PROPERTIES = re.compile(rf"(?:\s++|{_PROPERTY})*+\}}")
_ENCODED = re.compile(rf"\bproperty\s++bnmind_names\s++{ENCODING}\s*+;")
_TYPE = (
    r"type\s++discrete\s*+\[\s*+(?P<count>[0-9]++)\s*+\]\s*+\{"
    rf"(?P<states>(?:[\s,]++|{_NAME})*+)\}}\s*+;?"
)
_ANOTHER_TYPE = re.compile(_TYPE)
# A match ends where a fault is, and lacks the groups of what follows.
_BLOCK = re.compile(
    rf"\s*+(?:(?P<variable>variable)\b(?:\s*+(?P<name>{_NAME})\s*+\{{(?:\s++|{_PROPERTY})*+"
    rf"(?:{_TYPE}(?:\s++|{_PROPERTY})*+)?(?P<end>\}})?)?"
    rf"|(?P<table>probability)\b(?:\s*+\((?P<names>(?:[\s,|]++|{_NAME})*+)\)\s*+\{{\s*+"
    r'(?P<rows>(?:[^{}"]++|"[^"]*+")*+)(?P<end_of_rows>\})?)?'
    r"|(?P<network>network)\b|\Z)"
)
# The last group holds the rest of a table, from the first fault on.
_ROW = re.compile(
    rf'(?:{_PROPERTY}|(?:(?P<states>\((?:[^;|(){{}}"]++|"[^"]*+")*+\))'
    r"|(?P<kind>table|default)(?=[\s.]))(?P<numbers>[^;{}()]*+);|(?P<wrong>\S(?s:.*+)))\s*+"
)


@dataclass
class _Table(DeclaredTable):
    """The head of a table, and the offsets of its rows."""

    rows: tuple[int, int]


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
    return text.replace(",", " ").split()


def _declarations(source: Source) -> tuple[list[DeclaredVariable], list[_Table], bool]:
    """Return the declared variables and tables, and whether the names are encoded."""
    variables: list[DeclaredVariable] = []
    tables: list[_Table] = []
    encoded = False
    at = 0
    while True:
        block = source.match(_BLOCK, at, expected="'network', 'variable' or 'probability'")
        at = block.end()
        if block["variable"]:
            variables.append(_variable(source, block))
        elif block["table"]:
            tables.append(_head(source, block))
        elif block["network"]:
            at = source.match(_HEAD, at, expected="a name and '{'").end()
            properties = source.match(_PROPERTIES, at, expected="properties and '}'")
            encoded = _ENCODED.search(properties[0]) is not None
            at = properties.end()
        else:
            return variables, tables, encoded


def _variable(source: Source, block: re.Match[str]) -> DeclaredVariable:
    name, count, given, end = block.group("name", "count", "states", "end")
    if name is None:
        raise source.fault("the name of a variable and '{'", block.end())
    name, states = name.strip('"'), tuple(_names(given or ""))
    # Do not show the number: it may have thousands of digits.
    if given is not None and count.lstrip("0") != str(len(states)).lstrip("0"):
        raise source.place(block.start("count")).fault(
            f"expected as many states of {shown(name)} as declared,"
            f" {shown(count)}, got {len(states)}"
        )
    if end is None:
        expected = "'type discrete [ number ] { states };', a property or '}'"
        if given is not None and _ANOTHER_TYPE.match(source.text, block.end()):
            expected = f"one type of {shown(name)}"
        raise source.fault(expected, block.end())
    if given is None:
        raise source.fault(f"the type of {shown(name)}", block.end() - 1)
    return DeclaredVariable(name, states, source.place(block.start("name")))


def _head(source: Source, block: re.Match[str]) -> _Table:
    given, end = block.group("names", "end_of_rows")
    if given is None:
        raise source.fault("'(', names of variables, ')' and '{'", block.end())
    names = tuple(_names(given.replace("|", ",")))
    if not names:
        raise source.fault("the name of a variable", block.start("names"))
    if end is None:
        raise source.fault("rows and '}'", block.start("rows"))
    return _Table(names, source.place(block.start("table")), block.span("rows"))


def _table(source: Source, table: _Table, scope: Scope) -> Numbers:
    child, *parents = scope
    size, n_rows = len(child.states), math.prod([len(v.states) for v in parents])
    # A property is a row without anything.
    rows = [row for row in _ROW.findall(source.text, *table.rows) if any(row)]
    keys = [kind or tuple(_names(states[1:-1])) for states, kind, _, _ in rows]
    tokens = [numbers.replace(",", " ").split() for _, _, numbers, _ in rows]
    is_whole = keys == ["table"]
    row_of: dict[object, int] = dict(zip(keys, range(len(keys)), strict=True))
    default = row_of.pop("default", -1)
    configurations = itertools.product(*[v.states for v in parents])
    order = [0] if is_whole else [row_of.get(key, default) for key in configurations]
    used = {*order, default} - {-1}
    lengths = {n_rows * size if is_whole else size}
    values = number_list([*itertools.chain.from_iterable(tokens)])
    fits = -1 not in order and len(used) == len(rows) and {*map(len, tokens)} == lengths
    if not fits or isinstance(values, int):
        raise _fault(source, table, scope)
    if is_whole:
        child_last = values.reshape(size, n_rows).T
        return Numbers(
            scope, child_last, lambda k: _place(source, table, 0, k % size * n_rows + k // size)
        )
    sorted_rows = values.reshape(-1, size)
    if order != [*range(len(rows))]:
        sorted_rows = sorted_rows[order]
    return Numbers(scope, sorted_rows, lambda k: _place(source, table, order[k // size], k % size))


def _fault(source: Source, table: _Table, scope: Scope) -> ModelFileError:
    """Return the error of the first fault in the rows of a table."""
    child, *parents = scope
    size, n_rows = child.n_states, math.prod([v.n_states for v in parents])
    seen: set[object] = set()
    numbers: list[str] = []
    for row in _ROW.finditer(source.text, *table.rows):
        states, kind, given, wrong = row.groups()
        if wrong:
            return source.fault("a row that ends in ';', or '}'", row.start())
        if given is None:
            continue
        words = [*_WORD.finditer(source.text, row.start("states") + 1, row.end("states") - 1)]
        names = [word[0].strip('"') for word in words] if states else []
        for word, name, parent in zip(words, names, parents, strict=False):
            if name not in parent.states:
                return source.place(word.start()).fault(
                    f"expected a state of {parent.name}, got {shown(name)}"
                )
        if states and len(names) != len(parents):
            return source.place(row.start()).fault(
                f"expected states of the {len(parents)} parents of {child.name}, got {len(names)}"
            )
        key = kind or tuple(names)
        if key in seen or "table" in seen or (seen and kind == "table"):
            return source.place(row.start()).fault(
                f"expected each configuration of {child.name} once, got another row"
            )
        tokens = given.replace(",", " ").split()
        expected = size * n_rows if kind == "table" else size
        if len(tokens) != expected:
            return source.place(source.skip(row.start("numbers"))).fault(
                f"expected {expected} numbers for {child.name}, got {len(tokens)}"
            )
        seen.add(key)
        numbers += tokens
    wrong_number = number_list(numbers)
    if isinstance(wrong_number, int):
        at = (0, wrong_number) if "table" in seen else divmod(wrong_number, size)
        return _place(source, table, *at).fault(
            f"expected a number for {child.name}, got {shown(numbers[wrong_number])}"
        )
    return table.place.fault(
        f"expected {n_rows} configurations of the parents of {child.name}, got {len(seen)}"
    )


def _place(source: Source, table: _Table, row: int, number: int) -> Place:
    """Return the place of a number in a row."""
    found = _ROW.finditer(source.text, *table.rows)
    starts = [one.start("numbers") for one in found if one["numbers"] is not None]
    return source.place_of_number(number, starts[row], table.rows[1])


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
