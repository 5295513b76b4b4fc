"""Stores: rows in files, whole or not at all, of one experiment only."""

from __future__ import annotations

import errno
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

from bnmind.errors import BnmindError, MissingLibraryError, ModelFileError
from bnmind.lab import (
    Experiment,
    GameExperiment,
    experiment_from_text,
    read_store,
    run,
    run_into,
)

TEXT = """
kind = "games"
games = 7
seed = 3
board = "2x3"
noise = ["exact", "false:0.2"]
strategies = ["knuth", {name = "map", assume = "false:0.4"}]
turns = true
batch_games = 2
"""


@pytest.fixture
def experiment() -> GameExperiment:
    made = experiment_from_text(TEXT)
    assert isinstance(made, GameExperiment)
    return made


def test_a_directory_that_arrow_cannot_name_is_refused_before_the_work(
    experiment: GameExperiment, tmp_path: Path
) -> None:
    with pytest.raises(ModelFileError, match="is not in UTF-8, and Arrow cannot read"):
        run_into(experiment, tmp_path / "\udcff")


def stop_after(n: int) -> object:
    """Return a function for progress that interrupts the run after some batches."""
    calls = iter(range(n - 1))

    def progress(done: int, total: int) -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt

    return progress


def assert_whole(directory: Path, experiment: Experiment) -> None:
    """Assert that a directory holds all rows of an experiment, each once."""
    store, results = read_store(directory), run(experiment)
    assert store.is_complete
    assert store.results.rows == results.rows
    assert store.results.details == results.details


