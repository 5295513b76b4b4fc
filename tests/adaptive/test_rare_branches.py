"""Branches that few tests reach, each against what is known without the code."""

from __future__ import annotations

from math import erfc, sqrt
from typing import Any

import numpy as np
import pytest

import bnmind.adaptive.belief_tables as cause_index
from bnmind.adaptive import (
    Blueprint,
    Design,
    Dina,
    Gdina,
    Independent,
    ItemBank,
    ItemEligibility,
    ItemsBound,
    LearningOptions,
    MaximalItems,
    MinimalEntropy,
    NoisyAnd,
    NoisyOr,
    RandomItem,
    ResponseModel,
    Responses,
    Saturated,
    Sequential,
    aim_by_name,
    classify,
    design_tree,
    evaluate_design,
    fixed_test,
    learn,
    learn_groups,
    optimal_test_tree,
    pair_fit,
    rank_items,
    simulate_designs,
    start_belief,
    validate_qmatrix,
)
from bnmind.adaptive.belief_tables import CauseIndex
from bnmind.adaptive.evaluation import CertifiedInterval
from bnmind.adaptive.items.item import _quadrature
from bnmind.adaptive.items.text_tables import table_of
from bnmind.adaptive.learning.learn import item_blocks
from bnmind.adaptive.optimal_tests import search_problem
from bnmind.adaptive.scores import Ranking
from bnmind.errors import InvalidArgumentError, TableError


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_means_of_normal_numbers_are_exact_up_to_the_third_power(n: int) -> None:
    nodes, weights = _quadrature(n)
    assert nodes.shape == (len(weights), n)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(weights @ nodes, 0, atol=1e-12)
    np.testing.assert_allclose((nodes.T * weights) @ nodes, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(weights @ nodes**3, 0, atol=1e-12)


@pytest.mark.parametrize(("model", "edge"), [(NoisyAnd, 0.7), (NoisyOr, 0.3)])
def test_learning_starts_from_the_chances_of_a_model_with_a_leak(
    model: type[NoisyAnd | NoisyOr], edge: float
) -> None:
    given = NoisyAnd((0.2, 0.3), (0.1, 0.15), 0.7) if model is NoisyAnd else None
    gate = given or NoisyOr((0.2, 0.3), (0.1, 0.15), 0.3)
    bank = ItemBank.from_response_models([[1, 1]], [gate], items=["a"])
    (block,) = item_blocks(bank, LearningOptions())
    expected = gate.scale.of(np.array([0.2, 0.3, 0.9, 0.85, edge]))
    np.testing.assert_allclose(block.start(), expected, atol=1e-9)


def test_what_items_cannot_tell_apart_bounds_the_results_of_tests_that_were_cut() -> None:
    # All items need both skills, so nobody who lacks one is told from who lacks the other.
    bank = ItemBank.from_qmatrix([[1, 1]] * 4, 0.2, 0.1, skills=Saturated([0.2, 0.3, 0.1, 0.4]))
    cut = evaluate_design(Design(bank, stopper=MaximalItems(4)), max_beliefs=1)
    assert cut.n_cut > 0
    assert cut.pattern_accuracy.high == pytest.approx(0.3 + 0.4)
    exact = evaluate_design(Design(bank, stopper=MaximalItems(4)))
    assert cut.pattern_accuracy.low <= exact.pattern_accuracy.middle <= 0.7


def test_target_skills_are_distinct_and_at_least_one() -> None:
    for skills, words in (((), "got ()"), (("S", "S"), "got ('S', 'S')")):
        with pytest.raises(InvalidArgumentError) as caught:
            MinimalEntropy(skills)
        assert str(caught.value) == (
            "MinimalEntropy: expected skills to be a sequence, each text, at least one, all"
            f" different or None, {words}"
        )


SMALL = ItemBank.from_qmatrix(
    [[1, 0], [0, 1]], 0.0, 0.0, items=["a", "b"], skills=Independent(0.5), skill_names=["S", "T"]
)
CODES = [[1, 0], [0, 1], [1, 1], [0, 0], [1, 1]]


def test_a_table_of_ranks_shows_the_bits_of_each_item() -> None:
    html = vars(Ranking)["_repr_html_"](Ranking(rank_items(start_belief(SMALL), ["a", "b"])))
    assert "2 items by expected information" in html
    # Each item tells one of two independent bits.
    for cell in ("<td>a</td>", "<td>b</td>", "<td>1</td>", "<td>S</td>", "<td>T</td>"):
        assert cell in html.replace(' class="number"', "")


def test_a_table_of_a_tree_shows_what_is_expected_of_the_test() -> None:
    tree = design_tree(Design(SMALL, stopper=MaximalItems(1)))
    assert (tree.length, tree.depth, tree.entropy, tree.pattern_accuracy) == (1, 1, 1, 0.5)
    html = tree._repr_html_()
    for words in ("1.0000 bits unknown, 0.5000 of the profiles", "1.00 items asked"):
        assert words in html
    assert repr(tree).endswith(", at most 1 item)")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"codes": [[-2, 0]]},
            "Responses: expected codes to be an array of whole numbers from -1 to 126, got -2",
        ),
        (
            {"codes": [[0, 0, 0]]},
            "expected whole numbers of shape (examinees, 2), got shape (1, 3)",
        ),
        ({"levels": [[0, 2]]}, "expected levels of T below 2, got 2"),
        ({"levels": [[0]]}, "expected levels of shape (1, 2), got (1, 1)"),
        (
            {"numbers": [-1]},
            "Responses: expected numbers to be an array of whole numbers of at least 0, got -1",
        ),
        (
            {"codes": [[0, 0]] * 2, "levels": [[0, 0]] * 2, "numbers": [3, 3]},
            "the numbers of examinees must be distinct",
        ),
    ],
)
def test_examinees_that_cannot_be_are_refused(change: dict[str, object], words: str) -> None:
    given: dict[str, object] = {"codes": [[0, 1]], "levels": [[0, 1]], "numbers": [0], **change}
    skills = tuple(map(SMALL.variable, SMALL.skills))
    arrays: dict[str, Any] = {name: np.array(value) for name, value in given.items()}
    with pytest.raises(TableError) as caught:
        Responses(skills=skills, items=SMALL.item_names, **arrays)
    assert str(caught.value).startswith(words)


