"""The search of `EstimationOfDistribution`, compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.mastermind.sampling import draw_below, draw_uniform, random_code
from bnmind.strategies.evolutionary.fitness import Replies, code_cost

__all__ = ["Distribution", "Search", "find_code", "letter_entropy", "sample_code", "weigh_colors"]

_Codes = NDArray[np.uint8]
_State = NDArray[np.uint64]


class Distribution(NamedTuple):
    """The numbers of the board and of the algorithm."""

    colors: int
    """Number of colors, k."""
    repeats: bool
    """Whether a color may occur more than once."""
    replaced: int
    """The number of codes that each generation replaces."""
    least: float
    """The weight of a color that none of the kept codes has in a position."""
    restart: int
    """The number of generations after which a new random population starts."""
    generations: int
    """The number of generations after which the search gives up."""
    terms: NDArray[np.int64]
    """n·log₂ n as a whole number, for the numbers of pegs; empty to ignore the local entropy."""
    unit: float
    """The value of the last place of `terms`."""


class Search(NamedTuple):
    """The result of a search."""

    code: _Codes
    """The chosen code."""
    cost: int
    """Its cost; 0 if it agrees with all replies."""
    fitness: float
    """Its fitness."""
    tied: int
    """The number of codes of the population among which it was chosen, of equal fitness."""
    evaluated: int
    """The number of codes evaluated."""


@njit
def letter_entropy(counts: NDArray[np.int64], terms: NDArray[np.int64], unit: float) -> float:
    """Return the entropy of a color that is drawn from some pegs, in bits.

    Parameters
    ----------
    counts
        The number of pegs of each color.
    terms, unit
        As in `Distribution`.
    """
    pegs, total = 0, np.int64(0)
    for count in counts:
        pegs += count
        total += terms[count]
    return float((terms[pegs] - total) * unit / pegs)


@njit
def weigh_colors(kept: _Codes, weights: NDArray[np.float64], least: float) -> None:
    """Write the share of the kept codes that have a color in a position, ``(pegs, k + 1)``.

    A color that none of them has gets the weight `least`.
    """
    n, pegs = kept.shape
    weights[:] = 0
    for i in range(n):
        for position in range(pegs):
            weights[position, kept[i, position]] += 1.0
    for position in range(pegs):
        for color in range(1, weights.shape[1]):
            weight = weights[position, color]
            weights[position, color] = weight / n if weight > 0 else least


@njit
def sample_code(code: Any, weights: NDArray[np.float64], repeats: bool, state: _State) -> None:
    """Fill a code with a random color in each position; without repeats, one not used before."""
    used = np.zeros(weights.shape[1], dtype=np.bool_)
    for position in range(code.size):
        total = 0.0
        for color in range(1, used.size):
            if repeats or not used[color]:
                total += weights[position, color]
        rest = draw_uniform(state) * total
        chosen = 0
        for color in range(1, used.size):
            if repeats or not used[color]:
                chosen = color
                rest -= weights[position, color]
                if rest < 0:
                    break
        code[position] = chosen
        used[chosen] = True


@njit
def _evaluate(
    population: _Codes,
    first: int,
    replies: Replies,
    search: Any,
    costs: NDArray[np.int64],
    fitness: NDArray[np.float64],
) -> None:
    """Write the costs and the fitness of the codes from `first` on."""
    turns = replies.guesses.shape[0]
    counts = np.zeros(replies.standing.shape[1], dtype=np.uint8)
    before = np.zeros(counts.size, dtype=np.int64)
    for turn in range(turns):
        for color in range(counts.size):
            before[color] += replies.standing[turn, color]
    pegs = before.copy()
    for i in range(first, population.shape[0]):
        costs[i] = code_cost(population[i], replies, counts)
        value = 1.0
        if search.terms.size > 0:
            pegs[:] = before
            for color in population[i]:
                pegs[color] += 1
            value = letter_entropy(pegs, search.terms, search.unit)
        fitness[i] = value / (1.0 + costs[i])


@njit
def _choose(
    eligible: NDArray[np.bool_], fitness: NDArray[np.float64], state: _State
) -> tuple[int, int]:
    """Return a random one of the fittest of the eligible codes, and the number of these."""
    chosen, tied = -1, 0
    for i in range(fitness.size):
        if not eligible[i]:
            continue
        if chosen < 0 or fitness[i] > fitness[chosen]:
            chosen, tied = i, 1
        elif fitness[i] == fitness[chosen]:
            tied += 1
            if draw_below(state, tied) == 0:
                chosen = i
    return chosen, tied


@njit
def find_code(population: _Codes, replies: Replies, search: Any, state: _State) -> Search:
    """Evolve a population until it has a code that agrees with all replies, and choose a code.

    Parameters
    ----------
    population
        ``(codes, pegs)``, overwritten with the last population.
    replies
        The replies of the game.
    search
        `Distribution`.
    state
        The state of the random numbers.

    Returns
    -------
    Search
        The fittest of the codes that agree with all replies; if the search gives up, the fittest
        code that it has seen.
    """
    n, pegs = population.shape
    costs = np.zeros(n, dtype=np.int64)
    fitness = np.zeros(n)
    weights = np.zeros((pegs, search.colors + 1))
    kept = population.copy()
    everyone = np.ones(n, dtype=np.bool_)
    best = np.zeros(pegs, dtype=np.uint8)
    best_cost, best_fitness, best_tied = 0, -1.0, 1
    first, evaluated, generation = 0, 0, 0
    while True:
        _evaluate(population, first, replies, search, costs, fitness)
        evaluated += n - first
        agreeing = costs == 0
        chosen, tied = _choose(agreeing if agreeing.any() else everyone, fitness, state)
        if agreeing.any() or fitness[chosen] > best_fitness:
            best[:] = population[chosen]
            best_cost, best_fitness, best_tied = int(costs[chosen]), fitness[chosen], tied
        if agreeing.any() or generation >= search.generations:
            return Search(best, best_cost, best_fitness, best_tied, evaluated)
        generation += 1
        first = 0
        if generation % search.restart == 0:
            for i in range(n):
                random_code(population[i], search.colors, search.repeats, state)
            continue
        order = np.argsort(-fitness, kind="mergesort")
        first = n - search.replaced
        for i in range(first):
            kept[i] = population[order[i]]
        ordered, ordered_costs = fitness[order], costs[order]
        for i in range(first):
            population[i] = kept[i]
            fitness[i], costs[i] = ordered[i], ordered_costs[i]
        weigh_colors(population[:first], weights, search.least)
        for i in range(first, n):
            sample_code(population[i], weights, search.repeats, state)
