"""Estimation of distributions: codes drawn from the colors that good codes have in each position.

========  ==================================================================
symbol    name here
========  ==================================================================
n         the number of guesses made
ℓ         pegs
f(c)      the cost of a code, `code_cost`: Σ |black pegs too many or too few| + the same for
          white pegs
s(c)      the local entropy, `letter_entropy`: the entropy of a color that is drawn from
          the (n + 1)ℓ pegs of the code and of all guesses made
f_ℓ(c)    s(c) / (1 + f(c))
========  ==================================================================

`LocalEntropy` guesses the possible code that uses the colors most evenly, together with all
guesses:

========  ==================================================================
symbol    name here
========  ==================================================================
n         the number of guesses made
ℓ         pegs
#g        the number of pegs of color g in the code and all guesses
s(c)      Σ_g #g/((n + 1)ℓ) · log₂ ((n + 1)ℓ/#g), the local entropy of a code, in bits
========  ==================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import Count, Natural, Value
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.board import Board, digits_of
from bnmind.mastermind.random_moves import draw_below, draw_uniform, random_code, seeded_state
from bnmind.strategies.evolutionary import Population
from bnmind.strategies.genetic_operators import Replies, code_cost, replies_of
from bnmind.strategies.players import FirstGuess, open_aabb, open_aabc
from bnmind.strategies.scores import entropy_terms
from bnmind.strategies.strategy import (
    FIRST_TURN,
    GuessInfo,
    Situation,
    TrustsReplies,
    UsesHistory,
    distribution_of,
)

# --- The search of `EstimationOfDistribution`, compiled -------------------------------------------


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


# --- The possible code that uses the colors most evenly, together with all guesses ----------------


LOCAL_BITS = 30
"""The binary places of n·log₂ n in the local entropy, for up to 2²⁰ pegs."""


@dataclass(frozen=True)
class LocalEntropy(TrustsReplies, Value):
    """Choose the possible code of the largest local entropy; ties are broken at random.

    The local entropy needs no reply classes, so it is cheap. The strategy assumes true replies, as
    `Knuth` does. The score is the local entropy in bits.

    References
    ----------
    Runarsson and Merelo, *Adapting heuristic Mastermind strategies to evolutionary algorithms*
    (2010), section 4: *LocalEntropy* in table 3.
    """

    name: str = "local-entropy"
    """The name of the strategy at the command line and in files."""
    opening: FirstGuess = open_aabc
    """The first guess."""

    deterministic = False
    """Ties are broken at random."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return a possible code of the largest local entropy."""
        board = belief.board
        if not belief.history:
            guess = board.index(self.opening(board))
            return guess, GuessInfo(guess)
        possible = np.flatnonzero(distribution_of(belief).probabilities)
        guesses = np.array([turn.guess for turn in belief.history])
        pegs = color_counts(board, guesses).sum(axis=0)
        pegs = pegs + color_counts(board, digits_of(board, possible))
        total = board.pegs * (len(guesses) + 1)
        terms = entropy_terms(total, LOCAL_BITS)
        keys = terms[pegs].sum(axis=1)
        tied = np.flatnonzero(keys == keys.min())
        guess = int(possible[tied[rng.integers(len(tied))]])
        entropy = math.ldexp(float(terms[total] - keys.min()), -LOCAL_BITS) / total
        return guess, GuessInfo(guess, entropy, tied=len(tied), evaluated=len(possible))


