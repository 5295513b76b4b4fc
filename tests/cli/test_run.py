"""The command that runs experiments."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bnmind.lab import read_experiment, read_store
from bnmind.lab import run as run_experiment
from tests.command_line import ROOT, assert_one_line_error, run, run_json

TEXT = """
kind = "games"
games = 6
board = "2x3"
noise = ["exact", "false:0.2"]
strategies = ["knuth", {name = "map", assume = "false:0.4"}]
batch_games = 2
"""


@pytest.fixture(autouse=True)
def _in_a_directory_with_an_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("noise.toml").write_text(TEXT)


def test_rows_and_a_summary() -> None:
    told = run_json("run", "noise.toml")
    assert (told["directory"], told["rows"], told["damaged"]) == ("noise", 24, [])
    store = read_store(Path("noise"))
    assert store.results.rows == run_experiment(read_experiment("noise.toml")).rows
    assert [one["guesses"] for one in told["summary"]] == store.summary["guesses"].tolist()
    assert told["kept"] == 0
    result = run("run", "noise/experiment.toml", "--out", "noise")
    assert result.stdout.splitlines()[-2] == "24 rows kept from an earlier run"
    assert result.stdout.splitlines()[0].startswith("24 rows: board 2x3, prior uniform")
    assert result.stdout.splitlines()[-1] == "In noise: 6 files"
    heads = result.stdout.splitlines()[1].split()
    assert heads == ["noise", "strategy", "assumes", "rows", "guesses", "error", "worst", "won"]


def test_names_are_never_cut() -> None:
    Path("noise.toml").write_text(TEXT.replace("knuth", "entropy-unknown-noise"))
    assert "  entropy-unknown-noise  " in run("run", "noise.toml").stdout


def test_damage_is_told() -> None:
    run_json("run", "noise.toml")
    Path("noise/part-000001.parquet").write_bytes(b"")
    result = run("run", "noise.toml")
    assert "20 rows kept from an earlier run" in result.stdout
    assert "part-000001.parquet was damaged; it is kept as " in result.stderr
    assert run("run", "noise.toml").stderr == ""


def test_faults_take_one_line() -> None:
    assert_one_line_error(run("run", "missing.toml"), "missing.toml")
    run_json("run", "noise.toml")
    Path("noise.toml").write_text(TEXT.replace("6", "8").replace("knuth", "kooi"))
    assert_one_line_error(run("run", "noise.toml"), "games is 6 there and 8 here", "'knuth'")
    Path("noise.toml").write_text(TEXT.replace("2x3", "x").replace("knuth", "knut"))
    assert_one_line_error(run("run", "noise.toml"), "settings 1, board 1", "knut")
    Path("noise.toml").write_text("nothing")
    assert_one_line_error(run("run", "noise.toml"), "noise.toml", "TOML")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_an_interrupted_run_says_how_to_go_on() -> None:
    Path("noise.toml").write_text(TEXT.replace("games = 6", "games = 4000"))
    command = [sys.executable, "-m", "bnmind", "run", "noise.toml"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as program:
        while len(list(Path("noise").glob("*.parquet"))) < 3:
            time.sleep(0.01)
        program.send_signal(signal.SIGINT)
        _, told = program.communicate()
    assert program.returncode == 130
    done = len(read_store(Path("noise")).parts)
    assert 3 <= done < 8000 // 2
    assert "the same command goes on from there" in told.splitlines()[-1]
    assert " of 16,000 rows in noise" in told
    assert json.loads(Path("noise/environment.json").read_text())["runs"]


SWEEP = """
kind = "games"
games = 60
board = "3x4"
noise = ["exact", "false:0.1", "false:0.2", "independent:0.1"]
strategies = ["entropy", "map", "random"]
turns = true
batch_games = 5
"""

KILLER = """
import os, random, signal, sys, time
from pathlib import Path
from bnmind.cli import main
import bnmind.lab.records, numba, pandas, pyarrow.dataset, pyarrow.parquet

workers, kills, rng, place = sys.argv[1], int(sys.argv[2]), random.Random(1), Path("rows")
sys.argv = ["bnmind", "run", "sweep.toml", "--out", "rows", "--workers", workers]


def parts():
    return len(list(place.glob("*.parquet")))


counts = []
while len(counts) < kills:
    before, child = parts(), os.fork()
    if child == 0:
        main()
    # One in three is killed at the start; the others when they have written, or a little later.
    late, end = rng.random() < 2 / 3, time.monotonic() + rng.random() / 4
    while (parts() == before) if late else (time.monotonic() < end):
        time.sleep(0.001)
    time.sleep(rng.random() * 0.03)
    os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    assert os.WTERMSIG(status) == signal.SIGKILL, status
    counts.append(parts())
print(*counts)
"""
"""A program that kills runs at any moment; they are forks of it, so that they begin at once."""


def killed(workers: int, kills: int) -> list[int]:
    """Kill runs of a sweep; return the number of files after each kill."""
    Path("sweep.toml").write_text(SWEEP)
    done = subprocess.run(
        [sys.executable, "-c", KILLER, str(workers), str(kills)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="forks and signals of Unix")
def test_a_sweep_killed_twelve_times_has_the_same_rows() -> None:
    counts = killed(1, 12)
    experiment = read_experiment("sweep.toml")
    assert counts == sorted(counts)  # nothing finished is lost
    assert 5 < counts[-1] < len(experiment.batches())
    store = read_store(Path("rows"))
    assert len(store.parts) == counts[-1]
    told = run_json("run", "sweep.toml", "--out", "rows")
    assert told["damaged"] == []
    assert store.is_complete
    once = run_experiment(experiment)
    assert store.results.rows == once.rows
    assert store.results.details == once.details
