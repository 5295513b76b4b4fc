"""``bnmind evaluate``: exact results, intervals of a tree that is cut, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from bnmind.adaptive import (
    Design,
    ItemBank,
    Logistic,
    MaximalItems,
    evaluate_design,
    irt_bank,
    write_bank,
)
from tests.command_line import assert_one_line_error, run, run_json

BANK = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]], guess=0.2, slip=0.1)


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_bank(BANK, "bank.json")


def test_it_prints_the_results_of_the_library() -> None:
    result = evaluate_design(Design(BANK, stopper=MaximalItems(3)))
    shown = run("evaluate", "bank.json", "--stop", "items:3").stdout
    assert shown.startswith(f"Exact, from {result.n_beliefs} beliefs")
    assert f"{result.pattern_accuracy.low:.4f}" in shown
    assert "Ends because 3 items were asked: 100.0 %" in shown
    rows = shown.splitlines()
    first = next(place for place, row in enumerate(rows) if row.startswith("  skills classified"))
    assert [row.split()[0] for row in rows[first + 1 : first + 3]] == list(BANK.skills)
    found = run_json("evaluate", "bank.json", "--stop", "items:3")
    assert found["exact"] is True
    assert found["entropy"] == list(result.entropy)
    assert found["by_items_asked"]["entropy"]["low"][3] == pytest.approx(result.entropy.low)


def test_a_note_names_new_items_that_are_left_out() -> None:
    Path("d.toml").write_text(
        "stop = 'items:3'\n[pilot]\nitems = ['item_4', 'item_5']\nnumber = 1\n", encoding="utf-8"
    )
    note = "note: the new items item_4, item_5 are left out"
    heard = run("evaluate", "bank.json", "--design", "d.toml")
    assert note in heard.stderr
    assert "Never asked: 2 items." in heard.stdout
    assert note in run("tree", "bank.json", "--design", "d.toml").stderr


def test_a_tree_that_is_cut_gives_intervals() -> None:
    shown = run("evaluate", "bank.json", "--max-beliefs", "9").stdout
    assert "Cut after" in shown
    assert "least" in shown
    found = run_json("evaluate", "bank.json", "--min-probability", "0.1")
    assert found["cut"] > 0
    assert found["entropy"][0] < found["entropy"][1]


def test_an_ability_has_no_profiles_or_skills_to_classify() -> None:
    write_bank(irt_bank([Logistic(), Logistic(difficulty=1.0)]), "ability.json")
    shown = run("evaluate", "ability.json", "--stop", "items:1").stdout
    assert "items asked" in shown
    assert "bnmind simulate" in shown
    assert not any(word in shown for word in ("profile", "skill", "bits"))


def test_errors_are_one_line() -> None:
    random = run("evaluate", "bank.json", "--selector", "random", "--stop", "items:2")
    assert_one_line_error(random, "that draws no random numbers, got random; simulate")
    assert_one_line_error(run("evaluate", "none.json"), "none.json")
    assert_one_line_error(
        run("evaluate", "bank.json", "--min-probability", "2"), "--min-probability"
    )
