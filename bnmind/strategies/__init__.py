"""Mastermind strategies, their scores, and the trees that they play."""

from bnmind.strategies.analysis.exact_regret import exact_regret, exact_regrets
from bnmind.strategies.analysis.fit_weights import FittedWeights, fit_weights
from bnmind.strategies.analysis.game_lengths import Measured, measure_games, measure_tree
from bnmind.strategies.analysis.large_boards import is_searched, measure_search
from bnmind.strategies.analysis.noisy_mean import NoisyMean, mean_under_noise
from bnmind.strategies.analysis.random_ties import AveragedGames, average_games, is_averaged
from bnmind.strategies.analysis.regret import GuessRegret, codes_left, regrets
from bnmind.strategies.base.beginnings import ModelsNoise, TrustsReplies, UsesHistory, UsesSamples
from bnmind.strategies.base.game_rules import Goal
from bnmind.strategies.base.needs import Needs, distribution_of, posterior_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import (
    GuessInfo,
    Strategy,
    describe_guess,
    start_belief,
    start_posterior,
    trusting_channel,
)
from bnmind.strategies.belief_game.best import Best
from bnmind.strategies.belief_game.exact_solver import BeliefGameSolution, solve_belief_game
from bnmind.strategies.belief_game.fit_value import FittedValue, fit_value
from bnmind.strategies.belief_game.lookahead import LookAhead
from bnmind.strategies.belief_game.lookahead2 import LookAheadTwo
from bnmind.strategies.belief_game.lower_bound import LowerBound, mean_lower_bound
from bnmind.strategies.belief_game.solved_player import SolvedPlayer
from bnmind.strategies.belief_game.steps import Pruning
from bnmind.strategies.belief_game.value import BeliefValue, ValueOrigin
from bnmind.strategies.belief_game.value_files import read_value, shipped_value, write_value
from bnmind.strategies.evolutionary.estimation_of_distribution import EstimationOfDistribution
from bnmind.strategies.evolutionary.local_entropy import LocalEntropy
from bnmind.strategies.kernels.consistent_search import (
    FoundCode,
    find_possible_code,
    play_by_search,
)
from bnmind.strategies.lookahead.beam_search import Deeper, deeper, deeper_still
from bnmind.strategies.lookahead.endgame import Breadth
from bnmind.strategies.lookahead.most_informative import most_informative
from bnmind.strategies.lookahead.win_probability import most_wins
from bnmind.strategies.optimal.optimal_player import Optimal
from bnmind.strategies.optimal.optimum import (
    Optimum,
    first_guesses,
    optimal_in_worst_case,
    optimal_on_average,
)
from bnmind.strategies.players.knuth import Knuth
from bnmind.strategies.players.map_code import MapCode, trust_suffices
from bnmind.strategies.players.min_entropy import Entropy
from bnmind.strategies.players.myopic import Among, Myopic, Ties
from bnmind.strategies.players.openings import FirstGuess, open_aabb, open_aabc
from bnmind.strategies.players.random_possible import RandomCode
from bnmind.strategies.players.sampled_entropy import SampledEntropy
from bnmind.strategies.players.sampled_map import SampledMap
from bnmind.strategies.players.shapiro import Indifference, first_possible
from bnmind.strategies.players.subset import Subset, subset_strategy
from bnmind.strategies.players.unknown_noise import DEFAULT_LEVELS, UnknownNoise, noise_grid
from bnmind.strategies.players.weighted_entropy import weighted_entropy
from bnmind.strategies.registry import STRATEGIES, strategy_by_name
from bnmind.strategies.scores.entropy import EntropyLeft
from bnmind.strategies.scores.expected_size import ExpectedSize
from bnmind.strategies.scores.larmouth import Larmouth
from bnmind.strategies.scores.most_parts import MostParts
from bnmind.strategies.scores.registry import SCORES
from bnmind.strategies.scores.score import ClassTerms, Combination, Score, equal_weights
from bnmind.strategies.scores.weighted_entropy import (
    WeightedEntropy,
    read_weights,
    write_weights,
)
from bnmind.strategies.scores.worst_case import WorstCase, guaranteed_information
from bnmind.strategies.trees.check import check_tree, walk_tree
from bnmind.strategies.trees.compare import Parting, TreeComparison, compare_trees
from bnmind.strategies.trees.files import (
    TREE_FORMATS,
    TREE_SUFFIXES,
    read_tree,
    write_tree,
)
from bnmind.strategies.trees.myopic_tree import grow_exactly, is_growable, myopic_rule
from bnmind.strategies.trees.planned_strategy import Planned, ignores_prior, strategy_tree
from bnmind.strategies.trees.plot import tree_to_svg
from bnmind.strategies.trees.tree import Lengths, StrategyTree, TreeNode, build_tree, grow_tree
from bnmind.strategies.trees.tree_dot import tree_from_dot, tree_to_dot
from bnmind.strategies.trees.tree_json import tree_from_json, tree_to_json
from bnmind.strategies.trees.tree_text import tree_from_text, tree_to_text

