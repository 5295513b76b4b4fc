"""One-step look-ahead against a slow computation that conditions on each outcome."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind import Board, Channel, CodeDistribution, Reply, TableBelief, reply
from bnmind.strategies import BeliefValue, Entropy, LookAhead, Pruning
from bnmind.strategies.belief_search import (
    candidates,
    one_step_values,
    plausible_codes,
    two_step_values,
)
from bnmind.strategies.belief_value import INITIAL, belief_features

CHANNELS = {
    f"{board} {name}": make(board, p).revealed()
    for board in (Board(2, 3), Board(3, 3))
    for name, make, p in (
        ("false", Channel.false_reply, 0.2),
        ("independent", Channel.independent_error, 0.3),
        ("exact", Channel.false_reply, 0.0),
    )
}


def conditioned(q: Floats, channel: Channel, guess: int) -> list[tuple[float, Floats]]:
    """Return the probability of each report to a guess, and the belief after it."""
    board = channel.board
    true = [reply_place(board, guess, code) for code in range(len(q))]
    after = []
    for outcome in range(len(channel.reports)):
        weights = q * channel.matrix[true, outcome]
        if weights.sum() > 1e-12:
            after.append((float(weights.sum()), weights / weights.sum()))
    return after


@cache
def reply_place(board: Board, guess: int, code: int) -> int:
    """Return the index of the true reply."""
    return board.true_replies.index(_reply(board, guess, code))


def _reply(board: Board, guess: int, code: int) -> Reply:
    return reply(board.code(guess), board.code(code))


@st.composite
def beliefs(draw: st.DrawFn, n: int) -> Floats:
    """Distributions over n codes, some of them of very unequal probabilities."""
    weights = np.array(draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), dtype=float)
    weights = np.where(weights > 0, 10.0 ** (-weights / 2), 0.0)
    if not weights.any():
        weights[:] = 1.0
    return np.asarray(weights / weights.sum())


COEFFICIENTS = st.lists(st.floats(0.0, 0.3), min_size=6, max_size=6)


@pytest.mark.parametrize("name", CHANNELS)
@settings(max_examples=20)
@given(data=st.data())
def test_the_scores_are_those_of_conditioning_on_every_outcome(
    name: str, data: st.DataObject
) -> None:
    channel = CHANNELS[name]
    q = data.draw(beliefs(channel.board.n_codes))
    value = BeliefValue(coefficients=tuple(data.draw(COEFFICIENTS)))
    codes = CodeDistribution(channel.board, q)
    considered = candidates(codes, channel, ())
    scores = one_step_values(codes, channel, considered, value)
    for guess, score in zip(considered.guesses.tolist(), scores.tolist(), strict=True):
        after = conditioned(q, channel, guess)
        expected = 1 + sum(chance * value.of(belief) for chance, belief in after)
        assert score == pytest.approx(expected, abs=2e-3)  # implausible codes are left out


@pytest.mark.parametrize("name", CHANNELS)
@settings(max_examples=3)
@given(data=st.data())
def test_two_steps_are_the_best_one_step_after_every_outcome(
    name: str, data: st.DataObject
) -> None:
    channel = CHANNELS[name]
    board = channel.board
    q = data.draw(beliefs(board.n_codes))
    value = BeliefValue(coefficients=tuple(data.draw(COEFFICIENTS)))
    considered = candidates(CodeDistribution(board, q), channel, ())
    guess = data.draw(st.integers(0, board.n_codes - 1))
    everything = Pruning(seconds=board.n_codes, least=0.0)
    score = two_step_values(
        CodeDistribution(board, q),
        channel,
        considered.rows[[guess]],
        considered.rows,
        value,
        pruning=everything,
        share=0.0,
    )
    expected = 1.0
    for chance, belief in conditioned(q, channel, guess):
        scores = (
            1 + sum(p * value.of(after) for p, after in conditioned(belief, channel, following))
            for following in range(board.n_codes)
        )
        expected += chance * min(scores)
    assert score == pytest.approx([expected], abs=1e-6)


@pytest.mark.parametrize("wrong", [{"firsts": 0}, {"seconds": 0}])
def test_pruning_keeps_at_least_one_guess(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidArgumentError, match="to be a whole number of at least 1, got 0"):
        Pruning(**wrong)


def test_features_of_a_known_code_are_zero() -> None:
    assert belief_features(np.array([0.0, 1.0])).tolist() == [0.0] * 6


def test_features_of_a_uniform_belief() -> None:
    features = belief_features(np.full(16, 1 / 16))
    assert features == pytest.approx([4.0, 4.0, 16.0, 16.0, 16.0, 0.75])


def test_implausible_codes_are_at_most_a_ten_thousandth() -> None:
    q = np.array([0.5, 0.49985, 0.00005, 0.00004, 0.00006, 0.0])
    assert plausible_codes(q).tolist() == [0, 1, 4]


@pytest.mark.parametrize("coefficients", [(1.0,), (float("nan"),) * 6])
def test_coefficients_that_do_not_fit_are_refused(coefficients: tuple[float, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match="expected 6 finite coefficients"):
        BeliefValue(coefficients=coefficients)


def test_a_probable_code_is_guessed_where_entropy_would_ask_further() -> None:
    board = Board(3, 4)
    belief = TableBelief.start(Channel.false_reply(board, 0.2).revealed())
    for guess, secret in (((1, 1, 2), (2, 4, 1)), ((1, 2, 4), (2, 4, 1)), ((3, 4, 1), (2, 4, 1))):
        belief = belief.update(guess, _reply(board, board.index(guess), board.index(secret)))
    rng = np.random.default_rng(0)
    value = BeliefValue(coefficients=INITIAL)
    curious = belief.codes.probabilities[Entropy().choose(belief, rng)[0]]
    assert belief.codes.probabilities[LookAhead(value=value).choose(belief, rng)[0]] >= curious
