"""A. Snyder, *Mastermind by importance sampling and Metropolis-Hastings*: tables 6 and 7."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import sqrt

import numpy as np

from bnmind.lab.reproductions.base.figures import (
    Estimate,
    Figure,
    Reference,
    Standing,
    measured,
    quoted,
)
from bnmind.lab.reproductions.base.published import longest_runs, published
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import CLASSIC
from bnmind.lab.reproductions.mastermind.games import played
from bnmind.lab.reproductions.mastermind.snyder import SOURCE, compared
from bnmind.mastermind import Channel
from bnmind.strategies.snyder import MetropolisHastings, play_scored, stopping_steps

__all__ = ["TABLE_6", "TABLE_7"]

_FALSE = 0.2

_FINAL_THETA = 2.0
"""θ of her final player, by the text of the thesis."""

_READINGS = (
    *((_FINAL_THETA, True, False), (1.0, True, False), (1.0, False, False)),
    *((_FINAL_THETA, False, False), (_FINAL_THETA, True, True), (_FINAL_THETA, False, True)),
)
"""Readings of the description: θ, whether a new color may be the old one, and whether the cost is a
mean over the turns instead of a sum. The first has θ as the text says it, and is judged. Of the
others, some agree by chance or were chosen because they fit."""


def _final(reading: tuple[float, bool, bool], games: int, seed: int) -> Sequence[Figure]:
    row = published("snyder")["metropolis_hastings"]
    theta, keeps_color, is_mean = reading
    strategy = MetropolisHastings(theta=theta, keeps_color=keeps_color, is_mean=is_mean)
    found = played([strategy], Channel.exact(CLASSIC), games, seed)[strategy.name]
    codes = (found.codes + stopping_steps(CLASSIC)).tolist()
    color, cost = ("any" if keeps_color else "another"), ("mean" if is_mean else "sum")
    label = f"random walk, θ = {theta:g}, {color} color, {cost} of the cost"
    is_judged = reading == _READINGS[0]
    judge = partial(
        compared,
        "snyder-table-6",
        fitted=not is_judged,
        why="the walk described here fits with θ = 1, see the next lines" * is_judged,
    )
    guesses, searched = (
        (row[mean], row[sd], row["games"]) for mean, sd in (("mean", "sd"), ("codes", "codes_sd"))
    )
    figures = (
        *judge(f"{label}, guesses", found.guesses.tolist(), guesses),
        *judge(f"{label}, codes and one walk", codes, searched),
    )
    return figures if is_judged else figures[::2]


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
    name = "learned scores, codes"
    longest = longest_runs("snyder-table-6").get(name)
    hers = Reference(5969.4, Standing.PUBLICATION, error)
    return (measured(name, codes, hers, longest=longest, note=note),)


_FITTED = {
    "θ = 1": MetropolisHastings(),
    "θ = 1, only the last reply may fix the colors": MetropolisHastings(only_last=True),
    "θ = 1, if the walk has the colors found": MetropolisHastings(same_colors=True),
}
"""Readings with the θ that fits, and of the rule that the walk permutes pegs once a reply says that
all colors are found."""


def _readings(noisy: bool) -> Sequence[tuple[str, MetropolisHastings, bool]]:
    """Return the name of each reading, its player, and whether it was chosen afterwards."""
    fitted = list(_FITTED.items()) if noisy else list(_FITTED.items())[:1]
    text = (f"θ = {_FINAL_THETA:g}", MetropolisHastings(theta=_FINAL_THETA), False)
    return (text, *((name, player, True) for name, player in fitted))


def _false(games: int, seed: int) -> Sequence[Figure]:
    known = published("snyder")
    row, limited = known["metropolis_hastings_false_20"], known["table_7"]["false_20"]
    channel = Channel.false_reply(CLASSIC, _FALSE)
    figures: list[Figure] = []
    for name, player, fitted in _readings(False):
        guesses = played([player], channel, games, seed)[player.name].guesses.tolist()
        label = f"20 % false, no limit, {name}, guesses"
        judge = partial(compared, "snyder-table-7", values=guesses, fitted=fitted)
        hers = (row["mean"], row["sd"], row["games"])
        figures += judge(name=f"{label}, section 4.4.1", hers=hers)
        if fitted:
            hers = (limited["mean"], limited["sd"], 3 * known["table_7"]["sequences"])
            figures += judge(name=f"{label}, table 7", hers=hers, note=_NO_LIMIT)
    return figures


_NO_LIMIT = (
    "by the text, table 7 has a limit, but a standard deviation of 4.51 cannot come from scores of"
    " at most 11"
)
_FIXED = "her three secrets and false replies were fixed in advance, and ours are random"


def _against_people(games: int, seed: int, noise: float) -> Sequence[Figure]:
    channel = Channel.false_reply(CLASSIC, noise) if noise else Channel.exact(CLASSIC)
    label = "20 % false" if noise else "standard game"
    table = published("snyder")["table_7"]
    row, sequences = table["false_20" if noise else "standard"], table["sequences"]
    people, people_won = ((9.23, 1.735), (1.5, 1.080)) if noise else ((6.77, 1.693), (2.8, 0.421))
    figures: list[Figure] = []
    for reading, player, fitted in _readings(bool(noise)):
        found = played([player], channel, games, seed, limit=10)[player.name]
        won = Estimate.of((3.0 * (found.guesses <= 10)).tolist())
        judge = partial(compared, "snyder-table-7", fitted=fitted, why=_FIXED)
        name = f"{label}, {reading}"
        values = found.guesses.tolist()
        guesses = judge(f"{name}, guesses", values, (row["mean"], row["sd"], 3 * sequences))
        figures += guesses[:1] if fitted else guesses
        name = f"{name}, won of 3"
        other = Reference(row["won"], Standing.PUBLICATION, row["won_sd"] / sqrt(sequences), fitted)
        longest = longest_runs("snyder-table-7").get(name)
        figures.append(measured(name, won, other, longest=longest, why=_FIXED))
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
    text="The table prints the two numbers of codes in each other's rows. The thesis says that θ "
    "is 2 here, and this is judged. The other readings were chosen after the figures were known.",
)

TABLE_7 = Reproduction(
    title="Snyder's random walk and people, with and without false replies",
    source=f"{SOURCE}, section 4.4 and table 7",
    quick_minutes=0.3,
    minutes=4,
    parts=_table_7,
    text="Ten people played three games of each kind. A game that is not won within ten guesses "
    "counts as 11. The walk played her six secrets a thousand times each; they are not published, "
    "and ours are random. Under false replies, her false replies were fixed with the secrets, "
    "which may make a difference. The thesis says that θ is 2 in these games, and this is judged. "
    "The other readings were chosen after the figures were known.",
)
