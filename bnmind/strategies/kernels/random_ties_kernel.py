"""All games of a strategy that chooses at random among the best possible codes, compiled.

The kernel walks the tree of all choices and all replies. A node is a set of possible codes and the
probability of the choices that led to it; for each code of the board, the nodes of one turn that
hold it have probabilities of at most one in sum. The walk goes depth first and keeps one frame for
each depth, so it can be interrupted after any step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit

__all__ = ["ANY", "COLORS", "LARGEST", "SUM", "RuleTerms", "Walk", "start_walk", "walk_slice"]

ANY = 0
"""The rule of random codes: any possible code."""
SUM = 1
"""The least sum of terms of the reply classes."""
LARGEST = 2
"""The least largest term of a reply class."""
COLORS = 3
"""The least sum of terms of the numbers of pegs of each color, in the guess and those before."""

_DEPTH, _STARTED = 0, 1  # places in `Walk.state`


class RuleTerms(NamedTuple):
    """The rule by which guesses are compared; see `ClassTerms`."""

    kind: int
    """`ANY`, `SUM`, `LARGEST` or `COLORS`."""
    sizes: NDArray[np.int64]
    """The term of a class by its size, or of a color by its number of pegs."""
    shares: NDArray[np.int64]
    """The share of each code of a class, by the number of possible codes."""
    weights: NDArray[np.int64]
    """``(turns, replies)``; the last row also applies to all later turns."""
    winning: int
    """The term added for the winning class."""


class Walk(NamedTuple):
    """An unfinished walk; each array has a row for each depth."""

    codes: NDArray[np.int64]
    """``(depths, codes)``, the possible codes."""
    parts: NDArray[np.int64]
    """``(depths, codes)``, the same codes, ordered by their reply to the current guess."""
    starts: NDArray[np.int64]
    """``(depths, replies + 1)``, where the codes of each reply start."""
    tied: NDArray[np.int64]
    """``(depths, codes)``, the best guesses."""
    pegs: NDArray[np.int64]
    """``(depths, colors)``, the number of pegs of each color in all guesses before."""
    counts: NDArray[np.int64]
    """``(depths, 4)``: possible codes, best guesses, the current guess, codes already visited."""
    shares: NDArray[np.float64]
    """``(depths,)``, the probability of the choices that led here."""
    found: NDArray[np.float64]
    """The expected number of codes found by each guess, from 0."""
    state: NDArray[np.int64]
    """The current depth, −1 at the end; and whether its guesses have been compared."""


def start_walk(codes: NDArray[np.intp], pegs: NDArray[np.int64], replies: int, depths: int) -> Walk:
    """Return a walk from a set of possible codes.

    Parameters
    ----------
    codes
        The possible codes.
    pegs
        ``(colors,)``, the number of pegs of each color in all guesses so far.
    replies
        The number of true replies of the board.
    depths
        The largest number of further guesses.
    """
    n = len(codes)
    walk = Walk(
        codes=np.zeros((depths, n), dtype=np.int64),
        parts=np.zeros((depths, n), dtype=np.int64),
        starts=np.zeros((depths, replies + 1), dtype=np.int64),
        tied=np.zeros((depths, n), dtype=np.int64),
        pegs=np.zeros((depths, len(pegs)), dtype=np.int64),
        counts=np.zeros((depths, 4), dtype=np.int64),
        shares=np.ones(depths),
        found=np.zeros(depths + 2),
        state=np.array([0, 0], dtype=np.int64),
    )
    walk.codes[0], walk.pegs[0], walk.counts[0, 0] = codes, pegs, n
    return walk


@njit
def _compare(
    table: NDArray[np.uint8],
    colors: NDArray[np.int64],
    rule: Any,
    walk: Any,
    depth: int,
    turn: int,
) -> int:
    """Write the best guesses of the current set, and return the number of pairs examined."""
    n = walk.counts[depth, 0]
    codes, tied = walk.codes[depth], walk.tied[depth]
    replies = walk.starts.shape[1] - 1
    weights = rule.weights[min(turn, rule.weights.shape[0] - 1)]
    classes = np.zeros(replies, dtype=np.int64)
    best, n_tied = np.int64(0), 0
    for i in range(n):
        key = np.int64(0)
        if rule.kind == COLORS:
            for color in range(colors.shape[1]):
                key += rule.sizes[walk.pegs[depth, color] + colors[codes[i], color]]
        elif rule.kind != ANY:
            classes[:] = 0
            row = table[codes[i]]
            for j in range(n):
                classes[row[codes[j]]] += 1
            for outcome in range(replies):
                size = classes[outcome]
                term = (rule.sizes[size] - size * rule.shares[n]) * weights[outcome]
                key = key + term if rule.kind == SUM else max(key, term)
            key += rule.winning
        if i == 0 or key < best:
            best, n_tied = key, 0
        if key == best:
            tied[n_tied] = codes[i]
            n_tied += 1
    walk.counts[depth, 1] = n_tied
    walk.counts[depth, 2] = -1
    walk.counts[depth, 3] = n
    return int(n * n if rule.kind in (SUM, LARGEST) else n)


@njit
def _divide(table: NDArray[np.uint8], walk: Any, depth: int) -> None:
    """Order the codes by their reply to the current guess."""
    n, guess = walk.counts[depth, 0], walk.tied[depth, walk.counts[depth, 2]]
    codes, parts, starts = walk.codes[depth], walk.parts[depth], walk.starts[depth]
    row = table[guess]
    starts[:] = 0
    for i in range(n):
        starts[row[codes[i]]] += 1
    total = 0
    for outcome in range(starts.size):
        total += starts[outcome]
        starts[outcome] = total
    for i in range(n - 1, -1, -1):
        outcome = row[codes[i]]
        starts[outcome] -= 1
        parts[starts[outcome]] = codes[i]
    walk.counts[depth, 3] = 0


@njit
def walk_slice(
    table: NDArray[np.uint8],
    colors: NDArray[np.int64],
    rule: Any,
    walk: Any,
    turn: int,
    pairs: int,
) -> int:
    """Walk on, and return the number of pairs of a guess and a code that were examined.

    Parameters
    ----------
    table
        ``(codes, codes)``, the index of each reply; the last index wins.
    colors
        ``(codes, colors)``, the number of pegs of each color.
    rule
        `RuleTerms`.
    walk
        The walk, which is changed. It is finished if its depth is −1.
    turn
        The number of guesses made before the walk.
    pairs
        Stop after about this many pairs.
    """
    replies = walk.starts.shape[1] - 1
    used = 0
    while used < pairs and walk.state[_DEPTH] >= 0:
        depth = walk.state[_DEPTH]
        if walk.state[_STARTED] == 0:
            used += _compare(table, colors, rule, walk, depth, turn + depth)
            walk.state[_STARTED] = 1
        counts = walk.counts[depth]
        if counts[3] == counts[0]:
            counts[2] += 1
            if counts[2] == counts[1]:
                walk.state[_DEPTH] = depth - 1
                continue
            _divide(table, walk, depth)
            used += counts[0]
        first = counts[3]
        guess = walk.tied[depth, counts[2]]
        outcome = table[guess, walk.parts[depth, first]]
        size = walk.starts[depth, outcome + 1] - first
        counts[3] += size
        share = walk.shares[depth] / counts[1]
        if outcome == replies - 1:
            walk.found[depth] += share
        elif size <= 2:
            walk.found[depth + 1] += share
            if size == 2:
                walk.found[depth + 2] += share
        else:
            walk.codes[depth + 1, :size] = walk.parts[depth, first : first + size]
            walk.pegs[depth + 1] = walk.pegs[depth] + colors[guess]
            walk.counts[depth + 1, 0] = size
            walk.shares[depth + 1] = share
            walk.state[_DEPTH], walk.state[_STARTED] = depth + 1, 0
    return used
