"""The order in which a sweep takes causes, and its cost.

A sweep keeps a table over the partial results of all open effects: those of which some causes, but
not all, have acted. The search closes one effect after another, each time the one whose remaining
causes open the fewest others, and tries every first effect. It stops when it has cost as much as it
can save. A cause of a single effect acts before the effect is opened, and costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["KEPT_CELLS", "SweepOrder", "parts_of", "sweep_order"]

KEPT_CELLS = 2**25
"""The most cells of tables that are kept for the sweep back, without segments."""

_SEARCH_WORK = 16.0
"""The cost of looking at a cause in the search, in cells of a sweep."""

_HOPELESS_BITS = 60.0
"""The logarithm of the number of cells above which an order is given up."""


@dataclass(frozen=True)
class SweepOrder:
    """An order of causes of several effects each, and its cost."""

    causes: tuple[int, ...]
    cost: float
    """The multiplications of a sweep in one direction; infinite if it is hopeless."""
    cells: float
    """The cells of all tables of a sweep together."""
    largest: float
    """The cells of the largest table."""

    @property
    def kept_cells(self) -> float:
        """The cells of the tables that are kept at the same time, with some copies."""
        if self.cells <= KEPT_CELLS:
            return self.cells + 4 * self.largest
        return KEPT_CELLS + (2 * math.isqrt(len(self.causes) + 1) + 4) * self.largest


def parts_of(effects_of: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Return the effects in groups without common causes; ``effects_of`` each cause."""
    root: dict[int, int] = {}

    def find(e: int) -> int:
        while root.setdefault(e, e) != e:
            root[e] = root[root[e]]
            e = root[e]
        return e

    for effects in effects_of.values():
        for other in effects[1:]:
            root[find(other)] = find(effects[0])
    groups: dict[int, list[int]] = {}
    for e in sorted({e for effects in effects_of.values() for e in effects}):
        groups.setdefault(find(e), []).append(e)
    return list(groups.values())


def sweep_order(
    effects_of: Mapping[int, Sequence[int]], n_results: Mapping[int, int], n_states: Sequence[int]
) -> SweepOrder:
    """Return a good order of the causes of connected effects.

    Parameters
    ----------
    effects_of
        The effects of each cause.
    n_results
        The number of partial results of each effect.
    n_states
        The number of states of each cause.
    """
    search = _Search(effects_of, n_results, n_states)
    best: SweepOrder | None = None
    work = 0.0
    for start in sorted(search.causes_of, key=lambda e: (len(search.touched(e)), e)):
        found = search.order(start)
        work += search.work_of_an_order
        if best is None or found.cost < best.cost:
            best = found
        if work > best.cost:
            break
    return best or SweepOrder((), 0.0, 0.0, 1.0)


class _Search:
    """Orders of one connected part, each from a first effect."""

    def __init__(
        self,
        effects_of: Mapping[int, Sequence[int]],
        n_results: Mapping[int, int],
        n_states: Sequence[int],
    ) -> None:
        self.effects_of = {c: frozenset(effects) for c, effects in effects_of.items()}
        self.causes_of: dict[int, set[int]] = {}
        for c, effects in effects_of.items():
            for e in effects:
                self.causes_of.setdefault(e, set()).add(c)
        self.bits = {e: math.log2(n_results[e]) for e in self.causes_of}
        self.n_states = n_states
        arcs = sum(map(len, self.effects_of.values()))
        self.work_of_an_order = _SEARCH_WORK * arcs * len(self.causes_of)

    def touched(self, effect: int) -> set[int]:
        """Return the effects that have common causes with an effect."""
        return set().union(*(self.effects_of[c] for c in self.causes_of[effect]))

    def order(self, start: int) -> SweepOrder:
        """Return the order that closes the effect ``start`` first."""
        left = {e: set(causes) for e, causes in self.causes_of.items()}
        opened: set[int] = set()
        order: list[int] = []
        bits = cost = cells = largest = 0.0
        waiting = set(left)
        effect: int | None = start
        while effect is not None:
            for c in self._causes_in_order(left[effect], opened):
                new = self.effects_of[c] - opened
                opened |= new
                bits += sum([self.bits[e] for e in new])
                if bits > _HOPELESS_BITS:
                    return SweepOrder((), math.inf, math.inf, math.inf)
                size = 2.0**bits
                cost += self.n_states[c] * (1 + len(self.effects_of[c])) * size
                cells += size
                largest = max(largest, size)
                order.append(c)
                for e in self.effects_of[c]:
                    left[e].discard(c)
                    if not left[e]:
                        waiting.discard(e)
                        bits -= self.bits[e]
            effect = min(waiting, key=lambda e: self._price(left[e], opened, e), default=None)
        return SweepOrder(tuple(order), cost, cells, largest)

    def _price(self, causes: set[int], opened: set[int], effect: int) -> tuple[float, int, int]:
        new: set[int] = set()
        for c in causes:
            new |= self.effects_of[c]
        return (sum([self.bits[e] for e in new - opened]), len(causes), effect)

    def _causes_in_order(self, causes: set[int], opened: set[int]) -> list[int]:
        """Return the causes so that those that open fewer effects come first."""
        rest, order, now = set(causes), [], set(opened)
        while rest:
            c = min(rest, key=lambda c: (len(self.effects_of[c] - now), c))
            rest.discard(c)
            order.append(c)
            now |= self.effects_of[c]
        return order
