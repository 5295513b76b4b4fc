"""Conditional distributions: a table and a function say the same, whole or restricted."""

from __future__ import annotations

import copy
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.pgm import (
    CPD,
    Addition,
    Equality,
    FunctionalCPD,
    Maximum,
    NoisyMaximum,
    NoisyMinimum,
    TabularCPD,
    Variable,
)
from bnmind.pgm.functions import Steps
from tests.networks import functional_cpds, noisy_cpds, tabular_cpds, variable_tuples

A = Variable("A", ("x", "y"))
B = Variable("B", ("0", "1", "2"))
SUM = FunctionalCPD(Variable.of_integers("S", range(4)), (A, B), Addition(((0, 1), (0, 1, 2)), 4))


def table(values: object, *parents: Variable, variable: Variable = A) -> TabularCPD:
    return TabularCPD(variable, parents, np.array(values))


def test_a_nearly_normalized_table_is_normalized() -> None:
    cpd = table([0.3333333, 0.6666666])
    assert cpd.values.sum() == pytest.approx(1, abs=1e-15)
    with pytest.raises(InvalidModelError, match=r"got a sum of 1\.009"):
        table([0.5, 0.509])


@given(variable_tuples(max_size=3), st.data())
def test_pickling_changes_no_digit(scope: tuple[Variable, ...], data: st.DataObject) -> None:
    cpd = data.draw(tabular_cpds(scope[0], scope[1:]))
    for again in (pickle.loads(pickle.dumps(cpd)), copy.deepcopy(cpd)):
        np.testing.assert_array_equal(again.values, cpd.values)
        assert not again.values.flags.writeable


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0.5, 0.2, 0.3], r"shape \(2,\) as the table of A, got \(3,\)"),
        ([-0.5, 1.5], "must hold probabilities"),
        ([np.nan, 1.0], "must hold probabilities"),
        ([np.inf, 0.0], "must hold probabilities"),
        ([0.0, 0.0], "got a sum of 0"),
    ],
)
def test_faults_of_a_table(values: list[float], message: str) -> None:
    with pytest.raises(InvalidModelError, match=message):
        table(values)


def test_all_faults_of_a_table_are_reported_together() -> None:
    with pytest.raises(InvalidModelError) as caught:
        table([[1.0]], A)
    assert len(caught.value.problems) == 2


def test_cutting_possible_states_of_a_table_is_rejected() -> None:
    with pytest.raises(InvalidModelError, match="sum to one"):
        table([0.5, 0.5]).restrict({"A": (0,)})


def test_a_row_that_needs_cut_states_is_normalized() -> None:
    """As for functions: the parents' configuration must be impossible, so any row will do."""
    cpd = table([[0.5, 1, 0], [0.5, 0, 0], [0, 0, 1]], B, variable=Variable("C", ("0", "1", "2")))
    cut = cpd.restrict({"C": (1, 2)})
    assert cut.values.tolist() == [[1, 0.5, 0], [0, 0.5, 1]]
    with pytest.raises(InvalidModelError, match="sum to one"):
        cpd.restrict({"C": (1,)})


@given(variable_tuples(max_size=4), st.data())
def test_restricting_a_table_is_slicing(scope: tuple[Variable, ...], data: st.DataObject) -> None:
    cpd = data.draw(tabular_cpds(scope[0], scope[1:]))
    states, kept = _kept(data, scope[1:])
    sliced = cpd.values[np.ix_(range(scope[0].n_states), *kept)]
    # Only impossible states of the child may go.
    possible = np.flatnonzero(sliced.reshape(len(sliced), -1).max(axis=1)).tolist()
    if data.draw(st.booleans()):
        states[scope[0].name] = possible
        sliced = sliced[possible]
    _same(cpd.restrict(states), sliced)


