"""What strategies choose: against the paper's procedure, word for word, and against counting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.mastermind import (
    Board,
    Channel,
    ExactBelief,
    Reply,
    TableBelief,
    VanishingBelief,
    reply,
)
from bnmind.strategies import (
    Entropy,
    Knuth,
    MapCode,
    RandomCode,
    describe_guess,
    start_belief,
    trust_suffices,
    trusting_channel,
)
from tests.mastermind.generators import boards, channels, possible_histories
from tests.modes import examples

RNG = np.random.default_rng(0)


def expected_entropies(belief: TableBelief) -> list[float]:
    """Condition on every t, p′, c′ and average the entropies: the procedure of the paper."""
    board, channel = belief.board, belief.channel
    q = belief.codes.probabilities
    expected = []
    for guess in board.codes.tolist():
        average = 0.0
        for reported in channel.reports:
            joint = [
                float(q[index])
                * float(channel.likelihood(reported)[board.true_replies.index(reply(guess, code))])
                for index, code in enumerate(board.codes.tolist())
            ]
            evidence = math.fsum(joint)
            if evidence > 0:
                posterior = [p / evidence for p in joint]
                average += evidence * -math.fsum(p * math.log2(p) for p in posterior if p > 0)
        expected.append(average)
    return expected


@st.composite
def unrevealed_beliefs(draw: st.DrawFn, max_codes: int) -> TableBelief:
    """Beliefs in the middle of a game that nobody ends, exact or noisy."""
    board = draw(boards(max_codes))
    channel = draw(channels(board, revealed=False))
    _, history = draw(possible_histories(channel, max_turns=2))
    belief = TableBelief.start(channel)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    return belief


@given(unrevealed_beliefs(16))
@settings(max_examples=examples(40))
def test_entropy_agrees_with_the_paper(belief: TableBelief) -> None:
    expected = expected_entropies(belief)
    guess, info = Entropy().choose(belief, RNG)
    best = min(expected)
    assert expected[guess] == pytest.approx(best, abs=1e-9)
    assert info.score == info.expected_entropy == pytest.approx(expected[guess], abs=1e-9)
    tied = [t for t, value in enumerate(expected) if value < best + 0.9e-9]
    probability = belief.codes.probabilities
    assert probability[guess] >= max(probability[t] for t in tied) - 1e-8
    for t, code in enumerate(belief.board.codes.tolist()):
        described = describe_guess(belief, code)
        assert described.expected_entropy == pytest.approx(expected[t], abs=1e-9)
        entropy = belief.codes.entropy()
        assert described.information == pytest.approx(entropy - expected[t], abs=1e-9)


def test_entropy_prefers_codes_that_are_possible_then_small_ones() -> None:
    board = Board(4, 6)
    belief = start_belief(Channel.exact(board).revealed())
    assert board.code(Entropy().choose(belief, RNG)[0]) == (1, 2, 3, 4)
    for guess in ((1, 1, 2, 2), (3, 3, 4, 4), (1, 3, 5, 5), (5, 1, 6, 6)):
        belief = belief.update(guess, reply(guess, (6, 6, 6, 5)))
    possible = np.flatnonzero(belief.codes.probabilities)
    assert [board.code(int(index)) for index in possible] == [(6, 6, 5, 6), (6, 6, 6, 5)]
    index, info = Entropy().choose(belief, RNG)
    # Many guesses tell the two apart; of those, only two can win at once.
    assert board.code(index) == (6, 6, 5, 6)
    assert info.information == pytest.approx(1)
    assert info.tied > 2


@given(boards(81).flatmap(lambda board: channels(board, revealed=True)), st.data())
@settings(max_examples=examples(30))
def test_map_guesses_one_of_the_most_probable_codes(channel: Channel, data: st.DataObject) -> None:
    _, history = data.draw(possible_histories(channel, max_turns=3))
    belief: ExactBelief = TableBelief.start(channel)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    p = belief.codes.probabilities
    tied = set(np.flatnonzero(p >= p.max() * (1 - 1e-9)).tolist())
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    guesses = {MapCode().choose(belief, rng)[0] for _ in range(20)}
    assert guesses <= tied
    assert MapCode().choose(belief, rng)[1].tied == len(tied)
    assert len(guesses) > 1 or len(tied) < 3


@given(st.data())
@settings(max_examples=examples(30))
def test_knuth_counts(data: st.DataObject) -> None:
    board = data.draw(boards(27))
    channel = Channel.exact(board).revealed()
    _, history = data.draw(possible_histories(channel, max_turns=2))
    belief = Knuth().start(channel)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    possible = [board.code(int(i)) for i in np.flatnonzero(belief.codes.probabilities)]

    def judged(index: int) -> tuple[int, bool, int]:
        replies = [reply(board.code(index), code) for code in possible]
        worst = max(replies.count(one) for one in replies)
        return worst, board.code(index) not in possible, index

    worst, _, best = min(judged(index) for index in range(board.n_codes))
    guess, info = Knuth().choose(belief, RNG)
    assert (guess, info.score) == (best, worst)


def test_random_guesses_every_possible_code_equally_often() -> None:
    board = Board(2, 3)
    belief = RandomCode().start(Channel.exact(board).revealed()).update((1, 1), Reply(1, 0))
    rng = np.random.default_rng(5)
    drawn = [RandomCode().choose(belief, rng)[0] for _ in range(4000)]
    possible = np.flatnonzero(belief.codes.probabilities)
    shares = np.bincount(drawn, minlength=board.n_codes)[possible] / 4000
    assert set(drawn) == set(possible.tolist())
    assert shares == pytest.approx(1 / len(possible), abs=0.03)
    assert RandomCode().choose(belief, rng)[1].score == 1 / len(possible)


def test_beliefs_start_with_trust_where_replies_are_truthful() -> None:
    board = Board(2, 3)
    exact, noisy = Channel.exact(board), Channel.independent_error(board, 0.2)
    assert isinstance(start_belief(exact.revealed()), VanishingBelief)
    assert isinstance(start_belief(Channel.false_reply(board, 0).revealed()), VanishingBelief)
    assert isinstance(start_belief(exact), VanishingBelief)
    assert isinstance(start_belief(noisy.revealed()), TableBelief)
    for strategy in (Knuth(), RandomCode()):
        trusting = strategy.start(noisy.revealed())
        assert isinstance(trusting, VanishingBelief)
        assert set(trusting.reports) == set(noisy.reports)


def test_a_trusting_channel_has_the_reports_of_the_noisy_one() -> None:
    noisy = Channel.independent_error(Board(2, 3), 0.2)
    trusting = trusting_channel(noisy)
    assert set(trusting.reports) == set(noisy.reports)
    assert trusting.likelihood(Reply(2, 2)).tolist() == [0.0] * 5
    assert not trusting.ends
    assert trusting_channel(Channel.exact(Board(2, 3)).revealed()).is_exact


@given(st.data())
def test_most_probable_codes_contradict_the_fewest_replies(
    data: st.DataObject,
) -> None:
    board = data.draw(boards(max_codes=30))
    channel = data.draw(
        st.one_of(
            st.floats(0, 0.99).map(lambda p: Channel.false_reply(board, p).revealed()),
            channels(board),
        )
    )
    assume(trust_suffices(channel))
    knowing, trusting = MapCode().start(channel), RandomCode().start(channel)
    _, turns = data.draw(possible_histories(channel))
    for turn in turns:
        knowing = knowing.update(turn.guess, turn.reply)
        trusting = trusting.update(turn.guess, turn.reply)
    p = knowing.codes.probabilities
    best = np.flatnonzero(p >= p.max() * (1 - 1e-6))
    assert best.tolist() == np.flatnonzero(trusting.codes.probabilities).tolist()


def test_trust_suffices_for_exact_and_false_replies() -> None:
    board = Board(2, 3)
    for channel in (
        Channel.exact(board),
        Channel.false_reply(board, 0.2),
        Channel.false_reply(board, 0.9),
        Channel.independent_error(board, 0.0),
        trusting_channel(Channel.independent_error(board, 0.2)),
    ):
        assert trust_suffices(channel.revealed())
    for channel in (
        Channel.false_reply(board, 1.0),
        Channel.independent_error(board, 0.2),
        Channel.from_counts(board, {}),
        Channel.from_counts(board, {(Reply(0, 1), Reply(0, 1)): 9.0}, prior=1.0),
    ):
        assert not trust_suffices(channel.revealed())


@given(st.integers(0, 99))
@settings(max_examples=examples(10))
def test_under_false_replies_trust_is_as_good_as_knowing_the_noise(seed: int) -> None:
    # A false reply is equally likely to be any, so the most probable codes are those that
    # contradict the fewest replies: `map` and `random` are one strategy there.
    board = Board(3, 4)
    channel = Channel.false_reply(board, 0.3).revealed()
    rng = np.random.default_rng(seed)
    knowing, trusting = MapCode().start(channel), RandomCode().start(channel)
    for guess in map(board.code, rng.choice(board.n_codes, 4, replace=False).tolist()):
        report = channel.reports[int(rng.integers(len(channel.reports) - 1))]
        knowing, trusting = knowing.update(guess, report), trusting.update(guess, report)
        p = knowing.codes.probabilities
        tied = np.flatnonzero(p >= p.max() * (1 - 1e-9))
        assert tied.tolist() == np.flatnonzero(trusting.codes.probabilities).tolist()
