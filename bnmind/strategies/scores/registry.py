"""The registry of scores: the name of each score, and what makes it.

The name of a score is also the name of the strategy that plays it, one guess ahead
(`bnmind.strategies.STRATEGIES`). To add a score, write it in a module of its own and add
one line here. The contract tests run over every member.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bnmind._registry import Registered
from bnmind.strategies.scores.entropy import EntropyLeft
from bnmind.strategies.scores.expected_size import ExpectedSize
from bnmind.strategies.scores.larmouth import Larmouth
from bnmind.strategies.scores.most_parts import MostParts
from bnmind.strategies.scores.score import Score
from bnmind.strategies.scores.weighted_entropy import shipped_weights
from bnmind.strategies.scores.worst_case import WorstCase

__all__ = ["SCORES"]

SCORES: Mapping[str, Registered[Score]] = MappingProxyType(
    {
        "maxmin": Registered("the smallest largest reply class", WorstCase),
        "irving": Registered("the smallest expected reply class", ExpectedSize),
        "neuwirth": Registered("the largest entropy of the reply", EntropyLeft),
        "larmouth": Registered("the same, corrected for a guess that may win", Larmouth),
        "kooi": Registered("the most reply classes", MostParts),
        "weighted-entropy": Registered("the largest weighted entropy", shipped_weights),
    }
)
"""The score of each name; calling a member makes it."""
