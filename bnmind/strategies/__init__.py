"""Strategies: code-breakers, and the trees they make of a game."""

from bnmind.strategies.entropy import Entropy
from bnmind.strategies.knuth import Knuth
from bnmind.strategies.map_code import MapCode
from bnmind.strategies.most_informative import most_informative
from bnmind.strategies.most_wins import most_wins
from bnmind.strategies.optimal import (
    Goal,
    Optimum,
    first_guesses,
    optimal_in_worst_case,
    optimal_on_average,
)
from bnmind.strategies.random_code import RandomCode
from bnmind.strategies.registry import STRATEGIES, strategy_by_name
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
    "Entropy",
    "Goal",
    "GuessInfo",
    "Knuth",
    "Lengths",
    "MapCode",
    "Optimum",
    "RandomCode",
    "Strategy",
    "StrategyTree",
    "TreeNode",
    "build_tree",
    "describe_guess",
    "first_guesses",
    "grow_tree",
    "is_trusting",
    "most_informative",
    "most_wins",
    "optimal_in_worst_case",
    "optimal_on_average",
    "start_belief",
    "strategy_by_name",
    "trusting_channel",
]
