"""``bnmind run`` and ``bnmind reproduce``: experiments of files, and figures of others again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._display.results import Result, Table, finite
from bnmind._files import check_writable_directory
from bnmind._messages import counted
from bnmind.cli.shared.command import (
    Json,
    OneOf,
    Outcome,
    Workers,
    check_place,
    show_parts,
)
from bnmind.cli.shared.terminal import (
    INTERRUPTED,
    Report,
    say,
    say_interrupted,
    tell,
    tell_json,
    working,
)
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.lab import Store
    from bnmind.lab.reproductions import Reproduction, SavedRun, Setting, Size

__all__ = ["reproduce", "run"]

# --- Experiments ----------------------------------------------------------------------------------


def run(
    file: Path,
    *,
    out: Annotated[Path | None, "DIR"] = None,
    workers: Workers = 1,
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
    from bnmind.lab import Store, read_experiment, run_into

    experiment = read_experiment(file)
    out = file.with_suffix("") if out is None else out
    _check_directory(out)
    before, made = _damaged(out), 0

    def work(report: Report) -> Store:
        def count(done: int, total: int) -> None:
            nonlocal made
            made = done
            report(done, total)

        return run_into(experiment, out, workers=workers, progress=count)

    try:
        store = working("running the experiment", work)
    except KeyboardInterrupt:
        say_interrupted(
            f"interrupted with {Store(out).n_rows:,} of {experiment.n_rows:,} rows in {out}; the"
            " same command goes on from there"
        )
        raise typer.Exit(INTERRUPTED) from None
    for path in _damaged(out):
        if path not in before:
            original = path.name.partition(".damaged")[0]
            say(f"{original} was damaged; it is kept as {path}, and its rows were made again")
    kept = store.n_rows - made
    told = [f"{counted(kept, 'row')} kept from an earlier run"] if kept else []
    record = {
        "directory": str(store.directory),
        "rows": experiment.n_rows,
        "damaged": [str(path) for path in store.damaged],
        "summary": finite(store.summary.to_dict("records")),
        "kept": kept,
    }
    return Outcome(record, (*_summary_shown(store), *told))


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


def _summary_shown(store: Store) -> Iterator[str | Table]:
    from bnmind.lab import EXPERIMENTS

    summary, keys = store.summary, EXPERIMENTS[store.experiment.kind].keys
    same = [key for key in keys if summary[key].nunique() == 1 and len(summary) > 1]
    told = ", ".join(f"{_HEADS.get(key, key)} {summary[key].iloc[0]}" for key in same)
    yield f"{counted(store.experiment.n_rows, 'row')}{': ' if told else ''}{told}"
    columns = [name for name in summary.columns if name not in same and not _is_hidden(name)]
    rows = [[_cell(row[name]) for name in columns] for _, row in summary[columns].iterrows()]
    yield Table([_HEADS.get(name, name.replace("_", " ")) for name in columns], rows)
    yield f"In {store.directory}: {counted(len(store.parts), 'file')}"


def _is_hidden(name: str) -> bool:
    """Return whether a terminal does not show a column: most errors and largest values."""
    shown = name in ("guesses_error", "guesses_most", "length_most")
    return name.startswith("seconds") or (name.endswith(("_error", "_most")) and not shown)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _check_directory(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise BnmindError(f"expected a directory for --out, got the file {out}")
    check_writable_directory(out)


def _damaged(out: Path) -> tuple[Path, ...]:
    from bnmind.lab import Store

    return Store(out).damaged if out.is_dir() else ()


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
        list[str] | None, "ID", OneOf("bnmind.lab.reproductions:REPRODUCTIONS", "Reproductions")
    ] = None
    _: KW_ONLY
    is_list: Annotated[bool, typer.Option("--list")] = False
    out: Annotated[Path, "DIR"] = Path("reproductions")
    quick: bool = False
    medium: bool = False
    workers: Workers = 1
    seed: Annotated[int, typer.Option(min=0)] = 0
    data: Annotated[Path | None, "DIR"] = None
    page: Path | None = None
    larger: Annotated[Path | None, "DIR"] = None
    as_json: Json = False


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
    _check_directory(options.out)
    if options.page is not None:
        check_place(options.page, (".md",), "page")
    setting = Setting(
        _size(options),
        options.seed,
        default_data() if options.data is None else options.data,
    )
    if not options.as_json:
        size = "A full run" if setting.size is Size.FULL else f"A {setting.size.value} run, with"
        fewer = "" if setting.size is Size.FULL else " fewer games"
        tell(f"{size}{fewer}; results are kept in {options.out}.")
    runs = _computed(names, setting, options)
    if options.page is not None:
        _write_page(options.page, runs, options)
    if options.as_json:
        tell_json([run.to_dict() for run in runs])


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
            run = working(
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
            say_interrupted(
                f"interrupted in {name}; all parts computed so far are kept in {options.out}, and"
                " the same command goes on from there"
            )
            raise typer.Exit(INTERRUPTED) from None
        runs.append(run)
        if run.set_aside:
            say(
                f"{options.out / name}.json was of another run, or damaged; it is now"
                f" {run.set_aside}"
            )
        if run.kept and not options.as_json:
            say(f"{counted(run.kept, 'part')} of {name} kept from an earlier run")
        if not options.as_json:
            show_parts(parts_of_run(run, REPRODUCTIONS[name]))
    return runs


def _list(known: Mapping[str, Reproduction], *, as_json: bool) -> None:
    from bnmind.lab.reproductions.page import duration

    if as_json:
        tell_json(
            [
                {
                    "id": name,
                    "title": one.title,
                    "source": one.source,
                    "quick_minutes": one.quick_minutes,
                    "minutes": one.minutes,
                    "data": list(one.data),
                }
                for name, one in known.items()
            ]
        )
        return
    rows = []
    for name, one in known.items():
        needs = f" (data: {', '.join(one.data)})" if one.data else ""
        times = (duration(60 * minutes) for minutes in (one.quick_minutes, one.minutes))
        rows.append((name, *times, one.title + needs))
    show_parts([Table(("id", "quick", "full", "content"), rows, left=(0, 3))])


def _write_page(path: Path, runs: Sequence[SavedRun], options: ReproduceOptions) -> None:
    """Write the page, and its pictures into a directory beside it."""
    from bnmind._files import write_file
    from bnmind.lab import write_files
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
        write_files(path.parent / "images", pictures)
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
