"""Exact evaluation against the plainest recursion over live tests, and against simulation."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind._registry import Registered
from bnmind.adaptive import (
    SELECTORS,
    STOPPERS,
    Blueprint,
    Bound,
    Design,
    EntropyBelow,
    FixedOrder,
    Independent,
    Item,
    ItemBank,
    LossGain,
    MaximalCost,
    MaximalItems,
    MinimalEntropy,
    RandomItem,
    Responses,
    SkillBelief,
    StopBy,
    evaluate_design,
    irt_bank,
    read_bank,
    selector_by_name,
    simulate,
    start_belief,
    stopper_by_names,
)
from bnmind.adaptive.scores import Selections
from bnmind.errors import InvalidArgumentError
from tests.banks import banks

FRACTIONS = "models/banks/fraction-subtraction.json"


def by_recursion(design: Design) -> dict[str, float]:
    """Return the expected results of a test, one live belief after the other."""
    sums: dict[str, float] = defaultdict(float)
    bank = design.bank

    def follow(belief: SkillBelief, asked: tuple[str, ...], chance: float) -> None:
        outlook = design.outlook(belief, asked)
        if outlook.stop_reason:
            sums["pattern"] += chance * belief.profile().probability
            sums["entropy"] += chance * belief.entropy
            sums["length"] += chance * len(asked)
            sums["cost"] += chance * sum(bank.item(name).cost for name in asked)
            sums[outlook.stop_reason] += chance
            for name in asked:
                sums[f"exposure of {name}"] += chance
            for skill in bank.skills:
                sums[f"accuracy of {skill}"] += chance * float(belief.marginal(skill).max())
            return
        item = design.selector.select(belief, outlook.allowed).item
        for response, probability in enumerate(belief.predict(item).tolist()):
            if probability > 1e-12:
                after = belief.update(item, response)
                follow(after, (*asked, item), chance * probability)

    follow(start_belief(bank), (), 1.0)
    return sums


@settings(max_examples=25, deadline=None)
@given(banks(), st.sampled_from(["items", "entropy"]), st.booleans())
def test_it_agrees_with_recursion(bank: ItemBank, stop: str, loss: bool) -> None:
    selector = LossGain() if loss else MinimalEntropy()
    stopper = MaximalItems(3) if stop == "items" else (EntropyBelow(0.5) | MaximalItems(3))
    design = Design(bank, selector, stopper)
    expected, result = by_recursion(design), evaluate_design(design)
    assert result.is_exact
    assert result.evaluated == pytest.approx(1)
    for name, value in (
        ("pattern", result.pattern_accuracy),
        ("entropy", result.entropy),
        ("length", result.length),
        ("cost", result.cost),
    ):
        assert value == pytest.approx([expected[name]] * 2, abs=1e-9), name
    for item in bank.item_names:
        share = expected[f"exposure of {item}"]
        assert result.exposure[item] == pytest.approx([share] * 2, abs=1e-9)
    for skill in bank.skills:
        share = expected[f"accuracy of {skill}"]
        assert result.skill_accuracy[skill] == pytest.approx([share] * 2, abs=1e-9)
    for reason, share in result.reasons.items():
        assert share == pytest.approx(expected[reason], abs=1e-9)


def equal_items(n: int, *, slip: float = 0.2) -> ItemBank:
    items = [Item(f"i{k}", cost=1 + k % 3) for k in range(n)]
    q = [[1, 0] if k % 2 else [0, 1] for k in range(n)]
    return ItemBank.from_qmatrix(
        q, guess=0.2, slip=slip, skills=Independent([[0.3, 0.7], [0.4, 0.6]]), items=items
    )


@pytest.mark.parametrize("slip", [0.1, 0.2])
def test_equal_beliefs_are_merged_and_change_nothing(slip: float) -> None:
    bank = equal_items(8, slip=slip)
    design = Design(bank, FixedOrder(), (MaximalItems(8) | MaximalCost(13.0)))
    merged, apart = evaluate_design(design), evaluate_design(design, merge=False)
    assert merged.n_beliefs < apart.n_beliefs / 3
    assert merged.n_merged
    assert not apart.n_merged
    for name in ("pattern_accuracy", "attribute_accuracy", "entropy", "length", "cost"):
        assert getattr(merged, name) == pytest.approx(getattr(apart, name), abs=1e-12), name
    for name, curve in merged.curves.items():
        assert curve == pytest.approx(apart.curves[name], abs=1e-12), name


def test_opposite_answers_cancel_where_guess_and_slip_are_equal() -> None:
    # With guess = slip, right and wrong are inverse: only their difference matters.
    bank = ItemBank.from_qmatrix([[1]] * 6, guess=0.2, slip=0.2)
    result = evaluate_design(Design(bank, FixedOrder()))
    assert result.n_beliefs == 1 + 2 + 3 + 4 + 5 + 6 + 7


def test_nothing_is_merged_where_the_order_may_matter() -> None:
    bank = equal_items(6)
    free = StopBy(lambda belief, asked: len(asked) >= 5)
    assert evaluate_design(Design(bank, FixedOrder(), free)).n_merged == 0


OF_AN_ABILITY = ("fisher", "mepv", "a-stratified", "deviation", "cut")
DRAWING = ("random", "randomesque", "progressive")
PAIRS = [(name, "items") for name in SELECTORS if name not in DRAWING]
PAIRS += [("entropy", stop) for stop in STOPPERS]


@pytest.mark.parametrize(("name", "stop"), PAIRS)
def test_merging_changes_nothing_contract(name: str, stop: str) -> None:
    """What looks at the order of the answers keeps equal beliefs apart."""

    def text(own: str, member: Registered[Any]) -> str:
        return f"{own}:{member.argument.example}" if member.argument and not member.plain else own

    curves = np.array([[1, 0]] * 3 + [[2, 0.5]] * 3)
    bank = irt_bank(curves) if {name, stop} & {*OF_AN_ABILITY} else equal_items(6)
    stopper = stopper_by_names([text(stop, STOPPERS[stop])])
    assert stopper is not None
    selector = selector_by_name(text(name, SELECTORS[name]))
    design = Design(bank, selector, (stopper | MaximalItems(5)))
    merged, apart = evaluate_design(design), evaluate_design(design, merge=False)
    for measure in ("pattern_accuracy", "entropy", "length"):
        assert getattr(merged, measure) == pytest.approx(getattr(apart, measure), abs=1e-9)
    for measure, curve in merged.curves.items():
        assert curve == pytest.approx(apart.curves[measure], abs=1e-9)
    assert merged.n_merged or stop != "items"
    assert not merged.n_merged or stop != "plateau"


@settings(max_examples=25, deadline=None)
@given(banks(), st.integers(1, 12), st.sampled_from([0.0, 0.05, 0.2]))
def test_a_cut_tree_bounds_the_exact_results(bank: ItemBank, most: int, least: float) -> None:
    design = Design(bank, MinimalEntropy(), MaximalItems(4))
    exact = evaluate_design(design)
    cut = evaluate_design(design, max_beliefs=most, min_probability=least)
    assert cut.n_beliefs <= max(most, 1)
    pairs = [
        (getattr(cut, name), getattr(exact, name))
        for name in ("pattern_accuracy", "attribute_accuracy", "entropy", "length", "cost")
    ]
    pairs += [(cut.exposure[name], exact.exposure[name]) for name in bank.item_names]
    pairs += [(cut.skill_accuracy[name], exact.skill_accuracy[name]) for name in bank.skills]
    for interval, value in pairs:
        assert interval.low - 1e-9 <= value.low <= interval.high + 1e-9
    for measure, (low, high) in cut.curves.items():
        assert np.all(low <= exact.curves[measure][0] + 1e-9) or measure == "entropy"
        assert np.all(high >= exact.curves[measure][1] - 1e-9)


class AfterThree(StopBy):
    """A stopper of a user's own that says how long tests may be."""

    def __init__(self) -> None:
        super().__init__(lambda belief, asked: len(asked) >= 3)

    def most_items(self) -> int:
        return 3


