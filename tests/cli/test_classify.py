"""``bnmind classify``: what it prints and writes, and its errors on one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bnmind.adaptive import (
    ItemBank,
    Logistic,
    Responses,
    classify,
    irt_bank,
    read_bank,
    write_bank,
)
from tests.command_line import assert_one_line_error, run, run_json

FILES = ("classify", "bank.json", "r.csv")


@pytest.fixture(autouse=True)
def _in_a_directory_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    needs = [[1, 0], [0, 1], [1, 1]] * 3
    bank = ItemBank.from_qmatrix(
        needs, 0.2, 0.1, items=list("abcdefghi"), skill_names=["add", "carry"]
    )
    write_bank(bank, "bank.json")
    people = Responses.drawn(bank, 60, seed=1)
    frame = pd.DataFrame(people.codes, columns=list(bank.item_names))
    frame.insert(0, "id", [f"x{n}" for n in range(60)])
    frame.to_csv("r.csv", index=False)
    truth = pd.DataFrame(people.levels, columns=list(bank.skills), index=frame["id"])
    truth.iloc[::-1].to_csv("truth.csv")


def test_the_file_the_output_and_python_agree() -> None:
    said = run_json(*FILES, "--out", "people.csv", "--profiles", "truth.csv")
    bank = read_bank("bank.json")
    found = classify(bank, Responses.from_csv("r.csv"))
    frame = pd.read_csv("people.csv")
    assert frame["examinee"].tolist() == [f"x{n}" for n in range(60)]
    np.testing.assert_allclose(frame["eap_add"], found.expected[:, 0])
    np.testing.assert_array_equal(frame[["map_add", "map_carry"]], found.profiles)
    assert said["accuracy"] == found.reliability.accuracy
    assert said["consistency"] == found.reliability.consistency
    assert [row["name"] for row in said["skills"]] == ["add", "carry"]
    truth = pd.read_csv("truth.csv", index_col="id").loc[frame["examinee"]].to_numpy()
    assert said["agreement"]["pattern_accuracy"] == found.agreement_with(truth).pattern_accuracy
    assert said["agreement"]["n_examinees"] == 60
    shown = run(*FILES, "--out", "people.csv", "--profiles", "truth.csv").stdout
    assert "60 examinees, 9 items, 2 skills; 0 responses missing." in shown
    assert "whole profile" in shown
    assert "60 examinees with a known profile" in shown
    assert shown.splitlines()[-1] == "Written to people.csv."
    assert run(*FILES).exit_code == 0


def test_groups_have_their_means() -> None:
    frame = pd.read_csv("r.csv")
    frame.insert(1, "class", ["6b", "6a", "6a"] * 20)
    frame.to_csv("r.csv", index=False)
    assert run_json(*FILES, "--ignore", "class")["groups"] == []
    said = run_json(*FILES, "--group-column", "class", "--out", "people.csv")["groups"]
    assert [(group["name"], group["examinees"]) for group in said] == [("6a", 40), ("6b", 20)]
    written = pd.read_csv("people.csv").groupby("group")["eap_carry"].mean()
    assert [group["means"]["carry"] for group in said] == pytest.approx(written.tolist())
    shown = run(*FILES, "--group-column", "class").stdout
    assert f"6a             40   {said[0]['means']['add']:.3f}" in shown


def test_profiles_in_another_order_are_noticed() -> None:
    text = Path("truth.csv").read_text().replace("x", "y")
    Path("truth.csv").write_text(text)
    result = run(*FILES, "--profiles", "truth.csv")
    assert result.exit_code == 0
    assert "matched with them by position" in result.stderr
    assert "may be in different orders" in result.stderr


def test_a_bank_of_an_ability_has_a_reliability() -> None:
    bank = irt_bank([Logistic(1.0, b) for b in (-1, 0, 1)])
    write_bank(bank, "ability.json")
    codes = Responses.drawn(bank, 30, seed=1).codes
    pd.DataFrame(codes, columns=list(bank.item_names)).to_csv("r.csv", index=False)
    shown = run("classify", "ability.json", "r.csv").stdout
    assert "mean standard error" in shown
    assert "reliability 0." in shown


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("classify", "none.json", "r.csv"), ["none.json"]),
        (("classify", "bank.json", "none.csv"), ["none.csv"]),
        ((*FILES, "--out", "people.txt"), [".csv", "people.txt"]),
        ((*FILES, "--out", "no/people.csv"), ["directory"]),
        ((*FILES, "--profiles", "r.csv"), ["--profiles r.csv: there is no column for the skill"]),
    ],
)
def test_errors_are_one_line(arguments: tuple[str, ...], parts: list[str]) -> None:
    assert_one_line_error(run(*arguments), *parts)
    assert not Path("people.csv").exists()