__all__ = [
    "DEFAULT_LEVELS",
    "FIRST_TURN",
    "SCORES",
    "STRATEGIES",
    "TREE_FORMATS",
    "TREE_SUFFIXES",
    "Among",
    "AveragedGames",
    "BeliefGameSolution",
    "BeliefValue",
    "Best",
    "Breadth",
    "ClassTerms",
    "Combination",
    "Deeper",
    "Entropy",
    "EntropyLeft",
    "EstimationOfDistribution",
    "ExpectedSize",
    "FirstGuess",
    "FittedValue",
    "FittedWeights",
    "FoundCode",
    "Goal",
    "GuessInfo",
    "GuessRegret",
    "Indifference",
    "Knuth",
    "Larmouth",
    "Lengths",
    "LocalEntropy",
    "LookAhead",
    "LookAheadTwo",
    "LowerBound",
    "MapCode",
    "Measured",
    "ModelsNoise",
    "MostParts",
    "Myopic",
    "Needs",
    "NoisyMean",
    "Optimal",
    "Optimum",
    "Parting",
    "Planned",
    "Pruning",
    "RandomCode",
    "SampledEntropy",
    "SampledMap",
    "Score",
    "Situation",
    "SolvedPlayer",
    "Strategy",
    "StrategyTree",
    "Subset",
    "Ties",
    "TreeComparison",
    "TreeNode",
    "TrustsReplies",
    "UnknownNoise",
    "UsesHistory",
    "UsesSamples",
    "ValueOrigin",
    "WeightedEntropy",
    "WorstCase",
    "average_games",
    "build_tree",
    "check_tree",
    "codes_left",
    "compare_trees",
    "deeper",
    "deeper_still",
    "describe_guess",
    "distribution_of",
    "equal_weights",
    "exact_regret",
    "exact_regrets",
    "find_possible_code",
    "first_guesses",
    "first_possible",
    "fit_value",
    "fit_weights",
    "grow_exactly",
    "grow_tree",
    "guaranteed_information",
    "ignores_prior",
    "is_averaged",
    "is_growable",
    "is_searched",
    "mean_lower_bound",
    "mean_under_noise",
    "measure_games",
    "measure_search",
    "measure_tree",
    "most_informative",
    "most_wins",
    "myopic_rule",
    "noise_grid",
    "open_aabb",
    "open_aabc",
    "optimal_in_worst_case",
    "optimal_on_average",
    "play_by_search",
    "posterior_of",
    "read_tree",
    "read_value",
    "read_weights",
    "regrets",
    "shipped_value",
    "solve_belief_game",
    "start_belief",
    "start_posterior",
    "strategy_by_name",
    "strategy_tree",
    "subset_strategy",
    "tree_from_dot",
    "tree_from_json",
    "tree_from_text",
    "tree_to_dot",
    "tree_to_json",
    "tree_to_svg",
    "tree_to_text",
    "trust_suffices",
    "trusting_channel",
    "walk_tree",
    "weighted_entropy",
    "write_tree",
    "write_value",
    "write_weights",
]
