"""Noisy nodes: their M-step against EM with explicit hidden causes, and what stays as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import TooLargeError
from bnmind.fitting import BDeu, FitOptions, Laplace, fit
from bnmind.fitting.layout import Layout
from bnmind.pgm import (
    FunctionalCPD,
    Maximum,
    Minimum,
    Network,
    NoisyMaximum,
    TabularCPD,
    Variable,
    noisy_or,
)
from tests.fitting.twin import expected_counts
from tests.modes import examples
from tests.networks import noisy_cpds, variable_tuples


def explicit(cpd: Any) -> Network:
    """Return a network of the parents, of the contributions as variables, and of their extremum."""
    child = cpd.variable
    cpds: list[Any] = []
    causes = []
    for v in cpd.parents:
        cpds.append(TabularCPD(v, (), np.full(v.n_states, 1 / v.n_states)))
    for number, part in enumerate(cpd.contributions):
        cause = Variable(f"Z{number}", child.states)
        causes.append(cause)
        parents = () if number == 0 else (cpd.parents[number - 1],)
        cpds.append(TabularCPD(cause, parents, part[:, 0] if number == 0 else part))
    extremum = Maximum() if isinstance(cpd, NoisyMaximum) else Minimum()
    return Network((*cpds, FunctionalCPD(child, tuple(causes), extremum)))


@settings(max_examples=examples(30), deadline=None)
@given(st.data())
def test_an_inner_step_is_em_with_explicit_causes(data: st.DataObject) -> None:
    variables = data.draw(variable_tuples(min_size=2, max_size=3, max_states=3))
    child, *parents = variables
    cpd = data.draw(noisy_cpds(child, tuple(parents)))
    roots = [TabularCPD(v, (), np.full(v.n_states, 1 / v.n_states)) for v in parents]
    layout = Layout.of(Network((*roots, cpd)), Laplace(0))
    (block,) = layout.noisy
    table = cpd.to_factor().values.real
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    counts = rng.integers(0, 4, table.shape) * (table > 1e-9)
    network = explicit(cpd)
    names = [v.name for v in cpd.scope]
    cases = [
        dict(zip(names, map(int, at), strict=True))
        for at in np.argwhere(counts)
        for _ in range(int(counts[tuple(at)]))
    ]
    _, expected = expected_counts(network, cases)
    own = layout.own[block.place]
    found = block.split(block.expected(own, counts.astype(float).reshape(-1)))
    for number, (part, before) in enumerate(zip(found, cpd.contributions, strict=True)):
        np.testing.assert_allclose(part, expected[f"Z{number}"].reshape(before.shape), atol=1e-9)


def test_priors_smooth_links_but_not_zeros() -> None:
    a, c = Variable("a", ("no", "yes")), Variable("c", ("no", "yes"))
    network = Network((TabularCPD(a, (), np.array([0.5, 0.5])), noisy_or(c, (a,), [0.5])))
    cases = {"a": ["yes", "yes", "no"], "c": ["yes", "yes", "no"]}
    plain = fit(network, cases, options=FitOptions(max_iterations=200)).network.cpd("c")
    smooth = fit(network, cases, prior=BDeu(8)).network.cpd("c")
    assert isinstance(plain, NoisyMaximum)
    assert isinstance(smooth, NoisyMaximum)
    assert plain.links[0][1, 1] == pytest.approx(1.0)
    # Two cases, and pseudo-counts of 8 / 4 in each cell of the link.
    assert smooth.links[0][1, 1] == pytest.approx((2 + 2) / (2 + 4))
    assert smooth.links[0][1, 0] == 0
    assert smooth.leak is not None
    assert smooth.leak.tolist() == [1, 0]


def test_large_noisy_nodes_can_be_fixed() -> None:
    parents = tuple(Variable(f"p{i}", ("no", "yes")) for i in range(19))
    child = Variable("c", ("no", "yes"))
    roots = [TabularCPD(v, (), np.array([0.5, 0.5])) for v in parents]
    network = Network((*roots, noisy_or(child, parents, [0.2] * 19, leak=0.1)))
    cases = {v.name: ["no", "yes"] for v in network.variables}
    with pytest.raises(TooLargeError, match="name it in fixed"):
        fit(network, cases)
    cases["p0"] = ["no", "no"]
    fitted = fit(network, cases, fixed=["c"])
    assert fitted.network.cpd("c") is network.cpd("c")
    assert fitted.network.cpd("p0").to_factor().values.tolist() == [1, 0]


def test_large_functions_are_not_expanded() -> None:
    """The number of heads among thirty equal coins, of which only the first is seen."""
    coins = tuple(Variable.of_integers(f"coin {i}", range(2)) for i in range(30))
    heads = FunctionalCPD.sum_of("heads", coins)
    network = Network((*(TabularCPD(v, (), np.array([0.5, 0.5])) for v in coins), heads))
    names = [v.name for v in coins]
    cases = {"coin 0": [0, 1, None], "heads": [10, 20, 15]}
    fitted = fit(network, cases, tied=[names], hidden=names[1:])
    # The maximum is the share of heads: 45 of 90.
    assert fitted.network.cpd("coin 3").to_factor().values[1] == pytest.approx(0.5, abs=1e-4)
    assert fitted.network.cpd("heads") is heads
    assert "heads" not in fitted.counts
    uneven = fit(network, {"heads": [10, 20, 12]}, tied=[names], hidden=names).network
    assert uneven.cpd("coin 3").to_factor().values[1] == pytest.approx(42 / 90, abs=1e-4)
