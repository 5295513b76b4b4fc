"""The headline ratios in one run, compared with those of an earlier release.

    python -m benchmarks.headline --compare              # with the last release
    python -m benchmarks.headline --save 0.2.0           # record a release
    python -m benchmarks.headline em help --rounds 9     # some of them

Each figure says how many times as fast bnmind is as something else that runs beside it, in turns,
in the same process, with one thread. Machines differ less in such ratios than in seconds. A ratio
that has fallen by more than 20 % is a regression: it is printed, and the exit code is 1.
"""

from __future__ import annotations

import os

for _library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):  # before NumPy is imported
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import argparse  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import statistics  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Mapping, Sequence  # noqa: E402
from dataclasses import asdict, dataclass  # noqa: E402
from importlib.metadata import version  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

from packaging.version import Version  # noqa: E402

from benchmarks.headline_cases import CASES, Case, Pair  # noqa: E402

__all__ = ["ALLOWED", "Figure", "Release", "compared", "last_release", "main", "measured"]

RELEASES = Path(__file__).parent / "releases"
ALLOWED = 0.20
"""By how much a ratio may fall before it counts as a regression."""

SHORTEST = 0.02
"""Seconds that a round of each side lasts at least."""


@dataclass(frozen=True)
class Figure:
    """How many times as fast bnmind is as something else."""

    ratio: float
    low: float
    """The lower quartile of the rounds."""
    high: float
    """The upper quartile of the rounds."""
    milliseconds: float
    """Of one step of bnmind, the median of the rounds."""
    peer: str
    """The library beside it, with its version."""


@dataclass(frozen=True)
class Release:
    """The figures of one run."""

    name: str
    machine: Mapping[str, str]
    figures: Mapping[str, Figure]

    def to_json(self) -> str:
        """Return the text of a file."""
        content = {"schema": "bnmind-headline", "version": 1, **asdict(self)}
        return json.dumps(content, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Return the content of a file."""
        content: dict[str, Any] = json.loads(text)
        if (content.pop("schema"), content.pop("version")) != ("bnmind-headline", 1):
            raise ValueError("expected figures of version 1")
        figures = {name: Figure(**one) for name, one in content.pop("figures").items()}
        return cls(figures=figures, **content)


def measured(case: Case, *, rounds: int) -> Figure:
    """Return the figure of a case: the median ratio of rounds in which both sides take turns."""
    clock = time.perf_counter if case.in_processes else time.process_time
    pair: Pair = case.prepare()
    numbers = []
    for step in pair:
        step()  # compiles
        began = time.perf_counter()
        step()
        once = time.perf_counter() - began
        numbers.append(1 if case.in_processes else max(1, round(SHORTEST / max(once, 1e-7))))
    rows = [
        [_seconds(step, n, clock) for step, n in zip(pair, numbers, strict=True)]
        for _ in range(rounds)
    ]
    ratios = sorted(theirs / ours for ours, theirs in rows)
    low, _, high = statistics.quantiles(ratios, n=4) if rounds > 1 else [ratios[0]] * 3
    return Figure(
        ratio=_rounded(statistics.median(ratios)),
        low=_rounded(low),
        high=_rounded(high),
        milliseconds=_rounded(1e3 * statistics.median(ours for ours, _ in rows)),
        peer=f"{case.peer} {version(case.peer)}",
    )


def _seconds(step: Callable[[], object], times: int, clock: Callable[[], float]) -> float:
    began = clock()
    for _ in range(times):
        step()
    return max(clock() - began, 1e-9) / times


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")


def _text(number: float) -> str:
    """Return a number with at least three digits, and without a power of ten if it is large."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def last_release(folder: Path = RELEASES) -> Release | None:
    """Return the figures of the last release in a folder; None if there are none."""
    files = sorted(folder.glob("*.json"), key=lambda path: Version(path.stem))
    return Release.from_json(files[-1].read_text(encoding="utf-8")) if files else None


def compared(before: Release, now: Mapping[str, Figure]) -> tuple[list[str], list[str]]:
    """Return the lines of a table, and the names of the figures that have fallen too much."""
    lines = [f"{'':24}{before.name:>10}{'now':>10}{'change':>9}"]
    fallen = []
    for name, figure in now.items():
        old = before.figures.get(name)
        if old is None:
            lines.append(f"{name:24}{'new':>10}{_text(figure.ratio):>10}")
            continue
        change = figure.ratio / old.ratio - 1
        line = f"{name:24}{_text(old.ratio):>10}{_text(figure.ratio):>10}{change:+9.0%}"
        if change < -ALLOWED:
            fallen.append(name)
            line += "  REGRESSION"
        if old.peer != figure.peer:
            line += f"  (beside {figure.peer}, then {old.peer})"
        lines.append(line)
    return lines, fallen


def main(arguments: Sequence[str] | None = None, *, folder: Path = RELEASES) -> int:
    """Measure, print, save and compare; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each pair")
    parser.add_argument("--save", metavar="RELEASE", help="keep the figures under this name")
    parser.add_argument("--compare", action="store_true", help="with the last release")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(CASES)
    if unknown or (options.save and options.names):
        parser.error(
            f"no figure is called {', '.join(sorted(unknown))}" if unknown else "save all figures"
        )
    before = last_release(folder) if options.compare else None
    if options.compare and before is None:
        parser.error(f"there is no earlier release in {folder}")
    figures: dict[str, Figure] = {}
    print(f"{'':24}{'times as fast':>14}{'quartiles':>20}{'ms':>10}")
    for name in options.names or CASES:
        figure = figures[name] = measured(CASES[name], rounds=options.rounds)
        quartiles = f"{_text(figure.low)} to {_text(figure.high)}"
        print(
            f"{name:24}{_text(figure.ratio):>14}{quartiles:>20}{_text(figure.milliseconds):>10}"
            f"  {CASES[name].about}; {figure.peer}",
            flush=True,
        )
    if options.save:
        folder.mkdir(exist_ok=True)
        release = Release(str(Version(options.save)), _machine(), figures)
        (folder / f"{release.name}.json").write_text(release.to_json(), encoding="utf-8")
    if before is None:
        return 0
    lines, fallen = compared(before, figures)
    print("", *lines, sep="\n")
    if fallen:
        print(f"{len(fallen)} fell by more than {ALLOWED:.0%}: {', '.join(fallen)}")
    return 1 if fallen else 0


def _machine() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "processor": platform.machine(),
        "numpy": version("numpy"),
        "numba": version("numba"),
    }


if __name__ == "__main__":
    sys.exit(main())
