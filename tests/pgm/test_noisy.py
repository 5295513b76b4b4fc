"""Noisy extrema: their tables by definition, their parameters, and what remains of them."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bnmind.errors import ImpossibleEvidenceError, InvalidModelError, TooLargeError
from bnmind.pgm import (
    FunctionalCPD,
    Maximum,
    Minimum,
    Network,
    NoisyMaximum,
    NoisyMinimum,
    TabularCPD,
    Variable,
    noisy_and,
    noisy_or,
)
from tests.networks import noisy_cpds, variable_tuples

YES = ("no", "yes")
A, B, Y = (Variable(name, YES) for name in "ABY")


@st.composite
def cases(draw: st.DrawFn) -> NoisyMaximum | NoisyMinimum:
    child = Variable.of_integers("Y", range(draw(st.integers(1, 4))))
    return draw(noisy_cpds(child, draw(variable_tuples(max_size=3))))


@given(cases())
def test_the_table_is_the_distribution_of_the_extremum(cpd: NoisyMaximum | NoisyMinimum) -> None:
    """Summed over all the contributions."""
    extremum = max if isinstance(cpd, NoisyMaximum) else min
    expected = np.zeros([v.n_states for v in cpd.scope])
    leak, *links = cpd.contributions
    for parts in itertools.product(range(cpd.variable.n_states), repeat=len(links) + 1):
        chance = leak[parts[0], 0]
        for cell in np.ndindex(expected.shape[1:]):
            p = np.prod([link[z, x] for link, z, x in zip(links, parts[1:], cell, strict=True)])
            expected[(extremum(parts), *cell)] += chance * p
    np.testing.assert_allclose(cpd.to_factor().values, expected, rtol=1e-13, atol=0)
    np.testing.assert_allclose(cpd.to_tabular().values, expected, rtol=1e-13, atol=0)
    assert cpd.n_cells == expected.size


@given(cases())
def test_cumulative_distributions_multiply(cpd: NoisyMaximum | NoisyMinimum) -> None:
    table = cpd.to_factor().values
    if isinstance(cpd, NoisyMinimum):
        table = table[::-1]
    product = np.cumsum(table, axis=0)
    leak, *parts = cpd.cumulative()
    for cell in np.ndindex(table.shape[1:]):
        expected = leak[:, 0] * np.prod(
            [part[:, x] for part, x in zip(parts, cell, strict=True)], axis=0
        )
        if isinstance(cpd, NoisyMinimum):
            expected = expected[::-1]
        np.testing.assert_allclose(product[(slice(None), *cell)], expected, rtol=0, atol=1e-14)


@given(cases(), st.data())
def test_restricting_is_slicing(cpd: NoisyMaximum | NoisyMinimum, data: st.DataObject) -> None:
    states, kept = {}, []
    for variable in cpd.parents:
        positions = st.lists(st.integers(0, variable.n_states - 1), min_size=1, unique=True)
        kept.append(data.draw(positions))
        states[variable.name] = kept[-1]
    sliced = cpd.to_factor().values[np.ix_(range(cpd.variable.n_states), *kept)]
    possible = np.flatnonzero(sliced.reshape(len(sliced), -1).max(axis=1)).tolist()
    if data.draw(st.booleans()):
        states["Y"] = possible
        sliced = sliced[possible]
    single = tuple(axis for axis in range(1, sliced.ndim) if sliced.shape[axis] == 1)
    found = cpd.restrict(states)
    np.testing.assert_allclose(
        found.to_factor().values, sliced.squeeze(axis=single), rtol=0, atol=1e-14
    )
    assert type(found) is (type(cpd) if len(single) < len(kept) else TabularCPD)


@given(cases(), st.data())
def test_columns_that_need_no_cut_state_of_the_child_stay(
    cpd: NoisyMaximum | NoisyMinimum, data: st.DataObject
) -> None:
    assume(any(v.n_states > 1 for v in cpd.parents))
    n = cpd.variable.n_states
    results = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
    whole, cut = cpd.to_factor().values, cpd.restrict({"Y": results}).to_factor().values
    sliced = whole[results].reshape(cut.shape)
    remains = sliced.sum(axis=0) > 1 - 1e-9
    np.testing.assert_allclose(cut[:, remains], sliced[:, remains], rtol=0, atol=1e-9)


def test_the_states_of_the_child_stay_in_order() -> None:
    with pytest.raises(InvalidModelError, match=r"increasing states of Y, got \(1, 0\)"):
        noisy_or(Y, (A,), [0.5]).restrict({"Y": (1, 0)})


def test_noisy_or_and_noisy_and() -> None:
    either = noisy_or(Y, (A, B), [0.8, 0.5], leak=0.1).to_tabular().values[1]
    both = noisy_and(Y, (A, B), [0.8, 0.5], leak=0.1).to_tabular().values[1]
    np.testing.assert_allclose(either, [[0.1, 0.55], [0.82, 0.91]], rtol=1e-14)
    np.testing.assert_allclose(both, [[0.0, 0.0], [0.0, 0.36]], rtol=1e-14)


def test_small_probabilities_keep_their_digits() -> None:
    tiny = noisy_or(Y, (A, B), [1e-30, 1e-20]).to_tabular().values[1]
    np.testing.assert_allclose(tiny, [[0, 1e-20], [1e-30, 1e-20]], rtol=1e-9)


@given(variable_tuples(max_size=3))
def test_links_without_noise_are_the_extremum(parents: tuple[Variable, ...]) -> None:
    n = max(v.n_states for v in parents)
    child = Variable.of_integers("Y", range(n))
    links = tuple(np.eye(n)[:, : v.n_states] for v in parents)
    for kind, function in ((NoisyMaximum, Maximum()), (NoisyMinimum, Minimum())):
        expected = FunctionalCPD(child, parents, function).to_factor()
        assert kind(child, parents, links).to_factor().isclose(expected, atol=0)


@given(cases())
def test_copies_are_the_same(cpd: NoisyMaximum | NoisyMinimum) -> None:
    for again in (pickle.loads(pickle.dumps(cpd)), copy.deepcopy(cpd)):
        assert type(again) is type(cpd)
        for one, other in zip(again.contributions, cpd.contributions, strict=True):
            np.testing.assert_array_equal(one, other)
            assert not one.flags.writeable


def test_all_faults_are_reported_together() -> None:
    with pytest.raises(InvalidModelError) as caught:
        NoisyMaximum(Y, (A, A), (np.eye(2), np.eye(3)), np.array([0.5, 0.4]))
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    ("links", "leak", "message"),
    [
        ((), None, "expected 1 links for Y, got 0"),
        ((np.eye(3),), None, r"shape \(2, 2\) as the link from A to Y, got \(3, 3\)"),
        (
            ([[1, 2], [0, -1]],),
            None,
            "the link from A to Y must hold probabilities, numbers from 0 to 1, got -1 for",
        ),
        (
            ([[1, 0.5], [0, 0.4]],),
            None,
            r"the link from A to Y to sum to one .* a sum of 0\.9 given",
        ),
        (([[1, 0.5], [0]],), None, "an array of numbers in the link from A to Y"),
        ((np.eye(2),), [0.5, 0.6], r"the leak of Y to sum to one, got a sum of 1\.1"),
        (
            (np.eye(2),),
            [np.nan, 1],
            "the leak of Y must hold probabilities, numbers from 0 to 1, got nan",
        ),
    ],
)
def test_faults(links: tuple[np.ndarray, ...], leak: object, message: str) -> None:
    with pytest.raises(InvalidModelError, match=message):
        NoisyMaximum(Y, (A,), links, leak)  # type: ignore[arg-type]


def test_faults_of_a_noisy_or() -> None:
    three = Variable("three", ("a", "b", "c"))
    with pytest.raises(InvalidModelError) as caught:
        noisy_or(Y, (three,), [0.5, 1.5])
    assert caught.value.problems == (
        "expected two states of three, got 3",
        "expected 1 probabilities for Y, got 2",
        "the probabilities and the leak of Y must be in [0, 1]",
    )
    with pytest.raises(InvalidModelError, match="Y must have at least one parent"):
        noisy_or(Y, (), [])


def test_a_table_too_large_is_refused_before_it_is_made() -> None:
    parents = tuple(Variable(f"X{i}", YES) for i in range(40))
    cpd = noisy_or(Y, parents, np.full(40, 0.1))
    with pytest.raises(TooLargeError, match="in the table of Y given X0"):
        cpd.to_factor()
    small = cpd.restrict({v.name: (1,) for v in parents[2:]})
    assert small.n_cells == 8
    assert small.to_factor().values[0, 0, 0] == pytest.approx(0.9**38, rel=1e-13)
    child, *rest = cpd.possible([(0, 1)] + [(0,)] * 40)
    assert child == (0,)
    assert rest == [(0,)] * 40


def test_networks_accept_noisy_extrema() -> None:
    half = [0.5, 0.5]
    a, b = (TabularCPD(v, (), np.array(half)) for v in (A, B))
    network = Network((noisy_or(Y, (A, B), [1.0, 0.5]), a, b))
    assert network.given({"A": "yes"}).cpd("Y").to_factor().values[1].tolist() == [1, 1]
    with pytest.raises(ImpossibleEvidenceError, match="excludes Y=no"):
        network.given({"A": "yes", "B": "no", "Y": "no"})
