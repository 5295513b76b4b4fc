"""Nothing in a file makes a terminal do more than show text."""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.adaptive import ItemBank, write_bank
from bnmind.cli.shared.terminal import (
    new_console,
    plain_table,
    printable,
    show,
    show_table,
    tell,
    tell_record,
)
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.pgm.files import write_model
from tests.command_line import run
from tests.test_architecture import MODULES

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\x7f\u202e"
"""Clears the screen, sets the title of the window, colors, and turns the direction."""


def harmless(shown: str) -> bool:
    return not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", shown)


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@given(st.text())
def test_text_that_is_shown_is_harmless(text: str) -> None:
    assert harmless(printable(text))
    assert printable(text).count("\n") == text.count("\n")


@given(st.text(st.characters(codec="utf-8")))
def test_plain_text_stays(text: str) -> None:
    if text.isprintable():
        assert printable(text) == text


@given(st.dictionaries(st.text(), st.text()))
def test_json_reads_back_and_is_harmless(record: dict[str, str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        shown: list[Any] = []
        patch.setattr("typer.echo", lambda text, **_: shown.append(text))
        tell_record(record)
        tell(str(record))
    assert json.loads(shown[0]) == record
    assert harmless(shown[0])
    assert harmless(shown[1])


def test_tables_and_texts_on_the_terminal_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    console = new_console()
    console.print(f"a {EVIL} b", soft_wrap=True)
    table = plain_table(f"head {EVIL}", "other")
    table.add_row(f"cell {EVIL}", EVIL)
    show_table(console, table)
    console.print("bold", style="bold")
    shown = capsys.readouterr().out
    assert harmless(shown)
    for word in ("a ", "head ", "cell ", "bold"):
        assert word in shown


def bank() -> ItemBank:
    plain = ItemBank.from_qmatrix([[1], [1]], guess=0.2, slip=0.1).with_title(f"Title {EVIL}")
    items = tuple(replace(item, text=f"Text {EVIL}") for item in plain.items)
    return replace(plain, items=items, labels=(f"Label {EVIL}",), source=f"Source {EVIL}")


def test_a_test_shows_titles_texts_and_labels_harmlessly() -> None:
    write_bank(bank(), "bank.json")
    for answers in ("?\n1\nnonsense\x1b\n0\n\n", f"{EVIL}\nitem_9{EVIL}=1\nq\n"):
        result = run("test", "bank.json", "--session", "s.json", answers=answers)
        assert result.exit_code == 0, result.output
        assert harmless(result.output)
        for word in ("Title", "Text", "Label"):
            assert word in result.output
        Path("s.json").unlink()


def test_a_query_shows_states_harmlessly() -> None:
    rain = Variable("rain", (f"no {EVIL}", f"yes {EVIL}"))
    wet = Variable("wet", ("0", "1"))
    network = Network(
        (
            TabularCPD(rain, (), np.array([0.5, 0.5])),
            TabularCPD(wet, (rain,), np.array([[0.9, 0.2], [0.1, 0.8]])),
        )
    )
    write_model(network, "rain.json")
    for options in ((), ("--plan",), ("--json",), ("--evidence", f"rain=no {EVIL}")):
        result = run("query", "rain.json", *options)
        assert result.exit_code == 0, result.output
        assert harmless(result.output)
    shown = json.loads(run("query", "rain.json", "--json").output)
    assert set(shown["marginals"]["rain"]) == set(rain.states)


@pytest.mark.parametrize(
    "arguments",
    [
        ("query", f"missing{EVIL}.bif"),
        ("query", "rain.bif", "--evidence", f"{EVIL}=1"),
        ("learn", os.fsdecode(b"\xff\x1b.csv"), "--qmatrix", "q.csv"),
        ("test", f"{EVIL}.json"),
        ("suggest", "--history", EVIL),
        ("suggest", f"--{EVIL}"),
        ("strategy", EVIL),
        ("assist", "--save", f"{EVIL}/a"),
        ("simulate", f"{EVIL}.json", "--selector", EVIL),
        ("compare", f"module{EVIL}:Name"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_errors_are_harmless(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert harmless(result.output)
    assert result.output.count("\n") == 1


def test_lines_break_between_words_on_terminals_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "12")
    text, content = "one sentence of six words long", "a file with its long lines\nas it is"
    show(text)
    assert capsys.readouterr().out == f"{text}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show(text)
    assert capsys.readouterr().out.split("\n") == ["one sentence", "of six words", "long", ""]
    show(content)
    assert capsys.readouterr().out == f"{content}\n"


TO_THE_TERMINAL = ("echo", "secho", "Console", "rprint")


def test_text_reaches_the_terminal_in_one_way() -> None:
    found = {name for name, path in MODULES.items() if goes_to_the_terminal(path)}
    assert found == {"bnmind.cli.shared.terminal"}


def goes_to_the_terminal(path: Path) -> bool:
    """Return whether a module calls a function that shows text."""
    text = path.read_text(encoding="utf-8")
    if not any(f"{name}(" in text for name in TO_THE_TERMINAL):
        return False
    called = [node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    names = {function.attr for function in called if isinstance(function, ast.Attribute)}
    names |= {function.id for function in called if isinstance(function, ast.Name)}
    return bool(names & set(TO_THE_TERMINAL))