@given(variable_tuples(max_size=4), st.data())
def test_restricting_a_function_is_slicing_its_table(
    parents: tuple[Variable, ...], data: st.DataObject
) -> None:
    cpd = data.draw(functional_cpds(parents))
    states, kept = _kept(data, parents)
    sliced = cpd.to_factor().values[np.ix_(range(cpd.variable.n_states), *kept)]
    seen = np.flatnonzero(np.real(sliced).reshape(len(sliced), -1).max(axis=1)).tolist()
    if data.draw(st.booleans()):
        states["Y"] = data.draw(st.permutations(seen))
        sliced = sliced[states["Y"]]
    restricted = cpd.restrict(states)
    _same(restricted, sliced)
    if any(len(positions) > 1 for positions in kept):
        assert isinstance(restricted, FunctionalCPD)
        further, kept = _kept(data, restricted.parents)
        _same(
            restricted.restrict(further),
            np.asarray(restricted.to_factor().values)[
                np.ix_(range(restricted.variable.n_states), *kept)
            ],
        )


@given(variable_tuples(max_size=3), st.data())
def test_rows_that_need_no_cut_result_stay(
    parents: tuple[Variable, ...], data: st.DataObject
) -> None:
    """Configurations of the parents with a result cut away are impossible: any value will do."""
    cpd = data.draw(functional_cpds(parents))
    whole = np.real(cpd.to_factor().values)
    assume(any(v.n_states > 1 for v in parents))
    results = data.draw(
        st.lists(st.integers(0, cpd.variable.n_states - 1), min_size=1, unique=True)
    )
    cut = np.real(cpd.restrict({"Y": results}).to_factor().values)
    shape = [n for n in whole.shape[1:] if n > 1]
    sliced = whole[results].reshape(len(results), *shape)
    remains = sliced.sum(axis=0) == 1
    np.testing.assert_array_equal(cut[:, remains], sliced[:, remains])
    np.testing.assert_array_equal(cut.sum(axis=0), 1)


@given(variable_tuples(max_size=4), st.data())
def test_the_table_of_a_function_has_its_values(
    parents: tuple[Variable, ...], data: st.DataObject
) -> None:
    cpd = data.draw(functional_cpds(parents))
    values = cpd.to_tabular().values
    assert values.size == cpd.n_cells
    for cell in itertools.product(*(range(v.n_states) for v in parents)):
        column = np.moveaxis(values, 0, -1)[cell]
        assert column.tolist() == [
            float(state == cpd.value(cell)) for state in range(cpd.variable.n_states)
        ]


def test_a_certain_result_that_is_cut_away_is_refused() -> None:
    with pytest.raises(InvalidModelError, match="table of S to sum to one"):
        SUM.restrict({"A": (0,), "B": (1,), "S": (0, 3)})


def test_a_table_too_large_is_refused_before_it_is_made() -> None:
    parents = tuple(Variable.of_integers(f"X{i}", range(10)) for i in range(12))
    cpd = FunctionalCPD(Variable("Y", ("0", "1")), parents, Equality())
    with pytest.raises(TooLargeError, match="2,000,000,000,000 in the table of Y given X0") as got:
        cpd.to_factor()
    assert (got.value.needed, got.value.budget) == (2 * 10**12, 2**25)
    with pytest.raises(TooLargeError):
        SUM.to_tabular(max_cells=23)
    assert SUM.to_tabular(max_cells=24).n_cells == 24


@pytest.mark.parametrize(
    ("parents", "function", "message"),
    [
        ((), Maximum(), "at least one parent"),
        ((A, A), Maximum(), "distinct variables"),
        ((B,), Maximum(), "results below 2 for C, got 2"),
        ((A,), Addition(((0, 1), (0, 1)), 2), "function of 1 parents"),
        ((B,), Addition(((0, 1),), 2), "function of 1 parents"),
    ],
)
def test_faults_of_a_function(
    parents: tuple[Variable, ...], function: Addition | Maximum, message: str
) -> None:
    with pytest.raises(InvalidModelError, match=message):
        FunctionalCPD(Variable("C", ("0", "1")), parents, function)


