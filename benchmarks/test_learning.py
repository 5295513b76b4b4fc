"""Learning by EM: 536×20×8, DINA, saturated, from responses drawn from the shipped bank."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bnmind.adaptive import (
    Dina,
    Examinees,
    FreeTable,
    Gate,
    LearningOptions,
    QMatrix,
    Responses,
    learn,
    read_bank,
)

BANK = read_bank(Path(__file__).parents[1] / "models" / "banks" / "fraction-subtraction.json")
Q = QMatrix.of(np.array(BANK.q_matrix, dtype=int), items=BANK.item_names)


@pytest.mark.parametrize("gate", [Dina, FreeTable])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_learning(benchmark: BenchmarkFixture, gate: type[Gate], missing: float) -> None:
    codes = np.array(Examinees.drawn(BANK, 536, seed=1).responses)
    gone = np.random.default_rng(1).random(codes.shape) < missing
    responses = Responses.of(np.where(gone, -1, codes), items=BANK.item_names)
    options = LearningOptions()
    found = benchmark(lambda: learn(responses, Q, gate=gate, options=options))
    benchmark.extra_info["steps"] = found.record.steps
    assert found.record.converged
