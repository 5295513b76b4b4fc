"""Compiled: the tree of a rule, from a set of codes on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.cell_kernel import RuleArrays, best_guess
from bnmind.strategies.reply_rows import BoardArrays, pair_of

__all__ = ["grow"]


@njit
def grow(
    board: BoardArrays,
    rule: RuleArrays,
    turn: int,
    order: NDArray[np.int32],
    free: np.uint64,
    deepest: int,
    candidates: NDArray[np.int32],
    forced: int,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return the tree of a rule from a set of codes on, node by node, parents before children.

    Parameters
    ----------
    board, rule, turn, free
        As for `best_guess`.
    order
        The set, ascending; it is reordered by cells, leaf by leaf.
    deepest
        After so many guesses in all, the tree is cut.
    candidates
        The guesses among which the first one is chosen; all if empty.
    forced
        The first guess, or −1.

    Returns
    -------
    tuple
        Of each node: its parent, −1 for the first; how many codes are possible; its guess,
        −1 if it has none; the place of the reply that led to it.
    """
    n_all = board.digits.shape[0]
    room = 2 * order.size
    parents = np.full(room, -1, dtype=np.int32)
    possible = np.zeros(room, dtype=np.int32)
    guesses = np.full(room, -1, dtype=np.int32)
    replies = np.zeros(room, dtype=np.int32)
    starts = np.zeros(room, dtype=np.int32)
    turns = np.zeros(room, dtype=np.int32)
    frees = np.zeros(room, dtype=np.uint64)
    stack = np.zeros(room, dtype=np.int32)
    is_possible = np.zeros(n_all, dtype=np.uint8)
    every = np.zeros(0, dtype=np.int32)
    n_pairs = board.pairs.size
    places = np.zeros(order.size, dtype=np.uint8)
    sorted_codes = np.zeros(order.size, dtype=np.int32)
    bounds = np.zeros(n_pairs + 1, dtype=np.int64)
    possible[0], turns[0], frees[0] = order.size, turn, free
    n_nodes, height = 1, 1
    while height:
        height -= 1
        node = stack[height]
        n, start = possible[node], starts[node]
        if n == 1 or turns[node] >= deepest:
            continue
        codes = order[start : start + n]
        guess = forced if node == 0 else -1
        if guess < 0:
            for code in codes:
                is_possible[code] = 1
            listed = candidates if node == 0 else every
            guess, _ = best_guess(board, rule, turns[node], codes, is_possible, frees[node], listed)
            for code in codes:
                is_possible[code] = 0
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
    return parents[:n_nodes], possible[:n_nodes], guesses[:n_nodes], replies[:n_nodes]
