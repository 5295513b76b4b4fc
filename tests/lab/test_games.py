"""Games: the code-maker's luck, the three endings, other assumptions, replays."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError
from bnmind.lab import (
    CodeMaker,
    Declared,
    Ending,
    Limit,
    Revealed,
    Transcript,
    assumed_channel,
    play_game,
    replay,
    strategy_rng,
    transcript_from_json,
    transcript_to_json,
)
from bnmind.mastermind import Board, Channel, Reply, TableBelief, reply
from bnmind.strategies import STRATEGIES, Entropy, Knuth, MapCode, RandomCode, strategy_by_name
from tests.mastermind.generators import boards, channels
from tests.modes import examples

BOARD = Board(3, 4)
NOISY = Channel.false_reply(BOARD, 0.3)
ENDINGS: list[Ending] = [Revealed(), Revealed(3), Declared(0.9), Declared(0.99, 2), Limit(4)]


def test_a_seed_settles_the_secret_and_the_luck() -> None:
    maker, again = (CodeMaker.from_seed(NOISY, 7) for _ in range(2))
    assert maker.secret == again.secret
    assert maker.noise.tolist() == again.noise.tolist()
    given = CodeMaker.from_seed(NOISY, 7, secret=(4, 4, 4), turns=5)
    assert (given.secret, given.noise.tolist()) == ((4, 4, 4), maker.noise[:5].tolist())
    assert CodeMaker.from_seed(NOISY, 8).noise[0] != maker.noise[0]
    assert strategy_rng(7).random() not in maker.noise


def test_secrets_are_uniform() -> None:
    for board in (Board(2, 3), Board(2, 3, repeats=False)):
        channel = Channel.exact(board)
        drawn = [board.index(CodeMaker.from_seed(channel, seed).secret) for seed in range(3000)]
        shares = np.bincount(drawn, minlength=board.n_codes) / 3000
        assert shares == pytest.approx(1 / board.n_codes, abs=0.03)
    huge = Board(12, 30)
    assert len(CodeMaker.from_seed(Channel.exact(huge), 1).secret) == 12


def test_the_code_maker_is_immutable_and_checked() -> None:
    maker = CodeMaker.from_seed(NOISY, 7)
    with pytest.raises(ValueError, match="read-only"):
        maker.noise[0] = 0.5
    thawed = pickle.loads(pickle.dumps(maker))
    assert thawed.secret == maker.secret
    assert not thawed.noise.flags.writeable
    with pytest.raises(InvalidArgumentError):
        CodeMaker.from_seed(NOISY, 7, secret=(5, 1, 1))
    with pytest.raises(InvalidArgumentError):
        CodeMaker(NOISY, (1, 1, 1), np.array([1.0]))
    for seed in (-1, 1.5, "1"):
        with pytest.raises(BnmindError, match="seed"):
            CodeMaker.from_seed(NOISY, seed)  # type: ignore[arg-type]
    with pytest.raises(BnmindError, match="turn below 100, got 100"):
        maker.answer(100, (1, 1, 1))


@given(boards(64).flatmap(channels), st.integers(0, 2**32), st.data())
@settings(max_examples=examples(40))
def test_answers_are_possible_reports_of_the_channel(
    channel: Channel, seed: int, data: st.DataObject
) -> None:
    maker = CodeMaker.from_seed(channel, seed)
    guess = channel.board.code(data.draw(st.integers(0, channel.board.n_codes - 1)))
    true, report = maker.answer(3, guess)
    assert true == reply(guess, maker.secret)
    row = channel.matrix[channel.board.true_replies.index(true)]
    if report is None:
        assert channel.ends
        assert guess == maker.secret
    else:
        assert row[channel.report_index(report)] > 0


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("noise", ["exact", "false", "independent"])
def test_every_strategy_finds_the_code(name: str, noise: str) -> None:
    channel = {
        "exact": Channel.exact(BOARD),
        "false": NOISY,
        "independent": Channel.independent_error(BOARD, 0.15),
    }[noise]
    for seed in range(3):
        maker = CodeMaker.from_seed(channel, seed)
        game = play_game(strategy_by_name(name), maker)
        assert game.won
        assert game.turns[-1].guess == maker.secret
        assert game.turns[-1].report is None
        assert all(turn.guess != maker.secret for turn in game.turns[:-1])
        assert [turn.guess for turn in game.turns[:-1]] == [turn.guess for turn in game.history]
        assert game.strategy == name
        # A game is determined by its seed.
        assert transcript_to_json(play_game(strategy_by_name(name), maker)) == transcript_to_json(
            game
        )


def test_false_wins_do_not_end_a_game() -> None:
    board = Board(2, 2)
    always_two_black = np.zeros((3, 3))
    always_two_black[:, 2] = 1
    only_black = Channel.independent(board, always_two_black, np.eye(3))
    game = play_game(RandomCode(), CodeMaker.from_seed(only_black, 3, secret=(2, 2)))
    assert game.won
    assert {turn.report.black for turn in game.turns if turn.report} <= {2}


def test_the_cap_ends_a_game() -> None:
    maker = CodeMaker.from_seed(Channel.exact(Board(4, 6)), 1, secret=(6, 6, 6, 6))
    game = play_game(Entropy(), maker, ending=Revealed(2))
    assert (game.won, game.guesses, game.declared) == (False, 2, None)
    assert len(game.history) == 2


def test_declared_games_end_with_a_code() -> None:
    for seed in range(10):
        maker = CodeMaker.from_seed(NOISY, seed)
        game = play_game(Entropy(), maker, ending=Declared(0.9))
        belief = TableBelief.start(NOISY)
        for turn in game.history:
            assert belief.codes.probabilities.max() < 0.9
            belief = belief.update(turn.guess, turn.reply)
        assert belief.codes.probabilities.max() >= 0.9 - 1e-9
        assert game.declared == BOARD.code(belief.codes.most_probable(1)[0][0])
        assert game.won == (game.declared == maker.secret)


def test_declared_codes_are_right_as_often_as_they_claim() -> None:
    board = Board(2, 3)
    channel = Channel.independent_error(board, 0.2)
    games = [
        play_game(MapCode(), CodeMaker.from_seed(channel, seed), ending=Declared(0.8))
        for seed in range(400)
    ]
    share = sum(game.won for game in games) / 400
    assert 0.76 < share < 0.95  # at least 0.8, and never certain


def test_a_limited_game_uses_all_its_guesses() -> None:
    maker = CodeMaker.from_seed(NOISY, 2)
    game = play_game(Entropy(), maker, ending=Limit(4))
    assert game.guesses == 4
    assert game.declared is not None
    # A truthful game without the end revealed: the belief is a table, and agrees.
    truthful = CodeMaker.from_seed(Channel.exact(BOARD), 2)
    game = play_game(Entropy(), truthful, ending=Limit(6))
    assert (game.won, game.declared) == (True, truthful.secret)


def test_endings_are_checked() -> None:
    for limit, told in ((0, "from 1"), (-1, "from 1"), (2.5, "limit to be a whole number")):
        for ending in (Revealed, Limit):
            with pytest.raises(BnmindError, match=told):
                ending(limit)  # type: ignore[arg-type]
    for certainty in (0, 1.2, float("nan")):
        with pytest.raises(InvalidArgumentError):
            Declared(certainty)
    with pytest.raises(BnmindError, match="generator"):
        play_game(Entropy(), CodeMaker(NOISY, (1, 1, 1), np.zeros(3)))
    with pytest.raises(BnmindError, match="turn below 1, got 1"):
        play_game(Entropy(), CodeMaker(NOISY, (4, 4, 4), np.zeros(1)), rng=np.random.default_rng(0))


def test_the_assumed_channel_may_differ() -> None:
    real = Channel.independent_error(BOARD, 0.2)
    maker = CodeMaker.from_seed(real, 11)
    other = Channel.independent_error(BOARD, 0.1)
    assert play_game(Entropy(), maker, assumed=other).assumed.name == "independent:0.1"
    # One who assumes the truth hears replies that no code draws, and goes on.
    trusting = play_game(Entropy(), maker, assumed=Channel.exact(BOARD))
    assert trusting.won
    assert trusting.assumed.name == "exact"
    assert transcript_to_json(replay(trusting, Entropy())) == transcript_to_json(trusting)
    # Knuth trusts whatever is assumed.
    guesses = [turn.guess for turn in play_game(Knuth(), maker).turns]
    assumed = play_game(Knuth(), maker, assumed=Channel.exact(BOARD))
    assert guesses == [turn.guess for turn in assumed.turns]


def test_assumed_channels_that_exclude_possible_reports() -> None:
    real = Channel.independent_error(BOARD, 0.2)
    for assumed, ending in ((NOISY, Revealed()), (NOISY, Limit(3))):
        with pytest.raises(InvalidArgumentError, match="never reports"):
            assumed_channel(real, assumed, ending)
    with pytest.raises(InvalidArgumentError, match="of the board 3x4"):
        assumed_channel(real, Channel.exact(Board(2, 2)), Revealed())
    with pytest.raises(InvalidArgumentError, match="does not reveal"):
        assumed_channel(real.revealed(), None, Declared())
    assert assumed_channel(NOISY, Channel.exact(BOARD), Revealed()).is_exact


@pytest.mark.parametrize("ending", ENDINGS, ids=repr)
@pytest.mark.parametrize("name", ["entropy", "map"])
def test_transcripts_are_saved_and_replayed(name: str, ending: Ending) -> None:
    game = play_game(strategy_by_name(name), CodeMaker.from_seed(NOISY, 5), ending=ending)
    text = transcript_to_json(game)
    read = transcript_from_json(text)
    assert transcript_to_json(read) == text
    assert (read.secret, read.ending, read.won) == (game.secret, ending, game.won)
    assert transcript_to_json(replay(read)) == text
    assert transcript_to_json(replay(read, strategy_by_name(name))) == text


@pytest.mark.parametrize("noise", [0.0, 0.2, 1 / 3])
def test_transcripts_read_back_to_the_last_bit(noise: float) -> None:
    for board in (Board(3, 4), Board(4, 6)):
        maker = CodeMaker.from_seed(Channel.false_reply(board, noise), 7)
        game = play_game(MapCode(), maker)
        again = transcript_from_json(transcript_to_json(game))
        assert transcript_to_json(again) == transcript_to_json(game)
        assert np.array_equal(again.channel.matrix, game.channel.matrix)


@pytest.mark.parametrize("name", ["knuth", "random", "entropy"])
@pytest.mark.parametrize("ending", [Declared(), Limit(6)], ids=str)
def test_trusting_strategies_continue_after_contradictions(name: str, ending: Ending) -> None:
    board = Board(4, 6)
    noisy, exact = Channel.false_reply(board, 0.2), Channel.exact(board)
    for seed in range(8):
        maker = CodeMaker.from_seed(noisy, seed)
        game = play_game(strategy_by_name(name), maker, ending=ending, assumed=exact)
        assert game.guesses >= 1


def test_a_changed_transcript_is_found_out() -> None:
    game = play_game(Entropy(), CodeMaker.from_seed(NOISY, 5))
    first, *others = game.turns

    def with_first(**changes: object) -> Transcript:
        return replace(game, turns=(replace(first, **changes), *others))  # type: ignore[arg-type]

    other = next(r for r in NOISY.reports if r != first.report)
    for changed, what in (
        (with_first(report=other), "report"),
        (with_first(true_reply=Reply(0, 3)), "true reply"),
        (replace(game, won=False), "won"),
        (replace(game, turns=game.turns[:-1]), "goes on until it is won"),
        (replace(game, turns=(game.turns[-1], *game.turns)), "guesses 7"),
    ):
        with pytest.raises(BnmindError, match=what):
            replay(changed)
    with pytest.raises(BnmindError, match=r"guess .* in turn 1"):
        replay(with_first(guess=(1, 1, 1)), Entropy())
    with pytest.raises(BnmindError, match="generator"):
        replay(replace(game, seed=None), MapCode())


def test_files_that_are_no_transcripts() -> None:
    text = transcript_to_json(play_game(Entropy(), CodeMaker.from_seed(NOISY, 5)))

    def changed(**changes: object) -> str:
        return json.dumps(json.loads(text) | changes)

    for faulty, what in (
        ("", "Invalid JSON"),
        ("{}", "schema: this key is missing"),
        (text[:-20], "Invalid JSON.* line "),
        (changed(version=2), "version"),
        (changed(secret=[1, 1, 9]), "colors 1 to 4"),
        (changed(secret="111"), "secret"),
        (changed(extra=1), "extra"),
        (changed(ending={"kind": "never"}), "ending"),
        (changed(ending={"kind": "limit", "limit": 0}), "limit to be a whole number from 1"),
        (changed(board={"pegs": 0, "colors": 4, "repeats": True}), "pegs"),
        (
            changed(channel={"name": "x", "reports": ["0b0w"], "matrix": [[1.0]], "ends": False}),
            "matrix",
        ),
    ):
        with pytest.raises(ModelFileError, match=what) as caught:
            transcript_from_json(faulty)
        assert "\n" not in str(caught.value)
