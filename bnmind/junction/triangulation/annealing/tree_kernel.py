"""Simulated annealing on contraction trees, compiled.

A move exchanges two subtrees: a node T = ((A, B), C) becomes ((A, C), B). It changes the bag of T
and that of its inner child, and nothing else, so a move costs only the size of these bags. The
energy of the two bags is the logarithm of the sum of their sizes, and Metropolis' rule accepts the
move or not.

All numbers are whole, so the result does not depend on the machine: logarithms are fixed-point
numbers, sums of powers and the logarithms of random numbers are looked up in tables.

References
----------
G. Kalachev, P. Panteleev, M.-H. Yung, "Multi-tensor contraction for XEB verification of quantum
circuits", arXiv:2108.05665 (2021): the moves and the local energy.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bnmind._jit import njit
from bnmind.junction.triangulation.bit_words import bit_count
from bnmind.junction.triangulation.greedy_arrays import Ints, Words

__all__ = ["Tables", "Tree", "anneal", "tables"]

_FINE = 5
"""Binary digits by which the table of sums divides a difference of one in logarithms."""

_WIDEST = 32
"""The difference in logarithms above which the smaller of two terms does not count."""

_CHANCES = 12
"""Binary digits of the random number of Metropolis' rule."""


class Tree(NamedTuple):
    """A contraction tree; inner nodes follow the leaves, and the root is the last node."""

    children: Ints
    """(nodes, 2) the children of each inner node."""
    open_rows: Words
    """(nodes, words) the open vertices of each node, as bits. All vertices of a word have equally
    many states, so that the size of a bag follows from the numbers of its bits in each word."""
    costs: Ints
    """The logarithm of the size of the bag of each inner node."""
    logarithms: Ints
    """(words,) the binary logarithm of the number of states of each vertex of a word, in fixed
    point."""
    places: Ints
    """(vertices,) the bit of each vertex."""
    n_leaves: int


class Tables(NamedTuple):
    """Logarithms that moves look up, in fixed point."""

    sums: Ints
    """log2(1 + 2^-d) for differences d, in steps of 2^-`_FINE`."""
    thresholds: Ints
    """-ln(u) for the middles u of 2^`_CHANCES` equal parts of (0, 1), in fixed point."""
    shift: int
    """The binary digits by which a difference is shifted to look up `sums`."""


@cache
def tables(fraction: int) -> Tables:
    """Return the tables for logarithms with ``fraction`` fractional binary digits."""
    scale = 1 << fraction
    fine = min(_FINE, fraction)
    sums = [math.log2(1 + 2.0 ** -(i / (1 << fine))) for i in range(_WIDEST << fine)]
    chances = [-math.log((i + 0.5) / (1 << _CHANCES)) for i in range(1 << _CHANCES)]
    made = Tables(
        sums=np.array([round(x * scale) for x in sums], dtype=np.int64),
        thresholds=np.array([round(x * scale) for x in chances], dtype=np.int64),
        shift=fraction - fine,
    )
    made.sums.flags.writeable = made.thresholds.flags.writeable = False
    return made


@njit
def _log_sum(sums: Ints, shift: int, a: int, b: int) -> int:
    """Return the logarithm of the sum of two numbers given by their logarithms."""
    at = abs(a - b) >> shift
    return max(a, b) + (int(sums[at]) if at < sums.size else 0)


@njit
def _random(state: Words) -> Any:
    """Return the next 64 random bits (Marsaglia's xorshift, triple 13, 7, 17)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@njit
def anneal(tree: Tree, tables: Tables, schedule: Ints, moves: int, state: Words) -> int:
    """Anneal a tree, and return the counted work.

    Parameters
    ----------
    tree
        The tree, which the function changes.
    tables
        See `tables`.
    schedule
        Temperatures in 1/1024 of the unit in which the energy is a natural logarithm.
    moves
        The number of proposed moves at each temperature.
    state
        The state of the random numbers, one word that is not zero.
    """
    children, open_rows, costs = tree.children, tree.open_rows, tree.costs
    logarithms, n_leaves = tree.logarithms, tree.n_leaves
    sums, thresholds, shift = tables
    n_words = open_rows.shape[1]
    n_inner = np.uint64(children.shape[0] - n_leaves)
    work = 0
    for t in range(schedule.size):
        temperature = int(schedule[t])
        for _ in range(moves):
            random = _random(state)
            # The high bits choose the node, low bits the exchange and the chance.
            node = n_leaves + np.int64(((random >> np.uint64(32)) * n_inner) >> np.uint64(32))
            side = np.int64(random & np.uint64(1))
            inner = int(children[node, side])
            if inner < n_leaves:
                side = 1 - side
                inner = int(children[node, side])
                if inner < n_leaves:
                    continue
            other = int(children[node, 1 - side])
            kept_side = np.int64((random >> np.uint64(1)) & np.uint64(1))
            kept = int(children[inner, kept_side])
            moved = int(children[inner, 1 - kept_side])
            below = 0
            above = 0
            for w in range(n_words):
                bag = open_rows[kept, w] | open_rows[other, w]
                below += logarithms[w] * bit_count(bag)
                bag = (bag & open_rows[node, w]) | open_rows[moved, w]
                above += logarithms[w] * bit_count(bag)
            work += 5 + n_words // 2
            before = _log_sum(sums, shift, int(costs[inner]), int(costs[node]))
            after = _log_sum(sums, shift, below, above)
            if after > before:
                chance = np.int64((random >> np.uint64(2)) & np.uint64(thresholds.size - 1))
                if (after - before) << 10 > temperature * int(thresholds[chance]):
                    continue
            for w in range(n_words):
                bag = open_rows[kept, w] | open_rows[other, w]
                open_rows[inner, w] = bag & (open_rows[moved, w] | open_rows[node, w])
            children[inner, 1 - kept_side] = other
            children[node, 1 - side] = moved
            costs[inner] = below
            costs[node] = above
    return work