def test_a_cut_tree_knows_the_length_of_a_stopper_of_ones_own() -> None:
    cut = evaluate_design(Design(equal_items(6), FixedOrder(), AfterThree()), max_beliefs=3)
    assert cut.n_cut
    assert cut.length.high == pytest.approx(3)


def test_a_cut_tree_knows_that_minima_outweigh_stoppers() -> None:
    items = [Item(f"i{k}", content="ab"[k // 2]) for k in range(4)]
    bank = ItemBank.from_qmatrix([[1]] * 4, guess=0.2, slip=0.1, items=items)
    rules = (Blueprint((Bound(2, code="a"), Bound(2, code="b"))),)
    design = Design(bank, FixedOrder(), MaximalCost(1.0), rules=rules)
    cut = evaluate_design(design, max_beliefs=3)
    assert evaluate_design(design).length.low == pytest.approx(4)
    assert cut.n_cut
    assert cut.length.high == pytest.approx(4)


def test_it_agrees_with_simulation() -> None:
    bank = read_bank(FRACTIONS)
    stopper = MaximalItems(10) | EntropyBelow(1.0)
    result = evaluate_design(Design(bank, stopper=stopper))
    n = 4000
    people = Responses.drawn(bank, n, seed=3)
    run = simulate(bank, people, {"entropy": MinimalEntropy()}, stopper)
    for name in ("pattern_accuracy", "attribute_accuracy", "entropy"):
        mean, error = run.mean("entropy", name)
        low, _ = result.curves[name]
        steps = len(mean)
        assert np.all(np.abs(mean - low[:steps]) <= 4.5 * error + 1e-9), name
    lengths = run.runs[0].lengths
    assert abs(lengths.mean() - result.length.low) <= 4.5 * lengths.std() / np.sqrt(n)
    shares = np.array([result.exposure[name].low for name in bank.item_names])
    errors = np.sqrt(shares * (1 - shares) / n)
    assert np.all(np.abs(run.runs[0].exposure - shares) <= 4.5 * errors + 1e-9)


@pytest.mark.slow
def test_ten_items_agree_with_a_hundred_thousand_examinees() -> None:
    bank = read_bank(FRACTIONS)
    result = evaluate_design(Design(bank, stopper=MaximalItems(10)))
    people = Responses.drawn(bank, 100_000, seed=1)
    run = simulate(bank, people, {"entropy": MinimalEntropy()}, MaximalItems(10))
    for name in ("pattern_accuracy", "attribute_accuracy", "entropy"):
        mean, error = run.mean("entropy", name)
        assert abs(mean[-1] - getattr(result, name).low) <= 4 * error[-1], name


def test_curves_end_with_the_results_and_lengths_sum_to_one() -> None:
    result = evaluate_design(Design(equal_items(5), stopper=EntropyBelow(0.8)))
    assert result.curves["entropy"][0][-1] == pytest.approx(result.entropy.low)
    assert result.curves["pattern_accuracy"][1][-1] == pytest.approx(result.pattern_accuracy.high)
    assert result.lengths.sum() == pytest.approx(1)
    assert result.lengths @ np.arange(6) == pytest.approx(result.length.low)
    frame = result.to_frame()
    assert frame.set_index("measure").loc["length", "low"] == pytest.approx(result.length.low)


def test_a_selector_that_draws_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="simulate such a test instead"):
        evaluate_design(Design(equal_items(3), RandomItem()))
    with pytest.raises(InvalidArgumentError, match="min_probability"):
        evaluate_design(Design(equal_items(3)), min_probability=1.5)
    with pytest.raises(InvalidArgumentError, match="max_beliefs"):
        evaluate_design(Design(equal_items(3)), max_beliefs=0)


def test_another_fault_of_a_selector_is_not_taken_as_luck() -> None:
    @dataclass(frozen=True)
    class Unlucky(FixedOrder):
        def select_batch(self, *_: Any, **__: Any) -> Selections:
            raise InvalidArgumentError("no such luck: this selector is broken")

    with pytest.raises(InvalidArgumentError, match="is broken"):
        evaluate_design(Design(equal_items(3), Unlucky()))
