"""A third step of look-ahead on a fitted value: its gain measures how much search is missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.masses.reply_table import replies_of
from bnmind.strategies.belief_game.candidates import candidates
from bnmind.strategies.belief_game.steps import (
    Pruning,
    leading_guesses,
    one_step_values,
    two_step_values,
)
from bnmind.strategies.belief_game.value import BeliefValue

__all__ = ["ThirdStep", "third_step", "three_step_value"]

_SHARE = 1e-3  # the share of improbable codes that two-step search takes for impossible here
_FIRSTS = Pruning(firsts=10)
_LATER = Pruning(firsts=4, seconds=12, window=0.05)
_COMPARED = 5


@dataclass(frozen=True, kw_only=True)
class ThirdStep(Value):
    """The loss of two choices by the scores of guesses three steps ahead, in guesses."""

    one_step: float
    """The loss of the guess that is best by one step."""
    two_steps: float
    """The loss of the guess that is best by two steps."""


def third_step(codes: CodeDistribution, channel: Channel, value: BeliefValue) -> ThirdStep:
    """Compare guesses three steps ahead.

    These are the five guesses that are best two steps ahead, and the one that is best one step
    ahead. The value at the end of the search is the same whatever the number of steps, so the loss
    is due to the search and not to the value.

    Parameters
    ----------
    codes
        The belief, on a board of up to 2,048 codes.
    channel
        The channel.
    value
        The value at the end of the search.
    """
    considered = candidates(codes, channel, ())
    scores = one_step_values(codes, channel, considered, value)
    firsts = leading_guesses(scores, codes.probabilities[considered.guesses], _FIRSTS)
    rows = considered.rows
    two = two_step_values(codes, channel, rows[firsts], rows, value, pruning=_LATER, share=_SHARE)
    compared = np.argsort(two, kind="stable")[:_COMPARED].tolist()
    compared += [0] * (0 not in compared)
    three = [
        three_step_value(codes, channel, int(considered.guesses[firsts[place]]), value)
        for place in compared
    ]
    least = min(three)
    return ThirdStep(one_step=three[compared.index(0)] - least, two_steps=three[0] - least)


def three_step_value(
    codes: CodeDistribution,
    channel: Channel,
    guess: int,
    value: BeliefValue,
    *,
    pruning: Pruning = _LATER,
    share: float = _SHARE,
) -> float:
    """Return one plus the expected least two-step score after a guess.

    Parameters
    ----------
    codes, channel, value
        As for `third_step`.
    guess
        The index of the guess.
    pruning, share
        The limits of the search after each reply, as for `two_step_values`. Replies of a
        probability below ``pruning.least`` count with the least one-step score.
    """
    board, matrix = codes.board, channel.revealed().matrix[:-1, :-1]
    replies = replies_of(board, guess)
    going_on = replies < len(matrix)
    expected = 1.0
    for outcome in range(matrix.shape[1]):
        weights = np.zeros(board.n_codes)
        weights[going_on] = codes.probabilities[going_on] * matrix[replies[going_on], outcome]
        chance = float(weights.sum())
        if chance > 0:
            after = CodeDistribution(board, weights / chance)
            expected += chance * _best_score(after, channel, value, pruning, share, chance)
    return expected


def _best_score(
    codes: CodeDistribution,
    channel: Channel,
    value: BeliefValue,
    pruning: Pruning,
    share: float,
    chance: float,
) -> float:
    considered = candidates(codes, channel, ())
    scores = one_step_values(codes, channel, considered, value)
    if chance < pruning.least:
        return float(scores.min())
    rows = considered.rows
    firsts = rows[leading_guesses(scores, codes.probabilities[considered.guesses], pruning)]
    deeper = two_step_values(codes, channel, firsts, rows, value, pruning=pruning, share=share)
    return float(deeper.min())
