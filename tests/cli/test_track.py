"""The command that tracks a network over time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bnmind.dynamic import compile_dynamic, read_dynamic, write_dynamic
from tests.command_line import assert_one_line_error, run, run_json
from tests.dynamic.test_inference import WEATHER
from tests.fuzz.reader import SEEDS

DAYS = "town,umbrella\nEly,yes\nEly,yes\nWick,no\nEly,\nWick,no\n"
FRAME = pd.DataFrame(
    {
        "town": ["Ely", "Ely", "Wick", "Ely", "Wick"],
        "umbrella": ["yes", "yes", "no", None, "no"],
    }
)


@pytest.fixture(autouse=True)
def _in_a_directory_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_dynamic(WEATHER, "weather.json")
    Path("days.csv").write_text(DAYS)


@pytest.mark.parametrize("answer", ["filter", "smooth"])
def test_probabilities_are_those_of_the_library(answer: str) -> None:
    arguments = ("weather.json", "days.csv", "--sequence", "town", "--out", "out.csv")
    report = run_json("track", *arguments, "--answer", answer)
    plan = compile_dynamic(WEATHER)
    expected = getattr(plan, answer)(FRAME, sequence="town")
    found = pd.read_csv("out.csv")
    assert list(found.columns) == ["town", "rain=no", "rain=yes"]
    np.testing.assert_allclose(found[["rain=no", "rain=yes"]], expected.marginals["rain"])
    assert report["log_likelihood"] == pytest.approx(expected.log_likelihood)
    assert (report["rows"], report["sequences"]) == (5, 2)


def test_paths_are_printed_without_a_file() -> None:
    result = run("track", "weather.json", "days.csv", "--answer", "path")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "town,rain"
    assert [line.split(",")[1] for line in result.stdout.splitlines()[1:]] == [
        *("yes", "yes", "no", "no", "no")
    ]


def test_a_workbook_is_read() -> None:
    pd.read_csv("days.csv").to_excel("days.xlsx", index=False)
    first, second = (run("track", "weather.json", f"days.{end}") for end in ("csv", "xlsx"))
    assert second.exit_code == 0, second.output
    assert second.output == first.output


def test_the_number_of_rows_and_sequences_is_told() -> None:
    arguments = ("--sequence", "town", "--answer", "path", "--out", "out.csv")
    result = run("track", "weather.json", "days.csv", *arguments, "--targets", "rain,umbrella")
    assert result.stdout.endswith("Written: out.csv, 5 rows of 2 sequences\n")
    assert pd.read_csv("out.csv").columns.tolist() == ["town", "rain", "umbrella"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("days.csv", "--targets", "rian"), ("did you mean rain",)),
        (("days.csv", "--answer", "filtered"), ("filter",)),
        (("days.csv", "--sequence", "twon"), ("did you mean town",)),
        (("days.csv", "--json"), ("--out",)),
        (("days.csv", "--out", "answers.xlsx"), ("answers named .csv",)),
        (("all.csv",), ("--targets",)),
        (("answers.csv",), ("the column rain=yes of the cases has the name of an answer",)),
        (("soaked.csv",), ("row 3, column umbrella", "soaked")),
        (("missing.csv",), ("missing.csv",)),
    ],
)
def test_faults_take_one_line(arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    Path("all.csv").write_text("rain,umbrella\nyes,yes\n")
    Path("answers.csv").write_text("rain=yes,umbrella\n1,yes\n2,no\n")
    Path("soaked.csv").write_text("umbrella\nno\nsoaked\n")
    assert_one_line_error(run("track", "weather.json", *arguments), *words)


def test_columns_that_are_ignored_are_told() -> None:
    Path("typo.csv").write_text("town,umbrela,rain,id\nEly,yes,,1\nEly,no,,2\n")
    arguments = ("track", "weather.json", "typo.csv", "--sequence", "town", "--targets", "rain")
    printed = run(*arguments)
    notes = [
        "2 columns are not in the model: umbrela, id",
        "the column umbrela is not a variable; did you mean umbrella?",
    ]
    assert printed.stderr.splitlines() == [f"note: {note}" for note in notes]
    assert printed.stdout.startswith("town,umbrela,id,rain=no,rain=yes\n")
    written = run(*arguments, "--out", "out.csv")
    assert written.stdout.splitlines()[:2] == notes
    report = run_json(*arguments, "--out", "out.csv")
    assert report["unused"] == ["umbrela", "id"]
    assert report["similar"] == {"umbrela": ["umbrella"]}


def test_an_own_column_of_a_target_is_evidence() -> None:
    Path("own.csv").write_text("rain\nyes\n")
    result = run("track", "weather.json", "own.csv", "--targets", "rain")
    assert result.stdout == "rain=no,rain=yes\n0.0,1.0\n"


def test_an_impossible_row_is_numbered_as_in_a_spreadsheet() -> None:
    text = Path("weather.json").read_text().replace("[0.8, 0.1, 0.2, 0.9]", "[1.0, 1.0, 0.0, 0.0]")
    Path("weather.json").write_text(text)
    result = run("track", "weather.json", "days.csv", "--sequence", "town")
    assert_one_line_error(result, "row 2, slice 0 of sequence Ely")


def test_networks_of_other_kinds_are_refused() -> None:
    Path("weather.json").write_text('{"schema": "bnmind-model", "version": 2}')
    result = run("track", "weather.json", "days.csv")
    assert_one_line_error(result, "bnmind-dynamic", "weather.json")


def test_networks_of_genie_are_tracked() -> None:
    model = SEEDS / "dynamic" / "umbrella.xdsl"
    Path("days.csv").write_text("Umbrella\ntrue\n\nfalse\n")
    result = run("track", str(model), "days.csv", "--targets", "Rain")
    assert result.exit_code == 0, result.output
    first, *rows = result.stdout.splitlines()
    assert first == "Rain=true,Rain=false"
    plan = compile_dynamic(read_dynamic(model), targets=["Rain"])
    expected = plan.filter({"Umbrella": ["true", None, "false"]}).marginals["Rain"]
    found = [[float(number) for number in row.split(",")] for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    error = run("query", str(model))
    assert_one_line_error(error, "got one over time: bnmind track and bnmind.dynamic.read_dynamic")
    Path("plain.xdsl").write_text(model.read_text().replace(' dynamic="plate"', ""))
    assert_one_line_error(run("track", "plain.xdsl", "days.csv"), "without a temporal plate")
    off = model.read_text().replace("0.001 0.999", "0.001 0.998")
    Path("rounded.xdsl").write_text(off)
    arguments = ("track", "rounded.xdsl", "days.csv")
    assert_one_line_error(run(*arguments), "(--normalize corrects rounding)")
    assert "note: normalized Rain" in run(*arguments, "--normalize").stderr
