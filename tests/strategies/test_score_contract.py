"""The contract that every registered score keeps, and wrong scores that break it."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from bnmind.mastermind import Board
from bnmind.strategies import (
    SCORES,
    STRATEGIES,
    ClassTerms,
    Combination,
    ExpectedSize,
    Myopic,
    Score,
    WeightedEntropy,
    equal_weights,
)
from tests.registries import registry_faults

BOARDS = (Board(4, 6), Board(3, 4), Board(3, 5, repeats=False))
CODES = 30


def entropy_left(classes: list[int]) -> float:
    """Σ n_r log₂ n_r / n."""
    return sum(n * math.log2(n) for n in classes if n) / sum(classes)


def weighted(classes: list[int], board: Board) -> float:
    """Σ w_r p_r log₂(1/p_r) at the first turn; all weights are 1 on boards without weights."""
    score = SCORES["weighted-entropy"]()
    assert isinstance(score, WeightedEntropy)
    weights = score.weights[0] if board == score.board else (1000,) * len(classes)
    n = sum(classes)
    return sum(
        w / 1000 * c / n * math.log2(n / c) for w, c in zip(weights, classes, strict=True) if c
    )


DEFINITIONS: dict[str, Callable[[list[int], Board], float]] = {
    "maxmin": lambda classes, board: max(classes),
    "irving": lambda classes, board: sum(n * n for n in classes) / sum(classes),
    "neuwirth": lambda classes, board: entropy_left(classes),
    "larmouth": lambda classes, board: (
        entropy_left(classes) - 2 * math.log2(2) * (classes[-1] > 0) / sum(classes)
    ),
    "kooi": lambda classes, board: sum(n > 0 for n in classes),
    "weighted-entropy": weighted,
}
"""The readable definition of each score, from the sizes of the classes; the last one wins."""


def random_classes(board: Board, seed: int, guesses: int = 40) -> NDArray[np.int64]:
    """Return class sizes of random guesses, ``(guesses, replies)``; the last class has 0 or 1."""
    rng = np.random.default_rng(seed)
    n_replies = len(board.true_replies)
    rows = []
    for _ in range(guesses):
        winning = int(rng.integers(2))
        shares = rng.dirichlet(np.full(n_replies - 1, 0.4))
        rows.append([*rng.multinomial(CODES - winning, shares), winning])
    return np.array(rows)


def check_score(score: Score, define: Callable[[list[int], Board], float] | None = None) -> None:
    """Raise AssertionError unless the score keeps the contract."""
    again = pickle.loads(pickle.dumps(score))
    assert again == score
    assert is_dataclass(score)
    for name in (*(field.name for field in fields(score)), "minimized"):
        with pytest.raises((FrozenInstanceError, AttributeError)):
            setattr(score, name, None)
    for board in BOARDS:
        terms = score.terms(board, CODES)
        for array in (terms.sizes, terms.weights, terms.shares):
            assert not array.flags.writeable
        assert terms.sizes.shape == terms.shares.shape == (CODES + 1,)
        assert terms.weights.shape[1] == len(board.true_replies)
        classes = random_classes(board, seed=1)
        keys = terms.keys(classes, 0)
        assert keys.tolist() == score.terms(board, CODES).keys(classes, 0).tolist()
        assert keys.tolist() == again.terms(board, CODES).keys(classes, 0).tolist()
        check_bounds(terms, classes)
        check_ties(terms, classes)
        shown = [score.shown(board, int(key), CODES) for key in keys]
        direction = 1 if score.minimized else -1
        # A better key is never shown as a worse value.
        ranked = [direction * shown[row] for row in np.argsort(keys, kind="stable")]
        assert all(a <= b + 1e-9 for a, b in pairwise(ranked))
        if define is not None:
            expected = [define(row, board) for row in classes.tolist()]
            assert shown == pytest.approx(expected, abs=1e-6)


def check_bounds(terms: ClassTerms, classes: NDArray[np.int64]) -> None:
    """No guess has a smaller key than one that leaves single codes only."""
    if not terms.shares.any():
        assert terms.keys(classes, 0).min() >= min(0, terms.winning)
        singles = np.zeros((1, classes.shape[1]), dtype=np.int64)
        singles[0, :3] = 1
        assert terms.keys(singles, 0).tolist() == [0]


def check_ties(terms: ClassTerms, classes: NDArray[np.int64]) -> None:
    """The best guesses are those of the smallest key, wherever they stand and however often."""
    best = set(terms.best(classes, 0).tolist())
    keys = terms.keys(classes, 0)
    smallest = set(np.flatnonzero(keys == keys.min()).tolist())
    assert best == smallest if terms.combination is not Combination.SORTED else best <= smallest
    twice = terms.best(np.concatenate([classes, classes]), 0).tolist()
    assert set(twice) == best | {row + len(classes) for row in best}
    reverse = terms.best(classes[::-1], 0)
    assert {len(classes) - 1 - int(row) for row in reverse} == best


@pytest.mark.parametrize("name", SCORES)
def test_a_score_keeps_the_contract(name: str) -> None:
    check_score(SCORES[name](), DEFINITIONS.get(name))


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_the_strategy_of_its_name(name: str) -> None:
    strategy = STRATEGIES[name]()
    assert isinstance(strategy, Myopic)
    assert strategy.name == name
    assert strategy.score == SCORES[name]()


def test_the_registry_keeps_the_contract() -> None:
    assert registry_faults(SCORES) == []


@dataclass(frozen=True)
class WrongWay(ExpectedSize):
    """Says that large values are good, and compares the other way."""

    @property
    def minimized(self) -> bool:
        """Wrong."""
        return False


@dataclass(frozen=True)
class OtherUnit(ExpectedSize):
    """Shows its key instead of the mean size."""

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return a value in another unit."""
        return float(key)


@dataclass(frozen=True)
class ShortTable(ExpectedSize):
    """Has no term for the largest class."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return one term too few."""
        return ClassTerms(np.maximum(np.arange(largest) - 1, 0), equal_weights(board))


@dataclass
class Mutable:
    """Can be changed after construction."""

    minimized: bool = True

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the terms of the expected size."""
        return ExpectedSize().terms(board, largest)

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the expected size."""
        return ExpectedSize().shown(board, key, codes)


@pytest.mark.parametrize("wrong", [WrongWay(), OtherUnit(), ShortTable(), Mutable()])
def test_the_contract_rejects_a_wrong_score(wrong: Score) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        check_score(wrong, DEFINITIONS["irving"])
