"""Fitted values, their files, and the command that fits them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bnmind.cli.app import app
from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.mastermind import Board, Channel
from bnmind.strategies import fit_value, read_value, shipped_value, write_value
from bnmind.strategies.belief_value import shipped_values

CHANNEL = Channel.false_reply(Board(2, 4), 0.2)


def test_a_file_keeps_the_value_and_its_origin(tmp_path: Path) -> None:
    fitted = fit_value(CHANNEL, games=50, rounds=1, seed=3)
    write_value(fitted.value, tmp_path / "value.json")
    assert read_value(tmp_path / "value.json") == fitted.value


def test_the_seed_determines_the_fit() -> None:
    assert fit_value(CHANNEL, games=50, rounds=2) == fit_value(CHANNEL, games=50, rounds=2)


def test_every_shipped_value_names_the_command_that_made_it() -> None:
    assert shipped_values()
    for (board, channel), value in shipped_values().items():
        assert value.origin is not None
        assert (value.origin.board, value.origin.channel) == (board, channel)
        assert f"--noise {channel}" in value.origin.command


def test_another_board_has_the_value_of_the_same_channel() -> None:
    for name, p in (("false:0.2", 0.2), ("false:0.17", 0.17)):
        channel = Channel.false_reply(Board(3, 5), p)
        assert channel.name == name
        assert shipped_value(channel) == shipped_value(Channel.false_reply(Board(4, 6), 0.2))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"format": "bnmind belief value", "version": 1, "coefficients": {}}'],
)
def test_a_file_that_holds_no_value_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match="expected bnmind belief value in"):
        read_value(path)


def test_a_fit_needs_games() -> None:
    with pytest.raises(InvalidArgumentError, match="expected at least two games"):
        fit_value(CHANNEL, games=1)


def test_the_command_writes_the_file_and_prints_the_means(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    options = ["--pegs", "2", "--colors", "3", "--noise", "false:0.2", "--games", "40"]
    result = CliRunner().invoke(app, ["fit-value", *options, "--out", str(path), "--json"])
    assert result.exit_code == 0, result.output
    assert len(json.loads(result.output)["means"]) == 2
    origin = read_value(path).origin
    assert origin is not None
    assert origin.command.startswith("bnmind fit-value --pegs 2 --colors 3 --noise false:0.2")
