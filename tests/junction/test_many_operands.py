"""Contractions of many operands, against one `numpy.einsum`."""

from __future__ import annotations

import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.contraction as contraction
from bnmind.junction import compile_plan
from bnmind.junction.contraction import ProgramBuilder
from tests.large_networks import competition_answers, competition_model
from tests.modes import examples


@settings(max_examples=examples(150))
@given(st.data())
def test_many_operands_contract_to_what_einsum_says(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=6))
    variables = st.lists(st.integers(0, len(sizes) - 1), unique=True, min_size=1, max_size=3)
    scopes = [tuple(scope) for scope in data.draw(st.lists(variables, min_size=3, max_size=12))]
    keep = data.draw(st.frozensets(st.integers(0, len(sizes) - 1)))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    tables = [rng.random([sizes[v] for v in scope]) for scope in scopes]
    few = data.draw(st.integers(2, 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contraction, "FEW_OPERANDS", few)
        builder = ProgramBuilder(sizes, list(scopes))
        result = builder.contract(range(len(scopes)), keep)
    assert result is not None
    program = builder.build([result])
    held = sorted({v for scope in scopes for v in scope if v in keep})
    letters = string.ascii_letters
    spec = ",".join("".join(letters[v] for v in scope) for scope in scopes)
    out = "".join(letters[v] for v in program.scopes[result])
    assert sorted(program.scopes[result]) == held
    found = program.run(tables)[0][result]
    np.testing.assert_allclose(found, np.einsum(f"{spec}->{out}", *tables, optimize=True))


def test_a_thousand_operands_are_small_products_until_few_are_left() -> None:
    rng = np.random.default_rng(0)
    scopes = [tuple(rng.choice(20, size=3, replace=False).tolist()) for _ in range(1000)]
    builder = ProgramBuilder([2] * 20, list(scopes))
    result = builder.contract(range(1000), frozenset())
    assert result is not None
    program = builder.build([result])
    assert program.multiplications < 20 * 2**20
    assert sum(program.cells(r) > 2**16 for r in range(1000, len(program.scopes))) < 20


@pytest.mark.slow
def test_a_clique_of_hundreds_of_tables_is_planned_in_seconds() -> None:
    """Alchemy_11: 860 tables on 440 variables, 20 of which are in one clique with most others."""
    model, evidence = competition_model("Alchemy_11")
    assert not evidence
    plan = compile_plan(model)
    assert plan.total_size < 2**21
    assert plan.memory < 2**25  # the clique's table and, of that size, its stations
    found = plan.run().marginals
    for variable, answer in zip(model.variables, competition_answers("Alchemy_11"), strict=True):
        np.testing.assert_allclose(found[variable.name], answer, atol=2e-6)
