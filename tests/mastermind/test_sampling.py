"""The parts of the sampler, each against a slow and obvious twin."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError
from bnmind.mastermind import (
    Board,
    Channel,
    Reply,
    SamplerOptions,
    Turn,
    VanishingBelief,
    parse_prior,
    reply,
)
from bnmind.mastermind.consistent import (
    distinct_codes,
    list_consistent_codes,
    list_possible_codes,
    list_ways,
)
from bnmind.mastermind.random_moves import masses_of_samples, seeded_state
from bnmind.mastermind.sampled_belief import log_sum_of_weights, start_of
from bnmind.mastermind.sampling import (
    SHARP,
    Replies,
    _resampled,
    effective_islands,
    factor_logs,
    island_shares,
    jackknife_error,
    joint_error,
    joint_estimate,
    log_mean,
    restart,
    turn_arrays,
    turn_target,
    walk,
)
from tests.mastermind.generators import boards, codes, histories
from tests.modes import UNCOMPILED, examples

N_WALKS = 300 if UNCOMPILED else 20_000


@given(st.data())
@settings(max_examples=examples(25))
def test_masses_of_samples_are_sums_over_codes(data: st.DataObject) -> None:
    board = data.draw(boards())
    guesses = data.draw(st.lists(codes(board), min_size=1, max_size=4))
    some = data.draw(st.lists(codes(board), min_size=1, max_size=30))
    weights = np.random.default_rng(len(some)).random(len(some))
    masses = masses_of_samples(
        board, np.array(guesses, dtype=np.uint8), np.array(some, dtype=np.uint8), weights
    )
    slow = np.zeros((len(guesses), len(board.true_replies)))
    for g, guess in enumerate(guesses):
        for code, weight in zip(some, weights, strict=True):
            slow[g, board.true_replies.index(reply(guess, code))] += weight
    assert masses == pytest.approx(slow, abs=1e-12)


@given(st.data())
@settings(max_examples=examples(40))
def test_listed_codes_are_those_that_contradict_the_fewest_replies(data: st.DataObject) -> None:
    board = data.draw(boards(200))
    history = data.draw(histories(board))
    ends = data.draw(st.booleans())
    slow = VanishingBelief.start(board, ends=ends)
    for turn in history:
        if turn.reply not in board.true_replies or (ends and turn.reply == board.winning):
            return
        try:
            slow = slow.update(turn.guess, turn.reply)
        except ImpossibleEvidenceError:  # all codes of a tiny board were guessed
            return
    listed = list_possible_codes(board, history, None, ends=ends)
    if listed is None:
        assert slow.contradictions > 2
        return
    assert listed.contradictions == slow.contradictions
    possible = [board.code(int(i)) for i in np.flatnonzero(slow.codes.probabilities)]
    assert [tuple(code) for code in listed.codes.tolist()] == possible
    assert listed.probabilities == pytest.approx(np.full(len(possible), 1 / len(possible)))


@given(st.data())
@settings(max_examples=examples(60))
def test_all_consistent_codes_are_listed_or_none(data: st.DataObject) -> None:
    board = data.draw(boards(200))
    history = data.draw(histories(board))
    slow = [
        code
        for code in map(board.code, range(board.n_codes))
        if all(reply(turn.guess, code) == turn.reply for turn in history)
    ]
    listed = list_consistent_codes(board, history, most=50, max_nodes=10**6)
    if listed is None:
        assert len(slow) > 50
    else:
        assert [tuple(code) for code in listed.tolist()] == slow


def test_a_search_that_takes_too_long_lists_nothing() -> None:
    assert list_consistent_codes(Board(4, 6), [], most=2000, max_nodes=100) is None


def test_codes_of_weight_zero_are_not_possible() -> None:
    board, turn = Board(3, 3), Turn((1, 1, 2), Reply(1, 1))
    agree = [list(code) for code in map(board.code, range(27)) if reply((1, 1, 2), code) == (1, 1)]

    def others(
        codes: np.ndarray[tuple[int, ...], np.dtype[np.uint8]],
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.array([-math.inf if code in agree else 0.0 for code in codes.tolist()])

    listed = list_possible_codes(board, [turn], others, ends=False)
    assert listed is not None
    assert listed.contradictions == 1
    assert len(listed.codes) == 27 - len(agree)
    assert (
        list_possible_codes(board, [], lambda codes: others(codes) - math.inf, ends=False) is None
    )


@given(st.data())
@settings(max_examples=examples(25))
def test_numbers_of_each_color_are_those_of_the_codes(data: st.DataObject) -> None:
    board = data.draw(boards(200))
    turns = [turn for turn in data.draw(histories(board)) if turn.reply in board.true_replies]
    if not turns:
        return
    _, _, both, standing = turn_arrays(board, turns)
    slow = {
        tuple(Counter(code)[color] for color in range(1, board.colors + 1))
        for code in map(board.code, range(board.n_codes))
        if all(sum(reply(turn.guess, code)) == sum(turn.reply) for turn in turns)
    }
    most = board.pegs if board.repeats else 1
    ways, are_all = list_ways(standing, both, board.pegs, most, len(slow))
    assert are_all
    assert sorted(map(tuple, ways[:, 1:].tolist())) == sorted(slow)
    if slow:
        ways, are_all = list_ways(standing, both, board.pegs, most, len(slow) - 1)
        assert (len(ways), are_all) == (0, False)


@given(st.lists(st.floats(0.01, 1), min_size=6, max_size=6), st.integers(0, 99))
@settings(max_examples=examples(40))
def test_codes_are_drawn_again_as_often_as_their_weight_says(some: list[float], seed: int) -> None:
    plain = np.array(some).reshape(2, 3)
    plain /= plain.sum(axis=1, keepdims=True)
    places = _resampled(np.log(plain), np.random.default_rng(seed))
    if (1 / (plain**2).sum(axis=1)).min() >= 0.9 * 3:
        assert places is None
        return
    assert places is not None
    counts = np.bincount(places, minlength=6).reshape(2, 3)
    assert counts.sum(axis=1).tolist() == [3, 3]
    assert (abs(counts - 3 * plain) < 1 + 1e-9).all()


def test_the_work_counts_the_steps_of_each_stage() -> None:
    board = Board(3, 3)
    channel = Channel.false_reply(board, 0.2)
    turns = (Turn((1, 1, 2), Reply(1, 1)), Turn((1, 2, 3), Reply(0, 2)))
    replies = Replies(
        board=board,
        turns=turns,
        likelihoods=np.array([channel.likelihood(turn.reply) for turn in turns]),
    )
    options = SamplerOptions(islands=4, size=16, steps=3)
    _, work = restart(replies, start_of(board, None), options)
    # Twice as many steps at the last stage as at each of the others.
    assert work.stages >= 1
    assert work.proposed == (work.stages + 1) * 3 * 4 * 16


def test_the_weights_of_all_codes_of_a_small_board_are_added_up() -> None:
    board = Board(4, 6)
    prior = parse_prior(board, "fewer-colors")
    logs = prior.log_weights(np.array(board.codes))

    class Weights:
        """The same prior, whose sum of weights is not known."""

        log_weights = staticmethod(prior.log_weights)

    total = log_sum_of_weights(board, Weights())  # type: ignore[arg-type]
    assert total == pytest.approx(math.log(np.exp(logs).sum()), abs=1e-12)


@given(st.data())
@settings(max_examples=examples(40))
def test_soft_factors_blur_the_true_reply(data: st.DataObject) -> None:
    board = data.draw(boards())
    channel = Channel.independent_error(board, 0.2)
    report = data.draw(st.sampled_from(channel.reports))
    beta = data.draw(st.floats(0, 5))
    logs = factor_logs(board, channel.likelihood(report)[None, :], beta)[0]
    for b, w in board.true_replies:
        slow = 0.0
        for true, likelihood in zip(board.true_replies, channel.likelihood(report), strict=True):
            both = abs(b + w - sum(true))
            slow += math.exp(-beta * (abs(b - true[0]) + abs(w - true[1]) + 2 * both)) * likelihood
        assert math.exp(logs[b, b + w]) == pytest.approx(slow)


def test_soft_factors_become_sharp() -> None:
    board = Board(4, 6)
    likelihood = Channel.exact(board).likelihood(Reply(1, 1))[None, :]
    sharp = factor_logs(board, likelihood, SHARP)
    assert np.exp(factor_logs(board, likelihood, 40.0)) == pytest.approx(np.exp(sharp), abs=1e-12)
    assert np.exp(sharp).sum() == 1


@pytest.mark.parametrize("board", [Board(3, 3), Board(3, 4, repeats=False)], ids=str)
def test_a_walk_leaves_its_target_unchanged(board: Board) -> None:
    turns = [Turn((1, 2, 3), Reply(1, 1)), Turn((3, 2, 1), Reply(0, 2))]
    channel = Channel.false_reply(board, 0.4)
    likelihoods = np.array([channel.likelihood(turn.reply) for turn in turns])
    target = turn_target(board, turns, factor_logs(board, likelihoods, 0.7))
    rows = np.array(board.codes)
    logs = np.zeros(len(rows))
    for turn, table in zip(turns, target.logs, strict=True):
        logs += [table[(r := reply(turn.guess, code))[0], sum(r)] for code in rows.tolist()]
    wanted = np.exp(logs) / np.exp(logs).sum()
    rng = np.random.default_rng(5)
    walkers = rows[rng.choice(len(rows), size=N_WALKS, p=wanted)].copy()
    before = walkers.copy()
    accepted = walk(walkers, target, 7, seeded_state(rng))
    assert (before != walkers).any()
    assert 0 < accepted <= 7 * N_WALKS
    counts = Counter(map(tuple, walkers.tolist()))
    shares = np.array([counts[tuple(code)] / N_WALKS for code in rows.tolist()])
    assert abs(shares - wanted).max() < 4.5 * math.sqrt(wanted.max() / N_WALKS)


def test_a_walk_from_an_excluded_code_ends_there_or_at_a_possible_one() -> None:
    board = Board(3, 4)
    turns = [Turn((1, 2, 3), Reply(0, 2)), Turn((4, 4, 1), Reply(1, 0))]
    channel = Channel.exact(board)
    likelihoods = np.array([channel.likelihood(turn.reply) for turn in turns])
    target = turn_target(board, turns, factor_logs(board, likelihoods, SHARP))
    possible = {
        code
        for code in map(tuple, board.codes.tolist())
        if all(reply(turn.guess, code) == turn.reply for turn in turns)
    }
    start = np.array(board.codes)
    ends = start.copy()
    walk(ends, target, 40, seeded_state(np.random.default_rng(2)))
    ways = list(zip(map(tuple, start.tolist()), map(tuple, ends.tolist()), strict=True))
    assert all(end in possible or (end == begun not in possible) for begun, end in ways)
    assert {end for _, end in ways} > possible


def test_distinct_codes_are_in_lexicographic_order() -> None:
    some = np.array([[2, 1], [1, 3], [2, 1], [1, 1]], dtype=np.uint8)
    distinct, first, ranks = distinct_codes(some)
    assert distinct.tolist() == [[1, 1], [1, 3], [2, 1]]
    assert some[first].tolist() == distinct.tolist()
    assert distinct[ranks].tolist() == some.tolist()


def test_islands_are_combined_as_ratios_of_sums() -> None:
    constants, estimates = np.log([1.0, 3.0]), np.array([[0.2], [0.6]])
    shares = island_shares(constants)
    assert shares == pytest.approx([0.25, 0.75])
    assert log_mean(constants) == pytest.approx(math.log(2))
    assert joint_estimate(estimates, shares) == pytest.approx([0.5])
    # R/(R - 1)·Σ w²(f - f̄)² = 2·(0.0625·0.09 + 0.5625·0.01)
    assert joint_error(estimates, shares) == pytest.approx([math.sqrt(0.0225)])
    assert effective_islands(constants) == pytest.approx(1.6)
    assert effective_islands(np.array([-math.inf, -math.inf])) == 0


@pytest.mark.parametrize("n", [2, 3, 7])
def test_the_error_of_a_mean_by_the_jackknife_is_the_usual_one(n: int) -> None:
    islands = np.random.default_rng(8).normal(size=n)
    left_out = (islands.sum() - islands) / (n - 1)
    assert jackknife_error(left_out) == pytest.approx(islands.std(ddof=1) / np.sqrt(n), rel=1e-12)
    assert np.isnan(jackknife_error(np.ones(1)))
