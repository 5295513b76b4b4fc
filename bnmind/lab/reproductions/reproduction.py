"""Reproductions: published figures, and the program that computes them again."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind._workers import finished_of
from bnmind.errors import InvalidArgumentError
from bnmind.lab.reproductions.figures import Figure

_NO_DATA = "set BNMIND_DATA or --data"


class Size(Enum):
    """The size of a run."""

    QUICK = "quick"
    """Minutes for all reproductions together: fewer games, and no long searches."""
    MEDIUM = "medium"
    """An hour for all: a quick run, but with enough games to rank players in new experiments."""
    FULL = "full"
    """Hours for all reproductions together: as many games as the publications, or more."""


@checked
def default_data() -> Path | None:
    """Return the directory with data sets that ``BNMIND_DATA`` names; None if it names none."""
    named = os.environ.get("BNMIND_DATA")
    return Path(named) if named else None


@dataclass(frozen=True)
class Setting(Value):
    """The choices for a run of a reproduction."""

    size: Size
    """The size of the run."""
    seed: int
    """The seed of all random numbers."""
    data: Path | None
    """The directory with the data sets, which are not part of bnmind; None if there is none."""

    def of(self, quick: Any, full: Any, *, medium: Any = None) -> Any:
        """Return the value for the size; by default, a medium run is a quick one.

        Parameters
        ----------
        quick
            The value for a quick run.
        full
            The value for a full run.
        medium
            The value for a medium run; that of a quick one if None.
        """
        values = {
            Size.QUICK: quick,
            Size.MEDIUM: quick if medium is None else medium,
            Size.FULL: full,
        }
        return values[self.size]

    def data_set(self, name: str) -> Path:
        """Return the directory of a data set, which may be missing.

        Parameters
        ----------
        name
            The name of the data set.

        Raises
        ------
        InvalidArgumentError
            If there is no directory with data sets.
        """
        if self.data is None:
            raise InvalidArgumentError(f"no data set {name}; {_NO_DATA}", name)
        return self.data / name


Task: TypeAlias = tuple[Any, ...]
"""The name of a part, the function that yields its figures, and the arguments of the function."""

Program: TypeAlias = Callable[[Setting], Iterable[Task]]
"""Returns the parts of a run, in the order of their figures."""


@dataclass(frozen=True)
class Part(Value):
    """A part of a reproduction that is computed alone, and kept when a run is interrupted."""

    name: str
    """The name, different from those of the other parts."""
    run: Callable[[], Iterable[Figure]]
    """Returns the figures; it is pickled for worker processes."""


@dataclass(frozen=True)
class DonePart(Value):
    """The figures of a part."""

    name: str
    """The name of the part."""
    seconds: float
    """The processor time."""
    figures: tuple[Figure, ...]
    """The figures."""


Draw: TypeAlias = Callable[[Sequence[Figure]], Any]
"""Draws figures; returns a figure of matplotlib."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Reproduction(Value):
    """Published figures of one table or one claim, and the program that computes them again."""

    title: str
    """The content, in one short line."""
    source: str
    """The publication, with the number of the table; or "a new experiment"."""
    quick_minutes: float
    """The approximate duration of a quick run on one core."""
    minutes: float
    """The approximate duration of a full run on one core."""
    parts: Callable[[Setting], Sequence[Part]]
    """Returns the parts of a run, in the order of their figures."""
    data: tuple[str, ...] = ()
    """The data sets that the reproduction reads, which are not part of bnmind."""
    text: str = ""
    """Remarks for readers of the results, in Markdown."""
    quick_text: str = ""
    """Remarks for readers of the results of a quick run alone, in Markdown."""
    draw: Draw | None = None
    """Draws the figures; None if there is no plot."""
    abscissa: str = ""
    """The abscissa of the plot in a word, such as "p", for tables with a row for each curve."""

    @property
    def about(self) -> str:
        """The content, in one short line."""
        return self.title

    def missing(self, data: Path | None) -> str:
        """Return which data sets a directory lacks, in words; empty if it has all.

        Parameters
        ----------
        data
            The directory that holds a directory for each data set, or None.
        """
        lacks = [name for name in self.data if data is None or not (data / name).is_dir()]
        if not lacks:
            return ""
        return f"no data set {', '.join(lacks)}{f'; {_NO_DATA}' if data is None else f' in {data}'}"

    def data_digest(self, data: Path | None) -> str:
        """Return a digest of the names and contents of the data sets; empty if there are none.

        Parameters
        ----------
        data
            The directory that holds a directory for each data set, or None.
        """
        if data is None or not self.data:
            return ""
        digest = hashlib.sha256()
        for name in self.data:
            for path in sorted(path for path in (data / name).rglob("*") if path.is_file()):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                digest.update(f"{path.relative_to(data).as_posix()} {content}\n".encode())
        return digest.hexdigest()[:32]

    @checked
    def run(
        self,
        setting: Setting,
        *,
        workers: int | Executor = 1,
        done: Mapping[str, DonePart] | None = None,
        report: Callable[[DonePart, int, int], None] | None = None,
    ) -> tuple[Figure, ...]:
        """Compute the figures.

        Parameters
        ----------
        setting
            The size, the seed and the place of the data. They determine the figures.
        workers
            The number of processes, −1 for one on each core, or an executor such as
            `bnmind.lab.Cluster`. The figures do not depend on it.
        done
            Parts computed before, by name; they are not computed again.
        report
            Called after each part with the part, the number of parts computed so far, and the
            number of all parts.

        Raises
        ------
        InvalidArgumentError
            If a data set is missing.
        """
        if missing := self.missing(setting.data):
            raise InvalidArgumentError(missing, setting.data)
        parts, known = self.parts(setting), dict(done or {})
        tasks = [partial(_computed, part) for part in parts if part.name not in known]
        for number, (_, part) in enumerate(finished_of(tasks, workers), start=1):
            known[part.name] = part
            if report is not None:
                report(part, len(parts) - len(tasks) + number, len(parts))
        return tuple(figure for part in parts for figure in known[part.name].figures)


def _computed(part: Part) -> DonePart:
    started = time.process_time()
    figures = tuple(part.run())
    return DonePart(part.name, round(time.process_time() - started, 3), figures)


def parts_of(program: Program, setting: Setting) -> tuple[Part, ...]:
    """Return the parts of a run, as a program names them."""
    tasks = program(setting)
    return tuple(Part(name, partial(function, *given)) for name, function, *given in tasks)
