"""To pyAgrum, to networkx, to the Markov networks of pgmpy, and back without a difference."""

from __future__ import annotations

import importlib
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings

from bnmind.errors import InvalidModelError, MissingLibraryError, TooLargeError
from bnmind.junction import junction_tree
from bnmind.pgm import Factor, FactorModel, FunctionalCPD, Network, TabularCPD, Variable
from bnmind.pgm.bridges import from_networkx, moral_graph, to_networkx
from bnmind.pgm.formats import pgmpy_object, quiet_pgmpy
from tests.modes import examples
from tests.networks import enumerate_joint, factor_models, networks

pyagrum = pytest.importorskip("pyagrum")

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("dry", "a bit", "very"))
NETWORK = Network(
    (
        TabularCPD(RAIN, (), np.array([1 / 3, 2 / 3])),
        TabularCPD(WET, (RAIN,), np.array([[0.7, 0.1], [0.3, 0.2], [0.0, 0.7]])),
        FunctionalCPD.sum_of("sum", (RAIN, WET)),
    )
)


def same(network: Network, again: Network) -> None:
    """Require the same variables, parents in the same order, and the same bits."""
    assert set(again.variables) == set(network.variables)
    for cpd in network.cpds:
        other = again.cpd(cpd.variable.name)
        assert other.scope == cpd.scope
        np.testing.assert_array_equal(other.to_factor().values, cpd.to_factor().values)


def non_negative(model: FactorModel) -> FactorModel:
    factors = [p for p in model.potentials if isinstance(p, Factor)]
    return FactorModel(tuple(Factor(f.scope, np.abs(f.values)) for f in factors), model.variables)


# --- pyAgrum --------------------------------------------------------------------------------------


@settings(max_examples=examples(40))
@given(networks())
def test_networks_go_to_pyagrum_and_back_to_the_last_bit(network: Network) -> None:
    same(network, Network.from_pyagrum(network.to_pyagrum()))


@settings(max_examples=examples(15))
@given(networks(max_variables=5))
def test_pyagrum_computes_the_marginals_that_enumeration_does(network: Network) -> None:
    model = network.to_pyagrum()  # an engine does not keep it alive
    engine = pyagrum.LazyPropagation(model)
    engine.makeInference()
    joint = enumerate_joint(network)
    for variable in network.variables:
        expected = np.real(joint.sum_to([variable.name]).values)
        found = engine.posterior(variable.name).toarray().ravel()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_networks_of_pyagrum_keep_labels_and_the_order_of_parents() -> None:
    model = pyagrum.fastBN("A{low|high}->B{a|b|c}<-C[2,4];A->C<-D{1|2.5}")
    network = Network.from_pyagrum(model)
    assert network.variable("A").states == ("low", "high")
    assert network.variable("C").states == ("2", "3", "4")
    assert network.parents("B") == tuple(model.cpt("B").names[1:])
    for name in model.names():
        tensor = model.cpt(name)
        expected = tensor.toarray().transpose()
        np.testing.assert_allclose(network.cpd(name).to_factor().values, expected, atol=1e-15)
        scope = [v.name for v in network.cpd(name).scope]
        assert scope == list(tensor.names)
    cell = {"A": "high", "C": "3", "B": "c"}
    at = tuple(network.variable(name).index(state) for name, state in cell.items())
    order = [("A", "C", "B").index(v.name) for v in network.cpd("B").scope]
    value = network.cpd("B").to_factor().values[tuple(at[i] for i in order)]
    assert value == pytest.approx(model.cpt("B")[cell], abs=1e-15)


@settings(max_examples=examples(30))
@given(factor_models(max_variables=5))
def test_factors_go_to_pyagrum_and_back(signed: FactorModel) -> None:
    model = non_negative(signed)
    again = FactorModel.from_pyagrum(model.to_pyagrum())
    assert again.variables == model.variables
    before, after = enumerate_joint(model), enumerate_joint(again)
    np.testing.assert_allclose(after.values, before.values, rtol=1e-14, atol=0)


def test_a_factor_of_pyagrum_keeps_its_bits() -> None:
    values = np.random.default_rng(1).random((2, 3))
    model = FactorModel((Factor((RAIN, WET), values),))
    again = FactorModel.from_pyagrum(model.to_pyagrum()).potentials[0]
    assert isinstance(again, Factor)
    np.testing.assert_array_equal(again.transpose(["rain", "wet"]).values, values)


