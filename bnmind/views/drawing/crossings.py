"""The order of the items in each layer, with few crossings: barycenter sweeps and exchanges.

Sugiyama, Tagawa & Toda, *Methods for visual understanding of hierarchical system
structures*, IEEE Transactions on Systems, Man and Cybernetics 11 (1981): sweeps alternate
downward and upward, and sort each layer by the mean position of each item's neighbors in the
previous layer. After each sweep, adjacent items are exchanged where that saves crossings.
Crossings are counted with a Fenwick tree (Barth, Jünger & Mutzel, *Simple and efficient
bilayer cross counting*, 2002).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

__all__ = ["count_crossings", "reduce_crossings"]

Links = Sequence[Sequence[int]]
"""The neighbors of each item in the next layer, or in the previous one."""

EXCHANGE_ROUNDS = 6
"""The largest number of rounds of exchanges after a sweep."""
PATIENCE = 6
"""The search ends after this number of sweeps without fewer crossings."""


def count_crossings(layers: Sequence[Sequence[int]], down: Links) -> int:
    """Return the number of pairs of links that cross.

    >>> count_crossings([[0, 1], [2, 3]], [[3], [2], [], []])
    1
    """
    return sum(_between(upper, lower, down) for upper, lower in pairwise(layers))


def _between(upper: Sequence[int], lower: Sequence[int], down: Links) -> int:
    place = {item: position for position, item in enumerate(lower)}
    size = len(lower)
    sums = [0] * (size + 1)
    seen = crossings = 0
    for item in upper:
        ends = [place[other] for other in down[item]]
        for end in ends:
            # Count the earlier links that end further right.
            below, at = 0, end + 1
            while at > 0:
                below += sums[at]
                at -= at & -at
            crossings += seen - below
        for end in ends:
            at = end + 1
            while at <= size:
                sums[at] += 1
                at += at & -at
        seen += len(ends)
    return crossings


def reduce_crossings(
    layers: Sequence[Sequence[int]], down: Links, *, sweeps: int = 24
) -> list[list[int]]:
    """Return the layers in an order with few crossings.

    Parameters
    ----------
    layers
        The items of each layer. Their order breaks ties.
    down
        The neighbors of each item in the next layer.
    sweeps
        The largest number of passes over all layers.
    """
    up: list[list[int]] = [[] for _ in down]
    for item, others in enumerate(down):
        for other in others:
            up[other].append(item)
    best = [list(layer) for layer in layers]
    fewest = count_crossings(best, down)
    current = [list(layer) for layer in layers]
    fruitless = 0
    for sweep in range(sweeps):
        if not fewest or fruitless >= PATIENCE:
            break
        downward = sweep % 2 == 0
        links = up if downward else down
        numbers = range(1, len(current)) if downward else range(len(current) - 2, -1, -1)
        for number in numbers:
            fixed = current[number - 1 if downward else number + 1]
            current[number] = _by_barycenter(current[number], fixed, links, late=sweep % 4 >= 2)
        _exchange(current, up, down)
        crossings = count_crossings(current, down)
        fruitless += 1
        if crossings < fewest:
            best, fewest, fruitless = [list(layer) for layer in current], crossings, 0
    return best


def _by_barycenter(
    layer: Sequence[int], fixed: Sequence[int], links: Links, *, late: bool
) -> list[int]:
    """Return the layer sorted by barycenters; items without neighbors keep their places."""
    place = {item: position for position, item in enumerate(fixed)}
    # Every other pair of sweeps reverses items with equal means.
    movable = [item for item in (reversed(layer) if late else layer) if links[item]]
    ordered = iter(
        sorted(movable, key=lambda item: sum(place[o] for o in links[item]) / len(links[item]))
    )
    return [next(ordered) if links[item] else item for item in layer]


def _exchange(layers: list[list[int]], up: Links, down: Links) -> None:
    """Exchange adjacent items of all layers in place while that saves crossings."""
    places = [{item: at for at, item in enumerate(layer)} for layer in layers]
    changed = set(range(len(layers)))
    for _ in range(EXCHANGE_ROUNDS):
        # An exchange affects only its own layer and the two adjacent ones.
        waiting = sorted({k + d for k in changed for d in (-1, 0, 1)} & set(range(len(layers))))
        changed = set()
        for k in waiting:
            if _exchange_in(layers[k], k, places, (up, down)):
                places[k] = {item: at for at, item in enumerate(layers[k])}
                changed.add(k)
        if not changed:
            return


def _exchange_in(
    layer: list[int], k: int, places: Sequence[Mapping[int, int]], links: tuple[Links, Links]
) -> bool:
    """Exchange adjacent items of a layer in place; return whether there was an exchange."""
    sides = [
        (places[other], near)
        for other, near in zip((k - 1, k + 1), links, strict=True)
        if 0 <= other < len(places)
    ]
    ends = [[sorted([place[o] for o in near[item]]) for place, near in sides] for item in layer]
    any_gain = False
    for at in range(len(layer) - 1):
        gain = 0
        for left, right in zip(ends[at], ends[at + 1], strict=True):
            # Most pairs do not overlap; an exchange of these saves nothing.
            if left and right and left[-1] > right[0]:
                gain += _inversions(left, right) - _inversions(right, left)
            elif left and right:
                gain -= _inversions(right, left)
        if gain > 0:
            layer[at], layer[at + 1] = layer[at + 1], layer[at]
            ends[at], ends[at + 1] = ends[at + 1], ends[at]
            any_gain = True
    return any_gain


def _inversions(left: Sequence[int], right: Sequence[int]) -> int:
    """Return the number of pairs of ends where the left item ends right of the right item."""
    count = at = 0
    for end in left:
        while at < len(right) and right[at] < end:
            at += 1
        count += at
    return count
