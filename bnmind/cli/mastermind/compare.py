"""``bnmind compare``: a comparison of strategies on the same secrets and the same noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._messages import shown
from bnmind._text_files import check_writable_directory
from bnmind.cli.mastermind.setting import UNIFORM, prior_of
from bnmind.cli.shared.command import with_options
from bnmind.cli.shared.errors import INTERRUPTED, say_interrupted
from bnmind.cli.shared.options import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    CodePrior,
    Colors,
    Json,
    Noise,
    NoRepeats,
    Pegs,
    Seed,
)
from bnmind.cli.shared.printable import tell, tell_json
from bnmind.cli.shared.work import Report, working
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.lab import Comparison, Contest, GameRow

__all__ = ["COMPARE_HELP", "DEFAULT_GAMES", "DEFAULT_STRATEGIES", "compare"]

DEFAULT_STRATEGIES = ("entropy", "kooi", "knuth", "map")
DEFAULT_GAMES = 2000
"""With the default strategies on 4x6, this takes about 15 seconds."""

COMPARE_HELP = """Compare strategies on the same secrets with the same noise.

entropy minimizes the expected entropy, and map guesses the most probable code: both model the
noise. kooi (most parts), knuth (worst case) and random (any possible code) assume true replies,
as long as these are consistent. Strategies that use only the history, such as annealing, and those
that play a tree, such as optimal, do not use a prior. Name a strategy of your own as module:name.
The command writes a row for each game (games.csv) and a plot of the game lengths
(game-lengths.png) to the directory of --out. After Ctrl-C, it writes the games played so far.

\b
Examples:
  bnmind compare
  bnmind compare entropy map --games 5000 --noise false:0.2 --out results
  bnmind compare entropy --prior two-color --assume-prior learned --match 10
  bnmind compare entropy map --ending declared:0.9 --max-guesses 20
  bnmind compare knuth my_module:MyStrategy --noise exact --games all --json
"""


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of the command."""

    strategies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STRATEGY]...",
            help=f"Strategies to compare. [default: {' '.join(DEFAULT_STRATEGIES)}]",
            show_default=False,
        ),
    ] = None
    games: Annotated[
        str,
        typer.Option(
            "--games", metavar="N|all", help="Games of each strategy; all plays every code once."
        ),
    ] = str(DEFAULT_GAMES)
    noise: Noise = "false:0.2"
    assume: Annotated[
        str | None,
        typer.Option(
            "--assume", metavar="NOISE", help="The noise that strategies assume, if different."
        ),
    ] = None
    pegs: Pegs = DEFAULT_PEGS
    colors: Colors = DEFAULT_COLORS
    no_repeats: NoRepeats = False
    prior: CodePrior = UNIFORM
    assume_prior: Annotated[
        str | None,
        typer.Option(
            "--assume-prior",
            metavar="PRIOR",
            help="The prior that strategies assume, if different.",
        ),
    ] = None
    match: Annotated[
        int,
        typer.Option(
            "--match",
            metavar="N",
            help="Games of a match; an assumed prior that learns has seen its earlier codes.",
        ),
    ] = 1
    ending: Annotated[
        str, typer.Option("--ending", metavar="ENDING", help="How a game ends; see below.")
    ] = "revealed"
    max_guesses: Annotated[
        int,
        typer.Option("--max-guesses", metavar="N", help="The limit of guesses in a game."),
    ] = 100
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The directory for the results.")
    ] = Path("results")
    seed: Seed = 0
    as_json: Json = False


@with_options(CompareOptions)
def compare(options: CompareOptions) -> None:
    """Compare strategies, print a summary, and write all games to files."""
    from bnmind.lab import Contest, parse_ending, save_comparison
    from bnmind.mastermind import Board, parse_noise, parse_prior
    from bnmind.strategies import strategy_by_name

    board = Board(options.pegs, options.colors, repeats=not options.no_repeats)
    with _blamed_on(options.strategies or ()):
        contest = Contest(
            tuple(strategy_by_name(name) for name in options.strategies or DEFAULT_STRATEGIES),
            parse_noise(board, options.noise),
            games=_number_of_games(options.games),
            seed=options.seed or 0,
            assumed=None if options.assume is None else parse_noise(board, options.assume),
            ending=parse_ending(options.ending, options.max_guesses),
            prior=prior_of(board, options.prior),
            assumed_prior=None
            if options.assume_prior is None
            else parse_prior(board, options.assume_prior),
            match=options.match,
        )
    if options.out.exists() and not options.out.is_dir():
        raise BnmindError(f"expected a directory for --out, got the file {options.out}")
    check_writable_directory(options.out)
    with _blamed_on(options.strategies or ()):
        comparison = _played(contest)
    written = save_comparison(comparison, options.out)
    if options.as_json:
        tell_json(_as_json(comparison, written))
    else:
        _show(comparison, written)
        _show_best(contest)
        _show_twins(contest)
        _show_ignorant(contest)
    if comparison.games < contest.n_games:
        raise typer.Exit(INTERRUPTED)


def _played(contest: Contest) -> Comparison:
    """Play the games; after Ctrl-C, keep the games that all strategies have played."""
    rows: list[GameRow] = []
    stopped = Event()

    def play(report: Report) -> None:
        for row in contest.play():
            if stopped.is_set():
                return
            rows.append(row)
            report(len(rows), contest.n_rows)

    try:
        working("playing", play)
    except KeyboardInterrupt:
        stopped.set()
        played = tuple(rows)
        if len(played) < len(contest.strategies):
            raise
        comparison = contest.comparison(played)
        say_interrupted(
            f"interrupted after {comparison.games:,} of {contest.n_games:,} games, which are kept"
        )
        return comparison
    return contest.comparison(rows)


