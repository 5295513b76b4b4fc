"""Files that earlier versions have written are read; files of newer versions are refused.

`tests/old_files` holds a small file of each format, as version 0.1.0 wrote it. Files are added
there when a format changes, and never replaced.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from bnmind.errors import BnmindError
from tests.fuzz.readers import READERS

FOLDER = Path(__file__).with_name("old_files")
DATABASE = "answers.sql"
"""The database of `bnmind web --bank`, as SQL."""

KINDS: Mapping[str, str] = {
    "assist-1.json": "game",
    "assist-2.json": "game",
    "assist-3.json": "game",
    "bank-2.json": "bank",
    "bank-of-curves.json": "bank",
    "bank-of-gates.json": "bank",
    "bank.json": "bank",
    "dialogue.json": "dialogue",
    "dynamic.json": "dynamic",
    "environment.json": "store",
    "experiment.toml": "experiment",
    "item-tree.json": "item_tree",
    "model-1.json": "model_json",
    "model-signed.json": "model_json",
    "model.json": "model_json",
    "play.json": "play",
    "reproduction.json": "saved_run",
    "roles-2.json": "roles",
    "roles.json": "roles",
    "session.json": "session",
    "strategy-tree.json": "tree_json",
    "strategy-tree.txt": "tree_text",
    "transcript.json": "transcript",
    "uai-names.json": "uai_names",
    "value.json": "value",
    "weights.json": "weights",
}
"""The reader of each file, by its name among those of the fuzzer."""

_VERSION = re.compile(
    r'"version": \d+|^version = \d+|strategy tree \d+,|"format": \d+', re.MULTILINE
)


def _newer(text: str) -> str:
    """Return the text as if a far newer version had written it."""
    changed, n = _VERSION.subn(lambda found: re.sub(r"\d+", "999", found[0]), text, count=1)
    assert n == 1, "the file has no version"
    return changed


def test_every_old_file_has_a_reader() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*KINDS, DATABASE}


@pytest.mark.parametrize("name", KINDS)
def test_old_files_are_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    shutil.copy(FOLDER / name, path)
    READERS[KINDS[name]].read(path)


@pytest.mark.parametrize("name", KINDS)
def test_files_of_newer_versions_are_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(_newer((FOLDER / name).read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(BnmindError) as caught:
        READERS[KINDS[name]].read(path)
    assert "newer bnmind" in str(caught.value) or "other versions of bnmind" in str(caught.value)


def _database(folder: Path) -> tuple[sqlite3.Connection, str]:
    """Return a database of answers as 0.1.0 wrote it, and its address."""
    file = folder / "answers.sqlite"
    database = sqlite3.connect(file)
    database.executescript((FOLDER / DATABASE).read_text(encoding="utf-8"))
    return database, f"sqlite:///{file}"


def test_answers_in_an_old_database_are_read(tmp_path: Path) -> None:
    store = pytest.importorskip("bnmind.web.store")
    database, url = _database(tmp_path)
    database.close()
    opened = store.Store(url)
    (sitting,) = opened.sittings("002d0cfbd0ea086a8705319ae257c4e8")
    ((event, choice),) = opened.events(sitting.id)
    opened.close()
    assert (sitting.name, event.item, event.response, choice) == ("Ann", "sum", "1", "3/7")


def test_a_database_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    store = pytest.importorskip("bnmind.web.store")
    database, url = _database(tmp_path)
    with database:
        database.execute("UPDATE bnmind_version SET version = 999")
    database.close()
    with pytest.raises(BnmindError, match="newer bnmind"):
        store.Store(url)
