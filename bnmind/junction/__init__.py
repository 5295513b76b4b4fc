"""Exact inference by junction trees: elimination orders, compiled plans, posteriors."""

from bnmind.junction.approximate.bounded_conditioning import (
    BoundedConditioning,
    BoundsInfo,
    PosteriorBounds,
    compile_bounds,
)
from bnmind.junction.approximate.likelihood_weighting import WeightedPosterior, likelihood_weighting
from bnmind.junction.branch_and_bound.bounded_explanation import BoundedExplanation
from bnmind.junction.branch_and_bound.search import ExplanationSearch, SearchState, compile_search
from bnmind.junction.cases.answers import CaseAnswers
from bnmind.junction.cases.completion import complete, sample_missing
from bnmind.junction.cases.file_answers import FileAnswers, answer_file
from bnmind.junction.cases.predict import impute, log_likelihood, predict, predict_proba
from bnmind.junction.derivatives.gradient import Gradient
from bnmind.junction.derivatives.plan import DerivativePlan, compile_derivatives
from bnmind.junction.engine.competition import COMPETITION_TASKS, CompetitionTask
from bnmind.junction.engine.engine import DEFAULT_MEMORY, Engine, compile_model
from bnmind.junction.engine.one_call import posterior
from bnmind.junction.graphs.elimination_order import EliminationOrder, GivenOrder, OrderFinder
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.graphs.junction_tree import Clique, JunctionTree
from bnmind.junction.inference.batch_run import BatchPosterior
from bnmind.junction.inference.compile import Simplifications, compile_plan, families, junction_tree
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.plan_files.plan_file import read_plan, write_plan
from bnmind.junction.propagation.propagation import Propagation
from bnmind.junction.queries.marginal_map import MarginalMapPlan, compile_marginal_map
from bnmind.junction.queries.mpe import Explanation, ExplanationPlan, compile_explanation
from bnmind.junction.queries.sampling import Samples, SamplingPlan, compile_sampling
from bnmind.junction.single.light_model import LightModel
from bnmind.junction.single.light_query import LightQuery, light_posterior, light_query
from bnmind.junction.slicing.compile_sliced import compile_sliced
from bnmind.junction.slicing.slice_sums import SliceSums
from bnmind.junction.slicing.sliced_plan import SlicedPlan, SliceInfo
from bnmind.junction.triangulation.annealing.tree_annealing import TreeAnnealing
from bnmind.junction.triangulation.dissection.nested_dissection import NestedDissection
from bnmind.junction.triangulation.exact.exact_order import ExactOrder
from bnmind.junction.triangulation.greedy import MinFill, MinWeight, WeightedMinFill
from bnmind.junction.triangulation.local_search import LocalSearch
from bnmind.junction.triangulation.portfolio.best_order import BestOrder
from bnmind.junction.triangulation.portfolio.portfolio import Portfolio
from bnmind.junction.triangulation.portfolio.registry import ORDER_FINDERS
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy

__all__ = [
    "COMPETITION_TASKS",
    "DEFAULT_MEMORY",
    "ORDER_FINDERS",
    "BatchPosterior",
    "BestOrder",
    "BoundedConditioning",
    "BoundedExplanation",
    "BoundsInfo",
    "CaseAnswers",
    "Clique",
    "CompetitionTask",
    "DerivativePlan",
    "EliminationOrder",
    "Engine",
    "ExactOrder",
    "Explanation",
    "ExplanationPlan",
    "ExplanationSearch",
    "FileAnswers",
    "GivenOrder",
    "Gradient",
    "InteractionGraph",
    "JunctionTree",
    "LightModel",
    "LightQuery",
    "Limits",
    "LocalSearch",
    "MarginalMapPlan",
    "MinFill",
    "MinWeight",
    "NestedDissection",
    "OrderFinder",
    "Plan",
    "Portfolio",
    "Posterior",
    "PosteriorBounds",
    "Propagation",
    "RandomizedGreedy",
    "Samples",
    "SamplingPlan",
    "SearchState",
    "Simplifications",
    "SliceInfo",
    "SliceSums",
    "SlicedPlan",
    "TreeAnnealing",
    "WeightedMinFill",
    "WeightedPosterior",
    "answer_file",
    "compile_bounds",
    "compile_derivatives",
    "compile_explanation",
    "compile_marginal_map",
    "compile_model",
    "compile_plan",
    "compile_sampling",
    "compile_search",
    "compile_sliced",
    "complete",
    "families",
    "impute",
    "junction_tree",
    "light_posterior",
    "light_query",
    "likelihood_weighting",
    "log_likelihood",
    "posterior",
    "predict",
    "predict_proba",
    "read_plan",
    "sample_missing",
    "write_plan",
]
