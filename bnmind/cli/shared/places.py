"""Checks of the files for results before long work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bnmind._files import check_writable, check_writable_directory, is_stream
from bnmind.cli.shared.printable import tell
from bnmind.errors import BnmindError, ModelFileError

__all__ = ["DEFAULT_RESULTS", "ResultsPlace", "check_place", "is_saved", "results_place"]

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


def is_saved(path: Path) -> bool:
    """Return whether a dialogue was saved in a file, which is read and then written.

    Raises
    ------
    ModelFileError
        If it is a pipe or a device: nobody could read what is written, or it would wait forever.
    """
    if is_stream(str(path)):
        raise ModelFileError(
            f"{path} is a pipe or a device; expected the name of a file, which is read again to go"
            " on",
            str(path),
        )
    return path.exists()


@dataclass(frozen=True)
class ResultsPlace:
    """The directory for the results of a command."""

    directory: Path
    is_new_default: bool
    """Whether the command makes the default directory, as nobody named one."""

    def tell_if_new(self) -> None:
        """Say that the directory is new, if nobody asked for it."""
        if self.is_new_default:
            tell(f"The directory {self.directory} is new; --out names another one.")


def results_place(out: Path | None) -> ResultsPlace:
    """Return where the results go, checked before long work.

    Parameters
    ----------
    out
        The directory that was named, if any.

    Raises
    ------
    BnmindError
        If it is a file.
    FileWriteError
        If nothing can be written there.
    """
    directory = out or DEFAULT_RESULTS
    if directory.exists() and not directory.is_dir():
        raise BnmindError(f"expected a directory for --out, got the file {directory}")
    place = ResultsPlace(directory, out is None and not directory.exists())
    check_writable_directory(directory)
    return place