def test_groups_of_responses_have_a_column() -> None:
    responses = Responses(np.array(CODES), ("a", "b"), groups=("g", "h", "g", "h", "h"))
    bank = ItemBank.from_qmatrix([[1, 0], [0, 1]], 0.2, 0.1, items=["a", "b"])
    frame = classify(bank, responses).to_frame()
    assert list(frame.columns[:3]) == ["examinee", "group", "answers"]
    assert frame["group"].tolist() == ["g", "h", "g", "h", "h"]
    assert frame["answers"].tolist() == [2] * 5


def test_criteria_of_groups_count_parameters_and_examinees() -> None:
    found = learn_groups(
        np.array(CODES * 4), [[1, 0], [0, 1]], groups=[0, 1] * 10,
        options=LearningOptions(max_iterations=2, starts=1),
    )  # fmt: skip
    k, fit = found.n_parameters, found.log_likelihood
    assert found.aic == pytest.approx(2 * k - 2 * fit)
    assert found.bic == pytest.approx(k * np.log(20) - 2 * fit)


def test_designs_of_different_banks_are_not_compared() -> None:
    other = ItemBank.from_qmatrix([[1, 0], [0, 1]], 0.2, 0.1, skill_names=["S", "T"])
    people = Responses.drawn(SMALL, 2, seed=1)
    with pytest.raises(InvalidArgumentError, match="the bank of y has other items or skills"):
        simulate_designs({"x": Design(SMALL), "y": Design(other)}, people)
    with pytest.raises(InvalidArgumentError, match="at least one selector or design is needed"):
        simulate_designs({}, people)


