"""Lists of compiled products against NumPy, and when they run."""

from __future__ import annotations

import math
import types
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import bnmind.junction.products as products_module
import bnmind.junction.runs as compiled_run
from bnmind._jit import run_plainly
from bnmind.junction import Plan, compile_plan
from bnmind.junction.compiled_query import positions_of, registers_of
from bnmind.junction.products import ProductBuilder, Term, arrange, read_only
from bnmind.junction.program import Product, Step, Sum
from bnmind.junction.runs import flat_program, should_be_flat
from bnmind.pgm import Network, TabularCPD, Variable
from tests.modes import examples
from tests.networks import networks

SIZES = (1, 2, 3, 5, 7, 8, 9, 12, 17)


@st.composite
def products(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return the variables of X, Y and C, and the sizes of all variables."""
    sizes: list[int] = []
    for size in draw(st.lists(st.sampled_from(SIZES), max_size=5)):
        if math.prod([*sizes, size]) <= 3000:
            sizes.append(size)
    inside = [draw(st.sampled_from(range(1, 8))) for _ in sizes]
    scopes = [[v for v in range(len(sizes)) if inside[v] >> term & 1] for term in range(3)]
    return [tuple(draw(st.permutations(scope))) for scope in scopes], sizes


@settings(max_examples=60, deadline=None)
@given(products(), st.sampled_from([0.0, np.inf, None]), st.integers(0, 2**32))
def test_products_are_sums_over_what_the_result_lacks(
    product: tuple[list[tuple[int, ...]], list[int]], cost: float | None, seed: int
) -> None:
    scopes, sizes = product
    rng = np.random.default_rng(seed)
    x, y = (rng.normal(size=[sizes[v] for v in scope]) for scope in scopes[:2])
    terms: list[Any] = [x, scopes[0], y, scopes[1]]
    for v, size in enumerate(sizes):
        terms += [np.ones(size), [v]]
    expected = np.asarray(np.einsum(*terms, scopes[2]))

    # Zero cells before and after must stay.
    source, target = np.concatenate([x.ravel(), y.ravel()]), np.zeros(expected.size + 20)
    target[10:-10] = np.nan
    builder = ProductBuilder(sizes)
    with pytest.MonkeyPatch.context() as patch:
        if cost is not None:  # in loops, or in tiles
            patch.setattr(products_module, "_cost_of_loops", lambda *_: cost)
            patch.setattr(products_module, "arrange", partial(run_plainly, arrange))
        builder.add(Term(0, 0, scopes[0]), Term(0, x.size, scopes[1]), Term(0, 10, scopes[2], 0))
    assert builder.build().run((read_only(source),) * 2, target, np.zeros((1, 2), dtype=np.int64))
    np.testing.assert_allclose(
        target[10:-10].reshape(expected.shape), expected, rtol=1e-10, atol=1e-10
    )
    assert not target[:10].any()
    assert not target[-10:].any()


@settings(max_examples=10, deadline=None)
@given(networks(max_variables=6, max_states=3), st.data())
def test_compiled_runs_equal_those_in_numpy(network: Network, data: st.DataObject) -> None:
    names = data.draw(st.permutations([v.name for v in network.variables]))
    n_evidence = data.draw(st.integers(0, len(names) - 1))
    plan = compile_plan(network, evidence=names[1 : n_evidence + 1], targets=[names[:1]])
    query = plan.compiled
    findings = {v.name: data.draw(st.sampled_from(v.states)) for v in query.evidence}
    inputs = registers_of(query, positions_of(query, findings), {})
    steps = [
        Step(replace(operation, overwrites=False), *registers)
        if isinstance(operation, Product)
        else Step(operation, *registers)
        for operation, *registers in query.program.steps
    ]
    program = replace(query.program, spent=((),) * len(steps), steps=tuple(steps))
    if not steps or not all(isinstance(step.operation, Product | Sum) for step in steps):
        reject()  # all variables have a single state, or there are functions
    twin: list[Any] = program.run(inputs)[0]
    compiled = flat_program(program).run_in_range(inputs)
    assert compiled is not None
    for number, expected in enumerate(twin):
        np.testing.assert_allclose(compiled[number], expected, rtol=1e-12)


def small_plan() -> Plan:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    network = Network(
        (
            TabularCPD(a, (), np.array([0.5, 0.5])),
            TabularCPD(b, (a,), np.array([[0.1, 0.7], [0.9, 0.3]])),
        )
    )
    return compile_plan(network, evidence=["b"])


def test_small_steps_are_compiled_after_some_work(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = small_plan()

    class Work:
        left = 60

        def spend(self, work: int) -> None:
            self.left -= work

    monkeypatch.setattr(compiled_run, "_work_in_numpy", Work())
    monkeypatch.setattr(compiled_run, "compiles", lambda: True)
    flags = [should_be_flat(plan.compiled.program, n_runs, 3) for n_runs in range(12)]
    assert flags == sorted(flags)
    assert flags[:3] == [False] * 3
    assert flags[-1] is True
    assert plan.run({"b": "0"})["a"]["1"] == pytest.approx(0.875)


def test_nothing_runs_in_loops_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_run, "compiles", lambda: False)
    monkeypatch.setattr(compiled_run, "_work_in_numpy", types.SimpleNamespace(left=0))
    assert not should_be_flat(small_plan().compiled.program, 100, 3)


@settings(max_examples=examples(40), deadline=None)
@given(networks(max_variables=7))
def test_registers_that_are_needed_at_once_have_cells_of_their_own(network: Network) -> None:
    compiled = compile_plan(network).compiled
    program = compiled.program
    kept = {answer.register for answer in compiled.answers if answer.register is not None}
    flat = flat_program(program, (), kept)
    needed = set(range(program.n_inputs)) | kept
    for number, spent in enumerate(program.spent, program.n_inputs):
        needed.add(number)
        places = [flat.places(register) for register in needed]
        cells = np.concatenate([place.ravel() for place in places if place is not None])
        assert len(np.unique(cells)) == len(cells)
        assert cells.max(initial=0) < flat.n_cells - 1
        needed -= set(spent) - kept
