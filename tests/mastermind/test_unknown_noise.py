"""Beliefs about the code and the noise level, against the table of both."""

from __future__ import annotations

import math
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats, entropy
from bnmind.mastermind import (
    Board,
    Channel,
    Reply,
    TableBelief,
    Turn,
    UnknownNoiseBelief,
    parse_prior,
    reply,
)
from bnmind.strategies import Entropy, MapCode, UnknownNoise, describe_guess, noise_grid
from tests.mastermind.generators import histories

BOARD = Board(3, 4)
LEVELS = (0.05, 0.2, 0.45)
WEIGHTS = np.array([0.5, 0.3, 0.2])


def grid(kind: str = "independent", levels: tuple[float, ...] = LEVELS) -> tuple[Channel, ...]:
    make = Channel.independent_error if kind == "independent" else Channel.false_reply
    return tuple(make(BOARD, p).revealed() for p in levels)


def table(channels: tuple[Channel, ...], prior: Floats, history: tuple[Turn, ...]) -> Floats:
    """Return P(level, code) by Bayes' rule, one pair at a time."""
    joint = np.array(
        [
            [
                weight
                * p
                * math.prod(
                    channel.likelihood(turn.reply)[
                        BOARD.true_replies.index(reply(turn.guess, BOARD.code(index)))
                    ]
                    for turn in history
                )
                for index, p in enumerate(prior.tolist())
            ]
            for weight, channel in zip(WEIGHTS.tolist(), channels, strict=True)
        ]
    )
    posterior: Floats = joint / joint.sum()
    return posterior


@settings(max_examples=15)
@given(histories(BOARD, max_turns=3), st.sampled_from(["uniform", "prefer-fewer"]))
def test_codes_levels_and_information_are_those_of_the_table(
    history: tuple[Turn, ...], name: str
) -> None:
    prior, channels = parse_prior(BOARD, name), grid()
    belief = UnknownNoiseBelief.start(channels, weights=WEIGHTS, prior=prior)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    joint = table(channels, prior.distribution().probabilities, history)
    assert belief.codes.probabilities == pytest.approx(joint.sum(axis=0), abs=1e-9)
    assert belief.level_probabilities == pytest.approx(joint.sum(axis=1), abs=1e-9)
    guess = (1, 2, 2)
    # H(outcome) − H(outcome | code), where the level is unknown in both.
    outcome_of_code = []
    for index in range(BOARD.n_codes):
        true = BOARD.true_replies.index(reply(guess, BOARD.code(index)))
        rows = [p * one.matrix[true] for p, one in zip(joint[:, index], channels, strict=True)]
        outcome_of_code.append(np.sum(rows, axis=0))
    together = np.array(outcome_of_code)
    codes = together.sum(axis=1)
    possible = codes > 0
    conditional = entropy(together[possible] / codes[possible, None])
    expected = float(entropy(together.sum(axis=0)) - codes[possible] @ conditional)
    assert describe_guess(belief, guess).information == pytest.approx(expected, abs=1e-9)


def test_a_grid_of_one_level_is_the_belief_of_that_channel() -> None:
    channel = Channel.false_reply(BOARD, 0.3).revealed()
    plain, unknown = TableBelief.start(channel), UnknownNoiseBelief.start([channel])
    for guess, report in (((1, 1, 2), Reply(1, 0)), ((3, 4, 1), Reply(0, 2))):
        plain, unknown = plain.update(guess, report), unknown.update(guess, report)
    assert unknown.codes.probabilities == pytest.approx(plain.codes.probabilities, abs=1e-12)
    assert unknown.misreport_probabilities() == pytest.approx(plain.misreport_probabilities())
    chosen, info = Entropy().choose(unknown, np.random.default_rng(0))
    known, told = Entropy().choose(plain, np.random.default_rng(0))
    assert info.information == pytest.approx(told.information, abs=1e-9)
    assert chosen == known


def test_false_replies_make_few_groups() -> None:
    belief = UnknownNoiseBelief.start(grid("false"))
    for turn, code in enumerate([(1, 1, 2), (3, 4, 1), (2, 2, 4), (1, 3, 3)], start=1):
        belief = belief.update(code, Reply(1, 0))
        # The replies contradicted; the guessed codes, which are excluded, are one group.
        assert len(belief.products) <= turn + 2


