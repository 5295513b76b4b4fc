"""Experiments: values that determine their rows, wherever and however these are made."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from bnmind.errors import BnmindError, InvalidArgumentError
from bnmind.lab import (
    Contest,
    Declared,
    GameExperiment,
    GameSetting,
    Player,
    Revealed,
    compare,
    game_settings,
    run,
)
from bnmind.lab.mastermind.setting import remembering
from bnmind.mastermind import Board, Channel, parse_prior
from bnmind.strategies import Entropy, Knuth, MapCode, RandomCode

BOARD = Board(2, 4)
NOISY = Channel.false_reply(BOARD, 0.2)
EXACT = Channel.exact(BOARD)


def small(**options: object) -> GameExperiment:
    """Return an experiment with two settings in several batches."""
    players = [Player(MapCode()), Player(RandomCode()), Player(MapCode(), assumed=EXACT)]
    settings = game_settings([EXACT, NOISY], players, endings=[Revealed(), Declared(0.8, 9)])
    return GameExperiment(**{"settings": settings, "games": 7, "batch_games": 3, **options})  # type: ignore[arg-type]


def test_rows_are_those_of_a_comparison() -> None:
    experiment = GameExperiment(
        settings=game_settings([NOISY], [Player(Entropy()), Player(Knuth())]), games=9, seed=3
    )
    compared = compare([Entropy(), Knuth()], NOISY, games=9, seed=3)
    assert run(experiment).rows == compared.rows
    assert experiment.comparisons(run(experiment).rows) == (compared,)


def test_rows_of_another_experiment_are_refused() -> None:
    experiment = small()
    rows = run(experiment).rows
    assert len(experiment.comparisons(rows)) == 4
    others = (
        run(small(seed=1)).rows,
        (rows[1], rows[0], *rows[2:]),
        (*rows[:-1], replace(rows[-1], channel="exact")),
        (*rows[:-1], replace(rows[-1], assumed_prior="two-color")),
    )
    for other in others:
        with pytest.raises(InvalidArgumentError, match="rows of the experiment in their order"):
            experiment.comparisons(other)


def test_rows_do_not_depend_on_batches_or_copies() -> None:
    experiment = small()
    rows = run(experiment).rows
    assert run(replace(experiment, batch_games=100)).rows == rows
    assert run(pickle.loads(pickle.dumps(experiment))).rows == rows
    alone = [pickle.loads(pickle.dumps(batch)).rows() for batch in experiment.batches()[::-1]]
    assert tuple(row for part in alone[::-1] for row in part) == rows
    assert len(rows) == experiment.n_rows == 7 * 3 * 4
    assert run(replace(experiment, seed=1)).rows != rows


def test_remembered_choices_hold_no_tables() -> None:
    (player,) = remembering([Player(Entropy())])
    belief, rng = player.start(NOISY), np.random.default_rng(0)
    chosen, again = player.choose(belief, rng), player.choose(belief, rng)
    assert chosen is again
    assert chosen[1] == replace(Entropy().choose(belief, rng)[1], plan=None)


def test_players_with_other_assumptions_are_told_apart() -> None:
    experiment = small()
    (first, *_), rows = experiment.comparisons(run(experiment).rows), run(experiment).rows
    assert first.strategies == ("map", "random", "map assuming exact")
    assert {(row.strategy, row.assumed) for row in rows if row.channel == "false:0.2"} == {
        ("map", "false:0.2"),
        ("random", "false:0.2"),
        ("map", "exact"),
    }
    assert {(row.ending, row.max_guesses) for row in rows} == {
        ("revealed", 100),
        ("declared:0.8", 9),
    }


def test_matches_are_never_divided() -> None:
    board = Board(3, 4)
    setting = GameSetting(
        channel=Channel.exact(board),
        players=(Player(Entropy()), Player(Entropy(), assumed_prior=parse_prior(board, "uniform"))),
        prior=parse_prior(board, "learned"),
    )
    experiment = GameExperiment(settings=(setting,), games=10, match=4, batch_games=3)
    contest = Contest(
        (Entropy(),), setting.channel, games=10, match=4, prior=parse_prior(board, "learned")
    )
    rows = run(experiment).rows
    assert rows[::2] == tuple(contest.play())
    assert [row.match for row in rows[::2]] == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]
    assert [len(batch.series.numbers) for batch in experiment.batches()] == [4, 4, 2]


def test_there_is_a_row_for_each_turn() -> None:
    results = run(small(turns=True))
    games = {(r.channel, r.ending, r.strategy, r.assumed, r.game): r for r in results.rows}
    for turn in results.details:
        game = games[turn.channel, turn.ending, turn.strategy, turn.assumed, turn.game]
        assert 1 <= turn.turn <= game.guesses
        if turn.report is None:
            assert (turn.turn, turn.guess) == (game.guesses, game.secret)
    assert len(results.details) == sum(row.guesses for row in results.rows)
    assert list(results.detail_frame["turn"])[:2] == [1, 2]
    assert len(results.frame) == len(results.rows)


def test_all_codes_once() -> None:
    experiment = GameExperiment(settings=game_settings([EXACT], [Player(Knuth())]), games=None)
    assert [row.secret for row in run(experiment).rows][:3] == ["11", "12", "13"]
    assert experiment.n_rows == 16


def test_all_faults_are_told_at_once() -> None:
    (setting,) = game_settings([NOISY], [Player(Knuth())])
    with pytest.raises(BnmindError) as caught:
        GameExperiment(settings=(setting, setting), games=0, seed=-1, match=0, version=2)
    for text in ("settings 1 and 2", "one game", "seed", "match", "version 1"):
        assert text in str(caught.value)
    with pytest.raises(BnmindError, match=r"only-once excludes.*; .*false:0.2 never"):
        GameSetting(
            channel=Channel.independent_error(BOARD, 0.2),
            players=(
                Player(Knuth(), NOISY),
                Player(Knuth(), None, parse_prior(BOARD, "only-once")),
            ),
        )


def test_the_channel_that_reports_is_made_once() -> None:
    """On a large board it takes a second, and each strategy asks for it."""
    setting = GameSetting(channel=Channel.exact(Board(2, 2)), players=(Player(Knuth()),))
    assert setting.reporting is setting.reporting
    assert setting.reporting.ends
