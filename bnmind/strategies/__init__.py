"""Strategies: code-breakers, and the trees they make of a game."""

from bnmind.strategies.entropy import Entropy
from bnmind.strategies.knuth import Knuth
from bnmind.strategies.map_code import MapCode
from bnmind.strategies.most_informative import most_informative
from bnmind.strategies.most_wins import most_wins
from bnmind.strategies.myopic import Among, Myopic, Ties
from bnmind.strategies.optimal import (
    Goal,
    Optimum,
    first_guesses,
    optimal_in_worst_case,
    optimal_on_average,
)
from bnmind.strategies.random_code import RandomCode
from bnmind.strategies.registry import STRATEGIES, strategy_by_name
from bnmind.strategies.score import CellTerms, Combination, Score
from bnmind.strategies.score_entropy import EntropyLeft
from bnmind.strategies.score_expected_size import ExpectedSize
from bnmind.strategies.score_larmouth import Larmouth
from bnmind.strategies.score_parts import MostParts
from bnmind.strategies.score_worst_case import WorstCase, guaranteed_information
from bnmind.strategies.shapiro import first_possible
from bnmind.strategies.strategy import (
    GuessInfo,
    Strategy,
    describe_guess,
    is_trusting,
    start_belief,
    trusting_channel,
)
from bnmind.strategies.tree import Lengths, StrategyTree, TreeNode, build_tree, grow_tree

__all__ = [
    "STRATEGIES",
    "Among",
    "CellTerms",
    "Combination",
    "Entropy",
    "EntropyLeft",
    "ExpectedSize",
    "Goal",
    "GuessInfo",
    "Knuth",
    "Larmouth",
    "Lengths",
    "MapCode",
    "MostParts",
    "Myopic",
    "Optimum",
    "RandomCode",
    "Score",
    "Strategy",
    "StrategyTree",
    "Ties",
    "TreeNode",
    "WorstCase",
    "build_tree",
    "describe_guess",
    "first_guesses",
    "first_possible",
    "grow_tree",
    "guaranteed_information",
    "is_trusting",
    "most_informative",
    "most_wins",
    "optimal_in_worst_case",
    "optimal_on_average",
    "start_belief",
    "strategy_by_name",
    "trusting_channel",
]