def test_rows_come_back_as_they_were(experiment: GameExperiment, tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    store = run_into(experiment, tmp_path / "a" / "b", progress=lambda *a: calls.append(a))
    assert_whole(tmp_path / "a" / "b", experiment)
    assert len(store.parts) == 8
    assert calls[0] == (4, 28)
    assert calls[-1] == (28, 28)
    results = run(experiment)
    for frame, other in (
        (store.frame, results.frame),
        (store.detail_frame, results.detail_frame),
    ):
        assert list(frame.columns) == list(other.columns)
        assert len(frame) == len(other)
    assert store.frame["guesses"].tolist() == results.frame["guesses"].tolist()
    assert store.experiment.n_rows == 28


def test_other_programs_read_the_rows_in_one_line(
    experiment: GameExperiment, tmp_path: Path
) -> None:
    store = run_into(experiment, tmp_path)
    rows = f"read_parquet('{tmp_path}/*.parquet')"
    told = duckdb.sql(f"SELECT channel, strategy, avg(guesses) FROM {rows} GROUP BY ALL").fetchall()
    frame = store.frame.groupby(["channel", "strategy"])["guesses"].mean()
    assert {(a, b): c for a, b, c in told} == pytest.approx(dict(frame.items()))
    turns = duckdb.sql(f"SELECT count(*) FROM read_parquet('{tmp_path}/details/*.parquet')")
    assert turns.fetchall() == [(store.frame["guesses"].sum(),)]


def test_the_summary_has_means_and_errors(experiment: GameExperiment, tmp_path: Path) -> None:
    store = run_into(experiment, tmp_path)
    summary = store.summary
    assert summary[["channel", "strategy", "assumed", "rows"]].values.tolist() == [
        ["exact", "knuth", "exact", 7],
        ["exact", "map", "false:0.4", 7],
        ["false:0.2", "knuth", "false:0.2", 7],
        ["false:0.2", "map", "false:0.4", 7],
    ]
    guesses = store.frame["guesses"].to_numpy().reshape(2, 7, 2).transpose(0, 2, 1).reshape(4, 7)
    assert np.allclose(summary["guesses"], guesses.mean(axis=1))
    assert np.allclose(summary["guesses_error"], guesses.std(axis=1, ddof=1) / 7**0.5)
    assert summary["guesses_most"].tolist() == guesses.max(axis=1).tolist()
    assert "codes_examined" not in summary.columns


def test_the_environment_is_beside_the_rows(experiment: GameExperiment, tmp_path: Path) -> None:
    run_into(experiment, tmp_path)
    store = run_into(experiment, tmp_path)
    environment = json.loads((tmp_path / "environment.json").read_text())
    assert store.environment == environment
    assert len(environment["runs"]) == 2
    for run_ in environment["runs"]:
        assert set(run_) >= {"date", "python", "platform", "numpy", "numba"}
    assert environment["bnmind"]


@pytest.mark.parametrize("after", [1, 8])
def test_an_interrupted_run_goes_on(after: int, experiment: GameExperiment, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_into(experiment, tmp_path, progress=stop_after(after))  # type: ignore[arg-type]
    half = read_store(tmp_path)
    assert len(half.parts) == after
    assert half.is_complete == (after == 8)
    assert len(half.frame) == sum(batch.n_rows for batch in experiment.batches()[:after])
    before = {path: path.stat().st_mtime_ns for path in half.parts}
    run_into(experiment, tmp_path)
    assert_whole(tmp_path, experiment)
    assert all(path.stat().st_mtime_ns == then for path, then in before.items())


def damage(path: Path, how: str) -> None:
    """Damage a file."""
    content = path.read_bytes()
    if how == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "flipped":  # in the data of a page: only a checksum notices it
        middle = content.index(b"2x3") + 1
        path.write_bytes(content[:middle] + b"y" + content[middle + 1 :])
    elif how == "text":
        path.write_text("not a table")
    else:
        path.write_bytes(path.with_name("part-000000.parquet").read_bytes())


@pytest.mark.parametrize("how", ["empty", "flipped", "exchanged"])
def test_a_damaged_file_is_named_and_set_aside(
    how: str, experiment: GameExperiment, tmp_path: Path
) -> None:
    run_into(experiment, tmp_path)
    path = tmp_path / "part-000003.parquet"
    damage(path, how)
    damaged = path.read_bytes()
    if how != "exchanged":
        with pytest.raises(ModelFileError, match=r"part-000003\.parquet is damaged.* again"):
            _ = read_store(tmp_path).frame
    store = run_into(experiment, tmp_path)
    assert_whole(tmp_path, experiment)
    assert store.damaged == (tmp_path / "part-000003.parquet.damaged",)
    assert store.damaged[0].read_bytes() == damaged


def test_damaged_details_are_made_again(experiment: GameExperiment, tmp_path: Path) -> None:
    run_into(experiment, tmp_path)
    damage(tmp_path / "details" / "part-000002.parquet", "cut")
    (tmp_path / "details" / "part-000004.parquet").unlink()
    store = run_into(experiment, tmp_path)
    assert_whole(tmp_path, experiment)
    assert [path.name for path in store.damaged] == ["part-000002.parquet.damaged"]
    damage(tmp_path / "details" / "part-000002.parquet", "text")
    assert len(run_into(experiment, tmp_path).damaged) == 2


def test_a_directory_of_another_experiment_is_refused(
    experiment: GameExperiment, tmp_path: Path
) -> None:
    run_into(experiment, tmp_path)
    before = sorted(tmp_path.rglob("*"))
    other = experiment_from_text(TEXT.replace("false:0.4", "exact").replace("seed = 3\n", ""))
    with pytest.raises(ModelFileError) as caught:
        run_into(other, tmp_path)
    assert "seed is 3 there and 0 here" in str(caught.value)
    assert "settings 1, strategies 2, assume is 'false:0.4' there and 'exact' here" in str(
        caught.value
    )
    with pytest.raises(ModelFileError, match="settings is a list of 2 there and a list of 1 here"):
        run_into(replace(experiment, settings=experiment.settings[:1]), tmp_path)
    assert sorted(tmp_path.rglob("*")) == before
    assert_whole(tmp_path, experiment)


def test_rows_of_other_source_code_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "own_strategies"
    package.mkdir()
    files = {
        "__init__": "",
        "mine": "import numpy, json\nfrom . import scores\nMine = scores.Mine",
        "scores": "from own_strategies.weights import WEIGHT\n"
        "from bnmind.strategies import MapCode\nclass Mine(MapCode):\n    weight = WEIGHT\n",
        "weights": "WEIGHT = 1\n",
        "plots": "",
    }
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    own = experiment_from_text(TEXT.replace('"knuth"', '"own_strategies.mine:Mine"'))
    run_into(own, tmp_path / "rows")
    assert list(read_store(tmp_path / "rows").environment["sources"]) == [
        "own_strategies.mine:Mine"
    ]
    for name, text in files.items():
        (package / f"{name}.py").write_text(f"{text}\n# edited")
        if name == "plots":  # not imported
            run_into(own, tmp_path / "rows")
        else:
            with pytest.raises(
                ModelFileError, match=r"own_strategies\.mine:Mine with other source code"
            ):
                run_into(own, tmp_path / "rows")
        (package / f"{name}.py").write_text(text)
    assert run_into(own, tmp_path / "rows").is_complete


def test_rows_of_another_version_are_refused(experiment: GameExperiment, tmp_path: Path) -> None:
    run_into(experiment, tmp_path)
    path = tmp_path / "environment.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "bnmind": "0.1"}))
    with pytest.raises(ModelFileError, match=r"rows of bnmind 0\.1, and this is"):
        run_into(experiment, tmp_path)
    path.write_text("{}")
    with pytest.raises(ModelFileError, match=r"environment\.json"):
        run_into(experiment, tmp_path)


def test_files_of_others_are_not_read_as_rows(experiment: GameExperiment, tmp_path: Path) -> None:
    run_into(experiment, tmp_path)
    (tmp_path / "part-000099.parquet").write_bytes((tmp_path / "part-000000.parquet").read_bytes())
    assert len(run_into(experiment, tmp_path).damaged) == 1
    (tmp_path / "mine.parquet").write_bytes(b"mine")
    with pytest.raises(ModelFileError, match=r"mine\.parquet does not belong"):
        run_into(experiment, tmp_path)
    assert (tmp_path / "mine.parquet").read_bytes() == b"mine"
    (tmp_path / "experiment.toml").unlink()
    with pytest.raises(ModelFileError, match=r"holds .*parquet, but no experiment\.toml"):
        run_into(experiment, tmp_path)
    with pytest.raises(ModelFileError, match=r"no experiment\.toml"):
        read_store(tmp_path)


def test_a_damaged_experiment_is_named(experiment: GameExperiment, tmp_path: Path) -> None:
    run_into(experiment, tmp_path)
    (tmp_path / "experiment.toml").write_text("kind = ")
    with pytest.raises(BnmindError, match=r"experiment\.toml"):
        read_store(tmp_path)
    with pytest.raises(ModelFileError, match=r"experiment\.toml is damaged"):
        run_into(experiment, tmp_path)


def test_two_runs_into_one_directory_are_refused(
    experiment: GameExperiment, tmp_path: Path
) -> None:
    def again(done: int, total: int) -> None:
        with pytest.raises(ModelFileError, match="another run is writing into"):
            run_into(experiment, tmp_path)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_into(experiment, tmp_path, progress=again)
    run_into(experiment, tmp_path)
    assert_whole(tmp_path, experiment)


def test_a_full_disk_is_not_called_another_run(
    experiment: GameExperiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("bnmind._files._open", full)
    with pytest.raises(ModelFileError, match="No space left"):
        run_into(experiment, tmp_path)


def test_a_place_that_cannot_be_written_is_told_before(
    experiment: GameExperiment, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(BnmindError, match="file"):
            run_into(experiment, place)


def test_a_missing_library_is_told(
    experiment: GameExperiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingLibraryError, match=r"bnmind\[lab\]"):
        run_into(experiment, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_noise_file_that_was_edited_is_refused_with_both_ways_out(tmp_path: Path) -> None:
    noise = tmp_path / "noise.csv"
    noise.write_text("true,reported,count\n0b0w,0b0w,7\n1b0w,0b1w,1.5\n")
    text = 'kind = "games"\ngames = 2\nboard = "2x3"\nstrategies = "knuth"\n'
    text += f'noise = "file:{noise.as_posix()}"\n'
    run_into(experiment_from_text(text), tmp_path / "rows")
    noise.write_text("true,reported,count\n0b0w,0b0w,7\n1b0w,0b1w,5\n")
    with pytest.raises(
        ModelFileError, match=r"undo the change to go on .* or name another directory"
    ):
        run_into(experiment_from_text(text), tmp_path / "rows")
