"""Layered layout of an acyclic graph whose nodes are boxes: the positions of boxes and arcs.

The steps are those of Sugiyama, Tagawa & Toda, *Methods for visual understanding of hierarchical
system structures*, IEEE Transactions on Systems, Man and Cybernetics 11 (1981): assign layers, add
an item in each layer that a long arc passes, reduce crossings, and assign coordinates. Connected
components are laid out separately and then placed side by side. An arc passes straight down through
each layer, in room reserved for it, and bends only between layers, so no arc crosses a box.

No Python library does this as well. fast-sugiyama 0.5 and igraph ignore the sizes of boxes;
Graphviz needs a program of its own. grandalf 0.8 takes sizes: on twelve networks of bnlearn's
repository, with boxes of equal and of different widths, its drawings have 1426 crossings, 436 arcs
through boxes and 2.3 times the width; these have 666 crossings and no arc through a box.

*Layers* have the smallest total length of the arcs (Gansner, Koutsofios, North & Vo, *A technique
for drawing directed graphs*, IEEE Transactions on Software Engineering 19, 1993, section 2). They
solve a linear program: each arc goes down by at least one layer.

*Order in a layer*: sweeps alternate downward and upward, and sort each layer by the mean position
of each item's neighbors in the previous layer. After each sweep, adjacent items are exchanged where
that saves crossings. Crossings are counted with a Fenwick tree (Barth, Jünger & Mutzel, *Simple and
efficient bilayer cross counting*, 2002).

*Horizontal positions* minimize the weighted sum of squared horizontal distances layer by layer. The
weights follow Gansner et al. (section 4) and keep long arcs straight. The minimum for one layer
between two fixed ones is exact: after subtraction of the gaps it is an isotonic regression, which
pooling adjacent violators solves (Best & Chakravarti, *Active set algorithms for isotonic
regression*, Mathematical Programming 47, 1990). The one of scipy gives the same numbers; it is
slower for so few, and takes longer to import than a picture to draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import accumulate, pairwise
from typing import TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError

Route: TypeAlias = tuple[tuple[float, float, float], ...]
"""The vertical stretches (x, y from, y to) of an arc, from its tail down to its head."""


WORTHWHILE = 0.7
"""Layers are split if that leaves at most this share of the area."""
MOST_PIECES = 3


@dataclass(frozen=True, kw_only=True)
class Spacing(Value):
    """Distances in a layout, in the unit of the box sizes, and limits of the work."""

    between_boxes: float = 16.0
    """Space between neighboring boxes of a layer."""
    between_arcs: float = 9.0
    """Space between neighboring arcs that pass a layer."""
    between_layers: float = 40.0
    """The least space between two layers."""
    steepness: float = 0.07
    """Space between two layers for each unit that an arc moves sideways between them."""
    most_between_layers: float = 120.0
    """The most space between two layers."""
    between_parts: float = 36.0
    """Space between parts that no arc connects."""
    aspect: float = 1.6
    """The largest ratio of width to height, if possible."""
    narrow: float = 1000.0
    """The smallest width of a layer that results from splitting."""
    visits: int = 60_000
    """The largest number of item visits to order the layers of a component."""
    placements: int = 100_000
    """The largest number of item placements to assign coordinates in a component."""


@dataclass(frozen=True, kw_only=True)
class Layout(Value):
    """The positions of boxes and arcs; the upper left corner of the layout is (0, 0)."""

    corners: tuple[tuple[float, float], ...]
    """The upper left corner of each box."""
    routes: tuple[Route, ...]
    """The route of each arc."""
    layers: tuple[int, ...]
    """The layer of each box in its component, from 0; arcs lead to higher layers."""
    width: float
    """The width of the layout, in the unit of the boxes."""
    height: float
    """Its height."""


@checked
def lay_out(
    sizes: Sequence[tuple[float, float]],
    arcs: Sequence[tuple[int, int]],
    spacing: Spacing | None = None,
) -> Layout:
    """Return a layered layout of a graph without cycles.

    Parameters
    ----------
    sizes
        Width and height of each node's box.
    arcs
        Distinct pairs (tail, head).
    spacing
        Distances and limits of the work.

    Raises
    ------
    InvalidArgumentError
        If there is no box, a box has no size, or the arcs are not between boxes or form a cycle.

    Examples
    --------
    >>> layout = lay_out([(80, 40), (80, 40)], [(0, 1)])
    >>> layout.corners
    ((0.0, 0.0), (0.0, 80.0))
    >>> layout.routes
    (((40.0, 40.0, 40.0), (40.0, 80.0, 80.0)),)
    """
    spacing = spacing or Spacing()
    problems = []
    if not len(sizes):
        problems.append("expected at least one box, got none")
    if not all(math.isfinite(length) and length > 0 for size in sizes for length in size):
        problems.append("expected boxes of a positive width and height")
    if not all(0 <= tail < len(sizes) and 0 <= head < len(sizes) for tail, head in arcs):
        problems.append(f"expected arcs between the boxes 0 to {len(sizes) - 1}")
    try:
        parents: dict[int, list[int]] = {}
        for tail, head in arcs:
            parents.setdefault(head, []).append(tail)
        TopologicalSorter(parents).prepare()
    except CycleError as fault:
        problems.append(f"expected no cycle of arcs, got one over {sorted(set(fault.args[1]))}")
    if problems:
        raise InvalidArgumentError("; ".join(problems))
    parts = []
    for nodes in _connected(len(sizes), arcs):
        local = {node: i for i, node in enumerate(nodes)}
        chosen = [a for a, (tail, _) in enumerate(arcs) if tail in local]
        inner = [(local[arcs[a][0]], local[arcs[a][1]]) for a in chosen]
        parts.append((nodes, chosen, _Part([sizes[v] for v in nodes], inner, spacing).layout()))
    parts.sort(key=lambda part: (-len(part[0]), part[0][0]))
    corners: list[tuple[float, float]] = [(0.0, 0.0)] * len(sizes)
    routes: list[Route] = [()] * len(arcs)
    layers = [0] * len(sizes)
    places = _shelves([(part.width, part.height) for _, _, part in parts], spacing)
    for (nodes, chosen, part), (left, top) in zip(parts, places, strict=True):
        for node, (x, y), layer in zip(nodes, part.corners, part.layers, strict=True):
            corners[node] = (x + left, y + top)
            layers[node] = layer
        for arc, route in zip(chosen, part.routes, strict=True):
            routes[arc] = tuple((x + left, y0 + top, y1 + top) for x, y0, y1 in route)
    width = max(left + part.width for (left, _), (*_, part) in zip(places, parts, strict=True))
    height = max(top + part.height for (_, top), (*_, part) in zip(places, parts, strict=True))
    return Layout(
        corners=tuple(corners),
        routes=tuple(routes),
        layers=tuple(layers),
        width=width,
        height=height,
    )


def _connected(n_nodes: int, arcs: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return the nodes of each connected component, ascending."""
    near: list[list[int]] = [[] for _ in range(n_nodes)]
    for tail, head in arcs:
        near[tail].append(head)
        near[head].append(tail)
    parts: list[list[int]] = []
    seen = [False] * n_nodes
    for start in range(n_nodes):
        if seen[start]:
            continue
        seen[start] = True
        part = [start]
        for node in part:
            for other in near[node]:
                if not seen[other]:
                    seen[other] = True
                    part.append(other)
        parts.append(sorted(part))
    return parts


