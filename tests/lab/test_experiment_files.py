"""Experiments in files: what is written reads back, and all faults are told with their places."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError, ModelFileError
from bnmind.lab import (
    Declared,
    Ending,
    GameExperiment,
    GameSetting,
    Limit,
    Player,
    Revealed,
    experiment_from_text,
    experiment_to_json,
    experiment_to_toml,
    game_settings,
    read_experiment,
    run,
    write_experiment,
)
from bnmind.lab.result_files import format_toml
from bnmind.mastermind import Board, Channel, CodeList, parse_noise, parse_prior
from bnmind.strategies import Knuth, MapCode, strategy_by_name
from tests.modes import examples

TOML = """
kind = "games"
games = 6
seed = 4
board = "2x3"
noise = ["exact", "false:0.2"]
ending = ["revealed", "declared:0.9"]
strategies = ["knuth", {name = "map", assume = "false:0.3"}]
"""


@st.composite
def experiments(draw: st.DrawFn) -> GameExperiment:
    """Return an experiment with parts of all kinds."""
    board = Board(draw(st.integers(1, 2)), draw(st.integers(2, 4)))
    p = draw(st.floats(0.05, 0.6))
    noise = draw(
        st.lists(
            st.sampled_from(["exact", f"false:{p}", f"independent:{p}"]), min_size=1, unique=True
        )
    )
    channels = [parse_noise(board, text) for text in noise]
    if draw(st.booleans()):
        half = Channel.false_reply(board, 0.25)
        channels.append(Channel(board, half.reports, half.matrix, "file:made.csv"))
    names = draw(
        st.lists(st.sampled_from(["map", "knuth", "subset:3:entropy"]), min_size=1, unique=True)
    )
    players = [Player(strategy_by_name(name)) for name in names]
    players.append(Player(MapCode(), Channel.exact(board), parse_prior(board, "learned-colors")))
    listed = CodeList(board, board.codes[:2], np.array([0.1, 0.9]), "file:codes.csv")
    priors = draw(
        st.lists(
            st.sampled_from([None, parse_prior(board, "learned"), listed]),
            min_size=1,
            max_size=2,
            unique_by=id,
        )
    )
    limit = draw(st.integers(1, 50))
    rules: list[Ending] = [Revealed(limit), Limit(limit), Declared(p, limit)]
    ending = draw(st.sampled_from(rules))
    return GameExperiment(
        settings=game_settings(channels, players, priors=priors, endings=[ending]),
        games=draw(st.integers(1, 10**6)),
        seed=draw(st.integers(0, 2**64)),
        match=draw(st.integers(1, 20)),
        turns=draw(st.booleans()),
        batch_games=draw(st.none() | st.integers(1, 99)),
    )


@pytest.mark.hypothesis
@given(experiments())
@settings(max_examples=examples(12), deadline=None)
def test_what_is_written_reads_back(experiment: GameExperiment) -> None:
    text = experiment_to_toml(experiment)
    again = experiment_from_text(text)
    assert experiment_to_toml(again) == text
    assert experiment_to_toml(experiment_from_text(experiment_to_json(experiment))) == text
    assert isinstance(again, GameExperiment)
    for one, other in zip(experiment.settings, again.settings, strict=True):
        assert other.name == one.name
        assert np.array_equal(other.channel.matrix, one.channel.matrix)
        assert other.prior == one.prior
        assert other.ending == one.ending
        for player, read in zip(one.players, other.players, strict=True):
            assert (read.name, read.strategy) == (player.name, player.strategy)


VALUES: Any = st.recursive(
    st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.hypothesis
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), VALUES, max_size=4))
@settings(max_examples=examples(40), deadline=None)
def test_any_plain_values_are_written_as_toml(content: dict[str, Any]) -> None:
    assert tomllib.loads(format_toml(content)) == content


def test_lists_stand_for_all_combinations(tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text(TOML)
    experiment = read_experiment(tmp_path / "e.toml")
    assert isinstance(experiment, GameExperiment)
    assert [setting.name for setting in experiment.settings] == [
        "2x3, exact, prior uniform, revealed, at most 100 guesses",
        "2x3, exact, prior uniform, declared:0.9, at most 100 guesses",
        "2x3, false:0.2, prior uniform, revealed, at most 100 guesses",
        "2x3, false:0.2, prior uniform, declared:0.9, at most 100 guesses",
    ]
    assert [player.name for player in experiment.settings[0].players] == [
        "knuth",
        "map assuming false:0.3",
    ]
    for name in ("out.json", "out.toml"):
        write_experiment(experiment, tmp_path / name)
        assert run(read_experiment(tmp_path / name)).rows == run(experiment).rows
    assert json.loads((tmp_path / "out.json").read_text())["seed"] == 4


def test_tables_of_settings_take_what_they_lack_from_the_top() -> None:
    experiment = experiment_from_text(
        'kind = "games"\nstrategies = "knuth"\nnoise = "exact"\n[[settings]]\nboard = "2x3"\n'
        '[[settings]]\nboard = "4x6"\nrepeats = false\nnoise = "false:0.1"\n'
    )
    assert isinstance(experiment, GameExperiment)
    assert [str(setting.board) for setting in experiment.settings] == ["2x3", "4x6 without repeats"]
    assert [setting.channel.name for setting in experiment.settings] == ["exact", "false:0.1"]


def test_noise_and_priors_of_files_go_along(tmp_path: Path) -> None:
    (tmp_path / "noise.csv").write_text("true,reported,probability\n0b0w,0b0w,1\n1b0w,1b0w,1\n")
    (tmp_path / "codes.csv").write_text("code,probability\n1,0.25\n2,0.75\n")
    (tmp_path / "e.toml").write_text(
        'kind = "games"\nboard = "1x2"\nnoise = "file:noise.csv"\nprior = "file:codes.csv"\n'
        'games = 9\nstrategies = [{name = "map", assume_prior = "file:codes.csv"}]\n'
    )
    experiment = read_experiment(tmp_path / "e.toml")
    text = experiment_to_toml(experiment)
    (tmp_path / "noise.csv").unlink()
    assert run(experiment_from_text(text)).rows == run(experiment).rows
    assert {row.channel for row in run(experiment).rows} == {"file:noise.csv"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            'kind = "games"\nboard = ["9y9", "2x3"]\nnoise = ["exact", "fals:2"]\n'
            'strategies = ["knut", {name = "map", assume = "x"}]\nending = "x"\nprior = "y"',
            (
                "settings 1, strategies 1: ",
                "settings 1, ending 1: ",
                "settings 1, board 1: ",
                "settings 1, noise 2: ",
                "settings 1, prior 1: ",
                "settings 1, strategies 2, assume: ",
            ),
        ),
        (
            'kind = "games"\nseed = "x"\nfoo = 1\n[[settings]]\nnoise = 3\nbar = 2',
            (
                "seed: ",
                "foo: ",
                "settings 1, board: ",
                "settings 1, noise 1, name: ",
                "settings 1, bar",
            ),
        ),
        ('kind = "games"\nboard = "2x3"\nnoise = "exact"\nstrategies = []', ("strategies",)),
        (
            'kind = "games"\nboard = "2x3"\nnoise = "exact"\nstrategies = ["map", "map"]\nmatch=0',
            ("settings 1: ", "different names"),
        ),
        ('kind = "games"\nboard = "2x3"\nnoise = "exact"\nstrategies = "map"\nmatch=0', ("match",)),
        ('kind = "games"\nsettings = 3', ("settings: ",)),
        ('kind = "games"\nsettings = []', ("settings: ",)),
        ("x = 1\ny = = 2", ("expected TOML", "line 2")),
        ("{", ("expected JSON", "line 1")),
        ('{"seed": 1}', ('expected kind = "games"', "got none")),
        ('kind = "game"', ("'game'",)),
        ("x = " + "[" * 5000, ("expected TOML",)),
    ],
)
def test_all_faults_are_told_with_their_places(text: str, told: tuple[str, ...]) -> None:
    with pytest.raises(ModelFileError) as caught:
        experiment_from_text(text)
    for part in told:
        assert part in str(caught.value)


def test_faults_of_a_file_name_it(tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text("kind = 3")
    with pytest.raises(ModelFileError, match=r"e\.toml: kind: expected"):
        read_experiment(tmp_path / "e.toml")
    with pytest.raises(BnmindError, match="missing"):
        read_experiment(tmp_path / "missing.toml")


def test_things_without_a_name_cannot_be_written() -> None:
    board = Board(2, 3)
    setting = GameSetting(
        channel=Channel.exact(board), players=(Player(MapCode("mine")), Player(Knuth()))
    )
    with pytest.raises(ModelFileError, match="settings 1, strategies 1: the name 'mine'"):
        experiment_to_toml(GameExperiment(settings=(setting,)))


def test_a_strategy_of_ones_own_is_found_by_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_player.py").write_text(
        "from bnmind.strategies import MapCode\ndef make():\n    return MapCode('mine')\n"
    )
    monkeypatch.chdir(tmp_path)
    text = TOML.replace('"knuth"', '"own_player:make"')
    experiment = experiment_from_text(text)
    assert '"own_player:make"' in experiment_to_toml(experiment)
    assert {row.strategy for row in run(experiment).rows} == {"mine", "map"}


@pytest.mark.parametrize("part", ["matrix = [[1.0]]", 'reports = ["0b0w"]', "ends = true"])
def test_half_a_channel_is_refused(part: str) -> None:
    text = TOML.replace('["exact", "false:0.2"]', f'{{name = "exact", {part}}}')
    name = part.partition(" ")[0]
    with pytest.raises(ModelFileError, match=f"or neither, got only {name}"):
        experiment_from_text(text)


def test_numbers_of_numpy_are_written_as_plain_ones() -> None:
    def made(whole: type, share: type, truth: type) -> GameExperiment:
        board = Board(2, 3)
        setting = GameSetting(
            channel=Channel.false_reply(board, share(0.2)),
            players=(Player(Knuth(), assumed=Channel.false_reply(board, share(0.1))),),
            ending=Declared(share(0.9), whole(9)),
        )
        return GameExperiment(
            settings=(setting,),
            games=whole(5),
            seed=whole(3),
            turns=truth(True),
            batch_games=whole(2),
        )

    plain, of_numpy = made(int, float, bool), made(np.int64, np.float64, np.bool_)
    assert experiment_to_toml(of_numpy) == experiment_to_toml(plain)
    assert experiment_to_json(of_numpy) == experiment_to_json(plain)
