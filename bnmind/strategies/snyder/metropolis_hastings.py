"""Snyder's second player: a random walk to a code that agrees with the replies.

The walk starts at the last guess and proposes small changes. It prefers codes of low cost, the
distance between the replies so far and the replies that the code would have given. It needs no list
of codes, so it plays on boards of any size, and it plays under noise too: false replies raise the
cost of all codes.

References
----------
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, sections 4.3 and 4.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from bnmind._values import Count, NonNegative, Probability, Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.sampling import random_code, seeded_state
from bnmind.strategies.base.beginnings import UsesHistory
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo
from bnmind.strategies.snyder.metropolis_kernel import (
    Facts,
    Walk,
    WalkRule,
    facts_of,
    run_walk,
    start_walk,
)

__all__ = ["MAX_STEPS", "MetropolisHastings", "WalkMemory", "stopping_steps"]

MAX_STEPS = 2**20
"""The largest number of steps of a walk; the formula asks for more above 36 pegs and colors."""


def stopping_steps(board: Board) -> int:
    """Return the number of steps after which a walk stops, equation (38), at most `MAX_STEPS`.

    Parameters
    ----------
    board
        The board.

    Examples
    --------
    >>> stopping_steps(Board(4, 6)), stopping_steps(Board(8, 10))
    (361, 3983)
    """
    exponent = 0.30 * (board.pegs + board.colors) + 2.89
    return int(math.exp(min(exponent, math.log(MAX_STEPS))))


@dataclass(frozen=True)
class WalkMemory(Value):
    """The memory of `MetropolisHastings` between two turns.

    Raises
    ------
    InvalidArgumentError
        If the code is not one of the board.
    """

    board: Board
    """The board."""
    code: tuple[int, ...]
    """The code where the last walk ended."""
    stuck: int
    """The number of walks in a row that found no code of cost 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.board.index(self.code)


@dataclass(frozen=True, kw_only=True)
class MetropolisHastings(UsesHistory, Value):
    """Walk at random to a code of low cost, and guess it.

    The cost of a code is ``|ΔB| + |ΔW| + 2|ΔT|``, summed over the turns: the differences in black
    pegs, in white pegs, and in both together, between the reported reply and the reply that the
    code would have given. A proposal that raises the cost by d is accepted with probability
    exp(−θd). The walk stops at a code of cost 0, or after a number of steps; its last code is the
    guess, even if it has been guessed before. Once a reply says that all colors are found, the walk
    only exchanges pegs. The first guess is uniformly random.

    If the walks of some turns in a row find no code of cost 0, the player is stuck. It then starts
    a walk at a random code, and learns the turns one by one, the last turn first, with a walk of
    both moves for each.

    `GuessInfo.score` is the cost of the guess, and `GuessInfo.evaluated` the number of proposals.
    The player ignores the probabilities of the channel, and the prior.

    Raises
    ------
    InvalidArgumentError
        If a field is out of its range.

    Examples
    --------
    >>> from bnmind.mastermind import Channel, Reply
    >>> belief = MetropolisHastings().start(Channel.exact(Board(10, 12)))
    >>> belief = belief.update((1, 1, 2, 2, 3, 3, 4, 4, 5, 5), Reply(2, 3))
    >>> guess, info = MetropolisHastings().choose(belief, np.random.default_rng(1))
    >>> info.score
    0.0
    """

    name: str = "metropolis-hastings"
    """The name of the strategy at the command line and in files."""
    theta: NonNegative = 1.0
    """The preference for codes of low cost, θ. Snyder names 2; see the documentation for why her
    figures come from 1."""
    swap: Probability = 0.5
    """The probability of exchanging a random pair of pegs; else a random peg changes its color."""
    subset: Probability = 0.0
    """The probability of permuting three or more pegs instead of either."""
    keeps_color: bool = True
    """Whether the new color of a peg is drawn from all colors, so that it may stay the same."""
    is_mean: bool = False
    """Whether the cost is the mean over the turns instead of the sum."""
    only_last: bool = False
    """Whether only the last reply can say that all colors are found, instead of any reply. Under
    noise this is better: a false reply then misleads for one turn instead of many."""
    same_colors: bool = False
    """Whether the walk only exchanges pegs if it starts at a code of the colors that such a reply
    found. Otherwise it may exchange the pegs of other colors, after a false reply or a restart."""
    patience: Count = 3
    """The number of walks without success after which the walk starts again."""
    steps: Annotated[int, Ge(1), Le(MAX_STEPS)] | None = None
    """The largest number of steps of a walk; by default that of `stopping_steps`."""

    @property
    def deterministic(self) -> bool:
        """The walk is random."""
        return False

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the code where the walk ends.

        Without a memory, the walk starts at the last guess, and is not stuck.
        """
        board, history = belief.board, belief.history
        state = seeded_state(rng)
        if not history:
            code = _random_digits(board, state)
            return _answer(board, code, cost=0, searched=0, stuck=0)
        memory = situation.memory if isinstance(situation.memory, WalkMemory) else None
        memory = None if memory is None or memory.board != board else memory
        facts = facts_of(board, history)
        stuck = 0 if memory is None else memory.stuck
        if stuck >= self.patience:
            code, cost, searched = self._restarted(board, facts, state)
            return _answer(board, code, cost=cost, searched=searched, stuck=0)
        begin = np.array(history[-1].guess if memory is None else memory.code, dtype=np.uint8)
        walk = start_walk(facts, begin)
        only_swaps = self._only_swaps(board, facts, walk)
        steps = stopping_steps(board) if self.steps is None else self.steps
        cost, searched = run_walk(facts, walk, self._rule(board), 0, only_swaps, steps, state)
        stuck = 0 if cost == 0 else stuck + 1
        return _answer(board, walk.code, cost=cost, searched=searched, stuck=stuck)

    def _only_swaps(self, board: Board, facts: Facts, walk: Walk) -> bool:
        """Return whether the walk only exchanges pegs, because all colors are found."""
        found = facts.both == board.pegs
        if self.only_last:
            found[:-1] = False
        if self.same_colors:
            found &= (facts.standing == walk.counts).all(axis=1)
        return bool(found.any())

    def _rule(self, board: Board) -> WalkRule:
        return WalkRule(
            float(self.theta),
            float(self.swap),
            float(self.subset),
            self.keeps_color,
            self.is_mean,
            board.colors,
            board.repeats,
        )

    def _restarted(
        self, board: Board, facts: Facts, state: NDArray[np.uint64]
    ) -> tuple[NDArray[np.uint8], int, int]:
        """Return the code of a new walk that learns the turns from the last to the first."""
        walk = start_walk(facts, _random_digits(board, state))
        rule = self._rule(board)
        steps = stopping_steps(board) if self.steps is None else self.steps
        cost = searched = 0
        for first in range(len(facts.black) - 1, -1, -1):
            cost, proposed = run_walk(facts, walk, rule, first, False, steps, state)
            searched += proposed
        return walk.code, cost, searched


def _random_digits(board: Board, state: NDArray[np.uint64]) -> NDArray[np.uint8]:
    code = np.zeros(board.pegs, dtype=np.uint8)
    random_code(code, board.colors, board.repeats, state)
    return code


def _answer(
    board: Board, code: NDArray[np.uint8], *, cost: int, searched: int, stuck: int
) -> tuple[int, GuessInfo]:
    """Return a guess with its reasons."""
    colors = tuple(code.tolist())
    guess = board.index(colors)
    return guess, GuessInfo(
        guess,
        float(cost),
        evaluated=int(searched),
        memory=WalkMemory(board, colors, stuck),
    )
