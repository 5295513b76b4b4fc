"""Results as files: all of a file or none of it."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping
from dataclasses import astuple, fields
from pathlib import Path

from bnmind.errors import BnmindError
from bnmind.lab.compare import Comparison, GameRow
from bnmind.lab.plots import plot_lengths

__all__ = ["comparison_csv", "save_comparison", "write_files"]


def comparison_csv(comparison: Comparison) -> str:
    """Return the rows of a comparison as CSV, with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in fields(GameRow)])
    writer.writerows(astuple(row) for row in comparison.rows)
    return text.getvalue()


def save_comparison(comparison: Comparison, directory: Path) -> tuple[Path, ...]:
    """Write ``games.csv`` and ``lengths.png`` into a directory, made if need be.

    Returns
    -------
    tuple[Path, ...]
        What was written.

    Raises
    ------
    BnmindError
        If the files cannot be written; the directory is then as it was.
    """
    picture = io.BytesIO()
    plot_lengths(comparison).savefig(picture, format="png", dpi=150)
    return write_files(
        directory,
        {
            "games.csv": comparison_csv(comparison).encode(),
            "lengths.png": picture.getvalue(),
        },
    )


def write_files(directory: Path, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write files into a directory, made if need be; each file whole or not at all.

    Everything is first written beside its place, and then moved there, so that a full
    disk or a crash leaves older files as they were.

    Raises
    ------
    BnmindError
        If the files cannot be written.
    """
    moves: list[tuple[Path, Path]] = []
    try:
        directory.mkdir(parents=True, exist_ok=True)
        try:
            for name, content in contents.items():
                beside = directory / f".{name}.{os.getpid()}.part"
                moves.append((beside, directory / name))
                beside.write_bytes(content)
            for beside, place in moves:
                beside.replace(place)
        finally:
            for beside, _ in moves:
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise BnmindError(
            f"expected to write {', '.join(contents)} into {directory}, got "
            f"{error.strerror or error}"
        ) from error
    return tuple(place for _, place in moves)
