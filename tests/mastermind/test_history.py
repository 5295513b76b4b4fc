"""Histories as text."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.mastermind import Board, Reply, Turn, format_history, parse_history
from tests.mastermind.generators import boards, histories

FOUR_SIX = Board(4, 6)
TURNS = (Turn((1, 1, 2, 3), Reply(1, 1)), Turn((2, 3, 4, 5), Reply(0, 2)))


@pytest.mark.parametrize(
    "text",
    [
        "1123 1b1w, 2345 0b2w",
        "1123 1b1w; 2345 0b2w;",
        " 1123   1B1W ,2345 0b2w, ",
        "AABC 1b1w, bcde 0b2w",
        "1 1 2 3 1b1w; 2 3 4 5 0b2w",
        "1123 11, 2345 02",
        "1123 1 1; 2345 0 2",
        "1123 1 1, 2345 0 2",
        "1123 1,1; 2345 0,2",
        "1123 1,1, 2345 0,2",
        "1,1,2,3 1,1, B,C,D,E 0b 2w",
        "1 1 2 3 1 b 1 w, 2, 3, 4, 5 02",
    ],
)
def test_ways_to_write_a_history(text: str) -> None:
    assert parse_history(FOUR_SIX, text) == TURNS


def test_rows_may_be_lines_and_bulls_and_cows() -> None:
    board = Board(4, 10, repeats=False)
    expected = parse_history(board, "1230 1b1w, 5678 0b2w")
    assert parse_history(board, "1230 1A1B\n5678 0a2b,\n\n") == expected
    assert parse_history(board, "1230 1A1B, 5678 0A2B") == expected
    assert parse_history(board, "1230: 1b1w, 5678 = 0b2w") == expected


def test_separated_numbers() -> None:
    turns = parse_history(Board(4, 12), "1 1 12 3 1b1w, 10 11 12 1 0b0w")
    assert [turn.guess for turn in turns] == [(1, 1, 12, 3), (10, 11, 12, 1)]


@pytest.mark.parametrize("text", ["", "  "])
def test_no_turns(text: str) -> None:
    assert parse_history(FOUR_SIX, text) == ()


def _spellings(reply: Reply, pegs: int) -> list[str]:
    black, white = reply
    short = [f"{black}{white}"] if pegs < 10 else []
    return [f"{black}b{white}w", f"{black}B {white}W", f"{black} {white}", *short]


@given(st.data(), boards(max_codes=10**9))
def test_every_spelling_of_codes_and_replies_is_read(data: st.DataObject, board: Board) -> None:
    turns = data.draw(histories(board))
    entries = []
    for turn in turns:
        separated = " ".join(map(str, turn.guess))
        guess = data.draw(st.sampled_from([board.format(turn.guess), separated]))
        reply = data.draw(st.sampled_from(_spellings(turn.reply, board.pegs)))
        assert Reply.parse(reply, pegs=board.pegs) == turn.reply
        assert board.parse(guess) == turn.guess
        entries.append(f"{guess} {reply}")
    assert parse_history(board, ", ".join(entries)) == turns
    commas = [re.sub(r"\s+(?=[0-9])", ",", entry) for entry in entries]
    assert parse_history(board, "; ".join(commas)) == turns


@given(st.data(), boards(max_codes=10**9))
def test_text_of_a_history_reads_back(data: st.DataObject, board: Board) -> None:
    turns = data.draw(histories(board))
    assert parse_history(board, format_history(board, turns)) == turns


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1123", "like 1111 1b0w, in entry 1 of the history, got '1123'"),
        (" ; ", "in entry 1 of the history, got ''"),
        ("1b1w", "in entry 1 of the history, got '1b1w'"),
        ("1123 1", "in entry 1 of the history, got '1123 1'"),
        ("1123 111", "in entry 1 of the history, got '1123 111'"),
        ("1123 59", "entry 1 of the history: expected at most 4 black"),
        ("1123 11, 2345", "in entry 2 of the history, got '2345'"),
        ("1123 11, 2, 2345 02", "in entry 2 of the history, got '2'"),
        ("1123 1b1w 2345 0b2w", "entry 1 of the history: expected a comma between rows, like 1111"),
        ("1123 1b1w,, 2345 0b2w", "in entry 2 of the history, got ''"),
        ("1123 1b1w, 2347 0b2w", "entry 2 of the history: expected colors 1 to 6, got 7"),
        ("1123 9b0w", "entry 1 of the history: expected at most 4 black"),
        ("112 1b1w", "entry 1 of the history: expected a code of 4 pegs, got 3 pegs"),
    ],
)
def test_text_that_is_no_history(text: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_history(FOUR_SIX, text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("guess", [(1.9, 2.9), (0, 1), (), 3, "12", None, (True, 1), (1, "2")])
def test_a_turn_has_a_guess_of_colors(guess: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"expected (a guess as colors|colors from 1)"):
        Turn(guess, Reply(1, 0))


def test_a_turn_keeps_plain_integers() -> None:
    turn = Turn([np.int64(1), 2], (1, 0))  # type: ignore[arg-type]
    assert turn == Turn((1, 2), Reply(1, 0))
    assert [type(color) for color in turn.guess] == [int, int]
    assert type(turn.reply) is Reply
    with pytest.raises(InvalidArgumentError):
        Turn((1, 2), "1b0w")  # type: ignore[arg-type]
