"""Three players that search for a code: two of Bernier's, and the elitist genetic algorithm.

**Bernier's genetic algorithm** guesses the first eligible code, and keeps its population. It
survives the turns: a new reply only changes the costs of its codes. In every generation the worse
half of the codes is replaced by offspring of the better half. Each offspring is made by one
operator: with probability .4 a transposition of two random pegs, with .2 a mutation of a random peg
to the next color, in a circle, and with .4 a crossover that takes the pegs between two random
positions from a second parent. The search ends at the first code that agrees with all replies. If
the smallest cost has not fallen for 15 generations, the population is drawn anew.

Bernier et al. (1996) is known to us by its abstract: its genetic algorithm plays the code that is
consistent with all replies, and examines fewer codes than random search. The operators, rates and
restarts are those that the same group published later.

**Random search** with constraints guesses the first random code that agrees with all replies. Codes
are drawn uniformly, so the guess is a random possible code, as with `RandomCode`. But no codes are
listed: the number of draws grows with the board and falls with the number of possible codes. If no
draw agrees with all replies, which is usual under noise, the guess is the code drawn whose cost is
smallest.

**The elitist genetic algorithm** keeps the best codes, and guesses the best one. Each turn starts
from a random population, sorted by cost. In every generation the elite, a share of the best codes,
passes unchanged into the next one, which is completed by children of parents from the better half;
a child that is in the new generation already is dropped. After the last generation the player
guesses the first code, whether it is eligible or not. Colors that the replies exclude are not tried
(`ColorRemoval`), and on large boards the first guesses have a single color each
(`MonochromeProbing`).

The paper does not give the share of the elite. `docs/evolutionary.md` tells how much it matters.

References
----------
Bernier, Herraiz, Merelo, Olmeda and Prieto, *Solving MasterMind using GAs and simulated annealing:
a case of dynamic constraint optimization*, Parallel Problem Solving from Nature IV (1996) 554-563.
Merelo, Carpio, Castillo, Rivas and Romero, *Finding a needle in a haystack using hints and
evolutionary computation: the case of Genetic Mastermind* (1999), section 3.
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
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.random_moves import draw_below, draw_uniform, seeded_state
from bnmind.strategies.evolutionary import (
    ColorRemoval,
    Found,
    MonochromeProbing,
    Population,
    SearchesCodes,
    Setup,
    faults_of_rates,
)
from bnmind.strategies.genetic_operators import (
    PLAYED,
    Choices,
    Rates,
    Replies,
    add_code,
    breed,
    code_cost,
    draw_code,
    fill_distinct,
    fill_random,
    mutate_to_next,
    permute,
    two_point_crossover,
)

# --- A genetic algorithm that guesses the first eligible code, and keeps its population -----------


_GENERATIONS_AT_ONCE = 100  # generations; Ctrl-C works between two slices
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
            plan = (min(_GENERATIONS_AT_ONCE, self.max_generations - done), self.patience)
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


# --- Random search with constraints: the first random code that agrees with all replies -----------


_DRAWS_FOR_EACH = 20  # code of the board; a code stays out of so many draws once in 5·10⁸ times
_DRAWS_AT_ONCE = 200_000  # codes; Ctrl-C works between two slices


@dataclass(frozen=True, kw_only=True)
class BernierRandom(SearchesCodes, Value):
    """Draw random codes, and guess the first one that agrees with all replies.

    Raises
    ------
    InvalidArgumentError
        If the number of codes is below 1.
    """

    name: str = "bernier-random"
    """The name of the strategy at the command line and in files."""
    max_codes: Count = 2_000_000
    """The largest number of codes to draw for a guess."""
    setup: Setup = field(default_factory=Setup)
    """The first guess and the colors to try."""

    def search(self, belief: Belief, rng: np.random.Generator, memory: object) -> Found:
        """Return the code to guess after some replies."""
        replies, choices = self.setup.replies(belief), self.setup.choices(belief)
        best = np.zeros(belief.board.pegs, dtype=np.uint8)
        state = seeded_state(rng)
        cost, evaluated = 4 * PLAYED, 0
        most = min(self.max_codes, _DRAWS_FOR_EACH * belief.board.n_codes)
        while cost and evaluated < most:
            n = min(_DRAWS_AT_ONCE, most - evaluated)
            cost, drawn = draw_until_eligible(best, cost, replies, choices, n, state)
            evaluated += drawn
        return Found(tuple(best.tolist()), cost, evaluated)


@njit
def draw_until_eligible(
    best: NDArray[np.uint8],
    cost: int,
    replies: Replies,
    choices: Choices,
    n: int,
    state: NDArray[np.uint64],
) -> tuple[int, int]:
    """Draw up to n codes until one is eligible.

    Returns
    -------
    cost, drawn
        The smallest cost so far, whose code is written into `best`, and the number of codes drawn.
    """
    code = np.empty_like(best)
    counts = np.zeros(choices.allowed.shape[1], dtype=np.uint8)
    for i in range(n):
        draw_code(code, choices, state)
        new = code_cost(code, replies, counts)
        if new < cost:
            cost = new
            best[:] = code
            if cost == 0:
                return cost, i + 1
    return cost, n


# --- The elitist genetic algorithm: the best codes survive, and the best one is guessed -----------


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
