"""The mean number of guesses under noise from all histories, against games followed one by one."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError
from bnmind.mastermind import Belief, Board, Channel, reply_table
from bnmind.strategies import (
    Entropy,
    LookAhead,
    MapCode,
    SolvedPlayer,
    Strategy,
    build_tree,
    mean_lower_bound,
    mean_under_noise,
    measure_tree,
    solve_belief_game,
)

NINE = Board(2, 3)


def followed_one_by_one(strategy: Strategy, channel: Channel, turns: int) -> list[float]:
    """Return the probability that a game takes at least 1, 2, 3, … guesses."""
    board, played = channel.board, channel.revealed()
    table = reply_table(board)
    going_on = [0.0] * turns

    def follow(belief: Belief, weights: np.ndarray, turn: int) -> None:
        if turn == turns:
            return
        going_on[turn] += float(weights.sum())
        guess = strategy.choose(belief, np.random.default_rng(0))[0]
        for column, report in enumerate(played.reports):
            after = weights * played.matrix[table[guess], column]
            if after.any():
                follow(belief.update(board.code(guess), report), after, turn + 1)

    follow(strategy.start(played), np.full(board.n_codes, 1 / board.n_codes), 0)
    return going_on


def test_without_noise_the_mean_is_that_of_the_tree() -> None:
    strategy, channel = Entropy(), Channel.exact(Board(3, 3))
    expected = measure_tree("entropy", build_tree(strategy, channel)).mean
    found = mean_under_noise(strategy, channel)
    assert found.mean == pytest.approx(expected)
    assert found.unfinished == 0
    assert found.lower == pytest.approx(found.mean)


def test_the_turns_are_those_of_all_histories() -> None:
    channel = Channel.false_reply(NINE, 0.3)
    seen: list[float] = []
    found = mean_under_noise(
        Entropy(), channel, least_mass=1e-4, progress=lambda turn, mass: seen.append(mass)
    )
    assert seen[:4] == pytest.approx(followed_one_by_one(Entropy(), channel, 4))
    assert found.lower <= found.mean
    assert 0 < found.unfinished < 0.05
    finer = mean_under_noise(Entropy(), channel, least_mass=1e-5)
    assert found.lower <= finer.lower <= finer.mean
    assert finer.beliefs > found.beliefs


@pytest.mark.slow
def test_the_solved_player_is_best() -> None:
    channel = Channel.false_reply(NINE, 0.2)
    solution = solve_belief_game(channel, gap=1e-5)
    solved = mean_under_noise(SolvedPlayer(solution), channel, least_mass=1e-7)
    assert solution.lower - 1e-4 <= solved.lower <= solved.mean <= solution.upper + 1e-5
    for strategy in (Entropy(), LookAhead()):
        assert mean_under_noise(strategy, channel).mean >= solution.lower
    assert mean_lower_bound(channel).mean <= solved.lower


def test_bad_arguments_are_refused() -> None:
    channel = Channel.false_reply(NINE, 0.2)
    with pytest.raises(InvalidArgumentError, match="deterministic strategy, got map"):
        mean_under_noise(MapCode(), channel)
    with pytest.raises(InvalidArgumentError, match="between 0 and 1"):
        mean_under_noise(Entropy(), channel, least_mass=0)
