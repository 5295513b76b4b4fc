"""The registry of finders of elimination orders.

A new finder is a file in this folder and a line here. The contract tests run over every member.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bnmind._registry import Registered
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.triangulation.annealing.tree_annealing import TreeAnnealing
from bnmind.junction.triangulation.exact.exact_order import ExactOrder
from bnmind.junction.triangulation.greedy import MinFill, MinWeight, WeightedMinFill
from bnmind.junction.triangulation.portfolio.best_order import BestOrder
from bnmind.junction.triangulation.portfolio.portfolio import Portfolio
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy

__all__ = ["ORDER_FINDERS"]

ORDER_FINDERS: Mapping[str, Registered[OrderFinder]] = MappingProxyType(
    {
        "portfolio": Registered("brief passes, then annealing while it pays", Portfolio),
        "randomized": Registered("the best of many randomized greedy orders", RandomizedGreedy),
        "best": Registered("randomized and exact search, and the portfolio", BestOrder),
        "exact": Registered("branch and bound, proven smallest if it ends", ExactOrder),
        "annealing": Registered("exchanges of subtrees of a contraction tree", TreeAnnealing),
        "min-fill": Registered("greedy, the fewest edges added", MinFill),
        "min-weight": Registered("greedy, the smallest clique", MinWeight),
        "weighted-min-fill": Registered("greedy, the lightest edges added", WeightedMinFill),
    }
)
"""The finder of each name."""
