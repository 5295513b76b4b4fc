"""Bounds of all guesses for one set: against classes counted one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.mastermind import Board, reply_table
from bnmind.strategies import Goal
from bnmind.strategies.search_arrays import INFINITE, Game, make_game, make_work
from bnmind.strategies.tree_search import count_classes, parting_code, scan
from tests.modes import examples

BOARDS = [Board(2, 3), Board(3, 4), Board(4, 4, repeats=False), Board(3, 5), Board(2, 12)]


def game_of(board: Board, goal: Goal) -> Game:
    table = np.asarray(reply_table(board))
    return make_game(table, np.arange(board.n_codes), len(board.true_replies), goal)


def classes_of(game: Game, guess: int, codes: list[int]) -> Counter[int]:
    return Counter(int(game.places[guess, code]) for code in codes)


@pytest.mark.parametrize("goal", Goal)
@given(data=st.data())
@settings(max_examples=examples(15))
def test_bounds_are_those_of_classes_counted_one_by_one(goal: Goal, data: st.DataObject) -> None:
    board = data.draw(st.sampled_from(BOARDS))
    game, every = game_of(board, goal), range(board.n_codes)
    codes = sorted(data.draw(st.sets(st.sampled_from(every), min_size=1)))
    n, reveals = len(codes), goal is Goal.REVEALING
    members = np.array(codes, dtype=np.int64)
    scanned, counted, ranks = (np.zeros(board.n_codes, dtype=np.int64) for _ in range(3))
    scan(game, make_work(game, 1), members, scanned)
    count_classes(game, members, counted, ranks)
    for guess in every:
        classes = classes_of(game, guess, codes)
        wins = classes.pop(game.winning, 0) if reveals else 0
        single = sum(size == 1 for size in classes.values())
        all_classes = len(classes) + (wins > 0)
        assert scanned[guess] == (3 * n - all_classes - (wins > 0) if reveals else 2 * n - single)
        bound = n + sum(int(game.tables[0, size]) for size in classes.values())
        assert counted[guess] == (INFINITE if n in classes.values() else bound)
        assert ranks[guess] == sum(int(game.tables[1, size]) for size in classes.values())
    parting = [code for code in codes if max(classes_of(game, code, codes).values()) == 1]
    assert parting_code(game, members) == (parting[0] if parting else -1)
