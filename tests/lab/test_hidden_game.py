"""A game as a value, and what the replies say."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.errors import BnmindError, InvalidArgumentError
from bnmind.lab import CodeMaker
from bnmind.lab.mastermind.advice import (
    changed,
    color_probabilities,
    true_replies,
    winning_probability,
)
from bnmind.lab.mastermind.games import HiddenGame
from bnmind.mastermind import Board, Channel, Reply, SampledBelief, TableBelief, Turn, reply

BOARD = Board(3, 4)
CHANNEL = Channel.false_reply(BOARD, 0.3)
MAKER = CodeMaker.from_seed(CHANNEL.revealed(), 5, turns=4)


def test_a_game_ends_with_the_code_and_answers_like_the_code_maker() -> None:
    wrong = (1, 1, 1) if MAKER.secret != (1, 1, 1) else (2, 2, 2)
    game = HiddenGame(MAKER).guess(wrong)
    true, report = MAKER.answer(0, wrong)
    answered = game.answered[0]
    assert answered.is_false == (report != true)
    assert answered == (wrong, true, report)
    won = game.guess(MAKER.secret)
    assert (game.is_over, won.is_over, won.is_won, won.guesses_left) == (False, True, True, 2)
    assert won.turns == game.turns
    with pytest.raises(InvalidArgumentError):
        won.guess(wrong)
    back = won.undo().undo()
    assert (back.guesses, back.undone) == ((), 2)
    with pytest.raises(InvalidArgumentError):
        back.undo()


def test_giving_up_can_be_undone_and_a_won_game_is_not_given_up() -> None:
    game = HiddenGame(MAKER)
    assert game.give_up().is_over
    assert not game.give_up().undo().is_over
    assert not game.guess(MAKER.secret).give_up().given_up
    assert game.with_hint().hints == 1
    with pytest.raises(BnmindError):
        game.guess((1, 2))


def brute_force(belief: TableBelief) -> list[tuple[tuple[int, ...], float]]:
    codes = [tuple(int(c) for c in code) for code in BOARD.codes]
    return list(zip(codes, belief.codes.probabilities.tolist(), strict=True))


def test_what_the_replies_say_by_brute_force() -> None:
    belief = (
        TableBelief.start(CHANNEL).update((1, 1, 2), Reply(1, 0)).update((3, 1, 4), Reply(0, 2))
    )
    weights = brute_force(belief)
    for guess in ((1, 1, 2), (2, 3, 1)):
        told = dict(true_replies(belief, guess))
        for one in BOARD.true_replies:
            mass = sum(p for code, p in weights if reply(guess, code) == one)
            assert told.get(one, 0.0) == pytest.approx(mass)
        assert winning_probability(belief, guess) == pytest.approx(dict(weights)[guess])
    shares = color_probabilities(belief)
    for position in range(3):
        for color in range(1, 5):
            mass = sum(p for code, p in weights if code[position] == color)
            assert shares[position][color - 1] == pytest.approx(mass)


def test_color_shares_of_samples_are_close() -> None:
    exact = np.array(color_probabilities(TableBelief.start(CHANNEL.revealed())))
    sampled = np.array(color_probabilities(SampledBelief.start(CHANNEL.revealed())))
    assert exact == pytest.approx(np.full((3, 4), 0.25))
    assert np.abs(exact - sampled).max() < 0.05


def test_a_changed_history() -> None:
    turns = (Turn((1, 1, 1), Reply(0, 0)), Turn((2, 2, 2), Reply(1, 0)))
    assert changed(turns, 0, None) == turns[1:]
    assert changed(turns, 1, Reply(2, 0)) == (turns[0], Turn((2, 2, 2), Reply(2, 0)))
    for row in (-1, 2):
        with pytest.raises(InvalidArgumentError):
            changed(turns, row, None)
