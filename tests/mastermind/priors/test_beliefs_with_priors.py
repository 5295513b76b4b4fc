"""Beliefs and choices under a prior, against sums over codes one by one."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind import (
    Board,
    Channel,
    CodeList,
    Reply,
    TableBelief,
    TreeBelief,
    Turn,
    UniformPrior,
    VanishingBelief,
    parse_prior,
    reply,
)
from bnmind.strategies import Entropy, MapCode, distribution_of, start_belief
from tests.mastermind.generators import histories

BOARD = Board(3, 4)
NAMES = ("two-color", "prefer-fewer", "first-last-equal", "fixed:5,1,1,1", "learned")
names = st.sampled_from(NAMES)


def by_hand(prior: Floats, channel: Channel, history: tuple[Turn, ...]) -> Floats:
    """Return the posterior by Bayes' rule, code by code."""
    board = channel.board
    weights = [
        p
        * math.prod(
            channel.likelihood(turn.reply)[
                board.true_replies.index(reply(board.code(index), turn.guess))
            ]
            for turn in history
        )
        for index, p in enumerate(prior.tolist())
    ]
    posterior: Floats = np.array(weights) / sum(weights)
    return posterior


@settings(max_examples=25)
@given(names, histories(BOARD, max_turns=3))
def test_a_table_is_the_prior_times_the_likelihoods(name: str, history: tuple[Turn, ...]) -> None:
    prior, channel = parse_prior(BOARD, name), Channel.independent_error(BOARD, 0.3)
    belief = TableBelief.start(channel, prior)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    expected = by_hand(prior.distribution().probabilities, channel, history)
    assert belief.codes.probabilities == pytest.approx(expected, abs=1e-12)


@settings(max_examples=25)
@given(names, histories(BOARD, max_turns=4), st.booleans())
def test_without_noise_the_prior_is_restricted_to_the_fewest_contradictions(
    name: str, history: tuple[Turn, ...], ends: bool
) -> None:
    prior = parse_prior(BOARD, name)
    p = prior.distribution().probabilities
    reports = tuple({*BOARD.true_replies, *(turn.reply for turn in history)})
    belief = VanishingBelief.start(BOARD, reports=reports, ends=ends, prior=prior)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    guessed = {turn.guess for turn in history} if ends else set()
    counts = {
        index: sum(reply(turn.guess, BOARD.code(index)) != turn.reply for turn in history)
        for index in range(BOARD.n_codes)
        if p[index] > 0 and BOARD.code(index) not in guessed
    }
    fewest = min(counts.values())
    expected = np.zeros(BOARD.n_codes)
    best = [index for index, count in counts.items() if count == fewest]
    expected[best] = p[best] / p[best].sum()
    assert belief.contradictions == fewest
    assert belief.codes.probabilities == pytest.approx(expected, abs=1e-12)
    copied = pickle.loads(pickle.dumps(belief))
    assert copied.codes.probabilities == pytest.approx(belief.codes.probabilities, abs=1e-15)


def test_the_junction_tree_starts_from_a_prior_too() -> None:
    channel, prior = Channel.independent_error(BOARD, 0.1), parse_prior(BOARD, "prefer-fewer")
    table, tree = TableBelief.start(channel, prior), TreeBelief.start(channel, prior)
    for guess, report in (((1, 1, 2), Reply(1, 0)), ((3, 1, 4), Reply(0, 1))):
        table, tree = table.update(guess, report), tree.update(guess, report)
    assert tree.codes.probabilities == pytest.approx(table.codes.probabilities, abs=1e-12)


@pytest.mark.parametrize("turns", [(), ((1, 1, 2),)])
@pytest.mark.parametrize("name", NAMES[1:4])
@pytest.mark.parametrize("p", [0.0, 0.2])
def test_entropy_finds_the_most_informative_guess_of_all(
    name: str, turns: tuple[tuple[int, ...], ...], p: float
) -> None:
    """A biased prior has fewer symmetries than the board, so no guess may be left out."""
    channel = Channel.false_reply(BOARD, p).revealed()
    belief = Entropy().start(channel, parse_prior(BOARD, name))
    secret = (2, 2, 1)
    for turn in turns:
        belief = belief.update(turn, reply(turn, secret))
    codes = distribution_of(belief).probabilities
    guess, info = Entropy().choose(belief, np.random.default_rng(0))
    matrix = belief.channel.matrix
    informations = []
    for index in range(BOARD.n_codes):
        masses = np.zeros(len(BOARD.true_replies))
        for code, probability in enumerate(codes.tolist()):
            true = reply(BOARD.code(index), BOARD.code(code))
            masses[BOARD.true_replies.index(true)] += probability
        outcomes = masses @ matrix
        noise = sum(m * _entropy(row) for m, row in zip(masses, matrix, strict=True))
        informations.append(_entropy(outcomes) - noise)
    assert info.information == pytest.approx(max(informations), abs=1e-9)
    assert informations[guess] == pytest.approx(max(informations), abs=1e-9)


def _entropy(p: Floats) -> float:
    return -math.fsum(x * math.log2(x) for x in p.tolist() if x > 0)


def test_map_guesses_the_most_probable_code_of_the_prior() -> None:
    channel = Channel.exact(Board(4, 6)).revealed()
    belief = MapCode().start(channel, parse_prior(Board(4, 6), "fixed:1,2,3,4,5,6"))
    guess, _ = MapCode().choose(belief, np.random.default_rng(0))
    assert Board(4, 6).code(guess) == (6, 6, 6, 6)


def test_a_uniform_prior_changes_nothing() -> None:
    for channel in (Channel.exact(BOARD), Channel.false_reply(BOARD, 0.2)):
        plain, uniform = start_belief(channel), start_belief(channel, UniformPrior(BOARD))
        plain, uniform = (one.update((1, 1, 2), Reply(1, 0)) for one in (plain, uniform))
        assert uniform.codes.probabilities == pytest.approx(plain.codes.probabilities, abs=1e-15)


def test_a_uniform_prior_is_the_prior_of_no_name() -> None:
    plain = start_belief(Channel.exact(BOARD), UniformPrior(BOARD))
    assert isinstance(plain, VanishingBelief)
    assert plain.prior is None


def test_a_prior_of_another_board_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="a prior of the board 3x4, got uniform of"):
        start_belief(Channel.exact(BOARD), UniformPrior(Board(4, 6)))
    with pytest.raises(InvalidArgumentError, match="a prior of the board 3x4, got uniform of"):
        TableBelief.start(Channel.false_reply(BOARD, 0.1), UniformPrior(Board(4, 6)))


def test_a_game_that_goes_on_after_every_allowed_code_is_impossible() -> None:
    only = CodeList(BOARD, np.array([[1, 2, 3]], dtype=np.uint8), np.ones(1))
    belief = VanishingBelief.start(BOARD, prior=only)
    with pytest.raises(ImpossibleEvidenceError, match="every code that the prior allows"):
        belief.update((1, 2, 3), Reply(1, 0))
