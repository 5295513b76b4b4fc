"""The contract that every finder of elimination orders keeps, and wrong finders that break it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from bnmind.junction import (
    ORDER_FINDERS,
    EliminationOrder,
    GivenOrder,
    InteractionGraph,
    MinFill,
    OrderFinder,
    RandomizedGreedy,
)
from tests.graphs import cost_to_go, graph_of, naive_total
from tests.registries import check_value, examples_of, registry_faults, rejected

RING = [(0, 1), (1, 2), (2, 3), (3, 0)]
GRAPHS = [
    graph_of([], []),
    graph_of([3], []),
    graph_of([2, 3, 4], []),
    graph_of([2, 9, 2, 9], RING),
    graph_of([2, 1, 3, 1], RING),
    graph_of([2, 3, 4, 5, 2], [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]),
    graph_of([2] * 6, [(a, b) for a in range(3) for b in range(3, 6)]),
]
for seed in range(12):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 8))
    pairs = [(a, b) for b in range(size) for a in range(b) if rng.random() < 0.5]
    GRAPHS.append(graph_of(rng.integers(2, 6, size).tolist(), pairs))


def check_finder(finder: OrderFinder) -> None:
    """Raise AssertionError unless a finder of orders keeps the contract."""
    check_value(finder)
    for graph in GRAPHS:
        found = finder(graph)
        assert isinstance(found, EliminationOrder)
        assert sorted(found.variables) == sorted(graph.names), "no order of all variables"
        place = {name: number for number, name in enumerate(graph.names)}
        order = [place[name] for name in found.variables]
        assert found.total_size == naive_total(graph, order), "another total size"
        assert found.largest == GivenOrder(found.variables)(graph).largest
        assert found.method
        assert finder(graph) == found, "another order the second time"
        if found.proven and min(graph.sizes, default=2) > 1:
            assert found.total_size == cost_to_go(graph)[0], "proven, and not the smallest"


@pytest.mark.parametrize("name", ORDER_FINDERS)
def test_a_registered_finder_keeps_the_contract(name: str) -> None:
    for finder in examples_of("order finder", ORDER_FINDERS, name):
        check_finder(finder)


def test_the_registry_keeps_the_contract() -> None:
    assert registry_faults(ORDER_FINDERS) == []


@dataclass(frozen=True)
class Incomplete:
    """Forgets the last variable."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order of too few variables."""
        found = MinFill()(graph)
        return replace(found, variables=found.variables[:-1])


@dataclass(frozen=True)
class Optimist:
    """Claims that every order is the smallest."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order of the graph's names, as if it were proven."""
        return replace(GivenOrder(graph.names)(graph), proven=True)


@dataclass(frozen=True)
class Wrong:
    """Reports another size."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order with one cell too few."""
        found = MinFill()(graph)
        return replace(found, total_size=max(found.total_size - 1, 0))


@dataclass(frozen=True)
class Moody:
    """Finds another order each time."""

    seeds: list[int] = field(default_factory=lambda: list(range(1000)))

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order in which a new random number decides ties."""
        order = np.random.default_rng(self.seeds.pop()).permutation(graph.n)
        return GivenOrder(tuple(graph.names[v] for v in order))(graph)


@pytest.mark.parametrize(
    "wrong", [Incomplete(), Optimist(), Wrong(), Moody()], ids=lambda wrong: type(wrong).__name__
)
def test_the_contract_rejects_a_wrong_finder(wrong: OrderFinder) -> None:
    assert not rejected(lambda: check_finder(RandomizedGreedy(restarts=1)))
    assert rejected(lambda: check_finder(wrong))
