"""Holm's correction and the signed-rank test, against slow and obvious twins."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.lab import holm, signed_rank_p_value
from tests.modes import examples

p_values = st.lists(st.floats(0, 1), max_size=6)


def rejected_by_all_intersections(p: list[float], level: float) -> list[bool]:
    """Close the tests: reject one if Bonferroni rejects every set of hypotheses that holds it."""
    return [
        all(
            min(p[i] for i in others) * len(others) <= level
            for size in range(1, len(p) + 1)
            for others in combinations(range(len(p)), size)
            if one in others
        )
        for one in range(len(p))
    ]


@given(p_values, st.floats(0.001, 0.5))
@settings(max_examples=examples(100), deadline=None)
def test_holm_is_the_closure_of_bonferroni(p: list[float], level: float) -> None:
    corrected = holm(p)
    if np.abs(corrected - level).min(initial=1) > 1e-9:
        assert (corrected <= level).tolist() == rejected_by_all_intersections(p, level)
    assert (corrected >= np.array(p) - 1e-15).all()


def test_wrong_p_values_are_refused() -> None:
    for wrong in ([0.5, 1.5], [-0.1], [math.nan], [[0.5]]):
        with pytest.raises(InvalidArgumentError, match=r"p-values in \[0, 1\]"):
            holm(wrong)
    assert holm([]).tolist() == []


def plain_signed_rank(differences: list[float]) -> float:
    """Return the p-value from ranks counted one by one; zeros have ranks, but no sign (Pratt)."""
    sizes = [abs(d) for d in differences]
    ranks = [sum(b < a for b in sizes) + (sum(b == a for b in sizes) + 1) / 2 for a in sizes]
    signed = [(d, rank) for d, rank in zip(differences, ranks, strict=True) if d]
    if not signed:
        return 1.0
    up = sum(rank for d, rank in signed if d > 0)
    mean = sum(rank for _, rank in signed) / 2
    variance = sum(rank**2 for _, rank in signed) / 4  # each sign is a fair coin
    distance = (abs(up - mean) - 0.5) / math.sqrt(variance)
    return min(1.0, math.erfc(distance / math.sqrt(2)))


@given(st.lists(st.integers(-4, 4).map(float), min_size=1, max_size=40))
@settings(max_examples=examples(100), deadline=None)
def test_the_signed_rank_test_counts_ranks(differences: list[float]) -> None:
    found = signed_rank_p_value(differences)
    assert found == pytest.approx(plain_signed_rank(differences), abs=1e-9)
    assert found == pytest.approx(signed_rank_p_value([-d for d in differences]))


def test_wrong_differences_are_refused() -> None:
    for wrong in ([], [math.inf], [[1.0]]):
        with pytest.raises(InvalidArgumentError, match="one or more finite differences"):
            signed_rank_p_value(wrong)
