"""Replies to one guess, the table, and masses: against the reply of one pair at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidCodeError, InvalidProbabilityError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind import Board, replies_to, reply, reply_masses, reply_table
from tests.strategies import boards, code_weights, codes


def readable_masses(board: Board, belief: Floats) -> Floats:
    """The twin of `reply_masses`."""
    return np.array(
        [
            np.bincount(row, weights=belief, minlength=len(board.true_replies))
            for row in reply_table(board)
        ]
    )


def readable_replies(board: Board, guess: tuple[int, ...]) -> list[int]:
    """The twin of `replies_to`."""
    return [board.true_replies.index(reply(guess, code)) for code in board.codes.tolist()]


@given(st.data(), boards())
def test_replies_to_one_guess(data: st.DataObject, board: Board) -> None:
    guess = data.draw(codes(board))
    got = replies_to(board, guess)
    assert got.dtype == np.uint8
    assert got.tolist() == readable_replies(board, guess)
    assert not got.flags.writeable


@pytest.mark.parametrize("board", [Board(5, 6), Board(12, 2), Board(4, 10, repeats=False)], ids=str)
def test_replies_to_one_guess_without_a_table(board: Board) -> None:
    for guess in (board.code(0), board.code(board.n_codes // 3)):
        assert replies_to(board, guess).tolist() == readable_replies(board, guess)


@settings(max_examples=15)
@given(boards(max_codes=300))
def test_table(board: Board) -> None:
    table = reply_table(board)
    assert table.tolist() == [readable_replies(board, board.code(g)) for g in range(board.n_codes)]
    assert np.array_equal(table, table.T)
    assert not table.flags.writeable


def test_table_of_the_classic_board() -> None:
    board = Board(4, 6)
    table = reply_table(board)
    assert table.shape == (1296, 1296)
    assert reply_table(Board(4, 6)) is table
    assert np.all(table.diagonal() == len(board.true_replies) - 1)
    # How many codes draw each reply to 1122, the opening of Knuth 1976, figure 1.
    counts = np.bincount(table[board.index((1, 1, 2, 2))], minlength=14)
    by_reply = dict(zip(map(str, board.true_replies), counts.tolist(), strict=True))
    assert by_reply == {
        "0b0w": 256,
        "0b1w": 256,
        "0b2w": 96,
        "0b3w": 16,
        "0b4w": 1,
        "1b0w": 256,
        "1b1w": 208,
        "1b2w": 36,
        "1b3w": 0,
        "2b0w": 114,
        "2b1w": 32,
        "2b2w": 4,
        "3b0w": 20,
        "4b0w": 1,
    }


@given(st.data(), boards())
def test_masses(data: st.DataObject, board: Board) -> None:
    belief = data.draw(code_weights(board))
    expected = readable_masses(board, belief)
    np.testing.assert_allclose(reply_masses(board, belief), expected, rtol=0, atol=1e-14)
    indices = st.integers(0, board.n_codes - 1)
    some = np.array(data.draw(st.lists(indices, max_size=9)), dtype=np.intp)
    got = reply_masses(board, belief, some)
    # A guess has the same masses to the last bit whatever else is asked.
    assert np.array_equal(got, reply_masses(board, belief)[some])
    assert got.shape == (len(some), len(board.true_replies))


def test_masses_without_a_table() -> None:
    board = Board(6, 6)
    rng = np.random.default_rng(7)
    belief = np.zeros(board.n_codes)
    belief[rng.integers(board.n_codes, size=500)] = 1 / 500
    guesses = rng.integers(board.n_codes, size=40)
    got = reply_masses(board, belief, guesses)
    for row, guess in zip(got, guesses.tolist(), strict=True):
        expected = np.bincount(replies_to(board, board.code(guess)), weights=belief, minlength=27)
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-14)


def test_too_large() -> None:
    with pytest.raises(TooLargeError, match=r"at most 2\.1 GB, got the board 6x9, .* 282\.4 GB"):
        reply_table(Board(6, 9))
    for call in (
        lambda: replies_to(Board(10, 12), (1,) * 10),
        lambda: reply_masses(Board(10, 12), np.ones(3)),
    ):
        with pytest.raises(TooLargeError, match="67,108,864 codes, got 61,917,364,224"):
            call()
    board = Board(6, 9)
    with pytest.raises(TooLargeError, match="282,429,536,481 on the board 6x9; ask for fewer"):
        reply_masses(board, np.full(board.n_codes, 1 / board.n_codes))


def test_bad_arguments() -> None:
    board = Board(4, 6)
    belief = np.full(1296, 1 / 1296)
    with pytest.raises(InvalidCodeError, match="got 3 pegs"):
        replies_to(board, (1, 1, 1))
    with pytest.raises(InvalidProbabilityError, match=r"1296 codes .* shape \(7,\)"):
        reply_masses(board, np.ones(7))
    for wrong in (-1, 1296):
        with pytest.raises(InvalidCodeError, match="expected indices of the 1296 codes"):
            reply_masses(board, belief, np.array([0, wrong]))


@pytest.mark.slow
def test_table_of_a_large_board() -> None:
    board = Board(5, 8)
    table = reply_table(board)
    rng = np.random.default_rng(5)
    for g, c in rng.integers(board.n_codes, size=(300, 2)).tolist():
        assert board.true_replies[table[g, c]] == reply(board.code(g), board.code(c))
