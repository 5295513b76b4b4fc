"""The genetic algorithm of Berghman, Goossens and Leus: collect eligible codes, then choose.

After a fixed first guess, each turn starts from a random population. Every generation is bred from
the one before by crossover, mutation, permutation and inversion; a child that is in the new
generation already is replaced by a random code. The eligible codes that occur, those that agree
with all replies, are collected in a set. Once the set is full, or after a number of generations,
the player guesses the code of the set that leaves the fewest codes of the set eligible on average,
each code of the set being taken for the secret in turn. This is the expected size (`ExpectedSize`)
over a sample of the possible codes.

The paper leaves the following open; `docs/evolutionary.md` tells how much each matters:

* the selection of parents, "two parents chosen at random". With the published fitness f,
  chances proportional to b·P·(i − 1) − cost hardly prefer better codes. The default is
  1 / (1 + cost).
* the search without any eligible code after all generations: it starts again with a new random
  population, and after `Effort.restarts` of them gives up.

If the search gives up, usually because false replies contradict each other, the codes of the
smallest cost found take the place of the eligible codes.

References
----------
Berghman, Goossens and Leus, *Efficient solutions for Mastermind using genetic algorithms*,
Computers & Operations Research 36 (2009) 1880-1885.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Count, Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.sampling import seeded_state
from bnmind.strategies.evolutionary.eligible_choice import best_of
from bnmind.strategies.evolutionary.fitness import PLAYED, code_costs
from bnmind.strategies.evolutionary.genetic_kernel import Archive, collect_best
from bnmind.strategies.evolutionary.operators import Rates
from bnmind.strategies.evolutionary.players import (
    Found,
    Population,
    SearchesCodes,
    Setup,
    faults_of_rates,
)
from bnmind.strategies.evolutionary.population import Selection, empty_keys
from bnmind.strategies.scores.entropy import EntropyLeft
from bnmind.strategies.scores.expected_size import ExpectedSize
from bnmind.strategies.scores.score import Score

__all__ = ["Effort", "Genetic", "genetic_tuned"]

_TURN_WEIGHT = 2  # b
_CODES_FOR_EACH = 20  # code of the board: a larger search would only see small boards again


@dataclass(frozen=True, kw_only=True)
class Effort(Value):
    """The size of a genetic search; the defaults are those of the paper.

    Raises
    ------
    InvalidArgumentError
        If a number is below 1.
    """

    population: Count = 150
    """The number of codes of a generation."""
    generations: Count = 100
    """The largest number of generations after the first one."""
    eligible: Count = 60
    """The number of eligible codes that ends the search."""
    patience: Count = 10**6
    """The number of generations without a new eligible code that ends the search once there is
    one. The paper has no such rule."""
    guesses: Count = 10**6
    """The largest number of eligible codes that the choice compares as guesses."""
    restarts: Count = 10
    """The number of populations to try until one contains an eligible code."""


@dataclass(frozen=True, kw_only=True)
class Genetic(SearchesCodes, Value):
    """Collect eligible codes with a genetic algorithm, and guess the most informative of them.

    Raises
    ------
    InvalidArgumentError
        If a rate is not from 0 to 1.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel, Reply
    >>> player = Genetic()
    >>> belief = player.start(Channel.exact(Board(6, 9)).revealed())
    >>> guess, _ = player.choose(belief, np.random.default_rng(0))
    >>> belief.board.code(guess)
    (1, 1, 2, 2, 3, 4)
    """

    name: str = "genetic"
    """The name of the strategy at the command line and in files."""
    effort: Effort = field(default_factory=Effort)
    """The size of the search."""
    rates: Rates = field(default_factory=Rates)
    """The rates of the operators."""
    selection: Selection = Selection.INVERSE
    """The chances of codes to become parents."""
    choice: Score = field(default_factory=ExpectedSize)
    """The score of eligible codes as guesses, over the set of eligible codes."""
    keeps: bool = False
    """Whether the eligible codes of a turn start the population of the next one."""
    setup: Setup = field(default_factory=Setup)
    """The first guess and the colors to try."""

    def _faults(self) -> Iterator[str]:
        yield from faults_of_rates(self.rates)

    def search(self, belief: Belief, rng: np.random.Generator, memory: object) -> Found:
        """Return the code to guess after some replies."""
        board, effort = belief.board, self.effort
        replies, choices = self.setup.replies(belief), self.setup.choices(belief)
        archive = _empty_archive(effort.eligible, board.pegs)
        population = np.zeros((effort.population, board.pegs), dtype=np.uint8)
        kept = Population.kept(memory if self.keeps else None, board)
        kept = kept[np.argsort(code_costs(kept, replies), kind="stable")][: len(population)]
        n_given = len(kept)
        population[:n_given] = kept
        state = seeded_state(rng)
        top = _TURN_WEIGHT * board.pegs * len(belief.history)
        most = _CODES_FOR_EACH * board.n_codes
        generations = min(effort.generations, most // effort.population + 1)
        for _ in range(effort.restarts):
            plan = (generations, effort.patience, self.selection.value, top, n_given)
            collect_best(population, archive, replies, choices, self.rates, plan, state)
            n_given = 0
            if not archive.counts[1] or archive.counts[2] > most:
                break
        n, cost, evaluated = archive.counts.tolist()
        codes = archive.codes[:n]
        turn = len(belief.history)
        place, tied = best_of(
            board, codes, self.choice, turn=turn, most_guesses=effort.guesses, rng=rng
        )
        kept_codes = Population.of(board, codes) if self.keeps else None
        guess = tuple(codes[place].tolist())
        return Found(guess, cost, evaluated, tied=tied, memory=kept_codes)


def genetic_tuned() -> Genetic:
    """Return the player with a larger search than that of the paper, for large boards.

    It takes about as many guesses as `Genetic`; `annealing_tuned` takes fewer.
    Compared with the paper: a large set of eligible codes that is kept for the next turn, high
    rates of mutation and permutation, and the code of the largest entropy of the reply.
    """
    return Genetic(
        name="genetic-tuned",
        effort=Effort(population=400, generations=300, eligible=1000, guesses=200, patience=20),
        rates=Rates(mutation=0.3, permutation=0.3, inversion=0.1),
        selection=Selection.BEST_HALF,
        choice=EntropyLeft(),
        keeps=True,
    )


def _empty_archive(room: int, pegs: int) -> Archive:
    codes: NDArray[np.uint8] = np.zeros((room, pegs), dtype=np.uint8)
    counts = np.array([0, 4 * PLAYED, 0], dtype=np.int64)
    return Archive(codes, empty_keys(room), counts)
