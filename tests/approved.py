"""What tests found when somebody last read it, kept in files beside them.

A fault in a message, in a rare number or in a default is easily seen by whoever reads it, and
easily missed by a test that looks for a part of it. Files in a directory ``approved`` hold, for
each test, all that it notes. A test compares what it notes with its file, numbers up to a
tolerance. After a change that is meant, write the files again, and read the difference::

    BNMIND_APPROVE=1 python -m pytest -n 0 tests/adaptive tests/test_misuse_adaptive.py
    git diff '**/approved/*.json'
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
import pytest

__all__ = ["Notes", "noted_refusals", "plain"]

_IS_WRITING = os.environ.get("BNMIND_APPROVE", "0") not in ("", "0")
_RELATIVE, _ABSOLUTE = 1e-5, 1e-7
_SHOWN = 6
_LONG, _DEPTH, _MANY = 300, 1, 20
_LONG_TEXT = 1000
_LINE = 80
_REFUSALS = 24


class Notes:
    """What one test found: values by name, compared with those of its file at the end.

    Parameters
    ----------
    test
        The file of the test.
    name
        The name of the test in its file.
    directory
        A directory of the test, whose name differs from run to run.
    """

    def __init__(self, test: Path, name: str, directory: Path | None = None) -> None:
        self._file = test.parent / "approved" / f"{test.stem}.json"
        self._name = name
        self._directory = directory
        self._found: dict[str, Any] = {}

    def note(self, value: object, name: str = "") -> None:
        """Note a value, after those that have the same name."""
        self._found.setdefault(name, []).append(_short(self._without_places(plain(value))))

    def count(self) -> int:
        """Return how many values are noted."""
        return sum(map(len, self._found.values()))

    def check(self, *, if_kept: bool = False) -> None:
        """Compare all with the file; with `if_kept`, only if the file has this test."""
        if _IS_WRITING:
            kept = _read(self._file)
            others = {name: found for name, found in kept.items() if name != self._name}
            new = {**others, self._name: self._found} if self._found else others
            if new != kept:
                _write(self._file, new)
            return
        kept = _kept(self._file)
        if if_kept and self._name not in kept:
            return
        differences = list(_differences(kept.get(self._name, {}), self._found, ""))
        shown = "\n".join(differences[:_SHOWN])
        assert not differences, f"{shown}\nIf that is meant, see tests/approved.py."

    def check_known(self) -> None:
        """Compare the values of each name with those that any test noted for it."""
        kept = _read(self._file) if _IS_WRITING else _kept(self._file)
        known = kept.setdefault(self._name, {})
        new = {
            name: [one for one in dict.fromkeys(values) if one not in known.get(name, ())]
            for name, values in self._found.items()
        }
        if _IS_WRITING:
            known |= {name: sorted([*known.get(name, ()), *new[name]]) for name in new}
            _write(self._file, kept)
            return
        shown = "\n".join(f"{name}: {one}" for name in new for one in new[name][:_SHOWN])
        assert not shown, f"not approved: {shown}\nIf that is meant, see tests/approved.py."

    def _without_places(self, value: Any) -> Any:
        if isinstance(value, str):
            if self._directory is not None:
                value = value.replace(str(self._directory), "DIRECTORY")
            value = re.sub(r"\b0x[0-9a-f]{6,}", "0x…", value)
            value = re.sub(r"\d(\.\d+)?e-1\d", "0", value)
            return re.sub(r"\d\.\d{6,}(e-\d+)?", lambda m: f"{float(m[0]):.5g}", value)
        if isinstance(value, list):
            return [self._without_places(one) for one in value]
        if isinstance(value, dict):
            return {key: self._without_places(one) for key, one in value.items()}
        return value


@contextmanager
def noted_refusals(notes: Notes, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Note the words of the first errors that a test expects with `pytest.raises`."""
    original = pytest.raises

    def raises(*arguments: Any, **options: Any) -> Any:
        made = original(*arguments, **options)
        return made if len(arguments) > 1 else _Noting(made, notes)

    with patch.context() as within:
        within.setattr(pytest, "raises", raises)
        yield


class _Noting:
    """The context of `pytest.raises`, which notes the error."""

    def __init__(self, inner: Any, notes: Notes) -> None:
        self._inner, self._notes = inner, notes

    def __enter__(self) -> Any:
        return self._inner.__enter__()

    def __exit__(self, kind: Any, fault: Any, trace: Any) -> Any:
        is_expected = self._inner.__exit__(kind, fault, trace)
        is_ours = type(fault).__module__.startswith("bnmind.")
        if is_expected and is_ours and self._notes.count() < _REFUSALS:
            self._notes.note(f"{type(fault).__name__}: {fault}")
        return is_expected


