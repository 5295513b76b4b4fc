"""Tables that miss one by rounding, what is reported about them, and notes about files."""

from __future__ import annotations

import gzip
import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.pgm import Network, NoisyMaximum, NoisyMinimum, TabularCPD, Variable
from bnmind.pgm.files import (
    MODEL_FORMATS,
    ReadReport,
    read,
    read_network,
    read_with_report,
    write_model,
)
from bnmind.pgm.formats.declared import ModelFileWarning, NormalizedTable, Reading, rounding_bound
from tests.data_sets import data_set
from tests.modes import examples

ROUNDED = """network x { }
variable A { type discrete [ 2 ] { n, y }; }
variable B { type discrete [ 3 ] { a, b, c }; }
probability ( A ) { table 0.25, 0.75; }
probability ( B | A ) { (n) 0.33, 0.33, 0.33; (y) 0.1, 0.2, 0.7; }
"""


@pytest.fixture
def rounded(tmp_path: Path) -> Path:
    path = tmp_path / "rounded.bif"
    path.write_text(ROUNDED)
    return path


def test_a_row_that_misses_one_is_refused_with_the_states_of_its_parents(rounded: Path) -> None:
    told = r"sum of 0\.99 given A=n \(normalize=True corrects rounding\) at line 5"
    with pytest.raises(ModelFileError, match=rf"table of B .* {told}"):
        read(rounded)


def test_rounding_is_normalized_on_request_and_reported(rounded: Path) -> None:
    network = read_network(rounded, normalize=True)
    expected = [[1 / 3, 0.1], [1 / 3, 0.2], [1 / 3, 0.7]]
    np.testing.assert_allclose(network.cpd("B").to_factor().values, expected, rtol=1e-15)
    report = read_with_report(rounded)
    (table,) = report.normalized
    assert (table.variable, table.rows, table.given) == ("B", 1, {"A": "n"})
    assert table.total == pytest.approx(0.99)
    assert str(report).splitlines() == [
        "Network(A, B); normalized a row in one table",
        "  B: a row of sum 0.99 (given A=n)",
    ]


def test_more_than_rounding_is_refused_even_on_request(tmp_path: Path) -> None:
    path = tmp_path / "wrong.bif"
    path.write_text(ROUNDED.replace("0.33, 0.33, 0.33", "0.33, 0.33, 0.30"))
    with pytest.raises(ModelFileError, match=r"table of B .* sum of 0\.96 given A=n"):
        read(path, normalize=True)
    path.write_text(ROUNDED.replace("0.25, 0.75", "0.25, 0.809"))
    with pytest.raises(ModelFileError, match=r"table of A .* sum of 1\.059"):
        read_with_report(path)
    with pytest.raises(ModelFileError, match=r"sum of 1\.059 at line"):  # no remedy is named
        read(path)


def test_rows_close_to_one_are_normalized_and_reported_without_asking(tmp_path: Path) -> None:
    path = tmp_path / "close.bif"
    path.write_text(ROUNDED.replace("0.33, 0.33, 0.33", "0.333333, 0.333333, 0.333333"))
    assert read_with_report(path, normalize=False).normalized[0].total == pytest.approx(0.999999)
    path.write_text(ROUNDED.replace("0.33, 0.33, 0.33", "0.1, 0.2, 0.7"))
    report = read_with_report(path)
    assert (report.normalized, report.notes) == ((), ())
    assert str(report) == "Network(A, B); normalized no row"


@settings(max_examples=examples(200))
@given(st.integers(2, 8), st.integers(0, 2**32), st.integers(1, 6), st.booleans())
def test_rounded_rows_stay_within_the_bound(n: int, seed: int, digits: int, fixed: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 5.0])), size=4).T
    kind = f".{digits}f" if fixed else f".{digits}g"
    printed = np.vectorize(lambda value: float(format(value, kind)))(rows)
    away = np.abs(printed.sum(axis=0) - 1)
    exact = (printed > 0).all(axis=0)  # a number that was rounded to zero is not bounded
    assert np.all((away <= rounding_bound(printed)) | (away < 1e-6) | ~exact)


