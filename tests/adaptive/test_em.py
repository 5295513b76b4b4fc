"""EM against a slow twin: single steps, extrapolated ones, how many are taken, where they end."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    Bounds,
    Dina,
    Gdina,
    Independent,
    ItemBank,
    Learned,
    LearningOptions,
    NoisyAnd,
    Priors,
    ResponseModel,
    Responses,
    Saturated,
    learn,
)
from bnmind.adaptive.learning.em import BankAscent, Expected, Parameters
from bnmind.adaptive.learning.learn import LearningModel
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.fitting.em import Place, climb, expected_steps, extrapolation
from bnmind.information import Floats
from tests.banks import banks
from tests.modes import examples

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
WIDE = Bounds((0.0, 1.0), (0.0, 1.0))


# A twin of EM for DINA with a saturated distribution, in plain loops.


@dataclass
class Twin:
    """Guesses, slips and the distribution of the profiles, as lists of Python's numbers."""

    guess: list[float]
    slip: list[float]
    profiles: list[float]

    def row(self) -> list[float]:
        """Guess and slip of each item, then the profiles."""
        pairs = [x for pair in zip(self.guess, self.slip, strict=True) for x in pair]
        return [*pairs, *self.profiles]

    @classmethod
    def of(cls, row: Sequence[float], n_items: int) -> Twin:
        pairs = list(row[: 2 * n_items])
        return cls(pairs[::2], pairs[1::2], list(row[2 * n_items :]))


@dataclass
class TwinProblem:
    """Responses (None where there is none) to items of a Q-matrix."""

    answers: list[list[int | None]]
    q: list[list[int]]
    low: float
    high: float
    priors: Priors = field(default_factory=Priors)

    def chance(self, at: Twin, item: int, profile: tuple[int, ...], answer: int) -> float:
        able = all(s >= n for s, n in zip(profile, self.q[item], strict=True))
        right = 1 - at.slip[item] if able else at.guess[item]
        return right if answer else 1 - right

    @property
    def all_profiles(self) -> list[tuple[int, ...]]:
        return list(itertools.product((0, 1), repeat=len(self.q[0])))

    def posterior(self, at: Twin, row: list[int | None]) -> tuple[list[float], float]:
        found = []
        for profile, share in zip(self.all_profiles, at.profiles, strict=True):
            chance = share
            for item, answer in enumerate(row):
                if answer is not None:
                    chance *= self.chance(at, item, profile, answer)
            found.append(chance)
        return [c / sum(found) for c in found], sum(found)

    def likelihood(self, at: Twin) -> float:
        return sum(math.log(self.posterior(at, row)[1]) for row in self.answers)

    def objective(self, at: Twin) -> float:
        found = self.likelihood(at)
        for x, (a, b) in [(x, self.priors.guess) for x in at.guess] + [
            (x, self.priors.slip) for x in at.slip
        ]:
            for weight, value in ((a - 1, x), (b - 1, 1 - x)):
                found += weight * math.log(value) if weight else 0.0
        if self.priors.skills > 1:
            found += (self.priors.skills - 1) * sum(math.log(p) for p in at.profiles)
        return found

    def step(self, at: Twin) -> Twin:
        posteriors = [self.posterior(at, row)[0] for row in self.answers]
        guess, slip = [], []
        (a, b), (c, d) = self.priors.guess, self.priors.slip
        for item, needs in enumerate(self.q):
            right, total = [a - 1, d - 1], [a + b - 2, c + d - 2]
            for row, posterior in zip(self.answers, posteriors, strict=True):
                answer = row[item]
                if answer is None:
                    continue
                for profile, share in zip(self.all_profiles, posterior, strict=True):
                    able = all(s >= n for s, n in zip(profile, needs, strict=True))
                    total[able] += share
                    right[able] += share * answer
            low = min(max(right[0] / total[0], self.low), self.high)
            high = min(max(right[1] / total[1], 1 - self.high), 1 - self.low)
            if low > high:
                low = high = sum(right) / sum(total)
            guess.append(low)
            slip.append(1 - high)
        weight = self.priors.skills - 1
        sums = [weight + sum(p[i] for p in posteriors) for i in range(len(self.all_profiles))]
        return Twin(guess, slip, [s / sum(sums) for s in sums])

    def extrapolated(self, zero: Twin, one: Twin, two: Twin) -> Twin:
        theta, first, second = zero.row(), one.row(), two.row()
        r = [b - a for a, b in zip(theta, first, strict=True)]
        v = [c - b - x for b, c, x in zip(first, second, r, strict=True)]
        length = math.sqrt(sum(x * x for x in r)) / math.sqrt(sum(x * x for x in v))
        alpha = -min(max(length, 1.0), 1000.0)
        far = [t - 2 * alpha * x + alpha**2 * y for t, x, y in zip(theta, r, v, strict=True)]
        found = Twin.of(far, len(self.q))
        for mine, known in ((found.guess, two.guess), (found.slip, two.slip)):
            for item, value in enumerate(mine):
                inside = min(max(value, self.low), self.high)
                mine[item] = known[item] if inside <= 0 or inside >= 1 else inside
        if any(g + s > 1 + 1e-12 for g, s in zip(found.guess, found.slip, strict=True)):
            found.guess, found.slip = two.guess, two.slip
        known = two.profiles
        kept = [p if p > 0 else k / 2 for p, k in zip(found.profiles, known, strict=True)]
        found.profiles = [p / sum(kept) for p in kept]
        return found

    def accelerated(self, start: Twin, most: int) -> tuple[list[float], Twin, int, float]:
        """Return the objectives of what was kept, the last of it, how often the responses were
        gone through after the start, and by how much the closest decision was made."""
        at, steps, found = start, 0, [self.objective(start)]
        margin = math.inf
        while steps < most:
            one = self.step(at)
            steps += 1
            found.append(self.objective(one))
            if most - steps < 2:
                at = one
                continue
            two = self.step(one)
            far = self.extrapolated(at, one, two)
            steps += 1
            margin = min(margin, abs(self.objective(far) - found[-1]))
            if self.objective(far) < found[-1]:
                far = two
                steps += 1
            at = far
            found.append(self.objective(at))
        return found, at, steps, margin