def color_counts(board: Board, codes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the number of pegs of each color in each code, ``(codes, k)``."""
    counts = np.zeros((len(codes), board.colors), dtype=np.int64)
    rows = np.arange(len(codes))
    for position in range(board.pegs):
        counts[rows, codes[:, position].astype(np.intp) - 1] += 1
    return counts


# --- Estimation of distributions: codes drawn from the colors that good codes have in each position


@dataclass(frozen=True, kw_only=True)
class EstimationOfDistribution(UsesHistory, Value):
    """Play a code that agrees with all replies, found by an estimation of distributions.

    Each generation keeps the fittest codes of the population. They determine how probable each
    color is in each position, and the others are replaced by codes drawn from these
    probabilities, position by position. As soon as some codes of the population agree with all
    replies, the strategy plays the fittest of them; ties are broken at random. The next turn
    continues with the same population.

    The fitness is 1 / (1 + f), where f counts the pegs by which the replies to the guesses would
    differ if the code were the secret. With local entropy it is f_ℓ = s / (1 + f), which prefers
    codes that, together with all guesses, use the colors equally often. The score of a guess is its
    fitness.

    Every 15 generations a new random population starts, as in the authors' program. If no code
    that agrees with all replies is found, as may happen under noise, the strategy plays the fittest
    code that it has seen and not guessed.

    Examples
    --------
    >>> from bnmind.mastermind import Channel, Reply
    >>> strategy = EstimationOfDistribution()
    >>> belief = strategy.start(Channel.exact(Board(8, 12)).revealed())
    >>> after = belief.update((1, 1, 1, 1, 2, 2, 2, 2), Reply(1, 1))
    >>> guess, info = strategy.choose(after, np.random.default_rng(2))
    >>> info.score  # it agrees with the reply
    1.0

    References
    ----------
    Runarsson and Merelo, *Adapting heuristic Mastermind strategies to evolutionary algorithms*
    (2010), section 4. The numbers that the paper does not give are those of the authors' program,
    the Perl modules Algorithm::MasterMind::EDA and Algorithm::Evolutionary::Op::EDA_step.
    """

    name: str = "eda"
    """The name of the strategy at the command line and in files."""
    local_entropy: bool = False
    """Whether the fitness is f_ℓ."""
    population: Annotated[int, Ge(2)] = 200
    """The number of codes of a generation."""
    replacement: Annotated[float, Gt(0), Lt(1)] = 0.5
    """The share of the codes that a generation replaces."""
    least_weight: Annotated[float, Gt(0)] = 0.05
    """The weight of a color that no kept code has in a position; the shares of others sum to 1."""
    restart: Count = 15
    """The number of generations after which a new random population starts."""
    generations: Natural = 150
    """The number of generations after which the search gives up."""
    remembers: bool = True
    """Whether a turn continues with the population of the turn before."""
    opening: FirstGuess = open_aabb
    """The first guess."""

    deterministic = False
    """The population is random."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return a code that agrees with all replies, or nearly so."""
        board = belief.board
        if not belief.history:
            guess = board.index(self.opening(board))
            return guess, GuessInfo(guess)
        state = seeded_state(rng)
        codes = self._population(board, situation.memory, state)
        replies = replies_of(board, belief.history, ends=belief.channel.ends)
        found = find_code(codes, replies, self._search(board, len(belief.history)), state)
        guess = board.index(tuple(found.code.tolist()))
        note = "" if found.cost == 0 else "no code that agrees with all replies was found"
        info = GuessInfo(
            guess=guess,
            score=float(found.fitness),
            tied=int(found.tied),
            evaluated=int(found.evaluated),
            memory=Population.of(board, codes) if self.remembers else None,
            note=note,
        )
        return guess, info

    def _population(
        self, board: Board, memory: object, state: NDArray[np.uint64]
    ) -> NDArray[np.uint8]:
        """Return the population of the turn before, or a random one."""
        kept = Population.kept(memory if self.remembers else None, board)
        if len(kept) == self.population:
            return kept.copy()
        codes = np.zeros((self.population, board.pegs), dtype=np.uint8)
        for code in codes:
            random_code(code, board.colors, board.repeats, state)
        return codes

    def _search(self, board: Board, turns: int) -> Distribution:
        terms = np.zeros(0, dtype=np.int64)
        if self.local_entropy:
            terms = entropy_terms(
                (turns + 1) * board.pegs, LOCAL_BITS
            ).copy()  # as writable as zeros
        return Distribution(
            colors=board.colors,
            repeats=board.repeats,
            replaced=min(max(1, round(self.population * self.replacement)), self.population - 1),
            least=float(self.least_weight),
            restart=self.restart,
            generations=self.generations,
            terms=terms,
            unit=math.ldexp(1.0, -LOCAL_BITS),
        )
