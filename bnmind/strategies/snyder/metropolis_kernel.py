"""The random walk of Metropolis and Hastings over codes, compiled.

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
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.sampling import (
    compare_codes,
    draw_below,
    draw_color_change,
    draw_pair_swap,
    draw_subset_permutation,
    draw_uniform,
)

__all__ = ["Facts", "Walk", "WalkRule", "facts_of", "run_walk", "start_walk", "total_cost"]


class Facts(NamedTuple):
    """The turns of a game as arrays, oldest first."""

    guesses: NDArray[np.uint8]
    """``(turns, pegs)``, colors 1..k."""
    standing: NDArray[np.int64]
    """``(turns, k + 1)``, how often each color occurs in the guess."""
    black: NDArray[np.int64]
    """``(turns,)``, the reported black pegs."""
    both: NDArray[np.int64]
    """``(turns,)``, the reported black and white pegs together."""


class WalkRule(NamedTuple):
    """The rule of a walk; see `MetropolisHastings` for its meaning."""

    theta: float
    swap: float
    subset: float
    keeps_color: bool
    is_mean: bool
    colors: int
    repeats: bool


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


def facts_of(board: Board, history: Sequence[Turn]) -> Facts:
    """Return the turns of a game as arrays."""
    guesses = np.array([turn.guess for turn in history], dtype=np.uint8).reshape(-1, board.pegs)
    standing = np.zeros((len(guesses), board.colors + 1), dtype=np.int64)
    for row, guess in zip(standing, guesses, strict=True):
        row += np.bincount(guess, minlength=board.colors + 1)
    return Facts(
        guesses,
        standing,
        np.array([turn.reply.black for turn in history], dtype=np.int64),
        np.array([sum(turn.reply) for turn in history], dtype=np.int64),
    )


def start_walk(facts: Facts, code: NDArray[np.uint8]) -> Walk:
    """Return a walk at a code."""
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
def _reply_to_all(facts: Facts, walk: Walk) -> None:
    """Compute the reply of the code to each guess."""
    for t in range(facts.black.size):
        walk.black[t], walk.both[t] = compare_codes(facts.guesses[t], walk.code, walk.empty)


@njit
def _turn_cost(facts: Facts, t: int, black: int, both: int) -> int:
    """Return |ΔB| + |ΔW| + 2|ΔT| of one turn, equation (35)."""
    black_off = black - int(facts.black[t])
    both_off = both - int(facts.both[t])
    return abs(black_off) + abs(both_off - black_off) + 2 * abs(both_off)


@njit
def total_cost(facts: Facts, walk: Walk, first: int) -> int:
    """Return the cost of the walk's code, summed over the turns from `first`."""
    cost = 0
    for t in range(first, facts.black.size):
        cost += _turn_cost(facts, t, walk.black[t], walk.both[t])
    return cost


@njit
def _black_after(facts: Facts, walk: Walk, t: int, move: tuple[int, int, int, int]) -> int:
    """Return the black pegs of a turn after a move."""
    first, second, color_first, color_second = move
    guess = facts.guesses[t]
    black = int(walk.black[t])
    black += int(guess[first] == color_first) - int(guess[first] == walk.code[first])
    if second != first:
        black += int(guess[second] == color_second) - int(guess[second] == walk.code[second])
    return black


@njit
def _both_after(facts: Facts, walk: Walk, t: int, old: int, new: int) -> int:
    """Return the black and white pegs of a turn after one peg changes its color."""
    both = int(walk.both[t])
    if old != new:
        both -= int(walk.counts[old] <= facts.standing[t, old])
        both += int(walk.counts[new] < facts.standing[t, new])
    return both


@njit
def _cost_after(
    facts: Facts, walk: Walk, first: int, move: tuple[int, int, int, int], changes: bool
) -> int:
    """Return the cost after a move, over the turns from `first`.

    `changes` says whether the colors of the code change, other than in their order.
    """
    cost, old = 0, int(walk.code[move[0]])
    for t in range(first, facts.black.size):
        both = _both_after(facts, walk, t, old, move[2]) if changes else int(walk.both[t])
        cost += _turn_cost(facts, t, _black_after(facts, walk, t, move), both)
    return cost


@njit
def _make_move(facts: Facts, walk: Walk, move: tuple[int, int, int, int], changes: bool) -> None:
    """Make a move, and update the replies to all guesses."""
    old = int(walk.code[move[0]])
    for t in range(facts.black.size):
        walk.black[t] = _black_after(facts, walk, t, move)
        if changes:
            walk.both[t] = _both_after(facts, walk, t, old, move[2])
    if changes:
        walk.counts[old] -= 1
        walk.counts[move[2]] += 1
    walk.code[move[0]], walk.code[move[1]] = move[2], move[3]


@njit
def _is_accepted(rule: WalkRule, more: int, turns: int, state: NDArray[np.uint64]) -> bool:
    """Return whether to accept a proposal whose cost is higher by `more`."""
    if more <= 0:
        return True
    exponent = rule.theta * more / turns if rule.is_mean else rule.theta * more
    return draw_uniform(state) < math.exp(-exponent)


@njit
def run_walk(
    facts: Facts,
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
        Whether the walk only permutes pegs.
    steps
        The largest number of steps.
    state
        The state of the random numbers.

    Returns
    -------
    cost, searched
        The cost at the end, and the number of codes that were proposed.
    """
    cost = total_cost(facts, walk, first)
    turns, code, searched = facts.black.size - first, walk.code, 0
    swaps = rule.subset + (1.0 if only_swaps else rule.swap) * (1.0 - rule.subset)
    while searched < steps and cost > 0:
        searched += 1
        kind = draw_uniform(state)
        if kind < rule.subset:
            # All pegs may move: compare the codes again.
            draw_subset_permutation(code, walk.proposal, state)
            new = 0
            for t in range(first, turns + first):
                black, both = compare_codes(facts.guesses[t], walk.proposal, walk.empty)
                new += _turn_cost(facts, t, black, both)
            if _is_accepted(rule, new - cost, turns, state):
                code[:] = walk.proposal
                _reply_to_all(facts, walk)
                cost = new
            continue
        if kind < swaps:
            move = draw_pair_swap(code, state)
        else:
            if rule.keeps_color and draw_below(state, rule.colors) == 0:
                continue  # the color stays the same
            move = draw_color_change(code, rule.colors, rule.repeats, state)
        changes = move[0] == move[1]
        new = _cost_after(facts, walk, first, move, changes)
        if _is_accepted(rule, new - cost, turns, state):
            _make_move(facts, walk, move, changes)
            cost = new
    return cost, searched
