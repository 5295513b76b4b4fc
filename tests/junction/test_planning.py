"""Budgets: of the search for a plan, and of the runs that it is for."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.assembly as assembly
import bnmind.junction.assembly as parts
import bnmind.junction.exact_order as exact_order
import bnmind.junction.order_finders as shared_search
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.junction import (
    EliminationOrder,
    ExactOrder,
    InteractionGraph,
    Limits,
    MinFill,
    RandomizedGreedy,
    compile_explanation,
    compile_model,
    compile_plan,
    compile_sampling,
    families,
)
from bnmind.junction.exact_order import Found, search
from bnmind.junction.graphs import Clique
from bnmind.junction.order_finders import SharedSearch
from bnmind.junction.randomized_order import MOST_WORK
from bnmind.pgm import (
    CPD,
    Addition,
    Factor,
    FactorModel,
    Function,
    FunctionalCPD,
    Network,
    TabularCPD,
    Variable,
)
from bnmind.pgm.functions import Positions
from tests.graphs import graphs, large_graph
from tests.large_networks import linkage_network, random_network
from tests.modes import examples

FIT = Limits(max_bytes=1000, max_multiplications=100)


def observed_genotypes(network: Network) -> list[str]:
    return [v.name for v in network.variables if v.name.startswith("F")][::2]


def test_a_plan_within_its_limits_is_not_refused() -> None:
    assert FIT.refusal(100, 1000, None) is None
    assert FIT.refusal(0, 0, None) is None


@pytest.mark.parametrize(
    ("multiplications", "memory", "needed", "budget"),
    [(101, 1, 101, 100), (1, 1001, 1001, 1000), (300, 2000, 300, 100), (200, 3000, 3000, 1000)],
)
def test_a_refusal_shows_both_costs_and_tells_the_worse_one(
    multiplications: int, memory: int, needed: int, budget: int
) -> None:
    fault = FIT.refusal(multiplications, memory, Clique(("a", "b"), 77))
    assert fault is not None
    assert (fault.needed, fault.budget) == (needed, budget)
    for part in ("max_multiplications=100", "max_bytes=1,000", "{a, b} with 77 cells"):
        assert part in str(fault)
    assert f"{multiplications:,} multiplications" in str(fault)


@pytest.mark.parametrize("limits", [(0, 1), (1, 0), (-5, -5)])
def test_limits_are_positive(limits: tuple[int, int]) -> None:
    with pytest.raises(InvalidArgumentError, match="at least 1"):
        Limits(*limits)


@settings(max_examples=examples(25))
@given(st.lists(graphs(most=10), min_size=1, max_size=4), st.booleans())
def test_shared_orders_are_never_worse_than_the_quick_ones(
    several: list[InteractionGraph], poor: bool
) -> None:
    def orders() -> list[int]:
        search = SharedSearch(RandomizedGreedy())
        starts = [search.quick(graph) for graph in several]
        if poor:
            search.left = 100.0
        found = search.orders(several, [start for start in starts if start is not None])
        for graph, order, start in zip(several, found, starts, strict=True):
            assert start is not None
            assert sorted(order.variables) == sorted(graph.names)
            assert order.total_size <= start.total_size
        return [order.total_size for order in found]

    assert orders() == orders()


@settings(max_examples=examples(25))
@given(st.lists(graphs(most=10), min_size=1, max_size=4))
def test_the_smallest_of_several_graphs_is_found(several: list[InteractionGraph]) -> None:
    for finder in (RandomizedGreedy(), MinFill()):
        found = SharedSearch(finder).smallest(several)
        assert found is not None
        chosen, order = found
        alone = [finder(graph).total_size for graph in several]
        assert order.total_size == alone[chosen] == min(alone)


def test_the_parts_of_a_plan_share_the_work_of_one_search() -> None:
    graph = large_graph()
    search = SharedSearch(RandomizedGreedy())
    search.left = most = MOST_WORK / 20
    starts = [search.quick(graph) for _ in range(10)]
    found = search.orders([graph] * 10, [start for start in starts if start is not None])
    # A pass that has begun is finished.
    assert most / 2 < most - search.left < 1.5 * most
    alone = RandomizedGreedy()(graph).total_size
    assert all(alone <= order.total_size for order in found)


def test_trees_beyond_the_limit_are_not_looked_at() -> None:
    graph = large_graph()
    cells = MinFill()(graph).total_size
    assert SharedSearch(RandomizedGreedy(), limit=cells / 100).order(graph) is None
    assert SharedSearch(RandomizedGreedy(), limit=cells / 100).smallest([graph, graph]) is None
    assert SharedSearch(RandomizedGreedy(), limit=10 * cells).order(graph) is not None


class _Noted(RandomizedGreedy):
    """A search that notes its limits of work."""

    noted: ClassVar[list[float]] = []

    def within(self, graph: InteractionGraph, **how: Any) -> tuple[EliminationOrder | None, int]:
        self.noted.append(how["most"])
        return super().within(graph, **{**how, "most": 1})


@pytest.mark.parametrize(
    ("times_too_large", "stages"),
    [(0.5, []), (2.0**7, []), (2.0**12, [3]), (2.0**20, [2]), (2.0**30, [1]), (2.0**50, [0])],
)
def test_a_search_stops_early_if_its_tree_stays_far_too_large(
    times_too_large: float, stages: list[int]
) -> None:
    graph = large_graph()
    cells = MinFill()(graph).total_size
    _Noted.noted.clear()
    search = SharedSearch(_Noted(effort=8.0), allowed=cells / times_too_large)
    order = search.order(graph)
    assert order is not None
    # The orders of these searches differ by less than the steps between the cases.
    assert cells / 4 < order.total_size <= cells
    works = [shared_search._STAGES[stage][0] for stage in stages]
    assert _Noted.noted == (works or [8 * MOST_WORK])


@pytest.mark.parametrize("n", [400, pytest.param(1000, marks=pytest.mark.slow)])
def test_hopeless_networks_are_refused_before_a_program_is_put_together(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches: list[SharedSearch] = []
    made = shared_search.SharedSearch.__post_init__

    def watched(search: SharedSearch) -> None:
        made(search)
        searches.append(search)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a program was put together")

    monkeypatch.setattr(shared_search.SharedSearch, "__post_init__", watched)
    monkeypatch.setattr(parts, "ProgramBuilder", refuse)
    network = random_network(n)
    names = [v.name for v in network.variables]
    with pytest.raises(TooLargeError, match="max_multiplications=17,179,869,184") as caught:
        compile_plan(network, evidence=names[::10])
    assert caught.value.needed > caught.value.budget == 2**34
    # One budget of search for all groups of ancestors; a pass that has begun is finished.
    (search,) = searches
    assert search.left > -0.5 * MOST_WORK
    assert search.quick_work < 6 * MOST_WORK


def test_a_plan_with_large_cliques_that_is_cheap_to_run_is_run() -> None:
    network = linkage_network(14, 3, seed=1)
    evidence = observed_genotypes(network)
    plan = compile_plan(network, evidence=evidence)
    assert plan.total_size > 2**27
    assert plan.memory < plan.total_size
    found = plan.run(dict.fromkeys(evidence, "01"))
    for name in ("S13_0p", "G5_1m"):
        alone = compile_plan(network, evidence=evidence, targets=[[name]])
        assert alone.total_size < plan.total_size / 10
        truth = alone.run(dict.fromkeys(evidence, "01")).marginals[name]
        np.testing.assert_allclose(found.marginals[name], truth, rtol=0, atol=1e-10)


def grid(rows: int, columns: int) -> Network:
    """Return a grid whose nodes hang on those above and to the left."""
    rng = np.random.default_rng(3)
    at = {(i, j): Variable(f"X{i}_{j}", tuple("abc")) for i in range(rows) for j in range(columns)}
    cpds = []
    for (i, j), child in at.items():
        parents = tuple(at[p] for p in ((i - 1, j), (i, j - 1)) if p in at)
        table = rng.random((3,) * (1 + len(parents)))
        cpds.append(TabularCPD(child, parents, table / table.sum(axis=0)))
    return Network(tuple(cpds))


def peak_of(call: object) -> int:
    """Return the most bytes that a call holds at the same time."""
    assert callable(call)
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_the_predicted_memory_is_what_runs_hold() -> None:
    network, last = grid(9, 12), "X8_11"
    plan = compile_plan(network, evidence=[last])
    assert plan.memory > 2**21
    assert 0.7 <= peak_of(lambda: plan.run({last: "a"})) / plan.memory <= 1.1
    best = compile_explanation(network, evidence=[last])
    # Maxima take some blocks more.
    assert 0.7 <= peak_of(lambda: best.run({last: "a"})) / best.plan.memory <= 1.25
    drawn = compile_sampling(network, evidence=[last])
    assert drawn.plan is not None
    rng = np.random.default_rng(1)
    peak = peak_of(lambda: drawn.run({last: "a"}, n_samples=1, rng=rng))
    # So does scaling.
    assert 0.7 <= peak / drawn.plan.memory <= 1.25


@pytest.mark.parametrize(("most", "times"), [(500, 2**34), (2**31, 500)])
def test_every_kind_of_plan_is_refused_when_it_is_compiled(most: int, times: int) -> None:
    network, seen = grid(5, 5), ["X4_4"]
    with pytest.raises(TooLargeError, match="The largest clique is"):
        compile_plan(
            network, evidence=seen, limits=Limits(max_bytes=most, max_multiplications=times)
        )
    with pytest.raises(TooLargeError, match="The largest clique is"):
        compile_explanation(
            network, evidence=seen, limits=Limits(max_bytes=most, max_multiplications=times)
        )
    with pytest.raises(TooLargeError, match="The largest clique is"):
        compile_sampling(
            network, evidence=seen, limits=Limits(max_bytes=most, max_multiplications=times)
        )
    with pytest.raises(TooLargeError, match="The largest clique is"):
        compile_plan(
            network, targets=[seen], limits=Limits(max_bytes=most, max_multiplications=times)
        )


def test_a_plan_that_fits_exactly_is_not_refused() -> None:
    network, last = grid(5, 5), "X4_4"
    plan = compile_plan(network, evidence=[last])
    again = compile_plan(
        network,
        evidence=[last],
        limits=Limits(max_bytes=plan.memory, max_multiplications=plan.multiplications),
    )
    assert again.multiplications == plan.multiplications


def test_a_plan_to_be_restricted_is_refused_only_where_it_is_run() -> None:
    network = grid(5, 5)
    seen = {f"X{i}_{i}": "a" for i in range(1, 5)}
    whole = compile_plan(network, soft=seen)
    most = whole.restrict(seen).multiplications
    assert most < whole.multiplications / 2
    with pytest.raises(TooLargeError):
        compile_plan(network, soft=seen, limits=Limits(max_multiplications=most))
    plan = compile_plan(
        network, soft=seen, limits=Limits(max_multiplications=most, only_restrictions=True)
    )
    assert plan.multiplications == whole.multiplications
    for run in (plan.run, plan.is_possible):
        with pytest.raises(TooLargeError, match="The largest clique is"):
            run(seen)
    with pytest.raises(TooLargeError, match="The largest clique is"):
        plan.run_batch({name: [0] for name in seen})
    found = plan.restrict(seen).run().marginals["X0_0"]
    np.testing.assert_allclose(found, whole.run(seen).marginals["X0_0"], rtol=0, atol=1e-12)


def test_no_program_is_made_for_a_plan_that_no_evidence_can_shrink(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Each pair of variables has a third one, as in models of friendships. A program would multiply
    # all tables of the clique for each of them.
    ends = [Variable.of_integers(f"x{i}", range(2)) for i in range(14)]
    factors = [
        Factor(
            (x, y, Variable.of_integers(f"{x.name} {y.name}", range(2))),
            np.eye(8)[0].reshape(2, 2, 2) + i,
        )
        for i, (x, y) in enumerate(combinations(ends, 2), 1)
    ]

    def refused(*_: object) -> None:
        raise AssertionError("the plan is surely too large")

    monkeypatch.setattr(assembly, "program_of", refused)
    engine = compile_model(FactorModel(tuple(factors)), limits=Limits(max_multiplications=1000))
    with pytest.raises(
        TooLargeError, match=r"is \{(x\d+, ){11}x\d+ and 2 more\} with 16,384 cells"
    ):
        engine.posterior()


class Weighted:
    """A function that neither breaks into steps nor into terms, as it does not say how."""

    def __init__(self, weights: Sequence[int]) -> None:
        self.weights = weights

    def __call__(self, *arguments: Positions) -> Positions:
        pairs = zip(self.weights, arguments, strict=True)
        return np.asarray(sum(weight * argument for weight, argument in pairs) % 2)

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        return self


def test_tables_of_functions_that_do_not_fit_are_not_made() -> None:
    bits = tuple(Variable(f"B{i}", ("0", "1")) for i in range(24))
    uniform = np.full(2, 0.5)
    network = Network(
        (
            *(TabularCPD(bit, (), uniform) for bit in bits),
            FunctionalCPD(Variable("even", ("0", "1")), bits, Weighted(range(24))),
        )
    )

    def refused() -> None:
        with pytest.raises(TooLargeError, match=r"table of even .* 16,777,216 cells") as caught:
            compile_plan(network, evidence=["even"], limits=Limits(max_bytes=2**24))
        assert (caught.value.needed, caught.value.budget) == (2**27, 2**24)

    assert peak_of(refused) < 2**24


def test_sums_need_no_table_to_fit() -> None:
    parts = tuple(Variable(f"B{i}", ("0", "1")) for i in range(40))
    total = Variable.of_integers("S", range(41))
    network = Network(
        (
            *(TabularCPD(bit, (), np.full(2, 0.5)) for bit in parts),
            FunctionalCPD(total, parts, Addition(((0, 1),) * 40, 41)),
        )
    )
    plan = compile_plan(network, evidence=["S"], limits=Limits(max_bytes=2**20))
    found = plan.run({"S": "20"}).log_evidence
    assert found == pytest.approx(math.log(math.comb(40, 20)) - 40 * math.log(2))


def test_estimates_of_forms_take_half_of_the_work_of_a_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Sums of so many sizes that each is a group of its own would take dozens of orders."""
    coins = [Variable(f"x{i}", ("no", "yes")) for i in range(30)]
    rng = np.random.default_rng(0)
    cpds = [TabularCPD(v, (), np.array([0.5, 0.5])) for v in coins]
    sums = [
        FunctionalCPD.sum_of(f"S{k}", [coins[i] for i in rng.permutation(30)[:k]])
        for k in range(22, 27)
    ]
    network = Network((*cpds, *sums))
    searches: list[SharedSearch] = []
    count = [0]
    made, estimate = SharedSearch.__post_init__, SharedSearch.estimate

    def watched(search: SharedSearch) -> None:
        made(search)
        searches.append(search)

    def counted(search: SharedSearch, graph: InteractionGraph) -> EliminationOrder:
        count[0] += 1
        return estimate(search, graph)

    monkeypatch.setattr(SharedSearch, "__post_init__", watched)
    monkeypatch.setattr(SharedSearch, "estimate", counted)
    found = []
    for most in (MOST_WORK, MOST_WORK // 50):
        monkeypatch.setattr(shared_search, "MOST_WORK", most)
        count[0] = 0
        plan = compile_plan(network, evidence=[cpd.variable.name for cpd in sums])
        assert plan.by_case is not None
        found.append(count[0])
        assert searches[-1].left < most
    assert found[1] < found[0] / 2
    assert found[1] >= 1


def ring(name: str, n: int) -> list[tuple[str, str]]:
    return [(f"{name}{i}", f"{name}{(i + 1) % n}") for i in range(n)]


def test_all_parts_of_a_graph_share_the_sets_of_an_exact_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def watched(which: Callable[..., Found]) -> Callable[..., Found]:
        def counting(*args: Any, **options: Any) -> Found:
            found = which(*args, **options)
            seen.append(found.n_sets)
            return found

        return counting

    monkeypatch.setattr(exact_order, "search", watched(search))
    # Parts that are alike but for their sizes, so that no two are found at once.
    sizes = {f"{name}{i}": 2 + (7 * i + j) % 5 for j, name in enumerate("abcdef") for i in range(9)}
    edges = [edge for name in "abcdef" for edge in ring(name, 9)]
    graph = InteractionGraph.from_scopes(sizes, edges)
    whole = ExactOrder()(graph)
    assert whole.proven
    needed = sum(seen)
    seen.clear()
    most = needed // 3
    part = ExactOrder(max_sets=most)(graph)
    assert not part.proven
    assert part.total_size >= whole.total_size
    # A search that has begun a level finishes it.
    assert sum(seen) < 1.5 * most + max(seen)


def test_the_memory_of_large_answers_is_predicted() -> None:
    """All joints are there at the same time, and more than once while they are normalized."""
    rng = np.random.default_rng(0)
    variables = [Variable(f"X{i}", tuple(map(str, range(12)))) for i in range(20)]
    cpds: list[CPD] = []
    for i, child in enumerate(variables):
        parents = tuple(variables[max(0, i - 2) : i])
        table = rng.random((12,) * (1 + len(parents))) + 0.1
        cpds.append(TabularCPD(child, parents, table / table.sum(0)))
    network = Network(tuple(cpds))
    plan = compile_plan(network, targets=families(network))
    plan.run()
    tables = 8 * sum(source.n_cells for source in plan.compiled.sources)
    assert 0.5 <= peak_of(plan.run) / (plan.memory - tables) <= 1.1


def test_of_several_models_those_close_to_the_best_are_searched_for_longer() -> None:
    class Brief(RandomizedGreedy):
        """A search that always takes all the work it may."""

        def within(
            self, graph: InteractionGraph, **how: Any
        ) -> tuple[EliminationOrder | None, int]:
            works.append((graph.n, how["most"]))
            return MinFill()(graph), how["most"]

    works: list[tuple[int, float]] = []
    rings = [
        InteractionGraph.from_scopes(
            {str(v): 2 for v in range(n)}, [(str(v), str((v + 1) % n)) for v in range(n)]
        )
        for n in (60, 6, 5, 400)
    ]
    found = SharedSearch(Brief()).smallest(rings)
    assert found is not None
    assert found[0] == 2
    brief = shared_search._BRIEF
    assert works[:4] == [(60, brief), (6, brief), (5, brief), (400, brief)]
    # The largest one could hardly become the best.
    assert [n for n, _ in works[4:]] == [5, 6, 60]
    assert works[4][1] > 10 * brief
