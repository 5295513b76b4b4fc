"""The command for all cases of a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bnmind.junction import predict_proba
from bnmind.pgm.files import write_model
from tests.command_line import assert_one_line_error, run, run_json
from tests.junction.cases.test_predict import GARDEN

CASES = "id,wet,rain,Wet\na,no,,1\nb,yes,yes,2\nc,,no,3\nd,no,yes,4\n"


@pytest.fixture(autouse=True)
def _in_a_directory_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_model(GARDEN, "garden.bif")
    Path("cases.csv").write_text(CASES)


def test_answers_are_written_with_the_columns_that_are_no_variables() -> None:
    result = run("predict", "garden.bif", "cases.csv", "--targets", "rain", "--out", "answers.csv")
    assert result.exit_code == 0, result.output
    assert Path("answers.csv").read_text() == "id,Wet,rain\na,1,no\nb,2,yes\nc,3,no\nd,4,no\n"
    assert "2 columns are not in the model: id, Wet\n" in result.stdout
    assert result.stdout.endswith("Written: answers.csv, 4 rows of 3 columns\n")


def test_answers_are_printed_without_a_file() -> None:
    result = run("predict", "garden.bif", "cases.csv", "--answer", "impute")
    assert result.stdout == ("id,wet,rain,Wet\na,no,no,1\nb,yes,yes,2\nc,no,no,3\nd,no,yes,4\n")
    assert "note: 1 row of 4 has probability zero and no answer: 5\n" in result.stderr


def test_a_column_with_a_similar_name_is_pointed_out() -> None:
    Path("cases.csv").write_text("Rain,wet\nno,no\n")
    result = run("predict", "garden.bif", "cases.csv", "--out", "answers.csv")
    assert "the column Rain is not a variable; did you mean rain?" in result.stdout


def test_the_other_answers() -> None:
    arguments = ("predict", "garden.bif", "cases.csv", "--out", "out.csv", "--answer")
    report = run_json(*arguments, "probabilities", "--targets", "rain")
    assert report["columns"] == ["id", "Wet", "rain=no", "rain=yes"]
    found = pd.read_csv("out.csv")
    expected = predict_proba(GARDEN, pd.DataFrame({"wet": ["no", "yes", None, "no"]})).frame
    np.testing.assert_allclose(found[["rain=no", "rain=yes"]], expected, atol=1e-12)
    report = run_json(*arguments, "log-likelihood")
    assert report["impossible"] == {"count": 1, "first": [5]}
    assert pd.read_csv("out.csv")["log_likelihood"].isna().tolist() == [False] * 3 + [True]
    assert run_json(*arguments, "complete")["rows"] == 4
    report = run_json(*arguments, "sample", "--draws", "2", "--seed", "1")
    assert report["rows"] == 4
    first = pd.read_csv("out.csv")
    assert len(first) == 8
    run_json(*arguments, "sample", "--draws", "2", "--seed", "1")
    assert pd.read_csv("out.csv").equals(first)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--targets", "rian"), ("did you mean rain",)),
        (("--answer", "state"), ("states",)),
        (("--answer", "impute", "--targets", "rain"), ("--targets", "states or probabilities")),
        (("--draws", "2"), ("--draws", "sample")),
        (("--json",), ("--out",)),
        (("--out", "answers.xlsx"), ("answers named .csv",)),
        ((), ("name the targets",)),
    ],
)
def test_faults_take_one_line(arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    assert_one_line_error(run("predict", "garden.bif", "cases.csv", *arguments), *words)
    assert not Path("answers.csv").exists()


def test_unknown_states_are_named_with_row_and_column() -> None:
    Path("cases.csv").write_text("wet\nno\nsoaked\n")
    result = run("predict", "garden.bif", "cases.csv", "--out", "answers.csv")
    assert_one_line_error(result, "row 3, column wet", "soaked")
    assert not Path("answers.csv").exists()
