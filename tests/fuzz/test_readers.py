"""Broken files: read or refused in one line, quickly, in little memory, by every reader."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import ROOT
from tests.fuzz.reader import SEEDS
from tests.fuzz.readers import READERS
from tests.fuzz.runner import FINDINGS, cases, read_one, told_aloud

EVERY_DAY = 15
"""Broken files of each reader that are read in every test run, always the same."""

SECONDS = 0.25
"""How long the slow test looks for more, for each format; the runner itself takes any time."""

SECONDS_OF_OTHERS = 0.1
"""The same for small files beside others, and for texts of a few words that people type."""

OTHERS = {
    *("packed", "uai_names", "uai_evidence", "uai_query", "uai_answer"),
    *("roles", "noise", "weights", "transcript"),
}


def test_every_directory_belongs_to_a_reader() -> None:
    assert set(READERS) >= OTHERS
    assert {path.name for path in SEEDS.iterdir()} == set(READERS)
    assert {path.name for path in FINDINGS.iterdir()} <= set(READERS)


def _of_each() -> list[Any]:
    """Return each reader; other tests send valid requests to the pages every day."""
    slow = {"web_request": pytest.mark.slow}
    return [pytest.param(name, marks=slow.get(name, ())) for name in READERS]


@pytest.mark.parametrize("name", _of_each())
def test_seeds_are_valid(name: str, tmp_path: Path) -> None:
    assert READERS[name].seeds
    for seed in READERS[name].seeds:
        path = tmp_path / seed.name
        path.write_bytes(seed.read_bytes())
        with told_aloud(READERS[name]):
            READERS[name].read(path)


FOUND = sorted(path for folder in FINDINGS.iterdir() for path in folder.iterdir())


@pytest.mark.parametrize("path", FOUND, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_findings_do_not_come_back(path: Path) -> None:
    assert read_one(READERS[path.parent.name], path.read_bytes(), path.name) == ""


@pytest.mark.parametrize("name", READERS)
def test_some_broken_files(name: str) -> None:
    for data, file in islice(cases(READERS[name], seed=0), EVERY_DAY):
        assert read_one(READERS[name], data, file) == "", data


def test_broken_files_are_the_same_for_a_seed() -> None:
    for name in ("bif", "bank", "history_text"):
        first, second = (list(islice(cases(READERS[name], seed=3), 40)) for _ in range(2))
        assert first == second
        valid = {seed.read_bytes() for seed in READERS[name].seeds}
        assert sum(data in valid for data, _ in first) < 10


SHORT = [
    name for name in READERS if name in OTHERS or (name.endswith("_text") and name != "tree_text")
]
LONG = [name for name in READERS if name not in SHORT]
PARTS = [
    (names[half::2], seconds)
    for names, seconds in ((LONG, SECONDS), (SHORT, SECONDS_OF_OTHERS))
    for half in range(2)
]
"""Readers that share a process, whose imports take as long as a search, and their seconds."""


@pytest.mark.slow
@pytest.mark.parametrize(("names", "seconds"), PARTS, ids=[" ".join(part[0]) for part in PARTS])
def test_many_broken_files(names: list[str], seconds: float, tmp_path: Path) -> None:
    """Another seed each time the readers change; what is found belongs into ``findings``."""
    command = ("-m", "tests.fuzz.runner", *names, "--seconds", str(seconds), "--seed", "1")
    done = subprocess.run(
        [sys.executable, *command, "--keep", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60 + 5 * seconds * len(names),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
