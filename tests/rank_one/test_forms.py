"""Rank-one forms and chains of every kind of distribution: they expand to its table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.pgm import (
    CPD,
    Addition,
    Equality,
    Exactly,
    Factor,
    FactorModel,
    Function,
    FunctionalCPD,
    Maximum,
    Minimum,
    Network,
    NoisyMaximum,
    Parity,
    Restricted,
    TabularCPD,
    Threshold,
    Variable,
    noisy_or,
)
from bnmind.pgm.functions import Positions
from bnmind.rank_one import (
    RankOne,
    Terms,
    chain_form,
    factorize,
    rank_one_form,
)
from bnmind.rank_one.chains import observed_chain
from bnmind.rank_one.terms import NODES
from tests.modes import examples
from tests.networks import functional_cpds, noisy_cpds, variable_tuples


def form(cpd: CPD, *, nodes: str = "unity", **states: Sequence[int]) -> RankOne:
    found = rank_one_form(cpd, nodes=nodes, states=states)
    assert found is not None
    return found


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
    result = form(cpd)
    span = sum(max(term) - min(term) for term in terms)
    assert result.n_terms <= min(m, span + 1)
    assert result.expand().isclose(cpd.to_factor(), atol=1e-13)
    assert all(len(factor.scope) == 2 for factor in result.factors)


@pytest.mark.parametrize("nodes", NODES)
def test_every_choice_of_nodes_holds_where_the_sum_is_feasible(nodes: str) -> None:
    cpd = white_pegs(4, 4)
    table, found = cpd.to_factor().values.real, form(cpd, nodes=nodes).expand().values
    *matched, black = np.indices(table.shape[1:])
    total = sum(matched) - black
    feasible = (total >= 0) & (total <= 4)
    np.testing.assert_allclose(found[:, feasible], table[:, feasible], atol=1e-11)
    assert (nodes == "unity") == np.allclose(found, table)


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize("m", range(1, 12))
def test_nodes_are_distinct_and_not_zero(nodes: str, m: int) -> None:
    x = NODES[nodes](m)
    assert x.shape == (m,)
    assert np.abs(x).min() > 1e-9
    distances = np.abs(x[:, None] - x) + np.eye(m)
    assert distances.min() > 1e-3


def test_condition_numbers() -> None:
    # DESIGN section 3: 5 and 9 nodes.
    def condition(nodes: str, m: int) -> float:
        return float(np.linalg.cond(NODES[nodes](m)[:, None] ** np.arange(m)))

    for m in (5, 9):
        assert condition("unity", m) == pytest.approx(1.0)
        assert condition("chebyshev", m) < condition("integers", m)


def test_factorize_replaces_one_table_of_a_network() -> None:
    x, y = (Variable.of_integers(name, range(2)) for name in "xy")
    half = np.array([0.5, 0.5])
    total = FunctionalCPD(Variable.of_integers("s", range(3)), (x, y), Addition(((0, 1),) * 2, 3))
    z = TabularCPD(Variable.of_integers("z", range(2)), (), half)
    network = Network((TabularCPD(x, (), half), TabularCPD(y, (), half), total, z))
    model = factorize(network, "s", name="B")
    assert {v.name for v in model.variables} == {"x", "y", "z", "s", "B"}
    assert max(len(p.scope) for p in model.potentials) == 2
    assert form(total).auxiliary.name == "B_s"
    with pytest.raises(UnknownNameError, match="unity"):
        factorize(network, "s", nodes="unitary")
    with pytest.raises(InvalidArgumentError, match="'z' is taken"):
        factorize(network, "s", name="z")
    with pytest.raises(InvalidArgumentError, match="x has no rank-one form"):
        factorize(network, "x")
    with pytest.raises(InvalidArgumentError, match="x has no rank-one form"):
        factorize(FactorModel((Factor((x,), half),)), "x")


@st.composite
def cpds(draw: st.DrawFn) -> CPD:
    """Return a function, restricted or not, or a noisy extremum."""
    parents = draw(variable_tuples(max_size=4))
    if draw(st.booleans()):
        child = Variable.of_integers("Y", range(draw(st.integers(1, 4))))
        return draw(noisy_cpds(child, parents))
    cpd = draw(functional_cpds(parents))
    return cpd.restrict(draw(positions(parents))) if draw(st.booleans()) else cpd


@st.composite
def positions(draw: st.DrawFn, variables: Sequence[Variable]) -> dict[str, tuple[int, ...]]:
    """Return some of the positions of some of the variables, in any order."""
    return {
        v.name: tuple(
            draw(st.lists(st.integers(0, v.n_states - 1), min_size=1, max_size=4, unique=True))
        )
        for v in variables
        if draw(st.booleans())
    }


def of(function: Function, *sizes: int, results: int = 2) -> FunctionalCPD:
    parents = tuple(Variable.of_integers(f"X{i}", range(size)) for i, size in enumerate(sizes))
    return FunctionalCPD(Variable.of_integers("Y", range(results)), parents, function)


@settings(max_examples=examples(300))
@given(cpds())
def test_a_form_expands_to_the_table(cpd: CPD) -> None:
    found = rank_one_form(cpd)
    if isinstance(cpd, TabularCPD):
        assert found is None
        return
    assert found is not None
    assert found.expand().isclose(cpd.to_factor(), atol=1e-13)
    assert [f.names for f in found.factors] == [(v.name, "B_Y") for v in cpd.scope]


@settings(max_examples=examples(300))
@given(cpds(), st.data())
def test_a_form_on_fewer_states_is_the_table_there(cpd: CPD, data: st.DataObject) -> None:
    states = data.draw(positions(cpd.scope))
    found = rank_one_form(cpd, states=states)
    if isinstance(cpd, TabularCPD):
        assert found is None
        return
    assert found is not None
    kept = [states.get(v.name, tuple(range(v.n_states))) for v in cpd.scope]
    expected = np.zeros([v.n_states for v in cpd.scope])
    expected[np.ix_(*kept)] = cpd.to_factor().values[np.ix_(*kept)]
    np.testing.assert_allclose(found.expand().values, expected, rtol=0, atol=1e-13)
    whole = rank_one_form(cpd)
    assert whole is not None
    assert found.n_terms <= whole.n_terms


@settings(max_examples=examples(100))
@given(cpds(), st.sampled_from(["chebyshev", "minus-one"]))
def test_other_nodes_hold_where_sums_do_not_wrap(cpd: CPD, nodes: str) -> None:
    found = rank_one_form(cpd, nodes=nodes)
    if isinstance(cpd, TabularCPD):
        assert found is None
        return
    assert found is not None
    function = cpd.function if isinstance(cpd, FunctionalCPD) else None
    while isinstance(function, Restricted):
        function = function.function
    if nodes == "chebyshev":
        assert not any(np.iscomplexobj(factor.values) for factor in found.factors)
    if not isinstance(function, Addition):
        assert found.expand().isclose(cpd.to_factor(), atol=1e-11)


@pytest.mark.parametrize("nodes", ["chebyshev", "minus-one"])
@pytest.mark.parametrize("k", range(1, 6))
def test_counts_hold_with_any_nodes(k: int, nodes: str) -> None:
    for wanted in range(k + 2):
        for function in (Exactly(wanted), Threshold(wanted)):
            cpd = of(function, *[2] * k)
            factors = rank_one_form(cpd, nodes=nodes)
            assert factors is not None
            assert factors.expand().isclose(cpd.to_factor(), atol=1e-12)


@pytest.mark.parametrize("k", range(1, 9))
def test_ranks(k: int) -> None:
    """DESIGN section 3: the ranks of sums, extrema, parity and counts of k arguments."""
    assert form(of(Addition.of([2] * k), *[2] * k, results=k + 1)).n_terms == k + 1
    assert form(of(Addition.of([3] * k), *[3] * k, results=2 * k + 1)).n_terms == 2 * k + 1
    for function in (Maximum(), Minimum()):
        cpd = of(function, *[5] * k, results=5)
        assert form(cpd).n_terms == 5
        assert [form(cpd, Y=(y,)).n_terms for y in range(5)] == (
            [1, 2, 2, 2, 2] if isinstance(function, Maximum) else [2, 2, 2, 2, 1]
        )
    assert form(of(Parity(), *[3] * k)).n_terms == 2
    for wanted in range(k + 1):
        terms = max(wanted, k - wanted) + 1
        assert form(of(Exactly(wanted), *[2] * k)).n_terms == terms
        assert form(of(Exactly(wanted), *[2] * k), Y=(1,)).n_terms == terms
        total = of(Addition.of([2] * k), *[2] * k, results=k + 1)
        assert form(total, Y=(wanted,)).n_terms == terms
        if wanted:
            least = of(Threshold(wanted), *[2] * k)
            assert form(least).n_terms == max(wanted, k - wanted + 1) + 1
    cpd = of(Equality(), *[4] * k)
    assert [form(cpd).n_terms, form(cpd, Y=(1,)).n_terms] == [5, 4]


def test_sums_in_steps_need_no_more_terms_than_values() -> None:
    even = of(Addition(((0, 2, 4), (0, 6)), 12), 3, 2, results=12)
    assert form(even).n_terms == 6
    assert form(even, X0=(0, 2), Y=(0, 4, 6, 10)).n_terms == 6
    # Beyond the modulus: 0, 4, 8, … modulo 12.
    assert form(of(Addition(((0, 4, 8, 12, 16),) * 2, 12), 5, 5, results=12)).n_terms == 3
    assert form(of(Addition(((3,), (5,)), 12), 1, 1, results=12)).n_terms == 1


def test_noise_costs_nothing() -> None:
    parents = tuple(Variable.of_integers(f"X{i}", range(4)) for i in range(6))
    cpd = NoisyMaximum(
        Variable.of_integers("Y", range(3)),
        parents,
        (np.array([[0.5] * 4, [0.3] * 4, [0.2] * 4]),) * 6,
    )
    assert form(cpd).n_terms == 3
    assert [form(cpd, Y=(y,)).n_terms for y in range(3)] == [1, 2, 2]
    assert form(cpd).is_signed
    assert not form(cpd, Y=(0,)).is_signed


def test_a_noisy_or_of_many_parents_is_two_terms() -> None:
    yes = ("no", "yes")
    parents = tuple(Variable(f"X{i}", yes) for i in range(200))
    found = form(noisy_or(Variable("Y", yes), parents, np.full(200, 0.1)))
    assert found.n_terms == 2
    assert sum(factor.values.size for factor in found.factors) == 201 * 4


def test_functions_of_ones_own_have_no_form() -> None:
    class Own:
        def __call__(self, *arguments: Positions) -> Positions:
            return arguments[0]

        def restrict(self, states: Sequence[Sequence[int]]) -> Function:
            return Restricted.of(self, states)

    cpd = of(Own(), 2, 2)
    assert rank_one_form(cpd) is None
    assert rank_one_form(cpd.restrict({"X0": (0,)})) is None


@pytest.mark.parametrize("m", range(1, 40))
def test_roots_are_conjugate_to_the_last_bit(m: int) -> None:
    for roots, power in ((NODES["unity"](m), 1), (NODES["minus-one"](m), -1)):
        np.testing.assert_allclose(roots**m, power, rtol=0, atol=1e-13)
        assert set(roots.tolist()) == set(roots.conj().tolist())
        pairs = math.ceil(m / 2) if power == -1 else m // 2 + 1
        assert (np.imag(roots) >= 0).sum() == pairs


def test_terms_that_are_zero_anywhere_are_left_out() -> None:
    child = np.array([[1.0, 0.0, 2.0, 3.0]])
    argument = np.array([[1.0, 1.0, 0.0, 5.0], [1.0, 1.0, 0.0, 0.0]])
    kept = Terms(child, (argument,)).without_zeros()
    assert kept.child.tolist() == [[1.0, 3.0]]
    assert kept.arguments[0].tolist() == [[1.0, 5.0], [1.0, 0.0]]
    nothing = Terms(0 * child, (argument,)).without_zeros()
    assert nothing.child.tolist() == [[0.0]]


YES = ("no", "yes")


def expanded(chain: Sequence[CPD], cpd: CPD) -> Factor:
    product = chain[0].to_factor()
    for table in chain[1:]:
        product = product.product(table.to_factor())
    return product.sum_to(v.name for v in cpd.scope if v in product.scope)


@settings(max_examples=examples(200))
@given(cpds())
def test_a_chain_is_the_table(cpd: CPD) -> None:
    chain = chain_form(cpd)
    if isinstance(cpd, TabularCPD):
        assert chain is None
        return
    assert chain is not None
    active = [v for v in cpd.scope[1:] if v.n_states > 1]
    table = cpd.to_factor()
    expected = table.values.reshape([cpd.variable.n_states, *(v.n_states for v in active)])
    np.testing.assert_allclose(expanded(chain, cpd).values, expected, rtol=0, atol=1e-14)
    assert len(chain) == max(1, len(active) - 1)
    assert all(len(one.scope) <= 3 for one in chain)


@settings(max_examples=examples(200))
@given(variable_tuples(max_size=4), st.data())
def test_a_chain_on_fewer_states_is_the_table_there(
    parents: tuple[Variable, ...], data: st.DataObject
) -> None:
    cpd: CPD = data.draw(functional_cpds(parents))
    if data.draw(st.booleans()):
        child = Variable.of_integers("Y", range(data.draw(st.integers(1, 4))))
        cpd = data.draw(noisy_cpds(child, parents))
    states = data.draw(positions(parents))
    chain = chain_form(cpd, states=states)
    assert chain is not None
    kept = [tuple(range(cpd.variable.n_states))]
    kept += [states.get(v.name, tuple(range(v.n_states))) for v in parents]
    expected = cpd.to_factor().values[np.ix_(*kept)]
    found = expanded(chain, cpd)
    active = [k for k, v in zip(kept, cpd.scope, strict=True) if v in found.scope]
    np.testing.assert_allclose(
        found.values[np.ix_(*active)].reshape(expected.shape), expected, rtol=0, atol=1e-14
    )


def test_partial_results_are_few() -> None:
    parents = tuple(Variable(f"X{i}", YES) for i in range(30))
    chain = chain_form(FunctionalCPD.sum_of("S", parents))
    assert chain is not None
    assert sum(table.n_cells for table in chain) == 2 * sum((i + 1) * (i + 2) for i in range(1, 30))
    few = chain_form(FunctionalCPD(Variable("T", YES), parents, Threshold(2)), name="seen")
    assert few is not None
    assert max(table.n_cells for table in few) == 18
    assert few[0].variable.name == "seen_2"
    either = chain_form(noisy_or(Variable("Y", YES), parents, np.full(30, 0.1)))
    assert either is not None
    assert {table.n_cells for table in either} == {8}


def test_large_tables_and_functions_without_steps_have_no_chain() -> None:
    class Own:
        def __call__(self, *arguments: Positions) -> Positions:
            return arguments[0]

        def restrict(self, states: Sequence[Sequence[int]]) -> Function:
            return Restricted.of(self, states)

    parents = tuple(Variable(f"X{i}", YES) for i in range(5))
    assert chain_form(FunctionalCPD(Variable("Y", YES), parents, Own())) is None
    assert chain_form(FunctionalCPD.sum_of("S", parents), max_cells=27) is None
    assert chain_form(FunctionalCPD.sum_of("S", parents), max_cells=28) is not None
    assert chain_form(FunctionalCPD.sum_of("S", parents[:2]), max_cells=3) is None
    noisy = noisy_or(Variable("Y", YES), parents, [0.5] * 5)
    assert chain_form(noisy, max_cells=31) is None
    assert chain_form(noisy, max_cells=32) is not None


@settings(max_examples=examples(150))
@given(cpds(), st.data())
def test_an_observed_chain_is_the_table_at_the_observed_state(
    cpd: CPD, data: st.DataObject
) -> None:
    known = {cpd.variable.name: data.draw(st.integers(0, cpd.variable.n_states - 1))}
    for v in cpd.parents:
        if data.draw(st.booleans()):
            known[v.name] = data.draw(st.integers(0, v.n_states - 1))
    hidden = [v for v in cpd.parents if v.name not in known]
    place = {v.name: i for i, v in enumerate(data.draw(st.permutations(hidden)))}
    chain = observed_chain(cpd, known, "before", place=data.draw(st.sampled_from([place, None])))
    table = cpd.to_factor()
    expected = np.real(table.values[tuple([known.get(v.name, slice(None)) for v in table.scope])])
    if isinstance(cpd, TabularCPD):
        assert chain is None
        return
    if chain is None:
        assert place or not expected.any()
        return
    product = chain[0]
    for factor in chain[1:]:
        product = product.product(factor)
    found = product.sum_to([v.name for v in hidden]).values
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    assert all(len(factor.scope) <= 3 for factor in chain)
    assert all(np.all(factor.values >= 0) for factor in chain)


PARENTS = tuple(Variable.of_integers(f"X{i}", range(3)) for i in range(9))
BINARY = tuple(Variable(f"X{i}", ("no", "yes")) for i in range(9))
LEVELS = Variable.of_integers("Y", range(6))
LINK = np.full((6, 3), 1 / 6)


@pytest.mark.parametrize(
    ("cpd", "state", "most"),
    [
        (NoisyMaximum(LEVELS, PARENTS, (LINK,) * 9), 4, 2),
        (noisy_or(Variable("Y", ("no", "yes")), BINARY, [0.5] * 9), 1, 2),
        (FunctionalCPD(Variable.of_integers("Y", range(3)), PARENTS, Maximum()), 2, 2),
        (FunctionalCPD(Variable.of_integers("Y", range(3)), PARENTS, Maximum()), 0, 1),
        (FunctionalCPD(Variable.of_integers("Y", range(2)), BINARY, Parity()), 1, 2),
        (FunctionalCPD(Variable.of_integers("Y", range(2)), BINARY, Threshold(3)), 1, 4),
        (FunctionalCPD(Variable.of_integers("Y", range(2)), BINARY, Threshold(7)), 0, 4),
        (
            FunctionalCPD(
                Variable.of_integers("Y", range(10)), BINARY, Addition(((0, 1),) * 9, 10)
            ),
            2,
            3,
        ),
    ],
)
def test_there_are_few_partial_results(cpd: CPD, state: int, most: int) -> None:
    """Fewer than in the chain for any state of the child."""
    chain = observed_chain(cpd, {"Y": state}, "before")
    assert chain is not None
    added = {v for factor in chain for v in factor.scope if v not in cpd.parents}
    assert max(v.n_states for v in added) == most
    general = chain_form(cpd)
    assert general is not None
    before = {v for link in general[:-1] for v in link.scope if v not in cpd.parents}
    assert most <= max(v.n_states for v in before)
