"""The scores of guesses one and two steps ahead, and the choice among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Count, NonNegative, Value
from bnmind.information import Floats
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.strategies.base.strategy import GuessInfo
from bnmind.strategies.belief_game.candidates import (
    ALL_GUESSES,
    Candidates,
    plausible_codes,
)
from bnmind.strategies.belief_game.two_step_kernel import after_two_guesses
from bnmind.strategies.belief_game.value import BeliefValue
from bnmind.strategies.belief_game.value_kernel import after_one_guess, channel_powers

__all__ = [
    "Pruning",
    "best_of",
    "choose_two_steps_ahead",
    "leading_guesses",
    "one_step_values",
    "two_step_values",
]

_TOLERANCE = 1e-9  # scores closer than this are equal
_CERTAIN = 0.97  # a code of at least this probability needs no second step
_DIGITS = 12  # probabilities that agree in so many digits are equal
_LEFT_OUT = 2e-2  # the share of the belief that two-step search takes for impossible


@dataclass(frozen=True, kw_only=True)
class Pruning(Value):
    """The guesses that two-step look-ahead compares.

    Raises
    ------
    InvalidArgumentError
        If `firsts` or `seconds` is less than one, or `window` or `least` is negative or not
        finite.
    """

    firsts: Count = 8
    """The number of guesses to compare: those of the best one-step scores."""
    seconds: Count = 8
    """The number of next guesses to evaluate for each reply: the most promising candidates."""
    window: NonNegative = 0.1
    """Guesses whose one-step score exceeds the best by more than this are not compared."""
    least: NonNegative = 0.004
    """Replies of a smaller probability count with the value of the belief after them."""


def one_step_values(
    codes: CodeDistribution, channel: Channel, considered: Candidates, value: BeliefValue
) -> Floats:
    """Return one plus the expected value of the belief after each guess, ``(guesses,)``."""
    q = codes.probabilities
    return after_one_guess(
        considered.rows,
        q,
        plausible_codes(q),
        channel_powers(channel),
        np.array(value.coefficients),
    )


def two_step_values(
    codes: CodeDistribution,
    channel: Channel,
    firsts: NDArray[np.uint8],
    seconds: NDArray[np.uint8],
    value: BeliefValue,
    *,
    pruning: Pruning,
    share: float = _LEFT_OUT,
) -> Floats:
    """Return one plus the expected least one-step score after each first guess.

    Parameters
    ----------
    codes, channel, value
        The belief, the channel, and the value at the end of the search.
    firsts, seconds
        The true replies of each code to the guesses, ``(guesses, n_codes)``.
    pruning
        The limits of the search.
    share
        The total probability of improbable codes that the search takes for impossible.

    Returns
    -------
    Floats
        ``(firsts,)``.
    """
    kept = plausible_codes(codes.probabilities, share=share)
    q = codes.probabilities / codes.probabilities[kept].sum()
    powers, coefficients = channel_powers(channel), np.array(value.coefficients)
    return np.array(
        [
            after_two_guesses(
                row, seconds, q, kept, powers, coefficients, pruning.least, pruning.seconds
            )
            for row in firsts
        ]
    )


def choose_two_steps_ahead(
    codes: CodeDistribution,
    channel: Channel,
    considered: Candidates,
    value: BeliefValue,
    *,
    turn: int,
    pruning: Pruning,
) -> tuple[int, GuessInfo]:
    """Return the guess of the least two-step score among the best by one step.

    Before the first reply, the candidates of large boards are too few to be next guesses; there the
    first guess is the best by one step.
    """
    scores = one_step_values(codes, channel, considered, value)
    q = codes.probabilities[considered.guesses]
    firsts = leading_guesses(scores, q, pruning)
    is_large = codes.board.n_codes > ALL_GUESSES
    if len(firsts) == 1 or q.max() >= _CERTAIN or (turn == 0 and is_large):
        return best_of(considered.guesses, scores, codes)
    deeper = two_step_values(
        codes,
        channel,
        considered.rows[firsts],
        considered.rows,
        value,
        pruning=pruning,
    )
    return best_of(
        considered.guesses[firsts],
        deeper,
        codes,
        evaluated=len(considered.guesses) + len(firsts) * len(considered.guesses),
    )


def leading_guesses(scores: Floats, q: Floats, pruning: Pruning) -> NDArray[np.intp]:
    """Return the places of the guesses to compare, the least score first.

    Guesses of equal scores are mostly equivalent; the most probable one stands for them.

    Parameters
    ----------
    scores
        The one-step scores, ``(guesses,)``.
    q
        The probability of each guess to be the code, ``(guesses,)``.
    pruning
        The number of guesses, and how much worse than the best they may be.
    """
    order = np.argsort(scores, kind="stable")
    groups = np.concatenate([[0], np.cumsum(np.diff(scores[order]) > _TOLERANCE)])
    ranked = order[np.lexsort((order, -np.round(q[order], _DIGITS), groups))]
    firsts: NDArray[np.intp] = ranked[np.unique(groups, return_index=True)[1]]
    close: NDArray[np.intp] = firsts[scores[firsts] <= scores.min() + pruning.window]
    return close[: pruning.firsts]


def best_of(
    guesses: NDArray[np.intp],
    scores: Floats,
    codes: CodeDistribution,
    *,
    evaluated: int | None = None,
) -> tuple[int, GuessInfo]:
    """Return the guess of the least score; among equals the most probable, then the smallest."""
    tied = guesses[scores <= scores.min() + _TOLERANCE]
    probabilities = codes.probabilities[tied]
    guess = int(tied[probabilities >= probabilities.max() * (1 - _TOLERANCE)].min())
    return guess, GuessInfo(
        guess,
        score=float(scores.min()),
        tied=len(tied),
        evaluated=len(guesses) if evaluated is None else evaluated,
    )
