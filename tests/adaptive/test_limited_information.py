"""M2, pairs, Wald tests, Q-matrices: against obvious twins, and on data whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from bnmind.adaptive import (
    Dina,
    Gdina,
    Hierarchy,
    Independent,
    ItemBank,
    Learned,
    LearningOptions,
    Responses,
    Saturated,
    learn,
    limited_information,
    pair_fit,
    reduced_models,
    validate_qmatrix,
)
from bnmind.adaptive.learning.em import Parameters
from bnmind.adaptive.learning.model_fit import MOST_ITEMS, _shared
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.pgm import Network

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1], [1, 1]]
TRUTH = ItemBank.from_qmatrix(Q, 0.2, 0.15, skills=Saturated([0.3, 0.2, 0.1, 0.4]))


def drawn(n: int, seed: int, bank: ItemBank = TRUTH) -> Responses:
    return Responses.drawn(bank, n, seed=seed)


def right_answers(learned: Learned, parameters: Parameters) -> tuple[Floats, Floats]:
    """Return P(right | profile), ``(items, profiles)``, and the profiles' probabilities."""
    bank = learned.model.bank_of(parameters, title="", source="")
    shape = [v.n_states for v in bank.hidden]
    names = [v.name for v in bank.hidden]
    chances = []
    for name in bank.item_names:
        cpd = bank.network.cpd(name)
        at = [names.index(v.name) for v in cpd.parents]
        table = cpd.to_factor().transpose([v.name for v in cpd.scope]).values.real
        chances.append(
            [table[(1, *(p[i] for i in at))] for p in product(*(range(n) for n in shape))]
        )
    return np.array(chances), learned.model.skills.prior(parameters.skills)


def moments(learned: Learned, parameters: Parameters) -> Floats:
    right, prior = right_answers(learned, parameters)
    pairs = list(combinations(range(len(right)), 2))
    return np.array([*(right @ prior), *((right[i] * right[j]) @ prior for i, j in pairs)])


def twin_m2(learned: Learned) -> tuple[float, int]:
    """Return M2 from all 2^J patterns and differences of the moments by every parameter."""
    found = learned.parameters
    right, prior = right_answers(learned, found)
    n_items = len(right)
    patterns = np.array(list(product((0, 1), repeat=n_items)), dtype=float)
    chance = np.array(
        [
            float(prior @ np.prod(np.where(x[:, None] == 1, right, 1 - right), axis=0))
            for x in patterns
        ]
    )
    pairs = list(combinations(range(n_items), 2))
    summary = np.column_stack([patterns, *(patterns[:, i] * patterns[:, j] for i, j in pairs)])
    expected = chance @ summary
    covariance = (summary - expected).T @ ((summary - expected) * chance[:, None])
    h = 1e-6
    columns = []
    for block, values in enumerate(found.items):
        for place in range(len(values)):
            ends = []
            for sign in (1, -1):
                moved = values.copy()
                moved[place] += sign * h
                items = (*found.items[:block], moved, *found.items[block + 1 :])
                ends.append(moments(learned, Parameters(items, found.skills)))
            columns.append((ends[0] - ends[1]) / (2 * h))
    for family, table in enumerate(found.skills):
        flat = table.reshape(len(table), -1)
        for column in range(flat.shape[1]):
            for state in range(1, len(flat)):
                ends = []
                for sign in (1, -1):
                    other = flat.copy()
                    other[state, column] += sign * h
                    other[0, column] -= sign * h
                    skills = list(found.skills)
                    skills[family] = other.reshape(table.shape)
                    ends.append(moments(learned, Parameters(found.items, tuple(skills))))
                columns.append((ends[0] - ends[1]) / (2 * h))
    slopes = np.column_stack(columns)
    inverse = np.linalg.inv(covariance)
    middle = np.linalg.pinv(slopes.T @ inverse @ slopes, rcond=1e-9)
    weight = inverse - inverse @ slopes @ middle @ slopes.T @ inverse
    x = learned.responses.codes.astype(float)
    seen = np.array([*x.mean(axis=0), *((x[:, i] * x[:, j]).mean() for i, j in pairs)])
    off = seen - expected
    return len(x) * float(off @ weight @ off), len(off) - int(np.linalg.matrix_rank(slopes, 1e-6))


