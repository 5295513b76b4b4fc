"""Strategies: code-breakers, and the trees they make of a game."""

from bnmind.strategies.consistent_search import FoundCode, find_possible_code, play_by_search
from bnmind.strategies.deeper import Deeper, deeper, deeper_still
from bnmind.strategies.endgame import Breadth
from bnmind.strategies.entropy import Entropy
from bnmind.strategies.fit_weights import FittedWeights, fit_weights
from bnmind.strategies.goal import Goal
from bnmind.strategies.knuth import Knuth
from bnmind.strategies.map_code import MapCode, trust_suffices
from bnmind.strategies.measure import Measured, measure_games, measure_tree
from bnmind.strategies.most_informative import most_informative
from bnmind.strategies.most_wins import most_wins
from bnmind.strategies.myopic import Among, Myopic, Ties
from bnmind.strategies.optimal import (
    Optimum,
    first_guesses,
    optimal_in_worst_case,
    optimal_on_average,
)
from bnmind.strategies.optimal_strategy import Optimal
from bnmind.strategies.planned import Planned, strategy_tree
from bnmind.strategies.random_code import RandomCode
from bnmind.strategies.registry import STRATEGIES, strategy_by_name
from bnmind.strategies.regret import GuessRegret, regrets
from bnmind.strategies.regret_exact import exact_regret, exact_regrets
from bnmind.strategies.score import CellTerms, Combination, Score
from bnmind.strategies.score_entropy import EntropyLeft
from bnmind.strategies.score_expected_size import ExpectedSize
from bnmind.strategies.score_larmouth import Larmouth
from bnmind.strategies.score_parts import MostParts
from bnmind.strategies.score_weighted_entropy import (
    WeightedEntropy,
    read_weights,
    write_weights,
)
from bnmind.strategies.score_worst_case import WorstCase, guaranteed_information
from bnmind.strategies.shapiro import first_possible
from bnmind.strategies.strategy import (
    GuessInfo,
    Strategy,
    describe_guess,
    start_belief,
    trusting_channel,
)
from bnmind.strategies.tree import Lengths, StrategyTree, TreeNode, build_tree, grow_tree
from bnmind.strategies.tree_check import check_tree, walk_tree
from bnmind.strategies.tree_compare import Parting, TreeComparison, compare_trees
from bnmind.strategies.tree_files import read_tree, write_tree
from bnmind.strategies.tree_plot import tree_to_svg
from bnmind.strategies.weighted_entropy_player import weighted_entropy

__all__ = [
    "STRATEGIES",
    "Among",
    "Breadth",
    "CellTerms",
    "Combination",
    "Deeper",
    "Entropy",
    "EntropyLeft",
    "ExpectedSize",
    "FittedWeights",
    "FoundCode",
    "Goal",
    "GuessInfo",
    "GuessRegret",
    "Knuth",
    "Larmouth",
    "Lengths",
    "MapCode",
    "Measured",
    "MostParts",
    "Myopic",
    "Optimal",
    "Optimum",
    "Parting",
    "Planned",
    "RandomCode",
    "Score",
    "Strategy",
    "StrategyTree",
    "Ties",
    "TreeComparison",
    "TreeNode",
    "WeightedEntropy",
    "WorstCase",
    "build_tree",
    "check_tree",
    "compare_trees",
    "deeper",
    "deeper_still",
    "describe_guess",
    "exact_regret",
    "exact_regrets",
    "find_possible_code",
    "first_guesses",
    "first_possible",
    "fit_weights",
    "grow_tree",
    "guaranteed_information",
    "measure_games",
    "measure_tree",
    "most_informative",
    "most_wins",
    "optimal_in_worst_case",
    "optimal_on_average",
    "play_by_search",
    "read_tree",
    "read_weights",
    "regrets",
    "start_belief",
    "strategy_by_name",
    "strategy_tree",
    "tree_to_svg",
    "trust_suffices",
    "trusting_channel",
    "walk_tree",
    "weighted_entropy",
    "write_tree",
    "write_weights",
]
