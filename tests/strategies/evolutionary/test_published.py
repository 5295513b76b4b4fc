"""Published means of genetic players, within three standard errors of the difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bnmind.lab.reproductions import published
from bnmind.mastermind import Belief, Board, Channel, reply
from bnmind.strategies import (
    FixedOpening,
    Genetic,
    GeneticElitist,
    Opening,
    RandomOpening,
    Situation,
    Strategy,
)

PUBLISHED = published("evolutionary")
OPENINGS: dict[str, Opening] = {
    "AABB": FixedOpening((1, 1, 2, 2)),
    "AABC": FixedOpening((1, 1, 2, 3)),
    "random": RandomOpening(),
}


def guesses(player: Strategy, board: Board, games: int) -> list[int]:
    """Return the numbers of guesses of games against random codes."""
    lengths = []
    for rng in np.random.default_rng(1).spawn(games):
        secret = tuple(rng.integers(1, board.colors + 1, size=board.pegs).tolist())
        belief: Belief = player.start(Channel.exact(board).revealed())
        code: tuple[int, ...] = ()
        number, memory = 0, None
        while code != secret:
            index, info = player.choose(belief, rng, Situation(memory=memory))
            code, number, memory = board.code(index), number + 1, info.memory
            if code != secret:
                belief = belief.update(code, reply(code, secret))
        lengths.append(number)
    return lengths


def is_within_error(lengths: list[int], published: float, games: float) -> bool:
    """Return whether the means differ by at most three standard errors of the difference."""
    deviation = float(np.std(lengths, ddof=1))
    error = deviation * np.sqrt(1 / len(lengths) + 1 / games)
    return bool(abs(np.mean(lengths) - published) <= 3 * error)


@pytest.mark.slow
def test_the_genetic_player_takes_the_published_number_of_guesses() -> None:
    lengths = guesses(Genetic(), Board(4, 6), 200)
    assert is_within_error(lengths, PUBLISHED["berghman"]["4x6"], np.inf)


@pytest.mark.slow
@pytest.mark.parametrize("opening", OPENINGS)
def test_the_elitist_player_takes_the_published_number_of_guesses(opening: str) -> None:
    player = GeneticElitist()
    player = replace(player, setup=replace(player.setup, opening=OPENINGS[opening]))
    published = PUBLISHED["elitist"]["4x6"]
    lengths = guesses(player, Board(4, 6), 60)
    assert is_within_error(lengths, published[opening], published["games"])


@pytest.mark.slow
def test_ten_generations_take_the_published_number_of_guesses_on_a_large_board() -> None:
    # With 150 generations, as the paper prints above the table, they are about twelve.
    published = PUBLISHED["elitist"]["10x12"]
    player = GeneticElitist(generations=10)
    player = replace(player, setup=replace(player.setup, opening=RandomOpening()))
    lengths = guesses(player, Board(10, 12), 60)
    assert is_within_error(lengths, published["random"], published["games"])
