"""How tests run: kernels compiled or not, and properties tried on few examples or on many."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

__all__ = ["UNCOMPILED", "before_releases", "examples"]

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""Whether nothing is compiled: kernels are then slow, and every index is checked."""

before_releases = pytest.mark.skipif(
    os.environ.get("EXHAUSTIVE_TESTS", "0") in ("", "0"),
    reason="searches for a minute; runs before a release, with EXHAUSTIVE_TESTS=1",
)
"""Marks slow tests that are too long for every change."""


def examples(number: int) -> int:
    """Return how many examples of a property to try under the profile in use.

    `number` is in proportion to 100 for a property without a number. The everyday profile tries
    three tenths as many, and ``pytest -m hypothesis --hypothesis-profile=thorough`` three times as
    many. The first example is always the simplest one, of which little can be wrong: others follow.
    """
    return max(1 if UNCOMPILED else 4, number * settings().max_examples // 100)
