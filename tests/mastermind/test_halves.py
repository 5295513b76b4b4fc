"""Replies by halves: against the reply of one pair at a time, and against bincount."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.mastermind import MAX_CODES, Board, reply
from bnmind.mastermind.peg_counts import Halves, blocks_of, split_replies
from tests.mastermind.generators import boards, codes

with_repeats = boards(max_codes=MAX_CODES).filter(lambda board: board.repeats)


def reply_of(halves: Halves, index: int) -> int:
    """The reply of one code, by the definition of the halves."""
    i, j = divmod(index, len(halves.low))
    return int(halves.table[halves.high[i], halves.low[j]])


@given(st.data(), with_repeats)
def test_replies_of_some_codes(data: st.DataObject, board: Board) -> None:
    guess = data.draw(codes(board))
    halves = split_replies(board, guess)
    assert len(halves.high) * len(halves.low) == board.n_codes
    for code in (guess, *data.draw(st.lists(codes(board), max_size=20))):
        expected = board.true_replies.index(reply(guess, code))
        assert reply_of(halves, board.index(code)) == expected


@given(st.data(), boards().filter(lambda board: board.repeats))
def test_replies_of_all_codes(data: st.DataObject, board: Board) -> None:
    guess = data.draw(codes(board))
    replies = split_replies(board, guess).replies()
    expected = [board.true_replies.index(reply(guess, board.code(i))) for i in range(board.n_codes)]
    assert replies.tolist() == expected
    assert replies.dtype == np.uint8


@pytest.mark.parametrize(
    "board", [Board(1, 255), Board(2, 255), Board(3, 255), Board(26, 2), Board(9, 7)], ids=str
)
def test_odd_boards(board: Board) -> None:
    rng = np.random.default_rng(3)
    for index in rng.integers(board.n_codes, size=3).tolist():
        guess = board.code(index)
        halves = split_replies(board, guess)
        assert board.true_replies[reply_of(halves, index)] == board.winning
        for other in rng.integers(board.n_codes, size=300).tolist():
            true = board.true_replies[reply_of(halves, other)]
            assert true == reply(guess, board.code(other))


@pytest.mark.parametrize(
    "board",
    [
        *(Board(1, 2), Board(2, 3), Board(4, 6), Board(5, 8)),
        pytest.param(Board(7, 7), marks=pytest.mark.compiled),
        pytest.param(Board(3, 150), marks=pytest.mark.compiled),
    ],
    ids=str,
)
def test_masses_and_weights(board: Board) -> None:
    rng = np.random.default_rng(4)
    belief = rng.dirichlet(np.full(board.n_codes, 0.3))
    guess = board.code(board.n_codes // 3)
    halves = split_replies(board, guess)
    replies, n_replies = halves.replies(), len(board.true_replies)
    expected = np.bincount(replies, weights=belief, minlength=n_replies)
    masses = halves.masses(belief)
    np.testing.assert_allclose(masses, expected, rtol=0, atol=1e-14)
    factors = rng.random(n_replies)
    weighted = halves.weighted(belief, factors)
    assert np.array_equal(weighted, belief * factors[replies])
    for threads in (2, 3):
        assert np.array_equal(halves.masses(belief, threads=threads), masses)
        assert np.array_equal(halves.weighted(belief, factors, threads=threads), weighted)
    # Neither the array's layout nor whether it may be written to matters.
    spread = np.zeros(2 * board.n_codes)
    spread[::2] = belief
    assert np.array_equal(halves.masses(spread[::2]), masses)


@pytest.mark.parametrize("size", [1, 65536, 65537, 200_000])
def test_blocks_are_the_whole(size: int) -> None:
    numbers = np.arange(size, dtype=np.float64)
    assert np.array_equal(np.concatenate(list(blocks_of(numbers))), numbers)


HUNDRED_MILLION = """
import resource, sys, time
from bnmind.mastermind import Board, Channel, Reply, TableBelief, VanishingBelief, reply

board = Board(8, 10)
secret = board.parse("1 5 3 5 7 9 9 2")
turns = [(board.parse(text), answer) for text, answer in (
    ("1 1 2 2 3 3 4 4", Reply(1, 2)), ("1 5 6 7 8 9 10 2", Reply(4, 1)))]
started = time.perf_counter()
belief = START
for guess, heard in turns:
    belief = belief.update(guess, heard)
bits = belief.codes.entropy()
ten = belief.codes.most_probable(10)
marginals = belief.codes.marginals()
doubts = belief.misreport_probabilities()
possible = belief.codes.possible_codes()
seconds = time.perf_counter() - started
assert 0 < bits < 26.6, bits
assert [reply(guess, secret) for guess, _ in turns] == [heard for _, heard in turns]
assert len(ten) == 10 and len({p for _, p in ten}) == 1
for index, p in ten:
    assert [reply(guess, board.code(index)) for guess, _ in turns] == [heard for _, heard in turns]
assert belief.codes.probability(secret) == ten[0][1]
assert list(ten) == sorted(ten)
assert abs(marginals.sum(axis=1) - 1).max() < 1e-12
assert len(doubts) == 2 and max(doubts) < 1
CHECK
import re, pathlib
status = pathlib.Path("/proc/self/status")  # ru_maxrss may be that of the parent process
if status.exists():
    peak = int(re.findall(r"VmHWM:\\s+(\\d+) kB", status.read_text())[0])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
peak *= 1 if sys.platform == "darwin" else 1024
print(peak, seconds)
"""

TABLE = (
    "TableBelief.start(Channel.false_reply(board, 0.2))",
    "assert possible == board.n_codes - 2 and min(doubts) > 0",
)
VANISHING = (
    "VanishingBelief.start(board)",
    "assert doubts == (0.0, 0.0) and abs(2**bits / possible - 1) < 1e-9",
)


@pytest.mark.slow
@pytest.mark.parametrize(("start", "check"), [TABLE, VANISHING], ids=["table", "vanishing"])
def test_a_hundred_million_codes_within_four_gigabytes(start: str, check: str) -> None:
    pytest.importorskip("resource")
    script = HUNDRED_MILLION.replace("START", start).replace("CHECK", check)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    peak = int(done.stdout.split()[0])
    assert 0.8e9 < peak < 4e9
