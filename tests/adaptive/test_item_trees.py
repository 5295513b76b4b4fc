"""Optimal tests of banks, fixed tests, and trees of items in files and on paper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    AIMS,
    ITEM_TREE_FORMATS,
    Bounds,
    Design,
    Dina,
    FixedOrder,
    GainBelow,
    Independent,
    Item,
    ItemBank,
    ItemTree,
    LearningOptions,
    MaximalItems,
    RandomItem,
    Responses,
    SkillBelief,
    aim_by_name,
    cost_of_certainty,
    design_tree,
    evaluate_design,
    fixed_test,
    learn,
    optimal_test_tree,
    read_bank,
    read_item_tree,
    read_qmatrix,
    start_belief,
    write_item_tree,
)
from bnmind.adaptive.evaluation import ProfileClasses
from bnmind.adaptive.item_trees import paper_test, tree_from_json
from bnmind.errors import InvalidArgumentError, ModelFileError, TooLargeError, UnknownNameError
from tests.banks import banks
from tests.data_sets import data_set

FRACTIONS = "models/banks/fraction-subtraction.json"


def fixed_tree(bank: ItemBank, items: Sequence[str]) -> ItemTree:
    order = FixedOrder(tuple(items))
    return design_tree(Design(bank, order, MaximalItems(len(items)), rules=()))


def end_value(aim: str, belief: SkillBelief) -> float:
    """Return the value of an end by the plainest means."""
    if aim == "profile":
        return 1 - belief.profile().probability
    if aim == "skills":
        skills = belief.bank.skills
        return 1 - float(np.mean([belief.marginal(skill).max() for skill in skills]))
    if aim == "cost:0.8":
        return 0.0 if belief.profile().probability >= 0.8 - 1e-9 else 100.0
    return belief.entropy


def smallest(aim: str, belief: SkillBelief, depth: int, price: float) -> float:
    """Return the value of the best tree of items from a belief."""
    best = end_value(aim, belief)
    bank = belief.bank
    if depth == 0:
        return best
    barred = {enemy for name in belief.responses for enemy in bank.enemies(name)}
    for name in bank.item_names:
        if name in belief.responses or name in barred:
            continue
        value = price * bank.item(name).cost
        for response, chance in enumerate(belief.predict(name).tolist()):
            if chance > 1e-14:
                after = belief.update(name, response)
                value += chance * smallest(aim, after, depth - 1, price)
        best = min(best, value)
    return best


@settings(max_examples=25, deadline=None)
@given(banks(), st.sampled_from(["entropy", "profile", "skills", "cost:0.8"]), st.data())
def test_the_best_test_is_that_of_all_tests(bank: ItemBank, name: str, data: st.DataObject) -> None:
    depth = data.draw(st.integers(1, 2))
    aim = aim_by_name(name)
    price = data.draw(st.sampled_from([0.0, 0.05]))
    expected = smallest(name, start_belief(bank), depth, price or float(aim.counts_cost))
    found = optimal_test_tree(bank, depth, aim=aim, price=price)
    assert found.is_proven
    assert found.value == pytest.approx(expected, abs=1e-7)
    assert found.regret >= -1e-9
    if not price and name == "entropy":
        assert found.tree.entropy == pytest.approx(expected, abs=1e-7)
    if not price and name == "profile":
        assert 1 - found.tree.pattern_accuracy == pytest.approx(expected, abs=1e-7)
    if not price and name == "skills":
        assert 1 - found.tree.attribute_accuracy == pytest.approx(expected, abs=1e-7)


@given(st.floats(0.1, 0.4), st.floats(0.01, 0.09))
def test_of_equally_good_trees_the_one_of_the_search_is_returned(poor: float, good: float) -> None:
    # Both items are asked, in any order: the search begins with the first, the greedy tree with
    # the better one, and their values differ by rounding only.
    bank = ItemBank.from_qmatrix([[1, 0], [0, 1]], guess=[poor, good], slip=[poor, good])
    found = optimal_test_tree(bank, 2)
    assert found.tree.root.item == "item_1"
    assert found.greedy.root.item == "item_2"


@settings(max_examples=12, deadline=None)
@given(banks(), st.sampled_from(["entropy", "profile", "skills"]))
def test_the_best_list_is_that_of_all_lists(bank: ItemBank, name: str) -> None:
    length = min(2, len(bank.items))
    aim = aim_by_name(name)
    found = fixed_test(bank, length, aim=aim)
    values = {}
    for items in combinations(bank.item_names, length):
        tree = fixed_tree(bank, items)
        values[items] = {
            "entropy": tree.entropy,
            "profile": 1 - tree.pattern_accuracy,
            "skills": 1 - tree.attribute_accuracy,
        }[name]
    assert found.value == pytest.approx(min(values.values()), abs=1e-7)
    assert values[found.items] == pytest.approx(found.value, abs=1e-7)
    assert found.is_proven


def test_fraction_subtraction_to_depth_five() -> None:
    bank = read_bank(FRACTIONS)
    assert len(ProfileClasses.of(bank).prior) == 58
    found = optimal_test_tree(bank, 5)
    assert found.is_proven
    assert found.value == pytest.approx(2.610847, abs=1e-6)
    assert found.regret == pytest.approx(0.010670, abs=1e-6)
    greedy = evaluate_design(Design(bank, stopper=MaximalItems(5)))
    assert greedy.entropy.low == pytest.approx(found.greedy_value, abs=1e-9)
    assert found.greedy.entropy == pytest.approx(found.greedy_value, abs=1e-9)
    listed = fixed_test(bank, 5)
    assert listed.is_proven
    assert found.value < listed.value
    assert listed.tree.entropy == pytest.approx(listed.value, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("skills", ["saturated", "independent"])
def test_a_bank_learned_from_the_responses(skills: str) -> None:
    place = data_set("fraction_subtraction")
    responses = Responses.from_csv(place / "responses.csv")
    q = read_qmatrix(place / "qmatrix.csv")
    model = ItemBank.from_qmatrix(
        q.needs,
        gate=Dina,
        items=q.items,
        skill_names=q.skills,
        skills=Independent([[0.5, 0.5]] * len(q.skills)) if skills == "independent" else None,
    )
    options = LearningOptions(bounds=Bounds((0.01, 0.99), (0.01, 0.99)), max_iterations=500)
    bank = learn(responses, model, options=options).bank
    found = optimal_test_tree(bank, 5)
    assert found.is_proven
    assert found.regret >= 0


def small_bank() -> ItemBank:
    items = [
        Item("a<1", text="1/2 + 1/4 = ?"),
        Item("b", text="Reduce 4/8 | now", enemies=("d",)),
        Item("c"),
        Item("d"),
        Item("e", cost=3.0),
    ]
    q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
    return ItemBank.from_qmatrix(q, guess=0.1, slip=0.2, items=items, skill_names=["add", "reduce"])


def test_enemies_are_not_asked_together_and_a_price_ends_tests_early() -> None:
    bank = small_bank()
    points = optimal_test_tree(bank, 4).tree.points
    for path in points:
        assert not {"b", "d"} <= {points[path[:n]].item for n in range(len(path) + 1)}
    free, priced = optimal_test_tree(bank, 4), optimal_test_tree(bank, 4, price=0.12)
    assert priced.tree.length < free.tree.length
    assert priced.value == pytest.approx(priced.tree.entropy + 0.12 * priced.tree.cost)


def test_a_goal_is_reached_at_the_least_cost() -> None:
    bank = small_bank()
    found = optimal_test_tree(bank, 4, aim=cost_of_certainty(0.6, penalty=20.0))
    missed = sum(end.probability for end in found.tree.ends if end.profile_probability < 0.6)
    assert found.value == pytest.approx(found.tree.cost + 20 * missed)
    assert all(node.profile_probability < 0.6 for node in found.tree.points.values() if node.item)


@settings(max_examples=12, deadline=None)
@given(banks())
def test_a_tree_of_a_design_has_the_results_of_its_evaluation(bank: ItemBank) -> None:
    design = Design(bank, FixedOrder(), MaximalItems(3))
    tree, result = design_tree(design), evaluate_design(design)
    assert tree.entropy == pytest.approx(result.entropy.low, abs=1e-9)
    assert tree.pattern_accuracy == pytest.approx(result.pattern_accuracy.low, abs=1e-9)
    assert tree.attribute_accuracy == pytest.approx(result.attribute_accuracy.low, abs=1e-9)
    assert tree.length == pytest.approx(result.length.low, abs=1e-9)
    assert tree.cost == pytest.approx(result.cost.low, abs=1e-9)


def test_json_is_read_again(tmp_path: Path) -> None:
    bank = small_bank()
    tree = optimal_test_tree(bank, 2).tree
    write_item_tree(tree, tmp_path / "tree.json")
    again = read_item_tree(tmp_path / "tree.json", bank)
    items = [node.item for node in tree.points.values()]
    assert [node.item for node in again.points.values()] == items
    assert again.points.keys() == tree.points.keys()
    assert again.entropy == pytest.approx(tree.entropy)
    document = json.loads((tmp_path / "tree.json").read_text("utf-8"))
    document["tree"]["item"] = "unknown"
    (tmp_path / "wrong.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError, match="unknown"):
        read_item_tree(tmp_path / "wrong.json", bank)
    (tmp_path / "other.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(ModelFileError, match="bnmind-item-tree"):
        read_item_tree(tmp_path / "other.json", bank)
    twice = {"item": "c", "responses": {"0": {"item": "c", "responses": {"0": {}}}}}
    document["tree"] = twice
    (tmp_path / "twice.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError, match="twice"):
        read_item_tree(tmp_path / "twice.json", bank)
    for root, where in (
        (7, "a point of a tree at the root, got 7"),
        ({"item": "c", "responses": {"0": 7}}, "a point of a tree after c=0, got 7"),
        ({"item": "c", "responses": {}}, "an item with its responses at the root"),
        ({"item": "c", "responses": {"0": {"item": 1}}}, "an item with its responses after c=0"),
    ):
        document["tree"] = root
        with pytest.raises(ModelFileError, match=where):
            tree_from_json(json.dumps(document), bank)
    with pytest.raises(ModelFileError, match="json"):
        write_item_tree(tree, tmp_path / "tree.xyz")


@pytest.mark.parametrize("suffix", ITEM_TREE_FORMATS)
def test_every_format_writes_every_item_contract(suffix: str) -> None:
    tree = optimal_test_tree(small_bank(), 2).tree
    text = ITEM_TREE_FORMATS[suffix].to_text(tree)
    assert text.endswith("\n")
    assert text.count("\n") > 5
    if suffix in (".svg", ".html"):
        assert "a<1" not in text
    if suffix == ".svg":
        ElementTree.fromstring(text)


def test_a_paper_test_leads_from_every_box_to_a_result() -> None:
    tree = optimal_test_tree(small_bank(), 3).tree
    boxes = paper_test(tree)
    numbers = [box.number for box in boxes]
    assert numbers == list(range(1, len(tree.points) + 1))
    targets = sorted(to for box in boxes for _, to in box.ways)
    assert targets == numbers[1:]
    assert all(to > box.number for box in boxes for _, to in box.ways)
    assert all(bool(box.ways) != bool(box.skills) for box in boxes)
    assert boxes[0].ways[0][0] == "right"
    page = ITEM_TREE_FORMATS[".html"].to_text(tree)
    assert "If right, go to" in page
    assert "mastered" in page
    notes = ITEM_TREE_FORMATS[".md"].to_text(tree)
    assert f"If right, go to **{boxes[0].ways[0][1]}**." in notes


def test_names_of_aims() -> None:
    assert set(AIMS) == {"entropy", "profile", "skills", "cost"}
    assert aim_by_name("entropy").unit == "bits"
    assert aim_by_name("cost:0.9").counts_cost
    with pytest.raises(UnknownNameError, match="aim"):
        aim_by_name("beauty")
    with pytest.raises(InvalidArgumentError, match="probability"):
        aim_by_name("cost:1.5")
    with pytest.raises(InvalidArgumentError, match="penalty"):
        cost_of_certainty(0.9, penalty=0.0)


def test_what_cannot_be_is_refused() -> None:
    bank = small_bank()
    with pytest.raises(InvalidArgumentError, match="depth"):
        optimal_test_tree(bank, 0)
    with pytest.raises(InvalidArgumentError, match="price"):
        optimal_test_tree(bank, 2, price=-1.0)
    with pytest.raises(InvalidArgumentError, match="at most 5 items"):
        fixed_test(bank, 6)
    with pytest.raises(InvalidArgumentError, match="draws no random numbers, got random"):
        design_tree(Design(bank, RandomItem(), MaximalItems(2)))
    with pytest.raises(TooLargeError, match="points"):
        design_tree(Design(bank, stopper=GainBelow(0.0)), max_nodes=4)
    many = fixed_test(ItemBank.from_qmatrix([[1]] * 18, 0.2, 0.1), 18)
    with pytest.raises(TooLargeError, match="18 items have 262,144 sequences"):
        _ = many.tree
