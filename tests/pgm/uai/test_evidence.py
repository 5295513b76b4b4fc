"""Evidence and query files of the competitions: their layouts, and the places of faults."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, ModelFileError, UnknownNameError
from bnmind.pgm import Factor, FactorModel, Variable
from bnmind.pgm.competition import (
    evidence_to_uai,
    query_to_uai,
    read_evidence,
    read_evidence_samples,
    read_query,
    write_packed,
)
from bnmind.pgm.files import read_model, write_model
from tests.modes import examples
from tests.pgm.uai.test_models import NETWORK

FOUND = {"rain": "yes", "flood": "much"}
VARIABLES = NETWORK.variables


def samples_in(text: str, variables: Sequence[Variable]) -> tuple[dict[str, str], ...]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.uai.evid"
        path.write_text(text)
        ones = tuple(Factor((one,), np.ones(one.n_states)) for one in variables)
        return read_evidence_samples(path, FactorModel(ones))


@pytest.mark.parametrize(
    "text",
    [
        "2 0 1 2 2",
        "2 2 2 0 1",
        "1 2 0 1 2 2",
        "1\n2 0 1 2 2\n",
        "1\n2\n0 1\n2 2\n",
        "2\n0 1\n2 2\n",
        "c by hand\n2 0 1 2 2 # the last\n",
    ],
)
def test_all_layouts_of_evidence_are_read(tmp_path: Path, text: str) -> None:
    write_model(NETWORK, tmp_path / "flood.uai")
    (tmp_path / "flood.uai.evid").write_text(text)
    (tmp_path / "flood.uai.evid.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("flood.uai.evid", "flood.uai.evid.gz"):
        assert read_evidence(tmp_path / name, tmp_path / "flood.uai") == FOUND


@pytest.mark.parametrize("text", ["", "\n", "0", "0\n", "1\n0\n", "c nothing\n"])
def test_no_evidence_may_be_a_zero_or_nothing(tmp_path: Path, text: str) -> None:
    write_model(NETWORK, tmp_path / "flood.uai")
    (tmp_path / "flood.uai.evid").write_text(text)
    assert read_evidence(tmp_path / "flood.uai.evid", tmp_path / "flood.uai") == {}


@pytest.mark.parametrize("text", ["2\n1 0 1\n1 2 2\n", "2 1 0 1 1 2 2"])
def test_several_samples_are_read_by_a_function_of_their_own(tmp_path: Path, text: str) -> None:
    model, path = tmp_path / "flood.uai", tmp_path / "flood.uai.evid"
    write_model(NETWORK, model)
    path.write_text(text)
    assert read_evidence_samples(path, model) == ({"rain": "yes"}, {"flood": "much"})
    with pytest.raises(ModelFileError, match=r"one sample in .*, got 2 samples; read_evidence_sam"):
        read_evidence(path, model)


def test_samples_that_look_like_findings_need_lines_of_their_own() -> None:
    """Five numbers: two findings, or two samples with one finding and with none."""
    assert samples_in("2 1 1 0 0", VARIABLES) == ({"wind": "high", "rain": "no"},)
    assert samples_in("2\n1 1 0\n0\n", VARIABLES) == ({"wind": "low"}, {})


def test_the_variables_of_a_bayesian_network_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    """The network lists parents first; the file may not."""
    path = tmp_path / "child_first.uai"
    path.write_text("BAYES 2 2 3 2  2 1 0  1 1  6 .1 .9 .2 .8 .3 .7  3 .2 .3 .5")
    (tmp_path / "x.evid").write_text("1 1 2")
    assert [v.name for v in read_model(path).variables] == ["x0", "x1"]
    for model in (path, read_model(path)):
        assert read_evidence(tmp_path / "x.evid", model) == {"x1": "2"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2 0 1 2", "a state of flood, got the end of the file at line 1, column 8"),
        ("1 0 2", "a state of rain from 0 to 1, got '2' at line 1, column 5"),
        ("1 3 0", "the number of a variable from 0 to 2, got '3' at line 1, column 3"),
        ("2 0 1 0 1", "evidence on rain once, got '0' at line 1, column 7"),
        ("0 1", "the end of the file, got '1' at line 1, column 3"),
        ("x", "a number of findings, got 'x' at line 1, column 1"),
        ("1 0 -1", "a state of rain, got '-1' at line 1, column 5"),
        (
            "3 0 2\n7 0\n0 1",
            "expected valid evidence, got these faults: expected a state of rain from 0 to 1, got"
            " '2' at line 1, column 5; expected the number of a variable from 0 to 2, got '7' at"
            " line 2, column 1",
        ),
    ],
)
def test_faults_of_evidence_are_reported(tmp_path: Path, text: str, words: str) -> None:
    write_model(NETWORK, tmp_path / "flood.uai")
    (tmp_path / "flood.uai.evid").write_text(text)
    with pytest.raises(ModelFileError) as caught:
        read_evidence(tmp_path / "flood.uai.evid", tmp_path / "flood.uai")
    assert words in str(caught.value)
    assert str(tmp_path / "flood.uai.evid") in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected the variables of a query in"),
        ("0", "a number of variables from 1 to"),
        ("2 0", "the number of a variable, got the end of the file"),
        ("1 0 1", "the end of the file, got '1'"),
        (
            "3 0 0 9",
            "expected rain once, got '0' at line 1, column 5; expected the number of a variable"
            " from 0 to 2, got '9' at line 1, column 7",
        ),
    ],
)
def test_faults_of_queries_are_reported(tmp_path: Path, text: str, words: str) -> None:
    write_model(NETWORK, tmp_path / "flood.uai")
    (tmp_path / "flood.uai.query").write_text(text)
    with pytest.raises(ModelFileError) as caught:
        read_query(tmp_path / "flood.uai.query", tmp_path / "flood.uai")
    assert words in str(caught.value)
    assert str(tmp_path / "flood.uai.query") in str(caught.value)


def test_evidence_belongs_to_a_uai_file(tmp_path: Path) -> None:
    (tmp_path / "x.evid").write_text("0")
    with pytest.raises(ModelFileError, match=r"ending in \.uai for the model of a comp.*'x\.bif'"):
        read_evidence(tmp_path / "x.evid", tmp_path / "x.bif")


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_written_files_read_back(tmp_path: Path, packed: str) -> None:
    model = tmp_path / "flood.uai"
    write_model(NETWORK, model)
    write_packed(evidence_to_uai(FOUND, VARIABLES), tmp_path / f"e{packed}")
    assert read_evidence(tmp_path / f"e{packed}", model) == FOUND
    text = query_to_uai(["flood", "rain"], read_model(model).variables)
    write_packed(text, tmp_path / f"q{packed}")
    assert read_query(tmp_path / f"q{packed}", model) == ("flood", "rain")


def test_only_known_names_are_written() -> None:
    assert evidence_to_uai({"flood": "some"}, VARIABLES) == "1 2 1\n"
    assert query_to_uai(["flood", "rain"], VARIABLES) == "2 2 0\n"
    with pytest.raises(UnknownNameError, match="'snow'"):
        evidence_to_uai({"snow": "yes"}, VARIABLES)
    with pytest.raises(UnknownNameError, match="state of rain"):
        evidence_to_uai({"rain": "maybe"}, VARIABLES)
    with pytest.raises(UnknownNameError, match="'snow'"):
        query_to_uai(["snow"], VARIABLES)
    for names in ([], ["rain", "rain"]):
        with pytest.raises(InvalidArgumentError, match="different variables"):
            query_to_uai(names, VARIABLES)


@settings(max_examples=examples(30))
@given(st.data())
def test_every_sample_reads_back(data: st.DataObject) -> None:
    """Written on a line each after their number, as in 2010; one sample also without it."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    variables = [Variable.of_integers(f"x{i}", range(n)) for i, n in enumerate(sizes)]
    every = [st.none() | st.sampled_from(v.states) for v in variables]
    rows = data.draw(st.lists(st.tuples(*every), min_size=1, max_size=4))
    samples = tuple(
        {v.name: s for v, s in zip(variables, row, strict=True) if s is not None} for row in rows
    )
    lines = [evidence_to_uai(sample, variables) for sample in samples]
    assert samples_in(f"{len(lines)}\n{''.join(lines)}", variables) == samples
    assert samples_in(lines[0], variables) == samples[:1]
