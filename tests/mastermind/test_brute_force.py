"""Brute force without a table: the same sums, in the same order, as bincount makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.mastermind import Board, reply, reply_table
from bnmind.mastermind.peg_counts import masses_by_pairs
from tests.mastermind.generators import boards, code_weights


@given(st.data(), boards())
def test_sums_are_those_of_bincount(data: st.DataObject, board: Board) -> None:
    belief = data.draw(code_weights(board))
    codes = np.flatnonzero(belief)
    got = masses_by_pairs(board, None, codes, belief[codes])
    n_replies = len(board.true_replies)
    expected = [np.bincount(row, weights=belief, minlength=n_replies) for row in reply_table(board)]
    assert np.array_equal(got, expected)
    places = st.integers(0, board.n_codes - 1)
    some = np.array(data.draw(st.lists(places, max_size=9)), dtype=np.intp)
    assert np.array_equal(masses_by_pairs(board, some, codes, belief[codes]), got[some])


@pytest.mark.parametrize(
    "board",
    [Board(16, 2), Board(8, 10), Board(2, 255), Board(5, 20, repeats=False)],
    ids=str,
)
def test_odd_boards(board: Board) -> None:
    rng = np.random.default_rng(6)
    guesses, codes = rng.integers(board.n_codes, size=(2, 13))
    weights = rng.random(13)
    got = masses_by_pairs(board, guesses, codes, weights)
    expected = np.zeros_like(got)
    for row, guess in enumerate(guesses.tolist()):
        for code, weight in zip(codes.tolist(), weights.tolist(), strict=True):
            true = reply(board.code(guess), board.code(code))
            expected[row, board.true_replies.index(true)] += weight
    assert np.array_equal(got, expected)
