"""To pgmpy and back, what is refused on the way, and silence."""

from __future__ import annotations

import importlib
import logging
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from bnmind.errors import InvalidModelError, MissingLibraryError, TooLargeError
from bnmind.junction import compile_plan
from bnmind.pgm import Addition, FunctionalCPD, Network, TabularCPD, Variable
from bnmind.pgm.formats import from_pgmpy, pgmpy_object, quiet_pgmpy, to_pgmpy
from tests.modes import examples
from tests.networks import enumerate_joint, networks


def pgmpy_network(*tables: Any, edges: tuple[tuple[str, str], ...] = ()) -> Any:
    with quiet_pgmpy():
        model = pgmpy_object("pgmpy.models", "DiscreteBayesianNetwork")()
        model.add_nodes_from([table.variable for table in tables])
        model.add_edges_from(edges)
        model.add_cpds(*tables)
    return model


def pgmpy_table(*arguments: Any, **options: Any) -> Any:
    return pgmpy_object("pgmpy.factors.discrete", "TabularCPD")(*arguments, **options)


@settings(max_examples=examples(40))
@given(networks())
def test_round_trips_keep_the_network(network: Network) -> None:
    model = to_pgmpy(network)
    assert model.check_model()
    back = from_pgmpy(model)
    for cpd in network.cpds:
        again = back.cpd(cpd.variable.name)
        assert again.scope == cpd.scope
        np.testing.assert_array_equal(again.to_factor().values, cpd.to_factor().values)


@settings(max_examples=examples(15))
@given(networks(max_variables=5))
def test_pgmpy_computes_the_marginals_that_enumeration_does(network: Network) -> None:
    with quiet_pgmpy():
        engine = pgmpy_object("pgmpy.inference", "VariableElimination")(to_pgmpy(network))
        joint = enumerate_joint(network)
        for variable in network.variables:
            found = engine.query([variable.name], show_progress=False)
            expected = joint.sum_to([variable.name]).values
            np.testing.assert_allclose(found.values, np.real(expected), rtol=0, atol=1e-12)


def test_states_become_strings() -> None:
    network = from_pgmpy(
        pgmpy_network(
            pgmpy_table("a", 2, [[0.2], [0.8]]),
            pgmpy_table("b", 1, [[1, 1]], ["a"], [2], state_names={"b": [True], "a": [0, 1]}),
            edges=(("a", "b"),),
        )
    )
    assert [v.states for v in network.variables] == [("0", "1"), ("True",)]


def test_tables_that_nearly_sum_to_one_are_normalized() -> None:
    network = from_pgmpy(pgmpy_network(pgmpy_table("a", 3, [[0.3333333]] * 3)))
    np.testing.assert_allclose(network.cpd("a").to_factor().values, 1 / 3, rtol=1e-15)


def test_all_faults_are_reported_together() -> None:
    model = pgmpy_network(
        pgmpy_table("a", 2, [[0.2], [0.809]]),
        pgmpy_table("b\tc", 2, [[0.2], [0.8]]),
        pgmpy_table("d", 2, [[0.2], [0.8]]),
        edges=(("a", "d"),),
    )
    model.add_node("e")
    with pytest.raises(InvalidModelError) as caught:
        from_pgmpy(model)
    told = "\n".join(caught.value.problems)
    assert len(caught.value.problems) == 4
    for part in ("table of a to sum to one", r"got 'b\tc'", "parents ['a'], got []", "table of e"):
        assert part in told


def test_a_table_of_nan_and_a_parent_without_one_are_named() -> None:
    rain = pgmpy_table("rain", 2, [[0.2], [0.8]])
    wet = pgmpy_table("wet", 2, [[0.3, np.nan], [0.7, np.nan]], ["rain"], [2])
    edges = (("rain", "wet"),)
    with pytest.raises(InvalidModelError, match="of rain, got none; rain is a parent of wet"):
        from_pgmpy(pgmpy_network(wet, edges=edges))
    model = pgmpy_network(rain, wet, edges=edges)
    with pytest.raises(InvalidModelError, match=r"got nan for 0 given rain=1 \(normalize=True"):
        from_pgmpy(model)
    network = from_pgmpy(model, normalize=True)
    assert network.cpd("wet").to_factor().values.tolist() == [[0.3, 0.5], [0.7, 0.5]]


