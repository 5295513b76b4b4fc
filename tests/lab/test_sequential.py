"""Games until they suffice: the same games as without the rule, and no more than needed."""

from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError
from bnmind.lab import (
    AllTold,
    ConfidenceSequence,
    Contest,
    NarrowEnough,
    compare_until,
    is_enough,
    paired_differences,
)
from bnmind.mastermind import Board, Channel, parse_prior
from bnmind.strategies import Entropy, Knuth, MapCode

CHANNEL = Channel.false_reply(Board(2, 4), 0.2)


def test_games_end_as_soon_as_they_suffice() -> None:
    contest = Contest((Entropy(), MapCode()), CHANNEL, games=400)
    calls: list[tuple[int, int]] = []
    found = compare_until(
        contest, NarrowEnough(0.5), progress=lambda done, total: calls.append((done, total))
    )
    assert calls == [(number, 800) for number in range(1, len(found.rows) + 1)]
    assert found.sequential
    plain = contest.run()
    assert not plain.sequential
    for row, same in zip(found.rows, plain.rows, strict=False):
        assert {**asdict(row), "seconds": 0} == {**asdict(same), "seconds": 0}
    guesses = {n: [row.guesses for row in plain.rows_of(n)] for n in plain.strategies}
    looks = ConfidenceSequence()
    enough = [
        is_enough(
            paired_differences({n: one[:games] for n, one in guesses.items()}, interval=looks),
            NarrowEnough(0.5),
        )
        for games in (99, 100, found.games - 1, found.games)
    ]
    assert found.games > 101
    assert enough == [False, False, False, True]


def test_a_whole_match_is_one_observation() -> None:
    learned = parse_prior(CHANNEL.board, "learned-colors")
    contest = Contest(
        (Entropy(), MapCode()),
        CHANNEL,
        games=45,
        match=4,
        assumed_prior=learned,
    )
    assert contest.learns
    comparison = contest.run()
    assert comparison.match == 4
    means = {
        name: np.array([row.guesses for row in comparison.rows_of(name)][:44])
        .reshape(11, 4)
        .mean(axis=1)
        for name in comparison.strategies
    }
    assert comparison.differences() == paired_differences(means)
    assert comparison.differences().pairs[0].n == 11
    found = compare_until(contest, NarrowEnough(1e-9))
    assert found.games == 45
    assert math.isinf(found.differences().pairs[0].high)
    assert not Contest((Knuth(),), CHANNEL, match=4).learns
    assert not Contest((Knuth(),), CHANNEL, assumed_prior=learned).learns


def test_wrong_contests_are_refused() -> None:
    players = (Knuth(), MapCode())
    with pytest.raises(InvalidArgumentError, match="at least two strategies"):
        compare_until(Contest(players[:1], CHANNEL), AllTold())
    with pytest.raises(InvalidArgumentError, match="codes in order are no random sample"):
        compare_until(Contest(players, CHANNEL, games=None), AllTold())
    with pytest.raises(InvalidArgumentError, match="confidence"):
        compare_until(Contest(players, CHANNEL), AllTold(), confidence=1.5)
