"""Beliefs: Bayes' rule one code at a time, and trust as the limit of vanishing noise."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind import (
    Board,
    Channel,
    CodeList,
    ExactBelief,
    Reply,
    TableBelief,
    TreeBelief,
    Turn,
    VanishingBelief,
    parse_history,
    reply,
)
from tests.mastermind.generators import (
    boards,
    channels,
    code_weights,
    histories,
    possible_histories,
    replies,
)

FOUR_SIX = Board(4, 6)


def posterior(channel: Channel, prior: Floats, turns: tuple[Turn, ...]) -> Floats:
    """Bayes' rule for one code at a time, all turns at once."""
    board = channel.board
    weights = []
    for index, probability in enumerate(prior.tolist()):
        weight = probability
        for turn in turns:
            true = board.true_replies.index(reply(turn.guess, board.code(index)))
            weight *= float(channel.matrix[true, channel.reports.index(turn.reply)])
        weights.append(weight)
    return np.asarray(np.array(weights) / sum(weights), dtype=np.float64)


def wrong_for(board: Board, code: tuple[int, ...], turns: tuple[Turn, ...]) -> list[bool]:
    """Which reported replies the code contradicts."""
    return [reply(turn.guess, code) != turn.reply for turn in turns]


def doubts(belief: ExactBelief) -> list[float]:
    """The twin of `misreport_probabilities`."""
    board, turns = belief.board, belief.history
    totals = np.zeros(len(turns))
    for index, probability in enumerate(belief.codes.probabilities.tolist()):
        totals += probability * np.array(wrong_for(board, board.code(index), turns))
    return [float(total) for total in totals]


def after(belief: ExactBelief, turns: tuple[Turn, ...]) -> ExactBelief:
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    return belief