def test_states_in_two_orders_are_refused() -> None:
    model = pgmpy_network(
        pgmpy_table("a", 2, [[0.2], [0.8]], state_names={"a": ["x", "y"]}),
        pgmpy_table("b", 1, [[1, 1]], ["a"], [2], state_names={"b": ["0"], "a": ["y", "x"]}),
        edges=(("a", "b"),),
    )
    with pytest.raises(InvalidModelError, match="one set of states of a"):
        from_pgmpy(model)


@pytest.mark.parametrize("model", [None, "asia", 3])
def test_only_discrete_bayesian_networks_are_accepted(model: object) -> None:
    with pytest.raises(InvalidModelError, match="expected a pgmpy DiscreteBayesianNetwork"):
        from_pgmpy(model)


def test_the_largest_table_is_named_before_anything_is_made() -> None:
    digits = tuple(Variable.of_integers(f"X{i}", range(10)) for i in range(12))
    uniform = np.full(10, 0.1)
    small = FunctionalCPD(
        Variable.of_integers("few", range(2)), digits[:2], Addition((tuple(range(10)),) * 2, 2)
    )
    large = FunctionalCPD(
        Variable.of_integers("all", range(2)), digits, Addition((tuple(range(10)),) * 12, 2)
    )
    network = Network((*(TabularCPD(v, (), uniform) for v in digits), small, large))
    with pytest.raises(
        TooLargeError, match=r"got 2,000,000,000,000 in the table of all given"
    ) as e:
        to_pgmpy(network)
    assert (e.value.needed, e.value.budget) == (2 * 10**12, 2**25)
    with pytest.raises(TooLargeError, match=r"got 200 in the table of few given X0, X1"):
        to_pgmpy(network.without(["all"]), max_cells=199)
    assert len(to_pgmpy(network.without(["all"]), max_cells=200).nodes()) == 13


def test_a_missing_or_odd_pgmpy_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingLibraryError, match="must be installed"):
        pgmpy_object("pgmpy.models", "NoSuchNetwork")

    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingLibraryError, match=r"No module named 'pgmpy\.models'"):
        to_pgmpy(Network((TabularCPD(Variable("a", ("0",)), (), np.ones(1)),)))


