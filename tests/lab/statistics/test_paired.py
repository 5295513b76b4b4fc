"""Paired differences: against scipy pair by pair, and coverage of all intervals together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.lab import (
    AllTold,
    ConfidenceSequence,
    ExactMean,
    Moments,
    NarrowEnough,
    RunningDifferences,
    StudentInterval,
    compare,
    holm,
    paired_differences,
    signed_rank_p_value,
)
from bnmind.mastermind import Board, Channel
from bnmind.strategies import Knuth, RandomCode, Strategy
from tests.modes import examples
from tests.registries import check_value

tables = arrays.arrays(
    np.float64,
    st.tuples(st.integers(2, 30), st.integers(2, 4)),
    elements=st.integers(1, 7).map(float),
)


@given(tables, st.floats(0.5, 0.999))
@settings(max_examples=examples(50), deadline=None)
def test_every_pair_has_the_paired_interval_of_scipy(table: Floats, confidence: float) -> None:
    values = {f"player {i}": column for i, column in enumerate(table.T)}
    found = paired_differences(values, confidence=confidence)
    assert sorted(found.means) == list(found.means) == [values[n].mean() for n in found.ranking]
    n_pairs = len(found.pairs)
    assert n_pairs == math.comb(table.shape[1], 2)
    for pair in found.pairs:
        d = values[pair.first] - values[pair.second]
        assert pair.mean == pytest.approx(d.mean())
        assert pair.mean <= 1e-12
        assert pair.standard_error == pytest.approx(stats.sem(d))
        if d.std() > 0:
            one = stats.ttest_rel(values[pair.first], values[pair.second])
            interval = one.confidence_interval(1 - (1 - confidence) / n_pairs)
            assert (pair.low, pair.high) == pytest.approx((interval.low, interval.high))
        else:  # equal differences say nothing about their spread
            assert (pair.low, pair.high) == (-math.inf, math.inf)
        assert pair.p_value == signed_rank_p_value(d)
        other = found.between(pair.second, pair.first)
        assert other.swapped() == pair == found.between(pair.first, pair.second)
        assert other.mean == -pair.mean
        assert other.can_be_told == pair.can_be_told == (pair.high < 0)
    adjusted = holm([pair.p_value for pair in found.pairs])
    assert [pair.adjusted_p_value for pair in found.pairs] == adjusted.tolist()
    check_value(found)


def test_all_intervals_cover_together() -> None:
    """Of four strategies that share their luck; one pair alone would be right more often."""
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(150):
        luck = rng.integers(0, 4, (60, 1))
        table = luck + rng.integers(1, 4, (60, 4))
        found = paired_differences(dict(zip("abcd", table.T, strict=True)), confidence=0.8)
        wrong += any(pair.can_be_told for pair in found.pairs)
    assert 0.05 < wrong / 150 <= 0.2


def test_games_that_would_tell() -> None:
    rng = np.random.default_rng(1)
    luck = rng.normal(size=20000)
    values = {"a": luck, "b": luck + 0.05 + rng.normal(size=20000)}
    few = paired_differences({name: column[:400] for name, column in values.items()}).pairs[0]
    assert not few.can_be_told
    needed = few.games_to_tell
    assert needed is not None
    assert needed > 400
    # A difference that stays as it is can just be told: the estimate inverts the interval.
    half = StudentInterval().factor(needed, 0.05) * few.standard_error * math.sqrt(400)
    assert half == pytest.approx(abs(few.mean), rel=0.03)
    assert paired_differences({"a": [1.0, 1.0], "b": [2.0, 2.0]}).pairs[0].games_to_tell is None


def test_methods_of_intervals() -> None:
    values = {"a": np.tile([1.0, 2.0], 60), "b": np.tile([2.0, 2.0], 60)}
    exact = paired_differences(values, interval=ExactMean())
    assert (exact.pairs[0].low, exact.pairs[0].high) == (-0.5, -0.5)
    assert exact.pairs[0].can_be_told
    widths = [
        paired_differences(values, interval=method).pairs[0].high
        for method in (StudentInterval(), ConfidenceSequence())
    ]
    assert -0.5 < widths[0] < widths[1]
    assert exact.interval == "exact"
    assert exact.groups == (("a",), ("b",))
    assert math.isnan(exact.pairs[0].p_value)


def test_groups_and_numbers_for_json() -> None:
    rng = np.random.default_rng(2)
    base = rng.integers(3, 7, 200).astype(float)
    values = {"worse": base + 1 + (rng.random(200) < 0.5), "a": base, "b": base[::-1]}
    found = paired_differences(values)
    assert found.groups == ((*sorted(found.ranking[:2], key=found.ranking.index),), ("worse",))
    assert found.differ("worse", "a")
    assert found.differ("a", "worse")
    alone = paired_differences({"a": [3.0]})
    assert (alone.ranking, alone.pairs, alone.groups) == (("a",), (), (("a",),))
    single = paired_differences({"a": [3.0], "b": [4.0]}).pairs[0].as_dict()
    assert (single["standard_error"], single["low"], single["can_be_told"]) == (None, None, False)
    assert str(found.pairs[0]).startswith(f"{found.ranking[0]} - {found.ranking[1]}: ")


def test_wrong_values_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="at least one strategy"):
        paired_differences({})
    with pytest.raises(InvalidArgumentError, match=r"numbers of b; .*same games, got 1 of a, 0"):
        paired_differences({"a": [1.0], "b": []})
    with pytest.raises(InvalidArgumentError, match="confidence between 0 and 1"):
        paired_differences({"a": [1.0]}, confidence=1.0)
    with pytest.raises(InvalidArgumentError, match="among a, got a and x"):
        paired_differences({"a": [1.0]}).between("a", "x")


@given(
    arrays.arrays(
        np.float64,
        st.tuples(st.integers(2, 30), st.integers(1, 3)),
        elements=st.floats(-1e3, 1e3).map(lambda x: round(x, 3)),
    ),
    st.data(),
)
@settings(max_examples=examples(50), deadline=None)
def test_moments_in_batches_are_those_of_all_at_once(table: Floats, data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(table) - 1))
    found = Moments.of(table[:cut]).plus(table[cut:])
    assert found.n == len(table)
    assert found.means == pytest.approx(table.mean(axis=0), abs=1e-9)
    assert found.sds == pytest.approx(table.std(axis=0, ddof=1), abs=1e-6)
    same = Moments.of(table[:1])
    for _ in range(5):
        same = same.plus(table[:1])
    assert same.sds.tolist() == [0.0] * table.shape[1]


@given(tables)
@settings(max_examples=examples(30), deadline=None)
def test_running_differences_are_those_of_all_games(table: Floats) -> None:
    looks = ConfidenceSequence(first=2, first_nonzero=3)
    running = RunningDifferences(strategies=table.shape[1], interval=looks)
    assert not running.suffice(NarrowEnough(1e9))
    for row in table:
        running = running.plus(row[None])
    names = "abcd"[: table.shape[1]]
    found = paired_differences(dict(zip(names, table.T, strict=True)), interval=looks)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    between = [found.between(*pair) for pair in pairs]
    assert running.means == pytest.approx([one.mean for one in between], abs=1e-12)
    halves = running.half_widths()
    for half, one in zip(halves, between, strict=True):
        assert half == pytest.approx((one.high - one.low) / 2, rel=1e-6)
    assert running.suffice(AllTold()) == all(one.can_be_told for one in between)
    widest = max(halves)
    if math.isfinite(widest):
        assert running.suffice(NarrowEnough(widest))
        assert not running.suffice(NarrowEnough(widest * 0.999))


def test_wrong_rules_are_refused() -> None:
    for margin in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(InvalidArgumentError, match="margin to be a finite number above 0"):
            NarrowEnough(margin)
    with pytest.raises(InvalidArgumentError, match="a whole number of at least 2, got 1"):
        RunningDifferences(strategies=1)
    with pytest.raises(InvalidArgumentError, match="confidence"):
        RunningDifferences(strategies=2, confidence=2.0)
    with pytest.raises(InvalidArgumentError, match=r"rows of 2 values, got shape \(1, 3\)"):
        RunningDifferences(strategies=2).plus([[1, 2, 3]])
    with pytest.raises(InvalidArgumentError, match="finite observations"):
        Moments.of([[math.nan]])
    with pytest.raises(InvalidArgumentError, match="2 series, got 1"):
        Moments.of([[1.0, 2.0]]).plus([[1.0]])


def test_a_comparison_knows_how_its_games_were_chosen() -> None:
    channel = Channel.exact(Board(2, 4))
    players: list[Strategy] = [RandomCode(), Knuth()]
    sampled = compare(players, channel, games=40)
    assert sampled.differences().interval == "Student's t"
    assert sampled.differences(interval=ConfidenceSequence()).interval == "confidence sequence"
    guesses = {n: [r.guesses for r in sampled.rows_of(n)] for n in sampled.strategies}
    assert sampled.differences(confidence=0.9) == paired_differences(guesses, confidence=0.9)
    won = sampled.differences(lambda row: row.won)
    assert won.means == (1.0, 1.0)
    assert not compare(players, channel, games=None).exhaustive  # one of them plays at random
    every = compare([Knuth()], channel, games=None)
    assert every.exhaustive
    assert every.differences().interval == "exact"
    noisy = Channel.false_reply(Board(2, 4), 0.2)
    assert not compare([Knuth()], noisy, games=None).exhaustive
    with pytest.raises(InvalidArgumentError, match="finite numbers of random"):
        sampled.differences(lambda row: math.nan)
