"""The contract of every kind of experiment: batches, rows, and files."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path

import pandas as pd
import pytest

from bnmind.lab import (
    EXPERIMENTS,
    Experiment,
    experiment_from_text,
    experiment_to_toml,
    run,
    run_into,
)
from tests.command_line import ROOT
from tests.registries import registry_faults

BANK = ROOT / "models" / "banks" / "fractions.json"

SMALL: Mapping[str, str] = {
    "games": """
kind = "games"
games = 5
board = "2x3"
noise = ["exact", "false:0.2"]
strategies = ["knuth", "random"]
turns = true
batch_games = 2
""",
    "tests": f"""
kind = "tests"
bank = "{BANK.as_posix()}"
selectors = ["entropy", "random"]
stop = ["items:3", "items:2+certainty:0.9"]
examinees = 7
steps = true
batch_examinees = 3
""",
    "learning": """
kind = "learning"
responses = {items = ["a", "b", "c"], codes = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, -1, 1]]}
qmatrix = "small_qmatrix.csv"
starts = 3
seed = 5
max_guess = 0.5
items = true
""",
}
"""A small experiment of each kind, with details and several batches."""


def made(kind: str) -> Experiment:
    return experiment_from_text(SMALL[kind], directory=Path(__file__).parent)


def test_the_registry_keeps_the_contract() -> None:
    assert registry_faults(EXPERIMENTS) == []
    assert set(SMALL) == set(EXPERIMENTS)


@pytest.mark.parametrize("kind", EXPERIMENTS)
def test_batches_are_numbered_and_make_all_rows(kind: str) -> None:
    experiment = made(kind)
    batches = experiment.batches()
    assert experiment.kind == kind
    assert [batch.number for batch in batches] == list(range(len(batches)))
    assert len(batches) > 2
    results = run(experiment)
    assert len(results.rows) == experiment.n_rows == sum(batch.n_rows for batch in batches)
    for rows, row_type in (
        (results.rows, experiment.row_type),
        (results.details, experiment.detail_type),
    ):
        assert is_dataclass(row_type)
        assert rows
        assert {type(row) for row in rows} == {row_type}
    assert list(results.frame.columns) == [field.name for field in fields(experiment.row_type)]


@pytest.mark.parametrize("kind", EXPERIMENTS)
def test_batches_are_pure_and_travel(kind: str) -> None:
    experiment = made(kind)
    results = run(experiment)
    parts = [pickle.loads(pickle.dumps(batch)).run() for batch in experiment.batches()[::-1]]
    assert tuple(row for part in parts[::-1] for row in part.rows) == results.rows
    assert tuple(row for part in parts[::-1] for row in part.details) == results.details


@pytest.mark.parametrize("kind", EXPERIMENTS)
def test_frames_in_memory_and_of_a_store_are_equal(kind: str, tmp_path: Path) -> None:
    experiment = made(kind)
    store, results = run_into(experiment, tmp_path / "store"), run(experiment)
    for stored, kept in (
        (store.frame, results.frame),
        (store.detail_frame, results.detail_frame),
    ):
        assert dict(stored.dtypes) == dict(kept.dtypes)
        measured = [name for name in stored.columns if "seconds" in name]
        pd.testing.assert_frame_equal(stored.drop(columns=measured), kept.drop(columns=measured))


@pytest.mark.parametrize("kind", EXPERIMENTS)
def test_files_keep_experiments(kind: str) -> None:
    experiment = made(kind)
    again = experiment_from_text(experiment_to_toml(experiment))
    assert experiment_to_toml(again) == experiment_to_toml(experiment)
    assert run(again).rows == run(experiment).rows


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXPERIMENTS)
def test_workers_change_no_row(kind: str) -> None:
    experiment = made(kind)
    alone, together = run(experiment), run(experiment, workers=2)
    assert together.rows == alone.rows
    assert together.details == alone.details