@pytest.mark.parametrize(
    ("skills", "gate"), [(Saturated(), Dina), (Independent(), Dina), (Independent(), Gdina)]
)
def test_m2_is_that_of_all_patterns(skills: Any, gate: Any) -> None:
    learned = learn(drawn(400, 1), Q, gate=gate, skills=skills)
    fit = limited_information(learned)
    m2, degrees = twin_m2(learned)
    assert fit.degrees == degrees
    assert fit.m2 == pytest.approx(m2, rel=1e-4)


@pytest.mark.slow
def test_m2_has_its_distribution_where_the_model_is_true() -> None:
    fits = [limited_information(learn(drawn(800, seed), Q)) for seed in range(30)]
    assert {fit.degrees for fit in fits} == {28 - 14 - 3}
    mean = float(np.mean([fit.m2 for fit in fits]))
    assert abs(mean - 11) < 4 * np.sqrt(2 * 11 / 30)
    assert all(low <= fit.rmsea2 <= high for fit in fits for low, high in [fit.rmsea2_interval])


def test_m2_finds_a_wrong_model() -> None:
    wrong = limited_information(learn(drawn(2000, 3), Q, skills=Independent()))
    assert wrong.p_value < 1e-6
    assert wrong.rmsea2_interval[0] > 0.02
    assert wrong.srmsr > 0.05
    assert "RMSEA2" in repr(wrong)


def lost(seen: Responses, share: float, seed: int) -> Responses:
    """Return responses of which chance loses a share."""
    gone = np.random.default_rng(seed).random(seen.codes.shape) < share
    return Responses.of(np.where(gone, -1, seen.codes), items=seen.items)


def test_the_moments_of_missing_responses_have_the_covariance_of_those_who_share_them() -> None:
    pairs = np.array(np.triu_indices(4, 1))
    given = np.random.default_rng(2).random((60, 4)) < 0.6
    given[:5] = True
    sets = [{i} for i in range(4)] + [{int(a), int(b)} for a, b in pairs.T]
    numbers = [[sum(all(row[list(r | s)]) for row in given) for s in sets] for r in sets]
    np.testing.assert_array_equal(_shared(given, pairs), numbers)


def test_m2_of_missing_responses_has_its_distribution_and_finds_a_wrong_model() -> None:
    once = LearningOptions(starts=1)
    fits = [
        limited_information(learn(lost(drawn(400, seed), 0.2, seed), Q, options=once))
        for seed in range(15)
    ]
    assert {fit.degrees for fit in fits} == {11}
    assert abs(float(np.mean([fit.m2 for fit in fits])) - 11) < 4 * np.sqrt(2 * 11 / 15)
    seen, alone = drawn(2000, 3), Independent()
    part, whole = (
        limited_information(learn(data, Q, skills=alone, options=once))
        for data in (lost(seen, 0.2, 3), seen)
    )
    assert part.p_value < 1e-6
    assert part.rmsea2 == pytest.approx(whole.rmsea2, rel=0.2)
    assert part.srmsr == pytest.approx(whole.srmsr, rel=0.2)
    assert (part.n_examinees, whole.n_incomplete) == (2000, 0)
    assert part.n_incomplete > 1000


def test_m2_says_what_it_needs() -> None:
    few = learn(drawn(200, 1), Q)
    alone = np.where(np.arange(200)[:, None] % 7 == np.arange(7), few.responses.codes, -1)
    with pytest.raises(InvalidArgumentError, match="items that the same examinees answered"):
        limited_information(replace(few, responses=Responses(alone, TRUTH.item_names)))
    many = ItemBank.from_qmatrix([[1]] * (MOST_ITEMS + 1), 0.2, 0.2)
    options = LearningOptions(max_iterations=1)
    with pytest.raises(TooLargeError, match="at most 100 items"):
        limited_information(learn(drawn(20, 1, many), many, options=options))
    tiny = learn(drawn(200, 1).codes[:, :2], Q[:2], skills=Saturated())
    none = limited_information(tiny)
    assert (none.degrees, np.isnan(none.m2)) == (0, True)


