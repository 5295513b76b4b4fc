"""Files: exact round trips, a second program's reading, and every kind of broken file."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bnmind.errors import ModelFileError, TooLargeError
from bnmind.pgm import Addition, Factor, FactorModel, FunctionalCPD, Network, TabularCPD, Variable
from bnmind.pgm.files import (
    NETWORK_SUFFIXES,
    read_model,
    read_network,
    write_model,
)
from tests.modes import examples
from tests.networks import enumerate_joint, factor_models, networks

A = Variable("A", ("x", "y"))
B = Variable("B", ("0", "1", "2"))
C = Variable.of_integers("C", range(4))
NETWORK = Network(
    (
        TabularCPD(A, (), np.array([1 / 3, 2 / 3])),
        TabularCPD(B, (A,), np.array([[0.2, 1e-17], [0.3, 0.1], [0.5, 0.9]])),
        FunctionalCPD(C, (B, A), Addition(((0, 1, 2), (0, 1)), 4)),
    )
)
TEXT_SUFFIXES = tuple(suffix for suffix in NETWORK_SUFFIXES if suffix != ".json")
TABLE_SUFFIXES = tuple(suffix for suffix in TEXT_SUFFIXES if suffix != ".uai")
ROUND_TRIP = settings(
    max_examples=examples(20),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def assert_same_tables(network: Network, back: Network) -> None:
    assert {v.name for v in back.variables} == {v.name for v in network.variables}
    for cpd in network.cpds:
        again = back.cpd(cpd.variable.name)
        assert again.scope == cpd.scope
        np.testing.assert_allclose(
            np.real(again.to_factor().values), np.real(cpd.to_factor().values), rtol=0, atol=1e-15
        )


@pytest.mark.parametrize("suffix", [*TEXT_SUFFIXES, ".BIF"])
def test_a_network_reads_back_as_it_was_written(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"network{suffix}"
    write_model(NETWORK, path)
    back = read_network(path)
    assert_same_tables(NETWORK, back)
    # To the last digit, and with the zeros and tiny numbers told apart.
    np.testing.assert_array_equal(
        back.cpd("B").to_factor().values, NETWORK.cpd("B").to_factor().values
    )
    beside = {f"{path.name}.json"} if suffix == ".uai" else set()
    assert set(os.listdir(tmp_path)) == {path.name} | beside


@ROUND_TRIP
@given(networks(max_variables=6), st.sampled_from(NETWORK_SUFFIXES))
def test_networks_read_back(tmp_path: Path, network: Network, suffix: str) -> None:
    path = tmp_path / f"network{suffix}"
    write_model(network, path)
    assert_same_tables(network, read_network(path))


@ROUND_TRIP
@given(networks(max_variables=5), st.permutations(NETWORK_SUFFIXES))
def test_networks_pass_from_format_to_format(
    tmp_path: Path, network: Network, suffixes: list[str]
) -> None:
    last = network
    for suffix in suffixes:
        write_model(last, tmp_path / f"network{suffix}")
        last = read_network(tmp_path / f"network{suffix}")
    assert_same_tables(network, last)


@pytest.mark.parametrize("suffix", [".bif", ".net", ".bifxml"])
def test_another_program_reads_the_same_network(tmp_path: Path, suffix: str) -> None:
    """Not XDSL: pyAgrum 3.3 takes its first parent for the fastest."""
    gum = pytest.importorskip("pyagrum")
    path = tmp_path / f"network{suffix}"
    write_model(NETWORK, path)
    theirs = gum.loadBN(str(path))
    assert sorted(theirs.names()) == ["A", "B", "C"]
    for cpd in NETWORK.cpds:
        table = theirs.cpt(cpd.variable.name)
        assert theirs.variable(cpd.variable.name).labels() == cpd.variable.states
        for cell in np.ndindex(*[v.n_states for v in cpd.scope]):
            at = {v.name: v.states[i] for v, i in zip(cpd.scope, cell, strict=True)}
            assert table[at] == pytest.approx(float(cpd.to_factor().values[cell].real), abs=1e-6)
    gum.saveBN(theirs, str(path))
    back = read_network(path)
    for v in NETWORK.variables:
        expected = NETWORK.query(v.name)[v.name]
        assert back.query(v.name)[v.name] == pytest.approx(expected, abs=1e-6)


def test_the_same_network_gives_the_same_text(tmp_path: Path) -> None:
    state = random.getstate()
    for suffix in NETWORK_SUFFIXES:
        texts = set()
        for copy in range(2):
            write_model(NETWORK, tmp_path / f"{copy}{suffix}")
            texts.add((tmp_path / f"{copy}{suffix}").read_bytes())
        assert len(texts) == 1
    assert random.getstate() == state


@ROUND_TRIP
@given(factor_models(complex_values=False) | factor_models(complex_values=True))
def test_signed_and_complex_models_read_back_from_json(tmp_path: Path, model: FactorModel) -> None:
    path = tmp_path / "model.json"
    write_model(model, path)
    back = read_model(path)
    assert back.variables == model.variables
    for before, after in zip(model.potentials, back.potentials, strict=True):
        assert isinstance(before, Factor)
        assert isinstance(after, Factor)
        assert after.scope == before.scope
        np.testing.assert_array_equal(after.values, before.values)
        assert after.values.dtype == before.values.dtype


@pytest.mark.parametrize("suffix", [".json", ".xdsl"])
def test_a_network_reads_back_as_a_product(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"network{suffix}"
    write_model(NETWORK, path)
    assert enumerate_joint(read_model(path)).isclose(enumerate_joint(NETWORK))


def test_the_json_form_is_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    pair = Factor((A, B), np.array([[1, 2, 3], [4, -5, 6j]]))
    write_model(FactorModel((pair,)), path)
    assert json.loads(path.read_text()) == {
        "schema": "bnmind-model",
        "version": 2,
        "variables": [
            {"name": "A", "states": ["x", "y"]},
            {"name": "B", "states": ["0", "1", "2"]},
        ],
        "potentials": [
            {
                "kind": "factor",
                "scope": ["A", "B"],
                "values": [1.0, 2.0, 3.0, 4.0, -5.0, 0.0],
                "imaginary": [0.0, 0.0, 0.0, 0.0, 0.0, 6.0],
            }
        ],
    }


# --- What cannot be written -----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", TEXT_SUFFIXES)
def test_signed_tables_fit_in_json_only(tmp_path: Path, suffix: str) -> None:
    model = FactorModel((Factor((A,), np.array([2.0, -1.0])),))
    why = r"ending in \.uai or \.json for a product of factors|factors without negative .* A"
    with pytest.raises(ModelFileError, match=why):
        write_model(model, tmp_path / f"model{suffix}")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["network.txt", "network", "network.bif.zip", "network.gz"])
def test_an_unknown_suffix_is_reported_with_the_known_ones(tmp_path: Path, name: str) -> None:
    for fail in (
        lambda: write_model(NETWORK, tmp_path / name),
        lambda: read_network(tmp_path / name),
        lambda: read_model(tmp_path / name),
    ):
        with pytest.raises(ModelFileError, match=r"\.bif, \.xdsl, \.xmlbif, \.xml"):
            fail()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", TEXT_SUFFIXES)
def test_tables_too_large_are_named_and_nothing_is_written(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(TooLargeError, match="got 24 in the table of C given B, A"):
        write_model(NETWORK, tmp_path / f"network{suffix}", max_cells=23)
    assert os.listdir(tmp_path) == []


def test_only_tables_can_be_too_large_for_json(tmp_path: Path) -> None:
    write_model(NETWORK, tmp_path / "network.json", max_cells=6)
    with pytest.raises(TooLargeError, match="got 6 in the table of B given A"):
        write_model(NETWORK, tmp_path / "another.json", max_cells=5)
    assert os.listdir(tmp_path) == ["network.json"]


@pytest.mark.parametrize("suffix", NETWORK_SUFFIXES)
def test_failure_leaves_the_old_file_whole(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"network{suffix}"
    path.write_text("old")

    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ModelFileError, match="No space left on device"):
        write_model(NETWORK, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == [path.name]


def test_a_missing_directory_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="No such file or directory"):
        write_model(NETWORK, tmp_path / "no" / "network.bif")


# --- What cannot be read --------------------------------------------------------------------------


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    for read in (read_network, read_model):
        with pytest.raises(ModelFileError, match=r"cannot read .*no\.bif \(No such file"):
            read(tmp_path / "no.bif")
    with pytest.raises(ModelFileError, match="Is a directory"):
        read_model(_made(tmp_path / "folder.json"))


def _made(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize("suffix", [".json", ".uai"])
def test_a_product_of_factors_is_no_network(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    write_model(FactorModel((Factor((A,), np.array([2.0, 1.0])),)), path)
    with pytest.raises(
        ModelFileError, match=r"a network, got at potentials\.0|for a network, got 'MARKOV' at"
    ):
        read_network(path)


@pytest.mark.parametrize("suffix", NETWORK_SUFFIXES)
@pytest.mark.parametrize(
    "content", [b"", b" \n", b"\xff\xfe\x00", b"hello", b"<a/>", b"{}", b"net"]
)
def test_files_that_are_not_models(tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"network{suffix}"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=str(path)):
        read_model(path)


Broken = Callable[[str], str]
BREAKS: list[tuple[str, Broken]] = [
    (".bif", lambda text: text.replace("0.9", "0.8")),
    (".bif", lambda text: text.replace("0.9", "often")),
    (".bif", lambda text: text.replace("(y) ", "(z) ")),
    (".bif", lambda text: text.replace("(y) ", "")),
    (".bif", lambda text: text.replace("probability ( A )", "probability ( D )")),
    (".bif", lambda text: text.replace("variable B", "variable a")),
    (".bif", lambda text: text + text[text.index("probability ( B") :]),
    (".xdsl", lambda text: text.replace("0.9", "0.8")),
    (".xdsl", lambda text: text.replace("0.9", "often")),
    (".xdsl", lambda text: text.replace("<parents>A</parents>", "<parents>D</parents>")),
    (".xdsl", lambda text: text.replace('<cpt id="C">', '<noisymax id="C">').replace(
        "</cpt>\n  </nodes>", "</noisymax>\n  </nodes>")),
    (".xdsl", lambda text: text.replace('id="B"', 'id="A"')),
    (".xmlbif", lambda text: text.replace("0.9", "0.8")),
    (".xmlbif", lambda text: text.replace("0.9", "nan")),
    (".xmlbif", lambda text: text.replace("<GIVEN>A</GIVEN>", "")),
    (".xmlbif", lambda text: text.replace("<OUTCOME>x</OUTCOME>", "<OUTCOME>y</OUTCOME>")),
    (".net", lambda text: text.replace("0.9", "0.8")),
    (".net", lambda text: text.replace("0.9", "often")),
    (".net", lambda text: text.replace("node A", "decision A")),
    (".net", lambda text: text.replace("  data = (0.3333333333333333 0.6666666666666666);\n", "")),
    (".net", lambda text: text.replace('"x" "y"', '"x" "y" "z"')),
    (".json", lambda text: text.replace("0.9", "often")),
    (".json", lambda text: text.replace("0.9", '"0.9"')),
    (".json", lambda text: text.replace("0.9", "NaN")),
    (".json", lambda text: text.replace(", 0.9", "")),
    (".json", lambda text: text.replace('"version": 2', '"version": 3')),
    (".json", lambda text: text.replace('"version": 2', '"version": 1')),
    (".json", lambda text: text.replace('"scope": ["A"]', '"scope": ["D"]')),
    (".json", lambda text: text.replace('"scope": ["A"]', '"scope": []')),
    (".json", lambda text: text.replace('"x"', '"y"')),
    (".json", lambda text: text.replace('"name": "B"', '"name": "A"')),
    (".json", lambda text: text.replace('"schema"', '"extra": 1, "schema"')),
]  # fmt: skip


@pytest.mark.parametrize(("suffix", "breaks"), BREAKS)
def test_a_broken_file_is_reported_in_one_line(tmp_path: Path, suffix: str, breaks: Broken) -> None:
    path = tmp_path / f"network{suffix}"
    write_model(NETWORK, path)
    text = path.read_text()
    assert breaks(text) != text
    path.write_text(breaks(text))
    with pytest.raises(ModelFileError, match=r"^expected [^\n]*$") as caught:
        read_model(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("suffix", NETWORK_SUFFIXES)
def test_a_truncated_file_is_reported(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"network{suffix}"
    write_model(NETWORK, path)
    text = path.read_text()
    for part in (0.3, 0.9) if suffix == ".bif" else (0.1, 0.3, 0.5, 0.7, 0.9):
        path.write_text(text[: int(len(text) * part)])
        with pytest.raises(ModelFileError):
            read_model(path)


def test_all_faults_of_a_json_file_are_reported_together(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    record: dict[str, Any] = {
        "schema": "bnmind-model",
        "version": 1,
        "variables": [{"name": "A", "states": ["0", "1"]}, {"name": "B", "states": ["0"]}],
        "potentials": [
            {"scope": ["A"], "values": [1, 2, 3]},
            {"scope": ["A", "A"], "values": [1, 2, 3, 4]},
            {"scope": ["D"], "values": [1]},
            {"scope": [], "values": [1], "imaginary": [1, 2]},
        ],
    }
    path.write_text(json.dumps(record))
    with pytest.raises(ModelFileError) as caught:
        read_model(path)
    for part in (
        "at potentials.0: expected 2 numbers over A, got 3",
        "at potentials.1: the variables of a factor must be distinct",
        "at potentials.2: expected declared variables, got 'D'",
        "at potentials.3: expected 1 numbers over nothing, got 2",
        "at variables.1: expected a potential over B",
    ):
        assert part in str(caught.value)


# --- What other programs write --------------------------------------------------------------------


def test_hugin_comments_and_notes_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "rain.net"
    path.write_text(
        """% made by hand
