"""Readers and writers of NET, the format of Hugin, and DNE, the text format of Netica.

NET::

    net { … }
    node B { states = ("no" "yes"); … }
    potential (B | A) { data = ((0.9 0.1) (0.2 0.8)); }

The data have a pair of brackets for each parent, and the states of the child in the innermost
pair; the last parent varies fastest. Alternatively, one pair contains all numbers. Comments start
with ``%`` and end with the line. Fields of layout, learning and users are passed over.

DNE::

    bnet B {
    node B {
        kind = NATURE;
        states = (no, yes);
        parents = (A);
        probs = ((0.9, 0.1), (0.2, 0.8));
        };
    };

The states of the node vary fastest in ``probs``, then the last parent; inner brackets are optional.
A deterministic node has ``functable`` with a state for each configuration of the parents. A
continuous node is read with its intervals as states. A disconnected parent, of which Netica keeps
only the states, gets a uniform distribution. Comments start with ``//`` and end with the line. The
reader passes over titles, layout, results and whatever else says nothing about probabilities.

References
----------
Hugin Expert A/S, *The HUGIN NET Language*, in the manuals of the API. Norsys Software Corp.,
*DNET-1 File Format*, 1998, https://norsys.com/downloads/DNET_File_Format.txt
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from bnmind.pgm.encoded_names import ENCODING, Alphabet
from bnmind.pgm.formats.declared import (
    PLAIN_READING,
    DeclaredTable,
    DeclaredVariable,
    Numbers,
    Reading,
    ReadNetwork,
    Scope,
    certain_states,
    network_from,
)
from bnmind.pgm.formats.model_format import TableFormat, rows_of, text_reader, written
from bnmind.pgm.formats.source import Place, Source, number_list, shown
from bnmind.pgm.network import Network

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


@dataclass
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
    numbers = _numbers(source, table.start, table.end, scope, blanks="()")
    text, size = source.text[table.start : table.end], scope[0].n_states
    brackets = re.sub(r"[^()]++", "", text)
    flat = text.strip()[:1] == "(" and text.strip()[-1:] == ")" and brackets == "()"
    if not flat and (
        brackets != _nested(tuple(v.n_states for v in scope[1:]))
        or any(len(group.split()) not in (0, size) for group in text.replace("(", ")").split(")"))
    ):
        raise source.place(source.skip(table.start)).fault(
            f"expected a pair of brackets for each parent of {scope[0].name}, got others"
        )
    return numbers


def _numbers(source: Source, start: int, end: int, scope: Scope, *, blanks: str) -> Numbers:
    """Return the numbers between two offsets, whose number is checked."""
    text, name = source.text[start:end], scope[0].name
    tokens = text.translate(dict.fromkeys(map(ord, blanks), " ")).split()
    values = number_list(tokens)
    if isinstance(values, int):
        place = source.place_of_number(values, start, end)
        raise place.fault(f"expected a number for {name}, got {shown(tokens[values])}")
    n_cells = math.prod(v.n_states for v in scope)
    if len(values) != n_cells:
        raise source.place(source.skip(start)).fault(
            f"expected {n_cells} numbers for {name}, got {len(values)}"
        )
    rows = values.reshape(-1, scope[0].n_states)
    return Numbers(scope, rows, lambda k: source.place_of_number(k, start, end))


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


# The group matches text that stays: strings, with or without an end.
_COMMENTS_IN_DNE = re.compile(
    r'("(?:[^"\\]++|\\.)*+"?)|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?', re.S
)
_BNET = re.compile(r"\s*+(?:bnet|dnet)\b\s*+[^\s{]*+\s*+\{")
_ENTRY = re.compile(
    r"\s*+(?:(?P<end>\}\s*+;?+)|(?P<field>[A-Za-z_]\w*+)\s*+="
    r"|(?P<kind>[A-Za-z_]\w*+)\s++(?P<name>[^\s{}();=]++)\s*+\{)"
)
_VALUE = re.compile(
    rf"(?P<value>(?:[^;{{}}\"]++|{_STRING}|\{{(?:[^{{}}\"]++|{_STRING})*+\}})*+);", re.DOTALL
)
_SKIPPED = re.compile(rf"(?:[^{{}}\"]++|{_STRING})*+", re.DOTALL)
_WORD = re.compile(rf'{_STRING}|[^\s(),"]++', re.DOTALL)
_KINDS_IN_DNE = {"NATURE": "", "DISCONNECTED": "", "DECISION": "decision", "UTILITY": "utility"}
_TEXT_KINDS = ("DOCUMENTATION", "TITLE", "NOTE")
_FIELDS_IN_DNE = frozenset(
    (
        *("kind", "discrete", "chance", "statetype", "states", "levels", "numstates"),
        *("parents", "probs", "functable", "equation", "eqndirty"),
        *("inputs", "title", "comment", "author", "whenchanged", "statetitles", "statecomments"),
        *("numcases", "belief", "evidence", "measure", "units", "measured", "cost"),
        *("user", "visual"),
    )
)
"""The fields and blocks of a node that are read, or that say nothing about its probabilities."""

_BLOCKS = ("node", "param", "visual", "user", "nodeset", "printersetting")


@dataclass(frozen=True)
class _Node:
    """A node as declared; values are offsets of their start and end."""

    name: str
    fields: Mapping[str, tuple[int, int]]
    place: Place


def from_dne(text: str, *, max_cells: int, reading: Reading = PLAIN_READING) -> ReadNetwork:
    """Return the network in a DNE text; parameters and errors as for NET."""
    source = Source.without(_COMMENTS_IN_DNE, text)
    nodes, encoded = _nodes(source)
    variables, tables, inputs = [], [], []
    for node in nodes:
        kind = _one_word(source, node, "kind") or "NATURE"
        if kind in _TEXT_KINDS:
            continue
        if kind not in _KINDS_IN_DNE:
            raise node.place.fault(
                f"expected nodes of kind NATURE only, got {shown(node.name)} of kind {kind}"
            )
        for field in node.fields:
            if field.lower() not in _FIELDS_IN_DNE:
                raise node.place.unknown(f"{shown(field)} of the node {shown(node.name)}")
        states = () if kind == "UTILITY" else _states(source, node)
        variables.append(DeclaredVariable(node.name, states, node.place, kind=_KINDS_IN_DNE[kind]))
        disconnected = kind == "DISCONNECTED" and not {"probs", "functable"} & node.fields.keys()
        scope = (node.name, *_words(source, node, "parents"))
        tables.append(DeclaredTable(scope, node.place, is_uniform=disconnected))
        if kind == "DISCONNECTED":
            inputs.append(node.name)
    by_name = {node.name: node for node in nodes}
    read = network_from(
        variables,
        tables,
        lambda table, scope: _table_of_node(source, by_name[table.names[0]], scope),
        max_cells=max_cells,
        encoded=encoded,
        reading=reading,
    )
    found = [node.name for node in nodes if "evidence" in node.fields]
    if found:
        reading.on_note(f"findings are no part of a network, and not read: {', '.join(found)}")
    if inputs:
        reading.on_note(
            "the file is a part of a network; its inputs have no distribution and got a uniform"
            f" one: {', '.join(inputs)}"
        )
    return read


def _nodes(source: Source) -> tuple[list[_Node], bool]:
    """Return the nodes of a file, and whether its names are encoded."""
    at = source.match(_BNET, 0, expected="'bnet NAME {'").end()
    nodes: list[_Node] = []
    encoded = False
    while True:
        entry = source.match(_ENTRY, at, expected="a node, a field 'name = value;' or '}'")
        at = entry.end()
        if entry["end"]:
            break
        if entry["field"]:
            value = source.match(_VALUE, at, expected="a value and ';'")
            encoded |= entry["field"] == "comment" and ENCODING in value["value"]
            at = value.end()
        elif entry["kind"] in ("node", "param"):
            place = source.place(entry.start("name"))
            fields, at = _fields_of_node(source, entry["name"], at)
            nodes.append(_Node(entry["name"], fields, place))
        elif entry["kind"].lower() in _BLOCKS:
            at = _skip(source, at)
        else:
            raise source.place(entry.start("kind")).unknown(f"the block {shown(entry['kind'])}")
    if source.text[at:].strip(" \t\n;"):
        raise source.fault("nothing after the network", at)
    return nodes, encoded


def _fields_of_node(source: Source, name: str, at: int) -> tuple[dict[str, tuple[int, int]], int]:
    """Return the offsets of the fields of a node, and the offset after it."""
    fields: dict[str, tuple[int, int]] = {}
    while True:
        entry = source.match(_ENTRY, at, expected="a field 'name = value;' or '}'")
        at = entry.end()
        if entry["end"]:
            return fields, at
        if not entry["field"]:
            fields[entry["kind"]] = at, at
            at = _skip(source, at)
            continue
        value = source.match(_VALUE, at, expected="a value and ';'")
        if entry["field"] in fields and entry["field"] in ("states", "parents", "probs"):
            raise source.fault(f"the {entry['field']} of {shown(name)} once", entry.start())
        fields[entry["field"]] = value.span("value")
        at = value.end()


def _skip(source: Source, at: int) -> int:
    """Return the offset after a block, given that after its opening bracket."""
    depth = 1
    while depth:
        at = source.match(_SKIPPED, at, expected="'}'").end()
        if at >= len(source.text) or source.text[at] == '"':
            raise source.fault("'}'", at)
        depth += 1 if source.text[at] == "{" else -1
        at += 1
    end = source.skip(at)
    return end + 1 if source.text[end : end + 1] == ";" else at


def _words(source: Source, node: _Node, field: str) -> list[str]:
    """Return the words or strings of a field; none if there is no such field."""
    start, end = node.fields.get(field, (0, 0))
    return [_unquoted(word) for word in _WORD.findall(source.text, start, end)]


def _one_word(source: Source, node: _Node, field: str) -> str:
    return " ".join(_words(source, node, field))


def _states(source: Source, node: _Node) -> tuple[str, ...]:
    """Return the states of a node: their names, intervals, or numbers."""
    if states := _words(source, node, "states"):
        return tuple(states)
    levels = _words(source, node, "levels")
    if _one_word(source, node, "discrete") == "FALSE" and len(levels) > 2:
        return tuple(f"{low} to {high}" for low, high in pairwise(levels))
    count = _one_word(source, node, "numstates")
    if count.isdecimal() and len(count) < len("1000"):
        return tuple(map(str, range(int(count))))
    if levels:
        return tuple(levels)
    raise node.place.fault(f"expected states of {shown(node.name)}, got none")


def _table_of_node(source: Source, node: _Node, scope: Scope) -> Numbers:
    if "probs" in node.fields:
        return _numbers(source, *node.fields["probs"], scope, blanks="(),")
    if "functable" in node.fields:
        place = source.place(source.skip(node.fields["functable"][0]))
        return certain_states(_words(source, node, "functable"), scope, place, numbered="#")
    hint = "; turn its equation into a table in Netica" if "equation" in node.fields else ""
    raise node.place.fault(f"expected probs or functable of {shown(node.name)}, got none{hint}")


def to_dne(network: Network, *, encoded: bool = False) -> str:
    """Return the network as a DNE text.

    ``encoded`` says whether its names are encoded, see `bnmind.pgm.encoded_names`.
    """
    blocks = ["// ~->[DNET-1]->~\n\nbnet bnmind {\n"]
    if encoded:
        blocks.append(f'comment = "names are encoded as {ENCODING}";\n')
    for cpd in network.cpds:
        rows = ",\n\t\t ".join(f"({_listed(row)})" for row in rows_of(cpd).tolist())
        blocks.append(
            f"\nnode {cpd.variable.name} {{\n"
            "\tkind = NATURE;\n\tdiscrete = TRUE;\n\tchance = CHANCE;\n"
            f"\tstates = ({', '.join(cpd.variable.states)});\n"
            f"\tparents = ({', '.join(v.name for v in cpd.parents)});\n"
            f"\tprobs =\n\t\t({rows});\n\t}};\n"
        )
    return "".join([*blocks, "};\n"])


def _listed(row: list[float]) -> str:
    return ", ".join(written(row).split())


_NAME_IN_DNE = re.compile(r"[A-Za-z][A-Za-z0-9_]*+")

DNE = TableFormat(
    about="Netica",
    write=to_dne,
    parse=text_reader(from_dne),
    alphabet=Alphabet(_NAME_IN_DNE, _NAME_IN_DNE),
)
"""The format with the names that it can hold."""
