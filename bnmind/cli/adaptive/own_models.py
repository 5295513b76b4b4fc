"""Response models in a file of the user's own, named as ``FILE.py:CLASS``."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

from bnmind.adaptive import ParametricModel, ResponseModel
from bnmind.cli.shared.printable import printable
from bnmind.errors import BnmindError, UnknownNameError

__all__ = ["is_own_model", "own_model"]


def is_own_model(name: str) -> bool:
    """Return whether a name is that of a class in a Python file."""
    return ".py:" in name


def own_model(name: str) -> Callable[..., ResponseModel]:
    """Run a Python file, and return a class of response models that it defines.

    Raises
    ------
    BnmindError
        If the file cannot be run, or the name is not that of a `ParametricModel`.
    """
    file, _, wanted = name.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise BnmindError(
            f"expected a Python file with response models, found no {printable(file)}"
        )
    try:
        names = runpy.run_path(str(path))
    except Exception as fault:
        raise BnmindError(
            f"{printable(file)} cannot be run: {type(fault).__name__}: {fault}"
        ) from fault
    models = {
        key: value
        for key, value in names.items()
        if isinstance(value, type)
        and issubclass(value, ParametricModel)
        and value is not ParametricModel
    }
    if wanted not in models:
        if not models:
            raise BnmindError(f"{printable(file)} defines no subclass of ParametricModel")
        raise UnknownNameError("response model", wanted, models)
    return models[wanted]
