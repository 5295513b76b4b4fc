"""Estimation of distributions: the steps against plain words, and the search as a whole."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.lab import CodeMaker, play_game
from bnmind.mastermind import Board, Channel, HistoryBelief, Reply, parse_noise, reply
from bnmind.mastermind.random_moves import seeded_state
from bnmind.strategies import (
    EstimationOfDistribution,
    Population,
    Situation,
    open_aabb,
    strategy_by_name,
)
from bnmind.strategies.estimation_of_distribution import letter_entropy, sample_code, weigh_colors
from bnmind.strategies.scores import entropy_terms
from tests.mastermind.generators import boards, codes
from tests.modes import examples
from tests.strategies.test_subset import shannon

SMALL = EstimationOfDistribution(population=20, generations=30)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any))
@settings(max_examples=examples(40), deadline=None)
def test_letter_entropy_is_that_of_shannon(counts: list[int]) -> None:
    pegs = [color for color, count in enumerate(counts) for _ in range(count)]
    terms = entropy_terms(len(pegs), 30).copy()
    entropy = letter_entropy(np.array(counts), terms, math.ldexp(1.0, -30))
    assert entropy == pytest.approx(shannon(pegs), abs=1e-6)


@given(boards(), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_weights_are_the_shares_of_the_kept_codes(board: Board, data: st.DataObject) -> None:
    kept = data.draw(st.lists(codes(board), min_size=1, max_size=9))
    weights = np.empty((board.pegs, board.colors + 1))
    weigh_colors(np.array(kept, dtype=np.uint8), weights, 0.05)
    for position in range(board.pegs):
        counts = Counter(code[position] for code in kept)
        for color in range(1, board.colors + 1):
            share = counts[color] / len(kept) if counts[color] else 0.05
            assert weights[position, color] == pytest.approx(share)


def test_colors_are_drawn_by_their_weights() -> None:
    weights = np.array([[0, 1.0, 0.05, 0.05], [0, 0.5, 0.5, 0.05]])
    state, code = seeded_state(np.random.default_rng(4)), np.zeros(2, dtype=np.uint8)
    for repeats in (True, False):
        drawn = Counter[tuple[int, ...]]()
        for _ in range(3000):
            sample_code(code, weights, repeats, state)
            drawn[tuple(code.tolist())] += 1
        for first in (1, 2, 3):
            usable = [color for color in (1, 2, 3) if repeats or color != first]
            for second in (1, 2, 3):
                share = weights[0, first] / 1.1 * weights[1, second] / weights[1, usable].sum()
                wanted = 3000 * share * (second in usable)
                assert abs(drawn[first, second] - wanted) <= 5 * wanted**0.5


@pytest.mark.slow
@given(boards(300), st.booleans(), st.data())
@settings(max_examples=examples(25), deadline=None)
def test_the_guess_agrees_with_all_replies(
    board: Board, local_entropy: bool, data: st.DataObject
) -> None:
    strategy = EstimationOfDistribution(local_entropy=local_entropy)
    secret, seed = data.draw(codes(board)), data.draw(st.integers(0, 2**32 - 1))
    belief = HistoryBelief(Channel.exact(board).revealed())
    memory: object = None
    rng = np.random.default_rng(seed)
    for _ in range(3):
        guess, info = strategy.choose(belief, rng, Situation(memory=memory))
        code, memory = board.code(guess), info.memory
        agrees = all(reply(turn.guess, code) == turn.reply for turn in belief.history)
        assert agrees == (info.note == "")
        if not belief.history:
            assert code == open_aabb(board)
        elif not local_entropy:
            cost = sum(
                abs(then.black - turn.reply.black) + abs(then.white - turn.reply.white)
                for turn in belief.history
                for then in [reply(turn.guess, code)]
            )
            assert info.score == pytest.approx(1 / (1 + cost))
        if code == secret:
            return
        belief = belief.update(code, reply(code, secret))


def test_the_fittest_code_of_the_population_is_played() -> None:
    board = Board(4, 6)
    belief = HistoryBelief(Channel.exact(board).revealed()).update((1, 1, 2, 2), Reply(0, 0))
    population = [(3, 3, 3, 3), (3, 4, 5, 6), (6, 5, 4, 3), (1, 1, 1, 1)] * 5
    memory = Population.of(board, np.array(population, dtype=np.uint8))
    situation = Situation(memory=memory)
    strategy = EstimationOfDistribution(population=20, local_entropy=True)
    drawn = Counter(
        board.code(strategy.choose(belief, np.random.default_rng(seed), situation)[0])
        for seed in range(40)
    )
    assert set(drawn) == {(3, 4, 5, 6), (6, 5, 4, 3)}
    _, info = strategy.choose(belief, np.random.default_rng(0), situation)
    assert (info.tied, info.evaluated) == (10, 20)
    assert info.score == pytest.approx(shannon([1, 1, 2, 2, 3, 4, 5, 6]))
    assert isinstance(info.memory, Population)
    assert info.memory == memory


def test_a_memory_that_does_not_fit_is_ignored() -> None:
    belief = HistoryBelief(Channel.exact(Board(4, 6)).revealed()).update((1, 1, 2, 2), Reply(1, 1))
    forgetful = EstimationOfDistribution(remembers=False)
    few = Population(Board(4, 6), bytes([1] * 12))
    other = Population(Board(4, 9), bytes([9] * 4 * SMALL.population))
    for memory in (few, other, "anything"):
        with_memory = SMALL.choose(belief, np.random.default_rng(3), Situation(memory=memory))[0]
        assert with_memory == SMALL.choose(belief, np.random.default_rng(3))[0]
    assert forgetful.choose(belief, np.random.default_rng(3))[1].memory is None


def test_without_an_agreeing_code_the_nearest_new_one_is_played() -> None:
    board = Board(2, 3)
    belief = HistoryBelief(Channel.exact(board).revealed())
    for same in ((1, 1), (2, 2), (3, 3)):
        belief = belief.update(same, Reply(0, 0))  # no code agrees with all three
    guess, info = SMALL.choose(belief, np.random.default_rng(0))
    assert len(set(board.code(guess))) == 2
    assert info.note == "no code that agrees with all replies was found"
    assert info.score == pytest.approx(1 / 3)
    assert info.evaluated == 20 + 28 * 10 + 2 * 20  # two of thirty generations are new


@pytest.mark.parametrize("name", ["eda", "eda-entropy"])
@pytest.mark.parametrize("noise", ["false:0.3", "independent:0.3"])
def test_noisy_games_are_played_to_the_end(name: str, noise: str) -> None:
    channel = parse_noise(Board(2, 4, repeats=False), noise).revealed()
    for seed in range(3):
        game = play_game(strategy_by_name(name), CodeMaker.from_seed(channel, seed))
        assert game.won


def test_wrong_options_are_refused_together() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        EstimationOfDistribution(
            population=1, replacement=2.0, least_weight=0.0, restart=0, generations=-1
        )
    for name in ("population", "replacement", "least_weight", "restart", "generations"):
        assert name in str(caught.value)
    with pytest.raises(InvalidArgumentError, match=r"replacement .*, got nan"):
        EstimationOfDistribution(replacement=math.nan)
