"""The expected results that ``bnmind tree`` reports, and their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bnmind.adaptive import ItemBank
    from bnmind.adaptive.trees import FixedTest, ItemTree, OptimalTest

__all__ = ["expected_lines", "loss_text", "numbers_of", "numbers_of_list"]

_NUMBERS = ("entropy", "pattern_accuracy", "attribute_accuracy", "length", "cost")
"""The expected results that are reported."""


def numbers_of(found: ItemTree) -> dict[str, float]:
    """Return the expected results of a tree, by their names."""
    return {name: getattr(found, name) for name in _NUMBERS}


def numbers_of_list(bank: ItemBank, items: Sequence[str]) -> dict[str, float]:
    """Return the expected results of a list, which may be too long for a tree."""
    from bnmind.adaptive import Design, FixedOrder, MaximalItems, evaluate_design

    order = tuple(items)
    result = evaluate_design(Design(bank, FixedOrder(order), MaximalItems(len(order)), rules=()))
    return {name: getattr(result, name).middle for name in _NUMBERS}


def loss_text(found: OptimalTest | FixedTest) -> str:
    """Return what the greedy test or list loses against the best one, as far as it is known."""
    least = f"{max(found.regret, 0.0):.6f}"
    if found.is_proven:
        return f"it loses {least}"
    return f"it loses between {least} and {found.greedy_value - found.lower:.6f}"


def expected_lines(numbers: Mapping[str, float], bank: ItemBank) -> list[str]:
    """Return the lines about the expected results of a test."""
    from bnmind.adaptive.beliefs.ability_estimates import has_ability

    if has_ability(bank):  # profiles would be points of its grid
        return [
            f"Expected: {numbers['entropy']:.4f} bits unknown, {numbers['length']:.2f} items asked."
        ]
    return [
        f"Expected: {numbers['entropy']:.4f} bits unknown, {numbers['pattern_accuracy']:.4f} of the"
        f" profiles and {numbers['attribute_accuracy']:.4f} of the skills",
        f"  classified right, {numbers['length']:.2f} items asked.",
    ]