net { node_size = (80 40); } % the frame
discrete node  rain
{
  label = "50% of rain";
  states = ("no" "yes"); % two
}
potential ( rain | ) { data = ( 0.8 0.2 ); } % 80 %
"""
    )
    network = read_network(path)
    assert network.variable("rain").states == ("no", "yes")
    np.testing.assert_allclose(np.real(network.cpd("rain").to_factor().values), [0.8, 0.2])


def test_xmlbif_notes_and_blanks_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "rain.xml"
    path.write_text(
        """<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> ]>
<BIF VERSION="0.3"><NETWORK><NAME>made by hand</NAME>
<VARIABLE TYPE="nature"><NAME> rain </NAME><OUTCOME> no </OUTCOME><OUTCOME>yes</OUTCOME>
<PROPERTY>a remark</PROPERTY></VARIABLE>
<DEFINITION><FOR>rain</FOR><TABLE> 0.8
 0.2 </TABLE></DEFINITION></NETWORK></BIF>
"""
    )
    assert read_network(path).variable("rain").states == ("no", "yes")


def test_bif_comments_quotes_and_line_ends_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "rain.bif"
    path.write_text(
        '// made by hand\nnetwork "weather" {\n}\nvariable rain { /* two */\n'
        '  type discrete [ 2 ] { "no", "yes" };\n}  \nprobability ( rain ) {\n'
        "  table 0.8, 0.2;\n}",
        newline="\r\n",
    )
    assert read_network(path).variable("rain").states == ("no", "yes")


def test_xdsl_line_breaks_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "network.xdsl"
    write_model(NETWORK, path)
    text = path.read_text().replace("<probabilities>", "<probabilities>\n   ")
    path.write_text(text.replace("<parents>B A<", "<parents>B  A\n<").replace(" 0.9", "\n  0.9"))
    assert_same_tables(NETWORK, read_network(path))
