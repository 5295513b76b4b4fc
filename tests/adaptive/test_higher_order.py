"""Skills that depend on one ability, and hierarchies: their distributions, and learning them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from bnmind.adaptive import (
    Gdina,
    Hierarchy,
    HigherOrder,
    Independent,
    ItemBank,
    LearningOptions,
    MaximalItems,
    MinimalEntropy,
    Responses,
    Saturated,
    coefficients,
    learn,
    read_bank,
    simulate,
    write_bank,
)
from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.pgm import Variable

Q = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 4 + [[1, 1, 0], [0, 1, 1]]
TRUTH = HigherOrder(intercepts=(-0.5, 0.0, 0.7), slopes=(2.0, 1.0, 1.5))


def drawn(n: int = 400, seed: int = 1) -> Responses:
    bank = ItemBank.from_qmatrix(Q, 0.15, 0.1, skills=TRUTH)
    return Responses(np.array(Responses.drawn(bank, n, seed=seed).codes), bank.item_names)


def test_the_distribution_is_that_of_the_formula() -> None:
    skills = [Variable.of_integers(name, range(2)) for name in "ab"]
    theta, a, b = HigherOrder((0.5, -1.0), (1.0, 2.0), n_points=9).cpds(skills)
    points = np.linspace(-4, 4, 9)
    assert [float(state) for state in theta.variable.states] == points.tolist()
    assert float(theta.to_factor().values @ points**2) == pytest.approx(1, abs=0.01)
    for cpd, (intercept, slope) in ((a, (0.5, 1.0)), (b, (-1.0, 2.0))):
        expected = 1 / (1 + np.exp(-intercept - slope * points))
        np.testing.assert_allclose(np.real(cpd.to_factor().values)[1], expected, atol=1e-12)
    assert type(pickle.loads(pickle.dumps(a))) is type(a)


def joint_of(x: Floats, n_points: int = 15) -> Floats:
    """Return the probability of each of 8 profiles; x: three intercepts, then slopes."""
    points = np.linspace(-4, 4, n_points)
    weights = np.exp(-(points**2) / 2)
    slopes = np.broadcast_to(x[3:], (3,))
    chances = 1 / (1 + np.exp(-x[:3, None] - slopes[:, None] * points))
    joint = np.zeros((2, 2, 2))
    for place in np.ndindex(2, 2, 2):
        each = [c if level else 1 - c for level, c in zip(place, chances, strict=True)]
        joint[place] = float((weights / weights.sum() * np.prod(each, axis=0)).sum())
    return joint.reshape(-1)


@pytest.mark.parametrize("one_slope", [False, True])
def test_learning_reaches_what_a_general_solver_does(one_slope: bool) -> None:
    """Items are fixed at the truth; the marginal likelihood is maximized directly."""
    data = drawn()
    start = ItemBank.from_qmatrix(Q, 0.15, 0.1, skills=HigherOrder(one_slope=one_slope))
    options = LearningOptions(fixed=frozenset(start.item_names), tolerance=1e-10)
    found = learn(data, start, options=options)
    assert found.record.converged
    assert np.diff(found.record.objectives).min() >= -1e-9
    assert found.n_parameters == (4 if one_slope else 6)
    profiles = np.array(list(np.ndindex(2, 2, 2)))
    able = (profiles[:, None, :] >= np.array(Q)[None]).all(axis=2)
    right = np.where(able, 0.9, 0.15)
    each = np.where(data.codes[:, None, :] == 1, right[None], 1 - right[None])
    likely = each.prod(axis=2)

    def minus(x: Floats) -> float:
        return -float(np.log(likely @ joint_of(x)).sum())

    n = 4 if one_slope else 6
    solve: Any = minimize
    slow = solve(minus, np.ones(n), method="L-BFGS-B", bounds=[(-15, 15)] * 3 + [(0, 10)] * (n - 3))
    assert found.log_likelihood == pytest.approx(-slow.fun, abs=1e-4)


def test_structures_are_nested_and_parameters_are_counted() -> None:
    data = drawn()
    fits = [
        learn(data, Q, skills=skills)
        for skills in (Independent(), HigherOrder(one_slope=True), HigherOrder(), Saturated())
    ]
    logs = [fit.log_likelihood for fit in fits]
    assert np.diff(logs).min() >= -1e-3
    assert [fit.n_parameters - 2 * len(Q) for fit in fits] == [3, 4, 6, 7]
    assert min(fits, key=lambda fit: fit.bic) is not fits[0]


def test_the_truth_is_found_again_with_standard_errors() -> None:
    data = drawn(3000, 2)
    found = learn(data, Q, skills=HigherOrder())
    errors = coefficients(found)
    assert all(np.isfinite(p.error) for p in errors.rows)
    free = coefficients(learn(data, Q))
    for one, other in zip(errors.rows, free.rows, strict=True):
        assert one.error == pytest.approx(other.error, rel=0.1)
    skill = found.bank.network.cpd("skill_1")
    table = np.real(skill.to_factor().values)
    odds = np.log(table[1] / table[0])
    slopes = np.diff(odds) / (8 / 14)
    np.testing.assert_allclose(slopes, slopes[0], atol=1e-6)  # it is logistic
    assert slopes[0] == pytest.approx(2.0, abs=0.5)
    assert odds[7] == pytest.approx(-0.5, abs=0.2)


def test_banks_with_an_ability_serve_in_tests_and_files(tmp_path: Path) -> None:
    found = learn(drawn(150), Q, skills=HigherOrder())
    path = tmp_path / "bank.json"
    write_bank(found.bank, path)
    bank = read_bank(path)
    assert bank.skills == ("skill_1", "skill_2", "skill_3")
    assert [v.name for v in bank.hidden][-1] == "ability"
    people = Responses.drawn(bank, 50, seed=1)
    result = simulate(bank, people, {"entropy": MinimalEntropy()}, MaximalItems(3))
    assert result.mean("entropy", "pattern_accuracy")[0][-1] > 0.3


def test_levels_above_the_first_are_steps() -> None:
    q = [[1, 1], [2, 0], [0, 1]] * 3
    truth = ItemBank.from_qmatrix(q, 0.1, 0.1, levels=[3, 2], skills=HigherOrder())
    data = Responses.drawn(truth, 200, seed=2).codes
    found = learn(data, q, skills=HigherOrder(), gate=Gdina)
    assert np.diff(found.record.objectives).min() >= -1e-7
    assert found.model.skills.n_parameters == 2 * 3


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: HigherOrder(slopes=-1.0), "slopes to be a finite number of at least 0"),
        (lambda: HigherOrder(n_points=1), "n_points to be a whole number from 2 to 1,000"),
        (lambda: ItemBank.from_qmatrix(Q, skills=HigherOrder((1.0, 2.0))), "expected 3 intercepts"),
    ],
)
def test_wrong_parameters_are_refused(make: object, says: str) -> None:
    with pytest.raises(InvalidModelError, match=says):
        make()  # type: ignore[operator]


def test_a_saturated_hierarchy_has_the_allowed_profiles_and_no_others() -> None:
    chain = Hierarchy({"skill_2": ("skill_1",), "skill_3": ("skill_2",)}, saturated=True)
    found = learn(drawn(), Q, skills=chain)
    allowed = {(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)}
    for place in np.ndindex(2, 2, 2):
        assert (found.profiles[place] > 0) == (place in allowed)
    assert found.n_parameters == 2 * len(Q) + 3
    loose = Hierarchy({"skill_3": ("skill_1",)}, saturated=True)
    by_skill = Hierarchy({"skill_3": ("skill_1",)})
    fits = [learn(drawn(), Q, skills=s) for s in (by_skill, loose, Saturated())]
    assert np.diff([fit.log_likelihood for fit in fits]).min() >= -1e-3
    assert [fit.n_parameters - 2 * len(Q) for fit in fits] == [3, 5, 7]
    many = [Variable.of_integers(f"s{n}", range(2)) for n in range(20)]
    with pytest.raises(TooLargeError):
        Hierarchy(saturated=True).cpds(many)
