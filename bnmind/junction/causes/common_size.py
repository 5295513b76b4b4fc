"""The size of a plan for any evidence on the effects of independent causes, roughly."""

from __future__ import annotations

import math

from bnmind.junction.causes.independent_causes import IndependentCauses

__all__ = ["common_cells"]

_MOST_BITS = 900
"""The logarithm of the largest number that is returned."""


def common_cells(causes: IndependentCauses) -> int:
    """Return the cells of the largest table if all effects had to be swept over, roughly.

    The effects are closed one after another, those with the fewest neighbors first.
    """
    effects = causes.effects
    hidden = [[v.name for v in cpd.parents if v.name in causes.number] for cpd in effects]
    effects_of: dict[str, int] = {}
    for e, names in enumerate(hidden):
        for name in names:
            effects_of[name] = effects_of.get(name, 0) | 1 << e
    bits = [math.log2(cpd.variable.n_states) for cpd in effects]
    neighbors = []
    for e, names in enumerate(hidden):
        touched = 1 << e
        for name in names:
            touched |= effects_of[name]
        neighbors.append(touched)
    order = sorted(range(len(effects)), key=lambda e: neighbors[e].bit_count())
    opened = 0
    now = most = 0.0
    for e in order:
        new = neighbors[e] & ~opened
        opened |= new
        while new:
            low = new & -new
            now += bits[low.bit_length() - 1]
            new ^= low
        most = max(most, now)
        if most > _MOST_BITS:
            break
        now -= bits[e]
    return int(2 ** min(most, _MOST_BITS))
