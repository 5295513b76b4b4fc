"""Exact means over random ties: against all choices in plain words, games, and published means."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.strategies.random_ties as random_ties_module
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.lab.reproductions import published
from bnmind.mastermind import Board, Reply, reply
from bnmind.strategies import (
    Among,
    AveragedGames,
    EntropyLeft,
    ExpectedSize,
    Knuth,
    Larmouth,
    MostParts,
    Myopic,
    RandomCode,
    Score,
    Strategy,
    Ties,
    WorstCase,
    average_games,
    is_averaged,
    measure_games,
)
from tests.mastermind.generators import boards
from tests.modes import UNCOMPILED, examples
from tests.strategies.test_myopic import judged

PUBLISHED = published("runarsson_merelo")
Code = tuple[int, ...]

SCORES: dict[str, Score] = {
    "entropy": EntropyLeft(),
    "most_parts": MostParts(),
    "expected_size": ExpectedSize(),
    "worst_case": WorstCase(),
}


def random_ties(name: str, first: Code | None = None) -> Myopic:
    """Return a heuristic of Runarsson and Merelo."""
    return Myopic(SCORES[name], name=name, among=Among.POSSIBLE, ties=Ties.RANDOM, first=first)


def plain_games(
    strategy: Strategy,
    possible: tuple[Code, ...],
    first: Code | None,
    known: dict[tuple[Code, ...], dict[int, Fraction]],
) -> dict[int, Fraction]:
    """Return the expected number of codes found by each guess, in plain words."""
    if possible in known:
        return known[possible]
    best = possible
    if first is not None:
        best = (first,)
    elif isinstance(strategy, Myopic) and len(possible) > 1:
        keys = {guess: judged(strategy.score, guess, possible) for guess in possible}
        best = tuple(guess for guess in possible if keys[guess] == min(keys.values()))
    found: dict[int, Fraction] = defaultdict(Fraction)
    for guess in best:
        classes: dict[Reply, list[Code]] = defaultdict(list)
        for code in possible:
            classes[reply(guess, code)].append(code)
        for answer, codes in classes.items():
            if answer.black == len(guess):
                found[1] += Fraction(1, len(best))
                continue
            for guesses, count in plain_games(strategy, tuple(codes), None, known).items():
                found[guesses + 1] += count / len(best)
    if first is None:
        known[possible] = found
    return found


@given(boards(27).filter(lambda board: board.pegs > 1), st.data())
@settings(max_examples=examples(15), deadline=None)
def test_exact_means_are_those_of_all_choices(board: Board, data: st.DataObject) -> None:
    first = data.draw(st.none() | st.integers(0, board.n_codes - 1).map(board.code))
    name = data.draw(st.sampled_from(["random", *SCORES]))
    strategy: Strategy = RandomCode() if name == "random" else random_ties(name)
    every = tuple(board.code(i) for i in range(board.n_codes))
    plain = plain_games(strategy, every, first, {})
    averaged = average_games(strategy, board, first=first)
    assert averaged.worst == max(plain)
    expected = [float(plain.get(guesses, 0)) for guesses in range(1, max(plain) + 1)]
    assert averaged.expected == pytest.approx(expected, abs=1e-9)
    assert sum(averaged.expected) == pytest.approx(board.n_codes)


@pytest.mark.parametrize(
    "strategy",
    [
        Myopic(Larmouth(), among=Among.POSSIBLE, ties=Ties.RANDOM),
        random_ties("entropy", first=(1, 1, 2)),
        RandomCode(),
    ],
    ids=["larmouth", "entropy", "random"],
)
def test_games_have_the_exact_mean(strategy: Strategy) -> None:
    board, games = Board(3, 4), 300 if UNCOMPILED else 500
    averaged = average_games(strategy, board)
    measured = measure_games(strategy, board, games=games, seed=5)
    assert abs(measured.mean - averaged.mean) < 4 * averaged.sd / games**0.5
    assert measured.max <= averaged.worst


@pytest.mark.slow
@pytest.mark.skipif(UNCOMPILED, reason="takes minutes uncompiled")
@pytest.mark.parametrize("name", ["entropy", "most_parts", "expected_size", "worst_case"])
def test_published_means_of_the_heuristics(name: str) -> None:
    averaged = average_games(random_ties(name, first=(1, 1, 2, 3)), Board(4, 6))
    check_published(averaged, name)


@pytest.mark.slow
@pytest.mark.skipif(UNCOMPILED, reason="takes minutes uncompiled")
def test_published_mean_of_random_codes() -> None:
    check_published(average_games(RandomCode(), Board(4, 6), first=(1, 1, 2, 3)), "random")


def check_published(averaged: AveragedGames, name: str) -> None:
    """The mean is within three standard errors of the published one, and is the one we print."""
    ours = PUBLISHED["exact"][name]
    assert averaged.mean == pytest.approx(ours, abs=5e-6)
    published = PUBLISHED["replicated"]
    assert abs(averaged.mean - published[name]) < 3 * published["standard_error"]


def test_other_strategies_have_no_exact_mean() -> None:
    board = Board(3, 3)
    assert is_averaged(RandomCode(), board)
    assert not is_averaged(RandomCode(), Board(5, 8))
    for other in (Knuth(), Myopic(MostParts()), random_ties_of_all_classes()):
        assert not is_averaged(other, board)
        with pytest.raises(InvalidArgumentError, match=other.name):
            average_games(other, board)
    with pytest.raises(TooLargeError, match="2,401"):
        average_games(RandomCode(), Board(5, 8))
    with (
        patch.object(random_ties_module, "MAX_PAIRS", 10),
        pytest.raises(TooLargeError, match="play games instead"),
    ):
        average_games(RandomCode(), board)
    with pytest.raises(InvalidArgumentError):
        average_games(RandomCode(), board, first=(1, 2))


def random_ties_of_all_classes() -> Myopic:
    score = WorstCase(next_largest=True)
    return Myopic(score, name="sorted", among=Among.POSSIBLE, ties=Ties.RANDOM)


def test_the_work_is_reported() -> None:
    heard: list[tuple[int, int]] = []
    average_games(RandomCode(), Board(2, 3), progress=lambda done, all_: heard.append((done, all_)))
    assert heard == [(done, len(heard)) for done in range(1, len(heard) + 1)]
    assert np.isclose(average_games(RandomCode(), Board(1, 2)).mean, 1.5)
