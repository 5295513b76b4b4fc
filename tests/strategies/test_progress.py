"""How far growing trees and playing games has come, as it is told."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from bnmind.errors import TooLargeError
from bnmind.mastermind import Board, Channel
from bnmind.strategies import (
    Entropy,
    Knuth,
    RandomCode,
    Strategy,
    build_tree,
    deeper,
    measure_games,
    measure_search,
    strategy_tree,
)
from bnmind.strategies.greedy import MAX_TREE_CODES


class _Told:
    def __init__(self) -> None:
        self.calls: list[tuple[int, int]] = []

    def __call__(self, done: int, total: int) -> None:
        self.calls.append((done, total))

    def check(self, total: int) -> None:
        assert len(self.calls) > 1
        assert all(one <= other for (one, _), (other, _) in pairwise(self.calls))
        assert {of for _, of in self.calls} == {total}
        assert self.calls[-1] == (total, total)


@pytest.mark.parametrize("strategy", [Entropy(), Knuth()])
def test_progress_of_trees_counts_the_separated_codes(strategy: Strategy) -> None:
    board, told = Board(3, 4), _Told()
    grown = strategy_tree(strategy, board, progress=told)
    assert grown.total == strategy_tree(strategy, board).total
    told.check(board.n_codes)


def test_trees_under_noise_report_progress_too() -> None:
    board, told = Board(2, 3), _Told()
    build_tree(Entropy(), Channel.false_reply(board, 0.2).revealed(), max_guesses=3, progress=told)
    told.check(board.n_codes)


def test_progress_of_a_search_for_a_tree_counts_the_codes() -> None:
    board, told = Board(3, 5), _Told()
    grown = strategy_tree(deeper(), board, progress=told)
    assert grown.total == deeper().tree(board).total
    told.check(3 * board.n_codes)  # for two first guesses, and once more for the better one


@pytest.mark.parametrize("measure", [measure_games, measure_search])
def test_games_are_counted(measure: Callable[..., object]) -> None:
    told = _Told()
    measure(RandomCode(), Board(3, 4), games=5, seed=1, progress=told)
    told.check(5)


def test_complete_trees_of_large_boards_raise_early() -> None:
    board = Board(7, 7)
    assert board.n_codes > MAX_TREE_CODES
    with pytest.raises(TooLargeError, match="823,543 codes; play games instead"):
        strategy_tree(Entropy(), board)
