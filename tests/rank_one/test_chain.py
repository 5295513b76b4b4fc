"""Chains of partial results: their product is the table, and they are small."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.pgm import (
    CPD,
    Factor,
    Function,
    FunctionalCPD,
    Restricted,
    TabularCPD,
    Threshold,
    Variable,
    noisy_or,
)
from bnmind.pgm.stepwise import Positions
from bnmind.rank_one import chain_form
from tests.modes import examples
from tests.networks import functional_cpds, noisy_cpds, variable_tuples
from tests.rank_one.test_forms import cpds, positions

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
