"""The game under noise as a problem of decisions on beliefs."""

from bnmind.strategies.belief_game.exact_solver import BeliefGameSolution, solve_belief_game
from bnmind.strategies.belief_game.fit_value import FittedValue, fit_value
from bnmind.strategies.belief_game.lookahead import LookAhead
from bnmind.strategies.belief_game.lower_bound import LowerBound, mean_lower_bound
from bnmind.strategies.belief_game.set_bounds import MAX_SET_CODES
from bnmind.strategies.belief_game.size_bound import empty_reply_probability, size_bounds
from bnmind.strategies.belief_game.solved_player import SolvedPlayer
from bnmind.strategies.belief_game.third_step import ThirdStep, third_step
from bnmind.strategies.belief_game.value import BeliefValue, ValueOrigin
from bnmind.strategies.belief_game.value_files import read_value, shipped_value, write_value

__all__ = [
    "MAX_SET_CODES",
    "BeliefGameSolution",
    "BeliefValue",
    "FittedValue",
    "LookAhead",
    "LowerBound",
    "SolvedPlayer",
    "ThirdStep",
    "ValueOrigin",
    "empty_reply_probability",
    "fit_value",
    "mean_lower_bound",
    "read_value",
    "shipped_value",
    "size_bounds",
    "solve_belief_game",
    "third_step",
    "write_value",
]
