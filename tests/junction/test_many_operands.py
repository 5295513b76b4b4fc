"""Contractions of many operands, against one `numpy.einsum`."""

from __future__ import annotations

import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.program.contraction as recipes
from bnmind.junction import compile_plan
from bnmind.junction.program.contraction import FEW_OPERANDS, ProgramBuilder, multiplied_to_few
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
    few = data.draw(st.integers(1, 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recipes, "FEW_OPERANDS", few)
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


def test_a_thousand_operands_are_paired_without_comparing_all_pairs() -> None:
    rng = np.random.default_rng(0)
    masks = [sum(1 << int(v) for v in rng.choice(20, size=3, replace=False)) for _ in range(1000)]
    masks = list(dict.fromkeys(masks))
    n = len(masks)
    calls = 0

    def size(mask: int) -> int:
        nonlocal calls
        calls += 1
        return 1 << mask.bit_count()

    def multiply(i: int, j: int, needed: int) -> int:
        masks.append((masks[i] | masks[j]) & needed)
        return len(masks) - 1

    left = multiplied_to_few(range(n), masks, 0, (size, multiply))
    assert len(left) == FEW_OPERANDS
    # All pairs at every step would be n³/6, some 10⁸.
    assert calls < n**2
    union = 0
    for register in left:
        union |= masks[register]
    assert max(masks[register].bit_count() for register in left) < 20 == union.bit_count()


def test_operands_that_stand_apart_are_left_alone() -> None:
    masks = [1 << v | 2 << v for v in range(50)]

    def multiply(i: int, j: int, needed: int) -> int:
        assert not {i, j} & {3, 4}
        masks.append((masks[i] | masks[j]) & needed)
        return len(masks) - 1

    left = multiplied_to_few(
        range(50), masks, 1, (lambda mask: 1 << mask.bit_count(), multiply), apart={3, 4}
    )
    assert {3, 4} <= set(left)
    assert len(left) == FEW_OPERANDS + 2
    # What one of them holds is not summed out.
    held = 0
    for register in set(left) - {3, 4}:
        held |= masks[register]
    assert held >> 3 & 1
    assert held >> 5 & 1


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
