"""Commands of experiments: those of files, comparisons of strategies, and figures of others."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from bnmind import lab, mastermind, strategies
from bnmind._display import Result, Table, finite, parts_of
from bnmind._messages import counted, shown
from bnmind.cli.mastermind import setting
from bnmind.cli.shared import command, terminal
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.lab.reproductions import Reproduction, SavedRun, Setting, Size

T = TypeVar("T", int, float)

# --- Experiments ----------------------------------------------------------------------------------


def run(
    file: Path,
    *,
    out: Annotated[Path | None, "DIR"] = None,
    workers: command.Workers = 1,
) -> Result:
    """Run an experiment that a TOML or JSON file describes.

    The rows of the experiment, one for each game or examinee, go into Parquet files in the
    directory of --out, with the experiment and the versions of all libraries beside them. They
    depend on the experiment alone: the number of processes changes no row. After Ctrl-C, or if the
    program is killed, the same command goes on, and repeats only the batches that were not
    finished. Damaged files are set aside, and their rows are made again. A directory of another
    experiment is refused.

    An experiment with games:

    
      kind = "games"
      games = 1000                # of each strategy in each setting, or "all" codes once
      seed = 7
      board = "4x6"
      noise = ["exact", "false:0.2"]
      strategies = ["knuth", {name = "entropy", assume = "false:0.1"}]

    Parameters
    ----------
    file
        The file of the experiment.
    out
        The directory for the rows. [default: FILE without its suffix]

    Examples
    --------
    bnmind run models/experiments/noise.toml --out noise
    bnmind run models/experiments/noise.toml --out noise --workers 2
    bnmind run noise/experiment.toml --out noise --json
    """
    experiment = lab.read_experiment(file)
    out = file.with_suffix("") if out is None else out
    command.check_directory(out)
    before, made = _damaged(out), 0

    def work(report: terminal.Report) -> lab.Store:
        def count(done: int, total: int) -> None:
            nonlocal made
            made = done
            report(done, total)

        return lab.run_into(experiment, out, workers=workers, progress=count)

    try:
        store = terminal.working("running the experiment", work)
    except KeyboardInterrupt:
        terminal.say_interrupted(
            f"interrupted with {lab.Store(out).n_rows:,} of {experiment.n_rows:,} rows in {out};"
            " the same command goes on from there"
        )
        raise typer.Exit(terminal.INTERRUPTED) from None
    for path in _damaged(out):
        if path not in before:
            original = path.name.partition(".damaged")[0]
            terminal.say(
                f"{original} was damaged; it is kept as {path}, and its rows were made again"
            )
    kept = store.n_rows - made
    record = {
        "directory": str(store.directory),
        "rows": experiment.n_rows,
        "damaged": [str(path) for path in store.damaged],
        "summary": finite(store.summary.to_dict("records")),
        "kept": kept,
    }
    return command.Outcome(record, _summary_shown(store, kept))


_HEADS = {
    "channel": "noise",
    "max_guesses": "limit",
    "assumed": "assumes",
    "assumed_prior": "assumed prior",
    "guesses_most": "worst",
    "guesses_error": "error",
    "length_most": "longest",
}
"""The columns of summaries that have other names on the terminal."""


def _summary_shown(store: lab.Store, kept: int) -> Iterator[str | Table]:
    summary, keys = store.summary, lab.EXPERIMENTS[store.experiment.kind].keys
    same = [key for key in keys if summary[key].nunique() == 1 and len(summary) > 1]
    told = ", ".join(f"{_HEADS.get(key, key)} {summary[key].iloc[0]}" for key in same)
    yield f"{counted(store.experiment.n_rows, 'row')}{': ' if told else ''}{told}"
    columns = [name for name in summary.columns if name not in same and not _is_hidden(name)]
    rows = [[_cell(row[name]) for name in columns] for _, row in summary[columns].iterrows()]
    yield Table([_HEADS.get(name, name.replace("_", " ")) for name in columns], rows)
    if kept:
        yield f"{counted(kept, 'row')} kept from an earlier run"
    yield f"In {store.directory}: {counted(len(store.parts), 'file')}"


def _is_hidden(name: str) -> bool:
    """Return whether a terminal does not show a column: most errors and largest values."""
    shown = name in ("guesses_error", "guesses_most", "length_most")
    return name.startswith("seconds") or (name.endswith(("_error", "_most")) and not shown)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _damaged(out: Path) -> tuple[Path, ...]:
    return lab.Store(out).damaged if out.is_dir() else ()


# --- Comparisons ----------------------------------------------------------------------------------

DEFAULT_STRATEGIES = ("entropy", "kooi", "knuth", "map")
_BATCH_GAMES = 100
"""The most games of each strategy that are played before they are kept."""

_MOST_GUESSES = 100
DEFAULT_GAMES = 2000
"""With the default strategies on 4x6, this takes about 15 seconds."""


@dataclass(frozen=True)
class CompareOptions(setting.BoardOptions):
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

    strategies: Annotated[
        list[str] | None, "STRATEGY", command.OneOf("bnmind.strategies:STRATEGIES")
    ] = None
    _: KW_ONLY
    games: Annotated[str, "N|all"] = str(DEFAULT_GAMES)
    noise: setting.Noise = "false:0.2"
    assume: setting.NoiseName | None = None
    prior: setting.CodePrior = setting.UNIFORM
    assume_prior: setting.PriorName | None = None
    match: int = 1
    ending: setting.EndingName = "revealed"
    max_guesses: int | None = None
    until: Annotated[str | None, "MARGIN|told"] = None
    out: command.ResultsDirectory = None
    svg: bool = False
    seed: command.Seed = 0
    workers: command.Workers = 1
    as_json: command.Json = False


def compare(options: CompareOptions) -> Result:
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
    from bnmind.lab.stores import forget_unfinished

    names = options.strategies or DEFAULT_STRATEGIES
    with _blamed_on(names):
        contest = _contest(options, names)
    directory, new = command.results_place(options.out)
    with _blamed_on(names):
        games = _Games(contest, names, directory, options)
        comparison, interrupted = games.play()
    rule, reached = games.rule, None
    if rule is not None:
        reached = lab.is_enough(comparison.differences(), rule)
    earlier = _rows_in(directory)
    written = lab.save_comparison(comparison, directory, vector=options.svg)
    if not interrupted:
        forget_unfinished(directory, games.place)
    parts = [*parts_of(comparison)]
    if rule is not None:
        parts.append(_reached(contest, comparison, rule, reached=bool(reached)))
    parts += [f"Written: {', '.join(map(str, written))}", *contest.notes]
    parts += new
    if not earlier <= _rows_in(directory):
        parts.append(
            f"They replace another comparison in {directory}; --out names another directory."
        )
    files = [str(path) for path in written]
    decided = {"until": options.until, "reached": reached, "files": files, "kept": games.n_kept}
    if interrupted:
        command.exit_interrupted()
    return command.Outcome(comparison.to_dict() | decided, parts)


def _contest(options: CompareOptions, names: Sequence[str]) -> lab.Contest:
    board = options.board
    noise, prior = options.assume, options.assume_prior
    return lab.Contest(
        tuple(map(strategies.strategy_by_name, names)),
        mastermind.parse_noise(board, options.noise),
        games=_number_or("all", options.games, int, "games"),
        seed=options.seed or 0,
        assumed=None if noise is None else mastermind.parse_noise(board, noise),
        ending=setting.ending_of(options.ending, options.max_guesses, most=_MOST_GUESSES),
        prior=setting.prior_of(board, options.prior),
        assumed_prior=None if prior is None else mastermind.parse_prior(board, prior),
        match=options.match,
    )


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
        self, contest: lab.Contest, names: Sequence[str], out: Path, options: CompareOptions
    ):
        from bnmind.lab.game_experiments import batch_games_of
        from bnmind.lab.stores import unfinished_place

        self.contest, self.out, self.options = contest, out, options
        self.rule = None if options.until is None else _rule(options.until)
        self.n_kept = 0
        setting = contest.setting
        players = zip(setting.players, names, strict=True)
        self.experiment = lab.GameExperiment(
            settings=(replace(setting, players=tuple(replace(p, source=n) for p, n in players)),),
            games=contest.games,
            seed=contest.seed,
            match=contest.match,
            batch_games=min(_BATCH_GAMES, batch_games_of(setting)),
        )
        self.place = unfinished_place(self.experiment, out, sequential=self.rule is not None)

    def rows(self) -> Iterator[lab.GameRow]:
        """Yield the rows of the games, until the rule says that they suffice."""
        from bnmind.lab.mastermind import play_until
        from bnmind.lab.stores import resumed_games

        def play() -> Iterator[lab.GameRow]:
            workers = self.options.workers
            return resumed_games(self.experiment, self.place, workers=workers, kept=self._tell_kept)

        return play() if self.rule is None else play_until(self.contest, self.rule, play=play)

    def _tell_kept(self, n_rows: int) -> None:
        self.n_kept = n_rows // len(self.contest.strategies)
        if not self.options.as_json:
            terminal.tell(f"{counted(self.n_kept, 'game')} kept from an earlier run")

    def play(self) -> tuple[lab.Comparison, bool]:
        """Return the games; after Ctrl-C, those that all strategies have played, and True."""
        from bnmind.lab.mastermind import sequential_comparison

        rows: list[lab.GameRow] = []
        stopped, contest, games = Event(), self.contest, self.rows()

        def play(report: terminal.Report) -> None:
            for row in games:
                if stopped.is_set():
                    return
                rows.append(row)
                report(len(rows), contest.n_rows)

        try:
            terminal.working("playing", play)
        except KeyboardInterrupt:
            stopped.set()
            if len(rows) < len(contest.strategies):
                raise
        played = list(rows)
        comparison = (
            contest.comparison(played)
            if self.rule is None
            else sequential_comparison(contest, played)
        )
        if stopped.is_set():
            is_kept = self.place is not None and self.place.is_dir()
            more = ". The same command goes on from the last finished batch." if is_kept else ""
            terminal.say_interrupted(
                f"interrupted after {comparison.games:,} of {contest.n_games:,} games; their rows"
                f" are in {self.out}{more}"
            )
        return comparison, stopped.is_set()


def _number_or(word: str, text: str, read: Callable[[str], T], what: str) -> T | None:
    """Return the number that a text spells; None if it is the word."""
    if text.strip().lower() == word:
        return None
    try:
        return read(text)
    except ValueError:
        raise BnmindError(f"expected a number of {what} or {word}, got {shown(text)}") from None


def _rule(text: str) -> lab.Enough:
    """Return the rule that a text describes: a margin, or ``told``."""
    margin = _number_or("told", text, float, "guesses")
    return lab.AllTold() if margin is None else lab.NarrowEnough(margin)


def _reached(
    contest: lab.Contest, comparison: lab.Comparison, rule: lab.Enough, *, reached: bool
) -> str:
    """Return a sentence that says whether the games suffice."""
    played = f"After {comparison.games:,} of at most {contest.n_games:,} games,"
    if isinstance(rule, lab.NarrowEnough):
        every = "every" if reached else "not every"
        return f"{played} {every} difference is known to within ±{rule.margin:g} guesses."
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


# --- Reproductions --------------------------------------------------------------------------------

ALL = "all"


@dataclass(frozen=True)
class ReproduceOptions:
    """The options of the command.

    Parameters
    ----------
    names
        Reproductions from the list below, or all.
    is_list
        List the reproductions, and exit.
    out
        The directory for the results.
    quick
        Make a smaller run: minutes for all, instead of hours.
    medium
        Make a quick run, but with enough games to rank players in new experiments.
    seed
        The seed of all random numbers.
    data
        The directory with data sets. [default: the variable BNMIND_DATA]
    page
        Also write a page in Markdown (.md).
    larger
        On the page, show finished runs of a larger size from this directory instead.
    """

    names: Annotated[
        list[str] | None,
        "ID",
        command.OneOf("bnmind.lab.reproductions:REPRODUCTIONS", "Reproductions"),
    ] = None
    _: KW_ONLY
    is_list: Annotated[bool, typer.Option("--list")] = False
    out: Annotated[Path, "DIR"] = Path("reproductions")
    quick: bool = False
    medium: bool = False
    workers: command.Workers = 1
    seed: Annotated[int, typer.Option(min=0)] = 0
    data: Annotated[Path | None, "DIR"] = None
    page: Annotated[Path | None, command.Place("page", (".md",))] = None
    larger: Annotated[Path | None, "DIR"] = None
    as_json: command.Json = False


def reproduce(options: ReproduceOptions) -> None:
    """Compute the figures of others again, and print ours beside them.

    Each reproduction prints the other figure in the column of where it stands (publication, other
    program, or our own independent computation), ours, its standard error, and a verdict: differs
    (by more than three standard errors), agrees (not so, and a difference of 1.5 % would have been
    found), too few games to tell, or better. Exact figures agree if all digits are equal. It
    writes the figures to ID.json and ID.csv, and a plot if there is one, in the directory of
    --out. What the directory already holds from the same version, size, seed and data is not
    computed again, so after Ctrl-C the same command goes on. Reproductions whose data sets are
    missing are skipped.

    Examples
    --------
    bnmind reproduce --list
    bnmind reproduce heuristics vomlel-sizes
    bnmind reproduce all --quick --out results
    bnmind reproduce all --out results --workers -1
    """
    from bnmind.lab.reproductions import REPRODUCTIONS, Setting, Size, default_data

    if options.is_list:
        _list(REPRODUCTIONS, as_json=options.as_json)
        return
    names = _chosen(options.names or (), REPRODUCTIONS)
    command.check_directory(options.out)
    setting = Setting(
        _size(options),
        options.seed,
        default_data() if options.data is None else options.data,
    )
    if not options.as_json:
        size = "A full run" if setting.size is Size.FULL else f"A {setting.size.value} run, with"
        fewer = "" if setting.size is Size.FULL else " fewer games"
        terminal.tell(f"{size}{fewer}; results are kept in {options.out}.")
    runs = _computed(names, setting, options)
    if options.page is not None:
        _write_page(options.page, runs, options)
    if options.as_json:
        terminal.tell_record([run.to_dict() for run in runs])


def _size(options: ReproduceOptions) -> Size:
    from bnmind.lab.reproductions import Size

    if options.quick and options.medium:
        raise BnmindError("--quick and --medium are sizes of the same run; give one of them")
    if options.larger is not None and options.page is None:
        raise BnmindError("--larger is for the page; name one by --page FILE")
    if options.larger is not None and not options.larger.is_dir():
        raise BnmindError(f"expected a directory for --larger, got {options.larger}")
    if options.quick:
        return Size.QUICK
    return Size.MEDIUM if options.medium else Size.FULL


def _chosen(names: Sequence[str], known: Mapping[str, Reproduction]) -> tuple[str, ...]:
    if not names:
        raise BnmindError("name reproductions, or all; --list shows their names")
    for name in names:
        if name not in known and name != ALL:
            raise UnknownNameError("reproduction", name, (ALL, *known))
    return tuple(known) if ALL in names else tuple(dict.fromkeys(names))


def _computed(names: Sequence[str], setting: Setting, options: ReproduceOptions) -> list[SavedRun]:
    """Return the runs; after Ctrl-C, say how to go on, and exit."""
    from bnmind.lab.reproductions import REPRODUCTIONS, reproduce_into
    from bnmind.lab.reproductions.page import parts_of_run

    runs: list[SavedRun] = []
    for number, name in enumerate(names, start=1):
        what = f"{name} ({number} of {len(names)})" if len(names) > 1 else name
        try:
            run = terminal.working(
                what,
                lambda report, name=name: reproduce_into(  # type: ignore[misc]
                    options.out,
                    name,
                    REPRODUCTIONS[name],
                    setting,
                    workers=options.workers,
                    report=report,
                ),
            )
        except KeyboardInterrupt:
            terminal.say_interrupted(
                f"interrupted in {name}; all parts computed so far are kept in {options.out}, and"
                " the same command goes on from there"
            )
            raise typer.Exit(terminal.INTERRUPTED) from None
        runs.append(run)
        if run.set_aside:
            terminal.say(
                f"{options.out / name}.json was of another run, or damaged; it is now"
                f" {run.set_aside}"
            )
        if run.kept and not options.as_json:
            terminal.say(f"{counted(run.kept, 'part')} of {name} kept from an earlier run")
        if not options.as_json:
            command.show_parts(parts_of_run(run, REPRODUCTIONS[name]))
    return runs


def _list(known: Mapping[str, Reproduction], *, as_json: bool) -> None:
    from bnmind.lab.reproductions.page import duration

    if as_json:
        fields = ("title", "source", "quick_minutes", "minutes", "data")
        listed = [{"id": n} | {f: getattr(one, f) for f in fields} for n, one in known.items()]
        terminal.tell_record(listed)
        return
    rows = []
    for name, one in known.items():
        needs = f" (data: {', '.join(one.data)})" if one.data else ""
        times = (duration(60 * minutes) for minutes in (one.quick_minutes, one.minutes))
        rows.append((name, *times, one.title + needs))
    command.show_parts([Table(("id", "quick", "full", "content"), rows, left=(0, 3))])


def _write_page(path: Path, runs: Sequence[SavedRun], options: ReproduceOptions) -> None:
    """Write the page, and its pictures into a directory beside it."""
    from bnmind._files import write_file
    from bnmind.lab.reproductions import REPRODUCTIONS
    from bnmind.lab.reproductions.page import command_of, page, small_picture

    command = command_of(runs, " ".join(options.names or ()))
    found = [(_larger_run(run, options.larger) or run) for run in runs]
    places = {
        run.name: options.out if run in runs or options.larger is None else options.larger
        for run in found
    }
    pictures = {
        f"{run.name}.png": small_picture((places[run.name] / f"{run.name}.png").read_bytes())
        for run in found
        if REPRODUCTIONS[run.name].draw is not None and not run.skipped
    }
    if pictures:
        lab.write_files(path.parent / "images", pictures)
    shown = {name.removesuffix(".png"): f"images/{name}" for name in pictures}
    write_file(path, page(found, REPRODUCTIONS, command=command, pictures=shown))


def _larger_run(run: SavedRun, directory: Path | None) -> SavedRun | None:
    """Return the finished larger run of the same reproduction in a directory, if there is one."""
    from bnmind.lab.reproductions import Size, read_run

    if directory is None or not (path := directory / f"{run.name}.json").is_file():
        return None
    other, sizes = read_run(path), list(Size)
    larger = sizes.index(other.size) > sizes.index(run.size)
    return other if larger and other.complete else None
