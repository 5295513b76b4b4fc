"""Fingerprints of models: equal for equal tables, and different for all others in practice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from bnmind.pgm.network import Potential

__all__ = ["fingerprint", "has_code"]


def fingerprint(potentials: Iterable[Potential]) -> str:
    """Return the SHA-256 of the tables, functions and noisy distributions of a model.

    Functions of code outside of this package (see `has_code`) count only with their names and
    fields.

    Examples
    --------
    >>> from bnmind.pgm import Factor, Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> fingerprint([Factor((rain,), [0.8, 0.2])]) == fingerprint([Factor((rain,), [0.7, 0.3])])
    False
    """
    digest = hashlib.sha256()
    for potential in potentials:
        _add(digest, potential)
    return digest.hexdigest()


def has_code(value: object) -> bool:
    """Return whether a model, or a part of it, holds a function of code outside of this package.

    Another function may have the same name, or the same fields.

    >>> from bnmind.pgm import FunctionalCPD, Variable
    >>> a, b = (Variable.of_integers(name, range(2)) for name in "ab")
    >>> has_code(FunctionalCPD.sum_of("sum", (a, b))), has_code([lambda x: 1 - x])
    (False, True)
    """
    if is_dataclass(value) and not isinstance(value, type):
        if callable(value) and type(value).__module__.partition(".")[0] != "bnmind":
            return True
        return any(has_code(getattr(value, field.name)) for field in fields(value) if field.init)
    if isinstance(value, Mapping):
        return any(map(has_code, value.values()))
    if isinstance(value, tuple | list):
        return any(map(has_code, value))
    return callable(value)


def _add(digest: Any, value: object) -> None:
    """Add a value with its type and the number of its parts, so that no two values mix."""
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        digest.update(f"array {array.dtype.str} {array.shape};".encode())
        digest.update(array.tobytes())
    elif isinstance(value, Enum):
        digest.update(f"{type(value).__qualname__}.{value.name};".encode())
    elif is_dataclass(value) and not isinstance(value, type):
        given = [field.name for field in fields(value) if field.init]
        digest.update(f"{type(value).__qualname__} {len(given)};".encode())
        for name in given:
            _add(digest, getattr(value, name))
    elif isinstance(value, Mapping):
        digest.update(f"mapping {len(value)};".encode())
        for key in sorted(value, key=repr):
            _add(digest, key)
            _add(digest, value[key])
    elif isinstance(value, tuple | list):
        digest.update(f"list {len(value)};".encode())
        for item in value:
            _add(digest, item)
    elif callable(value):
        module = getattr(value, "__module__", "")
        name = getattr(value, "__qualname__", type(value).__qualname__)
        digest.update(f"function {module}.{name};".encode())
    else:
        digest.update(f"{type(value).__name__} {value!r};".encode())
