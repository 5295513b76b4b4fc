"""``--prior`` of the commands for tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bnmind.adaptive import Independent, ItemBank, write_bank
from tests.command_line import assert_one_line_error, run

Q = [[1, 0], [0, 1], [1, 1]]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bnmind.lab.save_simulation", lambda *_, **__: ())  # it draws plots
    bank = ItemBank.from_qmatrix(
        Q, guess=0.2, slip=0.1, skill_names=["add", "carry"], skills=Independent(0.9)
    )
    write_bank(bank, "bank.json")
    Path("prior.csv").write_text("add,carry,count\n0,0,1\n0,1,1\n1,0,1\n1,1,1\n", encoding="utf-8")
    Path("r.csv").write_text("item_1,item_2,item_3\n1,0,0\n1,1,0\n0,0,0\n1,1,1\n", encoding="utf-8")
    Path("q.csv").write_text(
        "item,add,carry\nitem_1,1,0\nitem_2,0,1\nitem_3,1,1\n", encoding="utf-8"
    )


def found(*words: str) -> object:
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout, parse_float=lambda text: round(float(text), 6))


@pytest.mark.parametrize(
    "words",
    [
        "evaluate bank.json --stop items:2",
        "tree bank.json --depth 2",
        "tree bank.json --selector gdi --stop items:2",
        "classify bank.json r.csv",
        "simulate bank.json --responses r.csv --selector entropy",
        "simulate --qmatrix q.csv --folds 2 --responses r.csv --selector entropy",
    ],
)
def test_tests_start_from_the_prior_that_is_named(words: str) -> None:
    own = found(*words.split())
    assert found(*words.split(), "--prior", "bank") == own
    uniform = found(*words.split(), "--prior", "uniform")
    assert uniform != own
    assert found(*words.split(), "--prior", "prior.csv") == uniform
    if not words.startswith(("classify", "tree bank.json --depth")):
        Path("d.toml").write_text('prior = "uniform"\n', encoding="utf-8")
        designed = [word for word in words.split() if word]
        assert found(*designed, "--design", "d.toml") == uniform
    for prior, fault in (("flat", "--prior flat: expected uniform, bank or a file"), ("r.csv", "")):
        assert_one_line_error(run(*words.split(), "--prior", prior), fault or "r.csv")


def test_a_saved_test_keeps_its_prior() -> None:
    started = ("test", "bank.json", "--session", "ann.json", "--prior", "uniform")
    shown = run(*started, answers="1\nq\n").stdout
    assert "2.00 bits unknown before" in shown
    for words in (started, started[:4]):
        shown = run(*words, answers="q\n").stdout
        assert "Resumed after 1 item" in shown
        assert "2.00 bits unknown before" in shown
    assert_one_line_error(
        run(*started[:4], "--prior", "prior.csv"), "expected the design of the test saved"
    )
    assert run("test", "bank.json", "--session", "bob.json", answers="1\nq\n").exit_code == 0
    assert_one_line_error(
        run("test", "bank.json", "--session", "bob.json", "--prior", "uniform"), "leave out --prior"
    )
