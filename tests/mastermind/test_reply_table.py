"""Replies to one guess, the table, and masses: against the reply of one pair at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind import (
    Board,
    Channel,
    guess_masses,
    replies_to,
    reply,
    reply_masses,
    reply_table,
)
from bnmind.mastermind.masses import bayes_rule
from tests.mastermind.generators import boards, code_weights, codes
from tests.modes import examples


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


@settings(max_examples=examples(15))
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


@pytest.mark.compiled
@pytest.mark.parametrize(
    "board", [Board(6, 6), Board(12, 2), Board(2, 60), Board(4, 10, repeats=False)], ids=str
)
@pytest.mark.parametrize("share", [0.01, 0.4, 0.9])
def test_masses_without_a_table(board: Board, share: float) -> None:
    rng = np.random.default_rng(7)
    belief = rng.random(board.n_codes) * (rng.random(board.n_codes) < share)
    belief /= belief.sum()
    guesses = rng.integers(board.n_codes, size=19)
    got = reply_masses(board, belief, guesses)
    n_replies = len(board.true_replies)
    for row, guess in zip(got, guesses.tolist(), strict=True):
        replies = readable_replies(board, board.code(guess)) if guess % 7 == 0 else None
        fast = replies_to(board, board.code(guess))
        assert replies is None or fast.tolist() == replies
        expected = np.bincount(fast, weights=belief, minlength=n_replies)
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-14)
        one = guess_masses(board, belief, board.code(guess))
        np.testing.assert_allclose(one, expected, rtol=0, atol=1e-14)
    # A guess has the same masses to the last bit whatever else is asked.
    assert np.array_equal(reply_masses(board, belief, guesses[5:6]), got[5:6])
    assert reply_masses(board, belief, guesses[:0]).shape == (0, n_replies)


def test_masses_of_all_guesses_without_a_table() -> None:
    board = Board(4, 8)
    rng = np.random.default_rng(8)
    belief = rng.random(board.n_codes) * (rng.random(board.n_codes) < 0.1)
    got = reply_masses(board, belief)
    np.testing.assert_allclose(got, readable_masses(board, belief), rtol=0, atol=1e-12)


@given(st.data(), boards(max_codes=8000))
def test_bayes_rule(data: st.DataObject, board: Board) -> None:
    belief = data.draw(code_weights(board))
    guess = data.draw(codes(board))
    likelihood = Channel.false_reply(board, 0.2).likelihood(
        data.draw(st.sampled_from(board.true_replies))
    )
    weights = belief * likelihood[replies_to(board, guess)]
    got = bayes_rule(board, belief, guess, likelihood)
    if weights.sum() == 0:
        assert got is None
        return
    assert got is not None
    assert not got.flags.writeable
    np.testing.assert_allclose(got, weights / weights.sum(), rtol=1e-14, atol=1e-15)
    masses = guess_masses(board, belief, guess)
    expected = np.bincount(replies_to(board, guess), belief, len(board.true_replies))
    np.testing.assert_allclose(masses, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("board", [Board(5, 8), Board(6, 6), Board(6, 9)], ids=str)
def test_bayes_rule_on_large_boards(board: Board) -> None:
    rng = np.random.default_rng(9)
    belief = rng.dirichlet(np.full(board.n_codes, 0.5))
    guess = board.code(int(rng.integers(board.n_codes)))
    likelihood = Channel.independent_error(board, 0.1).matrix[:, 8]
    weights = belief * likelihood[replies_to(board, guess)]
    got = bayes_rule(board, belief, guess, likelihood)
    assert got is not None
    np.testing.assert_allclose(got, weights / weights.sum(), rtol=1e-13, atol=1e-15)
    assert abs(float(got.sum()) - 1) < 1e-12
    # Once more, with a reply that nothing explains.
    assert bayes_rule(board, belief, guess, np.zeros(len(likelihood))) is None


def test_too_large() -> None:
    with pytest.raises(TooLargeError, match=r"at most 2\.1 GB, got the board 6x9, .* 282\.4 GB"):
        reply_table(Board(6, 9))
    for call in (
        lambda: replies_to(Board(10, 12), (1,) * 10),
        lambda: guess_masses(Board(10, 12), np.ones(3), (1,) * 10),
        lambda: bayes_rule(Board(10, 12), np.ones(3), (1,) * 10, np.ones(65)),
        lambda: reply_masses(Board(10, 12), np.ones(3)),
    ):
        with pytest.raises(TooLargeError, match=r"134,217,728 codes .*, got 61,917,364,224"):
            call()
    with pytest.raises(TooLargeError, match=r"at most 4\.3 GB, got 16,777,216 guesses .* 5\.9 GB"):
        reply_masses(Board(8, 8), np.ones(8**8))
    board = Board(6, 9)
    with pytest.raises(TooLargeError, match="282,429,536,481 on the board 6x9; ask for fewer"):
        reply_masses(board, np.full(board.n_codes, 1 / board.n_codes))


def test_bad_arguments() -> None:
    board = Board(4, 6)
    belief = np.full(1296, 1 / 1296)
    with pytest.raises(InvalidArgumentError, match="got 3 pegs"):
        replies_to(board, (1, 1, 1))
    for large in (Board(5, 8), Board(4, 10, repeats=False)):
        weights = np.full(large.n_codes, 1 / large.n_codes)
        for guess in ((1, 2, 3), (1, 2, 3, 4, 5, 6), (0, 1, 2, 3), (1, 2, 3, 11, 4)):
            with pytest.raises(InvalidArgumentError):
                replies_to(large, guess)
            with pytest.raises(InvalidArgumentError):
                guess_masses(large, weights, guess)
            with pytest.raises(InvalidArgumentError):
                bayes_rule(large, weights, guess, np.ones(len(large.true_replies)))
    with pytest.raises(InvalidArgumentError, match=r"1296 codes .* shape \(7,\)"):
        reply_masses(board, np.ones(7))
    for wrong in (-1, 1296):
        with pytest.raises(InvalidArgumentError, match="expected indices of the 1296 codes"):
            reply_masses(board, belief, np.array([0, wrong]))


@pytest.mark.slow
def test_table_of_a_large_board() -> None:
    board = Board(5, 8)
    table = reply_table(board)
    rng = np.random.default_rng(5)
    for g, c in rng.integers(board.n_codes, size=(300, 2)).tolist():
        assert board.true_replies[table[g, c]] == reply(board.code(g), board.code(c))
