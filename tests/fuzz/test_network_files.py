"""Files of networks: cut anywhere, in other encodings, with sizes that are not there.

Whatever happens to them, they are read or refused with a place, not slowly, and not by way
of a large array.
"""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError
from bnmind.pgm.files import NETWORK_SUFFIXES, read_network
from tests.fuzz.reader import PLACE, Reader
from tests.fuzz.readers import READERS
from tests.fuzz.runner import read_one
from tests.modes import examples

FORMATS = ("bif", "net", "dne", "xmlbif", "xdsl", "uai", "model_json")
"""The readers of a file that holds all of a network."""


def test_the_formats_of_seeds_are_registered() -> None:
    suffixes = {seed.suffix for name in FORMATS for seed in READERS[name].seeds}
    assert len(suffixes) >= 6
    assert suffixes <= set(NETWORK_SUFFIXES)


def name_of(reader: Reader) -> str:
    return reader.seeds[0].name


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=300))
def test_bytes_that_mean_nothing(name: str, data: bytes) -> None:
    assert read_one(READERS[name], data, name_of(READERS[name])) == ""


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_cut_at_any_byte(name: str) -> None:
    """Every third byte of the files by hand; what we write is longer, so fewer of it."""
    for seed in READERS[name].seeds:
        data = seed.read_bytes()
        for cut in range(0, len(data), 3 if seed.stem == "by_hand" else 29):
            assert read_one(READERS[name], data[:cut], seed.name) == "", data[:cut]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "cp500", "latin-1"])
def test_wrong_encodings(name: str, encoding: str) -> None:
    for seed in READERS[name].seeds:
        text = seed.read_bytes().decode("latin-1").replace("rain", "r\u00e4in")
        assert read_one(READERS[name], text.encode(encoding), seed.name) == ""


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
        ("blocks.dne", "bnet b {" + "x y {" * MANY),
        ("string.dne", 'bnet b { a = "' + "\\" * MANY),
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
