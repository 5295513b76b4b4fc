"""The elimination order that bnmind uses when none is named."""

from __future__ import annotations

from dataclasses import dataclass

from bnmind.junction.graph import InteractionGraph
from bnmind.junction.orders import EliminationOrder
from bnmind.junction.randomized import RandomizedGreedy

__all__ = ["BestOrder"]


@dataclass(frozen=True)
class BestOrder:
    """The best order that can be had at a reasonable, counted amount of work."""

    seed: int = 0
    """Seed of the randomized part; the same seed finds the same order."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        return RandomizedGreedy(seed=self.seed)(graph)
