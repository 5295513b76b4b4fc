"""Growing the tree of a myopic rule from a set of codes, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.kernels.best_guess_kernel import RuleArrays, best_guess
from bnmind.strategies.kernels.reply_arrays import BoardArrays, pair_of

__all__ = ["SLICE", "Root", "grow"]

SLICE = 50_000_000
"""Pairs of guess and code in one call of compiled code: a tenth of a second."""

_N_NODES, _HEIGHT, _SETTLED = 0, 1, 2  # places in `Growth.counts`


class Growth(NamedTuple):
    """A growing tree: its nodes, and those that the kernel has not visited yet."""

    parents: NDArray[np.int32]
    """``(nodes,)`` the parent of each node, −1 for the first."""
    possible: NDArray[np.int32]
    """The number of possible codes."""
    guesses: NDArray[np.int32]
    """The guess, −1 at a leaf."""
    replies: NDArray[np.int32]
    """The index of the reply that led to it."""
    starts: NDArray[np.int32]
    """Where its codes begin in the order of all codes."""
    turns: NDArray[np.int32]
    """The number of guesses made before."""
    frees: NDArray[np.uint64]
    """The colors that can be renamed into each other, as bits."""
    stack: NDArray[np.int32]
    """The nodes that the kernel has not visited yet."""
    counts: NDArray[np.int64]
    """The number of nodes, of nodes on the stack, and of codes whose leaves are reached."""


class Root(NamedTuple):
    """The position that a tree grows from, beside the possible codes."""

    turn: int
    """The number of guesses made before."""
    free: np.uint64
    """The colors that can be renamed into each other, as bits."""
    candidates: NDArray[np.int32]
    """The guesses among which the first one is chosen; all if empty."""
    forced: int = -1
    """The first guess, or −1 to choose it."""


def grow(
    board: BoardArrays,
    rule: RuleArrays,
    order: NDArray[np.int32],
    root: Root,
    *,
    deepest: int,
    tell: Callable[[int], None] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the tree of a rule from a position on, node by node, parents before children.

    Parameters
    ----------
    board, rule
        As for `best_guess`.
    order
        The possible codes, ascending; the function sorts them by classes, leaf by leaf.
    root
        The position.
    deepest
        The tree is cut off after this number of guesses in all.
    tell
        Called from time to time with the number of codes whose leaves are reached.

    Returns
    -------
    tuple
        For each node: its parent, −1 for the first; the number of possible codes; its guess,
        −1 at a leaf; the index of the reply that led to it.
    """
    room = 2 * order.size
    nodes, frees = np.full((7, room), -1, dtype=np.int32), np.zeros(room, dtype=np.uint64)
    parents, possible, guesses, replies, starts, turns, stack = nodes
    counts = np.array([1, 1, 0], dtype=np.int64)
    growth = Growth(parents, possible, guesses, replies, starts, turns, frees, stack, counts)
    replies[0] = starts[0] = stack[0] = 0
    possible[0], turns[0], frees[0] = order.size, root.turn, root.free
    while counts[_HEIGHT]:
        _grow_on(board, rule, growth, order, deepest, root.candidates, root.forced, SLICE)
        if tell is not None:
            tell(int(counts[_SETTLED]))
    n = int(counts[_N_NODES])
    return parents[:n], possible[:n], guesses[:n], replies[:n]


@njit
def _grow_on(
    board: BoardArrays,
    rule: RuleArrays,
    growth: Growth,
    order: NDArray[np.int32],
    deepest: int,
    candidates: NDArray[np.int32],
    forced: int,
    most: int,
) -> None:
    """Grow a tree until it is complete, or for about ``most`` pairs of guess and code."""
    n_all = board.digits.shape[0]
    parents, possible, guesses = growth.parents, growth.possible, growth.guesses
    replies, starts, turns, frees = growth.replies, growth.starts, growth.turns, growth.frees
    stack, counts = growth.stack, growth.counts
    is_possible = np.zeros(n_all, dtype=np.uint8)
    every = np.zeros(0, dtype=np.int32)
    n_pairs = board.pairs.size
    places = np.zeros(order.size, dtype=np.uint8)
    sorted_codes = np.zeros(order.size, dtype=np.int32)
    bounds = np.zeros(n_pairs + 1, dtype=np.int64)
    n_nodes, height, looked_at = counts[_N_NODES], counts[_HEIGHT], 0
    while height and looked_at <= most:
        height -= 1
        node = stack[height]
        n, start = possible[node], starts[node]
        if n == 1 or turns[node] >= deepest:
            counts[_SETTLED] += n
            continue
        codes = order[start : start + n]
        guess = forced if node == 0 else -1
        if guess < 0:
            for code in codes:
                is_possible[code] = 1
            listed = candidates if node == 0 else every
            looked_at += n * (listed.size if listed.size else n_all)
            guess, _ = best_guess(board, rule, turns[node], codes, is_possible, frees[node], listed)
            for code in codes:
                is_possible[code] = 0
            if guess < 0:  # no guess is informative
                counts[_SETTLED] += n
                continue
        guesses[node] = guess
        bounds[:] = 0
        for c in range(n):
            places[c] = board.place_of_pair[pair_of(board, guess, codes[c])]
            bounds[places[c] + 1] += 1
        for j in range(n_pairs):
            bounds[j + 1] += bounds[j]
        first = n_nodes
        for j in range(n_pairs):
            size = bounds[j + 1] - bounds[j]
            if size:
                parents[n_nodes], possible[n_nodes] = node, size
                replies[n_nodes], starts[n_nodes] = j, start + bounds[j]
                turns[n_nodes] = turns[node] + 1
                frees[n_nodes] = frees[node] & ~board.colors_of[guess]
                n_nodes += 1
        for c in range(n):
            sorted_codes[bounds[places[c]]] = codes[c]
            bounds[places[c]] += 1
        codes[:] = sorted_codes[:n]
        for child in range(n_nodes - 1, first - 1, -1):
            stack[height] = child
            height += 1
    counts[_N_NODES], counts[_HEIGHT] = n_nodes, height