@st.composite
def problems(draw: st.DrawFn) -> tuple[TwinProblem, LearningOptions]:
    """Return responses of a few examinees, and how to learn from them."""
    q = [[1, 0], [0, 1], [1, 1]]
    n_items, n = draw(st.integers(2, 3)), draw(st.integers(2, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    codes = rng.integers(0, 2, (n, n_items)).tolist()
    answers: list[list[int | None]] = [list(row) for row in codes]
    if draw(st.booleans()):
        answers[0][0] = None
    low, high = draw(st.sampled_from([(0.0, 1.0), (0.05, 0.4)]))
    priors = draw(st.sampled_from([Priors(), Priors((2.0, 3.0), (1.5, 4.0), 1.5)]))
    q_used = q[:n_items]
    options = LearningOptions(
        bounds=Bounds((low, high), (low, high)),
        priors=priors,
        tolerance=0.0,
        least_chance=0.0,
        starts=1,
        monotone=True,
    )
    return TwinProblem(answers, q_used, low, high, priors), options


def learned(problem: TwinProblem, options: LearningOptions) -> Learned:
    codes = [[-1 if a is None else a for a in row] for row in problem.answers]
    return learn(codes, problem.q, options=options)


def started(problem: TwinProblem) -> Twin:
    n_profiles = 2 ** len(problem.q[0])
    n = len(problem.q)
    bounds = (problem.low, problem.high)
    guess, slip = (float(np.clip(x, *bounds)) for x in (0.2, 0.2))
    return Twin([guess] * n, [slip] * n, [1 / n_profiles] * n_profiles)


def rows_of(found: Learned) -> list[float]:
    items, skills = found.parameters
    guesses, rights = np.concatenate(items).reshape(-1, 2).T
    return [*np.stack([guesses, 1 - rights], axis=1).reshape(-1), *skills[0].reshape(-1).tolist()]


@settings(max_examples=examples(30))
@given(problems(), st.integers(1, 5))
def test_each_plain_step_is_that_of_the_twin(
    drawn: tuple[TwinProblem, LearningOptions], n_steps: int
) -> None:
    problem, options = drawn
    plain = replace(options, max_iterations=n_steps, accelerate=False)
    found = learned(problem, plain)
    at, objectives = started(problem), [problem.objective(started(problem))]
    for _ in range(found.record.steps):
        at = problem.step(at)
        objectives.append(problem.objective(at))
    kept = len(found.record.objectives)
    assert kept in (len(objectives), len(objectives) - 1)  # the last may lead nowhere
    np.testing.assert_allclose(found.record.objectives, objectives[:kept], rtol=0, atol=1e-10)
    if kept == len(objectives):
        np.testing.assert_allclose(rows_of(found), at.row(), rtol=0, atol=1e-12)
        assert found.log_likelihood == pytest.approx(problem.likelihood(at), abs=1e-10)


@settings(max_examples=examples(40))
@given(problems(), st.integers(2, 9))
def test_the_accelerated_sequence_is_that_of_the_twin(
    drawn: tuple[TwinProblem, LearningOptions], n_steps: int
) -> None:
    problem, options = drawn
    found = learned(problem, replace(options, max_iterations=n_steps))
    try:
        objectives, at, steps, margin = problem.accelerated(started(problem), n_steps)
    except ZeroDivisionError:
        reject()  # at the end after a single step: nothing to extrapolate
    assume(margin > 1e-9)  # else rounding decides what is kept
    if found.record.converged:
        # The twin goes on where nothing is left to gain.
        assert found.record.objectives[-1] == pytest.approx(max(objectives), abs=1e-8)
        return
    assert found.record.steps == steps == n_steps
    np.testing.assert_allclose(found.record.objectives, objectives, rtol=0, atol=1e-8)
    np.testing.assert_allclose(rows_of(found), at.row(), rtol=0, atol=1e-6)


# Ascents so small that every number is known beforehand.


@dataclass
class Line:
    """Numbers that go a share of the way to 0 in each step; counts what is asked of it."""

    shares: Floats
    """How much of each number is left after a step."""
    objective: Callable[[Floats], float]
    at_calls: int = 0
    step_calls: int = 0

    def at(self, parameters: Floats) -> Place[Floats]:
        self.at_calls += 1
        value = self.objective(parameters)
        if value == -math.inf:
            raise ImpossibleEvidenceError("expected another place", {})

        def improved() -> Floats:
            self.step_calls += 1
            return parameters * self.shares

        return Place(parameters, value, value, improved)

    def numbers(self, parameters: Floats) -> Floats:
        return parameters

    def within(self, numbers: Floats, known: Floats) -> Floats:
        return numbers


def line(*shares: float) -> Line:
    return Line(np.array(shares), lambda x: -float(x @ x))


def test_an_extrapolation_ends_where_a_line_does() -> None:
    """One number that keeps nine tenths of itself: α = −10, and θ′ = 1 − 2 + 1 = 0."""
    first, second, third = (np.array([x]) for x in (1.0, 0.9, 0.81))
    assert extrapolation(first, second, third) == pytest.approx(0.0, abs=1e-12)
    found = climb(line(0.9), np.array([1.0]), max_iterations=50, tolerance=1e-12, accelerate=True)
    assert found.steps == 3
    assert found.converged
    assert found.objectives[:3] == pytest.approx((-1.0, -0.81, 0.0))


def test_an_extrapolation_is_as_long_as_the_steps_say() -> None:
    """r = (−0.1, −0.5), v = (0.01, 0.25): |r| / |v| = 2.038, and θ − 2αr + α²v by hand."""
    one, two, three = np.array([1.0, 1.0]), np.array([0.9, 0.5]), np.array([0.81, 0.25])
    alpha = math.sqrt(0.26) / math.sqrt(0.0626)
    expected = [1 - 2 * alpha * 0.1 + alpha**2 * 0.01, 1 - 2 * alpha * 0.5 + alpha**2 * 0.25]
    np.testing.assert_allclose(extrapolation(one, two, three), expected, rtol=1e-12)


def test_an_extrapolation_is_never_shorter_than_the_two_steps_nor_without_end() -> None:
    growing = [np.array([x]) for x in (0.0, 1.0, 3.0)]
    assert extrapolation(*growing).tolist() == [3.0]
    even = [np.array([x]) for x in (0.0, 1.0, 2.0 - 1e-9)]
    assert extrapolation(*even)[0] == pytest.approx(2000.0, rel=1e-3)
    still = [np.array([x]) for x in (0.0, 1.0, 2.0)]
    assert extrapolation(*still).tolist() == [2.0]


@pytest.mark.parametrize("reason", ["lower", "impossible", "no number"])
def test_an_extrapolation_that_loses_is_not_kept(reason: str) -> None:
    """Beyond 0.5 everything is bad: the climb takes the second of the two steps instead."""
    bad = {"lower": -9.0, "impossible": -math.inf, "no number": math.nan}[reason]
    ascent = Line(np.array([0.9]), lambda x: -float(x[0] ** 2) if x[0] > 0.5 else bad)
    found = climb(ascent, np.array([1.0]), max_iterations=6, tolerance=0.0, accelerate=True)
    assert found.steps == 6
    assert found.objectives == pytest.approx([-(0.9 ** (2 * k)) for k in range(5)])
    assert found.parameters == pytest.approx(0.9**4)
    assert not found.converged


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("n_steps", [*range(1, 13)])
@pytest.mark.parametrize("shares", [(0.9,), (0.9, 0.5, 0.99), (0.999, 0.2)])
def test_never_more_steps_are_taken_than_asked_for(
    n_steps: int, accelerate: bool, shares: tuple[float, ...]
) -> None:
    ascent = line(*shares)
    found = climb(
        ascent,
        np.ones(len(shares)),
        max_iterations=n_steps,
        tolerance=1e-13,
        accelerate=accelerate,
    )
    assert ascent.at_calls == found.steps + 1
    assert ascent.step_calls <= found.steps
    assert found.steps == n_steps or (found.converged and found.steps < n_steps)
    if not accelerate:
        assert found.parameters == pytest.approx(np.array(shares) ** n_steps)
        assert len(found.objectives) == n_steps + 1


@pytest.mark.parametrize(("tolerance", "steps"), [(0.2, 1), (0.16, 2), (0.1, 5)])
def test_a_climb_ends_with_the_first_step_that_gains_too_little(
    tolerance: float, steps: int
) -> None:
    """Gains of 0.19, 0.1539, 0.1247, 0.1010 and 0.0818."""
    found = climb(
        line(0.9),
        np.array([1.0]),
        max_iterations=99,
        tolerance=tolerance,
        accelerate=False,
    )
    assert found.converged
    assert found.steps == steps
    assert found.parameters == pytest.approx(0.9**found.steps)


def test_the_steps_left_are_estimated_from_the_gains() -> None:
    told: list[tuple[int, int]] = []
    found = climb(
        line(0.9),
        np.array([1.0]),
        max_iterations=10_000,
        tolerance=1e-9,
        accelerate=False,
        progress=lambda done, total: told.append((done, total)),
    )
    assert found.converged
    assert told[:2] == [(0, 10_000), (1, 10_000)]
    # The gains of this ascent are geometric, so the estimate is right at once.
    assert {abs(total - found.steps) <= 2 for _, total in told[2:]} == {True}


@pytest.mark.parametrize(
    ("gains", "tolerance"),
    [([], 0.1), ([1.0], 0.1), ([1.0, 0.0], 0.1), ([1.0, -1.0], 0.1), ([1.0, 0.5], 0.0)],
)
def test_steps_are_not_estimated_without_gains(gains: list[float], tolerance: float) -> None:
    assert expected_steps(gains, 5, tolerance, 77) == 77


def test_a_step_that_gains_nothing_ends_the_climb() -> None:
    found = climb(line(1.0), np.array([1.0]), max_iterations=9, tolerance=0.0, accelerate=True)
    assert (found.steps, found.converged, found.objectives) == (1, True, (-1.0, -1.0))


def test_the_step_after_an_extrapolation_that_lost_may_end_the_climb() -> None:
    """Gains of 0.19 and 0.1539 about a place beyond which everything is bad."""
    ascent = Line(np.array([0.9]), lambda x: -float(x[0] ** 2) if x[0] > 0.5 else -9.0)
    found = climb(ascent, np.array([1.0]), max_iterations=99, tolerance=0.16, accelerate=True)
    assert (found.steps, found.converged) == (3, True)
    assert found.parameters == pytest.approx(0.81)


def test_a_step_that_leads_down_ends_the_climb_where_it_was() -> None:
    down = Line(np.array([2.0]), lambda x: -float(x @ x))
    found = climb(down, np.array([1.0]), max_iterations=99, tolerance=0.0, accelerate=True)
    assert (found.parameters.tolist(), found.objectives) == ([1.0], (-1.0,))
    assert 1 < found.steps < 99  # the step and its halves
    assert not found.converged


# The climb of a bank.


def hard_case() -> tuple[Floats, list[list[int]]]:
    """Return responses to items with so much chance in them that EM is slow."""
    q = [[1, 0], [0, 1], [1, 1]] * 3
    bank = ItemBank.from_qmatrix(q, 0.35, 0.3, skills=Saturated([0.4, 0.1, 0.1, 0.4]))
    return np.array(Responses.drawn(bank, 400, seed=8).codes), q


def test_acceleration_saves_more_than_four_of_five_steps_where_em_is_slow() -> None:
    codes, q = hard_case()
    plain, fast = (
        learn(
            codes,
            q,
            options=LearningOptions(accelerate=yes, tolerance=1e-10, starts=1, least_chance=0.0),
        )
        for yes in (False, True)
    )
    assert plain.record.converged
    assert fast.record.converged
    assert plain.record.steps > 500
    assert fast.record.steps * 5 < plain.record.steps
    assert fast.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-4)
    np.testing.assert_allclose(rows_of(fast), rows_of(plain), rtol=0, atol=5e-3)
    for found in (plain, fast):
        assert np.diff(found.record.objectives).min() >= 0


@pytest.mark.parametrize("gate", [Dina, NoisyAnd, Gdina])
@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("n_steps", [1, 2, 3, 4, 10])
def test_learning_takes_at_most_max_iterations_steps(
    gate: type[ResponseModel], accelerate: bool, n_steps: int
) -> None:
    codes, q = hard_case()
    options = LearningOptions(max_iterations=n_steps, tolerance=0.0, accelerate=accelerate)
    found = learn(codes, q, gate=gate, skills=Independent(), options=options)
    assert found.record.steps == n_steps
    assert not found.record.converged
    if not accelerate:
        assert len(found.record.log_likelihoods) == n_steps + 1


@settings(max_examples=examples(25))
@given(st.integers(0, 2**16), st.booleans(), st.sampled_from([Dina, NoisyAnd, Gdina]))
def test_the_likelihood_recorded_last_is_that_of_the_parameters_returned(
    seed: int, accelerate: bool, gate: type[ResponseModel]
) -> None:
    codes = np.random.default_rng(seed).integers(0, 2, (12, 6))
    options = LearningOptions(
        max_iterations=7, accelerate=accelerate, priors=Priors((1.5, 2.0), (1.5, 2.0), 1.2)
    )
    found = learn(codes, Q, gate=gate, options=options)
    expectation = found.model.expectation(found.responses, options)
    place = BankAscent(found.model.layout, (found.model.skills,), (expectation,)).at(
        found.parameters
    )
    assert place.log_likelihood == pytest.approx(found.record.log_likelihoods[-1], abs=1e-9)
    assert place.objective == pytest.approx(found.record.objectives[-1], abs=1e-9)
    assert found.record.objectives[-1] == max(found.record.objectives)


@settings(max_examples=examples(60))
@given(
    banks(max_skills=3),
    st.integers(0, 2**16),
    st.sampled_from([WIDE, Bounds((0.05, 0.4), (0.1, 0.3)), Bounds((0.25, 0.25), (0.0, 0.5))]),
    st.floats(-1.5, 1.5),
)
def test_whatever_is_extrapolated_obeys_bounds_and_order(
    bank: ItemBank, seed: int, bounds: Bounds, width: float
) -> None:
    options = LearningOptions(bounds=bounds)
    model = LearningModel.of(bank, options)
    ascent = BankAscent(model.layout, (model.skills,), (_never,))
    known = model.start(0, options)
    numbers = ascent.numbers(known)
    same = ascent.within(numbers, known)
    for mine, other in zip(same.items, known.items, strict=True):
        np.testing.assert_array_equal(mine, other)
    noise = np.random.default_rng(seed).normal(size=len(numbers))
    flat = np.concatenate([table.reshape(-1) for table in known.skills])
    noise[len(numbers) - len(flat) :] *= flat > 0  # no step moves what is impossible
    items, tables = ascent.within(numbers + width * noise, known)
    for block, values, other in zip(model.layout.blocks, items, known.items, strict=True):
        low, high = block.limits.T
        assert np.all((values >= low) & (values <= high))
        assert block.valid(values) or values is other
        assert np.all(values[(low == 0) & (other > 0)] > 0)
        assert np.all(values[(high == 1) & (other < 1)] < 1)
    for table, other in zip(tables, known.skills, strict=True):
        np.testing.assert_allclose(table.sum(axis=0), 1, atol=1e-12)
        np.testing.assert_array_equal(table > 0, other > 0)


def _never(response_parameters: Floats, tables: tuple[Floats, ...]) -> Expected:
    raise AssertionError


def test_numbers_within_bounds_are_kept_as_they_are() -> None:
    options = LearningOptions(bounds=WIDE)
    model = LearningModel.of(ItemBank.from_qmatrix(Q, 0.2, 0.1), options)
    ascent = BankAscent(model.layout, (model.skills,), (_never,))
    known = model.start(0, options)
    wanted = Parameters(
        (np.linspace(0.02, 0.45, 12),), (np.array([0.1, 0.2, 0.3, 0.4]).reshape(-1),)
    )
    found = ascent.within(ascent.numbers(wanted), known)
    np.testing.assert_allclose(ascent.numbers(found), ascent.numbers(wanted), atol=1e-15)


@pytest.mark.parametrize("gate", [Dina, NoisyAnd, Gdina])
def test_priors_of_what_is_fixed_do_not_count(gate: type[ResponseModel]) -> None:
    """A density of zero at a guess of zero made every step as good as any other."""
    codes, q = hard_case()
    options = LearningOptions(
        bounds=Bounds(guess=(0.0, 0.0)), priors=Priors(guess=(2.0, 5.0)), monotone=True
    )
    found = learn(codes, q, gate=gate, skills=Independent(), options=options)
    assert np.isfinite(found.record.objectives).all()
    assert found.record.converged
    assert found.record.objectives[-1] > found.record.objectives[0]


@pytest.mark.parametrize("name", ["guess", "slip"])
def test_bounds_of_probabilities_end_at_one(name: str) -> None:
    assert Bounds(**{name: (0.5, 1.0)}) != Bounds()
    for pair in ((0.0, 1.5), (-0.1, 0.5), (0.6, 0.5)):
        with pytest.raises(InvalidArgumentError, match=f"for the {name}, got"):
            Bounds(**{name: pair})
