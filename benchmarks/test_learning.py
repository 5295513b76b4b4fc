"""Learning by EM: 536×20×8, DINA, saturated, from responses drawn from the shipped bank.

Real responses give the table of steps and seconds in docs/learning.md. They are looked for in the
directory that BNMIND_DATA names: a folder for each data set, with responses.csv and qmatrix.csv.

    BNMIND_DATA=data python -m pytest benchmarks/test_learning.py --benchmark-only
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bnmind.adaptive import (
    Bounds,
    Dina,
    Gdina,
    LearningOptions,
    QMatrix,
    ResponseModel,
    Responses,
    learn,
    read_bank,
    read_qmatrix,
)

BANK = read_bank(Path(__file__).parents[1] / "models" / "banks" / "fraction-subtraction.json")
Q = QMatrix.of(np.array(BANK.q_matrix, dtype=int), items=BANK.item_names)
DATA = Path(os.environ.get("BNMIND_DATA", Path(__file__).parents[2] / "shared" / "data"))
AT_MOST = Bounds((0.0, 0.6), (0.0, 0.6))
REAL = {
    "fraction_subtraction": ("fraction_subtraction", LearningOptions(starts=1)),
    "aced, guess and slip at most .6": ("aced", LearningOptions(bounds=AT_MOST, starts=1)),
    "aced, one start": ("aced", LearningOptions(starts=1)),
    "aced, as by default": ("aced", LearningOptions()),
    "aced, best of 5 starts": ("aced", LearningOptions(starts=5)),
}


@dataclass
class Report:
    """What was learned from real data, printed at the end of the run."""

    lines: list[str] = field(default_factory=list)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.lines:
            terminalreporter.section("learning from real responses, DINA, saturated")
            for line in self.lines:
                terminalreporter.line(line)


@pytest.fixture(scope="module")
def report(pytestconfig: pytest.Config) -> Report:
    made = Report()
    # Stays registered: the summary comes after the module.
    pytestconfig.pluginmanager.register(made)
    return made


@pytest.mark.parametrize("name", REAL)
def test_real_responses(benchmark: Any, report: Report, name: str) -> None:
    folder, options = REAL[name]
    place = DATA / folder
    if not place.exists():
        pytest.skip(f"no data set {folder}")
    responses = Responses.from_csv(place / "responses.csv")
    q = read_qmatrix(place / "qmatrix.csv")
    found = benchmark.pedantic(
        lambda: learn(responses, q, options=options), rounds=3, iterations=1, warmup_rounds=1
    )
    size = f"{len(responses)}x{len(responses.items)}x{len(found.bank.skills)}"
    report.lines.append(
        f"{name:35}{size:>12}{found.log_likelihood:12.2f}{found.record.steps:6} steps"
        f"{benchmark.stats.stats.min:8.2f} s"
    )


@pytest.mark.parametrize("gate", [Dina, Gdina])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_learning(benchmark: BenchmarkFixture, gate: type[ResponseModel], missing: float) -> None:
    codes = np.array(Responses.drawn(BANK, 536, seed=1).codes)
    gone = np.random.default_rng(1).random(codes.shape) < missing
    responses = Responses.of(np.where(gone, -1, codes), items=BANK.item_names)
    options = LearningOptions(starts=1)
    found = benchmark(lambda: learn(responses, Q, gate=gate, options=options))
    benchmark.extra_info["steps"] = found.record.steps
    assert found.record.converged
