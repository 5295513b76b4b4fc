"""Likelihood-ratio tests of simpler models of items, against obvious twins; predicted cutoffs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2

from bnmind.adaptive import (
    Acdm,
    Dina,
    Gdina,
    ItemBank,
    Learned,
    LearningOptions,
    ResponseModel,
    Responses,
    Rrum,
    learn,
    reduced_models,
    validate_qmatrix,
)
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.pgm import Network

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1], [1, 1]]
PROFILES = np.array(list(product((0, 1), repeat=2)))
MODELS = {"item_3": Dina, "item_6": Acdm, "item_7": Rrum}


def mixed(bank: ItemBank, gates: Mapping[str, ResponseModel | None]) -> ItemBank:
    """Return a bank with the response models of some items from other banks."""
    cpds, items = [], []
    for item in bank.items:
        cpd = bank.network.cpd(item.name)
        gate = gates.get(item.name, item.gate)
        assert gate is not None
        cpds.append(gate.cpd(cpd.variable, cpd.parents))
        items.append(dataclasses.replace(item, gate=gate))
    skills = [cpd for cpd in bank.network.cpds if cpd.variable.name in bank.skills]
    return dataclasses.replace(bank, network=Network((*skills, *cpds)), items=tuple(items))


@pytest.fixture(scope="module")
def learned() -> Learned:
    gates = {
        item: ItemBank.from_qmatrix(Q, 0.15, 0.1, gate=make).item(item).gate
        for item, make in MODELS.items()
    }
    truth = mixed(ItemBank.from_qmatrix(Q, 0.15, 0.1), gates)
    codes = Responses.drawn(truth, 1500, seed=3).codes
    seen = Responses.of(codes, items=truth.item_names)
    return learn(seen, Q, gate=Gdina, options=LearningOptions(tolerance=1e-9))


def expected_counts(learned: Learned, item: int) -> tuple[Floats, Floats]:
    """Return the expected numbers of examinees and of right responses, for each profile."""
    chances = []
    for name, needs in zip(learned.bank.item_names, Q, strict=True):
        right = learned.bank.channel(name)[:, 1]
        size = sum(needs)
        has = [[a for a, q in zip(p, needs, strict=True) if q] for p in PROFILES]
        chances.append([right[np.ravel_multi_index(h, (2,) * size)] for h in has])
    p = np.array(chances)
    codes = learned.responses.codes
    joint = np.prod(np.where(codes[:, :, None] == 1, p, 1 - p), axis=1)
    joint *= learned.profiles.reshape(-1)
    posterior = joint / joint.sum(axis=1, keepdims=True)
    return posterior.sum(axis=0), codes[:, item] @ posterior


@pytest.mark.parametrize("item", [2, 5, 6])
def test_two_steps_compare_the_expected_counts(learned: Learned, item: int) -> None:
    n, right = expected_counts(learned, item)

    def likelihood(p: Floats) -> float:
        return float(right @ np.log(p) + (n - right) @ np.log(1 - p))

    full = likelihood(right / n)
    found = {one.item: one for one in reduced_models(learned, by_ratio=True)}[f"item_{item + 1}"]
    all_ = np.array([0, 0, 0, 1])
    for model, group in (("dina", all_), ("dino", np.array([0, 1, 1, 1]))):
        share = np.array([right[group == g].sum() / n[group == g].sum() for g in (0, 1)])
        expected = 2 * (full - likelihood(share[group]))
        assert found[model].statistic == pytest.approx(expected, abs=1e-4)
        assert found[model].p_value == pytest.approx(float(chi2.sf(expected, 2)), rel=1e-3)
    design = np.column_stack([np.ones(4), PROFILES])
    links: dict[str, Callable[[Floats], Floats]] = {
        "acdm": lambda x: x,
        "llm": lambda x: 1 / (1 + np.exp(-x)),
        "rrum": np.exp,
    }
    starts = {"acdm": [0.2, 0.3, 0.3], "llm": [-1.5, 1.5, 1.5], "rrum": [-2.0, 0.9, 0.9]}
    for model, link in links.items():

        def negative(x: Floats, link: Callable[[Floats], Floats] = link) -> float:
            return -likelihood(np.clip(link(design @ x), 1e-4, 1 - 1e-4))

        options = {"xatol": 1e-9, "fatol": 1e-9, "maxiter": 5000}
        best = minimize(negative, np.array(starts[model]), method="Nelder-Mead", options=options)  # type: ignore[call-overload]
        assert found[model].statistic == pytest.approx(2 * (full + best.fun), abs=0.01)
        assert found[model].degrees == 1


def test_all_tests_choose_the_true_models(learned: Learned) -> None:
    kinds = [
        reduced_models(learned, alpha=0.01),
        reduced_models(learned, alpha=0.01, by_ratio=True),
    ]
    for found in kinds:
        assert [one.chosen for one in found] == ["dina", "acdm", "rrum"]
        for model in ("dina", "llm"):
            raw = np.array([one[model].p_value for one in found])
            order = np.sort(raw) * [3, 2, 1]  # by Holm
            corrected = sorted(one[model].corrected_p for one in found)
            np.testing.assert_allclose(corrected, np.minimum(np.maximum.accumulate(order), 1))
    with pytest.raises(InvalidArgumentError, match="alpha between 0 and 1"):
        reduced_models(learned, alpha=1.0, by_ratio=True)


def test_profiles_that_nobody_has_save_no_parameter() -> None:
    from bnmind.adaptive import Hierarchy

    skills = Hierarchy({"skill_2": ("skill_1",)})
    seen = Responses.drawn(ItemBank.from_qmatrix(Q, 0.1, 0.1, skills=skills), 300, seed=1)
    found = reduced_models(learn(seen.codes, Q, gate=Gdina, skills=skills), by_ratio=True)
    assert [test.degrees for test in found[0].tests] == [1, 1, 0, 0, 0]
    assert math.isnan(found[0]["acdm"].p_value)


def test_the_cutoff_is_that_of_gdina(learned: Learned) -> None:
    """R package GDINA, ``Qval(eps = -1)``: the coefficients to all digits."""
    items = learned.items
    quality = 1 - np.mean([one.guess for one in items]) - np.mean([one.slip for one in items])
    logit = (
        -0.4045140782147791
        + 4.8404850955032684e-4 * 1500
        + 2.8667570118638275 * quality
        - 0.003315555999671906 * 7
    )
    found = validate_qmatrix(learned, cutoff=None).cutoff
    assert found == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-4)


def test_an_item_that_everybody_answers_alike_keeps_its_skills() -> None:
    codes = np.array(Responses.drawn(ItemBank.from_qmatrix(Q, 0.1, 0.1), 300, seed=1).codes)
    codes[:, 0] = 1
    found = validate_qmatrix(learn(codes, Q, gate=Gdina, options=LearningOptions(starts=1)))
    assert found.items[0] not in found.changes
    assert found.items[0].now.share == pytest.approx(0, abs=1e-9)
