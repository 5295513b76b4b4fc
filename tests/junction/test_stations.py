"""Stations between many neighbors of a clique: valid trees, equal answers, and few products."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.contraction as stations
from bnmind.junction import Limits, Plan, compile_plan
from bnmind.junction.batches import run_once
from bnmind.junction.compiled_query import starting_registers
from bnmind.junction.contraction import StationTree
from bnmind.pgm import Factor, FactorModel, Variable
from tests.modes import examples
from tests.networks import enumerate_joint


@st.composite
def hubs(draw: st.DrawFn) -> tuple[list[frozenset[int]], list[dict[int, frozenset[int]]]]:
    """Return the cliques of a star, the first of which contains the separators of all others."""
    n = draw(st.integers(2, 7))
    some = st.frozensets(st.integers(0, n - 1), max_size=4)
    separators = draw(st.lists(some, min_size=1, max_size=25))
    # Each neighbor has a variable of its own.
    scopes = [frozenset(range(n)), *(s | {n + i} for i, s in enumerate(separators))]
    around = dict(enumerate(separators, 1))
    return scopes, [around, *({0: separator} for separator in separators)]


@settings(max_examples=examples(100))
@given(hubs(), st.integers(1, 6))
def test_a_tree_with_stations_is_a_junction_tree(
    star: tuple[list[frozenset[int]], list[dict[int, frozenset[int]]]], many: int
) -> None:
    scopes, neighbors = star
    separators = dict(neighbors[0])
    tree = StationTree(scopes, neighbors, [2] * 40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stations, "_MANY", many)
        tree.connect(0)
    edges = {
        (a, b) for a, around in enumerate(tree.neighbors) for b in around if b in range(len(scopes))
    }
    assert all(tree.neighbors[b][a] == tree.neighbors[a][b] for a, b in edges)
    assert len(edges) == 2 * (len(tree.scopes) - 1)
    for a, b in edges:
        assert tree.neighbors[a][b] <= tree.scopes[a] & tree.scopes[b]
    # The members of each variable are connected, through separators that contain it.
    for variable in frozenset().union(*tree.scopes):
        holders = {i for i, scope in enumerate(tree.scopes) if variable in scope}
        reached, waiting = set(), [min(holders)]
        while waiting:
            node = waiting.pop()
            reached.add(node)
            near = tree.neighbors[node].items()
            waiting += [i for i, scope in near if variable in scope and i not in reached]
        assert reached == holders
    for neighbor, separator in separators.items():
        assert list(tree.neighbors[neighbor].values()) == [separator]


def pairs_with_leaves(n: int, *, seed: int = 1) -> FactorModel:
    """Return factors over all pairs of n variables, each pair with a variable of its own."""
    rng = np.random.default_rng(seed)
    variables = [Variable(f"x{i}", ("0", "1")) for i in range(n)]
    factors = [
        Factor((a, b, Variable(f"{a.name},{b.name}", ("0", "1"))), rng.random((2, 2, 2)))
        for a, b in combinations(variables, 2)
    ]
    return FactorModel(tuple(factors))


def test_answers_do_not_depend_on_stations(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pairs_with_leaves(4)
    joint = enumerate_joint(model).values
    for many in (1, 3, 1000):
        monkeypatch.setattr(stations, "_MANY", many)
        posterior = compile_plan(model).run()
        assert posterior.log_evidence == pytest.approx(math.log(joint.sum()), abs=1e-12)
        for axis, variable in enumerate(model.variables):
            others = tuple(i for i in range(joint.ndim) if i != axis)
            expected = joint.sum(axis=others) / joint.sum()
            found = posterior.marginals[variable.name]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_a_clique_with_many_neighbors_takes_few_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of 12 variables: 66 messages to the pairs, each of which multiplied 65 others."""

    def plan_with(many: int) -> Plan:
        monkeypatch.setattr(stations, "_MANY", many)
        return compile_plan(pairs_with_leaves(12), limits=Limits(2**26, 2**30))

    plan = plan_with(stations._MANY)
    before = plan_with(10**6)
    assert 8 * plan.multiplications < before.multiplications
    assert 4 * len(plan.compiled.program.steps) < len(before.compiled.program.steps)
    first, second = plan.run().marginals, before.run().marginals
    for name in ("x3", "x3,x7"):
        np.testing.assert_allclose(first[name], second[name], rtol=1e-12)


def test_a_run_that_overflows_ends_early() -> None:
    """The product of 400 factors is near e^1000; a second run, with powers of two, answers."""
    x = [Variable(f"x{i}", ("0", "1")) for i in range(401)]
    table = np.array([[20.0, 1.0], [2.0, 10.0]])
    model = FactorModel(tuple(Factor(pair, table) for pair in pairwise(x)))
    product = np.ones(2)
    log_sum = 0.0
    for _ in range(400):
        product = table @ product
        log_sum += math.log(product.max())
        product /= product.max()
    plan = compile_plan(model, targets=[["x200"]])
    with pytest.raises(FloatingPointError, match="overflow"):
        run_once(plan.compiled, starting_registers(plan.compiled, {}))
    found = plan.run().log_evidence
    assert found == pytest.approx(log_sum + math.log(product.sum()), rel=1e-12)
