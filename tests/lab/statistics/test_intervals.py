"""Intervals: against scipy, a slow twin of the sequence, and their coverage when one peeks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from bnmind.errors import InvalidArgumentError
from bnmind.lab import (
    ConfidenceSequence,
    ExactMean,
    IntervalMethod,
    Moments,
    NormalInterval,
    StudentInterval,
)
from tests.registries import check_value

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
