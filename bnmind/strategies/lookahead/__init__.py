"""Strategies that look more than one guess ahead."""

from bnmind.strategies.lookahead.beam_search import Deeper, deeper, deeper_still
from bnmind.strategies.lookahead.endgame import Breadth, Endgame, estimate_all, set_estimates
from bnmind.strategies.lookahead.exhaustive import Gain, best_tree
from bnmind.strategies.lookahead.most_informative import most_informative
from bnmind.strategies.lookahead.win_probability import most_wins

__all__ = [
    "Breadth",
    "Deeper",
    "Endgame",
    "Gain",
    "best_tree",
    "deeper",
    "deeper_still",
    "estimate_all",
    "most_informative",
    "most_wins",
    "set_estimates",
]
