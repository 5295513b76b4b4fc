"""Randomized greedy elimination orders: many passes whose scores drift towards good orders.

Each pass eliminates the variable with the least score + noise, the score being the
logarithm of added edges, of clique size, or of weighted added edges, in turn. The noise is
kept for each variable and walks: a pass with a little more noise is taken over when its
order is not worse, which makes the search a random hill climb on greedy orders. A chain
that stands still starts again with the next score and no noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidModelError
from bnmind.junction.graph import InteractionGraph
from bnmind.junction.greedy import (
    MinFill,
    MinWeight,
    Score,
    WeightedMinFill,
    eliminate_greedily,
    fill,
    weight,
    weighted_fill,
)
from bnmind.junction.orders import EliminationOrder, measured_order

__all__ = ["RandomizedGreedy"]

_STEP = 0.5
"""Spread of one step of the noise, on the scale of natural logarithms of scores."""


@dataclass(frozen=True)
class RandomizedGreedy:
    """The best of many greedy orders with random scores; the same seed finds the same order.

    The three greedy orders without noise are tried first, so it is never worse than they.
    """

    restarts: int = 100
    """Number of passes with noise."""
    patience: int = 20
    """Passes without improvement after which a chain starts again."""
    seed: int = 0
    """Seed of the noise."""

    def __post_init__(self) -> None:
        problems = []
        if self.restarts < 0:
            problems.append(f"expected a number of restarts of at least 0, got {self.restarts}")
        if self.patience < 1:
            problems.append(f"expected a patience of at least 1, got {self.patience}")
        if problems:
            raise InvalidModelError(problems)

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the best order met, with its sizes."""
        method = f"randomized greedy ({self.restarts} passes)"
        plain = (MinFill()(graph), MinWeight()(graph), WeightedMinFill()(graph))
        best = min(plain, key=lambda order: order.total_size)
        if any(order.proven for order in plain):
            return next(order for order in plain if order.proven)
        rng = np.random.default_rng(self.seed)
        scores = (fill, weight, weighted_fill)
        chain = 0
        standing = self.patience
        for _ in range(self.restarts):
            if standing >= self.patience:
                noise = np.zeros(graph.n)
                current = plain[chain % 3].total_size
                score = scores[chain % 3]
                chain += 1
                standing = 0
            # A few variables, or all: both small and wide moves are needed.
            moved = rng.random(graph.n) < rng.random()
            proposal = noise + _STEP * moved * rng.standard_normal(graph.n)
            found = _noisy_pass(graph, score, proposal, limit=current)
            standing += 1
            if found is None:
                continue
            noise = proposal
            if found.total_size < current:
                standing = 0
            current = found.total_size
            if current < best.total_size:
                best = found
        return EliminationOrder(
            best.variables, best.total_size, best.largest, proven=best.proven, method=method
        )


def _noisy_pass(
    graph: InteractionGraph, score: Score, noise: NDArray[np.float64], *, limit: int
) -> EliminationOrder | None:
    sizes = graph.sizes
    shifts: Sequence[float] = noise.tolist()

    def cost(neighbors: Sequence[int], v: int) -> float:
        value = score(neighbors, sizes, v)
        # math.log takes integers of any size; 0 (no edge is added) goes first.
        return math.log(value) + shifts[v] if value else -math.inf

    order = eliminate_greedily(graph, cost, limit=limit)
    return None if order is None else measured_order(graph, order, method="noisy greedy")
