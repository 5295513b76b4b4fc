"""Snyder's second player: a random walk to a code that agrees with the replies.

The walk starts at the last guess and proposes small changes. It prefers codes of low cost, the
distance between the replies so far and the replies that the code would have given. It needs no list
of codes, so it plays on boards of any size, and it plays under noise too: false replies raise the
cost of all codes.

==========================  =================================================================
Snyder                      name here
==========================  =================================================================
x_i, R_i                    ``facts.guesses[i]``; ``facts.black[i]``, ``facts.both[i]``
R_i(y)                      ``walk.black[i]``, ``walk.both[i]``: the replies if y were the code
y                           ``walk.code``
|ΔB| + |ΔW| + 2|ΔT|         the cost of a turn; T counts black and white pegs together
θ                           ``rule.theta``
==========================  =================================================================

A move changes at most two pegs, so the kernel updates the replies of each turn instead of
comparing the codes again: P changes at the two positions, and S = P + C changes by at most one for
the color that leaves and the color that comes.

References
----------
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, sections 4.3 and 4.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import Count, NonNegative, Probability, Value
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.random_moves import (
    compare_codes,
    draw_below,
    draw_color_change,
    draw_pair_swap,
    draw_subset_permutation,
    draw_uniform,
    random_code,
    seeded_state,
)
from bnmind.mastermind.sampling import TurnArrays, turn_arrays
from bnmind.strategies.strategy import FIRST_TURN, GuessInfo, Situation, UsesHistory

# --- The random walk of Metropolis and Hastings over codes, compiled ------------------------------


class WalkRule(NamedTuple):
    """The rule of a walk; see `MetropolisHastings` for its meaning."""

    theta: float
    """θ, the weight of contradictions, at least 0."""
    swap: float
    """The probability of a swap of two pegs."""
    subset: float
    """The probability of a permutation of some pegs."""
    keeps_color: bool
    """As `MetropolisHastings.keeps_color`."""
    is_mean: bool
    """As `MetropolisHastings.is_mean`."""
    colors: int
    """The number of colors."""
    repeats: bool
    """Whether a color may occur more than once."""


class Walk(NamedTuple):
    """The state of a walk. The kernel changes the arrays."""

    code: NDArray[np.uint8]
    """``(pegs,)``, the code where the walk is."""
    counts: NDArray[np.int64]
    """``(k + 1,)``, how often each color occurs in the code."""
    black: NDArray[np.int64]
    """``(turns,)``, the black pegs of the reply if the code were the secret."""
    both: NDArray[np.int64]
    """``(turns,)``, the black and white pegs of that reply together."""
    proposal: NDArray[np.uint8]
    """``(pegs,)``, work space."""
    empty: NDArray[np.int64]
    """``(k + 1,)``, zeros."""


def start_walk(facts: TurnArrays, code: NDArray[np.uint8]) -> Walk:
    """Return a walk at a code.

    Parameters
    ----------
    facts
        The turns of the game.
    code
        ``(pegs,)``, colors 1..k.
    """
    turns, width = facts.standing.shape
    walk = Walk(
        np.array(code, dtype=np.uint8),
        np.bincount(code, minlength=width).astype(np.int64),
        np.zeros(turns, dtype=np.int64),
        np.zeros(turns, dtype=np.int64),
        np.array(code, dtype=np.uint8),
        np.zeros(width, dtype=np.int64),
    )
    _reply_to_all(facts, walk)
    return walk


@njit
def _reply_to_all(facts: TurnArrays, walk: Walk) -> None:
    """Compute the reply of the code to each guess."""
    for t in range(facts.black.size):
        walk.black[t], walk.both[t] = compare_codes(facts.guesses[t], walk.code, walk.empty)


@njit
def _turn_cost(black_off: int, both_off: int) -> int:
    """Return |ΔB| + |ΔW| + 2|ΔT| of one turn, equation (35)."""
    return abs(black_off) + abs(both_off - black_off) + 2 * abs(both_off)


@njit
def total_cost(facts: TurnArrays, walk: Walk, first: int) -> int:
    """Return the cost of the walk's code, summed over the turns from `first`."""
    cost = 0
    for t in range(first, facts.black.size):
        cost += _turn_cost(int(walk.black[t] - facts.black[t]), int(walk.both[t] - facts.both[t]))
    return cost


