"""Questions about the graph of a network, compared with networkx."""

from __future__ import annotations

import pickle
from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.pgm import CPD, Network, TabularCPD, Variable
from tests.modes import examples
from tests.networks import enumerate_joint, networks

RAIN, HOSE, WET, MUD = (Variable(name, ("no", "yes")) for name in ("rain", "hose", "wet", "mud"))
GARDEN = Network(
    (
        TabularCPD(RAIN, (), [0.8, 0.2]),  # type: ignore[arg-type]
        TabularCPD(HOSE, (), [0.9, 0.1]),  # type: ignore[arg-type]
        TabularCPD(
            WET, (HOSE, RAIN), np.array([[[0.9, 0.2], [0.3, 0.1]], [[0.1, 0.8], [0.7, 0.9]]])
        ),
        TabularCPD(MUD, (WET,), [[0.9, 0.4], [0.1, 0.6]]),  # type: ignore[arg-type]
    )
)


def test_neighbors_of_a_variable() -> None:
    assert GARDEN.parents("wet") == ("hose", "rain")  # in the order of the table
    assert GARDEN.children("rain") == ("wet",)
    assert GARDEN.markov_blanket("rain") == ("hose", "wet")
    assert GARDEN.ancestors("mud") == ("rain", "hose", "wet")
    assert GARDEN.descendants(["rain", "wet"]) == ("mud",)
    assert GARDEN.parents("rain") == GARDEN.children("mud") == ()


def test_a_common_effect_connects_its_causes_once_it_or_a_descendant_is_observed() -> None:
    assert GARDEN.is_d_separated("rain", "hose")
    assert not GARDEN.is_d_separated("rain", "hose", "wet")
    assert not GARDEN.is_d_separated("rain", "hose", ["mud"])
    assert GARDEN.is_d_separated(["rain", "hose"], "mud", given=["wet"])
    assert GARDEN.d_connected("rain") == ("wet", "mud")
    assert GARDEN.d_connected("rain", ["mud"]) == ("hose", "wet")


@pytest.mark.parametrize("ask", ["parents", "children", "markov_blanket", "ancestors"])
def test_unknown_names_are_refused(ask: str) -> None:
    with pytest.raises(UnknownNameError, match="did you mean rain"):
        getattr(GARDEN, ask)("rian")


def test_sets_that_overlap_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="separated from itself: rain"):
        GARDEN.is_d_separated(["rain", "mud"], ["hose", "rain"])
    for first, second in (("rain", "mud"), ("mud", "rain")):
        with pytest.raises(InvalidArgumentError, match="cannot be asked about: rain"):
            GARDEN.is_d_separated(first, second, ["rain"])


@settings(max_examples=examples(100))
@given(networks(functional=False), st.data())
def test_answers_are_those_of_networkx(network: Network, data: st.DataObject) -> None:
    graph = network.to_networkx()
    names = [v.name for v in network.variables]
    for name in names:
        assert set(network.parents(name)) == set(graph.predecessors(name))
        assert set(network.children(name)) == set(graph.successors(name))
        assert set(network.ancestors(name)) == networkx.ancestors(graph, name)
        assert set(network.descendants(name)) == networkx.descendants(graph, name)
        rest = set(names) - {name, *network.markov_blanket(name)}
        assert not rest or network.is_d_separated(name, rest, network.markov_blanket(name))
    group = data.draw(st.lists(st.sampled_from("xyzo"), min_size=len(names), max_size=len(names)))
    x, y, z = ([n for n, g in zip(names, group, strict=True) if g == kind] for kind in "xyz")
    assert network.is_d_separated(x, y, z) == networkx.is_d_separator(graph, set(x), set(y), set(z))
    connected = {n for n in set(names) - {*x, *z} if not network.is_d_separated(x, n, z)}
    assert set(network.d_connected(x, z)) == connected


@settings(max_examples=examples(25))
@given(networks(max_variables=5), st.data())
def test_d_separated_variables_are_independent(network: Network, data: st.DataObject) -> None:
    names = [v.name for v in network.variables]
    observed = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    joint = enumerate_joint(network).select(dict.fromkeys(observed, 0))
    total = float(np.real(joint.values.sum()))
    free = list(joint.names)
    pairs = [(a, b) for a in free for b in free if a < b and network.is_d_separated(a, b, observed)]
    for a, b in pairs if total > 0 else ():
        one, other = (np.real(joint.sum_to([name]).values) / total for name in (a, b))
        both = np.real(joint.sum_to([a, b]).values) / total
        np.testing.assert_allclose(both, np.outer(one, other), atol=1e-12)


def test_a_chain_of_thousands_is_walked_without_recursion() -> None:
    variables = [Variable(f"X{i}", ("0", "1")) for i in range(3000)]
    step = np.array([[0.7, 0.2], [0.3, 0.8]])
    chain = Network(
        (
            TabularCPD(variables[0], (), np.array([0.4, 0.6])),
            *(TabularCPD(v, (u,), step) for u, v in pairwise(variables)),
        )
    )
    assert len(chain.ancestors("X2999")) == 2999
    assert chain.is_d_separated("X0", "X2999", ["X1500"])
    assert not chain.is_d_separated("X0", "X2999")
    assert pickle.loads(pickle.dumps(GARDEN)).parents("wet") == ("hose", "rain")


@settings(max_examples=examples(60))
@given(networks(functional=False, max_variables=6), st.data())
def test_a_query_needs_only_the_relevant_tables(network: Network, data: st.DataObject) -> None:
    """The twin: change the tables of all other variables, and the answer stays."""
    names = [v.name for v in network.variables]
    target = data.draw(st.sampled_from(names))
    observed = data.draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    observed = [name for name in observed if name != target]
    relevant = set(network.relevant(target, observed))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))

    def drawn(cpd: CPD) -> TabularCPD:
        values = rng.random([v.n_states for v in cpd.scope]) + 0.1
        return TabularCPD(cpd.variable, cpd.parents, values / values.sum(axis=0))

    positive = [drawn(cpd) for cpd in network.cpds]
    changed = [drawn(c) if {v.name for v in c.scope} - relevant else c for c in positive]
    answers = []
    for cpds in (positive, changed):
        joint = enumerate_joint(Network(tuple(cpds))).select(dict.fromkeys(observed, 0))
        values = np.real(joint.sum_to([target]).values)
        answers.append(values / values.sum())
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-12)


def test_neighbors_within_some_arcs() -> None:
    assert GARDEN.neighborhood("rain") == ("rain", "wet")
    assert GARDEN.neighborhood(["rain"], distance=2) == ("rain", "hose", "wet", "mud")
    assert GARDEN.neighborhood("rain", distance=0) == ("rain",)
    assert GARDEN.relevant("rain") == ("rain",)
    assert GARDEN.relevant("rain", ["mud"]) == ("rain", "hose", "wet", "mud")
    assert GARDEN.relevant("mud", ["wet"]) == ("wet", "mud")
