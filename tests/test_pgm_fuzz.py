"""Hostile files: whatever happens to a file of any format, it is read or refused with a place.

Valid files are cut, their words deleted, doubled, swapped or replaced by nasty ones, and bytes
changed. What comes is a model, or a `BnmindError` with the place; nothing else, not slowly, and
not by way of a large array.
"""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError
from bnmind.pgm import (
    Addition,
    Factor,
    FactorModel,
    FunctionalCPD,
    Network,
    TabularCPD,
    Variable,
)
from bnmind.pgm.files import NETWORK_SUFFIXES, read_model, read_network, write_model
from bnmind.pgm.functions import Parity, Restricted, Threshold
from bnmind.pgm.noisy import NoisyMaximum

PLACE = re.compile(
    r"line \d+,? column \d+"
    r"|at (potentials|variables)\b"
    r"|\b(potentials|variables|schema|version)(\.\d+[^ ]*)?: "
    r"|(at schema|at version|the whole|an empty file)"
)
"""A line and a column, or a path in JSON; an empty file has no place."""

BY_HAND = {
    ".bif": b"""// made by hand
network "w" { property x = {}; }
variable rain { /* two */ property a = (1, 2);
  type discrete [ 2 ] { "n o", yes }; }
variable b{type discrete[3]{<5,5-12,12+};}
probability ( rain ) { table 0.8, 0.2; }
probability (b|rain){default .2 .3 .5; (yes) 1 0 0;}
""",
    ".net": b"""% made by hand
net { node_size = (80 40); name = "a \\"b;"; } % frame
discrete node rain { label = "50% of rain"; states = ("no" "yes"); }
node b { states = ("a" "b" "c"); HR_x = "q"; }
potential ( rain | ) { data = ( 0.8 0.2 ); }
potential (b | rain) { data = ((1 0 0)(.2 .3 .5)); }
""",
    ".xml": b"""<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST VARIABLE TYPE (nature|decision) "nature"> ]>
<BIF VERSION="0.3"><NETWORK><NAME>caf\xe9</NAME>
<VARIABLE><NAME> rain </NAME><OUTCOME> no </OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE> 0.8 <!-- no --> 0.2 </TABLE></DEFINITION>
</NETWORK></BIF>
""",
    ".xdsl": b"""<smile><nodes>
<cpt id="A"><state id="x"/><state id="y"/><probabilities>.5 .5</probabilities></cpt>
<deterministic id="D"><state id="x"/><state id="y"/><parents>A</parents>
<resultingstates>y x</resultingstates></deterministic></nodes></smile>
""",
    ".uai": b"MARKOV\n3\n2 3 2\n3\n2 0 1\n0\n1 2\n\n6\n1 2 3 4 5 6\n\n1\n2\n\n2\n0 1\n",
    ".json": b"""{"schema": "bnmind-model", "version": 1,
 "variables": [{"name": "A", "states": ["x", "y"]}],
 "potentials": [{"scope": ["A"], "values": [1, -2], "imaginary": [0, 0.5]}]}
""",
}
NASTY = (
    *(b"999999999", b"9" * 400, b"-1", b"nan", b"inf", b"1e999", b"1e-400", b"0", b"", b"1_0"),
    *(b"\x00", b"\xff", b"\xc3\xa9", b"\xd9\xa1", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r"),
    *(b"{", b"}", b"(", b")", b"[", b"]", b'"', b";", b",", b"|", b"<", b">", b"&", b"\\", b"="),
    *(b"/*", b"//", b"%", b"<!--", b"]]>", b"<![CDATA[", b"&lt;", b"null", b"true", b"{}", b"[]"),
    *(b"(" * 500, b"[" * 500, b"<a>" * 500, b'{"a":' * 500, b"2147483648", b"-2147483648"),
    *(b"A", b"B", b"x", b"rain", b"table", b"default", b"property", b"variable", b"probability"),
    *(b"node", b"utility", b"potential", b"data", b"restricted", b"addition", b"BAYES", b"MARKOV"),
)
WORDS = re.compile(rb"[A-Za-z0-9_.+-]+|\s+|.", re.DOTALL)


def everything() -> Network:
    """Return a network with a distribution of every kind."""
    a, b = Variable("A", ("x", "y")), Variable("B", ("0", "1", "2"))
    c, d = Variable.of_integers("C", range(4)), Variable("D", ("lo", "hi"))
    e, f, g = Variable("E", ("a", "b", "c")), Variable("F", ("n", "p")), Variable("G", ("0", "1"))
    links = (np.array([[1, 0.5], [0, 0.3], [0, 0.2]]), np.full((3, 3), 1 / 3))
    part = Restricted(Addition(((0, 1, 2), (0, 1, 1, 3)), 2), ((0, 1, 2), (0, 2, 1)))
    return Network(
        (
            TabularCPD(a, (), np.array([1 / 3, 2 / 3])),
            TabularCPD(b, (a,), np.array([[0.2, 1e-17], [0.3, 0.1], [0.5, 0.9]])),
            FunctionalCPD(c, (b, a), Addition(((0, 1, 2), (0, 1)), 4)),
            FunctionalCPD(d, (a,), Parity()),
            NoisyMaximum(e, (a, b), links),
            FunctionalCPD(f, (a, d), Threshold(1)),
            FunctionalCPD(g, (b, e), part),
        )
    )


@cache
def valid(suffix: str) -> tuple[bytes, ...]:
    """Return valid files: as we write them, and as others may."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"network{suffix}")
        write_model(everything(), path)
        found = [path.read_bytes()]
    return (*found, *([BY_HAND[suffix]] if suffix in BY_HAND else []))


@st.composite
def hostile(draw: st.DrawFn, suffix: str) -> bytes:
    """Return a file that was valid once."""
    data = draw(st.sampled_from(valid(suffix)))
    if draw(st.integers(0, 4)) == 0:
        data = data[: draw(st.integers(0, len(data)))]
    words: list[bytes] = WORDS.findall(data)
    for _ in range(draw(st.integers(0, 4))):
        if not words:
            break
        at = draw(st.integers(0, len(words) - 1))
        match draw(st.sampled_from(["delete", "double", "replace", "swap", "repeat", "byte"])):
            case "delete":
                del words[at : at + draw(st.integers(1, 30))]
            case "double":
                words.insert(at, words[at])
            case "replace":
                words[at] = draw(st.sampled_from(NASTY))
            case "swap":
                other = draw(st.integers(0, len(words) - 1))
                words[at], words[other] = words[other], words[at]
            case "repeat":
                words[at:at] = words[at : at + draw(st.integers(1, 60))]
            case _:
                words[at] = bytes([draw(st.integers(0, 255))]) + words[at][1:]
    return b"".join(words)


def read_or_refused(read: Callable[[Path], object], path: Path) -> None:
    try:
        read(path)
    except BnmindError as fault:
        told = str(fault)
        assert PLACE.search(told), told
        assert str(path) in told
        assert "\n" not in told
        assert len(told) < 1500


@pytest.mark.parametrize("suffix", NETWORK_SUFFIXES)
@settings(
    max_examples=150,
    deadline=5000,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_whatever_happens_to_a_file(tmp_path: Path, suffix: str, data: st.DataObject) -> None:
    path = tmp_path / f"network{suffix}"
    path.write_bytes(data.draw(hostile(suffix)))
    read_or_refused(read_network, path)
    read_or_refused(read_model, path)


@settings(
    max_examples=100, deadline=5000, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(NETWORK_SUFFIXES), st.binary(max_size=300))
def test_bytes_that_mean_nothing(tmp_path: Path, suffix: str, data: bytes) -> None:
    path = tmp_path / f"network{suffix}"
    path.write_bytes(data)
    read_or_refused(read_model, path)


@pytest.mark.parametrize("suffix", NETWORK_SUFFIXES)
def test_a_file_cut_at_any_byte(tmp_path: Path, suffix: str) -> None:
    """Every byte of the file by hand; what we write is longer, so every seventh of it."""
    path = tmp_path / f"network{suffix}"
    for data, step in zip(valid(suffix), (7, 1), strict=False):
        for cut in range(0, len(data), step):
            path.write_bytes(data[:cut])
            read_or_refused(read_model, path)


@pytest.mark.parametrize("suffix", NETWORK_SUFFIXES)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "cp500", "latin-1"])
def test_wrong_encodings(tmp_path: Path, suffix: str, encoding: str) -> None:
    path = tmp_path / f"network{suffix}"
    text = valid(suffix)[0].decode().replace("lo", "l\u00f6")
    path.write_bytes(text.encode(encoding))
    read_or_refused(read_model, path)


MANY = 20_000
_VARIABLES = "".join(f"variable v{i} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for i in range(41))
_FORTY = ", ".join(f"v{i}" for i in range(1, 41))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("count.bif", "variable A { type discrete [ 999999999 ] { a, b }; }"),
        ("parents.bif", f"{_VARIABLES}probability ( v0 | {_FORTY} ) {{ default 0.5, 0.5; }}"),
        ("comments.bif", "/*" * MANY),
        ("quotes.bif", 'variable "' * MANY),
        ("blanks.bif", f"variable A {{{' ' * 10 * MANY}x"),
        ("braces.bif", f"network x {{{'{' * MANY}"),
        ("cycle.bif", "".join(
            f"variable v{i} {{ type discrete [ 1 ] {{ a }}; }}\n"
            f"probability ( v{i} | v{(i + 1) % 2000} ) {{ (a) 1; }}\n" for i in range(2000))),
        ("brackets.net", 'node A { states=("a" "b"); } potential (A) { data = '
            + "(" * MANY + "1 0" + ")" * MANY + "; }"),
        ("string.net", 'node A { label="' + "\\" * MANY),
        ("axes.net", "".join(f'node v{i} {{ states=("a"); }}' for i in range(100))
            + f"potential (v0 | {' '.join(f'v{i}' for i in range(1, 100))}) {{ data = (1); }}"),
        ("deep.xml", "<BIF>" * MANY),
        ("deep.xdsl", "<smile>" * MANY),
        ("states.uai", "BAYES 1 999999999 1 1 0 999999999 1"),
        ("variables.uai", "MARKOV 999999999 2 2 2"),
        ("factors.uai", "MARKOV 1 2 999999999 1 0"),
        ("table.uai", "MARKOV 3 1000 1000 1000 1 3 0 1 2 1000000000 1"),
        ("deep.json", "[" * MANY),
        ("wide.json", '{"schema": "bnmind-model", "version": 2, "variables": [], "potentials": ['
            + ", ".join(['{"kind": "function"}'] * 5000) + "]}"),
    ],
)  # fmt: skip
def test_sizes_are_believed_only_once_they_are_there(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    tracemalloc.start()
    try:
        with pytest.raises(BnmindError) as caught:
            read_network(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert PLACE.search(str(caught.value))
    assert most < 20_000_000 + 100 * len(text)


def test_other_models_of_every_kind_are_valid(tmp_path: Path) -> None:
    """The files that are broken above are whole before."""
    for suffix in NETWORK_SUFFIXES:
        for data in valid(suffix):
            path = tmp_path / f"network{suffix}"
            path.write_bytes(data)
            assert read_model(path).variables
    signed = FactorModel((Factor((Variable("A", ("x", "y")),), np.array([2.0, -1.0])),))
    write_model(signed, tmp_path / "signed.json")
    assert read_model(tmp_path / "signed.json").variables == signed.variables
