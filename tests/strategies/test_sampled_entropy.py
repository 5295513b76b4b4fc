"""Minimal expected entropy from samples: the choice, its score, and games on large boards."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats, information
from bnmind.lab import CodeMaker, play_game
from bnmind.lab.mastermind import advise
from bnmind.lab.mastermind.advice import belief_after, found, start
from bnmind.mastermind import (
    Board,
    Channel,
    Reply,
    SampledBelief,
    SamplerOptions,
    TableBelief,
    Turn,
    VanishingBelief,
    parse_prior,
    reply,
)
from bnmind.strategies import Entropy, SampledEntropy, sampled_players
from tests.command_line import assert_one_line_error, run, run_json
from tests.modes import UNCOMPILED

pytestmark = pytest.mark.skipif(UNCOMPILED, reason="the walks take minutes")

RNG = np.random.default_rng(0)
QUICK = SampledEntropy(options=SamplerOptions(size=32), candidates=256)


def test_the_opening_is_the_best_share_of_pegs_among_colors() -> None:
    channel = Channel.exact(Board(4, 6)).revealed()
    strategy = SampledEntropy()
    guess, info = strategy.choose(strategy.start(channel), RNG)
    assert channel.board.code(guess) in {(1, 2, 3, 4), (1, 1, 2, 3)}
    assert info.evaluated == 5  # the partitions of 4
    assert info.information == pytest.approx(3.05, abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_choice_is_nearly_as_informative_as_the_best_of_all_guesses(seed: int) -> None:
    board = Board(5, 8)
    channel, rng = Channel.exact(board).revealed(), np.random.default_rng(seed)
    maker = CodeMaker.from_seed(channel, seed)
    sampled, exact = QUICK.start(channel), VanishingBelief.start(board)
    for _ in range(2):
        guess = tuple(rng.integers(1, 9, size=5).tolist())
        _, report = maker.answer(0, guess)
        assert report is not None
        sampled, exact = sampled.update(guess, report), exact.update(guess, report)
    index, info = QUICK.choose(sampled, RNG)
    best = Entropy().choose(exact, RNG)[1].information
    told = float(information(exact.masses(np.array([index]))[0], channel.matrix))
    assert sampled.info.listed
    assert info.information == pytest.approx(told)
    assert info.score == pytest.approx(exact.entropy() - told)
    assert best + 1e-9 >= told > best - 0.15


def test_possible_codes_come_first_among_equal_guesses() -> None:
    board, rng = Board(4, 6), np.random.default_rng(2)
    maker = CodeMaker.from_seed(Channel.exact(board), 5)
    belief = QUICK.start(maker.channel.revealed())
    while len(belief.samples[0]) > 3:
        guess = tuple(rng.integers(1, 7, size=4).tolist())
        belief = belief.update(guess, reply(guess, maker.secret))
    index, info = QUICK.choose(belief, RNG)
    assert len(belief.samples[0]) > 1
    assert info.tied > 1
    assert board.code(index) in {tuple(code) for code in belief.samples[0].tolist()}


def test_it_chooses_from_any_posterior_and_under_any_prior() -> None:
    board = Board(4, 6)
    channel = Channel.false_reply(board, 0.2).revealed()
    exact = TableBelief.start(channel).update((1, 1, 2, 3), Reply(1, 1))
    guess, info = QUICK.choose(exact, RNG)
    told = float(information(exact.masses(np.array([guess]))[0], channel.matrix))
    assert info.information == pytest.approx(told, abs=0.1)
    prior = parse_prior(board, "two-color")
    belief = QUICK.start(channel, prior)
    assert isinstance(belief, SampledBelief)
    assert len(set(board.code(QUICK.choose(belief, RNG)[0]))) <= 4


def test_a_warning_of_the_sampler_is_passed_on() -> None:
    poor = SampledEntropy(options=SamplerOptions(islands=8, size=2, steps=1), candidates=8)
    belief = poor.start(Channel.false_reply(Board(8, 10), 0.2).revealed())
    for code in ((1, 2, 3, 4, 5, 6, 7, 8), (8, 7, 6, 5, 4, 3, 2, 1), (1, 1, 3, 3, 5, 5, 7, 7)):
        belief = belief.update(code, Reply(2, 2)).update(code[::-1], Reply(1, 5))
    assert "disagree" in poor.choose(belief, RNG)[1].note


def test_bad_options_are_rejected() -> None:
    with pytest.raises(InvalidArgumentError, match="candidates"):
        SampledEntropy(candidates=3)


def test_a_game_on_a_board_beyond_enumeration_is_reproducible_and_won() -> None:
    maker = CodeMaker.from_seed(Channel.exact(Board(8, 12)), 3)
    game, again = play_game(QUICK, maker), play_game(QUICK, maker)
    assert game.won
    assert game.guesses <= 11
    assert [turn.guess for turn in game.turns] == [turn.guess for turn in again.turns]


@pytest.mark.parametrize("seed", range(4))
def test_the_last_bits_of_information_change_no_guess(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = CodeMaker.from_seed(Channel.exact(Board(5, 8)), seed)
    game = play_game(QUICK, maker)

    def on_another_machine(masses: Floats, matrix: Floats) -> Floats:
        bits: Floats = information(masses, matrix)
        bits *= 1 + np.random.default_rng(len(bits)).choice([-4e-16, 0, 4e-16], bits.shape)
        return bits

    monkeypatch.setattr(sampled_players, "information", on_another_machine)
    again = play_game(QUICK, maker)
    assert [turn.guess for turn in game.turns] == [turn.guess for turn in again.turns]


def test_advice_on_a_board_beyond_enumeration_comes_from_samples() -> None:
    board = Board(10, 12)
    turns = [Turn((1, 1, 2, 2, 3, 3, 4, 4, 5, 5), Reply(2, 3))]
    belief = belief_after(start(Channel.exact(board)), turns)
    advice = advise(belief, RNG)
    assert advice.possible_codes is None
    assert 0 < advice.entropy_error < 0.2
    assert advice.contradictions == 0
    secret = (1, 2, 2, 1, 3, 6, 4, 7, 8, 9)
    assert found(belief, Turn(secret, board.winning)).guess == board.format(secret)


def test_the_command_line_suggests_and_compares_on_boards_beyond_enumeration() -> None:
    large = ("--pegs", "10", "--colors", "12")
    history = "1 1 2 2 3 3 4 4 5 5 2b3w"
    advice = run_json("suggest", *large, "--noise", "false:0.2", "--history", history)
    assert advice["possible_codes"] is None
    assert advice["entropy_error"] > 0
    assert 0 < advice["doubts"][0]["probability_wrong"] < 1
    shown = run("suggest", *large, "--history", history).stdout
    assert "estimated from samples" in shown
    assert_one_line_error(run("suggest", *large, "--strategy", "entropy", "--history", "1 1 2b"))
