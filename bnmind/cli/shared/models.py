"""Models of files, read with the option ``--normalize``."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from bnmind._messages import counted, one_line
from bnmind.cli.shared.errors import say
from bnmind.cli.shared.printable import printable
from bnmind.cli.shared.work import working
from bnmind.errors import ModelFileError

if TYPE_CHECKING:
    from bnmind.pgm.formats.reading import NormalizedTable

__all__ = ["model_from"]

_Model = TypeVar("_Model", covariant=True)


class _ReadsModel(Protocol[_Model]):
    def __call__(
        self,
        path: str | os.PathLike[str],
        *,
        normalize: bool,
        on_normalized: Callable[[NormalizedTable], None],
    ) -> _Model: ...


def model_from(path: Path, read: _ReadsModel[_Model], *, normalize: bool) -> _Model:
    """Return the model in a file; an error about rounding names the option, a note its effect.

    Parameters
    ----------
    path
        The file.
    read
        A reader of `bnmind.pgm.files`.
    normalize
        The value of the option.
    """
    from bnmind.pgm.formats.reading import NORMALIZE_HINT

    tables: list[NormalizedTable] = []
    try:
        model = working(
            f"reading {printable(path.name)}",
            lambda _: read(path, normalize=normalize, on_normalized=tables.append),
        )
    except ModelFileError as fault:
        told = str(fault)
        if NORMALIZE_HINT not in told:
            raise
        said = told.replace(NORMALIZE_HINT, "(--normalize corrects rounding)")
        raise ModelFileError(said, fault.value, line=fault.line, column=fault.column) from fault
    if normalize and tables:
        first = max(tables, key=lambda t: math.inf if math.isnan(t.total) else abs(t.total - 1))
        others = (
            f"; and {counted(len(tables) - 1, 'table')} closer to one" if len(tables) > 1 else ""
        )
        say(f"note: normalized {one_line(str(first))}{others}")
    return model
