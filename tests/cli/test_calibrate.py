"""``bnmind calibrate``: new items from finished tests, and drift."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from bnmind.adaptive import ItemBank, Responses, read_bank, write_bank
from tests.command_line import assert_one_line_error, run, run_json

Q = [[1, 0], [0, 1], [1, 1]] * 4
TRUTH = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)


@pytest.fixture
def here(tmp_path: pathlib.Path) -> pathlib.Path:
    guessed = ItemBank.from_qmatrix(Q, guess=[0.2] * 11 + [0.4], slip=0.1)
    write_bank(guessed, tmp_path / "bank.json")
    codes = np.array(Responses.drawn(TRUTH, 600, seed=1).codes)
    codes[300:, 0] = 1
    rows = "\n".join(",".join(map(str, row)) for row in codes.tolist())
    (tmp_path / "r.csv").write_text(",".join(TRUTH.item_names) + "\n" + rows + "\n")
    return tmp_path


def test_calibrate_and_drift(here: pathlib.Path) -> None:
    bank, answers, out = (str(here / name) for name in ("bank.json", "r.csv", "new.json"))
    said = run("calibrate", bank, answers, "--new", "item_12", "--out", out)
    assert "item_12" in said.stdout
    assert "yes" in said.stdout
    assert "easier" in said.stdout
    gate = read_bank(out).item("item_12").gate
    assert abs(gate.guess - 0.2) < 0.08  # type: ignore[union-attr]
    told = run_json("calibrate", bank, answers)
    assert told["items"] == []
    assert told["tests"] == 600
    worst = max(told["drift"], key=lambda row: row["z"])
    assert worst["item"] == "item_1"
    assert 300 <= int(worst["easier"]["noticed"]) < 420


def test_what_is_wrong_is_said(here: pathlib.Path) -> None:
    bank, answers = str(here / "bank.json"), str(here / "r.csv")
    for arguments, what in (
        ((bank, answers, "--new", "item_13"), "did you mean"),
        ((bank, answers, "--out", str(here / "x.json")), "--new"),
        ((bank, answers, answers), "one file of responses"),
        ((bank, bank), "session"),
        ((bank, answers, "--false-alarm", "2"), "false_alarm to be a number between 0 and 1"),
        ((bank, bank, "--missing", "-9"), "--missing is for a file of responses"),
    ):
        assert_one_line_error(run("calibrate", *arguments), what)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("item_1,strange\n0,1\n1,0\n", "strange"),
        ("item_1,item_2\n0,1\n1,3\n", "item_2"),
    ],
    ids=["item", "response"],
)
def test_a_file_that_does_not_fit_the_bank_is_named(
    here: pathlib.Path, content: str, what: str
) -> None:
    (here / "odd.csv").write_text(content)
    said = run("calibrate", str(here / "bank.json"), str(here / "odd.csv"))
    assert_one_line_error(said, what)
    assert "odd.csv" in said.stderr


def test_the_file_is_read_with_the_options_of_learn(here: pathlib.Path) -> None:
    file = here / "r.csv"
    lines = file.read_text().split("\n")
    lines[0] = "pupil number," + lines[0]
    lines[1:-1] = [f"{n},{line}" for n, line in enumerate(lines[1:-1])]
    lines[3] = "2,-9" + lines[3][len("2,0") :]
    file.write_text("\n".join(lines))
    options = ("--missing", "-9", "--id-column", "pupil number")
    command = ("calibrate", str(here / "bank.json"), str(file), "--new", "item_1")
    assert_one_line_error(run(*command), "--missing -9")
    assert run_json(*command, *options)["items"][0]["answers"] == 599
