"""Three steps of look-ahead against a slow computation that conditions on each outcome."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.information import Floats
from bnmind.mastermind import Board, Channel, CodeDistribution, reply
from bnmind.strategies import BeliefValue, Pruning
from bnmind.strategies.belief_game import third_step
from bnmind.strategies.belief_game.third_step import three_step_value
from bnmind.strategies.belief_game.value import INITIAL

BOARD = Board(2, 2)
CHANNEL = Channel.false_reply(BOARD, 0.2).revealed()
VALUE = BeliefValue(coefficients=INITIAL)


def after(q: Floats, guess: int, steps: int) -> float:
    """Return one plus the expected value after a guess, with the best guesses that follow."""
    true = [
        BOARD.true_replies.index(reply(BOARD.code(guess), BOARD.code(code)))
        for code in range(BOARD.n_codes)
    ]
    expected = 1.0
    for outcome in range(len(CHANNEL.reports)):
        weights = q * CHANNEL.matrix[true, outcome]
        if (chance := float(weights.sum())) > 0:
            belief = weights / chance
            expected += chance * (
                VALUE.of(belief)
                if steps == 1
                else min(after(belief, code, steps - 1) for code in range(BOARD.n_codes))
            )
    return expected


@pytest.mark.parametrize("q", [[0.25] * 4, [0.5, 0.3, 0.2, 0.0]])
def test_three_steps_are_the_best_two_steps_after_every_outcome(q: list[float]) -> None:
    codes = CodeDistribution(BOARD, np.array(q))
    everything = Pruning(firsts=4, seconds=4, window=9.0, least=0.0)
    for guess in range(BOARD.n_codes):
        score = three_step_value(codes, CHANNEL, guess, VALUE, pruning=everything, share=0.0)
        assert score == pytest.approx(after(np.array(q), guess, 3), abs=1e-6)


def test_the_losses_are_small_where_little_can_be_lost() -> None:
    lost = third_step(CodeDistribution(BOARD, np.full(4, 0.25)), CHANNEL, VALUE)
    assert 0 <= lost.two_steps <= lost.one_step < 0.5