def plain(value: object) -> Any:
    """Return a value as JSON has it; arrays by their shape and two sums with different weights."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float | np.floating):
        return _rounded(value) if math.isfinite(value) else str(value)
    if isinstance(value, Enum | type):
        return getattr(value, "__name__", str(value))
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return _of_array(value)
    if isinstance(value, pd.DataFrame):
        return {str(name): plain(column.to_numpy()) for name, column in value.items()}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.name[0] != "_"]
        return {"": type(value).__name__, **{name: plain(getattr(value, name)) for name in names}}
    if isinstance(value, Sequence):
        return [plain(one) for one in value]
    return type(value).__name__


def _rounded(number: float | np.floating[Any]) -> float:
    """Return a number without the digits that differ from machine to machine."""
    return float(f"{float(number):.9g}")


def _of_array(array: np.ndarray[Any, Any]) -> Any:
    if array.size <= 1 or array.dtype.kind not in "biuf":
        return plain(array.tolist())
    numbers = array.astype(float).ravel()
    is_finite = np.isfinite(numbers)
    numbers = np.where(is_finite, numbers, 0)
    weights = 1 + np.cos(np.arange(1, len(numbers) + 1))
    found = f"{array.dtype.kind}{list(array.shape)}"
    sums = [_rounded(numbers.sum()), _rounded(weights @ numbers)]
    return [found, *sums] if is_finite.all() else [found, *sums, int((~is_finite).sum())]


def _short(value: Any, depth: int = 0) -> Any:
    """Return a value with the larger parts of its parts as sums of numbers and sums of letters."""
    if isinstance(value, str) and len(value) > _LONG_TEXT:
        return [value[:_LONG], len(value), crc32(value.encode())]
    if len(json.dumps(value)) <= _LONG or not isinstance(value, dict | list):
        return value
    if depth < _DEPTH and isinstance(value, dict):
        return {name: _short(one, depth + 1) for name, one in value.items()}
    if depth < _DEPTH and len(value) <= _MANY:
        return [_short(one, depth + 1) for one in value]
    leaves = list(_leaves(value))
    numbers = [float(one) for one in leaves if isinstance(one, int | float)]
    texts = "\n".join(one for one in leaves if isinstance(one, str))
    return [len(leaves), *_of_array(np.array([*numbers, 0, 0]))[1:], crc32(texts.encode())]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from _leaves(one)
    elif isinstance(value, list):
        for one in value:
            yield from _leaves(one)
    else:
        yield value


def _write(file: Path, kept: dict[str, Any]) -> None:
    file.parent.mkdir(exist_ok=True)
    tests = [f" {json.dumps(name)}: {_text(kept[name])}" for name in sorted(kept)]
    file.write_text("{\n" + ",\n".join(tests) + "\n}\n", encoding="utf-8")


def _text(found: dict[str, list[Any]]) -> str:
    """Return what a test found as JSON: long values on lines of their own."""
    lines = []
    for name, values in found.items():
        texts = [json.dumps(value, ensure_ascii=False) for value in values]
        is_long = sum(map(len, texts)) > _LINE
        inner = "\n   " + ",\n   ".join(texts) if is_long else ", ".join(texts)
        lines.append(f"  {json.dumps(name, ensure_ascii=False)}: [{inner}]")
    return "{\n" + ",\n".join(lines) + "\n }"


def _read(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return found


_kept = cache(_read)


def _differences(kept: Any, found: Any, where: str) -> Iterator[str]:
    """Yield in words where two values differ."""
    if isinstance(kept, dict) and isinstance(found, dict):
        for name in dict.fromkeys([*kept, *found]):
            yield from _differences(kept.get(name), found.get(name), f"{where}.{name}")
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        for place, (one, other) in enumerate(zip(kept, found, strict=True)):
            yield from _differences(one, other, f"{where}[{place}]")
    elif isinstance(kept, int | float) and isinstance(found, int | float):
        is_same = math.isclose(kept, found, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
        if not is_same or isinstance(kept, bool) != isinstance(found, bool):
            yield f"{where}: {kept!r} was approved, got {found!r}"
    elif kept != found:
        yield f"{where}: {kept!r} was approved, got {found!r}"
