"""Readers of what bnmind itself has written: designs, experiments, plans, games, dialogues."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from bnmind.adaptive import (
    ItemBank,
    Session,
    read_answers,
    read_bank,
    read_design,
    read_item_tree,
)
from bnmind.errors import BnmindError
from bnmind.lab import read_experiment, read_store
from bnmind.lab.mastermind import parse_ending
from bnmind.lab.mastermind.saved_games import read_play
from bnmind.lab.reproductions import read_run
from bnmind.mastermind import Board, parse_prior
from bnmind.mastermind.priors import read_code_list
from bnmind.pgm import Network
from bnmind.pgm.files import read_network
from bnmind.questions import read_costs, read_diagnosis, read_dialogue
from bnmind.strategies import read_value
from tests.fuzz.reader import SEEDS, Reader, text_of

__all__ = ["RECORD_READERS"]

BOARD = Board(3, 4)


@cache
def _network() -> Network:
    return read_network(SEEDS / "bif" / "small.bif")


@cache
def _fractions() -> ItemBank:
    return read_bank(SEEDS.parents[2] / "models" / "banks" / "fractions.json")


@cache
def _three_items() -> ItemBank:
    return ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], guess=0.2, slip=0.1)


def _store(path: Path) -> object:
    """Read the environment of a store beside its experiment."""
    shutil.copy(SEEDS / "experiment" / "stored.toml", path.with_name("experiment.toml"))
    if path.name != "environment.json":
        path.rename(path.with_name("environment.json"))
    return read_store(path.parent).frame


def _answers(path: Path) -> None:
    """Resume a session with its design, and read its answers."""
    with suppress(BnmindError):
        Session.load(path, _fractions(), salvage=True)
    read_answers([path], _fractions())


def _text(read: Callable[[str], object]) -> Callable[[Path], object]:
    return lambda path: read(text_of(path))


def _command(text: str) -> object:
    from bnmind.cli.mastermind.screen import COMMAND_LINES, read_command

    return read_command(text, BOARD, COMMAND_LINES)


def _prior(text: str) -> object:
    """Read the name of a prior of codes, but no file that it names."""
    return None if text.strip().startswith("file") else parse_prior(BOARD, text)


RECORD_READERS = (
    Reader("design", lambda path: read_design(path, _fractions())),
    Reader("experiment", read_experiment),
    Reader("store", _store),
    Reader("saved_run", read_run),
    Reader("answers", _answers),
    Reader("item_tree", lambda path: read_item_tree(path, _three_items())),
    Reader("value", read_value),
    Reader("play", read_play),
    Reader("dialogue", read_dialogue),
    Reader("diagnosis", read_diagnosis),
    Reader("genie_bank", read_bank, aloud=True),
    Reader("costs", read_costs),
    Reader("code_list", lambda path: read_code_list(BOARD, path)),
    Reader("prior_text", _text(_prior)),
    Reader("ending_text", _text(parse_ending)),
    Reader("command_text", _text(_command)),
)
"""Readers of designs, experiments and results, and of games, dialogues and their words."""
