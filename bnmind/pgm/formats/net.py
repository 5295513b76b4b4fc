"""Reader and writer of NET, the format of Hugin.

::

    net { … }
    node B { states = ("no" "yes"); … }
    potential (B | A) { data = ((0.9 0.1) (0.2 0.8)); }

The data have a pair of brackets for each parent, and the states of the child in the innermost
pair; the last parent varies fastest. Alternatively, one pair contains all numbers. Comments start
with ``%`` and end with the line. Fields of layout, learning and users are passed over.

References
----------
Hugin Expert A/S, *The HUGIN NET Language*, in the manuals of the API.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from bnmind.pgm.encoded_names import ENCODING, Alphabet
from bnmind.pgm.formats.declared import (
    DeclaredTable,
    DeclaredVariable,
    Numbers,
    ReadNetwork,
    Scope,
    network_from,
)
from bnmind.pgm.formats.model_format import TableFormat, text_reader
from bnmind.pgm.formats.reading import PLAIN_READING, Reading
from bnmind.pgm.formats.source import Source, number_list, shown
from bnmind.pgm.formats.table_text import rows_of, written
from bnmind.pgm.network import Network

__all__ = ["NET", "from_net", "to_net"]

_STRING = r'"(?:[^"\\]++|\\.)*+"'
# The group matches text that stays: strings, with or without an end.
_COMMENTS = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|%[^\n]*+', re.DOTALL)
_BLOCK = re.compile(r"\s*+(?:(?P<kind>[A-Za-z_]++)|\Z)")
_KINDS = "'net', 'node', 'discrete node' or 'potential'"
_FIELDS = {
    "node": ("states", "label", "position", "subtype", "state_values"),
    "potential": (
        *("data", "experience", "experience_data", "fading", "fading_data"),
        *("model_nodes", "model_data", "samples_per_interval"),
    ),
}
"""The fields that Hugin knows; those of users are quoted texts."""
_NODE_WORD = re.compile(r"\s*+node\b")
_OPEN = re.compile(r"\s*+\{")
_NAME = re.compile(r'\s*+([^\s(){}|;="]++)\s*+\{')
_SCOPE = re.compile(r'\s*+\((?P<child>[^()|{}"]*+)(?:\|(?P<parents>[^()|{}"]*+))?\)\s*+\{')
_FIELD = re.compile(
    r"\s*+(?:(?P<end>\})|(?P<name>[A-Za-z_]\w*+)\s*+="
    rf'(?P<value>(?:[^;"{{}}]++|{_STRING})*+);)',
    re.DOTALL,
)
# Hugin quotes states; pyAgrum does not.
_STATES = re.compile(rf'\s*+\((?:\s++|{_STRING}|[^\s()"]++)*+\)\s*+', re.DOTALL)
_STATE = re.compile(rf'{_STRING}|[^\s()"]++', re.DOTALL)
_OTHER_NODES = ("continuous", "function", "class")


@dataclass(frozen=True)
class _Table(DeclaredTable):
    """The head of a potential, and the offsets of its numbers; the same twice without any."""

    start: int
    end: int


def from_net(text: str, *, max_cells: int, reading: Reading = PLAIN_READING) -> ReadNetwork:
    """Return the network in a NET text, and its variables in the order of the text.

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
        If the text is not of this form, or is no valid network of discrete chance nodes; the
        error names the place.
    TooLargeError
        If there are more cells; nothing is allocated.
    """
    source = Source.without(_COMMENTS, text) if "%" in text else Source(text)
    variables, tables, encoded = _declarations(source)
    return network_from(
        variables,
        tables,
        partial(_table, source),
        max_cells=max_cells,
        encoded=encoded,
        reading=reading,
    )


def _declarations(source: Source) -> tuple[list[DeclaredVariable], list[_Table], bool]:
    """Return the declared variables and tables, and whether the names are encoded."""
    variables: list[DeclaredVariable] = []
    tables: list[_Table] = []
    encoded = False
    at = 0
    while (block := source.match(_BLOCK, at, expected=_KINDS))["kind"]:
        at = block.end()
        match block["kind"]:
            case "net":
                at = source.match(_OPEN, at, expected="'{' after 'net'").end()
                for name, start, end in _fields(source, at):
                    encoded |= name == "bnmind_names" and ENCODING in source.text[start:end]
                    at = end
            case "potential":
                table, at = _potential(source, at)
                tables.append(table)
            case kind if kind in _OTHER_NODES:
                raise source.place(block.start("kind")).fault(
                    f"expected discrete chance nodes only, got {kind!r}"
                )
            case "node" | "discrete" | "chance" | "decision" | "utility" as kind:
                if kind in ("discrete", "chance"):
                    at = source.match(_NODE_WORD, at, expected=f"'node' after '{kind}'").end()
                elif kind != "node" and (word := _NODE_WORD.match(source.text, at)):
                    at = word.end()
                variable, at = _node(source, at, kind if kind in ("decision", "utility") else "")
                variables.append(variable)
            case _:
                raise source.fault(_KINDS, block.start())
    return variables, tables, encoded


def _fields(source: Source, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield the name of each field and the offsets of its value; last, "" and the end twice."""
    expected = "a field 'name = value;' or '}'"
    while not (field := source.match(_FIELD, at, expected=expected))["end"]:
        at = field.end()
        yield field["name"], field.start("value"), field.end("value")
    yield "", field.end(), field.end()


