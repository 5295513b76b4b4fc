"""Games that are kept until all of them are finished."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from bnmind.errors import ModelFileError, TooLargeError
from bnmind.lab import (
    GameExperiment,
    experiment_from_text,
    read_experiment,
    read_store,
    run_into,
)
from bnmind.lab.stores import forget_unfinished, resumed_games, unfinished_place

TEXT = """
kind = "games"
games = 7
board = "2x3"
noise = "false:0.2"
strategies = ["knuth", "map"]
batch_games = 2
"""


@pytest.fixture
def experiment() -> GameExperiment:
    made = experiment_from_text(TEXT)
    assert isinstance(made, GameExperiment)
    return made


def _keep(experiment: GameExperiment, out: Path) -> Path:
    """Keep three of four batches of games."""
    place = unfinished_place(experiment, out)
    assert place is not None
    games: Any = resumed_games(experiment, place)
    assert len(list(islice(games, 13))) == 13
    games.close()
    assert len(list(place.glob("part-*"))) == 3
    return place


def test_kept_games_are_forgotten_after_a_run_was_killed_while_it_forgot(
    experiment: GameExperiment, tmp_path: Path
) -> None:
    place = _keep(experiment, tmp_path)
    left = place.with_name(f".{place.name}")
    left.mkdir()
    (left / "part-000000.parquet").touch()
    forget_unfinished(tmp_path, place)
    assert list(tmp_path.iterdir()) == []


def test_the_experiment_is_read_once_for_all_kept_batches(
    experiment: GameExperiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = _keep(experiment, tmp_path)
    calls: list[Path] = []

    def counted(path: Path) -> Any:
        calls.append(path)
        return read_experiment(path)

    monkeypatch.setattr("bnmind.lab.stores.read_experiment", counted)
    again: Iterator[Any] = resumed_games(experiment, place)
    assert len(list(again)) == 14
    assert len(calls) == 1


def test_an_experiment_too_large_to_be_read_back_is_refused(
    experiment: GameExperiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bnmind.lab.stores.SMALL_FILE", 100)
    with pytest.raises(TooLargeError, match="only files of up to 100 bytes"):
        run_into(experiment, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert unfinished_place(experiment, tmp_path) is None


def test_a_batch_without_its_details_is_not_finished(
    experiment: GameExperiment, tmp_path: Path
) -> None:
    whole = run_into(replace(experiment, turns=True), tmp_path)
    assert whole.is_complete
    (tmp_path / "details" / "part-000001.parquet").unlink()
    some = read_store(tmp_path)
    assert not some.is_complete
    assert (len(some.parts), some.n_rows, len(some.frame)) == (3, 10, 10)


def test_strange_files_among_the_details_are_refused(
    experiment: GameExperiment, tmp_path: Path
) -> None:
    turns = replace(experiment, turns=True)
    run_into(turns, tmp_path)
    (tmp_path / "details" / "mine.parquet").touch()
    with pytest.raises(ModelFileError, match=r"mine\.parquet does not belong to the experiment"):
        run_into(turns, tmp_path)
