"""``bnmind query`` of what does not fit: slices and approximate answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bnmind.junction import compile_plan
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.pgm.files import write_model
from tests.command_line import ROOT, assert_one_line_error, run, run_json

MODEL = str(ROOT / "models" / "mastermind-3x4.bif")
GRID = str(ROOT / "models" / "competition" / "grid-3x3.uai")


@pytest.fixture
def grid(tmp_path: Path) -> tuple[str, Network]:
    """Return a grid of 49 variables as a file, and the network."""
    rng, side = np.random.default_rng(1), 7
    variables = [Variable(f"x{i}", ("off", "on")) for i in range(side * side)]
    cpds = []
    for i, v in enumerate(variables):
        above = variables[i - side : i - side + 1] if i >= side else []
        parents = (*above, *(variables[i - 1 : i] if i % side else []))
        on = rng.uniform(0.05, 0.2, [2] * len(parents))
        cpds.append(TabularCPD(v, parents, np.stack([1 - on, on])))
    network = Network(tuple(cpds))
    write_model(network, tmp_path / "grid.bif")
    return str(tmp_path / "grid.bif"), network


def test_what_exceeds_the_memory_runs_in_slices(grid: tuple[str, Network]) -> None:
    path, network = grid
    question = ("query", path, "--evidence", "x48=on", "--targets", "x0,x20")
    whole = run_json(*question)
    most = compile_plan(network, evidence=["x48"], targets=[["x0"], ["x20"]]).memory // 2
    limited = (*question, "--max-bytes", str(most))
    answer = run_json(*limited, "--plan")
    assert answer["plan"]["slices"] > 1
    assert answer["log_evidence"] == pytest.approx(whole["log_evidence"], abs=1e-12)
    found, expected = (a["marginals"]["x20"]["on"] for a in (answer, whole))
    assert found == pytest.approx(expected, abs=1e-12)
    assert "slices" in run(*limited, "--plan").stdout
    result = run(*limited, "--max-multiplications", "10")
    assert_one_line_error(result)
    assert "multiplications" in result.stderr


def test_weighted_samples_contain_the_answer() -> None:
    question = ("query", MODEL, "--evidence", "T1=1,T2=1,T3=2", "--targets", "P")
    exact = run_json(*question)["marginals"]["P"]["1"]
    sampled = ("--samples", "2000", "--seed", "1")
    found = run_json(*question, *sampled)
    error = found["standard_errors"]["P"]["1"]
    assert abs(found["estimates"]["P"]["1"] - exact) <= 5 * error
    assert found == run_json(*question, *sampled)
    assert "samples worth" in run(*question, *sampled).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--samples", "many"), "expected"),
        (("--samples", "9", "--plan"), "--plan does not go with --samples"),
        (("--samples", "0"), "at least 1"),
        (("--seed", "1"), "--seed goes with --samples"),
        (("--task", "MAR", "--samples", "9"), "--task does not go with --samples"),
    ],
)
def test_faults_of_samples_are_one_line(arguments: tuple[str, ...], message: str) -> None:
    result = run("query", MODEL, *arguments)
    assert_one_line_error(result)
    assert message in result.stderr


def test_limits_hold_for_tasks() -> None:
    result = run("query", GRID, "--task", "MAR", "--max-multiplications", "1", "--max-bytes", "9")
    assert_one_line_error(result)
    assert "max_bytes=9" in result.stderr


def test_a_factor_graph_has_no_weighted_samples() -> None:
    result = run("query", GRID, "--samples", "9")
    assert_one_line_error(result)
    assert "Bayesian network" in result.stderr
