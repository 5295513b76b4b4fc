"""Models of files, read with the option ``--normalize``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol, TypeVar

from bnmind.cli.shared.printable import printable
from bnmind.cli.shared.work import working
from bnmind.errors import ModelFileError

__all__ = ["model_from"]

_Model = TypeVar("_Model", covariant=True)


class _ReadsModel(Protocol[_Model]):
    def __call__(self, path: str | os.PathLike[str], *, normalize: bool) -> _Model: ...


def model_from(path: Path, read: _ReadsModel[_Model], *, normalize: bool) -> _Model:
    """Return the model in a file; an error about rounding names the option.

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

    try:
        return working(f"reading {printable(path.name)}", lambda _: read(path, normalize=normalize))
    except ModelFileError as fault:
        told = str(fault)
        if NORMALIZE_HINT not in told:
            raise
        said = told.replace(NORMALIZE_HINT, "(--normalize corrects rounding)")
        raise ModelFileError(said, fault.value, line=fault.line, column=fault.column) from fault
