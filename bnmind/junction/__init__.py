"""Junction trees: elimination orders, compiled plans, exact posteriors."""

from bnmind.junction.batch import BatchPosterior
from bnmind.junction.best_order import BestOrder
from bnmind.junction.compile import compile_plan, families, junction_tree
from bnmind.junction.exact_order import ExactOrder
from bnmind.junction.graph import InteractionGraph
from bnmind.junction.greedy import MinFill, MinWeight, WeightedMinFill
from bnmind.junction.local_search import LocalSearch
from bnmind.junction.marginal_map import MarginalMapPlan, compile_marginal_map
from bnmind.junction.most_probable import Explanation, ExplanationPlan, compile_explanation
from bnmind.junction.orders import EliminationOrder, GivenOrder, OrderFinder
from bnmind.junction.plan import Plan
from bnmind.junction.posterior import Posterior
from bnmind.junction.randomized import RandomizedGreedy
from bnmind.junction.sampling import Samples, SamplingPlan, compile_sampling
from bnmind.junction.tree import Clique, JunctionTree

__all__ = [
    "BatchPosterior",
    "BestOrder",
    "Clique",
    "EliminationOrder",
    "ExactOrder",
    "Explanation",
    "ExplanationPlan",
    "GivenOrder",
    "InteractionGraph",
    "JunctionTree",
    "LocalSearch",
    "MarginalMapPlan",
    "MinFill",
    "MinWeight",
    "OrderFinder",
    "Plan",
    "Posterior",
    "RandomizedGreedy",
    "Samples",
    "SamplingPlan",
    "WeightedMinFill",
    "compile_explanation",
    "compile_marginal_map",
    "compile_plan",
    "compile_sampling",
    "families",
    "junction_tree",
]
