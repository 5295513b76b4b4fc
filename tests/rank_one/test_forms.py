"""Rank-one forms of every kind of distribution: they expand to its table, with few terms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.pgm import (
    CPD,
    Addition,
    Equality,
    Exactly,
    Function,
    FunctionalCPD,
    Maximum,
    Minimum,
    NoisyMaximum,
    Parity,
    Restricted,
    TabularCPD,
    Threshold,
    Variable,
    noisy_or,
)
from bnmind.pgm.stepwise import Positions
from bnmind.rank_one import (
    Chebyshev,
    RankOne,
    RootsOfMinusOne,
    RootsOfUnity,
    Terms,
    rank_one_form,
)
from tests.modes import examples
from tests.networks import functional_cpds, noisy_cpds, variable_tuples


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


def form(cpd: CPD, **states: Sequence[int]) -> RankOne:
    found = rank_one_form(cpd, states=states)
    assert found is not None
    return found


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
@given(cpds(), st.sampled_from([Chebyshev(), RootsOfMinusOne()]))
def test_other_nodes_hold_where_sums_do_not_wrap(
    cpd: CPD, nodes: Chebyshev | RootsOfMinusOne
) -> None:
    found = rank_one_form(cpd, nodes=nodes)
    if isinstance(cpd, TabularCPD):
        assert found is None
        return
    assert found is not None
    function = cpd.function if isinstance(cpd, FunctionalCPD) else None
    while isinstance(function, Restricted):
        function = function.function
    if isinstance(nodes, Chebyshev):
        assert not any(np.iscomplexobj(factor.values) for factor in found.factors)
    if not isinstance(function, Addition):
        assert found.expand().isclose(cpd.to_factor(), atol=1e-11)


@pytest.mark.parametrize("nodes", [Chebyshev(), RootsOfMinusOne()])
@pytest.mark.parametrize("k", range(1, 6))
def test_counts_hold_with_any_nodes(k: int, nodes: Chebyshev | RootsOfMinusOne) -> None:
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
    for roots, power in ((RootsOfUnity()(m), 1), (RootsOfMinusOne()(m), -1)):
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