def test_the_bound_is_tight_for_few_digits() -> None:
    assert rounding_bound(np.array([0.5, 0.5])) == pytest.approx(0.1)
    assert rounding_bound(np.array([0.251, 0.749])) == pytest.approx(0.001)
    assert rounding_bound(np.array([1.0, 0.0])) == 0


@pytest.mark.parametrize(
    "row", [[0.1] * 5 + [0.0] * 5, [0.9, 0.0], [0.1] * 8, [0.48, 0.5, 0.0, 0.0], [0.3, 0.3, 0.2]]
)
def test_gross_errors_of_few_digits_are_not_rounding(row: list[float]) -> None:
    reading = Reading(normalize=True)
    values = np.array(row)
    child = Variable("A", tuple(map(str, range(len(row)))))
    np.testing.assert_array_equal(reading.corrected([child], values), values)


def test_rows_without_probabilities_are_reported_apart_and_first() -> None:
    child, parent = Variable("A", ("n", "y")), Variable("B", ("0", "1", "2", "3"))
    other = Variable("C", ("n", "y"))
    told: list[NormalizedTable] = []
    reading = Reading(normalize=True, on_table=told.append)
    reading.corrected([other], np.array([0.47, 0.52]))
    nan = math.nan
    reading.corrected([child, parent], np.array([[0.25, nan, 0.31, 0.5], [0.74, nan, 0.68, 0.5]]))
    network = Network((TabularCPD(other, (), np.array([0.5, 0.5])),))
    assert str(ReadReport(network, tuple(told), ())).splitlines() == [
        "Network(C); normalized 4 rows in 2 tables",
        "  A: a row without probabilities (given B=1), now uniform",
        "  C: a row of sum 0.99",
        "  A: 2 rows, the worst of sum 0.99 (given B=0)",
    ]


@pytest.mark.parametrize("suffix", [".net", ".xmlbif", ".xdsl", ".uai", ".json"])
def test_every_format_normalizes_on_request(rounded: Path, suffix: str) -> None:
    network = read_network(rounded, normalize=True)
    path = rounded.with_suffix(suffix)
    write_model(network, path)
    path.write_text(re.sub(r"0\.33333\d*", "0.33", path.read_text()))
    with pytest.raises(ModelFileError, match=r"0\.99 given A=n"):
        read(path)
    assert [table.variable for table in read_with_report(path).normalized] == ["B"]
    assert set(MODEL_FORMATS) >= {suffix}


def test_a_table_in_python_names_the_states_of_the_parents() -> None:
    a, b = Variable("A", ("n", "y")), Variable("B", ("0", "1"))
    with pytest.raises(InvalidModelError, match=r"got a sum of 0\.9 given A=y"):
        TabularCPD(b, (a,), np.array([[0.5, 0.4], [0.5, 0.5]]))


# --- Files of pyAgrum -----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".xdsl", ".uai"])
def test_files_in_which_pyagrum_reverses_the_parents_are_noted(tmp_path: Path, suffix: str) -> None:
    gum = pytest.importorskip("pyagrum")
    path = tmp_path / f"theirs{suffix}"
    gum.saveBN(gum.fastBN("A->B<-C"), str(path))
    with pytest.warns(ModelFileWarning, match="pyAgrum, which lists the parents"):
        read(path)
    (note,) = read_with_report(path).notes
    assert "Network.from_pyagrum" in note
    gum.saveBN(gum.fastBN("A->B->C"), str(path))  # with one parent, nothing is reversed
    assert read_with_report(path).notes == ()


