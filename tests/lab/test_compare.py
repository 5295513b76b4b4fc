"""Comparisons: the same games for every strategy, whatever their order."""

from __future__ import annotations

import math
import statistics
from dataclasses import asdict
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from bnmind.errors import BnmindError, TooLargeError
from bnmind.lab import CodeMaker, Comparison, GameRow, compare, play_game
from bnmind.lab.mastermind import MAX_ROWS
from bnmind.lab.reproductions import published
from bnmind.mastermind import Belief, Board, Channel, Prior
from bnmind.strategies import (
    FIRST_TURN,
    STRATEGIES,
    Entropy,
    GuessInfo,
    Knuth,
    MapCode,
    Needs,
    RandomCode,
    Situation,
    Strategy,
    strategy_by_name,
)

REFERENCE = published("mastermind_totals")
BOARD = Board(2, 4)
NOISY = Channel.independent_error(BOARD, 0.2)


def told(rows: tuple[GameRow, ...]) -> list[dict[str, Any]]:
    """Return the rows without the time they took."""
    return [{k: v for k, v in asdict(row).items() if k != "seconds"} for row in rows]


def test_rows_are_games_that_their_seeds_determine() -> None:
    strategies: list[Strategy] = [make() for make in STRATEGIES.values()]
    comparison = compare(strategies, NOISY, games=3, seed=4, max_guesses=6)
    assert len(comparison.rows) == 3 * len(STRATEGIES)
    for row in comparison.rows:
        game = play_game(strategy_by_name(row.strategy), CodeMaker.from_seed(NOISY, row.seed))
        assert (row.board, row.channel) == ("2x4", "independent:0.2")
        assert row.secret == BOARD.format(game.secret)
        assert row.guesses == min(game.guesses, 6)
        assert row.won == (game.guesses <= 6)
        assert row.seconds > 0
    assert len({row.seed for row in comparison.rows}) == 3


def test_a_comparison_prints_the_mean_of_each_strategy() -> None:
    comparison = compare([Entropy(), MapCode()], NOISY, games=3, seed=4)
    first, *lines = str(comparison).split("\n")
    assert first.endswith(f"noise {comparison.channel}, 3 games: guesses per game")
    assert lines[1] == "map      {0.mean:.3f} ± {0.standard_error:.3f}".format(
        comparison.summaries[1]
    )


def test_results_do_not_depend_on_company_order_or_number() -> None:
    several = compare([MapCode(), Entropy(), Knuth()], NOISY, games=20, seed=1)
    alone = compare([Entropy()], NOISY, games=20, seed=1)
    fewer = compare([Knuth(), Entropy()], NOISY, games=7, seed=1)
    assert told(alone.rows) == told(several.rows_of("entropy"))
    assert told(fewer.rows_of("entropy")) == told(alone.rows)[:7]
    assert told(compare([Entropy()], NOISY, games=20, seed=2).rows) != told(alone.rows)


def test_all_codes_once() -> None:
    for strategy in (Knuth(), Entropy()):
        comparison = compare([strategy], Channel.exact(Board(3, 3)), games=None)
        assert [row.secret for row in comparison.rows] == [
            Board(3, 3).format(code) for code in Board(3, 3).codes.tolist()
        ]
        assert comparison.games == 27


@pytest.mark.parametrize(
    "name",
    [
        name if name == "kooi" else pytest.param(name, marks=pytest.mark.slow)
        for name in REFERENCE["heuristics"]
    ],
)
def test_published_totals_game_by_game(name: str) -> None:
    comparison = compare([strategy_by_name(name)], Channel.exact(Board(4, 6)), games=None)
    guesses = [row.guesses for row in comparison.rows]
    assert sum(guesses) == REFERENCE["heuristics"][name]["total"]
    counts = [guesses.count(number) for number in range(1, max(guesses) + 1)]
    assert tuple(counts) == REFERENCE["heuristics"][name]["distribution"]


def test_summaries() -> None:
    comparison = compare([RandomCode(), MapCode()], NOISY, games=40, max_guesses=12)
    for summary in comparison.summaries:
        guesses = [row.guesses for row in comparison.rows_of(summary.strategy)]
        assert summary.games == 40
        assert summary.mean == pytest.approx(np.mean(guesses))
        assert summary.sd == pytest.approx(statistics.stdev(guesses))
        assert summary.standard_error == pytest.approx(summary.sd / math.sqrt(40))
        assert summary.worst == max(guesses)
        won = [row.won for row in comparison.rows_of(summary.strategy)]
        assert summary.won == np.mean(won)
        within = [w and g <= 10 for w, g in zip(won, guesses, strict=True)]
        assert summary.within_ten == np.mean(within)
    assert [summary.strategy for summary in comparison.summaries] == ["random", "map"]
    single = compare([MapCode()], NOISY, games=1).summaries[0].to_dict()
    assert (single["sd"], single["games"]) == (None, 1)