@given(st.data(), boards(max_codes=300))
def test_table_is_bayes_rule(data: st.DataObject, board: Board) -> None:
    channel = data.draw(channels(board))
    secret, turns = data.draw(possible_histories(channel))
    prior = data.draw(code_weights(board))
    prior = (prior + np.eye(board.n_codes)[board.index(secret)]) / 2
    belief = after(TableBelief.start(channel, prior), turns)
    assert belief.history == turns
    assert (belief.board, belief.channel) == (board, channel)
    expected = posterior(channel, prior, turns)
    np.testing.assert_allclose(belief.codes.probabilities, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(belief.misreport_probabilities(), doubts(belief), atol=1e-12)


@given(st.data(), boards(max_codes=300))
def test_the_order_of_turns_does_not_matter(data: st.DataObject, board: Board) -> None:
    channel = data.draw(channels(board))
    _, turns = data.draw(possible_histories(channel))
    shuffled = tuple(data.draw(st.permutations(turns)))
    start = TableBelief.start(channel)
    np.testing.assert_allclose(
        after(start, turns).codes.probabilities,
        after(start, shuffled).codes.probabilities,
        atol=1e-12,
    )


@given(st.data(), boards(max_codes=300))
def test_vanishing_counts_contradictions(data: st.DataObject, board: Board) -> None:
    turns = data.draw(histories(board))
    everything = tuple(Reply(b, w) for b in range(board.pegs + 1) for w in range(board.pegs + 1))
    belief = VanishingBelief.start(board, reports=everything)
    guessed = {turn.guess for turn in turns}
    all_codes = [board.code(i) for i in range(board.n_codes)]
    if len(guessed) == board.n_codes:
        with pytest.raises(ImpossibleEvidenceError):
            after(belief, turns)
        return
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    counts = [sum(wrong_for(board, code, turns)) for code in all_codes]
    assert belief.counts.tolist() == counts
    fewest = min(n for n, code in zip(counts, all_codes, strict=True) if code not in guessed)
    assert belief.contradictions == fewest
    best = [n == fewest and code not in guessed for n, code in zip(counts, all_codes, strict=True)]
    np.testing.assert_allclose(belief.codes.probabilities, np.array(best) / sum(best), rtol=1e-12)
    np.testing.assert_allclose(belief.misreport_probabilities(), doubts(belief), atol=1e-12)


@given(st.data(), boards(max_codes=300))
def test_vanishing_is_the_limit_of_noise(data: st.DataObject, board: Board) -> None:
    """Snyder's noise of 10⁻⁹, in a game that goes on, is all but its own limit."""
    losing = st.sampled_from(board.true_replies[:-1])
    turns = tuple(
        Turn(board.code(data.draw(st.integers(0, board.n_codes - 1))), data.draw(losing))
        for _ in range(data.draw(st.integers(0, 4)))
    )
    noisy = Channel.false_reply(board, 1e-9).revealed()
    if len(board.true_replies) == 2 or len({turn.guess for turn in turns}) == board.n_codes:
        return  # one peg has no false reply to give; or nothing is left to guess
    np.testing.assert_allclose(
        after(VanishingBelief.start(board), turns).codes.probabilities,
        after(TableBelief.start(noisy), turns).codes.probabilities,
        atol=1e-5,
    )


@given(st.data(), boards(max_codes=300))
def test_truthful_games_leave_the_possible_codes(data: st.DataObject, board: Board) -> None:
    channel = Channel.exact(board).revealed()
    secret, turns = data.draw(possible_histories(channel))
    trusting = VanishingBelief.start(board)
    for turn in turns:
        trusting = trusting.update(turn.guess, turn.reply)
    assert trusting.contradictions == 0
    assert trusting.codes.probability(secret) > 0
    np.testing.assert_allclose(
        trusting.codes.probabilities,
        after(TableBelief.start(channel), turns).codes.probabilities,
        atol=1e-12,
    )
    assert trusting.misreport_probabilities() == (0.0,) * len(turns)


BELIEFS = [TableBelief.start(Channel.false_reply(FOUR_SIX, 0.2)), VanishingBelief.start(FOUR_SIX)]


@pytest.mark.parametrize("start", BELIEFS, ids=lambda belief: type(belief).__name__)
class TestContract:
    """What every belief keeps, whatever it is computed with."""

    def test_starts_uniform(self, start: ExactBelief) -> None:
        assert start.history == ()
        assert start.board == start.channel.board == start.codes.board == FOUR_SIX
        np.testing.assert_allclose(start.codes.probabilities, 1 / 1296, rtol=1e-12)
        assert start.misreport_probabilities() == ()

    def test_is_immutable(self, start: ExactBelief) -> None:
        before = start.codes.probabilities.copy()
        later = start.update(np.array([1, 1, 2, 3]).tolist(), Reply(1, 1))
        assert later.history == (Turn((1, 1, 2, 3), Reply(1, 1)),)
        assert start.history == ()
        assert np.array_equal(start.codes.probabilities, before)
        assert later.codes.entropy() < start.codes.entropy()

    def test_pickles(self, start: ExactBelief) -> None:
        later = start.update((1, 1, 2, 3), Reply(1, 1))
        for twin in (pickle.loads(pickle.dumps(later)), copy.deepcopy(later)):
            assert twin.history == later.history
            np.testing.assert_allclose(
                twin.codes.probabilities, later.codes.probabilities, rtol=1e-14
            )
            assert not twin.codes.probabilities.flags.writeable

    def test_bad_input(self, start: ExactBelief) -> None:
        with pytest.raises(InvalidArgumentError, match="got 3 pegs"):
            start.update((1, 1, 2), Reply(1, 1))
        with pytest.raises(InvalidArgumentError, match="got 7"):
            start.update((1, 1, 2, 7), Reply(1, 1))
        for impossible in (Reply(3, 1), Reply(9, 0), Reply(3, 3)):
            with pytest.raises(InvalidArgumentError, match=str(impossible)):
                start.update((1, 1, 2, 3), impossible)

    def test_signatures(self, start: ExactBelief) -> None:
        for name in ("update", "misreport_probabilities"):
            expected = inspect.signature(getattr(ExactBelief, name)).parameters
            assert list(inspect.signature(getattr(type(start), name)).parameters) == list(expected)


def test_contradictions_under_the_exact_channel_are_named() -> None:
    turns = parse_history(FOUR_SIX, "1122 0b0w, 3344 0b0w, 1122 1b0w")
    belief = after(TableBelief.start(Channel.exact(FOUR_SIX)), turns[:2])
    with pytest.raises(ImpossibleEvidenceError) as caught:
        belief.update(turns[2].guess, turns[2].reply)
    assert "got 1122 0b0w, 3344 0b0w, 1122 1b0w" in str(caught.value)
    assert caught.value.evidence == {"1122": "0b0w, 1b0w", "3344": "0b0w"}


def test_a_winning_reply_ends_the_game() -> None:
    declared = TableBelief.start(Channel.exact(FOUR_SIX)).update((1, 1, 2, 3), Reply(4, 0))
    assert declared.codes.most_probable() == ((FOUR_SIX.index((1, 1, 2, 3)), 1.0),)
    with pytest.raises(ImpossibleEvidenceError, match="got 1123 4b0w"):
        TableBelief.start(Channel.exact(FOUR_SIX).revealed()).update((1, 1, 2, 3), Reply(4, 0))


def test_under_independent_noise_a_winning_report_is_false_if_the_game_continues() -> None:
    channel = Channel.independent_error(FOUR_SIX, 0.1)
    plain = TableBelief.start(channel).update((1, 1, 2, 3), Reply(4, 0))
    goes_on = TableBelief.start(channel.revealed()).update((1, 1, 2, 3), Reply(4, 0))
    assert plain.codes.probability((1, 1, 2, 3)) > 0.05
    assert goes_on.codes.probability((1, 1, 2, 3)) == 0
    assert goes_on.misreport_probabilities() == pytest.approx((1.0,), abs=1e-12)
    # A report that is no true reply is a misreport whatever the code.
    odd = TableBelief.start(channel).update((1, 1, 2, 3), Reply(3, 3))
    assert odd.misreport_probabilities() == (1.0,)


def test_trusting_beliefs_continue_and_name_doubtful_replies() -> None:
    belief = VanishingBelief.start(FOUR_SIX)
    for turn in parse_history(FOUR_SIX, "1111 0b0w, 2222 0b0w, 3333 0b0w, 4455 0b0w"):
        belief = belief.update(turn.guess, turn.reply)
    assert belief.contradictions == 0
    assert belief.codes.most_probable() == ((1295, 1.0),)
    belief = belief.update((6, 6, 6, 6), Reply(3, 0))
    # 6666 is guessed and was not it; what is left contradicts one reply, but for 6's and one 4.
    assert belief.contradictions == 1
    assert belief.codes.probability((6, 6, 6, 6)) == 0
    assert max(belief.misreport_probabilities()) <= 1
    assert sum(belief.misreport_probabilities()) == pytest.approx(1.0, abs=1e-12)


def test_the_trusting_may_hear_replies_that_no_code_draws() -> None:
    noisy = Channel.independent_error(FOUR_SIX, 0.1)
    belief = VanishingBelief.start(FOUR_SIX, reports=noisy.reports)
    belief = belief.update((1, 1, 2, 3), Reply(3, 1))
    assert belief.contradictions == 1
    assert belief.codes.possible_codes() == 1295
    assert belief.misreport_probabilities() == (1.0,)


def test_counts_take_a_byte_a_code_until_more_is_needed() -> None:
    belief = VanishingBelief.start(FOUR_SIX)
    channel = belief.channel
    for turn in range(1, 260):
        # Contradicted by 1111 and whatever else has it; 1112 and others agree every time.
        belief = belief.update(FOUR_SIX.code(turn), Reply(0, 0))
        assert belief.counts.dtype == (np.uint8 if turn < 255 else np.uint16)
    everything = [FOUR_SIX.code(turn) for turn in range(1, 260)]
    counts = [sum(wrong_for(FOUR_SIX, (1, 1, 1, 1), belief.history))]
    assert belief.counts[0] == counts[0] == sum(1 in guess for guess in everything) > 200
    assert belief.channel is channel
    assert belief.codes.probabilities[1:260].max() == 0
    assert belief.contradictions == min(
        sum(wrong_for(FOUR_SIX, FOUR_SIX.code(index), belief.history)) for index in range(260, 1296)
    )


def test_guesses_that_the_prior_excludes_leave_the_codes_that_it_allows() -> None:
    board = Board(2, 2)
    prior = CodeList(board, np.array([[1, 1], [2, 2]], dtype=np.uint8), np.full(2, 0.5))
    belief = VanishingBelief.start(board, prior=prior)
    for guess in ((1, 2), (2, 1)):
        belief = belief.update(guess, Reply(1, 0))
    assert belief.codes.possible_codes() == 2
    belief = belief.update((1, 1), Reply(0, 0))
    with pytest.raises(ImpossibleEvidenceError, match="every code that the prior allows"):
        belief.update((2, 2), Reply(0, 0))


def test_guessing_every_code_raises() -> None:
    belief = VanishingBelief.start(Board(1, 2)).update((1,), Reply(0, 0))
    assert belief.codes.most_probable() == ((1, 1.0),)
    with pytest.raises(
        ImpossibleEvidenceError,
        match=r"every code of the board 1x2 has been guessed.*: 1 0b0w, 2 0b0w",
    ):
        belief.update((2,), Reply(0, 0))


def test_without_a_truthful_end_a_guessed_code_stays_possible() -> None:
    belief = VanishingBelief.start(Board(2, 3), ends=False).update((1, 2), Reply(2, 0))
    assert belief.codes.most_probable() == ((1, 1.0),)
    assert not belief.channel.ends
    belief = belief.update((1, 2), Reply(0, 0)).update((3, 3), Reply(2, 0))
    assert belief.contradictions == 1
    assert belief.codes.possible_codes() == 1


def test_priors() -> None:
    board = Board(2, 2)
    prior = np.array([0.5, 0.5, 0.0, 0.0])
    belief = TableBelief.start(Channel.exact(board), prior)
    assert belief.update((2, 2), Reply(0, 0)).codes.probability((1, 1)) == 1
    with pytest.raises(ImpossibleEvidenceError):
        belief.update((2, 2), Reply(2, 0))
    for wrong in (np.ones(4), np.ones(3) / 3, np.array([2.0, -1.0, 0.0, 0.0])):
        with pytest.raises(InvalidArgumentError):
            TableBelief.start(Channel.exact(board), wrong)


def test_boards_too_large_for_a_table() -> None:
    board = Board(10, 12)
    with pytest.raises(TooLargeError, match="61,917,364,224 codes"):
        TableBelief.start(Channel.exact(board))
    with pytest.raises(TooLargeError, match="61,917,364,224 codes"):
        VanishingBelief.start(board)


@given(st.data(), boards(max_codes=300))
def test_noise_that_can_say_anything_never_dies(data: st.DataObject, board: Board) -> None:
    belief = TableBelief.start(Channel.independent_error(board, 0.3))
    for _ in range(6):
        guess = board.code(data.draw(st.integers(0, board.n_codes - 1)))
        belief = belief.update(guess, data.draw(replies(board)))
    assert belief.codes.possible_codes() == board.n_codes


@pytest.mark.parametrize("kind", [TableBelief, TreeBelief, VanishingBelief])
def test_beliefs_take_whole_colors_and_replies_only(kind: Any) -> None:
    board = Board(2, 3)
    belief = kind.start(board if kind is VanishingBelief else Channel.exact(board))
    for guess in [(1.9, 2.9), (1, 2.0), (True, 1), 3, None, "12", (1, 2, 3), (0, 1)]:
        with pytest.raises(InvalidArgumentError):
            belief.update(guess, Reply(1, 0))
    for wrong in [3, None, "10", (1,), (1.0, 0), (-1, 0)]:
        with pytest.raises(InvalidArgumentError):
            belief.update((1, 2), wrong)
    assert belief.update([1, 2], [1, 0]).history == belief.update((1, 2), Reply(1, 0)).history
