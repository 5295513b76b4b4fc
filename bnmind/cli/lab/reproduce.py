"""``bnmind reproduce``: figures of others, computed again, and new experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._files import check_writable_directory
from bnmind._messages import counted
from bnmind.cli.shared.command import Json, OneOf, Workers, check_place
from bnmind.cli.shared.terminal import (
    INTERRUPTED,
    plain_table,
    say,
    say_interrupted,
    show_table,
    tell,
    tell_json,
    terminal,
    working,
)
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind._workers import Executor
    from bnmind.lab.reproductions import Reproduction, SavedRun, Setting, Size

__all__ = ["reproduce"]

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
    workers = options.workers
    if options.out.exists() and not options.out.is_dir():
        raise BnmindError(f"expected a directory for --out, got the file {options.out}")
    check_writable_directory(options.out)
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
    runs = _computed(names, setting, workers, options)
    if options.page is not None:
        _write_page(options.page, runs, options)
    if options.as_json:
        tell_json([_as_json(run) for run in runs])


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


def _computed(
    names: Sequence[str], setting: Setting, workers: int | Executor, options: ReproduceOptions
) -> list[SavedRun]:
    """Return the runs; after Ctrl-C, say how to go on, and exit."""
    from bnmind.lab.reproductions import REPRODUCTIONS, reproduce_into

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
                    workers=workers,
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
            _show(run, REPRODUCTIONS[name])
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
    table = plain_table("id", "quick", "full", "content")
    table.columns[-1].justify = "left"
    for name, one in known.items():
        needs = f" (data: {', '.join(one.data)})" if one.data else ""
        times = (duration(60 * minutes) for minutes in (one.quick_minutes, one.minutes))
        table.add_row(name, *times, one.title + needs)
    show_table(terminal(), table)


def _show(run: SavedRun, reproduction: Reproduction) -> None:
    from bnmind.lab.reproductions.page import summary, table

    console = terminal()
    console.print(f"\n{run.name}: {reproduction.title}", style="bold")
    console.print(f"Source: {reproduction.source}.")
    if run.skipped:
        console.print(f"Skipped: {run.skipped}.")
        return
    columns, *rows = table(run.figures)
    shown = plain_table(*columns)
    shown.columns[-1].justify = "left"
    for row in rows:
        shown.add_row(*row)
    show_table(console, shown)
    remarks: dict[str, list[str]] = {}
    for figure in run.figures:
        if figure.why:
            remarks.setdefault(figure.why, []).append(figure.name)
    for why, names in remarks.items():
        others = f" and {counted(len(names) - 1, 'other')}" if len(names) > 1 else ""
        console.print(f"  {names[0]}{others}: {why}.")
    size = f", {run.size.value} run" if run.size.value != "full" else ""
    console.print(f"{summary(run.figures)}{size}.")


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


def _as_json(run: SavedRun) -> dict[str, object]:
    return {
        "id": run.name,
        "size": run.size.value,
        "seed": run.seed,
        "version": run.version,
        "date": run.date,
        "seconds": run.seconds,
        "skipped": run.skipped or None,
        "kept": run.kept,
        "figures": [figure.as_dict() for figure in run.figures],
    }
