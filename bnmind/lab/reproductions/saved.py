"""Directories of reproductions: what has been computed is kept, and not computed again.

Each reproduction has a JSON file, which is replaced after each of its parts. A file of another
version of bnmind, another size, another seed or other data is kept under another name, and so is a
damaged one.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

from bnmind._arguments import checked
from bnmind._files import (
    LARGE_FILE,
    locked,
    naming,
    read_text,
    write_file,
    write_files,
)
from bnmind._front_door import installed_version
from bnmind._messages import made_by_newer, shown
from bnmind._values import Value
from bnmind.errors import BnmindError, InvalidArgumentError
from bnmind.lab.reproductions.figures import Figure, Standing
from bnmind.lab.reproductions.reproduction import DonePart, Reproduction, Setting, Size
from bnmind.lab.result_files import png, svg

_COLUMNS = (
    *("name", *(standing.value for standing in Standing), "reference_error"),
    *("ours", "standard_error", "games", "verdict", "fitted", "why", "curve", "at"),
)


@dataclass(frozen=True, kw_only=True)
class SavedRun(Value):
    """A run of a reproduction, complete or not, as its file holds it."""

    name: str
    """The name of the reproduction in the registry."""
    version: str
    """The version of bnmind."""
    size: Size
    """The size of the run."""
    seed: int
    """The seed of all random numbers."""
    data: str = ""
    """A digest of the data sets; empty if the reproduction reads none."""
    date: str = ""
    """The day on which the last part was computed, as YYYY-MM-DD."""
    complete: bool = False
    """Whether all parts are there."""
    parts: tuple[DonePart, ...] = ()
    """The parts computed so far; those of a complete run are in order."""
    set_aside: str = field(default="", compare=False)
    """The new name of a file that this run has replaced; empty if there was none."""
    kept: int = field(default=0, compare=False)
    """The number of parts that were there before this run."""
    skipped: str = field(default="", compare=False)
    """The reason why nothing was computed, such as missing data; empty if there is none."""
    form: int = field(default=2, compare=False)
    """The version of the form of the file."""

    @property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of all parts, in order."""
        return tuple(figure for part in self.parts for figure in part.figures)

    @property
    def seconds(self) -> float:
        """The processor time of all parts."""
        return sum(part.seconds for part in self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the run and its figures as a record."""
        names = ("size", "seed", "version", "date", "seconds", "skipped", "kept")
        values = {name: getattr(self, name) for name in names}
        values |= {"size": self.size.value, "skipped": self.skipped or None}
        return {"id": self.name, **values, "figures": [one.to_dict() for one in self.figures]}

    def to_json(self) -> str:
        """Return the content of the file of the run, as JSON text."""
        record = {
            "format": _FORMAT,
            "reproduction": self.name,
            "version": self.version,
            "size": self.size.value,
            "seed": self.seed,
            "data": self.data,
            "date": self.date,
            "complete": self.complete,
            "parts": [
                {
                    "name": part.name,
                    "seconds": part.seconds,
                    "figures": [figure.to_dict() for figure in part.figures],
                }
                for part in self.parts
            ],
        }
        return json.dumps(record, indent=1, ensure_ascii=False) + "\n"

    def _fits(self, other: SavedRun) -> bool:
        mine = (self.name, self.version, self.size, self.seed, self.data, self.form)
        theirs = (other.name, other.version, other.size, other.seed, other.data, other.form)
        return mine == theirs


@checked
def reproduce_into(
    directory: Path,
    name: str,
    reproduction: Reproduction,
    setting: Setting,
    *,
    workers: int | Executor = 1,
    report: Callable[[int, int], None] | None = None,
) -> SavedRun:
    """Compute the figures of a reproduction, and write them into a directory.

    Writes ``NAME.json`` after each part, and at the end ``NAME.csv`` and the plot, if there is one,
    as ``NAME.png`` and ``NAME.svg``. Parts that the directory holds from an earlier run of the same
    version, size, seed and data are not computed again; a missing table or plot is written again.

    Parameters
    ----------
    directory
        The directory; it is created if it is missing.
    name
        The name of the reproduction in the registry.
    reproduction
        The reproduction.
    setting
        The size, the seed and the place of the data.
    workers
        The number of processes, −1 for one on each core, or an executor such as
        `bnmind.lab.Cluster`. The figures do not depend on it.
    report
        Called after each part with the number of parts computed by this call, and the number of
        those that it has to compute.

    Raises
    ------
    ModelFileError
        If the directory cannot be written, or another program runs this reproduction there.
    """
    run = SavedRun(name=name, version=installed_version(), size=setting.size, seed=setting.seed)
    if missing := reproduction.missing(setting.data):
        return replace(run, skipped=missing)
    with naming(str(setting.data)):
        run = replace(run, data=reproduction.data_digest(setting.data))
    with naming(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
    place = directory / f"{name}.json"
    held = f"another program computes {place} now; wait for it, or name another directory"
    with locked(place, patience=1.0, held=held):
        run = _resumed(place, run)
        if run.complete:
            endings = (".csv",) if reproduction.draw is None else (".csv", ".png", ".svg")
            if not all((directory / f"{name}{ending}").exists() for ending in endings):
                write_files(_outputs(directory, reproduction, run))
            return run
        parts, known = list(run.parts), len(run.parts)

        def keep(part: DonePart, number: int, total: int) -> None:
            parts.append(part)
            today = datetime.now(UTC).date().isoformat()
            write_file(place, replace(run, date=today, parts=tuple(parts)).to_json())
            if report is not None:
                report(number - known, total - known)

        reproduction.run(
            setting, workers=workers, done={part.name: part for part in parts}, report=keep
        )
        today = datetime.now(UTC).date().isoformat()
        found = {part.name: part for part in parts}
        ordered = tuple(found[part.name] for part in reproduction.parts(setting))
        date = today if len(parts) > known or not run.date else run.date
        whole = replace(run, date=date, parts=ordered, complete=True)
        write_files({place: whole.to_json(), **_outputs(directory, reproduction, whole)})
    return whole


_FORMAT = 2
"""The version of the form of the files. Version 1 did not say where a reference stands."""


@checked
def read_run(path: Path) -> SavedRun:
    """Return the run in a file.

    Parameters
    ----------
    path
        The file that `reproduce_into` wrote.

    Raises
    ------
    InvalidArgumentError
        If the file is damaged, or is not one of `reproduce_into`.
    """
    try:
        record = json.loads(read_text(path, most=LARGE_FILE))
        form = record.get("format", _FORMAT)
        run = (
            None
            if form not in (1, _FORMAT)
            else SavedRun(
                name=record["reproduction"],
                version=record["version"],
                size=Size(record["size"]),
                seed=record["seed"],
                data=record.get("data", ""),
                date=record["date"],
                complete=record["complete"],
                parts=tuple(
                    DonePart(
                        part["name"],
                        part["seconds"],
                        tuple(_figure(figure, form) for figure in part["figures"]),
                    )
                    for part in record["parts"]
                ),
                form=form,
            )
        )
    except (
        *(BnmindError, ValueError, LookupError, TypeError, AttributeError),
        *(OverflowError, RecursionError),
    ) as fault:
        raise InvalidArgumentError(
            f"{path} is damaged, or not a file of a reproduction", str(path)
        ) from fault
    if run is None:
        raise InvalidArgumentError(
            f"expected a file of a reproduction of version {_FORMAT} in {path}, got version"
            f" {shown(form)}{made_by_newer(form, _FORMAT)}",
            str(path),
        )
    return run


def figures_csv(figures: Sequence[Figure]) -> str:
    """Return figures as CSV, with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for figure in figures:
        values = figure.to_dict()
        if figure.standing is not None:
            values[figure.standing.value] = values["reference"]
        writer.writerow([values.get(column) for column in _COLUMNS])
    return text.getvalue()


def _figure(record: dict[str, Any], form: int) -> Figure:
    """Return the figure in a file of a form."""
    if form == 1:
        record = {**record, "standing": None, "fitted": False}
        for old in ("published", "published_error"):
            record[old.replace("published", "reference")] = record.pop(old)
    return Figure.from_dict(record)


def _resumed(place: Path, run: SavedRun) -> SavedRun:
    """Return what a file holds of a run; a file of another run gets another name."""
    if not place.exists():
        return run
    try:
        known = read_run(place)
        label = f"{known.version}-{known.size.value}-{known.seed}"
    except InvalidArgumentError:
        known, label = None, "damaged"
    if known is not None and known._fits(run):
        return replace(known, kept=len(known.parts))
    ends = chain([""], (f"-{number}" for number in count(2)))
    others = (place.with_name(f"{place.stem}.{label}{end}.json") for end in ends)
    other = next(path for path in others if not path.exists())
    with naming(str(other)):
        place.replace(other)
    return replace(run, set_aside=other.name)


def _outputs(directory: Path, reproduction: Reproduction, run: SavedRun) -> dict[Path, str | bytes]:
    """Return the contents of the table and the plots of a complete run, by their places."""
    contents: dict[Path, str | bytes] = {directory / f"{run.name}.csv": figures_csv(run.figures)}
    if reproduction.draw is not None:
        drawing = reproduction.draw(run.figures)
        for ending, picture in (("png", png), ("svg", svg)):
            contents[directory / f"{run.name}.{ending}"] = picture(drawing)
    return contents
