"""A genetic algorithm that guesses the first eligible code, and keeps its population.

The population survives the turns: a new reply only changes the costs of its codes. In every
generation the worse half of the codes is replaced by offspring of the better half. Each offspring
is made by one operator: with probability .4 a transposition of two random pegs, with .2 a mutation
of a random peg to the next color, in a circle, and with .4 a crossover that takes the pegs between
two random positions from a second parent. The search ends at the first code that agrees with all
replies. If the smallest cost has not fallen for 15 generations, the population is drawn anew.

Bernier et al. (1996) is known to us by its abstract: its genetic algorithm plays the code that is
consistent with all replies, and examines fewer codes than random search. The operators, rates and
restarts are those that the same group published later.

References
----------
Bernier, Herraiz, Merelo, Olmeda and Prieto, *Solving MasterMind using GAs and simulated annealing:
a case of dynamic constraint optimization*, Parallel Problem Solving from Nature IV (1996) 554-563.
Merelo, Carpio, Castillo, Rivas and Romero, *Finding a needle in a haystack using hints and
evolutionary computation: the case of Genetic Mastermind* (1999), section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import Count, Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.sampling import draw_below, draw_uniform, seeded_state
from bnmind.strategies.evolutionary.fitness import Replies, code_cost
from bnmind.strategies.evolutionary.operators import (
    Choices,
    mutate_to_next,
    permute,
    two_point_crossover,
)
from bnmind.strategies.evolutionary.players import (
    Found,
    Population,
    SearchesCodes,
    Setup,
)
from bnmind.strategies.evolutionary.population import fill_random

__all__ = ["BernierGenetic"]

_SLICE = 100  # generations; Ctrl-C works between two slices
_TRANSPOSITION, _MUTATION = 0.4, 0.2
_NONE = 2**60  # more than any cost


@dataclass(frozen=True, kw_only=True)
class BernierGenetic(SearchesCodes, Value):
    """Evolve a population over the whole game, and guess the first eligible code.

    Raises
    ------
    InvalidArgumentError
        If a number is below 1.
    """

    name: str = "bernier-genetic"
    """The name of the strategy at the command line and in files."""
    population: Count = 400
    """The number of codes of a generation."""
    max_generations: Count = 1000
    """The largest number of generations for a guess."""
    patience: Count = 15
    """The number of generations without a smaller cost until the population is drawn anew."""
    setup: Setup = field(default_factory=Setup)
    """The first guess and the colors to try."""

    def search(self, belief: Belief, rng: np.random.Generator, memory: object) -> Found:
        """Return the code to guess after some replies."""
        pegs = belief.board.pegs
        replies, choices = self.setup.replies(belief), self.setup.choices(belief)
        population = np.zeros((self.population, pegs), dtype=np.uint8)
        state = seeded_state(rng)
        kept = Population.kept(memory, belief.board)
        if len(kept) == len(population):
            population[:] = kept
        else:
            fill_random(population, choices, state)
        best = np.zeros(pegs, dtype=np.uint8)
        # The smallest cost of all, that of this population, the generation when it was found.
        progress = np.array([_NONE, _NONE, 0, 0], dtype=np.int64)
        done = 0
        while progress[0] and done < self.max_generations:
            plan = (min(_SLICE, self.max_generations - done), self.patience)
            evolve_until_eligible(population, best, progress, (replies, choices), plan, state)
            done += plan[0]
        cost, evaluated = int(progress[0]), int(progress[3])
        return Found(
            tuple(best.tolist()), cost, evaluated, memory=Population.of(belief.board, population)
        )


@njit
def evolve_until_eligible(
    population: NDArray[np.uint8],
    best: NDArray[np.uint8],
    progress: NDArray[np.int64],
    game: tuple[Replies, Choices],
    plan: tuple[int, int],
    state: NDArray[np.uint64],
) -> None:
    """Evolve a population until a code is eligible, or for some generations.

    Parameters
    ----------
    population
        ``(codes, pegs)``, overwritten with the last generation.
    best
        ``(pegs,)``, overwritten with the code of the smallest cost so far.
    progress
        The smallest cost so far, the smallest cost of the present population, the number of
        generations since it fell, and the number of codes evaluated; updated.
    game
        The replies, and the colors to try.
    plan
        The number of generations, and of those without a smaller cost until a restart.
    state
        The state of the random numbers.
    """
    replies, choices = game
    generations, patience = plan
    n = population.shape[0]
    half = (n + 1) // 2
    counts = np.zeros(choices.allowed.shape[1], dtype=np.uint8)
    costs = np.zeros(n, dtype=np.int64)
    start = 0
    for _ in range(generations):
        for i in range(start, n):
            costs[i] = code_cost(population[i], replies, counts)
        progress[3] += n - start
        order = np.argsort(costs, kind="mergesort")
        costs = costs[order]
        population[:] = population[order]
        if costs[0] < progress[0]:
            progress[0] = costs[0]
            best[:] = population[0]
        if costs[0] == 0:
            return
        progress[2] = progress[2] + 1 if costs[0] >= progress[1] else 0
        progress[1] = min(progress[1], costs[0])
        start = half
        if progress[2] >= patience:
            fill_random(population, choices, state)
            progress[1], progress[2], start = _NONE, 0, 0
            continue
        for i in range(half, n):
            parent = population[draw_below(state, half)]
            chance = draw_uniform(state)
            if chance >= _TRANSPOSITION + _MUTATION:
                other = population[draw_below(state, half)]
                two_point_crossover(parent, other, population[i], choices, state)
                continue
            population[i] = parent
            if chance < _TRANSPOSITION:
                permute(population[i], choices, state)
            else:
                mutate_to_next(population[i], choices, state)
