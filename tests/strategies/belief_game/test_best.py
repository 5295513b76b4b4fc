"""The strategy ``best`` and the strategies that it follows."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.mastermind import Board, Channel, SampledBelief
from bnmind.strategies import Best, SampledEntropy, strategy_by_name
from bnmind.strategies.belief_search import best_player


@pytest.mark.parametrize(
    ("channel", "name"),
    [
        (Channel.exact(Board(4, 6)), "optimal"),
        (Channel.exact(Board(5, 8)), "deeper"),
        (Channel.exact(Board(6, 9)), "entropy"),
        (Channel.exact(Board(7, 10)), "entropy-sampled"),
        (Channel.false_reply(Board(10, 12), 0.2), "entropy-sampled"),
        (Channel.false_reply(Board(4, 6), 0.2), "lookahead2"),
        (Channel.independent_error(Board(4, 6), 0.2), "lookahead2"),
        (Channel.false_reply(Board(5, 8), 0.2), "entropy"),
    ],
    ids=lambda value: value.name + str(value.board) if isinstance(value, Channel) else value,
)
def test_best_is_the_strategy_that_plays_best(channel: Channel, name: str) -> None:
    assert best_player(channel).name == name


def test_without_noise_another_prior_is_played_by_entropy() -> None:
    assert best_player(Channel.exact(Board(4, 6)), uniform=False).name == "entropy"


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.0, 0.2])
def test_best_makes_the_guess_of_the_strategy_that_it_names(p: float) -> None:
    channel = Channel.false_reply(Board(3, 4), p).revealed()
    belief = Best().start(channel)
    rng = np.random.default_rng(0)
    guess, info = Best().choose(belief, rng)
    named = strategy_by_name(info.note.split()[3])
    assert guess == named.choose(belief, rng)[0]


@pytest.mark.parametrize("p", [0.0, 0.2])
def test_best_plays_from_samples_on_a_board_with_too_many_codes_to_list(p: float) -> None:
    channel = Channel.false_reply(Board(10, 12), p).revealed()
    belief = Best().start(channel)
    assert isinstance(belief, SampledBelief)
    guess, info = Best().choose(belief, np.random.default_rng(0))
    assert info.note == "best plays as entropy-sampled here"
    assert guess == SampledEntropy().choose(belief, np.random.default_rng(0))[0]
