"""Optimal strategies, with a proof of optimality."""

from bnmind.strategies.optimal.board_search import BoardSearch, SearchRules
from bnmind.strategies.optimal.optimal_player import Optimal
from bnmind.strategies.optimal.optimum import (
    Optimum,
    first_guesses,
    optimal_in_worst_case,
    optimal_on_average,
)
from bnmind.strategies.optimal.set_search import SetSearch

__all__ = [
    "BoardSearch",
    "Optimal",
    "Optimum",
    "SearchRules",
    "SetSearch",
    "first_guesses",
    "optimal_in_worst_case",
    "optimal_on_average",
]