@njit
def _proposed_cost(facts: TurnArrays, walk: Walk, first: int) -> int:
    """Return the cost of ``walk.proposal``, summed over the turns from `first`."""
    cost = 0
    for t in range(first, facts.black.size):
        black, both = compare_codes(facts.guesses[t], walk.proposal, walk.empty)
        cost += _turn_cost(black - int(facts.black[t]), both - int(facts.both[t]))
    return cost


@njit
def _is_accepted(rule: WalkRule, more: int, turns: int, state: NDArray[np.uint64]) -> bool:
    """Return whether to accept a proposal whose cost is higher by `more`."""
    if more <= 0:
        return True
    exponent = rule.theta * more / turns if rule.is_mean else rule.theta * more
    return draw_uniform(state) < math.exp(-exponent)


@njit
def run_walk(
    facts: TurnArrays,
    walk: Walk,
    rule: WalkRule,
    first: int,
    only_swaps: bool,
    steps: int,
    state: NDArray[np.uint64],
) -> tuple[int, int]:
    """Walk until the code agrees with all turns from `first`, or for a number of steps.

    Parameters
    ----------
    facts
        The turns.
    walk
        The state of the walk, which moves.
    rule
        The rule of the walk.
    first
        The first turn that counts; the walk knows nothing of the turns before it.
    only_swaps
        Whether the walk only exchanges pairs of pegs.
    steps
        The largest number of steps.
    state
        The state of the random numbers.

    Returns
    -------
    cost, searched
        The cost at the end, and the number of codes that were proposed.
    """
    cost, searched = total_cost(facts, walk, first), 0
    # An array read from a tuple costs time in each step.
    guesses, black_heard, both_heard, standing = facts
    code, counts, black_now, both_now, proposal, _ = walk
    n_turns, repeats = black_heard.size, rule.repeats
    subset = 0.0 if only_swaps else rule.subset
    swaps = 1.0 if only_swaps else subset + rule.swap * (1.0 - subset)
    black_new, both_new = black_now.copy(), both_now.copy()
    while searched < steps and cost > 0:
        searched += 1
        kind = draw_uniform(state)
        if kind < subset:
            draw_subset_permutation(code, proposal, state)
            new = _proposed_cost(facts, walk, first)
            if _is_accepted(rule, new - cost, n_turns - first, state):
                code[:] = proposal
                _reply_to_all(facts, walk)
                cost = new
            continue
        if kind < swaps:
            i, j, color_i, color_j = draw_pair_swap(code, state)
        else:
            if rule.keeps_color and draw_below(state, rule.colors) == 0:
                continue  # the color stays the same
            i, j, color_i, color_j = draw_color_change(code, rule.colors, repeats, state)
        old_i, old_j, new = int(code[i]), int(code[j]), 0
        changes = i == j and color_i != old_i
        count_old, count_new = counts[old_i], counts[color_i]
        for t in range(n_turns):
            guess_i, black, both = guesses[t, i], black_now[t], both_now[t]
            black += np.int64(guess_i == color_i) - np.int64(guess_i == old_i)
            if changes:
                both -= np.int64(count_old <= standing[t, old_i])
                both += np.int64(count_new < standing[t, color_i])
            else:
                guess_j = guesses[t, j]
                black += np.int64(guess_j == color_j) - np.int64(guess_j == old_j)
            black_new[t], both_new[t] = black, both
            if t >= first:
                new += _turn_cost(int(black - black_heard[t]), int(both - both_heard[t]))
        if _is_accepted(rule, new - cost, n_turns - first, state):
            code[i], code[j], cost = color_i, color_j, new
            if changes:
                counts[old_i] -= 1
                counts[color_i] += 1
            for t in range(n_turns):
                black_now[t], both_now[t] = black_new[t], both_new[t]
    return cost, searched


# --- Snyder's second player: a random walk to a code that agrees with the replies -----------------


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

    deterministic = False
    """The walk is random."""

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
        facts = turn_arrays(board, history)
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

    def _only_swaps(self, board: Board, facts: TurnArrays, walk: Walk) -> bool:
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
        self, board: Board, facts: TurnArrays, state: NDArray[np.uint64]
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
