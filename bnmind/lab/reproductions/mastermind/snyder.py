"""A. Snyder, *Mastermind by importance sampling and Metropolis-Hastings*: tables 2 to 5."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import sqrt

import numpy as np

from bnmind.lab.reproductions.base.figures import (
    RELEVANT_DEVIATION,
    Estimate,
    Figure,
    Reference,
    Standing,
    Verdict,
    counted,
    exact,
    measured,
)
from bnmind.lab.reproductions.base.published import longest_runs, published
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import CLASSIC, board_of
from bnmind.lab.reproductions.mastermind.games import played
from bnmind.mastermind import Channel
from bnmind.strategies.snyder import MetropolisHastings, play_scored, stopping_steps

__all__ = ["SOURCE", "TABLE_2", "TABLE_3", "TABLE_4", "TABLE_5", "compared"]

SOURCE = "A. Snyder, Mastermind by importance sampling and Metropolis-Hastings"
_THEIR_GAMES = 10_000
_UNLIMITED = 2**20
"""Steps of a walk that practically never ends without a code that fits all replies."""


_LONG = "the means agree, so a few of her games may be much longer than any of ours"


def compared(
    table: str,
    name: str,
    values: Sequence[float],
    hers: tuple[float, float, int],
    *,
    fitted: bool = False,
    why: str = "",
    note: str = "",
) -> list[Figure]:
    """Return the mean and the standard deviation of our games beside published ones.

    Parameters
    ----------
    table
        The name of the reproduction.
    name
        The figure.
    values
        The values of our games.
    hers
        The published mean and standard deviation, and the number of her games.
    fitted
        Whether we chose our reading of the description after we knew the figure.
    why
        A known reason for a difference of the means.
    note
        A remark on the mean.
    """
    (mean, sd, games), ours, spread = hers, Estimate.of(values), Estimate.deviation(values)
    error = spread.standard_error * sqrt(spread.games / games)
    longest, of_spread = longest_runs(table), f"{name}, standard deviation"
    means, spreads = (
        Reference(value, Standing.PUBLICATION, its_error, fitted)
        for value, its_error in ((mean, sd / sqrt(games)), (sd, error))
    )
    figure = measured(name, ours, means, longest=longest.get(name), why=why, note=note)
    spread_figure = measured(
        of_spread,
        spread,
        spreads,
        longest=longest.get(of_spread),
        relevant=RELEVANT_DEVIATION,
        why="" if figure.verdict is Verdict.DIFFERS else _LONG,
    )
    return [figure, spread_figure]


def _scored(name: str, games: int, seed: int) -> Sequence[Figure]:
    row = published("snyder")[name]
    rng = np.random.default_rng((seed, 2))
    lengths = play_scored(CLASSIC, row["theta"], games, rng).lengths
    label = name.replace("_", " ")
    table, guesses = "snyder-table-2", f"{label}, guesses"
    hers = (row["mean"], row["sd"], row["games"])
    figures = compared(table, guesses, lengths.tolist(), hers)
    if name == "learned":
        figures.append(
            measured(
                f"{guesses}, second figure",
                Estimate.of(lengths.tolist()),
                Reference(
                    row["second_mean"], Standing.PUBLICATION, row["sd"] / sqrt(row["second_games"])
                ),
                longest=longest_runs(table).get(guesses),
            )
        )
    if "most" in row:
        most, longer = int(max(lengths)), int((lengths > row["most"]).sum())
        note = f"the longest of her {row['most_games']:,} games, and of ours"
        why = f"{longer:,} of our {games:,} games are longer than hers; the reason is not known"
        name = f"{label}, most guesses"
        longest = Reference(row["most"], Standing.PUBLICATION)
        figures.append(exact(name, most, longest, note=note, why=why))
    return figures


def _table_2(setting: Setting) -> Sequence[Part]:
    games = setting.of(40_000, 400_000)
    return tuple(
        Part(name, partial(_scored, name, games, setting.seed))
        for name in ("initial", "learned", "random_consistent")
    )


def _subset(size: str, theta: float, games: int, seed: int) -> Sequence[Figure]:
    """Return the means with and without permutations of three or more pegs."""
    theirs = published("snyder")["table_3"][size]
    figures = []
    for share, mean in zip((0.1, 0.0), theirs, strict=True):
        strategy = MetropolisHastings(theta=theta, subset=share)
        ours = played([strategy], Channel.exact(board_of(size)), games, seed)[strategy.name].mean
        name = f"{size}, θ = {theta:g}, {'with' if share else 'without'} permutations, guesses"
        if theta != 5:
            figures.append(counted(name, ours))
            continue
        why = "with the sum of the cost over the turns, a large θ takes more guesses at 4x6 here"
        figures.append(
            measured(
                name,
                ours,
                Reference(mean, Standing.PUBLICATION, ours.sd / sqrt(_THEIR_GAMES)),
                longest=longest_runs("snyder-table-3").get(name),
                why=why,
            )
        )
    return figures


def _table_3(setting: Setting) -> Sequence[Part]:
    small, large = setting.of((600, 40), (10_000, 1000))
    return tuple(
        Part(f"{size} {theta:g}", partial(_subset, size, theta, games, setting.seed))
        for size, games in (("4x6", small), ("10x10", large))
        for theta in (1.0, 5.0)
    )


def _unlimited(size: str, games: int, seed: int) -> Sequence[Figure]:
    mean, sd = published("snyder")["table_4"][size]
    strategy = MetropolisHastings(steps=_UNLIMITED)
    found = played([strategy], Channel.exact(board_of(size)), games, seed)[strategy.name]
    why = "most other readings that we tried differ, too (docs/snyder.md)" * (size == "6x8")
    guesses, hers = found.guesses.tolist(), (mean, sd, _THEIR_GAMES)
    return compared("snyder-table-4", f"{size}, guesses", guesses, hers, why=why)


def _table_4(setting: Setting) -> Sequence[Part]:
    games = setting.of(1000, 10_000)
    return tuple(
        Part(size, partial(_unlimited, size, games, setting.seed))
        for size in published("snyder")["table_4"]
    )


def _stopped(size: str, games: int, seed: int) -> Sequence[Figure]:
    mean, sd, codes, codes_sd = published("snyder")["table_5"][size]
    board = board_of(size)
    strategy = MetropolisHastings()
    found = played([strategy], Channel.exact(board), games, seed)[strategy.name]
    # Her count seems to include a walk for the first guess.
    searched = (found.codes + stopping_steps(board)).tolist()
    judge = partial(compared, "snyder-table-5", fitted=True)
    guesses = (mean, sd, _THEIR_GAMES)
    return (
        *judge(f"{size}, guesses", found.guesses.tolist(), guesses),
        *judge(f"{size}, codes and one walk", searched, (codes, codes_sd, _THEIR_GAMES)),
    )


def _table_5(setting: Setting) -> Sequence[Part]:
    games = setting.of(1000, 10_000)
    return tuple(
        Part(size, partial(_stopped, size, games, setting.seed))
        for size in published("snyder")["table_5"]
    )


TABLE_2 = Reproduction(
    title="Snyder's exponential scores before and after learning",
    source=f"{SOURCE}, table 2 and section 4.2.3",
    quick_minutes=0.1,
    minutes=0.2,
    parts=_table_2,
    text="The thesis gives two means of the learned weights, 4.6066 and 4.6183.",
)

TABLE_3 = Reproduction(
    title="permutations of pegs in Snyder's random walk",
    source=f"{SOURCE}, table 3",
    quick_minutes=0.1,
    minutes=2,
    parts=_table_3,
    text="Like the thesis, we find no clear benefit of the permutations. Its θ is 5; the rows of "
    "θ = 1 have no published figure.",
)

TABLE_4 = Reproduction(
    title="Snyder's random walk to a code that fits all replies",
    source=f"{SOURCE}, table 4",
    quick_minutes=0.1,
    minutes=2,
    parts=_table_4,
)

TABLE_5 = Reproduction(
    title="Snyder's random walk of limited length: guesses and codes",
    source=f"{SOURCE}, table 5",
    quick_minutes=0.2,
    minutes=2,
    parts=_table_5,
    text="The thesis does not say θ and some details of this table. We chose θ = 1 and the other "
    "details because they fit it, so agreement is a fit. Her number of codes seems to include one "
    "walk for the first guess, which is drawn without one; it is added to ours.",
)
