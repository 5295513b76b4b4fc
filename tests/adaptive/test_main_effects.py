"""A-CDM, LLM, RRUM, leaky noisy-or, NIDA and NIDO: their formulas, and learning them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, minimize

from bnmind.adaptive import (
    Acdm,
    Bounds,
    Dina,
    Dino,
    Gdina,
    ItemBank,
    LeakyOr,
    Learned,
    LearningOptions,
    Llm,
    Nida,
    Nido,
    NoisyAnd,
    Priors,
    ResponseModel,
    Responses,
    Rrum,
    Saturated,
    Sequential,
    learn,
)
from bnmind.adaptive.formulas import COMPLEMENTARY, IDENTITY, LOG, LOGIT, LinkFunction, binary
from bnmind.adaptive.learning.forms import Form, Polytope, ascended, objective
from bnmind.adaptive.learning.learn import LearningModel
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.information import Floats
from tests.modes import examples

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1], [1, 1]]
KINDS: list[type[ResponseModel]] = [Acdm, Llm, Rrum, LeakyOr, Nida, Nido]
CHANCES: dict[type[ResponseModel], Callable[[float], float]] = {
    Acdm: lambda e: e,
    Llm: lambda e: 1 / (1 + math.exp(-e)),
    Nido: lambda e: 1 / (1 + math.exp(-e)),
    Rrum: math.exp,
    Nida: math.exp,
    LeakyOr: lambda e: 1 - math.exp(-e),
}
LINKS = [IDENTITY, LOGIT, LOG, COMPLEMENTARY]


def odds(x: float) -> float:
    return float(1 / (1 + np.exp(-x)))


@pytest.mark.parametrize(
    ("model", "chances"),
    [
        (Acdm(0.1, (0.3, 0.5)), [0.1, 0.6, 0.4, 0.9]),
        (Llm(-2.0, (1.0, 2.5)), [odds(-2), odds(0.5), odds(-1), odds(1.5)]),
        (Rrum(0.9, (0.5, 0.2)), [0.09, 0.45, 0.18, 0.9]),
        (LeakyOr(0.1, (0.5, 0.8)), [0.1, 1 - 0.9 * 0.2, 1 - 0.9 * 0.5, 1 - 0.9 * 0.5 * 0.2]),
        (Nida((0.2, 0.5), (0.1, 0.3)), [0.1, 0.14, 0.45, 0.63]),
        (Nido((-1.0, 0.5), (2.0, 1.0)), [odds(-0.5), odds(0.5), odds(1.5), odds(2.5)]),
    ],
)
def test_the_formulas_are_those_of_the_literature(
    model: ResponseModel, chances: list[float]
) -> None:
    bank = ItemBank.from_response_models([[1, 1]], [model])
    np.testing.assert_allclose(bank.channel("item_1")[:, 1], chances, rtol=0, atol=1e-12)


def test_required_levels_decide_which_skills_count() -> None:
    bank = ItemBank.from_qmatrix([[2, 1]], 0.1, 0.1, gate=Acdm, levels=[3, 2])
    expected = [0.1, 0.5, 0.1, 0.5, 0.5, 0.9]
    np.testing.assert_allclose(bank.channel("item_1")[:, 1], expected, atol=1e-12)


@pytest.mark.parametrize("kind", [Acdm, Llm, Rrum, LeakyOr, Gdina])
def test_banks_from_a_q_matrix_have_the_guess_and_the_slip(kind: type[ResponseModel]) -> None:
    bank = ItemBank.from_qmatrix(Q, 0.25, 0.15, gate=kind)
    for item in bank.item_names:
        assert bank.channel(item)[[0, -1], 1] == pytest.approx([0.25, 0.85])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Acdm(0.5, (0.3, 0.4)), "sums of effects in"),
        (lambda: Rrum(0.9, (0.0,)), "above 0"),
        (lambda: Rrum(0.9, (1.2,)), "products"),
        (lambda: LeakyOr(1.0, (0.2,)), r"leak to be a number in \[0, 1\)"),
        (lambda: Nida((0.4, 0.4), (0.7, 0.1)), "at most 1"),
        (lambda: Nida((0.0,), (0.1,)), r"guess to be .* in \(0, 1\]"),
        (lambda: Nido((0.0, 1.0), (1.0,)), "as many intercepts as effects"),
        (lambda: ItemBank.from_qmatrix([[1]], guess=0.0, gate=Llm), "above 0 and below 1"),
        (lambda: ItemBank.from_response_models([[1, 1]], [Acdm(0.1, (0.2,))]), "effects of 2"),
    ],
)
def test_wrong_parameters_are_refused(make: Callable[[], object], says: str) -> None:
    with pytest.raises(InvalidModelError, match=says):
        make()


# The M-step against a general solver of constrained problems.


def slow_maximum(form: Form, start: Floats, counts: Floats) -> float:
    """Return the largest expected log-likelihood of one problem that SLSQP finds."""
    scale, polytope = max(float(counts.sum()), 1.0), form.polytope

    def minus(x: Any) -> float:
        return -float(objective(form, x[None], counts)[0][0]) / scale

    limits: Any = LinearConstraint(polytope.rows, polytope.least[0], np.inf)
    found: Any = minimize(
        minus, start, method="SLSQP", constraints=[limits], options={"ftol": 1e-12}
    )
    inside = bool(np.all(polytope.rows @ found.x >= polytope.least[0] - 1e-9))
    return -scale * min(minus(start), float(found.fun) if inside else math.inf)


@settings(max_examples=examples(25))
@example(LOG, 1, False, 0, 1.0)  # the way to the boundary is long, and the curvature flat
@given(
    st.sampled_from(LINKS),
    st.integers(1, 3),
    st.booleans(),
    st.integers(0, 2**16),
    st.sampled_from([1.0, 1e-2]),
)
def test_no_general_solver_finds_a_better_m_step(
    link: LinkFunction, n: int, rises: bool, seed: int, full: float
) -> None:
    rng = np.random.default_rng(seed)
    cells = np.array(list(itertools.product((0.0, 1.0), repeat=n)))
    design = np.column_stack([np.ones(len(cells)), cells])
    low, high = link.of(np.array([1e-4, 1 - 1e-4]))
    rows = np.concatenate([design, -design, *([np.eye(n + 1)[1:]] if rises else [])])
    least = np.repeat([low, -high, 0.0], [len(design), len(design), n if rises else 0])
    form = Form(binary(link), design[:, None], Polytope(rows, least[None]))
    # Few examinees, and chances that tend to fall: many optima are on the boundary.
    counts = rng.gamma(0.5, 20, (1, len(cells), 2)) * (rng.random((1, len(cells), 2)) < 0.8) * full
    start = np.array([[float(link.of(np.array(0.3))), *[0.0] * n]])
    found = start
    for _ in range(5):  # from far away one M-step takes more than its most Newton steps
        found = ascended(form, found, counts)
    assert form.polytope.holds(found, tolerance=1e-8).all()
    reached = float(objective(form, found, counts)[0][0])
    slow = slow_maximum(form, start[0], counts)
    assert reached >= slow - 1e-5 * max(counts.sum(), 1.0)


# Learning as a whole.


def drawn(kind: type[ResponseModel], n: int, seed: int) -> Responses:
    skills = Saturated([0.3, 0.15, 0.15, 0.4])
    truth = ItemBank.from_qmatrix(Q, 0.2, 0.15, gate=kind, skills=skills)
    return Responses(np.array(Responses.drawn(truth, n, seed=seed).codes), truth.item_names)


def observed(kind: type[ResponseModel], codes: Floats, x: Floats) -> float:
    """Return the log-likelihood of responses in plain loops; x: skills, then items' coefficients.

    The parameters of the skills are the logarithms of the profiles' weights.
    """
    weights = np.exp(x[:4] - x[:4].max())
    profiles = weights / weights.sum()
    rest = x[4:]
    chances = np.empty((len(Q), 4))
    for item, needs in enumerate(Q):
        skills = np.flatnonzero(needs)
        if kind in (Nida, Nido):
            coefficients = np.concatenate([rest[skills], rest[2 + skills]])
        else:
            coefficients, rest = rest[: 1 + len(skills)], rest[1 + len(skills) :]
        for place, profile in enumerate(itertools.product((0, 1), repeat=2)):
            has = [profile[skill] for skill in skills]
            if kind in (Nida, Nido):
                n = len(skills)
                eta = sum(coefficients[k] + has[k] * coefficients[n + k] for k in range(n))
            else:
                eta = coefficients[0] + sum(
                    h * e for h, e in zip(has, coefficients[1:], strict=True)
                )
            chances[item, place] = CHANCES[kind](float(eta))
    chances = np.clip(chances, 1e-9, 1 - 1e-9)
    likely = np.prod(np.where(codes[:, :, None] == 1, chances[None], 1 - chances[None]), axis=1)
    return float(np.log(likely @ profiles).sum())


def flat(found: Learned) -> Floats:
    """Return the learned parameters in the order of `observed`."""
    items, tables = found.parameters
    with np.errstate(divide="ignore"):
        logs = np.maximum(np.log(tables[0].reshape(-1)), -30.0)
    blocks = found.model.layout.blocks
    by_item: dict[str, list[float]] = {name: [] for name in found.bank.item_names}
    for block, values in zip(blocks, items, strict=True):
        if len(blocks) == 1 and len(values) == 4:
            return np.concatenate([logs, values])
        for name, own in zip(block.names, block.own, strict=True):
            by_item[name] += values[own].tolist()
    return np.array([*logs, *itertools.chain(*by_item.values())])


@pytest.mark.parametrize("kind", KINDS)
def test_the_end_is_an_optimum_of_the_likelihood_itself(kind: type[ResponseModel]) -> None:
    """A general solver on the log-likelihood of the responses, from the end and near it."""
    data = drawn(kind, 150, 2)
    options = LearningOptions(tolerance=1e-10)
    found = learn(data, Q, gate=kind, options=options)
    x = flat(found)
    codes = data.codes.astype(np.float64)
    assert observed(kind, codes, x) == pytest.approx(found.log_likelihood, abs=1e-6)
    near = x + 0.02 * np.random.default_rng(1).normal(size=len(x))
    solve: Any = minimize
    for start in (x, near):
        better = solve(
            lambda y: -observed(kind, codes, y) / len(data),
            start,
            method="L-BFGS-B",
            bounds=limits_of(found),
            options={"maxiter": 40},
        )
        assert -better.fun * len(data) <= found.log_likelihood + 0.02


def limits_of(found: Learned) -> list[tuple[float, float]]:
    """Return limits in the order of `observed`, which is that of the items."""
    by_item: dict[str, list[Any]] = {name: [] for name in found.bank.item_names}
    for block in found.model.layout.blocks:
        if block.shared:
            return [(-30.0, 30.0)] * 4 + [tuple(pair) for pair in block.limits.tolist()]
        for name, own in zip(block.names, block.own, strict=True):
            by_item[name] += [tuple(pair) for pair in block.limits[own].tolist()]
    return [(-30.0, 30.0)] * 4 + list(itertools.chain(*by_item.values()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("monotone", [True, False])
def test_no_step_loses_likelihood(kind: type[ResponseModel], monotone: bool) -> None:
    data = drawn(Gdina, 60, 5)
    for accelerate, priors in ((True, Priors()), (False, Priors((2.0, 3.0), (1.5, 4.0)))):
        options = LearningOptions(
            priors=priors,
            monotone=monotone,
            accelerate=accelerate,
            max_iterations=25,
            starts=2,
            bounds=Bounds((0.0, 0.4), (0.0, 0.5)),
        )
        found = learn(data, Q, gate=kind, options=options)
        assert np.diff(found.record.objectives).min(initial=0.0) >= -1e-7
        for item in found.bank.item_names:
            chances = found.bank.channel(item)[:, 1]
            assert chances.min() >= 1e-4 - 1e-9
            assert chances.max() <= 1 - 1e-4 + 1e-9
            assert chances[0] <= 0.4 + 1e-8
            assert chances[-1] >= 0.5 - 1e-8
            if monotone:
                table = chances.reshape((2,) * len(found.bank.cause(item)))
                for axis in range(table.ndim):
                    assert np.diff(table, axis=axis).min() >= -1e-9


def test_special_cases_do_not_fit_better() -> None:
    """DINA, DINO, NIDA ⊂ RRUM, NIDO ⊂ LLM, and all ⊂ G-DINA; counts of parameters too."""
    data = drawn(Gdina, 300, 3)
    options = LearningOptions(tolerance=1e-9)
    kinds: list[type[ResponseModel]] = [Dina, Dino, Gdina, *KINDS]
    found = {kind: learn(data, Q, gate=kind, options=options) for kind in kinds}
    fit = {kind: one.log_likelihood for kind, one in found.items()}
    for kind in (Dina, Dino, Acdm, Llm, Rrum, LeakyOr):
        assert fit[kind] <= fit[Gdina] + 1e-4
    assert fit[Nida] <= fit[Rrum] + 1e-4
    assert fit[Nido] <= fit[Llm] + 1e-4
    # 3 of the profiles; of 4 items with one skill and 3 with two: 2, K + 1, 2 ** K each.
    counts = {kind: one.n_parameters - 3 for kind, one in found.items()}
    assert counts[Dina] == counts[Dino] == 14
    assert counts[Acdm] == counts[Llm] == counts[Rrum] == counts[LeakyOr] == 4 * 2 + 3 * 3
    assert counts[Gdina] == 4 * 2 + 3 * 4
    assert counts[Nida] == counts[Nido] == 4


@pytest.mark.parametrize("kind", [Acdm, Llm, Rrum, LeakyOr])
def test_with_one_skill_for_each_item_all_models_are_the_same(kind: type[ResponseModel]) -> None:
    q = [[1, 0], [0, 1]] * 3
    data = Responses.drawn(ItemBank.from_qmatrix(q, 0.2, 0.1), 200, seed=4).codes
    options = LearningOptions(tolerance=1e-10)
    reached = [learn(data, q, gate=gate, options=options) for gate in (Dina, kind)]
    assert reached[0].log_likelihood == pytest.approx(reached[1].log_likelihood, abs=1e-5)
    assert reached[0].n_parameters == reached[1].n_parameters


def test_a_noisy_and_for_each_skill_is_an_rrum() -> None:
    """Π g^(1−α) (1−s)^α = Π (1−s) · Π (g / (1−s))^(1−α); the second has fewer parameters."""
    both = ItemBank.from_response_models(
        [[1, 1]] * 2,
        [NoisyAnd((0.2, 0.4), (0.1, 0.3)), Rrum(0.9 * 0.7, (0.2 / 0.9, 0.4 / 0.7))],
    )
    np.testing.assert_allclose(both.channel("item_1"), both.channel("item_2"), atol=1e-12)


def test_fixed_guesses_are_kept_and_not_counted() -> None:
    data = drawn(Acdm, 100, 6)
    free = learn(data, Q, gate=Acdm)
    options = LearningOptions(bounds=Bounds(guess=(0.25, 0.25)))
    found = learn(data, Q, gate=Acdm, options=options)
    for item in found.bank.item_names:
        assert found.bank.channel(item)[0, 1] == pytest.approx(0.25, abs=1e-8)
    assert found.n_parameters == free.n_parameters - len(Q)
    options = LearningOptions(bounds=Bounds(slip=(0.1, 0.1)))
    found = learn(data, Q, gate=Rrum, options=options)
    assert found.n_parameters == free.n_parameters - len(Q)
    assert found.bank.channel("item_3")[-1, 1] == pytest.approx(0.9, abs=1e-8)


@pytest.mark.parametrize("gate", [Dina, Rrum, Llm, Nida])
def test_several_starts_do_not_end_lower(gate: type[ResponseModel]) -> None:
    data = drawn(Gdina, 80, 9)
    options = LearningOptions(starts=3, max_iterations=60)
    found = learn(data, Q, gate=gate, options=options)
    assert len(found.record.starts) == 3
    assert found.record.objectives[-1] >= found.record.starts[0] - 1e-4


def test_contradicting_bounds_are_refused() -> None:
    options = LearningOptions(bounds=Bounds((0.7, 0.8), (0.7, 0.8)), monotone=True)
    with pytest.raises(InvalidArgumentError, match="at most 1"):
        learn(drawn(Acdm, 20, 1), Q, gate=Acdm, options=options)


def test_items_of_nida_hold_the_same_parameters_and_fixed_ones_their_own() -> None:
    data = drawn(Nida, 200, 7)
    options = LearningOptions(fixed=frozenset({"item_1"}))
    found = learn(data, Q, gate=Nida, options=options)
    gates = [item.gate for item in found.bank.items]
    assert all(isinstance(gate, Nida) for gate in gates)
    assert {gate.guess for gate in (gates[2], gates[5], gates[6])} == {gates[2].guess}  # type: ignore[union-attr]
    assert gates[3].guess[0] == gates[2].guess[0]  # type: ignore[union-attr]
    assert gates[0] == Nida((0.2,), (0.2,))
    again = learn(data, found.bank, options=options)
    assert again.log_likelihood == pytest.approx(found.log_likelihood, abs=1e-5)


def test_steps_of_a_sequential_item_may_be_of_any_kind() -> None:
    models = [Sequential((Rrum(0.9, (0.3, 0.4)), Acdm(0.2, (0.3, 0.3))))] * 4
    truth = ItemBank.from_response_models([[1, 1]] * 4, models)
    data = np.array(Responses.drawn(truth, 200, seed=1).codes)
    found = learn(data, truth, options=LearningOptions(max_iterations=30))
    assert np.diff(found.record.objectives).min() >= -1e-7
    assert found.n_parameters == 3 + 4 * 6
    gate = found.bank.item("item_1").gate
    assert isinstance(gate, Sequential)
    assert isinstance(gate.steps[0], Rrum)


def test_steps_along_a_boundary_do_not_drift_outside() -> None:
    half = Polytope(np.array([[1.0, 0.0]]), np.array([[0.0]]))
    point = np.array([[0.0, 0.0]])
    for _ in range(100):
        step = np.array([[-1.0, 1.0]])
        point = point + half.reach(point, step)[:, None] * step
    assert -2e-10 <= point[0, 0] <= 0
    assert half.reach(np.array([[1.0, 0.0]]), np.array([[-4.0, 0.0]])) == pytest.approx(0.25)


@pytest.mark.parametrize(("kind", "published"), [(Rrum, 69), (Gdina, 87)])
def test_parameters_are_counted_as_in_cdm(kind: type[ResponseModel], published: int) -> None:
    """Npars of `anova` in the documentation of CDM's data.melab, 20 items and 4 skills.

    Both figures together leave one answer to how many items need 1, 2 and 3 skills: 8, 10 and 2.
    """
    rows = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]] * 2
    rows += [[1, 1, 0, 0], [0, 0, 1, 1]] * 5 + [[1, 1, 1, 0], [0, 1, 1, 1]]
    bank = ItemBank.from_qmatrix(rows, 0.2, 0.2, gate=kind)
    assert LearningModel.of(bank, LearningOptions()).n_parameters == published