def _shelves(sizes: Sequence[tuple[float, float]], spacing: Spacing) -> list[tuple[float, float]]:
    """Return the upper left corner of each component; they are placed in rows, in their order."""
    gap = spacing.between_parts
    area = sum((width + gap) * (height + gap) for width, height in sizes)
    most = max(*(width for width, _ in sizes), (area * spacing.aspect) ** 0.5)
    places = []
    left = top = row = 0.0
    for width, height in sizes:
        if left and left + width > most:
            left, top, row = 0.0, top + row + gap, 0.0
        places.append((left, top))
        left, row = left + width + gap, max(row, height)
    return places


class _Part:
    """The layout of a connected component; items are its boxes, then the bends of long arcs."""

    def __init__(
        self,
        sizes: Sequence[tuple[float, float]],
        arcs: Sequence[tuple[int, int]],
        spacing: Spacing,
    ) -> None:
        self.sizes, self.arcs, self.spacing = sizes, arcs, spacing
        self.layers = assign_layers(len(sizes), arcs)
        self._order(None)
        split = _split_layers(self)
        if split != self.layers:
            place = {item: at for row in self.ordered for at, item in enumerate(row)}
            middle = [
                place[box] - len(self.ordered[layer]) / 2 for box, layer in enumerate(self.layers)
            ]
            self.layers = split
            self._order(middle)
        self.x = self._place()

    def _order(self, middle: Sequence[float] | None) -> None:
        """Make the items and order them, optionally from earlier positions of the boxes."""
        number = list(self.layers)
        around = list(middle or ())
        self.paths: list[list[int]] = []
        for tail, head in self.arcs:
            path = [tail]
            length = self.layers[head] - self.layers[tail]
            for step in range(1, length):
                path.append(len(number))
                number.append(self.layers[tail] + step)
                if middle:
                    around.append(middle[tail] + (middle[head] - middle[tail]) * step / length)
            self.paths.append([*path, head])
        down: list[list[int]] = [[] for _ in number]
        for path in self.paths:
            for upper, lower in pairwise(path):
                down[upper].append(lower)
        items = self._depth_first(down)
        if middle:
            items.sort(key=around.__getitem__)
        start: list[list[int]] = [[] for _ in range(max(number) + 1)]
        for item in items:
            start[number[item]].append(item)
        sweeps = max(4, min(24, self.spacing.visits // len(number)))
        self.ordered = reduce_crossings(start, down, sweeps=sweeps)

    def _depth_first(self, down: Sequence[Sequence[int]]) -> list[int]:
        """Return all items in depth-first order, so that linked items are close together."""
        up: list[list[int]] = [[] for _ in down]
        for item, others in enumerate(down):
            for other in others:
                up[other].append(item)
        order, stack, seen = [], [0], {0}
        while stack:
            item = stack.pop()
            order.append(item)
            for other in reversed([*up[item], *down[item]]):
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        return order

    def _place(self) -> list[float]:
        n_boxes, spacing = len(self.sizes), self.spacing
        n_items = sum(len(layer) for layer in self.ordered)
        links: list[dict[int, float]] = [{} for _ in range(n_items)]
        for path in self.paths:
            for upper, lower in pairwise(path):
                bends = (upper >= n_boxes) + (lower >= n_boxes)
                links[upper][lower] = links[lower][upper] = (1.0, 2.0, 8.0)[bends]
        widths = [width for width, _ in self.sizes] + [0.0] * (n_items - n_boxes)
        gaps = [spacing.between_boxes / 2] * n_boxes
        gaps += [spacing.between_arcs / 2] * (n_items - n_boxes)
        sweeps = max(8, min(60, spacing.placements // n_items))
        return place_items(self.ordered, widths, links, gaps=gaps, sweeps=sweeps)

    def layout(self) -> Layout:
        """Return the layout."""
        n_boxes = len(self.sizes)
        heights = [
            max((self.sizes[i][1] for i in layer if i < n_boxes), default=0.0)
            for layer in self.ordered
        ]
        ends = self._ends()
        aside = [0.0] * len(heights)
        for path, (first, last) in zip(self.paths, ends, strict=True):
            xs = [first, *(self.x[item] for item in path[1:-1]), last]
            for k, (x, y) in enumerate(pairwise(xs), self.layers[path[0]]):
                aside[k] = max(aside[k], abs(x - y))
        tops = [0.0]
        for height, sideways in zip(heights, aside, strict=True):
            room = _between_layers(self.spacing, sideways)
            tops.append(tops[-1] + height + room)
        corners = []
        for item, (width, height) in enumerate(self.sizes):
            k = self.layers[item]
            corners.append((self.x[item] - width / 2, tops[k] + (heights[k] - height) / 2))
        routes = []
        for path, (first, last) in zip(self.paths, ends, strict=True):
            tail, head = path[0], path[-1]
            k = self.layers[tail]
            under = corners[tail][1] + self.sizes[tail][1]
            route = [(first, under, tops[k] + heights[k])]
            for item in path[1:-1]:
                k += 1
                route.append((self.x[item], tops[k], tops[k] + heights[k]))
            route.append((last, tops[k + 1], corners[head][1]))
            routes.append(tuple(route))
        right = max(x + width for (x, _), (width, _) in zip(corners, self.sizes, strict=True))
        right = max([right, *(x for route in routes for x, _, _ in route)])
        bottom = tops[-2] + heights[-1]
        return Layout(
            corners=tuple(corners),
            routes=tuple(routes),
            layers=tuple(self.layers),
            width=right,
            height=bottom,
        )

    def _ends(self) -> list[tuple[float, float]]:
        """Return the x of the two ends of each arc; arcs at a box are side by side, uncrossed."""
        leaving: list[list[tuple[float, int]]] = [[] for _ in self.sizes]
        meeting: list[list[tuple[float, int]]] = [[] for _ in self.sizes]
        for arc, path in enumerate(self.paths):
            leaving[path[0]].append((self.x[path[1]], arc))
            meeting[path[-1]].append((self.x[path[-2]], arc))
        return list(zip(self._spread(leaving), self._spread(meeting), strict=True))

    def _spread(self, arcs: Sequence[list[tuple[float, int]]]) -> list[float]:
        """Return the x of one end of each arc, given (x of the next item, arc) for each box."""
        xs = [0.0] * len(self.arcs)
        for box, ends in enumerate(arcs):
            room = 0.7 * self.sizes[box][0]
            step = min(14.0, room / max(1, len(ends) - 1))
            for rank, (_, arc) in enumerate(sorted(ends)):
                xs[arc] = self.x[box] + step * (rank - (len(ends) - 1) / 2)
        return xs


def _between_layers(spacing: Spacing, sideways: float) -> float:
    """Return the distance of two layers, given the largest sideways move of an arc between them."""
    room = spacing.between_layers + spacing.steepness * sideways
    return min(room, spacing.most_between_layers)


def _split_layers(part: _Part) -> list[int]:
    """Return the layers; wide layers are split if that saves much area.

    The area is an estimate. It counts more if the component is much higher than wide, or wider
    than ``spacing.aspect``. Adjacent boxes go to different new layers, so that arcs from the upper
    boxes pass between the lower ones. In each group of adjacent boxes, boxes without children go up
    and boxes without parents go down.
    """
    spacing, sizes = part.spacing, part.sizes
    rows = [[item for item in row if item < len(sizes)] for row in part.ordered]
    passing = [len(row) - len(boxes) for row, boxes in zip(part.ordered, rows, strict=True)]
    ends = [0] * len(rows)
    for arc in part.arcs:
        for box in arc:
            ends[part.layers[box]] += 1
    heights = [max(sizes[box][1] for box in row) + spacing.between_layers * 2 for row in rows]

    def widths(k: int) -> list[float]:
        """Return the estimated width of a layer in one piece, in two pieces, and so on."""
        boxes = sum(sizes[box][0] + spacing.between_boxes for box in rows[k])
        return [
            boxes / n + spacing.between_arcs * (passing[k] + ends[k] * (n - 1) / (2 * n))
            for n in range(1, min(MOST_PIECES, len(rows[k])) + 1)
        ]

    options = [widths(k) for k in range(len(rows))]

    def split(limit: float) -> tuple[list[int], float]:
        """Return the number of pieces of each layer for a largest width, and the cost."""
        chosen = [
            next((n for n, width in enumerate(option) if width <= limit), option.index(min(option)))
            for option in options
        ]
        most = max(option[n] for option, n in zip(options, chosen, strict=True))
        height = sum((n + 1) * tall for n, tall in zip(chosen, heights, strict=True))
        skewed = max(1.0, (most / (spacing.aspect * height)) ** 2, 0.7 * height / most)
        return [n + 1 for n in chosen], most * height * skewed

    whole = max(option[0] for option in options)
    limits = [whole * 0.97**step for step in range(100)]
    tried = [split(limit) for limit in limits if limit >= min(whole, spacing.narrow)]
    pieces, cost = min(tried, key=lambda each: each[1])
    if cost > WORTHWHILE * tried[0][1]:
        return part.layers
    has_parents = {head for _, head in part.arcs}
    has_children = {tail for tail, _ in part.arcs}
    layers = list(part.layers)
    first = 0
    for number, row in zip(pieces, rows, strict=True):
        for start in range(0, len(row), number):
            group = row[start : start + number]
            turn = (start // number) % 2
            up_first = sorted(
                group,
                key=lambda box: (
                    (box in has_children) + (box not in has_parents),
                    group.index(box) * (-1) ** turn,
                ),
            )
            for piece, box in enumerate(up_first):
                layers[box] = first + piece
        first += number
    return layers


def assign_layers(n_nodes: int, arcs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the layer of each node, from 0, with the smallest total length of the arcs.

    Parameters
    ----------
    n_nodes
        The number of nodes; they are ``0, …, n_nodes − 1``.
    arcs
        Pairs (tail, head) of a connected graph without cycles.

    Notes
    -----
    Arcs lead to higher layers. A node that fits into several layers goes to the one with the
    fewest nodes.

    Examples
    --------
    >>> assign_layers(4, [(0, 1), (1, 2), (3, 2)])
    [0, 1, 2, 1]
    """
    if not arcs:
        return [0] * n_nodes
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import coo_array

    tails, heads = np.array(arcs).T
    surplus = np.bincount(heads, minlength=n_nodes) - np.bincount(tails, minlength=n_nodes)
    rows, ones = np.arange(len(arcs)), np.ones(len(arcs))
    falls = coo_array(
        (np.concatenate([ones, -ones]), (np.tile(rows, 2), np.concatenate([heads, tails]))),
        shape=(len(arcs), n_nodes),
    )
    # The matrix is totally unimodular, so a vertex of the polytope has whole numbers.
    found = np.asarray(milp(surplus, constraints=LinearConstraint(falls, lb=1)).x)
    layers: list[int] = np.rint(found - found.min()).astype(int).tolist()
    _balance(layers, arcs, surplus.tolist())
    return layers


def _balance(layers: list[int], arcs: Sequence[tuple[int, int]], surplus: Sequence[int]) -> None:
    """Move nodes with as many parents as children to the emptiest layer between them."""
    parents: list[list[int]] = [[] for _ in layers]
    children: list[list[int]] = [[] for _ in layers]
    for tail, head in arcs:
        parents[head].append(tail)
        children[tail].append(head)
    crowd = [0] * (max(layers) + 1)
    for layer in layers:
        crowd[layer] += 1
    for node, layer in enumerate(layers):
        if surplus[node] == 0 and parents[node]:
            first = max(layers[p] for p in parents[node]) + 1
            last = min(layers[c] for c in children[node]) - 1
            best = min(range(first, last + 1), key=lambda k: (crowd[k] - (k == layer), k != layer))
            crowd[layer] -= 1
            crowd[best] += 1
            layers[node] = best


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


def isotonic(wanted: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the non-decreasing numbers with the smallest weighted squared distance to ``wanted``.

    >>> isotonic([3.0, 1.0, 4.0], [1.0, 1.0, 1.0])
    [2.0, 2.0, 4.0]
    """
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(wanted, weights, strict=True):
        mean, total, count = value, weight, 1
        while blocks and blocks[-1][0] > mean:
            before, mass, number = blocks.pop()
            mean = (before * mass + mean * total) / (mass + total)
            total, count = total + mass, count + number
        blocks.append((mean, total, count))
    return [mean for mean, _, count in blocks for _ in range(count)]


def place_items(
    layers: Sequence[Sequence[int]],
    widths: Sequence[float],
    links: Sequence[Mapping[int, float]],
    *,
    gaps: Sequence[float],
    sweeps: int,
) -> list[float]:
    """Return the horizontal center of each item; the leftmost edge is at 0.

    Parameters
    ----------
    layers
        The items of each layer, from left to right.
    widths
        The width of each item.
    links
        The weight of each neighbor of each item in the adjacent layers.
    gaps
        The free space on each side of an item. The distance between two items is at least the sum
        of their gaps.
    sweeps
        The number of passes over all layers.
    """
    reach = [width / 2 + gap for width, gap in zip(widths, gaps, strict=True)]
    offsets = [
        list(accumulate((reach[a] + reach[b] for a, b in pairwise(layer)), initial=0.0))
        for layer in layers
    ]
    x = [0.0] * len(widths)
    for layer, offset in zip(layers, offsets, strict=True):
        for item, at in zip(layer, offset, strict=True):
            x[item] = at - offset[-1] / 2
    number = {item: k for k, layer in enumerate(layers) for item in layer}
    above = [
        [(other, weight) for other, weight in near.items() if number[other] < number[item]]
        for item, near in enumerate(links)
    ]
    below = [
        [(other, weight) for other, weight in near.items() if number[other] > number[item]]
        for item, near in enumerate(links)
    ]
    both = [[*a, *b] for a, b in zip(above, below, strict=True)]
    for sweep in range(sweeps):
        downward = sweep % 2 == 0
        # The first sweeps use only the layer placed before, so that items can move far.
        near = both if sweep >= 4 else (above if downward else below)
        order = range(len(layers)) if downward else range(len(layers) - 1, -1, -1)
        for k in order:
            layer, offset = layers[k], offsets[k]
            targets, weights = [], []
            for item, at in zip(layer, offset, strict=True):
                total = mean = 0.0
                for other, weight in near[item]:
                    total += weight
                    mean += weight * x[other]
                targets.append((mean / total if total else x[item]) - at)
                weights.append(total or 0.01)
            for item, at, value in zip(layer, offset, isotonic(targets, weights), strict=True):
                x[item] = at + value
    leftmost = min(at - width / 2 for at, width in zip(x, widths, strict=True))
    return [at - leftmost for at in x]
