"""The horizontal positions of items: near their neighbors, in order, without overlap.

The algorithm minimizes the weighted sum of squared horizontal distances layer by layer. The
weights follow Gansner et al. (1993, section 4) and keep long arcs straight. The minimum for
one layer between two fixed ones is exact: after subtraction of the gaps it is an isotonic
regression, which pooling adjacent violators solves (Best & Chakravarti, *Active set
algorithms for isotonic regression*, Mathematical Programming 47, 1990).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

__all__ = ["isotonic", "place_items"]


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
