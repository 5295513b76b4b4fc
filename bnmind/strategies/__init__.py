"""Strategies: code-breakers, and the trees they make of a game."""

from bnmind.strategies.entropy import Entropy
from bnmind.strategies.knuth import Knuth
from bnmind.strategies.map_code import MapCode
from bnmind.strategies.random_code import RandomCode
from bnmind.strategies.registry import STRATEGIES, strategy_by_name
from bnmind.strategies.strategy import (
    GuessInfo,
    Strategy,
    describe_guess,
    start_belief,
    trusting_channel,
)
from bnmind.strategies.tree import Lengths, StrategyTree, TreeNode, build_tree, grow_tree

__all__ = [
    "STRATEGIES",
    "Entropy",
    "GuessInfo",
    "Knuth",
    "Lengths",
    "MapCode",
    "RandomCode",
    "Strategy",
    "StrategyTree",
    "TreeNode",
    "build_tree",
    "describe_guess",
    "grow_tree",
    "start_belief",
    "strategy_by_name",
    "trusting_channel",
]
