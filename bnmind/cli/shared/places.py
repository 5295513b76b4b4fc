"""Checks of the files for results before long work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bnmind._text_files import check_writable
from bnmind.errors import ModelFileError

__all__ = ["DEFAULT_RESULTS", "check_place", "is_new_default"]

DEFAULT_RESULTS = Path("results")
"""Where a command writes its results if nobody says where."""


def check_place(path: Path, suffixes: Sequence[str], what: str) -> None:
    """Raise before long work if its result could not be written.

    Parameters
    ----------
    path
        The file.
    suffixes
        The endings of its name, each of which stands for a format.
    what
        Its content, in a word, for the message.

    Raises
    ------
    ModelFileError
        If the name has another ending.
    FileWriteError
        If the file cannot be written.
    """
    if path.suffix.lower() not in suffixes:
        raise ModelFileError(
            f"expected a file name ending in {', '.join(suffixes)} for the {what}, got"
            f" {path.name!r}",
            str(path),
        )
    check_writable(path)


def is_new_default(directory: Path | None) -> bool:
    """Return whether a command is about to make the default directory, as nobody named one."""
    return directory is None and not DEFAULT_RESULTS.exists()
