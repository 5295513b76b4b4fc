"""The game under noise as a problem of decisions on beliefs."""

from bnmind.strategies.belief_game.exact_solver import BeliefGameSolution, solve_belief_game
from bnmind.strategies.belief_game.set_bounds import MAX_SET_CODES
from bnmind.strategies.belief_game.size_bound import empty_reply_probability, size_bounds
from bnmind.strategies.belief_game.solved_player import SolvedPlayer

__all__ = [
    "MAX_SET_CODES",
    "BeliefGameSolution",
    "SolvedPlayer",
    "empty_reply_probability",
    "size_bounds",
    "solve_belief_game",
]