@pytest.mark.parametrize("model", [None, "asia", 3, networkx.DiGraph()])
def test_other_objects_are_refused_as_models_of_pyagrum(model: object) -> None:
    with pytest.raises(InvalidModelError, match="expected a pyAgrum BayesNet, got"):
        Network.from_pyagrum(model)
    with pytest.raises(InvalidModelError, match="expected a pyAgrum MarkovRandomField, got"):
        FactorModel.from_pyagrum(model)


def test_one_kind_of_pyagrum_model_is_not_taken_for_the_other() -> None:
    with pytest.raises(InvalidModelError, match="expected a pyAgrum MarkovRandomField"):
        FactorModel.from_pyagrum(NETWORK.to_pyagrum())
    with pytest.raises(InvalidModelError, match="expected a pyAgrum BayesNet"):
        Network.from_pyagrum(FactorModel(NETWORK.potentials).to_pyagrum())


def test_tables_of_pyagrum_that_do_not_sum_to_one_are_all_reported() -> None:
    model = pyagrum.fastBN("A->B")
    model.cpt("A").fillWith([0.5, 0.6])
    model.cpt("B").fillWith([0.2, 0.8, 0.3, 0.1])
    with pytest.raises(InvalidModelError) as caught:
        Network.from_pyagrum(model)
    assert len(caught.value.problems) == 2


def test_a_missing_pyagrum_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingLibraryError, match="pip install pyagrum"):
        NETWORK.to_pyagrum()


# --- Markov networks of pgmpy ---------------------------------------------------------------------


@settings(max_examples=examples(30))
@given(factor_models(max_variables=5))
def test_factors_go_to_pgmpy_and_back_to_the_last_bit(signed: FactorModel) -> None:
    model = non_negative(signed)
    again = FactorModel.from_pgmpy(model.to_pgmpy())
    with_scope = [p for p in model.potentials if isinstance(p, Factor) and p.scope]
    assert set(again.variables) == set(model.variables)
    assert len(again.potentials) == len(with_scope)
    before, after = enumerate_joint(model), enumerate_joint(again)
    after = after.transpose(before.names)
    np.testing.assert_allclose(after.values, before.values, rtol=1e-14, atol=0)
    if len(with_scope) == len(model.potentials):
        np.testing.assert_array_equal(after.values, before.values)


def test_factor_graphs_and_junction_trees_of_pgmpy_are_read() -> None:
    values = np.arange(1.0, 7.0).reshape(2, 3)
    model = FactorModel((Factor((RAIN,), np.array([0.3, 2.0])), Factor((RAIN, WET), values)))
    with quiet_pgmpy():
        markov = model.to_pgmpy()
        forms = [markov, markov.to_factor_graph(), markov.to_junction_tree()]
    expected = enumerate_joint(model)
    for form in forms:
        found = enumerate_joint(FactorModel.from_pgmpy(form)).transpose(expected.names)
        np.testing.assert_allclose(found.values, expected.values, rtol=1e-14)


def test_faults_of_a_markov_network_are_reported_together() -> None:
    with quiet_pgmpy():
        factor = pgmpy_object("pgmpy.factors.discrete", "DiscreteFactor")
        model = pgmpy_object("pgmpy.models", "DiscreteMarkovNetwork")([("a", "b"), ("b", "c")])
        model.add_factors(
            factor(["a"], [2], [1, 2], state_names={"a": ["x", "y"]}),
            factor(["a", "b"], [2, 1], [1, 2], state_names={"a": ["y", "x"], "b": [0]}),
        )
    with pytest.raises(InvalidModelError) as caught:
        FactorModel.from_pgmpy(model)
    assert caught.value.problems == (
        "expected one set of states of a, got ('x', 'y') and ('y', 'x')",
        "expected a factor over c, got none",
    )
    with pytest.raises(InvalidModelError, match="expected a pgmpy DiscreteMarkovNetwork"):
        FactorModel.from_pgmpy(NETWORK.to_pgmpy())


@pytest.mark.parametrize("convert", [FactorModel.to_pgmpy, FactorModel.to_pyagrum])
def test_factors_that_a_markov_network_cannot_hold_are_refused(convert: Any) -> None:
    for wrong in (np.array([1.0, -1.0]), np.array([1.0, 1j])):
        with pytest.raises(InvalidModelError, match="factors of at least 0, unlike that over rain"):
            convert(FactorModel((Factor((RAIN,), wrong),)))
    with pytest.raises(InvalidModelError, match="at least one variable"):
        convert(FactorModel((Factor((), np.array(2.0)),)))
    with pytest.raises(TooLargeError, match="6 in the table of rain given wet"):
        convert(FactorModel((Factor((RAIN, WET), np.ones((2, 3))),)), max_cells=5)


