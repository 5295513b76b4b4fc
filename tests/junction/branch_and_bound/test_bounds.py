"""Searches with bounds of any memory, down to none, against enumeration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.junction import RandomizedGreedy
from bnmind.junction.branch_and_bound.cost_shifting import shifted_tables
from bnmind.junction.branch_and_bound.log_tables import LogTables, log_tables
from bnmind.junction.branch_and_bound.problem import SearchProblem
from bnmind.junction.branch_and_bound.progress import Progress
from bnmind.pgm import Factor
from tests.junction.branch_and_bound.test_search import factor_models, joint_of
from tests.modes import examples


def tables_of(model: Any) -> LogTables:
    """Return the logarithmic tables of a model without evidence."""
    return log_tables(model.potentials, model.variables, {}, {})


def at_positions(tables: LogTables, joint: Factor, positions: Any) -> float:
    """Return the value of the joint at positions among the possible states."""
    number = {v.name: i for i, v in enumerate(tables.variables)}
    states = {
        name: int(tables.states[number[name]][positions[number[name]]]) for name in joint.names
    }
    return float(joint.select(states).values.real)


@settings(max_examples=examples(30))
@given(factor_models(), st.data(), st.sampled_from([1, 16, 64, 10**6]), st.integers(1, 60))
def test_all_bounds_are_valid_and_the_search_ends_with_the_maximum(
    model: Any, data: st.DataObject, max_cells: int, nodes: int
) -> None:
    tables = tables_of(model)
    names = [v.name for v in model.variables]
    targets = data.draw(st.just(names) | st.lists(st.sampled_from(names), unique=True, min_size=1))
    joint = joint_of(model).sum_to(targets)
    largest = float(joint.values.real.max())
    problem = SearchProblem(
        tables=tables,
        is_summed=tuple(name not in targets for name in names),
        finder=RandomizedGreedy(),
        max_cells=max_cells,
    )

    def evaluate(positions: Any) -> float:
        value = at_positions(tables, joint, positions)
        return math.log(value) if value > 0 else -math.inf

    progress = Progress(problem, 2**12, evaluate)
    while not progress.is_done:
        progress.advance(nodes)
        assert progress.bound >= (math.log(largest) if largest > 0 else -math.inf) - 1e-9
    assert progress.bound == progress.value
    if largest == 0:
        assert progress.positions is None
        return
    assert progress.value == pytest.approx(math.log(largest), rel=1e-9, abs=1e-9)
    assert at_positions(tables, joint, progress.positions) == pytest.approx(largest, rel=1e-9)


@settings(max_examples=examples(25))
@given(factor_models())
def test_shifting_costs_keeps_every_sum_and_never_raises_the_bound(model: Any) -> None:
    tables = tables_of(model)
    shifted = shifted_tables(tables.tables, tables.sizes)
    rng = np.random.default_rng(1)
    for _ in range(20):
        at = [int(rng.integers(size)) for size in tables.sizes]
        values = [float(t.values[tuple(at[v] for v in t.scope)]) for t in shifted]
        moved = math.fsum([tables.constant, *values])
        assert moved == pytest.approx(tables.value(at), abs=1e-9)
    before, after = (sum(float(t.values.max()) for t in each) for each in (tables.tables, shifted))
    assert after <= before + 1e-9


@settings(max_examples=examples(25))
@given(factor_models())
def test_tables_without_impossible_states_have_the_values_of_the_model(model: Any) -> None:
    tables = tables_of(model)
    joint = joint_of(model)
    possible = 0
    for at in np.ndindex(*tables.sizes):
        value = at_positions(tables, joint, at)
        assert math.exp(tables.value(at)) == pytest.approx(value, rel=1e-9)
        possible += value > 0
    assert possible == np.count_nonzero(joint.values)
