"""Branches that few tests reach, each against what is known without the code."""

from __future__ import annotations

import numpy as np
import pytest

from bnmind.adaptive import (
    Design,
    ItemBank,
    LearningOptions,
    MaximalItems,
    NoisyAnd,
    NoisyOr,
    Saturated,
    TargetEntropy,
    evaluate_design,
)
from bnmind.adaptive.items.averaging import _quadrature
from bnmind.adaptive.learning.model import item_blocks
from bnmind.errors import InvalidArgumentError


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
    np.testing.assert_allclose(block.start(), [0.2, 0.3, 0.1, 0.15, edge], atol=1e-9)


def test_what_items_cannot_tell_apart_bounds_the_results_of_tests_that_were_cut() -> None:
    # All items need both skills, so nobody who lacks one is told from who lacks the other.
    bank = ItemBank.from_qmatrix([[1, 1]] * 4, 0.2, 0.1, skills=Saturated([0.2, 0.3, 0.1, 0.4]))
    cut = evaluate_design(Design(bank, stopper=MaximalItems(4)), max_beliefs=1)
    assert cut.n_cut > 0
    assert cut.pattern_accuracy.high == pytest.approx(0.3 + 0.4)
    exact = evaluate_design(Design(bank, stopper=MaximalItems(4)))
    assert cut.pattern_accuracy.low <= exact.pattern_accuracy.middle <= 0.7


def test_no_target_skill_is_told_as_none() -> None:
    for skills, words in (((), "got none"), (("S", "S"), "got S, S")):
        with pytest.raises(InvalidArgumentError) as caught:
            TargetEntropy(skills)
        assert str(caught.value) == f"expected one or more distinct target skills, {words}"
