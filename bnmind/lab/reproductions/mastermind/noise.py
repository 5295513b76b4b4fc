"""Means and bounds of play under false replies on 4x6."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import sqrt

import numpy as np

from bnmind.lab.reproductions.base.figures import (
    Better,
    Figure,
    Reference,
    exact,
    measured,
    new,
)
from bnmind.lab.reproductions.base.published import longest_runs, published
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import CLASSIC, board_of
from bnmind.lab.reproductions.mastermind.games import played
from bnmind.mastermind import Belief, Channel, Prior
from bnmind.strategies import (
    FIRST_TURN,
    Entropy,
    GuessInfo,
    LookAhead,
    LookAheadTwo,
    MapCode,
    Needs,
    Situation,
    Strategy,
    mean_lower_bound,
    mean_under_noise,
    solve_belief_game,
)

__all__ = ["NOISY_BOUNDS", "NOISY_MEANS", "SMALL_BOARDS"]

_THEIR_GAMES = 20_000


@dataclass(frozen=True)
class _Opened:
    """A strategy whose first guess is given."""

    strategy: Strategy
    first: tuple[int, ...]
    name: str = "opened"
    deterministic: bool = True
    needs: Needs = field(default_factory=lambda: Entropy().needs)

    def start(self, channel: Channel, prior: Prior | None = None) -> Belief:
        return self.strategy.start(channel, prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        if belief.history:
            return self.strategy.choose(belief, rng, situation)
        guess = belief.channel.board.index(self.first)
        return guess, GuessInfo(guess=guess)


_PLAYERS: Mapping[str, Callable[[], Strategy]] = {
    "map_random_ties": MapCode,
    "min_expected_entropy": Entropy,
    "min_expected_entropy_opening_1123": partial(_Opened, Entropy(), (1, 1, 2, 3)),
    "one_step_lookahead": LookAhead,
    "two_step_lookahead": LookAheadTwo,
}
"""The strategy of each row of the file of published figures."""


def _mean(row: str, p: str, games: int, seed: int) -> Sequence[Figure]:
    strategy = _PLAYERS[row]()
    channel = Channel.false_reply(CLASSIC, float(p))
    ours = played([strategy], channel, games, seed)[strategy.name].mean
    theirs = published("noisy_means_4x6")[row][p]
    other, name = Reference(theirs, error=ours.sd / sqrt(_THEIR_GAMES)), row.replace("_", " ")
    name = f"{name}, p = {p}"
    return (measured(name, ours, other, longest=longest_runs("noisy-means").get(name)),)


def _means(setting: Setting) -> Sequence[Part]:
    figures = published("noisy_means_4x6")
    games = {name: setting.of(800, 20_000) for name in _PLAYERS}
    games["one_step_lookahead"] = setting.of(500, 20_000)
    games["two_step_lookahead"] = setting.of(150, 10_000)
    return tuple(
        Part(f"{row} {p}", partial(_mean, row, p, games[row], setting.seed))
        for row in _PLAYERS
        for p in figures[row]
    )


def _bound(p: str, partitions: int) -> Sequence[Figure]:
    channel = Channel.false_reply(CLASSIC, float(p))
    ours = mean_lower_bound(channel, partitions=partitions).mean
    theirs = published("noisy_means_4x6")["lower_bound"].get(p)
    why = "a relaxation of the game with a larger least mean; both bounds hold"
    return (exact(f"lower bound, p = {p}", ours, theirs, better=Better.HIGHER, why=why),)


def _bounds(setting: Setting) -> Sequence[Part]:
    partitions = setting.of(3, 4)
    return tuple(
        Part(p, partial(_bound, p, partitions)) for p in published("noisy_means_4x6")["lower_bound"]
    )


def _small(size: str, gap: float) -> Sequence[Figure]:
    channel = Channel.false_reply(board_of(size), 0.2)
    solution = solve_belief_game(channel, gap=gap, max_beliefs=10**6)
    entropy = mean_under_noise(Entropy(), channel, least_mass=1e-6)
    return (
        new(f"{size}, best play, at least", solution.lower),
        new(f"{size}, best play, at most", solution.upper),
        new(f"{size}, minimal expected entropy, at least", entropy.lower),
        new(f"{size}, minimal expected entropy, at most", entropy.mean),
    )


def _small_boards(setting: Setting) -> Sequence[Part]:
    gaps = setting.of(
        {"2x3": 1e-4, "3x2": 1e-4}, {"2x3": 1e-5, "3x2": 1e-4, "2x4": 0.003, "3x3": 0.009}
    )
    return tuple(Part(size, partial(_small, size, gap)) for size, gap in gaps.items())


NOISY_MEANS = Reproduction(
    title="means under false replies on 4x6, by the probability p",
    source="independent simulations of our own, 20,000 games each",
    quick_minutes=0.5,
    minutes=30,
    parts=_means,
    text="A reply to a wrong guess is replaced by a random one with probability p. The code-maker "
    "ends the game truthfully. Ties of map are random.",
)

NOISY_BOUNDS = Reproduction(
    title="lower bounds of the mean under false replies on 4x6",
    source="an independent proof of our own",
    quick_minutes=0.4,
    minutes=1,
    parts=_bounds,
    text="No strategy takes fewer guesses on average. A quick run stops the search a guess "
    "earlier, and its bounds are a little lower.",
)

SMALL_BOARDS = Reproduction(
    title="the best play under 20 % false replies on small boards",
    source="a new experiment",
    quick_minutes=0.1,
    minutes=5,
    parts=_small_boards,
    text="See [Bounds of play under noise](belief-game-bounds.md).",
)
