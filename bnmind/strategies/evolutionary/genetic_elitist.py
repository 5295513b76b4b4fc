"""The elitist genetic algorithm: the best codes survive, and the best one is guessed.

Each turn starts from a random population, sorted by cost. In every generation the elite, a share of
the best codes, passes unchanged into the next one, which is completed by children of parents from
the better half; a child that is in the new generation already is dropped. After the last generation
the player guesses the first code, whether it is eligible or not. Colors that the replies exclude
are not tried (`ColorRemoval`), and on large boards the first guesses have a single color each
(`MonochromeProbing`).

The paper does not give the share of the elite. `docs/evolutionary.md` tells how much it matters.

References
----------
*Using an updated genetic algorithm to solve the Mastermind puzzle*, "Genetic algorithm based on
eliteness". Baluja and Caruana, *Removing the genetics from the standard genetic algorithm*,
International Conference on Machine Learning (1995) 38-46.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import Count, Probability, Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.sampling import draw_below, seeded_state
from bnmind.strategies.evolutionary.color_sets import ColorRemoval, MonochromeProbing
from bnmind.strategies.evolutionary.fitness import Replies, code_cost
from bnmind.strategies.evolutionary.operators import Choices, Rates, breed
from bnmind.strategies.evolutionary.players import (
    Found,
    SearchesCodes,
    Setup,
    faults_of_rates,
)
from bnmind.strategies.evolutionary.population import add_code, fill_distinct

__all__ = ["GeneticElitist"]

_TRIES = 4  # children bred for each place of a generation


def _removing_and_probing() -> Setup:
    return Setup(removal=ColorRemoval(), probing=MonochromeProbing())


@dataclass(frozen=True, kw_only=True)
class GeneticElitist(SearchesCodes, Value):
    """Guess the best code of a genetic algorithm that keeps its best codes.

    Raises
    ------
    InvalidArgumentError
        If a number is below 1, or a rate or the share of the elite is not from 0 to 1.
    """

    name: str = "genetic-elitist"
    """The name of the strategy at the command line and in files."""
    population: Count = 150
    """The number of codes of a generation."""
    generations: Count = 150
    """The number of generations after the first one."""
    elite: Probability = 0.2
    """The share of a generation that survives."""
    rates: Rates = field(default_factory=Rates)
    """The rates of the operators."""
    setup: Setup = field(default_factory=_removing_and_probing)
    """The first guess and the colors to try."""

    def _faults(self) -> Iterator[str]:
        yield from faults_of_rates(self.rates)

    def search(self, belief: Belief, rng: np.random.Generator, memory: object) -> Found:
        """Return the best code of the last generation."""
        n_elite = int(self.elite * self.population)
        population = np.zeros((self.population, belief.board.pegs), dtype=np.uint8)
        replies, choices = self.setup.replies(belief), self.setup.choices(belief)
        plan = (self.generations, n_elite)
        costs, evaluated = evolve_elite(
            population, replies, choices, self.rates, plan, seeded_state(rng)
        )
        tied = int(np.count_nonzero(costs == costs[0]))
        return Found(tuple(population[0].tolist()), int(costs[0]), int(evaluated), tied=tied)


@njit
def evolve_elite(
    population: NDArray[np.uint8],
    replies: Replies,
    choices: Choices,
    rates: Rates,
    plan: tuple[int, int],
    state: NDArray[np.uint64],
) -> tuple[NDArray[np.int64], int]:
    """Evolve a random population, and return its costs and the number of codes evaluated.

    Parameters
    ----------
    population
        ``(codes, pegs)``, overwritten with the last generation, the best code first.
    replies, choices, rates
        The game, the colors to try, and the rates of the operators.
    plan
        The number of generations, and the number of codes of the elite.
    state
        The state of the random numbers.
    """
    generations, n_elite = plan
    n = population.shape[0]
    counts = np.zeros(choices.allowed.shape[1], dtype=np.uint8)
    costs = np.zeros(n, dtype=np.int64)
    room = 64
    while room < 4 * n:
        room *= 2
    keys = np.zeros(room, dtype=np.uint64)
    children = np.empty_like(population)
    n_parents, n_kept, evaluated = (n + 1) // 2, 0, 0
    for generation in range(generations + 1):
        keys[:] = 0
        for i in range(n_kept):
            children[i] = population[i]
            add_code(keys, children[i])
        filled, tries = n_kept, 0
        while generation > 0 and filled < n and tries < _TRIES * n:
            tries += 1
            mother = population[draw_below(state, n_parents)]
            father = population[draw_below(state, n_parents)]
            breed((mother, father), children[filled], rates, choices, state)
            filled += add_code(keys, children[filled])
        fill_distinct(children, filled, keys, choices, state)
        for i in range(n_kept, n):
            costs[i] = code_cost(children[i], replies, counts)
            evaluated += 1
        order = np.argsort(costs, kind="mergesort")
        costs = costs[order]
        population[:] = children[order]
        n_kept = n_elite
    return costs, evaluated
