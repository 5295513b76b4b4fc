"""The claims of Runarsson and Merelo, on seeded games; the documentation has more games."""

from __future__ import annotations

import math

import pytest

from bnmind.lab.reproductions import published
from bnmind.mastermind import Board
from bnmind.strategies import (
    EstimationOfDistribution,
    LocalEntropy,
    Measured,
    Strategy,
    average_games,
    measure_games,
    open_aabb,
    open_aabc,
    strategy_by_name,
)
from tests.modes import UNCOMPILED

REFERENCE = published("runarsson_merelo")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(UNCOMPILED, reason="takes minutes uncompiled"),
]


def measured(strategy: Strategy, games: int) -> tuple[float, float]:
    """Return the mean number of guesses in seeded games on 4x6, and its standard error."""
    played: Measured = measure_games(strategy, Board(4, 6), games=games, seed=11)
    squares = sum(n * (k - played.mean) ** 2 for k, n in enumerate(played.distribution, start=1))
    return played.mean, math.sqrt(squares) / games


@pytest.mark.parametrize("size", [10, 20])
def test_heuristics_on_subsets(size: int) -> None:
    mean, error = measured(strategy_by_name(f"subset:{size}:entropy"), 1500)
    published = REFERENCE["replicated"]
    wanted = published["entropy_subset"][f"{size}"]
    assert abs(mean - wanted) < 3 * math.hypot(error, published["subset_standard_error"])


def test_local_entropy_helps_if_the_first_guess_is_aabc() -> None:
    exact = REFERENCE["exact"]
    for opening, name in ((open_aabc, "AABC"), (open_aabb, "AABB")):
        averaged = average_games(LocalEntropy(opening=opening), Board(4, 6))
        assert averaged.mean == pytest.approx(exact[f"local_entropy_{name}"], abs=5e-6)
    assert exact["local_entropy_AABC"] < exact["random"] < exact["local_entropy_AABB"]


def test_estimation_of_distributions_needs_local_entropy_to_beat_random_codes() -> None:
    random = REFERENCE["exact"]["random"]
    with_it = EstimationOfDistribution(local_entropy=True, opening=open_aabc)
    mean, error = measured(with_it, 10000)
    assert mean + 2 * error < random
    assert abs(mean - REFERENCE["exact"]["local_entropy_AABC"]) < 3 * error
    mean, error = measured(EstimationOfDistribution(opening=open_aabc), 4000)
    assert abs(mean - random) < 3 * error
