"""Adaptive replay of real answers, against reference figures of an independent implementation.

The figures are shares of all answers, those asked included, that P(X | answers) ≥ ½ predicts
after 0, 3, 5 and 10 items; DINA with a saturated distribution of the profiles, learned in 10
folds by another program, guess and slip at most .6. It starts where the R package CDM does and
`learn` does too: guess and slip .2, all profiles alike. That matters on ACED, with 1024 profiles
and 209 examinees to learn from: the likelihood has many peaks, of which other starts reach others,
and the share predicted after three items is then between .728 and .734, with a standard error of
.005. More starts reach a better peak and predict no better: the best of three .730, of five .730.

The data (Tatsuoka 1984 with the Q-matrix of de la Torre and Douglas 2004; Shute, Hansen and
Almond 2008) are not part of the project: see `tests.data_sets`.
"""

from __future__ import annotations

import pytest

from bnmind.adaptive import (
    Bounds,
    LearningOptions,
    MaximalItems,
    MinimalEntropy,
    RandomItem,
    Responses,
    Selector,
    learn,
    read_qmatrix,
    replay,
)
from tests.data_sets import data_set

STEPS = [0, 3, 5, 10]
FIGURES = {
    "fraction_subtraction": ([0.623, 0.855, 0.878, 0.886], [0.623, 0.810, 0.840, 0.869]),
    "aced": ([0.677, 0.733, 0.742, 0.758], [0.677, 0.707, 0.718, 0.739]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_replay_predicts_as_well_as_the_reference(name: str) -> None:
    folder = data_set(name)
    answers = Responses.from_csv(folder / "responses.csv")
    q_matrix = read_qmatrix(folder / "qmatrix.csv")
    # The reference has one start, as above.
    options = LearningOptions(bounds=Bounds((0, 0.6), (0, 0.6)), starts=1)
    selectors: dict[str, Selector] = {
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
    assert entropy == pytest.approx(by_entropy, abs=0.002)
    assert random == pytest.approx(by_chance, abs=0.01)
    more, error = result.difference("accuracy", "entropy", "random")
    assert all(more[step] > 2 * error[step] for step in (3, 5))
