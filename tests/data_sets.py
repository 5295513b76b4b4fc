"""Data sets that are not part of the project: where they are looked for, and their absence.

They are looked for in the directory that BNMIND_DATA names, or in ``shared/data`` beside the
repository. Tests of absent ones are skipped, and the end of the run says which these are; see
``pytest_terminal_summary`` in ``tests/conftest.py``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

__all__ = ["DATA", "absent", "counted_absences", "data_set"]

DATA = Path(os.environ.get("BNMIND_DATA", Path(__file__).parents[2] / "shared" / "data"))

_ABSENT = "no data set "


def absent(name: str) -> str:
    """Return the reason to skip a test of a data set that is not there."""
    return f"{_ABSENT}{name}"


def data_set(name: str) -> Path:
    """Return the directory of a data set; skips the test if there is none."""
    if not (DATA / name).is_dir():
        pytest.skip(absent(name))
    return DATA / name


def counted_absences(reasons: Iterable[str]) -> Counter[str]:
    """Return how many tests each absent data set has left out, given why tests were skipped."""
    named = (reason.removeprefix("Skipped: ") for reason in reasons)
    return Counter(reason.removeprefix(_ABSENT) for reason in named if reason.startswith(_ABSENT))
