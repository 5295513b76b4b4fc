"""``bnmind simulate``: what it prints and writes, and what is left when it fails: nothing."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest

from bnmind.adaptive import (
    Bounds,
    ItemBank,
    LearningOptions,
    MaximalItems,
    MinimalEntropy,
    RandomItem,
    Responses,
    Selector,
    learn,
    replay,
    simulate,
    write_bank,
)
from tests.command_line import assert_one_line_error, run, run_json

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
BANK = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Drawing takes most of the time; tests/lab/test_adaptive.py looks at the pictures.
    monkeypatch.setattr("bnmind.lab.simulations.png", lambda figure: b"")
    write_bank(BANK, "bank.json")
    people = Responses.drawn(BANK, 60, seed=5)
    codes = people.codes.astype(object)
    codes[3, 2] = ""
    _write("responses.csv", [BANK.item_names, *codes.tolist()])
    needs = [[name, *row] for name, row in zip(BANK.item_names, Q, strict=True)]
    _write("q.csv", [["item", "a", "b"], *needs])


def _write(name: str, rows: Sequence[Iterable[object]]) -> None:
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def test_every_step_of_a_short_test_is_shown() -> None:
    options = ("--stop", "items:5", "--examinees", "5", "--selector", "GDI")
    shown = run("simulate", "bank.json", *options).stdout
    assert shown.count("0       1       2       3       4       5\n") == 2
    assert "the last column" not in shown
    assert "\n  gdi" in shown
    shown = run("simulate", "bank.json", "--stop", "certainty:0.9", "--examinees", "5").stdout
    assert "(the last column: at the end of the tests):" in shown


def test_json_agrees_with_the_library() -> None:
    found = run_json("simulate", "bank.json", "--stop", "items:3", "--examinees", "50")
    people = Responses.drawn(BANK, 50)
    selectors: dict[str, Selector] = {
        "entropy": MinimalEntropy(),
        "random": RandomItem(),
    }
    result = simulate(BANK, people, selectors, MaximalItems(3))
    assert (found["examinees"], found["items"], found["seed"]) == (50, 5, 0)
    assert found["skills"] == ["skill_1", "skill_2"]
    for one, run_of in zip(found["selectors"], result.runs, strict=True):
        assert one["selector"] == run_of.selector
        assert one["mean_length"] == 3
        assert one["overlap"] == pytest.approx(run_of.overlap)
        assert one["exposure"] == dict(zip(BANK.item_names, run_of.exposure.tolist(), strict=True))
        for measure in result.measures:
            mean, error = result.mean(run_of.selector, measure.name)
            curve = one["by_items_asked"][measure.name]
            assert np.allclose(curve["mean"], mean)
            assert np.allclose(curve["standard_error"], error)
    assert all(Path(path).is_file() for path in found["files"])
    assert Path("results/measures.png").is_file()


def test_seeds_repeat_and_workers_change_nothing() -> None:
    arguments = ("simulate", "bank.json", "--stop", "items:2", "--examinees", "40", "--out")
    first = run_json(*arguments, "a", "--seed", "5")
    again = run_json(*arguments, "b", "--seed", "5", "--workers", "2")
    other = run_json(*arguments, "c", "--seed", "6")
    assert first["selectors"] == again["selectors"] != other["selectors"]
    assert Path("a/steps.csv").read_text() == Path("b/steps.csv").read_text()


def test_the_terminal_shows_lengths_and_measures() -> None:
    result = run(
        "simulate", "bank.json", "--selector", "gdi", "--selector", "randomesque:2",
        "--stop", "certainty:0.8", "--stop", "items:4", "--examinees", "30", "--out", "out",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert "30 examinees, 5 items." in result.stdout
    assert "randomesque:2" in result.stdout
    assert "Written: 17 files in out" in result.stdout


def test_recorded_answers_are_replayed() -> None:
    found = run_json("simulate", "bank.json", "--responses", "responses.csv", "--stop", "items:5")
    assert found["examinees"] == 60
    entropy = found["selectors"][0]
    assert entropy["mean_length"] == pytest.approx(5 - 1 / 60)
    assert "pattern_accuracy" not in entropy["by_items_asked"]


@pytest.mark.parametrize("source", [["--qmatrix", "q.csv"], ["bank.json", "--folds", "10"]])
def test_banks_are_learned_by_fold(source: list[str]) -> None:
    found = run_json("simulate", *source, "--responses", "responses.csv", "--stop", "items:2")
    assert found["examinees"] == 60
    assert found["skills"] == (["a", "b"] if source[0] == "--qmatrix" else list(BANK.skills))
    accuracy = found["selectors"][0]["by_items_asked"]["accuracy"]["mean"]
    assert accuracy[0] < accuracy[2]


def test_learning_by_fold_keeps_to_its_options() -> None:
    options = ["--max-guess", "0.05", "--max-slip", "0.3", "--starts", "2", "--seed", "3"]
    arguments = ["--responses", "responses.csv", "--folds", "2", "--stop", "items:1"]
    found = run_json("simulate", "bank.json", *arguments, *options)
    asked = LearningOptions(starts=2, seed=3, bounds=Bounds((0, 0.05), (0, 0.3)))
    expected = replay(
        lambda others: learn(others, BANK, options=asked).bank,
        Responses.from_csv("responses.csv"),
        {"entropy": MinimalEntropy()},
        MaximalItems(1),
        folds=2,
    )
    scores = found["selectors"][0]["by_items_asked"]["log_score"]["mean"]
    assert np.allclose(scores, expected.mean("entropy", "log_score")[0])


def test_numbers_beyond_64_bits_count_like_others() -> None:
    few = ["simulate", "bank.json", "--examinees", "4"]
    usual = run_json(*few, "--stop", "items:5", "--selector", "randomesque:5", "--seed", "1")
    many = str(10**30)
    great = run_json(
        *few, "--stop", f"items:{many}", "--selector", f"randomesque:{many}", "--seed", "1"
    )
    for found in (usual, great):
        del found["selectors"][0]["selector"]
    assert great == usual


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], ["bank", "--qmatrix"]),
        (["bank.json", "--starts", "2"], ["--folds", "--starts"]),
        (
            ["bank.json", "--folds", "2", "--responses", "responses.csv", "--max-slip", "2"],
            ["expected --max-slip between 0 and 1"],
        ),
        (["bank.json", "--qmatrix", "q.csv"], ["either a bank or --qmatrix"]),
        (["--qmatrix", "q.csv"], ["--responses to learn from"]),
        (["bank.json", "--folds", "3"], ["--responses to learn from"]),
        (["bank.json", "--responses", "responses.csv", "--examinees", "3"], ["got both"]),
        (["bank.json", "--selector", "best"], ["best"]),
        (["bank.json", "--selector", "gdi", "--selector", "gdi"], ["different selectors"]),
        (["bank.json", "--stop", "items:0"], ["at least 1"]),
        (["bank.json", "--out", "bank.json"], ["directory"]),
        (["nothing.json"], ["nothing.json"]),
        (["bank.json", "--responses", "nothing.csv"], ["nothing.csv"]),
        (["bank.json", "--responses", "wrong.csv"], ["row 2", "item_3", "'maybe'"]),
        (["bank.json", "--workers", "0"], ["worker"]),
        (["bank.json", "--workers", "2", "--cluster", "local:2"], ["--workers or --cluster"]),
        (["bank.json", "--cluster", "nearby"], ["tcp://HOST:PORT or local:N", "'nearby'"]),
        (["bank.json", "--examinees", str(10**30)], ["examinees for 5 items", "10^30"]),
        (["bank.json", "--examinees", str(10**12)], ["1,000,000,000,000"]),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(arguments: list[str], words: list[str]) -> None:
    _write("wrong.csv", [BANK.item_names, [1, 1, 1, 1, 1], [0, 1, "maybe", 0, 0]])
    before = sorted(Path().iterdir())
    assert_one_line_error(run("simulate", *arguments), *words)
    assert sorted(Path().iterdir()) == before


def test_without_dask_one_line_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = run("simulate", "bank.json", "--cluster", "local:2")
    assert_one_line_error(result, "a cluster needs Dask", 'pip install "bnmind[distributed]"')