# --- networkx -------------------------------------------------------------------------------------


@settings(max_examples=examples(40))
@given(networks())
def test_networks_go_to_networkx_and_back(network: Network) -> None:
    graph = to_networkx(network)
    again = from_networkx(graph)
    same(network, again)
    assert all(again.cpd(cpd.variable.name) is cpd for cpd in network.cpds)
    moral = moral_graph(network)
    expected = networkx.moral_graph(graph)
    assert set(map(frozenset, moral.edges)) == set(map(frozenset, expected.edges))
    assert list(moral.nodes) == [v.name for v in network.variables]


def test_a_graph_with_states_and_tables_is_a_network() -> None:
    graph = networkx.DiGraph([("wet", 7), ("rain", 7)])
    graph.add_node("rain", states=[False, True], table=[0.8, 0.2])
    graph.add_node("wet", states=["no", "yes"], table=[0.5, 0.5])
    graph.add_node(7, states=["no", "yes"], table=[[[1, 0.5], [0.2, 0]], [[0, 0.5], [0.8, 1]]])
    network = from_networkx(graph)
    assert network.parents("7") == ("wet", "rain")
    assert network.variable("rain").states == ("False", "True")


def test_faults_of_a_graph_are_reported_together() -> None:
    graph = networkx.DiGraph([("a", "b"), ("a", "c")])
    with pytest.raises(InvalidModelError) as caught:
        from_networkx(graph)
    assert len(caught.value.problems) == 3
    for node in "abc":
        graph.add_node(node, states=["0", "1"], table=[[0.5, 0.5], [0.5, 0.6]])
    graph.nodes["b"].pop("table")
    graph.nodes["a"]["table"] = "none"
    with pytest.raises(InvalidModelError) as caught:
        from_networkx(graph)
    told = "\n".join(caught.value.problems)
    assert "table of 'b'" in told
    assert "numbers in the table of a" in told
    assert "table of c to sum to one" in told
    for other in (networkx.Graph(), networkx.MultiDiGraph(), None, "graph"):
        with pytest.raises(InvalidModelError, match="expected a networkx DiGraph"):
            from_networkx(other)


def test_a_distribution_must_be_given_the_predecessors_of_its_node() -> None:
    graph = to_networkx(NETWORK)
    graph.remove_edge("rain", "sum")
    with pytest.raises(InvalidModelError, match=r"its predecessors \['wet'\], got"):
        from_networkx(graph)


@settings(max_examples=examples(30))
@given(networks())
def test_junction_trees_go_to_networkx(network: Network) -> None:
    tree = junction_tree(network)
    graph = tree.to_networkx()
    assert networkx.is_tree(graph)
    assert {node: data["size"] for node, data in graph.nodes(data=True)} == {
        clique.variables: clique.size for clique in tree.cliques
    }
    for first, second, separator in graph.edges(data="separator"):
        assert set(separator) == set(first) & set(second)
    for variable in network.variables:
        holds = [node for node in graph if variable.name in node]
        assert networkx.is_connected(graph.subgraph(holds))


def test_rounded_tables_of_both_libraries_are_normalized_on_request() -> None:
    theirs = pyagrum.fastBN("A{x|y|z}")
    theirs.cpt("A").fillWith([0.33, 0.33, 0.33])
    with quiet_pgmpy():
        model = pgmpy_object("pgmpy.models", "DiscreteBayesianNetwork")()
        model.add_node("A")
        table = pgmpy_object("pgmpy.factors.discrete", "TabularCPD")
        model.add_cpds(table("A", 3, [[0.33], [0.33], [0.33]]))
    for convert, source in ((Network.from_pyagrum, theirs), (Network.from_pgmpy, model)):
        with pytest.raises(InvalidModelError, match=r"got a sum of 0\.99"):
            convert(source)
        values = convert(source, normalize=True).cpd("A").to_factor().values
        np.testing.assert_allclose(values, 1 / 3, rtol=1e-15)
    theirs.cpt("A").fillWith([0.33, 0.33, 0.3])
    with pytest.raises(InvalidModelError, match=r"got a sum of 0\.96"):
        Network.from_pyagrum(theirs, normalize=True)
