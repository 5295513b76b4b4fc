"""Result files, written all together or not at all, and content as TOML."""

from __future__ import annotations

import io
import json
import re
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


# --- Content as TOML ------------------------------------------------------------------------------

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 100


def format_toml(content: Mapping[str, Any]) -> str:
    r"""Return a mapping of texts, numbers, truth values, lists and mappings as TOML.

    A list of mappings at the top becomes an array of tables. Values that are None are left out.

    References
    ----------
    TOML 1.0.0, https://toml.io/en/v1.0.0.

    Examples
    --------
    >>> print(format_toml({"games": 3, "settings": [{"board": "4x6"}]}), end="")
    games = 3
    <BLANKLINE>
    [[settings]]
    board = "4x6"
    """
    tables = {key: value for key, value in content.items() if _is_tables(value)}
    lines = _toml_lines({key: value for key, value in content.items() if key not in tables})
    for key, rows in tables.items():
        for row in rows:
            lines += ["", f"[[{_toml_key(key)}]]", *_toml_lines(row)]
    return "\n".join(lines) + "\n"


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _toml_lines(content: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, value in content.items():
        if value is None:
            continue
        line = f"{_toml_key(key)} = {_toml_value(value)}"
        if len(line) > _WIDTH and isinstance(value, list):
            parts = [f"    {_toml_value(part)}," for part in value]
            line = "\n".join([f"{_toml_key(key)} = [", *parts, "]"])
        lines.append(line)
    return lines


def _toml_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quote(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, Mapping):
        pairs = [f"{_toml_key(k)} = {_toml_value(v)}" for k, v in value.items() if v is not None]
        return f"{{{', '.join(pairs)}}}"
    raise InvalidArgumentError(f"TOML has no value like {shown(value)}", value)


def _quote(text: str) -> str:
    # A basic string of TOML is one of JSON, but for the character DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
