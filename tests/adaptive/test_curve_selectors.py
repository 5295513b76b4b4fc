"""Selectors for ability curves, and the progressive method, against slow and obvious twins."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.adaptive import (
    AStratified,
    Examinees,
    FixedOrder,
    GradedResponse,
    ItemBank,
    Logistic,
    MaximalFisher,
    MaximalItems,
    MinimalEntropy,
    MinimalPosteriorVariance,
    Progressive,
    Selector,
    SkillBelief,
    ability_deviation,
    irt_bank,
    simulate,
    start_belief,
    start_beliefs,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError

CURVES = irt_bank(
    [
        *(Logistic(slope, at) for slope, at in ((0.5, 0.0), (2.0, 0.1), (1.0, -1.0), (0.6, 2.0))),
        GradedResponse(1.5, (-1.0, 1.0)),
    ]
)


def test_the_expected_posterior_variance_is_that_of_all_responses() -> None:
    belief = start_belief(CURVES).update("item_3", 1)
    names = ("item_1", "item_2", "item_5")
    now = float(ability_deviation(belief)) ** 2
    for name, score in zip(names, MinimalPosteriorVariance().scores(belief, names), strict=True):
        chances = belief.predict(name)
        after = [float(ability_deviation(belief.update(name, r))) for r in range(len(chances))]
        assert now - score == pytest.approx(float(chances @ np.square(after)), abs=1e-12)
    two = ItemBank.from_qmatrix([[1, 0], [0, 1]])
    with pytest.raises(InvalidModelError, match="one ability"):
        MinimalPosteriorVariance().select(start_belief(two), two.item_names)


def test_flat_items_near_the_ability_come_first() -> None:
    selector, belief = AStratified(length=4, strata=2), start_belief(CURVES)
    # The flatter half: items 1, 4 and 3; of these, the difficulty nearest to 0.
    assert selector.select(belief, CURVES.item_names).item == "item_1"
    belief = belief.update("item_1", 0)
    assert selector.select(belief, CURVES.item_names[1:]).item == "item_3"
    belief = belief.update("item_3", 0)  # the second half of the test: the steeper items
    assert selector.select(belief, ("item_2", "item_4", "item_5")).item in ("item_2", "item_5")
    assert selector.select(belief, ("item_4",)).item == "item_4"
    # With blocks of similar difficulty, each stratum has easy and hard items.
    # A test that is longer goes on with the steepest items.
    short, last = AStratified(length=1, strata=2), selector.scores(belief, CURVES.item_names)
    assert short.scores(belief, CURVES.item_names).tolist() == last.tolist()
    blocked = AStratified(length=4, strata=2, blocked=True)
    easy = [Logistic(slope, -2.0) for slope in (1.0, 2.0)]
    hard = [Logistic(slope, 2.0) for slope in (3.0, 4.0)]
    bank = irt_bank([*easy, *hard])
    scores = blocked.scores(start_belief(bank), bank.item_names)
    assert (scores > -10).tolist() == [True, False, True, False]
    assert (AStratified(4, 2).scores(start_belief(bank), bank.item_names) > -10).tolist() == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(InvalidArgumentError, match=r"length .* 0; expected strata"):
        AStratified(0, 0)


def test_steep_items_that_fall_are_steep() -> None:
    bank = irt_bank([Logistic(slope, 0.0) for slope in (-2.0, 1.0, -0.5, 0.3)])
    selector = AStratified(4, 2)
    first = selector.select(start_belief(bank), bank.item_names).item
    assert first == "item_3"


def test_a_stratified_tests_use_items_more_evenly_than_maximal_information() -> None:
    rng = np.random.default_rng(1)
    bank = irt_bank(
        [
            Logistic(float(a), float(b))
            for a, b in zip(rng.lognormal(0, 0.5, 60), rng.normal(0, 1, 60), strict=True)
        ]
    )
    people = Examinees.drawn(bank, 200, seed=1)
    selectors = {"a": AStratified(12), "fisher": MaximalFisher()}
    result = simulate(bank, people, selectors, MaximalItems(12))
    overlap = {run.selector: run.overlap for run in result.runs}
    assert overlap["a"] < overlap["fisher"] - 0.05


def test_the_weight_of_the_score_grows_from_zero_to_one() -> None:
    assert Progressive(5).weights().tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    # The sums of Barrada et al. (2008) for b = 1 and b = 2.
    assert Progressive(4, acceleration=1).weights() == pytest.approx([0, 1 / 6, 3 / 6, 1])
    assert Progressive(4, acceleration=2).weights() == pytest.approx([0, 1 / 14, 5 / 14, 1])
    assert Progressive(1).weights().tolist() == [1.0]
    late, early = (Progressive(6, acceleration=b).weights() for b in (3, -0.9))
    assert np.all(late[1:-1] < early[1:-1])
    for b in (400.0, 1e308):
        assert Progressive(10, acceleration=-b).weights().tolist() == [0.0, *[1.0] * 9]
        last = Progressive(10, acceleration=b).weights()
        assert last == pytest.approx([*[0.0] * 9, 1.0], abs=1e-15)
    with pytest.raises(InvalidArgumentError, match="length"):
        Progressive(0)
    with pytest.raises(InvalidArgumentError, match="acceleration"):
        Progressive(3, acceleration=np.inf)


def test_the_progressive_method_is_random_first_and_sure_last() -> None:
    bank = ItemBank.from_qmatrix([[1]] * 6, guess=np.linspace(0.05, 0.4, 6), slip=0.1)
    selector, n = Progressive(4), 3000
    luck = np.random.default_rng(1).random((n, 6))
    batch = selector.select_batch(start_beliefs(bank, n), np.ones((n, 6), dtype=bool), luck=luck)
    shares = np.bincount(batch.items, minlength=6) / n
    assert shares == pytest.approx(np.full(6, 1 / 6), abs=0.03)
    belief = start_belief(bank)
    for name in bank.item_names[:3]:
        belief = belief.update(name, 1)
    rest = bank.item_names[3:]
    best = MinimalEntropy().select(belief, rest).item
    for seed in range(5):
        assert selector.select(belief, rest, rng=np.random.default_rng(seed)).item == best
    # Scores below 0 are as random as others.
    negative = Progressive(4, FixedOrder())
    found = negative.select_batch(start_beliefs(bank, n), np.ones((n, 6), bool), luck=luck)
    assert len(set(found.items.tolist())) == 6


def test_the_progressive_method_lowers_the_largest_exposure() -> None:
    bank = ItemBank.from_qmatrix(
        [[1, 0], [0, 1], [1, 1]] * 6, guess=np.linspace(0.05, 0.3, 18), slip=0.1
    )
    people = Examinees.drawn(bank, 300, seed=1)
    selectors: dict[str, Selector[SkillBelief]] = {
        "plain": MinimalEntropy(),
        "progressive": Progressive(6),
    }
    runs = {run.selector: run for run in simulate(bank, people, selectors, MaximalItems(6)).runs}
    assert runs["progressive"].exposure.max() < runs["plain"].exposure.max() - 0.1
    assert runs["progressive"].overlap < runs["plain"].overlap - 0.1
