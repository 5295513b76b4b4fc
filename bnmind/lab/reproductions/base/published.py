"""The figures that ours are compared with, in one file for each source, and our longest runs."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bnmind._arguments import checked
from bnmind._values import frozen
from bnmind.errors import UnknownNameError
from bnmind.lab.reproductions.base.figures import Estimate

__all__ = ["longest_runs", "published"]

_FILES = Path(__file__).parents[1] / "published"


@checked
def published(source: str) -> Any:
    """Return the figures of a source, as a read-only mapping.

    Each table says where its figures stand, by a value of `Standing` under ``standing``, or under
    the keys that its comment explains. Not all are published.

    Parameters
    ----------
    source
        The name of a file of figures, such as ``snyder``. The comments of the file name
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


@checked
def longest_runs(reproduction: str) -> Mapping[str, Estimate]:
    """Return the means of the longest runs that are known, by the names of their figures.

    Parameters
    ----------
    reproduction
        The name of a reproduction.
    """
    rows = _longest().get(reproduction, {})
    return {name: Estimate(*row) for name, row in rows.items()}


@cache
def _longest() -> Any:
    return tomllib.loads((_FILES.parent / "longest_runs.toml").read_text(encoding="utf-8"))
