"""What was measured, in one table at the end of the run: times, sizes, and the two aims."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

import pytest

# One thread for every engine, set before NumPy is imported: on a busy machine a
# second thread waits more than it works, and the times say nothing.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"


class Row(NamedTuple):
    """One engine on one board."""

    board: str
    engine: str
    fastest: float
    """Seconds, of the fastest round: what the machine does when nobody disturbs it."""
    median: float
    """Seconds, of the median round."""
    sizes: Mapping[str, int]


MEASURED = pytest.StashKey[list[Row]]()
_BAR = "pyagrum_stage_3"
"""What the others are held against."""


def pytest_configure(config: pytest.Config) -> None:
    config.stash[MEASURED] = []


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    rows = config.stash[MEASURED]
    if not rows:
        return
    terminalreporter.section("joint over the code after one noisy reply")
    bars = {row.board: row.fastest for row in rows if row.engine == _BAR}
    terminalreporter.line(f"{'milliseconds':28}{'fastest':>12}{'median':>12}{'speed':>9}   sizes")
    for row in rows:
        speed = f"{bars[row.board] / row.fastest:.3g}×" if row.board in bars else ""
        sizes = ", ".join(f"{size:,} {what}" for what, size in row.sizes.items())
        terminalreporter.line(
            f"{row.board:5}{row.engine:23}{1e3 * row.fastest:12.3f}{1e3 * row.median:12.3f}"
            f"{speed:>9}   {sizes}"
        )
    terminalreporter.line(f"(speed: how many times as fast as {_BAR}, by the fastest rounds)")