@contextmanager
def _blamed_on(strategies: Sequence[str]) -> Iterator[None]:
    """Report an error of the user's own strategies in one line."""
    from bnmind.strategies.registry import is_registered

    names = [name for name in strategies if ":" in name and not is_registered(name)]
    try:
        yield
    except BnmindError:
        raise
    except Exception as fault:
        if not names:
            raise
        reason = " ".join(str(fault).split()) or "no message"
        raise BnmindError(
            f"{' and '.join(names)} failed with {type(fault).__name__}: {reason}"
        ) from fault


def _number_of_games(text: str) -> int | None:
    """Return the number of games; None to play every code once."""
    if text.strip().lower() == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise BnmindError(f"expected a number of games or all, got {shown(text)}") from None


def _show(comparison: Comparison, written: tuple[Path, ...]) -> None:
    from bnmind.cli.shared.show import counted, percent, plain_table, show_table, terminal
    from bnmind.lab import comparison_groups

    console = terminal()
    assumed = (
        "" if comparison.assumed == comparison.channel else f", assumed to be {comparison.assumed}"
    )
    prior = _prior_text(comparison)
    console.print(
        f"Board {comparison.board}, noise {comparison.channel}{assumed}{prior}, seed"
        f" {comparison.seed}; guesses a game:",
        soft_wrap=True,
    )
    counts = any(summary.codes_examined is not None for summary in comparison.summaries)
    columns = ("strategy", "games", "mean", "std error", "sd", "worst", "within 10", "seconds")
    table = plain_table(*columns, *(["codes"] if counts else []))
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
            *([_count(summary.codes_examined)] if counts else []),
        )
    show_table(console, table)
    if counts:
        console.print("codes: the mean number of codes that a strategy examines in a game.")
    if comparison.ending != "revealed":
        right = ", ".join(f"{s.strategy} {percent(s.won)}" for s in comparison.summaries)
        console.print(f"Named the right code, ending {comparison.ending}: {right}.")
        console.print(f"Written: {', '.join(map(str, written))}", soft_wrap=True)
        return
    lost = [f"{s.strategy} lost {percent(1 - s.won)}" for s in comparison.summaries if s.won < 1]
    console.print(
        f"At most {counted(comparison.max_guesses, 'guess', 'guesses')} a game, which lost games "
        f"count as: {', '.join(lost) or 'none was lost'}."
    )
    if len(comparison.strategies) > 1:
        console.print(f"Rank-sum test, significance 0.05: {comparison_groups(comparison)}.")
    console.print(f"Written: {', '.join(map(str, written))}", soft_wrap=True)


def _prior_text(comparison: Comparison) -> str:
    """Return a description of the priors, unless both are uniform."""
    if comparison.prior == comparison.assumed_prior:
        return "" if comparison.prior == UNIFORM else f", prior {comparison.prior}"
    return f", prior {comparison.prior}, assumed to be {comparison.assumed_prior}"


def _show_best(contest: Contest) -> None:
    """Name the strategy that `best` followed."""
    from bnmind.mastermind import UniformPrior
    from bnmind.strategies import Best
    from bnmind.strategies.belief_game.best import best_player

    assumed = contest.prior if contest.assumed_prior is None else contest.assumed_prior
    uniform = assumed is None or isinstance(assumed, UniformPrior)
    for one in contest.strategies:
        if isinstance(one, Best):
            tell(f"{one.name} plays as {best_player(contest.believed, uniform=uniform).name} here.")


def _show_twins(contest: Contest) -> None:
    """Print a note if two of the strategies play the same games."""
    from bnmind.strategies import MapCode, RandomCode, trust_suffices

    names = [one.name for one in contest.strategies if isinstance(one, MapCode | RandomCode)]
    unbiased = contest.prior is None and contest.assumed_prior is None
    if len(names) > 1 and unbiased and trust_suffices(contest.believed):
        tell(
            f"{' and '.join(names)} play the same games here: under {contest.believed.name} the\n"
            "most probable codes are those that contradict the fewest replies."
        )


def _show_ignorant(contest: Contest) -> None:
    """Print the strategies that do not use the prior."""
    from bnmind.strategies import ignores_prior

    names = [one.name for one in contest.strategies if ignores_prior(one)]
    if names and (contest.prior is not None or contest.assumed_prior is not None):
        *others, last = names
        several = f"{', '.join(others)} and {last} do" if others else f"{last} does"
        tell(f"{several} not use the prior.")


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"


def _as_json(comparison: Comparison, written: tuple[Path, ...]) -> dict[str, object]:
    from bnmind.lab import comparison_groups

    return {
        "board": comparison.board,
        "channel": comparison.channel,
        "assumed": comparison.assumed,
        "games": comparison.games,
        "seed": comparison.seed,
        "max_guesses": comparison.max_guesses,
        "ending": comparison.ending,
        "prior": comparison.prior,
        "assumed_prior": comparison.assumed_prior,
        "strategies": [summary.as_dict() for summary in comparison.summaries],
        "groups": [list(group) for group in comparison_groups(comparison).groups],
        "files": [str(path) for path in written],
    }
