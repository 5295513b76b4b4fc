"""Published means of genetic and other evolutionary players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import sqrt

from bnmind.lab.reproductions.base.figures import (
    Better,
    Figure,
    Reference,
    Standing,
    measured,
)
from bnmind.lab.reproductions.base.published import longest_runs, published
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import board_of
from bnmind.lab.reproductions.mastermind.games import played
from bnmind.mastermind import Channel
from bnmind.strategies import strategy_by_name
from bnmind.strategies.evolutionary import FixedOpening, GeneticElitist, RandomOpening

__all__ = ["ANNEALING_MEANS", "ELITIST", "GENETIC_MEANS", "SAMPLED_MEANS"]

_CODES: Mapping[str, tuple[int, ...]] = {
    "AABB": (1, 1, 2, 2),
    "AABC": (1, 1, 2, 3),
    "AAAAABBBBB": (1, 1, 1, 1, 1, 2, 2, 2, 2, 2),
    "AABBCCDDEE": (1, 1, 2, 2, 3, 3, 4, 4, 5, 5),
    "AAAAABBBCC": (1, 1, 1, 1, 1, 2, 2, 2, 3, 3),
}
_LIMIT = 60
_PUBLISHED = 150
"""Generations."""


def _elitist(
    size: str, opening: str, games: int, seed: int, generations: int = _PUBLISHED
) -> Sequence[Figure]:
    row = published("evolutionary")["elitist"][size]
    first = RandomOpening() if opening == "random" else FixedOpening(_CODES[opening])
    player = GeneticElitist(generations=generations)
    player = replace(player, setup=replace(player.setup, opening=first))
    channel = Channel.exact(board_of(size))
    ours = played([player], channel, games, seed, limit=_LIMIT)[player.name].mean
    name = f"{size}, first guess {opening}, {generations} generations"
    why = "the paper's times point to a smaller search than it states: see 10 generations"
    fitted = generations != _PUBLISHED
    other = Reference(
        row[opening], Standing.PUBLICATION, ours.sd / sqrt(row["games"]), fitted=fitted
    )
    longest = longest_runs("genetic-elitist").get(name)
    why *= size == "10x12" and not fitted
    return (measured(name, ours, other, longest=longest, why=why),)


def _elitist_parts(setting: Setting) -> Sequence[Part]:
    small, large = setting.of((200, 5), (1000, 100))
    rows = published("evolutionary")["elitist"]
    parts = [
        Part(f"{size} {opening}", partial(_elitist, size, opening, games, setting.seed))
        for size, games in (("4x6", small), ("10x12", large))
        for opening in rows[size]
        if opening != "games"
    ]
    fewer = partial(_elitist, generations=10)
    parts += [
        Part(
            f"10x12 {opening} 10 generations",
            partial(fewer, "10x12", opening, setting.of(30, 100), setting.seed),
        )
        for opening in setting.of(("AAAAABBBBB",), tuple(_CODES)[2:])
    ]
    return tuple(parts)


_BOARDS: Mapping[str, tuple[str, ...]] = {
    "genetic": ("4x6", "5x8", "5x9", "6x9", "6x10", "7x10", "8x12"),
    "annealing-tuned": ("5x8", "6x9", "7x10", "8x12"),
    "entropy-sampled": ("6x9", "7x10", "8x12"),
}
"""The boards of each strategy."""

_REPRODUCED: Mapping[str, str] = {
    "genetic": "evolutionary-genetic",
    "annealing-tuned": "evolutionary-annealing",
    "entropy-sampled": "evolutionary-sampled",
}
"""The name of the reproduction of each strategy."""

_GAMES: Mapping[str, tuple[int, int]] = {
    "genetic": (100, 1000),
    "annealing-tuned": (16, 500),
    "entropy-sampled": (25, 800),
}
"""The number of games of a quick and of a full run."""


def _mean(size: str, name: str, games: int, seed: int) -> Sequence[Figure]:
    figures = published("evolutionary")
    theirs = figures["berghman"] if size == "4x6" else figures["evolutionary"]
    channel = Channel.exact(board_of(size))
    ours = played([strategy_by_name(name)], channel, games, seed, limit=_LIMIT)[name].mean
    label, is_genetic = f"{size}, {name}", name == "genetic"
    why = "the published player is the best of several; the settings of this one are for 4x6"
    other = Reference(theirs[size], Standing.PUBLICATION)
    longest = longest_runs(_REPRODUCED[name]).get(label)
    better = Better.NEITHER if is_genetic else Better.LOWER
    return (measured(label, ours, other, longest=longest, better=better, why=why * is_genetic),)


def _means(name: str, setting: Setting) -> Sequence[Part]:
    games = setting.of(*_GAMES[name])
    return tuple(
        Part(f"{size} {name}", partial(_mean, size, name, games, setting.seed))
        for size in _BOARDS[name]
    )


ELITIST = Reproduction(
    title="first guesses of an elitist genetic algorithm",
    source="Using an updated genetic algorithm to solve the Mastermind puzzle, table First guess",
    quick_minutes=1.2,
    minutes=6,
    parts=_elitist_parts,
    text="Population 150, 150 generations, as printed above the table. At 10x12 the paper's own "
    "times point to a much smaller search; rows of 10 generations, a number that we chose "
    "afterwards, show one ([evolutionary strategies](evolutionary.md)).",
)

_SOURCE = "the best evolutionary players of J. J. Merelo's published run data"
_TEXT = "The standard errors of the published means are not known."

GENETIC_MEANS = Reproduction(
    title="the genetic algorithm of Berghman, Goossens and Leus up to 8x12",
    source=f"Berghman, Goossens and Leus (2009) for 4x6; {_SOURCE} for the others",
    quick_minutes=0.5,
    minutes=5,
    parts=partial(_means, "genetic"),
    text=_TEXT,
)

ANNEALING_MEANS = Reproduction(
    title="annealing-tuned beside the best evolutionary players up to 8x12",
    source=_SOURCE,
    quick_minutes=0.5,
    minutes=15,
    parts=partial(_means, "annealing-tuned"),
    text=_TEXT,
)

SAMPLED_MEANS = Reproduction(
    title="entropy-sampled beside the best evolutionary players up to 8x12",
    source=_SOURCE,
    quick_minutes=0.4,
    minutes=12,
    parts=partial(_means, "entropy-sampled"),
    text=_TEXT,
)
