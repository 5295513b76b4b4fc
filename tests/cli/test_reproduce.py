"""``bnmind reproduce``: lists, tables, results that are kept, and errors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bnmind.lab.reproductions import REPRODUCTIONS, read_run
from tests.command_line import ROOT, assert_one_line_error, run, run_json


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_list_names_every_reproduction() -> None:
    said = run("reproduce", "--list").stdout
    assert all(name in said for name in REPRODUCTIONS)
    listed = run_json("reproduce", "--list")
    assert [one["id"] for one in listed] == list(REPRODUCTIONS)
    assert all(one["source"] and one["quick_minutes"] <= one["minutes"] for one in listed)


def test_a_table_with_verdicts_and_files() -> None:
    result = run("reproduce", "snyder-table-1", "--quick", "--out", "out")
    assert result.exit_code == 0
    assert result.stdout.startswith("A quick run, with fewer games; results are kept in out.")
    assert "1123, share of codes left" in result.stdout
    assert "0.1429541" in result.stdout
    assert "publication: 5 agree; other program: 10 agree, quick run." in result.stdout
    assert read_run(Path("out/snyder-table-1.json")).complete
    header, first, *others = Path("out/snyder-table-1.csv").read_text().splitlines()
    assert header.startswith("name,publication,other program,our own,")
    assert first.startswith('"1111, reply classes",,5,,')
    assert len(others) == 14
    before = Path("out/snyder-table-1.json").read_bytes()
    again = run("reproduce", "snyder-table-1", "--quick", "--out", "out")
    assert again.stdout == result.stdout
    assert "of snyder-table-1 kept from an earlier run" in again.stderr
    assert "kept" not in result.stderr
    assert Path("out/snyder-table-1.json").read_bytes() == before


def test_json_and_a_page() -> None:
    (found,) = run_json("reproduce", "snyder-table-1", "--quick", "--page", "page.md")
    assert found["id"] == "snyder-table-1"
    assert {figure["verdict"] for figure in found["figures"]} == {"agrees"}
    page = Path("page.md").read_text()
    assert "bnmind reproduce snyder-table-1 --quick" in page
    assert "\n* Beside 5 of *publication*: 5 agree.\n" in page
    assert "\n* Beside 10 of *other program*: 10 agree.\n" in page
    assert "| figure | publication | other program | bnmind | verdict |" in page
    assert "| 1123, share of codes left | 0.1429541 |  | 0.1429541 | agrees |" in page
    assert "| 1123, reply classes |  | 14 | 14 | agrees |" in page


def test_another_seed_sets_the_results_aside() -> None:
    run("reproduce", "snyder-table-1", "--quick", "--out", "out")
    result = run("reproduce", "snyder-table-1", "--quick", "--out", "out", "--seed", "1")
    assert result.exit_code == 0
    assert "of another run" in result.stderr


def test_ctrl_c_keeps_what_is_done_and_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bnmind.lab.reproductions.reproduce_into", interrupted)
    result = run("reproduce", "snyder-table-1", "--quick", "--out", "out")
    assert result.exit_code == 130
    assert "the same command goes on" in result.stderr


@pytest.mark.slow
def test_a_killed_run_goes_on_from_its_finished_parts(tmp_path: Path) -> None:
    names = ("snyder-table-1", "consistent-only")
    command = [sys.executable, "-m", "bnmind", "reproduce", *names, "--quick", "--out"]
    file = Path("consistent-only.json")
    for attempt in map(str, range(10)):
        with subprocess.Popen(
            [*command, attempt],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        ) as process:
            while process.poll() is None and not (attempt / file).exists():
                time.sleep(0.001)
            process.kill()
        before = read_run(attempt / file)
        if not before.complete:
            break
    assert process.returncode == -signal.SIGKILL
    assert 1 <= len(before.parts) < 5
    assert run("reproduce", *names, "--quick", "--out", attempt).exit_code == 0
    after = read_run(attempt / file)
    assert after.complete
    assert set(before.parts) <= set(after.parts)
    assert run("reproduce", *names, "--quick", "--out", "whole").exit_code == 0
    assert after.figures == read_run("whole" / file).figures


def test_sizes_that_exclude_each_other() -> None:
    assert_one_line_error(run("reproduce", "heuristics", "--quick", "--medium"), "--medium")
    assert_one_line_error(run("reproduce", "heuristics", "--larger", "x"), "--page")
    faulty = run("reproduce", "heuristics", "--page", "page.md", "--larger", "x")
    assert_one_line_error(faulty, "directory", "x")
    assert list(Path().iterdir()) == []


def test_a_page_shows_larger_runs_of_single_reproductions() -> None:
    run("reproduce", "snyder-table-1", "--medium", "--out", "medium")
    names = ("reproduce", "snyder-table-1", "consistent-only", "--quick", "--out", "out")
    assert run(*names, "--page", "page.md", "--larger", "medium").exit_code == 0
    page = Path("page.md").read_text()
    assert "Sections of larger runs say so." in page
    assert "\n    bnmind reproduce snyder-table-1 --medium\n" in page
    assert "bnmind reproduce consistent-only" not in page
    # A run of the same size is none that is larger.
    assert run(*names, "--page", "page.md", "--larger", "out").exit_code == 0
    assert "larger" not in Path("page.md").read_text()


def test_missing_data_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    needy = [name for name, one in REPRODUCTIONS.items() if one.data]
    for name in needy[:1]:
        said = run("reproduce", name, "--quick", "--data", str(tmp_path)).stdout
        assert f"Skipped: no data set {REPRODUCTIONS[name].data[0]}" in said


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "--list"),
        (["nonsense"], "nonsense"),
        (["heuristic"], "did you mean heuristics"),
        (["heuristics", "--workers", "0"], "got 0"),
        (["heuristics", "--workers", "2", "--cluster", "local:2"], "--cluster"),
        (["heuristics", "--seed", "-1"], "--seed"),
        (["heuristics", "--page", "page.txt"], ".md"),
    ],
)
def test_faults_take_one_line(arguments: list[str], word: str) -> None:
    assert_one_line_error(run("reproduce", *arguments), word)
    assert list(Path().iterdir()) == []


def test_a_file_in_place_of_the_directory_is_refused() -> None:
    Path("out").touch()
    assert_one_line_error(run("reproduce", "heuristics", "--out", "out"), "directory", "out")


def test_a_page_names_its_seed() -> None:
    run("reproduce", "snyder-table-1", "--quick", "--seed", "3", "--page", "page.md")
    assert "bnmind reproduce snyder-table-1 --quick --seed 3" in Path("page.md").read_text()


def test_without_a_directory_data_sets_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BNMIND_DATA", raising=False)
    said = run("reproduce", "learned-lsat6", "--quick").stdout
    assert "Skipped: no data set lsat6; set BNMIND_DATA or --data." in said
