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
from bnmind.mastermind.sampling.turn_arrays import turn_arrays

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


def facts_of(board: Board, history: Sequence[Turn]) -> Facts:
    """Return the turns of a game as arrays.

    Parameters
    ----------
    board
        The board.
    history
        The guesses and their reported replies.
    """
    turns = turn_arrays(board, history)
    return Facts(turns.guesses.astype(np.uint8), turns.standing, turns.black, turns.both)


def start_walk(facts: Facts, code: NDArray[np.uint8]) -> Walk:
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
def _reply_to_all(facts: Facts, walk: Walk) -> None:
    """Compute the reply of the code to each guess."""
    for t in range(facts.black.size):
        walk.black[t], walk.both[t] = compare_codes(facts.guesses[t], walk.code, walk.empty)


@njit
def _turn_cost(black_off: int, both_off: int) -> int:
    """Return |ΔB| + |ΔW| + 2|ΔT| of one turn, equation (35)."""
    return abs(black_off) + abs(both_off - black_off) + 2 * abs(both_off)


@njit
def total_cost(facts: Facts, walk: Walk, first: int) -> int:
    """Return the cost of the walk's code, summed over the turns from `first`."""
    cost = 0
    for t in range(first, facts.black.size):
        cost += _turn_cost(int(walk.black[t] - facts.black[t]), int(walk.both[t] - facts.both[t]))
    return cost


@njit
def _proposed_cost(facts: Facts, walk: Walk, first: int) -> int:
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
    guesses, standing, black_heard, both_heard = facts
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
