"""Netica's DNE: the grammar, what is refused, and where faults are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bnmind
from bnmind.errors import ModelFileError
from bnmind.pgm.files import read_network, write_model
from bnmind.pgm.formats.declared import ModelFileWarning
from bnmind.pgm.formats.net_dne import from_dne
from tests.data_sets import data_set

SEED = (Path(__file__).parents[1] / "fuzz" / "seeds" / "dne" / "by_hand.dne").read_text()
GOOD = SEED.replace("node X_in", "param X_in").replace(
    "kind = NATURE; states = (lo, hi); probs = (0.5, 0.5);",
    "kind = DISCONNECTED; states = (lo, hi);",
)


def test_what_netica_writes_is_read() -> None:
    with pytest.warns(ModelFileWarning, match="got a uniform one: X_in"):
        network = from_dne(GOOD, max_cells=100).network
    assert [(v.name, v.states) for v in network.variables] == [
        ("X_in", ("lo", "hi")),
        ("rain", ("no", "yes")),
        ("b", ("0 to 1.5", "1.5 to 10")),
    ]
    tables = [cpd.to_factor().values.tolist() for cpd in network.cpds]
    assert tables == [[0.5, 0.5], [[0.8, 0.5], [0.2, 0.5]], [[0.0, 1.0], [1.0, 0.0]]]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(no, yes)", "(no, no)", "expected distinct states of 'rain'"),
        ("(X_in)", "(Y)", "expected declared variables, got 'Y'"),
        ("0.2)", "0.3)", "got a sum of 1.1 given X_in=lo"),
        ("0.2)", "x)", "expected a number for rain, got 'x' at line 11, column 10"),
        (", 0.2)", ")", "expected 4 numbers for rain, got 3"),
        ("#1", "#2", "expected a state of b, got '#2'"),
        ("(#1, #0)", "(#1)", "expected 2 states of b, got 1"),
        ("functable = (#1, #0)", 'equation = "b (rain) = 1"', "turn its equation into a table"),
        ("levels = (0, 1.5, 10);", "", "expected states of 'b', got none"),
        (
            "b { kind = NATURE",
            "b { kind = CONSTANT",
            "of kind NATURE only, got 'b' of kind CONSTANT",
        ),
        ("b { kind = NATURE", "b { kind = DECISION", "'b' is a decision node"),
        ("discrete = FALSE;", "delays = (1);", "does not know 'delays' of the node 'b'"),
        ("ElimOrder = (b, rain);", "loop L { };", "does not know the block 'loop'"),
        ("bnet made", "net made", "expected 'bnet NAME {', got 'net' at line 2"),
        ("\tparents = (X_in);", "\tparents = (X_in);\n\tparents = ();", "parents of 'rain' once"),
        ("(b, rain);\n};", "(b, rain);\n", "or '}', got the end of the file"),
        ("(b, rain);\n};", "(b, rain);\n}; x", "expected nothing after the network, got 'x'"),
    ],
)
@pytest.mark.filterwarnings("ignore::bnmind.pgm.files.ModelFileWarning")
def test_faults_have_a_place(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(ModelFileError) as caught:
        from_dne(GOOD.replace(old, new), max_cells=100)
    assert message in str(caught.value)
    assert "at line" in str(caught.value)


def test_findings_in_a_file_are_told() -> None:
    text = SEED.replace("levels = (0, 1.5, 10);", "levels = (0, 1.5, 10); evidence = #1;")
    with pytest.warns(ModelFileWarning, match="findings are no part of a network.*: b$"):
        assert len(from_dne(text, max_cells=100).network.variables) == 3


def test_other_kinds_of_nodes_are_left_out() -> None:
    note = 'node T { kind = DOCUMENTATION; title = "words"; };\n'
    text = GOOD.replace("ElimOrder", f"{note}ElimOrder").replace("\n", "\r")
    with pytest.warns(ModelFileWarning):
        network = from_dne(text.replace("\r", "\n"), max_cells=100).network
    assert len(network.variables) == 3


def test_the_networks_of_aced_have_the_marginals_that_netica_found(tmp_path: Path) -> None:
    place = data_set("aced") / "networks"
    network = read_network(place / "MiniACEDPM.dne")
    found = bnmind.posterior(network, {}, targets=["TableGeometric", "CommonRatio"])
    # Copied from the fields "belief" of the file.
    netica = {
        "TableGeometric": (0.2403464, 0.2527488, 0.5069048),
        "CommonRatio": (0.743582, 0.225446, 0.03097196),
    }
    for name, values in netica.items():
        given = [found[name][state] for state in network.variable(name).states]
        np.testing.assert_allclose(given, values, atol=1e-6)
    write_model(network, tmp_path / "again.dne")
    again = read_network(tmp_path / "again.dne")
    assert [v.name for v in again.variables] == [v.name for v in network.variables]
    files = sorted(place.glob("*.dne"))
    assert len(files) == 14
    for path in files:
        if "EM" not in path.stem:
            assert len(read_network(path).variables) > 5
            continue
        with pytest.warns(ModelFileWarning, match="is a part of a network"):
            assert read_network(path).variable("isCorrect").states == ("Yes", "No")
