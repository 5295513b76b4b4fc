"""Files with comparisons of strategies."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, fields
from pathlib import Path

from bnmind._arguments import checked
from bnmind.lab.mastermind.compare import Comparison, GameRow
from bnmind.lab.mastermind.plots import comparison_title, plot_lengths
from bnmind.lab.plots import plot_differences
from bnmind.lab.result_files import png, svg, write_files

__all__ = ["comparison_csv", "save_comparison"]


@checked
def comparison_csv(comparison: Comparison) -> str:
    """Return the rows of a comparison as CSV, with a header.

    Parameters
    ----------
    comparison
        The games of a comparison.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in fields(GameRow)])
    writer.writerows(astuple(row) for row in comparison.rows)
    return text.getvalue()


@checked
def save_comparison(
    comparison: Comparison, directory: Path, *, vector: bool = False
) -> tuple[Path, ...]:
    """Write the games and their plots into a directory; create it if it is missing.

    The files are ``games.csv``, ``game-lengths.png`` and, of several strategies,
    ``differences.png``.

    Parameters
    ----------
    comparison
        The comparison.
    directory
        The directory.
    vector
        Whether to write the plots as SVG files, too.

    Returns
    -------
    tuple[Path, ...]
        The files written.

    Raises
    ------
    FileWriteError
        If the files cannot be written. The directory is then unchanged.
    """
    plots = {"game-lengths": plot_lengths(comparison)}
    if len(comparison.strategies) > 1:
        title = comparison_title(comparison)
        plots["differences"] = plot_differences(comparison.differences(), title=title)
    files = {"games.csv": comparison_csv(comparison).encode()}
    files |= {f"{name}.png": png(figure) for name, figure in plots.items()}
    if vector:
        files |= {f"{name}.svg": svg(figure) for name, figure in plots.items()}
    return write_files(directory, files)
