"""Estimation of distributions: codes drawn from the colors that good codes have in each position.

========  ==================================================================
symbol    name here
========  ==================================================================
n         the number of guesses made
ℓ         pegs
f(c)      the cost of a code, `fitness.code_cost`: Σ |black pegs too many or too few| + the same for
          white pegs
s(c)      the local entropy, `eda_kernel.letter_entropy`: the entropy of a color that is drawn from
          the (n + 1)ℓ pegs of the code and of all guesses made
f_ℓ(c)    s(c) / (1 + f(c))
========  ==================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import NDArray

from bnmind._values import Count, Natural, Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.sampling import random_code, seeded_state
from bnmind.strategies.base.beginnings import UsesHistory
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo
from bnmind.strategies.evolutionary.eda_kernel import Distribution, find_code
from bnmind.strategies.evolutionary.fitness import replies_of
from bnmind.strategies.evolutionary.local_entropy import LOCAL_BITS
from bnmind.strategies.evolutionary.players import Population
from bnmind.strategies.players.openings import FirstGuess, open_aabb
from bnmind.strategies.scores.fixed_point_entropy import entropy_terms

__all__ = ["EstimationOfDistribution"]


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

    @property
    def deterministic(self) -> bool:
        """The population is random."""
        return False

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
