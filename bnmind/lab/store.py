"""Results as files: all of them or none."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import astuple, fields
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind import _text_files
from bnmind.lab.compare import Comparison, GameRow
from bnmind.lab.plots import plot_lengths

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["comparison_csv", "png", "save_comparison", "write_files"]


def comparison_csv(comparison: Comparison) -> str:
    """Return the rows of a comparison as CSV, with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in fields(GameRow)])
    writer.writerows(astuple(row) for row in comparison.rows)
    return text.getvalue()


def save_comparison(comparison: Comparison, directory: Path) -> tuple[Path, ...]:
    """Write ``games.csv`` and ``game-lengths.png`` into a directory, made if need be.

    Returns
    -------
    tuple[Path, ...]
        The files that were written.

    Raises
    ------
    FileWriteError
        If the files cannot be written; the directory is then as it was.
    """
    return write_files(
        directory,
        {
            "games.csv": comparison_csv(comparison).encode(),
            "game-lengths.png": png(plot_lengths(comparison)),
        },
    )


def write_files(directory: Path, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write files into a directory, made if need be: all of them or none.

    Raises
    ------
    FileWriteError
        If one cannot be written; it names it, and the directory is then as it was.
    """
    made: list[Path] = []
    places = {directory / name: content for name, content in contents.items()}
    try:
        with _text_files.naming(str(directory)):
            _make(directory, made)
        _text_files.write_files(places)
    except BaseException:
        for empty in reversed(made):
            with suppress(OSError):
                empty.rmdir()
        raise
    return tuple(places)


def png(figure: Figure) -> bytes:
    """Return a figure as the content of a PNG file."""
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    return picture.getvalue()


def _make(directory: Path, made: list[Path]) -> None:
    """Make a directory and those that it lies in, and note which were made."""
    if not directory.is_dir():
        _make(directory.parent, made)
        directory.mkdir(exist_ok=True)
        made.append(directory)