def test_pairs_that_share_a_lost_skill_misfit() -> None:
    q = [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0]]
    truth = ItemBank.from_qmatrix(q, 0.1, 0.1)
    seen = drawn(2000, 2, truth)
    found = pair_fit(learn(seen, np.array(q)[:, :2]))
    assert found[0].items == ("item_5", "item_6")
    assert found[0].correlation_p < 1e-3
    assert found[0].log_odds_p < 1e-3
    assert len(found) == 28
    x = seen.codes.astype(float)
    assert found[0].correlation == pytest.approx(np.corrcoef(x[:, 4], x[:, 5])[0, 1])
    both, neither = np.sum(x[:, 4] * x[:, 5]), np.sum((1 - x[:, 4]) * (1 - x[:, 5]))
    one, other = np.sum(x[:, 4] * (1 - x[:, 5])), np.sum((1 - x[:, 4]) * x[:, 5])
    assert found[0].log_odds == pytest.approx(np.log(both * neither / (one * other)))
    right = [pair for pair in pair_fit(learn(seen, q)) if pair.correlation_p < 0.05]
    assert right == []


def test_wald_tests_choose_the_model_that_drew_the_responses() -> None:
    chances = {
        "dina": [0.2, 0.2, 0.2, 0.85],
        "dino": [0.2, 0.85, 0.85, 0.85],
        "acdm": [0.1, 0.45, 0.5, 0.85],
        "gdina": [0.5, 0.15, 0.2, 0.9],
    }
    single = [[1, 0], [0, 1]] * 4
    models = [Gdina(np.array([[0.85, 0.15], [0.15, 0.85]]))] * 8
    models += [Gdina(np.array([[1 - p, p] for p in row])) for row in chances.values()]
    q = [*single, *[[1, 1]] * 4]
    start = ItemBank.from_qmatrix(q, 0.2, 0.15)
    items = tuple(replace(item, gate=gate) for item, gate in zip(start.items, models, strict=True))
    names = dict(zip(start.item_names, models, strict=True))
    cpds = [
        names[c.variable.name].cpd(c.variable, c.parents) if c.variable.name in names else c
        for c in start.network.cpds
    ]
    truth = ItemBank(network=Network(tuple(cpds)), skills=start.skills, items=items)
    learned = learn(drawn(4000, 5, truth), q, gate=Gdina, options=LearningOptions(monotone=False))
    found = reduced_models(learned)
    assert [one.chosen for one in found] == list(chances)
    assert found[0]["dina"].degrees == 2
    assert found[2]["acdm"].degrees == 1
    assert found[2]["dina"].p_value < 1e-6
    with pytest.raises(InvalidArgumentError, match="gate=Gdina"):
        reduced_models(learn(drawn(100, 1), Q))
    with pytest.raises(InvalidArgumentError, match="alpha between 0 and 1"):
        reduced_models(learned, alpha=2.0)


def test_a_wrong_qmatrix_is_mended() -> None:
    q = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]] * 2)
    truth = ItemBank.from_qmatrix(q, 0.1, 0.1)
    wrong = q.copy()
    wrong[3], wrong[6] = [1, 0, 0], [1, 0, 1]
    found = validate_qmatrix(learn(drawn(2000, 4, truth), wrong, gate=Gdina))
    assert [item.item for item in found.changes] == ["item_4", "item_7"]
    np.testing.assert_array_equal(found.qmatrix.needs, q)
    assert "2 of 12 items" in repr(found)
    item = found.items[3]
    assert item.now.share < 0.95 <= item.proposed.share
    assert [len(one.skills) for one in item.best] == [1, 2, 3]
    assert item.best[2].share == pytest.approx(1.0)
    with pytest.raises(InvalidArgumentError, match="cutoff between 0 and 1"):
        validate_qmatrix(learn(drawn(100, 1), Q), cutoff=1.5)


def test_a_hierarchy_has_free_profiles_only() -> None:
    skills = Hierarchy({"skill_2": ("skill_1",)})
    truth = ItemBank.from_qmatrix(Q, 0.1, 0.1, skills=skills)
    fit = limited_information(learn(drawn(500, 1, truth), Q, skills=skills))
    assert fit.degrees == 28 - 14 - 2
