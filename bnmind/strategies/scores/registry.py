"""The registry of scores: the name of each score, and the function that makes it.

The name of a score is also the name of the strategy that plays it, one guess ahead
(`bnmind.strategies.STRATEGIES`). To add a score, write it in a module of its own and add
one line here. The contract tests run over every member.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bnmind.strategies.scores.entropy import EntropyLeft
from bnmind.strategies.scores.expected_size import ExpectedSize
from bnmind.strategies.scores.larmouth import Larmouth
from bnmind.strategies.scores.most_parts import MostParts
from bnmind.strategies.scores.score import Score
from bnmind.strategies.scores.weighted_entropy import shipped_weights
from bnmind.strategies.scores.worst_case import WorstCase

__all__ = ["SCORES"]

SCORES: Mapping[str, Callable[[], Score]] = MappingProxyType(
    {
        "maxmin": WorstCase,
        "irving": ExpectedSize,
        "neuwirth": EntropyLeft,
        "larmouth": Larmouth,
        "kooi": MostParts,
        "weighted-entropy": shipped_weights,
    }
)
"""The function that makes each named score."""