def test_a_game_at_the_cap_is_lost() -> None:
    comparison = compare([MapCode()], NOISY, games=30, max_guesses=2)
    assert comparison.max_guesses == 2
    assert {row.guesses for row in comparison.rows if not row.won} == {2}
    assert comparison.summaries[0].won < 1


def test_the_frame_has_the_columns_of_the_file() -> None:
    frame = compare([MapCode()], NOISY, games=3).frame
    assert list(frame.columns) == [
        "board",
        "channel",
        "strategy",
        "game",
        "seed",
        "secret",
        "guesses",
        "won",
        "seconds",
        "codes_examined",
        "assumed",
        "prior",
        "assumed_prior",
        "ending",
        "max_guesses",
        "match",
    ]
    assert frame["game"].tolist() == [1, 2, 3]


def test_progress_and_assumptions() -> None:
    calls: list[tuple[int, int]] = []
    comparison = compare(
        [Entropy(), MapCode()],
        NOISY,
        games=3,
        assumed=Channel.exact(BOARD),
        progress=lambda done, total: calls.append((done, total)),
    )
    assert calls == [(number, 6) for number in range(1, 7)]
    assert (comparison.channel, comparison.assumed) == ("independent:0.2", "exact")


class Counting:
    """A deterministic strategy that counts how often it is asked."""

    name = "counting"
    deterministic = True
    needs = Needs.DISTRIBUTION

    def __init__(self) -> None:
        self.asked = 0

    def start(self, channel: Channel, prior: Prior | None = None) -> Belief:
        return Entropy().start(channel, prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        self.asked += 1
        return Entropy().choose(belief, rng, situation)


def test_a_deterministic_strategy_is_asked_once_for_each_history() -> None:
    counting = Counting()
    comparison = compare([counting, Entropy()], Channel.exact(Board(3, 3)), games=None)
    guesses = [row.guesses for row in comparison.rows_of("counting")]
    assert guesses == [row.guesses for row in comparison.rows_of("entropy")]
    assert counting.asked < sum(guesses)
    assert len(set(guesses)) > 1


@pytest.mark.parametrize("games", [MAX_ROWS // 2 + 1, 10**12, 10**30])
def test_more_games_than_fit_are_refused_before_any_is_played(games: int) -> None:
    with pytest.raises(
        TooLargeError, match=f"at most {MAX_ROWS:,} games, and .* would have"
    ) as told:
        compare([Knuth(), Entropy()], Channel.exact(BOARD), games=games)
    assert (told.value.needed, told.value.budget) == (2 * games, MAX_ROWS)
    with pytest.raises(TooLargeError, match="a comparison holds at most"):
        compare([Knuth()], Channel.exact(Board(6, 20)), games=None)


def test_a_generator_of_games_has_the_seeds_of_all_at_once() -> None:
    seeds = [row.seed for row in compare([Knuth()], Channel.exact(Board(2, 3)), games=5).rows]
    spawned = np.random.SeedSequence(0).spawn(5)
    assert seeds == [int(one.generate_state(1, np.uint64)[0]) >> 11 for one in spawned]


def test_a_full_memory_changes_no_game(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = Channel.false_reply(Board(2, 3), 0.3)
    games = [(row.seed, row.guesses) for row in compare([Entropy()], channel, games=20).rows]
    monkeypatch.setattr(import_module("bnmind.lab.mastermind.setting"), "_REMEMBERED", 3)
    assert [(r.seed, r.guesses) for r in compare([Entropy()], channel, games=20).rows] == games


def test_errors_list_all_faults() -> None:
    for strategies in ([], [MapCode(), MapCode()]):
        with pytest.raises(BnmindError, match="different names"):
            compare(strategies, NOISY)
    with pytest.raises(BnmindError, match="at least one game, got 0"):
        compare([MapCode()], NOISY, games=0)
    with pytest.raises(BnmindError, match="seed"):
        compare([MapCode()], NOISY, games=1, seed=-1)
    with pytest.raises(BnmindError, match="max_guesses to be a whole number from 1"):
        compare([MapCode()], NOISY, games=1, max_guesses=0)


def plausible(mean: float, standard_error: float, published: float) -> bool:
    return abs(mean - published) < REFERENCE["false_20_percent"]["tolerance"] and (
        abs(mean - published) < 4 * math.hypot(standard_error, 0.0125)
    )


@pytest.mark.slow
def test_means_where_a_fifth_of_the_replies_is_false_agree_with_another_program() -> None:
    channel = Channel.false_reply(Board(4, 6), 0.2)
    comparison: Comparison = compare([Entropy(), MapCode()], channel, games=2500, seed=2004)
    for summary in comparison.summaries:
        published = REFERENCE["false_20_percent"]["confirmed"][summary.strategy]
        assert plausible(summary.mean, summary.standard_error, published)
        # The test can tell: a strategy a little worse would not pass.
        assert not plausible(summary.mean + 0.2, summary.standard_error, published)
    entropy, most_probable = comparison.summaries
    assert entropy.mean < most_probable.mean
