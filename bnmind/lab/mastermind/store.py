"""Files with comparisons of strategies."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, fields
from pathlib import Path

from bnmind._arguments import checked
from bnmind.lab.mastermind.compare import Comparison, GameRow
from bnmind.lab.mastermind.plots import plot_lengths
from bnmind.lab.result_files import png, write_files

__all__ = ["comparison_csv", "save_comparison"]


@checked
def comparison_csv(comparison: Comparison) -> str:
    """Return the rows of a comparison as CSV, with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in fields(GameRow)])
    writer.writerows(astuple(row) for row in comparison.rows)
    return text.getvalue()


@checked
def save_comparison(comparison: Comparison, directory: Path) -> tuple[Path, ...]:
    """Write ``games.csv`` and ``game-lengths.png`` into a directory; create it if it is missing.

    Returns
    -------
    tuple[Path, ...]
        The files written.

    Raises
    ------
    FileWriteError
        If the files cannot be written. The directory is then unchanged.
    """
    return write_files(
        directory,
        {
            "games.csv": comparison_csv(comparison).encode(),
            "game-lengths.png": png(plot_lengths(comparison)),
        },
    )
