"""Fingerprints of models: equal for equal tables, and different for all others in practice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from bnmind.pgm.network import Potential

__all__ = ["fingerprint"]


def fingerprint(potentials: Iterable[Potential]) -> str:
    """Return the SHA-256 of the tables, functions and noisy distributions of a model.

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