@pytest.mark.parametrize("suffix", [".bif", ".net", ".bifxml"])
def test_other_files_of_pyagrum_are_read_as_they_are(tmp_path: Path, suffix: str) -> None:
    gum = pytest.importorskip("pyagrum")
    model = gum.fastBN("A->B{x|y|z}<-C;A->C")
    path = tmp_path / f"theirs{suffix}"
    gum.saveBN(model, str(path))
    ours = path.rename(path.with_suffix(".xmlbif")) if suffix == ".bifxml" else path
    network = read_network(ours, normalize=True)
    expected = Network.from_pyagrum(model)
    for cpd in expected.cpds:
        found = network.cpd(cpd.variable.name).to_factor().transpose([v.name for v in cpd.scope])
        np.testing.assert_allclose(found.values, cpd.to_factor().values, atol=2e-6)


def test_our_files_are_not_taken_for_those_of_pyagrum(rounded: Path) -> None:
    network = read_network(rounded, normalize=True)
    three = Network(
        (
            *network.cpds,
            TabularCPD(Variable("C", ("0", "1")), network.variables, np.full((2, 2, 3), 0.5)),
        )
    )
    for suffix in MODEL_FORMATS:
        write_model(three, rounded.with_suffix(suffix))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(rounded.with_suffix(suffix))


# --- GeNIe's noisy maximum ------------------------------------------------------------------------

NOISY = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="noisy">
 <nodes>
  <cpt id="cold"><state id="present" /><state id="absent" />
    <probabilities>0.1 0.9</probabilities></cpt>
  <cpt id="flu"><state id="severe" /><state id="mild" /><state id="none" />
    <probabilities>0.05 0.15 0.8</probabilities></cpt>
  <noisymax id="fever"><state id="high" /><state id="low" /><state id="none" />
    <parents>cold flu</parents>
    <strengths>0 1 0 1 2</strengths>
    <parameters>0.1 0.3 0.6 0 0 1 0.7 0.2 0.1 0.2 0.5 0.3 0 0 1 0.01 0.04 0.95</parameters>
  </noisymax>
 </nodes>
