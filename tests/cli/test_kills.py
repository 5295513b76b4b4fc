"""Commands that are killed at any moment: a file is there whole, as it was, or not at all."""

from __future__ import annotations

import csv
import random
import shutil
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

from bnmind.adaptive import Session, read_bank
from bnmind.lab import read_experiment, read_store
from bnmind.lab.mastermind import read_game
from bnmind.lab.mastermind.saved_games import read_play
from bnmind.lab.reproductions import read_run
from bnmind.pgm.files import read_network
from bnmind.questions import read_dialogue
from bnmind.strategies import read_tree, read_value, read_weights
from tests.cli.test_matrix import BANK, Whole, assert_in_order, case_of
from tests.command_server import CommandServer

MOMENTS = 2
"""How often each command is killed within the time that it takes."""

SIGNALS = signal.SIGKILL, signal.SIGTERM
"""They take turns, also from command to command."""


def _is_picture(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("<svg")
    assert text.rstrip().endswith("</svg>")


def _is_table(path: Path) -> None:
    rows = list(csv.reader(path.read_text().splitlines()))
    assert rows
    assert len({len(row) for row in rows}) == 1


def _is_image(path: Path) -> None:
    assert path.read_bytes().endswith(b"IEND\xaeB`\x82")


READ: Mapping[str, Callable[[Path], object]] = {
    "bnmind-game.json": read_game,
    "stage.bif": read_network,
    "fitted.bif": read_network,
    "tree.json": read_tree,
    "bnmind-play.json": read_play,
    "value.json": read_value,
    "weights.json": read_weights,
    "P.svg": _is_picture,
    "w.svg": ElementTree.parse,
    "bank.json": read_bank,
    "new.json": read_bank,
    "snyder-table-1.json": read_run,
    "experiment.toml": read_experiment,
    "environment.json": lambda path: read_store(path.parent),
    "lung.json": read_dialogue,
    "ann.json": lambda path: Session.load(path, read_bank(BANK)),
}

BY_SUFFIX: Mapping[str, Callable[[Path], object]] = {
    ".csv": _is_table,
    ".json": read_bank,  # the examples
    ".png": _is_image,
    ".parquet": pq.read_table,
}


GIVEN = (
    *("q.csv", "responses.csv", "cases.csv", "games.toml", "coin.bif"),
    *("weather.json", "days.csv", "three.json"),
)
"""The files that commands read."""


def _whole(directory: Path) -> set[str]:
    """Read all that a command has written; return the names."""
    found = set()
    for path in directory.rglob("*"):
        if path.is_dir() or path.name in GIVEN:
            continue
        if path.name.startswith("."):
            continue  # what is left of writing; the next writer removes it
        read = READ.get(path.name) or BY_SUFFIX[path.suffix]
        read(path)
        found.add(str(path.relative_to(directory)))
    return found


def _hidden(here: Path) -> list[Path]:
    return [path for path in here.rglob(".*") if path.is_file()]


@pytest.mark.slow
def test_a_killed_command_leaves_complete_files(
    server: CommandServer, wholes: Mapping[str, Whole], tmp_path: Path
) -> None:
    rng = random.Random(1)
    killing = {-number for number in SIGNALS}
    written = set()
    for turn, (name, first) in enumerate(wholes.items()):
        whole = _whole(first.directory)
        if not whole:
            continue
        here = tmp_path / name
        shutil.copytree(first.directory, here)
        ends: set[int] = set()
        for moment in range(4 * MOMENTS):
            if moment >= MOMENTS and ends & killing:
                break
            if moment % 2:
                for file in whole:
                    (here / file).unlink(missing_ok=True)
            # Where all came too late, the machine was busier when the first run was timed.
            after = rng.random() * first.ended.seconds / 2 ** max(0, moment + 1 - MOMENTS)
            number = SIGNALS[(turn + moment) % 2]
            before = _hidden(here)
            ended = server.run(case_of(name, {"killed_after": after, "by": number}), here)
            assert_in_order(ended, -number, 0, 2)
            if number == signal.SIGTERM:
                assert set(_hidden(here)) <= set(before)
            ends.add(ended.code)
            assert _whole(here) <= whole
        written.add(name)
        assert ends & killing
        # And nothing of it is in the way of the next run.
        assert_in_order(server.run(case_of(name, {}), here), 0)
        assert _whole(here) == whole
        if _hidden(here):  # a lock that the next writer removes
            for file in whole:
                (here / file).unlink(missing_ok=True)
            assert_in_order(server.run(case_of(name, {}), here), 0)
        assert not _hidden(here)
    assert written >= {
        "ask",
        "assist",
        "play",
        "network",
        "compare",
        "strategy",
        "query",
        "explain",
        "simulate",
        "test",
    }
