# The names of `bnmind.junction`, for type checkers and `bnmind._front_door`: the one list.

from bnmind.junction.approximate.bounded_conditioning import (
    BoundedConditioning as BoundedConditioning,
)
from bnmind.junction.approximate.bounded_conditioning import BoundsInfo as BoundsInfo
from bnmind.junction.approximate.bounded_conditioning import PosteriorBounds as PosteriorBounds
from bnmind.junction.approximate.bounded_conditioning import compile_bounds as compile_bounds
from bnmind.junction.approximate.likelihood_weighting import WeightedPosterior as WeightedPosterior
from bnmind.junction.approximate.likelihood_weighting import (
    likelihood_weighting as likelihood_weighting,
)
from bnmind.junction.branch_and_bound.bounded_explanation import (
    BestExplanations as BestExplanations,
)
from bnmind.junction.branch_and_bound.bounded_explanation import (
    BoundedExplanation as BoundedExplanation,
)
from bnmind.junction.branch_and_bound.search import ExplanationSearch as ExplanationSearch
from bnmind.junction.branch_and_bound.search import compile_search as compile_search
from bnmind.junction.cases.answers import CaseAnswers as CaseAnswers
from bnmind.junction.cases.completion import complete as complete
from bnmind.junction.cases.completion import sample_missing as sample_missing
from bnmind.junction.cases.file_answers import FileAnswers as FileAnswers
from bnmind.junction.cases.file_answers import answer_file as answer_file
from bnmind.junction.cases.predict import impute as impute
from bnmind.junction.cases.predict import log_likelihood as log_likelihood
from bnmind.junction.cases.predict import predict as predict
from bnmind.junction.cases.predict import predict_proba as predict_proba
from bnmind.junction.derivatives.compile import compile_derivatives as compile_derivatives
from bnmind.junction.derivatives.gradient import Gradient as Gradient
from bnmind.junction.derivatives.plan import DerivativePlan as DerivativePlan
from bnmind.junction.engine.competition import COMPETITION_TASKS as COMPETITION_TASKS
from bnmind.junction.engine.competition import CompetitionTask as CompetitionTask
from bnmind.junction.engine.engine import DEFAULT_MEMORY as DEFAULT_MEMORY
from bnmind.junction.engine.engine import Engine as Engine
from bnmind.junction.engine.engine import compile_model as compile_model
from bnmind.junction.engine.one_call import posterior as posterior
from bnmind.junction.engine.reading import Targets as Targets
from bnmind.junction.graphs.elimination_order import EliminationOrder as EliminationOrder
from bnmind.junction.graphs.elimination_order import GivenOrder as GivenOrder
from bnmind.junction.graphs.elimination_order import OrderFinder as OrderFinder
from bnmind.junction.graphs.interaction_graph import InteractionGraph as InteractionGraph
from bnmind.junction.graphs.junction_tree import Clique as Clique
from bnmind.junction.graphs.junction_tree import JunctionTree as JunctionTree
from bnmind.junction.inference.batch_run import BatchPosterior as BatchPosterior
from bnmind.junction.inference.compile import Simplifications as Simplifications
from bnmind.junction.inference.compile import compile_plan as compile_plan
from bnmind.junction.inference.compile import families as families
from bnmind.junction.inference.compile import junction_tree as junction_tree
from bnmind.junction.inference.evidence import Evidence as Evidence
from bnmind.junction.inference.limits import Limits as Limits
from bnmind.junction.inference.plan import Plan as Plan
from bnmind.junction.inference.posterior import Posterior as Posterior
from bnmind.junction.plan_files.plan_file import read_plan as read_plan
from bnmind.junction.plan_files.plan_file import write_plan as write_plan
from bnmind.junction.propagation.propagation import Propagation as Propagation
from bnmind.junction.queries.marginal_map import MarginalMapPlan as MarginalMapPlan
from bnmind.junction.queries.marginal_map import compile_marginal_map as compile_marginal_map
from bnmind.junction.queries.mpe import Explanation as Explanation
from bnmind.junction.queries.mpe import ExplanationPlan as ExplanationPlan
from bnmind.junction.queries.mpe import compile_explanation as compile_explanation
from bnmind.junction.queries.sampling import Samples as Samples
from bnmind.junction.queries.sampling import SamplingPlan as SamplingPlan
from bnmind.junction.queries.sampling import compile_sampling as compile_sampling
from bnmind.junction.single.light_model import LightModel as LightModel
from bnmind.junction.single.light_query import LightQuery as LightQuery
from bnmind.junction.single.light_query import light_posterior as light_posterior
from bnmind.junction.single.light_query import light_query as light_query
from bnmind.junction.slicing.compile_sliced import compile_sliced as compile_sliced
from bnmind.junction.slicing.slice_sums import SliceSums as SliceSums
from bnmind.junction.slicing.sliced_plan import SlicedPlan as SlicedPlan
from bnmind.junction.slicing.sliced_plan import SliceInfo as SliceInfo
from bnmind.junction.triangulation.annealing.tree_annealing import TreeAnnealing as TreeAnnealing
from bnmind.junction.triangulation.exact.exact_order import ExactOrder as ExactOrder
from bnmind.junction.triangulation.greedy import MinFill as MinFill
from bnmind.junction.triangulation.greedy import MinWeight as MinWeight
from bnmind.junction.triangulation.greedy import WeightedMinFill as WeightedMinFill
from bnmind.junction.triangulation.portfolio.best_order import BestOrder as BestOrder
from bnmind.junction.triangulation.portfolio.portfolio import Portfolio as Portfolio
from bnmind.junction.triangulation.portfolio.registry import ORDER_FINDERS as ORDER_FINDERS
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy as RandomizedGreedy
