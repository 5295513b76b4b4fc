"""Reading with a bound: whatever a file is, it is held within the bound or refused by name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind._files import parse_json, read_bytes, read_text
from bnmind.errors import ModelFileError

# Half a pair of surrogates is no text.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=20,
)  # fmt: skip


@given(VALUES)
def test_json_is_read_as_python_reads_it(value: object) -> None:
    text = json.dumps(value)
    assert parse_json(text) == json.loads(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "[", "[1,]", "{'a': 1}", "[1] 2", "nul", "NaN", "[Infinity]", "-Infinity"),
        *("[" * 1000, '{"a":' * 1000, "[" * 500 + "]" * 500, "1" + "0" * 5000, '"\ud800"'),
    ],
    ids=lambda text: repr(text[:12]),
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ModelFileError, match="expected JSON"):
        parse_json(text)


def test_the_fault_in_json_has_a_place() -> None:
    with pytest.raises(ModelFileError) as caught:
        parse_json('{"a": 1,\n "b": }')
    assert (caught.value.line, caught.value.column) == (2, 7)


def test_the_bound_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100)
    assert read_bytes(path, most=100) == b"x" * 100
    for most in (99, 1, 0):
        with pytest.raises(ModelFileError, match=rf"^\S+file is larger than {most} bytes"):
            read_bytes(path, most=most)
    with pytest.raises(ModelFileError, match="is larger than 1,000 bytes"):
        read_bytes("/dev/zero", most=1000)


def test_the_bound_holds_for_what_was_packed(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b" " * 10**6))
    assert read_bytes(path, most=10**6, packed=True) == b" " * 10**6
    with pytest.raises(ModelFileError, match="is larger than 999,999 bytes"):
        read_bytes(path, most=10**6 - 1, packed=True)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(ModelFileError, match="packed by gzip"):
        read_bytes(path, most=10**6, packed=True)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / ("x" * 300)):
        with pytest.raises(ModelFileError, match="cannot read") as caught:
            read_bytes(path, most=10)
        assert str(path) in str(caught.value)
    with pytest.raises(ModelFileError, match="name of a file"):
        read_bytes("a\0b", most=10)


def test_texts(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes("\ufeffa\r\nb\rc\nä".encode())
    assert read_text(path, most=100) == "a\nb\nc\nä"
    path.write_bytes(b"ab\xffcd")
    with pytest.raises(ModelFileError, match=r"is not UTF-8 text: .*at byte 2"):
        read_text(path, most=100)
    assert read_text(path, most=100, damaged=True) == "ab"
    path.write_bytes(b" \xff")
    with pytest.raises(ModelFileError, match="is not UTF-8 text"):
        read_text(path, most=100, damaged=True)
