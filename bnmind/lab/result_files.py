"""Results as files: all of them or none."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind import _text_files
from bnmind._arguments import checked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["png", "write_files"]


@checked
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
    with warnings.catch_warnings():
        # A letter that no font has is drawn as a box; a name is not the reader's fault.
        warnings.filterwarnings("ignore", r"Glyph .* missing from font", UserWarning)
        figure.savefig(picture, format="png", dpi=150)
    return picture.getvalue()


def _make(directory: Path, made: list[Path]) -> None:
    """Make a directory and those that it lies in, and note which were made."""
    if not directory.is_dir():
        _make(directory.parent, made)
        directory.mkdir(exist_ok=True)
        made.append(directory)
