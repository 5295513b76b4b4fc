"""Strategies and their options reject fields of a wrong type when they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bnmind.errors import InvalidArgumentError
from bnmind.mastermind import Board
from bnmind.strategies import (
    Best,
    Breadth,
    Deeper,
    Entropy,
    EstimationOfDistribution,
    ExpectedSize,
    Knuth,
    LocalEntropy,
    LookAhead,
    LookAheadTwo,
    MapCode,
    MostParts,
    Myopic,
    Optimal,
    Planned,
    RandomCode,
    Situation,
    Subset,
    WorstCase,
)
from bnmind.strategies.metropolis import WalkMemory

FAULTS: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (Best, {"name": 3}, "name"),
    (Breadth, {"pool": 8, "tried": "two"}, "tried"),
    (Deeper, {"firsts": 1.5}, "firsts"),
    (Entropy, {"once": "yes"}, "once"),
    (EstimationOfDistribution, {"population": "many"}, "population"),
    (EstimationOfDistribution, {"opening": (1, 1, 2, 2)}, "opening"),
    (ExpectedSize, {"corrected": 1.5}, "corrected"),
    (Knuth, {"name": None}, "name"),
    (LocalEntropy, {"opening": "AABC"}, "opening"),
    (LookAhead, {"value": 1.0}, "value"),
    (LookAheadTwo, {"pruning": 50}, "pruning"),
    (MapCode, {"name": 3}, "name"),
    (MostParts, {"winning_counts": "no"}, "winning_counts"),
    (Myopic, {"score": WorstCase(), "ties": "random"}, "ties"),
    (Optimal, {"in_worst_case": "yes"}, "in_worst_case"),
    (Planned, {"name": "planned", "plan": 3}, "plan"),
    (RandomCode, {"name": 3}, "name"),
    (Situation, {"guesses_left": "three"}, "guesses_left"),
    (Subset, {"score": "entropy"}, "score"),
    (Subset, {"score": WorstCase(), "size": "ten"}, "size"),
    (WalkMemory, {"board": Board(2, 3), "code": (1, 2), "stuck": "no"}, "stuck"),
    (WorstCase, {"next_largest": "no"}, "next_largest"),
]


@pytest.mark.parametrize(("kind", "fields", "wrong"), FAULTS)
def test_fields_of_a_wrong_type_are_named(
    kind: Callable[..., Any], fields: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=wrong):
        kind(**fields)


def test_a_situation_leaves_at_least_one_guess() -> None:
    with pytest.raises(InvalidArgumentError, match=r"guesses_left .* at least 1 or None, got 0"):
        Situation(guesses_left=0)
