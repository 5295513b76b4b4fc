"""Models of files, read with the options ``--normalize`` and ``--drop-decisions``."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from bnmind._messages import counted, one_line
from bnmind.cli.shared.errors import say
from bnmind.cli.shared.printable import printable
from bnmind.cli.shared.work import working
from bnmind.errors import ModelFileError

if TYPE_CHECKING:
    from bnmind.pgm.formats.reading import NormalizedTable

__all__ = ["model_from"]

_Model = TypeVar("_Model")


_OPTIONS = {"normalize=True": "--normalize", "drop_decisions=True": "--drop-decisions"}
"""The options of the arguments that errors advise."""


def model_from(
    path: Path, read: Callable[..., _Model], *, normalize: bool, **options: bool
) -> _Model:
    """Return the model in a file; errors name the options that they advise, a note their effect.

    Parameters
    ----------
    path
        The file.
    read
        A reader of `bnmind.pgm.files`, or `bnmind.dynamic.read_dynamic`.
    normalize
        The value of the option.
    **options
        ``drop_decisions``, for a reader that has it.
    """
    tables: list[NormalizedTable] = []
    try:
        model = working(
            f"reading {printable(path.name)}",
            lambda _: read(path, normalize=normalize, on_normalized=tables.append, **options),
        )
    except ModelFileError as fault:
        said = str(fault)
        for argument, option in _OPTIONS.items():
            said = said.replace(argument, option)
        raise ModelFileError(said, fault.value, line=fault.line, column=fault.column) from fault
    if normalize and tables:
        first = max(tables, key=lambda t: math.inf if math.isnan(t.total) else abs(t.total - 1))
        others = (
            f"; and {counted(len(tables) - 1, 'table')} closer to one" if len(tables) > 1 else ""
        )
        say(f"note: normalized {one_line(str(first))}{others}")
    return model
