"""``bnmind fit-value``: the value of a belief, fitted to simulated games."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bnmind._files import check_writable
from bnmind.cli.mastermind.setting import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    Colors,
    Noise,
    NoRepeats,
    Pegs,
)
from bnmind.cli.shared.command import Count, Json, Seed
from bnmind.cli.shared.terminal import tell, tell_json, working

__all__ = ["fit_value"]


@dataclass(frozen=True, kw_only=True)
class FitValueOptions:
    """The options of the command.

    Parameters
    ----------
    out
        The file for the value.
    games
        Number of games in each round.
    rounds
        Number of rounds.
    """

    out: Path
    pegs: Pegs = DEFAULT_PEGS
    colors: Colors = DEFAULT_COLORS
    no_repeats: NoRepeats = False
    noise: Noise = "exact"
    games: Annotated[int, typer.Option(min=2)] = 4000
    rounds: Count = 2
    seed: Seed = 0
    as_json: Json = False


def fit_value(options: FitValueOptions) -> None:
    """Fit the value of a belief for look-ahead, and write it to a file.

    The value of a belief is the expected number of guesses that the game still takes. Each round
    plays games with one-step look-ahead on the value of the round before, and fits the next value
    to them. The seed determines the result. At 4x6 a thousand games take some 5 seconds. In
    Python, LookAhead(value=read_value(path)) plays with the value of a file.

    Examples
    --------
    bnmind fit-value --noise false:0.2 --out value.json
    bnmind fit-value --noise independent:0.1 --games 10000 --rounds 3 --out value.json
    """
    from bnmind.mastermind import Board, parse_noise
    from bnmind.strategies import fit_value as fit
    from bnmind.strategies import write_value

    check_writable(options.out)
    board = Board(options.pegs, options.colors, repeats=not options.no_repeats)
    channel = parse_noise(board, options.noise)
    fitted = working(
        "playing",
        lambda report: fit(
            channel,
            games=options.games,
            rounds=options.rounds,
            seed=options.seed or 0,
            progress=report,
        ),
    )
    write_value(fitted.value, options.out)
    if options.as_json:
        tell_json(
            {
                "board": str(board),
                "channel": channel.name,
                "means": list(fitted.means),
                "standard_errors": list(fitted.standard_errors),
                "coefficients": list(fitted.value.coefficients),
                "file": str(options.out),
            }
        )
        return
    rounds = ", ".join(
        f"{mean:.3f} ± {error:.3f}"
        for mean, error in zip(fitted.means, fitted.standard_errors, strict=True)
    )
    tell(f"Guesses a game, by round: {rounds}. Written: {options.out}")
