"""Factors: the algebra of products and sums, signed and complex values, immutability."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidModelError, UnknownNameError
from bnmind.pgm import Factor, SparseFactor, Variable
from tests.networks import factors, variable_tuples

A = Variable("A", ("x", "y"))
B = Variable("B", ("0", "1", "2"))


def over(variable: Variable, values: list[float]) -> Factor:
    return Factor((variable,), np.array(values))


@st.composite
def factor_pairs(draw: st.DrawFn, *, count: int = 2) -> tuple[Factor, ...]:
    """Return factors over subsets of the same few variables."""
    variables = draw(variable_tuples(max_size=4, max_states=3))
    scopes = st.lists(st.sampled_from(variables), unique=True).map(tuple)
    kinds = st.booleans()
    return tuple(draw(factors(draw(scopes), complex_values=draw(kinds))) for _ in range(count))


@given(factor_pairs())
def test_the_product_commutes(pair: tuple[Factor, Factor]) -> None:
    left, right = pair
    assert left.product(right).isclose(right.product(left))


@given(factor_pairs(count=3))
def test_the_product_associates(triple: tuple[Factor, Factor, Factor]) -> None:
    first, second, third = triple
    assert first.product(second).product(third).isclose(first.product(second.product(third)))


@given(factor_pairs())
def test_the_product_multiplies_cell_by_cell(pair: tuple[Factor, Factor]) -> None:
    left, right = pair
    product = left.product(right)
    for cell in np.ndindex(product.values.shape):
        at = dict(zip(product.names, cell, strict=True))
        expected = left.select(at).values * right.select(at).values
        assert product.values[cell] == pytest.approx(complex(expected))


@given(factor_pairs(), st.data())
def test_the_order_of_summing_out_is_irrelevant(
    pair: tuple[Factor, Factor], data: st.DataObject
) -> None:
    product = pair[0].product(pair[1])
    kept = data.draw(
        st.lists(st.sampled_from(product.names), unique=True) if product.names else st.just([])
    )
    gone = data.draw(st.permutations([name for name in product.names if name not in kept]))
    stepwise = product
    for name in gone:
        stepwise = stepwise.sum_to([other for other in stepwise.names if other != name])
    at_once = product.sum_to(kept)
    assert at_once.names == tuple(kept)
    assert stepwise.isclose(at_once)


@given(factor_pairs())
def test_a_variable_of_one_factor_is_summed_out_of_it_alone(pair: tuple[Factor, Factor]) -> None:
    left, right = pair
    shared = [name for name in right.names if name in left.names]
    late = left.product(right).sum_to(left.names)
    assert late.isclose(left.product(right.sum_to(shared)))


@given(factor_pairs(count=1), st.data())
def test_selecting_takes_a_slice(single: tuple[Factor], data: st.DataObject) -> None:
    (factor,) = single
    at = {
        v.name: data.draw(st.integers(0, v.n_states - 1))
        for v in factor.scope
        if data.draw(st.booleans())
    }
    part = factor.select(at | {"elsewhere": 7})
    assert part.names == tuple(name for name in factor.names if name not in at)
    index = tuple(at.get(name, slice(None)) for name in factor.names)
    np.testing.assert_array_equal(part.values, factor.values[index])


@given(factor_pairs(count=1), st.data())
def test_transposing_keeps_the_function(single: tuple[Factor], data: st.DataObject) -> None:
    (factor,) = single
    turned = factor.transpose(data.draw(st.permutations(factor.names)))
    assert turned.isclose(factor, atol=0)
    np.testing.assert_array_equal(turned.transpose(factor.names).values, factor.values)


@given(factor_pairs(count=1))
def test_the_sparse_form_holds_the_nonzero_entries(single: tuple[Factor]) -> None:
    (factor,) = single
    sparse = SparseFactor.from_factor(factor)
    assert len(sparse.values) == np.count_nonzero(factor.values)
    assert sparse.share == np.count_nonzero(factor.values) / factor.values.size
    np.testing.assert_array_equal(sparse.to_factor().values, factor.values)


def test_copies_keep_their_arrays_read_only() -> None:
    factor = over(A, [1.0, 2.0])
    sparse = SparseFactor.from_factor(factor)
    for again in (copy.deepcopy(factor), pickle.loads(pickle.dumps(factor))):
        assert not again.values.flags.writeable
    for thin in (copy.deepcopy(sparse), pickle.loads(pickle.dumps(sparse))):
        assert not thin.values.flags.writeable
        assert not thin.configurations.flags.writeable


def test_values_are_copied() -> None:
    values = np.ones(2)
    factor = Factor((A,), values)
    values[0] = 7
    assert factor.values.tolist() == [1, 1]


def test_all_faults_are_reported_together() -> None:
    with pytest.raises(InvalidModelError) as caught:
        Factor((A, A), np.array([np.nan]))
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("configurations", "values"),
    [([[0]], [1.0, 2.0]), ([[2]], [1.0]), ([[-1]], [1.0]), ([[0], [0]], [1.0, 2.0])],
)
def test_faults_of_a_sparse_factor(configurations: list[list[int]], values: list[float]) -> None:
    with pytest.raises(InvalidModelError):
        SparseFactor((A,), np.array(configurations), np.array(values))


def test_different_scopes_are_not_close() -> None:
    assert not over(A, [1, 2]).isclose(over(B, [1, 2, 3]))
    assert not over(A, [1, 2]).isclose(over(A, [1, 2.1]))


def test_an_unknown_axis_is_named() -> None:
    with pytest.raises(UnknownNameError, match="variable among A, B; got 'C'"):
        Factor((A, B), np.ones((2, 3))).axis("C")


def test_one_name_with_two_sets_of_states_is_refused() -> None:
    with pytest.raises(InvalidModelError, match="must be distinct"):
        over(A, [1, 2]).product(over(Variable("A", ("u", "v")), [1, 2]))
