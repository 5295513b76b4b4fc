"""Statistics: against scipy, against slow and obvious twins, and their coverage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import optimize, stats

from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.lab import (
    AllTold,
    ConfidenceSequence,
    ExactMean,
    IntervalMethod,
    Moments,
    NarrowEnough,
    NormalInterval,
    RunningDifferences,
    StudentInterval,
    compare,
    comparison_groups,
    holm,
    paired_differences,
    rank_sum_groups,
    signed_rank_p_value,
)
from bnmind.mastermind import Board, Channel
from bnmind.strategies import Knuth, RandomCode, Strategy
from tests.modes import examples
from tests.registries import check_value

# --- Intervals: against scipy, a slow twin of the sequence, and their coverage when one peeks -----


METHODS: list[IntervalMethod] = [
    ConfidenceSequence(),
    ExactMean(),
    NormalInterval(),
    StudentInterval(),
]
errors = st.floats(1e-6, 0.5)


@given(st.integers(2, 10**6), errors)
def test_factors_are_the_quantiles_of_scipy(n: int, error: float) -> None:
    root = math.sqrt(n)
    student = stats.t.isf(error / 2, n - 1) / root
    assert StudentInterval().factor(n, error) == pytest.approx(student, rel=1e-8)
    assert NormalInterval().factor(n, error) == pytest.approx(stats.norm.isf(error / 2) / root)


@given(st.integers(2, 10**5), errors, st.integers(1, 10**4))
def test_the_sequence_ends_where_the_mixture_martingale_is_large(
    n: int, error: float, narrowest_at: int
) -> None:
    """By Ville's inequality the martingale ever exceeds 1/α with probability at most α."""
    looks = ConfidenceSequence(narrowest_at, first=2)
    twice = -2 * math.log(error)
    rho_squared = (twice + math.log(twice + 1)) / narrowest_at

    def log_mixture(mean: float) -> float:
        # The integral of exp(λS - nλ²/2) over λ ~ N(0, ρ²), S = n·mean, by its closed form.
        spread = n * rho_squared + 1
        return (n * mean) ** 2 * rho_squared / (2 * spread) - math.log(spread) / 2

    found = optimize.brentq(lambda mean: log_mixture(mean) + math.log(error), 0, 1e3)
    assert looks.factor(n, error) == pytest.approx(found, rel=1e-6)


def test_the_closed_form_of_the_mixture_is_its_integral() -> None:
    n, rho, mean = 20, 0.3, 0.4
    grid = np.linspace(-6 * rho, 6 * rho, 20001)
    integrand = np.exp(grid * n * mean - n * grid**2 / 2) * stats.norm.pdf(grid, scale=rho)
    spread = n * rho**2 + 1
    closed = math.exp((n * mean * rho) ** 2 / (2 * spread)) / math.sqrt(spread)
    assert np.trapezoid(integrand, grid) == pytest.approx(closed, rel=1e-6)


def test_the_sequence_is_narrowest_where_it_says() -> None:
    for at in (300, 3000):
        factors = {about: ConfidenceSequence(about).factor(at, 0.05) for about in (300, 1000, 3000)}
        assert min(factors, key=lambda about: factors[about]) == at


def moments_of(n: int) -> Moments:
    """Return the moments of n observations with the standard deviation 1, and of equal ones."""
    return Moments(n, [0.5, 0.0], [n - 1, 0.0], [n, 0])  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method(method: IntervalMethod) -> None:
    check_value(method)
    exact = method == ExactMean()
    widths = [method.half_widths(moments_of(n), 0.05) for n in range(1, 1000, 37)]
    factors = [float(width[0]) for width in widths]
    assert factors == sorted(factors, reverse=True)
    assert {float(width[1]) for width in widths} == {0.0 if exact else math.inf}
    assert factors[0] == (0 if exact else math.inf)
    wide, narrow = (method.half_widths(moments_of(500), error)[0] for error in (0.01, 0.05))
    assert wide >= narrow >= 0
    for error in (0.0, 1.0, math.nan):
        with pytest.raises(InvalidArgumentError, match="probability of error"):
            method.half_widths(moments_of(10), error)
    if isinstance(method, StudentInterval | NormalInterval | ConfidenceSequence):
        assert method.half_widths(moments_of(400), 0.05)[0] == method.factor(400, 0.05)
        with pytest.raises(InvalidArgumentError, match="at least one observation, got 0"):
            method.factor(0, 0.05)


def test_wrong_sequences_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"narrowest_at .* got 0; .* first .* got 1; "):
        ConfidenceSequence(0, 1, 0)


USUAL = {-3: 0.02, -1: 0.12, 0: 0.66, 1: 0.12, 2: 0.06, 5: 0.02}
"""The chances of differences as those of good players: skewed, and most of them zero."""

RARE = {0: 0.98, 1: 0.02}
"""Of players that choose the same guesses in nearly all games."""


def missed(
    method: StudentInterval | ConfidenceSequence,
    chances: dict[int, float],
    looks: range,
    runs: int,
) -> float:
    """Return how often an interval misses the mean at some look."""
    rng = np.random.default_rng(1)
    values = np.array(list(chances), dtype=np.float64)
    mean = values @ list(chances.values())
    n = np.array(looks)
    factors = np.array([method.factor(number, 0.05) for number in looks])
    wrong = 0
    for _ in range(runs):
        games = rng.choice(values, size=looks[-1], p=list(chances.values()))
        sums, squares, nonzero = (np.cumsum(part)[n - 1] for part in (games, games**2, games != 0))
        halves = factors * np.sqrt((squares - sums**2 / n) / (n - 1))
        if isinstance(method, ConfidenceSequence):
            halves[nonzero < method.first_nonzero] = np.inf
        wrong += bool((np.abs(sums / n - mean) > halves).any())
    return wrong / runs


@pytest.mark.parametrize("chances", [USUAL, RARE], ids=["usual", "rare"])
def test_coverage_holds_if_one_looks_after_every_game(chances: dict[int, float]) -> None:
    looks = range(100, 4001)
    assert missed(ConfidenceSequence(), chances, looks, 800) <= 0.05
    # The test can tell: Student's interval does not hold if one looks again and again.
    assert missed(StudentInterval(), chances, looks, 100) > 0.2


def test_coverage_of_student_holds_for_a_number_chosen_in_advance() -> None:
    assert 0.03 < missed(StudentInterval(), USUAL, range(400, 401), 2000) < 0.07


# --- Holm's correction and the signed-rank test, against slow and obvious twins -------------------


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


# --- Rank-sum groups: against scipy's other test of ranks, and by hand ----------------------------


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


# --- Paired differences: against scipy pair by pair, and coverage of all intervals together -------


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
    single = paired_differences({"a": [3.0], "b": [4.0]}).pairs[0].to_dict()
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
