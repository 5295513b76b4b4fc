"""Searches with bounds of any memory, down to none, against enumeration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.junction import RandomizedGreedy
from bnmind.junction.search import Progress
from bnmind.junction.search_bounds import LogTables, SearchProblem, log_tables, shifted_tables
from bnmind.junction.search_kernel import changed_values, dive
from bnmind.pgm import Factor, FactorModel, Variable
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
        assert not progress.found()
        return
    assert progress.value == pytest.approx(math.log(largest), rel=1e-9, abs=1e-9)
    assert at_positions(tables, joint, progress.found()[0][1]) == pytest.approx(largest, rel=1e-9)


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
    scopes = [set(table.scope) for table in tables.tables]
    assert not any(one <= other for one in scopes for other in scopes if one is not other)
    for at in np.ndindex(*tables.sizes):
        value = at_positions(tables, joint, at)
        assert math.exp(tables.value(at)) == pytest.approx(value, rel=1e-9)
        possible += value > 0
    assert possible == np.count_nonzero(joint.values)


def test_two_tables_are_shifted_until_their_bound_is_the_largest_sum() -> None:
    a, b, c = (Variable(name, ("0", "1", "2")) for name in "abc")
    # One table prefers the first state of b, and the other one the last.
    table = np.array([[8.0, 2.0, 1.0], [5.0, 3.0, 1.0], [9.0, 1.0, 0.5]])
    model = FactorModel((Factor((a, b), table), Factor((b, c), table.T[::-1])))
    tables = tables_of(model)
    problem = SearchProblem(
        tables=tables, is_summed=(False,) * 3, finder=RandomizedGreedy(), max_cells=1
    )
    bound = tables.constant + sum(float(table.values.max()) for table in problem.shifted)
    largest = math.log(joint_of(model).values.real.max())
    assert bound == pytest.approx(largest, abs=1e-6)
    before = tables.constant + sum(float(table.values.max()) for table in tables.tables)
    assert before > largest + 0.01


@settings(max_examples=examples(40))
@given(factor_models(), st.integers(1, 10**6))
def test_a_dive_and_its_neighbors_have_the_values_of_their_states(model: Any, seed: int) -> None:
    tables = tables_of(model)
    if tables.constant == -math.inf:
        return
    problem = SearchProblem(
        tables=tables,
        is_summed=(False,) * len(tables.sizes),
        finder=RandomizedGreedy(),
        max_cells=1,
    )
    tree = problem.level(0).tree
    states = np.zeros(len(tree.sizes), dtype=np.int64)
    noise = np.random.default_rng(seed).gumbel(size=int(tree.sizes.sum()))
    value = dive(tree, states, 3.0 * noise)
    assume(value > -math.inf)
    starts, changes = tree.choice_starts, changed_values(tree, states)
    for node in range(1, len(states)):
        for state in range(tree.sizes[node]):
            at = np.zeros(len(tables.sizes), dtype=np.int64)
            at[tree.variables] = states[1:]
            at[tree.variables[node - 1]] = state
            change = changes[starts[node] + state]
            assert value + change == pytest.approx(tables.value(at.tolist()), abs=1e-9)


def test_a_sum_that_is_divided_leaves_a_chain_of_the_others() -> None:
    hidden, *others = (Variable(name, ("0", "1", "2")) for name in "habc")
    rng = np.random.default_rng(2)
    model = FactorModel(tuple(Factor((hidden, v), rng.random((3, 3))) for v in others))
    tables = tables_of(model)
    problem = SearchProblem(
        tables=tables,
        is_summed=tuple(v.name == "h" for v in tables.variables),
        finder=RandomizedGreedy(),
        max_cells=1,
    )
    level = problem.level(0)
    assert sorted(tables.variables[v].name for v in level.tree.variables) == ["a", "b", "c"]
    assert level.tree.ends.tolist() == [4, 4, 4, 4]
    joint = joint_of(model).sum_to(["a", "b", "c"])
    progress = Progress(problem, 2**12, lambda at: math.log(at_positions(tables, joint, at)))
    while not progress.is_done:
        progress.advance(10)
    assert progress.value == pytest.approx(math.log(joint.values.real.max()))


def test_a_state_that_two_tables_exclude_together_does_not_raise_the_bound() -> None:
    """What other tables hold for it would be the largest numbers there."""
    x, y, z = (Variable(name, ("0", "1")) for name in "xyz")
    potentials = (
        Factor((x, y), np.array([[0.9, 0.5], [0.9, 0.0]])),
        Factor((x, y), np.array([[0.1, 0.5], [0.0, 0.5]])),
        Factor((x, z), np.array([[0.9, 0.1], [0.5, 0.5]])),
    )
    tables = tables_of(FactorModel(potentials))
    shifted = shifted_tables(tables.tables, tables.sizes)
    bound = tables.constant + sum(float(t.values.max()) for t in shifted)
    assert bound == pytest.approx(math.log(0.25 * 0.9))
