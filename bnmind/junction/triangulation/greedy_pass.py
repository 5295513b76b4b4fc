"""A greedy pass, which repeatedly eliminates the vertex of least score and updates the scores.

A pass updates only the scores that an elimination changes. When v is eliminated, the missing edges
between v and the other neighbors of a neighbor u no longer count for u. When an edge {a, b} is
added, it no longer counts for the common neighbors of a and b, and the missing edges from b to the
neighbors of a count for a. A pass ends early if its cliques exceed a limit, and it counts its work.
`bnmind.junction.triangulation.greedy_kernel` is the compiled twin, with the same order, total and
work.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind.junction.triangulation.scored_graph import MANTISSA, Core, logarithm_table

__all__ = ["WORK_OF_A_PASS", "Climb", "Pass", "PlainSearch", "Score", "greedy_pass"]

WORK_OF_A_PASS = 500
"""The work of a pass besides its eliminations."""


class Score(IntEnum):
    """The score of a vertex; the smallest is best, and ties go to the first vertex.

    With `NOISY_…` scores the logarithm is shifted by the vertex's noise, and vertices whose
    elimination adds no edge always go first.
    """

    FILL = 0
    """Edges added, then clique size."""
    WEIGHT = 1
    """Clique size, then edges added."""
    WEIGHTED_FILL = 2
    """Sum over the edges added of the product of the sizes of their ends."""
    NOISY_FILL = 3
    NOISY_WEIGHT = 4
    NOISY_WEIGHTED_FILL = 5
    NOISY_MIXTURE = 6
    """Weighted fill times the square root of the clique size."""


class Pass(NamedTuple):
    """The result of a pass."""

    order: Sequence[int] | None
    """All vertices in the order of elimination; None if the pass ended early."""
    total: float
    """Sum of the sizes of the maximal cliques, in cells."""
    work: int
    """The counted work; units take about the same time."""


class Climb(NamedTuple):
    """The state of a hill climb on the noise."""

    order: Sequence[int]
    """The order of the current pass."""
    total: float
    """The total size of this order, in cells."""
    noise: NDArray[np.int64]
    """The noise of this pass."""
    passes: int = 0
    """The number of passes so far."""
    work: int = 0
    """The counted work of all passes."""


@dataclass(frozen=True)
class PlainSearch:
    """Greedy passes over one core, in Python."""

    core: Core

    def greedy(
        self,
        score: Score,
        noise: NDArray[np.int64],
        limit: float = math.inf,
        most_work: float = math.inf,
    ) -> Pass:
        """Return one pass, which ends early if it exceeds a limit of cells or of work."""
        return greedy_pass(self.core, score, noise.tolist(), limit, most_work)

    def climb(
        self, score: Score, start: Climb, steps: NDArray[np.int64], most_work: float
    ) -> Climb:
        """Return the result of a hill climb over steps of the noise.

        The climb takes a step if its order is not worse than the current one.

        Parameters
        ----------
        score
            One of the noisy scores.
        start
            The initial state; its counts of passes and work are ignored.
        steps
            ``(passes, n)`` changes of the noise, each proposed once.
        most_work
            The work after which no further pass starts.
        """
        order, total, noise = start[:3]
        passes = work = 0
        for step in steps:
            if work >= most_work:
                break
            proposal = noise + step
            result = greedy_pass(self.core, score, proposal.tolist(), total)
            passes += 1
            work += result.work
            if result.order is not None:
                order, total, noise = result.order, result.total, proposal
        return Climb(order, total, noise, passes, work)


def greedy_pass(
    core: Core,
    score: Score,
    noise: Sequence[int],
    limit: float = math.inf,
    most_work: float = math.inf,
) -> Pass:
    """Return the greedy order of a score, or end early if its total or its work exceeds a limit.

    Parameters
    ----------
    core
        The graph with its first scores.
    score
        The score.
    noise
        A shift of each vertex's score, on the scale of ``core.logarithms``; used by the
        noisy scores only.
    limit
        The most cells.
    most_work
        The most work.
    """
    neighbors = list(core.neighbors)
    fill, weight = list(core.fill), list(core.weight)
    weighted_fill = list(core.weighted_fill)
    weighted = score in (Score.WEIGHTED_FILL, Score.NOISY_WEIGHTED_FILL, Score.NOISY_MIXTURE)
    values, sizes, logarithms = core.values, core.sizes, core.logarithms
    graph = _Graph(neighbors, fill, weight, weighted_fill, values, logarithms)
    key = _key(core, score, noise, fill, weight, weighted_fill)
    n = core.n
    last = 1 << 63
    keys = [key(v) for v in range(n)]
    covered = set(core.covered)
    order = []
    total = 0.0
    work = WORK_OF_A_PASS
    for _ in range(n):
        v = keys.index(min(keys))
        keys[v] = last
        order.append(v)
        gone = 1 << v
        around = mask = neighbors[v]
        clique = around | gone
        members = []
        while mask:
            low = mask & -mask
            members.append(low.bit_length() - 1)
            mask ^= low
        added = fill[v]
        work += n // 8 + len(members) * (len(members) + added)
        if work > most_work:
            return Pass(None, total, work)
        if clique not in covered:
            size = sizes[v]
            for u in members:
                size *= sizes[u]
            total += size
            if total > limit:
                return Pass(None, total, work)
        if not added and len(order) + len(members) == n:
            # The rest is a clique that lies in this one.
            order += members
            break
        covered.add(around)
        value, logarithm = values[v], logarithms[v]
        for u in members:
            neighbors[u] ^= gone
            weight[u] -= logarithm
            away = neighbors[u] & ~around
            if away:
                fill[u] -= away.bit_count()
                if weighted:
                    weighted_fill[u] -= value * _sum(values, away)
        touched = around
        if added:
            touched |= _connect(graph, members, around, weighted=weighted)
        while touched:
            low = touched & -touched
            touched ^= low
            u = low.bit_length() - 1
            keys[u] = key(u)
    return Pass(order, total, work)


class _Graph(NamedTuple):
    """A graph during a pass, see `Core`; the pass changes its lists, which are by vertex."""

    neighbors: list[int]
    """The neighbors as bit masks."""
    fill: list[int]
    """The number of edges that the elimination of the vertex would add."""
    weight: list[int]
    """The logarithm of the size of its elimination clique."""
    weighted_fill: list[int]
    """The sum over these edges of the product of the values of their ends."""
    values: Sequence[int]
    """The numbers of states, bounded so that weighted fill fits 62 bits."""
    logarithms: Sequence[int]
    """The logarithms of the numbers of states."""


def _connect(graph: _Graph, members: Sequence[int], around: int, *, weighted: bool) -> int:
    """Connect the neighbors of an eliminated vertex; return the vertices with changed scores.

    Parameters
    ----------
    graph
        The graph; the function changes its edges and scores.
    members, around
        The neighbors, as numbers and as a bit mask.
    weighted
        Whether to update the weighted fill.

    Returns
    -------
    int
        Other vertices whose scores have changed, as a bit mask.
    """
    neighbors, fill, weight, weighted_fill, values, logarithms = graph
    touched = 0
    for a in members:
        missing = around & ~neighbors[a] & -(2 << a)
        while missing:
            low = missing & -missing
            missing ^= low
            b = low.bit_length() - 1
            of_a, of_b = neighbors[a], neighbors[b]
            common = of_a & of_b
            touched |= common
            product = values[a] * values[b]
            while common:
                both = common & -common
                common ^= both
                x = both.bit_length() - 1
                fill[x] -= 1
                weighted_fill[x] -= product
            fill[a] += (of_a & ~of_b).bit_count()
            fill[b] += (of_b & ~of_a).bit_count()
            if weighted:
                weighted_fill[a] += values[b] * _sum(values, of_a & ~of_b)
                weighted_fill[b] += values[a] * _sum(values, of_b & ~of_a)
            weight[a] += logarithms[b]
            weight[b] += logarithms[a]
            neighbors[a] = of_a | low
            neighbors[b] = of_b | 1 << a
    return touched


def _sum(values: Sequence[int], mask: int) -> int:
    total = 0
    while mask:
        low = mask & -mask
        total += values[low.bit_length() - 1]
        mask ^= low
    return total


def _key(
    core: Core,
    score: Score,
    noise: Sequence[int],
    fill: Sequence[int],
    weight: Sequence[int],
    weighted_fill: Sequence[int],
) -> Callable[[int], int]:
    """Return the key of a vertex, which must fit 62 bits."""
    shift = core.fraction
    table = logarithm_table(shift)
    if score == Score.FILL:
        width = 61 - core.fill_bits
        return lambda v: (fill[v] << width) + weight[v]
    if score == Score.WEIGHT:
        width = core.fill_bits
        return lambda v: (weight[v] << width) + fill[v]
    if score == Score.WEIGHTED_FILL:
        return lambda v: weighted_fill[v]

    least = -(1 << 62)
    by_weight, mixed = score == Score.NOISY_WEIGHT, score == Score.NOISY_MIXTURE
    scores = fill if score == Score.NOISY_FILL else weighted_fill

    def noisy(v: int) -> int:
        if not fill[v]:
            return least
        if by_weight:
            return weight[v] + noise[v]
        x = scores[v]
        cut = max(x.bit_length() - MANTISSA, 0)
        logarithm = table[x >> cut] + (cut << shift)
        if mixed:
            logarithm += weight[v] >> 1
        return logarithm + noise[v]

    return noisy
