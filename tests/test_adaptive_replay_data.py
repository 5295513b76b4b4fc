"""Adaptive replay of real answers, against reference figures of an independent implementation.

The figures are shares of all answers, those asked included, that P(X | answers) ≥ ½ predicts
after 0, 3, 5 and 10 items; DINA with a saturated distribution of the profiles, learned in 10
folds by another program, one start, guess and slip at most .6. The data (Tatsuoka 1984 with the
Q-matrix of de la Torre and Douglas 2004; Shute, Hansen and Almond 2008) are not part of the
project: they are looked for in BNMIND_DATA, else in ``../shared/data``, and the tests are
skipped where they are not.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bnmind.adaptive import (
    Bounds,
    LearningOptions,
    MaximalItems,
    MinimalEntropy,
    RandomItem,
    Selector,
    SkillBelief,
    replay,
)
from bnmind.adaptive.learn import learn
from bnmind.adaptive.qmatrix_csv import read_qmatrix
from bnmind.adaptive.responses import Responses

DATA = Path(os.environ.get("BNMIND_DATA", Path(__file__).parents[2] / "shared" / "data"))
STEPS = [0, 3, 5, 10]
FIGURES = {
    "fraction_subtraction": ([0.623, 0.855, 0.878, 0.886], [0.623, 0.810, 0.840, 0.869]),
    "aced": ([0.677, 0.733, 0.742, 0.758], [0.677, 0.707, 0.718, 0.739]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_replay_predicts_as_well_as_the_reference(name: str) -> None:
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"expected data in {folder}")
    answers = Responses.from_csv(folder / "responses.csv")
    q_matrix = read_qmatrix(folder / "qmatrix.csv")
    options = LearningOptions(bounds=Bounds((0, 0.6), (0, 0.6)))
    selectors: dict[str, Selector[SkillBelief]] = {
        "entropy": MinimalEntropy(),
        "random": RandomItem(),
    }
    result = replay(
        lambda others: learn(others, q_matrix, options=options).bank,
        answers,
        selectors,
        MaximalItems(10),
    )
    entropy, random = (result.mean(which, "accuracy")[0][STEPS] for which in selectors)
    by_entropy, by_chance = FIGURES[name]
    assert all(found > figure - 0.005 for found, figure in zip(entropy, by_entropy, strict=True))
    assert random == pytest.approx(by_chance, abs=0.01)
    more, error = result.difference("accuracy", "entropy", "random")
    assert all(more[step] > 2 * error[step] for step in (3, 5))