def test_silence_ends_with_the_block() -> None:
    logger = logging.getLogger("pgmpy")
    level = logger.level

    def warn() -> None:
        warnings.warn("heard", FutureWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with quiet_pgmpy():
            assert not logger.isEnabledFor(logging.CRITICAL)
            warn()
        assert logger.level == level
        with pytest.raises(FutureWarning, match="heard"):
            warn()


def test_warnings_return_after_an_error() -> None:
    logger = logging.getLogger("pgmpy")
    level = logger.level
    with pytest.raises(ZeroDivisionError), quiet_pgmpy():
        _ = 1 / 0
    assert logger.level == level


@settings(max_examples=examples(20))
@given(networks())
def test_networks_have_methods_for_the_conversion(network: Network) -> None:
    back = Network.from_pgmpy(network.to_pgmpy())
    assert set(back.variables) == set(network.variables)
    for cpd in network.cpds:
        np.testing.assert_allclose(
            back.cpd(cpd.variable.name).to_factor().values, cpd.to_factor().values, atol=1e-12
        )


def test_states_that_are_the_same_when_written_are_refused() -> None:
    model = pgmpy_network(
        pgmpy_table("a", 2, [[0.2], [0.8]], state_names={"a": [1, "1"]}),
        pgmpy_table("b", 3, [[0.2], [0.3], [0.5]], state_names={"b": ["True", True, None]}),
        pgmpy_table("c", 2, [[0.2], [0.9]]),
    )
    with pytest.raises(InvalidModelError) as caught:
        Network.from_pgmpy(model)
    assert caught.value.problems[:2] == (
        "expected states of a that differ when written, got [1, '1']",
        "expected states of b that differ when written, got ['True', True, None]",
    )
    assert "table of c to sum to one" in caught.value.problems[2]


def test_numbers_of_states_from_numpy_become_plain_strings() -> None:
    states = [np.int64(3), np.int64(-1)]
    model = pgmpy_network(pgmpy_table("a", 2, [[0.2], [0.8]], state_names={"a": states}))
    assert Network.from_pgmpy(model).variable("a").states == ("3", "-1")


def test_tables_that_hold_no_real_numbers_are_refused() -> None:
    model = pgmpy_network(*(pgmpy_table(name, 2, [[0.2], [0.8]]) for name in "abcd"))
    tables = [model.get_cpds(name) for name in "abcd"]
    tables[0].values = np.array(["high", "low"])
    tables[1].values = np.array([0.5, 0.5 + 0.5j])
    tables[2].values = [object(), 1]
    tables[3].state_names = {}
    with pytest.raises(InvalidModelError) as caught:
        from_pgmpy(model)
    told = [problem.split(", got")[0] for problem in caught.value.problems]
    assert told == [
        "expected an array of numbers in the table of a",
        "expected real numbers in the table of b",
        "expected an array of numbers in the table of c",
        "expected states of d in the table of d",
    ]


def test_any_column_name_and_any_state_of_a_fitted_network_will_do() -> None:
    frame = pd.DataFrame(
        {
            "No of people": [1, 2, 2, 3, 1, 2],
            "item.1": [True, False, True, True, False, True],
            "Hören": ["gut", "schlecht", "gut", "gut", "gut", "schlecht"],
            "weight": [0.5, 1.0, 1.0, 0.5, 0.5, 1.0],
        }
    )
    edges = [("No of people", "item.1"), ("item.1", "Hören"), ("No of people", "weight")]
    with quiet_pgmpy():
        model = pgmpy_object("pgmpy.models", "DiscreteBayesianNetwork")(edges)
        model.fit(frame)
    network = from_pgmpy(model)
    assert set(network.variables) >= {
        Variable("No of people", ("1", "2", "3")),
        Variable("item.1", ("False", "True")),
        Variable("weight", ("0.5", "1.0")),
    }
    plan = compile_plan(network, evidence=["No of people"], targets=[["item.1"]])
    assert plan.run({"No of people": 1}).marginals["item.1"].tolist() == [0.5, 0.5]
    given = compile_plan(network, soft=list(frame.columns), targets=[["Hören"]])
    assert given.run({"item.1": True, "weight": 1}).marginals["Hören"].tolist() == [0.75, 0.25]
    batch = given.run_batch(frame)
    single = [given.run(row).joints[0] for _, row in frame.iterrows()]
    np.testing.assert_allclose(batch.joints[0], single, atol=1e-12)
    assert from_pgmpy(to_pgmpy(network)).variables == network.variables


def test_nodes_may_be_whole_numbers() -> None:
    network = from_pgmpy(
        pgmpy_network(
            pgmpy_table(0, 2, [[0.2], [0.8]]),
            pgmpy_table(1, 2, [[1, 0.5], [0, 0.5]], [0], [2]),
            edges=((0, 1),),  # type: ignore[arg-type]
        )
    )
    assert [v.name for v in network.variables] == ["0", "1"]
    plan = compile_plan(network, evidence=["1"])
    assert plan.run({1: 1}).marginals["0"].tolist() == [0.0, 1.0]  # type: ignore[dict-item]


@pytest.mark.parametrize("name", [("a", 1), 1.5, None, "", "a\nb"])
def test_other_nodes_are_reported(name: Any) -> None:
    with quiet_pgmpy():
        model = pgmpy_object("pgmpy.models", "DiscreteBayesianNetwork")()
        model.add_node("x" if name is None else name)
        table = pgmpy_table("x", 2, [[0.2], [0.8]])
        model.add_cpds(table) if name is None else None
        if name is None:
            table.variable = table.variables[0] = None
    with pytest.raises(InvalidModelError):
        from_pgmpy(model)
