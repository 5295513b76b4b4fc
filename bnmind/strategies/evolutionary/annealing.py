"""Simulated annealing: the best code found within a number of codes.

=======  ==================================================================
symbol   name here
=======  ==================================================================
c        the current code, at first random
f        its cost, see `fitness`
T        the temperature
=======  ==================================================================

Each step proposes another code: with probability ½ a random pair of pegs is exchanged, otherwise a
random peg gets a random color. A better or equal code replaces the current one, a worse one
with probability exp(−(f' − f) / T). The temperature falls by the same factor at each step, from
`Cooling.start` to `Cooling.end`. A run ends at the first *eligible* code, one that agrees with all
replies; after `Cooling.steps` steps the next run starts from another random code. After `runs` runs
without an eligible code the player guesses the best code found, as the published one does when its
time is up. So the guess may be impossible although a possible code is left; `GuessInfo.note` then
says so. This happens on boards of two colors: about once in 150 searches for the last possible code
of a random game, on 4x2 and 5x2. Codes guessed in vain are never entered, and on such boards they
can wall off the code that is sought.

Runs are independent, so the eligible codes of many runs are a spread-out sample of the possible
codes. A player that collects them (`Collection`) guesses the one of the best score over the sample,
as `Genetic` does.

We know the published algorithm only from its abstract and from Snyder's summary: permutation and
mutation create new codes, a cost function measures the consistency, and the best code found within
a time limit is played. The schedule of the temperature is ours, and a limit in codes replaces the
limit in time, so that a seed determines the game.

References
----------
Bernier, Herraiz, Merelo, Olmeda and Prieto, *Solving MasterMind using GAs and simulated annealing:
a case of dynamic constraint optimization*, Parallel Problem Solving from Nature IV (1996) 554-563.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import Count, Positive, Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.sampling import draw_below, draw_uniform, seeded_state
from bnmind.strategies.evolutionary.eligible_choice import best_of
from bnmind.strategies.evolutionary.fitness import PLAYED, Replies, code_cost, code_costs
from bnmind.strategies.evolutionary.operators import Choices, draw_code, mutate, permute
from bnmind.strategies.evolutionary.players import (
    Found,
    Population,
    SearchesCodes,
    Setup,
)
from bnmind.strategies.scores.entropy import EntropyLeft
from bnmind.strategies.scores.score import Score

__all__ = ["Annealing", "Collection", "Cooling", "annealing_tuned"]

_CODES_FOR_EACH = 20  # code of the board: a larger search would only see small boards again


@dataclass(frozen=True)
class Cooling(Value):
    """The schedule of the temperature.

    Raises
    ------
    InvalidArgumentError
        Unless start ≥ end > 0 and there is a step.
    """

    start: Positive = 2.0
    """The first temperature, in units of the cost."""
    end: Positive = 0.3
    """The last temperature."""
    steps: Count = 5000
    """The number of steps."""

    def _faults(self) -> Iterator[str]:
        if self.end > self.start:
            yield f"expected temperatures that fall, got {self.start} to {self.end}"


@dataclass(frozen=True, kw_only=True)
class Collection(Value):
    """The number of eligible codes to find, and the choice among them.

    Raises
    ------
    InvalidArgumentError
        If a number is below 1.
    """

    codes: Count = 1
    """The number of eligible codes that ends the search."""
    patience: Count = 1
    """The number of runs in a row without a new eligible code that ends the search once there is
    one."""
    choice: Score = field(default_factory=EntropyLeft)
    """The score of eligible codes as guesses, over the codes found."""
    guesses: Count = 10**6
    """The largest number of codes that the choice compares as guesses."""
    keeps: bool = False
    """Whether the codes found are kept for the next turn, where some are still eligible."""


@dataclass(frozen=True, kw_only=True)
class Annealing(SearchesCodes, Value):
    """Guess the best code that simulated annealing finds.

    If no code that agrees with all replies is found in `runs` runs, the guess is the code that is
    closest to agreeing, and the note of `GuessInfo` says by how many pegs it differs.

    Raises
    ------
    InvalidArgumentError
        If the number of runs is below 1.
    """

    name: str = "annealing"
    """The name of the strategy at the command line and in files."""
    cooling: Cooling = field(default_factory=Cooling)
    """The schedule of the temperature of a run."""
    runs: Count = 10
    """The number of runs without an eligible code after which the search gives up."""
    collection: Collection = field(default_factory=Collection)
    """The number of eligible codes to find, and the choice among them."""
    setup: Setup = field(default_factory=Setup)
    """The first guess and the colors to try."""

    def search(self, belief: Belief, rng: np.random.Generator, memory: object) -> Found:
        """Return the code to guess after some replies."""
        board, wanted = belief.board, self.collection
        replies, choices = self.setup.replies(belief), self.setup.choices(belief)
        most = _CODES_FOR_EACH * board.n_codes
        schedule = (self.cooling.start, self.cooling.end, min(self.cooling.steps, most))
        state = seeded_state(rng)
        # A dictionary, as sets have no order.
        eligible = dict.fromkeys(_still_eligible(memory, board, replies)) if wanted.keeps else {}
        best, least = np.zeros(board.pegs, dtype=np.uint8), 4 * PLAYED
        evaluated = in_vain = 0
        while len(eligible) < wanted.codes and in_vain < (
            wanted.patience if eligible else min(self.runs, most // schedule[2] + 1)
        ):
            code = np.zeros(board.pegs, dtype=np.uint8)
            cost, steps = anneal(code, replies, choices, schedule, state)
            evaluated += steps
            if cost < least:
                best, least = code, cost
            in_vain += 1
            if cost == 0 and code.tobytes() not in eligible:
                eligible[code.tobytes()] = None
                in_vain = 0
        if not eligible:
            return Found(tuple(best.tolist()), least, evaluated)
        codes = np.frombuffer(b"".join(eligible), dtype=np.uint8).reshape(-1, board.pegs)
        place, tied = best_of(
            board,
            codes,
            wanted.choice,
            turn=len(belief.history),
            most_guesses=wanted.guesses,
            rng=rng,
        )
        kept = Population.of(board, codes) if wanted.keeps else None
        return Found(tuple(codes[place].tolist()), 0, evaluated, tied=tied, memory=kept)


def annealing_tuned() -> Annealing:
    """Return the player that took the fewest guesses on large boards.

    It collects up to 1,000 eligible codes, keeps them for the next turn, and guesses the one of the
    largest entropy of the reply.
    """
    return Annealing(
        name="annealing-tuned",
        runs=300,
        collection=Collection(codes=1000, patience=50, guesses=200, keeps=True),
    )


def _still_eligible(memory: object, board: Board, replies: Replies) -> list[bytes]:
    """Return the codes of the memory that agree with all replies."""
    codes = Population.kept(memory, board)
    return [code.tobytes() for code in codes[code_costs(codes, replies) == 0]]


@njit
def anneal(
    best: NDArray[np.uint8],
    replies: Replies,
    choices: Choices,
    schedule: tuple[float, float, int],
    state: NDArray[np.uint64],
) -> tuple[int, int]:
    """Run the annealing once.

    Returns
    -------
    least, evaluated
        The smallest cost, whose code is written into `best`, and the number of codes evaluated.
    """
    start, end, steps = schedule
    factor = (end / start) ** (1.0 / steps)
    code, other = np.empty_like(best), np.empty_like(best)
    counts = np.zeros(choices.allowed.shape[1], dtype=np.uint8)
    draw_code(code, choices, state)
    cost = code_cost(code, replies, counts)
    temperature = start
    least = cost + 1
    for step in range(steps):
        if cost < least:
            least = cost
            best[:] = code
            if cost == 0:
                return least, step + 1
        other[:] = code
        if draw_below(state, 2):
            permute(other, choices, state)
        else:
            mutate(other, choices, state)
        new = code_cost(other, replies, counts)
        # A code that was guessed in vain is never accepted.
        if new <= cost or (
            new < PLAYED and draw_uniform(state) < math.exp((cost - new) / temperature)
        ):
            code[:] = other
            cost = new
        temperature *= factor
    if cost < least:
        least = cost
        best[:] = code
    return least, steps + 1
