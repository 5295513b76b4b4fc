"""Replies, boards and histories."""

from __future__ import annotations

import copy
import itertools
import pickle
import re
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind import MAX_CODES, Board, Reply, Turn, format_history, parse_history, reply
from bnmind.mastermind.board import MAX_LISTED_CODES, digits_of, require_believable
from tests.mastermind.generators import boards, codes, histories

# --- Replies: Vomlel's equations, and replies as text ---------------------------------------------


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


# --- Boards: their codes, their true replies, and codes as text -----------------------------------


FOUR_SIX = Board(4, 6)


def brute_force_codes(board: Board) -> list[tuple[int, ...]]:
    palette = range(1, board.colors + 1)
    if board.repeats:
        return list(itertools.product(palette, repeat=board.pegs))
    return list(itertools.permutations(palette, board.pegs))


def brute_force_replies(board: Board) -> tuple[Reply, ...]:
    """All replies that occur; guesses that differ by names of colors count once."""
    everything = brute_force_codes(board)
    guesses = [
        guess
        for guess in everything
        if list(dict.fromkeys(guess)) == list(range(1, len(set(guess)) + 1))
    ]
    return tuple(sorted({reply(guess, code) for guess in guesses for code in everything}))


SMALL = [
    *(Board(n, k) for n in range(1, 8) for k in range(2, 8) if k**n <= 1300),
    *(Board(n, k, repeats=False) for n in range(1, 7) for k in range(max(n, 2), 8)),
]


@pytest.mark.parametrize("board", SMALL, ids=str)
def test_true_replies_are_those_that_occur(board: Board) -> None:
    assert brute_force_replies(board) == board.true_replies


@pytest.mark.parametrize(
    ("board", "n_codes", "n_replies"),
    [
        (Board(4, 6), 1296, 14),
        (Board(5, 8), 32768, 20),
        (Board(2, 2), 4, 4),
        (Board(1, 2), 2, 2),
        (Board(4, 6, repeats=False), 360, 11),
        (Board(4, 10, repeats=False), 5040, 14),
        (Board(3, 3, repeats=False), 6, 3),
        (Board(10, 12), 61_917_364_224, 65),
    ],
    ids=str,
)
def test_sizes(board: Board, n_codes: int, n_replies: int) -> None:
    assert (board.n_codes, len(board.true_replies)) == (n_codes, n_replies)


@given(boards(max_codes=10**9))
def test_the_winning_reply_comes_last(board: Board) -> None:
    assert board.true_replies[-1] == board.winning == Reply(board.pegs, 0)
    assert list(board.true_replies) == sorted(set(board.true_replies))


@given(boards(max_codes=700))
def test_codes_are_all_codes_in_lexicographic_order(board: Board) -> None:
    assert board.codes.tolist() == [list(code) for code in brute_force_codes(board)]
    assert board.codes.dtype == np.uint8
    assert board.codes is board.codes
    with pytest.raises(ValueError, match="read-only"):
        board.codes[0, 0] = 1


@given(st.data(), boards(max_codes=10**9))
def test_index_and_code_are_inverse(data: st.DataObject, board: Board) -> None:
    index = data.draw(st.integers(0, board.n_codes - 1))
    assert board.index(board.code(index)) == index
    if board.n_codes <= 1296:
        assert board.code(index) == tuple(board.codes[index].tolist())
        assert board.index(board.codes[index].tolist()) == index


@given(st.data(), boards(max_codes=10**9))
def test_format_and_parse_are_inverse(data: st.DataObject, board: Board) -> None:
    code = data.draw(codes(board))
    text = board.format(code)
    assert board.parse(text) == code
    assert board.parse(f"  {text} ") == code
    assert board.parse(" ".join(str(color) for color in code)) == code
    letters = "".join(chr(ord("A") + color - 1) for color in code)
    assert board.parse(letters) == board.parse(letters.lower()) == code


