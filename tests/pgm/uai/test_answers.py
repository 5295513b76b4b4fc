"""Answer files of the competitions: their layouts, and the places of faults."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError, ModelFileError, UnknownNameError
from bnmind.pgm.competition import (
    explanation_to_uai,
    log_evidence_to_uai,
    marginal_map_to_uai,
    marginals_to_uai,
    read_explanation,
    read_log_evidence,
    read_marginals,
    write_packed,
)
from bnmind.pgm.files import write_model
from tests.pgm.uai.test_models import NETWORK

MARGINALS = {"rain": [0.8, 0.2], "wind": [0.6, 0.4], "flood": [0.1, 0.3, 0.6]}
STATES = {"rain": "no", "wind": "high", "flood": "much"}
VARIABLES = NETWORK.variables


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "flood.uai"
    write_model(NETWORK, path)
    return path


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_written_answers_read_back(model: Path, tmp_path: Path, packed: str) -> None:
    path = tmp_path / f"answer{packed}"
    for log_evidence in (-1234.5, -math.inf, 0.0):
        write_packed(log_evidence_to_uai(log_evidence), path)
        assert read_log_evidence(path) == pytest.approx(log_evidence)
    write_packed(marginals_to_uai(MARGINALS, VARIABLES), path)
    found = read_marginals(path, model)
    assert {name: values.tolist() for name, values in found.items()} == MARGINALS
    write_packed(explanation_to_uai(STATES, VARIABLES), path)
    assert read_explanation(path, model) == STATES
    some = {"flood": "none", "rain": "yes"}
    write_packed(marginal_map_to_uai(some, VARIABLES), path)
    assert list(read_explanation(path, model).items()) == list(some.items())


def test_the_form_is_that_of_the_competitions() -> None:
    assert log_evidence_to_uai(-2 * math.log(10)) == "PR\n-2.0\n"
    marginals = "MAR\n3 2 0.8 0.2 2 0.6 0.4 3 0.1 0.3 0.6\n"
    assert marginals_to_uai(MARGINALS, VARIABLES) == marginals
    assert explanation_to_uai(STATES, VARIABLES) == "MPE\n3 0 1 2\n"
    some = marginal_map_to_uai({"flood": "none", "rain": "yes"}, VARIABLES)
    assert some == "MMAP\n2 2 0 0 1\n"


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("MPE\n3 0 1 2", STATES),
        ("MAP 3 0 1 2", STATES),
        ("MPE\n3 1 1 1\n-BEGIN-\n3 0 1 2\n", STATES),
        ("MPE\n-BEGIN-\n3 0 1 2\n", STATES),
        ("MMAP\n1 2 2\n", {"flood": "much"}),
        ("MMAP\n0\n", {}),
    ],
)
def test_the_last_explanation_counts(
    model: Path, tmp_path: Path, text: str, states: dict[str, str]
) -> None:
    (tmp_path / "answer").write_text(text)
    assert read_explanation(tmp_path / "answer", model) == states


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("MAR\n2 2 1 0 2 1 0", "the number of variables, 3, got '2' at line 2, column 1"),
        ("MAR\n3 3 1 0 0", "the number of states of rain, 2, got '3' at line 2, column 3"),
        ("MAR\n3 2 1", "2 probabilities of rain, got the end of the file"),
        ("MAR\n3 2 1 nan", "a number, got 'nan' at line 2, column 7"),
        ("MAR\n3 2 1 0 2 1 0 3 0 0 1 7", "the end of the file, got '7'"),
        (
            "MAR\n3 2 1.5 -0.5 2 1 0 3 0 0 1",
            "expected a probability of rain, got '1.5' at line 2, column 5; expected a probability"
            " of rain, got '-0.5' at line 2, column 9",
        ),
        ("PR\n-2", "MAR, got 'PR' at line 1, column 1"),
        ("", "expected an answer to MAR in"),
    ],
)
def test_faults_of_marginals_are_reported(
    model: Path, tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "answer").write_text(text)
    with pytest.raises(ModelFileError) as caught:
        read_marginals(tmp_path / "answer", model)
    assert words in str(caught.value)
    assert str(tmp_path / "answer") in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("MPE\n3 0 1", "the number of a state, got the end of the file"),
        ("MPE\n2 0 1", "the number of variables, 3, got '2'"),
        ("MPE\n3 0 2 3", "a state of wind from 0 to 1, got '2' at line 2, column 5; expected a st"),
        ("MMAP\n2 1 0 1 0", "wind once, got '1' at line 2, column 7"),
        ("MMAP\n1 5 0", "the number of a variable from 0 to 2, got '5' at line 2, column 3"),
        ("MAR\n3", "MPE or MAP or MMAP, got 'MAR'"),
    ],
)
def test_faults_of_explanations_are_reported(
    model: Path, tmp_path: Path, text: str, words: str
) -> None:
    (tmp_path / "answer").write_text(text)
    with pytest.raises(ModelFileError) as caught:
        read_explanation(tmp_path / "answer", model)
    assert words in str(caught.value)


@pytest.mark.parametrize("text", ["PR\n", "PR\nx", "PR\n-1 -2", "MAR\n-1", "PR\ninf"])
def test_faults_of_logarithms_are_reported(tmp_path: Path, text: str) -> None:
    (tmp_path / "answer").write_text(text)
    with pytest.raises(ModelFileError, match=r"line \d, column \d"):
        read_log_evidence(tmp_path / "answer")


def test_only_answers_of_the_model_are_written() -> None:
    with pytest.raises(InvalidArgumentError, match="log_evidence must be"):
        log_evidence_to_uai(math.nan)
    with pytest.raises(InvalidArgumentError, match="wind has 0 of 2; flood has 2 of 3"):
        marginals_to_uai({"rain": [1, 0], "flood": np.array([0.5, 0.5])}, VARIABLES)
    with pytest.raises(InvalidArgumentError, match="wind"):
        explanation_to_uai({"rain": "no", "flood": "none"}, VARIABLES)
    with pytest.raises(UnknownNameError, match="'snow'"):
        marginal_map_to_uai({"snow": "no"}, VARIABLES)
