"""Learned chances stay off 0 and 1, so that no answer in a test is impossible."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from bnmind.adaptive import (
    Bounds,
    Dina,
    Dino,
    Gdina,
    Graded,
    GradedResponse,
    Independent,
    ItemBank,
    LearningOptions,
    NoisyAnd,
    NoisyOr,
    Priors,
    ResponseModel,
    Responses,
    Saturated,
    Sequential,
    beliefs_given,
    irt_bank,
    learn,
)
from bnmind.adaptive.learning.blocks import ItemBlock, ItemRule
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.pgm import Variable
from tests.modes import examples

Q = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]] * 3
TRUTH = ItemBank.from_qmatrix(Q, 0.05, 0.05, skills=Saturated(np.full(8, 1 / 8)))
FEW = np.array(Responses.drawn(TRUTH, 12, seed=2).codes)
OTHERS = np.array(Responses.drawn(TRUTH, 400, seed=3).codes)
LEAST, ROUNDING = 1e-4, 1e-15


def cells(bank: ItemBank) -> Floats:
    """Return the chances of all responses to all items."""
    return np.concatenate([bank.channel(name).reshape(-1) for name in bank.item_names])


@pytest.mark.parametrize("gate", [Dina, Dino, Gdina])
@pytest.mark.parametrize("monotone", [True, False])
def test_every_chance_is_kept_off_zero_and_one(gate: type[ResponseModel], monotone: bool) -> None:
    free = LearningOptions(least_chance=0.0, monotone=monotone, starts=2)
    assert cells(learn(FEW, Q, gate=gate, options=free).bank).min() < LEAST
    found = learn(FEW, Q, gate=gate, options=LearningOptions(monotone=monotone, starts=2))
    assert cells(found.bank).min() >= LEAST - ROUNDING
    assert cells(found.bank).max() <= 1 - LEAST
    more = LearningOptions(monotone=monotone, starts=2, least_chance=0.02)
    assert cells(learn(FEW, Q, gate=gate, options=more).bank).min() == pytest.approx(0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    "gate",
    [
        NoisyAnd,
        NoisyOr,
        lambda guess, slip: NoisyAnd(guess, slip, 0.9),
        lambda guess, slip: NoisyOr(guess, slip, 0.1),
    ],
)
def test_guesses_slips_and_leaks_of_noisy_gates_are_too(gate: Callable[..., ResponseModel]) -> None:
    found = learn(FEW, Q, gate=gate)
    for item in found.bank.items:
        assert isinstance(item.gate, NoisyAnd | NoisyOr)
        edge = item.gate.ceiling if isinstance(item.gate, NoisyAnd) else item.gate.floor
        parameters = [item.gate.guess, item.gate.slip]
        parameters += [edge] if edge not in (0.0, 1.0) else []
        assert min(map(float, parameters)) >= LEAST - ROUNDING  # type: ignore[arg-type]
        assert max(map(float, parameters)) <= 1 - LEAST  # type: ignore[arg-type]
    assert cells(found.bank).min() >= LEAST * (1 - 1e-6)


def test_nobody_else_answers_what_the_bank_holds_impossible() -> None:
    """Of 400 others, some refute the bank that the likelihood alone makes of twelve."""
    free = learn(FEW, Q, options=LearningOptions(least_chance=0.0)).bank
    with pytest.raises(ImpossibleEvidenceError, match="no profile of the skills explains"):
        beliefs_given(free, OTHERS)
    assert beliefs_given(learn(FEW, Q).bank, OTHERS).log_evidence.min() > -50


STEPS = Sequential((Dina(0.2, 0.2), Dina(0.2, 0.2)))
TABLE = Gdina(np.full((2, 3), 1 / 3))
UNUSED = [[0, 2, 0], [2, 0, 2], [2, 2, 2], [0, 0, 0], [2, 0, 0]] * 2
"""Responses to three items with three responses each, of which nobody gives the second."""


@pytest.mark.parametrize(
    "bank",
    [
        ItemBank.from_response_models([[1]] * 3, [STEPS] * 3),
        ItemBank.from_response_models([[1]] * 3, [TABLE] * 3),
        ItemBank.from_response_models([[1]] * 3, [Graded(1.0, (-0.5, 0.5))] * 3),
        ItemBank.from_response_models([[1]] * 3, [Graded(1.0, (0.0, 0.0))] * 3),
        irt_bank([GradedResponse(1.0, (-0.5, 0.5))] * 3),
    ],
    ids=["steps", "table", "graded", "graded without a gap", "response"],
)
def test_a_response_that_nobody_gave_stays_possible(bank: ItemBank) -> None:
    codes = Responses(np.array(UNUSED), bank.item_names)
    found = learn(codes, bank, options=LearningOptions(max_iterations=30)).bank
    # Each of the two steps is kept off; the tails of a curve come closer without reaching zero.
    assert cells(found).min() > (0 if found.skills == ("ability",) else LEAST**2 * (1 - 1e-6))
    best = max(found.channel(name)[:, 1].max() for name in found.item_names)
    assert LEAST / 4 < best < 0.03
    free = LearningOptions(max_iterations=30, least_chance=0.0)
    assert cells(learn(codes, bank, options=free).bank).min() < 1e-6


@pytest.mark.parametrize("gate", [Dina, Gdina, NoisyAnd])
def test_bounds_that_fix_a_chance_at_zero_hold(gate: type[ResponseModel]) -> None:
    options = LearningOptions(bounds=Bounds(guess=(0.0, 0.0)))
    codes = np.minimum(FEW, 1)
    found = learn(codes, Q, gate=gate, skills=Independent(), options=options)
    assert {item.guess for item in found.items} == {0.0}
    assert min(item.slip for item in found.items) >= LEAST - ROUNDING
    one = LearningOptions(bounds={"item_1": Bounds(slip=(0.0, 0.0))})
    found = learn(codes, Q, gate=gate, skills=Independent(), options=one)
    assert found.items[0].slip == 0.0
    assert min(item.slip for item in found.items[1:]) >= LEAST - ROUNDING


def test_bounds_and_the_least_chance_hold_together() -> None:
    options = LearningOptions(bounds=Bounds((0.0, 0.3), (0.1, 0.3)))
    found = learn(FEW, Q, options=options)
    guesses, slips = ([getattr(i, what) for i in found.items] for what in ("guess", "slip"))
    assert LEAST - ROUNDING <= min(guesses) <= max(guesses) <= 0.3 + ROUNDING
    assert 0.1 - ROUNDING <= min(slips) <= max(slips) <= 0.3 + ROUNDING
    # A chance that may not be free is no parameter.
    assert found.n_parameters == 2 * len(Q) + 7


@pytest.mark.parametrize("least", [-0.1, 0.5, 2.0, float("nan")])
def test_a_least_chance_out_of_range_is_refused(least: float) -> None:
    with pytest.raises(InvalidArgumentError, match="least_chance to be a number in"):
        LearningOptions(least_chance=least)


def most_likely(
    right: Floats, total: Floats, bounds: Bounds, least: float, *, monotone: bool
) -> Floats:
    """Return the chances that the M-step of a table finds."""
    parents = [Variable.of_integers(f"skill {k}", range(n)) for k, n in enumerate(right.shape)]
    table = Gdina(np.full((right.size, 2), 0.5))
    rule = ItemRule(
        name="item",
        model=table,
        parents=tuple(parents),
        channel=table.probabilities,
        bounds=bounds,
        least=least,
    )
    block = ItemBlock((rule,), Priors(), monotone)
    counts = np.stack([total - right, right], axis=-1).reshape(1, -1, 2)
    values = block.start()
    for _ in range(3):
        values = block.maximize(values, counts)
    return values.reshape(right.shape)


def expected(chance: Floats, right: Floats, total: Floats) -> float:
    """Return what the chances should be the maximum of."""
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = right * np.log(chance), (total - right) * np.log(1 - chance)
    return float(sum(np.where(np.isnan(part), 0.0, part).sum() for part in parts))


@settings(max_examples=examples(80))
@example((2, 2), 29, (0.0, 1.0), (0.0, 1.0), True)  # the lowest chance rises to the clipped ones
@example((2, 3), 26, (0.1, 0.4), (0.6, 0.9), True)  # a mean of equal chances is rounded down
@given(
    st.sampled_from([(2,), (3,), (2, 2), (2, 3)]),
    st.integers(0, 2**16),
    st.sampled_from([(0.0, 1.0), (0.1, 0.4), (0.0, 0.0), (0.25, 0.25)]),
    st.sampled_from([(0.0, 1.0), (0.6, 0.9), (1.0, 1.0)]),
    st.booleans(),
)
def test_no_chances_within_bounds_and_order_are_more_likely(
    shape: tuple[int, ...],
    seed: int,
    low: tuple[float, float],
    high: tuple[float, float],
    monotone: bool,
) -> None:
    rng = np.random.default_rng(seed)
    total = rng.uniform(0.1, 5, shape)
    right = total * np.round(rng.random(shape), 1)
    inside = (0.02, 0.98)
    first, last = (0,) * len(shape), (-1,) * len(shape)

    def obeys(table: Floats) -> bool:
        between = table.copy()
        between[first] = between[last] = 0.5
        falls = any(np.diff(table, axis=a).min() < -1e-12 for a in range(table.ndim))
        return bool(
            low[0] <= table[first] <= low[1]
            and high[0] <= table[last] <= high[1]
            and between.min() >= inside[0]
            and between.max() <= inside[1]
            and not (monotone and falls)
        )

    bounds = Bounds(low, (1 - high[1], 1 - high[0]))
    found = most_likely(right, total, bounds, inside[0], monotone=monotone)
    assert obeys(found)
    best = expected(found, right, total)
    others = 0
    for _ in range(300):
        other = np.clip(found + rng.normal(0, rng.choice([0.3, 0.03, 0.003]), shape), *inside)
        other[first], other[last] = np.clip(other[first], *low), np.clip(other[last], *high)
        if monotone:
            for axis in range(other.ndim):
                other = np.maximum.accumulate(other, axis=axis)
        if obeys(other):
            others += 1
            assert expected(other, right, total) <= best + 1e-7
    assert others > 0


def solved(right: np.ndarray, total: np.ndarray, limits: np.ndarray) -> float:
    """Return the largest log-likelihood of monotone chances, by a general solver."""
    shape = right.shape
    n = right.size
    low, high = np.full(n, 1e-9), np.full(n, 1 - 1e-9)
    low[0], high[0] = np.clip(limits[0], 1e-9, 1 - 1e-9)
    low[-1], high[-1] = np.clip(limits[1], 1e-9, 1 - 1e-9)
    pairs = []
    for place in product(*map(range, shape)):
        for axis in range(len(shape)):
            if place[axis] + 1 < shape[axis]:
                above = list(place)
                above[axis] += 1
                a, b = (int(np.ravel_multi_index(p, shape)) for p in (place, tuple(above)))
                pairs.append((a, b))
    y, m = right.reshape(-1), total.reshape(-1)

    def negative(p: np.ndarray) -> float:
        q = np.clip(p, 1e-9, 1 - 1e-9)
        return -float(y @ np.log(q) + (m - y) @ np.log(1 - q))

    found = minimize(  # type: ignore[call-overload]
        negative,
        np.linspace(0.45, 0.55, n),
        bounds=list(zip(low, high, strict=True)),
        constraints=[{"type": "ineq", "fun": lambda p, a=a, b=b: p[b] - p[a]} for a, b in pairs],
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    reached = found.x.reshape(shape)
    for axis in range(len(shape)):  # the solver may stop where the order does not quite hold
        reached = np.maximum.accumulate(reached, axis=axis)
    return -negative(reached.reshape(-1))


@settings(max_examples=examples(40))
@given(
    st.sampled_from([(2,), (4,), (2, 2), (3, 2), (2, 2, 2)]),
    st.integers(0, 9999),
    st.sampled_from([((0.0, 1.0), (0.0, 1.0)), ((0.0, 0.3), (0.6, 1.0)), ((0.1, 0.6), (0.4, 1.0))]),
    st.sampled_from([0.0, 0.5]),
)
def test_monotone_chances_are_as_likely_as_those_of_a_general_solver(
    shape: tuple[int, ...],
    seed: int,
    bounds: tuple[tuple[float, float], tuple[float, float]],
    empty: float,
) -> None:
    rng = np.random.default_rng(seed)
    total = rng.uniform(1, 20, shape)
    total[rng.random(shape) < empty] = 0.0
    right = total * rng.uniform(0.05, 0.95, shape)
    limits = np.array([*bounds, (0.0, 1.0)])
    (guess, (low, high)) = bounds
    p = most_likely(right, total, Bounds(guess, (1 - high, 1 - low)), 0.0, monotone=True)
    assert all(np.all(np.diff(p, axis=axis) >= -1e-12) for axis in range(p.ndim))
    assert limits[0, 0] - 1e-12 <= p.reshape(-1)[0] <= limits[0, 1] + 1e-12
    assert limits[1, 0] - 1e-12 <= p.reshape(-1)[-1] <= limits[1, 1] + 1e-12
    q = np.clip(p, 1e-9, 1 - 1e-9)
    ours = float((right * np.log(q) + (total - right) * np.log(1 - q)).sum())
    assert ours >= solved(right, total, limits) - 1e-4
