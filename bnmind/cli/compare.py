"""``bnmind compare``: the same secrets and the same noise, met by each of several strategies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._messages import shown
from bnmind._text_files import check_writable_directory
from bnmind.cli.options import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    Colors,
    Json,
    Noise,
    NoRepeats,
    Pegs,
    Seed,
)
from bnmind.cli.printable import tell_json
from bnmind.cli.progress import progress_bar
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.lab import Comparison

__all__ = ["COMPARE_HELP", "DEFAULT_GAMES", "DEFAULT_STRATEGIES", "compare"]

DEFAULT_STRATEGIES = ("entropy", "map", "knuth", "random")
DEFAULT_GAMES = 2000
"""With all strategies on the 4x6 board about a quarter of a minute."""

COMPARE_HELP = """Let strategies play the same secrets through the same noise, and compare them.

entropy minimizes the expected entropy; map guesses the most probable code; knuth and
random trust every reply, as far as they agree. A strategy of your own is named as
module:name. A row for each game (games.csv) and a plot of the game lengths
(game-lengths.png) go to the directory of --out.

\b
Examples:
  bnmind compare
  bnmind compare entropy map --games 5000 --noise false:0.2 --out results
  bnmind compare knuth my_module:MyStrategy --noise exact --games all --json
"""


def compare(
    strategies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STRATEGY]...",
            help="Strategies to compare; all four unless named.",
            show_default=False,
        ),
    ] = None,
    games: Annotated[
        str,
        typer.Option(
            "--games", metavar="N|all", help="Games of each strategy; all plays every code once."
        ),
    ] = str(DEFAULT_GAMES),
    noise: Noise = "false:0.2",
    assume: Annotated[
        str | None,
        typer.Option(
            "--assume", metavar="NOISE", help="The noise that strategies assume, if another."
        ),
    ] = None,
    pegs: Pegs = DEFAULT_PEGS,
    colors: Colors = DEFAULT_COLORS,
    no_repeats: NoRepeats = False,
    max_guesses: Annotated[
        int,
        typer.Option("--max-guesses", metavar="N", help="A game of more guesses is given up."),
    ] = 100,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where the results are written.")
    ] = Path("results"),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Compare strategies, print how they fared, and write all games to files."""
    from bnmind.lab import compare as compare_strategies
    from bnmind.lab import save_comparison
    from bnmind.mastermind import Board, parse_noise
    from bnmind.strategies import strategy_by_name

    board = Board(pegs, colors, repeats=not no_repeats)
    players = [strategy_by_name(name) for name in strategies or DEFAULT_STRATEGIES]
    number = _number_of_games(games)
    channel = parse_noise(board, noise)
    if out.exists() and not out.is_dir():
        raise BnmindError(f"expected a directory for --out, got the file {out}")
    check_writable_directory(out)
    named = [name for name in strategies or () if ":" in name]
    with progress_bar("games") as progress, _blamed_on(named):
        comparison = compare_strategies(
            players,
            channel,
            games=number,
            seed=seed or 0,
            max_guesses=max_guesses,
            assumed=None if assume is None else parse_noise(board, assume),
            progress=progress,
        )
    written = save_comparison(comparison, out)
    if as_json:
        tell_json(_as_json(comparison, written))
    else:
        _show(comparison, written)


@contextmanager
def _blamed_on(names: Sequence[str]) -> Iterator[None]:
    """Tell what goes wrong in strategies of the user's own, if there are any, in one line."""
    try:
        yield
    except BnmindError:
        raise
    except Exception as fault:
        if not names:
            raise
        reason = " ".join(str(fault).split()) or "no message"
        raise BnmindError(
            f"expected guesses of {' and '.join(names)}, got {type(fault).__name__}: {reason}"
        ) from fault


def _number_of_games(text: str) -> int | None:
    """Return how many games to play; None for every code once."""
    if text.strip().lower() == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise BnmindError(f"expected a number of games or all, got {shown(text)}") from None


def _show(comparison: Comparison, written: tuple[Path, ...]) -> None:
    from bnmind.cli.show import counted, percent, plain_table, show_table, terminal

    console = terminal()
    assumed = (
        "" if comparison.assumed == comparison.channel else f", assumed to be {comparison.assumed}"
    )
    console.print(
        f"Board {comparison.board}, noise {comparison.channel}{assumed}, seed {comparison.seed}; "
        f"guesses a game:"
    )
    table = plain_table(
        "strategy", "games", "mean", "std error", "sd", "worst", "within 10", "seconds"
    )
    for summary in comparison.summaries:
        table.add_row(
            summary.strategy,
            f"{summary.games:,}",
            f"{summary.mean:.3f}",
            _number(summary.standard_error),
            _number(summary.sd),
            f"{summary.worst}",
            percent(summary.within_ten),
            f"{summary.seconds_per_game:.4f}",
        )
    show_table(console, table)
    lost = [f"{s.strategy} lost {percent(1 - s.won)}" for s in comparison.summaries if s.won < 1]
    console.print(
        f"At most {counted(comparison.max_guesses, 'guess', 'guesses')} a game, which lost games "
        f"count as: {', '.join(lost) or 'none was lost'}."
    )
    console.print(f"Written: {', '.join(map(str, written))}", soft_wrap=True)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _as_json(comparison: Comparison, written: tuple[Path, ...]) -> dict[str, object]:
    return {
        "board": comparison.board,
        "channel": comparison.channel,
        "assumed": comparison.assumed,
        "games": comparison.games,
        "seed": comparison.seed,
        "max_guesses": comparison.max_guesses,
        "strategies": [summary.as_dict() for summary in comparison.summaries],
        "files": [str(path) for path in written],
    }
