"""Figures of genetic players: guesses, codes and seconds a guess.

Run ``python benchmarks/evolutionary.py`` for the tables of docs/evolutionary.md, or name some:
``python benchmarks/evolutionary.py choices boards``. ``--share 0.1`` plays a tenth of the games.
Seconds are those of one core, without compiling.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bnmind.mastermind import Belief, Board, Channel, reply
from bnmind.strategies import (
    Annealing,
    BernierGenetic,
    BernierRandom,
    Genetic,
    GeneticElitist,
    Selection,
    Setup,
    Situation,
    Strategy,
    annealing_tuned,
    genetic_tuned,
)

MOST = 60
"""The limit of guesses; a lost game counts as many."""


@dataclass(frozen=True)
class Row:
    """The games of a player on a board."""

    label: str
    player: Strategy
    board: Board
    games: int
    published: float | None = None


def play(player: Strategy, board: Board, rng: np.random.Generator) -> tuple[int, int]:
    """Play a game with true replies; return the numbers of guesses and of codes evaluated."""
    secret = tuple(rng.integers(1, board.colors + 1, size=board.pegs).tolist())
    belief: Belief = player.start(Channel.exact(board).revealed())
    memory: object = None
    number = evaluated = 0
    code: tuple[int, ...] = ()
    while code != secret and number < MOST:
        number += 1
        index, info = player.choose(belief, rng, Situation(memory=memory))
        memory = info.memory
        evaluated += info.evaluated or 0
        code = board.code(index)
        if code != secret:
            belief = belief.update(code, reply(code, secret))
    return number, evaluated


def measured(row: Row, seed: int) -> str:
    """Return a line of a table in Markdown."""
    rngs = np.random.default_rng(seed).spawn(row.games)
    play(row.player, row.board, np.random.default_rng(0))
    start = time.process_time()
    played = np.array([play(row.player, row.board, rng) for rng in rngs])
    seconds = time.process_time() - start
    guesses = played[:, 0]
    error = guesses.std(ddof=1) / np.sqrt(row.games)
    published = "" if row.published is None else f"{row.published:.3f}"
    total = guesses.sum()
    return (
        f"| {row.board} | {row.label} | {published} | {guesses.mean():.3f} ± {error:.3f} | "
        f"{guesses.max()} | {row.games} | {played[:, 1].sum() / total:,.0f} | "
        f"{1000 * seconds / total:.1f} |"
    )


def choices(games: Callable[[int], int]) -> Iterator[Row]:
    """The choices that the papers leave open."""
    board = Board(10, 12)
    for population, generations in ((150, 150), (150, 20), (150, 10), (60, 20), (30, 20)):
        player = GeneticElitist(population=population, generations=generations)
        label = f"elitist, {population} codes, {generations} generations"
        yield Row(label, player, board, games(100), 19.79)
    for elite in (0.05, 0.2, 0.5):
        yield Row(f"elitist, elite {elite}", GeneticElitist(elite=elite), board, games(100), 19.79)
    label = "elitist, no color removed"
    yield Row(label, GeneticElitist(setup=Setup()), board, games(100), 19.79)
    for selection in Selection:
        name = selection.name.lower().replace("_", " ")
        player_of = Genetic(selection=selection)
        yield Row(f"genetic, selection {name}", player_of, Board(4, 6), games(500), 4.39)
        if selection is not Selection.UNIFORM:
            yield Row(f"genetic, selection {name}", player_of, Board(6, 9), games(200), 6.373)


PUBLISHED = {
    (4, 6): 4.39,
    (5, 8): 5.554,
    (5, 9): 5.938,
    (6, 9): 6.373,
    (6, 10): 6.853,
    (7, 10): 7.307,
    (8, 12): 8.548,
}


def boards(games: Callable[[int], int]) -> Iterator[Row]:
    """The published means of evolutionary players on larger boards."""
    for (pegs, colors), figure in PUBLISHED.items():
        n = games({4: 1000, 5: 600, 6: 600}.get(pegs, 300))
        yield Row("genetic", Genetic(), Board(pegs, colors), n, figure)
    yield Row("genetic", Genetic(), Board(10, 12), games(100))


def tuned(games: Callable[[int], int]) -> Iterator[Row]:
    """The settings for the fewest guesses."""
    for (pegs, colors), figure in {**PUBLISHED, (10, 12): 19.71}.items():
        n = games({4: 1000, 5: 400, 6: 600, 7: 300, 8: 200}.get(pegs, 60))
        yield Row("annealing-tuned", annealing_tuned(), Board(pegs, colors), n, figure)
        if pegs > 5:
            n = games({6: 300, 7: 200, 8: 150}.get(pegs, 50))
            yield Row("genetic-tuned", genetic_tuned(), Board(pegs, colors), n, figure)


def bernier(games: Callable[[int], int]) -> Iterator[Row]:
    """Random search, the first genetic algorithm, and annealing."""
    for pegs, colors, n in ((4, 6, 1000), (5, 8, 500), (6, 9, 200)):
        for player in (BernierRandom(), BernierGenetic(), Annealing()):
            yield Row(player.name, player, Board(pegs, colors), games(n))
    for player in (BernierGenetic(), Annealing()):
        yield Row(player.name, player, Board(8, 12), games(100))
        yield Row(player.name, player, Board(10, 12), games(50))


TABLES = {table.__name__: table for table in (choices, boards, bernier, tuned)}


def main() -> None:
    """Print tables."""
    parser = argparse.ArgumentParser(description=Path(__file__).name)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--share", type=float, default=1.0, help="the share of the games to play")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for name in given.tables or TABLES:
        print(f"\n{TABLES[name].__doc__}\n")
        print("| board | player | published | ours | worst | games | codes a guess | ms a guess |")
        print("|---|---|---:|---:|---:|---:|---:|---:|")
        for row in TABLES[name](lambda n: max(2, round(n * given.share))):
            print(measured(row, given.seed), flush=True)


if __name__ == "__main__":
    main()
