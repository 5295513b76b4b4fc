"""Measure Snyder's players, and print her figures beside ours.

    python -m benchmarks.snyder --games 10000 scoring table4 table5 readings subset false

plays the tables of docs/snyder.md. Names choose the tables, all by default. Differences are given
in standard errors of both figures.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence

import numpy as np

from bnmind.lab import compare
from bnmind.lab.reproductions import published
from bnmind.mastermind import Board, Channel
from bnmind.strategies import strategy_by_name
from bnmind.strategies.snyder import (
    INITIAL_THETA,
    LEARNED_THETA,
    MetropolisHastings,
    play_scored,
    stopping_steps,
)

PUBLISHED = published("snyder")
ALL_CONSISTENT = (0.0, 0.0, 0.0, 50.0)


def board_of(size: str) -> Board:
    """Return the board of a size such as 4x6."""
    pegs, colors = size.split("x")
    return Board(int(pegs), int(colors))


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of some numbers, its standard error, and the standard deviation."""
    sd = float(np.std(values, ddof=1))
    return float(np.mean(values)), sd / len(values) ** 0.5, sd


def line(label: str, theirs: Sequence[float], ours: Sequence[float]) -> None:
    """Print our mean beside a published one: mean, standard deviation, number of games."""
    mean, error, sd = spread(ours)
    text = f"{label:46} {mean:10.4f} ± {error:.4f}  sd {sd:8.3f}"
    if theirs:
        published, their_sd, games = theirs
        off = (mean - published) / math.hypot(error, their_sd / games**0.5)
        text += f"   published {published:10.4f}  sd {their_sd:8.3f}  off by {off:+.1f}"
    print(text, flush=True)


def played(
    strategy: MetropolisHastings, channel: Channel, games: int, limit: int = 1000
) -> tuple[list[float], list[float]]:
    """Return the number of guesses of each game, one more if it is lost, and of codes searched."""
    rows = compare([strategy], channel, games=games, seed=2005, max_guesses=limit).rows
    guesses = [float(row.guesses + (not row.won)) for row in rows]
    return guesses, [float(row.codes_examined or 0) for row in rows]


def scoring(games: int) -> None:
    """The exponential scores, before and after learning."""
    for name, theta in (
        ("initial", INITIAL_THETA),
        ("learned", LEARNED_THETA),
        ("random_consistent", ALL_CONSISTENT),
    ):
        row = PUBLISHED[name]
        theirs = (row["mean"], row["sd"], row["games"])
        lengths = play_scored(Board(4, 6), theta, 20 * games, np.random.default_rng(1)).lengths
        line(f"{name}, compiled games", theirs, lengths.tolist())
    for name, row in (("snyder", "initial"), ("snyder-learned", "learned")):
        rows = compare([strategy_by_name(name)], Channel.exact(Board(4, 6)), games=games).rows
        theirs = (PUBLISHED[row]["mean"], PUBLISHED[row]["sd"], PUBLISHED[row]["games"])
        line(f"{name}, compare", theirs, [float(one.guesses) for one in rows])


def table4(games: int) -> None:
    """Walks that end only at a code that agrees with all replies."""
    for size, (mean, sd) in PUBLISHED["table_4"].items():
        board = board_of(size)
        ours, _ = played(MetropolisHastings(steps=2**20), Channel.exact(board), games)
        line(size, (mean, sd, 10_000), ours)


def table5(games: int) -> None:
    """Walks that stop."""
    for size, (mean, sd, codes, codes_sd) in PUBLISHED["table_5"].items():
        board = board_of(size)
        ours, searched = played(MetropolisHastings(), Channel.exact(board), games)
        line(f"{size} guesses", (mean, sd, 10_000), ours)
        first = stopping_steps(board)
        line(f"{size} codes", (), searched)
        line(f"{size} codes + {first}", (codes, codes_sd, 10_000), [n + first for n in searched])


def readings(games: int) -> None:
    """The final player, under several readings of its description."""
    row, board = PUBLISHED["metropolis_hastings"], Board(4, 6)
    for theta, keeps_color, is_mean in (
        *((1.0, True, False), (1.0, False, False), (2.0, True, False), (2.0, False, False)),
        *((2.0, True, True), (2.0, False, True)),
    ):
        strategy = MetropolisHastings(theta=theta, keeps_color=keeps_color, is_mean=is_mean)
        ours, searched = played(strategy, Channel.exact(board), games)
        label = f"θ={theta} {'any' if keeps_color else 'other'} color, "
        label += "mean" if is_mean else "sum"
        line(label, (row["mean"], row["sd"], 10_000), ours)
        codes = [n + stopping_steps(board) for n in searched]
        line(f"{label}, codes + 361", (row["codes"], row["codes_sd"], 10_000), codes)


def subset(games: int) -> None:
    """Table 3: permutations of three or more pegs with probability 0.1."""
    for size, theirs in PUBLISHED["table_3"].items():
        for share, mean in zip((0.1, 0.0), theirs, strict=True):
            for theta in (1.0, 5.0):
                fewer = games if size == "4x6" else games // 10
                strategy = MetropolisHastings(theta=theta, subset=share)
                ours, _ = played(strategy, Channel.exact(board_of(size)), fewer)
                line(f"{size} θ={theta} subset={share} (published {mean})", (), ours)


def false(games: int) -> None:
    """One reply in five is false; without a limit, and with at most ten guesses."""
    channel, row = (
        Channel.false_reply(Board(4, 6), 0.2),
        PUBLISHED["metropolis_hastings_false_20"],
    )
    for label, strategy in (
        ("all colors found: any reply", MetropolisHastings()),
        ("the last reply", MetropolisHastings(only_last=True)),
        ("any reply, if the code has its colors", MetropolisHastings(same_colors=True)),
    ):
        ours, _ = played(strategy, channel, games)
        line(label, (row["mean"], row["sd"], 10_000), ours)
        capped, _ = played(strategy, channel, games, limit=10)
        line(f"{label}, at most 10", (), capped)
        print(f"{'won of 3':46} {3 * np.mean(np.array(capped) <= 10):10.4f}", flush=True)
    exact = Channel.exact(Board(4, 6))
    capped, _ = played(MetropolisHastings(), exact, games, limit=10)
    line("without false replies, at most 10", (), capped)
    ours, _ = played(MetropolisHastings(same_colors=True), exact, games)
    line("without false replies, if the code has its colors", (), ours)


TABLES: dict[str, Callable[[int], None]] = {
    one.__name__: one for one in (scoring, table4, table5, readings, subset, false)
}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--games", type=int, default=10_000, help="games for each row")
    parser.add_argument("tables", nargs="*", help=f"any of {', '.join(TABLES)}; all by default")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.tables) - set(TABLES))
    if unknown:
        parser.error(f"expected tables among {', '.join(TABLES)}, got {', '.join(unknown)}")
    for table in arguments.tables or TABLES:
        print(f"\n{TABLES[table].__doc__}")
        TABLES[table](arguments.games)
