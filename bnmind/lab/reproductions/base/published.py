"""The published figures, in one file for each source."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from bnmind._arguments import checked
from bnmind._values import frozen
from bnmind.errors import UnknownNameError

__all__ = ["published"]

_FILES = Path(__file__).parents[1] / "published"


@checked
def published(source: str) -> Any:
    """Return the figures of a source, as a read-only mapping.

    Parameters
    ----------
    source
        The name of a file of published figures, such as ``snyder``. The comments of the file name
        the publications.

    Raises
    ------
    UnknownNameError
        If there is no such file.

    Examples
    --------
    >>> published("snyder")["learned"]["mean"]
    4.6066
    """
    return _read(source)


@cache
def _read(source: str) -> Any:
    known = sorted(path.stem for path in _FILES.glob("*.toml"))
    if source not in known:
        raise UnknownNameError("source of published figures", source, known)
    return frozen(tomllib.loads((_FILES / f"{source}.toml").read_text(encoding="utf-8")))
