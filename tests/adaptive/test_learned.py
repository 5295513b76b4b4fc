"""What users do first with the result of `learn`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bnmind.adaptive import (
    Examinees,
    ItemBank,
    LearningOptions,
    MaximalItems,
    MinimalEntropy,
    calibrate_items,
    classify,
    item_drift,
    learn,
    read_bank,
    simulate,
    start_belief,
    write_bank,
)
from bnmind.errors import InvalidArgumentError

Q = [[1, 0], [0, 1], [1, 1], [1, 0]]
CODES = Examinees.drawn(ItemBank.from_qmatrix(Q, 0.2, 0.1), 300, seed=1).responses
ONE = LearningOptions(starts=1, tolerance=1e-5)
DINA = learn(CODES, Q, options=ONE)


def test_what_was_learned_stands_for_its_bank(tmp_path: Path) -> None:
    bank, path = DINA.bank, tmp_path / "bank.json"
    assert classify(DINA, CODES).expected.tolist() == classify(bank, CODES).expected.tolist()
    assert start_belief(DINA).bank is bank
    people = Examinees.drawn(DINA, 20, seed=2)
    assert np.array_equal(people.responses, Examinees.drawn(bank, 20, seed=2).responses)
    found = simulate(DINA, people, {"entropy": MinimalEntropy()}, MaximalItems(2))
    assert found.runs[0].lengths.tolist() == [2] * 20
    assert len(Examinees.recorded(DINA, CODES)) == 300
    assert calibrate_items(DINA, CODES, ["item_1"]).items[0].item == "item_1"
    assert len(item_drift(DINA, CODES, rng=np.random.default_rng(1))) == 4
    write_bank(DINA, path)
    assert read_bank(path).channel("item_1").tolist() == bank.channel("item_1").tolist()
    with pytest.raises(InvalidArgumentError, match=r"a HasBank such as learn\(responses, q_m"):
        classify(Q, CODES)  # type: ignore[arg-type]