</smile>
"""


def test_noisy_maxima_of_genie_are_read_as_such(tmp_path: Path) -> None:
    path = tmp_path / "noisy.xdsl"
    path.write_text(NOISY)
    cpd = read_network(path).cpd("fever")
    assert isinstance(cpd, NoisyMinimum)
    table = cpd.to_factor().values
    # P(fever at most low) is the product over the causes: cold present, flu mild, and the leak.
    low = (1 - 0.1) * (1 - 0.2) * (1 - 0.01)
    assert 1 - table[0, 0, 1] == pytest.approx(low)
    assert table[2, 0, 1] == pytest.approx(0.6 * 0.3 * 0.95)
    assert table[2, 1, 2] == pytest.approx(0.95)
    path.write_text(NOISY.replace("    <strengths>0 1 0 1 2</strengths>\n", ""))
    np.testing.assert_array_equal(read_network(path).cpd("fever").to_factor().values, table)


def test_noisy_maxima_go_to_genie_and_back(tmp_path: Path) -> None:
    path = tmp_path / "noisy.xdsl"
    path.write_text(NOISY)
    network = read_network(path)
    again = tmp_path / "again.xdsl"
    write_model(network, again)
    assert "<noisymax" in again.read_text()
    cpd, back = network.cpd("fever"), read_network(again).cpd("fever")
    assert isinstance(cpd, NoisyMinimum)
    assert isinstance(back, NoisyMinimum)
    for before, after in zip(cpd.contributions, back.contributions, strict=True):
        np.testing.assert_array_equal(after, before)


def test_noisy_nodes_with_many_parents_are_not_expanded(tmp_path: Path) -> None:
    effect = Variable("effect", ("yes", "no"))
    causes = tuple(Variable(f"cause{i}", ("yes", "no")) for i in range(70))
    links = (np.array([[0.3, 0.0], [0.7, 1.0]]),) * len(causes)
    network = Network(
        (
            *(TabularCPD(cause, (), np.array([0.1, 0.9])) for cause in causes),
            NoisyMinimum(effect, causes, links, np.array([0.01, 0.99])),
        )
    )
    path = tmp_path / "many.xdsl"
    write_model(network, path)
    assert isinstance(read_network(path).cpd("effect"), NoisyMinimum)


def test_other_noisy_nodes_become_tables(tmp_path: Path) -> None:
    a, b = Variable("a", ("no", "yes")), Variable("b", ("no", "yes"))
    link = np.array([[1.0, 0.2], [0.0, 0.8]])
    for noisy in (NoisyMaximum(b, (a,), (link,)), NoisyMinimum(b, (a,), (link,))):
        path = tmp_path / "table.xdsl"
        write_model(Network((TabularCPD(a, (), np.array([0.5, 0.5])), noisy)), path)
        assert "<noisymax" not in path.read_text()
        found = read_network(path).cpd("b").to_factor().values
        np.testing.assert_allclose(found, noisy.to_factor().values, atol=1e-15)


def test_the_order_of_the_parameters_is_told_by_the_state_without_effect(tmp_path: Path) -> None:
    path = tmp_path / "swapped.xdsl"
    swapped = NOISY.replace("<strengths>0 1", "<strengths>1 0")
    path.write_text(swapped)  # the strongest state of cold, absent, comes first
    by_strength = read_network(path).cpd("fever").to_factor().values
    path.write_text(swapped.replace("0.1 0.3 0.6 0 0 1", "0 0 1 0.1 0.3 0.6"))
    by_state = read_network(path).cpd("fever").to_factor().values
    np.testing.assert_array_equal(by_strength, by_state)
    assert by_state[2, 1, 2] == pytest.approx(0.6 * 0.95)
    path.write_text(swapped.replace("0.1 0.3 0.6 0 0 1", "0.1 0.3 0.6 0.1 0.1 0.8"))
    with pytest.raises(ModelFileError, match="whose order is clear; those of cold"):
        read_network(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "0 1 0 1 2</",
            "0 1 0 2 2</",
            "each state of flu once, by number from 0 to 2, got '0 2 2'",
        ),
        ("0 1 0 1 2</", "0 1 0 1 2 3</", "no more <strengths> of fever"),
        ("0.04 0.95", "0.95", "18 parameters of fever, got 17"),
        ("0.04 0.95", "0.04 high", "numbers for fever in <parameters>, got 'high'"),
        ("0.04 0.95", "0.04 0.85", "leak of fever"),
    ],
)
def test_faults_of_a_noisy_node_are_reported(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    path = tmp_path / "broken.xdsl"
    path.write_text(NOISY.replace(old, new))
    with pytest.raises(ModelFileError, match="at line") as caught:
        read_network(path)
    assert words in str(caught.value)


# --- Networks of bnlearn and bnRep ----------------------------------------------------------------

LISTED: dict[str, Any] = {
    "name": "garden",
    "nodes": [
        {"name": "wet grass", "states": ["FALSE", "TRUE"], "parents": ["rain", "hose"],
         "shape": [2, 2, 3], "prob": [1, 0.5, 0.2, 0.3, 0.2, 0.1, 0, 0.5, 0.8, 0.7, 0.8, 0.9]},
        {"name": "rain", "states": ["no", "yes"], "parents": [], "shape": [2], "prob": [0.8, 0.2]},
        {"name": "hose", "states": ["0", "1", "2"], "parents": [], "prob": [0.8, 0.1, 0.1]},
    ],
}  # fmt: skip


def test_networks_of_bnlearn_are_read_from_json(tmp_path: Path) -> None:
    path = tmp_path / "garden.json"
    path.write_text(json.dumps(LISTED))
    network = read_network(path)
    assert network.parents("wet grass") == ("rain", "hose")
    assert network.cpd("wet grass").to_factor().values[1, 0, 2] == 0.8
    assert isinstance(read(path), Network)


def test_missing_probabilities_of_r_are_refused_or_uniform_on_request(tmp_path: Path) -> None:
    path = tmp_path / "garden.json"
    text = (
        json.dumps(LISTED).replace("[1, 0.5,", "[NaN, 0.5,").replace("0.1, 0, 0.5", "0.1, NaN, 0.5")
    )
    path.write_text(text)
    with pytest.raises(
        ModelFileError, match="table of wet grass must hold probabilities"
    ) as caught:
        read(path)
    told = "got nan for FALSE given rain=no, hose=0 (normalize=True makes rows of NaN"
    assert told in str(caught.value)
    report = read_with_report(path)
    assert isinstance(report.model, Network)
    assert report.model.cpd("wet grass").to_factor().values[:, 0, 0].tolist() == [0.5, 0.5]
    told = "wet grass: a row without probabilities (given rain=no, hose=0), now uniform"
    assert told in str(report)
    path.write_text(json.dumps(LISTED).replace("[1, 0.5,", "[NaN, 0.5,"))  # half a row
    with pytest.raises(ModelFileError, match="must hold probabilities"):
        read(path, normalize=True)
    with pytest.raises(ModelFileError, match=r"given rain=no, hose=0, in ") as caught:
        read(path)
    assert "normalize=True" not in str(caught.value)


@pytest.mark.parametrize("missing", ["null", "NaN", '"NaN"', '"NA"'])
def test_all_texts_of_r_for_missing_numbers_are_read(missing: str, tmp_path: Path) -> None:
    path = tmp_path / "garden.json"
    path.write_text(json.dumps(LISTED).replace("[0.8, 0.2]", f"[{missing}, {missing}]"))
    with pytest.raises(ModelFileError, match=r"got nan for no \(normalize=True makes rows"):
        read(path)
    network = read_network(path, normalize=True)
    assert network.cpd("rain").to_factor().values.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"parents": ["rain", "snow"]}, "parents of wet grass among the nodes, got 'snow'"),
        ({"shape": [2, 3, 2]}, "the shape [2, 2, 3] of wet grass"),
        ({"prob": [1, 2]}, "12 numbers over wet grass, rain, hose, got 2"),
        ({"states": ["a", "a"]}, "distinct states of 'wet grass'"),
        ({"name": "rain"}, "distinct variables, got 'rain' twice"),
        ({"states": None}, "nodes.0.states"),
        ({"parents": ["wet grass", "hose"]}, "wet grass"),
        ({"coefficients": [0.5]}, "nodes.0: unknown fields: 'coefficients'"),
        ({"children": [], "mb": ["rain"], "shape": [0]}, "the shape [2, 2, 3] of wet grass"),
    ],
)
def test_faults_of_a_listed_network_are_reported(
    tmp_path: Path, change: dict[str, object], words: str
) -> None:
    nodes = [dict(node) for node in LISTED["nodes"]]
    nodes[0].update(change)
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({"nodes": nodes}))
    with pytest.raises(ModelFileError) as caught:
        read(path)
    assert words in str(caught.value)


def test_networks_of_bnrep_are_read() -> None:
    paths = sorted(data_set("bnrep").glob("*.json.gz"))
    assert len(paths) == 97
    for path in paths[::4]:
        network = read_network(path)
        nodes = json.loads(gzip.decompress(path.read_bytes()))["nodes"]
        assert {v.name for v in network.variables} == {node["name"] for node in nodes}
        for node in nodes:
            table = network.cpd(node["name"]).to_factor().values
            expected = np.reshape(node["prob"], node["shape"])
            np.testing.assert_allclose(table, expected, rtol=0, atol=1e-15)


BNLEARN = """network unknown {
}
variable Rain {
  type discrete [ 2 ] { no, yes };
}
variable Wet {
  type discrete [ 2 ] { no, yes };
}
probability ( Rain ) {
  table 0.8, 0.2;
}
probability ( Wet | Rain ) {
  (no) 0.9, 0.1;
  (yes) 0.2, 0.8;
}
"""
"""As bnlearn 5.0 writes it: write.bif(fit, "garden.bif")."""


def test_files_that_bnlearn_writes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "garden.bif"
    path.write_text(BNLEARN)
    assert read_network(path).cpd("Wet").to_factor().values.tolist() == [[0.9, 0.2], [0.1, 0.8]]
