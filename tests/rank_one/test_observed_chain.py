"""Chains of distributions whose child is observed: their product is the table, without signs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.pgm import (
    CPD,
    Addition,
    FunctionalCPD,
    Maximum,
    NoisyMaximum,
    Parity,
    TabularCPD,
    Threshold,
    Variable,
    noisy_or,
)
from bnmind.rank_one import chain_form, observed_chain
from tests.modes import examples
from tests.rank_one.test_forms import cpds


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
    chain = observed_chain(cpd, known, place=data.draw(st.sampled_from([place, None])))
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
    chain = observed_chain(cpd, {"Y": state})
    assert chain is not None
    added = {v for factor in chain for v in factor.scope if v not in cpd.parents}
    assert max(v.n_states for v in added) == most
    general = chain_form(cpd)
    assert general is not None
    before = {v for link in general[:-1] for v in link.scope if v not in cpd.parents}
    assert most <= max(v.n_states for v in before)


def test_partial_results_have_names_of_their_own() -> None:
    parents = tuple(Variable(name, ("no", "yes")) for name in ("Y_of_1", "a", "b"))
    cpd = noisy_or(Variable("Y", ("no", "yes")), parents, [0.2, 0.5, 0.7], leak=0.1)
    chain = observed_chain(cpd, {"Y": 1})
    assert chain is not None
    names = [[v.name for v in factor.scope] for factor in chain]
    assert names == [["Y_of_1", "Y_of'_1"], ["Y_of'_1", "a", "Y_of'_2"], ["Y_of'_2", "b"]]
    with pytest.raises(InvalidArgumentError, match="Y_of_1"):
        observed_chain(cpd, {"Y": 1}, name="Y_of")


@pytest.mark.parametrize("state", [-1, 3])
def test_only_states_that_exist_are_observed(state: int) -> None:
    cpd = FunctionalCPD(Variable.of_integers("Y", range(3)), PARENTS, Maximum())
    with pytest.raises(InvalidArgumentError, match=f"a state of Y from 0 to 2, got {state}"):
        observed_chain(cpd, {"Y": state})
    with pytest.raises(InvalidArgumentError, match=f"got {state}"):
        observed_chain(cpd, {"Y": 1, PARENTS[0].name: state})
    with pytest.raises(InvalidArgumentError, match="lacks the state of Y"):
        observed_chain(cpd, {})
