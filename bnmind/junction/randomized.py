"""Randomized greedy elimination orders: many passes whose scores drift towards good orders.

Each pass eliminates the variable with the least score times a multiplier of its own. The
multipliers walk at random: a pass with slightly different ones is taken over when its
order is not worse, which makes the search a random hill climb on greedy orders. A chain
that stands still gives way to one with the next score and no multipliers. A pass is given
up as soon as it is worse than the chain's present order.

The search ends when it has cost as much as the propagation it is for: work is counted, not
timed, so the same graph and seed get the same order on any machine. Small searches run in
Python, large ones in the compiled twin of the same pass.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidModelError
from bnmind.junction.core import Core, core_of
from bnmind.junction.graph import InteractionGraph
from bnmind.junction.greedy_kernel import CompiledPass
from bnmind.junction.greedy_pass import Pass, Score, greedy_pass
from bnmind.junction.orders import EliminationOrder, measured_order

__all__ = ["RandomizedGreedy"]

_BLOCK = 16
"""Steps drawn at once."""

_STEPS = (0.5, 1.0, 2.0, 4.0)
"""Spreads of one step of the logarithms of the multipliers, in bits: each is for one chain
with every score, then comes the next."""

_WORK_PER_CELL = 0.2
"""Work of the search that takes as long as the propagation of a cell, both ways."""

_CELLS_OF_A_VERTEX = 4_000
"""Cells whose propagation takes as long as what a message costs beside its cells."""

_LEAST_WORK = 30_000
"""What any search may cost: two milliseconds in Python."""

_MOST_WORK = 100_000_000
"""What no search costs: half a second, compiled."""

_WORK_OF_A_PASS = 1_500
"""What a pass costs beside its eliminations."""

_WORK_IN_PYTHON = 160_000
"""Up to this work nothing is compiled."""

_FEW_VERTICES = 150
_FEW_IN_CORE = 50
"""Unless there are more vertices than either, a search starts in Python."""


@dataclass(frozen=True)
class RandomizedGreedy:
    """The best of many greedy orders with random scores; the same seed finds the same order.

    Simplicial variables go first. The greedy orders of the rest without multipliers are
    tried, so it is never worse than `MinFill` and `WeightedMinFill`.
    """

    effort: float = 1.0
    """Work of the search, as a multiple of that of the propagation it is for."""
    restarts: int | None = None
    """Number of passes with multipliers, whatever they cost; None: as the effort says."""
    patience: int = 25
    """Passes without improvement after which a chain starts again."""
    seed: int = 0
    """Seed of the multipliers."""

    def __post_init__(self) -> None:
        problems = []
        if not 0 <= self.effort < math.inf:
            problems.append(f"expected a finite effort of at least 0, got {self.effort}")
        if self.restarts is not None and self.restarts < 0:
            problems.append(f"expected a number of restarts of at least 0, got {self.restarts}")
        if self.patience < 1:
            problems.append(f"expected a patience of at least 1, got {self.patience}")
        if problems:
            raise InvalidModelError(problems)

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the best order met, with its sizes."""
        first, kept, core = core_of(graph)
        order: Sequence[int] = ()
        passes = 0
        if core.n:
            large = graph.n > _FEW_VERTICES and core.n > _FEW_IN_CORE
            order, passes = self._search(core, large=large)
        whole = [*first, *(kept[v] for v in order)]
        return measured_order(graph, whole, method=f"randomized greedy ({passes} passes)")

    def _search(self, core: Core, *, large: bool) -> tuple[Sequence[int], int]:
        """Return the best order of a core, and the number of passes with multipliers."""
        run = CompiledPass(core) if large else partial(greedy_pass, core)
        zero = np.zeros(core.n, dtype=np.int64)
        plain = [
            (run(score, zero), noisy)
            for score, noisy in (
                (Score.FILL, Score.NOISY_FILL),
                (Score.WEIGHTED_FILL, Score.NOISY_WEIGHTED_FILL),
                (Score.WEIGHT, Score.NOISY_WEIGHT),
                (Score.NOISY_MIXTURE, Score.NOISY_MIXTURE),
            )
        ]
        work = sum(found.work for found, _ in plain)
        plain.sort(key=lambda pair: pair[0].total)
        best = plain[0][0]
        if not large and self._work_ahead(core, best) > _WORK_IN_PYTHON:
            run = CompiledPass(core)
        scale = 2**core.fraction
        steps = _steps(core.n, np.random.default_rng(self.seed))
        passes = chain = improved = 0
        standing = self.patience
        while self._goes_on(core, best, passes, work):
            if standing >= self.patience:
                if self.restarts is None and chain - improved > _idle_chains(core):
                    break
                found, score = plain[chain % len(plain)]
                current = found.total
                noise = zero
                spread = scale * _STEPS[chain // len(plain) % len(_STEPS)]
                chain += 1
                standing = 0
            proposal = noise + (spread * next(steps)).astype(np.int64)
            found = run(score, proposal, current)
            work += found.work + _WORK_OF_A_PASS
            passes += 1
            standing += 1
            if found.order is None:
                continue
            noise = proposal
            if found.total < current:
                standing = 0
            current = found.total
            if current < best.total:
                best = found
                improved = chain
        assert best.order is not None  # without a limit a pass always ends
        return best.order, passes

    def _goes_on(self, core: Core, best: Pass, passes: int, work: int) -> bool:
        if self.restarts is not None:
            return passes < self.restarts
        return work < _budget(self.effort, core, best)

    def _work_ahead(self, core: Core, best: Pass) -> float:
        """Return about how much work there will be."""
        if self.restarts is not None:
            return self.restarts * (best.work + _WORK_OF_A_PASS)
        return _budget(self.effort, core, best)


def _budget(effort: float, core: Core, best: Pass) -> float:
    """Return the work that a search may cost while this is the best order."""
    cells = best.total + _CELLS_OF_A_VERTEX * core.n
    return effort * min(max(_WORK_PER_CELL * cells, _LEAST_WORK), _MOST_WORK)


def _idle_chains(core: Core) -> int:
    """Return after how many chains in vain a search has seen enough."""
    return 4 + core.n // 4


def _steps(n: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Yield random steps of n multipliers, without end."""
    while True:
        # A few variables, or all: both small and wide moves are needed.
        moved = rng.random((_BLOCK, n)) < rng.random((_BLOCK, 1))
        yield from moved * rng.standard_normal((_BLOCK, n))