def test_a_result_anywhere_beyond_the_states_is_seen() -> None:
    """Not at the corners: the sum of the last positions is 0 again, modulo 3."""
    with pytest.raises(InvalidModelError, match="results below 2 for C, got 2"):
        FunctionalCPD(Variable("C", ("0", "1")), (A, B), Addition(((0, 1), (0, 1, 2)), 3))


def test_sums_that_must_fit_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Following 500 counts of 255 pegs of 255 colors took a minute."""
    monkeypatch.setattr(Steps, "follow", None)
    pegs = tuple(Variable.of_integers(f"H{j}", range(255)) for j in range(255))
    red = Addition(((1, *(0,) * 254),) * 255, 256)
    count = FunctionalCPD(Variable.of_integers("C", range(256)), pegs, red)
    assert count.value([0] * 255) == 255
    with pytest.raises(TypeError):  # it is looked for where it may not fit
        FunctionalCPD(Variable.of_integers("C", range(255)), pegs, Addition(red.terms, 256, 200))


@given(variable_tuples(max_size=4), st.data())
def test_possible_states_are_those_of_the_table(
    parents: tuple[Variable, ...], data: st.DataObject
) -> None:
    cpd: FunctionalCPD | NoisyMaximum | NoisyMinimum
    if data.draw(st.booleans()):
        cpd = data.draw(functional_cpds(parents))
    else:
        child = Variable.of_integers("Y", range(data.draw(st.integers(1, 4))))
        cpd = data.draw(noisy_cpds(child, parents))
    _, kept = _kept(data, cpd.scope)
    table = cpd.to_factor().values[np.ix_(*kept)]
    np.testing.assert_allclose(cpd.table_on(kept), table, rtol=0, atol=1e-15)
    for axis, (old, found) in enumerate(zip(kept, cpd.possible(kept), strict=True)):
        there = np.moveaxis(table, axis, 0).reshape(len(old), -1).any(axis=1)
        assert found == tuple(np.asarray(old)[there].tolist())


def test_large_functions_are_pruned_without_a_table() -> None:
    parents = tuple(Variable.of_integers(f"X{i}", range(4)) for i in range(60))
    cpd = FunctionalCPD.sum_of("S", parents)
    child, *rest = cpd.possible([(0, 179)] + [tuple(range(4))] * 60)
    assert child == (0, 179)
    assert set(rest) == {(0, 2, 3)}


def test_functions_are_values() -> None:
    assert pickle.loads(pickle.dumps(SUM)) == SUM


def _kept(
    data: st.DataObject, scope: tuple[Variable, ...]
) -> tuple[dict[str, list[int]], list[list[int]]]:
    """Return states to keep by name for some variables, and for all of them in order."""
    states: dict[str, list[int]] = {}
    kept = []
    for variable in scope:
        whole = list(range(variable.n_states))
        kept.append(whole)
        if data.draw(st.booleans()):
            kept[-1] = data.draw(st.lists(st.sampled_from(whole), min_size=1, unique=True))
            states[variable.name] = kept[-1]
    return states, kept


def _same(restricted: CPD, sliced: np.ndarray[tuple[int, ...], np.dtype[np.inexact]]) -> None:
    single = tuple(axis for axis in range(1, sliced.ndim) if sliced.shape[axis] == 1)
    np.testing.assert_allclose(
        np.real(restricted.to_factor().values),
        np.real(sliced).squeeze(axis=single),
        rtol=0,
        atol=1e-15,
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["high", "low"], "array of numbers in the table of A"),
        ([0.5, 0.5j], "real numbers in the table of A, got complex"),
        ([[0.5], [0.2, 0.3]], "array of numbers in the table of A"),
    ],
)
def test_tables_hold_real_numbers(values: Any, words: str) -> None:
    with pytest.raises(InvalidModelError, match=words):
        TabularCPD(A, (), values)