@pytest.mark.parametrize(
    ("board", "text", "code"),
    [
        (FOUR_SIX, "1123", (1, 1, 2, 3)),
        (FOUR_SIX, "AABC", (1, 1, 2, 3)),
        (FOUR_SIX, "a b C f", (1, 2, 3, 6)),
        (FOUR_SIX, "1,1, 2,3", (1, 1, 2, 3)),
        (Board(4, 12), "1 1 12 3", (1, 1, 12, 3)),
        (Board(4, 12), "AALC", (1, 1, 12, 3)),
        (Board(1, 12), "12", (12,)),
        (Board(1, 12), "l", (12,)),
        (Board(2, 26), "YZ", (25, 26)),
        (Board(2, 30), "30 1", (30, 1)),
        (Board(4, 10), "0567", (10, 5, 6, 7)),
        (Board(4, 10), "0 5 6 7", (10, 5, 6, 7)),
        (Board(4, 10), "10,5,6,7", (10, 5, 6, 7)),
        (Board(2, 10), "10", (1, 10)),
        (Board(1, 10), "10", (10,)),
        (Board(1, 10), "0", (10,)),
    ],
)
def test_parse(board: Board, text: str, code: tuple[int, ...]) -> None:
    assert board.parse(text) == code


def test_format() -> None:
    assert FOUR_SIX.format((1, 1, 2, 3)) == "1123"
    assert Board(4, 12).format((1, 1, 12, 3)) == "1 1 12 3"
    assert Board(4, 10, repeats=False).format((10, 5, 6, 7)) == "0567"
    assert Board(2, 9).format(np.array([9, 1], dtype=np.uint8).tolist()) == "91"


