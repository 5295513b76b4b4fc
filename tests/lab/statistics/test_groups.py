"""Rank-sum groups: against scipy's other test of ranks, and by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.lab import compare, comparison_groups, rank_sum_groups
from bnmind.mastermind import Board, Channel
from bnmind.strategies import Knuth, RandomCode
from tests.modes import examples
from tests.registries import check_value

lengths = st.lists(st.integers(1, 6).map(float), min_size=1, max_size=12)


def plain_p_value(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the p-value from counted pairs and the normal approximation."""
    n, m = len(one), len(other)
    every = [*one, *other]
    wins = sum((a > b) + (a == b) / 2 for a in one for b in other)
    ties = sum(every.count(value) ** 3 - every.count(value) for value in set(every))
    variance = n * m / 12 * (n + m + 1 - ties / ((n + m) * (n + m - 1)))
    if variance <= 0:
        return 1.0
    distance = max(0.0, abs(wins - n * m / 2) - 0.5) / math.sqrt(variance)
    return math.erfc(distance / math.sqrt(2))


@given(st.dictionaries(st.sampled_from("abcd"), lengths, min_size=1))
@settings(max_examples=examples(50), deadline=None)
def test_groups_are_cut_between_neighbors_that_differ(samples: dict[str, list[float]]) -> None:
    found = rank_sum_groups(samples, significance=0.2)
    means = {name: sum(sample) / len(sample) for name, sample in samples.items()}
    assert list(found.means) == pytest.approx(sorted(means.values()))
    assert found.means == pytest.approx([means[name] for name in found.ranking])
    for (one, other), p_value in found.p_values.items():
        assert p_value == pytest.approx(plain_p_value(samples[one], samples[other]), abs=1e-9)
    assert [name for group in found.groups for name in group] == list(found.ranking)
    starts = {group[0] for group in found.groups[1:]}
    for better, worse in zip(found.ranking, found.ranking[1:], strict=False):
        assert found.differ(better, worse) == (worse in starts)
        assert found.differ(worse, better) == found.differ(better, worse)


def test_the_ends_of_a_group_may_differ() -> None:
    samples = {f"from {first}": [float(first + i) for i in range(60)] for first in (0, 6, 12)}
    found = rank_sum_groups(samples)
    assert found.groups == (("from 0", "from 6", "from 12"),)
    assert found.differences == (("from 0", "from 12"),)
    assert str(found) == "from 0 = from 6 = from 12"
    check_value(found)


def test_a_comparison_is_grouped_by_its_games() -> None:
    comparison = compare(
        [RandomCode(), Knuth()], Channel.exact(Board(3, 4)), games=None, max_guesses=9
    )
    found = comparison_groups(comparison)
    samples = {
        name: [float(row.guesses) for row in comparison.rows_of(name)]
        for name in comparison.strategies
    }
    assert set(found.ranking) == {"knuth", "random"}
    assert found.p_values == rank_sum_groups(samples).p_values


def test_wrong_samples_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="at least one sample"):
        rank_sum_groups({})
    with pytest.raises(InvalidArgumentError, match=r"numbers of b, got \[\]; .*significance"):
        rank_sum_groups({"a": [1.0], "b": []}, significance=0.0)
    with pytest.raises(InvalidArgumentError, match="numbers of a"):
        rank_sum_groups({"a": [math.nan]})
    with pytest.raises(InvalidArgumentError, match="among a, got a and x"):
        rank_sum_groups({"a": [1.0]}).differ("a", "x")