def test_a_tree_has_no_luck() -> None:
    drawn = Design(SMALL, eligibility=ItemEligibility.start(SMALL, 0.5))
    with pytest.raises(InvalidArgumentError, match="got one that draws the eligible items"):
        design_tree(drawn)
    with pytest.raises(InvalidArgumentError, match="no random numbers, got random; simulate"):
        design_tree(Design(SMALL, RandomItem()))


def test_pairs_need_two_items_with_two_responses() -> None:
    options = LearningOptions(max_iterations=1, starts=1)
    codes = [[2, 0], [1, 1], [0, 1], [2, 1]]
    learned = learn(codes, [[1], [1]], gate=Sequential, options=options)
    with pytest.raises(InvalidArgumentError) as caught:
        pair_fit(learned)
    assert str(caught.value) == "expected at least two items with two responses, got 1"


@pytest.mark.parametrize("cutoff", [-0.1, 1.1, float("nan")])
def test_a_cutoff_is_a_share(cutoff: float) -> None:
    learned = learn(
        CODES, [[1, 0], [0, 1]], gate=Gdina, options=LearningOptions(max_iterations=1, starts=1)
    )
    with pytest.raises(InvalidArgumentError, match="expected a cutoff between 0 and 1, got"):
        validate_qmatrix(learned, cutoff=cutoff)


@pytest.mark.parametrize(
    ("pairs", "most"),
    [
        ([], 4),
        ([(0, 1)], 3),
        ([(0, 1), (0, 2), (1, 2)], 2),
        ([(0, 1), (1, 2)], 3),
        ([(1, 2), (1, 3), (2, 3), (0, 3)], 2),
        ([(a, b) for a in range(4) for b in range(a + 1, 4)], 1),
    ],
)
def test_a_test_holds_as_many_items_as_are_no_enemies(
    pairs: list[tuple[int, int]], most: int
) -> None:
    bank = ItemBank.from_qmatrix([[1]] * 4, guess=0.2, slip=0.1)
    names = bank.item_names
    enemies = tuple((names[a], names[b]) for a, b in pairs)
    for least in range(6):
        blueprint = Blueprint((ItemsBound(names, least),), enemies=enemies)
        assert bool(blueprint.faults(bank)) == (least > most)


def test_items_of_several_shapes_have_the_information_that_each_has_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps = Sequential((Dina(0.3, 0.1), Dina(0.2, 0.2)))
    models: list[ResponseModel] = [Dina(0.2, 0.1), steps, Dina(0.1, 0.3)]
    bank = ItemBank.from_response_models([[1, 0], [1, 1], [1, 1]], models, items=["a", "b", "c"])
    ends = np.cumsum([0, *(bank.n_configurations(cause) for cause in bank.causes)])
    row = np.concatenate(
        [np.arange(1.0, n + 1) / np.arange(1.0, n + 1).sum() for n in np.diff(ends)]
    )
    together = CauseIndex(bank, ends[:-1].tolist())
    assert len(together.groups) == 1
    monkeypatch.setattr(cause_index, "_STACKED_CELLS", 0)
    apart = CauseIndex(bank, ends[:-1].tolist())
    assert len(apart.groups) > 1
    by_hand = []
    for number, name in enumerate(bank.item_names):
        cause = bank.cause_numbers[number]
        mass = row[ends[cause] : ends[cause + 1]]
        channel = bank.channel(name)
        both = mass[:, None] * channel
        mean = both.sum(axis=0)
        by_hand.append(float((both * np.log2(channel / mean)).sum()))
    for index in (together, apart):
        np.testing.assert_allclose(index.information(row), by_hand, atol=1e-12)
        np.testing.assert_allclose(
            index.information(np.stack([row] * 2)), [by_hand] * 2, atol=1e-12
        )


