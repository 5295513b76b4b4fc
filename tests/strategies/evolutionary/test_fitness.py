"""Costs compared with the replies of the library, turn by turn."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.mastermind import Board, Turn, reply
from bnmind.strategies.genetic_operators import PLAYED, code_costs, replies_of
from tests.mastermind.generators import boards, codes, histories
from tests.modes import examples


def plain_cost(code: tuple[int, ...], history: tuple[Turn, ...], *, ends: bool) -> int:
    """Return the cost by its definition."""
    cost, was_played = 0, False
    for turn in history:
        black, white = reply(turn.guess, code)
        cost += abs(black - turn.reply.black) + abs(white - turn.reply.white)
        was_played |= ends and turn.guess == code
    return cost + PLAYED * was_played


@settings(max_examples=examples(60))
@given(st.data())
def test_the_cost_is_the_sum_over_all_turns(data: st.DataObject) -> None:
    board = data.draw(boards())
    history = data.draw(histories(board))
    listed = data.draw(st.lists(codes(board), min_size=1, max_size=5))
    ends = data.draw(st.booleans())
    arrays = replies_of(board, history, ends=ends)
    costs = code_costs(np.array(listed, dtype=np.uint8), arrays)
    assert costs.tolist() == [plain_cost(code, history, ends=ends) for code in listed]


def test_codes_of_cost_zero_agree_with_all_replies() -> None:
    board = Board(3, 5)
    history = [Turn(guess, reply(guess, (3, 1, 5))) for guess in ((1, 1, 2), (4, 1, 1))]
    costs = code_costs(board.codes, replies_of(board, history))
    possible = [
        all(reply(turn.guess, code) == turn.reply for turn in history)
        for code in map(board.code, range(board.n_codes))
    ]
    assert ((costs == 0) == possible).all()
