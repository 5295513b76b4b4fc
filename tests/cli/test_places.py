"""Places that cannot be written are told before the work, not after it."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from bnmind.adaptive import ItemBank, write_bank
from bnmind.dynamic import DynamicNetwork, write_dynamic
from bnmind.pgm import Network, TabularCPD, Variable
from tests.command_line import assert_one_line_error, run

CASES = [
    ("bnmind.strategies.strategy_tree", ("strategy", "knuth", "--tree"), "a.json"),
    ("bnmind.strategies.strategy_tree", ("strategy", "knuth", "--tree"), "a.svg"),
    ("bnmind.strategies.fit_weights", ("fit-weights", "--out"), "a.json"),
    ("bnmind.strategies.fit_value", ("fit-value", "--out"), "a.json"),
    ("bnmind.junction.compile_plan", ("query", "bank.bif", "--svg"), "a.svg"),
    ("bnmind.junction.compile_model", ("query", "bank.bif", "--task", "MAR", "--out"), "a.MAR"),
    (
        "bnmind.sensitivity.explain_conclusion",
        ("explain", "bank.bif", "--target", "item_1", "--png"),
        "a.png",
    ),
    (
        "bnmind.junction.case_answers.write_answers",
        ("predict", "bank.bif", "r.csv", "--out"),
        "a.csv",
    ),
    ("bnmind.dynamic.compile_dynamic", ("track", "time.json", "t.csv", "--out"), "a.csv"),
    ("bnmind.mastermind.stage", ("network", "--stage", "2", "--out"), "a.bif"),
    ("bnmind.lab.stores.resumed_games", ("compare", "knuth", "--out"), ""),
    (
        "bnmind.lab.reproductions.reproduce_into",
        ("reproduce", "snyder-table-1", "--quick", "--out"),
        "",
    ),
    ("bnmind.lab.run_into", ("run", "games.toml", "--out"), ""),
    ("bnmind.adaptive.simulate_designs", ("simulate", "bank.json", "--out"), ""),
    ("bnmind.fitting.fit", ("fit", "bank.bif", "r.csv", "--hidden", "skill_1", "--out"), "a.bif"),
    ("bnmind.adaptive.learn", ("learn", "r.csv", "--bank", "bank.json", "--out"), "a.bif"),
    ("bnmind.lab.mastermind.advice.start", ("assist", "--save"), "a.json"),
    (
        "bnmind.questions.Inquiry.of",
        ("ask", "bank.bif", "--about", "item_1", "--session"),
        "a.json",
    ),
    ("bnmind.adaptive.Session.start", ("test", "bank.json", "--session"), "a.json"),
]


@pytest.fixture(autouse=True)
def _in_a_directory_with_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bank = ItemBank.from_qmatrix([[1], [1]], guess=0.2, slip=0.1)
    write_bank(bank, "bank.json")
    write_bank(bank, "bank.bif")
    Path("games.toml").write_text(
        'kind = "games"\nboard = "2x2"\nnoise = "exact"\nstrategies = "knuth"\n'
    )
    coin = TabularCPD(Variable("coin", ("heads", "tails")), (), np.array([0.5, 0.5]))
    toss = TabularCPD(Variable("toss", ("1", "0")), (coin.variable,), np.eye(2))
    write_dynamic(DynamicNetwork(Network((coin, toss)), (coin, toss)), "time.json")
    Path("t.csv").write_text("toss\n1\n0\n")
    Path("r.csv").write_text("item_1,item_2\n1,0\n0,1\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("play", "--pegs", "2", "--colors", "2", "--save"),
        ("assist", "--pegs", "2", "--colors", "2", "--save"),
        ("test", "bank.json", "--session"),
        ("ask", "bank.bif", "--about", "item_1", "--session"),
    ],
)
def test_a_dialogue_is_not_read_from_a_pipe_which_would_wait_forever(
    arguments: tuple[str, ...],
) -> None:
    os.mkfifo("pipe.json")
    assert_one_line_error(run(*arguments, "pipe.json"), "pipe.json is a pipe or a device")


@pytest.mark.parametrize(("work", "arguments", "file"), CASES)
def test_work_starts_only_if_the_result_can_be_written(
    work: str, arguments: tuple[str, ...], file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, lambda *_, **__: pytest.fail("it was begun"))
    before = sorted(Path().rglob("*"))
    for place in (Path("r.csv") / file / "x.json", Path("x" * 300) / file):
        assert_one_line_error(run(*arguments, str(place.with_suffix(Path(file).suffix))))
    assert sorted(Path().rglob("*")) == before
    if file:
        assert_one_line_error(run(*arguments, str(Path("missing") / file)), "missing")
        Path(file).mkdir()
        assert_one_line_error(run(*arguments, file), file, "directory")
        Path(file).rmdir()
    with pytest.raises(pytest.fail.Exception):
        run(*arguments, file or "results")