def test_products_of_long_games_do_not_underflow() -> None:
    # Both replies cannot be true. No code explains all of them, so no group stands for that.
    belief = UnknownNoiseBelief.start(grid("false", (0.0, 0.05, 0.1)))
    for _ in range(150):
        belief = belief.update((1, 1, 2), Reply(1, 0)).update((1, 1, 2), Reply(0, 1))
    assert np.isfinite(belief.products).all()
    assert belief.products.max() == 1
    assert len(belief.products) <= 4
    assert belief.level_probabilities == pytest.approx([0, 0, 1])
    likely = np.flatnonzero(belief.codes.probabilities > 1e-9).tolist()
    assert {reply((1, 1, 2), BOARD.code(index)) for index in likely} == {Reply(1, 0), Reply(0, 1)}


def test_information_needs_no_more_memory_for_more_groups() -> None:
    board = Board(4, 6)
    belief = UnknownNoiseBelief.start(
        [Channel.independent_error(board, p).revealed() for p in (0.1, 0.3)]
    )
    for guess in ((1, 1, 2, 3), (3, 4, 5, 5), (2, 6, 1, 4), (5, 1, 3, 6), (4, 4, 2, 1)):
        belief = belief.update(guess, Reply(1, 1))
    assert len(belief.products) > 10
    belief.information()  # compiles
    one_table = 8 * board.n_codes * len(belief.channel.reports)
    tracemalloc.start()
    belief.information()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 * one_table


def test_contradictions_reveal_the_noise() -> None:
    belief = UnknownNoiseBelief.start(grid("false", (0.0, 0.1, 0.5)))
    for report in (Reply(1, 0), Reply(1, 0), Reply(1, 0)):
        belief = belief.update((1, 1, 2), report)
    assert belief.level_probabilities[0] > 1 / 3
    for report in (Reply(0, 1), Reply(2, 0)):
        belief = belief.update((1, 1, 2), report)
    assert belief.level_probabilities.tolist() == sorted(belief.level_probabilities.tolist())
    assert belief.level_probabilities[0] == 0


def test_replies_that_no_level_explains_are_refused() -> None:
    belief = UnknownNoiseBelief.start(grid("false", (0.0,)))
    belief = belief.update((1, 1, 2), Reply(1, 0))
    with pytest.raises(ImpossibleEvidenceError, match="112 0b0w"):
        belief.update((1, 1, 2), Reply(0, 0))
    with pytest.raises(InvalidArgumentError):
        belief.update((1, 1, 2), Reply(2, 1))


def test_levels_and_weights_are_checked() -> None:
    with pytest.raises(InvalidArgumentError, match=r"at least one, .* with the same reports, got"):
        UnknownNoiseBelief.start([])
    mixed = [Channel.false_reply(BOARD, 0.1), Channel.independent_error(BOARD, 0.1)]
    with pytest.raises(
        InvalidArgumentError, match=r"with the same reports, .*false:0\.1.*independent:0\.1"
    ):
        UnknownNoiseBelief.start(mixed)
    with pytest.raises(InvalidArgumentError, match="3 values in weights, as many as levels, got 2"):
        UnknownNoiseBelief.start(grid(), weights=np.array([0.5, 0.5]))


def test_the_grid_is_of_the_kind_of_the_channel() -> None:
    names = [one.name for one in noise_grid(Channel.independent_error(BOARD, 0.2), (0.0, 0.1))]
    assert names == ["independent:0", "independent:0.1"]
    names = [one.name for one in noise_grid(Channel.exact(BOARD), (0.0, 0.1))]
    assert names == ["false:0", "false:0.1"]
    odd = Channel.from_probabilities(
        BOARD, {(true, Reply(0, 3)): 1.0 for true in BOARD.true_replies}
    )
    with pytest.raises(InvalidArgumentError, match="the reports of false:P or independent:P"):
        noise_grid(odd)


def test_strategies_play_on_a_belief_with_unknown_noise() -> None:
    strategy = UnknownNoise(MapCode(), weights=(1.0,) + (0.0,) * 8)
    belief = strategy.start(Channel.false_reply(BOARD, 0.2).revealed())
    belief = belief.update((1, 1, 2), Reply(1, 0))
    guess, _ = strategy.choose(belief, np.random.default_rng(0))
    assert reply(BOARD.code(guess), (1, 1, 2)) == Reply(1, 0)
    copied = pickle.loads(pickle.dumps(belief))
    assert copied.codes.probabilities == pytest.approx(belief.codes.probabilities, abs=1e-15)
