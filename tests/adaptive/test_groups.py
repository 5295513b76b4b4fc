"""Several groups, items that differ between them, structures of skills, models side by side."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2

from bnmind.adaptive import (
    IRT_MODELS,
    AbilityGrid,
    Bounds,
    Dina,
    Dino,
    FunctioningOptions,
    Gdina,
    Independent,
    ItemBank,
    LearningOptions,
    Logistic,
    Nida,
    Responses,
    Saturated,
    compare_models,
    compare_structures,
    irt_bank,
    item_functioning,
    learn,
    learn_groups,
    likelihood_ratio,
    mutual_information,
    skill_tree,
    start_belief,
    validate_qmatrix,
)
from bnmind.errors import InvalidArgumentError, UnknownNameError

Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
LOW = ItemBank.from_qmatrix(Q, 0.2, 0.15, skills=Saturated([0.6, 0.2, 0.1, 0.1]))
HIGH = ItemBank.from_qmatrix(Q, 0.2, 0.15, skills=Saturated([0.1, 0.1, 0.2, 0.6]))
HARDER = ItemBank.from_qmatrix(
    Q, 0.2, [0.15, 0.15, 0.15, 0.55, 0.15, 0.15, 0.15, 0.15], skills=Saturated([0.1, 0.1, 0.2, 0.6])
)


def drawn(n: int, seed: int, *banks: ItemBank) -> tuple[np.ndarray, list[str]]:
    """Return the responses of n examinees of each bank, and their groups."""
    parts = [Responses.drawn(bank, n, seed=seed + k).codes for k, bank in enumerate(banks)]
    groups = [f"g{k}" for k in range(len(banks)) for _ in range(n)]
    return np.concatenate(parts), groups


def test_groups_share_items_and_differ_in_skills() -> None:
    codes, groups = drawn(1500, 1, LOW, HIGH)
    found = learn_groups(codes, Q, groups)
    assert found.groups == ("g0", "g1")
    assert found.sizes == (1500, 1500)
    assert found.n_parameters == 16 + 2 * 3
    for name in LOW.item_names:
        np.testing.assert_array_equal(found["g0"].channel(name), found["g1"].channel(name))
    mastery = [start_belief(bank).marginal("skill_1")[1] for bank in found.banks]
    assert mastery[0] == pytest.approx(0.2, abs=0.05)
    assert mastery[1] == pytest.approx(0.8, abs=0.05)
    assert np.all(np.diff(found.record.log_likelihoods) >= -1e-6)
    together, apart = (
        learn(codes, Q),
        learn(codes[:1500], Q),
    )
    alone = apart.log_likelihood + learn(codes[1500:], Q).log_likelihood
    assert together.log_likelihood < found.log_likelihood <= alone + 1e-6
    assert found.bic < together.bic
    assert "2 groups, 3,000 examinees" in repr(found)


def test_groups_are_checked() -> None:
    codes, groups = drawn(20, 1, LOW, HIGH)
    with pytest.raises(InvalidArgumentError, match="group of each of the 40 examinees, got 3"):
        learn_groups(codes, Q, groups[:3])
    with pytest.raises(InvalidArgumentError, match="two or more groups"):
        learn_groups(codes, Q, ["a"] * 40)
    with pytest.raises(InvalidArgumentError, match="groups of one examinee: b"):
        learn_groups(codes, Q, [*["a"] * 39, "b"])


def test_an_item_that_is_harder_in_a_group_is_found() -> None:
    codes, groups = drawn(1500, 11, LOW, HARDER)
    found = item_functioning(codes, Q, groups)
    assert [one.item for one in found if one.p_value < 0.01] == ["item_4"]
    assert all(one.degrees == 2 for one in found)
    assert found[3].differences[0] < -0.1
    assert all(abs(one.differences[0]) < 0.06 for k, one in enumerate(found) if k != 3)
    with pytest.raises(UnknownNameError, match="item_99"):
        item_functioning(codes, Q, groups, testing=FunctioningOptions(items=["item_99"]))


def test_the_gain_of_an_item_of_its_own_is_that_of_two_banks_with_it() -> None:
    codes, groups = drawn(400, 3, LOW, HARDER)
    options = LearningOptions(tolerance=1e-10)
    found = item_functioning(
        codes, Q, groups, testing=FunctioningOptions(items=["item_4"]), options=options
    )
    doubled = np.full((800, 9), -1, dtype=codes.dtype)
    doubled[:, :8] = codes
    doubled[400:, 3], doubled[400:, 8] = -1, codes[400:, 3]
    both = learn_groups(doubled, [*Q, Q[3]], groups, options=options)
    one = learn_groups(codes, Q, groups, options=options)
    gain = 2 * (both.log_likelihood - one.log_likelihood)
    assert found[0].statistic == pytest.approx(gain, abs=1e-3)


CHAIN = np.array([[[0.5, 0.1], [0.05, 0.05]], [[0.0, 0.0], [0.05, 0.25]]])
THREE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] * 3


def test_the_tree_of_skills_is_the_best_of_all_trees() -> None:
    bank = ItemBank.from_qmatrix(THREE, 0.1, 0.1, skills=Saturated(CHAIN))
    learned = learn(Responses.drawn(bank, 1500, seed=1).codes, THREE)
    information = mutual_information(learned)
    trees = {
        frozenset(tree): sum(information[pair] for pair in tree)
        for tree in ([(0, 1), (1, 2)], [(0, 1), (0, 2)], [(0, 2), (1, 2)])
    }
    for root in (None, "skill_3"):
        network = skill_tree(learned, root=root)
        names = [v.name for v in learned.bank.hidden]
        edges = {
            (min(names.index(v), names.index(p)), max(names.index(v), names.index(p)))
            for v in names
            for p in network.parents(v)
        }
        assert trees[frozenset(edges)] == max(trees.values())
        assert len(network.parents(root or "skill_1")) == 0
    joint = learned.profiles
    for v in network.variables:
        own = network.query(v.name)[v.name]["1"]
        axis = names.index(v.name)
        expected = joint.sum(axis=tuple(a for a in range(3) if a != axis))[1]
        assert own == pytest.approx(expected)
    with pytest.raises(UnknownNameError, match="skill_9"):
        skill_tree(learned, root="skill_9")


def test_structures_are_compared_on_examinees_they_were_not_learned_from() -> None:
    bank = ItemBank.from_qmatrix(THREE, 0.1, 0.1, skills=Saturated(CHAIN))
    seen = Responses.drawn(bank, 900, seed=2)
    told: list[tuple[int, int]] = []
    found = compare_structures(
        seen, THREE, folds=3, progress=lambda done, of: told.append((done, of))
    )
    assert {row.name for row in found} == {"saturated", "tree", "independent"}
    assert found[-1].name == "independent"
    assert found[-1].behind < -3 * found[-1].behind_error
    assert (found[0].behind, found[0].behind_error) == (0, 0)
    assert {row.name: row.n_parameters for row in found} == {
        "saturated": 18 + 7,
        "tree": 18 + 5,
        "independent": 18 + 3,
    }
    assert told[-1] == (9, 9)
    only = compare_structures(seen, THREE, {"mine": skill_tree, "i": Independent()}, folds=2)
    assert only[0].name == "mine"
    with pytest.raises(InvalidArgumentError, match="at least one structure"):
        compare_structures(seen, THREE, {})


def test_models_of_the_same_responses_are_compared() -> None:
    codes, _ = drawn(600, 5, LOW)
    one = LearningOptions(starts=1, monotone=True)
    models = {
        gate.__name__: learn(codes, Q, gate=gate, options=one) for gate in (Dina, Dino, Gdina)
    }
    table = compare_models(models)
    assert table.best_by_bic == "Dina"
    assert table.best_by_aic == min(models, key=lambda name: models[name].aic)
    dina = models["Dina"]
    assert table.models[0].caic == pytest.approx(dina.bic + dina.n_parameters)
    assert list(table.to_frame().index) == ["Dina", "Dino", "Gdina"]
    assert "log-likelihood" in repr(table)
    test = likelihood_ratio(models["Dina"], models["Gdina"])
    assert test.degrees == 4
    gain = 2 * (models["Gdina"].log_likelihood - dina.log_likelihood)
    assert (test.statistic, test.p_value) == pytest.approx((gain, chi2.sf(gain, 4)))
    assert likelihood_ratio(models["Dino"], models["Gdina"]).p_value < 1e-3
    with pytest.raises(InvalidArgumentError, match="more parameters"):
        likelihood_ratio(models["Gdina"], models["Dina"])
    with pytest.raises(InvalidArgumentError, match="same responses"):
        compare_models({"a": dina, "b": learn(codes[:300], Q)})
    with pytest.raises(InvalidArgumentError, match="at least one model"):
        compare_models({})


def test_items_are_tested_between_the_groups_that_answered_them_with_their_bounds() -> None:
    codes, groups = drawn(300, 21, LOW, HIGH, LOW)
    codes[600:, 5] = -1
    bounds = {"item_6": Bounds(guess=(0.0, 0.4))}
    steps: list[tuple[int, int]] = []
    found = item_functioning(
        codes,
        Q,
        groups,
        testing=FunctioningOptions(items=["item_6"]),
        options=LearningOptions(bounds=bounds),
        progress=lambda done, of: steps.append((done, of)),
    )
    assert steps == [(1, 1)]
    assert (found[0].degrees, len(found[0].differences)) == (2, 1)
    fixed = LearningOptions(fixed={"item_1"})
    with pytest.raises(InvalidArgumentError, match="item_1 cannot be tested"):
        item_functioning(
            codes, Q, groups, testing=FunctioningOptions(items=["item_1"]), options=fixed
        )
    with pytest.raises(InvalidArgumentError, match="no item can be tested"):
        item_functioning(codes, Q, groups, gate=Nida)


def test_groups_whose_skills_are_fixed_are_refused() -> None:
    codes, groups = drawn(40, 1, LOW, HIGH)
    with pytest.raises(InvalidArgumentError, match="groups cannot differ"):
        learn_groups(codes, LOW, groups, options=LearningOptions(fixed={"skill_1", "skill_2"}))


SLOPES = np.array([0.8, 1.2, 1.5, 1.0, 2.0, 1.3])
DIFFICULTIES = np.array([-1.0, 0.0, 0.5, 1.0, 0.2, -0.4])


def able(n: int, seed: int, harder: dict[int, float]) -> tuple[np.ndarray, list[str]]:
    """Return the responses of two groups, of which the second has a mean of 0.6 and a deviation of
    1.3, and finds some items harder."""
    rng = np.random.default_rng(seed)
    theta = np.concatenate([rng.normal(size=n), 0.6 + 1.3 * rng.normal(size=n)])
    difficulties = np.tile(DIFFICULTIES, (2 * n, 1))
    for item, more in harder.items():
        difficulties[n:, item] += more
    chances = 1 / (1 + np.exp(-SLOPES * (theta[:, None] - difficulties)))
    codes = (rng.random(chances.shape) < chances).astype(int)
    return codes, ["g0"] * n + ["g1"] * n


def test_groups_of_one_ability_reach_the_maximum_of_a_general_solver() -> None:
    codes, groups = able(200, 3, {})
    model = IRT_MODELS["2PL"]
    start = model.start(codes)
    options = model.options(start, LearningOptions(tolerance=1e-9))
    found = learn_groups(codes, start, groups, options=options)
    assert found.n_parameters == 12 + 2
    theta = np.linspace(-6, 6, 61)

    def negative(x: np.ndarray) -> float:
        p = 1 / (1 + np.exp(-x[:6] * (theta[:, None] - x[6:12])))
        likely = np.exp(codes @ np.log(p).T + (1 - codes) @ np.log(1 - p).T)
        total = 0.0
        for part, (mean, deviation) in enumerate(((0.0, 1.0), (x[12], np.exp(x[13])))):
            weights = np.exp(-0.5 * ((theta - mean) / deviation) ** 2)
            own = likely[part * 200 : part * 200 + 200]
            total += np.log(own @ (weights / weights.sum())).sum()
        return -float(total)

    best = minimize(negative, np.array([1.0] * 6 + [0.0] * 8), method="BFGS")
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-4)
    assert found.abilities["g0"] == pytest.approx((0.0, 1.0), abs=1e-6)
    assert found.abilities["g1"] == pytest.approx((best.x[12], np.exp(best.x[13])), abs=0.005)


@pytest.mark.slow
def test_items_of_one_ability_are_tested_and_anchors_purified() -> None:
    codes, groups = able(400, 5, {1: 1.5, 2: 1.5})
    model = IRT_MODELS["2PL"]
    start = model.start(codes)
    options = model.options(start, LearningOptions(tolerance=1e-3))
    found = item_functioning(
        codes, start, groups, options=options, testing=FunctioningOptions(purify=True)
    )
    assert [one.item for one in found if one.p_value < 0.05] == ["item_2", "item_3"]
    assert all(one.degrees == 2 for one in found)
    assert all(one.differences[0] < -0.05 for one in found[1:3])
    assert found[0].anchors == ("item_4", "item_5", "item_6")
    assert found[1].anchors == ("item_1", "item_4", "item_5", "item_6")
    named = item_functioning(
        codes,
        start,
        groups,
        testing=FunctioningOptions(items=["item_3"], anchors=["item_5", "item_6"]),
        options=options,
    )
    assert named[0].p_value < 0.001
    assert named[0].anchors == ("item_5", "item_6")
    rasch = IRT_MODELS["rasch"]
    equal = rasch.options(rasch.start(codes))
    one = item_functioning(
        codes,
        rasch.start(codes),
        groups,
        testing=FunctioningOptions(items=["item_2"]),
        options=equal,
    )
    assert one[0].degrees == 1
    for wrong, words in (
        ({"anchors": []}, "anchors to be .* at least one or None"),
        ({"alpha": 0.0}, "alpha"),
    ):
        with pytest.raises(InvalidArgumentError, match=words):
            FunctioningOptions(**wrong)
    with pytest.raises(UnknownNameError):
        item_functioning(
            codes, start, groups, options=options, testing=FunctioningOptions(anchors=["item_99"])
        )


def test_items_of_known_parameters_tell_the_mean_and_deviation_of_other_people() -> None:
    codes, _ = able(1500, 7, {})
    curves = [Logistic(a, b) for a, b in zip(SLOPES.tolist(), DIFFICULTIES.tolist(), strict=True)]
    bank = irt_bank(curves, AbilityGrid.normal(n_points=61, reach=6.0))
    options = LearningOptions(fixed=set(bank.item_names), moved={"ability"})
    found = learn(codes[1500:], bank, options=options)
    assert found.n_parameters == 2
    values = np.linspace(-6, 6, 61)
    weights = start_belief(found.bank).marginal("ability")
    mean = weights @ values
    assert mean == pytest.approx(0.6, abs=0.1)
    assert np.sqrt(weights @ (values - mean) ** 2) == pytest.approx(1.3, abs=0.12)
    with pytest.raises(InvalidArgumentError, match="two of them"):
        LearningOptions(fixed={"ability"}, moved={"ability"})


def test_a_qmatrix_with_levels_is_not_validated() -> None:
    q = [[2, 0], [1, 1], [0, 1], [1, 0], [2, 1]]
    bank = ItemBank.from_qmatrix(q, 0.1, 0.1, levels=[3, 2])
    with pytest.raises(InvalidArgumentError, match="two levels, got more for skill_1"):
        validate_qmatrix(learn(Responses.drawn(bank, 100, seed=1).codes, q))
