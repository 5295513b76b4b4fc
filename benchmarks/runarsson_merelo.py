"""Measure the players of Runarsson and Merelo: every code of 4x6, in many runs.

    python -m benchmarks.runarsson_merelo --runs 10 subset:10:entropy subset:20:entropy

prints the mean, its standard error, the standard deviation of a game and the largest number of
guesses of each strategy, the codes examined a game, and the groups of the rank-sum test, once of
the means of the runs as samples and once of all games.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bnmind.lab import rank_sum_groups
from bnmind.mastermind import Board, Channel, reply
from bnmind.strategies import (
    EstimationOfDistribution,
    LocalEntropy,
    Situation,
    Strategy,
    open_aabb,
    open_aabc,
    strategy_by_name,
)

__all__ = ["one_run"]

OPENINGS = {"AABB": open_aabb, "AABC": open_aabc}


def one_run(strategy: Strategy, board: Board, rng: np.random.Generator) -> tuple[list[int], int]:
    """Return the number of guesses for each code of the board, and the number of codes examined."""
    start = strategy.start(Channel.exact(board).revealed())
    lengths: list[int] = []
    examined = 0
    for index in range(board.n_codes):
        secret = board.code(index)
        belief, memory, guesses = start, None, 0
        while True:
            place, info = strategy.choose(belief, rng, Situation(memory=memory))
            guess, memory = board.code(place), info.memory
            guesses += 1
            examined += info.evaluated or 0
            if guess == secret:
                break
            belief = belief.update(guess, reply(guess, secret))
        lengths.append(guesses)
    return lengths, examined


def player(text: str) -> tuple[str, Strategy]:
    """Return the strategy of NAME, or of NAME@OPENING, and its name in the table."""
    name, _, opening = text.partition("@")
    strategy: Any = strategy_by_name(name)
    if opening and isinstance(strategy, EstimationOfDistribution | LocalEntropy):
        strategy = replace(strategy, opening=OPENINGS[opening])
    return text, strategy


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("strategies", nargs="+", metavar="NAME[@AABB|@AABC]")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a JSON file for the lengths of all games")
    options = parser.parse_args(arguments)
    board = Board(4, 6)
    games: dict[str, list[list[int]]] = {}
    for text in options.strategies:
        name, strategy = player(text)
        root = np.random.SeedSequence(options.seed)
        runs = [
            one_run(strategy, board, np.random.default_rng(source))
            for source in root.spawn(options.runs)
        ]
        games[name] = [lengths for lengths, _ in runs]
        every = np.array(games[name])
        print(
            f"{name:28} {every.mean():.4f} ± {every.std() / math.sqrt(every.size):.4f}"
            f"  sd {every.std():.3f}  of runs {every.mean(axis=1).std(ddof=1):.4f}"
            f"  worst {every.max()}  codes {sum(n for _, n in runs) / every.size:.0f}",
            flush=True,
        )
    if options.out is not None:
        options.out.write_text(json.dumps(games), encoding="utf-8")
    if len(games) > 1:
        print(
            "means of runs:",
            rank_sum_groups({n: np.mean(g, axis=1).tolist() for n, g in games.items()}),
        )
        print("all games:    ", rank_sum_groups({n: list(chain(*g)) for n, g in games.items()}))


if __name__ == "__main__":
    main()
