"""Print the means and the paired differences of strategies that played the same games.

    python -m benchmarks.paired_games entropy results-1/games.csv results-2/games.csv

reads the files that `bnmind compare` writes. The games of two files are the same if their seeds and
secrets are. Each line has the mean and its standard error, and the difference from the first
argument with its standard error and a confidence interval. The intervals of all pairs together hold
with a probability of 95 %.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

from bnmind.lab.statistics import paired_differences

__all__ = ["main"]

_Game = tuple[str, str, str, str]


def read_games(paths: list[Path]) -> dict[str, dict[_Game, int]]:
    """Return the number of guesses of each strategy in each game."""
    guesses: dict[str, dict[_Game, int]] = {}
    for path in paths:
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                game = (row["board"], row["channel"], row["seed"], row["secret"])
                guesses.setdefault(row["strategy"], {})[game] = int(row["guesses"])
    return guesses


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reference", help="the strategy to subtract")
    parser.add_argument("files", nargs="+", type=Path, help="files that bnmind compare wrote")
    options = parser.parse_args()
    guesses = read_games(options.files)
    common = sorted(set.intersection(*(set(games) for games in guesses.values())))
    values = {name: np.array([games[one] for one in common]) for name, games in guesses.items()}
    print(f"{len(common):,} games of each strategy, {common[0][0]} {common[0][1]}")
    found = paired_differences(values)
    for name, mean in zip(found.ranking, found.means, strict=True):
        error = values[name].std(ddof=1) / len(common) ** 0.5
        line = f"{name:12} {mean:.3f} ± {error:.3f}"
        if name != options.reference:
            pair = found.between(name, options.reference)
            line += f"  minus {options.reference} {pair.mean:+.3f} ± {pair.standard_error:.3f}"
            line += f"  ({pair.low:+.3f} to {pair.high:+.3f})"
        print(line)


if __name__ == "__main__":
    main()
