"""Exponential scores and their learning: against games and probabilities counted one by one."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.lab.reproductions import published
from bnmind.mastermind import Board, Channel, Reply, Turn, reply
from bnmind.strategies import (
    INITIAL_THETA,
    LEARNED_THETA,
    ExponentialScoring,
    ScoredGames,
    estimate_length,
    learn_theta,
    play_scored,
)
from bnmind.strategies.snyder import Theta, log_probabilities
from tests.mastermind.generators import histories
from tests.modes import UNCOMPILED, examples

PUBLISHED = published("snyder")
SMALL = [Board(2, 3), Board(3, 3), Board(3, 4), Board(4, 3), Board(3, 4, repeats=False)]
thetas = st.tuples(*[st.floats(-2, 2)] * 3, st.floats(2, 6))
Code = tuple[int, ...]


def score_of(code: Code, history: list[Turn], theta: Theta) -> float:
    """S_θ of a code, equation (23)."""
    exponent = 0.0
    if not history and len(set(code)) <= 3:
        exponent += theta[len(set(code)) - 1]
    if all(reply(turn.guess, code) == turn.reply for turn in history):
        exponent += theta[3]
    return math.exp(exponent)


def log_probability_of(games: ScoredGames, game: int, theta: Theta) -> float:
    """log P_θ(X), equation (27), guess by guess; checks the records on the way."""
    board, secret = games.board, games.board.code(int(games.secrets[game]))
    every = [board.code(i) for i in range(board.n_codes)]
    begin, end = (0 if game == 0 else int(games.ends[game - 1])), int(games.ends[game])
    assert games.lengths[game] == end - begin
    history: list[Turn] = []
    total = 0.0
    for turn in range(begin, end):
        guess = board.code(int(games.guesses[turn]))
        consistent = [
            code for code in every if all(reply(t.guess, code) == t.reply for t in history)
        ]
        assert games.n_consistent[turn] == len(consistent)
        assert games.is_consistent[turn] == (guess in consistent)
        assert (guess == secret) == (turn == end - 1)
        scores = [score_of(code, history, theta) for code in every]
        total += math.log(score_of(guess, history, theta) / sum(scores))
        history.append(Turn(guess, reply(guess, secret)))
    return total


@given(st.sampled_from(SMALL), thetas, thetas, st.integers(0, 2**32))
@settings(max_examples=examples(8))
def test_probabilities_are_those_of_scores_normalized_turn_by_turn(
    board: Board, theta: Theta, other: Theta, seed: int
) -> None:
    games = play_scored(board, theta, 2, np.random.default_rng(seed))
    for weights in (theta, other):
        logs = log_probabilities(games, weights)
        assert logs == pytest.approx([log_probability_of(games, i, weights) for i in range(2)])


@given(st.sampled_from(SMALL), thetas, thetas, st.integers(0, 2**32))
@settings(max_examples=examples(15))
def test_gradients_are_differences_of_estimates(
    board: Board, theta: Theta, other: Theta, seed: int
) -> None:
    games = play_scored(board, theta, 30, np.random.default_rng(seed))
    estimate, step = estimate_length(games, other), 1e-5
    for j in range(4):
        low, high = list(other), list(other)
        low[j] -= step
        high[j] += step
        means = [estimate_length(games, (a, b, c, d)).mean for a, b, c, d in (low, high)]
        slope = (means[1] - means[0]) / (2 * step)
        assert estimate.gradient[j] == pytest.approx(slope, rel=1e-4, abs=1e-6)


@given(st.sampled_from(SMALL), thetas, st.integers(0, 2**32))
@settings(max_examples=examples(15))
def test_estimates_are_weighted_means(board: Board, theta: Theta, seed: int) -> None:
    games = play_scored(board, INITIAL_THETA, 50, np.random.default_rng(seed))
    own = estimate_length(games, INITIAL_THETA)
    assert own.mean == pytest.approx(float(games.lengths.mean()))
    assert own.effective_games == pytest.approx(50)
    logs = log_probabilities(games, theta) - log_probabilities(games, INITIAL_THETA)
    weights = np.exp(logs - logs.max())
    expected = float((weights * games.lengths).sum() / weights.sum())
    assert estimate_length(games, theta).mean == pytest.approx(expected)


@given(st.data(), st.sampled_from(SMALL), thetas, st.integers(0, 2**32))
@settings(max_examples=examples(25))
def test_the_strategy_draws_in_proportion_to_scores(
    data: st.DataObject, board: Board, theta: Theta, seed: int
) -> None:
    strategy = ExponentialScoring(theta=theta)
    secret = data.draw(st.integers(0, board.n_codes - 1).map(board.code))
    belief, turns = strategy.start(Channel.exact(board)), list[Turn]()
    for turn in data.draw(histories(board, max_turns=3)):
        turns.append(Turn(turn.guess, reply(turn.guess, secret)))
        belief = belief.update(turns[-1].guess, turns[-1].reply)
    guess, info = strategy.choose(belief, np.random.default_rng(seed))
    scores = [score_of(board.code(i), turns, theta) for i in range(board.n_codes)]
    assert info.score == pytest.approx(scores[guess] / sum(scores))
    assert info.evaluated == board.n_codes


def test_guesses_have_the_stated_frequencies() -> None:
    board, theta = Board(3, 3), (0.5, -0.5, 0.3, 1.0)
    strategy, rng = ExponentialScoring(theta=theta), np.random.default_rng(4)
    belief = strategy.start(Channel.exact(board)).update((1, 1, 2), reply((1, 1, 2), (2, 1, 3)))
    for state, turns in ((strategy.start(Channel.exact(board)), []), (belief, belief.history)):
        n = 300 if UNCOMPILED else 3000
        drawn = Counter(strategy.choose(state, rng)[0] for _ in range(n))
        scores = [score_of(board.code(i), list(turns), theta) for i in range(board.n_codes)]
        for index, score in enumerate(scores):
            p = score / sum(scores)
            assert abs(drawn[index] - n * p) <= 4.5 * (n * p * (1 - p)) ** 0.5


def test_codes_that_contradict_fewest_replies_are_consistent_under_noise() -> None:
    board = Board(3, 4)
    strategy = ExponentialScoring(theta=(0.0, 0.0, 0.0, 80.0))
    belief = strategy.start(Channel.independent_error(board, 0.2).revealed())
    none, one = Reply(0, 0), Reply(1, 0)
    turns = [((1, 1, 1), none), ((1, 1, 2), none), ((2, 2, 2), one)]
    for guess, reported in turns:
        belief = belief.update(guess, reported)
    guesses = {strategy.choose(belief, np.random.default_rng(seed))[0] for seed in range(20)}
    for index in guesses:
        code = board.code(index)
        assert sum(reply(guess, code) != reported for guess, reported in turns) == 1


def test_learned_weights_beat_the_initial_ones_on_new_games() -> None:
    board, rng = Board(3, 4), np.random.default_rng(6)
    learned = learn_theta(board, rng, steps=40, games=100 if UNCOMPILED else 400)
    assert learned.path[0].tolist() == list(INITIAL_THETA)
    assert learned.path[-1].tolist() == list(learned.theta)
    fresh = np.random.default_rng(7)
    n = 500 if UNCOMPILED else 4000
    before, after = (play_scored(board, t, n, fresh) for t in (INITIAL_THETA, learned.theta))
    gain = before.lengths.mean() - after.lengths.mean()
    error = math.hypot(before.lengths.std(), after.lengths.std()) / n**0.5
    assert gain > 5 * error
    assert learned.theta[3] > INITIAL_THETA[3]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["initial", "learned", "random_consistent"])
def test_published_means_come_out(name: str) -> None:
    row = PUBLISHED[name]
    games = play_scored(Board(4, 6), tuple(row["theta"]), 100_000, np.random.default_rng(11))
    lengths = games.lengths
    error = math.hypot(lengths.std() / len(lengths) ** 0.5, row["sd"] / row["games"] ** 0.5)
    assert abs(lengths.mean() - row["mean"]) <= 3 * error


@pytest.mark.slow
def test_learning_finds_that_three_colors_and_consistency_are_best() -> None:
    board = Board(4, 6)
    theta = learn_theta(board, np.random.default_rng(3), steps=400).theta
    assert theta[2] == max(0.0, *theta[:3])
    n, fresh = 100_000, np.random.default_rng(5)
    initial, learned = (play_scored(board, t, n, fresh) for t in (INITIAL_THETA, theta))
    consistent = play_scored(board, (0.0, 0.0, 0.0, 50.0), n, fresh)
    assert learned.lengths.mean() < initial.lengths.mean() - 7
    error = math.hypot(learned.lengths.std(), consistent.lengths.std()) / n**0.5
    assert learned.lengths.mean() < consistent.lengths.mean() - 3 * error


def test_faulty_arguments_are_explained() -> None:
    rng, board = np.random.default_rng(0), Board(2, 3)
    with pytest.raises(InvalidArgumentError, match="theta to be 4 values, each a finite number"):
        ExponentialScoring(theta=(0.0, 0.0, math.inf, 1.0))
    with pytest.raises(InvalidArgumentError, match="at least 1 game"):
        play_scored(board, INITIAL_THETA, 0, rng)
    with pytest.raises(InvalidArgumentError, match="at least 1 step"):
        learn_theta(board, rng, steps=0)


@pytest.mark.skipif(UNCOMPILED, reason="a million guesses")
def test_weights_that_never_win_are_refused() -> None:
    never = (0.0, 0.0, 0.0, -700.0)
    with pytest.raises(InvalidArgumentError, match="expected weights that win"):
        play_scored(Board(2, 3), never, 3, np.random.default_rng(0))


def test_learned_weights_are_those_of_the_source() -> None:
    assert PUBLISHED["learned"]["theta"] == LEARNED_THETA
    assert PUBLISHED["initial"]["theta"] == INITIAL_THETA
