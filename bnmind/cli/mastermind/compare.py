"""``bnmind compare``: a comparison of strategies on the same secrets and the same noise."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._messages import counted, shown
from bnmind.cli.mastermind.compare_report import (
    comparison_as_json,
    show_comparison,
    show_notes,
)
from bnmind.cli.mastermind.setting import (
    DEFAULT_COLORS,
    DEFAULT_PEGS,
    UNIFORM,
    CodePrior,
    Colors,
    EndingName,
    Noise,
    NoiseName,
    NoRepeats,
    Pegs,
    PriorName,
    prior_of,
)
from bnmind.cli.shared.command import Json, OneOf, ResultsDirectory, Seed, Workers, results_place
from bnmind.cli.shared.terminal import (
    INTERRUPTED,
    Report,
    say_interrupted,
    tell,
    tell_json,
    working,
)
from bnmind.errors import BnmindError, InvalidArgumentError

if TYPE_CHECKING:
    from bnmind._workers import Executor
    from bnmind.lab import Comparison, Contest, Ending, Enough, GameRow

__all__ = ["DEFAULT_GAMES", "DEFAULT_STRATEGIES", "compare"]

DEFAULT_STRATEGIES = ("entropy", "kooi", "knuth", "map")
_BATCH_GAMES = 100
"""The most games of each strategy that are played before they are kept."""

_MOST_GUESSES = 100
DEFAULT_GAMES = 2000
"""With the default strategies on 4x6, this takes about 15 seconds."""


@dataclass(frozen=True)
class CompareOptions:
    """The options of the command.

    Parameters
    ----------
    strategies
        Strategies to compare. [default: entropy kooi knuth map]
    games
        Games of each strategy; all plays every code once.
    assume
        The noise that strategies assume, if different.
    assume_prior
        The prior that strategies assume, if different.
    match
        Games of a match; an assumed prior that learns has seen its earlier codes.
    ending
        How a game ends; see below.
    max_guesses
        The limit of guesses in a game. [default: 100]
    until
        Play until all differences are known to within plus or minus MARGIN guesses, or until
        the better of each pair is clear; at most --games.
    svg
        Write the plots as SVG files, too.
    """

    strategies: Annotated[list[str] | None, "STRATEGY", OneOf("bnmind.strategies:STRATEGIES")] = (
        None
    )
    _: KW_ONLY
    games: Annotated[str, "N|all"] = str(DEFAULT_GAMES)
    noise: Noise = "false:0.2"
    assume: NoiseName | None = None
    pegs: Pegs = DEFAULT_PEGS
    colors: Colors = DEFAULT_COLORS
    no_repeats: NoRepeats = False
    prior: CodePrior = UNIFORM
    assume_prior: PriorName | None = None
    match: int = 1
    ending: EndingName = "revealed"
    max_guesses: int | None = None
    until: Annotated[str | None, "MARGIN|told"] = None
    out: ResultsDirectory = None
    svg: bool = False
    seed: Seed = 0
    workers: Workers = 1
    as_json: Json = False


def compare(options: CompareOptions) -> None:
    """Compare strategies on the same secrets with the same noise.

    entropy minimizes the expected entropy, and map guesses the most probable code: both model the
    noise. kooi (most parts), knuth (worst case) and random (any possible code) assume true
    replies, as long as these are consistent. Strategies that use only the history, such as
    annealing, and those that play a tree, such as optimal, do not use a prior. "bnmind strategy
    --help" lists all strategies, and module:name is one of your own.

    The command prints the mean number of guesses of each strategy, and below it their differences
    on the same games, with intervals that hold for all pairs together. The intervals are right if
    you decide on the number of games in advance. --until decides while the games are played, with
    wider intervals that allow for this.

    The directory of --out gets a row for each game (games.csv) and plots of the game lengths
    (game-lengths.png) and of the differences (differences.png), in place of those of an earlier
    comparison. After Ctrl-C, the command writes the games played so far. A long comparison keeps
    finished batches of games in DIR/unfinished-…, from which the same command goes on after Ctrl-C
    or a kill; at the end it removes them. If the source code of a strategy of your own, or of a
    module that it imports, has changed since, the command says so and does not mix the games.

    Examples
    --------
    bnmind compare
    bnmind compare entropy map --games 5000 --noise false:0.2 --out results
    bnmind compare entropy --prior two-color --assume-prior learned --match 10
    bnmind compare entropy map --ending declared:0.9 --max-guesses 20
    bnmind compare entropy map --games 100000 --workers -1
    bnmind compare entropy map --until 0.1 --games 50000
    bnmind compare entropy map --until told --games 50000
    bnmind compare knuth my_module:MyStrategy --noise exact --games all --json
    """
    from bnmind.lab import Contest, is_enough, save_comparison
    from bnmind.lab.stores import forget_unfinished
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
            ending=_ending(options.ending, options.max_guesses),
            prior=prior_of(board, options.prior),
            assumed_prior=None
            if options.assume_prior is None
            else parse_prior(board, options.assume_prior),
            match=options.match,
        )
    rule = None if options.until is None else _rule(options.until)
    place = results_place(options.out)
    workers = options.workers
    with _blamed_on(options.strategies or ()):
        names = options.strategies or DEFAULT_STRATEGIES
        games = _Games(
            contest,
            names,
            place.directory,
            workers,
            sequential=rule is not None,
            tells=not options.as_json,
        )
        comparison, interrupted = _played(games, rule)
    reached = None if rule is None else is_enough(comparison.differences(), rule)
    earlier = _rows_in(place.directory)
    written = save_comparison(comparison, place.directory, vector=options.svg)
    if not interrupted:
        forget_unfinished(place.directory, games.place)
    if options.as_json:
        told = comparison_as_json(comparison, written, until=options.until, reached=reached)
        tell_json({**told, "kept": games.n_kept})
    else:
        show_comparison(comparison, written, reached=_reached(contest, comparison, rule, reached))
        show_notes(contest)
        place.tell_if_new()
        if not earlier <= _rows_in(place.directory):
            tell(
                f"They replace another comparison in {place.directory}; --out names another"
                " directory."
            )
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _rows_in(directory: Path) -> frozenset[tuple[tuple[str, str], ...]]:
    """Return the games in a directory without their times; empty if there are none to read."""
    try:
        lines = (directory / "games.csv").read_text(encoding="utf-8").splitlines()
        return frozenset(
            tuple((name, str(cell)) for name, cell in row.items() if name != "seconds")
            for row in csv.DictReader(lines)
        )
    except (OSError, ValueError, csv.Error):
        return frozenset()


class _Games:
    """The games of a comparison, which are kept in batches until all of them are finished."""

    def __init__(
        self,
        contest: Contest,
        names: Sequence[str],
        out: Path,
        workers: int | Executor,
        *,
        sequential: bool,
        tells: bool,
    ) -> None:
        from bnmind.lab import GameExperiment
        from bnmind.lab.experiments.game_experiment import batch_games_of
        from bnmind.lab.stores import unfinished_place

        setting = contest.setting
        players = tuple(
            replace(player, source=name)
            for player, name in zip(setting.players, names, strict=True)
        )
        self.contest, self.workers, self.out, self.tells = contest, workers, out, tells
        self.n_kept = 0
        self.experiment = GameExperiment(
            settings=(replace(setting, players=players),),
            games=contest.games,
            seed=contest.seed,
            match=contest.match,
            batch_games=min(_BATCH_GAMES, batch_games_of(setting)),
        )
        self.place = unfinished_place(self.experiment, out, sequential=sequential)

    def play(self, rule: Enough | None) -> Iterator[GameRow]:
        """Yield the rows of the games, until a rule says that they suffice."""
        from bnmind.lab.mastermind import play_until
        from bnmind.lab.stores import resumed_games

        def play() -> Iterator[GameRow]:
            return resumed_games(
                self.experiment, self.place, workers=self.workers, kept=self._tell_kept
            )

        return play() if rule is None else play_until(self.contest, rule, play=play)

    def _tell_kept(self, n_rows: int) -> None:
        self.n_kept = n_rows // len(self.contest.strategies)
        if self.tells:
            tell(f"{counted(self.n_kept, 'game')} kept from an earlier run")


def _played(games: _Games, rule: Enough | None) -> tuple[Comparison, bool]:
    """Play the games; after Ctrl-C, keep the games that all strategies have played.

    Returns
    -------
    tuple[Comparison, bool]
        The games, and whether they were interrupted.
    """
    from bnmind.lab.mastermind import sequential_comparison

    rows: list[GameRow] = []
    stopped, contest = Event(), games.contest
    played_games = games.play(rule)

    def compared(played: list[GameRow]) -> Comparison:
        if rule is None:
            return contest.comparison(played)
        return sequential_comparison(contest, played)

    def play(report: Report) -> None:
        for row in played_games:
            if stopped.is_set():
                return
            rows.append(row)
            report(len(rows), contest.n_rows)

    try:
        working("playing", play)
    except KeyboardInterrupt:
        stopped.set()
        played = list(rows)
        if len(played) < len(contest.strategies):
            raise
        comparison = compared(played)
        say_interrupted(
            f"interrupted after {comparison.games:,} of {contest.n_games:,} games; their rows are"
            f" in {games.out}{_to_go_on(games.place)}"
        )
        return comparison, True
    return compared(rows), False


def _to_go_on(place: Path | None) -> str:
    """Return how to go on, if finished batches are kept."""
    is_kept = place is not None and place.is_dir()
    return ". The same command goes on from the last finished batch." if is_kept else ""


def _rule(text: str) -> Enough:
    """Return the rule that a text describes.

    Raises
    ------
    BnmindError
        If it is neither a margin nor ``told``.
    """
    from bnmind.lab import AllTold, NarrowEnough

    if text.strip().lower() == "told":
        return AllTold()
    try:
        margin = float(text)
    except ValueError:
        raise BnmindError(f"expected a number of guesses or told, got {shown(text)}") from None
    return NarrowEnough(margin)


def _reached(
    contest: Contest, comparison: Comparison, rule: Enough | None, reached: bool | None
) -> str | None:
    """Return a sentence that says whether the games suffice; None if nobody asked."""
    from bnmind.lab import NarrowEnough

    if rule is None:
        return None
    played = f"After {comparison.games:,} of at most {contest.n_games:,} games,"
    if isinstance(rule, NarrowEnough):
        known = f"known to within ±{rule.margin:g} guesses"
        if reached:
            return f"{played} every difference is {known}."
        return f"{played} not every difference is {known}."
    if reached:
        return f"{played} the better strategy of each pair is clear."
    return f"{played} not every pair can be told apart."


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


def _ending(text: str, max_guesses: int | None) -> Ending:
    """Return the ending that a text describes, and raise if it needs a limit of guesses."""
    from bnmind.lab import Limit, parse_ending

    ending = parse_ending(text, _MOST_GUESSES if max_guesses is None else max_guesses)
    if isinstance(ending, Limit) and max_guesses is None:
        raise InvalidArgumentError("the ending limit needs --max-guesses N", text)
    return ending


def _number_of_games(text: str) -> int | None:
    """Return the number of games; None to play every code once."""
    if text.strip().lower() == "all":
        return None
    try:
        return int(text)
    except ValueError:
        raise BnmindError(f"expected a number of games or all, got {shown(text)}") from None
