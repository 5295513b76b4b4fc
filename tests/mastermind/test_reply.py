"""Replies: Vomlel's equations, and replies as text."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.mastermind import Board, Reply, reply
from tests.mastermind.generators import boards, codes


def pegs_put_down(guess: tuple[int, ...], code: tuple[int, ...]) -> Reply:
    """The reply as people find it: cross out what is right, then look for the rest."""
    black = 0
    guess_left: list[int] = []
    code_left: list[int] = []
    for g, c in zip(guess, code, strict=True):
        if g == c:
            black += 1
        else:
            guess_left.append(g)
            code_left.append(c)
    white = 0
    for color in guess_left:
        if color in code_left:
            code_left.remove(color)
            white += 1
    return Reply(black, white)


@pytest.mark.parametrize(
    ("guess", "code", "expected"),
    [
        ((1, 1, 2, 3), (3, 1, 1, 1), "1b2w"),  # Vomlel, Example 1
        ((1, 1, 2, 2), (2, 2, 1, 1), "0b4w"),
        ((1, 1, 1, 2), (3, 3, 3, 1), "0b1w"),
        ((1, 2, 3, 4), (1, 2, 3, 4), "4b0w"),
        ((5, 5, 5, 5), (1, 2, 3, 4), "0b0w"),
    ],
)
def test_examples(guess: tuple[int, ...], code: tuple[int, ...], expected: str) -> None:
    assert str(reply(guess, code)) == expected


@given(st.data(), boards())
def test_replies_are_true_symmetric_and_blind_to_names(data: st.DataObject, board: Board) -> None:
    guess, code = data.draw(codes(board)), data.draw(codes(board))
    got = reply(guess, code)
    assert got == pegs_put_down(guess, code) == reply(code, guess)
    assert got in board.true_replies
    assert sum(got) == (Counter(guess) & Counter(code)).total()
    assert (got == board.winning) == (guess == code)
    renamed = data.draw(st.permutations(range(1, board.colors + 1)))
    moved = data.draw(st.permutations(range(board.pegs)))
    other = [tuple(renamed[colors[p] - 1] for p in moved) for colors in (guess, code)]
    assert reply(other[0], other[1]) == got


def test_reply_needs_equal_lengths() -> None:
    with pytest.raises(InvalidArgumentError, match="got 4 and 3 pegs"):
        reply((1, 1, 2, 3), (1, 1, 2))


@given(st.integers(0, 30), st.integers(0, 30))
def test_text_of_a_reply_reads_back(black: int, white: int) -> None:
    wanted = Reply(black, white)
    forms = [str(wanted), str(wanted).upper(), f" {black}b {white}w ", f"{black} {white}"]
    forms += [f"{black},{white}", f"{black} , {white}"]
    assert {Reply.parse(form, pegs=30) for form in forms} == {wanted}


def test_bulls_and_cows_are_black_and_white_pegs() -> None:
    assert Reply.parse("1A2B", pegs=4) == Reply.parse("1 a 2 b", pegs=4) == Reply(1, 2)


def test_two_digits_need_fewer_than_ten_pegs() -> None:
    assert Reply.parse("12", pegs=9) == Reply(1, 2)
    with pytest.raises(
        InvalidArgumentError, match="expected a reply like 1b2w, 1 2 or 1,2; got '12'"
    ):
        Reply.parse("12", pegs=10)


@pytest.mark.parametrize(
    "text", ["", "1", "123", "1b", "b1w", "1w2b", "1b2", "1-2", "one", "-1b2w", "1,,2", "¹b²w"]
)
def test_text_that_is_no_reply(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="expected a reply like 1b2w, 1 2 or 1,2, 12;"):
        Reply.parse(text, pegs=4)


@pytest.mark.parametrize("text", ["9b0w", "5 0", "0,5", "05", "50"])
def test_replies_that_no_board_of_four_pegs_has(text: str) -> None:
    with pytest.raises(InvalidArgumentError, match="at most 4 black and at most 4 white"):
        Reply.parse(text, pegs=4)


def test_reports_may_sum_to_more_than_the_pegs() -> None:
    # Vomlel's 25 reports at four pegs: P' and C' are reported independently.
    assert Reply.parse("3b3w", pegs=4) == Reply(3, 3)


@pytest.mark.parametrize("counts", [(-1, 0), (0, -1), (1.0, 0), ("1", "0"), (True, 0), (None, 0)])
def test_a_reply_counts_pegs(counts: Any) -> None:
    with pytest.raises(InvalidArgumentError):
        Reply(*counts)


def test_counts_of_numpy_become_plain_integers() -> None:
    found = Reply(np.int64(1), np.uint8(2))  # type: ignore[arg-type]
    assert found == Reply(1, 2)
    assert [type(count) for count in found] == [int, int]


@pytest.mark.parametrize("given", [3, None, "10", (1, 2, 3), [1.9, 0], {1: 0}])
def test_invalid_replies_raise(given: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="expected a"):
        Reply.of(given)
