"""The search for a code that agrees with all replies, compiled.

Sets of colors are words; color i is bit i − 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit

__all__ = [
    "EXHAUSTED",
    "FOUND",
    "NONE",
    "PAUSED",
    "Facts",
    "Trail",
    "list_ways",
    "nodes_of",
    "search_slice",
    "start_trail",
]

FOUND = 0
"""The search found a code."""

NONE = 1
"""No code agrees with all replies."""

EXHAUSTED = 2
"""The search needs more nodes than allowed."""

PAUSED = 3
"""The search has paused; call it again to resume."""

_MOST_STEPS = 2**24
_NODES, _DEPTH, _ALLOWED, _IS_NEW = 0, 1, 2, 3  # places in `Trail.counts`


class Facts(NamedTuple):
    """The history of a game, and the order in which the search tries colors."""

    guesses: NDArray[np.int64]
    """``(turns, pegs)``."""
    black: NDArray[np.int64]
    """``(turns,)`` black pegs."""
    both: NDArray[np.int64]
    """``(turns,)`` black and white pegs."""
    standing: NDArray[np.int64]
    """``(turns, colors + 1)`` the number of pegs of each color in the guess."""
    values: NDArray[np.int64]
    """``(pegs, colors)`` the colors of each position in the order of the search."""
    ways: NDArray[np.uint8]
    """``(ways, colors + 1)`` the possible numbers of pegs of each color; no row if not listed."""
    repeats: bool
    """Whether a color may occur twice."""


class Trail(NamedTuple):
    """The state of a search."""

    code: NDArray[np.int64]
    """``(pegs,)`` the pegs placed so far, then zeros."""
    place: NDArray[np.int64]
    """``(pegs + 1,)`` the index of the next value at each position."""
    domains: NDArray[np.int64]
    """``(pegs + 1, pegs)`` at each depth, the set of colors that each position may have."""
    placed: NDArray[np.int64]
    """``(colors + 1,)`` the number of pegs placed of each color."""
    blacks: NDArray[np.int64]
    """``(turns,)`` black pegs so far."""
    counted: NDArray[np.int64]
    """``(turns,)`` pegs so far that count."""
    order: NDArray[np.int64]
    """The ways; at each depth, those that fit the pegs placed so far come first."""
    fitting: NDArray[np.int64]
    """``(pegs + 1,)`` the number of ways that fit."""
    counts: NDArray[np.int64]
    """The nodes, the depth, the colors allowed next, and whether the depth is new."""


def start_trail(facts: Facts) -> Trail:
    """Return the state of a search that has not started."""
    (turns, pegs), colors = facts.guesses.shape, facts.values.shape[1]
    every, n_ways = (1 << colors) - 1, len(facts.ways)
    domains = np.zeros((pegs + 1, pegs), dtype=np.int64)
    domains[0] = every
    return Trail(
        np.zeros(pegs, dtype=np.int64),
        np.zeros(pegs + 1, dtype=np.int64),
        domains,
        np.zeros(colors + 1, dtype=np.int64),
        np.zeros(turns, dtype=np.int64),
        np.zeros(turns, dtype=np.int64),
        np.arange(n_ways, dtype=np.int64),
        np.full(pegs + 1, n_ways, dtype=np.int64),
        np.array([0, 0, every, 1], dtype=np.int64),
    )


def nodes_of(trail: Trail) -> int:
    """Return the number of pegs placed so far."""
    return int(trail.counts[_NODES])


@njit
def search_slice(facts: Facts, trail: Trail, max_nodes: int, most: int) -> int:
    """Continue a search until it ends, or for about ``most`` operations.

    Returns
    -------
    int
        `FOUND` if ``trail.code`` is the code, the first one in the order of values; `NONE`;
        `EXHAUSTED` after more than `max_nodes` nodes; or `PAUSED`.
    """
    guesses, standing, values, ways = facts.guesses, facts.standing, facts.values, facts.ways
    code, place, placed, domains = trail.code, trail.place, trail.placed, trail.domains
    blacks, counted = trail.blacks, trail.counted
    pegs, colors = values.shape
    turns, n_ways = guesses.shape[0], ways.shape[0]
    every, operations = 0, 0
    for color in range(1, colors + 1):
        every |= 1 << (color - 1)
    depth, allowed, is_new = trail.counts[_DEPTH], trail.counts[_ALLOWED], trail.counts[_IS_NEW]
    while depth >= 0:
        if operations > most:
            trail.counts[_DEPTH], trail.counts[_ALLOWED] = depth, allowed
            trail.counts[_IS_NEW] = is_new
            return PAUSED
        if is_new:
            is_new = 0
            place[depth] = 0
            operations += 4 * turns * pegs + colors
            if not _narrow(facts, trail, depth, allowed):
                depth -= 1
                continue
            if depth == pegs:
                return FOUND
        color = code[depth]
        if color:
            # Remove the peg.
            placed[color] -= 1
            for t in range(turns):
                blacks[t] -= guesses[t, depth] == color
                counted[t] -= placed[color] < standing[t, color]
            code[depth] = 0
        while place[depth] < colors:
            if domains[depth, depth] >> (values[depth, place[depth]] - 1) & 1:
                break
            place[depth] += 1
        if place[depth] == colors:
            depth -= 1
            continue
        color = values[depth, place[depth]]
        place[depth] += 1
        trail.counts[_NODES] += 1
        if trail.counts[_NODES] > max_nodes:
            return EXHAUSTED
        code[depth] = color
        for t in range(turns):
            blacks[t] += guesses[t, depth] == color
            counted[t] += placed[color] < standing[t, color]
        placed[color] += 1
        allowed = every
        operations += 4 * turns + 8
        if n_ways:
            operations += trail.fitting[depth] * colors
            trail.fitting[depth + 1], allowed = _fitting(
                ways, trail.order, trail.fitting[depth], placed, color
            )
        if allowed or depth + 1 == pegs:
            domains[depth + 1] = domains[depth]
            depth += 1
            is_new = 1
    return NONE


@njit
def list_ways(
    standing: NDArray[np.int64], both: NDArray[np.int64], pegs: int, most: int, room: int
) -> tuple[NDArray[np.uint8], bool]:
    """Return the possible numbers of pegs of each color given all S_t, and whether all are listed.

    Each row is a way. The function returns no row and False if there are more than `room` ways, or
    no turns, or listing the ways takes more than `_MOST_STEPS` steps.
    """
    turns, width = standing.shape
    ways = np.zeros((256, width), dtype=np.uint8)
    if turns == 0:
        return ways[:0], False
    # The most that the colors from i on can contribute.
    rest = np.zeros((turns, width + 1), dtype=np.int64)
    for t in range(turns):
        for i in range(width - 1, 0, -1):
            rest[t, i] = rest[t, i + 1] + standing[t, i]
    counts = np.full(width, -1)
    pegs_left = np.full(width + 1, pegs)
    shared = np.zeros((width + 1, turns), dtype=np.int64)
    n, i, steps = 0, 1, 0
    while i > 0:
        steps += 1
        if steps > _MOST_STEPS:
            return ways[:0], False
        counts[i] += 1
        if counts[i] > min(most, pegs_left[i]):
            counts[i] = -1
            i -= 1
            continue
        pegs_left[i + 1] = pegs_left[i] - counts[i]
        fits = pegs_left[i + 1] <= most * (width - 1 - i)
        for t in range(turns):
            shared[i + 1, t] = shared[i, t] + min(standing[t, i], counts[i])
            could = shared[i + 1, t] + min(pegs_left[i + 1], rest[t, i + 1])
            fits = fits and shared[i + 1, t] <= both[t] <= could
        if not fits:
            continue
        if i < width - 1:
            i += 1
            continue
        if n == room:
            return ways[:0], False
        if n == ways.shape[0]:
            longer = np.zeros((2 * n, width), dtype=np.uint8)
            longer[:n] = ways
            ways = longer
        for color in range(1, width):
            ways[n, color] = counts[color]
        n += 1
    return ways[:n], True


@njit
def _fitting(
    ways: NDArray[np.uint8],
    order: NDArray[np.int64],
    n: int,
    placed: NDArray[np.int64],
    color: int,
) -> tuple[int, int]:
    """Move the ways that have one more peg of a color to the front.

    Return their number, and the colors of which some of them has more pegs.
    """
    n_kept, allowed = 0, 0
    for i in range(n):
        way = order[i]
        if ways[way, color] >= placed[color]:
            order[i], order[n_kept] = order[n_kept], way
            n_kept += 1
            for other in range(1, placed.size):
                if ways[way, other] > placed[other]:
                    allowed |= 1 << (other - 1)
    return n_kept, allowed


@njit
def _narrow(facts: Facts, trail: Trail, depth: int, every: int) -> bool:
    """Narrow the colors of the open positions; return whether a code may be left."""
    guesses, black, both, standing = facts.guesses, facts.black, facts.both, facts.standing
    placed, blacks, counted = trail.placed, trail.blacks, trail.counted
    start, domain = depth, trail.domains[depth]
    turns, pegs = guesses.shape
    n_open = pegs - start
    allowed = every
    if not facts.repeats:
        for color in range(1, placed.size):
            if placed[color]:
                allowed &= ~(1 << (color - 1))
    for t in range(turns):
        missing = both[t] - counted[t]
        if missing < 0 or missing > n_open or blacks[t] > black[t]:
            return False
        if missing == 0 or missing == n_open:
            counting = 0
            for i in range(pegs):
                color = guesses[t, i]
                if placed[color] < standing[t, color]:
                    counting |= 1 << (color - 1)
            allowed &= ~counting if missing == 0 else counting
    for i in range(start, pegs):
        domain[i] &= allowed
        if domain[i] == 0:
            return False
    again = True
    while again:
        again = False
        for t in range(turns):
            needed, can = black[t] - blacks[t], 0
            for i in range(start, pegs):
                can += domain[i] >> (guesses[t, i] - 1) & 1
            if can < needed:
                return False
            if can == 0 or 0 < needed < can:
                continue
            for i in range(start, pegs):
                bit = 1 << (guesses[t, i] - 1)
                if domain[i] & bit:
                    narrowed = domain[i] & ~bit if needed == 0 else bit
                    if narrowed != domain[i]:
                        if narrowed == 0:
                            return False
                        domain[i] = narrowed
                        again = True
    return True
