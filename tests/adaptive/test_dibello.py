"""DiBello models against the formulas of CPTtools, in plain loops and in its order."""

from __future__ import annotations

import math
from itertools import pairwise, product
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    Design,
    DiBello,
    ItemBank,
    MaximalItems,
    ResponseModel,
    Session,
    read_bank,
    write_bank,
)
from bnmind.adaptive.formulas import response_channel
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import Network, Variable
from tests.modes import examples

NORMAL = NormalDist()
COMBINATIONS = (
    *("compensatory", "conjunctive", "disjunctive"),
    *("offset-conjunctive", "offset-disjunctive"),
)


def combined(name: str, thetas: list[float], alphas: list[float], betas: list[float]) -> float:
    """Return the effective ability, as `Compensatory` and so on of CPTtools do."""
    if name.startswith("offset"):
        most = min if name.endswith("conjunctive") else max
        return alphas[0] * most(t - b for t, b in zip(thetas, betas, strict=True))
    each = [a * t for a, t in zip(alphas, thetas, strict=True)]
    if name == "compensatory":
        return sum(each) / math.sqrt(len(each)) - betas[0]
    return (min(each) if name == "conjunctive" else max(each)) - betas[0]


def linked(link: str, effective: list[float]) -> list[float]:
    """Return the chances from the best response to the worst, as CPTtools orders them."""
    if link == "partial-credit":
        weights = [math.exp(1.7 * sum(effective[r:])) for r in range(len(effective))] + [1.0]
        return [w / sum(weights) for w in weights]
    above, most = [0.0], 0.0
    for eta in effective:
        most = max(most, 1 / (1 + math.exp(-1.7 * eta)))
        above.append(most)
    above.append(1.0)
    return [b - a for a, b in pairwise(above)]


numbers = st.floats(-2, 2)
positive = st.floats(0.2, 2)


