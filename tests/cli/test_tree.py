"""``bnmind tree``: the best test, lists, paper tests, Ctrl-C and errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bnmind.adaptive import ItemBank, fixed_test, optimal_test_tree, write_bank
from bnmind.questions import best_tree
from tests.command_line import assert_one_line_error, run, run_json

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
BANK = ItemBank.from_qmatrix(Q, guess=0.2, slip=0.1)


@pytest.fixture(autouse=True)
def _in_a_directory_with_a_bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_bank(BANK, "bank.json")


def test_it_proves_the_best_tree_and_prints_the_regret() -> None:
    found = optimal_test_tree(BANK, 3)
    shown = run("tree", "bank.json", "--depth", "3", "--out", "test.html").stdout
    assert f"{found.value:.6f} bits. Proven: no test is better." in shown
    assert f"it loses {max(found.regret, 0.0):.6f}" in shown
    assert "Written: test.html (15 points)." in shown
    assert "go to" in Path("test.html").read_text("utf-8")
    told = run_json("tree", "bank.json", "--depth", "3", "--minimize", "profile")
    assert told["proven"] is True
    assert told["unit"] == "wrong profiles"


def test_lists_and_selectors() -> None:
    told = run_json("tree", "bank.json", "--fixed", "--depth", "2", "--out", "list.md")
    assert told["items"] == list(fixed_test(BANK, 2).items)
    assert Path("list.md").exists()
    followed = ("--selector", "gdi", "--stop", "items:2", "--out", "t.json")
    told = run_json("tree", "bank.json", *followed)
    assert told["file"] == "t.json"
    assert told["length"] == pytest.approx(2)


def test_the_help_says_what_an_unfinished_test_pays() -> None:
    assert "ends without pays 100 more" in " ".join(run("tree", "--help").stdout.split())


def test_a_search_with_few_beliefs_reports_its_gap() -> None:
    shown = run("tree", "bank.json", "--depth", "4", "--max-beliefs", "1").stdout
    assert "Not proven: no test is below" in shown
    found = optimal_test_tree(BANK, 4, max_beliefs=1)
    most = found.greedy_value - found.lower
    assert most > found.regret
    assert f"it loses between {max(found.regret, 0.0):.6f} and {most:.6f}." in shown


def test_a_note_names_the_properties_of_items_that_are_neglected() -> None:
    items = [replace(BANK.items[0], testlet="story"), *BANK.items[1:-1]]
    items.append(replace(BANK.items[-1], content="sums"))
    write_bank(replace(BANK, items=tuple(items)), "rich.json")
    told = "note: the search does not consider the testlets and content codes of the bank"
    assert told in run("tree", "rich.json", "--depth", "1").stderr
    assert told in run("tree", "rich.json", "--fixed", "--depth", "1").stderr
    assert "note" not in run("tree", "bank.json", "--depth", "1").stderr
    selector = ("--selector", "gdi", "--stop", "items:1")
    assert "note" not in run("tree", "rich.json", *selector).stderr


def test_ctrl_c_keeps_the_best_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    import _thread
    import time

    search: Any = best_tree

    def slow(problem: Any, **options: Any) -> Any:
        until = options["until"]

        def wait(known: Any) -> bool:
            _thread.interrupt_main()
            time.sleep(0.5)
            return bool(until(known))

        return search(problem, **{**options, "until": wait})

    monkeypatch.setattr("bnmind.adaptive.optimal_tests.best_tree", slow)
    heard = run("tree", "bank.json", "--depth", "4", "--out", "best.dot")
    assert "interrupted; the best found so far follows" in heard.stderr
    assert "Written: best.dot" in heard.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--fixed", "--selector", "gdi"), "expected --fixed, or --selector or --design"),
        (("--stop", "items:2"), "--stop goes with --selector"),
        (("--selector", "gdi", "--depth", "2"), "leave out --depth"),
        (("--minimize", "beauty"), "beauty"),
        (("--out", "tree.xyz"), ".html"),
        (("--selector", "random", "--stop", "items:1"), "draws no random numbers, got random"),
    ],
)
def test_errors_are_one_line(options: tuple[str, ...], words: str) -> None:
    assert_one_line_error(run("tree", "bank.json", *options), words)
