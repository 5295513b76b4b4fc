"""Result files, written all together or not at all."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnmind import _files
from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@checked
def write_files(directory: Path, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write all files into a directory, or none of them; create the directory if it is missing.

    Parameters
    ----------
    directory
        The directory.
    contents
        The content of each file, by its name in the directory.

    Raises
    ------
    ModelFileError
        If a file cannot be written; the error names it. The directory is then unchanged.
    """
    created: list[Path] = []
    places = {directory / name: content for name, content in contents.items()}
    try:
        with _files.naming(str(directory)):
            _make(directory, created)
        _files.write_files(places)
    except BaseException:
        for empty in reversed(created):
            with suppress(OSError):
                empty.rmdir()
        raise
    return tuple(places)


def png(figure: Figure) -> bytes:
    """Return a figure as the content of a PNG file.

    Parameters
    ----------
    figure
        The figure.
    """
    return _picture(figure, format="png", dpi=150)


def svg(figure: Figure) -> bytes:
    """Return a figure as the content of an SVG file; the same figure has the same content.

    Parameters
    ----------
    figure
        The figure.
    """
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "bnmind"}):
        return _picture(figure, format="svg", metadata={"Date": None})


def _picture(figure: Figure, **options: Any) -> bytes:
    if not hasattr(figure, "savefig"):
        raise InvalidArgumentError(f"expected a figure of matplotlib, got {shown(figure)}", figure)
    picture = io.BytesIO()
    with warnings.catch_warnings():
        # Matplotlib draws a box for a character that no font has.
        warnings.filterwarnings("ignore", r"Glyph .* missing from font", UserWarning)
        figure.savefig(picture, **options)
    return picture.getvalue()


def _make(directory: Path, made: list[Path]) -> None:
    """Create a directory and its parents, and record which were created."""
    if not directory.is_dir():
        _make(directory.parent, made)
        directory.mkdir(exist_ok=True)
        made.append(directory)
