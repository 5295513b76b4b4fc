"""The player of a solution of the belief game."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.strategies.base.beginnings import ModelsNoise
from bnmind.strategies.base.needs import distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo
from bnmind.strategies.belief_game.belief_arrays import symmetries_of
from bnmind.strategies.belief_game.belief_kernel import best_policy, descending, to_normal_form
from bnmind.strategies.belief_game.exact_solver import BeliefGameSolution

__all__ = ["SolvedPlayer"]


@dataclass(frozen=True, eq=False)
class SolvedPlayer(ModelsNoise, Value):
    """Guess as the best policy of a solution does for the belief.

    The score is the expected number of guesses of that policy, the next guess included. Under the
    channel of the solution, if all codes are equally likely, the mean number of guesses is at most
    ``solution.upper``. Under another channel the strategy plays too, without this bound.
    """

    solution: BeliefGameSolution
    """The solution, of `solve_belief_game`."""
    name: str = "solved"
    """The name of the strategy."""

    @property
    def deterministic(self) -> bool:
        """The belief alone determines the guess."""
        return True

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the best policy.

        Raises
        ------
        InvalidArgumentError
            If the belief is about another board than the solution.
        """
        if belief.board != self.solution.channel.board:
            raise InvalidArgumentError(
                f"expected a belief about the board {self.solution.channel.board} of the solution, "
                f"got {belief.board}",
                belief,
            )
        probabilities = distribution_of(belief).probabilities
        largest = float(probabilities.max())
        normal = np.empty(len(probabilities))
        symmetry = to_normal_form(self._symmetries, probabilities / largest, normal)
        order = np.empty(len(normal), dtype=np.int64)
        descending(normal, order)
        vectors = self.solution.vectors
        value, policy = best_policy(vectors, len(vectors), normal, order)
        place = order[0] if policy < 0 else self.solution.guesses[policy]
        guess = int(self._symmetries[symmetry, place])
        return guess, GuessInfo(guess, score=float(value) * largest)

    @cached_property
    def _symmetries(self) -> NDArray[np.int64]:
        return symmetries_of(self.solution.channel.board)
