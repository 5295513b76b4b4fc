"""UAI: the order of its numbers, the names beside it, and where faults are."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from bnmind.errors import ModelFileError, TooLargeError
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from bnmind.pgm.files import read_model, read_network, write_model
from bnmind.pgm.formats.source import Place
from bnmind.pgm.formats.uai import Words, network_from_uai
from tests.modes import examples
from tests.networks import enumerate_joint, factor_models, networks
from tests.pgm.faults import require_fault

RAIN, WIND = Variable("rain", ("no", "yes")), Variable("wind", ("low", "high"))
FLOOD = Variable("flood", ("none", "some", "much"))
NETWORK = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WIND, (), np.array([0.6, 0.4])),
        TabularCPD(
            FLOOD,
            (RAIN, WIND),
            np.array(
                [
                    [[0.9, 0.8], [0.7, 0.6]],
                    [[0.1, 0.1], [0.2, 0.3]],
                    [[0.0, 0.1], [0.1, 0.1]],
                ]
            ),
        ),
    )
)
TEXT = """BAYES
3
2 2 3
3
1 0
1 1
3 0 1 2

2
0.8 0.2

2
0.6 0.4

12
0.9 0.1 0.0 0.8 0.1 0.1 0.7 0.2 0.1 0.6 0.3 0.1
"""
EACH = settings(
    max_examples=examples(30),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def test_the_form_is_as_documented(tmp_path: Path) -> None:
    path = tmp_path / "flood.uai"
    write_model(NETWORK, path)
    assert path.read_text() == TEXT
    assert json.loads((tmp_path / "flood.uai.json").read_text()) == {
        "schema": "bnmind-uai-names",
        "version": 1,
        "variables": [
            {"name": "rain", "states": ["no", "yes"]},
            {"name": "wind", "states": ["low", "high"]},
            {"name": "flood", "states": ["none", "some", "much"]},
        ],
    }


def test_names_are_numbers_by_default(tmp_path: Path) -> None:
    path = tmp_path / "flood.uai"
    path.write_text(TEXT)
    network = read_network(path)
    assert [v.name for v in network.variables] == ["x0", "x1", "x2"]
    assert network.variable("x2").states == ("0", "1", "2")
    assert network.cpd("x2").scope[1:] == (network.variable("x0"), network.variable("x1"))
    np.testing.assert_array_equal(
        network.cpd("x2").to_factor().values, NETWORK.cpd("flood").to_factor().values
    )


def test_comments_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "flood.uai"
    path.write_text("c made by hand\nc\n" + TEXT.replace("\n\n", "\nc 7 8 9\n"))
    assert len(read_network(path).variables) == 3
    path.write_text(TEXT.replace("1 0\n", "1 0 # the first\n"))
    assert len(read_network(path).variables) == 3
    path.write_text("c made by hand\n" + TEXT.replace("0.9", "0.8"))
    told = r"sum of 0\.9 given x0=0, x1=0 \(normalize=True corrects rounding\) at line 17, column 1"
    with pytest.raises(ModelFileError, match=told):
        read_network(path)


def test_another_program_reads_the_same_network(tmp_path: Path) -> None:
    """With one parent: of several, pyAgrum 3.3 takes the first for the fastest, as in XDSL."""
    gum = pytest.importorskip("pyagrum")
    path = tmp_path / "flood.uai"
    write_model(NETWORK.given({"wind": "high"}), path)
    theirs = gum.loadBN(str(path))  # must live as long as its tables
    table = theirs.cpt("1")
    for i, k in np.ndindex(2, 3):
        expected = float(np.real(NETWORK.cpd("flood").to_factor().values[k, i, 1]))
        assert table[{"0": i, "1": k}] == pytest.approx(expected, abs=1e-6)


@EACH
@given(networks())
def test_networks_keep_their_names(tmp_path: Path, network: Network) -> None:
    path = tmp_path / "network.uai"
    write_model(network, path)
    assert read_network(path).variables == network.variables
    assert enumerate_joint(read_model(path)).isclose(enumerate_joint(network), atol=1e-14)


@EACH
@given(factor_models())
def test_products_of_factors_read_back(tmp_path: Path, model: FactorModel) -> None:
    positive = FactorModel(
        tuple(Factor(f.scope, np.abs(f.values)) for f in model.potentials if isinstance(f, Factor))
    )
    path = tmp_path / "model.uai"
    write_model(positive, path)
    assert path.read_text().startswith("MARKOV\n")
    back = read_model(path)
    assert back.variables == positive.variables
    for before, after in zip(positive.potentials, back.potentials, strict=True):
        assert isinstance(before, Factor)
        assert isinstance(after, Factor)
        assert after.scope == before.scope
        np.testing.assert_array_equal(after.values, before.values)


def test_a_variable_without_a_factor_gets_a_factor_of_ones(tmp_path: Path) -> None:
    path = tmp_path / "model.uai"
    path.write_text("MARKOV 2 2 3 1 1 0 2 0.5 4")
    last = read_model(path).potentials[-1]
    assert isinstance(last, Factor)
    assert last.names == ("x1",)
    assert last.values.tolist() == [1, 1, 1]


@pytest.mark.parametrize("values", [[1.0, -1.0], [1.0, 1j]])
def test_other_factors_are_refused_before_anything_is_written(
    tmp_path: Path, values: list[complex]
) -> None:
    model = FactorModel((Factor((RAIN,), np.array(values)),))
    with pytest.raises(ModelFileError, match=r"negative or complex values.* over rain"):
        write_model(model, tmp_path / "model.uai")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("BAYES", "LAPLACE", (1, 1), "BAYES or MARKOV, got 'LAPLACE'"),
        ("3\n2 2 3", "many\n2 2 3", (2, 1), "a number of variables, got 'many'"),
        ("3\n2 2 3", "0\n2 2 3", (2, 1), "a number of variables from 1"),
        ("2 2 3\n", "2 0 3\n", (3, 3), "a number of states from 1"),
        ("2 2 3\n", "2 99999999 3\n", (3, 3), "as many numbers in the file as states"),
        ("2 2 3\n", "2 9999999999 3\n", (3, 3), "a number of states, got '9999999999'"),
        ("1 1\n", "1 7\n", (6, 3), "the number of a variable from 0 to 2, got '7'"),
        ("1 1\n", "1 0\n", (6, 1), "one table of x0, got another"),
        ("1 1\n", "0\n", (6, 1), "the child in a factor"),
        ("1 1\n", "70 1\n", (6, 1), "in a factor from 0 to 64, got '70'"),
        ("3 0 1 2", "3 0 0 2", (7, 5), "different variables"),
        ("1 0\n", "2 2 0\n", (5, 1), "no cycle"),
        ("12\n", "11\n", (15, 1), "the count 12 of numbers, got '11'"),
        ("0.9", "most", (16, 1), "a number, got 'most'"),
        ("0.9", "nan", (16, 1), "a number, got 'nan'"),
        ("0.9", "-0.9", (16, 1), "probabilities"),
        ("0.7 0.2", "0.7 0.3", (16, 25), "got a sum of 1.1"),
        ("0.3 0.1\n", "0.3", (16, 44), "12 numbers, got the end of the file"),
        ("0.3 0.1\n", "0.3 0.1 1\n", (16, 49), "the end of the file, got '1'"),
    ],
)  # fmt: skip
def test_a_fault_is_reported_with_its_place(
    tmp_path: Path, old: str, new: str, place: tuple[int, int], words: str
) -> None:
    text = TEXT.replace(old, new, 1)
    assert text != TEXT
    require_fault(tmp_path / "flood.uai", text, place, words)


def test_negative_factors_and_other_kinds_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "model.uai"
    path.write_text("MARKOV\n1\n2\n1\n1 0\n2\n0.5 -4")
    with pytest.raises(ModelFileError, match="not negative, got '-4' at line 7, column 5"):
        read_model(path)
    with pytest.raises(ModelFileError, match="BAYES, for a network, got 'MARKOV' at line 1"):
        read_network(path)


def test_large_tables_are_refused_before_they_are_made(tmp_path: Path) -> None:
    text = (
        f"BAYES 41 {'2 ' * 41} 41 {' '.join(f'1 {i}' for i in range(40))}\n"
        f"41 {' '.join(map(str, range(41)))} 2 0.5 0.5"
    )
    with pytest.raises(TooLargeError, match="in the table of x40 at line 2, column 1"):
        network_from_uai(text, max_cells=2**22)
    path = tmp_path / "model.uai"
    path.write_text(text.replace("BAYES", "MARKOV").replace("2 0.5 0.5", "2 " * 200))
    with pytest.raises(TooLargeError, match=r"got 2,199,023,255,552 at line 2, column 1, in"):
        read_model(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "schema: this key is missing"),
        ('{"schema": "bnmind-model", "version": 1}', "got 'bnmind-model' at schema"),
        ('{"schema": "bnmind-uai-names", "version": 2}', "got version 2, made by a newer bnmind"),
        ('{"schema": "bnmind-uai-names", "version": 1, "variables": [{"name": 1}]}',
         "variables.0.name: expected a text; variables.0.states: this key is missing"),
        ('{"schema": "bnmind-uai-names", "version": 1, "variables":'
         ' [{"name": "", "states": ["0"]}, {"name": "a", "states": []}]}',
         "at variables.0: expected a variable name"),
        ("[" * 100_000, "recursion limit"),
    ],
)  # fmt: skip
def test_faults_of_the_names_are_reported(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "flood.uai").write_text(TEXT)
    (tmp_path / "flood.uai.json").write_text(text)
    with pytest.raises(ModelFileError) as caught:
        read_network(tmp_path / "flood.uai")
    assert words in str(caught.value)
    assert str(tmp_path / "flood.uai.json") in str(caught.value)


def test_names_of_another_model_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "flood.uai"
    write_model(NETWORK, path)
    path.write_text("BAYES 1 2 1 1 0 2 1 0")
    with pytest.raises(ModelFileError, match="3 variables, as many as have names, got '1' at line"):
        read_network(path)
    path.write_text(TEXT.replace("2 2 3", "2 3 3"))
    with pytest.raises(ModelFileError, match="2 states of wind, as many as have names, got '3' at"):
        read_network(path)


def test_a_file_with_every_table_wrong_is_searched_for_the_first_faults_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each place used to be found from the start of the file: 131 KB took 25 s."""
    searched = 0
    find = Words.place

    def counted(reader: Words, at: int) -> Place:
        nonlocal searched
        searched += 1
        return find(reader, at)

    monkeypatch.setattr(Words, "place", counted)
    n = 500
    scopes = "1 0\n" + "".join(f"2 {i - 1} {i}\n" for i in range(1, n))
    path = tmp_path / "model.uai"
    path.write_text(f"BAYES {n} {'2 ' * n} {n} {scopes} 2 1 1 {'4 1 1 1 1 ' * (n - 1)}")
    with pytest.raises(ModelFileError, match=r"x1 to sum .*; and 495 more, in"):
        read_network(path)
    assert searched < 10
