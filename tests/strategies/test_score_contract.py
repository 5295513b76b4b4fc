"""Every registered score keeps the contract of `bnmind.testing`, and wrong scores break it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from bnmind.errors import ContractError
from bnmind.mastermind import Board
from bnmind.strategies import (
    SCORES,
    STRATEGIES,
    ClassTerms,
    ExpectedSize,
    Myopic,
    Score,
    equal_weights,
)
from bnmind.testing import check_score
from bnmind.testing.games import DEFINITIONS


def irving(classes: Sequence[int], board: Board) -> float:
    """Σ n_r² / n."""
    return sum(n * n for n in classes) / sum(classes)


@pytest.mark.parametrize("name", SCORES)
def test_a_score_keeps_the_contract(name: str) -> None:
    check_score(name)


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_the_strategy_of_its_name(name: str) -> None:
    strategy = STRATEGIES[name]()
    assert isinstance(strategy, Myopic)
    assert strategy.name == name
    assert strategy.score == SCORES[name]()


@pytest.mark.slow
@pytest.mark.parametrize("name", SCORES)
def test_a_score_keeps_the_contract_on_many_boards(name: str) -> None:
    check_score(name, thorough=True)


def test_every_registered_score_has_a_definition() -> None:
    assert set(DEFINITIONS) == set(SCORES)


@dataclass(frozen=True)
class WrongWay(ExpectedSize):
    """Says that large values are good, and compares the other way."""

    minimized = False


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


@dataclass(frozen=True)
class WrongOnABoard(ExpectedSize):
    """Counts singles, on one board only."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the terms of the largest class where nobody looks."""
        if board == Board(3, 6, repeats=False):
            sizes = np.arange(largest + 1) * np.maximum(np.arange(largest + 1) - 2, 0)
            return ClassTerms(sizes, equal_weights(board))
        return super().terms(board, largest)


@dataclass(frozen=True)
class Overflowing(ExpectedSize):
    """Computes with 32 bits, which is wrong only where there are many codes."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return terms that no longer grow from some size on."""
        terms = super().terms(board, largest)
        return ClassTerms(np.minimum(terms.sizes, 2**15), equal_weights(board))


@dataclass(frozen=True)
class Drawing(ExpectedSize):
    """Uses the global generator of Python."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Draw, in vain."""
        random.random()
        return super().terms(board, largest)


@dataclass(frozen=True)
class WrongSize(ExpectedSize):
    """Is wrong for classes of one size."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return terms of which one is too large."""
        sizes = np.arange(largest + 1)
        return ClassTerms(sizes * sizes - sizes + 1000 * (sizes == 777), equal_weights(board))


@dataclass(frozen=True)
class WrongLength(ExpectedSize):
    """Is wrong for one number of possible codes."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return terms in another unit where 17 codes are possible."""
        terms = super().terms(board, largest)
        return ClassTerms(terms.sizes * (1 + (largest == 17)), equal_weights(board))


@dataclass(frozen=True)
class NoSecondTurn(ExpectedSize):
    """Has weights for the first guess only."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return weights of zero for all later guesses."""
        weights = equal_weights(board)
        return ClassTerms(super().terms(board, largest).sizes, np.vstack([weights, 0 * weights]))


@dataclass(frozen=True)
class NoSingleCode(ExpectedSize):
    """Fails if one code is possible."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Divide by the other codes."""
        assert 1 / (largest - 1)
        return super().terms(board, largest)


@dataclass(frozen=True)
class HiddenPreference(ExpectedSize):
    """Prefers a guess that may win, which the value that it shows does not say."""

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return terms in which a possible guess counts for more."""
        return ClassTerms(super().terms(board, largest).sizes, equal_weights(board), -1)

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the expected size, whether the guess is possible or not."""
        return super().shown(board, key + key % 2, codes)


@pytest.mark.parametrize(
    ("wrong", "promise"),
    [
        (WrongSize(), "its values are those of its definition .on 4x6"),
        (WrongLength(), "its values are those of its definition .on 4x6, classes 12 5"),
        (NoSecondTurn(), "it tells guesses apart at every turn"),
        (NoSingleCode(), "for every board and number of codes .on 1x2: ZeroDivisionError"),
        (HiddenPreference(), "guesses of the same value have the same key"),
        (WrongWay(), "never shown as a worse value"),
        (OtherUnit(), "its values are those of its definition"),
        (ShortTable(), "for every board and number of codes|a term for each size"),
        (Mutable(), "it cannot be changed"),
        (WrongOnABoard(), "its values are those of its definition .on 3x6"),
        (Overflowing(), "its values are those of its definition .on 4x6"),
        (Drawing(), "draws from the generator that it is given"),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_the_contract_rejects_a_wrong_score(wrong: Score, promise: str) -> None:
    check_score(ExpectedSize(), irving)
    with pytest.raises(ContractError, match=promise):
        check_score(wrong, irving)


def test_a_score_that_is_wrong_on_one_board_is_noticed_without_a_definition() -> None:
    with pytest.raises(ContractError, match="the same classes have the same value on every board"):
        check_score(WrongOnABoard())


def test_a_score_is_tried_on_the_boards_that_are_named() -> None:
    check_score(WrongOnABoard(), irving, boards=[Board(2, 2), Board(3, 3)])
    with pytest.raises(ContractError, match=r"its values are those of its definition .on 3x6"):
        check_score(WrongOnABoard(), irving, boards=[Board(2, 2), Board(3, 6, repeats=False)])


def test_the_error_says_what_is_wrong_and_where() -> None:
    with pytest.raises(ContractError) as caught:
        check_score(OtherUnit(), irving)
    error = caught.value
    assert isinstance(error, AssertionError)
    assert error.family == "score"
    assert error.promise in str(error)
    assert error.example in str(error)
    assert len(str(error)) < 400