@settings(max_examples=examples(60))
@given(st.data())
def test_tables_are_those_of_cpttools(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    n_steps = data.draw(st.integers(1, 3))
    kinds = data.draw(
        st.lists(st.sampled_from(COMBINATIONS), min_size=n_steps, max_size=n_steps), "combinations"
    )
    link = data.draw(st.sampled_from(["partial-credit", "graded-response"]))
    k = len(sizes)
    offset = [kind.startswith("offset") for kind in kinds]
    slopes = [data.draw(st.tuples(*[positive] * (1 if own else k))) for own in offset]
    betas = [data.draw(st.tuples(*[numbers] * (k if own else 1))) for own in offset]
    model = DiBello(tuple(slopes), tuple(betas), tuple(kinds), link)
    parents = [Variable.of_integers(f"s{i}", range(n)) for i, n in enumerate(sizes)]
    channel = response_channel(model, parents)
    for row, levels in zip(channel, product(*map(range, sizes)), strict=True):
        thetas = [NORMAL.inv_cdf((2 * m + 1) / (2 * n)) for m, n in zip(levels, sizes, strict=True)]
        effective = [
            combined(kind, thetas, list(a), list(b))
            for kind, a, b in zip(kinds, slopes, betas, strict=True)
        ]
        expected = linked(link, effective[::-1])[::-1]
        np.testing.assert_allclose(row, expected, atol=1e-12)


def test_effective_abilities_and_combinations_are_those_of_the_tests_of_cpttools() -> None:
    """R. Almond, CPTtools, tests/testthat/test-Rules.R."""
    skills = [Variable.of_integers(name, range(3)) for name in "ab"]

    def effective(model: DiBello, parents: list[Variable]) -> Floats:
        """Return the effective abilities; that of skill a falls fastest, then that of skill b."""
        right = response_channel(model, parents)[:, 1]
        found: Floats = np.log(right / (1 - right)).reshape((3,) * len(parents)) / 1.7
        return np.flip(found.T).reshape(-1)

    alone = effective(DiBello(1.0, (0.0,)), skills[:1])
    np.testing.assert_allclose(alone, [0.9674, 0, -0.9674], atol=2e-4)
    unit, root = alone[0], math.sqrt(2.0)  # the test of CPTtools has the abilities 1, 0 and −1
    known = [
        ("compensatory", (root, root), (0,), (2, 1, 0, 1, 0, -1, 0, -1, -2)),
        ("compensatory", (root, root), (1,), (1, 0, -1, 0, -1, -2, -1, -2, -3)),
        ("compensatory", (2 * root, root), (0,), (3, 1, -1, 2, 0, -2, 1, -1, -3)),
        ("conjunctive", (1, 1), (0,), (1, 0, -1, 0, 0, -1, -1, -1, -1)),
        ("disjunctive", (1, 1), (0,), (1, 1, 1, 1, 0, 0, 1, 0, -1)),
        ("offset-conjunctive", (1,), (0, 0), (1, 0, -1, 0, 0, -1, -1, -1, -1)),
        ("offset-conjunctive", (1,), (1, 0), (0, -1, -2, 0, -1, -2, -1, -1, -2)),
        ("offset-conjunctive", (2,), (0, 0), (2, 0, -2, 0, 0, -2, -2, -2, -2)),
        ("offset-disjunctive", (1,), (0, 0), (1, 1, 1, 1, 0, 0, 1, 0, -1)),
    ]
    for combination, slopes, difficulty, expected in known:
        betas = tuple([unit * b for b in difficulty])
        model = DiBello((slopes,), (betas,), combination)
        np.testing.assert_allclose(
            effective(model, skills), unit * np.array(expected), atol=1e-12, err_msg=str(model)
        )
    # Without parents the effective ability is minus the difficulty.
    np.testing.assert_allclose(effective(DiBello(1.0, (-1.0,)), []), [1.0])


@given(positive, numbers, st.lists(st.floats(0, 3), min_size=1, max_size=3))
def test_dibello_samejima_is_calc_ds_table(
    slope: float, difficulty: float, increments: list[float]
) -> None:
    """P(X ≥ r) is logistic in 1.7 (η − d_r), d_r = Σ_{s < r} increments − half of their sum."""
    skill = Variable("skill", ("low", "medium", "high"))
    model = DiBello.samejima(slope, difficulty, tuple(increments))
    channel = response_channel(model, [skill])
    for row, level in zip(channel, range(3), strict=True):
        eta = slope * NORMAL.inv_cdf((2 * level + 1) / 6) - difficulty
        for r in range(len(increments) + 1):
            d = sum(increments[:r]) - sum(increments) / 2
            above = 1 / (1 + math.exp(-1.7 * (eta - d)))
            assert row[r + 1 :].sum() == pytest.approx(above, abs=1e-9)


def test_three_increments_are_those_of_the_tests_of_cpttools() -> None:
    """R. Almond, CPTtools, tests/testthat/test-DSLikelihoods.R: dinc = c(.3, .4, .3)."""
    model = DiBello.samejima(1.0, 0.0, (0.3, 0.4, 0.3))
    betas = [0.5, 0.2, -0.2, -0.5]  # rev(cumsum(c(0, .3, .4, .3))) - .5, the best response first
    assert model.difficulties == pytest.approx(betas[::-1])
    channel = response_channel(model, [Variable("S1", ("Low", "Medium", "High"))])
    for row, level in zip(channel, range(3), strict=True):
        theta = NORMAL.inv_cdf((2 * level + 1) / 6)
        expected = linked("graded-response", [theta - beta for beta in betas])
        np.testing.assert_allclose(row, expected[::-1], atol=1e-12)


def test_a_network_of_skills_and_items_is_built_from_an_experts_numbers(tmp_path: Path) -> None:
    levels = ("low", "medium", "high")
    general, part = Variable("general", levels), Variable("part", levels)
    skills = Network(
        (
            DiBello(1.0, (-0.5, 0.5)).cpd(general, ()),
            DiBello(0.8, (-0.5, 0.5)).cpd(part, [general]),
        )
    )
    models: list[ResponseModel] = [
        DiBello(1.0, (0.0,)),
        DiBello((1.0, 0.5), (-0.5, 0.5), link="graded-response"),
        DiBello(1.0, ((0.0, -1.0), 0.5), "offset-conjunctive"),
        DiBello(0.7, (0.2,)),
    ]
    needs = [[1, 0], [1, 1], [1, 1], [0, 1]]
    bank = ItemBank.from_response_models(
        needs, models, skills=skills, skill_names=["general", "part"]
    )
    write_bank(bank, tmp_path / "bank.json")
    again = read_bank(tmp_path / "bank.json")
    assert [item.gate for item in again.items] == models
    session = Session.start(Design(again, stopper=MaximalItems(3)))
    while not session.stop_reason:
        item = session.next_item()
        session = session.answer(item, len(again.responses(item)) - 1)
    assert session.belief.marginal("general")[2] > 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DiBello(-1.0, (0.0,)), "slopes to be a finite number above 0"),
        (lambda: DiBello((1.0, math.inf), (0.0,)), "slopes to be a finite number above 0 .* inf"),
        (lambda: DiBello(1.0, ()), "at least one difficulty"),
        (lambda: DiBello(1.0, (0.0,), ("conjunctive",) * 2), "1 combination"),
        (lambda: DiBello(((1.0,), (1.0,)), (0.0,)), "slopes for 1 response"),
        (lambda: DiBello.samejima(1.0, 0.0, (-1.0,)), "increments of at least 0"),
        (
            lambda: DiBello.samejima(1.0, 0.0, combination="offset-conjunctive"),
            "without offsets",
        ),
    ],
)
def test_wrong_numbers_are_refused(make: object, message: str) -> None:
    with pytest.raises(InvalidModelError, match=message):
        make()  # type: ignore[operator]


def test_unknown_combinations_in_files_are_refused() -> None:
    record: dict[str, Any] = {"slopes": [1.0], "difficulties": [0.0], "combination": "average"}
    with pytest.raises(InvalidModelError, match=r"one of compensatory, conjunctive, .* 'average'"):
        DiBello(**record)


def test_numbers_for_other_skills_are_refused() -> None:
    skill, item = Variable.of_integers("a", range(2)), Variable.of_integers("x", range(2))
    with pytest.raises(InvalidModelError, match="expected 1 slopes for x, got 2"):
        DiBello((1.0, 0.5), (0.0,)).cpd(item, [skill])