def test_a_skill_of_which_no_item_tells_anything_is_noted() -> None:
    bank = ItemBank.from_qmatrix(
        [[1, 0], [0, 1]], [0.2, 0.5], [0.1, 0.5], items=["a", "b"], skill_names=["S", "T"]
    )
    options = LearningOptions(fixed=frozenset(["b"]), starts=1, max_iterations=2)
    notes = {note.kind: note for note in learn(CODES, bank, options=options).notes}
    assert notes["unneeded"].names == ("T",)
    assert "No item tells anything about the skill" in str(notes["unneeded"])
    told = learn(CODES, SMALL, options=LearningOptions(starts=1, max_iterations=2)).notes
    assert "unneeded" not in {note.kind for note in told}


def test_an_interval_has_a_middle() -> None:
    assert CertifiedInterval(0.25, 0.75).middle == 0.5


def test_the_regret_of_a_greedy_test_is_what_it_loses() -> None:
    bank = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]], 0.2, 0.1)
    fixed = fixed_test(bank, 2, aim=aim_by_name("entropy"))
    assert fixed.regret == pytest.approx(fixed.greedy_value - fixed.value)
    assert fixed.regret >= 0
    best = optimal_test_tree(bank, 2, aim=aim_by_name("entropy"))
    assert best.regret == pytest.approx(best.greedy_value - best.value)
    assert best.gap == pytest.approx(0)
    assert best.is_proven


def test_classes_of_profiles_keep_the_entropy_of_all() -> None:
    bank = ItemBank.from_qmatrix([[1, 1]] * 2, 0.2, 0.1, skills=Saturated([0.2, 0.3, 0.1, 0.4]))
    problem = search_problem(bank, 1, aim_by_name("entropy"), 0.0)
    p = np.array([0.2, 0.3, 0.1, 0.4])
    before = problem.objective.values(problem.prior[None])
    assert before == pytest.approx(-(p * np.log2(p)).sum())
    assert len(problem.prior) == 2


def test_chances_of_pairs_are_two_sided_and_corrected_for_the_number_of_pairs() -> None:
    truth = ItemBank.from_qmatrix(
        [[1, 0], [0, 1], [1, 1]], 0.2, 0.1, skills=Independent(0.5), items=["a", "b", "c"],
        skill_names=["S", "T"],
    )  # fmt: skip
    codes = np.array(Responses.drawn(truth, 80, seed=3).codes)
    codes[:25, 1] = codes[:25, 0]  # more alike than independent skills explain
    options = LearningOptions(fixed=frozenset(["S", "T", "a", "b", "c"]), starts=1)
    pairs = pair_fit(learn(Responses(codes, truth.item_names), truth, options=options))
    for z_of, p_of in (("correlation_z", "correlation_p"), ("log_odds_z", "log_odds_p")):
        plain = {pair.items: erfc(abs(getattr(pair, z_of)) / sqrt(2)) for pair in pairs}
        corrected, most = {}, 0.0
        for place, (items, p) in enumerate(sorted(plain.items(), key=lambda one: one[1])):
            most = max(most, min(1.0, (len(plain) - place) * p))
            corrected[items] = most
        for pair in pairs:
            assert getattr(pair, p_of) == pytest.approx(corrected[pair.items], abs=1e-12)
        assert min(corrected.values()) < 1


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ([["NA", "X"], ["X", "NA"]], None),
        ([["NA", "X"], ["1", "0"]], ("NA", "X")),
        ([["one", "two"], ["two", "0"]], ("one", "two")),
        ([["1", "0"], ["0", "1"]], None),
    ],
)
def test_marks_are_names_only_if_no_cell_below_holds_them(
    rows: list[list[str]], header: tuple[str, ...] | None
) -> None:
    assert table_of(rows).header == header
