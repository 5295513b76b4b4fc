"""A. Snyder, *Mastermind by importance sampling and Metropolis-Hastings*: tables 6 and 7."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import hypot, sqrt

import numpy as np

from bnmind.lab.reproductions.base.figures import Estimate, Figure, counted, measured, quoted
from bnmind.lab.reproductions.base.published import published
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import CLASSIC
from bnmind.lab.reproductions.mastermind.games import played
from bnmind.lab.reproductions.mastermind.snyder import SOURCE, compared
from bnmind.mastermind import Channel
from bnmind.strategies.snyder import MetropolisHastings, play_scored, stopping_steps

__all__ = ["TABLE_6", "TABLE_7"]

_FALSE = 0.2

_READINGS = (
    *((1.0, True, False), (1.0, False, False), (2.0, True, False), (2.0, False, False)),
    *((2.0, True, True), (2.0, False, True)),
)
"""Readings of the description: θ, whether a new color may be the old one, and whether the cost is a
mean over the turns instead of a sum. The first is that of the strategy, and the only one that is
judged: among six, some would agree by chance."""


def _final(reading: tuple[float, bool, bool], games: int, seed: int) -> Sequence[Figure]:
    row = published("snyder")["metropolis_hastings"]
    theta, keeps_color, is_mean = reading
    strategy = MetropolisHastings(theta=theta, keeps_color=keeps_color, is_mean=is_mean)
    found = played([strategy], Channel.exact(CLASSIC), games, seed)[strategy.name]
    codes = (found.codes + stopping_steps(CLASSIC)).tolist()
    color, cost = ("any" if keeps_color else "another"), ("mean" if is_mean else "sum")
    label = f"random walk, θ = {theta:g}, {color} color, {cost} of the cost"
    figures: list[Figure] = []
    for what, values, mean, sd in (
        ("guesses", found.guesses.tolist(), row["mean"], row["sd"]),
        ("codes and one walk", codes, row["codes"], row["codes_sd"]),
    ):
        name, error = f"{label}, {what}", sd / sqrt(row["games"])
        if reading == _READINGS[0]:
            note = "the thesis says θ = 2; its table 5 fits this reading"
            figures += compared(name, values, mean, sd, row["games"], note)
        else:
            ours = Estimate.of(values)
            errors = (ours.mean - mean) / hypot(ours.standard_error, error)
            note = f"another reading, {errors:+.1f} standard errors from the published {mean:g}"
            figures.append(counted(name, ours, why=note))
    return figures


def _table_6(setting: Setting) -> Sequence[Part]:
    learned = partial(_scored_codes, setting.of(20_000, 200_000), setting.seed)
    games = setting.of(1000, 10_000)
    return (
        Part("learned", learned),
        *(
            Part(f"reading {number}", partial(_final, reading, games, setting.seed))
            for number, reading in enumerate(_READINGS)
        ),
    )


def _scored_codes(games: int, seed: int) -> Sequence[Figure]:
    row = published("snyder")["learned"]
    rng = np.random.default_rng((seed, 6))
    lengths = play_scored(CLASSIC, row["theta"], games, rng).lengths
    codes = Estimate.of((CLASSIC.n_codes * lengths).tolist())
    error = CLASSIC.n_codes * row["sd"] / sqrt(row["games"])
    note = (
        "1,296 codes a guess in both, so this is the mean of table 2 again; printed in the row of"
        " the other player"
    )
    return (measured("learned scores, codes", codes, 5969.4, error, note=note),)


def _false(games: int, seed: int) -> Sequence[Figure]:
    row = published("snyder")["metropolis_hastings_false_20"]
    channel = Channel.false_reply(CLASSIC, _FALSE)
    strategy = MetropolisHastings()
    guesses = played([strategy], channel, games, seed)[strategy.name].guesses.tolist()
    name = "20 % false, no limit, guesses"
    return (
        *compared(f"{name}, section 4.4.1", guesses, row["mean"], row["sd"], row["games"]),
        *compared(f"{name}, table 7", guesses, 7.59, 4.51, _GAMES_7, _WITHOUT_LIMIT),
    )


_WITHOUT_LIMIT = (
    "her standard deviation of 4.51 cannot come from scores of at most 11; 7.59 fits the mean"
    " without the limit"
)
_GAMES_7 = 3000
"""Her games of each kind in table 7."""
_FIXED = "her secrets and false replies were fixed in advance"


_COLORS_FOUND = {
    "": MetropolisHastings(),
    "only the last reply may fix the colors": MetropolisHastings(only_last=True),
    "if the walk has the colors found": MetropolisHastings(same_colors=True),
}
"""Readings of the rule that the walk permutes pegs once a reply says that all colors are found."""


def _against_people(games: int, seed: int, noise: float) -> Sequence[Figure]:
    channel = Channel.false_reply(CLASSIC, noise) if noise else Channel.exact(CLASSIC)
    label = "20 % false" if noise else "standard game"
    people, people_won = ((9.23, 1.735), (1.5, 1.080)) if noise else ((6.77, 1.693), (2.8, 0.421))
    figures: list[Figure] = []
    readings = _COLORS_FOUND if noise else {"": _COLORS_FOUND[""]}
    for reading, strategy in readings.items():
        found = played([strategy], channel, games, seed, limit=10)[strategy.name]
        won = Estimate.of((3.0 * (found.guesses <= 10)).tolist())
        name = f"{label}, {reading}" if reading else label
        if not noise:
            figures += compared(f"{name}, guesses", found.guesses.tolist(), 4.76, 1.236, _GAMES_7)
            figures.append(measured(f"{name}, won of 3", won, 3.0))
            continue
        limit = f"published: 7.59, but {_FIXED}, and 7.59 fits the mean without the limit"
        figures += [
            counted(f"{name}, guesses", found.mean, why="" if reading else limit),
            counted(
                f"{name}, won of 3", won, why="" if reading else f"published: 2.34, but {_FIXED}"
            ),
        ]
    return (
        *figures,
        quoted(f"{label}, guesses of people", people[0]),
        quoted(f"{label}, guesses of people, standard deviation", people[1]),
        quoted(f"{label}, guesses of the best of ten people", 6.0 if noise else 4.66),
        quoted(f"{label}, people won of 3", people_won[0]),
        quoted(f"{label}, people won of 3, standard deviation", people_won[1]),
    )


def _table_7(setting: Setting) -> Sequence[Part]:
    games = setting.of(1500, 20_000)
    return (
        Part("no limit", partial(_false, games, setting.seed)),
        Part("standard", partial(_against_people, games, setting.seed, 0.0)),
        Part("false", partial(_against_people, games, setting.seed, _FALSE)),
    )


TABLE_6 = Reproduction(
    title="Snyder's two players: guesses and codes",
    source=f"{SOURCE}, table 6",
    quick_minutes=0.2,
    minutes=2,
    parts=_table_6,
    text="The table prints the two numbers of codes in each other's rows. The description of the "
    "walk can be read in several ways; only that of table 5 is judged.",
)

TABLE_7 = Reproduction(
    title="Snyder's random walk and people, with and without false replies",
    source=f"{SOURCE}, section 4.4 and table 7",
    quick_minutes=0.3,
    minutes=4,
    parts=_table_7,
    text="Ten people played three games of each kind. A game that is not won within ten guesses "
    "counts as 11. The walk played her six secrets a thousand times each; they are not published, "
    "and ours are random. Under false replies, her false replies were fixed with the secrets: "
    "our games with the limit are no repetition of hers, and have no verdict.",
)
