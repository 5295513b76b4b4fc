"""Tables of replies and masses: all ways give the sums by definition."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats, information
from bnmind.mastermind import (
    MAX_CODES,
    Board,
    Channel,
    ExactBelief,
    Method,
    TableBelief,
    VanishingBelief,
    plan_masses,
    replies_to,
    reply,
    reply_masses,
    reply_table,
)
from bnmind.mastermind.color_elimination import elimination_additions, least_additions
from bnmind.mastermind.masses import bayes_rule, guess_masses
from bnmind.mastermind.peg_counts import Halves, blocks_of, masses_by_pairs, split_replies
from bnmind.strategies import Entropy
from tests.mastermind.generators import boards, code_weights, codes
from tests.modes import examples

# --- Replies to one guess, the table, and masses: against the reply of one pair at a time ---------


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


# --- Replies by halves: against the reply of one pair at a time, and against bincount -------------


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


# --- The ways to compute the masses of all guesses, and the choice among them ---------------------


BOARDS = [Board(2, 3), Board(3, 4), Board(4, 3), Board(4, 4), Board(3, 5, repeats=False)]


def played(board: Board, belief: ExactBelief, turns: int, seed: int) -> ExactBelief:
    """Return the belief after truthful replies to random guesses, the secret left out."""
    rng = np.random.default_rng(seed)
    secret = board.code(int(rng.integers(board.n_codes)))
    while len(belief.history) < turns:
        guess = board.code(int(rng.integers(board.n_codes)))
        if guess != secret:
            belief = belief.update(guess, reply(guess, secret))
    return belief


@settings(max_examples=examples(60))
@given(st.sampled_from(BOARDS), st.booleans(), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_all_methods_say_the_same(board: Board, noisy: bool, turns: int, seed: int) -> None:
    start: ExactBelief = VanishingBelief.start(board)
    if noisy:
        start = TableBelief.start(Channel.false_reply(board, 0.2).revealed())
    belief = played(board, start, turns, seed)
    q = belief.codes.probabilities
    brute = plan_masses(board, q, method=Method.BRUTE_FORCE).run(q)
    fast = plan_masses(board, q, method=Method.ELIMINATION).run(q)
    np.testing.assert_allclose(fast, brute, rtol=0, atol=1e-12)
    # Representatives stand for guesses that promise as much.
    if turns < 2:
        plan = plan_masses(board, q, history=belief.history, method=Method.REPRESENTATIVES)
        assert plan.sizes.sum() == board.n_codes
        np.testing.assert_allclose(plan.run(q), brute[plan.guesses], rtol=0, atol=1e-12)
        matrix = belief.channel.matrix
        every, some = information(brute, matrix), information(plan.run(q), matrix)
        assert every.max() == pytest.approx(some.max(), abs=1e-12)
        np.testing.assert_allclose(
            np.sort(np.repeat(some, plan.sizes)), np.sort(every), rtol=0, atol=1e-12
        )


@settings(max_examples=examples(30))
@given(st.sampled_from(BOARDS), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_the_choice_does_not_depend_on_the_method(board: Board, turns: int, seed: int) -> None:
    belief = played(
        board, TableBelief.start(Channel.false_reply(board, 0.2).revealed()), turns, seed
    )
    guess, info = Entropy().choose(belief, np.random.default_rng(0))
    q = belief.codes.probabilities
    scores = information(
        plan_masses(board, q, method=Method.BRUTE_FORCE).run(q), belief.channel.matrix
    )
    tied = np.flatnonzero(scores >= scores.max() - 1e-9)
    likely = tied[q[tied] >= q[tied].max() * (1 - 1e-9)]
    assert guess == likely[0]
    assert info.tied == len(tied)


def test_representatives_need_an_invariant_belief() -> None:
    board = Board(3, 4)
    rng = np.random.default_rng(0)
    prior = rng.dirichlet(np.ones(board.n_codes))
    with pytest.raises(TooLargeError):
        plan_masses(board, prior, method=Method.REPRESENTATIVES)
    assert plan_masses(board, prior).method is not Method.REPRESENTATIVES
    belief = TableBelief.start(Channel.false_reply(board, 0.2), prior).update(
        (1, 1, 2), reply((1, 1, 2), (3, 1, 1))
    )
    q = belief.codes.probabilities
    assert plan_masses(board, q, history=belief.history).method is not Method.REPRESENTATIVES


def test_the_cheapest_method_is_chosen() -> None:
    board = Board(4, 6)
    uniform = np.full(1296, 1 / 1296)
    first = plan_masses(board, uniform)
    assert (first.method, len(first.guesses), first.operations) == (Method.REPRESENTATIVES, 5, 6480)
    dense = np.random.default_rng(1).dirichlet(np.ones(1296))
    assert plan_masses(board, dense).method is Method.ELIMINATION
    sparse = np.zeros(1296)
    sparse[:20] = 0.05
    plan = plan_masses(board, sparse)
    assert (plan.method, plan.operations, plan.survivors) == (Method.BRUTE_FORCE, 20 * 1296, 20)
    assert "* brute force over the codes that have belief: 25,920 operations" in str(plan)
    assert plan.actual_operations == plan.operations
    full = plan_masses(board, dense)
    assert full.actual_operations >= full.operations == full.way.operations


def test_the_second_guess_of_the_entropy_line() -> None:
    # DESIGN: 57 at 4x6, 579 at 5x8.
    for board, count in ((Board(4, 6), 57), (Board(5, 8), 579)):
        belief: ExactBelief = TableBelief.start(Channel.false_reply(board, 0.2).revealed())
        guess, _ = Entropy().choose(belief, np.random.default_rng(0))
        belief = played_once(belief, guess)
        q = belief.codes.probabilities
        plan = plan_masses(board, q, history=belief.history, method=Method.REPRESENTATIVES)
        assert len(plan.guesses) == count


def played_once(belief: ExactBelief, guess: int) -> ExactBelief:
    code = belief.board.code(guess)
    return belief.update(code, belief.board.true_replies[2])


@settings(max_examples=examples(30))
@given(st.sampled_from(BOARDS), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_a_single_guess_needs_no_compiled_code(board: Board, turns: int, seed: int) -> None:
    belief = played(
        board, TableBelief.start(Channel.false_reply(board, 0.2).revealed()), turns, seed
    )
    q = belief.codes.probabilities
    plan = plan_masses(board, q, history=belief.history, once=True)
    assert not plan.way.compiled
    expected = plan_masses(board, q, method=Method.BRUTE_FORCE).run(q)[plan.guesses]
    np.testing.assert_allclose(plan.run(q), expected, rtol=0, atol=1e-14)
    assert (
        Entropy(once=True).choose(belief, np.random.default_rng(0))[0]
        == (Entropy().choose(belief, np.random.default_rng(0))[0])
    )


def test_error_for_large_boards_names_the_needed_memory() -> None:
    board = Board(8, 7)
    belief = np.zeros(board.n_codes)
    belief[::20] = 1.0
    with pytest.raises(TooLargeError, match=r"would need .* GB .* pairs of guess") as caught:
        plan_masses(board, belief)
    assert caught.value.needed > caught.value.budget
    with pytest.raises(TooLargeError):
        plan_masses(board, belief, method=Method.ELIMINATION)


def test_boards_that_need_too_many_additions_are_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To count the additions exactly, half a minute of index maps would be built."""
    board = Board(7, 9)
    for name in ("elimination_additions", "elimination_maps"):
        monkeypatch.setattr(f"bnmind.mastermind.color_elimination.{name}", None, raising=False)
        monkeypatch.setattr(f"bnmind.mastermind.masses.{name}", None, raising=False)
    belief = np.full(board.n_codes, 1 / board.n_codes)
    with pytest.raises(TooLargeError, match="additions, and brute force") as caught:
        plan_masses(board, belief, every_guess=True)
    assert caught.value.needed > caught.value.budget


