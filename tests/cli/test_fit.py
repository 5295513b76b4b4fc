"""``bnmind fit``: what it prints and writes, and its errors on one line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bnmind
from bnmind.errors import TableError
from bnmind.fitting import BDeu, FitOptions
from bnmind.fitting.expectation import read_cases_for
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.pgm.files import read_network, write_model
from tests.command_line import assert_one_line_error, run, run_json

RAIN, WET = Variable("rain, heavy", ("no", "yes")), Variable("wet", ("0", "1"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(WET, (RAIN,), np.array([[0.9, 0.1], [0.1, 0.9]])),
    )
)
CASES = pd.DataFrame(
    {"rain, heavy": ["no", "yes", None, "no", "no", None], "wet": ["0", "1", "1", None, "0", None]}
)


@pytest.fixture(autouse=True)
def _in_a_directory_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_model(GARDEN, "garden.bif")
    CASES.to_csv("cases.csv", index=False)


def test_json_and_file_hold_the_fitted_network() -> None:
    said = run_json(
        *("fit", "garden.bif", "cases.csv", "--out", "fitted.json", "--prior", "bdeu:4"),
        *("--starts", "2", "--seed", "3"),
    )
    options = FitOptions(starts=2, seed=3)
    fitted = bnmind.fit(read_network("garden.bif"), CASES, prior=BDeu(4), options=options)
    assert said["log_likelihood"] == pytest.approx(fitted.log_likelihood, abs=1e-12)
    assert (said["cases"], said["missing"], said["parameters"]) == (6, 4, 3)
    assert said["starts"] == pytest.approx(fitted.record.starts)
    written = read_network("fitted.json")
    for cpd in fitted.network.cpds:
        found = written.cpd(cpd.variable.name).to_factor()
        assert found.isclose(cpd.to_factor(), atol=1e-12)


@pytest.mark.parametrize("name", ["cases.csv.gz", "cases.parquet", "cases.xlsx"])
def test_cases_come_from_other_files_too(name: str) -> None:
    if name.endswith("gz"):
        Path(name).write_bytes(gzip.compress(Path("cases.csv").read_bytes()))
    else:
        cases = CASES.assign(wet=pd.array([0, 1, 1, None, 0, None], dtype="Int64"))
        if name.endswith("xlsx"):  # a last row without anything would be no row
            cases.to_excel(name, index=False, na_rep="?")
        else:
            cases.to_parquet(name)
    first = run_json("fit", "garden.bif", "cases.csv")
    assert run_json("fit", "garden.bif", name) == first


def test_fixed_tied_and_hidden_variables_are_named() -> None:
    said = run("fit", "garden.bif", "cases.csv", "--fixed", '"rain, heavy"', "--out", "a.bif")
    assert "6 cases, 2 variables; 4 cells missing." in said.stdout
    assert "2 parameters" in said.stdout
    assert "Written to a.bif." in said.stdout
    assert "Converged after" in said.stdout
    kept = read_network("a.bif").cpd("rain, heavy").to_factor().values
    assert kept.tolist() == [0.8, 0.2]
    CASES[["wet"]].to_csv("less.csv", index=False)
    said = run("fit", "garden.bif", "less.csv", "--hidden", '"rain, heavy"')
    assert "rain, heavy is never observed" in said.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none.bif", "cases.csv"), ["none.bif"]),
        (("garden.bif", "none.csv"), ["none.csv"]),
        (("garden.bif", "garden.bif"), ["garden.bif"]),
        (("garden.bif", "bad.csv"), ["row 2, column wet", "'7'"]),
        (("garden.bif", "less.csv"), ["column rain, heavy", "hidden"]),
        (("garden.bif", "empty.csv"), ["empty.csv"]),
        (("garden.bif", "no.parquet"), ["no.parquet"]),
        (("garden.bif", "wide.csv"), ["wide.csv", "more cells than its first line"]),
        (("garden.bif", "twice.csv"), ["two columns", "'wet'"]),
        (("garden.bif", "cases.xls"), ["cases.xls", ".parquet"]),
        (("garden.bif", "cases.csv", "--prior", "bdeux"), ["did you mean bdeu"]),
        (("garden.bif", "cases.csv", "--prior", "bdeu:-1"), ["above 0, got -1"]),
        (("garden.bif", "cases.csv", "--fixed", "wett"), ["did you mean wet"]),
        (("garden.bif", "cases.csv", "--tied", '"rain, heavy",wet'), ["one shape"]),
        (("garden.bif", "cases.csv", "--tolerance", "-1"), ["tolerance"]),
        (("garden.bif", "cases.csv", "--out", "a.txt"), ["a.txt"]),
    ],
)
def test_errors_are_one_line(arguments: tuple[str, ...], words: list[str]) -> None:
    Path("bad.csv").write_text('"rain, heavy",wet\nno,7\n')
    Path("less.csv").write_text("wet\n0\n")
    Path("empty.csv").write_text("")
    Path("no.parquet").write_text("no")
    Path("wide.csv").write_text('"rain, heavy",wet\n1,no,0\n2,yes,1\n')
    Path("twice.csv").write_text('"rain, heavy",wet,wet\nno,0,1\n')
    Path("cases.xls").write_text('"rain, heavy",wet\nno,0\n')
    assert_one_line_error(run("fit", *arguments), *words)


def test_lines_without_values_are_cases_without_findings() -> None:
    Path("sparse.csv").write_text('"rain, heavy",wet\nno,0\n,\nyes,1\n')
    assert run_json("fit", "garden.bif", "sparse.csv")["cases"] == 3


def test_cases_that_are_read_in_parts_are_numbered_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bnmind.junction.case_files._ROWS", 2)
    for name in ("cases.csv", "cases.parquet"):
        CASES.to_csv(name, index=False) if name.endswith("csv") else CASES.to_parquet(name)
        assert read_cases_for(GARDEN, name).n_cases == 6
        wrong = CASES.assign(wet=pd.Series(["0", "1", "1", None, "7", None], dtype=object))
        wrong.to_csv(name, index=False) if name.endswith("csv") else wrong.to_parquet(name)
        row = 6 if name.endswith("csv") else 5
        with pytest.raises(TableError, match=f"row {row}, column wet"):
            read_cases_for(GARDEN, name)


def test_a_file_with_nothing_but_a_header_has_no_cases() -> None:
    Path("none.csv").write_text('"rain, heavy",wet\n')
    assert_one_line_error(run("fit", "garden.bif", "none.csv"), "at least one case")


def test_complete_cases_are_counted_in_one_step() -> None:
    CASES.dropna().to_csv("complete.csv", index=False)
    said = run("fit", "garden.bif", "complete.csv")
    assert "Counted" in said.stdout
    assert "step" not in said.stdout
