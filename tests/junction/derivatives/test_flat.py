"""The compiled runs against their twin in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.junction import compile_derivatives
from bnmind.junction.derivatives.backward import register_program
from bnmind.junction.derivatives.flat import flat_program, should_be_flat
from bnmind.pgm import Network, TabularCPD, Variable
from tests.networks import networks


@settings(max_examples=10, deadline=None)
@given(networks(max_variables=6, max_states=3), st.data())
def test_compiled_runs_equal_those_in_numpy(network: Network, data: st.DataObject) -> None:
    names = data.draw(st.permutations([v.name for v in network.variables]))
    n_evidence = data.draw(st.integers(0, len(names) - 1))
    plan = compile_derivatives(network, target=names[0], evidence=names[1 : n_evidence + 1])
    at = {v.name: data.draw(st.integers(0, v.n_states - 1)) for v in plan.evidence}
    inputs = [table.reduced(at) for table in plan.tables]
    twin = register_program(plan.program).run(inputs, scaled=False)
    flat = flat_program(plan.program).run(inputs)
    assert plan.end is not None
    for number in range(len(plan.program.scopes)):
        # The run in NumPy forgets registers that the backward pass does not need.
        if twin.register(number).shape == flat.register(number).shape:
            np.testing.assert_allclose(flat.register(number), twin.register(number), rtol=1e-12)
    seed = np.arange(1.0, 1.0 + network.variable(names[0]).n_states)
    wanted = range(plan.program.n_inputs)
    mine, theirs = (one.adjoints(plan.end, seed, wanted)[0] for one in (flat, twin))
    for number, expected in theirs.items():
        np.testing.assert_allclose(mine[number], expected, rtol=1e-12, atol=1e-300)
    for number in mine.keys() - theirs.keys():
        assert not mine[number].any()


def test_small_steps_are_compiled_after_some_work(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = Variable("a", ("0", "1")), Variable("b", ("0", "1"))
    network = Network(
        (
            TabularCPD(a, (), np.array([0.5, 0.5])),
            TabularCPD(b, (a,), np.array([[0.1, 0.7], [0.9, 0.3]])),
        )
    )
    plan = compile_derivatives(network, target="a", evidence=["b"])

    class Work:
        left = 60

        def spend(self, work: int) -> None:
            self.left -= work

    monkeypatch.setattr("bnmind.junction.derivatives.flat._work_in_numpy", Work())
    flags = [should_be_flat(plan.program) for _ in range(9)]
    assert flags == sorted(flags)
    assert flags[0] is False
    assert flags[-1] is True
    assert plan.posterior("1", {"b": "0"}).value == pytest.approx(0.875)


def test_many_derivatives_are_bounded_by_their_factors() -> None:
    rng = np.random.default_rng(1)
    states = tuple(f"s{i}" for i in range(140))
    a, b, c = Variable("a", states), Variable("b", states), Variable("c", ("0", "1"))
    first = rng.dirichlet(np.ones(140))
    second = rng.dirichlet(np.ones(140), 140).T
    third = rng.dirichlet(np.ones(2), 140).T
    network = Network(
        (TabularCPD(a, (), first), TabularCPD(b, (a,), second), TabularCPD(c, (b,), third))
    )
    plan = compile_derivatives(network, target="a", evidence=["c"])
    run = register_program(plan.program).run(
        [table.reduced({"c": 1}) for table in plan.tables], scaled=False
    )
    assert plan.end is not None
    found, bounds = run.adjoints(plan.end, np.ones(140), range(3))
    large = next(part for part in found.values() if part.size == 140**2)
    scalars = [bound for bound in bounds if bound.ndim == 0]
    assert len(scalars) == 1
    assert large.max() <= scalars[0] < np.inf

    gradient = plan.posterior("s3", {"c": "1"})
    weights = (np.arange(140) == 3) - gradient.value
    likely = first @ (third[1] @ second)
    expected = third[1][:, None] * (weights * first) / likely
    np.testing.assert_allclose(gradient["b"], expected, rtol=1e-12, atol=1e-18)
