"""``bnmind judge``: fit, pairs, proposals for the Q-matrix, models of items, groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bnmind.adaptive import Dino, ItemBank, Responses
from tests.command_line import assert_one_line_error, run, run_json

Q = np.array([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1], [1, 0]])


@pytest.fixture(autouse=True)
def _in_a_directory_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bank = ItemBank.from_qmatrix(Q, 0.15, 0.1)
    codes = Responses.drawn(bank, 800, seed=1).codes.tolist()
    names = ",".join(bank.item_names)
    rows = [",".join(map(str, row)) for row in codes]
    Path("r.csv").write_text("\n".join([names, *rows]) + "\n")
    schools = [f"{'north' if k < 400 else 'south'},{row}" for k, row in enumerate(rows)]
    Path("g.csv").write_text("\n".join([f"school,{names}", *schools]) + "\n")
    Path("q.csv").write_text(_text(Q, bank.item_names))
    wrong = Q.copy()
    wrong[2] = [1, 0]
    Path("wrong.csv").write_text(_text(wrong, bank.item_names))


def _text(q: np.ndarray, names: tuple[str, ...]) -> str:
    rows = [f"{name},{a},{b}" for name, (a, b) in zip(names, q.tolist(), strict=True)]
    return "\n".join(["item,x,y", *rows]) + "\n"


def test_a_model_is_judged() -> None:
    said = run("judge", "r.csv", "--qmatrix", "q.csv").stdout
    assert "M2 " in said
    assert "RMSEA2" in said
    assert "worst pairs" in said
    assert "Q-matrix" not in said
    said = run("judge", "r.csv", "--qmatrix", "q.csv", "--gate", "g-dina").stdout
    assert "no change of the Q-matrix" in said
    more = ("--gate", "gdina", "--cutoff", "predicted")
    said = run("judge", "r.csv", "--qmatrix", "wrong.csv", *more).stdout
    assert "by the Wald test" in said
    assert "by the two-step likelihood ratio test" in said
    assert "(cutoff 0.876)" in said


def test_it_is_said_which_test_of_simpler_models_to_trust() -> None:
    q = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 2 + [[1, 1, 0], [0, 1, 1], [1, 0, 1]] * 2)
    bank = ItemBank.from_qmatrix(q, 0.2, 0.2, Dino)
    codes = Responses.drawn(bank, 500, seed=101).codes.tolist()
    Path("d.csv").write_text(
        "\n".join([",".join(bank.item_names), *(",".join(map(str, row)) for row in codes)]) + "\n"
    )
    rows = [",".join([name, *map(str, row)]) for name, row in zip(bank.item_names, q, strict=True)]
    Path("dq.csv").write_text("\n".join(["item,x,y,z", *rows]) + "\n")
    asked = ("judge", "d.csv", "--qmatrix", "dq.csv", "--gate", "gdina")
    said = run(*asked).stdout
    models = {
        (one["item"], one["method"]): one["chosen"] for one in run_json(*asked)["model_tests"]
    }
    differ = [
        item
        for item in bank.item_names[6:]
        if models[item, "Wald"] != models[item, "two-step likelihood ratio"]
    ]
    assert differ
    assert f"choose different models for {', '.join(differ)}. Trust the Wald test" in said
    assert "choose different models" not in run("judge", "r.csv", *asked[2:3], "q.csv").stdout


def test_models_are_compared() -> None:
    asked = ("judge", "r.csv", "--qmatrix", "q.csv", "--gate", "G-DINA", "--gate", "dina")
    said = run(*asked).stdout
    assert "p against gdina" in said
    assert "BIC prefer" in said
    found = run_json(*asked)
    assert {one["name"] for one in found["models"]} == {"gdina", "dina"}
    assert [one["bic"] for one in found["models"]] == sorted(one["bic"] for one in found["models"])
    [dina] = (one for one in found["models"] if one["name"] == "dina")
    assert dina["bic"] == run_json("judge", "r.csv", "--qmatrix", "q.csv")["bic"]
    assert 0 < dina["p_against_gdina"] < 1
    assert_one_line_error(run(*asked, "--groups"), "one --gate")


def test_a_part_that_cannot_be_computed_takes_nothing_else_away() -> None:
    rows = [line.split(",") for line in Path("r.csv").read_text().split()]
    single = [0, 1, 3, 4, 6]
    Path("s.csv").write_text("\n".join(",".join(row[k] for k in single) for row in rows))
    names = [rows[0][k] for k in single]
    Path("sq.csv").write_text(_text(Q[single], tuple(names)))
    said = run("judge", "s.csv", "--qmatrix", "sq.csv", "--gate", "gdina").stdout
    assert "M2 " in said
    assert "No tests of simpler models" in said
    said = run("judge", "r.csv", "--qmatrix", "q.csv", "--skills", "higher-order").stdout
    assert "RMSEA2" in said


def test_models_of_one_ability_are_judged() -> None:
    found = run_json("judge", "r.csv", "--gate", "2PL")
    assert found["parameters"] == 14
    assert found["fit"]["degrees"] == 28 - 14


def test_all_results_are_in_the_json() -> None:
    found = run_json("judge", "r.csv", "--qmatrix", "wrong.csv", "--gate", "gdina")
    assert found["fit"]["degrees"] > 0
    assert found["qmatrix"] == [{"item": "item_3", "skills": ["x"], "proposed": ["x", "y"]}]
    assert len(found["pairs"]) == 21
    assert list(found["models"]) == ["item_6"]
    methods = ["Wald", "two-step likelihood ratio"]
    assert [one["method"] for one in found["model_tests"]] == methods
    for one in found["model_tests"]:
        assert one["chosen"] == "dina"
        assert [test["degrees"] for test in one["tests"]] == [2, 2, 1, 1, 1]
    assert found["cutoff"] == 0.95
    assert [item["name"] for item in found["items"]] == [f"item_{k}" for k in range(1, 8)]


def test_groups_are_compared() -> None:
    found = run_json(
        *("judge", "g.csv", "--qmatrix", "q.csv", "--group-column", "school", "--groups")
    )
    assert [one["item"] for one in found["groups"]] == [f"item_{k}" for k in range(1, 8)]
    assert all(one["p"] > 0.01 for one in found["groups"])
    assert_one_line_error(run("judge", "r.csv", "--qmatrix", "q.csv", "--groups"), "--group-column")


def test_several_items_that_differ_between_groups_need_other_anchors() -> None:
    lines = Path("g.csv").read_text().split("\n")
    luck = np.random.default_rng(1).random((len(lines), 2))
    for number, line in enumerate(lines[401:801], 401):
        cells = line.split(",")
        for item, wrong in zip((1, 4), luck[number] < 0.5, strict=True):
            cells[item] = "0" if wrong else cells[item]
        lines[number] = ",".join(cells)
    Path("g.csv").write_text("\n".join(lines))
    asked = ("judge", "g.csv", "--qmatrix", "q.csv", "--group-column", "school")
    found = run_json(*asked)
    flagged = sum(one["p"] < 0.05 for one in found["groups"])
    assert flagged >= 2
    assert f"{flagged} items differ, and each was an anchor for the others" in run(*asked).stdout
    assert "was an anchor" not in run(*asked, "--purify").stdout
    assert "was an anchor" not in run(*asked, "--anchors", "item_2,item_3").stdout


@pytest.mark.slow
def test_groups_of_one_ability_are_compared() -> None:
    lines = Path("g.csv").read_text().split("\n")
    chosen = [*lines[:201], *lines[401:601]]
    four = [",".join(line.split(",")[:5]) for line in chosen]
    Path("g.csv").write_text("\n".join(four))
    more = ("--gate", "rasch", "--group-column", "school")
    found = run_json("judge", "g.csv", *more, "--purify")
    assert all(one["degrees"] == 1 for one in found["groups"])
    assert all(one["anchors"] for one in found["groups"])
    assert found["abilities"]["north"]["mean"] == pytest.approx(0.0, abs=1e-9)
    assert abs(found["abilities"]["south"]["mean"]) < 0.3
    said = run("judge", "g.csv", *more, "--anchors", "item_1, item_2").stdout
    assert "at least 1 anchor" in said
    assert "mean ability" in said


def test_missing_responses_are_told() -> None:
    text = Path("r.csv").read_text().split("\n")
    text[1] = "," + text[1].split(",", 1)[1]
    Path("r.csv").write_text("\n".join(text))
    said = run("judge", "r.csv", "--qmatrix", "q.csv").stdout
    assert "1 of 800 examinees have missing responses" in said
    assert "S-X2 is from the 799 of 800 examinees who answered all items." in said
    assert "1 of 800 examinees" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["r.csv"], ["--qmatrix or --bank"]),
        (["r.csv", "--qmatrix", "q.csv", "--cutoff", "2"], ["cutoff"]),
        (["r.csv", "--qmatrix", "q.csv", "--gate", "gdina", "--alpha", "0"], ["alpha"]),
        (["nowhere.csv", "--qmatrix", "q.csv"], ["nowhere.csv"]),
        (["r.csv", "--qmatrix", "q.csv", "--gate", "dona"], ["dina"]),
    ],
)
def test_wrong_input_is_one_line(arguments: list[str], words: list[str]) -> None:
    assert_one_line_error(run("judge", *arguments), *words)
