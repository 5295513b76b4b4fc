"""The promises of finders of elimination orders: all variables, and a size that is right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import permutations

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import one_line
from bnmind.errors import UnknownNameError
from bnmind.junction import ORDER_FINDERS, EliminationOrder, InteractionGraph, OrderFinder
from bnmind.testing.promises import Promises
from bnmind.testing.registered import Family, examples

__all__ = ["check_order_finder"]

_FAMILY = Family(
    "order finder", room="bnmind.junction", registry=ORDER_FINDERS, commands=("query",)
)


@checked
def check_order_finder(
    finder: OrderFinder | str,
    *,
    graphs: Sequence[InteractionGraph] | None = None,
    thorough: bool = False,
) -> None:
    """Check that a finder of elimination orders keeps the promises of finders.

    It is immutable. It orders all variables of any graph, also of an empty one and of one in
    several parts, and finds the same order each time. The total size that it reports is that of
    the cliques of the order, by eliminating one variable after the other. An order that it calls
    proven is the smallest of all orders.

    Parameters
    ----------
    finder
        The finder, or the name of a registered one.
    graphs
        Graphs to order; by default small ones. Orders are compared with all orders if a graph
        has at most six variables.
    thorough
        Whether to try more graphs.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no finder has the name.

    Examples
    --------
    >>> from bnmind.junction import MinFill
    >>> check_order_finder(MinFill())
    """
    if isinstance(finder, str):
        if finder.partition(":")[0] not in ORDER_FINDERS:
            raise UnknownNameError("order finder", finder, ORDER_FINDERS)
        for one in examples(_FAMILY, finder):
            check_order_finder(one, graphs=graphs, thorough=thorough)
        return
    promises = Promises("order finder", finder)
    promises.value()
    for graph in graphs or _graphs(60 if thorough else 12):
        where = one_line(f"sizes {list(graph.sizes)}, edges {_edges(graph)}", longest=200)
        with promises.no_error("it orders every graph", where), promises.pure(graph, example=where):
            found, again = finder(graph), finder(graph)
        promises.keep(isinstance(found, EliminationOrder), "it returns an `EliminationOrder`")
        promises.keep(
            sorted(found.variables) == sorted(graph.names), "it orders all variables", where
        )
        promises.keep(found == again, "it finds the same order each time", where)
        place = {name: number for number, name in enumerate(graph.names)}
        cliques = _cliques(graph, [place[name] for name in found.variables])
        promises.keep(
            found.total_size == sum(cliques),
            "the total size that it reports is that of the cliques",
            f"{where}: {found.total_size}, by elimination {sum(cliques)}",
        )
        promises.keep(
            found.largest == max(cliques, default=found.largest),
            "the largest clique that it reports is the largest",
            f"{where}: {found.largest}, by elimination {max(cliques, default=0)}",
        )
        promises.keep(found.method, "it says how it found the order", where)
        if found.proven and graph.n <= 6:
            smallest = _smallest(graph)
            promises.keep(
                found.total_size == smallest,
                "an order that it calls proven is the smallest",
                f"{where}: {found.total_size}, the smallest is {smallest}",
            )


def _graph(sizes: Iterable[int], edges: Iterable[tuple[int, int]]) -> InteractionGraph:
    named = {f"v{i}": size for i, size in enumerate(sizes)}
    return InteractionGraph.from_scopes(named, [(f"v{a}", f"v{b}") for a, b in edges])


@cache
def _graphs(n_random: int) -> tuple[InteractionGraph, ...]:
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    huge = InteractionGraph.from_scopes(
        dict.fromkeys(("10", "9", "a b", "\u00e4"), 10**7),
        [("\u00e4", "9"), ("9", "a b", "10")],
    )
    rng = np.random.default_rng(8)
    tree = [(int(rng.integers(b)), b) for b in range(1, 70)]
    graphs = [
        huge,
        _graph(rng.integers(2, 4, 70).tolist(), tree),
        _graph([], []),
        _graph([3], []),
        _graph([2, 3, 4], []),
        _graph([2, 9, 2, 9], ring),
        _graph([2, 1, 3, 1], ring),
        _graph([2, 3, 4, 5, 2], [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)]),
        _graph([2] * 6, [(a, b) for a in range(3) for b in range(3, 6)]),
    ]
    for seed in range(n_random):
        rng = np.random.default_rng(seed)
        size = int(rng.integers(4, 8))
        pairs = [(a, b) for b in range(size) for a in range(b) if rng.random() < 0.5]
        graphs.append(_graph(rng.integers(2, 6, size).tolist(), pairs))
    return tuple(graphs)


def _edges(graph: InteractionGraph) -> list[tuple[int, int]]:
    return [(a, b) for b in range(graph.n) for a in range(b) if graph.neighbors[a] >> b & 1]


def _cliques(graph: InteractionGraph, order: Sequence[int]) -> list[int]:
    """Return the sizes of the maximal cliques of an order, by the definition."""
    around: dict[int, set[int]] = {v: set() for v in range(graph.n)}
    for a, b in _edges(graph):
        around[a].add(b)
        around[b].add(a)
    cliques = []
    for v in order:
        near = around.pop(v)
        cliques.append(frozenset({v} | near))
        for one in near:
            around[one] = (around[one] | near) - {one, v}
    maximal = [clique for clique in cliques if not any(clique < other for other in cliques)]
    return [int(np.prod([graph.sizes[v] for v in clique], dtype=object)) for clique in maximal]


@cache
def _smallest(graph: InteractionGraph) -> int:
    """Return the smallest total size of all orders."""
    return min(sum(_cliques(graph, order)) for order in permutations(range(graph.n)))