@pytest.mark.parametrize(
    "board", [Board(4, 2), Board(8, 2), Board(10, 2), Board(3, 4), Board(7, 3)]
)
def test_brute_force_is_chosen_where_colors_are_few(board: Board) -> None:
    """Index maps cost more than they save there, and at 10x2 took 13 seconds to build."""
    plan = plan_masses(board, np.full(board.n_codes, 1 / board.n_codes), every_guess=True)
    assert plan.method is Method.BRUTE_FORCE
    assert all(way.method is Method.BRUTE_FORCE for way in plan.considered)


@pytest.mark.parametrize("board", [Board(4, 6), Board(5, 8), Board(3, 8), Board(6, 6)])
def test_elimination_is_chosen_where_colors_are_many(board: Board) -> None:
    plan = plan_masses(board, np.full(board.n_codes, 1 / board.n_codes), every_guess=True)
    assert plan.method is Method.ELIMINATION


@pytest.mark.parametrize("board", [*BOARDS, Board(4, 6), Board(6, 2), Board(5, 8)])
def test_least_additions_bounds_the_additions_from_below(board: Board) -> None:
    assert 0 < least_additions(board) <= elimination_additions(board, padded=True)


# --- Brute force without a table: the same sums, in the same order, as bincount makes -------------


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
def test_masses_of_odd_boards(board: Board) -> None:
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
