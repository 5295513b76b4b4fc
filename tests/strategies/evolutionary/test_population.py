"""Sets of codes, and chances of parents."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.mastermind import Board
from bnmind.mastermind.random_moves import seeded_state
from bnmind.strategies import Selection
from bnmind.strategies.genetic_operators import (
    add_code,
    all_choices,
    draw_parent,
    empty_keys,
    fill_distinct,
    selection_weights,
)
from tests.mastermind.generators import boards, codes
from tests.modes import examples


@settings(max_examples=examples(50))
@given(st.data())
def test_a_set_holds_each_code_once(data: st.DataObject) -> None:
    board = data.draw(boards())
    listed = data.draw(st.lists(codes(board), max_size=30))
    keys = empty_keys(30)
    added = [code for code in listed if add_code(keys, np.array(code, dtype=np.uint8))]
    assert added == list(dict.fromkeys(listed))


def test_random_populations_are_distinct_where_the_board_is_large() -> None:
    rows = np.zeros((150, 4), dtype=np.uint8)
    state = seeded_state(np.random.default_rng(0))
    fill_distinct(rows, 0, empty_keys(150), all_choices(Board(4, 6)), state)
    assert len({tuple(row) for row in rows.tolist()}) == 150


def test_parents_are_drawn_with_the_chances_of_the_selection() -> None:
    costs, top = np.array([6, 0, 3, 1], dtype=np.int64), 8
    expected = {
        Selection.UNIFORM: [0.25, 0.25, 0.25, 0.25],
        Selection.PROPORTIONAL: [2 / 22, 8 / 22, 5 / 22, 7 / 22],
        Selection.RANKED: [0.1, 0.4, 0.2, 0.3],
        Selection.BEST_HALF: [0.0, 0.5, 0.0, 0.5],
        Selection.INVERSE: list(np.array([1 / 7, 1, 1 / 4, 1 / 2]) / (1 / 7 + 1.75)),
    }
    for selection, chances in expected.items():
        weights = selection_weights(costs, selection.value, top)
        assert np.allclose(np.diff(weights, prepend=0) / weights[-1], chances)
        state = seeded_state(np.random.default_rng(1))
        drawn = np.bincount([draw_parent(weights, state) for _ in range(2000)], minlength=4)
        assert (np.abs(drawn / 2000 - chances) < 4 * np.sqrt(0.25 / 2000)).all()
