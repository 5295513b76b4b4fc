"""Graphs for tests: Hypothesis strategies, Vomlel's networks, and slow obvious oracles."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, permutations
from math import prod

import numpy as np
from hypothesis import strategies as st

from bnmind.junction import InteractionGraph
from bnmind.junction.graphs import bits


def graph_of(sizes: Iterable[int], edges: Iterable[tuple[int, int]]) -> InteractionGraph:
    """Return a graph with variables v0, v1, …"""
    named = {f"v{i}": size for i, size in enumerate(sizes)}
    return InteractionGraph.from_scopes(named, [(f"v{a}", f"v{b}") for a, b in edges])


@st.composite
def graphs(
    draw: st.DrawFn, *, most: int = 8, least_size: int = 2, least: int = 0
) -> InteractionGraph:
    """Graphs of any shape, also empty and in several parts."""
    n = draw(st.integers(least, most))
    sizes = draw(st.lists(st.integers(least_size, 5), min_size=n, max_size=n))
    pairs = [(a, b) for a in range(n) for b in range(a)]
    coins = st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))
    edges = [pair for pair, heads in zip(pairs, draw(coins), strict=True) if heads]
    if draw(st.booleans()):
        # Half of them again: sparse graphs have separators, dense ones do not.
        edges = [pair for pair, heads in zip(edges, draw(coins), strict=False) if heads]
    return graph_of(sizes, edges)


@st.composite
def symmetric_graphs(draw: st.DrawFn) -> InteractionGraph:
    """Graphs of up to 9 vertices in which copies of a block hang on a common core."""
    width = draw(st.integers(1, 3))
    copies = draw(st.integers(2, {1: 6, 2: 3, 3: 2}[width]))
    core = draw(st.integers(0, 3))
    size = st.integers(2, 4)
    block_sizes = draw(st.lists(size, min_size=width, max_size=width))
    core_sizes = draw(st.lists(size, min_size=core, max_size=core))
    inside = [(a, b) for a in range(width) for b in range(a)]
    across = [(a, b) for a in range(width) for b in range(width)]
    hanging = [(a, b) for a in range(width) for b in range(core)]
    core_pairs = [(a, b) for a in range(core) for b in range(a)]

    def some(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []

    start = [core + width * c for c in range(copies)]
    edges = some(core_pairs)
    edges += [(s + a, s + b) for a, b in some(inside) for s in start]
    edges += [(s + a, b) for a, b in some(hanging) for s in start]
    edges += [(s + a, t + b) for a, b in some(across) for s in start for t in start if s != t]
    n = core + width * copies
    shuffled = draw(st.permutations(range(n)))
    sizes = [*core_sizes, *block_sizes * copies]
    return graph_of(
        (sizes[v] for v in shuffled),
        ((shuffled.index(a), shuffled.index(b)) for a, b in edges),
    )


def vomlel_graph(pegs: int, colors: int, *, stage: int, arc: bool = False) -> InteractionGraph:
    """Return the graph of Vomlel's network for Mastermind, without P' and C'.

    Stage 1 is the whole network, 2 what is left when the guess is inserted, 3 has the
    auxiliary variable B instead of the table of C; ``arc`` is the arc from P to C.
    """
    h = [f"H{j}" for j in range(1, pegs + 1)]
    t = [f"T{j}" for j in range(1, pegs + 1)]
    p = [f"P{j}" for j in range(1, pegs + 1)]
    c = [f"C{i}" for i in range(1, colors + 1)]
    g = [f"G{i}" for i in range(1, colors + 1)]
    m = [f"M{i}" for i in range(1, colors + 1)]
    sizes = dict.fromkeys(h, colors) | dict.fromkeys(p, 2)
    sizes |= dict.fromkeys([*c, *m, "P", "C"], pegs + 1)
    scopes = [["P", *p], *([ci, *h] for ci in c)]
    if stage == 1:
        sizes |= dict.fromkeys(t, colors) | dict.fromkeys(g, pegs + 1)
        scopes += [[pj, hj, tj] for pj, hj, tj in zip(p, h, t, strict=True)]
        scopes += [[gi, *t] for gi in g]
        scopes += [[mi, ci, gi] for mi, ci, gi in zip(m, c, g, strict=True)]
    else:
        scopes += [[pj, hj] for pj, hj in zip(p, h, strict=True)]
        scopes += [[mi, ci] for mi, ci in zip(m, c, strict=True)]
    if stage == 3:
        sizes["B"] = pegs + 1
        scopes += [["B", mi] for mi in m] + [["B", "P"], ["B", "C"]]
    else:
        scopes += [["C", *m, *(["P"] if arc else [])]]
    return InteractionGraph.from_scopes(sizes, scopes)


def large_graph(n: int = 250) -> InteractionGraph:
    """Return a graph on which one greedy pass is far from the best order."""
    rng = np.random.default_rng(7)
    edges = [(i, int(j)) for i in range(1, n) for j in rng.integers(max(0, i - 15), i, size=2)]
    return graph_of(rng.integers(2, 5, size=n).tolist(), edges)


def is_clique(graph: InteractionGraph, vertices: Iterable[int]) -> bool:
    """Return whether all these vertices are neighbors of each other."""
    return all(u in graph.adjacent[v] for u, v in combinations(vertices, 2))


def naive_greedy(graph: InteractionGraph, score: str) -> list[int]:
    """Return the order of a greedy rule by computing every score again at every step."""
    neighbors = {
        v: {u for u in range(graph.n) if graph.neighbors[v] >> u & 1} for v in range(graph.n)
    }

    def cost(v: int) -> tuple[int, ...]:
        around = sorted(neighbors[v])
        added = [(a, b) for a in around for b in around if a < b and b not in neighbors[a]]
        size = prod(graph.sizes[u] for u in (v, *around))
        return {
            "FILL": (len(added), size, v),
            "WEIGHT": (size, len(added), v),
            "WEIGHTED_FILL": (sum(graph.sizes[a] * graph.sizes[b] for a, b in added), v),
        }[score]

    order = []
    while neighbors:
        v = min(neighbors, key=cost)
        around = neighbors.pop(v)
        for u in around:
            neighbors[u] = (neighbors[u] | around) - {u, v}
        order.append(v)
    return order


def naive_cliques(graph: InteractionGraph, order: Iterable[int]) -> set[frozenset[int]]:
    """Return the maximal cliques of an order by doing what the definition says."""
    neighbors = {
        v: {u for u in range(graph.n) if graph.neighbors[v] >> u & 1} for v in range(graph.n)
    }
    cliques = []
    for v in order:
        around = neighbors.pop(v)
        cliques.append(frozenset(around | {v}))
        for u in around:
            neighbors[u] = (neighbors[u] | around) - {u, v}
    return {clique for clique in cliques if not any(clique < other for other in cliques)}


def naive_total(graph: InteractionGraph, order: Iterable[int]) -> int:
    """Return the total size of an order by doing what the definition says."""
    total = 0
    for clique in naive_cliques(graph, order):
        cells = 1
        for v in clique:
            cells *= graph.sizes[v]
        total += cells
    return total


def smallest_by_permutations(graph: InteractionGraph) -> int:
    """Return the smallest total size over all orders."""
    return min(naive_total(graph, order) for order in permutations(range(graph.n)))


def cost_to_go(graph: InteractionGraph) -> list[int]:
    """Return what is still to be paid at best for each set of vertices once it is eliminated.

    Dynamic programming over all sets, with no reduction of any kind: an elimination is free
    if its clique lies in the closed neighborhood of a component that was eliminated.
    """
    everything = graph.vertices
    to_go = [0] * (everything + 1)
    for eliminated in range(everything - 1, -1, -1):
        parts = graph.components(eliminated)
        costs = []
        for v in range(graph.n):
            if eliminated >> v & 1:
                continue
            reached = graph.neighbors[v] | 1 << v
            for part in parts:
                if part & graph.neighbors[v]:
                    reached |= graph.neighborhood(part)
            clique = reached & ~eliminated
            free = any(not clique & ~graph.neighborhood(part) for part in parts)
            cost = 0 if free else prod(graph.sizes[u] for u in bits(clique))
            costs.append(cost + to_go[eliminated | 1 << v])
        to_go[eliminated] = min(costs)
    return to_go
