"""Players that search: their guesses, their memory, and their options."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError
from bnmind.mastermind import Belief, Board, Channel, HistoryBelief, reply
from bnmind.strategies import (
    STRATEGIES,
    Annealing,
    BernierGenetic,
    BernierRandom,
    Collection,
    Cooling,
    Effort,
    FixedOpening,
    Genetic,
    GeneticElitist,
    GuessInfo,
    MonochromeProbing,
    PatternOpening,
    Population,
    RandomOpening,
    Rates,
    Setup,
    Situation,
    Strategy,
    annealing_tuned,
    genetic_tuned,
)
from bnmind.strategies.best_guess import reply_classes

SMALL = Effort(population=40, generations=30, eligible=20, restarts=3)
PLAYERS: tuple[Strategy, ...] = (
    Genetic(effort=SMALL),
    Genetic(effort=SMALL, keeps=True),
    GeneticElitist(population=40, generations=30),
    BernierRandom(max_codes=20_000),
    BernierGenetic(population=40, max_generations=60),
    Annealing(cooling=Cooling(2.0, 0.3, 500), runs=4),
    Annealing(
        cooling=Cooling(2.0, 0.3, 500),
        runs=40,
        collection=Collection(codes=20, patience=10, keeps=True),
    ),
)
names = pytest.mark.parametrize("player", PLAYERS, ids=lambda player: player.name)


def turns(
    player: Strategy, board: Board, secret: tuple[int, ...], seed: int, *, most: int = 20
) -> list[tuple[tuple[int, ...], GuessInfo]]:
    """Return the guesses of a game with true replies."""
    belief: Belief = player.start(Channel.exact(board).revealed())
    rng, memory = np.random.default_rng(seed), None
    played: list[tuple[tuple[int, ...], GuessInfo]] = []
    while len(played) < most and (not played or played[-1][0] != secret):
        index, info = player.choose(belief, rng, Situation(memory=memory))
        memory = info.memory
        played.append((board.code(index), info))
        if played[-1][0] != secret:
            belief = belief.update(played[-1][0], reply(played[-1][0], secret))
    return played


@pytest.mark.slow
@names
def test_a_guess_of_score_zero_agrees_with_all_replies(player: Strategy) -> None:
    board = Board(4, 5)
    for secret in ((2, 5, 5, 1), (3, 3, 4, 4), (1, 2, 3, 4)):
        played = turns(player, board, secret, 1)
        assert played[-1][0] == secret
        for number, (code, info) in enumerate(played):
            earlier = [guess for guess, _ in played[:number]]
            agrees = all(reply(guess, code) == reply(guess, secret) for guess in earlier)
            assert agrees == (info.score == 0) == (not info.note)
            assert info.evaluated is not None
            assert (info.evaluated > 0) == (number > 0)
            assert code not in earlier


@names
def test_a_seed_determines_the_game(player: Strategy) -> None:
    board = Board(4, 6)
    games = [[guess for guess, _ in turns(player, board, (6, 1, 4, 4), 3)] for _ in range(2)]
    assert games[0] == games[1]


@names
def test_boards_without_repeats_are_played(player: Strategy) -> None:
    board = Board(3, 5, repeats=False)
    assert turns(player, board, (5, 1, 3), 1)[-1][0] == (5, 1, 3)


@names
def test_contradictions_are_played_without_repeating_a_guess(player: Strategy) -> None:
    board = Board(3, 3)
    belief: Belief = HistoryBelief(Channel.false_reply(board, 0.3).revealed())
    rng = np.random.default_rng(2)
    guesses = []
    for number in range(8):
        index, info = player.choose(belief, rng)
        guesses.append(index)
        belief = belief.update(board.code(index), board.true_replies[number % 3])
    assert len(set(guesses)) == len(guesses)
    assert info.score > 0
    assert "agrees with all replies" in info.note


def test_the_population_is_a_frozen_value() -> None:
    codes = np.array([[1, 2, 3], [3, 2, 1]], dtype=np.uint8)
    population = Population.of(Board(3, 3), codes)
    codes[0, 0] = 9
    assert population.codes().tolist() == [[1, 2, 3], [3, 2, 1]]
    assert pickle.loads(pickle.dumps(population)) == population
    with pytest.raises(ValueError, match="read-only"):
        population.codes()[0, 0] = 1


@pytest.mark.parametrize("memory", ["other", Population(Board(3, 9), bytes([9] * 450)), None])
def test_a_foreign_memory_is_ignored(memory: object) -> None:
    for player in (PLAYERS[1], PLAYERS[4], PLAYERS[6]):
        belief: Belief = player.start(Channel.exact(Board(3, 4)).revealed())
        belief = belief.update((1, 1, 2), reply((1, 1, 2), (3, 2, 4)))
        index, _ = player.choose(belief, np.random.default_rng(0), Situation(memory=memory))
        assert reply((1, 1, 2), belief.board.code(index)) == reply((1, 1, 2), (3, 2, 4))


def test_openings() -> None:
    rng = np.random.default_rng(0)
    pattern = PatternOpening()
    assert pattern.guess(Board(4, 6), rng) == (1, 1, 2, 3)
    assert pattern.guess(Board(8, 12), rng) == (1, 1, 2, 2, 3, 3, 4, 5)
    assert pattern.guess(Board(10, 12), rng) == (1, 1, 2, 2, 3, 3, 4, 4, 5, 5)
    assert pattern.guess(Board(1, 2), rng) == (1,)
    assert pattern.guess(Board(7, 2), rng) == (1, 1, 1, 1, 2, 2, 2)
    assert pattern.guess(Board(3, 4, repeats=False), rng) == (1, 2, 3)
    for board in (Board(3, 3), Board(3, 3, repeats=False)):
        opened = {RandomOpening().guess(board, rng) for _ in range(300)}
        assert len(opened) == board.n_codes
    opening = FixedOpening((2, 2, 1))
    assert opening.guess(Board(3, 3), rng) == (2, 2, 1)
    with pytest.raises(InvalidArgumentError):
        FixedOpening(3)  # type: ignore[arg-type]


def test_large_boards_are_probed_color_by_color() -> None:
    setup = Setup(probing=MonochromeProbing(pegs=4, colors=5))
    player = GeneticElitist(population=60, generations=40, setup=setup)
    played = turns(player, Board(4, 5), (4, 2, 2, 4), 0)
    assert [code for code, _ in played[:4]] == [(n,) * 4 for n in (1, 2, 3, 4)]
    assert played[-1][0] == (4, 2, 2, 4)
    noisy = player.start(Channel.false_reply(Board(4, 5), 0.2).revealed())
    assert noisy.board.code(player.choose(noisy, np.random.default_rng(0))[0]) == (1, 1, 2, 3)


def test_reply_classes_are_counts_of_replies() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(1, 6, size=(30, 4)).astype(np.uint8)
    classes = reply_classes(codes, 7, 5)
    for guess, row in zip(codes.tolist(), classes, strict=False):
        expected = np.zeros(25, dtype=np.int64)
        for code in codes.tolist():
            black, white = reply(guess, code)
            expected[(black + white) * 5 + black] += 1
        assert row.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: Effort(population=0, eligible=-1),
            "population .* 0; .* eligible .* -1",
        ),
        (lambda: Genetic(rates=Rates(mutation=1.5)), "rate of mutation from 0 to 1, got 1.5"),
        (lambda: GeneticElitist(elite=-0.1), "elite to be a number from 0 to 1"),
        (lambda: GeneticElitist(generations=0), "generations .* at least 1, got 0"),
        (lambda: BernierRandom(max_codes=0), "max_codes .* at least 1, got 0"),
        (lambda: BernierGenetic(patience=0), "patience .* at least 1, got 0"),
        (lambda: Annealing(runs=0), "runs .* at least 1, got 0"),
        (lambda: Collection(codes=0, guesses=0), "codes .* 1, got 0; expected guesses .* 1, got 0"),
        (lambda: Cooling(1.0, 2.0, 5), "temperatures that fall"),
        (lambda: MonochromeProbing(pegs=0), "pegs .* at least 1, got 0"),
    ],
)
def test_invalid_options_are_rejected(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        wrong()


def test_tuned_players_have_their_own_names() -> None:
    assert genetic_tuned().name == "genetic-tuned"
    assert annealing_tuned().name == "annealing-tuned"
    assert replace(genetic_tuned(), name="genetic") != Genetic()
    assert {"genetic", "genetic-elitist", "bernier-random", "annealing"} <= set(STRATEGIES)
