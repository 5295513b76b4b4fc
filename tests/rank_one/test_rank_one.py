"""Rank-one factorizations against the tables that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.pgm import (
    Addition,
    Factor,
    FactorModel,
    FunctionalCPD,
    Minimum,
    Network,
    TabularCPD,
    Variable,
)
from bnmind.rank_one import (
    Chebyshev,
    Integers,
    Nodes,
    RootsOfMinusOne,
    RootsOfUnity,
    factorize,
    factorize_addition,
)
from tests.modes import examples

ALL_NODES: list[Nodes] = [RootsOfUnity(), RootsOfMinusOne(), Chebyshev(), Integers()]


def white_pegs(n: int, colors: int) -> FunctionalCPD:
    """Return Vomlel's C = ΣM_i − P, section 4."""
    counts = range(n + 1)
    matched = tuple(Variable.of_integers(f"M{i}", range(2)) for i in range(colors))
    black = Variable.of_integers("P", counts)
    terms = (*(((0, 1),) * colors), tuple(-i for i in counts))
    return FunctionalCPD(
        Variable.of_integers("C", counts), (*matched, black), Addition(terms, n + 1)
    )


@settings(max_examples=examples(60))
@given(st.data())
def test_roots_of_unity_expand_to_the_table_everywhere(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    terms = tuple(tuple(data.draw(st.integers(-4, 4)) for _ in range(size)) for size in sizes)
    m = data.draw(st.integers(1, 8))
    child = Variable.of_integers("S", range(m + data.draw(st.integers(0, 2))))
    parents = tuple(Variable.of_integers(f"X{i}", range(s)) for i, s in enumerate(sizes))
    cpd = FunctionalCPD(child, parents, Addition(terms, m, data.draw(st.integers(-3, 3))))
    result = factorize_addition(cpd)
    span = sum(max(term) - min(term) for term in terms)
    assert result.n_terms <= min(m, span + 1)
    assert result.expand().isclose(cpd.to_factor(), atol=1e-13)
    assert all(len(factor.scope) == 2 for factor in result.factors)


@pytest.mark.parametrize("nodes", ALL_NODES)
def test_every_choice_of_nodes_holds_where_the_sum_is_feasible(nodes: Nodes) -> None:
    cpd = white_pegs(4, 4)
    table, found = cpd.to_factor().values.real, factorize_addition(cpd, nodes=nodes).expand().values
    *matched, black = np.indices(table.shape[1:])
    total = sum(matched) - black
    feasible = (total >= 0) & (total <= 4)
    np.testing.assert_allclose(found[:, feasible], table[:, feasible], atol=1e-11)
    assert nodes.is_periodic == np.allclose(found, table)


@pytest.mark.parametrize("nodes", ALL_NODES)
@pytest.mark.parametrize("m", range(1, 12))
def test_nodes_are_distinct_and_not_zero(nodes: Nodes, m: int) -> None:
    x = nodes(m)
    assert x.shape == (m,)
    assert np.abs(x).min() > 1e-9
    distances = np.abs(x[:, None] - x) + np.eye(m)
    assert distances.min() > 1e-3


def test_condition_numbers() -> None:
    # DESIGN section 3: 5 and 9 nodes.
    def condition(nodes: Nodes, m: int) -> float:
        return float(np.linalg.cond(nodes(m)[:, None] ** np.arange(m)))

    for m in (5, 9):
        assert condition(RootsOfUnity(), m) == pytest.approx(1.0)
        assert condition(Chebyshev(), m) < condition(Integers(), m)


def test_factorize_replaces_one_table_of_a_network() -> None:
    x, y = (Variable.of_integers(name, range(2)) for name in "xy")
    half = np.array([0.5, 0.5])
    total = FunctionalCPD(Variable.of_integers("s", range(3)), (x, y), Addition(((0, 1),) * 2, 3))
    z = TabularCPD(Variable.of_integers("z", range(2)), (), half)
    network = Network((TabularCPD(x, (), half), TabularCPD(y, (), half), total, z))
    model = factorize(network, "s", name="B")
    assert {v.name for v in model.variables} == {"x", "y", "z", "s", "B"}
    assert max(len(p.scope) for p in model.potentials) == 2
    assert factorize_addition(total).auxiliary.name == "B_s"
    with pytest.raises(InvalidArgumentError, match="'z' is taken"):
        factorize(network, "s", name="z")
    with pytest.raises(InvalidArgumentError, match="x has no rank-one form"):
        factorize(network, "x")
    with pytest.raises(InvalidArgumentError, match="x has no rank-one form"):
        factorize(FactorModel((Factor((x,), half),)), "x")


def test_only_additions_are_factorized_here() -> None:
    x = Variable.of_integers("x", range(2))
    cpd = FunctionalCPD(Variable.of_integers("m", range(2)), (x,), Minimum())
    with pytest.raises(
        InvalidArgumentError, match=r"expected m to be an addition, got Minimum\(\)"
    ):
        factorize_addition(cpd)