def _check(source: Source, kind: str, fields: list[tuple[str, int, int]]) -> None:
    """Raise `ModelFileError` for a field that Hugin may know and bnmind does not."""
    for name, start, end in fields[:-1]:
        if name not in _FIELDS[kind] and source.text[start:end].strip()[:1] != '"':
            raise source.place(source.skip(start)).unknown(f"the field {shown(name)} of a {kind}")


def _node(source: Source, at: int, kind: str) -> tuple[DeclaredVariable, int]:
    head = source.match(_NAME, at, expected="the name of a node and '{'")
    place = source.place(head.start(1))
    states: tuple[str, ...] | None = None
    fields = list(_fields(source, head.end()))
    for name, start, end in fields:
        at = end
        if name != "states":
            continue
        if states is not None:
            raise source.fault(f"the states of {shown(head[1])} once", start)
        if not _STATES.fullmatch(source.text, start, end):
            raise source.fault('states as ("one" "two" …)', start)
        states = tuple(map(_unquoted, _STATE.findall(source.text, start, end)))
    if states is None and kind != "utility":
        raise place.fault(f"expected states of {shown(head[1])}, got none")
    _check(source, "node", fields)
    return DeclaredVariable(head[1], states or (), place, kind=kind), at


def _unquoted(state: str) -> str:
    if not state.startswith('"'):
        return state
    return re.sub(r"\\(.)", r"\1", state[1:-1], flags=re.DOTALL)


def _potential(source: Source, at: int) -> tuple[_Table, int]:
    head = source.match(_SCOPE, at, expected="'(child | parents)' and '{'")
    place = source.place(source.skip(head.start()))
    children, parents = head["child"].split(), (head["parents"] or "").split()
    if len(children) != 1:
        raise place.fault(f"expected one child before '|', got {len(children)}")
    data: tuple[int, int] | None = None
    fields = list(_fields(source, head.end()))
    for name, start, end in fields:
        at = end
        if name == "data":
            if data is not None:
                raise source.fault(f"the data of {shown(children[0])} once", start)
            data = start, end
    if data is not None:
        _check(source, "potential", fields)
    return _Table((children[0], *parents), place, *(data or (at, at))), at


def _table(source: Source, table: _Table, scope: Scope) -> Numbers:
    if table.start == table.end:
        raise table.place.fault(f"expected data of {shown(scope[0].name)} in numbers, got none")
    text = source.text[table.start : table.end]
    tokens = text.replace("(", " ").replace(")", " ").split()
    values = number_list(tokens)
    name, size = scope[0].name, scope[0].n_states
    if isinstance(values, int):
        place = source.place_of_number(values, table.start, table.end)
        raise place.fault(f"expected a number for {name}, got {shown(tokens[values])}")
    n_cells = math.prod(v.n_states for v in scope)
    place = source.place(source.skip(table.start))
    if len(values) != n_cells:
        raise place.fault(f"expected {n_cells} numbers for {name}, got {len(values)}")
    brackets = re.sub(r"[^()]++", "", text)
    flat = text.strip()[:1] == "(" and text.strip()[-1:] == ")" and brackets == "()"
    if not flat and (
        brackets != _nested(tuple(v.n_states for v in scope[1:]))
        or any(len(group.split()) not in (0, size) for group in text.replace("(", ")").split(")"))
    ):
        raise place.fault(f"expected a pair of brackets for each parent of {name}, got others")
    return Numbers(
        scope,
        values.reshape(-1, size),
        lambda k: source.place_of_number(k, table.start, table.end),
    )


def _nested(shape: tuple[int, ...]) -> str:
    """Return the brackets of a table of this shape, without its numbers."""
    brackets = "()"
    for size in reversed(shape):
        brackets = f"({brackets * size})"
    return brackets


def to_net(network: Network, *, encoded: bool = False) -> str:
    """Return the network as a NET text.

    ``encoded`` says whether its names are encoded, see `bnmind.pgm.encoded_names`.
    """
    note = f'  bnmind_names = "{ENCODING}";\n' if encoded else ""
    blocks = [f"net\n{{\n{note}}}\n"]
    for variable in network.variables:
        states = " ".join(f'"{state}"' for state in variable.states)
        blocks.append(f"node {variable.name}\n{{\n  states = ({states});\n}}\n")
    for cpd in network.cpds:
        condition = " | " + " ".join(v.name for v in cpd.parents) if cpd.parents else ""
        groups = [f"({written(row)})" for row in rows_of(cpd).tolist()]
        for parent in reversed(cpd.parents):
            groups = [f"({''.join(part)})" for part in _chunks(groups, parent.n_states)]
        blocks.append(
            f"potential ({cpd.variable.name}{condition})\n{{\n  data = {groups[0]};\n}}\n"
        )
    return "".join(blocks)


def _chunks(items: list[str], size: int) -> Iterator[list[str]]:
    return (items[start : start + size] for start in range(0, len(items), size))


NET = TableFormat(
    about="Hugin",
    write=to_net,
    parse=text_reader(from_net),
    # All other names are encoded; pgmpy, which reads many of these files, needs that too.
    alphabet=Alphabet(
        re.compile(r"[A-Za-z0-9_-]+"),
        re.compile(r"[!#$&'*+.0-9:;<=>?@A-Z\[\]^_`a-z|~\-]+"),
        # Readers take "(a | node b)" for the declaration of a node b.
        mistaken=re.compile(r"node$"),
    ),
)
"""The format with the names that it can hold."""
