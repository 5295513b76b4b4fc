"""Junction trees: elimination orders, compiled plans, exact posteriors."""

from bnmind.junction.best_order import BestOrder
from bnmind.junction.compile import compile_plan, junction_tree
from bnmind.junction.graph import InteractionGraph
from bnmind.junction.orders import EliminationOrder, GivenOrder, OrderFinder
from bnmind.junction.plan import Plan
from bnmind.junction.posterior import Posterior
from bnmind.junction.tree import Clique, JunctionTree

__all__ = [
    "BestOrder",
    "Clique",
    "EliminationOrder",
    "GivenOrder",
    "InteractionGraph",
    "JunctionTree",
    "OrderFinder",
    "Plan",
    "Posterior",
    "compile_plan",
    "junction_tree",
]
