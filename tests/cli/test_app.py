"""The commands as a whole: help, versions, errors, and how fast they start."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bnmind.cli.shared.terminal import one_line
from bnmind.errors import InvalidModelError
from tests.command_line import ROOT, assert_one_line_error, cold, run

COMMANDS = (
    *("play", "assist", "suggest", "network", "compare", "strategy", "regret", "fit-weights"),
    *("fit-value", "reproduce", "run", "predict", "track", "explain"),
)
HEAVY = ("pgmpy", "matplotlib", "pandas", "numba", "numpy", "scipy", "networkx", "torch", "rich")


@pytest.mark.parametrize("arguments", [["--help"], ["suggest", "--help"], ["compare", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys\n"
        "from bnmind.cli import main\n"
        f"sys.argv = ['bnmind', *{arguments!r}]\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert result.stderr == "[]\n"
    assert "Usage: bnmind" in result.stdout


def test_help_names_every_command() -> None:
    shown = run("--help").stdout
    assert all(f"  {command} " in shown for command in COMMANDS)
    assert run().stdout == shown


def test_help_groups_the_commands_by_their_users() -> None:
    shown = run("--help").stdout
    places = [
        shown.index(part)
        for part in (
            *("Test people:", "\n  learn ", "Query a network:", "\n  query "),
            *("Play and study Mastermind:", "\n  play ", "For everybody:", "\n  web "),
        )
    ]
    assert places == sorted(places)
    files = [word for word in shown.split() if word.startswith("models/")]
    assert files
    assert all((ROOT / file).exists() for file in files)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_examples(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Examples:\n    bnmind {command}" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100
    files = [word for word in result.stdout.split() if word.startswith("models/")]
    assert all((ROOT / file).exists() for file in files)
    usage = result.stdout.partition("\n")[0]
    assert not set(usage) & set("{}<>")


def test_version() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("bnmind ")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nonsense"], "nonsense"),
        (["suggest", "--pegs", "four"], "--pegs"),
        (["suggest", "--nonsense"], "--nonsense"),
        (["suggest", "1123"], "1123"),
        (["play", "--seed", "-1"], "--seed"),
        (["network", "--stage"], "--stage"),
    ],
)
def test_usage_errors_take_one_line(arguments: list[str], word: str) -> None:
    assert_one_line_error(run(*arguments), word, "--help")


@pytest.mark.parametrize("arguments", [["learn", "--missing"], ["play", "--seed"], ["query", "-x"]])
def test_usage_errors_name_the_help_of_the_command(arguments: list[str]) -> None:
    assert_one_line_error(run(*arguments), arguments[1], f"see bnmind {arguments[0]} --help")


def test_errors_of_a_real_process_leave_nothing_behind(tmp_path: Path) -> None:
    command = ("compare", "nonsense", "--games", "1", "--out", "out")
    assert_one_line_error(cold(*command, directory=tmp_path), "nonsense")
    assert list(tmp_path.iterdir()) == []


def test_errors_of_several_lines_are_printed_on_one() -> None:
    assert one_line(InvalidModelError(["one\n  fault", "another"])) == "one fault; another"


def test_errors_fit_on_a_screen_and_keep_their_end() -> None:
    told = one_line(ValueError(f"no option --{'x' * 90_000}; see bnmind --help"))
    assert len(told) < 2500
    assert told.startswith("no option --xx")
    assert told.endswith("xx; see bnmind --help")


def test_errors_without_a_message_are_named() -> None:
    assert one_line(MemoryError()) == "MemoryError"


@pytest.mark.parametrize("arguments", [["help", "suggest"], ["suggest", "-h"]])
def test_other_ways_to_ask_for_help(arguments: list[str]) -> None:
    assert run(*arguments).stdout == run("suggest", "--help").stdout


def test_a_second_argument_without_quotes_is_explained() -> None:
    assert_one_line_error(run("regret", "1122", "0b1w"), "put a text with blanks in quotes")
    assert_one_line_error(run("suggest", "1122 0b1w"), 'is given by --history "1122 0b1w"')
    assert_one_line_error(run("suggest", "\u2013history", "1122 0b1w"), "two hyphens, --; got the")
    curled = ("\u201c1122", "0b1w\u201d")
    assert_one_line_error(run("suggest", "--history", *curled), "in straight quotes")
