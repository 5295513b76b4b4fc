"""``bnmind run``: an experiment in a file, with its rows in a directory."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._files import check_writable_directory
from bnmind._messages import counted
from bnmind.cli.shared.command import Json, Workers
from bnmind.cli.shared.terminal import (
    INTERRUPTED,
    Report,
    plain_table,
    say,
    say_interrupted,
    show_table,
    tell_json,
    terminal,
    working,
)
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    import pandas as pd

    from bnmind.lab import Experiment, Store

__all__ = ["run"]


@dataclass(frozen=True)
class RunOptions:
    """The options of the command.

    Parameters
    ----------
    file
        The file of the experiment.
    out
        The directory for the rows. [default: FILE without its suffix]
    """

    file: Path
    _: KW_ONLY
    out: Annotated[Path | None, "DIR"] = None
    workers: Workers = 1
    as_json: Json = False


def run(options: RunOptions) -> None:
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

    Examples
    --------
    bnmind run models/experiments/noise.toml --out noise
    bnmind run models/experiments/noise.toml --out noise --workers 2
    bnmind run noise/experiment.toml --out noise --json
    """
    from bnmind.lab import read_experiment, run_into

    experiment = read_experiment(options.file)
    out = options.file.with_suffix("") if options.out is None else options.out
    workers = options.workers
    if out.exists() and not out.is_dir():
        raise BnmindError(f"expected a directory for --out, got the file {out}")
    check_writable_directory(out)
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
        say_interrupted(_to_go_on(experiment, out))
        raise typer.Exit(INTERRUPTED) from None
    for path in _damaged(out):
        if path not in before:
            original = path.name.partition(".damaged")[0]
            say(f"{original} was damaged; it is kept as {path}, and its rows were made again")
    summary = store.summary
    if options.as_json:
        tell_json({**_as_json(store, summary), "kept": store.n_rows - made})
    else:
        _show(store, summary, kept=store.n_rows - made)


def _damaged(out: Path) -> tuple[Path, ...]:
    from bnmind.lab import Store

    return Store(out).damaged if out.is_dir() else ()


def _to_go_on(experiment: Experiment, out: Path) -> str:
    from bnmind.lab import Store

    done = Store(out).n_rows
    return (
        f"interrupted with {done:,} of {experiment.n_rows:,} rows in {out}; the same command goes"
        " on from there"
    )


_HEADS = {
    "channel": "noise",
    "max_guesses": "limit",
    "assumed": "assumes",
    "assumed_prior": "assumed prior",
    "guesses_most": "worst",
    "guesses_error": "error",
    "length_most": "longest",
}
"""The columns of summaries on the terminal, where they have other names there."""

_SHOWN = ("guesses_error", "guesses_most", "length_most")
"""The errors and largest values that a terminal shows."""

_WIDTH = 1000
"""More than the longest line of a summary."""

_HIDDEN = ("seconds", "seconds_error", "seconds_most")


def _is_hidden(name: str) -> bool:
    return name in _HIDDEN or (name.endswith(("_error", "_most")) and name not in _SHOWN)


def _show(store: Store, summary: pd.DataFrame, *, kept: int) -> None:
    from bnmind.lab import EXPERIMENTS

    console = terminal()
    kind = EXPERIMENTS[store.experiment.kind]
    same = [key for key in kind.keys if summary[key].nunique() == 1 and len(summary) > 1]
    told = ", ".join(f"{_HEADS.get(key, key)} {summary[key].iloc[0]}" for key in same)
    rows = counted(store.experiment.n_rows, "row")
    console.print(f"{rows}{': ' if told else ''}{told}", soft_wrap=True)
    columns = [name for name in summary.columns if name not in same and not _is_hidden(name)]
    table = plain_table(*(_HEADS.get(name, name.replace("_", " ")) for name in columns))
    for _, row in summary[columns].iterrows():
        table.add_row(*(_cell(row[name]) for name in columns))
    # Names are never cut: lines that are too long for the terminal go on below.
    wide = terminal()
    wide.width = _WIDTH
    show_table(wide, table)
    if kept:
        console.print(f"{counted(kept, 'row')} kept from an earlier run")
    console.print(f"In {store.directory}: {counted(len(store.parts), 'file')}", soft_wrap=True)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _as_json(store: Store, summary: pd.DataFrame) -> dict[str, object]:
    rows = [
        {
            str(name): None if isinstance(value, float) and math.isnan(value) else value
            for name, value in row.items()
        }
        for row in summary.to_dict("records")
    ]
    return {
        "directory": str(store.directory),
        "rows": store.experiment.n_rows,
        "damaged": [str(path) for path in store.damaged],
        "summary": rows,
    }
