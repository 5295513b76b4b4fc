"""The portfolio of searches: the order of greedy passes for small graphs, annealing for large."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from bnmind.errors import InvalidArgumentError
from bnmind.junction import (
    EliminationOrder,
    GivenOrder,
    InteractionGraph,
    MinWeight,
    Portfolio,
    RandomizedGreedy,
    TreeAnnealing,
)
from bnmind.junction.order_finders import (
    BoundedFinder,
    SharedSearch,
    run_cost,
)
from bnmind.junction.randomized_order import MOST_WORK, annealed
from tests.graphs import graph_of, graphs


def grid(n: int, m: int) -> InteractionGraph:
    """Return a grid of binary variables."""
    across = [(m * i + j, m * i + j + 1) for i in range(n) for j in range(m - 1)]
    down = [(m * i + j, m * i + j + m) for i in range(n - 1) for j in range(m)]
    return graph_of([2] * (n * m), across + down)


@settings(max_examples=20)
@given(graphs())
def test_small_graphs_get_the_order_of_greedy_passes(graph: InteractionGraph) -> None:
    assert Portfolio(seed=1)(graph) == RandomizedGreedy(seed=1)(graph)


def test_annealing_is_kept_if_a_run_with_its_order_costs_less() -> None:
    graph = grid(18, 18)
    greedy, _ = RandomizedGreedy().within(graph, most=MOST_WORK / 20)
    assert greedy is not None
    annealed = TreeAnnealing(GivenOrder(greedy.variables), rounds=1)(graph)
    # It has fewer cells, and larger messages.
    assert annealed.total_size < greedy.total_size
    assert run_cost(graph, annealed) > run_cost(graph, greedy)
    found, work = Portfolio().within(graph)
    assert found is not None
    assert run_cost(graph, found) <= run_cost(graph, greedy)
    # A run with the order of greedy passes pays for the annealing, and for more passes.
    most = RandomizedGreedy().wanted(greedy.total_size, graph.n)
    assert work < MOST_WORK / 20 + 0.2 * greedy.total_size + most
    assert Portfolio().within(graph) == (found, work)


@pytest.mark.compiled
def test_annealing_makes_long_runs_cheaper() -> None:
    rng = np.random.default_rng(6)
    n = int(rng.integers(90, 120))
    pairs = int(rng.uniform(1.8, 2.2) * n)
    edges = [(int(a), int(b)) for a, b in (rng.choice(n, 2, replace=False) for _ in range(pairs))]
    graph = graph_of([3] * n, edges)
    found, work = Portfolio().within(graph)
    assert found is not None
    assert "annealing" in found.method
    assert work < MOST_WORK
    assert run_cost(graph, found) < run_cost(graph, RandomizedGreedy()(graph))


def test_it_stops_where_more_passes_cost_more_than_they_save() -> None:
    # Annealing improves the order of the brief search, but less than more greedy passes do.
    rng = np.random.default_rng(39)
    n = int(rng.integers(80, 260))
    pairs = int(rng.uniform(1.1, 1.7) * n)
    edges = [(int(a), int(b)) for a, b in (rng.choice(n, 2, replace=False) for _ in range(pairs))]
    graph = graph_of([2] * n, edges)
    brief, _ = RandomizedGreedy().within(graph, most=MOST_WORK / 20)
    assert brief is not None
    found, work = Portfolio().within(graph)
    assert found is not None
    cost = run_cost(graph, found)
    assert cost <= run_cost(graph, brief)
    assert cost < 1.2 * run_cost(graph, RandomizedGreedy()(graph))
    # A unit of work takes as long as 11 cells. The predicted run is no short one.
    assert 0.09 * cost > 10_000_000
    assert work < 0.09 * cost


def test_annealing_ends_after_five_rounds_without_an_improvement() -> None:
    # Each variable of one layer is connected with each of the other, so the best orders end with
    # one layer. The rounds are short, and a run would pay for hundreds of them.
    graph = graph_of([10] * 18, [(u, v) for u in range(9) for v in range(9, 18)])
    found, work = Portfolio().within(graph)
    assert found is not None
    assert found.total_size == RandomizedGreedy()(graph).total_size == 9 * 10**10
    assert "annealing" not in found.method
    assert work < MOST_WORK / 5


def test_annealing_starts_with_the_longest_round_that_pays() -> None:
    graph = grid(8, 8)
    first = GivenOrder(graph.names)(graph)
    asked: list[int] = []

    def goes_on(done: int, spent: int, ahead: int, best: EliminationOrder) -> bool:
        asked.append(ahead)
        return done == 0 and ahead <= most

    lengths = []
    for most in (0, 1_000_000, math.inf):
        asked.clear()
        found, work = annealed(graph, first, goes_on, skipped=1)
        lengths.append(len(asked))
        assert (work > 0) == (found is not first) == (most > 0)
    # Neither round; the second does not pay, the first does; the second does.
    assert lengths == [2, 3, 2]


def test_the_cost_of_a_run_counts_cells_and_messages() -> None:
    graph = graph_of([2, 3, 5], [(0, 1), (1, 2)])
    assert run_cost(graph, Portfolio()(graph)) == 2 * 3 + 3 * 5 + 32 * 3


def test_a_limit_of_the_work_leaves_out_the_annealing() -> None:
    found, work = Portfolio().within(grid(18, 18), most=MOST_WORK / 20)
    assert found is not None
    assert "annealing" not in found.method
    assert work < 1.1 * MOST_WORK / 20
    search = SharedSearch(Portfolio())
    search.left = MOST_WORK / 20
    assert search.order(grid(18, 18)) == found


def test_it_shares_the_work_of_a_compilation() -> None:
    assert isinstance(Portfolio(), BoundedFinder)
    assert isinstance(RandomizedGreedy(), BoundedFinder)
    assert SharedSearch(Portfolio(effort=8.0)).left == 8 * MOST_WORK


@pytest.mark.parametrize(
    ("options", "message"),
    [({"effort": -1.0}, "effort"), ({"effort": math.inf}, "effort"), ({"seed": -1}, "seed")],
)
def test_options_out_of_range_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        Portfolio(**options)  # type: ignore[arg-type]


def test_orders_of_several_graphs_share_the_work() -> None:
    graphs = [grid(6, 6), grid(7, 7)]
    quick = [MinWeight()(graph) for graph in graphs]
    chosen = RandomizedGreedy(restarts=3)
    assert SharedSearch(chosen).orders(graphs, quick) == [chosen(graph) for graph in graphs]
    search = SharedSearch(Portfolio())
    before = search.left
    found = search.orders(graphs, quick)
    assert all(a.total_size <= b.total_size for a, b in zip(found, quick, strict=True))
    assert 0 < search.left < before
    # Without work that is left, the quick orders stay.
    search.left = 0
    assert search.orders(graphs, quick) == quick


def test_trees_above_the_limit_are_no_answer() -> None:
    # A tree of this grid has more than 2⁷ cells, and one of the smaller grid has fewer.
    large, small = grid(8, 8), grid(2, 4)
    assert SharedSearch(Portfolio(), 2**7).order(large) is None
    assert SharedSearch(Portfolio(), 2**7, 2**7).order(large) is None
    assert SharedSearch(Portfolio(), 2**7).smallest([large, large]) is None
    found = SharedSearch(Portfolio(), 2**7).smallest([large, small])
    assert found is not None
    number, order = found
    assert number == 1
    assert order.total_size == Portfolio()(small).total_size < 2**7
