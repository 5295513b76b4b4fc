"""Comparisons claim no more than their games tell."""

from __future__ import annotations

import math
from itertools import islice

import pytest

from bnmind._display import parts_of
from bnmind.lab import (
    Contest,
    GameExperiment,
    GameSetting,
    Player,
    compare,
    paired_differences,
    run,
)
from bnmind.mastermind import Board, Channel, parse_prior
from bnmind.strategies import Entropy, Knuth, MapCode

BOARD = Board(2, 4)
NOISY = Channel.false_reply(BOARD, 0.2)
EXACT = Channel.exact(BOARD)
LEARNED = parse_prior(BOARD, "learned-colors")


@pytest.mark.parametrize("games", [6, 10, 19])
def test_games_of_fewer_than_two_matches_are_one_observation(games: int) -> None:
    contest = Contest((Entropy(), MapCode()), NOISY, games=games, match=10, assumed_prior=LEARNED)
    (pair,) = contest.run().differences().pairs
    assert pair.n == 1
    assert not pair.can_be_told
    assert math.isinf(pair.high)
    assert pair.games_to_tell is None


def test_games_of_each_code_are_not_all_games_if_the_players_learn() -> None:
    players = (Entropy(), Knuth())
    contest = Contest(players, EXACT, games=None, match=4, assumed_prior=LEARNED)
    setting = GameSetting(
        channel=EXACT, players=tuple(Player(one, assumed_prior=LEARNED) for one in players)
    )
    experiment = GameExperiment(settings=(setting,), games=None, match=4)
    (found,) = experiment.comparisons(run(experiment).rows)
    assert contest.learns
    assert not contest.run().exhaustive
    assert not found.exhaustive


def test_all_games_count_where_matches_change_nothing() -> None:
    contest = Contest((Entropy(), Knuth()), EXACT, games=None, match=3)
    found = contest.run()
    assert found.exhaustive
    assert found.differences().pairs[0].n == 16


def test_the_first_codes_in_order_tell_nothing() -> None:
    contest = Contest((Entropy(), Knuth()), EXACT, games=None)
    found = contest.comparison(list(islice(contest.play(), 20)))
    (pair,) = found.differences().pairs
    assert found.first_codes
    assert math.isinf(pair.high)
    assert math.isnan(pair.p_value)
    said = "\n".join(map(str, parts_of(found)))
    assert "No differences: the first codes in order are no sample of all codes." in said
    assert "fewer guesses" not in said
    assert "Signed-rank" not in said


def test_equal_exact_means_are_told() -> None:
    found = compare([Knuth(), Entropy()], Channel.exact(Board(1, 3)), games=None)
    assert any(str(part).endswith("need equally many guesses.") for part in parts_of(found))


def test_differences_by_rounding_do_not_vary() -> None:
    values = {"a": [0.1 + 0.2, 0.3, 0.3], "b": [4.0, 4.0, 4.0]}
    (pair,) = paired_differences(values).pairs
    assert math.isinf(pair.high)