@pytest.mark.parametrize(
    ("board", "text", "message"),
    [
        (FOUR_SIX, "", "expected a code of 4 pegs, got 0 pegs in ''"),
        (FOUR_SIX, "112", "expected a code of 4 pegs, got 3 pegs in '112'"),
        (FOUR_SIX, "11 23", "expected a code of 4 pegs, got 2 pegs; expected colors 1 to 6"),
        (FOUR_SIX, "0123", "expected colors 1 to 6, got 0 in '0123'"),
        (FOUR_SIX, "1127", "expected colors 1 to 6, got 7 in '1127'"),
        (FOUR_SIX, "AABG", "expected colors A to F, got G in 'AABG'"),
        (FOUR_SIX, "zzzz", "expected colors A to F, got Z in 'zzzz'"),
        (FOUR_SIX, "1-23", "expected a code like 1122, got '1-23'"),
        (FOUR_SIX, "11AB", "expected a code like 1122, got '11AB'"),
        (FOUR_SIX, "1 A 2 3", "expected a code like 1122"),
        (FOUR_SIX, "¹¹²³", "expected a code like 1122"),
        (FOUR_SIX, "ıııı", "expected a code like 1122"),
        (FOUR_SIX, "-1 1 1 1", "expected a code like 1122"),
        (FOUR_SIX, "1123 " + "9" * 5000, "expected a code like 1122"),
        (Board(4, 12), "1123", "expected 4 letters or separated numbers on a board of 12 colors"),
        (Board(4, 11, repeats=False), "0123", "11 colors, like 1 2 3 11 or ABCK, got '0123'"),
        (Board(4, 10, repeats=False), "123", "expected a code of 4 pegs, got 3 pegs in '123'"),
        (Board(4, 12), "1 1 13 3", "expected colors 1 to 12, got 13"),
        (Board(3, 4, repeats=False), "121", "expected each color at most once in '121'"),
        (Board(2, 2, repeats=False), "0", "expected a code of 2 pegs"),
    ],
)
def test_text_that_is_no_code(board: Board, text: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        board.parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.value == text


@pytest.mark.parametrize("code", [(1, 1, 2), (0, 1, 1, 1), (1, 1, 1, 7), (1.5, 1, 1, 1), "1123"])
def test_invalid_codes_raise(code: tuple[int, ...]) -> None:
    for method in (FOUR_SIX.index, FOUR_SIX.format):
        with pytest.raises(InvalidArgumentError):
            method(code)


def test_a_number_is_no_code() -> None:
    with pytest.raises(InvalidArgumentError, match=r"such as \(1, 1, 1, 1\), got 7$"):
        FOUR_SIX.checked(7)  # type: ignore[arg-type]


@pytest.mark.parametrize("index", [-1, 1296])
def test_index_out_of_range(index: int) -> None:
    with pytest.raises(
        InvalidArgumentError, match=f"from 0 to 1,295 on the board 4x6, got {index}"
    ):
        FOUR_SIX.code(index)


@pytest.mark.parametrize(
    ("pegs", "colors", "repeats", "faults"),
    [
        (0, 6, True, ["expected pegs to be a whole number from 1 to 255, got 0"]),
        (-2, 6, True, ["pegs to be a whole number from 1 to 255, got -2"]),
        (4, 1, True, ["colors to be a whole number from 2 to 255, got 1"]),
        (0, 0, True, ["pegs to be", "colors to be", "255, got 0"]),
        (5, 4, False, ["expected at least as many colors as pegs", "got 5x4"]),
        (10**9, 10**9, True, ["255, got 1000000000; expected colors", "255, got 1000000000"]),
        (4.0, "6", True, ["from 1 to 255, got 4.0", "from 2 to 255, got '6'"]),
    ],
)
def test_impossible_boards(pegs: int, colors: int, repeats: bool, faults: list[str]) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        Board(pegs, colors, repeats=repeats)
    assert all(fault in str(caught.value) for fault in faults)


@pytest.mark.parametrize("board", [Board(8, 12), Board(10, 12), Board(255, 255)], ids=str)
def test_large_boards_are_cheap_until_listed(board: Board) -> None:
    started = time.perf_counter()
    large = Board(board.pegs, board.colors)
    assert large.index(large.code(large.n_codes - 1)) == large.n_codes - 1
    with pytest.raises(TooLargeError) as caught:
        _ = large.codes
    assert time.perf_counter() - started < 1
    assert (caught.value.needed, caught.value.budget) == (large.n_codes, MAX_LISTED_CODES)
    assert len(str(caught.value)) < 200


def test_errors_of_large_boards_name_the_needed_size() -> None:
    with pytest.raises(TooLargeError) as caught:
        _ = Board(10, 12).codes
    assert str(caught.value) == (
        "expected at most 67,108,864 codes to list, got 61,917,364,224 codes of the board 10x12, "
        "whose list would need 619.2 GB"
    )
    with pytest.raises(TooLargeError) as caught:
        require_believable(Board(10, 12))
    assert (caught.value.needed, caught.value.budget) == (61_917_364_224, MAX_CODES)
    assert str(caught.value) == (
        "expected at most 134,217,728 codes for a belief, got 61,917,364,224 codes of the board "
        "10x12: a belief and the next one would need 990.7 GB; a SampledBelief, and the strategies "
        "that use samples or only the history, need no list: entropy-sampled, map-sampled or "
        "genetic"
    )


def test_a_belief_may_be_over_more_codes_than_are_listed() -> None:
    require_believable(Board(8, 10))
    with pytest.raises(TooLargeError, match="codes to list, got 100,000,000 codes of the board 8x"):
        _ = Board(8, 10).codes
    # Without repeats replies are computed from the list.
    permutations = Board(8, 14, repeats=False)
    assert MAX_LISTED_CODES < permutations.n_codes < MAX_CODES
    with pytest.raises(TooLargeError, match="codes to list, got 121,080,960 codes of the board 8x"):
        require_believable(permutations)


@given(st.data(), boards(max_codes=700))
def test_digits_of_some_codes(data: st.DataObject, board: Board) -> None:
    some = data.draw(st.lists(st.integers(0, board.n_codes - 1), max_size=5))
    digits = digits_of(board, np.array(some, dtype=np.intp))
    assert [tuple(row) for row in digits.tolist()] == [board.code(i) for i in some]
    assert digits.dtype == np.uint8


def test_boards_are_values() -> None:
    assert Board(4, 6) == FOUR_SIX != Board(4, 6, repeats=False)
    assert hash(Board(4, 6)) == hash(FOUR_SIX)
    assert Board(int(np.int64(4)), 6) == Board(np.int64(4), 6) == FOUR_SIX  # type: ignore[arg-type]
    assert (str(FOUR_SIX), str(Board(4, 6, repeats=False))) == ("4x6", "4x6 without repeats")
    assert repr(FOUR_SIX) == "Board(pegs=4, colors=6, repeats=True)"
    _ = FOUR_SIX.codes
    for twin in (pickle.loads(pickle.dumps(FOUR_SIX)), copy.deepcopy(FOUR_SIX)):
        assert twin == FOUR_SIX
        assert not twin.codes.flags.writeable


# --- Histories as text ----------------------------------------------------------------------------


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
