"""Every registered finder of elimination orders keeps the contract, and wrong ones break it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from bnmind.errors import ContractError
from bnmind.junction import (
    ORDER_FINDERS,
    EliminationOrder,
    GivenOrder,
    InteractionGraph,
    MinFill,
    OrderFinder,
)
from bnmind.testing import check_order_finder


@pytest.mark.parametrize("name", ORDER_FINDERS)
def test_a_registered_finder_keeps_the_contract(name: str) -> None:
    check_order_finder(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ORDER_FINDERS)
def test_a_registered_finder_keeps_the_contract_on_many_graphs(name: str) -> None:
    check_order_finder(name, thorough=True)


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


@dataclass(frozen=True)
class Alternating:
    """Remembers outside of itself, in a list of its module."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order of the names, and the reverse one the next time."""
        _CALLS.append(graph.n)
        names = graph.names if len(_CALLS) % 2 else graph.names[::-1]
        return GivenOrder(names)(graph)


_CALLS: list[int] = []


@dataclass(frozen=True)
class SixtyFourBits:
    """Overflows where there are many cells."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order whose size is cut to 63 bits."""
        found = MinFill()(graph)
        return replace(found, total_size=found.total_size % 2**63)


@dataclass(frozen=True)
class OnlyLetters:
    """Fails for names that it did not expect."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order, once all names are read as a letter and a number."""
        return replace(MinFill()(graph), method=str([int(name[1:]) for name in graph.names]))


@dataclass(frozen=True)
class OneWord:
    """Keeps neighbors as the bits of a machine word."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order that is wrong beyond 64 vertices."""
        found = MinFill()(graph)
        return replace(found, total_size=found.total_size - (graph.n > 64))


@dataclass(frozen=True)
class NoLoops:
    """Is wrong where a variable has one state."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order that counts variables of one state for nothing."""
        found = MinFill()(graph)
        return replace(found, largest=found.largest + (1 in graph.sizes))


@pytest.mark.parametrize(
    ("wrong", "promise"),
    [
        (Incomplete(), "it orders all variables"),
        (Optimist(), "an order that it calls proven is the smallest"),
        (Wrong(), "the total size that it reports"),
        (Moody(), "it cannot be changed"),
        (Alternating(), "the same order each time"),
        (SixtyFourBits(), "the total size that it reports"),
        (OnlyLetters(), "it orders every graph"),
        (OneWord(), "the total size that it reports"),
        (NoLoops(), "the largest clique that it reports"),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_the_contract_rejects_a_wrong_finder(wrong: OrderFinder, promise: str) -> None:
    with pytest.raises(ContractError, match=promise):
        check_order_finder(wrong)
